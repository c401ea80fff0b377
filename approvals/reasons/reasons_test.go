package reasons_test

import (
	"strings"
	"testing"

	"vault/approvals"
	"vault/approvals/moment"
	"vault/approvals/reasons"
)

func TestReasonsHaveWords(t *testing.T) {
	for _, code := range []string{
		approvals.CodeNotShown, approvals.CodeTooMany, approvals.CodeCoolingDown, approvals.CodeMalformed, approvals.CodeTypedPayload, approvals.CodeUnknownDomain,
		approvals.CodeEnvelopeExpired, approvals.CodeNotYetValid, approvals.CodeUsesSpent, approvals.CodeRequestIDReused, approvals.CodeUnknownMoment,
		approvals.CodeMomentOpen, string(moment.NotOption), string(moment.ActionMismatch), string(moment.ActionNotSignable), string(moment.NoSigningEnvelope), "contradiction",
	} {
		if s, ok := reasons.Refused(code); !ok || strings.Contains(s, code) || strings.HasSuffix(s, ".") {
			t.Errorf("%s: %q", code, s)
		}
	}
	for _, code := range []string{"withdrawn", "not_shown"} {
		if s, ok := reasons.Ended(code); !ok || s == "" {
			t.Errorf("%s: %q", code, s)
		}
	}
	if s, ok := reasons.Refused("a code of next year"); ok || s != "" {
		t.Errorf("%q", s)
	}
}

func TestNotesAreSentences(t *testing.T) {
	other := reasons.Note("duplicate_member")
	seen := map[string]bool{other: true}
	for _, code := range []string{"no_envelope", "tool_error", "too_many_open", "already_answered", string(moment.TooLarge), string(moment.OptionCount), string(moment.BlankText),
		string(moment.MissingMember), string(moment.UnknownMember), string(moment.WrongType), string(moment.RecommendedIdxRange), string(moment.ActionDigestForm)} {
		s := reasons.Note(code)
		if seen[s] || !strings.HasSuffix(s, ".") || strings.Contains(s, code) {
			t.Errorf("%s: %q", code, s)
		}
		seen[s] = true
	}
}
