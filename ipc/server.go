package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"vault/approvals"
	"vault/ipc/socket"
)

// Limits bounds what clients can make the server hold. The zero value of a field
// stands for its default.
type Limits struct {
	Frame              int           // bytes of one line, 1 MiB
	SmallFrame         int           // longer lines are handled alone and need a permit, 64 KiB
	LargeFrames        int           // permits for longer lines over all connections, 64
	Connections        int           // in all, 512
	ConnectionsPerPeer int           // of one process, 256
	CallsPerConnection int           // unanswered; more are not read until one is answered, 16
	FrameTime          time.Duration // from the first byte of a line to its end, 10 seconds
	WriteTime          time.Duration // for one answer to be taken, 10 seconds
	IdleUnproven       time.Duration // without a call in flight, before hello.prove, 60 seconds
	IdleProven         time.Duration // the same after it, 1 hour
	Wait               time.Duration // calls that wait for a person, 50 seconds
}

func (l Limits) withDefaults() Limits {
	number := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	span := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	number(&l.Frame, 1<<20)
	number(&l.SmallFrame, 64<<10)
	number(&l.LargeFrames, 64)
	number(&l.Connections, 512)
	number(&l.ConnectionsPerPeer, 256)
	number(&l.CallsPerConnection, 16)
	span(&l.FrameTime, 10*time.Second)
	span(&l.WriteTime, 10*time.Second)
	span(&l.IdleUnproven, time.Minute)
	span(&l.IdleProven, time.Hour)
	span(&l.Wait, 50*time.Second)
	return l
}

// Options are what a server needs.
type Options struct {
	Agents approvals.Agents
	// UserID is the one user that may connect; nil stands for the user of this process.
	// On Windows the pipe's access list does this.
	UserID *int64
	Limits Limits
	// Log is told of faults of the vault itself, never of a client's text. It may be nil.
	Log func(error)
}

// Server serves one desk on any number of listeners.
type Server struct {
	o     Options
	uid   int64
	lim   Limits
	large chan struct{}
	// leaving holds a place for each connection that was turned away and not yet closed.
	leaving chan struct{}
	base    context.Context
	stop    context.CancelFunc

	mu        sync.Mutex
	closing   bool
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	peers     map[int64]int // connections by process id
	wg        sync.WaitGroup
}

// New makes a server. It starts nothing.
func New(o Options) *Server {
	lim := o.Limits.withDefaults()
	uid := int64(os.Geteuid())
	if o.UserID != nil {
		uid = *o.UserID
	}
	base, stop := context.WithCancel(context.Background())
	return &Server{
		o: o, uid: uid, lim: lim, base: base, stop: stop,
		large:     make(chan struct{}, lim.LargeFrames),
		leaving:   make(chan struct{}, turnedAwayMost),
		listeners: make(map[net.Listener]bool),
		conns:     make(map[*conn]bool),
		peers:     make(map[int64]int),
	}
}

// ErrStopped is what Serve returns after Shutdown.
var ErrStopped = errors.New("the socket's server was stopped")

// Serve accepts connections until Shutdown, which makes it return ErrStopped, or
// until the listener fails. It blocks. It closes the listener. Design of the
// socket.
func (s *Server) Serve(l net.Listener) error {
	defer func() { _ = l.Close() }()
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ErrStopped
	}
	s.listeners[l] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	for {
		c, err := l.Accept()
		if err == nil {
			s.admit(c)
			continue
		}
		if s.base.Err() != nil {
			return ErrStopped
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept: %w", err)
		}
		s.log(fmt.Errorf("accept: %w", err)) // out of descriptors, for one
		select {
		case <-time.After(50 * time.Millisecond):
		case <-s.base.Done():
			return ErrStopped
		}
	}
}

// Shutdown stops accepting, lets waiting calls end as pending, sends the answers that
// are under way, and closes every connection; what is not done when ctx ends is cut.
// It blocks until all connections are closed.
func (s *Server) Shutdown(ctx context.Context) {
	s.mu.Lock()
	s.closing = true
	s.stop()
	for l := range s.listeners {
		_ = l.Close()
	}
	for c := range s.conns {
		c.frames.drain()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		_ = c.frames.Close()
	}
	s.mu.Unlock()
	<-gone
}

func (s *Server) log(err error) {
	if s.o.Log != nil {
		s.o.Log(err)
	}
}

// admit decides on a new connection and serves it on a goroutine of its own.
func (s *Server) admit(nc net.Conn) {
	peer, err := socket.PeerOf(nc)
	switch {
	case err != nil:
		s.turnAway(nc, refuse("peer_unknown"))
		return
	case peer.UserID != s.uid:
		s.turnAway(nc, refuse("wrong_user"))
		return
	}
	c := &conn{server: s, frames: newFrames(nc, &s.lim, s.large), peer: approvals.Peer{
		UserID: peer.UserID, ProcessID: peer.ProcessID,
		Executable: peer.Executable, Command: peer.Command, Parents: peer.Parents,
	}}
	if refusal := s.enter(c); refusal != nil {
		s.turnAway(nc, refusal)
		return
	}
	go c.serve()
}

