package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/jcs"
)

var (
	errChanged = errors.New("not what was shown")
	errExpired = errors.New("the time limit has passed")
)

// Codes of an [Outcome], and of refusals of the owner's calls, beside those of
// the key process.
const (
	OutcomeDone          = "done"
	OutcomeDeclined      = "declined"
	OutcomeDecided       = "already_decided"
	OutcomeExpired       = "expired"
	OutcomeChanged       = "changed"
	OutcomeLocked        = "locked"
	OutcomeAway          = "away"
	OutcomeNoPasskey     = "no_passkey"
	OutcomeName          = "name_invalid"
	OutcomeNameTaken     = "name_taken"
	OutcomeGrantLimit    = "grant_limits"
	OutcomeRecoveryWords = "recovery_words"
	CodeAnotherOpen      = "another_open"
	CodeNotNext          = "not_next"
	CodeGone             = "gone"
	CodeUnknownClient    = "unknown_client"
	CodeUnknownGrant     = "unknown_grant"
	CodeAlreadyOpen      = "already_open"
	CodeAlreadyExists    = "already_exists"
	CodeUnlockFirst      = "unlock_first"
	CodeDomainExists     = "domain_exists"
	CodeNotCovered       = "not_covered" // no signed head covers the entry yet
)

// openItem shows the sheet of the row that may be opened now.
func (d *Desk) openItem(ctx context.Context, id string) (Sheet, error) {
	d.expire()
	if err := d.recalled(ctx); err != nil {
		return Sheet{}, err
	}
	d.mu.Lock()
	m := d.moments[id]
	if n := slices.IndexFunc(d.notes, func(n *note) bool { return n.ID == id }); n >= 0 {
		defer d.mu.Unlock()
		return d.noteSheet(d.notes[n])
	}
	d.mu.Unlock()
	if m != nil {
		d.learnAddresses(ctx, m)
	}
	d.mu.Lock()
	if d.state() == StateReadOnly || d.away {
		defer d.mu.Unlock()
		if d.away {
			return Sheet{}, refuse(CodeAway)
		}
		return Sheet{}, refuse(CodeReadOnly)
	}
	i := slices.IndexFunc(d.items, func(x *item) bool { return x.id == id })
	if i < 0 {
		d.mu.Unlock()
		return Sheet{}, refuse(CodeGone)
	}
	it := d.items[i]
	for _, other := range d.items {
		if other.open && other != it {
			d.mu.Unlock()
			return Sheet{}, refuse(CodeAnotherOpen)
		}
	}
	if i != 0 {
		d.mu.Unlock()
		return Sheet{}, refuse(CodeNotNext)
	}
	if it.busy {
		d.mu.Unlock()
		return Sheet{}, refuse(CodeGone)
	}
	s, err := d.sheet(it)
	if err != nil {
		d.mu.Unlock()
		return Sheet{}, refuse(CodeInternal)
	}
	first := it.shown != s.Digest || !it.seen
	if it.moment != nil && it.seen {
		// Once each time it comes on the screen where the agent turned a way of answering off (12.3).
		first = !it.open && hatchesOff(it.moment.sheet.Envelope) != ""
	}
	again := it.open && it.shown == s.Digest // the surface looks whether a reply has come
	it.open, it.shown = true, s.Digest
	d.mu.Unlock()
	if !again {
		d.changed()
	}
	if !first {
		return s, nil
	}
	err = d.do(&op{build: func(b *batch) error {
		if it.gone || it.busy {
			return errGone
		}
		var a *act
		var err error
		if it.moment != nil {
			a, err = d.seenMoment(b, it.moment, s.Digest)
		} else {
			a, err = b.add(journal.KindRequestSeen, journal.RequestSeen{Request: d.requestName(it), Client: it.client, Digest: s.Digest})
		}
		if err != nil {
			return err
		}
		a.applied = func() { it.seen = true }
		return nil
	}})
	if err != nil {
		d.mu.Lock()
		it.shut()
		d.mu.Unlock()
		d.changed()
		if errors.Is(err, errGone) {
			return Sheet{}, refuse(CodeGone)
		}
		return Sheet{}, asRefusal(err)
	}
	return s, nil
}

