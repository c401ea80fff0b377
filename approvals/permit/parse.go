package permit

import (
	"encoding/json"
	"fmt"

	"vault/approvals/internal/strict"
)

// MaxBody is the size limit of a row's canonical bytes.
const MaxBody = 64 << 10

// ParseDomain reads a domain row. Like every Parse here it wants the canonical
// bytes under the binding profile with exactly the members of its kind, does
// not block, and returns an error that wraps [ErrWrongType] for a row of
// another kind or version. The projection is kept as canonical bytes of an
// object; what it says is for package envelope.
func ParseDomain(body []byte) (Domain, error) {
	o, err := open(body, TypeDomain)
	if err != nil {
		return Domain{}, err
	}
	d := Domain{
		Type: TypeDomain, V: 1,
		Hash:      o.Text("hash", strict.Hash),
		CreatedAt: o.Int("created_at", 0, strict.MaxInt),
	}
	d.Projection = json.RawMessage(o.Sub("projection").Bytes())
	return d, done(o)
}

// ParseClient reads a client row, as ParseDomain does.
func ParseClient(body []byte) (Client, error) {
	o, err := open(body, TypeClient)
	if err != nil {
		return Client{}, err
	}
	c := Client{
		Type: TypeClient, V: 1,
		ID:           o.Text("id", strict.Client),
		Name:         o.Text("name", strict.Some(256)),
		Claimed:      o.Text("claimed", strict.UpTo(1024)),
		UserID:       o.Int("user_id", -1, 1<<32),
		Executable:   o.Text("executable", strict.UpTo(4096)),
		SecretSHA256: o.Text("secret_sha256", strict.Hash),
		PairedAt:     o.Int("paired_at", 0, strict.MaxInt),
	}
	return c, done(o)
}

// ParseGrant reads a grant row, as ParseDomain does. Whether a grant may ask
// for so much is judged from the log.
func ParseGrant(body []byte) (Grant, error) {
	o, err := open(body, TypeGrant)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{
		Type: TypeGrant, V: 1,
		ID:           o.Text("id", strict.Grant),
		Client:       o.Text("client", strict.Client),
		EnvelopeHash: o.Text("envelope_hash", strict.Hash),
		DomainHash:   o.Text("domain_hash", strict.Hash),
		Uses:         o.Int("uses", 1, GrantUsesMax),
		NotAfter:     o.Int("not_after", 0, strict.MaxInt),
		MadeAt:       o.Int("made_at", 0, strict.MaxInt),
		WhileAway:    o.Flag("while_away"),
		By:           o.Text("by", strict.Is("click", "passkey")),
	}
	return g, done(o)
}

func open(body []byte, kind string) (*strict.Object, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("parse permit: more than %d bytes", MaxBody)
	}
	o, err := strict.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("parse permit: %w", err)
	}
	t, v := o.Text("type", strict.Some(64)), o.Int("v", 0, strict.MaxInt)
	if t != kind || v != 1 {
		return nil, fmt.Errorf("parse permit: %w", ErrWrongType)
	}
	return o, nil
}

func done(o *strict.Object) error {
	if err := o.Done(); err != nil {
		return fmt.Errorf("parse permit: %w", err)
	}
	return nil
}
