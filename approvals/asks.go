package approvals

import (
	"vault/approvals/facts"
	"vault/approvals/permit"
)

// AsksPasskey says in advance whether a passkey will be asked for a verdict on a sheet, under a policy and with that many
// passkeys enrolled; option is the index of VerdictOption's. The key process judges it anew, by its own table
// (docs/guards.md). Declining needs none.
func (s Sheet) AsksPasskey(v Verdict, option int, p permit.Policy, passkeys int) bool {
	var about []permit.Facts
	switch {
	case v == VerdictDecline || v == VerdictDeclineBlock:
		return false
	case s.Pairing != nil || v == VerdictGrant:
		return passkeys > 0
	case s.Action != nil:
		a := s.Action
		about = facts.Shown(s.Client, a.Domain.Hash, a.Operation, a.Resources, a.Payload)
	case s.Moment != nil && s.Moment.Sheet != nil:
		class := s.Moment.Sheet.Envelope.Content().DecisionClass
		if v != VerdictOption || option < 0 || option >= len(s.Moment.Sheet.Rows) {
			about = append(about, facts.Resolution(s.Client, class))
			break
		}
		about = facts.Option(s.Client, class, s.Moment.Sheet.Rows[option])
	}
	for _, f := range about {
		if _, needed := p.Needs(f); needed {
			return true
		}
	}
	return false
}
