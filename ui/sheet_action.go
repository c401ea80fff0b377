package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

const untilForm = "2 Jan 2006, 15:04 UTC"

// action makes the sheet on which one signature is approved.
func (s *sheet) action() {
	a := s.doc.Action
	if a == nil {
		a = &approvals.ActionSheet{}
	}
	who := s.asker()
	facts := "Paired by you on " + day(s.u.at(s.doc.PairedAt))
	if s.doc.Merged > 1 {
		facts += fmt.Sprintf(" · asks for the same one %d times", s.doc.Merged)
	}
	print := short(s.doc.Digest)
	s.band = func(compact bool) fyne.CanvasObject {
		if compact {
			return parts.Band(who+" asks for a signature", "Fingerprint "+print, nil)
		}
		return parts.Band(who+" asks for a signature", facts, parts.BandEnd("Fingerprint", print, look.MonoB))
	}
	s.heading = parts.NewHeading(look.Para(titleRuns(a)...))
	s.heading.Watch(s)

	left := int64(0)
	stay := "Signs this one."
	if a.MaxUses != nil {
		left = max(*a.MaxUses-a.Used-1, 0)
		stay = "Signs this one. " + plural(left, "use stays.", "uses stay.")
	}
	once := s.add(approvals.VerdictApprove, "Approve once", stay)
	no := s.add(approvals.VerdictDecline, "Decline", "Signs nothing. "+who+" is told.")
	more := s.add(approvals.VerdictGrant, "Approve and grant more", "Also signs the next ones without asking.")
	block := s.add(approvals.VerdictDeclineBlock, "Decline and block", "Also refuses its next requests.")
	switch {
	case len(a.Contradictions) > 0:
		more.Block("The text and the envelope disagree.")
	case !a.Grantable:
		more.Block("Nothing is left to grant here.")
	}
	uses := parts.NewField(strconv.FormatInt(a.GrantUses, 10), "", 4)
	until := parts.NewField(time.UnixMilli(a.GrantUntil).UTC().Format(untilForm), "", 24)
	uses.Watch(s)
	until.Watch(s)
	edited := func(string) {
		s.refused = ""
		s.refresh()
	}
	uses.OnChanged, until.OnChanged = edited, edited
	grant := s.grantBox(a, who, uses, until)
	grant.Hide()
	s.group.Changed = func() {
		s.refused = ""
		if show := s.group.Taken() == more; show == grant.Visible() {
			s.refresh()
			return
		} else if show {
			grant.Show()
		} else {
			grant.Hide()
		}
		s.gate.arm() // the rows have moved
		s.arrange(s.compact)
	}
	s.needs = func() bool { return s.group.Taken() == once || s.group.Taken() == more }
	s.verdict = func() (approvals.Decision, string, string) {
		t := s.group.Taken()
		d := approvals.Decision{Verdict: approvals.Verdict(t.Value)}
		if t != more {
			return d, t.Label, ""
		}
		n, end, why := s.limits(a, uses.Text, until.Text)
		d.GrantUses, d.GrantUntil = n, end
		if why != "" {
			return d, t.Label, why
		}
		return d, "Approve and grant " + parts.Number(n) + " more", ""
	}

	text := plain.Spread(a.PayloadText)
	rows := strings.Count(text, "\n") + 1
	payload := hostile.NewBlock(text, true, min(rows, 3), 5).Bytes(len(a.PayloadText))
	s.blocks = append(s.blocks, payload)
	list := s.actionFacts(a)
	s.build = func(compact bool) (fyne.CanvasObject, fyne.CanvasObject) {
		paper := []fyne.CanvasObject{s.heading}
		for _, c := range a.Contradictions {
			paper = append(paper, parts.Space(0, 10), contradiction(c))
		}
		for _, w := range warnings(a) {
			paper = append(paper, parts.Space(0, 10), parts.Banner(parts.Notice, "warning", w[0], w[1], nil))
		}
		paper = append(paper, parts.Space(0, 14), list, parts.Space(0, 14),
			parts.Row(8, parts.Grow(look.Text(look.CaptionM, look.Ink2, "What will be signed, as "+who+" sent it")),
				look.Word(look.Caption, look.Ink3, "every byte is shown; line breaks are the vault’s")),
			parts.Space(0, 6))
		var footer []fyne.CanvasObject
		if compact {
			paper = append(paper, payload, parts.Space(0, 14), once, parts.Space(0, 8), more, parts.Space(0, 8), grant, parts.Space(0, 8), block)
			footer = []fyne.CanvasObject{no.Slim(true)}
		} else {
			no.Slim(false)
			paper = append(paper, parts.Fill(payload))
			footer = []fyne.CanvasObject{parts.Equal(8, once, no), parts.Space(0, 8), parts.Equal(8, more, block)}
			if grant.Visible() {
				footer = append(footer, parts.Space(0, 8), grant)
			}
		}
		footer = append(footer, parts.Space(0, 10), s.closingLine())
		return parts.Pad(18, 24, 18, 24, parts.Column(0, paper...)), parts.Pad(14, 24, 10, 24, parts.Column(0, footer...))
	}
}

