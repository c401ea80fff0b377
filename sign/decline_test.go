package sign

import (
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/derive/confirm"
)

// declined is the confirmed decline of a request to sign, to be made worse by a test.
func (d *desk) declined() (journal.RequestAnswered, keys.Act) {
	d.t.Helper()
	_, act := d.action(d.fields(), `{"note":1}`)
	return journal.RequestAnswered{
		Request: "r1", Client: d.clientID, Method: "action.sign", Outcome: "declined",
		Digest: journal.AskDigest("action.sign", "s1", act.Envelope, act.Payload),
	}, keys.Act{Session: "s1", Envelope: act.Envelope, Payload: act.Payload}
}

func (d *desk) declinedPairing() (journal.RequestAnswered, keys.Act) {
	return journal.RequestAnswered{
		Request: "p_0000000000000001", Method: "pair", Outcome: "declined",
		Digest: journal.AskDigest("pair", "p_0000000000000001", []byte("123456"), []byte("an agent")),
	}, keys.Act{Session: "p_0000000000000001", Envelope: []byte("123456"), Payload: []byte("an agent")}
}

// TestConfirmedDecline has a row for each lie about a decline that a passkey confirms, before anybody is asked and after it.
func TestConfirmedDecline(t *testing.T) {
	type decline func(*desk) (journal.RequestAnswered, keys.Act)
	action, pairing := (*desk).declined, (*desk).declinedPairing
	for _, c := range []struct {
		name string
		of   decline
		code string
		lie  func(*journal.RequestAnswered, *keys.Act)
	}{
		{"another digest", action, "wrong_digest", func(b *journal.RequestAnswered, _ *keys.Act) { b.Digest = journal.HashOf(nil) }},
		{"another payload", action, "wrong_digest", func(_ *journal.RequestAnswered, a *keys.Act) { a.Payload = []byte(`{"note":2}`) }},
		{"another session", action, "wrong_digest", func(_ *journal.RequestAnswered, a *keys.Act) { a.Session = "s2" }},
		{"another method", action, "wrong_digest", func(b *journal.RequestAnswered, _ *keys.Act) { b.Method = "moment.sign" }},
		{"no bytes", action, "wrong_digest", func(_ *journal.RequestAnswered, a *keys.Act) { *a = keys.Act{} }},
		{"no envelope", action, "malformed", func(b *journal.RequestAnswered, a *keys.Act) {
			a.Envelope = []byte(`{}`)
			b.Digest = journal.AskDigest(b.Method, a.Session, a.Envelope, a.Payload)
		}},
		{"a request that expired", action, journal.CodeConfirmation, func(b *journal.RequestAnswered, _ *keys.Act) { b.Outcome = "expired" }},
		{"digits of another pairing", pairing, "wrong_digest", func(_ *journal.RequestAnswered, a *keys.Act) { a.Envelope = []byte("654321") }},
		{"the name of another", pairing, "wrong_digest", func(_ *journal.RequestAnswered, a *keys.Act) { a.Payload = []byte("a friend") }},
		{"a pairing under another id", pairing, "malformed", func(b *journal.RequestAnswered, _ *keys.Act) { b.Request = "p_0000000000000002" }},
		{"a pairing of a client", pairing, "malformed", func(b *journal.RequestAnswered, _ *keys.Act) { b.Client = "c_0000000000000001" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t)
			d.browse()
			body, act := c.of(d)
			body.Confirmation = journal.Zero
			d.refused(keys.CodeNoPasskey, journal.KindRequestAnswered, body, act)
			d.enrol()
			body, act = c.of(d)
			body.Confirmation = journal.Zero
			c.lie(&body, &act)
			asked := act
			asked.Entry = d.entry(journal.KindRequestAnswered, body)
			_, err := d.signer.Begin(t.Context(), keys.Ask{Act: &asked})
			wantCode(t, err, c.code)
			// With an honest ceremony behind it the lie is refused all the same.
			honest, right := c.of(d)
			id, record := d.ask(journal.KindRequestAnswered, right, func(r string) any { b := honest; b.Confirmation = r; return b })
			act.Confirmation, body.Confirmation = id, record
			d.refused(c.code, journal.KindRequestAnswered, body, act)
			d.confirmed(journal.KindRequestAnswered, right, func(r string) any { b := honest; b.Confirmation = r; return b })
			d.must(journal.KindRequestAnswered, honest, keys.Act{}) // a click asks for nothing
		})
	}
}

