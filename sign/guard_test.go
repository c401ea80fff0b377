package sign

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/derive/envelope"
)

func TestSignedActionVerifies(t *testing.T) {
	d := open(t)
	body, act := d.action(d.fields(), `{"note":"hello"}`)
	answer := d.must(journal.KindActionSigned, body, act)
	if r := envelope.VerifyAction(act.Payload, answer.Signature, body.Address); !r.Valid {
		t.Errorf("%+v", r)
	}
	r := envelope.VerifyAddressAttestation(answer.Attestation, envelope.AddressAttestation{
		DomainHash: body.DomainHash, ActionEnvelopeHash: body.EnvelopeHash, AgentAddress: body.Address,
	}, envelope.Pins{DomainAddress: d.state.Domains()[0].Address})
	if !r.Valid || !r.Pinned {
		t.Errorf("attestation %+v", r)
	}
}

// TestLyingDesk has a row for each guard: an act that is right but for one lie.
func TestLyingDesk(t *testing.T) {
	hash := journal.HashOf([]byte("another"))
	type lie func(d *desk, b *journal.ActionSigned, a *keys.Act)
	otherEnvelope := func(change func(*envelope.ActionFields)) lie {
		return func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			f := d.fields()
			change(&f)
			b2, a2 := d.action(f, string(a.Payload))
			b2.By, b2.Grant = b.By, b.Grant
			*b, a.Envelope = b2, a2.Envelope
		}
	}
	for _, tt := range []struct {
		name  string
		grant bool
		lie   lie
		code  string
	}{
		{"digest of other bytes", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.Digest = hash }, "wrong_digest"},
		{"payload of other bytes", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Payload = []byte(`{"note":2}`) }, "wrong_digest"},
		{"payload that is no JSON", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Payload = []byte(`{"a":1,"a":1}`) }, "malformed"},
		{"payload of a reserved type", false, func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			*b, *a = d.action(d.fields(), `{"type":" AgentEnvelope.mintDelegate"}`)
		}, "typed_payload"},
		{"envelope of another hash", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.EnvelopeHash = hash }, "wrong_envelope"},
		{"envelope that is none", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Envelope = []byte(`{}`) }, "malformed"},
		{"no envelope", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Envelope = nil }, "malformed"},
		{"domain that is not open", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.DomainHash = hash }, "unknown_domain"},
		{"another open domain", false, func(d *desk, b *journal.ActionSigned, _ *keys.Act) {
			b.DomainHash = d.state.Domains()[0].Hash
			if b.DomainHash == d.info.Hash() {
				b.DomainHash = d.state.Domains()[1].Hash
			}
		}, "wrong_domain"},
		{"address of another", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.Address = "0x" + strings.Repeat("1", 40) }, "wrong_address"},
		{"use that is not the next", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.Use = 2 }, "use_not_next"},
		{"a passkey that is not there", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) {
			b.By, b.Confirmation = "passkey", journal.Zero
		}, "no_passkey"},
		{"client without a row", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Permits = nil }, "bad_permit"},
		{"client row without a MAC", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Permits[0].MAC = "" }, "bad_permit"},
		{"client row with another MAC", false, func(d *desk, _ *journal.ActionSigned, a *keys.Act) { a.Permits[0].MAC = d.domains[0].MAC }, "bad_permit"},
		{"client row edited", false, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) {
			a.Permits[0].Body = bytes.Replace(a.Permits[0].Body, []byte("1000"), []byte("1001"), 1)
		}, "bad_permit"},
		{"client that never paired", false, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.Client = "c_00000000000000ff" }, "unknown_client"},
		{"window not yet open", false, otherEnvelope(func(f *envelope.ActionFields) { f.Window.NotBefore.N += 60_000 }), "window_closed"},
		{"window over", false, otherEnvelope(func(f *envelope.ActionFields) {
			f.Window.NotBefore.N -= 60_000
			f.Window.NotAfter = envelope.Some(f.Window.NotBefore.N + 30_000)
		}), "window_closed"},
		{"grant of another client", true, func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			client, row := d.clientID, d.client
			d.pair("c_0000000000000002")
			b.Client, a.Permits[0] = d.clientID, d.client
			d.clientID, d.client = client, row
		}, "grant_other"},
		{"grant of another envelope", true, otherEnvelope(func(f *envelope.ActionFields) { f.ActionIndex = 2 }), "grant_other"},
		{"grant without its row", true, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Permits = a.Permits[:1] }, "bad_permit"},
		{"grant row without a MAC", true, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) { a.Permits[1].MAC = "" }, "bad_permit"},
		{"grant row with more uses", true, func(_ *desk, _ *journal.ActionSigned, a *keys.Act) {
			a.Permits[1].Body = bytes.Replace(a.Permits[1].Body, []byte(`"uses":2`), []byte(`"uses":9`), 1)
		}, "bad_permit"},
		{"grant that the log does not show", true, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.Grant = "g_00000000000000ff" }, "unknown_grant"},
		{"grant named on a click", true, func(_ *desk, b *journal.ActionSigned, _ *keys.Act) { b.By = "click" }, "no_grant_named"},
		{"grant and a contradiction", true, func(d *desk, b *journal.ActionSigned, a *keys.Act) {
			b2, a2 := d.action(d.fields(), `{"operation":"delete"}`)
			b.Digest, a.Payload = b2.Digest, a2.Payload
		}, "contradiction"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			d.openDomain("second")
			var body journal.ActionSigned
			var act keys.Act
			if tt.grant {
				body, act = d.granted(d.fields(), 2)
			} else {
				body, act = d.action(d.fields(), `{"note":1}`)
			}
			right, rightAct := body, act
			rightAct.Permits = append([]keys.Permit(nil), act.Permits...)
			tt.lie(d, &body, &act)
			d.refused(tt.code, journal.KindActionSigned, body, act)
			// The act without the lie is taken: it was the lie that was refused.
			right.Use = d.state.Uses(right.EnvelopeHash) + 1
			if _, err := d.try(journal.KindActionSigned, right, rightAct); err != nil {
				t.Errorf("the honest act: %v", err)
			}
		})
	}
}

