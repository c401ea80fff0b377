package ui

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/approvals/sow/units"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// contract is the window of one version of a document: its page, or its
// comparison with the version in force, and below it the one thing that is
// being decided about it. Nothing is selected when it opens, and input is
// dropped for a second whenever what is on screen may be new to the eye.
type contract struct {
	u       *UI
	w       fyne.Window
	root    *frame
	gate    *gate
	view    agreement.View
	version agreement.VersionView
	doc     *sow.Document
	text    []byte // of its contract language, nil where none was brought
	page    *page.Page
	compare *page.Comparison // nil unless it is an amendment of the version in force
	seats   []agreement.SeatView

	whole   bool // of an amendment: the page is shown instead of the comparison
	drawn   *drawn
	rows    *virtual
	scroll  *parts.Scroll
	index   *parts.Scroll
	current int // clause that the index marks
	heading *parts.Heading
	size    fyne.Size

	step    *step
	confirm *parts.Button
	caption *look.Paragraph
	said    string
	read    bool
	busy    bool
	over    bool
	result  *banner
	refused string
	asking  *asking
	left    bool
}

// contractDoc is what the desk gives for a window, made ready off the Fyne goroutine.
type contractDoc struct {
	opened.Agreement
	page    *page.Page
	compare *page.Comparison
	seats   []agreement.SeatView
}

// openContract shows a version of an engagement ("" for the one that waits, in
// force, or newest) and, with a move, begins to do it. One such window is open
// at a time.
func (u *UI) openContract(id, digest, move string) {
	u.touch()
	if c := u.contract; c != nil && !c.over && c.busy {
		c.w.RequestFocus()
		return
	}
	u.banner = nil
	u.opts.Go(func() {
		d, err := u.loadContract(id, digest)
		u.opts.Do(func() {
			if err != nil {
				u.banner = problem(err)
				u.rebuild()
				return
			}
			if u.contract != nil {
				u.contract.shut()
			}
			u.showContract(d, move)
		})
	})
}

func (u *UI) loadContract(id, digest string) (contractDoc, error) {
	view, err := u.owner.Engagement(id)
	if err != nil {
		return contractDoc{}, err
	}
	return u.readContract(view, digest)
}

// readContract reads the bytes of a version and makes its page.
func (u *UI) readContract(view agreement.View, digest string) (contractDoc, error) {
	o, err := opened.Read(u.owner, view, digest)
	d := contractDoc{Agreement: o, seats: u.owner.Seats()}
	if err != nil {
		return d, err
	}
	f := u.facts(o)
	d.page = page.Of(o.Doc, f)
	if o.Before != nil {
		d.compare = page.Compare(o.Before, o.Doc, f)
	}
	return d, nil
}

// facts is what the page is told beside the document.
func (u *UI) facts(o opened.Agreement) page.Facts {
	return o.Facts(u.opts.Now().UnixMilli(), opened.Words{Learned: u.learned, Seat: seatName, Agent: u.agentName})
}

// learned says how a seat's key came to be known.
func (u *UI) learned(p agreement.PartyView) string {
	if p.Ours {
		return "your key, held by this vault"
	}
	if p.Key == "" {
		return ""
	}
	how := map[string]string{"card": "from their owner card", "first_use": "as it was first used", "document": "as the document claims it"}[p.Learned]
	out := "pinned by you"
	if how != "" {
		out += ", " + how
	}
	if p.LearnedAt > 0 {
		out += ", " + day(u.at(p.LearnedAt))
	}
	return out
}

// agentName is the owner's own name for a paired client.
func (u *UI) agentName(client string) string {
	for _, c := range u.state.Clients {
		if c.ID == client {
			return safe(c.Name)
		}
	}
	return "an agent"
}

func seatName(s agreement.SeatView) string {
	if s.Name != "" {
		return safe(s.Name)
	}
	return fmt.Sprintf("seat %d", s.Index)
}

