package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/approvals/sow/units"
	"vault/derive/jcs"
)

// Sign says how a leaf differs.
type Sign uint8

// The signs.
const (
	Changed Sign = iota
	Added
	Removed
)

// Word is the sign in a word.
func (s Sign) Word() string { return [...]string{"changed", "added", "removed"}[s] }

// Difference is one line of a comparison.
type Difference struct {
	Sign Sign
	Path string // member, or what several added ones are in
	Name []Span
	Old  []Span
	New  []Span
	// Effect says what it means for the owner, in words of ours; Warn that the
	// owner gives, pays or allows more, or is told less.
	Effect string
	Warn   bool
	Grade  *Grade // of the clause it is in, as proposed
}

// Group is a heading of a comparison.
type Group struct {
	Title string
	Lines []Difference
}

// Comparison is what an amendment changes, money and dates first, then access,
// then scope and data, then the rest (5.8).
type Comparison struct {
	ID                    []Span
	InForce, Proposed     int64
	InForceDigest, Digest string
	Groups                []Group
	Changed               int
	Added                 int
	Removed               int
	Same                  int // leaves that are the same in both
	// Consequences are sentences of ours about what approving does (5.5.7, 5.8).
	Consequences []string
	// Unchanged are the clauses of the proposed version whose every leaf is the
	// same; they are on its page.
	Unchanged []string
}

// Total counts the lines.
func (c *Comparison) Total() int { return c.Changed + c.Added + c.Removed }

// The headings, in order.
const (
	moneyAndDates = "Money and dates"
	access        = "Access"
	scopeAndData  = "Scope and data"
	theRest       = "The rest"
)

// Compare sets a proposed version beside the one in force. Every signed leaf
// that differs is on one of its lines.
func Compare(inForce, proposed *sow.Document, f Facts) *Comparison {
	c := &Comparison{ID: code(proposed.ID()), InForce: inForce.Version(), Proposed: proposed.Version(), InForceDigest: inForce.Digest(), Digest: proposed.Digest()}
	k := comparer{w: newWalker(proposed, f), old: inForce, new: proposed, money: [2]currency{
		currencyOf(inForce.Get("price").Get("currency").Text()), currencyOf(proposed.Get("price").Get("currency").Text()),
	}}
	groups := map[string][]Difference{}
	changes := sow.Compare(inForce, proposed)
	if f := slices.IndexFunc(changes, func(ch sow.Change) bool { return ch.Path == "version" }); f >= 0 && c.InForce > 0 && c.Proposed > 0 {
		changes = slices.Delete(changes, f, f+1) // the head of every column says it
		c.Same--
	}
	named := map[string]bool{} // entries that came or went with their name
	for _, ch := range changes {
		if e := whole(ch); e != "" && naming[strings.TrimPrefix(ch.Path[len(e):], ".")] {
			named[e] = true
		}
	}
	for i := 0; i < len(changes); {
		entry := whole(changes[i])
		if !named[entry] {
			entry = ""
		}
		j := i + 1
		if entry != "" {
			for j < len(changes) && whole(changes[j]) == entry && changes[j].Old.Exists() == changes[i].Old.Exists() {
				j++
			}
			if j-i > 12 { // too much for one line
				delete(named, entry)
				continue
			}
		}
		d := k.line(entry, changes[i:j])
		groups[k.heading(d.Path)] = append(groups[k.heading(d.Path)], d)
		switch d.Sign {
		case Changed:
			c.Changed++
		case Added:
			c.Added++
		case Removed:
			c.Removed++
		}
		i = j
	}
	slices.SortStableFunc(groups[moneyAndDates], func(a, b Difference) int { return weight(a.Path) - weight(b.Path) })
	for _, title := range []string{moneyAndDates, access, scopeAndData, theRest} {
		if l := groups[title]; len(l) > 0 {
			c.Groups = append(c.Groups, Group{title, l})
		}
	}
	total := 0
	proposed.Value().Without("signatures").Leaves(func(string, jcs.Value) { total++ })
	for _, ch := range changes {
		if ch.New.Exists() && !ch.Order {
			total--
		}
	}
	c.Same = max(c.Same+total, 0)
	c.Consequences = k.consequences(changes)
	for m := range proposed.Value().Members() {
		is := func(ch sow.Change) bool {
			return ch.Path == m.Name || strings.HasPrefix(ch.Path, m.Name+".") || strings.HasPrefix(ch.Path, m.Name+"[")
		}
		if m.Name != "signatures" && !slices.ContainsFunc(changes, is) {
			c.Unchanged = append(c.Unchanged, m.Name)
		}
	}
	return c
}