// turnAway answers before anything was read. The line is short enough for the
// socket's own buffer.
func (s *Server) turnAway(nc net.Conn, r *approvals.Refusal) {
	_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = nc.Write(append(errorLine(r), '\n'))
	select {
	case s.leaving <- struct{}{}:
	default: // too many at once: the answer may be lost
		_ = nc.Close()
		return
	}
	go func() {
		// A socket that is closed over unread bytes takes the answer with it, and a
		// client speaks first: what it sent meanwhile is read and dropped.
		_ = nc.SetReadDeadline(time.Now().Add(turnedAwayTime))
		_, _ = io.CopyN(io.Discard, nc, turnedAwayBytes)
		_ = nc.Close()
		<-s.leaving
	}()
}

// How long, how much of and how many of those that were turned away are listened to.
const (
	turnedAwayTime  = 250 * time.Millisecond
	turnedAwayBytes = 64 << 10
	turnedAwayMost  = 64
)

// enter counts a connection. When all places are taken, the unproven connection that
// has been idle longest gives up its own.
func (s *Server) enter(c *conn) *approvals.Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return refuse("stopping")
	}
	full := refuse("too_many_connections")
	full.RetryAfterMS = 1000
	if s.peers[c.peer.ProcessID] >= s.lim.ConnectionsPerPeer {
		return full
	}
	if len(s.conns) >= s.lim.Connections {
		oldest := s.longestIdle()
		if oldest == nil {
			return full
		}
		s.forget(oldest)
		_ = oldest.frames.Close()
	}
	s.conns[c] = true
	s.peers[c.peer.ProcessID]++
	s.wg.Add(1)
	return nil
}

func (s *Server) longestIdle() *conn {
	var oldest *conn
	var since time.Time
	for c := range s.conns {
		if at, ok := c.frames.idleSince(); ok && (oldest == nil || at.Before(since)) {
			oldest, since = c, at
		}
	}
	return oldest
}

// forget is called with mu held.
func (s *Server) forget(c *conn) {
	if !s.conns[c] {
		return
	}
	delete(s.conns, c)
	if s.peers[c.peer.ProcessID]--; s.peers[c.peer.ProcessID] == 0 {
		delete(s.peers, c.peer.ProcessID)
	}
}

// stageGreeting is a hello that is under way; no method has it.
const stageGreeting stage = 255

// conn is one admitted connection.
type conn struct {
	server *Server
	frames *frames
	peer   approvals.Peer

	mu    sync.Mutex
	stage stage
	talk  approvals.Conversation // set before stage is stageGreeted
}

func (c *conn) serve() {
	s := c.server
	defer s.wg.Done()
	srv := jrpc2.NewServer(c, &jrpc2.ServerOptions{
		DisableBuiltin: true,
		Concurrency:    max(s.lim.CallsPerConnection, maxBatch),
		NewContext:     func() context.Context { return s.base },
	}).Start(c.frames)
	_ = srv.Wait()
	_ = c.frames.Close()
	if c.talk != nil {
		c.talk.Close()
	}
	s.mu.Lock()
	s.forget(c)
	s.mu.Unlock()
}

// Assign implements jrpc2.Assigner. Every name has a handler, so that an unknown one
// is answered in the same form as everything else.
func (c *conn) Assign(_ context.Context, name string) jrpc2.Handler {
	m, ok := methodOf(name)
	return func(ctx context.Context, req *jrpc2.Request) (result any, err error) {
		defer c.frames.answered(req.ID())
		defer func() {
			if p := recover(); p != nil {
				// The value may hold a client's text; the stack holds none.
				c.server.log(fmt.Errorf("method %s panicked (%T)\n%s", m.name, p, debug.Stack()))
				result, err = nil, toError(refuse("internal"))
			}
		}()
		if !ok {
			return nil, toError(refuse("method_unknown"))
		}
		result, err = c.call(ctx, m, req)
		if err != nil {
			return nil, c.failure(m, err)
		}
		return result, nil
	}
}

func (c *conn) call(ctx context.Context, m method, req *jrpc2.Request) (any, error) {
	if err := c.reached(m.stage); err != nil {
		return nil, err
	}
	a, refusal := cut(c.frames.paramsOf(req.ID()), m.fields)
	if refusal != nil {
		return nil, refusal
	}
	if m.waits {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.server.lim.Wait)
		defer cancel()
	}
	return m.run(ctx, c, a)
}

// failure turns an error of a method into what the client gets.
func (c *conn) failure(m method, err error) error {
	var r *approvals.Refusal
	if errors.As(err, &r) {
		return toError(r)
	}
	if c.server.base.Err() != nil && errors.Is(err, context.Canceled) {
		return toError(refuse("stopping"))
	}
	c.server.log(fmt.Errorf("method %s: %w", m.name, err))
	return toError(refuse("internal"))
}

// reached says whether the handshake is where a method needs it.
func (c *conn) reached(need stage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case need == stageNew && c.stage != stageNew:
		return refuse("hello_again")
	case need >= stageGreeted && (c.stage == stageNew || c.stage == stageGreeting):
		return refuse("hello_first")
	case need == stageProven && c.stage != stageProven:
		return refuse("prove_first")
	}
	return nil
}

// advance moves the handshake from one stage to the next, once.
func (c *conn) advance(from, to stage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage != from {
		return false
	}
	c.stage = to
	return true
}
