package opened

import (
	"strings"

	"vault/approvals/agreement"
	"vault/approvals/plain"
	"vault/approvals/sow"
)

// Waiting says what waits for the owner.
var Waiting = map[agreement.Waiting]string{
	agreement.WaitCountersign: "Your signature is asked for",
	agreement.WaitComplete:    "Somebody asks to form it",
	agreement.WaitApprove:     "A change is proposed to you",
	agreement.WaitConflict:    "Two documents claim one version",
	agreement.WaitHandle:      "A handle names another key",
	agreement.WaitProblem:     "A problem is reported",
	agreement.WaitUnanswered:  "A reported problem has stayed open",
	agreement.WaitUrgent:      "A reported problem is open, and its task is nearly due",
	agreement.WaitDispute:     "A settlement does not add up",
	agreement.WaitIntent:      "The agent’s part is missing",
}

// Records name what was brought in.
var Records = map[agreement.RecordKind]string{
	agreement.RecordSoW: "A document", agreement.RecordConfirmation: "A person’s confirmation", agreement.RecordIntent: "An agent’s part", agreement.RecordDenial: "A denial",
	agreement.RecordWithdrawal: "A withdrawal", agreement.RecordTermination: "A termination", agreement.RecordRefusal: "A refusal to form", agreement.RecordDispute: "A dispute",
	agreement.RecordReview: "A review", agreement.RecordProbe: "A probe", agreement.RecordQuote: "A quote", agreement.RecordSettlement: "A settlement record",
	agreement.RecordJobManifest: "A job manifest", agreement.RecordProblem: "A problem report", agreement.RecordProbeRecord: "A probe record", agreement.RecordVerdict: "A verdict",
	agreement.RecordAppointment: "An arbiter’s appointment", agreement.RecordManifest: "A manifest", agreement.RecordCard: "An owner card", agreement.RecordBundle: "A bundle",
}

// movedWords say what happened at a point of the timeline.
var movedWords = map[string]string{
	"imported": "It was brought in", "drafted": "It was drafted", "signed": "Signed", "countersigned": "Countersigned", "agreed": "Agreed: both signatures are there",
	"active": "In force", "proposed": "A change was proposed", "denied": "The change was denied", "withdrawn": "It was withdrawn", "lapsed": "Its time passed",
	"approved": "The change was approved", "terminated": "Its end was declared", "disputed": "An amount was disputed", "reviewed": "It was reviewed", "refused": "It was refused",
	"completed": "The agreement was completed", "brought": "Something was brought in", "conflict": "Another document claims the same version", "exhausted": "The cap was reached",
	"countered": "The change was denied; one of your own will follow", "probed": "A trial was recorded", "preauthorised": "An agent was allowed to accept it", "intent": "The agent gave its part",
	"problem resolved": "A problem was resolved", "problem escalated": "A problem was escalated", "problem escalated_twice": "A problem was escalated once more",
	"notice_ends": "The notice ended", "handle_confirmed": "A handle’s new key was confirmed", "grant closed": "Access was closed by hand", "grant open": "Access is said to be open again",
	"ends": "It ends", "starts": "It comes into force", "published": "It was published", "settled": "One of several documents was said to count",
}

// aheadWords say what will happen.
var aheadWords = map[string]string{
	"lapsed": "The proposed change lapses unanswered", "active": "It comes into force", "notice_ends": "The notice ends, and with it the engagement", "exhausted": "The cap is reached",
}

// MovedWords says what happened at a point of the timeline, or will.
func MovedWords(m agreement.Moved) string {
	if m.What == "lapsed" && m.State == sow.Lapsed { // the term, not a change that nobody answered
		if m.Due {
			return "It ends and does not renew by itself"
		}
		return "It ended: the term is over"
	}
	if w, ok := aheadWords[m.What]; ok && m.Due {
		return w
	}
	if w, ok := movedWords[m.What]; ok {
		return w
	}
	if kind, ok := strings.CutPrefix(m.What, "brought "); ok && Records[agreement.RecordKind(kind)] != "" {
		return Records[agreement.RecordKind(kind)] + " was brought in"
	}
	return strings.ReplaceAll(plain.TerminalLine(m.What), "_", " ")
}

// ReminderWords says what becomes due.
func ReminderWords(r agreement.Reminder) string {
	switch r.Kind {
	case agreement.RemindEnds:
		return "It ends and does not renew by itself"
	case agreement.RemindStarts:
		return "It comes into force"
	case agreement.RemindReview:
		return "The proposed change lapses unanswered"
	case agreement.RemindInterim:
		return "Something is owed on a schedule"
	case agreement.RemindDeemed:
		if r.Last {
			return "Last reminder: from then on silence is acceptance"
		}
		return "Silence will mean acceptance"
	case agreement.RemindReservation:
		return "What is held in advance comes back; no work runs without a new reservation"
	case agreement.RemindRevision:
		return "Included revisions can be asked for until then"
	case agreement.RemindOffer:
		return "The offer ends"
	case agreement.RemindNotice:
		return "The notice has passed; the engagement is over"
	case agreement.RemindClose:
		return "Access that stays open is to be closed by hand"
	case agreement.RemindProblem:
		if r.Last {
			return "A reported problem is not resolved, and its task is nearly due"
		}
		return "A reported problem is not resolved"
	case agreement.RemindDeadline:
		return "A problem not resolved by then makes its task a failed obligation"
	case agreement.RemindVerdict:
		return "A verdict after this is void"
	}
	return "Something becomes due"
}

// DisputeWords says what does not add up.
func DisputeWords(code string) string {
	switch code {
	case "operator_fee_missing":
		return "The quote had an operator’s fee, the record has none."
	case "operator_fee_undisclosed":
		return "The record takes an operator’s fee the quote did not have."
	case "operator_fee_arithmetic":
		return "The operator’s fee is not what its own basis makes."
	case "total_unaccounted":
		return "The total is not what its lines add up to."
	}
	return "It does not add up."
}

// StateWords says where a document stands.
func StateWords(r agreement.Row) string {
	switch {
	case r.Withdrawn:
		return "Offer, withdrawn"
	case r.Spent:
		return "Offer, spent"
	}
	switch r.State {
	case sow.Template:
		return "Draft"
	case sow.StandingProposal:
		return "Offer"
	case sow.PartiallySigned:
		return "Signed by one side"
	case sow.Agreed:
		return "Agreed, not yet in force"
	case sow.Active:
		return "In force"
	case sow.AmendmentProposed:
		return "A change is proposed"
	case sow.Amended:
		return "Replaced"
	case sow.Exhausted:
		return "Ended: cap reached"
	case sow.Lapsed:
		return "Ended: term over"
	case sow.Terminated:
		return "Ended by an owner"
	}
	return "Not known"
}

// OutcomeWords says what became of a version that is not open any more.
func OutcomeWords(v agreement.VersionView) string {
	switch v.Outcome {
	case "approved":
		return "It was approved."
	case "denied":
		return "It was denied. The version before goes on."
	case "withdrawn":
		return "It was withdrawn. The version before goes on."
	case "lapsed":
		return "Nobody answered it in time. The version before goes on."
	case "superseded":
		return "A later version replaced it."
	case "settled_against":
		return "Another document of this version counts."
	}
	return ""
}
