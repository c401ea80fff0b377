//go:build linux || darwin

package tty

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"
)

// TTY is the controlling terminal of this process.
type TTY struct{ f *os.File }

// Open opens the controlling terminal. It returns ErrNoTerminal where there is
// none, and where standard input is something else: what comes out of a pipe or a
// file decides nothing.
func Open() (*TTY, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil, ErrNoTerminal
	}
	return OpenControlling()
}

// OpenControlling opens the controlling terminal whatever standard input is.
func OpenControlling() (*TTY, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(ErrNoTerminal, err)
	}
	return &TTY{f: f}, nil
}

// control runs f on the descriptor without making it blocking, as Fd would.
func (t *TTY) control(f func(fd int) error) error {
	conn, err := t.f.SyscallConn()
	if err != nil {
		return err
	}
	var ferr error
	if err := conn.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}

// Read implements Device.
func (t *TTY) Read(p []byte) (int, error) { return t.f.Read(p) }

// Write implements Device.
func (t *TTY) Write(p []byte) (int, error) { return t.f.Write(p) }

// Close closes the terminal; a read that waits returns.
func (t *TTY) Close() error { return t.f.Close() }

// Raw implements Device.
func (t *TTY) Raw() (func() error, error) {
	var state *term.State
	err := t.control(func(fd int) (err error) {
		state, err = term.MakeRaw(fd)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		return t.control(func(fd int) error { return term.Restore(fd, state) })
	}, nil
}

// Flush implements Device.
func (t *TTY) Flush() error { return t.control(flushInput) }

// Size implements Device.
func (t *TTY) Size() (cols, rows int, err error) {
	err = t.control(func(fd int) (err error) {
		cols, rows, err = term.GetSize(fd)
		return err
	})
	return cols, rows, err
}

// SetReadDeadline implements Device.
func (t *TTY) SetReadDeadline(at time.Time) error { return t.f.SetReadDeadline(at) }
