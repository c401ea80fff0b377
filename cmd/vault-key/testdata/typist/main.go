// Command typist stands, in tests, where the program vault stands beside
// vault-key: it answers the secret window's questions from a file. It is in no
// build of the product.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"

	"vault/cmd/internal/hygiene"
	"vault/cmd/internal/secret"
)

// script is what the file typist.json beside the program says.
type script struct {
	Passphrases []string `json:"passphrases"` // typed one after the other; the last one again and again
	Words       string   `json:"words"`       // file for the words that are shown, separated by spaces
	Restore     string   `json:"restore"`     // what is typed to restore
	Asked       string   `json:"asked"`       // file to which each question is added, a line each
	Wait        bool     `json:"wait"`        // ask and never answer
}

type typist struct {
	script
	words [][]byte
}

func (t *typist) passphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	t.note(a)
	if t.Wait {
		<-ctx.Done()
		return nil, secret.ErrCancelled
	}
	if len(t.Passphrases) == 0 {
		return nil, secret.ErrCancelled
	}
	p := t.Passphrases[0]
	if len(t.Passphrases) > 1 {
		t.Passphrases = t.Passphrases[1:]
	}
	return []byte(p), nil
}

func (t *typist) note(a secret.Ask) {
	f, err := os.OpenFile(t.Asked, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_ = json.NewEncoder(f).Encode(a) // a test that reads it notices
}

func (t *typist) NewPassphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	return t.passphrase(ctx, a)
}

func (t *typist) Passphrase(ctx context.Context, a secret.Ask) ([]byte, error) {
	return t.passphrase(ctx, a)
}

func (t *typist) ShowWords(_ context.Context, a secret.Ask, words [][]byte) error {
	t.note(a)
	t.words = nil
	for _, w := range words {
		t.words = append(t.words, bytes.Clone(w))
	}
	return os.WriteFile(t.script.Words, bytes.Join(words, []byte(" ")), 0o600)
}

func (t *typist) AskWords(_ context.Context, a secret.Ask) ([][]byte, error) {
	t.note(a)
	var out [][]byte
	for _, place := range a.Places {
		out = append(out, bytes.Clone(t.words[place-1]))
	}
	return out, nil
}

func (t *typist) RestoreInput(_ context.Context, a secret.Ask) ([]byte, error) {
	t.note(a)
	return []byte(t.Restore), nil
}

func (t *typist) Finish(context.Context, string) {}

func main() {
	self, err := hygiene.Executable()
	if err != nil {
		os.Exit(1)
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(self), "typist.json"))
	if err != nil {
		os.Exit(2)
	}
	t := &typist{}
	if err := json.Unmarshal(raw, &t.script); err != nil {
		os.Exit(3)
	}
	conn, err := net.FileConn(os.NewFile(3, "key process"))
	if err != nil {
		os.Exit(4)
	}
	if err := secret.Serve(conn, t); err != nil {
		os.Exit(5)
	}
}
