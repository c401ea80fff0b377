package sow

import (
	"errors"
	"testing"
)

func TestNewProblem(t *testing.T) {
	for name, c := range map[string]struct {
		input, code, description, expected string
		fault                              Code
		canonical                          string
	}{
		"whole":            {"bank-statement", "wrong_format", "It is a workbook.", "text/csv", "", `{"description":"It is a workbook.","expected":"text/csv","input":"bank-statement","problem":"wrong_format"}`},
		"nothing expected": {"ledger", "other", "“It” says\nnothing.", "", "", `{"description":"“It” says\nnothing.","input":"ledger","problem":"other"}`},
		"no input":         {" ", "missing", "It is not there.", "", "problem_input", ""},
		"no such code":     {"ledger", "lost", "It is not there.", "", "problem_code", ""},
		"no description":   {"ledger", "missing", "", "text/csv", "problem_description", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := NewProblem(c.input, c.code, c.description, c.expected)
			if c.fault == "" {
				if err != nil || string(v.Canonical()) != c.canonical {
					t.Fatalf("%s, %v", v.Canonical(), err)
				}
				act, err := NewAct(ActFields{Kind: Probe, SoW: "sow_1", Version: 1, Document: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", Role: Provider,
					At: "2026-10-01T00:00:00Z", Key: "UB7IK2DLBBSEFPYJ6T75MSPTFVRG5V72HVPDS2HBK77APAECMVZ4BIAL", Inputs: []Tried{{c.input, false, v}}})
				if err != nil || string(act.Fields().Inputs[0].Problem.Canonical()) != c.canonical {
					t.Fatalf("a probe does not take it: %v", err)
				}
				return
			}
			var fault *ActError
			if !errors.As(err, &fault) || fault.Finding.Code != c.fault {
				t.Fatalf("%v, want %s", err, c.fault)
			}
		})
	}
	for _, code := range ProblemCodes {
		if _, err := NewProblem("x", code, "y", ""); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
}
