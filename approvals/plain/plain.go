// Package plain turns text from outside into text that can be shown: nothing
// in it is invisible, changes direction, or can be pushed out of sight. It
// also writes the same text to a terminal, to HTML and to CSV.
//
// It draws nothing and decides nothing. What it gives is for eyes only; what is
// signed or hashed is never taken from here.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says how a span came to be.
type Kind uint8

// The kinds of spans.
const (
	Plain Kind = iota // drawn as it was sent
	Mark              // stands for a hidden character, such as <U+202E>
	Fold              // stands for a long run, such as <412 spaces>
	Mixed             // a letter of another alphabet than the rest of its word
)

// Span is a piece of a line of one kind. Text holds no control, no
// direction-changing and no invisible character except joiners inside words and
// emoji that need them.
type Span struct {
	Kind Kind
	Text string
}

// Line is one line of the source, or a run of empty lines (one Fold span).
type Line struct {
	Number int // of the first source line it stands for, from 1
	Spans  []Span
}

// Warning explains one word of mixed alphabets.
type Warning struct {
	Word   string // safe to show
	Of     string // alphabet of most of its letters: "Latin", "Cyrillic", "Greek"
	With   string // alphabet of the odd letter
	Letter string
	Code   string // of the letter, "U+0456"
}

// Report counts what was marked.
type Report struct {
	Lines    int // lines of the source
	Bytes    int
	Runes    int
	Hidden   int       // characters shown as marks
	Stacked  int       // combining marks beyond the fourth on one letter
	Folded   int       // runs shown as a count
	Imitated int       // places where the text imitates a mark
	Mixed    int       // words of mixed alphabets
	Warnings []Warning // of the first mixed words, at most 8
}

// Clean says that nothing was marked but folded blanks.
func (r Report) Clean() bool {
	return r.Hidden == 0 && r.Stacked == 0 && r.Mixed == 0 && r.Imitated == 0
}

// Text is checked text.
type Text struct {
	Lines []Line
	Report
}

// Limits of what is drawn as sent.
const (
	maxBlanks  = 16 // longer runs of spaces are folded
	maxEmpty   = 2  // longer runs of empty lines are folded
	maxMarks   = 4  // combining marks on one letter
	maxWarning = 8
)

// Check checks s, of any length and any bytes.
func Check(s string) Text { return check(s, false) }

// One checks s as a single line: a line feed becomes a mark.
func One(s string) Text { return check(s, true) }

// First returns the first n characters of s, or all of it, cut where a new
// character with its marks begins.
func First(s string, n int) string {
	count := 0
	for i, r := range s {
		if count >= n && !unicode.In(r, unicode.M, unicode.Cf) {
			return s[:i]
		}
		if count >= n+2*maxMarks {
			return s[:i] // a pile of marks is cut anyway
		}
		count++
	}
	return s
}

