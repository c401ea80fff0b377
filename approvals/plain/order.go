package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Piece is a run of text of one direction.
type Piece struct {
	Text string
	RTL  bool
}

// RightToLeft says whether s is to be read from the right: its first letter with
// a direction has that one (UAX #9, rules P2 and P3).
func RightToLeft(s string) bool {
	for _, r := range s {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.L:
			return false
		case bidi.R, bidi.AL:
			return true
		}
	}
	return false
}

// Order splits checked text, which has no direction controls, into pieces in
// the order in which they stand on the line from left to right (UAX #9, rule L2).
// The letters inside a piece stay in reading order.
func Order(s string, rtl bool) []Piece {
	if !rtl && !hasRTL(s) {
		return []Piece{{Text: s}}
	}
	first := "\u200e" // the package takes the direction from the first letter: this one gives it
	if rtl {
		first = "\u200f"
	}
	var p bidi.Paragraph
	if _, err := p.SetString(first + s); err != nil {
		return []Piece{{Text: s, RTL: rtl}}
	}
	o, err := p.Order()
	if err != nil {
		return []Piece{{Text: s, RTL: rtl}}
	}
	type level struct {
		Piece
		level int
	}
	runs := make([]level, 0, o.NumRuns())
	for i := range o.NumRuns() {
		run := o.Run(i)
		l := level{Piece: Piece{Text: run.String(), RTL: run.Direction() == bidi.RightToLeft}}
		if i == 0 {
			l.Text = strings.TrimPrefix(l.Text, first)
		}
		switch {
		case l.RTL:
			l.level = 1
		case rtl, numbersOnly(l.Text) && i > 0 && runs[i-1].RTL:
			l.level = 2
		}
		if l.level == 2 && !rtl { // what follows the number belongs to the line again
			if end := strings.LastIndexFunc(l.Text, unicode.IsDigit) + 1; end > 0 && end < len(l.Text) {
				runs = append(runs, level{Piece{Text: l.Text[:end]}, 2})
				l = level{Piece{Text: l.Text[end:]}, 0}
			}
		}
		runs = append(runs, l)
	}
	for at := 2; at >= 1; at-- {
		for i := 0; i < len(runs); {
			if runs[i].level < at {
				i++
				continue
			}
			j := i
			for j < len(runs) && runs[j].level >= at {
				j++
			}
			for a, b := i, j-1; a < b; a, b = a+1, b-1 {
				runs[a], runs[b] = runs[b], runs[a]
			}
			i = j
		}
	}
	out := make([]Piece, 0, len(runs))
	for _, r := range runs {
		switch {
		case r.Text == "":
		case r.RTL:
			out = append(out, split(r.Text)...)
		default:
			out = append(out, r.Piece)
		}
	}
	return out
}

// split takes the marks at the ends of text that is read from the right off it: a painter that takes the
// line to run from the left would put them on the wrong side. They stand in the order of the line and
// are mirrored.
func split(s string) []Piece {
	strong := func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.NSM
	}
	from := strings.IndexFunc(s, strong)
	if from < 0 {
		return []Piece{{Text: s, RTL: true}}
	}
	to := strings.LastIndexFunc(s, strong)
	_, n := utf8.DecodeRuneInString(s[to:])
	to += n
	var out []Piece
	for _, part := range []string{s[to:], s[from:to], s[:from]} {
		switch {
		case part == "":
		case part == s[from:to]:
			out = append(out, Piece{Text: part, RTL: true})
		default:
			out = append(out, Piece{Text: bidi.ReverseString(part)})
		}
	}
	return out
}

func hasRTL(s string) bool {
	for _, r := range s {
		if r >= 0x590 {
			p, _ := bidi.LookupRune(r)
			switch p.Class() {
			case bidi.R, bidi.AL, bidi.AN:
				return true
			}
		}
	}
	return false
}

// numbersOnly says that no letter gives s a direction of its own.
func numbersOnly(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) {
			return false
		}
	}
	return true
}
