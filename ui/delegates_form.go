package ui

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/approvals/plain"
	"vault/derive/envelope"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// What stands in a new form, besides names.
const (
	firstKeys, firstUses, firstIndex = "20", "10", "999"
	firstDays                        = 30
	endForm                          = "2 Jan 2006"
)

// delegateForm is a delegate as the owner types it, and then as it would be signed.
type delegateForm struct {
	name, operations, resources, tries, bots *parts.Field
	uses, keys, from, to, begins, ends       *parts.Field
	avatar                                   *parts.Field
	legit, rules, version, state             *parts.Field // id of a legitimacy record, and what may be said of it
	domain                                   string       // hash
	policy                                   string       // "", or the bot policy that was chosen
	endless, away                            bool
	named                                    bool                    // every request has to name the legitimacy id
	plan                                     *approvals.DelegatePlan // what is looked at, or nil while it is typed
	question                                 *question
}

// issue opens the form.
func (p *delegatesPage) issue(u *UI) {
	f := &delegateForm{}
	field := func(value, placeholder string, limit int) *parts.Field {
		e := parts.NewField(value, placeholder, limit)
		e.Watch(u)
		e.OnChanged = func(string) { u.rebuild() }
		return e
	}
	f.name = field("", "support-bot", nameMost)
	f.operations = field("", "send-message", 400)
	f.resources = field("", "thread:*", 2000)
	f.tries = field("", "thread:customer-123, invoice:7", 400)
	f.bots = field("", "0x…, as vault bot keygen printed it", 4000)
	f.uses, f.keys = field(firstUses, "", 12), field(firstKeys, "", 12)
	f.from, f.to = field("0", "", 16), field(firstIndex, "", 16)
	f.begins = field("", "at once", 24)
	f.avatar = field("", "none", 64)
	f.legit, f.rules = field("", "no id", 256), field("", "no policy", 256)
	f.version, f.state = field("", "any", 16), field("", "any state", 80)
	f.ends = field(u.opts.Now().UTC().AddDate(0, 0, firstDays).Format(endForm), endForm, 24)
	if len(u.state.Domains) > 0 {
		f.domain = u.state.Domains[0].Hash
	}
	p.form, p.bringing, p.asking = f, nil, ""
	u.banner = nil
	u.rebuild()
	p.page.Inner.ScrollToTop()
	u.main.Canvas().Focus(f.name)
}

