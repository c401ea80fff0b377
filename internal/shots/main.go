// Command shots draws every view of the window, light and dark, with the software
// painter and its own sample data, into docs/img (or the folder that is named). It
// needs no display and is linked into neither program of the product.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ipc/socket"
	"vault/ui"
	"vault/ui/parts"
	"vault/ui/secret"
)

// view is one picture: a desk, and what is done in its window before it is drawn.
type view struct {
	name  string
	desk  func() *fakedesk.Desk
	size  fyne.Size
	scale int // text size in percent, 0 is 100
	do    func(*stage)
}

// stage is the window of a view while it is set up.
type stage struct {
	app   fyne.App
	desk  *fakedesk.Desk
	ui    *ui.UI
	now   time.Time
	shown fyne.Window // what is drawn
	hold  bool        // what is asked of the desk does not come to an end
}

func (s *stage) root() fyne.CanvasObject { return s.shown.Canvas().Content() }

// wait lets the second pass in which sheets take no input.
func (s *stage) wait() { s.now = s.now.Add(2 * time.Second) }

func (s *stage) press(label string) {
	b := uiwalk.Button(s.root(), label)
	if b == nil {
		panic("shots: no button " + label)
	}
	b.Tapped(nil)
}

func (s *stage) row(text string) {
	r := uiwalk.Row(s.root(), text)
	if r == nil {
		panic("shots: no row " + text)
	}
	r.Tapped(nil)
}

func (s *stage) take(label string) {
	c := uiwalk.Choice(s.root(), label)
	if c == nil {
		panic("shots: no choice " + label)
	}
	s.wait()
	c.Tapped(nil)
}

// sheet opens the request with an id and draws its window from now on.
func (s *stage) sheet(id string) {
	s.desk.Set(func(d *fakedesk.Desk) {
		for i := range d.Items {
			d.Items[i].Next = d.Items[i].ID == id
		}
	})
	s.press("Open")
	s.last()
}

// contract opens the document of an engagement that waits in the Inbox, and draws its window from now on.
func (s *stage) contract(id string) {
	read := slices.DeleteFunc(uiwalk.All[*parts.Button](s.root()), func(b *parts.Button) bool { return b.Label() != "Read" })
	read[slices.IndexFunc(s.desk.Items, func(i approvals.Item) bool { return i.ID == id })].Tapped(nil)
	s.last()
}

// last draws the newest window from now on.
func (s *stage) last() {
	all := s.app.Driver().AllWindows()
	s.shown = all[len(all)-1]
}

// write types into the first area of the window.
func (s *stage) write(text string) { uiwalk.All[*parts.Area](s.root())[0].SetText(text) }

// confirm selects an option of a decision and goes to the step that shows it whole.
func (s *stage) confirm(label string) {
	s.take(label)
	s.read()
	s.wait()
	s.press("Confirm")
	s.read()
}

// ceremony confirms an option and shows the confirmation by passkey in that state.
func (s *stage) ceremony(id string, state approvals.CeremonyState) {
	s.sheet(id)
	s.confirm("Share dates only")
	s.wait()
	s.asks(id, state)
}

// asks presses the button that confirms, and leaves the confirmation by passkey in that state.
func (s *stage) asks(id string, state approvals.CeremonyState) {
	s.hold = true
	s.press("Confirm")
	s.hold = false
	s.desk.Set(func(d *fakedesk.Desk) { d.Asking = fakedesk.Ceremony(id, state) })
}

// read scrolls every view to its end.
func (s *stage) read() {
	for _, v := range uiwalk.All[*parts.Scroll](s.root()) {
		v.Inner.ScrollToBottom()
		v.Inner.OnScrolled(v.Inner.Offset)
	}
}

// fill types into the field whose placeholder or text begins so.
func (s *stage) fill(begins, text string) {
	for _, f := range uiwalk.All[*parts.Field](s.root()) {
		if strings.HasPrefix(f.PlaceHolder, begins) || strings.HasPrefix(f.Text, begins) && f.Text != "" {
			f.SetText(text)
			return
		}
	}
	panic("shots: no field " + begins)
}

// below shows the end of the rules of the settings.
func (s *stage) below() {
	s.shown.Resize(fyne.NewSize(1180, 900)) // the scroll needs its content laid out
	for _, v := range uiwalk.All[*parts.Scroll](s.root()) {
		v.Inner.ScrollToOffset(fyne.NewPos(0, 1050))
	}
}

