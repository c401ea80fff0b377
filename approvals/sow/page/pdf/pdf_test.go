package pdf

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

func sample(t testing.TB, name string) *sow.Document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func facts(d *sow.Document) page.Facts {
	seats := d.VerifySignatures(sow.Pins{})
	return page.Facts{Ours: sow.Client, Seats: seats, Findings: d.Validate(sow.Options{}), State: d.State(sow.Situation{Seats: seats, Now: 1793000000000})}
}

// written is what a page's PDF says, page by page.
func written(t testing.TB, p *page.Page) ([][]string, []byte) {
	t.Helper()
	f, err := newFile("Agent SoW document", p.ID, p.Version, p.Digest)
	if err != nil {
		t.Fatal(err)
	}
	f.page(p)
	b, err := f.end()
	if err != nil {
		t.Fatal(err)
	}
	return f.pages, b
}

func TestEveryPageNamesTheDocument(t *testing.T) {
	for _, name := range []string{"fixed-fee-engagement", "time-and-materials-engagement", "standing-proposal", "no-charge-engagement"} {
		d := sample(t, name)
		pages, file := written(t, page.Of(d, facts(d)))
		if !bytes.HasPrefix(file, []byte("%PDF-")) || len(pages) < 2 {
			t.Errorf("%s: %d pages, begins %q", name, len(pages), file[:5])
		}
		for i, p := range pages {
			all := strings.Join(p, "")
			if strings.Contains(all, "<U+") {
				t.Errorf("%s: page %d has a letter that the faces lack", name, i+1)
			}
			for _, want := range []string{d.ID(), "version 1", d.Digest()} {
				if !strings.Contains(all, want) {
					t.Errorf("%s: page %d does not say %s", name, i+1, want)
				}
			}
		}
		if n := bytes.Count(file, []byte("/Type /Page\n")); n != len(pages) {
			t.Errorf("%s: the file has %d pages, %d were written", name, n, len(pages))
		}
		if !bytes.Contains(file, []byte("/FontFile2")) {
			t.Errorf("%s: no font is embedded", name)
		}
		_, again := written(t, page.Of(d, facts(d)))
		if !bytes.Equal(file, again) {
			t.Errorf("%s: the same page gives other bytes", name)
		}
	}
}

// TestEveryLeafIsInTheFile changes texts and numbers of a document and expects
// other text in the file, apart from the lines that name the document.
func TestEveryLeafIsInTheFile(t *testing.T) {
	raw := sample(t, "time-and-materials-engagement").Raw()
	body := func(b []byte) string {
		d, err := sow.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		p := page.Of(d, page.Facts{Ours: sow.Client})
		p.ID, p.Digest, p.Version, p.Records = nil, "", 0, nil
		p.Parties[0].Role, p.Parties[1].Role = "provider", "client"
		pages, _ := written(t, p)
		var out []string
		for _, x := range pages {
			out = append(out, strings.Join(x, "|"))
		}
		return strings.Join(out, "\n")
	}
	base := body(raw)
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "signatures")
	n := 0
	var visit func(v any, set func(any))
	visit = func(v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				visit(x, func(y any) { v[k] = y })
			}
			return
		case []any:
			for i, x := range v {
				visit(x, func(y any) { v[i] = y })
			}
			return
		case string:
			set(v + "x")
		case float64:
			set(v + 1)
		case bool:
			set(!v)
		}
		b, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if body(b) == base {
			t.Errorf("the file did not change with %v", v)
		}
		set(v)
		n++
	}
	visit(tree, nil)
	if n < 100 {
		t.Errorf("only %d leaves were changed", n)
	}
}

func TestLettersWithoutAGlyphStandAsCodes(t *testing.T) {
	raw := bytes.Replace(sample(t, "fixed-fee-engagement").Raw(), []byte("Copperline Ledger Works"), []byte("中 \u202e ملف"), 1)
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := written(t, page.Of(d, facts(d)))
	all := strings.Join(pages[0], "")
	for _, want := range []string{"<U+4E2D>", "<U+202E>", "<U+0645>"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s on the first page", want)
		}
	}
	last := strings.Join(pages[len(pages)-1], "")
	if !strings.Contains(last, "stand as their codes") || !strings.Contains(last, "Whether and how it binds anybody") {
		t.Errorf("the last page says %q", last)
	}
	if os.Getenv("PDF_OUT") != "" {
		b, _ := Page(page.Of(d, facts(d)))
		if err := os.WriteFile(os.Getenv("PDF_OUT"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestComparison(t *testing.T) {
	c := page.Compare(sample(t, "fixed-fee-engagement"), sample(t, "amendment-v2-proposal"), page.Facts{Ours: sow.Client})
	b, err := Comparison(c)
	if err != nil || !bytes.HasPrefix(b, []byte("%PDF-")) {
		t.Fatalf("%v, %d bytes", err, len(b))
	}
	if os.Getenv("PDF_OUT") != "" {
		if err := os.WriteFile(os.Getenv("PDF_OUT")+".cmp.pdf", b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
