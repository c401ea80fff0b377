package page

import (
	"fmt"
	"strings"
	"unicode/utf8"
	"vault/approvals/sow/units"
)

// textWidth is where lines of ours are broken, in characters.
const textWidth = 96

// Line is the grade in one line: its sign and word, and what is earned where
// that is less.
func (g Grade) Line() string {
	if !g.Known {
		return String(code(g.Stated)) + " (not a grade)"
	}
	out := Shape(g.Shown()) + " " + Word(g.Shown())
	if g.Implied {
		out += ", not stated in the document"
	}
	if g.Differs() {
		out += ", earned here: " + Shape(g.Earned) + " " + Word(g.Earned)
	}
	return out
}

// writer writes lines of text with a gutter.
type writer struct{ b strings.Builder }

func (w *writer) line(s string) { w.b.WriteString(s + "\n") }

func (w *writer) head(s string) {
	w.b.WriteString("\n" + s + "\n" + strings.Repeat("─", min(utf8.RuneCountInString(s), textWidth)) + "\n")
}

// pair writes a name in the gutter and what belongs to it, broken at spaces.
// A space is given up for a line's end; where there is none, the next line says that it goes on.
func (w *writer) pair(gutter int, name, value string) {
	room := max(textWidth-gutter-2, 20)
	var out []string
	for _, l := range strings.Split(value, "\n") {
		out = append(out, wrap(l, room)...)
	}
	if n := utf8.RuneCountInString(name); n > gutter {
		for _, l := range wrap(name, textWidth) {
			w.line(l)
		}
		name = ""
	}
	for _, l := range out {
		w.line(name + strings.Repeat(" ", gutter+2-utf8.RuneCountInString(name)) + l)
		name = ""
	}
}

func wrap(s string, room int) (out []string) {
	for utf8.RuneCountInString(s) > room {
		cut, at, n := -1, 0, 0
		for i, r := range s {
			if n > room {
				break
			}
			if r == ' ' && i > 0 {
				cut = i
			}
			at = i
			n++
		}
		if cut < 0 {
			out, s = append(out, s[:at]), "↳"+s[at:]
			continue
		}
		out, s = append(out, s[:cut]), s[cut+1:]
	}
	return append(out, s)
}

// Text is the page for a terminal or a plain file: no byte below 0x20 but line
// feeds, whatever the document holds.
func (p *Page) Text() string {
	w := &writer{}
	w.line(p.Title)
	w.line(String(p.ID) + ", version " + units.Number(p.Version))
	if p.Digest != "" {
		w.line("sha256 of the signed bytes " + p.Digest)
	}
	for _, s := range p.Status {
		w.line(s)
	}
	for _, part := range p.Parties {
		w.head(part.Heading())
		if part.Blank {
			w.line("the seat is open")
		} else {
			w.line(named(part.Owner))
		}
		// Each stands on a line of its own, where a bare word would be the vault's.
		for _, x := range []struct {
			name string
			is   []Span
		}{{"handle ", part.Handle}, {"organization ", part.Org}, {"agent’s key ", part.Agent}} {
			if len(x.is) > 0 {
				w.line(x.name + String(x.is))
			}
		}
		if part.Ours {
			w.line(part.Seat)
		}
		if part.Key != "" {
			w.line("owner’s key " + part.Key)
		}
		w.line(part.Known)
		if part.Person != "" {
			w.line(part.Person)
		}
	}
	w.head("What holds it")
	for _, x := range p.Bar.Holdings() {
		w.line(fmt.Sprintf("%s %d %s, %s", Shape(x.Grade), x.Clauses, x.Grade, x.Means))
	}
	if p.Bar.Differs {
		w.line(fmt.Sprintf("Earned here: %d enforced, %d evidence, %d recorded", p.Bar.EarnedEnforced, p.Bar.EarnedEvidence, p.Bar.EarnedRecorded))
	}
	w.head("What decides")
	for _, f := range p.Figures {
		w.pair(26, f.Caption, String(f.Value)+"; "+String(f.More))
	}
	if len(p.Notices) > 0 {
		w.head("Remarks")
		for _, n := range p.Notices {
			w.pair(8, tones[n.Tone], String(n.What)+"\n"+String(n.More))
		}
	}
	for _, c := range p.Clauses {
		title := c.Title
		if c.Grade != nil {
			title += "  [" + c.Grade.Line() + "]"
		}
		w.head(title)
		for _, r := range c.Rows {
			w.row(r)
		}
	}
	if len(p.Records) > 0 {
		w.head("Signature records (claims beside the document; the signature covers neither role nor time)")
		for _, r := range p.Records {
			w.pair(26, String(r.Role), String(r.Key)+", "+String(r.SignedAt)+"\n"+r.Words)
		}
	}
	if p.Language.Text != "" {
		w.head("The text of the contract language, as it was brought")
		for l := range strings.SplitSeq(p.Language.Text, "\n") {
			w.line("  " + quoted(l))
		}
	}
	w.line("\n" + LegalStatus())
	return w.b.String()
}

var tones = map[Tone]string{Calm: "note", Warn: "notice", Alarm: "bars"}

// named is the name a party gives itself: always in quotation marks.
func named(list []Span) string {
	var b strings.Builder
	for _, s := range list {
		if s.Outside {
			b.WriteString(marked(s.Text))
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func (w *writer) row(r Row) {
	const gutter = 30
	value := String(r.Value)
	switch r.Kind {
	case Amount:
		value += " " + String(r.More)
	case Access:
		value += ", " + String(r.More)
	default:
		if len(r.More) > 0 {
			value += "\n(" + String(r.More) + ")"
		}
	}
	if len(r.Says) > 0 {
		value += "\n" + String(r.Says)
	}
	if r.Grade != nil {
		value += "\n[" + r.Grade.Line() + "]"
	}
	if len(r.Name) == 0 {
		mark := "· "
		if r.Warn {
			mark = "! "
		}
		w.pair(0, "", mark+value)
		return
	}
	w.pair(gutter, String(r.Name), value)
}
