package agreement

import (
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/derive/jcs"
)

// capClaimed says that the records that were brought add up to the cap. Nobody has signed them, so that the cap is reached, and the
// engagement exhausted with it (5.5.5), is a claim: it is remarked on and ends nothing.
func (h *Held) capClaimed(doc *sow.Document) bool {
	price, findings := doc.Price()
	if !findings.OK() || price.Arrangement != money.TimeAndMaterials {
		return false
	}
	_, settled := h.money()
	return settled > 0 && settled >= price.Cap
}

// money adds up what was quoted and settled, as far as it was brought.
func (h *Held) money() (quoted money.Opt, settled int64) {
	for _, r := range h.Records {
		v, err := jcs.Parse(r.Raw, jcs.SoW)
		if err != nil {
			continue
		}
		switch RecordKind(r.Kind) {
		case RecordQuote:
			if q, f := sow.QuoteOf(v); f.OK() {
				quoted = money.Some(quoted.N + q.Total)
			}
		case RecordSettlement:
			if s, f := sow.RecordOf(v); f.OK() && h.settlement(v) == "" && h.charged(v).OK() {
				settled += s.Total
			}
		}
	}
	return quoted, settled
}

// settlement names what is wrong between a settlement record and its quote; where no quote was brought, within the record.
func (h *Held) settlement(record jcs.Value) money.Dispute {
	r, findings := sow.RecordOf(record)
	if !findings.OK() {
		return ""
	}
	q := money.Quote{Total: r.Total, Currency: r.Currency, Fee: r.Fee}
	if quote, ok := h.quoteFor(record); ok {
		if known, f := sow.QuoteOf(quote); f.OK() {
			q = known
		}
	}
	return money.CheckSettlement(q, r)
}

// quoteFor is the quote that a settlement record follows: the one of its task, else the only one.
func (h *Held) quoteFor(record jcs.Value) (jcs.Value, bool) {
	var all []jcs.Value
	for _, r := range h.Records {
		if RecordKind(r.Kind) != RecordQuote {
			continue
		}
		v, err := jcs.Parse(r.Raw, jcs.SoW)
		if err != nil {
			continue
		}
		for _, name := range []string{"task", "task_id", "quote", "id"} {
			if t := record.Get(name).Text(); t != "" && (v.Get(name).Text() == t || v.Get("id").Text() == t) {
				return v, true
			}
		}
		all = append(all, v)
	}
	if len(all) == 1 {
		return all[0], true
	}
	return jcs.Value{}, false
}

// reservation refuses an amendment into time and materials whose new cap nobody can hold (5.5.7).
func reservation(inForce, next *sow.Document, holds bool) sow.Findings {
	from, f := inForce.Price()
	to, g := next.Price()
	if !f.OK() || !g.OK() {
		return nil
	}
	if err := money.CheckReservation(from, to, holds); err != nil {
		if x := sow.Refused(err, "price.reservation"); x != nil {
			return sow.Findings{*x}
		}
	}
	return nil
}

// charged judges a settlement record against the quote it followed and the price of an agreed version: work stays priced under the
// version it was admitted under (5.8), and the record does not say which that was, so it may be any of them. What none can have
// produced is named as the version in force has it. An operator whose records were disputed before is remarked on (5.5.8).
func (h *Held) charged(record jcs.Value) sow.Findings {
	docs := []*Document{h.Docs[0]}
	if h.InForce != nil {
		docs = []*Document{h.InForce}
		for _, x := range h.Docs {
			if x != h.InForce && x.View.Seats.Agreed() {
				docs = append(docs, x)
			}
		}
	}
	quote, quoted := h.quoteFor(record)
	var out sow.Findings
	for i, x := range docs {
		price, f := x.Doc.Price()
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
func (h *Held) operatorDisputes(operator string) (n int) {
	for _, r := range h.Records {
		v, err := jcs.Parse(r.Raw, jcs.SoW)
		if err == nil && operator != "" && RecordKind(r.Kind) == RecordSettlement && v.Get("operator_fee").Get("operator").Text() == operator && h.settlement(v) != "" {
			n++
		}
	}
	return n
}
