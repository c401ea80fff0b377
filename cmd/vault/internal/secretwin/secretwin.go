// Package secretwin is the window form of the secret window: it puts the key
// process's questions to the forms that package ui/secret draws.
//
// It runs in a process of its own, which ends with one conversation. It draws
// nothing itself and keeps nothing.
package secretwin

import (
	"context"
	"strings"

	"vault/approvals/fourwords"
	"vault/cmd/internal/secret"
	"vault/cmd/vault/internal/sentence"
	forms "vault/ui/secret"
)

// Forms is what the prompter needs of the window; [forms.Window] has it. Its methods
// belong on the goroutine of the toolkit.
type Forms interface {
	NewPassphrase(q forms.Question, check func([]byte) string, done func([]byte, forms.Answer))
	Passphrase(q forms.Question, done func([]byte, forms.Answer))
	ShowWords(q forms.Question, words [][]byte, done func(forms.Answer))
	AskWords(q forms.Question, places []int, done func([][]byte, forms.Answer))
	RestoreInput(q forms.Question, done func([]byte, forms.Answer))
	Busy()
	Finish(what, more string, closed func())
}

// Prompter implements [secret.Prompter] over a window.
type Prompter struct {
	forms Forms
	do    func(func()) // runs a function on the toolkit's goroutine, and does not wait
	show  func()       // shows the window; called on that goroutine before each form
}

var _ secret.Prompter = (*Prompter)(nil)

// New gives a prompter over the window's forms.
func New(f Forms, do func(func()), show func()) *Prompter {
	return &Prompter{forms: f, do: do, show: show}
}

func question(a secret.Ask) forms.Question {
	return forms.Question{Purpose: string(a.Purpose), Problem: string(a.Problem), Place: a.Place, Vault: a.Vault, Demo: a.Demo}
}

type answer[T any] struct {
	value T
	how   forms.Answer
}

// ask draws a form and waits for its end, or the end of ctx.
func ask[T any](ctx context.Context, p *Prompter, draw func(done func(T, forms.Answer))) (T, error) {
	ended := make(chan answer[T], 1)
	p.do(func() {
		p.show()
		draw(func(v T, how forms.Answer) {
			ended <- answer[T]{v, how}
			p.forms.Busy()
		})
	})
	var none T
	select {
	case <-ctx.Done():
		return none, secret.ErrCancelled
	case a := <-ended:
		switch a.how {
		case forms.Given:
			return a.value, nil
		case forms.Back:
			return none, secret.ErrBack
		default:
			return none, secret.ErrCancelled
		}
	}
}

// NewPassphrase implements [secret.Prompter].
func (p *Prompter) NewPassphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	return ask(ctx, p, func(done func([]byte, forms.Answer)) {
		p.forms.NewPassphrase(question(a), func(b []byte) string { return string(secret.CheckPassphrase(b)) }, done)
	})
}

// Passphrase implements [secret.Prompter].
func (p *Prompter) Passphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	q := question(a)
	if a.Purpose == secret.ForProve {
		words, err := fourwords.Of(a.Digest)
		if err != nil {
			return nil, secret.ErrNoWindow
		}
		q.FourWords = strings.Join(words[:], " ")
	}
	return ask(ctx, p, func(done func([]byte, forms.Answer)) { p.forms.Passphrase(q, done) })
}

// ShowWords implements [secret.Prompter].
func (p *Prompter) ShowWords(ctx context.Context, a secret.Ask, words [][]byte) error {
	_, err := ask(ctx, p, func(done func(struct{}, forms.Answer)) {
		p.forms.ShowWords(question(a), words, func(how forms.Answer) { done(struct{}{}, how) })
	})
	return err
}

// AskWords implements [secret.Prompter].
func (p *Prompter) AskWords(ctx context.Context, a secret.Ask) ([][]byte, error) {
	return ask(ctx, p, func(done func([][]byte, forms.Answer)) { p.forms.AskWords(question(a), a.Places, done) })
}

// RestoreInput implements [secret.Prompter].
func (p *Prompter) RestoreInput(ctx context.Context, a secret.Ask) ([]byte, error) {
	return ask(ctx, p, func(done func([]byte, forms.Answer)) { p.forms.RestoreInput(question(a), done) })
}

// Finish implements [secret.Prompter]: what stopped the conversation stays on the
// screen until the person closes it.
func (p *Prompter) Finish(ctx context.Context, code string) {
	if code == "" || code == "cancelled" {
		return
	}
	what, more, ok := sentence.Of(code)
	if !ok {
		what, more, _ = sentence.Of("internal")
	}
	closed := make(chan struct{})
	p.do(func() {
		p.show()
		p.forms.Finish(what, more, func() { close(closed) })
	})
	select {
	case <-closed:
	case <-ctx.Done():
	}
}
