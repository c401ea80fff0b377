package look

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"vault/approvals/plain"
)

// Run is a piece of a paragraph in one style and colour. A line feed in our own
// words ends the line.
type Run struct {
	Text  string
	Style Style
	Color fyne.ThemeColorName
	Back  fyne.ThemeColorName // fill behind it, or ""
	Under fyne.ThemeColorName // line of two pixels below it, or ""
	// Outside marks checked text from outside: each line of it is put in order by itself.
	Outside bool
}

// Paragraph is text cut into lines by word, or inside a word that is wider than
// the line, and placed by line boxes. It never leaves anything out.
type Paragraph struct {
	widget.BaseWidget
	Align fyne.TextAlign

	runs    []Run
	oneLine bool
	width   float32 // of the last layout
	forW    float32
	forS    float32
	placed  []placed
	height  float32
}

// Text makes a paragraph of our own words that takes the width it is given.
func Text(s Style, c fyne.ThemeColorName, text string) *Paragraph {
	return Para(Run{Text: text, Style: s, Color: c})
}

// Word makes a single line of our own words, as wide as they are.
func Word(s Style, c fyne.ThemeColorName, text string) *Paragraph {
	p := Text(s, c, text)
	p.oneLine = true
	return p
}

// Para makes a paragraph of several runs.
func Para(runs ...Run) *Paragraph {
	p := &Paragraph{runs: runs}
	p.ExtendBaseWidget(p)
	return p
}

// OneLine makes the paragraph as wide as its text.
func (p *Paragraph) OneLine() *Paragraph {
	p.oneLine = true
	return p
}

// Set replaces the text and draws it anew.
func (p *Paragraph) Set(runs ...Run) {
	p.runs, p.forW = runs, 0
	p.Refresh()
}

// String returns the text of all runs.
func (p *Paragraph) String() string {
	var b strings.Builder
	for _, r := range p.runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

// NaturalWidth is the width that needs no cutting.
func (p *Paragraph) NaturalWidth() float32 {
	w, most := float32(0), float32(0)
	for _, r := range p.runs {
		for i, line := range strings.Split(r.Text, "\n") {
			if i > 0 {
				w = 0
			}
			w += r.width(line)
			most = max(most, w)
		}
	}
	return float32(int(most) + 1)
}

// HeightFor is the height at a width.
func (p *Paragraph) HeightFor(width float32) float32 {
	p.cut(width)
	return p.height
}

// TextLines gives the place of the first line in the paragraph, the height of a line and
// their number, as it was laid out last.
func (p *Paragraph) TextLines() (y, height float32, n int) {
	for _, r := range p.runs {
		height = max(height, S(r.Style.Line))
	}
	if height == 0 {
		return 0, 0, 0
	}
	return 0, height, int(p.height/height + 0.5)
}

const backPad = 3 // beside a run with a fill

func (r Run) width(text string) float32 {
	if text == "" {
		return 0
	}
	w := r.Style.Measure(text).Width
	if r.Back != "" {
		w += 2 * backPad
	}
	return w
}

type placed struct {
	run     int
	text    string
	x, y, w float32
	line    int
}

type segment struct {
	run   int
	text  string
	w     float32
	blank bool
}

func (p *Paragraph) cut(width float32) {
	scale := Scale()
	if p.oneLine {
		width = 1 << 20
	}
	if p.forW == width && p.forS == scale {
		return
	}
	p.forW, p.forS = width, scale
	p.placed = nil
	lineHeight := float32(0)
	for _, r := range p.runs {
		lineHeight = max(lineHeight, r.Style.Line*scale)
	}
	var (
		x     float32
		line  int
		gap   []segment // blanks that stand only between words of one line
		group []segment
	)
	put := func(s segment) {
		if n := len(p.placed); n > 0 {
			last := &p.placed[n-1]
			if last.run == s.run && last.line == line {
				last.text += s.text
				last.w += s.w
				x += s.w
				return
			}
		}
		p.placed = append(p.placed, placed{s.run, s.text, x, 0, s.w, line})
		x += s.w
	}
	newline := func() { line++; x = 0; gap = nil }
	flush := func() {
		if len(group) == 0 {
			return
		}
		w := float32(0)
		for _, s := range group {
			w += s.w
		}
		gw := float32(0)
		for _, s := range gap {
			gw += s.w
		}
		if x > 0 && x+gw+w > width+0.5 {
			newline()
		}
		for _, s := range gap {
			put(s)
		}
		gap = nil
		for _, s := range group {
			for x+s.w > width+0.5 {
				head := p.fit(s, width-x)
				if head == 0 {
					if x == 0 {
						_, head = utf8.DecodeRuneInString(s.text)
					} else {
						newline()
						continue
					}
				}
				if head >= len(s.text) {
					break
				}
				r := p.runs[s.run]
				put(segment{run: s.run, text: s.text[:head], w: r.width(s.text[:head])})
				newline()
				s.text = s.text[head:]
				s.w = r.width(s.text)
			}
			put(s)
		}
		group = nil
	}
	for i, r := range p.runs {
		for rest := r.Text; rest != ""; {
			switch rest[0] {
			case '\n':
				flush()
				newline()
				rest = rest[1:]
			case ' ':
				n := len(rest) - len(strings.TrimLeft(rest, " "))
				flush()
				gap = append(gap, segment{i, rest[:n], r.width(rest[:n]), true})
				rest = rest[n:]
			default:
				n := strings.IndexAny(rest, " \n")
				if n < 0 || r.Back != "" {
					n = len(rest)
				}
				group = append(group, segment{i, rest[:n], r.width(rest[:n]), false})
				rest = rest[n:]
			}
		}
	}
	flush()
	p.order()
	p.height = float32(line+1) * lineHeight
	p.align(width, lineHeight)
}

// fit returns how many bytes of the segment fit into w, cut between characters.
func (p *Paragraph) fit(s segment, w float32) int {
	r := p.runs[s.run]
	lo, hi := 0, len(s.text)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		for mid < len(s.text) && !utf8.RuneStart(s.text[mid]) {
			mid++
		}
		if mid > hi {
			break
		}
		if r.width(s.text[:mid]) <= w {
			lo = mid
		} else {
			hi = mid - 1
			for hi > 0 && !utf8.RuneStart(s.text[hi]) {
				hi--
			}
		}
	}
	return lo
}