// list splits what is typed as a list.
func list(text string) []string {
	var out []string
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// dayOr reads a day, or a day with hour and minute, in UTC. A day alone is its end or its beginning.
func dayOr(text string, end bool) (int64, bool) {
	text = strings.TrimSpace(text)
	for _, form := range []string{endForm, "2 January 2006", "2006-01-02"} {
		if t, err := time.Parse(form, text); err == nil {
			if end {
				t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
			}
			return t.UnixMilli(), true
		}
	}
	for _, form := range []string{untilForm, "2 January 2006, 15:04 UTC", "2006-01-02 15:04 UTC", time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

// value reads the form. Why says what is missing, or is empty; half says that nothing is wrong yet, only missing.
func (f *delegateForm) value() (v approvals.DelegateForm, why string, half bool) {
	number := func(e *parts.Field, least int64) (int64, bool) {
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(e.Text), ",", ""), 10, 64)
		return n, err == nil && n >= least && n <= 1<<53-1
	}
	v = approvals.DelegateForm{
		Name: strings.TrimSpace(f.name.Text), DomainHash: f.domain, Operations: list(f.operations.Text), Resources: list(f.resources.Text),
		BotPolicy: f.policy, WhileAway: f.away, Examples: list(f.tries.Text),
	}
	if f.policy == envelope.BotSet {
		v.Bots = strings.FieldsFunc(f.bots.Text, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == ';' })
	}
	var ok [4]bool
	v.MaxUsesPerAction, ok[0] = number(f.uses, 1)
	v.MaxMints, ok[1] = number(f.keys, 1)
	v.IndexMin, ok[2] = number(f.from, 0)
	v.IndexMax, ok[3] = number(f.to, v.IndexMin)
	if text := strings.TrimSpace(f.begins.Text); text != "" {
		ms, isTime := dayOr(text, false)
		if !isTime {
			return v, "The beginning is written like 1 Dec 2026, or left empty.", false
		}
		v.NotBefore = &ms
	}
	if !f.endless {
		ms, isTime := dayOr(f.ends.Text, true)
		if !isTime {
			return v, "The end is written like 31 Dec 2026.", strings.TrimSpace(f.ends.Text) == ""
		}
		v.NotAfter = &ms
	}
	switch {
	case v.DomainHash == "":
		return v, "Make a domain first.", false
	case !ok[0]:
		return v, "The uses of each key are a whole number from 1.", false
	case !ok[1]:
		return v, "The keys are a whole number from 1.", false
	case !ok[2] || !ok[3]:
		return v, "The action index goes from a whole number to another that is no smaller.", false
	case v.Name != "" && !plain.One(v.Name).Clean():
		return v, "The name holds hidden or look-alike letters.", false
	case v.Name == "":
		return v, "Give the bot a name.", true
	case len(v.Operations) == 0:
		return v, "Name an operation.", true
	case len(v.Resources) == 0:
		return v, "Name a resource.", true
	case v.BotPolicy == "":
		return v, "Choose which bots may ask.", true
	case v.BotPolicy == envelope.BotSet && len(v.Bots) == 0:
		return v, "Name the bot’s address.", true
	}
	for _, b := range v.Bots {
		if !envelope.IsAddress(strings.ToLower(b)) {
			return v, "An address is 0x and 40 hex digits.", false
		}
	}
	if v.AvatarAddress = strings.TrimSpace(f.avatar.Text); v.AvatarAddress != "" && !envelope.IsAddress(strings.ToLower(v.AvatarAddress)) {
		return v, "An avatar is an address, 0x and 40 hex digits, or left empty.", false
	}
	v.Legitimacy, why = f.legitimacy()
	return v, why, false
}

// legitimacy reads what is typed about a legitimacy record, or gives nil where nothing is.
func (f *delegateForm) legitimacy() (l *approvals.LegitimacyView, why string) {
	if f.legitimacyID() == "" {
		return nil, ""
	}
	l = &approvals.LegitimacyView{
		LegitimacyID: f.legitimacyID(), Required: f.named, PolicyID: strings.TrimSpace(f.rules.Text), StateHash: strings.ToLower(strings.TrimSpace(f.state.Text)),
	}
	switch {
	case !plain.One(l.LegitimacyID).Clean() || !plain.One(l.PolicyID).Clean():
		return nil, "The legitimacy id or its policy holds hidden or look-alike letters."
	case l.StateHash != "" && !envelope.IsHash(l.StateHash):
		return nil, "The state of a legitimacy record is 0x and 64 hex digits, or left empty."
	}
	if text := strings.TrimSpace(f.version.Text); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > 1<<53-1 {
			return nil, "The version of a legitimacy record is a whole number from 1, or left empty."
		}
		l.StateVersion = &n
	}
	return l, ""
}

func (f *delegateForm) legitimacyID() string { return strings.TrimSpace(f.legit.Text) }

// boundsOf gives what is typed the shape that its sentence is made of.
func boundsOf(v approvals.DelegateForm) approvals.DelegateBounds {
	return approvals.DelegateBounds{
		Operations: v.Operations, Resources: v.Resources, BotPolicy: v.BotPolicy, Bots: v.Bots, IndexMin: v.IndexMin, IndexMax: v.IndexMax,
		MaxMints: v.MaxMints, MaxUsesPerAction: v.MaxUsesPerAction, NotBefore: v.NotBefore, NotAfter: v.NotAfter, Legitimacy: v.Legitimacy, AvatarAddress: v.AvatarAddress,
	}
}

