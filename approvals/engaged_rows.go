package approvals

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"

	"vault/approvals/agreement"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/store"
)

// pinRow is a pin in force.
type pinRow struct {
	permit permit.Pin
	body   []byte
	mac    string
}

// allowRow is a pre-authorisation.
type allowRow struct {
	permit permit.Preauthorisation
	body   []byte
	mac    string
}

// pinID is the row of an agent's pin: a new pin takes its place.
func pinID(agent string) string {
	sum := sha256.Sum256([]byte(agent))
	return "k_" + hex.EncodeToString(sum[:8])
}

// readSoWPermit is readPermit of pins and pre-authorisations.
func (l *ledger) readSoWPermit(row store.Permit, edited, unknown *Trouble) *Trouble {
	digest := permit.SHA256(row.Body)
	if row.Secret != nil || row.About != nil {
		return edited
	}
	if row.Kind == permit.TypePin {
		p, err := permit.ParsePin(row.Body)
		if err != nil {
			return edited
		}
		known, ok := l.state.SoWPin(p.Agent)
		switch {
		case !ok:
			return unknown
		case known.PermitSHA256 != digest || p.ID != row.ID || p.ID != pinID(p.Agent) || p.Key != known.Key:
			return edited
		}
		l.pins[p.Agent] = &pinRow{p, row.Body, row.MAC}
		return nil
	}
	p, err := permit.ParsePreauthorisation(row.Body)
	if err != nil {
		return edited
	}
	known, ok := l.state.Preauthorisation(p.ID)
	switch {
	case !ok:
		return unknown
	case known.PermitSHA256 != digest || p.ID != row.ID || p.Client != known.Client || p.DocumentSHA256 != known.DocumentSHA256:
		return edited
	}
	l.allowed[p.ID] = &allowRow{p, row.Body, row.MAC}
	return nil
}

// missingSoW names a row that the log shows in force and that is not there.
func (l *ledger) missingSoW() *Trouble {
	for _, p := range l.state.SoWPins() {
		if l.pins[p.Agent] == nil {
			return &Trouble{Code: "permit_missing", Detail: pinID(p.Agent)}
		}
	}
	for _, p := range l.state.Preauthorisations() {
		if l.allowed[p.ID] == nil {
			return &Trouble{Code: "permit_missing", Detail: p.ID}
		}
	}
	return nil
}

// --- the deployment profile: the log is its only home

const settingDeployment = "sow_deployment"

func deploymentSetting(engagement string) string {
	if engagement == "" {
		return settingDeployment
	}
	return settingDeployment + ":" + engagement
}

// deploymentText lists the members of a profile that are claimed; "-" is a profile of none, "" is no profile.
func deploymentText(d *sow.Deployment) string {
	if d == nil {
		return ""
	}
	var names []string
	v := reflect.ValueOf(*d)
	for i := range v.NumField() {
		if v.Field(i).Bool() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, " ")
}

func deploymentOf(text string) (d sow.Deployment) {
	v := reflect.ValueOf(&d).Elem()
	for name := range strings.FieldsSeq(text) {
		if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.Bool {
			f.SetBool(true)
		}
	}
	return d
}

// readDeployments takes the profiles from the log: a row could be edited.
func (l *ledger) readDeployments(s *store.Store) error {
	rows, err := s.EntriesBefore(0, string(journal.KindSettingChanged), "", 1<<20)
	if err != nil {
		return err
	}
	for _, row := range rows { // newest first
		e, err := journal.Parse(row.Raw)
		if err != nil {
			continue // the reading of the settings names it
		}
		if b, ok := e.Decoded().(journal.SettingChanged); ok {
			l.setDeployment(b, false)
		}
	}
	return nil
}

// noteSettled is what the log calls the owner's word on which document of a version counts.
const noteSettled = "settled"

// readSettled takes from the log which documents count: a row could be edited.
func (l *ledger) readSettled(s *store.Store) error {
	rows, err := s.EntriesBefore(0, string(journal.KindSoWNoted), "", 1<<20)
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(rows) { // newest first, as they are read
		if e, err := journal.Parse(row.Raw); err == nil {
			if b, ok := e.Decoded().(journal.SoWNoted); ok && b.What == noteSettled {
				l.settle(b)
			}
		}
	}
	return nil
}

func (l *ledger) settle(b journal.SoWNoted) {
	if l.settled[b.Engagement] == nil {
		l.settled[b.Engagement] = map[int64]string{}
	}
	l.settled[b.Engagement][b.Version] = agreement.Bare(b.DocumentSHA256)
}

func (l *ledger) setDeployment(b journal.SettingChanged, newer bool) {
	engagement, ok := strings.CutPrefix(b.Name, settingDeployment)
	if !ok {
		return
	}
	engagement = strings.TrimPrefix(engagement, ":")
	if _, known := l.deployments[engagement]; newer || !known {
		l.deployments[engagement] = b.To
	}
}

