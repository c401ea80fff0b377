package agreement

import (
	"slices"

	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// recordViews judges what was brought in.
func (h *Held) recordViews() {
	for _, r := range h.Records {
		v := RecordView{SHA256: r.SHA256, Kind: RecordKind(r.Kind), At: r.At, From: Source{Kind: r.Source, Name: r.Name, Client: r.Client}, Own: r.Own, Version: r.Version, Seq: r.Seq, Answer: r.Answer}
		value, err := jcs.Parse(r.Raw, jcs.SoW)
		if err != nil {
			v.Ignored = "not_i_json"
			h.View.Records = append(h.View.Records, v)
			continue
		}
		v.Text = string(value.Canonical())
		h.recordView(&v, r, value)
		h.View.Records = append(h.View.Records, v)
	}
	quoted, settled := h.money()
	price, findings := h.main().Doc.Price()
	switch {
	case quoted.Set:
		h.View.Unsettled = money.Some(max(quoted.N-settled, 0))
	case findings.OK() && price.Committed().Set && price.Settles():
		h.View.Unsettled = money.Some(max(price.Committed().N-settled, 0))
	}
}

func (h *Held) recordView(v *RecordView, r store.SoWRecord, value jcs.Value) {
	switch v.Kind {
	case RecordQuote:
		_, v.Findings = sow.QuoteOf(value)
	case RecordSettlement:
		v.Dispute = h.settlement(value)
		v.Findings = h.charged(value)
		v.Claimed = value.Get("operator").Text()
	case RecordJobManifest:
		p, _ := h.Docs[0].Doc.Party(sow.Provider)
		if fault := sow.VerifyJobManifest(value, p.Agent); fault != nil {
			v.Ignored, v.Claimed = fault.Reason, value.Get("agent").Text()
		} else {
			v.Verified = true
		}
	case RecordVerdict:
		v.Findings = append(sow.CheckVerdict(value, h.disputed(value.Get("dispute").Text())), h.lateVerdict(value)...)
		v.Claimed = value.Get("by").Text()
		// Who may rule is what both have signed. An appointment that was brought is signed by nobody.
		arbiter := h.main().Doc.Get("disputes").Get("arbiter").Get("agent").Text()
		v.Verified = sow.VerifyVerdict(value) == nil && h.InForce != nil && arbiter != "" && arbiter == v.Claimed
	case RecordProblem:
		v.Findings, _ = sow.CheckPart("problem", value)
		v.Claimed = value.Get("agent").Text()
		h.escalate(v)
	case RecordProbeRecord:
		if f := sow.CheckProbe(value); f != nil {
			v.Findings = sow.Findings{*f}
		}
		v.Claimed = value.Get("agent").Text()
	case RecordConfirmation:
		if r.Own {
			v.Verified = true
		} else if e, err := confirm.ParseEvidence(r.Raw); err != nil || !e.Verify(confirm.EvidencePins{}).Valid {
			v.Ignored = "wrong_signature"
		} else {
			f := e.Record().Context().Fields()
			v.Claimed = e.Statement().LogKey
			if x := h.By(f.Digest); x == nil {
				v.Ignored = CodeNoEngagement
			} else {
				v.Version, v.Verified = x.View.Version, h.onCard(e, h.Pins.Of(f.Role))
			}
		}
	case RecordCard:
		card, err := confirm.ParseOwnerCard(r.Raw)
		if err != nil || !card.Verify(card.Owner()).Valid {
			v.Ignored = "wrong_signature"
			break
		}
		v.Claimed = card.Owner()
		for _, s := range card.Fields().Seats {
			v.Verified = v.Verified || s.Key == h.Pins.Provider || s.Key == h.Pins.Client
		}
	default:
		if _, ok := sow.ActKind(v.Kind).Tag(); !ok {
			v.Claimed = value.Get("by").Text()
			return
		}
		a, err := sow.ParseAct(r.Raw)
		if err != nil {
			v.Ignored = "act_shape"
			return
		}
		f := a.Fields()
		v.Act, v.Claimed, v.Version = &f, f.Key, f.Version
		v.Verified = h.Act(r) != nil
		if x := h.By(f.Document); x != nil && f.Kind == sow.FormationRefusal {
			// A completed document has the offer's conditions.
			if g := sow.CheckGround(x.Doc, f.Ground); g != nil {
				v.Findings = sow.Findings{*g}
			}
		}
		switch {
		case v.Verified && h.late(f):
			v.Ignored = CodeTooLate
		case v.Verified:
		case a.Verify() != nil:
			v.Ignored = string(a.Verify().Code)
		case h.By(f.Document) == nil:
			v.Ignored = CodeNoEngagement
		default:
			v.Ignored = "signer_not_owner"
		}
	}
}

// disputed is the amount of a dispute that is known here, by the digest or a citation of its act.
func (h *Held) disputed(name string) *sow.Disputed {
	for _, r := range h.Records {
		if f := h.Act(r); f != nil && f.Kind == sow.Dispute && (r.SHA256 == name || slices.Contains(f.Cites, name)) {
			return f.Disputed
		}
	}
	return nil
}

// lateVerdict returns verdict_late for a verdict that says it was made after its deadline, on a dispute that is known here (5.10.1).
func (h *Held) lateVerdict(verdict jcs.Value) sow.Findings {
	dispute, ok := h.disputeOf(verdict.Get("dispute").Text())
	doc := h.Docs[0].Doc
	if h.InForce != nil {
		doc = h.InForce.Doc
	}
	made, err := span.Instant(verdict.Get("produced_at").Text())
	if !ok || err != nil {
		return nil
	}
	if f := doc.CheckVerdictTime(dispute.At, made); f != nil {
		return sow.Findings{*f}
	}
	return nil
}

// disputeOf finds a dispute that counts, by the digest of its act or by what it cites.
func (h *Held) disputeOf(name string) (store.SoWRecord, bool) {
	for _, r := range h.Records {
		f := h.Act(r)
		if f == nil || f.Kind != sow.Dispute {
			continue
		}
		for _, c := range append([]string{r.SHA256}, f.Cites...) {
			if c == name {
				return r, true
			}
		}
	}
	return store.SoWRecord{}, false
}

// late says whether an act would take back or refuse what both have signed.
func (h *Held) late(f sow.ActFields) bool {
	switch f.Kind {
	case sow.Denial, sow.Withdrawal, sow.FormationRefusal:
		x := h.By(f.Document)
		return x != nil && x.View.Seats.Agreed() && (x.Closed == "" || x.Closed == "superseded")
	}
	return false
}
