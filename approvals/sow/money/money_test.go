package money_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"vault/approvals/sow/money"
)

func code(err error) string {
	var r *money.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestFitBrute: the largest total that fits is found by trying them all.
func TestFitBrute(t *testing.T) {
	for cap := range int64(260) {
		for percent := range int64(230) {
			b := money.Basis{Kind: money.Percent, N: percent}
			want := int64(0)
			for n := int64(1); n+n*percent/100 <= cap; n++ {
				want = n
			}
			if got := money.Fit(cap, &b); got != want {
				t.Fatalf("%d at %d%%: %d fits, want %d", cap, percent, got, want)
			}
		}
	}
	for _, percent := range []int64{0, 1, 99, 100, 101, 12345, money.Max} {
		b := money.Basis{Kind: money.Percent, N: percent}
		fit := money.Fit(money.Max, &b)
		sum := func(n int64) *big.Int {
			f := new(big.Int).Mul(big.NewInt(n), big.NewInt(percent))
			f.Div(f, big.NewInt(100))
			return f.Add(f, big.NewInt(n))
		}
		if sum(fit).Cmp(big.NewInt(money.Max)) > 0 || sum(fit+1).Cmp(big.NewInt(money.Max)) <= 0 {
			t.Errorf("at %d%% %d fits", percent, fit)
		}
	}
	if money.Fit(-5, nil) != 0 || money.Fit(0, &money.Basis{Kind: money.Fixed}) != 0 {
		t.Error("something fits into nothing")
	}
}

func FuzzRate(f *testing.F) {
	f.Add(int64(125501), int64(1500), int64(1000))
	f.Add(money.Max, money.Max, int64(1))
	f.Add(money.Max, money.Max, money.Max)
	f.Add(int64(-1), int64(1), int64(0))
	f.Fuzz(func(t *testing.T, count, perUnit, per int64) {
		got, err := money.Line{Per: per, PerUnit: perUnit}.Rate(count)
		if count < 0 || perUnit < 0 || per <= 0 || count > money.Max || perUnit > money.Max {
			if err == nil {
				t.Fatalf("%d*%d/%d is %d", count, perUnit, per, got)
			}
			return
		}
		want := new(big.Int).Mul(big.NewInt(count), big.NewInt(perUnit))
		want.Div(want, big.NewInt(per))
		if over := want.Cmp(big.NewInt(money.Max)) > 0; over != (err != nil) || !over && want.Int64() != got {
			t.Fatalf("%d*%d/%d is %d, %v, want %s", count, perUnit, per, got, err, want)
		}
	})
}

// TestRateInvariants: whatever is rated, the client never pays past the cap,
// the parts add up, and exhausted means that nothing more fits.
func TestRateInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		p := money.Price{Arrangement: money.TimeAndMaterials, Cap: 1 + r.Int64N(500),
			Schedule: []money.Line{{Meter: "a", Per: 1 + r.Int64N(9), PerUnit: r.Int64N(20)}, {Meter: "b", Per: 1, PerUnit: 1}}}
		terms := money.Terms{AlreadyBilled: r.Int64N(600)}
		switch r.IntN(3) {
		case 0:
			terms.Basis = &money.Basis{Kind: money.Percent, N: r.Int64N(150)}
		case 1:
			terms.Basis = &money.Basis{Kind: money.Fixed, N: r.Int64N(60)}
		}
		usage := []money.Count{{Meter: "a", Count: r.Int64N(100)}, {Meter: "b", Count: r.Int64N(100)}}
		got, err := money.RateUsage(p, usage, terms)
		if err != nil {
			t.Fatal(err)
		}
		sum, gross := int64(0), int64(0)
		for i, l := range got.Lines {
			sum += l.Amount
			full, _ := p.Schedule[i].Rate(usage[i].Count)
			gross += full
		}
		fee := int64(0)
		if got.Fee != nil {
			fee = got.Fee.Amount
			if !got.Fee.Closes() || got.Total == 0 {
				t.Fatalf("fee %+v on %d", got.Fee, got.Total)
			}
		}
		if sum != got.Total || got.ClientTotal != got.Total+fee || gross != got.Total+got.Unbilled || got.CapRemaining < 0 {
			t.Fatalf("%+v does not add up", got)
		}
		if terms.AlreadyBilled <= p.Cap && (terms.AlreadyBilled+got.ClientTotal > p.Cap || got.CapRemaining != p.Cap-terms.AlreadyBilled-got.ClientTotal) {
			t.Fatalf("%+v against a cap of %d after %d", got, p.Cap, terms.AlreadyBilled)
		}
		if got.Exhausted != (money.Fit(got.CapRemaining, terms.Basis) == 0) {
			t.Fatalf("exhausted is %v with %d left and %d unbilled", got.Exhausted, got.CapRemaining, got.Unbilled)
		}
	}
}