// malformedWords say which member the desk did not take, by its name in the desk's detail.
var malformedWords = [][2]string{
	{"allowedOperations", "An operation is not one that can be signed."},
	{"allowedResources", "A resource is not one that can be signed."},
	{"allowedBotAddresses", "An address is 0x and 40 hex digits."},
	{"timeWindow", "The end comes before the beginning."},
	{"actionIndexPolicy", "The action index goes from a whole number to another that is no smaller."},
	{"maxMints", "The keys are a whole number from 1."},
	{"maxUsesPerAction", "The uses of each key are a whole number from 1."},
	{"avatarAddress", "An avatar is an address, 0x and 40 hex digits, or left empty."},
	{"legitimacyRef", "What is said of the legitimacy record cannot be signed."},
}

// planned asks the desk what the form would give.
func (u *UI) planned(v approvals.DelegateForm) (approvals.DelegatePlan, string) {
	plan, err := u.owner.PlanDelegate(v)
	if err == nil {
		return plan, ""
	}
	var r *approvals.Refusal
	if errors.As(err, &r) && r.Code == approvals.CodeMalformed {
		var d struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(r.Data, &d)
		for _, m := range malformedWords {
			if strings.Contains(d.Detail, m[0]) {
				return plan, m[1]
			}
		}
		return plan, "This cannot be signed as a delegate."
	}
	b := problem(err)
	return plan, b.what + "."
}

// view draws the form. Pinned leaves out what stays while its lines scroll.
func (f *delegateForm) view(u *UI, pinned bool) fyne.CanvasObject {
	if f.plan != nil {
		return f.review(u)
	}
	if pinned {
		return f.fields(u)
	}
	return parts.Column(0, f.head(u), parts.Space(0, 18), f.fields(u), parts.Space(0, 20), f.foot(u))
}

// head is what the form says: the sentence, as it is typed.
func (f *delegateForm) head(u *UI) fyne.CanvasObject {
	v, _, _ := f.value()
	name := v.Name
	if name == "" {
		name = "The bot"
	}
	return parts.Column(0, look.Text(look.Title, look.Ink, "Issue a delegate"), parts.Space(0, 4),
		look.Text(look.Small, look.Ink2, "A bot may have keys of its own minted within these bounds, without asking you. The seeds stay here, and every signature is made and counted here."), parts.Space(0, 12),
		parts.Sunk(look.Ground, 6, parts.Pad(12, 16, 12, 16, look.Para(sentenceRuns(name, boundsOf(typed(v)), sentenceStyle)...))))
}

// planned reads the form and asks the desk what it would give.
func (f *delegateForm) planned(u *UI) (v approvals.DelegateForm, plan approvals.DelegatePlan, why string, half bool) {
	if v, why, half = f.value(); why == "" {
		plan, why = u.planned(v)
	}
	return v, plan, why, half
}

// foot says what is missing, and goes on.
func (f *delegateForm) foot(u *UI) fyne.CanvasObject {
	_, _, why, half := f.planned(u)
	next := u.button(parts.Primary, "", "Look at it whole", func() { f.look(u) })
	ink, said := look.Ink3, why
	switch {
	case why == "":
		said = "Nothing is signed before your passkey confirms it."
	case !half:
		ink = look.Danger
		fallthrough
	default:
		next.Disable()
	}
	back := u.button(parts.Plain, "", "Back", func() { u.delegates.form = nil; u.rebuild() })
	return parts.Row(12, back, parts.Grow(look.Text(look.Small, ink, said)), next)
}

// typed gives what is not typed yet words of its own in the sentence.
func typed(v approvals.DelegateForm) approvals.DelegateForm {
	if len(v.Operations) == 0 {
		v.Operations = []string{"…"}
	}
	if len(v.Resources) == 0 {
		v.Resources = []string{"…"}
	}
	return v
}

