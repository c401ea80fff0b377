package agreement

import (
	"vault/approvals/sow"
	"vault/approvals/sow/money"
)

// Source says where bytes came from.
type Source struct {
	Kind   string // "file" | "drop" | "paste" | "agent" | "own"
	Name   string // of the file, or the agent's session; hostile text, may be empty
	Client string // "agent": the paired client
	// Engagement is the one on whose page it was dropped, or empty: for what does not say what it belongs to.
	Engagement string
}

// RecordKind is what something brought in is.
type RecordKind string

// The kinds. Acts are named as sow.ActKind names them.
const (
	RecordSoW          RecordKind = "sow"
	RecordConfirmation RecordKind = "confirmation" // a person's confirmation beside a signature (6.1)
	RecordIntent       RecordKind = "intent"       // an agent's own artefact, the first half of agent_then_person
	RecordDenial       RecordKind = "denial"
	RecordWithdrawal   RecordKind = "withdrawal"
	RecordTermination  RecordKind = "termination"
	RecordRefusal      RecordKind = "formation_refusal"
	RecordDispute      RecordKind = "dispute"
	RecordReview       RecordKind = "review"
	RecordProbe        RecordKind = "probe"
	RecordQuote        RecordKind = "quote"
	RecordSettlement   RecordKind = "settlement_record"
	RecordJobManifest  RecordKind = "job_manifest"
	RecordProblem      RecordKind = "problem_report"
	RecordProbeRecord  RecordKind = "probe_record"
	RecordVerdict      RecordKind = "verdict"
	RecordAppointment  RecordKind = "appointment"
	RecordManifest     RecordKind = "manifest"
	RecordCard         RecordKind = "owner_card" // a counterparty's, from which its keys are learned
	RecordBundle       RecordKind = "bundle"     // an export of another vault: everything in it is taken one by one
)

// Kind tells offers from engagements.
type Kind string

// The kinds.
const (
	KindOffer      Kind = "offer"      // the client's seat is blank
	KindEngagement Kind = "engagement" // both seats are filled
)

// Row is one line of a list. Party names are hostile text.
type Row struct {
	ID    string // "e_" and 32 hex digits
	SoW   string // identifier of the document, hostile text
	Kind  Kind
	Role  string // our seat: sow.Provider, sow.Client, or "" where we hold none
	State sow.State
	// Version is that in force, else the newest, and Digest its digest.
	Version            int64
	Digest             string
	Provider, Client   sow.Seat // Client is zero where the seat is blank
	Offerings          []string // hostile text
	Arrangement        money.Arrangement
	Committed          money.Opt // at most, in the smallest unit of Currency; not set: unbounded
	Currency           string    // hostile text
	StartsAt, EndsAt   int64     // of the term, the end no later than a termination's; 0: not stated
	At                 int64     // of the last change
	Waiting            []Waiting // what waits for the owner; empty: nothing
	Conflict, Rehomed  bool
	Errors             int // findings that bar signing
	Reminder           *Reminder
	From               Source // of the first document
	Spent, Withdrawn   bool   // offers
	Formations, Active int    // offers: formed, and of those active
}

// Waiting names something that waits for the owner.
type Waiting string

// What can wait. Each is a row in the Inbox too.
const (
	WaitCountersign Waiting = "countersign" // an offer an agent brought, or a completed document that lacks our signature
	WaitComplete    Waiting = "complete"    // a request to form under an own offer that could not be completed by itself
	WaitApprove     Waiting = "approve"     // an amendment that the other side proposes
	WaitConflict    Waiting = "conflict"
	WaitHandle      Waiting = "handle"
	WaitProblem     Waiting = "problem"            // a problem report to be answered
	WaitUnanswered  Waiting = "problem_unanswered" // one that stayed unresolved for the quiet window (14.2)
	WaitUrgent      Waiting = "problem_urgent"     // one whose task's deadline comes near, or has passed
	WaitDispute     Waiting = "dispute"            // a settlement that does not add up
	WaitIntent      Waiting = "intent"             // agent_then_person: the agent's part is missing
)

