package page

import (
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/units"
	"vault/derive/jcs"
)

// The methods of this file make the clauses, in the order of the page.

// you says who a seat is: the owner, or the role.
func (w *walker) you(role string) string {
	if w.f.Ours == role {
		return "you"
	}
	return "the " + role
}

func (w *walker) inputs() {
	list := w.root().get("inputs")
	// A clause of a list has its grade beside it or in each entry.
	beside := w.root().get("grade")
	var common *Grade
	if beside.there() {
		beside.take()
		common = w.graded(beside.v, "inputs")
	}
	give, send := "Access the client gives", "Files the client sends"
	if w.f.Ours == sow.Client {
		give, send = "Access you give", "Files you send"
	}
	standing := w.clause("access", give+", and keeps giving")
	if w.f.Ours == sow.Client {
		standing.Title = give + ", and keep giving"
	}
	each, files := w.clause("access_task", give+" for each task"), w.clause("files", send)
	var grades []*Grade
	entries := list.items()
	for _, in := range entries {
		if g := in.grade(); g != nil {
			grades = append(grades, g)
		}
	}
	uniform := common == nil && same(grades) && len(grades) == len(entries)
	for _, in := range entries {
		c, kind, when := files, in.get("kind"), in.get("when")
		shared := kind.there()
		switch {
		case shared && when.v.Text() == "per_task":
			c = each
		case shared:
			c = standing
		}
		r := Row{Name: in.get("name").text()}
		if !in.get("name").there() {
			r.Name = own("without a name")
		}
		if !uniform {
			r.Grade = in.grade()
		}
		if shared {
			r.Kind = Access
			r.Value = own("what may be done with it is not said")
			if a := in.get("access"); a.there() {
				r.Value = a.text()
			}
			r.More, r.Warn = w.way(in.get("via"))
			if kind.v.Text() == "shared_resource" {
				kind.take()
			}
			if (c == each || c == standing) && (when.v.Text() == "per_task" || when.v.Text() == "standing") {
				when.take()
			}
		} else {
			r.Value = own("of no stated form")
			if m := in.get("media_type"); m.there() {
				r.Value = m.text()
			}
			switch when.v.Text() {
			case "per_task":
				when.take()
				r.More = own("with every task")
			case "standing":
				when.take()
				r.More = own("once, and it stands")
			}
		}
		key := "access.file"
		if shared {
			key = map[*Clause]string{standing: "access.standing", each: "access.task"}[c]
		}
		c.row(key, in, r)
		if shared && !when.there() {
			c.Rows = append(c.Rows, Row{Kind: Nothing, Name: own("for how long"), Value: own("not said, so it is shown as one that stays")})
		}
		if l := in.get("location"); l.there() {
			c.Rows = append(c.Rows, Row{Path: l.path, Name: own("where it is"), Value: l.code()})
		}
		w.rest(c, in)
	}
	for _, c := range []*Clause{standing, each, files} {
		c.Group, c.Counted = "Access and files", false
		switch {
		case len(c.Rows) == 0:
		case common != nil:
			c.Grade = common
		case uniform:
			c.Grade = grades[0]
		}
	}
	all := append(grades, common)
	if len(standing.Rows) > 0 {
		standing.Rows = append([]Row{{Kind: Remark, Value: own("These stay open after each task until " + w.you(sow.Client) + " " + closes(w.f.Ours == sow.Client) + " them. The grade is about inputs arriving, not about what is done with them.")}}, standing.Rows...)
	}
	var made []*Clause
	for _, c := range []*Clause{standing, each, files} {
		if len(c.Rows) > 0 || c.Grade != nil {
			made = append(made, c)
		}
	}
	if len(made) == 0 && common != nil {
		files.Grade = common
		made = append(made, files)
	}
	if list.there() && len(entries) == 0 {
		w.rest(files, list)
		if len(made) == 0 {
			made = append(made, files)
		}
	}
	if len(made) > 0 {
		// The inputs are one clause of the document, however many headings they have here.
		made[0].Counted = weakest(all) != nil
	}
	for _, c := range made {
		w.add(c)
	}
}

func closes(you bool) string {
	if you {
		return "close"
	}
	return "closes"
}

// ways are the ways of access the specification knows (5.3.1).
var ways = map[string]string{
	"link":      "a place that is shared",
	"mcp":       "an MCP endpoint of the client’s",
	"api_token": "a token the client issues",
	"oauth":     "a delegation that can be revoked at its source",
	"seat":      "an account in the client’s system",
	"proxy":     "the client’s own agent answers; nothing leaves",
}