// typed types into the area that has the keyboard.
func (s *stage) typed(text string) {
	a, ok := s.shown.Canvas().Focused().(*parts.Area)
	if !ok {
		panic("shots: nothing to type into")
	}
	a.SetText(text)
}

func longMoment() *fakedesk.Desk {
	d := fakedesk.Deciding()
	draft := fakedesk.Travel()
	draft.Findings[1] = strings.Repeat("The booking service wrote about this at length, and every letter of it is here. ", 2500)
	d.Sheets["m1"] = fakedesk.Moment("m1", "travel-desk", "7f3a", 32*24*time.Hour, draft)
	return d
}

func page(name string) func(*stage) { return func(s *stage) { s.row(name) } }

func locked() *fakedesk.Desk {
	d := fakedesk.Busy()
	d.Stat.State, d.Stat.LockReason = approvals.StateLocked, "idle"
	return d
}

func quiet() *fakedesk.Desk {
	d := fakedesk.Deciding()
	d.Items = nil
	d.Stat.Waiting = 0
	return d
}

func rolledBack() *fakedesk.Desk {
	d := fakedesk.Busy()
	d.Stat.State = approvals.StateReadOnly
	d.Stat.Trouble = &approvals.Trouble{Code: "rolled_back"}
	return d
}

func demo() *fakedesk.Desk {
	d := fakedesk.Busy()
	d.Stat.Public.Demo = true
	for id, s := range d.Sheets {
		s.Demo = true
		d.Sheets[id] = s
	}
	return d
}

// secretForm draws a form of the secret window instead.
func secretForm(show func(*secret.Window)) func(*stage) {
	return func(s *stage) {
		mode := s.desk.Chosen.Theme
		w := secret.New(s.app, mode, 100)
		show(w)
		s.shown = w.Window()
	}
}

func noBytes([]byte, secret.Answer)   {}
func noWords([][]byte, secret.Answer) {}

// exampleWords are the words of the design, in order; they open nothing.
func exampleWords() [][]byte {
	return bytes.Fields([]byte("anchor basket canvas debris elbow fabric garden harvest island jacket kitchen ladder marble napkin ocean paddle quarter ribbon saddle timber umbrella velvet walnut yellow"))
}

