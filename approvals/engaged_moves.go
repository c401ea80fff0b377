package approvals

import (
	"slices"
	"strings"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/store"
)

// Moves beside those that sign a document (journal.Move…).
const (
	moveForm         = "form" // an offer of somebody's: [SoWOwner.Complete]
	movePin          = "pin"
	moveDeny         = "deny"
	moveWithdraw     = "withdraw"
	moveCounter      = "counter"
	moveTerminate    = "terminate"
	moveDispute      = "dispute"
	moveReview       = "review"
	moveProbe        = "probe"
	moveRefuse       = "refuse"
	movePreauthorise = "preauthorise"
)

// choices lists what the owner may do now, with the first thing that bars it.
func (h *held) choices() {
	add := func(what string, x *heldDoc, by sow.Authority, code, detail string) {
		h.view.Moves = append(h.view.Moves, Move{What: what, Digest: x.view.Digest, Blocked: code, Detail: detail, By: by})
	}
	over := h.ended > 0 && h.now >= h.ended
	for _, x := range h.docs {
		v := x.view
		switch {
		case x.doc.BlankSeat() && x.signed:
			if x.closed == "" {
				add(moveWithdraw, x, sow.ByAgent, "", "")
			}
		case x.doc.BlankSeat() && v.Seats.Provider == nil:
			if h.role == sow.Provider {
				code, detail := h.barred(x, journal.MovePublish)
				add(journal.MovePublish, x, v.Needed, code, detail)
			}
		case x.doc.BlankSeat():
			provider, _ := x.doc.Party(sow.Provider)
			if h.log.pins[provider.Agent].Key == "" {
				add(movePin, x, sow.ByAgent, "", "")
			}
			code, detail := h.barred(x, moveForm)
			need := sow.Needed(x.doc, nil, h.log.floor)
			add(moveForm, x, need, code, detail)
			if price, findings := x.doc.Price(); need == sow.ByAgent && findings.OK() && price.Committed().Set {
				add(movePreauthorise, x, sow.ByPerson, code, detail)
			}
		case x.signed && v.Version == 1 && !v.Seats.Agreed(), x.signed && v.State == sow.AmendmentProposed:
			if x.closed == "" && v.Outcome == "" {
				add(moveWithdraw, x, sow.ByAgent, "", "")
			}
		case x.signed || x.closed != "" || over:
		case v.Version == 1:
			h.formations(x, add)
		case h.inForce != nil && v.Version > h.inForce.view.Version && h.role != "":
			move := journal.MovePropose
			if x.theirs {
				move = journal.MoveApprove
			}
			code, detail := h.barred(x, move)
			add(move, x, v.Needed, code, detail)
			if x.theirs && v.Outcome == "" {
				add(moveDeny, x, sow.ByAgent, "", "")
				add(moveCounter, x, sow.ByAgent, "", "")
			}
		}
	}
	if h.inForce == nil || h.role == "" || !h.fixed {
		return
	}
	terminate, dispute := "", ""
	if h.log.terminated || over {
		terminate = string(sow.Terminated)
	}
	if h.log.passkeys == 0 {
		terminate, dispute = keys.CodeNoPasskey, keys.CodeNoPasskey
	}
	if price, findings := h.inForce.doc.Price(); dispute == "" && (!findings.OK() || !price.Settles()) {
		dispute = "no_charge_settlement"
	}
	add(moveTerminate, h.inForce, sow.ByPerson, terminate, "")
	add(moveDispute, h.inForce, sow.ByPerson, dispute, "")
	add(moveReview, h.inForce, sow.ByAgent, "", "")
	add(moveProbe, h.inForce, sow.ByAgent, "", "")
}

// formations are the moves on a version 1 with both seats filled that we have not signed.
func (h *held) formations(x *heldDoc, add func(string, *heldDoc, sow.Authority, string, string)) {
	v := x.view
	party, _ := x.doc.Party(sow.Other(h.role))
	if h.role != "" && h.log.pins[party.Agent].Key == "" && h.pins.Of(sow.Other(h.role)) == "" {
		add(movePin, x, sow.ByAgent, "", "")
	}
	if _, request := h.fact(factLockedAsk, v.Digest); request {
		code, detail := h.barred(x, journal.MoveComplete)
		add(journal.MoveComplete, x, sow.ByPerson, code, detail)
		add(moveRefuse, x, sow.ByAgent, "", "")
		return
	}
	move := journal.MoveCountersign
	if !x.theirs && len(v.Seats.Ignored) == 0 && v.Seats.Provider == nil && v.Seats.Client == nil && x.doc.Get("derived_from").Text() == "" {
		if _, formed := h.fact(factFormed, "of"); !formed {
			move = journal.MovePropose
		}
	}
	code, detail := h.barred(x, move)
	add(move, x, v.Needed, code, detail)
}

