package approvals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/store"
)

// errGone says that what an op was about has ended meanwhile.
var errGone = errors.New("already decided")

// op is something that makes log entries. All of the desk's entries are made by
// one goroutine: it builds the entries of the ops that wait, hands them to the
// key process in one call, keeps them in one transaction, and only then lets
// their effects be seen. An op's entries are kept or not kept in order: if the key process
// refuses one, those before it stay.
type op struct {
	// build checks, under the desk's lock, that the op may be done, and adds its entries last.
	build func(*batch) error
	// run, where set, is called instead, while nothing else is built or kept.
	run func() error
	// undo is called under the desk's lock when the op was built but not kept.
	undo   func()
	alone  bool // shares no batch: it changes what others are checked against
	anchor bool // the head is anchored right after it is stored
	err    chan error
}

// act is one entry of an op.
type act struct {
	op      *op
	entry   journal.Entry
	client  string
	request string
	tag     string
	keyed   keys.Act
	answer  keys.Answer
	// ready is called when the key process has answered, before the store is written.
	ready func() error
	// write adds rows to the entry's transaction.
	write func(*store.Tx) error
	// applied is called under the desk's lock when the entry is durable.
	applied func()
}

// batch is what shares one call of the key process and one transaction.
type batch struct {
	d       *Desk
	keys    KeyProcess // nil while locked: then the entries are of unkeyed kinds
	op      *op
	acts    []*act
	seq     uint64
	prev    string
	inst    string
	now     int64
	signed  map[string]uint64 // uses added by the batch, by envelope hash
	granted map[string]uint64
	mints   mintBatch
}

// add appends an entry. The caller fills in what belongs to it.
func (b *batch) add(kind journal.Kind, body any) (*act, error) {
	if b.keys == nil && !kind.Unkeyed() {
		return nil, refuse(CodeLocked)
	}
	e, err := journal.Make(b.inst, b.seq+1, b.prev, b.now, kind, body)
	if err != nil {
		return nil, refuseWith(CodeMalformed, err.Error())
	}
	a := &act{op: b.op, entry: e, keyed: keys.Act{Entry: e.Raw()}}
	a.client, a.request, a.tag = subject(e)
	b.acts = append(b.acts, a)
	b.seq, b.prev = e.Seq, e.Hash()
	return a, nil
}

// do hands an op in and waits for it.
func (d *Desk) do(o *op) error {
	o.err = make(chan error, 1)
	select {
	case d.ops <- o:
	case <-d.quit:
		return refuse(CodeLocked)
	}
	select {
	case err := <-o.err:
		return err
	case <-d.quit:
		// The loop answers what it had taken before it ends.
		select {
		case err := <-o.err:
			return err
		default:
			return refuse(CodeLocked)
		}
	}
}

func (d *Desk) commitLoop() {
	defer d.ended.Done()
	var rest []*op
	for {
		group := rest
		if len(group) == 0 {
			select {
			case o := <-d.ops:
				group = append(group, o)
			case <-d.quit:
				return
			}
		}
	gather:
		for len(group) < groupActs {
			select {
			case o := <-d.ops:
				group = append(group, o)
			default:
				break gather
			}
		}
		rest = d.commit(group)
	}
}

// build makes the entries of as many ops as may share a batch.
func (d *Desk) build(group []*op) (b *batch, rest []*op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.led.state
	b = &batch{d: d, keys: d.keys, seq: st.Seq(), prev: st.Hash(), inst: st.Instance(), now: d.clock.Now(),
		signed: map[string]uint64{}, granted: map[string]uint64{}}
	if st.Seq() == 0 {
		b.inst = d.public.Instance
	}
	for i, o := range group {
		if o.alone && len(b.acts) > 0 || len(b.acts) >= groupActs {
			return b, group[i:]
		}
		if o.run != nil {
			b.acts = append(b.acts, &act{op: o})
			return b, group[i+1:]
		}
		mark, seq, prev := len(b.acts), b.seq, b.prev
		b.op = o
		if err := o.build(b); err != nil {
			b.acts, b.seq, b.prev = b.acts[:mark], seq, prev
			if o.undo != nil {
				o.undo()
			}
			o.err <- err
			continue
		}
		if o.alone || len(b.acts) == mark {
			if len(b.acts) == mark {
				// Nothing to write; an anchor may still be due.
				b.acts = append(b.acts, &act{op: o})
			}
			return b, group[i+1:]
		}
	}
	return b, nil
}

