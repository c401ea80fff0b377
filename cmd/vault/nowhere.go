package main

import (
	"context"

	"vault/cmd/internal/secret"
)

// nowhere answers every question of the key process with: it cannot be shown here.
type nowhere struct{}

// NewPassphrase implements [secret.Prompter].
func (nowhere) NewPassphrase(context.Context, secret.Ask) ([]byte, error) {
	return nil, secret.ErrNoWindow
}

// Passphrase implements [secret.Prompter].
func (nowhere) Passphrase(context.Context, secret.Ask) ([]byte, error) {
	return nil, secret.ErrNoWindow
}

// ShowWords implements [secret.Prompter].
func (nowhere) ShowWords(context.Context, secret.Ask, [][]byte) error { return secret.ErrNoWindow }

// AskWords implements [secret.Prompter].
func (nowhere) AskWords(context.Context, secret.Ask) ([][]byte, error) {
	return nil, secret.ErrNoWindow
}

// RestoreInput implements [secret.Prompter].
func (nowhere) RestoreInput(context.Context, secret.Ask) ([]byte, error) {
	return nil, secret.ErrNoWindow
}

// Finish implements [secret.Prompter].
func (nowhere) Finish(context.Context, string) {}
