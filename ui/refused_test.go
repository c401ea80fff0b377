package ui

import (
	"testing"

	"vault/approvals"
)

// TestRefusedInWords: an entry of a refused request says why, and how many more there were.
func TestRefusedInWords(t *testing.T) {
	for reason, want := range map[string]string{
		"not_shown":         "Refused: no grant covered it, and it did not want to ask you",
		"uses_spent":        "Refused: the uses of its envelope are spent",
		"code_of_next_year": "Refused: code_of_next_year",
		"":                  "Refused: not known",
	} {
		for folded, more := range map[string]string{"": "nothing was shown", "1": "1 other was refused before it", "1200": "1,200 others were refused before it"} {
			e := approvals.Event{Kind: "request.answered", Fields: []approvals.EventField{{Name: "outcome", Value: "refused"}, {Name: "reason", Value: reason}}}
			if folded != "" {
				e.Fields = append(e.Fields, approvals.EventField{Name: "folded", Value: folded})
			}
			_, runs, got := (&UI{}).eventWords(e)
			text := ""
			for _, r := range runs {
				text += r.Text
			}
			if text != want || got != more {
				t.Errorf("%q, %q: %q, %q", reason, folded, text, got)
			}
		}
	}
}
