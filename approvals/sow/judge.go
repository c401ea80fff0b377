package sow

import (
	"cmp"
	"slices"

	"vault/derive/jcs"
)

// CheckAgent refuses, with agent_key_mismatch, what an agent brought for a
// seat under another key than the one the document names there (5.1). Keys are
// compared, never handles. Whether the agent holds the key is for whoever
// carried it to know.
func (d *Document) CheckAgent(seat, agent string) *Finding {
	if p, ok := d.Party(seat); ok && agent != "" && p.Agent == agent {
		return nil
	}
	return one("agent_key_mismatch", "parties."+seat+".agent")
}

// OpenGrants returns grant_to_close for every standing grant that does not end
// by its own mechanism with an engagement that is over (5.3.1), and nothing
// while it is not.
func (d *Document) OpenGrants(s State) Findings {
	c := &checker{}
	if s.Ended() {
		for _, g := range d.Grants() {
			c.need(!g.CloseByHand(), "grant_to_close", g.Member)
		}
	}
	return c.found
}

// Offer is how an offer may be shown at an instant (12.1, 12.1.1).
type Offer struct {
	// Open says that it can form an engagement. An offer that is over stays
	// readable; it is the record of what was offered.
	Open bool
	// Why says why it is not open, or, of an open one that names a party, that
	// it is not exclusive.
	Why *Finding
	// Exclusive says that it names one party and that this is checked where it
	// forms. Without that it is not to be shown as exclusive.
	Exclusive bool
}

// Offer judges an offer as it may be shown, at an instant in milliseconds. What
// is no offer is not open: formation_incomplete.
func (d *Document) Offer(now int64, s OfferStatus, dep Deployment) Offer {
	if !d.BlankSeat() {
		return Offer{Why: one("formation_incomplete", "parties.client")}
	}
	if d.Directed() {
		agent := d.v.Get("parties").Get("offered_to").Get("agent").Text()
		if f := DirectedRefusal(d.v.Get("parties"), agent, now, s); f != nil {
			return Offer{Why: f}
		}
	}
	_, end, _, ended := d.Term()
	switch {
	case s.Withdrawn:
		return Offer{Why: one("directed_withdrawn", "")}
	case ended && now >= end:
		return Offer{Why: one("lapsed", "ends_at")}
	case !d.Directed():
		return Offer{Open: true}
	case !dep.ChecksFormation || !dep.VerifiesCounterparty:
		return Offer{Open: true, Why: one("offer_not_exclusive", "parties.offered_to")}
	}
	return Offer{Open: true, Exclusive: true}
}

// Problem is a problem report as it was received (14.1).
type Problem struct {
	Value    jcs.Value
	Findings Findings // what is wrong with its form; it is shown and kept all the same
}

// Input returns the input it is about, "" where it names none.
func (p Problem) Input() string { return p.Value.Get("input").Text() }

// Description returns what it says, "" where it says nothing.
func (p Problem) Description() string { return p.Value.Get("description").Text() }

// Problems reads a list of problem reports, or one alone (14.2): every one of
// them, in the order received, none dropped, none joined with another, also
// those whose form is wrong.
func Problems(v jcs.Value) (out []Problem) {
	list := []jcs.Value{v}
	if v.Kind() == jcs.Array {
		list = entries(v)
	}
	for i, w := range list {
		c := &checker{}
		path := ""
		if v.Kind() == jcs.Array {
			path = item("", i)
		}
		c.problem(w, path)
		out = append(out, Problem{w, c.found})
	}
	return out
}

// Outcome is what a record says that somebody brought, or that nobody did.
type Outcome string

// The outcomes. NotReported is neither a pass nor a failure (7.2, 15.4).
const (
	NotReported Outcome = "not_reported"
	Passed      Outcome = "passed"
	Failed      Outcome = "failed"
	Accepted    Outcome = "acceptance"
	Rejected    Outcome = "rejection"
)

// Brought are the records of an engagement that somebody brought.
type Brought struct {
	Acts []*Act // probes and reviews; others are left alone
	// Delivered are the pieces of a completed task, from the client's own record
	// or a verified job manifest, nil if nobody brought either.
	Delivered []Artifact
}

// Judgement is the judgement of the work beside the facts about its form
// (15.3): the one never stands for the other.
type Judgement struct {
	Probe  Outcome // of the latest trial task (13)
	Form   Outcome // whether every named artifact arrived in its media type (5.4)
	Review Outcome // the client's, the latest (15)
	Reason string  // of the latest review, as written
	// Reviews are all of the client's, the latest last: a changed mind is a
	// second review.
	Reviews []*Act
	// Findings say what is missing from the form, and what nobody brought.
	Findings Findings
}

// Judge puts together what was brought about a document's work. Only an act
// that verifies, is about this document, and is by the key known for its seat
// counts: a probe by the provider, a review by the client. What is missing is
// not_reported, never passed and never accepted.
func (d *Document) Judge(b Brought, pins Pins) Judgement {
	j := Judgement{Probe: NotReported, Form: NotReported, Review: NotReported}
	c := &checker{}
	if probes := d.acts(b.Acts, Probe, Provider, pins.Provider); len(probes) > 0 {
		j.Probe = Passed
		for _, t := range probes[len(probes)-1].f.Inputs {
			if !t.Passed {
				j.Probe = Failed
			}
		}
	} else {
		c.add("not_reported", "probe")
	}
	if b.Delivered != nil {
		j.Form = Passed
		if f := d.CheckForm(b.Delivered); len(f) > 0 {
			j.Form = Failed
			c.found = append(c.found, f...)
		}
	} else {
		c.add("not_reported", "deliverables")
	}
	if j.Reviews = d.acts(b.Acts, Review, Client, pins.Client); len(j.Reviews) > 0 {
		last := j.Reviews[len(j.Reviews)-1].f
		j.Review, j.Reason = Outcome(last.Ground), last.Reason
	} else {
		c.add("silence_is_no_acceptance", "review")
	}
	j.Findings = c.found
	return j
}

// acts returns the acts of a kind that count, in the order of their times.
func (d *Document) acts(list []*Act, kind ActKind, role, key string) (out []*Act) {
	for _, a := range list {
		if a.f.Kind == kind && a.f.Role == role && key != "" && a.f.Key == key && a.About(d) && a.Verify() == nil {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b *Act) int {
		x, _ := instantOf(a.v.Get("at"))
		y, _ := instantOf(b.v.Get("at"))
		return cmp.Compare(x, y)
	})
	return out
}
