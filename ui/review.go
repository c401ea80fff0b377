package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/sow"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// deliveriesMost is how many deliveries can be picked on the sheet; the identifier of any other can be typed.
const deliveriesMost = 6

// agreement is the version that is shown, as it was read.
func (c *contract) agreement() opened.Agreement {
	return opened.Agreement{View: c.view, Version: c.version, Doc: c.doc, Text: c.text}
}

// reviewing says what the owner thinks of a task, or of the whole engagement, beside what the form checks found (15).
func (c *contract) reviewing(s *step) {
	deliveries := c.agreement().Deliveries()
	task, good, bad := c.line("", "Empty: the whole engagement", 128), c.typed(2), c.typed(2)
	cites := func() []string {
		if t := strings.TrimSpace(task.Text); t != "" {
			return []string{t}
		}
		return []string{c.doc.ID()} // refers to what it judges by identifier (15.1)
	}
	s.above = func() fyne.CanvasObject {
		list := []fyne.CanvasObject{look.Text(look.CaptionM, look.Ink2, "What the form checks found")}
		if len(deliveries) == 0 {
			return parts.Column(4, append(list, look.Text(look.Small, look.Ink2, "No delivery that the provider’s agent signed for was brought in: nothing is known of the form."))...)
		}
		for i, d := range deliveries {
			if i == deliveriesMost {
				list = append(list, look.Text(look.Small, look.Ink2, plural(int64(len(deliveries)-i), "older one is", "older ones are")+" listed under the engagement."))
				break
			}
			icon, ink := "check", look.Ink2
			if !d.Form.OK() {
				icon, ink = "warning", look.Warn
			}
			words := day(c.u.at(d.At)) + ". " + formWords(d.Form)
			if d.Reviewed {
				words += " Reviewed before."
			}
			pick := parts.NewButton(parts.Plain, "", "Review it", func() {
				if c.gate.open() {
					c.u.touch()
					task.SetText(d.Name())
				}
			}).Small()
			pick.Watch(c)
			list = append(list, parts.Cells(12, []float32{18, 220, 0, 92}, parts.Middle(28, look.NewIcon(icon, 13, ink)), parts.Middle(28, look.Para(hostile.Runs(look.MonoS, look.Ink, oneLine(d.Name(), 40))...)),
				parts.Middle(28, look.Text(look.Small, ink, words)), parts.Row(0, parts.Spring(), pick)))
		}
		return parts.Column(4, list...)
	}
	fields := func(name string, area *parts.Area) func() fyne.CanvasObject {
		return func() fyne.CanvasObject {
			return parts.Cells(12, []float32{300, 0}, named("Which task", parts.Size(0, 36, task)), named(name, parts.Size(0, 52, area)))
		}
	}
	said := banner{parts.Calm, "pencil", "Your review is signed", "It stands beside what the form checks found, and cannot be taken back; a second one can say otherwise."}
	ask := func(ground string, area *parts.Area) func() func(context.Context) (approvals.Outcome, error) {
		return func() func(context.Context) (approvals.Outcome, error) {
			return c.act(approvals.ActAsk{Kind: sow.Review, Ground: ground, Reason: strings.TrimSpace(area.Text), Cites: cites()})
		}
	}
	c.moveIn(s, "review", "Accept the work", "Signed, and kept beside the form checks.", &answer{fields: fields("What you want to say, if anything", good), do: ask("acceptance", good), said: said})
	c.moveIn(s, "review", "Reject the work", "Needs a reason: without one it is no review.", &answer{fields: fields("Your reason", bad),
		missing: func() string { _, m := reasonOf(bad); return m }, do: ask("rejection", bad), said: said})
}

// formWords say what the form checks found of a delivery.
func formWords(f sow.Findings) string {
	if n := len(f.Errors()); n > 0 {
		return plural(int64(n), "piece was", "pieces were") + " not in the form that was agreed."
	}
	return "In form: every named piece arrived as agreed."
}

// inputsMost is how many inputs of a document the sheet lists; a document may name more.
const inputsMost = 24

// inputTroubles name the codes of a problem report (14.1), in the order of [sow.ProblemCodes].
var inputTroubles = map[string]string{"missing": "It is missing", "unreadable": "It cannot be read", "wrong_format": "Wrong format", "no_permission": "No permission", "other": "Something else"}

// tried is what the owner says of one input on a trial.
type tried struct {
	name                  string
	outcome               string // "", "passed" or "failed"
	code                  string
	description, expected *parts.Field
}

