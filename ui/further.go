package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// userMost is the longest name of an account that is taken.
const userMost = 64

// socketTroubles say why a socket for another user is not served.
var socketTroubles = map[string]string{
	"socket_path_unsafe":   "another user could replace a part of its path",
	"socket_path_taken":    "something that is no socket has its name",
	"socket_path_invalid":  "its path is none that a socket can have",
	"socket_path_too_long": "its path is too long",
	"socket_unsupported":   "this system has no such sockets",
}

func userOf(s approvals.SocketView) string {
	if s.User == "" {
		return "user id " + fmt.Sprint(s.UserID)
	}
	return safe(s.User) + ", user id " + fmt.Sprint(s.UserID)
}

// socketRows are the sockets for other users of this computer, and the way to one more.
func (p *settingsPage) socketRows(u *UI, with func(string, fyne.CanvasObject) fyne.CanvasObject) []fyne.CanvasObject {
	list := u.state.Sockets
	value, more := plural(len(list), "socket is open", "sockets are open"), "Over one, programs of that user can ask, and decide nothing."
	if len(list) == 0 {
		value, more = "No socket is open", "Programs of other users cannot ask. Over a socket of their own they can, and decide nothing."
	}
	add := u.button(parts.Plain, "", "Open a socket…", func() { p.askSocket(u) }).Small()
	line := fyne.CanvasObject(parts.Pad(14, 0, 14, 0, parts.RowTop(16, parts.Size(160, 0, look.Text(look.Body, look.Ink2, "Other users")),
		parts.Grow(parts.Column(0, look.Text(look.Strong, look.Ink, value), look.Text(look.Small, look.Ink2, more))), add)))
	if p.asking == "new socket" {
		line = parts.Column(0, line, p.socketForm(u), parts.Space(0, 14))
	}
	rows := []fyne.CanvasObject{line}
	for _, s := range list {
		state := "Served"
		if !s.Served {
			state = "Not served until the vault is unlocked"
			if s.Trouble != "" {
				why, ok := socketTroubles[s.Trouble]
				if !ok {
					why = safe(s.Trouble)
				}
				state = "Not served: " + why
			}
		}
		text := parts.Column(0, look.Text(look.Strong, look.Ink, userOf(s)),
			hostile.Inline(look.Mono, look.Ink, s.Path),
			look.Text(look.Small, look.Ink2, state+". Opened "+day(u.at(s.AddedAt))+"."))
		key := "socket " + fmt.Sprint(s.UserID)
		remove := u.button(parts.Plain, "", "Close "+fmt.Sprint(s.UserID)+"…", func() { p.ask(u, key) }).Small()
		rows = append(rows, with(key, parts.Pad(12, 0, 12, 0, parts.RowTop(16, parts.Size(160, 0, parts.Space(0, 0)),
			parts.Pad(2, 0, 0, 0, look.NewIcon("agent", 16, look.Ink)), parts.Grow(text), remove))))
	}
	return rows
}

func (p *settingsPage) askSocket(u *UI) {
	p.askField(u, "new socket", parts.NewField("", "Name of the account, or its user id", userMost))
}

// askField opens the form with one field that asking names, and gives the field the keyboard.
func (p *settingsPage) askField(u *UI, asking string, f *parts.Field) {
	p.asking, p.question, p.field = asking, nil, f
	p.field.Watch(u)
	p.field.OnChanged = func(string) { u.rebuild() }
	p.gate.now = u.opts.Now
	p.gate.arm()
	u.rebuild()
	u.reveal(p.drawn)
	u.main.Canvas().Focus(p.field)
}

// fieldPanel is one field with a note, the way back and the button that uses it, with its icon.
func (p *settingsPage) fieldPanel(u *UI, width float32, label, note, icon, button string, blocked bool, act func()) fyne.CanvasObject {
	b := u.button(parts.Primary, icon, button, func() {
		if p.gate.open() {
			p.asking = ""
			act()
		}
	})
	if blocked {
		b.Disable()
	}
	p.drawn = parts.Sunk(look.Ground, 6, parts.Pad(14, 14, 14, 14, parts.Column(12,
		parts.Column(6, look.Text(look.CaptionM, look.Ink2, label), parts.Row(0, parts.Size(width, 36, p.field), parts.Spring())),
		parts.Row(12, u.button(parts.Plain, "", "Back", p.shut(u)), parts.Grow(look.Text(look.Caption, look.Ink3, note)), b))))
	return p.drawn
}

func (p *settingsPage) socketForm(u *UI) fyne.CanvasObject {
	user := strings.TrimSpace(p.field.Text)
	note, blocked := "A passkey confirms it. Its path is shown here afterwards.", true
	switch {
	case u.mayConfirm() != "":
		note = u.mayConfirm()
	case user == "":
		note = "Name whose programs may ask."
	case !plain.One(user).Clean():
		note = "The name holds hidden or look-alike letters."
	default:
		blocked = false
	}
	return p.fieldPanel(u, 420, "For which user of this computer", note, "key", "Open the socket", blocked, func() {
		u.confirm(func() (approvals.Outcome, error) { return u.owner.AddSocket(u.ctx, approvals.FurtherUser{User: user}) },
			&banner{parts.Calm, "check", "The socket is open", "Programs of that user can ask to pair. Its path is below; they need it, and your user id."}, nil)
	})
}

