package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"vault/approvals/moment"
	"vault/approvals/moment/reading"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// fieldsMost is the number of fields that a row of an option shows side by side; more go into a view of
// their own.
const fieldsMost = 12

func (m *momentSheet) width() float32 {
	if m.s.size.Width > 0 {
		return m.s.size.Width
	}
	return 720
}

// large says that text is so large that names stand above what they name.
func large() bool { return look.Scale() >= 1.5 }

// band is the vault's own area. Session and tool server are named by the agent, so they are
// short, marked, and in the quiet line.
func (m *momentSheet) band(compact bool) fyne.CanvasObject {
	doc := m.s.doc
	var facts []string
	if doc.PairedAt > 0 && !large() {
		facts = append(facts, "Paired by you on "+day(m.s.u.at(doc.PairedAt)))
	}
	if doc.Session != "" {
		facts = append(facts, "session "+brief(doc.Session, 16))
	}
	if m.doc.ToolServer != "" {
		facts = append(facts, "tool server “"+brief(m.doc.ToolServer, 24)+"”")
	}
	if doc.Merged > 1 {
		facts = append(facts, fmt.Sprintf("presented %d times", doc.Merged))
	}
	who := m.s.asker() + " asks you to decide"
	if large() {
		return parts.Band(who, strings.Join(facts, " · "), nil)
	}
	print := strings.TrimPrefix(m.doc.Sheet.Envelope.Digest(), "sha256:")
	return parts.Band(who, strings.Join(facts, " · "), parts.BandEnd("Fingerprint", short(print), look.MonoB))
}

// brief is a name that an agent chose, marked and cut to n characters.
func brief(s string, n int) string {
	first := plain.First(s, n)
	t := plain.TerminalLine(first)
	if first != s {
		t += "…"
	}
	return t
}

func (m *momentSheet) above() []fyne.CanvasObject {
	if m.s.doc.Demo {
		return []fyne.CanvasObject{demoStrip()}
	}
	return nil
}

// content puts the parts in their places: the loosest density at which the whole briefing shows, else
// the tightest; then the briefing scrolls, then the options do, then both as one.
func (m *momentSheet) content() fyne.CanvasObject {
	m.briefing, m.options, m.page, m.asOne = nil, nil, nil, false
	if m.doc.Repetition.Answered != "" {
		return m.answeredBefore()
	}
	size := m.s.size
	if size.Width == 0 {
		size = fyne.NewSize(720, 640)
	}
	above := append(m.above(), m.band(false))
	if m.step {
		return m.stepPage(above)
	}
	total := func(objs ...fyne.CanvasObject) (h float32) {
		for _, o := range objs {
			h += parts.HeightFor(o, size.Width)
		}
		return h
	}
	var brief, opts fyne.CanvasObject
	var foot []fyne.CanvasObject
	var free float32
	for _, d := range densities {
		if large() && d != densities[2] {
			continue
		}
		m.d = d
		for _, c := range m.s.group.Choices() {
			c.Redraw()
		}
		m.items = nil
		brief, opts, foot = m.brief(), m.asked(), m.foot(size.Width)
		free = size.Height - total(above...) - total(foot...) - 2
		if total(brief)+total(opts) <= free {
			break
		}
	}
	rest := free - total(opts)
	least := m.leastBriefing(size.Width)
	paper := func(o fyne.CanvasObject) fyne.CanvasObject { return parts.Over(look.NewBox(look.Paper, "", 0), o) }
	below := append([]fyne.CanvasObject{parts.Hair()}, foot...)
	switch {
	case !large() && rest >= least:
		m.briefing = m.view(brief)
		return stack(above, paper(m.briefing), append([]fyne.CanvasObject{parts.Hair(), paper(opts)}, below...)...)
	case !large() && free-least >= look.S(140):
		m.briefing, m.options = m.view(brief), m.view(opts)
		m.s.scroll = m.options
		top := append(above, paper(tall(least, m.briefing)), parts.Hair())
		return stack(top, paper(m.options), below...)
	}
	m.asOne = true
	m.briefing = m.view(parts.Column(0, brief, parts.Hair(), opts))
	return stack(above, paper(m.briefing), below...)
}

// view makes a part of the sheet scroll by whole lines.
func (m *momentSheet) view(o fyne.CanvasObject) *parts.Scroll {
	var s *parts.Scroll
	s = parts.NewScroll(parts.Sunk(look.Paper, 0, o)).Whole(look.Paper, func(below float32) string { return m.rest(s, below) })
	s.Scrolled = m.s.refresh
	m.s.scroll = s
	return s
}

// leastBriefing is the least height of the briefing: the synopsis and the strip below it.
func (m *momentSheet) leastBriefing(width float32) float32 {
	h := m.d.top + look.S(24)
	if m.c.HasNote {
		h += parts.HeightFor(m.calibration(), width-48) + m.d.slot
	}
	return h + parts.HeightFor(m.synopsis(), width-48)
}

// tall gives an object a height.
func tall(h float32, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(&tallLayout{h}, o)
}

