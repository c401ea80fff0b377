package ui_test

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/permit"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui/parts"
)

const (
	inAdvance = "Your passkey is asked for, on a page in your browser."
	unusedOne = "Nothing was decided; the sheet is as you left it."
)

// fill types into the field with that placeholder.
func fill(t *testing.T, root fyne.CanvasObject, placeholder, text string) {
	t.Helper()
	for _, f := range uiwalk.All[*parts.Field](root) {
		if f.PlaceHolder == placeholder {
			f.SetText(text)
			return
		}
	}
	t.Fatalf("no field %q in %s", placeholder, uiwalk.Text(root))
}

// pressed presses a button with exactly that label.
func pressed(t *testing.T, root fyne.CanvasObject, label string) {
	t.Helper()
	for _, b := range uiwalk.All[*parts.Button](root) {
		if b.Label() == label {
			test.Tap(b)
			return
		}
	}
	t.Fatalf("no button %q in %s", label, uiwalk.Text(root))
}

func misses(t *testing.T, root fyne.CanvasObject, text string) {
	t.Helper()
	if all := uiwalk.Text(root); strings.Contains(all, text) {
		t.Errorf("%q is in %s", text, all)
	}
}

// The line of the button says in advance whether a passkey is asked for what is selected.
func TestAPasskeyIsSaidInAdvance(t *testing.T) {
	for _, c := range []struct {
		desk   func() *fakedesk.Desk
		id     string
		choice string
		want   bool
	}{
		{fakedesk.DecidingByPasskey, "m1", "Share dates only", true},
		{fakedesk.DecidingByPasskey, "m1", "Decline", false},
		{fakedesk.Deciding, "m1", "Share dates only", false},
		{fakedesk.Enrolled, "p1", "The number is the same", true},
		{fakedesk.Enrolled, "p1", "Decline", false},
		{fakedesk.Busy, "p1", "The number is the same", false},
		{fakedesk.Enrolled, "a1", "Approve once", false}, // its rule is another client's
		{fakedesk.Enrolled, "a1", "Approve and grant more", true},
		{fakedesk.Enrolled, "a2", "Approve once", true},
		{fakedesk.Enrolled, "a2", "Decline and block", false},
	} {
		t.Run(c.id+" "+c.choice, func(t *testing.T) {
			s := newStage(t, c.desk())
			w := s.sheet(c.id)
			s.wait()
			misses(t, w.Canvas().Content(), inAdvance)
			readAll(w)
			s.wait()
			test.Tap(choice(t, w, c.choice))
			readAll(w)
			if got := strings.Contains(uiwalk.Text(w.Canvas().Content()), inAdvance); got != c.want {
				t.Errorf("said %v, want %v: %s", got, c.want, uiwalk.Text(w.Canvas().Content()))
			}
		})
	}
}

// A rule that came while the sheet was open is said as well; and where no passkey is left, nothing can be confirmed.
func TestWhatIsSaidFollowsTheRules(t *testing.T) {
	s := newStage(t, fakedesk.Enrolled())
	w := s.sheet("a1")
	s.wait()
	test.Tap(choice(t, w, "Approve once"))
	readAll(w)
	misses(t, w.Canvas().Content(), inAdvance)
	s.desk.Set(func(d *fakedesk.Desk) { d.Rules.Rules = append(d.Rules.Rules, permit.Rule{Scope: permit.ScopeEvery}) })
	contains(t, w.Canvas().Content(), inAdvance)
	s.desk.Set(func(d *fakedesk.Desk) { d.Keys, d.Stat.Public.Passkeys = nil, 0 })
	contains(t, w.Canvas().Content(), "This needs a passkey and none is enrolled.")
	if b := confirm(t, w); !b.Disabled() {
		t.Errorf("%q can be pressed", b.Label())
	}
}

