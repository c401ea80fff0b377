package confirm

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"vault/derive/envelope"
	"vault/derive/tag"
)

const (
	vaultID  = "00112233445566778899aabbccddeeff"
	instance = "ffeeddccbbaa99887766554433221100"
	rpID     = "vault-00112233.localhost"
	origin   = "http://vault-00112233.localhost:38611"
	at       = int64(1_760_000_042_000)
)

// authenticator is a software passkey.
type authenticator struct {
	key  *Key
	sign func(message []byte) []byte
}

func digest(message []byte) []byte {
	sum := sha256.Sum256(message)
	return sum[:]
}

func es256(t testing.TB, curve elliptic.Curve) (cose []byte, sign func([]byte) []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(curve, rand.Reader)
	must(t, err)
	point, err := private.PublicKey.Bytes()
	must(t, err)
	n := (len(point) - 1) / 2
	crv := map[int]byte{32: 1, 48: 2}[n]
	cose = slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, crv, 0x21, 0x58, byte(n)}, point[1:1+n], []byte{0x22, 0x58, byte(n)}, point[1+n:])
	return cose, func(message []byte) []byte {
		sig, err := ecdsa.SignASN1(rand.Reader, private, digest(message))
		must(t, err)
		return sig
	}
}

func eddsa(t testing.TB) (cose []byte, sign func([]byte) []byte) {
	t.Helper()
	pub, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	return slices.Concat(eddsaHead, pub), func(message []byte) []byte { return ed25519.Sign(private, message) }
}

func coseRSA(n, e []byte) []byte {
	return slices.Concat(rs256Head, binary.BigEndian.AppendUint16(nil, uint16(len(n))), n, []byte{0x21, 0x40 | byte(len(e))}, e)
}

func rs256(t testing.TB) (cose []byte, sign func([]byte) []byte) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return coseRSA(private.N.Bytes(), []byte{1, 0, 1}), func(message []byte) []byte {
		sig, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, digest(message))
		must(t, err)
		return sig
	}
}

