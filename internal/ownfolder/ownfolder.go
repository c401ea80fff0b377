// Package ownfolder checks that a folder is the owner's alone: a real directory,
// owned by this user, closed to everybody else, on a disk of this computer.
//
// It knows nothing of what lies in the folder.
package ownfolder

import (
	"errors"
	"fmt"
	"os"
)

// What a folder can be refused for.
var (
	// ErrUnsafe: it is a link or no directory, belongs to another user, or is open to other users.
	ErrUnsafe = errors.New("folder is not the owner's alone")
	// ErrNetwork: it lies on a network file system, where locks and syncs are not what they say.
	ErrNetwork = errors.New("folder is on a network file system")
)

// Check returns nil, [ErrUnsafe] or [ErrNetwork] with the cause, or the error of
// the file system: fs.ErrNotExist where the folder is absent. It changes nothing.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: not a directory", ErrUnsafe)
	}
	if err := checkOwner(info); err != nil {
		return err
	}
	return checkDisk(dir)
}

// Prepare makes the folder, with mode 0700, where it is absent, and checks it.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return Check(dir)
}
