package terminal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/means"
	"vault/approvals/permit"
	"vault/approvals/plain"
)

// ended is what came of something that a passkey confirms.
type ended struct {
	out approvals.Outcome
	err error
}

// confirmed does something that waits for a passkey, says how far it is, and takes the owner's answers to it. It returns
// when f has.
func (s *Surface) confirmed(ctx context.Context, f func(context.Context) (approvals.Outcome, error)) (approvals.Outcome, error) {
	s.setConfirming(true)
	defer s.setConfirming(false)
	changed := make(chan struct{}, 1)
	stop := s.owner.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	over := make(chan ended, 1)
	go func() {
		out, err := f(ctx)
		over <- ended{out, err}
	}()
	var shown approvals.CeremonyView
	for {
		select {
		case e := <-over:
			return e.out, e.err
		case <-changed:
		}
		v, open := s.owner.Ceremony()
		if !open || v.State == shown.State && v.For == shown.For && v.Digits == shown.Digits && v.Link == shown.Link {
			continue
		}
		shown = v
		if v.State == approvals.CeremonyMine && v.For != "enrol" {
			continue // compared already
		}
		if err := s.console.PrintWhole(CeremonyText(v, s.loc), v.Link, v.Forward); err != nil {
			return approvals.Outcome{}, err
		}
		if v.State == approvals.CeremonyOpening || v.State == approvals.CeremonyTaking {
			continue // the secret window may be on this terminal, or nothing can be answered any more
		}
		if e, done, err := s.during(ctx, v, over, changed); done || err != nil {
			return e.out, errors.Join(e.err, err)
		}
	}
}

func (s *Surface) setConfirming(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirming = on
}

// during keeps a prompt open for as long as the ceremony is in one state. It says whether f has ended.
func (s *Surface) during(ctx context.Context, v approvals.CeremonyView, over chan ended, changed chan struct{}) (ended, bool, error) {
	prompt := "b: go back, nothing decided. "
	compare := ""
	switch v.State {
	case approvals.CeremonyCompare:
		compare, prompt = "same", "Type same if the page shows these digits, no if it does not. b: go back. "
	case approvals.CeremonyMine:
		compare, prompt = "mine", "Type mine if the page shows these digits and you used this passkey yourself, no if not. b: go back. "
	}
	for {
		asking, stop := context.WithCancel(ctx)
		type answer struct {
			line string
			err  error
		}
		typed := make(chan answer, 1)
		s.console.Inert()
		go func() {
			line, err := s.console.Ask(asking, prompt)
			typed <- answer{line, err}
		}()
		quit := func() { stop(); <-typed }
		select {
		case e := <-over:
			quit()
			return e, true, s.console.Print("\n")
		case <-changed:
			if now, open := s.owner.Ceremony(); open && now.State == v.State && now.Digits == v.Digits && now.Link == v.Link && now.For == v.For {
				quit()
				continue
			}
			quit()
			select {
			case changed <- struct{}{}:
			default: // it has changed once more meanwhile
			}
			return ended{}, false, s.console.Print("\n")
		case a := <-typed:
			stop()
			s.owner.Touch()
			switch {
			case a.err != nil, a.line == "b":
				s.owner.CancelCeremony()
				e := <-over
				return e, true, a.err
			case compare != "" && (a.line == compare || a.line == "no"):
				if err := s.owner.Compared(ctx, a.line == compare); err != nil {
					return ended{}, false, err
				}
				return ended{}, false, nil
			}
			if err := s.console.Print("Nothing was decided by that.\n"); err != nil {
				return ended{}, false, err
			}
		}
	}
}

// CeremonyText says how far a ceremony is, as checked text.
func CeremonyText(v approvals.CeremonyView, loc *time.Location) string {
	p := &page{loc: loc}
	switch v.State {
	case approvals.CeremonyOpening:
		p.say("Confirm with your passkey. It shows presence and verification: its holder was here and verified themselves. It does not show that anything was read.")
	case approvals.CeremonyReady:
		p.say("A page opens in your browser. It shows:")
		for _, line := range v.Says {
			p.outside("  ", "", plain.Check(line))
		}
		if v.Until != 0 {
			p.say("It works once, until %s.", p.when(v.Until))
		}
	case approvals.CeremonyNoBrowser:
		p.say("No browser has opened it yet. Where none does, open this link on this computer. It works once:")
		p.say("%s", p.clean(v.Link))
		if v.Forward != "" {
			p.say("Where you sit at another computer, type this there first:")
			p.say("%s", p.clean(v.Forward))
		}
	case approvals.CeremonyCompare:
		p.say("This system does not tell whose the page is. It must show these digits: %s", p.clean(v.Digits))
	case approvals.CeremonyOpened:
		p.say("The page is open. Go on there.")
	case approvals.CeremonyAsking:
		p.say("Waiting for your passkey.")
	case approvals.CeremonyMine:
		if v.Passkey != nil {
			p.passkey(*v.Passkey)
		}
		p.say("A new passkey answered. The page must show these digits: %s", p.clean(v.Digits))
	case approvals.CeremonyTaking:
		p.say("The key process checks it.")
	}
	return p.String()
}

