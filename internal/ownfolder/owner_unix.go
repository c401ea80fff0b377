//go:build unix

package ownfolder

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func checkOwner(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to another user", ErrUnsafe)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: its mode is %#o, 0700 is needed", ErrUnsafe, info.Mode().Perm())
	}
	return nil
}