func TestEntryGuards(t *testing.T) {
	d := open(t)
	body, act := d.action(d.fields(), `{"note":1}`)
	entry := d.entry(journal.KindActionSigned, body)
	for _, tt := range []struct {
		name  string
		entry func() []byte
		code  string
	}{
		{"no entry", func() []byte { return nil }, "malformed"},
		{"not canonical", func() []byte { return append([]byte(" "), entry...) }, "malformed"},
		{"another head", func() []byte {
			raw, _, _ := journal.New(d.pub.Instance, d.state.Seq()+1, journal.HashOf(nil), d.clock.Now(), journal.KindActionSigned, body)
			return raw
		}, "not_next"},
		{"a number left out", func() []byte {
			raw, _, _ := journal.New(d.pub.Instance, d.state.Seq()+2, d.state.Hash(), d.clock.Now(), journal.KindActionSigned, body)
			return raw
		}, "not_next"},
		{"another instance", func() []byte {
			raw, _, _ := journal.New(strings.Repeat("0", 32), d.state.Seq()+1, d.state.Hash(), d.clock.Now(), journal.KindActionSigned, body)
			return raw
		}, "other_instance"},
		{"from the future", func() []byte {
			raw, _, _ := journal.New(d.pub.Instance, d.state.Seq()+1, d.state.Hash(), d.clock.Now()+entryFuture+1, journal.KindActionSigned, body)
			return raw
		}, "clock"},
		{"from long ago", func() []byte {
			raw, _, _ := journal.New(d.pub.Instance, d.state.Seq()+1, d.state.Hash(), d.clock.Now()-entryPast-1, journal.KindActionSigned, body)
			return raw
		}, "clock"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.t = t
			a := act
			a.Entry = tt.entry()
			_, err := d.commit(a)
			wantCode(t, err, tt.code)
		})
	}
}