func (p *page) passkey(k approvals.PasskeyView) {
	p.say("Passkey: %s. %s", means.Name(k.Kind), means.Copies(k.BackupEligible))
}

func (s *Surface) passkeys(context.Context, []string) error {
	p := s.page()
	list := s.owner.Passkeys()
	if len(list) < 2 {
		p.say("Enrolled: %d. Have two: with one lost, the other still confirms. Type enrol.", len(list))
	}
	for i, k := range list {
		p.say("%d.", i+1)
		p.passkey(k)
		p.field("  Digits", k.Digits)
		p.field("  Answers for", k.RPID)
		p.say("  Enrolled: %s", p.when(k.EnrolledAt))
		if k.LastUse != 0 {
			p.say("  Last use: %s", p.when(k.LastUse))
		} else {
			p.say("  Last use: none")
		}
	}
	return s.console.Print(p.String())
}

// Confirmed does something that a passkey confirms, says how far it is, and prints what came of it.
func (s *Surface) Confirmed(ctx context.Context, done string, f func(context.Context) (approvals.Outcome, error)) error {
	out, err := s.confirmed(ctx, f)
	if err != nil {
		return err
	}
	if out.Code == "done" {
		return s.console.Print(done + "\n")
	}
	text, known := OutcomeText(out.Code)
	if !known {
		text += " Code: " + plain.TerminalLine(out.Code)
	}
	return s.console.Print(text + "\n")
}

func (s *Surface) enrol(ctx context.Context, args []string) error {
	e := approvals.Enrolment{Surface: keys.SurfaceTerminal, OtherName: len(args) == 1 && args[0] == "localhost"}
	if len(args) > 1 || len(args) == 1 && !e.OtherName {
		return s.console.Print("Type enrol, or enrol localhost.\n")
	}
	return s.Confirmed(ctx, "The passkey is enrolled. From now on pairing, granting and what is approved here are confirmed by passkey.",
		func(ctx context.Context) (approvals.Outcome, error) { return s.owner.EnrolPasskey(ctx, e) })
}

func (s *Surface) forget(ctx context.Context, args []string) error {
	list := s.owner.Passkeys()
	i, ok := nth(args, len(list))
	if !ok {
		return s.console.Print("Type the number after it, as passkeys lists it.\n")
	}
	id := list[i].ID
	return s.Confirmed(ctx, "Removed. It confirms nothing from now on.",
		func(ctx context.Context) (approvals.Outcome, error) { return s.owner.RemovePasskey(ctx, id) })
}

// nth reads the one number from 1 to n that args are.
func nth(args []string, n int) (int, bool) {
	if len(args) != 1 {
		return 0, false
	}
	i, err := strconv.Atoi(args[0])
	return i - 1, err == nil && i >= 1 && i <= n
}

func (s *Surface) policy(context.Context, []string) error {
	p := s.page()
	p.say("Always by passkey: agreements, mint delegates and mint material, the recovery words, another protection, the owner card, passkeys, a socket for another user, admitting again what is suspended, and asking less of you. Pairing and granting: from the first passkey on. Approvals on this terminal: from the first passkey on.")
	p.floor(s.owner.Policy().SoWFloor)
	rules := s.owner.Policy().Rules
	if len(rules) == 0 {
		p.say("Single signatures and answers in the window: by a click.")
	}
	for i, r := range rules {
		p.say("%d. %s", i+1, p.rule(r))
	}
	return s.console.Print(p.String())
}

func (p *page) rule(r permit.Rule) string {
	text := map[permit.Scope]string{permit.ScopeEvery: "every approval", permit.ScopeAction: "signatures", permit.ScopeMoment: "answers to decisions"}[r.Scope]
	for _, x := range [][2]string{{"client", r.Client}, {"domain", r.Domain}, {"operation", r.Operation}, {"resource", r.Resource}, {"class", r.Class}} {
		if x[1] != "" {
			text += ", " + x[0] + " | " + p.clean(x[1])
		}
	}
	if r.Unseen {
		text += ", with an action the vault has not seen"
	}
	return text
}