// yourWays are the same, to the client.
var yourWays = map[string]string{
	"link":      "a place that you share",
	"mcp":       "an MCP endpoint that you host",
	"api_token": "a token that you issue",
	"oauth":     "a delegation that you can revoke at its source",
	"seat":      "an account in your system",
	"proxy":     "your own agent answers; nothing leaves",
}

// way is how access is given: never the mildest reading of silence.
func (w *walker) way(via at) ([]Span, bool) {
	if !via.there() {
		if w.f.Ours == sow.Client {
			return own("how is not said. Ask before you sign."), true
		}
		return own("how is not said"), true
	}
	t := via.text()
	if means, ok := ways[via.v.Text()]; ok && via.v.Kind() == jcs.String {
		if w.f.Ours == sow.Client {
			means = yourWays[via.v.Text()]
		}
		return join(own("by "), t, own(": "+means)), false
	}
	return join(own("by "), t, own(": not a way the vault knows. Ask what it means.")), true
}

func (w *walker) price() {
	p := w.root().get("price")
	c := w.clause("price", "Price")
	c.Grade = p.grade()
	cur := p.get("currency")
	w.money = currencyOf(cur.v.Text())
	arrangement := p.get("arrangement")
	c.fact("price.arrangement", "Arrangement", arrangement, at.text, arrangementMeans(arrangement.v.Text())...)
	for _, r := range p.get("rates").items() {
		name := own("for no stated offering")
		if o := r.get("offering"); o.there() {
			name = o.text()
		}
		if a := r.get("per_task"); a.there() {
			c.row("price.rate", r, Row{Kind: Amount, Name: name, Value: a.amount(w.money), More: join(w.money.unit(), own(" per task"))})
		} else {
			c.row("", r, Row{Name: name, Value: own("no rate is stated")})
		}
		w.rest(c, r)
	}
	for _, l := range p.get("schedule").items() {
		w.scheduleLine(c, l)
	}
	if ceiling := p.get("ceiling"); ceiling.there() {
		if a := ceiling.get("amount"); a.there() {
			more := w.money.unit()
			if per := ceiling.get("period"); per.there() {
				more = join(more, own(" a "), per.text())
			}
			c.row("price.ceiling", ceiling, Row{Kind: Amount, Name: own("Ceiling"), Value: a.amount(w.money), More: join(more, own("; past it a task is refused with a quote"))})
		}
	}
	if limit := p.get("cap"); limit.there() {
		if a := limit.get("amount"); a.there() {
			c.row("price.cap", limit, Row{Kind: Amount, Name: own("Cap"), Value: a.amount(w.money), More: join(w.money.unit(), own(" in all; work stops there"))})
		}
	}
	if r := p.get("reservation"); r.there() {
		if d := r.get("window_days"); d.there() {
			row := c.row("price.reservation", r, Row{Name: own("Held in advance"), Value: own("the cap, for "), More: own("What is left comes back at the end of the window.")})
			row.Value = join(row.Value, d.count("day", "days"))
			row.Grade = w.implied("price.reservation")
			w.say("price.reservation", row)
		}
	}
	if cur.there() {
		more := own("")
		switch {
		case cur.v.Kind() != jcs.String:
		case !w.money.known:
			more = own("The vault does not know this currency: amounts are shown as the whole numbers that are signed.")
		default:
			more = ownf("Amounts are signed as whole numbers; the vault reads 1000000 as %s.", String(w.money.amount(1000000)))
		}
		c.Rows = append(c.Rows, Row{Path: cur.path, Name: own("Currency"), Value: cur.text(), More: more})
	}
	if p.there() && arrangement.v.Text() != string(money.NoCharge) {
		r := c.remark(span1("Both sides keep a settlement record of every charge."))
		r.Grade = &Grade{Earned: sow.Evidence, Known: true, Implied: true}
		r = c.remark(span1("An operator’s fee, where one is taken, is inside these amounts and has a line of its own in the quote."))
		r.Grade = w.implied("price.operator_fee")
	}
	w.add(c, p)
}

func arrangementMeans(a string) []Span {
	switch money.Arrangement(a) {
	case money.FixedFee:
		return own("a price per task, known before it runs")
	case money.TimeAndMaterials:
		return own("metered work, up to a cap")
	case money.NoCharge:
		return own("nothing is charged; a charge is refused")
	}
	return nil
}

