package permit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

var (
	hash   = "0x" + strings.Repeat("ab", 32)
	domain = Domain{TypeDomain, 1, hash, json.RawMessage(`{"kind":"agent"}`), 1}
	client = Client{TypeClient, 1, "c_0123456789abcdef", "Mine", "théirs\u0000", -1, "", hash, 2}
	grant  = Grant{TypeGrant, 1, "g_0123456789abcdef", "c_0123456789abcdef", hash, hash, 10, 3, 2, false, "click"}
)

// rows are a body of each kind with its own parser.
func rows(t testing.TB) map[string]struct {
	body  []byte
	parse func([]byte) ([]byte, error)
} {
	type row = struct {
		body  []byte
		parse func([]byte) ([]byte, error)
	}
	must := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return map[string]row{
		TypeDomain: {must(Encode(domain)), func(b []byte) ([]byte, error) {
			d, err := ParseDomain(b)
			if err != nil {
				return nil, err
			}
			return Encode(d)
		}},
		TypeClient: {must(Encode(client)), func(b []byte) ([]byte, error) {
			c, err := ParseClient(b)
			if err != nil {
				return nil, err
			}
			return Encode(c)
		}},
		TypeDelegate: {must(Encode(Delegate{TypeDelegate, 1, hash, hash, 7, true, 4, true, "my bot"})), func(b []byte) ([]byte, error) {
			d, err := ParseDelegate(b)
			if err != nil {
				return nil, err
			}
			return Encode(d)
		}},
		TypeGrant: {must(Encode(grant)), func(b []byte) ([]byte, error) {
			g, err := ParseGrant(b)
			if err != nil {
				return nil, err
			}
			return Encode(g)
		}},
	}
}

func TestRowsAreReadBackAndNothingElse(t *testing.T) {
	all := rows(t)
	for kind, row := range all {
		t.Run(kind, func(t *testing.T) {
			again, err := row.parse(row.body)
			if err != nil || !bytes.Equal(again, row.body) {
				t.Fatalf("read back %s (%v)", again, err)
			}
			for other, r := range all {
				if other == kind {
					continue
				}
				if _, err := r.parse(row.body); !errors.Is(err, ErrWrongType) {
					t.Errorf("read as %s: %v", other, err)
				}
			}
			for _, wrong := range []string{
				strings.Replace(string(row.body), `"v":1`, `"v":2`, 1),
				strings.Replace(string(row.body), `"v":1`, `"v":1,"w":1`, 1),
				strings.Replace(string(row.body), `,"v":1`, ``, 1),
				strings.Replace(string(row.body), hash, strings.ToUpper(hash), 1),
				" " + string(row.body),
				string(row.body) + "{}",
			} {
				if _, err := row.parse([]byte(wrong)); err == nil {
					t.Errorf("read %s", wrong)
				}
			}
		})
	}
}

func TestGrantLimits(t *testing.T) {
	for _, uses := range []int64{0, -1, GrantUsesMax + 1} {
		g := grant
		g.Uses = uses
		body, err := Encode(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseGrant(body); err == nil {
			t.Errorf("a grant of %d uses is read", uses)
		}
	}
}

func FuzzParse(f *testing.F) {
	all := rows(f)
	for _, r := range all {
		f.Add(r.body)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for kind, r := range all {
			again, err := r.parse(raw)
			if err == nil && !bytes.Equal(again, raw) {
				t.Fatalf("%s: read %q, wrote %q", kind, raw, again)
			}
		}
	})
}
