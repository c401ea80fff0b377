package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// Listener accepts connections on a named pipe that only this user may open.
// Compiled, never run.
type Listener struct {
	net.Listener
	path string
}

// Listen makes the pipe. The first instance of its name is asked for, so that a name
// that somebody else holds is an error, and clients of other machines are refused.
func Listen(path string) (*Listener, error) {
	sid, err := userSID()
	if err != nil {
		return nil, fail(CodeFailed, path, "ask for this user's id", err)
	}
	l, err := winio.ListenPipe(path, &winio.PipeConfig{SecurityDescriptor: "D:P(A;;GA;;;" + sid + ")"})
	if err != nil {
		return nil, fail(CodeFailed, path, "make the pipe", err)
	}
	return &Listener{Listener: l, path: path}, nil
}

// Path is the pipe's name.
func (l *Listener) Path() string { return l.path }

// Dial opens the pipe and checks that its server runs as the same user.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail(CodeAbsent, path, "there is no pipe", err)
		}
		return nil, fail(CodeFailed, path, "open the pipe", err)
	}
	handle, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		_ = conn.Close()
		return nil, fail(CodeFailed, path, "ask who serves the pipe", errors.New("no handle"))
	}
	var pid uint32
	err = windows.GetNamedPipeServerProcessId(windows.Handle(handle.Fd()), &pid)
	if err == nil {
		err = sameUser(pid)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fail(CodeWrongUser, path, "the pipe is served by another user", err)
	}
	return conn, nil
}

// PeerOf asks who opened the pipe. The pipe's access list admits one user only and
// Windows has no numeric ids, so UserID stays -1; the process must run as this user.
func PeerOf(c net.Conn) (Peer, error) {
	p := Peer{UserID: -1}
	handle, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return p, errors.New("peer of a pipe: no handle")
	}
	var pid uint32
	if err := windows.GetNamedPipeClientProcessId(windows.Handle(handle.Fd()), &pid); err != nil {
		return p, err
	}
	if err := sameUser(pid); err != nil {
		return p, err
	}
	p.ProcessID = int64(pid)
	if h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid); err == nil {
		buf := make([]uint16, 1024)
		n := uint32(len(buf))
		if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) == nil {
			p.Executable = windows.UTF16ToString(buf[:n])
		}
		_ = windows.CloseHandle(h)
	}
	return p, nil
}

func userSID() (string, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", err
	}
	return u.User.Sid.String(), nil
}

func sameUser(pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var token windows.Token
	if err := windows.OpenProcessToken(h, windows.TOKEN_QUERY, &token); err != nil {
		return err
	}
	defer func() { _ = token.Close() }()
	other, err := token.GetTokenUser()
	if err != nil {
		return err
	}
	us, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	if !other.User.Sid.Equals(us.User.Sid) {
		return errors.New("the process belongs to another user")
	}
	return nil
}
