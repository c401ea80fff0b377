package sign

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"filippo.io/age"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/derive"
	"vault/derive/envelope"
)

// mintDesk is a desk with a passkey and a bot's key.
type mintDesk struct {
	*desk
	seed derive.Secret
	bot  string
	// Of the delegate that is in force:
	delegate *envelope.MintDelegate
	row      keys.Permit
	// Another client, paired before the passkey was enrolled:
	otherID string
	other   keys.Permit
}

func openMint(t testing.TB) *mintDesk {
	t.Helper()
	d := &mintDesk{desk: newDesk(t)}
	d.browse()
	pub, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectKeyringAndPassphrase, Surface: keys.SurfaceTerminal})
	if err != nil {
		t.Fatal(err)
	}
	d.pub = pub
	if err := d.load(); err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindCreated, journal.Created{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey}, keys.Act{})
	d.setUp()
	id, row := d.clientID, d.client
	d.pair("c_0000000000000002")
	d.otherID, d.other = d.clientID, d.client
	d.clientID, d.client = id, row
	d.enrol()
	copy(d.seed[:], "the seed of a bot in these tests")
	if d.bot, err = derive.Address(d.seed[:]); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *mintDesk) form() envelope.DelegateFields {
	now := d.clock.Now()
	at, err := envelope.FormatTime(now)
	if err != nil {
		d.t.Fatal(err)
	}
	return envelope.DelegateFields{
		DomainHash: d.info.Hash(), AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*"}, BotPolicy: envelope.BotSet,
		AllowedBotAddresses: []string{d.bot}, IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 2,
		Window: envelope.Window{NotBefore: envelope.Some(now - 1000), NotAfter: envelope.Some(now + 3600_000)},
		Nonce:  "0x" + strings.Repeat("ab", 32), IssuedAt: at,
	}
}

func (d *mintDesk) issuer() string {
	known, _ := d.state.Domain(d.info.Hash())
	return known.Address
}

func (d *mintDesk) body(f envelope.DelegateFields) *envelope.MintDelegate {
	d.t.Helper()
	m, err := envelope.NewMintDelegate(d.issuer(), f)
	if err != nil {
		d.t.Fatal(err)
	}
	return m
}

// issuing is the act that issues a delegate, and its entry but for the record.
func (d *mintDesk) issuing(m *envelope.MintDelegate) (journal.DelegateIssued, permit.Delegate, keys.Act) {
	row := permit.Delegate{Type: permit.TypeDelegate, V: 1, Hash: m.Hash(), DomainHash: m.Fields().DomainHash, Mints: m.Fields().MaxMints, MadeAt: d.clock.Now()}
	return journal.DelegateIssued{Delegate: m.Hash(), DomainHash: m.Fields().DomainHash, Mints: m.Fields().MaxMints}, row, keys.Act{Delegate: m.Body()}
}

// issue issues it and remembers it.
func (d *mintDesk) issue(f envelope.DelegateFields) {
	d.t.Helper()
	m := d.body(f)
	b, row, act := d.issuing(m)
	d.row = keys.Permit{Body: encode(d.t, row)}
	act.Permits = []keys.Permit{d.row}
	b.PermitSHA256 = permit.SHA256(d.row.Body)
	answer := d.confirmed(journal.KindDelegateIssued, act, func(record string) any { b.Confirmation = record; return b })
	d.row.MAC = answer.MACs[0]
	var err error
	if d.delegate, err = envelope.ParseMintDelegate(answer.Delegate); err != nil {
		d.t.Fatal(err)
	}
}

func (d *mintDesk) prove() *keys.BotProof {
	d.t.Helper()
	nonce, err := d.signer.BotNonce(d.t.Context(), d.clientID)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.proofOf(nonce)
}

func (d *mintDesk) proofOf(nonce string) *keys.BotProof {
	d.t.Helper()
	sig, err := derive.SignDigest(d.seed[:], envelope.BotChallenge{Client: d.clientID, Nonce: nonce, Vault: d.pub.Vault}.Digest())
	if err != nil {
		d.t.Fatal(err)
	}
	return &keys.BotProof{Address: d.bot, Nonce: nonce, Signature: sig}
}

func (d *mintDesk) fieldsOf() envelope.RequestFields {
	now := d.clock.Now()
	return envelope.RequestFields{
		AgentID: "bot", Operation: "send-message", Resources: []string{"thread:1"}, ActionIndex: 1, MaxUses: 2,
		Window: envelope.Window{NotBefore: envelope.Some(now - 500), NotAfter: envelope.Some(now + 60_000)}, Nonce: "n1", RequestedAt: "2026-11-30T00:00:00.000Z",
	}
}

