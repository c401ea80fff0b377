package money_test

import (
	"slices"
	"testing"

	"vault/approvals/sow/money"
)

var metered = money.Price{Arrangement: money.TimeAndMaterials, Currency: "EUR", Cap: 100,
	Schedule: []money.Line{{Meter: "items", Per: 1, PerUnit: 10}, {Meter: "lookups", Per: 1, PerUnit: 4, PassThrough: true}}}

// TestAdmit: what a price clause cannot have produced.
func TestAdmit(t *testing.T) {
	items := func(count, amount int64) []money.Settled {
		return []money.Settled{{Meter: "items", Count: count, Per: 1, PerUnit: 10, Amount: amount}}
	}
	for name, c := range map[string]struct {
		price  money.Price
		record money.Record
		billed int64
		code   string
	}{
		"within the cap":            {metered, money.Record{Total: 20, Lines: items(2, 20)}, 80, ""},
		"cut at the cap":            {metered, money.Record{Total: 15, Lines: items(2, 15)}, 85, ""},
		"past the cap by one":       {metered, money.Record{Total: 20, Lines: items(2, 20)}, 81, "cap_exceeded"},
		"more than its counts":      {metered, money.Record{Total: 21, Lines: items(2, 21)}, 0, "settlement_line_amount"},
		"a meter not priced":        {metered, money.Record{Lines: []money.Settled{{Meter: "coffee"}}}, 0, "meter_unpriced"},
		"nothing, under no charge":  {money.Price{Arrangement: money.NoCharge}, money.Record{}, 0, "no_charge_settlement"},
		"a task, under a fixed fee": {money.Price{Arrangement: money.FixedFee}, money.Record{Total: 9}, 0, ""},
	} {
		if got := code(money.Admit(c.price, c.record, c.billed)); got != c.code {
			t.Errorf("%s: %q, want %q", name, got, c.code)
		}
	}
}

func TestRateRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		price money.Price
		usage []money.Count
		terms money.Terms
		code  string
	}{
		"no charge":               {money.Price{Arrangement: money.NoCharge}, nil, money.Terms{}, "no_charge_rating"},
		"fixed fee":               {money.Price{Arrangement: money.FixedFee}, nil, money.Terms{}, "fixed_fee_rating"},
		"a meter not priced":      {metered, []money.Count{{Meter: "coffee"}}, money.Terms{}, "meter_unpriced"},
		"no upstream receipt":     {metered, []money.Count{{Meter: "lookups"}}, money.Terms{}, "pass_through_receipt_missing"},
		"an upstream receipt":     {metered, []money.Count{{Meter: "lookups"}}, money.Terms{Receipts: map[string]string{"lookups": "r"}}, ""},
		"counts below zero":       {metered, []money.Count{{Meter: "items", Count: -1}}, money.Terms{}, money.ErrRange.Error()},
		"billed below zero":       {metered, nil, money.Terms{AlreadyBilled: -1}, money.ErrRange.Error()},
		"more than can be stated": {metered, []money.Count{{Meter: "items", Count: money.Max}}, money.Terms{}, money.ErrRange.Error()},
	} {
		if _, err := money.RateUsage(c.price, c.usage, c.terms); code(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

func TestSettledCheck(t *testing.T) {
	for name, c := range map[string]struct {
		line money.Settled
		code string
	}{
		"own work":              {money.Settled{Amount: 5}, ""},
		"receipt on own work":   {money.Settled{UpstreamReceipt: "r"}, "receipt_without_pass_through"},
		"no receipt":            {money.Settled{PassThrough: true}, "pass_through_receipt_missing"},
		"cost not stated":       {money.Settled{PassThrough: true, UpstreamReceipt: "r", Amount: 5}, ""},
		"at cost":               {money.Settled{PassThrough: true, UpstreamReceipt: "r", Amount: 5, UpstreamAmount: money.Some(5)}, ""},
		"one above cost":        {money.Settled{PassThrough: true, UpstreamReceipt: "r", Amount: 6, UpstreamAmount: money.Some(5)}, "pass_through_above_cost"},
		"something for nothing": {money.Settled{PassThrough: true, UpstreamReceipt: "r", Amount: 1, UpstreamAmount: money.Some(0)}, "pass_through_above_cost"},
	} {
		if got := code(c.line.Check()); got != c.code {
			t.Errorf("%s: %q, want %q", name, got, c.code)
		}
	}
}

// TestArrangements: what a price settles and commits to, and what changing it
// does (5.5.7).
func TestArrangements(t *testing.T) {
	fixed, free := money.Price{Arrangement: money.FixedFee}, money.Price{Arrangement: money.NoCharge}
	if !fixed.Settles() || !metered.Settles() || free.Settles() {
		t.Error("settles otherwise")
	}
	for name, c := range map[string]struct {
		from, to money.Price
		want     []money.Consequence
	}{
		"none":             {fixed, fixed, nil},
		"fixed to metered": {fixed, metered, []money.Consequence{money.OpensReservation}},
		"metered to fixed": {metered, fixed, []money.Consequence{money.ReleasesReservation}},
		"metered to free":  {metered, free, []money.Consequence{money.ReleasesReservation, money.NoRefund}},
		"free to metered":  {free, metered, []money.Consequence{money.OpensReservation, money.NoBackBilling}},
		"fixed to free":    {fixed, free, []money.Consequence{money.NoRefund}},
		"free to fixed":    {free, fixed, []money.Consequence{money.NoBackBilling}},
	} {
		if got := money.Consequences(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
		want := ""
		if slices.Contains(c.want, money.OpensReservation) {
			want = "reservation_unplaceable"
		}
		if got := code(money.CheckReservation(c.from, c.to, false)); got != want || money.CheckReservation(c.from, c.to, true) != nil {
			t.Errorf("%s: reservation %q", name, got)
		}
	}
	if money.FeeGrade(true, true) != "enforced" || money.FeeGrade(true, false) != "recorded" || money.FeeGrade(false, true) != "recorded" {
		t.Error("an operator at one end earns more than recorded")
	}
	if money.StopOperator(1) || !money.StopOperator(2) {
		t.Error("work stops after another number of disputes")
	}
	if got := (&money.Refusal{Code: "ceiling_reached", Quote: money.Some(7)}).Error(); got != "refused: ceiling_reached, quote 7" {
		t.Error(got)
	}
	r := money.Record{Total: 110, Fee: &money.Fee{Amount: 10}}
	if r.Net() != 100 || (money.Record{Total: 9}).Net() != 9 {
		t.Error("the net is another")
	}
}

// TestAdmitTerms: a line is settled on the terms that were signed, and a bound
// holds for what the client pays, fee included.
func TestAdmitTerms(t *testing.T) {
	line := func(change func(*money.Settled)) []money.Settled {
		s := money.Settled{Meter: "lookups", Count: 2, Per: 1, PerUnit: 4, Amount: 8, PassThrough: true, UpstreamReceipt: "r"}
		change(&s)
		return []money.Settled{s}
	}
	fixed := money.Price{Arrangement: money.FixedFee, Currency: "EUR", Ceiling: money.Some(100)}
	for name, c := range map[string]struct {
		price  money.Price
		record money.Record
		billed int64
		code   string
	}{
		"as signed":                     {metered, money.Record{Currency: "EUR", Total: 8, Lines: line(func(*money.Settled) {})}, 0, ""},
		"another divisor":               {metered, money.Record{Total: 8, Lines: line(func(s *money.Settled) { s.Per = 2 })}, 0, "settlement_line_per"},
		"another price of the unit":     {metered, money.Record{Total: 8, Lines: line(func(s *money.Settled) { s.PerUnit = 5 })}, 0, "settlement_line_per_unit"},
		"no longer at cost":             {metered, money.Record{Total: 8, Lines: line(func(s *money.Settled) { s.PassThrough, s.UpstreamReceipt = false, "" })}, 0, "settlement_line_pass_through"},
		"another currency":              {metered, money.Record{Currency: "USD", Total: 8, Lines: line(func(*money.Settled) {})}, 0, "settlement_currency"},
		"less than its counts":          {metered, money.Record{Total: 7, Lines: line(func(s *money.Settled) { s.Amount = 7 })}, 0, ""},
		"counts beyond what is stated":  {metered, money.Record{Total: 8, Lines: line(func(s *money.Settled) { s.Count = money.Max })}, 0, money.ErrRange.Error()},
		"at the ceiling, with its fee":  {fixed, money.Record{Total: 40, Fee: &money.Fee{Amount: 4}}, 60, ""},
		"past the ceiling by one":       {fixed, money.Record{Total: 41, Fee: &money.Fee{Amount: 5}}, 60, "ceiling_exceeded"},
		"past everything":               {fixed, money.Record{Total: money.Max}, money.Max, "ceiling_exceeded"},
		"no ceiling":                    {money.Price{Arrangement: money.FixedFee}, money.Record{Total: money.Max}, money.Max, ""},
		"past everything, under a cap":  {metered, money.Record{Total: money.Max}, money.Max, "cap_exceeded"},
		"the last unit of the cap":      {metered, money.Record{Total: 1}, 99, ""},
		"one more than the cap has":     {metered, money.Record{Total: 1}, 100, "cap_exceeded"},
		"nothing once the cap is spent": {metered, money.Record{}, 100, ""},
	} {
		if got := code(money.Admit(c.price, c.record, c.billed)); got != c.code {
			t.Errorf("%s: %q, want %q", name, got, c.code)
		}
	}
}
