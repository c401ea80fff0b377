package approvals_test

import (
	"context"
	"testing"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/receipt"
)

// A decision that wants a passkey gets one, or comes to nothing: also where a click would do.
func TestDecisionThatWantsAPasskey(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	a := w.pair("Planner")
	if _, err := a.ask("r1", w.envelope(nil), payload("one"), true); err != nil {
		t.Fatal(err)
	}
	confirmed := func(s approvals.Sheet, v approvals.Verdict) (approvals.Outcome, error) {
		return w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: v, Confirm: true})
	}
	s := w.openFirst()
	signed := w.keys.signed.Load()
	if out, err := confirmed(s, approvals.VerdictApprove); err != nil || out.Code != approvals.OutcomeNoPasskey || w.keys.signed.Load() != signed {
		t.Fatalf("without a passkey: %+v, %v", out, err)
	}
	w.owner.Closed(s.ID)
	w.enrol()
	s = w.openFirst()
	if w.owner.Opened() != s.ID {
		t.Errorf("%q is open", w.owner.Opened())
	}
	if _, err := confirmed(s, approvals.VerdictDecline); err == nil {
		t.Error("a decline was taken as confirmed")
	}
	b.set(func(b *browser) { b.ends = "timed_out" })
	if out, err := confirmed(s, approvals.VerdictApprove); err != nil || out.Code != "timed_out" || w.keys.signed.Load() != signed {
		t.Fatalf("unanswered: %+v, %v", out, err)
	}
	b.set(func(b *browser) { b.ends = "" })
	opened := len(b.opens)
	if out, err := confirmed(s, approvals.VerdictApprove); err != nil || out.Code != approvals.OutcomeDone || len(b.opens) != opened+1 || w.keys.signed.Load() != signed+1 {
		t.Fatalf("%+v, %v, %d pages", out, err, len(b.opens)-opened)
	}
	if report := w.receiptOf(journal.KindActionSigned).Verify(receipt.Pins{}); !report.Valid || report.By != "passkey" {
		t.Errorf("%+v", report)
	}
}

// Looking at a row opens, records and moves nothing.
func TestLooking(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("Planner")
	for _, id := range []string{"r1", "r2"} {
		if _, err := a.ask(id, w.envelope(nil), payload(id), true); err != nil {
			t.Fatal(err)
		}
	}
	items, entries := w.owner.Inbox(), w.owner.Status().Entries
	for _, i := range items {
		s, err := w.owner.Look(context.Background(), i.ID)
		if err != nil || s.ID != i.ID || s.Action == nil {
			t.Fatalf("%+v, %v", s, err)
		}
		if out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove}); err != nil || out.Code != approvals.OutcomeChanged {
			t.Fatalf("decided on what was only looked at: %+v, %v", out, err)
		}
	}
	if now := w.owner.Inbox(); len(now) != 2 || now[0].ID != items[0].ID || w.owner.Status().Entries != entries || w.owner.Opened() != "" {
		t.Errorf("%+v, %d entries, %q open", now, w.owner.Status().Entries-entries, w.owner.Opened())
	}
	if _, err := w.owner.Look(context.Background(), "r_none"); err == nil {
		t.Error("a row that is not there was shown")
	}
}
