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
	Asks    []Question      // with Pending, of a moment: the owner's questions that are not answered yet
}

// Presentation is a tool result, or a bare binding moment, that an agent lays before its owner
// (Briefing-and-Binding Envelope 8.1, 9.3). Exactly one of ToolResult and BindingMoment is set. The documents
// are the received bytes, cut from the message.
type Presentation struct {
	Session       string // chosen by the client; never empty
	ToolResult    []byte // a whole tool result; its top-level member binding_moment is the envelope
	BindingMoment []byte // the bare value of that member
	Fallback      string // with BindingMoment: what is shown where it cannot be, hostile text
	Actions       []byte // what stands behind the options (moment.ParseBehind), or nil
	ToolServer    string // the tool's server as the agent names it, hostile text; may be empty
}

// Question is one that the owner asks about a line of an open moment. It is no resolution.
type Question struct {
	ID   string `json:"id"`
	Line string `json:"line"` // see [Owner.Ask]
	Text string `json:"question"`
	At   int64  `json:"at"` // milliseconds since epoch
}

// Reply is an agent's answer to a [Question], at most 16 KiB of text.
type Reply struct {
	Session, Moment, Question, Text string
}

// MomentAction asks for the signature that a selected option allows (section 7.3).
type MomentAction struct {
	Session string
	Moment  string
	Action  []byte // as received
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
	MintAgent

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

	// MomentPresent lays a moment before the owner and waits. Result: exactly the object of section
	// 7.3, {"binding_moment_resolution":…}, or {"fallback":{"reason","sentence","path"?}} where no
	// envelope could be shown; reason is one of package moment's, or a code of docs/protocol.md. The
	// pending id is the moment's; it is the same for the same client, session and envelope, and a moment
	// that was resolved gives the same resolution again.
	MomentPresent(ctx context.Context, p Presentation) (Answer, error)
	// MomentAwait takes a moment up again, as MomentPresent does. It comes back early with a question
	// that it has not told yet; every question that is not answered stands in every pending answer.
	// Here and in what follows a moment is named by its id, or by the digest of its envelope.
	MomentAwait(ctx context.Context, session, moment string) (Answer, error)
	// MomentSay answers one of the owner's questions, once. The moment stays open.
	MomentSay(ctx context.Context, r Reply) error
	// MomentSign signs the action of the option that was selected: only under the envelope that was
	// shown with it, only if its recomputed digest is that option's, and only once; the same call
	// again gives the same answer. An action that did not stand in the option's row is shown on a
	// sheet of its own first. The result is ActionSign's; the pending id is the moment's.
	MomentSign(ctx context.Context, a MomentAction) (Answer, error)

	SoWAgent
	Close()
}
