package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/plain"
)

// page collects checked lines. Every text from outside goes through field or text.
type page struct {
	b      strings.Builder
	hidden int // characters shown as marks
	mixed  []plain.Warning
	loc    *time.Location
}

// say writes one line of ours.
func (p *page) say(format string, args ...any) {
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// field writes a label of ours and text from outside on one line, or the text on
// lines of its own below the label where it has several.
func (p *page) field(label, outside string) {
	t := plain.Check(outside)
	p.count(t.Report)
	switch {
	case outside == "":
		p.say("%s: (empty)", label)
	case len(t.Lines) > 1:
		p.say("%s:", label)
		p.lines(t)
	default:
		p.say("%s: %s", label, t)
	}
}

// lines writes checked text below a label, each line behind a bar that is ours.
func (p *page) lines(t plain.Text) {
	for line := range strings.SplitSeq(t.String(), "\n") {
		p.say("  | %s", line)
	}
}

// clean makes text from outside fit for the inside of a line of ours.
func (p *page) clean(outside string) string {
	t := plain.One(outside)
	p.count(t.Report)
	return t.String()
}

func (p *page) count(r plain.Report) {
	p.hidden += r.Hidden + r.Stacked + r.Imitated
	for _, w := range r.Warnings {
		if !slices.Contains(p.mixed, w) {
			p.mixed = append(p.mixed, w)
		}
	}
}

// when is a time as people read it, in the page's place, with its offset.
func (p *page) when(ms int64) string {
	return time.UnixMilli(ms).In(p.loc).Format("2006-01-02 15:04:05 -07:00")
}

func (p *page) String() string { return p.b.String() }

// answer is one key of a sheet.
type answer struct {
	key     string
	verdict approvals.Verdict // empty: close without a decision
	text    string
}

// Render is the whole sheet as checked text in reading order: who asks, what for,
// everything that will be signed, then the digest that names it. It shows each
// field of s; the answers stand in answers.
func Render(s approvals.Sheet, loc *time.Location) string {
	p := &page{loc: loc}
	if s.Demo {
		p.say("Demonstration vault. Its keys are thrown away.")
	}
	if s.Frame == "clicks" {
		p.say("No passkey is enrolled: a program that controls this screen can answer a window. On the terminal of vault serve your passphrase is asked before anything is approved.")
	}
	switch {
	case s.Pairing != nil:
		p.pairing(s)
	case s.Action != nil:
		p.action(s)
	case s.Moment != nil && s.Moment.Sheet != nil:
		p.moment(s)
	case s.Note != nil:
		p.note(s)
	}
	p.say("")
	if p.hidden == 0 {
		p.say("No hidden or direction-changing characters.")
	} else {
		p.say("%d hidden characters are shown as marks.", p.hidden)
	}
	for _, w := range p.mixed {
		p.say("“%s” mixes %s with a %s %s, %s.", w.Word, w.Of, w.With, w.Letter, w.Code)
	}
	p.field("Digest of this sheet", s.Digest)
	p.say("Closing this sheet decides nothing.")
	return p.String()
}

func (p *page) asked(s approvals.Sheet) {
	p.field("Asked by", s.Agent)
	if s.PairedAt != 0 {
		p.say("Paired by you: %s", p.when(s.PairedAt))
	}
	if s.Session != "" {
		p.field("Session", s.Session)
	}
	p.say("Waiting since: %s", p.when(s.Since))
	if s.Until != 0 {
		p.say("Ends, undecided, at: %s", p.when(s.Until))
	}
	if s.Merged > 1 {
		p.say("Asked %d times with the same bytes; one answer serves them all.", s.Merged)
	}
	p.field("Request", s.ID)
}

func (p *page) pairing(s approvals.Sheet) {
	w := s.Pairing
	p.say("A program asks to pair. Is this program yours?")
	p.say("Once paired it can ask for decisions and signatures. It can never decide.")
	p.say("")
	p.field("Number", w.Digits)
	p.say("The program must show you the same number. A different number means it spoke to another vault.")
	p.say("Waiting since: %s", p.when(s.Since))
	if s.Until != 0 {
		p.say("Ends, undecided, at: %s", p.when(s.Until))
	}
	if s.Merged > 1 {
		p.say("Asked %d times.", s.Merged)
	}
	p.field("Request", s.ID)
	p.say("")
	p.say("Proven, by the kernel:")
	if w.Peer.UserID < 0 {
		p.say("User id: this system cannot tell")
	} else {
		p.say("User id: %d", w.Peer.UserID)
	}
	p.say("")
	p.say("Observed. True when looked at. A program can be replaced afterwards:")
	if w.Peer.ProcessID != 0 {
		p.say("Process: %d", w.Peer.ProcessID)
	}
	p.field("Executable", w.Peer.Executable)
	for i, a := range w.Peer.Command {
		p.field(fmt.Sprintf("Command, word %d", i+1), a)
	}
	for i, a := range w.Peer.Parents {
		p.field(fmt.Sprintf("Started by, %d up", i+1), a)
	}
	p.say("")
	p.say("Claimed. Its own words. Nothing here was checked:")
	p.field("Name", w.Claimed)
	p.say("")
	p.say("Any program of this account could copy the secret it is given.")
}

func (p *page) action(s approvals.Sheet) {
	a := s.Action
	resource := ""
	if len(a.Resources) > 0 {
		resource = a.Resources[0]
	}
	p.say("Sign one %s, on %s?", p.clean(a.Operation), p.clean(resource))
	p.say("")
	p.asked(s)
	p.say("")
	p.field("Domain", a.Domain.ID)
	p.field("Domain namespace", a.Domain.Namespace)
	p.field("Domain kind", a.Domain.Kind)
	p.field("Domain address", a.Domain.Address)
	p.field("Domain fingerprint", a.Domain.Fingerprint)
	p.field("Domain hash", a.Domain.Hash)
	p.field("Signs as", a.Address)
	p.field("Agent id", a.AgentID)
	p.field("Operation", a.Operation)
	for i, r := range a.Resources {
		p.field(fmt.Sprintf("Resource %d of %d", i+1, len(a.Resources)), r)
	}
	p.say("Action index: %d", a.ActionIndex)
	if a.NotBefore != nil {
		p.say("Not before: %s", p.when(*a.NotBefore))
	} else {
		p.say("Not before: no beginning")
	}
	if a.NotAfter != nil {
		p.say("Not after: %s", p.when(*a.NotAfter))
	} else {
		p.say("Not after: no end")
	}
	if words, known := decayWords[a.DecayMode]; known {
		p.say("Ends by: %s (%s)", words, a.DecayMode)
	} else {
		p.field("Ends by", a.DecayMode)
	}
	if a.MaxUses != nil {
		p.say("Uses: %d of %d are used", a.Used, *a.MaxUses)
	} else {
		p.say("Uses: %d so far, no limit", a.Used)
	}
	p.field("Envelope hash", a.EnvelopeHash)
	for _, w := range a.Warnings {
		if text, known := warnings[w]; known {
			p.say("Note: %s", text)
		} else {
			p.field("Note", w)
		}
	}
	for _, c := range a.Contradictions {
		p.say("Contradiction in %s: the text says %s, the envelope says %s. It can be signed once; it cannot be granted.",
			p.clean(c.Member), p.clean(c.Payload), p.clean(c.Envelope))
	}
	p.say("")
	p.say("What will be signed, as the agent sent it; every byte is shown:")
	if a.PayloadType != "" {
		p.field("Type", a.PayloadType)
	}
	payload := plain.Check(plain.Spread(a.PayloadText))
	p.count(payload.Report)
	p.lines(payload)
	p.say("End of what will be signed.")
	p.field("Digest that is signed", a.PayloadDigest)
}

// warnings are the vault's words for the codes of a sheet.
var warnings = map[string]string{
	"no_end":    "This envelope has no end.",
	"unlimited": "This envelope does not limit its uses.",
	"repeat":    "You have signed these very bytes before.",
}

// decayWords are the vault's words for the decay modes.
var decayWords = map[string]string{
	"NONE": "nothing", "TIME": "its time", "ACTION": "its uses", "BOTH": "its time or its uses, whichever is first",
}

// answers are the keys of a sheet, in the order in which they are listed.
func answers(s approvals.Sheet, p *page) []answer {
	agent := p.clean(s.Agent)
	switch {
	case s.Pairing != nil:
		return []answer{
			{"a", approvals.VerdictApprove, "The number is the same: pair, under a name that you type next."},
			{"d", approvals.VerdictDecline, "Decline: It is told no. It may ask again later."},
			{"b", approvals.VerdictDeclineBlock, "Decline and block: It is not heard again until you lift it."},
			{"q", "", "Close: decides nothing."},
		}
	case s.Action != nil:
		a := s.Action
		once := "Approve once: Signs this one."
		if a.MaxUses != nil {
			once = fmt.Sprintf("Approve once: Signs this one. %d uses stay.", max(0, *a.MaxUses-a.Used-1))
		}
		list := []answer{{"a", approvals.VerdictApprove, once}}
		if a.Grantable {
			list = append(list, answer{"g", approvals.VerdictGrant, fmt.Sprintf(
				"Approve, and let %s sign %d more of these without asking, until %s. Each has its own text, which you will not see first. You can end this at any time.",
				agent, a.GrantUses, p.when(a.GrantUntil))})
		}
		return append(list,
			answer{"d", approvals.VerdictDecline, "Decline: Signs nothing. " + agent + " is told."},
			answer{"b", approvals.VerdictDeclineBlock, "Decline and block: Also refuses its next requests."},
			answer{"q", "", "Close: decides nothing."})
	case s.Moment != nil && s.Moment.Sheet != nil:
		return momentAnswers(s, p)
	default:
		return []answer{{"q", "", "Close: decides nothing."}}
	}
}
