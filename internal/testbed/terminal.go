//go:build linux

package testbed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Terminal is a program on a terminal of its own, at which a person sits. Its
// methods may be called from one goroutine at a time.
type Terminal struct {
	*Process
	keys *os.File

	mu   sync.Mutex
	text strings.Builder // everything that was printed
	read int             // how much of it was awaited
}

// StartTerminal starts a program as the leader of a new session on a new terminal.
func (b *Bed) StartTerminal(cmd *exec.Cmd) (*Terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	slave, err := open(master)
	if err != nil {
		_ = master.Close()
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(cmd.Env, "TERM=xterm")
	p, err := b.Start(cmd)
	_ = slave.Close() // the program has its own
	if err != nil {
		_ = master.Close()
		return nil, err
	}
	t := &Terminal{Process: p, keys: master}
	go copyAll(t, master)
	b.ends = append(b.ends, func() { _ = master.Close() })
	return t, nil
}

func open(master *os.File) (*os.File, error) {
	conn, err := master.SyscallConn()
	if err != nil {
		return nil, err
	}
	var slave *os.File
	cerr := conn.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		var n int
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		if err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 200, Col: 160}); err != nil {
			return
		}
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	})
	if cerr != nil {
		return nil, cerr
	}
	return slave, err
}

// Write takes what the program prints.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// Text is everything that was printed so far.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Await waits until text is printed after what was awaited before, and gives what
// came before it.
func (t *Terminal) Await(ctx context.Context, text string) (before string, err error) {
	ended := false
	err = Until(ctx, fmt.Sprintf("%q on the terminal", text), func() (bool, error) {
		all := t.Text()
		if i := strings.Index(all[t.read:], text); i >= 0 {
			before = all[t.read : t.read+i]
			t.read += i + len(text)
			return true, nil
		}
		if ended {
			return false, fmt.Errorf("the program has ended after %q", all[t.read:])
		}
		select {
		case <-t.Done():
			ended = true // one look more: what it printed last may still be on its way
		default:
		}
		return false, nil
	})
	if err != nil {
		return "", fmt.Errorf("%w; the end of the screen: %q", err, tail(t.Text()))
	}
	return before, nil
}

func tail(s string) string { return s[max(0, len(s)-600):] }

// Type types a line and Enter.
func (t *Terminal) Type(line string) error {
	_, err := t.keys.WriteString(line + "\r")
	return err
}

// Answer waits for a prompt and types a line.
func (t *Terminal) Answer(ctx context.Context, prompt, line string) error {
	if _, err := t.Await(ctx, prompt); err != nil {
		return err
	}
	return t.Type(line)
}
