package keys

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// The line carries one gob stream each way, cut into frames of four length
// bytes (big endian) and that many bytes. Gob because both ends are built from
// the same source and acts are bytes and short texts; frames because a gob
// stream by itself has no bound that fits here; not net/rpc because it can
// neither cancel a call nor outlive a panic in one.
const (
	// MaxFrame bounds one message: a snapshot of some 900,000 envelope hashes.
	MaxFrame = 64 << 20
	// largeFrame is the size from which the server reads nothing else until the call is done.
	largeFrame = 1 << 20
	// maxCalls is how many calls the server takes at once.
	maxCalls = 16
)

// CodeEnded is the code of the error that every call gets when the key process
// has ended, or ends before it has answered.
const CodeEnded = "locked"

// CodeInternal is the code of a fault of the key process itself.
const CodeInternal = "internal"

type request struct {
	ID         uint64
	Cancel     bool // the call ID is no longer wanted
	Method     string
	Create     *Create
	Unlock     *Unlock
	Restore    *Restore
	Load       *Load
	Backup     *Backup
	Bytes      []byte
	Text       string
	Surface    Surface
	Protection Protection
	Acts       []Act
	Ask        *Ask
	Mint       *MintAsk
	Flag       bool
	Index      int64
}

type reply struct {
	ID      uint64
	Err     *Error
	Public  *Public
	Loaded  *Loaded
	Bytes   []byte
	Text    string
	Answers []Answer
	Begun   *Begun
	Step    *Step
	Mint    *MintAnswer
}

// methods is every call, and how the server makes it.
var methods = map[string]func(context.Context, Handler, *request, *reply) error{
	"create": func(ctx context.Context, h Handler, q *request, r *reply) error {
		return public(r)(h.Create(ctx, value(q.Create)))
	},
	"unlock": func(ctx context.Context, h Handler, q *request, r *reply) error {
		return public(r)(h.Unlock(ctx, value(q.Unlock)))
	},
	"restore": func(ctx context.Context, h Handler, q *request, r *reply) error {
		return public(r)(h.Restore(ctx, value(q.Restore)))
	},
	"new_instance": func(ctx context.Context, h Handler, _ *request, r *reply) error {
		return public(r)(h.NewInstance(ctx))
	},
	"load": func(ctx context.Context, h Handler, q *request, r *reply) error {
		l, err := h.Load(ctx, value(q.Load))
		r.Loaded = &l
		return err
	},
	"plan": func(ctx context.Context, h Handler, q *request, r *reply) (err error) {
		r.Bytes, err = h.Plan(ctx, q.Bytes)
		return err
	},
	"address": func(ctx context.Context, h Handler, q *request, r *reply) (err error) {
		r.Text, err = h.Address(ctx, q.Bytes)
		return err
	},
	"seat_key": func(ctx context.Context, h Handler, q *request, r *reply) (err error) {
		r.Text, err = h.SeatKey(ctx, q.Index)
		return err
	},
	"commit": func(ctx context.Context, h Handler, q *request, r *reply) (err error) {
		r.Answers, err = h.Commit(ctx, q.Acts)
		return err
	},
	"show_words": func(ctx context.Context, h Handler, q *request, _ *reply) error {
		return h.ShowWords(ctx, q.Surface)
	},
	"change_protection": func(ctx context.Context, h Handler, q *request, r *reply) error {
		return public(r)(h.ChangeProtection(ctx, q.Protection, q.Surface))
	},
	"prove": func(ctx context.Context, h Handler, q *request, _ *reply) error {
		return h.Prove(ctx, q.Text, q.Surface)
	},
	"backup": func(ctx context.Context, h Handler, q *request, _ *reply) error {
		return h.Backup(ctx, value(q.Backup))
	},
	"bot_nonce": func(ctx context.Context, h Handler, q *request, r *reply) (err error) {
		r.Text, err = h.BotNonce(ctx, q.Text)
		return err
	},
	"minted": func(ctx context.Context, h Handler, q *request, r *reply) error {
		m, err := h.Minted(ctx, value(q.Mint))
		r.Mint = &m
		return err
	},
	"public": func(ctx context.Context, h Handler, _ *request, r *reply) error {
		return public(r)(h.Public(ctx))
	},
	"begin": func(ctx context.Context, h Handler, q *request, r *reply) error {
		b, err := h.Begin(ctx, value(q.Ask))
		r.Begun = &b
		return err
	},
	"next": func(ctx context.Context, h Handler, q *request, r *reply) error {
		s, err := h.Next(ctx, q.Text)
		r.Step = &s
		return err
	},
	"compared": func(ctx context.Context, h Handler, q *request, _ *reply) error {
		return h.Compared(ctx, q.Text, q.Flag)
	},
	"stop":   func(ctx context.Context, h Handler, q *request, _ *reply) error { return h.Stop(ctx, q.Text) },
	"anchor": func(ctx context.Context, h Handler, _ *request, _ *reply) error { return h.Anchor(ctx) },
	"lock":   func(ctx context.Context, h Handler, _ *request, _ *reply) error { return h.Lock(ctx) },
}

