package fakedesk

import (
	"context"
	"slices"
	"strconv"

	"vault/approvals"
)

// Sockets implements [approvals.Owner].
func (d *Desk) Sockets() []approvals.SocketView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Further)
}

// AddSocket implements [approvals.Owner]. Numbers are users that exist, names are not.
func (d *Desk) AddSocket(_ context.Context, f approvals.FurtherUser) (approvals.Outcome, error) {
	id, err := strconv.ParseInt(f.User, 10, 64)
	if err != nil {
		return approvals.Outcome{Code: approvals.OutcomeUnknownUser}, nil
	}
	path := f.Path
	if path == "" {
		path = "/srv/agent-vault-00112233-" + f.User + "/s.sock"
	}
	out, err := d.confirmed("add socket")
	if err == nil && out.Code == "done" {
		d.Set(func(d *Desk) {
			d.Further = append(d.Further, approvals.SocketView{UserID: id, Path: path, AddedAt: 1, Served: true})
		})
	}
	return out, err
}

// RemoveSocket implements [approvals.Owner].
func (d *Desk) RemoveSocket(_ context.Context, userID int64) error {
	d.Set(func(d *Desk) {
		d.Further = slices.DeleteFunc(d.Further, func(s approvals.SocketView) bool { return s.UserID == userID })
	})
	return d.call("remove socket")
}

// Suspended implements [approvals.Owner].
func (d *Desk) Suspended() ([]approvals.SuspendedView, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Hung), d.Err
}

// Readmit implements [approvals.Owner].
func (d *Desk) Readmit(_ context.Context, envelopeHash string, uses int64) (approvals.Outcome, error) {
	out, err := d.confirmed("readmit")
	if err == nil && out.Code == "done" {
		d.Set(func(d *Desk) {
			for i := range d.Hung {
				if d.Hung[i].EnvelopeHash == envelopeHash {
					d.Hung[i].Readmitted = uses
				}
			}
		})
	}
	return out, err
}
