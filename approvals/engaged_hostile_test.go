package approvals_test

import (
	"crypto/ed25519"
	"fmt"
	"testing"

	"vault/approvals"
	"vault/approvals/sow"
	"vault/internal/samplekey"
)

// crowd are records of strangers that verify, by as many keys as are looked at.
func crowd(t testing.TB, d *sow.Document, role string) (out []map[string]any) {
	t.Helper()
	for i := range 32 {
		k, key := samplekey.Of(t, fmt.Sprintf("stranger/%d", i))
		out = append(out, map[string]any{"role": role, "key": key, "signed_at": "2026-01-01T00:00:00Z", "sig": sow.SignatureText(ed25519.Sign(k, d.Signed()))})
	}
	return out
}

// TestCrowdOfSigners: strangers who really sign a document crowd out neither its owners' signatures nor the owner's own; nor do many
// spellings of one good record, whose time no signature covers.
func TestCrowdOfSigners(t *testing.T) {
	for _, role := range []string{sow.Provider, sow.Client} {
		t.Run(role, func(t *testing.T) {
			w := owned(t)
			offer := w.brought(offerOf(t).Raw())
			w.pinKey(orreryAgent, "owner/inkwell")
			v := w.formSoW(offer.Engagement, offer.Digest, w.clock.Now()-1000)
			plain := w.document(v.ID, v.Digest)
			theirs := signAs(t, plain, sow.Provider, "owner/inkwell")
			w.brought(records(t, theirs, func([]map[string]any) []map[string]any { return crowd(t, plain, role) }))
			if role == sow.Client {
				w.brought(records(t, theirs, func(l []map[string]any) (out []map[string]any) {
					for i := range 32 {
						out = append(out, map[string]any{"role": role, "key": l[0]["key"], "sig": l[0]["sig"], "signed_at": fmt.Sprintf("2026-01-01T00:00:%02dZ", i)})
					}
					return out
				}))
			}
			w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
			w.brought(theirs.Raw())
			if v := w.engagement(v.ID); v.State != sow.Active {
				t.Errorf("it is %s: %+v", v.State, v.Versions[0].Seats.Findings)
			}
		})
	}
}

// TestNoticeIsNotTheEnd: while a notice runs, of either side, a cause still ends the agreement at once, and nothing ends it twice.
func TestNoticeIsNotTheEnd(t *testing.T) {
	for _, theirs := range []bool{true, false} {
		w := owned(t)
		id, done := w.running(`"convenience_notice_hours": 24`, `"convenience_notice_hours": 8760`)
		ends := approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Termination, Ground: "convenience"}
		if theirs {
			w.brought(theirAct(t, done, "owner/inkwell", sow.ActFields{Kind: sow.Termination, Role: sow.Provider, Ground: "convenience"}), id)
		} else {
			w.act(approvals.OutcomeDone, ends)
		}
		if v := w.engagement(id); v.State != sow.Active {
			t.Fatalf("it is %s", v.State)
		}
		w.act("twice", ends)
		ends.Ground, ends.Reason = "cause", "three floors missed"
		w.act(approvals.OutcomeDone, ends)
		if v := w.engagement(id); v.State != sow.Terminated {
			t.Errorf("theirs %v: it is %s", theirs, v.State)
		}
		w.act("terminated", ends)
	}
}
