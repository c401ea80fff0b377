// Package reading says how a binding moment is read: which lines a sheet has, in
// which order and words, and which quiet remarks stand beside them. Window,
// terminal and file share it.
//
// It draws nothing, refuses nothing and holds no rule of the memo but those on what
// must be shown (sections 9.1, 12.2, 12.3). Every text of an envelope is passed on
// as checked text of approvals/plain.
package reading

import (
	"fmt"
	"strings"
	"unicode"

	"vault/approvals/moment"
	"vault/approvals/plain"
)

// Role says what a line of the sheet is, so that every surface draws the same
// lines in the same order with its own means.
type Role string

// The roles.
const (
	RoleHeading       Role = "heading" // of a slot, ours
	RoleText          Role = "text"    // of the slot
	RoleLabel         Role = "label"   // of an option
	RoleRecommended   Role = "recommended"
	RoleReasoning     Role = "reasoning"
	RoleBlocked       Role = "blocked"
	RoleDigest        Role = "digest"
	RoleAction        Role = "action" // what is known of the action, ours
	RoleField         Role = "field"  // of the action
	RoleSignWith      Role = "sign_with"
	RoleSignField     Role = "sign_field"
	RoleContradiction Role = "contradiction"
	RoleNote          Role = "note"
	RoleHatch         Role = "hatch"     // can be used
	RoleHatchOff      Role = "hatch_off" // turned off by the agent
	RoleDecline       Role = "decline"
)

// Line is one line of the sheet.
type Line struct {
	Slot  Slot
	Role  Role
	Index int        // of the finding, recommendation or option, or -1
	Label string     // ours; may be empty
	Text  plain.Text // from outside, checked; no lines if there is none
}

// Lines returns the whole sheet in the order in which it is read: calibration
// note, synopsis, findings, recommendations, offer, stem, options, hatches,
// decline, class, fingerprint. Addresses names, by option, the address that would
// sign under sign_with; the vault computes it, and nil leaves it out.
func Lines(s *moment.Sheet, addresses map[int]string) []Line {
	w := writer{remarks: Notes(s.Envelope)}
	c := s.Envelope.Content()
	if c.HasNote {
		w.slot(SlotCalibration, "The agent corrects itself", c.CalibrationNote)
	}
	w.slot(SlotSynopsis, "Synopsis", c.Synopsis)
	w.list(SlotFindings, "Findings", c.Findings)
	w.list(SlotRecommendations, "Recommendations", c.Recommendations)
	w.slot(SlotOffer, "Offer", c.Offer)
	w.slot(SlotStem, "Question", c.Stem)
	w.ours(SlotOptions, RoleHeading, -1, "Options")
	for i := range s.Rows {
		w.row(&s.Rows[i], addresses[i])
	}
	w.notes(SlotOptions, -1)
	w.ours(SlotHatches, RoleHeading, -1, "Other answers")
	w.hatch(c.FreeText, "Answer in my own words", "The agent turned off: answer in my own words.")
	w.hatch(c.Dialogue, "This is the wrong question", "The agent turned off: this is the wrong question.")
	if !c.FreeText && !c.Dialogue {
		w.ours(SlotHatches, RoleNote, -1, "You can only choose or decline.")
	}
	w.ours(SlotDecline, RoleDecline, -1, "Decline")
	if c.HasClass {
		w.slot(SlotClass, "Class named by the agent", c.DecisionClass)
	}
	w.ours(SlotFingerprint, RoleHeading, -1, "Fingerprint")
	w.outside(SlotFingerprint, RoleDigest, -1, "Envelope", s.Envelope.Digest())
	return w.lines
}

type writer struct {
	remarks []Note
	lines   []Line
}

func (w *writer) ours(slot Slot, role Role, index int, label string) {
	w.lines = append(w.lines, Line{Slot: slot, Role: role, Index: index, Label: label})
}

func (w *writer) outside(slot Slot, role Role, index int, label, s string) {
	w.lines = append(w.lines, Line{slot, role, index, label, plain.Check(s)})
}

// notes adds the remarks on a slot, or on one item of it. The hatches say
// themselves that they are off.
func (w *writer) notes(slot Slot, index int) {
	for _, n := range w.remarks {
		if n.Slot == slot && n.Index == index {
			w.ours(slot, RoleNote, index, n.Text)
		}
	}
}

func (w *writer) slot(slot Slot, heading, s string) {
	w.ours(slot, RoleHeading, -1, heading)
	w.outside(slot, RoleText, -1, "", s)
	w.notes(slot, -1)
}

func (w *writer) list(slot Slot, heading string, items []string) {
	w.ours(slot, RoleHeading, -1, heading)
	for i, s := range items {
		w.outside(slot, RoleText, i, fmt.Sprintf("%d.", i+1), s)
		w.notes(slot, i)
	}
	w.notes(slot, -1)
}

