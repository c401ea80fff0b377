package terminal

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/fourwords"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/approvals/moment/reading"
	"vault/internal/fakedesk"
)

// momentOf is the sheet of a sample draft.
func momentOf(d fakedesk.Draft) approvals.Sheet {
	s := fakedesk.Moment("m_1", "travel-desk", "7f3a\x1b[2J", 32*24*time.Hour, d)
	s.Moment.ToolServer = "booking\u202etools"
	return s
}

// deciding is a desk with one moment.
func deciding(d fakedesk.Draft) *desk {
	return &desk{status: approvals.Status{State: approvals.StateOpen, Waiting: 1}, outcome: approvals.Outcome{Code: "done"}, sheet: momentOf(d)}
}

func (d *desk) Ask(_ context.Context, id, line, text string) error {
	d.asked = append(d.asked, [3]string{id, line, text})
	return nil
}

func (d *desk) Dismiss(_ context.Context, id string) error {
	d.dismissed = append(d.dismissed, id)
	return nil
}

func (d *desk) MomentRates() ([]approvals.MomentRate, error) { return fakedesk.Deciding().Rates, nil }

func words(t *testing.T, s approvals.Sheet) string {
	t.Helper()
	w, err := fourwords.Of(s.Digest)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(w[:], " ")
}

func TestMomentsInReadingOrderWithLabels(t *testing.T) {
	for name, d := range map[string]fakedesk.Draft{"moment-travel": fakedesk.Travel(), "moment-totes": fakedesk.Totes(), "moment-reply": fakedesk.Reply(), "moment-twins": fakedesk.Twins()} {
		t.Run(name, func(t *testing.T) { golden(t, name, withAnswers(momentOf(d))) })
	}
}

// Every line of package reading stands on the sheet, in its order, and the recommended option's mark in its
// own line.
func TestMomentHasEveryLineInOrder(t *testing.T) {
	for _, d := range []fakedesk.Draft{fakedesk.Travel(), fakedesk.Returns(), fakedesk.Totes(), fakedesk.Reply(), fakedesk.Twins(), fakedesk.Arabic()} {
		s := momentOf(d)
		rest := Render(s, time.UTC)
		for _, l := range reading.Lines(s.Moment.Sheet, s.Moment.Addresses) {
			if l.Role == reading.RoleRecommended {
				continue
			}
			for _, want := range append([]string{l.Label}, strings.Split(l.Text.String(), "\n")...) {
				at := strings.Index(rest, want)
				if at < 0 {
					t.Fatalf("%q is missing or out of order in what is left:\n%s", want, rest)
				}
				rest = rest[at:]
			}
		}
	}
	shown := Render(momentOf(fakedesk.Travel()), time.UTC)
	if !strings.Contains(shown, "1. [Agent recommends] | Share dates only\n") {
		t.Errorf("the mark does not stand in the option's line:\n%s", shown)
	}
}

func TestNothingOfAMomentControlsTheTerminal(t *testing.T) {
	d := fakedesk.Totes()
	d.Question.Options[1].Label = "x\x1b[2J\r\n[d] Decline"
	d.Meta.Note = "a\nVault: \u202edone\u0007"
	for i, r := range withAnswers(momentOf(d)) {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
			t.Errorf("%U at %d", r, i)
		}
	}
	for line := range strings.SplitSeq(Render(momentOf(d), time.UTC), "\n") {
		if strings.HasPrefix(line, "[d]") || strings.HasPrefix(line, "Vault:") {
			t.Errorf("text of the agent stands where the vault's does: %q", line)
		}
	}
}

