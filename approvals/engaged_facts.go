package approvals

import (
	"vault/approvals/sow"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// charged judges a settlement record against the quote it followed and the price of an agreed version: work stays priced under the
// version it was admitted under (5.8), and the record does not say which that was, so it may be any of them. What none can have
// produced is named as the version in force has it. An operator whose records were disputed before is remarked on (5.5.8).
func (h *held) charged(record jcs.Value) sow.Findings {
	docs := []*heldDoc{h.docs[0]}
	if h.inForce != nil {
		docs = []*heldDoc{h.inForce}
		for _, x := range h.docs {
			if x != h.inForce && x.view.Seats.Agreed() {
				docs = append(docs, x)
			}
		}
	}
	quote, quoted := h.quoteFor(record)
	var out sow.Findings
	for i, x := range docs {
		price, f := x.doc.Price()
		if !f.OK() {
			continue
		}
		var found sow.Findings
		if quoted || !price.Settles() {
			found = sow.CheckSettlement(price, quote, record)
		} else {
			found = sow.CheckRecord(price, record)
		}
		if i == 0 {
			out = found
		}
		if found.OK() {
			out = found
			break
		}
	}
	if f := sow.CheckOperator(h.operatorDisputes(record.Get("operator_fee").Get("operator").Text())); f != nil {
		out = append(out, *f)
	}
	return out
}

// operatorDisputes counts the records with a disputed line of an operator.
func (h *held) operatorDisputes(operator string) (n int) {
	for _, r := range h.records {
		v, err := jcs.Parse(r.Raw, jcs.SoW)
		if err == nil && operator != "" && RecordKind(r.Kind) == RecordSettlement && v.Get("operator_fee").Get("operator").Text() == operator && h.settlement(v) != "" {
			n++
		}
	}
	return n
}

// late returns verdict_late for a verdict that says it was made after its deadline, on a dispute that is known here (5.10.1).
func (h *held) late(verdict jcs.Value) sow.Findings {
	dispute, ok := h.disputeOf(verdict.Get("dispute").Text())
	doc := h.docs[0].doc
	if h.inForce != nil {
		doc = h.inForce.doc
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
func (h *held) disputeOf(name string) (store.SoWRecord, bool) {
	for _, r := range h.records {
		f := h.act(r)
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

// counts says that a record is an act by a seat's known key, or else a confirmation that agrees with itself. Anything else that
// was brought is a claim: in a bundle it stands among the records, where it makes nothing doubtful.
func (h *held) counts(r store.SoWRecord) (ok, act bool) {
	if _, act = sow.ActKind(r.Kind).Tag(); act {
		return h.act(r) != nil, true
	}
	if RecordKind(r.Kind) != RecordConfirmation {
		return false, false
	}
	e, err := confirm.ParseEvidence(r.Raw)
	return err == nil && (r.Own || h.by(e.Record().Context().Fields().Digest) != nil) && e.Verify(confirm.EvidencePins{}).Valid, false
}

// stale returns provider_signature_stale for a completed document that carries the provider's signature of the offer: it does not
// cover what was filled in (section 6, 12.1).
func (d *Desk) stale(h *held, x *heldDoc) (*sow.Finding, error) {
	of, ok := h.fact(factFormed, "of")
	digest, _ := h.fact(factFormed, "digest")
	if !ok || x.view.Version != 1 || x.view.Seats.Provider != nil || x.doc.Get("signatures").Len() == 0 {
		return nil, nil
	}
	copies, err := d.db().SoWCopies(of.Value)
	if err != nil {
		return nil, err
	}
	for _, c := range copies {
		offer, err := sow.Parse(c.Raw)
		if err != nil || c.Digest != digest.Value {
			continue
		}
		if f := sow.CheckCompleted(offer, x.doc, h.pins); f != nil && f.Code == "provider_signature_stale" {
			return f, nil
		}
		return nil, nil
	}
	return nil, nil
}