type tallLayout struct{ h float32 }

func (t *tallLayout) Layout(objs []fyne.CanvasObject, size fyne.Size) { objs[0].Resize(size) }
func (t *tallLayout) MinSize([]fyne.CanvasObject) fyne.Size           { return fyne.NewSize(0, t.h) }

// rest says by slot name what of a view is below height y of its content.
func (m *momentSheet) rest(s *parts.Scroll, y float32) string {
	var lines []string
	count, options, stem := 0, 0, false
	numbers := map[reading.Slot][]int{}
	var order []reading.Slot
	for _, it := range m.items {
		top, ok := s.Top(it.object)
		if !ok || top+it.object.Size().Height <= y+1 {
			continue
		}
		switch it.slot {
		case reading.SlotOptions:
			options++
			continue
		case reading.SlotStem:
			stem = true
			continue
		}
		count++
		if len(numbers[it.slot]) == 0 {
			order = append(order, it.slot)
		}
		numbers[it.slot] = append(numbers[it.slot], it.index+1)
	}
	for _, slot := range order {
		lines = append(lines, slotWords(slot, numbers[slot]))
	}
	var out []string
	if count > 0 {
		words := plural(count, "more line", "more lines")
		if !m.asOne {
			words += ": " + strings.Join(lines, ", ")
		}
		out = append(out, words)
	}
	if stem {
		out = append(out, "the question")
	}
	if options > 0 {
		out = append(out, plural(options, "option", "options"))
	}
	if len(out) == 0 {
		return "This goes on below: scroll."
	}
	words := strings.Join(out, ", ")
	if count == 0 {
		words += " below"
		words = strings.ToUpper(words[:1]) + words[1:]
	}
	return words
}

// slotWords names items of a slot by number.
func slotWords(slot reading.Slot, n []int) string {
	one, many := "", ""
	switch slot {
	case reading.SlotFindings:
		one, many = "finding", "findings"
	case reading.SlotRecommendations:
		one, many = "recommendation", "recommendations"
	case reading.SlotOffer:
		return "offer"
	case reading.SlotSynopsis:
		return "synopsis"
	case reading.SlotClass:
		return "class"
	default:
		return "what you asked"
	}
	switch len(n) {
	case 1:
		return fmt.Sprintf("%s %d", one, n[0])
	case 2:
		return fmt.Sprintf("%s %d and %d", many, n[0], n[1])
	}
	return fmt.Sprintf("%s %d to %d", many, n[0], n[len(n)-1])
}

// words is a short text from outside on one line of thought; line feeds are marked.
func words(style look.Style, text string) *look.Paragraph {
	return hostile.Inline(style, look.Ink, text)
}

// outside is a text from outside of any length: inline where it is short, else a view of its own that is
// kept under key.
func (m *momentSheet) outside(key string, style look.Style, ink fyne.ThemeColorName, text string) fyne.CanvasObject {
	if hostile.Long(text) {
		return m.block(key, text, style.Mono, 3, 5)
	}
	return look.Para(hostile.Lines(style, ink, text)...)
}

func (m *momentSheet) block(key, text string, mono bool, least, most int) *hostile.Block {
	b := m.blocks[key]
	if b == nil {
		b = hostile.NewBlock(text, mono, least, most)
		m.blocks[key] = b
		m.s.blocks = append(m.s.blocks, b)
		m.s.watch(b)
	}
	return b
}

// askButton is the sign beside a line that asks about it.
func (m *momentSheet) askButton(line string) *parts.Button {
	b := m.buttons[line]
	if b == nil {
		b = parts.NewButton(parts.Quiet, "ask", "Ask about "+lineName(line), func() { m.askAbout(line) }).Bare()
		b.Watch(m.s)
		m.buttons[line] = b
	}
	return b
}

// remarks are the quiet notes of the vault on one item, but for those that have a place of their own.
func (m *momentSheet) remarks(slot reading.Slot, index int) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for _, n := range m.notes {
		if n.Slot != slot || n.Index != index {
			continue
		}
		switch n.Code {
		case reading.Calibrated, reading.FreeTextOff, reading.DialogueOff, reading.TwinDigests, reading.TwinLabels, reading.HiddenCharacters, reading.MixedAlphabets:
			continue
		}
		out = append(out, parts.Row(6, look.NewIcon("info", 12, look.Ink3), parts.Grow(look.Text(look.Caption, look.Ink3, n.Text))))
	}
	return out
}

func (m *momentSheet) calibration() fyne.CanvasObject {
	body := []fyne.CanvasObject{}
	if hostile.Long(m.c.CalibrationNote) {
		body = append(body, look.Text(look.Strong, look.Ink, "The agent corrects itself."), m.outside("note", look.Body, look.Ink, m.c.CalibrationNote))
	} else {
		runs := []look.Run{{Text: "The agent corrects itself. ", Style: look.Strong, Color: look.Ink}}
		body = append(body, look.Para(append(runs, hostile.Lines(look.Body, look.Ink, m.c.CalibrationNote)...)...))
	}
	return parts.Sunk(look.Well, 6, parts.Pad(7, 12, 7, 12, parts.RowTop(12, parts.Pad(2, 0, 0, 0, look.NewIcon("info", 16, look.Ink2)), parts.Grow(parts.Column(4, body...)))))
}

