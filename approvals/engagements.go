package approvals

import (
	"context"

	"vault/approvals/agreement"
	"vault/approvals/sow"
)

// This file is what the owner's surfaces and the agents see of Agent SoW documents (Agent SoW 0.22,
// section numbers are its own). Text that is marked hostile came from outside and is drawn as such.
// Instants are milliseconds since epoch. Keys are nkeys ("U…"). A digest is that of the signed bytes,
// 64 lower-case hex digits (sow.Document.Digest); a copy is named by the SHA-256 of its bytes as they
// came, 64 lower-case hex digits.

// Limits of engagements.
const (
	MaxPage        = 200  // rows of one page
	MaxSeats       = 16   // owner seats of one vault
	MaxClientSoWs  = 32   // documents of one client that wait for the owner
	MaxClientKept  = 4096 // of everything one client has brought
	MaxClientAsks  = 16384
	MaxClientBytes = 256 << 20
	// Beyond these of one engagement nothing more is taken from agents.
	MaxAgentDocuments = 128
	MaxAgentCopies    = 32 // of one document
	MaxAgentRecords   = 1024
	MaxAgentBytes     = 4 << 20 // half of what an export holds
	MaxAgentParts     = 256     // of one bundle that an agent brings
	MaxPreauthorised  = 1000    // formations under one pre-authorisation
	PreauthoriseMS    = 90 * 24 * 60 * 60 * 1000
)

// SoWOwner is the part of [Owner] about Agent SoW. An engagement is named by the identifier of its document and the two
// agents' keys that are named in its signed bytes: agreement.Row.ID stands for the three. Methods that take a
// context may block on the disk, the key process or the person. Those that return an [Outcome] sign something: its Code is
// "done", a code of a finding (package sow) that bars the signature, one of the key process, or how a
// ceremony ended. Other errors are [*Refusal].
type SoWOwner interface {
	// Seats are the owner's own keys, by index. Seat 0 is always there.
	Seats() []agreement.SeatView
	// OpenSeat opens the next seat under a name of the owner's.
	OpenSeat(ctx context.Context, name string) (agreement.SeatView, error)

	// Engagements gives a page of what fits the filter, by what was changed last; it lays out no document.
	Engagements(f EngagementFilter) (EngagementPage, error)
	// Engagement gives everything about one. The error code is "unknown_engagement" where there is none.
	Engagement(id string) (agreement.View, error)
	// SoWCopy gives the bytes of a copy or of something brought in, exactly as they came.
	SoWCopy(engagement, sha256 string) ([]byte, error)
	// CompareSoW compares two versions of one engagement, by digest: leaf by leaf, money and dates first.
	CompareSoW(engagement, old, new string) (agreement.Comparison, error)

	// Import takes anything that can be brought in; its kind is read from the bytes ([agreement.RecordKind]), or said by
	// kind where they do not tell. It signs nothing. The same bytes again change nothing.
	Import(ctx context.Context, raw []byte, kind agreement.RecordKind, from agreement.Source) (agreement.Imported, error)
	// CheckSoW gives every finding about bytes that are not kept.
	CheckSoW(raw []byte) (agreement.Imported, error)

	// PinKey says that a key is that of an agent's owner; it takes the place of the key that was pinned for the
	// agent. By click. Nothing is signed with a counterparty whose key is not pinned.
	PinKey(ctx context.Context, p PinAsk) error
	// ConfirmHandle says that a handle has moved to another agent key, and that this is right (5.1, 10). That agent's owner key is
	// pinned before ("counterparty_not_pinned").
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
	Complete(ctx context.Context, f Formation) (agreement.View, error)
	// DraftSoW keeps a document of ours, unsigned: a template, an offer that can be published, or with the next version of an
	// engagement an amendment that can be proposed. Findings bar nothing here.
	DraftSoW(ctx context.Context, raw []byte) (agreement.Imported, error)
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
	Preauthorise(ctx context.Context, p agreement.Preauthorisation) (Outcome, error)
	// EndPreauthorisation ends one at once. It works while the vault is locked.
	EndPreauthorisation(ctx context.Context, id string) error

	// Deployment is what the owner says that runtimes do; of one engagement, or with "" everywhere. own says
	// whether the engagement has its own.
	Deployment(engagement string) (d sow.Deployment, own bool)
	// SetDeployment sets it; nil for an engagement takes its own away. Grades are earned anew at once.
	SetDeployment(ctx context.Context, engagement string, d *sow.Deployment) error

	// ExportSoW gives a bundle: the document of a version (digest; "" for the one in force, or the newest), its confirmations and acts,
	// everything that was brought in, and every version. It can be verified without this vault, and brought into another. The code is
	// "export_too_long" where that is more than a bundle may hold (bundle.Max bytes, bundle.MaxItems parts of one kind).
	ExportSoW(ctx context.Context, engagement, digest string) ([]byte, error)
	// ExportVersion gives a bundle of one version alone, with the acts and confirmations that are about it and count.
	ExportVersion(ctx context.Context, engagement, digest string) ([]byte, error)
	// Reminders are what becomes due, soonest first, over all engagements.
	Reminders(until int64, limit int) ([]agreement.Reminder, error)
}

// EngagementFilter selects. Zero values select everything.
type EngagementFilter struct {
	Text    string // part of an identifier, a name, a handle, an offering or a key; case does not matter
	Kind    agreement.Kind
	States  []sow.State
	Role    string // our seat: sow.Provider or sow.Client
	Waiting bool   // only where something waits for the owner
	Formed  string // engagement id of an offer: only what was formed from it
	After   string // EngagementPage.Next of the page before
	Limit   int    // at most MaxPage
}

// EngagementPage is a page of a list.
type EngagementPage struct {
	Rows  []agreement.Row
	Total int    // how many fit the filter
	Next  string // "" at the end
}

// BlockedKey is a key that is refused here.
type BlockedKey struct {
	Key, Why string // Why is the owner's own note
	At       int64
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
	Role               string // only where agreement.Row.Role is empty
	Move               string // as in agreement.Move.What
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

// SoWAsk is what an agent brings.
type SoWAsk struct {
	RequestID string // chosen by the client; scoped to it and bound to the digest of method and parameters
	Session   string
	Kind      agreement.RecordKind // "" where the bytes tell
	Document  []byte               // as received
	// Move says what the agent asks for: "" to bring it and nothing else, "countersign", "approve" or "form". A person decides, or
	// for "form" a pre-authorisation.
	Move string
	Fill *sow.Fill // "form": how the offer is to be completed
	// Intent and IntentKey are the agent's artefact over the document (sow.Document.Intent), base64 and nkey.
	Intent, IntentKey string
}

// SoWAgent is the part of [Conversation] about Agent SoW: an agent brings and fetches, and can sign nothing.
type SoWAgent interface {
	// SoWSubmit brings one of the kinds of [agreement.RecordKind]. Result: {"engagement","sha256","digest"?,"kind","findings":[…],"code"?}. Where
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
