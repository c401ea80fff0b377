package permit

import (
	"encoding/json"
	"fmt"
	"slices"

	"vault/approvals/internal/strict"
	"vault/derive/jcs"
)

// TypePolicy is the type member of a policy.
const TypePolicy = "vault.policy"

// Bounds of a policy.
const (
	MaxPolicy  = 16 << 10 // bytes of its canonical form
	MaxRules   = 64
	MaxClasses = 64
)

// Policy says which single approvals need a passkey where a click would do. It
// only adds: what always needs one does so whatever a policy says. The zero
// Policy asks for nothing.
type Policy struct {
	Rules []Rule
	// Ordinary are decision classes of moments that the owner knows. Agents name the class, so a rule on
	// a class covers also moments with none, and with one that is neither ordinary nor a rule's own.
	Ordinary []string
	// SoWFloor is the least authority of the owner's own signatures under documents (Agent SoW 6.1): "" or
	// "person", or "agent_then_person". With "person" no pre-authorisation signs, and with the other neither
	// does a person without the agent.
	SoWFloor string
}

// Floors are the values of [Policy.SoWFloor], the loosest first.
var Floors = []string{"", "person", "agent_then_person"}

// FloorWords says in words what a floor asks for, "" for what is none.
func FloorWords(floor string) string {
	return map[string]string{
		"": "as each document says", "person": "always yours, never an agent’s alone", "agent_then_person": "your agent asks, then you",
	}[floor]
}

// Scope says what a rule is about.
type Scope string

// The scopes.
const (
	ScopeEvery  Scope = "every" // both of the following
	ScopeAction Scope = "action"
	ScopeMoment Scope = "moment" // every resolution but a decline
)

// Rule asks for a passkey where all of its members that are not empty fit. A
// member that the bytes say nothing about fits: an option without a shown action
// may be of any domain, operation and resource.
type Rule struct {
	Scope     Scope  `json:"scope"`
	Client    string `json:"client,omitempty"` // client id
	Domain    string `json:"domain,omitempty"` // domain hash, 0x and 64 hex digits
	Operation string `json:"operation,omitempty"`
	Resource  string `json:"resource,omitempty"` // one of the action's resources
	Class     string `json:"class,omitempty"`    // decision class; only of ScopeMoment
	// Unseen: only options whose action the vault was not shown; only of ScopeMoment.
	Unseen bool `json:"unseen,omitzero"`
}

// Facts are what a policy is asked about, taken from the bytes to be signed.
type Facts struct {
	Moment    bool // a resolution; else the signature of an action
	Client    string
	Domain    string // empty: not known
	Operation string // empty: not known
	Resources []string
	Known     bool   // Domain, Operation and Resources are those of an action that was shown
	Selects   bool   // an option of a moment, or an action: something is to be done
	Class     string // of a moment, or empty
}

type policyWire struct {
	Type     string   `json:"type"`
	V        int      `json:"v"`
	Rules    []Rule   `json:"rules"`
	Ordinary []string `json:"ordinary"`
	SoWFloor string   `json:"sow_floor,omitempty"`
}

// Canonical gives the canonical bytes, rules and classes in the order given.
func (p Policy) Canonical() ([]byte, error) {
	w := policyWire{TypePolicy, 1, p.Rules, p.Ordinary, p.SoWFloor}
	if w.Rules == nil {
		w.Rules = []Rule{}
	}
	if w.Ordinary == nil {
		w.Ordinary = []string{}
	}
	b, err := jcs.Marshal(w, jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("encode policy: %w", err)
	}
	if _, err := ParsePolicy(b); err != nil {
		return nil, fmt.Errorf("encode policy: %w", err)
	}
	return b, nil
}

// ParsePolicy reads the canonical bytes of a policy: at most MaxRules rules, none
// twice, and at most MaxClasses ordinary classes in order. It does not block.
func ParsePolicy(raw []byte) (Policy, error) {
	p, err := parsePolicy(raw)
	if err != nil {
		return Policy{}, fmt.Errorf("parse policy: %w", err)
	}
	return p, nil
}

func parsePolicy(raw []byte) (Policy, error) {
	var p Policy
	if len(raw) > MaxPolicy {
		return p, fmt.Errorf("more than %d bytes", MaxPolicy)
	}
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return p, err
	}
	rules, ordinary := v.Get("rules"), v.Get("ordinary")
	members := 4
	if floor := v.Get("sow_floor"); floor.Exists() {
		members++
		if p.SoWFloor = floor.Text(); !strict.Is(Floors[1:]...)(p.SoWFloor) {
			return p, fmt.Errorf("the floor of signatures is none")
		}
	}
	if v.Kind() != jcs.Object || v.Len() != members || v.Get("type").Text() != TypePolicy || rules.Kind() != jcs.Array || ordinary.Kind() != jcs.Array ||
		rules.Len() > MaxRules || ordinary.Len() > MaxClasses || string(v.Canonical()) != string(raw) {
		return p, fmt.Errorf("not a policy in canonical form within its bounds")
	}
	if n, ok := v.Get("v").Int(); !ok || n != 1 {
		return p, ErrWrongType
	}
	for _, item := range rules.Items() {
		r, err := parseRule(item)
		if err != nil {
			return p, err
		}
		if slices.Contains(p.Rules, r) {
			return p, fmt.Errorf("a rule stands there twice")
		}
		p.Rules = append(p.Rules, r)
	}
	for _, item := range ordinary.Items() {
		s := item.Text()
		if item.Kind() != jcs.String || !strict.Some(256)(s) || len(p.Ordinary) > 0 && s <= p.Ordinary[len(p.Ordinary)-1] {
			return p, fmt.Errorf("the ordinary classes are not texts in order")
		}
		p.Ordinary = append(p.Ordinary, s)
	}
	return p, nil
}

