package ipc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2/channel"
	"github.com/go-json-experiment/json/jsontext"

	"vault/approvals"
	"vault/derive/jcs"
)

// frames is the channel under one connection. It reads lines of bounded length in
// bounded time, checks each before the JSON-RPC library sees it and answers the bad
// ones itself, and holds the reader back while too many calls are unanswered. A
// batch, and a line longer than Limits.SmallFrame, is handled alone. The library gets the heads of calls; their params,
// which it would read over and over, wait here for whoever carries the call out.
type frames struct {
	conn   net.Conn
	r      *bufio.Reader
	lim    *Limits
	large  chan struct{} // permits for long lines, shared by all connections
	closed chan struct{}

	write sync.Mutex
	out   []byte

	mu       sync.Mutex
	changed  *sync.Cond
	inFlight int               // frames handed up and not answered
	params   map[string][]byte // of the calls handed up and not answered, by id
	alone    bool              // the frame in flight is handled alone
	held     bool              // a permit is held
	partial  bool              // a line was begun and not ended
	proven   bool              // the client is known: the longer idle time counts
	draining bool              // no more frames; end when the last answer is out
	last     bool              // end when the last answer is out
	ended    bool
	idle     time.Time // since when nothing is in flight
}

func newFrames(conn net.Conn, lim *Limits, large chan struct{}) *frames {
	f := &frames{
		conn: conn, lim: lim, large: large,
		r:      bufio.NewReaderSize(conn, 4096),
		closed: make(chan struct{}),
		params: make(map[string][]byte),
		idle:   time.Now(),
	}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// Recv implements channel.Channel.
func (f *frames) Recv() ([]byte, error) {
	for {
		if err := f.await(); err != nil {
			return nil, err
		}
		line, err := f.line()
		if err != nil {
			return nil, f.end(err)
		}
		calls, batch, refusal := readFrame(line)
		if refusal == nil {
			refusal = f.admit(calls, batch || len(line) > f.lim.SmallFrame)
		}
		if refusal == nil {
			return heads(calls, batch), nil
		}
		if err := f.put(errorLine(refusal)); err != nil {
			return nil, err
		}
	}
}

// await waits until another frame may be read.
func (f *frames) await() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.ended && (f.inFlight >= f.lim.CallsPerConnection || f.alone && f.inFlight > 0) {
		f.changed.Wait()
	}
	if f.ended {
		return channel.ErrClosed
	}
	f.alone = false
	f.giveBack()
	f.setDeadline()
	return nil
}

// admit counts a frame that will be handed up.
func (f *frames) admit(calls []call, alone bool) *approvals.Refusal {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range calls {
		if _, taken := f.params[c.id]; taken {
			return refuse("id_in_use")
		}
	}
	if alone {
		for f.inFlight > 0 && !f.ended {
			f.changed.Wait()
		}
		f.alone = true
	}
	for _, c := range calls {
		f.params[c.id] = c.params
	}
	f.inFlight++
	f.setDeadline()
	return nil
}

// line reads one line without its end. The slice is the caller's.
func (f *frames) line() ([]byte, error) {
	if _, err := f.r.Peek(1); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.partial = true
	f.setDeadline()
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.partial = false
		f.mu.Unlock()
	}()
	var line []byte
	permitted := false
	for {
		part, err := f.r.ReadSlice('\n')
		if len(line)+len(part) > f.lim.Frame+1 {
			return nil, errTooLarge
		}
		line = append(line, part...)
		if err == nil {
			line = line[:len(line)-1]
			if len(line) > f.lim.Frame {
				return nil, errTooLarge
			}
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, errSlow
			}
			return nil, err
		}
		if len(line) > f.lim.SmallFrame && !permitted {
			if err := f.permit(); err != nil {
				return nil, err
			}
			permitted = true
		}
	}
}

var (
	errTooLarge = errors.New("line too long")
	errSlow     = errors.New("line too slow")
)

// permit waits for one of the permits for long lines.
func (f *frames) permit() error {
	select {
	case f.large <- struct{}{}:
	case <-f.closed:
		return channel.ErrClosed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = true
	if f.ended {
		f.giveBack()
		return channel.ErrClosed
	}
	f.setDeadline()
	return nil
}

func (f *frames) giveBack() {
	if f.held {
		f.held = false
		<-f.large
	}
}

// end says to the client why its connection ends, where that is known.
func (f *frames) end(err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		_ = f.put(errorLine(refuse("frame_too_large")))
	case errors.Is(err, errSlow):
		_ = f.put(errorLine(refuse("frame_slow")))
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.mu.Lock()
		for f.draining && f.inFlight > 0 && !f.ended {
			f.changed.Wait()
		}
		f.mu.Unlock()
		return io.EOF
	}
	return err
}

// setDeadline is called with mu held, whenever one of its conditions changed.
func (f *frames) setDeadline() {
	var t time.Time
	switch {
	case f.draining:
		t = time.Unix(1, 0)
	case f.partial:
		t = time.Now().Add(f.lim.FrameTime)
	case f.inFlight > 0:
	case f.proven:
		t = time.Now().Add(f.lim.IdleProven)
	default:
		t = time.Now().Add(f.lim.IdleUnproven)
	}
	_ = f.conn.SetReadDeadline(t)
}

// Send implements channel.Channel: the answer to one frame that Recv gave.
func (f *frames) Send(answer []byte) error {
	err := f.put(answer)
	f.mu.Lock()
	f.inFlight--
	if f.inFlight == 0 {
		f.idle = time.Now()
	}
	if !f.partial {
		f.setDeadline()
	}
	last := f.last && f.inFlight == 0
	f.changed.Broadcast()
	f.mu.Unlock()
	if last {
		_ = f.Close()
	}
	return err
}