func (d *mintDesk) request(f envelope.RequestFields) *envelope.MintRequest {
	d.t.Helper()
	q, err := envelope.NewMintRequest(d.bot, d.delegate, f)
	if err != nil {
		d.t.Fatal(err)
	}
	sig, err := derive.SignDigest(d.seed[:], q.Digest())
	if err != nil {
		d.t.Fatal(err)
	}
	if q, err = q.Signed(sig); err != nil {
		d.t.Fatal(err)
	}
	return q
}

// minting is the act of one request.
func (d *mintDesk) minting(q *envelope.MintRequest) (journal.CapabilityMinted, keys.Act) {
	d.t.Helper()
	env, err := d.delegate.MintedEnvelope(q, d.info)
	if err != nil {
		d.t.Fatal(err)
	}
	st, _ := d.state.Delegate(d.delegate.Hash())
	return journal.CapabilityMinted{
			Delegate: d.delegate.Hash(), DomainHash: d.info.Hash(), Client: d.clientID, Bot: d.bot, Nonce: envelope.HashText(q.Fields().Nonce), Mint: q.Hash(),
			EnvelopeHash: env.Hash(), Number: st.Minted + 1,
		}, keys.Act{
			Delegate: d.delegate.Canonical(), Request: q.Canonical(), Bot: d.prove(), Permits: []keys.Permit{d.client, d.row},
		}
}

// using is the act of one signature by a minted key.
func (d *mintDesk) using(q *envelope.MintRequest, address, payload string) (journal.MintedSigned, keys.Act) {
	d.t.Helper()
	p, err := envelope.ParsePayload([]byte(payload))
	digest := ""
	if err == nil {
		sum := p.Digest()
		digest = "0x" + hex.EncodeToString(sum[:])
	} else {
		digest = journal.Zero
	}
	m, _ := d.state.Mint(d.delegate.Hash(), envelope.HashText(q.Fields().Nonce))
	env, err := d.delegate.MintedEnvelope(q, d.info)
	if err != nil {
		d.t.Fatal(err)
	}
	return journal.MintedSigned{
			DomainHash: d.info.Hash(), EnvelopeHash: env.Hash(),
			Request: "r", Client: d.clientID, Bot: d.bot, Delegate: d.delegate.Hash(), Nonce: envelope.HashText(q.Fields().Nonce), Mint: q.Hash(),
			Digest: digest, Address: address, Use: m.Uses + 1,
		}, keys.Act{
			Delegate: d.delegate.Canonical(), Request: q.Canonical(), Bot: d.prove(), Permits: []keys.Permit{d.client, d.row}, Payload: []byte(payload),
		}
}

func TestIssuedDelegateVerifies(t *testing.T) {
	d := openMint(t)
	d.issue(d.form())
	r, _ := envelope.VerifyMintDelegate(d.delegate.Canonical(), envelope.Pins{DomainAddress: d.issuer(), DomainHash: d.info.Hash()})
	if !r.Valid || !r.Pinned {
		t.Errorf("%+v", r)
	}
	q := d.request(d.fieldsOf())
	if _, err := d.signer.Minted(t.Context(), keys.MintAsk{Delegate: d.delegate.Canonical(), Request: q.Canonical()}); code(err) != journal.CodeUnknownMint {
		t.Errorf("before it is minted: %v", err)
	}
	b, act := d.minting(q)
	answer := d.must(journal.KindCapabilityMinted, b, act)
	if answer.Signature != "" || answer.Address != "" {
		t.Errorf("something was derived: %+v", answer)
	}
	got, err := d.signer.Minted(t.Context(), keys.MintAsk{Delegate: d.delegate.Canonical(), Request: q.Canonical()})
	if err != nil {
		t.Fatal(err)
	}
	used, act := d.using(q, got.Address, `{"type":"x"}`)
	signed := d.must(journal.KindMintedSigned, used, act)
	if r := envelope.VerifyAction(act.Payload, signed.Signature, got.Address); !r.Valid {
		t.Errorf("%+v", r)
	}
	// After a restart all of it is known, and the bot proves itself anew.
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	used, fresh := d.using(q, got.Address, `{"type":"x"}`)
	fresh.Bot = act.Bot
	d.refused(keys.CodeBotNotProven, journal.KindMintedSigned, used, fresh)
	used, fresh = d.using(q, got.Address, `{"type":"x"}`)
	d.must(journal.KindMintedSigned, used, fresh)
	used, fresh = d.using(q, got.Address, `{"type":"x"}`)
	d.refused(keys.CodeMintUsesSpent, journal.KindMintedSigned, used, fresh)
}

func code(err error) string {
	if e, ok := err.(*keys.Error); ok {
		return e.Code
	}
	if err == nil {
		return ""
	}
	return "? " + err.Error()
}

