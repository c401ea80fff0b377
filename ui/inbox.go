package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// inbox lists what waits, in the order it came. Only the first can be opened.
func (u *UI) inbox() fyne.CanvasObject {
	if u.note != nil {
		return u.notePage()
	}
	items := u.state.Inbox
	waiting := waiting(slices.DeleteFunc(slices.Clone(items), func(i approvals.Item) bool {
		return i.Kind == approvals.ItemWords || i.Kind == approvals.ItemSoW
	}))
	var out []fyne.CanvasObject
	line := "Requests from your agents appear here, in the order they come."
	switch {
	case waiting == 1:
		line = "1 request waits for you."
	case waiting > 1:
		line = fmt.Sprintf("%d requests wait for you. They open one at a time, in the order they came.", waiting)
	}
	out = append(out, head("Inbox", line), parts.Space(0, 18))
	var rows, notes, deals []fyne.CanvasObject
	place := 0
	for _, i := range items {
		if i.Kind == approvals.ItemNote {
			notes = append(notes, u.noteRow(i))
			continue
		}
		if i.Kind == approvals.ItemSoW {
			deals = append(deals, u.sowRow(i))
			continue
		}
		if i.Kind == approvals.ItemWords {
			out = append(out, parts.Banner(parts.Alarm, "warning", "Your recovery words are not written down",
				"Without them a lost computer is a lost vault. Nobody else has a copy.",
				u.button(parts.Plain, "", "Write them down", func() {
					u.run("secret", func(ctx context.Context) error { return u.owner.ShowWords(ctx, keys.SurfaceWindow) }, nil)
				})), parts.Space(0, 18))
			continue
		}
		place++
		rows = append(rows, u.item(i, place))
	}
	if len(rows) > 0 {
		out = append(out, parts.Lined(rows...), parts.Space(0, 24))
	} else if len(u.state.Clients) > 0 && len(deals) == 0 {
		out = append(out, parts.Empty("inbox", "No one is waiting for you", "Requests from your agents appear here, in the order they come."), parts.Space(0, 24))
	}
	if len(deals) > 0 {
		out = append(out, section("Engagements that wait for you"), parts.Space(0, 6), parts.Lined(deals...), parts.Space(0, 24))
	}
	if len(notes) > 0 {
		out = append(out, section("For reading only"), parts.Space(0, 6), parts.Lined(notes...), parts.Space(0, 24))
	}
	if len(u.state.Clients) == 0 {
		out = append(out, u.connect(waiting == 0))
	}
	if done := u.decidedToday(); done != nil {
		out = append(out, done)
	}
	return parts.Column(0, out...)
}

// waiting counts the rows that want something of the owner.
func waiting(items []approvals.Item) int {
	n := 0
	for _, i := range items {
		if i.Kind != approvals.ItemNote {
			n++
		}
	}
	return n
}

func (u *UI) item(i approvals.Item, place int) fyne.CanvasObject {
	icon, who, what := "sign", safe(i.Agent), "asks for a signature"
	var quote *look.Paragraph
	switch i.Kind {
	case approvals.ItemPairing:
		icon, who, what = "agent", "A program you have not paired", "asks to pair"
		quote = look.Text(look.Body, look.Ink2, "It prints six digits. Compare them on the sheet.")
	case approvals.ItemMoment:
		icon, what = "ask", "asks you to decide"
		if i.Session != "" {
			what += ", session " + brief(i.Session, 16)
		}
		if i.Merged > 1 {
			what += fmt.Sprintf(", presented %d times", i.Merged)
		}
		quote = look.Para(hostile.Runs(look.Body, look.Ink, plain.Folded(i.Stem))...)
	default:
		if i.Merged > 1 {
			what += fmt.Sprintf(", the same one %d times", i.Merged)
		}
		runs := hostile.Runs(look.Body, look.Ink, plain.Folded(i.Operation))
		if i.Resource != "" {
			runs = append(runs, look.Run{Text: " on ", Style: look.Body, Color: look.Ink})
			runs = append(runs, hostile.Runs(look.Body, look.Ink, plain.Folded(i.Resource))...)
		}
		quote = look.Para(runs...)
	}
	switch i.Note {
	case "locked":
		what += "; the vault is locked"
	case "away":
		what += "; the screen is locked"
	}
	age := look.Text(look.Caption, look.Ink3, u.ago(i.Since))
	age.Align = fyne.TextAlignTrailing
	var act fyne.CanvasObject
	if i.Next {
		act = parts.Row(0, parts.Spring(), u.button(parts.Primary, "", "Open", func() { u.openSheet(i.ID) }).Small().High(32).Least(96))
	} else {
		order := "Later"
		switch place {
		case 1, 2:
			order = "Next"
		case 3:
			order = "Third"
		case 4:
			order = "Fourth"
		}
		o := look.Text(look.Small.Box(32), look.Ink2, order)
		o.Align = fyne.TextAlignTrailing
		act = o
	}
	tile := parts.Sunk(look.Well, 6, parts.Pad(8, 8, 8, 8, look.NewIcon(icon, 16, look.Ink2)))
	middle := parts.Column(6,
		look.Para(look.Run{Text: who, Style: look.Strong, Color: look.Ink}, look.Run{Text: "  ", Style: look.Small, Color: look.Ink3}, look.Run{Text: what, Style: look.Small, Color: look.Ink3}),
		parts.Quote(quote))
	return parts.Pad(14, 0, 14, 0, parts.Cells(12, []float32{32, 0, 120}, tile, middle, parts.Column(6, act, age)))
}

