package jcs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cell is what one stage does with one input: the canonical text, or a code.
type cell struct {
	canonical string
	code      Code
}

func ok(s string) cell  { return cell{canonical: s} }
func no(code Code) cell { return cell{code: code} }

// The columns of the matrix. The frame stage writes nothing, so its accepted
// text is "".
const (
	colFrame = iota
	colBinding
	colAgentEnvelope
	colSoW
)

var columns = []string{"frame", "binding", "agentenvelope", "sow"}

func same(c cell) [4]cell {
	f := c
	f.canonical = ""
	return [4]cell{f, c, c, c}
}

func numbers(binding, ae, sow cell) [4]cell { return [4]cell{{}, binding, ae, sow} }

var outside = no(NumberOutOfProfile)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// matrix is the one table of strictness: a row per rule, a column per stage.
var matrix = []struct {
	rule, in string
	want     [4]cell
}{
	{"object", ` { "b" : 2 , "a" : [ 1 , null ] } `, same(ok(`{"a":[1,null],"b":2}`))},
	{"scalar at the root", `"x"`, same(ok(`"x"`))},
	{"empty object", `{}`, same(ok(`{}`))},
	{"literals", `[true,false,null]`, same(ok(`[true,false,null]`))},
	{"utf-16 order", `{"\ue000":3,"\ud83d\ude00":1,"é":5,"z":4,"\u0000":6,"":7}`, same(ok("{\"\":7,\"\\u0000\":6,\"z\":4,\"é\":5,\"😀\":1,\"\ue000\":3}"))},
	{"escapes", `"\u0041\/\u001F\b\u0008<>&\u2028"`, same(ok("\"A/\\u001f\\b\\b<>&\u2028\""))},
	{"not utf-8 in a string", "\"\xff\"", same(no(NotUTF8))},
	{"not utf-8 outside", "[1]\xff", same(no(NotUTF8))},
	{"surrogate in utf-8", "\"\xed\xa0\x80\"", same(no(NotUTF8))},
	{"overlong utf-8", "\"\xc0\xaf\"", same(no(NotUTF8))},
	{"byte order mark", "\xef\xbb\xbf{}", same(no(ByteOrderMark))},
	{"duplicate", `{"a":1,"a":2}`, same(no(DuplicateName))},
	{"duplicate after unescaping", `{"a":1,"\u0061":2}`, same(no(DuplicateName))},
	{"duplicate below", `[{"x":{"k":1,"k":1}}]`, same(no(DuplicateName))},
	{"same name in two objects", `[{"k":1},{"k":1}]`, same(ok(`[{"k":1},{"k":1}]`))},
	{"lone high surrogate", `"\ud800"`, same(no(UnpairedSurrogate))},
	{"lone low surrogate", `"\uDC00"`, same(no(UnpairedSurrogate))},
	{"reversed surrogates", `"\udc00\ud800"`, same(no(UnpairedSurrogate))},
	{"high surrogate and letter", `["\ud800\u0041"]`, same(no(UnpairedSurrogate))},
	{"surrogate in a name", `{"\udfff":1}`, same(no(UnpairedSurrogate))},
	{"trailing value", `{} {}`, same(no(TrailingData))},
	{"trailing text", `1 x`, same(no(TrailingData))},
	{"trailing space", "{}\n\t ", same(ok(`{}`))},
	{"nothing", ``, same(no(Syntax))},
	{"only space", `  `, same(no(Syntax))},
	{"cut short", `{"a":[1,`, same(no(Syntax))},
	{"comma at the end", `[1,]`, same(no(Syntax))},
	{"wrong bracket", `[1}`, same(no(Syntax))},
	{"name is a number", `{1:2}`, same(no(Syntax))},
	{"name is an object", `{{}:2}`, same(no(Syntax))},
	{"control character", "\"\x01\"", same(no(Syntax))},
	{"unknown escape", `"\x"`, same(no(Syntax))},
	{"comment", `/*a*/1`, same(no(Syntax))},
	{"NaN", `NaN`, same(no(Syntax))},
	{"plus sign", `+1`, same(no(Syntax))},
	{"leading zero", `01`, [4]cell{no(TrailingData), no(TrailingData), no(TrailingData), no(TrailingData)}},
	{"depth 64", nested(64), same(ok(nested(64)))},
	{"depth 65", nested(65), [4]cell{{}, no(TooDeep), no(TooDeep), no(TooDeep)}},
	{"depth 80", nested(80), [4]cell{{}, no(TooDeep), no(TooDeep), no(TooDeep)}},
	{"depth 81", nested(81), same(no(TooDeep))},
	{"size of a frame", `"` + strings.Repeat("a", MaxFrame-2) + `"`, same(ok(`"` + strings.Repeat("a", MaxFrame-2) + `"`))},
	{"over a frame", `"` + strings.Repeat("a", MaxFrame-1) + `"`, [4]cell{no(TooLarge), ok(`"` + strings.Repeat("a", MaxFrame-1) + `"`), ok(`"` + strings.Repeat("a", MaxFrame-1) + `"`), ok(`"` + strings.Repeat("a", MaxFrame-1) + `"`)}},
	{"over a document", `"` + strings.Repeat("a", MaxDocument-1) + `"`, same(no(TooLarge))},

	{"integer", `-12`, numbers(ok(`-12`), ok(`-12`), ok(`-12`))},
	{"zero", `0`, numbers(ok(`0`), ok(`0`), ok(`0`))},
	{"negative zero", `-0`, numbers(ok(`0`), outside, ok(`0`))},
	{"negative zero, real", `[-0.0]`, numbers(ok(`[0]`), outside, ok(`[0]`))},
	{"negative zero, exponent", `-0e-400`, numbers(ok(`0`), outside, ok(`0`))},
	{"zero with a huge exponent", `0e99999999999999999999`, numbers(ok(`0`), ok(`0`), ok(`0`))},
	{"1.0", `1.0`, numbers(ok(`1`), ok(`1`), ok(`1`))},
	{"1e3", `1e3`, numbers(ok(`1000`), ok(`1000`), ok(`1000`))},
	{"100E-2", `100E-2`, numbers(ok(`1`), ok(`1`), ok(`1`))},
	{"0.00015e+5", `0.00015e+5`, numbers(ok(`15`), ok(`15`), ok(`15`))},
	{"2^53-1", `9007199254740991`, numbers(ok(`9007199254740991`), ok(`9007199254740991`), ok(`9007199254740991`))},
	{"-(2^53-1)", `-9007199254740991`, numbers(ok(`-9007199254740991`), ok(`-9007199254740991`), ok(`-9007199254740991`))},
	{"2^53-1, exponent", `90071992547409.91e2`, numbers(ok(`9007199254740991`), ok(`9007199254740991`), ok(`9007199254740991`))},
	{"2^53", `9007199254740992`, numbers(outside, outside, ok(`9007199254740992`))},
	{"2^53+1", `9007199254740993`, numbers(outside, outside, outside)},
	{"-2^53", `-9007199254740992`, numbers(outside, outside, ok(`-9007199254740992`))},
	{"2^53-1 and a bit", `9007199254740991.4`, numbers(outside, outside, outside)},
	{"1 and too small a bit", `1.00000000000000000001`, numbers(outside, outside, outside)},
	{"1.5", `1.50`, numbers(outside, outside, ok(`1.5`))},
	{"0.95", `0.95`, numbers(outside, outside, ok(`0.95`))},
	{"not a double", `0.1000000000000000055`, numbers(outside, outside, outside)},
	{"1e20", `1e20`, numbers(outside, outside, ok(`100000000000000000000`))},
	{"1e21", `1e21`, numbers(outside, outside, ok(`1e+21`))},
	{"1e-6", `1e-6`, numbers(outside, outside, ok(`0.000001`))},
	{"1e-7", `0.0000001`, numbers(outside, outside, ok(`1e-7`))},
	{"12.5e-10", `-12.5e-10`, numbers(outside, outside, ok(`-1.25e-9`))},
	{"1e-300", `1e-300`, numbers(outside, outside, ok(`1e-300`))},
	{"too large for a double", `1e400`, numbers(outside, outside, outside)},
	{"too small for a double", `1e-400`, numbers(outside, outside, outside)},
	{"exponent beyond counting", `1e99999999999999999999`, numbers(outside, outside, outside)},
	{"negative exponent beyond counting", `1e-99999999999999999999`, numbers(outside, outside, outside)},
}

