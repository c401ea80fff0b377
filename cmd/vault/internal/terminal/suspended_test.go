package terminal

import (
	"context"
	"strings"
	"testing"
	"time"

	"vault/approvals"
)

// hung is a desk of a new instance, with what it suspends.
type hung struct {
	desk
	list     []approvals.SuspendedView
	admitted []string
}

func (h *hung) Suspended() ([]approvals.SuspendedView, error) { return h.list, nil }

func (h *hung) Readmit(_ context.Context, hash string, uses int64) (approvals.Outcome, error) {
	h.admitted = append(h.admitted, hash+" "+strings.Repeat("|", int(uses)))
	return approvals.Outcome{Code: "done"}, nil
}

func TestSuspendedAndReadmit(t *testing.T) {
	h := &hung{list: []approvals.SuspendedView{
		{EnvelopeHash: "0x11", Known: true, Operation: "send\x1b[2J\nnow", Resources: []string{"a", "b"}, MaxUses: 5, UsedBefore: 2, Agent: "Planner"},
		{EnvelopeHash: "0x22", UsedBefore: -1},
	}}
	h.status = approvals.Status{State: approvals.StateOpen}
	dev := newDevice(t,
		step{wait: "vault> ", typed: "suspended\r"}, step{wait: "vault> ", typed: "readmit 1 6\r"}, step{wait: "vault> ", typed: "readmit 2 1\r"},
		step{wait: "vault> ", typed: "readmit 3 1\r"}, step{wait: "vault> ", typed: "readmit 1 0\r"}, step{wait: "vault> ", typed: "readmit 1\r"}, step{wait: "vault> ", typed: "readmit 1 3\r"})
	h.t, h.dev = t, dev
	s := New(h, NewConsole(dev, dev.now), dev.now, time.UTC, func(err error) string { return err.Error() })
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := dev.out.String()
	for _, want := range []string{"1. send<U+001B>[2J now, on a, b", "show 2 uses; there may have been more", "2. Its words are not known", "no earlier log is here",
		"It states 5 uses; no more can be admitted.", "once an agent asks with it. Nothing was changed.", "It can be used again."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not on the screen:\n%s", want, out)
		}
	}
	if len(h.admitted) != 1 || h.admitted[0] != "0x11 |||" {
		t.Errorf("admitted %q", h.admitted)
	}
}
