package approvals

import (
	"context"
	"encoding/json"

	"vault/approvals/bounds"
)

// Codes of refusals of mint delegation, beside the general ones. Where a bound was passed, Data is
// {"bound": member of the delegate or request, "value": what the delegate or vault holds, "asked": what was asked for}.
const (
	CodeBotNotProven   = "bot_not_proven"  // no bot address is proven on this connection, or not since the unlock
	CodeBotProof       = "bot_proof"       // the proof is not by that address over this connection's nonce
	CodeBotOther       = "bot_other"       // the request, or mint, is another bot's than the one proven
	CodeBotSignature   = "bot_signature"   // the request is not signed by its botAddress
	CodeBotNotAllowed  = "bot_not_allowed" // botPolicy, allowedBotAddresses
	CodeLegitimacy     = "legitimacy_mismatch"
	CodeOperation      = "operation_not_allowed"
	CodeResource       = "resource_not_allowed"
	CodeIndexRange     = "index_out_of_range"
	CodeUsesOverLimit  = "uses_over_limit"
	CodeWindowOutside  = "window_not_contained"
	CodeDelegateID     = "delegate_id_mismatch"
	CodeNonceReused    = "nonce_reused" // by a request with other bytes
	CodeMintsSpent     = "mints_spent"
	CodeUnknownMint    = "unknown_mint"
	CodeMintUsesSpent  = "mint_uses_spent"
	CodeMintExpired    = "mint_expired"
	CodeMintNotYet     = "mint_not_yet_valid"
	CodeContradiction  = "contradiction" // the payload says something else than the minted envelope
	CodeNoMintsLeft    = "mints_range"   // AdmitDelegate: not 1 to the delegate's maxMints
	CodePlanOld        = "plan_old"      // IssueDelegate: more than ten minutes after PlanDelegate
	CodeRecipient      = "recipient"     // ExportMint: not one age X25519 recipient ("age1…")
	CodeDelegateExists = "delegate_exists"
	CodeMintsUnread    = "mints_unread" // RevokeDelegate: it has ended, and what it had minted could not be read

	CodeUnknownDelegate   = "unknown_delegate"
	CodeDelegatePaused    = "delegate_paused"
	CodeDelegateEnded     = "delegate_ended" // revoked
	CodeDelegateExpired   = "delegate_expired"
	CodeDelegateNotYet    = "delegate_not_yet_valid"
	CodeDelegateSuspended = "delegate_suspended" // imported, or older than this instance, and not admitted

	// Of an import: the four checks, and the shape.
	CodeDelegateMalformed = "delegate_malformed"
	CodeDelegateSignature = "delegate_signature" // issuerSignature is not by issuerAddress
	CodeDelegateIssuer    = "delegate_issuer"    // issuerAddress is not the domain's address in this vault
	CodeDelegateSummary   = "delegate_summary"   // domainSummary is about another domain, or is inconsistent
)

// Outcomes of ceremonies of [MintOwner] are those of [Outcome]; in [CeremonyView] they are For
// "delegate", "admit", "resume" and "mint_export".

// DelegateState says what a delegate gives now.
type DelegateState string

// The states of a delegate. Whether its bounds are still held by this vault is apart: see DelegateView.BoundsHeld.
const (
	DelegateActive    DelegateState = "active"
	DelegatePaused    DelegateState = "paused"
	DelegateEnded     DelegateState = "ended"     // revoked, for good
	DelegateExpired   DelegateState = "expired"   // past its end, for good once the vault has seen it
	DelegateNotYet    DelegateState = "not_yet"   // its window has not begun
	DelegateSpent     DelegateState = "spent"     // no mints left; what was minted goes on
	DelegateSuspended DelegateState = "suspended" // to be admitted: [MintOwner.AdmitDelegate]
)

// LegitimacyView is a delegate's legitimacyRef. It is shown apart from validity, which it never changes.
type LegitimacyView struct {
	LegitimacyID string // hostile text, as PolicyID
	Required     bool   // requests have to name it
	PolicyID     string // or empty
	StateVersion *int64 // from 1, or nil
	StateHash    string // 0x and 64 hex digits, or empty
}

// DelegateBounds is what a delegate lets bots have (AgentEnvelope section 12). Texts of an
// imported one are hostile.
type DelegateBounds struct {
	Domain              DomainView
	Operations          []string
	Resources           []string // exact, X:* or *
	BotPolicy           string   // envelope.BotAny ("any-signed-bot") or envelope.BotSet ("address-set")
	Bots                []string // addresses, under address-set
	IndexMin, IndexMax  int64
	MaxMints            int64
	MaxUsesPerAction    int64
	NotBefore, NotAfter *int64 // milliseconds since epoch, nil where open
	Legitimacy          *LegitimacyView
	AvatarAddress       string
}

