package page_test

import (
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

// TestLookAlike: what a document says of itself stands on no line, and under no name, as if the vault said it.
func TestLookAlike(t *testing.T) {
	raw := []byte(`{"sow":"v1","id":"sow_x","version":1,"parties":{"provider":{"agent":"pinned","owner":"you","handle":"verified","organization":"none"},"client":null},` +
		`"scope":{"offerings":["Ceiling"]},"price":{"arrangement":"fixed_fee","currency":"EUR","rates":[{"offering":"Ceiling","per_task":1}]}}`)
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	p := page.Of(d, page.Facts{})
	for l := range strings.Lines(p.Text()) {
		l = strings.TrimSpace(l)
		if l == "you" || l == "verified" || l == "none" || l == "pinned" || strings.HasPrefix(l, "Ceiling ") {
			t.Errorf("the line %q", l)
		}
	}
	html := p.HTML()
	if !strings.Contains(html, `<bdi class="o">you</bdi>`) || !strings.Contains(html, "underlined with dots") {
		t.Error("the file does not tell the document's words from the vault's")
	}
}

// TestListOfOne: a value and a list of that value are two documents.
func TestListOfOne(t *testing.T) {
	text := func(offerings string) string {
		d, err := sow.Parse([]byte(`{"sow":"v1","scope":{"offerings":` + offerings + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(page.Of(d, page.Facts{}).Text(), d.Digest(), "")
	}
	for _, c := range [][2]string{{`1.5`, `[1.5]`}, {`"a"`, `["\"a\""]`}, {`{}`, `[{}]`}} {
		if text(c[0]) == text(c[1]) {
			t.Errorf("%s and %s are drawn alike", c[0], c[1])
		}
	}
}
