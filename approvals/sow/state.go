package sow

import (
	"vault/approvals/sow/money"
	"vault/derive/jcs"
)

// State is the state of a document (7.1).
type State string

// The states. Only Active admits work. PartiallySigned has no name in the
// specification: a document with one signature that is neither an offer nor an
// amendment; it has no force.
const (
	Template          State = "template"
	StandingProposal  State = "standing_proposal"
	PartiallySigned   State = "partially_signed"
	Agreed            State = "agreed"
	Active            State = "active"
	AmendmentProposed State = "amendment_proposed"
	Amended           State = "amended"
	Exhausted         State = "exhausted"
	Lapsed            State = "lapsed"
	Terminated        State = "terminated"
)

// AdmitsWork reports the one state in which work is admitted.
func (s State) AdmitsWork() bool { return s == Active }

// Ended reports a state in which an engagement is over. The three are the same
// at the gate (7.1).
func (s State) Ended() bool { return s == Exhausted || s == Lapsed || s == Terminated }

// Unscored reports an end that is recorded and not scored (5.5.5).
func (s State) Unscored() bool { return s == Exhausted || s == Terminated }

// Situation is what a state follows from beside the document.
type Situation struct {
	Seats Seats
	Now   int64 // milliseconds since the epoch
	// CapReached and Terminated are facts about the engagement, Superseded says
	// that a higher version is agreed.
	CapReached, Terminated, Superseded bool
	// Agreed is the highest agreed version of the same identifier, 0 for none.
	Agreed int64
}

// State derives the document's state. An offer to one party is a standing
// proposal that is Directed.
func (d *Document) State(s Situation) State {
	start, end, started, ended := d.Term()
	signed := 0
	for _, r := range []*Record{s.Seats.Provider, s.Seats.Client} {
		if r != nil {
			signed++
		}
	}
	switch {
	case s.Seats.Agreed() && s.Terminated:
		return Terminated
	case s.Seats.Agreed() && s.Superseded:
		return Amended
	case s.Seats.Agreed() && s.CapReached:
		return Exhausted
	case s.Seats.Agreed() && ended && s.Now >= end:
		return Lapsed
	case s.Seats.Agreed() && started && s.Now >= start:
		return Active
	case s.Seats.Agreed():
		return Agreed
	case signed == 1 && s.Agreed > 0 && d.Version() == s.Agreed+1:
		return AmendmentProposed
	case signed == 1 && s.Seats.Provider != nil && d.BlankSeat():
		return StandingProposal
	case signed == 0:
		return Template
	}
	return PartiallySigned
}

// BlankSeat reports that the client's seat is null, as in an offer.
func (d *Document) BlankSeat() bool {
	return d.v.Get("parties").Get("client").Kind() == jcs.Null
}

// Gate returns why a state admits no work, nil if it does (5.5.5, 5.7, 5.9).
func Gate(s State) *Finding {
	switch s {
	case Active:
		return nil
	case Agreed:
		return one("not_started", "starts_at")
	case Lapsed:
		return one("lapsed", "ends_at")
	case Exhausted:
		return one("exhausted", "price.cap")
	case Terminated:
		return one("terminated", "")
	}
	return one("not_agreed", "signatures")
}

// CapReached returns cap_reached where nothing more fits under the cap (5.5.5).
func CapReached(p money.Price, billed int64, basis *money.Basis) *Finding {
	if p.Arrangement == money.TimeAndMaterials && money.Fit(p.Cap-billed, basis) == 0 {
		return one("cap_reached", "price.cap.amount")
	}
	return nil
}

// TaskFinal reports that a task in the state has ended, and TaskFailed that it
// counts as failed: exhausted has ended and has not failed (5.5.5).
func TaskFinal(state string) bool {
	switch state {
	case "completed", "failed", "canceled", "rejected", "exhausted":
		return true
	}
	return false
}

// TaskFailed reports the state failed alone.
func TaskFailed(state string) bool { return state == "failed" }
