// Package folder holds the rule of one vault folder, one desk: a lock that the
// kernel keeps decides, never a probe of the socket.
//
// It checks that the folder is the owner's alone and opens nothing else in it.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vault/internal/ownfolder"
)

// LockName is the name of the lock file. It stays when the lock is given back:
// removing it would let two desks hold two files of one name.
const LockName = "vault.lock"

// What taking a folder can be refused for.
var (
	// ErrInUse: another desk holds the folder.
	ErrInUse = errors.New("another desk holds this vault folder")
	// ErrUnsafe: the folder is a link, another user's, or open to other users.
	ErrUnsafe = ownfolder.ErrUnsafe
	// ErrNetwork: the folder is on a network file system, where the lock would not hold.
	ErrNetwork = ownfolder.ErrNetwork
)

// Lock is a folder held by this process until [Lock.Close] or its end, however
// it ends.
type Lock struct {
	dir  string
	file *os.File
}

// Take makes the folder with mode 0700 where it is absent, checks it, and takes
// its lock. It does not wait: [ErrInUse] says that another desk has it, also one
// in this process. Other errors: [ErrUnsafe], [ErrNetwork], the file system's.
func Take(dir string) (*Lock, error) {
	if err := ownfolder.Prepare(dir); err != nil {
		return nil, fmt.Errorf("take vault folder: %w", err)
	}
	path := filepath.Join(dir, LockName)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("take vault folder: %w: its lock is not a regular file", ErrUnsafe)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("take vault folder: %w", err)
	}
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("take vault folder: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, fmt.Errorf("take vault folder: %w", errors.Join(err, f.Close()))
	}
	// The file that was locked must be the one that has the name.
	held, err1 := f.Stat()
	named, err2 := os.Lstat(path)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("take vault folder: %w", errors.Join(err, f.Close()))
	}
	if !os.SameFile(held, named) {
		return nil, fmt.Errorf("take vault folder: %w", errors.Join(ErrInUse, f.Close()))
	}
	return &Lock{dir: dir, file: f}, nil
}

// Dir returns the folder as it was given to [Take].
func (l *Lock) Dir() string { return l.dir }

// Close gives the folder back. The lock file stays.
func (l *Lock) Close() error { return l.file.Close() }
