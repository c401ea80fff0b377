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
	"vault/approvals/sow/span"
	"vault/derive/jcs"
	"vault/internal/samplekey"
)

// metered is an engagement by time and materials that is active, with the owner as the client.
func (w *world) metered() (id string, doc *sow.Document) {
	w.t.Helper()
	offer := sample(w.t, "standing-proposal", fourConditions, "", `"arrangement": "fixed_fee"`, `"arrangement": "time_and_materials"`)
	raw := []byte(`{"arrangement":"time_and_materials","currency":"EUR","schedule":[{"meter":"items","unit":"package","per_unit":100}],"cap":{"amount":1000},"reservation":{"window_days":30},"grade":"enforced"}`)
	d := parsed(w.t, without(w.t, with(w.t, offer, "price", raw), "revisions"))
	brought := w.brought(signAs(w.t, d, sow.Provider, "owner/inkwell").Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v := w.formSoW(brought.Engagement, brought.Digest, w.clock.Now()-1000)
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
	done := signAs(w.t, w.document(v.ID, v.Digest), sow.Provider, "owner/inkwell")
	w.brought(done.Raw())
	if v = w.engagement(v.ID); v.State != sow.Active {
		w.t.Fatalf("%s: %+v", v.State, v.Versions[0].Findings.Errors())
	}
	return v.ID, done
}

// with is a document with another member.
func with(t testing.TB, d *sow.Document, name string, value []byte) []byte {
	t.Helper()
	out := []byte{'{'}
	for m := range d.Value().Without(name).Members() {
		out = append(append(jcs.AppendString(out, m.Name), ':'), append(m.Value.Canonical(), ',')...)
	}
	return append(append(append(jcs.AppendString(out, name), ':'), value...), '}')
}

func without(t testing.TB, raw []byte, name string) []byte {
	t.Helper()
	return parsed(t, raw).Value().Without(name).Canonical()
}

// TestClaimsEndNothing: records that nobody has signed say that the cap is reached and that nothing is left to dispute. They are
// remarked on; the engagement goes on, and the owner disputes what was agreed.
func TestClaimsEndNothing(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	id, done := w.metered()
	_, got := a.submit(approvals.SoWAsk{RequestID: "r1", Document: fmt.Appendf(nil,
		`{"engagement":%q,"task":"t","total":1000,"currency":"EUR","lines":[{"meter":"items","unit":"package","count":10,"per":1,"per_unit":100,"amount":1000}]}`, done.ID())})
	if got.Code != "" || got.Engagement != id {
		t.Fatalf("%+v", got)
	}
	v := w.engagement(id)
	if v.State != sow.Active || !v.Versions[0].Findings.Has("cap_reached") || v.Versions[0].Findings.Refused("cap_reached") {
		t.Errorf("%s: %v", v.State, v.Versions[0].Findings)
	}
	w.act("dispute_amount_exceeds_unsettled", approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Dispute, Disputed: &sow.Disputed{Amount: 1001, Currency: "EUR"}, Cites: []string{"rec_7"}})
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: done.Digest(), Kind: sow.Dispute, Disputed: &sow.Disputed{Amount: 900, Currency: "EUR"}, Cites: []string{"rec_7"}})
}

