package money

// Rate returns what raw counts of the meter cost: floor(count*per_unit/per)
// (5.5.2). The error is ErrRange.
func (l Line) Rate(count int64) (int64, error) {
	n, ok := mulDiv(count, l.PerUnit, l.Per)
	if !ok {
		return 0, ErrRange
	}
	return n, nil
}

// Count is a raw meter count, in the meter's own grain.
type Count struct {
	Meter string
	Count int64
}

// Settled is a line of a settlement record (5.5, 5.5.6).
type Settled struct {
	Meter, Unit         string
	Count, Per, PerUnit int64
	Amount              int64
	PassThrough         bool
	UpstreamReceipt     string // required on a pass-through line
	UpstreamAmount      Opt
}

// Check refuses a line that breaks 5.5.6: pass_through_receipt_missing,
// pass_through_above_cost, receipt_without_pass_through.
func (s Settled) Check() error {
	switch {
	case !s.PassThrough && s.UpstreamReceipt != "":
		return refuse("receipt_without_pass_through")
	case s.PassThrough && s.UpstreamReceipt == "":
		return refuse("pass_through_receipt_missing")
	case s.PassThrough && s.UpstreamAmount.Set && s.Amount > s.UpstreamAmount.N:
		return refuse("pass_through_above_cost")
	}
	return nil
}

// Rating is the outcome of rating counts against a schedule.
type Rating struct {
	Currency string
	Lines    []Settled
	// Total is the provider's: the sum of the lines, within the cap less fee.
	Total int64
	// Fee is nil without a basis, and where nothing was rated.
	Fee *Fee
	// ClientTotal is Total and fee.
	ClientTotal int64
	// CapRemaining is what is left of the client's exposure.
	CapRemaining int64
	// Exhausted says that no further work fits (5.5.5). Because a fee floors, a
	// rating that was cut can leave a unit in which one more without a fee fits.
	Exhausted bool
	// Unbilled is what the schedule asked beyond the cap; the provider bears it.
	Unbilled int64
}

// Terms is what rating needs beside price and counts.
type Terms struct {
	AlreadyBilled int64             // to the client under this engagement, fees included
	Receipts      map[string]string // upstream receipts by meter
	Basis         *Basis            // of the operator's fee, nil for none
	Operator      string
}

// RateUsage rates raw counts against the schedule (5.5.2), never past the cap
// with the fee inside (5.5.3, 5.5.8). It refuses no_charge_rating,
// fixed_fee_rating, meter_unpriced and a line's own faults; other errors are
// ErrRange.
func RateUsage(p Price, usage []Count, t Terms) (Rating, error) {
	switch p.Arrangement {
	case NoCharge:
		return Rating{}, refuse("no_charge_rating")
	case FixedFee:
		return Rating{}, refuse("fixed_fee_rating")
	}
	if !inRange(t.AlreadyBilled) || !inRange(p.Cap) {
		return Rating{}, ErrRange
	}
	exposure := max(0, p.Cap-t.AlreadyBilled)
	budget := Fit(exposure, t.Basis)
	r := Rating{Currency: p.Currency}
	for _, u := range usage {
		line, ok := p.line(u.Meter)
		if !ok {
			return Rating{}, refuse("meter_unpriced")
		}
		gross, err := line.Rate(u.Count)
		if err != nil {
			return Rating{}, err
		}
		billed := min(gross, budget)
		budget -= billed
		r.Total += billed // within the cap
		if r.Unbilled, ok = add(r.Unbilled, gross-billed); !ok {
			return Rating{}, ErrRange
		}
		s := Settled{Meter: line.Meter, Unit: line.Unit, Count: u.Count, Per: line.Per, PerUnit: line.PerUnit,
			Amount: billed, PassThrough: line.PassThrough}
		if line.PassThrough {
			s.UpstreamReceipt = t.Receipts[line.Meter]
		}
		if err := s.Check(); err != nil {
			return Rating{}, err
		}
		r.Lines = append(r.Lines, s)
	}
	r.ClientTotal = r.Total
	if t.Basis != nil && r.Total > 0 {
		n, err := t.Basis.Amount(r.Total)
		if err != nil {
			return Rating{}, err
		}
		r.Fee = &Fee{Operator: t.Operator, Basis: *t.Basis, Base: r.Total, Amount: n}
		r.ClientTotal += n
	}
	r.CapRemaining = exposure - r.ClientTotal
	r.Exhausted = Fit(r.CapRemaining, t.Basis) == 0
	return r, nil
}

func (p Price) line(meter string) (Line, bool) {
	for _, l := range p.Schedule {
		if l.Meter == meter {
			return l, true
		}
	}
	return Line{}, false
}

// QuoteTask prices one task of an offering under a fixed fee, given what the
// client was charged in the period, fees included. A task that would carry the
// period past the ceiling is refused with ceiling_reached and the quote;
// offering_unpriced names an offering without a rate (5.5.1).
func QuoteTask(p Price, offering string, spentInPeriod int64, basis *Basis) (Quote, error) {
	if p.Arrangement != FixedFee {
		return Quote{}, refuse("offering_unpriced")
	}
	for _, r := range p.Rates {
		if r.Offering != offering {
			continue
		}
		q := Quote{Total: r.PerTask, Currency: p.Currency}
		if basis != nil && r.PerTask > 0 {
			n, err := basis.Amount(r.PerTask)
			if err != nil {
				return Quote{}, err
			}
			q.Fee = &Fee{Basis: *basis, Base: r.PerTask, Amount: n}
			var ok bool
			if q.Total, ok = add(q.Total, n); !ok {
				return Quote{}, ErrRange
			}
		}
		sum, ok := add(spentInPeriod, q.Total)
		if !ok {
			return Quote{}, ErrRange
		}
		if p.Ceiling.Set && sum > p.Ceiling.N {
			return q, &Refusal{Code: "ceiling_reached", Quote: Some(q.Total)}
		}
		return q, nil
	}
	return Quote{}, refuse("offering_unpriced")
}
