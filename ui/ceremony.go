package ui

import (
	"errors"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/means"
	"vault/approvals/unconfirmed"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// asking is the status of the ceremony that is open, as a sheet or the main window shows it. It
// decides nothing: the passkey answers on the page, and digits are compared here.
type asking struct {
	u       *UI
	view    approvals.CeremonyView
	failed  string // code of why it ended, or ""
	again   func() // asks the same anew; nil where that is done elsewhere
	compare *question
	gate    *gate
	buttons map[string]*parts.Button
	watch   parts.Keys
	refresh func()
}

func newAsking(u *UI, v approvals.CeremonyView, watch parts.Keys, refresh func()) *asking {
	a := &asking{u: u, gate: &gate{now: u.opts.Now}, buttons: map[string]*parts.Button{}, watch: watch, refresh: refresh}
	a.set(v)
	return a
}

// set takes the next state of the ceremony. It is deaf for a second whenever what is asked of the owner changes.
func (a *asking) set(v approvals.CeremonyView) {
	if v.State != a.view.State || v.For != a.view.For || v.Digits != a.view.Digits {
		a.gate.arm()
		a.compare = nil
		switch {
		case v.State == approvals.CeremonyCompare:
			a.compare = a.question("The digits are the same", "The page is this vault’s, and goes on.",
				"They are not the same", "The page is not this vault’s. Nothing is decided.")
		case v.State == approvals.CeremonyMine && v.For == "enrol": // answered, once it is for another step
			a.compare = a.question("It is mine", "The digits on the page are the same, and you used this passkey yourself.",
				"It is not mine", "The new passkey is forgotten. Nothing is changed.")
		}
	}
	a.view = v
}

func (a *asking) question(yes, whyYes, no, whyNo string) *question {
	q := newQuestion(a.u, nil)
	q.watch(a.watch)
	q.changed = a.refresh
	answer := func(same bool) func() {
		return func() {
			q.group.Take(nil)
			a.u.opts.Go(func() {
				err := a.u.owner.Compared(a.u.ctx, same)
				if err != nil {
					a.u.opts.Do(func() { a.u.banner = problem(err); a.u.rebuild() })
				}
				a.u.changed()
			})
		}
	}
	q.add(yes, whyYes, "", answer(true))
	q.add(no, whyNo, "", answer(false))
	return q
}

// ceremonyTitles say what is confirmed, where it is no request.
var ceremonyTitles = map[string]string{
	"enrol":      "Add a passkey",
	"try":        "The new passkey answers once",
	"add":        "Confirm the new passkey with one that is enrolled",
	"remove":     "Confirm the removal with a passkey",
	"policy":     "Confirm with your passkey that less is asked of you",
	"words":      "Confirm with your passkey that the words are shown",
	"protection": "Confirm the other protection with your passkey",
	"card":       "Confirm the export of the owner card with your passkey",
	"socket":     "Confirm the socket for another user with your passkey",
	"readmit":    "Confirm with your passkey that it may be used again",

	"delegate":    "Confirm the delegate with your passkey",
	"admit":       "Confirm with your passkey that the delegate is in force here",
	"resume":      "Confirm with your passkey that the delegate goes on",
	"mint_export": "Confirm with your passkey that mint material leaves the vault",
}

const presence = "A passkey shows presence and verification: its holder was here and verified themselves. It does not show that anything was read."

// course are the steps of a ceremony with their states.
func (a *asking) course(who string) []parts.Stage {
	v := a.view
	names := []string{"Page opened in your browser", "Waiting for your passkey", "The key process checks it", "Recorded"}
	switch {
	case v.For == "enrol" || v.For == "try":
		names = []string{"Page opened in your browser", "The new passkey answers", "You compare six digits", "It answers once more", "Enrolled"}
	case who != "":
		names[3] = "Recorded, then told to " + who
	}
	now, more := 0, ""
	switch v.State {
	case approvals.CeremonyOpening:
		names[0], more = "Opening the page", "The page is served on this computer and works once."
		if v.For == "enrol" {
			more = "For the first passkey the secret window asks for your passphrase."
		}
	case approvals.CeremonyReady:
		names[0], more = "Opening the page in your browser", "The page shows this act and nothing else."
	case approvals.CeremonyNoBrowser:
		names[0], more = "No browser has opened it yet", "Where none does, copy the link and open it on this computer. It works once"+a.until()+"."
	case approvals.CeremonyCompare:
		names[0], more = "Compare six digits", "This system does not tell whose the page is. The page shows digits too."
	case approvals.CeremonyOpened, approvals.CeremonyAsking:
		now, more = 1, "Whichever you have at hand."
		if v.State == approvals.CeremonyOpened {
			more = "The page shows this act. Go on there."
		}
	case approvals.CeremonyMine:
		now, more = 2, "The page shows digits too."
	case approvals.CeremonyTaking:
		now = 2
	}
	if v.For == "try" {
		if now == 0 && v.State != approvals.CeremonyNoBrowser {
			names[0] = "Page opened in your browser"
		}
		now = 3
	}
	if v.For == "enrol" && v.State == approvals.CeremonyTaking {
		now = 1
	}
	var out []parts.Stage
	for i, name := range names {
		s := parts.Stage{Progress: parts.Next, Name: name}
		switch {
		case i < now:
			s.Progress = parts.Done
		case i == now && a.failed != "":
			what, why, _ := unconfirmed.Of(a.failed)
			return append(out, parts.Stage{Progress: parts.Failed, Name: what, More: why})
		case i == now:
			s.Progress, s.More = parts.Now, more
		}
		out = append(out, s)
	}
	return out
}

func (a *asking) until() string {
	if a.view.Until == 0 {
		return ""
	}
	return ", until " + a.u.at(a.view.Until).Format("15:04:05")
}

// left is the time that is left, in words: nothing counts down.
func (a *asking) left() string {
	if a.view.Until == 0 || a.failed != "" {
		return ""
	}
	switch s := (a.view.Until - a.u.opts.Now().UnixMilli()) / 1000; {
	case s > 90:
		return "less than two minutes are left"
	case s > 60:
		return "more than a minute is left"
	case s > 30:
		return "less than a minute is left"
	case s > 0:
		return "less than half a minute is left"
	}
	return "the time is over"
}

// button makes a button of the panel once; it keeps the keyboard while the panel is drawn anew.
func (a *asking) button(icon, label string, tap func()) *parts.Button {
	b := a.buttons[label]
	if b == nil {
		b = parts.NewButton(parts.Plain, icon, label, func() {
			a.u.touch()
			tap()
		})
		b.Watch(a.watch)
		a.buttons[label] = b
	}
	return b
}

// panel draws the status, and the line of buttons below it. Who is told of the outcome, or ""; back leaves it, with
// nothing decided.
func (a *asking) panel(who string, back func()) (status, buttons fyne.CanvasObject) {
	title := ceremonyTitles[a.view.For]
	if title == "" {
		title = "Confirm with your passkey"
	}
	head := []fyne.CanvasObject{parts.Middle(22, look.NewIcon("key", 16, look.Ink)), parts.Grow(look.Text(look.Stem, look.Ink, title))}
	if left := a.left(); left != "" {
		head = append(head, parts.Middle(22, look.Word(look.Caption, look.Ink3, left)))
	}
	list := []fyne.CanvasObject{parts.Row(10, head...), parts.Space(0, 12), parts.Ceremony(a.course(who)...)}
	link := a.view.Link != "" && a.failed == ""
	if link && a.view.Forward != "" {
		list = append(list, parts.Space(0, 10), look.Text(look.Small, look.Ink2, "Where you sit at another computer, type this there first:"),
			parts.Space(0, 4), parts.Sunk(look.Well, 4, parts.Pad(6, 8, 6, 8, hostile.Inline(look.Mono, look.Ink, a.view.Forward))))
	}
	if a.compare != nil && a.failed == "" {
		list = append(list, parts.Space(0, 10))
		if k := a.view.Passkey; k != nil {
			list = append(list, look.Text(look.Body, look.Ink, means.Name(k.Kind)+". "+means.Copies(k.BackupEligible)), parts.Space(0, 6))
		}
		list = append(list, parts.Row(12, parts.Middle(36, look.Word(look.Digits, look.Ink, spaced(a.view.Digits))), parts.Spring()), parts.Space(0, 6), a.compare.rows(a.u))
	}
	if a.failed == "" {
		list = append(list, parts.Space(0, 12), parts.Note("info", look.Ink2, presence))
	}
	line := []fyne.CanvasObject{a.button("back", "Back, nothing decided", func() {
		if a.gate.open() {
			back()
		}
	}), parts.Spring()}
	if a.again != nil && unconfirmed.Again(a.failed) {
		line = append(line, a.button("key", "Open the page again", func() {
			if a.gate.open() {
				a.again()
			}
		}))
	}
	if link {
		line = append(line, a.button("copy", "Copy link", func() { a.u.app.Clipboard().SetContent(a.view.Link) }))
	}
	return parts.Column(0, list...), parts.Row(8, line...)
}

// spaced writes six digits as two groups.
func spaced(digits string) string {
	if len(digits) != 6 {
		return safe(digits)
	}
	return digits[:3] + " " + digits[3:]
}

// endCode is why nothing was confirmed, or "" where that is not what happened.
func endCode(out approvals.Outcome, err error) string {
	code := out.Code
	var (
		k *keys.Error
		r *approvals.Refusal
	)
	if errors.As(err, &k) {
		code = k.Code
	} else if errors.As(err, &r) {
		code = r.Code
	}
	if _, _, ok := unconfirmed.Of(code); ok {
		return code
	}
	return ""
}

func (s *sheet) newAsking(v approvals.CeremonyView) *asking {
	a := newAsking(s.u, v, s, func() { s.root.Refresh() })
	a.again = func() {
		s.asking = nil
		s.arrange(s.compact)
		s.decide()
	}
	return a
}

// confirm shows the confirmation in the place of the sheet's answers. Nothing else can be done meanwhile.
func (s *sheet) confirmed(v approvals.CeremonyView) {
	if s.asking == nil {
		s.asking = s.newAsking(v)
		s.gate.arm()
		s.arrange(s.compact)
		s.w.Canvas().Focus(s.heading)
		return
	}
	s.asking.set(v)
	s.arrange(s.compact)
}

// back leaves the confirmation: the sheet is as it was.
func (s *sheet) back() {
	a := s.asking
	if a == nil {
		return
	}
	if a.failed == "" {
		s.left = true
		s.u.opts.Go(s.u.owner.CancelCeremony)
		return
	}
	s.asking, s.unused = nil, a.failed
	s.gate.arm()
	s.arrange(s.compact)
	s.w.Canvas().Focus(s.heading)
}

// unconfirmed shows why nothing was decided, until the owner goes back to the sheet. Who went back is there already.
func (s *sheet) unconfirmed(code string) {
	if s.asking == nil {
		s.asking = s.newAsking(approvals.CeremonyView{For: s.doc.ID, State: approvals.CeremonyOpening})
	}
	s.asking.failed = code
	s.gate.arm()
	s.asking.gate.arm()
	if s.left {
		s.left = false
		s.back()
		return
	}
	s.arrange(s.compact)
	s.w.Canvas().Focus(s.heading)
}

// ceremonyPage is the sheet while its confirmation is asked for: what is confirmed above, the status below.
func (s *sheet) ceremonyPage() fyne.CanvasObject {
	var paper fyne.CanvasObject
	switch {
	case s.moment != nil && s.moment.step:
		paper = s.moment.page
	case s.moment != nil:
		paper = parts.NewScroll(parts.Sunk(look.Paper, 0, parts.Pad(22, 24, 18, 24, s.heading)))
	default:
		body, _ := s.build(false)
		s.scroll = onPaper(body)
		paper = s.scroll
	}
	status, buttons := s.asking.panel(s.asker(), s.back)
	list := []fyne.CanvasObject{status}
	if s.moment == nil || !s.moment.step {
		list = append([]fyne.CanvasObject{parts.Cells(0, []float32{128, 0}, look.Text(look.Caption.Box(20), look.Ink3, "Your decision"), look.Text(look.Strong, look.Ink, s.named)), parts.Space(0, 12)}, list...)
	}
	panel := parts.Pad(18, 24, 0, 24, parts.Column(0, list...))
	foot := parts.Pad(14, 24, 16, 24, buttons)
	if size := s.root.Size(); parts.HeightFor(panel, size.Width)+parts.HeightFor(foot, size.Width) > size.Height*0.75 {
		return stack(s.above(), parts.NewScroll(panel).Whole(look.Ground, func(float32) string { return "This goes on below: scroll." }), parts.Hair(), foot) // no room for both: what is confirmed stood on the step before, and is on the page
	}
	return stack(s.above(), parts.Over(look.NewBox(look.Paper, "", 0), paper), parts.Hair(), panel, foot)
}

// follows the ceremony in the main window, where no sheet shows it.
func (u *UI) followCeremony() {
	v := u.state.Ceremony
	if s := u.sheet; s != nil && v != nil && v.For == s.doc.ID && !s.over {
		s.confirmed(*v)
		v = nil
	}
	if c := u.contract; c != nil && v != nil && c.busy && !c.over {
		c.confirmed(*v)
		v = nil
	}
	switch {
	case v == nil:
		u.asking = nil
	case u.asking == nil:
		u.asking = newAsking(u, *v, u, u.root.Refresh)
	default:
		u.asking.set(*v)
	}
}

// ceremonyPanel is the status of a confirmation that belongs to no open sheet.
func (u *UI) ceremonyPanel() fyne.CanvasObject {
	status, buttons := u.asking.panel("", func() { u.opts.Go(u.owner.CancelCeremony) })
	return parts.Sunk(look.Ground, 6, parts.Pad(16, 18, 14, 18, parts.Column(14, status, buttons)))
}

// confirm does something that a passkey may have to confirm, and says what came of it.
func (u *UI) confirm(f func() (approvals.Outcome, error), said *banner, then func(code string)) {
	u.busy, u.banner = "passkey", nil
	u.rebuild()
	if s := u.scroll[u.page]; s != nil {
		s.Inner.ScrollToTop() // how far it is, and what came of it, stands there
	}
	u.opts.Go(func() {
		out, err := f()
		u.opts.Do(func() {
			u.busy = ""
			code := endCode(out, err)
			switch {
			case err == nil && out.Code == "done":
				code, u.banner = "done", said
			case code != "":
				what, more, _ := unconfirmed.Of(code)
				tone := parts.Notice
				if code == "cancelled" {
					tone, more = parts.Calm, "Nothing was changed."
				}
				u.banner = &banner{tone, "info", what, more}
				if unconfirmed.Again(code) {
					u.repeat.of, u.repeat.do = u.banner, func() { u.confirm(f, said, then) }
				}
			case err != nil:
				u.banner = problem(err)
			default:
				u.banner = problem(&keys.Error{Code: out.Code, Detail: out.Detail})
			}
			if then != nil {
				then(code)
			}
			u.rebuild()
		})
		u.changed()
	})
}