// commit carries out a group and returns the ops that have to wait for the next one.
func (d *Desk) commit(group []*op) (rest []*op) {
	b, rest := d.build(group)
	if len(b.acts) == 0 {
		return rest
	}
	defer d.changed()
	k, acts := b.keys, b.acts
	if acts[0].entry.Seq == 0 { // an op without entries stands alone
		o := acts[0].op
		if o.run != nil {
			o.err <- o.run()
			return rest
		}
		if o.anchor && k != nil {
			d.anchor(k)
		}
		o.err <- nil
		return rest
	}
	var refused error
	if k != nil {
		kept, err := d.sign(k, acts)
		if err != nil {
			d.endKeys(k, "ended", &Trouble{Code: CodeKeysEnded})
			d.drop(acts, refuse(CodeKeysEnded))
			return rest
		}
		d.mu.Lock()
		gone := d.keys != k
		d.mu.Unlock()
		if gone {
			// Locked meanwhile: what was signed is kept by nobody and answered to nobody.
			d.drop(acts, lockedMeanwhile())
			return rest
		}
		if kept < len(acts) {
			refused = acts[kept].answer.Err
			if acts[kept].answer.Err.Code == "bad_permit" {
				d.mu.Lock()
				d.trouble = &Trouble{Code: CodeRowEdited, Detail: acts[kept].client}
				d.mu.Unlock()
			}
			// The ops behind the refused one were not tried: they are built anew.
			var again []*op
			for _, a := range acts[kept:] {
				if a.op != acts[kept].op && !slices.Contains(again, a.op) {
					again = append(again, a.op)
				}
			}
			d.mu.Lock()
			for _, o := range again {
				if o.undo != nil {
					o.undo()
				}
			}
			d.mu.Unlock()
			rest = append(again, rest...)
		}
		bad := (*op)(nil)
		if kept < len(acts) {
			bad = acts[kept].op
		}
		if err := d.keep(k, acts[:kept]); err != nil {
			d.drop(acts[:kept], err)
			if bad != nil && (kept == 0 || acts[kept-1].op != bad) {
				d.drop(acts[kept:kept+1], err)
			}
			return rest
		}
		for _, a := range acts[:kept] {
			if a.op.anchor {
				d.anchor(k)
				break
			}
		}
		d.finish(acts[:kept], bad)
		if bad != nil {
			d.mu.Lock()
			if bad.undo != nil {
				bad.undo()
			}
			d.mu.Unlock()
			bad.err <- refused
		}
		return rest
	}
	if err := d.keep(nil, acts); err != nil {
		d.drop(acts, err)
		return rest
	}
	d.finish(acts, nil)
	return rest
}

// sign hands the acts to the key process and says how many it took. An error
// means that what it did is not known.
func (d *Desk) sign(k KeyProcess, acts []*act) (kept int, err error) {
	in := make([]keys.Act, len(acts))
	for i, a := range acts {
		in[i] = a.keyed
	}
	var out []keys.Answer
	if err := d.patient(context.Background(), k, func(ctx context.Context) (err error) {
		out, err = k.Commit(ctx, in)
		return err
	}); err != nil {
		return 0, err
	}
	if len(out) != len(in) {
		return 0, fmt.Errorf("%d answers for %d acts", len(out), len(in))
	}
	for i, a := range acts {
		a.answer = out[i]
		if out[i].Err != nil {
			return i, nil
		}
		if !bytes.Contains(out[i].Head, []byte(`"hash":"`+a.entry.Hash()+`"`)) {
			return 0, errors.New("the head is not over the entry")
		}
	}
	return len(acts), nil
}