// scheduleLine shows what the arithmetic follows first, and the label that it
// does not follow beside it (5.5.2).
func (w *walker) scheduleLine(c *Clause, l at) {
	name := own("of no stated meter")
	if m := l.get("meter"); m.there() {
		name = m.text()
	}
	per, n := l.get("per"), int64(1)
	if v, ok := per.v.Int(); ok {
		n = v
	}
	more := join(w.money.unit(), own(" per count"))
	if per.there() {
		more = join(w.money.unit(), own(" per "), per.number(), own(" counted"))
	}
	value := own("no price")
	if a := l.get("per_unit"); a.there() {
		value = a.amount(w.money)
	}
	warn := false
	if u := l.get("unit"); u.there() {
		more = join(more, own("; labelled "), u.text())
		if m, ok := leadingNumber(u.v.Text()); ok && m != n {
			more, warn = join(more, ownf(". The label says %s; the price counts %s.", units.Number(m), units.Number(n))), true
		}
	}
	if pt := l.get("pass_through"); pt.there() {
		if pt.v.Kind() == jcs.Bool && pt.v.Bool() {
			pt.take()
			more = join(more, own("; passed on at cost, with the supplier’s receipt"))
		}
	}
	c.row("price.meter", l, Row{Kind: Amount, Name: name, Value: value, More: more, Warn: warn})
	w.rest(c, l)
}

// leadingNumber is the number a label begins with.
func leadingNumber(s string) (n int64, ok bool) {
	for i := 0; i < len(s) && i < 15; i++ {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			n, ok = n*10+int64(s[i]-'0'), true
		case s[i] == ',' && ok:
		default:
			return n, ok
		}
	}
	return n, ok
}

func (w *walker) term() {
	c := w.clause("term", "Term")
	r := w.root()
	c.Grade = w.implied("ends_at")
	c.fact("term.start", "Starts", r.get("starts_at"), at.instant)
	c.fact("term.end", "Ends", r.get("ends_at"), at.instant, span1("It does not renew by itself."))
	c.fact("term.months", "Runs for", r.get("term_months"), func(a at) []Span { return a.count("month", "months") }, span1("counted from the start"))
	w.add(c)
}

func (w *walker) termination() {
	t := w.root().get("termination")
	c := w.clause("termination", "Termination")
	c.Grade = t.grade()
	c.fact("termination.notice", "Notice for convenience", t.get("convenience_notice_hours"), func(a at) []Span { return a.count("hour", "hours") },
		span1("Open tasks are finished and paid."))
	if t.there() {
		c.remark(span1("For cause, either side ends it at once; open tasks are cancelled with a recorded reason."))
	}
	w.add(c, t)
}

func (w *walker) parties() {
	p := w.root().get("parties")
	c := w.clause("parties", "Parties")
	c.Grade = p.grade()
	seat := func(role, name string) {
		s := p.get(role)
		switch {
		case !s.there():
			return
		case s.v.Kind() == jcs.Null:
			s.take()
			c.Rows = append(c.Rows, Row{Path: s.path, Name: own(name), Value: own("null: the seat is open")})
			return
		}
		c.fact("parties."+role, name, s.get("owner"), at.text)
		c.fact("", name+", handle", s.get("handle"), at.text)
		c.fact("", name+", agent’s key", s.get("agent"), at.code)
		if r := c.fact("", name+", organization", s.get("organization"), at.code); r != nil {
			r.More = own("A reference. The vault has not checked that it exists.")
		}
		w.rest(c, s)
	}
	seat(sow.Provider, "Provider")
	seat(sow.Client, "Client")
	if o := p.get("offered_to"); o.there() {
		g := o.grade()
		c.Rows = append(c.Rows, Row{Kind: Remark, Value: own("Offered to one party; nobody else can accept it."), Grade: g})
		seat("offered_to", "Offered to")
		c.fact("parties.expires", "The offer ends", o.get("expires_at"), at.instant)
	}
	w.add(c, p)
}

func (w *walker) scope() {
	s := w.root().get("scope")
	c := w.clause("scope", "Scope")
	c.Grade = s.grade()
	c.list("scope.offerings", "Offerings", s.get("offerings"))
	for _, side := range []struct{ member, name, key string }{{"in_scope", "For example", "scope.in"}, {"out_of_scope", "Not, for example", "scope.out"}} {
		for _, e := range s.get("examples").get(side.member).items() {
			c.fact(side.key, side.name, e, at.text)
		}
	}
	w.add(c, s)
}

