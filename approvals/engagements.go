package approvals

import (
	"context"

	"vault/approvals/sow"
	"vault/approvals/sow/money"
)

// This file is what the owner's surfaces and the agents see of Agent SoW documents (Agent SoW 0.22,
// section numbers are its own). Text that is marked hostile came from outside and is drawn as such.
// Instants are milliseconds since epoch. Keys are nkeys ("U…"). A digest is that of the signed bytes,
// 64 lower-case hex digits (sow.Document.Digest); a copy is named by the SHA-256 of its bytes as they
// came, 64 lower-case hex digits.

// Limits of engagements.
const (
	MaxSoWDocument = 1 << 20 // bytes of anything that is brought in
	MaxPage        = 200     // rows of one page
	MaxSeats       = 16      // owner seats of one vault
	MaxClientSoWs  = 32      // documents of one client that wait for the owner
	MaxClientKept  = 4096    // of everything one client has brought
	MaxClientBytes = 256 << 20
	// Beyond these of one engagement nothing more is taken from agents.
	MaxAgentDocuments = 128
	MaxAgentCopies    = 32 // of one document
	MaxAgentRecords   = 1024
	MaxAgentParts     = 256  // of one bundle that an agent brings
	MaxPreauthorised  = 1000 // formations under one pre-authorisation
	PreauthoriseMS    = 90 * 24 * 60 * 60 * 1000
)

// SoWOwner is the part of [Owner] about Agent SoW. An engagement is named by the identifier of its document and the two
// agents' keys that are named in its signed bytes: EngagementRow.ID stands for the three. Methods that take a
// context may block on the disk, the key process or the person. Those that return an [Outcome] sign something: its Code is
// "done", a code of a finding (package sow) that bars the signature, one of the key process, or how a
// ceremony ended. Other errors are [*Refusal].
type SoWOwner interface {
	// Seats are the owner's own keys, by index. Seat 0 is always there.
	Seats() []SeatView
	// OpenSeat opens the next seat under a name of the owner's.
	OpenSeat(ctx context.Context, name string) (SeatView, error)

	// Engagements gives a page of what fits the filter, by what was changed last; it lays out no document.
	Engagements(f EngagementFilter) (EngagementPage, error)
	// Engagement gives everything about one. The error code is "unknown_engagement" where there is none.
	Engagement(id string) (EngagementView, error)
	// SoWCopy gives the bytes of a copy or of something brought in, exactly as they came.
	SoWCopy(engagement, sha256 string) ([]byte, error)
	// CompareSoW compares two versions of one engagement, by digest: leaf by leaf, money and dates first.
	CompareSoW(engagement, old, new string) (Comparison, error)

	// Import takes anything that can be brought in; its kind is read from the bytes ([RecordKind]), or said by
	// kind where they do not tell. It signs nothing. The same bytes again change nothing.
	Import(ctx context.Context, raw []byte, kind RecordKind, from SoWSource) (Imported, error)
	// CheckSoW gives every finding about bytes that are not kept.
	CheckSoW(raw []byte) (Imported, error)

	// PinKey says that a key is that of an agent's owner; it takes the place of the key that was pinned for the
	// agent. By click. Nothing is signed with a counterparty whose key is not pinned.
	PinKey(ctx context.Context, p PinAsk) error
	// ConfirmHandle says that a handle has moved to another agent key, and that this is right (5.1, 10).
	ConfirmHandle(ctx context.Context, engagement, handle, agent string) error
	// SettleConflict says which of several documents of one version counts, by digest. Nothing of that version is signed before.
	SettleConflict(ctx context.Context, engagement, digest string) error
	// BlockKey refuses everything of an agent's or owner's key from now on; UnblockKey ends that.
	BlockKey(ctx context.Context, key, why string) error
	UnblockKey(ctx context.Context, key string) error
	// BlockedKeys are the keys blocked here, newest first.
	BlockedKeys() []BlockedKey

	// Complete (the move "form") fills an offer's open seat and keeps the result, unsigned, as a new engagement, whose view shows
	// the page of exactly the bytes that [SoWOwner.SignSoW] will sign.
	Complete(ctx context.Context, f Formation) (EngagementView, error)
	// DraftSoW keeps a document of ours, unsigned: a template, an offer that can be published, or with the next version of an
	// engagement an amendment that can be proposed. Findings bar nothing here.
	DraftSoW(ctx context.Context, raw []byte) (Imported, error)
	// SignSoW signs the version with that digest, for one of these moves: "countersign" and "complete" at a formation, "publish",
	// "propose" and "approve". The digest is that of what was shown. A ceremony confirms it; "complete" under an own offer
	// needs none, because publishing the offer allowed it.
	SignSoW(ctx context.Context, s Signing) (Outcome, error)

	// ActOn signs an act of ours about a version: see [ActAsk]. Termination and dispute need a ceremony.
	ActOn(ctx context.Context, a ActAsk) (Outcome, error)
	// DeclineSoW answers the agents that ask for a signature on that version with no; nothing is signed about it.
	DeclineSoW(ctx context.Context, engagement, digest string) error
	// AnswerProblem notes what became of a problem report (14.2): "resolved", or "escalated" which can be done twice.
	AnswerProblem(ctx context.Context, engagement, sha256, answer string) error
	// CloseGrant notes that a standing grant was closed by hand, or is still open.
	CloseGrant(ctx context.Context, engagement, input string, closed bool) error

	// Preauthorise lets paired agents form agreements under one named offer whose formation authority is agent,
	// up to a price, n times, until a date. A ceremony confirms it.
	Preauthorise(ctx context.Context, p Preauthorisation) (Outcome, error)
	// EndPreauthorisation ends one at once. It works while the vault is locked.
	EndPreauthorisation(ctx context.Context, id string) error

	// Deployment is what the owner says that runtimes do; of one engagement, or with "" everywhere. own says
	// whether the engagement has its own.
	Deployment(engagement string) (d sow.Deployment, own bool)
	// SetDeployment sets it; nil for an engagement takes its own away. Grades are earned anew at once.
	SetDeployment(ctx context.Context, engagement string, d *sow.Deployment) error

	// ExportSoW gives a bundle: the document of a version (digest; "" for the one in force, or the newest), its confirmations and acts,
	// everything that was brought in, and every version. It can be verified without this vault.
	ExportSoW(ctx context.Context, engagement, digest string) ([]byte, error)
	// Reminders are what becomes due, soonest first, over all engagements.
	Reminders(until int64, limit int) ([]Reminder, error)
}

