package ipc

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
)

// What a frame is read as is what stands in it, and what the JSON-RPC library below gets of it.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"status"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","method":"action.sign","params":{"request_id":"r","action_envelope":{},"payload":[1.0]}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b","params":{}}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","\u0069d":2}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		calls, batch, refusal := readFrame(line)
		if refusal != nil {
			if _, ok := rowOf(refusal.Code); !ok || calls != nil {
				t.Fatalf("refusal %v with %d calls", refusal, len(calls))
			}
			return
		}
		type head struct {
			Version string           `json:"jsonrpc"`
			ID      json.RawMessage  `json:"id"`
			Method  string           `json:"method"`
			Params  *json.RawMessage `json:"params"`
		}
		var in []head
		if batch {
			if err := json.Unmarshal(line, &in); err != nil {
				t.Fatal(err)
			}
		} else {
			in = make([]head, 1)
			if err := json.Unmarshal(line, &in[0]); err != nil {
				t.Fatal(err)
			}
		}
		if len(in) != len(calls) || len(calls) == 0 || len(calls) > maxBatch {
			t.Fatalf("%d calls, %d heads", len(calls), len(in))
		}
		for i, h := range in {
			if h.Version != "2.0" || string(h.ID) != calls[i].id || h.Method != calls[i].method {
				t.Fatalf("call %+v, head %+v", calls[i], h)
			}
			if (h.Params == nil) != (calls[i].params == nil) || h.Params != nil && string(*h.Params) != string(calls[i].params) {
				t.Fatalf("params %q of %q", calls[i].params, line)
			}
		}
		up, err := jrpc2.ParseRequests(heads(calls, batch))
		if err != nil || len(up) != len(calls) {
			t.Fatalf("%d requests, %v", len(up), err)
		}
		for i, r := range up {
			if r.Error != nil || r.Batch != batch || r.ID != calls[i].id || r.Method != calls[i].method || r.Params != nil {
				t.Fatalf("call %+v, request %+v", calls[i], r)
			}
		}
	})
}

// What is cut out is in the input, byte for byte, and cutting it again from an object
// made of the parts gives the same parts.
func FuzzParams(f *testing.F) {
	for i := range methods {
		f.Add(i, []byte(`{}`))
	}
	f.Add(6, []byte(`{"request_id":"r","action_envelope":{"a" : 1.0},"payload":"\u0041","interactive":true,"lifetime_ms":5}`))
	f.Add(1, []byte(`{"proof":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","last_head":{}}`))
	f.Add(0, []byte(`{"version":"1","nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} `))
	f.Fuzz(func(t *testing.T, at int, params []byte) {
		m := methods[uint(at)%uint(len(methods))]
		before := slices.Clone(params)
		a, refusal := cut(params, m.fields)
		if !slices.Equal(before, params) {
			t.Fatal("the input was changed")
		}
		if refusal != nil {
			if refusal.Code != "params_invalid" {
				t.Fatal(refusal)
			}
			return
		}
		var members map[string]json.RawMessage
		if len(params) > 0 {
			if err := json.Unmarshal(params, &members); err != nil {
				t.Fatal(err)
			}
		}
		got := len(a.text) + len(a.raw) + len(a.key) + len(a.number) + len(a.flag)
		if got != len(members) {
			t.Fatalf("%d parts of %d members", got, len(members))
		}
		for name, raw := range a.raw {
			if string(members[name]) != string(raw) {
				t.Fatalf("%s is %q, was %q", name, raw, members[name])
			}
		}
		for name, n := range a.number {
			if string(members[name]) != strconv.FormatInt(n, 10) && strings.TrimLeft(string(members[name]), "0") != strconv.FormatInt(n, 10) {
				t.Fatalf("%s is %d, was %s", name, n, members[name])
			}
		}
		for _, field := range m.fields {
			if _, ok := members[field.name]; !ok && !field.optional {
				t.Fatalf("%s is missing", field.name)
			}
		}
	})
}

// docs/protocol.md and the tables say the same.
func TestProtocolDocument(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	// | `method` | needs | params | …
	inDoc := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z.]+)` \\| (new|hello|proven) \\| ([^|]*) \\|").FindAllStringSubmatch(text, -1) {
		if _, twice := inDoc[row[1]]; twice {
			t.Errorf("%s has two rows", row[1])
		}
		inDoc[row[1]] = row[2] + " " + row[3]
	}
	for _, m := range methods {
		want := map[stage]string{stageNew: "new", stageGreeted: "hello", stageProven: "proven"}[m.stage] + " "
		var names []string
		for _, f := range m.fields {
			name := "`" + f.name + "`"
			if f.optional {
				name += "?"
			}
			names = append(names, name)
		}
		if want += strings.Join(names, ", "); len(names) == 0 {
			want += "–"
		}
		if inDoc[m.name] != want {
			t.Errorf("%s: the document says %q, the table %q", m.name, inDoc[m.name], want)
		}
		delete(inDoc, m.name)
	}
	for name := range inDoc {
		t.Errorf("the document has %s, the table has not", name)
	}
	// | `code` | family | …
	codesInDoc := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (-?[0-9]+) \\|").FindAllStringSubmatch(text, -1) {
		codesInDoc[row[1]] = row[2]
	}
	for _, c := range codes {
		if want := strconv.Itoa(int(c.family)); codesInDoc[c.code] != want {
			t.Errorf("%s: the document says %q, the table %q", c.code, codesInDoc[c.code], want)
		}
		delete(codesInDoc, c.code)
	}
	for code := range codesInDoc {
		t.Errorf("the document has code %s, the table has not", code)
	}
}

// The desk refuses with no code that has no family.
func TestDeskCodesHaveFamilies(t *testing.T) {
	for _, name := range []string{"refusal.go", "mints.go"} {
		deskCodes(t, name)
	}
}

// ownersOnly are codes of calls that only the owner's surfaces make.
var ownersOnly = []string{
	"mints_range", "plan_old", "recipient", "delegate_exists", "mints_unread",
	"delegate_malformed", "delegate_signature", "delegate_issuer", "delegate_summary",
}

func deskCodes(t *testing.T, name string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "approvals", name), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if !strings.HasPrefix(name.Name, "Code") || i >= len(spec.Values) {
				continue
			}
			lit, ok := spec.Values[i].(*ast.BasicLit)
			if !ok {
				continue
			}
			code, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if _, ok := rowOf(code); ok == slices.Contains(ownersOnly, code) {
				t.Errorf("%s = %q has a row: %v", name.Name, code, ok)
			}
		}
		return true
	})
	if n == 0 {
		t.Errorf("no codes found in %s", name)
	}
}

func TestCodesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range codes {
		if seen[c.code] {
			t.Errorf("%s twice", c.code)
		}
		seen[c.code] = true
		if (c.message == "") != (c.remedy == "") {
			t.Errorf("%s has half its words", c.code)
		}
	}
}
