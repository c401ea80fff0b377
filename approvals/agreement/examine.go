package agreement

import (
	"fmt"
	"slices"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/derive/jcs"
)

// examine collects every finding.
func (h *Held) examine() {
	book := sow.Book{Handles: map[string]string{}}
	for _, x := range h.Docs {
		for _, role := range []string{sow.Provider, sow.Client, "offered_to"} {
			p, ok := x.Doc.Party(role)
			if !ok {
				continue
			}
			if h.Log.Blocked[p.Agent] {
				book.Blocked = append(book.Blocked, p.Agent)
			}
			if _, looked := book.Handles[p.Handle]; p.Handle == "" || looked {
				continue
			}
			if was, ok := h.Handles[p.Handle]; ok {
				book.Handles[p.Handle] = was
				if was != p.Agent {
					h.View.Rehomed = append(h.View.Rehomed, RehomedView{p.Handle, was, p.Agent})
					h.View.Row.Rehomed = true
				}
			}
		}
		for _, r := range x.Doc.Signatures() {
			if h.Log.Blocked[r.Key] {
				book.Blocked = append(book.Blocked, r.Key)
			}
		}
	}
	h.View.Deployment, h.View.OwnDeployment = h.Deployment, h.OwnDeployment
	manifest := h.manifest()
	otherOpen := func(x *Document) bool {
		return slices.ContainsFunc(h.Docs, func(y *Document) bool {
			return y != x && y.View.State == sow.AmendmentProposed && y.View.Outcome == ""
		})
	}
	var ours []string
	for _, s := range h.Log.Seats {
		ours = append(ours, s.Key)
	}
	for _, x := range h.Docs {
		v := &x.View
		authoring := x.authored()
		v.Findings = x.Doc.Validate(sow.Options{
			Authoring: authoring, Manifest: manifest, Ours: ours, Languages: h.Texts,
			Made: func(a jcs.Value) bool { return h.approvedHere(x, a) },
		})
		v.Findings = append(v.Findings, v.Seats.Findings...)
		v.Findings = append(v.Findings, x.Doc.CheckGrades(h.Deployment, authoring)...)
		v.Findings = append(v.Findings, book.CheckCounterparties(x.Doc)...)
		if h.InForce != nil && x != h.InForce {
			if v.Version < h.InForce.View.Version && v.State != sow.Amended {
				if f := sow.CheckVersion(x.Doc, h.InForce.View.Version, nil); f != nil {
					v.Findings = append(v.Findings, *f)
				}
			} else if v.Version > h.InForce.View.Version {
				v.Findings = append(v.Findings, sow.CheckAmendment(h.InForce.Doc, x.Doc, otherOpen(x) && v.Outcome == "")...)
				v.Findings = append(v.Findings, reservation(h.InForce.Doc, x.Doc, h.Deployment.ClearingHolds)...)
			}
		}
		if x == h.InForce && h.capClaimed(x.Doc) {
			if price, f := x.Doc.Price(); f.OK() {
				if c := sow.CapReached(price, price.Cap, nil); c != nil {
					c.Severity, c.Message = sow.Warning, "Settlement records that nobody has signed add up to the cap. That it is reached is their claim."
					c.Remedy = "Ask the operator for what was settled; the engagement goes on until that is known."
					v.Findings = append(v.Findings, *c)
				}
			}
		}
		if v.Outcome == "lapsed" && h.InForce != nil {
			if f := sow.CheckReview(h.InForce.Doc, v.ProposedAt, h.Now); f != nil {
				v.Findings = append(v.Findings, *f)
			}
		}
		if x.Doc.BlankSeat() && x.Doc.Directed() {
			p, _ := x.Doc.Party("offered_to")
			spent := h.Log.Document(v.Digest).Formed > 0
			if f := sow.DirectedRefusal(x.Doc.Get("parties"), p.Agent, h.Now, sow.OfferStatus{Withdrawn: x.Closed == "withdrawn", Formed: spent}); f != nil {
				v.Findings = append(v.Findings, *f)
			}
		}
		if _, request := h.Fact(FactLockedAsk, v.Digest); request {
			if f := h.Backdated(x); f != nil {
				f.Severity = sow.Warning // the owner may complete it
				v.Findings = append(v.Findings, *f)
			}
		}
		for _, f := range []*sow.Finding{h.language(x.Doc), h.stale(x), h.arbiter(x.Doc)} {
			if f != nil {
				v.Findings = append(v.Findings, *f)
			}
		}
		v.Grades = x.Doc.Grades(h.Deployment)
		move := journal.MoveCountersign
		switch {
		case x.Doc.BlankSeat():
			move = journal.MovePublish
		case v.Version > 1:
			move = journal.MoveApprove
		}
		v.Needed = facts.Authority(move, x.Doc, h.inForceDoc(), h.Log.Floor)
		for _, act := range []string{"formation", "amendment"} {
			if i, ok := h.Log.Intents[IntentKey(v.Digest, act)]; ok {
				v.Given = append(v.Given, IntentView{Act: act, Key: i.Key, At: i.At})
			}
		}
	}
}

