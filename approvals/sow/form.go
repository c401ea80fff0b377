package sow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// OfferStatus is what is known of an offer beside its bytes.
type OfferStatus struct {
	Withdrawn bool
	Formed    bool // it has formed an engagement before
}

// DirectedRefusal judges who may form under an offer to one party (12.1.1).
// Nil for an offer to the market, and where the party, the time and the status
// fit. What ends an offer outside the specification is not understood here, so
// an offer without an expiry is refused.
func DirectedRefusal(parties jcs.Value, clientAgent string, now int64, s OfferStatus) *Finding {
	w := parties.Get("offered_to")
	if !directed(parties) {
		return nil
	}
	c := &checker{}
	if c.offeredTo(w, "parties.offered_to"); !c.found.OK() {
		return one("directed_unreadable", "parties.offered_to")
	}
	end, ok := instantOf(w.Get("expires_at"))
	switch {
	case !ok:
		return one("directed_unbounded", "parties.offered_to.expires_at")
	case s.Withdrawn:
		return one("directed_withdrawn", "")
	case s.Formed:
		return one("directed_spent", "")
	case span.Closed(end, now):
		return one("directed_lapsed", "parties.offered_to.expires_at")
	case w.Get("agent").Text() != clientAgent:
		return one("directed_wrong_party", "parties.client.agent")
	}
	return nil
}

// CheckListing refuses, with listing_from_directed, a public listing that
// cites an offer made to one party (12.1.1).
func CheckListing(offer *Document) *Finding {
	if offer.Directed() {
		return one("listing_from_directed", "parties.offered_to")
	}
	return nil
}

// Counterparty is what was established about the agent in the client's seat.
// A nil member is a fact nobody established, which refuses.
type Counterparty struct {
	Subject    string // agent key the facts are about
	Registered *bool
	Offerings  *[]string
	Account    *bool
}

// RequiredAssertions returns the ids a countersign must assert, sorted (12.1).
func RequiredAssertions(qualifications jcs.Value) (out []string) {
	for _, q := range qualifications.Items() {
		if q.Get("kind").Text() == KindAsserted {
			out = append(out, q.Get("id").Text())
		}
	}
	slices.SortFunc(out, jcs.CompareUTF16)
	return out
}

// QualificationRefusal judges whether a counterparty meets an offer's
// conditions (12.1), nil if it does: first what it asserts, then what it must
// assert, then the facts. A met condition is no screen for sanctions, identity
// or tax. The finding's message quotes the condition.
func QualificationRefusal(qualifications jcs.Value, clientAgent string, asserted []string, facts *Counterparty) *Finding {
	if !qualifications.Exists() || qualifications.Kind() == jcs.Null {
		return nil
	}
	if f := AssertionRefusal(qualifications, asserted); f != nil {
		return f
	}
	list := entries(qualifications)
	condition := func(code Code, i int) *Finding { return unmet(code, list, i) }
	for i, q := range list {
		if q.Get("kind").Text() == KindAsserted {
			continue
		}
		if facts == nil {
			return condition("qualification_unchecked", i)
		}
		if facts.Subject != clientAgent {
			return condition("qualification_facts_subject", i)
		}
		met := facts.Registered
		switch q.Get("kind").Text() {
		case KindOffering:
			met = nil
			if facts.Offerings != nil {
				b := slices.Contains(*facts.Offerings, q.Get("offering").Text())
				met = &b
			}
		case KindAccount:
			met = facts.Account
		}
		if met == nil {
			return condition("qualification_unchecked", i)
		}
		if !*met {
			return condition("qualification_unmet", i)
		}
	}
	return nil
}

// unmet is the finding about one condition, which it quotes.
func unmet(code Code, list []jcs.Value, i int) *Finding {
	f := one(code, item("qualifications", i))
	f.Message += " The condition is " + quote(list[i].Get("id").Text()) + "."
	return f
}