// suspendedRows are what a new instance does not sign under until it is admitted again.
func (p *settingsPage) suspendedRows(u *UI) []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, s := range u.state.Suspended {
		what := []look.Run{{Text: "Envelope " + short(s.EnvelopeHash), Style: look.Strong, Color: look.Ink}}
		if s.Known {
			what = hostile.Runs(look.Strong, look.Ink, plain.Folded(s.Operation))
			for i, r := range s.Resources {
				sep := ", "
				if i == 0 {
					sep = " on "
				}
				what = append(append(what, look.Run{Text: sep, Style: look.Body, Color: look.Ink2}), hostile.Runs(look.Mono, look.Ink, r)...)
			}
		}
		key := "readmit " + s.EnvelopeHash
		act := fyne.CanvasObject(parts.Space(0, 0))
		if s.Known && s.Readmitted == 0 {
			act = u.button(parts.Plain, "", "Admit again…", func() { p.askReadmit(u, key, s) }).Small()
		}
		lines := []fyne.CanvasObject{look.Para(what...)}
		for _, w := range suspendedWords(s) {
			lines = append(lines, look.Text(look.Small, look.Ink2, w))
		}
		row := fyne.CanvasObject(parts.Pad(12, 0, 12, 0, parts.RowTop(16, parts.Grow(parts.Column(2, lines...)), act)))
		if p.asking == key {
			row = parts.Column(0, row, p.readmitForm(u, s), parts.Space(0, 14))
		}
		rows = append(rows, row)
	}
	return rows
}

// suspendedWords say of a suspended envelope who asks with it, how often it was used, and how it stands.
func suspendedWords(s approvals.SuspendedView) []string {
	var out []string
	who := "An agent"
	if s.Agent != "" {
		who = safe(s.Agent)
	}
	switch {
	case s.Known && s.Asked > 0:
		asks := who + " asked with it " + plural(s.Asked, "time", "times") + " and was refused"
		if s.Domain != "" {
			asks += ", in the domain " + safe(s.Domain)
		}
		out = append(out, asks+".")
	case !s.Known && s.Readmitted == 0:
		out = append(out, who+" had a grant for it. It can be admitted again once it is asked for.")
	}
	used := "How often it was used before is not known: no earlier log is here."
	if s.UsedBefore >= 0 {
		used = "The earlier logs that are here show " + plural(s.UsedBefore, "use", "uses") + "; there may have been more."
	}
	if s.Known {
		used += " It states " + plural(s.MaxUses, "use", "uses") + "."
	}
	out = append(out, used)
	if s.Readmitted > 0 {
		out = append(out, fmt.Sprintf("Admitted again for %s, %s used.", plural(s.Readmitted, "use", "uses"), parts.Number(s.Used)))
	}
	return out
}

func (p *settingsPage) askReadmit(u *UI, key string, s approvals.SuspendedView) {
	p.askField(u, key, parts.NewField(fmt.Sprint(max(s.MaxUses-max(s.UsedBefore, 0), 1)), "", 6))
}

func (p *settingsPage) readmitForm(u *UI, s approvals.SuspendedView) fyne.CanvasObject {
	n, err := strconv.ParseInt(strings.TrimSpace(p.field.Text), 10, 64)
	note, blocked := "A passkey confirms it: what was used before and is not in these logs can be used once more.", true
	switch {
	case u.mayConfirm() != "":
		note = u.mayConfirm()
	case err != nil || n < 1:
		note = "Type how many uses, as a number from 1."
	case n > s.MaxUses:
		note = "It states " + plural(s.MaxUses, "use", "uses") + "; no more can be admitted."
	default:
		blocked = false
	}
	return p.fieldPanel(u, 96, "How many uses are admitted", note, "key", "Admit it again", blocked, func() {
		u.confirm(func() (approvals.Outcome, error) { return u.owner.Readmit(u.ctx, s.EnvelopeHash, n) },
			&banner{parts.Calm, "check", "The envelope can be used again", "At most " + plural(n, "time", "times") + " in this instance. A grant for it is a new decision."}, nil)
	})
}

// askFurther opens a question about a socket below its line. It says whether what is one.
func (p *settingsPage) askFurther(u *UI, q *question, what string) bool {
	id, err := strconv.ParseInt(strings.TrimPrefix(what, "socket "), 10, 64)
	if !strings.HasPrefix(what, "socket ") || err != nil {
		return false
	}
	q.add("Close this socket", "At once, without a passkey. Programs that were paired over it stay paired, and reach nothing.", "", func() {
		p.asking = ""
		u.run("", func(ctx context.Context) error { return u.owner.RemoveSocket(ctx, id) }, func(err error) {
			if err == nil {
				u.banner = &banner{parts.Calm, "check", "The socket is closed", "Programs of that user reach this vault no more."}
			}
		})
	})
	q.add("Leave it as it is", "It stays open.", "", p.shut(u))
	return true
}
