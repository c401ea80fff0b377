package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/derive/jcs"
)

const now = 1793000000000 // 26 October 2026

// sets are the folders with vectors: our own and any further set.
func sets() []string {
	out := []string{filepath.Join("..", "testdata", "docs"), filepath.Join("testdata", "docs")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		out = append(out, filepath.Join(dir, "sow", "docs"))
	}
	return out
}

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, dir := range sets() {
		list, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := sow.Parse(raw); err == nil && d.Get("parties").Exists() {
				out[filepath.ToSlash(f)] = raw
			}
		}
	}
	if len(out) < 6 {
		t.Fatalf("only %d documents were found", len(out))
	}
	return out
}

// fixtures are the documents inside the conformance data, where it is there.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "vectors", "sow", "fixtures")
	list, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(list) == 0 {
		t.Logf("no fixtures at %s", dir)
		return nil
	}
	out := map[string][]byte{}
	for _, f := range list {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(raw, &tree); err != nil {
			t.Fatal(err)
		}
		find(tree, func(m map[string]any) {
			_, price := m["price"]
			_, parties := m["parties"]
			if _, ok := m["sow"]; !ok && !(price && parties) {
				return
			}
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sow.Parse(b); err == nil {
				out[fmt.Sprintf("%s#%d", filepath.Base(f), len(out))] = b
			}
		})
	}
	return out
}

func find(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, x := range v {
			find(x, f)
		}
	case []any:
		for _, x := range v {
			find(x, f)
		}
	}
}

func parse(t testing.TB, raw []byte) *sow.Document {
	t.Helper()
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func facts(d *sow.Document, ours string) page.Facts {
	seats := d.VerifySignatures(sow.Pins{})
	return page.Facts{Now: now, Ours: ours, Seats: seats, Findings: d.Validate(sow.Options{}), State: d.State(sow.Situation{Seats: seats, Now: now}), Deployment: all()}
}

// bare is the text of a page without what would change with any byte of the
// document: its digest, whether signatures verify, and the findings, so that
// only the clauses can show a change.
func bare(raw []byte, ours string) string {
	d, err := sow.Parse(raw)
	if err != nil {
		return "unreadable"
	}
	p := page.Of(d, page.Facts{Now: now, Ours: ours, Deployment: all()})
	p.Digest, p.ID, p.Version, p.Title, p.Status, p.Notices, p.Records = "", nil, 0, "", nil, nil, nil
	p.Parties, p.Figures, p.Bar = [2]page.Party{}, [3]page.Figure{}, page.Bar{}
	for i := range p.Parties {
		p.Parties[i].Role = "x"
	}
	return p.Text()
}

func all() sow.Deployment {
	return sow.Deployment{Scope: true, Inputs: true, DeliverableForm: true, Revisions: true, Volume: true, Term: true, ChangeControl: true, Termination: true,
		Rating: true, RefusesCharge: true, ClientMeters: true, Sealed: true, Retention: true, ClearingHolds: true, ClearingReverses: true,
		OperatorQuotes: true, OperatorSettles: true, VerifiesCounterparty: true, ChecksFormation: true, HoldsApproval: true}
}

// edits are the values a leaf is changed to, each another value than it was.
func edits(v any, r *rand.Rand) []any {
	switch v := v.(type) {
	case string:
		out := []any{v + "x", "x" + v, v + " ", nil, 7.0, strings.ToUpper(v) + "A", []any{}, map[string]any{}, []any{v}, map[string]any{"a": v}, v + "\u200b", "\u202e" + v, v + "\n"}
		if len(v) > 1 {
			out = append(out, v[:len(v)-1])
			b := []byte(v)
			i := r.IntN(len(b))
			if b[i] < 0x7f && b[i] > 0x20 {
				b[i]++
				out = append(out, string(b))
			}
		}
		return out
	case float64:
		return []any{v + 1, -v - 1, v * 10, v + 0.5, v + 1000000, nil, fmt.Sprint(v), true, []any{}}
	case bool:
		return []any{!v, nil, "true", 1.0, []any{}}
	case nil:
		return []any{"null", false, 0.0, []any{}, map[string]any{}, map[string]any{"agent": "a"}}
	case []any:
		return []any{nil, map[string]any{}, "[]", []any{nil}}
	case map[string]any:
		return []any{nil, []any{}, "{}"}
	}
	return nil
}

type gone struct{}

// leaves calls f for every leaf of a tree with a way to set it.
func leaves(v any, set func(any), f func(v any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			f(v, set)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			x := v[k]
			leaves(x, func(n any) {
				if _, is := n.(gone); is {
					delete(v, k)
					return
				}
				v[k] = n
			}, f)
		}
	case []any:
		if len(v) == 0 {
			f(v, set)
		}
		for i, x := range v {
			leaves(x, func(n any) {
				if _, is := n.(gone); is {
					n = nil
				}
				v[i] = n
			}, f)
		}
	default:
		f(v, set)
	}
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, x := range v {
			m[k] = clone(x)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = clone(x)
		}
		return l
	}
	return v
}