func TestQuoteTask(t *testing.T) {
	p := money.Price{Arrangement: money.FixedFee, Currency: "XCR", Rates: []money.Rate{{Offering: "a", PerTask: 100}, {Offering: "free"}}, Ceiling: money.Some(110)}
	ten := &money.Basis{Kind: money.Percent, N: 10}
	for name, c := range map[string]struct {
		offering string
		spent    int64
		basis    *money.Basis
		total    int64
		code     string
	}{
		"fits with its fee":       {"a", 0, ten, 110, ""},
		"one over with its fee":   {"a", 1, ten, 110, "ceiling_reached"},
		"fits without a fee":      {"a", 10, nil, 100, ""},
		"over without a fee":      {"a", 11, nil, 100, "ceiling_reached"},
		"nothing charged, no fee": {"free", 110, &money.Basis{Kind: money.Fixed, N: 5}, 0, ""},
		"not priced":              {"b", 0, nil, 0, "offering_unpriced"},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := money.QuoteTask(p, c.offering, c.spent, c.basis)
			if q.Total != c.total || code(err) != c.code {
				t.Errorf("got %d, %v", q.Total, err)
			}
			var r *money.Refusal
			if c.code == "ceiling_reached" && (!errors.As(err, &r) || r.Quote != money.Some(c.total)) {
				t.Errorf("the refusal carries no quote: %v", err)
			}
		})
	}
}

func TestRevisions(t *testing.T) {
	const day = 86400000
	steps := money.Revisions{Count: money.Some(1), WindowDays: 14, Steps: []money.Step{{ID: "a", Price: 3}, {ID: "b", Price: 4}, {ID: "free"}}}
	bare := money.Revisions{Count: money.Some(1), WindowDays: 14}
	flat := money.Revisions{Flat: money.Some(9)}
	for name, c := range map[string]struct {
		clause money.Revisions
		req    money.Revision
		price  int64
		drawn  bool
		code   string
		quote  money.Opt
	}{
		"included":                   {steps, money.Revision{Steps: []string{"a"}, CompletedAt: day, At: 15 * day}, 0, true, "", money.Opt{}},
		"out of the window":          {steps, money.Revision{Steps: []string{"a"}, CompletedAt: day, At: 15*day + 1}, 0, false, "revision_needs_budget", money.Some(3)},
		"count used up":              {steps, money.Revision{Steps: []string{"a", "b"}, Used: 1}, 0, false, "revision_needs_budget", money.Some(7)},
		"budget covers":              {steps, money.Revision{Steps: []string{"a", "b"}, Used: 1, Budget: money.Some(7)}, 7, false, "", money.Opt{}},
		"budget short by one":        {steps, money.Revision{Steps: []string{"a", "b"}, Used: 1, Budget: money.Some(6)}, 0, false, "revision_needs_budget", money.Some(7)},
		"a step priced at nothing":   {steps, money.Revision{Steps: []string{"free"}, Used: 1}, 0, false, "", money.Opt{}},
		"a step the clause lacks":    {steps, money.Revision{Steps: []string{"z"}, Used: 1, Budget: money.Some(99)}, 0, false, "revision_step_undeclared", money.Opt{}},
		"no step named":              {steps, money.Revision{Used: 1, Budget: money.Some(99)}, 0, false, "revision_step_undeclared", money.Opt{}},
		"no price, count used up":    {bare, money.Revision{Used: 1, Budget: money.Some(99)}, 0, false, "revision_not_offered", money.Opt{}},
		"nothing included":           {flat, money.Revision{Budget: money.Some(9)}, 9, false, "", money.Opt{}},
		"nothing included, no money": {flat, money.Revision{}, 0, false, "revision_needs_budget", money.Some(9)},
	} {
		t.Run(name, func(t *testing.T) {
			n, drawn, err := c.clause.Price(c.req)
			if n != c.price || drawn != c.drawn || code(err) != c.code {
				t.Errorf("got %d, %v, %v", n, drawn, err)
			}
			var r *money.Refusal
			if errors.As(err, &r) && r.Quote != c.quote {
				t.Errorf("the quote is %v", r.Quote)
			}
		})
	}
}

