// Package tty is the terminal that a person sits at: raw mode, size, and input
// that can be dropped. It reads no standard input and knows nothing of what is
// asked on it.
package tty

import (
	"errors"
	"io"
	"time"
)

// ErrNoTerminal says that a person cannot be asked here: standard input is not a
// terminal, or the process has none.
var ErrNoTerminal = errors.New("tty: no terminal to ask a person on")

// Device is the owner's terminal. Reads block; a past read deadline ends them.
type Device interface {
	io.ReadWriter
	// Raw switches line editing and echo by the kernel off until restore is called.
	Raw() (restore func() error, err error)
	// Flush drops what was typed and not yet read.
	Flush() error
	// Size gives the columns and rows, or an error where they are not known.
	Size() (cols, rows int, err error)
	SetReadDeadline(time.Time) error
}
