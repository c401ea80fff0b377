package approvals_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/internal/samplekey"
)

// TestIntentOfTheOtherSide: while nothing says which seat is the owner's, no agent's part is taken: the other side's agent would fill
// the one place there is.
func TestIntentOfTheOtherSide(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	offer := offerOf(t, `"review_window_days": 7,`, `"review_window_days": 7, "approval": {"formation": "agent_then_person"},`)
	doc := parsed(t, requested(t, offer, "owner/gable", ourAgent, w.clock.Now()).Canonical())
	bring := func(req, agent, key string) submitted {
		k, _ := samplekey.Of(t, agent)
		_, got := a.submit(approvals.SoWAsk{RequestID: req, Document: doc.Raw(), Intent: sow.SignatureText(ed25519.Sign(k, doc.Intent("formation"))), IntentKey: key})
		return got
	}
	got := bring("i1", "agent/orrery", orreryAgent)
	if got.Code != approvals.CodeUnknownSeat {
		t.Fatalf("the other side's agent: %+v", got)
	}
	if got = bring("i2", "agent/assayer", ourAgent); got.Code != approvals.CodeUnknownSeat {
		t.Fatalf("nobody knows that it is ours: %+v", got)
	}
	if v := w.engagement(got.Engagement); v.Role != "" || len(v.Versions[0].Given) != 0 {
		t.Fatalf("%s, %+v", v.Role, v.Versions[0].Given)
	}
	w.pinKey(orreryAgent, "owner/inkwell")
	out, err := w.owner.SignSoW(context.Background(), approvals.Signing{Engagement: got.Engagement, Digest: doc.Digest(), Move: "propose", Role: sow.Client})
	if err != nil || out.Code != agreement.CodeIntentMissing {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := bring("i3", "agent/orrery", orreryAgent); got.Code != "signature_invalid" {
		t.Fatalf("%+v", got)
	}
	if got := bring("i4", "agent/assayer", ourAgent); got.Code != "" {
		t.Fatalf("%+v", got)
	}
	if v := w.engagement(got.Engagement); v.Role != sow.Client || len(v.Versions[0].Given) != 1 || v.Versions[0].Given[0].Key != ourAgent {
		t.Fatalf("%s, %+v", v.Role, v.Versions[0].Given)
	}
}

// TestRoleByAStranger: a valid signature by a key that nobody knows says nothing of which seat is the owner's. The owner says it, or
// pins a key that has signed.
func TestRoleByAStranger(t *testing.T) {
	for _, role := range []string{sow.Provider, sow.Client} {
		t.Run(role, func(t *testing.T) {
			w := owned(t)
			doc := parsed(t, requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now()).Canonical())
			id := w.brought(signAs(t, doc, role, "owner/gable").Raw()).Engagement
			v := w.engagement(id)
			if v.Role != "" || v.SeatFixed || !slices.Contains(v.Waiting, agreement.WaitCountersign) {
				t.Fatalf("role %q, waiting %v", v.Role, v.Waiting)
			}
			if m := w.moveOf(v, "countersign", doc.Digest()); m.Blocked != agreement.CodeNotPinned {
				t.Fatalf("%+v", m)
			}
			w.moveOf(v, "pin", doc.Digest())
			w.pinKey(orreryAgent, "owner/inkwell")
			if v = w.engagement(id); v.Role != "" {
				t.Fatalf("a pin alone: role %q", v.Role)
			}
			blocked, code := "", approvals.CodeUnknownSeat
			if role == sow.Provider { // whose seat somebody else has signed
				blocked, code = "signer_not_owner", "signer_not_owner"
			}
			if m := w.moveOf(v, "countersign", doc.Digest()); m.Blocked != blocked {
				t.Fatalf("%+v", m)
			}
			w.signSoW(code, id, doc.Digest(), "countersign")
			w.brought(signAs(t, doc, sow.Provider, "owner/inkwell").Raw())
			want := sow.Client
			if role == sow.Client {
				want = "" // somebody else's signature stands on the seat that would be ours: the owner says
			}
			if v = w.engagement(id); v.Role != want || v.SeatFixed {
				t.Fatalf("role %q, want %q", v.Role, want)
			}
			out, err := w.owner.SignSoW(context.Background(), approvals.Signing{Engagement: id, Digest: doc.Digest(), Move: "countersign", Role: sow.Client})
			if err != nil || out.Code != approvals.OutcomeDone {
				t.Fatalf("%+v, %v", out, err)
			}
			if v = w.engagement(id); v.Role != sow.Client || v.State != sow.Active {
				t.Fatalf("%+v", v.Row)
			}
		})
	}
}

