package approvals

import (
	"context"
	"time"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
)

// Ceremony implements [Owner].
func (v ownerView) Ceremony() (CeremonyView, bool) {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		return CeremonyView{}, false
	}
	return d.running.view, true
}

// Compared implements [Owner].
func (v ownerView) Compared(ctx context.Context, same bool) error {
	d := v.d
	d.mu.Lock()
	r := d.running
	state := CeremonyState("")
	if r != nil {
		state = r.view.State
	}
	d.mu.Unlock()
	switch state {
	case CeremonyMine:
		select {
		case r.mine <- same:
		default: // answered already
		}
		return nil
	case CeremonyCompare:
		return d.attended(ctx, r.keys, func(ctx context.Context) error { return r.keys.Compared(ctx, r.id, same) })
	}
	return refuse(CodeGone)
}

// CancelCeremony implements [Owner].
func (v ownerView) CancelCeremony() {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	if v.d.running != nil {
		v.d.running.stop()
	}
}

// Passkeys implements [Owner].
func (v ownerView) Passkeys() []PasskeyView {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	var out []PasskeyView
	for _, p := range v.d.public.Enrolled {
		out = append(out, passkeyView(p))
	}
	return out
}

func passkeyView(p keys.Passkey) PasskeyView {
	return PasskeyView{ID: p.ID, Kind: p.Kind, BackupEligible: p.BackupEligible, RPID: p.RPID, EnrolledAt: p.EnrolledAt, LastUse: p.LastUse, Digits: p.Digits}
}

// EnrolPasskey implements [Owner].
func (v ownerView) EnrolPasskey(ctx context.Context, e Enrolment) (Outcome, error) {
	return outcomeOf(v.d.enrol(ctx, e))
}

// enrol leads from the page to the log: the new passkey answers, the owner compares its digits, it answers once more,
// and an enrolled one confirms it where there is one.
func (d *Desk) enrol(ctx context.Context, e Enrolment) error {
	ctx, r, err := d.hold(ctx, "enrol", "")
	if err != nil {
		return err
	}
	defer d.release(r)
	begun, st, err := d.follow(ctx, r, keys.Ask{Enrol: &keys.Enrol{Surface: e.Surface}, OtherName: e.OtherName})
	if err != nil {
		return err
	}
	pending := *st.Passkey
	fresh := passkeyView(pending)
	d.show(r, func(v *CeremonyView) {
		v.State, v.Digits, v.Passkey, v.Link, v.Forward, v.Until = CeremonyMine, fresh.Digits, &fresh, "", "", 0
	})
	mine := false
	select {
	case mine = <-r.mine:
	case <-ctx.Done():
	}
	if err := d.attended(context.WithoutCancel(ctx), r.keys, func(ctx context.Context) error {
		return r.keys.Compared(ctx, begun.ID, mine)
	}); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &ended{"cancelled", ""}
	case !mine:
		return &ended{"not_same", ""}
	}
	d.show(r, func(v *CeremonyView) { v.For = "try" })
	begun, st, err = d.follow(ctx, r, keys.Ask{Try: true})
	if err != nil {
		return err
	}
	c := &behind{by: "passphrase", record: st.Record, ceremony: begun.ID}
	o := &op{alone: true, anchor: true, build: func(b *batch) error {
		a, err := b.add(journal.KindPasskeyAdded, journal.PasskeyAdded{
			Passkey: cose(pending.Key), Kind: pending.Kind, BackupEligible: pending.BackupEligible, RPID: pending.RPID, By: c.by, Confirmation: c.record,
		})
		if err == nil {
			c.of(a)
		}
		return err
	}}
	d.mu.Lock()
	others := d.public.Passkeys
	d.mu.Unlock()
	if others == 0 {
		err = d.used(ctx, r, begun.ID, d.do(o))
	} else {
		d.show(r, func(v *CeremonyView) { v.For = "add" })
		err = d.confirmedIn(ctx, r, c, o)
	}
	d.takePublic(context.WithoutCancel(ctx), r.keys)
	return err
}

// RemovePasskey implements [Owner].
func (v ownerView) RemovePasskey(ctx context.Context, id string) (Outcome, error) {
	d := v.d
	k, err := d.openKeys()
	if err != nil {
		return outcomeOf(err)
	}
	d.mu.Lock()
	var key []byte
	for _, p := range d.public.Enrolled {
		if p.ID == id {
			key = p.Key
		}
	}
	d.mu.Unlock()
	if key == nil {
		return Outcome{Code: keys.CodeUnknownPasskey}, nil
	}
	c := &behind{}
	err = d.confirmed(ctx, "remove", "", c, &op{alone: true, anchor: true, build: func(b *batch) error {
		a, err := b.add(journal.KindPasskeyRemoved, journal.PasskeyRemoved{Passkey: cose(key), Confirmation: c.record})
		if err == nil {
			c.of(a)
		}
		return err
	}})
	d.takePublic(context.WithoutCancel(ctx), k)
	return outcomeOf(err)
}

// Policy implements [Owner].
func (v ownerView) Policy() permit.Policy {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	return v.d.policy()
}

// policy is the one in force; the caller holds mu.
func (d *Desk) policy() permit.Policy {
	p, err := permit.ParsePolicy(d.public.Policy)
	if err != nil {
		return permit.Policy{} // the vault was never open
	}
	return p
}

// SetPolicy implements [Owner].
func (v ownerView) SetPolicy(ctx context.Context, p permit.Policy) (Outcome, error) {
	d := v.d
	to, err := p.Canonical()
	if err != nil {
		return Outcome{}, refuseWith(CodeMalformed, err.Error())
	}
	k, err := d.openKeys()
	if err != nil {
		return outcomeOf(err)
	}
	d.mu.Lock()
	now := d.policy()
	d.mu.Unlock()
	c := byClick()
	o := &op{alone: true, anchor: true, build: func(b *batch) error {
		from, err := d.policy().Canonical()
		if err != nil {
			return err
		}
		a, err := b.add(journal.KindPolicyChanged, journal.PolicyChanged{FromSHA256: journal.HashOf(from), To: string(to), By: c.by, Confirmation: c.record})
		if err == nil {
			c.of(a)
		}
		return err
	}}
	// The direction is computed anew in the key process.
	if now.Loosens(p) {
		err = d.confirmed(ctx, "policy", "", c, o)
	} else {
		err = d.do(o)
	}
	d.takePublic(context.WithoutCancel(ctx), k)
	return outcomeOf(err)
}

// ExportCard implements [Owner].
func (v ownerView) ExportCard(ctx context.Context) ([]byte, Outcome, error) {
	answer, err := v.d.ownerAct(ctx, "card", "card.export", "", "")
	out, err := outcomeOf(err)
	return answer.Card, out, err
}

const hour = int64(time.Hour / time.Millisecond)

// ClickRates implements [Owner].
func (v ownerView) ClickRates(since int64) ([]ClickRate, error) {
	d := v.d
	if d.db() == nil {
		return nil, nil
	}
	rows, err := d.db().Approvals(since, hour)
	if err != nil {
		return nil, asRefusal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]ClickRate, 0, len(rows))
	for _, r := range rows {
		agent := ""
		if c, ok := d.led.state.Client(r.Client); ok {
			agent = c.Name
		}
		out = append(out, ClickRate{Client: r.Client, Agent: agent, Hour: r.From, Clicks: r.Clicks, Passkeys: r.Passkeys})
	}
	return out, nil
}
