// Package journal is the vault's log as documents: entries in a hash chain,
// heads signed by the log key, and the state that follows from the entries.
// Desk, key process and offline verifier use the same code.
//
// It stores nothing and signs nothing.
package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"vault/derive/jcs"
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
	KindRequestAnswered   Kind = "request.answered"     // (unkeyed) declined, refused, expired, cancelled, withdrawn
	KindRequestSeen       Kind = "request.seen"         // (unkeyed)
	KindMomentSeen        Kind = "moment.seen"          // (unkeyed)
	KindMomentResolved    Kind = "moment.resolved"      // by an option, an answer, or by rejecting the question
	KindMomentDeclined    Kind = "moment.declined"      // (unkeyed)
	KindMomentEnded       Kind = "moment.ended"         // (unkeyed) without a resolution
	KindMomentNoted       Kind = "moment.noted"         // (unkeyed) could not be shown as a decision
	KindMomentMissed      Kind = "moment.not_performed" // (unkeyed) selected, and another action came
	KindPasskeyAdded      Kind = "passkey.added"
	KindPasskeyRemoved    Kind = "passkey.removed"
	KindPolicyChanged     Kind = "policy.changed"
	KindActConfirmed      Kind = "act.confirmed" // of what is done outside the log, before it is done
	KindSocketAdded       Kind = "socket.added"
	KindSocketRemoved     Kind = "socket.removed"      // (unkeyed)
	KindReadmitted        Kind = "instance.readmitted" // of what a new instance suspends
	KindSnapshot          Kind = "snapshot"
)

// Unkeyed says whether entries of this kind may be made while the vault is locked; see [Entry.Unkeyed].
func (k Kind) Unkeyed() bool {
	switch k {
	case KindClientEnded, KindGrantEnded, KindSocketRemoved, KindRequestAnswered, KindRequestSeen, KindLocked,
		KindMomentSeen, KindMomentDeclined, KindMomentEnded, KindMomentNoted, KindMomentMissed,
		KindDelegateImported, KindDelegatePaused, KindDelegateEnded:
		return true
	}
	return k.unkeyedSoW()
}

// Unkeyed says whether the entry may have been made while the vault was locked. One that names a
// confirmation cannot: the key process has verified it, so a signed head is over it.
func (e Entry) Unkeyed() bool { return e.Kind.Unkeyed() && e.Record() == "" }

// Entry is one line of the log. Its canonical bytes are hashed and chained.
// Only [Parse] makes an entry that [State.Apply] takes.
type Entry struct {
	Instance string // 32 hex digits
	Seq      uint64 // from 1
	Prev     string // hash of the entry before, 0x and 64 hex digits; zeros for seq 1
	At       int64  // milliseconds since epoch, the vault's clock
	Kind     Kind

	raw     []byte
	hash    string
	decoded any // one of the bodies below
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
	// Confirmation is the digest of the record behind it (confirm.Record.Digest), exactly where By is
	// "passkey". So it is in every body.
	Confirmation string `json:"confirmation,omitzero"`
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
	Confirmation string `json:"confirmation,omitzero"`
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
	// Moment is the moment whose selected option this action is, or empty.
	Moment       string `json:"moment,omitzero"`
	Confirmation string `json:"confirmation,omitzero"`
}

// RequestAnswered is the body of request.answered: every end of a request that signs nothing.
type RequestAnswered struct {
	Request string `json:"request"`
	Client  string `json:"client"`
	Method  string `json:"method"`
	Outcome string `json:"outcome"` // "declined" | "refused" | "expired" | "cancelled" | "withdrawn"
	Reason  string `json:"reason"`  // stable code, or empty
	Digest  string `json:"digest"`  // what was asked, 0x and 64 hex digits
	// Folded counts the refusals of this client that have no entry of their own, since the one before this.
	Folded uint64 `json:"folded,omitzero"`
	// Confirmation is the digest of the record behind a decline that a passkey confirmed, or empty.
	Confirmation string `json:"confirmation,omitzero"`
}

// RequestSeen is the body of request.seen: the sheet was on the owner's screen.
type RequestSeen struct {
	Request string `json:"request"`
	Client  string `json:"client"`
	Digest  string `json:"digest"` // what was shown
}

// MomentSeen is the body of moment.seen: the sheet was on the owner's screen.
type MomentSeen struct {
	Moment string `json:"moment"` // id, see [MomentID]
	Client string `json:"client"`
	Digest string `json:"digest"` // of the whole sheet, 0x and 64 hex digits
	// HatchesOff says which ways of answering the agent turned off (Briefing-and-Binding Envelope 12.3).
	HatchesOff string `json:"hatches_off"` // "" | "free_text" | "dialogue" | "both"
}

