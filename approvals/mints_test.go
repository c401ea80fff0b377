package approvals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/receipt"
	"vault/derive"
	"vault/derive/envelope"
)

// bot is a program with a key of its own, behind a paired client.
type bot struct {
	*agent
	seed    [32]byte
	address string
}

func newBot(t testing.TB, a *agent, name string) *bot {
	t.Helper()
	b := &bot{agent: a}
	copy(b.seed[:], "seed of the bot "+name)
	var err error
	if b.address, err = derive.Address(b.seed[:]); err != nil {
		t.Fatal(err)
	}
	return b
}

// prove proves the bot's address on its connection.
func (b *bot) prove() {
	b.w.t.Helper()
	if err := b.tryProve(); err != nil {
		b.w.t.Fatal(err)
	}
}

func (b *bot) tryProve() error {
	raw, err := b.conn.BotNonce(context.Background())
	if err != nil {
		return err
	}
	c, err := envelope.ParseBotChallenge(raw)
	if err != nil {
		return err
	}
	sig, err := derive.SignDigest(b.seed[:], c.Digest())
	if err != nil {
		return err
	}
	_, err = b.conn.BotProve(context.Background(), b.address, sig)
	return err
}

// signed signs a request body.
func (b *bot) signed(t testing.TB, q *envelope.MintRequest) []byte {
	t.Helper()
	sig, err := derive.SignDigest(b.seed[:], q.Digest())
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Signed(sig)
	if err != nil {
		t.Fatal(err)
	}
	return s.Canonical()
}

// request makes a signed request under a delegate.
func (b *bot) request(t testing.TB, delegate []byte, nonce string, change func(*envelope.RequestFields)) []byte {
	t.Helper()
	d, err := envelope.ParseMintDelegate(delegate)
	if err != nil {
		t.Fatal(err)
	}
	now := b.w.clock.Now()
	f := envelope.RequestFields{
		AgentID: "support-bot", Operation: "send-message", Resources: []string{"thread:1"}, ActionIndex: 1, MaxUses: 2,
		Window: envelope.Window{NotBefore: envelope.Some(now - 500), NotAfter: envelope.Some(now + 3600_000)},
		Nonce:  nonce, RequestedAt: "2026-11-30T00:00:00.000Z",
	}
	if change != nil {
		change(&f)
	}
	q, err := envelope.NewMintRequest(b.address, d, f)
	if err != nil {
		t.Fatal(err)
	}
	return b.signed(t, q)
}

type mintAnswer struct {
	Mint         string
	Record       json.RawMessage
	AgentAddress string `json:"agent_address"`
	Label        string
	Attestation  json.RawMessage
	MintsLeft    int64 `json:"mints_left"`
	Seq          uint64
	BoundsHeld   bool `json:"bounds_held"`
	Legitimacy   *approvals.LegitimacyView
}

