package approvals

import (
	"context"
	"slices"
)

// Look implements [Owner].
func (v ownerView) Look(ctx context.Context, id string) (Sheet, error) {
	d := v.d
	d.expire()
	if err := d.recalled(ctx); err != nil {
		return Sheet{}, err
	}
	d.mu.Lock()
	m := d.moments[id]
	d.mu.Unlock()
	if m != nil {
		d.learnAddresses(ctx, m)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := slices.IndexFunc(d.notes, func(n *note) bool { return n.ID == id }); n >= 0 {
		return d.noteSheet(d.notes[n])
	}
	i := slices.IndexFunc(d.items, func(x *item) bool { return x.id == id })
	if i < 0 {
		return Sheet{}, refuse(CodeGone)
	}
	s, err := d.sheet(d.items[i])
	if err != nil {
		return Sheet{}, refuse(CodeInternal)
	}
	return s, nil
}

// Opened implements [Owner].
func (v ownerView) Opened() string {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	for _, it := range v.d.items {
		if it.open {
			return it.id
		}
	}
	return ""
}
