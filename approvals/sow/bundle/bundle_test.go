package bundle_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow/bundle"
	"vault/derive/jcs"
)

// TestEncode: every part comes out byte for byte as it went in.
func TestEncode(t *testing.T) {
	w := newWorld(t)
	for name, b := range map[string]bundle.Bundle{
		"a document alone": {Document: w.agreed},
		"an engagement": {Document: w.agreed, Confirmations: [][]byte{w.evidence}, Acts: [][]byte{w.act}, Versions: [][]byte{w.amendment},
			Records: []bundle.Record{{Kind: "quote", Raw: []byte(`{ "total" : 1.0 }`)}, {Kind: "a \"kind\"", Raw: []byte(`[]`)}}},
	} {
		raw, err := bundle.Encode(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := bundle.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(got.Document, bytes.TrimSpace(b.Document)) || len(got.Acts) != len(b.Acts) || len(got.Versions) != len(b.Versions) ||
			len(got.Confirmations) != len(b.Confirmations) || len(got.Records) != len(b.Records) {
			t.Errorf("%s: other parts: %s", name, raw)
		}
		for i, r := range got.Records {
			if r.Kind != b.Records[i].Kind || !bytes.Equal(r.Raw, b.Records[i].Raw) {
				t.Errorf("%s: record %d is %q %s", name, i, r.Kind, r.Raw)
			}
		}
		v, err := jcs.Parse(raw, jcs.SoW)
		if err != nil || !bundle.Is(v) {
			t.Errorf("%s: it is no bundle", name)
		}
	}
	for name, b := range map[string]bundle.Bundle{
		"no document":               {},
		"a list":                    {Document: []byte(`[]`)},
		"two documents":             {Document: []byte(`{},"acts":[{}],"x":{}`)},
		"an act that closes a list": {Document: w.agreed, Acts: [][]byte{[]byte(`{}],"versions":[{}`)}},
		"two acts in one":           {Document: w.agreed, Acts: [][]byte{[]byte(`{},{}`)}},
		"an act that is a number":   {Document: w.agreed, Acts: [][]byte{[]byte(`1`)}},
		"a record of nothing":       {Document: w.agreed, Records: []bundle.Record{{Kind: "quote"}}},
		"a record of two":           {Document: w.agreed, Records: []bundle.Record{{Kind: "quote", Raw: []byte(`1,"kind":"x"`)}}},
	} {
		if raw, err := bundle.Encode(b); err == nil || errors.Is(err, bundle.ErrTooLong) {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
	long := []byte(`{"a":"` + strings.Repeat("x", bundle.Max/2) + `"}`)
	many := slices.Repeat([]bundle.Record{{Kind: "quote", Raw: []byte(`{}`)}}, bundle.MaxItems+1)
	for name, b := range map[string]bundle.Bundle{
		"too long": {Document: w.agreed, Records: []bundle.Record{{Kind: "quote", Raw: long}, {Kind: "quote", Raw: long}}},
		"too many": {Document: w.agreed, Records: many},
	} {
		if _, err := bundle.Encode(b); !errors.Is(err, bundle.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bundle.Encode(bundle.Bundle{Document: w.agreed, Records: many[1:]}); err != nil {
		t.Errorf("as many as there may be: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing": ``, "a list": `[]`, "no document": `{"acts":[]}`, "a document that is none": `{"document":null}`,
		"another member": `{"document":{},"extra":1}`, "a member twice": `{"document":{},"document":{}}`,
		"acts that are no list": `{"document":{},"acts":{}}`, "an act that is none": `{"document":{},"acts":[1]}`,
		"a record without its kind": `{"document":{},"records":[{"record":{}}]}`, "a record with more": `{"document":{},"records":[{"kind":"a","record":1,"x":2}]}`,
		"too many": `{"document":{},"acts":[{}` + strings.Repeat(`,{}`, bundle.MaxItems) + `]}`,
		"too long": `{"document":{"a":"` + strings.Repeat("x", bundle.Max) + `"}}`,
		"trailing": `{"document":{}}{}`,
	} {
		if _, err := bundle.Parse([]byte(raw)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	for raw, is := range map[string]bool{`{"document":{}}`: true, `{"sow":"v1"}`: false, `{"sow":"v1","document":{}}`: false, `{"document":1}`: false, `[]`: false} {
		if v, err := jcs.Parse([]byte(raw), jcs.SoW); err != nil || bundle.Is(v) != is {
			t.Errorf("%s: a bundle %v", raw, !is)
		}
	}
}

// FuzzParse: what is read is written again with the same parts, and is judged
// without a panic.
func FuzzParse(f *testing.F) {
	w := newWorld(f)
	raw, err := bundle.Encode(bundle.Bundle{Document: w.agreed, Confirmations: [][]byte{w.evidence}, Acts: [][]byte{w.act}, Versions: [][]byte{w.amendment}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"document":{"sow":"v1"},"acts":[{"act":"denial"}],"versions":[{}],"records":[{"kind":"verdict","record":{}}]}`))
	f.Add([]byte(`{"document":{"signatures":[{"role":"client"}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := bundle.Parse(raw)
		if err != nil {
			return
		}
		again, err := bundle.Encode(b)
		if err != nil {
			t.Fatalf("not written again: %v", err)
		}
		c, err := bundle.Parse(again)
		if err != nil || !bytes.Equal(c.Document, b.Document) || len(c.Acts) != len(b.Acts) || len(c.Records) != len(b.Records) {
			t.Fatalf("read again as something else: %v", err)
		}
		r := bundle.Verify(b, bundle.Pins{})
		if r.Valid && r.Tied {
			t.Fatal("something is tied to no pin")
		}
	})
}