func TestMomentDecisions(t *testing.T) {
	digest := momentOf(fakedesk.Travel()).Digest
	four := words(t, momentOf(fakedesk.Travel()))
	for _, c := range []struct {
		name  string
		steps []step
		want  approvals.Decision
	}{
		{"an option by number", []step{{wait: "Your answer: ", after: InertFor, typed: "2\r"}, {wait: four, typed: four + "\r"}},
			approvals.Decision{Verdict: approvals.VerdictOption, Option: 1, Prove: keys.SurfaceTerminal}},
		{"an option by arrow keys", []step{{wait: "Your answer: ", after: InertFor, typed: "\x1b[B\x1b[B\x1b[A\r"}, {wait: four, typed: four + "\r"}},
			approvals.Decision{Verdict: approvals.VerdictOption, Option: 0, Prove: keys.SurfaceTerminal}},
		{"down twice is the second", []step{{wait: "Your answer: ", after: InertFor, typed: "\x1b[B\x1b[B\r"}, {wait: four, typed: four + "\r"}},
			approvals.Decision{Verdict: approvals.VerdictOption, Option: 1, Prove: keys.SurfaceTerminal}},
		{"decline", []step{{wait: "Your answer: ", after: InertFor, typed: "d\r"}}, approvals.Decision{Verdict: approvals.VerdictDecline}},
		{"the wrong question", []step{{wait: "Your answer: ", after: InertFor, typed: "x\r"}}, approvals.Decision{Verdict: approvals.VerdictQuestion}},
		{"in own words", []step{{wait: "Your answer: ", after: InertFor, typed: "o\r"}, {wait: "> ", typed: "  Only the month, \r"}, {wait: "> ", typed: "please.\r"}, {wait: "> ", typed: ".\r"}},
			approvals.Decision{Verdict: approvals.VerdictAnswer, Answer: "  Only the month, \nplease."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deciding(fakedesk.Travel())
			talk(t, d, append([]step{{wait: "vault> ", typed: "open\r"}}, c.steps...)...)
			c.want.ID, c.want.Digest = "m_1", digest
			if len(d.decided) != 1 || d.decided[0] != c.want {
				t.Errorf("decided %+v, want %+v", d.decided, c.want)
			}
			if len(d.closed) != 0 {
				t.Error("closed after a decision")
			}
		})
	}
}

func TestMomentKeysThatDecideNothing(t *testing.T) {
	off := fakedesk.Travel()
	off.Question.Hatches = fakedesk.DraftHatches{}
	phrase := "ability able about above absent absorb abstract absurd abuse access accident account"
	for _, c := range []struct {
		name  string
		draft fakedesk.Draft
		steps []step
	}{
		{"Enter alone", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor, typed: "\r"}, {wait: "Type one of the keys", after: InertFor, typed: "q\r"}}},
		{"yes", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor, typed: "yes\r"}, {wait: "Type one of the keys", after: InertFor, typed: "q\r"}}},
		{"a number that is none", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor, typed: "3\r"}, {wait: "Type one of the keys", after: InertFor, typed: "q\r"}}},
		{"wrong words", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor, typed: "1\r"}, {wait: "Four words: ", typed: "able able able able\r"}, {wait: "Those are not", after: InertFor, typed: "q\r"}}},
		{"a hatch that is off", off, []step{{wait: "Your answer: ", after: InertFor, typed: "o\r"}, {wait: "Type one of the keys", after: InertFor, typed: "x\r"}, {wait: "Type one of the keys", after: InertFor, typed: "q\r"}}},
		{"a blocked option", fakedesk.Reply(), []step{{wait: "Your answer: ", after: InertFor, typed: "3\r"}, {wait: "is blocked", after: InertFor, typed: "q\r"}}},
		{"recovery words", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor, typed: "o\r"}, {wait: "> ", typed: phrase + "\r"}, {wait: "> ", typed: ".\r"}, {wait: "Held back", after: InertFor, typed: "q\r"}}},
		{"an empty answer", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor, typed: "o\r"}, {wait: "> ", typed: ".\r"}, {wait: "Nothing was typed", after: InertFor, typed: "q\r"}}},
		{"keys within the second", fakedesk.Travel(), []step{{wait: "Your answer: ", after: InertFor - time.Millisecond, typed: "d\r\x03"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deciding(c.draft)
			talk(t, d, append([]step{{wait: "vault> ", typed: "open\r"}}, c.steps...)...)
			if len(d.decided) != 0 {
				t.Errorf("decided %+v", d.decided)
			}
			if !slices.Equal(d.closed, []string{"m_1"}) {
				t.Errorf("closed %q", d.closed)
			}
		})
	}
}

