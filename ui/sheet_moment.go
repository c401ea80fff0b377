package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/moment"
	"vault/approvals/moment/reading"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// Limits of what is typed on this sheet, in characters.
const (
	answerMost   = 4000
	questionMost = 1000
)

// momentSheet is the part of a sheet that is peculiar to a binding moment: the briefing, the
// options with what stands behind them, and the ways out.
type momentSheet struct {
	s     *sheet
	doc   *approvals.MomentSheet
	c     moment.Content
	notes []reading.Note
	found marks

	rows             []*parts.Choice
	no               *parts.Choice
	own, wrong       *parts.Choice // nil where the agent turned them off
	answer, question *parts.Area
	objection        *parts.Area
	about            string // line that a question is being typed about, or ""
	said             string // what came of the last question
	send             *parts.Button
	buttons          map[string]*parts.Button
	blocks           map[string]*hostile.Block
	step             bool // the selected option is shown whole, before it is confirmed
	stepHead         *parts.Heading

	d                         density
	asOne, ownLine            bool // the briefing scrolls with the options; the button has a line of its own
	moving                    bool // the parts are being put in their places for a new label
	held                      bool // the answer looks like recovery words
	briefing, options, page   *parts.Scroll
	readBriefing, readOptions bool
	readPage                  map[int]bool
	items                     []item
}

// density is how much room the sheet gives its parts.
type density struct {
	row, pad, strip               float32 // height of an option, above and below its words, above its strip
	top, title, slot              float32 // briefing: upper margin, below the synopsis, between slots
	section, stem, gap, foot, end float32
}

// The densities, the loosest first.
var densities = []density{
	{94, 12, 6, 19, 14, 10, 14, 10, 8, 14, 10},
	{85, 8, 5, 11, 7, 6, 8, 7, 6, 8, 7},
	{74, 4, 3, 7, 5, 4, 6, 5, 5, 6, 6},
}

// item is a part of the sheet that the strip below a view can name.
type item struct {
	slot   reading.Slot
	index  int
	object fyne.CanvasObject
}

// decision makes the sheet of a binding moment.
func (s *sheet) decision() {
	d := s.doc.Moment
	m := &momentSheet{s: s, doc: d, c: d.Sheet.Envelope.Content(), notes: reading.Notes(d.Sheet.Envelope),
		buttons: map[string]*parts.Button{}, blocks: map[string]*hostile.Block{}, readPage: map[int]bool{}}
	s.moment = m
	m.found = marksOf(d)
	who := s.asker()
	if hostile.Long(m.c.Synopsis) {
		s.heading = parts.NewHeading(look.Text(look.Title, look.Ink, "Synopsis"))
	} else {
		s.heading = parts.NewHeading(hostile.Inline(look.Title, look.Ink, m.c.Synopsis))
	}
	s.heading.Watch(s)
	s.band = m.band

	for i, row := range d.Sheet.Rows {
		c := s.group.Add("option."+strconv.Itoa(i), row.Label, row.Reasoning, s.gate.open)
		c.Draw(m.drawRow(i))
		if row.Blocked != "" {
			c.Block(row.Reasoning)
		}
		m.rows = append(m.rows, c)
	}
	m.no = s.add(approvals.VerdictDecline, "Decline", "Answers no to this question. "+who+" is told, and stops.")
	m.no.Draw(m.drawDecline)
	if m.c.FreeText {
		m.own = s.add(approvals.VerdictAnswer, "Answer in my own words", who+" gets your words exactly as typed. They authorise nothing.")
		m.own.Draw(m.drawHatch("pencil"))
	}
	if m.c.Dialogue {
		m.wrong = s.add(approvals.VerdictQuestion, "This is the wrong question", "Rejects the question, not the answers. "+who+" is told to think again. You can write to it afterwards.")
		m.wrong.Draw(m.drawHatch("reopen"))
	}

	m.answer = parts.NewArea("Your answer. Enter begins a new line, Ctrl and Enter confirms.", answerMost, 3)
	m.answer.Watch(s)
	m.answer.Submit = s.decide
	m.answer.OnChanged = func(text string) {
		s.refused = ""
		if held := moment.HoldsRecoveryWords(text); held != m.held {
			m.held = held
			s.gate.arm()
			s.arrange(false)
			return
		}
		s.refresh()
	}
	m.answer.Over = func() {
		s.refused = fmt.Sprintf("An answer holds %s characters at most; the rest was not taken.", parts.Number(answerMost))
		s.refresh()
	}
	m.question = parts.NewArea("What do you want to know about this line?", questionMost, 2)
	m.question.Watch(s)
	m.send = parts.NewButton(parts.Plain, "ask", sendQuestion, m.ask).Small()
	m.send.Watch(s)
	m.send.Disable()
	m.question.Submit = m.ask
	m.question.OnChanged = func(text string) {
		m.said = ""
		m.send.Set(sendQuestion, !moment.Blank(text))
	}
	m.objection = parts.NewArea("What is wrong with the question?", answerMost, 3)
	m.objection.Watch(s)

	s.needs = func() bool { return m.taken() >= 0 }
	s.verdict = m.verdict
	s.group.Changed = func() {
		s.refused = ""
		if open := s.group.Taken() != nil && s.group.Taken() == m.own; open != m.answer.Visible() {
			m.show(m.answer, open)
			s.gate.arm() // the rows have moved
			s.arrange(false)
			if open {
				s.w.Canvas().Focus(m.answer)
			}
			return
		}
		s.refresh()
	}
	m.answer.Hide()
}

