package terminal

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/permit"
)

// ceremony plays the desk's part while a decision waits for a passkey: it shows views one after the other. A view
// that wants an answer waits for it; the last one brings the outcome.
type ceremony struct {
	views   []approvals.CeremonyView
	outcome approvals.Outcome

	mu       sync.Mutex
	told     func()
	now      *approvals.CeremonyView
	compared []bool
	answered chan bool
	back     chan struct{}
}

func (c *ceremony) watch(f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.told
	c.told = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = old
	}
}

func (c *ceremony) set(v *approvals.CeremonyView) {
	c.mu.Lock()
	c.now = v
	told := c.told
	c.mu.Unlock()
	if told != nil {
		told()
	}
}

func (c *ceremony) run() approvals.Outcome {
	defer c.set(nil)
	for i := range c.views {
		c.set(&c.views[i])
		select {
		case same := <-c.answered:
			if !same {
				return approvals.Outcome{Code: "not_same"}
			}
		case <-c.back:
			return approvals.Outcome{Code: "cancelled"}
		}
	}
	return c.outcome
}

func newCeremony(out approvals.Outcome, views ...approvals.CeremonyView) *ceremony {
	return &ceremony{views: views, outcome: out, answered: make(chan bool, 1), back: make(chan struct{}, 1)}
}

func (d *desk) Ceremony() (approvals.CeremonyView, bool) {
	d.ceremony.mu.Lock()
	defer d.ceremony.mu.Unlock()
	if d.ceremony.now == nil {
		return approvals.CeremonyView{}, false
	}
	return *d.ceremony.now, true
}

func (d *desk) Compared(_ context.Context, same bool) error {
	d.ceremony.mu.Lock()
	d.ceremony.compared = append(d.ceremony.compared, same)
	d.ceremony.mu.Unlock()
	d.ceremony.answered <- same
	return nil
}

func (d *desk) CancelCeremony() { d.ceremony.back <- struct{}{} }

func onePasskey() []approvals.PasskeyView { return []approvals.PasskeyView{{ID: "p_1", Kind: "phone"}} }

// With a passkey neither words nor passphrase approve here: keys that a program types open a page and no more.
func TestApprovalOnTheTerminalIsACeremony(t *testing.T) {
	d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey()}
	d.ceremony = newCeremony(approvals.Outcome{Code: "done"}, approvals.CeremonyView{For: "r_1", State: approvals.CeremonyCompare, Digits: "733105"})
	out := talk(t, d,
		step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: 2 * time.Second, typed: "a\r"},
		step{wait: "Type same", after: 2 * time.Second, typed: "same\r"},
	)
	if len(d.decided) != 1 || !d.decided[0].Confirm || d.decided[0].Prove != "" {
		t.Fatalf("decided %+v", d.decided)
	}
	if len(d.ceremony.compared) != 1 || !d.ceremony.compared[0] {
		t.Errorf("compared %v", d.ceremony.compared)
	}
	for _, want := range []string{"It must show these digits: 733105", "Done. The program was told."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not on the screen:\n%s", want, out)
		}
	}
	if strings.Contains(out, "Four words") {
		t.Error("four words were asked for")
	}
}

func TestGoingBackFromTheCeremonyDecidesNothing(t *testing.T) {
	d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey()}
	d.ceremony = newCeremony(approvals.Outcome{Code: "done"}, approvals.CeremonyView{For: "r_1", State: approvals.CeremonyNoBrowser,
		Link: "http://vault-5b1f0c9a.localhost:38611/#9ab2\x1b[2J", Forward: "ssh -L 38611:localhost:38611 desk.example"})
	out := talk(t, d,
		step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: 2 * time.Second, typed: "a\r"},
		step{wait: "b: go back", after: 2 * time.Second, typed: "b\r"},
	)
	for _, want := range []string{"No browser has opened it yet", "ssh -L 38611", "Cancelled. Nothing was decided"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not on the screen:\n%s", want, out)
		}
	}
	if strings.Contains(out, "#9ab2\x1b[2J") {
		t.Error("the link reached the terminal unmarked")
	}
	if len(d.closed) != 1 {
		t.Errorf("closed %v", d.closed)
	}
}

