package sow_test

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"testing"

	"vault/approvals/sow"
	"vault/internal/samplekey"
)

// signed is an act about the fixed fee engagement, changed and then signed by
// the owner of a label.
func signed(t testing.TB, kind sow.ActKind, label string, change func(*sow.ActFields)) *sow.Act {
	t.Helper()
	k, key := samplekey.Of(t, label)
	f := act(t, kind)
	f.Key = key
	change(&f)
	a, err := sow.NewAct(f)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = a.WithSignature(ed25519.Sign(k, a.Signed())); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestJudge: the judgement beside the facts, and what counts for neither.
func TestJudge(t *testing.T) {
	d := good(t, fixedFee)
	review := func(ground, at string) *sow.Act {
		return signed(t, sow.Review, "owner/saltmarsh", func(f *sow.ActFields) { f.Ground, f.At = ground, at })
	}
	probe := func(at string, passed bool) *sow.Act {
		return signed(t, sow.Probe, "owner/copperline", func(f *sow.ActFields) {
			f.Role, f.At = sow.Provider, at
			if passed {
				f.Inputs = f.Inputs[:1]
			}
		})
	}
	inForm := []sow.Artifact{{Name: "reconciliation-report", MediaType: "application/pdf"}, {Name: "exceptions", MediaType: "application/json"}}
	unsigned, err := sow.NewAct(act(t, sow.Review))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		brought             sow.Brought
		probe, form, review sow.Outcome
		reviews             int
	}{
		"nothing":                          {sow.Brought{}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
		"nothing was delivered":            {sow.Brought{Delivered: []sow.Artifact{}}, sow.NotReported, sow.Failed, sow.NotReported, 0},
		"rejected, and in form":            {sow.Brought{Delivered: inForm, Acts: []*sow.Act{review("rejection", "2026-11-01T09:00:00Z")}}, sow.NotReported, sow.Passed, sow.Rejected, 1},
		"accepted, and not in form":        {sow.Brought{Delivered: inForm[:1], Acts: []*sow.Act{review("acceptance", "2026-11-01T09:00:00Z")}}, sow.NotReported, sow.Failed, sow.Accepted, 1},
		"a changed mind":                   {sow.Brought{Acts: []*sow.Act{review("acceptance", "2026-11-03T09:00:00Z"), review("rejection", "2026-11-02T09:00:00Z")}}, sow.NotReported, sow.NotReported, sow.Accepted, 2},
		"a review nobody signed":           {sow.Brought{Acts: []*sow.Act{unsigned}}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
		"a review by another key":          {sow.Brought{Acts: []*sow.Act{signed(t, sow.Review, "owner/gable", func(*sow.ActFields) {})}}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
		"the provider reviews itself":      {sow.Brought{Acts: []*sow.Act{signed(t, sow.Review, "owner/copperline", func(f *sow.ActFields) { f.Role = sow.Provider })}}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
		"a review of another version":      {sow.Brought{Acts: []*sow.Act{signed(t, sow.Review, "owner/saltmarsh", func(f *sow.ActFields) { f.Version = 2 })}}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
		"a probe that was run again":       {sow.Brought{Acts: []*sow.Act{probe("2026-09-02T00:00:00Z", true), probe("2026-09-01T00:00:00Z", false)}}, sow.Passed, sow.NotReported, sow.NotReported, 0},
		"a probe that went wrong later":    {sow.Brought{Acts: []*sow.Act{probe("2026-09-02T00:00:00Z", false), probe("2026-09-01T00:00:00Z", true)}}, sow.Failed, sow.NotReported, sow.NotReported, 0},
		"a probe the client made up":       {sow.Brought{Acts: []*sow.Act{signed(t, sow.Probe, "owner/saltmarsh", func(*sow.ActFields) {})}}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
		"a denial is none of these things": {sow.Brought{Acts: []*sow.Act{signed(t, sow.Denial, "owner/saltmarsh", func(*sow.ActFields) {})}}, sow.NotReported, sow.NotReported, sow.NotReported, 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := d.Judge(c.brought, pins(t))
			if j.Probe != c.probe || j.Form != c.form || j.Review != c.review || len(j.Reviews) != c.reviews {
				t.Errorf("probe %s, form %s, review %s, %d reviews", j.Probe, j.Form, j.Review, len(j.Reviews))
			}
			if (j.Form == sow.NotReported || j.Probe == sow.NotReported) != j.Findings.Has("not_reported") ||
				(j.Review == sow.NotReported) != j.Findings.Has("silence_is_no_acceptance") {
				t.Errorf("findings are %v", j.Findings)
			}
			if none := d.Judge(c.brought, sow.Pins{}); none.Probe != sow.NotReported || none.Review != sow.NotReported {
				t.Error("an act counts whose key nobody knows")
			}
		})
	}
}

func TestOffer(t *testing.T) {
	last, over := ms(t, "2026-11-30T23:59:59Z"), ms(t, "2026-12-01T00:00:00Z")
	ends := document(t, edit(t, doc(t, open), "ends_at", "2027-01-01T00:00:00Z"))
	for name, c := range map[string]struct {
		doc             *sow.Document
		now             int64
		status          sow.OfferStatus
		dep             sow.Deployment
		open, exclusive bool
		why             sow.Code
	}{
		"to the market":                     {good(t, open), over, sow.OfferStatus{}, everything, true, false, ""},
		"to the market, formed before":      {good(t, open), over, sow.OfferStatus{Formed: true}, everything, true, false, ""},
		"to the market, withdrawn":          {good(t, open), over, sow.OfferStatus{Withdrawn: true}, everything, false, false, "directed_withdrawn"},
		"to the market, before its end":     {ends, ms(t, "2026-12-31T23:59:59Z"), sow.OfferStatus{}, everything, true, false, ""},
		"to the market, at its end":         {ends, ms(t, "2027-01-01T00:00:00Z"), sow.OfferStatus{}, everything, false, false, "lapsed"},
		"to one party":                      {good(t, directedOffer), last, sow.OfferStatus{}, everything, true, true, ""},
		"to one party, nobody checks":       {good(t, directedOffer), last, sow.OfferStatus{}, sow.Deployment{}, true, false, "offer_not_exclusive"},
		"to one party, over":                {good(t, directedOffer), over, sow.OfferStatus{}, everything, false, false, "directed_lapsed"},
		"to one party, withdrawn":           {good(t, directedOffer), last, sow.OfferStatus{Withdrawn: true}, everything, false, false, "directed_withdrawn"},
		"to one party, spent":               {good(t, directedOffer), last, sow.OfferStatus{Formed: true}, everything, false, false, "directed_spent"},
		"to one party, with no end":         {document(t, edit(t, doc(t, directedOffer), "parties.offered_to.expires_at", drop{})), last, sow.OfferStatus{}, everything, false, false, "directed_unbounded"},
		"to a party that cannot be read":    {document(t, edit(t, doc(t, directedOffer), "parties.offered_to", json.RawMessage(`[]`))), last, sow.OfferStatus{}, everything, false, false, "directed_unreadable"},
		"an engagement, which is no offer":  {good(t, fixedFee), last, sow.OfferStatus{}, everything, false, false, "formation_incomplete"},
		"one party, and two offers of term": {document(t, edit(t, doc(t, directedOffer), "ends_at", "2026-11-30T23:59:59Z")), last, sow.OfferStatus{}, everything, false, false, "lapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.doc.Offer(c.now, c.status, c.dep)
			if o.Open != c.open || o.Exclusive != c.exclusive || (o.Why == nil) != (c.why == "") || o.Why != nil && o.Why.Code != c.why {
				t.Errorf("open %v, exclusive %v, %+v", o.Open, o.Exclusive, o.Why)
			}
		})
	}
}

func TestAgent(t *testing.T) {
	d := good(t, fixedFee)
	p, _ := d.Party(sow.Client)
	if f := d.CheckAgent(sow.Client, p.Agent); f != nil {
		t.Errorf("the agent named: %v", f)
	}
	for name, f := range map[string]*sow.Finding{
		"the other seat's": d.CheckAgent(sow.Provider, p.Agent), "the handle": d.CheckAgent(sow.Client, p.Handle),
		"nobody": d.CheckAgent(sow.Client, ""), "a blank seat": good(t, open).CheckAgent(sow.Client, p.Agent),
		"a seat without an agent": document(t, []byte(`{"parties":{"client":{}}}`)).CheckAgent(sow.Client, ""),
	} {
		if f == nil || f.Code != "agent_key_mismatch" {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestOpenGrants(t *testing.T) {
	members := func(f sow.Findings) (out []string) {
		for _, x := range f {
			out = append(out, x.Member)
		}
		return out
	}
	for _, s := range []sow.State{sow.Lapsed, sow.Exhausted, sow.Terminated} {
		if got := members(good(t, fixedFee).OpenGrants(s)); !slices.Equal(got, []string{"inputs[2]"}) {
			t.Errorf("%s: %v", s, got)
		}
	}
	for _, s := range []sow.State{sow.Agreed, sow.Active, sow.Amended, sow.StandingProposal} {
		if got := good(t, fixedFee).OpenGrants(s); len(got) != 0 {
			t.Errorf("%s: %v", s, got)
		}
	}
	for via, stays := range map[string]bool{`"link"`: true, `"seat"`: true, `"fax"`: true, `"oauth"`: false, `"api_token"`: false, `"proxy"`: false, `"mcp"`: false} {
		if got := edited(t, fixedFee, "inputs[2].via", via).OpenGrants(sow.Lapsed); (len(got) == 1) != stays {
			t.Errorf("%s: %v", via, got)
		}
	}
}
