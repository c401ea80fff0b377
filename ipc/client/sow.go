package client

import (
	"context"
	"encoding/json"
	"fmt"
)

// SoW is something about an agreement that an agent brings (docs/protocol.md, Agreements between agents). The document is
// sent as it is.
type SoW struct {
	RequestID string
	Session   string          // may be empty
	Document  json.RawMessage // one JSON object
	Kind      string          // "" where the bytes tell
	Move      string          // "", "countersign", "approve" or "form"
	Fill      json.RawMessage // with "form"
	Intent    string          // the agent's own part, base64url; with IntentKey
	IntentKey string
}

// SoWAnswer is what came of it: exactly one of Pending and Result is set.
type SoWAnswer struct {
	Pending string          // request id, to be awaited
	Result  json.RawMessage // the whole answer
}

// SubmitSoW brings it. It blocks for up to 50 seconds where a signature is asked for, and then answers Pending.
func (c *Conn) SubmitSoW(ctx context.Context, s SoW) (SoWAnswer, error) {
	params := map[string]any{"request_id": s.RequestID, "document": s.Document}
	for name, text := range map[string]string{"session": s.Session, "kind": s.Kind, "move": s.Move, "intent": s.Intent, "intent_key": s.IntentKey} {
		if text != "" {
			params[name] = text
		}
	}
	if s.Fill != nil {
		params["fill"] = s.Fill
	}
	return c.sow(ctx, "sow.submit", params)
}

// AwaitSoW takes a submission up again, by its request id.
func (c *Conn) AwaitSoW(ctx context.Context, request string) (SoWAnswer, error) {
	return c.sow(ctx, "sow.await", map[string]string{"request": request})
}

func (c *Conn) sow(ctx context.Context, method string, params any) (SoWAnswer, error) {
	var raw json.RawMessage
	if err := c.Call(ctx, method, params, &raw); err != nil {
		return SoWAnswer{}, err
	}
	var p struct {
		Pending string `json:"pending"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return SoWAnswer{}, fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	if p.Pending != "" {
		return SoWAnswer{Pending: p.Pending}, nil
	}
	return SoWAnswer{Result: raw}, nil
}

// SoWStatus gives where an engagement stands that this client has brought something of.
func (c *Conn) SoWStatus(ctx context.Context, engagement string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.Call(ctx, "sow.status", map[string]string{"engagement": engagement}, &raw)
	return raw, err
}

// SoWBundle gives the signed bundle of a version, by digest, or with "" of the one in force.
func (c *Conn) SoWBundle(ctx context.Context, engagement, digest string) (json.RawMessage, error) {
	params := map[string]string{"engagement": engagement}
	if digest != "" {
		params["digest"] = digest
	}
	var raw json.RawMessage
	err := c.Call(ctx, "sow.get", params, &raw)
	return raw, err
}
