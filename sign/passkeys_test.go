package sign

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/approvals/permit"
	"vault/custody"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/internal/softkey"
)

// browser is a page that answers at once with a software passkey.
type browser struct {
	mu      sync.Mutex // of tasks and results, which a page that was ended may still write
	key     *softkey.Key
	edit    func(task PageTask, right []byte) []byte // instead of the right answer
	ends    *PageEnd
	origin  string // of the newest page
	tasks   []PageTask
	results []string // what the page was told: "ok" or the reason
	wait    chan struct{}
}

// tab is one page.
type tab struct {
	*browser
	origin, rpID string
}

func (b *tab) Begin(_ context.Context, rpID string) (string, error) {
	b.rpID = rpID
	b.origin = "http://" + rpID + ":40123"
	b.mu.Lock()
	b.browser.origin = b.origin
	b.mu.Unlock()
	return b.origin, nil
}

func (b *tab) Run(ctx context.Context, task PageTask, notify func(keys.Step)) ([]byte, error) {
	b.mu.Lock()
	b.tasks = append(b.tasks, task)
	wait := b.wait
	b.mu.Unlock()
	notify(keys.Step{Kind: keys.StepReady})
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if b.ends != nil {
		return nil, b.ends
	}
	var out []byte
	if task.Enrol != nil {
		out = b.key.Register(task.Challenge, b.origin, b.rpID)
	} else {
		out = b.key.Assert(task.Challenge, b.origin, b.rpID)
	}
	if b.edit != nil {
		out = b.edit(task, out)
	}
	return out, nil
}

