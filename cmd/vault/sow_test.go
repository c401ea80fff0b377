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
