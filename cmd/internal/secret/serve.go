package secret

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Prompter draws the forms. Serve calls one method at a time, each for one
// question; a method blocks until the person has answered. When ctx ends the
// key process is gone: the window closes and the method returns at once.
//
// A method returns ErrCancelled when the person closed the window or pressed
// cancel, ErrNoWindow when it cannot be shown. Between two calls the window
// stays, with its input disabled and the words that the vault is working: opening
// a sealed file takes about a second. A question with a Problem comes in the
// same window, with the sentence of that problem.
//
// Slices that are returned are wiped by Serve; slices that are given are wiped
// when the method returns and must not be kept. Secrets are never put on a clipboard,
// into a title, a log or an error.
type Prompter interface {
	// NewPassphrase asks for a new passphrase, twice, until both are equal and
	// CheckPassphrase has nothing against it.
	NewPassphrase(ctx context.Context, a Ask) ([]byte, error)
	// Passphrase asks for the passphrase, once. For ForProve it shows the four words of a.Digest.
	Passphrase(ctx context.Context, a Ask) ([]byte, error)
	// ShowWords shows the words, numbered from 1, until the person says that they are
	// written down.
	ShowWords(ctx context.Context, a Ask, words [][]byte) error
	// AskWords asks for the words at a.Places and returns them in that order, as
	// typed. ErrBack shows the words again.
	AskWords(ctx context.Context, a Ask) ([][]byte, error)
	// RestoreInput asks for the recovery words, or hex, and returns what was typed,
	// words separated by spaces.
	RestoreInput(ctx context.Context, a Ask) ([]byte, error)
	// Finish ends the conversation. Code is empty where all went well, else the stable code of
	// what stopped it (keyring_locked, sealed_damaged, …), whose sentence is shown until the person
	// closes it. The helper ends afterwards. It is not called when the key process ends first.
	Finish(ctx context.Context, code string)
}

// A question is: length of the Ask, its JSON, length of the words, the words.
// An answer is: a status byte, a length, that many bytes. Lengths are four bytes,
// big endian.
const (
	statusAnswer    = 'a'
	statusCancelled = 'c'
	statusBack      = 'b'
	statusNoWindow  = 'n'
	maxAsk          = 8 << 10
	finish          = Form("finish") // Ask.Problem carries the code
)

// Serve is the helper's half: it reads questions from conn, lets p answer
// them, and returns nil after Finish, or ErrClosed when the key process has
// gone. It closes conn.
func Serve(conn io.ReadWriteCloser, p Prompter) error {
	defer conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// Questions are read ahead of the answers, so that the end of the key
	// process ends a form that is being drawn.
	questions := make(chan question)
	go func() {
		defer close(questions)
		for {
			q, err := readQuestion(conn)
			if err != nil {
				cancel()
				return
			}
			select {
			case questions <- q:
			case <-ctx.Done():
				clear(q.words)
				return
			}
			if q.ask.Form == finish {
				return
			}
		}
	}()
	for q := range questions {
		if q.ask.Form == finish {
			p.Finish(ctx, string(q.ask.Problem))
			return nil
		}
		answer, err := prompt(ctx, p, q)
		clear(q.words)
		err = writeAnswer(conn, answer, err)
		clear(answer)
		if err != nil {
			return err
		}
	}
	return ErrClosed
}

type question struct {
	ask   Ask
	words []byte
}

func prompt(ctx context.Context, p Prompter, q question) ([]byte, error) {
	switch q.ask.Form {
	case FormNewPassphrase:
		return p.NewPassphrase(ctx, q.ask)
	case FormPassphrase:
		return p.Passphrase(ctx, q.ask)
	case FormShowWords:
		return nil, p.ShowWords(ctx, q.ask, fields(q.words))
	case FormAskWords:
		words, err := p.AskWords(ctx, q.ask)
		return join(words), err
	case FormRestore:
		return p.RestoreInput(ctx, q.ask)
	}
	return nil, ErrNoWindow
}

// fields cuts words at single spaces, without copying them.
func fields(words []byte) [][]byte {
	var out [][]byte
	start := 0
	for i := 0; i <= len(words); i++ {
		if i == len(words) || words[i] == ' ' {
			if i > start {
				out = append(out, words[start:i:i])
			}
			start = i + 1
		}
	}
	return out
}

// join puts the words behind one another, each followed by a line feed, and
// wipes them.
func join(words [][]byte) []byte {
	n := 0
	for _, w := range words {
		n += len(w) + 1
	}
	out := make([]byte, 0, n)
	for _, w := range words {
		out = append(append(out, w...), '\n')
		clear(w)
	}
	return out
}

func readQuestion(r io.Reader) (question, error) {
	raw, err := readBlock(r, maxAsk)
	if err != nil {
		return question{}, err
	}
	var q question
	if err := json.Unmarshal(raw, &q.ask); err != nil {
		return question{}, fmt.Errorf("secret window: question is not readable")
	}
	q.words, err = readBlock(r, MaxAnswer)
	return q, err
}

func readBlock(r io.Reader, limit uint32) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > limit {
		return nil, errors.New("secret window: message is too long")
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

func writeAnswer(w io.Writer, answer []byte, err error) error {
	status := byte(statusAnswer)
	switch {
	case err == nil && len(answer) <= MaxAnswer:
	case errors.Is(err, ErrBack):
		status, answer = statusBack, nil
	case errors.Is(err, ErrNoWindow):
		status, answer = statusNoWindow, nil
	default:
		status, answer = statusCancelled, nil
	}
	head := binary.BigEndian.AppendUint32([]byte{status}, uint32(len(answer)))
	if _, err := w.Write(head); err != nil {
		return ErrClosed
	}
	if len(answer) == 0 {
		return nil
	}
	// Written by itself, so that no second copy is made.
	if _, err := w.Write(answer); err != nil {
		return ErrClosed
	}
	return nil
}
