package ui

import (
	"context"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/ui/look"
)

// settling says which of the documents of one version counts (Agent SoW 10). Both are kept, and nothing is signed by it.
func (c *contract) settling(s *step) {
	s.above = func() fyne.CanvasObject {
		return look.Text(look.Small, look.Ink2, "Other bytes came under this identifier and version. Ask the other side which document they mean, by another way. Both stay here; only the one that counts can be signed.")
	}
	for _, x := range c.view.Versions {
		if !x.Conflict || x.Version != c.version.Version {
			continue
		}
		digest, label := x.Digest, "The one with sha256 "+short(x.Digest)
		if digest == c.version.Digest {
			label = "The one on this page, sha256 " + short(digest)
		}
		c.add(s, label, c.u.broughtBy(x)+".", &answer{
			do: func() func(context.Context) (approvals.Outcome, error) {
				id := c.view.ID
				return func(ctx context.Context) (approvals.Outcome, error) {
					return approvals.Outcome{}, c.u.owner.SettleConflict(ctx, id, digest)
				}
			},
			then: func() { c.u.openContract(c.view.ID, digest, "") },
		})
	}
	c.notNow(s)
}

// broughtBy says who first brought a document, and when.
func (u *UI) broughtBy(x agreement.VersionView) string {
	if len(x.Copies) == 0 {
		return "Nobody knows who brought it"
	}
	first, who := x.Copies[0], "You brought it"
	switch first.From.Kind {
	case "agent":
		who = "Brought by " + u.agentName(first.From.Client)
	case "own":
		who = "Made here"
	}
	return who + ", " + day(u.at(first.At))
}