func (d *Desk) requestName(it *item) string {
	if it.pairing != nil {
		return it.pairing.id
	}
	return it.members[0].key.id
}

// closed notes that a sheet left the screen undecided: the item waits behind the others.
func (d *Desk) closed(id string) {
	d.mu.Lock()
	i := slices.IndexFunc(d.items, func(x *item) bool { return x.id == id })
	if i >= 0 && d.items[i].open && !d.items[i].busy {
		it := d.items[i]
		it.shut()
		d.items = append(slices.Delete(d.items, i, i+1), it)
	}
	d.mu.Unlock()
	d.changed()
}

// sheet puts together what is shown for an item; the caller holds mu.
func (d *Desk) sheet(it *item) (Sheet, error) {
	s := Sheet{
		ID: it.id, Kind: it.kind, Session: it.session, Since: it.since, Until: it.until().wall, Merged: it.count,
		Demo: d.public.Demo || d.led.state.Demo(),
	}
	if d.public.Passkeys == 0 {
		s.Frame = "clicks"
	}
	if it.pairing != nil {
		s.Pairing = &PairingSheet{Digits: it.pairing.digits, Peer: it.pairing.conv.peer, Claimed: it.pairing.claimed}
	} else {
		c, refusal := d.led.client(it.client)
		if refusal != nil {
			return Sheet{}, refusal
		}
		s.Agent, s.Client, s.PairedAt = c.permit.Name, it.client, c.permit.PairedAt
		if it.moment != nil {
			s.Moment = d.momentSheet(it.moment)
		} else {
			s.Action = d.actionSheet(it, c)
		}
	}
	digest, err := sheetDigest(s)
	s.Digest = digest
	return s, err
}

func (d *Desk) actionSheet(it *item, c *clientRow) *ActionSheet {
	a := it.action
	f := a.envelope.Fields()
	out := &ActionSheet{
		Address: a.address, AgentID: f.AgentID, Operation: f.Operation, Resources: f.Resources, ActionIndex: f.ActionIndex,
		DecayMode: string(f.Mode), Used: d.usedOf(a.envelope), EnvelopeHash: a.envelope.Hash(),
		PayloadType: a.payload.Value().Get("type").Text(), Payload: a.payload.Value(), PayloadText: string(a.payload.Canonical()),
		PayloadDigest: a.digest,
	}
	if dom := d.led.domains[a.envelope.DomainHash()]; dom != nil {
		out.Domain = dom.view()
	}
	if f.Window.NotBefore.Set {
		out.NotBefore = &f.Window.NotBefore.N
	}
	if f.Window.NotAfter.Set {
		out.NotAfter = &f.Window.NotAfter.N
	} else {
		out.Warnings = append(out.Warnings, "no_end")
	}
	if f.MaxUses.Set {
		out.MaxUses = &f.MaxUses.N
	} else {
		out.Warnings = append(out.Warnings, "unlimited")
	}
	if _, ok := d.asked[d.fold(it.client, it.digest)]; ok {
		out.Warnings = append(out.Warnings, "repeat")
	}
	for _, x := range a.differs {
		out.Contradictions = append(out.Contradictions, Contradiction{x.Member, x.Payload, x.Envelope})
	}
	if len(out.Contradictions) > 0 {
		out.Warnings = append(out.Warnings, "contradiction")
	}
	out.GrantUsesMax, out.GrantUntilMax = d.grantLimits(a)
	out.GrantUses = min(permit.GrantUsesBeforePasskey, out.GrantUsesMax)
	out.GrantUntil = min(d.clock.Now()+permit.GrantMillisBeforePasskey, out.GrantUntilMax)
	if a.moment != nil {
		out.Moment, out.OptionLabel = a.moment.id, a.moment.label
	}
	out.Grantable = a.moment == nil && len(a.differs) == 0 && out.GrantUsesMax > 0 && out.GrantUntilMax > d.clock.Now()
	return out
}

