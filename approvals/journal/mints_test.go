package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"vault/derive/confirm"
)

func issued() DelegateIssued {
	return DelegateIssued{testHash(20), testHash(1), 2, testHash(21), testHash(22)}
}

func mintedAs(number uint64) CapabilityMinted {
	return CapabilityMinted{
		Delegate: testHash(20), DomainHash: testHash(1), Client: testClient, Bot: testAddress, Nonce: testHash(30 + int(number)),
		Mint: testHash(40 + int(number)), EnvelopeHash: testHash(50), Number: number,
	}
}

func usedAs(number int, use uint64) MintedSigned {
	return MintedSigned{"r", testClient, "", testAddress, testHash(20), testHash(30 + number), testHash(40 + number), testHash(1), testHash(50), testHash(60), testAddress, use}
}

// someMints is an entry's body of each kind in mintBodies.
func someMints() map[Kind]any {
	return map[Kind]any{
		KindDelegateIssued:   issued(),
		KindDelegateImported: DelegateImported{testHash(20), testHash(1)},
		KindDelegateAdmitted: DelegateAdmitted{testHash(20), testHash(1), 7, testHash(21), testHash(22)},
		KindDelegatePaused:   DelegatePaused{testHash(20)},
		KindDelegateResumed:  DelegateResumed{testHash(20), testHash(22)},
		KindDelegateEnded:    DelegateEnded{testHash(20), "expired"},
		KindCapabilityMinted: mintedAs(1),
		KindMintedSigned:     usedAs(1, 3),
		KindMintExported:     MintExported{testHash(1), "age1x", testHash(22)},
	}
}

func TestEveryMintKindIsReadBack(t *testing.T) {
	b := newBook(t)
	list := someMints()
	for kind, body := range list {
		t.Run(string(kind), func(t *testing.T) {
			e := b.make(kind, body)
			if e.Decoded() != body {
				t.Errorf("read %#v, wrote %#v", e.Decoded(), body)
			}
			for _, wrong := range [][]byte{
				bytes.Replace(e.Raw(), []byte(`"body":{`), []byte(`"body":{"aaa":1,`), 1),
				bytes.Replace(e.Raw(), []byte(testHash(20)), []byte("0x12"), 1),
				bytes.Replace(e.Raw(), []byte(testHash(1)), []byte("0x12"), 1),
			} {
				if bytes.Equal(wrong, e.Raw()) {
					continue // it names no such thing
				}
				if _, err := Parse(wrong); !errors.Is(err, ErrNotAnEntry) {
					t.Errorf("%s: %v", wrong, err)
				}
			}
		})
	}
	if len(mintBodies) != len(list) {
		t.Errorf("%d kinds; this test knows %d", len(mintBodies), len(list))
	}
	for kind := range mintBodies {
		if _, ok := bodies[kind]; ok {
			t.Errorf("%s is in two tables", kind)
		}
	}
}

func TestMintConfirmations(t *testing.T) {
	b := newBook(t)
	for _, c := range []struct {
		kind Kind
		body any
		want confirm.Kind
	}{
		{KindDelegateIssued, issued(), confirm.MintDelegate},
		{KindDelegateAdmitted, DelegateAdmitted{testHash(20), testHash(1), 7, testHash(21), testHash(22)}, confirm.InstanceReadmit},
		{KindDelegateResumed, DelegateResumed{testHash(20), testHash(22)}, confirm.InstanceReadmit},
		{KindMintExported, MintExported{testHash(1), "age1x", testHash(22)}, confirm.MintExport},
	} {
		got, ok := b.make(c.kind, c.body).Confirmation()
		if !ok || got.Kind != c.want || got.Record != testHash(22) || len(got.Digest) != 64 {
			t.Errorf("%s: %+v, %v", c.kind, got, ok)
		}
		if c.kind == KindDelegateIssued && got.Digest != testHash(20)[2:] {
			t.Errorf("a delegate's confirmation is over %s", got.Digest)
		}
	}
	a, _ := b.make(KindMintExported, MintExported{testHash(1), "age1x", ""}).Confirmation()
	c, _ := b.make(KindMintExported, MintExported{testHash(1), "age1y", ""}).Confirmation()
	if a.Digest == c.Digest {
		t.Error("the recipient is no part of what is confirmed")
	}
}

