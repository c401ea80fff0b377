package sign

import (
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/derive/confirm"
	"vault/derive/envelope"
)

// saidLast are the lines of the newest page.
func (b *browser) saidLast(t *testing.T) string {
	t.Helper()
	c, err := confirm.ParseContext([]byte(b.tasks[len(b.tasks)-1].Context))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(c.Fields().Says, "\n")
}

// TestSocketGuard has a row for each lie about a socket for a further user.
func TestSocketGuard(t *testing.T) {
	const own = 1000
	body := func(record string) journal.SocketAdded {
		return journal.SocketAdded{UserID: 1001, Path: "/srv/agent-vault-1/s.sock", Confirmation: record}
	}
	for _, c := range []struct {
		name string
		code string
		lie  func(*journal.SocketAdded)
	}{
		{"another user", keys.CodeOtherAct, func(b *journal.SocketAdded) { b.UserID = 1002 }},
		{"another path", keys.CodeOtherAct, func(b *journal.SocketAdded) { b.Path = "/srv/other/s.sock" }},
		{"another record", keys.CodeOtherAct, func(b *journal.SocketAdded) { b.Confirmation = journal.HashOf(nil) }},
		{"the vault's own user", codeOwnUser, func(b *journal.SocketAdded) { b.UserID = own }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t)
			b := d.browse()
			d.signer.cfg.User = own
			d.refused(keys.CodeNoPasskey, journal.KindSocketAdded, body(journal.Zero), keys.Act{})
			d.enrol()
			d.refused(keys.CodeNotConfirmed, journal.KindSocketAdded, body(journal.Zero), keys.Act{})
			id, record := d.ask(journal.KindSocketAdded, keys.Act{}, func(r string) any { return body(r) })
			if says := b.saidLast(t); !strings.Contains(says, "User id: 1001") || !strings.Contains(says, "“/srv/agent-vault-1/s.sock”") {
				t.Error(says)
			}
			lie := body(record)
			c.lie(&lie)
			d.refused(c.code, journal.KindSocketAdded, lie, keys.Act{Confirmation: id})
			d.confirmed(journal.KindSocketAdded, keys.Act{}, func(r string) any { return body(r) })
			if d.sealed().Log.Seq > d.state.Seq() {
				t.Error("anchored what was not shown to be durable")
			}
			// Removing is free, and opens the way for another.
			d.must(journal.KindSocketRemoved, journal.SocketRemoved{UserID: 1001}, keys.Act{})
			d.refused(journal.CodeUnknownSocket, journal.KindSocketRemoved, journal.SocketRemoved{UserID: 1001}, keys.Act{})
			if err := d.again(); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("a ceremony for the own user", func(t *testing.T) {
		d := open(t)
		d.browse()
		d.enrol()
		d.signer.cfg.User = own
		x := body(journal.Zero)
		x.UserID = own
		_, err := d.signer.Begin(t.Context(), keys.Ask{Act: &keys.Act{Entry: d.entry(journal.KindSocketAdded, x)}})
		wantCode(t, err, codeOwnUser)
	})
}

// restarted is a vault that was restored, with a passkey, and an act under an envelope of before.
func restarted(t *testing.T) (*desk, *browser, journal.ActionSigned, keys.Act) {
	t.Helper()
	d := open(t)
	e := newDesk(t)
	e.owner.answers = []string{strings.Join(d.owner.words, " ")}
	pub, err := e.signer.Restore(t.Context(), keys.Restore{Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal})
	if err != nil {
		t.Fatal(err)
	}
	e.pub = pub
	if err := e.load(); err != nil {
		t.Fatal(err)
	}
	e.must(journal.KindInstanceStarted, journal.InstanceStarted{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Reason: "restored"}, keys.Act{})
	e.setUp()
	b := e.browse()
	e.enrol()
	body, act := e.action(e.fields(), `{"note":1}`)
	return e, b, body, act
}

// TestReadmissionGuard has a row for each lie about what is admitted again after a new instance.
func TestReadmissionGuard(t *testing.T) {
	for _, c := range []struct {
		name string
		code string
		lie  func(*desk, *journal.Readmitted, *keys.Act)
	}{
		{"more uses", keys.CodeOtherAct, func(_ *desk, b *journal.Readmitted, _ *keys.Act) { b.Uses = 4 }},
		{"more than it states", codeReadmitLimits, func(_ *desk, b *journal.Readmitted, _ *keys.Act) { b.Uses = 51 }},
		{"another envelope", "wrong_envelope", func(d *desk, _ *journal.Readmitted, a *keys.Act) {
			f := d.fields()
			f.ActionIndex = 7
			_, other := d.action(f, `{"note":1}`)
			a.Envelope = other.Envelope
		}},
		{"another envelope, and its hash", keys.CodeOtherAct, func(d *desk, b *journal.Readmitted, a *keys.Act) {
			f := d.fields()
			f.ActionIndex = 7
			x, other := d.action(f, `{"note":1}`)
			a.Envelope, b.Hash = other.Envelope, x.EnvelopeHash
		}},
		{"no envelope", "malformed", func(_ *desk, _ *journal.Readmitted, a *keys.Act) { a.Envelope = nil }},
		{"one that is not suspended", journal.CodeNotSuspended, func(d *desk, b *journal.Readmitted, a *keys.Act) {
			f := d.fields()
			f.Window.NotBefore = envelope.Some(d.state.StartedAt())
			x, other := d.action(f, `{"note":1}`)
			a.Envelope, b.Hash = other.Envelope, x.EnvelopeHash
		}},
		{"one that states no uses", journal.CodeNotSuspended, func(d *desk, b *journal.Readmitted, a *keys.Act) {
			f := d.fields()
			f.Mode, f.MaxUses = envelope.ModeTime, envelope.Opt{}
			x, other := d.action(f, `{"note":1}`)
			a.Envelope, b.Hash = other.Envelope, x.EnvelopeHash
		}},
		{"one that has ended", "window_closed", func(d *desk, b *journal.Readmitted, a *keys.Act) {
			f := d.fields()
			f.Window.NotAfter = envelope.Some(d.clock.Now() - 1)
			x, other := d.action(f, `{"note":1}`)
			a.Envelope, b.Hash = other.Envelope, x.EnvelopeHash
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, b, signed, signing := restarted(t)
			body := func(record string) journal.Readmitted {
				return journal.Readmitted{What: "envelope", Hash: signed.EnvelopeHash, Uses: 3, Confirmation: record}
			}
			right := keys.Act{Envelope: signing.Envelope}
			d.refused(keys.CodeNotConfirmed, journal.KindReadmitted, body(journal.Zero), right)
			id, record := d.ask(journal.KindReadmitted, right, func(r string) any { return body(r) })
			if says := b.saidLast(t); !strings.Contains(says, "used 3 times here. It states 50") || !strings.Contains(says, "is not known here") || !strings.Contains(says, signed.EnvelopeHash) {
				t.Error(says)
			}
			lie, act := body(record), right
			c.lie(d, &lie, &act)
			act.Confirmation = id
			d.refused(c.code, journal.KindReadmitted, lie, act)
			d.refused("suspended", journal.KindActionSigned, signed, signing)
			d.confirmed(journal.KindReadmitted, right, func(r string) any { return body(r) })
			d.refused(journal.CodeTwice, journal.KindReadmitted, body(journal.Zero), right)
		})
	}
	t.Run("without a passkey, and without a new instance", func(t *testing.T) {
		d := open(t)
		signed, signing := d.action(d.fields(), `{"note":1}`)
		body := journal.Readmitted{What: "envelope", Hash: signed.EnvelopeHash, Uses: 1, Confirmation: journal.Zero}
		d.refused(journal.CodeNotSuspended, journal.KindReadmitted, body, keys.Act{Envelope: signing.Envelope})
	})
}

// What was admitted again can be used so often and no more, one by one and under a grant, also after the vault was opened anew.
func TestReadmittedUses(t *testing.T) {
	d, _, signed, signing := restarted(t)
	d.confirmed(journal.KindReadmitted, keys.Act{Envelope: signing.Envelope}, func(r string) any {
		return journal.Readmitted{What: "envelope", Hash: signed.EnvelopeHash, Uses: 3, Confirmation: r}
	})
	grant := func(uses int64) (keys.Act, func(string) any) {
		made, g := d.grantRow(signed, uses)
		g.By, made.By = "passkey", "passkey"
		row := encode(t, g)
		made.PermitSHA256 = journal.HashOf(row)
		return keys.Act{Envelope: signing.Envelope, Permits: []keys.Permit{d.client, {Body: row}}}, func(r string) any {
			x := made
			x.Confirmation = r
			return x
		}
	}
	d.must(journal.KindActionSigned, signed, signing)
	act, made := grant(3)
	d.refused(journal.CodeGrantLimits, journal.KindGrantMade, made(journal.Zero), act)
	act, made = grant(2)
	answer := d.confirmed(journal.KindGrantMade, act, made)
	row := keys.Permit{Body: act.Permits[1].Body, MAC: answer.MACs[0]}
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	signed.Use, signed.By, signed.Grant = 2, "grant", "g_0000000000000001"
	signing.Permits = append(signing.Permits, row)
	d.must(journal.KindActionSigned, signed, signing)
	signed.Use, signed.By, signed.Grant = 3, "click", ""
	d.must(journal.KindActionSigned, signed, signing)
	signed.Use = 4
	d.refused("uses_spent", journal.KindActionSigned, signed, signing)
	signed.By, signed.Grant = "grant", "g_0000000000000001"
	d.refused("uses_spent", journal.KindActionSigned, signed, signing)
}
