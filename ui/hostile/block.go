package hostile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"vault/approvals/plain"
	"vault/ui/look"
	"vault/ui/parts"
)

// PartMost is the number of characters that a Block shows at first.
const PartMost = 2000

const (
	lineHeight = 20
	gutter     = 34
	inset      = 8
)

// Block shows text of any length: line numbers, lines cut by us, a strip that
// counts what was marked. Only the rows in view are laid out. It remembers
// whether its end has been in view.
type Block struct {
	widget.BaseWidget
	// Seen is called once, when everything has been in view.
	Seen func()
	// Beyond gets scroll events that this view can no longer use.
	Beyond func(*fyne.ScrollEvent)

	source string
	bytes  int  // length to state, or 0 for that of source
	all    bool // the whole source is laid out
	text   plain.Text
	mono   bool
	rows   []row
	forW   float32
	forS   float32
	cell   float32
	wide   map[string]float32

	offset  int // first row in view
	seen    bool
	lines   float32 // height of the view of lines
	keys    parts.Keys
	focused bool
	showAll *parts.Button
	foot    *fyne.Container
	more    int // rows that the view is high at least
	most    int
}

// row is what stands on one line of the view.
type row struct {
	number int // 0 for the rest of a cut line
	spans  []plain.Span
	rtl    bool
	indent float32 // of the rest of a cut line, as deep as the line itself
}

// NewBlock makes a view on text. Mono is for bytes, otherwise prose. It is
// between least and most rows high at 100 percent.
func NewBlock(text string, mono bool, least, most int) *Block {
	b := &Block{source: text, mono: mono, more: least, most: most, wide: map[string]float32{}}
	first := plain.First(text, PartMost)
	b.all = first == text
	b.text = plain.Check(first)
	if !b.all {
		b.showAll = parts.NewButton(parts.Quiet, "", "Show all", b.ShowAll).Small()
	}
	b.makeFoot()
	b.ExtendBaseWidget(b)
	return b
}

// Watch tells the window of the keys that the block does not use.
func (b *Block) Watch(k parts.Keys) {
	b.keys = k
	if b.showAll != nil {
		b.showAll.Watch(k)
	}
}

// ShowAll lays out the whole text.
func (b *Block) ShowAll() {
	if b.all {
		return
	}
	b.all = true
	b.text = plain.Check(b.source)
	b.forW = 0
	b.makeFoot()
	b.Refresh()
}

// Bytes sets the length that is stated, where the text was spread over lines for reading.
func (b *Block) Bytes(n int) *Block {
	b.bytes = n
	b.makeFoot()
	return b
}

// Complete says whether every row has been in view.
func (b *Block) Complete() bool { return b.seen }

// Partial says that only the first part is laid out so far.
func (b *Block) Partial() bool { return !b.all }

// Report is what was marked in the part that is shown.
func (b *Block) Report() plain.Report { return b.text.Report }

func (b *Block) style() look.Style {
	if b.mono {
		return look.Mono
	}
	return look.Body
}

func (b *Block) makeFoot() {
	size := len(b.source)
	if b.bytes > 0 {
		size = b.bytes
	}
	sum := fmt.Sprintf("%s · %s", count(b.text.Report.Lines, "line"), count(size, "byte"))
	icon, ink, words := "check", look.Ink, "No hidden or direction-changing characters"
	if e := Explain(b.text.Report); e != "" {
		icon, ink, words = "warning", look.Warn, e
	}
	strips := []fyne.CanvasObject{strip(parts.Row(6, look.NewIcon(icon, 12, ink), parts.Grow(look.Text(look.Caption, look.Ink, words)), look.Word(look.Caption, look.Ink3, sum)))}
	for _, w := range Words(b.text.Report) {
		strips = append(strips, strip(look.Text(look.Caption, look.Ink, w)))
	}
	if !b.all {
		total := utf8.RuneCountInString(b.source)
		strips = append(strips, strip(parts.Row(6, parts.Grow(look.Text(look.Caption, look.Ink2, fmt.Sprintf("The first %s of %s characters", parts.Number(min(PartMost, total)), parts.Number(total)))), b.showAll)))
	}
	b.foot = parts.Column(0, strips...)
}

