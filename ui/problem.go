package ui

import (
	"fyne.io/fyne/v2"

	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// reportRows are what a problem report says, as it came (14.2), and what became of it; nothing for another record.
func reportRows(r agreement.RecordView) (out []fyne.CanvasObject) {
	x, ok := opened.ReportOf(r)
	if !ok {
		return nil
	}
	head := append([]look.Run{{Text: "About ", Style: look.Small, Color: look.Ink2}}, hostile.Runs(look.SmallM, look.Ink, x.Input)...)
	head = append(append(head, look.Run{Text: ": ", Style: look.Small, Color: look.Ink2}), hostile.Runs(look.Small, look.Ink2, x.Problem)...)
	out = append(out, look.Para(head...), parts.Quote(look.Para(hostile.Runs(look.Small, look.Ink, x.Description)...)))
	if x.Expected != "" {
		out = append(out, look.Para(append([]look.Run{{Text: "What would do: ", Style: look.Small, Color: look.Ink2}}, hostile.Runs(look.Small, look.Ink, x.Expected)...)...))
	}
	switch r.Answer {
	case agreement.AnswerResolved:
		out = append(out, parts.Note("check", look.Ink2, "You said that it is resolved."))
	case agreement.AnswerEscalated:
		out = append(out, parts.Note("clock", look.Warn, "Nobody has said that it is resolved."))
	case agreement.AnswerTwice:
		out = append(out, parts.Note("warning", look.Warn, "Nobody has said that it is resolved, and its task is nearly due, or over."))
	}
	return out
}
