package sign

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/span"
	"vault/internal/samplekey"
)

// Agents of the sample documents.
const (
	orreryAgent = "UDSNJMCON5GRI6INILYVEY22J36ZGEHQMJXM454XEJJKFXDYLN672Z4R" // agent/orrery, of owner/inkwell
	ourAgent    = "UDP4IIGSNLEY6ZF44DGNXQAEKM54BAPMP6G6VXRWHQHBSUSKHG32TEI7" // agent/assayer
)

// sowDoc reads a sample document, with texts replaced, without signatures but those of the labels.
func sowDoc(t testing.TB, name string, edits []string, signers ...string) *sow.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "approvals", "sow", "testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(edits); i += 2 {
		if !bytes.Contains(raw, []byte(edits[i])) {
			t.Fatalf("the sample has no %q", edits[i])
		}
		raw = bytes.Replace(raw, []byte(edits[i]), []byte(edits[i+1]), 1)
	}
	return signedBy(t, bare(t, raw), signers...)
}

func bare(t testing.TB, raw []byte) *sow.Document {
	t.Helper()
	d, err := sow.Parse(raw)
	if err == nil {
		d, err = sow.Parse(d.Canonical())
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// signedBy adds signatures: "provider owner/inkwell" and so on.
func signedBy(t testing.TB, d *sow.Document, signers ...string) *sow.Document {
	t.Helper()
	for _, s := range signers {
		role, label, _ := strings.Cut(s, " ")
		k, text := samplekey.Of(t, label)
		var err error
		if d, err = d.WithSignature(role, text, "2026-10-01T00:00:00Z", ed25519.Sign(k, d.Signed())); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

const noQualifications = `"qualifications": [
    {
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
    },`

// asserting leaves the one condition that a client asserts.
var asserting = []string{noQualifications, `"qualifications": [`}

// pin pins a sample owner's key for an agent and returns the row with its MAC.
func (d *desk) pin(agent, label string) keys.Permit {
	d.t.Helper()
	_, key := samplekey.Of(d.t, label)
	body, act := d.pinAct(agent, key)
	answer := d.must(journal.KindSoWPinned, body, act)
	return keys.Permit{Body: act.Permits[0].Body, MAC: answer.MACs[0]}
}

func (d *desk) pinAct(agent, key string) (journal.SoWPinned, keys.Act) {
	d.t.Helper()
	row, err := permit.Encode(permit.Pin{Type: permit.TypePin, V: 1, ID: "k_0000000000000001", Agent: agent, Key: key, Learned: "told", MadeAt: d.clock.Now()})
	if err != nil {
		d.t.Fatal(err)
	}
	old, _ := d.state.SoWPin(agent)
	return journal.SoWPinned{Pin: "k_0000000000000001", Agent: agent, Key: key, By: "click", PermitSHA256: permit.SHA256(row), Replaces: old.PermitSHA256},
		keys.Act{Permits: []keys.Permit{{Body: row}}}
}

// formed completes the sample offer as the client and gives the act that countersigns it.
func (d *desk) formed(offer *sow.Document, pin keys.Permit, edit func(*sow.Fill)) (journal.SoWSigned, keys.Act) {
	d.t.Helper()
	fill := sow.Fill{Client: sow.Seat{Agent: ourAgent, Owner: "Assay House"}, StartsAt: d.clock.Now(), Assertions: []string{"holds-brand-licence"}}
	need := sow.Needed(offer, nil, "")
	approval := ""
	if need != sow.ByAgent {
		fill.Approval = &sow.Approval{Act: "formation", Authority: string(need), Key: d.pub.OwnerKey, ApprovedAt: span.UTC(d.clock.Now())}
		approval = "0x" + fill.Approval.SHA256()
	}
	if edit != nil {
		edit(&fill)
	}
	doc, err := sow.Instance(offer, fill)
	if err != nil {
		d.t.Fatal(err)
	}
	_, provider := samplekey.Of(d.t, "owner/inkwell")
	return journal.SoWSigned{
		Engagement: facts.EngagementID(doc), Move: journal.MoveCountersign, SoW: doc.ID(), Version: 1, DocumentSHA256: "0x" + doc.Digest(), Role: sow.Client,
		Key: d.pub.OwnerKey, Counterparty: provider, Offer: "0x" + offer.Digest(), Authority: string(need), Approval: approval, By: "passkey",
	}, keys.Act{SoW: &keys.SoWAct{Document: doc.Raw(), Offer: offer.Raw()}, Permits: []keys.Permit{pin}}
}

func withRecord(b journal.SoWSigned) func(string) any {
	return func(record string) any { b.Confirmation = record; return b }
}

// sealedBy checks a seat's signature over a document, under the seat's own key.
func (d *desk) sealedBy(doc []byte, role, key, sig string) *sow.Document {
	d.t.Helper()
	parsed, err := sow.Parse(doc)
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := sow.ParseSignature(sig)
	if err != nil {
		d.t.Fatal(err)
	}
	signed, err := parsed.WithSignature(role, key, "2026-10-01T00:00:00Z", b)
	if err != nil {
		d.t.Fatal(err)
	}
	pins := sow.Pins{Client: key}
	if role == sow.Provider {
		pins = sow.Pins{Provider: key}
	}
	s := signed.VerifySignatures(pins)
	if s.Of(role) == nil {
		d.t.Fatalf("the signature does not verify: %+v", s)
	}
	return signed
}

// offered is a vault with a passkey, the sample offer with texts replaced, and the pin of its provider.
func offered(t *testing.T, edits []string) (d *desk, b *browser, offer *sow.Document, pin keys.Permit) {
	t.Helper()
	d = open(t)
	b = d.browse()
	d.enrol()
	return d, b, sowDoc(t, "standing-proposal", edits, "provider owner/inkwell"), d.pin(orreryAgent, "owner/inkwell")
}

// engaged is an agreed engagement of ours as the client, under an offer whose formation an agent may approve, and with the passkey.
func engaged(t *testing.T) (d *desk, b *browser, inForce *sow.Document, body journal.SoWSigned) {
	t.Helper()
	d, b, offer, pin := offered(t, asserting)
	body, act := d.formed(offer, pin, nil)
	answer := d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	signed := d.sealedBy(act.SoW.Document, sow.Client, d.pub.OwnerKey, answer.SoWSignature)
	return d, b, signedBy(t, signed, "provider owner/inkwell"), body
}

// next is an amendment of a document by one edit of its canonical bytes, signed by those named.
func next(t testing.TB, inForce *sow.Document, was, is string, signers ...string) *sow.Document {
	t.Helper()
	raw := inForce.Canonical()
	for _, e := range [][2]string{{was, is}, {`"version":1,"volume"`, `"version":2,"volume"`}} {
		if !bytes.Contains(raw, []byte(e[0])) {
			t.Fatalf("the document has no %q", e[0])
		}
		raw = bytes.Replace(raw, []byte(e[0]), []byte(e[1]), 1)
	}
	return signedBy(t, bare(t, raw), signers...)
}

func TestSeats(t *testing.T) {
	d := open(t)
	key, err := d.signer.SeatKey(t.Context(), 1)
	if err != nil || key == d.pub.OwnerKey {
		t.Fatal(key, err)
	}
	if zero, _ := d.signer.SeatKey(t.Context(), 0); zero != d.pub.OwnerKey {
		t.Errorf("seat 0 is %s, the owner key %s", zero, d.pub.OwnerKey)
	}
	_, wrong := samplekey.Of(t, "owner/gable")
	d.refused("seat_not_next", journal.KindSeatOpened, journal.SeatOpened{Seat: 2, Key: key, Name: "Studio"}, keys.Act{})
	d.refused("unknown_seat", journal.KindSeatOpened, journal.SeatOpened{Seat: 1, Key: wrong, Name: "Studio"}, keys.Act{})
	d.must(journal.KindSeatOpened, journal.SeatOpened{Seat: 1, Key: key, Name: "Studio"}, keys.Act{})
	if _, err := d.signer.SeatKey(t.Context(), 16); err == nil {
		t.Error("a seat beyond the last")
	}
	if err := d.again(); err != nil || len(d.signer.state.Seats()) != 2 {
		t.Errorf("%v %v", d.signer.state.Seats(), err)
	}
}

func TestPinGuard(t *testing.T) {
	d := open(t)
	_, key := samplekey.Of(t, "owner/inkwell")
	body, act := d.pinAct("agent-1", key)
	own, ownAct := d.pinAct("agent-1", d.pub.OwnerKey)
	d.refused("signature_same_key_both_roles", journal.KindSoWPinned, own, ownAct)
	lie := body
	lie.Agent = "agent-2"
	d.refused("bad_permit", journal.KindSoWPinned, lie, act)
	d.refused("bad_permit", journal.KindSoWPinned, body, keys.Act{})
	d.must(journal.KindSoWPinned, body, act)
	_, other := samplekey.Of(t, "owner/gable")
	again, againAct := d.pinAct("agent-1", other)
	behind := again
	behind.Replaces = ""
	d.refused("wrong_permit", journal.KindSoWPinned, behind, againAct)
	d.must(journal.KindSoWPinned, again, againAct)
}

// TestLyingDeskAboutADocument has a row for each lie about a formation, beside the honest act, which is taken.
func TestLyingDeskAboutADocument(t *testing.T) {
	type lie func(d *desk, b *journal.SoWSigned, a *keys.Act)
	gable := func(t testing.TB) string { _, k := samplekey.Of(t, "owner/gable"); return k }
	redo := func(d *desk, b *journal.SoWSigned, a *keys.Act, edit func(*sow.Fill)) {
		offer, err := sow.Parse(a.SoW.Offer)
		if err != nil {
			d.t.Fatal(err)
		}
		*b, *a = d.formed(offer, a.Permits[0], edit)
	}
	replace := func(b *journal.SoWSigned, a *keys.Act, was, is string) {
		d, err := sow.Parse(bytes.Replace(a.SoW.Document, []byte(was), []byte(is), 1))
		if err != nil || !bytes.Contains(a.SoW.Document, []byte(was)) {
			panic("the document has no " + was)
		}
		a.SoW.Document, b.DocumentSHA256, b.SoW, b.Engagement = d.Raw(), "0x"+d.Digest(), d.ID(), facts.EngagementID(d)
	}
	for _, tt := range []struct {
		name string
		lie  lie
		code string
	}{
		{"another document than the entry names", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.DocumentSHA256 = journal.HashOf(nil) }, "wrong_document"},
		{"no document", func(_ *desk, _ *journal.SoWSigned, a *keys.Act) { a.SoW = nil }, "malformed"},
		{"bytes that are none", func(_ *desk, _ *journal.SoWSigned, a *keys.Act) { a.SoW.Document = []byte(`{"sow":"v1","sow":"v1"}`) }, "malformed"},
		{"another engagement", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Engagement = "e_" + strings.Repeat("0", 32) }, "wrong_document"},
		{"another identifier", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.SoW = "sow_other" }, "wrong_document"},
		{"a seat that was not opened", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Seat = 1 }, "unknown_seat"},
		{"a key that is not the seat's", func(d *desk, b *journal.SoWSigned, _ *keys.Act) { b.Key = gable(d.t) }, "unknown_seat"},
		{"a counterparty that is not pinned", func(d *desk, b *journal.SoWSigned, _ *keys.Act) { b.Counterparty = gable(d.t) }, "counterparty_not_pinned"},
		{"both seats our own", func(d *desk, b *journal.SoWSigned, _ *keys.Act) { b.Counterparty = d.pub.OwnerKey }, "signature_same_key_both_roles"},
		{"a pin without its MAC", func(_ *desk, _ *journal.SoWSigned, a *keys.Act) {
			a.Permits = []keys.Permit{{Body: a.Permits[0].Body, MAC: journal.HashOf(nil)}}
		}, "bad_permit"},
		{"by the agent alone", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) {
			b.By, b.Preauthorisation, b.Client = "preauthorised", "sp_0000000000000001", "c_0000000000000001"
		}, "preauthorisation"},
		{"a lesser authority", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Authority = "person" }, "approval_authority_unmet"},
		{"the other side has signed", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Agreed = true }, "not_agreed"},
		{"terms that are not the offer's", func(_ *desk, b *journal.SoWSigned, a *keys.Act) {
			replace(b, a, `"per_task":4200000`, `"per_task":4200001`)
		}, "id_mint_mismatch"},
		{"another offer", func(_ *desk, b *journal.SoWSigned, a *keys.Act) {
			o, _ := sow.Parse(bytes.Replace(a.SoW.Offer, []byte("4200000"), []byte("4200001"), 1))
			a.SoW.Offer, b.Offer = o.Raw(), "0x"+o.Digest()
		}, "signature_invalid"},
		{"a condition that is not asserted", func(d *desk, b *journal.SoWSigned, a *keys.Act) {
			redo(d, b, a, func(f *sow.Fill) { f.Assertions = nil })
		}, "assertion_missing"},
		{"a condition that the offer does not state", func(d *desk, b *journal.SoWSigned, a *keys.Act) {
			redo(d, b, a, func(f *sow.Fill) { f.Assertions = append(f.Assertions, "zz-top") })
		}, "assertion_unknown"},
		{"an approval record that was never made", func(d *desk, b *journal.SoWSigned, a *keys.Act) {
			redo(d, b, a, func(f *sow.Fill) {
				f.Approval = &sow.Approval{Act: "formation", Authority: "person", Key: d.pub.OwnerKey, ApprovedAt: span.UTC(d.clock.Now())}
			})
		}, "approval_not_ours"},
		{"an approval record that is not there", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Approval = journal.HashOf(nil) }, "wrong_approval"},
		{"the provider's seat", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Role = sow.Provider }, "counterparty_not_pinned"},
		{"a fault of the document", func(_ *desk, b *journal.SoWSigned, a *keys.Act) {
			replace(b, a, `"no_training":true`, `"no_training":false`)
		}, "promise_not_true"},
		{"without a ceremony", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Confirmation = journal.HashOf(nil) }, "not_confirmed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, _, offer, pin := offered(t, asserting)
			right, rightAct := d.formed(offer, pin, nil)
			body, act := d.formed(offer, pin, nil)
			tt.lie(d, &body, &act)
			if body.By == "passkey" && body.Confirmation == "" {
				// So far that the guard is asked: a record is named.
				body.Confirmation = journal.HashOf([]byte("record"))
			}
			d.refused(tt.code, journal.KindSoWSigned, body, act)
			answer := d.confirmed(journal.KindSoWSigned, rightAct, withRecord(right))
			d.sealedBy(rightAct.SoW.Document, sow.Client, d.pub.OwnerKey, answer.SoWSignature)
			right.Confirmation = journal.HashOf(nil)
			d.refused("already_signed", journal.KindSoWSigned, right, rightAct)
		})
	}
}

