package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"vault/cmd/vault/internal/tty"
)

// InertFor is how long keys are dropped after something new was shown
// (consent sheet, group J).
const InertFor = time.Second

// ErrClosed says that the terminal went away, or that Ctrl-C or Ctrl-D was typed.
var ErrClosed = errors.New("terminal: closed")

// Console reads lines that a person types, one prompt at a time. What was typed
// ahead of a prompt, what is pasted, and what comes while the console is inert is
// dropped. Between prompts the device is in its ordinary mode and nobody reads
// from it, so that the secret window may use it.
type Console struct {
	dev tty.Device
	now func() time.Time

	mu      sync.Mutex
	open    *term.Terminal // the prompt that is being read, or nil
	until   time.Time      // inert until then
	notices []string       // to be printed before the next prompt
}

// NewConsole gives a console on dev with the clock now.
func NewConsole(dev tty.Device, now func() time.Time) *Console {
	return &Console{dev: dev, now: now}
}

// Print writes text, which must have been checked already, at once, in rows that
// fit the terminal.
func (c *Console) Print(text string) error { return c.PrintWhole(text) }

// PrintWhole is Print, but for lines that are one of whole and words of ours in ASCII: a link or a command that is to be
// copied is left to the terminal to wrap, which then copies it in one piece.
func (c *Console) PrintWhole(text string, whole ...string) error {
	text = Uncut(text, c.Columns(), whole...)
	c.mu.Lock()
	t := c.open
	c.mu.Unlock()
	if t != nil {
		_, err := t.Write([]byte(text))
		return err
	}
	_, err := io.WriteString(c.dev, text)
	return err
}

// Notice prints one line of ours above the prompt that is open, or before the
// next one. It never blocks on the person.
func (c *Console) Notice(line string) {
	c.mu.Lock()
	t := c.open
	if t == nil {
		c.notices = append(c.notices, line)
	}
	c.mu.Unlock()
	if t != nil {
		_, _ = t.Write([]byte(line + "\n"))
	}
}

// Inert drops every key for InertFor from now: something new is on the screen.
func (c *Console) Inert() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = c.now().Add(InertFor)
}

// Rows is the number of lines that fit, at least 10.
func (c *Console) Rows() int {
	_, rows, err := c.dev.Size()
	if err != nil || rows < 10 {
		return 24
	}
	return rows
}

// Columns is the number of columns that rows may use, one less than there are:
// terminals differ on what follows a full row.
func (c *Console) Columns() int {
	cols, _, err := c.dev.Size()
	if err != nil || cols <= 0 {
		cols = usualColumns
	}
	return max(cols, leastColumns) - 1
}

// Ask prints the prompt and gives the line typed after it, without spaces at its
// ends. It blocks until Enter; it returns ErrClosed at Ctrl-C and Ctrl-D, and the
// context's error when it ends.
func (c *Console) Ask(ctx context.Context, prompt string) (string, error) {
	line, err := c.read(ctx, prompt, nil)
	return strings.TrimSpace(line), err
}

// AskWhole is Ask for a line whose blanks count: it is given exactly as it was typed.
func (c *Console) AskWhole(ctx context.Context, prompt string) (string, error) {
	return c.read(ctx, prompt, nil)
}

// AskAmong is Ask where the arrow keys walk through choices: down begins with the first. Enter
// takes what then stands on the line.
func (c *Console) AskAmong(ctx context.Context, prompt string, choices []string) (string, error) {
	line, err := c.read(ctx, prompt, choices)
	return strings.TrimSpace(line), err
}

func (c *Console) read(ctx context.Context, prompt string, choices []string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	restore, err := c.dev.Raw()
	if err != nil {
		return "", err
	}
	if err := c.dev.Flush(); err != nil {
		return "", errors.Join(err, restore())
	}
	if err := c.dev.SetReadDeadline(time.Time{}); err != nil {
		return "", errors.Join(err, restore())
	}
	stop := context.AfterFunc(ctx, func() { _ = c.dev.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&typed{c: c, turned: len(choices) > 0}, c.dev}, prompt)
	t.History = walk(choices)
	if cols, rows, err := c.dev.Size(); err == nil && cols > 0 && rows > 0 {
		_ = t.SetSize(cols, rows)
	}
	_, _ = io.WriteString(c.dev, pasteOn)
	c.mu.Lock()
	waiting := c.notices
	c.notices = nil
	c.open = t
	c.mu.Unlock()
	for _, n := range waiting {
		_, _ = t.Write([]byte(n + "\n"))
	}
	line, err := t.ReadLine()

	c.mu.Lock()
	c.open = nil
	c.mu.Unlock()
	_, _ = io.WriteString(c.dev, pasteOff)
	if rerr := restore(); err == nil {
		err = rerr
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			_, _ = io.WriteString(c.dev, "\n")
			return "", ErrClosed
		}
		return "", err
	}
	return line, nil
}

// walk stands in the place of a history: it offers choices and keeps nothing that was typed.
type walk []string

// Add implements [term.History].
func (walk) Add(string) {}

// Len implements [term.History].
func (w walk) Len() int { return len(w) }

// At implements [term.History].
func (w walk) At(i int) string { return w[i] }

// The marks that a terminal puts around pasted text, and how to ask it for them.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// typed reads the device and lets through only what a person types now: no
// pasted text, nothing while the console is inert.
type typed struct {
	c       *Console
	pasting bool
	turned  bool   // arrow up and down change places, so that down goes forward through choices
	arrow   int    // how much of the beginning of an arrow key was let through
	partial []byte // a beginning of pasteBegin, or of pasteEnd while pasting
	ready   []byte
}

// Read implements io.Reader.
func (r *typed) Read(p []byte) (int, error) {
	var buf [256]byte
	for len(r.ready) == 0 {
		n, err := r.c.dev.Read(buf[:])
		if n > 0 {
			r.take(buf[:n], r.c.inert())
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

func (c *Console) inert() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Before(c.until)
}

// take sorts the bytes read. The marks are followed in the inert time too, so that
// a paste that begins in it does not end as typing. Ctrl-C is always let through.
func (r *typed) take(b []byte, inert bool) {
	for _, x := range b {
		mark := pasteBegin
		if r.pasting {
			mark = pasteEnd
		}
		r.partial = append(r.partial, x)
		if string(r.partial) == mark {
			r.pasting = !r.pasting
			r.partial = r.partial[:0]
			continue
		}
		if strings.HasPrefix(mark, string(r.partial)) {
			continue
		}
		held := append([]byte(nil), r.partial...)
		r.partial = r.partial[:0]
		if x == pasteBegin[0] { // the mark may begin at this very byte
			held = held[:len(held)-1]
			r.partial = append(r.partial, x)
		}
		if r.pasting {
			continue
		}
		if inert {
			if x == ctrlC {
				r.ready = append(r.ready, x)
			}
			continue
		}
		for _, k := range held {
			r.ready = append(r.ready, r.turn(k))
		}
	}
}

// turn changes the arrows up and down into each other where they walk through choices.
func (r *typed) turn(k byte) byte {
	switch {
	case k == pasteBegin[0]:
		r.arrow = 1
	case r.arrow == 1 && k == '[':
		r.arrow = 2
	case r.arrow == 2 && r.turned && (k == 'A' || k == 'B'):
		r.arrow = 0
		return 'A' + 'B' - k
	default:
		r.arrow = 0
	}
	return k
}

const ctrlC = 3
