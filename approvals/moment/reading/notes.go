package reading

import (
	"slices"
	"strings"
	"unicode"

	"vault/approvals/moment"
	"vault/approvals/plain"
)

// NoteCode names a remark on an envelope.
type NoteCode string

// The remarks. None of them refuses anything: what needs judgement is left to the
// person (sections 5.1 to 5.9). Wording is judged in English only.
const (
	HedgedSynopsis       NoteCode = "hedged_synopsis"
	LeadingStem          NoteCode = "leading_stem"
	NotAnAction          NoteCode = "not_an_action"
	FindingRepeats       NoteCode = "finding_repeats"
	FindingsCount        NoteCode = "findings_count"
	RecommendationsCount NoteCode = "recommendations_count"
	BlankSlot            NoteCode = "blank_slot"
	TwinLabels           NoteCode = "twin_labels"
	TwinDigests          NoteCode = "twin_digests"
	OwnLabel             NoteCode = "own_label"
	Calibrated           NoteCode = "calibration_note"
	FreeTextOff          NoteCode = "free_text_off"
	DialogueOff          NoteCode = "dialogue_off"
	HiddenCharacters     NoteCode = "hidden_characters"
	MixedAlphabets       NoteCode = "mixed_alphabets"
)

// Slot names a part of the sheet.
type Slot string

// The slots, in the order in which a sheet is read.
const (
	SlotCalibration     Slot = "calibration_note"
	SlotSynopsis        Slot = "synopsis"
	SlotFindings        Slot = "findings"
	SlotRecommendations Slot = "recommendations"
	SlotOffer           Slot = "offer"
	SlotStem            Slot = "stem"
	SlotOptions         Slot = "options"
	SlotHatches         Slot = "hatches"
	SlotDecline         Slot = "decline"
	SlotClass           Slot = "decision_class"
	SlotFingerprint     Slot = "fingerprint"
)

// Note is a quiet remark beside one slot.
type Note struct {
	Code  NoteCode
	Slot  Slot
	Index int    // of the finding, recommendation or option; -1 for the slot as a whole
	Text  string // a sentence of ours
}

// Notes returns the remarks on the envelope, in the order of the slots.
func Notes(e *moment.Envelope) []Note {
	var n notes
	c := e.Content()
	if c.HasNote {
		n.text(SlotCalibration, -1, c.CalibrationNote)
		n.add(Calibrated, SlotCalibration, -1, "The agent corrects what it said earlier in this session.")
	}
	n.text(SlotSynopsis, -1, c.Synopsis)
	if hedges(c.Synopsis) {
		n.add(HedgedSynopsis, SlotSynopsis, -1, "This may be a hedge: the agent should say what it would do.")
	}
	for i, f := range c.Findings {
		n.text(SlotFindings, i, f)
		if !moment.Blank(f) && fold(f) == fold(c.Synopsis) {
			n.add(FindingRepeats, SlotFindings, i, "This finding only repeats the synopsis.")
		}
	}
	switch k := len(c.Findings); {
	case k == 0:
		n.add(FindingsCount, SlotFindings, -1, "The agent gave no findings.")
	case k < 3 || k > 6:
		n.add(FindingsCount, SlotFindings, -1, "Three to six findings are usual.")
	}
	for i, r := range c.Recommendations {
		n.text(SlotRecommendations, i, r)
		if considers(r) {
			n.add(NotAnAction, SlotRecommendations, i, "This may be a consideration and not something to do.")
		}
	}
	switch k := len(c.Recommendations); {
	case k == 0:
		n.add(RecommendationsCount, SlotRecommendations, -1, "The agent gave no recommendations.")
	case k < 2 || k > 4:
		n.add(RecommendationsCount, SlotRecommendations, -1, "Two to four recommendations are usual.")
	}
	n.text(SlotOffer, -1, c.Offer)
	n.text(SlotStem, -1, c.Stem)
	if leads(&c) {
		n.add(LeadingStem, SlotStem, -1, "The question may lean towards one answer.")
	}
	for i, o := range c.Options {
		n.text(SlotOptions, i, o.Label)
		n.text(SlotOptions, i, o.Reasoning)
		label, digest := false, false
		for j, other := range c.Options {
			label = label || i != j && fold(o.Label) == fold(other.Label)
			digest = digest || i != j && o.ActionDigest == other.ActionDigest
		}
		if label {
			n.add(TwinLabels, SlotOptions, i, "Another option has the same label.")
		}
		if slices.Contains(ours, fold(o.Label)) {
			n.add(OwnLabel, SlotOptions, i, "This is the agent's option, and not the vault's own of that name.")
		}
		if digest {
			n.add(TwinDigests, SlotOptions, i, "Another option authorises the same action.")
		}
	}
	if !c.FreeText {
		n.add(FreeTextOff, SlotHatches, -1, "The agent turned off: answer in my own words.")
	}
	if !c.Dialogue {
		n.add(DialogueOff, SlotHatches, -1, "The agent turned off: this is the wrong question.")
	}
	if c.HasClass {
		n.text(SlotClass, -1, c.DecisionClass)
	}
	return n
}