// put writes one line. A client that does not read is let go.
func (f *frames) put(answer []byte) error {
	f.write.Lock()
	defer f.write.Unlock()
	f.out = append(append(f.out[:0], answer...), '\n')
	if err := f.conn.SetWriteDeadline(time.Now().Add(f.lim.WriteTime)); err != nil {
		return err
	}
	_, err := f.conn.Write(f.out)
	if cap(f.out) > f.lim.SmallFrame {
		f.out = nil
	}
	if err != nil {
		_ = f.Close()
	}
	return err
}

// paramsOf gives the params of a call that was handed up, or nil where it has none.
func (f *frames) paramsOf(id string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.params[id]
}

// answered frees a call's id. Its answer is about to be sent.
func (f *frames) answered(id string) {
	f.mu.Lock()
	delete(f.params, id)
	f.mu.Unlock()
}

// known says that the client has proven itself.
func (f *frames) known() {
	f.mu.Lock()
	f.proven = true
	f.mu.Unlock()
}

// finish ends the connection after the answers to what is in flight.
func (f *frames) finish() {
	f.mu.Lock()
	f.last = true
	f.mu.Unlock()
}

// drain reads no more and ends the connection after the answers to what is in flight.
func (f *frames) drain() {
	f.mu.Lock()
	f.draining = true
	f.setDeadline()
	f.mu.Unlock()
}

// idleSince says since when an unproven connection has nothing in flight.
func (f *frames) idleSince() (time.Time, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.idle, !f.proven && f.inFlight == 0 && !f.ended
}

// Close implements channel.Channel. It may be called more than once.
func (f *frames) Close() error {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return nil
	}
	f.ended = true
	f.giveBack()
	close(f.closed)
	f.changed.Broadcast()
	f.mu.Unlock()
	return f.conn.Close()
}

// call is the head of one request object.
type call struct {
	id     string // the JSON text of the id
	method string
	params []byte // part of the line, nil where there are none
}

// heads writes calls without their params.
func heads(calls []call, batch bool) []byte {
	var out []byte
	for _, c := range calls {
		out = append(append(out, `,{"jsonrpc":"2.0","id":`...), c.id...)
		out = append(jcs.AppendString(append(out, `,"method":`...), c.method), '}')
	}
	if !batch {
		return out[1:]
	}
	out[0] = '['
	return append(out, ']')
}

const (
	maxBatch  = 16
	maxIDSize = 128
)

// readFrame checks a line and the heads of its calls: strict JSON, one request
// object or a batch of 1 to 16, each of exactly jsonrpc "2.0", an id that is a string
// of at most 126 bytes or a plain integer, a method, and params that are absent or an
// object. Notifications are not part of the protocol. It keeps the params as parts of line.
func readFrame(line []byte) ([]call, bool, *approvals.Refusal) {
	if err := jcs.CheckFrame(line); err != nil {
		var e *jcs.Error
		if errors.As(err, &e) {
			return nil, false, refuseFor("frame_invalid", "Reason: "+string(e.Code)+".")
		}
		return nil, false, refuse("frame_invalid")
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(line))
	if dec.PeekKind() != '[' {
		c, refusal := readCall(line, dec)
		if refusal != nil {
			return nil, false, refusal
		}
		return []call{c}, false, nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, true, refuse("request_invalid")
	}
	var calls []call
	for dec.PeekKind() != ']' {
		c, refusal := readCall(line, dec)
		if refusal != nil {
			return nil, true, refusal
		}
		for _, other := range calls {
			if other.id == c.id {
				return nil, true, refuse("id_in_use")
			}
		}
		if calls = append(calls, c); len(calls) > maxBatch {
			return nil, true, refuse("batch_too_large")
		}
	}
	if len(calls) == 0 {
		return nil, true, refuse("batch_too_large")
	}
	return calls, true, nil
}

func readCall(line []byte, dec *jsontext.Decoder) (call, *approvals.Refusal) {
	bad := func(detail string) (call, *approvals.Refusal) { return call{}, refuseFor("request_invalid", detail) }
	if dec.PeekKind() != '{' {
		return bad("It is not an object.")
	}
	if _, err := dec.ReadToken(); err != nil {
		return bad("")
	}
	var c call
	var version bool
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return bad("")
		}
		member := name.String()
		raw, err := dec.ReadValue()
		if err != nil {
			return bad("")
		}
		switch member {
		case "jsonrpc":
			version = string(raw) == `"2.0"`
		case "id":
			_, integer := plainInteger(raw)
			if !integer && raw.Kind() != '"' || len(raw) > maxIDSize {
				return bad("Its id is neither a short string nor a plain integer.")
			}
			c.id = string(raw)
		case "method":
			if raw.Kind() != '"' {
				return bad("Its method is not a string.")
			}
			text, err := jsontext.AppendUnquote(nil, raw)
			if err != nil {
				return bad("")
			}
			c.method = string(text)
		case "params":
			if raw.Kind() != '{' {
				return bad("Its params are not an object.")
			}
			end := dec.InputOffset()
			c.params = line[end-int64(len(raw)) : end : end]
		default:
			return bad("It has another member.")
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return bad("")
	}
	switch {
	case !version:
		return bad(`Its jsonrpc is not "2.0".`)
	case c.id == "":
		return bad("It has no id.")
	case strings.TrimSpace(c.method) == "":
		return bad("It has no method.")
	}
	return c, nil
}