// barred says what keeps a version from being signed: the first code, and a sentence where there is one.
func (h *held) barred(x *heldDoc, move string) (code, detail string) {
	v := x.view
	switch {
	case v.Conflict:
		return journal.CodeVersionConflict, ""
	case x.closed != "":
		return CodeNotOpen, ""
	case v.Outcome == "lapsed":
		return "amendment_lapsed", ""
	case v.Findings.Refused("handle_rehomed"):
		return "handle_rehomed", ""
	case h.ended > 0 && h.now >= h.ended:
		return string(sow.Terminated), ""
	}
	// What others put on our own seat does not count, and does not keep us from it.
	beside := func(f sow.Finding) bool {
		return h.role != "" && slices.ContainsFunc(v.Seats.Ignored, func(r sow.Record) bool { return r.Role == h.role && r.Member == f.Member })
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
		role := sow.Other(h.role)
		if move == moveForm {
			role = sow.Provider
		}
		if h.pins.Of(role) == "" {
			return CodeNotPinned, ""
		}
		if move == moveForm && v.Seats.Provider == nil {
			return "signer_not_owner", ""
		}
	}
	if move == moveForm {
		return "", ""
	}
	need := v.Needed
	if move == journal.MoveComplete { // what the document asks of the client is not asked of us
		need = facts.Authority(move, x.doc, nil, h.log.floor)
	}
	if need == sow.ByAgentThenPerson && len(v.Given) == 0 {
		return CodeIntentMissing, ""
	}
	if h.log.passkeys == 0 {
		return keys.CodeNoPasskey, ""
	}
	return "", ""
}

// move finds a move on a version.
func (h *held) move(what, digest string) (Move, bool) {
	i := slices.IndexFunc(h.view.Moves, func(m Move) bool { return m.What == what && m.Digest == digest })
	if i < 0 {
		return Move{}, false
	}
	return h.view.Moves[i], true
}

// listed is the row of the list that stands for an engagement.
func (h *held) listed() store.Engagement {
	r := h.view.EngagementRow
	texts := []string{r.SoW, r.ID}
	for _, p := range []sow.Seat{r.Provider, r.Client} {
		texts = append(texts, p.Agent, p.Owner, p.Handle, p.Organization)
	}
	for _, p := range h.view.Parties {
		texts = append(append(texts, p.Key), p.Claims...)
	}
	texts = append(append(texts, r.Offerings...), h.docs[0].doc.Get("disputes").Get("arbiter").Get("agent").Text())
	e := store.Engagement{
		ID: r.ID, SoW: r.SoW, Kind: string(r.Kind), Role: r.Role, State: string(r.State), Offer: h.view.Offer, Waiting: int64(len(r.Waiting)), At: r.At,
		Search: strings.ToLower(strings.Join(texts, "\n")), Row: mustJSON(rowWire{r, h.remind}),
	}
	next := func(at int64) {
		if at > h.now && (e.Again == 0 || at < e.Again) {
			e.Again = at
		}
	}
	if h.inForce != nil {
		start, end, started, ended := h.inForce.doc.Term()
		if started {
			next(start)
		}
		if ended {
			next(end)
		}
	}
	next(h.ended)
	for _, x := range h.docs {
		next(x.view.ReviewEnds)
	}
	for _, m := range h.remind {
		next(m.At)
	}
	if len(h.remind) > 0 {
		e.Remind = h.remind[0].At
	}
	return e
}

// preauthorisations are those that stand on this offer.
func (d *Desk) preauthorisations(h *held) (out []PreauthorisationView) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.led.state.Preauthorisations() {
		row, ok := d.led.allowed[p.ID]
		if !ok || h.by(bareHash(p.DocumentSHA256)) == nil {
			continue
		}
		r := row.permit
		v := PreauthorisationView{ID: p.ID, Used: p.Used, State: "active", MadeAt: r.MadeAt, Preauthorisation: Preauthorisation{
			Offer: h.id, Digest: bareHash(p.DocumentSHA256), Seat: r.Seat, Client: r.Client, Party: partyOf(r), MaxCommitted: r.MaxCommitted, Times: r.Times, NotAfter: r.NotAfter,
		}}
		_, refusal := d.led.client(p.Client)
		switch {
		case p.Ended != "" || refusal != nil:
			v.State = "ended"
		case p.Used >= p.Times:
			v.State = "spent"
		case h.now > p.NotAfter:
			v.State = "expired"
		}
		out = append(out, v)
	}
	return out
}

func partyOf(r permit.Preauthorisation) sow.Seat {
	return sow.Seat{Agent: r.Agent, Owner: r.Owner, Handle: r.Handle, Organization: r.Organization}
}
