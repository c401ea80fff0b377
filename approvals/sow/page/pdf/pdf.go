// Package pdf writes the page of an Agent SoW document, or a comparison, as a
// PDF file with embedded fonts. Identifier, version and digest stand on every
// page. It holds no clock: the same page gives the same bytes.
//
// What the embedded faces have no letter for stands as its code, <U+4E2D>, and
// the last page says so; the HTML file of the same page shows such text as it
// was written.
package pdf

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/signintech/gopdf"
	"golang.org/x/image/font/sfnt"

	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/approvals/sow/units"
	"vault/assets"
)

// The measures of a page, in points: A4 with its margins.
const (
	left, right, top, bottom = 44.0, 551.0, 48.0, 770.0
	line                     = 13.5
)

type face struct {
	family string
	font   *sfnt.Font
}

type style struct {
	face  string
	size  float64
	color [3]uint8
}

var (
	ink      = [3]uint8{0x15, 0x20, 0x1d}
	ink2     = [3]uint8{0x44, 0x50, 0x4b}
	ink3     = [3]uint8{0x5f, 0x6a, 0x65}
	warn     = [3]uint8{0x8a, 0x4b, 0x00}
	danger   = [3]uint8{0xa2, 0x26, 0x1e}
	hair     = [3]uint8{0xcf, 0xd4, 0xcf}
	grades   = map[string][3]uint8{sow.Enforced: {0x11, 0x69, 0x4a}, sow.Evidence: {0x2a, 0x56, 0x99}, sow.Recorded: {0x67, 0x5f, 0x53}}
	body     = style{"sans", 9.5, ink}
	strong   = style{"bold", 9.5, ink}
	quiet    = style{"sans", 9.5, ink2}
	caption  = style{"sans", 8, ink3}
	errWrite = errors.New("write the PDF file")
)

// run is a piece of text in one style.
type run struct {
	text  string
	style style
}

// cell is a column of lines.
type cell struct {
	x, width float64
	lines    [][]run
}

// file is a PDF that is being written.
type file struct {
	pdf   *gopdf.GoPdf
	faces map[string]face
	buf   sfnt.Buffer
	y     float64
	foot  []run
	codes int // characters that stand as their code
	pages [][]string
	err   error
}

func newFile(title string, id []page.Span, version int64, digest string) (*file, error) {
	f := &file{pdf: &gopdf.GoPdf{}, faces: map[string]face{}}
	f.pdf.Start(gopdf.Config{PageSize: *gopdf.PageSizeA4})
	f.pdf.SetInfo(gopdf.PdfInfo{Title: title, Producer: "Vault"})
	for _, x := range []struct{ family, name string }{{"sans", assets.PrintRegular}, {"bold", assets.PrintSemiBold}, {"mono", assets.PrintMono}} {
		data, err := assets.PrintFont(x.name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errWrite, err)
		}
		font, err := sfnt.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errWrite, err)
		}
		if err := f.pdf.AddTTFFontData(x.family, data); err != nil {
			return nil, fmt.Errorf("%w: %w", errWrite, err)
		}
		f.faces[x.family] = face{x.family, font}
	}
	f.foot = append(f.spans(caption, id), run{", version " + units.Number(version) + " · sha256 " + digest, caption})
	f.newPage()
	return f, nil
}

// newPage begins a page and writes what stands on each.
func (f *file) newPage() {
	f.pdf.AddPage()
	f.pages = append(f.pages, nil)
	y := bottom + 16
	f.rule(bottom + 10)
	for _, l := range f.wrap(f.foot, right-left-50) {
		f.put(left, y, l)
		y += 10
	}
	f.put(right-40, bottom+16, []run{{fmt.Sprintf("page %d", len(f.pages)), caption}})
	f.y = top
}

func (f *file) rule(y float64) {
	f.pdf.SetStrokeColor(hair[0], hair[1], hair[2])
	f.pdf.SetLineWidth(0.6)
	f.pdf.Line(left, y, right, y)
}