// TestAmendmentGuards has a row for each lie about the approval of an amendment.
func TestAmendmentGuards(t *testing.T) {
	type lie func(d *desk, b *journal.SoWSigned, a *keys.Act)
	for _, tt := range []struct {
		name string
		lie  lie
		code string
	}{
		{"by a pre-authorisation", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) {
			b.By, b.Confirmation, b.Preauthorisation, b.Client = "preauthorised", "", "sp_0000000000000001", "c_0000000000000001"
		}, "sow_form"},
		{"nothing in force", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.InForce = "" }, "sow_form"},
		{"in force what was never signed here", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.InForce = journal.HashOf(nil) }, "unknown_document"},
		{"in force what only we have signed", func(d *desk, _ *journal.SoWSigned, a *keys.Act) {
			f, _ := sow.Parse(a.SoW.InForce)
			a.SoW.InForce = bare(d.t, f.Raw()).Raw()
		}, "not_agreed"},
		{"another version in force", func(_ *desk, _ *journal.SoWSigned, a *keys.Act) { a.SoW.InForce = a.SoW.Document }, "wrong_document"},
		{"another counterparty", func(d *desk, b *journal.SoWSigned, a *keys.Act) {
			_, b.Counterparty = samplekey.Of(d.t, "owner/gable")
		}, "not_agreed"},
		{"a lesser authority", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Authority = "agent" }, "approval_authority_unmet"},
		{"proposed, not approved", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Move, b.Agreed = "propose", false }, "not_agreed"},
		{"a start that moved", func(d *desk, b *journal.SoWSigned, a *keys.Act) {
			f, _ := sow.Parse(a.SoW.InForce)
			n := next(d.t, f, `"starts_at":"2025`, `"starts_at":"2024`, "provider owner/inkwell")
			a.SoW.Document, b.DocumentSHA256 = n.Raw(), "0x"+n.Digest()
		}, "amendment_starts_at_changed"},
		{"the other seat", func(_ *desk, b *journal.SoWSigned, _ *keys.Act) { b.Role = sow.Provider }, "other_seat"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, _, inForce, first := engaged(t)
			doc := next(t, inForce, `"per_task":4200000`, `"per_task":4300000`, "provider owner/inkwell")
			body := first
			body.Move, body.Version, body.DocumentSHA256, body.InForce, body.Offer, body.Agreed = journal.MoveApprove, 2, "0x"+doc.Digest(), "0x"+inForce.Digest(), "", true
			body.Authority, body.Confirmation = "person", journal.HashOf(nil)
			act := keys.Act{SoW: &keys.SoWAct{Document: doc.Raw(), InForce: inForce.Raw()}}
			lied, liedAct := body, keys.Act{SoW: &keys.SoWAct{Document: act.SoW.Document, InForce: act.SoW.InForce}}
			tt.lie(d, &lied, &liedAct)
			d.refused(tt.code, journal.KindSoWSigned, lied, liedAct)
			answer := d.confirmed(journal.KindSoWSigned, act, withRecord(body))
			d.sealedBy(doc.Raw(), sow.Client, d.pub.OwnerKey, answer.SoWSignature)
			// The version below cannot be signed again in another shape.
			lower := body
			lower.DocumentSHA256 = journal.HashOf([]byte("x"))
			d.refused("version_conflict", journal.KindSoWSigned, lower, act)
		})
	}
}