// Folded is s with each run of line breaks as one space, for one line of a list that leads to
// where the whole stands. It checks nothing.
func Folded(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

func check(s string, one bool) Text {
	c := checker{}
	c.Bytes, c.Runes = len(s), utf8.RuneCountInString(s)
	if one {
		c.Report.Lines = 1
		c.line(s, true)
		c.Text.Lines = append(c.Text.Lines, Line{1, c.spans})
		return c.Text
	}
	number, empty := 0, 0
	flush := func() {
		if empty > maxEmpty {
			c.Text.Lines = append(c.Text.Lines, Line{number - empty + 1, []Span{{Fold, fmt.Sprintf("<%s empty lines>", thousands(empty))}}})
			c.Folded++
		} else {
			for i := empty; i > 0; i-- {
				c.Text.Lines = append(c.Text.Lines, Line{Number: number - i + 1})
			}
		}
		empty = 0
	}
	for rest, more := s, true; more; {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		if line == "" {
			number++
			empty++
			continue
		}
		flush()
		number++
		c.spans = nil
		c.line(line, false)
		c.Text.Lines = append(c.Text.Lines, Line{number, c.spans})
	}
	flush()
	c.Report.Lines = number
	return c.Text
}

type checker struct {
	Text
	spans []Span
	run   strings.Builder // plain text not yet in spans
}

func (c *checker) flush() {
	if c.run.Len() > 0 {
		c.spans = append(c.spans, Span{Plain, c.run.String()})
		c.run.Reset()
	}
}

func (c *checker) add(k Kind, text string) {
	c.flush()
	c.spans = append(c.spans, Span{k, text})
}

// line checks a text without line feeds, or with them as marks.
func (c *checker) line(s string, one bool) {
	odd := c.mixed(s)
	var (
		last  rune // last rune drawn as sent, 0 at the start and after a mark
		marks int
		// The rune before was a joiner or a selector: a second selector would be one
		// too many, and a run of them is drawn as nothing.
		joined bool
	)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			c.add(Mark, fmt.Sprintf("<0x%02X>", s[i]))
			c.Hidden++
			last, marks = 0, 0
		case r == ' ' || r == '\t':
			end, tabs := i, 0
			for end < len(s) && (s[end] == ' ' || s[end] == '\t') {
				if s[end] == '\t' {
					tabs++
				}
				end++
			}
			c.blanks(end-i, tabs, end == len(s) && !one || end-i == len(s))
			n = end - i
			last, marks = ' ', 0
		case r == '\n' && !one:
			panic("plain: line feed inside a line")
		case !(joined && r == 0xfe0f) && joins(r, last, s[i+n:]):
			c.run.WriteRune(r)
			i += n
			joined = true
			continue
		case hidden(r):
			c.add(Mark, fmt.Sprintf("<U+%04X>", r))
			c.Hidden++
			last, marks = 0, 0
		case unicode.In(r, unicode.Mn, unicode.Me):
			if last == 0 || last == ' ' {
				c.add(Mark, fmt.Sprintf("<U+%04X>", r)) // nothing to stand on
				c.Hidden++
				last = 0
				break
			}
			marks++
			if marks <= maxMarks {
				c.run.WriteRune(r)
				break
			}
			more := 1
			for i+n < len(s) {
				next, size := utf8.DecodeRuneInString(s[i+n:])
				if !unicode.In(next, unicode.Mn, unicode.Me) || hidden(next) {
					break
				}
				more++
				n += size
			}
			c.add(Mark, fmt.Sprintf("<+%s marks>", thousands(more)))
			c.Stacked += more
			last, marks = 0, 0
		case r == '<' && imitates(s[i:]):
			c.add(Mark, "<U+003C>")
			c.Imitated++
			last, marks = 0, 0
		case odd[i]:
			text := s[i : i+n]
			for j, k := i+n, 0; j < len(s) && k < maxMarks; k++ { // its marks stay with it
				next, size := utf8.DecodeRuneInString(s[j:])
				if !unicode.In(next, unicode.Mn) || hidden(next) {
					break
				}
				text += s[j : j+size]
				j += size
				n += size
				marks = k + 1
			}
			c.add(Mixed, text)
			last = r
			if utf8.RuneCountInString(text) == 1 {
				marks = 0
			}
		default:
			c.run.WriteRune(r)
			last, marks = r, 0
		}
		joined = false
		i += n
	}
	c.flush()
}

// blanks writes n spaces of which some are tabs. Blanks that would be invisible,
// because nothing follows, are written as a count too.
func (c *checker) blanks(n, tabs int, end bool) {
	if n <= maxBlanks && !end {
		if tabs == 0 {
			c.run.WriteString(strings.Repeat(" ", n))
			return
		}
		if n == 1 {
			c.run.WriteString("    ")
			return
		}
	}
	unit := "space"
	switch {
	case tabs == n:
		unit = "tab"
	case tabs > 0:
		unit = "blank"
	}
	if n > 1 {
		unit += "s"
	}
	c.add(Fold, fmt.Sprintf("<%s %s>", thousands(n), unit))
	if n > 1 {
		c.Folded++
	}
}

