// Package handshake holds the pure functions with which a vault and an agent
// recognise each other: pairing (a commitment, two nonces, six digits that a
// person compares) and hello (each side proves the client's secret). Both halves
// call these functions, so that there is one place where the bytes are written.
//
// It does no I/O, keeps no state and draws no randomness; who may pair, and how
// long an offer lives, is the desk's business. Foreign clients need the same
// few lines: docs/protocol.md has them.
package handshake

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// ProtocolVersion is the version of the socket's protocol that a proof is bound to.
const ProtocolVersion = "1"

// Size is the length in bytes of nonces, commitments, proofs and secrets.
const Size = 32

const (
	pairPrefix  = "agent-vault-pair-v1\n"
	helloPrefix = "agent-vault-hello-v1\n"
)

// Role says whose proof it is, so that one side's proof is never the other's.
type Role string

// The two roles.
const (
	RoleVault  Role = "vault"
	RoleClient Role = "client"
)

// ErrText is the error of Decode.
var ErrText = errors.New("not 32 bytes as base64url without padding")

// Nonce is fresh randomness of one side, 32 raw bytes. It is no secret.
type Nonce [Size]byte

// Proof is an HMAC-SHA256 by the client's secret, 32 raw bytes.
type Proof [Size]byte

// Secret is what a paired client and the vault share, 32 raw bytes. It does not
// print, and refuses JSON; its owner wipes it.
type Secret [Size]byte

// Wipe overwrites the secret with zeros.
func (s *Secret) Wipe() { clear(s[:]) }

// String implements fmt.Stringer without the secret.
func (Secret) String() string { return "[secret]" }

// GoString implements fmt.GoStringer without the secret.
func (Secret) GoString() string { return "[secret]" }

// Format implements fmt.Formatter, so that no verb prints the secret.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }

// MarshalJSON implements json.Marshaler; it always fails.
func (Secret) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a client's secret is not written as JSON")
}

// MarshalText implements encoding.TextMarshaler; it always fails.
func (Secret) MarshalText() ([]byte, error) {
	return nil, errors.New("a client's secret is not written as text")
}

// Commit is the commitment to a nonce: its SHA-256. The client sends it before
// it has seen the vault's nonce, so that neither side can search for digits.
func Commit(client Nonce) [Size]byte { return sha256.Sum256(client[:]) }

// Opens says whether nonce is the one that commitment was made for.
func Opens(commitment [Size]byte, client Nonce) bool {
	want := Commit(client)
	return subtle.ConstantTimeCompare(want[:], commitment[:]) == 1
}

// Digits are the six decimal digits, zero padded, that client and vault both
// show: the first 8 bytes of SHA-256("agent-vault-pair-v1\n" || vault || client
// nonce || server nonce), big-endian, modulo 10^6. The vault id is its text of
// 32 lower-case hex digits.
func Digits(vault string, client, server Nonce) string {
	h := sha256.New()
	h.Write([]byte(pairPrefix))
	h.Write([]byte(vault))
	h.Write(client[:])
	h.Write(server[:])
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(h.Sum(nil))%1_000_000)
}

// Prove is one side's proof: HMAC-SHA256(secret, "agent-vault-hello-v1\n" || role
// || "\n" || version || "\n" || vault || "\n" || client nonce || server nonce).
// The vault id is its text of 32 lower-case hex digits.
func Prove(secret *Secret, role Role, version, vault string, client, server Nonce) Proof {
	m := hmac.New(sha256.New, secret[:])
	m.Write([]byte(helloPrefix))
	m.Write([]byte(string(role) + "\n" + version + "\n" + vault + "\n"))
	m.Write(client[:])
	m.Write(server[:])
	return Proof(m.Sum(nil))
}

// Check says, in constant time, whether proof is what Prove makes of the rest.
func Check(proof Proof, secret *Secret, role Role, version, vault string, client, server Nonce) bool {
	want := Prove(secret, role, version, vault, client, server)
	return subtle.ConstantTimeCompare(want[:], proof[:]) == 1
}

// Encode writes 32 bytes as base64url without padding: 43 characters.
func Encode(b [Size]byte) string { return base64.RawURLEncoding.EncodeToString(b[:]) }

// Decode reads what Encode writes, and nothing else: no padding, no line
// breaks, no second spelling of the same bytes. The error is ErrText.
func Decode(text string) ([Size]byte, error) {
	var out [Size]byte
	if len(text) != base64.RawURLEncoding.EncodedLen(Size) {
		return out, ErrText
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != Size {
		return out, ErrText
	}
	return [Size]byte(b), nil
}