func public(r *reply) func(Public, error) error {
	return func(p Public, err error) error {
		r.Public = &p
		return err
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// end is one end of the line. Send is safe for concurrent use, receive is not.
type end struct {
	conn io.ReadWriter

	mu  sync.Mutex
	out bytes.Buffer
	enc *gob.Encoder

	in   *bufio.Reader
	left int // of the frame that is being read
	dec  *gob.Decoder
}

func newEnd(conn io.ReadWriter) *end {
	e := &end{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	e.enc = gob.NewEncoder(&e.out)
	e.dec = gob.NewDecoder((*frames)(e))
	return e
}

func (e *end) send(v any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.out.Reset()
	e.out.Write(make([]byte, 4))
	if err := e.enc.Encode(v); err != nil {
		return err
	}
	n := e.out.Len() - 4
	if n > MaxFrame {
		return errors.New("key line: message is too long")
	}
	binary.BigEndian.PutUint32(e.out.Bytes(), uint32(n))
	_, err := e.conn.Write(e.out.Bytes())
	if e.out.Cap() > largeFrame {
		// The encoder keeps the buffer; let the large piece go.
		e.out = bytes.Buffer{}
	}
	return err
}

// receive reads one frame, which must be exactly one value, and returns its size.
func (e *end) receive(v any) (size int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(e.in, head[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return 0, errors.New("key line: message is too long")
	}
	e.left = int(n)
	if err := e.dec.Decode(v); err != nil {
		return 0, err
	}
	if e.left != 0 {
		return 0, errors.New("key line: message and frame differ")
	}
	return int(n), nil
}

// frames is the gob decoder's view: what is left of the frame. It is an
// io.ByteReader, so that the decoder does not read ahead.
type frames end

func (f *frames) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := f.in.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

func (f *frames) ReadByte() (byte, error) {
	if f.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	f.left--
	return f.in.ReadByte()
}

// Serve answers calls that arrive on conn until the other end closes it, a
// message is damaged, or a call of Lock has been answered; then it waits for the
// calls that are under way, with their contexts cancelled. It returns nil after
// Lock and after a clean end. It does not close conn: the other end takes the
// end of the line for the end of the process.
//
// Where a call panics its answer is an error with code "internal", and
// onPanic gets the method and the stack, which holds no values.
func Serve(conn io.ReadWriter, h Handler, onPanic func(method string, stack []byte)) error {
	s := server{end: newEnd(conn), handler: h, onPanic: onPanic, cancels: map[uint64]context.CancelFunc{}}
	ctx, cancel := context.WithCancel(context.Background())
	defer s.calls.Wait()
	defer cancel()
	return s.run(ctx)
}

// callers is the stack as functions and lines. A runtime stack trace would
// also show arguments.
func callers() (text []byte) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		text = fmt.Appendf(text, "%s:%d\n", f.Function, f.Line)
		if !more {
			return text
		}
	}
}

type server struct {
	*end
	handler Handler
	onPanic func(string, []byte)
	calls   sync.WaitGroup

	mu      sync.Mutex
	cancels map[uint64]context.CancelFunc
}

func (s *server) run(ctx context.Context) error {
	free := make(chan struct{}, maxCalls)
	for {
		q := new(request)
		size, err := s.receive(q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read call: %w", err)
		}
		if q.Cancel {
			s.mu.Lock()
			if stop := s.cancels[q.ID]; stop != nil {
				stop()
			}
			s.mu.Unlock()
			continue
		}
		call, stop := context.WithCancel(ctx)
		if !s.register(q.ID, stop) {
			stop()
			return errors.New("read call: its number is that of a call under way")
		}
		if q.Method == "lock" {
			// Nothing is read after it, and every other call is over before it is made.
			s.cancelAll(q.ID)
			s.calls.Wait()
			return s.answer(call, q)
		}
		free <- struct{}{}
		done := make(chan struct{})
		s.calls.Add(1)
		go func() {
			defer s.calls.Done()
			defer close(done)
			// A line that has ended shows where it is read.
			_ = s.answer(call, q)
			<-free
		}()
		if size > largeFrame {
			<-done
		}
	}
}

func (s *server) register(id uint64, stop context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancels[id] != nil {
		return false
	}
	s.cancels[id] = stop
	return true
}

func (s *server) cancelAll(but uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, stop := range s.cancels {
		if id != but {
			stop()
		}
	}
}

func (s *server) answer(ctx context.Context, q *request) error {
	r := &reply{}
	if err := s.call(ctx, q, r); err != nil {
		r = &reply{Err: &Error{Code: CodeInternal, Detail: "the key process could not do this"}, Answers: r.Answers}
		errors.As(err, &r.Err)
	}
	r.ID = q.ID
	s.mu.Lock()
	s.cancels[q.ID]()
	delete(s.cancels, q.ID)
	s.mu.Unlock()
	return s.send(r)
}

func (s *server) call(ctx context.Context, q *request, r *reply) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if s.onPanic != nil {
				s.onPanic(q.Method, callers())
			}
			err = &Error{Code: CodeInternal, Detail: "the key process met a fault of its own; nothing was signed"}
		}
	}()
	do, ok := methods[q.Method]
	if !ok {
		return &Error{Code: CodeInternal, Detail: "the key process knows no such call"}
	}
	return do(ctx, s.handler, q, r)
}

