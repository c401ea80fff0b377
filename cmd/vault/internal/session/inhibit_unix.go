//go:build unix

package session

import (
	"context"
	"syscall"

	"github.com/godbus/dbus/v5"
)

// delay is the system's promise to wait a moment before it sleeps.
type delay struct{ fd int }

// inhibit asks for the promise. Where it is not given, releasing does nothing.
func inhibit(ctx context.Context, c *dbus.Conn) delay {
	var fd dbus.UnixFD
	err := c.Object("org.freedesktop.login1", "/org/freedesktop/login1").CallWithContext(ctx,
		"org.freedesktop.login1.Manager.Inhibit", dbus.FlagNoAutoStart, "sleep", "Vault", "The vault is locked first.", "delay").Store(&fd)
	if err != nil {
		return delay{fd: -1}
	}
	syscall.CloseOnExec(int(fd))
	return delay{fd: int(fd)}
}

func (d *delay) release() {
	if d.fd >= 0 {
		_ = syscall.Close(d.fd) // the promise ends with the descriptor
		d.fd = -1
	}
}
