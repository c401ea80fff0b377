package ceremony

import (
	"context"
	"encoding/json"
	"io"
	"sync"
)

// Line is the key process's end, for one ceremony: [Line.Begin], [Line.Run],
// and [Line.Finish] after an answer. Close ends it at any time, and with it the
// page. Compared and Close may be called while Run waits; nothing else may.
type Line struct {
	conn io.ReadWriteCloser
	mu   sync.Mutex // of writing
}

// NewLine begins a ceremony over conn, which it owns.
func NewLine(conn io.ReadWriteCloser) *Line { return &Line{conn: conn} }

// Begin has the helper listen and returns the origin of the page, http://, the
// RP ID (see [IsRPID]) and a port. It blocks for as long as that takes; the
// errors are [NoPort], [LineEnded] and that of ctx.
func (l *Line) Begin(ctx context.Context, rpID string) (origin string, err error) {
	if !IsRPID(rpID) {
		return "", NameRefused
	}
	defer l.during(ctx)()
	if err := l.write(MsgName, rpID); err != nil {
		return "", l.ended(ctx)
	}
	t, body, err := Read(l.conn)
	switch {
	case err != nil:
		return "", l.ended(ctx)
	case t == MsgOutcome:
		return "", outcome(body)
	case t != MsgOrigin || json.Unmarshal(body, &origin) != nil:
		l.conn.Close()
		return "", LineEnded
	}
	return origin, nil
}

// Run has the page opened and returns what the passkey answered, to be read by
// the caller. It blocks until then, at most for [MaxSeconds]; notify is called
// for every event, by the same goroutine. The error is an [Outcome] or that of ctx.
// After an answer the page waits for [Line.Finish].
func (l *Line) Run(ctx context.Context, task Task, notify func(Event)) (answer []byte, err error) {
	defer l.during(ctx)()
	if err := l.write(MsgTask, task); err != nil {
		return nil, l.ended(ctx)
	}
	for {
		t, body, err := Read(l.conn)
		if err != nil {
			return nil, l.ended(ctx)
		}
		switch t {
		case MsgAnswer:
			return body, nil
		case MsgOutcome:
			l.conn.Close()
			return nil, outcome(body)
		case MsgEvent:
			var e Event
			if err := json.Unmarshal(body, &e); err == nil {
				notify(e)
				continue
			}
		}
		l.conn.Close()
		return nil, LineEnded
	}
}

// Compared tells the page, after the event [Compare], whether the owner saw the
// same digits in window and page. If not, Run ends with [NotSame].
func (l *Line) Compared(same bool) error {
	if err := l.write(MsgCompared, same); err != nil {
		return LineEnded
	}
	return nil
}

// Finish tells the page what the key process found, and ends the ceremony. It
// does not wait for the page.
func (l *Line) Finish(v Verdict) {
	// A helper that has gone shows nothing, and what was found stands.
	_ = l.write(MsgVerdict, v)
	l.conn.Close()
}

// Close ends the ceremony without an answer.
func (l *Line) Close() { l.conn.Close() }

func (l *Line) write(t Type, v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Write(l.conn, t, v)
}

// during closes the line when ctx ends before the returned function is called.
func (l *Line) during(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() { l.conn.Close() })
	return func() { stop() }
}

func (l *Line) ended(ctx context.Context) error {
	l.conn.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	return LineEnded
}

func outcome(body []byte) error {
	var o Outcome
	if json.Unmarshal(body, &o) != nil || !o.known() {
		return LineEnded
	}
	return o
}
