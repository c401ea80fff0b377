package approvals

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"vault/approvals/bounds"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

const maxMints = 500 // of one page

// Delegates implements [MintOwner].
func (v ownerView) Delegates() []DelegateView {
	d := v.d
	d.mu.Lock()
	out := make([]DelegateView, 0, len(d.led.delegates))
	for _, row := range d.led.delegates {
		out = append(out, d.delegateView(row))
	}
	d.mu.Unlock()
	slices.SortFunc(out, newestDelegate)
	return out
}

func newestDelegate(a, b DelegateView) int {
	return cmp.Or(cmp.Compare(b.MadeAt, a.MadeAt), strings.Compare(a.Hash, b.Hash))
}

// delegateView is a delegate as the owner sees it; the caller holds mu.
func (d *Desk) delegateView(row *delegateRow) DelegateView {
	now := d.clock.Now()
	out := DelegateView{
		Hash: row.hash, DelegateID: row.parsed.ID(), Bounds: d.boundsView(row.fields, row.parsed.IssuerAddress()), Origin: row.origin, MadeAt: row.at,
		LastUse: row.lastUse, Warnings: append(slices.Clip(row.shape), bounds.Span(row.fields.Window, now)...),
	}
	domain := row.fields.DomainHash
	out.BoundsHeld, out.ExportedAt = d.boundsHeld(domain), d.led.state.Exported(domain)
	st, state := d.delegateState(row)
	if out.State = state; state == DelegateSuspended {
		return out
	}
	out.MadeAt, out.WhileAway, out.Name = st.MadeAt, row.permit.WhileAway, row.permit.Name
	out.Mints, out.Minted, out.Uses = st.Mints, int64(st.Minted), int64(st.Uses)
	switch state {
	case DelegateEnded:
		out.Ended = st.Ended
	case DelegateExpired:
	default:
		out.MintsLeft = out.Mints - out.Minted
		out.UsesLeft = max(0, row.given-out.Uses)
	}
	return out
}

// delegateState is what may be done under a delegate now, and what the log shows of it unless it is suspended; the caller
// holds mu.
func (d *Desk) delegateState(row *delegateRow) (journal.DelegateState, DelegateState) {
	st, ok := d.led.state.Delegate(row.hash)
	w := row.fields.Window
	switch {
	case !ok || row.body == nil:
		return st, DelegateSuspended
	case st.Ended == "expired" || st.Ended == "" && row.end.passed(d.clock):
		return st, DelegateExpired
	case st.Ended != "":
		return st, DelegateEnded
	case st.Paused:
		return st, DelegatePaused
	case w.NotBefore.Set && d.clock.Now() < w.NotBefore.N:
		return st, DelegateNotYet
	case int64(st.Minted) >= st.Mints:
		return st, DelegateSpent
	}
	return st, DelegateActive
}

// boundsView is what a delegate lets bots have; the caller holds mu. Its lists are shared and are not to be changed.
func (d *Desk) boundsView(f envelope.DelegateFields, issuer string) DelegateBounds {
	out := DelegateBounds{
		Domain: DomainView{Hash: f.DomainHash, Address: issuer}, Operations: f.AllowedOperations, Resources: f.AllowedResources,
		BotPolicy: f.BotPolicy, IndexMin: f.IndexMin, IndexMax: f.IndexMax, MaxMints: f.MaxMints,
		MaxUsesPerAction: f.MaxUsesPerAction, NotBefore: optional(f.Window.NotBefore), NotAfter: optional(f.Window.NotAfter),
		Legitimacy: legitimacyView(f.Legitimacy), AvatarAddress: f.AvatarAddress,
	}
	if f.BotPolicy == envelope.BotSet {
		out.Bots = f.AllowedBotAddresses
	}
	if row := d.led.domains[f.DomainHash]; row != nil {
		out.Domain = row.view()
	}
	return out
}