func (b *browser) Compared(bool) error { return nil }
func (b *browser) Close()              {}
func (b *browser) Finish(ok bool, reason string) {
	if ok {
		reason = "ok"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results = append(b.results, reason)
}

func (d *desk) browse() *browser {
	b := &browser{key: softkey.New()}
	d.config.Page = func(context.Context) (Page, error) { return &tab{browser: b}, nil }
	d.signer.cfg.Page = d.config.Page
	return b
}

// steps follows a ceremony to its last step.
func (d *desk) steps(id string) keys.Step {
	d.t.Helper()
	for {
		st, err := d.signer.Next(d.t.Context(), id)
		if err != nil {
			d.t.Fatal(err)
		}
		switch st.Kind {
		case keys.StepAnswered, keys.StepPending, keys.StepEnded:
			return st
		}
	}
}

func (d *desk) begin(ask keys.Ask) keys.Begun {
	d.t.Helper()
	begun, err := d.signer.Begin(d.t.Context(), ask)
	if err != nil {
		d.t.Fatal(err)
	}
	return begun
}

// added is the entry of the pending passkey.
func added(p *keys.Passkey, by string) journal.PasskeyAdded {
	return journal.PasskeyAdded{Passkey: base64text(p.Key), Kind: p.Kind, BackupEligible: p.BackupEligible, RPID: p.RPID, By: by}
}

// pend brings a passkey as far as its first answer.
func (d *desk) pend() (p *keys.Passkey, tried string, record string) {
	d.t.Helper()
	begun := d.begin(keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
	st := d.steps(begun.ID)
	if st.Kind != keys.StepPending || st.Digits != st.Passkey.Digits {
		d.t.Fatalf("enrolment: %+v", st)
	}
	if err := d.signer.Compared(d.t.Context(), begun.ID, true); err != nil {
		d.t.Fatal(err)
	}
	try := d.begin(keys.Ask{Try: true})
	answered := d.steps(try.ID)
	if answered.Kind != keys.StepAnswered {
		d.t.Fatalf("try: %+v", answered)
	}
	return st.Passkey, try.ID, answered.Record
}

// enrol enrols the first passkey.
func (d *desk) enrol() *keys.Passkey {
	d.t.Helper()
	p, id, record := d.pend()
	body := added(p, "passphrase")
	body.Confirmation = record
	answer := d.must(journal.KindPasskeyAdded, body, keys.Act{Confirmation: id})
	d.verifies(answer.Evidence)
	return p
}

// enrolNext enrols another with the one the browser holds now, and leaves the browser with the new one.
func (d *desk) enrolNext(b *browser) *keys.Passkey {
	d.t.Helper()
	old := b.key
	b.key = softkey.New()
	p, _, _ := d.pend()
	fresh := b.key
	b.key = old
	d.confirmed(journal.KindPasskeyAdded, keys.Act{}, func(record string) any {
		body := added(p, "passkey")
		body.Confirmation = record
		return body
	})
	b.key = fresh
	return p
}

// ask begins a ceremony for an act and brings it to its answer.
func (d *desk) ask(kind journal.Kind, act keys.Act, body func(record string) any) (id, record string) {
	d.t.Helper()
	act.Entry = d.entry(kind, body(journal.Zero))
	begun := d.begin(keys.Ask{Act: &act})
	st := d.steps(begun.ID)
	if st.Kind != keys.StepAnswered {
		d.t.Fatalf("%s: %+v", kind, st)
	}
	return begun.ID, st.Record
}

// confirmed does an act with its ceremony.
func (d *desk) confirmed(kind journal.Kind, act keys.Act, body func(record string) any) keys.Answer {
	d.t.Helper()
	id, record := d.ask(kind, act, body)
	act.Confirmation = id
	answer := d.must(kind, body(record), act)
	d.verifies(answer.Evidence)
	return answer
}

// verifies wants evidence that holds, of the newest entry and the own log key.
func (d *desk) verifies(raw []byte) {
	d.t.Helper()
	e, err := confirm.ParseEvidence(raw)
	if err != nil {
		d.t.Fatal(err)
	}
	report := e.Verify(confirm.EvidencePins{LogKey: d.pub.LogKey, Passkey: e.Statement().Passkey, Vault: d.pub.Vault})
	if !report.Valid || !report.Pinned || e.Statement().Seq != int64(d.state.Seq()) || e.Statement().Head != d.state.Hash() {
		d.t.Fatalf("evidence: %+v", report)
	}
	entry, err := journal.Parse(d.raws[len(d.raws)-1])
	if err != nil {
		d.t.Fatal(err)
	}
	c, ok := entry.Confirmation()
	f := e.Record().Context().Fields()
	if !ok || c.Record != e.Record().Digest() || c.Kind != f.Kind || c.Digest != f.Digest {
		d.t.Fatalf("the evidence is of %s %s, the entry of %+v", f.Kind, f.Digest, c)
	}
}

func (d *desk) signedByPasskey(f envelope.ActionFields) (keys.Act, func(string) any) {
	body, act := d.action(f, `{"note":1}`)
	return act, func(record string) any {
		b := body
		b.By, b.Confirmation, b.Use = "passkey", record, d.state.Uses(b.EnvelopeHash)+1
		return b
	}
}

func TestFirstPasskey(t *testing.T) {
	d := open(t)
	b := d.browse()
	asked := len(d.owner.asked)
	p := d.enrol()
	if n := len(d.owner.asked) - asked; n != 1 || d.owner.asked[asked].Purpose != "passkey" {
		t.Errorf("the passphrase was asked %d times", n)
	}
	pub, err := d.signer.Public(t.Context())
	if err != nil || pub.Passkeys != 1 || pub.Enrolled[0].ID != p.ID || !pub.PasskeySpent || pub.Enrolled[0].Kind != "security_key" {
		t.Fatalf("%+v (%v)", pub, err)
	}
	if d.sealed().FirstPasskeyAt == 0 {
		t.Error("the first passkey is not sealed")
	}
	// Another process knows it.
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	if d.pub.Passkeys != 1 || d.pub.Enrolled[0].LastUse == 0 {
		t.Errorf("%+v", d.pub.Enrolled)
	}
	// A second one needs the first, whatever the entry says.
	b.key = softkey.New()
	second, id, record := d.pend()
	body := added(second, "passphrase")
	body.Confirmation = record
	d.refused(keys.CodeNotConfirmed, journal.KindPasskeyAdded, body, keys.Act{Confirmation: id})
	d.refused(keys.CodePasskeyOnce, journal.KindPasskeyAdded, body, keys.Act{})
	// The new one does not confirm itself.
	body.By, body.Confirmation = "passkey", journal.Zero
	act := keys.Act{Entry: d.entry(journal.KindPasskeyAdded, body)}
	begun := d.begin(keys.Ask{Act: &act})
	st := d.steps(begun.ID)
	body.Confirmation = st.Record
	d.refused("unknown_credential", journal.KindPasskeyAdded, body, keys.Act{Confirmation: begun.ID})
}

func TestSecondPasskeyRemovesTheFirst(t *testing.T) {
	d := open(t)
	b := d.browse()
	first := d.enrol()
	firstKey := b.key
	body := func(p *keys.Passkey) func(string) any {
		return func(record string) any {
			return journal.PasskeyRemoved{Passkey: base64text(p.Key), Confirmation: record}
		}
	}
	d.refused(keys.CodeLastPasskey, journal.KindPasskeyRemoved, body(first)(journal.Zero), keys.Act{})
	second := d.enrolNext(b)
	d.confirmed(journal.KindPasskeyRemoved, keys.Act{}, body(first))
	if pub, _ := d.signer.Public(t.Context()); pub.Passkeys != 1 || pub.Enrolled[0].ID != second.ID {
		t.Fatalf("%+v", pub.Enrolled)
	}
	// The removed one confirms nothing any more; the other does.
	act, make := d.signedByPasskey(d.fields())
	good := b.key
	b.key = firstKey
	id, record := d.ask(journal.KindActionSigned, act, make)
	act.Confirmation = id
	d.refused("unknown_credential", journal.KindActionSigned, make(record), act)
	b.key, act.Confirmation = good, ""
	if answer := d.confirmed(journal.KindActionSigned, act, make); answer.Signature == "" {
		t.Error("nothing was signed")
	}
}

// TestFromTheFirstPasskeyOn shows that pairing and granting by click end there, and what confirmed ones may be.
func TestFromTheFirstPasskeyOn(t *testing.T) {
	d := open(t)
	pairing := func(by string) (keys.Act, func(string) any) {
		entry, _, row := d.clientRow("c_00000000000000aa", "Other")
		return keys.Act{Permits: []keys.Permit{{Body: row}}}, func(record string) any {
			e := entry
			e.By, e.Confirmation = by, record
			return e
		}
	}
	act, made := pairing("passkey")
	d.refused(keys.CodeNoPasskey, journal.KindClientPaired, made(journal.Zero), act)
	b := d.browse()
	d.enrol()

	act, made = pairing("click")
	d.refused(keys.CodePasskeyNeeded, journal.KindClientPaired, made(""), act)
	act, made = pairing("passkey")
	d.refused(keys.CodeNotConfirmed, journal.KindClientPaired, made(journal.Zero), act)
	d.clock.pass(1000)
	act, made = pairing("passkey")
	id, record := d.ask(journal.KindClientPaired, act, made)
	d.clock.pass(20_000) // the person took so long; the row is as old as the ceremony
	act.Confirmation = id
	d.verifies(d.must(journal.KindClientPaired, made(record), act).Evidence)

	f := d.fields()
	f.MaxUses, f.Window.NotAfter = envelope.Some(900), envelope.Some(d.clock.Now()+89*86_400_000)
	body, signing := d.action(f, `{"note":1}`)
	grant := func(by string, uses, until int64) (keys.Act, func(string) any) {
		m, g := d.grantRow(body, uses)
		g.By, g.NotAfter = by, until
		row := encode(t, g)
		m.PermitSHA256, m.By, m.NotAfter = permit.SHA256(row), by, until
		return keys.Act{Envelope: signing.Envelope, Permits: []keys.Permit{d.client, {Body: row}}}, func(record string) any {
			e := m
			e.Confirmation = record
			return e
		}
	}
	act, made = grant("click", 5, d.clock.Now()+3_600_000)
	d.refused(keys.CodePasskeyNeeded, journal.KindGrantMade, made(""), act)
	for name, row := range map[string]struct{ uses, until int64 }{
		"more uses than the envelope": {901, f.Window.NotAfter.N}, "longer than the envelope": {10, f.Window.NotAfter.N + 1},
	} {
		t.Run(name, func(t *testing.T) {
			act, made := grant("passkey", row.uses, row.until)
			act.Entry = d.entry(journal.KindGrantMade, made(journal.Zero))
			_, err := d.signer.Begin(t.Context(), keys.Ask{Act: &act})
			wantCode(t, err, journal.CodeGrantLimits)
		})
	}
	act, made = grant("passkey", 900, f.Window.NotAfter.N)
	answer := d.confirmed(journal.KindGrantMade, act, made)
	if len(answer.MACs) != 1 {
		t.Fatal("the grant has no MAC")
	}
	body.By, body.Grant = "grant", "g_0000000000000001"
	signing.Permits = append(signing.Permits, keys.Permit{Body: act.Permits[1].Body, MAC: answer.MACs[0]})
	d.must(journal.KindActionSigned, body, signing)
	if n := len(b.results); n < 3 || b.results[n-1] != "ok" {
		t.Errorf("the page was told %q", b.results)
	}
}

// TestLyingDeskAboutAConfirmation plays a desk that has one honest answer of a passkey and wants something else
// for it, and a page that answers wrongly. Each row stands beside the honest act, which is taken.
func TestLyingDeskAboutAConfirmation(t *testing.T) {
	body := func(b journal.ActionSigned, record string) journal.ActionSigned {
		b.By, b.Confirmation = "passkey", record
		return b
	}
	type play struct {
		d      *desk
		b      *browser
		entry  journal.ActionSigned
		act    keys.Act
		id     string
		record string
	}
	start := func(t *testing.T) *play {
		d := open(t)
		p := &play{d: d, b: d.browse()}
		d.enrol()
		p.entry, p.act = d.action(d.fields(), `{"note":1}`)
		return p
	}
	asks := func(p *play) {
		p.id, p.record = p.d.ask(journal.KindActionSigned, p.act, func(r string) any { return body(p.entry, r) })
		p.act.Confirmation = p.id
	}
	for _, c := range []struct {
		name string
		code string
		lie  func(p *play)
	}{
		{"none is named", journal.CodeConfirmation, func(p *play) { asks(p); p.record = "" }},
		{"another record", keys.CodeOtherAct, func(p *play) { asks(p); p.record = journal.HashOf(nil) }},
		{"another ceremony", keys.CodeNotConfirmed, func(p *play) { asks(p); p.act.Confirmation = "ce_0000000000000000" }},
		{"no ceremony", keys.CodeNotConfirmed, func(p *play) { asks(p); p.act.Confirmation = "" }},
		{"not answered yet", keys.CodeNotConfirmed, func(p *play) {
			p.b.wait = make(chan struct{})
			act := p.act
			act.Entry = p.d.entry(journal.KindActionSigned, body(p.entry, journal.Zero))
			p.act.Confirmation, p.record = p.d.begin(keys.Ask{Act: &act}).ID, journal.Zero
		}},
		{"another payload", keys.CodeOtherAct, func(p *play) {
			asks(p)
			p.entry, p.act = p.d.action(p.d.fields(), `{"note":2}`)
			p.act.Confirmation = p.id
		}},
		{"another envelope", keys.CodeOtherAct, func(p *play) {
			asks(p)
			f := p.d.fields()
			f.Operation = "erase"
			p.entry, p.act = p.d.action(f, `{"note":1}`)
			p.act.Confirmation = p.id
		}},
		{"another request", keys.CodeOtherAct, func(p *play) { asks(p); p.entry.Request = "r2" }},
		{"another session", keys.CodeOtherAct, func(p *play) { asks(p); p.entry.Session = "other" }},
		{"used twice", keys.CodeNotConfirmed, func(p *play) {
			asks(p)
			p.d.must(journal.KindActionSigned, body(p.entry, p.record), p.act)
			p.entry.Use++
		}},
		{"used after a refusal", keys.CodeNotConfirmed, func(p *play) {
			asks(p)
			p.d.refused(keys.CodeOtherAct, journal.KindActionSigned, body(p.entry, journal.HashOf(nil)), p.act)
		}},
		{"in another process", keys.CodeNotConfirmed, func(p *play) {
			asks(p)
			if err := p.d.again(); err != nil {
				p.d.t.Fatal(err)
			}
		}},
		{"before it was asked", "too_early", func(p *play) { asks(p); p.d.clock.set(-500, 0) }},
		{"too late", keys.CodeTimedOut, func(p *play) { asks(p); p.d.clock.pass(120_000) }},
		{"too late by the boot clock", keys.CodeTimedOut, func(p *play) { asks(p); p.d.clock.set(0, 120_000) }},
		{"stopped", keys.CodeNotConfirmed, func(p *play) {
			asks(p)
			if err := p.d.signer.Stop(p.d.t.Context(), p.id); err != nil {
				p.d.t.Fatal(err)
			}
		}},
		{"nobody verified", "not_verified", func(p *play) { p.b.key.Flags = softkey.UP; asks(p) }},
		{"verification forged", "wrong_signature", func(p *play) {
			p.b.key.Flags = softkey.UP
			p.b.edit = func(_ PageTask, right []byte) []byte {
				return editAuth(right, func(data []byte) { data[32] |= softkey.UV })
			}
			asks(p)
		}},
		{"nobody there", "not_present", func(p *play) { p.b.key.Flags = softkey.UV; asks(p) }},
		{"another port", "wrong_origin", func(p *play) { p.b.key.Origin = strings.Replace(p.b.origin, "40123", "40124", 1); asks(p) }},
		{"another page of localhost", "wrong_origin", func(p *play) { p.b.key.Origin = "http://localhost:40123"; asks(p) }},
		{"another name", "wrong_rp_id", func(p *play) { p.b.key.RPID = "localhost"; asks(p) }},
		{"framed", "framed", func(p *play) { p.b.key.CrossOrigin = true; asks(p) }},
		{"another challenge", "wrong_challenge", func(p *play) { p.b.key.Challenge = base64text(make([]byte, 32)); asks(p) }},
		{"another operation", "wrong_type", func(p *play) { p.b.key.Type = "webauthn.create"; asks(p) }},
		{"unknown credential", "unknown_credential", func(p *play) { p.b.key = softkey.New(); asks(p) }},
		{"known id, another key", "wrong_signature", func(p *play) {
			id := p.b.key.ID
			p.b.key = softkey.New()
			p.b.key.ID, p.b.key.Counter = id, 100
			asks(p)
		}},
		{"the counter goes back", "counter_back", func(p *play) { p.b.key.Counter = 1; asks(p) }},
		{"the counter stands", "counter_back", func(p *play) { p.b.key.Counter--; asks(p) }},
		{"backup eligibility appears", "backup_changed", func(p *play) { p.b.key.Flags |= softkey.BE; asks(p) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t)
			c.lie(p)
			before := p.d.signed
			p.d.refused(c.code, journal.KindActionSigned, body(p.entry, p.record), p.act)
			if p.d.signed != before {
				t.Error("something was signed")
			}
		})
	}
	t.Run("the truth", func(t *testing.T) {
		p := start(t)
		asks(p)
		if answer := p.d.must(journal.KindActionSigned, body(p.entry, p.record), p.act); answer.Signature == "" {
			t.Error("nothing was signed")
		}
	})
	t.Run("others sign meanwhile", func(t *testing.T) {
		p := start(t)
		asks(p)
		other, act := p.d.action(p.d.fields(), `{"note":3}`)
		p.d.must(journal.KindActionSigned, other, act)
		p.entry.Use++
		p.d.must(journal.KindActionSigned, body(p.entry, p.record), p.act)
	})
}

// editAuth changes the authenticator data of an answer.
func editAuth(right []byte, edit func([]byte)) []byte {
	var m map[string]any
	if err := json.Unmarshal(right, &m); err != nil {
		panic(err)
	}
	data := unbase64text(m["authenticator_data"].(string))
	edit(data)
	m["authenticator_data"] = base64text(data)
	out, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return out
}

func unbase64text(s string) []byte {
	var out []byte
	if err := json.Unmarshal([]byte(`"`+strings.NewReplacer("-", "+", "_", "/").Replace(s)+strings.Repeat("=", (4-len(s)%4)%4)+`"`), &out); err != nil {
		panic(err)
	}
	return out
}

func (d *desk) setPolicy(by string, p permit.Policy) (journal.PolicyChanged, error) {
	now, err := d.signer.Public(d.t.Context())
	if err != nil {
		return journal.PolicyChanged{}, err
	}
	raw, err := p.Canonical()
	return journal.PolicyChanged{FromSHA256: journal.HashOf(now.Policy), To: string(raw), By: by}, err
}

func TestPolicyGuard(t *testing.T) {
	d := open(t)
	pay := permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeAction, Operation: "write"}}}
	change := func(by string, p permit.Policy) journal.PolicyChanged {
		t.Helper()
		b, err := d.setPolicy(by, p)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	d.refused(keys.CodeNoPasskey, journal.KindPolicyChanged, change("click", pay), keys.Act{})
	d.browse()
	d.enrol()
	wrong := change("click", pay)
	wrong.FromSHA256 = journal.HashOf(nil)
	d.refused(keys.CodeOtherAct, journal.KindPolicyChanged, wrong, keys.Act{})

	body, act := d.action(d.fields(), `{"note":1}`)
	d.must(journal.KindActionSigned, body, act)
	d.must(journal.KindPolicyChanged, change("click", pay), keys.Act{}) // tightened by click
	body, act = d.action(d.fields(), `{"note":1}`)
	d.refused(keys.CodePasskeyNeeded, journal.KindActionSigned, body, act)
	// The bytes don't lower their own bar: a payload that names another operation than its envelope, and an
	// envelope with another one whose payload names the one that is asked for.
	body, act = d.action(d.fields(), `{"operation":"read"}`)
	d.refused(keys.CodePasskeyNeeded, journal.KindActionSigned, body, act)
	f := d.fields()
	f.Operation = "read"
	body, act = d.action(f, `{"operation":"write"}`)
	d.refused(keys.CodePasskeyNeeded, journal.KindActionSigned, body, act)
	body, act = d.action(f, `{"note":1}`)
	d.must(journal.KindActionSigned, body, act)

	d.refused(keys.CodePasskeyNeeded, journal.KindPolicyChanged, change("click", permit.Policy{}), keys.Act{}) // loosened by click
	loosen := change("passkey", permit.Policy{})
	loose := func(record string) any { b := loosen; b.Confirmation = record; return b }
	id, record := d.ask(journal.KindPolicyChanged, keys.Act{}, loose)
	other := change("passkey", permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeAction, Operation: "x"}}})
	other.Confirmation = record
	d.refused(keys.CodeOtherAct, journal.KindPolicyChanged, other, keys.Act{Confirmation: id})
	d.confirmed(journal.KindPolicyChanged, keys.Act{}, loose)
	body, act = d.action(d.fields(), `{"note":1}`)
	d.must(journal.KindActionSigned, body, act)
	// What is sealed outlives the process.
	d.must(journal.KindPolicyChanged, change("click", pay), keys.Act{})
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	body, act = d.action(d.fields(), `{"note":1}`)
	d.refused(keys.CodePasskeyNeeded, journal.KindActionSigned, body, act)
}

