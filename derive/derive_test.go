package derive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"vault/derive/envelope"
)

func testRoot() []byte {
	root := make([]byte, Size)
	for i := range root {
		root[i] = byte(i)
	}
	return root
}

func testDomain(t testing.TB) *envelope.DomainInfo {
	d, err := envelope.NewDomainInfo("agentenvelope", "support-ops", "communication")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func testEnvelope(t testing.TB, d *envelope.DomainInfo) *envelope.ActionEnvelope {
	e, err := envelope.NewActionEnvelope(d, envelope.ActionFields{
		AgentID: "support-sender", Operation: "send-message", Resources: []string{"channel:support"},
		Mode: envelope.ModeBoth, Window: envelope.Window{NotAfter: envelope.Some(2_000)}, MaxUses: envelope.Some(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSecretShowsNothing(t *testing.T) {
	s := Secret(bytes.Repeat([]byte{0x41}, Size))
	held := struct{ S Secret }{s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, v := range []any{s, &s, held, []Secret{s}} {
			if out := fmt.Sprintf(verb, v); strings.Contains(out, "41") || strings.Contains(out, "AA") || strings.Contains(out, "65") {
				t.Errorf("%s of %T shows %s", verb, v, out)
			}
		}
	}
	if out, err := json.Marshal(held); err == nil {
		t.Errorf("written as %s", out)
	}
	if out, err := s.MarshalText(); err == nil {
		t.Errorf("written as %s", out)
	}
	s.Clear()
	if s != (Secret{}) {
		t.Error("not cleared")
	}
}

func TestSecretsAreOf32Bytes(t *testing.T) {
	d := testDomain(t)
	e := testEnvelope(t, d)
	mint := verifiedMint(t, testRoot(), d)
	for _, n := range []int{0, 16, 31, 33, 64} {
		in := make([]byte, n)
		var s Secret
		_, pubErr := PublicKey(in)
		_, edErr := SignMessage(in, nil)
		_, addrErr := Address(in)
		_, signErr := SignDigest(in, [32]byte{})
		_, capErr := Capability(&s, in, d, e)
		_, projErr := Project(in, d, "2026-01-01T00:00:00Z")
		for name, err := range map[string]error{
			"domain": DomainSeed(&s, in, d), "action": ActionSeed(&s, in, e), "material": MintMaterial(&s, in, d.Hash()),
			"mint": RemoteMintSeed(&s, in, mint), "owner": OwnerSeed(&s, in, 0), "log": LogSeed(&s, in, strings.Repeat("0", 32)),
			"store": StoreKey(&s, in), "public": pubErr, "ed25519": edErr, "address": addrErr, "sign": signErr,
			"capability": capErr, "project": projErr,
		} {
			if !errors.Is(err, ErrSecretSize) {
				t.Errorf("%s of %d bytes: %v", name, n, err)
			}
		}
		if s != (Secret{}) {
			t.Error("something was derived")
		}
	}
}

func TestRefusals(t *testing.T) {
	root, d := testRoot(), testDomain(t)
	other, err := envelope.NewDomainInfo("agentenvelope", "support-ops", "other")
	if err != nil {
		t.Fatal(err)
	}
	var s Secret
	if _, err := Capability(&s, root, other, testEnvelope(t, d)); err == nil {
		t.Error("an envelope of another domain")
	}
	if err := RemoteMintSeed(&s, root, envelope.VerifiedMint{}); err == nil {
		t.Error("a request that was not verified")
	}
	for _, h := range []string{"", "0x", strings.ToUpper(d.Hash()), d.Hash() + `","x":"`, d.Hash()[2:]} {
		if err := MintMaterial(&s, root, h); err == nil {
			t.Errorf("domain hash %q", h)
		}
	}
	for _, id := range []string{"", "00112233445566778899AABBCCDDEEFF", "00112233445566778899aabbccddeef", `00112233445566778899aabbccddee",`} {
		if err := LogSeed(&s, root, id); err == nil {
			t.Errorf("instance %q", id)
		}
	}
	if s != (Secret{}) {
		t.Error("something was derived")
	}
}

// TestNothingOfTheCallerIsTouched holds the promise that only the caller wipes
// the caller's secrets, and that they are not changed either.
func TestNothingOfTheCallerIsTouched(t *testing.T) {
	d := testDomain(t)
	// A seed above the group's order takes the retry path.
	for _, seed := range [][]byte{testRoot(), bytes.Repeat([]byte{0xff}, Size), make([]byte, Size)} {
		before := bytes.Clone(seed)
		var s Secret
		if err := DomainSeed(&s, seed, d); err != nil {
			t.Fatal(err)
		}
		if _, err := Address(seed); err != nil {
			t.Fatal(err)
		}
		if _, err := SignDigest(seed, [32]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := PublicKey(seed); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(seed, before) {
			t.Errorf("seed %x was changed", before[:2])
		}
	}
}

// TestEveryInputChangesTheKey varies each input of each path; no two outputs
// may be equal.
func TestEveryInputChangesTheKey(t *testing.T) {
	seen := map[Secret]string{}
	add := func(name string, f func(*Secret) error) {
		t.Helper()
		var s Secret
		if err := f(&s); err != nil {
			t.Fatal(name, err)
		}
		if before, there := seen[s]; there {
			t.Errorf("%s and %s are the same key", name, before)
		}
		seen[s] = name
	}
	roots := [][]byte{testRoot(), bytes.Repeat([]byte{9}, Size)}
	base := envelope.ActionFields{AgentID: "a", Operation: "o", Resources: []string{"r:1"}, Mode: envelope.ModeNone}
	vary := map[string]func(*envelope.ActionFields){
		"as is":     func(*envelope.ActionFields) {},
		"agent":     func(f *envelope.ActionFields) { f.AgentID = "b" },
		"index":     func(f *envelope.ActionFields) { f.ActionIndex = 1 },
		"operation": func(f *envelope.ActionFields) { f.Operation = "p" },
		"resources": func(f *envelope.ActionFields) { f.Resources = []string{"r:1", "r:2"} },
		"start":     func(f *envelope.ActionFields) { f.Window.NotBefore = envelope.Some(0) },
		"end":       func(f *envelope.ActionFields) { f.Window.NotAfter = envelope.Some(1) },
		"mode": func(f *envelope.ActionFields) {
			f.Mode, f.MaxUses = envelope.ModeAction, envelope.Some(1)
		},
		"uses": func(f *envelope.ActionFields) { f.MaxUses = envelope.Some(1) },
	}
	for i, root := range roots {
		for _, kind := range []string{"k1", "k2"} {
			d, err := envelope.NewDomainInfo("n", "d", kind)
			if err != nil {
				t.Fatal(err)
			}
			where := fmt.Sprint(i, kind)
			add("domain "+where, func(s *Secret) error { return DomainSeed(s, root, d) })
			add("material "+where, func(s *Secret) error { return MintMaterial(s, root, d.Hash()) })
			for name, f := range vary {
				fields := base
				f(&fields)
				e, err := envelope.NewActionEnvelope(d, fields)
				if err != nil {
					t.Fatal(name, err)
				}
				add("action "+where+name, func(s *Secret) error { _, err := Capability(s, root, d, e); return err })
			}
		}
		for _, n := range []uint32{0, 1, 1<<32 - 1} {
			add(fmt.Sprint("owner ", i, n), func(s *Secret) error { return OwnerSeed(s, root, n) })
		}
		for _, id := range []string{strings.Repeat("0", 32), strings.Repeat("1", 32)} {
			add(fmt.Sprint("log ", i, id), func(s *Secret) error { return LogSeed(s, root, id) })
		}
		add(fmt.Sprint("store ", i), func(s *Secret) error { return StoreKey(s, root) })
	}
}

// TestMintedRecord takes a mint from request to a record that verifies.
func TestMintedRecord(t *testing.T) {
	root, d := testRoot(), testDomain(t)
	m := verifiedMint(t, root, d)
	e, err := m.ActionEnvelope(d)
	if err != nil {
		t.Fatal(err)
	}
	f := e.Fields()
	if f.Mode != envelope.ModeBoth || f.MaxUses != envelope.Some(1) || f.Resources[0] != "thread:1" || e.MatchDomain(d) != nil {
		t.Errorf("fields %+v", f)
	}
	var material, seed Secret
	if err := MintMaterial(&material, root, d.Hash()); err != nil {
		t.Fatal(err)
	}
	if err := RemoteMintSeed(&seed, material[:], m); err != nil {
		t.Fatal(err)
	}
	record, payload, sig := signedRecord(t, root, d, e, seed[:], envelope.CustodyRemoteMint)
	r := envelope.VerifyRecord(record, payload, sig, envelope.RecordOptions{Now: 1_500})
	if !r.Valid || !strings.Contains(strings.Join(r.Warnings, " "), "issuer-asserted") {
		t.Errorf("%+v", r)
	}
	other, err := envelope.NewDomainInfo("n", "d", "k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.ActionEnvelope(other); err == nil {
		t.Error("a record for another domain")
	}
}

func signedRecord(t testing.TB, root []byte, d *envelope.DomainInfo, e *envelope.ActionEnvelope, seed []byte, custody string) (record, payload []byte, sig string) {
	p, err := Project(root, d, "2026-01-01T00:00:00.000Z")
	if err != nil {
		t.Fatal(err)
	}
	address, err := Address(seed)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := envelope.NewRecord(envelope.RecordInput{
		OwnerUserID: "user-1", CustodyMode: custody, CreatedAt: "2026-01-01T00:00:00.000Z",
		AgentAddress: address, Domain: p, Envelope: e,
	})
	if err != nil {
		t.Fatal(err)
	}
	payload = []byte(`{"action":"send-message","bodyHash":"0xabc123","threadId":"customer-123"}`)
	parsed, err := envelope.ParsePayload(payload)
	if err != nil {
		t.Fatal(err)
	}
	if sig, err = SignDigest(seed, parsed.Digest()); err != nil {
		t.Fatal(err)
	}
	return rec.Canonical(), payload, sig
}

// againstSDK reports how many times the rate of the published JavaScript SDK (1.4.5, Node 20, a machine of two
// processors) this is; other programs of the machine count.
func againstSDK(b *testing.B, rate float64) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/rate, "×SDK")
}

func BenchmarkCapability(b *testing.B) {
	root, d := testRoot(), testDomain(b)
	e := testEnvelope(b, d)
	var s Secret
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Capability(&s, root, d, e); err != nil {
			b.Fatal(err)
		}
	}
	againstSDK(b, 2340)
}

func BenchmarkSignDigest(b *testing.B) {
	seed := testRoot()
	for b.Loop() {
		if _, err := SignDigest(seed, [32]byte{1}); err != nil {
			b.Fatal(err)
		}
	}
	againstSDK(b, 4000)
}

func BenchmarkVerifyRecord(b *testing.B) {
	root, d := testRoot(), testDomain(b)
	e := testEnvelope(b, d)
	var s Secret
	if _, err := Capability(&s, root, d, e); err != nil {
		b.Fatal(err)
	}
	record, payload, sig := signedRecord(b, root, d, e, s[:], envelope.CustodyExternal)
	b.ReportAllocs()
	for b.Loop() {
		if r := envelope.VerifyRecord(record, payload, sig, envelope.RecordOptions{Now: 1_000}); !r.Valid {
			b.Fatal(r.Reason)
		}
	}
	againstSDK(b, 780)
}

// BenchmarkVerifyMintRequest verifies a request and its delegate, as the SDK does, and a request under a delegate that was
// verified before, as desk and key process do. The library's recovery of a key from a signature is nearly all of it
// (BenchmarkCurve).
func BenchmarkVerifyMintRequest(b *testing.B) {
	del, req, pins := mintPair(b, testRoot(), testDomain(b))
	b.Run("with its delegate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r, _ := envelope.VerifyMintRequest(req, del, pins, 1_500); !r.Valid {
				b.Fatal(r.Reason)
			}
		}
		againstSDK(b, 400)
	})
	b.Run("delegate known", func(b *testing.B) {
		known, r := envelope.NewPinnedDelegate(del, pins)
		if known == nil {
			b.Fatal(r.Reason)
		}
		b.ReportAllocs()
		for b.Loop() {
			if r, _ := known.VerifyRequest(req, 1_500); !r.Valid {
				b.Fatal(r.Reason)
			}
		}
		againstSDK(b, 400)
	})
}

func BenchmarkMint(b *testing.B) {
	root := testRoot()
	m := verifiedMint(b, root, testDomain(b))
	var s Secret
	for b.Loop() {
		if err := RemoteMintSeed(&s, root, m); err != nil {
			b.Fatal(err)
		}
		if _, err := Address(s[:]); err != nil {
			b.Fatal(err)
		}
	}
	againstSDK(b, 4570)
}