func (m *momentSheet) show(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}

// taken is the option that is selected, or -1.
func (m *momentSheet) taken() int { return slices.Index(m.rows, m.s.group.Taken()) }

func (m *momentSheet) verdict() (approvals.Decision, string, string) {
	t := m.s.group.Taken()
	d := approvals.Decision{Verdict: approvals.VerdictDecline}
	switch {
	case t == m.no:
	case t == m.own:
		d.Verdict, d.Answer = approvals.VerdictAnswer, m.answer.Text
		why := ""
		switch {
		case moment.Blank(d.Answer):
			why = t.Why
		case moment.HoldsRecoveryWords(d.Answer):
			why = heldBack
		}
		return d, "Send my answer", why
	case t == m.wrong:
		d.Verdict = approvals.VerdictQuestion
	default:
		d.Verdict, d.Option = approvals.VerdictOption, m.taken()
		return d, m.name(d.Option), ""
	}
	return d, t.Label, ""
}

const sendQuestion = "Send the question"

const heldBack = "Held back: this looks like recovery words. Nobody who asks for them needs them."

// name is what an option is called on the button: its label, or its number where the label is long, holds
// what has to be marked, or is one of the vault's own answers.
func (m *momentSheet) name(i int) string {
	label := m.c.Options[i].Label
	if t := plain.One(label); utf8.RuneCountInString(label) > 60 || !t.Clean() || t.Folded > 0 || slices.ContainsFunc(m.notes, func(n reading.Note) bool { return n.Code == reading.OwnLabel && n.Index == i }) {
		return fmt.Sprintf("option %d", i+1)
	}
	return label
}

// caption is the standing sentence of the footer; asks says that a passkey will be asked for what is selected.
func (m *momentSheet) caption(asks bool) string {
	switch t := m.s.group.Taken(); {
	case t != nil && t == m.wrong, t != nil && t == m.own:
		if asks {
			return t.Why + " Your passkey is asked for."
		}
		return t.Why
	case asks:
		return byPasskey
	case m.step:
		return closing
	case t != nil && m.s.size.Width >= 860:
		return closing + " You can change your answer until you confirm."
	case !m.c.FreeText || !m.c.Dialogue:
		return "Closing this window decides nothing; what is off is recorded."
	}
	return closing
}

// seen says whether everything that has to be read before an option is confirmed was in view once.
func (m *momentSheet) seen() bool {
	atEnd := func(s *parts.Scroll) bool { return s == nil || s.AtEnd() }
	if m.step {
		i := m.taken()
		m.readPage[i] = m.readPage[i] || atEnd(m.page)
		return m.readPage[i] && m.complete(func(key string) bool { return strings.HasPrefix(key, fmt.Sprintf("page.%d.", i)) })
	}
	m.readBriefing = m.readBriefing || atEnd(m.briefing)
	m.readOptions = m.readOptions || atEnd(m.options)
	return m.readBriefing && m.readOptions && m.complete(func(key string) bool {
		return !strings.HasPrefix(key, "behind.") && !strings.HasPrefix(key, "page.") && !strings.HasPrefix(key, "beside.") ||
			strings.HasPrefix(key, fmt.Sprintf("behind.%d.", m.taken()))
	})
}

// complete says whether the blocks that are meant were all in view to their ends.
func (m *momentSheet) complete(meant func(key string) bool) bool {
	for key, b := range m.blocks {
		if meant(key) && !b.Complete() {
			return false
		}
	}
	return true
}

// partial says whether a block that counts is laid out in part only.
func (m *momentSheet) partial() bool {
	for key, b := range m.blocks {
		if !strings.HasPrefix(key, "beside.") && strings.HasPrefix(key, "page.") == m.step && b.Partial() {
			return true
		}
	}
	return false
}

