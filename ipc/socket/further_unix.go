//go:build unix

package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// shared is the folder that every account of a Unix system can reach and in which nobody can move what is another's. An owner's
// TMPDIR may be a folder that the further user cannot enter.
const shared = "/tmp"

// FurtherPath is where the socket for one further user is made unless its owner says otherwise: in a folder of its own
// in the one that all accounts share. vault is the vault's id, 32 hex digits.
func FurtherPath(vault string, userID int64) string {
	return filepath.Join(shared, "agent-vault-"+vault[:min(8, len(vault))]+"-"+strconv.FormatInt(userID, 10), "s.sock")
}

// ListenFor makes a socket in a folder of its own for one further user. Without an administrator no account can give
// a file to another, so the folder and the socket stay this user's. Where the file system keeps access lists, the
// folder may be entered and the socket connected to by that user and nobody else. Where it does not, everybody may
// enter (not list) the folder and connect, and who it is the kernel says: the caller must refuse every other peer
// before it reads anything, in either case. The folder must hold nothing else. The error is an *Error. Design of the
// socket: one further user id.
func ListenFor(path string, userID int64) (*Listener, error) { return listenFor(path, userID, allow) }

func listenFor(path string, userID int64, allow func(path string, userID int64, perm uint16) error) (*Listener, error) {
	if err := checkName(path); err != nil {
		return nil, err
	}
	uid := os.Geteuid()
	dir, base := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	if err := ownFolder(path, dir, base, uid); err != nil {
		return nil, err
	}
	p, err := look(path, uid, false)
	if err != nil {
		return nil, err
	}
	l, err := listen(p)
	if err != nil {
		return nil, err
	}
	l.further = true
	if err := letIn(p, userID, allow); err != nil {
		_ = l.Close()
		return nil, fail(CodeFailed, p.given, "let the other user in", err)
	}
	return l, nil
}

// ownFolder makes the folder, or takes one that an earlier listener left: it belongs to this user, holds nothing but a
// socket of this name and its lock, and is shut to everybody else until the socket is there.
func ownFolder(path, dir, base string, uid int) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(CodePathUnsafe, path, "the folder above the socket's does not exist", err)
		}
		return fail(CodeFailed, path, "make the socket's folder", err)
	}
	if err := checkAbove(dir, uid); err != nil {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return fail(CodeFailed, path, "look at the socket's folder", err)
	}
	if owner, ok := ownerOf(fi); !fi.IsDir() || !ok || owner != uid {
		return fail(CodePathUnsafe, dir, "the socket's folder must be one of yours", nil)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fail(CodeFailed, path, "look into the socket's folder", err)
	}
	for _, e := range entries {
		if e.Name() != base && e.Name() != base+".lock" {
			return fail(CodePathTaken, dir, "the socket's folder holds something else", nil)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fail(CodeFailed, path, "shut the socket's folder", err)
	}
	return nil
}

// Permissions of an access list.
const (
	mayEnter   = 1
	mayConnect = 2 | 4
)

// letIn opens the socket and then its folder.
func letIn(p place, userID int64, allow func(string, int64, uint16) error) error {
	if allow(p.path(), userID, mayConnect) == nil && allow(p.dir, userID, mayEnter) == nil {
		return nil
	}
	// An access list that stays on the one without the other admits less than this does.
	if err := os.Chmod(p.path(), 0o666); err != nil {
		return err
	}
	return os.Chmod(p.dir, 0o711)
}

// Forget removes, after Close, what a listener of ListenFor leaves for its next start: its lock and its folder.
func (l *Listener) Forget() {
	if l.further {
		_ = os.Remove(l.place.path() + ".lock")
		_ = os.Remove(l.place.dir) // stays where somebody put something into it
	}
}

// DialOwner is Dial where the vault belongs to the user owner, who has added a socket for this user: the whole path must
// be owner's or the administrator's, and nobody else's to write, and owner must be who listens. For this user's own id it is
// Dial. The error is an *Error.
func DialOwner(ctx context.Context, path string, owner int64) (net.Conn, error) {
	if owner == int64(os.Geteuid()) {
		return Dial(ctx, path)
	}
	p, err := lookOther(path, int(owner))
	if err != nil {
		return nil, err
	}
	return connect(ctx, p, owner)
}

// lookOther resolves and checks the path of another user's socket.
func lookOther(path string, owner int) (place, error) {
	if err := checkName(path); err != nil {
		return place{}, err
	}
	path = filepath.Clean(path)
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	real, fi, err := resolve(path, dir, owner)
	if err != nil {
		return place{}, err
	}
	p := place{given: path, dir: real, base: base}
	if of, ok := ownerOf(fi); !fi.IsDir() || !ok || of != owner || fi.Mode().Perm()&0o022 != 0 {
		return place{}, fail(CodePathUnsafe, real, "the socket's folder must belong to the vault's user, and nobody else may write it", nil)
	}
	fi, err = os.Lstat(p.path())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return place{}, fail(CodeAbsent, path, "there is no socket", err)
		}
		return place{}, fail(CodeFailed, path, "look at the socket", err)
	}
	if fi.Mode().Type() != fs.ModeSocket {
		return place{}, fail(CodePathTaken, path, "this is not a socket", nil)
	}
	if of, ok := ownerOf(fi); !ok || of != owner {
		return place{}, fail(CodePathUnsafe, path, "the socket must belong to the vault's user", nil)
	}
	return p, nil
}