// deployment is the profile that holds for an engagement; with none, nothing is known, which counts as no.
func (d *Desk) deployment(engagement string) (profile sow.Deployment, own bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if text := d.led.deployments[engagement]; text != "" {
		return deploymentOf(text), engagement != ""
	}
	return deploymentOf(d.led.deployments[""]), false
}

// Deployment implements [Owner].
func (v ownerView) Deployment(engagement string) (sow.Deployment, bool) {
	return v.d.deployment(engagement)
}

// SetDeployment implements [Owner].
func (v ownerView) SetDeployment(_ context.Context, engagement string, profile *sow.Deployment) error {
	d := v.d
	if engagement != "" {
		if _, err := d.held(engagement); err != nil {
			return asRefusal(err)
		}
	}
	err := d.do(&op{build: func(b *batch) error {
		body := journal.SettingChanged{Name: deploymentSetting(engagement), From: d.led.deployments[engagement], To: deploymentText(profile)}
		if body.From == body.To {
			return nil
		}
		a, err := b.add(journal.KindSettingChanged, body)
		if err != nil {
			return err
		}
		a.applied = func() { d.led.setDeployment(body, true) }
		return nil
	}})
	if err != nil {
		return asRefusal(err)
	}
	if engagement != "" {
		return d.relist(engagement)
	}
	return d.relistAll()
}

// --- seats, pins, blocks

// Seats implements [Owner].
func (v ownerView) Seats() (out []agreement.SeatView) {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	if v.d.led.state.Seq() == 0 {
		return nil
	}
	for _, s := range v.d.led.state.Seats() {
		out = append(out, agreement.SeatView{Index: s.Seat, Name: s.Name, Key: s.Key})
	}
	return out
}

// OpenSeat implements [Owner].
func (v ownerView) OpenSeat(ctx context.Context, name string) (agreement.SeatView, error) {
	d := v.d
	name = strings.TrimSpace(name)
	if !nameOK(name) {
		return agreement.SeatView{}, refuse(OutcomeName)
	}
	k, err := d.openKeys()
	if err != nil {
		return agreement.SeatView{}, err
	}
	index := int64(len(v.Seats()))
	if index >= permit.MaxSeats {
		return agreement.SeatView{}, refuse(CodeUnknownSeat)
	}
	var key string
	if err := d.patient(ctx, k, func(ctx context.Context) (err error) {
		key, err = k.SeatKey(ctx, index)
		return err
	}); err != nil {
		return agreement.SeatView{}, asRefusal(err)
	}
	if err := d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		_, err := b.add(journal.KindSeatOpened, journal.SeatOpened{Seat: index, Key: key, Name: name})
		return err
	}}); err != nil {
		return agreement.SeatView{}, asRefusal(err)
	}
	return agreement.SeatView{Index: index, Name: name, Key: key}, nil
}

// PinKey implements [Owner].
func (v ownerView) PinKey(_ context.Context, p PinAsk) error {
	d := v.d
	if p.Agent == "" || len(p.Agent) > 128 {
		return refuse(CodeMalformed)
	}
	handle, owner, ids, err := d.agentIn(p.Agent)
	if err != nil {
		return asRefusal(err)
	}
	if handle != "" {
		was, err := d.remembered(handle)
		if err != nil {
			return asRefusal(err)
		}
		if was != "" && was != p.Agent {
			handle = "" // the owner says apart that it has moved
		}
	}
	if err := d.pinAgent(p, handle, owner); err != nil {
		return asRefusal(err)
	}
	return d.relist(ids...)
}

// pinAgent keeps whose key a key is, with the handle that is remembered for the agent, or none.
func (d *Desk) pinAgent(p PinAsk, handle, owner string) error {
	return d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		row := permit.Pin{
			Type: permit.TypePin, V: 1, ID: pinID(p.Agent), Agent: p.Agent, Key: p.Key, Learned: p.Learned, Handle: clip(handle, 1024), Owner: clip(owner, 1024), Card: p.Card, MadeAt: b.now,
		}
		body, err := permit.Encode(row)
		if err == nil {
			_, err = permit.ParsePin(body)
		}
		if err != nil {
			return refuseWith(CodeMalformed, err.Error())
		}
		old, _ := d.led.state.SoWPin(p.Agent)
		a, err := b.add(journal.KindSoWPinned, journal.SoWPinned{Pin: row.ID, Agent: p.Agent, Key: p.Key, By: "click", PermitSHA256: permit.SHA256(body), Replaces: old.PermitSHA256})
		if err != nil {
			return err
		}
		a.keyed.Permits = []keys.Permit{{Body: body}}
		a.ready = func() error { return oneMAC(a) }
		a.write = func(tx *store.Tx) error {
			if handle != "" {
				if err := tx.PutSoWFact(store.SoWFact{Name: agreement.FactHandle, Key: handle, Value: p.Agent, At: b.now}); err != nil {
					return err
				}
			}
			return tx.PutPermit(store.Permit{Kind: permit.TypePin, ID: row.ID, Body: body, MAC: a.answer.MACs[0]})
		}
		a.applied = func() { d.led.pins[p.Agent] = &pinRow{row, body, a.answer.MACs[0]} }
		return nil
	}})
}

