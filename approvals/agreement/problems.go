package agreement

import (
	"vault/approvals/sow"
	"vault/approvals/store"
	"vault/derive/jcs"
)

// The answers to a problem report (14.2).
const (
	AnswerResolved  = "resolved"
	AnswerEscalated = "escalated"
	AnswerTwice     = "escalated_twice"
)

// escalate is what silence makes of a problem report: it comes before the owner again after the quiet window, and once more before
// the deadline of its task; one that is open at the deadline makes the task a failed obligation. The report itself stays as it came.
func (h *Held) escalate(v *RecordView) {
	deadline := h.main().Doc.TaskDeadline(v.At)
	if deadline > 0 {
		if f := sow.CheckProblem(v.Answer == AnswerResolved, deadline, h.Now); f != nil {
			v.Findings = append(v.Findings, *f)
		}
	}
	first, last := sow.Escalations(v.At, deadline)
	switch {
	case v.Answer == AnswerResolved:
	case last > 0 && h.Now >= last:
		v.Answer = AnswerTwice
	case v.Answer == "" && h.Now >= first:
		v.Answer = AnswerEscalated
	}
}

// problems reminds of reports that nobody has resolved.
func (h *Held) problems(add func(ReminderKind, int64, string, bool)) {
	for _, r := range h.View.Records {
		if r.Kind != RecordProblem || r.Answer == AnswerResolved || r.Ignored != "" {
			continue
		}
		about := ""
		if v, err := jcs.Parse([]byte(r.Text), jcs.SoW); err == nil {
			about = v.Get("input").Text()
		}
		deadline := h.main().Doc.TaskDeadline(r.At)
		first, last := sow.Escalations(r.At, deadline)
		if last == 0 || h.Now < last {
			add(RemindProblem, first, about, false)
		}
		if last > 0 {
			add(RemindProblem, last, about, true)
			add(RemindDeadline, deadline, about, false)
		}
	}
}

// Escalated are the problem reports that silence has brought further than what was noted of them, as they are to be noted.
func (h *Held) Escalated() (out []store.SoWRecord) {
	for _, r := range h.Records {
		for _, v := range h.View.Records {
			if RecordKind(r.Kind) == RecordProblem && v.SHA256 == r.SHA256 && v.Ignored == "" && v.Answer != r.Answer {
				r.Answer = v.Answer
				out = append(out, r)
			}
		}
	}
	return out
}
