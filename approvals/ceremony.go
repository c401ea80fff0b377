package approvals

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"

	"vault/approvals/journal"
	"vault/approvals/keys"
)

// OutcomeCooling says that this client's ceremonies were not answered: its next one waits.
const OutcomeCooling = "cooling"

// ceremoniesMax is how many ceremonies of one client may stay unanswered in a row.
const ceremoniesMax = 2

// patience counts ceremonies in a row that nobody answered; too many begin a cool-down.
type patience struct {
	n    int
	cool deadline
}

// askerOf names whose ceremonies are counted together: a client's, or, for rows of programs that are not paired, those of
// all such programs of one user: a name and an executable they could choose anew each time. Empty is nobody's. The
// caller holds mu.
func (d *Desk) askerOf(what, client string) string {
	if client != "" {
		return client
	}
	for _, it := range d.items {
		if it.id == what && it.pairing != nil {
			return "user " + strconv.FormatInt(it.pairing.conv.peer.UserID, 10)
		}
	}
	return ""
}

// behind says what stands behind an act: a click, or the record of a ceremony. It is
// filled in between two buildings of the same op.
type behind struct {
	by       string // "click" or "passkey"
	record   string // digest, 0x and 64 hex digits
	ceremony string
	// elsewhere says that any program of the account can have asked for the ceremony.
	elsewhere bool
}

func byClick() *behind { return &behind{by: "click"} }

// of lets the act be committed with the ceremony.
func (c *behind) of(a *act) { a.keyed.Confirmation = c.ceremony }

// ended says that a ceremony came to nothing: nothing was decided.
type ended struct{ code, detail string }

func (e *ended) Error() string { return "ceremony: " + e.code }

// unanswered are the outcomes that mean that nobody was there.
var unanswered = []string{"not_opened", "timed_out", "page_closed"}

// running is the ceremony that is open; it is guarded by Desk.mu.
type running struct {
	view  CeremonyView
	keys  KeyProcess
	id    string // of the key process; empty while it is being opened
	stop  context.CancelFunc
	mine  chan bool // answers CeremonyMine
	asker string    // see askerOf
	apart bool      // see countApart
}

// hold makes the one ceremony of this desk.
func (d *Desk) hold(ctx context.Context, what, client string) (context.Context, *running, error) {
	k, err := d.openKeys()
	if err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running != nil {
		return nil, nil, &ended{keys.CodeCeremonyOpen, ""}
	}
	asker := d.askerOf(what, client)
	if err := d.cooling(asker); err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	d.running = &running{view: CeremonyView{For: what, State: CeremonyOpening}, keys: k, stop: stop, mine: make(chan bool, 1), asker: asker}
	return ctx, d.running, nil
}

// release lets the next one be opened.
func (d *Desk) release(r *running) {
	r.stop()
	d.mu.Lock()
	if d.running == r {
		d.running = nil
	}
	d.mu.Unlock()
	d.changed()
}

// show changes what Ceremony says.
func (d *Desk) show(r *running, change func(*CeremonyView)) {
	d.mu.Lock()
	change(&r.view)
	d.mu.Unlock()
	d.changed()
}