// TestUnsignedVersions: a later version that nobody has signed changes nothing that is said of the engagement: not who its parties are,
// not what stays open at its end, not who may rule.
func TestUnsignedVersions(t *testing.T) {
	w := owned(t)
	id, done := w.running(`"via": "oauth"`, `"via": "link"`, `"posture": "escalate_to_owners"`, `"posture":"arbiter","arbiter":{"role":"role-arbiter","agent":"`+wickAgent+`","independence_days":90,"deadline_days":14,"fee":"split","fallback":"none"}`)
	before := w.engagement(id)
	if len(before.ToClose) == 0 {
		t.Fatal("the sample has no grant that stays open")
	}
	ruler, rulerKey := samplekey.Of(t, "agent/orrery")
	junk := parsed(t, without(t, amended(t, done, `"version":1,"volume"`, `"version":9,"volume"`, wickAgent, rulerKey, `"owner":"Assay House"`, `"owner":"Inkwell and friends"`).Raw(), "inputs"))
	w.brought(junk.Raw())
	raw := fmt.Appendf(nil, `{"verdict":"v1","role":"arbiter","engagement":%q,"dispute":"rec_7","disputed":{"currency":"XCR","amount":10},"split":{"provider":10,"client":0},`+
		`"attribution":"a","basis":{"count":1,"ids_sha256":"%064d"},"heard":{"provider":true,"client":true},"reasons":"r","produced_at":%q,"by":%q}`, done.ID(), 0, span.UTC(w.clock.Now()), rulerKey)
	value, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		t.Fatal(err)
	}
	sig := ed25519.Sign(ruler, append([]byte("agent-arbiter-verdict-v1\n"), value.Canonical()...))
	signed := append(raw[:len(raw)-1], fmt.Appendf(nil, `,"signatures":[{"key":%q,"signed_at":%q,"sig":%q}]}`, rulerKey, span.UTC(w.clock.Now()), sow.SignatureText(sig))...)
	sha := w.brought(signed).SHA256
	w.brought(fmt.Appendf(nil, `{"engagement":%q,"arbiter":%q}`, done.ID(), rulerKey))
	v := w.engagement(id)
	if len(v.ToClose) != len(before.ToClose) {
		t.Errorf("%d grants stay open, before the junk %d", len(v.ToClose), len(before.ToClose))
	}
	for i, p := range v.Parties {
		if p.Party != before.Parties[i].Party {
			t.Errorf("the %s is %+v", p.Role, p.Party)
		}
	}
	i := slices.IndexFunc(v.Records, func(r agreement.RecordView) bool { return r.SHA256 == sha })
	if i < 0 || v.Records[i].Verified {
		t.Errorf("the verdict of an arbiter nobody agreed to: %+v", v.Records)
	}
}

// TestHandleHiddenByJunk: a later version without handles does not hide that a handle names another agent.
func TestHandleHiddenByJunk(t *testing.T) {
	w := owned(t)
	w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	moved := signAs(t, minted(t, sample(t, "standing-proposal", fourConditions, "", orreryAgent, wickAgent)), sow.Provider, "owner/inkwell")
	out := w.brought(moved.Raw())
	w.pinKey(wickAgent, "owner/inkwell")
	provider, _ := moved.Party(sow.Provider)
	w.brought(amended(t, moved, `"handle":"`+provider.Handle+`",`, "", `"version":1,`, `"version":9,`).Raw())
	if m := w.moveOf(w.engagement(out.Engagement), "form", out.Digest); m.Blocked != "handle_rehomed" {
		t.Fatalf("%+v", m)
	}
}

