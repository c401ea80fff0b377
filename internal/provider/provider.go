// Package provider plays the other owner of an agreement in tests and in the tour: Stonework Analytics, which reconciles
// statements in the specification's worked example. It publishes an offer, completes what is formed under it, proposes
// changes and claims to be paid. It works on documents by package sow, with a key of its own; of the vault it knows
// nothing, and neither program of the product is linked with it.
package provider

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	_ "embed"
	"fmt"
	"time"

	"vault/approvals/sow"
	"vault/approvals/sow/draft"
	"vault/approvals/sow/span"
	"vault/derive/envelope"
)

// offerText is the offer without its identifier and its signature.
//
//go:embed offer.json
var offerText []byte

// Owner is who the provider says it is.
const Owner = "Stonework Analytics"

// What a reconciled statement costs, in millionths.
const (
	Rate   = 2_500_000 // as the offer says
	Fairer = 2_600_000
	Greedy = 3_900_000
)

// Provider is the other owner.
type Provider struct {
	// Key is the public owner key as documents write it.
	Key     string
	private ed25519.PrivateKey
	now     func() time.Time
}

// New makes one with a fresh key. It signs at the time that now says.
func New(now func() time.Time) (*Provider, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	text, err := envelope.EncodeOwnerKey(public)
	if err != nil {
		return nil, err
	}
	return &Provider{Key: text, private: private, now: now}, nil
}

// Offer is the signed standing proposal, with the identifier that its bytes derive.
func (p *Provider) Offer() ([]byte, error) {
	raw, err := draft.WithID(offerText)
	if err != nil {
		return nil, fmt.Errorf("make an offer: %w", err)
	}
	return p.Sign(raw)
}

// Sign adds the provider's signature to a document, given as it came. It refuses what is no document.
func (p *Provider) Sign(raw []byte) ([]byte, error) {
	d, err := sow.Parse(raw)
	if err == nil {
		d, err = d.WithSignature(sow.Provider, p.Key, span.UTC(p.now().UnixMilli()), ed25519.Sign(p.private, d.Signed()))
	}
	if err != nil {
		return nil, fmt.Errorf("sign as the provider: %w", err)
	}
	return d.Raw(), nil
}

// Change is one edit of a document's canonical bytes, in which Old stands once.
type Change struct{ Old, New string }

// Dearer moves the rate for reconcile-statement.
func Dearer(to int64) Change {
	return Change{fmt.Sprintf(`"per_task":%d`, Rate), fmt.Sprintf(`"per_task":%d`, to)}
}

// Wider is what else the provider would like to be asked for.
func Wider() Change {
	return Change{`"offerings":["reconcile-statement","flag-exceptions"]`, `"offerings":["reconcile-statement","flag-exceptions","chase-credit-note"]`}
}

// Amend proposes version 2 of version 1, signed. It refuses a change of what is not there.
func (p *Provider) Amend(inForce []byte, changes ...Change) ([]byte, error) {
	d, err := sow.Parse(inForce)
	if err != nil {
		return nil, fmt.Errorf("amend: %w", err)
	}
	raw := d.Canonical()
	for _, c := range append(changes, Change{`"version":1,"volume"`, `"version":2,"volume"`}) {
		if bytes.Count(raw, []byte(c.Old)) != 1 {
			return nil, fmt.Errorf("amend: the document has not one %s", c.Old)
		}
		raw = bytes.Replace(raw, []byte(c.Old), []byte(c.New), 1)
	}
	return p.Sign(raw)
}

// Settlement is a record of one reconciled statement at a rate, with an operator's fee of 10 percent that is off by so much.
// Nobody signs it.
func Settlement(id string, rate, off int64) []byte {
	fee := rate/10 + off
	return fmt.Appendf(nil, `{"engagement":%q,"task":"task-1","lines":[{"meter":"items","unit":"statement","count":1,"per":1,"per_unit":%d,"amount":%d}],`+
		`"total":%d,"currency":"XCR","operator_fee":{"operator":"mesh.example","basis":{"kind":"percent","percent":10},"base":%d,"amount":%d}}`,
		id, rate, rate, rate+fee, rate, fee)
}
