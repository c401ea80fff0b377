package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault/approvals/receipt"
	"vault/assets"
	"vault/derive/confirm"
	"vault/internal/needs"
	"vault/internal/testbed"
)

// TestSamples: one of each kind, those of agreements in a folder of their own, each verified by the program with the card, by the package without it,
// and by neither once a digit has changed.
func TestSamples(t *testing.T) {
	needs.Programs(t, testbed.KeyringPrograms...)
	bin, dir := t.TempDir(), filepath.Join(t.TempDir(), "samples")
	if err := testbed.Build(t.Context(), bin); err != nil {
		t.Fatal(err)
	}
	made, err := run(t.Context(), bin, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []confirm.Kind{
		confirm.SoWCountersign, confirm.SoWAmend, confirm.SoWTerminate, confirm.SoWDispute, confirm.SoWPreauthorise,
		confirm.MintDelegate, confirm.MintExport, confirm.MomentResolution, confirm.ActionSign, confirm.RequestDecline, confirm.ClientPair, confirm.GrantMake, confirm.SocketAdd, confirm.InstanceReadmit,
		confirm.RecoveryShow, confirm.ProtectionChange, confirm.PasskeyTry, confirm.PasskeyAdd, confirm.PasskeyRemove, confirm.PolicyLoosen, confirm.CardExport,
	}
	var got []confirm.Kind
	for _, s := range made {
		got = append(got, s.Kind)
		if s.Verdict != "Verified against your pin." {
			t.Errorf("%s: %s", s.Kind, s.Verdict)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("samples of %v, want %v", got, want)
	}
	read := func(name ...string) []byte {
		raw, err := os.ReadFile(filepath.Join(append([]string{dir}, name...)...))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSpace(raw)
	}
	status := func(args ...string) int {
		cmd := exec.CommandContext(context.Background(), filepath.Join(bin, "vault"), append([]string{"verify"}, args...)...)
		cmd.Dir = dir
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
	for _, s := range made {
		t.Run(string(s.Kind), func(t *testing.T) {
			kind, cardAt := filepath.Join(s.Folder, string(s.Kind)), filepath.Join(s.Folder, cardFile)
			if agreed := strings.HasPrefix(string(s.Kind), "sow."); agreed != (s.Folder == agreementFolder) {
				t.Errorf("it is in folder %q", s.Folder)
			}
			card, err := confirm.ParseOwnerCard(read(cardAt))
			if err != nil {
				t.Fatal(err)
			}
			r, err := receipt.Parse(read(kind, receiptFile))
			if err != nil {
				t.Fatal(err)
			}
			e, err := confirm.ParseEvidence(read(kind, evidenceFile))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(r.Parts().Evidence, read(kind, evidenceFile)) || !bytes.Equal(e.Record().Canonical(), read(kind, recordFile)) ||
				!bytes.Equal(e.Record().Context().Canonical(), read(kind, contextFile)) {
				t.Error("the files are not parts of each other")
			}
			if f := e.Record().Context().Fields(); f.Kind != s.Kind || len(f.Says) == 0 {
				t.Errorf("%+v", f)
			}
			if report := card.VerifyEvidence(e); !report.Pinned {
				t.Errorf("%s: %+v", report.Reason, report.Checks)
			}
			if got := status(filepath.Join(kind, receiptFile)); got != 3 {
				t.Errorf("without the card: status %d", got)
			}
			if got := status("--card", cardAt, filepath.Join(kind, receiptFile)); got != 0 {
				t.Errorf("with the card: status %d", got)
			}
			// One digit of what was shown.
			var parts struct {
				Evidence struct {
					Record struct {
						Context struct {
							Nonce string `json:"nonce"`
						} `json:"context"`
					} `json:"record"`
				} `json:"evidence"`
			}
			if err := json.Unmarshal(read(kind, receiptFile), &parts); err != nil {
				t.Fatal(err)
			}
			nonce := parts.Evidence.Record.Context.Nonce
			if nonce == "" {
				t.Fatal("the receipt shows no nonce")
			}
			other := "A" + nonce[1:]
			if nonce[0] == 'A' {
				other = "B" + nonce[1:]
			}
			changed := filepath.Join(kind, "changed.json")
			if err := os.WriteFile(filepath.Join(dir, changed), bytes.Replace(read(kind, receiptFile), []byte(nonce), []byte(other), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := status("--card", cardAt, changed); got != 1 {
				t.Errorf("with one digit changed: status %d", got)
			}
		})
	}
	text := string(read("README.md"))
	for _, rule := range confirm.Kinds() {
		if !strings.Contains(text, "`"+string(rule.Kind)+"`") {
			t.Errorf("README.md does not name %s", rule.Kind)
		}
	}
	if _, err := run(t.Context(), bin, dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second run into the same folder: %v", err)
	}
}

// Every kind of act has words of its own on the page that asks for the passkey.
func TestThePageHasWordsForEveryKind(t *testing.T) {
	page, err := assets.Page("app.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range confirm.Kinds() {
		if !bytes.Contains(page, []byte("'"+string(rule.Kind)+"': '")) {
			t.Errorf("the page has no words for %s", rule.Kind)
		}
	}
}