// titleRuns asks the question with the words of the envelope where they are short,
// and without them where the facts below have to carry them.
func titleRuns(a *approvals.ActionSheet) []look.Run {
	own := func(t string) look.Run { return look.Run{Text: t, Style: look.Title, Color: look.Ink} }
	if a.Operation == "" || utf8.RuneCountInString(a.Operation) > 60 {
		return []look.Run{own("Sign one action?")}
	}
	runs := []look.Run{own("Sign one ")}
	runs = append(runs, hostile.Runs(look.Title, look.Ink, a.Operation)...)
	on := a.Payload.Get("resource").Text()
	if !slices.Contains(a.Resources, on) {
		on = ""
		if len(a.Resources) == 1 {
			on = a.Resources[0]
		}
	}
	if on != "" && utf8.RuneCountInString(on) <= 60 {
		runs = append(runs, own(", on "))
		runs = append(runs, hostile.Runs(look.Title, look.Ink, on)...)
	}
	return append(runs, own("?"))
}

// actionFacts lists what the envelope says and what will sign.
func (s *sheet) actionFacts(a *approvals.ActionSheet) fyne.CanvasObject {
	const gutter = 128
	quiet := func(t string) look.Run { return look.Run{Text: t, Style: look.Body, Color: look.Ink3} }
	var list []fyne.CanvasObject
	add := func(name string, value fyne.CanvasObject) { list = append(list, parts.Pair(gutter, name, value)) }
	outside := func(name string, style look.Style, mono bool, text string) {
		if hostile.Long(text) {
			b := hostile.NewBlock(text, mono, 2, 4)
			s.blocks = append(s.blocks, b)
			add(name, b)
			return
		}
		add(name, hostile.Inline(style, look.Ink, text))
	}
	domain := append(hostile.Runs(look.Body, look.Ink, a.Domain.ID), quiet(" · "))
	domain = append(domain, hostile.Runs(look.Body, look.Ink3, a.Domain.Kind)...)
	domain = append(domain, quiet(", namespace "))
	domain = append(domain, hostile.Runs(look.Body, look.Ink3, a.Domain.Namespace)...)
	add("Domain", look.Para(domain...))
	if utf8.RuneCountInString(a.Operation) > 60 {
		outside("Operation", look.Mono, true, a.Operation)
	}
	long := len(a.Resources) > 12
	for _, r := range a.Resources {
		long = long || utf8.RuneCountInString(r) > 200
	}
	if long {
		b := hostile.NewBlock(strings.Join(a.Resources, "\n"), true, 2, 5)
		s.blocks = append(s.blocks, b)
		add("May touch", b)
	} else {
		var runs []look.Run
		for i, r := range a.Resources {
			if i > 0 {
				runs = append(runs, look.Run{Text: "  ·  ", Style: look.Mono, Color: look.Ink3})
			}
			runs = append(runs, hostile.Runs(look.Mono, look.Ink, r)...)
		}
		if len(runs) == 0 {
			runs = []look.Run{quiet("nothing is named")}
		}
		add("May touch", look.Para(runs...))
	}
	add("Valid", look.Text(look.Body, look.Ink, validWords(a)))
	if a.MaxUses != nil {
		add("Used", parts.Row(10, parts.Size(120, 8, parts.Meter(a.Used, *a.MaxUses, false)), look.Word(look.Body, look.Ink, parts.Number(a.Used)+" of "+parts.Number(*a.MaxUses))))
	} else {
		add("Used", look.Text(look.Body, look.Ink, plural(a.Used, "time", "times")+"; no limit is set"))
	}
	asked := append(hostile.Runs(look.Body, look.Ink, a.AgentID), quiet(fmt.Sprintf(" · action %d", a.ActionIndex)))
	if s.doc.Session != "" {
		asked = append(asked, quiet(" · session "))
		asked = append(asked, hostile.Runs(look.Body, look.Ink3, s.doc.Session)...)
	}
	add("Calls itself", look.Para(asked...))
	if a.PayloadType == "" {
		add("Type of text", look.Text(look.Body, look.Ink2, "none is stated"))
	} else {
		outside("Type of text", look.Mono, true, a.PayloadType)
	}
	add("Signs as", hostile.Inline(look.Mono, look.Ink, a.Address))
	add("Digest signed", hostile.Inline(look.MonoS.Box(20), look.Ink, a.PayloadDigest))
	return parts.Column(4, list...)
}

