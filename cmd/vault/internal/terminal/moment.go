package terminal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vault/approvals"
	"vault/approvals/moment"
	"vault/approvals/moment/reading"
	"vault/approvals/plain"
	"vault/approvals/reasons"
)

// The keys of a binding moment. Options are numbers.
const (
	keyOwn      = "o"
	keyQuestion = "x"
	keyDecline  = "d"
	keyAsk      = "?"
	keyClose    = "q"
)

// moment writes the sheet of a binding moment: who asks, then the lines of package reading in its order,
// then what is beside the sheet.
func (p *page) moment(s approvals.Sheet) {
	m := s.Moment
	p.say("%s asks you to decide.", p.clean(s.Agent))
	p.asked(s)
	if m.ToolServer != "" {
		p.field("Tool server, as the agent names it", m.ToolServer)
	}
	if m.Repetition.Rejected {
		p.say("You rejected this question before, less than 10 minutes ago, in the same session. The agent was asked to reconsider, and asks it again.")
	}
	if m.Repetition.Elsewhere {
		p.say("You answered the same decision in another session. This one is answered for itself.")
	}
	lines := reading.Lines(m.Sheet, m.Addresses)
	for i, l := range lines {
		p.line(lines, i, l)
		if l.Slot == reading.SlotOptions && l.Index >= 0 && (i+1 == len(lines) || lines[i+1].Index != l.Index) {
			p.option(m, l.Index)
		}
	}
	if len(m.Asks) == 0 {
		return
	}
	p.say("")
	p.say("Beside the sheet. Not part of what is decided or signed")
	for _, a := range m.Asks {
		p.outside("  ", "You asked about "+lineWords(a.Line), plain.Check(a.Question))
		if a.AnswerAt == 0 {
			p.say("  No reply yet. The question stays open.")
			continue
		}
		p.outside("  ", "Reply", plain.Check(a.Answer))
	}
}

// line writes one line of the sheet.
func (p *page) line(all []reading.Line, i int, l reading.Line) {
	indent := "  "
	if l.Slot == reading.SlotOptions && l.Index >= 0 && l.Role != reading.RoleLabel {
		indent = "     "
	}
	switch l.Role {
	case reading.RoleHeading:
		p.say("")
		p.say("%s", l.Label)
	case reading.RoleLabel:
		label := l.Label
		if i+1 < len(all) && all[i+1].Role == reading.RoleRecommended {
			label += " [" + all[i+1].Label + "]"
		}
		p.outside(indent, label, l.Text)
	case reading.RoleRecommended: // stands in the option's line
	case reading.RoleHatch:
		key := keyOwn
		if i > 0 && all[i-1].Slot == reading.SlotHatches && all[i-1].Role != reading.RoleHeading {
			key = keyQuestion
		}
		p.say("%s[%s] %s", indent, key, l.Label)
	case reading.RoleHatchOff:
		p.say("%s[off] %s", indent, l.Label)
	case reading.RoleDecline:
		p.say("%s[%s] %s", indent, keyDecline, l.Label)
	case reading.RoleBlocked:
		p.say("%s! %s", indent, l.Label)
	case reading.RoleNote:
		p.say("%sNote: %s", indent, l.Label)
	case reading.RoleAction, reading.RoleSignWith:
		p.say("%s%s", indent, l.Label)
	case reading.RoleContradiction:
		if len(l.Text.Lines) == 0 {
			p.say("%s! %s", indent, l.Label)
			return
		}
		p.outside(indent, l.Label, l.Text)
	default:
		p.outside(indent, l.Label, l.Text)
	}
}

// outside writes text from outside behind a bar of ours.
func (p *page) outside(indent, label string, t plain.Text) {
	p.count(t.Report)
	if label != "" {
		label += " "
	}
	for part := range strings.SplitSeq(t.String(), "\n") {
		p.say("%s%s| %s", indent, label, part)
		label = ""
	}
}

// option says what the vault knows of an option's signing envelope beside its fields.
func (p *page) option(m *approvals.MomentSheet, i int) {
	if m.Sheet.Rows[i].SignWith == nil {
		return
	}
	p.say("     Used so far: %d", m.Used[i])
	if code := m.Problems[i]; code != "" {
		text, known := problemWords[code]
		if !known {
			text = p.clean(code)
		}
		p.say("     ! It would not be signed now: %s", text)
	}
}

var problemWords = map[string]string{
	"unknown_domain":   "this vault has no such domain.",
	"envelope_expired": "its envelope has ended.",
	"not_yet_valid":    "its envelope has not begun.",
	"suspended":        "its envelope is suspended since a new instance of this vault began.",
	"uses_spent":       "the uses of its envelope are spent.",
}

