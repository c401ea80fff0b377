package approvals_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
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

// TestSquattedLanguage: a document of a stranger's that names a contract language first, with a hash of its own, keeps nobody from signing
// another under it; what was signed here does.
func TestSquattedLanguage(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	honest := offerOf(t)
	l, _ := honest.Language()
	squat := func(request, agent string) string {
		_, got := a.submit(approvals.SoWAsk{RequestID: request, Document: signAs(t, minted(t, amended(t, parsed(t, honest.Canonical()), l.SHA256, strings.Repeat("0", 64), orreryAgent, agent)), sow.Provider, "owner/inkwell").Raw()})
		if got.Engagement == "" {
			t.Fatalf("%+v", got)
		}
		return got.Engagement
	}
	first := squat("r1", wickAgent)
	id, _ := w.running()
	if f := w.engagement(id).Versions[0].Findings; f.Refused("language_hash_conflict") {
		t.Error(f)
	}
	if f := w.engagement(first).Versions[0].Findings; !f.Refused("language_hash_conflict") {
		t.Error("another hash than the one that was signed is not refused", f)
	}
}

// TestRehomedClient: a client under a handle that is remembered for another agent is completed by the owner alone.
func TestRehomedClient(t *testing.T) {
	w := owned(t)
	_, offer := w.published(fourConditions, "")
	ask := func(agent, label string, at int64) agreement.View {
		d, err := sow.Instance(offer, sow.Fill{Client: sow.Seat{Agent: agent, Owner: "Gable & Sons", Handle: "gable@gable.example"}, StartsAt: at, Assertions: []string{"holds-brand-licence"}})
		if err != nil {
			t.Fatal(err)
		}
		return w.engagement(w.brought(signAs(t, d, sow.Client, label).Raw()).Engagement)
	}
	if v := ask(wickAgent, "owner/gable", w.clock.Now()); !v.Versions[0].Seats.Agreed() {
		t.Fatal("the first is not completed")
	}
	w.pinKey(wickAgent, "owner/gable")
	v := ask(ourAgent, "stranger/x", w.clock.Now()+1000)
	if v.Versions[0].Seats.Agreed() || !slices.Contains(v.Waiting, agreement.WaitComplete) || w.moveOf(v, "complete", v.Digest).Blocked != "handle_rehomed" {
		t.Fatalf("%+v", v.Row)
	}
	w.pinKey(ourAgent, "stranger/x") // whose handle it is stands in the pin
	if err := w.owner.ConfirmHandle(context.Background(), v.ID, "gable@gable.example", ourAgent); err != nil {
		t.Fatal(err)
	}
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "complete")
}

// TestBundleInABundle: what is inside a bundle is no bundle again, which would take more parts than one may have.
func TestBundleInABundle(t *testing.T) {
	w := owned(t)
	a := w.pair("Flood")
	offer := offerOf(t)
	inner, err := bundle.Encode(bundle.Bundle{Document: offer.Raw(), Records: []bundle.Record{{Kind: "quote", Raw: fmt.Appendf(nil, `{"total":1,"engagement":%q}`, offer.ID())}}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := bundle.Encode(bundle.Bundle{Document: offer.Raw(), Acts: [][]byte{inner}, Records: []bundle.Record{{Kind: "bundle", Raw: inner}}})
	if err != nil {
		t.Fatal(err)
	}
	_, got := a.submit(approvals.SoWAsk{RequestID: "r", Document: raw})
	if v := w.engagement(got.Engagement); len(v.Records) != 0 {
		t.Errorf("%+v", v.Records)
	}
}

// TestStuffedEngagement: agents bring only so much of one engagement; it goes into one export, and the owner brings what they like.
func TestStuffedEngagement(t *testing.T) {
	w := owned(t)
	a := w.pair("Flood")
	id, done := w.running()
	stuff := func(i int) []byte {
		return fmt.Appendf(nil, `{"engagement":%q,"total":%d,"note":%q}`, done.ID(), i, strings.Repeat("x", 1_000_000))
	}
	for i := range 6 {
		_, got := a.submit(approvals.SoWAsk{RequestID: fmt.Sprint("r", i), Document: stuff(i)})
		if full := got.Code == approvals.CodeTooMany; full != (i >= 4) {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	_, got := a.submit(approvals.SoWAsk{RequestID: "d", Document: amended(t, parsed(t, done.Canonical()), `"version":1,"volume"`, `"note":"`+strings.Repeat("x", 500_000)+`","version":2,"volume"`).Raw()})
	if got.Code != approvals.CodeTooMany {
		t.Errorf("%+v", got)
	}
	if out := w.bring(stuff(7)); out.Code != "" || out.Engagement != id {
		t.Errorf("%+v", out.Code)
	}
	if _, err := w.owner.ExportSoW(context.Background(), id, ""); err != nil {
		t.Error(err)
	}
}

// TestManyFindings: an answer that is kept has so many findings and no more, and says how many it lacks.
func TestManyFindings(t *testing.T) {
	w := owned(t)
	a := w.pair("Flood")
	answer, got := a.submit(approvals.SoWAsk{RequestID: "r", Document: []byte(`{"sow":"v1","version":1,"inputs":[` + strings.Repeat(`{},`, 2000) + `{}]}`)})
	if got.Code != agreement.CodeNotUnderstood || len(answer.Result) > 64<<10 || !strings.Contains(string(answer.Result), `"findings_left_out":`) {
		t.Errorf("%s, %d bytes", got.Code, len(answer.Result))
	}
}

// TestSignedDuringACeremony: that both have signed is in the log, also where the other side's signature came while the owner was asked.
func TestSignedDuringACeremony(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	w.enrol()
	ctx := context.Background()
	if err := w.owner.SetDeployment(ctx, "", &everything); err != nil {
		t.Fatal(err)
	}
	offer := w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v := w.formSoW(offer.Engagement, offer.Digest, w.clock.Now()-1000)
	out := w.signWhile(b, approvals.Signing{Engagement: v.ID, Digest: v.Digest, Move: "countersign"}, func() {
		w.brought(signAs(t, w.document(v.ID, v.Digest), sow.Provider, "owner/inkwell").Raw())
	})
	if out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	if n := w.entries("sow.noted"); n != 1 || w.engagement(v.ID).State != sow.Active {
		t.Errorf("%d notes, it is %s", n, w.engagement(v.ID).State)
	}
}

// signWhile signs; what else happens comes while the page of the ceremony is open.
func (w *world) signWhile(b *browser, ask approvals.Signing, meanwhile func()) approvals.Outcome {
	w.t.Helper()
	b.set(func(b *browser) { b.waits = make(chan struct{}) })
	done := make(chan approvals.Outcome, 1)
	go func() {
		out, err := w.owner.SignSoW(context.Background(), ask)
		if err != nil {
			w.t.Error(err)
		}
		done <- out
	}()
	w.until(approvals.CeremonyNoBrowser)
	meanwhile()
	b.set(func(b *browser) { close(b.waits) })
	return <-done
}
