package page_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

// hostile puts a text in the place of every text of a document.
func hostile(v any, text string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = hostile(x, text)
		}
		v[text] = text
	case []any:
		for i, x := range v {
			v[i] = hostile(x, text)
		}
	case string:
		return text
	}
	return v
}

var hostileTexts = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</style></section><b>`, "\u202eevil\u2066", "a\x1b[2Jb\x07", "x\r\ny\u0085z",
	`javascript:alert(1)`, "]]>--><!--", "zero\u200bwidth", "]\x00[",
}

func TestHostileTextOnThePage(t *testing.T) {
	docs := samples(t)
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		for _, text := range hostileTexts {
			var tree map[string]any
			if err := json.Unmarshal(docs[name], &tree); err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(hostile(tree, text))
			if err != nil {
				t.Fatal(err)
			}
			d, err := sow.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			f := facts(d, sow.Client)
			f.BroughtBy = "ledger-desk"
			p := page.Of(d, f)
			plainText(t, p.Text())
			plainText(t, page.Compare(parse(t, docs[name]), d, f).Text())
			for _, file := range []string{p.HTML(), page.Compare(parse(t, docs[name]), d, f).HTML()} {
				plainText(t, strings.ReplaceAll(file, "\n", ""))
				walk(t, file, func(n *html.Node) {
					switch n.Data {
					case "script", "img", "a", "iframe", "form", "input", "link", "object":
						t.Errorf("%s: an element %s", name, n.Data)
					}
					for _, a := range n.Attr {
						if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || a.Key == "style" {
							t.Errorf("%s: an attribute %s", name, a.Key)
						}
					}
				})
				if strings.Contains(file, text) && strings.ContainsAny(text, "<>\"\x1b\u202e\u200b\x00") {
					t.Errorf("%s: %q stands in the file as it came", name, text)
				}
			}
		}
	}
}

// plainText fails on what a terminal would obey and on what cannot be seen.
func plainText(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u2028\u2029", r) {
			t.Errorf("a character %U", r)
			return
		}
	}
}

func walk(t *testing.T, file string, f func(*html.Node)) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			f(n)
		}
	}
}

// TestEmptyTextIsSeen: a text of no letters leaves something to be seen in a
// file too, where no quotation marks stand.
func TestEmptyTextIsSeen(t *testing.T) {
	raw := samples(t)["../testdata/docs/fixed-fee-engagement.json"]
	ink := func(of string) string {
		d := parse(t, []byte(strings.Replace(string(raw), `"flag-duplicate-invoices"`, of, 1)))
		p := page.Of(d, facts(d, sow.Client))
		p.Digest, p.Notices = "", nil
		root, err := html.Parse(strings.NewReader(p.HTML()))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				b.WriteString(n.Data)
			}
		}
		return b.String()
	}
	if none, empty := ink(`"x"`), ink(`"x", ""`); none == empty || strings.Count(empty, "(empty)") != 1 {
		t.Error("an empty offering is not seen")
	}
}

// TestHTMLNamesTheDocumentAtTheFoot: the foot of a table is printed on every
// page.
func TestHTMLNamesTheDocumentAtTheFoot(t *testing.T) {
	docs := samples(t)
	d := parse(t, docs["../testdata/docs/fixed-fee-engagement.json"])
	p := page.Of(d, facts(d, sow.Client))
	text := ""
	walk(t, p.HTML(), func(n *html.Node) {
		if n.Data != "tfoot" {
			return
		}
		for x := range n.Descendants() {
			if x.Type == html.TextNode {
				text += x.Data
			}
		}
	})
	for _, want := range []string{d.ID(), "version 1", d.Digest()} {
		if !strings.Contains(text, want) {
			t.Errorf("the foot reads %q", text)
		}
	}
	if !strings.Contains(p.HTML(), "Whether and how it binds anybody") {
		t.Error("the sentence about the law is not there")
	}
}