// follow begins a ceremony of the key process and brings it to its last step: StepAnswered or StepPending. Where it
// ended otherwise, the error is an *ended.
func (d *Desk) follow(ctx context.Context, r *running, ask keys.Ask) (keys.Begun, keys.Step, error) {
	d.show(r, func(v *CeremonyView) { *v = CeremonyView{For: v.For, State: CeremonyOpening} })
	var begun keys.Begun
	err := d.attended(ctx, r.keys, func(ctx context.Context) (err error) {
		begun, err = r.keys.Begin(ctx, ask)
		return err
	})
	if err != nil {
		d.left(ctx, r)
		return keys.Begun{}, keys.Step{}, d.why(ctx, err)
	}
	d.mu.Lock()
	r.id = begun.ID
	d.mu.Unlock()
	d.show(r, func(v *CeremonyView) { v.Says, v.Until = begun.Says, begun.Ends })
	for {
		var st keys.Step
		err := d.attended(ctx, r.keys, func(ctx context.Context) (err error) {
			st, err = r.keys.Next(ctx, begun.ID)
			return err
		})
		if err != nil {
			// Whoever waits for it has gone; so has it.
			d.stopCeremony(ctx, r, begun.ID)
			d.left(ctx, r)
			return begun, keys.Step{}, d.why(ctx, err)
		}
		switch st.Kind {
		case keys.StepEnded:
			d.counted(r, r.apart || slices.Contains(unanswered, st.Outcome))
			return begun, st, &ended{st.Outcome, st.Detail}
		case keys.StepAnswered, keys.StepPending:
			d.counted(r, false)
			d.show(r, func(v *CeremonyView) {
				*v = CeremonyView{For: v.For, State: CeremonyTaking, Says: v.Says, Until: v.Until}
			})
			return begun, st, nil
		}
		d.show(r, func(v *CeremonyView) {
			v.State, v.Digits = CeremonyState(st.Kind), st.Digits
			if st.Link != "" {
				v.Link, v.Forward = st.Link, st.Forward
			}
		})
	}
}

// why turns an error of a ceremony's calls into its outcome.
func (d *Desk) why(ctx context.Context, err error) error {
	var k *keys.Error
	switch {
	case ctx.Err() != nil:
		return &ended{"cancelled", ""}
	case errors.As(err, &k):
		return &ended{k.Code, k.Detail}
	}
	return err
}

// left counts a ceremony whose asker has gone, where that was not the owner on a surface of the vault.
func (d *Desk) left(ctx context.Context, r *running) {
	if r.apart && ctx.Err() != nil {
		d.counted(r, true)
	}
}

// counted counts ceremonies that nobody answered, in a row.
func (d *Desk) counted(r *running, nobody bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case r.asker == "":
	case !nobody:
		delete(d.patience, r.asker)
	default:
		p := d.patience[r.asker]
		if p == nil {
			p = &patience{}
			d.patience[r.asker] = p
		}
		if p.n++; p.n >= ceremoniesMax {
			p.cool = endIn(d.clock, coolDownMS)
		}
	}
}

// confirmed carries out an op whose act of the given kind a passkey confirms: build makes it once to be asked
// about, and once to be done. Where the ceremony came to nothing the error is an *ended.
func (d *Desk) confirmed(ctx context.Context, what, client string, c *behind, o *op) error {
	ctx, r, err := d.hold(ctx, what, client)
	if err != nil {
		return err
	}
	defer d.release(r)
	if c.elsewhere {
		if err := d.countApart(r); err != nil {
			return err
		}
	}
	return d.confirmedIn(ctx, r, c, o)
}

// countApart counts a ceremony that any program of the account can have asked for apart from those that the owner asks
// for on a surface of the vault: whoever leaves such pages unanswered cools down what is asked for there, and not the owner.
// Of these every page counts that no passkey answered: who opens one after the other goes back from each, or leaves the
// owner to go back.
func (d *Desk) countApart(r *running) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.asker, r.apart = "elsewhere "+r.asker, true
	return d.cooling(r.asker)
}

// cooling says whether an asker's ceremonies were not answered lately; the caller holds mu.
func (d *Desk) cooling(asker string) error {
	p := d.patience[asker]
	if p == nil || p.n < ceremoniesMax {
		return nil
	}
	if !p.cool.passed(d.clock) {
		return &ended{OutcomeCooling, ""}
	}
	delete(d.patience, asker)
	return nil
}

// confirmedIn is confirmed within a ceremony that is held already.
func (d *Desk) confirmedIn(ctx context.Context, r *running, c *behind, o *op) error {
	*c = behind{by: "passkey", record: journal.Zero}
	draft, err := d.draft(o)
	if err != nil {
		return err
	}
	begun, st, err := d.follow(ctx, r, keys.Ask{Act: draft})
	if err != nil {
		return err
	}
	c.record, c.ceremony = st.Record, begun.ID
	return d.used(ctx, r, begun.ID, d.do(o))
}

