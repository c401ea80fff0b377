package agreement

import (
	"slices"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/sow"
)

// Moves beside those that sign a document (journal.Move…).
const (
	MoveForm         = "form" // fills the open seat of somebody's offer, and signs nothing
	MovePin          = "pin"
	MoveDeny         = "deny"
	MoveWithdraw     = "withdraw"
	MoveCounter      = "counter"
	MoveTerminate    = "terminate"
	MoveDispute      = "dispute"
	MoveReview       = "review"
	MoveProbe        = "probe"
	MoveRefuse       = "refuse"
	MovePreauthorise = "preauthorise"
	MoveSettle       = "settle" // says that a document counts for its version, and signs nothing
)

// choices lists what the owner may do now, with the first thing that bars it.
func (h *Held) choices() {
	add := func(what string, x *Document, by sow.Authority, code, detail string) {
		h.View.Moves = append(h.View.Moves, Move{What: what, Digest: x.View.Digest, Blocked: code, Detail: detail, By: by})
	}
	over := h.ended > 0 && h.Now >= h.ended
	for _, x := range h.Docs {
		v := x.View
		if h.Settles(x) {
			add(MoveSettle, x, sow.ByAgent, "", "")
		}
		switch {
		case x.Doc.BlankSeat() && x.Signed:
			if x.Closed == "" {
				add(MoveWithdraw, x, sow.ByAgent, "", "")
			}
		case x.Doc.BlankSeat() && v.Seats.Provider == nil:
			if h.Role == sow.Provider {
				code, detail := h.Barred(x, journal.MovePublish)
				add(journal.MovePublish, x, v.Needed, code, detail)
			}
		case x.Doc.BlankSeat():
			provider, _ := x.Doc.Party(sow.Provider)
			if h.Log.Pins[provider.Agent].Key == "" {
				add(MovePin, x, sow.ByAgent, "", "")
			}
			code, detail := h.Barred(x, MoveForm)
			need := sow.Needed(x.Doc, nil, h.Log.Floor)
			add(MoveForm, x, need, code, detail)
			if need == sow.ByAgent && x.Doc.Bounded() {
				add(MovePreauthorise, x, sow.ByPerson, code, detail)
			}
		case x.Signed && v.Version == 1 && !v.Seats.Agreed(), x.Signed && v.State == sow.AmendmentProposed:
			if x.Closed == "" && v.Outcome == "" {
				add(MoveWithdraw, x, sow.ByAgent, "", "")
			}
		case x.Signed || x.Closed != "" || over:
		case v.Version == 1:
			h.formations(x, add)
		case h.InForce != nil && v.Version > h.InForce.View.Version && h.Role != "":
			move := journal.MovePropose
			if x.Theirs {
				move = journal.MoveApprove
			}
			code, detail := h.Barred(x, move)
			add(move, x, v.Needed, code, detail)
			if x.Theirs && v.Outcome == "" {
				add(MoveDeny, x, sow.ByAgent, "", "")
				add(MoveCounter, x, sow.ByAgent, "", "")
			}
		}
	}
	if h.InForce == nil || h.Role == "" || !h.Fixed {
		return
	}
	terminate, dispute := "", ""
	if h.Log.Over || over { // while a notice runs, a cause still ends it at once
		terminate = string(sow.Terminated)
	}
	if h.Log.Passkeys == 0 {
		terminate, dispute = keys.CodeNoPasskey, keys.CodeNoPasskey
	}
	if price, findings := h.InForce.Doc.Price(); dispute == "" && (!findings.OK() || !price.Settles()) {
		dispute = "no_charge_settlement"
	}
	add(MoveTerminate, h.InForce, sow.ByPerson, terminate, "")
	add(MoveDispute, h.InForce, sow.ByPerson, dispute, "")
	add(MoveReview, h.InForce, sow.ByAgent, "", "")
	add(MoveProbe, h.InForce, sow.ByAgent, "", "")
}

// Settles says whether the owner may say that a document counts for its version: others claim it, and none of them was signed by us or
// by both.
func (h *Held) Settles(x *Document) bool {
	return x.View.Conflict && !slices.ContainsFunc(h.Docs, func(y *Document) bool {
		return y != x && y.View.Version == x.View.Version && (y.View.Seats.Agreed() || y.Signed)
	})
}