// Client is the desk's end of the line. It implements [Keys] and is safe for
// concurrent use. A call whose context ends is cancelled in the key process, and still
// returns only with its answer, so that nothing is done unseen.
type Client struct {
	*end
	done chan struct{}

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan *reply // nil when the line has ended
}

var _ Keys = (*Client)(nil)

// NewClient takes over conn, one end of a socketpair whose other end is
// served by the key process. It reads in the background until the line ends;
// if conn is an io.Closer it is then closed.
func NewClient(conn io.ReadWriter) *Client {
	c := &Client{end: newEnd(conn), done: make(chan struct{}), waiting: map[uint64]chan *reply{}}
	go c.read()
	return c
}

func (c *Client) read() {
	for {
		r := new(reply)
		if _, err := c.receive(r); err != nil {
			break
		}
		c.mu.Lock()
		if answer := c.waiting[r.ID]; answer != nil {
			answer <- r
			delete(c.waiting, r.ID)
		}
		c.mu.Unlock()
	}
	if closer, ok := c.conn.(io.Closer); ok {
		closer.Close()
	}
	c.mu.Lock()
	c.waiting = nil
	c.mu.Unlock()
	close(c.done)
}

// Done implements [Keys].
func (c *Client) Done() <-chan struct{} { return c.done }

var errEnded = &Error{Code: CodeEnded, Detail: "the key process has ended"}

func (c *Client) call(ctx context.Context, q *request) (*reply, error) {
	answer := make(chan *reply, 1)
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return &reply{}, errEnded
	}
	c.next++
	q.ID = c.next
	c.waiting[q.ID] = answer
	c.mu.Unlock()
	if err := c.send(q); err != nil {
		c.mu.Lock()
		delete(c.waiting, q.ID)
		c.mu.Unlock()
		return &reply{}, errEnded
	}
	stop := context.AfterFunc(ctx, func() {
		// A line that has ended has cancelled everything.
		_ = c.send(&request{ID: q.ID, Cancel: true})
	})
	defer stop()
	var r *reply
	select {
	case r = <-answer:
	case <-c.done:
		select {
		case r = <-answer:
		default:
			return &reply{}, errEnded
		}
	}
	if r.Err != nil {
		return r, r.Err
	}
	return r, nil
}

func (c *Client) callPublic(ctx context.Context, q *request) (Public, error) {
	r, err := c.call(ctx, q)
	return value(r.Public), err
}

// Create implements [Keys].
func (c *Client) Create(ctx context.Context, a Create) (Public, error) {
	return c.callPublic(ctx, &request{Method: "create", Create: &a})
}

// Unlock implements [Keys].
func (c *Client) Unlock(ctx context.Context, a Unlock) (Public, error) {
	return c.callPublic(ctx, &request{Method: "unlock", Unlock: &a})
}

