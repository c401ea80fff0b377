package approvals

import (
	"context"
	"errors"
	"maps"
	"os/user"
	"strconv"
	"sync"

	"vault/approvals/journal"
)

// Outcomes of AddSocket, beside those of a ceremony and of the key process ("own_user", "twice", "too_many").
const (
	OutcomeUnknownUser = "unknown_user"
	OutcomeSocketPath  = "socket_path_invalid"
)

// SocketView is a socket of its own for one further user of this machine, over which that user's programs can ask what
// agents can ask, and decide nothing.
type SocketView struct {
	UserID  int64
	User    string // the account's name, as the system has it, or empty
	Path    string
	AddedAt int64 // milliseconds since epoch
	Served  bool
	// Trouble is why it is not served though it could be: a code of the program that serves it, such as
	// "socket_path_unsafe". It is tried again every second.
	Trouble string
}

// ServedSocket is a socket over which one further user is served.
type ServedSocket interface {
	// Stands says whether the socket is still in its place. What clears away old files may have taken it, or its folder.
	Stands() bool
	// Stop blocks until no call is under way there. removed says that the owner removed the socket.
	Stop(removed bool)
}

// further are the sockets that are served beside the vault's own. They are served from the first unlocking on, when
// the key process has seen the log that they stand in, and over locks; never while the vault only reads.
type further struct {
	busy sync.Mutex // held while sockets are opened and closed; taken before Desk.mu
	// guarded by Desk.mu
	open map[int64]*openSocket
	shut bool
}

type openSocket struct {
	path    string
	name    string
	served  ServedSocket // nil where it could not be opened
	trouble string
}

// keepSockets opens and closes sockets so that they are those that the log has, each in its place. It blocks until
// closed ones take no more calls, so no call of an agent may be the caller.
func (d *Desk) keepSockets() {
	f := &d.further
	f.busy.Lock()
	defer f.busy.Unlock()
	gone, missing := d.socketsDue(d.fallenSockets())
	for id, s := range gone {
		if s.served != nil {
			d.mu.Lock()
			_, still := d.led.state.Socket(id)
			d.mu.Unlock()
			s.served.Stop(!still)
		}
	}
	changed := len(gone) > 0
	for id, path := range missing {
		s := &openSocket{path: path, name: userName(id)}
		if d.o.SocketServe != nil {
			var err error
			if s.served, err = d.o.SocketServe(id, path); err != nil {
				s.served, s.trouble = nil, CodeInternal
				var coded interface{ Coded() string }
				if errors.As(err, &coded) {
					s.trouble = coded.Coded()
				}
			}
		}
		d.mu.Lock()
		if f.open == nil {
			f.open = map[int64]*openSocket{}
		}
		was := f.open[id]
		f.open[id] = s
		d.mu.Unlock()
		changed = changed || was == nil || was.trouble != s.trouble
	}
	if changed {
		d.changed()
	}
}

// fallenSockets names the users whose sockets are not in their place any more; the caller holds busy.
func (d *Desk) fallenSockets() map[int64]bool {
	d.mu.Lock()
	open := maps.Clone(d.further.open)
	d.mu.Unlock()
	fallen := map[int64]bool{}
	for id, s := range open {
		fallen[id] = s.served != nil && !s.served.Stands()
	}
	return fallen
}

// socketsDue takes out those that are to be closed, and names those that are to be opened, or tried again.
func (d *Desk) socketsDue(fallen map[int64]bool) (gone map[int64]*openSocket, missing map[int64]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, log := &d.further, d.led.state
	gone, missing = map[int64]*openSocket{}, map[int64]string{}
	if !f.shut && !d.readOnly && d.public.Instance != "" && d.public.Instance == log.Instance() {
		for _, s := range log.Sockets() {
			missing[s.UserID] = s.Path
		}
	}
	for id, s := range f.open {
		switch path, ok := missing[id]; {
		case !ok || path != s.path || fallen[id]:
			gone[id] = s
			delete(f.open, id)
		case s.served != nil || d.o.SocketServe == nil:
			delete(missing, id)
		}
	}
	return gone, missing
}

// shutSockets closes them all for good.
func (d *Desk) shutSockets() {
	d.mu.Lock()
	d.further.shut = true
	d.mu.Unlock()
	d.keepSockets()
}

func userName(id int64) string {
	if u, err := user.LookupId(strconv.FormatInt(id, 10)); err == nil {
		return u.Username
	}
	return ""
}

// userID finds a user by name or number.
func userID(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n >= 0 && n <= journal.MaxUserID
	}
	u, err := user.Lookup(text)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(u.Uid, 10, 64)
	return n, err == nil && n >= 0 && n <= journal.MaxUserID
}

// Sockets implements [Owner].
func (v ownerView) Sockets() []SocketView {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []SocketView
	for _, s := range d.led.state.Sockets() {
		x := SocketView{UserID: s.UserID, Path: s.Path, AddedAt: s.AddedAt}
		if o := d.further.open[s.UserID]; o != nil {
			x.User, x.Served, x.Trouble = o.name, o.served != nil, o.trouble
		}
		out = append(out, x)
	}
	return out
}

// AddSocket implements [Owner].
func (v ownerView) AddSocket(ctx context.Context, f FurtherUser) (Outcome, error) {
	d, path := v.d, f.Path
	id, ok := userID(f.User)
	if !ok {
		return Outcome{Code: OutcomeUnknownUser}, nil
	}
	if path == "" && d.o.SocketPlace != nil {
		d.mu.Lock()
		vault := d.vaultID()
		d.mu.Unlock()
		path = d.o.SocketPlace(vault, id)
	}
	if !journal.IsSocketPath(path) {
		return Outcome{Code: OutcomeSocketPath}, nil
	}
	c := &behind{elsewhere: f.Elsewhere}
	err := d.confirmed(ctx, "socket", "", c, &op{alone: true, anchor: true, build: func(b *batch) error {
		a, err := b.add(journal.KindSocketAdded, journal.SocketAdded{UserID: id, Path: path, Confirmation: c.record})
		if err == nil {
			c.of(a)
		}
		return err
	}})
	d.keepSockets()
	return outcomeOf(err)
}

// RemoveSocket implements [Owner].
func (v ownerView) RemoveSocket(_ context.Context, id int64) error {
	d := v.d
	err := d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		if _, ok := d.led.state.Socket(id); !ok {
			return refuse(journal.CodeUnknownSocket)
		}
		_, err := b.add(journal.KindSocketRemoved, journal.SocketRemoved{UserID: id})
		return err
	}})
	d.keepSockets()
	return err
}
