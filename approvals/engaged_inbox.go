package approvals

import (
	"slices"

	"vault/approvals/agreement"
	"vault/approvals/store"
)

// maxSoWItems is how many engagements that wait stand in the Inbox; the list has them all.
const maxSoWItems = 256

// openEngagements puts what waits in engagements before the owner, as the list says; what time has changed since, the first tick shows.
func (d *Desk) openEngagements() error {
	rows, _, err := d.db().Engagements(store.EngagementQuery{Waiting: true, Limit: maxSoWItems})
	if err != nil {
		return err
	}
	for _, row := range rows {
		d.waits(row)
	}
	return nil
}

// waits keeps the Inbox row of an engagement: one for what it waits for first.
func (d *Desk) waits(row store.Engagement) {
	line, ok := agreement.LineOf(row)
	x := line.Row
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.engaged, func(it Item) bool { return it.ID == row.ID })
	if !ok || len(x.Waiting) == 0 {
		if i >= 0 {
			d.engaged = slices.Delete(d.engaged, i, i+1)
		}
		return
	}
	it := Item{ID: x.ID, Kind: ItemSoW, Since: x.At, Merged: 1, Wants: x.Waiting[0], Stem: x.SoW, Session: x.From.Name}
	if x.From.Kind != "agent" {
		it.Session = ""
	}
	if c := d.led.clients[x.From.Client]; c != nil {
		it.Agent = c.permit.Name
	}
	if i >= 0 {
		it.Since = d.engaged[i].Since
		d.engaged[i] = it
	} else if len(d.engaged) < maxSoWItems {
		d.engaged = append(d.engaged, it)
	}
}

// completeDue completes the requests to form that came while the vault was locked or its owner away.
func (d *Desk) completeDue() error {
	d.mu.Lock()
	open := d.keys != nil && !d.readOnly && !d.away
	d.mu.Unlock()
	if !open || !d.requestsDue.Swap(false) {
		return nil
	}
	facts, err := d.db().SoWFactsValued(agreement.FactLockedAsk, CodeLocked)
	if err != nil {
		return err
	}
	for _, f := range facts {
		h, err := d.held(f.Engagement)
		if err != nil {
			return err
		}
		if x := h.By(f.Key); x != nil {
			if err := d.completeByOffer(h, x); err != nil {
				return err
			}
		}
	}
	return nil
}
