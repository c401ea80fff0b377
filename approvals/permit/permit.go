// Package permit holds the rows that permit something: a domain, a paired
// client, a grant. Each is a strict document with canonical bytes; the key
// process puts a MAC on those bytes and believes a row only with that MAC and
// only while its own log state does not say that it has ended.
//
// It makes no MAC and takes no decision.
package permit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"vault/derive/jcs"
)

// Limits that no grant may pass before the first passkey is enrolled, and at all.
const (
	GrantUsesBeforePasskey   = 10
	GrantMillisBeforePasskey = 24 * 60 * 60 * 1000
	GrantUsesMax             = 1000
	GrantMillisMax           = 90 * 24 * 60 * 60 * 1000
)

// Types of the rows.
const (
	TypeDomain = "vault.domain"
	TypeClient = "vault.client"
	TypeGrant  = "vault.grant"
)

// Domain is a stable branch of authority that the owner has opened
// (AgentEnvelope section 8).
type Domain struct {
	Type       string          `json:"type"`
	V          int             `json:"v"`
	Hash       string          `json:"hash"`       // domain hash, 0x and 64 hex digits
	Projection json.RawMessage `json:"projection"` // canonical domain projection
	CreatedAt  int64           `json:"created_at"` // milliseconds since epoch
}

// Client is a program that the owner has paired.
type Client struct {
	Type         string `json:"type"`
	V            int    `json:"v"`
	ID           string `json:"id"`            // "c_" and 16 hex digits
	Name         string `json:"name"`          // the owner's name for it
	Claimed      string `json:"claimed"`       // its own name for itself
	UserID       int64  `json:"user_id"`       // proven by the kernel; -1 where it cannot be
	Executable   string `json:"executable"`    // observed at pairing; may be empty
	SecretSHA256 string `json:"secret_sha256"` // 0x and 64 hex digits, of the 32-byte pairing secret
	PairedAt     int64  `json:"paired_at"`     // milliseconds since epoch
}

// Grant lets one client have anything signed under one action envelope, a
// number of times, until a time.
type Grant struct {
	Type         string `json:"type"`
	V            int    `json:"v"`
	ID           string `json:"id"` // "g_" and 16 hex digits
	Client       string `json:"client"`
	EnvelopeHash string `json:"envelope_hash"` // 0x and 64 hex digits
	DomainHash   string `json:"domain_hash"`   // 0x and 64 hex digits
	Uses         int64  `json:"uses"`          // at most; counted per envelope hash over all clients
	NotAfter     int64  `json:"not_after"`     // milliseconds since epoch; the last instant at which it permits
	MadeAt       int64  `json:"made_at"`       // milliseconds since epoch
	WhileAway    bool   `json:"while_away"`    // goes on while the screen is locked
	By           string `json:"by"`            // "click" or "passkey"
}

// ErrWrongType is returned when a row is not of the kind that was asked for.
var ErrWrongType = errors.New("permit: wrong type or version")

// Encode gives the canonical bytes of a row. It does not block.
func Encode[T Domain | Client | Grant | Delegate | Pin | Preauthorisation](row T) ([]byte, error) {
	b, err := jcs.Marshal(row, jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("encode permit: %w", err)
	}
	return b, nil
}

// SHA256 is the digest of a row's canonical bytes as 0x and 64 hex digits.
func SHA256(body []byte) string {
	sum := sha256.Sum256(body)
	return "0x" + hex.EncodeToString(sum[:])
}
