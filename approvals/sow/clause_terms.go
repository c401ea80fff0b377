package sow

import (
	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// volume checks the clause (5.6).
func (c *checker) volume(v jcs.Value, path string) {
	windows := 0
	for m := range v.Members() {
		switch m.Name {
		case "per_hour", "per_day":
			windows++
			c.need(isPos(m.Value), "volume_windows", path, m.Name)
		case "grade":
		default:
			c.add("volume_windows", step(path, m.Name))
		}
	}
	c.need(windows > 0, "volume_windows", path)
	c.atMost(v, path, Enforced, "volume_grade")
}

// changeControl checks the clause (5.8, 6.1, 6.2).
func (c *checker) changeControl(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "change_control_missing", path) {
		return
	}
	c.need(isPos(v.Get("review_window_days")), "review_window_days", path, "review_window_days")
	if a := v.Get("approval"); a.Exists() {
		c.need(a.Kind() == jcs.Object, "approval_authority", path, "approval")
		for _, act := range []string{"formation", "amendment"} {
			if w := a.Get(act); w.Exists() {
				c.need(among(w, "agent", "person", "agent_then_person"), "approval_authority", at(path, "approval."+act))
			}
		}
	}
	if l := v.Get("approvals"); l.Exists() && c.need(l.Kind() == jcs.Array, "approvals_not_list", path, "approvals") {
		for i, a := range l.Items() {
			c.approval(a, item(at(path, "approvals"), i))
		}
	}
	c.atMost(v, path, Enforced, "change_control_grade")
}

// termination checks the clause (5.9).
func (c *checker) termination(v jcs.Value, path string) {
	c.need(isNat(v.Get("convenience_notice_hours")), "termination", path, "convenience_notice_hours")
	c.atMost(v, path, Enforced, "termination")
}

// duration checks that a text is a duration of section 5.12.
func (c *checker) duration(v jcs.Value, path string) {
	if _, err := span.Duration(v.Text()); err != nil {
		c.detail("duration", path, "The "+err.Error()+".")
	}
}

// The reporting levels in ascending order (5.12).
var levels = []string{"records_only", "on_change", "check_ins"}

// ReportingRank returns a level's rank 0, 1 or 2, and false for no level.
func ReportingRank(level string) (int, bool) {
	for i, l := range levels {
		if l == level {
			return i, true
		}
	}
	return 0, false
}

// reporting checks the clause (5.12).
func (c *checker) reporting(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "reporting_not_object", path) {
		return
	}
	level, every := v.Get("level"), v.Get("every")
	c.need(among(level, levels...), "reporting_level", path, "level")
	c.exactly(v, path, Evidence, "reporting_grade")
	if level.Text() == "check_ins" {
		if c.need(isText(every), "reporting_every_missing", path, "every") {
			c.duration(every, at(path, "every"))
		}
	} else {
		c.need(!every.Exists(), "reporting_every_unexpected", path, "every")
	}
	if l := v.Get("additions"); l.Exists() {
		c.sentences(l, at(path, "additions"), "additions_not_list", "additions_empty", "additions_too_many", "addition")
	}
}

// sentences checks a list of 1 to 10 entries of at most 300 characters.
func (c *checker) sentences(v jcs.Value, path string, notList, empty, many, entry Code) {
	if !c.need(v.Kind() == jcs.Array, notList, path) {
		return
	}
	c.need(v.Len() > 0, empty, path)
	c.need(v.Len() <= 10, many, path)
	for i, s := range v.Items() {
		c.need(prose(s, 300), entry, item(path, i))
	}
}

// liability checks the clause (5.13).
func (c *checker) liability(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "liability_not_object", path) {
		return
	}
	limit := v.Get("cap")
	if c.need(limit.Kind() == jcs.Object, "liability_cap_missing", path, "cap") {
		multiple, amount, currency := limit.Get("multiple_of_fees"), limit.Get("amount"), limit.Get("currency")
		absolute := amount.Exists() || currency.Exists()
		switch {
		case multiple.Exists() && absolute:
			c.add("liability_cap_both", at(path, "cap"))
		case multiple.Exists():
			c.need(isPos(multiple), "liability_multiple", path, "cap.multiple_of_fees")
		case absolute:
			c.need(isPos(amount), "liability_amount", path, "cap.amount")
			c.need(matches(currency, currencyForm), "liability_currency", path, "cap.currency")
		default:
			c.add("liability_cap_neither", at(path, "cap"))
		}
	}
	if l := v.Get("carve_outs"); l.Exists() {
		c.sentences(l, at(path, "carve_outs"), "carve_outs_not_list", "carve_outs_empty", "carve_outs_too_many", "carve_outs_entry")
	}
	if w := v.Get("indemnification"); w.Exists() && c.need(w.Kind() == jcs.Object, "indemnification_not_object", path, "indemnification") {
		sides := 0
		for _, side := range []string{"by_provider", "by_client"} {
			if l := w.Get(side); l.Exists() {
				sides++
				c.sentences(l, at(path, "indemnification."+side), "indemnification_not_list", "indemnification_empty", "indemnification_too_many", "indemnification_entry")
			}
		}
		c.need(sides > 0, "indemnification_empty", path, "indemnification")
	}
	c.exactly(v, path, Recorded, "liability_grade")
}

