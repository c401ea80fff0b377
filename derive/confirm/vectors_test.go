package confirm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

type vector struct {
	ID, Expect, At, Reason string
	Pins                   struct {
		Key     string
		RPID    string `json:"rp_id"`
		Origins []string
	}
	Record           json.RawMessage
	RecordText       string `json:"record_text"`
	CanonicalContext string `json:"canonical_context"`
	Challenge        string
	DigestInput      string `json:"digest_input"`
}

type vectorSet struct {
	Keys    map[string]struct{ Curve, COSE string }
	Vectors []vector
}

func (v vector) raw() []byte {
	if v.RecordText != "" {
		return []byte(v.RecordText)
	}
	return v.Record
}

func (s vectorSet) pins(t testing.TB, v vector) (pins Pins, at int64) {
	t.Helper()
	when, err := time.Parse(time.RFC3339, v.At)
	if err != nil {
		t.Fatal(err)
	}
	cose, ok := unbase64(s.Keys[v.Pins.Key].COSE)
	if !ok {
		t.Fatalf("no key %q", v.Pins.Key)
	}
	key, err := ParseKey(cose)
	// A key that cannot be enrolled cannot be pinned.
	if (err == nil) != (s.Keys[v.Pins.Key].Curve == "P-256") {
		t.Fatalf("key %s: %v", v.Pins.Key, err)
	}
	return Pins{Key: key, RPID: v.Pins.RPID, Origins: v.Pins.Origins}, when.UnixMilli()
}

// vectorSets returns our copy, and each further set under $VAULT_VECTORS.
func vectorSets(t testing.TB) []vectorSet {
	t.Helper()
	files := []string{filepath.Join("testdata", "signoff.json")}
	if dir := os.Getenv("VAULT_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "signoff", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	var sets []vectorSet
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s vectorSet
		if err := json.Unmarshal(raw, &s); err != nil || len(s.Vectors) == 0 {
			if i == 0 {
				t.Fatalf("%s: %d vectors, %v", file, len(s.Vectors), err)
			}
			continue // a file of another shape
		}
		sets = append(sets, s)
	}
	return sets
}

// failing says which check finds the fault of a refused vector, by its reason.
var failing = map[string]string{
	"challenge_mismatch": "challengeIsContext", "user_presence_missing": "userPresent", "user_verification_missing": "userVerified",
	"bad_signature": "signature", "rp_id_hash_mismatch": "rpIdHash", "rp_id_mismatch": "rpIdOfContext", "client_data_type": "clientDataType",
	"client_data_malformed": "clientDataWellFormed", "authenticator_data_malformed": "authenticatorDataWellFormed",
	"not_base64url": "recordWellFormed", "context_malformed": "recordWellFormed", "record_malformed": "recordWellFormed",
	"expired": "notExpired", "not_yet_issued": "issued",
}

func TestVectors(t *testing.T) {
	for i, s := range vectorSets(t) {
		for _, v := range s.Vectors {
			t.Run(v.ID, func(t *testing.T) {
				pins, at := s.pins(t, v)
				got := VerifyRecord(v.raw(), pins, at)
				if got.Valid != (v.Expect == "accepted") {
					t.Fatalf("valid is %v: %+v", got.Valid, got)
				}
				if got.Pinned {
					t.Error("a record alone is pinned")
				}
				if !got.Valid {
					name, known := failing[v.Reason]
					if c, ok := got.Check(name); known && (!ok || c.OK) {
						t.Errorf("%s is not found by %s: %+v", v.Reason, name, got)
					}
					if !known && i == 0 && v.Reason != "origin_mismatch" {
						t.Errorf("reason %s has no check", v.Reason)
					}
					if got.Reason == "" {
						t.Error("refused without a reason")
					}
					return
				}
				r, err := ParseRecord(v.raw())
				if err != nil {
					t.Fatal(err)
				}
				c := r.Context()
				if string(c.Canonical()) != v.CanonicalContext || c.ChallengeText() != v.Challenge {
					t.Errorf("canonical %s\nchallenge %s", c.Canonical(), c.ChallengeText())
				}
				again, err := NewContext(c.Fields())
				if err != nil || string(again.Canonical()) != v.CanonicalContext {
					t.Errorf("built again: %v", err)
				}
				if v.DigestInput != "" {
					if err := c.Covers([]byte(v.DigestInput)); err != nil {
						t.Error(err)
					}
					if c.Covers([]byte(v.DigestInput+" ")) == nil {
						t.Error("covers other bytes too")
					}
				}
			})
		}
	}
}

