//go:build unix

package custody

import (
	"errors"
	"os"
	"syscall"
)

// openNoFollow opens a file for reading, never through a link, and never waits
// for the other end of a pipe.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// syncDir makes a change of names in dir durable.
func syncDir(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
