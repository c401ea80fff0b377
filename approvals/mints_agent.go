package approvals

import (
	"context"
	"encoding/json"
)

// BotNonce implements [MintAgent].
func (c *conversation) BotNonce(context.Context) (json.RawMessage, error) {
	return nil, refuse(CodeLocked)
}

// BotProve implements [MintAgent].
func (c *conversation) BotProve(context.Context, string, string) (json.RawMessage, error) {
	return nil, refuse(CodeBotProof)
}

// MintDelegates implements [MintAgent].
func (c *conversation) MintDelegates(context.Context) (json.RawMessage, error) {
	return nil, refuse(CodeBotNotProven)
}

// MintRequest implements [MintAgent].
func (c *conversation) MintRequest(context.Context, []byte) (json.RawMessage, error) {
	return nil, refuse(CodeBotNotProven)
}

// MintSign implements [MintAgent].
func (c *conversation) MintSign(context.Context, MintSignAsk) (json.RawMessage, error) {
	return nil, refuse(CodeBotNotProven)
}

// MintRecord implements [MintAgent].
func (c *conversation) MintRecord(context.Context, string) (json.RawMessage, error) {
	return nil, refuse(CodeBotNotProven)
}
