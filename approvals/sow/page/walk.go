package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vault/approvals/sow"
	"vault/approvals/sow/units"
	"vault/derive/jcs"
)

// walker reads one document and remembers which members are on the page.
type walker struct {
	d      *sow.Document
	f      Facts
	taken  map[string]bool
	grades map[string]sow.Grade
	words  map[string]string // sentences of the contract language, nil unless it is our own
	money  currency
	out    []Clause
}

func newWalker(d *sow.Document, f Facts) *walker {
	w := &walker{d: d, f: f, taken: map[string]bool{}, grades: map[string]sow.Grade{}}
	for _, g := range d.Grades(f.Deployment) {
		w.grades[g.Member] = g
	}
	return w
}

// at is a place in the document.
type at struct {
	w    *walker
	v    jcs.Value
	path string
}

func (w *walker) root() at { return at{w, w.d.Value(), ""} }

func (a at) there() bool { return a.v.Exists() }

// get goes to a member. The path is the one jcs.Value.Leaves gives.
func (a at) get(name string) at {
	p := name
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || name == "" {
		p = "[" + string(jcs.AppendString(nil, name)) + "]"
	}
	if a.path != "" && p[0] != '[' {
		p = "." + p
	}
	return at{a.w, a.v.Get(name), a.path + p}
}

func (a at) items() (out []at) {
	for i, v := range a.v.Items() {
		out = append(out, at{a.w, v, a.path + "[" + strconv.Itoa(i) + "]"})
	}
	return out
}

// take says that the whole value is on the page.
func (a at) take() at {
	if a.there() {
		a.w.taken[a.path] = true
	}
	return a
}

// shown says whether a leaf is on the page, alone or with what it is in.
func (w *walker) shown(path string) bool {
	for i := 0; i < len(path); i++ {
		if (path[i] == '.' || path[i] == '[') && w.taken[path[:i]] {
			return true
		}
	}
	return w.taken[path]
}

// text is a stated text, as it stands.
func (a at) text() []Span {
	a.take()
	if a.v.Kind() != jcs.String {
		return raw(a.v)
	}
	return outside(a.v.Text())
}

func (a at) code() []Span {
	a.take()
	if a.v.Kind() != jcs.String {
		return raw(a.v)
	}
	return code(a.v.Text())
}

// count is a stated whole number with its unit.
func (a at) count(one, many string) []Span {
	a.take()
	n, ok := a.v.Int()
	if !ok {
		return raw(a.v)
	}
	return own(plural(n, one, many))
}

func (a at) number() []Span {
	a.take()
	n, ok := a.v.Int()
	if !ok {
		return raw(a.v)
	}
	return own(units.Number(n))
}

// amount is a stated amount without its currency.
func (a at) amount(c currency) []Span {
	a.take()
	n, ok := a.v.Int()
	if !ok {
		return raw(a.v)
	}
	return own(c.number(n))
}

func (a at) instant() []Span {
	a.take()
	if s, ok := instant(a.v); ok {
		return s
	}
	if a.v.Kind() == jcs.Null {
		return own("null: filled in when an agreement is formed")
	}
	return raw(a.v)
}

func (a at) duration() []Span {
	a.take()
	if s, ok := duration(a.v); ok {
		return s
	}
	return raw(a.v)
}

// yes is a stated truth value.
func (a at) yes() []Span {
	a.take()
	if a.v.Kind() != jcs.Bool {
		return raw(a.v)
	}
	if a.v.Bool() {
		return own("yes")
	}
	return own("no")
}

// list is a list of texts, one a line.
func (a at) list() []Span {
	a.take()
	if a.v.Kind() != jcs.Array { // a list of it is another document
		return join(own("not a list: "), raw(a.v))
	}
	if a.v.Len() == 0 {
		return own("an empty list")
	}
	var out [][]Span
	for _, i := range a.items() {
		out = append(out, i.text())
	}
	return lines(out)
}

// grade is the grade a value states, nil where it states none.
func (a at) grade() *Grade { return a.gradeAs(a.path) }

// gradeAs is grade, with the path under which the deployment's answer stands.
func (a at) gradeAs(member string) *Grade {
	g := a.get("grade")
	if !g.there() {
		return nil
	}
	g.take()
	return a.w.graded(g.v, member)
}

