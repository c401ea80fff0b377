package fakedesk

import (
	"context"
	"encoding/json"
	"strings"

	"vault/approvals"
	"vault/derive/envelope"
)

// BotNonce is the nonce of every bot challenge.
const BotNonce = "0xabababababababababababababababababababababababababababababababab"

// MintID is the only mint.
const MintID = "0xcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"

// BotNonce implements approvals.MintAgent.
func (t *talk) BotNonce(context.Context) (json.RawMessage, error) {
	return envelope.BotChallenge{Client: t.client, Nonce: BotNonce, Vault: Vault}.Canonical(), nil
}

// BotProve implements approvals.MintAgent with the real check.
func (t *talk) BotProve(_ context.Context, bot, signature string) (json.RawMessage, error) {
	if (envelope.BotChallenge{Client: t.client, Nonce: BotNonce, Vault: Vault}).Verify(bot, signature) != nil {
		return nil, refusal(approvals.CodeBotProof, "The proof is not by that address.")
	}
	t.d.mu.Lock()
	t.bot = bot
	t.d.mu.Unlock()
	return json.Marshal(map[string]string{"bot": bot})
}

func (t *talk) proven() (string, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if t.bot == "" {
		return "", refusal(approvals.CodeBotNotProven, "No bot address is proven on this connection.")
	}
	return t.bot, nil
}

// MintDelegates implements approvals.MintAgent.
func (t *talk) MintDelegates(ctx context.Context) (json.RawMessage, error) {
	bot, err := t.proven()
	if err != nil {
		return nil, err
	}
	if t.d.Delegates != nil {
		return t.d.Delegates(ctx, bot)
	}
	return json.RawMessage(`{"delegates":[]}`), nil
}

// MintRequest implements approvals.MintAgent.
func (t *talk) MintRequest(ctx context.Context, request []byte) (json.RawMessage, error) {
	bot, err := t.proven()
	if err != nil {
		return nil, err
	}
	if t.d.Mint != nil {
		return t.d.Mint(ctx, bot, request)
	}
	return json.Marshal(map[string]any{"mint": MintID, "record": map[string]string{"type": envelope.TypeRecord}, "label": "issuer-asserted",
		"agent_address": bot, "delegate_hash": MintID, "mints_left": 1, "seq": 9, "bounds_held": true, "attestation": map[string]string{}})
}

// MintSign implements approvals.MintAgent.
func (t *talk) MintSign(ctx context.Context, ask approvals.MintSignAsk) (json.RawMessage, error) {
	bot, err := t.proven()
	if err != nil {
		return nil, err
	}
	if t.d.MintSign != nil {
		return t.d.MintSign(ctx, bot, ask)
	}
	return json.Marshal(map[string]any{"signature": "0x" + strings.Repeat("11", 64) + "1b", "agent_address": bot, "mint": ask.Mint,
		"use": 1, "uses_left": 1, "record": map[string]string{"type": envelope.TypeRecord}, "label": "issuer-asserted", "log_head": head(9), "seq": 9})
}

// MintRecord implements approvals.MintAgent.
func (t *talk) MintRecord(_ context.Context, mint string) (json.RawMessage, error) {
	if _, err := t.proven(); err != nil {
		return nil, err
	}
	if mint != MintID {
		return nil, refusal(approvals.CodeUnknownMint, "The vault knows no such mint of this bot.")
	}
	return json.RawMessage(`{"record":{"type":"agentenvelope.publicActionRecord"},"label":"issuer-asserted","mint":"` + MintID + `","uses_left":1,"attestation":{}}`), nil
}