func newAuthenticator(t testing.TB, cose []byte, sign func([]byte) []byte) authenticator {
	t.Helper()
	key, err := ParseKey(cose)
	must(t, err)
	return authenticator{key, sign}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fields are those of a valid context that ends after at.
func fields() Fields {
	return Fields{
		Kind: PasskeyAdd, Digest: strings.Repeat("ab", 32), Says: []string{"Add a passkey."}, Origin: origin, RPID: rpID,
		IssuedAt: at - 42_000, ExpiresAt: at + 48_000, Nonce: [32]byte{1, 2, 3}, RequestID: "req_1",
	}
}

// answer is what an authenticator does with a context, after an edit of what it
// signs.
type answer struct {
	rp     string
	flags  byte
	count  uint32
	rest   []byte
	client map[string]any
}

func (a authenticator) record(t testing.TB, f Fields, edit func(*answer)) *Record {
	t.Helper()
	c, err := NewContext(f)
	must(t, err)
	ans := answer{rp: f.RPID, flags: flagUP | flagUV, count: 1, client: map[string]any{
		"type": "webauthn.get", "challenge": c.ChallengeText(), "origin": f.Origin, "crossOrigin": false,
	}}
	if edit != nil {
		edit(&ans)
	}
	ad := append(binary.BigEndian.AppendUint32(append(digest([]byte(ans.rp)), ans.flags), ans.count), ans.rest...)
	cd, err := json.Marshal(ans.client)
	must(t, err)
	r, err := NewRecord(c, ad, cd, a.sign(append(bytes.Clone(ad), digest(cd)...)))
	must(t, err)
	return r
}

func TestAlgorithms(t *testing.T) {
	for alg, make := range map[Alg]func(testing.TB) ([]byte, func([]byte) []byte){
		ES256: func(t testing.TB) ([]byte, func([]byte) []byte) { return es256(t, elliptic.P256()) },
		EdDSA: eddsa, RS256: rs256,
	} {
		t.Run(alg.String(), func(t *testing.T) {
			cose, sign := make(t)
			a := newAuthenticator(t, cose, sign)
			if a.key.Alg() != alg || !bytes.Equal(a.key.COSE(), cose) {
				t.Fatalf("read as %s", a.key.Alg())
			}
			cose, sign = make(t)
			other := newAuthenticator(t, cose, sign)
			r := a.record(t, fields(), nil)
			pins := Pins{a.key, rpID, []string{"http://elsewhere:1", origin}}
			if got := r.Verify(pins, at); !got.Valid || got.Reason != "" || got.Pinned {
				t.Fatalf("%+v", got)
			}
			pins.Key = other.key
			got := r.Verify(pins, at)
			if c, _ := got.Check("signature"); got.Valid || c.OK {
				t.Errorf("verifies with another key: %+v", got)
			}
		})
	}
}

// TestOneFault makes records in which one thing is wrong and everything is signed
// as it stands: exactly the check for it must fail.
func TestOneFault(t *testing.T) {
	cose, sign := es256(t, elliptic.P256())
	a := newAuthenticator(t, cose, sign)
	for _, tt := range []struct {
		name   string
		fields func(*Fields)
		edit   func(*answer)
		pins   func(*Pins)
		at     int64
		fails  []string
	}{
		{name: "nothing"},
		{name: "first instant", at: at - 42_000},
		{name: "before the first instant", at: at - 42_001, fails: []string{"issued"}},
		{name: "last millisecond", at: at + 47_999},
		{name: "end", at: at + 48_000, fails: []string{"notExpired"}},
		{name: "not verified", edit: func(a *answer) { a.flags = flagUP }, fails: []string{"userVerified"}},
		{name: "not present", edit: func(a *answer) { a.flags = flagUV }, fails: []string{"userPresent"}},
		{name: "backed up, not eligible", edit: func(a *answer) { a.flags |= flagBS }, fails: []string{"backupFlags"}},
		{name: "backed up", edit: func(a *answer) { a.flags |= flagBS | flagBE }},
		{name: "extension", edit: func(a *answer) { a.flags |= flagED; a.rest = []byte{0xa0} }},
		{name: "extension without a flag", edit: func(a *answer) { a.rest = []byte{0xa0} },
			fails: []string{"authenticatorDataWellFormed", "rpIdHash", "userPresent", "userVerified"}},
		{name: "flag without an extension", edit: func(a *answer) { a.flags |= flagED },
			fails: []string{"authenticatorDataWellFormed", "rpIdHash", "userPresent", "userVerified"}},
		{name: "other rp id answers", edit: func(a *answer) { a.rp = "localhost" }, fails: []string{"rpIdHash"}},
		{name: "other rp id pinned", pins: func(p *Pins) { p.RPID = "localhost" }, fails: []string{"rpIdHash", "rpIdOfContext"}},
		{name: "registration", edit: func(a *answer) { a.client["type"] = "webauthn.create" }, fails: []string{"clientDataType"}},
		{name: "type is a list", edit: func(a *answer) { a.client["type"] = []string{"webauthn.get"} }, fails: []string{"clientDataType"}},
		{name: "other challenge", edit: func(a *answer) { a.client["challenge"] = tobase64(digest(nil)) }, fails: []string{"challengeIsContext"}},
		{name: "no challenge", edit: func(a *answer) { delete(a.client, "challenge") }, fails: []string{"challengeIsContext"}},
		{name: "other page answers", edit: func(a *answer) { a.client["origin"] = "http://" + rpID + ":2" }, fails: []string{"originOfContext", "originPinned"}},
		{name: "other page pinned", pins: func(p *Pins) { p.Origins = []string{origin + "0", "", "http://" + rpID} }, fails: []string{"originPinned"}},
		{name: "other page in the context", fields: func(f *Fields) { f.Origin = "http://" + rpID + ":2" }, edit: func(a *answer) { a.client["origin"] = origin }, fails: []string{"originOfContext"}},
		{name: "framed", edit: func(a *answer) { a.client["crossOrigin"] = true }, fails: []string{"sameOrigin"}},
		{name: "crossOrigin null", edit: func(a *answer) { a.client["crossOrigin"] = nil }, fails: []string{"sameOrigin"}},
		{name: "crossOrigin a text", edit: func(a *answer) { a.client["crossOrigin"] = "false" }, fails: []string{"sameOrigin"}},
		{name: "crossOrigin absent", edit: func(a *answer) { delete(a.client, "crossOrigin") }},
		{name: "a member more", edit: func(a *answer) { a.client["x"] = map[string]any{"y": 1.5} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, pins, when := fields(), Pins{a.key, rpID, []string{origin}}, at
			if tt.fields != nil {
				tt.fields(&f)
			}
			if tt.pins != nil {
				tt.pins(&pins)
			}
			if tt.at != 0 {
				when = tt.at
			}
			got := a.record(t, f, tt.edit).Verify(pins, when)
			var failed []string
			for _, c := range got.Checks {
				if !c.OK {
					failed = append(failed, c.Name)
				}
			}
			if !slices.Equal(failed, tt.fails) || got.Valid != (len(tt.fails) == 0) {
				t.Errorf("failed %v, want %v", failed, tt.fails)
			}
		})
	}
}

func TestContextIsRefused(t *testing.T) {
	for name, edit := range map[string]func(*Fields){
		"unknown kind":              func(f *Fields) { f.Kind = "passkey.forge" },
		"no kind":                   func(f *Fields) { f.Kind = "" },
		"document not asked for":    func(f *Fields) { f.Document = &Document{"sow_1", 1} },
		"role not asked for":        func(f *Fields) { f.Role = "client" },
		"binding not asked for":     func(f *Fields) { f.Binding = &Binding{EnvelopeDigest: "sha256:" + f.Digest, Resolution: "declined"} },
		"document missing":          func(f *Fields) { f.Kind, f.Role = SoWAmend, "client" },
		"role missing":              func(f *Fields) { f.Kind, f.Document = SoWAmend, &Document{"sow_1", 2} },
		"other role":                func(f *Fields) { f.Kind, f.Document, f.Role = SoWAmend, &Document{"sow_1", 2}, "arbiter" },
		"version 0":                 func(f *Fields) { f.Kind, f.Document, f.Role = SoWAmend, &Document{"sow_1", 0}, "client" },
		"document without id":       func(f *Fields) { f.Kind, f.Document, f.Role = SoWAmend, &Document{"", 2}, "client" },
		"binding missing":           func(f *Fields) { f.Kind = MomentResolution },
		"binding of no resolution":  binding(Binding{Resolution: "maybe"}),
		"option without action":     binding(Binding{Resolution: "option", Option: 1}),
		"option 5":                  binding(Binding{Resolution: "option", Option: 4, ActionDigest: "sha256:" + strings.Repeat("ab", 32)}),
		"answer with action":        binding(Binding{Resolution: "answer", ActionDigest: "sha256:" + strings.Repeat("ab", 32)}),
		"digest in capitals":        func(f *Fields) { f.Digest = strings.ToUpper(f.Digest) },
		"short digest":              func(f *Fields) { f.Digest = f.Digest[2:] },
		"says nothing":              func(f *Fields) { f.Says = nil },
		"empty line":                func(f *Fields) { f.Says = []string{""} },
		"two lines in one":          func(f *Fields) { f.Says = []string{"a\nb"} },
		"not text":                  func(f *Fields) { f.Says = []string{"\xff"} },
		"long line":                 func(f *Fields) { f.Says = []string{strings.Repeat("a", MaxLine+1)} },
		"too many lines":            func(f *Fields) { f.Says = slices.Repeat([]string{"a"}, MaxLines+1) },
		"more than a context holds": func(f *Fields) { f.Says = slices.Repeat([]string{strings.Repeat("a", MaxLine)}, 17) },
		"origin with a path":        func(f *Fields) { f.Origin += "/" },
		"origin without a port":     func(f *Fields) { f.Origin = "http://" + rpID },
		"origin of another host":    func(f *Fields) { f.Origin = "http://localhost:38611" },
		"origin below":              func(f *Fields) { f.Origin = "http://a." + rpID + ":1" },
		"origin over tls":           func(f *Fields) { f.Origin = "https://" + rpID + ":1" },
		"port 65536":                func(f *Fields) { f.Origin = "http://" + rpID + ":65536" },
		"port 0":                    func(f *Fields) { f.Origin = "http://" + rpID + ":0" },
		"rp id in capitals":         func(f *Fields) { f.RPID = "LOCALHOST"; f.Origin = "http://LOCALHOST:1" },
		"no rp id":                  func(f *Fields) { f.RPID = ""; f.Origin = "http://:1" },
		"half a second":             func(f *Fields) { f.IssuedAt += 500 },
		"half a second, end":        func(f *Fields) { f.ExpiresAt += 500 },
		"over at once":              func(f *Fields) { f.ExpiresAt = f.IssuedAt },
		"over before":               func(f *Fields) { f.ExpiresAt = f.IssuedAt - 1000 },
		"121 seconds":               func(f *Fields) { f.ExpiresAt = f.IssuedAt + MaxLifetime + 1000 },
		"year 10000":                func(f *Fields) { f.IssuedAt = 253402300800000; f.ExpiresAt = f.IssuedAt + 1000 },
		"before the epoch":          func(f *Fields) { f.IssuedAt = -1000; f.ExpiresAt = 1000 },
		"no request":                func(f *Fields) { f.RequestID = "" },
		"request with a space":      func(f *Fields) { f.RequestID = "a b" },
	} {
		t.Run(name, func(t *testing.T) {
			f := fields()
			edit(&f)
			if c, err := NewContext(f); err == nil {
				t.Errorf("built %s", c.Canonical())
			} else if !strings.HasPrefix(err.Error(), "build confirmation context: ") {
				t.Error(err)
			}
		})
	}
}

func binding(b Binding) func(*Fields) {
	return func(f *Fields) {
		f.Kind, f.Binding = MomentResolution, &b
		b.EnvelopeDigest = "sha256:" + f.Digest
	}
}

func TestContextText(t *testing.T) {
	c, err := NewContext(fields())
	must(t, err)
	text := string(c.Canonical())
	for name, edit := range map[string][2]string{
		"offset":            {`:50Z","issued`, `:50+00:00","issued`},
		"fraction":          {`:50Z","issued`, `:50.0Z","issued`},
		"nonce padded":      {`AAA","origin`, `AAA=","origin`},
		"nonce, unused bit": {`AAA","origin`, `AAB","origin`},
		"nonce shorter":     {`AAA","origin`, `A","origin`},
		"nonce longer":      {`AAA","origin`, `AAAAA","origin`},
		"null document":     {`"expires_at"`, `"document":null,"expires_at"`},
		"sha-1":             {`"sha256"`, `"sha1"`},
		"a member twice":    {`"kind"`, `"kind":"passkey.add","kind"`},
		"trailing":          {`]}`, `]}{}`},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(text, edit[0], edit[1], 1)
			if edited == text {
				t.Fatalf("no %s in %s", edit[0], text)
			}
			if _, err := ParseContext([]byte(edited)); err == nil {
				t.Errorf("accepted %s", edited)
			}
		})
	}
	spelled := " " + strings.Replace(text, `"kind"`, "\n\"\\u006bind\"", 1)
	again, err := ParseContext([]byte(spelled))
	if err != nil || again.Challenge() != c.Challenge() {
		t.Errorf("another spelling: %v", err)
	}
	f := again.Fields()
	f.Says[0] = "Something else."
	if again.Fields().Says[0] != "Add a passkey." {
		t.Error("a context can be changed")
	}
}

