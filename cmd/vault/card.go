package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/cmd/vault/internal/tty"
)

func (p *program) cardCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "card",
		Short: "Your owner card: the public keys by which others check what you signed",
		Args:  none,
		RunE:  func(*cobra.Command, []string) error { return usageError("say export") },
	}
	c.AddCommand(&cobra.Command{
		Use:   "export FILE",
		Short: "Write the owner card of a vault that is not open, confirmed with a passkey, to a new file",
		Args:  exactly(1, "the new file's name"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Lstat(args[0]); err == nil { // before a passkey is asked for
				return &failure{code: "file_exists", detail: args[0], status: statusUsage}
			}
			if fi, err := os.Stat(filepath.Dir(args[0])); err != nil || !fi.IsDir() { // the same
				return &failure{code: "file_unwritable", detail: withSystem(args[0], err), status: statusNotDone, err: err}
			}
			dev, err := tty.Open()
			if err != nil {
				return err
			}
			defer dev.Close()
			return p.withDesk(c.Context(), func(o approvals.Owner) error { return p.exportCard(c.Context(), dev, o, args[0]) })
		},
	})
	return c
}

func (p *program) exportCard(ctx context.Context, dev *tty.TTY, o approvals.Owner, file string) error {
	if err := o.Unlock(ctx, keys.SurfaceTerminal); err != nil {
		return err
	}
	code := ""
	err := p.terminal(dev, o).Confirmed(ctx, "Written. Whoever gets it from you can check your receipts: vault verify --card FILE RECEIPT",
		func(ctx context.Context) (approvals.Outcome, error) {
			card, out, err := o.ExportCard(ctx)
			if code = out.Code; err == nil && code == approvals.OutcomeDone {
				err = writeNew(file, append(card, '\n'))
			}
			return out, err
		})
	if err == nil && code != approvals.OutcomeDone {
		return verdict(statusNotDone)
	}
	return err
}
