package secret

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Window is the key process's end of a conversation. Its methods block until
// the person has answered; when their context ends the conversation is over.
// It is not safe for concurrent use.
type Window struct {
	conn io.ReadWriteCloser
}

// NewWindow begins a conversation over conn, which it owns.
func NewWindow(conn io.ReadWriteCloser) *Window { return &Window{conn} }

// Ask puts a question and reads the answer into answer, which should be at
// least MaxAnswer bytes of locked memory: nothing else ever holds it here.
// Words are the recovery words separated by single spaces, for FormShowWords
// only. Ask returns the answer's length; the errors are ErrCancelled, ErrBack,
// ErrNoWindow and ErrClosed. The answer of FormAskWords is each word followed
// by a line feed.
func (w *Window) Ask(ctx context.Context, a Ask, words, answer []byte) (int, error) {
	stop := context.AfterFunc(ctx, func() { w.conn.Close() })
	defer stop()
	if err := w.send(a, words); err != nil {
		return 0, err
	}
	var head [5]byte
	if _, err := io.ReadFull(w.conn, head[:]); err != nil {
		return 0, ErrClosed
	}
	n := binary.BigEndian.Uint32(head[1:])
	if int64(n) > int64(min(MaxAnswer, len(answer))) {
		w.conn.Close()
		return 0, ErrClosed
	}
	if _, err := io.ReadFull(w.conn, answer[:n]); err != nil {
		clear(answer)
		return 0, ErrClosed
	}
	switch head[0] {
	case statusAnswer:
		return int(n), nil
	case statusBack:
		return 0, ErrBack
	case statusNoWindow:
		return 0, ErrNoWindow
	}
	return 0, ErrCancelled
}

// Finish ends the conversation; code is empty where all went well, else the
// stable code that the window shows a sentence for. It does not wait for the
// person and closes the line.
func (w *Window) Finish(code string) {
	// A helper that has gone needs no end.
	_ = w.send(Ask{Form: finish, Problem: Problem(code)}, nil)
	w.conn.Close()
}

func (w *Window) send(a Ask, words []byte) error {
	raw, err := json.Marshal(a)
	if err != nil || len(raw) > maxAsk || len(words) > MaxAnswer {
		return fmt.Errorf("secret window: question cannot be sent")
	}
	msg := binary.BigEndian.AppendUint32(nil, uint32(len(raw)))
	msg = append(msg, raw...)
	msg = binary.BigEndian.AppendUint32(msg, uint32(len(words)))
	if _, err := w.conn.Write(msg); err != nil {
		return ErrClosed
	}
	if len(words) > 0 {
		if _, err := w.conn.Write(words); err != nil {
			return ErrClosed
		}
	}
	return nil
}
