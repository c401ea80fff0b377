package plain

import "strings"

// maxIndent bounds the indent of deep documents, in levels of two spaces.
const maxIndent = 8

// Spread writes JSON text with one member or item a line. It adds line feeds and
// spaces between tokens and changes nothing else; text that is not JSON is
// spread just as well.
func Spread(json string) string {
	var b strings.Builder
	b.Grow(len(json) + len(json)/4)
	depth, quoted := 0, false
	line := func() {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("  ", min(max(depth, 0), maxIndent)))
	}
	for i := 0; i < len(json); i++ {
		c := json[i]
		b.WriteByte(c)
		switch {
		case quoted && c == '\\' && i+1 < len(json):
			i++
			b.WriteByte(json[i])
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',':
			line()
		case c == ':':
			b.WriteByte(' ')
		case c == '{', c == '[':
			if i+1 < len(json) && (json[i+1] == '}' || json[i+1] == ']') {
				i++
				b.WriteByte(json[i])
				break
			}
			depth++
			line()
		}
		if !quoted && i+1 < len(json) && (json[i+1] == '}' || json[i+1] == ']') {
			depth--
			line()
		}
	}
	return b.String()
}