func parseRule(v jcs.Value) (Rule, error) {
	o, err := strict.Parse(v.Canonical())
	if err != nil {
		return Rule{}, err
	}
	r := Rule{
		Scope:     Scope(o.Text("scope", strict.Is(string(ScopeEvery), string(ScopeAction), string(ScopeMoment)))),
		Client:    o.Extra("client", strict.Client),
		Domain:    o.Extra("domain", strict.Hash),
		Operation: o.Extra("operation", strict.Some(1024)),
		Resource:  o.Extra("resource", strict.Some(1024)),
		Class:     o.Extra("class", strict.Some(256)),
		Unseen:    v.Get("unseen").Exists() && o.Flag("unseen"),
	}
	if err := o.Done(); err != nil {
		return Rule{}, fmt.Errorf("rule: %w", err)
	}
	if v.Get("unseen").Exists() && !r.Unseen || r.Scope != ScopeMoment && (r.Class != "" || r.Unseen) {
		return Rule{}, fmt.Errorf("rule: class and unseen are of moments")
	}
	if r.Unseen && (r.Domain != "" || r.Operation != "" || r.Resource != "") {
		return Rule{}, fmt.Errorf("rule: an action that is not shown has no domain, operation or resource")
	}
	return r, nil
}

// Needs says whether a passkey is needed, and by which rule.
func (p Policy) Needs(f Facts) (Rule, bool) {
	i := slices.IndexFunc(p.Rules, func(r Rule) bool { return p.fits(r, f) })
	if i < 0 {
		return Rule{}, false
	}
	return p.Rules[i], true
}

func (p Policy) fits(r Rule, f Facts) bool {
	about := r.Domain != "" || r.Operation != "" || r.Resource != ""
	switch {
	case r.Scope == ScopeAction && f.Moment, r.Scope == ScopeMoment && !f.Moment:
		return false
	case r.Client != "" && r.Client != f.Client:
		return false
	case (about || r.Unseen) && !f.Selects, r.Unseen && f.Known:
		return false
	case r.Class != "" && !p.classFits(r.Class, f.Class):
		return false
	case !f.Known:
		return true
	}
	return (r.Domain == "" || f.Domain == "" || r.Domain == f.Domain) &&
		(r.Operation == "" || f.Operation == "" || r.Operation == f.Operation) &&
		(r.Resource == "" || len(f.Resources) == 0 || slices.Contains(f.Resources, r.Resource))
}

func (p Policy) classFits(want, named string) bool {
	if named == "" || named == want {
		return true
	}
	return !slices.Contains(p.Ordinary, named) && !slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Class == named })
}

// covers says whether r asks wherever other does, as far as one can tell from the two.
func (r Rule) covers(other Rule) bool {
	wider := func(mine, its string) bool { return mine == "" || mine == its }
	return (r.Scope == ScopeEvery || r.Scope == other.Scope) && wider(r.Client, other.Client) && wider(r.Domain, other.Domain) &&
		wider(r.Operation, other.Operation) && wider(r.Resource, other.Resource) && wider(r.Class, other.Class) && (!r.Unseen || other.Unseen)
}

// Loosens says whether going from p to next may leave something to a click that
// needed a passkey. Where that cannot be told from single rules, it says so too.
func (p Policy) Loosens(next Policy) bool {
	if slices.Index(Floors, next.SoWFloor) < slices.Index(Floors, p.SoWFloor) {
		return true
	}
	for _, r := range p.Rules {
		if !slices.ContainsFunc(next.Rules, func(n Rule) bool { return n.covers(r) }) {
			return true
		}
	}
	if !slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Class != "" }) {
		return false
	}
	// A class that p does not know is covered by its rules on classes; it must not become known
	// unless its own rule covers what those did.
	known := func(q Policy) (out []string) {
		out = slices.Clone(q.Ordinary)
		for _, r := range q.Rules {
			if r.Class != "" {
				out = append(out, r.Class)
			}
		}
		return out
	}
	before := known(p)
	for _, class := range known(next) {
		if slices.Contains(before, class) {
			continue
		}
		for _, r := range p.Rules {
			if r.Class == "" {
				continue
			}
			r.Class = class
			if !slices.ContainsFunc(next.Rules, func(n Rule) bool { return n.covers(r) }) {
				return true
			}
		}
	}
	return false
}

// MarshalJSON gives the canonical form.
func (p Policy) MarshalJSON() ([]byte, error) { return p.Canonical() }

// UnmarshalJSON reads any spelling that ParsePolicy takes in canonical form.
func (p *Policy) UnmarshalJSON(raw []byte) (err error) {
	v, err := jcs.Parse(raw, jcs.Binding)
	if err == nil {
		*p, err = ParsePolicy(v.Canonical())
	}
	return err
}

var _ json.Marshaler = Policy{}