func (w *walker) deliverables() {
	d := w.root().get("deliverables")
	c := w.clause("deliverables", "Deliverables")
	c.Grade = d.grade()
	rights := w.clause("rights", "Rights")
	var (
		gaps  [][]Span  // pieces whose rights are not stated
		tests []*Clause // acceptance terms, which stand after the rights
		heads []int     // rows of the rights clause that carry its grade
		kept  bool
	)
	item := func(key string, e at) {
		name := own("without a name")
		if n := e.get("name"); n.there() {
			name = n.text()
		}
		value := own("of no stated form")
		if m := e.get("media_type"); m.there() {
			value = m.text()
		}
		r := Row{Name: name, Value: value, More: own("with every finished task")}
		if key == "deliverables.interim" {
			r.More = nil
			if due := e.get("due"); due.there() {
				r.More = join(own("due "), due.instant())
			}
			if rec := e.get("recurrence"); rec.there() {
				every := own("again and again")
				if x := rec.get("every"); x.there() {
					every = join(own("every "), x.text())
				}
				if x := rec.get("due_by_day"); x.there() {
					every = join(every, own(", by day "), x.number())
				}
				r.More = join(r.More, every)
			}
			r.Grade = &Grade{Earned: sow.Evidence, Known: true, Implied: true}
		}
		c.row(key, e, r)
		if x := e.get("rights"); x.there() {
			kept, heads = true, append(heads, len(rights.Rows))
			w.rights(rights, name, x)
		} else if key == "deliverables.task" {
			gaps = append(gaps, name)
		}
		if x := e.get("acceptance"); x.there() {
			tests = append(tests, w.acceptance(name, x))
		}
		w.rest(c, e)
	}
	for _, e := range d.get("per_task").items() {
		item("deliverables.task", e)
	}
	for _, e := range d.get("interim").items() {
		item("deliverables.interim", e)
	}
	for _, whole := range []at{d, w.root()} {
		if x := whole.get("rights"); x.there() {
			kept, heads = true, append(heads, len(rights.Rows))
			w.rights(rights, own("all of it"), x)
		}
		if x := whole.get("acceptance"); x.there() {
			tests = append(tests, w.acceptance(own("all of it"), x))
		}
	}
	w.add(c, d)
	if kept {
		for _, g := range gaps {
			rights.Rows = append(rights.Rows, Row{Kind: Nothing, Name: g, Value: own("nothing agreed")})
		}
		var grades []*Grade
		for _, i := range heads {
			grades = append(grades, rights.Rows[i].Grade)
		}
		if same(grades) {
			rights.Grade = grades[0]
			for _, i := range heads {
				rights.Rows[i].Grade = nil
			}
		}
		w.add(rights)
	}
	for _, t := range tests {
		w.add(t)
	}
}

func (w *walker) rights(c *Clause, name []Span, x at) {
	first := Row{Grade: x.grade(), Name: name, Value: own("exclusivity is not stated")}
	if e := x.get("exclusivity"); e.there() {
		first.Value = e.text()
		switch e.v.Text() {
		case "non_exclusive":
			first.More = own("the client gets a copy, and so may anybody else")
		case "exclusive":
			first.More = own("no other client gets it; the provider still holds it")
		case "work_for_hire":
			first.More = own("the client holds it; the provider keeps nothing to resell")
		}
	}
	c.row("rights.exclusivity", x, first)
	c.fact("rights.modify", "may be changed", x.get("modify"), at.yes)
	c.fact("rights.redistribute", "may be passed on", x.get("redistribute"), at.yes)
	c.fact("rights.self_operable", "runs without the provider", x.get("self_operable"), at.yes)
	w.rest(c, x)
}

func (w *walker) acceptance(name []Span, x at) *Clause {
	c := w.clause("acceptance", "Acceptance")
	c.Grade = x.grade()
	c.Rows = append(c.Rows, Row{Name: own("Of"), Value: name})
	set := x.get("test_set")
	c.fact("acceptance.digest", "Test set, digest", set.get("digest"), at.code)
	c.fact("", "Test set, where", set.get("ref"), at.code)
	c.fact("", "Test set, withheld until acceptance", set.get("withheld"), at.yes)
	c.fact("acceptance.measure", "Measure", x.get("measure"), at.text)
	threshold := x.get("threshold")
	threshold.v.Leaves(func(sub string, v jcs.Value) {
		name := own("Threshold")
		if sub != "" {
			name = join(own("Threshold, "), code(sub))
		}
		c.Rows = append(c.Rows, Row{Path: threshold.path, Name: name, Value: leaf(v)})
	})
	threshold.take()
	days := x.get("deemed_accepted_after_days")
	if r := c.fact("acceptance.days", "Silence is acceptance after", days, func(a at) []Span { return a.count("day", "days") }); r == nil {
		c.Rows = append(c.Rows, Row{Kind: Nothing, Name: own("Silence"), Value: own("is never acceptance: no window is stated")})
	}
	w.rest(c, x)
	return c
}