// used ends the ceremony of an act that came to nothing. Where the key process has seen the act it has ended it
// already; where the desk had to let go of it before, the page would wait on, and the next ceremony for it.
func (d *Desk) used(ctx context.Context, r *running, id string, err error) error {
	if err != nil {
		d.stopCeremony(ctx, r, id)
	}
	return err
}

// stopCeremony has the key process end a ceremony that is over for the desk, or a key process that does not answer.
func (d *Desk) stopCeremony(ctx context.Context, r *running, id string) {
	_ = d.patient(context.WithoutCancel(ctx), r.keys, func(ctx context.Context) error { return r.keys.Stop(ctx, id) })
}

// draft builds an op as it would be now, for its act to be asked about, and lets go of it.
func (d *Desk) draft(o *op) (*keys.Act, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.led.state
	b := &batch{d: d, op: o, keys: d.keys, seq: st.Seq(), prev: st.Hash(), inst: st.Instance(), now: d.clock.Now(),
		signed: map[string]uint64{}, granted: map[string]uint64{}}
	err := o.build(b)
	if o.undo != nil {
		o.undo()
	}
	if err != nil {
		return nil, err
	}
	if len(b.acts) != 1 {
		return nil, refuse(CodeInternal)
	}
	return &b.acts[0].keyed, nil
}

// ownerAct has something confirmed that is done outside the log, and notes that it was. The answer's card is that of
// a card.export.
func (d *Desk) ownerAct(ctx context.Context, what, name, from, to string) (keys.Answer, error) {
	ctx, r, err := d.hold(ctx, what, "")
	if err != nil {
		return keys.Answer{}, err
	}
	defer d.release(r)
	begun, st, err := d.follow(ctx, r, keys.Ask{Owner: &keys.OwnerAct{Act: name, To: to}})
	if err != nil {
		return keys.Answer{}, err
	}
	var made *act
	err = d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		var err error
		made, err = b.add(journal.KindActConfirmed, journal.ActConfirmed{Act: name, From: from, To: to, Digest: begun.Digest, Confirmation: st.Record})
		if err == nil {
			made.keyed.Confirmation = begun.ID
		}
		return err
	}})
	if d.used(ctx, r, begun.ID, err) != nil {
		return keys.Answer{}, err
	}
	return made.answer, nil
}

// outcomeOf is the outcome of what needed no Inbox row, and of an error that says nothing of a row.
func outcomeOf(err error) (Outcome, error) {
	var e *ended
	var k *keys.Error
	var r *Refusal
	switch {
	case err == nil:
		return Outcome{Code: OutcomeDone}, nil
	case errors.As(err, &e):
		return Outcome{Code: e.code, Detail: e.detail}, nil
	case errors.As(err, &k):
		return Outcome{Code: k.Code, Detail: k.Detail}, nil
	case errors.As(err, &r):
		return Outcome{Code: r.Code, Detail: r.Message}, nil
	}
	return Outcome{}, err
}

// takePublic takes over what the key process knows now.
func (d *Desk) takePublic(ctx context.Context, k KeyProcess) {
	var pub keys.Public
	if err := d.patient(ctx, k, func(ctx context.Context) (err error) {
		pub, err = k.Public(ctx)
		return err
	}); err != nil {
		return // it has ended; the next opening tells
	}
	d.mu.Lock()
	if d.keys == k {
		d.public = pub
	}
	d.mu.Unlock()
	d.changed()
}

func cose(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// refusalOf is the error of a call that has no outcome: the code says how its ceremony ended.
func refusalOf(err error) error {
	var e *ended
	if errors.As(err, &e) {
		return &Refusal{Code: e.code, Message: "Nothing was done: " + e.detail + ".", Remedy: "Begin again when you can use your passkey."}
	}
	return err
}

// weaker says whether a protection gives less than another; the key process judges it again.
func weaker(p, than keys.Protection) bool {
	order := []keys.Protection{keys.ProtectKeyring, keys.ProtectPassphrase, keys.ProtectKeyringAndPassphrase}
	return slices.Index(order, p) < slices.Index(order, than)
}