// connect is what an owner needs to let the first agent ask.
func (u *UI) connect(empty bool) fyne.CanvasObject {
	st := u.state.Status
	sock := st.Socket
	domain := "DOMAIN"
	if len(u.state.Domains) > 0 {
		domain = u.state.Domains[0].ID
	}
	steps := []struct{ title, text string }{
		{"Where the vault listens", "export VAULT_SOCK=" + shellQuote(sock)},
		{"Ask to pair, from the agent’s side", "vault agent pair --name my-agent"},
		{"Or with nothing but Python", "python3 examples/python/agent.py " + shellQuote(domain)},
	}
	objs := []fyne.CanvasObject{}
	if empty {
		objs = append(objs, parts.Empty("agent", "No one is waiting for you", "No program is paired yet. Let one ask, and its request appears here."), parts.Space(0, 24))
	}
	objs = append(objs, look.Text(look.Stem, look.Ink, "Connect an agent"), parts.Space(0, 2),
		look.Text(look.Body, look.Ink2, "A program asks to pair, you compare six digits, and from then on it can ask. It can never decide."), parts.Space(0, 14))
	for _, s := range steps {
		objs = append(objs, u.snippet(s.title, s.text), parts.Space(0, 12))
	}
	return parts.Column(0, objs...)
}

// snippet is a line to copy. Nothing secret is ever in one.
func (u *UI) snippet(title, text string) fyne.CanvasObject {
	label := "Copy"
	button := u.button(parts.Plain, "copy", label, func() { u.app.Clipboard().SetContent(text) })
	return parts.Column(6, section(title),
		parts.Framed(parts.Pad(8, 8, 8, 12, parts.Row(12, parts.Grow(hostile.Inline(look.Mono, look.Ink, text)), button.Small()))))
}

func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// decidedToday are the last decisions of the day, from the log.
func (u *UI) decidedToday() fyne.CanvasObject {
	today := day(u.opts.Now().In(u.opts.Zone))
	var rows []fyne.CanvasObject
	for _, e := range u.state.Events {
		if e.Kind == string(journal.KindSoWNoted) {
			continue // nobody decided that today
		}
		if _, _, group := kindWords(e.Kind); group != "decision" && group != "signature" || day(u.at(e.At)) != today || len(rows) == 6 {
			continue
		}
		if outcome := field(e, "outcome"); outcome != "" && outcome != "declined" {
			continue // the vault's own answers are in Activity
		}
		icon, what, more := u.eventWords(e)
		m := look.Text(look.Small, look.Ink2, more)
		m.Align = fyne.TextAlignTrailing
		agent := look.Text(look.Small, look.Ink, safe(e.Agent))
		if e.Agent == "" {
			words := "you"
			if e.Client != "" {
				words = "ended agent"
			}
			agent = look.Text(look.Small, look.Ink3, words)
		}
		text := []fyne.CanvasObject{look.Para(what...)}
		if a, ok := u.answeredAt(e.Seq); ok {
			text = append(text, look.Para(listed(look.Small, look.Ink2, a.Stem)...))
		}
		rows = append(rows, parts.Pad(7, 0, 7, 0, parts.Cells(8, []float32{48, 20, 150, 0, 160},
			look.Text(look.Small, look.Ink3, u.at(e.At).Format("15:04")), parts.Middle(18, look.NewIcon(icon, 12, look.Ink)), agent, parts.Column(0, text...), m)))
	}
	if len(rows) == 0 {
		return nil
	}
	all := u.button(parts.Quiet, "chevron", "Activity", func() { u.open("activity") }).IconAfter().Small()
	return parts.Column(0, parts.Row(0, parts.Grow(section("Decided today")), all), parts.Space(0, 4), parts.Lined(rows...))
}

// listedMost is how much of a text from outside one line of a list shows; the whole stands where the line leads.
const listedMost = 120

func listed(style look.Style, ink fyne.ThemeColorName, text string) []look.Run {
	text = plain.Folded(text)
	short := plain.First(text, listedMost)
	runs := hostile.Runs(style, ink, short)
	if short != text {
		runs = append(runs, look.Run{Text: "…", Style: style, Color: ink})
	}
	return runs
}

// answeredAt is the moment whose end that entry of the log is.
func (u *UI) answeredAt(seq uint64) (approvals.AnsweredMoment, bool) {
	i := slices.IndexFunc(u.state.Answered, func(a approvals.AnsweredMoment) bool { return a.Seq == seq && seq > 0 })
	if i < 0 {
		return approvals.AnsweredMoment{}, false
	}
	return u.state.Answered[i], true
}