func TestActsThatWereNotDone(t *testing.T) {
	d := newDesk(t)
	pub, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase, PutOff: true})
	if err != nil {
		t.Fatal(err)
	}
	d.pub = pub
	if err := d.load(); err != nil {
		t.Fatal(err)
	}
	created := journal.Created{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey}
	other := created
	other.LogKey = "U" + strings.Repeat("A", 55)
	d.refused("not_this_vault", journal.KindCreated, other, keys.Act{})
	d.refused("not_this_vault", journal.KindInstanceStarted, journal.InstanceStarted{
		Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Reason: "restored",
	}, keys.Act{})
	d.refused("not_first", journal.KindWordsShown, journal.WordsShown{When: "creation"}, keys.Act{})
	d.must(journal.KindCreated, created, keys.Act{})
	d.refused("not_done", journal.KindWordsShown, journal.WordsShown{When: "creation"}, keys.Act{})
	d.refused("not_done", journal.KindProtectionChanged, journal.ProtectionChanged{From: "passphrase", To: "keyring"}, keys.Act{})
	d.refused("not_done", journal.KindUnlocked, journal.Unlocked{Protection: "keyring"}, keys.Act{})
	d.refused("unknown_act", journal.KindSettingChanged, journal.SettingChanged{Name: "policy.click", From: "a", To: "b"}, keys.Act{})
	d.must(journal.KindSettingChanged, journal.SettingChanged{Name: "idle_minutes", From: "15", To: "30"}, keys.Act{})
	d.refused("wrong_snapshot", journal.KindSnapshot, journal.Snapshot{StateSHA256: journal.HashOf(nil)}, keys.Act{})
	d.must(journal.KindSnapshot, journal.Snapshot{StateSHA256: d.state.SHA256()}, keys.Act{})
}

func TestDomainGuard(t *testing.T) {
	for name, lie := range map[string]func(*desk, *journal.DomainCreated, *permit.Domain){
		"address": func(_ *desk, b *journal.DomainCreated, _ *permit.Domain) {
			b.DomainAddress = "0x" + strings.Repeat("1", 40)
		},
		"id":   func(_ *desk, b *journal.DomainCreated, _ *permit.Domain) { b.DomainID = "other" },
		"hash": func(_ *desk, b *journal.DomainCreated, _ *permit.Domain) { b.DomainHash = journal.HashOf(nil) },
		"time": func(_ *desk, _ *journal.DomainCreated, p *permit.Domain) { p.CreatedAt++ },
		"projection": func(_ *desk, _ *journal.DomainCreated, p *permit.Domain) {
			p.Projection = bytes.Replace(p.Projection, []byte("example.org"), []byte("example.net"), 1)
		},
		"planned long ago": func(d *desk, _ *journal.DomainCreated, p *permit.Domain) {
			d.clock.pass(projectionAge + 1)
			p.CreatedAt = d.clock.Now()
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			body, act := d.domainRow("second")
			row, err := permit.ParseDomain(act.Permits[0].Body)
			if err != nil {
				t.Fatal(err)
			}
			lie(d, &body, &row)
			act.Permits[0].Body = encode(t, row)
			body.PermitSHA256 = permit.SHA256(act.Permits[0].Body)
			d.refused("bad_permit", journal.KindDomainCreated, body, act)
			act.Permits = nil
			d.refused("bad_permit", journal.KindDomainCreated, body, act)
		})
	}
}