// agentIn is what documents say of an agent, and in which engagements it is.
func (d *Desk) agentIn(agent string) (handle, owner string, ids []string, err error) {
	if d.db() == nil {
		return "", "", nil, refuse(CodeNoVault)
	}
	rows, _, err := d.db().Engagements(store.EngagementQuery{Text: strings.ToLower(agent), Limit: 1000})
	if err != nil {
		return "", "", nil, err
	}
	for _, row := range rows {
		line, ok := agreement.LineOf(row)
		x := line.Row
		for _, p := range []sow.Seat{x.Provider, x.Client} {
			if ok && p.Agent == agent {
				if owner == "" {
					handle, owner = p.Handle, p.Owner
				}
				ids = append(ids, row.ID)
			}
		}
	}
	return handle, owner, ids, nil
}

// ConfirmHandle implements [Owner]. What is remembered is the agent's pin, made anew with the handle.
func (v ownerView) ConfirmHandle(_ context.Context, engagement, handle, agent string) error {
	d := v.d
	h, err := d.held(engagement)
	if err != nil {
		return asRefusal(err)
	}
	if !slices.ContainsFunc(h.View.Rehomed, func(r agreement.RehomedView) bool { return r.Handle == handle && r.Is == agent }) {
		return refuse(agreement.CodeNotOpen)
	}
	d.mu.Lock()
	known := d.led.pins[agent]
	again := []permit.Pin{}
	for _, p := range d.led.pins {
		if p != known && p.permit.Handle == clip(handle, 1024) {
			again = append(again, p.permit)
		}
	}
	d.mu.Unlock()
	if known == nil {
		return refuse(agreement.CodeNotPinned)
	}
	for i, p := range append([]permit.Pin{known.permit}, again...) {
		of := ""
		if i == 0 {
			of = handle
		}
		if err := d.pinAgent(PinAsk{Agent: p.Agent, Key: p.Key, Learned: p.Learned, Card: p.Card}, of, p.Owner); err != nil {
			return asRefusal(err)
		}
	}
	if err := d.note(h, h.Docs[0].View, "handle", "", "handle_confirmed", nil); err != nil {
		return err
	}
	_, _, ids, err := d.agentIn(agent)
	if err != nil {
		return asRefusal(err)
	}
	return d.relist(append(ids, engagement)...)
}

// SettleConflict implements [Owner]. What both owners have signed is not settled against.
func (v ownerView) SettleConflict(_ context.Context, engagement, digest string) error {
	d := v.d
	h, err := d.held(engagement)
	if err != nil {
		return asRefusal(err)
	}
	x := h.By(digest)
	if x == nil || !x.View.Conflict {
		return refuse(agreement.CodeNotOpen)
	}
	if !h.Settles(x) {
		return refuseWith(agreement.CodeNotOpen, "another document of that version was signed")
	}
	if err := d.note(h, x.View, noteSettled, digest, "", nil); err != nil {
		return err
	}
	return d.relist(engagement)
}

// BlockKey implements [Owner]. It works while the vault is locked.
func (v ownerView) BlockKey(_ context.Context, key, why string) error {
	return v.d.block(key, why, journal.KindSoWKeyBlocked)
}

// UnblockKey implements [Owner].
func (v ownerView) UnblockKey(_ context.Context, key string) error {
	return v.d.block(key, "", journal.KindSoWKeyUnblocked)
}

func (d *Desk) block(key, why string, kind journal.Kind) error {
	if key == "" || len(key) > 128 || len(why) > 1024 {
		return refuse(CodeMalformed)
	}
	if err := d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		if d.led.state.SoWBlocked(key) == (kind == journal.KindSoWKeyBlocked) {
			return nil
		}
		a, err := b.add(kind, journal.SoWKeyBlocked{Key: key})
		if err != nil {
			return err
		}
		a.write = func(tx *store.Tx) error {
			if kind == journal.KindSoWKeyUnblocked {
				return tx.DropSoWFact("", factBlocked, key)
			}
			return tx.PutSoWFact(store.SoWFact{Name: factBlocked, Key: key, Value: why, At: b.now})
		}
		return nil
	}}); err != nil {
		return asRefusal(err)
	}
	rows, _, err := d.db().Engagements(store.EngagementQuery{Text: strings.ToLower(key), Limit: 1000})
	if err != nil {
		return asRefusal(err)
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return d.relist(ids...)
}