// View is everything about one engagement.
type View struct {
	Row
	Versions  []VersionView // newest first
	Timeline  []Moved       // oldest first
	Parties   []PartyView   // provider, client; one that is blank is left out
	Seat      SeatView      // of ours, that has signed or will; see SeatFixed
	SeatFixed bool          // the document or a signature fixes it; else the owner chooses
	Rehomed   []RehomedView
	Records   []RecordView // brought in beside documents and our own acts, oldest first
	Reminders []Reminder
	ToClose   []GrantToClose // standing grants that do not end by themselves
	Unsettled money.Opt      // settled by records and not yet paid out, as far as records were brought
	Disputed  []DisputeView
	Moves     []Move // what the owner may do now, and why not
	// Preauthorisations are those that stand on this offer.
	Preauthorisations []PreauthorisationView
	Offer             string   // engagement id of the offer it was formed from, or ""
	Reviews           []Review // beside what the form checks found
	Deployment        sow.Deployment
	OwnDeployment     bool
}

// VersionView is one version of a document, or one of several documents of that version.
type VersionView struct {
	Version  int64
	Digest   string
	State    sow.State
	Copies   []CopyView // that differ in their signature records or in spelling
	Seats    sow.Seats  // over all copies, by the pinned keys
	Findings sow.Findings
	Grades   []sow.Grade
	Needed   sow.Authority // of a signature of ours, the strictest of document, version in force and the owner's own floor
	Given    []IntentView  // agents' parts of agent_then_person
	InForce  bool
	// An amendment: when it came or was proposed by us, and until when it can be answered.
	ProposedAt, ReviewEnds int64
	ProposedBy             string // role
	// Outcome is "" while it is open, or "approved", "denied", "withdrawn", "lapsed", "superseded", "settled_against".
	Outcome, Reason string // Reason is hostile text
	Confirmation    *ConfirmationView
	Conflict        bool // another document claims the same version
	Spelling        bool // the bytes came in another spelling than the canonical one
}

// CopyView is one file of a version.
type CopyView struct {
	SHA256 string
	Size   int
	At     int64
	From   Source
}

// Moved is a point on the timeline.
type Moved struct {
	At      int64
	Version int64
	State   sow.State // the document's from here on, or "" where it did not change
	What    string    // code: "imported", "drafted", "signed", "countersigned", "agreed", "active", "proposed", "denied", "withdrawn", "lapsed", "approved", "terminated", "disputed", "reviewed", "refused", "completed", "brought", "conflict", …
	By      string    // "us", "them", "time", or a client id
	Seq     uint64    // log entry, or 0
	Claimed bool      // said by somebody and not verified
	Due     bool      // lies ahead
}

// Confirmed says how far the person behind a signature was confirmed (6.1).
type Confirmed string

// The degrees. None says anything about reading or understanding.
const (
	ConfirmedNone     Confirmed = "none"
	ConfirmedUnpinned Confirmed = "present_unpinned" // a record is there; its passkey is not one of a card of a pinned key
	ConfirmedVerified Confirmed = "verified"
)

// PartyView is one seat's party.
type PartyView struct {
	Role         string
	Party        sow.Seat // hostile text
	Ours         bool
	Key          string // pinned owner key, "" where none is
	Learned      string // how: "card", "told", "first_use", "document"
	LearnedAt    int64
	Claims       []string // keys that signature records claim for the seat and that are not pinned
	Confirmation Confirmed
	Blocked      bool
}

// RehomedView is a handle that names another agent key than was remembered.
type RehomedView struct {
	Handle, Was, Is string // Handle is hostile text
}

// RecordView is something that was brought in, or an act of ours.
type RecordView struct {
	SHA256   string
	Kind     RecordKind
	At       int64
	From     Source
	Own      bool
	Verified bool   // a signature by a key that is pinned verifies
	Claimed  string // whose claim it is where it is not verified: a key, a name; hostile text
	Version  int64  // it is about, or 0
	Act      *sow.ActFields
	Findings sow.Findings
	Dispute  money.Dispute // settlement_record: the named dispute with its quote, or ""
	Answer   string        // problem_report: "", "resolved", "escalated", "escalated_twice"; silence escalates by itself
	Ignored  string        // why it does not count, a code, or ""
	Seq      uint64        // own: log entry
	Text     string        // its canonical form, hostile text
}

// ReminderKind is what becomes due.
type ReminderKind string