func (u *UI) showContract(d contractDoc, move string) {
	c := &contract{u: u, gate: &gate{now: u.opts.Now}, root: newFrame(fyne.NewSize(820, 600)),
		view: d.View, version: d.Version, doc: d.Doc, text: d.Text, page: d.page, compare: d.compare, seats: d.seats}
	c.w = u.app.NewWindow("Vault: a contract")
	c.w.SetPadded(false)
	c.caption = look.Text(look.Caption, look.Ink3, closing)
	c.confirm = parts.NewButton(parts.Primary, "", nothing, c.decide).Least(200)
	c.confirm.Watch(c)
	c.confirm.Disable()
	c.whole = c.compare == nil || c.version.Outcome != ""
	c.open()
	if c.compare != nil && c.version.Outcome == "" && move == "" && c.can("approve") != nil {
		move = "answer"
	}
	if move != "" {
		c.step = c.begin(move)
	}
	c.root.layout = func(size fyne.Size) {
		if size != c.size && !c.over {
			c.size = size
			c.gate.arm()
			c.arrange()
		}
	}
	c.root.after = func() { c.rows.place() } // the view may be higher than it was
	c.root.touched = u.touch
	c.w.SetContent(c.root)
	c.w.SetCloseIntercept(c.close)
	c.w.Canvas().SetOnTypedKey(c.Key)
	u.contract = c
	c.gate.arm()
	height := float32(788)
	if u.state.Status.Public.Demo {
		height += 26
	}
	c.w.Resize(fyne.NewSize(1080, height))
	c.arrange()
	c.w.Show()
	c.w.Canvas().Focus(c.heading)
	c.gate.lost = nil
}

// Key implements [parts.Keys]: Escape closes and decides nothing.
func (c *contract) Key(k *fyne.KeyEvent) {
	c.u.touch()
	if k.Name == fyne.KeyEscape {
		c.close()
	}
}

// Focused implements [parts.Keys].
func (c *contract) Focused(o fyne.Focusable, on bool) {
	c.gate.focused(o, on)
	if on {
		c.u.touch()
	}
}

func (c *contract) title() string {
	if c.compare != nil {
		by := "The other side proposes"
		if c.version.ProposedBy != "" && c.version.ProposedBy == c.view.Role {
			by = "You propose"
		}
		return by + " version " + units.Number(c.version.Version)
	}
	return c.page.Title
}

var sowID = regexp.MustCompile(`^sow_[0-9a-z]{1,32}$`)

// band is the vault's own area. Nothing of the document is drawn in it but an
// identifier that is one.
func (c *contract) band() fyne.CanvasObject {
	facts := strings.Join(c.page.Status, " ")
	print := short(c.version.Digest)
	caption := "version " + units.Number(c.version.Version)
	if sowID.MatchString(c.view.SoW) {
		caption = c.view.SoW + ", " + caption
	}
	if c.compare != nil {
		facts = fmt.Sprintf("Version %s stays in force until it is decided.", units.Number(c.compare.InForce))
		if end := c.version.ReviewEnds; end > 0 && c.version.Outcome == "" {
			facts += " Unanswered, the proposal lapses on " + day(c.u.at(end)) + c.in(end) + "."
		}
		print = short(c.compare.InForceDigest) + " → " + print
	}
	if o := opened.OutcomeWords(c.version); o != "" {
		facts = o
	}
	if c.over { // what stood here was so before
		facts = "What was decided is below."
	}
	return parts.Band(c.title(), facts, parts.BandEnd(caption, print, look.MonoSB))
}

// in says how far off a day is.
func (c *contract) in(ms int64) string {
	switch d := (ms - c.u.opts.Now().UnixMilli()) / 86400000; {
	case d < 0:
		return ""
	case d == 0:
		return ", within a day"
	default:
		return ", in " + plural(d, "day", "days")
	}
}