func views() []view {
	window, first, sheet := fyne.NewSize(1180, 740), fyne.NewSize(820, 620), fyne.NewSize(720, 820)
	small, wide := fyne.NewSize(720, 640), fyne.NewSize(900, 760)
	contract := fyne.NewSize(1080, 788)
	return []view{
		{name: "first-run-1-protection", desk: fakedesk.Empty, size: first},
		{name: "first-run-2-domain", desk: fakedesk.Empty, size: first, do: func(s *stage) {
			s.take("Keyring and passphrase")
			s.press("Confirm")
		}},
		{name: "first-run-3-words", desk: fakedesk.Empty, size: first, do: func(s *stage) {
			s.take("Keyring and passphrase")
			s.press("Confirm")
			s.wait()
			s.press("Use these names")
			s.take("Write the words down now")
		}},
		{name: "locked", desk: locked, size: window},
		{name: "inbox", desk: fakedesk.Busy, size: window},
		{name: "inbox-connect", desk: fakedesk.Fresh, size: window},
		{name: "inbox-empty", desk: quiet, size: window},
		{name: "inbox-trouble", desk: rolledBack, size: window},
		{name: "agents", desk: fakedesk.Busy, size: window, do: page("Agents")},
		{name: "agents-revoke", desk: fakedesk.Busy, size: window, do: func(s *stage) {
			s.row("Agents")
			s.press("Revoke")
			s.take("Revoke support-sender")
		}},
		{name: "domains", desk: fakedesk.Busy, size: window, do: page("Domains")},
		{name: "domains-new", desk: fakedesk.Busy, size: window, do: func(s *stage) {
			s.row("Domains")
			s.press("New domain")
		}},
		{name: "activity", desk: fakedesk.Busy, size: window, do: page("Activity")},
		{name: "activity-entry", desk: fakedesk.Busy, size: window, do: func(s *stage) {
			s.row("Activity")
			s.press("Verify now")
			s.row("1284")
		}},
		{name: "settings", desk: fakedesk.Busy, size: window, do: page("Settings")},
		{name: "sheet-pairing", desk: fakedesk.Busy, size: fyne.NewSize(720, 720), do: func(s *stage) { s.sheet("p1") }},
		{name: "sheet-action", desk: fakedesk.Busy, size: sheet, do: func(s *stage) { s.sheet("a1") }},
		{name: "sheet-action-grant", desk: fakedesk.Busy, size: fyne.NewSize(720, 900), do: func(s *stage) {
			s.sheet("a1")
			s.take("Approve and grant more")
		}},
		{name: "sheet-action-hostile", desk: fakedesk.Busy, size: fyne.NewSize(720, 900), do: func(s *stage) { s.sheet("a2") }},
		{name: "sheet-action-done", desk: fakedesk.Busy, size: sheet, do: func(s *stage) {
			s.sheet("a1")
			s.take("Decline")
			s.wait()
			s.press("Confirm")
		}},
		{name: "sheet-action-200", desk: fakedesk.Busy, size: fyne.NewSize(720, 640), scale: 200, do: func(s *stage) { s.sheet("a1") }},
		{name: "sheet-action-640", desk: fakedesk.Busy, size: fyne.NewSize(720, 640), do: func(s *stage) { s.sheet("a1") }},
		{name: "secret-unlock", desk: locked, size: fyne.NewSize(560, 400), do: secretForm(func(w *secret.Window) {
			w.Passphrase(secret.Question{Purpose: "unlock"}, noBytes)
		})},
		{name: "secret-new", desk: fakedesk.Empty, size: fyne.NewSize(560, 470), do: secretForm(func(w *secret.Window) {
			w.NewPassphrase(secret.Question{Purpose: "create", Problem: "too_short"}, nil, noBytes)
		})},
		{name: "secret-words", desk: fakedesk.Empty, size: fyne.NewSize(820, 620), do: secretForm(func(w *secret.Window) {
			w.ShowWords(secret.Question{Purpose: "create"}, exampleWords(), func(secret.Answer) {})
		})},
		{name: "secret-check", desk: fakedesk.Empty, size: fyne.NewSize(560, 480), do: secretForm(func(w *secret.Window) {
			w.AskWords(secret.Question{Purpose: "create", Problem: "wrong_word", Place: 7}, []int{3, 7, 24}, noWords)
		})},
		{name: "secret-restore", desk: fakedesk.Empty, size: fyne.NewSize(720, 400), do: secretForm(func(w *secret.Window) {
			w.RestoreInput(secret.Question{Purpose: "restore"}, noBytes)
		})},
		{name: "sheet-moment-720", desk: fakedesk.Deciding, size: small, do: func(s *stage) { s.sheet("m1") }},
		{name: "sheet-moment-900", desk: fakedesk.Deciding, size: wide, do: func(s *stage) {
			s.sheet("m1")
			s.shown.Resize(wide)
			s.take("Share dates only")
			s.shown.Canvas().Focus(uiwalk.Choice(s.root(), "Share dates only"))
		}},
		{name: "sheet-moment-four", desk: fakedesk.Deciding, size: small, do: func(s *stage) { s.sheet("m2") }},
		{name: "sheet-moment-hatch-off", desk: fakedesk.Deciding, size: small, do: func(s *stage) { s.sheet("m3") }},
		{name: "sheet-moment-200", desk: fakedesk.Deciding, size: small, scale: 200, do: func(s *stage) { s.sheet("m1") }},
		{name: "sheet-moment-confirm", desk: fakedesk.Deciding, size: small, do: func(s *stage) { s.sheet("m1"); s.confirm("Share dates only") }},
		{name: "sheet-moment-signs", desk: fakedesk.Deciding, size: wide, do: func(s *stage) { s.sheet("m4") }},
		{name: "sheet-moment-signs-confirm", desk: fakedesk.Deciding, size: wide, do: func(s *stage) { s.sheet("m4"); s.confirm("It leaves today") }},
		{name: "sheet-moment-twins", desk: fakedesk.Deciding, size: small, do: func(s *stage) { s.sheet("m5") }},
		{name: "sheet-moment-right-to-left", desk: fakedesk.Deciding, size: wide, do: func(s *stage) { s.sheet("m6") }},
		{name: "sheet-moment-long-label", desk: fakedesk.Deciding, size: small, do: func(s *stage) {
			s.sheet("m1")
			s.shown.Resize(small)
			s.take("Share dates and passport number")
		}},
		{name: "sheet-moment-answer", desk: fakedesk.Deciding, size: small, do: func(s *stage) {
			s.sheet("m1")
			s.take("Answer in my own words")
			s.typed("Share the dates, but only after they confirm the price in writing.")
		}},
		{name: "sheet-moment-held-back", desk: fakedesk.Deciding, size: wide, do: func(s *stage) {
			s.sheet("m1")
			s.take("Answer in my own words")
			s.typed("ability able about above absent absorb abstract absurd abuse access accident account")
		}},
		{name: "sheet-moment-wrong-question", desk: fakedesk.Deciding, size: wide, do: func(s *stage) { s.sheet("m1"); s.take("This is the wrong question") }},
		{name: "sheet-moment-ask", desk: fakedesk.Deciding, size: wide, do: func(s *stage) {
			s.sheet("m1")
			s.wait()
			s.press("Ask about finding 3")
			s.typed("Who says so? Is it in their terms?")
		}},
		{name: "sheet-moment-reply", desk: fakedesk.Deciding, size: fyne.NewSize(900, 820), do: func(s *stage) {
			s.sheet("m1")
			s.shown.Resize(fyne.NewSize(900, 820))
			s.wait()
			s.press("Ask about finding 3")
			s.typed("Who says so?")
			s.wait()
			s.press("Send the question")
			s.wait()
			s.press("Done")
			s.desk.Reply("m1", "Their terms, section 4: identity documents are checked at the desk.")
		}},
		{name: "sheet-moment-rejected-before", desk: func() *fakedesk.Desk {
			d := fakedesk.Deciding()
			d.Sheets["m1"].Moment.Repetition.Rejected = true
			return d
		}, size: small, do: func(s *stage) { s.sheet("m1") }},
		{name: "sheet-moment-long", desk: longMoment, size: small, do: func(s *stage) { s.sheet("m1") }},
		{name: "sheet-moment-done", desk: fakedesk.Deciding, size: wide, do: func(s *stage) {
			s.sheet("m4")
			s.shown.Resize(wide)
			s.confirm("It leaves today")
			s.wait()
			s.press("Confirm")
		}},
		{name: "sheet-moment-rejected", desk: fakedesk.Deciding, size: wide, do: func(s *stage) {
			s.sheet("m1")
			s.take("This is the wrong question")
			s.wait()
			s.press("Confirm")
		}},
		{name: "inbox-moments", desk: fakedesk.Deciding, size: window},
		{name: "inbox-note", desk: fakedesk.Deciding, size: window, do: func(s *stage) { s.press("Read") }},
		{name: "activity-rates", desk: fakedesk.Deciding, size: window, do: func(s *stage) {
			s.row("Activity")
			s.press("Decisions")
		}},
		{name: "settings-passkeys", desk: fakedesk.Enrolled, size: fyne.NewSize(1180, 1480), do: page("Settings")},
		{name: "settings-rule", desk: fakedesk.Enrolled, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Settings")
			s.press("A rule of your own")
			s.press("Single signatures")
			s.press("buying-desk")
			s.fill("Any resource", "supplier:millrace")
			s.below()
		}},
		{name: "settings-rule-decision", desk: fakedesk.Enrolled, size: fyne.NewSize(1180, 1000), do: func(s *stage) {
			s.row("Settings")
			s.press("A rule of your own")
			s.press("Answers to decisions")
			s.press("support-sender")
			s.fill("Any class", "customer message")
			s.below()
		}},
		{name: "settings-sockets", desk: func() *fakedesk.Desk {
			d := fakedesk.Enrolled()
			d.Further = []approvals.SocketView{
				{UserID: 1002, User: "helper", Path: socket.FurtherPath("5b1f0c9a", 1002), AddedAt: fakedesk.Now.UnixMilli(), Served: true},
				{UserID: 1003, Path: "/srv/agents/vault.sock", AddedAt: fakedesk.Now.UnixMilli(), Trouble: "socket_path_unsafe"},
			}
			return d
		}, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Settings")
			s.press("Open a socket")
			s.fill("Name of the account, or its user id", "builder")
			s.below()
		}},
		{name: "settings-suspended", desk: func() *fakedesk.Desk {
			d := fakedesk.Enrolled()
			d.Hung = []approvals.SuspendedView{
				{EnvelopeHash: "0x0db384ab4836a1c0d95e6391f3d0ce04fe9ab2c7710e58ab12de34f62be232d1", Known: true, Domain: "support-ops", Operation: "send-message",
					Resources: []string{"channel:support", "thread:customer-123"}, MaxUses: 25, Agent: "support-sender", Asked: 2, UsedBefore: 3},
				{EnvelopeHash: "0x7e11c0d95e6391f3d0ce04fe9ab2c7710e58ab12de34f62be232d10db384ab48", Known: true, Domain: "support-ops", Operation: "close-thread",
					Resources: []string{"channel:support"}, MaxUses: 5, Agent: "support-sender", UsedBefore: -1, Readmitted: 4, Used: 1},
				{EnvelopeHash: "0x91f3d0ce7c1e09a45b2d8836e1f0b7a2c4d95e6391f3d0ce7c1e09a45b2d8836", Agent: "buying-desk", UsedBefore: 9},
			}
			return d
		}, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Settings")
			s.press("Admit again")
		}},
		{name: "settings-class", desk: func() *fakedesk.Desk {
			d := fakedesk.Enrolled()
			d.Rules.Rules[0] = permit.Rule{Scope: permit.ScopeMoment, Class: "purchase"}
			d.Rules.Ordinary = []string{"customer message"}
			return d
		}, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Settings")
			s.press("Add a class that you know")
			s.fill("The class, as agents name it", "travel")
			s.below()
		}},
		{name: "settings-enrol", desk: fakedesk.Busy, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Settings")
			s.press("Enrol a passkey")
			s.take("Enrol a passkey")
		}},
		{name: "settings-mine", desk: fakedesk.Enrolled, size: window, do: func(s *stage) {
			s.row("Settings")
			s.desk.Set(func(d *fakedesk.Desk) { d.Asking = fakedesk.Ceremony("enrol", approvals.CeremonyMine) })
			s.take("It is mine")
		}},
		{name: "settings-remove", desk: fakedesk.Enrolled, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Settings")
			s.press("Remove 480 791")
			s.take("Remove this passkey")
		}},
		{name: "first-run-4-passkey", desk: fakedesk.Empty, size: fyne.NewSize(820, 700), do: func(s *stage) {
			s.take("Keyring and passphrase")
			s.press("Confirm")
			s.wait()
			s.press("Use these names")
			s.take("Write the words down now")
			s.wait()
			s.press("Confirm")
			s.desk.Set(func(d *fakedesk.Desk) { d.Stat = fakedesk.Fresh().Stat })
			s.take("A passkey for every approval")
		}},
		{name: "sheet-moment-confirm-900", desk: fakedesk.Deciding, size: wide, do: func(s *stage) {
			s.sheet("m1")
			s.shown.Resize(wide)
			s.confirm("Share dates only")
		}},
		{name: "sheet-moment-asks-passkey", desk: fakedesk.DecidingByPasskey, size: small, do: func(s *stage) {
			s.sheet("m1")
			s.shown.Resize(small)
			s.take("Share dates only")
		}},
		{name: "sheet-moment-unused", desk: fakedesk.DecidingByPasskey, size: small, do: func(s *stage) {
			s.sheet("m1")
			s.confirm("Share dates only")
			s.wait()
			s.desk.Outcome.Code = "page_closed"
			s.press("Confirm")
			s.wait()
			s.press("Back, nothing decided")
		}},
		{name: "sheet-action-unused", desk: fakedesk.Enrolled, size: sheet, do: func(s *stage) {
			s.sheet("a1")
			s.take("Approve and grant more")
			s.read()
			s.wait()
			s.desk.Outcome.Code = "cancelled"
			s.press("Confirm")
			s.wait()
			s.press("Back, nothing decided")
		}},
		{name: "sheet-pairing-passkey", desk: fakedesk.Enrolled, size: fyne.NewSize(720, 720), do: func(s *stage) { s.sheet("p1"); s.take("The number is the same") }},
		{name: "sheet-moment-passkey", desk: fakedesk.DecidingByPasskey, size: small, do: func(s *stage) { s.ceremony("m1", approvals.CeremonyAsking) }},
		{name: "sheet-moment-passkey-link", desk: fakedesk.DecidingByPasskey, size: small, do: func(s *stage) { s.ceremony("m1", approvals.CeremonyNoBrowser) }},
		{name: "sheet-moment-passkey-digits", desk: fakedesk.DecidingByPasskey, size: fyne.NewSize(720, 820), do: func(s *stage) { s.ceremony("m1", approvals.CeremonyCompare) }},
		{name: "sheet-moment-passkey-200", desk: fakedesk.DecidingByPasskey, size: small, scale: 200, do: func(s *stage) { s.ceremony("m1", approvals.CeremonyAsking) }},
		{name: "sheet-moment-passkey-refused", desk: fakedesk.DecidingByPasskey, size: small, do: func(s *stage) {
			s.sheet("m1")
			s.take("Share dates only")
			s.read()
			s.wait()
			s.press("Confirm")
			s.read()
			s.wait()
			s.desk.Outcome.Code = "wrong_challenge"
			s.press("Confirm")
		}},
		{name: "sheet-action-passkey", desk: fakedesk.Enrolled, size: sheet, do: func(s *stage) {
			s.sheet("a1")
			s.take("Approve once")
			s.read()
			s.wait()
			s.asks("a1", approvals.CeremonyAsking)
		}},
		{name: "activity-clicks", desk: fakedesk.Enrolled, size: window, do: func(s *stage) {
			s.row("Activity")
			s.press("Decisions")
		}},
		{name: "inbox-contracts", desk: fakedesk.Contracts, size: window},
		{name: "engagements", desk: fakedesk.Contracts, size: window, do: page("Engagements")},
		{name: "engagements-one", desk: fakedesk.Contracts, size: fyne.NewSize(1180, 1500), do: func(s *stage) {
			s.row("Engagements")
			s.row("A change is proposed to you")
		}},
		{name: "engagements-bring", desk: fakedesk.Contracts, size: window, do: func(s *stage) {
			s.row("Engagements")
			s.press("Bring in a document")
		}},
		{name: "sheet-sow", desk: fakedesk.Contracts, size: contract, do: func(s *stage) { s.contract("e_0") }},
		{name: "sheet-sow-clauses", desk: fakedesk.Contracts, size: fyne.NewSize(1080, 2400), do: func(s *stage) { s.contract("e_0") }},
		{name: "sheet-sow-sign", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.contract("e_0")
			s.wait()
			s.press("Sign as")
			s.take("Sign version 1")
		}},
		{name: "sheet-sow-refuse", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.contract("e_0")
			s.wait()
			s.press("Refuse with a reason")
			s.take("Refuse with a reason")
		}},
		{name: "sheet-sow-passkey", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.contract("e_0")
			s.wait()
			s.press("Sign as")
			s.take("Sign version 1")
			s.read()
			s.wait()
			s.asks("e_0", approvals.CeremonyAsking)
		}},
		{name: "sheet-sow-done", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.contract("e_0")
			s.wait()
			s.press("Sign as")
			s.take("Sign version 1")
			s.read()
			s.wait()
			s.press("Confirm")
		}},
		{name: "sheet-sow-200", desk: fakedesk.Contracts, size: contract, scale: 200, do: func(s *stage) { s.contract("e_0") }},
		{name: "sheet-sow-unearned", desk: func() *fakedesk.Desk {
			d := fakedesk.Contracts()
			v := d.SoW.Views["e_0"]
			v.Deployment = sow.Deployment{Scope: true, Inputs: true, Term: true, Sealed: true}
			d.SoW.Views["e_0"] = v
			return d
		}, size: contract, do: func(s *stage) { s.contract("e_0") }},
		{name: "sheet-sow-offer", desk: fakedesk.Offers, size: contract, do: func(s *stage) { s.contract("e_0") }},
		{name: "sheet-sow-fill", desk: fakedesk.Offers, size: contract, do: func(s *stage) {
			s.contract("e_0")
			s.wait()
			s.press("Fill the seat")
			s.take("Fill the seat")
		}},
		{name: "sheet-sow-allow", desk: fakedesk.Offers, size: contract, do: func(s *stage) {
			s.contract("e_0")
			s.wait()
			s.press("Allow in advance")
			s.take("Let support-sender accept")
		}},
		{name: "amendment", desk: fakedesk.Contracts, size: contract, do: func(s *stage) { s.contract("e_1") }},
		{name: "amendment-deny", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.contract("e_1")
			s.take("Deny version 2")
			s.write("We agree to the new task and its price. Retention must stay at 30 days.")
		}},
		{name: "sheet-sow-terminate", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.row("Engagements")
			s.row("A change is proposed to you")
			s.wait()
			s.press("End it")
			s.last()
			s.take("End it for cause")
		}},
		{name: "sheet-sow-dispute", desk: fakedesk.Contracts, size: contract, do: func(s *stage) {
			s.row("Engagements")
			s.row("A change is proposed to you")
			s.wait()
			s.press("Dispute an amount")
			s.last()
			s.take("Dispute the settlement record")
		}},
		{name: "inbox-200", desk: fakedesk.Busy, size: window, scale: 200},
		{name: "inbox-demo", desk: demo, size: window},
		{name: "sheet-demo", desk: demo, size: fyne.NewSize(720, 846), do: func(s *stage) { s.sheet("a1") }},
	}
}