// What is declined by key asks for no passkey.
func TestDecliningIsAKey(t *testing.T) {
	d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey(), outcome: approvals.Outcome{Code: "declined"}}
	talk(t, d,
		step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: 2 * time.Second, typed: "d\r"},
	)
	if len(d.decided) != 1 || d.decided[0].Verdict != approvals.VerdictDecline || d.decided[0].Confirm {
		t.Errorf("decided %+v", d.decided)
	}
}

// closing is a terminal at which nobody types. When a prompt of it ends, the desk changes once more.
type closing struct {
	device
	ended  chan struct{} // closed when the reading is to end
	closed func()
}

func (d *closing) Read([]byte) (int, error) {
	<-d.ended
	return 0, os.ErrDeadlineExceeded
}

func (d *closing) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		close(d.ended)
	}
	return nil
}

func (d *closing) Raw() (func() error, error) {
	d.ended = make(chan struct{})
	return func() error { d.closed(); return nil }, nil
}

// A passkey that answers at once changes the ceremony twice while one prompt is being closed. What came last is shown.
func TestChangesWhileThePromptCloses(t *testing.T) {
	d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey()}
	d.ceremony = newCeremony(approvals.Outcome{})
	dev := &closing{device: *newDevice(t)}
	taking, done := &approvals.CeremonyView{For: "r_1", State: approvals.CeremonyTaking}, make(chan struct{})
	dev.closed = func() {
		d.ceremony.set(taking)
		close(done)
	}
	s := New(d, NewConsole(dev, dev.now), dev.now, time.UTC, func(error) string { return "" })
	out, err := s.confirmed(t.Context(), func(context.Context) (approvals.Outcome, error) {
		d.ceremony.set(&approvals.CeremonyView{For: "r_1", State: approvals.CeremonyOpened})
		for !strings.Contains(dev.screen(), "b: go back") {
			runtime.Gosched()
		}
		d.ceremony.set(&approvals.CeremonyView{For: "r_1", State: approvals.CeremonyAsking})
		<-done
		for !strings.Contains(dev.screen(), "The key process checks it.") {
			if t.Context().Err() != nil {
				return approvals.Outcome{}, t.Context().Err()
			}
			runtime.Gosched()
		}
		return approvals.Outcome{Code: "done"}, nil
	})
	if err != nil || out.Code != "done" {
		t.Errorf("%+v, %v", out, err)
	}
}

// ruled is a desk with one program and a policy.
type ruled struct {
	desk
	now permit.Policy
	set []permit.Policy
}

func (d *ruled) Clients() []approvals.ClientView {
	return []approvals.ClientView{{ID: "c_00000000000000c1", Name: "Planner"}, {ID: "c_00000000000000c2", Name: "Old", Ended: "revoked"}}
}

func (d *ruled) Domains() []approvals.DomainView {
	return []approvals.DomainView{{ID: "ops", Hash: opsHash}}
}

const opsHash = "0x4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80917a2ed2b917a80b1fe2a9"

func (d *ruled) Policy() permit.Policy { return d.now }

func (d *ruled) SetPolicy(_ context.Context, p permit.Policy) (approvals.Outcome, error) {
	d.set = append(d.set, p)
	return approvals.Outcome{Code: approvals.OutcomeDone}, nil
}