// open makes the rows of what is shown.
func (c *contract) open() {
	if c.whole {
		c.drawn = drawPage(c.page, c.watch, c.bringText())
		c.heading = parts.NewHeading(look.Text(look.CaptionM, look.Ink3, plural(c.counted(), "clause", "clauses")))
		if !c.indexed() {
			top := c.heading
			c.drawn.rows = append([]func() fyne.CanvasObject{func() fyne.CanvasObject { return parts.Pad(0, 0, 10, 0, top) }}, c.drawn.rows...)
			for i := range c.drawn.clauses {
				c.drawn.clauses[i].row++
			}
		}
	} else {
		c.heading = parts.NewHeading(look.Text(look.Title, look.Ink, c.compare.Head()))
		c.drawn = c.drawComparison()
	}
	c.heading.Watch(c)
	c.read, c.current = false, 0
	c.rows = newVirtual(len(c.drawn.rows), func(i int) fyne.CanvasObject { return c.drawn.rows[i]() }, nil)
	c.rows.moved = func(int, int) { c.scrolled() }
	c.scroll = parts.NewScroll(parts.Sunk(look.Paper, 0, parts.Pad(18, 28, 0, 28, c.rows))).Whole(look.Paper, c.below)
	c.scroll.Scrolled = c.scrolled
	c.rows.in(c.scroll)
	c.index = nil
}

// watch lets a block of text scroll the page and tell of its end.
func (c *contract) watch(b *hostile.Block) {
	b.Watch(c)
	b.Seen = c.refresh
	b.Beyond = func(e *fyne.ScrollEvent) { c.scroll.Inner.Scrolled(e) }
}

// below says what is not in view yet.
func (c *contract) below(y float32) string {
	if !c.whole {
		return "The comparison goes on below: scroll."
	}
	n := 0
	for _, p := range c.drawn.clauses {
		if p.grade != "" && c.rows.top(p.row)+18 >= y {
			n++
		}
	}
	if n == 0 {
		return "The page goes on below: scroll."
	}
	return plural(n, "more clause", "more clauses") + ", about " + plural(int64(c.page.Minutes), "minute", "minutes") + " to read in all"
}

// scrolled brings the index and the button up to date.
func (c *contract) scrolled() {
	at, y := 0, c.scroll.Inner.Offset.Y+60
	for i, p := range c.drawn.clauses {
		if c.rows.top(p.row) <= y {
			at = i
		}
	}
	if c.scroll.AtEnd() && len(c.drawn.clauses) > 0 && c.scroll.Inner.Offset.Y > 0 {
		at = max(at, len(c.drawn.clauses)-1)
	}
	if at != c.current && c.index != nil {
		c.current = at
		c.index.Set(c.indexColumn())
	}
	c.refresh()
}

// counted is how many clauses the index lists with a grade.
func (c *contract) counted() (n int) {
	for _, p := range c.drawn.clauses {
		if p.grade != "" {
			n++
		}
	}
	return n
}

// indexed says whether there is room for an index beside the page.
func (c *contract) indexed() bool { return look.Scale() < 1.5 }

// indexColumn lists the clauses with their signs.
func (c *contract) indexColumn() fyne.CanvasObject {
	list := []fyne.CanvasObject{parts.Pad(0, 8, 6, 8, c.heading)}
	for i, p := range c.drawn.clauses {
		ink, style, fill := look.Ink2, look.Small, look.None
		if i == c.current {
			ink, style, fill = look.Ink, look.SmallB, look.Well
		}
		var sign fyne.CanvasObject = parts.Space(11, 11)
		if p.grade != "" {
			sign = parts.Pad(2, 0, 0, 0, look.NewIcon(p.grade, 11, gradeInk(p.grade)))
		}
		t := parts.NewTap(parts.Over(look.NewBox(fill, "", 4), parts.Middle(26, parts.Pad(0, 8, 0, 8, parts.Row(8, sign, parts.Grow(look.Text(style, ink, p.title)))))), func() {
			c.u.touch()
			c.scroll.Inner.ScrollToOffset(fyne.NewPos(0, c.rows.top(p.row)+4))
			c.scroll.Inner.OnScrolled(c.scroll.Inner.Offset)
		})
		t.Watch(c)
		list = append(list, t)
	}
	return parts.Pad(18, 12, 18, 16, parts.Column(0, list...))
}

