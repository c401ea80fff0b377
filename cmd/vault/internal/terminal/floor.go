package terminal

import (
	"context"

	"vault/approvals"
	"vault/approvals/permit"
)

// floors are the owner's floors as they are typed.
var floors = map[string]string{"document": "", "person": "person", "agent_then_person": "agent_then_person"}

// floor says who has to act before an agreement binds the owner, or changes it: more counts at once, less a passkey confirms.
func (s *Surface) floor(ctx context.Context, args []string) error {
	now := s.owner.Policy()
	if len(args) == 0 {
		p := s.page()
		p.floor(now.SoWFloor)
		p.say("Type floor and one of document, person, agent_then_person to change it.")
		return s.console.Print(p.String())
	}
	next := now
	to, known := floors[args[0]]
	next.SoWFloor = to
	switch {
	case !known || len(args) > 1:
		return s.console.Print("Type one of document, person, agent_then_person after it. Nothing was changed.\n")
	case to == now.SoWFloor:
		return s.console.Print("This is what counts now. Nothing was changed.\n")
	}
	p := s.page()
	p.floor(to)
	if now.Loosens(next) {
		p.say("A passkey confirms it: the vault asks less of you afterwards.")
	}
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	return s.Confirmed(ctx, "It counts from now on.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.SetPolicy(ctx, next) })
}

func (p *page) floor(floor string) {
	p.say("Your own signature under agreements: %s.", permit.FloorWords(floor))
	switch floor {
	case "":
		p.say("An agent of yours binds you alone only where you allowed it: in advance, or by an offer that you published.")
	case "person":
		p.say("Nothing binds you without your passkey, also not what you allowed in advance, or an offer that you published.")
	default:
		p.say("Your agent signs its part first, then you confirm with your passkey. Where it has not, you cannot sign either.")
	}
}
