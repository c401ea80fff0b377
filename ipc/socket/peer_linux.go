package socket

import (
	"bytes"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	maxCommandBytes = 4096
	maxCommandArgs  = 64
	maxParents      = 8
)

// PeerOf asks the kernel who connected, or who listens. User and process id are
// those at connect or listen time. The error means that the kernel did not say who
// it is: refuse the connection. It does not block.
func PeerOf(c net.Conn) (Peer, error) {
	ucred, pidfd, err := credentials(c)
	if err != nil {
		return Peer{UserID: -1}, err
	}
	p := Peer{UserID: int64(ucred.Uid), ProcessID: int64(ucred.Pid)}
	if p.ProcessID > 0 {
		p.Executable = executable(int(ucred.Pid))
		p.Command = command(int(ucred.Pid))
		p.Parents = parents(int(ucred.Pid))
	}
	if pidfd >= 0 {
		// Alive after it was looked at: the number was not given to another process.
		p.Pinned = unix.PidfdSendSignal(pidfd, 0, nil, 0) == nil
		_ = unix.Close(pidfd)
	}
	return p, nil
}

func userOf(c net.Conn) (int64, error) {
	ucred, pidfd, err := credentials(c)
	if err != nil {
		return -1, err
	}
	if pidfd >= 0 {
		_ = unix.Close(pidfd)
	}
	return int64(ucred.Uid), nil
}

// credentials gives -1 for the descriptor where the kernel is older than 6.5.
func credentials(c net.Conn) (*unix.Ucred, int, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, -1, errors.New("peer credentials: not a socket")
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return nil, -1, err
	}
	var ucred *unix.Ucred
	var credErr, fdErr error
	pidfd := -1
	if err := rc.Control(func(fd uintptr) {
		ucred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if pidfd, fdErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); fdErr != nil {
			pidfd = -1
		}
	}); err != nil {
		return nil, -1, err
	}
	if credErr != nil {
		if pidfd >= 0 {
			_ = unix.Close(pidfd)
		}
		return nil, -1, credErr
	}
	if pidfd >= 0 {
		unix.CloseOnExec(pidfd)
	}
	return ucred, pidfd, nil
}

func proc(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func executable(pid int) string {
	exe, err := os.Readlink(proc(pid, "exe"))
	if err != nil {
		return ""
	}
	return exe
}

func command(pid int) []string {
	f, err := os.Open(proc(pid, "cmdline"))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, maxCommandBytes)
	n, _ := f.Read(buf)
	text := strings.TrimRight(string(buf[:n]), "\x00")
	if text == "" {
		return nil
	}
	args := strings.Split(text, "\x00")
	return args[:min(len(args), maxCommandArgs)]
}

func parents(pid int) []string {
	var out []string
	for range maxParents {
		parent, ok := parentOf(pid)
		if !ok || parent <= 0 {
			break
		}
		if exe := executable(parent); exe != "" {
			out = append(out, exe)
		}
		pid = parent
	}
	return out
}

// parentOf reads the fourth field of stat. The second is the program's own name in
// parentheses and may hold anything, so the last one counts.
func parentOf(pid int) (int, bool) {
	raw, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return 0, false
	}
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(string(raw[end+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}