func draw(v view, mode string) image.Image {
	app := test.NewApp()
	defer app.Quit()
	desk := v.desk()
	desk.Chosen.Theme = mode
	if v.scale > 0 {
		desk.Chosen.TextScale = v.scale
	}
	s := &stage{app: app, desk: desk, now: fakedesk.Now}
	s.ui = ui.New(app, desk, ui.Options{
		Now:  func() time.Time { return s.now },
		Zone: time.UTC,
		Do:   func(f func()) { f() },
		Go: func(f func()) {
			if !s.hold {
				f()
			}
		},
		Export:     func(string) (ui.File, string, error) { return nil, "", os.ErrPermission },
		Read:       func(string) (string, []byte, error) { return "", nil, os.ErrPermission },
		BackupFile: func() string { return "/home/owner/vault-2026-11-04.age" },
	})
	defer s.ui.Close()
	s.shown = s.ui.Window()
	s.shown.Resize(v.size)
	s.ui.Show()
	if v.do != nil {
		v.do(s)
	}
	s.shown.Resize(v.size)
	return s.shown.Canvas().Capture()
}

func write(path string, img image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, reduced(img)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// reduced is a picture in 256 colours: those that it uses most, and those that are far from all of these. The
// steps that soften the edges of letters are drawn with the nearest.
func reduced(img image.Image) image.Image {
	count := map[color.RGBA]int{}
	b := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(p, q color.RGBA) int {
		if c := count[q] - count[p]; c != 0 {
			return c
		}
		return cmp.Compare(uint32(p.R)<<16|uint32(p.G)<<8|uint32(p.B), uint32(q.R)<<16|uint32(q.G)<<8|uint32(q.B))
	})
	far := make([]int, len(all)) // squared distance to the nearest colour that was taken
	for i := range far {
		far[i] = 3 * 255 * 255
	}
	var palette color.Palette
	take := func(c color.RGBA) {
		palette = append(palette, c)
		for i, o := range all {
			r, g, b := int(o.R)-int(c.R), int(o.G)-int(c.G), int(o.B)-int(c.B)
			far[i] = min(far[i], r*r+g*g+b*b)
		}
	}
	for len(palette) < min(len(all), 256) {
		next := len(palette)
		if next >= 64 {
			for i := range all {
				if far[i]*count[all[i]] > far[next]*count[all[next]] {
					next = i
				}
			}
		}
		take(all[next])
	}
	index := map[color.RGBA]uint8{}
	for _, c := range all {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			out.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	return out
}

func run(dir, only string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, v := range append(views(), delegateViews()...) {
		if !strings.HasPrefix(v.name, only) {
			continue
		}
		for _, mode := range []string{"light", "dark"} {
			if err := write(filepath.Join(dir, v.name+"-"+mode+".png"), draw(v, mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

func main() {
	only := flag.String("only", "", "draw only the views whose name begins so")
	flag.Parse()
	dir := "docs/img"
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	if err := run(dir, *only); err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}
