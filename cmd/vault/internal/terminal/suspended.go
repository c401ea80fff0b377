package terminal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"vault/approvals"
	"vault/approvals/plain"
)

// suspended lists what a new instance does not sign under until it is admitted again.
func (s *Surface) suspended(context.Context, []string) error {
	list, err := s.owner.Suspended()
	if err != nil {
		return err
	}
	p := s.page()
	if len(list) == 0 {
		p.say("Nothing is suspended.")
	}
	for i, x := range list {
		if x.Known {
			p.say("%d. %s, on %s", i+1, p.clean(plain.Folded(x.Operation)), p.clean(strings.Join(x.Resources, ", ")))
			p.say("  States %d uses.", x.MaxUses)
		} else {
			p.say("%d. Its words are not known until an agent asks with it.", i+1)
		}
		p.field("  Envelope", x.EnvelopeHash)
		if x.Domain != "" {
			p.field("  Domain", x.Domain)
		}
		if x.Agent != "" {
			p.field("  Agent", x.Agent)
		}
		if x.UsedBefore < 0 {
			p.say("  How often it was used before is not known: no earlier log is here.")
		} else {
			p.say("  The earlier logs that are here show %d uses; there may have been more.", x.UsedBefore)
		}
		if x.Readmitted > 0 {
			p.say("  Admitted again for %d uses, %d used.", x.Readmitted, x.Used)
		}
	}
	return s.console.Print(p.String())
}

// readmit lets one of them be used again; a passkey confirms it.
func (s *Surface) readmit(ctx context.Context, args []string) error {
	list, err := s.owner.Suspended()
	if err != nil {
		return err
	}
	i, uses := -1, int64(0)
	if len(args) == 2 {
		if n, ok := nth(args[:1], len(list)); ok {
			i = n
		}
		uses, err = strconv.ParseInt(args[1], 10, 64)
	}
	if i < 0 || err != nil || uses < 1 {
		return s.console.Print("Type the number that suspended lists, and how many uses are admitted.\n")
	}
	x := list[i]
	switch {
	case !x.Known:
		return s.console.Print("It can be admitted again once an agent asks with it. Nothing was changed.\n")
	case uses > x.MaxUses:
		return s.console.Print(fmt.Sprintf("It states %d uses; no more can be admitted. Nothing was changed.\n", x.MaxUses))
	}
	return s.Confirmed(ctx, "It can be used again. A grant for it is a new decision.",
		func(ctx context.Context) (approvals.Outcome, error) {
			return s.owner.Readmit(ctx, x.EnvelopeHash, uses)
		})
}
