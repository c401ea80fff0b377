//go:build unix

package ipc_test

// The example bots, with the real "vault bot", against a desk that checks the bot's proof
// and its request.

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/derive"
	"vault/derive/envelope"
	"vault/ipc/bot"
	"vault/ipc/client"
	"vault/ipc/internal/fakedesk"
)

var bots = map[string][]string{
	"python":     {"python3", "../examples/python/bot.py"},
	"javascript": {"node", "../examples/javascript/bot.mjs"},
}

// delegated is a delegate for every bot, without end.
func delegated(t *testing.T) *envelope.MintDelegate {
	t.Helper()
	seed := bytes.Repeat([]byte{9}, derive.Size)
	issuer, err := derive.Address(seed)
	if err != nil {
		t.Fatal(err)
	}
	d, err := envelope.NewMintDelegate(issuer, envelope.DelegateFields{
		DomainHash: fakedesk.DomainHash, AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*"},
		BotPolicy: envelope.BotAny, IndexMin: 3, IndexMax: 9, MaxMints: 5, MaxUsesPerAction: 2,
		Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-01-01T00:00:00.000Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	signature, err := derive.SignDigest(seed, d.Digest())
	if err != nil {
		t.Fatal(err)
	}
	if d, err = d.Signed(signature); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestExampleBots(t *testing.T) {
	program := filepath.Join(t.TempDir(), "vault")
	build := exec.Command("go", "build", "-tags", "headless", "-o", program, "vault/cmd/vault")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("VAULT_BIN", program)
	d := delegated(t)
	for name, words := range bots {
		t.Run(name, func(t *testing.T) {
			desk, sock := serve(t)
			state, key := t.TempDir(), filepath.Join(t.TempDir(), "bot.json")
			k, err := bot.New(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Save(key); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			conn, err := client.Dial(ctx, sock)
			if err != nil {
				t.Fatal(err)
			}
			pairing, err := conn.Pair(ctx, "example-bot", func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
			if err := pairing.Save(filepath.Join(state, "agent-vault", "agents", "example-bot.json")); err != nil {
				t.Fatal(err)
			}
			desk.Delegates = func(_ context.Context, bot string) (json.RawMessage, error) {
				return json.Marshal(map[string]any{"delegates": []any{map[string]any{"delegate": json.RawMessage(d.Canonical()), "delegate_hash": d.Hash(), "state": "active"}}})
			}
			var request []byte
			desk.Mint = func(_ context.Context, bot string, raw []byte) (json.RawMessage, error) {
				request = raw
				if bot != k.Address() {
					t.Errorf("minted for %s", bot)
				}
				return json.RawMessage(`{"mint":"` + fakedesk.MintID + `","attestation":{"type":"agentenvelope.addressAttestation"}}`), nil
			}
			var asked approvals.MintSignAsk
			desk.MintSign = func(_ context.Context, _ string, a approvals.MintSignAsk) (json.RawMessage, error) {
				asked = a
				return json.RawMessage(`{"signature":"0x00","agent_address":"0x00","record":{},"mint":"` + a.Mint + `"}`), nil
			}
			r := run(t, sock, state, append(words, key, "thread:7", "example-bot")...)
			if r.status != 0 {
				t.Fatalf("status %d: %s", r.status, r.errs)
			}
			report, _ := envelope.VerifyMintRequest(request, d.Canonical(), envelope.Pins{DomainAddress: d.IssuerAddress()}, time.Now().UnixMilli())
			if !report.Valid || !report.Pinned {
				t.Errorf("the vault would refuse %s: %s", request, bot.Failing(report))
			}
			if q, err := envelope.ParseMintRequest(request); err != nil || q.BotAddress() != k.Address() || q.Fields().ActionIndex != 3 || q.Fields().AgentID != "example-bot" {
				t.Errorf("request %s, %v", request, err)
			}
			var got struct {
				Payload     json.RawMessage
				Attestation struct{ Type string }
				Signature   string
			}
			if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Signature != "0x00" || got.Attestation.Type == "" {
				t.Errorf("output %q, %v", r.out, err)
			}
			var sent, printed bytes.Buffer
			if json.Compact(&sent, asked.Payload) != nil || json.Compact(&printed, got.Payload) != nil || sent.String() != printed.String() || asked.Mint != fakedesk.MintID {
				t.Errorf("sent %s, printed %s", sent.String(), printed.String())
			}

			// What is out of bounds is not signed; a bound that only the vault knows is named.
			if r := run(t, sock, state, append(words, key, "other:7", "example-bot")...); r.status == 0 || !strings.Contains(r.errs, "(outside_bounds)") {
				t.Errorf("another resource: status %d, %s", r.status, r.errs)
			}
			desk.Mint = func(context.Context, string, []byte) (json.RawMessage, error) {
				return nil, &approvals.Refusal{Code: "mints_spent", Message: "All are minted.", Remedy: "Ask.", Data: json.RawMessage(`{"bound":"maxMints","value":5}`)}
			}
			if r := run(t, sock, state, append(words, key, "thread:7", "example-bot")...); r.status == 0 || !strings.HasPrefix(r.errs, "mints_spent: ") || !strings.Contains(r.errs, "maxMints") {
				t.Errorf("no mints: status %d, %s", r.status, r.errs)
			}
			// Another key proves another bot.
			if err := os.Remove(key); err != nil {
				t.Fatal(err)
			}
			if r := run(t, sock, state, append(words, key, "thread:7", "example-bot")...); r.status == 0 || !strings.Contains(r.errs, "(bot_key_missing)") {
				t.Errorf("no key: status %d, %s", r.status, r.errs)
			}
		})
	}
}
