package money

// Quote is what was offered before commitment. Without a fee line it asserts
// that no operator fee is inside the total (5.5.8).
type Quote struct {
	Total    int64
	Currency string
	Fee      *Fee
}

// Record is a settlement record: what was charged, line by line.
type Record struct {
	Engagement string // id, "" if it names none
	Total      int64
	Currency   string
	Lines      []Settled
	Fee        *Fee
}

// Dispute names the check of 5.5.8 a settlement record failed.
type Dispute string

// The four disputes.
const (
	FeeMissing       Dispute = "operator_fee_missing"
	FeeUndisclosed   Dispute = "operator_fee_undisclosed"
	FeeArithmetic    Dispute = "operator_fee_arithmetic"
	TotalUnaccounted Dispute = "total_unaccounted"
)

// CheckSettlement compares a record with the quote it followed and returns the
// first check it fails, or "" if the charge may be recorded as settled
// (5.5.8). Neither is changed, and no function here repairs one.
func CheckSettlement(q Quote, r Record) Dispute {
	switch {
	case q.Fee != nil && r.Fee == nil:
		return FeeMissing
	case q.Fee == nil && r.Fee != nil:
		return FeeUndisclosed
	case r.Fee != nil && !r.Fee.Closes():
		return FeeArithmetic
	}
	if sum, ok := r.Accounted(); !ok || sum != r.Total {
		return TotalUnaccounted
	}
	return ""
}

// Accounted returns what the record's lines and fee add up to, and false above
// Max.
func (r Record) Accounted() (int64, bool) {
	sum, ok := int64(0), true
	for _, l := range r.Lines {
		if sum, ok = add(sum, l.Amount); !ok {
			return 0, false
		}
	}
	if r.Fee != nil {
		return add(sum, r.Fee.Amount)
	}
	return sum, true
}

// Net returns what the provider receives: the total less the fee (5.5.8).
func (r Record) Net() int64 {
	if r.Fee == nil {
		return r.Total
	}
	return r.Total - r.Fee.Amount
}

// Admit refuses a record that the price clause cannot have produced:
// no_charge_settlement whatever its total (5.5.7), settlement_currency in
// another currency than the price's, meter_unpriced for a meter the schedule
// does not price, settlement_line_per, settlement_line_per_unit and
// settlement_line_pass_through for a line on other terms than the schedule's,
// settlement_line_amount for one above what its own counts rate to (5.5.2,
// 5.5.6), cap_exceeded and ceiling_exceeded where the total with what was
// already billed, in all or in the ceiling's period, passes the bound, fee
// included (5.5.1, 5.5.3, 5.5.8).
func Admit(p Price, r Record, alreadyBilled int64) error {
	if p.Arrangement == NoCharge {
		return refuse("no_charge_settlement")
	}
	if r.Currency != "" && p.Currency != "" && r.Currency != p.Currency {
		return refuse("settlement_currency")
	}
	sum, ok := add(r.Total, alreadyBilled)
	if p.Arrangement != TimeAndMaterials {
		if p.Ceiling.Set && (!ok || sum > p.Ceiling.N) {
			return refuse("ceiling_exceeded")
		}
		return nil
	}
	for _, s := range r.Lines {
		if err := p.admitLine(s); err != nil {
			return err
		}
	}
	if !ok || sum > p.Cap {
		return refuse("cap_exceeded")
	}
	return nil
}

// admitLine compares a settled line with the schedule that was signed.
func (p Price) admitLine(s Settled) error {
	line, ok := p.line(s.Meter)
	switch {
	case !ok:
		return refuse("meter_unpriced")
	case s.Per != line.Per:
		return refuse("settlement_line_per")
	case s.PerUnit != line.PerUnit:
		return refuse("settlement_line_per_unit")
	case s.PassThrough != line.PassThrough:
		return refuse("settlement_line_pass_through")
	}
	rated, err := line.Rate(s.Count)
	if err != nil {
		return err
	}
	if s.Amount > rated {
		return refuse("settlement_line_amount")
	}
	return nil
}

// StopOperator reports that further work under an operator should be refused:
// after its second disputed settlement (5.5.8).
func StopOperator(disputes int) bool { return disputes >= 2 }

// Split is an arbiter's division of a disputed amount (5.10.1).
type Split struct {
	Provider, Client int64
}

// Sums reports that the split gives each side nothing negative and the
// disputed amount exactly.
func (s Split) Sums(disputed int64) bool {
	sum, ok := add(s.Provider, s.Client)
	return ok && sum == disputed
}

// ArbiterFee divides the arbiter's fee: equally, or in proportion to the split
// found against each party (5.10.1). What floors is the client's share.
func ArbiterFee(followsFinding bool, fee int64, s Split) (provider, client int64, err error) {
	sum, ok := add(s.Provider, s.Client)
	if !ok || !inRange(fee) {
		return 0, 0, ErrRange
	}
	client = fee / 2
	if followsFinding && sum > 0 {
		// What went to the provider was found against the client.
		client, _ = mulDiv(fee, s.Provider, sum)
	}
	return fee - client, client, nil
}

// CadenceWarns reports that at a rate of spending the rest of the cap can be
// gone before the next report is due (5.12). It is a warning and refuses
// nothing; with no cap left or nothing spent there is none.
func CadenceWarns(everyMs, capRemaining, spendPerDay int64) bool {
	if everyMs <= 0 || capRemaining <= 0 || spendPerDay <= 0 {
		return false
	}
	const day = 86400000
	return wide(everyMs, spendPerDay).atLeast(wide(capRemaining, day))
}