// fields is the form: one line for each bound, with what it means below it.
func (f *delegateForm) fields(u *UI) fyne.CanvasObject {
	v, plan, _, _ := f.planned(u)
	// remarks are those of the desk about one line of the form.
	remarks := func(codes ...string) []fyne.CanvasObject {
		var out []fyne.CanvasObject
		for _, w := range plan.Warnings {
			if slices.Contains(codes, w.Code) {
				out = append(out, parts.Space(0, 8), warningBanner(w))
			}
		}
		return out
	}
	line := func(name, more string, remarks []fyne.CanvasObject, objs ...fyne.CanvasObject) fyne.CanvasObject {
		if more != "" {
			objs = append(objs, parts.Space(0, 5), look.Text(look.Caption, look.Ink3, more))
		}
		objs = append(objs, remarks...)
		return parts.Cells(16, []float32{120, 0}, parts.Middle(36, look.Text(look.SmallM, look.Ink2, name)), parts.Column(0, objs...))
	}
	word := func(t string) fyne.CanvasObject { return parts.Middle(36, look.Word(look.Body, look.Ink, t)) }
	pill := func(label string, on bool, tap func()) fyne.CanvasObject {
		return u.pill(label, on, func() { tap(); u.rebuild() })
	}
	var domains []fyne.CanvasObject
	for _, d := range u.state.Domains {
		domains = append(domains, pill(safe(d.ID), f.domain == d.Hash, func() { f.domain = d.Hash }))
	}
	if len(domains) == 0 {
		domains = append(domains, look.Word(look.Body, look.Ink2, "There is none yet. Make one in Domains."))
	}
	bots := []fyne.CanvasObject{parts.Flow(8, 6, pill("These addresses", f.policy == envelope.BotSet, func() { f.policy = envelope.BotSet }),
		pill("Any bot that signs", f.policy == envelope.BotAny, func() { f.policy = envelope.BotAny }))}
	botsMore := ""
	if f.policy == envelope.BotSet {
		bots = append(bots, parts.Space(0, 8), parts.Size(0, 36, f.bots))
		for i, b := range v.Bots {
			if len(v.Bots) == 1 && envelope.IsAddress(strings.ToLower(b)) {
				break // it stands in the field
			}
			if i == 16 {
				bots = append(bots, look.Text(look.Caption, look.Ink3, plural(len(v.Bots)-i, "address more", "addresses more")))
				break
			}
			icon, ink := "check", look.Ink
			if !envelope.IsAddress(strings.ToLower(b)) {
				icon, ink = "cross", look.Danger
			}
			bots = append(bots, parts.Space(0, 4), parts.Row(6, look.NewIcon(icon, 12, ink), parts.Grow(hostile.Inline(look.MonoS, ink, b))))
		}
		botsMore = "The bot proves that it has this address’s key, each time it connects."
	}
	end := []fyne.CanvasObject{parts.Flow(8, 6, pill("On a day", !f.endless, func() { f.endless = false }), pill("No end", f.endless, func() { f.endless = true }))}
	endMore := ""
	if !f.endless {
		end = append(end, parts.Space(0, 8), parts.Row(0, parts.Size(184, 36, f.ends), parts.Spring()))
		endMore = "To the end of that day in UTC, or with an hour: 31 Dec 2026, 15:04 UTC."
	}
	one := func(o ...fyne.CanvasObject) fyne.CanvasObject { return parts.Row(8, append(o, parts.Spring())...) }
	lower := func(o fyne.CanvasObject) fyne.CanvasObject { return parts.Pad(4, 0, 0, 0, o) }
	legitimacy := []fyne.CanvasObject{parts.Size(0, 36, f.legit)}
	if f.legitimacyID() != "" {
		legitimacy = append(legitimacy, parts.Space(0, 8), parts.Flow(8, 6,
			pill("Requests may name it", !f.named, func() { f.named = false }), pill("Every request has to name it", f.named, func() { f.named = true })),
			parts.Space(0, 8), parts.Row(8, word("policy"), parts.Grow(parts.Size(0, 36, f.rules)), word("version"), parts.Size(84, 36, f.version)),
			parts.Space(0, 8), parts.Row(8, word("state"), parts.Grow(parts.Size(0, 36, f.state))))
	}
	bots[0], end[0] = lower(bots[0]), lower(end[0])
	list := []fyne.CanvasObject{
		line("Your name for it", "Pages show this name. It is no part of what is signed.", nil, one(parts.Size(264, 36, f.name))),
		line("Domain", "Its keys come from this branch, and its address signs the delegate.", nil, lower(parts.Flow(8, 6, domains...))),
		line("May", "Operations, with commas between them. Each is matched letter by letter.", nil, parts.Size(0, 36, f.operations)),
		line("On", bounds.Rule, remarks("any_resource", "wildcard_never_matches", "bare_prefix", "not_normal"), parts.Size(0, 36, f.resources)),
		line("Try it", "Type resources to see whether a bot could ask for them. They are no part of the delegate.", nil,
			append([]fyne.CanvasObject{parts.Size(0, 36, f.tries)}, tries(v.Resources, v.Examples)...)...),
		line("Bots", botsMore, remarks("any_bot", "one_bot_many_addresses"), bots...),
		line("Each key signs", "", remarks("many_uses"), one(word("at most"), parts.Size(84, 36, f.uses), word("times"))),
		line("Keys", "Each is a capability of its own: an address, a record and its own count.", remarks("many_mints"), one(word("at most"), parts.Size(84, 36, f.keys))),
		line("Action index", "", nil, one(word("from"), parts.Size(84, 36, f.from), word("to"), parts.Size(84, 36, f.to))),
		line("Begins", "", nil, one(parts.Size(184, 36, f.begins))),
		line("Ends", endMore, remarks("no_end", "long", "already_over"), end...),
		line("While away", "Whether it goes on while the screen is locked. While the vault is locked nothing does.", nil, lower(parts.Flow(8, 6,
			pill("It waits", !f.away, func() { f.away = false }), pill("It goes on", f.away, func() { f.away = true })))),
		line("Avatar", bounds.Avatar+" It may be left empty.", nil, parts.Size(0, 36, f.avatar)),
		line("Legitimacy", bounds.Legitimacy+" It may be left empty.", nil, legitimacy...),
	}
	return parts.Column(14, list...)
}

