//go:build unix

package folder

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// lockFile takes a lock that belongs to the open file: the kernel gives it back
// when the process ends, and a child does not inherit it, because Go closes the
// descriptor in every program that it starts.
func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}
