package terminal

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"vault/approvals"
	"vault/approvals/keys"
)

// protections are the choices of a new vault, in the order in which they are asked.
var protections = []struct {
	p    keys.Protection
	text string
}{
	{keys.ProtectKeyringAndPassphrase, "keyring and passphrase: both are needed to open it"},
	{keys.ProtectPassphrase, "passphrase only"},
	{keys.ProtectKeyring, "keyring only: Any program you run can open this vault without asking. Nothing can be approved on a terminal"},
}

// protection asks what shall open the vault. Without an answer it is "".
func (s *Surface) protection(ctx context.Context) (keys.Protection, error) {
	p := s.page()
	preset := "1"
	p.say("What opens the vault:")
	for i, c := range protections {
		p.say("%d. %s", i+1, c.text)
	}
	if s.Keyring != nil && !s.Keyring(ctx) {
		preset = "2"
		p.say("No keyring answers here, so only 2 can be chosen now. A keyring can be added to it later.")
	}
	p.say("It can be made stronger later. To make it weaker needs a passkey.")
	if err := s.console.Print(p.String()); err != nil {
		return "", err
	}
	line, err := s.ask(ctx, "Number", preset)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(protections) {
		return "", s.console.Print("Nothing was done. That is not one of the numbers.\n")
	}
	return protections[n-1].p, nil
}

func (s *Surface) create(ctx context.Context, _ []string) error {
	if s.owner.Status().State != approvals.StateNone {
		return s.console.Print("A vault is here already. No new vault was made.\n")
	}
	c := approvals.Creation{Surface: keys.SurfaceTerminal}
	var err error
	if c.Protection, err = s.protection(ctx); err != nil || c.Protection == "" {
		return err
	}
	if err := s.console.Print("A first domain. Agents ask for signatures in a domain; names are lower case.\n"); err != nil {
		return err
	}
	if c.Domain, err = s.domainForm(ctx); err != nil {
		return err
	}
	now, err := s.ask(ctx, "Write down the recovery words now? They can be put off once. yes or later", "yes")
	if err != nil {
		return err
	}
	c.PutOff = strings.EqualFold(now, "later")
	if err := s.owner.Create(ctx, c); err != nil {
		return err
	}
	if err := s.console.Print("Created.\n"); err != nil {
		return err
	}
	return s.domains(ctx, nil)
}

func (s *Surface) domainForm(ctx context.Context) (f approvals.DomainForm, err error) {
	// The window proposes the same names.
	if f.Namespace, err = s.ask(ctx, "Namespace, usually you or your organisation", "personal"); err != nil {
		return f, err
	}
	if f.DomainID, err = s.ask(ctx, "Domain", "my-agents"); err != nil {
		return f, err
	}
	f.Kind, err = s.ask(ctx, "Kind", "general")
	return f, err
}

func (s *Surface) restore(ctx context.Context, args []string) error {
	p, err := s.protection(ctx)
	if err != nil || p == "" {
		return err
	}
	if len(args) > 0 { // a name may have blanks
		file, aerr := filepath.Abs(strings.Join(args, " "))
		if aerr != nil {
			return aerr
		}
		err = s.owner.RestoreBackup(ctx, file, p, keys.SurfaceTerminal)
	} else {
		err = s.owner.Restore(ctx, p, keys.SurfaceTerminal)
	}
	if err != nil {
		return err
	}
	return s.console.Print("Restored. The addresses are the same as before. Earlier uses are not known here.\n")
}

func (s *Surface) unlock(ctx context.Context, _ []string) error {
	if err := s.owner.Unlock(ctx, keys.SurfaceTerminal); err != nil {
		return err
	}
	return s.status(ctx, nil)
}

func (s *Surface) lock(ctx context.Context, _ []string) error {
	if err := s.owner.Lock(ctx, "asked"); err != nil {
		return err
	}
	return s.console.Print("The vault is locked. The key process has ended.\n")
}

func (s *Surface) words(ctx context.Context, _ []string) error {
	return s.owned(ctx, "The words were shown.", func(ctx context.Context) error { return s.owner.ShowWords(ctx, keys.SurfaceTerminal) })
}

// owned does what a passkey may have to confirm first, and the secret window asks about afterwards on this terminal.
func (s *Surface) owned(ctx context.Context, done string, f func(context.Context) error) error {
	if len(s.owner.Passkeys()) == 0 {
		return f(ctx)
	}
	return s.Confirmed(ctx, done, func(ctx context.Context) (approvals.Outcome, error) {
		if err := f(ctx); err != nil {
			return approvals.Outcome{}, err
		}
		return approvals.Outcome{Code: approvals.OutcomeDone}, nil
	})
}

// protect changes what opens the vault.
func (s *Surface) protect(ctx context.Context, _ []string) error {
	p, err := s.protection(ctx)
	if err != nil || p == "" {
		return err
	}
	if p == s.owner.Status().Public.Protection {
		return s.console.Print("This is what protects it now. Nothing was changed.\n")
	}
	return s.owned(ctx, "The protection was changed.", func(ctx context.Context) error {
		return s.owner.ChangeProtection(ctx, p, keys.SurfaceTerminal)
	})
}

func (s *Surface) domain(ctx context.Context, _ []string) error {
	f, err := s.domainForm(ctx)
	if err != nil {
		return err
	}
	d, err := s.owner.CreateDomain(ctx, f)
	if err != nil {
		return err
	}
	p := s.page()
	p.domain(d)
	return s.console.Print(p.String())
}