func (m *momentSheet) synopsis() fyne.CanvasObject {
	objs := []fyne.CanvasObject{m.s.heading}
	if hostile.Long(m.c.Synopsis) {
		objs = append(objs, m.outside("synopsis", look.Body, look.Ink, m.c.Synopsis))
	}
	return parts.Column(4, append(objs, m.remarks(reading.SlotSynopsis, -1)...)...)
}

// brief is the briefing: calibration note, synopsis, findings, recommendations, offer, what was asked.
func (m *momentSheet) brief() fyne.CanvasObject {
	d := m.d
	var out []fyne.CanvasObject
	if m.c.HasNote {
		out = append(out, m.calibration(), parts.Space(0, d.slot/look.Scale()))
	}
	syn := m.synopsis()
	m.items = append(m.items, item{reading.SlotSynopsis, 0, syn})
	out = append(out, syn, parts.Space(0, d.title/look.Scale()))
	out = append(out, m.list(reading.SlotFindings, "Findings", "findings", m.c.Findings)...)
	out = append(out, m.list(reading.SlotRecommendations, "Recommendations", "recommendations", m.c.Recommendations)...)
	offer := parts.Column(2, append([]fyne.CanvasObject{m.outside("offer", look.Body, look.Ink, m.c.Offer)}, m.remarks(reading.SlotOffer, -1)...)...)
	line := gutter("Offer", offer)
	m.items = append(m.items, item{reading.SlotOffer, 0, line})
	out = append(out, line)
	if m.c.HasClass {
		class := gutter("Class, as it says", parts.Column(2, append([]fyne.CanvasObject{m.outside("class", look.Body, look.Ink2, m.c.DecisionClass)}, m.remarks(reading.SlotClass, -1)...)...))
		m.items = append(m.items, item{reading.SlotClass, 0, class})
		out = append(out, parts.Space(0, d.slot/look.Scale()), class)
	}
	if len(m.doc.Asks) > 0 {
		out = append(out, parts.Space(0, d.slot+4), m.beside())
	}
	return parts.Pad(d.top, 24, d.title+3, 24, parts.Column(0, out...))
}

// gutter puts a name beside its value, or above it where text is large.
func gutter(name string, value fyne.CanvasObject) fyne.CanvasObject {
	if large() {
		if name == "" {
			return value
		}
		return parts.Column(0, look.Text(look.Caption.Box(20), look.Ink3, name), value)
	}
	return parts.Pair(128, name, value)
}

func (m *momentSheet) list(slot reading.Slot, name, line string, texts []string) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for i, text := range texts {
		lines := append([]fyne.CanvasObject{m.outside(fmt.Sprintf("%s.%d", line, i), look.Body, look.Ink, text)}, m.remarks(slot, i)...)
		number := parts.Size(20, 0, look.Text(look.Caption.Box(20), look.Ink3, fmt.Sprint(i+1)))
		row := gutter(name, parts.RowTop(0, number, parts.Grow(parts.Column(2, lines...)), m.askButton(fmt.Sprintf("%s.%d", line, i))))
		m.items = append(m.items, item{slot, i, row})
		out = append(out, row)
		name = ""
	}
	for _, n := range m.remarks(slot, -1) {
		out = append(out, gutter(name, n))
		name = ""
	}
	return append(out, parts.Space(0, m.d.slot/look.Scale()))
}

// beside are the owner's questions with the replies. They are no part of what is signed, and look so.
func (m *momentSheet) beside() fyne.CanvasObject {
	list := []fyne.CanvasObject{look.Text(look.CaptionM, look.Ink2, "Beside the sheet: not part of what is decided or signed")}
	for i, a := range m.doc.Asks {
		list = append(list, look.Para(append([]look.Run{{Text: "You asked about " + lineName(a.Line) + ": ", Style: look.Small, Color: look.Ink3}},
			hostile.Lines(look.Small, look.Ink2, plain.First(a.Question, questionMost))...)...))
		if a.AnswerAt == 0 {
			list = append(list, look.Text(look.Small, look.Ink3, "No reply yet. The question stays open."))
			continue
		}
		list = append(list, parts.Quote(m.outside(fmt.Sprintf("beside.%d", i), look.Body, look.Ink, a.Answer)))
	}
	box := parts.Over(look.NewBox(look.Paper, look.Line, 6), parts.Pad(8, 12, 10, 12, parts.Column(4, list...)))
	m.items = append(m.items, item{reading.SlotFingerprint, 0, box})
	return box
}

