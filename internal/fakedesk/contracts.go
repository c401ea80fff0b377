package fakedesk

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/page"
	"vault/derive/envelope"
)

// The sample contracts are the worked example of the specification: Stonework
// Analytics reconciles for Harbor & Line Outfitters. The owner is the client.
const stonework = `{
"sow":"v1","id":"sow_7h3c9k2m5q8t1w4x","version":1,"starts_at":"2026-11-01T00:00:00Z","ends_at":"2027-05-01T00:00:00Z",
"language":{"id":"agent-sow-standard-language","version":4,"sha256":"beffbd918cb404d49bd0bb16e95eb3124115344e2a98e8ab2a97a30f98be4b56"},
"parties":{"provider":{"agent":"UCPY6WISSARF4RVIYT2UKDQLYFNTPJ5JJCJIC3TCB7SINGFDEQP6E3MS","handle":"Granite.books@stonework.example","owner":"Stonework Analytics"},
 "client":{"agent":"UCGE3DKDM2X7HGRXVCEQWL7SYU6C7A7WSK63QGV2Z3CTRVRH3KOHNBL7","handle":"Petrel.mari@harborandline.example","owner":"Harbor & Line Outfitters","organization":"org_harborline"},"grade":"evidence"},
"scope":{"offerings":["reconcile-statement","flag-exceptions"],"examples":{"in_scope":["Reconcile the July statement against our ledger export."],"out_of_scope":["Prepare our quarterly tax filing."]},"grade":"enforced"},
"inputs":[{"name":"bank-statement","media_type":"text/csv","when":"per_task","grade":"enforced"},
 {"name":"ledger","kind":"shared_resource","access":"read-write","via":"mcp","when":"standing","grade":"enforced"},
 {"name":"receipts","kind":"shared_resource","access":"read","when":"standing","grade":"enforced"}],
"deliverables":{"per_task":[{"name":"reconciliation-report","media_type":"application/pdf","rights":{"exclusivity":"non_exclusive","modify":true,"redistribute":false,"self_operable":true,"grade":"recorded"},
  "acceptance":{"test_set":{"digest":"sha256:adaff7b0b6153970dc311c8db1c319587c83037dee0fbbfec089d496644ca20b","withheld":true},"measure":"matched lines","threshold":{"min_fraction":0.95},"deemed_accepted_after_days":10,"grade":"evidence"}},
 {"name":"exceptions","media_type":"application/json"}],
 "interim":[{"name":"month-end-close-summary","media_type":"application/pdf","recurrence":{"every":"month","due_by_day":5}}],"grade":"enforced"},
"revisions":{"included":{"count":1,"window_days":14},"flat":{"model":"flat","amount_micro":600000,"currency":"XCR"},"grade":"enforced"},
"price":{"arrangement":"fixed_fee","currency":"XCR","rates":[{"offering":"reconcile-statement","per_task":2500000},{"offering":"flag-exceptions","per_task":400000}],"ceiling":{"amount":40000000,"period":"month"},"grade":"enforced"},
"volume":{"per_hour":2,"per_day":8,"grade":"enforced"},
"change_control":{"review_window_days":7,"approval":{"formation":"person","amendment":"person"},"approvals":[{"act":"formation","authority":"person","key":"%s","approved_at":"2026-10-29T10:15:42Z","mandate":"mnd_harborline_ap"}],"grade":"enforced"},
"termination":{"convenience_notice_hours":24,"grade":"enforced"},
"disputes":{"posture":"refund_on_failed_task","grade":"evidence"},
"confidentiality":{"transport":{"sealed":true,"grade":"enforced"},"retention":{"max_days":30,"grade":"enforced"},
 "processors":[{"service":"Corvid Inference","domain":"corvid-inference.example","purpose":"model inference, zero-retention tier","processed_in":["eu"]}],"processed_in":["eu","gb"],
 "promises":{"no_training":true,"no_third_party_sharing":true,"grade":"recorded"}},
"reporting":{"level":"on_change","grade":"evidence"},
"liability":{"cap":{"multiple_of_fees":2},"carve_outs":["willful misconduct"],"grade":"recorded"},
"service_floors":{"floors":[{"id":"turnaround","each_task_within":"PT4H"}],"breach":{"misses":3,"within":"P30D","remedy":"terminate_for_cause"},"grade":"evidence"},
"subcontracting":{"posture":"none","grade":"evidence"}}`

// sampleKey is a key pair made of a label. It is nobody's.
func sampleKey(label string) (ed25519.PrivateKey, string) {
	seed := sha256.Sum256([]byte("vault sample owner/" + label))
	k := ed25519.NewKeyFromSeed(seed[:])
	text, err := envelope.EncodeOwnerKey(k.Public().(ed25519.PublicKey))
	if err != nil {
		panic(err)
	}
	return k, text
}

