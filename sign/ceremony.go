package sign

import (
	"context"

	"vault/approvals/keys"
)

// Public implements [keys.Handler].
func (s *Signer) Public(context.Context) (keys.Public, error) {
	if _, err := s.opened(); err != nil {
		return keys.Public{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pub, nil
}

// Begin implements [keys.Handler].
func (s *Signer) Begin(context.Context, keys.Ask) (keys.Begun, error) {
	return keys.Begun{}, errNoPasskey
}

// Next implements [keys.Handler].
func (s *Signer) Next(context.Context, string) (keys.Step, error) { return keys.Step{}, errNoPasskey }

// Compared implements [keys.Handler].
func (s *Signer) Compared(context.Context, string, bool) error { return errNoPasskey }

// Stop implements [keys.Handler].
func (s *Signer) Stop(context.Context, string) error { return errNoPasskey }
