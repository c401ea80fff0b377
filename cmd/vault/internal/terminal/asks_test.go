package terminal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/permit"
	"vault/internal/fakedesk"
)

// What vault show says of each kind of request about passkeys, before anything is decided.
func TestAsksAreSaidByAnswer(t *testing.T) {
	action, pairing := sheetOf(), approvals.Sheet{ID: "p_1", Pairing: &approvals.PairingSheet{}}
	moment := momentOf(fakedesk.Reply())
	moment.Client = "c_1"
	rules := func(r ...permit.Rule) permit.Policy { return permit.Policy{Rules: r} }
	for name, c := range map[string]struct {
		sheet    approvals.Sheet
		policy   permit.Policy
		passkeys int
		want     []string
	}{
		"no passkey": {action, permit.Policy{}, 0, []string{"By a click in the window: approving once, granting more, declining.", "No passkey is enrolled: vault decide can do nothing until there is one."}},
		"a signature": {action, permit.Policy{}, 1, []string{"By passkey: granting more.", "By a click in the window: approving once, declining.",
			"vault decide asks for a passkey for what it approves or selects, and for declining."}},
		"a signature under a rule": {action, rules(permit.Rule{Scope: permit.ScopeAction, Operation: "send-invoice"}), 1, []string{"By passkey: approving once, granting more.", "By a click in the window: declining."}},
		"a pairing":                {pairing, permit.Policy{}, 1, []string{"By passkey: pairing.", "By a click in the window: declining."}},
		"a decision":               {moment, permit.Policy{}, 1, []string{"By a click in the window: option 1, option 2, an answer in your own words, rejecting the question, declining."}},
		"a decision, one operation": {moment, rules(permit.Rule{Scope: permit.ScopeMoment, Operation: "post-message"}), 1,
			[]string{"By passkey: option 2.", "By a click in the window: option 1, an answer in your own words, rejecting the question, declining."}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Asks(c.sheet, c.policy, c.passkeys)
			lines := strings.Split(strings.TrimSpace(got), "\n")
			for _, w := range c.want {
				if !slices.Contains(lines, w) {
					t.Errorf("no line %q in:\n%s", w, got)
				}
			}
			if strings.Contains(got, "By passkey") != strings.Contains(strings.Join(c.want, "\n"), "By passkey") {
				t.Errorf("%s", got)
			}
		})
	}
	if got := Asks(approvals.Sheet{Note: &approvals.NoteSheet{}}, permit.Policy{}, 1); got != "" {
		t.Errorf("a note: %q", got)
	}
}

func TestApprovingHereIsSaidToAskForAPasskey(t *testing.T) {
	for _, passkeys := range [][]approvals.PasskeyView{nil, onePasskey()} {
		d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: passkeys}
		out := talk(t, d, step{wait: "vault> ", typed: "open\r"}, step{wait: "Your answer: ", after: 2 * time.Second, typed: "q\r"})
		if said := strings.Contains(out, "What you approve here is confirmed with your passkey"); said != (len(passkeys) > 0) {
			t.Errorf("%d passkeys: %v", len(passkeys), said)
		}
	}
}

// Digits of a page that another terminal opened are compared here, and an answer counts for those that were shown alone.
func TestCompareOfAnotherTerminalsPage(t *testing.T) {
	view := approvals.CeremonyView{For: "r_1", State: approvals.CeremonyCompare, Digits: "733105"}
	for typed, want := range map[string][]bool{"same": {true}, "no": {false}, "yes": nil, "": nil} {
		t.Run(typed, func(t *testing.T) {
			d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey(), ceremony: newCeremony(approvals.Outcome{})}
			d.ceremony.now = &view
			out := talk(t, d, step{wait: "vault> ", typed: "compare\r"}, step{wait: "Type same", after: 2 * time.Second, typed: typed + "\r"})
			if !slices.Equal(d.ceremony.compared, want) || !strings.Contains(out, "733105") {
				t.Errorf("compared %v; the screen showed\n%s", d.ceremony.compared, out)
			}
		})
	}
	t.Run("none waits", func(t *testing.T) {
		d := &desk{status: approvals.Status{State: approvals.StateOpen}, ceremony: newCeremony(approvals.Outcome{})}
		if out := talk(t, d, step{wait: "vault> ", typed: "compare\r"}); !strings.Contains(out, "No page waits") {
			t.Errorf("%s", out)
		}
	})
	t.Run("told once", func(t *testing.T) {
		d := &desk{ceremony: newCeremony(approvals.Outcome{})}
		dev := newDevice(t)
		console := NewConsole(dev, dev.now)
		s := New(d, console, dev.now, time.UTC, nil)
		s.compares()
		d.ceremony.now = &view
		s.setConfirming(true)
		s.compares()
		if len(console.notices) != 0 {
			t.Errorf("told while its own prompt is open: %q", console.notices)
		}
		s.setConfirming(false)
		s.compares()
		s.compares()
		if len(console.notices) != 1 || !strings.Contains(console.notices[0], "Type compare") {
			t.Errorf("told %q", console.notices)
		}
	})
}
