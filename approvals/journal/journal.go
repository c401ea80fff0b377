// Package journal is the vault's log as documents: entries in a hash chain,
// heads signed by the log key, and the state that follows from the entries.
// Desk, key process and offline verifier use the same code.
//
// It stores nothing and signs nothing.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Kind names what an entry records.
type Kind string

// The kinds of entries. Those marked (unkeyed) may also be made while the vault
// is locked; they give nobody anything, and the next signed head covers them.
const (
	KindCreated           Kind = "vault.created"
	KindInstanceStarted   Kind = "instance.started"
	KindUnlocked          Kind = "vault.unlocked"
	KindLocked            Kind = "vault.locked"
	KindWordsShown        Kind = "words.shown"
	KindProtectionChanged Kind = "protection.changed"
	KindSettingChanged    Kind = "setting.changed"
	KindDomainCreated     Kind = "domain.created"
	KindClientPaired      Kind = "client.paired"
	KindClientEnded       Kind = "client.ended" // (unkeyed)
	KindGrantMade         Kind = "grant.made"
	KindGrantEnded        Kind = "grant.ended" // (unkeyed)
	KindActionSigned      Kind = "action.signed"
	KindRequestAnswered   Kind = "request.answered" // (unkeyed) declined, refused, expired, cancelled, withdrawn
	KindRequestSeen       Kind = "request.seen"     // (unkeyed)
	KindSnapshot          Kind = "snapshot"
)

// Unkeyed says whether entries of this kind may be made while the vault is locked.
func (k Kind) Unkeyed() bool {
	switch k {
	case KindClientEnded, KindGrantEnded, KindRequestAnswered, KindRequestSeen, KindLocked:
		return true
	}
	return false
}

// Entry is one line of the log. Its canonical bytes are hashed and chained.
// Only [Parse] makes an entry that [State.Apply] takes.
type Entry struct {
	Type     string          `json:"type"`     // "vault.logEntry"
	V        int             `json:"v"`        // 1
	Instance string          `json:"instance"` // 32 hex digits
	Seq      uint64          `json:"seq"`      // from 1
	Prev     string          `json:"prev"`     // hash of the entry before, 0x and 64 hex digits; zeros for seq 1
	At       int64           `json:"at"`       // milliseconds since epoch, the vault's clock
	Kind     Kind            `json:"kind"`
	Body     json.RawMessage `json:"body"` // canonical object, one of the bodies below

	raw     []byte
	hash    string
	decoded any
}

// Created is the body of vault.created.
type Created struct {
	Vault    string `json:"vault"`
	OwnerKey string `json:"owner_key"`
	LogKey   string `json:"log_key"`
	Demo     bool   `json:"demo"`
}

// InstanceStarted is the body of instance.started: the first entry of a log
// that does not begin with the root's creation. Earlier uses are not known to it.
type InstanceStarted struct {
	Vault    string `json:"vault"`
	OwnerKey string `json:"owner_key"`
	LogKey   string `json:"log_key"`
	Reason   string `json:"reason"` // "restored" | "copied" | "rolled_back"
}

// Unlocked is the body of vault.unlocked.
type Unlocked struct {
	Protection string `json:"protection"`
}

// Locked is the body of vault.locked.
type Locked struct {
	Reason string `json:"reason"` // "asked" | "idle" | "suspend" | "quit" | "store" | "ended"
}

// WordsShown is the body of words.shown.
type WordsShown struct {
	When string `json:"when"` // "creation" | "later"
}

// ProtectionChanged is the body of protection.changed.
type ProtectionChanged struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// SettingChanged is the body of setting.changed.
type SettingChanged struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// DomainCreated is the body of domain.created.
type DomainCreated struct {
	DomainHash    string `json:"domain_hash"`
	DomainID      string `json:"domain_id"`
	DomainAddress string `json:"domain_address"`
	PermitSHA256  string `json:"permit_sha256"`
}

// ClientPaired is the body of client.paired.
type ClientPaired struct {
	Client       string `json:"client"`
	Name         string `json:"name"`
	By           string `json:"by"` // "click" | "passkey"
	PermitSHA256 string `json:"permit_sha256"`
	// Replaces is the digest of the permit that this one takes the place of
	// (the owner renamed the client), or empty.
	Replaces string `json:"replaces"`
}

// ClientEnded is the body of client.ended.
type ClientEnded struct {
	Client string `json:"client"`
	Reason string `json:"reason"` // "revoked" | "blocked"
}

// GrantMade is the body of grant.made.
type GrantMade struct {
	Grant        string `json:"grant"`
	Client       string `json:"client"`
	EnvelopeHash string `json:"envelope_hash"`
	Uses         int64  `json:"uses"`
	NotAfter     int64  `json:"not_after"`
	By           string `json:"by"`
	PermitSHA256 string `json:"permit_sha256"`
}

// GrantEnded is the body of grant.ended.
type GrantEnded struct {
	Grant  string `json:"grant"`
	Reason string `json:"reason"` // "revoked" | "client_ended" | "contradiction"
}

// ActionSigned is the body of action.signed: decision, use and signature in one.
type ActionSigned struct {
	Request      string `json:"request"`
	Client       string `json:"client"`
	Session      string `json:"session"`
	By           string `json:"by"`    // "click" | "grant" | "passkey"
	Grant        string `json:"grant"` // grant id, or empty
	DomainHash   string `json:"domain_hash"`
	EnvelopeHash string `json:"envelope_hash"`
	Digest       string `json:"digest"`  // Keccak-256 that was signed, 0x and 64 hex digits
	Address      string `json:"address"` // the address that signed
	Use          uint64 `json:"use"`     // which use of this envelope hash, from 1
}

// RequestAnswered is the body of request.answered: every end of a request that signs nothing.
type RequestAnswered struct {
	Request string `json:"request"`
	Client  string `json:"client"`
	Method  string `json:"method"`
	Outcome string `json:"outcome"` // "declined" | "refused" | "expired" | "cancelled" | "withdrawn"
	Reason  string `json:"reason"`  // stable code, or empty
	Digest  string `json:"digest"`  // what was asked, 0x and 64 hex digits
}

// RequestSeen is the body of request.seen: the sheet was on the owner's screen.
type RequestSeen struct {
	Request string `json:"request"`
	Client  string `json:"client"`
	Digest  string `json:"digest"` // what was shown
}

// Snapshot is the body of snapshot.
type Snapshot struct {
	StateSHA256 string `json:"state_sha256"` // of State's canonical bytes
}

// Zero is the Prev of the first entry.
const Zero = "0x0000000000000000000000000000000000000000000000000000000000000000"

// HashOf is the hash of an entry's canonical bytes, 0x and 64 hex digits.
func HashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "0x" + hex.EncodeToString(sum[:])
}

// Head says that the log of an instance ends, so far, with an entry. It is
// signed by the log key over its canonical bytes without Sig, behind the log
// head prefix of the table of signing domains.
type Head struct {
	Type     string `json:"type"` // "vault.logHead"
	V        int    `json:"v"`    // 1
	Vault    string `json:"vault"`
	Instance string `json:"instance"`
	Seq      uint64 `json:"seq"`
	Hash     string `json:"hash"`
	At       int64  `json:"at"`            // milliseconds since epoch, the key process's clock
	Key      string `json:"key"`           // nkey text of the log key
	Sig      string `json:"sig,omitempty"` // Ed25519, base64url unpadded
}