// weight orders what is about money and dates: limits, the term, the rest of
// the price, and what else there is.
func weight(path string) int {
	switch {
	case strings.HasPrefix(path, "price.ceiling"), strings.HasPrefix(path, "price.cap"), path == "price.arrangement":
		return 0
	case path == "starts_at", path == "ends_at", path == "term_months":
		return 1
	case strings.HasPrefix(path, "price"):
		return 2
	}
	return 3
}

// whole is the list entry that came or went as a whole with a change, or "".
func whole(ch sow.Change) string {
	if ch.Old.Exists() && ch.New.Exists() {
		return ""
	}
	i := strings.LastIndexByte(ch.Path, ']')
	if i < 0 || i == len(ch.Path)-1 {
		return ""
	}
	return ch.Path[:i+1]
}

// naming are the members that name the entries of lists, in sow.Compare's order.
var naming = map[string]bool{"offering": true, "meter": true, "name": true, "id": true, "handle": true, "service": true, "agent": true}

type comparer struct {
	w        *walker
	old, new *sow.Document
	money    [2]currency
	inputs   map[string]*Grade // by name, once one was asked for
}

// heading is where a line stands.
func (k *comparer) heading(path string) string {
	top, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), ".")
	switch top {
	case "price", "starts_at", "ends_at", "term_months", "termination":
		return moneyAndDates
	case "inputs":
		return access
	case "scope", "deliverables", "confidentiality", "subcontracting":
		return scopeAndData
	case "revisions", "liability":
		if strings.Contains(path, "amount") || strings.Contains(path, "fees") || strings.Contains(path, "currency") || strings.Contains(path, "days") {
			return moneyAndDates
		}
	case "change_control":
		if strings.HasSuffix(path, "review_window_days") {
			return moneyAndDates
		}
	}
	return theRest
}

// line makes the line of one change, or of several that came or went together.
func (k *comparer) line(entry string, changes []sow.Change) Difference {
	first := changes[0]
	d := Difference{Path: first.Path, Sign: Changed, Old: own("–"), New: own("–")}
	switch {
	case !first.Old.Exists():
		d.Sign = Added
	case !first.New.Exists():
		d.Sign = Removed
	}
	if entry != "" {
		d.Path = entry
	}
	d.Name = name(d.Path)
	for _, h := range heads {
		if _, text := strings.CutPrefix(d.Path, h.prefix+"["); text && len(changes) == 1 && strings.HasSuffix(d.Path, `"]`) {
			if first.Old.Kind() == jcs.String || first.New.Kind() == jcs.String {
				d.Name = own(h.label) // a list of texts: the value is the entry
			}
		}
	}
	if first.Order {
		d.Name = join(d.Name, own(", order"))
	}
	var old, new [][]Span
	if len(changes) > 1 { // the name of an entry says what names it
		changes = slices.DeleteFunc(slices.Clone(changes), func(ch sow.Change) bool {
			member := strings.TrimPrefix(strings.TrimPrefix(ch.Path, entry), ".")
			key, _, ok := quotedKey(entry[strings.LastIndex(entry, `["`)+1:])
			v := ch.New
			if !v.Exists() {
				v = ch.Old
			}
			return ok && naming[member] && v.Kind() == jcs.String && v.Text() == key
		})
	}
	for _, ch := range changes {
		var label []Span
		if len(changes) > 1 {
			label = join(name(strings.TrimPrefix(strings.TrimPrefix(ch.Path, entry), ".")), own(" "))
		}
		if ch.Old.Exists() {
			old = append(old, join(label, k.value(ch.Path, ch.Old, 0)))
		}
		if ch.New.Exists() {
			new = append(new, join(label, k.value(ch.Path, ch.New, 1)))
		}
	}
	if len(old) > 0 {
		d.Old = lines(old)
	}
	if len(new) > 0 {
		d.New = lines(new)
	}
	k.effect(&d, first)
	d.Grade = k.grade(first.Path)
	return d
}

