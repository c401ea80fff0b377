package approvals

import (
	"cmp"
	"context"
	"slices"

	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/derive/envelope"
)

// CodeSuspended says that uses of this envelope before this instance of the vault are not known.
const CodeSuspended = "suspended"

// OutcomeUnknownEnvelope says that nobody has asked with this envelope since the vault was started, so its words are not known.
const OutcomeUnknownEnvelope = "unknown_envelope"

// maxSuspended is how many envelopes that were refused as suspended are kept for the owner to see.
const maxSuspended = 64

// SuspendedView is an action envelope that this instance of the vault does not sign under, because it states a number
// of uses and began before the instance did; or one that was admitted again.
type SuspendedView struct {
	EnvelopeHash string
	// Known says that an agent has asked with it since the vault was started: what follows is read from it, and it can
	// be admitted again. Otherwise it is one that an earlier instance had a grant for.
	Known      bool
	Domain     string // its id
	Operation  string // hostile text
	Resources  []string
	MaxUses    int64
	NotAfter   int64  // milliseconds since epoch, or 0; of a grant its end
	Agent      string // the owner's name of who asked last, or of who had the grant
	Asked      int64  // how often it was asked for and refused since the vault was started
	UsedBefore int64  // uses that earlier logs of this store show; there may have been more. -1: there is no earlier log
	Readmitted int64  // uses that were admitted in this instance, or 0
	Used       int64  // uses in this instance
}

// suspended is an envelope that was refused.
type suspended struct {
	envelope *envelope.ActionEnvelope
	agent    string
	asked    int64
	order    int64 // of the last time
}

// suspends says whether an envelope's uses before this instance would count and are not known; the caller holds mu.
func (d *Desk) suspends(env *envelope.ActionEnvelope) bool {
	f, st := env.Fields(), d.led.state
	return st.Reason() != "" && f.MaxUses.Set && (!f.Window.NotBefore.Set || f.Window.NotBefore.N < st.StartedAt())
}

// isSuspended says whether such an envelope was not admitted again; the caller holds mu.
func (d *Desk) isSuspended(env *envelope.ActionEnvelope) bool {
	if !d.suspends(env) {
		return false
	}
	_, again := d.led.state.Readmitted(env.Hash())
	return !again
}

// refusedAsSuspended notes an envelope where it was refused for that.
func (d *Desk) refusedAsSuspended(client string, env *envelope.ActionEnvelope, refusal *Refusal) {
	if refusal.Code != CodeSuspended {
		return
	}
	d.mu.Lock()
	d.noteSuspended(client, env)
	d.mu.Unlock()
	d.changed()
}

// usesOf is how many uses bind here under an envelope, counted from this instance's first; false where it states none. The
// caller holds mu.
func (d *Desk) usesOf(env *envelope.ActionEnvelope) (uses int64, stated bool) {
	f := env.Fields()
	if !f.MaxUses.Set || !d.suspends(env) {
		return f.MaxUses.N, f.MaxUses.Set
	}
	again, _ := d.led.state.Readmitted(env.Hash())
	return min(again.Uses, f.MaxUses.N), true
}

// usedOf is how many of an envelope's own uses are gone: those made here, and those that were not admitted again. The
// caller holds mu.
func (d *Desk) usedOf(env *envelope.ActionEnvelope) int64 {
	used := int64(d.led.state.Uses(env.Hash()))
	if uses, stated := d.usesOf(env); stated && d.suspends(env) {
		used += env.Fields().MaxUses.N - uses
	}
	return used
}

// noteSuspended keeps an envelope that a client was refused, for the owner; the caller holds mu.
func (d *Desk) noteSuspended(client string, env *envelope.ActionEnvelope) {
	x := d.suspended[env.Hash()]
	if x == nil {
		if len(d.suspended) >= maxSuspended {
			oldest := ""
			for hash, o := range d.suspended {
				if oldest == "" || o.order < d.suspended[oldest].order {
					oldest = hash
				}
			}
			delete(d.suspended, oldest)
		}
		x = &suspended{envelope: env}
		if d.suspended == nil {
			d.suspended = map[string]*suspended{}
		}
		d.suspended[env.Hash()] = x
	}
	if c := d.led.clients[client]; c != nil {
		x.agent = c.permit.Name
	}
	d.turn++
	x.asked, x.order = x.asked+1, d.turn
}

