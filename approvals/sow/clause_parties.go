package sow

import "vault/derive/jcs"

// party checks a seat or a named party; prefix makes its codes.
func (c *checker) party(v jcs.Value, path, prefix string) {
	if !c.need(v.Kind() == jcs.Object, Code(prefix+"party_not_object"), path) {
		return
	}
	c.need(filled(v.Get("agent")), Code(prefix+"party_agent"), path, "agent")
	c.need(filled(v.Get("owner")), Code(prefix+"party_owner"), path, "owner")
	if w := v.Get("handle"); w.Exists() {
		c.need(isText(w), Code(prefix+"party_handle"), path, "handle")
	}
	if w := v.Get("organization"); w.Exists() {
		c.need(matches(w, orgForm), Code(prefix+"party_organization"), path, "organization")
	}
}

// parties checks the clause (5.1) with a blank client seat allowed.
func (c *checker) parties(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "party_not_object", path) {
		return
	}
	provider, client := v.Get("provider"), v.Get("client")
	c.party(provider, at(path, "provider"), "")
	if client.Kind() != jcs.Null {
		c.party(client, at(path, "client"), "")
		if a := provider.Get("agent"); filled(a) && client.Get("agent").Text() == a.Text() {
			c.add("same_agent_both_seats", at(path, "client.agent"))
		}
	}
	if w := v.Get("offered_to"); w.Exists() && w.Kind() != jcs.Null {
		c.offeredTo(w, at(path, "offered_to"))
	}
	c.atMost(v, path, Evidence, "parties_grade")
}

// offeredTo checks the name of the one party an offer is for (12.1.1).
func (c *checker) offeredTo(v jcs.Value, path string) {
	if !c.need(v.Kind() != jcs.Array, "offered_to_list", path) {
		return
	}
	c.party(v, path, "offered_to_")
	if v.Kind() != jcs.Object {
		return
	}
	if w := v.Get("expires_at"); w.Exists() {
		c.need(isInstant(w), "offered_to_expires_at", path, "expires_at")
	}
	if w := v.Get("grade"); w.Exists() {
		c.need(isText(w) && rank(w.Text()) > 0, "offered_to_grade", path, "grade")
	}
}

// approval checks an approval record (6.1, 6.2).
func (c *checker) approval(v jcs.Value, path string) {
	c.need(among(v.Get("act"), "formation", "amendment"), "approval_act", path, "act")
	c.need(among(v.Get("authority"), "agent", "person", "agent_then_person"), "approval_authority", path, "authority")
	c.need(nonEmpty(v.Get("key")), "approval_key", path, "key")
	c.need(isInstant(v.Get("approved_at")), "approval_approved_at", path, "approved_at")
	if m := v.Get("mandate"); m.Exists() {
		c.need(matches(m, mandateForm), "approval_mandate", path, "mandate")
		c.need(!among(v.Get("authority"), "agent"), "approval_mandate_on_agent", path, "mandate")
	}
}

// qualifications checks the list of an offer's conditions (12.1).
func (c *checker) qualifications(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Array, "qualifications_not_list", path) {
		return
	}
	c.need(v.Len() <= 10, "qualifications_too_many", path)
	seen := make(map[string]bool, v.Len())
	for i, q := range v.Items() {
		p := item(path, i)
		c.qualification(q, p)
		if id := q.Get("id"); nonEmpty(id) {
			c.unique(seen, id.Text(), "qualification_duplicate_id", p, "id")
		}
	}
}

// The qualification kinds, a closed set; the last is the only one no runtime
// checks.
const (
	KindRegistration = "mesh_registration"
	KindOffering     = "publishes_offering"
	KindAccount      = "platform_account"
	KindAsserted     = "asserted"
)

func (c *checker) qualification(v jcs.Value, path string) {
	if !c.need(v.Kind() == jcs.Object, "qualification_not_object", path) {
		return
	}
	c.need(matches(v.Get("id"), slugForm), "qualification_id", path, "id")
	kind := v.Get("kind")
	c.need(among(kind, KindRegistration, KindOffering, KindAccount, KindAsserted), "qualification_kind", path, "kind")
	c.need(prose(v.Get("statement"), 300), "qualification_statement", path, "statement")
	g := v.Get("grade")
	if c.need(isText(g) && rank(g.Text()) > 0, "qualification_grade", path, "grade") && kind.Text() == KindAsserted {
		c.need(g.Text() != Enforced, "qualification_asserted_enforced", path, "grade")
	}
	offering := v.Get("offering")
	if kind.Text() == KindOffering {
		c.need(prose(offering, 60), "qualification_offering", path, "offering")
	} else {
		c.need(!offering.Exists(), "qualification_offering_unexpected", path, "offering")
	}
}

// GradeCeiling returns the highest grade a kind of qualification may carry, ""
// for an unknown kind (12.1).
func GradeCeiling(kind string) string {
	switch kind {
	case KindAsserted:
		return Evidence
	case KindRegistration, KindOffering, KindAccount:
		return Enforced
	}
	return ""
}
