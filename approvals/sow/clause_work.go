package sow

import (
	"regexp"
	"slices"
	"strconv"

	"vault/derive/jcs"
)

// scope checks the clause (5.2).
func (c *checker) scope(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "scope_offerings", path) {
		return
	}
	list := v.Get("offerings")
	if c.need(list.Kind() == jcs.Array && list.Len() > 0, "scope_offerings", path, "offerings") {
		seen := make(map[string]bool, list.Len())
		for i, o := range list.Items() {
			p := item(at(path, "offerings"), i)
			if c.need(filled(o), "scope_offerings", p) {
				c.unique(seen, o.Text(), "scope_duplicate_offering", p)
			}
		}
	}
	if e := v.Get("examples"); e.Exists() {
		c.need(e.Kind() == jcs.Object, "scope_examples", path, "examples")
		for _, name := range []string{"in_scope", "out_of_scope"} {
			if l := e.Get(name); l.Exists() {
				_, ok := texts(l)
				c.need(ok, "scope_examples", path, "examples."+name)
			}
		}
	}
	c.atMost(v, path, Enforced, "scope_grade")
}

// The ways of granting access the specification names (5.3.1).
var mechanisms = []string{"link", "mcp", "api_token", "oauth", "seat", "proxy"}

// inputs checks the list (5.3, 5.3.1). Its grade stands on each entry, or
// beside the list as the specification prints it.
func (c *checker) inputs(v, beside jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Array, "inputs_not_list", path) {
		return
	}
	if beside.Exists() {
		c.need(isText(beside) && rank(beside.Text()) > 0, "grade_unknown", "grade")
	}
	seen := make(map[string]bool, v.Len())
	for i, w := range v.Items() {
		p := item(path, i)
		if !c.need(w.Kind() == jcs.Object, "inputs_not_list", p) {
			continue
		}
		in := readInput(w)
		if c.need(filled(in.name), "input_name", p, "name") {
			c.unique(seen, in.name.Text(), "input_duplicate", p, "name")
		}
		c.need(among(in.when, "per_task", "standing"), "input_when", p, "when")
		if !beside.Exists() || in.grade.Exists() {
			c.knownGrade(in.grade, p)
		}
		c.grant(in, p)
	}
}

// input is an entry of the list with its members looked up in one go: there can
// be thousands of entries.
type input struct {
	name, when, grade, kind, via, mediaType, access, location jcs.Value
}

func readInput(v jcs.Value) (in input) {
	for m := range v.Members() {
		switch m.Name {
		case "name":
			in.name = m.Value
		case "when":
			in.when = m.Value
		case "grade":
			in.grade = m.Value
		case "kind":
			in.kind = m.Value
		case "via":
			in.via = m.Value
		case "media_type":
			in.mediaType = m.Value
		case "access":
			in.access = m.Value
		case "location":
			in.location = m.Value
		}
	}
	return in
}

// grant checks what is furnished: a file, or access to a resource.
func (c *checker) grant(in input, p string) {
	if in.via.Exists() {
		c.need(filled(in.via), "input_via", p, "via")
	}
	if !in.kind.Exists() {
		c.need(filled(in.mediaType), "input_media_type", p, "media_type")
		c.need(!in.via.Exists(), "input_via_on_file", p, "via")
		return
	}
	if !filled(in.kind) { // no kind at all, known or not
		c.barred("input_kind", at(p, "kind"))
		return
	}
	if !c.need(among(in.kind, "shared_resource"), "input_kind", p, "kind") {
		return
	}
	if in.location.Exists() {
		c.need(filled(in.location), "input_location", p, "location")
	}
	c.need(filled(in.access), "input_access", p, "access")
	switch {
	case !in.via.Exists():
		c.add("input_via_unsaid", at(p, "via"))
	case filled(in.via) && !among(in.via, mechanisms...):
		c.add("input_via_unknown", at(p, "via"))
	}
}

var shapeMembers = []string{"name", "media_type", "when", "kind", "access", "via", "grade", "description", "optional", "required"}

