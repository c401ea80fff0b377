package ownfolder

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func checkDisk(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	if fs.Flags&unix.MNT_LOCAL == 0 {
		return fmt.Errorf("%w: it is not marked local", ErrNetwork)
	}
	return nil
}
