package offline_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"vault/cmd/vault/internal/offline"
	"vault/derive/envelope"
)

const (
	now    = 1_790_000_001_000
	domain = "0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835"
	agent  = "0xdd6c5332ba7959b597cb0ca1a65be7e26f8b9c3b"
	// domainSeed belongs to the public test vectors' domain acme/billing-ops/finance.
	domainSeed = "0x0a76a20acae684eb7b8d757db3f8e81f09c2c41dfa6d94c4b145dc7c96c47fa3"
)

func file(t *testing.T, name string) offline.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return offline.Document{Name: name, Raw: raw}
}

// attestation is what the vault that has the record's domain would add.
func attestation(t *testing.T, seed string) offline.Document {
	t.Helper()
	var rec struct {
		ActionEnvelopeHash, AgentAddress string
		Domain                           struct{ DomainHash string }
	}
	if err := json.Unmarshal(file(t, "record.json").Raw, &rec); err != nil {
		t.Fatal(err)
	}
	a := envelope.AddressAttestation{DomainHash: rec.Domain.DomainHash, ActionEnvelopeHash: rec.ActionEnvelopeHash, AgentAddress: rec.AgentAddress}
	digest, err := a.Digest()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(seed[2:])
	if err != nil {
		t.Fatal(err)
	}
	key := secp256k1.PrivKeyFromBytes(raw)
	doc, err := a.Signed(envelope.AddressOf(key.PubKey()), envelope.SignatureOf([65]byte(ecdsa.SignCompact(key, digest[:], false))))
	if err != nil {
		t.Fatal(err)
	}
	return offline.Document{Name: "attestation.json", Raw: doc}
}