func signedBy(d *sow.Document, role, label, at string) *sow.Document {
	k, text := sampleKey(label)
	out, err := d.WithSignature(role, text, at, ed25519.Sign(k, d.Signed()))
	if err != nil {
		panic(err)
	}
	return out
}

func document(text string) *sow.Document {
	d, err := sow.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return d
}

// Everything is a deployment that does all that a document can claim.
func Everything() sow.Deployment {
	return sow.Deployment{Scope: true, Inputs: true, DeliverableForm: true, Revisions: true, Volume: true, Term: true, ChangeControl: true, Termination: true,
		Rating: true, RefusesCharge: true, ClientMeters: true, Sealed: true, Retention: true, ClearingHolds: true, ClearingReverses: true, VerifiesCounterparty: true, ChecksFormation: true, HoldsApproval: true}
}

// Contracts is a vault with engagements: an offer to sign, a change to answer,
// one in force with records, one that ended.
func Contracts() *Desk {
	d := Enrolled()
	d.SoW.Deployed = map[string]sow.Deployment{"": Everything()}
	_, us := sampleKey("harbor")
	_, them := sampleKey("stonework")
	d.SoW.Keys = []agreement.SeatView{{Index: 1, Name: "Harbor & Line Outfitters", Key: us}}
	d.SoW.Views, d.SoW.Copies = map[string]agreement.View{}, map[string][]byte{}

	text := fmt.Sprintf(stonework, us)
	offer := signedBy(document(text), sow.Provider, "stonework", "2026-10-28T14:02:11Z")
	d.engagement("e_0", offer, nil, us, them, func(v *agreement.View) {
		v.State, v.Waiting, v.At = sow.PartiallySigned, []agreement.Waiting{agreement.WaitCountersign}, ago(5*24*time.Hour)
		v.Versions[0].State = sow.PartiallySigned
		v.Moves = []agreement.Move{{What: "countersign", Digest: offer.Digest(), By: sow.ByPerson}, {What: "refuse", Digest: offer.Digest()}}
		v.Timeline = []agreement.Moved{{At: v.At, Version: 1, State: sow.PartiallySigned, What: "imported", By: "c1"}}
	})

	second := strings.NewReplacer(`"version":1`, `"version":2`, `"amount":40000000`, `"amount":55000000`, `"ends_at":"2027-05-01T00:00:00Z"`, `"ends_at":"2027-11-01T00:00:00Z"`,
		`"name":"receipts","kind":"shared_resource","access":"read","when"`, `"name":"receipts","kind":"shared_resource","access":"read-write","via":"api_token","when"`,
		`{"offering":"flag-exceptions","per_task":400000}`, `{"offering":"flag-exceptions","per_task":400000},{"offering":"chase-credit-note","per_task":900000}`,
		`"offerings":["reconcile-statement","flag-exceptions"]`, `"offerings":["reconcile-statement","flag-exceptions","chase-credit-note"]`, `"max_days":30`, `"max_days":90`)
	both := signedBy(offer, sow.Client, "harbor", "2026-10-29T10:16:05Z")
	next := signedBy(document(second.Replace(text)), sow.Provider, "stonework", "2026-11-03T09:00:00Z")
	d.engagement("e_1", both, next, us, them, func(v *agreement.View) {
		v.State, v.Waiting, v.At = sow.AmendmentProposed, []agreement.Waiting{agreement.WaitApprove}, ago(20*time.Hour)
		v.Versions[1].State, v.Versions[1].InForce = sow.Active, true
		v.Versions[0].State, v.Versions[0].ProposedAt, v.Versions[0].ReviewEnds, v.Versions[0].ProposedBy = sow.AmendmentProposed, ago(20*time.Hour), ago(-6*24*time.Hour-4*time.Hour), sow.Provider
		v.Moves = []agreement.Move{{What: "approve", Digest: next.Digest(), By: sow.ByPerson}, {What: "deny", Digest: next.Digest()}, {What: "counter", Digest: next.Digest()}, {What: "terminate", Digest: both.Digest(), By: sow.ByPerson},
			{What: "dispute", Digest: both.Digest(), By: sow.ByPerson}, {What: "review", Digest: both.Digest()}}
		v.Timeline = []agreement.Moved{
			{At: ago(7 * 24 * time.Hour), Version: 1, What: "imported", By: "c1", State: sow.PartiallySigned}, {At: ago(6 * 24 * time.Hour), Version: 1, What: "countersigned", By: "us", State: sow.Agreed},
			{At: both2ms("2026-11-01T00:00:00Z"), Version: 1, What: "active", By: "time", State: sow.Active}, {At: ago(20 * time.Hour), Version: 2, What: "proposed", By: "them"},
			{At: ago(-6*24*time.Hour - 4*time.Hour), Version: 2, What: "lapsed", By: "time", Due: true}, {At: both2ms("2027-05-01T00:00:00Z"), Version: 1, What: "ends", By: "time", Due: true},
		}
		v.Reminders = []agreement.Reminder{{Engagement: v.ID, Kind: agreement.RemindInterim, At: both2ms("2026-11-05T23:59:59Z"), About: "month-end-close-summary"},
			{Engagement: v.ID, Kind: agreement.RemindReview, At: v.Versions[0].ReviewEnds}, {Engagement: v.ID, Kind: agreement.RemindDeemed, At: both2ms("2026-11-13T00:00:00Z"), About: "task 0197-a3"}}
		v.ToClose = []agreement.GrantToClose{{Grant: sow.Grant{Name: "receipts", Access: "read", Standing: true}}}
		v.Records = []agreement.RecordView{
			{SHA256: strings.Repeat("a1", 32), Kind: agreement.RecordQuote, At: ago(50 * time.Hour), Verified: false, Claimed: "Granite.books@stonework.example"},
			{SHA256: strings.Repeat("b2", 32), Kind: agreement.RecordSettlement, At: ago(30 * time.Hour), Claimed: "acme-mesh.example", Dispute: money.FeeArithmetic},
			{SHA256: strings.Repeat("c3", 32), Kind: agreement.RecordProblem, At: ago(5 * time.Hour), Verified: true},
		}
		v.Unsettled = money.Some(2900000)
		v.Reviews = []agreement.Review{{Ours: true, Accepted: false, Reason: "Two of the three exceptions were already settled in July.", Checked: true}}
	})

	ended := signedBy(signedBy(document(strings.NewReplacer("sow_7h3c9k2m5q8t1w4x", "sow_2b9d4f6h8k1m3p5r", "Stonework Analytics", "Copperline Ledger Works", "Granite.books@stonework.example", "Wren.recon@copperline.example").Replace(text)), sow.Provider, "stonework", "2026-04-01T00:00:00Z"), sow.Client, "harbor", "2026-04-01T00:00:00Z")
	d.engagement("e_2", ended, nil, us, them, func(v *agreement.View) {
		v.State, v.At = sow.Lapsed, ago(33*24*time.Hour)
		v.Versions[0].State, v.Versions[0].InForce = sow.Lapsed, true
		v.ToClose = []agreement.GrantToClose{{Grant: sow.Grant{Name: "invoice-scans", Access: "read", Via: "link", Standing: true}, Ended: true}}
		v.Timeline = []agreement.Moved{{At: v.At, Version: 1, What: "lapsed", By: "time", State: sow.Lapsed}}
	})
	d.SoW.Due = append(d.SoW.Due, d.SoW.Views["e_1"].Reminders[:2]...)
	d.Items = []approvals.Item{
		{ID: "e_0", Kind: approvals.ItemSoW, Agent: "support-sender", Since: ago(5 * 24 * time.Hour), Merged: 1, Stem: offer.ID(), Wants: agreement.WaitCountersign},
		{ID: "e_1", Kind: approvals.ItemSoW, Since: ago(20 * time.Hour), Merged: 1, Stem: both.ID(), Wants: agreement.WaitApprove},
	}
	return d
}

