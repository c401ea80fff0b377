package approvals_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/span"
	"vault/internal/samplekey"
)

// records gives a document other signature records, as another copy of it.
func records(t testing.TB, d *sow.Document, change func([]map[string]any) []map[string]any) []byte {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(d.Raw(), &tree); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	for _, r := range tree["signatures"].([]any) {
		list = append(list, r.(map[string]any))
	}
	tree["signatures"] = change(list)
	raw, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if parsed(t, raw).Digest() != d.Digest() {
		t.Fatal("the copy has other signed bytes")
	}
	return raw
}

// TestForgedCopies: another copy of an agreed document, with records that were
// made up, takes nothing from the agreement, whichever came first.
func TestForgedCopies(t *testing.T) {
	w := owned(t)
	id, done := w.running()
	forged := sow.SignatureText(make([]byte, 64))
	for name, raw := range map[string][]byte{
		"forged records under the same keys": records(t, done, func(l []map[string]any) []map[string]any {
			for _, r := range l {
				r["sig"] = forged
			}
			return l
		}),
		"records under the other seat": records(t, done, func(l []map[string]any) []map[string]any {
			for _, r := range l {
				r["role"] = map[any]string{"client": "provider", "provider": "client"}[r["role"]]
			}
			return l
		}),
		"as many as are read": records(t, done, func(l []map[string]any) []map[string]any {
			out := []map[string]any{}
			for range 32 {
				_, key := samplekey.Of(t, "stranger/"+string(rune('a'+len(out))))
				out = append(out, map[string]any{"role": "client", "key": key, "signed_at": "2026-01-01T00:00:00Z", "sig": forged})
			}
			return out
		}),
		"none": records(t, done, func([]map[string]any) []map[string]any { return []map[string]any{} }),
	} {
		w.brought(raw)
		if v := w.engagement(id); v.State != sow.Active || v.Conflict || len(v.Versions) != 1 {
			t.Errorf("%s: it is %s, %d versions, conflict %v", name, v.State, len(v.Versions), v.Conflict)
		}
	}
}

// TestForgedFirst: the copies that were made up came before the good one.
func TestForgedFirst(t *testing.T) {
	w := owned(t)
	offer := w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v := w.formSoW(offer.Engagement, offer.Digest, w.clock.Now()-1000)
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
	done := signAs(t, w.document(v.ID, v.Digest), sow.Provider, "owner/inkwell")
	w.brought(records(t, done, func(l []map[string]any) []map[string]any {
		out := []map[string]any{}
		for i := range 32 {
			_, key := samplekey.Of(t, "stranger/"+string(rune('a'+i)))
			out = append(out, map[string]any{"role": "provider", "key": key, "signed_at": "2026-01-01T00:00:00Z", "sig": sow.SignatureText(make([]byte, 64))})
		}
		return out
	}))
	w.brought(done.Raw())
	if v := w.engagement(v.ID); v.State != sow.Active {
		t.Errorf("it is %s: %+v", v.State, v.Versions[0].Seats.Findings)
	}
}

// TestEndlessNotice: a notice longer than time does not end an agreement at once.
func TestEndlessNotice(t *testing.T) {
	w := owned(t)
	id, done := w.running(`"convenience_notice_hours": 24`, `"convenience_notice_hours": 9007199254740991`)
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Termination, Ground: "convenience"})
	if v := w.engagement(id); v.State != sow.Active {
		t.Errorf("it is %s", v.State)
	}
}

// TestNoNoticeAgreed: where no notice for convenience is agreed, neither side ends an agreement for convenience.
func TestNoNoticeAgreed(t *testing.T) {
	w := owned(t)
	id, done := w.running("\"termination\": {\n    \"convenience_notice_hours\": 24,\n    \"grade\": \"enforced\"\n  },\n", "")
	w.act("wrong_act", approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Termination, Ground: "convenience"})
	for _, ground := range []string{"convenience", "cause"} {
		w.brought(theirAct(t, done, "owner/inkwell", sow.ActFields{Kind: sow.Termination, Role: sow.Provider, Ground: ground, Reason: "floors missed"}), id)
		if v := w.engagement(id); (v.State == sow.Active) != (ground == "convenience") {
			t.Errorf("after a termination for %s it is %s", ground, v.State)
		}
	}
}