// arrange puts the parts in their places.
func (c *contract) arrange() {
	above := []fyne.CanvasObject{c.band()}
	if c.u.state.Status.Public.Demo {
		above = append([]fyne.CanvasObject{demoStrip()}, above...)
	}
	if c.over {
		shut := parts.NewButton(parts.Plain, "", "Close", func() {
			if c.gate.open() {
				c.close()
			}
		})
		shut.Watch(c)
		b := c.result
		paper := parts.Pad(18, 24, 24, 24, parts.Column(14, c.heading, parts.Banner(b.tone, b.icon, b.what, b.more, nil)))
		c.root.content = stack(above, parts.Sunk(look.Paper, 0, paper), parts.Hair(), parts.Pad(14, 24, 14, 24, parts.Row(0, shut, parts.Spring())))
		c.root.Refresh()
		return
	}
	var middle fyne.CanvasObject = parts.Over(look.NewBox(look.Paper, "", 0), c.scroll)
	if c.whole && c.indexed() {
		if c.index == nil {
			c.index = parts.NewScroll(c.indexColumn())
		}
		middle = &fyne.Container{Layout: &columns{188}, Objects: []fyne.CanvasObject{parts.Over(look.NewBox(look.Paper, "", 0), c.index), look.Rule(), middle}}
	}
	below := []fyne.CanvasObject{parts.Hair()}
	most := c.size.Height * 0.6
	switch {
	case c.asking != nil:
		status, buttons := c.asking.panel("", c.back)
		list := []fyne.CanvasObject{parts.Cells(0, []float32{128, 0}, look.Text(look.Caption.Box(20), look.Ink3, "Your decision"), look.Text(look.Strong, look.Ink, c.named())), parts.Space(0, 10), status}
		below = append(below, c.share(parts.Pad(16, 28, 0, 28, parts.Column(0, list...)), most), parts.Pad(12, 28, 14, 28, buttons))
	case c.step != nil:
		below = append(below, c.share(parts.Pad(14, 28, 12, 28, c.stepPanel()), most))
	default:
		below = append(below, parts.Pad(12, 24, 12, 24, c.buttons()))
	}
	if c.u.state.Status.Public.Passkeys == 0 {
		below = append(below, clickStrip(24))
	}
	c.root.content = stack(above, middle, below...)
	c.root.Refresh()
	c.refresh()
}

// share leaves room for the page above: a panel that is higher than that scrolls.
func (c *contract) share(panel fyne.CanvasObject, most float32) fyne.CanvasObject {
	if most <= 0 || parts.HeightFor(panel, c.size.Width) <= most {
		return panel
	}
	s := parts.NewScroll(panel).Whole(look.Ground, func(float32) string { return "This goes on below: scroll." })
	return &fyne.Container{Layout: fixed(most), Objects: []fyne.CanvasObject{s}}
}

// fixed gives one object a height in pixels.
type fixed float32

func (f fixed) Layout(objs []fyne.CanvasObject, size fyne.Size) { objs[0].Resize(size) }
func (f fixed) MinSize([]fyne.CanvasObject) fyne.Size           { return fyne.NewSize(0, float32(f)) }

// columns gives the first object a width at 100 percent, a hairline, and the
// last one the rest.
type columns struct{ width float32 }

func (l *columns) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	w := min(look.S(l.width), size.Width*0.3)
	objs[0].Resize(fyne.NewSize(w, size.Height))
	objs[1].Move(fyne.NewPos(w, 0))
	objs[1].Resize(fyne.NewSize(1, size.Height))
	objs[2].Move(fyne.NewPos(w+1, 0))
	objs[2].Resize(fyne.NewSize(size.Width-w-1, size.Height))
}

func (l *columns) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// can returns a move the owner may make on this version, nil for none.
func (c *contract) can(what string) *agreement.Move {
	for i, m := range c.view.Moves {
		if m.What == what && (m.Digest == "" || m.Digest == c.version.Digest) {
			return &c.view.Moves[i]
		}
	}
	if what == "probe" {
		return c.probe()
	}
	return nil
}

// opening are the buttons that begin something, in the order they stand.
var opening = []struct{ move, label string }{
	{agreement.MoveSettle, "Which one counts…"}, {"refuse", "Refuse with a reason…"}, {"deny", "Answer it…"}, {"withdraw", "Withdraw…"}, {"terminate", "End it…"}, {"dispute", "Dispute an amount…"}, {"review", "Review…"}, {"probe", "Record a trial…"},
	{"preauthorise", "Allow in advance…"}, {"form", "Fill the seat…"}, {"complete", "Complete it…"}, {"publish", "Sign to publish…"}, {"propose", "Sign to propose…"}, {"countersign", "Sign as "}, {"approve", "Sign as "},
}

