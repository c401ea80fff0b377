// Package elsewhere lets the owner look at what waits, and have a passkey asked for
// it, from another terminal than the desk's own: over a socket in the vault's
// folder, which only the owner's account can open. It can list, show, open a
// ceremony that approves, selects or declines, and list, remove and by a ceremony add sockets for further
// users, and nothing else. Any program of the account
// can ask for that; none can answer the passkey. Nor are a page's digits compared
// here: whoever asks for a page must not be who answers for it. Looking records nothing.
package elsewhere

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault/approvals"
	"vault/cmd/vault/internal/terminal"
	"vault/ipc/socket"
)

const (
	name     = "decide.sock"
	wait     = 5 * time.Second
	maxAsked = 4 << 10 // bytes of a question
	maxTold  = 8 << 20 // bytes of all answers to it
	patience = 15 * time.Minute
)

// ErrNobody says that no desk listens on the folder.
var ErrNobody = errors.New("elsewhere: nobody listens")

// ErrEnded says that a desk was asked and ended before it answered.
var ErrEnded = errors.New("elsewhere: the desk ended before it answered")

// Question is what can be asked.
type Question struct {
	Do      string `json:"do"` // "pending" | "show" | "decide" | "socket.list" | "socket.add" | "socket.remove"
	ID      string `json:"id,omitempty"`
	Digest  string `json:"digest,omitempty"`  // decide: that of the sheet as it was shown
	Verdict string `json:"verdict,omitempty"` // decide: "approve" | "option" | "decline"
	Option  int    `json:"option,omitempty"`  // from 0
	Name    string `json:"name,omitempty"`    // approve a pairing: the owner's name for the program
	User    string `json:"user,omitempty"`    // socket.add: account or number
	UserID  int64  `json:"user_id,omitempty"` // socket.remove
	Path    string `json:"path,omitempty"`    // socket.add, or the usual one
}

// Told is one line of the answer. The last one has Code, and no other has.
type Told struct {
	Text string `json:"text,omitempty"` // checked text
	// Whole are lines of it that are to be copied, and so are not cut into rows: a page's link, and what forwards it.
	Whole  []string `json:"whole,omitempty"`
	Digest string   `json:"digest,omitempty"` // show: that of the sheet
	Code   string   `json:"code,omitempty"`   // "done" or the code of what did not happen
}

// Listener answers until it is closed.
type Listener struct {
	l    *net.UnixListener
	stop context.CancelFunc
}

// Listen begins to answer for owner, whose folder's lock the caller holds; times are shown in loc.
func Listen(ctx context.Context, folder string, owner approvals.Owner, loc *time.Location) (*Listener, error) {
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
	ctx, stop := context.WithCancel(ctx)
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			go serve(ctx, c, owner, loc)
		}
	}()
	return &Listener{l: l, stop: stop}, nil
}

// Close stops answering, goes back from a ceremony that was asked for here, and removes the socket.
func (l *Listener) Close() error {
	l.stop()
	return l.l.Close()
}

func serve(ctx context.Context, c *net.UnixConn, owner approvals.Owner, loc *time.Location) {
	defer c.Close()
	peer, err := socket.PeerOf(c)
	if err != nil || peer.UserID != int64(os.Geteuid()) {
		return
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return
	}
	var q Question
	d := json.NewDecoder(io.LimitReader(c, maxAsked))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	// Whoever asked ends the ceremony by going away.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		var b [1]byte
		_, _ = c.Read(b[:]) // it says nothing more; the read ends when it has gone
		cancel()
	}()
	enc := json.NewEncoder(c)
	Answer(ctx, owner, loc, q, func(t Told) { _ = enc.Encode(t) }) // whoever asked may have gone
}

// Answer answers one question. It blocks for as long as the person takes, and returns after the line with a code.
func Answer(ctx context.Context, owner approvals.Owner, loc *time.Location, q Question, tell func(Told)) {
	switch q.Do {
	case "pending":
		tell(Told{Text: terminal.List(owner.Inbox(), loc, true), Code: "done"})
	case "show":
		s, err := owner.Look(ctx, q.ID)
		if err != nil {
			tell(refused(err))
			return
		}
		asks := terminal.Asks(s, owner.Policy(), len(owner.Passkeys()))
		tell(Told{Text: terminal.Render(s, loc) + asks, Digest: s.Digest, Code: "done"})
	case "decide":
		decide(ctx, owner, loc, q, tell)
	case "socket.list", "socket.add", "socket.remove":
		sockets(ctx, owner, loc, q, tell)
	default:
		tell(Told{Code: "malformed"})
	}
}