func (w *walker) revisions() {
	r := w.root().get("revisions")
	c := w.clause("revisions", "Revisions")
	c.Grade = r.grade()
	inc := r.get("included")
	c.fact("revisions.count", "Included with each task", inc.get("count"), at.number)
	c.fact("revisions.window", "Asked for within", inc.get("window_days"), func(a at) []Span { return a.count("day", "days") }, span1("of the finished task"))
	flat := func(key string, name []Span, p at) {
		cur := currencyOf(p.get("currency").v.Text())
		cur.scale, cur.known = units.Micro, true
		if cur.code == "" {
			cur.known = false
		}
		row := Row{Kind: Amount, Name: name, Value: own("no price")}
		if a := p.get("amount_micro"); a.there() {
			row.Value = a.amount(cur)
		}
		if x := p.get("currency"); x.there() {
			row.More = join(x.text(), own(" each time"))
		}
		if m := p.get("model"); m.v.Text() == "flat" {
			m.take()
			row.More = join(row.More, own(", flat"))
		}
		c.row(key, p, row)
		w.rest(c, p)
	}
	for _, s := range r.get("steps").items() {
		name := own("a step without a name")
		if id := s.get("id"); id.there() {
			name = id.text()
		}
		flat("revisions.step", name, s.get("price"))
		w.rest(c, s)
	}
	if f := r.get("flat"); f.there() {
		flat("revisions.flat", own("Any revision"), f)
	}
	if r.there() && !r.get("steps").there() && !r.get("flat").there() {
		c.remark(span1("No price is stated for more: beyond those included, a revision is refused."))
	}
	w.add(c, r)
}

func (w *walker) volume() {
	v := w.root().get("volume")
	c := w.clause("volume", "Volume")
	c.Grade = v.grade()
	c.fact("volume.hour", "Tasks an hour, at most", v.get("per_hour"), at.number)
	c.fact("volume.day", "Tasks a day, at most", v.get("per_day"), at.number)
	w.add(c, v)
}

// authorityMeans says what stands behind a signature (6.1), and no more.
func authorityMeans(a string) []Span {
	switch sow.Authority(a) {
	case sow.ByAgent:
		return own("whatever holds the key, which may be a program")
	case sow.ByPerson:
		return own("a person’s presence and verification is recorded; it does not show that anything was read")
	case sow.ByAgentThenPerson:
		return own("the agent’s signature first, then a person’s presence and verification")
	}
	return nil
}

func (w *walker) changeControl() {
	v := w.root().get("change_control")
	c := w.clause("change_control", "Change control")
	c.Grade = v.grade()
	c.fact("change.window", "A proposal lapses after", v.get("review_window_days"), func(a at) []Span { return a.count("day", "days") })
	ask := v.get("approval")
	for _, x := range []struct {
		act, name string
		is        sow.Authority
	}{{"formation", "Formation is approved by", w.d.FormationAuthority()}, {"amendment", "A change is approved by", w.d.AmendmentAuthority()}} {
		a := ask.get(x.act)
		var r *Row
		if a.there() {
			r = c.fact("change."+x.act, x.name, a, at.text, authorityMeans(a.v.Text())...)
		} else if v.there() {
			c.Rows = append(c.Rows, Row{Kind: Nothing, Name: own(x.name), Value: own(string(x.is)), More: own("Not stated; this is what the specification then says.")})
			r = &c.Rows[len(c.Rows)-1]
		}
		if r != nil && x.is != sow.ByAgent {
			r.Grade = w.implied("change_control.approval")
		}
	}
	for _, a := range v.get("approvals").items() {
		w.approval(c, a)
	}
	w.add(c, v)
}

// approval is a record inside the signed bytes: a claim about an act.
func (w *walker) approval(c *Clause, a at) {
	c.Rows = append(c.Rows, Row{Kind: Remark, Value: own("An approval is recorded in the document. It is a claim of whoever wrote it.")})
	c.fact("", "Act", a.get("act"), at.text)
	c.fact("", "By", a.get("authority"), at.text, authorityMeans(a.get("authority").v.Text())...)
	c.fact("", "Under the key", a.get("key"), at.code)
	c.fact("", "At", a.get("approved_at"), at.instant)
	m := a.get("mandate")
	record := sow.Approval{Mandate: m.v.Text()}
	checked := w.f.MandateChecked != nil && w.f.MandateChecked(m.v.Text())
	if r := c.fact("", "Mandate", m, at.code, span1("Cited; this vault has not checked it.")); r != nil {
		r.Warn = true
		if record.MandateVerified(checked) {
			r.More, r.Warn = own("Its own specification’s checks were made and passed. What a court would say is another matter."), false
		}
	}
	w.rest(c, a)
}

