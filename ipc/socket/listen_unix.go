//go:build unix

package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxPath is the most bytes the kernel takes as a socket's path: 107 on Linux, 103
// on macOS.
const MaxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// Listener accepts connections on a checked path. It holds the lock of that path
// until Close or the end of the process.
type Listener struct {
	*net.UnixListener
	place place
	lock  *os.File
	made  fs.FileInfo
	once  sync.Once
	err   error

	further bool // made by ListenFor
}

// Listen makes the socket with mode 0600. The last folder of the path is made, 0700,
// if missing; owner and mode of the whole path are checked. A kernel lock on
// PATH.lock decides whether another vault listens here; only its holder removes a
// socket that was left behind, and the lock file itself stays. The error is an
// *Error. Design of the socket: owner and mode of the whole path.
func Listen(path string) (*Listener, error) {
	uid := os.Geteuid()
	p, err := look(path, uid, true)
	if err != nil {
		return nil, err
	}
	return listen(p)
}

// listen takes the lock of a checked path and makes the socket.
func listen(p place) (*Listener, error) {
	addr, done, err := address(p)
	if err != nil {
		return nil, err
	}
	defer done()
	lock, err := takeLock(p)
	if err != nil {
		return nil, err
	}
	l, err := bind(p, addr)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	l.lock = lock
	return l, nil
}

func takeLock(p place) (*os.File, error) {
	name := p.path() + ".lock"
	// A link is not followed, and nothing is waited for where a pipe has the name.
	if fi, err := os.Lstat(name); err == nil && !fi.Mode().IsRegular() {
		return nil, fail(CodePathTaken, name, "something that is not the socket's lock file has its name", nil)
	}
	lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fail(CodeFailed, p.given, "open the socket's lock file", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fail(CodeInUse, p.given, "another vault listens here", nil)
		}
		return nil, fail(CodeFailed, p.given, "lock the socket's lock file", err)
	}
	return lock, nil
}

func bind(p place, addr string) (*Listener, error) {
	switch fi, err := os.Lstat(p.path()); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fail(CodeFailed, p.given, "look at what has the socket's name", err)
	case fi.Mode().Type() != fs.ModeSocket:
		return nil, fail(CodePathTaken, p.given, "something that is not a socket has this name", nil)
	default:
		if err := os.Remove(p.path()); err != nil {
			return nil, fail(CodeFailed, p.given, "remove a socket that was left behind", err)
		}
	}
	ul, err := net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
	if err != nil {
		return nil, fail(CodeFailed, p.given, "make the socket", err)
	}
	ul.SetUnlinkOnClose(false) // its name may be that of a descriptor; Close does it
	err = os.Chmod(p.path(), 0o600)
	var made fs.FileInfo
	if err == nil {
		made, err = os.Lstat(p.path())
	}
	if err != nil {
		_ = ul.Close()
		_ = os.Remove(p.path())
		return nil, fail(CodeFailed, p.given, "protect the socket", err)
	}
	return &Listener{UnixListener: ul, place: p, made: made}, nil
}

// Path is the path that was given to Listen, cleaned.
func (l *Listener) Path() string { return l.place.given }

// Stands says whether the path still leads to the socket that was made.
func (l *Listener) Stands() bool {
	fi, err := os.Lstat(l.place.path())
	return err == nil && os.SameFile(fi, l.made)
}

// Close stops listening and removes the socket, if it is still the one that was
// made, and then gives up the lock.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.err = l.UnixListener.Close()
		if l.Stands() {
			l.err = errors.Join(l.err, os.Remove(l.place.path()))
		}
		_ = l.lock.Close()
	})
	return l.err
}

// Dial connects to the socket after the same checks of its whole path, and then asks
// the kernel who listens: another user's socket is CodeWrongUser. It blocks until
// connected or ctx ends. The error is an *Error.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	return dial(ctx, path, os.Geteuid())
}

func dial(ctx context.Context, path string, uid int) (net.Conn, error) {
	p, err := look(path, uid, false)
	if err != nil {
		return nil, err
	}
	if err := checkSocket(p, uid); err != nil {
		return nil, err
	}
	return connect(ctx, p, int64(uid))
}

// connect connects to a checked path and asks the kernel who listens.
func connect(ctx context.Context, p place, owner int64) (net.Conn, error) {
	addr, done, err := address(p)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", addr)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
			return nil, fail(CodeAbsent, p.given, "nobody listens on the socket", err)
		}
		return nil, fail(CodeFailed, p.given, "connect", err)
	}
	other, err := userOf(conn)
	if err != nil {
		_ = conn.Close()
		return nil, fail(CodeFailed, p.given, "ask who listens", err)
	}
	if other != owner {
		_ = conn.Close()
		return nil, fail(CodeWrongUser, p.given, "the socket is served by another user", nil)
	}
	return conn, nil
}

// address is what to bind or connect to: the path itself, or, where that is too
// long, the same entry seen through a descriptor of its folder.
func address(p place) (addr string, done func(), err error) {
	if path := p.path(); len(path) <= MaxPath {
		return path, func() {}, nil
	}
	dir, name, err := through(p.dir)
	if err != nil {
		return "", nil, fail(CodePathTooLong, p.given, "the socket's path is longer than the system takes", err)
	}
	addr = filepath.Join(name, p.base)
	if len(addr) > MaxPath {
		_ = dir.Close()
		return "", nil, fail(CodePathTooLong, p.given, "the socket's name is longer than the system takes", nil)
	}
	return addr, func() { _ = dir.Close() }, nil
}
