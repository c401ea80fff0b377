package envelope

import (
	"vault/derive/jcs"
)

// Pins is what an offline verifier already trusts. Empty members are not
// pinned. A pin that is given and does not match makes a report invalid; a pin
// that matches makes it pinned only where it ties the document to its maker.
type Pins struct {
	// Owner is an owner key, nkey text. Nothing in a record, delegate or
	// receipt is signed by it; ownerUserId only claims it.
	Owner string
	// DomainAddress is the address of a domain: the issuer of a delegate, the
	// attester of a receipt. A record only claims it.
	DomainAddress string
	// DomainHash is the hash of the domain that DomainAddress belongs to.
	DomainHash string
	// ExpectHash is the hash of an action envelope or of a whole record, of a
	// delegate (without its signature), or of a whole receipt.
	ExpectHash string
}

// empty reports that nothing is pinned.
func (p Pins) empty() bool { return p == Pins{} }

func (r *Report) recordPins(v jcs.Value, o RecordOptions) {
	p := o.Pins
	if p.Owner != "" {
		r.check("ownerPin", v.Get("ownerUserId").Text() == OwnerUserID(p.Owner), "the record names another owner")
	}
	domain := v.Get("domain")
	if p.DomainAddress != "" {
		r.check("domainAddressPin", sameAddress(domain.Get("domainAddress").Text(), p.DomainAddress), "the record names another domain address")
	}
	if p.DomainHash != "" {
		r.check("domainHashPin", domain.Get("domainHash").Text() == p.DomainHash, "the record names another domain")
	}
	expected := p.ExpectHash
	if expected == "" && o.ExpectedHash != nil {
		expected = *o.ExpectedHash
	}
	whole := ""
	if expected != "" {
		whole = hash256(v.Canonical())
	}
	envelopeOnly := expected != "" && expected == v.Get("actionEnvelopeHash").Text()
	if p.ExpectHash != "" {
		r.check("hashPin", envelopeOnly || expected == whole, "neither record nor action envelope has the expected hash")
	}
	r.Pinned = r.Valid && expected != "" && (envelopeOnly || expected == whole)
	switch {
	case r.Pinned && expected != whole:
		r.warn("the expected hash fixes the action envelope, not the agent address: the record must come from a source you trust")
	case !r.Pinned && !p.empty():
		r.warn("a record is not signed: its owner and its domain are claims")
	}
}