func (w *walker) disputes() {
	v := w.root().get("disputes")
	c := w.clause("disputes", "Disputes")
	c.Grade = v.grade()
	posture := v.get("posture")
	c.fact("disputes.posture", "Posture", posture, at.text, postureMeans(posture.v.Text(), w.d)...)
	if a := v.get("arbiter"); a.there() {
		c.fact("disputes.role", "Arbiter’s role", a.get("role"), at.text)
		if r := c.fact("", "Arbiter", a.get("agent"), at.code); r == nil {
			c.Rows = append(c.Rows, Row{Kind: Nothing, Name: own("Arbiter"), Value: own("nobody is named: both appoint one when a dispute opens")})
		}
		c.fact("disputes.independence", "No engagement with either side for", a.get("independence_days"), func(a at) []Span { return a.count("day", "days") })
		c.fact("disputes.deadline", "Verdict within", a.get("deadline_days"), func(a at) []Span { return a.count("day", "days") }, span1("A later one is void."))
		c.fact("disputes.fee", "The arbiter’s fee", a.get("fee"), at.text)
		c.fact("disputes.fallback", "Without a verdict", a.get("fallback"), at.text, postureMeans(a.get("fallback").v.Text(), w.d)...)
	}
	w.add(c, v)
}

func postureMeans(p string, d *sow.Document) []Span {
	switch p {
	case "none":
		return own("what was settled is final")
	case "refund_on_failed_task":
		if d.Get("price").Get("arrangement").Text() == string(money.NoCharge) {
			return own("a failed task is recorded; nothing was paid, so nothing comes back")
		}
		return own("a task that fails its form is paid back in full")
	case "escalate_to_owners":
		return own("the owners settle it as people, from the signed record")
	case "arbiter":
		return own("an independent agent rules on the amount; both accept it in advance")
	}
	return nil
}

func (w *walker) confidentiality() {
	v := w.root().get("confidentiality")
	transport := w.clause("transport", "Sealed transport")
	t := v.get("transport")
	transport.Grade = t.grade()
	transport.fact("data.sealed", "Sealed on the way", t.get("sealed"), at.yes)
	w.add(transport, t)

	retention := w.clause("retention", "Retention")
	r := v.get("retention")
	retention.Grade = r.grade()
	retention.fact("data.retention", "Kept for at most", r.get("max_days"), func(a at) []Span { return a.count("day", "days") })
	w.add(retention, r)

	promises := w.clause("promises", "Privacy promises")
	p := v.get("promises")
	promises.Grade = p.grade()
	for _, x := range []struct{ member, name string }{{"no_training", "Not used for training"}, {"no_third_party_sharing", "Not shared beyond the services below"}, {"no_human_reading", "Not read by people"}} {
		if row := promises.fact("data."+x.member, x.name, p.get(x.member), at.yes); row == nil && v.there() {
			promises.Rows = append(promises.Rows, Row{Kind: Nothing, Name: own(x.name), Value: own("not promised")})
		}
	}
	w.add(promises, p)

	where := w.clause("processors", "Where content goes")
	where.Counted = false
	where.list("data.where", "Processed in", v.get("processed_in"))
	list := v.get("processors")
	if list.v.Kind() == jcs.Array && list.v.Len() == 0 {
		list.take()
		where.Rows = append(where.Rows, Row{Path: list.path, Name: own("Services"), Value: own("an empty list: content goes to none")})
	}
	for _, s := range list.items() {
		row := Row{Name: own("Service"), Value: own("not named")}
		if x := s.get("service"); x.there() {
			row.Value = x.text()
		}
		if x := s.get("domain"); x.there() {
			row.Value = join(row.Value, own(", "), x.text())
		}
		if x := s.get("purpose"); x.there() {
			row.Value = join(row.Value, own(": "), x.text())
		}
		where.row("data.service", s, row)
		if x := s.get("processed_in"); x.there() {
			where.list("", "it processes in", x)
		} else {
			where.Rows = append(where.Rows, Row{Kind: Nothing, Name: own("it processes in"), Value: own("not said")})
		}
		w.rest(where, s)
	}
	if v.there() && !list.there() {
		where.Rows = append(where.Rows, Row{Kind: Nothing, Name: own("Services"), Value: own("not said, which is neither some nor none")})
	}
	if d := v.get("dpa"); d.there() {
		where.fact("data.dpa", "Data processing agreement", d.get("title"), at.text)
		where.fact("", "its digest", d.get("digest"), at.code, span1("Those bytes were agreed. The vault has not read them."))
		where.fact("", "where it is", d.get("ref"), at.code)
	}
	w.add(where, v)
}

