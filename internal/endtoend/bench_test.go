//go:build unix

package endtoend_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"vault/approvals"
	bench "vault/bench/socket"
	"vault/ipc/client"
)

// BenchmarkGrantedSign is a granted signature over the socket on a real desk, store
// and signer: policy, use, log entry and signature, durable before the answer. The
// signer is in this process, so the line between desk and key process is not in it;
// the store is below TMPDIR.
func BenchmarkGrantedSign(b *testing.B) {
	r := start(b)
	const uses = 10 // the most that a grant gives before the first passkey
	r.decide(func(s approvals.Sheet) approvals.Decision {
		if s.Pairing != nil {
			return approvals.Decision{Verdict: approvals.VerdictApprove, Name: "Bench"}
		}
		return approvals.Decision{Verdict: approvals.VerdictGrant, GrantUses: uses, GrantUntil: s.Action.GrantUntil}
	})
	ctx := b.Context()
	c, err := client.Dial(ctx, r.sock)
	if err != nil {
		b.Fatal(err)
	}
	p, err := c.Pair(ctx, "bench", func(string) {})
	if err != nil {
		b.Fatal(err)
	}
	_ = c.Close()
	made := 0
	bench.Granted(b, r.sock, p, func(b *testing.B, calls int) func(int) json.RawMessage {
		c, err := client.Dial(ctx, r.sock)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := c.Hello(ctx, p); err != nil {
			b.Fatal(err)
		}
		var envelopes []json.RawMessage
		for len(envelopes)*uses < calls {
			made++
			r.clock.ahead.Add(1000) // one request a second may reach the queue
			e := fmt.Appendf(nil, `{"actionIndex":%d,"agentId":"bench","decayPolicy":{"mode":"ACTION"},"domain":{"domainHash":%q,"domainId":"billing-ops"},"limits":{"enforcement":"external","maxUses":100},"operation":"send","resources":["a"],"timeWindow":{"notAfter":null,"notBefore":null},"type":"agentenvelope.actionEnvelope","version":1}`, made, r.domain.Hash)
			if _, err := c.ActionSign(ctx, client.Sign{RequestID: fmt.Sprintf("grant-%d", made), Envelope: e, Payload: json.RawMessage(`{"type":"bench.first"}`)}); err != nil {
				b.Fatal(err)
			}
			envelopes = append(envelopes, e)
		}
		return func(i int) json.RawMessage { return envelopes[i/uses] }
	})
}
