package socket

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// through opens a folder and gives a short name for it.
func through(dir string) (*os.File, string, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	name := "/proc/self/fd/" + strconv.Itoa(fd)
	if _, err := os.Stat(name); err != nil {
		_ = unix.Close(fd)
		return nil, "", err
	}
	return os.NewFile(uintptr(fd), dir), name, nil
}