// TestLyingDeskAboutADelegate asks for the confirmation of acts that are right but for one lie: nobody is asked.
func TestLyingDeskAboutADelegate(t *testing.T) {
	type lie func(d *mintDesk, b *journal.DelegateIssued, row *permit.Delegate, a *keys.Act)
	body := func(change func(*envelope.DelegateFields)) lie {
		return func(d *mintDesk, b *journal.DelegateIssued, row *permit.Delegate, a *keys.Act) {
			f := d.form()
			change(&f)
			*b, *row, *a = d.issuing(d.body(f))
		}
	}
	for _, tt := range []struct {
		name string
		lie  lie
		code string
	}{
		{"another delegate", func(d *mintDesk, _ *journal.DelegateIssued, _ *permit.Delegate, a *keys.Act) {
			f := d.form()
			f.MaxMints = 99
			a.Delegate = d.body(f).Body()
		}, "wrong_delegate"},
		{"no delegate", func(_ *mintDesk, _ *journal.DelegateIssued, _ *permit.Delegate, a *keys.Act) { a.Delegate = nil }, "malformed"},
		{"a delegate that is signed", func(d *mintDesk, _ *journal.DelegateIssued, _ *permit.Delegate, a *keys.Act) {
			a.Delegate = []byte(strings.Replace(string(a.Delegate), `"issuedAt"`, `"issuerSignature":"0x12","issuedAt"`, 1))
		}, "malformed"},
		{"not canonical", func(_ *mintDesk, _ *journal.DelegateIssued, _ *permit.Delegate, a *keys.Act) {
			a.Delegate = append([]byte(" "), a.Delegate...)
		}, "malformed"},
		{"another issuer", func(d *mintDesk, b *journal.DelegateIssued, row *permit.Delegate, a *keys.Act) {
			m, err := envelope.NewMintDelegate(d.bot, d.form())
			if err != nil {
				d.t.Fatal(err)
			}
			*b, *row, *a = d.issuing(m)
		}, "delegate_issuer"},
		{"a domain that is not open", func(_ *mintDesk, b *journal.DelegateIssued, _ *permit.Delegate, _ *keys.Act) {
			b.DomainHash = journal.HashOf(nil)
		}, journal.CodeUnknownDomain},
		{"an id against the rule", func(d *mintDesk, b *journal.DelegateIssued, row *permit.Delegate, a *keys.Act) {
			m := d.body(d.form())
			m, err := envelope.ParseMintDelegate(bytes.Replace(m.Body(), []byte(m.ID()), []byte("ae-delegate-0000000000000000"), 1))
			if err != nil {
				d.t.Fatal(err)
			}
			*b, *row, *a = d.issuing(m)
		}, "delegate_id_mismatch"},
		{"issued long ago", body(func(f *envelope.DelegateFields) { f.IssuedAt = "2020-01-01T00:00:00.000Z" }), "plan_old"},
		{"issued in the future", body(func(f *envelope.DelegateFields) { f.IssuedAt = "2100-01-01T00:00:00.000Z" }), "plan_old"},
		{"more mints in the log", func(_ *mintDesk, b *journal.DelegateIssued, _ *permit.Delegate, _ *keys.Act) { b.Mints++ }, "bad_permit"},
		{"more mints in the row", func(_ *mintDesk, _ *journal.DelegateIssued, row *permit.Delegate, _ *keys.Act) { row.Mints++ }, "bad_permit"},
		{"the row of another", func(_ *mintDesk, _ *journal.DelegateIssued, row *permit.Delegate, _ *keys.Act) {
			row.Hash = journal.HashOf(nil)
		}, "bad_permit"},
		{"a row that was admitted", func(_ *mintDesk, _ *journal.DelegateIssued, row *permit.Delegate, _ *keys.Act) { row.Admitted = true }, "bad_permit"},
		{"a row of before", func(_ *mintDesk, _ *journal.DelegateIssued, row *permit.Delegate, _ *keys.Act) {
			row.MadeAt -= 3600_000
		}, "bad_permit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := openMint(t)
			b, row, act := d.issuing(d.body(d.form()))
			tt.lie(d, &b, &row, &act)
			sealedRow := encode(t, row)
			act.Permits, b.PermitSHA256, b.Confirmation = []keys.Permit{{Body: sealedRow}}, permit.SHA256(sealedRow), journal.Zero
			act.Entry = d.entry(journal.KindDelegateIssued, b)
			if _, err := d.signer.Begin(t.Context(), keys.Ask{Act: &act}); code(err) != tt.code {
				t.Errorf("begin: %v, want %s", err, tt.code)
			}
			d.issue(d.form())
		})
	}
	t.Run("confirmed for another delegate", func(t *testing.T) {
		d := openMint(t)
		ask := func(f envelope.DelegateFields) (journal.DelegateIssued, keys.Act) {
			b, row, act := d.issuing(d.body(f))
			raw := encode(t, row)
			act.Permits, b.PermitSHA256 = []keys.Permit{{Body: raw}}, permit.SHA256(raw)
			return b, act
		}
		b, act := ask(d.form())
		id, record := d.ask(journal.KindDelegateIssued, act, func(record string) any { b.Confirmation = record; return b })
		f := d.form()
		f.MaxMints = 99
		other, act := ask(f)
		other.Confirmation, act.Confirmation = record, id
		d.refused(keys.CodeOtherAct, journal.KindDelegateIssued, other, act)
		b.Confirmation, act.Confirmation = record, id
		act.Delegate = d.body(d.form()).Body()
		d.refused(keys.CodeNotConfirmed, journal.KindDelegateIssued, b, act)
		b.Confirmation = ""
		d.refused(journal.CodeConfirmation, journal.KindDelegateIssued, b, keys.Act{})
	})
	t.Run("admitted", func(t *testing.T) {
		d := openMint(t)
		d.issue(d.form())
		raw := d.delegate.Canonical()
		f := d.form()
		f.Nonce = "0x" + strings.Repeat("cd", 32)
		for name, c := range map[string]struct {
			change func(b *journal.DelegateAdmitted, row *permit.Delegate, a *keys.Act)
			code   string
		}{
			"not signed":     {func(_ *journal.DelegateAdmitted, _ *permit.Delegate, a *keys.Act) { a.Delegate = d.body(f).Body() }, "delegate_signature"},
			"twice":          {func(b *journal.DelegateAdmitted, row *permit.Delegate, _ *keys.Act) { b.Delegate = d.delegate.Hash() }, journal.CodeTwice},
			"another domain": {func(b *journal.DelegateAdmitted, _ *permit.Delegate, _ *keys.Act) { b.DomainHash = journal.HashOf(nil) }, journal.CodeUnknownDomain},
			"another one":    {func(_ *journal.DelegateAdmitted, _ *permit.Delegate, a *keys.Act) { a.Delegate = raw }, "wrong_delegate"},
		} {
			m := d.body(f)
			b := journal.DelegateAdmitted{Delegate: m.Hash(), DomainHash: d.info.Hash(), Mints: 1, Confirmation: journal.Zero}
			row := permit.Delegate{Type: permit.TypeDelegate, V: 1, Hash: m.Hash(), DomainHash: d.info.Hash(), Mints: 1, Admitted: true, MadeAt: d.clock.Now()}
			act := keys.Act{}
			c.change(&b, &row, &act)
			body := encode(t, row)
			b.PermitSHA256, act.Permits = permit.SHA256(body), []keys.Permit{{Body: body}}
			act.Entry = d.entry(journal.KindDelegateAdmitted, b)
			if _, err := d.signer.Begin(t.Context(), keys.Ask{Act: &act}); code(err) != c.code {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
	})
}

// TestLyingDeskAboutAMint has a row for each guard of a bot's acts.
func TestLyingDeskAboutAMint(t *testing.T) {
	hash := journal.HashOf([]byte("another"))
	type lie func(d *mintDesk, b *journal.CapabilityMinted, a *keys.Act)
	asking := func(change func(*envelope.RequestFields)) lie {
		return func(d *mintDesk, b *journal.CapabilityMinted, a *keys.Act) {
			f := d.fieldsOf()
			change(&f)
			*b, *a = d.minting(d.request(f))
		}
	}
	for _, tt := range []struct {
		name string
		lie  lie
		code string
	}{
		{"no proof", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Bot = nil }, keys.CodeBotNotProven},
		{"a proof over a nonce of its own", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Bot = d.proofOf(hash) }, keys.CodeBotNotProven},
		{"a nonce that is none", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Bot.Nonce = "0x12" }, keys.CodeBotNotProven},
		{"a proof for another client", func(d *mintDesk, b *journal.CapabilityMinted, a *keys.Act) {
			b.Client, a.Permits[0] = d.otherID, d.other
		}, keys.CodeBotNotProven},
		{"a proof that is no signature", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Bot.Signature = "0x12" }, keys.CodeBotNotProven},
		{"the proof of another address", func(d *mintDesk, b *journal.CapabilityMinted, _ *keys.Act) { b.Bot = "0x" + strings.Repeat("1", 40) }, keys.CodeBotOther},
		{"client without a row", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Permits = a.Permits[1:] }, codeBadPermit},
		{"delegate without a row", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Permits = a.Permits[:1] }, codeBadPermit},
		{"delegate row without a MAC", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Permits[1].MAC = "" }, codeBadPermit},
		{"delegate row with more mints", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) {
			a.Permits[1].Body = bytes.Replace(a.Permits[1].Body, []byte(`"mints":3`), []byte(`"mints":9`), 1)
		}, codeBadPermit},
		{"a delegate that the log does not show", func(_ *mintDesk, b *journal.CapabilityMinted, _ *keys.Act) { b.Delegate = hash }, journal.CodeUnknownDelegate},
		{"another delegate", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) {
			row, m := d.row, d.delegate
			f := d.form()
			f.Nonce, f.MaxUsesPerAction = "0x"+strings.Repeat("cd", 32), 9
			d.issue(f)
			q := d.request(d.fieldsOf())
			a.Delegate, a.Request = d.delegate.Canonical(), q.Canonical()
			d.row, d.delegate = row, m
		}, "wrong_delegate"},
		{"delegate not signed", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Delegate = d.delegate.Body() }, "delegate_signature"},
		{"delegate signed by another", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) {
			sig, err := derive.SignDigest(d.seed[:], d.delegate.Digest())
			if err != nil {
				d.t.Fatal(err)
			}
			a.Delegate = bytes.Replace(a.Delegate, []byte(d.delegate.Signature()), []byte(sig), 1)
		}, "delegate_signature"},
		{"delegate not canonical", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) {
			a.Delegate = append(bytes.Clone(a.Delegate), '\n')
		}, codeMalformed},
		{"no request", func(_ *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) { a.Request = nil }, codeMalformed},
		{"request not signed", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) {
			q, err := envelope.ParseMintRequest(a.Request)
			if err != nil {
				d.t.Fatal(err)
			}
			a.Request = q.Body()
		}, "bot_signature"},
		{"another request", func(d *mintDesk, _ *journal.CapabilityMinted, a *keys.Act) {
			f := d.fieldsOf()
			f.Nonce = "n2"
			a.Request = d.request(f).Canonical()
		}, "wrong_request"},
		{"another nonce in the log", func(_ *mintDesk, b *journal.CapabilityMinted, _ *keys.Act) { b.Nonce = hash }, "wrong_request"},
		{"another envelope", func(_ *mintDesk, b *journal.CapabilityMinted, _ *keys.Act) { b.EnvelopeHash = hash }, "wrong_envelope"},
		{"operation", asking(func(f *envelope.RequestFields) { f.Operation = "wipe" }), "operation_not_allowed"},
		{"resource", asking(func(f *envelope.RequestFields) { f.Resources = []string{"mail:1"} }), "resource_not_allowed"},
		{"index", asking(func(f *envelope.RequestFields) { f.ActionIndex = 10 }), "index_out_of_range"},
		{"uses", asking(func(f *envelope.RequestFields) { f.MaxUses = 3 }), "uses_over_limit"},
		{"open end", asking(func(f *envelope.RequestFields) { f.Window.NotAfter = envelope.Opt{} }), "window_not_contained"},
		{"long end", asking(func(f *envelope.RequestFields) { f.Window.NotAfter.N += 3600_000 }), "window_not_contained"},
		{"bot not in the set", func(d *mintDesk, b *journal.CapabilityMinted, a *keys.Act) {
			seed, bot := d.seed, d.bot
			copy(d.seed[:], "the seed of another, not allowed")
			d.bot, _ = derive.Address(d.seed[:])
			*b, *a = d.minting(d.request(d.fieldsOf()))
			d.seed, d.bot = seed, bot
		}, "bot_not_allowed"},
		{"a number left out", func(_ *mintDesk, b *journal.CapabilityMinted, _ *keys.Act) { b.Number++ }, journal.CodeMintNotNext},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := openMint(t)
			d.issue(d.form())
			b, act := d.minting(d.request(d.fieldsOf()))
			tt.lie(d, &b, &act)
			d.refused(tt.code, journal.KindCapabilityMinted, b, act)
			b, act = d.minting(d.request(d.fieldsOf()))
			d.must(journal.KindCapabilityMinted, b, act)
		})
	}
}

