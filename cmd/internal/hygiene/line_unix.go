//go:build unix

package hygiene

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// LinePair makes a line between two programs of the vault: the end for this
// process, and the one to be inherited through [Command].Files. The caller
// closes both. name is for error messages.
func LinePair(name string) (here net.Conn, there *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	there = os.NewFile(uintptr(fds[1]), name)
	mine := os.NewFile(uintptr(fds[0]), name)
	defer mine.Close()
	if here, err = net.FileConn(mine); err != nil {
		return nil, nil, errors.Join(err, there.Close())
	}
	return here, there, nil
}
