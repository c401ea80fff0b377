package approvals

import "time"

// BreakStore closes the store under the desk, as a disk that fails does.
func (d *Desk) BreakStore() error { return d.db().Close() }

// Shorten makes snapshots and the chunks of a load small.
func (d *Desk) Shorten(every uint64, chunk int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.every, d.chunk = every, chunk
}

// Settle returns when everything that was handed in before is in the log.
func (d *Desk) Settle() error {
	return d.do(&op{alone: true, build: func(*batch) error { return nil }})
}

// Forget makes the desk stand where it has just begun to use a store that is too long to read at once.
func (d *Desk) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.past, d.known, d.asked = newPast(d.led), map[uint64]struct{}{}, map[uint64]struct{}{}
	for _, c := range d.led.clients {
		c.signed, c.declined, c.noted = 0, 0, 0
	}
	for _, x := range d.led.domains {
		x.signed = 0
	}
}

// Recall reads what Forget left to be read.
func (d *Desk) Recall() error {
	for {
		if done, err := d.recallPage(d.past); done || err != nil {
			return err
		}
	}
}

// SetPatience says how long the key process may take from now on. No call may be under way.
func (d *Desk) SetPatience(p time.Duration) { d.o.Patience = p }
