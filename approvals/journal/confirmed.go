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

// Confirmation says what confirmation an entry can have behind it, computed from the
// entry alone: so does the key process before it asks, and so does whoever
// verifies a receipt. It is false for kinds that have none.
func (e Entry) Confirmation() (Confirmed, bool) {
	switch b := e.decoded.(type) {
	case ClientPaired:
		record := b.Confirmation
		b.Confirmation = ""
		return ofDocument(confirm.ClientPair, b.PermitSHA256[2:], b, record), true
	case GrantMade:
		record := b.Confirmation
		b.Confirmation = ""
		return ofDocument(confirm.GrantMake, b.PermitSHA256[2:], b, record), true
	case MomentResolved:
		record := b.Confirmation
		b.Confirmation = ""
		return ofDocument(confirm.MomentResolution, strings.TrimPrefix(b.ResolutionDigest, "sha256:"), b, record), true
	case MomentDeclined:
		record := b.Confirmation
		b.Confirmation = ""
		return ofDocument(confirm.MomentResolution, strings.TrimPrefix(b.ResolutionDigest, "sha256:"), b, record), true
	case RequestAnswered:
		record := b.Confirmation
		b.Confirmation = ""
		return ofAct(confirm.RequestDecline, b, record), true
	case ActionSigned:
		record := b.Confirmation
		b.Confirmation, b.Use = "", 0
		return ofAct(confirm.ActionSign, b, record), true
	case PasskeyAdded:
		record := b.Confirmation
		b.Confirmation = ""
		kind := confirm.PasskeyAdd
		if b.By == "passphrase" {
			kind = confirm.PasskeyTry
		}
		return ofAct(kind, b, record), true
	case PasskeyRemoved:
		record := b.Confirmation
		b.Confirmation = ""
		return ofAct(confirm.PasskeyRemove, b, record), true
	case PolicyChanged:
		record := b.Confirmation
		b.Confirmation = ""
		return ofAct(confirm.PolicyLoosen, b, record), true
	case SocketAdded:
		record := b.Confirmation
		b.Confirmation = ""
		return ofAct(confirm.SocketAdd, b, record), true
	case Readmitted:
		record := b.Confirmation
		b.Confirmation = ""
		return ofAct(confirm.InstanceReadmit, b, record), true
	case ActConfirmed:
		if confirm.Kind(b.Act) == confirm.CardExport { // all that its entry says is in the digest
			return Confirmed{Kind: confirm.CardExport, Digest: b.Digest[2:], Record: b.Confirmation}, true
		}
		c := ofAct(confirm.Kind(b.Act), OwnerAct{b.From, b.To}, b.Confirmation)
		return c, true
	}
	if c, ok := mintConfirmation(e.decoded); ok {
		return c, true
	}
	return e.sowConfirmation()
}

// Record is the digest of the record that the entry names, 0x and 64 hex digits, or empty.
func (e Entry) Record() string {
	switch b := e.decoded.(type) {
	case ClientPaired:
		return b.Confirmation
	case GrantMade:
		return b.Confirmation
	case MomentResolved:
		return b.Confirmation
	case MomentDeclined:
		return b.Confirmation
	case RequestAnswered:
		return b.Confirmation
	case ActionSigned:
		return b.Confirmation
	case PasskeyAdded:
		return b.Confirmation
	case PasskeyRemoved:
		return b.Confirmation
	case PolicyChanged:
		return b.Confirmation
	case SocketAdded:
		return b.Confirmation
	case Readmitted:
		return b.Confirmation
	case ActConfirmed:
		return b.Confirmation
	case DelegateIssued:
		return b.Confirmation
	case DelegateAdmitted:
		return b.Confirmation
	case DelegateResumed:
		return b.Confirmation
	case MintExported:
		return b.Confirmation
	case SoWSigned:
		return b.Confirmation
	case SoWActSigned:
		return b.Confirmation
	case SoWPreauthorised:
		return b.Confirmation
	}
	return ""
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

func ofAct(kind confirm.Kind, body any, record string) Confirmed {
	act := CanonicalAct(kind, body)
	sum := sha256.Sum256(act)
	return Confirmed{Kind: kind, Digest: hex.EncodeToString(sum[:]), Act: act, Record: record}
}

// ofDocument is of a kind whose digest is that of a document, 64 hex digits.
func ofDocument(kind confirm.Kind, digest string, body any, record string) Confirmed {
	raw, _ := jcs.Marshal(body, jcs.Binding) // it was canonical JSON before
	return Confirmed{Kind: kind, Digest: digest, Record: record, Body: string(raw)}
}
