// Package secretfile reads the files in which a program that asks keeps what nobody else may read: its pairing, a bot's
// key. It writes none.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrNotOurs says that a file is not a regular one of this user's that nobody else can read or write, or too long.
var ErrNotOurs = errors.New("secret file: not a file of this user's alone")

// Read gives the bytes of a file of at most limit bytes, for the caller to wipe. Errors: [ErrNotOurs], fs.ErrNotExist, or
// another of the system's.
func Read(path string, limit int64) ([]byte, error) {
	fi, err := os.Lstat(path) // before it is opened: a pipe would be waited for
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrNotOurs
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(fi, opened) || !onlyOurs(opened) || opened.Size() > limit {
		return nil, ErrNotOurs
	}
	raw := make([]byte, opened.Size())
	if _, err := io.ReadFull(f, raw); err != nil {
		clear(raw)
		return nil, fmt.Errorf("it changed while it was read: %w", err)
	}
	return raw, nil
}
