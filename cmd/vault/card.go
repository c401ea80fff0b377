package main

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/plain"
)

func (p *program) cardCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "card",
		Short: "Your owner card: the public keys by which others check what you signed",
		Args:  none,
	}
	c.AddCommand(&cobra.Command{
		Use:   "export FILE",
		Short: "Write the owner card of a vault that is not open, confirmed with a passkey, to a new file",
		Args:  exactly(1, "the new file's name"),
		RunE: func(c *cobra.Command, args []string) error {
			return onTerminal(c.Context(), p.withDesk, func(o approvals.Owner) error { return p.exportCard(c.Context(), o, args[0]) })
		},
	})
	return c
}

func (p *program) exportCard(ctx context.Context, o approvals.Owner, file string) error {
	if err := o.Unlock(ctx, keys.SurfaceTerminal); err != nil {
		return err
	}
	stop := p.tellCeremony(o)
	card, out, err := o.ExportCard(ctx)
	stop()
	switch {
	case err != nil:
		return err
	case out.Code != approvals.OutcomeDone:
		return fail(out.Code, nil)
	}
	if err := writeNew(file, append(card, '\n')); err != nil {
		return err
	}
	return p.printf("Written. Whoever gets it from you can check your receipts: vault verify --card FILE RECEIPT\n")
}

// tellCeremony prints what the owner has to know of the ceremony that is open, once each.
func (p *program) tellCeremony(o approvals.Owner) (stop func()) {
	var mu sync.Mutex
	told := map[approvals.CeremonyState]bool{}
	return o.Watch(func() {
		mu.Lock()
		defer mu.Unlock()
		v, open := o.Ceremony()
		if !open || told[v.State] {
			return
		}
		told[v.State] = true
		lines := map[approvals.CeremonyState][]string{
			approvals.CeremonyReady:     {"A page opens in your browser. Confirm there."},
			approvals.CeremonyNoBrowser: {"No browser took the page. Open it yourself; the address works once:", v.Forward, v.Link},
			approvals.CeremonyCompare:   {"The page shows six digits. They have to be " + v.Digits + ", or leave it."},
			approvals.CeremonyAsking:    {"Your browser asks for the passkey."},
		}[v.State]
		for _, l := range lines {
			if l != "" {
				_ = p.printf("%s\n", plain.TerminalLine(l)) // the outcome is told in any case
			}
		}
	})
}