// TestLyingDeskAboutAMintedKey has a row for each further guard of a signature.
func TestLyingDeskAboutAMintedKey(t *testing.T) {
	hash := journal.HashOf([]byte("another"))
	for _, tt := range []struct {
		name    string
		payload string
		lie     func(d *mintDesk, b *journal.MintedSigned, a *keys.Act)
		code    string
	}{
		{"digest of other bytes", "", func(_ *mintDesk, b *journal.MintedSigned, _ *keys.Act) { b.Digest = hash }, "wrong_digest"},
		{"payload of other bytes", "", func(_ *mintDesk, _ *journal.MintedSigned, a *keys.Act) { a.Payload = []byte(`{"b":1}`) }, "wrong_digest"},
		{"another address", "", func(_ *mintDesk, b *journal.MintedSigned, _ *keys.Act) { b.Address = "0x" + strings.Repeat("1", 40) }, "wrong_address"},
		{"another envelope", "", func(_ *mintDesk, b *journal.MintedSigned, _ *keys.Act) { b.EnvelopeHash = hash }, "wrong_envelope"},
		{"a contradiction", `{"operation":"wipe"}`, nil, "contradiction"},
		{"a document", `{"type":"agentenvelope.mintDelegate"}`, nil, "typed_payload"},
		{"no JSON", `{"a":1,"a":1}`, nil, codeMalformed},
		{"what was not minted", "", func(d *mintDesk, b *journal.MintedSigned, a *keys.Act) {
			f := d.fieldsOf()
			f.Nonce = "n2"
			*b, *a = d.using(d.request(f), b.Address, `{"type":"x"}`)
		}, journal.CodeUnknownMint},
		{"another request with the nonce", "", func(d *mintDesk, b *journal.MintedSigned, a *keys.Act) {
			f := d.fieldsOf()
			f.Resources = []string{"thread:2"}
			*b, *a = d.using(d.request(f), b.Address, `{"type":"x"}`)
		}, journal.CodeUnknownMint},
		{"the request of another in its place", "", func(d *mintDesk, _ *journal.MintedSigned, a *keys.Act) {
			f := d.fieldsOf()
			f.Resources = []string{"thread:2"}
			a.Request = d.request(f).Canonical()
		}, "wrong_request"},
		{"a use left out", "", func(_ *mintDesk, b *journal.MintedSigned, _ *keys.Act) { b.Use = 2 }, journal.CodeUseNotNext},
		{"no proof", "", func(_ *mintDesk, _ *journal.MintedSigned, a *keys.Act) { a.Bot = nil }, keys.CodeBotNotProven},
		{"another bot in the log", "", func(_ *mintDesk, b *journal.MintedSigned, _ *keys.Act) { b.Bot = "0x" + strings.Repeat("1", 40) }, keys.CodeBotOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, q, address := mintedOne(t)
			payload := tt.payload
			if payload == "" {
				payload = `{"type":"x"}`
			}
			b, act := d.using(q, address, payload)
			if tt.lie != nil {
				tt.lie(d, &b, &act)
			}
			before := d.signed
			d.refused(tt.code, journal.KindMintedSigned, b, act)
			if d.signed != before {
				t.Error("something was signed")
			}
			b, act = d.using(q, address, `{"type":"x"}`)
			d.must(journal.KindMintedSigned, b, act)
		})
	}
}

