package fakedesk

import (
	"context"
	"encoding/json"

	"vault/approvals"
)

// SoWSubmit implements approvals.Conversation.
func (t *talk) SoWSubmit(_ context.Context, ask approvals.SoWAsk) (approvals.Answer, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	t.d.Brought = append(t.d.Brought, ask)
	if ask.Move != "" {
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	return approvals.Answer{Result: json.RawMessage(`{"engagement":"e_00112233445566778899aabbccddeeff","findings":[],"kind":"sow"}`)}, nil
}

// SoWStatus implements approvals.Conversation.
func (t *talk) SoWStatus(_ context.Context, engagement string) (approvals.Answer, error) {
	raw, err := json.Marshal(map[string]any{"engagement": engagement, "state": "active", "version": 1})
	return approvals.Answer{Result: raw}, err
}

// SoWGet implements approvals.Conversation.
func (t *talk) SoWGet(context.Context, string, string) (approvals.Answer, error) {
	return approvals.Answer{Result: json.RawMessage(`{"document":{},"type":"vault.sowBundle","v":1}`)}, nil
}

// SoWAwait implements approvals.Conversation.
func (t *talk) SoWAwait(_ context.Context, request string) (approvals.Answer, error) {
	return approvals.Answer{Result: json.RawMessage(`{"outcome":"declined"}`)}, nil
}
