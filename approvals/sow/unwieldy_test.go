package sow_test

import (
	"errors"
	"strings"
	"testing"

	"vault/approvals/sow"
)

// TestUnwieldy: a long name around a long list is no document; as long a list under a short one, and as long a name around one
// value, are.
func TestUnwieldy(t *testing.T) {
	of := func(name, values int) []byte {
		return []byte(`{"` + strings.Repeat("a", name) + `":[0` + strings.Repeat(",0", values-1) + `]}`)
	}
	for what, c := range map[string]struct {
		raw     []byte
		refused bool
	}{
		"a long name and list":  {of(20_000, 5000), true},
		"as much as there is":   {of(500_000, 250_000), true},
		"nested":                {[]byte(strings.Repeat(`{"`+strings.Repeat("b", 2000)+`":`, 60) + string(of(10, 5000)) + strings.Repeat("}", 60)), true},
		"a long list":           {of(10, 500_000), false},
		"a long name":           {of(1_000_000, 1), false},
		"a short name and list": {of(10, 3), false},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := sow.Parse(c.raw)
			if refused := errors.Is(err, sow.ErrUnwieldy); refused != c.refused || err != nil && !refused {
				t.Errorf("%v", err)
			}
			if _, f := sow.Read(c.raw, sow.Options{}); c.refused && !f.Refused("document_too_large") {
				t.Errorf("findings: %v", f)
			}
		})
	}
}

// TestReadable: a document of more values than a person is shown is read, and is not one to be signed.
func TestReadable(t *testing.T) {
	for n, want := range map[int]bool{1: true, sow.MaxLeaves: true, sow.MaxLeaves + 1: false, 500_000: false} {
		d, err := sow.Parse([]byte(`{"a":[0` + strings.Repeat(",0", n-1) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if d.Readable() != want {
			t.Errorf("%d values: %v", n, !want)
		}
	}
}
