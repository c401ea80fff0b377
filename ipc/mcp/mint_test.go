//go:build unix

package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/approvals"
	"vault/derive/envelope"
	"vault/ipc/bot"
	"vault/ipc/internal/fakedesk"
)

// issued is a delegate without an issuer's signature: the bridge leaves it to the vault to judge.
func issued(t *testing.T, operations ...string) *envelope.MintDelegate {
	t.Helper()
	d, err := envelope.NewMintDelegate("0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835", envelope.DelegateFields{
		DomainHash: fakedesk.DomainHash, AllowedOperations: operations, AllowedResources: []string{"thread:*"},
		BotPolicy: envelope.BotAny, IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 2,
		Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-01-01T00:00:00.000Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func listed(delegates ...*envelope.MintDelegate) json.RawMessage {
	type row struct {
		Delegate json.RawMessage `json:"delegate"`
		Hash     string          `json:"delegate_hash"`
		State    string          `json:"state"`
	}
	rows := []row{}
	for _, d := range delegates {
		rows = append(rows, row{d.Canonical(), d.Hash(), "active"})
	}
	raw, _ := json.Marshal(map[string]any{"delegates": rows})
	return raw
}

func TestMintTools(t *testing.T) {
	r := start(t)
	k, err := bot.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Save(filepath.Join(filepath.Dir(r.path), "bot.json")); err != nil {
		t.Fatal(err)
	}
	one := issued(t, "send-message")
	var requests []string
	r.desk.Delegates = func(context.Context, string) (json.RawMessage, error) { return listed(one), nil }
	r.desk.Mint = func(_ context.Context, bot string, raw []byte) (json.RawMessage, error) {
		requests = append(requests, string(raw))
		return json.RawMessage(`{"mint":"` + fakedesk.MintID + `","agent_address":"` + bot + `","label":"issuer-asserted","mints_left":2,"record":{},"attestation":{}}`), nil
	}
	var asked approvals.MintSignAsk
	r.desk.MintSign = func(_ context.Context, _ string, a approvals.MintSignAsk) (json.RawMessage, error) {
		asked = a
		return json.RawMessage(`{"signature":"0x00","uses_left":1}`), nil
	}
	s := r.paired("", nil)
	if res := r.call(s, "list_delegates", `{}`); res.IsError || !strings.Contains(text(res), one.Hash()) {
		t.Fatalf("%s", text(res))
	}
	ask := `{"nonce":"n-1","resources":["thread:1"]`
	first := r.call(s, "mint_capability", ask+`}`)
	if first.IsError || !strings.Contains(text(first), `"label":"issuer-asserted"`) || !strings.Contains(text(first), k.Address()) {
		t.Fatalf("%s", text(first))
	}
	q, err := envelope.ParseMintRequest([]byte(requests[0]))
	if err != nil {
		t.Fatal(err)
	}
	if f := q.Fields(); f.Operation != "send-message" || f.MaxUses != 1 || f.Nonce != "n-1" || q.DelegateHash() != one.Hash() || !f.Window.NotAfter.Set {
		t.Errorf("request %s", requests[0])
	}
	// The same call is the same request; another one is another.
	r.call(s, "mint_capability", ask+`}`)
	r.call(s, "mint_capability", ask+`,"max_uses":2,"action_index":3,"until":"2999-01-01T00:00:00Z"}`)
	if len(requests) != 3 || requests[0] != requests[1] || requests[0] == requests[2] || !strings.Contains(requests[2], `"maxUses":2`) || !strings.Contains(requests[2], `"actionIndex":3`) {
		t.Errorf("requests %q", requests)
	}
	for name, args := range map[string]string{
		"no nonce":       `{"resources":["thread:1"]}`,
		"an empty nonce": `{"nonce":"","resources":["thread:1"]}`,
		"no resources":   `{"nonce":"n","resources":[]}`,
		"a text":         `{"nonce":"n","resources":"thread:1"}`,
		"a wildcard":     `{"nonce":"n","resources":["thread:*"]}`,
		"no use":         `{"nonce":"n","resources":["thread:1"],"max_uses":0}`,
		"a past end":     `{"nonce":"n","resources":["thread:1"],"until":"2020-01-01T00:00:00Z"}`,
		"half a use":     `{"nonce":"n","resources":["thread:1"],"max_uses":1.5}`,
		"no time":        `{"nonce":"n","resources":["thread:1"],"until":"later"}`,
		"a member more":  `{"nonce":"n","resources":["thread:1"],"key":"0x00"}`,
	} {
		if res := r.call(s, "mint_capability", args); code(res) != "arguments_invalid" {
			t.Errorf("%s: %s", name, text(res))
		}
	}
	if res := r.call(s, "mint_capability", `{"nonce":"n","resources":["thread:1"],"delegate":"0x00"}`); code(res) != "unknown_delegate" {
		t.Errorf("%s", text(res))
	}
	if res := r.call(s, "sign_minted", `{"mint":"`+fakedesk.MintID+`","request_id":"r","payload":{ "a" : 1.0 }}`); res.IsError || string(asked.Payload) != `{"a":1.0}` || asked.RequestID != "r" {
		t.Errorf("%s, asked %+v", text(res), asked)
	}
	if res := r.call(s, "read_capability", `{"mint":"`+fakedesk.MintID+`"}`); res.IsError || !strings.Contains(text(res), "publicActionRecord") {
		t.Errorf("%s", text(res))
	}
	// Two delegates: one has to be named, and an operation where it has two.
	two := issued(t, "send-message", "close-thread")
	r.desk.Delegates = func(context.Context, string) (json.RawMessage, error) { return listed(one, two), nil }
	if res := r.call(s, "mint_capability", `{"nonce":"m","resources":["thread:1"]}`); code(res) != "arguments_invalid" {
		t.Errorf("%s", text(res))
	}
	if res := r.call(s, "mint_capability", `{"nonce":"m","resources":["thread:1"],"delegate":"`+two.Hash()+`"}`); code(res) != "arguments_invalid" {
		t.Errorf("%s", text(res))
	}
	if res := r.call(s, "mint_capability", `{"nonce":"m","resources":["thread:1"],"delegate":"`+two.Hash()+`","operation":"close-thread"}`); res.IsError {
		t.Errorf("%s", text(res))
	}
}

// A request that was refused is not sent again once its window has passed; one that was answered is, and gives the same answer.
func TestRequestsKept(t *testing.T) {
	var r requests
	if r.get("a", 0) != nil {
		t.Error("there is one at the beginning")
	}
	r.put("a", []byte("1"), envelope.Some(10))
	r.put("open", []byte("2"), envelope.Opt{})
	r.answered("absent")
	for now, want := range map[int64]string{0: "1", 10: "1", 11: ""} {
		if got := r.get("a", now); string(got) != want {
			t.Errorf("at %d: %q", now, got)
		}
	}
	r.answered("a")
	if got := r.get("a", 11); string(got) != "1" {
		t.Errorf("answered, and made anew: %q", got)
	}
	if got := r.get("open", 1<<50); string(got) != "2" {
		t.Errorf("without an end: %q", got)
	}
}

// Without a bot's key the tools of mint delegation are not there.
func TestMintToolsNeedAKey(t *testing.T) {
	r := start(t)
	s := r.paired("", nil)
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ofBots := []string{"list_delegates", "mint_capability", "sign_minted", "read_capability"}
	if len(list.Tools) == 0 || slices.ContainsFunc(list.Tools, func(x *mcp.Tool) bool { return slices.Contains(ofBots, x.Name) }) {
		t.Errorf("%d tools", len(list.Tools))
	}
}