// MomentResolved is the body of moment.resolved: the owner's resolution of one envelope
// (Briefing-and-Binding Envelope 7.3) that is no decline. It is what a later action.signed that names
// the moment stands on.
type MomentResolved struct {
	Moment           string `json:"moment"` // id, see [MomentID]
	Client           string `json:"client"`
	Session          string `json:"session"`
	EnvelopeDigest   string `json:"envelope_digest"`   // sha256: and 64 hex digits
	SheetDigest      string `json:"sheet_digest"`      // of what was approved (moment.Sheet.Digest), 0x and 64 hex digits
	Choice           string `json:"choice"`            // "option" | "answer" | "question"
	Option           int64  `json:"option"`            // index, or -1
	ActionDigest     string `json:"action_digest"`     // of the selected option, sha256: and 64 hex digits, or empty
	SignWith         string `json:"sign_with"`         // hash of the action envelope shown with it, 0x and 64 hex digits, or empty
	ResolutionDigest string `json:"resolution_digest"` // of the object that goes to the agent, sha256: and 64 hex digits
	By               string `json:"by"`                // "click" | "passkey"
	// Unseen says that the vault showed only the digest of the selected option's action: what confirms the
	// resolution then stands for no action.
	Unseen       bool   `json:"unseen,omitzero"`
	Confirmation string `json:"confirmation,omitzero"`
}

// PasskeyAdded is the body of passkey.added. By "passphrase" is the first of a root: its
// confirmation is the new passkey's own first answer. Every later one is confirmed by one that was enrolled before.
type PasskeyAdded struct {
	Passkey        string `json:"passkey"` // COSE key, base64url unpadded
	Kind           string `json:"kind"`    // confirm.PasskeyKind
	BackupEligible bool   `json:"backup_eligible"`
	RPID           string `json:"rp_id"`
	By             string `json:"by"` // "passphrase" | "passkey"
	Confirmation   string `json:"confirmation,omitzero"`
}

// PasskeyRemoved is the body of passkey.removed.
type PasskeyRemoved struct {
	Passkey      string `json:"passkey"` // COSE key, base64url unpadded
	Confirmation string `json:"confirmation,omitzero"`
}

// PolicyChanged is the body of policy.changed. By "click" only where it loosens nothing.
type PolicyChanged struct {
	FromSHA256   string `json:"from_sha256"` // of the canonical policy, 0x and 64 hex digits
	To           string `json:"to"`          // the canonical policy
	By           string `json:"by"`          // "click" | "passkey"
	Confirmation string `json:"confirmation,omitzero"`
}

// ActConfirmed is the body of act.confirmed: the owner confirmed something that is then done once, in the
// same opening of the vault and at most two minutes later.
type ActConfirmed struct {
	Act          string `json:"act"`    // confirm.Kind: "recovery.show" | "protection.change" | "card.export"
	From         string `json:"from"`   // protection.change: the protection in force
	To           string `json:"to"`     // protection.change: the one that is wanted
	Digest       string `json:"digest"` // that of the context, 0x and 64 hex digits
	Confirmation string `json:"confirmation"`
}

// MomentDeclined is the body of moment.declined. It authorises nothing.
type MomentDeclined struct {
	Moment           string `json:"moment"` // id, see [MomentID]
	Client           string `json:"client"`
	Session          string `json:"session"`
	EnvelopeDigest   string `json:"envelope_digest"`
	SheetDigest      string `json:"sheet_digest"`
	ResolutionDigest string `json:"resolution_digest"`
	Confirmation     string `json:"confirmation,omitzero"` // as in [RequestAnswered]
}

// MomentEnded is the body of moment.ended: nothing was resolved, and nothing was sent.
type MomentEnded struct {
	Moment string `json:"moment"`
	Client string `json:"client"`
	Reason string `json:"reason"` // "withdrawn" | "not_shown"
}

// MomentNoted is the body of moment.noted: what was presented could not be shown as a decision, and
// its conventional payload was shown instead.
type MomentNoted struct {
	Client  string `json:"client"`
	Session string `json:"session"`
	Reason  string `json:"reason"` // stable code
	Digest  string `json:"digest"` // SHA-256 of what was presented, 0x and 64 hex digits
}

// MomentMissed is the body of moment.not_performed: an option was selected, and the agent came with
// an action that it does not allow. Nothing was signed.
type MomentMissed struct {
	Moment string `json:"moment"`
	Client string `json:"client"`
	Reason string `json:"reason"` // stable code
	Digest string `json:"digest"` // SHA-256 of the action as received, 0x and 64 hex digits
}

// MomentID names one envelope in one session of one client: m_ and the SHA-256, 64 hex digits, of
// the three texts as canonical JSON.
func MomentID(client, session, envelopeDigest string) string {
	b := []byte(`{"client":`)
	b = jcs.AppendString(b, client)
	b = jcs.AppendString(append(b, `,"envelope_digest":`...), envelopeDigest)
	b = jcs.AppendString(append(b, `,"session":`...), session)
	sum := sha256.Sum256(append(b, '}'))
	return "m_" + hex.EncodeToString(sum[:])
}

// AskDigest binds a request to what was asked: method, session and the two documents as received, 0x and
// 64 hex digits. Of a pairing the session is its id, and the documents are its digits and the name that
// the program gives itself.
func AskDigest(method, session string, first, second []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(method), []byte(session), first, second} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return "0x" + hex.EncodeToString(h.Sum(nil))
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