func TestMatrix(t *testing.T) {
	for _, row := range matrix {
		for col, stage := range columns {
			t.Run(row.rule+"/"+stage, func(t *testing.T) {
				in := []byte(row.in)
				var out []byte
				var err error
				if col == colFrame {
					err = CheckFrame(in)
				} else {
					out, err = Canonical(in, []Profile{0, Binding, AgentEnvelope, SoW}[col])
				}
				if string(in) != row.in {
					t.Fatal("the input was edited")
				}
				want := row.want[col]
				if want.code == "" {
					if err != nil || string(out) != want.canonical {
						t.Fatalf("got %.80q, %v; want %.80q", out, err, want.canonical)
					}
					return
				}
				var e *Error
				if !errors.As(err, &e) || e.Code != want.code {
					t.Fatalf("got %.80q, %v; want code %s", out, err, want.code)
				}
				if e.Offset < 0 || e.Offset > int64(len(in)) {
					t.Fatalf("offset %d outside the input", e.Offset)
				}
			})
		}
	}
}

func TestUnknownProfileRefusesNumbers(t *testing.T) {
	if out, err := Canonical([]byte(`1.5`), 0); err == nil {
		t.Fatalf("got %s", out)
	}
}

// vectorSets returns the files of that name pattern under the folder shared
// with other programs and under $VAULT_VECTORS.
func vectorSets(t *testing.T, pattern string) []string {
	var files []string
	for _, dir := range []string{filepath.Join("..", "..", "..", "shared", "vectors"), os.Getenv("VAULT_VECTORS")} {
		if dir == "" {
			continue
		}
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skipf("no vector sets %s here", pattern)
	}
	return files
}