// tries shows which resources the typed bounds cover, and by which of their lines.
func tries(allowed, examples []string) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for i, r := range examples {
		if i == 12 {
			break
		}
		by, why := envelope.ResourceMatch(allowed, r)
		runs := hostile.Runs(look.MonoS.Box(18), look.Ink, r)
		icon, ink := "check", look.Ink
		if by != "" {
			runs = append(runs, look.Run{Text: "  covered by ", Style: look.Small, Color: look.Ink2})
			runs = append(runs, hostile.Runs(look.MonoS.Box(18), look.Ink2, by)...)
		} else {
			icon, ink = "cross", look.Ink2
			runs = append(runs, look.Run{Text: "  " + noMatchWords(why), Style: look.Small, Color: look.Ink2})
		}
		out = append(out, parts.Space(0, 5), parts.RowTop(6, parts.Pad(3, 0, 0, 0, look.NewIcon(icon, 12, ink)), parts.Grow(look.Para(runs...))))
	}
	return out
}

func noMatchWords(why string) string {
	switch why {
	case "is_wildcard":
		return "cannot be asked for: a request names what it is about"
	case "bare_prefix":
		return "is not covered: a wildcard starts after the colon"
	}
	return "is not covered"
}

// look plans the delegate and shows it as it would be signed.
func (f *delegateForm) look(u *UI) {
	v, why, _ := f.value()
	if why != "" {
		return
	}
	plan, why := u.planned(v)
	if why != "" {
		u.rebuild()
		return
	}
	f.plan = &plan
	q := newQuestion(u, func() { f.plan = nil; u.rebuild() })
	name := nameOf(plan.Name, plan.Bounds)
	q.add("Issue it for "+name, "Your passkey confirms it; then the domain’s key signs it. You can pause or revoke it at any time.", u.mayConfirm(), func() { f.send(u, plan) })
	q.add("Change something", "Nothing is signed.", "", func() { f.plan = nil; u.rebuild() })
	f.question = q
	u.rebuild()
	u.delegates.page.Inner.ScrollToTop()
}