// grantLimits are the most uses and the latest end that may be granted, after this
// one signature.
func (d *Desk) grantLimits(a *asked) (uses, until int64) {
	f := a.envelope.Fields()
	uses, until = permit.GrantUsesBeforePasskey, d.clock.Now()+permit.GrantMillisBeforePasskey
	if d.public.Passkeys > 0 {
		uses, until = permit.GrantUsesMax-1, d.clock.Now()+permit.GrantMillisMax
	}
	if stated, ok := d.usesOf(a.envelope); ok {
		uses = min(uses, stated-int64(d.led.state.Uses(a.envelope.Hash()))-1)
	}
	if f.Window.NotAfter.Set {
		until = min(until, f.Window.NotAfter.N)
	}
	return max(0, uses), until
}

// sheetDigest names what is shown. Numbers that go on while a sheet is open
// (uses, how often it was asked) and the pre-filled end of a grant, which is
// chosen in the decision, are not part of it.
func sheetDigest(s Sheet) (string, error) {
	type action struct {
		Domain         DomainView
		Address        string
		EnvelopeHash   string
		Payload        string
		Digest         string
		Warnings       []string
		Contradictions []Contradiction
		Moment         string `json:",omitzero"`
		OptionLabel    string `json:",omitzero"`
	}
	type pair struct {
		Digits     string
		Claimed    string
		UserID     int64
		ProcessID  int64
		Executable string
		Command    []string
		Parents    []string
	}
	doc := struct {
		Type     string   `json:"type"`
		V        int      `json:"v"`
		ID       string   `json:"id"`
		Kind     ItemKind `json:"kind"`
		Agent    string   `json:"agent"`
		PairedAt int64    `json:"paired_at"`
		Session  string   `json:"session"`
		Since    int64    `json:"since"`
		Frame    string   `json:"frame"`
		Demo     bool     `json:"demo"`
		Action   *action  `json:"action"`
		Pairing  *pair    `json:"pairing"`
		// Of the kinds that came later; absent elsewhere.
		Moment *momentDoc `json:"moment,omitzero"`
		Note   *NoteSheet `json:"note,omitzero"`
	}{"vault.sheet", 1, s.ID, s.Kind, s.Agent, s.PairedAt, s.Session, s.Since, s.Frame, s.Demo, nil, nil, nil, s.Note}
	if s.Moment != nil {
		doc.Moment = docOf(s.Moment)
	}
	if a := s.Action; a != nil {
		dom := a.Domain
		dom.Signatures = 0
		doc.Action = &action{dom, a.Address, a.EnvelopeHash, a.PayloadText, a.PayloadDigest, a.Warnings, a.Contradictions, a.Moment, a.OptionLabel}
	}
	if p := s.Pairing; p != nil {
		doc.Pairing = &pair{p.Digits, p.Claimed, p.Peer.UserID, p.Peer.ProcessID, valid(p.Peer.Executable), validAll(p.Peer.Command), validAll(p.Peer.Parents)}
	}
	b, err := jcs.Marshal(doc, jcs.Binding)
	if err != nil {
		return "", err
	}
	return permit.SHA256(b), nil
}

// valid makes text that the system gave fit for JSON.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = valid(s)
	}
	return out
}

