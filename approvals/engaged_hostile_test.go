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
