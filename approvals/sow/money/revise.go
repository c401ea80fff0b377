package money

import (
	"math/bits"
	"slices"
)

// Revisions is a revisions clause that was found valid (5.4.3). Steps and Flat
// are alternatives; with neither, nothing beyond the included ones is offered.
type Revisions struct {
	Count      Opt   // included, not set if the clause includes none
	WindowDays int64 // after the original task's completion
	Steps      []Step
	Flat       Opt
	Currency   string
}

// Step is the price of redoing one delivery step.
type Step struct {
	ID    string
	Price int64
}

// Revision is a request to change delivered work. The count and the window are
// the original task's, whichever completion is revised.
type Revision struct {
	Steps       []string // named by the request
	Used        int64    // included revisions already drawn on the original task
	CompletedAt int64    // of the original task, milliseconds
	At          int64    // arrival of the request, milliseconds
	Budget      Opt
}

// Price returns what a revision costs: zero while an included one remains and
// the request is inside the window, else the sum of its steps or the flat
// price. It refuses revision_not_offered without a quote, revision_needs_budget
// with one, revision_step_undeclared for a step the clause does not price or a
// request that names none, and revision_step_duplicate for a step named twice.
// The bool says that an included revision was drawn.
func (c Revisions) Price(r Revision) (int64, bool, error) {
	const day = 86400000
	if c.Count.Set && r.Used < c.Count.N && r.At-r.CompletedAt <= min(c.WindowDays, Max/day)*day {
		return 0, true, nil
	}
	price := c.Flat.N
	switch {
	case len(c.Steps) > 0:
		price = 0
		if len(r.Steps) == 0 {
			return 0, false, refuse("revision_step_undeclared")
		}
		for i, id := range r.Steps {
			if slices.Contains(r.Steps[:i], id) {
				return 0, false, refuse("revision_step_duplicate")
			}
			n, ok := c.step(id)
			if !ok {
				return 0, false, refuse("revision_step_undeclared")
			}
			if price, ok = add(price, n); !ok {
				return 0, false, ErrRange
			}
		}
	case !c.Flat.Set:
		return 0, false, refuse("revision_not_offered")
	}
	if price > 0 && (!r.Budget.Set || r.Budget.N < price) {
		return 0, false, &Refusal{Code: "revision_needs_budget", Quote: Some(price)}
	}
	return price, false, nil
}

func (c Revisions) step(id string) (int64, bool) {
	for _, s := range c.Steps {
		if s.ID == id {
			return s.Price, true
		}
	}
	return 0, false
}

// product is an unsigned product of two amounts.
type product struct{ hi, lo uint64 }

func wide(a, b int64) product {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return product{hi, lo}
}

func (p product) atLeast(q product) bool {
	return p.hi > q.hi || p.hi == q.hi && p.lo >= q.lo
}
