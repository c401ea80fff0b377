package sow

import "vault/derive/jcs"

// Directed reports an offer to one named party (12.1.1): parties.offered_to is
// there and not null, readable or not.
func (d *Document) Directed() bool { return directed(d.v.Get("parties")) }

func directed(parties jcs.Value) bool {
	w := parties.Get("offered_to")
	return w.Exists() && w.Kind() != jcs.Null
}

// PublicListing reports that a public listing may be derived from an offer
// with these parties: never from a directed one (12.1.1, 12.2).
func PublicListing(parties jcs.Value) bool { return !directed(parties) }