// TestAgentThenPerson wants the agent's own artefact first, over these bytes.
func TestAgentThenPerson(t *testing.T) {
	edits := append([]string{`"review_window_days": 7,`, `"review_window_days": 7, "approval": {"formation": "agent_then_person"},`}, asserting...)
	d, _, offer, pin := offered(t, edits)
	body, act := d.formed(offer, pin, nil)
	try := body
	try.Confirmation = journal.HashOf(nil)
	d.refused("intent_missing", journal.KindSoWSigned, try, act)
	doc, err := sow.Parse(act.SoW.Document)
	if err != nil {
		t.Fatal(err)
	}
	agent, _ := samplekey.Of(t, "agent/assayer")
	sig := sow.SignatureText(ed25519.Sign(agent, doc.Intent("formation")))
	act.SoW.Intent = sig
	// A signature that no entry says came before is not first.
	d.refused("intent_missing", journal.KindSoWSigned, try, act)
	d.must(journal.KindSoWIntent, journal.SoWIntent{Engagement: body.Engagement, DocumentSHA256: body.DocumentSHA256, Act: "formation", Key: ourAgent, Sig: sig, Client: d.clientID}, keys.Act{})
	stranger, _ := samplekey.Of(t, "agent/wick")
	act.SoW.Intent = sow.SignatureText(ed25519.Sign(stranger, doc.Intent("formation")))
	d.refused("intent_missing", journal.KindSoWSigned, try, act)
	act.SoW.Intent = sow.SignatureText(ed25519.Sign(agent, doc.Intent("amendment")))
	d.refused("intent_missing", journal.KindSoWSigned, try, act)
	act.SoW.Intent = sig
	answer := d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	d.sealedBy(act.SoW.Document, sow.Client, d.pub.OwnerKey, answer.SoWSignature)
}