func TestPairingGuard(t *testing.T) {
	d := open(t)
	id := "c_0000000000000009"
	entry, c, body := d.clientRow(id, "Nine")
	late := c
	late.PairedAt--
	for name, row := range map[string][]byte{"no such row": d.client.Body, "another time": encode(t, late)} {
		t.Run(name, func(t *testing.T) {
			d.t = t
			e := entry
			e.PermitSHA256 = permit.SHA256(row)
			d.refused("bad_permit", journal.KindClientPaired, e, keys.Act{Permits: []keys.Permit{{Body: row}}})
		})
	}
	d.t = t
	byPasskey := entry
	byPasskey.By, byPasskey.Confirmation = "passkey", journal.Zero
	d.refused("no_passkey", journal.KindClientPaired, byPasskey, keys.Act{Permits: []keys.Permit{{Body: body}}})
	answer := d.must(journal.KindClientPaired, entry, keys.Act{Permits: []keys.Permit{{Body: body}}})

	renamed := c
	renamed.Name = "Nine, renamed"
	stolen := renamed
	stolen.SecretSHA256 = journal.HashOf([]byte("another secret"))
	change := func(c permit.Client) (journal.ClientPaired, []byte) {
		b := encode(t, c)
		return journal.ClientPaired{Client: id, Name: c.Name, By: "click", PermitSHA256: permit.SHA256(b), Replaces: entry.PermitSHA256}, b
	}
	before := keys.Permit{Body: body, MAC: answer.MACs[0]}
	e, b := change(stolen)
	d.refused("bad_permit", journal.KindClientPaired, e, keys.Act{Permits: []keys.Permit{{Body: b}, before}})
	e, b = change(renamed)
	d.refused("bad_permit", journal.KindClientPaired, e, keys.Act{Permits: []keys.Permit{{Body: b}, {Body: body}}})
	d.must(journal.KindClientPaired, e, keys.Act{Permits: []keys.Permit{{Body: b}, before}})
}

func TestGrantGuard(t *testing.T) {
	type lie = func(*desk, *permit.Grant, *keys.Act)
	for name, tt := range map[string]struct {
		lie  lie
		code string
	}{
		"11 uses":                     {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.Uses = 11 }, "grant_limits"},
		"more than a day":             {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.NotAfter = g.MadeAt + 86_400_001 }, "grant_limits"},
		"more uses than the envelope": {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.Uses = 4 }, "grant_limits"},
		"longer than the envelope":    {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.NotAfter = g.MadeAt + 7_300_000 }, "grant_limits"},
		"by passkey":                  {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.By = "passkey" }, "no_passkey"},
		"no envelope":                 {func(_ *desk, _ *permit.Grant, a *keys.Act) { a.Envelope = nil }, "malformed"},
		"another domain":              {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.DomainHash = journal.HashOf(nil) }, "wrong_domain"},
		"made at another time":        {func(_ *desk, g *permit.Grant, _ *keys.Act) { g.MadeAt-- }, "bad_permit"},
		"client without its row":      {func(_ *desk, _ *permit.Grant, a *keys.Act) { a.Permits = a.Permits[:0] }, "bad_permit"},
		"client that has been revoked": {func(d *desk, _ *permit.Grant, _ *keys.Act) {
			d.must(journal.KindClientEnded, journal.ClientEnded{Client: d.clientID, Reason: "revoked"}, keys.Act{})
		}, "client_ended"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			f := d.fields()
			f.MaxUses, f.Window.NotAfter = envelope.Some(3), envelope.Some(d.clock.Now()+7_200_000)
			body, act := d.action(f, `{"note":1}`)
			_, g := d.grantRow(body, 2)
			tt.lie(d, &g, &act)
			row := encode(t, g)
			act.Permits = append(act.Permits, keys.Permit{Body: row})
			made := journal.GrantMade{
				Grant: g.ID, Client: g.Client, EnvelopeHash: g.EnvelopeHash, Uses: g.Uses, NotAfter: g.NotAfter, By: g.By,
				PermitSHA256: permit.SHA256(row),
			}
			if g.By == "passkey" {
				made.Confirmation = journal.Zero
			}
			d.refused(tt.code, journal.KindGrantMade, made, act)
		})
	}
}

