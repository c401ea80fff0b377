package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/permit"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// Limits of what is typed into a rule, in characters.
const (
	ruleMost  = 400 // operation and resource
	classMost = 100
)

// ruleForm is where a rule is put together that asks a passkey: all of what it names must fit, and what it
// leaves open fits everything.
type ruleForm struct {
	scope          permit.Scope
	client, domain string // client id and domain hash, or ""
	unseen         bool
	operation      *parts.Field
	resource       *parts.Field
	class          *parts.Field
	gate           *gate
}

func newRuleForm(u *UI) *ruleForm {
	f := &ruleForm{scope: permit.ScopeEvery, gate: &gate{now: u.opts.Now}}
	f.operation = parts.NewField("", "Any operation", ruleMost)
	f.resource = parts.NewField("", "Any resource", ruleMost)
	f.class = parts.NewField("", "Any class", classMost)
	for _, e := range []*parts.Field{f.operation, f.resource, f.class} {
		e.Watch(u)
		e.OnChanged = func(string) { u.rebuild() }
	}
	f.gate.arm()
	return f
}

// rule is what the form says now. What does not go together is left out, and its control is not shown.
func (f *ruleForm) rule() permit.Rule {
	t := strings.TrimSpace
	r := permit.Rule{Scope: f.scope, Client: f.client}
	if f.scope == permit.ScopeMoment {
		r.Class, r.Unseen = t(f.class.Text), f.unseen
	}
	if !r.Unseen {
		r.Domain, r.Operation, r.Resource = f.domain, t(f.operation.Text), t(f.resource.Text)
	}
	return r
}

// hindrance says what keeps the rule from being added, or "".
func (f *ruleForm) hindrance(u *UI) string {
	r, now := f.rule(), u.state.Policy
	for _, s := range []string{r.Operation, r.Resource, r.Class} {
		if !plain.One(s).Clean() {
			return "A name holds hidden or look-alike letters."
		}
	}
	switch {
	case len(u.state.Passkeys) == 0:
		return u.mayConfirm()
	case slices.Contains(now.Rules, r):
		return "There is this rule already."
	case len(now.Rules) >= permit.MaxRules:
		return "There are as many rules as a vault keeps. Remove one first."
	}
	if _, err := with(now, r).Canonical(); err != nil {
		return "The rules together are longer than a vault keeps. Remove one first."
	}
	return ""
}

// with is a policy with one rule more.
func with(p permit.Policy, r permit.Rule) permit.Policy {
	p.Rules = append(slices.Clone(p.Rules), r)
	return p
}

// asksWords says before a change of the policy what it asks for.
func asksWords(now, next permit.Policy) string {
	if now.Loosens(next) {
		return "A passkey confirms it: the vault asks less of you afterwards. A program that controls the screen can click."
	}
	return "It counts at once, without a passkey: the vault asks no less of you."
}

