//go:build unix

package client_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"vault/derive/envelope"
	"vault/ipc/bot"
	"vault/ipc/client"
	"vault/ipc/internal/fakedesk"
)

func TestBot(t *testing.T) {
	_, path := serve(t)
	p := pair(t, path)
	k, err := bot.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, path)
	if _, err := c.Hello(within(t), p); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mint(within(t), json.RawMessage(`{}`)); codeOf(err) != "bot_not_proven" {
		t.Errorf("before the proof: %v", err)
	}
	if err := c.ProveBot(within(t), k); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Delegates(within(t)); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	m, err := c.Mint(within(t), json.RawMessage(`{}`))
	if err != nil || m.Mint != fakedesk.MintID || m.AgentAddress != k.Address() || m.Label != "issuer-asserted" || m.MintsLeft != 1 || !m.BoundsHeld {
		t.Errorf("%+v, %v", m, err)
	}
	s, err := c.MintSign(within(t), client.MintSign{RequestID: "r", Mint: m.Mint, Payload: json.RawMessage(`1`)})
	if err != nil || len(s.Signature) != 132 || s.Use != 1 || s.UsesLeft != 1 || s.Seq != 9 {
		t.Errorf("%+v, %v", s, err)
	}
	if head := string(p.LastHead()); !strings.Contains(head, `"seq":9`) {
		t.Errorf("the head of the signature is not kept: %s", head)
	}
	if r, err := c.MintRecord(within(t), m.Mint); err != nil || r.UsesLeft != 1 || r.Mint != m.Mint {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.MintRecord(within(t), "0x00"); codeOf(err) != "unknown_mint" {
		t.Errorf("another mint: %v", err)
	}
}

// signs counts what it is asked to sign.
type signs struct{ n int }

func (*signs) Address() string                      { return "0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835" }
func (s *signs) Prove(envelope.BotChallenge) string { s.n++; return "" }

// A vault cannot have a proof for another vault, or for another client of its own.
func TestChallengeForSomebodyElseIsNotSigned(t *testing.T) {
	_, path := serve(t)
	p := pair(t, path)
	b := &signs{}
	c := dial(t, path)
	if _, err := c.Hello(within(t), p); err != nil {
		t.Fatal(err)
	}
	for _, other := range []*client.Pairing{
		client.PairingAs(p, strings.Repeat("00", 16), p.Client),
		client.PairingAs(p, p.Vault, "c_ffffffffffffffff"),
	} {
		client.Keep(c, other)
		if err := c.ProveBot(within(t), b); !errors.Is(err, client.ErrChallenge) {
			t.Errorf("%v", err)
		}
	}
	if b.n != 0 {
		t.Errorf("%d challenges were signed", b.n)
	}
}
