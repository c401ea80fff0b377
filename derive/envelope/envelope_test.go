package envelope

import (
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// corpus returns the inputs of the published vectors of one operation, for
// which keep says yes.
func corpus(t testing.TB, op string, keep func(name string) bool) []map[string]json.RawMessage {
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Vectors []struct {
			Name, Op string
			Input    map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	var out []map[string]json.RawMessage
	for _, v := range set.Vectors {
		if v.Op == op && keep(v.Name) {
			out = append(out, v.Input)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no vector of %s", op)
	}
	return out
}

func exactly(name string) func(string) bool { return func(n string) bool { return n == name } }

func all(string) bool { return true }

func text(t testing.TB, raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// validRecord is the record of the published vectors with its payload,
// signature and an instant inside its window.
func validRecord(t testing.TB) (record, payload []byte, sig string, now int64) {
	in := corpus(t, "verifyRecord", exactly("verifyRecord/valid"))[0]
	return in["record"], []byte(text(t, in["payload"])), text(t, in["signature"]), 1790000001000
}

func validMint(t testing.TB) (request, delegate []byte, pins Pins, now int64) {
	in := corpus(t, "verifyMintRequest", exactly("verifyMintRequest/valid-legitimacy"))[0]
	d, err := ParseMintDelegate(in["delegate"])
	if err != nil {
		t.Fatal(err)
	}
	return in["request"], in["delegate"], Pins{DomainAddress: d.IssuerAddress(), DomainHash: d.Fields().DomainHash}, 1790000005000
}

// edit sets or, for nil, removes one member; path names are joined by dots.
func edit(t testing.TB, raw []byte, path string, value any) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	at := doc
	names := strings.Split(path, ".")
	for _, n := range names[:len(names)-1] {
		at = at[n].(map[string]any)
	}
	if value == nil {
		delete(at, names[len(names)-1])
	} else {
		at[names[len(names)-1]] = value
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func checkNames(r *Report) string {
	var out []string
	for _, c := range r.Checks {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

// TestEveryCheckIsAnswered holds the promise that a report names every check,
// whatever is wrong with the document.
func TestEveryCheckIsAnswered(t *testing.T) {
	record, payload, sig, now := validRecord(t)
	request, delegate, pins, mintNow := validMint(t)
	receipt := corpus(t, "verifyReceipt", exactly("verifyReceipt/pinned"))[0]["receipt"]
	state := corpus(t, "isAuthorityLegitimate", exactly("isAuthorityLegitimate/legitimate"))[0]["state"]
	ref := &LegitimacyRef{LegitimacyID: "x"}
	for name, verify := range map[string]func(raw []byte) *Report{
		"record":     func(raw []byte) *Report { return VerifyRecord(raw, payload, sig, RecordOptions{Now: now}) },
		"delegate":   func(raw []byte) *Report { r, _ := VerifyMintDelegate(raw, pins); return r },
		"request":    func(raw []byte) *Report { r, _ := VerifyMintRequest(raw, delegate, pins, mintNow); return r },
		"receipt":    func(raw []byte) *Report { return VerifyReceipt(raw, Pins{DomainAddress: pins.DomainAddress}) },
		"legitimacy": func(raw []byte) *Report { return VerifyLegitimacy(raw, ref, mintNow) },
	} {
		good := map[string][]byte{"record": record, "delegate": delegate, "request": request, "receipt": receipt, "legitimacy": state}[name]
		want := checkNames(verify(good))
		for _, raw := range []string{"", "null", "[]", "{}", `{"type":1}`, `{"a":1,"a":2}`, `"x"`, "\xff"} {
			r := verify([]byte(raw))
			if r.Valid || r.Pinned || r.Reason == "" {
				t.Errorf("%s: %q is valid or has no reason: %+v", name, raw, r)
			}
			if got := checkNames(r); got != want {
				t.Errorf("%s: %q answers\n %s\nnot\n %s", name, raw, got, want)
			}
		}
	}
}

// TestEveryLeafCounts changes each value of each signed document; nothing may
// stay valid.
func TestEveryLeafCounts(t *testing.T) {
	record, payload, sig, now := validRecord(t)
	request, delegate, pins, mintNow := validMint(t)
	for name, c := range map[string]struct {
		raw    []byte
		verify func([]byte) *Report
		free   []string // metadata that no rule covers
	}{
		"delegate": {delegate, func(raw []byte) *Report { r, _ := VerifyMintDelegate(raw, pins); return r }, nil},
		"request":  {request, func(raw []byte) *Report { r, _ := VerifyMintRequest(raw, delegate, pins, mintNow); return r }, nil},
		"request's delegate": {delegate, func(raw []byte) *Report {
			r, _ := VerifyMintRequest(request, raw, pins, mintNow)
			return r
		}, nil},
		"record": {
			record, func(raw []byte) *Report { return VerifyRecord(raw, payload, sig, RecordOptions{Now: now}) },
			[]string{"recordId", "ownerUserId", "custodyMode", "verifierProfile", "createdAt", "agentId", "domain.domainAddress", "domain.domainFingerprint", "domain.createdAt", "expiry"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.verify(c.raw); !r.Valid {
				t.Fatalf("not valid to begin with: %+v", r)
			}
			v, err := jcs.Parse(c.raw, jcs.AgentEnvelope)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			v.Leaves(func(path string, leaf jcs.Value) {
				n++
				changed := strings.Replace(string(c.raw), string(leaf.Raw()), flip(leaf), 1)
				if strings.Count(string(c.raw), string(leaf.Raw())) != 1 {
					changed = replaceLeaf(t, c.raw, path, leaf)
				}
				if changed == string(c.raw) {
					t.Fatalf("%s was not changed", path)
				}
				if r := c.verify([]byte(changed)); r.Valid != slices.Contains(c.free, path) {
					t.Errorf("%s changed: valid %v", path, r.Valid)
				}
			})
			if n < 15 {
				t.Errorf("only %d leaves", n)
			}
		})
	}
}

// flip gives another value of the same kind.
func flip(leaf jcs.Value) string {
	switch leaf.Kind() {
	case jcs.Number:
		n, _ := leaf.Int()
		return fmt.Sprint(n + 1)
	case jcs.Bool:
		return fmt.Sprint(!leaf.Bool())
	case jcs.String:
		s := []byte(leaf.Text())
		s[len(s)-1] ^= 1
		out, err := json.Marshal(string(s))
		if err != nil {
			return `"x"`
		}
		return string(out)
	}
	return `"was something else"`
}

// replaceLeaf rewrites the document with one leaf changed, by its path.
func replaceLeaf(t *testing.T, raw []byte, path string, leaf jcs.Value) string {
	var doc any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	at := doc
	steps := strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
	for i, s := range steps {
		last := i == len(steps)-1
		if idx, ok := strings.CutPrefix(s, "["); ok {
			n := int(idx[0] - '0')
			if last {
				at.([]any)[n] = json.RawMessage(flip(leaf))
			} else {
				at = at.([]any)[n]
			}
			continue
		}
		if last {
			at.(map[string]any)[s] = json.RawMessage(flip(leaf))
		} else {
			at = at.(map[string]any)[s]
		}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestRecordCarriesNothingPrivate feeds records with private members at every
// depth.
func TestRecordCarriesNothingPrivate(t *testing.T) {
	record, payload, sig, now := validRecord(t)
	if _, err := ParseRecord(record); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"", "domain.", "domain.domainInfo.", "actionEnvelope.", "actionEnvelope.domain.", "actionEnvelope.limits.", "actionEnvelope.timeWindow.", "actionEnvelope.decayPolicy."} {
		for _, name := range []string{"actionSeed", "actionSeedHex", "action_seed_hex", "IdentityRoot", "domainSeed", "mintMaterial", "private-key", "passphrase", "seed"} {
			raw := edit(t, record, at+name, strings.Repeat("a", 64))
			if _, err := ParseRecord(raw); err == nil {
				t.Errorf("parsed with %s%s", at, name)
			}
			r := VerifyRecord(raw, payload, sig, RecordOptions{Now: now})
			if c, _ := r.Check("noPrivateMaterial"); r.Valid || c.OK {
				t.Errorf("verified with %s%s", at, name)
			}
		}
		raw := edit(t, record, at+"extra", "x")
		if _, err := ParseRecord(raw); err == nil {
			t.Errorf("parsed with %sextra", at)
		}
		r := VerifyRecord(raw, payload, sig, RecordOptions{Now: now})
		metadata := at == "" || at == "domain."
		if r.Valid != metadata || metadata && !strings.Contains(strings.Join(r.Warnings, " "), "unknown member") {
			t.Errorf("%sextra: %+v", at, r)
		}
	}
	if r := VerifyRecord(edit(t, record, "list", []any{map[string]any{"seedHex": "00"}}), payload, sig, RecordOptions{Now: now}); r.Valid {
		t.Error("private material in a list")
	}
}

func TestParseRecordRefuses(t *testing.T) {
	record, payload, sig, now := validRecord(t)
	for path, value := range map[string]any{
		"custodyMode": "hosted", "verifierProfile": "other", "agentId": "other", "expiry": 5.0, "ownerUserId": "",
		"domain.domainFingerprint": "ae-domain-0000000000000000", "domain.domainId": "other", "status": "revoked",
		"legitimacyRef": map[string]any{"required": true}, "recordId": nil, "domain.createdAt": "yesterday",
		"domain.domainAddress": "0x1",
	} {
		if _, err := ParseRecord(edit(t, record, path, value)); err == nil {
			t.Errorf("%s = %v passed", path, value)
		}
	}
	if r := VerifyRecord(edit(t, record, "domain.domainId", "other"), payload, sig, RecordOptions{Now: now}); r.Valid {
		t.Error("another domainId beside domainInfo verifies")
	}
	same := edit(t, record, "domain.domainId", "billing-ops")
	if _, err := ParseRecord(same); err != nil {
		t.Errorf("the same domainId beside domainInfo: %v", err)
	}
}

func TestRecordPins(t *testing.T) {
	raw, payload, sig, now := validRecord(t)
	rec, err := ParseRecord(raw)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := EncodeOwnerKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	wrong := "0x" + strings.Repeat("1", 64)
	hash := rec.Envelope().Hash()
	for name, c := range map[string]struct {
		pins          Pins
		expected      *string
		valid, pinned bool
	}{
		"nothing":               {Pins{}, nil, true, false},
		"whole record":          {Pins{ExpectHash: rec.Hash()}, nil, true, true},
		"envelope":              {Pins{ExpectHash: hash}, nil, true, true},
		"envelope, as argument": {Pins{}, &hash, true, true},
		"other hash":            {Pins{ExpectHash: wrong}, nil, false, false},
		"domain is a claim":     {Pins{DomainAddress: rec.Domain().Address(), DomainHash: rec.Domain().Info().Hash()}, nil, true, false},
		"other domain":          {Pins{DomainAddress: "0x" + strings.Repeat("1", 40), ExpectHash: hash}, nil, false, false},
		"other domain hash":     {Pins{DomainHash: wrong, ExpectHash: hash}, nil, false, false},
		"other owner":           {Pins{Owner: owner, ExpectHash: hash}, nil, false, false},
	} {
		r := VerifyRecord(raw, payload, sig, RecordOptions{Now: now, Pins: c.pins, ExpectedHash: c.expected})
		if r.Valid != c.valid || r.Pinned != c.pinned {
			t.Errorf("%s: valid %v, pinned %v: %s", name, r.Valid, r.Pinned, r.Reason)
		}
	}
	claimed := edit(t, raw, "ownerUserId", OwnerUserID(owner))
	if r := VerifyRecord(claimed, payload, sig, RecordOptions{Now: now, Pins: Pins{Owner: owner}}); !r.Valid || r.Pinned {
		t.Errorf("a claimed owner: %+v", r)
	}
}

func TestReceiptPins(t *testing.T) {
	raw := corpus(t, "verifyReceipt", exactly("verifyReceipt/pinned"))[0]["receipt"]
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		t.Fatal(err)
	}
	attester := v.Get("attestation").Get("attesterAddress").Text()
	for name, c := range map[string]struct {
		pins          Pins
		valid, pinned bool
	}{
		"nothing":     {Pins{}, true, false},
		"attester":    {Pins{DomainAddress: strings.ToUpper(attester[2:])}, false, false},
		"upper case":  {Pins{DomainAddress: "0x" + strings.ToUpper(attester[2:])}, true, true},
		"hash":        {Pins{ExpectHash: HashCanonical(v.Canonical())}, true, true},
		"other hash":  {Pins{ExpectHash: HashText("x"), DomainAddress: attester}, false, false},
		"owner":       {Pins{Owner: "U", DomainAddress: attester}, false, false},
		"domain hash": {Pins{DomainHash: HashText("x"), DomainAddress: attester}, false, false},
	} {
		if r := VerifyReceipt(raw, c.pins); r.Valid != c.valid || r.Pinned != c.pinned {
			t.Errorf("%s: valid %v, pinned %v: %s", name, r.Valid, r.Pinned, r.Reason)
		}
	}
	if _, err := ReceiptDigest([]byte(`[]`)); err == nil {
		t.Error("a list has a digest")
	}
	if _, err := Attestation(attester, "0x"); err == nil {
		t.Error("an attestation without a signature")
	}
}

func TestContradictions(t *testing.T) {
	e, err := NewActionEnvelopeFor("d", "0x"+strings.Repeat("a", 64), ActionFields{
		AgentID: "sender", ActionIndex: 3, Operation: "send", Resources: []string{"a:1", "b:2"}, Mode: ModeNone,
	})
	if err != nil {
		t.Fatal(err)
	}
	for payload, want := range map[string]string{
		`{}`: "", `"x"`: "", `[1]`: "", `null`: "",
		`{"operation":"send","resource":"a:1","resources":["b:2"],"actionIndex":3,"agentId":"sender"}`: "",
		`{"domainHash":"0x` + strings.Repeat("a", 64) + `"}`:                                           "",
		`{"nested":{"operation":"pay"}}`:                                                               "",
		`{"actionIndex":3.0}`:                                                                          "",
		`{"operation":"pay"}`:                                                                          "operation",
		`{"operation":"Send"}`:                                                                         "operation",
		`{"operation":null}`:                                                                           "operation",
		`{"operation":["send"]}`:                                                                       "operation",
		`{"resource":"c:3"}`:                                                                           "resource",
		`{"resource":["a:1"]}`:                                                                         "resource",
		`{"resources":["a:1","c:3"]}`:                                                                  "resources",
		`{"resources":[]}`:                                                                             "resources",
		`{"resources":"a:1"}`:                                                                          "",
		`{"resources":"a:1,b:2"}`:                                                                      "resources",
		`{"resources":{"a:1":1}}`:                                                                      "resources",
		`{"actionIndex":4}`:                                                                            "actionIndex",
		`{"actionIndex":"3"}`:                                                                          "actionIndex",
		`{"agentId":"other"}`:                                                                          "agentId",
		`{"domainHash":"0x1"}`:                                                                         "domainHash",
		`{"agentId":"x","operation":"y","domainHash":"z","resource":"q","resources":["q"],"actionIndex":9}`: "operation resource resources actionIndex agentId domainHash",
	} {
		p, err := ParsePayload([]byte(payload))
		if err != nil {
			t.Fatal(payload, err)
		}
		var got []string
		for _, c := range p.Contradictions(e) {
			got = append(got, c.Member)
			if c.Payload == "" || c.Envelope == "" || c.Payload == c.Envelope {
				t.Errorf("%s: %+v", payload, c)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", payload, got, want)
		}
	}
}

func TestTypedPayloadIsNotAnAction(t *testing.T) {
	for payload, signable := range map[string]bool{
		`{"type":"agentenvelope.mintRequest"}`: false, `{"type":"agentenvelope."}`: false, `{"type":"AgentEnvelope.x"}`: false,
		`{"type":" agentenvelope.x"}`: false, `{"type":"\u0061gentenvelope.x"}`: false,
		`{"type":"agentenvelope"}`: true, `{"type":"x.agentenvelope."}`: true, `{"type":5}`: true, `{}`: true,
		`"agentenvelope.x"`: true, `{"x":{"type":"agentenvelope.x"}}`: true,
	} {
		p, err := ParsePayload([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Signable(); (err == nil) != signable || err != nil && !errors.Is(err, ErrTypedPayload) {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

func TestOwnerKey(t *testing.T) {
	pub := make([]byte, 32)
	for i := range pub {
		pub[i] = byte(i)
	}
	key, err := EncodeOwnerKey(pub)
	if err != nil || len(key) != 56 || key[0] != 'U' {
		t.Fatalf("%s, %v", key, err)
	}
	back, err := ParseOwnerKey(key)
	if err != nil || string(back) != string(pub) {
		t.Fatalf("%x, %v", back, err)
	}
	swap := func(i int, c byte) string { b := []byte(key); b[i] = c; return string(b) }
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	raw[0] = 0 << 3 // the account kind, with the checksum of the user kind
	for _, bad := range []string{
		"", key[:55], key + "A", strings.ToLower(key), " " + key[1:], swap(10, 'A'+(key[10]-'A'+1)%26), swap(20, '1'),
		base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw), strings.Repeat("U", 56),
	} {
		if _, err := ParseOwnerKey(bad); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
	if _, err := EncodeOwnerKey(pub[:31]); err == nil {
		t.Error("31 bytes passed")
	}
	if id := OwnerUserID(key); id != "user-"+HashText(key)[2:18] {
		t.Errorf("owner user id %s", id)
	}
	if VerifyOwner(nil, tag.SoW, nil, make([]byte, 64)) || VerifyOwner(pub, tag.SoW, nil, nil) {
		t.Error("a missing key or signature verifies")
	}
}

func TestSignatureForm(t *testing.T) {
	const n = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	const half = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0"
	const overHalf = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1"
	one := strings.Repeat("0", 63) + "1"
	zero := strings.Repeat("0", 64)
	for s, want := range map[string]error{
		"0x" + one + one + "1b":      nil,
		"0x" + one + half + "1c":     nil,
		"0x" + one + overHalf + "1c": ErrSignatureHighS,
		"0x" + zero + one + "1b":     ErrSignatureRange,
		"0x" + one + zero + "1b":     ErrSignatureRange,
		"0x" + n + one + "1b":        ErrSignatureRange,
		"0x" + one + n + "1b":        ErrSignatureRange,
		"0x" + one + one + "00":      ErrSignatureRecovery,
		"0x" + one + one + "1a":      ErrSignatureRecovery,
		"0x" + one + one + "1d":      ErrSignatureRecovery,
		"0x" + one + one + "1B":      ErrSignatureForm,
		"0X" + one + one + "1b":      ErrSignatureForm,
		one + one + "1b":             ErrSignatureForm,
		"0x" + one + one:             ErrSignatureForm,
		"0x" + one + one + "1b00":    ErrSignatureForm,
		"0x" + one + one + "1g":      ErrSignatureForm,
		"":                           ErrSignatureForm,
	} {
		sig, err := ParseSignature(s)
		if !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", s, err, want)
		}
		if err == nil && sig.String() != s {
			t.Errorf("%s became %s", s, sig)
		}
	}
}

func TestTime(t *testing.T) {
	for ms, s := range map[int64]string{
		0: "1970-01-01T00:00:00.000Z", 1790000000001: "2026-09-21T14:13:20.001Z", -1: "1969-12-31T23:59:59.999Z",
		253402300799999: "9999-12-31T23:59:59.999Z", 253402300800000: "+010000-01-01T00:00:00.000Z", maxDate: "+275760-09-13T00:00:00.000Z",
	} {
		got, err := FormatTime(ms)
		if err != nil || got != s {
			t.Errorf("%d: %s, %v", ms, got, err)
		}
		back, err := ParseTime(s)
		if err != nil || back != ms {
			t.Errorf("%s: %d, %v", s, back, err)
		}
	}
	if s, err := FormatTime(-maxDate); err != nil || s != "-271821-04-20T00:00:00.000Z" {
		t.Errorf("first instant %s, %v", s, err)
	}
	for _, ms := range []int64{maxDate + 1, -maxDate - 1} {
		if _, err := FormatTime(ms); err == nil {
			t.Errorf("%d passed", ms)
		}
	}
	for _, s := range []string{"", "soon", "2026-13-45T00:00:00Z", "2026-02-30T00:00:00Z", "2026-09-21", "2026-09-21T14:13:20", "+275760-09-13T00:00:00.001Z", "+000000-01-01T00:00:00Z", "1790000000000"} {
		if ms, err := ParseTime(s); err == nil {
			t.Errorf("%q is %d", s, ms)
		}
	}
	if a, err := ParseTime("2026-09-21T16:13:20+02:00"); err != nil || a != 1790000000000 {
		t.Errorf("zone: %d, %v", a, err)
	}
}

func TestNormalizeIdentifier(t *testing.T) {
	for in, want := range map[string]string{
		" Acme\n": "acme", "\ufeffa\u00a0": "a", "\u2003x.Y_z:-1\u2029": "x.y_z:-1", "0": "0", strings.Repeat("A", 128): strings.Repeat("a", 128),
		"": "", "  ": "", "-a": "", ".a": "", "a b": "", "a\u0085": "", "\u212aey": "", "\u0130d": "", "é": "", "a/b": "",
		strings.Repeat("a", 129): "", "a\x00": "",
	} {
		got, err := NormalizeIdentifier(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestNormalizeResources(t *testing.T) {
	for in, want := range map[string]string{
		" B:2, a:1 ,,A:1": "a:1|b:2", "x": "x", "naïve:é": "naïve:é", "中:1,😀:1,ﬁ:2": "中:1|😀:1|ﬁ:2",
		"": "", " , ": "", "É:1": "", "ΟΔΟΣ:1": "", "a\u202eb": "", "a\tb": "", "\u0130": "", "a\u0378b": "", "a\xffb": "",
	} {
		got, err := NormalizeResources(SplitResources(in))
		if strings.Join(got, "|") != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestActionEnvelopeRefuses(t *testing.T) {
	record, _, _, _ := validRecord(t)
	v, err := jcs.Parse(record, jcs.AgentEnvelope)
	if err != nil {
		t.Fatal(err)
	}
	good := v.Get("actionEnvelope").Raw()
	if _, err := ParseActionEnvelope(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		value any
	}{
		{"type", "agentenvelope.domainInfo"}, {"version", 2.0}, {"version", "1"}, {"agentId", ""}, {"agentId", 5.0}, {"agentId", nil},
		{"operation", ""}, {"resources", []any{}}, {"resources", "a:1"}, {"resources", []any{"a", ""}}, {"resources", []any{"a", 1.0}},
		{"actionIndex", -1.0}, {"actionIndex", 0.5}, {"actionIndex", "0"}, {"timeWindow.notAfter", nil}, {"timeWindow.notBefore", "0"},
		{"timeWindow.notAfter", 1.0}, {"timeWindow.x", 1.0}, {"decayPolicy.mode", "both"}, {"decayPolicy.x", 1.0}, {"decayPolicy.mode", nil},
		{"limits.maxUses", 0.0}, {"limits.maxUses", nil}, {"limits.enforcement", "hosted"}, {"limits.x", 1.0}, {"x", 1.0},
		{"domain.domainHash", "0x1"}, {"domain.domainId", ""}, {"domain.x", "y"},
	} {
		if e, err := ParseActionEnvelope(edit(t, good, c.path, c.value)); err == nil {
			t.Errorf("%s = %v passed: %s", c.path, c.value, e.Canonical())
		}
	}
}

func TestEnvelopeWarningsAndWindow(t *testing.T) {
	hash := "0x" + strings.Repeat("a", 64)
	build := func(f func(*ActionFields)) *ActionEnvelope {
		fields := ActionFields{AgentID: "a", Operation: "o", Resources: []string{"r:1"}, Mode: ModeBoth, MaxUses: Some(1), Window: Window{Some(10), Some(20)}}
		f(&fields)
		e, err := NewActionEnvelopeFor("d", hash, fields)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for want, e := range map[string]*ActionEnvelope{
		"never expires":      build(func(f *ActionFields) { f.Window.NotAfter = Opt{} }),
		"no end in time":     build(func(f *ActionFields) { f.Window, f.Mode = Window{}, ModeNone }),
		"not enforced":       build(func(f *ActionFields) { f.Mode = ModeAction }),
		"outside the calend": build(func(f *ActionFields) { f.Window.NotAfter = Some(maxDate + 1) }),
		"already spent":      build(func(*ActionFields) {}),
		"holds a dot":        build(func(f *ActionFields) { f.AgentID = "a.b" }),
	} {
		if got := strings.Join(e.Warnings(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	quiet := build(func(f *ActionFields) { f.Mode, f.MaxUses = ModeTime, Opt{} })
	if w := quiet.Warnings(); len(w) != 0 {
		t.Errorf("warned of %q", w)
	}
	odd := strings.NewReplacer(`"agentId":"a"`, `"agentId":"A"`, `["r:1"]`, `["r:2","r:1"]`).Replace(string(quiet.Canonical()))
	e, err := ParseActionEnvelope([]byte(odd))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Warnings(), "\n"); !strings.Contains(got, "identifier is not in normal form") || !strings.Contains(got, "resources are not") {
		t.Errorf("warned of %q", got)
	}
	for now, want := range map[int64]string{9: "not yet valid", 10: "", 15: "", 20: "", 21: "expired"} {
		if err := quiet.Admits(now); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("at %d: %v", now, err)
		}
	}
	if err := build(func(f *ActionFields) { f.Mode = ModeAction }).Admits(99); err != nil {
		t.Errorf("a mode without a clock: %v", err)
	}
	f := quiet.Fields()
	f.Resources[0] = "changed"
	if quiet.Fields().Resources[0] != "r:1" {
		t.Error("changed through its fields")
	}
}

func TestParseActionFields(t *testing.T) {
	good := `{"agentId":"A","actionIndex":1,"operation":"o","resources":"b,a","decayMode":"NONE"}`
	f, err := ParseActionFields([]byte(good))
	if err != nil || f.AgentID != "A" || f.ActionIndex != 1 || len(f.Resources) != 2 || f.MaxUses.Set {
		t.Errorf("%+v, %v", f, err)
	}
	for _, bad := range []string{
		`{}`, `[]`, strings.Replace(good, `"actionIndex":1`, `"actionIndex":null`, 1), strings.Replace(good, `:1`, `:1.5`, 1),
		strings.Replace(good, `"b,a"`, `[1]`, 1), strings.Replace(good, `"b,a"`, `5`, 1), strings.Replace(good, `"A"`, `5`, 1),
		good[:len(good)-1] + `,"maxUses":"1"}`, good[:len(good)-1] + `,"x":1}`, good[:len(good)-1] + `,"notAfter":true}`,
	} {
		if f, err := ParseActionFields([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, f)
		}
	}
}

func TestMintBoundsTable(t *testing.T) {
	for _, c := range []struct {
		allowed  string
		resource string
		want     bool
	}{
		{"a:1", "a:1", true}, {"a:1", "a:2", false}, {"a:*", "a:1", true}, {"a:*", "a:b:c", true}, {"a:*", "a", false},
		{"a:*", "A:1", false}, {"a:*", "ab:1", false}, {"a:b:*", "a:b:1", false}, {"*", "a", true}, {"*", "x:y", true}, {"a", "a", true},
	} {
		if got := resourceAllowed(set([]string{c.allowed}), c.resource); got != c.want {
			t.Errorf("%s under %s: %v", c.resource, c.allowed, got)
		}
	}
	none := Opt{}
	for _, c := range []struct {
		inner, outer Window
		ok           bool
	}{
		{Window{none, none}, Window{none, none}, true},
		{Window{Some(1), Some(2)}, Window{none, none}, true},
		{Window{Some(1), Some(2)}, Window{Some(1), Some(2)}, true},
		{Window{Some(0), Some(2)}, Window{Some(1), Some(2)}, false},
		{Window{Some(1), Some(3)}, Window{Some(1), Some(2)}, false},
		{Window{none, Some(2)}, Window{Some(1), Some(2)}, false},
		{Window{Some(1), none}, Window{Some(1), Some(2)}, false},
		{Window{Some(1), none}, Window{Some(1), none}, true},
		{Window{none, Some(2)}, Window{none, Some(2)}, true},
		{Window{Some(5), none}, Window{none, Some(2)}, false},
		{Window{Some(3), Some(2)}, Window{none, Some(2)}, false},
	} {
		if err := contained(c.inner, c.outer); (err == nil) != c.ok {
			t.Errorf("%+v in %+v: %v", c.inner, c.outer, err)
		}
	}
}

func TestMintNeedsAPinToBePinned(t *testing.T) {
	request, delegate, pins, now := validMint(t)
	r, m := VerifyMintRequest(request, delegate, pins, now)
	if !r.Valid || !r.Pinned || m.Request() == nil || m.Delegate() == nil {
		t.Fatalf("%+v", r)
	}
	if r, _ := VerifyMintRequest(request, delegate, Pins{}, now); !r.Valid || r.Pinned {
		t.Errorf("unpinned: %+v", r)
	}
	if r, m := VerifyMintRequest(request, delegate, Pins{DomainAddress: "0x" + strings.Repeat("1", 40)}, now); r.Valid || m.Request() != nil {
		t.Errorf("other issuer: %+v", r)
	}
	if _, err := (VerifiedMint{}).ActionEnvelope(nil); err == nil {
		t.Error("an envelope of nothing")
	}
}

func TestLegitimacyReference(t *testing.T) {
	raw := corpus(t, "isAuthorityLegitimate", exactly("isAuthorityLegitimate/legitimate"))[0]["state"]
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		t.Fatal(err)
	}
	const now = 1790000000001
	own := HashCanonical(v.Canonical())
	id := v.Get("legitimacyId").Text()
	for name, c := range map[string]struct {
		raw           []byte
		ref           *LegitimacyRef
		valid, pinned bool
	}{
		"alone":               {raw, nil, true, false},
		"id":                  {raw, &LegitimacyRef{LegitimacyID: id}, true, false},
		"all":                 {raw, &LegitimacyRef{LegitimacyID: id, StateVersion: Some(1), StateHash: own}, true, true},
		"other id":            {raw, &LegitimacyRef{LegitimacyID: "x"}, false, false},
		"other version":       {raw, &LegitimacyRef{LegitimacyID: id, StateVersion: Some(2)}, false, false},
		"other hash":          {raw, &LegitimacyRef{LegitimacyID: id, StateHash: HashText("x")}, false, false},
		"states its own hash": {edit(t, raw, "stateHash", own), &LegitimacyRef{LegitimacyID: id, StateHash: own}, true, true},
		"states another hash": {edit(t, raw, "stateHash", HashText("x")), nil, false, false},
		"private":             {edit(t, raw, "identityRoot", "00"), nil, false, false},
		"no id":               {edit(t, raw, "legitimacyId", nil), nil, false, false},
		"expiry is a number":  {edit(t, raw, "expiresAt", 5.0), nil, false, false},
		"no expiry member":    {edit(t, raw, "expiresAt", nil), nil, true, false},
		"unknown status":      {edit(t, raw, "status", "fine"), nil, false, false},
	} {
		if r := VerifyLegitimacy(c.raw, c.ref, now); r.Valid != c.valid || r.Pinned != c.pinned {
			t.Errorf("%s: valid %v, pinned %v: %s", name, r.Valid, r.Pinned, r.Reason)
		}
	}
}

func TestLegitimacyRefIsCarriedAsWritten(t *testing.T) {
	_, delegate, pins, _ := validMint(t)
	d, err := ParseMintDelegate(edit(t, delegate, "legitimacyRef.required", false))
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewMintDelegate(pins.DomainAddress, d.Fields())
	if err != nil || string(again.Body()) != string(d.Body()) {
		t.Errorf("%s\nis not\n%s, %v", again.Body(), d.Body(), err)
	}
	made := d.Fields()
	made.Legitimacy = &LegitimacyRef{LegitimacyID: "l", Required: true, PolicyID: "p", StateVersion: Some(2), StateHash: HashText("s")}
	if again, err = NewMintDelegate(pins.DomainAddress, made); err != nil {
		t.Fatal(err)
	}
	back := again.Fields().Legitimacy
	if back.canonical = ""; *back != *made.Legitimacy {
		t.Errorf("%+v", back)
	}
}

func TestSignedRefusesForeignSignatures(t *testing.T) {
	request, delegate, _, _ := validMint(t)
	d, err := ParseMintDelegate(delegate)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ParseMintRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Signed(q.signature); err == nil {
		t.Error("a delegate with the bot's signature")
	}
	if _, err := q.Signed(d.signature); err == nil {
		t.Error("a request with the issuer's signature")
	}
	if same, err := d.Signed(d.signature); err != nil || string(same.Canonical()) != string(d.Canonical()) {
		t.Errorf("own signature: %v", err)
	}
	if _, err := d.Signed("0x"); err == nil {
		t.Error("an empty signature")
	}
}
