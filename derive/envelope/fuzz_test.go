package envelope

import (
	"encoding/json"
	"strings"
	"testing"

	"vault/derive/jcs"
)

// seed adds the named member of every vector of an operation.
func seed(f *testing.F, op, member string) {
	f.Add([]byte(`{}`))
	for _, in := range corpus(f, op, all) {
		if raw, ok := in[member]; ok {
			f.Add([]byte(raw))
		}
	}
}

// stable checks that what a parser accepted reads back from its canonical form
// as the same, and that no other profile was let in.
func stable[T interface{ Canonical() []byte }](t *testing.T, raw []byte, parse func([]byte) (T, error)) {
	v, err := parse(raw)
	if err != nil {
		if strings.TrimSpace(err.Error()) == "" {
			t.Fatal("an error without words")
		}
		return
	}
	canonical, err := jcs.Canonical(raw, jcs.AgentEnvelope)
	if err != nil || string(canonical) != string(v.Canonical()) {
		t.Fatalf("parsed as %s, is %s, %v", v.Canonical(), canonical, err)
	}
	again, err := parse(v.Canonical())
	if err != nil || string(again.Canonical()) != string(v.Canonical()) {
		t.Fatalf("%s does not read back: %v", v.Canonical(), err)
	}
}

func FuzzDomainInfo(f *testing.F) {
	seed(f, "projectDomain", "domainInfo")
	f.Fuzz(func(t *testing.T, raw []byte) { stable(t, raw, ParseDomainInfo) })
}

func FuzzActionEnvelope(f *testing.F) {
	for _, in := range corpus(f, "verifyRecord", all) {
		var r struct{ ActionEnvelope json.RawMessage }
		if json.Unmarshal(in["record"], &r) == nil {
			f.Add([]byte(r.ActionEnvelope))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseActionEnvelope)
		e, err := ParseActionEnvelope(raw)
		if err != nil {
			return
		}
		e.Warnings()
		// An envelope in normal form is what the builder makes of its fields.
		if built, err := NewActionEnvelopeFor(e.DomainID(), e.DomainHash(), e.Fields()); err == nil {
			again, err := NewActionEnvelopeFor(built.DomainID(), built.DomainHash(), built.Fields())
			if err != nil || again.Hash() != built.Hash() {
				t.Fatalf("normal form is not stable: %v", err)
			}
		}
	})
}

func FuzzActionFields(f *testing.F) {
	seed(f, "deriveCapability", "fields")
	seed(f, "buildActionEnvelope", "fields")
	f.Fuzz(func(t *testing.T, raw []byte) {
		fields, err := ParseActionFields(raw)
		if err != nil {
			return
		}
		e, err := NewActionEnvelopeFor("d", "0x"+strings.Repeat("a", 64), fields)
		if err != nil {
			return
		}
		for _, w := range e.Warnings() {
			if strings.Contains(w, "normal form") {
				t.Fatalf("built but not in normal form: %s", e.Canonical())
			}
		}
	})
}

func FuzzProjection(f *testing.F) {
	for _, in := range corpus(f, "verifyRecord", all) {
		var r struct{ Domain json.RawMessage }
		if json.Unmarshal(in["record"], &r) == nil {
			f.Add([]byte(r.Domain))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := ParseProjection(raw)
		if err != nil {
			return
		}
		// domainId beside domainInfo is read and not written.
		again, err := ParseProjection(p.Canonical())
		if err != nil || string(again.Canonical()) != string(p.Canonical()) {
			t.Fatalf("%s does not read back: %v", p.Canonical(), err)
		}
	})
}

func FuzzRecord(f *testing.F) {
	seed(f, "verifyRecord", "record")
	_, payload, sig, now := validRecord(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseRecord)
		r := VerifyRecord(raw, payload, sig, RecordOptions{Now: now})
		if _, err := ParseRecord(raw); err == nil && !r.Valid {
			c, _ := r.Check("addressMatches")
			w, _ := r.Check("withinTimeWindow")
			if c.OK && w.OK {
				t.Fatalf("parses but does not verify: %s", r.Reason)
			}
		}
	})
}

func FuzzMintDelegate(f *testing.F) {
	seed(f, "verifyMintDelegate", "delegate")
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseMintDelegate)
		r, d := VerifyMintDelegate(raw, Pins{})
		if r.Valid && (d == nil || r.Pinned || !sameAddress(r.Recovered, d.IssuerAddress())) {
			t.Fatalf("%+v", r)
		}
		if stripped, _, err := SplitDelegate(raw); err == nil {
			if again, s, err := SplitDelegate(stripped); err != nil || s != nil || string(again) != string(stripped) {
				t.Fatalf("splits again: %v", err)
			}
		}
	})
}

func FuzzMintRequest(f *testing.F) {
	seed(f, "verifyMintRequest", "request")
	_, delegate, pins, now := validMint(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseMintRequest)
		if r, m := VerifyMintRequest(raw, delegate, pins, now); r.Valid != (m.Request() != nil) {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzReceiptAndLegitimacy(f *testing.F) {
	seed(f, "verifyReceipt", "receipt")
	seed(f, "isAuthorityLegitimate", "state")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r := VerifyReceipt(raw, Pins{}); r.Valid && r.Recovered == "" || r.Pinned {
			t.Fatalf("%+v", r)
		}
		if r := VerifyLegitimacy(raw, nil, 0); r.Valid == (r.Reason != "") {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzPayload(f *testing.F) {
	for _, in := range corpus(f, "signAction", all) {
		f.Add([]byte(text(f, in["payload"])))
	}
	f.Add([]byte(`{"type":"agentenvelope.x","resources":["a"]}`))
	record, _, _, _ := validRecord(f)
	rec, err := ParseRecord(record)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParsePayload)
		if p, err := ParsePayload(raw); err == nil {
			p.Contradictions(rec.Envelope())
			if strings.HasPrefix(p.Value().Get("type").Text(), "agentenvelope.") && p.Signable() == nil {
				t.Fatal("a typed payload is signable")
			}
		}
	})
}

func FuzzSignature(f *testing.F) {
	for _, in := range corpus(f, "verifyAction", all) {
		f.Add(text(f, in["signature"]))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if sig, err := ParseSignature(s); err == nil && sig.String() != s {
			t.Fatalf("%s became %s", s, sig)
		}
	})
}

func FuzzOwnerKey(f *testing.F) {
	f.Add("UBILKZEGGRAWJKMM4CLPZI7NZTA2ED5344QWRM2I7LJ6KEEGGQE2FJFM")
	f.Add("U")
	f.Fuzz(func(t *testing.T, s string) {
		pub, err := ParseOwnerKey(s)
		if err != nil {
			return
		}
		if again, err := EncodeOwnerKey(pub); err != nil || again != s {
			t.Fatalf("%s became %s, %v", s, again, err)
		}
	})
}

func FuzzTime(f *testing.F) {
	for _, s := range []string{"2026-09-21T14:13:20.001Z", "+010000-01-01T00:00:00.000Z", "2026-09-21T16:13:20+02:00", "soon"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, err := ParseTime(s)
		if err != nil {
			return
		}
		text, err := FormatTime(ms)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "-") {
			return // years before 0 are written and not read
		}
		if again, err := ParseTime(text); err != nil || again != ms {
			t.Fatalf("%s is %d, %s is %d, %v", s, ms, text, again, err)
		}
	})
}
