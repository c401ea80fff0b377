package ui

import (
	"errors"
	"fmt"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/unconfirmed"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// sheet is the window of one decision. Nothing is selected when it opens, nothing
// happens by Enter or Space before the person has moved the keyboard, and input
// is dropped for a second whenever what is on screen may be new to the eye.
type sheet struct {
	u      *UI
	w      fyne.Window
	root   *frame
	doc    approvals.Sheet
	gate   *gate
	size   fyne.Size
	scroll *parts.Scroll

	heading *parts.Heading
	group   *parts.Group
	confirm *parts.Button
	reason  *look.Paragraph // why confirming is not possible, or the standing caption
	blocks  []*hostile.Block
	read    bool // the whole of the paper was in view once

	build    func(compact bool) (paper, footer fyne.CanvasObject)
	verdict  func() (approvals.Decision, string, string) // decision, what confirm is called, what stands in its way
	needs    func() bool                                 // whether the choice that is taken needs everything to have been seen
	band     func(compact bool) fyne.CanvasObject
	moment   *momentSheet // of a binding moment, which puts its parts in their places itself
	compact  bool
	over     bool // decided, ended or closed: nothing more can be decided here
	busy     bool
	ended    bool
	result   *banner // what came of it, once over
	next     string  // request that "Open next" opens, or ""
	answered *approvals.AnsweredMoment
	refused  string  // why the desk did not take what was typed, until it is changed
	drawn    string  // what refresh has last brought on screen
	asking   *asking // confirmation by passkey that this decision waits for, or why it came to nothing
	left     bool    // the owner went back from it
	unused   string  // why the last confirmation came to nothing, as the sheet says it, or ""
	again    *parts.Button
	named    string // what is confirmed, where no page shows it
}

// openSheet asks the desk for the request and opens its window. One sheet is open at a time.
func (u *UI) openSheet(id string) {
	u.touch()
	if u.sheet != nil && !u.sheet.over {
		u.sheet.w.RequestFocus()
		return
	}
	u.banner = nil
	u.opts.Go(func() {
		doc, err := u.owner.Open(u.ctx, id)
		u.opts.Do(func() {
			if err != nil {
				u.banner = problem(err)
				u.rebuild()
				return
			}
			if !shown(doc) {
				u.banner = &banner{parts.Notice, "warning", "This window cannot show that request", "Nothing was decided. It keeps its place."}
				u.opts.Go(func() { u.owner.Closed(id) })
				u.rebuild()
				return
			}
			if u.sheet != nil {
				u.sheet.shut()
			}
			u.showSheet(doc)
		})
	})
}

// shown says whether this window can show what a sheet holds.
func shown(doc approvals.Sheet) bool {
	switch doc.Kind {
	case approvals.ItemAction:
		return doc.Action != nil
	case approvals.ItemPairing:
		return doc.Pairing != nil
	case approvals.ItemMoment:
		return doc.Moment != nil && doc.Moment.Sheet != nil
	}
	return false
}

func (u *UI) showSheet(doc approvals.Sheet) {
	s := &sheet{u: u, doc: doc, gate: &gate{now: u.opts.Now}, group: &parts.Group{}, root: newFrame(fyne.NewSize(720, 640))}
	s.w = u.app.NewWindow("Vault: a request")
	s.w.SetPadded(false)
	s.reason = look.Text(look.Caption, look.Ink3, closing)
	s.confirm = parts.NewButton(parts.Primary, "", nothing, s.decide).Least(200)
	s.confirm.Watch(s)
	s.confirm.Disable()
	s.group.Changed = s.refresh
	width, height := float32(720), float32(820)
	switch doc.Kind {
	case approvals.ItemPairing:
		height = 720
		s.pairing()
	case approvals.ItemMoment:
		width, height = 900, 760
		s.decision()
	default:
		s.action()
	}
	if doc.Demo {
		height += 26
	}
	s.again = parts.NewButton(parts.Plain, "key", "Open the page again", s.decide)
	s.again.Watch(s)
	changed := s.group.Changed
	s.group.Changed = func() {
		if s.unused != "" {
			s.unused = ""
			s.gate.arm()
			s.arrange(s.compact)
		}
		changed()
	}
	for _, c := range s.group.Choices() {
		c.Watch(s)
	}
	for _, b := range s.blocks {
		s.watch(b)
	}
	s.root.layout = s.resized
	s.root.touched = u.touch
	s.w.SetContent(s.root)
	s.w.SetCloseIntercept(s.close)
	s.w.Canvas().SetOnTypedKey(s.Key)
	u.sheet = s
	if s.moment != nil {
		u.follows(doc.ID)
	}
	s.gate.arm()
	s.w.Resize(fyne.NewSize(width, height))
	s.arrange(s.compact)
	s.w.Show()
	s.w.Canvas().Focus(s.heading)
	s.gate.lost = nil
}

// watch lets a block of text scroll the sheet and tell of its end.
func (s *sheet) watch(b *hostile.Block) {
	b.Watch(s)
	b.Seen = s.refresh
	b.Beyond = func(e *fyne.ScrollEvent) {
		if s.scroll != nil {
			s.scroll.Inner.Scrolled(e)
		}
	}
}

const (
	closing   = "Closing this window decides nothing."
	nothing   = "Nothing selected"
	byPasskey = "Your passkey is asked for, on a page in your browser."
	noPasskey = "This needs a passkey and none is enrolled. Add one in Settings; the request keeps its place."
)

// Key implements [parts.Keys]: Escape closes and decides nothing.
func (s *sheet) Key(k *fyne.KeyEvent) {
	s.u.touch()
	if k.Name == fyne.KeyEscape {
		s.close()
	}
}

// Focused implements [parts.Keys].
func (s *sheet) Focused(o fyne.Focusable, on bool) {
	s.gate.focused(o, on)
	if on {
		s.u.touch()
	}
}

// resized makes the sheet deaf and chooses how its parts are shared out: the
// footer stays in view and leaves the paper at least two fifths of the height.
func (s *sheet) resized(size fyne.Size) {
	if size == s.size || s.over || s.build == nil && s.moment == nil {
		return
	}
	s.size = size
	s.gate.arm()
	if s.asking != nil {
		s.arrange(s.compact)
		return
	}
	if s.moment != nil {
		s.arrange(false)
		return
	}
	_, footer := s.build(false)
	s.arrange(parts.HeightFor(footer, size.Width) > size.Height*0.5)
}

// above is what stands over the paper: the band, and over it that this is a demo.
func (s *sheet) above() []fyne.CanvasObject {
	if s.doc.Demo {
		return []fyne.CanvasObject{demoStrip(), s.band(s.compact)}
	}
	return []fyne.CanvasObject{s.band(s.compact)}
}

// onPaper is the paper of a request, which scrolls and says where it goes on.
func onPaper(paper fyne.CanvasObject) *parts.Scroll {
	return parts.NewScroll(parts.Sunk(look.Paper, 0, paper)).Whole(look.Paper, func(float32) string { return "The request goes on below: scroll." })
}

// arrange puts the parts in their places.
func (s *sheet) arrange(compact bool) {
	s.compact = compact
	if s.asking != nil {
		s.root.content = s.ceremonyPage()
		s.root.Refresh()
		s.refresh()
		return
	}
	if s.moment != nil {
		s.root.content = s.moment.content()
		s.root.Refresh()
		s.refresh()
		return
	}
	paper, footer := s.build(compact)
	s.scroll = onPaper(paper)
	s.scroll.Scrolled = s.refresh
	below := []fyne.CanvasObject{parts.Hair(), footer}
	if s.doc.Frame == "clicks" {
		below = append(below, clickStrip(24))
	}
	s.root.content = stack(s.above(), parts.Over(look.NewBox(look.Paper, "", 0), s.scroll), below...)
	s.root.Refresh()
	s.refresh()
}

// closingLine is the last line of a footer: the standing sentence and the button, below why a passkey confirmed nothing.
func (s *sheet) closingLine() fyne.CanvasObject {
	line := parts.Row(12, parts.Grow(s.reason), s.confirm)
	if strip := s.unusedStrip(); strip != nil {
		return parts.Column(10, strip, line)
	}
	return line
}

// unusedStrip says why the last confirmation came to nothing, or is nil.
func (s *sheet) unusedStrip() fyne.CanvasObject {
	what, more, ok := unconfirmed.Of(s.unused)
	if !ok {
		return nil
	}
	tone := parts.Notice
	if s.unused == "cancelled" {
		tone = parts.Calm
	}
	var again *parts.Button
	if unconfirmed.Again(s.unused) {
		again = s.again
	}
	return parts.Banner(tone, "info", what, more, again)
}

// asks says whether a passkey will be asked for a decision.
func (s *sheet) asks(d approvals.Decision) bool {
	return s.doc.AsksPasskey(d.Verdict, d.Option, s.u.state.Policy, len(s.u.state.Passkeys))
}

// seen says whether everything that is longer than its view has been at its end once.
func (s *sheet) seen() bool {
	if s.moment != nil {
		return s.moment.seen()
	}
	if s.scroll != nil && s.scroll.AtEnd() {
		s.read = true
	}
	for _, b := range s.blocks {
		if !b.Complete() {
			return false
		}
	}
	return s.read
}

// refresh brings the button in line with the choice.
func (s *sheet) refresh() {
	seen := s.seen()
	if s.over {
		return
	}
	name, why, asks := nothing, "", false
	if s.group.Taken() != nil {
		var d approvals.Decision
		d, name, why = s.verdict()
		if asks = s.asks(d); asks && why == "" && len(s.u.state.Passkeys) == 0 {
			why = noPasskey
		}
		name = "Confirm: " + name
		if s.refused != "" {
			why = s.refused
		}
		if why == "" && s.needs() && !seen {
			why = "Scroll to the end of the text once; then you can confirm."
			if s.partial() {
				why = "Show all of the text and scroll to its end once; then you can confirm."
			}
		}
	}
	s.confirm.Set(name, s.group.Taken() != nil && why == "" && !s.busy)
	if asks {
		s.confirm.Icon("key")
	} else {
		s.confirm.Icon("")
	}
	if s.moment != nil && s.moment.moved() {
		return
	}
	if why == "" {
		why = closing
		switch {
		case s.moment != nil:
			why = s.moment.caption(asks)
		case asks:
			why = byPasskey
		}
	}
	s.reason.Set(look.Run{Text: why, Style: look.Caption, Color: look.Ink3})
	if drawn := fmt.Sprint(name, why, s.confirm.Disabled()); drawn != s.drawn {
		s.drawn = drawn
		s.root.Refresh()
	}
}

func (s *sheet) partial() bool {
	if s.moment != nil {
		return s.moment.partial()
	}
	for _, b := range s.blocks {
		if b.Partial() {
			return true
		}
	}
	return false
}

// decide sends the decision. It is the only place that does.
func (s *sheet) decide() {
	if s.over || s.busy || s.confirm.Disabled() || !s.gate.open() {
		return
	}
	d, name, why := s.verdict()
	if why != "" || s.needs() && !s.seen() {
		return
	}
	if s.moment != nil && s.moment.confirming(d) {
		return
	}
	d.ID, d.Digest = s.doc.ID, s.doc.Digest
	s.busy, s.named, s.unused = true, name, ""
	s.refresh()
	s.u.touch()
	s.u.opts.Go(func() {
		out, err := s.u.owner.Decide(s.u.ctx, d)
		s.u.opts.Do(func() { s.came(d, out, err) })
		s.u.changed()
	})
}

// came shows what came of the decision.
func (s *sheet) came(d approvals.Decision, out approvals.Outcome, err error) {
	s.busy = false
	var k *keys.Error
	code := out.Code
	if errors.As(err, &k) {
		code = k.Code
	}
	if code == "done" || code == "declined" {
		s.asking = nil
		s.answered = out.Answered
		s.finish(s.done(d))
		return
	}
	if end := endCode(out, err); end != "" {
		s.unconfirmed(end)
		return
	}
	s.asking = nil
	switch code {
	case "name_invalid", "name_taken", "grant_limits", "recovery_words", "answer_empty", "answer_too_large": // the request is still open: choose again
		s.refused = sentences[code][0] + ". " + sentences[code][1]
		s.gate.arm()
		if s.moment != nil {
			s.moment.back()
		}
		s.refresh()
		return
	}
	if _, ok := sentences[code]; ok {
		err = &keys.Error{Code: code}
	} else if err == nil {
		err = errors.New(out.Detail)
	}
	s.finish(problem(err))
}

// done is what the vault says after a decision.
func (s *sheet) done(d approvals.Decision) *banner {
	who := s.asker()
	b := &banner{tone: parts.Calm, icon: "check"}
	pairing := s.doc.Kind == approvals.ItemPairing
	if s.moment != nil {
		return s.moment.done(d)
	}
	switch d.Verdict {
	case approvals.VerdictApprove:
		b.what, b.more = "You approved one signature", who+" was given it."
		if pairing {
			b.what, b.more = "Paired as “"+safe(d.Name)+"”", "It may ask. Each thing it asks for comes to you."
		}
	case approvals.VerdictGrant:
		b.what = "You approved this signature and granted more"
		b.more = who + " may have " + plural(d.GrantUses, "more", "more") + " without asking, until " + signed(d.GrantUntil) + ". You can end this in Agents at any time."
	case approvals.VerdictDecline:
		b.icon = "decline"
		b.what, b.more = "You declined", "Nothing was signed. "+who+" was told."
		if pairing {
			b.more = "It is told no. It may ask again later."
		}
	case approvals.VerdictDeclineBlock:
		b.icon = "block"
		b.what, b.more = "You declined and blocked "+who, "It is not heard again until you lift it in Agents."
		if pairing {
			b.what = "You declined and blocked this program"
		}
	}
	return b
}

func (s *sheet) asker() string {
	if s.doc.Agent == "" {
		return "The program"
	}
	return safe(s.doc.Agent)
}

// finish leaves the band and says what happened. The way to the next request is on top,
// away from the button that was just pressed.
func (s *sheet) finish(b *banner) {
	s.over, s.result, s.next = true, b, s.following(s.u.state)
	s.u.follows("")
	s.gate.arm()
	s.build = nil
	var next *parts.Button
	if id := s.next; id != "" {
		next = parts.NewButton(parts.Plain, "", "Open next", func() {
			if s.gate.open() {
				s.u.openSheet(id)
			}
		})
		next.Watch(s)
	}
	shut := parts.NewButton(parts.Plain, "", "Close", func() {
		if s.gate.open() {
			s.close()
		}
	})
	shut.Watch(s)
	s.heading = parts.NewHeading(look.Text(look.Title, look.Ink, "What came of it"))
	s.heading.Watch(s)
	list := []fyne.CanvasObject{s.heading, parts.Banner(b.tone, b.icon, b.what, b.more, next)}
	if s.moment != nil {
		list = append(list, s.moment.afterwards()...)
	}
	paper := parts.Pad(18, 24, 24, 24, parts.Column(14, list...))
	s.root.content = stack(s.above(), parts.Sunk(look.Paper, 0, paper), parts.Hair(), parts.Pad(14, 24, 14, 24, parts.Row(0, shut, parts.Spring())))
	s.root.Refresh()
	s.w.Canvas().Focus(s.heading)
}

// following is the request that can be opened after this one, or "".
func (s *sheet) following(st state) string {
	for _, i := range st.Inbox {
		if i.Next && i.ID != s.doc.ID && i.Kind != approvals.ItemWords && i.Kind != approvals.ItemNote {
			return i.ID
		}
	}
	return ""
}

// follow looks whether the request is still there, and what comes after it.
func (s *sheet) follow(st state) {
	if s.over && s.result != nil && s.following(st) != s.next {
		s.finish(s.result)
	}
	if s.over || s.busy {
		return
	}
	for _, i := range st.Inbox {
		if i.ID == s.doc.ID {
			if s.moment != nil {
				s.moment.follow(st.Asks)
			}
			s.refresh() // what needs a passkey may have changed
			return
		}
	}
	s.ended = true
	until := "This request ended before you decided."
	if s.doc.Until > 0 && !s.u.opts.Now().Before(s.u.at(s.doc.Until)) {
		until = "This request ended at " + s.u.at(s.doc.Until).Format("15:04") + ", unanswered."
	}
	s.finish(&banner{parts.Calm, "clock", until, "Nothing was decided and nothing was signed."})
}

// close closes the window. Without a decision it tells the desk that there was none.
func (s *sheet) close() {
	if s.asking != nil && s.busy {
		s.u.opts.Go(s.u.owner.CancelCeremony)
	}
	if !s.over || s.ended {
		id := s.doc.ID
		s.u.opts.Go(func() { s.u.owner.Closed(id) })
	}
	s.shut()
}

func (s *sheet) shut() {
	s.over = true
	if s.u.sheet == s {
		s.u.sheet = nil
		s.u.follows("")
	}
	s.w.SetCloseIntercept(nil)
	s.w.Close()
}

// add adds an answer to the sheet; it takes no input while the sheet is deaf.
func (s *sheet) add(v approvals.Verdict, label, why string) *parts.Choice {
	return s.group.Add(string(v), label, why, s.gate.open)
}