// notices are remarks of the vault between briefing and question.
func (m *momentSheet) notices() []fyne.CanvasObject {
	strip := func(fill fyne.ThemeColorName, icon string, ink fyne.ThemeColorName, text string) fyne.CanvasObject {
		return parts.Sunk(fill, 0, parts.Pad(6, 24, 6, 24, parts.RowTop(10, parts.Pad(1, 0, 0, 0, look.NewIcon(icon, 14, ink)), parts.Grow(look.Text(look.Small, look.Ink, text)))))
	}
	var out []fyne.CanvasObject
	if m.doc.Repetition.Rejected {
		out = append(out, strip(look.WarnTint, "reopen", look.Warn, "You rejected this question before, less than 10 minutes ago, in the same session. The agent was asked to reconsider, and asks it again."))
	}
	if m.doc.Repetition.Elsewhere {
		out = append(out, strip(look.Well, "info", look.Ink2, "You answered the same decision in another session. This one is answered for itself."))
	}
	if words := m.found.sentences(); words != "" {
		out = append(out, strip(look.WarnTint, "warning", look.Warn, words))
	}
	return out
}

// asked is the stem with the options.
func (m *momentSheet) asked() fyne.CanvasObject {
	d := m.d
	stem := parts.Column(2, append([]fyne.CanvasObject{m.outside("stem", look.Stem, look.Ink, m.c.Stem)}, m.remarks(reading.SlotStem, -1)...)...)
	m.items = append(m.items, item{reading.SlotStem, 0, stem})
	rows := []fyne.CanvasObject{}
	for i, c := range m.rows {
		m.items = append(m.items, item{reading.SlotOptions, i, c})
		if i > 0 {
			rows = append(rows, parts.Space(0, d.gap/look.Scale()))
		}
		rows = append(rows, c)
	}
	body := parts.Pad(d.section, 24, d.section, 24, parts.Column(0, append([]fyne.CanvasObject{stem, parts.Space(0, d.stem/look.Scale())}, rows...)...))
	return parts.Column(0, append(m.notices(), body)...)
}

// rowBox is the ground of a row of this sheet.
func rowBox(c *parts.Choice, taken bool) *look.Box {
	box := look.NewBox(look.Paper, look.Edge, 6)
	switch {
	case c.Disabled():
		box.Fill = look.Off
	case taken:
		box.Fill, box.Border, box.Width = look.Tint, look.Primary, 2
	}
	return box
}

// frameRow puts the sign, the words and the strips of a row together.
func (m *momentSheet) frameRow(box *look.Box, c *parts.Choice, taken bool, lines ...fyne.CanvasObject) fyne.CanvasObject {
	sign := parts.Radio(taken)
	if c.Disabled() {
		sign = look.NewIcon("error", 18, look.Danger)
	}
	below := m.d.pad
	if len(lines) > 4 || large() {
		below = max(below, 8)
	}
	return parts.Over(box, parts.Size(0, m.d.row/look.Scale(), parts.Pad(m.d.pad, 14, below, 15,
		parts.RowTop(13, parts.Pad(2, 0, 0, 0, sign), parts.Grow(parts.Column(0, lines...))))))
}

// act is a strip of the vault inside a row.
func (m *momentSheet) act(fill fyne.ThemeColorName, o fyne.CanvasObject) []fyne.CanvasObject {
	return []fyne.CanvasObject{parts.Space(0, m.d.strip/look.Scale()), parts.Sunk(fill, 4, parts.Middle(21, parts.Pad(2, 8, 2, 8, o)))}
}

func remark(icon string, ink fyne.ThemeColorName, o fyne.CanvasObject) fyne.CanvasObject {
	return parts.RowTop(8, parts.Pad(1, 0, 0, 0, look.NewIcon(icon, 14, ink)), parts.Grow(o))
}

// drawRow draws one option: label, reasoning, and what is behind it.
func (m *momentSheet) drawRow(i int) func(*parts.Choice, bool) fyne.CanvasObject {
	return func(c *parts.Choice, taken bool) fyne.CanvasObject {
		row := m.doc.Sheet.Rows[i]
		box := rowBox(c, taken)
		label := words(look.Label, row.Label)
		var first fyne.CanvasObject = label
		if hostile.Long(row.Label) {
			first = m.block(fmt.Sprintf("label.%d", i), row.Label, false, 2, 3)
		}
		head := parts.RowTop(8, parts.Grow(first))
		if row.Recommended {
			box.Inner = look.Edge
			head = parts.RowTop(8, parts.Grow(first), parts.Tag("flag", "Agent recommends"))
		}
		lines := []fyne.CanvasObject{head,
			parts.RowTop(8, parts.Grow(m.outside(fmt.Sprintf("reasoning.%d", i), look.Small, look.Ink2, row.Reasoning)), parts.Size(24, 0, m.askButton(fmt.Sprintf("options.%d", i))))}
		lines = append(lines, m.remarks(reading.SlotOptions, i)...)
		return m.frameRow(box, c, taken, append(lines, m.strips(i, taken)...)...)
	}
}