// capped gives the sample offer a bound that can be pre-authorised.
var capped = append([]string{`"currency": "XCR",
    "rates"`, `"currency": "XCR", "ceiling": {"period": "month", "amount": 9000000},
    "rates"`}, asserting...)

// TestPreauthorisation: exactly n times, within its limits, by its client, and no longer than it stands.
func TestPreauthorisation(t *testing.T) {
	d, _, offer, pin := offered(t, capped)
	_, provider := samplekey.Of(t, "owner/inkwell")
	row := permit.Preauthorisation{
		Type: permit.TypePreauthorisation, V: 1, ID: "sp_0000000000000001", Client: d.clientID, SoW: offer.ID(), Version: 1, DocumentSHA256: "0x" + offer.Digest(),
		ProviderKey: provider, Key: d.pub.OwnerKey, Agent: ourAgent, Owner: "Assay House", Currency: "XCR", MaxCommitted: 9000000, Times: 2,
		NotAfter: d.clock.Now() + 3_600_000, MadeAt: d.clock.Now(),
	}
	allow := func(edit func(*permit.Preauthorisation)) (func(string) any, keys.Act) {
		r := row
		if edit != nil {
			edit(&r)
		}
		raw, err := permit.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		return func(record string) any {
			return journal.SoWPreauthorised{Preauthorisation: r.ID, Client: r.Client, SoW: r.SoW, Version: r.Version, DocumentSHA256: r.DocumentSHA256, Role: sow.Client,
				Times: r.Times, NotAfter: r.NotAfter, PermitSHA256: permit.SHA256(raw), Confirmation: record}
		}, keys.Act{SoW: &keys.SoWAct{Document: offer.Raw()}, Permits: []keys.Permit{d.client, pin, {Body: raw}}}
	}
	for name, c := range map[string]struct {
		edit func(*permit.Preauthorisation)
		code string
	}{
		"a lower limit than the offer commits to": {func(p *permit.Preauthorisation) { p.MaxCommitted = 8999999 }, "price_unbounded"},
		"another currency":                        {func(p *permit.Preauthorisation) { p.Currency = "USD" }, "price_unbounded"},
		"another provider":                        {func(p *permit.Preauthorisation) { p.ProviderKey = d.pub.LogKey }, "bad_permit"},
		"too long":                                {func(p *permit.Preauthorisation) { p.NotAfter += permit.PreauthoriseMillis }, "preauthorisation"},
		"a key that is not the seat's":            {func(p *permit.Preauthorisation) { p.Key = d.pub.LogKey }, "bad_permit"},
	} {
		body, act := allow(c.edit)
		t.Run(name, func(*testing.T) { d.refused(c.code, journal.KindSoWPreauthorised, body(journal.HashOf(nil)), act) })
	}
	body, act := allow(nil)
	d.refused("confirmation", journal.KindSoWPreauthorised, body(""), act)
	answer := d.confirmed(journal.KindSoWPreauthorised, act, body)
	allowed := keys.Permit{Body: act.Permits[2].Body, MAC: answer.MACs[0]}

	form := func(edit func(*sow.Fill)) (journal.SoWSigned, keys.Act) {
		d.clock.pass(1000)
		b, a := d.formed(offer, pin, edit)
		b.By, b.Preauthorisation, b.Client = "preauthorised", row.ID, d.clientID
		a.Permits = append(a.Permits, d.client, allowed)
		return b, a
	}
	b, a := form(func(f *sow.Fill) { f.Client.Owner = "Somebody Else" })
	d.refused("preauthorisation", journal.KindSoWSigned, b, a)
	b, a = form(func(f *sow.Fill) { f.Locations = map[string]string{"brand-assets": "https://example.org/a"} })
	d.refused("preauthorisation", journal.KindSoWSigned, b, a)
	b, a = form(nil)
	bare := a
	bare.Permits = bare.Permits[:2]
	d.refused("bad_permit", journal.KindSoWSigned, b, bare)
	for range row.Times {
		b, a = form(nil)
		signed := d.must(journal.KindSoWSigned, b, a)
		d.sealedBy(a.SoW.Document, sow.Client, d.pub.OwnerKey, signed.SoWSignature)
	}
	b, a = form(nil)
	d.refused("preauthorisation", journal.KindSoWSigned, b, a)
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	b, a = form(nil)
	d.refused("preauthorisation", journal.KindSoWSigned, b, a)
}

