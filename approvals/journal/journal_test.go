package journal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

const (
	testVault    = "00112233445566778899aabbccddeeff"
	testInstance = "ffeeddccbbaa99887766554433221100"
	testAddress  = "0x52908400098527886E0F7030069857D2E4169EE7"
	testStart    = int64(1_700_000_000_000)
)

var testClient = "c_" + strings.Repeat("1", 16)

func testHash(n int) string { return fmt.Sprintf("0x%064x", n) }

// book writes a log as the key process does.
type book struct {
	t     testing.TB
	key   nkeys.KeyPair
	pub   string
	state State
	raws  [][]byte
	heads [][]byte
	at    int64
}

func newBook(t testing.TB) *book {
	t.Helper()
	key, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	pub, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	b := &book{t: t, key: key, pub: pub, at: testStart}
	b.add(KindCreated, Created{Vault: testVault, OwnerKey: pub, LogKey: pub})
	return b
}

func (b *book) make(kind Kind, body any) Entry {
	b.t.Helper()
	b.at += 1000
	raw, hash, err := New(testInstance, b.state.Seq()+1, b.state.Hash(), b.at, kind, body)
	if err != nil {
		b.t.Fatal(err)
	}
	e, err := Parse(raw)
	if err != nil {
		b.t.Fatal(err)
	}
	if e.Hash() != hash {
		b.t.Fatalf("hash %s, New said %s", e.Hash(), hash)
	}
	return e
}

func (b *book) add(kind Kind, body any) {
	b.t.Helper()
	e := b.make(kind, body)
	if err := b.state.Apply(e); err != nil {
		b.t.Fatalf("%s: %v", kind, err)
	}
	b.raws = append(b.raws, e.Raw())
	if !kind.Unkeyed() {
		b.heads = append(b.heads, b.head(e.Seq, e.Hash()))
	}
}

func (b *book) head(seq uint64, hash string) []byte {
	h := Head{Type: HeadType, V: 1, Vault: testVault, Instance: testInstance, Seq: seq, Hash: hash, At: b.at, Key: b.pub}
	sig, err := b.key.Sign(h.SigningBytes())
	if err != nil {
		b.t.Fatal(err)
	}
	h.Sig = base64.RawURLEncoding.EncodeToString(sig)
	return h.Canonical()
}

func (b *book) pair() {
	b.t.Helper()
	b.add(KindDomainCreated, DomainCreated{testHash(1), "main", testAddress, testHash(2)})
	b.add(KindClientPaired, ClientPaired{testClient, "My agent", "click", testHash(3), "", ""})
}

func (b *book) grant(uses int64) GrantMade {
	return GrantMade{
		Grant: "g_" + strings.Repeat("a", 16), Client: testClient, EnvelopeHash: testHash(9), Uses: uses,
		NotAfter: b.at + 10_000_000, By: "click", PermitSHA256: testHash(4),
	}
}

func signed(use uint64, grant string) ActionSigned {
	a := ActionSigned{
		Request: "r1", Client: testClient, Session: "", By: "click", Grant: grant, DomainHash: testHash(1),
		EnvelopeHash: testHash(9), Digest: testHash(10), Address: testAddress, Use: use,
	}
	if grant != "" {
		a.By = "grant"
	}
	return a
}

func testDigest(n int) string { return "sha256:" + testHash(n)[2:] }

var testMoment = MomentID(testClient, "s", testDigest(1))

func resolvedMoment(option int64) MomentResolved {
	return MomentResolved{
		Moment: testMoment, Client: testClient, Session: "s", EnvelopeDigest: testDigest(1), SheetDigest: testHash(2),
		Choice: "option", Option: option, ActionDigest: testDigest(3), SignWith: testHash(9), ResolutionDigest: testDigest(4), By: "click",
	}
}

// ofMoment is a signature that names the moment.
func ofMoment(use uint64) ActionSigned {
	a := signed(use, "")
	a.Moment = testMoment
	return a
}