// letters replaces what a face has no letter for by its code.
func (f *file) letters(family, s string) string {
	fc := f.faces[family]
	var b strings.Builder
	for _, r := range s {
		if r == '\n' {
			b.WriteRune(r)
			continue
		}
		if i, err := fc.font.GlyphIndex(&f.buf, r); err != nil || i == 0 {
			fmt.Fprintf(&b, "<U+%04X>", r)
			f.codes++
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// spans are the runs of a piece of the page; text from outside is made plain.
func (f *file) spans(base style, list []page.Span) (out []run) {
	for _, s := range list {
		st, text := base, s.Text
		if s.Code {
			st.face, st.size = "mono", base.size-1
		}
		if s.Outside {
			text = plain.TerminalLine(text)
		}
		out = append(out, run{f.letters(st.face, text), st})
	}
	return out
}

func (f *file) own(st style, text string) []run { return []run{{f.letters(st.face, text), st}} }

func (f *file) width(st style, s string) float64 {
	if s == "" {
		return 0
	}
	f.fail(f.pdf.SetFont(st.face, "", st.size))
	w, err := f.pdf.MeasureTextWidth(s)
	f.fail(err)
	return w
}

func (f *file) fail(err error) {
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%w: %w", errWrite, err)
	}
}

// wrap cuts runs into lines: at spaces, and inside a word that is wider than
// a line.
func (f *file) wrap(runs []run, width float64) (out [][]run) {
	var now []run
	x := 0.0
	flush := func() { out, now, x = append(out, now), nil, 0 }
	for _, r := range runs {
		for i, l := range strings.Split(r.text, "\n") {
			if i > 0 {
				flush()
			}
			for l != "" {
				word := l
				if k := strings.IndexByte(l, ' '); k >= 0 {
					word = l[:k+1]
				}
				w := f.width(r.style, word)
				if x+f.width(r.style, strings.TrimRight(word, " ")) > width {
					if x > 0 {
						flush()
					}
					if w > width+f.width(r.style, " ") { // longer than a line
						n := f.fit(r.style, word, width)
						now = append(now, run{word[:n], r.style})
						l = l[n:]
						flush()
						continue
					}
				}
				if n := len(now); n > 0 && now[n-1].style == r.style {
					now[n-1].text += word
				} else {
					now = append(now, run{word, r.style})
				}
				x += w
				l = l[len(word):]
			}
		}
	}
	if len(now) > 0 || len(out) == 0 {
		flush()
	}
	return out
}

// fit is how many bytes of a word fit into a width, at least one letter.
func (f *file) fit(st style, word string, width float64) int {
	lo, hi := 0, len(word)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		for mid < len(word) && !utf8.RuneStart(word[mid]) {
			mid++
		}
		if mid > hi {
			break
		}
		if f.width(st, word[:mid]) <= width {
			lo = mid
		} else {
			hi = mid - 1
			for hi > 0 && hi < len(word) && !utf8.RuneStart(word[hi]) {
				hi--
			}
		}
	}
	if lo == 0 {
		_, lo = utf8.DecodeRuneInString(word)
	}
	return lo
}

// put writes one line.
func (f *file) put(x, y float64, l []run) {
	for _, r := range l {
		if r.text == "" {
			continue
		}
		f.fail(f.pdf.SetFont(r.style.face, "", r.style.size))
		f.pdf.SetTextColor(r.style.color[0], r.style.color[1], r.style.color[2])
		f.pdf.SetXY(x, y)
		f.fail(f.pdf.Text(r.text))
		n := len(f.pages) - 1
		f.pages[n] = append(f.pages[n], r.text)
		x += f.width(r.style, r.text)
	}
}

// block writes cells side by side; only whole lines move to the next page.
func (f *file) block(cells ...cell) {
	n := 0
	for _, c := range cells {
		n = max(n, len(c.lines))
	}
	for i := range n {
		if f.y+line > bottom {
			f.newPage()
		}
		for _, c := range cells {
			if i < len(c.lines) {
				f.put(c.x, f.y+10, c.lines[i])
			}
		}
		f.y += line
	}
}

func (f *file) cell(x, to float64, runs []run) cell { return cell{x, to - x, f.wrap(runs, to-x)} }

func (f *file) text(runs []run) { f.block(f.cell(left, right, runs)) }

// room begins a page where less than h is left of this one.
func (f *file) room(h float64) {
	if f.y+h > bottom {
		f.newPage()
	}
}

func (f *file) grade(g *page.Grade) []run {
	switch {
	case g == nil:
		return nil
	case !g.Known:
		return append(f.spans(style{"mono", 8, warn}, []page.Span{{Text: g.Stated, Outside: true}}), run{" is no grade", style{"sans", 8, warn}})
	}
	st := style{"sans", 9, grades[g.Shown()]}
	out := []run{{page.Shape(g.Shown()) + " " + page.Word(g.Shown()), st}}
	if g.Implied {
		out = append(out, run{"\nnot stated", caption})
	}
	if g.Differs() {
		out = append(out, run{"\nearned: " + page.Word(g.Earned), style{"sans", 8, warn}})
	}
	return out
}

// end writes the last lines and gives the file.
func (f *file) end() ([]byte, error) {
	f.room(4 * line)
	f.y += 8
	f.rule(f.y)
	f.y += 4
	f.text(f.own(caption, page.LegalStatus()))
	if f.codes > 0 {
		f.text(f.own(caption, "Characters these faces have no letter for stand as their codes. The HTML file of this page shows them as they were written."))
	}
	if f.err != nil {
		return nil, f.err
	}
	b, err := f.pdf.GetBytesPdfReturnErr()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWrite, err)
	}
	return b, nil
}

