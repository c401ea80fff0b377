package approvals_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/approvals/journal"
	"vault/approvals/permit"
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
	if _, err := confirmed(s, approvals.VerdictDeclineBlock); err == nil {
		t.Error("a block was taken as confirmed")
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

// asksToPair has a program ask to be paired, and leaves it waiting.
func (w *world) asksToPair(name string) approvals.Conversation {
	w.t.Helper()
	peer := approvals.Peer{UserID: 1000, Executable: "/usr/bin/agent"}
	if w.peer.UserID != 0 {
		peer = w.peer
	}
	conv, _, err := w.agents.Hello(context.Background(), peer, "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(conv.Close)
	var nonce handshake.Nonce
	copy(nonce[:], name)
	offer, err := conv.PairBegin(context.Background(), approvals.PairAsk{Claimed: name, Commitment: handshake.Commit(nonce)})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := conv.PairReveal(context.Background(), offer.Pairing, nonce[:]); err != nil {
		w.t.Fatal(err)
	}
	return conv
}

// A decline that wants a passkey comes to nothing without one, and carries its record where it got one: of a signature,
// of a pairing, and of a moment. A decline by click asks for none.
func TestConfirmedDecline(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	a := w.pair("Planner")
	asked := 0
	decline := func(s approvals.Sheet, confirm bool) string {
		t.Helper()
		out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictDecline, Confirm: confirm})
		if err != nil {
			t.Fatal(err)
		}
		return out.Code
	}
	sheet := func(kind approvals.ItemKind) approvals.Sheet {
		t.Helper()
		switch kind {
		case approvals.ItemAction:
			asked++
			if _, err := a.ask(fmt.Sprintf("r%d", asked), w.envelope(nil), payload(fmt.Sprint(asked)), true); err != nil {
				t.Fatal(err)
			}
		case approvals.ItemMoment:
			asked++
			a.laid("s1", momentText(t, fmt.Sprintf("Which of %d?", asked), "", ""), behind(w.envelope(nil)))
		case approvals.ItemPairing:
			w.asksToPair(fmt.Sprint("Other ", asked))
		}
		s := w.openFirst()
		if s.Kind != kind {
			t.Fatalf("a sheet of %s, not of %s", s.Kind, kind)
		}
		return s
	}
	s := sheet(approvals.ItemAction)
	if got := decline(s, true); got != approvals.OutcomeNoPasskey {
		t.Fatalf("without a passkey: %s", got)
	}
	w.owner.Closed(s.ID)
	w.enrol()
	if got := decline(w.openFirst(), true); got != approvals.OutcomeDeclined {
		t.Fatal(got)
	}
	for _, c := range []struct {
		kind  approvals.ItemKind
		entry journal.Kind
	}{
		{approvals.ItemAction, journal.KindRequestAnswered}, {approvals.ItemPairing, journal.KindRequestAnswered}, {approvals.ItemMoment, journal.KindMomentDeclined},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			s := sheet(c.kind)
			entries := w.entries(string(c.entry))
			b.set(func(b *browser) { b.ends = "cancelled" })
			if got := decline(s, true); got != "cancelled" || w.entries(string(c.entry)) != entries {
				t.Fatalf("cancelled: %s", got)
			}
			b.set(func(b *browser) { b.ends = "" })
			pages := len(b.opens)
			if got := decline(s, true); got != approvals.OutcomeDeclined || w.entries(string(c.entry)) != entries+1 || len(b.opens) != pages+1 {
				t.Fatalf("%s, %d pages", got, len(b.opens)-pages)
			}
			r := w.receiptOf(c.entry)
			if report := r.Verify(receipt.Pins{Card: w.card()}); !report.Valid || !report.PasskeyPinned || report.By != "passkey" {
				t.Errorf("%+v", report)
			}
			pages = len(b.opens)
			if got := decline(sheet(c.kind), false); got != approvals.OutcomeDeclined || len(b.opens) != pages {
				t.Fatalf("by click: %s, %d pages", got, len(b.opens)-pages)
			}
			if report := w.receiptOf(c.entry).Verify(receipt.Pins{}); !report.Valid || report.By != "" {
				t.Errorf("by click: %+v", report)
			}
		})
	}
	w.verified()
	// The agent is told a no, like any other.
	if _, err := a.ask("r1", w.envelope(nil), payload("1"), true); code(err) != approvals.CodeDeclined {
		t.Errorf("told %v", err)
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

// Two ceremonies for rows of unpaired programs that nobody answers make the next one wait, whatever the programs call
// themselves; those of another user of the machine, and of a paired program, do not wait with them.
func TestCoolDownOfPairings(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	w.enrol()
	a := w.pair("Planner")
	approve := func(name, want string) {
		t.Helper()
		s := w.openFirst()
		if s.Pairing == nil {
			t.Fatalf("%+v", s)
		}
		out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove, Name: name})
		if err != nil || out.Code != want {
			t.Fatalf("%s: %+v, %v; want %s", name, out, err, want)
		}
		w.owner.Closed(s.ID)
	}
	ends := func(outcome string) { b.set(func(b *browser) { b.ends = outcome }) }
	first := w.asksToPair("One")
	ends("not_opened")
	approve("One", "not_opened")
	first.Close()
	second := w.asksToPair("Two") // another connection, with another name
	ends("timed_out")
	approve("Two", "timed_out")
	second.Close()
	ends("")
	w.asksToPair("Three")
	opened := len(b.opens)
	approve("Three", approvals.OutcomeCooling)
	if len(b.opens) != opened {
		t.Error("a page was opened all the same")
	}
	// A decline by click waits for nothing.
	if out := w.decide(w.openFirst(), approvals.VerdictDecline); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("%+v", out)
	}
	// Others are not concerned.
	w.peer = approvals.Peer{UserID: 1001, Executable: "/usr/bin/agent"}
	w.asksToPair("Four")
	approve("Four", approvals.OutcomeDone)
	w.peer = approvals.Peer{}
	rule := permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery, Client: a.id}}}
	if out, err := w.owner.SetPolicy(context.Background(), rule); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, err := a.ask("r1", w.envelope(nil), payload("one"), true); err != nil {
		t.Fatal(err)
	}
	if out := w.decide(w.openFirst(), approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	// It ends by itself, and an answer begins the count anew.
	w.clock.pass(5*time.Minute + time.Second)
	w.asksToPair("Five")
	approve("Five", approvals.OutcomeDone)
	ends("page_closed")
	w.asksToPair("Six")
	approve("Six", "page_closed")
	ends("cancelled")
	approve("Six", "cancelled") // somebody was there
	ends("page_closed")
	approve("Six", "page_closed")
	ends("")
	approve("Six", approvals.OutcomeDone)
}
