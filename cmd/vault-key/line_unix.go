//go:build unix

package main

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// linePair makes the two ends of a line: one for this process, one to be
// inherited.
func linePair() (here net.Conn, there *os.File, err error) {
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
	there = os.NewFile(uintptr(fds[1]), "secret window")
	mine := os.NewFile(uintptr(fds[0]), "secret window")
	defer mine.Close()
	if here, err = net.FileConn(mine); err != nil {
		there.Close()
		return nil, nil, err
	}
	return here, there, nil
}
