package ownfolder

import (
	"bufio"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const mounts = `21 1 8:1 / / rw - ext4 /dev/sda1 rw
30 21 0:40 / /home/a rw,nosuid shared:5 - fuse.sshfs host: rw
31 30 0:41 / /home/a/Private\040Files rw - fuse.gocryptfs x rw
32 21 0:42 / /home/ab rw - fuseblk /dev/sdb1 rw
33 21 0:43 / /twice rw - ext4 x rw
34 33 0:44 / /twice rw - fuse.rclone x rw
nonsense
`

func TestLongestMount(t *testing.T) {
	for path, want := range map[string]string{
		"/": "ext4", "/srv": "ext4", "/home/a": "fuse.sshfs", "/home/a/x/y": "fuse.sshfs", "/home/ab/x": "fuseblk",
		"/home/abc": "ext4", "/home/a/Private Files/v": "fuse.gocryptfs", "/twice/x": "fuse.rclone",
	} {
		got, err := longestMount(bufio.NewScanner(strings.NewReader(mounts)), path)
		if err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", path, got, err, want)
		}
	}
}

func TestRealMount(t *testing.T) {
	got, err := mountedAs("/proc/self")
	if err != nil || got != "proc" {
		t.Errorf("%q %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Check(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if err := Prepare(dir); err != nil {
		t.Errorf("prepare: %v", err)
	}
	if err := Check("/dev/null"); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a device: %v", err)
	}
}
