package sign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/custody"
	"vault/derive/envelope"
)

func TestUnlockAsksUntilItIsRight(t *testing.T) {
	d := open(t)
	d.owner.asked, d.owner.finished = nil, nil
	d.owner.answers = []string{"not the passphrase", ""}
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	if len(d.owner.asked) != 3 || d.owner.asked[0].Problem != "" || d.owner.asked[1].Problem != "wrong_passphrase" {
		t.Errorf("asked %+v", d.owner.asked)
	}
	if len(d.owner.finished) != 1 || d.owner.finished[0] != "" {
		t.Errorf("finished %q", d.owner.finished)
	}
	d.owner.cancels = true
	wantCode(t, d.again(), "cancelled")
	d.owner.cancels = false
	d.keyring.fails = custody.ErrKeyringLocked
	wantCode(t, d.again(), "keyring_locked")
	if last := d.owner.finished[len(d.owner.finished)-1]; last != "keyring_locked" {
		t.Errorf("the window was told %q", last)
	}
}

func TestCreateRefusesWhereSomethingIs(t *testing.T) {
	d := open(t)
	d.signer.background.Wait() // an anchor that is being written would put the sealed file back
	_, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase})
	wantCode(t, err, "already_open")
	other := New(d.config)
	_, err = other.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase})
	wantCode(t, err, "vault_exists")
	if err := os.Remove(filepath.Join(d.config.Custody.Dir, custody.SealedName)); err != nil {
		t.Fatal(err)
	}
	// The mark stays: a lost sealed file is not an empty folder.
	_, err = other.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase})
	wantCode(t, err, "vault_exists")
	_, err = other.Unlock(t.Context(), keys.Unlock{})
	wantCode(t, err, "sealed_missing")
}

func TestNewPassphraseHasToBeLong(t *testing.T) {
	d := newDesk(t)
	d.owner.answers = []string{"short", strings.Repeat("a", 20), goodPassphrase}
	if _, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase, PutOff: true}); err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, q := range d.owner.asked {
		problems = append(problems, q.Problem)
	}
	if strings.Join(problems, ",") != ",too_short,one_character" {
		t.Errorf("problems %q", problems)
	}
}

func TestWords(t *testing.T) {
	d := newDesk(t)
	pub, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase, PutOff: true})
	if err != nil || pub.WordsShown {
		t.Fatalf("%+v %v", pub, err)
	}
	// Wrong words are asked again, and going back shows the words again.
	d.owner.answers = []string{goodPassphrase, "wrong\nwrong\nwrong\n", "back"}
	d.owner.asked = nil
	if err := d.signer.ShowWords(t.Context(), keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	var forms []string
	for _, q := range d.owner.asked {
		forms = append(forms, q.Form+q.Problem)
	}
	if got := strings.Join(forms, " "); got != "passphrase show_words ask_words ask_wordswrong_word show_words ask_words" {
		t.Errorf("forms %s", got)
	}
	if len(d.owner.words) != 24 {
		t.Errorf("%d words", len(d.owner.words))
	}
	wantCode(t, d.signer.ShowWords(t.Context(), keys.SurfaceTerminal), "no_passkey")
}

func TestWordsNotWrittenDownArePutOff(t *testing.T) {
	d := newDesk(t)
	d.owner.answers = []string{goodPassphrase, "wrong\n"}
	d.config.Window = func(context.Context, keys.Surface) (Window, error) { return &leaver{owner: d.owner}, nil }
	d.signer = New(d.config)
	pub, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase})
	if err != nil || pub.WordsShown {
		t.Fatalf("%+v %v", pub, err)
	}
}

// leaver closes the window when the words are shown.
type leaver struct{ *owner }

func (l *leaver) Ask(ctx context.Context, q Question, words, answer []byte) (int, error) {
	if q.Form == "show_words" {
		return 0, ErrCancelled
	}
	return l.owner.Ask(ctx, q, words, answer)
}

