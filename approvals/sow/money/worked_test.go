package money_test

import (
	"testing"

	"vault/approvals/sow/money"
)

// The numbers of this file are those the specification works with or prints in
// its examples; section numbers are its own.

// TestWorkedFees: the two fee lines of 5.5.8 and their edges.
func TestWorkedFees(t *testing.T) {
	ten, sixtytwo := money.Basis{Kind: money.Percent, N: 10}, money.Basis{Kind: money.Fixed, N: 62500}
	for name, c := range map[string]struct {
		basis        money.Basis
		base, amount int64
	}{
		"ten percent of 2,500,000":               {ten, 2500000, 250000},
		"62,500 against 2,500,000":               {sixtytwo, 2500000, 62500},
		"62,500 against nothing":                 {sixtytwo, 0, 62500},
		"ten percent of 91 floors":               {ten, 91, 9},
		"ten percent of 9 is nothing":            {ten, 9, 0},
		"one unit where a percentage is nothing": {money.Basis{Kind: money.Fixed, N: 1}, 9, 1},
		"nothing percent":                        {money.Basis{Kind: money.Percent}, 2500000, 0},
		"more than all of it":                    {money.Basis{Kind: money.Percent, N: 150}, 3, 4},
		"of the largest amount":                  {money.Basis{Kind: money.Percent, N: 100}, money.Max, money.Max},
	} {
		got, err := c.basis.Amount(c.base)
		if err != nil || got != c.amount {
			t.Errorf("%s: %d, %v", name, got, err)
		}
		for _, off := range []int64{-1, 0, 1} { // there is no tolerance
			f := money.Fee{Basis: c.basis, Base: c.base, Amount: c.amount + off}
			if f.Closes() != (off == 0) {
				t.Errorf("%s: an amount off by %d closes %v", name, off, f.Closes())
			}
		}
	}
}

// TestWorkedBound: a cap of 100 with ten percent is satisfied by 90, and by 91
// whose fee brings the charge to exactly 100 (5.5.8). The larger is billed.
func TestWorkedBound(t *testing.T) {
	p := money.Price{Arrangement: money.TimeAndMaterials, Currency: "XCR", Cap: 100, Schedule: []money.Line{{Meter: "items", Per: 1, PerUnit: 1}}}
	ten := &money.Basis{Kind: money.Percent, N: 10}
	got, err := money.RateUsage(p, []money.Count{{Meter: "items", Count: 1000}}, money.Terms{Basis: ten, Operator: "acme-mesh.example"})
	if err != nil || got.Total != 91 || got.Fee.Amount != 9 || got.ClientTotal != 100 || got.CapRemaining != 0 || !got.Exhausted || got.Unbilled != 909 {
		t.Errorf("rated %+v, %v", got, err)
	}
	for _, total := range []int64{90, 91} {
		r := money.Record{Total: total + total/10, Fee: &money.Fee{Basis: *ten, Base: total, Amount: total / 10},
			Lines: []money.Settled{{Meter: "items", Count: 1000, Per: 1, PerUnit: 1, Amount: total}}}
		if err := money.Admit(p, r, 0); err != nil {
			t.Errorf("%d is inside the cap: %v", total, err)
		}
		if d := money.CheckSettlement(money.Quote{Fee: r.Fee}, r); d != "" {
			t.Errorf("%d closes: %s", total, d)
		}
	}
	over := money.Record{Total: 101, Lines: []money.Settled{{Meter: "items", Count: 1000, Per: 1, PerUnit: 1, Amount: 92}}, Fee: &money.Fee{Basis: *ten, Base: 92, Amount: 9}}
	if got := code(money.Admit(p, over, 0)); got != "cap_exceeded" {
		t.Errorf("92 with its fee passes the cap: %q", got)
	}
}

