package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"vault/derive/confirm"
	"vault/derive/jcs"
)

// Confirmed is what a confirmation behind an entry must be over.
type Confirmed struct {
	Kind   confirm.Kind
	Digest string // of the context, 64 lower-case hex digits
	// Act is the canonical act, or nil where the digest is that of a document which the entry
	// names and does not hold: a permit, a resolution, an owner card.
	Act []byte
	// Record is the digest of the record, 0x and 64 hex digits, or empty where the entry names none.
	Record string
	// Document and Role are those of the kinds whose rule asks for them.
	Document *confirm.Document
	Role     string
	// Body is the entry's body without the record wherever the digest is a document's: what stands in the entry beside that
	// document stands in no context, and is not to be exchanged between the asking and the doing.
	Body string
}

// confirmable is the body of a kind that has a confirmation behind it, or may have one: every body that names a record.
type confirmable interface {
	// record is the member that names the record.
	record() string
	// confirmed is what the confirmation is over, but for the record; false where this body can have none.
	confirmed() (Confirmed, bool)
}

// Confirmation says what confirmation an entry can have behind it, computed from the
// entry alone: so does the key process before it asks, and so does whoever
// verifies a receipt. It is false for kinds that have none.
func (e Entry) Confirmation() (Confirmed, bool) {
	b, ok := e.decoded.(confirmable)
	if !ok {
		return Confirmed{}, false
	}
	c, ok := b.confirmed()
	if !ok {
		return Confirmed{}, false
	}
	c.Record = b.record()
	return c, true
}

// Record is the digest of the record that the entry names, 0x and 64 hex digits, or empty.
func (e Entry) Record() string {
	if b, ok := e.decoded.(confirmable); ok {
		return b.record()
	}
	return ""
}

// By says what stands behind the entry: "click", "grant", "passkey", "passphrase", "preauthorised", "offer", "delegate", or empty
// where nothing does. A kind that names a record is by passkey unless its body says otherwise.
func (e Entry) By() string {
	switch b := e.decoded.(type) {
	case ClientPaired:
		return b.By
	case GrantMade:
		return b.By
	case ActionSigned:
		return b.By
	case MomentResolved:
		return b.By
	case PolicyChanged:
		return b.By
	case PasskeyAdded:
		return b.By
	case SoWSigned:
		return b.By
	case SoWActSigned:
		return b.By
	case MintedSigned:
		return "delegate"
	case MomentDeclined, RequestAnswered: // a decline needs no passkey, and may have one
		if e.Record() == "" {
			return ""
		}
		return "passkey"
	case confirmable:
		return "passkey"
	}
	return ""
}

// CheckRecord wants a record named exactly where a passkey stands behind the entry. The error is a [*Contradiction].
func (e Entry) CheckRecord() error {
	claimed := e.By() == "passkey"
	switch b := e.decoded.(type) {
	case PasskeyAdded:
		claimed = true // the first one confirms itself
	case RequestAnswered:
		if b.Confirmation != "" && b.Outcome != "declined" {
			return contradict(CodeConfirmation, "of what ends a request only a decline is confirmed")
		}
	}
	if claimed != (e.Record() != "") {
		return contradict(CodeConfirmation, "a record is named exactly where a passkey stands behind the act")
	}
	return nil
}

func (b ClientPaired) record() string    { return b.Confirmation }
func (b GrantMade) record() string       { return b.Confirmation }
func (b MomentResolved) record() string  { return b.Confirmation }
func (b MomentDeclined) record() string  { return b.Confirmation }
func (b RequestAnswered) record() string { return b.Confirmation }
func (b ActionSigned) record() string    { return b.Confirmation }
func (b PasskeyAdded) record() string    { return b.Confirmation }
func (b PasskeyRemoved) record() string  { return b.Confirmation }
func (b PolicyChanged) record() string   { return b.Confirmation }
func (b ActConfirmed) record() string    { return b.Confirmation }
func (b SocketAdded) record() string     { return b.Confirmation }
func (b Readmitted) record() string      { return b.Confirmation }

func (b ClientPaired) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofDocument(confirm.ClientPair, b.PermitSHA256[2:], b), true
}

func (b GrantMade) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofDocument(confirm.GrantMake, b.PermitSHA256[2:], b), true
}

func (b MomentResolved) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofDocument(confirm.MomentResolution, strings.TrimPrefix(b.ResolutionDigest, "sha256:"), b), true
}

func (b MomentDeclined) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofDocument(confirm.MomentResolution, strings.TrimPrefix(b.ResolutionDigest, "sha256:"), b), true
}

func (b RequestAnswered) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.RequestDecline, b), true
}

// Which use it is has to be known only when it is signed: others may be signed while the owner is asked.
func (b ActionSigned) confirmed() (Confirmed, bool) {
	b.Confirmation, b.Use = "", 0
	return ofAct(confirm.ActionSign, b), true
}

func (b PasskeyAdded) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	kind := confirm.PasskeyAdd
	if b.By == "passphrase" {
		kind = confirm.PasskeyTry
	}
	return ofAct(kind, b), true
}

func (b PasskeyRemoved) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.PasskeyRemove, b), true
}

func (b PolicyChanged) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.PolicyLoosen, b), true
}

// Everything that the entry says is in a card's digest.
func (b ActConfirmed) confirmed() (Confirmed, bool) {
	if confirm.Kind(b.Act) == confirm.CardExport {
		return Confirmed{Kind: confirm.CardExport, Digest: b.Digest[2:]}, true
	}
	return ofAct(confirm.Kind(b.Act), OwnerAct{b.From, b.To}), true
}

func (b SocketAdded) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.SocketAdd, b), true
}

func (b Readmitted) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.InstanceReadmit, b), true
}

// OwnerAct is the body of the canonical act behind act.confirmed.
type OwnerAct struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ActType is the type member of a canonical act.
const ActType = "vault.act"

// CanonicalAct gives the canonical bytes of an act: kind and body.
func CanonicalAct(kind confirm.Kind, body any) []byte {
	// Bodies hold integers and texts that were canonical JSON before.
	raw, _ := jcs.Marshal(struct {
		Type string       `json:"type"`
		V    int          `json:"v"`
		Kind confirm.Kind `json:"kind"`
		Body any          `json:"body"`
	}{ActType, 1, kind, body}, jcs.Binding)
	return raw
}

func ofAct(kind confirm.Kind, body any) Confirmed {
	act := CanonicalAct(kind, body)
	sum := sha256.Sum256(act)
	return Confirmed{Kind: kind, Digest: hex.EncodeToString(sum[:]), Act: act}
}

// ofDocument is of a kind whose digest is that of a document, 64 hex digits.
func ofDocument(kind confirm.Kind, digest string, body any) Confirmed {
	raw, _ := jcs.Marshal(body, jcs.Binding) // it was canonical JSON before
	return Confirmed{Kind: kind, Digest: digest, Body: string(raw)}
}