// floors checks the service floors clause (5.14).
func (c *checker) floors(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "service_floors_not_object", path) {
		return
	}
	list := v.Get("floors")
	if c.need(list.Kind() == jcs.Array && list.Len() > 0, "floors_missing", path, "floors") {
		c.need(list.Len() <= 10, "floors_too_many", path, "floors")
		seen := make(map[string]bool, list.Len())
		for i, f := range list.Items() {
			p := item(at(path, "floors"), i)
			if c.need(matches(f.Get("id"), slugForm), "floor_id", p, "id") {
				c.unique(seen, f.Get("id").Text(), "floor_duplicate_id", p, "id")
			}
			if c.need(isText(f.Get("each_task_within")), "floor_each_task_within", p, "each_task_within") {
				c.duration(f.Get("each_task_within"), at(p, "each_task_within"))
			}
			for m := range f.Members() {
				if m.Name != "id" && m.Name != "each_task_within" {
					c.add("floor_unknown_kind", step(p, m.Name))
				}
			}
		}
	}
	if b := v.Get("breach"); c.need(b.Kind() == jcs.Object, "breach_missing", path, "breach") {
		c.need(isPos(b.Get("misses")), "breach_misses", path, "breach.misses")
		if c.need(isText(b.Get("within")), "breach_within", path, "breach.within") {
			c.duration(b.Get("within"), at(path, "breach.within"))
		}
		c.need(among(b.Get("remedy"), "terminate_for_cause"), "breach_remedy", path, "breach.remedy")
	}
	c.exactly(v, path, Evidence, "service_floors_grade")
}

// subcontracting checks the clause (5.15).
func (c *checker) subcontracting(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "subcontracting_not_object", path) {
		return
	}
	c.need(among(v.Get("posture"), "none", "disclosed", "approved"), "subcontracting_posture", path, "posture")
	c.exactly(v, path, Evidence, "subcontracting_grade")
	list, p := v.Get("subcontractors"), at(path, "subcontractors")
	if !list.Exists() {
		return
	}
	if among(v.Get("posture"), "none") {
		c.add("subcontractors_under_none", p)
		return
	}
	if !c.need(list.Kind() == jcs.Array, "subcontractors_not_list", p) {
		return
	}
	c.need(list.Len() > 0, "subcontractors_empty", p)
	c.need(list.Len() <= 16, "subcontractors_too_many", p)
	agents, handles := map[string]bool{}, map[string]bool{}
	for i, e := range list.Items() {
		c.subcontractor(e, item(p, i), agents, handles)
	}
}

func (c *checker) subcontractor(e jcs.Value, p string, agents, handles map[string]bool) {
	agent, handle, role := e.Get("agent"), e.Get("handle"), e.Get("role")
	if !c.need(agent.Exists() || handle.Exists() || role.Exists(), "subcontractor_names_nobody", p) && e.Kind() != jcs.Object {
		return
	}
	if agent.Exists() && c.need(prose(agent, 64), "subcontractor_agent", p, "agent") {
		c.unique(agents, agent.Text(), "subcontractor_duplicate_agent", p, "agent")
	}
	if handle.Exists() && c.need(prose(handle, 120), "subcontractor_handle", p, "handle") {
		c.unique(handles, handle.Text(), "subcontractor_duplicate_handle", p, "handle")
	}
	if role.Exists() {
		c.need(prose(role, 64), "subcontractor_role", p, "role")
	}
	c.need(prose(e.Get("scope"), 300), "subcontractor_scope", p, "scope")
	if w := e.Get("engagement"); w.Exists() {
		c.need(prose(w, 128), "subcontractor_engagement", p, "engagement")
	}
}
