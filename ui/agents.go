package ui

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// agentsPage shows the paired programs with what they may do unasked.
type agentsPage struct {
	asking   string // "revoke "+id, "end "+grant, "decline "+id or ""
	renaming string // client id
	name     *parts.Field
	question *question
}

func (p *agentsPage) view(u *UI) fyne.CanvasObject {
	out := []fyne.CanvasObject{head("Agents", "Programs you have paired. They can ask; you decide. A grant lets one sign without asking, so many times until a date."), parts.Space(0, 18)}
	if len(u.state.Clients) == 0 {
		return parts.Column(0, append(out, parts.Empty("agent", "No program is paired", "When one asks to pair, its request appears in the Inbox."))...)
	}
	var rows []fyne.CanvasObject
	for _, c := range u.state.Clients {
		rows = append(rows, p.client(u, c))
	}
	return parts.Column(0, append(out, parts.Lined(rows...))...)
}

func (p *agentsPage) client(u *UI, c approvals.ClientView) fyne.CanvasObject {
	name := safe(c.Name)
	when := "paired " + day(u.at(c.PairedAt))
	if c.Connected {
		when += " · connected now"
	} else if c.LastSeen > 0 {
		when += " · last heard " + u.ago(c.LastSeen)
	}
	switch c.Ended {
	case "revoked":
		when = "revoked; it cannot ask any more"
	case "blocked":
		when = "blocked; it is not heard until you lift it"
	}
	var buttons []fyne.CanvasObject
	switch {
	case c.Ended == "blocked":
		buttons = append(buttons, u.button(parts.Plain, "", "Lift the block", func() {
			u.run("", func(ctx context.Context) error { return u.owner.Unblock(ctx, c.ID) }, nil)
		}).Small())
	case c.Ended == "":
		buttons = append(buttons,
			u.button(parts.Plain, "pencil", "Rename", func() { p.rename(u, c) }).Small(),
			u.button(parts.Danger, "", "Revoke…", func() { p.ask(u, "revoke "+c.ID, revokeQuestion(u, p, c)) }).Small())
	}
	title := parts.Row(8, append([]fyne.CanvasObject{parts.Grow(look.Para(
		look.Run{Text: name, Style: look.Stem, Color: look.Ink}, look.Run{Text: "  ", Style: look.Small, Color: look.Ink3}, look.Run{Text: when, Style: look.Small, Color: look.Ink3}))}, buttons...)...)
	objs := []fyne.CanvasObject{title}
	if p.renaming == c.ID {
		objs = append(objs, parts.Space(0, 10), p.renameForm(u, c))
	}
	if p.asking == "revoke "+c.ID {
		objs = append(objs, parts.Space(0, 12), p.question.view(u))
	}
	source := func(kind string, value fyne.CanvasObject) fyne.CanvasObject {
		return parts.Cells(0, []float32{128, 0}, parts.Source(kind), value)
	}
	objs = append(objs, parts.Space(0, 10), parts.Column(4,
		source("proven", look.Text(look.Small.Box(20), look.Ink, userWords(c.UserID)+", and holds the secret it was given at pairing")),
		source("observed", hostile.Inline(look.Mono, look.Ink, orUnknown(c.Executable))),
		source("claimed", look.Para(quotedRuns(look.Small.Box(20), c.Claimed)...))))
	counts := plural(c.Signatures, "signature", "signatures") + " · " + plural(c.Declined, "declined", "declined")
	if len(c.Sessions) > 0 {
		counts += " · " + plural(len(c.Sessions), "session", "sessions")
	}
	objs = append(objs, parts.Space(0, 8), look.Text(look.Small, look.Ink2, counts))
	if table := u.rates(c.ID); table != nil {
		objs = append(objs, parts.Space(0, 14), section("How it asks for decisions"), parts.Space(0, 6), table)
	}
	if len(c.Grants) > 0 {
		objs = append(objs, parts.Space(0, 14), section("May sign without asking"), parts.Space(0, 6))
		var rows []fyne.CanvasObject
		for _, g := range c.Grants {
			rows = append(rows, p.grant(u, c, g))
		}
		objs = append(objs, parts.Lined(rows...))
	}
	return parts.Pad(16, 0, 18, 0, parts.Column(0, objs...))
}

