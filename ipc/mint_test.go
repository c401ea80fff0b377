//go:build unix

package ipc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"vault/approvals"
	"vault/derive/envelope"
	"vault/ipc/bot"
	"vault/ipc/internal/fakedesk"
)

func botKey(t *testing.T) *bot.Key {
	t.Helper()
	k, err := bot.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The desk gets the received bytes of a request and of a payload, and only after the proof.
func TestMintMethods(t *testing.T) {
	r := start(t, Limits{}, nil)
	_, p := r.paired("bot")
	w := r.wire()
	w.prove(p, r.secretOf(p))
	request := `{ "type":"agentenvelope.mintRequest" , "b":1e0 }`
	payload := ` { "text" : "\u0041" , "n":1.0 }`
	lines := map[string]string{
		"mint.delegates": `{"jsonrpc":"2.0","id":3,"method":"mint.delegates"}`,
		"mint.request":   `{"jsonrpc":"2.0","id":4,"method":"mint.request","params":{"request": ` + request + ` }}`,
		"mint.sign":      `{"jsonrpc":"2.0","id":5,"method":"mint.sign","params":{"request_id":"r","mint":"` + fakedesk.MintID + `","payload":` + payload + `,"session":"s"}}`,
		"mint.record":    `{"jsonrpc":"2.0","id":6,"method":"mint.record","params":{"mint":"` + fakedesk.MintID + `"}}`,
	}
	var got struct {
		request []byte
		ask     approvals.MintSignAsk
		bots    []string
	}
	r.desk.Mint = func(_ context.Context, bot string, raw []byte) (json.RawMessage, error) {
		got.request, got.bots = raw, append(got.bots, bot)
		return json.RawMessage(`{"mint":"` + fakedesk.MintID + `"}`), nil
	}
	r.desk.MintSign = func(_ context.Context, bot string, ask approvals.MintSignAsk) (json.RawMessage, error) {
		got.ask, got.bots = ask, append(got.bots, bot)
		return json.RawMessage(`{"uses_left":1}`), nil
	}
	for name, line := range lines {
		if a := w.call(line); a.code() != "bot_not_proven" || a.Error.Code != int(FamilyPeer) {
			t.Errorf("%s without a bot: %+v", name, a)
		}
	}
	challenge, err := envelope.ParseBotChallenge(w.call(`{"jsonrpc":"2.0","id":1,"method":"bot.nonce"}`).Result)
	if err != nil || challenge.Client != p.Client || challenge.Vault != fakedesk.Vault {
		t.Fatalf("challenge %+v, %v", challenge, err)
	}
	mine, other := botKey(t), botKey(t)
	prove := func(address, signature string) reply {
		return w.call(`{"jsonrpc":"2.0","id":2,"method":"bot.prove","params":{"bot":"` + address + `","signature":"` + signature + `"}}`)
	}
	if code := prove(mine.Address(), other.Prove(challenge)).code(); code != "bot_proof" {
		t.Errorf("another key's proof: %q", code)
	}
	if a := prove(mine.Address(), mine.Prove(challenge)); a.Error != nil || string(a.Result) != `{"bot":"`+mine.Address()+`"}` {
		t.Fatalf("proof: %+v", a)
	}
	for name, line := range lines {
		if a := w.call(line); a.Error != nil {
			t.Errorf("%s: %q", name, a.code())
		}
	}
	if string(got.request) != request {
		t.Errorf("request %q", got.request)
	}
	if string(got.ask.Payload) != strings.TrimSpace(payload) || got.ask.RequestID != "r" || got.ask.Session != "s" || got.ask.Mint != fakedesk.MintID {
		t.Errorf("ask %+v", got.ask)
	}
	for _, b := range got.bots {
		if b != mine.Address() {
			t.Errorf("asked as %q", b)
		}
	}
	for name, line := range map[string]string{
		"no object":          `"method":"mint.request","params":{"request":"{}"}`,
		"a list":             `"method":"mint.request","params":{"request":[]}`,
		"a member more":      `"method":"mint.request","params":{"request":{},"x":1}`,
		"nothing":            `"method":"mint.request"`,
		"params of a nonce":  `"method":"bot.nonce","params":{"client":"c"}`,
		"a long address":     `"method":"bot.prove","params":{"bot":"` + mine.Address() + `0","signature":"0x"}`,
		"a long signature":   `"method":"bot.prove","params":{"bot":"0x","signature":"` + strings.Repeat("0", maxSignature+1) + `"}`,
		"no payload":         `"method":"mint.sign","params":{"request_id":"r","mint":"0x"}`,
		"no request id":      `"method":"mint.sign","params":{"payload":1,"mint":"0x"}`,
		"a number as a mint": `"method":"mint.record","params":{"mint":1}`,
	} {
		if code := w.call(`{"jsonrpc":"2.0","id":7,` + line + `}`).code(); code != "params_invalid" {
			t.Errorf("%s: %q", name, code)
		}
	}
}
