package provider

import (
	"testing"
	"time"

	"vault/approvals/sow"
)

// TestOfferIsSound: what the provider publishes has no finding that bars signing, and its changes are of the same agreement.
func TestOfferIsSound(t *testing.T) {
	p, err := New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	offer, err := p.Offer()
	if err != nil {
		t.Fatal(err)
	}
	d, found := sow.Read(offer, sow.Options{})
	if d == nil || !found.OK() {
		t.Fatalf("%+v", found)
	}
	if d.ID() != d.Mint() {
		t.Errorf("the identifier is %s, and derives as %s", d.ID(), d.Mint())
	}
	if seats := d.VerifySignatures(sow.Pins{Provider: p.Key}); seats.Provider == nil || !seats.Findings.OK() {
		t.Errorf("%+v", seats)
	}
	next, err := p.Amend(offer, Dearer(Greedy), Wider())
	if err != nil {
		t.Fatal(err)
	}
	n, err := sow.Parse(next)
	if err != nil {
		t.Fatal(err)
	}
	if n.ID() != d.ID() || n.Version() != 2 {
		t.Errorf("%s, version %d", n.ID(), n.Version())
	}
	if _, err := p.Amend(next, Dearer(Greedy)); err == nil {
		t.Error("a change of what is not there is proposed")
	}
}