func TestSettlementOrder(t *testing.T) {
	fee := func(amount int64) *money.Fee {
		return &money.Fee{Basis: money.Basis{Kind: money.Percent, N: 10}, Base: 105, Amount: amount}
	}
	lines := []money.Settled{{Amount: 60}, {Amount: 45}}
	for name, c := range map[string]struct {
		quote, record *money.Fee
		total         int64
		want          money.Dispute
	}{
		"as quoted":                       {fee(10), fee(10), 115, ""},
		"floored, not rounded":            {fee(10), fee(11), 116, money.FeeArithmetic},
		"missing before unaccounted":      {fee(10), nil, 115, money.FeeMissing},
		"undisclosed before arithmetic":   {nil, fee(11), 116, money.FeeUndisclosed},
		"arithmetic before unaccounted":   {fee(10), fee(9), 999, money.FeeArithmetic},
		"one unit unaccounted":            {fee(10), fee(10), 116, money.TotalUnaccounted},
		"no fee, one unit short":          {nil, nil, 104, money.TotalUnaccounted},
		"another amount than quoted, own": {&money.Fee{Basis: money.Basis{Kind: money.Fixed, N: 3}, Amount: 3}, fee(10), 115, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := money.CheckSettlement(money.Quote{Fee: c.quote}, money.Record{Total: c.total, Lines: lines, Fee: c.record})
			if got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
	if _, ok := (money.Record{Lines: []money.Settled{{Amount: money.Max}, {Amount: 1}}}).Accounted(); ok {
		t.Error("a sum beyond 2^53-1 is accounted for")
	}
}

func TestArbiterFee(t *testing.T) {
	for name, c := range map[string]struct {
		follows          bool
		fee              int64
		split            money.Split
		provider, client int64
	}{
		"split":                        {false, 10, money.Split{Provider: 1, Client: 9}, 5, 5},
		"split, odd":                   {false, 11, money.Split{Provider: 1, Client: 9}, 6, 5},
		"follows: all to the client":   {true, 10, money.Split{Client: 9}, 10, 0},
		"follows: all to the other":    {true, 10, money.Split{Provider: 9}, 0, 10},
		"follows: a third":             {true, 10, money.Split{Provider: 1, Client: 2}, 7, 3},
		"follows: nothing disputed":    {true, 10, money.Split{}, 5, 5},
		"follows: amounts of any size": {true, money.Max, money.Split{Provider: money.Max - 1, Client: 1}, 1, money.Max - 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, cl, err := money.ArbiterFee(c.follows, c.fee, c.split)
			if err != nil || p != c.provider || cl != c.client || p+cl != c.fee {
				t.Errorf("got %d and %d, %v", p, cl, err)
			}
		})
	}
	if _, _, err := money.ArbiterFee(true, 1, money.Split{Provider: -1}); err == nil {
		t.Error("a negative share divides a fee")
	}
	if !(money.Split{Provider: 4, Client: 6}).Sums(10) || (money.Split{Provider: 5, Client: 6}).Sums(10) || (money.Split{Provider: 11, Client: -1}).Sums(10) {
		t.Error("splits are summed otherwise")
	}
}

func TestCadence(t *testing.T) {
	const week = 604800000
	for _, c := range []struct {
		every, left, spend int64
		want               bool
	}{
		{week, 14000000, 2000000, true}, {week, 14000001, 2000000, false}, {week, 0, 1, false}, {week, 1, 0, false}, {0, 1, 1, false},
		{604799395200000, money.Max, money.Max, true}, {week, money.Max, 1, false},
	} {
		if got := money.CadenceWarns(c.every, c.left, c.spend); got != c.want {
			t.Errorf("%d ms, %d left, %d a day: %v", c.every, c.left, c.spend, got)
		}
	}
}

func TestMandate(t *testing.T) {
	for name, c := range map[string]struct {
		p    money.Price
		code string
	}{
		"cap at the ceiling":      {money.Price{Arrangement: money.TimeAndMaterials, Cap: 10}, ""},
		"cap above":               {money.Price{Arrangement: money.TimeAndMaterials, Cap: 11}, "mandate_ceiling_exceeded"},
		"nothing":                 {money.Price{Arrangement: money.NoCharge}, ""},
		"ceiling within":          {money.Price{Arrangement: money.FixedFee, Ceiling: money.Some(9)}, ""},
		"no ceiling, not bounded": {money.Price{Arrangement: money.FixedFee}, "mandate_ceiling_exceeded"},
	} {
		if got := code(c.p.CheckMandate(10)); got != c.code {
			t.Errorf("%s: %s", name, got)
		}
	}
}