// buttons is the line below a page that is being read.
func (c *contract) buttons() fyne.CanvasObject {
	icon, words := "info", closing
	ink := look.Ink2
	var list []fyne.CanvasObject
	blocked := ""
	for _, o := range opening {
		m := c.can(o.move)
		if m == nil || o.move == "deny" && c.compare == nil || o.move == "approve" && c.can("deny") != nil {
			continue
		}
		label := o.label
		if label == "Sign as " {
			label += seatName(c.view.Seat) + "…"
			if !c.view.SeatFixed && len(c.seats) > 1 {
				label = "Sign…"
			}
		}
		b := parts.NewButton(parts.Plain, "", label, func() {
			c.u.touch()
			if !c.gate.open() {
				return
			}
			c.step = c.begin(o.move)
			c.gate.arm()
			c.arrange()
			c.w.Canvas().Focus(c.heading)
		})
		b.Watch(c)
		signs := o.move == "form" || o.move == "complete" || o.move == "publish" || o.move == "propose" || o.move == "countersign" || o.move == "approve"
		if m.Blocked != "" {
			b.Disable()
			if signs || blocked == "" {
				blocked = c.why(m)
			}
		}
		if signs {
			icon, words = "key", needWords(m.By)
		}
		list = append(list, b)
	}
	if blocked != "" {
		icon, words, ink = "block", blocked, look.Danger
	}
	leave := parts.NewButton(parts.Plain, "", "Leave it", func() {
		if c.gate.open() {
			c.close()
		}
	})
	leave.Watch(c)
	acts := []fyne.CanvasObject{leave}
	if c.compare != nil {
		label := "Show the whole page"
		if c.whole {
			label = "Show the comparison"
		}
		other := parts.NewButton(parts.Plain, "", label, func() {
			if c.gate.open() {
				c.whole = !c.whole
				c.open()
				c.gate.arm()
				c.arrange()
			}
		})
		other.Watch(c)
		acts = append(acts, other)
	}
	acts = append(acts, list...)
	wide := float32(0)
	for _, o := range acts {
		wide += parts.NaturalWidth(o) + 8
	}
	note := func(text *look.Paragraph) fyne.CanvasObject {
		return parts.RowTop(8, parts.Pad(2, 0, 0, 0, look.NewIcon(icon, 14, ink)), parts.Grow(text))
	}
	text := look.Text(look.Small, look.Ink2, words)
	if room := c.size.Width - 48; room > 0 && wide+min(parts.NaturalWidth(look.Word(look.Small, look.Ink2, words))+30, look.S(260)) > room {
		return parts.Column(10, note(text), parts.Flow(8, 8, acts...))
	}
	return parts.Row(8, append([]fyne.CanvasObject{parts.Grow(note(text))}, acts...)...)
}

// barred says what bars a move where no finding does.
var barred = map[string]string{
	"counterparty_not_pinned": "No key of the other side is pinned. Pin it under the engagement first.",
	"intent_missing":          "The agent’s part is missing: it signs first, and brings it with its next request.",
	"not_open":                "This version is not open any more.",
	"version_conflict":        "Two documents claim this version. Say which one counts; nothing of it is signed before.",
	"handle_rehomed":          "A handle names another key than before. Confirm it under the engagement first.",
	"amendment_lapsed":        "The review window has passed.",
	"terminated":              "The engagement has ended.",
	"no_charge_settlement":    "Nothing is charged here, so there is no amount to dispute.",
	"signer_not_owner":        "A signature on it is by another key than the one pinned.",
	"amendment_already_open":  "Another change is open. It has to be answered first.",
}

// why says in a sentence what bars a move.
func (c *contract) why(m *agreement.Move) string { return whyBarred(m, c.version.Findings) }

