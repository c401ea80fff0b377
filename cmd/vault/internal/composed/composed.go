// Package composed makes passphrases the same bytes on every keyboard: what is
// typed as one letter or as a letter and its accent leaves the secret window in
// Unicode's composed form (NFC). Without it a passphrase typed on one computer
// would not open the vault on another.
//
// It works on bytes that it wipes, and never on strings.
package composed

import (
	"context"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault/cmd/internal/secret"
)

// Prompter is a [secret.Prompter] whose passphrases are composed. Words and hex are
// as they were typed.
type Prompter struct{ secret.Prompter }

// NewPassphrase implements [secret.Prompter].
func (p Prompter) NewPassphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	typed, err := p.Prompter.NewPassphrase(ctx, a)
	return compose(typed), err
}

// Passphrase implements [secret.Prompter].
func (p Prompter) Passphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	typed, err := p.Prompter.Passphrase(ctx, a)
	return compose(typed), err
}

// growth is how many times longer composed text can be than what it is made from.
const growth = 3

// compose returns typed in composed form, wiped where it is another slice. What is no
// text stays as it is: the key process says so.
func compose(typed []byte) []byte {
	if !utf8.Valid(typed) || norm.NFC.IsNormal(typed) {
		return typed
	}
	out := norm.NFC.Append(make([]byte, 0, growth*len(typed)), typed...) // never grown: growing would leave a copy
	clear(typed)
	return out
}
