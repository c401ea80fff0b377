//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault/approvals/receipt"
	"vault/derive/confirm"
)

// sample is what was written of one kind.
type sample struct {
	Kind    confirm.Kind
	Folder  string // below the folder of the samples: agreementFolder or ""
	Verdict string // last line of vault verify
}

// agreementFolder is the folder of the samples about agreements, which are of another vault.
const agreementFolder = "agreements"

// exported is what the owner of a vault exported.
type exported struct {
	receipts [][]byte
	card     []byte
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
	if k == confirm.ProtectionChange && !keyring {
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

// first gives the first receipt of each kind.
func first(receipts [][]byte) (map[confirm.Kind][]byte, error) {
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
	return found, nil
}

// put writes a text file.
func put(dir, name string, raw []byte) error {
	return os.WriteFile(filepath.Join(dir, name), append(bytes.Clone(raw), '\n'), 0o644)
}

// write puts the receipts, the first of each kind, into a new folder beside the card, those about agreements into one of their own
// below it beside the other vault's card, and has each verified by the program itself. A kind that has neither a sample nor a
// reason is an error.
func write(ctx context.Context, m *maker, dir string, one, other exported, keyring bool) ([]sample, error) {
	below := filepath.Join(dir, agreementFolder)
	if err := os.MkdirAll(below, 0o755); err != nil {
		return nil, err
	}
	if err := errors.Join(put(dir, cardFile, one.card), put(below, cardFile, other.card)); err != nil {
		return nil, err
	}
	found, err := first(one.receipts)
	if err != nil {
		return nil, err
	}
	agreed, err := first(other.receipts)
	if err != nil {
		return nil, err
	}
	var out []sample
	lines := []string{}
	for _, rule := range confirm.Kinds() {
		folder, raw := "", found[rule.Kind]
		if slices.Contains(agreementKinds, rule.Kind) {
			folder, raw = agreementFolder, agreed[rule.Kind]
		}
		if raw == nil {
			why := notHere(rule.Kind, keyring)
			if why == "" {
				return nil, fmt.Errorf("write samples: there is no %s", rule.Kind)
			}
			lines = append(lines, fmt.Sprintf("| `%s` | none: %s |", rule.Kind, why))
			continue
		}
		verdict, err := writeOne(ctx, m, filepath.Join(dir, folder), rule.Kind, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, sample{rule.Kind, folder, verdict})
		over := "over " + rule.Over
		if folder != "" {
			over = "in `" + folder + "/`, " + over
		}
		lines = append(lines, fmt.Sprintf("| `%s` | %s |", rule.Kind, over))
	}
	return out, put(dir, "README.md", []byte(readme(lines)))
}

// writeOne writes a sample into a folder below dir, where the card is, and gives the last line of what the program says of it.
func writeOne(ctx context.Context, m *maker, dir string, kind confirm.Kind, raw []byte) (verdict string, err error) {
	_, e, err := kindOf(raw)
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, string(kind))
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{
		receiptFile: bytes.TrimSpace(raw), evidenceFile: e.Canonical(), recordFile: e.Record().Canonical(), contextFile: e.Record().Context().Canonical(),
	} {
		if err := put(at, name, content); err != nil {
			return "", err
		}
	}
	text, status, err := m.bed.Output(ctx, m.vault, "verify", "--card", filepath.Join(dir, cardFile), filepath.Join(at, receiptFile))
	if err != nil || status != 0 {
		return "", fmt.Errorf("verify the sample of %s: status %d, %w\n%s", kind, status, err, text)
	}
	// The program names files as it was given them; here they stand beside each other.
	text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1], put(at, verifiedFile, []byte(strings.TrimSpace(text)))
}

func readme(lines []string) string {
	return "# Samples\n\n" +
		"One record of each kind of act that a passkey confirms, made with vaults that were thrown away and passkeys in\n" +
		"software. Nothing here binds anybody.\n\n" +
		"Those in this folder were made by the real programs, and the passkeys answered the vault's own page. Those in\n" +
		"`" + agreementFolder + "/`, the kinds that begin with `sow.`, are of another vault and so have an owner card of their own. They were\n" +
		"made through the desk's own interface, with the key process's code in the same process, and not through a browser\n" +
		"page: a passkey in software answered the ceremony itself.\n\n" +
		"Each folder holds `" + contextFile + "`, what was shown and signed; `" + recordFile + "`, it with the passkey's answer; `" + evidenceFile + "`,\n" +
		"that with the log key's word; `" + receiptFile + "`, the log entry that it stands behind, which is what an owner exports;\n" +
		"and `" + verifiedFile + "`, what this says of it:\n\n" +
		"    vault verify --card " + cardFile + " KIND/" + receiptFile + "\n\n" +
		"and the same from within `" + agreementFolder + "/` for those there.\n\n" +
		"| kind | sample |\n| --- | --- |\n" + strings.Join(lines, "\n")
}