// whyBarred says in a sentence what bars a move on a version with these findings.
func whyBarred(m *agreement.Move, found sow.Findings) string {
	if m.Blocked == "enforcement_unavailable" && m.Detail != "" {
		return safeLong(m.Detail) + " What the runtimes do is said in Settings."
	}
	if m.Detail != "" {
		return safeLong(m.Detail)
	}
	if s, ok := barred[m.Blocked]; ok {
		return s
	}
	if s, ok := sentences[m.Blocked]; ok {
		return s[0] + "."
	}
	for _, f := range found {
		if string(f.Code) == m.Blocked {
			return safeLong(f.Message + " " + f.Remedy)
		}
	}
	return "This cannot be signed: " + safe(m.Blocked) + "."
}

// needWords says what a signature needs.
func needWords(a sow.Authority) string {
	switch a {
	case sow.ByAgent:
		return "Signing needs your passkey. The document would take an agent’s signature."
	case sow.ByAgentThenPerson:
		return "Signing needs the agent’s part first, then your passkey."
	}
	return "Signing needs your passkey, because the document asks for a person."
}

// drawComparison makes the rows of a comparison.
func (c *contract) drawComparison() *drawn {
	d := &drawn{blocks: map[string]*hostile.Block{}, watch: c.watch}
	cmp := c.compare
	count := func(icon string, n int, word string) fyne.CanvasObject {
		ink := look.Ink
		if n == 0 {
			ink = look.Ink3
		}
		return parts.Row(6, look.NewIcon(icon, 12, ink), look.Word(look.Small, ink, fmt.Sprintf("%d %s", n, word)))
	}
	d.add(func() fyne.CanvasObject {
		return parts.Pad(0, 0, 4, 0, parts.Row(18, parts.Grow(c.heading), count("changed", cmp.Changed, "changed"), count("plus", cmp.Added, "added"), count("minus", cmp.Removed, "removed")))
	})
	for _, n := range c.page.Notices {
		if n.Tone == page.Alarm {
			d.add(func() fyne.CanvasObject { return parts.Pad(4, 0, 4, 0, noticeStrip(n)) })
		}
	}
	widths := []float32{16, 160, 0, 16, 0, 150, 96}
	for i, g := range cmp.Groups {
		d.add(func() fyne.CanvasObject {
			cells := []fyne.CanvasObject{parts.Space(0, 0), look.Text(look.CaptionM, look.Ink, g.Title), parts.Space(0, 0), parts.Space(0, 0), parts.Space(0, 0), parts.Space(0, 0), parts.Space(0, 0)}
			if i == 0 {
				grade := look.Text(look.CaptionM, look.Ink3, "Grade")
				grade.Align = fyne.TextAlignTrailing
				cells[2], cells[4] = look.Text(look.CaptionM, look.Ink3, "Version "+units.Number(cmp.InForce)+", in force"), look.Text(look.CaptionM, look.Ink3, "Version "+units.Number(cmp.Proposed)+", proposed")
				cells[5], cells[6] = look.Text(look.CaptionM, look.Ink3, "For you"), grade
			}
			return parts.Pad(14, 0, 6, 0, parts.Cells(8, widths, cells...))
		})
		for j, l := range g.Lines {
			key := fmt.Sprint(i, ".", j)
			last := j == len(g.Lines)-1
			d.add(func() fyne.CanvasObject {
				icon := []string{"changed", "plus", "minus"}[l.Sign]
				effect := fyne.CanvasObject(look.Text(look.Small.Box(20), look.Ink2, l.Effect))
				if l.Warn {
					effect = parts.RowTop(6, parts.Pad(3, 0, 0, 0, look.NewIcon("warning", 13, look.Warn)), parts.Grow(effect))
				}
				line := parts.Cells(8, widths, parts.Middle(20, look.NewIcon(icon, 13, look.Ink2)), look.Para(runs(look.Body, look.Ink, l.Name)...),
					look.Para(runs(look.Body, look.Ink2, l.Old)...), parts.Middle(20, look.NewIcon("arrow", 13, look.Ink2)), look.Para(runs(look.Strong, look.Ink, l.New)...), effect, gradeSign(stated(l.Grade)))
				list := append([]fyne.CanvasObject{parts.Hair(), parts.Pad(9, 0, 9, 0, line)}, d.long(key, l.Old, l.New)...)
				if last {
					list = append(list, parts.Hair())
				}
				return parts.Column(0, list...)
			})
		}
	}
	for i, s := range cmp.Consequences {
		top := float32(6)
		if i == 0 {
			top = 14
		}
		d.add(func() fyne.CanvasObject { return parts.Pad(top, 0, 0, 0, parts.Note("info", look.Ink2, s)) })
	}
	other := parts.NewButton(parts.Quiet, "more", "Show the whole page, with what did not change", func() {
		if c.gate.open() {
			c.whole = true
			c.open()
			c.gate.arm()
			c.arrange()
		}
	}).Small()
	other.Watch(c)
	d.add(func() fyne.CanvasObject { return parts.Pad(10, 0, 20, 0, parts.Row(0, other, parts.Spring())) })
	return d
}