// note writes what could not be shown as a decision: the ordinary answer and the reason.
func (p *page) note(s approvals.Sheet) {
	n := s.Note
	if n.Reason == "already_answered" {
		p.say("%s asked again what you had answered. Nothing more can be sent for it.", p.clean(s.Agent))
		p.asked(s)
		return
	}
	p.say("%s sent a decision that could not be shown. It got its ordinary answer instead. Nothing was decided.", p.clean(s.Agent))
	p.say("%s", reasons.Note(n.Reason))
	p.field("Reason", n.Reason)
	if n.Path != "" {
		p.field("Where", n.Path)
	}
	p.asked(s)
	if n.ToolServer != "" {
		p.field("Tool server, as the agent names it", n.ToolServer)
	}
	p.say("")
	p.say("Its ordinary answer, for reading only:")
	t := plain.Check(n.Payload.Text)
	p.count(t.Report)
	p.lines(t)
	for _, x := range n.Payload.Other {
		p.field("It also holds a part that is not text", x)
	}
}

// momentAnswers are the keys of a binding moment, in the order of its sheet.
func momentAnswers(s approvals.Sheet, p *page) []answer {
	m, agent := s.Moment, p.clean(s.Agent)
	if m.Repetition.Answered != "" {
		return []answer{{keyClose, "", "Close. You already answered this; nothing more can be sent for it."}}
	}
	c := m.Sheet.Envelope.Content()
	var list []answer
	for i, row := range m.Sheet.Rows {
		text := p.clean(row.Label)
		if row.Recommended {
			text = "[Agent recommends] " + text
		}
		if row.Blocked != "" {
			text += " (blocked)"
		}
		list = append(list, answer{strconv.Itoa(i + 1), approvals.VerdictOption, text})
	}
	if c.FreeText {
		list = append(list, answer{keyOwn, approvals.VerdictAnswer, "Answer in my own words: " + agent + " gets your words exactly as typed. They authorise nothing."})
	}
	if c.Dialogue {
		list = append(list, answer{keyQuestion, approvals.VerdictQuestion, "This is the wrong question: Rejects the question, not the answers. " + agent + " is told to think again."})
	}
	return append(list,
		answer{keyDecline, approvals.VerdictDecline, "Decline: Answers no to this question. " + agent + " is told, and stops. Nothing is authorised."},
		answer{keyAsk, "", "Ask about one line: a message that decides nothing."},
		answer{keyClose, "", "Close: decides nothing."})
}

// prepareMoment asks what a resolution needs beside its key. It says whether to go on.
func (s *Surface) prepareMoment(ctx context.Context, sheet approvals.Sheet, key string, d *approvals.Decision) (bool, error) {
	m := sheet.Moment
	switch d.Verdict {
	case approvals.VerdictAnswer:
		text, err := s.typeAnswer(ctx)
		switch {
		case err != nil:
			return false, err
		case moment.Blank(text):
			return false, s.console.Print("Nothing was typed. Nothing was decided.\n")
		case moment.HoldsRecoveryWords(text):
			return false, s.console.Print("Held back: this looks like recovery words. Nobody who asks for them needs them. Nothing was sent.\n")
		}
		d.Answer = text
		d.Confirm = len(s.owner.Passkeys()) > 0
		return true, nil
	case approvals.VerdictOption:
		i, err := strconv.Atoi(key)
		if err != nil || i < 1 || i > len(m.Sheet.Rows) {
			return false, s.console.Print("Nothing was decided. There is no such option.\n")
		}
		d.Option = i - 1
		row := m.Sheet.Rows[d.Option]
		if row.Blocked != "" {
			return false, s.console.Print("Nothing was decided. This option is blocked: the sheet says why.\n")
		}
		p := s.page()
		p.say("You selected option %d:", i)
		p.outside("  ", "", plain.Check(row.Label))
		p.field("Action digest", row.ActionDigest)
		switch {
		case row.SignWith != nil:
			p.say("Its action is signed once, when %s asks, and no other.", p.clean(sheet.Agent))
		case row.Action == nil:
			p.say("The vault has not seen this action. Selecting it signs nothing.")
		default:
			p.say("The agent named nothing that the vault would sign.")
		}
		p.field("Envelope", m.EnvelopeDigest)
		if err := s.console.Print(p.String()); err != nil {
			return false, err
		}
		return s.proof(ctx, sheet, d)
	}
	d.Confirm = d.Verdict == approvals.VerdictQuestion && len(s.owner.Passkeys()) > 0
	return true, nil
}