func TestMintContradictions(t *testing.T) {
	prepared := func(more ...any) func(*book) {
		return func(b *book) {
			b.add(KindDelegateIssued, issued())
			for _, x := range more {
				switch x := x.(type) {
				case CapabilityMinted:
					b.add(KindCapabilityMinted, x)
				case MintedSigned:
					b.add(KindMintedSigned, x)
				case DelegatePaused:
					b.add(KindDelegatePaused, x)
				case DelegateEnded:
					b.add(KindDelegateEnded, x)
				case ClientEnded:
					b.add(KindClientEnded, x)
				}
			}
		}
	}
	paused, revoked, expired := DelegatePaused{testHash(20)}, DelegateEnded{testHash(20), "revoked"}, DelegateEnded{testHash(20), "expired"}
	removed := DelegateEnded{testHash(20), "removed"}
	gone := ClientEnded{testClient, "revoked"}
	change := func(f func(*CapabilityMinted)) CapabilityMinted { m := mintedAs(2); f(&m); return m }
	changed := func(f func(*MintedSigned)) MintedSigned { m := usedAs(1, 1); f(&m); return m }
	for _, tt := range []struct {
		name string
		prep func(*book)
		kind Kind
		body any
		code string
	}{
		{"issued without a confirmation", nil, KindDelegateIssued, DelegateIssued{testHash(20), testHash(1), 2, testHash(21), ""}, CodeConfirmation},
		{"admitted without a confirmation", nil, KindDelegateAdmitted, DelegateAdmitted{testHash(20), testHash(1), 2, testHash(21), ""}, CodeConfirmation},
		{"exported without a confirmation", nil, KindMintExported, MintExported{testHash(1), "age1", ""}, CodeConfirmation},
		{"resumed without a confirmation", prepared(paused), KindDelegateResumed, DelegateResumed{testHash(20), ""}, CodeConfirmation},
		{"issued in an unknown domain", nil, KindDelegateIssued, DelegateIssued{testHash(20), testHash(9), 2, testHash(21), testHash(22)}, CodeUnknownDomain},
		{"imported in an unknown domain", nil, KindDelegateImported, DelegateImported{testHash(20), testHash(9)}, CodeUnknownDomain},
		{"exported of an unknown domain", nil, KindMintExported, MintExported{testHash(9), "age1", testHash(22)}, CodeUnknownDomain},
		{"issued twice", prepared(), KindDelegateIssued, issued(), CodeTwice},
		{"admitted after it was issued", prepared(), KindDelegateAdmitted, DelegateAdmitted{testHash(20), testHash(1), 2, testHash(21), testHash(22)}, CodeTwice},
		{"admitted after its end", prepared(revoked), KindDelegateAdmitted, DelegateAdmitted{testHash(20), testHash(1), 2, testHash(21), testHash(22)}, CodeTwice},
		{"unknown is paused", nil, KindDelegatePaused, paused, CodeUnknownDelegate},
		{"paused twice", prepared(paused), KindDelegatePaused, paused, CodeDelegatePaused},
		{"unknown is resumed", nil, KindDelegateResumed, DelegateResumed{testHash(20), testHash(22)}, CodeUnknownDelegate},
		{"resumed and not paused", prepared(), KindDelegateResumed, DelegateResumed{testHash(20), testHash(22)}, CodeNotPaused},
		{"resumed after its end", prepared(revoked), KindDelegateResumed, DelegateResumed{testHash(20), testHash(22)}, CodeDelegateEnded},
		{"unknown is ended", nil, KindDelegateEnded, revoked, CodeUnknownDelegate},
		{"ended twice", prepared(revoked), KindDelegateEnded, expired, CodeTwice},
		{"removed and in force", prepared(), KindDelegateEnded, removed, CodeTwice},
		{"removed after its end", prepared(revoked), KindDelegateEnded, removed, CodeTwice},
		{"minted under an unknown one", nil, KindCapabilityMinted, mintedAs(1), CodeUnknownDelegate},
		{"minted under a paused one", prepared(paused), KindCapabilityMinted, mintedAs(1), CodeDelegatePaused},
		{"minted under a revoked one", prepared(revoked), KindCapabilityMinted, mintedAs(1), CodeDelegateEnded},
		{"minted under an expired one", prepared(expired), KindCapabilityMinted, mintedAs(1), CodeDelegateExpired},
		{"minted for an ended client", prepared(gone), KindCapabilityMinted, mintedAs(1), CodeClientEnded},
		{"minted in another domain", prepared(mintedAs(1)), KindCapabilityMinted, change(func(m *CapabilityMinted) { m.DomainHash = testHash(9) }), CodeUnknownDomain},
		{"a nonce again", prepared(mintedAs(1)), KindCapabilityMinted, change(func(m *CapabilityMinted) { m.Nonce = testHash(31) }), CodeNonceReused},
		{"a mint left out", prepared(), KindCapabilityMinted, mintedAs(2), CodeMintNotNext},
		{"a mint again", prepared(mintedAs(1)), KindCapabilityMinted, change(func(m *CapabilityMinted) { m.Number = 1 }), CodeMintNotNext},
		{"one more than it gives", prepared(mintedAs(1), mintedAs(2)), KindCapabilityMinted, mintedAs(3), CodeMintsSpent},
		{"signed by what was not minted", prepared(), KindMintedSigned, usedAs(1, 1), CodeUnknownMint},
		{"signed by another request with the nonce", prepared(mintedAs(1)), KindMintedSigned, changed(func(m *MintedSigned) { m.Mint = testHash(99) }), CodeUnknownMint},
		{"signed in another domain", prepared(mintedAs(1)), KindMintedSigned, changed(func(m *MintedSigned) { m.DomainHash = testHash(9) }), CodeUnknownDomain},
		{"a use left out", prepared(mintedAs(1)), KindMintedSigned, usedAs(1, 2), CodeUseNotNext},
		{"a use again", prepared(mintedAs(1), usedAs(1, 1)), KindMintedSigned, usedAs(1, 1), CodeUseNotNext},
		{"signed under a paused one", prepared(mintedAs(1), paused), KindMintedSigned, usedAs(1, 1), CodeDelegatePaused},
		{"signed under a revoked one", prepared(mintedAs(1), revoked), KindMintedSigned, usedAs(1, 1), CodeDelegateEnded},
		{"signed for an ended client", prepared(mintedAs(1), gone), KindMintedSigned, usedAs(1, 1), CodeClientEnded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(t)
			b.pair()
			if tt.prep != nil {
				tt.prep(b)
			}
			before := b.state.SHA256()
			err := b.state.Apply(b.make(tt.kind, tt.body))
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

func TestMintStateIsReadBack(t *testing.T) {
	b := newBook(t)
	b.pair()
	before := b.state.Canonical()
	if bytes.Contains(before, []byte("delegates")) || bytes.Contains(before, []byte("latest")) {
		t.Error("a log without delegates has another state than before there were any")
	}
	b.add(KindDelegateIssued, issued())
	b.add(KindCapabilityMinted, mintedAs(1))
	b.add(KindCapabilityMinted, mintedAs(2))
	b.add(KindMintedSigned, usedAs(2, 1))
	b.add(KindMintedSigned, usedAs(2, 2))
	b.add(KindDelegateAdmitted, DelegateAdmitted{testHash(70), testHash(1), 5, testHash(71), testHash(72)})
	b.add(KindMintExported, MintExported{testHash(1), "age1", testHash(22)})
	b.add(KindActionSigned, signed(1, ""))
	latest := b.at
	b.at -= 500_000 // the clock was set back
	b.add(KindDelegatePaused, DelegatePaused{testHash(70)})
	raw := b.state.Canonical()
	back, err := ParseState(raw)
	if err != nil {
		t.Fatal(err)
	}
	if back.SHA256() != b.state.SHA256() || HashOf(back.Canonical()) != HashOf(raw) {
		t.Fatal("another state was read back")
	}
	if m, ok := back.Mint(testHash(20), testHash(32)); !ok || m.Mint != testHash(42) || m.Uses != 2 {
		t.Errorf("%+v, %v", m, ok)
	}
	d, ok := back.Delegate(testHash(20))
	if !ok || d.Minted != 2 || d.Uses != 2 || d.Kept != 2 || back.MintsKept() != 2 || back.Exported(testHash(1)) == 0 || back.Latest() != latest {
		t.Errorf("%+v, %v, latest %d", d, ok, back.Latest())
	}
	for i := range raw {
		wrong := bytes.Clone(raw)
		wrong[i] ^= 1
		if s, err := ParseState(wrong); err == nil && !bytes.Equal(s.Canonical(), wrong) {
			t.Fatalf("byte %d changes nothing", i)
		}
	}
	for name, wrong := range map[string]string{
		"a mint twice":   strings.Replace(string(raw), testHash(31)[2:]+" "+testHash(41)[2:]+" 0\n", strings.Repeat(testHash(31)[2:]+" "+testHash(41)[2:]+" 0\n", 2), 1),
		"a mint missing": strings.Replace(string(raw), testHash(31)[2:]+" "+testHash(41)[2:]+" 0\n", "", 1),
		"kept too many":  strings.Replace(string(raw), `"kept":2`, `"kept":3`, 1),
		"kept too few":   strings.Replace(string(raw), `"kept":2`, `"kept":1`, 1),
	} {
		if wrong == string(raw) {
			t.Fatalf("%s: the case changes nothing", name)
		}
		if _, err := ParseState([]byte(wrong)); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
	// What ends is forgotten but for its name.
	b.add(KindDelegateEnded, DelegateEnded{testHash(20), "revoked"})
	if _, ok := b.state.Mint(testHash(20), testHash(32)); ok || b.state.MintsKept() != 0 || bytes.Contains(b.state.Canonical(), []byte(testHash(42)[2:])) {
		t.Error("the mints of an ended delegate are remembered")
	}
	if d, ok := b.state.Delegate(testHash(20)); !ok || d.Minted != 2 || d.Ended != "revoked" {
		t.Errorf("%+v", d)
	}
}

// manyMints is a state with so many delegates, and mints spread over them.
func manyMints(delegates, mints int) *State {
	s := &State{seq: 1, hash: testHash(1), instance: testInstance, vault: testVault, delegates: map[string]*delegate{}}
	var list []*delegate
	for i := range delegates {
		d := &delegate{DelegateState{Hash: testHash(i + 1), DomainHash: testHash(1), PermitSHA256: testHash(2), Mints: 1000}, map[[32]byte]mint{}}
		s.delegates[d.Hash] = d
		list = append(list, d)
	}
	for i := range mints {
		d := list[i%delegates]
		n := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		d.mints[n] = mint{n, 1}
		d.Minted++
		s.kept++
	}
	return s
}

func TestDelegateLineIsCanonical(t *testing.T) {
	d := DelegateState{testHash(1), testHash(2), testHash(3), true, 4, 5, 6, 7, true, "revoked", 8}
	if got, want := string(d.appendLine(nil)), string(appendLine(nil, d)); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestMintStateStaysSmall holds the state of as much as one log may remember below what the key line can carry.
func TestMintStateStaysSmall(t *testing.T) {
	raw := manyMints(MaxDelegates, MaxMints).Canonical()
	if len(raw) > 48<<20 {
		t.Errorf("%d bytes", len(raw))
	}
	if _, err := ParseState(raw); err != nil {
		t.Error(err)
	}
}

func BenchmarkMintState(b *testing.B) {
	s := manyMints(10_000, 100_000)
	raw := s.Canonical()
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			raw = s.Canonical()
		}
		b.ReportMetric(float64(len(raw)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseState(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
