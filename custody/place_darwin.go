package custody

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// machineID reads the kernel's id of this computer.
func machineID() (string, error) { return unix.Sysctl("kern.uuid") }

// folderID names a folder by inode and time of birth.
func folderID(dir string) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d born %d.%09d", st.Ino, st.Btim.Sec, st.Btim.Nsec), nil
}
