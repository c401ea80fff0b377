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

	"golang.org/x/net/html"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/derive/jcs"
)

const now = 1793000000000 // 26 October 2026

// sets are the folders with vectors: our own and any further set.
func sets() []string {
	out := []string{filepath.Join("..", "testdata", "docs")}
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
	var list []string
	for _, dir := range []string{filepath.Join("..", "..", "..", "..", "shared", "vectors"), os.Getenv("VAULT_VECTORS")} {
		if dir == "" {
			continue
		}
		found, err := filepath.Glob(filepath.Join(dir, "sow", "fixtures", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	if len(list) == 0 {
		t.Log("no fixtures are here")
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

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		n        int64
		currency string
		want     string
	}{
		{2500000, "XCR", "2.50 XCR"}, {40000000, "XCR", "40.00 XCR"}, {1, "XCR", "0.000001 XCR"}, {1500, "XCR", "0.0015 XCR"}, {0, "XCR", "0.00 XCR"},
		{1250000, "EUR", "12,500.00 EUR"}, {5, "USD", "0.05 USD"}, {1234567, "JPY", "1,234,567 JPY"}, {1234567, "KWD", "1,234.567 KWD"}, {1234500, "KWD", "1,234.50 KWD"},
		{1234567, "QQQ", "1,234,567 smallest units of QQQ"}, {7, "", "7 of no stated currency"}, {1<<53 - 1, "XCR", "9,007,199,254.740991 XCR"},
		{7, "eur", "7 smallest units of eur"}, {7, "E\u202eR", "7 smallest units of “E<U+202E>R”"},
	} {
		if got := page.Money(c.n, c.currency); got != c.want {
			t.Errorf("%d of %q is %q, not %q", c.n, c.currency, got, c.want)
		}
	}
}

func TestLengthsAndInstants(t *testing.T) {
	for ms, want := range map[int64]string{0: "no time", 14400000: "4 hours", 1209600000: "2 weeks", 90061000: "1 day 1 hour 1 minute 1 second", 604800000: "1 week", 2592000000: "30 days"} {
		if got := page.Length(ms); got != want {
			t.Errorf("%d ms is %q, not %q", ms, got, want)
		}
	}
	if got := page.At(1793000005000); got != "26 October 2026, 07:33:25 UTC" {
		t.Error(got)
	}
}

// TestWhatThePageSays holds single sentences of it: each row changes one thing
// of a document and names what must then stand on the page, and what must not.
func TestWhatThePageSays(t *testing.T) {
	docs := samples(t)
	change := func(name string, f func(map[string]any)) *sow.Document {
		var tree map[string]any
		if err := json.Unmarshal(docs["../testdata/docs/"+name+".json"], &tree); err != nil {
			t.Fatal(err)
		}
		f(tree)
		b, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, b)
	}
	get := func(m map[string]any, name string) map[string]any { return m[name].(map[string]any) }
	for _, c := range []struct {
		what  string
		doc   *sow.Document
		facts page.Facts
		want  string
		never string
	}{
		{"silence about the way is no link", change("fixed-fee-engagement", func(m map[string]any) { delete(m["inputs"].([]any)[2].(map[string]any), "via") }), page.Facts{Ours: sow.Client},
			"how is not said. Ask before you sign.", "by link"},
		{"an unknown way is carried", change("fixed-fee-engagement", func(m map[string]any) { m["inputs"].([]any)[2].(map[string]any)["via"] = "carrier_pigeon" }), page.Facts{},
			"by carrier_pigeon: not a way the vault knows", ""},
		{"a mandate is cited", change("fixed-fee-engagement", func(map[string]any) {}), page.Facts{}, "Cited; this vault has not checked it.", "checks were made"},
		{"a mandate is checked", change("fixed-fee-engagement", func(map[string]any) {}), page.Facts{MandateChecked: func(string) bool { return true }}, "What a court would say is another matter.", "has not checked it"},
		{"presence is no reading", change("fixed-fee-engagement", func(map[string]any) {}), page.Facts{}, "it does not show that anything was read", "understood"},
		{"rights nobody stated", change("fixed-fee-engagement", func(map[string]any) {}), page.Facts{}, "A right that is not stated is not granted.", "non_exclusive"},
		{"an empty list of services is a statement", change("fixed-fee-engagement", func(m map[string]any) { get(m, "confidentiality")["processors"] = []any{} }), page.Facts{}, "an empty list: content goes to none", "neither some nor none"},
		{"no list of services is none", change("fixed-fee-engagement", func(m map[string]any) { delete(get(m, "confidentiality"), "processors") }), page.Facts{}, "not said, which is neither some nor none", "content goes to none"},
		{"no ceiling is no limit", change("fixed-fee-engagement", func(m map[string]any) { delete(get(m, "price"), "ceiling") }), page.Facts{Ours: sow.Client}, "You pay at most             no limit", "30.00 XCR"},
		{"nothing is charged", change("no-charge-engagement", func(map[string]any) {}), page.Facts{Ours: sow.Client}, "nothing; no charge; a charge is refused", "settlement record"},
		{"a label that lies about its divisor", change("time-and-materials-engagement", func(m map[string]any) { get(m, "price")["schedule"].([]any)[0].(map[string]any)["per"] = 10.0 }), page.Facts{},
			"The label says 1,000; the price counts 10.", ""},
		{"a grade that is not earned", change("fixed-fee-engagement", func(map[string]any) {}), page.Facts{}, "■ Enforced, earned here: ◆ Evidence", ""},
		{"a grade that is no grade", change("fixed-fee-engagement", func(m map[string]any) { get(m, "scope")["grade"] = "ironclad" }), page.Facts{}, "“\"ironclad\"” (not a grade)", ""},
		{"an open offer", change("standing-proposal", func(map[string]any) {}), page.Facts{Ours: sow.Client}, "Runs for                    6 months", ""},
		{"a condition one asserts of oneself", change("standing-proposal", func(map[string]any) {}), page.Facts{}, "you say it of yourself; nobody checks it", ""},
		{"no arbiter is named", change("time-and-materials-engagement", func(m map[string]any) { delete(get(get(m, "disputes"), "arbiter"), "agent") }), page.Facts{}, "nobody is named", ""},
		{"no time to leave", change("fixed-fee-engagement", func(m map[string]any) { delete(m, "termination") }), page.Facts{Ours: sow.Client}, "no notice stated; only for cause, or when it ends", "48 hours"},
		{"an instant in another spelling", change("fixed-fee-engagement", func(m map[string]any) { m["ends_at"] = "2027-04-01T02:00:00+02:00" }), page.Facts{}, "1 April 2027, 00:00 UTC, written 2027-04-01T02:00:00+02:00", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			text := page.Of(c.doc, c.facts).Text()
			flat := strings.Join(strings.Fields(text), " ")
			if !strings.Contains(flat, strings.Join(strings.Fields(c.want), " ")) {
				t.Errorf("%q is not on the page", c.want)
			}
			if c.never != "" && strings.Contains(flat, c.never) {
				t.Errorf("%q is on the page", c.never)
			}
		})
	}
}

// TestOwnLanguage: a document under the vault's own language has sentences, one
// that only has its name has not.
func TestOwnLanguage(t *testing.T) {
	docs := samples(t)
	ours, text, err := page.OwnLanguage()
	if err != nil {
		t.Fatal(err)
	}
	under := func(hash string) *page.Page {
		var tree map[string]any
		if err := json.Unmarshal(docs["../testdata/docs/fixed-fee-engagement.json"], &tree); err != nil {
			t.Fatal(err)
		}
		tree["language"] = map[string]any{"id": ours.ID, "version": ours.Version, "sha256": hash}
		b, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return page.Of(parse(t, b), page.Facts{Ours: sow.Client})
	}
	says := func(p *page.Page) (n int) {
		for _, c := range p.Clauses {
			for _, r := range c.Rows {
				if len(r.Says) > 0 {
					n++
				}
			}
		}
		return n
	}
	p := under(ours.SHA256)
	if n := says(p); n < 30 || !p.Language.Own || p.Language.Banner != "" {
		t.Errorf("%d sentences, %+v", n, p.Language)
	}
	if flat := strings.Join(strings.Fields(p.Text()), " "); !strings.Contains(flat, "The client pays 1.80 XCR per task of reconcile-supplier-statement.") {
		t.Error("the sentence about the rate is not there:\n", p.Text())
	}
	other := under(strings.Repeat("0", 64))
	if says(other) != 0 || other.Language.Own || other.Language.Banner == "" {
		t.Error("another text of the same name is taken for ours")
	}
	if sow.LanguageHash(text) != "0f0244ea421e42d5f8371acb1980242a61a5c0d4ecde20bba23ac5c838e740f8" {
		t.Error("the text of a published language has changed: ", sow.LanguageHash(text))
	}
}

func TestLanguageTextThatWasBrought(t *testing.T) {
	docs := samples(t)
	var tree map[string]any
	if err := json.Unmarshal(docs["../testdata/docs/fixed-fee-engagement.json"], &tree); err != nil {
		t.Fatal(err)
	}
	text := "Each party keeps what is its own.\n"
	tree["language"].(map[string]any)["sha256"] = sow.LanguageHash([]byte(text))
	b, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, b)
	if p := page.Of(d, page.Facts{LanguageText: []byte(text)}); p.Language.Text != text || !strings.Contains(p.Text(), "Each party keeps what is its own.") {
		t.Error("the text that was brought is not on the page")
	}
	for _, wrong := range []string{text + " ", "another", strings.TrimSpace(text)} {
		if p := page.Of(d, page.Facts{LanguageText: []byte(wrong)}); p.Language.Text != "" {
			t.Errorf("%q is shown as the text that was signed", wrong)
		}
	}
}

// FuzzPage: whatever parses has a page that a terminal can show and that is
// inert as HTML.
func FuzzPage(f *testing.F) {
	for _, raw := range samples(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"inputs":[null,{"name":1}],"price":[],"parties":{"provider":[]},"confidentiality":{"processors":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := sow.Parse(raw)
		if err != nil || len(raw) > 1<<16 {
			return
		}
		p := page.Of(d, facts(d, sow.Client))
		plainText(t, p.Text())
		walk(t, p.HTML(), func(n *html.Node) {
			if n.Data == "script" || n.Data == "img" {
				t.Errorf("an element %s", n.Data)
			}
		})
		plainText(t, page.Compare(d, d, page.Facts{}).Text())
	})
}