func TestStricterForOneProgram(t *testing.T) {
	for typed, want := range map[string][]permit.Rule{
		"decisions":                                   {{Scope: permit.ScopeMoment}},
		"every c_00000000000000c1":                    {{Scope: permit.ScopeEvery, Client: "c_00000000000000c1"}},
		"unseen c_00000000000000c1":                   {{Scope: permit.ScopeMoment, Unseen: true, Client: "c_00000000000000c1"}},
		"every c_00000000000000c2":                    nil, // it has ended
		"every c_00000000000000c9":                    nil,
		"every c_00000000000000c1 c_00000000000000c1": nil,
		"c_00000000000000c1":                          nil,
		"":                                            nil,
		"signatures travel":                           nil,

		"signatures operation=place-order":             {{Scope: permit.ScopeAction, Operation: "place-order"}},
		"every domain=ops resource=a b c":              {{Scope: permit.ScopeEvery, Domain: opsHash, Resource: "a b c"}},
		"decisions c_00000000000000c1 class=the money": {{Scope: permit.ScopeMoment, Client: "c_00000000000000c1", Class: "the money"}},
		"every domain=" + opsHash:                      {{Scope: permit.ScopeEvery, Domain: opsHash}},
		"every domain=travel":                          nil,
		"every operation=pay\u200bnow":                 nil,
		"signatures class=money":                       nil, // a class is of decisions
		"unseen operation=pay":                         nil,
		"every colour=red":                             nil,
	} {
		t.Run(typed, func(t *testing.T) {
			d := &ruled{}
			dev := newDevice(t)
			s := New(d, NewConsole(dev, dev.now), dev.now, time.UTC, func(error) string { return "" })
			if err := s.stricter(t.Context(), strings.Fields(typed)); err != nil {
				t.Fatal(err)
			}
			var got []permit.Rule
			for _, p := range d.set {
				got = append(got, p.Rules...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("it asks %+v, want %+v; the screen: %s", got, want, dev.screen())
			}
		})
	}
}

// A rule more or less changes nothing else of the policy.
func TestRulesAloneAreChanged(t *testing.T) {
	now := permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeMoment}}, Ordinary: []string{"food"}, SoWFloor: "agent_then_person"}
	for name, do := range map[string]func(*Surface) error{
		"stricter": func(s *Surface) error { return s.stricter(t.Context(), []string{"signatures"}) },
		"looser":   func(s *Surface) error { return s.looser(t.Context(), []string{"1"}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := &ruled{now: now}
			dev := newDevice(t)
			s := New(d, NewConsole(dev, dev.now), dev.now, time.UTC, func(error) string { return "" })
			if err := do(s); err != nil {
				t.Fatal(err)
			}
			if len(d.set) != 1 || len(d.set[0].Rules) == 1 || d.set[0].SoWFloor != now.SoWFloor || !slices.Equal(d.set[0].Ordinary, now.Ordinary) {
				t.Errorf("%+v", d.set)
			}
		})
	}
}

// The floor alone is changed, by what it is typed as.
func TestFloorAloneIsChanged(t *testing.T) {
	now := permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeMoment}}, Ordinary: []string{"food"}, SoWFloor: "person"}
	for typed, want := range map[string]struct {
		set  bool
		to   string
		says string
	}{
		"":                  {false, "", "always yours, never an agent’s alone"},
		"document":          {true, "", "A passkey confirms it"},
		"person":            {false, "", "This is what counts now"},
		"agent_then_person": {true, "agent_then_person", "Your agent signs its part first"},
		"nobody":            {false, "", "Type one of"},
		"person person":     {false, "", "Type one of"},
	} {
		t.Run(typed, func(t *testing.T) {
			d := &ruled{now: now}
			dev := newDevice(t)
			s := New(d, NewConsole(dev, dev.now), dev.now, time.UTC, func(error) string { return "" })
			if err := s.floor(t.Context(), strings.Fields(typed)); err != nil {
				t.Fatal(err)
			}
			if len(d.set) != 0 != want.set || want.set && (d.set[0].SoWFloor != want.to || !slices.Equal(d.set[0].Rules, now.Rules) || !slices.Equal(d.set[0].Ordinary, now.Ordinary)) {
				t.Errorf("%+v", d.set)
			}
			if !strings.Contains(dev.screen(), want.says) {
				t.Errorf("%q is not on the screen: %s", want.says, dev.screen())
			}
			if want.set && now.Loosens(d.set[0]) != strings.Contains(dev.screen(), "A passkey confirms it") {
				t.Errorf("the direction is not said: %s", dev.screen())
			}
		})
	}
}

// Only a request that has ended leaves its sheet open: every other outcome has it closed, or nothing else could be opened.
func TestSheetsThatStayOpen(t *testing.T) {
	for code := range outcomeWords {
		want := slices.Contains([]string{"done", "declined", "already_decided", "expired"}, code)
		if isOver(code) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
	if isOver("a code of the key process") {
		t.Error("over by a code that nobody knows")
	}
}
