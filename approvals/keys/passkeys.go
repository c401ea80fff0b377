package keys

import "context"

// Passkey is an enrolled passkey, or one that is pending. It holds no secret.
type Passkey struct {
	ID             string // "p_" and 16 hex digits of the SHA-256 of Key
	Key            []byte // COSE key in canonical CBOR
	Kind           string // confirm.PasskeyKind: what answered, as far as the browser told
	BackupEligible bool   // may be copied to other devices by whoever keeps it
	RPID           string // the name it answers for
	Transports     []string
	EnrolledAt     int64 // milliseconds since epoch
	LastUse        int64 // milliseconds since epoch, or 0
	Digits         string
}

// Ask is what a ceremony is for: exactly one of Act, Owner, Enrol and Try.
type Ask struct {
	// Act is the act as it will be committed: its entry extends the head as it was when it was written, and names the
	// record with zeros. Its guard is run before anybody is asked. To [Act.Confirmation] it is committed with an entry that
	// extends the head then and says the same.
	Act *Act
	// Owner asks to confirm something that is done outside the log.
	Owner *OwnerAct
	// Enrol asks for a new passkey. The first of a root asks for the passphrase in the secret
	// window before the page; it may be enrolled once per root.
	Enrol *Enrol
	// Try asks the pending passkey for its first answer, after the owner said *it is mine*.
	Try bool
	// OtherName uses the RP ID "localhost", for a browser that does not take the vault's own: after the
	// outcome "name_refused" of an enrolment. In a confirmation: the passkeys enrolled so.
	OtherName bool
}

// OwnerAct is something done outside the log that an entry of kind act.confirmed precedes.
type OwnerAct struct {
	Act string // "recovery.show" | "protection.change" | "card.export"
	To  string // protection.change: the protection wanted
}

// Enrol asks for a new passkey.
type Enrol struct {
	Surface Surface // of the secret window, for the first one
}

// Begun is a ceremony that has begun: its page is served, and a browser is asked to open it.
type Begun struct {
	ID      string
	Context []byte   // canonical context, or nil for an enrolment
	Digest  string   // that of the context, 0x and 64 hex digits, or empty
	Says    []string // what the page says, words of the key process; foreign text in them is hostile
	Ends    int64    // milliseconds since epoch
}

// StepKind names a step of a ceremony.
type StepKind string

// The steps. After StepAnswered, StepPending and StepEnded none follows.
const (
	StepReady     StepKind = "ready"      // a browser is asked to open the page
	StepNoBrowser StepKind = "no_browser" // none took it so far: Link, Forward
	StepOpened    StepKind = "opened"
	StepCompare   StepKind = "compare" // Digits are to be compared with those on the page: Compared
	StepAsking    StepKind = "asking"  // the page has asked the browser for a passkey
	StepAnswered  StepKind = "answered"
	StepPending   StepKind = "pending" // a new passkey: its digits are to be compared
	StepEnded     StepKind = "ended"   // nothing was decided; Outcome
)

// Step is what happened in a ceremony.
type Step struct {
	Kind    StepKind
	Link    string   // works once
	Forward string   // over SSH: the command to type on the owner's own computer first
	Digits  string   // six decimal digits
	Record  string   // StepAnswered: digest of the record, 0x and 64 hex digits; not verified yet
	Passkey *Passkey // StepPending
	// Outcome is why it ended: a word of the ceremony ("cancelled", "page_closed", "contested", "not_opened",
	// "timed_out", "not_same", "name_refused", "no_means", "already_there", "page_differs", "no_port",
	// "line_ended") or the code of a refused answer.
	Outcome string
	Detail  string // a sentence of ours, or empty
}

// Codes about confirmations.
const (
	CodeNoPasskey      = "no_passkey"      // this needs a passkey and none is enrolled
	CodePasskeyNeeded  = "passkey_needed"  // it was asked for by a click and needs a passkey
	CodeNotConfirmed   = "not_confirmed"   // no ceremony, another one, or one that is over
	CodeOtherAct       = "other_act"       // the ceremony was for another act
	CodeCeremonyOpen   = "ceremony_open"   // one is open already
	CodeLastPasskey    = "last_passkey"    // the last passkey is not removed
	CodePasskeyOnce    = "passkey_once"    // the first passkey of a root is enrolled once; afterwards only the words reopen it
	CodeUnknownPasskey = "unknown_passkey" // no such passkey is enrolled
	CodeNothingPending = "nothing_pending" // no new passkey waits, or it has not answered yet
	CodeNoPassphrase   = "passkeys_need_passphrase"
)

// Confirmer is the part of [Handler] about passkeys and ceremonies. One ceremony is open at a time, in memory, at
// most two minutes; it is used once, by the commit that names it, whatever comes of that.
type Confirmer interface {
	// Public gives what the desk may know, as it is now.
	Public(context.Context) (Public, error)
	// Begin opens a ceremony and returns once its page is served. Refusals that are known before anybody is asked
	// come from here.
	Begin(context.Context, Ask) (Begun, error)
	// Next gives the next step of the ceremony, and blocks until there is one.
	Next(ctx context.Context, id string) (Step, error)
	// Compared says, after StepCompare, whether page and window showed the same digits; and of a pending passkey,
	// whether it is the owner's. If not, it is forgotten.
	Compared(ctx context.Context, id string, same bool) error
	// Stop ends the ceremony, if it is open: nothing is decided. Of a pending passkey's: it is forgotten.
	Stop(ctx context.Context, id string) error
}