// someOf is an entry's body of each kind in bodies.
func someOf(b *book) map[Kind]any {
	return map[Kind]any{
		KindCreated:           Created{testVault, b.pub, b.pub, true},
		KindInstanceStarted:   InstanceStarted{testVault, b.pub, b.pub, "restored"},
		KindUnlocked:          Unlocked{"passphrase"},
		KindLocked:            Locked{"asked"},
		KindWordsShown:        WordsShown{"creation"},
		KindProtectionChanged: ProtectionChanged{"keyring", "passphrase"},
		KindSettingChanged:    SettingChanged{"idle", "15", "30"},
		KindDomainCreated:     DomainCreated{testHash(1), "main \"quoted\"", testAddress, testHash(2)},
		KindClientPaired:      ClientPaired{testClient, "é\u202e", "click", testHash(3), testHash(4), ""},
		KindClientEnded:       ClientEnded{testClient, "blocked"},
		KindGrantMade:         b.grant(3),
		KindGrantEnded:        GrantEnded{"g_" + strings.Repeat("0", 16), "revoked"},
		KindActionSigned:      signed(4, "g_"+strings.Repeat("0", 16)),
		KindRequestAnswered:   RequestAnswered{"r", "", "pair", "declined", "", testHash(1), 3, testHash(2)},
		KindRequestSeen:       RequestSeen{"r", testClient, testHash(1)},
		KindMomentSeen:        MomentSeen{testMoment, testClient, testHash(1), "both"},
		KindMomentResolved:    resolvedMoment(1),
		KindMomentDeclined:    MomentDeclined{testMoment, testClient, "s", testDigest(1), testHash(2), testDigest(3), testHash(4)},
		KindMomentEnded:       MomentEnded{testMoment, testClient, "withdrawn"},
		KindMomentNoted:       MomentNoted{testClient, "s", "option_count", testHash(1)},
		KindMomentMissed:      MomentMissed{testMoment, testClient, "action_mismatch", testHash(1)},
		KindPasskeyAdded:      PasskeyAdded{"pQECAyYg", "security_key", true, "localhost", "passphrase", testHash(1)},
		KindPasskeyRemoved:    PasskeyRemoved{"pQECAyYg", testHash(1)},
		KindPolicyChanged:     PolicyChanged{testHash(1), `{"rules":[]}`, "click", ""},
		KindActConfirmed:      ActConfirmed{"recovery.show", "", "", testHash(1), testHash(2)},
		KindSocketAdded:       SocketAdded{1001, "/srv/agent-vault-00112233-1001/s.sock", testHash(2)},
		KindSocketRemoved:     SocketRemoved{1001},
		KindReadmitted:        Readmitted{"envelope", testHash(9), 3, testHash(2)},
		KindSnapshot:          Snapshot{testHash(5)},
	}
}

func TestEveryKindIsReadBack(t *testing.T) {
	b := newBook(t)
	list := someOf(b)
	for kind, body := range list {
		t.Run(string(kind), func(t *testing.T) {
			e := b.make(kind, body)
			if e.Decoded() != body {
				t.Errorf("read %#v, wrote %#v", e.Decoded(), body)
			}
			for _, wrong := range [][]byte{
				bytes.Replace(e.Raw(), []byte(`"body":{`), []byte(`"body":{"aaa":1,`), 1),
				bytes.Replace(e.Raw(), []byte(`,"v":1}`), []byte(`,"v":2}`), 1),
				bytes.Replace(e.Raw(), []byte(`,"v":1}`), []byte(`,"v":1,"z":0}`), 1),
				bytes.Replace(e.Raw(), []byte(`"at":`), []byte(`"at": `), 1),
				bytes.Replace(e.Raw(), []byte(string(kind)), []byte("vault.other"), 1),
				append(bytes.Clone(e.Raw()), '\n'),
			} {
				if bytes.Equal(wrong, e.Raw()) {
					t.Fatal("the case changes nothing")
				}
				if _, err := Parse(wrong); !errors.Is(err, ErrNotAnEntry) {
					t.Errorf("%s: %v", wrong, err)
				}
			}
		})
	}
	if len(bodies) != len(list) {
		t.Errorf("%d kinds; this test knows %d", len(bodies), len(list))
	}
}