// Page writes the page of a document. The only errors are those of the writer.
func Page(p *page.Page) ([]byte, error) {
	f, err := newFile("Agent SoW document", p.ID, p.Version, p.Digest)
	if err != nil {
		return nil, err
	}
	f.page(p)
	return f.end()
}

func (f *file) page(p *page.Page) {
	f.text(f.own(style{"bold", 15, ink}, p.Title))
	f.y += 6
	f.text(f.own(quiet, strings.Join(p.Status, " ")))
	f.y += 8
	mid := (left + right) / 2
	var cells []cell
	for i, part := range p.Parties {
		x := []float64{left, mid + 8}[i]
		runs := f.own(caption, part.Heading()+"\n")
		if part.Blank {
			runs = append(runs, f.own(strong, "The seat is open")...)
		} else {
			runs = append(runs, f.spans(strong, part.Owner)...)
		}
		if part.Ours {
			runs = append(runs, f.own(caption, "  "+part.Seat)...)
		}
		for _, s := range [][]page.Span{part.Handle, part.Org, part.Agent} {
			if len(s) > 0 {
				runs = append(append(runs, run{"\n", quiet}), f.spans(quiet, s)...)
			}
		}
		if part.Key != "" {
			runs = append(runs, run{"\n" + part.Key, style{"mono", 7.5, ink}})
		}
		st := caption
		if part.Warn {
			st.color = warn
		}
		runs = append(runs, f.own(st, "\n"+part.Known)...)
		if part.Person != "" {
			runs = append(runs, f.own(caption, "\n"+part.Person)...)
		}
		cells = append(cells, f.cell(x, x+mid-left-8, runs))
	}
	f.block(cells...)
	f.y += 10
	f.bar(p.Bar)
	f.y += 10
	w := (right - left) / 3
	cells = nil
	for i, fig := range p.Figures {
		more := quiet
		if fig.Warn {
			more.color = warn
		}
		x := left + float64(i)*w
		runs := append(f.own(caption, fig.Caption+"\n"), f.spans(style{"bold", 13, ink}, fig.Value)...)
		cells = append(cells, f.cell(x, x+w-12, append(append(runs, run{"\n", quiet}), f.spans(more, fig.More)...)))
	}
	f.block(cells...)
	f.y += 8
	for _, n := range p.Notices {
		st := strong
		st.color = [][3]uint8{ink, warn, danger}[n.Tone]
		f.room(2 * line)
		f.text(f.spans(st, n.What))
		f.text(f.spans(caption, n.More))
		f.y += 3
	}
	for _, c := range p.Clauses {
		f.clause(c)
	}
	if len(p.Records) > 0 {
		f.title("Signature records", nil)
		f.text(f.own(caption, "Claims beside the document: the signature covers neither role nor time."))
		for _, r := range p.Records {
			f.block(f.cell(left, left+110, f.spans(body, r.Role)), f.cell(left+116, right, append(append(f.spans(body, r.Key), append([]run{{"\n", body}}, f.spans(body, r.SignedAt)...)...), f.own(caption, "\n"+r.Words)...)))
		}
	}
	if p.Language.Text != "" {
		f.title("Contract language, as it was brought", nil)
		for l := range strings.SplitSeq(p.Language.Text, "\n") {
			f.text(f.spans(body, []page.Span{{Text: l, Outside: true}}))
		}
	}
}