func (w *writer) hatch(on bool, name, off string) {
	if on {
		w.ours(SlotHatches, RoleHatch, -1, name)
	} else {
		w.ours(SlotHatches, RoleHatchOff, -1, off)
	}
}

func (w *writer) row(row *moment.Row, address string) {
	i := row.Index
	outside := func(role Role, label, s string) { w.outside(SlotOptions, role, i, label, s) }
	ours := func(role Role, label string) { w.ours(SlotOptions, role, i, label) }
	outside(RoleLabel, fmt.Sprintf("%d.", i+1), row.Label)
	if row.Recommended {
		ours(RoleRecommended, "Agent recommends")
	}
	outside(RoleReasoning, "Why", row.Reasoning)
	w.notes(SlotOptions, i)
	outside(RoleDigest, "Authorises", row.ActionDigest)
	switch {
	case row.Action == nil:
		ours(RoleAction, "The vault has not seen this action.")
	case row.Blocked == moment.ActionMismatch:
		ours(RoleBlocked, "Blocked: the action presented is another one than this option names.")
		outside(RoleDigest, "Presented", row.Action.Digest)
	default:
		ours(RoleAction, heading(row.Action.Kind))
	}
	if row.Action != nil {
		for _, f := range row.Action.Fields {
			outside(RoleField, f.Label, fieldLine(f))
		}
	}
	if row.SignWith == nil {
		return
	}
	ours(RoleSignWith, "Choosing this lets the agent have this action signed once, under this envelope")
	if row.Blocked == moment.ActionNotSignable {
		ours(RoleBlocked, "Blocked: this action cannot be signed as an action under this envelope.")
	}
	for _, c := range row.Contradictions {
		ours(RoleContradiction, "The action and the envelope disagree")
		outside(RoleContradiction, "The action says", c.Member+" = "+c.Payload)
		outside(RoleContradiction, "The envelope says", c.Member+" = "+c.Envelope)
	}
	if address != "" {
		outside(RoleSignField, "Signs as", address)
	}
	for _, f := range row.SignFields {
		outside(RoleSignField, f.Label, fieldLine(f))
	}
	for _, text := range row.SignWith.Warnings() {
		ours(RoleNote, text)
	}
}

func heading(k moment.Kind) string {
	switch k {
	case moment.KindPayload:
		return "The action, as a capability would sign it"
	case moment.KindEnvelope:
		return "The action is a permission (an action envelope)"
	}
	return "The action, every field"
}

// fieldLine writes a field with its path, unless a label of ours stands for it.
func fieldLine(f moment.Field) string {
	switch {
	case f.Label != "":
		return f.Value
	case f.Path == "":
		return f.Value
	}
	return f.Path + " = " + f.Value
}

// Text writes lines as plain text: no control characters, and every line of
// outside text behind a bar of its own, so that it cannot pass for one of ours.
// Lines longer than width characters are broken; 0 leaves them whole.
func Text(lines []Line, width int) string {
	var b strings.Builder
	for _, l := range lines {
		indent := "  "
		switch {
		case l.Role == RoleHeading || l.Role == RoleDecline:
			indent = ""
		case l.Slot == SlotOptions && l.Index >= 0 && l.Role != RoleLabel:
			indent = "     "
		}
		if len(l.Text.Lines) == 0 && l.Text.Report.Lines == 0 {
			for _, part := range wrap(mark(l), width-len(indent)) {
				b.WriteString(indent + part + "\n")
			}
			continue
		}
		first := indent
		if l.Label != "" {
			first += l.Label + " "
		}
		for _, source := range strings.Split(l.Text.String(), "\n") {
			for _, part := range wrap(source, width-len(first)-2) {
				b.WriteString(first + "│ " + part + "\n")
				first = strings.Repeat(" ", len(first))
			}
		}
	}
	return b.String()
}

// mark writes one of our own lines with the sign of its role.
func mark(l Line) string {
	switch l.Role {
	case RoleHatch, RoleDecline:
		return "[ ] " + l.Label
	case RoleHatchOff:
		return "[-] " + l.Label
	case RoleRecommended:
		return "* " + l.Label
	case RoleBlocked, RoleContradiction:
		return "! " + l.Label
	case RoleNote:
		return "~ " + l.Label
	}
	return l.Label
}

// wrap breaks a line at spaces, or anywhere in a word that is too long. It counts
// letters of East Asian width twice and marks not at all.
func wrap(s string, width int) []string {
	if width < 16 {
		return []string{s}
	}
	var out []string
	start, space, used := 0, -1, 0
	for i, r := range s {
		n := cells(r)
		if used+n > width {
			end := i
			if space > start {
				end = space
			}
			out = append(out, strings.TrimRight(s[start:end], " "))
			start = end
			for start < i && s[start] == ' ' {
				start++
			}
			used, space = 0, -1
			for _, c := range s[start:i] {
				used += cells(c)
			}
		}
		if r == ' ' {
			space = i
		}
		used += n
	}
	return append(out, s[start:])
}

func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000):
		return 2
	}
	return 1
}