// moved puts the button on a line of its own, or back, when its label asks for it.
func (m *momentSheet) moved() bool {
	if m.moving || m.step || m.s.over || large() || m.doc.Repetition.Answered != "" || m.needsLine(m.width()) == m.ownLine {
		return false
	}
	m.s.gate.arm()
	m.moving = true
	m.s.arrange(false)
	m.moving = false
	return true
}

// confirming shows the selected option whole before it is confirmed. It says whether the decision
// has to wait for that.
func (m *momentSheet) confirming(d approvals.Decision) bool {
	if d.Verdict != approvals.VerdictOption || m.step {
		return false
	}
	m.step = true
	m.stepHead = parts.NewHeading(words(look.Title, m.c.Options[d.Option].Label))
	m.stepHead.Watch(m.s)
	m.s.gate.arm()
	m.s.arrange(false)
	m.s.w.Canvas().Focus(m.stepHead)
	return true
}

// back goes from the confirm step to the sheet. Nothing is decided.
func (m *momentSheet) back() {
	if !m.step {
		return
	}
	m.step, m.s.unused = false, ""
	m.s.gate.arm()
	m.s.arrange(false)
	if t := m.s.group.Taken(); t != nil {
		m.s.w.Canvas().Focus(t)
	}
}

// askAbout opens the field for a question about one line.
func (m *momentSheet) askAbout(line string) {
	if !m.s.gate.open() || m.s.over {
		return
	}
	m.about, m.said = line, ""
	m.question.SetText("")
	m.send.Set(sendQuestion, false)
	m.s.gate.arm()
	m.s.arrange(false)
	m.s.w.Canvas().Focus(m.question)
}

func (m *momentSheet) endAsk() {
	m.about, m.said = "", ""
	m.s.gate.arm()
	m.s.arrange(false)
	m.s.w.Canvas().Focus(m.s.heading)
}

// ask sends the question. It is a message on the session's own channel and no resolution.
func (m *momentSheet) ask() {
	text, line := m.question.Text, m.about
	if !m.s.gate.open() || moment.Blank(text) || line == "" {
		return
	}
	m.send.Set(sendQuestion, false)
	u := m.s.u
	u.opts.Go(func() {
		err := u.owner.Ask(u.ctx, m.s.doc.ID, line, text)
		u.opts.Do(func() {
			if m.s.over {
				return
			}
			if err != nil {
				var r *approvals.Refusal
				m.said = "It was not asked. " + safe(err.Error())
				if errors.As(err, &r) {
					m.said = "It was not asked. " + safe(r.Message)
					if r.Code == "recovery_words" {
						m.said = heldBack
					}
				}
				m.send.Set(sendQuestion, true)
			} else {
				m.question.SetText("")
				m.said = "Asked. The question stays open."
			}
			m.s.arrange(false)
		})
		u.changed()
	})
}

// follow shows questions and replies that are new. They are beside the sheet and no part of it.
func (m *momentSheet) follow(asks []approvals.AskView) {
	if slices.Equal(m.doc.Asks, asks) || len(asks) < len(m.doc.Asks) {
		return
	}
	m.doc.Asks = asks
	m.s.gate.arm()
	m.s.arrange(false)
}

// done is what the vault says after a resolution.
func (m *momentSheet) done(d approvals.Decision) *banner {
	who := m.s.asker()
	b := &banner{tone: parts.Calm, icon: "check"}
	switch d.Verdict {
	case approvals.VerdictOption:
		b.what = "You selected “" + m.name(d.Option) + "”"
		b.more = who + " was told. There is nothing that the vault would sign for it."
		if m.doc.Sheet.Rows[d.Option].SignWith != nil {
			b.more = who + " was told. Its action is signed once, when it asks."
		}
	case approvals.VerdictAnswer:
		b.icon, b.what, b.more = "pencil", "You answered in your own words", who+" was given them exactly as typed. They authorise nothing."
	case approvals.VerdictQuestion:
		b.icon, b.what, b.more = "reopen", "You rejected the question", who+" was told to think again. Nothing was authorised."
	default:
		b.icon, b.what, b.more = "decline", "You declined", "Nothing was authorised. "+who+" was told."
	}
	return b
}

