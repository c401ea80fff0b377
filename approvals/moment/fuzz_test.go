package moment

import (
	"bytes"
	"testing"

	"vault/derive/jcs"
)

func seeds(f *testing.F, suites ...string) {
	for _, s := range suites {
		for _, v := range own(f, s).Vectors {
			if len(v.Raw) < 4<<10 {
				f.Add(v.bytes(f))
			}
		}
	}
}

// FuzzParse: what parses has one spelling.
func FuzzParse(f *testing.F) {
	seeds(f, "envelopes-valid", "envelopes-malformed", "envelopes-ambiguous")
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Parse(raw)
		if err != nil {
			if ReasonOf(err).Sentence() == "" {
				t.Fatalf("%v has no sentence", err)
			}
			return
		}
		canonical, err := jcs.Canonical(raw, jcs.Binding)
		if err != nil || !bytes.Equal(canonical, e.Canonical()) || e.Digest() != DigestOf(canonical) {
			t.Fatalf("parsed as %s, is %s, %v", e.Canonical(), canonical, err)
		}
		again, err := Parse(canonical)
		if err != nil || again.Digest() != e.Digest() || again.Question() != e.Question() {
			t.Fatalf("%s does not read back: %v", canonical, err)
		}
	})
}

// FuzzToolResult: an envelope is rendered only as the bare value of the member is.
func FuzzToolResult(f *testing.F) {
	seeds(f, "toolresults")
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := ToolResult(raw)
		if (r.Envelope != nil) != (r.Outcome == Render) || (r.Fault != nil) != (r.Outcome == Malformed || r.Outcome == OverLimit) {
			t.Fatalf("%+v", r)
		}
		if r.Envelope == nil {
			return
		}
		if v, err := jcs.Parse(raw, jcs.Binding); err == nil {
			b := Bare(v.Get("binding_moment").Raw(), "")
			if b.Envelope == nil || b.Envelope.Digest() != r.Envelope.Digest() {
				t.Fatalf("alone it is %+v", b)
			}
		}
	})
}

// FuzzParseResolution: what parses is written in one way.
func FuzzParseResolution(f *testing.F) {
	seeds(f, "resolutions")
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := ParseResolution(raw)
		if err != nil {
			return
		}
		canonical, err := jcs.Canonical(raw, jcs.Binding)
		if err != nil || !bytes.Equal(canonical, r.Canonical()) {
			t.Fatalf("written as %s, is %s, %v", r.Canonical(), canonical, err)
		}
	})
}

// FuzzParseBehind: what is cut out is what the strict reader finds, and a sheet of
// it is made or refused, never half made.
func FuzzParseBehind(f *testing.F) {
	f.Add([]byte(`[{"option":0,"action":` + payload + `,"sign_with":` + permission + `}]`))
	f.Add([]byte(`[{"option":1,"action":{"a":[1.0,-0,null]}},{"option":0,"sign_with":{}}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		behind, err := ParseBehind(raw)
		if err != nil {
			return
		}
		if v, err := jcs.Parse(raw, jcs.Binding); err == nil {
			for i, it := range v.Items() {
				if !bytes.Equal(it.Get("action").Raw(), behind[i].Action) || !bytes.Equal(it.Get("sign_with").Raw(), behind[i].SignWith) {
					t.Fatalf("entry %d was cut as %q and %q", i, behind[i].Action, behind[i].SignWith)
				}
			}
		}
		s, err := NewSheet(newDraft().parse(t), behind)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
	})
}