// TestOpenEndedPreauthorisation: what is bounded for each month only is bounded by nothing where the agent chooses the end.
func TestOpenEndedPreauthorisation(t *testing.T) {
	d, _, offer, pin := offered(t, append([]string{`"term_months": 6,`, ""}, capped...))
	_, provider := samplekey.Of(t, "owner/inkwell")
	raw, err := permit.Encode(permit.Preauthorisation{
		Type: permit.TypePreauthorisation, V: 1, ID: "sp_0000000000000001", Client: d.clientID, SoW: offer.ID(), Version: 1, DocumentSHA256: "0x" + offer.Digest(),
		ProviderKey: provider, Key: d.pub.OwnerKey, Agent: ourAgent, Owner: "Assay House", Currency: "XCR", MaxCommitted: 9000000, Times: 2,
		NotAfter: d.clock.Now() + 3_600_000, MadeAt: d.clock.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	d.refused("price_unbounded", journal.KindSoWPreauthorised, journal.SoWPreauthorised{
		Preauthorisation: "sp_0000000000000001", Client: d.clientID, SoW: offer.ID(), Version: 1, DocumentSHA256: "0x" + offer.Digest(), Role: sow.Client, Times: 2,
		NotAfter: d.clock.Now() + 3_600_000, PermitSHA256: permit.SHA256(raw), Confirmation: journal.HashOf(nil),
	}, keys.Act{SoW: &keys.SoWAct{Document: offer.Raw()}, Permits: []keys.Permit{d.client, pin, {Body: raw}}})
}

// TestCopiedApproval: an approval record does not say what it approves. One that this vault made for one engagement is a copy in another,
// also where the desk names it as its own a day later.
func TestCopiedApproval(t *testing.T) {
	d, _, offer, pin := offered(t, append([]string{`"review_window_days": 7,`, `"review_window_days": 7, "approval": {"formation": "person"},`}, asserting...))
	made := sow.Approval{Act: "formation", Authority: "person", Key: d.pub.OwnerKey, ApprovedAt: span.UTC(d.clock.Now())}
	body, act := d.formed(offer, pin, nil)
	d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	d.clock.pass(approvalAge + 1000)
	body, act = d.formed(offer, pin, func(f *sow.Fill) { f.Approval = &made })
	for _, name := range []string{"", "0x" + made.SHA256()} {
		body.Approval, body.Confirmation = name, journal.HashOf(nil)
		d.refused("approval_not_ours", journal.KindSoWSigned, body, act)
	}
}

// TestFloor: the owner's own floor is stricter than any document, and is lowered by a passkey only.
func TestFloor(t *testing.T) {
	d, _, inForce, first := engaged(t)
	change, err := d.setPolicy("click", permit.Policy{SoWFloor: "agent_then_person"})
	if err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindPolicyChanged, change, keys.Act{})
	doc := next(t, inForce, `"per_task":4200000`, `"per_task":4300000`, "provider owner/inkwell")
	body := first
	body.Move, body.Version, body.DocumentSHA256, body.InForce, body.Offer, body.Agreed = journal.MoveApprove, 2, "0x"+doc.Digest(), "0x"+inForce.Digest(), "", true
	body.Authority, body.Confirmation = "person", journal.HashOf(nil)
	act := keys.Act{SoW: &keys.SoWAct{Document: doc.Raw(), InForce: inForce.Raw()}}
	d.refused("approval_authority_unmet", journal.KindSoWSigned, body, act)
	body.Authority = "agent_then_person"
	d.refused("intent_missing", journal.KindSoWSigned, body, act)
	lower, err := d.setPolicy("click", permit.Policy{SoWFloor: "person"})
	if err != nil {
		t.Fatal(err)
	}
	d.refused(keys.CodePasskeyNeeded, journal.KindPolicyChanged, lower, keys.Act{})
}

// TestOfferOfOurs publishes, completes, and refuses what its offer does not allow.
func TestOfferOfOurs(t *testing.T) {
	d := open(t)
	d.browse()
	d.enrol()
	publish := func(offer *sow.Document) (journal.SoWSigned, keys.Act) {
		return journal.SoWSigned{
			Engagement: facts.EngagementID(offer), Move: journal.MovePublish, SoW: offer.ID(), Version: 1, DocumentSHA256: "0x" + offer.Digest(), Role: sow.Provider,
			Key: d.pub.OwnerKey, Authority: "person", Directed: offer.Directed(), By: "passkey",
		}, keys.Act{SoW: &keys.SoWAct{Document: offer.Raw()}}
	}
	request := func(offer *sow.Document, assertions ...string) (journal.SoWSigned, keys.Act) {
		d.clock.pass(1000)
		client, key := samplekey.Of(t, "owner/gable")
		doc, err := sow.Instance(offer, sow.Fill{Client: sow.Seat{Agent: "UAGG6JMDUZSDHSPRDQGLDKJMIMPWRT7E7UYU7PVAWDJRNC7URHN7ZEQR", Owner: "Gable"}, StartsAt: d.clock.Now(), Assertions: assertions})
		if err != nil {
			t.Fatal(err)
		}
		if doc, err = doc.WithSignature(sow.Client, key, "2026-10-01T00:00:00Z", ed25519.Sign(client, doc.Signed())); err != nil {
			t.Fatal(err)
		}
		return journal.SoWSigned{
			Engagement: facts.EngagementID(doc), Move: journal.MoveComplete, SoW: doc.ID(), Version: 1, DocumentSHA256: "0x" + doc.Digest(), Role: sow.Provider,
			Key: d.pub.OwnerKey, Counterparty: key, Offer: "0x" + offer.Digest(), Authority: "agent", Agreed: true, By: "offer",
		}, keys.Act{SoW: &keys.SoWAct{Document: doc.Raw(), Offer: offer.Raw()}}
	}
	mint := func(edits []string) *sow.Document {
		raw := sowDoc(t, "standing-proposal", edits).Raw()
		x, err := sow.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return bare(t, bytes.Replace(raw, []byte(x.ID()), []byte(x.Mint()), 1))
	}
	offer := mint(asserting)
	b, a := request(offer, "holds-brand-licence")
	d.refused("offer_closed", journal.KindSoWSigned, b, a)
	body, act := publish(offer)
	clicked := body
	clicked.By, clicked.Offer = "offer", body.DocumentSHA256
	d.refused("sow_form", journal.KindSoWSigned, clicked, act)
	d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	b, a = request(offer)
	d.refused("assertion_missing", journal.KindSoWSigned, b, a)
	for range 3 {
		b, a = request(offer, "holds-brand-licence")
		answer := d.must(journal.KindSoWSigned, b, a)
		d.sealedBy(a.SoW.Document, sow.Provider, d.pub.OwnerKey, answer.SoWSignature)
	}
	d.refused("already_signed", journal.KindSoWSigned, b, a)
	// A request that nobody signed.
	b, a = request(offer, "holds-brand-licence")
	unsigned := keys.Act{SoW: &keys.SoWAct{Document: bare(t, a.SoW.Document).Raw(), Offer: a.SoW.Offer}}
	d.refused("not_agreed", journal.KindSoWSigned, b, unsigned)
	// A request stands for the review window: one that starts before that was made up later, or has lapsed.
	b, a = request(offer, "holds-brand-licence")
	back := d.clock.Now()
	d.clock.pass(8 * 24 * 60 * 60_000)
	d.refused("start_in_the_past", journal.KindSoWSigned, b, a)
	if back < sow.RequestStands(offer, back) || back >= sow.RequestStands(offer, d.clock.Now()) {
		t.Error("the window is another")
	}
	// Conditions that nobody can check refuse, unless a person completes it.
	whole := mint(nil)
	body, act = publish(whole)
	d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	b, a = request(whole, "holds-brand-licence")
	d.refused("qualification_unchecked", journal.KindSoWSigned, b, a)
	b.By = "passkey"
	d.confirmed(journal.KindSoWSigned, a, withRecord(b))
	// Withdrawn, it forms nothing more.
	w, wAct := d.sowAct(offer, sow.ActFields{Kind: sow.Withdrawal, Role: sow.Provider})
	d.must(journal.KindSoWActSigned, w, wAct)
	b, a = request(offer, "holds-brand-licence")
	d.refused("offer_closed", journal.KindSoWSigned, b, a)
	// An offer to one party forms once.
	directed := mint(append([]string{`"client": null,`, `"client": null, "offered_to": {"agent": "UAGG6JMDUZSDHSPRDQGLDKJMIMPWRT7E7UYU7PVAWDJRNC7URHN7ZEQR", "owner": "Gable", "expires_at": "2027-01-01T00:00:00Z"},`}, asserting...))
	body, act = publish(directed)
	d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	b, a = request(directed, "holds-brand-licence")
	d.must(journal.KindSoWSigned, b, a)
	b, a = request(directed, "holds-brand-licence")
	d.refused("directed_spent", journal.KindSoWSigned, b, a)
	// With the agent wanted behind every signature, a person alone neither publishes nor completes.
	change, err := d.setPolicy("click", permit.Policy{SoWFloor: "agent_then_person"})
	if err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindPolicyChanged, change, keys.Act{})
	body, act = publish(mint(append([]string{`"review_window_days": 7`, `"review_window_days": 8`}, asserting...)))
	body.Authority, body.Confirmation = "agent_then_person", journal.HashOf(nil)
	d.refused("intent_missing", journal.KindSoWSigned, body, act)
	b, a = request(whole, "holds-brand-licence")
	b.By, b.Authority, b.Confirmation = "passkey", "agent_then_person", journal.HashOf(nil)
	d.refused("intent_missing", journal.KindSoWSigned, b, a)
}

