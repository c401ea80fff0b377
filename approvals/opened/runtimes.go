package opened

import "vault/approvals/sow"

// Runtime is one thing that the owner can say of the runtimes of an engagement (3.3).
type Runtime struct {
	Group string // who does it, in words
	Word  string // as it is typed
	Name  string // what, in words
	Of    func(*sow.Deployment) *bool
}

// Runtimes are all of them, group by group. What is not known counts as no.
var Runtimes = []Runtime{
	{"Both nodes refuse", "scope", "work out of scope", func(d *sow.Deployment) *bool { return &d.Scope }},
	{"Both nodes refuse", "inputs", "a task without its inputs", func(d *sow.Deployment) *bool { return &d.Inputs }},
	{"Both nodes refuse", "form", "delivery out of form", func(d *sow.Deployment) *bool { return &d.DeliverableForm }},
	{"Both nodes refuse", "revisions", "revisions beyond the count", func(d *sow.Deployment) *bool { return &d.Revisions }},
	{"Both nodes refuse", "volume", "work past the volume", func(d *sow.Deployment) *bool { return &d.Volume }},
	{"Both nodes refuse", "term", "work outside the term", func(d *sow.Deployment) *bool { return &d.Term }},
	{"Both nodes refuse", "versions", "a version its owner has not signed", func(d *sow.Deployment) *bool { return &d.ChangeControl }},
	{"Both nodes refuse", "termination", "work after a termination", func(d *sow.Deployment) *bool { return &d.Termination }},
	{"Your node", "rating", "rates against the price, with cap and ceiling", func(d *sow.Deployment) *bool { return &d.Rating }},
	{"Your node", "no_charge", "refuses any charge where nothing is charged", func(d *sow.Deployment) *bool { return &d.RefusesCharge }},
	{"Your node", "meters", "counts every priced meter itself", func(d *sow.Deployment) *bool { return &d.ClientMeters }},
	{"Content", "sealed", "is sealed on the way", func(d *sow.Deployment) *bool { return &d.Sealed }},
	{"Content", "retention", "is deleted when its time is over", func(d *sow.Deployment) *bool { return &d.Retention }},
	{"Clearing", "holds", "holds money in advance", func(d *sow.Deployment) *bool { return &d.ClearingHolds }},
	{"Clearing", "reverses", "pays back on signed evidence", func(d *sow.Deployment) *bool { return &d.ClearingReverses }},
	{"An operator", "operator_quotes", "builds the quote", func(d *sow.Deployment) *bool { return &d.OperatorQuotes }},
	{"An operator", "operator_settles", "settles the charge", func(d *sow.Deployment) *bool { return &d.OperatorSettles }},
	{"The platform", "counterparty", "verifies who the counterparty is", func(d *sow.Deployment) *bool { return &d.VerifiesCounterparty }},
	{"The platform", "formation", "checks conditions when an agreement is formed", func(d *sow.Deployment) *bool { return &d.ChecksFormation }},
	{"The platform", "approval", "holds an approval until a person confirms", func(d *sow.Deployment) *bool { return &d.HoldsApproval }},
}
