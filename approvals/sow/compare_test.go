package sow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/derive/jcs"
)

var samples = []string{fixedFee, metered, free, open, directedOffer, "amendment-v2-proposal"}

// TestCompareEveryLeaf: no signed leaf of any sample can differ unseen.
func TestCompareEveryLeaf(t *testing.T) {
	leaves := 0
	for _, name := range samples {
		d := good(t, name)
		d.Value().Without("signatures").Leaves(func(path string, leaf jcs.Value) {
			leaves++
			to := `"another"`
			switch leaf.Kind() {
			case jcs.Number:
				to = "987654321"
			case jcs.Bool:
				to = map[bool]string{true: "false", false: "true"}[leaf.Bool()]
			}
			other := document(t, edit(t, d.Raw(), path, json.RawMessage(to)))
			if other.Digest() == d.Digest() {
				t.Fatalf("%s: %s did not change", name, path)
			}
			if len(sow.Compare(d, other)) == 0 {
				t.Errorf("%s: %s differs unseen", name, path)
			}
		})
		if c := sow.Compare(d, document(t, d.Value().Canonical())); len(c) != 0 {
			t.Errorf("%s differs from itself: %v", name, c)
		}
	}
	if leaves < 300 {
		t.Errorf("only %d leaves", leaves)
	}
}

// TestCompareAmendment: the sample's amendment, money first, then dates, and
// inserted entries of lists as themselves.
func TestCompareAmendment(t *testing.T) {
	var got []string
	for _, c := range sow.Compare(good(t, fixedFee), good(t, "amendment-v2-proposal")) {
		got = append(got, string(c.Kind)+" "+c.Path+": "+string(c.Old.Canonical())+" > "+string(c.New.Canonical()))
	}
	want := []string{
		`money revisions.flat.amount_micro: 600000 > 650000`,
		`money price.rates["chase-missing-credit-notes"].offering:  > "chase-missing-credit-notes"`,
		`money price.rates["chase-missing-credit-notes"].per_task:  > 500000`,
		`money price.ceiling.amount: 30000000 > 42000000`,
		`date ends_at: "2027-04-01T00:00:00Z" > "2027-10-01T00:00:00Z"`,
		`date reporting.every:  > "P2W"`,
		`other version: 1 > 2`,
		`other scope.offerings["chase-missing-credit-notes"]:  > "chase-missing-credit-notes"`,
		`other scope.examples.in_scope["Draft the chaser for the three credit notes Tidewater Cooperage still owes."]:  > "Draft the chaser for the three credit notes Tidewater Cooperage still owes."`,
		`other volume.per_hour: 3 > 4`,
		`other volume.per_day: 12 > 16`,
		`other reporting.level: "on_change" > "check_ins"`,
		`other reporting.additions[0]: "notify the accounts lead the same day when a supplier cannot be matched" > `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestCompareLists(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want string }{
		"another order":          {`{"scope":{"offerings":["a","b"]}}`, `{"scope":{"offerings":["b","a"]}}`, "scope.offerings (order)"},
		"inserted first":         {`{"x":["b"]}`, `{"x":["a","b"]}`, `x["a"]`},
		"rates in another order": {`{"x":[{"offering":"a","n":1},{"offering":"b","n":2}]}`, `{"x":[{"offering":"b","n":2},{"offering":"a","n":1}]}`, "x (order)"},
		"no names":               {`{"x":[1,2]}`, `{"x":[1,3]}`, "x[1]"},
		"the same name twice":    {`{"x":["a","a"]}`, `{"x":["a","b"]}`, "x[1]"},
		"list to text":           {`{"x":[]}`, `{"x":"a"}`, "x"},
		"empty list":             {`{"x":[]}`, `{"x":[{}]}`, "x[0]"},
		"empty object":           {`{"x":{}}`, `{}`, "x"},
		"null is not absent":     {`{"x":null}`, `{}`, "x"},
		"odd names":              {`{"a.b":{"c":1}}`, `{"a.b":{"c":2}}`, `["a.b"].c`},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, ch := range sow.Compare(document(t, []byte(c.a)), document(t, []byte(c.b))) {
				p := ch.Path
				if ch.Order {
					p += " (order)"
				}
				got = append(got, p)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}
