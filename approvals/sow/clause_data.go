package sow

import (
	"slices"

	"vault/derive/jcs"
)

// The promises of section 5.11, a closed set, in its order.
var promises = []string{"no_training", "no_third_party_sharing", "no_human_reading"}

// confidentiality checks the clause (5.11).
func (c *checker) confidentiality(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "confidentiality_not_object", path) {
		return
	}
	c.need(!v.Get("grade").Exists(), "confidentiality_merged", path, "grade")
	c.dataParts(v, path)
	// The rest is younger than the conformance data, whose comparisons read a
	// list that is not one as no list.
	in := v.Get("processed_in")
	list, stated := c.placesAt(in, at(path, "processed_in"))
	allowed := setOf(list)
	for i, p := range v.Get("processors").Items() {
		pp := at(item(at(path, "processors"), i), "processed_in")
		own, ok := c.placesAt(p.Get("processed_in"), pp)
		if !ok || !stated {
			continue
		}
		for _, place := range own {
			if !allowed[place] {
				c.add("processor_processed_in_not_subset", pp)
				break
			}
		}
	}
	if d := v.Get("dpa"); d.Exists() && c.need(d.Kind() == jcs.Object, "dpa_not_object", path, "dpa") {
		c.need(matches(d.Get("digest"), digestForm), "dpa_digest", path, "dpa.digest")
		if ref := d.Get("ref"); ref.Exists() && !filled(ref) {
			c.barred("dpa_ref", at(path, "dpa.ref"))
		} else {
			c.need(ref.Exists(), "dpa_ref", path, "dpa.ref")
		}
		if title := d.Get("title"); title.Exists() {
			c.need(filled(title), "dpa_title", path, "dpa.title")
		}
	}
}

func has(list []string, s string) bool { return slices.Contains(list, s) }

func setOf(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// placesAt reads a list of jurisdictions and adds what is wrong; false if none
// is stated or it is not a list.
func (c *checker) placesAt(v jcs.Value, path string) ([]string, bool) {
	if !v.Exists() {
		return nil, false
	}
	list, ok := places(v)
	c.need(ok, "processed_in_shape", path)
	return list, ok
}

// dataParts checks transport, retention, processors and promises: what makes
// the clause readable to a comparison.
func (c *checker) dataParts(v jcs.Value, path string) {
	if t := v.Get("transport"); t.Exists() && c.need(t.Kind() == jcs.Object, "confidentiality_not_object", path, "transport") {
		c.need(t.Get("sealed").Kind() == jcs.Bool, "transport_sealed", path, "transport.sealed")
		c.exactly(t, at(path, "transport"), Enforced, "transport_grade")
	}
	if r := v.Get("retention"); r.Exists() && c.need(r.Kind() == jcs.Object, "confidentiality_not_object", path, "retention") {
		c.need(isPos(r.Get("max_days")), "retention_max_days", path, "retention.max_days")
		c.exactly(r, at(path, "retention"), Enforced, "retention_grade")
	}
	if l := v.Get("processors"); l.Exists() && c.need(l.Kind() == jcs.Array, "processors_not_list", path, "processors") {
		c.need(l.Len() <= 16, "processors_too_many", path, "processors")
		seen := make(map[string]bool, l.Len())
		for i, p := range l.Items() {
			c.processor(p, item(at(path, "processors"), i), seen)
		}
	}
	if p := v.Get("promises"); p.Exists() && c.need(p.Kind() == jcs.Object, "confidentiality_not_object", path, "promises") {
		for _, name := range promises {
			if w := p.Get(name); w.Exists() {
				c.need(w.Bool(), "promise_not_true", path, "promises."+name)
			}
		}
		c.exactly(p, at(path, "promises"), Recorded, "promises_grade")
	}
}

func (c *checker) processor(v jcs.Value, path string, seen map[string]bool) {
	if !c.need(v.Kind() == jcs.Object, "processors_not_list", path) {
		return
	}
	service, domain := v.Get("service"), v.Get("domain")
	if c.need(prose(service, 120), "processor_service", path, "service") {
		c.unique(seen, service.Text()+"\n"+domain.Text(), "processor_duplicate", path)
	}
	if domain.Exists() {
		c.need(prose(domain, 120), "processor_domain", path, "domain")
	}
	if w := v.Get("purpose"); w.Exists() {
		c.need(prose(w, 300), "processor_purpose", path, "purpose")
	}
}

// disputes checks the clause (5.10, 5.10.1).
func (c *checker) disputes(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "disputes_not_object", path) {
		return
	}
	c.need(among(v.Get("posture"), "none", "refund_on_failed_task", "escalate_to_owners", "arbiter"), "disputes_posture", path, "posture")
	c.exactly(v, path, Evidence, "disputes_grade")
	a, p := v.Get("arbiter"), at(path, "arbiter")
	if !among(v.Get("posture"), "arbiter") {
		c.need(!a.Exists(), "arbiter_unexpected", p)
		return
	}
	if !c.need(a.Kind() == jcs.Object, "arbiter_terms_missing", p) {
		return
	}
	c.need(prose(a.Get("role"), 64), "arbiter_role", p, "role")
	if w := a.Get("agent"); w.Exists() {
		c.need(prose(w, 64), "arbiter_agent", p, "agent")
	}
	c.need(isPos(a.Get("independence_days")), "arbiter_independence_days", p, "independence_days")
	c.need(isPos(a.Get("deadline_days")), "arbiter_deadline_days", p, "deadline_days")
	c.need(among(a.Get("fee"), "split", "follows_finding"), "arbiter_fee", p, "fee")
	c.need(among(a.Get("fallback"), "none", "refund_on_failed_task", "escalate_to_owners"), "arbiter_fallback", p, "fallback")
}

// problem checks a problem report (14.1).
func (c *checker) problem(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "problem_not_object", path) {
		return
	}
	c.need(filled(v.Get("input")), "problem_input", path, "input")
	c.need(among(v.Get("problem"), ProblemCodes...), "problem_code", path, "problem")
	c.need(filled(v.Get("description")), "problem_description", path, "description")
	if w := v.Get("expected"); w.Exists() {
		c.need(isText(w), "problem_expected", path, "expected")
	}
}