// typeAnswer reads lines until one that is a single full stop.
func (s *Surface) typeAnswer(ctx context.Context) (string, error) {
	if err := s.console.Print("Type your answer. A line with nothing but a full stop ends it.\n"); err != nil {
		return "", err
	}
	var lines []string
	for size := 0; ; {
		line, err := s.console.AskWhole(ctx, "> ")
		if err != nil {
			return "", err
		}
		s.owner.Touch()
		if line == "." {
			return strings.Join(lines, "\n"), nil
		}
		if size += len(line) + 1; size > moment.MaxAnswer {
			return "", s.console.Print("That is longer than an answer can be.\n")
		}
		lines = append(lines, line)
	}
}

// askAbout sends a question about one line. It resolves nothing.
func (s *Surface) askAbout(ctx context.Context, sheet approvals.Sheet) error {
	which, err := s.console.Ask(ctx, "Which line: f1 for finding 1, r1 for recommendation 1, or an option's number: ")
	if err != nil {
		return err
	}
	line := lineOf(which, sheet.Moment.Sheet.Envelope.Content())
	if line == "" {
		return s.console.Print("There is no such line. Nothing was asked.\n")
	}
	text, err := s.console.AskWhole(ctx, "Your question: ")
	if err != nil {
		return err
	}
	if moment.Blank(text) {
		return s.console.Print("Nothing was asked.\n")
	}
	if err := s.owner.Ask(ctx, sheet.ID, line, text); err != nil {
		var r *approvals.Refusal
		if errors.As(err, &r) && r.Code == "recovery_words" {
			return s.console.Print("Held back: this looks like recovery words. Nothing was asked.\n")
		}
		return err
	}
	return s.console.Print("Asked. The question stays open. The reply is shown when you open it again.\n")
}

// lineOf is the name of a line as [approvals.Owner] knows it, or "".
func lineOf(typed string, c moment.Content) string {
	typed = strings.ToLower(strings.TrimSpace(typed))
	slot, count := "options", len(c.Options)
	switch {
	case strings.HasPrefix(typed, "f"):
		slot, count, typed = "findings", len(c.Findings), typed[1:]
	case strings.HasPrefix(typed, "r"):
		slot, count, typed = "recommendations", len(c.Recommendations), typed[1:]
	}
	n, err := strconv.Atoi(typed)
	if err != nil || n < 1 || n > count {
		return ""
	}
	return fmt.Sprintf("%s.%d", slot, n-1)
}

// lineWords says which line a question is about.
func lineWords(line string) string {
	slot, n, _ := strings.Cut(line, ".")
	i, err := strconv.Atoi(n)
	if err != nil {
		return "the " + plain.TerminalLine(slot)
	}
	return fmt.Sprintf("%s %d", strings.TrimSuffix(plain.TerminalLine(slot), "s"), i+1)
}

// readNote shows a note and offers to take it out of the list. It stands in nobody's way.
func (s *Surface) readNote(ctx context.Context, sheet approvals.Sheet) error {
	if key, err := s.pages(ctx, Render(sheet, s.loc)); err != nil || key != "" {
		return err
	}
	s.console.Inert()
	line, err := s.console.Ask(ctx, "t: take it out of the list. Enter: leave it. ")
	if err != nil || !strings.EqualFold(line, "t") {
		return err
	}
	return s.owner.Dismiss(ctx, sheet.ID)
}

// rates lists how agents ask for decisions: counts per agent and class.
func (s *Surface) rates(context.Context, []string) error {
	list, err := s.owner.MomentRates()
	if err != nil {
		return err
	}
	p := s.page()
	if len(list) == 0 {
		p.say("No agent has asked for a decision yet.")
	}
	for _, r := range list {
		class := "no class named"
		if r.HasClass {
			class = "class | " + p.clean(r.Class)
		}
		p.say("%s, %s", p.clean(r.Agent), class)
		p.say("  Shown: %d. Corrected itself: %d. A way out off: %d", r.Presented, r.WithNote, r.HatchesOff)
		p.say("  Selected: %d. Answered: %d. Question rejected: %d. Declined: %d. Could not be shown: %d", r.Options, r.Answers, r.Questions, r.Declined, r.Fallbacks)
	}
	return s.console.Print(p.String())
}

// answered says what was decided, after the outcome.
func (p *page) answered(a *approvals.AnsweredMoment) {
	switch a.Choice {
	case moment.ChoseOption:
		p.say("You selected option %d:", a.Option+1)
		p.outside("  ", "", plain.Check(a.Label))
	case moment.ChoseAnswer:
		p.say("You answered in your own words. They authorise nothing.")
	case moment.ChoseQuestion:
		p.say("You rejected the question. You can write to the agent in your conversation with it.")
	case moment.ChoseDecline:
		p.say("Nothing was authorised.")
	}
}
