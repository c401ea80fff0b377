//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vault/approvals/receipt"
	"vault/derive/confirm"
)

// sample is what was written of one kind.
type sample struct {
	Kind    confirm.Kind
	Verdict string // last line of vault verify
}

// files of a sample, in a folder named after its kind.
const (
	cardFile     = "owner-card.json"
	receiptFile  = "receipt.json"
	evidenceFile = "evidence.json"
	recordFile   = "record.json"
	contextFile  = "context.json"
	verifiedFile = "verified.txt"
)

// notHere says of a kind without a sample why there is none.
func notHere(k confirm.Kind, keyring bool) string {
	switch {
	case strings.HasPrefix(string(k), "sow."):
		return "this version has the act, but its sample is not made yet"
	case k == confirm.ProtectionChange && !keyring:
		return "no keyring could be started here, so no protection is weaker than another"
	}
	return ""
}

// kindOf is the kind of what a passkey confirmed behind a receipt, or "".
func kindOf(raw []byte) (confirm.Kind, *confirm.Evidence, error) {
	r, err := receipt.Parse(raw)
	if err != nil {
		return "", nil, err
	}
	ev := r.Parts().Evidence
	if ev == nil {
		return "", nil, nil
	}
	e, err := confirm.ParseEvidence(ev)
	if err != nil {
		return "", nil, err
	}
	return e.Record().Context().Fields().Kind, e, nil
}

// write puts the receipts, the first of each kind, into a new folder beside the card, and has each verified by the program
// itself. A kind that has neither a sample nor a reason is an error.
func write(ctx context.Context, m *maker, dir string, receipts [][]byte, card []byte, keyring bool) ([]sample, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	put := func(name string, raw []byte) error {
		return os.WriteFile(filepath.Join(dir, name), append(raw, '\n'), 0o644)
	}
	if err := put(cardFile, card); err != nil {
		return nil, err
	}
	found := map[confirm.Kind][]byte{}
	for _, raw := range receipts {
		k, _, err := kindOf(raw)
		if err != nil {
			return nil, err
		}
		if k != "" && found[k] == nil {
			found[k] = raw
		}
	}
	var out []sample
	lines := []string{}
	for _, rule := range confirm.Kinds() {
		raw := found[rule.Kind]
		if raw == nil {
			why := notHere(rule.Kind, keyring)
			if why == "" {
				return nil, fmt.Errorf("write samples: there is no %s", rule.Kind)
			}
			lines = append(lines, fmt.Sprintf("| `%s` | none: %s |", rule.Kind, why))
			continue
		}
		s, err := writeOne(ctx, m, dir, rule.Kind, raw, put)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		lines = append(lines, fmt.Sprintf("| `%s` | over %s |", rule.Kind, rule.Over))
	}
	return out, put("README.md", []byte(readme(lines)))
}

func writeOne(ctx context.Context, m *maker, dir string, kind confirm.Kind, raw []byte, put func(string, []byte) error) (sample, error) {
	_, e, err := kindOf(raw)
	if err != nil {
		return sample{}, err
	}
	at := string(kind)
	if err := os.Mkdir(filepath.Join(dir, at), 0o755); err != nil {
		return sample{}, err
	}
	for name, content := range map[string][]byte{
		receiptFile: bytes.TrimSpace(raw), evidenceFile: e.Canonical(), recordFile: e.Record().Canonical(), contextFile: e.Record().Context().Canonical(),
	} {
		if err := put(filepath.Join(at, name), content); err != nil {
			return sample{}, err
		}
	}
	text, status, err := m.bed.Output(ctx, m.vault, "verify", "--card", filepath.Join(dir, cardFile), filepath.Join(dir, at, receiptFile))
	if err != nil || status != 0 {
		return sample{}, fmt.Errorf("verify the sample of %s: status %d, %w\n%s", kind, status, err, text)
	}
	// The program names files as it was given them; here they stand beside each other.
	text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return sample{kind, lines[len(lines)-1]}, put(filepath.Join(at, verifiedFile), []byte(strings.TrimSpace(text)))
}

func readme(lines []string) string {
	return "# Samples\n\n" +
		"One record of each kind of act that a passkey confirms, made by the real programs with a vault that was thrown\n" +
		"away and a passkey in software. Nothing here binds anybody.\n\n" +
		"Each folder holds `" + contextFile + "`, what was shown and signed; `" + recordFile + "`, it with the passkey's answer; `" + evidenceFile + "`,\n" +
		"that with the log key's word; `" + receiptFile + "`, the log entry that it stands behind, which is what an owner exports;\n" +
		"and `" + verifiedFile + "`, what this says of it:\n\n" +
		"    vault verify --card " + cardFile + " KIND/" + receiptFile + "\n\n" +
		"| kind | sample |\n| --- | --- |\n" + strings.Join(lines, "\n")
}