func answer(t *testing.T, attested bool) offline.Document {
	t.Helper()
	m := map[string]any{
		"record": json.RawMessage(file(t, "record.json").Raw), "agent_address": agent,
		"signature": strings.TrimSpace(string(file(t, "signature.txt").Raw)), "log_head": map[string]int{"seq": 1},
	}
	if attested {
		m["attestation"] = json.RawMessage(attestation(t, domainSeed).Raw)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return offline.Document{Name: "answer.json", Raw: raw}
}

// together is an attested answer that was saved with what was signed beside it.
func together(t *testing.T, payload offline.Document) offline.Document {
	t.Helper()
	a := answer(t, true)
	a.Raw = append(bytes.TrimSuffix(a.Raw, []byte("}")), (`,"payload":` + string(payload.Raw) + "}")...)
	return a
}

func recordHash(t *testing.T) string {
	t.Helper()
	rec, err := envelope.ParseRecord(file(t, "record.json").Raw)
	if err != nil {
		t.Fatal(err)
	}
	return envelope.HashCanonical(rec.Canonical())
}

func TestVerdicts(t *testing.T) {
	record, payload, sig := file(t, "record.json"), file(t, "payload.json"), file(t, "signature.txt")
	three := []offline.Document{record, payload, sig}
	attested := append(append([]offline.Document{}, three...), attestation(t, domainSeed))
	foreign := append(append([]offline.Document{}, three...), attestation(t, "0x"+strings.Repeat("01", 32)))
	changed := func(d offline.Document, old, new string) offline.Document {
		t.Helper()
		raw := bytes.Replace(d.Raw, []byte(old), []byte(new), 1)
		if bytes.Equal(raw, d.Raw) {
			t.Fatalf("%s holds no %q", d.Name, old)
		}
		return offline.Document{Name: d.Name, Raw: raw}
	}
	for _, row := range []struct {
		name string
		docs []offline.Document
		pins offline.Pins
		want offline.Verdict
	}{
		{"record unpinned", three, offline.Pins{}, offline.SelfConsistent},
		{"record that only claims the pinned domain", three, offline.Pins{Domain: domain}, offline.SelfConsistent},
		{"record attested, unpinned", attested, offline.Pins{}, offline.SelfConsistent},
		{"record attested by the pinned domain", attested, offline.Pins{Domain: domain}, offline.Verified},
		{"pin in capitals", attested, offline.Pins{Domain: "0x" + strings.ToUpper(domain[2:])}, offline.Verified},
		{"record attested by another domain", foreign, offline.Pins{Domain: domain}, offline.NotValid},
		{"record attested by another domain, unpinned", foreign, offline.Pins{}, offline.NotValid},
		{"another domain pinned", attested, offline.Pins{Domain: agent}, offline.NotValid},
		{"agent address pinned", three, offline.Pins{Address: agent}, offline.Verified},
		{"another agent address pinned", three, offline.Pins{Address: domain}, offline.NotValid},
		{"record's hash pinned", three, offline.Pins{Hash: recordHash(t)}, offline.Verified},
		{"envelope's hash pinned: the address stays a claim", three,
			offline.Pins{Hash: "0x8d1ec63159c1bd0cd955806b13a8b894486e867578722b28d86b5a7876158b32"}, offline.SelfConsistent},
		{"another hash pinned", three, offline.Pins{Hash: "0x" + strings.Repeat("0", 64)}, offline.NotValid},
		{"answer that names another agent address", []offline.Document{changed(answer(t, true), `"agent_address":"`+agent, `"agent_address":"`+domain), payload}, offline.Pins{Domain: domain}, offline.NotValid},
		{"answer with attestation", []offline.Document{answer(t, true), payload}, offline.Pins{Domain: domain}, offline.Verified},
		{"answer without attestation", []offline.Document{answer(t, false), payload}, offline.Pins{Domain: domain}, offline.SelfConsistent},
		{"answer that holds its payload", []offline.Document{together(t, payload)}, offline.Pins{Domain: domain}, offline.Verified},
		{"answer that holds another payload", []offline.Document{together(t, changed(payload, "inv-9", "inv-8"))}, offline.Pins{Domain: domain}, offline.NotValid},
		{"record alone", []offline.Document{record}, offline.Pins{}, offline.SelfConsistent},
		{"record alone, changed", []offline.Document{changed(record, "ledger:main", "ledger:moon")}, offline.Pins{}, offline.NotValid},
		{"record alone, its claims pinned", []offline.Document{record}, offline.Pins{Domain: domain, Address: agent}, offline.SelfConsistent},
		{"record alone, another address pinned", []offline.Document{record}, offline.Pins{Address: domain}, offline.NotValid},
		{"record alone, another domain pinned", []offline.Document{record}, offline.Pins{Domain: agent}, offline.NotValid},
		{"record alone, its hash pinned", []offline.Document{record}, offline.Pins{Hash: recordHash(t)}, offline.Verified},
		{"record alone, attested by the pinned domain", []offline.Document{record, attestation(t, domainSeed)}, offline.Pins{Domain: domain}, offline.Verified},
		{"record alone, attested by another domain", []offline.Document{record, attestation(t, "0x"+strings.Repeat("01", 32))}, offline.Pins{Domain: domain}, offline.NotValid},
		{"changed payload", []offline.Document{record, changed(payload, "inv-9", "inv-8"), sig}, offline.Pins{Address: agent}, offline.NotValid},
		{"changed signature", []offline.Document{record, payload, changed(sig, "395e", "395f")}, offline.Pins{Address: agent}, offline.NotValid},
		{"changed record", []offline.Document{changed(record, "ledger:main", "ledger:moon"), payload, sig}, offline.Pins{Address: agent}, offline.NotValid},
		{"signature against an address", []offline.Document{payload, sig}, offline.Pins{Address: agent}, offline.Verified},
		{"signature against another address", []offline.Document{payload, sig}, offline.Pins{Address: domain}, offline.NotValid},
		{"receipt unpinned", []offline.Document{file(t, "receipt.json")}, offline.Pins{}, offline.SelfConsistent},
		{"receipt pinned", []offline.Document{file(t, "receipt.json")}, offline.Pins{Domain: "0x8396ce9342b05089513bdb1f04119c78cd044cb8"}, offline.Verified},
		{"receipt of another", []offline.Document{file(t, "receipt.json")}, offline.Pins{Domain: domain}, offline.NotValid},
		{"delegate unpinned", []offline.Document{file(t, "delegate.json")}, offline.Pins{}, offline.SelfConsistent},
		{"delegate pinned", []offline.Document{file(t, "delegate.json")}, offline.Pins{Domain: domain}, offline.Verified},
		{"delegate changed", []offline.Document{changed(file(t, "delegate.json"), `"maxMints": 5`, `"maxMints": 6`)}, offline.Pins{Domain: domain}, offline.NotValid},
		{"one of two untied", append([]offline.Document{file(t, "receipt.json")}, attested...), offline.Pins{Domain: domain}, offline.NotValid},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := offline.Verify(row.docs, row.pins, now)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != row.want {
				t.Errorf("verdict %d, want %d; %+v", r.Verdict, row.want, r)
			}
			failed := false
			for _, l := range r.Lines {
				failed = failed || !l.OK
			}
			if failed != (row.want == offline.NotValid) {
				t.Errorf("a check failed: %v; %+v", failed, r.Lines)
			}
		})
	}
}

func TestOutsideItsTimeARecordIsNotValid(t *testing.T) {
	docs := []offline.Document{file(t, "record.json"), file(t, "payload.json"), file(t, "signature.txt")}
	r, err := offline.Verify(docs, offline.Pins{Address: agent}, now+48*3600*1000)
	if err != nil || r.Verdict != offline.NotValid {
		t.Errorf("verdict %+v, %v", r, err)
	}
}

