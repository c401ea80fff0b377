package sow

import (
	"strings"
	"time"

	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// Options is what a validation knows beside the document.
type Options struct {
	// Authoring says that the document is ours and about to be signed: rules of
	// our own and inferred ones are then errors, and a version 1 must carry the
	// identifier it derives.
	Authoring bool
	// Manifest is the provider agent's manifest, nil if nobody brought it. One
	// of another agent counts as none.
	Manifest *Manifest
	// Ours are the owner keys of this vault, and Made tells an approval record
	// of ours from one that only claims to be. With keys and without Made every
	// record under one of the keys is refused, and one under a text that only
	// looks like one of them always is.
	Ours []string
	Made func(approval jcs.Value) bool
	// Languages are the texts of contract languages that are known here. Nil: it
	// is not looked at, and whoever shows the document says what is known.
	Languages Languages
}

// topLevel are the members a document of 0.22 may have. "grade" is that of the
// inputs, as section 5.3 prints it.
var topLevel = []string{
	"sow", "id", "version", "starts_at", "ends_at", "term_months", "language", "derived_from", "parties",
	"scope", "inputs", "grade", "deliverables", "rights", "acceptance", "revisions", "price", "volume",
	"change_control", "termination", "disputes", "confidentiality", "reporting", "liability",
	"service_floors", "subcontracting", "qualifications", "assertions", "signatures",
}

// Validate checks the whole document and returns everything found, in the
// order of the specification. Signatures are VerifySignatures' business, and
// the identifier of what was received is never judged (4.1.1).
func (d *Document) Validate(o Options) Findings {
	c := &checker{authoring: o.Authoring}
	v := d.v
	c.need(among(v.Get("sow"), "v1"), "sow_version_unknown", "sow")
	if c.need(nonEmpty(v.Get("id")), "id_missing", "id") && d.Version() == 1 && o.Authoring {
		c.need(d.ID() == d.Mint(), "id_mint_mismatch", "id")
	}
	c.need(isPos(v.Get("version")), "version", "version")
	c.term(v)
	c.language(v.Get("language"), "language")
	c.written(d, o.Languages)
	if from := v.Get("derived_from"); from.Exists() {
		c.need(nonEmpty(from.Get("standing_proposal")) && isPos(from.Get("version")), "derived_from", "derived_from")
	}
	for m := range v.Members() {
		if !has(topLevel, m.Name) {
			c.add("unknown_top_level_member", step("", m.Name))
		}
	}
	for _, cl := range clauses {
		if w := v.Get(cl.name); w.Exists() || cl.required {
			cl.check(c, w, cl.name)
		}
	}
	if w := v.Get("inputs"); w.Exists() {
		c.inputs(w, v.Get("grade"), "inputs")
	}
	c.attached(v, "")
	if w := v.Get("assertions"); w.Exists() {
		if list, ok := texts(w); !ok || !sorted(list) {
			c.add("assertions_unsorted", "assertions")
		}
	}
	c.across(d, o)
	c.blanks(d)
	return c.found
}

// clause is a member that is checked on its own.
type clause struct {
	name     string
	required bool
	check    func(*checker, jcs.Value, string)
}

var clauses = []clause{
	{"parties", true, (*checker).parties},
	{"scope", true, (*checker).scope},
	{"deliverables", false, (*checker).deliverables},
	{"revisions", false, (*checker).revisions},
	{"price", true, (*checker).price},
	{"volume", false, (*checker).volume},
	{"change_control", true, (*checker).changeControl},
	{"termination", false, (*checker).termination},
	{"disputes", false, (*checker).disputes},
	{"confidentiality", false, (*checker).confidentiality},
	{"reporting", false, (*checker).reporting},
	{"liability", false, (*checker).liability},
	{"service_floors", false, (*checker).floors},
	{"subcontracting", false, (*checker).subcontracting},
	{"qualifications", false, (*checker).qualifications},
}

// CheckPart checks one part on its own: a clause by its member's name, or
// party, offered_to, qualification, approval, settlement_line, operator_fee,
// problem. It returns false for a part it does not know.
func CheckPart(part string, v jcs.Value) (Findings, bool) {
	c := &checker{}
	for _, cl := range clauses {
		if cl.name == part {
			cl.check(c, v, part)
			return c.found, true
		}
	}
	switch part {
	case "party":
		c.party(v, part, "")
	case "offered_to":
		c.offeredTo(v, part)
	case "qualification":
		c.qualification(v, part)
	case "approval":
		c.approval(v, part)
	case "settlement_line":
		c.settlementLine(v, part)
	case "operator_fee":
		c.fee(v, part)
	case "problem":
		c.problem(v, part)
	default:
		return nil, false
	}
	return c.found, true
}

// term checks start, end and the offered months (4.2, 5.7, 12.1).
func (c *checker) term(v jcs.Value) {
	starts, ends, months := v.Get("starts_at"), v.Get("ends_at"), v.Get("term_months")
	blankSeat := v.Get("parties").Get("client").Kind() == jcs.Null
	switch {
	case starts.Kind() == jcs.Null:
		c.need(blankSeat, "client_seat_not_blank", "parties.client")
	case blankSeat && isInstant(starts):
		c.add("starts_at_not_null", "starts_at")
	default:
		c.need(isInstant(starts), "starts_at", "starts_at")
	}
	if ends.Kind() != jcs.Null || !blankSeat {
		c.need(isInstant(ends), "ends_at", "ends_at")
	}
	switch {
	case months.Exists():
		c.need(isPos(months), "term_months", "term_months")
	case blankSeat && ends.Kind() == jcs.Null:
		c.add("term_unstated", "term_months")
	}
	if s, ok := instantOf(starts); ok {
		if e, ok := instantOf(ends); ok {
			c.need(s < e, "term_empty", "ends_at")
			if n, ok := posint(months); ok {
				c.need(TermEnd(s, n) == e, "term_months_differ", "term_months")
			}
		}
	}
}

// holds says whether a window of so many days can end inside the term (5.5.4).
// An offer of some months has no start yet: it is in the wrong where no start
// would do.
func (d *Document) holds(days int64) bool {
	start, end, started, ended := d.Term()
	if started && ended {
		return span.Within(start, days, end)
	}
	months, ok := posint(d.v.Get("term_months"))
	if !ok || ended || !d.BlankSeat() {
		return true
	}
	for m := range 48 { // four years have every length
		start := time.Date(2025, time.Month(1+m), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		if span.Within(start, days, TermEnd(start, months)) {
			return true
		}
	}
	return false
}

func sorted(list []string) bool {
	for i := 1; i < len(list); i++ {
		if jcs.CompareUTF16(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

// across checks what one clause says against another.
func (c *checker) across(d *Document, o Options) {
	v := d.v
	c.offer(d)
	scoped := named(v.Get("scope").Get("offerings"), "")
	price := v.Get("price")
	switch price.Get("arrangement").Text() {
	case string(money.FixedFee):
		c.priced(scoped, named(price.Get("rates"), "offering"))
	case string(money.TimeAndMaterials):
		c.need(!v.Get("revisions").Exists(), "revisions_under_time_and_materials", "revisions")
		if days, ok := posint(price.Get("reservation").Get("window_days")); ok {
			c.need(d.holds(days), "reservation_beyond_term", "price.reservation.window_days")
		}
	case string(money.NoCharge):
		r := v.Get("revisions")
		c.need(!r.Get("steps").Exists() && !r.Get("flat").Exists(), "revisions_priced_under_no_charge", "revisions")
	}
	c.declared(v, scoped, o.Manifest)
	for i, a := range v.Get("change_control").Get("approvals").Items() {
		k := a.Get("key").Text()
		for _, ours := range o.Ours {
			if k == ours && o.Made != nil && o.Made(a) || letters(k) != ours {
				continue
			}
			c.add("approval_not_ours", item("change_control.approvals", i))
			break
		}
	}
}

// letters is a text as somebody reads it who looks for a key: capitals and
// digits, whatever stands between them.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return -1
	}, s)
}

// offer checks what an offer says of whom it is for (5.3.1, 12.1, 12.1.1), and a
// filled seat against the one party its offer named.
func (c *checker) offer(d *Document) {
	parties := d.v.Get("parties")
	to := parties.Get("offered_to")
	switch {
	case !d.BlankSeat():
		agent := parties.Get("client").Get("agent")
		c.need(to.Kind() != jcs.Object || agent.Text() == to.Get("agent").Text(), "directed_wrong_party", "parties.client.agent")
	case d.Directed():
		c.need(to.Kind() != jcs.Object || to.Get("expires_at").Exists(), "directed_unbounded", "parties.offered_to.expires_at")
	default:
		c.publishable(d.v.Get("inputs"), "inputs")
	}
	if d.v.Get("qualifications").Len() > 0 {
		c.add("qualification_no_screening", "qualifications")
	}
}

// namedList is what the entries of a list name. Where one of them, or the list,
// cannot be read it is not whole, and nothing can be said to be missing from it.
type namedList struct {
	at    []int // places in the list
	names []string
	whole bool
}

// named reads a list of texts, or of objects by a member.
func named(v jcs.Value, member string) (out namedList) {
	out.whole = v.Kind() == jcs.Array && v.Len() > 0
	for i, w := range v.Items() {
		if member != "" {
			w = w.Get(member)
		}
		if !filled(w) {
			out.whole = false
			continue
		}
		out.at, out.names = append(out.at, i), append(out.names, w.Text())
	}
	return out
}

// priced checks that scope and rates name the same offerings (5.2, 5.5.1).
func (c *checker) priced(scoped, rated namedList) {
	in, priced := setOf(scoped.names), setOf(rated.names)
	for i, o := range rated.names {
		if scoped.whole {
			c.need(in[o], "rate_offering_out_of_scope", item("price.rates", rated.at[i]), "offering")
		}
	}
	for i, o := range scoped.names {
		if rated.whole {
			c.need(priced[o], "offering_unpriced", item("scope.offerings", scoped.at[i]))
		}
	}
}

// declared checks scope, schedule and revision steps against the manifest of
// the provider's agent, or says that nobody brought it. An offer may only name
// what is published; in an engagement an offering may have been withdrawn
// since, and what it declared is then not known.
func (c *checker) declared(v jcs.Value, scoped namedList, m *Manifest) {
	parties, schedule, steps := v.Get("parties"), v.Get("price").Get("schedule"), v.Get("revisions").Get("steps")
	offer := parties.Get("client").Kind() == jcs.Null
	published := map[string]Offering{}
	brought := m != nil && m.Agent == parties.Get("provider").Get("agent").Text()
	if brought {
		for _, o := range m.Offerings {
			published[o.ID] = o
		}
	}
	why := ""
	if m != nil {
		why = "the manifest that was brought is another agent's"
	}
	if offer && !brought {
		c.notChecked("scope_offering_not_published", "scope.offerings", why)
	}
	var meters, ids []string
	complete := brought
	for i, name := range scoped.names {
		o, ok := published[name]
		if brought && offer {
			c.need(ok, "scope_offering_not_published", item("scope.offerings", scoped.at[i]))
		}
		complete = complete && (ok || offer)
		meters, ids = append(meters, o.Meters...), append(ids, o.Steps...)
	}
	if brought && !scoped.whole {
		return // what the scope covers is not known, and said already
	}
	if brought {
		why = "the manifest that was brought lacks an offering of the scope"
	}
	for _, l := range []struct {
		list     jcs.Value
		name     string
		declared []string
		code     Code
		path     string
	}{{schedule, "meter", meters, "schedule_meter_undeclared", "price.schedule"}, {steps, "id", ids, "revision_step_undeclared", "revisions.steps"}} {
		switch {
		case complete:
			c.among(l.list, l.name, l.declared, l.code, l.path)
		case l.list.Len() > 0:
			c.notChecked(l.code, l.path, why)
		}
	}
}

// among checks that a list's entries are among the declared names.
func (c *checker) among(list jcs.Value, name string, declared []string, code Code, path string) {
	known := setOf(declared)
	for i, e := range list.Items() {
		if w := e.Get(name); isText(w) {
			c.need(known[w.Text()], code, item(path, i), name)
		}
	}
}