// TestCounts: whatever is tried in whatever order, there are as many signatures
// as action.signed entries, and no more than grant and envelope give.
func TestCounts(t *testing.T) {
	d := open(t)
	f := d.fields()
	f.MaxUses = envelope.Some(5)
	body, act := d.granted(f, 3)
	spent := 0
	for range 5 {
		body.Use = d.state.Uses(body.EnvelopeHash) + 1
		if _, err := d.try(journal.KindActionSigned, body, act); err != nil {
			wantCode(t, err, "grant_spent")
			spent++
		}
	}
	if spent != 2 {
		t.Errorf("%d refused, want 2", spent)
	}
	click := body
	click.By, click.Grant = "click", ""
	refused := 0
	for range 4 {
		click.Use = d.state.Uses(click.EnvelopeHash) + 1
		if _, err := d.try(journal.KindActionSigned, click, act); err != nil {
			wantCode(t, err, "uses_spent")
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d refused, want 2", refused)
	}
	// The count outlives the process.
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	d.refused("uses_spent", journal.KindActionSigned, click, act)
	entries := 0
	for _, raw := range d.raws {
		e, err := journal.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.KindActionSigned {
			entries++
		}
	}
	if entries != d.signed || entries != 5 {
		t.Errorf("%d entries, %d signatures, want 5", entries, d.signed)
	}
}

// TestStatedUsesBindUnderEveryMode: where an envelope states a number of uses it
// is not exceeded, whatever its decay mode says of verifiers.
func TestStatedUsesBindUnderEveryMode(t *testing.T) {
	for _, mode := range []envelope.Mode{envelope.ModeNone, envelope.ModeTime, envelope.ModeAction, envelope.ModeBoth} {
		t.Run(string(mode), func(t *testing.T) {
			d := open(t)
			f := d.fields()
			f.Mode, f.MaxUses = mode, envelope.Some(3)
			body, act := d.granted(f, 2)
			for range 2 {
				body.Use = d.state.Uses(body.EnvelopeHash) + 1
				d.must(journal.KindActionSigned, body, act)
			}
			// One use is left: no grant may give two.
			made, g := d.grantRow(body, 2)
			g.ID = "g_0000000000000002"
			row := encode(t, g)
			made.Grant, made.PermitSHA256 = g.ID, permit.SHA256(row)
			d.refused("grant_limits", journal.KindGrantMade, made, keys.Act{Envelope: act.Envelope, Permits: []keys.Permit{d.client, {Body: row}}})
			click := body
			click.By, click.Grant, click.Use = "click", "", 3
			d.must(journal.KindActionSigned, click, act)
			click.Use = 4
			d.refused("uses_spent", journal.KindActionSigned, click, act)
		})
	}
}

func TestBatchEndsAtTheFirstRefusal(t *testing.T) {
	d := open(t)
	var acts []keys.Act
	state := d.state
	for i := range 5 {
		digest := journal.HashOf([]byte{byte(i)})
		kind := journal.KindRequestSeen
		var body any = journal.RequestSeen{Request: "r", Client: d.clientID, Digest: digest}
		if i == 2 {
			kind, body = journal.KindClientEnded, journal.ClientEnded{Client: "c_00000000000000ff", Reason: "revoked"}
		}
		raw, hash, err := journal.New(state.Instance(), d.state.Seq()+1+uint64(i), state.Hash(), d.clock.Now(), kind, body)
		if i > 0 {
			e, perr := journal.Parse(acts[i-1].Entry)
			if perr != nil {
				t.Fatal(perr)
			}
			raw, hash, err = journal.New(state.Instance(), e.Seq+1, e.Hash(), d.clock.Now(), kind, body)
		}
		if err != nil || hash == "" {
			t.Fatal(err)
		}
		acts = append(acts, keys.Act{Entry: raw})
	}
	answers, err := d.signer.Commit(t.Context(), acts)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "", "unknown_client", "not_tried", "not_tried"} {
		got := ""
		if answers[i].Err != nil {
			got = answers[i].Err.Code
		}
		if got != want || (want == "") != (len(answers[i].Head) > 0) {
			t.Errorf("answer %d: %q, want %q", i, got, want)
		}
	}
}

// TestClocks: an end comes by whichever clock is first, a beginning by whichever is last.
func TestClocks(t *testing.T) {
	const hour = 3_600_000
	for _, tt := range []struct {
		name       string
		wall, boot int64
		code       string
	}{
		{"both before the end", hour / 2, hour / 2, ""},
		{"both after the end", hour + 1, hour + 1, "grant_expired"},
		{"wall clock set back", -hour / 2, hour + 1, "grant_expired"},
		{"wall clock set on", hour + 1, 10, "grant_expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			f := d.fields()
			f.Window.NotBefore = envelope.Some(d.clock.Now() - 10*hour)
			body, act := d.granted(f, 2)
			d.clock.set(tt.wall, tt.boot)
			_, err := d.try(journal.KindActionSigned, body, act)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantCode(t, err, tt.code)
		})
	}
	t.Run("window by the boot clock", func(t *testing.T) {
		d := open(t)
		f := d.fields()
		f.Window.NotAfter = envelope.Some(d.clock.Now() + hour)
		f.Window.NotBefore = envelope.Some(d.clock.Now() - 10*hour)
		body, act := d.action(f, `{"note":1}`)
		d.clock.set(-hour, hour+1)
		d.refused("window_closed", journal.KindActionSigned, body, act)
	})
}