// A grant that a click made does not outlive a rule; one that a passkey made does.
func TestPolicyAndClickedGrant(t *testing.T) {
	d := open(t)
	body, act := d.granted(d.fields(), 5)
	d.browse()
	d.enrol()
	d.must(journal.KindActionSigned, body, act)
	change, err := d.setPolicy("click", permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery}}})
	if err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindPolicyChanged, change, keys.Act{})
	body.Use++
	d.refused(keys.CodePasskeyNeeded, journal.KindActionSigned, body, act)
}

func TestOwnerActs(t *testing.T) {
	d := open(t)
	d.browse()
	_, err := d.signer.Begin(t.Context(), keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}})
	wantCode(t, err, keys.CodeNoPasskey)
	first := d.enrol()
	do := func(act, from, to string) keys.Answer {
		t.Helper()
		begun := d.begin(keys.Ask{Owner: &keys.OwnerAct{Act: act, To: to}})
		st := d.steps(begun.ID)
		if st.Kind != keys.StepAnswered {
			t.Fatalf("%+v", st)
		}
		answer := d.must(journal.KindActConfirmed, journal.ActConfirmed{Act: act, From: from, To: to, Digest: begun.Digest, Confirmation: st.Record}, keys.Act{Confirmation: begun.ID})
		d.verifies(answer.Evidence)
		return answer
	}
	t.Run("card", func(t *testing.T) {
		// Contents of the desk's own choice are not confirmed by it.
		begun := d.begin(keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}})
		st := d.steps(begun.ID)
		d.refused(keys.CodeOtherAct, journal.KindActConfirmed, journal.ActConfirmed{
			Act: "card.export", Digest: journal.HashOf(nil), Confirmation: st.Record}, keys.Act{Confirmation: begun.ID})
		answer := do("card.export", "", "")
		card, err := confirm.ParseOwnerCard(answer.Card)
		if err != nil {
			t.Fatal(err)
		}
		if report := card.Verify(d.pub.OwnerKey); !report.Pinned {
			t.Errorf("%+v", report)
		}
		f := card.Fields()
		if len(f.Passkeys) != 1 || hex.EncodeToString(f.Passkeys[0].Key.COSE()) != hex.EncodeToString(first.Key) || len(f.Domains) != 1 ||
			len(f.LogKeys) != 1 || f.LogKeys[0].Key != d.pub.LogKey {
			t.Errorf("%+v", f)
		}
		e, err := confirm.ParseEvidence(answer.Evidence)
		if err != nil {
			t.Fatal(err)
		}
		if report := card.VerifyEvidence(e); !report.Pinned {
			t.Errorf("the card does not know its own evidence: %s", report.Reason)
		}
	})
	t.Run("words", func(t *testing.T) {
		wantCode(t, d.signer.ShowWords(t.Context(), keys.SurfaceTerminal), keys.CodeNotConfirmed)
		do("recovery.show", "", "")
		if err := d.signer.ShowWords(t.Context(), keys.SurfaceTerminal); err != nil {
			t.Fatal(err)
		}
		wantCode(t, d.signer.ShowWords(t.Context(), keys.SurfaceTerminal), keys.CodeNotConfirmed) // once
		do("recovery.show", "", "")
		d.clock.pass(121_000)
		wantCode(t, d.signer.ShowWords(t.Context(), keys.SurfaceTerminal), keys.CodeNotConfirmed) // at once
	})
	t.Run("protection", func(t *testing.T) {
		now := string(keys.ProtectKeyringAndPassphrase)
		_, err := d.signer.ChangeProtection(t.Context(), keys.ProtectKeyring, keys.SurfaceTerminal)
		wantCode(t, err, keys.CodeNotConfirmed)
		do("protection.change", now, string(keys.ProtectPassphrase))
		_, err = d.signer.ChangeProtection(t.Context(), keys.ProtectKeyring, keys.SurfaceTerminal) // another than was confirmed
		wantCode(t, err, keys.CodeNotConfirmed)
		do("protection.change", now, string(keys.ProtectKeyring))
		pub, err := d.signer.ChangeProtection(t.Context(), keys.ProtectKeyring, keys.SurfaceTerminal)
		if err != nil || pub.Passkeys != 0 || !pub.PasskeySpent {
			t.Fatalf("%+v (%v)", pub, err)
		}
		if gone := d.removed(); len(gone) != 1 || gone[0].RemovedAt == 0 {
			t.Errorf("the passkey that was dropped is not remembered for the card: %+v", gone)
		}
		_, err = d.signer.Begin(t.Context(), keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
		wantCode(t, err, keys.CodeNoPassphrase)
		if _, err := d.signer.ChangeProtection(t.Context(), keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
			t.Fatal(err)
		}
		_, err = d.signer.Begin(t.Context(), keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
		wantCode(t, err, keys.CodePasskeyOnce) // only the words reopen it
	})
}

// The words reopen the first enrolment: a restored vault has no passkey and no memory of one.
func TestRestoredVaultEnrolsAnew(t *testing.T) {
	d := open(t)
	d.browse()
	d.enrol()
	d.signer.Close()
	d.signer = New(d.config)
	d.owner.answers = []string{strings.Join(d.owner.words, " ")}
	pub, err := d.signer.Restore(t.Context(), keys.Restore{Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal})
	if err != nil {
		t.Fatal(err)
	}
	if pub.Passkeys != 0 || pub.PasskeySpent || d.signer.vault.State().Protection != custody.PassphraseOnly {
		t.Fatalf("%+v", pub)
	}
	d.pub, d.state, d.raws, d.head, d.domains = pub, journal.State{}, nil, nil, nil
	if err := d.load(); err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindInstanceStarted, journal.InstanceStarted{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Reason: "restored"}, keys.Act{})
	d.enrol()
}

func TestEnrolmentIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(b *browser)
		code string
	}{
		{"nobody verified", func(b *browser) { b.key.Flags = softkey.UP }, "not_verified"},
		{"another page", func(b *browser) { b.key.Origin = "http://localhost:1" }, "wrong_origin"},
		{"another challenge", func(b *browser) { b.key.Challenge = base64text(make([]byte, 32)) }, "wrong_challenge"},
		{"an assertion", func(b *browser) { b.key.Type = "webauthn.get" }, "wrong_type"},
		{"not what the page sends", func(b *browser) { b.edit = func(PageTask, []byte) []byte { return []byte("{}") } }, "malformed"},
		{"the person cancelled", func(b *browser) { b.ends = &PageEnd{"cancelled", "the passkey was not used"} }, "cancelled"},
		{"two pages", func(b *browser) { b.ends = &PageEnd{"contested", "the page was opened twice"} }, "contested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t)
			b := d.browse()
			c.edit(b)
			begun := d.begin(keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
			if st := d.steps(begun.ID); st.Kind != keys.StepEnded || st.Outcome != c.code {
				t.Fatalf("%+v", st)
			}
			_, err := d.signer.Begin(t.Context(), keys.Ask{Try: true})
			wantCode(t, err, keys.CodeNothingPending)
		})
	}
	t.Run("not mine", func(t *testing.T) {
		d := open(t)
		d.browse()
		begun := d.begin(keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
		d.steps(begun.ID)
		_, err := d.signer.Begin(t.Context(), keys.Ask{Try: true}) // before the digits were compared
		wantCode(t, err, keys.CodeNothingPending)
		if err := d.signer.Compared(t.Context(), begun.ID, false); err != nil {
			t.Fatal(err)
		}
		_, err = d.signer.Begin(t.Context(), keys.Ask{Try: true})
		wantCode(t, err, keys.CodeNothingPending)
	})
	t.Run("the passphrase is not given", func(t *testing.T) {
		d := open(t)
		d.browse()
		d.owner.cancels = true
		_, err := d.signer.Begin(t.Context(), keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
		wantCode(t, err, "cancelled")
	})
	t.Run("one at a time", func(t *testing.T) {
		d := open(t)
		b := d.browse()
		b.wait = make(chan struct{})
		begun := d.begin(keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
		_, err := d.signer.Begin(t.Context(), keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
		wantCode(t, err, keys.CodeCeremonyOpen)
		if err := d.signer.Stop(t.Context(), begun.ID); err != nil {
			t.Fatal(err)
		}
		if st := d.steps(begun.ID); st.Outcome != "cancelled" {
			t.Errorf("%+v", st)
		}
		b.mu.Lock()
		b.wait = nil
		b.mu.Unlock()
		d.enrol()
	})
}

// What a passkey confirmed by its digest alone, nobody has seen: the action itself asks again where a rule asks.
func TestUnseenActionAsksAgain(t *testing.T) {
	d := open(t)
	d.browse()
	d.enrol()
	change, err := d.setPolicy("click", permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeAction, Operation: "write"}}})
	if err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindPolicyChanged, change, keys.Act{})
	env := momentOf(t, "which?")
	signed, signing := d.action(d.fields(), momentAction)
	body, act := d.resolved(env, signing.Envelope)
	act.Behind = []byte(fmt.Sprintf(`[{"option":0,"sign_with":%s}]`, signing.Envelope))
	sheet := sheetOf(t, env, act.Behind)
	body.SheetDigest = sheet.Digest()
	resolved := func(record string) any { b := body; b.By, b.Confirmation = "passkey", record; return b }
	d.refused("wrong_resolution", journal.KindMomentResolved, body, act)
	body.Unseen = true
	d.confirmed(journal.KindMomentResolved, act, resolved)

	signed.Request, signed.Session, signed.Moment, signing.Moment = body.Moment, "s1", body.Moment, env.Canonical()
	d.refused(keys.CodePasskeyNeeded, journal.KindActionSigned, signed, signing)
	d.confirmed(journal.KindActionSigned, signing, func(record string) any {
		b := signed
		b.By, b.Confirmation = "passkey", record
		return b
	})
}