func TestCanonicalizationBattery(t *testing.T) {
	ran := 0
	for _, file := range vectorSets(t, "binding/*.json") {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kind struct{ Suite string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if !strings.HasPrefix(kind.Suite, "EP-CANONICALIZATION") {
			continue // a suite of package moment
		}
		ran++
		var set struct {
			Vectors []struct {
				ID               string
				Expect           struct{ Valid bool }
				Canonicalization struct {
					InputJSON      string `json:"input_json"`
					ExpectedDigest string `json:"expected_digest"`
				}
			}
		}
		if err := json.Unmarshal(raw, &set); err != nil || len(set.Vectors) == 0 {
			t.Fatalf("%s: %d vectors, %v", file, len(set.Vectors), err)
		}
		for _, v := range set.Vectors {
			t.Run(v.ID, func(t *testing.T) {
				out, err := Canonical([]byte(v.Canonicalization.InputJSON), Binding)
				if (err == nil) != v.Expect.Valid {
					t.Fatalf("valid %v expected, got %v", v.Expect.Valid, err)
				}
				if err != nil {
					return
				}
				if sum := sha256.Sum256(out); hex.EncodeToString(sum[:]) != v.Canonicalization.ExpectedDigest {
					t.Fatalf("digest %x of %s", sum, out)
				}
			})
		}
	}
	if ran == 0 {
		t.Skip("no set here is the battery")
	}
}

// TestAgentEnvelopeVectors runs the canonicalJSON cases; the other operations
// belong to the packages that implement them.
func TestAgentEnvelopeVectors(t *testing.T) {
	files := []string{filepath.Join("testdata", "agentenvelope-canonical.json")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "agentenvelope", "*.json"))
		files = append(files, more...)
	}
	ran := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var set struct {
			Vectors []struct {
				Name, Op, Strict string
				Input            struct{ JSON string }
				Expect           struct{ Canonical, SHA256, Error string }
			}
		}
		if json.Unmarshal(raw, &set) != nil {
			continue // a file of another shape
		}
		for _, v := range set.Vectors {
			if v.Op != "canonicalJSON" {
				continue
			}
			ran++
			t.Run(v.Name, func(t *testing.T) {
				out, err := Canonical([]byte(v.Input.JSON), AgentEnvelope)
				if v.Expect.Error != "" || v.Strict == "reject" {
					if err == nil {
						t.Fatalf("accepted as %s", out)
					}
					return
				}
				if err != nil || string(out) != v.Expect.Canonical {
					t.Fatalf("got %s, %v", out, err)
				}
				if sum := sha256.Sum256(out); "0x"+hex.EncodeToString(sum[:]) != v.Expect.SHA256 {
					t.Fatalf("digest %x", sum)
				}
			})
		}
	}
	if ran == 0 {
		t.Fatal("no vector ran")
	}
}