// afterwards is what stands below the banner once the moment is resolved.
func (m *momentSheet) afterwards() []fyne.CanvasObject {
	a := m.s.answered
	if a == nil {
		return nil
	}
	list := []fyne.CanvasObject{parts.Pair(128, "Question", words(look.Body, m.c.Stem))}
	switch {
	case a.Choice == moment.ChoseOption && a.Option >= 0 && a.Option < len(m.c.Options):
		list = append(list, parts.Pair(128, "Selected", words(look.Body, m.c.Options[a.Option].Label)))
	case a.Choice == moment.ChoseAnswer:
		list = append(list, parts.Pair(128, "Your answer", look.Para(hostile.Lines(look.Body, look.Ink, a.Answer)...)))
	}
	list = append(list, parts.Pair(128, "Envelope", hostile.Inline(look.MonoS.Box(20), look.Ink, strings.TrimPrefix(m.doc.Sheet.Envelope.Digest(), "sha256:"))))
	if a.Choice != moment.ChoseQuestion {
		return []fyne.CanvasObject{parts.Column(4, list...)}
	}
	button := parts.NewButton(parts.Plain, "copy", "Copy what I wrote", func() {
		m.s.u.touch()
		if m.s.gate.open() && !moment.HoldsRecoveryWords(m.objection.Text) {
			m.s.u.app.Clipboard().SetContent(m.objection.Text)
		}
	}).Small()
	button.Watch(m.s)
	return []fyne.CanvasObject{parts.Column(4, list...), parts.Column(6,
		look.Text(look.CaptionM, look.Ink2, "You can write to "+m.s.asker()+" in your conversation with it. This is no part of the resolution."),
		m.objection, parts.Row(0, button, parts.Spring()))}
}

// answeredBefore is the sheet of a moment that can no longer be answered here: no controls.
func (m *momentSheet) answeredBefore() fyne.CanvasObject {
	shut := parts.NewButton(parts.Plain, "", "Close", m.s.close)
	shut.Watch(m.s)
	paper := parts.Pad(18, 24, 24, 24, parts.Column(14, m.s.heading,
		parts.Banner(parts.Calm, "info", "You already answered this", "Nothing more can be sent for it.", nil)))
	return stack(append(m.above(), m.band(false)), parts.Sunk(look.Paper, 0, paper), parts.Hair(), parts.Pad(14, 24, 14, 24, parts.Row(0, shut, parts.Spring())))
}

// marks is what was marked in all texts of a moment.
type marks struct {
	hidden int
	mixed  []plain.Warning
}

func (f *marks) text(s string) {
	r := plain.Check(s).Report
	f.hidden += r.Hidden + r.Stacked + r.Imitated
	for _, w := range r.Warnings {
		if !slices.Contains(f.mixed, w) {
			f.mixed = append(f.mixed, w)
		}
	}
}

func marksOf(d *approvals.MomentSheet) (f marks) {
	c := d.Sheet.Envelope.Content()
	for _, s := range append([]string{c.CalibrationNote, c.Synopsis, c.Offer, c.Stem, c.DecisionClass}, slices.Concat(c.Findings, c.Recommendations)...) {
		f.text(s)
	}
	for _, row := range d.Sheet.Rows {
		f.text(row.Label)
		f.text(row.Reasoning)
		if row.Action != nil {
			for _, x := range row.Action.Fields {
				f.text(x.Path)
				f.text(x.Value)
			}
		}
		for _, x := range row.SignFields {
			f.text(x.Value)
		}
	}
	return f
}

// sentences say what was marked.
func (f *marks) sentences() string {
	var out []string
	switch {
	case f.hidden == 1:
		out = append(out, "1 hidden character is shown as a mark.")
	case f.hidden > 1:
		out = append(out, parts.Number(f.hidden)+" hidden characters are shown as marks.")
	}
	for i, w := range f.mixed {
		if i == 2 && len(f.mixed) > 3 {
			out = append(out, fmt.Sprintf("%d more words mix alphabets.", len(f.mixed)-2))
			break
		}
		out = append(out, fmt.Sprintf("“%s” mixes %s with a %s %s, %s.", w.Word, w.Of, w.With, w.Letter, w.Code))
	}
	return strings.Join(out, " ")
}

// lineName says which line of the sheet a question is about.
func lineName(line string) string {
	slot, n, _ := strings.Cut(line, ".")
	i, err := strconv.Atoi(n)
	name := map[string]string{"findings": "finding", "recommendations": "recommendation", "options": "option", "synopsis": "the synopsis", "offer": "the offer", "question": "the question"}[slot]
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s %d", name, i+1)
}

// dismiss takes a note out of the Inbox.
func (u *UI) dismiss(id string) {
	u.note = nil
	u.run("", func(ctx context.Context) error { return u.owner.Dismiss(ctx, id) }, nil)
}

// sinceWords says when a moment was answered.
func (u *UI) sinceWords(ms int64) string {
	t := u.at(ms)
	return day(t) + ", " + t.Format("15:04")
}
