package confirm

import (
	"crypto/elliptic"
	"testing"

	"vault/derive/jcs"
)

// stable checks that what a parser accepted is its own canonical form, and reads
// back as the same.
func stable[T interface{ Canonical() []byte }](t *testing.T, raw []byte, parse func([]byte) (T, error)) {
	t.Helper()
	v, err := parse(raw)
	if err != nil {
		if err.Error() == "" {
			t.Fatal("an error without words")
		}
		return
	}
	canonical, err := jcs.Canonical(raw, jcs.Binding)
	if err != nil || string(canonical) != string(v.Canonical()) {
		t.Fatalf("parsed as %s, is %s, %v", v.Canonical(), canonical, err)
	}
	again, err := parse(v.Canonical())
	if err != nil || string(again.Canonical()) != string(v.Canonical()) {
		t.Fatalf("%s does not read back: %v", v.Canonical(), err)
	}
}

func FuzzContext(f *testing.F) {
	for _, v := range vectorSets(f)[0].Vectors {
		f.Add([]byte(v.CanonicalContext))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseContext)
		c, err := ParseContext(raw)
		if err != nil || !IsPageOrigin(c.fields.Origin, c.fields.RPID) {
			return
		}
		again, err := NewContext(c.Fields())
		if err != nil || again.Challenge() != c.Challenge() {
			t.Fatalf("%s is built as another: %v", c.Canonical(), err)
		}
	})
}

func FuzzRecord(f *testing.F) {
	s := vectorSets(f)[0]
	for _, v := range s.Vectors {
		f.Add(v.raw())
	}
	pins, at := s.pins(f, s.Vectors[0])
	accepted := map[string]bool{}
	for _, v := range s.Vectors {
		if v.Expect == "accepted" {
			accepted[v.Challenge] = true
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseRecord)
		if got := VerifyRecord(raw, pins, at); got.Valid {
			r, err := ParseRecord(raw)
			if err != nil || !accepted[r.Context().ChallengeText()] {
				t.Fatalf("a record that nobody signed: %q", raw)
			}
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, k := range vectorSets(f)[0].Keys {
		cose, _ := unbase64(k.COSE)
		f.Add(cose)
	}
	for _, make := range []func(testing.TB) ([]byte, func([]byte) []byte){
		eddsa, rs256, func(t testing.TB) ([]byte, func([]byte) []byte) { return es256(t, elliptic.P256()) },
	} {
		cose, _ := make(f)
		f.Add(cose)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := ParseKey(raw)
		if err != nil {
			return
		}
		if string(k.COSE()) != string(raw) || len(k.Digits()) != 6 || k.Alg().String() == "unknown" {
			t.Fatalf("%x is read as %x", raw, k.COSE())
		}
		if k.verify([]byte("nobody signed this"), make([]byte, 64)) {
			t.Fatalf("anybody can sign with %x", raw)
		}
	})
}

func FuzzAuthData(f *testing.F) {
	for _, v := range vectorSets(f)[0].Vectors {
		if r, err := ParseRecord(v.raw()); err == nil {
			f.Add(r.authData)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := ParseAuthData(raw)
		if err == nil && (len(raw) < 37 || string(a.RPIDHash[:]) != string(raw[:32])) {
			t.Fatalf("%x is read as %+v", raw, a)
		}
	})
}

func FuzzClientData(f *testing.F) {
	for _, v := range vectorSets(f)[0].Vectors {
		if r, err := ParseRecord(v.raw()); err == nil {
			f.Add(r.clientData)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseClientData(raw)
		if err != nil {
			return
		}
		canonical, err := jcs.Canonical(raw, jcs.SoW)
		if err != nil {
			t.Fatalf("%q is read and is not strict: %v", raw, err)
		}
		if again, err := parseClientData(canonical); err != nil || again != c {
			t.Fatalf("%q reads back as %+v, %v", raw, again, err)
		}
	})
}

func FuzzEvidence(f *testing.F) {
	w := newWorld(f)
	f.Add(w.evidence(f).Canonical())
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseEvidence)
		if e, err := ParseEvidence(raw); err == nil && e.Verify(EvidencePins{}).Pinned {
			t.Fatal("pinned by nothing")
		}
	})
}

func FuzzOwnerCard(f *testing.F) {
	w := newWorld(f)
	f.Add(w.signedCard(f).Canonical())
	f.Fuzz(func(t *testing.T, raw []byte) {
		stable(t, raw, ParseOwnerCard)
		if c, err := ParseOwnerCard(raw); err == nil {
			if again, err := NewOwnerCard(c.Fields()); err != nil || string(again.SigningBytes()) != string(c.SigningBytes()) {
				t.Fatalf("%s is built as another: %v", c.Canonical(), err)
			}
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	s := vectorSets(b)[0]
	pins, at := s.pins(b, s.Vectors[0])
	raw := s.Vectors[0].raw()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if got := VerifyRecord(raw, pins, at); !got.Valid {
			b.Fatalf("%+v", got)
		}
	}
}

func BenchmarkEvidenceWithCard(b *testing.B) {
	w := newWorld(b)
	card, raw := w.signedCard(b), w.evidence(b).Canonical()
	for b.Loop() {
		e, err := ParseEvidence(raw)
		if err != nil {
			b.Fatal(err)
		}
		if got := card.VerifyEvidence(e); !got.Pinned {
			b.Fatalf("%+v", got)
		}
	}
}

func BenchmarkParseKey(b *testing.B) {
	for name, make := range map[string]func(testing.TB) ([]byte, func([]byte) []byte){
		"ES256": func(t testing.TB) ([]byte, func([]byte) []byte) { return es256(t, elliptic.P256()) }, "EdDSA": eddsa, "RS256": rs256,
	} {
		b.Run(name, func(b *testing.B) {
			cose, _ := make(b)
			for b.Loop() {
				if _, err := ParseKey(cose); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