// AssertionRefusal judges what a counterparty asserts about itself against an
// offer's conditions (12.1): sorted, only what is stated and asserted, nothing
// missing. It is the part a countersign can be judged by before anybody has
// gathered facts.
func AssertionRefusal(qualifications jcs.Value, asserted []string) *Finding {
	if !qualifications.Exists() || qualifications.Kind() == jcs.Null {
		return nil
	}
	c := &checker{}
	if c.qualifications(qualifications, "qualifications"); !c.found.OK() {
		return one("qualifications_unreadable", "qualifications")
	}
	byID := map[string]int{}
	list := entries(qualifications)
	for i, q := range list {
		byID[q.Get("id").Text()] = i
	}
	if !sorted(asserted) {
		return one("assertions_unsorted", "assertions")
	}
	for i, id := range asserted {
		at, ok := byID[id]
		switch {
		case !ok:
			return one("assertion_unknown", item("assertions", i))
		case list[at].Get("kind").Text() != KindAsserted:
			return one("assertion_of_checkable", item("assertions", i))
		}
	}
	for _, id := range RequiredAssertions(qualifications) {
		if !slices.Contains(asserted, id) {
			return unmet("assertion_missing", list, byID[id])
		}
	}
	return nil
}

// CheckGround returns refused_unstated_ground for a refusal of formation whose
// ground is no condition of the offer (12.1): it is allowed, and recorded.
func CheckGround(offer *Document, qualification string) *Finding {
	for _, q := range offer.v.Get("qualifications").Items() {
		if q.Get("id").Text() == qualification {
			return nil
		}
	}
	return one("refused_unstated_ground", "qualifications")
}

// Seat is a party as it fills a seat. Handle and Organization may be "".
type Seat struct {
	Agent, Owner, Handle, Organization string
}

// Fill is what completes an offer.
type Fill struct {
	Client   Seat
	StartsAt int64 // milliseconds since the epoch, written in whole seconds
	// EndsAt is computed from the offered months, or taken from the offer, if 0.
	EndsAt     int64
	Locations  map[string]string // of shared resources, by input name
	Assertions []string
	// Approval is the client's own record of its approval (6.1), nil for none: it
	// stands inside the signed bytes.
	Approval *Approval
}

// TermEnd adds months to an instant, both milliseconds; a day the last month
// does not have becomes its last day.
func TermEnd(start, months int64) int64 {
	t := time.UnixMilli(start).UTC()
	first := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).AddDate(0, int(min(months, 12000)), 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1).UnixMilli()
}

// Instance completes an offer into the version 1 document of a new engagement:
// seat filled, term set, terms otherwise the offer's own, an identifier minted
// from its bytes, and derived_from naming the offer. It carries no signature.
func Instance(offer *Document, f Fill) (*Document, error) {
	if !offer.BlankSeat() {
		return nil, errors.New("complete offer: its client seat is not blank")
	}
	if f.Client.Agent == "" || f.Client.Owner == "" {
		return nil, errors.New("complete offer: the client has no agent or no owner")
	}
	end := f.EndsAt
	if months, ok := posint(offer.v.Get("term_months")); end == 0 && ok {
		end = TermEnd(f.StartsAt, months)
	}
	if e, ok := instantOf(offer.v.Get("ends_at")); end == 0 && ok {
		end = e
	}
	if end <= f.StartsAt {
		return nil, errors.New("complete offer: the term has no end after its start")
	}
	o := objectOf(offer.v.Without("id", "signatures", "term_months"))
	o.set("version", []byte("1"))
	o.text("starts_at", span.UTC(f.StartsAt))
	o.text("ends_at", span.UTC(end))
	origin := object{}
	origin.text("standing_proposal", offer.ID())
	origin.set("version", []byte(strconv.FormatInt(offer.Version(), 10)))
	o.set("derived_from", origin.canonical())
	parties := objectOf(offer.v.Get("parties"))
	parties.set("client", f.Client.canonical())
	o.set("parties", parties.canonical())
	if len(f.Locations) > 0 {
		inputs, err := located(offer.v.Get("inputs"), f.Locations)
		if err != nil {
			return nil, err
		}
		o.set("inputs", inputs)
	}
	if len(f.Assertions) > 0 {
		o.set("assertions", textList(f.Assertions))
	}
	if f.Approval != nil {
		cc := objectOf(offer.v.Get("change_control"))
		cc.set("approvals", listOf(f.Approval.canonical()))
		o.set("change_control", cc.canonical())
	}
	o.text("id", mint(o.canonical()))
	return Parse(o.canonical())
}

// canonical writes the record as it stands in a document.
func (a Approval) canonical() []byte {
	o := object{}
	o.text("act", a.Act)
	o.text("authority", a.Authority)
	o.text("key", a.Key)
	o.text("approved_at", a.ApprovedAt)
	if a.Mandate != "" {
		o.text("mandate", a.Mandate)
	}
	return o.canonical()
}

// SHA256 names a record by its canonical form, 64 lower hex digits.
func (a Approval) SHA256() string {
	sum := sha256.Sum256(a.canonical())
	return hex.EncodeToString(sum[:])
}