// stated is a grade for a place too narrow to say that the document states none.
func stated(g *page.Grade) *page.Grade {
	if g == nil || !g.Implied {
		return g
	}
	return &page.Grade{Stated: g.Earned, Earned: g.Earned, Known: true}
}

// seen says whether everything has been in view once.
func (c *contract) seen() bool {
	if c.scroll.AtEnd() {
		c.read = true
	}
	for _, b := range c.drawn.blocks {
		if !b.Complete() {
			return false
		}
	}
	return c.read
}

// refresh brings the button in line with the choice.
func (c *contract) refresh() {
	seen := c.seen()
	if c.over || c.step == nil {
		return
	}
	name, why := nothing, ""
	taken := c.step.group.Taken()
	if taken != nil {
		a := c.step.answers[taken]
		name = "Confirm: " + taken.Label
		why = c.refused
		if why == "" && a.missing != nil {
			why = a.missing()
		}
		if why == "" && a.signs && !seen {
			why = "Scroll to the end of the page once; then you can confirm."
			if slices.ContainsFunc(c.longTexts(), (*hostile.Block).Partial) {
				why = "Show all of each long text and scroll to its end once; then you can confirm."
			}
		}
	}
	c.confirm.Set(name, taken != nil && why == "" && !c.busy)
	if why == "" {
		why = closing
	}
	if key := fmt.Sprint(name, why, c.confirm.Disabled()); key != c.said {
		c.said = key
		c.caption.Set(look.Run{Text: why, Style: look.Caption, Color: look.Ink3})
		c.root.Refresh()
	}
}

func (c *contract) longTexts() (out []*hostile.Block) {
	for _, b := range c.drawn.blocks {
		out = append(out, b)
	}
	return out
}

// named is what is being confirmed.
func (c *contract) named() string {
	if c.step != nil && c.step.group.Taken() != nil {
		return c.step.group.Taken().Label
	}
	return ""
}

// decide does what was chosen. It is the only place that does.
func (c *contract) decide() {
	if c.over || c.busy || c.step == nil || c.confirm.Disabled() || !c.gate.open() {
		return
	}
	a := c.step.answers[c.step.group.Taken()]
	if a.missing != nil && a.missing() != "" || a.signs && !c.seen() {
		return
	}
	c.u.touch()
	if a.do == nil { // back to reading
		c.step = nil
		c.gate.arm()
		c.arrange()
		return
	}
	c.busy = true
	c.refresh()
	do := a.do()
	c.u.opts.Go(func() {
		out, err := do(c.u.ctx)
		c.u.opts.Do(func() { c.came(a, out, err) })
		c.u.changed()
	})
}

// came shows what came of it.
func (c *contract) came(a *answer, out approvals.Outcome, err error) {
	c.busy = false
	if err == nil && (out.Code == "" || out.Code == "done") {
		c.asking = nil
		if a.then != nil {
			a.then()
			return
		}
		c.finish(a.said)
		return
	}
	if end := endCode(out, err); end != "" {
		c.unconfirmed(end)
		return
	}
	c.asking = nil
	if err == nil {
		if _, ok := sentences[out.Code]; !ok && out.Detail != "" {
			c.refused = safeLong(out.Detail)
		} else if ok {
			c.refused = sentences[out.Code][0] + ". " + sentences[out.Code][1]
		} else {
			c.refused = "Not signed: " + safe(out.Code) + "."
		}
	} else {
		b := problem(err)
		c.refused = b.what + ". " + b.more
	}
	c.gate.arm()
	c.said = ""
	c.arrange()
}

