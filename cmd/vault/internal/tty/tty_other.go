//go:build !linux && !darwin

package tty

import "time"

// TTY is the controlling terminal of this process. This system has none that the
// vault can use.
type TTY struct{}

// Open returns ErrNoTerminal.
func Open() (*TTY, error) { return nil, ErrNoTerminal }

// OpenControlling returns ErrNoTerminal.
func OpenControlling() (*TTY, error) { return nil, ErrNoTerminal }

// Read implements Device.
func (*TTY) Read([]byte) (int, error) { return 0, ErrNoTerminal }

// Write implements Device.
func (*TTY) Write([]byte) (int, error) { return 0, ErrNoTerminal }

// Close does nothing.
func (*TTY) Close() error { return nil }

// Raw implements Device.
func (*TTY) Raw() (func() error, error) { return nil, ErrNoTerminal }

// Flush implements Device.
func (*TTY) Flush() error { return ErrNoTerminal }

// Size implements Device.
func (*TTY) Size() (cols, rows int, err error) { return 0, 0, ErrNoTerminal }

// SetReadDeadline implements Device.
func (*TTY) SetReadDeadline(time.Time) error { return ErrNoTerminal }