// After a confirmation that came to nothing the sheet says why and offers the page again, until something else is chosen.
func TestUnusedPasskeyIsOnTheSheet(t *testing.T) {
	for code, what := range map[string]string{
		"cancelled": "The passkey was not used", "page_closed": "The page was closed", "timed_out": "The passkey did not answer in time", "not_opened": "The page was not opened in time",
	} {
		t.Run(code, func(t *testing.T) {
			p := newPause(t, fakedesk.DecidingByPasskey())
			w := p.toConfirm("m1", "Share dates only", approvals.CeremonyAsking)
			p.desk.Outcome = approvals.Outcome{Code: code}
			p.desk.Set(func(d *fakedesk.Desk) { d.Asking = nil })
			p.ends()
			root := w.Canvas().Content
			contains(t, root(), what)
			pressed(t, root(), "Open the page again") // deaf for a second
			if len(p.desk.Decisions) != 1 {
				t.Fatalf("%d decisions", len(p.desk.Decisions))
			}
			p.wait()
			press(t, root(), "Back, nothing decided")
			contains(t, root(), what)
			contains(t, root(), unusedOne)
			toEnds(w)
			p.wait()
			p.desk.Outcome = approvals.Outcome{}
			pressed(t, root(), "Open the page again")
			if len(p.desk.Decisions) != 2 || p.desk.Decisions[1] != p.desk.Decisions[0] {
				t.Fatalf("%+v", p.desk.Decisions)
			}
			contains(t, root(), "You selected “Share dates only”")
		})
	}
	t.Run("another choice", func(t *testing.T) {
		p := newPause(t, fakedesk.Enrolled())
		w := p.sheet("a1")
		p.wait()
		test.Tap(choice(t, w, "Approve and grant more"))
		toEnds(w)
		p.wait()
		p.desk.Outcome = approvals.Outcome{Code: "page_closed"}
		test.Tap(confirm(t, w))
		p.wait()
		press(t, w.Canvas().Content(), "Back, nothing decided")
		contains(t, w.Canvas().Content(), "The page was closed")
		p.wait()
		test.Tap(choice(t, w, "Decline"))
		misses(t, w.Canvas().Content(), "The page was closed")
	})
	t.Run("nothing to open again", func(t *testing.T) {
		p := newPause(t, fakedesk.DecidingByPasskey())
		w := p.toConfirm("m1", "Share dates only", approvals.CeremonyAsking)
		p.desk.Outcome = approvals.Outcome{Code: "cooling"}
		p.desk.Set(func(d *fakedesk.Desk) { d.Asking = nil })
		p.ends()
		misses(t, w.Canvas().Content(), "Open the page again")
		p.wait()
		press(t, w.Canvas().Content(), "Back, nothing decided")
		contains(t, w.Canvas().Content(), "Two confirmations of this program were not answered")
		misses(t, w.Canvas().Content(), "Open the page again")
	})
	t.Run("in the settings", func(t *testing.T) {
		p := newPause(t, fakedesk.Enrolled())
		test.Tap(uiwalk.Row(p.root(), "Settings"))
		press(t, p.root(), "Remove 022 658")
		p.wait()
		test.Tap(choice(t, p.ui.Window(), "Remove this passkey"))
		p.desk.Outcome = approvals.Outcome{Code: "page_closed"}
		test.Tap(confirm(t, p.ui.Window()))
		contains(t, p.root(), "The page was closed")
		p.desk.Outcome = approvals.Outcome{}
		pressed(t, p.root(), "Open the page again")
		if n := len(slices.DeleteFunc(slices.Clone(p.desk.Calls), func(s string) bool { return s != "remove passkey p_91f3d0ce7c1e09a4" })); n != 2 {
			t.Errorf("calls %v", p.desk.Calls)
		}
		contains(t, p.root(), "The passkey was removed")
	})
}

// ruleStage is the settings with the form for a rule open.
func ruleStage(t *testing.T, desk *fakedesk.Desk) *pause {
	t.Helper()
	p := newPause(t, desk)
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	press(t, p.root(), "A rule of your own")
	p.wait()
	return p
}

