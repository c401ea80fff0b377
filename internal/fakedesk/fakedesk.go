// Package fakedesk is an [approvals.Owner] without a vault: it shows what it was given
// and remembers what it was asked. It is for tests and pictures of the window
// and is linked into neither program.
package fakedesk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/approvals/permit"
)

// Desk answers from its fields. Change them through Set, which tells the watchers.
type Desk struct {
	mu       sync.Mutex
	watchers map[int]func()
	next     int

	Stat    approvals.Status
	Items   []approvals.Item
	Sheets  map[string]approvals.Sheet
	Doms    []approvals.DomainView
	Agents  []approvals.ClientView
	Log     []approvals.Event
	Report  approvals.LogReport
	Chosen  approvals.Settings
	Outcome approvals.Outcome // answer of Decide and of what a passkey confirms; zero is "done" or "declined"
	Err     error             // answer of everything that can fail

	Ended []approvals.AnsweredMoment // answer of Answered
	Rates []approvals.MomentRate

	Asking *approvals.CeremonyView // answer of Ceremony; nil is none
	Keys   []approvals.PasskeyView
	Rules  permit.Policy
	Clicks []approvals.ClickRate

	Further []approvals.SocketView    // answer of Sockets
	Hung    []approvals.SuspendedView // answer of Suspended
	Minting Minting
	SoW     Engaged

	Decisions []approvals.Decision // what Decide was called with
	Shut      []string             // what Closed was called with
	Calls     []string             // names of other calls that change something
}

var _ approvals.Owner = (*Desk)(nil)

// Set changes the desk and tells the watchers.
func (d *Desk) Set(f func(*Desk)) {
	d.mu.Lock()
	f(d)
	var tell []func()
	for _, w := range d.watchers {
		tell = append(tell, w)
	}
	d.mu.Unlock()
	for _, w := range tell {
		w()
	}
}

func (d *Desk) call(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Calls = append(d.Calls, name)
	return d.Err
}

// Watch implements [approvals.Owner].
func (d *Desk) Watch(f func()) func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watchers == nil {
		d.watchers = map[int]func(){}
	}
	n := d.next
	d.next++
	d.watchers[n] = f
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, n)
	}
}

// Status implements [approvals.Owner].
func (d *Desk) Status() approvals.Status { d.mu.Lock(); defer d.mu.Unlock(); return d.Stat }

// Create implements [approvals.Owner].
func (d *Desk) Create(_ context.Context, c approvals.Creation) error {
	return d.call("create " + string(c.Protection))
}

// Unlock implements [approvals.Owner].
func (d *Desk) Unlock(context.Context, keys.Surface) error { return d.call("unlock") }

// Restore implements [approvals.Owner].
func (d *Desk) Restore(_ context.Context, p keys.Protection, _ keys.Surface) error {
	return d.call("restore " + string(p))
}

// RestoreBackup implements [approvals.Owner].
func (d *Desk) RestoreBackup(_ context.Context, file string, p keys.Protection, _ keys.Surface) error {
	return d.call("restore backup " + file + " " + string(p))
}

// NewInstance implements [approvals.Owner].
func (d *Desk) NewInstance(context.Context) error { return d.call("new instance") }

// Lock implements [approvals.Owner].
func (d *Desk) Lock(_ context.Context, reason string) error { return d.call("lock " + reason) }

// Touch implements [approvals.Owner].
func (d *Desk) Touch() {}

// SetAway implements [approvals.Owner].
func (d *Desk) SetAway(bool) {}

// ShowWords implements [approvals.Owner].
func (d *Desk) ShowWords(context.Context, keys.Surface) error { return d.call("show words") }

// ChangeProtection implements [approvals.Owner].
func (d *Desk) ChangeProtection(_ context.Context, p keys.Protection, _ keys.Surface) error {
	return d.call("protection " + string(p))
}

// Backup implements [approvals.Owner].
func (d *Desk) Backup(_ context.Context, file string, _ keys.Surface) error {
	return d.call("backup " + file)
}

// Inbox implements [approvals.Owner].
func (d *Desk) Inbox() []approvals.Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Items)
}

// Open implements [approvals.Owner].
func (d *Desk) Open(_ context.Context, id string) (approvals.Sheet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.Sheets[id]
	if !ok {
		return approvals.Sheet{}, errors.New("no such request")
	}
	return s, d.Err
}

// Look implements [approvals.Owner].
func (d *Desk) Look(ctx context.Context, id string) (approvals.Sheet, error) { return d.Open(ctx, id) }

// Opened implements [approvals.Owner]. This desk does not keep it.
func (d *Desk) Opened() string { return "" }