func strip(o fyne.CanvasObject) fyne.CanvasObject {
	return parts.Column(0, parts.Hair(), parts.Sunk(look.Well, 0, parts.Pad(5, 12, 5, 12, o)))
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return parts.Number(n) + " " + unit + "s"
}

// cut cuts the lines into rows of a width.
func (b *Block) cut(width float32) {
	scale := look.Scale()
	if b.forW == width && b.forS == scale {
		return
	}
	if b.forS != scale {
		clear(b.wide)
		b.cell = 0
	}
	b.forW, b.forS = width, scale
	b.rows = nil
	room := width - look.S(gutter) - 16
	for _, l := range b.text.Lines {
		rtl := false
		for _, s := range l.Spans {
			if s.Kind != plain.Mark && s.Kind != plain.Fold {
				rtl = plain.RightToLeft(s.Text)
				break
			}
		}
		cur := row{number: l.Number, rtl: rtl}
		x := float32(0)
		indent := float32(0)
		if len(l.Spans) > 0 && !rtl {
			text := l.Spans[0].Text
			indent = float32(len(text)-len(strings.TrimLeft(text, " "))) * b.glyph(" ")
		}
		next := func() {
			b.rows = append(b.rows, cur)
			cur = row{rtl: rtl, indent: indent}
			x = indent
		}
		begin := func() bool { return x == 0 || cur.number == 0 && x == indent }
		for _, s := range l.Spans {
			if s.Kind == plain.Mark || s.Kind == plain.Fold {
				w := b.width(s)
				if !begin() && x+w > room {
					next()
				}
				cur.spans = append(cur.spans, s)
				x += w
				continue
			}
			start, space := 0, -1
			spaceX, from := float32(0), x
			for i := 0; i < len(s.Text); {
				n := cluster(s.Text[i:])
				w := b.glyph(s.Text[i : i+n])
				if x+w > room && !begin() {
					at, rest := i, float32(0)
					switch {
					case space > start && s.Text[i] != ' ':
						at, rest = space, x-spaceX
					case start == 0 && len(cur.spans) > 0 && x-from < room/3:
						at, rest = 0, x-from // a short word after a mark goes down as a whole
					}
					if at > start {
						cur.spans = append(cur.spans, plain.Span{Kind: s.Kind, Text: s.Text[start:at]})
					}
					next()
					x += rest
					start, space = at, -1
				}
				x += w
				i += n
				if s.Text[i-n] == ' ' {
					space, spaceX = i, x
				}
			}
			if start < len(s.Text) {
				cur.spans = append(cur.spans, plain.Span{Kind: s.Kind, Text: s.Text[start:]})
			}
		}
		b.rows = append(b.rows, cur)
	}
	b.offset = min(b.offset, b.last())
}

// cluster is the length of the first character with the marks and joiners on it.
func cluster(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r < 0x300 {
		if n < len(s) && s[n] < 0x80 {
			return n
		}
	}
	joined := false
	for n < len(s) {
		next, size := utf8.DecodeRuneInString(s[n:])
		if !joined && !extends(next) {
			break
		}
		joined = next == 0x200d
		n += size
	}
	return n
}

func extends(r rune) bool {
	return r == 0x200c || r == 0x200d || r == 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff || r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me)
}

// glyph is the width of one character with its marks.
func (b *Block) glyph(s string) float32 {
	if len(s) == 1 && b.mono {
		if b.cell == 0 {
			b.cell = b.style().Measure("0000000000").Width / 10
		}
		return b.cell
	}
	w, ok := b.wide[s]
	if !ok {
		w = b.style().Measure(s).Width
		b.wide[s] = w
	}
	return w
}

func (b *Block) width(s plain.Span) float32 {
	return look.MonoSB.Measure(s.Text).Width + 6
}

// visibleRows is the number of whole rows in view.
func (b *Block) visibleRows() int { return max(int((b.lines-2*inset)/look.S(lineHeight)), 1) }

// TextLines gives the place of the first row in the block, the height of a row and the number
// of rows in view.
func (b *Block) TextLines() (y, height float32, n int) {
	return inset, look.S(lineHeight), min(b.visibleRows(), len(b.rows))
}

// Below is the strip below the rows.
func (b *Block) Below() fyne.CanvasObject { return b.foot }

