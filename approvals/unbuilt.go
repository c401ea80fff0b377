package approvals

import (
	"context"

	"vault/approvals/sow"
)

// What the contract of engagements names and nothing answers yet.

var errUnbuilt = refuse(CodeInternal)

// Seats implements [SoWOwner].
func (ownerView) Seats() []SeatView {
	return nil
}

// OpenSeat implements [SoWOwner].
func (ownerView) OpenSeat(_ context.Context, _ string) (SeatView, error) {
	return SeatView{}, errUnbuilt
}

// Engagements implements [SoWOwner].
func (ownerView) Engagements(_ EngagementFilter) (EngagementPage, error) {
	return EngagementPage{}, errUnbuilt
}

// Engagement implements [SoWOwner].
func (ownerView) Engagement(_ string) (EngagementView, error) {
	return EngagementView{}, errUnbuilt
}

// SoWCopy implements [SoWOwner].
func (ownerView) SoWCopy(_, _ string) ([]byte, error) {
	return nil, errUnbuilt
}

// CompareSoW implements [SoWOwner].
func (ownerView) CompareSoW(_, _, _ string) (Comparison, error) {
	return Comparison{}, errUnbuilt
}

// Import implements [SoWOwner].
func (ownerView) Import(_ context.Context, _ []byte, _ RecordKind, _ SoWSource) (Imported, error) {
	return Imported{}, errUnbuilt
}

// CheckSoW implements [SoWOwner].
func (ownerView) CheckSoW(_ []byte) (Imported, error) {
	return Imported{}, errUnbuilt
}

// PinKey implements [SoWOwner].
func (ownerView) PinKey(_ context.Context, _ PinAsk) error {
	return errUnbuilt
}

// ConfirmHandle implements [SoWOwner].
func (ownerView) ConfirmHandle(_ context.Context, _, _, _ string) error {
	return errUnbuilt
}

// SettleConflict implements [SoWOwner].
func (ownerView) SettleConflict(_ context.Context, _, _ string) error {
	return errUnbuilt
}

// BlockKey implements [SoWOwner].
func (ownerView) BlockKey(_ context.Context, _, _ string) error {
	return errUnbuilt
}

// UnblockKey implements [SoWOwner].
func (ownerView) UnblockKey(_ context.Context, _ string) error {
	return errUnbuilt
}

// BlockedKeys implements [SoWOwner].
func (ownerView) BlockedKeys() []BlockedKey {
	return nil
}

// Complete implements [SoWOwner].
func (ownerView) Complete(_ context.Context, _ Formation) (EngagementView, error) {
	return EngagementView{}, errUnbuilt
}

// DraftSoW implements [SoWOwner].
func (ownerView) DraftSoW(_ context.Context, _ []byte) (Imported, error) {
	return Imported{}, errUnbuilt
}

// SignSoW implements [SoWOwner].
func (ownerView) SignSoW(_ context.Context, _ Signing) (Outcome, error) {
	return Outcome{}, errUnbuilt
}

// ActOn implements [SoWOwner].
func (ownerView) ActOn(_ context.Context, _ ActAsk) (Outcome, error) {
	return Outcome{}, errUnbuilt
}

// AnswerProblem implements [SoWOwner].
func (ownerView) AnswerProblem(_ context.Context, _, _, _ string) error {
	return errUnbuilt
}

// CloseGrant implements [SoWOwner].
func (ownerView) CloseGrant(_ context.Context, _, _ string, _ bool) error {
	return errUnbuilt
}

// Preauthorise implements [SoWOwner].
func (ownerView) Preauthorise(_ context.Context, _ Preauthorisation) (Outcome, error) {
	return Outcome{}, errUnbuilt
}

// EndPreauthorisation implements [SoWOwner].
func (ownerView) EndPreauthorisation(_ context.Context, _ string) error {
	return errUnbuilt
}

// Deployment implements [SoWOwner].
func (ownerView) Deployment(_ string) (d sow.Deployment, own bool) {
	return sow.Deployment{}, false
}

// SetDeployment implements [SoWOwner].
func (ownerView) SetDeployment(_ context.Context, _ string, _ *sow.Deployment) error {
	return errUnbuilt
}

// ExportSoW implements [SoWOwner].
func (ownerView) ExportSoW(_ context.Context, _, _ string) ([]byte, error) {
	return nil, errUnbuilt
}

// Reminders implements [SoWOwner].
func (ownerView) Reminders(_ int64, _ int) ([]Reminder, error) {
	return nil, errUnbuilt
}

// SoWSubmit implements [SoWAgent].
func (*conversation) SoWSubmit(_ context.Context, _ SoWAsk) (Answer, error) {
	return Answer{}, errUnbuilt
}

// SoWStatus implements [SoWAgent].
func (*conversation) SoWStatus(_ context.Context, _ string) (Answer, error) {
	return Answer{}, errUnbuilt
}

// SoWGet implements [SoWAgent].
func (*conversation) SoWGet(_ context.Context, _, _ string) (Answer, error) {
	return Answer{}, errUnbuilt
}

// SoWAwait implements [SoWAgent].
func (*conversation) SoWAwait(_ context.Context, _ string) (Answer, error) {
	return Answer{}, errUnbuilt
}

// DeclineSoW implements [SoWOwner].
func (ownerView) DeclineSoW(_ context.Context, _, _ string) error { return errUnbuilt }
