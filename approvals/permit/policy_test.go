package permit

import (
	"bytes"
	"strings"
	"testing"
)

func TestPolicyNeeds(t *testing.T) {
	h := "0x" + strings.Repeat("ab", 32)
	act := func(domain, operation string, resources ...string) Facts {
		return Facts{Client: "c_1", Domain: domain, Operation: operation, Resources: resources, Known: true, Selects: true}
	}
	option := act(h, "pay", "a")
	option.Moment, option.Class = true, "money"
	unseen := Facts{Moment: true, Client: "c_1", Selects: true, Class: "money"}
	answer := Facts{Moment: true, Client: "c_1", Class: "money"}
	for _, c := range []struct {
		name     string
		rule     Rule
		ordinary []string
		facts    Facts
		want     bool
	}{
		{"nothing is asked", Rule{Scope: ScopeMoment}, nil, act(h, "pay"), false},
		{"every action", Rule{Scope: ScopeAction}, nil, act(h, "pay"), true},
		{"every", Rule{Scope: ScopeEvery}, nil, answer, true},
		{"every moment, an answer", Rule{Scope: ScopeMoment}, nil, answer, true},
		{"another client", Rule{Scope: ScopeEvery, Client: "c_2"}, nil, option, false},
		{"the client", Rule{Scope: ScopeEvery, Client: "c_1"}, nil, option, true},
		{"the operation", Rule{Scope: ScopeAction, Operation: "pay"}, nil, act(h, "pay"), true},
		{"another operation", Rule{Scope: ScopeAction, Operation: "send"}, nil, act(h, "pay"), false},
		{"one of the resources", Rule{Scope: ScopeAction, Resource: "b"}, nil, act(h, "pay", "a", "b"), true},
		{"none of the resources", Rule{Scope: ScopeAction, Resource: "c"}, nil, act(h, "pay", "a", "b"), false},
		{"an action that names no resource", Rule{Scope: ScopeAction, Resource: "c"}, nil, act(h, "pay"), true},
		{"another domain", Rule{Scope: ScopeAction, Domain: "0x" + strings.Repeat("cd", 32)}, nil, act(h, "pay"), false},
		{"hiding the action does not help", Rule{Scope: ScopeEvery, Operation: "send"}, nil, unseen, true},
		{"an answer has no operation", Rule{Scope: ScopeEvery, Operation: "send"}, nil, answer, false},
		{"unseen", Rule{Scope: ScopeMoment, Unseen: true}, nil, unseen, true},
		{"seen", Rule{Scope: ScopeMoment, Unseen: true}, nil, option, false},
		{"unseen, an answer", Rule{Scope: ScopeMoment, Unseen: true}, nil, answer, false},
		{"the class", Rule{Scope: ScopeMoment, Class: "money"}, nil, option, true},
		{"an unknown class", Rule{Scope: ScopeMoment, Class: "law"}, nil, option, true},
		{"an ordinary class", Rule{Scope: ScopeMoment, Class: "law"}, []string{"money"}, option, false},
		{"no class", Rule{Scope: ScopeMoment, Class: "law"}, []string{"money"}, Facts{Moment: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := (Policy{Rules: []Rule{c.rule}, Ordinary: c.ordinary}).Needs(c.facts); got != c.want {
				t.Errorf("needs a passkey: %v", got)
			}
		})
	}
}

func TestPolicyDirection(t *testing.T) {
	p := func(ordinary []string, rules ...Rule) Policy { return Policy{Rules: rules, Ordinary: ordinary} }
	pay, any, client := Rule{Scope: ScopeAction, Operation: "pay"}, Rule{Scope: ScopeEvery}, Rule{Scope: ScopeAction, Client: "c_1"}
	law, money := Rule{Scope: ScopeMoment, Class: "law"}, Rule{Scope: ScopeMoment, Class: "money"}
	both := Rule{Scope: ScopeAction, Client: "c_1", Operation: "pay"}
	for _, c := range []struct {
		name     string
		from, to Policy
		loosens  bool
	}{
		{"the same", p(nil, pay), p(nil, pay), false},
		{"one more", p(nil, pay), p(nil, pay, client), false},
		{"one fewer", p(nil, pay, client), p(nil, pay), true},
		{"wider", p(nil, pay, client), p(nil, any), false},
		{"narrower", p(nil, pay), p(nil, both), true},
		{"another", p(nil, pay), p(nil, client), true},
		{"wider scope for a narrower one", p(nil, any), p(nil, Rule{Scope: ScopeAction}, Rule{Scope: ScopeMoment}), true},
		{"unseen for all", p(nil, Rule{Scope: ScopeMoment}), p(nil, Rule{Scope: ScopeMoment, Unseen: true}), true},
		{"all for unseen", p(nil, Rule{Scope: ScopeMoment, Unseen: true}), p(nil, Rule{Scope: ScopeMoment}), false},
		{"a class more", p(nil, law), p(nil, law, money), false},
		{"a class for one client makes it known", p(nil, law), p(nil, law, Rule{Scope: ScopeMoment, Class: "money", Client: "c_1"}), true},
		{"an ordinary class", p(nil, law), p([]string{"lunch"}, law), true},
		{"an ordinary class, with a rule on every moment", p(nil, law), p([]string{"lunch"}, law, Rule{Scope: ScopeMoment}), false},
		{"an ordinary class where no class counts", p(nil, pay), p([]string{"lunch"}, pay), false},
		{"an ordinary class fewer", p([]string{"lunch"}, law), p(nil, law), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.from.Loosens(c.to); got != c.loosens {
				t.Errorf("loosens: %v", got)
			}
		})
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, p := range []Policy{{}, {Rules: []Rule{{Scope: ScopeMoment, Class: "x", Unseen: true}, {Scope: ScopeEvery}}, Ordinary: []string{"a", "b"}}} {
		raw, err := p.Canonical()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := ParsePolicy(raw)
		if err != nil {
			return
		}
		again, err := p.Canonical()
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("read %q, wrote %q (%v)", raw, again, err)
		}
		if p.Loosens(p) {
			t.Fatalf("%q loosens itself", raw)
		}
	})
}
