package client

import (
	"context"
	"encoding/json"
	"errors"

	"vault/derive/envelope"
)

// Bot is a bot's own key, as package ipc/bot keeps one.
type Bot interface {
	Address() string                      // 0x and 40 lower-case hex digits
	Prove(c envelope.BotChallenge) string // 0x and 130 hex digits
}

// ErrChallenge is returned by ProveBot when the vault's challenge is not for this client
// of this vault: nothing was signed.
var ErrChallenge = errors.New("the challenge is not for this client of this vault")

// Challenge gets the vault's challenge for a bot's address, canonical JSON. It is good for
// this connection, for two minutes. On a connection that has said Hello it is checked to be for
// this client of this vault (ErrChallenge).
func (c *Conn) Challenge(ctx context.Context) (envelope.BotChallenge, error) {
	var raw json.RawMessage
	if err := c.Call(ctx, "bot.nonce", nil, &raw); err != nil {
		return envelope.BotChallenge{}, err
	}
	ch, err := envelope.ParseBotChallenge(raw)
	if err != nil {
		return ch, err
	}
	c.mu.Lock()
	p := c.keep
	c.mu.Unlock()
	if p == nil || ch.Vault != p.Vault || ch.Client != p.Client {
		return ch, ErrChallenge
	}
	return ch, nil
}

// ProveBot proves a bot's address on this connection, for the methods of mint delegation.
// It holds until the connection closes or the vault locks.
func (c *Conn) ProveBot(ctx context.Context, b Bot) error {
	ch, err := c.Challenge(ctx)
	if err != nil {
		return err
	}
	return c.Call(ctx, "bot.prove", map[string]string{"bot": b.Address(), "signature": b.Prove(ch)}, nil)
}

// Delegate is one under which the proven bot may ask.
type Delegate struct {
	Delegate   json.RawMessage `json:"delegate"`      // signed, canonical
	Hash       string          `json:"delegate_hash"` // names it
	State      string          `json:"state"`
	MintsLeft  int64           `json:"mints_left"`
	BoundsHeld bool            `json:"bounds_held"` // false: mint material of its domain was let out
	Legitimacy json.RawMessage `json:"legitimacy,omitempty"`
}

// Delegates gives the delegates under which the proven bot may ask.
func (c *Conn) Delegates(ctx context.Context) ([]Delegate, error) {
	var out struct{ Delegates []Delegate }
	err := c.Call(ctx, "mint.delegates", nil, &out)
	return out.Delegates, err
}

// Minted is one capability: the answer to a request, with the domain's word that the
// address is for this record. That word is the issuer's alone (Label).
type Minted struct {
	Mint         string          `json:"mint"` // names it
	AgentAddress string          `json:"agent_address"`
	Record       json.RawMessage `json:"record"`
	Label        string          `json:"label"` // issuer-asserted
	Attestation  json.RawMessage `json:"attestation"`
	DelegateHash string          `json:"delegate_hash"`
	MintsLeft    int64           `json:"mints_left"`
	Seq          uint64          `json:"seq"`
	BoundsHeld   bool            `json:"bounds_held"`
	Legitimacy   json.RawMessage `json:"legitimacy,omitempty"`
}

// Mint has a signed MintRequest minted, sent as it is. The same request again gives the same
// answer and spends nothing.
func (c *Conn) Mint(ctx context.Context, request json.RawMessage) (Minted, error) {
	var out Minted
	err := c.Call(ctx, "mint.request", map[string]json.RawMessage{"request": request}, &out)
	return out, err
}

// MintSign asks for one signature by a minted key.
type MintSign struct {
	RequestID string // 1 to 128 printable ASCII characters, of the client's choice
	Session   string // the same, or empty
	Mint      string
	Payload   json.RawMessage // sent as it is
}

// MintSigned is what mint.sign gives.
type MintSigned struct {
	Signature    string          `json:"signature"`
	AgentAddress string          `json:"agent_address"`
	Mint         string          `json:"mint"`
	Use          int64           `json:"use"`
	UsesLeft     int64           `json:"uses_left"`
	Record       json.RawMessage `json:"record"`
	Label        string          `json:"label"`
	Attestation  json.RawMessage `json:"attestation,omitempty"`
	LogHead      json.RawMessage `json:"log_head"`
	Seq          uint64          `json:"seq"`
}

// MintSign has a payload signed by a minted key. The same call again gives the same signature.
func (c *Conn) MintSign(ctx context.Context, s MintSign) (MintSigned, error) {
	params := struct {
		RequestID string          `json:"request_id"`
		Session   string          `json:"session,omitempty"`
		Mint      string          `json:"mint"`
		Payload   json.RawMessage `json:"payload"`
	}{s.RequestID, s.Session, s.Mint, s.Payload}
	var out MintSigned
	if err := c.Call(ctx, "mint.sign", params, &out); err != nil {
		return out, err
	}
	c.remember(out.LogHead)
	return out, nil
}

// MintRecord is what mint.record gives of a mint of the proven bot.
type MintRecord struct {
	Mint        string          `json:"mint"`
	Record      json.RawMessage `json:"record"`
	Label       string          `json:"label"`
	UsesLeft    int64           `json:"uses_left"`
	Attestation json.RawMessage `json:"attestation"`
	Legitimacy  json.RawMessage `json:"legitimacy,omitempty"`
}

// MintRecord gives the record of a mint of the proven bot.
func (c *Conn) MintRecord(ctx context.Context, mint string) (MintRecord, error) {
	var out MintRecord
	err := c.Call(ctx, "mint.record", map[string]string{"mint": mint}, &out)
	return out, err
}
