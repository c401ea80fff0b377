package sign

import (
	"context"

	"vault/custody"
)

// looker is a keyring that can say beforehand whether it answers ([custody.OSKeyring]).
type looker interface {
	Available(context.Context) error
}

// keyringAnswers says why what uses the keyring cannot be done now. It is asked before
// anything is typed: nobody types two passphrases to learn that there is no keyring.
func (s *Signer) keyringAnswers(ctx context.Context, p custody.Protection) error {
	if !p.UsesKeyring() {
		return nil
	}
	if s.cfg.Custody.Keyring == nil {
		return s.fault(custody.ErrKeyringNeeded)
	}
	if k, ok := s.cfg.Custody.Keyring.(looker); ok {
		return s.fault(k.Available(ctx))
	}
	return nil
}