// The marks of an address, a path, an account or a key in a text. A form that
// is not among them can still be one: the rule is kept by its writer, and this
// catches what writers do by mistake.
var bindingForms = []*regexp.Regexp{
	regexp.MustCompile(`://|(?i)\bwww\.|\b(?:localhost|mailto:|urn:)`),
	regexp.MustCompile(`(?:^|\s)(?:~?/[^\s/]|~[a-z]|\.{1,2}/)`),                     // a path
	regexp.MustCompile(`^\\\\|\b[A-Za-z]:\\|^[A-Za-z]:/|^\.{0,2}\\`),                // and one of Windows
	regexp.MustCompile(`[A-Za-z0-9-]\.[A-Za-z]{2,}(?:/|:\d)`),                       // a host with a path or a port
	regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`),                               // an address of the internet
	regexp.MustCompile(`(?i)\[[0-9a-f.]*:[0-9a-f:.]+\]|\b(?:[0-9a-f]{1,4}:){4}`),    // and one with colons
	regexp.MustCompile(`[^\s@]@[^\s@]+\.[^\s@]`),                                    // of mail
	regexp.MustCompile(`(?i)\b(?:bearer|token|key|secret|password)\s*[=:]`),         // a credential that says so
	regexp.MustCompile(`\b(?:sk|pk|ghp|gho|xox[abp]|AKIA|eyJ)[-_]?[A-Za-z0-9]{12}`), // and those that are known by how they begin
	regexp.MustCompile(`(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`),       // an account or tenant
	regexp.MustCompile(`(?i)\b[0-9a-f]{32,}\b`),
}

func binds(s string) bool {
	return slices.ContainsFunc(bindingForms, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// publishable checks that an offer to strangers states shapes of inputs and
// never where they are or how to get in (5.3.1).
func (c *checker) publishable(v jcs.Value, path string) {
	for i, in := range v.Items() {
		for m := range in.Members() {
			if !slices.Contains(shapeMembers, m.Name) || m.Value.Len() > 0 || binds(m.Value.Text()) {
				c.add("input_binding_published", step(item(path, i), m.Name))
			}
		}
	}
}

// deliverables checks the clause (5.4).
func (c *checker) deliverables(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "deliverable_shape", path) {
		return
	}
	if l := v.Get("per_task"); l.Exists() && c.need(l.Kind() == jcs.Array, "deliverable_shape", path, "per_task") {
		for i, d := range l.Items() {
			c.deliverable(d, item(at(path, "per_task"), i))
		}
	}
	if l := v.Get("interim"); l.Exists() && c.need(l.Kind() == jcs.Array, "deliverable_shape", path, "interim") {
		for i, d := range l.Items() {
			p := item(at(path, "interim"), i)
			if c.deliverable(d, p) {
				c.interim(d, p)
			}
		}
	}
	c.attached(v, path)
	c.atMost(v, path, Enforced, "deliverables_grade")
}

// deliverable checks what every entry states, false if it is no entry at all.
func (c *checker) deliverable(d jcs.Value, p string) bool {
	if !c.need(d.Kind() == jcs.Object, "deliverable_shape", p) {
		return false
	}
	c.need(filled(d.Get("name")), "deliverable_shape", p, "name")
	c.need(filled(d.Get("media_type")), "deliverable_shape", p, "media_type")
	c.attached(d, p)
	return true
}

// attached checks rights and acceptance wherever they are attached.
func (c *checker) attached(v jcs.Value, path string) {
	if w := v.Get("rights"); w.Exists() {
		c.rights(w, at(path, "rights"))
	}
	if w := v.Get("acceptance"); w.Exists() {
		c.acceptance(w, at(path, "acceptance"))
	}
}

func (c *checker) interim(d jcs.Value, p string) {
	due, rec := d.Get("due"), d.Get("recurrence")
	c.need(due.Exists() != rec.Exists(), "interim_due_xor_recurrence", p)
	if due.Exists() {
		c.need(isInstant(due), "interim_due", p, "due")
	}
	if rec.Exists() && c.need(rec.Kind() == jcs.Object, "interim_recurrence", p, "recurrence") {
		day, ok := posint(rec.Get("due_by_day"))
		c.need(among(rec.Get("every"), "month"), "interim_recurrence", p, "recurrence.every")
		c.need(ok && day <= 31, "interim_recurrence", p, "recurrence.due_by_day")
	}
}

// rights checks the clause (5.4.1).
func (c *checker) rights(v jcs.Value, path string) {
	c.need(among(v.Get("exclusivity"), "non_exclusive", "exclusive", "work_for_hire"), "rights_exclusivity", path, "exclusivity")
	c.need(v.Get("modify").Kind() == jcs.Bool, "rights_modify", path, "modify")
	c.need(v.Get("redistribute").Kind() == jcs.Bool, "rights_redistribute", path, "redistribute")
	c.need(v.Get("self_operable").Kind() == jcs.Bool, "rights_self_operable", path, "self_operable")
	c.atMost(v, path, Recorded, "rights_grade")
}

// acceptance checks the clause (5.4.2).
func (c *checker) acceptance(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "acceptance_not_object", path) {
		return
	}
	set := v.Get("test_set")
	c.need(matches(set.Get("digest"), digestForm), "acceptance_digest", path, "test_set.digest")
	withheld := set.Get("withheld")
	if ref := set.Get("ref"); ref.Exists() {
		c.need(filled(ref), "acceptance_ref", path, "test_set.ref")
	} else {
		c.need(withheld.Bool(), "acceptance_ref", path, "test_set.ref")
	}
	if withheld.Exists() && withheld.Kind() != jcs.Bool {
		c.add("acceptance_ref", at(path, "test_set.withheld"))
	}
	c.need(filled(v.Get("measure")), "acceptance_measure", path, "measure")
	c.need(threshold(v.Get("threshold")), "acceptance_threshold", path, "threshold")
	if w := v.Get("deemed_accepted_after_days"); w.Exists() {
		c.need(isPos(w), "acceptance_days", path, "deemed_accepted_after_days")
	}
	c.atMost(v, path, Evidence, "acceptance_grade")
}

// threshold reports something a result can be compared with: a number, a
// sentence, or named ones of these. A fraction is one, from 0 to 1.
func threshold(v jcs.Value) bool {
	if v.Kind() != jcs.Object {
		return v.Kind() == jcs.Number || filled(v)
	}
	for m := range v.Members() {
		if m.Value.Kind() != jcs.Number && !filled(m.Value) {
			return false
		}
		if m.Name == "min_fraction" {
			if f, err := strconv.ParseFloat(m.Value.Literal(), 64); err != nil || f < 0 || f > 1 {
				return false
			}
		}
	}
	return v.Len() > 0
}

// revisions checks the clause (5.4.3).
func (c *checker) revisions(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "revisions_included", path) {
		return
	}
	if w := v.Get("included"); w.Exists() && c.need(w.Kind() == jcs.Object, "revisions_included", path, "included") {
		c.need(isPos(w.Get("count")), "revisions_included", path, "included.count")
		c.need(isPos(w.Get("window_days")), "revisions_included", path, "included.window_days")
	}
	steps, flat := v.Get("steps"), v.Get("flat")
	c.need(!steps.Exists() || !flat.Exists(), "revisions_steps_and_flat", path)
	if steps.Exists() {
		c.need(steps.Kind() == jcs.Array && steps.Len() > 0, "revision_step_price", path, "steps")
		seen := make(map[string]bool, steps.Len())
		for i, s := range steps.Items() {
			p := item(at(path, "steps"), i)
			if !c.need(s.Kind() == jcs.Object, "revision_step_price", p) {
				continue
			}
			if id := s.Get("id"); c.need(filled(id), "revision_step_price", p, "id") {
				c.unique(seen, id.Text(), "revision_step_duplicate", p, "id")
			}
			c.flatPrice(s.Get("price"), at(p, "price"), "revision_step_price")
		}
	}
	if flat.Exists() {
		c.flatPrice(flat, at(path, "flat"), "revisions_flat")
	}
	c.atMost(v, path, Enforced, "revisions_grade")
}

// flatPrice checks one price of a revision.
func (c *checker) flatPrice(v jcs.Value, path string, code Code) {
	if !c.need(v.Kind() == jcs.Object, code, path) {
		return
	}
	c.need(among(v.Get("model"), "flat"), code, path, "model")
	c.need(isNat(v.Get("amount_micro")), code, path, "amount_micro")
	c.need(matches(v.Get("currency"), currencyForm), code, path, "currency")
}
