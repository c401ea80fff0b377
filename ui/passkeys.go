package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/means"
	"vault/approvals/permit"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// clicksFor is how far back Activity counts approvals by click.
const clicksFor = 24 * time.Hour

func meansList() fyne.CanvasObject {
	var list []fyne.CanvasObject
	for _, m := range means.All {
		list = append(list, parts.Cells(12, []float32{130, 0}, look.Text(look.SmallM, look.Ink, m.Name), look.Text(look.Small, look.Ink2, m.Works)))
	}
	return parts.Column(4, append(list, parts.Space(0, 2),
		look.Text(look.Small, look.Ink2, "The page that opens asks your browser which of these it has, and says so before anything is made."))...)
}

// mayEnrol says why no passkey can be enrolled now, or "".
func (u *UI) mayEnrol() string {
	if u.state.Status.Public.Protection == keys.ProtectKeyring {
		return "This vault opens without a passphrase. Choose a protection with a passphrase first."
	}
	return ""
}

// passkeyRows are the lines of Settings about passkeys.
func (p *settingsPage) passkeyRows(u *UI, with func(string, fyne.CanvasObject) fyne.CanvasObject) []fyne.CanvasObject {
	list := u.state.Passkeys
	value, more, label := plural(len(list), "is enrolled", "are enrolled"), "Keep one of them in another place.", "Enrol another…"
	switch len(list) {
	case 0:
		value, more, label = "None is enrolled", "Until then programs that control the screen can approve here. Have two: with one lost, the other still confirms.", "Enrol a passkey…"
	case 1:
		more = "Have two: with this one lost, nothing that needs a passkey can be confirmed, and only the 24 words help."
	}
	add := u.button(parts.Plain, "", label, func() { p.ask(u, "enrol") }).Small()
	line := parts.Pad(14, 0, 14, 0, parts.RowTop(16, parts.Size(160, 0, look.Text(look.Body, look.Ink2, "Passkeys")),
		parts.Grow(parts.Column(0, look.Text(look.Strong, look.Ink, value), look.Text(look.Small, look.Ink2, more))), add))
	rows := []fyne.CanvasObject{with("other name", with("enrol", line))}
	for _, k := range list {
		used := "not used since"
		if k.LastUse > 0 {
			used = "last used " + u.ago(k.LastUse)
		}
		text := parts.Column(0, look.Text(look.Strong, look.Ink, means.Name(k.Kind)),
			look.Text(look.Small, look.Ink2, means.Copies(k.BackupEligible)),
			look.Text(look.Small, look.Ink2, fmt.Sprintf("Enrolled %s, %s", day(u.at(k.EnrolledAt)), used)),
			look.Para(append(append([]look.Run{{Text: "Digits " + spaced(k.Digits) + ", answers for ", Style: look.Small, Color: look.Ink3}}, hostile.Runs(look.MonoS.Box(18), look.Ink3, k.RPID)...),
				look.Run{Text: "", Style: look.Small, Color: look.Ink3})...))
		remove := u.button(parts.Plain, "", "Remove "+spaced(k.Digits)+"…", func() { p.ask(u, "remove "+k.ID) }).Small()
		rows = append(rows, with("remove "+k.ID, parts.Pad(12, 0, 12, 0, parts.RowTop(16, parts.Size(160, 0, parts.Space(0, 0)),
			parts.Pad(2, 0, 0, 0, look.NewIcon("key", 16, look.Ink)), parts.Grow(text), remove))))
	}
	return rows
}