// strips are what the vault knows of the action behind an option.
func (m *momentSheet) strips(i int, taken bool) []fyne.CanvasObject {
	row := m.doc.Sheet.Rows[i]
	well := look.Well
	if taken {
		well = look.Paper
	}
	var out []fyne.CanvasObject
	add := func(fill fyne.ThemeColorName, o fyne.CanvasObject) { out = append(out, m.act(fill, o)...) }
	say := func(t string) fyne.CanvasObject { return look.Text(look.Caption, look.Ink, t) }
	digest := strings.TrimPrefix(row.ActionDigest, "sha256:")
	print := digest[:8]
	if m.width() >= 860 && !large() {
		print = short(digest)
	}
	switch {
	case row.Action == nil:
		add(well, parts.Row(8, look.NewIcon("hidden", 14, look.Ink2), parts.Grow(look.Text(look.Caption, look.Ink2, "The vault has not seen this action. Choosing it signs nothing yet.")), look.Word(look.MonoS, look.Ink, print)))
	case row.Blocked == moment.ActionMismatch:
		add(look.DangerTint, say("Blocked: this is not the action it names. It names "+print+"; what came is "+strings.TrimPrefix(row.Action.Digest, "sha256:")[:8]+"."))
		add(well, m.fields(fmt.Sprintf("behind.%d.action", i), row.Action.Fields, nil))
	default:
		ok := parts.Row(5, look.NewIcon("check", 12, look.Ink2), look.Word(look.Caption, look.Ink2, "matches "+print))
		add(well, m.fields(fmt.Sprintf("behind.%d.action", i), row.Action.Fields, ok))
	}
	for _, n := range m.notes {
		if n.Slot != reading.SlotOptions || n.Index != i {
			continue
		}
		switch n.Code {
		case reading.TwinDigests:
			add(look.WarnTint, remark("warning", look.Warn, say("These two options authorise the same action. Choosing either one does the same thing.")))
		case reading.TwinLabels:
			add(look.WarnTint, remark("warning", look.Warn, say("Another option has the same label.")))
		}
	}
	if row.SignWith == nil {
		return out
	}
	if row.Blocked == moment.ActionNotSignable {
		add(look.DangerTint, say("Blocked: this action cannot be signed as an action under its envelope."))
	}
	for _, x := range row.Contradictions {
		runs := []look.Run{{Text: "The action and its envelope disagree on ", Style: look.Caption, Color: look.Ink}}
		runs = append(runs, hostile.Runs(look.Caption, look.Ink, x.Member)...)
		runs = append(runs, look.Run{Text: ": the action says “", Style: look.Caption, Color: look.Ink})
		runs = append(runs, hostile.Runs(look.Caption, look.Ink, bare(x.Payload))...)
		runs = append(runs, look.Run{Text: "”, the envelope says “", Style: look.Caption, Color: look.Ink})
		runs = append(runs, hostile.Runs(look.Caption, look.Ink, bare(x.Envelope))...)
		runs = append(runs, look.Run{Text: "”.", Style: look.Caption, Color: look.Ink})
		add(look.WarnTint, remark("warning", look.Warn, look.Para(runs...)))
	}
	add(well, m.signStrip(i))
	if words := problemWords(m.doc.Problems[i]); words != "" {
		add(look.WarnTint, remark("warning", look.Warn, say(words)))
	}
	return out
}

// problemWords says why an action would not be signed now.
func problemWords(code string) string {
	switch code {
	case "":
		return ""
	case "unknown_domain":
		return "It would not be signed now: this vault has no such domain."
	case "envelope_expired":
		return "It would not be signed now: its envelope has ended."
	case "not_yet_valid":
		return "It would not be signed now: its envelope has not begun."
	case "suspended":
		return "It would not be signed now: its envelope is suspended since a new instance of this vault began."
	case "uses_spent":
		return "It would not be signed now: the uses of its envelope are spent."
	}
	return "It would not be signed now: " + safe(code) + "."
}

// signStrip says under what the action would be signed: the limits; the confirm step lists every field.
func (m *momentSheet) signStrip(i int) fyne.CanvasObject {
	row := m.doc.Sheet.Rows[i]
	var list []moment.Field
	if a := m.doc.Addresses[i]; a != "" {
		list = append(list, moment.Field{Label: "Signs as", Value: a})
	}
	for _, f := range row.SignFields {
		switch f.Label {
		case "Domain", "Operation", "May touch", "Valid until", "Uses":
			list = append(list, f)
		case "Valid from":
			if f.Value != "not bounded" {
				list = append(list, f)
			}
		}
	}
	list = append(list, moment.Field{Label: "Used", Value: fmt.Sprint(m.doc.Used[i])})
	return parts.Column(2, remark("sign", look.Ink2, look.Text(look.Caption, look.Ink2, "Choosing this lets it be signed once, when the agent asks:")),
		m.fields(fmt.Sprintf("behind.%d.sign", i), list, nil))
}

