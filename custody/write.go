package custody

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

const (
	tempName  = SealedName + ".new"
	asideMark = ".before-"
)

// disk is what replacing a file does to the disk, step by step.
type disk interface {
	create(path string, b []byte) error // whole and synced, mode 0600
	link(from, to string) error
	rename(from, to string) error
	remove(path string) error
	syncDir(dir string) error
}

// replaceFile puts b in place of the sealed file so that a crash at any moment
// leaves the old file or the new one, whole. Where first is true no sealed file
// may be there: [ErrExists].
func replaceFile(d disk, dir string, b []byte, first bool) error {
	if err := prepareDir(dir); err != nil {
		return err
	}
	temp, path := filepath.Join(dir, tempName), filepath.Join(dir, SealedName)
	if info, err := os.Lstat(path); err == nil {
		if first {
			return ErrExists
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("write sealed file: %w: it is not a regular file", ErrFolderUnsafe)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write sealed file: %w", err)
	}
	// What a crash left behind; create refuses a name that exists.
	if err := d.remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write sealed file: %w", err)
	}
	if err := d.create(temp, b); err != nil {
		return fmt.Errorf("write sealed file: %w", err)
	}
	if first {
		// A link refuses to replace a file that came up in between.
		if err := d.link(temp, path); errors.Is(err, fs.ErrExist) {
			return ErrExists
		} else if err != nil {
			return fmt.Errorf("write sealed file: %w", err)
		}
		if err := d.remove(temp); err != nil {
			return fmt.Errorf("write sealed file: %w", err)
		}
	} else if err := d.rename(temp, path); err != nil {
		return fmt.Errorf("write sealed file: %w", err)
	}
	if err := d.syncDir(dir); err != nil {
		return fmt.Errorf("write sealed file: %w", err)
	}
	return nil
}

// keepAside gives the sealed file a second name with the time at, in
// milliseconds since epoch, so that replacing it destroys nothing.
func keepAside(dir string, at int64) error {
	path := filepath.Join(dir, SealedName)
	if err := os.Link(path, path+asideMark+strconv.FormatInt(at, 10)); err != nil {
		return fmt.Errorf("keep the old sealed file: %w", err)
	}
	return nil
}

// realDisk is the file system.
type realDisk struct{}

func (realDisk) create(path string, b []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}

func (realDisk) link(from, to string) error   { return os.Link(from, to) }
func (realDisk) rename(from, to string) error { return os.Rename(from, to) }
func (realDisk) remove(path string) error     { return os.Remove(path) }
func (realDisk) syncDir(dir string) error     { return syncDir(dir) }