func (f *ruleForm) view(u *UI, p *settingsPage) fyne.CanvasObject {
	pill := func(name string, on bool, set func()) fyne.CanvasObject {
		return u.pill(name, on, func() { set(); u.rebuild() })
	}
	line := func(name string, o fyne.CanvasObject) fyne.CanvasObject {
		return parts.Cells(16, []float32{112, 0}, parts.Middle(28, look.Text(look.Body, look.Ink2, name)), o)
	}
	field := func(name string, e *parts.Field) fyne.CanvasObject {
		return parts.Cells(16, []float32{112, 0}, parts.Middle(36, look.Text(look.Body, look.Ink2, name)), parts.Row(0, parts.Size(420, 36, e), parts.Spring()))
	}
	r := f.rule()
	rows := []fyne.CanvasObject{
		look.Text(look.Stem, look.Ink, "A rule of your own"),
		look.Text(look.Small, look.Ink2, "It asks a passkey where all of what it names fits. What it leaves open fits everything; so does what an agent does not say."),
		line("Asks for", parts.Flow(8, 8,
			pill("Both", f.scope == permit.ScopeEvery, func() { f.scope = permit.ScopeEvery }),
			pill("Single signatures", f.scope == permit.ScopeAction, func() { f.scope = permit.ScopeAction }),
			pill("Answers to decisions", f.scope == permit.ScopeMoment, func() { f.scope = permit.ScopeMoment }))),
	}
	agents := []fyne.CanvasObject{pill("Any agent", f.client == "", func() { f.client = "" })}
	for _, c := range u.state.Clients {
		if c.Ended == "" {
			agents = append(agents, pill(safe(c.Name), f.client == c.ID, func() { f.client = c.ID }))
		}
	}
	rows = append(rows, line("Agent", parts.Flow(8, 8, agents...)))
	if f.scope == permit.ScopeMoment {
		rows = append(rows, field("Class", f.class), line("Options", parts.Flow(8, 8,
			pill("Any option", !f.unseen, func() { f.unseen = false }),
			pill("Only where the vault has not seen the action", f.unseen, func() { f.unseen = true }))))
	}
	if !r.Unseen {
		domains := []fyne.CanvasObject{pill("Any domain", f.domain == "", func() { f.domain = "" })}
		for _, d := range u.state.Domains {
			domains = append(domains, pill(safe(d.ID), f.domain == d.Hash, func() { f.domain = d.Hash }))
		}
		rows = append(rows, line("Domain", parts.Flow(8, 8, domains...)), field("Operation", f.operation), field("Resource", f.resource))
	}
	now := u.state.Policy
	say := []fyne.CanvasObject{look.Text(look.CaptionM, look.Ink3, "In words"), look.Para(u.ruleRuns(look.Body, r)...)}
	if r.Class != "" {
		say = append(say, look.Text(look.Small, look.Ink2, "Agents name the class. So this also asks where one names none, or a class that you do not know."))
	}
	why := f.hindrance(u)
	switch {
	case why != "":
	case covered(now, r):
		say = append(say, look.Text(look.Small, look.Ink2, "A rule that is there already asks for all of this."))
	}
	rows = append(rows, parts.Framed(parts.Pad(10, 14, 10, 14, parts.Column(4, say...))))
	add := u.button(parts.Primary, asksIcon(now, with(now, r)), "Add this rule", func() {
		if !f.gate.open() || f.hindrance(u) != "" {
			return
		}
		p.asking, p.rule = "", nil
		u.setPolicy(with(now, r), &banner{parts.Calm, "check", "This needs a passkey now", "A click no longer approves it."}, nil)
	})
	note := why
	if why != "" {
		add.Disable()
	} else {
		note = asksWords(now, with(now, r))
	}
	back := u.button(parts.Plain, "", "Back", p.shut(u))
	rows = append(rows, parts.Row(12, back, parts.Grow(look.Text(look.Caption, look.Ink3, note)), add))
	p.drawn = parts.Sunk(look.Ground, 6, parts.Pad(16, 16, 14, 16, parts.Column(12, rows...)))
	return p.drawn
}

// ruleRuns says what a rule is about, with what agents may name as text from outside.
func (u *UI) ruleRuns(style look.Style, r permit.Rule) []look.Run {
	own := func(t string) look.Run { return look.Run{Text: t, Style: style, Color: look.Ink} }
	words := map[permit.Scope]string{permit.ScopeEvery: "Every signature and every answer", permit.ScopeAction: "Every signature", permit.ScopeMoment: "Every answer to a decision"}[r.Scope]
	if r.Unseen {
		words = "Every option whose action the vault has not seen"
	}
	if r.Client != "" {
		i := slices.IndexFunc(u.state.Clients, func(c approvals.ClientView) bool { return c.ID == r.Client })
		if i >= 0 {
			words += " of " + safe(u.state.Clients[i].Name)
		} else {
			words += " of an agent that is not paired any more"
		}
	}
	runs := []look.Run{own(words)}
	if r.Domain != "" {
		i := slices.IndexFunc(u.state.Domains, func(d approvals.DomainView) bool { return d.Hash == r.Domain })
		if i >= 0 {
			runs = append(append(runs, own(" in the domain ")), hostile.Runs(style, look.Ink, u.state.Domains[i].ID)...)
		} else {
			runs = append(runs, own(" in the domain "+short(r.Domain)))
		}
	}
	for _, x := range [][2]string{{"operation", r.Operation}, {"resource", r.Resource}, {"class", r.Class}} {
		if x[1] != "" {
			runs = append(append(append(runs, own(", "+x[0]+" “")), hostile.Runs(style, look.Ink, x[1])...), own("”"))
		}
	}
	return runs
}

