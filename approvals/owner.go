package approvals

import (
	"context"
	"io"

	"vault/approvals/keys"
	"vault/derive/jcs"
)

// State is what the vault can do now.
type State string

// The states of the desk.
const (
	StateNone     State = "none"      // no vault exists in this folder
	StateLocked   State = "locked"    // the key process has ended
	StateOpening  State = "opening"   // the secret window is open, or the log is being checked
	StateOpen     State = "open"      // decisions and signatures
	StateAway     State = "away"      // the screen is locked: no decisions
	StateReadOnly State = "read_only" // see Status.Trouble
)

// Trouble is something that stops the vault from working as it should, with
// the words for it chosen by Code in ui.
type Trouble struct {
	// Read-only: "rolled_back", "anchor_missing", "copied", "log_damaged",
	// "snapshot_edited", "snapshot_missing", "row_edited", "permit_not_in_log", "permit_missing",
	// "bad_permit", "newer_format", "read_only_folder". Locked: "store_failed",
	// "key_process_ended", "internal". Open: "row_edited" (one row, which is not used).
	Code   string
	Seq    uint64 // entry concerned, or 0
	Detail string
}

// Status is the whole state of the vault at one instant.
type Status struct {
	State      State
	Trouble    *Trouble
	Public     keys.Public // zero before the first opening since start, but for Vault and Demo
	Socket     string
	Folder     string
	Entries    uint64 // log entries
	Covered    uint64 // the newest entry covered by a signed head
	CheckedAt  int64  // when the log was last verified, milliseconds since epoch
	Waiting    int
	WordsDue   bool // the recovery words were put off
	LockReason string
	IdleMS     int64 // lock after this long without input to a vault window
	LockedAt   int64
}

// Creation is the owner's choice at first run.
type Creation struct {
	Protection keys.Protection
	Surface    keys.Surface
	PutOff     bool
	Domain     DomainForm
}

// DomainForm is what the owner types to make a domain, before normalising.
type DomainForm struct {
	Namespace string
	DomainID  string
	Kind      string
}

// DomainView is one domain as the owner sees it.
type DomainView struct {
	Hash, ID, Namespace, Kind string
	Address, Fingerprint      string
	CreatedAt                 int64
	Signatures                int64
}

// ItemKind is the kind of an Inbox row.
type ItemKind string

// The kinds of rows.
const (
	ItemPairing ItemKind = "pairing"
	ItemAction  ItemKind = "action"
	ItemWords   ItemKind = "words" // the recovery words are still to be written down
)

// Item is an Inbox row. Title and Detail are the vault's words; Agent is the owner's
// name for the client, or empty.
type Item struct {
	ID        string
	Kind      ItemKind
	Agent     string
	Operation string // action: operation of the envelope, hostile text
	Resource  string // action: first resource, hostile text
	Since     int64  // milliseconds since epoch
	Until     int64  // end of the request, or 0
	Merged    int    // how many equal requests this row stands for, at least 1
	Next      bool   // the one that can be opened now
	Note      string // code of a remark, e.g. "locked", or empty
}

// Sheet is everything that is shown for one decision. Digest names it: what is approved is this digest.
type Sheet struct {
	ID       string
	Digest   string // 0x and 64 hex digits over the sheet's canonical content
	Kind     ItemKind
	Agent    string // owner's name, or empty
	PairedAt int64
	Session  string
	Since    int64
	Until    int64
	Merged   int
	Pairing  *PairingSheet
	Action   *ActionSheet
	Frame    string // "clicks" before the first passkey: programs that control the screen can approve here; else ""
	Demo     bool
}

// PairingSheet is what is known of a program that asks to pair.
type PairingSheet struct {
	Digits  string // six digits
	Peer    Peer
	Claimed string // hostile text
}

// ActionSheet is a signature that is asked for.
type ActionSheet struct {
	Domain         DomainView
	Address        string // the address that will sign, computed by the vault
	AgentID        string
	Operation      string
	Resources      []string
	ActionIndex    int64
	NotBefore      *int64
	NotAfter       *int64
	DecayMode      string
	MaxUses        *int64
	Used           int64 // uses of this envelope hash so far
	EnvelopeHash   string
	PayloadType    string // top-level "type" of the payload, or empty
	Payload        jcs.Value
	PayloadText    string   // the canonical payload that will be signed, whole
	PayloadDigest  string   // Keccak-256 that will be signed
	Warnings       []string // codes: "no_end", "unlimited", "repeat", …
	Contradictions []Contradiction
	Grantable      bool
	GrantUses      int64 // pre-filled, and the most that is allowed is GrantUsesMax
	GrantUsesMax   int64
	GrantUntil     int64 // pre-filled end, milliseconds since epoch
	GrantUntilMax  int64
}

// Contradiction is a member of the payload that says something else than the envelope.
type Contradiction struct {
	Member, Payload, Envelope string // hostile text
}

// Verdict is what the owner decided.
type Verdict string

// The verdicts.
const (
	VerdictApprove      Verdict = "approve"
	VerdictGrant        Verdict = "grant" // approve, and make a grant for more
	VerdictDecline      Verdict = "decline"
	VerdictDeclineBlock Verdict = "decline_and_block"
)