func both2ms(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

// engagement adds an engagement of one or two versions, the newer one first.
func (d *Desk) engagement(id string, first, second *sow.Document, us, them string, change func(*agreement.View)) {
	newest := first
	docs := []*sow.Document{first}
	if second != nil {
		newest, docs = second, []*sow.Document{second, first}
	}
	provider, _ := first.Party(sow.Provider)
	client, _ := first.Party(sow.Client)
	price, _ := first.Price()
	start, end, _, _ := first.Term()
	var offerings []string
	for _, o := range first.Get("scope").Get("offerings").Items() {
		offerings = append(offerings, o.Text())
	}
	v := agreement.View{Row: agreement.Row{ID: id, SoW: first.ID(), Kind: agreement.KindEngagement, Role: sow.Client, Version: first.Version(), Digest: newest.Digest(),
		Provider: provider, Client: client, Offerings: offerings, Arrangement: price.Arrangement, Committed: price.Committed(), Currency: price.Currency, StartsAt: start, EndsAt: end, At: ago(time.Hour)},
		Seat: d.SoW.Keys[0], SeatFixed: true, Deployment: d.SoW.Deployed[""],
		Parties: []agreement.PartyView{
			{Role: sow.Provider, Party: provider, Key: them, Learned: "told", LearnedAt: ago(7 * 24 * time.Hour), Confirmation: agreement.ConfirmedNone},
			{Role: sow.Client, Party: client, Ours: true, Key: us, Confirmation: agreement.ConfirmedNone}}}
	for _, doc := range docs {
		raw := doc.Raw()
		sum := sha256.Sum256(raw)
		name := hex.EncodeToString(sum[:])
		d.SoW.Copies[name] = raw
		v.Versions = append(v.Versions, agreement.VersionView{Version: doc.Version(), Digest: doc.Digest(), Seats: doc.VerifySignatures(sow.Pins{Provider: them, Client: us}),
			Findings: doc.Validate(sow.Options{}), Grades: doc.Grades(v.Deployment), Needed: sow.ByPerson,
			Copies: []agreement.CopyView{{SHA256: name, Size: len(raw), At: ago(6 * 24 * time.Hour), From: agreement.Source{Kind: "agent", Client: "c1"}}}})
	}
	change(&v)
	d.SoW.Views[id] = v
	d.SoW.Rows = append(d.SoW.Rows, v.Row)
}

// Offers is a vault to which an agent brought a published offer that anybody
// can accept.
func Offers() *Desk {
	d := Contracts()
	d.SoW.Rows, d.Items = nil, nil
	us, them := d.SoW.Keys[0].Key, d.SoW.Views["e_0"].Parties[0].Key
	text := fmt.Sprintf(stonework, us)
	from, to := strings.Index(text, ` "client":{"agent"`), strings.Index(text, `,"grade":"evidence"},
"scope"`)
	text = text[:from] + ` "client":null` + text[to:]
	from, to = strings.Index(text, `,"approvals":[`), strings.Index(text, `,"grade":"enforced"},
"termination"`)
	text = text[:from] + text[to:]
	text = strings.NewReplacer(`"starts_at":"2026-11-01T00:00:00Z","ends_at":"2027-05-01T00:00:00Z"`, `"starts_at":null,"ends_at":null,"term_months":6`, "sow_7h3c9k2m5q8t1w4x", "sow_1e2s53qkdszk15q4",
		`"formation":"person"`, `"formation":"agent"`, `"subcontracting":{`, `"qualifications":[{"id":"mesh-registered","kind":"mesh_registration","statement":"Your agent holds a current registration on this mesh.","grade":"enforced"},
{"id":"holds-licence","kind":"asserted","statement":"You hold the rights to every statement you will share with us.","grade":"evidence"}],
"subcontracting":{`).Replace(text)
	offer := signedBy(document(text), sow.Provider, "stonework", "2026-10-28T14:02:11Z")
	d.engagement("e_0", offer, nil, us, them, func(v *agreement.View) {
		v.Kind, v.State, v.Waiting, v.SeatFixed = agreement.KindOffer, sow.StandingProposal, []agreement.Waiting{agreement.WaitCountersign}, false
		v.Versions[0].State = sow.StandingProposal
		v.Parties = v.Parties[:1]
		v.Moves = []agreement.Move{{What: "form", Digest: offer.Digest(), By: sow.ByAgent}, {What: "preauthorise", Digest: offer.Digest(), By: sow.ByPerson}}
	})
	d.SoW.Completed = Contracts().SoW.Views["e_0"]
	d.SoW.Completed.ID = "e_9"
	d.SoW.Views["e_9"] = d.SoW.Completed
	for name, raw := range Contracts().SoW.Copies {
		d.SoW.Copies[name] = raw
	}
	d.Items = []approvals.Item{{ID: "e_0", Kind: approvals.ItemSoW, Agent: "support-sender", Since: ago(time.Hour), Merged: 1, Stem: offer.ID(), Wants: agreement.WaitCountersign}}
	return d
}

// ManyContracts is Contracts with n rows more in its list.
func ManyContracts(n int) *Desk {
	d := Contracts()
	base := d.SoW.Rows[0]
	for i := range n {
		r := base
		r.ID, r.Waiting = fmt.Sprintf("e_%032x", i+16), nil
		r.Provider.Owner = fmt.Sprintf("Provider %d", i)
		r.State = []sow.State{sow.Active, sow.Lapsed, sow.Agreed, sow.StandingProposal}[i%4]
		d.SoW.Rows = append(d.SoW.Rows, r)
	}
	return d
}

// LargeContract is Contracts whose offer has about so many bytes, in many
// lines of every kind.
func LargeContract(bytes int) *Desk {
	d := Contracts()
	us, them := d.SoW.Keys[0].Key, d.SoW.Views["e_0"].Parties[0].Key
	text := fmt.Sprintf(stonework, us)
	var examples, rates, offerings, outs []string
	for i := 0; len(text)+len(strings.Join(append(append(append(examples, rates...), offerings...), outs...), ",")) < bytes; i++ {
		examples = append(examples, fmt.Sprintf(`"Reconcile statement number %d of the branch in the harbour against the ledger, and say which lines stay open."`, i))
		offerings = append(offerings, fmt.Sprintf(`"reconcile-%d"`, i))
		rates = append(rates, fmt.Sprintf(`{"offering":"reconcile-%d","per_task":%d}`, i, 1000000+i))
		outs = append(outs, fmt.Sprintf(`"an exception of the kind %d"`, i))
	}
	text = strings.NewReplacer(`"in_scope":[`, `"in_scope":[`+strings.Join(examples, ",")+",", `"offerings":[`, `"offerings":[`+strings.Join(offerings, ",")+",",
		`"rates":[`, `"rates":[`+strings.Join(rates, ",")+",", `"carve_outs":[`, `"carve_outs":[`+strings.Join(outs, ",")+",").Replace(text)
	offer := signedBy(document(text), sow.Provider, "stonework", "2026-10-28T14:02:11Z")
	old := d.SoW.Views["e_0"]
	d.SoW.Rows = d.SoW.Rows[1:]
	d.engagement("e_0", offer, nil, us, them, func(v *agreement.View) {
		v.State, v.Waiting, v.Moves = old.State, old.Waiting, old.Moves
		v.Moves = []agreement.Move{{What: "countersign", Digest: offer.Digest(), By: sow.ByPerson}}
		v.Versions[0].State = sow.PartiallySigned
	})
	return d
}

// Reviewable is Contracts with the ended engagement to be reviewed: two deliveries, one of them in form and reviewed before.
func Reviewable() *Desk {
	d := Contracts()
	v := d.SoW.Views["e_2"]
	whole := `{"media_type":"application/pdf","name":"reconciliation-report"},{"media_type":"application/json","name":"exceptions"}`
	half := `{"media_type":"application/pdf","name":"reconciliation-report"},{"media_type":"text/plain","name":"exceptions"}`
	for i, pieces := range []string{whole, half} {
		v.Records = append(v.Records, agreement.RecordView{SHA256: strings.Repeat(fmt.Sprint("d", i), 32), Kind: agreement.RecordJobManifest, At: ago(time.Duration(40-i) * 24 * time.Hour), Verified: true,
			Text: fmt.Sprintf(`{"job":"job-%d","pieces":[%s],"task_id":"task-0197-a%d"}`, i, pieces, i+3)})
	}
	v.Reviews = []agreement.Review{{Ours: true, Accepted: true, Cites: []string{"task-0197-a3"}, Checked: true}}
	v.Moves = []agreement.Move{{What: "review", Digest: v.Versions[0].Digest}, {What: "probe", Digest: v.Versions[0].Digest}}
	d.SoW.Views["e_2"] = v
	return d
}

// InLanguage is Contracts with the contract to be signed in a language of which that is the text; with "" in the vault's own.
func InLanguage(text string) *Desk {
	d := Contracts()
	_, us := sampleKey("harbor")
	_, them := sampleKey("stonework")
	own, _, err := page.OwnLanguage()
	if err != nil {
		panic(err)
	}
	was := `{"id":"agent-sow-standard-language","version":4,"sha256":"beffbd918cb404d49bd0bb16e95eb3124115344e2a98e8ab2a97a30f98be4b56"}`
	is := fmt.Sprintf(`{"id":%q,"version":%d,"sha256":%q}`, own.ID, own.Version, own.SHA256)
	if text != "" {
		is = fmt.Sprintf(`{"id":"agent-sow-standard-language","version":4,"sha256":%q}`, sow.LanguageHash([]byte(text)))
	}
	offer := signedBy(document(strings.Replace(fmt.Sprintf(stonework, us), was, is, 1)), sow.Provider, "stonework", "2026-10-28T14:02:11Z")
	before := d.SoW.Views["e_0"]
	d.engagement("e_0", offer, nil, us, them, func(v *agreement.View) {
		v.State, v.Waiting, v.At, v.Timeline = before.State, before.Waiting, before.At, before.Timeline
		v.Versions[0].State = sow.PartiallySigned
		v.Moves = []agreement.Move{{What: "countersign", Digest: offer.Digest(), By: sow.ByPerson}}
	})
	d.SoW.Rows = d.SoW.Rows[1:]
	return d
}
