package approvals

// BreakStore closes the store under the desk, as a disk that fails does.
func (d *Desk) BreakStore() error { return d.db().Close() }
