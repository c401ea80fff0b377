package approvals

import (
	"context"

	"vault/approvals/journal"
	"vault/approvals/store"
)

const (
	pastNames = 500  // in one reading of the store
	pastCount = 5000 // entries that are counted in one reading
	pastFirst = 4000 // rows that a start waits for: the rest is read while the desk serves
	pastQuery = 10   // rows that a reading counts as, beside those it gives
)

// past is what the store held when the desk began to use it, as far as it is not needed to
// begin: names of requests that have ended, and numbers that people see. It is read in pages, so
// that a start takes no longer for a longer log. Until the names are all here the store is asked for each, and a
// sheet, which says whether the same was signed before, waits.
type past struct {
	upto  uint64 // newest entry then; later ones are counted as they come
	named bool   // every name is in known and asked; guarded by the desk's lock

	read  int           // rows so far
	over  chan struct{} // closed when it is read no further
	after store.RequestName
	left  []counting
	tags  []string
	seq   uint64
}

// counting is one thing to be counted.
type counting struct {
	client string
	kind   journal.Kind
}

// counted are the kinds that ledger.add takes note of.
var counted = []journal.Kind{journal.KindActionSigned, journal.KindRequestAnswered, journal.KindMomentDeclined, journal.KindMomentNoted}

// newPast begins to read what belongs to a ledger.
func newPast(l *ledger) *past {
	p := &past{upto: l.state.Seq(), over: make(chan struct{}), after: store.FirstName}
	for id := range l.clients {
		for _, k := range counted {
			p.left = append(p.left, counting{id, k})
		}
	}
	return p
}

// recall reads what is left of p. It stops where the desk ends or has taken up another log.
func (d *Desk) recall(p *past) {
	defer d.ended.Done()
	defer close(p.over)
	for {
		select {
		case <-d.quit:
			return
		default:
		}
		// After an error of the disk the store goes on being asked for each name; whoever asks is told.
		if done, err := d.recallPage(p); done || err != nil {
			d.changed()
			return
		}
	}
}

// recallPage reads one page of p.
func (d *Desk) recallPage(p *past) (done bool, err error) {
	d.mu.Lock()
	named, current := p.named, d.past == p
	d.mu.Unlock()
	if !current {
		return true, nil
	}
	p.read += pastQuery
	switch {
	case len(p.left) > 0: // people see these
		return false, d.recallCount(p)
	case !named:
		return false, d.recallNames(p)
	}
	return true, nil
}

func (d *Desk) recallNames(p *past) error {
	page, err := d.db().RequestNames(p.after, pastNames)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.past != p {
		return nil
	}
	for _, n := range page {
		d.known[d.fold(n.Client, n.ID)] = struct{}{}
		if n.State == requestDone {
			d.asked[d.fold(n.Client, n.Digest)] = struct{}{}
		}
		p.after = n
	}
	p.read += len(page)
	p.named = len(page) < pastNames
	return nil
}

func (d *Desk) recallCount(p *past) error {
	x := p.left[0]
	if p.tags == nil {
		tags, err := d.db().Tags(x.client, string(x.kind))
		if err != nil {
			return err
		}
		if len(tags) == 0 {
			p.left = p.left[1:]
			return nil
		}
		p.tags, p.seq = tags, 0
	}
	tag := p.tags[0]
	n, last, err := d.db().Count(x.client, string(x.kind), tag, p.seq, p.upto, pastCount)
	if err != nil {
		return err
	}
	d.mu.Lock()
	if d.past == p {
		d.led.add(x.client, string(x.kind), tag, n)
	}
	d.mu.Unlock()
	p.read += int(n)
	if p.seq = last; n == pastCount {
		return nil
	}
	if p.tags, p.seq = p.tags[1:], 0; len(p.tags) == 0 {
		p.tags, p.left = nil, p.left[1:]
	}
	return nil
}

// mayKnow says whether a client may have a request of that id that has ended; the caller holds mu.
func (d *Desk) mayKnow(client, id string) bool {
	_, ok := d.known[d.fold(client, id)]
	return ok || d.past != nil && !d.past.named
}

// recalled waits until every name is read, which is at once but right after a start with a long log.
func (d *Desk) recalled(ctx context.Context) error {
	for {
		d.mu.Lock()
		p := d.past
		named := p == nil || p.named
		d.mu.Unlock()
		if named {
			return nil
		}
		select {
		case <-p.over:
			d.mu.Lock()
			failed := d.past == p && !p.named
			d.mu.Unlock()
			if failed {
				return refuse(CodeStoreFailed)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