// Decision is the owner's decision on one sheet.
type Decision struct {
	ID         string
	Digest     string // Sheet.Digest as it was shown
	Verdict    Verdict
	Name       string // pairing: the owner's name for the program
	GrantUses  int64
	GrantUntil int64
	// Prove, where set, asks for the passphrase in that form of the secret window before an
	// approval counts: the terminal surface has no pointer that a person alone can move.
	Prove keys.Surface
}

// Outcome is what came of a decision. Code is "done", "declined", "already_decided", "expired",
// "changed", "locked", "away", "no_passkey", "store_failed" or a code of the key process.
type Outcome struct {
	Code      string
	Detail    string
	Signature string
	Grant     string
}

// ClientView is one paired program.
type ClientView struct {
	ID, Name, Claimed, Executable string
	UserID                        int64
	PairedAt, LastSeen            int64
	Ended                         string // "" | "revoked" | "blocked"
	Connected                     bool
	Signatures, Declined          int64
	Grants                        []GrantView
	Sessions                      []SessionView
}

// GrantView is one grant with what is left of it.
type GrantView struct {
	ID, Client, EnvelopeHash, Operation string
	Resources                           []string
	Uses, Used                          int64
	NotAfter, MadeAt                    int64
	WhileAway                           bool
	State                               string // "active" | "spent" | "ended" | "expired" | "suspended"
	By                                  string
}

// SessionView is a session of a client.
type SessionView struct {
	ID       string
	LastUsed int64
}

// Event is one log entry for people.
type Event struct {
	Seq     uint64
	At      int64
	Kind    string
	Agent   string // owner's name of the client, or empty
	Client  string
	What    string       // short words of ours, untranslated code where ui has words
	Fields  []EventField // the entry's body, in order
	Hash    string
	Covered bool
}

// EventField is one field of an entry, hostile text in Value.
type EventField struct{ Name, Value string }

// EventFilter selects events. Zero values select everything.
type EventFilter struct {
	Client string
	Kind   string
	Text   string
	Before uint64 // page: only entries with a smaller seq, or 0
	Limit  int    // at most 500
}

// LogReport is the result of verifying the log.
type LogReport struct {
	Entries    uint64
	OK         bool
	FirstWrong uint64 // seq of the first entry that is wrong, or 0
	// Code is one of package journal's report codes, "columns" (what stands beside the
	// entry in the store does not say what the entry says), or "damaged" (the file is).
	Code      string
	Uncovered uint64 // entries after the newest signed head
	Anchor    string // "keyring", "sealed" or "none": what keeps a head outside the store
}

// Settings are the owner's choices that need no key.
type Settings struct {
	Theme         string // "system" | "light" | "dark"
	TextScale     int    // percent, 100 to 200
	IdleMinutes   int    // 1 to 240
	Notifications bool
	WarnPasskey   bool
}

// Owner is what the owner's own surfaces may ask of the desk: the window and
// the terminal of "vault serve". Nothing that reaches the socket has it. All
// methods are safe for concurrent use; those that take a context may block on the
// key process, the person or the disk and never belong on a UI goroutine.
type Owner interface {
	// Watch calls f, on any goroutine, after anything that a surface shows has changed.
	Watch(f func()) (stop func())
	Status() Status

	Create(ctx context.Context, c Creation) error
	Unlock(ctx context.Context, s keys.Surface) error
	Restore(ctx context.Context, p keys.Protection, s keys.Surface) error
	// RestoreBackup restores from a backup file into a folder that holds no vault: a new instance whose
	// archive holds the log that the file brought. Passphrases are asked in the secret window.
	RestoreBackup(ctx context.Context, file string, p keys.Protection, s keys.Surface) error
	NewInstance(ctx context.Context) error // after rolled_back, copied or restored
	Lock(ctx context.Context, reason string) error
	Touch() // input reached a window of the vault: the idle clock starts anew
	SetAway(away bool)
	ShowWords(ctx context.Context, s keys.Surface) error
	ChangeProtection(ctx context.Context, p keys.Protection, s keys.Surface) error
	// Backup writes store, log and sealed file to a new file; the passphrase is asked in the secret window.
	Backup(ctx context.Context, file string, s keys.Surface) error

	Inbox() []Item
	// Open gives the sheet of the row that may be opened now and records that it was seen.
	Open(ctx context.Context, id string) (Sheet, error)
	// Closed says that a sheet was closed without a decision: nothing is decided.
	Closed(id string)
	Decide(ctx context.Context, d Decision) (Outcome, error)
	// DeclineAll declines shown and refuses unshown requests of a client.
	DeclineAll(ctx context.Context, client string) error

	Domains() []DomainView
	CreateDomain(ctx context.Context, f DomainForm) (DomainView, error)
	Clients() []ClientView
	RenameClient(ctx context.Context, id, name string) error
	RevokeClient(ctx context.Context, id string) error
	Unblock(ctx context.Context, id string) error
	EndGrant(ctx context.Context, id string) error

	Events(f EventFilter) ([]Event, error)
	VerifyLog(ctx context.Context) (LogReport, error)
	ExportLog(ctx context.Context, w io.Writer, format string) error // "jsonl" | "csv"
	Receipt(ctx context.Context, seq uint64) ([]byte, error)

	Settings() Settings
	SaveSettings(ctx context.Context, s Settings) error
}
