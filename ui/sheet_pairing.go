package ui

import (
	"fmt"
	"path"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

const nameMost = 40 // characters of an owner's name for a program

// pairing makes the sheet on which a program is let in to ask.
func (s *sheet) pairing() {
	p := s.doc.Pairing
	if p == nil {
		p = &approvals.PairingSheet{}
	}
	s.band = func(compact bool) fyne.CanvasObject {
		if compact {
			return parts.Band("A program asks to pair", "It can ask. It can never decide.", nil)
		}
		return parts.Band("A program asks to pair", "Once paired it can ask for decisions and signatures. It can never decide.",
			parts.BandEnd("Asked", s.u.ago(s.doc.Since), look.SmallB))
	}
	s.heading = parts.NewHeading(look.Text(look.Title, look.Ink, "Is this program yours?"))
	s.heading.Watch(s)

	name := parts.NewField(proposeName(p.Claimed), "", nameMost)
	name.Watch(s)
	label := func() string {
		return "The number is the same: pair as “" + safe(strings.TrimSpace(name.Text)) + "”"
	}
	yes := s.add(approvals.VerdictApprove, label(), "It may ask. Each thing it asks for comes to you.").Least(60)
	no := s.add(approvals.VerdictDecline, "Decline", "It is told no. It may ask again later.").Least(60)
	block := s.add(approvals.VerdictDeclineBlock, "Decline and block", "It is not heard again until you lift it.").Least(60)
	name.OnChanged = func(string) {
		s.gate.arm()
		s.refused = ""
		yes.Set(label(), yes.Why)
		s.refresh()
	}
	s.needs = func() bool { return s.group.Taken() == yes }
	s.verdict = func() (approvals.Decision, string, string) {
		v := approvals.Verdict(s.group.Taken().Value)
		if v != approvals.VerdictApprove {
			return approvals.Decision{Verdict: v}, s.group.Taken().Label, ""
		}
		n := strings.TrimSpace(name.Text)
		why := ""
		if n == "" {
			why = "Give it a name first; sheets show this name."
		} else if !plain.One(n).Clean() {
			why = "The name holds hidden or look-alike letters. Choose another."
		}
		return approvals.Decision{Verdict: v, Name: n}, "Pair as “" + safe(n) + "”", why
	}

	proven := source("proven", fact("Runs as", look.Text(look.Body, look.Ink, userWords(p.Peer.UserID))))
	observed := source("observed",
		fact("Program", hostile.Inline(look.Mono, look.Ink, orUnknown(p.Peer.Executable))),
		fact("Process", hostile.Inline(look.Mono, look.Ink, processWords(p.Peer))),
		fact("", look.Text(look.Caption.Box(18), look.Ink3, "True when looked at. A program can be replaced afterwards.")))
	claimed := source("claimed",
		fact("Calls itself", look.Para(quotedRuns(look.Body, p.Claimed)...)),
		fact("", look.Text(look.Caption.Box(18), look.Ink3, "Its own words. Nothing here was checked.")))

	number := make([]string, 0, 3)
	for d := p.Digits; d != ""; {
		n := min(2, len(d))
		number, d = append(number, d[:n]), d[n:]
	}
	s.build = func(compact bool) (fyne.CanvasObject, fyne.CanvasObject) {
		ask := parts.Cells(24, []float32{264, 0},
			parts.Column(6, look.Text(look.CaptionM, look.Ink2, "Your name for it"), parts.Size(0, 36, name), look.Text(look.Caption, look.Ink3, "Sheets show this name, never its own.")),
			parts.Column(6, look.Text(look.CaptionM, look.Ink2, "The program must show you the same number"), look.Text(look.Digits, look.Ink, strings.Join(number, "  ")), look.Text(look.Caption, look.Ink3, "A different number means it spoke to another vault.")))
		answers := func(objs ...fyne.CanvasObject) fyne.CanvasObject { return parts.Equal(8, objs...) }
		paper := []fyne.CanvasObject{s.heading, parts.Space(0, 14), parts.Lined(proven, observed, claimed), parts.Space(0, 16), ask}
		footer := []fyne.CanvasObject{yes, parts.Space(0, 8), answers(no, block)}
		if compact {
			paper = append(paper, parts.Space(0, 14), yes, parts.Space(0, 8), block)
			footer = []fyne.CanvasObject{no.Slim(true)}
		} else {
			no.Slim(false)
		}
		footer = append(footer, parts.Space(0, 12), s.closingLine())
		return parts.Pad(18, 24, 18, 24, parts.Column(0, paper...)), parts.Pad(14, 24, 12, 24, parts.Column(0, footer...))
	}
}

// source is one block of facts by where they come from.
func source(kind string, facts ...fyne.CanvasObject) fyne.CanvasObject {
	return parts.Pad(12, 0, 12, 0, parts.Cells(0, []float32{128, 0}, parts.Source(kind), parts.Column(3, facts...)))
}

func fact(name string, value fyne.CanvasObject) fyne.CanvasObject {
	return parts.Cells(0, []float32{104, 0}, look.Text(look.Small.Box(20), look.Ink2, name), value)
}

// quotedRuns is a value from outside in quotation marks of ours.
func quotedRuns(style look.Style, text string) []look.Run {
	runs := []look.Run{{Text: "“", Style: style, Color: look.Ink}}
	runs = append(runs, hostile.Runs(style, look.Ink, text)...)
	return append(runs, look.Run{Text: "”", Style: style, Color: look.Ink})
}

func userWords(id int64) string {
	if id < 0 {
		return "not known on this system"
	}
	return fmt.Sprintf("user id %d", id)
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

func processWords(p approvals.Peer) string {
	if p.ProcessID == 0 {
		return "not known"
	}
	words := fmt.Sprint(p.ProcessID)
	for i, parent := range p.Parents {
		if i == 3 {
			break
		}
		if i == 0 {
			words += ", started by "
		} else {
			words += ", by "
		}
		words += path.Base(parent)
	}
	return words
}

// proposeName makes a name from what the program calls itself: letters, digits
// and a few marks of ASCII, or nothing. The owner may type any other.
func proposeName(claimed string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, claimed)
	if name != claimed || len(name) > nameMost {
		return ""
	}
	return strings.TrimSpace(name)
}
