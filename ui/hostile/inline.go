// Package hostile is the one way in which text from outside reaches the window:
// checked by approvals/plain, cut into lines by ourselves, each field in a
// direction of its own. Block shows long text of many lines and lays out no
// more of it than can be seen; Inline shows a value inside a sentence.
package hostile

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals/plain"
	"vault/ui/look"
)

// InlineMost is the number of characters that Inline shows. Longer values
// belong into a Block where every character must be seen.
const InlineMost = 600

// Runs makes the runs of one checked line, for a paragraph that mixes it with
// words of ours.
func Runs(style look.Style, ink fyne.ThemeColorName, text string) []look.Run {
	short := plain.First(text, InlineMost)
	t := plain.One(short)
	var out []look.Run
	for _, s := range t.Lines[0].Spans {
		out = append(out, run(style, ink, s))
	}
	if rest := len([]rune(text)) - len([]rune(short)); rest > 0 {
		out = append(out, run(style, ink, plain.Span{Kind: plain.Fold, Text: fmt.Sprintf("<%d more characters>", rest)}))
	}
	return out
}

// Lines makes the runs of a short text of several lines. Long text belongs into a Block.
func Lines(style look.Style, ink fyne.ThemeColorName, text string) []look.Run {
	var out []look.Run
	for i, l := range plain.Check(text).Lines {
		if i > 0 {
			out = append(out, look.Run{Text: "\n", Style: style, Color: ink})
		}
		for _, s := range l.Spans {
			out = append(out, run(style, ink, s))
		}
	}
	return out
}

// Long says that text is more than a few lines and does not fit into Inline.
func Long(text string) bool {
	return plain.First(text, InlineMost) != text || strings.Count(text, "\n") > 5
}

// Inline is a paragraph that is nothing but one value from outside.
func Inline(style look.Style, ink fyne.ThemeColorName, text string) *look.Paragraph {
	return look.Para(Runs(style, ink, text)...)
}

func run(style look.Style, ink fyne.ThemeColorName, s plain.Span) look.Run {
	r := look.Run{Text: s.Text, Style: style, Color: ink, Outside: true}
	switch s.Kind {
	case plain.Mark, plain.Fold:
		line := style.Line
		r.Style = look.MonoSB.Box(line)
		if style.Size > 14 {
			r.Style.Size = style.Size - 2
		}
		r.Color, r.Back, r.Outside = look.Warn, look.WarnTint, false
	case plain.Mixed:
		r.Under = look.Warn
	}
	return r
}

// Explain gives the sentences for what was marked, for a strip of the vault. It is
// empty when nothing was.
func Explain(r plain.Report) string {
	var list []string
	total := 0
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{r.Hidden, "hidden character", "hidden characters"},
		{r.Mixed, "word of mixed letters", "words of mixed letters"},
		{r.Stacked, "stacked mark", "stacked marks"},
		{r.Imitated, "imitation of a mark", "imitations of marks"},
	} {
		total += c.n
		switch c.n {
		case 0:
		case 1:
			list = append(list, "1 "+c.one)
		default:
			list = append(list, fmt.Sprintf("%d %s", c.n, c.many))
		}
	}
	if total == 0 {
		return ""
	}
	words := list[len(list)-1]
	if n := len(list) - 1; n > 0 {
		words = strings.Join(list[:n], ", ") + " and " + words
	}
	if total == 1 {
		return words + " is marked"
	}
	return words + " are marked"
}

// Words explains the words of mixed alphabets, one sentence each.
func Words(r plain.Report) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, fmt.Sprintf("“%s” mixes %s with a %s %s, %s.", w.Word, w.Of, w.With, w.Letter, w.Code))
	}
	return out
}