// classRows are the line with the classes of decisions that the owner knows, where there is a rule on a class, and
// the field for another one.
func (p *settingsPage) classRows(u *UI) []fyne.CanvasObject {
	now := u.state.Policy
	if len(now.Ordinary) == 0 && !slices.ContainsFunc(now.Rules, func(r permit.Rule) bool { return r.Class != "" }) {
		return nil
	}
	list := []fyne.CanvasObject{
		look.Text(look.Body, look.Ink, "Classes that you know"),
		look.Text(look.Small, look.Ink2, "Agents name the class. So a rule on one class also asks for decisions of no class, and of any that neither stands here nor has a rule of its own."),
	}
	change := func(next permit.Policy, said *banner) func() {
		return func() {
			p.asking = ""
			u.setPolicy(next, said, nil)
		}
	}
	for _, class := range now.Ordinary {
		next := now
		next.Ordinary = slices.DeleteFunc(slices.Clone(now.Ordinary), func(s string) bool { return s == class })
		drop := u.button(parts.Plain, "", "Forget "+safe(class), change(next, &banner{parts.Calm, "check", "The class is one that you do not know", "Rules on classes ask for it from now on."})).Small()
		list = append(list, parts.Row(12, parts.Grow(hostile.Inline(look.Body, look.Ink, class)), look.Word(look.Caption, look.Ink3, byWhat(now, next)), drop))
	}
	if p.asking != "class" {
		list = append(list, parts.Row(0, u.button(parts.Plain, "plus", "Add a class that you know", func() { p.addClass(u) }).Small(), parts.Spring()))
		return []fyne.CanvasObject{parts.Pad(10, 0, 10, 0, parts.Column(6, list...))}
	}
	name := strings.TrimSpace(p.field.Text)
	next := now
	next.Ordinary = append(slices.Clone(now.Ordinary), name)
	slices.Sort(next.Ordinary)
	note, blocked := asksWords(now, next), true
	switch {
	case name == "":
		note = "Type the class as the agent names it."
	case !plain.One(name).Clean():
		note = "It holds hidden or look-alike letters."
	case slices.Contains(now.Ordinary, name):
		note = "You know this class already."
	case len(now.Ordinary) >= permit.MaxClasses:
		note = "There are as many classes as a vault keeps. Forget one first."
	case now.Loosens(next) && u.mayConfirm() != "":
		note = u.mayConfirm()
	default:
		blocked = false
	}
	list = append(list, p.fieldPanel(u, 420, "The class", note, asksIcon(now, next), "Add this class", blocked,
		change(next, &banner{parts.Calm, "check", "The class is one that you know", "Only rules on it ask for it from now on."})))
	return []fyne.CanvasObject{parts.Pad(10, 0, 10, 0, parts.Column(8, list...))}
}

// asksIcon is the sign of a button that a passkey confirms, or none.
func asksIcon(now, next permit.Policy) string {
	if now.Loosens(next) {
		return "key"
	}
	return ""
}

// byWhat says what a change of the policy is confirmed by.
func byWhat(now, next permit.Policy) string {
	if now.Loosens(next) {
		return "a passkey confirms it"
	}
	return "without a passkey"
}

func (p *settingsPage) addClass(u *UI) {
	p.askField(u, "class", parts.NewField("", "The class, as agents name it", classMost))
}

// addRule opens the form for a rule.
func (p *settingsPage) addRule(u *UI) {
	p.asking, p.question, p.rule = "new rule", nil, newRuleForm(u)
	u.rebuild()
	u.reveal(p.drawn)
}
