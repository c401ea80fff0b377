package plain

import (
	"html"
	"strings"
)

// String joins the lines with line feeds.
func (t Text) String() string {
	var b strings.Builder
	for i, l := range t.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l.Spans {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Terminal returns s for a terminal: no byte below 0x20 but line feeds, no
// delete and no C1 control, so no escape sequence; marks are written out.
func Terminal(s string) string { return Check(s).String() }

// TerminalLine returns s for one line of a terminal: no line feed either.
func TerminalLine(s string) string { return One(s).String() }

// HTML returns s as the content of a text node.
func HTML(s string) string { return html.EscapeString(Check(s).String()) }

// CSV returns one record, each field in quotes, ended by a line feed. A field
// that a spreadsheet would take for a formula begins with an apostrophe.
func CSV(fields ...string) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		f = One(f).String()
		if t := strings.TrimLeft(f, " "); t != "" && strings.ContainsRune("=+-@", rune(t[0])) {
			f = "'" + f
		}
		b.WriteString(`"` + strings.ReplaceAll(f, `"`, `""`) + `"`)
	}
	b.WriteByte('\n')
	return b.String()
}