// PlanDelegate implements [MintOwner].
func (v ownerView) PlanDelegate(f DelegateForm) (DelegatePlan, error) {
	d := v.d
	if f.Name = strings.TrimSpace(f.Name); f.Name != "" && !nameOK(f.Name) {
		return DelegatePlan{}, refuse(OutcomeName)
	}
	nonce, err := d.random(32)
	if err != nil {
		return DelegatePlan{}, refuse(CodeInternal)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	row := d.led.domains[f.DomainHash]
	if row == nil {
		return DelegatePlan{}, refuse(CodeUnknownDomain)
	}
	now := d.clock.Now()
	at, err := envelope.FormatTime(now)
	if err != nil {
		return DelegatePlan{}, refuse(CodeInternal)
	}
	opt := func(n *int64) envelope.Opt {
		if n == nil {
			return envelope.Opt{}
		}
		return envelope.Some(*n)
	}
	fields := envelope.DelegateFields{
		DomainHash: f.DomainHash, AllowedOperations: f.Operations, AllowedResources: f.Resources, BotPolicy: f.BotPolicy,
		IndexMin: f.IndexMin, IndexMax: f.IndexMax, MaxMints: f.MaxMints, MaxUsesPerAction: f.MaxUsesPerAction,
		Window: envelope.Window{NotBefore: opt(f.NotBefore), NotAfter: opt(f.NotAfter)},
		Nonce:  "0x" + hex.EncodeToString(nonce), IssuedAt: at, AvatarAddress: f.AvatarAddress,
	}
	for _, a := range f.Bots {
		fields.AllowedBotAddresses = append(fields.AllowedBotAddresses, strings.ToLower(strings.TrimSpace(a)))
	}
	if l := f.Legitimacy; l != nil {
		fields.Legitimacy = &envelope.LegitimacyRef{LegitimacyID: l.LegitimacyID, Required: l.Required, PolicyID: l.PolicyID, StateVersion: opt(l.StateVersion), StateHash: l.StateHash}
	}
	m, err := envelope.NewMintDelegate(row.projection.Address(), fields)
	if err != nil {
		return DelegatePlan{}, refuseWith(CodeMalformed, err.Error())
	}
	p := d.plan(m, f.WhileAway, f.Examples)
	p.Name = f.Name
	return p, nil
}

// plan shows a delegate that is to be signed; the caller holds mu.
func (d *Desk) plan(m *envelope.MintDelegate, away bool, examples []string) DelegatePlan {
	f, now := m.Fields(), d.clock.Now()
	out := DelegatePlan{
		Body: m.Body(), Hash: m.Hash(), Bounds: d.boundsView(f, m.IssuerAddress()),
		Warnings: append(bounds.Shape(m), bounds.Span(f.Window, now)...), WhileAway: away, PlannedAt: now,
	}
	out.Says = permit.DelegateSays(m, out.Bounds.Domain.ID, func(s string) string { return "“" + s + "”" })
	for _, r := range examples {
		p := ResourcePreview{Resource: r}
		p.By, p.Why = envelope.ResourceMatch(out.Bounds.Resources, r)
		p.Allowed = p.Why == ""
		out.Preview = append(out.Preview, p)
	}
	return out
}

// delegatePermitOp writes down a delegate that is issued or admitted, with a new permit. Its time is drawn once, so that a passkey can
// confirm the row.
func (d *Desk) delegatePermitOp(m *envelope.MintDelegate, mints int64, name string, away, admitted bool, c *behind) *op {
	began, hash, domain := d.clock.Now(), m.Hash(), m.Fields().DomainHash
	return &op{alone: true, anchor: true, build: func(b *batch) error {
		if admitted && d.led.delegates[hash] == nil {
			return refuse(CodeUnknownDelegate) // removed meanwhile
		}
		row := permit.Delegate{
			Type: permit.TypeDelegate, V: 1, Hash: hash, DomainHash: domain, Mints: mints, Admitted: admitted,
			MadeAt: min(began, b.now), WhileAway: away, Name: name,
		}
		body, err := permit.Encode(row)
		if err != nil {
			return err
		}
		kind, entry := journal.KindDelegateIssued, any(journal.DelegateIssued{Delegate: hash, DomainHash: domain, Mints: mints, PermitSHA256: permit.SHA256(body), Confirmation: c.record})
		if admitted {
			kind, entry = journal.KindDelegateAdmitted, journal.DelegateAdmitted{Delegate: hash, DomainHash: domain, Mints: mints, PermitSHA256: permit.SHA256(body), Confirmation: c.record}
		}
		a, err := b.add(kind, entry)
		if err != nil {
			return err
		}
		c.of(a)
		a.keyed.Permits = []keys.Permit{{Body: body}}
		a.keyed.Delegate = m.Canonical()
		signed := m
		a.ready = func() error {
			if err := oneMAC(a); err != nil || admitted {
				return err
			}
			var err error
			signed, err = envelope.ParseMintDelegate(a.answer.Delegate)
			if err != nil || signed.Hash() != hash || signed.Signature() == "" {
				return errors.New("the key process did not sign the delegate that was planned")
			}
			return nil
		}
		a.write = func(tx *store.Tx) error {
			if !admitted {
				if err := tx.PutDelegate(store.Delegate{Hash: hash, Raw: signed.Canonical(), Origin: "issued", At: a.entry.At}); err != nil {
					return err
				}
			}
			return tx.PutPermit(store.Permit{Kind: permit.TypeDelegate, ID: hash, Body: body, MAC: a.answer.MACs[0]})
		}
		a.applied = func() {
			x := d.led.delegates[hash]
			if x == nil {
				x = newDelegateRow(d.clock, signed, "issued", a.entry.At)
				d.led.delegates[hash] = x
			}
			x.permit, x.body, x.mac = row, body, a.answer.MACs[0]
		}
		return nil
	}}
}

// IssueDelegate implements [MintOwner].
func (v ownerView) IssueDelegate(ctx context.Context, p DelegatePlan) (Outcome, error) {
	d := v.d
	m, err := envelope.ParseMintDelegate(p.Body)
	if err != nil || m.Signature() != "" {
		return Outcome{}, refuseWith(CodeMalformed, "this is no plan of a delegate")
	}
	at, err := envelope.ParseTime(m.Fields().IssuedAt)
	if now := d.clock.Now(); err != nil || now-at > planMS || at > now+clockToleranceMS {
		return Outcome{Code: CodePlanOld}, nil
	}
	if p.Name != "" && !nameOK(p.Name) {
		return Outcome{Code: OutcomeName}, nil
	}
	c := &behind{}
	out, err := outcomeOf(d.confirmed(ctx, "delegate", "", c, d.delegatePermitOp(m, m.Fields().MaxMints, p.Name, p.WhileAway, false, c)))
	if out.Code == OutcomeDone {
		out.Delegate = m.Hash()
	}
	return out, err
}

// ImportDelegate implements [MintOwner].
func (v ownerView) ImportDelegate(_ context.Context, raw []byte) (DelegateView, error) {
	d := v.d
	canonical, _, err := envelope.SplitDelegate(raw)
	if err != nil {
		if _, bad := jcs.Parse(raw, jcs.AgentEnvelope); bad == nil && strings.Contains(err.Error(), "domainSummary") {
			return DelegateView{}, refuseWith(CodeDelegateSummary, err.Error())
		}
		return DelegateView{}, refuseWith(CodeDelegateMalformed, err.Error())
	}
	m, err := envelope.ParseMintDelegate(canonical)
	if err != nil {
		return DelegateView{}, refuseWith(CodeDelegateMalformed, err.Error())
	}
	hash, domain := m.Hash(), m.Fields().DomainHash
	d.mu.Lock()
	row, known := d.led.domains[domain], d.led.delegates[hash] != nil
	d.mu.Unlock()
	switch {
	case row == nil:
		return DelegateView{}, refuse(CodeUnknownDomain)
	case known:
		return DelegateView{}, refuse(CodeDelegateExists)
	}
	report, _ := envelope.VerifyMintDelegate(canonical, envelope.Pins{DomainAddress: row.projection.Address(), DomainHash: domain})
	if !report.Valid || !report.Pinned {
		if !strings.EqualFold(m.IssuerAddress(), row.projection.Address()) {
			return DelegateView{}, bounded(CodeDelegateIssuer, "issuerAddress", row.projection.Address(), m.IssuerAddress())
		}
		return DelegateView{}, boundRefusal(report, m, nil, d.clock.Now())
	}
	at := d.clock.Now()
	if err := d.do(&op{alone: true, build: func(b *batch) error {
		if d.led.delegates[hash] != nil {
			return refuse(CodeDelegateExists)
		}
		if len(d.led.delegates) >= journal.MaxDelegates {
			return refuse(journal.CodeTooManyDelegates)
		}
		a, err := b.add(journal.KindDelegateImported, journal.DelegateImported{Delegate: hash, DomainHash: domain})
		if err != nil {
			return err
		}
		a.write = func(tx *store.Tx) error {
			return tx.PutDelegate(store.Delegate{Hash: hash, Raw: m.Canonical(), Origin: "imported", At: at})
		}
		a.applied = func() { d.led.delegates[hash] = newDelegateRow(d.clock, m, "imported", at) }
		return nil
	}}); err != nil {
		return DelegateView{}, asRefusal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.delegateView(d.led.delegates[hash]), nil
}

// AdmitDelegate implements [MintOwner].
func (v ownerView) AdmitDelegate(ctx context.Context, hash string, mints int64, name string) (Outcome, error) {
	d := v.d
	name = strings.TrimSpace(name)
	d.mu.Lock()
	row := d.led.delegates[hash]
	_, known := d.led.state.Delegate(hash)
	d.mu.Unlock()
	switch {
	case row == nil:
		return Outcome{Code: CodeUnknownDelegate}, nil
	case known:
		return Outcome{Code: CodeDelegateExists}, nil
	case mints < 1 || mints > row.fields.MaxMints:
		return Outcome{Code: CodeNoMintsLeft}, nil
	case name != "" && !nameOK(name):
		return Outcome{Code: OutcomeName}, nil
	}
	c := &behind{}
	out, err := outcomeOf(d.confirmed(ctx, "admit", "", c, d.delegatePermitOp(row.parsed, mints, name, false, true, c)))
	if out.Code == OutcomeDone {
		out.Delegate = hash
	}
	return out, err
}

// stands refuses for a delegate that is not in force; the caller holds mu.
func (d *Desk) stands(hash string) *Refusal {
	st, ok := d.led.state.Delegate(hash)
	switch {
	case !ok && d.led.delegates[hash] != nil:
		return refuse(CodeDelegateSuspended)
	case !ok:
		return refuse(CodeUnknownDelegate)
	case st.Ended == "expired":
		return refuse(CodeDelegateExpired)
	case st.Ended != "":
		return refuse(CodeDelegateEnded)
	}
	return nil
}

// PauseDelegate implements [MintOwner].
func (v ownerView) PauseDelegate(_ context.Context, hash string) error {
	d := v.d
	return d.do(d.takeOp(journal.KindDelegatePaused, journal.DelegatePaused{Delegate: hash}, func() *Refusal {
		if r := d.stands(hash); r != nil {
			return r
		}
		if st, _ := d.led.state.Delegate(hash); st.Paused {
			return refuse(CodeDelegatePaused)
		}
		return nil
	}))
}

// ResumeDelegate implements [MintOwner].
func (v ownerView) ResumeDelegate(ctx context.Context, hash string) (Outcome, error) {
	d := v.d
	c := &behind{}
	return outcomeOf(d.confirmed(ctx, "resume", "", c, &op{alone: true, anchor: true, build: func(b *batch) error {
		if r := d.stands(hash); r != nil {
			return r
		}
		row := d.led.delegates[hash]
		a, err := b.add(journal.KindDelegateResumed, journal.DelegateResumed{Delegate: hash, Confirmation: c.record})
		if err != nil {
			return err
		}
		c.of(a)
		a.keyed.Delegate = row.raw
		a.keyed.Permits = permitsOf([]permitRow{{row.body, row.mac}})
		return nil
	}}))
}

// RevokeDelegate implements [MintOwner].
func (v ownerView) RevokeDelegate(_ context.Context, hash string) ([]MintView, error) {
	d := v.d
	d.mu.Lock()
	row := d.led.delegates[hash]
	suspended := row != nil && row.body == nil
	d.mu.Unlock()
	if suspended {
		return nil, d.do(d.removeOp(hash))
	}
	// It ends first: what reads its mints may be slow, or fail.
	if err := d.do(d.takeOp(journal.KindDelegateEnded, journal.DelegateEnded{Delegate: hash, Reason: "revoked"}, func() *Refusal { return d.stands(hash) })); err != nil {
		return nil, err
	}
	var out []MintView
	for before := uint64(0); ; {
		page, err := d.pageOfMints(hash, before, maxMints)
		if err != nil {
			return nil, refuse(CodeMintsUnread)
		}
		for _, row := range page {
			m, now := d.mintView(row), d.clock.Now()
			if m.Used < m.MaxUses && (m.NotAfter == nil || now <= *m.NotAfter) {
				m.Live = m.NotBefore == nil || now >= *m.NotBefore
				out = append(out, m)
			}
		}
		if len(page) < maxMints {
			return out, nil
		}
		before = page[len(page)-1].Seq
	}
}

// removeOp forgets a delegate that was never admitted here.
func (d *Desk) removeOp(hash string) *op {
	return &op{alone: true, anchor: true, build: func(b *batch) error {
		switch row := d.led.delegates[hash]; {
		case row == nil:
			return refuse(CodeUnknownDelegate)
		case row.body != nil:
			return refuse(CodeDelegateExists) // admitted meanwhile
		}
		a, err := b.add(journal.KindDelegateEnded, journal.DelegateEnded{Delegate: hash, Reason: "removed"})
		if err != nil {
			return err
		}
		a.write = func(tx *store.Tx) error { return tx.DropDelegate(hash) }
		a.applied = func() { delete(d.led.delegates, hash) }
		return nil
	}}
}

func (d *Desk) pageOfMints(delegate string, before uint64, limit int) ([]store.Mint, error) {
	if d.db() == nil {
		return nil, nil
	}
	rows, err := d.db().Mints(delegate, before, limit)
	if err != nil {
		return nil, asRefusal(err)
	}
	return rows, nil
}

// Mints implements [MintOwner].
func (v ownerView) Mints(f MintFilter) ([]MintView, error) {
	d := v.d
	if f.Limit <= 0 {
		f.Limit = 100
	}
	rows, err := d.pageOfMints(f.Delegate, f.Before, min(f.Limit, maxMints))
	if err != nil {
		return nil, err
	}
	out := make([]MintView, 0, len(rows))
	for _, row := range rows {
		out = append(out, d.mintView(row))
	}
	return out, nil
}

// mintView is a mint as the owner sees it. The caller does not hold mu: there may be many, and their requests are read.
func (d *Desk) mintView(row store.Mint) MintView {
	q := d.readRequest(row)
	d.mu.Lock()
	defer d.mu.Unlock()
	out := MintView{
		Mint: row.Mint, Delegate: row.Delegate, Seq: row.Seq, At: row.At, Bot: row.Bot, Client: row.Client,
		Used: row.Used, LastUse: row.LastUse, Address: row.Address, MaxUses: row.MaxUses,
	}
	if c, ok := d.led.state.Client(row.Client); ok {
		out.Agent = c.Name
	}
	if q == nil {
		return out // edited; nothing of it is used
	}
	f := q.Fields()
	out.AgentID, out.Operation, out.Resources, out.ActionIndex = f.AgentID, f.Operation, f.Resources, f.ActionIndex
	out.NotBefore, out.NotAfter = optional(f.Window.NotBefore), optional(f.Window.NotAfter)
	out.Nonce, out.MaxUses, out.Legitimacy = f.Nonce, f.MaxUses, f.LegitimacyID
	if st, ok := d.led.state.Mint(row.Delegate, nonceHash(f.Nonce)); ok && st.Mint == row.Mint {
		out.Used = int64(st.Uses)
		now := d.clock.Now()
		delegate := d.led.delegates[row.Delegate]
		out.Live = d.led.state.DelegateOpen(row.Delegate) == nil && delegate != nil && !delegate.end.passed(d.clock) &&
			out.Used < out.MaxUses && (out.NotBefore == nil || now >= *out.NotBefore) && (out.NotAfter == nil || now <= *out.NotAfter)
	}
	return out
}

// readRequest reads the request of a mint, or gives nil where it is not the one that was minted.
func (d *Desk) readRequest(row store.Mint) *envelope.MintRequest {
	d.mu.Lock()
	known := d.records[row.Mint]
	d.mu.Unlock()
	if known != nil && bytes.Equal(known.row.Request, row.Request) {
		return known.request
	}
	q, err := envelope.ParseMintRequest(row.Request)
	if err != nil || q.Hash() != row.Mint {
		return nil
	}
	return q
}

// MintRecord implements [MintOwner].
func (v ownerView) MintRecord(ctx context.Context, mint string) ([]byte, error) {
	d := v.d
	if d.db() == nil {
		return nil, refuse(CodeUnknownMint)
	}
	row, _, refusal := d.mintRow(mint)
	if refusal != nil {
		return nil, refusal
	}
	d.mu.Lock()
	delegate, domain := d.placeOf(row)
	d.mu.Unlock()
	if delegate == nil {
		return nil, refuse(CodeUnknownDelegate)
	}
	rec, refusal := d.recordOf(ctx, row, delegate, domain)
	if refusal != nil {
		return nil, refusal
	}
	return rec.record, nil
}

// placeOf is a mint's delegate and domain, or nil; the caller holds mu.
func (d *Desk) placeOf(row store.Mint) (*delegateRow, *domainRow) {
	delegate := d.led.delegates[row.Delegate]
	if delegate == nil {
		return nil, nil
	}
	domain := d.led.domains[delegate.fields.DomainHash]
	if domain == nil {
		return nil, nil
	}
	return delegate, domain
}

// MintUses implements [MintOwner].
func (v ownerView) MintUses(delegate string, since, stepMS int64) ([]MintUse, error) {
	d := v.d
	if d.db() == nil {
		return nil, nil
	}
	if stepMS < 1 {
		return nil, refuseWith(CodeMalformed, "a step is at least one millisecond")
	}
	d.mu.Lock()
	c := d.chart
	now := mintChart{instance: d.led.state.Instance(), delegate: delegate, since: since, step: stepMS, through: d.led.state.Seq()}
	d.mu.Unlock()
	if !c.leadsTo(now) {
		c = mintChart{}
	}
	if c.through < now.through {
		steps, err := d.db().MintSteps(delegate, since, stepMS, c.through, now.through)
		if err != nil {
			return nil, asRefusal(err)
		}
		now.steps = c.with(steps)
		d.mu.Lock()
		d.chart = now
		d.mu.Unlock()
		c = now
	}
	out := make([]MintUse, 0, len(c.steps))
	for _, s := range c.steps {
		out = append(out, MintUse{From: s.From, Mints: s.Mints, Uses: s.Uses})
	}
	return out, nil
}

// mintChart is what was counted of one delegate up to an entry: a surface asks for it again with each change, and only
// what came after is read then.
type mintChart struct {
	instance, delegate string
	since, step        int64
	through            uint64
	steps              []store.MintStep // not changed any more
}

// leadsTo says whether what was counted is part of what is asked for now.
func (c mintChart) leadsTo(now mintChart) bool {
	return c.instance == now.instance && c.delegate == now.delegate && c.since == now.since && c.step == now.step && c.through <= now.through
}

// with are the steps with more added to them.
func (c mintChart) with(more []store.MintStep) []store.MintStep {
	out := slices.Clone(c.steps)
	for _, m := range more {
		i, found := slices.BinarySearchFunc(out, m.From, func(s store.MintStep, from int64) int { return cmp.Compare(s.From, from) })
		if !found {
			out = slices.Insert(out, i, store.MintStep{From: m.From})
		}
		out[i].Mints += m.Mints
		out[i].Uses += m.Uses
	}
	return out[:min(len(out), store.MaxMintSteps)]
}

// DelegateBytes implements [MintOwner].
func (v ownerView) DelegateBytes(hash string) ([]byte, error) {
	d := v.d
	d.mu.Lock()
	defer d.mu.Unlock()
	row := d.led.delegates[hash]
	if row == nil {
		return nil, refuse(CodeUnknownDelegate)
	}
	return slices.Clone(row.raw), nil
}

// ExportMint implements [MintOwner].
func (v ownerView) ExportMint(ctx context.Context, domain, recipient string) ([]byte, Outcome, error) {
	d := v.d
	d.mu.Lock()
	known := d.led.domains[domain] != nil
	d.mu.Unlock()
	if !known {
		return nil, Outcome{Code: CodeUnknownDomain}, nil
	}
	recipient = strings.TrimSpace(recipient)
	c := &behind{}
	var sealed []byte
	out, err := outcomeOf(d.confirmed(ctx, "mint_export", "", c, &op{alone: true, anchor: true, build: func(b *batch) error {
		a, err := b.add(journal.KindMintExported, journal.MintExported{DomainHash: domain, Recipient: recipient, Confirmation: c.record})
		if err != nil {
			return refuse(CodeRecipient)
		}
		c.of(a)
		a.ready = func() error {
			if len(a.answer.Sealed) == 0 {
				return errors.New("the key process sealed nothing")
			}
			return nil
		}
		a.applied = func() { sealed = a.answer.Sealed }
		return nil
	}}))
	if k, e := d.openKeys(); e == nil {
		d.takePublic(context.WithoutCancel(ctx), k)
	}
	return sealed, out, err
}
