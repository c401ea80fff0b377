package page_test

import (
	"fmt"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

// many is a document of 10,000 inputs, each given in a way.
func many(tb testing.TB, way string) *sow.Document {
	tb.Helper()
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, `{"name":"i%d","kind":"shared_resource","access":"read","via":"%s","when":"standing"},`, i, way)
	}
	text := string(samples(tb)["../testdata/docs/fixed-fee-engagement.json"])
	return parse(tb, []byte(strings.Replace(text, `"inputs": [`, `"inputs": [`+b.String(), 1)))
}

// TestTenThousandInputs has no time in it: what is quadratic here does not end
// before the test's own limit does.
func TestTenThousandInputs(t *testing.T) {
	old, new := many(t, "link"), many(t, "mcp")
	p := page.Of(new, facts(new, sow.Client))
	n := 0
	for _, r := range p.Clauses[0].Rows {
		if r.Kind == page.Access {
			n++
		}
	}
	if n != 10001 {
		t.Errorf("%d grants stand on the page", n)
	}
	if c := page.Compare(old, new, page.Facts{Ours: sow.Client}); c.Changed != 10000 {
		t.Errorf("%d changes", c.Changed)
	}
	if text := p.Text(); strings.Count(text, "by mcp") != 10000 {
		t.Errorf("%d lines of text", strings.Count(text, "by mcp"))
	}
}