// askPasskeys opens a question about passkeys below its line. It says whether what is one.
func (p *settingsPage) askPasskeys(u *UI, q *question, what string) bool {
	switch {
	case what == "enrol", what == "other name":
		name := "Enrol a passkey"
		why := "A page opens in your browser. Nothing counts before you have compared six digits here and it has answered once."
		if what == "other name" {
			name, why = "Enrol it under the name localhost", "For a browser that does not take the vault’s own name. Other pages of this computer share that name."
		} else {
			q.above = meansList()
		}
		q.add(name, why, u.mayEnrol(), func() { p.asking = ""; u.enrol(what == "other name", nil) })
		q.add("Leave it as it is", "Nothing is enrolled.", "", p.shut(u))
	case strings.HasPrefix(what, "remove "):
		id := strings.TrimPrefix(what, "remove ")
		i := slices.IndexFunc(u.state.Passkeys, func(k approvals.PasskeyView) bool { return k.ID == id })
		if i < 0 {
			return true
		}
		blocked := ""
		if len(u.state.Passkeys) == 1 {
			blocked = "The last passkey is not removed. Enrol another one first."
		}
		q.add("Remove this passkey", "A passkey confirms it, this one or another. What it has confirmed stays confirmed.", blocked, func() {
			p.asking = ""
			u.confirm(func() (approvals.Outcome, error) { return u.owner.RemovePasskey(u.ctx, id) },
				&banner{parts.Calm, "check", "The passkey was removed", "It confirms nothing from now on."}, nil)
		})
		q.add("Leave it as it is", "It stays enrolled.", "", p.shut(u))
	case what == "card":
		q.add("Export the owner card", "A passkey confirms it. The card names your keys and passkeys, so that others can check what you confirm.", u.mayConfirm(), func() { p.asking = ""; u.exportCard() })
		q.add("Leave it as it is", "Nothing is written.", "", p.shut(u))
	case what == "floor":
		p.askFloor(u, q)
	case strings.HasPrefix(what, "rule "):
		p.askRule(u, q, strings.TrimPrefix(what, "rule "))
	default:
		return false
	}
	return true
}

func (u *UI) mayConfirm() string {
	if len(u.state.Passkeys) == 0 {
		return "This needs a passkey and none is enrolled."
	}
	return ""
}

// enrol enrols a passkey, and offers the other name where the browser refuses the vault's own.
func (u *UI) enrol(other bool, then func(code string)) {
	said := &banner{parts.Calm, "check", "The passkey is enrolled", "From now on pairing and granting are confirmed by passkey."}
	if n := len(u.state.Passkeys); n == 0 {
		said.more += " Enrol a second one: with one lost, the other still confirms."
	}
	u.confirm(func() (approvals.Outcome, error) {
		return u.owner.EnrolPasskey(u.ctx, approvals.Enrolment{Surface: keys.SurfaceWindow, OtherName: other})
	}, said, func(code string) {
		if code == "name_refused" && !other {
			said := u.banner
			u.open("settings")
			u.set.ask(u, "other name")
			u.banner = said
		}
		if then != nil {
			then(code)
		}
	})
}

func (u *UI) exportCard() {
	said := &banner{tone: parts.Calm, icon: "export", what: "The owner card was exported"}
	u.confirm(func() (approvals.Outcome, error) {
		b, out, err := u.owner.ExportCard(u.ctx)
		if err != nil || out.Code != "done" {
			return out, err
		}
		at, err := u.save("vault-owner-card.json", b)
		if err == nil {
			said.more = "It is in " + safe(at) + ". Give it to those who check what you confirm, by a way they trust to be yours."
		}
		return out, err
	}, said, nil)
}

// always are the acts that need a person whatever the rules say.
var always = [][2]string{
	{"Agreements: countersign, amend, end, dispute", "always"},
	{"Mint delegates, and letting mint material out", "always"},
	{"The recovery words, another protection, the owner card", "always"},
	{"Adding and removing passkeys; asking less of you", "always"},
	{"A socket for another user; admitting again what is suspended", "always"},
	{"Pairing and granting", "from the first passkey on"},
}

// ruled is a line of the table of rules.
type ruled struct {
	name string // words of ours, with a name the owner gave
	rule permit.Rule
	own  bool // a rule that the owner put together
}

// rules are the lines that can be put behind a passkey: the kinds of approvals, each client and each domain, and
// what else the policy has.
func (u *UI) rules() []ruled {
	out := []ruled{
		{name: "Every approval", rule: permit.Rule{Scope: permit.ScopeEvery}},
		{name: "Every single signature", rule: permit.Rule{Scope: permit.ScopeAction}},
		{name: "Every answer to a decision", rule: permit.Rule{Scope: permit.ScopeMoment}},
		{name: "Options whose action the vault has not seen", rule: permit.Rule{Scope: permit.ScopeMoment, Unseen: true}},
	}
	for _, c := range u.state.Clients {
		if c.Ended == "" {
			out = append(out, ruled{name: "All of " + safe(c.Name), rule: permit.Rule{Scope: permit.ScopeEvery, Client: c.ID}})
		}
	}
	for _, d := range u.state.Domains {
		out = append(out, ruled{name: "In the domain " + safe(d.ID), rule: permit.Rule{Scope: permit.ScopeEvery, Domain: d.Hash}})
	}
	for _, r := range u.state.Policy.Rules {
		if !slices.ContainsFunc(out, func(x ruled) bool { return x.rule == r }) {
			out = append(out, ruled{name: u.ruleName(r), rule: r, own: true})
		}
	}
	return out
}