// sowAct is an act of ours about a document, to be made worse by a test.
func (d *desk) sowAct(doc *sow.Document, f sow.ActFields) (journal.SoWActSigned, keys.Act) {
	d.t.Helper()
	f.SoW, f.Version, f.Document, f.At, f.Key = doc.ID(), doc.Version(), doc.Digest(), span.UTC(d.clock.Now()), d.pub.OwnerKey
	act, err := sow.NewAct(f)
	if err != nil {
		d.t.Fatal(err)
	}
	by := "click"
	if f.Kind == sow.Termination || f.Kind == sow.Dispute {
		by = "passkey"
	}
	return journal.SoWActSigned{
		Engagement: facts.EngagementID(doc), Act: string(f.Kind), SoW: f.SoW, Version: f.Version, DocumentSHA256: "0x" + f.Document,
		ActSHA256: journal.HashOf(act.Canonical()), Role: f.Role, Key: f.Key, By: by, Ground: noticed(f),
	}, keys.Act{SoW: &keys.SoWAct{Document: doc.Raw(), Act: act.Bytes()}}
}

// TestLyingDeskAboutAnAct has a row for each lie about an act of ours.
func TestLyingDeskAboutAnAct(t *testing.T) {
	d, _, inForce, first := engaged(t)
	dispute := sow.ActFields{Kind: sow.Dispute, Role: sow.Client, Cites: []string{"rec-1"}, Disputed: &sow.Disputed{Amount: 100, Currency: "XCR"}}
	type lie func(b *journal.SoWActSigned, a *keys.Act)
	for _, tt := range []struct {
		name string
		f    sow.ActFields
		lie  lie
		code string
	}{
		{"termination by click", sow.ActFields{Kind: sow.Termination, Role: sow.Client, Ground: "convenience"}, func(b *journal.SoWActSigned, _ *keys.Act) { b.By = "click" }, "passkey_needed"},
		{"dispute by click", dispute, func(b *journal.SoWActSigned, _ *keys.Act) { b.By = "click" }, "passkey_needed"},
		{"another act than the entry names", dispute, func(b *journal.SoWActSigned, _ *keys.Act) { b.ActSHA256 = journal.HashOf(nil) }, "wrong_act"},
		{"another kind", dispute, func(b *journal.SoWActSigned, _ *keys.Act) { b.Act = "termination" }, "wrong_act"},
		{"no act", dispute, func(_ *journal.SoWActSigned, a *keys.Act) { a.SoW.Act = []byte("{}") }, "wrong_act"},
		{"about another document", dispute, func(b *journal.SoWActSigned, a *keys.Act) {
			n := next(t, inForce, `"per_task":4200000`, `"per_task":4300000`)
			a.SoW.Document, b.DocumentSHA256 = n.Raw(), "0x"+n.Digest()
		}, "unknown_document"},
		{"another document than the entry names", dispute, func(_ *journal.SoWActSigned, a *keys.Act) {
			a.SoW.Document = next(t, inForce, `"per_task":4200000`, `"per_task":4300000`).Raw()
		}, "wrong_document"},
		{"another currency", sow.ActFields{Kind: sow.Dispute, Role: sow.Client, Cites: []string{"r"}, Disputed: &sow.Disputed{Amount: 1, Currency: "USD"}}, nil, "dispute_amount"},
		{"the other seat's role", sow.ActFields{Kind: sow.Review, Role: sow.Provider, Ground: "acceptance", Cites: []string{"task-1"}}, nil, "other_seat"},
		{"a denial of what was signed", sow.ActFields{Kind: sow.Denial, Role: sow.Client, Reason: "no"}, nil, "twice"},
		{"a withdrawal of what binds both", sow.ActFields{Kind: sow.Withdrawal, Role: sow.Client}, nil, "twice"},
		{"a refusal of formation by the client", sow.ActFields{Kind: sow.FormationRefusal, Role: sow.Client}, nil, "twice"},
		{"by passkey what is by click", sow.ActFields{Kind: sow.Review, Role: sow.Client, Ground: "acceptance", Cites: []string{"task-1"}}, func(b *journal.SoWActSigned, _ *keys.Act) {
			b.By, b.Confirmation = "passkey", journal.HashOf(nil)
		}, "confirmation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "a withdrawal of what binds both" {
				d.must(journal.KindSoWNoted, journal.SoWNoted{Engagement: first.Engagement, Version: 1, DocumentSHA256: first.DocumentSHA256, What: "agreed"}, keys.Act{})
			}
			body, act := d.sowAct(inForce, tt.f)
			if body.By == "passkey" {
				body.Confirmation = journal.HashOf(nil)
			}
			if tt.lie != nil {
				tt.lie(&body, &act)
			}
			if body.By == "click" {
				body.Confirmation = ""
			}
			d.refused(tt.code, journal.KindSoWActSigned, body, act)
		})
	}
	// The honest ones are taken, and verify.
	review, act := d.sowAct(inForce, sow.ActFields{Kind: sow.Review, Role: sow.Client, Ground: "acceptance", Cites: []string{"task-1"}})
	answer := d.must(journal.KindSoWActSigned, review, act)
	verifyAct(t, act.SoW.Act, answer.SoWSignature)
	for _, f := range []sow.ActFields{dispute, {Kind: sow.Termination, Role: sow.Client, Ground: "cause", Reason: "three floors missed"}} {
		body, act := d.sowAct(inForce, f)
		answer := d.confirmed(journal.KindSoWActSigned, act, func(record string) any { body.Confirmation = record; return body })
		verifyAct(t, act.SoW.Act, answer.SoWSignature)
	}
	body, act := d.sowAct(inForce, sow.ActFields{Kind: sow.Termination, Role: sow.Client, Ground: "convenience"})
	body.Confirmation = journal.HashOf(nil)
	d.refused("twice", journal.KindSoWActSigned, body, act)
	// Ended, it is not amended.
	doc := next(t, inForce, `"per_task":4200000`, `"per_task":4300000`, "provider owner/inkwell")
	amend := first
	amend.Move, amend.Version, amend.DocumentSHA256, amend.InForce, amend.Offer, amend.Agreed = journal.MoveApprove, 2, "0x"+doc.Digest(), "0x"+inForce.Digest(), "", true
	amend.Authority, amend.Confirmation = "person", journal.HashOf(nil)
	d.refused("terminated", journal.KindSoWSigned, amend, keys.Act{SoW: &keys.SoWAct{Document: doc.Raw(), InForce: inForce.Raw()}})
}