// Every member that a rule can have can be named in the form, is said in words, and can be removed again.
func TestRulesAreMadeInTheForm(t *testing.T) {
	support := fakedesk.Busy().Doms[0].Hash
	for _, c := range []struct {
		name  string
		do    func(*testing.T, *pause)
		words string
		want  permit.Rule
	}{
		{"every moment of one agent", func(t *testing.T, p *pause) {
			pressed(t, p.root(), "Answers to decisions")
			pressed(t, p.root(), "support-sender")
		}, "Every answer to a decision of support-sender", permit.Rule{Scope: permit.ScopeMoment, Client: fakedesk.SupportSender}},
		{"operation and resource", func(t *testing.T, p *pause) {
			pressed(t, p.root(), "Single signatures")
			fill(t, p.root(), "Any operation", " send-message ")
			fill(t, p.root(), "Any resource", "channel:support")
		}, "Every signature, operation “send-message”, resource “channel:support”", permit.Rule{Scope: permit.ScopeAction, Operation: "send-message", Resource: "channel:support"}},
		{"domain", func(t *testing.T, p *pause) { pressed(t, p.root(), "support-ops") },
			"Every signature and every answer in the domain support-ops", permit.Rule{Scope: permit.ScopeEvery, Domain: support}},
		{"class", func(t *testing.T, p *pause) {
			pressed(t, p.root(), "Answers to decisions")
			fill(t, p.root(), "Any class", "purchase")
			contains(t, p.root(), "So this also asks where one names none")
		}, "Every answer to a decision, class “purchase”", permit.Rule{Scope: permit.ScopeMoment, Class: "purchase"}},
		{"an option without a shown action", func(t *testing.T, p *pause) {
			fill(t, p.root(), "Any operation", "left behind")
			pressed(t, p.root(), "Answers to decisions")
			pressed(t, p.root(), "Only where the vault has not seen the action")
			pressed(t, p.root(), "buying-desk")
			misses(t, p.root(), "Any operation")
			misses(t, p.root(), "Any domain")
		}, "Every option whose action the vault has not seen of buying-desk", permit.Rule{Scope: permit.ScopeMoment, Unseen: true, Client: fakedesk.BuyingDesk}},
		{"what is of decisions alone goes with them", func(t *testing.T, p *pause) {
			pressed(t, p.root(), "Answers to decisions")
			fill(t, p.root(), "Any class", "purchase")
			pressed(t, p.root(), "Single signatures")
			misses(t, p.root(), "Any class")
			fill(t, p.root(), "Any operation", "place-order")
		}, "Every signature, operation “place-order”", permit.Rule{Scope: permit.ScopeAction, Operation: "place-order"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			desk := fakedesk.Enrolled()
			desk.Rules = permit.Policy{SoWFloor: "agent_then_person"}
			p := ruleStage(t, desk)
			c.do(t, p)
			squeezed := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if text := squeezed(uiwalk.Text(p.root())); !strings.Contains(text, squeezed(c.words)) {
				t.Errorf("%q is not in %s", c.words, text)
			}
			contains(t, p.root(), "It counts at once, without a passkey")
			pressed(t, p.root(), "Add this rule")
			if !slices.Equal(p.desk.Rules.Rules, []permit.Rule{c.want}) {
				t.Fatalf("rules %+v", p.desk.Rules.Rules)
			}
			listed := c.words
			if c.name == "domain" { // has a line already
				listed = "In the domain support-ops passkey"
			}
			if text := squeezed(uiwalk.Text(p.root())); !strings.Contains(text, squeezed(listed)) {
				t.Errorf("the list does not say %q: %s", c.words, text)
			}
			pressed(t, p.root(), "Leave to a click")
			contains(t, p.root(), "A passkey confirms it")
			p.wait()
			test.Tap(choice(t, p.ui.Window(), "Leave this to a click"))
			test.Tap(confirm(t, p.ui.Window()))
			if len(p.desk.Rules.Rules) != 0 {
				t.Errorf("rules %+v", p.desk.Rules.Rules)
			}
			if p.desk.Rules.SoWFloor != "agent_then_person" {
				t.Errorf("the floor of signatures went with a rule: %+v", p.desk.Rules)
			}
		})
	}
}