// TestRefusalAfterAgreement: what takes back or refuses a document that both have signed comes too late: it changes nothing, is not noted,
// and is listed as ignored with the reason.
func TestRefusalAfterAgreement(t *testing.T) {
	w := owned(t)
	id, done := w.running()
	before := w.engagement(id)
	for _, f := range []sow.ActFields{
		{Kind: sow.FormationRefusal, Role: sow.Provider, Reason: "we are full"},
		{Kind: sow.Withdrawal, Role: sow.Provider},
		{Kind: sow.Denial, Role: sow.Provider, Reason: "no"},
	} {
		w.brought(theirAct(t, done, "owner/inkwell", f), id)
		v := w.engagement(id)
		r := v.Records[len(v.Records)-1]
		if string(r.Kind) != string(f.Kind) || !r.Verified || r.Ignored != agreement.CodeTooLate {
			t.Errorf("%s: %+v", f.Kind, r)
		}
		if v.State != sow.Active || v.Versions[0].Outcome != before.Versions[0].Outcome || len(v.Moves) != len(before.Moves) {
			t.Errorf("%s: %s, %+v", f.Kind, v.State, v.Versions[0])
		}
		for _, m := range v.Timeline {
			if m.What == "refused" || m.What == "withdrawn" || m.What == "denied" {
				t.Errorf("%s: the timeline says %+v", f.Kind, m)
			}
		}
	}
}

// TestConflictByAnAgent: any paired agent can bring other bytes for a version. Nothing of it is signed then; the owner is told who
// brought them, says in one step which count, and whatever comes for that version after that stands in nobody's way.
func TestConflictByAnAgent(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	w.pinKey(orreryAgent, "owner/inkwell")
	base := requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now())
	first := w.brought(signAs(t, parsed(t, base.Canonical()), sow.Provider, "owner/inkwell").Raw())
	junk := func(request, price string) string {
		_, got := a.submit(approvals.SoWAsk{RequestID: request, Document: parsed(t, amended(t, base, `"per_task":4200000`, `"per_task":`+price).Canonical()).Raw()})
		if got.Code != "" || got.Engagement != first.Engagement {
			t.Fatalf("%+v", got)
		}
		return got.Digest
	}
	second := junk("r1", "9900000")
	w.signSoW("version_conflict", first.Engagement, first.Digest, "countersign")
	v := w.engagement(first.Engagement)
	for _, x := range v.Versions {
		from := x.Copies[0].From
		if !x.Conflict || (x.Digest == second) != (from.Kind == "agent" && from.Client != "") {
			t.Errorf("%s came from %+v, conflict %v", x.Digest, from, x.Conflict)
		}
		w.moveOf(v, agreement.MoveSettle, x.Digest)
	}
	if err := w.owner.SettleConflict(context.Background(), first.Engagement, first.Digest); err != nil {
		t.Fatal(err)
	}
	junk("r2", "9800000")
	if v = w.engagement(first.Engagement); v.Conflict || len(v.Versions) != 3 {
		t.Fatalf("%+v", v.Row)
	}
	w.signSoW(approvals.OutcomeDone, first.Engagement, first.Digest, "countersign")
	junk("r3", "9700000")
	if v = w.engagement(first.Engagement); v.Conflict || v.State != sow.Active || len(v.Versions) != 4 {
		t.Fatalf("%+v", v.Row)
	}
}

// TestConflictWithWhatWasSigned: other bytes for a version that we, or both, have signed are no question: they are kept, and nothing waits
// for the owner.
func TestConflictWithWhatWasSigned(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	id, done := w.running()
	_, got := a.submit(approvals.SoWAsk{RequestID: "r1", Document: parsed(t, amended(t, done, `"per_task":4200000`, `"per_task":9900000`).Canonical()).Raw()})
	v := w.engagement(id)
	if got.Code != "" || len(v.Versions) != 2 || v.State != sow.Active {
		t.Fatalf("%+v, %+v", got, v.Row)
	}
	for _, m := range v.Moves {
		if m.Digest == got.Digest && m.Blocked == "" {
			t.Errorf("it can be done: %+v", m)
		}
	}
	if v.Conflict || slices.Contains(v.Waiting, agreement.WaitConflict) {
		t.Errorf("%+v", v.Row)
	}
}

// TestEditedMemory: for which agent a handle is remembered stands in the pins, whose rows the log vouches for. A program that edits the
// notes of the store cannot have a handle that has moved pass for one that has not; that it moved says the owner, of an agent that is pinned.
func TestEditedMemory(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	moved := signAs(t, minted(t, sample(t, "standing-proposal", fourConditions, "", orreryAgent, wickAgent)), sow.Provider, "owner/inkwell")
	out := w.brought(moved.Raw())
	handle := w.engagement(out.Engagement).Rehomed[0].Handle
	if err := w.owner.ConfirmHandle(ctx, out.Engagement, handle, wickAgent); code(err) != agreement.CodeNotPinned {
		t.Fatalf("an agent whose owner nobody knows: %v", err)
	}
	for name, statement := range map[string]string{
		"forgotten": `DELETE FROM sow_facts WHERE name = 'handle'`,
		"replaced":  `UPDATE sow_facts SET value = '` + wickAgent + `' WHERE name = 'handle'`,
	} {
		w.stop()
		w.edit(statement)
		w.start()
		w.unlock()
		if v := w.engagement(out.Engagement); len(v.Rehomed) != 1 || v.Rehomed[0].Was != orreryAgent {
			t.Errorf("%s: %+v", name, v.Rehomed)
		}
	}
	w.pinKey(wickAgent, "owner/inkwell")
	if v := w.engagement(out.Engagement); len(v.Rehomed) != 1 {
		t.Errorf("pinning the new agent said that the handle moved: %+v", v.Rehomed)
	}
	if err := w.owner.ConfirmHandle(ctx, out.Engagement, handle, wickAgent); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.start()
	w.unlock()
	if v := w.engagement(out.Engagement); len(v.Rehomed) != 0 {
		t.Errorf("%+v", v.Rehomed)
	}
}