// review is the delegate whole, before its confirmation.
func (f *delegateForm) review(u *UI) fyne.CanvasObject {
	const gutter = 128
	b := f.plan.Bounds
	mono := func(text string) fyne.CanvasObject { return hostile.Inline(look.MonoS.Box(20), look.Ink, text) }
	word := func(text string) fyne.CanvasObject { return look.Text(look.Body, look.Ink, text) }
	many := func(list []string) fyne.CanvasObject {
		var objs []fyne.CanvasObject
		for _, s := range list {
			objs = append(objs, mono(s))
		}
		return parts.Column(0, objs...)
	}
	out := []fyne.CanvasObject{
		look.Text(look.Title, look.Ink, "This is what you sign"), parts.Space(0, 12),
		look.Para(sentenceRuns(f.plan.Name, b, sentenceStyle)...),
	}
	for _, w := range warningBanners(f.plan.Warnings) {
		out = append(out, parts.Space(0, 10), w)
	}
	bots := word("any that signs its request")
	if b.BotPolicy == envelope.BotSet {
		bots = many(b.Bots)
	}
	away := "it waits"
	if f.plan.WhileAway {
		away = "it goes on"
	}
	list := []fyne.CanvasObject{
		parts.Pair(gutter, "Domain", look.Para(append(hostile.Runs(look.Body, look.Ink, b.Domain.ID), look.Run{Text: "  " + short(b.Domain.Hash), Style: look.MonoS.Box(20), Color: look.Ink3})...)),
		parts.Pair(gutter, "Bots", bots),
		parts.Pair(gutter, "Operations", many(b.Operations)),
		parts.Pair(gutter, "Resources", many(b.Resources)),
		parts.Pair(gutter, "Action index", word(parts.Number(b.IndexMin)+" to "+parts.Number(b.IndexMax))),
		parts.Pair(gutter, "Valid", word(windowWords(b.NotBefore, b.NotAfter))),
		parts.Pair(gutter, "While you are away", word(away)),
	}
	list = append(list, carried(gutter, b)...)
	list = append(list, parts.Pair(gutter, "Delegate hash", mono(f.plan.Hash)))
	out = append(out, parts.Space(0, 16), parts.Column(4, list...))
	if u.asking == nil {
		out = append(out, parts.Space(0, 18), f.question.view(u))
	}
	return parts.Column(0, out...)
}

// send has the plan confirmed and signed.
func (f *delegateForm) send(u *UI, plan approvals.DelegatePlan) {
	issued := ""
	name := nameOf(plan.Name, plan.Bounds)
	f.question.group.Take(nil)
	u.confirm(func() (approvals.Outcome, error) {
		out, err := u.owner.IssueDelegate(u.ctx, plan)
		issued = out.Delegate
		return out, err
	}, &banner{parts.Calm, "check", "The delegate was issued", name + " can ask from now on. Export it for the bot, or let the bot ask the vault for it."}, func(code string) {
		if code == "done" {
			said := u.banner
			u.delegates.form = nil
			u.delegates.choose(u, issued)
			u.banner = said
		}
	})
}