// order puts the runs from outside of each line into their visual order.
func (p *Paragraph) order() {
	var out []placed
	for _, c := range p.placed {
		r := p.runs[c.run]
		if !r.Outside {
			out = append(out, c)
			continue
		}
		x := c.x
		for _, piece := range plain.Order(c.text, plain.RightToLeft(r.Text)) {
			w := r.width(piece.Text)
			out = append(out, placed{c.run, piece.Text, x, 0, w, c.line})
			x += w
		}
	}
	p.placed = out
}

func (p *Paragraph) align(width, lineHeight float32) {
	for i := range p.placed {
		p.placed[i].y = float32(p.placed[i].line) * lineHeight
	}
	if p.Align == fyne.TextAlignLeading || p.oneLine {
		return
	}
	end := map[int]float32{}
	for _, c := range p.placed {
		end[c.line] = max(end[c.line], c.x+c.w)
	}
	for i := range p.placed {
		free := width - end[p.placed[i].line]
		if p.Align == fyne.TextAlignCenter {
			free /= 2
		}
		p.placed[i].x += float32(int(free))
	}
}

// CreateRenderer implements [fyne.Widget].
func (p *Paragraph) CreateRenderer() fyne.WidgetRenderer {
	r := &paragraphRenderer{p: p}
	r.build()
	return r
}

type paragraphRenderer struct {
	p       *Paragraph
	objects []fyne.CanvasObject
}

func (r *paragraphRenderer) build() {
	p := r.p
	w := p.width
	if w == 0 {
		w = 400
	}
	p.cut(w)
	r.objects = r.objects[:0]
	lineHeight := float32(0)
	for _, run := range p.runs {
		lineHeight = max(lineHeight, S(run.Style.Line))
	}
	for _, c := range p.placed {
		run := p.runs[c.run]
		r.objects = append(r.objects, Draw(run, c.text, c.x, c.y, c.w, lineHeight)...)
	}
}

// Draw makes the objects of one run on one line: fill, text, line below.
func Draw(run Run, text string, x, y, w, line float32) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	t := canvas.NewText(text, theme.Color(run.Color))
	t.TextSize, t.TextStyle, t.FontSource = run.Style.Size*Scale(), run.Style.text(), run.Style.source()
	size := t.MinSize()
	if run.Back != "" {
		back := canvas.NewRectangle(theme.Color(run.Back))
		back.CornerRadius = 3
		back.Move(fyne.NewPos(x, y+1))
		back.Resize(fyne.NewSize(w, line-2))
		out = append(out, back)
		x += backPad
	}
	t.Move(fyne.NewPos(x, y+(line-size.Height)/2))
	t.Resize(size)
	out = append(out, t)
	if run.Under != "" {
		under := canvas.NewRectangle(theme.Color(run.Under))
		under.Move(fyne.NewPos(x, y+line-3))
		under.Resize(fyne.NewSize(size.Width, 2))
		out = append(out, under)
	}
	return out
}

func (r *paragraphRenderer) Layout(size fyne.Size) {
	if size.Width == r.p.width && r.p.forS == Scale() {
		return
	}
	r.p.width = size.Width
	r.build()
}

func (r *paragraphRenderer) MinSize() fyne.Size {
	if r.p.oneLine {
		return fyne.NewSize(r.p.NaturalWidth(), r.p.HeightFor(0))
	}
	w := r.p.width
	if w == 0 {
		w = 400
	}
	return fyne.NewSize(40, r.p.HeightFor(w))
}

func (r *paragraphRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *paragraphRenderer) Destroy()                     {}

func (r *paragraphRenderer) Refresh() {
	r.build()
	canvas.Refresh(r.p)
}