// hidden says whether r cannot be seen, or changes how its neighbours are seen.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r < 0x7f:
		return r < ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Z):
		return true
	case !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S):
		return true // not assigned
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return r == 0x2800 || r == 0x16FE4 || r == 0x1D159 || r == 0x1D455 ||
		unicode.In(r, blankLetters)
}

// blankLetters are assigned, visible by category, and drawn as nothing.
var blankLetters = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
}

// joining are the scripts in which a joiner between letters is spelling.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan, unicode.Balinese, unicode.Javanese,
}

// joins says whether r is a joiner or an emoji selector at a place where it is spelling.
func joins(r, last rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case 0x200c, 0x200d:
		if r == 0x200d && pictorial(last) && pictorial(next) {
			return true
		}
		return unicode.In(last, joining...) && unicode.In(next, joining...) && unicode.IsLetter(next)
	case 0xfe0f:
		return pictorial(last)
	}
	return false
}

func pictorial(r rune) bool {
	if r == 0xfffc || r == utf8.RuneError {
		return false
	}
	return r >= 0x203c && unicode.In(r, unicode.So, unicode.Sk) || r >= 0x1f3fb && r <= 0x1f3ff || r == 0x2640 || r == 0x2642
}

// imitates says whether s begins like a mark of this package.
func imitates(s string) bool {
	end := strings.IndexByte(s, '>')
	if end < 0 || end > 40 {
		return false
	}
	in := s[1:end]
	for _, prefix := range []string{"U+", "0x"} {
		if hex, ok := strings.CutPrefix(in, prefix); ok && hex != "" && strings.Trim(hex, "0123456789ABCDEFabcdef") == "" {
			return true
		}
	}
	in = strings.TrimPrefix(in, "+")
	word := strings.TrimLeft(in, "0123456789,")
	if word == in {
		return false
	}
	switch word {
	case " marks", " space", " spaces", " tab", " tabs", " blank", " blanks", " empty lines":
		return true
	}
	return false
}

type alphabet struct {
	name  string
	table *unicode.RangeTable
}

var alphabets = [...]alphabet{{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}}

func alphabetOf(r rune) int {
	if r < 0x80 {
		return 0
	}
	for i, a := range alphabets {
		if unicode.Is(a.table, r) {
			return i
		}
	}
	return -1
}

// mixed returns the places of the odd letters of words of mixed alphabets.
// Hidden characters do not end a word.
func (c *checker) mixed(s string) map[int]bool {
	var odd map[int]bool
	start := -1
	var count [len(alphabets)]int
	end := func(at int) {
		if start < 0 {
			return
		}
		most, kinds := 0, 0
		for i, n := range count {
			if n > 0 {
				kinds++
			}
			if n > count[most] {
				most = i
			}
		}
		if kinds > 1 {
			c.Mixed++
			if odd == nil {
				odd = map[int]bool{}
			}
			first := true
			for i, r := range s[start:at] {
				a := alphabetOf(r)
				if !unicode.IsLetter(r) || a < 0 || a == most {
					continue
				}
				odd[start+i] = true
				if first && len(c.Warnings) < maxWarning {
					c.Warnings = append(c.Warnings, Warning{shortWord(s[start:at]), alphabets[most].name, alphabets[a].name, string(r), fmt.Sprintf("U+%04X", r)})
				}
				first = false
			}
		}
		start, count = -1, [len(alphabets)]int{}
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) && !hidden(r):
			if start < 0 {
				start = i
			}
			if a := alphabetOf(r); a >= 0 {
				count[a]++
			}
		case start >= 0 && (unicode.IsMark(r) || unicode.IsDigit(r) || hidden(r) && r != '\n' && !unicode.Is(unicode.Z, r)):
		default:
			end(i)
		}
	}
	end(len(s))
	return odd
}

// shortWord returns the visible part of a word, at most 40 letters of it.
func shortWord(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if hidden(r) || unicode.IsMark(r) {
			continue
		}
		if n == 40 {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// thousands writes n with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
