package keys

import "context"

// Codes about mint delegation; those of bounds are envelope.FirstBound's.
const (
	CodeBotNotProven  = "bot_not_proven" // no proof, or one from before this opening of the vault, or of another client
	CodeBotOther      = "bot_other"      // the request is another bot's
	CodeClockBehind   = "clock_behind"   // the clock stands before an entry of the log
	CodeMintUsesSpent = "mint_uses_spent"
	CodeMintExpired   = "mint_expired"
	CodeMintNotYet    = "mint_not_yet_valid"
	CodeRecipient     = "recipient"
)

// BotProof is a bot's answer to a challenge of this key process (envelope.BotChallenge).
type BotProof struct {
	Address   string // 0x and 40 lower case hex digits
	Nonce     string // of [Minter.BotNonce], 0x and 64 hex digits
	Signature string // 0x and 130 hex digits
}

// MintAsk names a minted capability.
type MintAsk struct {
	Delegate []byte // canonical signed delegate
	Request  []byte // canonical signed request
}

// MintAnswer is what is public of a minted capability.
type MintAnswer struct {
	Address     string
	Attestation []byte // canonical receipt in which the domain's key ties Address to the record's action envelope
}

// Minter is the part of [Handler] about mint delegation.
//
// Acts of its kinds carry, by kind:
//
//	delegate.issued    Delegate: the canonical body without issuerSignature; Permits: the new row, without a MAC.
//	                   Answer.Delegate is the canonical signed delegate.
//	delegate.admitted  Delegate: canonical, signed; Permits: the new row, without a MAC
//	delegate.resumed   Delegate: canonical, signed; Permits: its row, with its MAC
//	capability.minted  Delegate, Request: canonical, signed; Bot; Permits: the client's and the delegate's rows, with their MACs
//	minted.signed      as capability.minted, and Payload as received
//	mint.exported      nothing. Answer.Sealed is the age file.
//
// A new row's made_at is at most as old as its ceremony.
type Minter interface {
	// BotNonce makes a nonce for a challenge to a bot of this client. It is good until the vault locks.
	BotNonce(ctx context.Context, client string) (string, error)
	// Minted derives what is public of a capability whose capability.minted entry was taken. To ask
	// says that the entry is durable.
	Minted(context.Context, MintAsk) (MintAnswer, error)
}
