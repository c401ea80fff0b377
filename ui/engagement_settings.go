package ui

import (
	"fyne.io/fyne/v2"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/ui/look"
	"vault/ui/parts"
)

// deploymentClaims are what the owner can say that runtimes do, in groups. What
// is not known counts as no.
var deploymentClaims = []struct {
	group string
	name  string
	of    func(*sow.Deployment) *bool
}{
	{"Both nodes refuse", "work out of scope", func(d *sow.Deployment) *bool { return &d.Scope }},
	{"Both nodes refuse", "a task without its inputs", func(d *sow.Deployment) *bool { return &d.Inputs }},
	{"Both nodes refuse", "delivery out of form", func(d *sow.Deployment) *bool { return &d.DeliverableForm }},
	{"Both nodes refuse", "revisions beyond the count", func(d *sow.Deployment) *bool { return &d.Revisions }},
	{"Both nodes refuse", "work past the volume", func(d *sow.Deployment) *bool { return &d.Volume }},
	{"Both nodes refuse", "work outside the term", func(d *sow.Deployment) *bool { return &d.Term }},
	{"Both nodes refuse", "a version its owner has not signed", func(d *sow.Deployment) *bool { return &d.ChangeControl }},
	{"Both nodes refuse", "work after a termination", func(d *sow.Deployment) *bool { return &d.Termination }},
	{"Your node", "rates against the price, with cap and ceiling", func(d *sow.Deployment) *bool { return &d.Rating }},
	{"Your node", "refuses any charge where nothing is charged", func(d *sow.Deployment) *bool { return &d.RefusesCharge }},
	{"Your node", "counts every priced meter itself", func(d *sow.Deployment) *bool { return &d.ClientMeters }},
	{"Content", "is sealed on the way", func(d *sow.Deployment) *bool { return &d.Sealed }},
	{"Content", "is deleted when its time is over", func(d *sow.Deployment) *bool { return &d.Retention }},
	{"Clearing", "holds money in advance", func(d *sow.Deployment) *bool { return &d.ClearingHolds }},
	{"Clearing", "pays back on signed evidence", func(d *sow.Deployment) *bool { return &d.ClearingReverses }},
	{"An operator", "builds the quote", func(d *sow.Deployment) *bool { return &d.OperatorQuotes }},
	{"An operator", "settles the charge", func(d *sow.Deployment) *bool { return &d.OperatorSettles }},
	{"The platform", "verifies who the counterparty is", func(d *sow.Deployment) *bool { return &d.VerifiesCounterparty }},
	{"The platform", "checks conditions when an agreement is formed", func(d *sow.Deployment) *bool { return &d.ChecksFormation }},
	{"The platform", "holds an approval until a person confirms", func(d *sow.Deployment) *bool { return &d.HoldsApproval }},
}

// deployment lets the owner say what the runtimes of an engagement do, or with
// "" those of all.
func (u *UI) deployment(engagement string, now sow.Deployment, then func()) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for i := 0; i < len(deploymentClaims); {
		group := deploymentClaims[i].group
		var pills []fyne.CanvasObject
		for ; i < len(deploymentClaims) && deploymentClaims[i].group == group; i++ {
			claim := deploymentClaims[i]
			on, icon := *claim.of(&now), ""
			if on {
				icon = "check"
			}
			pills = append(pills, u.button(parts.Filter, icon, claim.name, func() {
				next := now
				*claim.of(&next) = !on
				u.opts.Go(func() {
					err := u.owner.SetDeployment(u.ctx, engagement, &next)
					u.opts.Do(func() {
						if err != nil {
							u.banner = problem(err)
							u.rebuild()
						}
						then()
					})
					u.changed()
				})
			}).Small().On(on))
		}
		rows = append(rows, parts.Pad(10, 0, 10, 0, parts.RowTop(16, parts.Size(160, 28, parts.Middle(28, look.Text(look.Body, look.Ink2, group))), parts.Grow(parts.Flow(8, 8, pills...)))))
	}
	return parts.Lined(rows...)
}

// contractSettings is the part of Settings about contracts.
func (u *UI) contractSettings() fyne.CanvasObject {
	return parts.Column(0, section("Contracts: what the runtimes do that you and others use"), parts.Space(0, 2),
		look.Text(look.Small, look.Ink2, "A grade is a claim about them. What you do not say counts as no: a contract that states more than that shows both, and cannot be signed where it states enforced."), parts.Space(0, 6),
		u.deployment("", u.state.Deployment, func() {}), parts.Space(0, 10),
		parts.Note("info", look.Ink3, page.LegalStatus()))
}
