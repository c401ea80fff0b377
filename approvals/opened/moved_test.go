package opened_test

import (
	"testing"

	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/sow"
)

// TestMovedWordsTellTheTermFromAChange: the end of a term is not said to be a change that nobody answered, and what lies ahead is not
// said to have happened.
func TestMovedWordsTellTheTermFromAChange(t *testing.T) {
	for _, c := range []struct {
		m    agreement.Moved
		want string
	}{
		{agreement.Moved{What: "lapsed", State: sow.Lapsed, Due: true}, "It ends and does not renew by itself"},
		{agreement.Moved{What: "lapsed", State: sow.Lapsed}, "It ended: the term is over"},
		{agreement.Moved{What: "lapsed", Due: true}, "The proposed change lapses unanswered"},
		{agreement.Moved{What: "lapsed"}, "Its time passed"},
		{agreement.Moved{What: "notice_ends", Due: true}, "The notice ends, and with it the engagement"},
		{agreement.Moved{What: "notice_ends"}, "The notice ended"},
	} {
		if got := opened.MovedWords(c.m); got != c.want {
			t.Errorf("%+v is %q, want %q", c.m, got, c.want)
		}
	}
}