// TestUnverifiedManifest: a job manifest that nobody signed says nothing about
// the form of what was delivered, and starts no clock.
func TestUnverifiedManifest(t *testing.T) {
	w := owned(t)
	id, done := w.running()
	manifest := `{"format":"job-manifest-v1","job":"task_1","task_id":"task_1","context_id":null,"revises":null,"version":1,"agent":"` + orreryAgent + `","offering":"explainer-package",` +
		`"produced_at":"2026-09-21T00:00:00Z","pieces":[{"name":"a","step":"s","media_type":"text/plain","ref":"r","size":1,"digest":"sha256:` + strings.Repeat("0", 64) + `","reused":false}],` +
		`"reused":{"pieces":0,"of":1},"sig":"` + sow.SignatureText(make([]byte, 64)) + `"}`
	w.brought([]byte(manifest), id)
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Review, Ground: "acceptance", Cites: []string{"task_1"}})
	v := w.engagement(id)
	if len(v.Reviews) != 1 || v.Reviews[0].Checked || len(v.Reviews[0].Form) != 0 {
		t.Errorf("the review stands beside %+v", v.Reviews)
	}
	for _, r := range v.Reminders {
		if r.Kind == agreement.RemindDeemed || r.Kind == agreement.RemindRevision {
			t.Errorf("a claim starts a clock: %+v", r)
		}
	}
}

// TestTwoClients: a request to form that two keys have signed for the client's
// seat is not completed by itself: nothing says which of them is the client's.
func TestTwoClients(t *testing.T) {
	w := owned(t)
	draft := sample(t, "standing-proposal", fourConditions, "")
	draft = parsed(t, []byte(strings.Replace(string(draft.Raw()), `"`+draft.ID()+`"`, `"`+draft.Mint()+`"`, 1)))
	own, err := w.owner.DraftSoW(context.Background(), draft.Raw())
	if err != nil || own.Code != "" {
		t.Fatalf("%+v, %v", own, err)
	}
	w.signSoW(approvals.OutcomeDone, own.Engagement, own.Digest, "publish")
	offer := w.document(own.Engagement, own.Digest)
	request := func(startsAt int64) *sow.Document {
		d, err := sow.Instance(offer, sow.Fill{Client: sow.Seat{Agent: wickAgent, Owner: "Gable & Wick"}, StartsAt: startsAt, Assertions: []string{"holds-brand-licence"}})
		if err != nil {
			t.Fatal(err)
		}
		return signAs(t, d, sow.Client, "owner/gable")
	}
	start := w.clock.Now() - 1000
	two := request(start)
	id := w.brought(signAs(t, two, sow.Client, "owner/saltmarsh").Raw()).Engagement
	if v := w.engagement(id); v.State == sow.Active || len(v.Versions[0].Seats.Findings.Errors()) == 0 {
		t.Errorf("signed by two for one seat it is %s: %+v", v.State, v.Versions[0].Seats)
	}
	id = w.brought(request(start + 60_000).Raw()).Engagement
	if v := w.engagement(id); v.State != sow.Active && v.State != sow.Agreed {
		t.Errorf("signed by one it is %s: %+v", v.State, v.Versions[0].Findings.Errors())
	}
}

// TestCharges: work stays priced under the version it was admitted under; what no agreed version can have produced is
// settled by nothing, and an operator is remarked on after its second dispute.
func TestCharges(t *testing.T) {
	w := owned(t)
	id, done := w.running()
	next := signAs(t, amended(t, done, `"currency":"XCR","grade":"enforced","rates"`, `"currency":"EUR","grade":"enforced","rates"`, `"version":1,"volume"`, `"version":2,"volume"`), sow.Provider, "owner/inkwell")
	v2 := w.brought(next.Raw())
	w.signSoW(approvals.OutcomeDone, id, v2.Digest, "approve")
	quote := func(task, currency string, total int) {
		w.brought(fmt.Appendf(nil, `{"engagement":%q,"task":%q,"total":%d,"currency":%q,"operator_fee":{"operator":"mesh.example","basis":{"kind":"percent","percent":10},"base":100,"amount":10}}`, done.ID(), task, total, currency))
	}
	record := func(task, currency string, total, fee int) agreement.RecordView {
		raw := fmt.Appendf(nil, `{"engagement":%q,"task":%q,"total":%d,"currency":%q,"lines":[{"meter":"items","unit":"package","count":1,"per":1,"per_unit":100,"amount":100}],`+
			`"operator_fee":{"operator":"mesh.example","basis":{"kind":"percent","percent":10},"base":100,"amount":%d}}`, done.ID(), task, total, currency, fee)
		sha := w.brought(raw).SHA256
		for _, r := range w.engagement(id).Records {
			if r.SHA256 == sha {
				return r
			}
		}
		t.Fatal("the record is not there")
		return agreement.RecordView{}
	}
	for _, task := range []string{"old", "new", "third", "fourth"} {
		currency := map[string]string{"old": "XCR", "new": "EUR"}[task]
		if currency == "" {
			currency = "EUR"
		}
		quote(task, currency, 110)
	}
	quote("odd", "USD", 110)
	if r := record("old", "XCR", 110, 10); !r.Findings.OK() || r.Dispute != "" {
		t.Errorf("priced under the version before: %v", r.Findings.Errors())
	}
	if r := record("new", "EUR", 110, 10); !r.Findings.OK() || r.Dispute != "" {
		t.Errorf("priced under the version in force: %v", r.Findings.Errors())
	}
	before := w.engagement(id).Unsettled
	if r := record("odd", "USD", 110, 10); !r.Findings.Refused("settlement_currency") {
		t.Errorf("in the currency of neither: %v", r.Findings.Errors())
	}
	if after := w.engagement(id).Unsettled; after != before {
		t.Errorf("what no version can have produced settles %v of %v", after, before)
	}
	if r := record("third", "EUR", 111, 11); r.Dispute != "operator_fee_arithmetic" || r.Findings.Has("operator_disputes_repeat") {
		t.Errorf("the first dispute: %q, %v", r.Dispute, r.Findings)
	}
	if r := record("fourth", "EUR", 109, 9); r.Dispute != "operator_fee_arithmetic" || !r.Findings.Has("operator_disputes_repeat") {
		t.Errorf("the second dispute: %q, %v", r.Dispute, r.Findings)
	}
}

