package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"vault/approvals/handshake"
	"vault/ipc/internal/secretfile"
)

// Pairing is what a paired client keeps. It is safe for concurrent use.
type Pairing struct {
	Vault  string // vault id, 32 hex digits
	Client string // client id

	secret handshake.Secret
	mu     sync.Mutex
	head   json.RawMessage
	at     place // of head
}

// Format implements fmt.Formatter, so that no verb prints the secret, nor its bytes.
func (p *Pairing) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "pairing %s with vault %s [secret]", p.Client, p.Vault)
}

// file is the form on disk: mode 0600, replaced as a whole.
type file struct {
	Version int             `json:"version"` // 1
	Vault   string          `json:"vault"`
	Client  string          `json:"client"`
	Secret  string          `json:"secret"` // base64url, 32 bytes
	Head    json.RawMessage `json:"last_head,omitempty"`
}

// ErrNotPaired is returned by Load where there is no file.
var ErrNotPaired = errors.New("this client is not paired")

// ErrPairingFile is returned by Load for a file that others could have read or that is
// not a pairing.
var ErrPairingFile = errors.New("the pairing's file must be a regular file with mode 0600 and hold a pairing")

// File is the usual place of a client's pairing: agent-vault/agents/NAME.json in
// XDG_STATE_HOME, else in .local/state of the home folder. A name is 1 to 64 of
// a-z A-Z 0-9 . _ - and does not begin with a dot.
func File(name string) (string, error) {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if name == "" || len(name) > 64 || name[0] == '.' || strings.Trim(name, plain) != "" {
		return "", fmt.Errorf("client name: want 1 to 64 letters, digits, dots, lines and hyphens, and no dot first")
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "agent-vault", "agents", name+".json"), nil
}

// maxFile bounds a pairing's file, in bytes.
const maxFile = 1 << 20

// Load reads a pairing. Errors: ErrNotPaired, ErrPairingFile, or the system's.
func Load(path string) (*Pairing, error) {
	raw, err := secretfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotPaired
	case errors.Is(err, secretfile.ErrNotOurs):
		return nil, ErrPairingFile
	case err != nil:
		return nil, fmt.Errorf("read the pairing: %w", err)
	}
	defer clear(raw)
	var f file
	if json.Unmarshal(raw, &f) != nil || f.Version != 1 || f.Vault == "" || f.Client == "" {
		return nil, ErrPairingFile
	}
	secret, err := handshake.Decode(f.Secret)
	if err != nil {
		return nil, ErrPairingFile
	}
	p := &Pairing{Vault: f.Vault, Client: f.Client, secret: secret, head: f.Head}
	p.at, _ = placeOf(f.Head) // what has no place gives way to any
	return p, nil
}

// Save writes the pairing, mode 0600, in place of what was there; missing folders are
// made with mode 0700.
func (p *Pairing) Save(path string) error {
	p.mu.Lock()
	raw, err := json.Marshal(file{1, p.Vault, p.Client, handshake.Encode(p.secret), p.head})
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("encode the pairing: %w", err)
	}
	defer clear(raw)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the pairing's folder: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".pairing-*") // 0600 from the start
	if err != nil {
		return fmt.Errorf("write the pairing: %w", err)
	}
	_, err = tmp.Write(raw)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write the pairing: %w", err)
	}
	return nil
}

// Wipe overwrites the secret; the pairing is of no use afterwards.
func (p *Pairing) Wipe() { p.secret.Wipe() }

// LastHead is the newest head of the vault's log that this client was given, or nil.
func (p *Pairing) LastHead() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head
}

// remember keeps a head, unless it is an older one of the same log.
func (p *Pairing) remember(head json.RawMessage) {
	if len(head) == 0 || string(head) == "null" {
		return
	}
	at, ok := placeOf(head)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.head != nil && p.at.Instance == at.Instance && p.at.Seq >= at.Seq {
		return
	}
	p.head, p.at = head, at
}

// place is where in which log a head stands.
type place struct {
	Instance string `json:"instance"`
	Seq      uint64 `json:"seq"`
}

func placeOf(head json.RawMessage) (at place, ok bool) {
	ok = json.Unmarshal(head, &at) == nil
	return at, ok
}
