package sow

import (
	"fmt"

	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// ProblemCodes are the five codes of a problem report (14.1), in the order of the specification.
var ProblemCodes = []string{"missing", "unreadable", "wrong_format", "no_permission", "other"}

// NewProblem makes a problem report (14.1); expected may be empty. The error is an [*ActError] that names the first member at fault,
// or says that a text is none that JSON can carry.
func NewProblem(input, code, description, expected string) (jcs.Value, error) {
	o := object{}
	o.text("input", input)
	o.text("problem", code)
	o.text("description", description)
	if expected != "" {
		o.text("expected", expected)
	}
	v, err := jcs.Parse(o.canonical(), jcs.SoW)
	if err != nil {
		return v, fmt.Errorf("make problem report: %w", err)
	}
	c := &checker{}
	c.problem(v, "problem")
	if f := c.found.First(); f != nil {
		return jcs.Value{}, fmt.Errorf("make problem report: %w", &ActError{*f})
	}
	return v, nil
}

// TaskDeadline is the latest instant at which a task is due whose problem was reported at an instant, both milliseconds: the shortest
// service floor counted from the report, because the task began before it (5.14), or the end of the term, whichever comes first. It is
// 0 where the document states neither.
func (d *Document) TaskDeadline(at int64) int64 {
	_, end, _, ended := d.Term()
	if !ended {
		end = 0
	}
	for _, f := range d.v.Get("service_floors").Get("floors").Items() {
		if limit, err := span.Duration(f.Get("each_task_within").Text()); err == nil && (end == 0 || at+limit < end) {
			end = at + limit
		}
	}
	return end
}

// Quiet is the longest time a problem report waits before it is escalated, in milliseconds.
const Quiet = span.Day

// Escalations are the instants at which a report of an instant that nobody has resolved is brought before the owner again (14.2), all
// milliseconds: after a quiet window, and once more before the deadline of its task; deadline 0 is not known, and then, or where it
// has passed before the report, last is 0. The specification names no lengths: either is a day, or a quarter of the time there is.
func Escalations(at, deadline int64) (first, last int64) {
	if deadline <= at {
		return at + Quiet, 0
	}
	quarter := min(Quiet, (deadline-at)/4)
	return at + quarter, deadline - quarter
}