// report is what came of it, and why it cannot be signed yet.
func (x *tried) report() (out sow.Tried, missing string) {
	out = sow.Tried{Input: x.name, Passed: x.outcome == "passed"}
	if out.Passed {
		return out, ""
	}
	if x.code == "" {
		return out, "Choose what is wrong with the input that failed."
	}
	var err error
	if out.Problem, err = sow.NewProblem(x.name, x.code, strings.TrimSpace(x.description.Text), strings.TrimSpace(x.expected.Text)); err != nil {
		return out, "Say what happened with the input that failed, so that it can be acted on."
	}
	return out, ""
}

// probing records a trial before or under an agreement: which inputs were tried, and what came of each (13).
func (c *contract) probing(s *step) {
	var list []*tried
	names := c.agreement().Inputs()
	for _, name := range names[:min(len(names), inputsMost)] {
		list = append(list, &tried{name: name, description: c.line("", "What happened", 500), expected: c.line("", "What would do, if you can say", 200)})
	}
	record := func() (out []sow.Tried, missing string) {
		for _, x := range list {
			if x.outcome == "" {
				continue
			}
			t, why := x.report()
			if why != "" {
				return nil, why
			}
			out = append(out, t)
		}
		if len(out) == 0 {
			return nil, "Say of at least one input whether it passed."
		}
		return out, ""
	}
	fields := func() fyne.CanvasObject {
		rows := []fyne.CanvasObject{}
		for _, x := range list {
			pill := func(label, value string, at *string) fyne.CanvasObject {
				b := parts.NewButton(parts.Filter, checked(*at == value), label, func() {
					c.u.touch()
					c.refused = ""
					*at = value
					c.arrange()
				}).Small().On(*at == value)
				b.Watch(c)
				return b
			}
			line := parts.Cells(12, []float32{220, 0}, parts.Middle(28, look.Para(hostile.Runs(look.Body, look.Ink, oneLine(x.name, 60))...)),
				parts.Flow(8, 8, pill("Not tried", "", &x.outcome), pill("Passed", "passed", &x.outcome), pill("Failed", "failed", &x.outcome)))
			rows = append(rows, line)
			if x.outcome != "failed" {
				continue
			}
			var codes []fyne.CanvasObject
			for _, code := range sow.ProblemCodes {
				codes = append(codes, pill(inputTroubles[code], code, &x.code))
			}
			rows = append(rows, parts.Cells(12, []float32{220, 0}, parts.Space(0, 0), parts.Column(6, parts.Flow(8, 8, codes...),
				parts.Cells(8, []float32{0, 240}, parts.Size(0, 34, x.description), parts.Size(0, 34, x.expected)))))
		}
		if n := len(names) - len(list); n > 0 {
			rows = append(rows, look.Text(look.Small, look.Ink2, plural(int64(n), "further input is", "further inputs are")+" not listed here; a record on the terminal can name them."))
		}
		return parts.Column(8, rows...)
	}
	s.above = func() fyne.CanvasObject {
		return look.Text(look.Small, look.Ink2, "A trial is marked as one, uses real sample inputs, and obliges nobody. What you sign says which inputs were tried and what came of each; an offer’s condition reads the provider’s record.")
	}
	row := c.add(s, "Record a trial", "Signed as the "+c.view.Role+", and kept. Needs no passkey.", &answer{
		missing: func() string { _, why := record(); return why },
		fields:  fields,
		do: func() func(context.Context) (approvals.Outcome, error) {
			inputs, _ := record()
			return c.act(approvals.ActAsk{Kind: sow.Probe, Inputs: inputs})
		},
		said: banner{parts.Calm, "check", "The trial is recorded", "It is signed and kept, and leaves with the bundle. After what surfaced is resolved, a second trial says so; the latest counts."},
	})
	switch {
	case !c.agreement().MayProbe():
		row.Block("You hold no seat in it.")
	case len(list) == 0:
		row.Block("The document names no inputs to try.")
	}
}

// checked is the icon of a pill that is on.
func checked(on bool) string {
	if on {
		return "check"
	}
	return ""
}

// probe is the move of recording a trial: it can be made about every open version in which the owner holds a seat, also before it is signed.
func (c *contract) probe() *agreement.Move {
	if !c.agreement().MayProbe() || c.version.Outcome != "" {
		return nil
	}
	return &agreement.Move{What: "probe", Digest: c.version.Digest, By: sow.ByAgent}
}