func (w *walker) graded(v jcs.Value, member string) *Grade {
	out := &Grade{Stated: v.Text(), Known: Word(v.Text()) != ""}
	if !out.Known {
		out.Stated = string(v.Canonical())
		return out
	}
	out.Earned = out.Stated
	if e, ok := w.grades[member]; ok && e.Stated == out.Stated {
		out.Earned, out.Unavailable = e.Earned, e.Unavailable
	}
	return out
}

// implied is the grade the specification gives where the document states none.
func (w *walker) implied(member string) *Grade {
	e, ok := w.grades[member]
	if !ok {
		return nil
	}
	return &Grade{Earned: e.Earned, Known: true, Implied: true}
}

// clause makes a clause; it is put on the page with add.
func (w *walker) clause(key, title string) *Clause {
	return &Clause{Key: key, Title: title, Group: title, Counted: true}
}

// rest puts what no row has shown of a value into the clause, as it stands.
func (w *walker) rest(c *Clause, a at) {
	if !a.there() {
		return
	}
	a.v.Leaves(func(sub string, v jcs.Value) {
		path := a.path
		switch {
		case sub == "":
		case path == "" || sub[0] == '[':
			path += sub
		default:
			path += "." + sub
		}
		if w.shown(path) {
			return
		}
		w.taken[path] = true
		c.Rows = append(c.Rows, Row{Path: path, Name: code(path), Value: leaf(v)})
	})
}

// leaf is a scalar without a reading of ours: text as it is, everything else
// marked as what it is.
func leaf(v jcs.Value) []Span {
	switch v.Kind() {
	case jcs.String:
		return outside(v.Text())
	case jcs.Number:
		return join(code(string(v.Canonical())), own(", a number"))
	}
	return raw(v)
}

// add puts a clause on the page, if there is anything in it.
func (w *walker) add(c *Clause, of ...at) {
	for _, a := range of {
		w.rest(c, a)
	}
	if len(c.Rows) > 0 || c.Grade != nil {
		w.out = append(w.out, *c)
	}
}

// fact adds a name and a value, if the value is there.
func (c *Clause) fact(key, name string, a at, value func(at) []Span, more ...Span) *Row {
	if !a.there() {
		return nil
	}
	c.Rows = append(c.Rows, Row{Path: a.path, Name: own(name), Value: value(a), More: more})
	r := &c.Rows[len(c.Rows)-1]
	a.w.say(key, r)
	return r
}

// short is how many entries of a list stand in one row.
const short = 8

// list is a fact whose value is a list of texts; the entries of a long one have
// rows of their own.
func (c *Clause) list(key, name string, a at) {
	if a.v.Kind() != jcs.Array || a.v.Len() <= short {
		c.fact(key, name, a, at.list)
		return
	}
	for i, e := range a.items() {
		r := Row{Path: e.path, Name: own(fmt.Sprintf("%s, %s", name, units.Number(int64(i+1)))), Value: e.text()}
		c.Rows = append(c.Rows, r)
		a.w.say(key, &c.Rows[len(c.Rows)-1])
	}
	a.take()
}

func (c *Clause) row(key string, a at, r Row) *Row {
	r.Path = a.path
	c.Rows = append(c.Rows, r)
	out := &c.Rows[len(c.Rows)-1]
	a.w.say(key, out)
	return out
}

func (c *Clause) remark(text ...Span) *Row {
	c.Rows = append(c.Rows, Row{Kind: Remark, Value: text})
	return &c.Rows[len(c.Rows)-1]
}

func span1(text string) Span { return Span{Text: text} }

// weakestFirst are the grades in the order of what they hold.
var weakestFirst = []string{sow.Recorded, sow.Evidence, sow.Enforced}

// weakest is the weakest of several stated grades, nil for none.
func weakest(grades []*Grade) *Grade {
	var out *Grade
	for _, g := range grades {
		if g == nil {
			continue
		}
		if out == nil || slices.Index(weakestFirst, g.Shown()) < slices.Index(weakestFirst, out.Shown()) {
			out = g
		}
	}
	return out
}

func same(grades []*Grade) bool {
	for _, g := range grades {
		if g == nil || *g != *grades[0] {
			return false
		}
	}
	return len(grades) > 0
}
