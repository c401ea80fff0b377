package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/cmd/vault/internal/offline"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

func (p *program) sowVerify() *cobra.Command {
	var owners, keys []string
	var card string
	c := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check who signed a document, and what stands beside it",
		Long: "The first file is a document or a bundle. Others belong to it: further versions, acts, confirmations.\n" +
			"An owner's key that is pinned must have signed the document; a seat's key pins who signs for that seat,\n" +
			"which the signature itself does not say. An owner card pins its owner's keys, log keys and passkeys.\n\n" +
			"Exit statuses: 0 everything is tied to a pin; 1 not valid; 2 not understood or unreadable;\n" +
			"3 self-consistent, and not all of it tied to anything you trust: anybody could have made the rest.",
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 || len(files) > offline.MaxFiles {
				return usageError(fmt.Sprintf("give 1 to %d files", offline.MaxFiles))
			}
			pins, err := sowPins(owners, keys, card)
			if err != nil {
				return err
			}
			b, err := gather(files)
			if err != nil {
				return err
			}
			return p.verified(bundle.Verify(b, pins), pins)
		},
	}
	c.Flags().StringArrayVar(&owners, "owner", nil, "owner `key` that you trust, U…; may be given twice")
	c.Flags().StringArrayVar(&keys, "key", nil, "key that you know a seat by: `provider=U…` or client=U…")
	c.Flags().StringVar(&card, "card", "", "`file` with the owner card that its owner gave you")
	return c
}

// sowPins reads the pins.
func sowPins(owners, keys []string, card string) (pins bundle.Pins, err error) {
	for _, k := range owners {
		if _, err := envelope.ParseOwnerKey(k); err != nil {
			return pins, usageError("the owner pin is no owner key")
		}
	}
	pins.Owners = owners
	for _, k := range keys {
		role, text, _ := strings.Cut(k, "=")
		to := map[string]*string{sow.Provider: &pins.Provider, sow.Client: &pins.Client}[role]
		if _, err := envelope.ParseOwnerKey(text); err != nil || to == nil || *to != "" {
			return pins, usageError("a seat's pin is provider=U… or client=U…, each once")
		}
		*to = text
	}
	if card != "" {
		raw, err := readRegular(card)
		if err != nil {
			return pins, err
		}
		if pins.Card, err = confirm.ParseOwnerCard(raw); err != nil {
			return pins, &failure{code: "not_a_card", detail: card + ": " + err.Error(), status: statusNotDone, err: err}
		}
	}
	return pins, nil
}

// gather puts the files together as one bundle. The first says what it is about.
func gather(files []string) (b bundle.Bundle, err error) {
	for i, name := range files {
		raw, err := readRegular(name)
		if err != nil {
			return b, err
		}
		v, err := jcs.Parse(raw, jcs.SoW)
		if err != nil {
			return b, malformed(name, err)
		}
		kind := v.Get("type").Text()
		part := kind == sow.ActType || kind == confirm.EvidenceType // an act has a member sow too
		switch {
		case i == 0 && bundle.Is(v):
			if b, err = bundle.Parse(raw); err != nil {
				return b, malformed(name, err)
			}
		case bundle.Is(v):
			more, err := bundle.Parse(raw)
			if err != nil {
				return b, malformed(name, err)
			}
			b.Versions = append(append(b.Versions, more.Document), more.Versions...)
			b.Acts, b.Confirmations = append(b.Acts, more.Acts...), append(b.Confirmations, more.Confirmations...)
			b.Records = append(b.Records, more.Records...)
		case v.Get("sow").Exists() && !part && i == 0:
			b.Document = raw
		case kind == sow.ActType && i > 0:
			b.Acts = append(b.Acts, raw)
		case kind == confirm.EvidenceType && i > 0:
			b.Confirmations = append(b.Confirmations, raw)
		case v.Get("sow").Exists() && !part:
			b.Versions = append(b.Versions, raw)
		case i == 0:
			return b, malformed(name, errNoDocument)
		default:
			return b, malformed(name, errNoPart)
		}
	}
	return b, nil
}

func (p *program) verified(r *bundle.Result, pins bundle.Pins) error {
	var b strings.Builder
	for _, l := range r.Lines {
		mark := "ok     "
		if !l.OK {
			mark = "NOT OK "
		}
		b.WriteString(mark + plain.TerminalLine(l.Check) + ": " + plain.TerminalLine(l.Part))
		if l.Detail != "" {
			b.WriteString(": " + plain.TerminalLine(l.Detail))
		}
		b.WriteByte('\n')
	}
	for _, n := range r.Notes {
		b.WriteString("note   " + plain.TerminalLine(n) + "\n")
	}
	for _, seat := range []struct {
		name   string
		signed *sow.Record
		person bundle.Person
	}{{"provider", r.Seats.Provider, r.Provider}, {"client", r.Seats.Client, r.Client}} {
		if seat.signed != nil {
			b.WriteString("note   " + seat.name + ": a person's confirmation: " + string(seat.person) + "\n")
		}
	}
	if r.Agreed {
		b.WriteString("note   Both seats have signed these bytes, by two keys.\n")
	}
	line, status := sowVerdict(r, pins)
	b.WriteString(line + "\n")
	if err := p.printf("%s", b.String()); err != nil {
		return err
	}
	return verdict(status)
}

func sowVerdict(r *bundle.Result, pins bundle.Pins) (string, offline.Verdict) {
	switch {
	case !r.Valid:
		return "Not valid.", offline.NotValid
	case r.Tied:
		return "Verified against your pin.", offline.Verified
	case !pins.Given():
		return "Self-consistent. Not pinned: anybody could have made this file", offline.SelfConsistent
	}
	return "Self-consistent. Your pin does not cover all of it: anybody could have made the rest", offline.SelfConsistent
}