// ruleName is what a rule is about, in one text for a line that is also a control's name.
func (u *UI) ruleName(r permit.Rule) string {
	var b strings.Builder
	for _, x := range u.ruleRuns(look.Body, r) {
		b.WriteString(x.Text)
	}
	return b.String()
}

// newRule is the way to the form for a rule, or the form.
func (p *settingsPage) newRule(u *UI) fyne.CanvasObject {
	if p.asking == "new rule" && p.rule != nil {
		return p.rule.view(u, p)
	}
	return parts.Row(0, u.button(parts.Plain, "plus", "A rule of your own…", func() { p.addRule(u) }).Small(), parts.Spring())
}

// policyTable shows which acts need a person.
func (p *settingsPage) policyTable(u *UI, with func(string, fyne.CanvasObject) fyne.CanvasObject) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	row := func(x ruled, value fyne.CanvasObject, act fyne.CanvasObject) fyne.CanvasObject {
		name := look.Text(look.Body, look.Ink, x.name)
		if x.own {
			name = look.Para(u.ruleRuns(look.Body, x.rule)...)
		}
		return parts.Pad(8, 0, 8, 0, parts.Row(16, parts.Grow(parts.Middle(28, name)), parts.Size(190, 0, parts.Middle(28, value)), parts.Size(130, 0, act)))
	}
	for _, a := range always {
		rows = append(rows, row(ruled{name: a[0]}, parts.Row(6, look.NewIcon("key", 14, look.Ink), look.Word(look.Small, look.Ink, "passkey, "+a[1])), parts.Space(0, 0)))
	}
	policy := u.state.Policy
	rows = append(rows, with("floor", row(ruled{name: "Your own signature under agreements"}, floorValue(policy.SoWFloor), parts.Row(0, parts.Spring(),
		u.button(parts.Plain, "", "Who signs…", func() { p.ask(u, "floor") }).Small()))))
	for _, x := range u.rules() {
		on := slices.Contains(policy.Rules, x.rule)
		value := parts.Row(6, look.NewIcon("person", 14, look.Ink2), look.Word(look.Small, look.Ink2, "a click"))
		label := "Ask a passkey"
		switch {
		case on:
			value = parts.Row(6, look.NewIcon("key", 14, look.Ink), look.Word(look.Small, look.Ink, "passkey"))
			label = "Leave to a click"
		case covered(policy, x.rule):
			value = parts.Row(6, look.NewIcon("key", 14, look.Ink2), look.Word(look.Small, look.Ink2, "passkey, by a rule above"))
		}
		key := fmt.Sprint(x.rule)
		b := parts.NewButton(parts.Plain, "", label, func() { u.touch(); p.ask(u, "rule "+key) }).Small()
		b.Watch(u)
		act := fyne.CanvasObject(parts.Row(0, parts.Spring(), b))
		rows = append(rows, with("rule "+key, row(x, value, act)))
	}
	rows = append(rows, p.classRows(u)...)
	return parts.Lined(rows...)
}

// covered says whether a policy asks a passkey for all that a rule is about.
func covered(p permit.Policy, r permit.Rule) bool {
	return slices.ContainsFunc(p.Rules, func(x permit.Rule) bool {
		return !permit.Policy{Rules: []permit.Rule{r}}.Loosens(permit.Policy{Rules: []permit.Rule{x}})
	})
}

// askRule asks whether a line is put behind a passkey, or left to a click again.
func (p *settingsPage) askRule(u *UI, q *question, key string) {
	rules := u.rules()
	i := slices.IndexFunc(rules, func(x ruled) bool { return fmt.Sprint(x.rule) == key })
	if i < 0 {
		return
	}
	r := rules[i].rule
	now := u.state.Policy
	next := now
	next.Rules = slices.Clone(now.Rules)
	name, why, blocked := "Ask a passkey for this", "", ""
	said := &banner{parts.Calm, "check", "This needs a passkey now", "A click no longer approves it."}
	if at := slices.Index(next.Rules, r); at >= 0 {
		next.Rules = slices.Delete(next.Rules, at, at+1)
		name, why, blocked = "Leave this to a click", asksWords(now, next), u.mayConfirm()
		said = &banner{parts.Calm, "check", "A click approves this from now on", "Programs that control the screen can click."}
		if !now.Loosens(next) {
			name, blocked = "Remove this rule", ""
			said = &banner{parts.Calm, "check", "The rule was removed", "Another rule asks for all of it still."}
		}
	} else {
		next.Rules = append(next.Rules, r)
		why, blocked = asksWords(now, next), u.mayConfirm()
	}
	q.add(name, why, blocked, func() { p.asking = ""; u.setPolicy(next, said, nil) })
	q.add("Leave it as it is", "Nothing is changed.", "", p.shut(u))
}