// labels are words for members; a member without one is shown by its own name.
var labels = map[string]string{
	"starts_at": "Starts", "ends_at": "Ends", "term_months": "Runs for",
	"price.arrangement": "Arrangement", "price.currency": "Currency", "price.ceiling.amount": "Ceiling", "price.ceiling.period": "Ceiling, period",
	"price.cap.amount": "Cap", "price.reservation.window_days": "Held in advance", "price.grade": "Price, grade",
	"termination.convenience_notice_hours": "Notice for convenience",
	"confidentiality.retention.max_days":   "Kept for at most", "confidentiality.transport.sealed": "Sealed on the way",
	"confidentiality.promises.no_training": "Not used for training", "confidentiality.promises.no_third_party_sharing": "Not shared beyond the services",
	"confidentiality.promises.no_human_reading": "Not read by people", "confidentiality.processed_in": "Processed in",
	"change_control.review_window_days": "A proposal lapses after", "change_control.approval.formation": "Formation is approved by", "change_control.approval.amendment": "A change is approved by",
	"volume.per_hour": "Tasks an hour", "volume.per_day": "Tasks a day",
	"revisions.included.count": "Revisions included", "revisions.included.window_days": "Revisions, asked within",
	"disputes.posture": "Disputes", "reporting.level": "Reporting", "reporting.every": "Reporting, every",
	"liability.cap.amount": "Liability, at most", "liability.cap.multiple_of_fees": "Liability, times the fees", "subcontracting.posture": "Subcontracting",
	"revisions.flat.amount_micro": "Any revision", "id": "Identifier",
}

var heads = []struct{ prefix, label string }{
	{"price.rates", "Rate"}, {"price.schedule", "Meter"}, {"inputs", "Input"}, {"scope.offerings", "Offering"}, {"scope.examples.in_scope", "Example in scope"},
	{"scope.examples.out_of_scope", "Example out of scope"}, {"deliverables.per_task", "Deliverable"}, {"deliverables.interim", "On a schedule"},
	{"confidentiality.processors", "Service"}, {"subcontracting.subcontractors", "Delegate"}, {"service_floors.floors", "Floor"}, {"revisions.steps", "Revision step"}, {"reporting.additions", "Reporting, also"},
	{"liability.carve_outs", "Not covered by the limit"}, {"qualifications", "Condition"},
}

// name is what a path is called: words where there are some, and the rest of
// the path as it stands.
func name(path string) []Span {
	if l, ok := labels[path]; ok {
		return own(l)
	}
	for _, h := range heads {
		rest, ok := strings.CutPrefix(path, h.prefix+"[")
		if !ok {
			continue
		}
		if key, end, ok := quotedKey(rest); ok {
			out := join(own(h.label+", "), outside(key))
			if end != "" && end != ".per_task" { // the value says so
				out = join(out, own(": "), code(strings.TrimPrefix(end, ".")))
			}
			return out
		}
		if end := strings.IndexByte(rest, ']'); end > 0 && strings.Trim(rest[:end], "0123456789") == "" {
			n, err := strconv.Atoi(rest[:end])
			if err != nil {
				break
			}
			out := ownf("%s %d", h.label, n+1)
			if more := strings.TrimPrefix(rest[end+1:], "."); more != "" {
				out = join(out, own(": "), code(more))
			}
			return out
		}
	}
	return code(path)
}

