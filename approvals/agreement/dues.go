package agreement

import (
	"cmp"
	"slices"

	"vault/approvals/sow"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/derive/jcs"
)

const day = int64(24 * 60 * 60 * 1000)

// dues collects what becomes due.
func (h *Held) dues() {
	add := func(kind ReminderKind, at int64, about string, last bool) {
		if at > 0 {
			h.View.Reminders = append(h.View.Reminders, Reminder{Engagement: h.ID, Kind: kind, At: at, About: about, Last: last, Due: at <= h.Now})
		}
	}
	for _, x := range h.Docs {
		v := x.View
		if v.State == sow.AmendmentProposed && v.Outcome == "" {
			add(RemindReview, v.ReviewEnds, "", false)
		}
		if v.State == sow.StandingProposal && x.Closed == "" {
			if at, err := span.Instant(x.Doc.Get("parties").Get("offered_to").Get("expires_at").Text()); err == nil && at > h.Now {
				add(RemindOffer, at, "", false)
			}
		}
	}
	h.problems(add)
	for _, g := range h.grants() {
		f, _ := h.Fact(FactGrant, g.Name)
		h.View.ToClose = append(h.View.ToClose, GrantToClose{Grant: g, Closed: f.Value == "closed", Ended: h.View.State.Ended()})
	}
	if h.InForce == nil {
		slices.SortStableFunc(h.View.Reminders, func(a, b Reminder) int { return cmp.Compare(a.At, b.At) })
		return
	}
	doc, state := h.InForce.Doc, h.InForce.View.State
	start, end, started, hasEnd := doc.Term()
	if !state.Ended() {
		if started && start > h.Now {
			add(RemindStarts, start, "", false)
		}
		if hasEnd && end > h.Now {
			add(RemindEnds, end, "", false)
		}
		if h.ended > h.Now {
			add(RemindNotice, h.ended, "", false)
		}
		for _, due := range doc.Interim(h.Now + 62*day) {
			if due.At > h.Now-7*day {
				add(RemindInterim, due.At, due.Name, false)
			}
		}
		if days, ok := doc.Get("price").Get("reservation").Get("window_days").Int(); ok && started {
			if at := span.ReleaseAt(start, days); at > h.Now {
				add(RemindReservation, at, "", false)
			}
		}
		h.deliveries(doc, add)
	} else {
		for _, g := range h.View.ToClose {
			if !g.Closed {
				at := end
				if h.ended > 0 && (at == 0 || h.ended < at) {
					at = h.ended
				}
				add(RemindClose, max(at, 1), g.Grant.Name, false)
			}
		}
	}
	for _, r := range h.Records {
		f := h.Act(r)
		if f == nil || f.Kind != sow.Dispute {
			continue
		}
		dv := DisputeView{SHA256: r.SHA256, By: f.Role, Disputed: *f.Disputed, Cites: f.Cites, Posture: doc.Get("disputes").Get("posture").Text(), Fallback: doc.Fallback(), At: r.At}
		if at, ok := doc.VerdictDue(r.At); ok {
			dv.Due = at
			if at > h.Now {
				add(RemindVerdict, at, "", false)
			}
		}
		for _, o := range h.Records {
			if RecordKind(o.Kind) == RecordVerdict {
				if v, err := jcs.Parse(o.Raw, jcs.SoW); err == nil && (v.Get("dispute").Text() == r.SHA256 || slices.Contains(f.Cites, v.Get("dispute").Text())) {
					dv.Verdict = o.SHA256
				}
			}
		}
		h.View.Disputed = append(h.View.Disputed, dv)
	}
	slices.SortStableFunc(h.View.Reminders, func(a, b Reminder) int { return cmp.Compare(a.At, b.At) })
}

// grants are those that end with nothing: of every version that was agreed, for what one gave stays open when a later one does not
// name it; where none was, of the newest.
func (h *Held) grants() (out []sow.Grant) {
	for i, x := range h.Docs {
		if !x.View.Seats.Agreed() && (h.InForce != nil || i > 0) {
			continue
		}
		for _, g := range x.Doc.Grants() {
			if g.CloseByHand() && !slices.ContainsFunc(out, func(o sow.Grant) bool { return o.Name == g.Name }) {
				out = append(out, g)
			}
		}
	}
	return out
}

// delivered reads a job manifest that the provider's agent has signed. What nobody signed says nothing of what was
// delivered, and when.
func (h *Held) delivered(r store.SoWRecord) (jcs.Value, bool) {
	if RecordKind(r.Kind) != RecordJobManifest {
		return jcs.Value{}, false
	}
	p, _ := h.Docs[0].Doc.Party(sow.Provider)
	v, err := jcs.Parse(r.Raw, jcs.SoW)
	return v, err == nil && sow.VerifyJobManifest(v, p.Agent) == nil
}

// deliveries reminds of what silence means after a delivery (5.4.2), twice, and of the window for revisions (5.4.3).
func (h *Held) deliveries(doc *sow.Document, add func(ReminderKind, int64, string, bool)) {
	reviewed := map[string]bool{}
	for _, r := range h.Records {
		if f := h.Act(r); f != nil && f.Kind == sow.Review {
			for _, c := range f.Cites {
				reviewed[c] = true
			}
		}
	}
	terms := []jcs.Value{doc.Get("acceptance"), doc.Get("deliverables").Get("acceptance")}
	for _, p := range doc.Get("deliverables").Get("per_task").Items() {
		terms = append(terms, p.Get("acceptance"))
	}
	for _, r := range h.Records {
		v, ok := h.delivered(r)
		if !ok {
			continue
		}
		at, err := span.Instant(v.Get("produced_at").Text())
		task := v.Get("task_id").Text()
		if err != nil {
			continue
		}
		if days, ok := doc.Get("revisions").Get("included").Get("window_days").Int(); ok {
			if ends := span.AddDays(at, days); ends > h.Now {
				add(RemindRevision, ends, task, false)
			}
		}
		if reviewed[task] || reviewed[v.Get("job").Text()] {
			continue
		}
		for _, t := range terms {
			if deemed, ok := sow.DeemedAccepted(t, at); t.Exists() && ok && deemed > h.Now {
				add(RemindDeemed, at+(deemed-at)/2, task, false)
				add(RemindDeemed, max(deemed-day, at), task, true)
				break
			}
		}
	}
}
