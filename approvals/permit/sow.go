package permit

import "vault/approvals/internal/strict"

// Types of the rows about Agent SoW.
const (
	TypePin              = "vault.sowPin"
	TypePreauthorisation = "vault.sowPreauthorisation"
)

// Bounds of what is permitted about Agent SoW.
const (
	MaxSeats           = 16   // owner seats
	MaxPreauthorised   = 1000 // formations under one pre-authorisation
	PreauthoriseMillis = 90 * 24 * 60 * 60 * 1000
)

// Pin says whose key speaks for an agent's owner.
type Pin struct {
	Type    string `json:"type"`
	V       int    `json:"v"`
	ID      string `json:"id"`      // "k_" and 16 hex digits
	Agent   string `json:"agent"`   // the agent's key, as documents name it
	Key     string `json:"key"`     // its owner's key, nkey text
	Learned string `json:"learned"` // "card" | "told" | "document": how the owner knows
	Handle  string `json:"handle"`  // as it was when the key was pinned; may be empty
	Owner   string `json:"owner"`   // the same of the owner's name
	Card    string `json:"card"`    // SHA-256 of the owner card, 64 hex digits, or empty
	MadeAt  int64  `json:"made_at"` // milliseconds since epoch
}

// Preauthorisation lets one client form agreements under one offer.
type Preauthorisation struct {
	Type           string `json:"type"`
	V              int    `json:"v"`
	ID             string `json:"id"`     // "sp_" and 16 hex digits
	Client         string `json:"client"` // the paired client
	SoW            string `json:"sow"`    // the offer's identifier
	Version        int64  `json:"version"`
	DocumentSHA256 string `json:"document_sha256"` // of the offer's signed bytes, 0x and 64 hex digits
	ProviderKey    string `json:"provider_key"`    // owner key of the provider, nkey text
	Seat           int64  `json:"seat"`            // of the owner's, that signs
	Key            string `json:"key"`
	Agent          string `json:"agent"` // the party that fills the client's seat
	Owner          string `json:"owner"`
	Handle         string `json:"handle"`       // may be empty
	Organization   string `json:"organization"` // may be empty
	Currency       string `json:"currency"`     // may be empty: no charge
	MaxCommitted   int64  `json:"max_committed"`
	Times          int64  `json:"times"`
	NotAfter       int64  `json:"not_after"` // milliseconds since epoch
	MadeAt         int64  `json:"made_at"`   // milliseconds since epoch
}

// ParsePin reads a pin, as ParseDomain reads a domain.
func ParsePin(body []byte) (Pin, error) {
	o, err := open(body, TypePin)
	if err != nil {
		return Pin{}, err
	}
	p := Pin{
		Type: TypePin, V: 1,
		ID:      o.Text("id", strict.Pin),
		Agent:   o.Text("agent", strict.Some(128)),
		Key:     o.Text("key", strict.NKey),
		Learned: o.Text("learned", strict.Is("card", "told", "document")),
		Handle:  o.Text("handle", strict.UpTo(1024)),
		Owner:   o.Text("owner", strict.UpTo(1024)),
		Card:    o.Text("card", strict.Empty(func(s string) bool { return strict.Hash("0x" + s) })),
		MadeAt:  o.Int("made_at", 0, strict.MaxInt),
	}
	return p, done(o)
}

// ParsePreauthorisation reads a pre-authorisation, as ParseDomain reads a domain.
func ParsePreauthorisation(body []byte) (Preauthorisation, error) {
	o, err := open(body, TypePreauthorisation)
	if err != nil {
		return Preauthorisation{}, err
	}
	p := Preauthorisation{
		Type: TypePreauthorisation, V: 1,
		ID:             o.Text("id", strict.Preauthorisation),
		Client:         o.Text("client", strict.Client),
		SoW:            o.Text("sow", strict.Some(256)),
		Version:        o.Int("version", 1, strict.MaxInt),
		DocumentSHA256: o.Text("document_sha256", strict.Hash),
		ProviderKey:    o.Text("provider_key", strict.NKey),
		Seat:           o.Int("seat", 0, MaxSeats-1),
		Key:            o.Text("key", strict.NKey),
		Agent:          o.Text("agent", strict.Some(128)),
		Owner:          o.Text("owner", strict.Some(1024)),
		Handle:         o.Text("handle", strict.UpTo(1024)),
		Organization:   o.Text("organization", strict.UpTo(128)),
		Currency:       o.Text("currency", strict.UpTo(3)),
		MaxCommitted:   o.Int("max_committed", 0, strict.MaxInt),
		Times:          o.Int("times", 1, MaxPreauthorised),
		NotAfter:       o.Int("not_after", 0, strict.MaxInt),
		MadeAt:         o.Int("made_at", 0, strict.MaxInt),
	}
	return p, done(o)
}
