package sow

import (
	"errors"
	"fmt"

	"vault/approvals/sow/money"
	"vault/derive/jcs"
)

// price checks a price clause (5.5), in the order arrangement, grade, members
// of a no-charge clause, currency, rates or schedule, cap, reservation, members
// of another arrangement.
func (c *checker) price(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "price_not_object", path) {
		return
	}
	a := v.Get("arrangement")
	known := among(a, string(money.FixedFee), string(money.TimeAndMaterials), string(money.NoCharge))
	switch {
	case !a.Exists():
		c.add("price_arrangement_missing", at(path, "arrangement"))
	case !known:
		c.add("price_arrangement_unknown", at(path, "arrangement"))
	}
	g := v.Get("grade")
	c.need(isText(g) && rank(g.Text()) > 0, "price_grade", path, "grade")
	if !known {
		return
	}
	if a.Text() == string(money.NoCharge) {
		for m := range v.Members() {
			if m.Name != "arrangement" && m.Name != "grade" {
				c.add("no_charge_extra_member", step(path, m.Name))
			}
		}
		return
	}
	c.need(matches(v.Get("currency"), currencyForm), "price_currency", path, "currency")
	if a.Text() == string(money.FixedFee) {
		c.rates(v.Get("rates"), at(path, "rates"))
		if w := v.Get("ceiling"); w.Exists() {
			c.ceiling(w, at(path, "ceiling"))
		}
		c.need(!v.Get("schedule").Exists(), "fixed_fee_schedule", path, "schedule")
		c.need(!v.Get("cap").Exists(), "fixed_fee_cap", path, "cap")
		return
	}
	c.schedule(v.Get("schedule"), at(path, "schedule"))
	switch w := v.Get("cap"); {
	case !w.Exists():
		c.add("cap_missing", at(path, "cap"))
	case w.Kind() != jcs.Object:
		c.add("cap_not_object", at(path, "cap"))
	default:
		c.need(isPos(w.Get("amount")), "cap_amount", path, "cap.amount")
	}
	switch w := v.Get("reservation"); {
	case !w.Exists():
		c.add("reservation_missing", at(path, "reservation"))
	case w.Kind() != jcs.Object:
		c.add("reservation_not_object", at(path, "reservation"))
	default:
		c.need(isPos(w.Get("window_days")), "reservation_window_days", path, "reservation.window_days")
	}
	c.need(!v.Get("rates").Exists(), "tm_rates", path, "rates")
	c.need(!v.Get("ceiling").Exists(), "tm_ceiling", path, "ceiling")
}

func (c *checker) rates(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Array && v.Len() > 0, "fixed_fee_rates_missing", path) {
		return
	}
	seen := make(map[string]bool, v.Len())
	for i, r := range v.Items() {
		p := item(path, i)
		if !c.need(r.Kind() == jcs.Object, "rate_not_object", p) {
			continue
		}
		if c.need(filled(r.Get("offering")), "rate_offering", p, "offering") {
			c.unique(seen, r.Get("offering").Text(), "rate_duplicate_offering", p, "offering")
		}
		c.need(isNat(r.Get("per_task")), "rate_per_task", p, "per_task")
	}
}

func (c *checker) ceiling(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "ceiling_not_object", path) {
		return
	}
	c.need(isPos(v.Get("amount")), "ceiling_amount", path, "amount")
	c.need(among(v.Get("period"), "month"), "ceiling_period", path, "period")
}

func (c *checker) schedule(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Array && v.Len() > 0, "schedule_missing", path) {
		return
	}
	seen := make(map[string]bool, v.Len())
	for i, l := range v.Items() {
		p := item(path, i)
		if !c.need(l.Kind() == jcs.Object, "schedule_line_not_object", p) {
			continue
		}
		if c.need(matches(l.Get("meter"), meterForm), "schedule_meter", p, "meter") {
			c.unique(seen, l.Get("meter").Text(), "schedule_duplicate_meter", p, "meter")
		}
		c.need(filled(l.Get("unit")), "schedule_unit", p, "unit")
		if per := l.Get("per"); per.Exists() {
			c.need(isPos(per), "schedule_per", p, "per")
		}
		c.need(isNat(l.Get("per_unit")), "schedule_per_unit", p, "per_unit")
		if w := l.Get("pass_through"); w.Exists() {
			c.need(w.Bool(), "schedule_pass_through", p, "pass_through")
		}
	}
}

