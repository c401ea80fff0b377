package approvals_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/permit"
)

// TestSaidInAdvanceIsAsked: what a sheet says in advance about a passkey is what the key process then asks, for rules of
// every kind, on signatures and on every way to resolve a moment.
func TestSaidInAdvanceIsAsked(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	a := w.pair("Agent")
	w.enrol()
	domain := w.owner.Domains()[0].Hash
	with := w.envelope(nil)
	half := append(append([]byte(`[{"option":0,"action":`+shipText+`,"sign_with":`), with...), []byte(`}]`)...)
	opens := func() (n int) { b.set(func(b *browser) { n = len(b.opens) }); return n }

	asked, clicked := 0, 0
	decide := func(t *testing.T, s approvals.Sheet, d approvals.Decision) {
		t.Helper()
		want := s.AsksPasskey(d.Verdict, d.Option, w.owner.Policy(), len(w.owner.Passkeys()))
		d.ID, d.Digest = s.ID, s.Digest
		before := opens()
		out, err := w.owner.Decide(context.Background(), d)
		if err != nil || out.Code != approvals.OutcomeDone && out.Code != approvals.OutcomeDeclined {
			t.Fatalf("%+v, %v", out, err)
		}
		if got := opens() > before; got != want {
			t.Errorf("%s %d: said %v, a passkey was asked for: %v", d.Verdict, d.Option, want, got)
		}
		if want {
			asked++
		} else {
			clicked++
		}
	}
	n := 0
	for _, r := range []permit.Rule{
		{},
		{Scope: permit.ScopeEvery}, {Scope: permit.ScopeAction}, {Scope: permit.ScopeMoment},
		{Scope: permit.ScopeEvery, Client: a.id}, {Scope: permit.ScopeEvery, Client: "c_00000000000000ff"},
		{Scope: permit.ScopeEvery, Domain: domain}, {Scope: permit.ScopeMoment, Domain: "0x" + fmt.Sprintf("%064x", 7)},
		{Scope: permit.ScopeEvery, Operation: "send-message"}, {Scope: permit.ScopeMoment, Operation: "other"}, {Scope: permit.ScopeAction, Operation: "other"},
		{Scope: permit.ScopeEvery, Resource: "channel:support"}, {Scope: permit.ScopeAction, Resource: "other"},
		{Scope: permit.ScopeMoment, Unseen: true}, {Scope: permit.ScopeMoment, Class: "shipping"}, {Scope: permit.ScopeMoment, Class: "other"},
	} {
		p := permit.Policy{Ordinary: []string{"shipping"}}
		if r.Scope != "" {
			p.Rules = append(p.Rules, r)
		}
		if out, err := w.owner.SetPolicy(context.Background(), p); err != nil || out.Code != approvals.OutcomeDone {
			t.Fatalf("%+v, %v", out, err)
		}
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			n++
			w.clock.pass(time.Minute) // an agent asks no faster
			w.owner.Touch()
			if _, err := a.ask(fmt.Sprint("r", n), with, payload(fmt.Sprint(n)), true); err != nil {
				t.Fatal(err)
			}
			decide(t, w.openFirst(), approvals.Decision{Verdict: approvals.VerdictApprove})
			for i, d := range []approvals.Decision{
				{Verdict: approvals.VerdictOption, Option: 0}, {Verdict: approvals.VerdictOption, Option: 1}, {Verdict: approvals.VerdictAnswer, Answer: "Not yet."},
				{Verdict: approvals.VerdictQuestion}, {Verdict: approvals.VerdictDecline},
			} {
				meta := ""
				if i%2 == 1 {
					meta = `{"decision_class":"shipping"}`
				}
				a.laid(fmt.Sprint("s", n), momentText(t, fmt.Sprintf("Ship %d of %d?", i, n), "", meta), half)
				decide(t, w.openFirst(), d)
			}
		})
	}
	if asked == 0 || clicked == 0 {
		t.Errorf("%d asked, %d clicked: the rules tell nothing apart", asked, clicked)
	}
	// Pairing and granting are asked for whatever the rules say; declining never is.
	for v, want := range map[approvals.Verdict]bool{approvals.VerdictGrant: true, approvals.VerdictDecline: false, approvals.VerdictDeclineBlock: false} {
		if _, err := a.ask("last "+string(v), with, payload(string(v)), true); err != nil {
			t.Fatal(err)
		}
		s := w.openFirst()
		if got := s.AsksPasskey(v, 0, permit.Policy{}, 1); got != want {
			t.Errorf("%s: %v", v, got)
		}
		w.decide(s, approvals.VerdictDecline)
	}
}