// Restore implements [Keys].
func (c *Client) Restore(ctx context.Context, a Restore) (Public, error) {
	return c.callPublic(ctx, &request{Method: "restore", Restore: &a})
}

// NewInstance implements [Keys].
func (c *Client) NewInstance(ctx context.Context) (Public, error) {
	return c.callPublic(ctx, &request{Method: "new_instance"})
}

// Load implements [Keys].
func (c *Client) Load(ctx context.Context, a Load) (Loaded, error) {
	r, err := c.call(ctx, &request{Method: "load", Load: &a})
	return value(r.Loaded), err
}

// Plan implements [Keys].
func (c *Client) Plan(ctx context.Context, domainInfo []byte) ([]byte, error) {
	r, err := c.call(ctx, &request{Method: "plan", Bytes: domainInfo})
	return r.Bytes, err
}

// Address implements [Keys].
func (c *Client) Address(ctx context.Context, envelope []byte) (string, error) {
	r, err := c.call(ctx, &request{Method: "address", Bytes: envelope})
	return r.Text, err
}

// BotNonce implements [Keys].
func (c *Client) BotNonce(ctx context.Context, client string) (string, error) {
	r, err := c.call(ctx, &request{Method: "bot_nonce", Text: client})
	return r.Text, err
}

// Minted implements [Keys].
func (c *Client) Minted(ctx context.Context, m MintAsk) (MintAnswer, error) {
	r, err := c.call(ctx, &request{Method: "minted", Mint: &m})
	return value(r.Mint), err
}

// SeatKey implements [Keys].
func (c *Client) SeatKey(ctx context.Context, index int64) (string, error) {
	r, err := c.call(ctx, &request{Method: "seat_key", Index: index})
	return r.Text, err
}

// Commit implements [Keys]. The acts may be taken even when ctx has ended.
func (c *Client) Commit(ctx context.Context, acts []Act) ([]Answer, error) {
	r, err := c.call(ctx, &request{Method: "commit", Acts: acts})
	return r.Answers, err
}

// ShowWords implements [Keys].
func (c *Client) ShowWords(ctx context.Context, s Surface) error {
	_, err := c.call(ctx, &request{Method: "show_words", Surface: s})
	return err
}

// ChangeProtection implements [Keys].
func (c *Client) ChangeProtection(ctx context.Context, p Protection, s Surface) (Public, error) {
	return c.callPublic(ctx, &request{Method: "change_protection", Protection: p, Surface: s})
}

// Prove implements [Keys].
func (c *Client) Prove(ctx context.Context, digest string, s Surface) error {
	_, err := c.call(ctx, &request{Method: "prove", Text: digest, Surface: s})
	return err
}

// Backup implements [Keys].
func (c *Client) Backup(ctx context.Context, a Backup) error {
	_, err := c.call(ctx, &request{Method: "backup", Backup: &a})
	return err
}

// Public implements [Keys].
func (c *Client) Public(ctx context.Context) (Public, error) {
	return c.callPublic(ctx, &request{Method: "public"})
}

// Begin implements [Keys].
func (c *Client) Begin(ctx context.Context, a Ask) (Begun, error) {
	r, err := c.call(ctx, &request{Method: "begin", Ask: &a})
	return value(r.Begun), err
}

// Next implements [Keys].
func (c *Client) Next(ctx context.Context, id string) (Step, error) {
	r, err := c.call(ctx, &request{Method: "next", Text: id})
	return value(r.Step), err
}

// Compared implements [Keys].
func (c *Client) Compared(ctx context.Context, id string, same bool) error {
	_, err := c.call(ctx, &request{Method: "compared", Text: id, Flag: same})
	return err
}

// Stop implements [Keys].
func (c *Client) Stop(ctx context.Context, id string) error {
	_, err := c.call(ctx, &request{Method: "stop", Text: id})
	return err
}

// Anchor implements [Keys].
func (c *Client) Anchor(ctx context.Context) error {
	_, err := c.call(ctx, &request{Method: "anchor"})
	return err
}

// Lock implements [Keys]: it returns when the line has ended, which on Linux is
// after the memory of the key process is gone. An error says that something was not
// kept before the end, for example an anchor.
func (c *Client) Lock(ctx context.Context) error {
	_, err := c.call(ctx, &request{Method: "lock"})
	if err == errEnded {
		return nil
	}
	select {
	case <-c.done:
		return err
	case <-ctx.Done():
		return &Error{Code: CodeInternal, Detail: "the key process has not ended in time"}
	}
}
