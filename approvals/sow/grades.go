package sow

import (
	"vault/approvals/sow/money"
	"vault/derive/jcs"
)

// Deployment says what the runtimes of an engagement really do. Every member
// is a claim somebody made about them; what is not known is false.
type Deployment struct {
	// What the nodes refuse or check mechanically, on both sides where section 3
	// asks for both.
	Scope, Inputs, DeliverableForm, Revisions, Volume, Term, ChangeControl, Termination bool
	Rating                                                                              bool // against rates or schedule, with cap and ceiling
	RefusesCharge                                                                       bool // the client's node refuses a charge under no_charge
	ClientMeters                                                                        bool // the client's node can count every priced meter itself (8.2)
	Sealed                                                                              bool // transport is sealed
	Retention                                                                           bool // content is deleted when the window ends
	// What clearing can do.
	ClearingHolds, ClearingReverses bool
	// What an operator does (5.5.8).
	OperatorQuotes, OperatorSettles bool
	// Whether the transport verifies who the counterparty is (5.1).
	VerifiesCounterparty bool
	// Whether one platform authored the offer, and checks the named party and
	// the conditions at formation (12.1, 12.1.1).
	ChecksFormation bool
	// Whether the platform holds an approval until a person has confirmed (6.1).
	HoldsApproval bool
}

// Grade is a grade as it is stated and as the deployment earns it.
type Grade struct {
	Member  string // path of what is graded
	Section string
	Stated  string
	Earned  string // never higher than stated
	// Unavailable says that enforced is stated and not earned: a document that
	// was received with it is refused (3.3).
	Unavailable bool
}

// Grades lists every stated grade of the document with what the deployment
// earns, and the grades of what carries none of its own: the term, the
// reservation, the operator fee and a person's approval.
func (d *Document) Grades(dep Deployment) (out []Grade) {
	add := func(member, section string, v jcs.Value, kept bool, otherwise string) {
		g := v.Get("grade")
		if !isText(g) || rank(g.Text()) == 0 {
			return
		}
		out = append(out, graded(member, section, g.Text(), kept, otherwise))
	}
	v := d.v
	for _, c := range []struct {
		member, section string
		kept            bool
		otherwise       string
	}{
		{"scope", "5.2", dep.Scope, Evidence},
		{"deliverables", "5.4", dep.DeliverableForm, Evidence},
		{"revisions", "5.4.3", dep.Revisions, Evidence},
		{"volume", "5.6", dep.Volume, Evidence},
		{"change_control", "5.8", dep.ChangeControl, Evidence},
		{"termination", "5.9", dep.Termination, Evidence},
		{"price", "5.5", d.priceKept(dep), Evidence},
		{"disputes", "5.10", dep.ClearingReverses, Evidence},
		{"reporting", "5.12", false, Evidence},
		{"liability", "5.13", false, Recorded},
		{"service_floors", "5.14", false, Evidence},
		{"subcontracting", "5.15", false, Evidence},
		{"parties", "5.1", false, Evidence},
	} {
		add(c.member, c.section, v.Get(c.member), c.kept, c.otherwise)
	}
	for i, in := range v.Get("inputs").Items() {
		add(item("inputs", i), "5.3", in, dep.Inputs, Evidence)
	}
	if g := v.Get("grade"); isText(g) && rank(g.Text()) > 0 {
		out = append(out, graded("inputs", "5.3", g.Text(), dep.Inputs, Evidence))
	}
	conf := v.Get("confidentiality")
	add("confidentiality.transport", "5.11", conf.Get("transport"), dep.Sealed, Recorded)
	add("confidentiality.retention", "5.11", conf.Get("retention"), dep.Retention, Recorded)
	add("confidentiality.promises", "5.11", conf.Get("promises"), false, Recorded)
	add("parties.offered_to", "12.1.1", v.Get("parties").Get("offered_to"), dep.ChecksFormation && dep.VerifiesCounterparty, Evidence)
	for i, q := range v.Get("qualifications").Items() {
		kept := dep.ChecksFormation && q.Get("kind").Text() != KindAsserted
		add(item("qualifications", i), "12.1", q, kept, Evidence)
	}
	out = append(out, implied("ends_at", "5.7", dep.Term, Evidence))
	if v.Get("price").Get("reservation").Exists() {
		out = append(out, implied("price.reservation", "5.5.4", dep.ClearingHolds, Evidence))
	}
	if v.Get("price").Get("arrangement").Text() != string(money.NoCharge) {
		out = append(out, implied("price.operator_fee", "5.5.8", money.FeeGrade(dep.OperatorQuotes, dep.OperatorSettles) == Enforced, Recorded))
	}
	if d.FormationAuthority() != ByAgent || d.AmendmentAuthority() != ByAgent {
		out = append(out, implied("change_control.approval", "6.1", dep.HoldsApproval, Evidence))
	}
	return out
}

// graded compares a stated grade with what is kept: enforced is earned where
// it is kept, and a grade below is earned by stating it.
func graded(member, section, stated string, kept bool, otherwise string) Grade {
	g := Grade{Member: member, Section: section, Stated: stated, Earned: stated}
	if stated == Enforced && !kept {
		g.Earned, g.Unavailable = otherwise, true
	} else if stated != Enforced && rank(stated) > rank(otherwise) {
		g.Earned = otherwise
	}
	return g
}

func implied(member, section string, kept bool, otherwise string) Grade {
	g := Grade{Member: member, Section: section, Earned: otherwise}
	if kept {
		g.Earned = Enforced
	}
	return g
}

// priceKept says whether the price clause's enforcement is earned (5.5, 8.2).
func (d *Document) priceKept(dep Deployment) bool {
	switch d.v.Get("price").Get("arrangement").Text() {
	case string(money.NoCharge):
		return dep.RefusesCharge
	case string(money.TimeAndMaterials):
		return dep.Rating && dep.ClientMeters
	}
	return dep.Rating
}

// CheckGrades refuses what the deployment does not earn: as
// enforcement_unavailable in a document that was received (3.3), and as
// grade_overclaim in one of ours (3.1).
func (d *Document) CheckGrades(dep Deployment, authoring bool) Findings {
	c := &checker{authoring: authoring}
	for _, g := range d.Grades(dep) {
		switch {
		case !g.Unavailable:
		case authoring:
			c.add("grade_overclaim", g.Member)
		default:
			c.add("enforcement_unavailable", g.Member)
		}
	}
	return c.found
}