// TestMomentByPasskey: a rule on moments asks for one, its record carries the resolution, and the action follows
// from it without another.
func TestMomentByPasskey(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  permit.Rule
		needs bool
	}{
		{"every moment", permit.Rule{Scope: permit.ScopeMoment}, true},
		{"the signing operation", permit.Rule{Scope: permit.ScopeAction, Operation: "write"}, true},
		{"another operation", permit.Rule{Scope: permit.ScopeEvery, Operation: "read"}, false},
		{"the class", permit.Rule{Scope: permit.ScopeMoment, Class: "law"}, true}, // the moment names none
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t)
			d.browse()
			d.enrol()
			change, err := d.setPolicy("click", permit.Policy{Rules: []permit.Rule{c.rule}})
			if err != nil {
				t.Fatal(err)
			}
			d.must(journal.KindPolicyChanged, change, keys.Act{})
			env := momentOf(t, "which?")
			signed, signing := d.action(d.fields(), momentAction)
			body, act := d.resolved(env, signing.Envelope)
			if !c.needs {
				d.must(journal.KindMomentResolved, body, act)
				return
			}
			d.refused(keys.CodePasskeyNeeded, journal.KindMomentResolved, body, act)
			answer := d.confirmed(journal.KindMomentResolved, act, func(record string) any {
				b := body
				b.By, b.Confirmation = "passkey", record
				return b
			})
			e, err := confirm.ParseEvidence(answer.Evidence)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Record().Context().Covers(act.Payload); err != nil {
				t.Error(err)
			}
			if b := e.Record().Context().Fields().Binding; b == nil || b.ActionDigest != body.ActionDigest || b.Resolution != string(moment.ChoseOption) {
				t.Errorf("binding %+v", b)
			}
			signed.Request, signed.Session, signed.Moment, signing.Moment = body.Moment, "s1", body.Moment, env.Canonical()
			d.must(journal.KindActionSigned, signed, signing)
		})
	}
}