// TestWorkedSchedule: the schedule of 5.5.2.
func TestWorkedSchedule(t *testing.T) {
	p := money.Price{Arrangement: money.TimeAndMaterials, Currency: "XCR", Cap: 40000000, WindowDays: 30, Schedule: []money.Line{
		{Meter: "tokens_out", Per: 1000, Unit: "1000 tokens", PerUnit: 1500}, {Meter: "tool_calls", Per: 1, Unit: "call", PerUnit: 2000},
		{Meter: "items", Per: 1, Unit: "invoice", PerUnit: 40000}, {Meter: "elapsed", Per: 60, Unit: "minute", PerUnit: 12000},
	}}
	for name, c := range map[string]struct {
		meter         string
		count, amount int64
	}{
		"a thousand tokens":             {"tokens_out", 1000, 1500},
		"999 tokens, no whole unit":     {"tokens_out", 999, 1498},
		"one token":                     {"tokens_out", 1, 1},
		"no token":                      {"tokens_out", 0, 0},
		"three calls":                   {"tool_calls", 3, 6000},
		"an invoice":                    {"items", 1, 40000},
		"a minute":                      {"elapsed", 60, 12000},
		"59 seconds":                    {"elapsed", 59, 11800},
		"the number of the sample file": {"tokens_out", 125501, 188251},
	} {
		got, err := money.RateUsage(p, []money.Count{{Meter: c.meter, Count: c.count}}, money.Terms{})
		if err != nil || got.Total != c.amount || got.Fee != nil {
			t.Errorf("%s: %d, %v", name, got.Total, err)
		}
	}
	if c := p.Committed(); c != money.Some(40000000) {
		t.Errorf("the committed price is %v", c)
	}
	// The cap is reached in the middle of a line: it is cut, and what comes after it is free.
	got, err := money.RateUsage(p, []money.Count{{Meter: "items", Count: 999}, {Meter: "tool_calls", Count: 30}, {Meter: "elapsed", Count: 3600}}, money.Terms{})
	if err != nil || got.Total != 40000000 || got.Lines[0].Amount != 39960000 || got.Lines[1].Amount != 40000 || got.Lines[2].Amount != 0 ||
		got.Unbilled != 740000 || !got.Exhausted {
		t.Errorf("rated %+v, %v", got, err)
	}
}

// TestWorkedCeiling: the rates of 5.5.1 under their ceiling of 40,000,000 a
// month, with an operator's ten percent inside.
func TestWorkedCeiling(t *testing.T) {
	p := money.Price{Arrangement: money.FixedFee, Currency: "XCR", Ceiling: money.Some(40000000),
		Rates: []money.Rate{{Offering: "reconcile-statement", PerTask: 2500000}, {Offering: "flag-exceptions", PerTask: 400000}}}
	ten := &money.Basis{Kind: money.Percent, N: 10}
	spent, tasks := int64(0), 0
	for {
		q, err := money.QuoteTask(p, "reconcile-statement", spent, ten)
		if q.Total != 2750000 || q.Fee.Amount != 250000 {
			t.Fatalf("the quote is %+v", q)
		}
		if err != nil {
			if code(err) != "ceiling_reached" {
				t.Fatal(err)
			}
			break
		}
		spent += q.Total
		tasks++
	}
	// Sixteen at the bare rate; with the fee inside, fourteen.
	if tasks != 14 || spent != 38500000 {
		t.Errorf("%d tasks for %d", tasks, spent)
	}
	if q, err := money.QuoteTask(p, "flag-exceptions", spent, ten); err != nil || q.Total != 440000 {
		t.Errorf("a smaller task still fits: %+v, %v", q, err)
	}
	if q, err := money.QuoteTask(p, "reconcile-statement", 0, ten); err != nil || q.Total != 2750000 {
		t.Errorf("the next month: %+v, %v", q, err)
	}
	if c := p.Committed(); c != money.Some(40000000) {
		t.Errorf("the committed price is %v", c)
	}
}