func refused(err error) Told {
	var r *approvals.Refusal
	if errors.As(err, &r) {
		return Told{Code: r.Code}
	}
	return Told{Code: "internal"}
}

// decide opens a ceremony for one decision on the sheet whose digest was shown.
func decide(ctx context.Context, owner approvals.Owner, loc *time.Location, q Question, tell func(Told)) {
	d := approvals.Decision{ID: q.ID, Digest: q.Digest, Confirm: true, Elsewhere: true}
	switch q.Verdict {
	case "approve":
		d.Verdict, d.Name = approvals.VerdictApprove, q.Name
	case "option":
		d.Verdict, d.Option = approvals.VerdictOption, q.Option
	case "decline":
		d.Verdict = approvals.VerdictDecline
	default:
		tell(Told{Code: "malformed"})
		return
	}
	switch {
	case len(owner.Passkeys()) == 0:
		tell(Told{Code: "no_passkey"})
		return
	case owner.Opened() != "":
		tell(Told{Code: "another_open"})
		return
	}
	if _, open := owner.Ceremony(); open {
		tell(Told{Code: "ceremony_open"})
		return
	}
	s, err := owner.Look(ctx, q.ID)
	if err != nil {
		tell(refused(err))
		return
	}
	if s.Digest != q.Digest || s.Note != nil {
		tell(Told{Code: "changed"})
		return
	}
	if s, err = owner.Open(ctx, q.ID); err != nil {
		tell(refused(err))
		return
	}
	stop := follow(ctx, owner, loc, q.ID, tell)
	out, err := owner.Decide(ctx, d)
	stop()
	owner.Closed(q.ID) // nothing where it has ended; else the next one can be opened
	var r *approvals.Refusal
	switch {
	case errors.As(err, &r) && r.Code == approvals.CodeMalformed:
		tell(Told{Code: "wrong_answer"}) // an option of what has none; a passkey's answer that is malformed is an outcome
	case err != nil:
		tell(refused(err))
	default:
		tell(Told{Code: out.Code})
	}
}

// follow tells how far the ceremony for id is until stop is called, and goes back from it when ctx ends.
func follow(ctx context.Context, owner approvals.Owner, loc *time.Location, id string, tell func(Told)) (stop func()) {
	changed, end, ended := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	unwatch := owner.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	go func() {
		defer close(ended)
		var shown approvals.CeremonyView
		gone := ctx.Done()
		for {
			select {
			case <-end:
				return
			case <-gone:
				gone = nil
				if v, open := owner.Ceremony(); open && v.For == id {
					owner.CancelCeremony()
				}
			case <-changed:
				v, open := owner.Ceremony()
				if !open || v.For != id || v.State == shown.State && v.Link == shown.Link && v.Digits == shown.Digits {
					continue
				}
				shown = v
				text := terminal.CeremonyText(v, loc)
				if v.State == approvals.CeremonyCompare {
					text += "Compare them in the vault's window, or on the terminal of vault serve (type compare): any program can type here, so it is not answered here.\n"
				}
				tell(Told{Text: text, Whole: []string{v.Link, v.Forward}})
			}
		}
	}()
	return func() {
		unwatch()
		close(end)
		<-ended
	}
}

// Ask asks the desk that holds the folder, calls told with each line, and gives the last code. It blocks for as long as
// the person takes.
func Ask(ctx context.Context, folder string, q Question, told func(Told) error) (string, error) {
	raw, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	c, err := net.DialTimeout("unix", filepath.Join(folder, name), wait)
	if err != nil {
		return "", errors.Join(ErrNobody, err)
	}
	defer c.Close()
	if len(raw) > maxAsked { // a desk would not read it to its end
		return "question_too_long", told(Told{Code: "question_too_long"})
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := c.Write(raw); err != nil {
		return "", errors.Join(ErrNobody, err)
	}
	d := json.NewDecoder(io.LimitReader(c, maxTold))
	for {
		var t Told
		if err := d.Decode(&t); err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "", errors.Join(ErrEnded, err)
		}
		if err := told(t); err != nil {
			return "", err
		}
		if t.Code != "" {
			return strings.ToValidUTF8(t.Code, ""), nil
		}
	}
}