// decide carries out the owner's decision.
func (d *Desk) decide(ctx context.Context, dec Decision) (Outcome, error) {
	d.mu.Lock()
	i := slices.IndexFunc(d.items, func(x *item) bool { return x.id == dec.ID })
	var it *item
	if i >= 0 {
		it = d.items[i]
	}
	state := d.state()
	declining := dec.Verdict == VerdictDecline || dec.Verdict == VerdictDeclineBlock
	code := ""
	switch {
	case it == nil || it.gone || it.busy:
		code = OutcomeDecided
	case state == StateAway:
		code = OutcomeAway
	case state == StateReadOnly:
		code = CodeReadOnly
	case state != StateOpen && !declining:
		code = OutcomeLocked
	case it.until().passed(d.clock):
		code = OutcomeExpired
	case it.shown == "" || it.shown != dec.Digest:
		code = OutcomeChanged
	}
	d.mu.Unlock()
	if code == OutcomeExpired {
		d.expire()
	}
	if code != "" {
		return Outcome{Code: code}, nil
	}
	if it.moment != nil {
		return d.decideMoment(ctx, it, dec)
	}
	switch dec.Verdict {
	case VerdictDecline, VerdictDeclineBlock:
		c := byClick()
		err := d.prove(ctx, dec, c)
		switch {
		case err != nil:
		case c.by == "passkey":
			err = d.confirmed(ctx, it.id, it.client, c, d.declineOp(it, dec, c))
		default:
			err = d.do(d.declineOp(it, dec, c))
		}
		if err == nil && dec.Verdict == VerdictDeclineBlock && it.pairing == nil {
			err = d.dropClient(it.client)
		}
		return d.outcome(it, err, OutcomeDeclined)
	case VerdictApprove, VerdictGrant:
	default:
		return Outcome{}, refuseWith(CodeMalformed, "unknown verdict")
	}
	c := byClick()
	if err := d.prove(ctx, dec, c); err != nil {
		return d.outcome(it, err, "")
	}
	if it.pairing != nil {
		if dec.Verdict != VerdictApprove {
			return Outcome{}, refuseWith(CodeMalformed, "a pairing is approved or declined")
		}
		name := strings.TrimSpace(dec.Name)
		if !nameOK(name) {
			return Outcome{Code: OutcomeName}, nil
		}
		d.mu.Lock()
		taken := d.nameTaken(name, "")
		d.mu.Unlock()
		if taken {
			return Outcome{Code: OutcomeNameTaken}, nil
		}
		o, err := d.pairOp(it, name, dec.Digest, c)
		if err == nil {
			err = d.byClickOrPasskey(ctx, it, c, o)
		}
		return d.outcome(it, err, OutcomeDone)
	}
	return d.approve(ctx, it, dec, c)
}

func (d *Desk) outcome(it *item, err error, done string) (Outcome, error) {
	switch {
	case err == nil:
		return Outcome{Code: done}, nil
	case errors.Is(err, errGone):
		return Outcome{Code: OutcomeDecided}, nil
	case errors.Is(err, errChanged):
		return Outcome{Code: OutcomeChanged}, nil
	case errors.Is(err, errExpired):
		d.expire()
		return Outcome{Code: OutcomeExpired}, nil
	}
	return outcomeOf(err)
}

// prove asks for the passphrase where the surface wants it for an approval, as long as there is no passkey: from then on
// such a surface approves by ceremony, as does a decision that wants one, and c says so. A decline is proven
// only where the decision wants a passkey for it.
func (d *Desk) prove(ctx context.Context, dec Decision, c *behind) error {
	declining := dec.Verdict == VerdictDecline || dec.Verdict == VerdictDeclineBlock
	c.elsewhere = dec.Elsewhere
	if !dec.Confirm && (dec.Prove == "" || declining) {
		return nil
	}
	d.mu.Lock()
	passkeys := d.public.Passkeys > 0
	d.mu.Unlock()
	switch {
	case passkeys:
		c.by = "passkey"
		return nil
	case dec.Confirm:
		return &ended{OutcomeNoPasskey, ""}
	}
	k, err := d.openKeys()
	if err != nil {
		return err
	}
	return d.attended(ctx, k, func(ctx context.Context) error { return k.Prove(ctx, dec.Digest, dec.Prove) })
}

// byClickOrPasskey carries out what the owner approved: by click, and where the key process wants a passkey for it, or
// the surface does, with a ceremony.
func (d *Desk) byClickOrPasskey(ctx context.Context, it *item, c *behind, o *op) error {
	if c.by == "passkey" {
		return d.confirmed(ctx, it.id, it.client, c, o)
	}
	err := d.do(o)
	var k *keys.Error
	if errors.As(err, &k) && k.Code == keys.CodePasskeyNeeded {
		err = d.confirmed(ctx, it.id, it.client, c, o)
	}
	return err
}