// finish says what happened.
func (c *contract) finish(b banner) {
	c.over, c.result = true, &b
	c.heading = parts.NewHeading(look.Text(look.Title, look.Ink, "What came of it"))
	c.heading.Watch(c)
	c.gate.arm()
	c.arrange()
	c.w.Canvas().Focus(c.heading)
}

// confirmed shows the confirmation by passkey that the decision waits for.
func (c *contract) confirmed(v approvals.CeremonyView) {
	if c.asking == nil {
		c.asking = newAsking(c.u, v, c, func() { c.root.Refresh() })
		c.gate.arm()
		c.arrange()
		c.w.Canvas().Focus(c.heading)
		return
	}
	c.asking.set(v)
	c.arrange()
}

// unconfirmed shows why nothing was signed, until the owner goes back.
func (c *contract) unconfirmed(code string) {
	if c.asking == nil {
		c.asking = newAsking(c.u, approvals.CeremonyView{State: approvals.CeremonyOpening}, c, func() { c.root.Refresh() })
	}
	c.asking.failed = code
	c.gate.arm()
	c.asking.gate.arm()
	if c.left {
		c.left = false
		c.back()
		return
	}
	c.arrange()
	c.w.Canvas().Focus(c.heading)
}

// back leaves the confirmation: the window is as it was.
func (c *contract) back() {
	if c.asking == nil {
		return
	}
	if c.asking.failed == "" {
		c.left = true
		c.u.opts.Go(c.u.owner.CancelCeremony)
		return
	}
	c.asking = nil
	c.gate.arm()
	c.arrange()
	c.w.Canvas().Focus(c.heading)
}

// follow looks whether what can be done with the version is still what the window
// shows. It is called when something has changed at the desk.
func (c *contract) follow() {
	if c.over || c.busy {
		return
	}
	id, digest := c.view.ID, c.version.Digest
	c.u.opts.Go(func() {
		view, err := c.u.owner.Engagement(id)
		if err != nil {
			return
		}
		c.u.opts.Do(func() {
			at := slices.IndexFunc(view.Versions, func(v agreement.VersionView) bool { return v.Digest == digest })
			if c.over || c.busy || at < 0 || reflect.DeepEqual(view.Moves, c.view.Moves) && view.Versions[at].Outcome == c.version.Outcome {
				return
			}
			c.view, c.version = view, view.Versions[at]
			c.page.Status = page.Of(c.doc, c.u.facts(opened.Agreement{View: view, Version: c.version, Doc: c.doc, Text: c.text})).Status
			if c.step != nil && !c.possible(c.step.move) {
				c.step = nil
			}
			c.gate.arm()
			c.arrange()
		})
	})
}

// possible says whether the moves a step is about can still be made.
func (c *contract) possible(move string) bool {
	switch move {
	case "answer", "deny":
		return c.can("approve") != nil || c.can("deny") != nil
	case "language":
		return true
	}
	return c.can(move) != nil
}

// close closes the window and decides nothing.
func (c *contract) close() {
	if c.asking != nil && c.busy {
		c.u.opts.Go(c.u.owner.CancelCeremony)
	}
	c.shut()
}

func (c *contract) shut() {
	c.over = true
	if c.u.contract == c {
		c.u.contract = nil
	}
	c.w.SetCloseIntercept(nil)
	c.w.Close()
}

// sign is the call that signs this version for a move.
func (c *contract) sign(move string, seat int64, role string) func(context.Context) (approvals.Outcome, error) {
	ask := approvals.Signing{Engagement: c.view.ID, Digest: c.version.Digest, Seat: seat, Role: role, Move: move}
	return func(ctx context.Context) (approvals.Outcome, error) { return c.u.owner.SignSoW(ctx, ask) }
}

// act is the call that signs an act of ours about this version.
func (c *contract) act(ask approvals.ActAsk) func(context.Context) (approvals.Outcome, error) {
	ask.Engagement, ask.Digest = c.view.ID, c.version.Digest
	return func(ctx context.Context) (approvals.Outcome, error) { return c.u.owner.ActOn(ctx, ask) }
}
