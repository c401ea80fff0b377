package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/cmd/vault/internal/offline"
)

func (p *program) verifyCommand() *cobra.Command {
	var pins offline.Pins
	var payload, card string
	c := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check records, signatures, delegates and receipts, offline",
		Long: "Give together what belongs together: an agent's saved answer and the payload it had signed; or a public\n" +
			"action record, alone or with payload and signature; or a delegate; or receipts,\n" +
			"with the owner card. Regular files of at most 8 MiB.\n\n" +
			"Exit statuses: 0 verified against a pin; 1 not valid; 2 not understood or unreadable;\n" +
			"3 self-consistent, and tied to nothing you trust: anybody could have made it.",
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 && payload == "" {
				return usageError("give the files to check")
			}
			if card != "" {
				raw, err := readRegular(card)
				if err != nil {
					return err
				}
				pins.Card, pins.CardName = raw, card
			}
			return p.verify(files, payload, pins)
		},
	}
	c.Flags().StringVar(&pins.Domain, "domain", "", "`address` of the domain that you trust")
	c.Flags().StringVar(&pins.Address, "address", "", "`address` of the agent that you trust")
	c.Flags().StringVar(&pins.Owner, "owner", "", "owner `key` that you trust, U…")
	c.Flags().StringVar(&pins.Hash, "expect-hash", "", "`hash` of the record, delegate or receipt that you expect; the one of an action envelope is compared, and proves no address")
	c.Flags().StringVar(&card, "card", "", "`file` with the owner card that its owner gave you: whose log key and whose passkeys these are")
	c.Flags().StringVar(&payload, "payload", "", "`file` that was signed, where it looks like something else")
	return c
}

func (p *program) verify(files []string, payload string, pins offline.Pins) error {
	if err := pins.Check(); err != nil {
		return err
	}
	if len(files) > offline.MaxFiles {
		return usageError(fmt.Sprintf("at most %d files", offline.MaxFiles))
	}
	var docs []offline.Document
	for _, name := range files {
		raw, err := readRegular(name)
		if err != nil {
			return err
		}
		docs = append(docs, offline.Document{Name: name, Raw: raw})
	}
	if payload != "" {
		raw, err := readRegular(payload)
		if err != nil {
			return err
		}
		docs = append(docs, offline.Document{Name: payload, Raw: raw, Payload: true})
	}
	r, err := offline.Verify(docs, pins, p.now().UnixMilli())
	if err != nil {
		return err
	}
	for _, l := range r.Lines {
		mark := "ok     "
		if !l.OK {
			mark = "NOT OK "
		}
		line := mark + plain.TerminalLine(l.Check) + ": " + plain.TerminalLine(l.File)
		if l.Detail != "" {
			line += ": " + plain.TerminalLine(l.Detail)
		}
		if err := p.printf("%s\n", line); err != nil {
			return err
		}
	}
	for _, n := range r.Notes {
		if err := p.printf("note   %s\n", plain.TerminalLine(n)); err != nil {
			return err
		}
	}
	if err := p.printf("%s\n", verdictLine(r)); err != nil {
		return err
	}
	return verdict(r.Verdict)
}

func verdictLine(r *offline.Result) string {
	switch {
	case r.Verdict == offline.Verified:
		return "Verified against your pin."
	case r.Verdict == offline.NotValid:
		return "Not valid."
	case r.Pinned:
		return "Self-consistent. Your pin is not what proves it: anybody could have made this file"
	default:
		return "Self-consistent. Not pinned: anybody could have made this file"
	}
}

// readRegular reads a regular file of at most offline.MaxFile bytes. It opens no
// pipe or device, and does not wait.
func readRegular(name string) ([]byte, error) {
	unreadable := func(err error) error {
		return &failure{code: "file_unreadable", detail: name, status: statusUsage, err: err}
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, unreadable(errors.New("it is not a regular file"))
	}
	f, err := os.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, unreadable(errors.New("it is not a regular file"))
	}
	raw, err := io.ReadAll(io.LimitReader(f, offline.MaxFile+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(raw) > offline.MaxFile {
		return nil, unreadable(errors.New("it is larger than 8 MiB"))
	}
	return raw, nil
}