// DelegateForm is what the owner types.
type DelegateForm struct {
	// Name is the owner's for the bot, 1 to 64 characters as a client's name, or empty. It stays in the vault, in
	// the delegate's row, and is no part of the delegate.
	Name                string
	DomainHash          string
	Operations          []string
	Resources           []string
	BotPolicy           string
	Bots                []string // address-set only; 0x and 40 hex digits
	IndexMin, IndexMax  int64
	MaxMints            int64
	MaxUsesPerAction    int64
	NotBefore, NotAfter *int64 // milliseconds since epoch
	Legitimacy          *LegitimacyView
	AvatarAddress       string   // or empty
	WhileAway           bool     // goes on while the screen is locked
	Examples            []string // resources to be tried against the form; not part of the delegate
}

// ResourcePreview says whether a resource could be asked for, and by which line of the delegate.
type ResourcePreview struct {
	Resource string
	Allowed  bool
	By       string // the allowed resource that matches, or empty
	// Why, where not allowed: "no_match", "is_wildcard" (a request names concrete resources) or "bare_prefix"
	// (thread under thread:*).
	Why string
}

// DelegatePlan is a delegate as it would be signed. What the owner confirms is Body.
type DelegatePlan struct {
	Name      string // DelegateForm.Name
	Body      []byte // canonical, without issuerSignature
	Hash      string // delegateHash: SHA-256 of Body, 0x and 64 hex digits
	Bounds    DelegateBounds
	Says      []string // the sentence, in lines, as the confirmation's page will show it; outside text in it is hostile
	Warnings  []bounds.Warning
	Preview   []ResourcePreview // of DelegateForm.Examples, in their order
	WhileAway bool
	PlannedAt int64 // milliseconds since epoch; it can be issued for ten minutes
}

// DelegateView is one delegate with what is left of it.
type DelegateView struct {
	Hash       string // names it everywhere
	Name       string // the owner's for the bot, or empty
	DelegateID string // the signed label, hostile text of an imported one; opaque
	Bounds     DelegateBounds
	State      DelegateState
	Ended      string // DelegateEnded: "revoked"
	Origin     string // "issued" here | "imported"
	// BoundsHeld is false once mint material of the domain was let out: its holder can derive every
	// minted key of the domain, whatever a delegate says.
	BoundsHeld bool
	ExportedAt int64 // of the domain's mint material, milliseconds since epoch, or 0
	MadeAt     int64 // issued or admitted here, or imported; milliseconds since epoch
	WhileAway  bool
	Mints      int64 // how many may be minted here, all in all; 0 while suspended
	Minted     int64
	MintsLeft  int64
	Uses       int64 // signatures by its minted keys
	UsesLeft   int64 // of the keys that are minted
	LastUse    int64 // milliseconds since epoch, or 0
	Warnings   []bounds.Warning
}

// MintView is one minted capability.
type MintView struct {
	Mint        string // SHA-256 of the canonical request without botSignature, 0x and 64 hex digits; names it everywhere
	Delegate    string // delegateHash
	Seq         uint64 // log entry; [Owner.Receipt]
	At          int64  // milliseconds since epoch
	Bot         string // address
	Client      string // the client over which it was asked
	Agent       string // the owner's name for it, or empty
	AgentID     string // hostile text, like what follows
	Operation   string
	Resources   []string
	ActionIndex int64
	NotBefore   *int64
	NotAfter    *int64
	Nonce       string
	MaxUses     int64
	Used        int64
	LastUse     int64
	Address     string // of the minted key; empty until it was derived once
	Legitimacy  string // legitimacyId of the request, or empty; apart from validity
	Live        bool   // can still sign: window open, uses left, delegate neither paused nor over
}

// MintFilter selects mints, newest first.
type MintFilter struct {
	Delegate string // delegateHash, or "" for all
	Before   uint64 // page: only those with a smaller Seq, or 0
	Limit    int    // 1 to 500; 0 is 100
}

// MintUse counts what one delegate's bots did in a span of time.
type MintUse struct {
	From  int64 // beginning, milliseconds since epoch
	Mints int64
	Uses  int64
}