// last is the largest offset.
func (b *Block) last() int { return max(len(b.rows)-b.visibleRows(), 0) }

// ScrollTo brings a row to the top of the view.
func (b *Block) ScrollTo(at int) {
	at = min(max(at, 0), b.last())
	if at == b.offset {
		return
	}
	b.offset = at
	b.Refresh()
}

// note records that the end is in view. It calls Seen at most once.
func (b *Block) note() {
	if b.seen || !b.all || b.lines <= 0 || b.offset < b.last() {
		return
	}
	b.seen = true
	if b.Seen != nil {
		b.Seen()
	}
}

// wheel takes scroll events for a block. The block itself must not be a
// [fyne.Scrollable]: Fyne would take it for a view that clips by itself, and
// draw it beyond the view that it stands in.
type wheel struct {
	widget.BaseWidget
	b *Block
}

// Scrolled implements [fyne.Scrollable].
func (w *wheel) Scrolled(e *fyne.ScrollEvent) { w.b.Scroll(e) }

// CreateRenderer implements [fyne.Widget].
func (w *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

// Scroll moves the rows as a turn of the wheel does.
func (b *Block) Scroll(e *fyne.ScrollEvent) {
	step := int(-e.Scrolled.DY / 10)
	if step == 0 && e.Scrolled.DY != 0 {
		step = 1
		if e.Scrolled.DY > 0 {
			step = -1
		}
	}
	at := min(max(b.offset+step, 0), b.last())
	if at == b.offset {
		if b.Beyond != nil {
			b.Beyond(e)
		}
		return
	}
	b.ScrollTo(at)
}

// Tapped implements [fyne.Tappable]: the block takes the keyboard, so that its keys scroll.
func (b *Block) Tapped(*fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(b); c != nil {
		c.Focus(b)
	}
}

// FocusGained implements [fyne.Focusable].
func (b *Block) FocusGained() {
	b.focused = true
	if b.keys != nil {
		b.keys.Focused(b, true)
	}
	b.Refresh()
}

// FocusLost implements [fyne.Focusable].
func (b *Block) FocusLost() {
	b.focused = false
	if b.keys != nil {
		b.keys.Focused(b, false)
	}
	b.Refresh()
}

// TypedRune implements [fyne.Focusable].
func (b *Block) TypedRune(rune) {}

// TypedKey implements [fyne.Focusable].
func (b *Block) TypedKey(k *fyne.KeyEvent) {
	page := max(b.visibleRows()-1, 1)
	switch k.Name {
	case fyne.KeyDown:
		b.ScrollTo(b.offset + 1)
	case fyne.KeyUp:
		b.ScrollTo(b.offset - 1)
	case fyne.KeyPageDown, fyne.KeySpace:
		b.ScrollTo(b.offset + page)
	case fyne.KeyPageUp:
		b.ScrollTo(b.offset - page)
	case fyne.KeyHome:
		b.ScrollTo(0)
	case fyne.KeyEnd:
		b.ScrollTo(len(b.rows))
	default:
		if b.keys != nil {
			b.keys.Key(k)
		}
	}
}

// HeightFor is the height that shows between the least and the most rows.
func (b *Block) HeightFor(width float32) float32 {
	b.cut(width)
	n := min(max(len(b.rows), b.more), b.most)
	return float32(n)*look.S(lineHeight) + 2*inset + parts.HeightFor(b.foot, width-2) + 2
}

// MostHeight is the height at which every row is in view.
func (b *Block) MostHeight(width float32) float32 {
	b.cut(width)
	return float32(max(len(b.rows), b.more))*look.S(lineHeight) + 2*inset + parts.HeightFor(b.foot, width-2) + 2
}

// CreateRenderer implements [fyne.Widget].
func (b *Block) CreateRenderer() fyne.WidgetRenderer {
	r := &blockRenderer{
		b:    b,
		box:  look.NewBox(look.Paper, look.Line, 6),
		ring: canvas.NewRectangle(nil),
		bar:  canvas.NewRectangle(nil),
	}
	r.bar.CornerRadius = 3
	r.wheel = &wheel{b: b}
	r.wheel.ExtendBaseWidget(r.wheel)
	return r
}

type blockRenderer struct {
	b         *Block
	box       *look.Box
	ring, bar *canvas.Rectangle
	wheel     *wheel
	objects   []fyne.CanvasObject
}

func (r *blockRenderer) Layout(size fyne.Size) {
	b := r.b
	foot := parts.HeightFor(b.foot, size.Width-2)
	b.lines = size.Height - foot - 2
	b.cut(size.Width)
	r.box.Resize(size)
	r.ring.Move(fyne.NewPos(-4, -4))
	r.ring.Resize(fyne.NewSize(size.Width+8, size.Height+8))
	r.ring.CornerRadius, r.ring.StrokeWidth = 10, 2
	r.ring.FillColor, r.ring.StrokeColor = theme.Color(look.None), theme.Color(look.Ink)
	r.ring.Hidden = !b.focused
	r.wheel.Resize(fyne.NewSize(size.Width, b.lines))
	b.foot.Move(fyne.NewPos(1, size.Height-foot-1))
	b.foot.Resize(fyne.NewSize(size.Width-2, foot))
	r.build(size)
	b.note()
}

func (r *blockRenderer) build(size fyne.Size) {
	b := r.b
	b.offset = min(b.offset, b.last())
	r.objects = append(r.objects[:0], r.ring, r.box, r.wheel)
	height := look.S(lineHeight)
	left := look.S(gutter)
	numberInk, markInk := theme.Color(look.Ink3), look.Ink3
	end := min(b.offset+b.visibleRows(), len(b.rows))
	for i := b.offset; i < end; i++ {
		row := b.rows[i]
		line := container.NewWithoutLayout()
		line.Move(fyne.NewPos(0, inset+float32(i-b.offset)*height))
		line.Resize(fyne.NewSize(size.Width, height))
		r.objects = append(r.objects, line)
		label := "↳"
		if row.number > 0 {
			label = fmt.Sprint(row.number)
		}
		n := canvas.NewText(label, numberInk)
		n.TextSize, n.TextStyle.Monospace = 12*look.Scale(), true
		m := n.MinSize()
		n.Move(fyne.NewPos(left-m.Width-10+1, (height-m.Height)/2))
		n.Resize(m)
		line.Objects = append(line.Objects, n)
		x := left + row.indent
		if row.rtl {
			x = size.Width - 16
		}
		for _, s := range row.spans {
			run := run(b.style(), look.Ink, s)
			if s.Kind == plain.Fold {
				run.Color, run.Back = markInk, look.Well
			}
			if s.Kind == plain.Mark || s.Kind == plain.Fold {
				w := b.width(s)
				if row.rtl {
					x -= w
				}
				line.Objects = append(line.Objects, look.Draw(run, s.Text, x, 0, w, height)...)
				if !row.rtl {
					x += w
				}
				continue
			}
			pieces := plain.Order(s.Text, row.rtl)
			w := float32(0)
			widths := make([]float32, len(pieces))
			for k, p := range pieces {
				widths[k] = b.style().Measure(p.Text).Width
				w += widths[k]
			}
			at := x
			if row.rtl {
				at, x = x-w, x-w
			} else {
				x += w
			}
			for k, p := range pieces {
				line.Objects = append(line.Objects, look.Draw(run, p.Text, at, 0, widths[k], height)...)
				at += widths[k]
			}
		}
	}
	r.bar.Hidden = b.last() == 0
	if !r.bar.Hidden {
		track := b.lines - 8
		h := max(track*float32(b.visibleRows())/float32(len(b.rows)), 20)
		r.bar.FillColor = theme.Color(look.Edge)
		r.bar.Move(fyne.NewPos(size.Width-10, 4+(track-h)*float32(b.offset)/float32(b.last())))
		r.bar.Resize(fyne.NewSize(6, h))
	}
	r.objects = append(r.objects, r.bar, b.foot)
}

func (r *blockRenderer) MinSize() fyne.Size {
	return fyne.NewSize(120, look.S(lineHeight)*float32(min(r.b.more, 3))+2*inset)
}
func (r *blockRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *blockRenderer) Destroy()                     {}
func (r *blockRenderer) Refresh() {
	r.Layout(r.b.Size())
	r.box.Refresh()
	r.b.foot.Refresh()
	canvas.Refresh(r.b)
}
