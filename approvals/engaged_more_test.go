package approvals_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/span"
	"vault/derive/jcs"
	"vault/derive/tag"
	"vault/internal/samplekey"
)

// minted gives a document of ours the identifier that it derives.
func minted(t testing.TB, d *sow.Document) *sow.Document {
	t.Helper()
	return parsed(t, bytes.Replace(d.Canonical(), []byte(`"`+d.ID()+`"`), []byte(`"`+d.Mint()+`"`), 1))
}

// published drafts the sample offer as our own and publishes it.
func (w *world) published(edits ...string) (id string, offer *sow.Document) {
	w.t.Helper()
	offer = minted(w.t, sample(w.t, "standing-proposal", edits...))
	out, err := w.owner.DraftSoW(context.Background(), offer.Raw())
	if err != nil || out.Code != "" || !out.Findings.OK() {
		w.t.Fatalf("%+v, %v", out, err)
	}
	w.signSoW(approvals.OutcomeDone, out.Engagement, out.Digest, "publish")
	return out.Engagement, w.document(out.Engagement, out.Digest)
}

// requested is a request to form under an offer, signed by a client.
func requested(t testing.TB, offer *sow.Document, label, agent string, startsAt int64, assertions ...string) *sow.Document {
	t.Helper()
	d, err := sow.Instance(offer, sow.Fill{Client: sow.Seat{Agent: agent, Owner: "Gable & Sons"}, StartsAt: startsAt, Assertions: assertions})
	if err != nil {
		t.Fatal(err)
	}
	return signAs(t, d, sow.Client, label)
}

// TestFormationAsProvider: publishing an offer is the decision; requests that meet it are completed, others name what they lack.
func TestFormationAsProvider(t *testing.T) {
	w := owned(t)
	now := w.clock.Now()
	offerID, offer := w.published(fourConditions, "")
	v := w.engagement(offerID)
	if v.Role != sow.Provider || !v.SeatFixed || v.State != sow.StandingProposal || v.Versions[0].Confirmation == nil {
		t.Fatalf("%+v", v.Row)
	}
	for i := range 5 {
		d := requested(t, offer, "owner/gable", wickAgent, now+int64(i)*1000, "holds-brand-licence")
		out := w.brought(d.Raw())
		e := w.engagement(out.Engagement)
		if !e.Versions[0].Seats.Agreed() || e.Role != sow.Provider || e.Offer != offerID || e.Parties[1].Learned != "first_use" || len(e.Waiting) != 0 {
			t.Fatalf("%d: %+v %+v", i, e.Row, e.Versions[0].Findings.Errors())
		}
		// The same again changes nothing.
		if again := w.bring(d.Raw()); !again.Again {
			t.Fatalf("%+v", again)
		}
	}
	if v = w.engagement(offerID); v.Formations != 5 {
		t.Fatalf("%d formations", v.Formations)
	}
	page, err := w.owner.Engagements(approvals.EngagementFilter{Formed: offerID})
	if err != nil || page.Total != 5 {
		t.Fatalf("%+v, %v", page, err)
	}
	// One that does not assert what it must waits, with the reason, and is refused with an act that names the condition.
	out := w.brought(requested(t, offer, "owner/gable", wickAgent, now+90_000).Raw())
	e := w.engagement(out.Engagement)
	m := w.moveOf(e, "complete", out.Digest)
	if !slices.Contains(e.Waiting, agreement.WaitComplete) {
		t.Fatalf("%+v %+v", e.Waiting, m)
	}
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: e.ID, Digest: out.Digest, Kind: sow.FormationRefusal, Ground: "holds-brand-licence"})
	if e = w.engagement(e.ID); e.Versions[0].Outcome != "refused" || len(e.Waiting) != 0 {
		t.Fatalf("%+v", e.Versions[0])
	}
	if r := e.Records[len(e.Records)-1]; r.Kind != agreement.RecordRefusal || len(r.Findings) != 0 {
		t.Fatalf("%+v", r)
	}
	// On a ground that the offer does not state it is recorded as that.
	out = w.brought(requested(t, offer, "owner/gable", wickAgent, now+93_000).Raw())
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: out.Engagement, Digest: out.Digest, Kind: sow.FormationRefusal, Reason: "we are full"})
	e = w.engagement(out.Engagement)
	if r := e.Records[len(e.Records)-1]; !r.Findings.Has("refused_unstated_ground") {
		t.Fatalf("%+v", r)
	}
	// A request whose terms are not the offer's is under no offer.
	cheap := amended(t, requested(t, offer, "owner/gable", wickAgent, now+91_000, "holds-brand-licence"), `"per_task":4200000`, `"per_task":42`)
	out = w.brought(signAs(t, parsed(t, cheap.Canonical()), sow.Client, "owner/gable").Raw())
	if e = w.engagement(out.Engagement); e.Offer != "" || e.Versions[0].Seats.Agreed() {
		t.Fatalf("%+v", e.Row)
	}
	// Withdrawn, the offer forms nothing more.
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: offerID, Digest: v.Digest, Kind: sow.Withdrawal})
	if v = w.engagement(offerID); !v.Withdrawn {
		t.Fatalf("%+v", v.Row)
	}
	out = w.brought(requested(t, offer, "owner/gable", wickAgent, now+92_000, "holds-brand-licence").Raw())
	if e = w.engagement(out.Engagement); e.Versions[0].Seats.Agreed() || !slices.Contains(e.Waiting, agreement.WaitComplete) {
		t.Fatalf("%+v", e.Row)
	}
	w.signSoW("offer_closed", e.ID, out.Digest, "complete")
}