// MintOwner is what the owner's surfaces may ask about mint delegation. It is part of [Owner]; a delegate is
// named by its delegateHash.
type MintOwner interface {
	// Delegates gives every delegate, newest first. It reads no disk. Lists in it are shared: they are not to be changed.
	Delegates() []DelegateView
	// PlanDelegate makes the delegate of a form, with a nonce of its own and the present time. Nothing is kept. The
	// error is a [*Refusal]: CodeUnknownDomain, or CodeMalformed with the member's name in Data.detail.
	PlanDelegate(f DelegateForm) (DelegatePlan, error)
	// IssueDelegate has a plan confirmed by passkey and signed by the domain's key, as planned. Outcome.Delegate is its
	// hash. It blocks for as long as the person takes.
	IssueDelegate(ctx context.Context, p DelegatePlan) (Outcome, error)
	// ImportDelegate takes in a delegate that was signed elsewhere under the same root, with or without its
	// domainSummary; it is suspended until it is admitted. The error is a [*Refusal]: CodeDelegateMalformed,
	// CodeDelegateSummary, CodeUnknownDomain, CodeDelegateIssuer, CodeDelegateSignature, CodeDelegateExists.
	ImportDelegate(ctx context.Context, raw []byte) (DelegateView, error)
	// AdmitDelegate lets a suspended delegate be used here for a number of mints, 1 to its maxMints, confirmed by
	// passkey: how many were minted elsewhere is not known. Name is the owner's for its bot, or empty, as in DelegateForm.
	AdmitDelegate(ctx context.Context, hash string, mints int64, name string) (Outcome, error)
	// PauseDelegate stops mints and signatures at once, durably, by click.
	PauseDelegate(ctx context.Context, hash string) error
	// ResumeDelegate ends a pause, confirmed by passkey.
	ResumeDelegate(ctx context.Context, hash string) (Outcome, error)
	// RevokeDelegate ends a delegate for good, at once and durably, by click, and gives what it had minted that could
	// still sign, now or later (Live says now, were it not for the end): those keys are signed with no more here. What they
	// signed stays valid for whoever holds it. A suspended one is removed: it can be imported again, and is suspended then.
	// CodeMintsUnread says that it has ended, and only the list could not be read.
	RevokeDelegate(ctx context.Context, hash string) ([]MintView, error)
	// Mints gives minted capabilities, newest first.
	Mints(f MintFilter) ([]MintView, error)
	// MintRecord gives the public action record of a mint, canonical JSON, with custodyMode remote-mint-delegate:
	// issuer-asserted. Locked, it gives those whose address was derived before.
	MintRecord(ctx context.Context, mint string) ([]byte, error)
	// MintUses counts mints and uses of a delegate in steps of stepMS milliseconds since an instant, oldest
	// first; empty steps are left out.
	MintUses(delegate string, since, stepMS int64) ([]MintUse, error)
	// DelegateBytes gives the signed delegate for handing to the bot, canonical JSON.
	DelegateBytes(hash string) ([]byte, error)
	// ExportMint has the mint material of a domain sealed with age to one X25519 recipient ("age1…"), in the key
	// process, confirmed by passkey. From then on every delegate of the domain has BoundsHeld false. The material
	// is a JSON document of type vault.mintMaterial, see docs/protocol.md. Where Outcome.Code is not "done" there are no bytes.
	ExportMint(ctx context.Context, domain, recipient string) ([]byte, Outcome, error)
}

// MintSignAsk asks for one signature by a minted key.
type MintSignAsk struct {
	RequestID string // chosen by the client, as in [Ask]: the same again gives the same answer and spends nothing
	Session   string // chosen by the client; may be empty
	Mint      string // MintRequest's "mint"
	Payload   []byte // as received
}

// MintAgent is what a connection may ask about mint delegation. It is part of [Conversation]; everything but
// BotNonce and BotProve needs a bot address that is proven on this connection. No call waits for a person. Errors
// are [*Refusal].
type MintAgent interface {
	// BotNonce gives {"client","nonce","vault"}: canonical, it is what the bot signs (envelope.BotChallenge), 65 bytes
	// over the Keccak-256 of "vault-bot-auth-v1\n" and these bytes. The nonce is good for this connection, for two minutes.
	BotNonce(ctx context.Context) (json.RawMessage, error)
	// BotProve proves a bot address for this connection, until it closes or the vault locks. Result: {"bot"}.
	BotProve(ctx context.Context, bot, signature string) (json.RawMessage, error)
	// MintDelegates gives {"delegates":[{"delegate","delegate_hash","state","mints_left","bounds_held","legitimacy"?}]}
	// for the delegates under which the proven bot may ask.
	MintDelegates(ctx context.Context) (json.RawMessage, error)
	// MintRequest mints a capability for the bot's signed MintRequest (AgentEnvelope section 12), its received
	// bytes. Nonce and mint are spent in the log before anything is derived; the same request again gives the same
	// result and spends nothing. Result: {"mint","record","agent_address","label":"issuer-asserted","attestation",
	// "delegate_hash","mints_left","seq","bounds_held","legitimacy"?}; mints_left is what was left after this mint.
	MintRequest(ctx context.Context, request []byte) (json.RawMessage, error)
	// MintSign signs a payload by a minted key. Result: {"signature","agent_address","mint","use","uses_left","record",
	// "label","attestation","log_head","seq"}.
	MintSign(ctx context.Context, ask MintSignAsk) (json.RawMessage, error)
	// MintRecord gives {"record","label","mint","uses_left","attestation","legitimacy"?} of a mint of the proven bot.
	MintRecord(ctx context.Context, mint string) (json.RawMessage, error)
}
