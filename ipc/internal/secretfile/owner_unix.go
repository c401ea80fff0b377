//go:build unix

package secretfile

import (
	"io/fs"
	"os"
	"syscall"
)

func onlyOurs(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && fi.Mode().Perm()&0o077 == 0
}
