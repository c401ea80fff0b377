package main

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/internal/samplekey"
)

// TestSoWVerifyParts: an act in a file of its own, and in a bundle, belongs to
// the document it is given with.
func TestSoWVerifyParts(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, raw []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "approvals", "sow", "testdata", "docs", "fixed-fee-engagement.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	terminate := func(label string) []byte {
		k, text := samplekey.Of(t, label)
		a, err := sow.NewAct(sow.ActFields{Kind: sow.Termination, SoW: d.ID(), Version: 1, Document: d.Digest(), Role: sow.Client, At: "2026-11-01T09:00:00Z", Key: text, Ground: "convenience"})
		if err != nil {
			t.Fatal(err)
		}
		if a, err = a.WithSignature(ed25519.Sign(k, a.Signed())); err != nil {
			t.Fatal(err)
		}
		return a.Bytes()
	}
	_, provider := samplekey.Of(t, "owner/copperline")
	_, client := samplekey.Of(t, "owner/saltmarsh")
	whole, err := bundle.Encode(bundle.Bundle{Document: raw, Acts: [][]byte{terminate("owner/saltmarsh")}})
	if err != nil {
		t.Fatal(err)
	}
	document, act, other, both := file("doc.json", raw), file("act.json", terminate("owner/saltmarsh")), file("other.json", terminate("owner/gable")), file("bundle.json", whole)
	pins := []string{"--key", "provider=" + provider, "--key", "client=" + client}
	for name, c := range map[string]struct {
		args   []string
		status int
		last   string
	}{
		"with its act":         {append([]string{document, act}, pins...), 0, "Verified against your pin."},
		"in one file":          {append([]string{both}, pins...), 0, "Verified against your pin."},
		"in one file, no pins": {[]string{both}, 3, "Self-consistent. Not pinned: anybody could have made this file"},
		"an act of a stranger": {append([]string{document, other}, pins...), 1, "Not valid."},
		"the act alone":        {append([]string{act}, pins...), 1, ""},
		"a bundle beside":      {append([]string{document, both}, pins...), 0, "Verified against your pin."},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			p := &program{out: &out, errOut: &errOut, getenv: func(string) string { return "" }, now: time.Now}
			status := p.execute(t.Context(), append([]string{"sow", "verify"}, c.args...))
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if status != c.status || lines[len(lines)-1] != c.last {
				t.Errorf("exit status %d: %s%s", status, out.String(), errOut.String())
			}
		})
	}
	// What takes a document takes a bundle's.
	var out bytes.Buffer
	p := &program{out: &out, errOut: &out, getenv: func(string) string { return "" }, now: time.Now}
	if status := p.execute(t.Context(), []string{"sow", "check", both}); status != 0 {
		t.Errorf("exit status %d: %s", status, out.String())
	}
}

// TestSoWBadInput: whatever a command is given in the place of a document is refused with a code, a sentence and a remedy, under the
// exit status that is documented, and nothing is printed or written.
func TestSoWBadInput(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join("..", "..", "approvals", "sow", "testdata", "docs", "fixed-fee-engagement.json")
	inputs := map[string]struct {
		raw       []byte // nil: it is not written
		unread    bool   // it cannot be read as a file
		checkable bool   // check names what is wrong with it
	}{
		"empty":     {[]byte{}, false, true},
		"binary":    {[]byte{0xff, 0xfe, 0, 1, 2, 0x80}, false, true},
		"broken":    {[]byte(`{"sow":`), false, true},
		"twice":     {[]byte(`{"sow":"v1","sow":"v1"}`), false, true},
		"a list":    {[]byte(`[]`), false, true},
		"no sow":    {[]byte(`{"name":"left-pad","version":"1.0.0"}`), false, true},
		"a mark":    {[]byte("\xef\xbb\xbf{}"), false, true},
		"deep":      {[]byte(strings.Repeat(`{"sow":`, 2000)), false, true},
		"too long":  {bytes.Repeat([]byte(" "), 1<<20+1), false, true},
		"very long": {bytes.Repeat([]byte(" "), 8<<20+1), true, false},
		"missing":   {nil, true, false},
		"a folder":  {nil, true, false},
	}
	commands := map[string]func(file string) []string{
		"check":    func(f string) []string { return []string{"check", f} },
		"json":     func(f string) []string { return []string{"check", "--json", f} },
		"show":     func(f string) []string { return []string{"show", f} },
		"html":     func(f string) []string { return []string{"show", "--html", filepath.Join(dir, "out"), f} },
		"pdf":      func(f string) []string { return []string{"show", "--pdf", filepath.Join(dir, "out"), f} },
		"id":       func(f string) []string { return []string{"id", f} },
		"id --out": func(f string) []string { return []string{"id", "--out", filepath.Join(dir, "out"), f} },
		"verify":   func(f string) []string { return []string{"verify", f} },
		"part":     func(f string) []string { return []string{"verify", good, f} },
		"diff":     func(f string) []string { return []string{"diff", f, good} },
		"diff to":  func(f string) []string { return []string{"diff", good, f} },
		"language": func(f string) []string { return []string{"show", "--language", f, good} },
		"card":     func(f string) []string { return []string{"verify", "--card", f, good} },
		"manifest": func(f string) []string { return []string{"check", "--manifest", f, good} },
	}
	for name, in := range inputs {
		file := filepath.Join(dir, name)
		switch {
		case name == "a folder":
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		case in.raw != nil:
			if err := os.WriteFile(file, in.raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for what, args := range commands {
			t.Run(what+" "+name, func(t *testing.T) {
				var out, errOut bytes.Buffer
				p := &program{out: &out, errOut: &errOut, getenv: func(string) string { return "" }, now: time.Now}
				status := p.execute(t.Context(), append([]string{"sow"}, args(file)...))
				want := 1
				if in.unread {
					want = 2
				}
				if status != want {
					t.Errorf("exit status %d, want %d: %s%s", status, want, out.String(), errOut.String())
				}
				if in.checkable && (what == "check" || what == "json") {
					if out.Len() == 0 || errOut.Len() != 0 {
						t.Errorf("what is wrong is not named: %q %q", out.String(), errOut.String())
					}
					return
				}
				line := strings.TrimSuffix(errOut.String(), "\n")
				if out.Len() != 0 || strings.Contains(line, "\n") || !strings.HasPrefix(line, "vault: ") || !strings.HasSuffix(line, ")") || strings.Count(line, ". ") < 2 {
					t.Errorf("no one line with a code, a sentence and a remedy: %q %q", out.String(), errOut.String())
				}
				if _, err := os.Lstat(filepath.Join(dir, "out")); err == nil {
					t.Error("something was written")
				}
			})
		}
	}
}