// ours are the names, folded, of what the vault itself puts beside the options.
var ours = []string{"decline", "answer in my own words", "this is the wrong question"}

type notes []Note

func (n *notes) add(code NoteCode, slot Slot, index int, text string) {
	*n = append(*n, Note{code, slot, index, text})
}

// text remarks on what a text hides.
func (n *notes) text(slot Slot, index int, s string) {
	r := plain.Check(s).Report
	if moment.Blank(s) {
		n.add(BlankSlot, slot, index, "Nothing is said here.")
	}
	if r.Hidden > 0 || r.Stacked > 0 || r.Imitated > 0 {
		n.add(HiddenCharacters, slot, index, "This text holds characters that are hidden or change how it looks; they are written out.")
	}
	if r.Mixed > 0 {
		n.add(MixedAlphabets, slot, index, "A word here mixes letters of different alphabets that look alike.")
	}
}

// words cuts a text into its lower-cased words.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool {
		return r != '\'' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
	})
}

// fold makes texts equal that differ in case, spacing and punctuation only.
func fold(s string) string {
	if w := words(s); len(w) > 0 {
		return strings.Join(w, " ")
	}
	return strings.TrimSpace(s)
}

// has reports one of the phrases, whole words only.
func has(s string, phrases []string) bool {
	in := " " + fold(s) + " "
	for _, p := range phrases {
		if strings.Contains(in, " "+p+" ") {
			return true
		}
	}
	return false
}

// begins reports that a text begins with one of the phrases.
func begins(s string, phrases []string) bool {
	in := fold(s) + " "
	for _, p := range phrases {
		if strings.HasPrefix(in, p+" ") {
			return true
		}
	}
	return false
}

func asks(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

func hedges(s string) bool { return asks(s) || has(s, hedging) }

func considers(s string) bool { return asks(s) || begins(s, considering) }

// leads reports a stem that argues, or that names one option and no other.
func leads(c *moment.Content) bool {
	if has(c.Stem, leading) {
		return true
	}
	stem := " " + fold(c.Stem) + " "
	named := 0
	for _, o := range c.Options {
		if l := fold(o.Label); strings.Contains(l, " ") && strings.Contains(stem, " "+l+" ") {
			named++
		}
	}
	return named == 1
}

var (
	hedging = []string{
		"it depends", "that depends", "depends on", "either could", "either would", "either way", "could go either way",
		"not sure", "unsure", "uncertain", "unclear", "hard to say", "difficult to say", "cannot say", "can't say", "can't decide",
		"cannot decide", "maybe", "perhaps", "possibly", "might", "may want to", "may wish to", "could consider", "up to you", "your call",
		"you decide", "let me know what you think", "what do you think", "on the one hand", "on the other hand", "no strong preference",
		"no strong opinion", "there are pros and cons", "trade offs to weigh", "whichever you prefer", "as you prefer", "as you like",
	}
	considering = []string{
		"weigh", "consider", "think about", "think over", "reflect", "ponder", "keep in mind", "bear in mind", "be aware", "be mindful",
		"note that", "remember", "evaluate whether", "assess whether", "take into account", "there is", "there are", "it is", "it may", "it might",
		"you may", "you might", "you could", "maybe", "perhaps",
	}
	leading = []string{
		"recommend", "recommended", "recommends", "recommendation", "i suggest", "as suggested", "i propose", "obviously", "clearly", "surely",
		"of course", "naturally", "simply", "don't you", "shouldn't we", "shouldn't you", "wouldn't it", "wouldn't you", "isn't it", "aren't you",
		"do you agree", "agree that", "right", "best option", "better option", "safest option", "sensible", "why not", "just go ahead", "go ahead with",
		"save time", "as you know", "as usual",
	}
)