// formations are the moves on a version 1 with both seats filled that we have not signed.
func (h *Held) formations(x *Document, add func(string, *Document, sow.Authority, string, string)) {
	v := x.View
	party, _ := x.Doc.Party(sow.Other(h.Role))
	if h.Role != "" && h.Log.Pins[party.Agent].Key == "" && h.Pins.Of(sow.Other(h.Role)) == "" || h.Role == "" && h.Pins == (sow.Pins{}) {
		add(MovePin, x, sow.ByAgent, "", "")
	}
	if _, request := h.Fact(FactLockedAsk, v.Digest); request {
		code, detail := h.Barred(x, journal.MoveComplete)
		add(journal.MoveComplete, x, sow.ByPerson, code, detail)
		add(MoveRefuse, x, sow.ByAgent, "", "")
		return
	}
	move := journal.MoveCountersign
	if !x.Theirs && len(v.Seats.Ignored) == 0 && v.Seats.Provider == nil && v.Seats.Client == nil && x.Doc.Get("derived_from").Text() == "" {
		if _, _, formed := h.Formed(); !formed {
			move = journal.MovePropose
		}
	}
	code, detail := h.Barred(x, move)
	add(move, x, v.Needed, code, detail)
}

// Barred says what keeps a version from being signed: the first code, and a sentence where there is one.
func (h *Held) Barred(x *Document, move string) (code, detail string) {
	v := x.View
	switch {
	case v.Conflict:
		return journal.CodeVersionConflict, ""
	case !x.Doc.Readable():
		return CodePageTooLong, ""
	case x.Closed != "":
		return CodeNotOpen, ""
	case v.Outcome == "lapsed":
		return "amendment_lapsed", ""
	case v.Findings.Refused("handle_rehomed"):
		return "handle_rehomed", ""
	case h.ended > 0 && h.Now >= h.ended:
		return string(sow.Terminated), ""
	}
	// What others put on our own seat does not count, and does not keep us from it; nor does what somebody added on the other one, where its
	// key is known and the document came without that, too.
	beside := func(f sow.Finding) bool {
		return h.Role != "" && slices.ContainsFunc(v.Seats.Ignored, func(r sow.Record) bool {
			return r.Member == f.Member && (r.Role == h.Role || r.Role == sow.Other(h.Role) && x.bare[r.Role] && h.Pins.Of(r.Role) != "")
		})
	}
	for _, f := range v.Findings.Errors() {
		if beside(f) {
			continue
		}
		// Who has signed is the business of the seats below; an offer to one party may be kept by another.
		if !slices.Contains([]sow.Code{"not_agreed", "one_signature"}, f.Code) && (move != journal.MovePropose || f.Code != "amendment_already_open") {
			return string(f.Code), f.Message
		}
	}
	if move == journal.MovePropose && v.Findings.Refused("amendment_already_open") {
		return "amendment_already_open", ""
	}
	if move != journal.MovePublish && move != journal.MoveComplete {
		role := sow.Other(h.Role)
		if move == MoveForm {
			role = sow.Provider
		}
		if h.Pins.Of(role) == "" && (h.Role != "" || move == MoveForm || h.Pins.Of(sow.Other(role)) == "") {
			return CodeNotPinned, "" // where no seat is known to be ours, the owner says with the signature which is
		}
		if move == MoveForm && v.Seats.Provider == nil {
			return "signer_not_owner", ""
		}
	}
	if move == MoveForm {
		return "", ""
	}
	need := v.Needed
	if move == journal.MoveComplete { // what the document asks of the client is not asked of us
		need = facts.Authority(move, x.Doc, nil, h.Log.Floor)
	}
	if need == sow.ByAgentThenPerson && len(v.Given) == 0 && h.Role != "" { // else the owner first says which agent's part it is
		return CodeIntentMissing, ""
	}
	if h.Log.Passkeys == 0 {
		return keys.CodeNoPasskey, ""
	}
	return "", ""
}

// Move finds what may be done with a version, by the name of the move and the digest.
func (h *Held) Move(what, digest string) (Move, bool) {
	i := slices.IndexFunc(h.View.Moves, func(m Move) bool { return m.What == what && m.Digest == digest })
	if i < 0 {
		return Move{}, false
	}
	return h.View.Moves[i], true
}
