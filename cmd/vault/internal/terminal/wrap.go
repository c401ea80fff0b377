package terminal

import (
	"slices"
	"strings"
	"unicode"
)

// bar begins every row that goes on with the line before it. A terminal's own
// wrapping would begin it at the margin, where only the vault's words stand.
const bar = "  | "

// Widths of terminals: assumed where none is known, and the least that is believed.
const (
	usualColumns = 80
	leastColumns = 20
)

// wrap cuts each line of checked text into rows of at most cols columns, so that a
// terminal never wraps one itself: what goes on begins with bar, and rows can be
// counted. It cuts after a blank where one is near. Wrapping again changes nothing.
func wrap(text string, cols int) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	for line := range strings.SplitAfterSeq(text, "\n") {
		wrapLine(&b, line, cols)
	}
	return b.String()
}

// Uncut is checked text in rows of at most cols columns, but for lines that are one of whole and nothing but ASCII that can
// be seen: those stay as they are.
func Uncut(text string, cols int, whole ...string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		bare := strings.TrimSuffix(line, "\n")
		if slices.Contains(whole, bare) && !strings.ContainsFunc(bare, func(r rune) bool { return r < ' ' || r > '~' }) {
			b.WriteString(line)
			continue
		}
		wrapLine(&b, line, cols)
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, cols int) {
	begin, used := 0, 0      // of the row: its first byte, its columns
	blank, after := -1, 0    // behind the row's last blank: its place, the columns up to it
	near := cols - cols/4    // a blank before this column is too far away to cut at
	for i, r := range line { // rune by rune: a mark stays with its letter
		w := columns(r)
		if used+w > cols {
			cut, rest := i, 0
			if blank > begin && after >= near {
				cut, rest = blank, used-after
			}
			b.WriteString(line[begin:cut])
			b.WriteByte('\n')
			b.WriteString(bar)
			begin, used, blank = cut, len(bar)+rest, -1
		}
		used += w
		if r == ' ' {
			blank, after = i+1, used
		}
	}
	b.WriteString(line[begin:])
}

// columns is the most that a terminal takes for r. Terminals differ on all but
// ASCII, and a row that is cut early hides nothing.
func columns(r rune) int {
	switch {
	case r == '\n' || unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < 0x80:
		return 1
	}
	return 2
}