// TestCeremonyBeginsWhileOthersSign: what is asked about may have been drafted before other acts were taken.
func TestCeremonyBeginsWhileOthersSign(t *testing.T) {
	d := open(t)
	d.browse()
	d.enrol()
	act, make := d.signedByPasskey(d.fields())
	act.Entry = d.entry(journal.KindActionSigned, make(journal.Zero))
	other, signing := d.action(d.fields(), `{"note":3}`)
	d.must(journal.KindActionSigned, other, signing)
	begun := d.begin(keys.Ask{Act: &act})
	st := d.steps(begun.ID)
	act.Confirmation = begun.ID
	d.verifies(d.must(journal.KindActionSigned, make(st.Record), act).Evidence)
	// A draft of another log is none.
	raw, _, err := journal.New(strings.Repeat("0", 32), 2, journal.HashOf(nil), d.clock.Now(), journal.KindActionSigned, make(journal.Zero))
	if err != nil {
		t.Fatal(err)
	}
	act.Entry = raw
	_, err = d.signer.Begin(t.Context(), keys.Ask{Act: &act})
	wantCode(t, err, journal.CodeOtherInstance)
}

// A wall clock that is set back while the vault is open keeps nobody from confirming, and gives no ceremony more time.
func TestConfirmingAfterTheClockWasSetBack(t *testing.T) {
	d := open(t)
	b := d.browse()
	first := d.enrol()
	second := d.enrolNext(b)
	d.clock.set(-600_000, 0)
	act, make := d.signedByPasskey(d.fields())
	d.confirmed(journal.KindActionSigned, act, make)

	begun := d.begin(keys.Ask{Owner: &keys.OwnerAct{Act: "recovery.show"}})
	st := d.steps(begun.ID)
	d.must(journal.KindActConfirmed, journal.ActConfirmed{Act: "recovery.show", Digest: begun.Digest, Confirmation: st.Record}, keys.Act{Confirmation: begun.ID})
	if err := d.signer.ShowWords(t.Context(), keys.SurfaceTerminal); err != nil {
		t.Error(err)
	}

	// The boot-time clock ends it all the same.
	id, record := d.ask(journal.KindActionSigned, act, make)
	act.Confirmation = id
	d.clock.set(0, 120_000)
	d.refused(keys.CodeTimedOut, journal.KindActionSigned, make(record), act)

	// A passkey that was enrolled by a later clock than it is removed by does not spoil the owner card.
	d.confirmed(journal.KindPasskeyRemoved, keys.Act{}, func(record string) any {
		return journal.PasskeyRemoved{Passkey: base64text(first.Key), Confirmation: record}
	})
	if pub, _ := d.signer.Public(t.Context()); len(pub.Enrolled) != 1 || pub.Enrolled[0].ID != second.ID {
		t.Fatalf("%+v", pub.Enrolled)
	}
	begun = d.begin(keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}})
	st = d.steps(begun.ID)
	answer := d.must(journal.KindActConfirmed, journal.ActConfirmed{Act: "card.export", Digest: begun.Digest, Confirmation: st.Record}, keys.Act{Confirmation: begun.ID})
	if _, err := confirm.ParseOwnerCard(answer.Card); err != nil {
		t.Error(err)
	}
}