func (w *walker) reporting() {
	v := w.root().get("reporting")
	c := w.clause("reporting", "Reporting")
	c.Grade = v.grade()
	c.fact("reporting.level", "Level", v.get("level"), at.text, levelMeans(v.get("level").v.Text())...)
	c.fact("reporting.every", "At least every", v.get("every"), at.duration)
	for _, a := range v.get("additions").items() {
		c.fact("reporting.addition", "Also", a, at.text)
	}
	w.add(c, v)
}

func levelMeans(l string) []Span {
	switch l {
	case "records_only":
		return own("nothing beyond the records")
	case "on_change":
		return own("a report whenever the expectation moves")
	case "check_ins":
		return own("that, and a report on a cadence")
	}
	return nil
}

func (w *walker) liability() {
	v := w.root().get("liability")
	c := w.clause("liability", "Liability")
	c.Grade = v.grade()
	limit := v.get("cap")
	if m := limit.get("multiple_of_fees"); m.there() {
		c.Rows = append(c.Rows, Row{Path: m.path, Name: own("Each side is liable for at most"), Value: join(m.number(), own(" times the fees paid or payable"))})
		w.say("liability.multiple", &c.Rows[len(c.Rows)-1])
	}
	if a := limit.get("amount"); a.there() {
		cur := currencyOf(limit.get("currency").v.Text())
		row := c.row("liability.amount", a, Row{Kind: Amount, Name: own("Each side is liable for at most"), Value: a.amount(cur)})
		if x := limit.get("currency"); x.there() {
			row.More = x.text()
			if !cur.known {
				row.More = join(own("smallest units of "), row.More)
			}
		}
	}
	for _, x := range v.get("carve_outs").items() {
		c.fact("liability.carve_out", "The limit does not cover", x, at.text)
	}
	for _, x := range v.get("indemnification").get("by_provider").items() {
		c.fact("liability.by_provider", "The provider answers for", x, at.text)
	}
	for _, x := range v.get("indemnification").get("by_client").items() {
		c.fact("liability.by_client", "The client answers for", x, at.text)
	}
	w.add(c, v)
}

func (w *walker) floors() {
	v := w.root().get("service_floors")
	c := w.clause("service_floors", "Service floors")
	c.Grade = v.grade()
	for _, f := range v.get("floors").items() {
		name := own("Each task within")
		if id := f.get("id"); id.there() {
			name = join(id.text(), own(": each task within"))
		}
		if x := f.get("each_task_within"); x.there() {
			c.row("floors.each", f, Row{Name: name, Value: x.duration()})
		} else {
			c.row("", f, Row{Name: name, Value: own("not stated")})
		}
		w.rest(c, f)
	}
	b := v.get("breach")
	c.fact("floors.misses", "Breach after", b.get("misses"), func(a at) []Span { return a.count("miss", "misses") })
	c.fact("floors.within", "within", b.get("within"), at.duration)
	c.fact("floors.remedy", "then the client may", b.get("remedy"), at.text)
	w.add(c, v)
}

func (w *walker) subcontracting() {
	v := w.root().get("subcontracting")
	c := w.clause("subcontracting", "Subcontracting")
	c.Grade = v.grade()
	c.fact("sub.posture", "Posture", v.get("posture"), at.text, subMeans(v.get("posture").v.Text())...)
	for _, s := range v.get("subcontractors").items() {
		row := Row{Name: own("Delegate"), Value: own("not named")}
		var names [][]Span
		for _, m := range []string{"handle", "role"} {
			if x := s.get(m); x.there() {
				names = append(names, join(own(m+" "), x.text()))
			}
		}
		if x := s.get("agent"); x.there() {
			names = append(names, join(own("key "), x.code()))
		}
		if len(names) > 0 {
			row.Value = lines(names)
		}
		c.row("sub.delegate", s, row)
		c.fact("sub.scope", "does", s.get("scope"), at.text)
		c.fact("", "under the engagement", s.get("engagement"), at.code)
		w.rest(c, s)
	}
	w.add(c, v)
}

func subMeans(p string) []Span {
	switch p {
	case "none":
		return own("the provider does the work itself")
	case "disclosed":
		return own("every delegate is named before its work begins")
	case "approved":
		return own("and each needs the client’s signature first")
	}
	return nil
}