func TestContradictions(t *testing.T) {
	grantID := "g_" + strings.Repeat("a", 16)
	other := "c_" + strings.Repeat("2", 16)
	tests := []struct {
		name string
		prep func(*book)
		kind Kind
		body func(*book) any
		code string
	}{
		{"second beginning", nil, KindCreated, func(b *book) any { return Created{testVault, b.pub, b.pub, false} }, CodeNotFirst},
		{"domain twice", nil, KindDomainCreated, func(*book) any { return DomainCreated{testHash(1), "x", testAddress, testHash(2)} }, CodeTwice},
		{"paired twice", nil, KindClientPaired, func(*book) any { return ClientPaired{testClient, "x", "click", testHash(8), "", ""} }, CodeTwice},
		{"renamed from another permit", nil, KindClientPaired, func(*book) any { return ClientPaired{testClient, "x", "click", testHash(8), testHash(77), ""} }, CodeWrongPermit},
		{"renamed unknown", nil, KindClientPaired, func(*book) any { return ClientPaired{other, "x", "click", testHash(8), testHash(3), ""} }, CodeUnknownClient},
		{"end of unknown client", nil, KindClientEnded, func(*book) any { return ClientEnded{other, "revoked"} }, CodeUnknownClient},
		{"ended twice", func(b *book) { b.add(KindClientEnded, ClientEnded{testClient, "revoked"}) }, KindClientEnded, func(*book) any { return ClientEnded{testClient, "revoked"} }, CodeTwice},
		{"paired after its end", func(b *book) { b.add(KindClientEnded, ClientEnded{testClient, "revoked"}) }, KindClientPaired, func(*book) any { return ClientPaired{testClient, "x", "click", testHash(8), testHash(3), ""} }, CodeClientEnded},
		{"grant to ended client", func(b *book) { b.add(KindClientEnded, ClientEnded{testClient, "blocked"}) }, KindGrantMade, func(b *book) any { return b.grant(1) }, CodeClientEnded},
		{"grant of 11 by click", nil, KindGrantMade, func(b *book) any { return b.grant(11) }, CodeGrantLimits},
		{"grant of more than a day by click", nil, KindGrantMade, func(b *book) any { g := b.grant(1); g.NotAfter = b.at + 86_402_000; return g }, CodeGrantLimits},
		{"grant that has ended", nil, KindGrantMade, func(b *book) any { g := b.grant(1); g.NotAfter = b.at; return g }, CodeGrantLimits},
		{"grant twice", func(b *book) { b.add(KindGrantMade, b.grant(1)) }, KindGrantMade, func(b *book) any { return b.grant(1) }, CodeTwice},
		{"end of unknown grant", nil, KindGrantEnded, func(*book) any { return GrantEnded{grantID, "revoked"} }, CodeUnknownGrant},
		{"unknown domain", nil, KindActionSigned, func(*book) any { a := signed(1, ""); a.DomainHash = testHash(55); return a }, CodeUnknownDomain},
		{"signed for unknown client", nil, KindActionSigned, func(*book) any { a := signed(1, ""); a.Client = other; return a }, CodeUnknownClient},
		{"signed for ended client", func(b *book) { b.add(KindClientEnded, ClientEnded{testClient, "revoked"}) }, KindActionSigned, func(*book) any { return signed(1, "") }, CodeClientEnded},
		{"a use left out", nil, KindActionSigned, func(*book) any { return signed(2, "") }, CodeUseNotNext},
		{"a use again", func(b *book) { b.add(KindActionSigned, signed(1, "")) }, KindActionSigned, func(*book) any { return signed(1, "") }, CodeUseNotNext},
		{"by grant without one", nil, KindActionSigned, func(*book) any { a := signed(1, ""); a.By = "grant"; return a }, CodeNoGrantNamed},
		{"unknown grant", nil, KindActionSigned, func(*book) any { return signed(1, grantID) }, CodeUnknownGrant},
		{"grant of another envelope", func(b *book) { b.add(KindGrantMade, b.grant(1)) }, KindActionSigned, func(*book) any { a := signed(1, grantID); a.EnvelopeHash = testHash(56); return a }, CodeGrantOther},
		{"ended grant", func(b *book) {
			b.add(KindGrantMade, b.grant(1))
			b.add(KindGrantEnded, GrantEnded{grantID, "revoked"})
		}, KindActionSigned, func(*book) any { return signed(1, grantID) }, CodeGrantEnded},
		{"grant past its end", func(b *book) { b.add(KindGrantMade, b.grant(1)); b.at += 10_000_000 }, KindActionSigned, func(*book) any { return signed(1, grantID) }, CodeGrantExpired},
		{"grant spent", func(b *book) { b.add(KindGrantMade, b.grant(1)); b.add(KindActionSigned, signed(1, grantID)) }, KindActionSigned, func(*book) any { return signed(2, grantID) }, CodeGrantSpent},
		{"moment of another session", nil, KindMomentResolved, func(*book) any { m := resolvedMoment(0); m.Session = "t"; return m }, CodeMomentName},
		{"moment of another envelope", nil, KindMomentResolved, func(*book) any { m := resolvedMoment(0); m.EnvelopeDigest = testDigest(7); return m }, CodeMomentName},
		{"question with an option", nil, KindMomentResolved, func(*book) any { m := resolvedMoment(0); m.Choice = "question"; return m }, CodeMomentForm},
		{"option without an action", nil, KindMomentResolved, func(*book) any { m := resolvedMoment(0); m.ActionDigest = ""; return m }, CodeMomentForm},
		{"moment resolved twice", func(b *book) { b.add(KindMomentResolved, resolvedMoment(0)) }, KindMomentResolved, func(*book) any { return resolvedMoment(1) }, CodeTwice},
		{"moment declined after it was resolved", func(b *book) { b.add(KindMomentResolved, resolvedMoment(0)) }, KindMomentDeclined, func(*book) any {
			return MomentDeclined{testMoment, testClient, "s", testDigest(1), testHash(2), testDigest(3), ""}
		}, CodeTwice},
		{"resolved for an ended client", func(b *book) { b.add(KindClientEnded, ClientEnded{testClient, "revoked"}) }, KindMomentResolved, func(*book) any { return resolvedMoment(0) }, CodeClientEnded},
		{"declined for an unknown client", nil, KindMomentDeclined, func(*book) any {
			return MomentDeclined{MomentID(other, "s", testDigest(1)), other, "s", testDigest(1), testHash(2), testDigest(3), ""}
		}, CodeUnknownClient},
		{"signed for a moment that is open", nil, KindActionSigned, func(*book) any { return ofMoment(1) }, CodeUnknownMoment},
		{"signed for a moment under another envelope", func(b *book) { b.add(KindMomentResolved, resolvedMoment(0)) }, KindActionSigned, func(*book) any { a := ofMoment(1); a.EnvelopeHash = testHash(8); return a }, CodeMomentOther},
		{"signed for a moment twice", func(b *book) {
			b.add(KindMomentResolved, resolvedMoment(0))
			b.add(KindActionSigned, ofMoment(1))
		}, KindActionSigned, func(*book) any { return ofMoment(2) }, CodeMomentSigned},
		{"signed for a declined moment", func(b *book) {
			b.add(KindMomentDeclined, MomentDeclined{testMoment, testClient, "s", testDigest(1), testHash(2), testDigest(3), ""})
		}, KindActionSigned, func(*book) any { return ofMoment(1) }, CodeMomentOther},
		{"a confirmed end that is no decline", nil, KindRequestAnswered, func(*book) any {
			return RequestAnswered{"r", testClient, "action.sign", "expired", "", testHash(1), 0, testHash(2)}
		}, CodeConfirmation},
		{"a passkey without a record", nil, KindMomentResolved, func(*book) any { m := resolvedMoment(0); m.By = "passkey"; return m }, CodeConfirmation},
		{"a record without a passkey", nil, KindMomentResolved, func(*book) any { m := resolvedMoment(0); m.Confirmation = testHash(2); return m }, CodeConfirmation},
		{"a second socket for one user", func(b *book) { b.add(KindSocketAdded, socketFor(1)) }, KindSocketAdded, func(*book) any { return socketFor(1) }, CodeTwice},
		{"a ninth socket", func(b *book) {
			for id := range int64(MaxSockets) {
				b.add(KindSocketAdded, socketFor(id))
			}
		}, KindSocketAdded, func(*book) any { return socketFor(MaxSockets) }, CodeTooMany},
		{"removing a socket that is not there", func(b *book) { b.add(KindSocketAdded, socketFor(1)) }, KindSocketRemoved, func(*book) any { return SocketRemoved{2} }, CodeUnknownSocket},
		{"readmitted in a log that begins with its root", nil, KindReadmitted, func(*book) any { return Readmitted{"envelope", testHash(9), 1, testHash(2)} }, CodeNotSuspended},
		{"wrong snapshot", nil, KindSnapshot, func(*book) any { return Snapshot{testHash(1)} }, CodeWrongSnapshot},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t)
			b.pair()
			if tt.prep != nil {
				tt.prep(b)
			}
			before := b.state.SHA256()
			err := b.state.Apply(b.make(tt.kind, tt.body(b)))
			var c *Contradiction
			if !errors.As(err, &c) || c.Code != tt.code {
				t.Fatalf("error %v, want code %s", err, tt.code)
			}
			if b.state.SHA256() != before {
				t.Error("a refused entry changed the state")
			}
		})
	}
}

