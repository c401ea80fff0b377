package mcp

import (
	"context"
	"errors"
	"sync"

	"vault/ipc/client"
)

// Link connects with a kept pairing, and pairs first where there is none: the calls until then
// answer with the six digits, which the owner compares with those in the vault.
type Link struct {
	Path  string // of the socket
	Owner string // of the vault, where it is another user's: client.DialOwner
	File  string // of the pairing
	Name  string // what the program calls itself

	mu      sync.Mutex
	pairing *client.Pairing
	asking  *asking // the pairing under way, or nil
}

// asking is a pairing that waits for the owner.
type asking struct {
	digits string
	done   chan struct{}
	err    error // once done is closed
}

// Connect implements [Options.Connect].
func (l *Link) Connect(ctx context.Context) (*client.Conn, error) {
	p, err := l.kept(ctx)
	if err != nil {
		return nil, err
	}
	c, err := client.DialOwner(ctx, l.Path, l.Owner)
	if err != nil {
		return nil, err
	}
	if _, err := c.Hello(ctx, p); err != nil {
		_ = c.Close()
		var e *client.Error
		if errors.As(err, &e) && (e.Code == "revoked" || e.Code == "not_paired") {
			l.mu.Lock()
			l.pairing = nil // the next call reads the file again: it may have been paired anew
			l.mu.Unlock()
		}
		return nil, err
	}
	return c, nil
}

// Close writes down the newest head that the vault gave, and wipes the secret.
func (l *Link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pairing == nil {
		return nil
	}
	defer l.pairing.Wipe()
	return l.pairing.Save(l.File)
}

// kept gives the pairing, or says what the owner has to compare.
func (l *Link) kept(ctx context.Context) (*client.Pairing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pairing != nil {
		return l.pairing, nil
	}
	if l.asking != nil {
		select {
		case <-l.asking.done:
			err := l.asking.err
			l.asking = nil
			if err != nil {
				return nil, err
			}
		default:
			return nil, l.asking.compare()
		}
	}
	p, err := client.Load(l.File)
	if err == nil {
		l.pairing = p
		return p, nil
	}
	if !errors.Is(err, client.ErrNotPaired) {
		return nil, refuse("pairing_file", "The file of this program's pairing cannot be used.", "It must be a regular file that only its owner can read. Ask the owner to look at it, or to pair again.")
	}
	shown := make(chan string, 1)
	a := &asking{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		// It outlives the call that began it: the owner takes longer.
		a.err = l.pair(context.WithoutCancel(ctx), func(digits string) { shown <- digits })
	}()
	select {
	case a.digits = <-shown:
		l.asking = a
		return nil, a.compare()
	case <-a.done:
		return nil, a.err
	}
}

func (a *asking) compare() error {
	return refuse("pairing_pending", "The vault asks its owner to admit this program. Its number is "+a.digits+".",
		"Ask the owner to compare the number with the one in the vault and to approve there; then call again.")
}

// pair asks to be paired and keeps what comes of it.
func (l *Link) pair(ctx context.Context, show func(string)) error {
	c, err := client.DialOwner(ctx, l.Path, l.Owner)
	if err != nil {
		return err
	}
	defer c.Close()
	p, err := c.Pair(ctx, l.Name, show)
	if err != nil {
		return err
	}
	defer p.Wipe()
	return p.Save(l.File)
}