// fields shows every leaf of an action, side by side, or line by line in a view of its own where there
// are many. End stands at the right and may be nil.
func (m *momentSheet) fields(key string, fields []moment.Field, end fyne.CanvasObject) fyne.CanvasObject {
	size := 0
	for _, f := range fields {
		size += len(f.Path) + len(f.Value)
	}
	list := together(fields)
	if len(list) > fieldsMost || size > hostile.InlineMost {
		block := m.block(key, fieldLines(fields), true, 3, 5)
		if end == nil {
			return block
		}
		return parts.Column(3, block, parts.Row(0, parts.Spring(), end))
	}
	objs := make([]fyne.CanvasObject, 0, len(list))
	for _, f := range list {
		name := []look.Run{{Text: f.name, Style: look.Caption, Color: look.Ink3}}
		if !f.ours {
			name = hostile.Runs(look.Caption, look.Ink3, f.name)
		}
		objs = append(objs, parts.RowTop(6, look.Para(name...), look.Para(hostile.Runs(look.MonoS, look.Ink, f.value)...)))
	}
	if end == nil {
		return parts.Flow(16, 2, objs...)
	}
	return parts.RowTop(8, parts.Grow(parts.Flow(16, 2, objs...)), end)
}

// shownField is a field as a row shows it.
type shownField struct {
	name, value string
	ours        bool
}

// together joins the items of a list of scalars, and takes the quotes off texts that cannot be taken for
// anything else.
func together(fields []moment.Field) []shownField {
	var out []shownField
	list := ""
	for _, f := range fields {
		s := shownField{f.Label, f.Value, f.Label != ""}
		if !s.ours {
			s.name, s.value = f.Path, bare(f.Value)
		}
		base := ""
		if i := strings.LastIndexByte(f.Path, '['); i > 0 && strings.HasSuffix(f.Path, "]") && !s.ours {
			base = f.Path[:i]
			s.name = base
		}
		if s.ours && len(out) > 0 && out[len(out)-1].ours && out[len(out)-1].name == s.name || base != "" && base == list {
			out[len(out)-1].value += ", " + s.value
			continue
		}
		list = base
		out = append(out, s)
	}
	return out
}

// bare takes the quotes off a JSON text that begins with a letter, holds letters, digits and a few marks, and
// is no word of JSON.
func bare(v string) string {
	if len(v) < 3 || v[0] != '"' || v[len(v)-1] != '"' {
		return v
	}
	in := v[1 : len(v)-1]
	if in == "true" || in == "false" || in == "null" {
		return v
	}
	for i, r := range in {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if i == 0 && !letter || !letter && (r < '0' || r > '9') && !strings.ContainsRune("_-.:/@", r) {
			return v
		}
	}
	return in
}

// fieldLines writes every field on a line of its own, with its exact place.
func fieldLines(fields []moment.Field) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('\n')
		}
		name := f.Path
		if f.Label != "" {
			name = f.Label
		}
		if name != "" {
			b.WriteString(name + " = ")
		}
		b.WriteString(f.Value)
	}
	return b.String()
}

func (m *momentSheet) drawDecline(c *parts.Choice, taken bool) fyne.CanvasObject {
	well := look.Well
	if taken {
		well = look.Paper
	}
	if large() {
		return m.frameRow(rowBox(c, taken), c, taken, look.Text(look.Label, look.Ink, c.Label), look.Text(look.Small, look.Ink2, "Answers no. "+m.s.asker()+" is told, and stops."))
	}
	lines := []fyne.CanvasObject{look.Text(look.Label, look.Ink, c.Label), look.Text(look.Small.Box(20), look.Ink2, c.Why)}
	return m.frameRow(rowBox(c, taken), c, taken, append(lines, m.act(well, look.Text(look.Caption, look.Ink3, "Nothing is authorised. No passkey is needed."))...)...)
}

// drawHatch draws one of the two ways out as a button that stays pressed.
func (m *momentSheet) drawHatch(icon string) func(*parts.Choice, bool) fyne.CanvasObject {
	return func(c *parts.Choice, taken bool) fyne.CanvasObject {
		style := look.Item
		if m.width() < 860 {
			style.Size = 13
		}
		if large() {
			style.Size, style.Line = 13, 17
		}
		pad := float32(14)
		if m.width() < 860 {
			pad = 11
		}
		return parts.Over(rowBox(c, taken), parts.Middle(36, parts.Pad(4, pad, 4, pad, parts.Row(8, look.NewIcon(icon, 14, look.Ink), parts.Grow(look.Text(style, look.Ink, c.Label))))))
	}
}

// hatchOff is the line in the place of a way out that the agent turned off. It is no control and looks like none.
func hatchOff(name string) fyne.CanvasObject {
	text := "The agent turned off:\n" + name
	return parts.Middle(36, parts.Row(8, look.NewIcon("off", 14, look.Ink2), look.Text(look.Small.Box(16), look.Ink2, text).OneLine()))
}

