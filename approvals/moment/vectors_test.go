package moment

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// set is a file of vectors, of any of the suites.
type set struct {
	Suite     string
	Vectors   []vector
	Envelopes map[string]struct {
		Vector, Digest string
		Options        int
	}
}

type vector struct {
	ID             string
	Raw            string
	RawBase64      string `json:"raw_base64"`
	Reason         string
	AlsoAcceptable []string `json:"also_acceptable"`
	Path           string

	Canonical       string
	CanonicalLength int `json:"canonical_length"`
	Digest          string
	Actions         []struct {
		Action            json.RawMessage
		Canonical, Digest string
	}

	Suggested string
	Verdict   string `json:"reference_verdict"`

	Emitted, Resolved []string
	Expect            string
	AuthorityChecks   []struct {
		Label  string
		Action json.RawMessage
		Held   string `json:"held_envelope"`
		Expect string
	} `json:"authority_checks"`
}

func (v vector) bytes(t testing.TB) []byte {
	if v.RawBase64 == "" {
		return []byte(v.Raw)
	}
	b, err := base64.StdEncoding.DecodeString(v.RawBase64)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (v vector) reasons() []string { return append([]string{v.Reason}, v.AlsoAcceptable...) }

func load(t testing.TB, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// own reads one of our copies.
func own(t testing.TB, suite string) (s set) {
	t.Helper()
	load(t, filepath.Join("testdata", suite+".json"), &s)
	return s
}

// each runs every vector of our copy of a suite, of which there must be so many,
// and of every further set of that suite under $VAULT_VECTORS/binding.
func each(t *testing.T, suite string, count int, run func(*testing.T, set, vector)) {
	sets := []set{own(t, suite)}
	if n := len(sets[0].Vectors); n != count {
		t.Errorf("%d vectors, want %d", n, count)
	}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "binding", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			var of struct{ Suite string }
			load(t, f, &of)
			if of.Suite == suite {
				var s set
				load(t, f, &s)
				sets = append(sets, s)
			}
		}
	}
	for _, s := range sets {
		for _, v := range s.Vectors {
			t.Run(v.ID, func(t *testing.T) { run(t, s, v) })
		}
	}
}