// validWords says how long the envelope holds.
func validWords(a *approvals.ActionSheet) string {
	var words string
	switch {
	case a.NotBefore != nil && a.NotAfter != nil:
		words = "from " + signed(*a.NotBefore) + " until " + signed(*a.NotAfter)
	case a.NotAfter != nil:
		words = "until " + signed(*a.NotAfter)
	case a.NotBefore != nil:
		words = "from " + signed(*a.NotBefore) + ", with no end"
	default:
		words = "with no end date"
	}
	if a.MaxUses != nil {
		uses := plural(*a.MaxUses, "use", "uses")
		if a.NotAfter != nil {
			return words + ", or " + uses + ", whichever is first"
		}
		return words + ", for " + uses
	}
	return words
}

// warnings are remarks of the vault on the envelope.
func warnings(a *approvals.ActionSheet) [][2]string {
	var out [][2]string
	for _, code := range a.Warnings {
		switch code {
		case "no_end":
			out = append(out, [2]string{"This envelope has no end", "What is granted under it ends with its uses, or when you end it."})
		case "unlimited":
			out = append(out, [2]string{"This envelope has no limit of uses", "Each signature still comes to you, unless you grant more."})
		case "repeat":
			out = append(out, [2]string{"You decided on the same text before", "A second signature over it is a second use."})
		case "contradiction": // has a banner of its own
		default:
			out = append(out, [2]string{"The vault has a remark: " + safe(code), ""})
		}
	}
	return out
}

// contradiction shows a member of the text that says something else than the envelope.
func contradiction(c approvals.Contradiction) fyne.CanvasObject {
	own := func(t string) look.Run { return look.Run{Text: t, Style: look.Small, Color: look.Ink} }
	runs := []look.Run{own("For ")}
	runs = append(runs, hostile.Runs(look.Small, look.Ink, c.Member)...)
	runs = append(runs, own(" the text says “"))
	runs = append(runs, hostile.Runs(look.Small, look.Ink, c.Payload)...)
	runs = append(runs, own("”, the envelope says “"))
	runs = append(runs, hostile.Runs(look.Small, look.Ink, c.Envelope)...)
	runs = append(runs, own("”. It can be signed once; it cannot be granted."))
	return parts.Sunk(look.WarnTint, 6, parts.Pad(10, 14, 10, 14, parts.RowTop(12, parts.Pad(2, 0, 0, 0, look.NewIcon("warning", 16, look.Warn)),
		parts.Grow(parts.Column(0, look.Text(look.Strong, look.Ink, "The text and the envelope disagree"), look.Para(runs...))))))
}

// grantBox is the sentence that is granted, with its two limits.
func (s *sheet) grantBox(a *approvals.ActionSheet, who string, uses, until *parts.Field) fyne.CanvasObject {
	word := func(t string) fyne.CanvasObject { return look.Word(look.Body, look.Ink, t) }
	most := fmt.Sprintf("At most %s, until %s at the latest.", plural(a.GrantUsesMax, "more", "more"), signed(a.GrantUntilMax))
	first, last := word("Let "+who+" sign"), word("more of these without asking, until")
	line := parts.Flow(7, 4, first, parts.Size(48, 36, uses), last, parts.Size(184, 36, until))
	body := parts.Column(4, line, look.Text(look.Caption, look.Ink2, "Each has its own text, which you will not see first. You can end this in Agents at any time."), look.Text(look.Caption, look.Ink3, most))
	return parts.Framed(parts.Pad(9, 14, 10, 14, body))
}

// limits reads what the owner typed and says what stands in the way.
func (s *sheet) limits(a *approvals.ActionSheet, uses, until string) (n, end int64, why string) {
	n, err := strconv.ParseInt(strings.TrimSpace(uses), 10, 64)
	switch {
	case err != nil || n < 1:
		return 0, 0, "Type how many more, as a number from 1."
	case n > a.GrantUsesMax:
		return n, 0, "At most " + parts.Number(a.GrantUsesMax) + " more can be granted here."
	}
	t, err := time.Parse(untilForm, strings.TrimSpace(until))
	if err != nil {
		return n, 0, "Type the end like this: " + time.UnixMilli(a.GrantUntilMax).UTC().Format(untilForm)
	}
	end = t.UnixMilli()
	if end > a.GrantUntilMax && end-a.GrantUntilMax < 60000 {
		end = a.GrantUntilMax // the minute that is shown is not finer
	}
	switch {
	case end > a.GrantUntilMax:
		return n, end, "The end can be " + signed(a.GrantUntilMax) + " at the latest."
	case !t.After(s.u.opts.Now()):
		return n, end, "That end has passed."
	}
	return n, end, ""
}
