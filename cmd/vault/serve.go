package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"vault/approvals"
	"vault/cmd/vault/internal/survey"
	"vault/cmd/vault/internal/terminal"
	"vault/cmd/vault/internal/tty"
	"vault/cmd/vault/internal/wake"
)

func (p *program) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the vault on this terminal",
		Long: "The same desk as the window, on this terminal: it lists what waits, shows it, and takes your decision.\n" +
			"Without a terminal it runs locked, and decides nothing.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return p.serve(c.Context()) },
	}
	p.demoFlag(c)
	return c
}

func (p *program) serve(ctx context.Context) error {
	dev, err := tty.Open()
	if err != nil && !errors.Is(err, tty.ErrNoTerminal) {
		return err
	}
	if dev != nil {
		defer dev.Close()
	}
	return p.startDesk(ctx, func() {}, func(ctx context.Context, d *approvals.Desk) error {
		if dev == nil {
			if err := p.printf("No terminal here: this vault shows nothing and decides nothing. Its socket is %s\n", d.Owner().Status().Socket); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		}
		err := p.terminal(dev, d.Owner()).Run(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}

func (p *program) terminal(dev *tty.TTY, owner approvals.Owner) *terminal.Surface {
	s := terminal.New(owner, terminal.NewConsole(dev, p.now), p.now, time.Local, explain)
	s.Keyring = survey.Keyring
	return s
}

func (p *program) lockCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lock",
		Short: "Lock the vault that is open; its keys leave memory",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			home, err := p.home()
			if err != nil {
				return err
			}
			if err := wake.Ask(home, wake.Lock); err != nil {
				if errors.Is(err, wake.ErrNobody) {
					return p.printf("No vault is open here.\n")
				}
				return err
			}
			return p.printf("The vault is locked. The key process has ended.\n")
		},
	}
}