// ways are the two ways out, or what is said in the place of one that is off.
func (m *momentSheet) ways() []fyne.CanvasObject {
	var ways []fyne.CanvasObject
	off := func(on *parts.Choice, name string) {
		if on != nil {
			ways = append(ways, on)
		} else if m.c.FreeText || m.c.Dialogue {
			ways = append(ways, hatchOff(name))
		}
	}
	off(m.own, "answer in my own words.")
	off(m.wrong, "this is the wrong question.")
	if len(ways) == 0 {
		ways = append(ways, parts.Middle(36, parts.Row(8, look.NewIcon("off", 14, look.Ink2), look.Text(look.Small.Box(16), look.Ink2, "The agent turned off both other ways.\nYou can only choose or decline.").OneLine())))
	}
	return ways
}

// needsLine says whether the button's label asks for a line of its own.
func (m *momentSheet) needsLine(width float32) bool {
	size := float32(14)
	if width < 860 {
		size = 13
	}
	need := max(parts.NaturalWidth(parts.NewButton(parts.Primary, "", m.s.confirm.Label(), nil).Text(size)), look.S(200))
	for _, w := range m.ways() {
		need += parts.NaturalWidth(w) + 8
	}
	return need > width-48
}

// foot is the footer: Decline, then the ways out and the button, then the caption.
func (m *momentSheet) foot(width float32) []fyne.CanvasObject {
	d, s := m.d, m.s
	var out []fyne.CanvasObject
	gap := func(h float32) { out = append(out, parts.Space(0, h/look.Scale())) }
	if m.about != "" {
		out = append(out, m.askPanel())
		gap(d.foot)
	}
	if m.answer.Visible() {
		if m.held {
			out = append(out, parts.Banner(parts.Notice, "warning", "", heldBack, nil))
			gap(d.foot)
		}
		out = append(out, parts.Column(4, look.Text(look.CaptionM, look.Ink2, "Your answer, in your own words"), m.answer))
		gap(d.foot)
	}
	if strip := s.unusedStrip(); strip != nil {
		out = append(out, strip)
		gap(d.foot)
	}
	out = append(out, m.no)
	gap(min(d.foot, 12))
	ways := m.ways()
	s.confirm.High(36)
	size := float32(14)
	if m.width() < 860 {
		size = 13
	}
	s.confirm.Text(size)
	s.confirm.Least(200)
	m.ownLine = !large() && m.needsLine(width)
	switch {
	case large():
		out = append(out, parts.Equal(12, ways...))
		gap(8)
		s.confirm.High(30)
		out = append(out, s.confirm)
	case m.ownLine:
		out = append(out, parts.Row(8, append(ways, parts.Spring())...))
		gap(8)
		out = append(out, s.confirm)
	case m.width() >= 860:
		s.confirm.Least(260)
		out = append(out, parts.Row(8, append(ways, parts.Spring(), s.confirm)...))
	default:
		out = append(out, parts.Row(8, append(ways, parts.Grow(s.confirm))...))
	}
	gap(min(d.foot-2, 8))
	if large() {
		out = append(out, s.reason)
	} else {
		out = append(out, parts.RowTop(6, parts.Grow(s.reason), look.NewIcon("ask", 14, look.Ink3), look.Word(look.Caption, look.Ink3, "asks about one line and decides nothing")))
	}
	list := []fyne.CanvasObject{parts.Pad(d.foot, 24, d.end, 24, parts.Column(0, out...))}
	if s.doc.Frame == "clicks" {
		list = append(list, clickStrip(24))
	}
	return list
}

// askPanel is where a question about one line is typed.
func (m *momentSheet) askPanel() fyne.CanvasObject {
	shut := m.buttons["shut"]
	if shut == nil {
		shut = parts.NewButton(parts.Quiet, "", "Done", func() {
			if m.s.gate.open() {
				m.endAsk()
			}
		}).Small()
		shut.Watch(m.s)
		m.buttons["shut"] = shut
	}
	words := m.said
	if words == "" {
		words = "Goes to " + m.s.asker() + " as a message. It decides nothing and the question stays open."
	}
	return parts.Column(4, look.Text(look.CaptionM, look.Ink2, "Ask about "+lineName(m.about)), m.question,
		parts.Row(8, parts.Grow(look.Text(look.Caption, look.Ink3, words)), shut, m.send))
}