// Suspended implements [Owner].
func (v ownerView) Suspended() ([]SuspendedView, error) {
	d := v.d
	if d.db() == nil {
		return nil, nil
	}
	byHash := map[string]*SuspendedView{}
	d.mu.Lock()
	st := d.led.state
	if st.Reason() == "" {
		d.mu.Unlock()
		return nil, nil
	}
	for hash, x := range d.suspended {
		f := x.envelope.Fields()
		s := &SuspendedView{
			EnvelopeHash: hash, Known: true, Operation: f.Operation, Resources: f.Resources, MaxUses: f.MaxUses.N, NotAfter: f.Window.NotAfter.N,
			Agent: x.agent, Asked: x.asked,
		}
		if dom := d.led.domains[x.envelope.DomainHash()]; dom != nil {
			s.Domain = dom.projection.Info().DomainID()
		}
		byHash[hash] = s
	}
	for _, r := range st.AllReadmitted() {
		if byHash[r.Hash] == nil {
			byHash[r.Hash] = &SuspendedView{EnvelopeHash: r.Hash}
		}
	}
	now := d.clock.Now()
	d.mu.Unlock()
	if err := d.oldGrants(byHash, now); err != nil {
		return nil, asRefusal(err)
	}
	var out []SuspendedView
	var err error
	for hash, s := range byHash {
		if s.UsedBefore, err = d.usedBefore(hash); err != nil {
			return nil, asRefusal(err)
		}
		d.mu.Lock()
		again, _ := st.Readmitted(hash)
		s.Readmitted, s.Used = again.Uses, int64(st.Uses(hash))
		d.mu.Unlock()
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b SuspendedView) int {
		if a.Known != b.Known {
			if a.Known {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.EnvelopeHash, b.EnvelopeHash)
	})
	return out, nil
}

// usedBefore counts in the logs that are kept aside, once for each envelope: they do not change while an instance lasts.
func (d *Desk) usedBefore(hash string) (int64, error) {
	d.mu.Lock()
	instance := d.led.state.Instance()
	if d.before.instance != instance {
		d.before = oldUses{instance, map[string]int64{}}
	}
	n, counted := d.before.uses[hash]
	d.mu.Unlock()
	if counted {
		return n, nil
	}
	n, known, err := d.db().OldUses(hash)
	if err != nil {
		return 0, err
	}
	if !known {
		n = -1
	}
	d.mu.Lock()
	if d.before.instance == instance {
		d.before.uses[hash] = n
	}
	d.mu.Unlock()
	return n, nil
}

// oldUses are uses of before an instance, by envelope hash; -1 where no log of before is kept.
type oldUses struct {
	instance string
	uses     map[string]int64
}

// oldGrants adds the envelopes that grants of earlier instances were for, as far as the store keeps them and they would
// not have ended.
func (d *Desk) oldGrants(byHash map[string]*SuspendedView, now int64) error {
	names := map[string]string{}
	clients, err := d.db().OldPermits(permit.TypeClient)
	if err != nil {
		return err
	}
	for _, row := range clients {
		if c, err := permit.ParseClient(row.Body); err == nil {
			names[c.ID] = c.Name
		}
	}
	grants, err := d.db().OldPermits(permit.TypeGrant)
	if err != nil {
		return err
	}
	for _, row := range grants {
		g, err := permit.ParseGrant(row.Body)
		if err != nil || g.NotAfter <= now || byHash[g.EnvelopeHash] != nil {
			continue
		}
		byHash[g.EnvelopeHash] = &SuspendedView{EnvelopeHash: g.EnvelopeHash, Agent: names[g.Client], NotAfter: g.NotAfter}
	}
	return nil
}

// Readmit implements [Owner].
func (v ownerView) Readmit(ctx context.Context, hash string, uses int64) (Outcome, error) {
	d := v.d
	d.mu.Lock()
	x := d.suspended[hash]
	d.mu.Unlock()
	if x == nil {
		return Outcome{Code: OutcomeUnknownEnvelope}, nil
	}
	c := &behind{}
	err := d.confirmed(ctx, "readmit", "", c, &op{alone: true, anchor: true, build: func(b *batch) error {
		a, err := b.add(journal.KindReadmitted, journal.Readmitted{What: "envelope", Hash: hash, Uses: uses, Confirmation: c.record})
		if err == nil {
			c.of(a)
			a.keyed.Envelope = x.envelope.Canonical()
		}
		return err
	}})
	return outcomeOf(err)
}
