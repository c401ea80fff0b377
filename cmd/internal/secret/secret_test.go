package secret

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

// typist answers as the test says.
type typist struct {
	asked    []Ask
	answer   []byte
	words    [][]byte
	given    [][]byte
	shown    string
	err      error
	wait     bool
	finished chan string
}

func (p *typist) ask(ctx context.Context, a Ask) ([]byte, error) {
	p.asked = append(p.asked, a)
	if p.wait {
		<-ctx.Done()
		return nil, ErrCancelled
	}
	return p.answer, p.err
}
func (p *typist) NewPassphrase(ctx context.Context, a Ask) ([]byte, error) { return p.ask(ctx, a) }
func (p *typist) Passphrase(ctx context.Context, a Ask) ([]byte, error)    { return p.ask(ctx, a) }
func (p *typist) RestoreInput(ctx context.Context, a Ask) ([]byte, error)  { return p.ask(ctx, a) }
func (p *typist) ShowWords(ctx context.Context, a Ask, words [][]byte) error {
	p.given, p.shown = words, string(bytes.Join(words, []byte("|")))
	_, err := p.ask(ctx, a)
	return err
}
func (p *typist) AskWords(ctx context.Context, a Ask) ([][]byte, error) {
	_, err := p.ask(ctx, a)
	return p.words, err
}
func (p *typist) Finish(_ context.Context, code string) { p.finished <- code }

func converse(t *testing.T, p *typist) (*Window, chan error) {
	t.Helper()
	here, there := net.Pipe()
	p.finished = make(chan string, 1)
	served := make(chan error, 1)
	go func() { served <- Serve(there, p) }()
	return NewWindow(here), served
}

func TestConversation(t *testing.T) {
	p := &typist{answer: []byte("correct horse battery")}
	w, served := converse(t, p)
	buf := make([]byte, MaxAnswer)
	for _, form := range []Form{FormNewPassphrase, FormPassphrase, FormRestore} {
		p.answer = []byte("correct horse battery")
		n, err := w.Ask(t.Context(), Ask{Form: form, Purpose: ForCreate, Problem: TooShort}, nil, buf)
		if err != nil || string(buf[:n]) != "correct horse battery" {
			t.Fatalf("%s: %q %v", form, buf[:n], err)
		}
	}
	if _, err := w.Ask(t.Context(), Ask{Form: FormShowWords}, []byte("zoo wrong able"), buf); err != nil {
		t.Fatal(err)
	}
	if p.shown != "zoo|wrong|able" {
		t.Errorf("shown %q", p.shown)
	}
	p.words = [][]byte{[]byte("wrong"), []byte("zoo")}
	n, err := w.Ask(t.Context(), Ask{Form: FormAskWords, Places: []int{2, 1}}, nil, buf)
	if err != nil || string(buf[:n]) != "wrong\nzoo\n" {
		t.Fatalf("%q %v", buf[:n], err)
	}
	w.Finish("keyring_locked")
	if code := <-p.finished; code != "keyring_locked" {
		t.Errorf("finished %q", code)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if p.asked[0].Problem != TooShort || p.asked[4].Places[0] != 2 {
		t.Errorf("asked %+v", p.asked)
	}
	for _, given := range append(p.given, p.words...) {
		if strings.Trim(string(given), "\x00") != "" {
			t.Errorf("not wiped: %q", given)
		}
	}
	if strings.Trim(string(p.answer), "\x00") != "" {
		t.Errorf("not wiped: %q", p.answer)
	}
}

func TestErrorsOfThePerson(t *testing.T) {
	for _, want := range []error{ErrCancelled, ErrBack, ErrNoWindow} {
		t.Run(want.Error(), func(t *testing.T) {
			p := &typist{err: want, answer: []byte("typed, but not sent")}
			w, _ := converse(t, p)
			buf := make([]byte, MaxAnswer)
			if _, err := w.Ask(t.Context(), Ask{Form: FormPassphrase}, nil, buf); !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
			if buf[0] != 0 {
				t.Error("an answer was sent all the same")
			}
			w.Finish("")
		})
	}
}

func TestEndOfTheKeyProcessEndsTheForm(t *testing.T) {
	p := &typist{wait: true}
	w, served := converse(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := w.Ask(ctx, Ask{Form: FormPassphrase}, nil, make([]byte, MaxAnswer))
		asked <- err
	}()
	cancel()
	if err := <-asked; !errors.Is(err, ErrClosed) {
		t.Errorf("asked: %v", err)
	}
	if err := <-served; !errors.Is(err, ErrClosed) {
		t.Errorf("served: %v", err)
	}
}

func TestAnswerThatDoesNotFitIsRefused(t *testing.T) {
	w, _ := converse(t, &typist{answer: []byte("0123456789")})
	if _, err := w.Ask(t.Context(), Ask{Form: FormPassphrase}, nil, make([]byte, 4)); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCheckPassphrase(t *testing.T) {
	for text, want := range map[string]Problem{
		"":                           TooShort,
		"elevenchars":                TooShort,
		"twelve chars":               NoProblem,
		"éééééééééééa":               NoProblem,
		"ééééééé":                    TooShort, // 14 bytes
		"aaaaaaaaaaaaaaaa":           OneCharacter,
		"twelve char\xff":            NotText,
		strings.Repeat("ab", 513):    TooLong,
		strings.Repeat("ab", 512):    NoProblem,
		"correct horse battery stap": NoProblem,
	} {
		if got := CheckPassphrase([]byte(text)); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