func TestKinds(t *testing.T) {
	// What may be done by a click is the owner's choice for these alone.
	byPolicy := []Kind{MomentResolution, ActionSign, RequestDecline}
	seen := map[Kind]bool{}
	for _, r := range Kinds() {
		t.Run(string(r.Kind), func(t *testing.T) {
			if seen[r.Kind] || r.Over == "" || r.ByPolicy != slices.Contains(byPolicy, r.Kind) {
				t.Errorf("%+v", r)
			}
			seen[r.Kind] = true
			f := fields()
			f.Kind = r.Kind
			if r.Document {
				f.Document, f.Role = &Document{"sow_1", 1}, "provider"
			}
			if r.Binding {
				f.Binding = &Binding{EnvelopeDigest: "sha256:" + f.Digest, Resolution: "question"}
			}
			c, err := NewContext(f)
			must(t, err)
			if got, ok := c.Fields().Kind.Rule(); !ok || got != r {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	own := "sha256:" + strings.Repeat("ab", 32)
	for _, tt := range []struct {
		name, act string
		b         Binding
		ok        bool
	}{
		{"option", `{"binding_moment_resolution":{"envelope_digest":"` + own + `","option_idx":2,"resolution":"option"}}`, Binding{own, "option", 2, own}, true},
		{"another option", `{"binding_moment_resolution":{"envelope_digest":"` + own + `","option_idx":1,"resolution":"option"}}`, Binding{own, "option", 2, own}, false},
		{"option without index", `{"binding_moment_resolution":{"envelope_digest":"` + own + `","resolution":"option"}}`, Binding{own, "option", 0, own}, false},
		{"declined", `{"binding_moment_resolution":{"envelope_digest":"` + own + `","resolution":"declined"}}`, Binding{own, "declined", 0, ""}, true},
		{"declined with an index", `{"binding_moment_resolution":{"envelope_digest":"` + own + `","option_idx":0,"resolution":"declined"}}`, Binding{own, "declined", 0, ""}, false},
		{"question for declined", `{"binding_moment_resolution":{"envelope_digest":"` + own + `","resolution":"question"}}`, Binding{own, "declined", 0, ""}, false},
		{"another moment", `{"binding_moment_resolution":{"envelope_digest":"sha256:00","resolution":"declined"}}`, Binding{own, "declined", 0, ""}, false},
		{"not json", `{`, Binding{own, "declined", 0, ""}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := fields()
			f.Kind, f.Binding, f.Digest = MomentResolution, &tt.b, hex.EncodeToString(digest([]byte(tt.act)))
			c, err := NewContext(f)
			must(t, err)
			if err := c.Covers([]byte(tt.act)); (err == nil) != tt.ok {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestKeyIsRefused(t *testing.T) {
	p256, _ := es256(t, elliptic.P256())
	p384, _ := es256(t, elliptic.P384())
	ed, _ := eddsa(t)
	rs, _ := rs256(t)
	n := bytes.Clone(rs[len(rs256Head)+2 : len(rs)-len(rs256Tail)])
	with := func(b []byte, at int, to byte) []byte {
		b = bytes.Clone(b)
		b[at] = to
		return b
	}
	edwards := func(hexText string) []byte {
		b, err := hex.DecodeString(hexText)
		must(t, err)
		return slices.Concat(eddsaHead, b)
	}
	even := with(n, len(n)-1, n[len(n)-1]&^1)
	for name, cose := range map[string][]byte{
		"nothing":                    {},
		"no members":                 {0xa0},
		"P-384 for ES256":            p384,
		"cut short":                  p256[:76],
		"a byte more":                append(bytes.Clone(p256), 0),
		"off the curve":              with(p256, 76, p256[76]^1),
		"ES384":                      with(p256, 4, 0x38),
		"ES256K curve":               with(p256, 6, 8),
		"y as a sign bit":            append(bytes.Clone(p256[:42]), 0x22, 0xf5),
		"other order":                slices.Concat([]byte{0xa5, 3, 0x26, 1, 2}, p256[5:]),
		"long integers":              slices.Concat([]byte{0xa5, 1, 0x18, 2}, p256[3:]),
		"endless map":                append(slices.Concat([]byte{0xbf}, p256[1:]), 0xff),
		"Ed448":                      with(ed, 6, 7),
		"EdDSA, a byte more":         append(bytes.Clone(ed), 0),
		"EdDSA, p+1 for 1":           edwards("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		"EdDSA, identity":            edwards("0100000000000000000000000000000000000000000000000000000000000000"),
		"EdDSA, identity, signed":    edwards("0100000000000000000000000000000000000000000000000000000000000080"),
		"EdDSA, order 2":             edwards("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		"EdDSA, order 4":             edwards("0000000000000000000000000000000000000000000000000000000000000000"),
		"EdDSA, order 8":             edwards("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
		"EdDSA, other order 8":       edwards("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"),
		"EdDSA, off the curve":       edwards("0200000000000000000000000000000000000000000000000000000000000000"),
		"RS256, 1024 bits":           coseRSA(n[:128], []byte{1, 0, 1}),
		"RS256, 2047 bits":           coseRSA(with(n, 0, 0x7f), []byte{1, 0, 1}),
		"RS256, zero before":         coseRSA(append([]byte{0}, n...), []byte{1, 0, 1}),
		"RS256, even":                coseRSA(even, []byte{1, 0, 1}),
		"RS256, exponent 3":          coseRSA(n, []byte{3}),
		"RS256, exponent 65539":      coseRSA(n, []byte{1, 0, 3}),
		"RS256, over 4096 bits":      coseRSA(bytes.Repeat(n, 3), []byte{1, 0, 1}),
		"RS256, a byte more":         append(bytes.Clone(rs), 0),
		"RS256, cut after the head":  rs[:len(rs256Head)],
		"RS256, cut after one byte":  rs[:len(rs256Head)+1],
		"RS256, length over the end": with(rs, len(rs256Head), 2),
	} {
		t.Run(name, func(t *testing.T) {
			if k, err := ParseKey(cose); err == nil {
				t.Errorf("read as %s", k.Alg())
			}
		})
	}
}

// TestSmallOrder shows why such keys are refused: with one, a signature that
// nobody made is accepted for one message in eight.
func TestSmallOrder(t *testing.T) {
	b, err := hex.DecodeString("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
	must(t, err)
	forged := append([]byte{1}, make([]byte, 63)...) // R is the identity, S is 0
	n := 0
	for i := range 256 {
		if ed25519.Verify(b, []byte{byte(i)}, forged) {
			n++
		}
	}
	if n == 0 {
		t.Error("not a point of small order")
	}
}

// TestDigits pins the digits, which a page computes by itself.
func TestDigits(t *testing.T) {
	s := vectorSets(t)[0]
	for name, want := range map[string]string{"desk": "293631", "phone": "467842", "laptop": "508024"} {
		t.Run(name, func(t *testing.T) {
			cose, _ := unbase64(s.Keys[name].COSE)
			k, err := ParseKey(cose)
			must(t, err)
			if got := k.Digits(); got != want {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestCounter(t *testing.T) {
	for _, tt := range []struct {
		last, now uint32
		ok        bool
	}{
		{0, 0, true}, {0, 1, true}, {1, 2, true}, {7, 1 << 31, true}, {1 << 31, 1<<32 - 1, true},
		{1, 1, false}, {2, 1, false}, {1, 0, false}, {1<<32 - 1, 0, false}, {1<<32 - 1, 1<<32 - 1, false},
	} {
		if err := CheckCounter(tt.last, tt.now); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrCounterBack) {
			t.Errorf("%d after %d: %v", tt.now, tt.last, err)
		}
	}
}

func TestBackup(t *testing.T) {
	for _, tt := range []struct {
		enrolled, be, bs bool
		want             error
	}{
		{false, false, false, nil}, {true, true, false, nil}, {true, true, true, nil},
		{true, false, false, ErrBackupChanged}, {false, true, false, ErrBackupChanged}, {false, true, true, ErrBackupChanged},
		{false, false, true, ErrBackupState}, {true, false, true, ErrBackupState},
	} {
		if err := CheckBackup(tt.enrolled, AuthData{BackupEligible: tt.be, BackedUp: tt.bs}); err != tt.want {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// signer is an Ed25519 key with its text.
type signer struct {
	private ed25519.PrivateKey
	text    string
}

func newSigner(t testing.TB, seed byte) signer {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
	text, err := envelope.EncodeOwnerKey(private.Public().(ed25519.PublicKey))
	must(t, err)
	return signer{private, text}
}

func (s signer) sign(message []byte) []byte { return ed25519.Sign(s.private, message) }

// world is an owner with a passkey, a card and a confirmation.
type world struct {
	owner, log signer
	passkey    authenticator
	record     *Record
	statement  Statement
	card       CardFields
}

func newWorld(t testing.TB) world {
	t.Helper()
	cose, sign := es256(t, elliptic.P256())
	w := world{owner: newSigner(t, 1), log: newSigner(t, 2), passkey: newAuthenticator(t, cose, sign)}
	w.record = w.passkey.record(t, fields(), nil)
	w.statement = Statement{
		Vault: vaultID, Instance: instance, RecordDigest: w.record.Digest(), Seq: 9, Head: "0x" + strings.Repeat("cd", 32),
		At: at, Passkey: w.passkey.key, LogKey: w.log.text,
	}
	w.card = CardFields{
		Vault: vaultID, IssuedAt: at + 1, Seats: []CardSeat{{0, w.owner.text}, {1, newSigner(t, 3).text}},
		Domains:  []CardDomain{{"0x" + strings.Repeat("01", 32), "0x" + strings.Repeat("02", 20)}, {"0x" + strings.Repeat("03", 32), "0x" + strings.Repeat("04", 20)}},
		LogKeys:  []CardLogKey{{vaultID, newSigner(t, 4).text}, {instance, w.log.text}},
		Passkeys: []CardPasskey{{Key: w.passkey.key, Kind: SecurityKey, RPID: rpID, Added: at - 1000}},
	}
	return w
}

func (w world) evidence(t testing.TB) *Evidence {
	t.Helper()
	message, err := w.statement.SigningBytes()
	must(t, err)
	e, err := NewEvidence(w.record, w.statement, w.log.sign(message))
	must(t, err)
	return e
}

func (w world) signedCard(t testing.TB) *OwnerCard {
	t.Helper()
	c, err := NewOwnerCard(w.card)
	must(t, err)
	signed, err := c.Signed(w.owner.sign(c.SigningBytes()))
	must(t, err)
	return signed
}

func failedChecks(r Report) (names []string) {
	for _, c := range r.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestEvidence(t *testing.T) {
	other := newSigner(t, 9)
	for _, tt := range []struct {
		name   string
		edit   func(*world)
		pins   func(world, *EvidencePins)
		fails  []string
		pinned bool
	}{
		{name: "pinned", pinned: true},
		{name: "nothing is pinned", pins: func(_ world, p *EvidencePins) { *p = EvidencePins{} }},
		{name: "log key not pinned", pins: func(_ world, p *EvidencePins) { p.LogKey = "" }},
		{name: "passkey not pinned", pins: func(_ world, p *EvidencePins) { p.Passkey = nil }},
		{name: "origin pinned", pins: func(_ world, p *EvidencePins) { p.Origins = []string{origin} }, pinned: true},
		{name: "other origin pinned", pins: func(_ world, p *EvidencePins) { p.Origins = []string{origin + "1"} }, fails: []string{"originPinned"}},
		{name: "other rp id pinned", pins: func(_ world, p *EvidencePins) { p.RPID = "localhost" }, fails: []string{"originPinned", "rpIdHash", "rpIdOfContext"}},
		{name: "other vault pinned", pins: func(_ world, p *EvidencePins) { p.Vault = instance }, fails: []string{"vaultPin"}},
		{name: "other log key pinned", pins: func(_ world, p *EvidencePins) { p.LogKey = other.text }, fails: []string{"logKeyPin"}},
		{name: "other passkey pinned", pins: func(_ world, p *EvidencePins) {
			cose, _ := eddsa(t)
			p.Passkey, _ = ParseKey(cose)
		}, fails: []string{"passkeyPin"}},
		{name: "log key speaks of another record", edit: func(w *world) { w.statement.RecordDigest = hash([32]byte{1}) }, fails: []string{"logOfRecord"}},
		{name: "log key speaks of another passkey", edit: func(w *world) {
			cose, _ := eddsa(t)
			w.statement.Passkey, _ = ParseKey(cose)
		}, fails: []string{"signature", "passkeyPin"}},
		{name: "logged too late", edit: func(w *world) { w.statement.At = at + 48_000 }, fails: []string{"notExpired"}},
		{name: "signed by another", edit: func(w *world) { w.log.private = other.private }, fails: []string{"logSignature"}},
		{name: "another log key signs and says so", edit: func(w *world) { w.log, w.statement.LogKey = other, other.text }, fails: []string{"logKeyPin"}},
		{name: "another page", edit: func(w *world) {
			w.record = w.passkey.record(t, fields(), func(a *answer) { a.client["origin"] = "http://localhost:1" })
			w.statement.RecordDigest = w.record.Digest()
		}, fails: []string{"originOfContext", "originPinned"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			pins := EvidencePins{Passkey: w.passkey.key, LogKey: w.log.text, Vault: vaultID, RPID: rpID}
			if tt.edit != nil {
				tt.edit(&w)
			}
			if tt.pins != nil {
				tt.pins(w, &pins)
			}
			got := w.evidence(t).Verify(pins)
			if failed := failedChecks(got); !slices.Equal(failed, tt.fails) || got.Valid != (len(tt.fails) == 0) || got.Pinned != tt.pinned {
				t.Errorf("failed %v, want %v; %+v", failed, tt.fails, got)
			}
		})
	}
}

// TestSignatureWrittenAnew turns s of a valid signature into n - s: the record
// still verifies, and is not the one that the log key speaks of.
func TestSignatureWrittenAnew(t *testing.T) {
	s := vectorSets(t)[0]
	var low, high *Record
	var pins Pins
	for _, v := range s.Vectors {
		switch v.ID {
		case "a01_sow_countersign":
			low, _ = ParseRecord(v.raw())
			pins, _ = s.pins(t, v)
		case "a15_high_s":
			high, _ = ParseRecord(v.raw())
		}
	}
	if low == nil || high == nil || low.Context().Challenge() != high.Context().Challenge() || low.Digest() == high.Digest() {
		t.Fatal("the vectors are not what they were")
	}
	w := newWorld(t)
	w.record = high
	w.statement.Passkey, w.statement.RecordDigest, w.statement.At = pins.Key, low.Digest(), low.context.fields.IssuedAt
	got := w.evidence(t).Verify(EvidencePins{Passkey: pins.Key, LogKey: w.log.text})
	if failed := failedChecks(got); !slices.Equal(failed, []string{"logOfRecord"}) {
		t.Errorf("%v", failed)
	}
}

func TestEvidenceWithCard(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edit  func(*world)
		fails []string
	}{
		{name: "good"},
		{name: "removed later", edit: func(w *world) { w.card.Passkeys[0].Removed = at + 1 }},
		{name: "removed before", edit: func(w *world) { w.card.Passkeys[0].Removed = at }, fails: []string{"passkeyEnrolled"}},
		{name: "added later", edit: func(w *world) { w.card.Passkeys[0].Added = at + 1 }, fails: []string{"passkeyEnrolled"}},
		{name: "backup-eligible on the card", edit: func(w *world) { w.card.Passkeys[0].BackupEligible = true }, fails: []string{"backupUnchanged"}},
		{name: "enrolled for another rp id", edit: func(w *world) { w.card.Passkeys[0].RPID = "localhost" }, fails: []string{"originPinned", "rpIdHash", "rpIdOfContext"}},
		{name: "no passkeys", edit: func(w *world) { w.card.Passkeys = nil }, fails: []string{"passkeyOnCard", "passkeyEnrolled", "backupUnchanged"}},
		{name: "instance not on the card", edit: func(w *world) { w.card.LogKeys = w.card.LogKeys[:1] }, fails: []string{"logKeyOnCard"}},
		{name: "log key of another instance", edit: func(w *world) { w.statement.Instance = vaultID }, fails: []string{"logKeyPin"}},
		{name: "card of another vault", edit: func(w *world) { w.card.Vault = instance }, fails: []string{"vaultPin"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.edit != nil {
				tt.edit(&w)
			}
			got := w.signedCard(t).VerifyEvidence(w.evidence(t))
			if failed := failedChecks(got); !slices.Equal(failed, tt.fails) || got.Valid != (len(tt.fails) == 0) || got.Pinned != (len(tt.fails) == 0) {
				t.Errorf("failed %v, want %v; pinned %v", failed, tt.fails, got.Pinned)
			}
		})
	}
	t.Run("card not signed", func(t *testing.T) {
		w := newWorld(t)
		c, err := NewOwnerCard(w.card)
		must(t, err)
		if got := c.VerifyEvidence(w.evidence(t)); got.Valid || got.Pinned {
			t.Errorf("%+v", got)
		}
	})
}

func TestOwnerCard(t *testing.T) {
	w := newWorld(t)
	c := w.signedCard(t)
	if !bytes.HasPrefix(c.SigningBytes(), []byte(tag.OwnerCard)) || c.Owner() != w.owner.text {
		t.Error("signed under another prefix")
	}
	unsigned, err := NewOwnerCard(w.card)
	must(t, err)
	if string(tag.OwnerCard.Message(unsigned.Canonical())) != string(c.SigningBytes()) {
		t.Error("what is confirmed and what is signed differ")
	}
	if got := c.Verify(""); !got.Valid || got.Pinned {
		t.Errorf("%+v", got)
	}
	if got := c.Verify(w.owner.text); !got.Valid || !got.Pinned {
		t.Errorf("%+v", got)
	}
	if got := c.Verify(w.log.text); got.Valid || got.Pinned {
		t.Errorf("%+v", got)
	}
	if _, err := unsigned.Signed(w.log.sign(unsigned.SigningBytes())); err == nil {
		t.Error("signed by another key")
	}
	if _, err := unsigned.Signed(nil); err == nil {
		t.Error("signed by nobody")
	}
	if _, err := ParseOwnerCard(unsigned.Canonical()); err == nil {
		t.Error("an unsigned card is read as a signed one")
	}
}

func TestOwnerCardIsRefused(t *testing.T) {
	for name, edit := range map[string]func(*CardFields){
		"no seats":           func(f *CardFields) { f.Seats = nil },
		"no seat 0":          func(f *CardFields) { f.Seats = f.Seats[1:] },
		"seats turned":       func(f *CardFields) { slices.Reverse(f.Seats) },
		"one seat twice":     func(f *CardFields) { f.Seats[1].Index = 0 },
		"one key, two seats": func(f *CardFields) { f.Seats[1].Key = f.Seats[0].Key },
		"seat key a log key": func(f *CardFields) { f.LogKeys[0].Key = f.Seats[0].Key },
		"not an nkey":        func(f *CardFields) { f.Seats[1].Key = "U" },
		"no log key":         func(f *CardFields) { f.LogKeys = nil },
		"one instance twice": func(f *CardFields) { f.LogKeys[1].Instance = f.LogKeys[0].Instance },
		"domains turned":     func(f *CardFields) { slices.Reverse(f.Domains) },
		"one address twice":  func(f *CardFields) { f.Domains[1].Address = f.Domains[0].Address },
		"address in capitals": func(f *CardFields) {
			f.Domains[0].Address = "0x" + strings.Repeat("AB", 20)
		},
		"one passkey twice":    func(f *CardFields) { f.Passkeys = append(f.Passkeys, f.Passkeys[0]) },
		"no key":               func(f *CardFields) { f.Passkeys[0].Key = nil },
		"kind unknown":         func(f *CardFields) { f.Passkeys[0].Kind = "watch" },
		"removed before added": func(f *CardFields) { f.Passkeys[0].Removed = f.Passkeys[0].Added - 1 },
		"vault unknown":        func(f *CardFields) { f.Vault = "" },
		"no time":              func(f *CardFields) { f.IssuedAt = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			edit(&w.card)
			if c, err := NewOwnerCard(w.card); err == nil {
				t.Errorf("built %s", c.Canonical())
			}
		})
	}
}

// TestEveryLeafOfTheDocuments edits every leaf of evidence and card: what still
// parses does not verify.
func TestEveryLeafOfTheDocuments(t *testing.T) {
	w := newWorld(t)
	e, c := w.evidence(t), w.signedCard(t)
	if got := c.VerifyEvidence(e); !got.Pinned {
		t.Fatalf("%+v", got)
	}
	n := 0
	edits(t, e.Canonical(), func(what string, raw []byte) {
		n++
		if e, err := ParseEvidence(raw); err == nil && c.VerifyEvidence(e).Valid {
			t.Errorf("evidence accepted: %s", what)
		}
	})
	edits(t, c.Canonical(), func(what string, raw []byte) {
		n++
		if c, err := ParseOwnerCard(raw); err == nil && (c.Verify("").Valid || c.VerifyEvidence(e).Pinned) {
			t.Errorf("card accepted: %s", what)
		}
	})
	if n < 200 {
		t.Errorf("only %d edits", n)
	}
}

func TestPrefixes(t *testing.T) {
	w := newWorld(t)
	message, err := w.statement.SigningBytes()
	must(t, err)
	if !bytes.HasPrefix(message, []byte(tag.Confirmation)) {
		t.Errorf("%q", message)
	}
	if !bytes.Equal(w.evidence(t).message, message) {
		t.Error("what is signed and what is verified differ")
	}
	w.statement.Seq = 0
	if _, err := w.statement.SigningBytes(); err == nil {
		t.Error("a statement about no entry")
	}
}