// Closed implements [approvals.Owner].
func (d *Desk) Closed(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Shut = append(d.Shut, id)
}

// Decide implements [approvals.Owner].
func (d *Desk) Decide(_ context.Context, c approvals.Decision) (approvals.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Decisions = append(d.Decisions, c)
	out := d.Outcome
	if out.Code == "" {
		out.Code = "done"
		if c.Verdict == approvals.VerdictDecline || c.Verdict == approvals.VerdictDeclineBlock {
			out.Code = "declined"
		}
	}
	if s, ok := d.Sheets[c.ID]; ok && s.Moment != nil && out.Answered == nil && d.Err == nil && (out.Code == "done" || out.Code == "declined") {
		out.Answered = answered(s, c)
	}
	if d.Err == nil && (out.Code == "done" || out.Code == "declined") {
		d.Items = slices.DeleteFunc(d.Items, func(i approvals.Item) bool { return i.ID == c.ID })
		if len(d.Items) > 0 {
			d.Items[0].Next = true
		}
	}
	return out, d.Err
}

// answered is what was decided on a moment.
func answered(s approvals.Sheet, c approvals.Decision) *approvals.AnsweredMoment {
	e := s.Moment.Sheet.Envelope.Content()
	a := &approvals.AnsweredMoment{Moment: s.Moment.Moment, Agent: s.Agent, Session: s.Session, Stem: e.Stem, Option: -1, EnvelopeDigest: s.Moment.EnvelopeDigest, SheetDigest: s.Digest, At: Now.UnixMilli()}
	switch c.Verdict {
	case approvals.VerdictOption:
		a.Choice, a.Option, a.Label = moment.ChoseOption, c.Option, e.Options[c.Option].Label
	case approvals.VerdictAnswer:
		a.Choice, a.Answer = moment.ChoseAnswer, c.Answer
	case approvals.VerdictQuestion:
		a.Choice = moment.ChoseQuestion
	default:
		a.Choice = moment.ChoseDecline
	}
	return a
}

// DeclineAll implements [approvals.Owner].
func (d *Desk) DeclineAll(_ context.Context, c string) error { return d.call("decline all " + c) }

// Ask implements [approvals.Owner]. The question is added to the sheet; Reply answers it.
func (d *Desk) Ask(_ context.Context, id, line, text string) error {
	err := d.call("ask " + id + " " + line + " " + text)
	if err == nil {
		d.Set(func(d *Desk) {
			d.asks(id, func(list []approvals.AskView) []approvals.AskView {
				return append(list, approvals.AskView{ID: fmt.Sprint("q_", len(list)), Line: line, Question: text, At: Now.UnixMilli()})
			})
		})
	}
	return err
}

// Reply answers every open question of a moment.
func (d *Desk) Reply(id, text string) {
	d.Set(func(d *Desk) {
		d.asks(id, func(list []approvals.AskView) []approvals.AskView {
			for i := range list {
				if list[i].AnswerAt == 0 {
					list[i].Answer, list[i].AnswerAt = text, Now.UnixMilli()
				}
			}
			return list
		})
	})
}

// asks replaces the questions of a sheet; a sheet that was given away keeps its own.
func (d *Desk) asks(id string, f func([]approvals.AskView) []approvals.AskView) {
	s := d.Sheets[id]
	m := *s.Moment
	m.Asks = f(slices.Clone(m.Asks))
	s.Moment = &m
	d.Sheets[id] = s
}

// Dismiss implements [approvals.Owner].
func (d *Desk) Dismiss(_ context.Context, id string) error {
	err := d.call("dismiss " + id)
	if err == nil {
		d.Set(func(d *Desk) {
			d.Items = slices.DeleteFunc(d.Items, func(i approvals.Item) bool { return i.ID == id })
		})
	}
	return err
}

// Answered implements [approvals.Owner]. It pages by limit only.
func (d *Desk) Answered(_ int64, limit int) ([]approvals.AnsweredMoment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Ended[:min(limit, len(d.Ended))]), nil
}

// MomentRates implements [approvals.Owner].
func (d *Desk) MomentRates() ([]approvals.MomentRate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Rates), nil
}

// Domains implements [approvals.Owner].
func (d *Desk) Domains() []approvals.DomainView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Doms)
}

// CreateDomain implements [approvals.Owner].
func (d *Desk) CreateDomain(_ context.Context, f approvals.DomainForm) (approvals.DomainView, error) {
	return approvals.DomainView{}, d.call("create domain " + f.Namespace + "/" + f.DomainID + "/" + f.Kind)
}

