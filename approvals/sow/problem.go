package sow

import (
	"fmt"

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
