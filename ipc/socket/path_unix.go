//go:build unix

package socket

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// place is a checked path: the socket's folder with no symbolic link left in it, and
// the socket's name in that folder.
type place struct {
	given string
	dir   string
	base  string
}

func (p place) path() string { return filepath.Join(p.dir, p.base) }

// look resolves and checks the whole path. With create it makes the last folder,
// 0700, if it is missing.
func look(path string, uid int, create bool) (place, error) {
	if err := checkName(path); err != nil {
		return place{}, err
	}
	path = filepath.Clean(path)
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if base == "" {
		return place{}, fail(CodePathInvalid, path, "the socket's path has no name", nil)
	}
	if create {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			if errors.Is(err, fs.ErrNotExist) {
				return place{}, fail(CodePathUnsafe, path, "the folder above the socket's does not exist", err)
			}
			return place{}, fail(CodeFailed, path, "make the socket's folder", err)
		}
	}
	real, fi, err := resolve(path, dir, uid)
	if err != nil {
		return place{}, err
	}
	if owner, ok := ownerOf(fi); !fi.IsDir() || !ok || owner != uid || fi.Mode().Perm()&0o077 != 0 {
		return place{}, fail(CodePathUnsafe, real, "the socket's folder must belong to you and have mode 0700", nil)
	}
	return place{given: path, dir: real, base: base}, nil
}

// resolve gives the real name of a socket's folder and what is there, after everything above it, under either name, was
// found to be that user's or root's.
func resolve(path, dir string, uid int) (real string, fi fs.FileInfo, err error) {
	real, err = filepath.EvalSymlinks(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil, fail(CodeAbsent, path, "the socket's folder does not exist", err)
		}
		return "", nil, fail(CodeFailed, path, "resolve the socket's folder", err)
	}
	// Both spellings are walked: who can turn a link can choose the folder.
	for _, walk := range []string{dir, real} {
		if err := checkAbove(walk, uid); err != nil {
			return "", nil, err
		}
	}
	fi, err = os.Lstat(real)
	if err != nil {
		return "", nil, fail(CodeFailed, path, "look at the socket's folder", err)
	}
	return real, fi, nil
}

// checkAbove looks at every folder (and link) above dir, dir's own entry included: its
// owner is this user or root, and nobody else can write it, unless it is sticky.
func checkAbove(dir string, uid int) error {
	at := "/"
	names := strings.Split(strings.TrimPrefix(dir, "/"), "/")
	for i := -1; i < len(names); i++ {
		if i >= 0 {
			at = filepath.Join(at, names[i])
		}
		fi, err := os.Lstat(at)
		if err != nil {
			return fail(CodeFailed, at, "look at a folder above the socket", err)
		}
		owner, ok := ownerOf(fi)
		if !ok || owner != uid && owner != 0 {
			return fail(CodePathUnsafe, at, "a folder above the socket belongs to somebody else", nil)
		}
		if fi.Mode()&fs.ModeSymlink == 0 && fi.Mode().Perm()&0o022 != 0 && fi.Mode()&fs.ModeSticky == 0 {
			return fail(CodePathUnsafe, at, "others can write a folder above the socket", nil)
		}
	}
	return nil
}

// checkSocket looks at the socket itself before a client connects.
func checkSocket(p place, uid int) error {
	fi, err := os.Lstat(p.path())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(CodeAbsent, p.given, "there is no socket", err)
		}
		return fail(CodeFailed, p.given, "look at the socket", err)
	}
	if fi.Mode().Type() != fs.ModeSocket {
		return fail(CodePathTaken, p.given, "this is not a socket", nil)
	}
	if owner, ok := ownerOf(fi); !ok || owner != uid || fi.Mode().Perm()&0o077 != 0 {
		return fail(CodePathUnsafe, p.given, "the socket must belong to you and have mode 0600", nil)
	}
	return nil
}

func ownerOf(fi fs.FileInfo) (int, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
