// Package page is the ceremony helper's half: one page, on one loopback port,
// for one act. It listens on both loopback families, has a browser open the page,
// and hands what the page sends to the key process, unread.
//
// Everything that reaches the port is hostile until it has shown otherwise: other
// web pages, other programs, other users. A request has to carry the exact Host,
// come from this user, and, where it does something, from the page itself; the page
// has to present a token that works once. What a passkey answers is nevertheless
// checked by the key process alone, which this package cannot replace.
//
// Tried with Chromium 156 on Debian 12 and its virtual authenticators, under both names
// that a page may have. Not tried: other browsers, other systems, and any real
// authenticator.
//
// It holds no key and no passkey, keeps nothing, sets no cookie, and ends with its line.
package page

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	"vault/cmd/internal/ceremony"
)

// Config is what a ceremony needs of its process.
type Config struct {
	Rand io.Reader
	Now  func() time.Time
	// Browser has the page opened; see [Browser].
	Browser Browser
	// UserOf returns the user id behind a connection from remote to local, an error that
	// is [ErrNotTold] where this system does not tell, another where it should have. See [UserOf].
	UserOf func(local, remote net.Addr) (int, error)
	UID    int // of this process
	// Environment reads a variable, for the words about SSH.
	Environment func(string) string
	// OpenTime is how long a browser may take until the link is offered.
	OpenTime time.Duration
}

// linger is how long the page may take to fetch the end of its ceremony.
const linger = 2 * time.Second

// Serve runs one ceremony on conn, which it closes. It blocks until the ceremony is over, or the
// key process has gone, and returns nil, or an error if that did not keep to the line.
func Serve(conn io.ReadWriteCloser, cfg Config) error {
	defer conn.Close()
	var rpID string
	if err := expect(conn, ceremony.MsgName, &rpID); err != nil {
		return err
	}
	if !ceremony.IsRPID(rpID) {
		return ceremony.Write(conn, ceremony.MsgOutcome, ceremony.NameRefused)
	}
	listeners, port, err := listen()
	if err != nil {
		return errors.Join(err, ceremony.Write(conn, ceremony.MsgOutcome, ceremony.NoPort))
	}
	s, err := newSite(cfg, rpID, port)
	if err == nil {
		err = ceremony.Write(conn, ceremony.MsgOrigin, s.origin)
	}
	var task ceremony.Task
	if err == nil {
		err = expect(conn, ceremony.MsgTask, &task)
	}
	if err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	s.task = task
	stop := s.serve(listeners)
	defer stop()
	return s.run(conn)
}

// run passes messages between the line and the site until the ceremony is over.
func (s *site) run(conn io.ReadWriteCloser) error {
	left := time.UnixMilli(s.task.Ends).Sub(s.cfg.Now())
	end := time.NewTimer(min(left, ceremony.MaxSeconds*time.Second))
	defer end.Stop()
	unopened := time.NewTimer(s.cfg.OpenTime)
	defer unopened.Stop()

	messages := make(chan message)
	done := make(chan struct{})
	defer close(done)
	go readMessages(conn, messages, done)

	opener := s.cfg.Browser.Open(s.link())
	defer func() {
		if !s.wasOpened() {
			opener.Kill()
		}
	}()
	if err := ceremony.Write(conn, ceremony.MsgEvent, ceremony.Event{Kind: ceremony.Ready, Link: s.link()}); err != nil {
		return ceremony.LineEnded
	}
	offered := false
	offer := func(why string) error {
		if offered || s.wasOpened() {
			return nil
		}
		offered = true
		return ceremony.Write(conn, ceremony.MsgEvent, ceremony.Event{
			Kind: ceremony.NoBrowser, Link: s.link(), Forward: forward(s.cfg.Environment, s.port), Detail: why,
		})
	}
	ended := opener.Ended
	for {
		var err error
		select {
		case m, ok := <-messages:
			switch {
			case !ok:
				s.end(ceremony.LineEnded)
				return nil
			case m.kind == ceremony.MsgCompared:
				var same bool
				if json.Unmarshal(m.body, &same) != nil || !same {
					s.end(ceremony.NotSame)
				} else {
					s.release()
				}
			case m.kind == ceremony.MsgVerdict:
				var v ceremony.Verdict
				if json.Unmarshal(m.body, &v) != nil || !s.judge(v) {
					return ceremony.LineEnded
				}
				return nil
			default:
				s.end(ceremony.LineEnded)
				return ceremony.LineEnded
			}
		case e := <-s.events:
			err = ceremony.Write(conn, ceremony.MsgEvent, e)
		case a := <-s.answers:
			err = ceremony.WriteRaw(conn, ceremony.MsgAnswer, a)
		case <-s.over:
			return ceremony.Write(conn, ceremony.MsgOutcome, s.outcome)
		case failed := <-ended:
			ended = nil
			if failed != nil {
				err = offer(failed.Error())
			}
		case <-unopened.C:
			err = offer("no page was loaded so far")
		case <-end.C:
			s.timeUp()
		}
		if err != nil { // the key process has gone, which is seen here or where messages end
			s.end(ceremony.LineEnded)
			return nil
		}
	}
}

type message struct {
	kind ceremony.Type
	body []byte
}

func readMessages(r io.Reader, to chan<- message, done <-chan struct{}) {
	defer close(to)
	for {
		kind, body, err := ceremony.Read(r)
		if err != nil {
			return
		}
		select {
		case to <- message{kind, body}:
		case <-done:
			return
		}
	}
}

// expect reads the message that must come now.
func expect(r io.Reader, want ceremony.Type, into any) error {
	kind, body, err := ceremony.Read(r)
	if err != nil || kind != want || json.Unmarshal(body, into) != nil {
		return ceremony.LineEnded
	}
	return nil
}