func (u *UI) setPolicy(next permit.Policy, said *banner, then func(string)) {
	u.confirm(func() (approvals.Outcome, error) { return u.owner.SetPolicy(u.ctx, next) }, said, then)
}

// clickTable counts what was approved by click, by hour and client.
func (u *UI) clickTable() fyne.CanvasObject {
	if len(u.state.Clicks) == 0 {
		return nil
	}
	right := func(s look.Style, c fyne.ThemeColorName, t string) fyne.CanvasObject {
		p := look.Text(s, c, t)
		p.Align = fyne.TextAlignTrailing
		return p
	}
	widths := []float32{0, 190, 90, 90}
	rows := []fyne.CanvasObject{parts.Pad(2, 0, 4, 0, parts.Cells(10, widths, look.Text(look.CaptionM, look.Ink3, "Agent"), look.Text(look.CaptionM, look.Ink3, "Hour"),
		right(look.CaptionM, look.Ink3, "By click"), right(look.CaptionM, look.Ink3, "By passkey")))}
	for _, c := range u.state.Clicks {
		name := "ended agent"
		if c.Agent != "" {
			name = safe(c.Agent)
		}
		from := u.at(c.Hour)
		rows = append(rows, parts.Pad(7, 0, 7, 0, parts.Cells(10, widths, look.Text(look.Small, look.Ink, name),
			look.Text(look.Small, look.Ink2, from.Format("2 Jan, 15:04")+" to "+from.Add(time.Hour).Format("15:04")),
			right(look.Small, look.Ink, parts.Number(c.Clicks)), right(look.Small, look.Ink, parts.Number(c.Passkeys)))))
	}
	return parts.Lined(rows...)
}

// offer is the page after a vault was made: a passkey, and whether it is asked for everything.
type offer struct {
	question *question
}

func (f *firstRun) offerPasskey(u *UI) {
	q := newQuestion(u, nil)
	q.above = meansList()
	every := permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery}}}
	enrolled := func(all bool) func() {
		return func() {
			f.offered = nil
			u.open("settings")
			u.enrol(false, func(code string) {
				if code == "done" && all {
					u.setPolicy(every, &banner{parts.Calm, "check", "Every approval needs a passkey now", "Enrol a second one: with one lost, the other still confirms."}, nil)
				}
			})
		}
	}
	q.add("A passkey for every approval", "Nothing is approved by a click. What a program clicks or types binds you to nothing.", u.mayEnrol(), enrolled(true))
	q.add("A passkey for what binds you", "Pairing, granting, agreements, keys and this list. Single signatures and answers stay a click.", u.mayEnrol(), enrolled(false))
	q.add("Later", "Until then programs that control the screen can approve here. Settings has the same choice.", "", func() { f.offered = nil; u.rebuild() })
	f.offered = &offer{q}
	u.rebuild()
}

func (f *firstRun) offerView(u *UI) fyne.CanvasObject {
	top := parts.Column(0, parts.Middle(63, parts.Pad(0, 40, 0, 40, parts.Row(12, look.NewIcon("mark", 22, look.Primary), look.Word(look.Strong, look.Ink, "A new vault"), parts.Spring(),
		parts.Steps([]string{"Protection", "Domain", "Words", "Passkey"}, 3)))), parts.Hair())
	body := parts.Column(0, look.Text(look.Title, look.Ink, "How do you confirm?"), parts.Space(0, 4),
		look.Text(look.Body, look.Ink2, "The vault was made. A click can come from a program; a passkey shows that its holder was here."), parts.Space(0, 20), f.offered.question.view(u))
	paper := parts.Pad(28, 40, 20, 40, parts.Center(740, body))
	return stack([]fyne.CanvasObject{top}, parts.Over(look.NewBox(look.Paper, "", 0), parts.NewScroll(paper)), clickStrip(40))
}