// Two passkeys of two names: the page asks for those of one. With one lost, the other's turn comes at the next asking.
func TestPasskeysOfTwoNames(t *testing.T) {
	d := open(t)
	b := d.browse()
	first := d.enrol()
	lost, spare := b.key, softkey.New()
	b.key = spare
	begun := d.begin(keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}, OtherName: true})
	pending := d.steps(begun.ID).Passkey
	if err := d.signer.Compared(t.Context(), begun.ID, true); err != nil {
		t.Fatal(err)
	}
	d.steps(d.begin(keys.Ask{Try: true}).ID)
	b.key = lost
	d.confirmed(journal.KindPasskeyAdded, keys.Act{}, func(record string) any {
		body := added(pending, "passkey")
		body.Confirmation = record
		return body
	})
	asked := func() string {
		t.Helper()
		task := b.tasks[len(b.tasks)-1]
		c, err := confirm.ParseContext([]byte(task.Context))
		if err != nil || len(task.Credentials) != 1 {
			t.Fatal(err, task.Credentials)
		}
		return c.Fields().RPID
	}
	remove := func(record string) any {
		return journal.PasskeyRemoved{Passkey: base64text(first.Key), Confirmation: record}
	}
	cancelled := func() {
		t.Helper()
		b.ends = &PageEnd{Outcome: "cancelled"}
		act := keys.Act{Entry: d.entry(journal.KindPasskeyRemoved, remove(journal.Zero))}
		if st := d.steps(d.begin(keys.Ask{Act: &act}).ID); st.Outcome != "cancelled" {
			t.Fatalf("%+v", st)
		}
		b.ends = nil
	}
	own := "vault-" + d.pub.Vault[:8] + ".localhost"
	for i, want := range []string{own, "localhost", own} { // in turn, as long as none answers
		cancelled()
		if got := asked(); got != want {
			t.Fatalf("%d: asked for passkeys of %s", i, got)
		}
	}
	b.key = spare
	act, make := d.signedByPasskey(d.fields())
	for range 2 { // and then by the one that answers
		d.confirmed(journal.KindActionSigned, act, make)
		if got := asked(); got != "localhost" {
			t.Fatal(got)
		}
		act, make = d.signedByPasskey(d.fields())
	}
	d.confirmed(journal.KindPasskeyRemoved, keys.Act{}, remove)
}

