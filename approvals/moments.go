package approvals

import "context"

// Ask implements [Owner].
func (v ownerView) Ask(context.Context, string, string, string) error { return refuse(CodeInternal) }

// Dismiss implements [Owner].
func (v ownerView) Dismiss(context.Context, string) error { return refuse(CodeInternal) }

// Answered implements [Owner].
func (v ownerView) Answered(int64, int) ([]AnsweredMoment, error) { return nil, nil }

// MomentRates implements [Owner].
func (v ownerView) MomentRates() ([]MomentRate, error) { return nil, nil }

// MomentPresent implements [Conversation].
func (c *conversation) MomentPresent(context.Context, Presentation) (Answer, error) {
	return Answer{}, refuse(CodeInternal)
}

// MomentAwait implements [Conversation].
func (c *conversation) MomentAwait(context.Context, string, string) (Answer, error) {
	return Answer{}, refuse(CodeInternal)
}

// MomentSay implements [Conversation].
func (c *conversation) MomentSay(context.Context, Reply) error { return refuse(CodeInternal) }

// MomentSign implements [Conversation].
func (c *conversation) MomentSign(context.Context, MomentAction) (Answer, error) {
	return Answer{}, refuse(CodeInternal)
}