func TestAskingOnTheTerminalDecidesNothing(t *testing.T) {
	d := deciding(fakedesk.Travel())
	talk(t, d, step{wait: "vault> ", typed: "open\r"}, step{wait: "Your answer: ", after: InertFor, typed: "?\r"},
		step{wait: "Which line", typed: "f3\r"}, step{wait: "Your question: ", typed: "Who says so?\r"}, step{wait: "The question stays open", after: InertFor, typed: "q\r"})
	if want := [3]string{"m_1", "findings.2", "Who says so?"}; len(d.asked) != 1 || d.asked[0] != want {
		t.Errorf("asked %q, want %q", d.asked, want)
	}
	if len(d.decided) != 0 {
		t.Errorf("decided %+v", d.decided)
	}
	for typed, want := range map[string]string{"f1": "findings.0", "r2": "recommendations.1", "2": "options.1", "f4": "", "3": "", "": "", "f0": "", "x1": ""} {
		if got := lineOf(typed, momentOf(fakedesk.Travel()).Moment.Sheet.Envelope.Content()); got != want {
			t.Errorf("line %q is %q, want %q", typed, got, want)
		}
	}
}

func TestNotesOnTheTerminal(t *testing.T) {
	d := deciding(fakedesk.Travel())
	d.sheet = approvals.Sheet{ID: "n_1", Kind: approvals.ItemNote, Agent: "buying-desk", Merged: 1,
		Note: &approvals.NoteSheet{Reason: "option_count", Path: "$.question.options", Payload: moment.Payload{Text: "I could not settle.\x1b[2J"}}}
	d.items = []approvals.Item{{ID: "n_1", Kind: approvals.ItemNote, Agent: "buying-desk", Reason: "option_count", Merged: 1}}
	shown := talk(t, d, step{wait: "vault> ", typed: "open\r"}, step{wait: "Nothing can be opened now", typed: "open 1\r"}, step{wait: "t: take it out", after: InertFor, typed: "t\r"}, step{wait: "vault> ", typed: "rates\r"})
	for _, want := range []string{"could not be shown", "option_count", "$.question.options", "  | I could not settle.<U+001B>[2J", "buying-desk, class | purchase"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in: %s", want, shown)
		}
	}
	if !slices.Equal(d.dismissed, []string{"n_1"}) || len(d.decided) != 0 {
		t.Errorf("dismissed %q, decided %+v", d.dismissed, d.decided)
	}
}

// Each part of a moment changes what is shown.
func TestNoPartOfAMomentIsLeftOut(t *testing.T) {
	base := withAnswers(momentOf(fakedesk.Reply()))
	for name, change := range map[string]func(*approvals.Sheet){
		"agent":     func(s *approvals.Sheet) { s.Agent = "x" },
		"session":   func(s *approvals.Sheet) { s.Session = "x" },
		"server":    func(s *approvals.Sheet) { s.Moment.ToolServer = "x" },
		"digest":    func(s *approvals.Sheet) { s.Digest = "x" },
		"rejected":  func(s *approvals.Sheet) { s.Moment.Repetition.Rejected = true },
		"elsewhere": func(s *approvals.Sheet) { s.Moment.Repetition.Elsewhere = true },
		"answered":  func(s *approvals.Sheet) { s.Moment.Repetition.Answered = moment.ChoseOption },
		"address":   func(s *approvals.Sheet) { s.Moment.Addresses[0] = "0x77" },
		"used":      func(s *approvals.Sheet) { s.Moment.Used[0] = 9 },
		"problem":   func(s *approvals.Sheet) { s.Moment.Problems[0] = "uses_spent" },
		"new code":  func(s *approvals.Sheet) { s.Moment.Problems[0] = "new_code" },
		"asks":      func(s *approvals.Sheet) { s.Moment.Asks = []approvals.AskView{{Line: "findings.0", Question: "Why?"}} },
		"merged":    func(s *approvals.Sheet) { s.Merged = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := momentOf(fakedesk.Reply())
			change(&s)
			if withAnswers(s) == base {
				t.Error("the sheet looks the same")
			}
		})
	}
}
