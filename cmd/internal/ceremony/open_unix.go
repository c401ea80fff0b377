//go:build unix

package ceremony

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"vault/cmd/internal/hygiene"
)

// Open starts the program `vault` at path (absolute) as ceremony helper, with its
// end of a new line as descriptor 3, and returns the other end. The helper ends with its line.
func Open(path string, stderr *os.File) (*Line, error) {
	here, there, err := linePair()
	if err != nil {
		return nil, fmt.Errorf("open ceremony: %w", err)
	}
	defer there.Close()
	p, err := hygiene.Start(hygiene.Command{Path: path, Args: []string{"ceremony"}, Stderr: stderr, Files: []*os.File{there}})
	if err != nil {
		return nil, fmt.Errorf("open ceremony: %w", errors.Join(err, here.Close()))
	}
	go func() {
		// It ends by itself when its line does; how it ended changes nothing.
		_, _ = p.Wait()
	}()
	return NewLine(here), nil
}

// linePair makes the two ends of a line: one for this process, one to be inherited.
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
	there = os.NewFile(uintptr(fds[1]), "ceremony")
	mine := os.NewFile(uintptr(fds[0]), "ceremony")
	defer mine.Close()
	if here, err = net.FileConn(mine); err != nil {
		return nil, nil, errors.Join(err, there.Close())
	}
	return here, there, nil
}