func TestUnknownKindsHaveNoGuard(t *testing.T) {
	d := open(t)
	if _, err := d.signer.guard(journal.Entry{}, keys.Act{}); err == nil {
		t.Error("an entry without a guard passes")
	}
}

func TestNothingBeforeTheLogIsLoaded(t *testing.T) {
	d := newDesk(t)
	_, err := d.signer.Commit(t.Context(), nil)
	wantCode(t, err, "locked")
	if _, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase}); err != nil {
		t.Fatal(err)
	}
	_, err = d.signer.Commit(t.Context(), nil)
	wantCode(t, err, "not_loaded")
	_, err = d.signer.Address(t.Context(), nil)
	wantCode(t, err, "not_loaded")
	_, err = d.signer.Plan(t.Context(), nil)
	wantCode(t, err, "not_loaded")
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(map[int]string{1: "one", 64: "batch of 64"}[n], func(b *testing.B) {
			d := open(b)
			f := d.fields()
			f.Mode, f.MaxUses = envelope.ModeTime, envelope.Opt{}
			body, act := d.action(f, `{"note":"0123456789012345678901234567890123456789"}`)
			seq, prev, use := d.state.Seq(), d.state.Hash(), uint64(0)
			for b.Loop() {
				acts := make([]keys.Act, n)
				for i := range acts {
					use++
					seq++
					body.Use = use
					raw, hash, err := journal.New(d.pub.Instance, seq, prev, d.clock.Now(), journal.KindActionSigned, body)
					if err != nil {
						b.Fatal(err)
					}
					prev = hash
					acts[i] = act
					acts[i].Entry = raw
				}
				answers, err := d.signer.Commit(b.Context(), acts)
				if err != nil || answers[n-1].Err != nil {
					b.Fatal(err, answers[n-1].Err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/signature")
		})
	}
}

// TestTakingsHold: what was taken away stays away, also in a new process.
func TestTakingsHold(t *testing.T) {
	d := open(t)
	body, act := d.granted(d.fields(), 5)
	d.must(journal.KindGrantEnded, journal.GrantEnded{Grant: body.Grant, Reason: "revoked"}, keys.Act{})
	d.refused("grant_ended", journal.KindActionSigned, body, act)
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	d.refused("grant_ended", journal.KindActionSigned, body, act)
	click := body
	click.By, click.Grant = "click", ""
	d.must(journal.KindActionSigned, click, act)
	d.must(journal.KindClientEnded, journal.ClientEnded{Client: d.clientID, Reason: "blocked"}, keys.Act{})
	click.Use++
	d.refused("client_ended", journal.KindActionSigned, click, act)
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	d.refused("client_ended", journal.KindActionSigned, click, act)
}

// TestOneOfManyWins: the same place in the log is taken once, however many ask
// for it at the same time.
func TestOneOfManyWins(t *testing.T) {
	d := open(t)
	body, act := d.action(d.fields(), `{"note":1}`)
	act.Entry = d.entry(journal.KindActionSigned, body)
	results := make(chan keys.Answer, 50)
	for range cap(results) {
		go func() {
			answers, err := d.signer.Commit(context.Background(), []keys.Act{act})
			if err != nil {
				t.Error(err)
				results <- keys.Answer{}
				return
			}
			results <- answers[0]
		}()
	}
	won := 0
	for range cap(results) {
		switch a := <-results; {
		case a.Signature != "":
			won++
		case a.Err == nil || a.Err.Code != journal.CodeNotNext:
			t.Errorf("answer %+v", a)
		}
	}
	if won != 1 {
		t.Errorf("%d signatures for one entry", won)
	}
}
