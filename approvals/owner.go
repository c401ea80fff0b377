package approvals

import (
	"context"
	"io"

	"vault/approvals/agreement"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/approvals/permit"
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
	Checked    uint64 // how many entries were read then
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
	ItemWords   ItemKind = "words"  // the recovery words are still to be written down
	ItemMoment  ItemKind = "moment" // a binding moment: a decision that an agent needs
	// ItemNote is for reading only: something that came as a decision and could not be shown as one, or
	// that was answered before. It can be opened at any time, stands in nobody's way, and
	// ends with [Owner.Dismiss].
	ItemNote ItemKind = "note"
	// ItemSoW is an engagement in which something waits for the owner. Its sheet is the engagement's own page
	// ([SoWOwner.Engagement]): it stands in nobody's way and ends when what it waits for is done.
	ItemSoW ItemKind = "sow"
)

// Item is an Inbox row. Title and Detail are the vault's words; Agent is the owner's
// name for the client, or empty.
type Item struct {
	ID        string
	Kind      ItemKind
	Agent     string
	Operation string            // action: operation of the envelope, hostile text
	Resource  string            // action: first resource, hostile text
	Since     int64             // milliseconds since epoch
	Until     int64             // end of the request, or 0
	Merged    int               // how many equal requests this row stands for, at least 1
	Next      bool              // the one that can be opened now
	Note      string            // code of a remark, e.g. "locked", or empty
	Session   string            // moment, note: the client's session, hostile text
	Stem      string            // moment: its question, hostile text
	Reason    string            // note: why it is only one, see [NoteSheet]
	Wants     agreement.Waiting // sow: what waits; ID is the engagement's, Stem its identifier
}

// Sheet is everything that is shown for one decision. Digest names it: what is approved is this digest.
type Sheet struct {
	ID       string
	Digest   string // 0x and 64 hex digits over the sheet's canonical content
	Kind     ItemKind
	Agent    string // owner's name, or empty
	Client   string // client id, or empty
	PairedAt int64
	Session  string
	Since    int64
	Until    int64
	Merged   int
	Pairing  *PairingSheet
	Action   *ActionSheet
	Moment   *MomentSheet
	Note     *NoteSheet
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
	Moment         string   // id of the moment whose selected option this action is, or empty; see [Owner.Answered]
	OptionLabel    string   // of that option, hostile text
	Warnings       []string // codes: "no_end", "unlimited", "repeat", …
	Contradictions []Contradiction
	Grantable      bool
	GrantUses      int64 // pre-filled, and the most that is allowed is GrantUsesMax
	GrantUsesMax   int64
	GrantUntil     int64 // pre-filled end, milliseconds since epoch
	GrantUntilMax  int64
}

// MomentSheet is a binding moment as it is laid before the owner. While its sheet is open, [Owner.Open]
// of the same row gives it anew with the same digest: Asks may have grown, the rest has not changed.
type MomentSheet struct {
	Moment string // id, "m_" and 64 hex digits
	// Sheet is the envelope with what was presented behind its options. What is approved covers its Digest.
	Sheet *moment.Sheet
	// Addresses are the addresses that would sign, by option with a signing envelope, computed by the
	// vault; empty while it is locked.
	Addresses map[int]string
	Used      map[int]int64 // uses so far of each option's signing envelope
	// Problems are codes that say why an option's signing envelope would not be signed under now
	// ("unknown_domain", "envelope_expired", "not_yet_valid", "suspended", "uses_spent"), by option. They block nothing.
	Problems       map[int]string
	ToolServer     string // as the agent names it, hostile text; may be empty
	Repetition     moment.Repetition
	Asks           []AskView // not part of what is approved
	EnvelopeDigest string    // sha256: and 64 hex digits
}

// AskView is a question of the owner's about one line of a moment, with the agent's answer.
type AskView struct {
	ID, Line string
	Question string
	At       int64
	Answer   string // hostile text; empty until AnswerAt is set
	AnswerAt int64  // milliseconds since epoch, or 0
}

// NoteSheet is what is shown of something that could not be shown as a decision (section 9.3): the
// conventional payload and the reason. No part of an envelope is in it.
type NoteSheet struct {
	// Reason is a moment.Reason, or "no_envelope", "tool_error", "too_many_open" (more than 5 open moments
	// of one session, or 32 of one client) or "already_answered".
	Reason     string
	Path       string // where in the envelope, words of ours; may be empty
	Payload    moment.Payload
	ToolServer string // hostile text
	Moment     string // already_answered: id of the moment, see [Owner.Answered]
}

// AnsweredMoment is a moment that ended.
type AnsweredMoment struct {
	Moment, Client, Agent, Session string // Session is hostile text
	Stem, Class                    string // hostile text; Class is empty where none was named
	Choice                         moment.Choice
	// Ended says why it ended without a resolution, which then is empty: "withdrawn" (its session or
	// client ended) or "not_shown" (swept away unseen).
	Ended          string
	Option         int    // -1 unless Choice is option
	Label          string // of the option, hostile text
	Answer         string // the owner's own words
	EnvelopeDigest string
	SheetDigest    string
	Seq            uint64 // log entry; [Owner.Receipt] of it holds envelope and resolution
	At             int64
	// Performed says what came of a selected option: "" (nothing to sign, or nothing yet), "signed", or
	// "selected, not performed" (the agent came with another action).
	Performed string
	Repeats   int64 // how often the same was presented again
}

