// Package money holds the arithmetic of Agent SoW prices: rating, caps and
// ceilings with the operator's fee inside, revisions, settlement against a
// quote, splits, committed prices. Pure functions over exact integers in the
// smallest unit of a currency.
//
// It reads no document and holds no state: what was billed, how often a task
// was revised and what time it is are arguments. Section numbers are those of
// the Agent SoW specification, 0.22.
package money

import (
	"errors"
	"fmt"
	"math/bits"
)

// Max is the largest amount or count: 2^53-1, the largest integer every JSON
// reader holds exactly.
const Max int64 = 1<<53 - 1

// ErrRange is returned for a negative argument, one above Max, or a result
// above Max.
var ErrRange = errors.New("amount is outside 0 to 2^53-1")

// Opt is an amount or count that may be absent.
type Opt struct {
	N   int64
	Set bool
}

// Some returns the Opt that holds n.
func Some(n int64) Opt { return Opt{N: n, Set: true} }

// Refusal is the error of a rule that refuses: its code, and for refusals with
// a quote what the refused work would cost the client.
type Refusal struct {
	Code  string
	Quote Opt
}

// Error returns the code and the quote.
func (r *Refusal) Error() string {
	if r.Quote.Set {
		return fmt.Sprintf("refused: %s, quote %d", r.Code, r.Quote.N)
	}
	return "refused: " + r.Code
}

func refuse(code string) error { return &Refusal{Code: code} }

// Arrangement is a pricing arrangement (5.5).
type Arrangement string

// The arrangements, a closed set.
const (
	FixedFee         Arrangement = "fixed_fee"
	TimeAndMaterials Arrangement = "time_and_materials"
	NoCharge         Arrangement = "no_charge"
)

// Price is a price clause that was found valid.
type Price struct {
	Arrangement Arrangement
	Currency    string // ISO 4217 or a private X code, "" under NoCharge
	Rates       []Rate // FixedFee
	Ceiling     Opt    // FixedFee, per month
	Schedule    []Line // TimeAndMaterials
	Cap         int64  // TimeAndMaterials
	WindowDays  int64  // TimeAndMaterials, of the reservation
}

// Rate is the price of one task of an offering (5.5.1).
type Rate struct {
	Offering string
	PerTask  int64
}

// Line prices a meter (5.5.2). Per is the number of raw counts that make one
// unit; Unit is a label that is never parsed.
type Line struct {
	Meter, Unit  string
	Per, PerUnit int64
	PassThrough  bool
}

// Settles reports whether work under the price is rated and settled at all
// (5.5.7).
func (p Price) Settles() bool { return p.Arrangement != NoCharge }

// Committed returns what the client commits to at most: the cap, zero, or the
// ceiling; not set for a fixed fee without a ceiling, which commits to no
// bounded total (5.5.3, 5.5.7).
func (p Price) Committed() Opt {
	switch p.Arrangement {
	case TimeAndMaterials:
		return Some(p.Cap)
	case NoCharge:
		return Some(0)
	}
	return p.Ceiling
}

// CheckMandate refuses, with mandate_ceiling_exceeded, a price whose committed
// amount is above a mandate's ceiling or not bounded (5.5.3, 5.5.7).
func (p Price) CheckMandate(ceiling int64) error {
	if c := p.Committed(); !c.Set || c.N > ceiling {
		return &Refusal{Code: "mandate_ceiling_exceeded", Quote: c}
	}
	return nil
}

// Consequence is what an amendment that changes the arrangement does to money
// (5.5.7).
type Consequence string

// The consequences an arrangement change can have.
const (
	OpensReservation    Consequence = "opens_reservation"    // for the new cap, at approval, or the amendment is refused
	ReleasesReservation Consequence = "releases_reservation" // the held remainder returns at approval
	NoRefund            Consequence = "no_refund"            // work already billed stays billed
	NoBackBilling       Consequence = "no_back_billing"      // work already done for nothing stays free
)

// Consequences lists what changing from one price to another does. An
// amendment that keeps the arrangement has none here.
func Consequences(from, to Price) (out []Consequence) {
	if from.Arrangement == to.Arrangement {
		return nil
	}
	if to.Arrangement == TimeAndMaterials {
		out = append(out, OpensReservation)
	}
	if from.Arrangement == TimeAndMaterials {
		out = append(out, ReleasesReservation)
	}
	if to.Arrangement == NoCharge {
		out = append(out, NoRefund)
	}
	if from.Arrangement == NoCharge {
		out = append(out, NoBackBilling)
	}
	return out
}

// CheckReservation refuses, with reservation_unplaceable, an amendment into
// time and materials whose reservation the deployment cannot place (5.5.7).
func CheckReservation(from, to Price, placeable bool) error {
	if to.Arrangement == TimeAndMaterials && from.Arrangement != TimeAndMaterials && !placeable {
		return refuse("reservation_unplaceable")
	}
	return nil
}

// mulDiv returns floor(a*b/c) without overflow, and false if the result is
// above Max or an argument is not a valid one.
func mulDiv(a, b, c int64) (int64, bool) {
	if !inRange(a) || !inRange(b) || c <= 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	if q > uint64(Max) {
		return 0, false
	}
	return int64(q), true
}

func inRange(n int64) bool { return 0 <= n && n <= Max }

// add returns a+b, and false if it is above Max.
func add(a, b int64) (int64, bool) { return a + b, inRange(a) && inRange(b) && a+b <= Max }
