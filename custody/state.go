package custody

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ID is 16 random bytes: a vault id or an instance id.
type ID [16]byte

// String returns 32 lower-case hex digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText implements encoding.TextMarshaler with 32 lower-case hex digits.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler for 32 lower-case hex digits.
func (id *ID) UnmarshalText(b []byte) error { return lowerHex(id[:], b) }

// Hash is a SHA-256 digest.
type Hash [32]byte

// String returns 0x and 64 lower-case hex digits.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler with 0x and 64 lower-case hex digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler for 0x and 64 lower-case hex digits.
func (h *Hash) UnmarshalText(b []byte) error {
	rest, ok := bytes.CutPrefix(b, []byte("0x"))
	if !ok {
		return errors.New("parse hash: 0x is missing")
	}
	return lowerHex(h[:], rest)
}

func lowerHex(dst, b []byte) error {
	if len(b) != 2*len(dst) || !bytes.Equal(bytes.ToLower(b), b) {
		return fmt.Errorf("parse hex: %d lower-case digits are needed", 2*len(dst))
	}
	_, err := hex.Decode(dst, b)
	return err
}

// Protection says what opens the sealed file.
type Protection string

// The three protections.
const (
	KeyringAndPassphrase Protection = "keyring-and-passphrase" // the default
	PassphraseOnly       Protection = "passphrase"
	KeyringOnly          Protection = "keyring" // any program of the account can open the vault
)

// UsesKeyring says whether a share of the key lies in the keyring.
func (p Protection) UsesKeyring() bool { return p == KeyringAndPassphrase || p == KeyringOnly }

// UsesPassphrase says whether a passphrase is part of the key.
func (p Protection) UsesPassphrase() bool { return p == KeyringAndPassphrase || p == PassphraseOnly }

// Head is a place in the log. Seq 0 means that nothing was logged yet.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash Hash   `json:"hash"`
}

// State is what is sealed beside the root. It holds no secret.
//
// The first six members are custody's own and [Vault.Update] keeps them as they
// are; the rest is the caller's.
type State struct {
	VaultID    ID         // random; new with every instance; names the keyring items
	InstanceID ID         // random; new with every instance
	CreatedAt  int64      // when this instance began, milliseconds since epoch
	RestoredAt int64      // when the root came in from words or a backup, milliseconds since epoch; 0: made here
	Demo       bool       // a throw-away vault; also in the plain header
	Protection Protection // what opens the file
	Generation uint64     // counts the writes of the file within an instance, from 1

	Log            Head              // the newest head that was anchored; write it with [Vault.Anchor]
	WordsShown     bool              // the recovery words were shown and asked back
	FirstPasskeyAt int64             // when the first passkey of this root was enrolled, milliseconds since epoch; 0: never
	Passkeys       []json.RawMessage // one JSON object per passkey, at most 32 of at most 16 KiB
	Policy         json.RawMessage   // JSON of the caller's, at most 256 KiB; nil: none
}

// Bounds of what may be sealed.
const (
	maxPasskeys   = 32
	maxPasskeyLen = 16 << 10
	maxPolicyLen  = 256 << 10
)

// Clone returns a copy that shares no memory with s.
func (s State) Clone() State {
	s.Policy = bytes.Clone(s.Policy)
	keys := s.Passkeys
	s.Passkeys = nil
	for _, k := range keys {
		s.Passkeys = append(s.Passkeys, bytes.Clone(k))
	}
	return s
}

// check holds the bounds and the rule that the keyring alone keeps no passkeys.
func (s State) check() error {
	if len(s.Passkeys) > maxPasskeys || len(s.Policy) > maxPolicyLen {
		return ErrTooLarge
	}
	for _, k := range s.Passkeys {
		if len(k) > maxPasskeyLen {
			return ErrTooLarge
		}
		if !json.Valid(k) {
			return errors.New("seal state: a passkey is not JSON")
		}
	}
	if s.Policy != nil && !json.Valid(s.Policy) {
		return errors.New("seal state: the policy is not JSON")
	}
	if s.Protection == KeyringOnly && len(s.Passkeys) > 0 {
		return ErrPasskeysNeedPassphrase
	}
	return nil
}

// newID reads 16 random bytes.
func newID(random io.Reader) (ID, error) {
	var id ID
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return ID{}, fmt.Errorf("make id: %w", err)
	}
	return id, nil
}
