package approvals

import (
	"slices"

	"vault/approvals/journal"
)

// A request that is refused before anybody saw it leaves an entry, so that the owner finds
// it in Activity. These bound what one client can make the log hold that way.
const (
	maxRefusedHour = 60        // entries of one client in any hour
	refusedEveryMS = 60 * 1000 // between two for one reason and one envelope
	refusedHourMS  = 60 * 60 * 1000
)

// reasonContradiction is the reason of an entry where the payload says something else than its envelope, so that no
// grant could cover it, and nobody was to be asked. The client is told not_shown.
const reasonContradiction = "contradiction"

// unlogged are the refusals that say what the vault can do now, or who the client is, and nothing
// about the request: they leave no entry.
var unlogged = []string{
	CodeNoVault, CodeLocked, CodeReadOnly, CodeAway, CodeStoreFailed, CodeKeysEnded, CodeRowEdited, CodeInternal,
	CodeNotPaired, CodeNotProven, CodeBlocked, CodeRevoked, CodePermitNotInLog,
}

// refusals are a client's refused requests of the last hour, as far as they have entries.
type refusals struct {
	kept   []refusedOnce
	folded uint64 // without an entry, since the newest of kept
}

type refusedOnce struct {
	what uint64 // fold of reason and envelope
	at   int64  // boot-time clock
}

// room says whether one more may have an entry now, and notes it where it may.
func (r *refusals) room(what uint64, now int64) bool {
	r.kept = slices.DeleteFunc(r.kept, func(x refusedOnce) bool { return now-x.at >= refusedHourMS })
	if len(r.kept) >= maxRefusedHour || slices.ContainsFunc(r.kept, func(x refusedOnce) bool { return x.what == what && now-x.at < refusedEveryMS }) {
		return false
	}
	r.kept = append(r.kept, refusedOnce{what, now})
	return true
}

// refused notes that a client's request was refused with reason, for one entry in the log. It does not wait for
// the disk: a refusal gives nobody anything. What finds no room is counted in the next entry.
func (d *Desk) refused(key requestKey, method, digest string, envelope []byte, reason string) {
	if slices.Contains(unlogged, reason) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c, gone := d.led.client(key.client)
	if gone != nil {
		return
	}
	r := c.refusals
	if !r.room(d.fold(reason, string(envelope)), d.clock.Boot()) {
		r.folded++
		return
	}
	body := journal.RequestAnswered{
		Request: key.id, Client: key.client, Method: method, Outcome: outcomeRefused, Reason: reason, Digest: digest, Folded: r.folded,
	}
	o := &op{err: make(chan error, 1), build: func(b *batch) error { // nobody reads err
		// After a lock it may still be written; into a store that has stopped, nothing is.
		if d.db().Failed() != nil {
			return errGone
		}
		_, err := b.add(journal.KindRequestAnswered, body)
		return err
	}}
	select {
	case d.ops <- o:
		r.folded = 0
	default: // more waits to be written than can be
		r.folded++
	}
}
