package approvals_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/span"
	"vault/internal/samplekey"
)

const (
	orreryAgent = "UDSNJMCON5GRI6INILYVEY22J36ZGEHQMJXM454XEJJKFXDYLN672Z4R" // agent/orrery of the sample documents
	ourAgent    = "UDP4IIGSNLEY6ZF44DGNXQAEKM54BAPMP6G6VXRWHQHBSUSKHG32TEI7" // agent/assayer
	wickAgent   = "UAGG6JMDUZSDHSPRDQGLDKJMIMPWRT7E7UYU7PVAWDJRNC7URHN7ZEQR" // agent/wick
)

func parsed(t testing.TB, raw []byte) *sow.Document {
	t.Helper()
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// signAs adds a signature by a sample key.
func signAs(t testing.TB, d *sow.Document, role, label string) *sow.Document {
	t.Helper()
	k, text := samplekey.Of(t, label)
	out, err := d.WithSignature(role, text, span.UTC(time.Now().UnixMilli()), ed25519.Sign(k, d.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fourConditions is what is cut from the sample offer, to leave the one condition that a client asserts.
const fourConditions = `{
      "id": "mesh-registered",
      "kind": "mesh_registration",
      "statement": "Your agent holds a current registration on this mesh.",
      "grade": "enforced"
    },
    {
      "id": "reads-briefs",
      "kind": "publishes_offering",
      "offering": "answer-brief-questions",
      "statement": "Your agent publishes answer-brief-questions, because ours asks before it draws.",
      "grade": "enforced"
    },
    {
      "id": "has-account",
      "kind": "platform_account",
      "statement": "Your agent is attached to an account on this platform.",
      "grade": "enforced"
    },
    `

// sample reads a sample document without its signatures, with texts replaced.
func sample(t testing.TB, name string, edits ...string) *sow.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("sow", "testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(edits); i += 2 {
		if !bytes.Contains(raw, []byte(edits[i])) {
			t.Fatalf("the sample has no %q", edits[i])
		}
		raw = bytes.Replace(raw, []byte(edits[i]), []byte(edits[i+1]), 1)
	}
	return parsed(t, parsed(t, raw).Canonical())
}

// offerOf is the sample's standing proposal, signed by its provider.
func offerOf(t testing.TB, edits ...string) *sow.Document {
	t.Helper()
	return signAs(t, sample(t, "standing-proposal", append([]string{fourConditions, ""}, edits...)...), sow.Provider, "owner/inkwell")
}

// amended is the next version of a document by edits of its canonical bytes.
func amended(t testing.TB, d *sow.Document, edits ...string) *sow.Document {
	t.Helper()
	raw := d.Canonical()
	for i := 0; i+1 < len(edits); i += 2 {
		if !bytes.Contains(raw, []byte(edits[i])) {
			t.Fatalf("the document has no %q", edits[i])
		}
		raw = bytes.Replace(raw, []byte(edits[i]), []byte(edits[i+1]), 1)
	}
	return parsed(t, raw)
}

// everything is a deployment that earns every grade.
var everything = sow.Deployment{
	Scope: true, Inputs: true, DeliverableForm: true, Revisions: true, Volume: true, Term: true, ChangeControl: true, Termination: true, Rating: true,
	RefusesCharge: true, ClientMeters: true, Sealed: true, Retention: true, ClearingHolds: true, ClearingReverses: true, OperatorQuotes: true, OperatorSettles: true,
	VerifiesCounterparty: true, ChecksFormation: true, HoldsApproval: true,
}

// owned is a vault with a passkey, whose runtimes keep everything.
func owned(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.browse()
	w.create()
	w.enrol()
	if err := w.owner.SetDeployment(context.Background(), "", &everything); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) bring(raw []byte, from ...string) agreement.Imported {
	w.t.Helper()
	src := agreement.Source{Kind: "file", Name: "a.json"}
	if len(from) > 0 {
		src.Engagement = from[0]
	}
	out, err := w.owner.Import(context.Background(), raw, "", src)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// brought wants bytes to be kept without an error about them.
func (w *world) brought(raw []byte, from ...string) agreement.Imported {
	w.t.Helper()
	out := w.bring(raw, from...)
	if out.Code != "" || out.Engagement == "" {
		w.t.Fatalf("%+v", out)
	}
	return out
}

func (w *world) engagement(id string) agreement.View {
	w.t.Helper()
	v, err := w.owner.Engagement(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) pinKey(agent, label string) {
	w.t.Helper()
	_, key := samplekey.Of(w.t, label)
	if err := w.owner.PinKey(context.Background(), approvals.PinAsk{Agent: agent, Key: key, Learned: "told"}); err != nil {
		w.t.Fatal(err)
	}
}

// moveOf is a move of a view, or fails.
func (w *world) moveOf(v agreement.View, what, digest string) agreement.Move {
	w.t.Helper()
	i := slices.IndexFunc(v.Moves, func(m agreement.Move) bool { return m.What == what && (digest == "" || m.Digest == digest) })
	if i < 0 {
		w.t.Fatalf("no move %s among %+v", what, v.Moves)
	}
	return v.Moves[i]
}

func (w *world) signSoW(want, engagement, digest, move string) {
	w.t.Helper()
	out, err := w.owner.SignSoW(context.Background(), approvals.Signing{Engagement: engagement, Digest: digest, Move: move})
	if err != nil || out.Code != want {
		w.t.Fatalf("%s: %+v, %v; want %s", move, out, err, want)
	}
}

func (w *world) act(want string, a approvals.ActAsk) {
	w.t.Helper()
	out, err := w.owner.ActOn(context.Background(), a)
	if err != nil || out.Code != want {
		w.t.Fatalf("%s: %+v, %v; want %s", a.Kind, out, err, want)
	}
}

// form takes up an offer as the client.
func (w *world) formSoW(offer, digest string, startsAt int64) agreement.View {
	w.t.Helper()
	v, err := w.owner.Complete(context.Background(), approvals.Formation{Offer: offer, Digest: digest, Fill: sow.Fill{
		Client: sow.Seat{Agent: ourAgent, Owner: "Assay House", Handle: "Assay.desk@assay.example"}, StartsAt: startsAt, Assertions: []string{"holds-brand-licence"},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// document is the newest copy of a version.
func (w *world) document(id, digest string) *sow.Document {
	w.t.Helper()
	raw, err := w.owner.ExportSoW(context.Background(), id, digest)
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := bundle.Parse(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	return parsed(w.t, b.Document)
}

// running is an engagement that is active, with the provider of the sample.
func (w *world) running(edits ...string) (id string, doc *sow.Document) {
	w.t.Helper()
	offer := w.brought(offerOf(w.t, edits...).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v := w.formSoW(offer.Engagement, offer.Digest, w.clock.Now()-1000)
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
	done := signAs(w.t, w.document(v.ID, v.Digest), sow.Provider, "owner/inkwell")
	w.brought(done.Raw())
	if v = w.engagement(v.ID); v.State != sow.Active {
		w.t.Fatalf("%s: %+v", v.State, v.Versions)
	}
	return v.ID, done
}

// TestTheWalk is the client's owner through one agreement, from the offer to its end.
func TestTheWalk(t *testing.T) {
	ctx := context.Background()
	w := owned(t)
	ours := w.owner.Status().Public.OwnerKey

	// A standing proposal is brought, and read.
	offer := w.brought(offerOf(t).Raw())
	v := w.engagement(offer.Engagement)
	if v.Kind != agreement.KindOffer || v.State != sow.StandingProposal || v.Provider.Owner != "Inkwell & Orrery Studio" || v.Committed.Set {
		t.Fatalf("%+v", v.Row)
	}
	// What it does not say stands there: no bound, no approval, a grant whose end nobody promised.
	if !v.Versions[0].Findings.OK() || v.Versions[0].Needed != sow.ByPerson && v.Versions[0].Needed != sow.ByAgent {
		t.Fatalf("%+v", v.Versions[0].Findings.Errors())
	}
	if m := w.moveOf(v, "form", offer.Digest); m.Blocked != agreement.CodeNotPinned {
		t.Fatalf("%+v", m)
	}
	if _, err := w.owner.Complete(ctx, approvals.Formation{Offer: v.ID, Digest: offer.Digest}); err == nil {
		t.Fatal("formed without a pinned key")
	}
	w.pinKey(orreryAgent, "owner/inkwell")
	v = w.engagement(offer.Engagement)
	if m := w.moveOf(v, "form", offer.Digest); m.Blocked != "" || v.Parties[0].Learned != "told" {
		t.Fatalf("%+v %+v", m, v.Parties)
	}

	// It is taken up, and countersigned with the passkey.
	e := w.formSoW(offer.Engagement, offer.Digest, w.clock.Now()+time.Hour.Milliseconds())
	if e.Role != sow.Client || !e.SeatFixed || e.Seat.Key != ours || e.Offer != offer.Engagement || e.State != sow.Template {
		t.Fatalf("%+v", e.Row)
	}
	w.signSoW(approvals.OutcomeDone, e.ID, e.Digest, "countersign")
	e = w.engagement(e.ID)
	if e.State != sow.PartiallySigned || e.Versions[0].Confirmation == nil || e.Versions[0].Seats.Client == nil || e.Versions[0].Seats.Client.Key != ours {
		t.Fatalf("%+v", e.Versions[0])
	}
	w.signSoW(agreement.CodeNotOpen, e.ID, e.Digest, "countersign")

	// The completed instance comes back, and becomes active.
	request := w.document(e.ID, e.Digest)
	w.brought(signAs(t, request, sow.Provider, "owner/inkwell").Raw())
	if e = w.engagement(e.ID); e.State != sow.Agreed {
		t.Fatalf("%s", e.State)
	}
	w.clock.pass(2 * time.Hour)
	page, err := w.owner.Engagements(approvals.EngagementFilter{States: []sow.State{sow.Active}})
	if err != nil || page.Total != 1 || page.Rows[0].ID != e.ID {
		t.Fatalf("%+v, %v", page, err)
	}
	inForce := w.document(e.ID, "")

	// An amendment moves a price and widens the scope. It is compared, and denied with a reason.
	greedy := signAs(t, amended(t, inForce, `"per_task":4200000`, `"per_task":6300000`, `"offerings":["explainer-package"]`, `"offerings":["explainer-package","campaign"]`,
		`"version":1,"volume"`, `"version":2,"volume"`), sow.Provider, "owner/inkwell")
	am := w.brought(greedy.Raw())
	if am.Engagement != e.ID {
		t.Fatalf("another engagement: %+v", am)
	}
	e = w.engagement(e.ID)
	if e.State != sow.Active || e.Versions[0].State != sow.AmendmentProposed || !slices.Contains(e.Waiting, agreement.WaitApprove) || e.Versions[0].ReviewEnds == 0 {
		t.Fatalf("%+v", e.Row)
	}
	c, err := w.owner.CompareSoW(e.ID, inForce.Digest(), am.Digest)
	if err != nil || !c.Instruments || len(c.Changes) != 3 || c.Changes[0].Path != `price.rates["explainer-package"].per_task` || c.Changes[0].Kind != sow.ChangeMoney {
		t.Fatalf("%+v, %v", c, err)
	}
	w.act("denial_without_reason", approvals.ActAsk{Engagement: e.ID, Digest: am.Digest, Kind: sow.Denial, Reason: "  "})
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: e.ID, Digest: am.Digest, Kind: sow.Denial, Reason: "The price goes up by half and we did not ask for campaigns."})
	e = w.engagement(e.ID)
	if e.Versions[0].Outcome != "denied" || len(e.Waiting) != 0 {
		t.Fatalf("%+v", e.Versions[0])
	}
	w.signSoW(agreement.CodeNotOpen, e.ID, am.Digest, "approve")

	// A better one comes, and is approved.
	fair := signAs(t, amended(t, inForce, `"per_task":4200000`, `"per_task":4300000`, `"version":1,"volume"`, `"version":2,"volume"`), sow.Provider, "owner/inkwell")
	better := w.brought(fair.Raw())
	w.signSoW(approvals.OutcomeDone, e.ID, better.Digest, "approve")
	e = w.engagement(e.ID)
	if e.Version != 2 || e.Digest != better.Digest || e.State != sow.Active || len(e.Versions) != 3 {
		t.Fatalf("%+v", e.Row)
	}
	if i := slices.IndexFunc(e.Versions, func(x agreement.VersionView) bool { return x.Version == 1 }); e.Versions[i].State != sow.Amended {
		t.Fatalf("%+v", e.Versions[i])
	}
	// A lower version is refused.
	if out := w.bring(signAs(t, amended(t, inForce, `"per_task":4200000`, `"per_task":1`), sow.Provider, "owner/inkwell").Raw()); out.Code != "version_downgrade" {
		t.Fatalf("%+v", out)
	}

	// A settlement record's fee is off by one, and the dispute has its name.
	settlement := func(members, total, fee string) []byte {
		return []byte(`{"engagement":"` + e.SoW + `","task":"task-1",` + members + `"total":` + total + `,"currency":"XCR","operator_fee":{"operator":"mesh.example",` +
			`"basis":{"kind":"percent","percent":10},"base":4300000,"amount":` + fee + `}}`)
	}
	w.brought(settlement("", "4730000", "430000"))
	record := settlement(`"lines":[{"meter":"items","unit":"package","count":1,"per":1,"per_unit":4300000,"amount":4300000}],`, "4730001", "430001")
	settled := w.brought(record)
	e = w.engagement(e.ID)
	i := slices.IndexFunc(e.Records, func(r agreement.RecordView) bool { return r.SHA256 == settled.SHA256 })
	if i < 0 || e.Records[i].Dispute != "operator_fee_arithmetic" || !slices.Contains(e.Waiting, agreement.WaitDispute) {
		t.Fatalf("%+v", e.Records)
	}
	w.act("dispute_cites_nothing", approvals.ActAsk{Engagement: e.ID, Digest: e.Digest, Kind: sow.Dispute, Disputed: &sow.Disputed{Amount: 1, Currency: "XCR"}})
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: e.ID, Digest: e.Digest, Kind: sow.Dispute, Disputed: &sow.Disputed{Amount: 1, Currency: "XCR"}, Cites: []string{settled.SHA256}})
	e = w.engagement(e.ID)
	if len(e.Disputed) != 1 || e.Disputed[0].Fallback != "escalate_to_owners" || slices.Contains(e.Waiting, agreement.WaitDispute) {
		t.Fatalf("%+v", e.Disputed)
	}

	// The whole of it is verified without the vault.
	raw, err := w.owner.ExportSoW(ctx, e.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	_, provider := samplekey.Of(t, "owner/inkwell")
	report := bundle.Verify(b, bundle.Pins{Provider: provider, Client: ours, Card: w.card()})
	if !report.Valid || !report.Tied || len(b.Confirmations) != 3 || len(b.Acts) != 2 || len(b.Versions) != 2 || len(b.Records) != 2 {
		t.Fatalf("%+v: %d confirmations, %d acts, %d versions, %d records", report, len(b.Confirmations), len(b.Acts), len(b.Versions), len(b.Records))
	}

	// It is ended, for convenience, and ends when the notice has.
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: e.ID, Digest: e.Digest, Kind: sow.Termination, Ground: "convenience"})
	if e = w.engagement(e.ID); e.State != sow.Active || !slices.ContainsFunc(e.Reminders, func(r agreement.Reminder) bool { return r.Kind == agreement.RemindNotice }) {
		t.Fatalf("%s %+v", e.State, e.Reminders)
	}
	w.clock.pass(25 * time.Hour)
	if e = w.engagement(e.ID); e.State != sow.Terminated {
		t.Fatalf("%s", e.State)
	}
	w.signSoW(agreement.CodeNotOpen, e.ID, better.Digest, "approve")
	log, err := w.owner.VerifyLog(ctx)
	if err != nil || !log.OK {
		t.Fatalf("%+v, %v", log, err)
	}

	// Another start of the program shows the same.
	before, _ := json.Marshal(e)
	w.stop()
	w.start()
	after, _ := json.Marshal(w.engagement(e.ID))
	if !bytes.Equal(before, after) {
		t.Errorf("before %s\nafter  %s", before, after)
	}
	if !strings.Contains(string(after), better.Digest) {
		t.Error("the version in force is gone")
	}
}