func TestUsage(t *testing.T) {
	record, payload, sig := file(t, "record.json"), file(t, "payload.json"), file(t, "signature.txt")
	for name, row := range map[string]struct {
		docs []offline.Document
		pins offline.Pins
	}{
		"nothing":             {nil, offline.Pins{}},
		"no signature":        {[]offline.Document{record, payload}, offline.Pins{}},
		"no payload":          {[]offline.Document{record, sig}, offline.Pins{}},
		"two payloads":        {[]offline.Document{record, payload, payload, sig}, offline.Pins{}},
		"two records":         {[]offline.Document{record, record, payload, sig}, offline.Pins{}},
		"two signatures":      {[]offline.Document{record, sig, payload, sig}, offline.Pins{}},
		"no record, no pin":   {[]offline.Document{payload, sig}, offline.Pins{Domain: domain}},
		"pin that is no hash": {[]offline.Document{record, payload, sig}, offline.Pins{Hash: "0x1"}},
		"pin no owner key":    {[]offline.Document{record, payload, sig}, offline.Pins{Owner: "UABC"}},
		"pin no address":      {[]offline.Document{record, payload, sig}, offline.Pins{Domain: domain + "00"}},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := offline.Verify(row.docs, row.pins, now); !errors.Is(err, offline.ErrUsage) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// What looks like something else is a payload when the caller says so.
func TestAPayloadMayLookLikeAReceipt(t *testing.T) {
	docs := []offline.Document{file(t, "record.json"), file(t, "signature.txt"), {Name: "p", Raw: []byte(`{"attestation":1}`), Payload: true}}
	r, err := offline.Verify(docs, offline.Pins{}, now)
	if err != nil || r.Verdict != offline.NotValid {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzVerify(f *testing.F) {
	for _, name := range []string{"record.json", "payload.json", "signature.txt", "receipt.json", "delegate.json"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"type":"vault.receipt","v":1,"entry":{},"head":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		payload, err := os.ReadFile(filepath.Join("testdata", "payload.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, docs := range [][]offline.Document{{{Name: "f", Raw: raw}}, {{Name: "f", Raw: raw}, {Name: "p", Raw: payload, Payload: true}}} {
			r, err := offline.Verify(docs, offline.Pins{}, now)
			if err == nil && r.Verdict == offline.Verified {
				t.Errorf("verified without a pin: %+v", r)
			}
		}
	})
}

// What was signed may be any JSON value, and stands beside the answer whatever it is.
func TestAnAnswerHoldsAnyPayload(t *testing.T) {
	for _, value := range []string{`[1]`, `"text"`, `null`, `7`} {
		r, err := offline.Verify([]offline.Document{together(t, offline.Document{Name: "p", Raw: []byte(value)})}, offline.Pins{Domain: domain}, now)
		if err != nil || r.Verdict != offline.NotValid {
			t.Errorf("%s, which was not signed: %+v, %v", value, r, err)
		}
	}
}

// A claim that no key has signed is said to be one.
func TestClaimsOfAnAnswerAreNamed(t *testing.T) {
	r, err := offline.Verify([]offline.Document{together(t, file(t, "payload.json"))}, offline.Pins{Domain: domain}, now)
	if err != nil || r.Verdict != offline.Verified {
		t.Fatalf("%+v, %v", r, err)
	}
	if all := strings.Join(r.Notes, " "); !strings.Contains(all, "claims of the answer") {
		t.Errorf("notes: %s", all)
	}
}

// What mint.request and mint.record answer is a record with the domain's word for its address.
func TestMintAnswer(t *testing.T) {
	answer := func(seed string) offline.Document {
		raw, err := json.Marshal(map[string]any{
			"mint": "0x00", "label": "issuer-asserted", "uses_left": 1,
			"record": json.RawMessage(file(t, "record.json").Raw), "attestation": json.RawMessage(attestation(t, seed).Raw),
		})
		if err != nil {
			t.Fatal(err)
		}
		return offline.Document{Name: "minted.json", Raw: raw}
	}
	for name, c := range map[string]struct {
		seed string
		pins offline.Pins
		want offline.Verdict
	}{
		"pinned":          {domainSeed, offline.Pins{Domain: domain}, offline.Verified},
		"not pinned":      {domainSeed, offline.Pins{}, offline.SelfConsistent},
		"another domain":  {domainSeed, offline.Pins{Domain: agent}, offline.NotValid},
		"another's words": {"0x" + strings.Repeat("07", 32), offline.Pins{Domain: domain}, offline.NotValid},
	} {
		r, err := offline.Verify([]offline.Document{answer(c.seed)}, c.pins, now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Verdict != c.want || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "Only the record was given.") }) {
			t.Errorf("%s: %d, %q", name, r.Verdict, r.Notes)
		}
	}
}