func socketFor(id int64) SocketAdded {
	return SocketAdded{UserID: id, Path: fmt.Sprintf("/srv/v-%d/s.sock", id), Confirmation: testHash(2)}
}

// Sockets come and go, and what was admitted again is admitted once; both are in the state that a snapshot covers.
func TestSocketsAndReadmissions(t *testing.T) {
	b := &book{t: t, at: testStart}
	b.key = newBook(t).key
	b.pub, _ = b.key.PublicKey()
	b.add(KindInstanceStarted, InstanceStarted{testVault, b.pub, b.pub, "copied"})
	bare := b.state.Canonical()
	b.add(KindSocketAdded, socketFor(2))
	b.add(KindSocketAdded, socketFor(1))
	b.add(KindReadmitted, Readmitted{"envelope", testHash(9), 3, testHash(2)})
	if err := b.state.Apply(b.make(KindReadmitted, Readmitted{"envelope", testHash(9), 4, testHash(2)})); err == nil {
		t.Error("admitted again twice")
	}
	list := b.state.Sockets()
	if len(list) != 2 || list[0].UserID != 1 || list[1] != (SocketState{2, "/srv/v-2/s.sock", testStart + 2000}) {
		t.Errorf("%+v", list)
	}
	if x, ok := b.state.Readmitted(testHash(9)); !ok || x.Uses != 3 || len(b.state.AllReadmitted()) != 1 {
		t.Errorf("%+v", x)
	}
	raw := b.state.Canonical()
	if bytes.Contains(bare, []byte("sockets")) || !bytes.Contains(raw, []byte(`"sockets":2`)) {
		t.Error("a state without sockets says so, or one with does not")
	}
	back, err := ParseState(raw)
	if err != nil || back.SHA256() != b.state.SHA256() || !slices.Equal(back.Sockets(), list) {
		t.Fatalf("%v", err)
	}
	for i := range raw {
		wrong := bytes.Clone(raw)
		wrong[i] ^= 1
		if s, err := ParseState(wrong); err == nil && !bytes.Equal(s.Canonical(), wrong) {
			t.Fatalf("byte %d changes nothing", i)
		}
	}
	b.add(KindSocketRemoved, SocketRemoved{2})
	b.add(KindSocketAdded, socketFor(2))
	if _, ok := b.state.Socket(2); !ok {
		t.Error("it cannot be added again")
	}
}

