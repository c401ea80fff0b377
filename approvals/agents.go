package approvals

import (
	"context"
	"encoding/json"
)

// Peer is what the kernel says about the other end of a connection. All but
// UserID is observed once and can be replaced afterwards.
type Peer struct {
	UserID     int64 // -1 where the system cannot tell
	ProcessID  int64 // 0 where the system cannot tell
	Executable string
	Command    []string
	Parents    []string // executables, nearest first
}

// Refusal is an answer to an agent that nothing was done, with a stable code.
type Refusal struct {
	Code         string          // see docs/protocol.md
	Message      string          // one sentence of ours
	Remedy       string          // what to do, one sentence of ours
	RetryAfterMS int64           // 0 unless waiting helps
	Data         json.RawMessage // text from outside, or nil
}

// Error implements error.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// Greeting is the vault's half of the handshake (design of the socket).
type Greeting struct {
	Vault   string          // vault id, 32 hex digits
	Nonce   []byte          // 32 bytes
	Proof   []byte          // HMAC-SHA256 by the client's secret; nil for an unpaired client
	State   string          // "none" | "locked" | "away" | "open" | "read_only"
	LogHead json.RawMessage // newest signed head, or nil
}

// PairAsk opens a pairing. The commitment is SHA-256 of the client's nonce.
type PairAsk struct {
	Claimed    string // the program's own name, hostile text
	Commitment [32]byte
}

// PairOffer is the vault's answer to a commitment.
type PairOffer struct {
	Pairing string // id
	Vault   string
	Nonce   []byte // 32 bytes
}

// Ask is a request for one signature under an action envelope. The two documents are
// the received bytes, cut from the message.
type Ask struct {
	RequestID   string // chosen by the client; scoped to it and bound to the digest of method and parameters
	Session     string // chosen by the client; may be empty
	Envelope    []byte
	Payload     []byte
	LifetimeMS  int64 // 0: the default of 10 minutes; at most 24 hours
	Interactive bool  // false: answer not_shown at once when no grant covers it
}

// Answer is what an agent gets. Exactly one of Result and Pending is set; a
// request that ended without a result is a [*Refusal] instead.
type Answer struct {
	Pending string          // request id to await again
	Result  json.RawMessage // method's own result
}

// Agents is what a connection may ask of the desk. It has no way to decide.
// All methods are safe for concurrent use. Methods that wait for a person return
// a pending answer when ctx ends or after the desk's own limit of 50 seconds.
// Errors are [*Refusal].
type Agents interface {
	// Hello begins the handshake for a paired client, or for none ("").
	Hello(ctx context.Context, peer Peer, client string, clientNonce []byte) (Conversation, Greeting, error)
}

// Conversation is one connection. Close it when the connection ends.
type Conversation interface {
	// Prove ends the handshake: the client's HMAC-SHA256. Until then only Pair and Status work.
	// lastHead is the newest head that the client was given earlier, or nil.
	Prove(ctx context.Context, proof []byte, lastHead json.RawMessage) error
	PairBegin(ctx context.Context, ask PairAsk) (PairOffer, error)
	// PairReveal shows the client's nonce; the answer is pending until the owner has decided.
	// The pending id is the pairing's and is awaited on the same connection, unproven.
	// Result: {"client":"c_…","secret":32 bytes base64url}.
	PairReveal(ctx context.Context, pairing string, clientNonce []byte) (Answer, error)
	// Status works unproven, and then tells state, vault, demo and paired only; see docs/protocol.md.
	Status(ctx context.Context) (json.RawMessage, error)
	// DomainList gives {"domains":[domain projection, …]} (AgentEnvelope 7).
	DomainList(ctx context.Context) (json.RawMessage, error)
	// DomainGet gives the domain projection; domain is a domain hash or a domain id.
	DomainGet(ctx context.Context, domain string) (json.RawMessage, error)
	// ActionSign's result: {"signature","agent_address","record","log_head","by","seq","attestation"}.
	ActionSign(ctx context.Context, ask Ask) (Answer, error)
	Await(ctx context.Context, request string) (Answer, error)
	Cancel(ctx context.Context, request string) error
	// RecordGet gives the public action record of a request that was signed.
	RecordGet(ctx context.Context, request string) (json.RawMessage, error)
	SessionEnd(ctx context.Context, session string) error
	Close()
}
