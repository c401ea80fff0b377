package minted

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"vault/derive"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

const (
	owner = "UABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJKLMNOPQRSTUVWX"
	agent = "0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835"
	at    = int64(1_796_000_000_000)
)

// capability is a delegate of a domain, and a request under it.
func capability(t *testing.T, edit func(*envelope.RequestFields)) (Of, []byte) {
	t.Helper()
	root := bytes.Repeat([]byte{7}, 32)
	info, err := envelope.NewDomainInfo("example", "support-ops", "communication")
	if err != nil {
		t.Fatal(err)
	}
	domain, err := derive.Project(root, info, "2026-11-30T00:00:00.000Z")
	if err != nil {
		t.Fatal(err)
	}
	d, err := envelope.NewMintDelegate(domain.Address(), envelope.DelegateFields{
		DomainHash: info.Hash(), AllowedOperations: []string{"send"}, AllowedResources: []string{"thread:*"}, BotPolicy: envelope.BotAny,
		IndexMax: 9, MaxMints: 3, MaxUsesPerAction: 2, Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-11-30T00:00:00.000Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	f := envelope.RequestFields{
		AgentID: "bot", Operation: "send", Resources: []string{"thread:1"}, ActionIndex: 4, MaxUses: 2,
		Window: envelope.Window{NotBefore: envelope.Some(at), NotAfter: envelope.Some(at + 1000)}, Nonce: "n", RequestedAt: "2026-11-30T00:00:00.000Z",
	}
	if edit != nil {
		edit(&f)
	}
	q, err := envelope.NewMintRequest(agent, d, f)
	if err != nil {
		t.Fatal(err)
	}
	return Of{Delegate: d, Request: q, Domain: domain, At: at}, root
}

// TestRecord: the same capability is the same record, it says what was asked for, and another one is another.
func TestRecord(t *testing.T) {
	m, _ := capability(t, nil)
	raw, err := m.Record(owner, agent)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Record(owner, agent)
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("the second time: %s, %v", again, err)
	}
	rec, err := envelope.ParseRecord(raw)
	if err != nil {
		t.Fatal(err)
	}
	env, err := m.Envelope()
	if err != nil {
		t.Fatal(err)
	}
	if f := rec.Envelope().Fields(); rec.AgentAddress() != agent || rec.Envelope().Hash() != env.Hash() || f.MaxUses.N != 2 || f.ActionIndex != 4 ||
		f.Operation != "send" || f.Mode != envelope.ModeBoth || !strings.Contains(string(raw), envelope.CustodyRemoteMint) || !strings.Contains(string(raw), envelope.OwnerUserID(owner)) {
		t.Errorf("%s", raw)
	}
	open, _ := capability(t, func(f *envelope.RequestFields) { f.Window.NotAfter = envelope.Opt{} })
	if e, err := open.Envelope(); err != nil || e.Fields().Mode != envelope.ModeAction || e.Hash() == env.Hash() {
		t.Errorf("without an end: %+v, %v", e, err)
	}
	for name, change := range map[string]func(*Of){
		"another time":  func(m *Of) { m.At++ },
		"another nonce": func(m *Of) { *m, _ = capability(t, func(f *envelope.RequestFields) { f.AgentID = "other" }) },
	} {
		n := m
		change(&n)
		if other, err := n.Record(owner, agent); err != nil || bytes.Equal(other, raw) {
			t.Errorf("%s: %v, the same %v", name, err, bytes.Equal(other, raw))
		}
	}
	// A request under another delegate makes nothing.
	foreign, _ := capability(t, nil)
	d, err := envelope.NewMintDelegate(m.Domain.Address(), func() envelope.DelegateFields { f := m.Delegate.Fields(); f.MaxMints = 4; return f }())
	if err != nil {
		t.Fatal(err)
	}
	foreign.Delegate = d
	if raw, err := foreign.Record(owner, agent); err == nil {
		t.Errorf("of another delegate: %s", raw)
	}
	if foreign.Attests(agent, []byte(`{}`)) {
		t.Error("of another delegate an address is attested")
	}
}

// TestAttests: only the domain's own word over this envelope and address counts.
func TestAttests(t *testing.T) {
	m, root := capability(t, nil)
	env, err := m.Envelope()
	if err != nil {
		t.Fatal(err)
	}
	attested := func(address string, by [32]byte) []byte {
		t.Helper()
		a := envelope.AddressAttestation{DomainHash: env.DomainHash(), ActionEnvelopeHash: env.Hash(), AgentAddress: address}
		digest, err := a.Digest()
		if err != nil {
			t.Fatal(err)
		}
		sig, err := derive.SignDigest(by[:], digest)
		if err != nil {
			t.Fatal(err)
		}
		who, err := derive.Address(by[:])
		if err != nil {
			t.Fatal(err)
		}
		raw, err := a.Signed(who, sig)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	var seed derive.Secret
	defer seed.Clear()
	if err := derive.DomainSeed(&seed, root, m.Domain.Info()); err != nil {
		t.Fatal(err)
	}
	own := [32]byte(seed[:])
	other, _ := capability(t, func(f *envelope.RequestFields) { f.Nonce, f.AgentID = "m", "other" })
	for name, c := range map[string]struct {
		of      Of
		address string
		raw     []byte
		want    bool
	}{
		"its own":                 {m, agent, attested(agent, own), true},
		"of another address":      {m, "0x" + strings.Repeat("12", 20), attested(agent, own), false},
		"of another capability":   {other, agent, attested(agent, own), false},
		"by somebody else":        {m, agent, attested(agent, [32]byte{1, 2, 3}), false},
		"nothing":                 {m, agent, nil, false},
		"an address that is none": {m, "0x12", attested(agent, own), false},
	} {
		if got := c.of.Attests(c.address, c.raw); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAnswersAreCanonical: an answer's members stand in the order of canonical JSON, so that its bytes are those that a receipt would have.
func TestAnswersAreCanonical(t *testing.T) {
	ref := &envelope.LegitimacyRef{LegitimacyID: "l", Required: true, PolicyID: "p", StateVersion: envelope.Some(4), StateHash: "0x" + strings.Repeat("ab", 32)}
	for name, v := range map[string]any{
		"a mint":              Answer{Attestation: json.RawMessage(`{}`), Record: json.RawMessage(`{}`), Label: Label, Seq: 7},
		"with legitimacy":     Answer{Attestation: json.RawMessage(`{}`), Record: json.RawMessage(`{}`), Label: Label, Seq: 7, Legitimacy: LegitimacyOf(&envelope.LegitimacyRef{LegitimacyID: "l"})},
		"a record":            RecordAnswer{Attestation: json.RawMessage(`{}`), Record: json.RawMessage(`{}`), Label: Label},
		"no legitimacy":       RecordAnswer{Attestation: json.RawMessage(`{}`), Record: json.RawMessage(`{}`), Label: Label, Legitimacy: LegitimacyOf(nil)},
		"the whole reference": RecordAnswer{Attestation: json.RawMessage(`{}`), Record: json.RawMessage(`{}`), Label: Label, Legitimacy: LegitimacyOf(ref)},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := jcs.Parse(raw, jcs.Binding)
		if err != nil {
			t.Fatal(err)
		}
		top := func(v jcs.Value) (names []string) {
			for n := range v.Members() {
				names = append(names, n.Name)
			}
			return names
		}
		if got := top(tree); !isSorted(got) {
			t.Errorf("%s: %v", name, got)
		}
		if got := tree.Get("legitimacy"); strings.HasPrefix(name, "the whole") && (got.Get("stateHash").Text() != ref.StateHash || got.Get("policyId").Text() != "p") {
			t.Errorf("%s: %s", name, raw)
		} else if got.Exists() && name == "no legitimacy" || name == "with legitimacy" && got.Len() != 2 {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

func isSorted(names []string) bool {
	for i := 1; i < len(names); i++ {
		if names[i-1] > names[i] {
			return false
		}
	}
	return len(names) > 0
}

func use() Used {
	return Used{
		Address: agent, Attestation: []byte(`{"a":1}`), Head: []byte(`{"h":2}`), Mint: "0x" + strings.Repeat("ab", 32), Record: []byte(`{"r":3}`),
		Seq: 12, Signature: "0x" + strings.Repeat("cd", 65), Use: 2, UsesLeft: 1,
	}
}

// TestUsedIsReadAsItWasWritten, and every edit of it is read as another, or not at all.
func TestUsedIsReadAsItWasWritten(t *testing.T) {
	raw := use().Canonical()
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil || !bytes.Equal(v.Canonical(), raw) {
		t.Fatalf("not canonical: %s, %v", raw, err)
	}
	got, err := ParseUsed(raw)
	if err != nil || !bytes.Equal(got.Canonical(), raw) {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, edit := range map[string][2]string{
		"another label":    {Label, "checked"},
		"a member more":    {`{"agent_address"`, `{"a":1,"agent_address"`},
		"a member less":    {`,"uses_left":1`, ``},
		"another member":   {`"uses_left"`, `"left"`},
		"a negative use":   {`"use":2`, `"use":-2`},
		"a text for a use": {`"use":2`, `"use":"2"`},
		"a negative seq":   {`"seq":12`, `"seq":-12`},
		"half a use":       {`"use":2`, `"use":2.5`},
		"no object":        {string(raw), `[]`},
		"no JSON":          {string(raw), `{`},
		"nothing":          {string(raw), ``},
	} {
		if u, err := ParseUsed([]byte(strings.Replace(string(raw), edit[0], edit[1], 1))); err == nil {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// FuzzParseUsed: what is read is written as the same canonical bytes.
func FuzzParseUsed(f *testing.F) {
	f.Add(use().Canonical())
	f.Add([]byte(`{}`))
	f.Add([]byte(`[1]`))
	f.Add([]byte(strings.Replace(string(use().Canonical()), `"seq":12`, `"seq":9007199254740991`, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := ParseUsed(raw)
		if err != nil {
			return
		}
		v, err := jcs.Parse(raw, jcs.Binding)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"agent_address", "mint", "signature"} {
			if v.Get(m).Kind() != jcs.String || strings.ContainsFunc(v.Get(m).Text(), func(r rune) bool { return r < 0x20 || r == '"' || r == '\\' || r > 0x7e }) {
				return // texts of ours need no escape; the caller compares them
			}
		}
		if !bytes.Equal(u.Canonical(), v.Canonical()) {
			t.Errorf("%s is written as %s", v.Canonical(), u.Canonical())
		}
	})
}