// bar draws one cell a clause: full, half, empty.
func (f *file) bar(b page.Bar) {
	n := b.Enforced + b.Evidence + b.Recorded
	f.room(40)
	if n > 0 {
		w := (right - left - 3*float64(n-1)) / float64(n)
		x := left
		for i := range n {
			g, part := sow.Enforced, 1.0
			switch {
			case i >= b.Enforced+b.Evidence:
				g, part = sow.Recorded, 0
			case i >= b.Enforced:
				g, part = sow.Evidence, 0.5
			}
			c := grades[g]
			f.pdf.SetStrokeColor(c[0], c[1], c[2])
			f.pdf.SetFillColor(c[0], c[1], c[2])
			f.pdf.SetLineWidth(0.8)
			if part > 0 {
				f.pdf.RectFromUpperLeftWithStyle(x, f.y+10*(1-part), w, 10*part, "F")
			}
			f.pdf.RectFromUpperLeftWithStyle(x, f.y, w, 10, "D")
			x += w + 3
		}
		f.y += 14
	}
	var cells []cell
	w := (right - left) / 3
	for i, x := range b.Holdings() {
		at := left + float64(i)*w
		cells = append(cells, f.cell(at, at+w-6, []run{{fmt.Sprintf("%s %d %s  ", page.Shape(x.Grade), x.Clauses, x.Grade), style{"sans", 9, grades[x.Grade]}}, {x.Means, caption}}))
	}
	f.block(cells...)
	if b.Differs {
		f.text(f.own(caption, fmt.Sprintf("Earned by the deployment: %d enforced, %d evidence, %d recorded", b.EarnedEnforced, b.EarnedEvidence, b.EarnedRecorded)))
	}
}

// title begins a clause and leaves its first lines with it.
func (f *file) title(s string, g *page.Grade) {
	f.y += 6
	f.room(4 * line)
	f.rule(f.y)
	f.y += 4
	f.block(f.cell(left, right-90, f.own(strong, s)), f.cell(right-80, right, f.grade(g)))
}

func (f *file) clause(c page.Clause) {
	f.title(c.Title, c.Grade)
	for _, r := range c.Rows {
		st := body
		switch r.Kind {
		case page.Remark:
			st = quiet
		case page.Nothing:
			st.color = ink3
		}
		more := quiet
		if r.Warn {
			more.color = warn
		}
		value := f.spans(st, r.Value)
		if len(r.More) > 0 {
			sep := "  "
			switch r.Kind {
			case page.Amount:
				sep = " "
			case page.Access:
				sep = ", "
			}
			value = append(append(value, run{sep, more}), f.spans(more, r.More)...)
		}
		if len(r.Says) > 0 {
			value = append(append(value, run{"\n", body}), f.spans(body, r.Says)...)
		}
		if len(r.Name) == 0 {
			if r.Warn {
				for i := range value {
					value[i].style.color = warn
				}
			}
			f.block(f.cell(left, right-90, value), f.cell(right-80, right, f.grade(r.Grade)))
			continue
		}
		f.block(f.cell(left, left+138, f.spans(body, r.Name)), f.cell(left+146, right-90, value), f.cell(right-80, right, f.grade(r.Grade)))
	}
}

// Comparison writes a comparison, as [Page] does.
func Comparison(c *page.Comparison) ([]byte, error) {
	f, err := newFile("Agent SoW comparison", c.ID, c.Proposed, c.Digest)
	if err != nil {
		return nil, err
	}
	f.text(f.own(style{"bold", 15, ink}, c.Head()))
	f.y += 6
	f.text(f.own(caption, fmt.Sprintf("version %s, sha256 %s\nversion %s, sha256 %s", units.Number(c.InForce), c.InForceDigest, units.Number(c.Proposed), c.Digest)))
	for _, g := range c.Groups {
		f.title(g.Title, nil)
		a, b, d, e := left+120, left+265, left+375, right-68
		f.block(f.cell(a, b-8, f.own(caption, "Version "+units.Number(c.InForce)+", in force")), f.cell(b, d-8, f.own(caption, "Version "+units.Number(c.Proposed)+", proposed")), f.cell(d, e-6, f.own(caption, "For you")))
		for _, l := range g.Lines {
			eff := quiet
			if l.Warn {
				eff.color = warn
			}
			f.block(f.cell(left, a-8, append(f.own(caption, l.Sign.Word()+" "), f.spans(body, l.Name)...)), f.cell(a, b-8, f.spans(quiet, l.Old)), f.cell(b, d-8, f.spans(strong, l.New)),
				f.cell(d, e-6, f.own(eff, l.Effect)), f.cell(e, right, f.grade(l.Grade)))
			f.y += 3
		}
	}
	f.y += 8
	for _, s := range c.Consequences {
		f.text(f.own(quiet, s))
	}
	return f.end()
}