// clockApart is how far the clocks of two owners may be apart, in milliseconds.
const clockApart = 5 * 60 * 1000

// Backdated returns start_in_the_past for a request to form whose start had passed when it came here (12.1).
func (h *Held) Backdated(x *Document) *sow.Finding {
	return sow.CheckStart(x.Doc, x.View.ProposedAt-clockApart)
}

// authored says whether a document was made here and has not been signed by anybody else.
func (x *Document) authored() bool {
	return x.View.Copies[0].From.Kind == "own" && !x.Theirs && !x.Doc.Get("derived_from").Exists()
}

func (h *Held) inForceDoc() *sow.Document {
	if h.InForce == nil {
		return nil
	}
	return h.InForce.Doc
}

// approvedHere says whether an approval record under a key of ours was made by this vault: one that the log shows, or the one in a
// document that is being made here.
func (h *Held) approvedHere(x *Document, a jcs.Value) bool {
	if h.Log.Approved[permit.SHA256(a.Canonical())] {
		return true
	}
	return x.View.Copies[0].From.Kind == "own" && !x.Signed && !x.Theirs
}

// manifest is the newest one brought of the provider's agent.
func (h *Held) manifest() *sow.Manifest {
	p, _ := h.Docs[0].Doc.Party(sow.Provider)
	for i := len(h.Records) - 1; i >= 0; i-- {
		if RecordKind(h.Records[i].Kind) == RecordManifest {
			if m, err := sow.ParseManifest(h.Records[i].Raw); err == nil && m.Agent == p.Agent {
				return m
			}
		}
	}
	return nil
}

// language compares the contract language with a document that named the same version before. One that nobody here has signed is
// remarked on, and keeps nothing from being signed.
func (h *Held) language(doc *sow.Document) *sow.Finding {
	named := h.Languages[LanguageKey(doc)]
	if named.Doc == nil {
		return nil
	}
	f := sow.LanguageConflict(named.Doc, doc)
	if f != nil && !named.Signed {
		f.Severity = sow.Warning
	}
	return f
}

// LanguageKey names the contract language of a document with its version, "" where it names none.
func LanguageKey(doc *sow.Document) string {
	l := doc.Get("language")
	n, ok := l.Get("version").Int()
	if id := l.Get("id").Text(); id != "" && ok {
		return fmt.Sprintf("%s %d", id, n)
	}
	return ""
}

// arbiter tests the named arbiter's independence against the engagements that are known here (5.10.1).
func (h *Held) arbiter(doc *sow.Document) *sow.Finding {
	agent := doc.Get("disputes").Get("arbiter").Get("agent").Text()
	if agent == "" {
		return nil
	}
	var facts sow.ArbiterFacts
	provider, _ := doc.Party(sow.Provider)
	client, _ := doc.Party(sow.Client)
	pin := func(a string) string { return h.Log.Pins[a].Key }
	facts.SharesOwner = agent == provider.Agent || agent == client.Agent || pin(agent) != "" && (pin(agent) == pin(provider.Agent) || pin(agent) == pin(client.Agent))
	for _, x := range h.Arbiters[agent] {
		if x.ID == h.ID || x.Provider.Agent != agent && x.Client.Agent != agent {
			continue
		}
		with := func(p sow.Seat) bool {
			return p.Agent != "" && (p.Agent == x.Provider.Agent || p.Agent == x.Client.Agent)
		}
		if with(provider) || with(client) {
			end := h.Now
			if x.State.Ended() && x.EndsAt > 0 {
				end = min(end, x.EndsAt)
			}
			if !facts.Engaged.Set || end > facts.Engaged.N {
				facts.Engaged = money.Some(end)
			}
		}
	}
	return doc.CheckArbiter(facts, h.Now)
}

// stale returns provider_signature_stale for a completed document that carries the provider's signature of the offer: it does not
// cover what was filled in (section 6, 12.1).
func (h *Held) stale(x *Document) *sow.Finding {
	_, digest, ok := h.Formed()
	if !ok || x.View.Version != 1 || x.View.Seats.Provider != nil || x.Doc.Get("signatures").Len() == 0 {
		return nil
	}
	for _, c := range h.Offer {
		offer, err := sow.Parse(c.Raw)
		if err != nil || c.Digest != digest {
			continue
		}
		if f := sow.CheckCompleted(offer, x.Doc, h.Pins); f != nil && f.Code == "provider_signature_stale" {
			return f
		}
		return nil
	}
	return nil
}