// The kinds.
const (
	RemindEnds        ReminderKind = "ends"
	RemindStarts      ReminderKind = "starts"
	RemindReview      ReminderKind = "review_window"
	RemindInterim     ReminderKind = "interim"
	RemindDeemed      ReminderKind = "deemed_acceptance" // twice: silence will mean acceptance
	RemindReservation ReminderKind = "reservation"
	RemindRevision    ReminderKind = "revision_window"
	RemindOffer       ReminderKind = "offer_expires"
	RemindNotice      ReminderKind = "notice_ends" // of a termination for convenience
	RemindClose       ReminderKind = "close_grants"
	RemindVerdict     ReminderKind = "verdict_due"
	RemindProblem     ReminderKind = "problem"          // a problem report that nobody has resolved: after the quiet window, and (Last) before the deadline
	RemindDeadline    ReminderKind = "problem_deadline" // of the task that a problem report pauses, at the latest
)

// Reminder is something that becomes due.
type Reminder struct {
	Engagement string
	Kind       ReminderKind
	At         int64
	About      string // a name in the document or a task, hostile text; may be empty
	Last       bool   // deemed acceptance, problem: the second one
	Due        bool   // At has come
}

// GrantToClose is a standing grant.
type GrantToClose struct {
	Grant  sow.Grant
	Closed bool // the owner said so
	Ended  bool // the engagement has ended: it is to be closed
}

// DisputeView is an open dispute.
type DisputeView struct {
	SHA256   string
	By       string // role
	Disputed sow.Disputed
	Cites    []string // hostile text
	Posture  string
	Fallback string
	At       int64
	Due      int64  // instant after which an arbiter's verdict is void, or 0
	Verdict  string // SHA-256 of one that was brought, or ""
}

// Move is something the owner could do.
type Move struct {
	// What is "form" (approvals.SoWOwner.Complete), "countersign", "publish", "propose", "approve", "complete" (approvals.SoWOwner.SignSoW),
	// "deny", "withdraw", "terminate", "dispute", "review", "probe", "refuse" (approvals.SoWOwner.ActOn), "counter" (a denial, then a draft), "preauthorise", "pin", "settle" (approvals.SoWOwner.SettleConflict).
	What   string
	Digest string // version it is about
	// Blocked is the first code that bars it, "" where nothing does; Detail is a sentence.
	Blocked, Detail string
	// By is the authority it needs.
	By sow.Authority
}

// Review is a review with what the form checks found about the same task (15.3).
type Review struct {
	Record   string // SHA-256
	Ours     bool
	Accepted bool
	Reason   string // hostile text
	Cites    []string
	Form     sow.Findings // of the job manifests brought for it
	Checked  bool         // false: no manifest was brought, nothing is known of the form
}

// IntentView is an agent's artefact.
type IntentView struct {
	Act, Key string
	At       int64
	Client   string
}

// ConfirmationView is the ceremony behind a signature of ours.
type ConfirmationView struct {
	Seq    uint64
	Record string // digest, 0x and 64 hex digits
	At     int64
}

// SeatView is one of the owner's keys.
type SeatView struct {
	Index int64
	Name  string // of the owner's choice; "" for seat 0 unless named
	Key   string
}

// Comparison is what an amendment changes.
type Comparison struct {
	Old, New     string // digests
	Changes      []sow.Change
	Consequences []money.Consequence // of a changed arrangement (5.5.7)
	// Instruments says that price or scope moved: what settlement was derived from the old version is derived anew (5.8).
	Instruments bool
	// Findings of sow.CheckAmendment.
	Findings sow.Findings
}

// Preauthorisation is the owner's wish to let agents form under one offer.
type Preauthorisation struct {
	Offer, Digest string
	Seat          int64
	Client        string // the paired client that may use it
	Party         sow.Seat
	MaxCommitted  int64 // smallest unit of the offer's currency
	Times         int64 // at most MaxPreauthorised
	NotAfter      int64 // at most PreauthoriseMS ahead
}

// PreauthorisationView is one, with what is left of it.
type PreauthorisationView struct {
	ID string // "sp_" and 16 hex digits
	Preauthorisation
	Used   int64
	State  string // "active" | "spent" | "expired" | "ended"
	MadeAt int64
}

// Imported is what came of bytes that were brought in.
type Imported struct {
	Kind       RecordKind
	Engagement string // "" where they belong to none yet
	SHA256     string
	Digest     string // of a document
	Findings   sow.Findings
	Again      bool   // they were there already
	Code       string // "" or why they were not kept: "not_understood", "too_long", "no_engagement", "blocked_locally", …
	Detail     string
	Inside     []Imported // of a bundle
}