func (p *agentsPage) grant(u *UI, c approvals.ClientView, g approvals.GrantView) fyne.CanvasObject {
	runs := hostile.Runs(look.Body, look.Ink, g.Operation)
	for i, r := range g.Resources {
		sep := " on "
		if i > 0 {
			sep = ", "
		}
		runs = append(runs, look.Run{Text: sep, Style: look.Body, Color: look.Ink2})
		runs = append(runs, hostile.Runs(look.Mono, look.Ink, r)...)
	}
	active := g.State == "active"
	number := parts.Number(g.Used) + " of " + parts.Number(g.Uses) + " used"
	end := "until " + signed(g.NotAfter)
	switch g.State {
	case "spent":
		number, end = "spent", "made "+day(u.at(g.MadeAt))
	case "ended":
		end = "ended"
	case "expired":
		end = "its end has passed"
	case "suspended":
		end = "suspended: earlier uses are not known"
	}
	if g.WhileAway {
		end += " · also while you are away"
	}
	var act fyne.CanvasObject = parts.Space(0, 0)
	if active {
		act = parts.Row(0, parts.Spring(), u.button(parts.Plain, "", "End…", func() { p.ask(u, "end "+g.ID, endQuestion(u, p, c, g)) }).Small())
	}
	row := parts.Cells(16, []float32{0, 220, 72},
		parts.Column(2, look.Para(runs...), look.Text(look.Caption, look.Ink3, end)),
		parts.Pad(4, 0, 0, 0, parts.Column(4, parts.Meter(g.Used, g.Uses, !active), look.Text(look.Caption, look.Ink2, number))),
		act)
	objs := []fyne.CanvasObject{row}
	if p.asking == "end "+g.ID {
		objs = append(objs, parts.Space(0, 10), p.question.view(u))
	}
	return parts.Pad(10, 0, 10, 0, parts.Column(0, objs...))
}

func (p *agentsPage) ask(u *UI, what string, q *question) {
	p.asking, p.question, p.renaming = what, q, ""
	u.asked(q)
}

func revokeQuestion(u *UI, p *agentsPage, c approvals.ClientView) *question {
	name := safe(c.Name)
	q := newQuestion(u, func() { p.asking = ""; u.rebuild() })
	q.add("Revoke "+name, "It stops at once and its grants end. What was signed stays signed. To ask again it has to pair again.", "", func() {
		u.run("", func(ctx context.Context) error { return u.owner.RevokeClient(ctx, c.ID) }, func(err error) { p.asking = "" })
	})
	q.add("Decline what it asks now", "Requests that wait are declined. It stays paired.", "", func() {
		u.run("", func(ctx context.Context) error { return u.owner.DeclineAll(ctx, c.ID) }, func(err error) { p.asking = "" })
	})
	q.add("Leave it as it is", "Nothing changes.", "", func() { p.asking = ""; u.rebuild() })
	return q
}

func endQuestion(u *UI, p *agentsPage, c approvals.ClientView, g approvals.GrantView) *question {
	q := newQuestion(u, func() { p.asking = ""; u.rebuild() })
	q.add("End this grant", "From now on "+safe(c.Name)+" asks again for each signature. What was signed stays signed.", "", func() {
		u.run("", func(ctx context.Context) error { return u.owner.EndGrant(ctx, g.ID) }, func(err error) { p.asking = "" })
	})
	q.add("Leave it as it is", fmt.Sprintf("%s stay until %s.", plural(g.Uses-g.Used, "use", "uses"), signed(g.NotAfter)), "", func() { p.asking = ""; u.rebuild() })
	return q
}

func (p *agentsPage) rename(u *UI, c approvals.ClientView) {
	p.renaming, p.asking = c.ID, ""
	p.name = parts.NewField(c.Name, "", nameMost)
	p.name.Watch(u)
	p.name.OnChanged = func(string) { u.rebuild() }
	u.rebuild()
	u.main.Canvas().Focus(p.name)
}

func (p *agentsPage) renameForm(u *UI, c approvals.ClientView) fyne.CanvasObject {
	name := strings.TrimSpace(p.name.Text)
	save := u.button(parts.Primary, "", "Save the name", func() {
		u.run("", func(ctx context.Context) error { return u.owner.RenameClient(ctx, c.ID, name) }, func(err error) {
			if err == nil {
				p.renaming = ""
			}
		})
	})
	if name == "" || name == c.Name || !plain.One(name).Clean() {
		save.Disable()
	}
	back := u.button(parts.Plain, "", "Back", func() { p.renaming = ""; u.rebuild() })
	return parts.Column(6, look.Text(look.CaptionM, look.Ink2, "Your name for it"),
		parts.Row(8, parts.Size(264, 36, p.name), save, back, parts.Spring()))
}