func TestValue(t *testing.T) {
	v, err := Parse([]byte(` {"domain":{"domainId":"x\u0041","n":1e2},"resources":["a",[],{}],"b":true,"nil":null,"a.b":{"":-0.0}}`), Binding)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	v.Leaves(func(path string, l Value) { got = append(got, path+"="+string(l.Raw())+" "+l.Kind().String()) })
	want := []string{
		`domain.domainId="x\u0041" string`, `domain.n=1e2 number`, `resources[0]="a" string`,
		`resources[1]=[] array`, `resources[2]={} object`, `b=true boolean`, `nil=null null`, `["a.b"][""]=-0.0 number`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("leaves:\n%s", strings.Join(got, "\n"))
	}
	if s := v.Get("domain").Get("domainId").Text(); s != "xA" {
		t.Errorf("text %q", s)
	}
	n := v.Get("domain").Get("n")
	if i, ok := n.Int(); i != 100 || !ok || n.Literal() != "1e2" || string(n.Canonical()) != "100" {
		t.Errorf("number %d %v %s", i, ok, n.Literal())
	}
	if !v.Get("b").Bool() || v.Get("nil").Bool() || !v.Get("nil").Exists() {
		t.Error("booleans and null")
	}
	gone := v.Get("resources").Get("x").Get("y")
	if gone.Exists() || gone.Kind() != Absent || gone.Text() != "" || gone.Raw() != nil || gone.Canonical() != nil || gone.Len() != 0 {
		t.Error("an absent value is not empty")
	}
	var names []string
	for m := range v.Members() {
		names = append(names, m.Name)
	}
	if strings.Join(names, " ") != "domain resources b nil a.b" {
		t.Errorf("members %v", names)
	}
	items := 0
	for i, it := range v.Get("resources").Items() {
		if i != items || it.Kind() == Absent {
			t.Errorf("item %d", i)
		}
		items++
	}
	if items != 3 || v.Get("resources").Len() != 3 {
		t.Errorf("%d items", items)
	}
	raw := v.Raw()
	raw[1] = 'X'
	if string(v.Get("b").Raw()) != "true" || v.Raw()[1] == 'X' {
		t.Error("the value was changed through Raw")
	}
	w := v.Without("resources", "b", "unknown")
	if got := string(gone.AppendCanonical(w.AppendCanonical([]byte("x")))); got != "x"+string(w.Canonical()) {
		t.Errorf("appended as %s", got)
	}
	if s := string(w.Canonical()); s != `{"a.b":{"":0},"domain":{"domainId":"xA","n":100},"nil":null}` {
		t.Errorf("without: %s", s)
	}
	if w.Len() != 3 || v.Len() != 5 || w.Get("domain").Get("n").Literal() != "1e2" {
		t.Error("without: lookups")
	}
	if x := v.Get("domain").Without("n"); string(x.Canonical()) != `{"domainId":"xA"}` {
		t.Errorf("without below: %s", x.Canonical())
	}
}

func TestParseKeepsNothingOfTheInput(t *testing.T) {
	raw := []byte(`{"a":"b"}`)
	v, err := Parse(raw, SoW)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw, `{"x":"y"}`)
	if string(v.Canonical()) != `{"a":"b"}` {
		t.Errorf("got %s", v.Canonical())
	}
}

func TestMarshal(t *testing.T) {
	out, err := Marshal(struct {
		B []string `json:"b"`
		A string   `json:"a"`
		N int64    `json:"n"`
	}{A: "<&\u2028", N: 9007199254740991}, AgentEnvelope)
	if err != nil || string(out) != "{\"a\":\"<&\u2028\",\"b\":[],\"n\":9007199254740991}" {
		t.Errorf("got %s, %v", out, err)
	}
	if _, err := Marshal(1.5, Binding); err == nil {
		t.Error("a fraction passed")
	}
	if _, err := Marshal(func() {}, Binding); err == nil {
		t.Error("a function passed")
	}
}

func FuzzCanonical(f *testing.F) {
	for _, row := range matrix {
		if len(row.in) < 4096 {
			f.Add([]byte(row.in))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range []Profile{Binding, AgentEnvelope, SoW} {
			v, err := Parse(raw, p)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(raw)) {
					t.Fatalf("%s: %v", p, err)
				}
				continue
			}
			if len(raw) <= MaxFrame {
				if err := CheckFrame(raw); err != nil {
					t.Fatalf("document passes, frame does not: %v", err)
				}
			}
			once := v.Canonical()
			twice, err := Canonical(once, p)
			if err != nil || string(twice) != string(once) {
				t.Fatalf("%s: %q became %q, %v", p, once, twice, err)
			}
			if !json.Valid(once) {
				t.Fatalf("%s: not JSON: %q", p, once)
			}
			if p != SoW {
				continue
			}
			if _, err := Canonical(raw, Binding); err == nil {
				if b, _ := Canonical(raw, Binding); string(b) != string(once) {
					t.Fatalf("binding %q, sow %q", b, once)
				}
			}
		}
	})
}

func sample(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"example","items":[`)
	for i := 0; b.Len() < size-130; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":"Harbor & Line","amount":125000,"when":"2026-09-21T14:13:20Z","clause":{"grade":"evidence","id":42,"note":null}}`)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkCanonical(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1KB", 1 << 10}, {"50KB", 50 << 10}} {
		raw := sample(size.n)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Canonical(raw, AgentEnvelope); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("frame/"+size.name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if err := CheckFrame(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
