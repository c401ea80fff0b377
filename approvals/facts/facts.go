// Package facts says what a policy is asked about an act: the facts of a signature
// and of the selection of an option, and who may bind the owner to a document, from the bytes. The key process judges by
// them; the desk only says in advance what it will judge. It decides nothing itself.
package facts

import (
	"vault/approvals/moment"
	"vault/approvals/permit"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Signature gives the facts of one signature for a client (its id): the envelope's own words, and the
// payload's where it has its own.
func Signature(client string, env *envelope.ActionEnvelope, payload jcs.Value) []permit.Facts {
	f := env.Fields()
	return Shown(client, env.DomainHash(), f.Operation, f.Resources, payload)
}

// Shown is Signature for an envelope of which domain hash, operation and resources are at hand.
func Shown(client, domain, operation string, resources []string, payload jcs.Value) []permit.Facts {
	return append(own(client, payload), permit.Facts{
		Client: client, Domain: domain, Operation: operation, Resources: resources, Known: true, Selects: true,
	})
}

// own are an action's own words about itself; members that it lacks fit every rule, so they are
// looked at only where it names an operation or resources.
func own(client string, v jcs.Value) []permit.Facts {
	f := permit.Facts{Client: client, Domain: v.Get("domainHash").Text(), Operation: v.Get("operation").Text(), Known: true, Selects: true}
	for _, item := range v.Get("resources").Items() {
		f.Resources = append(f.Resources, item.Text())
	}
	if r := v.Get("resource"); r.Exists() {
		f.Resources = append(f.Resources, r.Text())
	}
	if f.Operation == "" && len(f.Resources) == 0 {
		return nil
	}
	return []permit.Facts{f}
}

// Resolution gives the facts of an answer in own words, and of a rejected question, for a client's moment of that
// class, which may be empty.
func Resolution(client, class string) permit.Facts {
	return permit.Facts{Moment: true, Client: client, Class: class}
}

// Option gives the facts of the selection of an option: what its row showed of its action, for the selection and for
// the signature that it lets follow. An action that was not shown may be any.
func Option(client, class string, row moment.Row) []permit.Facts {
	var shown []permit.Facts
	if row.Action != nil {
		shown = append(shown, own(client, row.Action.Value)...)
	}
	if env := row.SignWith; env != nil {
		w := env.Fields()
		shown = append(shown, permit.Facts{Client: client, Domain: env.DomainHash(), Operation: w.Operation, Resources: w.Resources, Known: true, Selects: true})
	}
	if row.Action == nil || len(shown) == 0 {
		// Also with a signing envelope: its action was not shown.
		shown = append(shown, permit.Facts{Client: client, Known: row.Action != nil, Selects: true})
	}
	var out []permit.Facts
	for _, x := range shown {
		x.Moment, x.Class = true, class
		out = append(out, x)
		if row.SignWith != nil {
			x.Moment, x.Class = false, ""
			out = append(out, x)
		}
	}
	return out
}