// quotedKey reads the name of a list entry from a path.
func quotedKey(s string) (key, rest string, ok bool) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '"' && i+1 < len(s) && s[i+1] == ']':
			v, err := jcs.Parse([]byte(s[:i+1]), jcs.SoW)
			if err != nil {
				return "", "", false
			}
			return v.Text(), s[i+2:], true
		}
	}
	return "", "", false
}

// value writes one leaf of one side.
func (k *comparer) value(path string, v jcs.Value, side int) []Span {
	last := path[strings.LastIndexByte(path, '.')+1:]
	if n, ok := v.Int(); ok && v.Kind() == jcs.Number {
		switch last {
		case "amount", "per_task", "per_unit":
			c := k.money[side]
			if strings.HasPrefix(path, "liability.") {
				c = currencyOf([]*sow.Document{k.old, k.new}[side].Get("liability").Get("cap").Get("currency").Text())
			}
			out := c.amount(n)
			if last == "per_task" {
				out = join(out, own(" per task"))
			}
			return out
		case "amount_micro":
			return own(units.Decimal(n, units.Micro))
		case "max_days", "window_days", "review_window_days", "deemed_accepted_after_days", "independence_days", "deadline_days":
			return own(plural(n, "day", "days"))
		case "convenience_notice_hours":
			return own(plural(n, "hour", "hours"))
		case "term_months":
			return own(plural(n, "month", "months"))
		}
		return own(units.Number(n))
	}
	switch last {
	case "starts_at", "ends_at", "due", "expires_at", "approved_at":
		if s, ok := instant(v); ok {
			return s
		}
	case "every", "within", "each_task_within":
		if s, ok := duration(v); ok {
			return s
		}
	}
	if v.Kind() == jcs.Bool {
		if v.Bool() {
			return own("yes")
		}
		return own("no")
	}
	return leaf(v)
}