// leaf is a place in a document that a test can change.
type leaf struct {
	path string
	old  any
	set  func(any)
	drop func()
}

func leaves(path string, v any, set func(any), drop func(), f func(leaf)) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			leaves(path+"."+name, child, func(x any) { v[name] = x }, func() { delete(v, name) }, f)
		}
	case []any:
		for i, child := range v {
			leaves(path+"[]", child, func(x any) { v[i] = x }, func() { v[i] = nil }, f)
		}
	}
	if path != "" {
		f(leaf{path, v, set, drop})
	}
}

// edits calls f with the document after each single change: every leaf changed and
// set to null, every member and item removed or, of a list, made null, and a
// member more in every object.
func edits(t *testing.T, raw []byte, f func(what string, raw []byte)) {
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	try := func(what string) {
		edited, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		f(what, edited)
	}
	leaves("", doc, nil, nil, func(l leaf) {
		switch old := l.old.(type) {
		case string:
			l.set(old + "0")
			try(l.path + " longer")
			if old != "" {
				l.set(old[:len(old)-1])
				try(l.path + " shorter")
				l.set(string(old[0]^1) + old[1:])
				try(l.path + " another first character")
			}
		case float64:
			l.set(old + 1)
			try(l.path + " plus one")
		case bool:
			l.set(!old)
			try(l.path + " turned")
		case map[string]any:
			old["more"] = "x"
			try(l.path + " with a member more")
			delete(old, "more")
		case []any:
			l.set(append(append([]any{}, old...), "x"))
			try(l.path + " with an item more")
		}
		l.set(nil)
		try(l.path + " null")
		l.drop()
		try(l.path + " gone")
		l.set(l.old)
	})
}

func TestEveryLeafOfAContext(t *testing.T) {
	s := vectorSets(t)[0]
	for _, v := range s.Vectors {
		if v.Expect != "accepted" {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			pins, at := s.pins(t, v)
			parsed, n := 0, 0
			edits(t, v.Record, func(what string, raw []byte) {
				n++
				got := VerifyRecord(raw, pins, at)
				if got.Valid {
					t.Errorf("accepted: %s", what)
				}
				if r, err := ParseRecord(raw); err == nil {
					parsed++
					c, _ := got.Check("challengeIsContext")
					if c.OK && string(r.Context().Canonical()) != v.CanonicalContext {
						t.Errorf("%s: the challenge does not notice", what)
					}
				}
			})
			if n < 40 || parsed < 5 {
				t.Errorf("%d edits, %d of them readable", n, parsed)
			}
		})
	}
}

// TestEveryCharacter changes every character of the three byte strings of every
// accepted record.
func TestEveryCharacter(t *testing.T) {
	s := vectorSets(t)[0]
	for _, v := range s.Vectors {
		if v.Expect != "accepted" {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			pins, at := s.pins(t, v)
			var doc struct {
				Context  json.RawMessage   `json:"context"`
				WebAuthn map[string]string `json:"webauthn"`
			}
			if err := json.Unmarshal(v.Record, &doc); err != nil || len(doc.WebAuthn) != 3 {
				t.Fatal(err)
			}
			for name, old := range doc.WebAuthn {
				for i := range old {
					other := byte('A')
					if old[i] == 'A' {
						other = 'B'
					}
					doc.WebAuthn[name] = old[:i] + string(other) + old[i+1:]
					raw, err := json.Marshal(doc)
					if err != nil {
						t.Fatal(err)
					}
					if VerifyRecord(raw, pins, at).Valid {
						t.Errorf("%s: accepted with another character %d", name, i)
					}
				}
				doc.WebAuthn[name] = old
			}
		})
	}
}

func TestUnpinned(t *testing.T) {
	s := vectorSets(t)[0]
	v := s.Vectors[0]
	for name, edit := range map[string]func(*Pins){
		"no key":    func(p *Pins) { p.Key = nil },
		"no rp id":  func(p *Pins) { p.RPID = "" },
		"no origin": func(p *Pins) { p.Origins = nil },
	} {
		t.Run(name, func(t *testing.T) {
			pins, at := s.pins(t, v)
			if got := VerifyRecord(v.raw(), pins, at); !got.Valid {
				t.Fatalf("%+v", got)
			}
			edit(&pins)
			if got := VerifyRecord(v.raw(), pins, at); got.Valid {
				t.Errorf("%+v", got)
			}
		})
	}
}
