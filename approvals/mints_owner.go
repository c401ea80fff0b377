package approvals

import "context"

// Delegates implements [MintOwner].
func (v ownerView) Delegates() []DelegateView { return nil }

// PlanDelegate implements [MintOwner].
func (v ownerView) PlanDelegate(DelegateForm) (DelegatePlan, error) {
	return DelegatePlan{}, refuse(CodeUnknownDomain)
}

// IssueDelegate implements [MintOwner].
func (v ownerView) IssueDelegate(context.Context, DelegatePlan) (Outcome, error) {
	return Outcome{Code: OutcomeNoPasskey}, nil
}

// ImportDelegate implements [MintOwner].
func (v ownerView) ImportDelegate(context.Context, []byte) (DelegateView, error) {
	return DelegateView{}, refuse(CodeUnknownDomain)
}

// AdmitDelegate implements [MintOwner].
func (v ownerView) AdmitDelegate(context.Context, string, int64) (Outcome, error) {
	return Outcome{Code: CodeUnknownDelegate}, nil
}

// PauseDelegate implements [MintOwner].
func (v ownerView) PauseDelegate(context.Context, string) error { return refuse(CodeUnknownDelegate) }

// ResumeDelegate implements [MintOwner].
func (v ownerView) ResumeDelegate(context.Context, string) (Outcome, error) {
	return Outcome{Code: CodeUnknownDelegate}, nil
}

// RevokeDelegate implements [MintOwner].
func (v ownerView) RevokeDelegate(context.Context, string) ([]MintView, error) {
	return nil, refuse(CodeUnknownDelegate)
}

// Mints implements [MintOwner].
func (v ownerView) Mints(MintFilter) ([]MintView, error) { return nil, nil }

// MintRecord implements [MintOwner].
func (v ownerView) MintRecord(context.Context, string) ([]byte, error) {
	return nil, refuse(CodeUnknownMint)
}

// MintUses implements [MintOwner].
func (v ownerView) MintUses(string, int64, int64) ([]MintUse, error) { return nil, nil }

// DelegateBytes implements [MintOwner].
func (v ownerView) DelegateBytes(string) ([]byte, error) { return nil, refuse(CodeUnknownDelegate) }

// ExportMint implements [MintOwner].
func (v ownerView) ExportMint(context.Context, string, string) ([]byte, Outcome, error) {
	return nil, Outcome{Code: CodeUnknownDomain}, nil
}
