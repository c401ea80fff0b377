package approvals

import (
	"context"

	"vault/approvals/permit"
)

// Ceremony implements [Owner].
func (v ownerView) Ceremony() (CeremonyView, bool) { return CeremonyView{}, false }

// Compared implements [Owner].
func (v ownerView) Compared(context.Context, bool) error { return refuse(OutcomeNoPasskey) }

// CancelCeremony implements [Owner].
func (v ownerView) CancelCeremony() {}

// Passkeys implements [Owner].
func (v ownerView) Passkeys() []PasskeyView { return nil }

// EnrolPasskey implements [Owner].
func (v ownerView) EnrolPasskey(context.Context, Enrolment) (Outcome, error) {
	return Outcome{Code: OutcomeNoPasskey}, nil
}

// RemovePasskey implements [Owner].
func (v ownerView) RemovePasskey(context.Context, string) (Outcome, error) {
	return Outcome{Code: OutcomeNoPasskey}, nil
}

// Policy implements [Owner].
func (v ownerView) Policy() permit.Policy { return permit.Policy{} }

// SetPolicy implements [Owner].
func (v ownerView) SetPolicy(context.Context, permit.Policy) (Outcome, error) {
	return Outcome{Code: OutcomeNoPasskey}, nil
}

// ExportCard implements [Owner].
func (v ownerView) ExportCard(context.Context) ([]byte, Outcome, error) {
	return nil, Outcome{Code: OutcomeNoPasskey}, nil
}

// ClickRates implements [Owner].
func (v ownerView) ClickRates(int64) ([]ClickRate, error) { return nil, nil }