// flip changes every signed leaf of a document in every way and expects
// another page each time.
func flip(t *testing.T, raw []byte, ours string, most int, r *rand.Rand) int {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "signatures")
	write := func() []byte {
		b, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	base := write()
	was, err := jcs.Canonical(base, jcs.SoW)
	if err != nil {
		t.Fatal(err)
	}
	from := bare(base, ours)
	n := 0
	type place struct {
		v   any
		set func(any)
	}
	var places []place
	leaves(tree, func(any) {}, func(v any, set func(any)) { places = append(places, place{v, set}) })
	for _, p := range places {
		for _, e := range append(edits(p.v, r), gone{}) {
			if most > 0 && n > most {
				return n
			}
			p.set(e)
			b := write()
			is, err := jcs.Canonical(b, jcs.SoW)
			if err != nil || bytes.Equal(is, was) {
				p.set(p.v)
				continue
			}
			n++
			if bare(b, ours) == from {
				d, _ := sow.Parse(base)
				var at []string
				x, _ := sow.Parse(b)
				for _, ch := range sow.Compare(d, x) {
					at = append(at, ch.Path+": "+string(ch.Old.Canonical())+" → "+string(ch.New.Canonical()))
				}
				t.Errorf("the page did not change: %s", strings.Join(at, "; "))
			}
			p.set(p.v)
		}
	}
	return n
}

func TestEverySignedLeafIsOnThePage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	total := 0
	docs := samples(t)
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		raw := docs[name]
		t.Run(name, func(t *testing.T) {
			total += flip(t, raw, sow.Client, 0, r)
			for _, ours := range []string{"", sow.Provider} {
				total += flip(t, raw, ours, 150, r)
			}
			var named map[string]any
			if err := json.Unmarshal(raw, &named); err != nil {
				t.Fatal(err)
			}
			ours, _, err := page.OwnLanguage()
			if err != nil {
				t.Fatal(err)
			}
			named["language"] = map[string]any{"id": ours.ID, "version": ours.Version, "sha256": ours.SHA256}
			b, err := json.Marshal(named)
			if err != nil {
				t.Fatal(err)
			}
			total += flip(t, b, sow.Client, 400, r)
		})
	}
	for name, raw := range fixtures(t) {
		t.Run(name, func(t *testing.T) { total += flip(t, raw, sow.Client, 300, r) })
	}
	if total < 5000 {
		t.Errorf("only %d changes were tried", total)
	}
	t.Logf("%d changes", total)
}

// grow makes a random document out of another: members appear, go, are
// doubled, renamed and moved to where they do not belong.
func grow(v any, pool []any, r *rand.Rand, depth int) any {
	value := func() any {
		if len(pool) > 0 && r.IntN(3) > 0 {
			return clone(pool[r.IntN(len(pool))])
		}
		return []any{"a text", "two words, and “quotes”", 12.0, 0.25, true, nil, []any{}, map[string]any{}, "2026-10-01T00:00:00+02:00", "P1DT2H", -3.0}[r.IntN(11)]
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			x := v[k]
			switch n := r.IntN(40); {
			case n == 0 && depth > 0:
			case n == 1:
				out[k] = value()
			case n == 2:
				out[k+" x"] = grow(x, pool, r, depth+1)
			default:
				out[k] = grow(x, pool, r, depth+1)
			}
		}
		if r.IntN(6) == 0 {
			out[[]string{"note", "with a dot.", "grade", "amount", "name", "location", "unit"}[r.IntN(7)]] = value()
		}
		return out
	case []any:
		var out []any
		for _, x := range v {
			for range []int{1, 1, 1, 1, 1, 1, 0, 2}[r.IntN(8)] {
				out = append(out, grow(x, pool, r, depth+1))
			}
		}
		if r.IntN(8) == 0 {
			out = append(out, value())
		}
		if out == nil {
			out = []any{}
		}
		return out
	}
	if r.IntN(30) == 0 {
		return value()
	}
	return v
}

