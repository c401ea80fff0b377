package agreement

import (
	"cmp"
	"slices"

	"vault/approvals/sow"
	"vault/approvals/store"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// present makes what is shown.
func (h *Held) present() {
	newest, main := h.Docs[0], h.main()
	r := &h.View.Row
	r.ID, r.SoW, r.Kind, r.Role, r.State, r.Version, r.Digest = h.ID, main.Doc.ID(), KindEngagement, h.Role, main.View.State, main.View.Version, main.View.Digest
	if main.Doc.BlankSeat() {
		r.Kind = KindOffer
	}
	r.Provider, _ = main.Doc.Party(sow.Provider)
	r.Client, _ = main.Doc.Party(sow.Client)
	r.Offerings = listOf(main.Doc.Get("scope").Get("offerings"))
	if p, f := main.Doc.Price(); f.OK() {
		r.Arrangement, r.Committed, r.Currency = p.Arrangement, p.Committed(), p.Currency
	}
	r.StartsAt, r.EndsAt, _, _ = main.Doc.Term()
	if h.ended > 0 && (r.EndsAt == 0 || h.ended < r.EndsAt) {
		r.EndsAt = h.ended
	}
	first := newest.View.Copies[0]
	for _, x := range h.Docs {
		for _, c := range x.View.Copies {
			if c.At < first.At {
				first = c
			}
			r.At = max(r.At, c.At)
		}
	}
	r.From = first.From
	for _, m := range h.moves {
		r.At = max(r.At, m.At)
	}
	r.Conflict = h.View.Conflict
	r.Errors = len(newest.View.Findings.Errors())
	if logged, ok := h.Log.Published(main.View.Digest); ok {
		r.Spent, r.Withdrawn, r.Formations = logged.Directed && logged.Formed > 0, logged.Closed == "withdrawn", int(logged.Formed)
	}
	r.Withdrawn = r.Withdrawn || r.Kind == KindOffer && main.Closed == "withdrawn"
	for _, r := range h.Records {
		if x := h.By(r.Digest); x != nil && r.Own && RecordKind(r.Kind) == RecordConfirmation {
			if e, err := confirm.ParseEvidence(r.Raw); err == nil && e.Record().Context().Fields().Digest == x.View.Digest {
				x.View.Confirmation = &ConfirmationView{Seq: r.Seq, Record: e.Record().Digest(), At: e.Statement().At}
			}
		}
	}
	h.parties()
	h.recordViews()
	h.dues()
	h.timeline()
	h.choices()
	r.Waiting = h.waits()
	for _, x := range h.Docs {
		h.View.Versions = append(h.View.Versions, x.View)
	}
	if len(h.View.Reminders) > 0 {
		next := h.View.Reminders[0]
		r.Reminder = &next
	}
	if s, ok := h.Log.SeatAt(h.Seat); ok {
		h.View.Seat = SeatView{Index: s.Seat, Name: s.Name, Key: s.Key}
	}
	h.View.SeatFixed = h.Fixed
	h.View.Offer, _, _ = h.Formed()
	h.View.Preauthorisations = h.preauthorisations()
}

func listOf(v jcs.Value) (out []string) {
	for _, x := range v.Items() {
		out = append(out, x.Text())
	}
	return out
}

// parties says who sits where, and how their keys are known.
func (h *Held) parties() {
	for _, role := range []string{sow.Provider, sow.Client} {
		p, ok := h.main().Doc.Party(role)
		if !ok {
			continue
		}
		v := PartyView{Role: role, Party: p, Ours: h.Role == role && h.Fixed, Key: h.Pins.Of(role), Confirmation: ConfirmedNone}
		pin := h.Log.Pins[p.Agent]
		switch {
		case v.Ours:
		case pin.Key != "" && pin.Key == v.Key:
			v.Learned, v.LearnedAt = pin.Learned, pin.MadeAt
		case v.Key != "":
			v.Learned = "first_use"
		}
		v.Blocked = h.Log.Blocked[p.Agent] || v.Key != "" && h.Log.Blocked[v.Key]
		for _, x := range h.Docs {
			for _, r := range x.Doc.Signatures() {
				if r.Role == role && r.Key != v.Key && r.Fault == "" && !slices.Contains(v.Claims, r.Key) {
					v.Claims = append(v.Claims, r.Key)
				}
			}
		}
		if !v.Ours {
			v.Confirmation = h.confirmed(role, v.Key)
		}
		h.View.Parties = append(h.View.Parties, v)
	}
}

// confirmed says how far a counterparty's person was confirmed for the version in force, else the newest.
func (h *Held) confirmed(role, key string) Confirmed {
	doc := h.main()
	out := ConfirmedNone
	for _, r := range h.Records {
		if RecordKind(r.Kind) != RecordConfirmation {
			continue
		}
		e, err := confirm.ParseEvidence(r.Raw)
		if err != nil {
			continue
		}
		f := e.Record().Context().Fields()
		if f.Digest != doc.View.Digest || f.Role != role || f.Kind != confirm.SoWCountersign && f.Kind != confirm.SoWAmend || !e.Verify(confirm.EvidencePins{}).Valid {
			continue
		}
		if h.onCard(e, key) {
			return ConfirmedVerified
		}
		out = ConfirmedUnpinned
	}
	return out
}

// onCard says whether a card that was brought, of the owner with that key, has the passkey and log key of a confirmation.
func (h *Held) onCard(e *confirm.Evidence, key string) bool {
	for _, r := range h.Records {
		if RecordKind(r.Kind) != RecordCard || key == "" {
			continue
		}
		card, err := confirm.ParseOwnerCard(r.Raw)
		if err != nil || !card.Verify(card.Owner()).Valid || !slices.ContainsFunc(card.Fields().Seats, func(s confirm.CardSeat) bool { return s.Key == key }) {
			continue
		}
		if report := card.VerifyEvidence(e); report.Valid && report.Pinned {
			return true
		}
	}
	return false
}

// timeline puts what was noted and what time does in one order.
func (h *Held) timeline() {
	for _, m := range h.moves {
		state := sow.State("")
		switch m.What {
		case "agreed":
			state = sow.Agreed
		case "terminated":
			state = sow.Terminated
		case "proposed":
			state = sow.AmendmentProposed
		}
		h.View.Timeline = append(h.View.Timeline, Moved{At: m.At, Version: m.Version, State: state, What: m.What, By: m.By, Seq: m.Seq, Claimed: m.Claimed})
	}
	if h.InForce != nil {
		start, end, started, ended := h.InForce.Doc.Term()
		for _, m := range h.moves { // what was agreed after its start is in force from then on
			if m.Version == h.InForce.View.Version && (m.What == "agreed" || m.What == "approved") {
				start = max(start, m.At)
			}
		}
		if started {
			h.View.Timeline = append(h.View.Timeline, Moved{At: start, Version: h.InForce.View.Version, State: sow.Active, What: "active", By: "time", Due: start > h.Now})
		}
		if ended && (h.ended == 0 || end < h.ended) {
			h.View.Timeline = append(h.View.Timeline, Moved{At: end, Version: h.InForce.View.Version, State: sow.Lapsed, What: "lapsed", By: "time", Due: end > h.Now})
		}
		if h.ended > h.Now {
			h.View.Timeline = append(h.View.Timeline, Moved{At: h.ended, Version: h.InForce.View.Version, State: sow.Terminated, What: "notice_ends", By: "time", Due: true})
		}
	}
	slices.SortStableFunc(h.View.Timeline, func(a, b Moved) int { return cmp.Compare(a.At, b.At) })
	for _, r := range h.Records {
		f := h.Act(r)
		if f == nil || f.Kind != sow.Review {
			continue
		}
		x := Review{Record: r.SHA256, Ours: r.Own, Accepted: f.Ground == "acceptance", Reason: f.Reason, Cites: f.Cites}
		doc := h.main().Doc
		for _, o := range h.Records {
			v, ok := h.delivered(o)
			if !ok || !slices.Contains(f.Cites, v.Get("task_id").Text()) && !slices.Contains(f.Cites, v.Get("job").Text()) {
				continue
			}
			var pieces []sow.Artifact
			for _, p := range v.Get("pieces").Items() {
				pieces = append(pieces, sow.Artifact{Name: p.Get("name").Text(), MediaType: p.Get("media_type").Text()})
			}
			x.Checked, x.Form = true, append(x.Form, doc.CheckForm(pieces)...)
		}
		h.View.Reviews = append(h.View.Reviews, x)
	}
}

// waits names what waits for the owner, what cannot wait any more first.
func (h *Held) waits() (out []Waiting) {
	urgent := false
	add := func(w Waiting) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	if h.View.Conflict {
		add(WaitConflict)
	}
	if len(h.View.Rehomed) > 0 {
		add(WaitHandle)
	}
	for _, x := range h.Docs {
		v := x.View
		if x.Closed != "" || v.Outcome == "lapsed" || x.Signed || h.ended > 0 && h.Now >= h.ended {
			continue
		}
		_, request := h.Fact(FactLockedAsk, v.Digest)
		asked := slices.ContainsFunc(h.asks, func(a store.SoWAsk) bool { return a.Document == v.Digest })
		switch {
		case v.State == sow.AmendmentProposed && h.Role != "" && (x.Theirs || asked):
			add(WaitApprove)
		case v.State == sow.Active, v.State == sow.Agreed, v.State == sow.Amended, v.State.Ended():
		case request:
			add(WaitComplete)
		case asked, v.Version == 1 && !x.Doc.BlankSeat() && h.signedAcross(v.Seats):
			add(WaitCountersign)
		}
		if v.Needed == sow.ByAgentThenPerson && len(v.Given) == 0 && !x.Doc.BlankSeat() && h.Role != "" && (asked || x.View.Copies[0].From.Kind == "own") {
			add(WaitIntent)
		}
	}
	for _, r := range h.View.Records {
		if r.Kind == RecordProblem && r.Ignored == "" {
			switch r.Answer {
			case "":
				add(WaitProblem)
			case AnswerEscalated:
				add(WaitUnanswered)
			case AnswerTwice:
				urgent = true
			}
		}
		if r.Dispute != "" && !slices.ContainsFunc(h.View.Disputed, func(x DisputeView) bool { return slices.Contains(x.Cites, r.SHA256) }) {
			add(WaitDispute)
		}
	}
	if urgent {
		out = slices.Insert(out, 0, WaitUrgent)
	}
	return out
}

// signedAcross says whether the seat across from ours is signed; where none is known to be ours, whether just one is.
func (h *Held) signedAcross(s sow.Seats) bool {
	if h.Role == "" {
		return (s.Provider == nil) != (s.Client == nil)
	}
	return s.Of(sow.Other(h.Role)) != nil
}

// preauthorisations are those that stand on this offer.
func (h *Held) preauthorisations() (out []PreauthorisationView) {
	for _, a := range h.Allowed {
		p, r := a.State, a.Permit
		if h.By(Bare(p.DocumentSHA256)) == nil {
			continue
		}
		v := PreauthorisationView{ID: p.ID, Used: p.Used, State: "active", MadeAt: r.MadeAt, Preauthorisation: Preauthorisation{
			Offer: h.ID, Digest: Bare(p.DocumentSHA256), Seat: r.Seat, Client: r.Client, Party: sow.Seat{Agent: r.Agent, Owner: r.Owner, Handle: r.Handle, Organization: r.Organization}, MaxCommitted: r.MaxCommitted, Times: r.Times, NotAfter: r.NotAfter,
		}}
		switch {
		case p.Ended != "" || a.Gone:
			v.State = "ended"
		case p.Used >= p.Times:
			v.State = "spent"
		case h.Now > p.NotAfter:
			v.State = "expired"
		}
		out = append(out, v)
	}
	return out
}