// What the page says about a decline comes from the bytes.
func TestConfirmedDeclineSays(t *testing.T) {
	d := open(t)
	b := d.browse()
	d.enrol()
	for _, c := range []struct {
		of    func(*desk) (journal.RequestAnswered, keys.Act)
		wants []string
	}{
		{(*desk).declined, []string{"Decline to sign", "My agent", `Operation: “write”`, `{"note":1}`}},
		{(*desk).declinedPairing, []string{"Decline to pair", "“an agent”", "“123456”"}},
	} {
		body, act := c.of(d)
		d.confirmed(journal.KindRequestAnswered, act, func(r string) any { x := body; x.Confirmation = r; return x })
		for _, want := range c.wants {
			contains(t, b.saidLast(t), want)
		}
	}
}

// TestConfirmedDeclineOfAMoment has a row for each lie about a moment that is declined with a passkey.
func TestConfirmedDeclineOfAMoment(t *testing.T) {
	of := func(d *desk) (journal.MomentDeclined, keys.Act) {
		env := momentOf(d.t, "which?")
		_, signing := d.action(d.fields(), momentAction)
		resolved, act := d.resolved(env, signing.Envelope)
		r := env.Decline()
		return journal.MomentDeclined{
			Moment: resolved.Moment, Client: resolved.Client, Session: resolved.Session, EnvelopeDigest: resolved.EnvelopeDigest,
			SheetDigest: resolved.SheetDigest, ResolutionDigest: r.Digest(),
		}, keys.Act{Payload: r.Canonical(), Moment: act.Moment, Behind: act.Behind}
	}
	for _, c := range []struct {
		name string
		code string
		lie  func(*desk, *journal.MomentDeclined, *keys.Act)
	}{
		{"another envelope", "wrong_moment", func(d *desk, _ *journal.MomentDeclined, a *keys.Act) { a.Moment = momentOf(d.t, "other?").Canonical() }},
		{"another sheet", "wrong_sheet", func(_ *desk, _ *journal.MomentDeclined, a *keys.Act) { a.Behind = nil }},
		{"a selection", "wrong_resolution", func(d *desk, b *journal.MomentDeclined, a *keys.Act) {
			r, err := momentOf(d.t, "which?").Select(1)
			if err != nil {
				d.t.Fatal(err)
			}
			a.Payload, b.ResolutionDigest = r.Canonical(), r.Digest()
		}},
		{"no resolution", "wrong_resolution", func(_ *desk, _ *journal.MomentDeclined, a *keys.Act) { a.Payload = nil }},
		{"another session", journal.CodeMomentName, func(_ *desk, b *journal.MomentDeclined, _ *keys.Act) { b.Session = "s2" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t)
			d.browse()
			d.enrol()
			honest, right := of(d)
			body, act := honest, right
			body.Confirmation = journal.Zero
			c.lie(d, &body, &act)
			asked := act
			asked.Entry = d.entry(journal.KindMomentDeclined, body)
			_, err := d.signer.Begin(t.Context(), keys.Ask{Act: &asked})
			wantCode(t, err, c.code)
			answer := d.confirmed(journal.KindMomentDeclined, right, func(r string) any { b := honest; b.Confirmation = r; return b })
			e, err := confirm.ParseEvidence(answer.Evidence)
			if err != nil {
				t.Fatal(err)
			}
			if b := e.Record().Context().Fields().Binding; b == nil || b.Resolution != string(moment.ChoseDecline) || e.Record().Context().Covers(right.Payload) != nil {
				t.Errorf("binding %+v", b)
			}
		})
	}
}
