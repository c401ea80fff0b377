package approvals

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