func (s Seat) canonical() []byte {
	o := object{}
	o.text("agent", s.Agent)
	o.text("owner", s.Owner)
	if s.Handle != "" {
		o.text("handle", s.Handle)
	}
	if s.Organization != "" {
		o.text("organization", s.Organization)
	}
	return o.canonical()
}

func located(inputs jcs.Value, where map[string]string) ([]byte, error) {
	var list [][]byte
	used := 0
	for _, in := range inputs.Items() {
		o := objectOf(in)
		if place, ok := where[in.Get("name").Text()]; ok {
			if in.Get("kind").Text() != "shared_resource" || in.Get("location").Exists() {
				return nil, errors.New("complete offer: a location is given for an input that is no open resource")
			}
			o.text("location", place)
			used++
		}
		list = append(list, o.canonical())
	}
	if used != len(where) {
		return nil, errors.New("complete offer: a location is given for an input the offer does not have")
	}
	return listOf(list...), nil
}

// CheckInstance compares a completed document with its offer and names every
// member in which it differs where it may not: a filled seat, a term, an
// identifier, an origin, locations of resources, assertions and approvals may
// be added, everything else is the offer's own. What may be added has nothing
// but the members it is made of: it is the client who writes it, and nobody
// reads it before an offer completes.
func CheckInstance(offer, instance *Document) Findings {
	c := &checker{}
	differ := func(member string) { c.add("instance_differs_from_offer", member) }
	c.need(instance.Version() == 1, "instance_differs_from_offer", "version")
	if from := instance.v.Get("derived_from"); from.Exists() {
		n, _ := from.Get("version").Int()
		if from.Get("standing_proposal").Text() != offer.ID() || n != offer.Version() || from.Len() != 2 {
			differ("derived_from")
		}
	}
	free := []string{"id", "version", "derived_from", "starts_at", "ends_at", "term_months", "assertions", "signatures", "inputs"}
	var changes []Change
	diff(&changes, "", offer.v.Without(free...), instance.v.Without(free...))
	for _, ch := range changes {
		if !mayDiffer(ch) {
			differ(ch.Path)
		}
	}
	if seat := instance.v.Get("parties").Get("client"); seat.Exists() && seat.Kind() != jcs.Null && !onlyTexts(seat, "agent", "owner", "handle", "organization") {
		differ("parties.client")
	}
	signed := entries(offer.v.Get("change_control").Get("approvals"))
	for i, a := range instance.v.Get("change_control").Get("approvals").Items() {
		own := slices.ContainsFunc(signed, func(b jcs.Value) bool { return bytes.Equal(a.Canonical(), b.Canonical()) })
		if !own && !onlyTexts(a, "act", "authority", "key", "approved_at", "mandate") {
			differ(item("change_control.approvals", i))
		}
	}
	for _, member := range sameInputs(offer.v.Get("inputs"), instance.v.Get("inputs")) {
		differ(member)
	}
	if m := instance.v.Get("term_months"); m.Exists() && !bytes.Equal(m.Canonical(), offer.v.Get("term_months").Canonical()) {
		differ("term_months")
	}
	if list, ok := texts(instance.v.Get("assertions")); instance.v.Get("assertions").Exists() && (!ok || len(list) > 0 && offer.v.Get("qualifications").Len() == 0) {
		differ("assertions")
	}
	start, end, okS, okE := instance.Term()
	if months, ok := posint(offer.v.Get("term_months")); ok && okS && okE && end > TermEnd(start, months) {
		differ("ends_at")
	}
	if e, ok := instantOf(offer.v.Get("ends_at")); ok && e != end {
		differ("ends_at")
	}
	return c.found
}

// onlyTexts says that a value is an object of texts with no other member than
// those named.
func onlyTexts(v jcs.Value, names ...string) bool {
	ok := v.Kind() == jcs.Object
	for m := range v.Members() {
		ok = ok && isText(m.Value) && has(names, m.Name)
	}
	return ok
}

// sameInputs names the inputs in which a completed document differs from its
// offer, the addresses that were filled in apart.
func sameInputs(offered, filled jcs.Value) (out []string) {
	a, b := entries(offered), entries(filled)
	if len(a) != len(b) || offered.Kind() != filled.Kind() {
		return []string{"inputs"}
	}
	for i := range a {
		was, is := a[i], b[i]
		if l := is.Get("location"); !was.Get("location").Exists() && isText(l) {
			is = is.Without("location")
		}
		if !bytes.Equal(was.Canonical(), is.Canonical()) {
			out = append(out, item("inputs", i))
		}
	}
	return out
}