// SoWSource says where bytes came from.
type SoWSource struct {
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

// EngagementKind tells offers from engagements.
type EngagementKind string

// The kinds.
const (
	KindOffer      EngagementKind = "offer"      // the client's seat is blank
	KindEngagement EngagementKind = "engagement" // both seats are filled
)

// EngagementFilter selects. Zero values select everything.
type EngagementFilter struct {
	Text    string // part of an identifier, a name, a handle, an offering or a key; case does not matter
	Kind    EngagementKind
	States  []sow.State
	Role    string // our seat: sow.Provider or sow.Client
	Waiting bool   // only where something waits for the owner
	Formed  string // engagement id of an offer: only what was formed from it
	After   string // EngagementPage.Next of the page before
	Limit   int    // at most MaxPage
}

// EngagementPage is a page of a list.
type EngagementPage struct {
	Rows  []EngagementRow
	Total int    // how many fit the filter
	Next  string // "" at the end
}

// EngagementRow is one line of a list. Party names are hostile text.
type EngagementRow struct {
	ID    string // "e_" and 32 hex digits
	SoW   string // identifier of the document, hostile text
	Kind  EngagementKind
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
	StartsAt, EndsAt   int64     // 0: not stated
	At                 int64     // of the last change
	Waiting            []Waiting // what waits for the owner; empty: nothing
	Conflict, Rehomed  bool
	Errors             int // findings that bar signing
	Reminder           *Reminder
	From               SoWSource // of the first document
	Spent, Withdrawn   bool      // offers
	Formations, Active int       // offers: formed, and of those active
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
	WaitProblem     Waiting = "problem" // a problem report to be answered
	WaitDispute     Waiting = "dispute" // a settlement that does not add up
	WaitIntent      Waiting = "intent"  // agent_then_person: the agent's part is missing
)

// EngagementView is everything about one engagement.
type EngagementView struct {
	EngagementRow
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
	From   SoWSource
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
	From     SoWSource
	Own      bool
	Verified bool   // a signature by a key that is pinned verifies
	Claimed  string // whose claim it is where it is not verified: a key, a name; hostile text
	Version  int64  // it is about, or 0
	Act      *sow.ActFields
	Findings sow.Findings
	Dispute  money.Dispute // settlement_record: the named dispute with its quote, or ""
	Answer   string        // problem_report: "", "resolved", "escalated", "escalated_twice"
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
)

// Reminder is something that becomes due.
type Reminder struct {
	Engagement string
	Kind       ReminderKind
	At         int64
	About      string // a name in the document or a task, hostile text; may be empty
	Last       bool   // deemed acceptance: the second one
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
	// What is "form" ([SoWOwner.Complete]), "countersign", "publish", "propose", "approve", "complete" ([SoWOwner.SignSoW]),
	// "deny", "withdraw", "terminate", "dispute", "review", "probe", "refuse" ([SoWOwner.ActOn]), "counter" (a denial, then a draft), "preauthorise", "pin".
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

// BlockedKey is a key that is refused here.
type BlockedKey struct {
	Key, Why string // Why is the owner's own note
	At       int64
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

// PinAsk says whose key a key is.
type PinAsk struct {
	Agent   string // agent key named in the document
	Key     string // owner key
	Learned string // "card" | "told" | "document": how the owner knows it
	Card    string // SHA-256 of the owner card it was read from, with "card"
}

// Formation completes an offer.
type Formation struct {
	Offer  string // engagement id
	Digest string // of the offer as it was shown
	Seat   int64  // index of the owner's seat that will sign
	// Fill is how the offer is completed. The approval record, where the offer asks for a person, is the vault's own.
	Fill    sow.Fill
	Mandate string // cited in that record ("mnd_…"), or empty
}

// Signing asks for one signature.
type Signing struct {
	Engagement, Digest string
	Seat               int64  // index; only where the view says that it is not fixed
	Role               string // only where EngagementRow.Role is empty
	Move               string // as in Move.What
}

// ActAsk asks for one signed act. Role, time and key are the vault's own.
type ActAsk struct {
	Engagement, Digest string
	Kind               sow.ActKind
	Reason, Ground     string
	Cites              []string
	Disputed           *sow.Disputed
	Inputs             []sow.Tried
	Counter            bool // a denial that a counter-proposal will follow; the timeline then says "countered"
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

// SoWAsk is what an agent brings.
type SoWAsk struct {
	RequestID string // chosen by the client; scoped to it and bound to the digest of method and parameters
	Session   string
	Kind      RecordKind // "" where the bytes tell
	Document  []byte     // as received
	// Move says what the agent asks for: "" to bring it and nothing else, "countersign", "approve" or "form". A person decides, or
	// for "form" a pre-authorisation.
	Move string
	Fill *sow.Fill // "form": how the offer is to be completed
	// Intent and IntentKey are the agent's artefact over the document (sow.Document.Intent), base64 and nkey.
	Intent, IntentKey string
}

// SoWAgent is the part of [Conversation] about Agent SoW: an agent brings and fetches, and can sign nothing.
type SoWAgent interface {
	// SoWSubmit brings one of the kinds of [RecordKind]. Result: {"engagement","sha256","digest"?,"kind","findings":[…],"code"?}. Where
	// Move asks for a signature the answer is pending until the owner has decided, and its result also has
	// "outcome": "signed" with "bundle", "denied" with "act", or "declined".
	SoWSubmit(ctx context.Context, ask SoWAsk) (Answer, error)
	// SoWStatus gives state, versions and what is missing of an engagement this client has brought: {"engagement","sow",
	// "state","version","digest","waiting":[…],"intent":{"act","message"}?}. The engagement is its id.
	SoWStatus(ctx context.Context, engagement string) (Answer, error)
	// SoWGet gives the signed bundle of a version, "" for that in force or the newest, of an engagement this client has brought.
	SoWGet(ctx context.Context, engagement, digest string) (Answer, error)
	// SoWAwait takes a submission up again by its request id.
	SoWAwait(ctx context.Context, request string) (Answer, error)
}
