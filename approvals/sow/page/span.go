package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"vault/approvals/plain"
	"vault/derive/jcs"
)

// Span is a piece of text on the page. Text of ours is plain prose; a line feed
// in it ends the line.
type Span struct {
	Text string
	// Outside marks text from the document or from a bundle: it is drawn as
	// text from outside, and nothing in it is formatted.
	Outside bool
	// Code says that the text is bytes rather than words: a key, a digest, JSON.
	Code bool
}

// String returns the text of the spans as a terminal shows it: text from
// outside made plain, and in quotation marks where it is more than one token.
func String(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		if !s.Outside {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString(quoted(s.Text))
	}
	return b.String()
}

// quoted is text from outside for a line of text: a token as it is, everything
// else in quotation marks, with a closing one inside written as a mark. A word
// that begins as the page's own names do is no token, a currency apart.
func quoted(s string) string {
	token := s != "" && strings.Trim(s, letters+"0123456789._@:/+-") == ""
	word := token && strings.Trim(s, letters) == "" && s[0] <= 'Z' && len(s) != 3
	if token && !word {
		return s
	}
	return marked(s)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// marked is text from outside in quotation marks, also where it is a token.
func marked(s string) string {
	return "“" + strings.ReplaceAll(plain.TerminalLine(s), "”", "<U+201D>") + "”"
}

func own(text string) []Span { return []Span{{Text: text}} }

func ownf(format string, a ...any) []Span { return own(fmt.Sprintf(format, a...)) }

// outside is text from the document. Where the way it is drawn folds something
// away, a short digest of the text follows, so that two texts that are drawn
// alike can be told apart.
func outside(text string) []Span {
	out := []Span{{Text: text, Outside: true}}
	if text == "" { // quotation marks stand in a terminal only
		return append(out, Span{Text: " (empty)"})
	}
	if folds(text) {
		sum := sha256.Sum256([]byte(text))
		out = append(out, Span{Text: " (text " + hex.EncodeToString(sum[:4]) + ")"})
	}
	return out
}

// folds says whether text is drawn with something folded away.
func folds(text string) bool {
	if strings.HasSuffix(text, " ") || strings.Contains(text, "  ") {
		return true
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			r := plain.Check(text)
			return r.Folded > 0 || r.Stacked > 0 || strings.ContainsRune(text, '\t')
		}
	}
	return false
}

// code is bytes from the document: keys, digests, identifiers.
func code(text string) []Span {
	out := outside(text)
	out[0].Code = true
	return out
}

// raw is a value as it stands in the document, in its canonical form.
func raw(v jcs.Value) []Span {
	return append(code(string(v.Canonical())), Span{Text: ", as it stands"})
}

func join(parts ...[]Span) (out []Span) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// lines puts each part on a line of its own.
func lines(parts [][]Span) (out []Span) {
	for i, p := range parts {
		if i > 0 {
			out = append(out, Span{Text: "\n"})
		}
		out = append(out, p...)
	}
	return out
}