func mintedOne(t *testing.T) (d *mintDesk, q *envelope.MintRequest, address string) {
	t.Helper()
	d = openMint(t)
	d.issue(d.form())
	q = d.request(d.fieldsOf())
	b, act := d.minting(q)
	d.must(journal.KindCapabilityMinted, b, act)
	got, err := d.signer.Minted(t.Context(), keys.MintAsk{Delegate: d.delegate.Canonical(), Request: q.Canonical()})
	if err != nil {
		t.Fatal(err)
	}
	return d, q, got.Address
}

// TestMintClocks moves this process's own clocks: what the desk says about time is not asked.
func TestMintClocks(t *testing.T) {
	for _, tt := range []struct {
		name      string
		wall, bot int64 // moved by, milliseconds
		mint, use string
	}{
		{"the capability is over", 61_000, 61_000, "", keys.CodeMintExpired},
		{"over by the boot-time clock alone", 0, 61_000, "", keys.CodeMintExpired},
		{"the delegate is over", 3_700_000, 3_700_000, journal.CodeDelegateExpired, journal.CodeDelegateExpired},
		{"jumped forward", 3_700_000, 0, journal.CodeDelegateExpired, journal.CodeDelegateExpired},
		{"set back while time passed", 0, 3_700_000, journal.CodeDelegateExpired, journal.CodeDelegateExpired},
		{"set back", -130_000, 0, keys.CodeClockBehind, keys.CodeClockBehind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, q, address := mintedOne(t)
			f := d.fieldsOf()
			f.Nonce = "n2"
			f.Window = d.delegate.Fields().Window
			next := d.request(f)
			d.clock.set(tt.wall, tt.bot)
			try := func(kind journal.Kind, body any, act keys.Act, want string) {
				t.Helper()
				if _, err := d.try(kind, body, act); code(err) != want {
					t.Errorf("%s: %v, want %q", kind, err, want)
				}
			}
			b, act := d.minting(next)
			try(journal.KindCapabilityMinted, b, act, tt.mint)
			u, act := d.using(q, address, `{"type":"x"}`)
			try(journal.KindMintedSigned, u, act, tt.use)
			if tt.mint != "" {
				if _, err := d.signer.Minted(t.Context(), keys.MintAsk{Delegate: d.delegate.Canonical(), Request: q.Canonical()}); code(err) != tt.mint {
					t.Errorf("what is public of it: %v, want %s", err, tt.mint)
				}
			}
		})
	}
	t.Run("asked for when it is over already", func(t *testing.T) {
		for _, clock := range []struct{ wall, boot int64 }{{61_000, 61_000}, {61_000, 0}, {0, 61_000}} {
			d, _, _ := mintedOne(t)
			f := d.fieldsOf() // it ends a minute after it began
			f.Nonce = "n2"
			b, act := d.minting(d.request(f))
			d.clock.set(clock.wall, clock.boot)
			d.refused(keys.CodeMintExpired, journal.KindCapabilityMinted, b, act)
			d.clock.set(-clock.wall, -clock.boot)
			d.must(journal.KindCapabilityMinted, b, act) // the refusal spent neither nonce nor number
		}
	})
	t.Run("not yet", func(t *testing.T) {
		d := openMint(t)
		f := d.form()
		f.Window.NotBefore.N += 10_000
		d.issue(f)
		q := d.fieldsOf()
		q.Window.NotBefore.N += 15_000
		b, act := d.minting(d.request(q))
		d.refused("delegate_not_yet_valid", journal.KindCapabilityMinted, b, act)
		d.clock.set(10_000, 0) // by one clock alone it has not begun
		b, act = d.minting(d.request(q))
		d.refused("delegate_not_yet_valid", journal.KindCapabilityMinted, b, act)
		d.clock.set(0, 10_000)
		b, act = d.minting(d.request(q))
		d.must(journal.KindCapabilityMinted, b, act)
		got, err := d.signer.Minted(t.Context(), keys.MintAsk{Delegate: act.Delegate, Request: act.Request})
		if err != nil {
			t.Fatal(err)
		}
		u, act := d.using(d.request(q), got.Address, `{"type":"x"}`)
		d.refused(keys.CodeMintNotYet, journal.KindMintedSigned, u, act)
	})
}