// effect says what a change means for the owner.
func (k *comparer) effect(d *Difference, ch sow.Change) {
	client := k.w.f.Ours == sow.Client
	last := ch.Path[strings.LastIndexByte(ch.Path, '.')+1:]
	a, okA := ch.Old.Int()
	b, okB := ch.New.Int()
	num := okA && okB && ch.Old.Kind() == jcs.Number && ch.New.Kind() == jcs.Number
	more := func(warnUp bool, text string) {
		d.Effect = text
		d.Warn = client && (b > a) == warnUp
	}
	word := func(up, down string) string {
		if b > a {
			return up
		}
		return down
	}
	switch {
	case ch.Order:
		d.Effect = "the same entries, in another order"
	case last == "grade":
		was, is := slices.Index(weakestFirst, ch.Old.Text()), slices.Index(weakestFirst, ch.New.Text())
		switch {
		case was < 0 || is < 0:
			d.Effect, d.Warn = "the grade changes", true
		case is < was:
			d.Effect, d.Warn = "held less firmly", true
		default:
			d.Effect = "held more firmly"
		}
	case num && (last == "amount" || last == "per_task" || last == "per_unit") && strings.HasPrefix(ch.Path, "price."):
		if k.money[0] == k.money[1] {
			more(true, k.money[1].number(max(a-b, b-a))+word(" more", " less"))
		} else {
			d.Effect, d.Warn = "in another currency", true
		}
	case num && last == "amount_micro":
		more(true, units.Decimal(max(a-b, b-a), units.Micro)+word(" more", " less"))
	case strings.HasPrefix(ch.Path, "price."):
		switch d.Sign {
		case Added:
			d.Effect, d.Warn = "new in the price", client
			if strings.HasPrefix(ch.Path, "price.rates[") || strings.HasPrefix(ch.Path, "price.schedule[") {
				d.Effect, d.Warn = "a new charge", client
			}
			if strings.HasPrefix(ch.Path, "price.ceiling") || strings.HasPrefix(ch.Path, "price.cap") {
				d.Effect, d.Warn = "a limit that was not there", false
			}
		case Removed:
			d.Effect = "no longer in the price"
			if strings.HasPrefix(ch.Path, "price.ceiling") || strings.HasPrefix(ch.Path, "price.cap") {
				d.Effect, d.Warn = "a limit goes away", client
			}
		default:
			d.Effect, d.Warn = "the price changes", client
		}
	case last == "ends_at" || last == "starts_at":
		was, err := span.Instant(ch.Old.Text())
		is, err2 := span.Instant(ch.New.Text())
		if err != nil || err2 != nil {
			d.Effect, d.Warn = "the term changes", true
			break
		}
		d.Effect = apart(was, is)
	case strings.HasPrefix(ch.Path, "inputs["):
		k.accessEffect(d, ch, client)
	case num && last == "max_days":
		more(true, word("they keep it longer", "they keep it for less time"))
		if client && b > a {
			d.Effect = "you give more: they keep it longer"
		}
	case num && last == "convenience_notice_hours":
		more(true, word("longer until you can leave", "sooner out"))
	case num && last == "review_window_days":
		more(false, word("more time to answer", "less time to answer"))
	case strings.HasPrefix(ch.Path, "scope.offerings"):
		switch d.Sign {
		case Added:
			d.Effect = "they may do more"
			if k.w.f.Ours == sow.Provider {
				d.Effect = "you are to do more"
			}
		case Removed:
			d.Effect = "no longer in scope"
		default:
			d.Effect = "another offering"
		}
	case strings.HasPrefix(ch.Path, "confidentiality.promises"):
		d.Effect, d.Warn = "another promise", client
		switch {
		case ch.New.Bool():
			d.Effect, d.Warn = "they promise more", false
		case d.Sign == Removed || !ch.New.Bool():
			d.Effect = "a promise goes away"
		}
	case strings.HasPrefix(ch.Path, "confidentiality.processors") && d.Sign == Added:
		d.Effect, d.Warn = "content goes to one more", client
	case strings.HasPrefix(ch.Path, "subcontracting") && d.Sign == Added:
		d.Effect, d.Warn = "one more does the work", client
	case strings.HasPrefix(ch.Path, "change_control.approval."):
		was, is := sow.Authority(ch.Old.Text()), sow.Authority(ch.New.Text())
		if sow.Stricter(was, is) == is && was != is {
			d.Effect = "asks for more than before"
		} else {
			d.Effect, d.Warn = "asks for less than before", true
		}
	case ch.Path == "version":
		d.Effect = "the next version"
	case strings.HasPrefix(ch.Path, "parties") || ch.Path == "id":
		d.Effect, d.Warn = "may not change in an amendment", true
	case d.Sign == Added:
		d.Effect = "was not stated"
	case d.Sign == Removed:
		d.Effect = "no longer stated"
	case num && (last == "per_hour" || last == "per_day" || last == "count"):
		d.Effect = units.Number(max(a-b, b-a)) + word(" more", " fewer")
	default:
		d.Effect = "changes"
	}
}

func (k *comparer) accessEffect(d *Difference, ch sow.Change, client bool) {
	gives := "the client gives more"
	if client {
		gives = "you give more"
	}
	was, is := ch.Old.Text(), ch.New.Text()
	last := ch.Path[strings.LastIndexByte(ch.Path, '.')+1:]
	switch {
	case d.Sign == Added && last != "via":
		d.Effect, d.Warn = gives, client
	case d.Sign == Removed && last == "via":
		d.Effect, d.Warn = "how is no longer said", client
	case d.Sign == Removed:
		d.Effect = "no longer given"
	case last == "access" && was == "read-write" && is == "read":
		d.Effect = "may only be read now"
	case last == "access", last == "when" && is == "standing":
		d.Effect, d.Warn = gives, client
	case last == "when":
		d.Effect = "with each task only"
	case last == "via":
		d.Effect, d.Warn = "another way in", client
	default:
		d.Effect = "changes"
	}
}

// apart says how far an instant moves: in months where it is the same day of
// the month, else in days or less.
func apart(was, is int64) string {
	up := "later"
	a, b := was, is
	if b < a {
		up, a, b = "earlier", b, a
	}
	for n := int64(1); n <= 120; n++ {
		switch e := sow.TermEnd(a, n); {
		case e == b:
			return plural(n, "month", "months") + " " + up
		case e > b:
			return Length(b-a) + " " + up
		}
	}
	return Length(b-a) + " " + up
}