// MomentRate counts the moments of one client and decision class. Shares are N of Shown or of Presented.
type MomentRate struct {
	Client, Agent string
	Class         string // hostile text; "" for moments without one
	HasClass      bool
	Presented     int64
	WithNote      int64 // with a calibration note
	HatchesOff    int64 // with one or both hatches off
	FreeTextOff   int64
	DialogueOff   int64
	Options       int64 // resolved by an option
	Answers       int64
	Questions     int64 // question rejected
	Declined      int64
	Fallbacks     int64 // of the client, in its row without a class: could not be shown
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

// The verdicts on a moment, beside VerdictDecline: the four resolutions of section 7.3.
const (
	VerdictOption   Verdict = "option"   // selects Decision.Option
	VerdictAnswer   Verdict = "answer"   // Decision.Answer, where the envelope leaves this way open
	VerdictQuestion Verdict = "question" // this is the wrong question, where the envelope leaves this way open
)

// Decision is the owner's decision on one sheet.
type Decision struct {
	ID         string
	Digest     string // Sheet.Digest as it was shown
	Verdict    Verdict
	Name       string // pairing: the owner's name for the program
	GrantUses  int64
	GrantUntil int64
	Option     int    // VerdictOption: index of the option
	Answer     string // VerdictAnswer: the owner's own words, as typed
	// Prove, where set, asks for the passphrase in that form of the secret window before an
	// approval counts: the terminal surface has no pointer that a person alone can move. Where a
	// passkey is enrolled it is asked for instead.
	Prove keys.Surface
	// Confirm asks for a passkey for an approval, a resolution or a decline whatever the policy says; without one
	// the outcome is "no_passkey". A block is not confirmed so. For surfaces on which any program of the account can press the keys.
	Confirm bool
	// Elsewhere says that any program of the account can have asked for this, over a socket: what no passkey answers of it,
	// twice in a row, cools down what is asked for there, five minutes, and not what the owner asks for.
	Elsewhere bool
}

// FurtherUser is who gets a socket, and where.
type FurtherUser struct {
	User      string // an account's name or number
	Path      string // or empty: where one is made usually
	Elsewhere bool   // as in [Decision]
}

// Outcome is what came of a decision. Where it waited for a passkey and nothing was done, Code is the
// reason ("cancelled", "page_closed", "contested", "not_opened", "timed_out", "name_refused", "no_means",
// … or the code of a refused answer, such as "not_verified") and the sheet is open as before;
// "ceremony_open" says that another ceremony is open, "cooling" that two of this client's, or of the programs of one user that ask to be paired, were not answered. Code is "done", "declined", "already_decided", "expired",
// "changed", "locked", "away", "no_passkey", "store_failed" or a code of the key process. Of a
// moment also "recovery_words" (the answer holds twelve recovery words in a row and was held back), or
// a moment.Reason: "action_mismatch", "action_not_signable", "hatch_disabled", "answer_empty", ….
type Outcome struct {
	Code      string
	Detail    string
	Signature string
	Grant     string
	Delegate  string          // delegateHash of one that was issued or admitted
	Answered  *AnsweredMoment // of a moment that was resolved: what was decided
}

// Enrolment is the owner's wish to enrol a passkey.
type Enrolment struct {
	Surface keys.Surface // of the secret window, which asks for the passphrase before the first one
	// OtherName: the browser did not take the vault's own name (outcome "name_refused"); try "localhost".
	OtherName bool
}

// CeremonyState is how far a ceremony is.
type CeremonyState string

// The states of a ceremony, in their order.
const (
	CeremonyOpening CeremonyState = "opening" // the secret window, or the page is being served
	CeremonyReady   CeremonyState = "ready"   // a browser is asked to open the page
	// CeremonyNoBrowser: no browser took the page so far. Link opens it, once; Forward is to be typed first
	// where the owner sits at another computer.
	CeremonyNoBrowser CeremonyState = "no_browser"
	// CeremonyCompare: this system does not tell whose the page is. Digits are on it too, or it is not
	// the vault's; [Owner.Compared].
	CeremonyCompare CeremonyState = "compare"
	CeremonyOpened  CeremonyState = "opened" // the page was opened by this user
	CeremonyAsking  CeremonyState = "asking" // the browser was asked for the passkey
	// CeremonyMine: a new passkey answered. Digits are those of its key, on the page too: *It is mine*
	// is [Owner.Compared].
	CeremonyMine   CeremonyState = "mine"
	CeremonyTaking CeremonyState = "taking" // it answered; the key process looks at it
)

// CeremonyView is the ceremony that is open now. There is at most one.
type CeremonyView struct {
	// For is what it confirms: the id of an Inbox row, or "enrol", "try", "add", "remove", "policy",
	// "words", "protection", "card", "socket", "readmit", "delegate", "admit", "resume", "mint_export".
	For     string
	State   CeremonyState
	Says    []string // what the page says; foreign text in it is hostile
	Link    string
	Forward string
	Digits  string
	Passkey *PasskeyView // CeremonyMine: the new one
	Until   int64        // milliseconds since epoch, or 0
}

// PasskeyView is an enrolled passkey.
type PasskeyView struct {
	ID   string // "p_" and 16 hex digits
	Kind string // "security_key" | "phone" | "this_device" | "program": as far as the browser told
	// BackupEligible: whoever keeps it may copy it to other devices.
	BackupEligible bool
	RPID           string
	EnrolledAt     int64
	LastUse        int64 // or 0
	Digits         string
}

// ClickRate counts, for one client and one hour, what the owner approved by click and by passkey.
type ClickRate struct {
	Client, Agent string
	Hour          int64 // beginning of the hour, milliseconds since epoch
	Clicks        int64
	Passkeys      int64
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
	// entry in the store does not say what the entry says), "evidence_missing" (a passkey confirmed the
	// entry, and its record is not beside it), "evidence_edited" (what is beside it is not the evidence of
	// this entry), or "damaged" (the file is).
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
	MintOwner

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
	// Look gives the sheet of any row without opening it: nothing is recorded, no place changes, and nothing can
	// be decided on what it gives.
	Look(ctx context.Context, id string) (Sheet, error)
	// Opened is the row that a surface has open, or "".
	Opened() string
	// Closed says that a sheet was closed without a decision: nothing is decided.
	Closed(id string)
	Decide(ctx context.Context, d Decision) (Outcome, error)
	// DeclineAll declines shown and refuses unshown requests of a client.
	DeclineAll(ctx context.Context, client string) error
	// Ask asks the agent about one line of the open moment with that row id: elaboration, no
	// resolution. line is "synopsis", "offer", "question", "findings.N", "recommendations.N" or
	// "options.N" with N from 0. Text that holds recovery words is refused with "recovery_words".
	Ask(ctx context.Context, id, line, text string) error
	// Dismiss takes a note out of the Inbox.
	Dismiss(ctx context.Context, id string) error
	// Answered gives the moments that ended, newest first, at most limit (500 at most), resolved
	// before an instant (milliseconds since epoch; 0: no bound).
	Answered(before int64, limit int) ([]AnsweredMoment, error)
	// MomentRates gives the counts per client and decision class, all time.
	MomentRates() ([]MomentRate, error)

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

	// Ceremony is the ceremony that is open now, and false where none is. Watch is told of every change.
	Ceremony() (CeremonyView, bool)
	// Compared answers CeremonyCompare and CeremonyMine: whether the digits are the same, and it is mine.
	Compared(ctx context.Context, same bool) error
	// CancelCeremony ends the ceremony that is open: nothing is decided, and who waits for it is told "cancelled".
	CancelCeremony()
	// Passkeys are the enrolled passkeys, oldest first.
	Passkeys() []PasskeyView
	// EnrolPasskey enrols a passkey, from the page to the log; see [Owner.Ceremony] for its steps. From the
	// second on, one that is enrolled confirms it. It blocks for as long as the person takes.
	EnrolPasskey(ctx context.Context, e Enrolment) (Outcome, error)
	// RemovePasskey removes one; another or the same confirms it. The last one is not removed ("last_passkey").
	RemovePasskey(ctx context.Context, id string) (Outcome, error)
	// Policy says which single approvals need a passkey.
	Policy() permit.Policy
	// SetPolicy changes it: tightening by click, loosening by a passkey.
	SetPolicy(ctx context.Context, p permit.Policy) (Outcome, error)
	// ExportCard gives the signed owner card, confirmed by a passkey. Where Outcome.Code is not "done" there is none.
	ExportCard(ctx context.Context) ([]byte, Outcome, error)
	// Sockets are the sockets for further users of this machine, by user id.
	Sockets() []SocketView
	// AddSocket opens one. A passkey confirms it, always; it may ask, and decides nothing. Outcome.Code beside those of a ceremony:
	// "unknown_user", "own_user" (the vault's own), "twice" (there is one), "too_many" (8), "socket_path_invalid".
	AddSocket(ctx context.Context, f FurtherUser) (Outcome, error)
	// RemoveSocket closes it at once, also while the vault is locked: the calls on it are over when this returns. The
	// programs that were paired over it stay paired, and reach nothing until there is a socket for their user again.
	RemoveSocket(ctx context.Context, userID int64) error
	// Suspended are action envelopes that a restored, copied or rolled-back instance does not sign under, and those that
	// were admitted again. It reads the disk.
	Suspended() ([]SuspendedView, error)
	// Readmit lets one of them be used again, at most uses times in this instance. A passkey confirms it, always: how
	// often it was used before is not known. Outcome.Code beside those of a ceremony: "unknown_envelope", "twice",
	// "readmit_limits" (more than it states).
	Readmit(ctx context.Context, envelopeHash string, uses int64) (Outcome, error)
	// ClickRates counts approvals by hour and client since an instant (milliseconds since epoch), newest first.
	ClickRates(since int64) ([]ClickRate, error)

	SoWOwner
	LanguageOwner
}