// TestDirectedOfferFormsOnce also where many requests come at the same time.
func TestDirectedOfferFormsOnce(t *testing.T) {
	w := owned(t)
	offerID, offer := w.published(fourConditions, "", `"client": null,`, `"client": null, "offered_to": {"agent": "`+wickAgent+`", "owner": "Gable & Sons", "expires_at": "`+span.UTC(w.clock.Now()+10*time.Hour.Milliseconds())+`"},`)
	var wg sync.WaitGroup
	for i := range 20 {
		d := requested(t, offer, "owner/gable", wickAgent, w.clock.Now()+int64(i)*1000, "holds-brand-licence")
		wg.Go(func() {
			if _, err := w.owner.Import(context.Background(), d.Raw(), "", agreement.Source{Kind: "file"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v := w.engagement(offerID)
	agreed := 0
	page, err := w.owner.Engagements(approvals.EngagementFilter{Formed: offerID})
	if err != nil || page.Total != 20 {
		t.Fatalf("%d, %v", page.Total, err)
	}
	for _, r := range page.Rows {
		if w.engagement(r.ID).Versions[0].Seats.Agreed() {
			agreed++
		}
	}
	if agreed != 1 || !v.Spent || v.Formations != 1 {
		t.Fatalf("%d agreed; %+v", agreed, v.Row)
	}
	// Another party than the one it names is refused, and so is anybody once it has lapsed.
	w.clock.pass(11 * time.Hour)
	v = w.engagement(offerID)
	if !v.Versions[0].Findings.Has("directed_spent") && !v.Versions[0].Findings.Has("directed_lapsed") {
		t.Fatalf("%+v", v.Versions[0].Findings)
	}
}

const ceiling = `"currency": "XCR", "ceiling": {"period": "month", "amount": 9000000},
    "rates"`

// allowed brings a pre-authorised offer.
func (w *world) allowed(client string, times int64) (offer *sow.Document, id string) {
	w.t.Helper()
	offer = offerOf(w.t, `"currency": "XCR",
    "rates"`, ceiling)
	out := w.brought(offer.Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	got, err := w.owner.Preauthorise(context.Background(), agreement.Preauthorisation{
		Offer: out.Engagement, Digest: out.Digest, Client: client, Party: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, MaxCommitted: 9_000_000, Times: times,
		NotAfter: w.clock.Now() + 3_600_000,
	})
	if err != nil || got.Code != approvals.OutcomeDone {
		w.t.Fatalf("%+v, %v", got, err)
	}
	return offer, out.Engagement
}

func formAsk(id string, offer *sow.Document, startsAt int64) approvals.SoWAsk {
	return approvals.SoWAsk{RequestID: id, Session: "s", Document: offer.Raw(), Move: "form", Fill: &sow.Fill{
		Client: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, StartsAt: startsAt, Assertions: []string{"holds-brand-licence"},
	}}
}

type submitted struct {
	Outcome, Engagement, Digest, Code string
	Bundle                            json.RawMessage
	Act                               json.RawMessage
}

func (a *agent) submit(ask approvals.SoWAsk) (approvals.Answer, submitted) {
	a.w.t.Helper()
	got, err := a.conn.SoWSubmit(context.Background(), ask)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return got, resultOf(a.w.t, got)
}

func resultOf(t testing.TB, a approvals.Answer) (out submitted) {
	t.Helper()
	if a.Result != nil {
		if err := json.Unmarshal(a.Result, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestPreauthorised: within its bounds an agent forms at once, and beyond them the owner is asked.
func TestPreauthorised(t *testing.T) {
	w := owned(t)
	a, other := w.pair("Buyer"), w.pair("Other")
	offer, id := w.allowed(a.id, 3)
	now := w.clock.Now()
	for i := range 3 {
		_, got := a.submit(formAsk(fmt.Sprint("f", i), offer, now+int64(i)*1000))
		if got.Outcome != "signed" {
			t.Fatalf("%+v", got)
		}
		b, err := bundle.Parse(got.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		if s := parsed(t, b.Document).VerifySignatures(sow.Pins{Client: w.owner.Status().Public.OwnerKey}); s.Client == nil {
			t.Fatalf("%+v", s)
		}
		// The same call again gives the same and spends nothing.
		if _, again := a.submit(formAsk(fmt.Sprint("f", i), offer, now+int64(i)*1000)); again.Engagement != got.Engagement {
			t.Fatalf("%+v", again)
		}
	}
	ans, _ := a.submit(formAsk("f9", offer, now+9000))
	if ans.Pending != "f9" {
		t.Fatalf("the fourth: %+v", ans)
	}
	if ans, _ = other.submit(formAsk("o1", offer, now+10_000)); ans.Pending != "o1" {
		t.Fatalf("another client: %+v", ans)
	}
	if p := w.engagement(id).Preauthorisations; len(p) != 1 || p[0].Used != 3 || p[0].State != "spent" {
		t.Fatalf("%+v", p)
	}
	if _, err := a.conn.SoWSubmit(context.Background(), formAsk("f9", offer, now+9001)); code(err) != approvals.CodeRequestIDReused {
		t.Fatalf("%v", err)
	}
	// What waits for the owner outlives the program; the owner signs one, and declines the other.
	w.stop()
	w.start()
	w.unlock()
	a.connect()
	other.connect()
	waiting, err := w.owner.Engagements(approvals.EngagementFilter{Waiting: true})
	if err != nil || waiting.Total != 2 {
		t.Fatalf("%+v, %v", waiting, err)
	}
	for _, r := range waiting.Rows {
		if !slices.Contains(r.Waiting, agreement.WaitCountersign) || r.Role != sow.Client {
			t.Fatalf("%+v", r)
		}
		v := w.engagement(r.ID)
		if v.SeatFixed {
			t.Error("an agent chose the seat")
		}
		if r.From.Client == a.id {
			w.signSoW(approvals.OutcomeDone, r.ID, r.Digest, "countersign")
		} else if err := w.owner.DeclineSoW(context.Background(), r.ID, r.Digest); err != nil {
			t.Fatal(err)
		}
	}
	got, err := a.conn.SoWAwait(context.Background(), "f9")
	if err != nil || resultOf(t, got).Outcome != "signed" {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = other.conn.SoWAwait(context.Background(), "o1"); err != nil || resultOf(t, got).Outcome != "declined" {
		t.Fatalf("%+v, %v", got, err)
	}
	// What one has brought the other does not learn.
	mine := resultOf(t, got).Engagement
	if _, err := a.conn.SoWStatus(context.Background(), mine); code(err) != "unknown_engagement" {
		t.Fatalf("%v", err)
	}
	if _, err := other.conn.SoWStatus(context.Background(), mine); err != nil {
		t.Fatal(err)
	}
	if _, err := other.conn.SoWGet(context.Background(), mine, ""); code(err) != "not_open" {
		t.Fatalf("what was never signed is given: %v", err)
	}
}

// TestEndedPreauthorisation ends at once, also while the vault is locked.
func TestEndedPreauthorisation(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	offer, id := w.allowed(a.id, 3)
	if _, got := a.submit(formAsk("f1", offer, w.clock.Now())); got.Outcome != "signed" {
		t.Fatalf("%+v", got)
	}
	if err := w.owner.Lock(context.Background(), "asked"); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.EndPreauthorisation(context.Background(), w.engagement(id).Preauthorisations[0].ID); err != nil {
		t.Fatal(err)
	}
	w.unlock()
	if ans, _ := a.submit(formAsk("f2", offer, w.clock.Now()+1000)); ans.Pending != "f2" {
		t.Fatalf("%+v", ans)
	}
	if p := w.engagement(id).Preauthorisations; p[0].State != "ended" || p[0].Used != 1 {
		t.Fatalf("%+v", p)
	}
}

// TestConcurrentFormations: a hundred at once under a pre-authorisation of 40 sign exactly 40.
func TestConcurrentFormations(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	offer, id := w.allowed(a.id, 40)
	now := w.clock.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	signed := 0
	for i := range 100 {
		wg.Go(func() {
			for {
				got, err := a.conn.SoWSubmit(context.Background(), formAsk(fmt.Sprint("f", i), offer, now+int64(i)*1000))
				if c := code(err); c == approvals.CodeTooMany {
					mu.Lock()
					full := signed >= 40
					mu.Unlock()
					w.clock.pass(2 * time.Second)
					if full {
						return
					}
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if resultOf(t, got).Outcome == "signed" {
					mu.Lock()
					signed++
					mu.Unlock()
				}
				return
			}
		})
	}
	wg.Wait()
	if p := w.engagement(id).Preauthorisations; signed != 40 || p[0].Used != 40 {
		t.Fatalf("%d signed; %+v", signed, p)
	}
}

// TestRequestsWhileLocked: a request that comes while the vault is locked is completed once it is open.
func TestRequestsWhileLocked(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	_, offer := w.published(fourConditions, "")
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	out := w.brought(requested(t, offer, "owner/gable", wickAgent, w.clock.Now(), "holds-brand-licence").Raw())
	if v := w.engagement(out.Engagement); v.Versions[0].Seats.Agreed() {
		t.Fatalf("%+v", v.Versions[0])
	}
	w.desk.Tick(ctx)
	w.unlock()
	w.desk.Tick(ctx)
	if v := w.engagement(out.Engagement); !v.Versions[0].Seats.Agreed() || len(v.Waiting) != 0 {
		t.Fatalf("%+v %+v", v.Versions[0].Seats, v.Waiting)
	}
}

// TestNothingFormsWhileAway: while the screen is locked neither a pre-authorisation nor an own offer signs anything.
func TestNothingFormsWhileAway(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	a := w.pair("Buyer")
	offer, _ := w.allowed(a.id, 3)
	_, own := w.published(fourConditions, "")
	before := w.entries("sow.signed")
	w.owner.SetAway(true)
	if ans, _ := a.submit(formAsk("f1", offer, w.clock.Now())); ans.Pending != "f1" {
		t.Fatalf("%+v", ans)
	}
	out := w.brought(requested(t, own, "owner/gable", wickAgent, w.clock.Now(), "holds-brand-licence").Raw())
	w.desk.Tick(ctx)
	if n := w.entries("sow.signed"); n != before {
		t.Fatalf("%d signatures while away", n-before)
	}
	w.owner.SetAway(false)
	w.desk.Tick(ctx)
	if v := w.engagement(out.Engagement); !v.Versions[0].Seats.Agreed() {
		t.Fatalf("%+v", v.Versions[0].Seats)
	}
	if _, got := a.submit(formAsk("f2", offer, w.clock.Now()+5000)); got.Outcome != "signed" {
		t.Fatalf("%+v", got)
	}
}

// TestWhatComesDuringACeremony: a document that comes between the asking and the answer is not overlooked.
func TestWhatComesDuringACeremony(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	w.enrol()
	ctx := context.Background()
	if err := w.owner.SetDeployment(ctx, "", &everything); err != nil {
		t.Fatal(err)
	}
	w.pinKey(orreryAgent, "owner/inkwell")
	base := requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now())
	first := w.brought(signAs(t, parsed(t, base.Canonical()), sow.Provider, "owner/inkwell").Raw())
	out := w.signWhile(b, approvals.Signing{Engagement: first.Engagement, Digest: first.Digest, Move: "countersign"}, func() {
		w.brought(signAs(t, amended(t, base, `"per_task":4200000`, `"per_task":9900000`), sow.Provider, "owner/inkwell").Raw())
	})
	if out.Code != approvals.OutcomeChanged {
		t.Fatalf("%+v", out)
	}
	if n := w.entries("sow.signed"); n != 0 {
		t.Fatalf("%d signatures", n)
	}
}

// TestProposalOfOurs: a document of ours to one party, signed by us first, in the seat that we choose.
func TestProposalOfOurs(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	d := minted(t, sample(t, "no-charge-engagement"))
	out, err := w.owner.DraftSoW(ctx, d.Raw())
	if err != nil || !out.Findings.OK() {
		t.Fatalf("%+v, %v", out, err)
	}
	v := w.engagement(out.Engagement)
	if v.State != sow.Template || v.Role != "" || v.SeatFixed {
		t.Fatalf("%+v", v.Row)
	}
	w.pinKey(wickAgent, "owner/gable")
	got, err := w.owner.SignSoW(ctx, approvals.Signing{Engagement: v.ID, Digest: v.Digest, Move: "propose", Role: sow.Provider})
	if err != nil || got.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", got, err)
	}
	if v = w.engagement(v.ID); v.State != sow.PartiallySigned || v.Role != sow.Provider || !v.SeatFixed {
		t.Fatalf("%+v", v.Row)
	}
	w.brought(signAs(t, w.document(v.ID, v.Digest), sow.Client, "owner/gable").Raw())
	if v = w.engagement(v.ID); v.State != sow.Active && v.State != sow.Agreed || v.Parties[1].Key == "" {
		t.Fatalf("%+v", v.Row)
	}
	// Nothing is charged, so nothing is disputed in money; standing seats are to be closed by hand at the end.
	if m := w.moveOf(v, "dispute", v.Digest); m.Blocked != "no_charge_settlement" {
		t.Fatalf("%+v", m)
	}
	if len(v.ToClose) != 1 || v.ToClose[0].Grant.Name != "estate-register" {
		t.Fatalf("%+v", v.ToClose)
	}
}

// TestOfferToSomebodyElse is not taken up, and neither is one that has lapsed.
func TestOfferToSomebodyElse(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	end := span.UTC(w.clock.Now() + time.Hour.Milliseconds())
	named := func(agent string) agreement.Imported {
		return w.brought(signAs(t, minted(t, sample(t, "standing-proposal", fourConditions, "", `"client": null,`,
			`"client": null, "offered_to": {"agent": "`+agent+`", "owner": "Assay House", "expires_at": "`+end+`"},`)), sow.Provider, "owner/inkwell").Raw())
	}
	theirs, ours := named(wickAgent), named(ourAgent)
	w.pinKey(orreryAgent, "owner/inkwell")
	fill := sow.Fill{Client: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, StartsAt: w.clock.Now(), Assertions: []string{"holds-brand-licence"}}
	if _, err := w.owner.Complete(ctx, approvals.Formation{Offer: theirs.Engagement, Digest: theirs.Digest, Fill: fill}); code(err) != "directed_wrong_party" {
		t.Fatalf("%v", err)
	}
	v, err := w.owner.Complete(ctx, approvals.Formation{Offer: ours.Engagement, Digest: ours.Digest, Fill: fill})
	if err != nil {
		t.Fatal(err)
	}
	due, err := w.owner.Reminders(w.clock.Now()+2*time.Hour.Milliseconds(), 10)
	if err != nil || len(due) == 0 || due[0].Kind != agreement.RemindOffer {
		t.Fatalf("%+v, %v", due, err)
	}
	w.clock.pass(61 * time.Minute)
	w.desk.Tick(ctx)
	w.unlock()
	if m := w.moveOf(w.engagement(ours.Engagement), "form", ours.Digest); m.Blocked != "directed_lapsed" {
		t.Fatalf("%+v", m)
	}
	// What was filled in before it lapsed is not signed after it.
	w.signSoW("directed_lapsed", v.ID, v.Digest, "countersign")
}

// delivery is a job manifest that the provider's agent has signed.
func delivery(t testing.TB, task string, at int64) []byte {
	t.Helper()
	k, text := samplekey.Of(t, "agent/orrery")
	raw := `{"agent":"` + text + `","context_id":null,"format":"job-manifest-v1","job":"` + task + `","offering":"explainer-package","pieces":[{"digest":"sha256:` + strings.Repeat("0", 64) +
		`","media_type":"text/plain","name":"script","ref":"r1","reused":false,"size":1,"step":"write-the-script"}],"produced_at":"` + span.UTC(at) + `","reused":{"of":1,"pieces":0},` +
		`"revises":null,"task_id":"` + task + `","version":1}`
	v, err := jcs.Parse([]byte(raw), jcs.SoW)
	if err != nil {
		t.Fatal(err)
	}
	sig := sow.SignatureText(ed25519.Sign(k, tag.JobManifest.Message(sow.JobCanonical(v))))
	return []byte(strings.TrimSuffix(raw, "}") + `,"sig":"` + sig + `"}`)
}

// TestReminders: what becomes due is told, what silence means twice, and none of it after it was answered.
func TestReminders(t *testing.T) {
	w := owned(t)
	day := 24 * time.Hour.Milliseconds()
	soon := span.UTC(w.clock.Now() + 20*day)
	id, _ := w.running(`"media_type": "text/plain"
      }
    ],`, `"media_type": "text/plain"
      }
    ],
    "interim": [{"name": "outline", "media_type": "text/markdown", "due": "`+soon+`"}],
    "acceptance": {"test_set": {"digest": "sha256:`+strings.Repeat("a", 64)+`", "withheld": true}, "measure": "shots that match the brief", "threshold": {"min_fraction": 0.95}, "deemed_accepted_after_days": 10, "grade": "evidence"},`)
	at := w.clock.Now()
	w.brought(delivery(t, "task-7", at))
	kinds := func() (out []string) {
		list, err := w.owner.Reminders(w.clock.Now()+400*day, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.Engagement != id {
				t.Errorf("%+v", r)
			}
			word := string(r.Kind)
			if r.Last {
				word += " last"
			}
			out = append(out, word)
		}
		return out
	}
	if got := kinds(); !slices.Equal(got, []string{"deemed_acceptance", "deemed_acceptance last", "revision_window", "interim", "ends"}) {
		t.Fatalf("%q", got)
	}
	v := w.engagement(id)
	i := slices.IndexFunc(v.Reminders, func(r agreement.Reminder) bool { return r.Last })
	if r := v.Reminders[i]; r.About != "task-7" || r.At != (at-at%1000)+9*day {
		t.Fatalf("%+v", r)
	}
	// A manifest that nobody signed says nothing of a delivery.
	w.brought(bytes.Replace(delivery(t, "task-8", at), []byte(`"task_id":"task-8"`), []byte(`"task_id":"task-9"`), 1), id)
	if got := kinds(); len(got) != 5 {
		t.Fatalf("%q", got)
	}
	// Once it is reviewed, silence is none; the review stands beside what the form check found.
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: v.Digest, Kind: sow.Review, Ground: "rejection", Reason: "no narration", Cites: []string{"task-7"}})
	if got := kinds(); !slices.Equal(got, []string{"revision_window", "interim", "ends"}) {
		t.Fatalf("%q", got)
	}
	if v = w.engagement(id); len(v.Reviews) != 1 || v.Reviews[0].Accepted || !v.Reviews[0].Checked || !v.Reviews[0].Form.Has("deliverable_form") {
		t.Fatalf("%+v", v.Reviews)
	}
	w.act("rejection_without_reason", approvals.ActAsk{Engagement: id, Digest: v.Digest, Kind: sow.Review, Ground: "rejection", Cites: []string{"task-7"}})
}

// TestInboxOfEngagements: what waits stands in the Inbox, also after another start, until it is done.
func TestInboxOfEngagements(t *testing.T) {
	w := owned(t)
	id, doc := w.running()
	waiting := func() (out []approvals.Item) {
		for _, it := range w.owner.Inbox() {
			if it.Kind == approvals.ItemSoW {
				out = append(out, it)
			}
		}
		return out
	}
	if got := waiting(); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
	am := w.brought(signAs(t, amended(t, parsed(t, doc.Canonical()), `"version":1,"volume"`, `"version":2,"volume"`, `"per_task":4200000`, `"per_task":4100000`), sow.Provider, "owner/inkwell").Raw())
	if got := waiting(); len(got) != 1 || got[0].ID != id || got[0].Wants != agreement.WaitApprove || got[0].Next {
		t.Fatalf("%+v", got)
	}
	w.stop()
	w.start()
	w.unlock()
	if got := waiting(); len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: am.Digest, Kind: sow.Denial, Reason: "no"})
	if got := waiting(); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
}

// TestConflict: other bytes under one identifier and version are both kept, and nothing is signed until the owner says which counts.
func TestConflict(t *testing.T) {
	w := owned(t)
	w.pinKey(orreryAgent, "owner/inkwell")
	base := requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now())
	one := signAs(t, parsed(t, base.Canonical()), sow.Provider, "owner/inkwell")
	two := signAs(t, amended(t, base, `"per_task":4200000`, `"per_task":9900000`), sow.Provider, "owner/inkwell")
	first := w.brought(one.Raw())
	if m := w.moveOf(w.engagement(first.Engagement), "countersign", first.Digest); m.Blocked != "" {
		t.Fatalf("%+v", m)
	}
	second := w.brought(two.Raw())
	v := w.engagement(first.Engagement)
	if second.Engagement != first.Engagement || !v.Conflict || len(v.Versions) != 2 || !slices.Contains(v.Waiting, agreement.WaitConflict) {
		t.Fatalf("%+v", v.Row)
	}
	w.signSoW("version_conflict", v.ID, first.Digest, "countersign")
	w.signSoW("version_conflict", v.ID, second.Digest, "countersign")
	if err := w.owner.SettleConflict(context.Background(), v.ID, first.Digest); err != nil {
		t.Fatal(err)
	}
	v = w.engagement(v.ID)
	if v.Conflict || len(v.Versions) != 2 {
		t.Fatalf("%+v", v.Row)
	}
	w.signSoW(agreement.CodeNotOpen, v.ID, second.Digest, "countersign")
	w.signSoW(approvals.OutcomeDone, v.ID, first.Digest, "countersign")
	for _, x := range []agreement.Imported{first, second} {
		raw, err := w.owner.SoWCopy(v.ID, x.SHA256)
		if err != nil || !bytes.Equal(raw, one.Raw()) && !bytes.Equal(raw, two.Raw()) {
			t.Fatalf("a copy is gone: %v", err)
		}
	}
}

// TestHandleRehomed: a handle that names another agent key is not followed before the owner says so.
func TestHandleRehomed(t *testing.T) {
	w := owned(t)
	w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	moved := signAs(t, minted(t, sample(t, "standing-proposal", fourConditions, "", orreryAgent, wickAgent)), sow.Provider, "owner/inkwell")
	out := w.brought(moved.Raw())
	w.pinKey(wickAgent, "owner/inkwell")
	v := w.engagement(out.Engagement)
	if len(v.Rehomed) != 1 || v.Rehomed[0].Was != orreryAgent || v.Rehomed[0].Is != wickAgent || !slices.Contains(v.Waiting, agreement.WaitHandle) {
		t.Fatalf("%+v %+v", v.Rehomed, v.Waiting)
	}
	if m := w.moveOf(v, "form", out.Digest); m.Blocked != "handle_rehomed" {
		t.Fatalf("%+v", m)
	}
	if err := w.owner.ConfirmHandle(context.Background(), v.ID, v.Rehomed[0].Handle, wickAgent); err != nil {
		t.Fatal(err)
	}
	v = w.engagement(v.ID)
	if m := w.moveOf(v, "form", out.Digest); m.Blocked != "" || len(v.Rehomed) != 0 {
		t.Fatalf("%+v", m)
	}
}

// TestApprovalThatClaimsToBeOurs is refused: this vault did not make it.
func TestApprovalThatClaimsToBeOurs(t *testing.T) {
	w := owned(t)
	w.pinKey(orreryAgent, "owner/inkwell")
	ours := w.owner.Status().Public.OwnerKey
	offer := offerOf(t, `"review_window_days": 7,`, `"review_window_days": 7, "approval": {"formation": "person"},`)
	d, err := sow.Instance(offer, sow.Fill{
		Client: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, StartsAt: w.clock.Now(), Assertions: []string{"holds-brand-licence"},
		Approval: &sow.Approval{Act: "formation", Authority: "person", Key: ours, ApprovedAt: span.UTC(w.clock.Now())},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := w.brought(signAs(t, d, sow.Provider, "owner/inkwell").Raw())
	if !out.Findings.Refused("approval_not_ours") {
		t.Fatalf("%+v", out.Findings)
	}
	w.signSoW("approval_not_ours", out.Engagement, out.Digest, "countersign")
	// Our own, made by taking up the offer, counts.
	brought := w.brought(offer.Raw())
	v := w.formSoW(brought.Engagement, brought.Digest, w.clock.Now()+1000)
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
	doc := w.document(v.ID, v.Digest)
	if a := doc.Approvals(); len(a) != 1 || a[0].Key != ours || a[0].Authority != "person" {
		t.Fatalf("%+v", a)
	}
	// Copied into another document of ours it is still one that was made.
	w.brought(signAs(t, doc, sow.Provider, "owner/inkwell").Raw())
	if v = w.engagement(v.ID); v.State != sow.Agreed && v.State != sow.Active || !v.Versions[0].Findings.OK() {
		t.Fatalf("%s %+v", v.State, v.Versions[0].Findings.Errors())
	}
}

// TestAgentThenPersonOnTheDesk: the agent's part comes over the socket, first, and the owner signs once.
func TestAgentThenPersonOnTheDesk(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	offer := offerOf(t, `"review_window_days": 7,`, `"review_window_days": 7, "approval": {"formation": "agent_then_person"},`)
	w.brought(offer.Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	ans, _ := a.submit(formAsk("f1", offer, w.clock.Now()))
	if ans.Pending != "f1" {
		t.Fatalf("%+v", ans)
	}
	waiting, err := w.owner.Engagements(approvals.EngagementFilter{Waiting: true})
	if err != nil || waiting.Total != 1 {
		t.Fatalf("%+v, %v", waiting, err)
	}
	id, digest := waiting.Rows[0].ID, waiting.Rows[0].Digest
	w.signSoW(agreement.CodeIntentMissing, id, digest, "countersign")
	status, err := a.conn.SoWStatus(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Versions []struct {
			Digest string
			Intent []byte
		}
	}
	if err := json.Unmarshal(status.Result, &s); err != nil || len(s.Versions[0].Intent) == 0 {
		t.Fatalf("%s %v", status.Result, err)
	}
	doc := w.document(id, digest)
	agentKey, _ := samplekey.Of(t, "agent/assayer")
	wrong, _ := samplekey.Of(t, "agent/wick")
	bring := func(req string, key ed25519.PrivateKey) submitted {
		_, got := a.submit(approvals.SoWAsk{RequestID: req, Document: doc.Raw(), Intent: sow.SignatureText(ed25519.Sign(key, s.Versions[0].Intent)), IntentKey: ourAgent})
		return got
	}
	if got := bring("i1", wrong); got.Code != "signature_invalid" {
		t.Fatalf("%+v", got)
	}
	if got := bring("i2", agentKey); got.Code != "" {
		t.Fatalf("%+v", got)
	}
	if v := w.engagement(id); len(v.Versions[0].Given) != 1 || v.Versions[0].Given[0].Key != ourAgent {
		t.Fatalf("%+v", v.Versions[0].Given)
	}
	w.signSoW(approvals.OutcomeDone, id, digest, "countersign")
	got, err := a.conn.SoWAwait(context.Background(), "f1")
	if err != nil || resultOf(t, got).Outcome != "signed" {
		t.Fatalf("%+v, %v", got, err)
	}
}

// TestDeployment: what a document states as enforced and the runtimes are not known to do bars the signature.
func TestDeployment(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	if err := w.owner.SetDeployment(ctx, "", &sow.Deployment{}); err != nil {
		t.Fatal(err)
	}
	out := w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v := w.engagement(out.Engagement)
	if m := w.moveOf(v, "form", out.Digest); m.Blocked != "enforcement_unavailable" || v.OwnDeployment {
		t.Fatalf("%+v", m)
	}
	scope := slices.IndexFunc(v.Versions[0].Grades, func(g sow.Grade) bool { return g.Member == "scope" })
	if g := v.Versions[0].Grades[scope]; g.Stated != sow.Enforced || g.Earned != sow.Evidence || !g.Unavailable {
		t.Fatalf("%+v", g)
	}
	if err := w.owner.SetDeployment(ctx, v.ID, &everything); err != nil {
		t.Fatal(err)
	}
	v = w.engagement(out.Engagement)
	if m := w.moveOf(v, "form", out.Digest); m.Blocked != "" || !v.OwnDeployment {
		t.Fatalf("%+v", m)
	}
	// It is the log that says so: another start knows it too, and it can be taken back.
	w.stop()
	w.start()
	if d, own := w.owner.Deployment(v.ID); !own || d != everything {
		t.Fatalf("%+v %v", d, own)
	}
	w.unlock()
	if err := w.owner.SetDeployment(ctx, v.ID, nil); err != nil {
		t.Fatal(err)
	}
	if d, own := w.owner.Deployment(v.ID); own || d != (sow.Deployment{}) {
		t.Fatalf("%+v %v", d, own)
	}
}

// theirAct is an act of the other owner's.
func theirAct(t testing.TB, d *sow.Document, label string, f sow.ActFields) []byte {
	t.Helper()
	k, text := samplekey.Of(t, label)
	f.SoW, f.Version, f.Document, f.Key, f.At = d.ID(), d.Version(), d.Digest(), text, span.UTC(time.Now().UnixMilli())
	a, err := sow.NewAct(f)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := a.WithSignature(ed25519.Sign(k, a.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	return signed.Bytes()
}

// TestAmendmentsOfOurs: proposed, denied by the other side, proposed anew, approved; one open at a time; silence lapses.
func TestAmendmentsOfOurs(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	id, doc := w.running()
	next := func(price string) *sow.Document {
		return amended(t, doc, `"per_task":4200000`, `"per_task":`+price, `"version":1,"volume"`, `"version":2,"volume"`)
	}
	draft := func(d *sow.Document) string {
		out, err := w.owner.DraftSoW(ctx, d.Raw())
		if err != nil || out.Engagement != id {
			t.Fatalf("%+v, %v", out, err)
		}
		return out.Digest
	}
	first := draft(next("4000000"))
	w.signSoW(approvals.OutcomeDone, id, first, "propose")
	v := w.engagement(id)
	if v.Versions[0].State != sow.AmendmentProposed || v.Versions[0].ProposedBy != sow.Client || v.State != sow.Active {
		t.Fatalf("%+v", v.Versions[0])
	}
	// A denial by somebody else's key changes nothing, and is listed as ignored.
	w.brought(theirAct(t, next("4000000"), "owner/gable", sow.ActFields{Kind: sow.Denial, Role: sow.Provider, Reason: "no"}))
	v = w.engagement(id)
	if r := v.Records[len(v.Records)-1]; v.Versions[0].Outcome != "" || r.Verified || r.Ignored != "signer_not_owner" {
		t.Fatalf("%+v", r)
	}
	w.brought(theirAct(t, next("4000000"), "owner/inkwell", sow.ActFields{Kind: sow.Denial, Role: sow.Provider, Reason: "too low"}))
	if v = w.engagement(id); v.Versions[0].Outcome != "denied" {
		t.Fatalf("%+v", v.Versions[0])
	}
	// While one of theirs is open ours is not proposed.
	theirs := w.brought(signAs(t, next("5000000"), sow.Provider, "owner/inkwell").Raw())
	second := draft(next("4100000"))
	if out, err := w.owner.SignSoW(ctx, approvals.Signing{Engagement: id, Digest: second, Move: "propose"}); err != nil || out.Code == approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	w.brought(theirAct(t, next("5000000"), "owner/inkwell", sow.ActFields{Kind: sow.Withdrawal, Role: sow.Provider}))
	v = w.engagement(id)
	i := slices.IndexFunc(v.Versions, func(x agreement.VersionView) bool { return x.Digest == theirs.Digest })
	if v.Versions[i].Outcome != "withdrawn" {
		t.Fatalf("%+v", v.Versions[i])
	}
	w.signSoW(approvals.OutcomeDone, id, second, "propose")
	w.brought(signAs(t, w.document(id, second), sow.Provider, "owner/inkwell").Raw())
	if v = w.engagement(id); v.Version != 2 || v.Digest != second || v.State != sow.Active {
		t.Fatalf("%+v", v.Row)
	}
	// Silence: a third lapses after the window, and is not approved any more.
	late := signAs(t, amended(t, parsed(t, w.document(id, second).Canonical()), `"per_task":4100000`, `"per_task":4150000`, `"version":2,"volume"`, `"version":3,"volume"`), sow.Provider, "owner/inkwell")
	third := w.brought(late.Raw())
	if v = w.engagement(id); !slices.ContainsFunc(v.Reminders, func(r agreement.Reminder) bool { return r.Kind == agreement.RemindReview }) {
		t.Fatalf("%+v", v.Reminders)
	}
	w.clock.pass(8 * 24 * time.Hour)
	w.desk.Tick(ctx) // locks, and notes the lapse
	if v = w.engagement(id); v.Versions[0].Outcome != "lapsed" || !slices.ContainsFunc(v.Timeline, func(m agreement.Moved) bool { return m.What == "lapsed" && m.By == "time" && m.Seq > 0 }) {
		t.Fatalf("%+v %+v", v.Versions[0], v.Timeline)
	}
	w.unlock()
	w.signSoW("not_open", id, third.Digest, "approve")
	if log, err := w.owner.VerifyLog(ctx); err != nil || !log.OK {
		t.Fatalf("%+v %v", log, err)
	}
}

// TestTheirTermination ends the engagement, and what stays open by hand is listed.
func TestTheirTermination(t *testing.T) {
	w := owned(t)
	id, doc := w.running(`"via": "oauth",`, `"via": "seat",`)
	w.brought(theirAct(t, doc, "owner/inkwell", sow.ActFields{Kind: sow.Termination, Role: sow.Provider, Ground: "cause", Reason: "three invoices unpaid"}))
	v := w.engagement(id)
	if v.State != sow.Terminated || len(v.ToClose) != 1 || !v.ToClose[0].Ended || v.ToClose[0].Grant.Name != "brand-assets" {
		t.Fatalf("%s %+v", v.State, v.ToClose)
	}
	due, err := w.owner.Reminders(w.clock.Now()+1000, 10)
	if err != nil || len(due) != 1 || due[0].Kind != agreement.RemindClose || due[0].About != "brand-assets" || !due[0].Due {
		t.Fatalf("%+v, %v", due, err)
	}
	if err := w.owner.CloseGrant(context.Background(), id, "brand-assets", true); err != nil {
		t.Fatal(err)
	}
	if due, err = w.owner.Reminders(w.clock.Now()+1000, 10); err != nil || len(due) != 0 || !w.engagement(id).ToClose[0].Closed {
		t.Fatalf("%+v, %v", due, err)
	}
	// Nothing more is agreed under it.
	next := signAs(t, amended(t, parsed(t, doc.Canonical()), `"version":1,"volume"`, `"version":2,"volume"`, `"per_task":4200000`, `"per_task":1`), sow.Provider, "owner/inkwell")
	out := w.brought(next.Raw())
	w.signSoW(agreement.CodeNotOpen, id, out.Digest, "approve")
}

// TestBroughtIn keeps what others claim apart from what is verified.
func TestBroughtIn(t *testing.T) {
	w := owned(t)
	id, doc := w.running()
	for raw, want := range map[string]agreement.RecordKind{
		`{"input":"brief","problem":"unreadable","description":"The file does not open."}`:                    agreement.RecordProblem,
		`{"probe":true,"inputs":[{"input":"brief","passed":true}]}`:                                           agreement.RecordProbeRecord,
		`{"agent":"` + orreryAgent + `","offerings":[{"id":"explainer-package"}]}`:                            agreement.RecordManifest,
		`{"verdict":"v1","role":"arbiter","engagement":"` + doc.ID() + `"}`:                                   agreement.RecordVerdict,
		`{"arbiter":"` + wickAgent + `","engagement":"` + doc.ID() + `"}`:                                     agreement.RecordAppointment,
		`{"total":10,"currency":"XCR","engagement":"` + doc.ID() + `"}`:                                       agreement.RecordQuote,
		`{"total":10,"currency":"XCR","lines":[],"engagement":"` + doc.ID() + `"}`:                            agreement.RecordSettlement,
		`{"input":"brief","problem":"other","description":"Something else.","engagement":"` + doc.ID() + `"}`: agreement.RecordProblem,
	} {
		out := w.brought([]byte(raw), id)
		if out.Kind != want || out.Engagement != id {
			t.Errorf("%s: %+v", raw, out)
		}
		kept, err := w.owner.SoWCopy(id, out.SHA256)
		if err != nil || string(kept) != raw {
			t.Errorf("%s is kept as %s (%v)", raw, kept, err)
		}
	}
	v := w.engagement(id)
	for _, r := range v.Records {
		if r.Verified && !r.Own {
			t.Errorf("%s is taken for verified", r.Kind)
		}
	}
	if !slices.Contains(v.Waiting, agreement.WaitProblem) {
		t.Fatalf("%+v", v.Waiting)
	}
	for _, r := range v.Records {
		if r.Kind != agreement.RecordProblem {
			continue
		}
		for _, answer := range []string{"escalated", "escalated"} {
			if err := w.owner.AnswerProblem(context.Background(), id, r.SHA256, answer); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.owner.AnswerProblem(context.Background(), id, r.SHA256, "escalated"); code(err) != agreement.CodeNotOpen {
			t.Fatalf("a third escalation: %v", err)
		}
		if err := w.owner.AnswerProblem(context.Background(), id, r.SHA256, "resolved"); err != nil {
			t.Fatal(err)
		}
	}
	if v = w.engagement(id); slices.Contains(v.Waiting, agreement.WaitProblem) {
		t.Fatalf("%+v", v.Waiting)
	}
	for raw, want := range map[string]string{
		`{`: "not_understood", `[]`: "not_understood", `{"a":1}`: "not_understood", `{"sow":"v1"}`: "not_understood", `{"sow":"v1","sow":"v1"}`: "not_understood",
		`{"verdict":"v1","engagement":"sow_nobody"}`: "no_engagement", `{"a":"` + strings.Repeat("x", 9<<20) + `"}`: "too_long",
		`{"sow":"v1","x":"` + strings.Repeat("x", 1<<20) + `"}`: "too_long",
	} {
		if out := w.bring([]byte(raw)); out.Code != want {
			t.Errorf("%.40s: %+v", raw, out)
		}
	}
}

// TestRecordsBesideCount: junk, copied and relabelled records are listed as ignored, and undo nothing.
func TestRecordsBesideCount(t *testing.T) {
	w := owned(t)
	id, doc := w.running()
	ours := w.owner.Status().Public.OwnerKey
	junk := signAs(t, doc, sow.Provider, "owner/gable")
	raw := junk.Raw()
	copied := bytes.Replace(raw, []byte(`"role":"client"`), []byte(`"role":"provider"`), 1)
	for _, b := range [][]byte{raw, copied} {
		w.brought(b)
	}
	v := w.engagement(id)
	s := v.Versions[0].Seats
	if v.State != sow.Active || s.Client == nil || s.Client.Key != ours || len(s.Ignored) < 2 || len(v.Versions) != 1 || len(v.Versions[0].Copies) < 3 {
		t.Fatalf("%s %+v", v.State, s)
	}
}

// TestBlockedKey refuses, and says so.
func TestBlockedKey(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	_, key := samplekey.Of(t, "owner/inkwell")
	out := w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	if err := w.owner.BlockKey(ctx, key, "did not deliver"); err != nil {
		t.Fatal(err)
	}
	v := w.engagement(out.Engagement)
	if m := w.moveOf(v, "form", out.Digest); m.Blocked != "blocked_locally" || !v.Parties[0].Blocked {
		t.Fatalf("%+v", m)
	}
	if b := w.owner.BlockedKeys(); len(b) != 1 || b[0].Key != key || b[0].Why != "did not deliver" {
		t.Fatalf("%+v", b)
	}
	again := signAs(t, minted(t, sample(t, "standing-proposal", fourConditions, "", `"term_months": 6`, `"term_months": 7`)), sow.Provider, "owner/inkwell")
	if got := w.bring(again.Raw()); got.Code != "blocked_locally" {
		t.Fatalf("%+v", got)
	}
	if err := w.owner.UnblockKey(ctx, key); err != nil {
		t.Fatal(err)
	}
	w.brought(again.Raw())
	if m := w.moveOf(w.engagement(out.Engagement), "form", out.Digest); m.Blocked != "" || len(w.owner.BlockedKeys()) != 0 {
		t.Fatalf("%+v", m)
	}
}

// TestSeatsOfTheOwner: the seat that signs is the one that was chosen, and stays it.
func TestSeatsOfTheOwner(t *testing.T) {
	w := owned(t)
	seat, err := w.owner.OpenSeat(context.Background(), "Studio")
	if err != nil || seat.Index != 1 {
		t.Fatalf("%+v, %v", seat, err)
	}
	if list := w.owner.Seats(); len(list) != 2 || list[0].Key != w.owner.Status().Public.OwnerKey || list[1] != seat {
		t.Fatalf("%+v", list)
	}
	out := w.brought(offerOf(t).Raw())
	w.pinKey(orreryAgent, "owner/inkwell")
	v, err := w.owner.Complete(context.Background(), approvals.Formation{Offer: out.Engagement, Digest: out.Digest, Seat: 1, Fill: sow.Fill{
		Client: sow.Seat{Agent: ourAgent, Owner: "Studio"}, StartsAt: w.clock.Now(), Assertions: []string{"holds-brand-licence"},
	}})
	if err != nil || v.Seat != seat {
		t.Fatalf("%+v, %v", v.Seat, err)
	}
	w.signSoW(approvals.OutcomeDone, v.ID, v.Digest, "countersign")
	if v = w.engagement(v.ID); v.Versions[0].Seats.Client == nil || v.Versions[0].Seats.Client.Key != seat.Key {
		t.Fatalf("%+v", v.Versions[0].Seats)
	}
	card := w.card()
	if s := card.Fields().Seats; len(s) != 2 || s[1].Key != seat.Key {
		t.Fatalf("%+v", s)
	}
}

// TestFloorOnTheDesk: the owner's own floor holds on the desk too.
func TestFloorOnTheDesk(t *testing.T) {
	w := owned(t)
	a := w.pair("Buyer")
	offer, _ := w.allowed(a.id, 3)
	if out, err := w.owner.SetPolicy(context.Background(), permit.Policy{SoWFloor: "person"}); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if ans, _ := a.submit(formAsk("f1", offer, w.clock.Now())); ans.Pending != "f1" {
		t.Fatalf("%+v", ans)
	}
}

// TestNewInstanceKeepsEngagements: documents stay; what this log does not know is taken up again by its signatures and a new pin.
func TestNewInstanceKeepsEngagements(t *testing.T) {
	w := owned(t)
	ctx := context.Background()
	id, doc := w.running()
	if err := w.owner.NewInstance(ctx); err != nil {
		t.Fatal(err)
	}
	v := w.engagement(id)
	if v.Parties[0].Key != "" || len(v.Versions) != 1 || !v.SeatFixed {
		t.Fatalf("%+v", v.Parties)
	}
	if err := w.owner.SetDeployment(ctx, "", &everything); err != nil {
		t.Fatal(err)
	}
	w.pinKey(orreryAgent, "owner/inkwell")
	next := signAs(t, amended(t, parsed(t, doc.Canonical()), `"version":1,"volume"`, `"version":2,"volume"`, `"per_task":4200000`, `"per_task":4100000`), sow.Provider, "owner/inkwell")
	out := w.brought(next.Raw())
	w.signSoW(approvals.OutcomeDone, id, out.Digest, "approve")
	w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: out.Digest, Kind: sow.Termination, Ground: "cause", Reason: "floors missed"})
	if v = w.engagement(id); v.State != sow.Terminated || v.Version != 2 {
		t.Fatalf("%+v", v.Row)
	}
}

// TestKnownLanguages: a desk that has the text of a contract language says so of the documents that name another, and signs none
// that gives that text another hash.
func TestKnownLanguages(t *testing.T) {
	w := owned(t)
	w.pinKey(orreryAgent, "owner/inkwell")
	base := requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now())
	doc := signAs(t, parsed(t, base.Canonical()), sow.Provider, "owner/inkwell")
	named, ok := doc.Language()
	if !ok {
		t.Fatal("no language")
	}
	id := w.brought(doc.Raw()).Engagement
	for _, c := range []struct {
		known sow.Languages
		code  sow.Code
		ends  string
	}{
		{sow.Languages{named.LanguageName: strings.Repeat("0", 64)}, "language_hash_conflict", "language_hash_conflict"},
		{sow.Languages{}, "language_unknown", approvals.OutcomeDone},
	} {
		w.stop()
		w.languages = c.known
		w.start()
		w.unlock()
		if f := w.engagement(id).Versions[0].Findings; !f.Has(c.code) {
			t.Fatalf("%s: %v", c.code, f)
		}
		w.signSoW(c.ends, id, doc.Digest(), "countersign")
	}
}

// TestBothSeatsTaken: where a document does not show which seat is the owner's, nothing is signed before the owner says so.
func TestBothSeatsTaken(t *testing.T) {
	w := owned(t)
	w.pinKey(orreryAgent, "owner/inkwell")
	doc := signAs(t, requested(t, offerOf(t), "owner/gable", ourAgent, w.clock.Now()), sow.Provider, "owner/inkwell")
	id := w.brought(doc.Raw()).Engagement
	if v := w.engagement(id); v.Role != "" || v.SeatFixed {
		t.Fatalf("%+v", v.Row)
	}
	w.signSoW(approvals.CodeUnknownSeat, id, doc.Digest(), "countersign")
	if v := w.engagement(id); v.Role != "" || v.SeatFixed {
		t.Fatalf("%+v", v.Row)
	}
	out, err := w.owner.SignSoW(context.Background(), approvals.Signing{Engagement: id, Digest: doc.Digest(), Move: "countersign", Role: sow.Client})
	if err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if v := w.engagement(id); v.Role != sow.Client || v.State != sow.Active || v.Versions[0].Seats.Client == nil {
		t.Fatalf("%+v", v.Row)
	}
}

// TestEditedCopy: a copy or a record that was edited in the store is not used, and the owner is told.
func TestEditedCopy(t *testing.T) {
	for name, statement := range map[string]string{
		"a copy":           `UPDATE sow_copies SET raw = CAST(replace(CAST(raw AS TEXT), '4200000', '4200001') AS BLOB)`,
		"its signature":    `UPDATE sow_copies SET raw = CAST(replace(CAST(raw AS TEXT), '"sig":"', '"sig":"A') AS BLOB)`,
		"a copy's address": `UPDATE sow_copies SET sha256 = 'x' || sha256`,
		"a record":         `UPDATE sow_records SET raw = CAST(CAST(raw AS TEXT) || ' ' AS BLOB)`,
	} {
		t.Run(name, func(t *testing.T) {
			w := owned(t)
			id, doc := w.running()
			w.act(approvals.OutcomeDone, approvals.ActAsk{Engagement: id, Digest: doc.Digest(), Kind: sow.Review, Ground: "acceptance", Cites: []string{"task_1"}})
			w.stop()
			if w.edit(statement) == 0 {
				t.Fatal("nothing was edited")
			}
			w.start()
			w.unlock()
			v, err := w.owner.Engagement(id)
			if name == "a record" {
				if err != nil || v.State != sow.Active || len(v.Records) != 0 {
					t.Errorf("%+v, %v", v.Records, err)
				}
			} else if name == "its signature" { // the copy from before anybody signed is as it was
				if err != nil || v.State == sow.Active || len(v.Versions) != 1 || len(v.Versions[0].Copies) != 1 {
					t.Errorf("%+v, %v", v.Row, err)
				}
			} else if code(err) != approvals.CodeUnknownEngagement {
				t.Errorf("%+v, %v", v.Row, err)
			}
			if st := w.owner.Status(); st.State != approvals.StateOpen || st.Trouble == nil || st.Trouble.Code != approvals.CodeRowEdited {
				t.Errorf("%+v", st)
			}
		})
	}
}
