package ui

import (
	"testing"

	"vault/approvals"
	"vault/approvals/journal"
)

// TestEndsOfDelegates: how a delegate ended is told apart.
func TestEndsOfDelegates(t *testing.T) {
	for reason, want := range map[string]string{
		"revoked": "You revoked delegate ", "expired": "Over: delegate ", "removed": "You removed delegate , which was never admitted",
	} {
		_, runs, _ := (&UI{}).eventWords(approvals.Event{Kind: string(journal.KindDelegateEnded), Fields: []approvals.EventField{{Name: "reason", Value: reason}}})
		text := ""
		for _, r := range runs {
			text += r.Text
		}
		if text != want {
			t.Errorf("%s: %q", reason, text)
		}
	}
}