// TestWorkedRevisions: the block of 5.4.3, each of its two shapes.
func TestWorkedRevisions(t *testing.T) {
	const day = 86400000
	steps := money.Revisions{Count: money.Some(1), WindowDays: 14, Currency: "USD", Steps: []money.Step{{ID: "record-the-narration", Price: 400000}}}
	flat := money.Revisions{Count: money.Some(1), WindowDays: 14, Currency: "USD", Flat: money.Some(1000000)}
	for name, c := range map[string]struct {
		clause money.Revisions
		used   int64
		at     int64
		quote  int64 // 0: free
	}{
		"included":                     {steps, 0, 14 * day, 0},
		"one millisecond late":         {steps, 0, 14*day + 1, 400000},
		"the second one":               {steps, 1, day, 400000},
		"flat, included":               {flat, 0, day, 0},
		"flat, the second one":         {flat, 1, day, 1000000},
		"flat, late and the second":    {flat, 1, 99 * day, 1000000},
		"a revision of the revision":   {steps, 1, 2 * day, 400000}, // the count is the original task's
		"flat, long after, none drawn": {flat, 0, 99 * day, 1000000},
	} {
		r := money.Revision{Steps: []string{"record-the-narration"}, Used: c.used, At: c.at}
		n, drawn, err := c.clause.Price(r)
		if c.quote == 0 {
			if n != 0 || !drawn || err != nil {
				t.Errorf("%s: %d, %v, %v", name, n, drawn, err)
			}
			continue
		}
		if code(err) != "revision_needs_budget" {
			t.Errorf("%s: %v", name, err)
		}
		r.Budget = money.Some(c.quote - 1)
		if _, _, err := c.clause.Price(r); code(err) != "revision_needs_budget" {
			t.Errorf("%s: a budget short by one: %v", name, err)
		}
		r.Budget = money.Some(c.quote)
		if n, drawn, err := c.clause.Price(r); n != c.quote || drawn || err != nil {
			t.Errorf("%s: a budget that covers: %d, %v, %v", name, n, drawn, err)
		}
	}
	twice := money.Revision{Steps: []string{"record-the-narration", "record-the-narration"}, Used: 1, Budget: money.Some(money.Max)}
	if _, _, err := steps.Price(twice); code(err) != "revision_step_duplicate" {
		t.Errorf("a step named twice: %v", err)
	}
}

// TestWorkedSettlement: a fee off by one in either direction, each of the four
// disputes, and that a record is left as it came.
func TestWorkedSettlement(t *testing.T) {
	line := money.Fee{Operator: "acme-mesh.example", Basis: money.Basis{Kind: money.Percent, N: 10}, Base: 2500000, Amount: 250000}
	quote := money.Quote{Total: 2750000, Currency: "XCR", Fee: &line}
	with := func(fee *money.Fee, total int64) money.Record {
		return money.Record{Total: total, Currency: "XCR", Lines: []money.Settled{{Amount: 2500000}}, Fee: fee}
	}
	off := func(by int64) *money.Fee { f := line; f.Amount += by; return &f }
	for name, c := range map[string]struct {
		quote  money.Quote
		record money.Record
		want   money.Dispute
		net    int64
	}{
		"as quoted":                           {quote, with(&line, 2750000), "", 2500000},
		"one more":                            {quote, with(off(1), 2750001), money.FeeArithmetic, 2500000},
		"one less":                            {quote, with(off(-1), 2749999), money.FeeArithmetic, 2500000},
		"the line is gone, the total stays":   {quote, with(nil, 2750000), money.FeeMissing, 2750000},
		"the line is gone, the total follows": {quote, with(nil, 2500000), money.FeeMissing, 2500000},
		"a line nobody quoted":                {money.Quote{Total: 2500000}, with(&line, 2750000), money.FeeUndisclosed, 2500000},
		"one unit nobody accounts for":        {quote, with(&line, 2750001), money.TotalUnaccounted, 2500001},
		"a base that was not the lines'":      {quote, with(&money.Fee{Basis: line.Basis, Base: 2750000, Amount: 275000}, 2775000), "", 2500000}, // it closes; the base is disclosed
	} {
		before := c.record
		if got := money.CheckSettlement(c.quote, c.record); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.record.Total != before.Total || c.record.Fee != before.Fee || c.record.Net() != c.net {
			t.Errorf("%s: the record is %+v, net %d", name, c.record, c.record.Net())
		}
	}
}