func (w *walker) qualifications() {
	list := w.root().get("qualifications")
	c := w.clause("qualifications", "Who can accept")
	var grades []*Grade
	for _, q := range list.items() {
		grades = append(grades, q.grade())
	}
	if list.v.Kind() == jcs.Array && list.v.Len() == 0 {
		list.take()
		c.Rows = append(c.Rows, Row{Path: list.path, Name: own("Conditions"), Value: own("an empty list: none")})
		c.Counted = false
	}
	if same(grades) {
		c.Grade = grades[0]
	}
	for i, q := range list.items() {
		name := own("a condition without a name")
		if id := q.get("id"); id.there() {
			name = id.text()
		}
		row := Row{Name: name, Value: own("states nothing")}
		if s := q.get("statement"); s.there() {
			row.Value = s.text()
		}
		if k := q.get("kind"); k.there() {
			row.More = k.text()
			if k.v.Text() == sow.KindAsserted {
				row.More = join(row.More, own(": you say it of yourself; nobody checks it"))
			}
			if o := q.get("offering"); o.there() {
				row.More = join(row.More, own(" "), o.text())
			}
		}
		if c.Grade == nil && grades[i] != nil {
			row.Grade = grades[i]
		}
		c.row("qualification", q, row)
		w.rest(c, q)
	}
	if a := w.root().get("assertions"); a.there() {
		c.list("", "The client asserts", a)
		c.Counted = c.Counted && list.there()
	}
	if c.Grade == nil && weakest(grades) == nil {
		c.Counted = false
	}
	w.add(c, list)
}

// silent lists what the document does not say, with what that means.
func (w *walker) silent() {
	c := w.clause("silent", "What it does not say")
	c.Group, c.Counted = "Not said", false
	r := w.root()
	gap := func(is bool, name, means string) {
		if is {
			c.Rows = append(c.Rows, Row{Kind: Nothing, Name: own(name), Value: own("nothing agreed"), More: own(means)})
		}
	}
	absent := func(name string) bool { return !r.get(name).there() }
	rights, acceptance := false, false
	for _, root := range []at{r, r.get("deliverables")} {
		rights = rights || root.get("rights").there()
		acceptance = acceptance || root.get("acceptance").there()
	}
	for _, kind := range []string{"per_task", "interim"} {
		for _, e := range r.get("deliverables").get(kind).items() {
			rights = rights || e.get("rights").there()
			acceptance = acceptance || e.get("acceptance").there()
		}
	}
	gap(!rights, "Rights", "A right that is not stated is not granted.")
	gap(!acceptance, "Acceptance", "No test was named, and silence is not acceptance.")
	gap(absent("deliverables"), "Deliverables", "No form can be checked.")
	gap(absent("inputs"), "Access and files", "Nothing is asked for.")
	gap(absent("revisions"), "Revisions", "A change to finished work is a new task at its price.")
	gap(absent("volume"), "Volume", "The provider’s own limits apply.")
	gap(absent("termination"), "Termination", "No notice is stated; only cause is left.")
	gap(absent("disputes"), "Disputes", "No posture is stated, and none is assumed.")
	gap(absent("confidentiality"), "Confidentiality", "No promise about your content is made.")
	gap(absent("reporting"), "Reporting", "Nothing is owed beyond the records.")
	gap(absent("liability"), "Liability", "No limit is stated; the law that applies says.")
	gap(absent("service_floors"), "Service floors", "No speed was agreed.")
	gap(absent("subcontracting"), "Subcontracting", "Nothing is said about who does the work.")
	w.add(c)
}

// about is what the document says of itself.
func (w *walker) about() {
	r := w.root()
	c := w.clause("about", "This document")
	c.Counted = false
	c.fact("", "Format", r.get("sow"), at.text)
	c.fact("", "Identifier", r.get("id"), at.code)
	c.fact("", "Version", r.get("version"), at.number)
	l := r.get("language")
	c.fact("", "Contract language", l.get("id"), at.code)
	c.fact("", "its version", l.get("version"), at.number)
	c.fact("", "hash of its text", l.get("sha256"), at.code)
	from := r.get("derived_from")
	c.fact("", "Formed from the offer", from.get("standing_proposal"), at.code)
	c.fact("", "version of the offer", from.get("version"), at.number)
	w.rest(c, l)
	w.rest(c, from)
	w.add(c)
	// What is signed and belongs to no clause the specification knows.
	other := w.clause("other", "Other signed fields")
	other.Counted = false
	for m := range r.v.Members() {
		if m.Name != "signatures" {
			w.rest(other, r.get(m.Name))
		}
	}
	w.add(other)
}
