package terminal

import (
	"context"
	"slices"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/plain"
	"vault/approvals/sow"
	reading "vault/approvals/sow/page"
	"vault/approvals/sow/units"
)

// instant is how an instant is typed.
const instant = "2006-01-02 15:04"

// askInstant asks for one in UTC.
func (s *Surface) askInstant(ctx context.Context, question string, preset time.Time) (time.Time, bool, error) {
	line, err := s.ask(ctx, question+", in UTC", preset.UTC().Format(instant))
	if err != nil {
		return time.Time{}, false, err
	}
	t, err := time.Parse(instant, line)
	return t, err == nil, nil
}

// party asks who takes the open seat. Text from outside is proposed only where nothing hides in it.
func (s *Surface) party(ctx context.Context, o opened.Agreement, whole bool) (out sow.Seat, err error) {
	to, _ := o.Doc.Party("offered_to")
	fields := []struct {
		question string
		into     *string
		preset   string
	}{
		{"Your name, as the contract is to say it", &out.Owner, to.Owner}, {"Your agent's key, U…", &out.Agent, to.Agent},
		{"Its handle, or nothing", &out.Handle, to.Handle}, {"Organization org_…, or nothing", &out.Organization, to.Organization},
	}
	if !whole {
		fields = fields[:2]
	}
	for _, f := range fields {
		if f.preset == "" || !plain.One(f.preset).Clean() {
			*f.into, err = s.console.Ask(ctx, f.question+": ")
		} else {
			*f.into, err = s.ask(ctx, f.question, f.preset)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// form fills the open seat of an offer. What is made is shown before anything is signed.
func (s *Surface) form(ctx context.Context, o opened.Agreement, m agreement.Move) error {
	f := approvals.Formation{Offer: o.View.ID, Digest: m.Digest, Fill: sow.Fill{Locations: map[string]string{}}}
	var ok bool
	var err error
	if f.Seat, ok, err = s.mySeat(ctx, o.View); err != nil || !ok {
		if err == nil {
			err = s.undecided("That is no seat of the list.")
		}
		return err
	}
	if f.Fill.Client, err = s.party(ctx, o, true); err != nil {
		return err
	}
	if f.Fill.Client.Owner == "" || f.Fill.Client.Agent == "" {
		return s.undecided("The seat has a name and an agent's key.")
	}
	starts, ok, err := s.askInstant(ctx, "It starts", s.now().UTC().AddDate(0, 0, 1).Truncate(24*time.Hour))
	if err != nil {
		return err
	}
	if !ok {
		return s.undecided("An instant is typed like this: 2026-11-01 00:00.")
	}
	f.Fill.StartsAt = starts.UnixMilli()
	for _, g := range o.Doc.Grants() {
		where, err := s.console.Ask(ctx, "Where "+plain.TerminalLine(g.Name)+" is, or nothing: ")
		if err != nil {
			return err
		}
		if where != "" {
			f.Fill.Locations[g.Name] = where
		}
	}
	f.Fill.Assertions = sow.RequiredAssertions(o.Doc.Get("qualifications"))
	p := s.page()
	for _, q := range o.Doc.Get("qualifications").Items() {
		if slices.Contains(f.Fill.Assertions, q.Get("id").Text()) {
			p.field("You assert of yourself", q.Get("statement").Text())
		}
	}
	if p.String() != "" {
		if err := s.console.Print(p.String()); err != nil {
			return err
		}
		if ok, err = s.yes(ctx, "That is true of you."); err != nil {
			return err
		}
		if !ok {
			return s.undecided("Without it the offer cannot be accepted.")
		}
	}
	made, err := s.owner.Complete(ctx, f)
	if err != nil {
		return err
	}
	if err := s.console.Print("This is what you would sign. Nothing is signed yet.\n"); err != nil {
		return err
	}
	return s.openAgreement(ctx, made.ID, "")
}

// preauthorise lets an agent form under this offer in advance.
func (s *Surface) preauthorise(ctx context.Context, o opened.Agreement, m agreement.Move) error {
	var clients []approvals.ClientView
	var names []string
	for _, c := range s.owner.Clients() {
		if c.Ended == "" {
			clients, names = append(clients, c), append(names, plain.TerminalLine(c.Name))
		}
	}
	if len(clients) == 0 {
		return s.undecided("No program is paired.")
	}
	i, err := s.picked(ctx, "The program that may accept it", names)
	if err != nil || i < 0 {
		return err
	}
	ask := agreement.Preauthorisation{Offer: o.View.ID, Digest: m.Digest, Client: clients[i].ID}
	var ok bool
	if ask.Seat, ok, err = s.mySeat(ctx, o.View); err != nil || !ok {
		if err == nil {
			err = s.undecided("That is no seat of the list.")
		}
		return err
	}
	if ask.Party, err = s.party(ctx, o, false); err != nil {
		return err
	}
	if ask.Party.Owner == "" || ask.Party.Agent == "" {
		return s.undecided("The seat has a name and an agent's key.")
	}
	price, _ := o.Doc.Price()
	preset := ""
	if most := price.Committed(); most.Set {
		preset = units.Plain(most.N, price.Currency)
	}
	line, err := s.ask(ctx, "Commits to at most, each time, in "+plain.TerminalLine(price.Currency), preset)
	if err != nil {
		return err
	}
	if ask.MaxCommitted, ok = units.Parse(line, price.Currency); !ok {
		return s.undecided("That is no amount; one is typed as 12.50.")
	}
	if ask.Times, err = s.number(ctx, "How many times [1]: ", 1, approvals.MaxPreauthorised); err != nil {
		return err
	}
	if ask.Times < 1 {
		return s.undecided("That is no number of times from 1 to 1,000.")
	}
	until, ok, err := s.askInstant(ctx, "Until, at most 90 days ahead", s.now().AddDate(0, 0, 30))
	if err != nil {
		return err
	}
	ask.NotAfter = until.UnixMilli()
	if now := s.now().UnixMilli(); !ok || ask.NotAfter <= now || ask.NotAfter-now > approvals.PreauthoriseMS {
		return s.undecided("The end lies at most 90 days ahead, and is typed like this: 2026-12-01 00:00.")
	}
	p := s.page()
	p.say("%s may accept this offer %d times until %s, committing to at most %s each time, without asking you.", names[i], ask.Times, p.when(ask.NotAfter), reading.Money(ask.MaxCommitted, price.Currency))
	if err := s.console.Print(strings.TrimLeft(p.String(), " ")); err != nil {
		return err
	}
	return s.Confirmed(ctx, "It is allowed. You can end this under the offer at any time.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.Preauthorise(ctx, ask) })
}