func TestRulesThatCannotBeAdded(t *testing.T) {
	button := func(p *pause) *parts.Button { return uiwalk.Button(p.root(), "Add this rule") }
	t.Run("without a passkey", func(t *testing.T) {
		p := ruleStage(t, fakedesk.Busy())
		contains(t, p.root(), "This needs a passkey and none is enrolled.")
		if !button(p).Disabled() {
			t.Error("it can be added")
		}
	})
	t.Run("twice", func(t *testing.T) {
		p := ruleStage(t, fakedesk.Enrolled())
		pressed(t, p.root(), "Single signatures")
		pressed(t, p.root(), "buying-desk")
		fill(t, p.root(), "Any operation", "place-order")
		contains(t, p.root(), "There is this rule already.")
		if !button(p).Disabled() {
			t.Error("it can be added")
		}
	})
	t.Run("hidden letters", func(t *testing.T) {
		p := ruleStage(t, fakedesk.Enrolled())
		fill(t, p.root(), "Any operation", "place\u200border")
		contains(t, p.root(), "A name holds hidden or look-alike letters.")
		if !button(p).Disabled() {
			t.Error("it can be added")
		}
	})
	t.Run("as many as are kept", func(t *testing.T) {
		desk := fakedesk.Enrolled()
		desk.Rules = permit.Policy{}
		for i := range permit.MaxRules {
			desk.Rules.Rules = append(desk.Rules.Rules, permit.Rule{Scope: permit.ScopeAction, Operation: strings.Repeat("x", i+1)})
		}
		p := ruleStage(t, desk)
		contains(t, p.root(), "There are as many rules as a vault keeps.")
	})
	t.Run("within a second", func(t *testing.T) {
		desk := fakedesk.Enrolled()
		desk.Rules = permit.Policy{}
		p := newPause(t, desk)
		test.Tap(uiwalk.Row(p.root(), "Settings"))
		press(t, p.root(), "A rule of your own")
		pressed(t, p.root(), "Add this rule")
		if len(p.desk.Rules.Rules) != 0 {
			t.Errorf("rules %+v", p.desk.Rules.Rules)
		}
	})
}

// Adding a rule on a class can leave another class to a click: that is said, and a passkey confirms it.
func TestRuleThatLoosensSaysSo(t *testing.T) {
	desk := fakedesk.Enrolled()
	desk.Rules = permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeMoment, Class: "purchase"}}}
	p := ruleStage(t, desk)
	pressed(t, p.root(), "Answers to decisions")
	pressed(t, p.root(), "support-sender")
	fill(t, p.root(), "Any class", "greeting") // known from then on: the rule on purchases leaves it
	contains(t, p.root(), "A passkey confirms it: the vault asks less of you afterwards.")
}

// A rule that a wider one covers is removed without a passkey, and its line says so.
func TestCoveredRuleIsRemovedFreely(t *testing.T) {
	desk := fakedesk.Enrolled()
	desk.Rules = permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery}, {Scope: permit.ScopeAction, Operation: "x"}}}
	p := newPause(t, desk)
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	all := uiwalk.All[*parts.Button](p.root())
	i := 0
	for j, b := range all {
		if b.Label() == "Leave to a click" {
			i = j // the last one
		}
	}
	test.Tap(all[i])
	contains(t, p.root(), "It counts at once, without a passkey")
	p.wait()
	test.Tap(choice(t, p.ui.Window(), "Remove this rule"))
	test.Tap(confirm(t, p.ui.Window()))
	if !slices.Equal(p.desk.Rules.Rules, []permit.Rule{{Scope: permit.ScopeEvery}}) {
		t.Errorf("rules %+v", p.desk.Rules.Rules)
	}
}

func TestClassesThatAreKnown(t *testing.T) {
	desk := fakedesk.Enrolled()
	desk.Rules = permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeMoment, Class: "purchase"}}, Ordinary: []string{"travel"}, SoWFloor: "person"}
	p := newPause(t, desk)
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	contains(t, p.root(), "Classes that you know")
	press(t, p.root(), "Add a class that you know")
	pressed(t, p.root(), "Add this class")
	fill(t, p.root(), "The class, as agents name it", "travel")
	contains(t, p.root(), "You know this class already.")
	fill(t, p.root(), "The class, as agents name it", "greeting")
	contains(t, p.root(), "A passkey confirms it: the vault asks less of you afterwards.")
	p.wait()
	pressed(t, p.root(), "Add this class")
	if !slices.Equal(p.desk.Rules.Ordinary, []string{"greeting", "travel"}) {
		t.Fatalf("%+v", p.desk.Rules)
	}
	contains(t, p.root(), "without a passkey") // forgetting one asks more
	pressed(t, p.root(), "Forget travel")
	if !slices.Equal(p.desk.Rules.Ordinary, []string{"greeting"}) || len(p.desk.Rules.Rules) != 1 || p.desk.Rules.SoWFloor != "person" {
		t.Fatalf("%+v", p.desk.Rules)
	}
}