// mayDiffer reports a change a completed document may carry, as far as its place
// goes.
func mayDiffer(ch Change) bool {
	p := ch.Path
	return p == "parties.client" || strings.HasPrefix(p, "parties.client.") ||
		p == "change_control.approvals" || strings.HasPrefix(p, "change_control.approvals[")
}

// FormationFacts is what completing a formation knows beside the documents.
type FormationFacts struct {
	Now      int64
	Since    int64 // milliseconds since epoch: the earliest start that a request may state, or 0
	Status   OfferStatus
	Pins     Pins
	Facts    *Counterparty
	Approved *Finding // outcome of CheckGiven for the formation authority
}

// CheckStart returns start_in_the_past for a completed document whose start lies before an instant (12.1), in milliseconds since epoch.
func CheckStart(instance *Document, since int64) *Finding {
	if start, _, started, _ := instance.Term(); started && start < since {
		return one("start_in_the_past", "starts_at")
	}
	return nil
}

// RequestStands is the earliest instant at which a request that is answered now may have been made: an unanswered one lapses with the
// review window of the offer (12.1), one day where it states none. Milliseconds since epoch.
func RequestStands(offer *Document, now int64) int64 {
	days, ok := posint(offer.v.Get("change_control").Get("review_window_days"))
	if !ok {
		days = 1
	}
	return max(1, now-(span.AddDays(now, days)-now))
}

// CheckFormation judges a client's request to form under an offer, before the
// provider's fresh signature (12.1, 12.1.1): everything found, at once.
func CheckFormation(offer, instance *Document, f FormationFacts) Findings {
	c := &checker{}
	seats := instance.VerifySignatures(f.Pins)
	_, _, started, _ := instance.Term()
	for _, m := range []struct {
		ok     bool
		member string
	}{{!instance.BlankSeat(), "parties.client"}, {started, "starts_at"}, {seats.Client != nil, "signatures"}} {
		c.need(m.ok, "formation_incomplete", m.member)
	}
	if x := CheckStart(instance, f.Since); x != nil {
		c.found = append(c.found, *x)
	}
	c.found = append(c.found, CheckInstance(offer, instance)...)
	agent := instance.v.Get("parties").Get("client").Get("agent").Text()
	asserted, _ := texts(instance.v.Get("assertions"))
	for _, x := range []*Finding{
		DirectedRefusal(offer.v.Get("parties"), agent, f.Now, f.Status),
		QualificationRefusal(offer.v.Get("qualifications"), agent, asserted, f.Facts),
		f.Approved,
	} {
		if x != nil {
			c.found = append(c.found, *x)
		}
	}
	return c.found
}

// CheckCompleted judges a completed document that comes back from the
// provider: provider_signature_stale where its signature covers the offer and
// not the completed bytes, not_agreed where a seat has not signed (section 6,
// 12.1).
func CheckCompleted(offer, instance *Document, pins Pins) *Finding {
	s := instance.VerifySignatures(pins)
	if s.Agreed() {
		return nil
	}
	if s.Provider == nil {
		for _, r := range instance.v.Get("signatures").Items() {
			if r.Get("role").Text() == Provider && verify(r.Get("key"), r.Get("sig"), sowTag, offer.canonical) == "" {
				return one("provider_signature_stale", "signatures")
			}
		}
	}
	return one("not_agreed", "signatures")
}

// Book is what the owner remembers of counterparties.
type Book struct {
	Blocked []string          // keys of agents and owners the owner blocked
	Handles map[string]string // agent key by handle, as last confirmed
}

// CheckCounterparties compares a document's parties with what the owner
// remembers: blocked_locally (section 9), handle_rehomed (5.1, 10).
func (b Book) CheckCounterparties(d *Document) Findings {
	c := &checker{}
	for _, seat := range []string{Provider, Client, "offered_to"} {
		p := d.v.Get("parties").Get(seat)
		agent, handle := p.Get("agent").Text(), p.Get("handle").Text()
		path := at("parties", seat)
		c.need(agent == "" || !slices.Contains(b.Blocked, agent), "blocked_locally", path, "agent")
		if was, ok := b.Handles[handle]; ok && handle != "" && was != agent {
			c.add("handle_rehomed", at(path, "handle"))
		}
	}
	for _, r := range d.Signatures() {
		c.need(!slices.Contains(b.Blocked, r.Key), "blocked_locally", r.Member)
	}
	return c.found
}
