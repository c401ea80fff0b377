package tty

import (
	"os"

	"golang.org/x/term"
)

// Columns is the width of the terminal that f is: 0 where it is none, 80 where the terminal
// does not say.
func Columns(f *os.File) int {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return 0
	}
	if cols, _, err := term.GetSize(fd); err == nil && cols > 0 {
		return cols
	}
	return 80
}