// keep writes the entries and their rows in one transaction.
func (d *Desk) keep(k KeyProcess, acts []*act) error {
	if len(acts) == 0 {
		return nil
	}
	for _, a := range acts {
		if a.ready != nil {
			if err := a.ready(); err != nil {
				d.endKeys(k, "store", &Trouble{Code: CodeInternal, Detail: err.Error()})
				return refuse(CodeInternal)
			}
		}
	}
	d.mu.Lock()
	names := d.names
	d.names = nil
	d.mu.Unlock()
	err := d.db().Do(func(tx *store.Tx) error {
		for _, n := range names {
			if err := tx.NameMint(n.mint, n.address, n.attestation); err != nil {
				return err
			}
		}
		for _, a := range acts {
			if err := tx.AddEntry(store.Entry{
				Seq: a.entry.Seq, Raw: a.entry.Raw(), Hash: a.entry.Hash(), Kind: string(a.entry.Kind), At: a.entry.At,
				Client: a.client, Request: a.request, Tag: a.tag, Head: a.answer.Head,
			}); err != nil {
				return err
			}
			if len(a.answer.Evidence) > 0 {
				if err := tx.PutEvidence(a.entry.Seq, a.answer.Evidence); err != nil {
					return err
				}
			}
			if a.write != nil {
				if err := a.write(tx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		return nil
	}
	// What the key process has signed is known to nobody: it ends with it.
	t := &Trouble{Code: CodeStoreFailed, Detail: err.Error()}
	if k == nil {
		d.mu.Lock()
		d.trouble = t
		d.mu.Unlock()
	}
	d.endKeys(k, "store", t)
	return refuse(CodeStoreFailed)
}

// finish lets durable entries take effect and answers their ops, but for one
// that was refused in its middle.
func (d *Desk) finish(acts []*act, bad *op) {
	d.mu.Lock()
	for _, a := range acts {
		if err := d.led.state.Apply(a.entry); err != nil {
			// The key process and the store took what our own state does not: stop.
			d.trouble, d.readOnly = &Trouble{Code: "log_damaged", Seq: a.entry.Seq, Detail: err.Error()}, true
			continue
		}
		d.led.applied(a.entry.Kind)
		d.led.add(a.client, string(a.entry.Kind), a.tag, 1)
		if len(a.answer.Head) > 0 {
			d.led.head, d.led.covered = a.answer.Head, a.entry.Seq
		}
		d.anchorDue = true
		if a.applied != nil {
			a.applied()
		}
	}
	snapshot := d.keys != nil && d.led.state.Seq() >= d.snapshot+d.every
	d.mu.Unlock()
	answered := map[*op]bool{}
	for _, a := range acts {
		if a.op != bad && !answered[a.op] {
			answered[a.op] = true
			a.op.err <- nil
		}
	}
	if snapshot {
		d.snapshotNow()
	}
}

// drop answers the ops of acts that were not kept.
func (d *Desk) drop(acts []*act, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dropped := map[*op]bool{}
	for _, a := range acts {
		if dropped[a.op] {
			continue
		}
		dropped[a.op] = true
		if a.op.undo != nil {
			a.op.undo()
		}
		a.op.err <- err
	}
}

func (d *Desk) anchor(k KeyProcess) {
	err := d.patient(context.Background(), k, k.Anchor)
	d.mu.Lock()
	d.anchored = d.clock.Boot()
	d.anchorDue = err != nil
	d.mu.Unlock()
}

// addSnapshot adds an entry with the hash of the state, unless the last one is that.
func (d *Desk) addSnapshot(b *batch) error {
	st := d.led.state
	if d.led.lastKind == journal.KindSnapshot || st.Seq() == 0 {
		return nil
	}
	state := st.Canonical()
	a, err := b.add(journal.KindSnapshot, journal.Snapshot{StateSHA256: journal.HashOf(state)})
	if err != nil {
		return err
	}
	a.write = func(tx *store.Tx) error { return tx.PutSnapshot(a.entry.Seq, state) }
	a.applied = func() { d.snapshot = a.entry.Seq }
	return nil
}

// snapshotNow makes a snapshot in the commit goroutine's own turn.
func (d *Desk) snapshotNow() {
	o := &op{alone: true, build: d.addSnapshot, err: make(chan error, 1)}
	for _, left := range d.commit([]*op{o}) {
		left.err <- errGone
	}
}
