package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vault/approvals"
	"vault/approvals/means"
	"vault/approvals/plain"
	"vault/cmd/internal/hygiene"
	"vault/cmd/vault/internal/survey"
)

func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func (p *program) place() (survey.Place, error) {
	home, err := p.home()
	if err != nil {
		return survey.Place{}, err
	}
	keys, err := hygiene.Sibling("vault-key")
	if err != nil {
		keys = "vault-key" // it is then said to be missing
	}
	return survey.Place{Folder: home, Keys: keys, Window: hasWindow, Getenv: p.getenv, X11: survey.X11, Own: hygiene.Status()}, nil
}

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what works here and what does not, each with its remedy",
		Long:  "Exit statuses: 0 all that is promised holds here; 1 something that is promised does not.",
		Args:  none,
		RunE:  func(c *cobra.Command, _ []string) error { return p.doctor(c.Context()) },
	}
}

func (p *program) doctor(ctx context.Context) error {
	place, err := p.place()
	if err != nil {
		return err
	}
	findings := append(survey.Owner(ctx, place), p.clients(ctx, place.Folder)...)
	missing, err := p.findings(findings)
	if err != nil {
		return err
	}
	if missing > 0 {
		if err := p.printf("Promises that do not hold here: %d.\n", missing); err != nil {
			return err
		}
		return verdict(statusNotDone)
	}
	return p.printf("What is promised holds here.\n")
}

// findings prints them and counts those that are missing.
func (p *program) findings(list []survey.Finding) (missing int, err error) {
	for _, f := range list {
		if f.Mark == survey.Missing {
			missing++
		}
		line := fmt.Sprintf("%-8s%s: %s", f.Mark, plain.TerminalLine(f.Name), plain.TerminalLine(f.Sentence))
		if f.Remedy != "" {
			line += " " + plain.TerminalLine(f.Remedy)
		}
		if err := p.printf("%s\n", line); err != nil {
			return missing, err
		}
	}
	return missing, nil
}

// clients says which passkeys are enrolled, and of each paired program what its user id lets it reach. An open vault
// is not disturbed for it, and no folder is made.
func (p *program) clients(ctx context.Context, folder string) []survey.Finding {
	if _, err := os.Lstat(folder); err != nil {
		return nil
	}
	var out []survey.Finding
	err := p.withDesk(ctx, func(o approvals.Owner) error {
		for _, k := range o.Passkeys() {
			out = append(out, survey.Finding{Name: "enrolled passkey " + k.Digits, Mark: survey.Works,
				Sentence: means.Name(k.Kind) + ", for pages of " + k.RPID + ". " + means.Copies(k.BackupEligible)})
		}
		for _, c := range o.Clients() {
			if c.Ended != "" {
				continue
			}
			f := survey.Finding{Name: "client " + c.Name, Mark: survey.Note,
				Sentence: "Paired under another user id: class A, it reaches only the socket."}
			if c.UserID == int64(os.Geteuid()) {
				f.Sentence = "Paired under your own user id: class B, or C if it reaches a display, unless it runs in a container."
				f.Remedy = "Run vault agent status where it runs; it tells which."
			}
			out = append(out, f)
		}
		return nil
	})
	if err != nil {
		return []survey.Finding{{Name: "clients", Mark: survey.Note, Sentence: "The vault is open, or cannot be looked at; passkeys and paired programs are not listed.", Remedy: "See Settings and Agents there."}}
	}
	return out
}

func (p *program) agentStatus() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "status",
		Short: "Say what a program that runs here could reach of the vault: class A, B or C",
		Long: "Run it where and as the agent runs.\n" +
			"A: it reaches only the socket. B: an ordinary program of the owner's account. C: it also reaches the screen.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return p.status(c.Context(), name) },
	}
	nameFlag(c, &name)
	return c
}

func (p *program) status(ctx context.Context, name string) error {
	place, err := p.place()
	if err != nil {
		return err
	}
	r := survey.Agent(ctx, place)
	if _, err := p.findings(append(r.Findings, p.pairing(ctx, name))); err != nil {
		return err
	}
	if r.Class == "" {
		return p.printf("No vault answers here and nothing of one was found, so the class cannot be known. Run this again, as the agent runs, while the vault is open.\n")
	}
	return p.printf("Class %s.\n", r.Class)
}

// pairing says how this agent stands with the vault.
func (p *program) pairing(ctx context.Context, name string) survey.Finding {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, pairing, err := p.hello(ctx, name)
	if err != nil {
		return survey.Finding{Name: "pairing", Mark: survey.Note, Sentence: explain(err)}
	}
	defer conn.Close()
	defer pairing.Wipe()
	return survey.Finding{Name: "pairing", Mark: survey.Works, Sentence: "Paired as " + pairing.Client + " with vault " + pairing.Vault + ", and the vault has proven itself."}
}
