// Package wake lets a second start of the program reach the first one, over a
// socket in the vault's own folder, which only the owner's account can open. It can
// ask for two things and no more: that the window be shown, and that the vault be
// locked. Neither gives anybody anything; nothing is answered but that it was heard.
package wake

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"vault/ipc/socket"
)

// Word is what can be asked for.
type Word byte

// The words.
const (
	Show Word = 's'
	Lock Word = 'l'
)

const (
	name  = "wake.sock"
	heard = 'h'
	wait  = 5 * time.Second
)

// ErrNobody says that no desk listens on the folder.
var ErrNobody = errors.New("wake: nobody listens")

// Listener hears words until it is closed.
type Listener struct{ l *net.UnixListener }

// Listen begins to hear words for the desk that holds folder's lock; on is called
// with each, one at a time, and the one who asked is answered when it returns.
func Listen(folder string, on func(Word)) (*Listener, error) {
	path := filepath.Join(folder, name)
	// The folder's lock is ours, so what lies here was left by a desk that ended.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			serve(c, on)
		}
	}()
	return &Listener{l: l}, nil
}

func serve(c *net.UnixConn, on func(Word)) {
	defer c.Close()
	peer, err := socket.PeerOf(c)
	if err != nil || peer.UserID != int64(os.Geteuid()) {
		return
	}
	if err := c.SetDeadline(time.Now().Add(wait)); err != nil {
		return
	}
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return
	}
	switch w := Word(b[0]); w {
	case Show, Lock:
		on(w)
		_, _ = c.Write([]byte{heard}) // whoever asked may have gone
	}
}

// Close stops hearing and removes the socket.
func (l *Listener) Close() error { return l.l.Close() }

// Ask says a word to the desk that holds the folder, and waits until it was heard.
func Ask(folder string, w Word) error {
	c, err := net.DialTimeout("unix", filepath.Join(folder, name), wait)
	if err != nil {
		return errors.Join(ErrNobody, err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(2 * wait)); err != nil {
		return err
	}
	if _, err := c.Write([]byte{byte(w)}); err != nil {
		return errors.Join(ErrNobody, err)
	}
	var b [1]byte
	if _, err := io.ReadFull(c, b[:]); err != nil || b[0] != heard {
		return errors.Join(ErrNobody, err)
	}
	return nil
}
