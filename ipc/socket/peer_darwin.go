package socket

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who connected. Compiled, never run: executable, command and
// parents stay empty. The error means that the kernel did not say who it is.
func PeerOf(c net.Conn) (Peer, error) {
	p := Peer{UserID: -1}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return p, errors.New("peer credentials: not a socket")
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return p, err
	}
	var cred *unix.Xucred
	var credErr, pidErr error
	var pid int
	if err := rc.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		pid, pidErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	}); err != nil {
		return p, err
	}
	if credErr != nil {
		return p, credErr
	}
	p.UserID = int64(cred.Uid)
	if pidErr == nil {
		p.ProcessID = int64(pid)
	}
	return p, nil
}

func userOf(c net.Conn) (int64, error) {
	p, err := PeerOf(c)
	return p.UserID, err
}