func verifyAct(t *testing.T, raw []byte, sig string) {
	t.Helper()
	a, err := sow.ParseAct(raw)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sow.ParseSignature(sig)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WithSignature(b); err != nil {
		t.Error(err)
	}
}

// TestSeatIsNotExchanged: what was confirmed for one seat is not signed with another.
func TestSeatIsNotExchanged(t *testing.T) {
	d := open(t)
	d.browse()
	d.enrol()
	key, err := d.signer.SeatKey(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindSeatOpened, journal.SeatOpened{Seat: 1, Key: key, Name: "Studio"}, keys.Act{})
	offer := sowDoc(t, "standing-proposal", asserting, "provider owner/inkwell")
	pin := d.pin(orreryAgent, "owner/inkwell")
	body, act := d.formed(offer, pin, nil)
	id, record := d.ask(journal.KindSoWSigned, act, withRecord(body))
	act.Confirmation = id
	lie := body
	lie.Seat, lie.Key, lie.Confirmation = 1, key, record
	d.refused(keys.CodeOtherAct, journal.KindSoWSigned, lie, act)
	body.Seat, body.Key = 1, key
	act.Confirmation = ""
	answer := d.confirmed(journal.KindSoWSigned, act, withRecord(body))
	d.sealedBy(act.SoW.Document, sow.Client, key, answer.SoWSignature)
}

// TestBlockedKeySignsNothing: a block refuses and says so; it is lifted while the vault is open.
func TestBlockedKeySignsNothing(t *testing.T) {
	d, _, offer, pin := offered(t, asserting)
	_, provider := samplekey.Of(t, "owner/inkwell")
	for _, key := range []string{provider, orreryAgent, ourAgent} {
		d.must(journal.KindSoWKeyBlocked, journal.SoWKeyBlocked{Key: key}, keys.Act{})
		body, act := d.formed(offer, pin, nil)
		body.Confirmation = journal.HashOf(nil)
		d.refused("blocked_locally", journal.KindSoWSigned, body, act)
		d.must(journal.KindSoWKeyUnblocked, journal.SoWKeyBlocked{Key: key}, keys.Act{})
	}
	body, act := d.formed(offer, pin, nil)
	d.confirmed(journal.KindSoWSigned, act, withRecord(body))
}
