package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals/opened"
	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/ui/look"
	"vault/ui/parts"
)

// deployment lets the owner say what the runtimes of an engagement do, or with
// "" those of all.
func (u *UI) deployment(engagement string, now sow.Deployment, then func()) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for i := 0; i < len(opened.Runtimes); {
		group := opened.Runtimes[i].Group
		var pills []fyne.CanvasObject
		for ; i < len(opened.Runtimes) && opened.Runtimes[i].Group == group; i++ {
			claim := opened.Runtimes[i]
			on := *claim.Of(&now)
			pills = append(pills, u.pill(claim.Name, on, func() {
				next := now
				*claim.Of(&next) = !on
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
			}))
		}
		rows = append(rows, parts.Pad(10, 0, 10, 0, parts.RowTop(16, parts.Size(160, 28, parts.Middle(28, look.Text(look.Body, look.Ink2, group))), parts.Grow(parts.Flow(8, 8, pills...)))))
	}
	return parts.Lined(rows...)
}

// contractSettings is the part of Settings about contracts.
func (u *UI) contractSettings() fyne.CanvasObject {
	list := []fyne.CanvasObject{section("Your seats in contracts"), parts.Space(0, 6), u.seats(), parts.Space(0, 24)}
	if len(u.state.Blocked) > 0 {
		var rows []fyne.CanvasObject
		for _, b := range u.state.Blocked {
			rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Row(8, parts.Grow(look.Text(look.MonoS.Box(20), look.Ink, safe(b.Key))), look.Word(look.Small, look.Ink2, day(u.at(b.At))),
				u.button(parts.Plain, "", "Unblock "+short(b.Key), func() {
					u.run("", func(ctx context.Context) error { return u.owner.UnblockKey(ctx, b.Key) }, nil)
				}).Small())))
		}
		list = append(list, section("Keys you blocked"), parts.Space(0, 6), parts.Lined(rows...), parts.Space(0, 24))
	}
	return parts.Column(0, append(list, section("Contracts: what the runtimes do that you and others use"), parts.Space(0, 2),
		look.Text(look.Small, look.Ink2, "A grade is a claim about them. What you do not say counts as no: a contract that states more than that shows both, and cannot be signed where it states enforced."), parts.Space(0, 6),
		u.deployment("", u.state.Deployment, func() {}), parts.Space(0, 10),
		parts.Note("info", look.Ink3, page.LegalStatus()))...)
}

// seats are the owner's keys with their names, and a way to open the next one.
func (u *UI) seats() fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, s := range u.state.Seats {
		rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Cells(12, []float32{160, 0}, look.Text(look.Body, look.Ink, seatName(s)), look.Text(look.MonoS.Box(20), look.Ink2, safe(s.Key)))))
	}
	name := u.deals.seat
	open := u.button(parts.Plain, "plus", "Open the next seat", func() {
		called := strings.TrimSpace(name.Text)
		if called == "" || !plain.One(called).Clean() {
			u.banner = &banner{parts.Notice, "info", "Give the seat a name first", "Letters that can be seen and told apart; sheets show it."}
			u.rebuild()
			return
		}
		u.run("", func(ctx context.Context) error { _, err := u.owner.OpenSeat(ctx, called); return err }, func(err error) {
			if err == nil {
				name.SetText("")
				u.banner = &banner{parts.Calm, "key", "A seat was opened", "Its key is below. It signs nothing until you choose it on a sheet."}
			}
		})
	})
	rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Row(8, parts.Grow(parts.Size(0, 36, name)), open)))
	return parts.Lined(rows...)
}