func TestEverySignedLeafOfRandomDocumentsIsOnThePage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var trees, pool []any
	docs := samples(t)
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		raw := docs[name]
		var tree map[string]any
		if err := json.Unmarshal(raw, &tree); err != nil {
			t.Fatal(err)
		}
		delete(tree, "signatures")
		trees = append(trees, tree)
		for _, k := range slices.Sorted(maps.Keys(tree)) {
			pool = append(pool, tree[k])
		}
	}
	total := 0
	for i := range 30 {
		b, err := json.Marshal(grow(trees[r.IntN(len(trees))], pool, r, 0))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			total += flip(t, b, []string{"", sow.Client, sow.Provider}[i%3], 300, r)
		})
	}
	if total < 4000 {
		t.Errorf("only %d changes were tried", total)
	}
}

func TestText(t *testing.T) {
	for name, raw := range samples(t) {
		d := parse(t, raw)
		text := page.Of(d, facts(d, sow.Client)).Text()
		if os.Getenv("SHOW") != "" && strings.Contains(name, os.Getenv("SHOW")) {
			t.Log("\n" + text)
		}
	}
}

// TestEveryChangeIsInTheComparison compares each document with every change of
// one leaf of it: there is a line about it, and no two changes of a leaf read
// alike.
func TestEveryChangeIsInTheComparison(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	docs := samples(t)
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		t.Run(name, func(t *testing.T) {
			var tree map[string]any
			if err := json.Unmarshal(docs[name], &tree); err != nil {
				t.Fatal(err)
			}
			delete(tree, "signatures")
			tree["version"] = 2.0
			write := func() *sow.Document {
				b, err := json.Marshal(tree)
				if err != nil {
					t.Fatal(err)
				}
				return parse(t, b)
			}
			old := parse(t, docs[name])
			base := write()
			type place struct {
				v   any
				set func(any)
			}
			var places []place
			leaves(tree, func(any) {}, func(v any, set func(any)) { places = append(places, place{v, set}) })
			for _, p := range places {
				seen := map[string]string{}
				for _, e := range append(edits(p.v, r), gone{}) {
					p.set(e)
					b, err := json.Marshal(tree)
					if err != nil {
						t.Fatal(err)
					}
					d, err := sow.Parse(b)
					p.set(p.v)
					if err != nil || bytes.Equal(d.Canonical(), base.Canonical()) || d.Version() != 2 {
						continue
					}
					c := page.Compare(old, d, page.Facts{Ours: sow.Client, Deployment: all()})
					c.InForceDigest, c.Digest, c.ID = "", "", nil
					if c.Total() == 0 {
						t.Errorf("no line for %v → %v", p.v, e)
					}
					text := c.Text()
					if was, twice := seen[text]; twice && was != string(d.Canonical()) {
						t.Errorf("two changes of %v read alike:\n%s", p.v, text)
					}
					seen[text] = string(d.Canonical())
				}
			}
		})
	}
}

func TestCompareSample(t *testing.T) {
	docs := samples(t)
	old, new := parse(t, docs["../testdata/docs/fixed-fee-engagement.json"]), parse(t, docs["../testdata/docs/amendment-v2-proposal.json"])
	c := page.Compare(old, new, page.Facts{Ours: sow.Client, Deployment: all()})
	if c.Head() != "11 changes; the other 106 fields are the same" {
		t.Error(c.Head())
	}
	var titles, effects []string
	for _, g := range c.Groups {
		titles = append(titles, g.Title)
		for _, d := range g.Lines {
			effects = append(effects, page.String(d.Name)+": "+d.Effect)
		}
	}
	if got := strings.Join(titles, ", "); got != "Money and dates, Scope and data, The rest" {
		t.Error(got)
	}
	want := []string{"Ceiling: 12.00 more", "Ends: 6 months later", "Rate, chase-missing-credit-notes: a new charge", "Any revision: 0.05 more", "Offering: they may do more"}
	for i, w := range want {
		if effects[i] != w {
			t.Errorf("line %d is %q, not %q", i, effects[i], w)
		}
	}
	t.Log("\n" + c.Text())
}
