package secretwin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vault/cmd/internal/secret"
	forms "vault/ui/secret"
)

// window answers each form as the test says.
type window struct {
	asked    forms.Question
	how      forms.Answer
	silent   bool
	problem  string
	busy     int
	finished []string
}

func (w *window) one(q forms.Question, done func([]byte, forms.Answer)) {
	w.asked = q
	if !w.silent {
		done([]byte("typed"), w.how)
	}
}

func (w *window) NewPassphrase(q forms.Question, check func([]byte) string, done func([]byte, forms.Answer)) {
	w.problem = check([]byte("short"))
	w.one(q, done)
}
func (w *window) Passphrase(q forms.Question, done func([]byte, forms.Answer))   { w.one(q, done) }
func (w *window) RestoreInput(q forms.Question, done func([]byte, forms.Answer)) { w.one(q, done) }
func (w *window) ShowWords(q forms.Question, _ [][]byte, done func(forms.Answer)) {
	w.one(q, func(_ []byte, how forms.Answer) { done(how) })
}
func (w *window) AskWords(q forms.Question, places []int, done func([][]byte, forms.Answer)) {
	w.one(q, func(b []byte, how forms.Answer) { done([][]byte{b}, how) })
}
func (w *window) Busy() { w.busy++ }
func (w *window) Finish(what, more string, closed func()) {
	w.finished = append(w.finished, what+" "+more)
	closed()
}

var _ Forms = (*forms.Window)(nil)

func TestAnswers(t *testing.T) {
	for _, row := range []struct {
		name string
		call func(context.Context, *Prompter) (string, error)
	}{
		{"new passphrase", func(ctx context.Context, p *Prompter) (string, error) {
			b, err := p.NewPassphrase(ctx, secret.Ask{Purpose: secret.ForCreate})
			return string(b), err
		}},
		{"passphrase", func(ctx context.Context, p *Prompter) (string, error) {
			b, err := p.Passphrase(ctx, secret.Ask{Purpose: secret.ForUnlock})
			return string(b), err
		}},
		{"words shown", func(ctx context.Context, p *Prompter) (string, error) {
			return "typed", p.ShowWords(ctx, secret.Ask{}, nil)
		}},
		{"words asked", func(ctx context.Context, p *Prompter) (string, error) {
			b, err := p.AskWords(ctx, secret.Ask{Places: []int{1}})
			if err != nil {
				return "", err
			}
			return string(b[0]), nil
		}},
		{"restore", func(ctx context.Context, p *Prompter) (string, error) {
			b, err := p.RestoreInput(ctx, secret.Ask{})
			return string(b), err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := &window{}
			shown := 0
			p := New(w, func(f func()) { f() }, func() { shown++ })
			if got, err := row.call(t.Context(), p); err != nil || got != "typed" {
				t.Errorf("given: %q, %v", got, err)
			}
			if shown != 1 || w.busy != 1 {
				t.Errorf("shown %d times, busy %d times", shown, w.busy)
			}
			w.how = forms.Cancelled
			if _, err := row.call(t.Context(), p); !errors.Is(err, secret.ErrCancelled) {
				t.Errorf("cancelled: %v", err)
			}
			w.how = forms.Back
			if _, err := row.call(t.Context(), p); !errors.Is(err, secret.ErrBack) {
				t.Errorf("back: %v", err)
			}
			w.silent = true
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := row.call(ctx, p); !errors.Is(err, secret.ErrCancelled) {
				t.Errorf("key process gone: %v", err)
			}
		})
	}
}

func TestNewPassphrasesAreChecked(t *testing.T) {
	w := &window{}
	if _, err := New(w, func(f func()) { f() }, func() {}).NewPassphrase(t.Context(), secret.Ask{}); err != nil {
		t.Fatal(err)
	}
	if w.problem != string(secret.TooShort) {
		t.Errorf("problem %q", w.problem)
	}
}

func TestAnApprovalShowsItsWords(t *testing.T) {
	w := &window{}
	p := New(w, func(f func()) { f() }, func() {})
	if _, err := p.Passphrase(t.Context(), secret.Ask{Purpose: secret.ForProve, Digest: "0x" + strings.Repeat("f", 64)}); err != nil {
		t.Fatal(err)
	}
	if w.asked.FourWords != "zoo zoo zoo zoo" {
		t.Errorf("words %q", w.asked.FourWords)
	}
	if _, err := p.Passphrase(t.Context(), secret.Ask{Purpose: secret.ForProve}); !errors.Is(err, secret.ErrNoWindow) {
		t.Errorf("without a digest: %v", err)
	}
}

func TestTheEndIsShownWhereSomethingStoppedIt(t *testing.T) {
	w := &window{}
	p := New(w, func(f func()) { f() }, func() {})
	p.Finish(t.Context(), "")
	p.Finish(t.Context(), "cancelled")
	if len(w.finished) != 0 {
		t.Errorf("shown %q", w.finished)
	}
	p.Finish(t.Context(), "keyring_locked")
	p.Finish(t.Context(), "never_heard")
	if len(w.finished) != 2 || !strings.Contains(w.finished[0], "keyring is locked") || strings.Contains(w.finished[1], "never_heard") {
		t.Errorf("shown %q", w.finished)
	}
}