// priceOf reads a price clause that was found valid.
func priceOf(v jcs.Value) money.Price {
	p := money.Price{Arrangement: money.Arrangement(v.Get("arrangement").Text()), Currency: v.Get("currency").Text()}
	for _, r := range v.Get("rates").Items() {
		n, _ := r.Get("per_task").Int()
		p.Rates = append(p.Rates, money.Rate{Offering: r.Get("offering").Text(), PerTask: n})
	}
	if n, ok := v.Get("ceiling").Get("amount").Int(); ok {
		p.Ceiling = money.Some(n)
	}
	for _, l := range v.Get("schedule").Items() {
		line := money.Line{Meter: l.Get("meter").Text(), Unit: l.Get("unit").Text(), Per: 1, PassThrough: l.Get("pass_through").Bool()}
		if n, ok := l.Get("per").Int(); ok {
			line.Per = n
		}
		line.PerUnit, _ = l.Get("per_unit").Int()
		p.Schedule = append(p.Schedule, line)
	}
	p.Cap, _ = v.Get("cap").Get("amount").Int()
	p.WindowDays, _ = v.Get("reservation").Get("window_days").Int()
	return p
}

// PriceOf reads a price clause, and false with what is wrong if it is not
// valid.
func PriceOf(v jcs.Value) (money.Price, Findings) {
	var c checker
	c.price(v, "price")
	if !c.found.OK() {
		return money.Price{}, c.found
	}
	return priceOf(v), c.found
}

// basis checks and reads an operator fee's basis.
func (c *checker) basis(v jcs.Value, path string) money.Basis {
	if !c.need(v.Kind() == jcs.Object, "operator_fee_basis", path) {
		return money.Basis{}
	}
	percent, fixed := v.Get("percent"), v.Get("fixed")
	if !c.need(among(v.Get("kind"), string(money.Percent), string(money.Fixed)), "operator_fee_basis_kind", path, "kind") {
		return money.Basis{}
	}
	c.need(!percent.Exists() || !fixed.Exists(), "operator_fee_basis_both", path)
	b := money.Basis{Kind: money.BasisKind(v.Get("kind").Text())}
	var ok bool
	if b.Kind == money.Percent {
		b.N, ok = nonneg(percent)
		c.need(ok, "operator_fee_percent", path, "percent")
	} else {
		b.N, ok = nonneg(fixed)
		c.need(ok, "operator_fee_fixed", path, "fixed")
	}
	return b
}

// fee checks the shape of an operator fee line and reads it (5.5.8).
func (c *checker) fee(v jcs.Value, path string) *money.Fee {
	if !c.need(v.Kind() == jcs.Object, "operator_fee_basis", path) {
		return nil
	}
	f := &money.Fee{Operator: v.Get("operator").Text()}
	if w := v.Get("operator"); w.Exists() {
		c.need(nonEmpty(w), "operator_fee_operator", path, "operator")
	}
	f.Basis = c.basis(v.Get("basis"), at(path, "basis"))
	var ok bool
	switch w := v.Get("base"); {
	case !w.Exists():
		c.add("operator_fee_base_missing", at(path, "base"))
	default:
		f.Base, ok = nonneg(w)
		c.need(ok, "operator_fee_base", path, "base")
	}
	f.Amount, ok = nonneg(v.Get("amount"))
	c.need(ok, "operator_fee_amount", path, "amount")
	return f
}

// settlementLine checks a settlement line and reads it (5.5.2, 5.5.6).
func (c *checker) settlementLine(v jcs.Value, path string) (s money.Settled) {
	c.need(matches(v.Get("meter"), meterForm), "settlement_line_meter", path, "meter")
	c.need(filled(v.Get("unit")), "settlement_line_unit", path, "unit")
	s.Meter, s.Unit = v.Get("meter").Text(), v.Get("unit").Text()
	var ok bool
	s.Count, ok = nonneg(v.Get("count"))
	c.need(ok, "settlement_line_count", path, "count")
	s.Per, ok = posint(v.Get("per"))
	c.need(ok, "settlement_line_per", path, "per")
	s.PerUnit, ok = nonneg(v.Get("per_unit"))
	c.need(ok, "settlement_line_per_unit", path, "per_unit")
	s.Amount, ok = nonneg(v.Get("amount"))
	c.need(ok, "settlement_line_amount", path, "amount")
	if w := v.Get("pass_through"); w.Exists() {
		s.PassThrough = c.need(w.Bool(), "settlement_line_pass_through", path, "pass_through")
	}
	if w := v.Get("upstream_receipt"); filled(w) {
		s.UpstreamReceipt = w.Text()
	} else if w.Exists() && !v.Get("pass_through").Exists() {
		c.add("receipt_without_pass_through", path) // no receipt, and no place for one
	}
	if w := v.Get("upstream_amount"); w.Exists() {
		n, ok := nonneg(w)
		if c.need(ok, "settlement_line_amount", path, "upstream_amount") {
			s.UpstreamAmount = money.Some(n)
		}
	}
	if err := s.Check(); err != nil {
		c.refusal(err, path)
	}
	return s
}