// TestBackdatedRequest: under an own offer the client states the start; one that had passed when the request came completes nothing by
// itself. The owner may complete it while a request stands, and not after that. A request that waited for the vault is none of these.
func TestBackdatedRequest(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	const hour = int64(60 * 60 * 1000)
	_, offer := w.published(fourConditions, "")
	ask := func(start int64) (agreement.View, string) {
		out := w.brought(requested(t, offer, "owner/gable", wickAgent, start, "holds-brand-licence").Raw())
		return w.engagement(out.Engagement), out.Digest
	}
	v, digest := ask(w.clock.Now() - hour)
	if v.Versions[0].Seats.Agreed() || !slices.Contains(v.Waiting, agreement.WaitComplete) || !v.Versions[0].Findings.Has("start_in_the_past") {
		t.Fatalf("%+v, %v", v.Row, v.Versions[0].Findings)
	}
	w.signSoW(approvals.OutcomeDone, v.ID, digest, "complete")
	v, digest = ask(w.clock.Now() - 8*24*hour)
	w.signSoW("start_in_the_past", v.ID, digest, "complete")
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	v, _ = ask(w.clock.Now())
	w.clock.pass(3 * time.Hour)
	w.unlock()
	w.desk.Tick(ctx)
	if v = w.engagement(v.ID); !v.Versions[0].Seats.Agreed() {
		t.Fatalf("it waited for the vault: %+v", v.Row)
	}
	// A later end than the offered term is none of the offer's.
	late, err := sow.Instance(offer, sow.Fill{Client: sow.Seat{Agent: wickAgent, Owner: "Gable & Sons"}, StartsAt: w.clock.Now(), EndsAt: w.clock.Now() + 400*24*hour, Assertions: []string{"holds-brand-licence"}})
	if err != nil {
		t.Fatal(err)
	}
	out := w.brought(signAs(t, late, sow.Client, "owner/gable").Raw())
	if v = w.engagement(out.Engagement); v.Offer != "" || v.Versions[0].Seats.Agreed() {
		t.Fatalf("%+v", v.Row)
	}
}

// TestLongExport: what does not fit in one bundle is refused with what to do instead, and what is written can be brought in again.
func TestLongExport(t *testing.T) {
	w := owned(t)
	id, done := w.running()
	for i := range 9 {
		w.brought(fmt.Appendf(nil, `{"engagement":%q,"total":%d,"note":%q}`, done.ID(), i, strings.Repeat("x", agreement.MaxDocument-200)))
	}
	_, err := w.owner.ExportSoW(context.Background(), id, "")
	if r := (*approvals.Refusal)(nil); !errors.As(err, &r) || r.Code != approvals.CodeExportTooLong || r.Remedy == "" {
		t.Fatalf("%v", err)
	}
	raw, err := w.owner.ExportVersion(context.Background(), id, done.Digest())
	if err != nil || len(raw) > bundle.Max {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	other := owned(t)
	if out := other.bring(raw); out.Code != "" || out.Digest != done.Digest() {
		t.Fatalf("%+v", out)
	}
	small, _ := other.owner.ExportSoW(context.Background(), id, "")
	if out := w.bring(small); out.Code != "" || !out.Inside[0].Again && out.Engagement != id {
		t.Fatalf("%+v", out)
	}
}

// TestEditedSettlement: which document of a version counts says the log alone.
func TestEditedSettlement(t *testing.T) {
	w := owned(t)
	w.pinKey(orreryAgent, "owner/inkwell")
	base := requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now())
	first := w.brought(signAs(t, parsed(t, base.Canonical()), sow.Provider, "owner/inkwell").Raw())
	second := w.brought(signAs(t, amended(t, base, `"per_task":4200000`, `"per_task":9900000`), sow.Provider, "owner/inkwell").Raw())
	again := func() {
		w.start()
		w.unlock()
	}
	w.stop()
	w.edit(fmt.Sprintf(`INSERT INTO sow_facts (engagement, name, key, value, at, seq) VALUES ('%s', 'settled', '1', '%s', 1, 0)`, first.Engagement, second.Digest))
	again()
	if v := w.engagement(first.Engagement); !v.Conflict {
		t.Fatalf("a row settled it: %+v", v.Row)
	}
	if err := w.owner.SettleConflict(context.Background(), first.Engagement, first.Digest); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.edit(`DELETE FROM sow_facts WHERE name = 'settled'`)
	again()
	if v := w.engagement(first.Engagement); v.Conflict {
		t.Fatalf("the owner's word is gone: %+v", v.Row)
	}
	w.signSoW(approvals.OutcomeDone, first.Engagement, first.Digest, "countersign")
}