// grade is the grade of the clause a path is in, as proposed.
func (k *comparer) grade(path string) *Grade {
	at := k.w.root()
	top, rest, _ := strings.Cut(path, ".")
	if i := strings.IndexByte(top, '['); i >= 0 {
		top = top[:i]
	}
	switch top {
	case "starts_at", "ends_at", "term_months":
		return k.w.implied("ends_at")
	case "confidentiality":
		sub, _, _ := strings.Cut(rest, ".")
		return at.get(top).get(sub).grade()
	case "inputs":
		if g := at.get("grade"); g.there() {
			return k.w.graded(g.v, "inputs")
		}
		if k.inputs == nil {
			k.inputs = map[string]*Grade{}
			for _, in := range at.get("inputs").items() {
				if _, twice := k.inputs[in.get("name").v.Text()]; !twice {
					k.inputs[in.get("name").v.Text()] = in.grade()
				}
			}
		}
		key, _, _ := quotedKey(strings.TrimPrefix(path, "inputs["))
		return k.inputs[key]
	}
	return at.get(top).grade()
}

func (k *comparer) consequences(changes []sow.Change) (out []string) {
	was, now := units.Number(k.old.Version()), units.Number(k.new.Version())
	out = append(out, fmt.Sprintf("Work admitted under version %s stays priced and recorded under version %s.", was, was))
	from, faultsA := k.old.Price()
	to, faultsB := k.new.Price()
	if faultsA.OK() && faultsB.OK() {
		words := map[money.Consequence]string{
			money.OpensReservation:    fmt.Sprintf("Approving holds %s in advance, for the new cap. If that cannot be placed, the change is refused.", String(k.money[1].amount(to.Cap))),
			money.ReleasesReservation: "What is still held in advance comes back when it is approved.",
			money.NoRefund:            "What was billed before stays billed; nothing is paid back.",
			money.NoBackBilling:       "What was done for nothing before is not billed.",
		}
		for _, x := range money.Consequences(from, to) {
			if s, ok := words[x]; ok {
				out = append(out, s)
			}
		}
	}
	if slices.ContainsFunc(changes, func(c sow.Change) bool {
		return strings.HasPrefix(c.Path, "price") || strings.HasPrefix(c.Path, "scope")
	}) {
		out = append(out, fmt.Sprintf("Price or scope moves: what settles payments is made anew for version %s when it is approved.", now))
	}
	return append(out, "There are no partial approvals: to accept some changes, deny this and propose your own.")
}

// Text is the comparison for a terminal or a plain file.
func (c *Comparison) Text() string {
	w := &writer{}
	w.line(fmt.Sprintf("Version %s beside version %s", units.Number(c.Proposed), units.Number(c.InForce)))
	w.line(String(c.ID))
	if c.Digest != "" {
		w.line("sha256 " + c.InForceDigest + " → " + c.Digest)
	}
	w.line(c.Head())
	for _, g := range c.Groups {
		w.head(g.Title)
		for _, d := range g.Lines {
			w.line([...]string{"△ ", "+ ", "− "}[d.Sign] + String(d.Name))
			w.pair(4, "", "was  "+String(d.Old))
			w.pair(4, "", "is   "+String(d.New))
			effect := d.Effect
			if d.Warn {
				effect = "! " + effect
			}
			if d.Grade != nil {
				effect += " [" + d.Grade.Line() + "]"
			}
			w.pair(4, "", effect)
		}
	}
	w.line("")
	for _, s := range c.Consequences {
		w.pair(0, "", s)
	}
	return w.b.String()
}

// Head says how much changes.
func (c *Comparison) Head() string {
	if c.Total() == 0 {
		return "Nothing changes"
	}
	return fmt.Sprintf("%s; the other %s the same", plural(int64(c.Total()), "change", "changes"), plural(int64(c.Same), "field is", "fields are"))
}
