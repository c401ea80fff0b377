package ownfolder

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkMagic lists the file systems, by the number that statfs(2) gives, whose
// files lie on another computer.
var networkMagic = map[int64]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x5346414f: "afs",
	0x6b414653: "kafs",
	0x73757245: "coda",
	0x01021997: "9p",
	0x00c36400: "ceph",
	0x0bd00bd0: "lustre",
	0x7461636f: "ocfs2",
	0x01161970: "gfs2",
	0x564c:     "ncp",
}

const fuseMagic = 0x65735546

// localFuse lists the FUSE file systems that keep their files on this computer.
var localFuse = []string{"fuseblk", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.securefs", "fuse.fuse-overlayfs", "fuse.ext4", "fuse.bindfs"}

func checkDisk(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	kind := int64(uint32(fs.Type))
	if name, ok := networkMagic[kind]; ok {
		return fmt.Errorf("%w: %s", ErrNetwork, name)
	}
	if kind != fuseMagic {
		return nil
	}
	name, err := mountedAs(dir)
	if err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	if !slices.Contains(localFuse, name) {
		return fmt.Errorf("%w: a user-space file system that is not known to be local", ErrNetwork)
	}
	return nil
}

// mountedAs returns the type of the file system that dir lies on, from the
// longest mount point above it.
func mountedAs(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return longestMount(bufio.NewScanner(f), real)
}

// longestMount reads lines of proc_pid_mountinfo(5).
func longestMount(lines *bufio.Scanner, path string) (string, error) {
	best, kind := "", ""
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 1 {
			continue
		}
		point := unescape.Replace(left[4])
		under := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		// A later line covers an earlier one at the same place.
		if under && len(point) >= len(best) {
			best, kind = point, right[0]
		}
	}
	return kind, lines.Err()
}
