package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vault/approvals/plain"
	"vault/cmd/vault/internal/elsewhere"
	"vault/cmd/vault/internal/terminal"
)

// elsewhere asks the desk that is open, prints what it says, and gives its code.
func (p *program) elsewhere(ctx context.Context, q elsewhere.Question) (elsewhere.Told, error) {
	home, err := p.home()
	if err != nil {
		return elsewhere.Told{}, err
	}
	var last elsewhere.Told
	_, err = elsewhere.Ask(ctx, home, q, func(t elsewhere.Told) error {
		last = t
		if t.Text == "" {
			return nil
		}
		return p.told(t)
	})
	if errors.Is(err, elsewhere.ErrNobody) {
		return last, &failure{code: "not_running", status: statusNotDone}
	}
	return last, err
}

// told prints one line of an answer. What is to be copied from it is not cut.
func (p *program) told(t elsewhere.Told) error {
	text := plain.Terminal(t.Text)
	if p.columns == 0 {
		return p.printf("%s", text)
	}
	_, err := io.WriteString(p.out, terminal.Uncut(text, p.columns, t.Whole...))
	return err
}

// outcome says what a code means and gives the exit status.
func (p *program) outcome(code string) error {
	if code == "done" {
		return nil
	}
	text, known := terminal.OutcomeText(code)
	switch code {
	case "locked", "no_passkey", "changed": // what is to be typed on the vault's own terminal helps nobody here
		known = false
	}
	if !known {
		return fail(code, nil)
	}
	if err := p.printf("%s\n", plain.TerminalLine(text)); err != nil {
		return err
	}
	if code == "declined" {
		return nil
	}
	return verdict(statusNotDone)
}

func (p *program) pendingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pending",
		Short: "List what waits for you in the vault that is open",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := p.elsewhere(c.Context(), elsewhere.Question{Do: "pending"})
			if err != nil {
				return err
			}
			return p.outcome(t.Code)
		},
	}
}

func (p *program) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one request of the vault that is open; decides and records nothing",
		Args:  exactly(1, "the request, as vault pending lists it"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := p.elsewhere(c.Context(), elsewhere.Question{Do: "show", ID: args[0]})
			if err != nil {
				return err
			}
			return p.outcome(t.Code)
		},
	}
}

func (p *program) decideCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "decide ID DIGEST approve|decline|NUMBER",
		Short: "Have a passkey asked for one request of the vault that is open",
		Long: "Opens the page on which a passkey approves the request, declines it, or selects option NUMBER of a decision.\n" +
			"DIGEST is that of the sheet, as vault show prints it. Nothing is decided without the passkey, and nothing else can be done here:\n" +
			"any program of your account can run this. In the window, and on the terminal of vault serve, declining needs no passkey.",
		Args: exactly(3, "the request, the digest of its sheet, and approve, decline or the number of an option"),
		RunE: func(c *cobra.Command, args []string) error {
			q := elsewhere.Question{Do: "decide", ID: args[0], Digest: args[1], Verdict: args[2], Name: strings.TrimSpace(name)}
			if q.Verdict != "approve" && q.Verdict != "decline" {
				n, err := strconv.Atoi(q.Verdict)
				if err != nil || n < 1 || n > 4 {
					return usageError("say approve, decline, or the number of an option")
				}
				q.Verdict, q.Option = "option", n-1
			}
			t, err := p.elsewhere(c.Context(), q)
			if err != nil {
				return err
			}
			if t.Code == "done" {
				return p.printf("Done. The program was told.\n")
			}
			return p.outcome(t.Code)
		},
	}
	c.Flags().StringVar(&name, "name", "", "your `name` for the program, where a pairing is approved")
	return c
}