// An option that is labelled as one of the vault's own answers is called by its number on the button.
func TestOptionNamedAsOursIsCalledByNumber(t *testing.T) {
	for _, label := range []string{"Decline", " decline.", "This is the wrong question", "Answer in my own words"} {
		t.Run(label, func(t *testing.T) {
			d := fakedesk.Travel()
			d.Question.Options[1].Label = label
			s, w := decide(t, d, wide)
			readAll(w)
			s.wait()
			test.Tap(uiwalk.All[*parts.Choice](w.Canvas().Content())[1])
			if got := confirm(t, w).Label(); got != "Confirm: option 2" {
				t.Errorf("the button says %q", got)
			}
		})
	}
}

// The confirm step of the memo's example, with an envelope to sign it under, fits the window.
func TestConfirmStepFits(t *testing.T) {
	d := fakedesk.Travel()
	d.Question.Options[0].SignWith = fakedesk.SigningEnvelope
	d.Question.Options[0].Action = `{"actionIndex":0,"body":"The dates.","operation":"send-message","resource":"thread:customer-123","type":"support.message"}`
	for name, draft := range map[string]fakedesk.Draft{"as in the memo": fakedesk.Travel(), "with an envelope": d} {
		t.Run(name, func(t *testing.T) {
			s, w := decide(t, draft, wide)
			readAll(w)
			s.wait()
			test.Tap(choice(t, w, "Share dates only"))
			s.wait()
			test.Tap(confirm(t, w))
			contains(t, w.Canvas().Content(), "Action, complete")
			for _, v := range uiwalk.All[*parts.Scroll](w.Canvas().Content()) {
				if from, to := v.Shown(); to-from < v.Inner.Content.MinSize().Height {
					t.Errorf("%v of %v are in view", to-from, v.Inner.Content.MinSize().Height)
				}
			}
			place(t, w, "Fingerprint")
		})
	}
}

func TestInboxNamesWhoAndWhat(t *testing.T) {
	desk := fakedesk.Deciding()
	desk.Items[0].Stem = "What should be shared\r\n\n\nwith the booking service?"
	s := newStage(t, desk)
	contains(t, s.root(), "What should be shared with the booking service?")
	text := uiwalk.Text(s.root())
	from := strings.Index(text, "Decided today")
	if from < 0 {
		t.Fatal("nothing was decided today")
	}
	for _, want := range []string{"travel-desk You selected “ The aisle seat ” Which seat should be booked? by click", "buying-desk You declined a decision Shall the second supplier be asked before the order goes out?", "support-sender Signed as"} {
		if !strings.Contains(strings.Join(strings.Fields(text[from:]), " "), want) {
			t.Errorf("%q is not in %s", want, text[from:])
		}
	}
}

func TestActivityCountsWhatWasRead(t *testing.T) {
	desk := fakedesk.Busy()
	desk.Stat.Entries, desk.Stat.Covered, desk.Stat.Checked = 28, 28, 26
	s := newStage(t, desk)
	test.Tap(uiwalk.Row(s.root(), "Activity"))
	contains(t, s.root(), "26 entries, unbroken.")
	contains(t, s.root(), "Since then 2 more were written.")
	s.desk.Set(func(d *fakedesk.Desk) { d.Stat.Checked = 28 })
	contains(t, s.root(), "28 entries, unbroken.")
	misses(t, s.root(), "Since then")
}

// Between the last step of the first run and the page about passkeys no other page is shown.
func TestFirstRunDoesNotFlashTheInbox(t *testing.T) {
	p := newPause(t, fakedesk.Empty())
	w := p.toWords()
	p.during(func() { test.Tap(confirm(t, w)) }, nil)
	p.desk.Set(func(d *fakedesk.Desk) { d.Stat = fakedesk.Fresh().Stat }) // made, and the call has not returned
	contains(t, p.root(), "Look at the secret window")
	misses(t, p.root(), "Inbox")
	p.ends()
	contains(t, p.root(), "How do you confirm?")
	misses(t, p.root(), "Inbox")
}