func TestValid(t *testing.T) {
	each(t, "envelopes-valid", 20, func(t *testing.T, _ set, v vector) {
		e, err := Parse(v.bytes(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(e.Canonical()); got != v.Canonical || len(got) != v.CanonicalLength {
			t.Errorf("canonical form of %d bytes\n%s\nwant %d\n%s", len(got), got, v.CanonicalLength, v.Canonical)
		}
		if e.Digest() != v.Digest {
			t.Errorf("digest %s, want %s", e.Digest(), v.Digest)
		}
		var behind []Behind
		for i, a := range v.Actions {
			d, err := ActionDigest(a.Action)
			if err != nil || d != a.Digest || d != e.Content().Options[i].ActionDigest {
				t.Errorf("action %d: %s, %v, want %s", i, d, err, e.Content().Options[i].ActionDigest)
			}
			behind = append(behind, Behind{Option: i, Action: a.Action})
		}
		s, err := NewSheet(e, behind)
		if err != nil {
			t.Fatal(err)
		}
		if len(behind) != len(s.Rows) {
			t.Fatalf("%d actions for %d options", len(behind), len(s.Rows))
		}
		for i, row := range s.Rows {
			if row.Blocked != "" || row.Action == nil {
				t.Errorf("option %d: blocked %q", i, row.Blocked)
			}
		}
	})
}

func TestMalformed(t *testing.T) {
	each(t, "envelopes-malformed", 67, func(t *testing.T, _ set, v vector) {
		e, err := Parse(v.bytes(t))
		var f *Fault
		if e != nil || !errors.As(err, &f) {
			t.Fatalf("accepted, or another error: %v", err)
		}
		if !slices.Contains(v.reasons(), string(f.Reason)) {
			t.Errorf("%v, want one of %v", err, v.reasons())
		}
		if f.Reason.Sentence() == "" {
			t.Errorf("%s has no sentence", f.Reason)
		}
		if path := f.Path + dot(f.Member); f.Path != "" && string(f.Reason) == v.Reason && path != v.Path {
			t.Errorf("at %s, want %s", path, v.Path)
		}
		r := Bare(v.bytes(t), "the conventional payload")
		if r.Outcome != Malformed || r.Envelope != nil || r.Payload.Text != "the conventional payload" {
			t.Errorf("received as %+v", r)
		}
	})
}

func dot(member string) string {
	if member == "" {
		return ""
	}
	return "." + member
}

// refusedByPolicy are the ambiguous cases that the suite suggests to refuse, and
// the reason each is given.
var refusedByPolicy = map[string]Reason{
	"n_idx_lossy_one":  NumberNotInteger,
	"n_idx_underflow":  NumberNotInteger,
	"g_synopsis_empty": BlankText,
	"g_stem_empty":     BlankText,
	"g_label_blank":    BlankText,
}

func TestAmbiguous(t *testing.T) {
	each(t, "envelopes-ambiguous", 23, func(t *testing.T, _ set, v vector) {
		e, err := Parse(v.bytes(t))
		want, known := refusedByPolicy[v.ID]
		if known || strings.HasPrefix(v.Suggested, "reject") || strings.HasPrefix(v.Suggested, "fall back") {
			if got := ReasonOf(err); got == "" || known && got != want {
				t.Errorf("%v, want %q", err, want)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Digest() != v.Digest {
			t.Errorf("digest %s, want %s", e.Digest(), v.Digest)
		}
	})
}

func TestResolutions(t *testing.T) {
	valid := map[string]*Envelope{}
	for _, v := range own(t, "envelopes-valid").Vectors {
		e, err := Parse([]byte(v.Raw))
		if err != nil {
			t.Fatal(err)
		}
		valid[v.ID] = e
	}
	each(t, "resolutions", 51, func(t *testing.T, s set, v vector) {
		named := func(name string) *Envelope {
			e := valid[s.Envelopes[name].Vector]
			if e == nil || e.Digest() != s.Envelopes[name].Digest {
				t.Fatalf("no envelope %q", name)
			}
			return e
		}
		r, err := ParseResolution(v.bytes(t))
		if err == nil {
			var presented *Envelope
			for _, name := range v.Emitted {
				if e := named(name); e.Digest() == r.EnvelopeDigest() {
					presented = e
				}
			}
			err = r.Check(presented, slices.ContainsFunc(v.Resolved, func(name string) bool { return named(name).Digest() == r.EnvelopeDigest() }))
		}
		if v.Expect == "reject" {
			if err == nil || !slices.Contains(v.reasons(), string(ReasonOf(err))) {
				t.Errorf("%v, want one of %v", err, v.reasons())
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range v.AuthorityChecks {
			got := "authority"
			if err := Authority(r, named(c.Held), c.Action); err != nil {
				got = string(ReasonOf(err))
			}
			if got != c.Expect {
				t.Errorf("%s: %s, want %s", c.Label, got, c.Expect)
			}
		}
		rebuilt(t, r, v)
	})
}

// rebuilt checks that the owner's own act gives the same object.
func rebuilt(t *testing.T, r *Resolution, v vector) {
	t.Helper()
	for _, w := range own(t, "envelopes-valid").Vectors {
		e, err := Parse([]byte(w.Raw))
		if err != nil {
			t.Fatal(err)
		}
		if e.Digest() != r.EnvelopeDigest() {
			continue
		}
		var made *Resolution
		switch r.Choice() {
		case ChoseOption:
			i, _ := r.Option()
			made, err = e.Select(i)
		case ChoseAnswer:
			text, _ := r.Answer()
			made, err = e.Answer(text)
		case ChoseQuestion:
			made, err = e.RejectQuestion()
		case ChoseDecline:
			made = e.Decline()
		}
		if err != nil || string(made.Canonical()) != string(r.Canonical()) || made.Digest() != r.Digest() {
			t.Errorf("built %s, %v, want %s", made.Canonical(), err, r.Canonical())
		}
		sameJSON(t, made.Canonical(), v.bytes(t))
		return
	}
	t.Fatal("the envelope is not among the valid ones")
}

func sameJSON(t *testing.T, a, b []byte) {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatal("not JSON")
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	if string(p) != string(q) {
		t.Errorf("%s differs from %s", p, q)
	}
}

func TestToolResults(t *testing.T) {
	each(t, "toolresults", 14, func(t *testing.T, _ set, v vector) {
		r := ToolResult(v.bytes(t))
		if r.Payload.Text != "Conventional payload." && v.ID != "t10_in_text" {
			t.Errorf("conventional payload %q", r.Payload.Text)
		}
		if v.Expect == "render" {
			if r.Outcome != Render || r.Envelope == nil || r.Envelope.Digest() != v.Digest {
				t.Errorf("%+v, want digest %s", r, v.Digest)
			}
			return
		}
		if r.Envelope != nil || string(r.Outcome) != v.Reason || (r.Fault != nil) != (r.Outcome == Malformed) {
			t.Errorf("%+v, want %s", r, v.Reason)
		}
	})
}

// TestMemoExample is section 6.4: 895 bytes and three digests.
func TestMemoExample(t *testing.T) {
	e := example(t)
	if n := len(e.Canonical()); n != 895 {
		t.Errorf("%d bytes", n)
	}
	if got := e.Digest(); got != "sha256:0db384ab1b682c115d79babfefa91f014ad80c007d00c79119d748f32be232d1" {
		t.Error(got)
	}
	for raw, want := range map[string]string{
		exampleAction0: "sha256:ff91e3166e64b892004d4b43b05ad6ed7ff0819463da80c72f27f47039c033fa",
		exampleAction1: "sha256:49be14ae6e74b950c0c7b790fa22538d45fb4853bb0f3b242b28204bee232945",
	} {
		if got, err := ActionDigest([]byte(raw)); err != nil || got != want {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
}

const (
	exampleAction0 = `{ "disclose": ["travel_dates"], "recipient": "booking.example" }`
	exampleAction1 = `{ "disclose": ["passport_number", "travel_dates"], "recipient": "booking.example" }`
)

func example(t testing.TB) *Envelope {
	t.Helper()
	e, err := Parse([]byte(own(t, "envelopes-valid").Vectors[0].Raw))
	if err != nil {
		t.Fatal(err)
	}
	return e
}