// What is no path of a socket is no entry.
func TestSocketPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"/srv/a/s.sock": true, "/": false, "": false, "srv/s": false, "/srv/../s": false, "/srv//s": false, "/srv/s/": false, "/srv/a\nb": false,
		"/srv/\u202e": false, "/srv/\ufffd": false, "@abstract": false, "/" + strings.Repeat("a", MaxSocketPath): false,
	} {
		if IsSocketPath(path) != ok {
			t.Errorf("%q: %v", path, !ok)
		}
		_, _, err := New(testInstance, 2, testHash(1), testStart, KindSocketAdded, SocketAdded{1, path, testHash(2)})
		if (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestGrantCountsGrantedUsesOverAllClients(t *testing.T) {
	b := newBook(t)
	b.pair()
	other := "c_" + strings.Repeat("2", 16)
	b.add(KindClientPaired, ClientPaired{other, "Other", "click", testHash(30), "", ""})
	b.add(KindActionSigned, signed(1, ""))
	first := b.grant(3)
	b.add(KindGrantMade, first)
	second := b.grant(3)
	second.Grant, second.Client = "g_"+strings.Repeat("b", 16), other
	b.add(KindGrantMade, second)
	b.add(KindActionSigned, signed(2, first.Grant))
	b.add(KindActionSigned, signed(3, "")) // one by one: taken from no grant
	a := signed(4, second.Grant)
	a.Client = other
	b.add(KindActionSigned, a)
	b.add(KindActionSigned, signed(5, first.Grant))
	for _, g := range []GrantMade{first, second} {
		if got := b.state.GrantUsed(g.Grant); got != 3 {
			t.Errorf("grant %s used %d, want 3", g.Grant, got)
		}
		if err := b.state.GrantOpen(g.Grant, g.Client, g.EnvelopeHash, b.at); err == nil {
			t.Errorf("grant %s is still open", g.Grant)
		}
	}
}

func TestStateIsReadBack(t *testing.T) {
	b := newBook(t)
	b.pair()
	b.add(KindGrantMade, b.grant(3))
	b.add(KindActionSigned, signed(1, ""))
	b.add(KindWordsShown, WordsShown{"later"})
	before := b.state.Canonical()
	b.add(KindMomentResolved, resolvedMoment(0))
	b.add(KindActionSigned, ofMoment(2))
	other := signed(1, "")
	other.EnvelopeHash = testHash(10)
	b.add(KindActionSigned, other)
	raw := b.state.Canonical()
	if bytes.Contains(before, []byte("moments")) || !bytes.Contains(raw, []byte(`"moments":1`)) {
		t.Error("a state without moments says so, or one with does not")
	}
	back, err := ParseState(raw)
	if err != nil {
		t.Fatal(err)
	}
	if back.SHA256() != b.state.SHA256() {
		t.Fatal("another state was read back")
	}
	b.add(KindSnapshot, Snapshot{back.SHA256()})
	for i := range raw {
		wrong := bytes.Clone(raw)
		wrong[i] ^= 1
		if s, err := ParseState(wrong); err == nil && !bytes.Equal(s.Canonical(), wrong) {
			t.Fatalf("byte %d changes nothing", i)
		}
	}
	uses := beforeLast(raw)
	if line := raw[len(uses):]; bytes.Count(raw, []byte("\n")) < 4 {
		t.Fatal("too few lines to try another order")
	} else {
		for name, wrong := range map[string][]byte{
			"a line twice":       append(bytes.Clone(raw), line...),
			"without its end":    raw[:len(raw)-1],
			"a longer number":    append(append(append(bytes.Clone(uses), line[:65]...), '0'), line[65:]...),
			"upper case":         append(bytes.Clone(uses), bytes.ToUpper(line)...),
			"another order":      append(append(bytes.Clone(beforeLast(uses)), line...), uses[len(beforeLast(uses)):]...),
			"a space at the end": append(bytes.Clone(raw[:len(raw)-1]), ' ', '\n'),
		} {
			if bytes.Equal(wrong, raw) {
				continue // no letter in the hash
			}
			if _, err := ParseState(wrong); err == nil {
				t.Errorf("%s is read", name)
			}
		}
	}
	if err := back.Apply(b.make(KindLocked, Locked{"asked"})); err == nil {
		t.Error("an entry that does not follow was taken")
	}
	if back.SHA256() != HashOf(raw) {
		t.Error("a refused entry changed the state")
	}
	next, err := Parse(b.raws[len(b.raws)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Apply(next); err != nil {
		t.Fatal(err)
	}
	if back.SHA256() != HashOf(back.Canonical()) || back.SHA256() != b.state.SHA256() {
		t.Error("the digest is not of the state after the entry")
	}
	if _, err := ParseState(append(raw, '\n')); err == nil {
		t.Error("an empty line at the end is read")
	}
}

func TestVerifyNamesTheFirstWrongEntry(t *testing.T) {
	whole := func() *book {
		b := newBook(t)
		b.pair()
		b.add(KindActionSigned, signed(1, ""))
		b.add(KindActionSigned, signed(2, ""))
		b.add(KindRequestSeen, RequestSeen{"r", testClient, testHash(1)})
		b.add(KindRequestAnswered, RequestAnswered{"r", testClient, "action.sign", "declined", "", testHash(1), 0, ""})
		return b
	}
	change := func(b *book, seq int) {
		raw := bytes.Replace(b.raws[seq-1], []byte(`"at":1`), []byte(`"at":2`), 1)
		if bytes.Equal(raw, b.raws[seq-1]) {
			t.Fatal("the case changes nothing")
		}
		b.raws[seq-1] = raw
	}
	// rechain makes the entries from seq on consistent again, as somebody who
	// can write the store could.
	rechain := func(b *book, seq int) {
		prev := HashOf(b.raws[seq-1])
		for i := seq; i < len(b.raws); i++ {
			e, err := Parse(b.raws[i])
			if err != nil {
				t.Fatal(err)
			}
			raw, hash, err := New(e.Instance, e.Seq, prev, e.At, e.Kind, e.Decoded())
			if err != nil {
				t.Fatal(err)
			}
			b.raws[i], prev = raw, hash
		}
	}
	tests := []struct {
		name  string
		do    func(*book, *Pins)
		seq   uint64
		code  string
		open  uint64 // uncovered
		entry uint64
	}{
		{"whole", func(*book, *Pins) {}, 0, "", 2, 7},
		{"entry 1 changed", func(b *book, _ *Pins) { change(b, 1) }, 1, ReportChanged, 0, 0},
		{"entry 2 changed", func(b *book, _ *Pins) { change(b, 2) }, 2, ReportChanged, 0, 0},
		{"entry 5 changed", func(b *book, _ *Pins) { change(b, 5) }, 5, ReportChanged, 0, 0},
		{"entry 6 changed", func(b *book, _ *Pins) { change(b, 6) }, 6, ReportChanged, 0, 0},
		{"entry 4 not readable", func(b *book, _ *Pins) { b.raws[3] = []byte("{}") }, 4, ReportChanged, 0, 0},
		{"entry 3 out", func(b *book, _ *Pins) { b.raws = slices.Delete(b.raws, 2, 3) }, 3, ReportCut, 0, 0},
		{"first out", func(b *book, _ *Pins) { b.raws = b.raws[1:] }, 1, ReportCut, 0, 0},
		{"tail cut", func(b *book, _ *Pins) { b.raws = b.raws[:3] }, 4, ReportCut, 0, 0},
		{"tail and heads cut, remembered", func(b *book, p *Pins) {
			p.Places = []Place{{5, HashOf(b.raws[4])}}
			b.raws, b.heads = b.raws[:3], b.heads[:3]
		}, 4, ReportCut, 0, 0},
		{"3 and 4 exchanged", func(b *book, _ *Pins) { b.raws[2], b.raws[3] = b.raws[3], b.raws[2] }, 3, ReportReordered, 0, 0},
		{"entry 4 twice", func(b *book, _ *Pins) { b.raws = slices.Insert(b.raws, 3, b.raws[3]) }, 4, ReportForked, 0, 0},
		{"3 changed and the chain mended", func(b *book, _ *Pins) { change(b, 3); rechain(b, 3) }, 3, ReportForked, 0, 0},
		{"last changed, remembered", func(b *book, p *Pins) {
			p.Places = []Place{{7, HashOf(b.raws[6])}}
			change(b, 7)
		}, 7, ReportChanged, 0, 0},
		{"heads of the last two acts out", func(b *book, _ *Pins) { b.heads = b.heads[:3] }, 4, ReportHeadMissing, 0, 0},
		{"no heads", func(b *book, _ *Pins) { b.heads = nil }, 1, ReportHeadMissing, 0, 0},
		{"head of another place", func(b *book, _ *Pins) { b.heads[2] = b.head(4, testHash(1)) }, 4, ReportForked, 0, 0},
		{"head changed", func(b *book, _ *Pins) {
			b.heads[4] = bytes.Replace(b.heads[4], []byte(`"seq":5`), []byte(`"seq":4`), 1)
		}, 0, ReportBadHead, 0, 0},
		{"log key pinned otherwise", func(_ *book, p *Pins) { p.LogKey = "U" + strings.Repeat("A", 55) }, 1, ReportOtherVault, 0, 0},
		{"a decline that claims a passkey, and no head", func(b *book, _ *Pins) {
			b.add(KindRequestAnswered, RequestAnswered{"r2", testClient, "action.sign", "declined", "", testHash(1), 0, testHash(2)})
		}, 6, ReportHeadMissing, 0, 0},
		{"nothing", func(b *book, _ *Pins) { b.raws, b.heads = nil, nil }, 0, ReportEmpty, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := whole()
			pins := Pins{}
			tt.do(b, &pins)
			pins.Heads = b.heads
			r := Verify(slices.Values(b.raws), pins)
			if r.Code != tt.code || r.FirstWrong != tt.seq || r.OK != (tt.code == "") {
				t.Fatalf("entry %d %q (%s), want entry %d %q", r.FirstWrong, r.Code, r.Detail, tt.seq, tt.code)
			}
			if r.OK && (r.Uncovered != tt.open || r.Entries != tt.entry) {
				t.Errorf("%d entries, %d uncovered", r.Entries, r.Uncovered)
			}
		})
	}
}

func TestHeadIsExact(t *testing.T) {
	raw := newBook(t).heads[0]
	h, err := ParseHead(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(h.Canonical(), raw) {
		t.Errorf("canonical %s", h.Canonical())
	}
	for i := range raw {
		wrong := bytes.Clone(raw)
		wrong[i] ^= 1
		if _, err := ParseHead(wrong); err == nil {
			t.Errorf("byte %d may be changed: %s", i, wrong)
		}
	}
}

// beforeLast is text without its last line.
func beforeLast(text []byte) []byte {
	return text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1]
}

func FuzzParse(f *testing.F) {
	b := newBook(f)
	b.pair()
	b.add(KindGrantMade, b.grant(3))
	b.add(KindActionSigned, signed(1, ""))
	for _, raw := range b.raws {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Parse(raw)
		if err != nil {
			return
		}
		again, hash, err := New(e.Instance, e.Seq, e.Prev, e.At, e.Kind, e.Decoded())
		if err != nil || !bytes.Equal(again, raw) || hash != e.Hash() {
			t.Fatalf("read %s, wrote %s (%v)", raw, again, err)
		}
	})
}

func FuzzParseState(f *testing.F) {
	b := newBook(f)
	b.pair()
	b.add(KindGrantMade, b.grant(3))
	b.add(KindActionSigned, signed(1, ""))
	f.Add(b.state.Canonical())
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseState(raw)
		if err == nil && (!bytes.Equal(s.Canonical(), raw) || s.SHA256() != HashOf(raw)) {
			t.Fatalf("read %q, wrote %q", raw, s.Canonical())
		}
	})
}

