package composed

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault/cmd/internal/secret"
)

type typist struct {
	secret.Prompter
	typed []byte
	err   error
}

func (p typist) NewPassphrase(context.Context, secret.Ask) ([]byte, error) { return p.typed, p.err }
func (p typist) Passphrase(context.Context, secret.Ask) ([]byte, error)    { return p.typed, p.err }

func TestPassphrasesAreComposed(t *testing.T) {
	for _, tt := range []struct{ name, typed, want string }{
		{"plain", "correct horse battery", "correct horse battery"},
		{"one letter", "na\u00efve z\u00fcrich", "na\u00efve z\u00fcrich"},
		{"letter and accent", "nai\u0308ve zu\u0308rich", "na\u00efve z\u00fcrich"},
		{"two accents in either order", "a\u0307\u0323", "\u1ea1\u0307"},
		{"Hangul", "\u1112\u1161\u11ab", "\ud55c"},
		{"no text", "a\xffi\u0308", "a\xffi\u0308"},
		{"wide letters stay wide", "\uff41\u212b", "\uff41\u00c5"},
	} {
		for form, ask := range map[string]func(secret.Prompter) ([]byte, error){
			"new":   func(p secret.Prompter) ([]byte, error) { return p.NewPassphrase(t.Context(), secret.Ask{}) },
			"again": func(p secret.Prompter) ([]byte, error) { return p.Passphrase(t.Context(), secret.Ask{}) },
		} {
			t.Run(tt.name+"/"+form, func(t *testing.T) {
				typed := []byte(tt.typed)
				got, err := ask(Prompter{typist{typed: typed}})
				if err != nil || string(got) != tt.want {
					t.Fatalf("%q, %v", got, err)
				}
				if tt.typed != tt.want && !bytes.Equal(typed, make([]byte, len(typed))) {
					t.Errorf("what was typed is left: %q", typed)
				}
			})
		}
	}
	if _, err := (Prompter{typist{err: secret.ErrCancelled}}).Passphrase(t.Context(), secret.Ask{}); !errors.Is(err, secret.ErrCancelled) {
		t.Error(err)
	}
}

// FuzzCompose: what is composed stays as it is, fits the room made for it, and is
// the same text.
func FuzzCompose(f *testing.F) {
	for _, s := range []string{"", "abc", "i\u0308", "\u1112\u1161\u11ab", "\U0001d15e", "\xff", "\u0344\u0344"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, typed []byte) {
		out := compose(bytes.Clone(typed))
		if !bytes.Equal(compose(bytes.Clone(out)), out) {
			t.Errorf("%q composes to %q and on", typed, out)
		}
		if len(out) > growth*len(typed) {
			t.Errorf("%q: %d bytes became %d", typed, len(typed), len(out))
		}
		if utf8.Valid(typed) && norm.NFD.String(string(typed)) != norm.NFD.String(string(out)) {
			t.Errorf("%q became another text: %q", typed, out)
		}
	})
}
