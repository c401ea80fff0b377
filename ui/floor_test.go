package ui_test

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2/test"

	"vault/approvals/permit"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
)

// TestFloor: the owner's floor is in the table of what needs a person, and every change of it says what it is confirmed by; nothing
// else of the policy goes with it.
func TestFloor(t *testing.T) {
	words := map[string][2]string{"": {"As each document says", "as each document says"}, "person": {"Always you", "always you, by passkey"}, "agent_then_person": {"Your agent, then you", "your agent, then you"}}
	for _, from := range permit.Floors {
		for _, to := range permit.Floors {
			t.Run(from+" to "+to, func(t *testing.T) {
				desk := fakedesk.Enrolled()
				desk.Rules.SoWFloor, desk.Rules.Ordinary = from, []string{"travel"}
				rules := slices.Clone(desk.Rules.Rules)
				s := newStage(t, desk)
				test.Tap(uiwalk.Row(s.root(), "Settings"))
				contains(t, s.root(), words[from][1])
				press(t, s.root(), "Who signs…")
				c := uiwalk.Choice(s.root(), words[to][0])
				if c == nil {
					t.Fatal("there is no such row")
				}
				contains(t, s.root(), "A change of what was agreed needs your passkey whatever stands here.")
				if from == to {
					if !c.Disabled() {
						t.Error("what counts now can be chosen")
					}
					return
				}
				s.wait()
				test.Tap(c)
				press(t, s.root(), "Confirm: "+words[to][0])
				if d := s.desk.Rules; d.SoWFloor != to || !slices.Equal(d.Rules, rules) || !slices.Equal(d.Ordinary, []string{"travel"}) {
					t.Errorf("the policy is %+v", d)
				}
				contains(t, s.root(), words[to][1])
				said := "More is asked before you are bound"
				if slices.Index(permit.Floors, to) < slices.Index(permit.Floors, from) {
					said = "A passkey confirmed it."
				}
				contains(t, s.root(), said)
			})
		}
	}
}

// Without a passkey more can be asked, and not less.
func TestFloorWithoutAPasskey(t *testing.T) {
	desk := fakedesk.Busy()
	desk.Rules.SoWFloor = "person"
	s := newStage(t, desk)
	test.Tap(uiwalk.Row(s.root(), "Settings"))
	press(t, s.root(), "Who signs…")
	if c := uiwalk.Choice(s.root(), "As each document says"); !c.Disabled() {
		t.Error("less can be asked")
	}
	contains(t, s.root(), "This needs a passkey and none is enrolled.")
	if c := uiwalk.Choice(s.root(), "Your agent, then you"); c.Disabled() {
		t.Error("more cannot be asked")
	}
}