// TestMintTakings wants a pause and an end to hold here, whatever the desk asks afterwards.
func TestMintTakings(t *testing.T) {
	d, q, address := mintedOne(t)
	hash := d.delegate.Hash()
	d.must(journal.KindDelegatePaused, journal.DelegatePaused{Delegate: hash}, keys.Act{})
	if d.signer.anchorDue == 0 {
		t.Error("a pause is not anchored at once")
	}
	u, act := d.using(q, address, `{"type":"x"}`)
	d.refused(journal.CodeDelegatePaused, journal.KindMintedSigned, u, act)
	resumed := journal.DelegateResumed{Delegate: hash, Confirmation: journal.Zero}
	for name, c := range map[string]struct {
		act  keys.Act
		code string
	}{
		"without its row":   {keys.Act{Delegate: d.delegate.Canonical()}, codeBadPermit},
		"another delegate":  {keys.Act{Delegate: d.delegate.Body(), Permits: []keys.Permit{d.row}}, "delegate_signature"},
		"without a passkey": {keys.Act{Delegate: d.delegate.Canonical(), Permits: []keys.Permit{d.row}, Confirmation: "ce_0000000000000000"}, keys.CodeNotConfirmed},
	} {
		c.act.Entry = d.entry(journal.KindDelegateResumed, resumed)
		var err error
		if c.act.Confirmation == "" {
			_, err = d.signer.Begin(t.Context(), keys.Ask{Act: &c.act})
		} else {
			_, err = d.commit(c.act)
		}
		if code(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	d.confirmed(journal.KindDelegateResumed, keys.Act{Delegate: d.delegate.Canonical(), Permits: []keys.Permit{d.row}}, func(record string) any {
		return journal.DelegateResumed{Delegate: hash, Confirmation: record}
	})
	u, act = d.using(q, address, `{"type":"x"}`)
	d.must(journal.KindMintedSigned, u, act)
	d.must(journal.KindDelegateEnded, journal.DelegateEnded{Delegate: hash, Reason: "revoked"}, keys.Act{})
	u, act = d.using(q, address, `{"type":"x"}`)
	d.refused(journal.CodeDelegateEnded, journal.KindMintedSigned, u, act)
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	u, act = d.using(q, address, `{"type":"x"}`)
	d.refused(journal.CodeDelegateEnded, journal.KindMintedSigned, u, act)
	if _, err := d.signer.Minted(t.Context(), keys.MintAsk{Delegate: act.Delegate, Request: act.Request}); code(err) != journal.CodeUnknownMint {
		t.Error(err)
	}
}

// TestExportGuard seals mint material to the recipient that was confirmed, and to no other.
func TestExportGuard(t *testing.T) {
	d := openMint(t)
	one, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	two, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	body := func(to string) func(string) any {
		return func(record string) any {
			return journal.MintExported{DomainHash: d.info.Hash(), Recipient: to, Confirmation: record}
		}
	}
	for name, c := range map[string]struct{ domain, to, code string }{
		"another domain": {journal.HashOf(nil), one.Recipient().String(), journal.CodeUnknownDomain},
		"no recipient":   {d.info.Hash(), "age1", keys.CodeRecipient},
		"an SSH key":     {d.info.Hash(), "ssh-ed25519 AAAA", keys.CodeRecipient},
		"an identity":    {d.info.Hash(), one.String(), keys.CodeRecipient},
		"in capitals":    {d.info.Hash(), strings.ToUpper(one.Recipient().String()), keys.CodeRecipient},
		"two of them":    {d.info.Hash(), one.Recipient().String() + " " + two.Recipient().String(), keys.CodeRecipient},
	} {
		act := keys.Act{Entry: d.entry(journal.KindMintExported, journal.MintExported{DomainHash: c.domain, Recipient: c.to, Confirmation: journal.Zero})}
		if _, err := d.signer.Begin(t.Context(), keys.Ask{Act: &act}); code(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	id, record := d.ask(journal.KindMintExported, keys.Act{}, body(one.Recipient().String()))
	d.refused(keys.CodeOtherAct, journal.KindMintExported, body(two.Recipient().String())(record), keys.Act{Confirmation: id})
	if len(d.exported()) != 0 {
		t.Error("what was refused counts as let out")
	}
	d.refused(journal.CodeConfirmation, journal.KindMintExported, body(two.Recipient().String())(""), keys.Act{})
	answer := d.confirmed(journal.KindMintExported, keys.Act{}, body(one.Recipient().String()))
	if _, err := age.Decrypt(bytes.NewReader(answer.Sealed), two); err == nil {
		t.Error("another can open it")
	}
	r, err := age.Decrypt(bytes.NewReader(answer.Sealed), one)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var want derive.Secret
	if err := d.signer.vault.WithRoot(func(root []byte) error { return derive.MintMaterial(&want, root, d.info.Hash()) }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(hex.EncodeToString(want[:]))) {
		t.Errorf("%d bytes without the material", len(text))
	}
	if got := d.exported(); len(got) != 1 || got[0] != d.info.Hash() {
		t.Errorf("%v", got)
	}
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	if got := d.pub.Exported; len(got) != 1 || d.state.Exported(d.info.Hash()) == 0 {
		t.Errorf("%v", got)
	}
}

// TestCeremonyWhileOthersAreLogged begins with a draft that the log has gone past: where it stood is no part of what is confirmed.
func TestCeremonyWhileOthersAreLogged(t *testing.T) {
	d := openMint(t)
	b, row, act := d.issuing(d.body(d.form()))
	raw := encode(t, row)
	act.Permits, b.PermitSHA256, b.Confirmation = []keys.Permit{{Body: raw}}, permit.SHA256(raw), journal.Zero
	act.Entry = d.entry(journal.KindDelegateIssued, b)
	seen := journal.RequestSeen{Request: "r", Client: d.clientID, Digest: journal.Zero}
	d.must(journal.KindRequestSeen, seen, keys.Act{})
	other, _, err := journal.New(strings.Repeat("0", 32), d.state.Seq()+1, d.state.Hash(), d.clock.Now(), journal.KindDelegateIssued, b)
	if err != nil {
		t.Fatal(err)
	}
	foreign := act
	foreign.Entry = other
	if _, err := d.signer.Begin(t.Context(), keys.Ask{Act: &foreign}); code(err) != journal.CodeOtherInstance {
		t.Errorf("a draft of another instance: %v", err)
	}
	begun, err := d.signer.Begin(t.Context(), keys.Ask{Act: &act})
	if err != nil {
		t.Fatal(err)
	}
	st := d.steps(begun.ID)
	d.must(journal.KindRequestSeen, seen, keys.Act{})
	b.Confirmation, act.Confirmation = st.Record, begun.ID
	d.must(journal.KindDelegateIssued, b, act)
}

// exported is what the signer says was let out: anchors are written in the background.
func (d *desk) exported() []string {
	d.signer.mu.Lock()
	defer d.signer.mu.Unlock()
	return d.signer.pub.Exported
}