// BlockedKeys implements [Owner].
func (v ownerView) BlockedKeys() (out []BlockedKey) {
	d := v.d
	if d.db() == nil {
		return nil
	}
	facts, err := d.db().SoWFacts("")
	if err != nil {
		return nil
	}
	for _, f := range facts {
		d.mu.Lock()
		blocked := d.led.state.SoWBlocked(f.Key)
		d.mu.Unlock()
		if f.Name == factBlocked && blocked {
			out = append(out, BlockedKey{Key: f.Key, Why: f.Value, At: f.At})
		}
	}
	slices.SortStableFunc(out, func(a, b BlockedKey) int { return cmp.Compare(b.At, a.At) })
	return out
}

// --- notes and the list

// note adds an entry about what others did, or time, with what goes with it. It works while the vault is locked.
func (d *Desk) note(h *held, x agreement.VersionView, what, sha256, reason string, also func(*store.Tx, int64) error) error {
	return d.noteAs(h, x, what, what, sha256, reason, also)
}

// noteAs is note with another word on the timeline.
func (d *Desk) noteAs(h *held, x agreement.VersionView, what, move, sha256, reason string, also func(*store.Tx, int64) error) error {
	by := "them"
	if what == "lapsed" {
		by = "time"
	} else if what == noteSettled || what == "handle" || what == "problem" {
		by = "us"
	}
	return d.noteBy(h, x, what, move, by, sha256, reason, also)
}

// noteBy is noteAs with who did it: "us", "them" or "time".
func (d *Desk) noteBy(h *held, x agreement.VersionView, what, move, by, sha256, reason string, also func(*store.Tx, int64) error) error {
	err := d.do(&op{build: func(b *batch) error {
		hash := ""
		if sha256 != "" {
			hash = "0x" + sha256
		}
		a, err := b.add(journal.KindSoWNoted, journal.SoWNoted{Engagement: h.ID, Version: max(x.Version, 1), DocumentSHA256: "0x" + x.Digest, What: what, SHA256: hash, Reason: reason})
		if err != nil {
			return err
		}
		if what == noteSettled {
			body := a.entry.Decoded().(journal.SoWNoted)
			a.applied = func() { d.led.settle(body) }
		}
		a.write = func(tx *store.Tx) error {
			if err := tx.AddSoWMove(store.SoWMove{Engagement: h.ID, At: b.now, Version: x.Version, What: move, By: by, Seq: a.entry.Seq}); err != nil {
				return err
			}
			if also != nil {
				if err := also(tx, b.now); err != nil {
					return err
				}
			}
			return tx.MarkEngagement(h.ID)
		}
		return nil
	}})
	if err != nil {
		return asRefusal(err)
	}
	return nil
}

// relist writes the rows of the list anew.
func (d *Desk) relist(ids ...string) error {
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		h, err := d.held(id)
		if err != nil {
			return asRefusal(err)
		}
		row := h.Listed()
		if err := d.db().Do(func(tx *store.Tx) error { return tx.PutEngagement(row) }); err != nil {
			return refuse(CodeStoreFailed)
		}
		d.waits(row)
	}
	d.changed()
	return nil
}

// relistAll has every row made anew, at the next look.
func (d *Desk) relistAll() error {
	if err := d.db().Do(func(tx *store.Tx) error { return tx.MarkEngagement("") }); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.changed()
	return nil
}

// freshen makes the rows anew that time has changed, and notes what lapsed and what silence has escalated. It blocks on the disk.
func (d *Desk) freshen(limit int) error {
	db := d.db()
	if db == nil || db.Mode() != store.ModeReadWrite {
		return nil
	}
	rows, err := db.EngagementsAgain(d.clock.Now(), limit)
	if err != nil {
		return err
	}
	for _, row := range rows {
		h, err := d.held(row.ID)
		if err != nil {
			return err
		}
		for _, x := range h.Docs {
			if x.View.Outcome == "lapsed" && x.Closed == "" {
				if err := d.note(h, x.View, "lapsed", "", "amendment_lapsed", nil); err != nil {
					return err
				}
			}
		}
		for _, r := range h.Escalated() {
			keep := func(tx *store.Tx, _ int64) error { return tx.PutSoWRecord(r) }
			if err := d.noteBy(h, h.Newest(), "problem", "problem "+r.Answer, "time", r.SHA256, r.Answer, keep); err != nil {
				return err
			}
		}
		if err := d.relist(row.ID); err != nil {
			return err
		}
	}
	return nil
}