func TestProtection(t *testing.T) {
	d := newDesk(t)
	if _, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase, PutOff: true}); err != nil {
		t.Fatal(err)
	}
	_, err := d.signer.ChangeProtection(t.Context(), keys.ProtectKeyring, keys.SurfaceTerminal)
	wantCode(t, err, "no_passkey")
	d.owner.answers = []string{"not the passphrase", goodPassphrase, "another passphrase"}
	pub, err := d.signer.ChangeProtection(t.Context(), keys.ProtectKeyringAndPassphrase, keys.SurfaceTerminal)
	if err != nil || pub.Protection != keys.ProtectKeyringAndPassphrase || pub.AnchorKept != "sealed+keyring" {
		t.Fatalf("%+v %v", pub, err)
	}
	wantCode(t, d.signer.Prove(t.Context(), "0x", keys.SurfaceTerminal), "malformed")
	wantCode(t, d.signer.Prove(t.Context(), journal.HashOf(nil), keys.SurfaceTerminal), "wrong_passphrase")
	d.owner.answers = []string{"another passphrase"}
	if err := d.signer.Prove(t.Context(), journal.HashOf(nil), keys.SurfaceTerminal); err != nil {
		t.Error(err)
	}
}

// TestDeskThatDiedBeforeItKeptAnAnswer: what was answered and lost is not
// missed, because nothing said that it was durable.
func TestDeskThatDiedBeforeItKeptAnAnswer(t *testing.T) {
	d := open(t)
	raws, head := d.raws, d.head
	d.must(journal.KindClientEnded, journal.ClientEnded{Client: "c_0000000000000001", Reason: "revoked"}, keys.Act{})
	d.signer.Close()
	d.raws, d.head, d.state = raws, head, journal.State{}
	for _, raw := range raws {
		e, err := journal.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.state.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
}

func TestProtectionChangesThoughTheOldShareStays(t *testing.T) {
	d := open(t)
	d.owner.answers = []string{goodPassphrase, "another passphrase"}
	d.keyring.keeps = custody.ErrKeyringTimeout
	if _, err := d.signer.ChangeProtection(t.Context(), keys.ProtectKeyringAndPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	d.must(journal.KindProtectionChanged, journal.ProtectionChanged{
		From: string(keys.ProtectKeyringAndPassphrase), To: string(keys.ProtectKeyringAndPassphrase),
	}, keys.Act{})
	d.owner.answers = []string{goodPassphrase, "another passphrase"}
	d.owner.asked = nil
	if err := d.again(); err != nil {
		t.Fatal(err)
	}
	if len(d.owner.asked) != 2 || d.owner.asked[1].Problem != "wrong_passphrase" {
		t.Errorf("asked %+v", d.owner.asked)
	}
}

func TestOwnerSaysThatFilesWerePutBack(t *testing.T) {
	d := open(t)
	old := d.pub
	pub, err := d.signer.NewInstance(t.Context())
	if err != nil || pub.StartReason != "restored" || pub.Instance == old.Instance || pub.LogKey == old.LogKey {
		t.Fatalf("%+v %v", pub, err)
	}
	_, err = d.signer.NewInstance(t.Context())
	wantCode(t, err, "not_loaded")
	_, err = d.signer.Commit(t.Context(), nil)
	wantCode(t, err, "not_loaded")
}

func TestRestoredVaultHasTheSameAddressesAndSuspends(t *testing.T) {
	d := open(t)
	grantBody, grantAct := d.granted(d.fields(), 2)
	address := d.state.Domains()[0].Address
	words := strings.Join(d.owner.words, " ")
	old := d.pub

	e := newDesk(t)
	e.owner.answers = []string{"zoo zoo", words}
	pub, err := e.signer.Restore(t.Context(), keys.Restore{Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal})
	if err != nil {
		t.Fatal(err)
	}
	if pub.StartReason != "restored" || pub.OwnerKey != old.OwnerKey || pub.Instance == old.Instance || pub.LogKey == old.LogKey || !pub.WordsShown {
		t.Errorf("%+v", pub)
	}
	e.pub = pub
	if err := e.load(); err != nil {
		t.Fatal(err)
	}
	e.refused("not_this_vault", journal.KindCreated, journal.Created{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey}, keys.Act{})
	e.must(journal.KindInstanceStarted, journal.InstanceStarted{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Reason: "restored"}, keys.Act{})
	e.setUp()
	if e.state.Domains()[0].Address != address {
		t.Error("another address")
	}
	// The old client's row and grant are not in this log.
	e.refused("unknown_grant", journal.KindActionSigned, grantBody, grantAct)
	body, act := e.action(e.fields(), `{"note":1}`)
	e.refused("suspended", journal.KindActionSigned, body, act)
	f := e.fields()
	f.Mode = envelope.ModeTime // its uses are limited all the same
	body, act = e.action(f, `{"note":1}`)
	e.refused("suspended", journal.KindActionSigned, body, act)
	f = e.fields()
	f.Window.NotBefore = envelope.Some(e.state.StartedAt())
	body, act = e.action(f, `{"note":1}`)
	e.must(journal.KindActionSigned, body, act)
	f = e.fields()
	f.Mode, f.MaxUses = envelope.ModeTime, envelope.Opt{}
	body, act = e.action(f, `{"note":1}`)
	e.must(journal.KindActionSigned, body, act)
	if err := e.again(); err != nil {
		t.Errorf("opened again: %v", err)
	}
}

// TestLoadNamesWhatIsWrong has a row for each way in which a store can be another one.
func TestLoadNamesWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*testing.T, *desk)
		code string
		seq  uint64
	}{
		{"as it was", func(*testing.T, *desk) {}, "", 0},
		{"entries made while locked", func(t *testing.T, d *desk) {
			d.unkeyed(journal.KindRequestSeen, journal.RequestSeen{Request: "r", Client: d.clientID, Digest: journal.HashOf(nil)})
		}, "", 0},
		{"a keyed entry made while locked", func(t *testing.T, d *desk) {
			d.unkeyed(journal.KindSettingChanged, journal.SettingChanged{Name: "a", From: "b", To: "c"})
		}, "log_damaged", 0},
		{"the last act cut", func(_ *testing.T, d *desk) { d.raws = d.raws[:len(d.raws)-1] }, "rolled_back", 0},
		{"cut behind the anchor, with an older head", func(_ *testing.T, d *desk) {
			d.raws, d.head = d.raws[:3], d.heads[2]
		}, "rolled_back", 4},
		{"cut, without a head", func(_ *testing.T, d *desk) { d.raws, d.head = d.raws[:3], nil }, "log_damaged", 0},
		{"everything gone", func(_ *testing.T, d *desk) { d.raws, d.head, d.domains = nil, nil, nil }, "rolled_back", 0},
		{"an entry changed", func(_ *testing.T, d *desk) {
			d.raws[1] = []byte(strings.Replace(string(d.raws[1]), `"domain_id":"main"`, `"domain_id":"mail"`, 1))
		}, "log_damaged", 3},
		{"no head", func(_ *testing.T, d *desk) { d.head = nil }, "log_damaged", 0},
		{"domain row edited", func(_ *testing.T, d *desk) { d.domains[0].MAC = d.client.MAC }, "bad_permit", 0},
		{"keyring item gone", func(_ *testing.T, d *desk) {
			for name := range d.keyring.items {
				if strings.HasSuffix(name, ".head") {
					delete(d.keyring.items, name)
				}
			}
		}, "anchor_missing", 0},
		{"older sealed file put back", func(t *testing.T, d *desk) {
			if err := os.WriteFile(d.sealedFile(), d.older, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "rolled_back", 0},
		{"folder copied", func(t *testing.T, d *desk) {
			b, err := os.ReadFile(d.sealedFile())
			if err != nil {
				t.Fatal(err)
			}
			d.config.Custody.Dir = filepath.Join(t.TempDir(), "copy")
			if err := os.Mkdir(d.config.Custody.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.sealedFile(), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "copied", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			older, err := os.ReadFile(d.sealedFile())
			if err != nil {
				t.Fatal(err)
			}
			d.older = older
			body, act := d.action(d.fields(), `{"note":1}`)
			d.must(journal.KindActionSigned, body, act)
			if err := d.signer.Anchor(t.Context()); err != nil {
				t.Fatal(err)
			}
			tt.do(t, d)
			err = d.again()
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantCode(t, err, tt.code)
			if e := err.(*keys.Error); tt.seq != 0 && e.Seq != tt.seq {
				t.Errorf("entry %d, want %d", e.Seq, tt.seq)
			}
			// It only reads from now on.
			d.state = journal.State{}
			_, err = d.signer.Commit(t.Context(), []keys.Act{{}})
			wantCode(t, err, tt.code)
			_, err = d.signer.Address(t.Context(), act.Envelope)
			wantCode(t, err, tt.code)
			// A new instance starts a new log, in which the old uses are not known.
			pub, err := d.signer.NewInstance(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if pub.Instance == d.pub.Instance || pub.OwnerKey != d.pub.OwnerKey || pub.StartReason == "" {
				t.Errorf("%+v", pub)
			}
			d.pub, d.raws, d.head, d.domains = pub, nil, nil, nil
			if err := d.load(); err != nil {
				t.Fatal(err)
			}
			d.must(journal.KindInstanceStarted, journal.InstanceStarted{
				Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Reason: pub.StartReason,
			}, keys.Act{})
			d.setUp()
			body, act = d.action(d.fields(), `{"note":1}`)
			d.refused("suspended", journal.KindActionSigned, body, act)
			if err := d.again(); err != nil {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

// unkeyed adds an entry that the key process has not seen, as a locked desk does.
func (d *desk) unkeyed(kind journal.Kind, body any) {
	d.t.Helper()
	raw := d.entry(kind, body)
	e, err := journal.Parse(raw)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.state.Apply(e); err != nil {
		d.t.Fatal(err)
	}
	d.raws = append(d.raws, raw)
}

func (d *desk) sealedFile() string { return filepath.Join(d.config.Custody.Dir, custody.SealedName) }

func TestLoadFromASnapshot(t *testing.T) {
	d := open(t)
	body, act := d.granted(d.fields(), 2)
	d.must(journal.KindActionSigned, body, act)
	state := d.state.Canonical()
	d.must(journal.KindSnapshot, journal.Snapshot{StateSHA256: d.state.SHA256()}, keys.Act{})
	from := len(d.raws) - 1
	body.Use = 2
	d.must(journal.KindActionSigned, body, act)
	if err := d.signer.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := func() *Signer {
		s := New(d.config)
		if _, err := s.Unlock(t.Context(), keys.Unlock{}); err != nil {
			t.Fatal(err)
		}
		d.signer = s
		return s
	}
	wrong := []byte(strings.Replace(string(state), `"uses":2}`, `"uses":9}`, 1))
	_, err := start().Load(t.Context(), keys.Load{Snapshot: wrong, Entries: d.raws[from:], Domains: d.domains, Last: true, Head: d.head})
	wantCode(t, err, "log_damaged")
	_, err = start().Load(t.Context(), keys.Load{Snapshot: state, Last: true, Head: d.head})
	wantCode(t, err, "log_damaged")
	s := start()
	if _, err := s.Load(t.Context(), keys.Load{Snapshot: state, Entries: d.raws[from : from+1]}); err != nil {
		t.Fatal(err)
	}
	loaded, err := s.Load(t.Context(), keys.Load{Entries: d.raws[from+1:], Domains: d.domains, Last: true, Head: d.head})
	if err != nil || loaded.Hash != d.state.Hash() {
		t.Fatalf("%+v %v", loaded, err)
	}
	body.Use = 3
	d.refused("grant_spent", journal.KindActionSigned, body, act)
	_, err = s.Load(t.Context(), keys.Load{Last: true})
	wantCode(t, err, "not_loaded")
}

// TestAnchors: a head is anchored only once the desk has shown that it is durable:
// at once after a revocation, else once a minute, and at lock.
func TestAnchors(t *testing.T) {
	d := open(t)
	seen := func() {
		d.must(journal.KindRequestSeen, journal.RequestSeen{Request: "r", Client: d.clientID, Digest: journal.HashOf(nil)}, keys.Act{})
	}
	if err := d.signer.Anchor(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := d.state.Seq()
	seen()
	seen()
	d.signer.background.Wait()
	if got := d.sealed().Log.Seq; got != at {
		t.Errorf("anchored %d, want %d", got, at)
	}
	d.clock.pass(anchorEvery)
	before := d.state.Seq()
	seen()
	d.signer.background.Wait()
	if got := d.sealed().Log.Seq; got != before {
		t.Errorf("after a minute anchored %d, want %d", got, before)
	}
	d.must(journal.KindClientEnded, journal.ClientEnded{Client: d.clientID, Reason: "revoked"}, keys.Act{})
	revoked := d.state.Seq()
	seen()
	d.signer.background.Wait()
	if got := d.sealed().Log.Seq; got != revoked {
		t.Errorf("after a revocation anchored %d, want %d", got, revoked)
	}
	// Once: what follows waits for its minute.
	for range 3 {
		seen()
		d.signer.background.Wait()
	}
	if got := d.sealed().Log.Seq; got != revoked {
		t.Errorf("acts after the revocation anchored %d, want %d", got, revoked)
	}
	last := d.state.Seq()
	v := d.signer.vault
	if err := d.signer.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := v.State().Log.Seq; got != last {
		t.Errorf("at lock anchored %d, want %d", got, last)
	}
	_, err := d.signer.Commit(t.Context(), nil)
	wantCode(t, err, "locked")
	_, err = d.signer.Unlock(t.Context(), keys.Unlock{})
	wantCode(t, err, "locked")
}