func (p *page) domain(d approvals.DomainView) {
	p.say("Domain: %s, namespace %s, kind %s", p.clean(d.ID), p.clean(d.Namespace), p.clean(d.Kind))
	p.field("  Address", d.Address)
	p.field("  Fingerprint", d.Fingerprint)
	p.field("  Hash", d.Hash)
	p.say("  Signatures: %d", d.Signatures)
}

func (s *Surface) domains(context.Context, []string) error {
	p := s.page()
	list := s.owner.Domains()
	if len(list) == 0 {
		p.say("No domain yet. Type domain to make one.")
	}
	for _, d := range list {
		p.domain(d)
	}
	return s.console.Print(p.String())
}

func (s *Surface) agents(context.Context, []string) error {
	p := s.page()
	list := s.owner.Clients()
	if len(list) == 0 {
		p.say("No program is paired. Run vault agent pair where the agent runs.")
	}
	for _, c := range list {
		p.say("%s: %s, paired %s", p.clean(c.ID), p.clean(c.Name), p.when(c.PairedAt))
		p.field("  Claimed name", c.Claimed)
		p.field("  Executable", c.Executable)
		p.say("  User id: %d", c.UserID)
		p.say("  Signatures: %d. Declined: %d", c.Signatures, c.Declined)
		if c.Ended != "" {
			p.field("  Ended", c.Ended)
		}
		for _, g := range c.Grants {
			p.say("  Grant %s: %s, %d of %d uses are used, until %s, %s", p.clean(g.ID), p.clean(g.Operation), g.Used, g.Uses, p.when(g.NotAfter), p.clean(g.State))
			for _, r := range g.Resources {
				p.field("    Resource", r)
			}
		}
	}
	return s.console.Print(p.String())
}

// named runs act on the one argument that a command needs.
func (s *Surface) named(ctx context.Context, args []string, what, done string, act func(context.Context, string) error) error {
	if len(args) != 1 {
		return s.console.Print(fmt.Sprintf("Type the %s after it, as agents lists it.\n", what))
	}
	if err := act(ctx, args[0]); err != nil {
		return err
	}
	return s.console.Print(done + "\n")
}

func (s *Surface) revoke(ctx context.Context, args []string) error {
	return s.named(ctx, args, "client", "Revoked. It can ask to pair again.", s.owner.RevokeClient)
}

func (s *Surface) unblock(ctx context.Context, args []string) error {
	return s.named(ctx, args, "client", "It is heard again.", s.owner.Unblock)
}

func (s *Surface) endGrant(ctx context.Context, args []string) error {
	return s.named(ctx, args, "grant", "The grant has ended.", s.owner.EndGrant)
}

func (s *Surface) refuse(ctx context.Context, args []string) error {
	return s.named(ctx, args, "client", "What was shown is declined; what was not shown is refused.", s.owner.DeclineAll)
}

func (s *Surface) log(_ context.Context, args []string) error {
	n := 20
	if len(args) == 1 {
		if x, err := strconv.Atoi(args[0]); err == nil && x >= 1 {
			n = min(x, 500)
		}
	}
	events, err := s.owner.Events(approvals.EventFilter{Limit: n})
	if err != nil {
		return err
	}
	p := s.page()
	for _, e := range events {
		p.say("%d. %s, %s", e.Seq, p.when(e.At), p.clean(e.Kind))
		if e.Agent != "" {
			p.field("   Agent", e.Agent)
		}
		for _, f := range e.Fields {
			p.say("   %s: %s", p.clean(f.Name), p.clean(f.Value))
		}
	}
	if len(events) == 0 {
		p.say("The log has no entries.")
	}
	return s.console.Print(p.String())
}

func (s *Surface) check(ctx context.Context, _ []string) error {
	r, err := s.owner.VerifyLog(ctx)
	if err != nil {
		return err
	}
	p := s.page()
	p.logReport(r)
	return s.console.Print(p.String())
}

func (p *page) logReport(r approvals.LogReport) {
	if !r.OK {
		p.say("Entry %d is wrong. Export what is here before you do anything else.", r.FirstWrong)
		p.field("Code", r.Code)
	} else {
		p.say("%d entries, unbroken.", r.Entries)
	}
	p.say("Not yet covered by a signed head: %d", r.Uncovered)
	if r.Anchor == "none" {
		p.say("No keyring keeps the head here: a cut since your last receipt would not show.")
	} else {
		p.field("The newest head is kept in", r.Anchor)
	}
}

func (s *Surface) backup(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return s.console.Print("Type the name of a new file after it.\n")
	}
	file, err := filepath.Abs(strings.Join(args, " "))
	if err != nil {
		return err
	}
	if err := s.owner.Backup(ctx, file, keys.SurfaceTerminal); err != nil {
		return err
	}
	return s.console.Print("Written. It opens with the passphrase you gave, or with age.\n")
}

func (s *Surface) instance(ctx context.Context, _ []string) error {
	ok, err := s.yes(ctx, "A new instance has the same addresses and a new log. Grants are suspended: earlier uses are not known.")
	if err != nil {
		return err
	}
	if !ok {
		return s.console.Print("Nothing was changed.\n")
	}
	if err := s.owner.NewInstance(ctx); err != nil {
		return err
	}
	return s.console.Print("A new instance has begun. Programs pair again.\n")
}
