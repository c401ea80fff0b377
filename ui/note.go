package ui

import (
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/reasons"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// openNote shows what came as a decision and could not be shown as one. A note stands in nobody's way.
func (u *UI) openNote(id string) {
	u.touch()
	u.opts.Go(func() {
		doc, err := u.owner.Open(u.ctx, id)
		var earlier *approvals.AnsweredMoment
		if err == nil && doc.Note != nil && doc.Note.Moment != "" {
			ended, _ := u.owner.Answered(0, 500)
			for _, a := range ended {
				if a.Moment == doc.Note.Moment {
					earlier = &a
					break
				}
			}
		}
		u.opts.Do(func() {
			switch {
			case err != nil:
				u.banner = problem(err)
			case doc.Note == nil:
				u.banner = &banner{parts.Notice, "warning", "This window cannot show that", "Nothing was decided."}
			default:
				u.note, u.earlier, u.noteText = &doc, earlier, nil
				if hostile.Long(doc.Note.Payload.Text) {
					u.noteText = hostile.NewBlock(doc.Note.Payload.Text, doc.Note.Payload.JSON, 4, 14)
					u.noteText.Watch(u)
				}
			}
			u.rebuild()
			if s := u.scroll["inbox"]; s != nil {
				s.Inner.ScrollToTop()
			}
		})
	})
}

// notePage is one note: the ordinary answer and the reason. No part of an envelope is on it.
func (u *UI) notePage() fyne.CanvasObject {
	doc, n := u.note, u.note.Note
	id := doc.ID
	who := safe(doc.Agent)
	back := u.button(parts.Plain, "back", "Inbox", func() { u.note = nil; u.rebuild() }).Small()
	gone := u.button(parts.Plain, "", "Take it out of the Inbox", func() { u.dismiss(id) }).Small()
	var out []fyne.CanvasObject
	if n.Reason == "already_answered" {
		what, more := "You already answered this", "Nothing more can be sent for it."
		if e := u.earlier; e != nil {
			what = "You already answered this on " + u.sinceWords(e.At)
			more = choiceWords(*e) + " Nothing more can be sent for it."
		}
		out = append(out, head(who+" asked again", "", back, gone), parts.Space(0, 16), parts.Banner(parts.Calm, "info", what, more, nil))
		if e := u.earlier; e != nil {
			list := []fyne.CanvasObject{parts.Pair(128, "Question", hostile.Inline(look.Body, look.Ink, e.Stem))}
			if e.Label != "" {
				list = append(list, parts.Pair(128, "Selected", hostile.Inline(look.Body, look.Ink, e.Label)))
			}
			if e.Answer != "" && !hostile.Long(e.Answer) {
				list = append(list, parts.Pair(128, "Your answer", look.Para(hostile.Lines(look.Body, look.Ink, e.Answer)...)))
			}
			list = append(list, parts.Pair(128, "Envelope", hostile.Inline(look.MonoS.Box(20), look.Ink, strings.TrimPrefix(e.EnvelopeDigest, "sha256:"))))
			out = append(out, parts.Space(0, 16), parts.Column(4, list...))
		}
		return parts.Column(0, out...)
	}
	out = append(out, head(who+" sent a decision that could not be shown", "It got its ordinary answer instead. Nothing was decided.", back, gone), parts.Space(0, 16))
	facts := []fyne.CanvasObject{
		parts.Pair(128, "Reason", look.Text(look.Body, look.Ink, reasons.Note(n.Reason))),
		parts.Pair(128, "Code", hostile.Inline(look.MonoS.Box(20), look.Ink, n.Reason)),
	}
	if n.Path != "" {
		facts = append(facts, parts.Pair(128, "Where", hostile.Inline(look.MonoS.Box(20), look.Ink, n.Path)))
	}
	if doc.Session != "" {
		facts = append(facts, parts.Pair(128, "Session", hostile.Inline(look.Body, look.Ink, doc.Session)))
	}
	if n.ToolServer != "" {
		facts = append(facts, parts.Pair(128, "Tool server", look.Para(quotedRuns(look.Body, n.ToolServer)...)))
	}
	facts = append(facts, parts.Pair(128, "Came", look.Text(look.Body, look.Ink, u.sinceWords(doc.Since))))
	out = append(out, parts.Column(4, facts...), parts.Space(0, 18), section("Its ordinary answer, for reading only"), parts.Space(0, 6))
	var text fyne.CanvasObject
	switch {
	case u.noteText != nil:
		text = u.noteText
	case n.Payload.Text == "":
		text = look.Text(look.Body, look.Ink3, "It came without one.")
	default:
		style := look.Body
		if n.Payload.JSON {
			style = look.Mono
		}
		text = parts.Framed(parts.Pad(10, 14, 10, 14, look.Para(hostile.Lines(style, look.Ink, n.Payload.Text)...)))
	}
	out = append(out, text)
	if len(n.Payload.Other) > 0 {
		runs := []look.Run{{Text: "It also holds parts that are not text: ", Style: look.Small, Color: look.Ink2}}
		runs = append(runs, hostile.Runs(look.Small, look.Ink2, strings.Join(n.Payload.Other, ", "))...)
		out = append(out, parts.Space(0, 8), look.Para(runs...))
	}
	return parts.Column(0, out...)
}

// choiceWords says how a moment was resolved.
func choiceWords(a approvals.AnsweredMoment) string {
	switch a.Choice {
	case "option":
		return "You selected an option."
	case "answer":
		return "You answered in your own words."
	case "question":
		return "You rejected the question."
	case "declined":
		return "You declined."
	}
	return "It ended without an answer."
}

// noteRow is a note in the Inbox.
func (u *UI) noteRow(i approvals.Item) fyne.CanvasObject {
	what := "sent a decision that could not be shown"
	if i.Reason == "already_answered" {
		what = "asked again what you had answered"
	}
	if i.Merged > 1 {
		what += ", " + plural(i.Merged, "time", "times")
	}
	age := look.Text(look.Caption, look.Ink3, u.ago(i.Since))
	age.Align = fyne.TextAlignTrailing
	middle := parts.Column(2,
		look.Para(look.Run{Text: safe(i.Agent), Style: look.Strong, Color: look.Ink}, look.Run{Text: "  " + what, Style: look.Small, Color: look.Ink3}),
		look.Para(append([]look.Run{{Text: reasons.Note(i.Reason) + " ", Style: look.Small, Color: look.Ink2}}, hostile.Runs(look.MonoS.Box(18), look.Ink3, i.Reason)...)...))
	act := parts.Row(0, parts.Spring(), u.button(parts.Plain, "", "Read", func() { u.openNote(i.ID) }).Small())
	return parts.Pad(10, 0, 10, 0, parts.Cells(12, []float32{32, 0, 120}, parts.Pad(2, 8, 2, 8, look.NewIcon("info", 16, look.Ink3)), middle, parts.Column(4, act, age)))
}