func FuzzParseHead(f *testing.F) {
	f.Add(newBook(f).heads[0])
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := ParseHead(raw)
		if err == nil && !bytes.Equal(h.Canonical(), raw) {
			t.Fatalf("read %q, wrote %q", raw, h.Canonical())
		}
	})
}

func BenchmarkStateCanonical100k(b *testing.B) {
	s := big(b)
	for b.Loop() {
		s.SHA256()
	}
}

func BenchmarkParseState100k(b *testing.B) {
	raw := big(b).Canonical()
	for b.Loop() {
		if _, err := ParseState(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewAndApply(b *testing.B) {
	book := newBook(b)
	book.pair()
	use := uint64(0)
	for b.Loop() {
		use++
		raw, _, err := New(testInstance, book.state.Seq()+1, book.state.Hash(), book.at, KindActionSigned, signed(use, ""))
		if err != nil {
			b.Fatal(err)
		}
		e, err := Parse(raw)
		if err != nil {
			b.Fatal(err)
		}
		if err := book.state.Apply(e); err != nil {
			b.Fatal(err)
		}
	}
}

func big(t testing.TB) *State {
	b := newBook(t)
	b.pair()
	for i := range 100_000 {
		b.state.uses[key(testHash(i))] = useCount{uint64(i + 1), 1}
	}
	return &b.state
}