func (s *Surface) stricter(ctx context.Context, args []string) error {
	r, why := s.typedRule(args)
	if why != "" {
		return s.console.Print(why + "\n")
	}
	now := s.owner.Policy()
	if slices.Contains(now.Rules, r) {
		return s.console.Print("That is asked already.\n")
	}
	next := now
	next.Rules = append(slices.Clone(now.Rules), r)
	p := s.page()
	p.say("A passkey for %s.", p.rule(r))
	if now.Loosens(next) {
		p.say("A passkey confirms it: a class that is named in a rule is one that you know, and other rules on classes leave it from then on.")
	}
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	return s.Confirmed(ctx, "It counts from now on.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.SetPolicy(ctx, next) })
}

// typedRule reads a rule as it is typed: what it is about, a client, and members as NAME=TEXT, where a text goes on to the
// next name. Why is what stands in its way.
func (s *Surface) typedRule(args []string) (r permit.Rule, why string) {
	rules := map[string]permit.Rule{"every": {Scope: permit.ScopeEvery}, "signatures": {Scope: permit.ScopeAction},
		"decisions": {Scope: permit.ScopeMoment}, "unseen": {Scope: permit.ScopeMoment, Unseen: true}}
	if len(args) == 0 || rules[args[0]].Scope == "" {
		return r, "Type one of every, signatures, decisions, unseen after it, and a client where it is about one program alone."
	}
	r = rules[args[0]]
	members := map[string]*string{"domain": &r.Domain, "operation": &r.Operation, "resource": &r.Resource, "class": &r.Class}
	into := &r.Client
	for _, word := range args[1:] {
		name, text, named := strings.Cut(word, "=")
		if m := members[name]; named && m != nil {
			into, *m = m, text
			continue
		}
		if *into != "" {
			word = *into + " " + word
		}
		*into = word
	}
	for _, text := range []string{r.Operation, r.Resource, r.Class} {
		if !plain.One(text).Clean() {
			return r, "A text holds hidden or look-alike letters. Nothing was changed."
		}
	}
	if r.Client != "" && !slices.ContainsFunc(s.owner.Clients(), func(c approvals.ClientView) bool { return c.ID == r.Client && c.Ended == "" }) {
		return r, "No program is paired under that. Type the client after it, as agents lists it."
	}
	if r.Domain != "" {
		i := slices.IndexFunc(s.owner.Domains(), func(d approvals.DomainView) bool { return d.ID == r.Domain || d.Hash == r.Domain })
		if i < 0 {
			return r, "There is no such domain. Type its id or its hash, as domains lists them."
		}
		r.Domain = s.owner.Domains()[i].Hash
	}
	if _, err := (permit.Policy{Rules: []permit.Rule{r}}).Canonical(); err != nil {
		return r, "These do not go together: a class is of decisions, and an action that the vault has not seen has no domain, operation or resource."
	}
	return r, ""
}

func (s *Surface) looser(ctx context.Context, args []string) error {
	now := s.owner.Policy()
	i, ok := nth(args, len(now.Rules))
	if !ok {
		return s.console.Print("Type the number after it, as policy lists it.\n")
	}
	next := now
	next.Rules = slices.Delete(slices.Clone(now.Rules), i, i+1)
	return s.Confirmed(ctx, "The rule is dropped.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.SetPolicy(ctx, next) })
}

func (s *Surface) card(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return s.console.Print("Type the new file after it.\n")
	}
	return s.Confirmed(ctx, "Written. Give it to those who check what you confirm, by a way they trust to be yours.", func(ctx context.Context) (approvals.Outcome, error) {
		return WriteCard(ctx, s.owner, args[0])
	})
}

// WriteCard writes the owner card to a new file; a passkey confirms it. It blocks for as long as the person takes.
func WriteCard(ctx context.Context, owner approvals.Owner, file string) (approvals.Outcome, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return approvals.Outcome{}, err
	}
	if _, err := os.Lstat(file); err == nil {
		return approvals.Outcome{}, os.ErrExist
	}
	b, out, err := owner.ExportCard(ctx)
	if err != nil || out.Code != "done" {
		return out, err
	}
	w, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return approvals.Outcome{}, err
	}
	_, err = w.Write(append(b, '\n'))
	return out, errors.Join(err, w.Close())
}

func (s *Surface) clicks(context.Context, []string) error {
	list, err := s.owner.ClickRates(s.now().Add(-24 * time.Hour).UnixMilli())
	if err != nil {
		return err
	}
	p := s.page()
	if len(list) == 0 {
		p.say("Nothing was approved in the last day.")
	}
	for _, c := range list {
		p.say("%s, from %s: %d by click, %d by passkey", p.clean(c.Agent), p.when(c.Hour), c.Clicks, c.Passkeys)
	}
	return s.console.Print(p.String())
}
