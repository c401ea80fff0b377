package ipc

import (
	"context"

	"vault/approvals"
)

// Bounds of the parameters of mint delegation.
const (
	maxAddress   = 42  // 0x and 40 hex digits
	maxSignature = 132 // 0x and 130 hex digits
	maxMint      = 66  // 0x and 64 hex digits
)

// mintMethods are the rows of mint delegation (AgentEnvelope section 12). None of them
// waits for a person: the owner decided when the delegate was issued.
var mintMethods = []method{
	{name: "bot.nonce", stage: stageProven, run: func(ctx context.Context, c *conn, _ args) (any, error) {
		return document(c.talk.BotNonce(ctx))
	}},
	{name: "bot.prove", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return document(c.talk.BotProve(ctx, a.text["bot"], a.text["signature"]))
	}, fields: []field{
		{name: "bot", kind: kindName, max: maxAddress},
		{name: "signature", kind: kindName, max: maxSignature},
	}},
	{name: "mint.delegates", stage: stageProven, run: func(ctx context.Context, c *conn, _ args) (any, error) {
		return document(c.talk.MintDelegates(ctx))
	}},
	{name: "mint.request", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return document(c.talk.MintRequest(ctx, a.raw["request"]))
	}, fields: []field{
		{name: "request", kind: kindObject},
	}},
	{name: "mint.sign", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return document(c.talk.MintSign(ctx, approvals.MintSignAsk{
			RequestID: a.text["request_id"], Session: a.text["session"], Mint: a.text["mint"], Payload: a.raw["payload"],
		}))
	}, fields: []field{
		{name: "request_id", kind: kindName, max: maxName},
		{name: "session", kind: kindName, max: maxName, optional: true},
		{name: "mint", kind: kindName, max: maxMint},
		{name: "payload", kind: kindValue},
	}},
	{name: "mint.record", stage: stageProven, run: func(ctx context.Context, c *conn, a args) (any, error) {
		return document(c.talk.MintRecord(ctx, a.text["mint"]))
	}, fields: []field{
		{name: "mint", kind: kindName, max: maxMint},
	}},
}

// mintCodes are the codes of mint delegation that agents get. Their words are the desk's.
var mintCodes = []codeRow{
	{"bot_not_proven", FamilyPeer, "", ""},
	{"bot_proof", FamilyPeer, "", ""},
	{"bot_other", FamilyPeer, "", ""},

	{"unknown_delegate", FamilyDocument, "", ""},
	{"delegate_paused", FamilyState, "", ""},
	{"delegate_suspended", FamilyState, "", ""},
	{"delegate_not_yet_valid", FamilyState, "", ""},
	{"delegate_ended", FamilyDocument, "", ""},
	{"delegate_expired", FamilyDocument, "", ""},
	{"delegate_id_mismatch", FamilyDocument, "", ""},
	{"bot_signature", FamilyDocument, "", ""},
	{"bot_not_allowed", FamilyDocument, "", ""},
	{"legitimacy_mismatch", FamilyDocument, "", ""},
	{"operation_not_allowed", FamilyDocument, "", ""},
	{"resource_not_allowed", FamilyDocument, "", ""},
	{"index_out_of_range", FamilyDocument, "", ""},
	{"uses_over_limit", FamilyDocument, "", ""},
	{"window_not_contained", FamilyDocument, "", ""},
	{"mints_spent", FamilyDocument, "", ""},
	{"mint_uses_spent", FamilyDocument, "", ""},
	{"mint_expired", FamilyDocument, "", ""},
	{"mint_not_yet_valid", FamilyDocument, "", ""},
	{"contradiction", FamilyDocument, "", ""},

	{"clock_behind", FamilyState, "", ""},
	{"too_many_mints", FamilyLimit, "", ""},

	{"nonce_reused", FamilyRequestID, "", ""},
	{"unknown_mint", FamilyRequestID, "", ""},
}