// Clients implements [approvals.Owner].
func (d *Desk) Clients() []approvals.ClientView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Agents)
}

// RenameClient implements [approvals.Owner].
func (d *Desk) RenameClient(_ context.Context, id, name string) error {
	return d.call("rename " + id + " " + name)
}

// RevokeClient implements [approvals.Owner].
func (d *Desk) RevokeClient(_ context.Context, id string) error { return d.call("revoke " + id) }

// Unblock implements [approvals.Owner].
func (d *Desk) Unblock(_ context.Context, id string) error { return d.call("unblock " + id) }

// EndGrant implements [approvals.Owner].
func (d *Desk) EndGrant(_ context.Context, id string) error { return d.call("end grant " + id) }

// Events implements [approvals.Owner]. It selects by text and page only.
func (d *Desk) Events(f approvals.EventFilter) ([]approvals.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []approvals.Event
	for _, e := range d.Log {
		if f.Before > 0 && e.Seq >= f.Before || f.Text != "" && f.Text != e.Agent {
			continue
		}
		if out = append(out, e); f.Limit > 0 && len(out) == f.Limit {
			break
		}
	}
	return out, nil
}

// VerifyLog implements [approvals.Owner].
func (d *Desk) VerifyLog(context.Context) (approvals.LogReport, error) {
	err := d.call("verify")
	return d.Report, err
}

// ExportLog implements [approvals.Owner].
func (d *Desk) ExportLog(_ context.Context, w io.Writer, format string) error {
	if _, err := io.WriteString(w, format); err != nil {
		return err
	}
	return d.call("export " + format)
}

// Receipt implements [approvals.Owner].
func (d *Desk) Receipt(context.Context, uint64) ([]byte, error) {
	return []byte("receipt"), d.call("receipt")
}

// Settings implements [approvals.Owner].
func (d *Desk) Settings() approvals.Settings { d.mu.Lock(); defer d.mu.Unlock(); return d.Chosen }

// SaveSettings implements [approvals.Owner].
func (d *Desk) SaveSettings(_ context.Context, s approvals.Settings) error {
	err := d.call("save settings")
	if err == nil {
		d.Set(func(d *Desk) { d.Chosen = s })
	}
	return err
}

// Ceremony implements [approvals.Owner].
func (d *Desk) Ceremony() (approvals.CeremonyView, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Asking == nil {
		return approvals.CeremonyView{}, false
	}
	return *d.Asking, true
}

// Compared implements [approvals.Owner].
func (d *Desk) Compared(_ context.Context, same bool) error {
	return d.call(fmt.Sprint("compared ", same))
}

// CancelCeremony implements [approvals.Owner].
func (d *Desk) CancelCeremony() {
	d.Set(func(d *Desk) { d.Asking, d.Calls = nil, append(d.Calls, "cancel ceremony") })
}

// Passkeys implements [approvals.Owner].
func (d *Desk) Passkeys() []approvals.PasskeyView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Keys)
}

// confirmed is a call that ends with the set outcome.
func (d *Desk) confirmed(what string) (approvals.Outcome, error) {
	err := d.call(what)
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.Outcome
	if out.Code == "" {
		out.Code = "done"
	}
	return out, err
}

// EnrolPasskey implements [approvals.Owner].
func (d *Desk) EnrolPasskey(_ context.Context, e approvals.Enrolment) (approvals.Outcome, error) {
	return d.confirmed(fmt.Sprint("enrol passkey, other name ", e.OtherName))
}

// RemovePasskey implements [approvals.Owner].
func (d *Desk) RemovePasskey(_ context.Context, id string) (approvals.Outcome, error) {
	return d.confirmed("remove passkey " + id)
}

// Policy implements [approvals.Owner].
func (d *Desk) Policy() permit.Policy { d.mu.Lock(); defer d.mu.Unlock(); return d.Rules }

// SetPolicy implements [approvals.Owner].
func (d *Desk) SetPolicy(_ context.Context, p permit.Policy) (approvals.Outcome, error) {
	out, err := d.confirmed("set policy")
	if err == nil && out.Code == "done" {
		d.Set(func(d *Desk) { d.Rules = p })
	}
	return out, err
}

// ExportCard implements [approvals.Owner].
func (d *Desk) ExportCard(context.Context) ([]byte, approvals.Outcome, error) {
	out, err := d.confirmed("export card")
	return []byte("card"), out, err
}

// ClickRates implements [approvals.Owner].
func (d *Desk) ClickRates(int64) ([]approvals.ClickRate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.Clicks), nil
}