// TestLateVerdict: a verdict made after its deadline is void, whatever it says.
func TestLateVerdict(t *testing.T) {
	w := owned(t)
	id, done := w.running(`"posture": "escalate_to_owners"`, `"posture":"arbiter","arbiter":{"role":"role-arbiter","independence_days":90,"deadline_days":14,"fee":"split","fallback":"none"}`)
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Dispute, Disputed: &sow.Disputed{Amount: 10, Currency: "XCR"}, Cites: []string{"rec_7"}})
	opened := w.clock.Now()
	for made, late := range map[int64]bool{opened + 14*span.Day - 60_000: false, opened + 14*span.Day + 60_000: true} {
		raw := fmt.Appendf(nil, `{"verdict":"v1","role":"arbiter","engagement":%q,"dispute":"rec_7","disputed":{"currency":"XCR","amount":10},"split":{"provider":6,"client":4},`+
			`"attribution":"deliverable_form","basis":{"count":1,"ids_sha256":%q},"heard":{"provider":true,"client":true},"reasons":"r","produced_at":%q,"by":"UBMB"}`,
			done.ID(), strings.Repeat("0", 64), span.UTC(made))
		sha := w.brought(raw).SHA256
		for _, r := range w.engagement(id).Records {
			if r.SHA256 == sha && (r.Findings.Refused("verdict_late") != late || r.Verified) {
				t.Errorf("made %s: verified %v, %v", span.UTC(made), r.Verified, r.Findings.Errors())
			}
		}
	}
}

// TestClaimsInBundles: acts and confirmations that were made up are exported as the claims they are, and what was signed
// verifies beside them.
func TestClaimsInBundles(t *testing.T) {
	w := owned(t)
	id, done := w.running()
	_, stranger := samplekey.Of(t, "owner/gable")
	act, err := sow.NewAct(sow.ActFields{Kind: sow.Termination, SoW: done.ID(), Version: 1, Document: done.Digest(), Role: sow.Provider, At: "2026-11-01T09:00:00Z", Key: stranger, Ground: "convenience"})
	if err != nil {
		t.Fatal(err)
	}
	w.brought(act.Bytes(), id)
	w.brought([]byte(`{"type":"vault.sowAct","act":"denial","sow":"`+done.ID()+`","v":1}`), id)
	w.brought([]byte(`{"type":"vault.confirmation","v":1}`), id)
	raw, err := w.owner.ExportSoW(context.Background(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	_, provider := samplekey.Of(t, "owner/inkwell")
	r := bundle.Verify(b, bundle.Pins{Provider: provider, Client: w.owner.Status().Public.OwnerKey, Card: w.card()})
	if !r.Valid || !r.Tied || len(b.Acts) != 0 || len(b.Confirmations) != 1 || len(b.Records) != 3 || r.Client != bundle.Confirmed {
		t.Errorf("valid %v, tied %v, %d acts, %d confirmations, %d records, person %s: %v", r.Valid, r.Tied, len(b.Acts), len(b.Confirmations), len(b.Records), r.Client, r.Lines)
	}
}

// TestStaleSignature: the provider's signature of the offer does not cover the completed document.
func TestStaleSignature(t *testing.T) {
	w := owned(t)
	signed := offerOf(t)
	offer := w.brought(signed.Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v := w.formSoW(offer.Engagement, offer.Digest, w.clock.Now()-1000)
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
	k, key := samplekey.Of(t, "owner/inkwell")
	old, err := w.document(v.ID, v.Digest).WithSignature(sow.Provider, key, "2026-10-01T00:00:00Z", ed25519.Sign(k, signed.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	w.brought(old.Raw())
	if v = w.engagement(v.ID); v.State == sow.Active || !v.Versions[0].Findings.Refused("provider_signature_stale") {
		t.Errorf("it is %s: %v", v.State, v.Versions[0].Findings.Errors())
	}
	w.brought(signAs(t, old, sow.Provider, "owner/inkwell").Raw())
	if v = w.engagement(v.ID); v.State != sow.Active || v.Versions[0].Findings.Has("provider_signature_stale") {
		t.Errorf("with a fresh signature it is %s: %v", v.State, v.Versions[0].Findings.Errors())
	}
}
