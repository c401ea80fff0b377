package terminal

import (
	"context"
	"fmt"
	"strings"

	"vault/approvals"
	"vault/approvals/permit"
)

// Asks says in advance which answers of a sheet ask for a passkey in the window, under that policy and with that many
// passkeys enrolled, and what another terminal can do. It is empty where nothing can be answered.
func Asks(s approvals.Sheet, policy permit.Policy, passkeys int) string {
	type way struct {
		name    string
		verdict approvals.Verdict
		option  int
	}
	var ways []way
	switch {
	case s.Pairing != nil:
		ways = append(ways, way{"pairing", approvals.VerdictApprove, 0})
	case s.Action != nil:
		ways = append(ways, way{"approving once", approvals.VerdictApprove, 0})
		if s.Action.Grantable {
			ways = append(ways, way{"granting more", approvals.VerdictGrant, 0})
		}
	case s.Moment != nil && s.Moment.Sheet != nil:
		for i, row := range s.Moment.Sheet.Rows {
			if row.Blocked == "" {
				ways = append(ways, way{fmt.Sprintf("option %d", i+1), approvals.VerdictOption, i})
			}
		}
		c := s.Moment.Sheet.Envelope.Content()
		if c.FreeText {
			ways = append(ways, way{"an answer in your own words", approvals.VerdictAnswer, 0})
		}
		if c.Dialogue {
			ways = append(ways, way{"rejecting the question", approvals.VerdictQuestion, 0})
		}
	}
	if len(ways) == 0 {
		return ""
	}
	var keyed, clicked []string
	for _, w := range ways {
		if s.AsksPasskey(w.verdict, w.option, policy, passkeys) {
			keyed = append(keyed, w.name)
		} else {
			clicked = append(clicked, w.name)
		}
	}
	p := &page{}
	if len(keyed) > 0 {
		p.say("By passkey: %s.", strings.Join(keyed, ", "))
	}
	p.say("By a click in the window: %s.", strings.Join(append(clicked, "declining"), ", "))
	if passkeys == 0 {
		p.say("No passkey is enrolled: vault decide can do nothing until there is one.")
	} else {
		p.say("vault decide asks for a passkey for what it approves or selects, and for declining.")
	}
	return p.String()
}

// compares tells, once for each page, that digits wait to be compared which another surface asked for.
func (s *Surface) compares() {
	v, open := s.owner.Ceremony()
	s.mu.Lock()
	tell := open && v.State == approvals.CeremonyCompare && v.Digits != s.digits && !s.confirming
	if tell {
		s.digits = v.Digits
	}
	s.mu.Unlock()
	if tell {
		s.console.Notice("A page waits for six digits to be compared. Type compare.")
	}
}

// compare takes the owner's answer about the page of a ceremony that another terminal asked for.
func (s *Surface) compare(ctx context.Context, _ []string) error {
	v, open := s.owner.Ceremony()
	if !open || v.State != approvals.CeremonyCompare {
		return s.console.Print("No page waits for digits to be compared.\n")
	}
	if err := s.console.Print(CeremonyText(v, s.loc)); err != nil {
		return err
	}
	s.console.Inert()
	line, err := s.console.Ask(ctx, "Type same if the page shows these digits, no if it does not. ")
	if err != nil {
		return err
	}
	now, open := s.owner.Ceremony()
	switch {
	case line != "same" && line != "no":
		return s.console.Print("Nothing was answered. Type compare to see them again.\n")
	case !open || now.State != v.State || now.Digits != v.Digits:
		return s.console.Print("That page waits no more. Nothing was answered.\n")
	}
	if err := s.owner.Compared(ctx, line == "same"); err != nil {
		return err
	}
	if line == "no" {
		return s.console.Print("The page is not this vault's. Nothing is decided.\n")
	}
	return s.console.Print("The page goes on. It asks for the passkey.\n")
}