// As many passkeys as the owner card can name, with those that were removed, and no more.
func TestPasskeysAreBounded(t *testing.T) {
	d := open(t)
	b := d.browse()
	d.enrol()
	for range maxEnrolled - 1 {
		d.enrolNext(b)
	}
	_, err := d.signer.Begin(t.Context(), keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
	wantCode(t, err, journal.CodeTooMany)
	d.signer.mu.Lock() // anchors are written in the background
	defer d.signer.mu.Unlock()
	for range maxRemoved {
		d.signer.sealed.policy.Removed = append(d.signer.sealed.policy.Removed, sealedPasskey{
			Kind: string(confirm.Program), RPID: otherName, EnrolledAt: 1, RemovedAt: 2, key: keyOf(t, softkey.New()),
		})
	}
	if _, err := d.signer.newCard(d.clock.Now()); err != nil {
		t.Error(err)
	}
}

func keyOf(t *testing.T, k *softkey.Key) *confirm.Key {
	t.Helper()
	key, err := confirm.ParseKey(k.COSE())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// removed are the passkeys that the sealed policy remembers: anchors are written in the background.
func (d *desk) removed() []sealedPasskey {
	d.signer.mu.Lock()
	defer d.signer.mu.Unlock()
	return d.signer.sealed.policy.Removed
}