// refusal adds a refusal of the arithmetic under its own code.
func (c *checker) refusal(err error, path string) {
	if f := Refused(err, path); f != nil {
		c.push(*f)
	}
}

// Refused returns the finding of a refusal of the money package, nil if the
// error is none.
func Refused(err error, member string) *Finding {
	var r *money.Refusal
	if !errors.As(err, &r) {
		return nil
	}
	f := one(Code(r.Code), member)
	f.Severity = Error
	if r.Quote.Set {
		f.Message += fmt.Sprintf(" The quote is %d.", r.Quote.N)
	}
	return f
}

// QuoteOf reads a quote (5.5.8): total, currency, operator_fee.
func QuoteOf(v jcs.Value) (money.Quote, Findings) {
	var c checker
	var q money.Quote
	if c.total(v, &q.Total, &q.Currency) && v.Get("operator_fee").Exists() {
		q.Fee = c.fee(v.Get("operator_fee"), "operator_fee")
	}
	return q, c.found
}

func (c *checker) total(v jcs.Value, total *int64, currency *string) bool {
	var ok bool
	*total, ok = nonneg(v.Get("total"))
	if !c.need(v.Kind() == jcs.Object && ok, "settlement_not_object", "") {
		return false
	}
	*currency = v.Get("currency").Text()
	return true
}

// RecordOf reads a settlement record (5.5.8): engagement, total, currency,
// lines, operator_fee. It does not compare it with anything.
func RecordOf(v jcs.Value) (money.Record, Findings) {
	var c checker
	r := money.Record{Engagement: v.Get("engagement").Text()}
	if !c.total(v, &r.Total, &r.Currency) {
		return r, c.found
	}
	if !c.need(v.Get("lines").Kind() == jcs.Array, "settlement_not_object", "lines") {
		return r, c.found
	}
	for i, l := range v.Get("lines").Items() {
		r.Lines = append(r.Lines, c.settlementLine(l, item("lines", i)))
	}
	if v.Get("operator_fee").Exists() {
		r.Fee = c.fee(v.Get("operator_fee"), "operator_fee")
	}
	return r, c.found
}

// CheckSettlement compares a settlement record with the quote it followed and
// the engagement's price (5.5.7, 5.5.8): the first of the four disputed checks
// if one fails, and what the price clause cannot have produced. A record of a
// price that charges nothing is refused before anything else. Bytes are
// compared as they came; nothing is repaired.
func CheckSettlement(price money.Price, quote, record jcs.Value) Findings {
	var c checker
	if !price.Settles() {
		c.add("no_charge_settlement", "")
		return c.found
	}
	q, fq := QuoteOf(quote)
	r, fr := RecordOf(record)
	if c.found = append(fq, fr...); !c.found.OK() {
		return c.found
	}
	d := money.CheckSettlement(q, r)
	if d != "" {
		c.add(Code(d), "")
	}
	if q.Currency != r.Currency {
		c.add("settlement_currency", "currency")
	} else {
		c.refusal(money.Admit(price, r, 0), "")
	}
	if d == "" && r.Total > q.Total {
		c.add("settled_above_quote", "total")
	}
	return c.found
}

// CheckRecord judges a settlement record alone, where nobody brought its quote:
// its form, that it accounts for its own total and fee, and what the price
// clause cannot have produced (5.5.7, 5.5.8).
func CheckRecord(price money.Price, record jcs.Value) Findings {
	var c checker
	if !price.Settles() {
		c.add("no_charge_settlement", "")
		return c.found
	}
	r, f := RecordOf(record)
	if c.found = f; !c.found.OK() {
		return c.found
	}
	if d := money.CheckSettlement(money.Quote{Total: r.Total, Currency: r.Currency, Fee: r.Fee}, r); d != "" {
		c.add(Code(d), "")
	}
	c.refusal(money.Admit(price, r, 0), "")
	return c.found
}