func (b *bot) mint(request []byte) (mintAnswer, error) {
	raw, err := b.conn.MintRequest(context.Background(), request)
	var out mintAnswer
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

type useAnswer struct {
	Signature    string
	AgentAddress string `json:"agent_address"`
	Mint         string
	Use          int64
	UsesLeft     int64 `json:"uses_left"`
	Record       json.RawMessage
	Seq          uint64
}

func (b *bot) use(id, mint string, payload []byte) (useAnswer, error) {
	raw, err := b.conn.MintSign(context.Background(), approvals.MintSignAsk{RequestID: id, Mint: mint, Payload: payload})
	var out useAnswer
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// mintWorld is a vault with a passkey, a domain and a paired bot.
func mintWorld(t *testing.T) (*world, *bot) {
	t.Helper()
	w := newWorld(t)
	w.browse()
	w.create()
	a := w.pair("bot")
	w.enrol()
	b := newBot(t, a, "one")
	b.prove()
	return w, b
}

func (w *world) form(b *bot) approvals.DelegateForm {
	from, to := w.clock.Now()-1000, w.clock.Now()+int64(24*time.Hour/time.Millisecond)
	return approvals.DelegateForm{
		Name: "support", DomainHash: w.owner.Domains()[0].Hash, Operations: []string{"send-message"}, Resources: []string{"thread:*"},
		BotPolicy: envelope.BotSet, Bots: []string{b.address}, IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 2, NotBefore: &from, NotAfter: &to,
	}
}

// issue issues the delegate of a form and gives its signed bytes.
func (w *world) issue(f approvals.DelegateForm) []byte {
	w.t.Helper()
	p, err := w.owner.PlanDelegate(f)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.owner.IssueDelegate(context.Background(), p)
	if err != nil || out.Code != approvals.OutcomeDone || out.Delegate != p.Hash {
		w.t.Fatalf("issue: %+v, %v", out, err)
	}
	raw, err := w.owner.DelegateBytes(out.Delegate)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}

func (w *world) delegate(hash string) approvals.DelegateView {
	w.t.Helper()
	for _, v := range w.owner.Delegates() {
		if v.Hash == hash {
			return v
		}
	}
	w.t.Fatalf("no delegate %s", hash)
	return approvals.DelegateView{}
}

func hashOf(t testing.TB, delegate []byte) string {
	t.Helper()
	d, err := envelope.ParseMintDelegate(delegate)
	if err != nil {
		t.Fatal(err)
	}
	return d.Hash()
}

func TestMintFromEndToEnd(t *testing.T) {
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	hash := hashOf(t, raw)
	if r, _ := envelope.VerifyMintDelegate(raw, envelope.Pins{DomainAddress: w.owner.Domains()[0].Address}); !r.Valid || !r.Pinned {
		t.Fatalf("%+v", r)
	}
	list, err := b.conn.MintDelegates(context.Background())
	if err != nil || !bytes.Contains(list, raw) || !bytes.Contains(list, []byte(`"state":"active"`)) {
		t.Fatalf("%s, %v", list, err)
	}
	request := b.request(t, raw, "n1", nil)
	got, err := b.mint(request)
	if err != nil || got.MintsLeft != 2 || got.Label != "issuer-asserted" || !got.BoundsHeld {
		t.Fatalf("%+v, %v", got, err)
	}
	// The same request gives the same answer and spends nothing more, also on another connection of the same bot.
	first, _ := b.conn.MintRequest(context.Background(), request)
	b.connect()
	b.prove()
	again, err := b.conn.MintRequest(context.Background(), request)
	if err != nil || !bytes.Equal(first, again) || w.entries("capability.minted") != 1 {
		t.Errorf("%s, %v", again, err)
	}
	payload := []byte(`{"type":"example.message","operation":"send-message","resource":"thread:1"}`)
	use, err := b.use("u1", got.Mint, payload)
	if err != nil || use.Use != 1 || use.UsesLeft != 1 || use.AgentAddress != got.AgentAddress || !bytes.Equal(use.Record, got.Record) {
		t.Fatalf("%+v, %v", use, err)
	}
	record, err := envelope.ParseRecord(got.Record)
	if err != nil {
		t.Fatal(err)
	}
	hashPin := record.Hash()
	report := envelope.VerifyRecord(got.Record, payload, use.Signature, envelope.RecordOptions{Now: w.clock.Now(), Pins: envelope.Pins{ExpectHash: hashPin}})
	if !report.Valid || !report.Pinned || record.CustodyMode() != envelope.CustodyRemoteMint {
		t.Errorf("%+v", report)
	}
	f := record.Envelope().Fields()
	if f.Mode != envelope.ModeBoth || f.MaxUses.N != 2 || f.AgentID != "support-bot" || f.ActionIndex != 1 || f.Operation != "send-message" ||
		!slices.Equal(f.Resources, []string{"thread:1"}) || record.Domain().Address() != w.owner.Domains()[0].Address {
		t.Errorf("%+v", f)
	}
	att := envelope.VerifyAddressAttestation(got.Attestation, envelope.AddressAttestation{
		DomainHash: record.Envelope().DomainHash(), ActionEnvelopeHash: record.Envelope().Hash(), AgentAddress: got.AgentAddress,
	}, envelope.Pins{DomainAddress: w.owner.Domains()[0].Address})
	if !att.Valid || !att.Pinned {
		t.Errorf("%+v", att)
	}
	rawReceipt, err := w.owner.Receipt(context.Background(), use.Seq)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := receipt.Parse(rawReceipt)
	if err != nil {
		t.Fatal(err)
	}
	if r := rec.Verify(receipt.Pins{LogKey: w.owner.Status().Public.LogKey, DomainAddress: w.owner.Domains()[0].Address}); !r.Valid || !r.LogPinned || !r.SignerPinned || r.By != "delegate" {
		t.Errorf("%+v", r)
	}
	// The same request id again: the same signature, nothing spent.
	if same, err := b.use("u1", got.Mint, payload); err != nil || same.Signature != use.Signature || same.Seq != use.Seq {
		t.Errorf("%+v, %v", same, err)
	}
	if _, err := b.use("u1", got.Mint, []byte(`{"type":"example.other"}`)); code(err) != approvals.CodeRequestIDReused {
		t.Errorf("%v", err)
	}
	if _, err := b.use("u2", got.Mint, payload); err != nil {
		t.Error(err)
	}
	if _, err := b.use("u3", got.Mint, payload); code(err) != approvals.CodeMintUsesSpent {
		t.Errorf("%v", err)
	}
	v := w.delegate(hash)
	if v.State != approvals.DelegateActive || v.Minted != 1 || v.MintsLeft != 2 || v.Uses != 2 || v.UsesLeft != 0 || v.LastUse == 0 || v.Origin != "issued" || v.Name != "support" {
		t.Errorf("%+v", v)
	}
	mints, err := w.owner.Mints(approvals.MintFilter{Delegate: hash})
	if err != nil || len(mints) != 1 || mints[0].Mint != got.Mint || mints[0].Used != 2 || mints[0].Bot != b.address || mints[0].Agent != "bot" || mints[0].Live {
		t.Errorf("%+v, %v", mints, err)
	}
	if rec, err := w.owner.MintRecord(context.Background(), got.Mint); err != nil || !bytes.Equal(rec, got.Record) {
		t.Errorf("%s, %v", rec, err)
	}
	steps, err := w.owner.MintUses(hash, 0, 3600_000)
	if err != nil || len(steps) == 0 || steps[0].Mints != 1 || steps[0].Uses != 2 {
		t.Errorf("%+v, %v", steps, err)
	}
	// All of it is there again after a restart.
	w.stop()
	w.start()
	w.unlock()
	b.connect()
	if _, err := b.mint(request); code(err) != approvals.CodeBotNotProven {
		t.Errorf("%v", err)
	}
	b.prove()
	again, err = b.conn.MintRequest(context.Background(), request)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("%s, %v", again, err)
	}
	if same, err := b.use("u1", got.Mint, payload); err != nil || same.Signature != use.Signature {
		t.Errorf("%+v, %v", same, err)
	}
	if _, err := b.use("u9", got.Mint, payload); code(err) != approvals.CodeMintUsesSpent {
		t.Errorf("%v", err)
	}
	if v := w.delegate(hash); v.Uses != 2 || v.UsesLeft != 0 || v.MintsLeft != 2 || v.LastUse == 0 {
		t.Errorf("%+v", v)
	}
	w.verified()
}