// stepPage shows the option that was selected, whole, before it is confirmed.
func (m *momentSheet) stepPage(above []fyne.CanvasObject) fyne.CanvasObject {
	i := m.taken()
	row := m.doc.Sheet.Rows[i]
	list := []fyne.CanvasObject{}
	add := func(name string, o fyne.CanvasObject) { list = append(list, gutter(name, o)) }
	digest := strings.TrimPrefix(row.ActionDigest, "sha256:")
	if row.Action == nil {
		add("Action", look.Text(look.Body, look.Ink, "The vault has not seen this action. This selects it and signs nothing. Before anything is signed the action is shown to you."))
	} else {
		add("Action, complete", m.every(fmt.Sprintf("page.%d.action", i), row.Action.Fields))
	}
	add("Action digest", hostile.Inline(look.MonoS.Box(20), look.Ink, digest))
	who := m.s.asker()
	to := []look.Run{{Text: who + ", this session, this question only", Style: look.Body, Color: look.Ink}}
	if m.s.doc.Session != "" {
		to = append(to, look.Run{Text: " · session ", Style: look.Body, Color: look.Ink3})
		to = append(to, hostile.Runs(look.Body, look.Ink3, m.s.doc.Session)...)
	}
	add("Goes to", look.Para(to...))
	switch {
	case row.SignWith != nil:
		add("Can be used", look.Text(look.Body, look.Ink, "Once, for this action and no other"))
		if a := m.doc.Addresses[i]; a != "" {
			add("Signs as", hostile.Inline(look.Mono, look.Ink, a))
		}
		add("Under, complete", m.every(fmt.Sprintf("page.%d.sign", i), row.SignFields))
		add("Used so far", look.Text(look.Body, look.Ink, plural(m.doc.Used[i], "time", "times")))
	default:
		add("Can be used", look.Text(look.Body, look.Ink, "As an answer. The agent named nothing that the vault would sign."))
	}
	add("Fingerprint", hostile.Inline(look.MonoS.Box(20), look.Ink, short(strings.TrimPrefix(m.doc.Sheet.Envelope.Digest(), "sha256:"))))
	var warn []fyne.CanvasObject
	if words := problemWords(m.doc.Problems[i]); words != "" {
		warn = append(warn, parts.Space(0, 10), parts.Banner(parts.Notice, "warning", "", words, nil))
	}
	for _, text := range signNotes(row) {
		warn = append(warn, parts.Space(0, 4), parts.Note("info", look.Ink3, text))
	}
	var head fyne.CanvasObject = m.stepHead
	if hostile.Long(row.Label) {
		head = m.block(fmt.Sprintf("page.%d.label", i), row.Label, false, 2, 4)
	}
	paper := parts.Pad(22, 24, 18, 24, parts.Column(0, append([]fyne.CanvasObject{look.Text(look.Small, look.Ink2, "You selected"), head, parts.Space(0, 14), parts.Column(6, list...)}, warn...)...))
	m.page = m.view(paper)
	back := m.buttons["back"]
	if back == nil {
		back = parts.NewButton(parts.Plain, "back", "Back, nothing decided", func() {
			if m.s.gate.open() {
				m.back()
			}
		})
		back.Watch(m.s)
		m.buttons["back"] = back
	}
	m.s.confirm.Text(14).High(36)
	line := parts.Row(8, back, parts.Spring(), m.s.confirm)
	var buttons fyne.CanvasObject = line
	if parts.NaturalWidth(back)+parts.NaturalWidth(m.s.confirm)+8 > m.width()-48 {
		buttons = parts.Column(8, parts.Row(0, back, parts.Spring()), m.s.confirm)
	}
	lines := []fyne.CanvasObject{buttons, m.s.reason}
	if strip := m.s.unusedStrip(); strip != nil {
		lines = append([]fyne.CanvasObject{strip}, lines...)
	}
	foot := []fyne.CanvasObject{parts.Hair(), parts.Pad(14, 24, 10, 24, parts.Column(10, lines...))}
	if m.s.doc.Frame == "clicks" {
		foot = append(foot, clickStrip(24))
	}
	return stack(above, parts.Over(look.NewBox(look.Paper, "", 0), m.page), foot...)
}

// signNotes are the remarks on a signing envelope, in words of the package that reads it.
func signNotes(row moment.Row) []string {
	if row.SignWith == nil {
		return nil
	}
	return row.SignWith.Warnings()
}

// every lists every field with its exact place, in reading order: two side by side where both are short.
func (m *momentSheet) every(key string, fields []moment.Field) fyne.CanvasObject {
	size := 0
	for _, f := range fields {
		size += len(f.Path) + len(f.Value)
	}
	if len(fields) > 20 || size > 2*hostile.InlineMost {
		return m.block(key, fieldLines(fields), true, 4, 8)
	}
	var list []fyne.CanvasObject
	for _, f := range fields {
		name := []look.Run{{Text: f.Label, Style: look.Body, Color: look.Ink2}}
		value := f.Value
		if f.Label == "" {
			name, value = hostile.Runs(look.Body, look.Ink2, f.Path), bare(f.Value)
		}
		name = append(name, look.Run{Text: "  ", Style: look.Body, Color: look.Ink})
		list = append(list, look.Para(append(name, hostile.Runs(look.Mono, look.Ink, value)...)...))
	}
	const gap = 24
	half := (m.width() - 48 - 128 - gap) / 2
	short := func(i int) bool { return i < len(list) && !large() && parts.NaturalWidth(list[i]) <= half }
	var rows []fyne.CanvasObject
	for i := 0; i < len(list); i++ {
		if short(i) && short(i+1) {
			rows = append(rows, parts.Cells(gap, []float32{0, 0}, list[i], list[i+1]))
			i++
			continue
		}
		rows = append(rows, list[i])
	}
	return parts.Column(4, rows...)
}