func (d *Desk) declineOp(it *item, dec Decision, c *behind) *op {
	block := dec.Verdict == VerdictDeclineBlock
	reason := ""
	if block {
		reason = "blocked"
	}
	var also func(*batch) error
	switch {
	case block && it.pairing != nil:
		also = func(b *batch) error {
			peer := it.pairing.conv.peer
			row := store.Block{ID: "b_" + it.id[2:], UserID: peer.UserID, Executable: clip(peer.Executable, 4096), Claimed: it.pairing.claimed, At: b.now}
			last := b.acts[len(b.acts)-1]
			last.extra(func(tx *store.Tx) error { return tx.PutBlock(row) }, func() { d.led.blocks = append(d.led.blocks, row) })
			return nil
		}
	case block:
		also = func(b *batch) error {
			row := store.Block{ID: "b_" + it.id[2:], At: b.now}
			if c := d.led.clients[it.client]; c != nil {
				row.UserID, row.Executable, row.Claimed = c.permit.UserID, c.permit.Executable, c.permit.Claimed
			}
			if err := d.addClientEnd(b, it.client, "blocked"); err != nil {
				return err
			}
			last := b.acts[len(b.acts)-1]
			last.extra(func(tx *store.Tx) error { return tx.PutBlock(row) }, func() { d.led.blocks = append(d.led.blocks, row) })
			return nil
		}
	}
	o := d.endBy(it, outcomeDeclined, reason, c, nil, also)
	build := o.build
	o.build = func(b *batch) error {
		if !it.gone && !it.busy && it.shown != dec.Digest {
			return errChanged
		}
		if !it.gone && it.until().passed(d.clock) {
			return errExpired
		}
		return build(b)
	}
	if block && it.pairing == nil {
		o.alone, o.anchor = true, true
	}
	return o
}

// extra adds rows and effects to an act.
func (a *act) extra(write func(*store.Tx) error, applied func()) {
	w, f := a.write, a.applied
	a.write = func(tx *store.Tx) error {
		if w != nil {
			if err := w(tx); err != nil {
				return err
			}
		}
		return write(tx)
	}
	a.applied = func() {
		if f != nil {
			f()
		}
		applied()
	}
}

