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

func TestEscalations(t *testing.T) {
	const hour, day = int64(3_600_000), int64(86_400_000)
	for name, c := range map[string]struct{ at, deadline, first, last int64 }{
		"far off":             {1000, 1000 + 100*day, 1000 + day, 1000 + 99*day},
		"four hours":          {1000, 1000 + 4*hour, 1000 + hour, 1000 + 3*hour},
		"not known":           {1000, 0, 1000 + day, 0},
		"over before it came": {10 * day, 9 * day, 11 * day, 0},
		"at the very instant": {10 * day, 10 * day, 11 * day, 0},
		"no time to speak of": {1000, 1001, 1000, 1001},
		"exactly four days":   {0, 4 * day, day, 3 * day},
		"a little less":       {0, 4*day - 4, day - 1, 3*day - 3},
	} {
		t.Run(name, func(t *testing.T) {
			first, last := Escalations(c.at, c.deadline)
			if first != c.first || last != c.last {
				t.Errorf("%d and %d, want %d and %d", first, last, c.first, c.last)
			}
			if last != 0 && (first < c.at || last < first || last > c.deadline) {
				t.Errorf("out of order: %d %d %d %d", c.at, first, last, c.deadline)
			}
		})
	}
}

func TestTaskDeadline(t *testing.T) {
	const hour = int64(3_600_000)
	for name, c := range map[string]struct {
		doc  string
		want int64
	}{
		"neither":              {`{"sow":"v1"}`, 0},
		"the term":             {`{"sow":"v1","starts_at":"1970-01-01T00:00:00Z","ends_at":"1970-01-02T00:00:00Z"}`, 24 * hour},
		"a floor":              {`{"sow":"v1","service_floors":{"floors":[{"id":"a","each_task_within":"PT9H"},{"id":"b","each_task_within":"PT4H"}]}}`, 5 * hour},
		"a floor, then over":   {`{"sow":"v1","starts_at":"1970-01-01T00:00:00Z","ends_at":"1970-01-01T03:00:00Z","service_floors":{"floors":[{"id":"b","each_task_within":"PT4H"}]}}`, 3 * hour},
		"a floor that is none": {`{"sow":"v1","service_floors":{"floors":[{"id":"a","each_task_within":"soon"}]}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse([]byte(c.doc))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.TaskDeadline(hour); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
