package sign

import (
	"fmt"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/derive/envelope"
)

// guardSocketAdded lets one further user of this machine ask. It is always confirmed; what it permits is what
// the entry says.
func (s *Signer) guardSocketAdded(b journal.SocketAdded) error {
	if err := s.always("passkey"); err != nil {
		return err
	}
	if b.UserID == s.cfg.User {
		return refuse(codeOwnUser, "this is the vault's own user, who has a socket already")
	}
	return nil
}

func socketSays(b journal.SocketAdded) []string {
	out := []string{"Open a socket for one further user of this computer.", fmt.Sprintf("User id: %d", b.UserID)}
	if b.UserID == 0 {
		out = append(out, "This is the administrator.")
	}
	return append(out, "At: "+quoted(b.Path),
		"Programs of that user can then ask to be paired, and what paired programs can ask. They can decide nothing.",
		"Everybody else is turned away there.")
}

// guardReadmitted lets an action envelope be used again that is suspended since this instance began.
func (s *Signer) guardReadmitted(b journal.Readmitted, a keys.Act) error {
	if err := s.always("passkey"); err != nil {
		return err
	}
	env, _, err := s.openEnvelope(a.Envelope, b.Hash)
	if err != nil {
		return err
	}
	if !s.suspends(env) {
		return refuse(journal.CodeNotSuspended, "this envelope states no number of uses, or began in this instance")
	}
	if b.Uses > env.Fields().MaxUses.N {
		return refuse(codeReadmitLimits, "this is more than the envelope states")
	}
	return nil
}

// suspends says whether an envelope's uses before this instance would count and are not known.
func (s *Signer) suspends(env *envelope.ActionEnvelope) bool {
	f := env.Fields()
	return s.state.Reason() != "" && f.MaxUses.Set && (!f.Window.NotBefore.Set || f.Window.NotBefore.N < s.state.StartedAt())
}

// usesOf is how many uses bind here under an envelope, counted from this instance's first; false where it states none.
// An envelope that is suspended has none.
func (s *Signer) usesOf(env *envelope.ActionEnvelope) (uses int64, stated bool) {
	f := env.Fields()
	if !f.MaxUses.Set || !s.suspends(env) {
		return f.MaxUses.N, f.MaxUses.Set
	}
	again, _ := s.state.Readmitted(env.Hash())
	return min(again.Uses, f.MaxUses.N), true
}

func (s *Signer) readmitSays(b journal.Readmitted, a keys.Act) ([]string, error) {
	env, domain, err := s.openEnvelope(a.Envelope, b.Hash)
	if err != nil {
		return nil, err
	}
	f := env.Fields()
	out := []string{
		"Admit an action envelope again. It began before this instance of the vault, which was " + startWords[s.state.Reason()] + ".",
		"How often it was used before that is not known here.",
		fmt.Sprintf("From now on it may be used %d times here. It states %d in all.", b.Uses, f.MaxUses.N),
	}
	if f.Window.NotAfter.Set {
		out = append(out, "It ends: "+when(f.Window.NotAfter.N))
	}
	return append(out, envelopeSays(env, domain.Info().DomainID())...), nil
}

// startWords say why an instance began.
var startWords = map[string]string{"restored": "restored", "copied": "copied or moved", "rolled_back": "put back to an older state"}