// TestSeatByClaim: an approval record under a key of ours that this vault did not make chooses no seat and no role.
func TestSeatByClaim(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	second, err := w.owner.OpenSeat(context.Background(), "Second")
	if err != nil {
		t.Fatal(err)
	}
	d, err := sow.Instance(offerOf(t), sow.Fill{Client: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, StartsAt: w.clock.Now(), Assertions: []string{"holds-brand-licence"}})
	if err != nil {
		t.Fatal(err)
	}
	out := w.brought(signAs(t, d, sow.Provider, "owner/inkwell").Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	claim := fmt.Sprintf(`"change_control":{"approvals":[{"act":"formation","authority":"person","key":%q,"approved_at":"2026-10-01T00:00:00Z"}],`, second.Key)
	_, got := a.submit(approvals.SoWAsk{RequestID: "r1", Document: amended(t, d, `"change_control":{`, claim, `"version":1,"volume"`, `"version":9,"volume"`).Raw()})
	if got.Engagement != out.Engagement {
		t.Fatalf("%+v", got)
	}
	if v := w.engagement(out.Engagement); v.SeatFixed || v.Seat.Index != 0 {
		t.Fatalf("the seat is fixed: %v, %+v", v.SeatFixed, v.Seat)
	}
}

// TestOtherName: an act of the other owner's that an agent brings as something else is not kept under that name, where it would stand
// in the way of the act itself.
func TestOtherName(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	id, done := w.running()
	key, text := samplekey.Of(t, "owner/inkwell")
	act, err := sow.NewAct(sow.ActFields{Kind: sow.Termination, SoW: done.ID(), Version: 1, Document: done.Digest(), Role: sow.Provider, At: span.UTC(w.clock.Now()), Key: text, Ground: "cause", Reason: "unpaid"})
	if err != nil {
		t.Fatal(err)
	}
	if act, err = act.WithSignature(ed25519.Sign(key, act.Signed())); err != nil {
		t.Fatal(err)
	}
	for i, kind := range []agreement.RecordKind{agreement.RecordQuote, agreement.RecordDenial, agreement.RecordProblem} {
		if _, got := a.submit(approvals.SoWAsk{RequestID: fmt.Sprint("r", i), Document: act.Bytes(), Kind: kind}); got.Code != agreement.CodeNotUnderstood {
			t.Errorf("as a %s: %+v", kind, got)
		}
	}
	w.brought(act.Bytes())
	if v := w.engagement(id); v.State != sow.Terminated {
		t.Errorf("after the act itself it is %s", v.State)
	}
}

// TestContractsOfOthers: a client that names an engagement, or brings something about it, is not answered with what another brought.
func TestContractsOfOthers(t *testing.T) {
	w := owned(t)
	a := w.pair("Curious")
	id, done := w.running()
	offer := fmt.Appendf(nil, `{"agent":%q,"offerings":[{"id":"explainer-package"}]}`, orreryAgent)
	for i, raw := range [][]byte{offer, fmt.Appendf(nil, `{"engagement":%q,"total":1,"currency":"XCR"}`, done.ID())} {
		if _, got := a.submit(approvals.SoWAsk{RequestID: fmt.Sprint("r", i), Document: raw}); got.Code != "" {
			t.Fatalf("%+v", got)
		}
	}
	refused := func(err error, code string) {
		t.Helper()
		if r, ok := err.(*approvals.Refusal); !ok || r.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	_, err := a.conn.SoWGet(context.Background(), id, done.Digest())
	refused(err, approvals.CodeUnknownEngagement)
	_, err = a.conn.SoWStatus(context.Background(), id)
	refused(err, approvals.CodeUnknownEngagement)
	// A document that is made up opens nothing but itself.
	if _, got := a.submit(approvals.SoWAsk{RequestID: "r9", Document: amended(t, done, `"version":1,"volume"`, `"version":9,"volume"`).Raw()}); got.Engagement != id {
		t.Fatalf("%+v", got)
	}
	_, err = a.conn.SoWGet(context.Background(), id, done.Digest())
	refused(err, agreement.CodeNotOpen)
	if ans, err := a.conn.SoWStatus(context.Background(), id); err != nil || strings.Contains(string(ans.Result), done.Digest()) {
		t.Errorf("%s, %v", ans.Result, err)
	}
	// Who brought the document that was signed gets it.
	if _, got := a.submit(approvals.SoWAsk{RequestID: "r10", Document: done.Raw()}); got.Code != "" {
		t.Fatalf("%+v", got)
	}
	if _, err = a.conn.SoWGet(context.Background(), id, done.Digest()); err != nil {
		t.Error(err)
	}
}

// TestManyParts: one bundle of an agent's does not bring as many engagements as it likes.
func TestManyParts(t *testing.T) {
	w := owned(t)
	a := w.pair("Flood")
	raw := []byte(`{"document":{"sow":"v1","id":"a","version":1,"parties":{"provider":{"agent":"x"}}},"confirmations":[],"acts":[],"versions":[`)
	for i := range approvals.MaxAgentParts {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = fmt.Appendf(raw, `{"sow":"v1","id":"b%d","version":1,"parties":{"provider":{"agent":"x"}}}`, i)
	}
	_, got := a.submit(approvals.SoWAsk{RequestID: "r1", Document: append(raw, "]}"...)})
	page, err := w.owner.Engagements(approvals.EngagementFilter{})
	if got.Code != approvals.CodeTooMany || err != nil || page.Total != 0 {
		t.Errorf("%+v, %d engagements, %v", got, page.Total, err)
	}
}
