package socket

import (
	"context"
	"net"
	"os"
)

// FurtherPath is nowhere on this system.
func FurtherPath(string, int64) string { return "" }

// ListenFor is not there on this system: CodeUnsupported.
func ListenFor(path string, _ int64) (*Listener, error) {
	return nil, fail(CodeUnsupported, path, "no pipe is made for another user", nil)
}

// Stands is true: a pipe is in no folder.
func (l *Listener) Stands() bool { return true }

// Forget does nothing.
func (l *Listener) Forget() {}

// DialOwner is Dial for this user's own vault, and CodeUnsupported for another's.
func DialOwner(ctx context.Context, path string, owner int64) (net.Conn, error) {
	if owner == int64(os.Geteuid()) {
		return Dial(ctx, path)
	}
	return nil, fail(CodeUnsupported, path, "no pipe is made for another user", nil)
}