// addClientEnd adds the entries that end a client and its grants.
func (d *Desk) addClientEnd(b *batch, client, reason string) error {
	if _, err := b.add(journal.KindClientEnded, journal.ClientEnded{Client: client, Reason: reason}); err != nil {
		return err
	}
	for _, g := range d.led.state.Grants() {
		if g.Client == client && g.Ended == "" {
			if _, err := b.add(journal.KindGrantEnded, journal.GrantEnded{Grant: g.ID, Reason: "client_ended"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// approve signs once, and with VerdictGrant makes a grant for more. Before the first passkey both are one step; from
// then on the grant is made with a passkey first, for one use more, and the signature is its first use.
func (d *Desk) approve(ctx context.Context, it *item, dec Decision, c *behind) (Outcome, error) {
	d.mu.Lock()
	passkeys := d.public.Passkeys > 0
	d.mu.Unlock()
	if dec.Verdict == VerdictGrant && passkeys {
		return d.grantThenSign(ctx, it, dec)
	}
	s := &signing{d: d, it: it, shown: dec.Digest, c: c}
	o := s.op()
	if dec.Verdict == VerdictGrant {
		o.alone, o.anchor = true, true
		s.also = func(b *batch) error {
			row, err := d.newGrant(it, dec, b.now)
			if err != nil {
				return err
			}
			s.made = row.permit.ID
			return d.addGrant(b, row, c)
		}
	}
	return s.outcome(d.byClickOrPasskey(ctx, it, c, o))
}

// signing signs what an item asks for, once.
type signing struct {
	d     *Desk
	it    *item
	shown string // digest of the sheet
	c     *behind
	grant *grantRow            // that stands behind it, or nil
	also  func(b *batch) error // adds what is made with it
	lead  *request
	made  string // id of the grant
}

func (s *signing) op() *op {
	d, it, held := s.d, s.it, false
	o := &op{}
	o.undo = func() {
		if held {
			it.busy, held = false, false
		}
	}
	o.build = func(b *batch) error {
		if err := d.approvable(it, s.shown); err != nil {
			return err
		}
		a := it.action
		if refusal := d.admits(a.envelope, b.signed[a.envelope.Hash()]); refusal != nil {
			return refusal
		}
		var members []*request
		for _, m := range it.members {
			if !m.end.passed(d.clock) {
				members = append(members, m)
			}
		}
		if len(members) == 0 {
			return errExpired
		}
		s.lead = members[0]
		if err := d.addSigned(b, members, s.c, s.grant); err != nil {
			return err
		}
		last := b.acts[len(b.acts)-1]
		last.extra(func(*store.Tx) error { return nil }, func() {
			it.busy = false
			if c := d.led.clients[it.client]; c != nil {
				c.unanswered = 0
			}
			if len(it.members) == 0 {
				d.remove(it)
			}
		})
		it.busy, held = true, true
		if s.also == nil {
			return nil
		}
		if err := s.also(b); err != nil {
			it.busy, held = false, false
			return err
		}
		return nil
	}
	return o
}

// approvable says why an item cannot be approved now; the caller holds mu.
func (d *Desk) approvable(it *item, shown string) error {
	switch {
	case it.gone || it.busy:
		return errGone
	case d.state() != StateOpen:
		return refuse(string(d.state()))
	case it.shown != shown:
		return errChanged
	case it.until().passed(d.clock):
		return errExpired
	}
	if refusal := d.gateClient(it.client); refusal != nil {
		return refusal
	}
	return nil
}

// outcome is what came of it. An item that can never be signed any more ends.
func (s *signing) outcome(err error) (Outcome, error) {
	signed := false
	var out Outcome
	if s.lead != nil {
		select {
		case <-s.lead.done:
			signed = s.lead.refusal == nil
		default:
		}
	}
	if signed {
		var result struct {
			Signature string `json:"signature"`
		}
		if json.Unmarshal(s.lead.result, &result) == nil {
			out.Signature = result.Signature
		}
	}
	out.Grant = s.made
	if err == nil {
		out.Code = OutcomeDone
		return out, nil
	}
	o, e := s.d.outcome(s.it, err, OutcomeDone)
	if e != nil {
		return o, e
	}
	out.Code, out.Detail = o.Code, o.Detail
	if !signed {
		s.d.refuseItem(s.it, err)
	}
	return out, nil
}

// grantThenSign makes a grant with a passkey, and signs under it.
func (d *Desk) grantThenSign(ctx context.Context, it *item, dec Decision) (Outcome, error) {
	s := &signing{d: d, it: it, shown: dec.Digest, c: &behind{by: "grant"}}
	d.mu.Lock()
	row, err := d.newGrant(it, dec, d.clock.Now())
	d.mu.Unlock()
	if err != nil {
		return s.outcome(err)
	}
	c := &behind{}
	err = d.confirmed(ctx, it.id, it.client, c, &op{alone: true, anchor: true, build: func(b *batch) error {
		if err := d.approvable(it, dec.Digest); err != nil {
			return err
		}
		return d.addGrant(b, row, c)
	}})
	if err != nil {
		return s.outcome(err)
	}
	s.made, s.grant = row.permit.ID, row
	return s.outcome(d.do(s.op()))
}

// confirmationCodes are refusals of the key process that say nothing about what was asked: it can be asked again.
var confirmationCodes = map[string]bool{
	keys.CodeNoPasskey: true, keys.CodePasskeyNeeded: true, keys.CodeNotConfirmed: true, keys.CodeOtherAct: true, keys.CodeCeremonyOpen: true,
	"unknown_credential": true, "wrong_type": true, "wrong_challenge": true, "wrong_origin": true, "framed": true, "wrong_rp_id": true,
	"not_present": true, "not_verified": true, "wrong_signature": true, "too_early": true, keys.CodeTimedOut: true, "counter_back": true, "backup_changed": true,
}

// refuseItem ends an item that can never be signed any more, so that it does not wait in vain.
func (d *Desk) refuseItem(it *item, err error) {
	var r *Refusal
	var k *keys.Error
	reason := ""
	switch {
	case errors.As(err, &k) && !confirmationCodes[k.Code]:
		reason = k.Code
	case errors.As(err, &r) && slices.Contains([]string{CodeUnknownDomain, CodeEnvelopeExpired, CodeUsesSpent, CodeBlocked, CodeRevoked}, r.Code):
		reason = r.Code
	}
	if reason != "" {
		// Whoever was faster has ended it.
		_ = d.do(d.end(it, outcomeRefused, reason, nil, nil))
	}
}

// newGrant checks what the owner chose and makes the row; the caller holds mu.
func (d *Desk) newGrant(it *item, dec Decision, now int64) (*grantRow, error) {
	a := it.action
	uses, until := d.grantLimits(a)
	by := "click"
	if d.public.Passkeys > 0 {
		by = "passkey"
	}
	switch {
	case a.moment != nil || len(a.differs) > 0 || dec.GrantUses < 1 || dec.GrantUntil <= now:
		return nil, refuse(OutcomeGrantLimit)
	case dec.GrantUses > uses || dec.GrantUntil > until:
		// More than a click may give, but less than anybody may: it needs a passkey.
		if by == "click" && uses >= permit.GrantUsesBeforePasskey && dec.GrantUses <= permit.GrantUsesMax && dec.GrantUntil-now <= permit.GrantMillisMax {
			return nil, refuse(OutcomeNoPasskey)
		}
		return nil, refuse(OutcomeGrantLimit)
	}
	id, err := d.newID("g_")
	if err != nil {
		return nil, err
	}
	row := permit.Grant{
		Type: permit.TypeGrant, V: 1, ID: id, Client: it.client, EnvelopeHash: a.envelope.Hash(), DomainHash: a.envelope.DomainHash(),
		Uses: dec.GrantUses, NotAfter: dec.GrantUntil, MadeAt: now, By: by,
	}
	if by == "passkey" {
		row.Uses++ // the signature that is asked for is the first
	}
	body, err := permit.Encode(row)
	if err != nil {
		return nil, err
	}
	return &grantRow{permit: row, body: body, end: endAt(d.clock, row.NotAfter), envelope: a.envelope}, nil
}

// addGrant adds the entry that makes a grant.
func (d *Desk) addGrant(b *batch, row *grantRow, c *behind) error {
	p := row.permit
	a, err := b.add(journal.KindGrantMade, journal.GrantMade{
		Grant: p.ID, Client: p.Client, EnvelopeHash: p.EnvelopeHash, Uses: p.Uses, NotAfter: p.NotAfter, By: p.By, PermitSHA256: permit.SHA256(row.body), Confirmation: c.record,
	})
	if err != nil {
		return err
	}
	c.of(a)
	cl := d.led.clients[p.Client]
	a.keyed.Envelope = row.envelope.Canonical()
	a.keyed.Permits = append([]keys.Permit{{Body: row.body}}, permitsOf([]permitRow{{cl.body, cl.mac}})...)
	a.ready = func() error { return oneMAC(a) }
	a.write = func(tx *store.Tx) error {
		return tx.PutPermit(store.Permit{Kind: permit.TypeGrant, ID: p.ID, Body: row.body, MAC: a.answer.MACs[0], About: row.envelope.Canonical()})
	}
	a.applied = func() {
		row.mac = a.answer.MACs[0]
		d.led.addGrant(row)
	}
	return nil
}

func nameOK(name string) bool {
	if name == "" || len(name) > 64 || !utf8.ValidString(name) {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// nameTaken says whether another client in force has this name; the caller holds mu.
func (d *Desk) nameTaken(name, but string) bool {
	for _, c := range d.led.state.Clients() {
		if c.Ended == "" && c.ID != but && strings.EqualFold(c.Name, name) {
			return true
		}
	}
	return false
}

// declineAll declines the shown and refuses the unshown requests of a client.
func (d *Desk) declineAll(client string) error {
	d.mu.Lock()
	var items []*item
	for _, it := range d.items {
		if it.client == client && (client != "") == (it.pairing == nil) {
			items = append(items, it)
		}
	}
	d.mu.Unlock()
	for _, it := range items {
		d.mu.Lock()
		seen := it.seen
		d.mu.Unlock()
		if it.moment != nil {
			o := d.endMoment(it, endNotShown)
			if seen {
				o, _ = d.resolveOp(it, it.moment.sheet.Envelope.Decline(), byClick(), func() error { return nil })
			}
			if err := d.do(o); err != nil && !errors.Is(err, errGone) {
				return asRefusal(err)
			}
			continue
		}
		outcome := outcomeRefused
		if seen {
			outcome = outcomeDeclined
		}
		if err := d.do(d.end(it, outcome, "declined_all", nil, nil)); err != nil && !errors.Is(err, errGone) {
			return asRefusal(err)
		}
	}
	return nil
}
