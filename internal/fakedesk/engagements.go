package fakedesk

import (
	"context"
	"slices"
	"strings"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
)

// Engaged is what a desk shows of Agent SoW and what it was asked.
type Engaged struct {
	Keys      []agreement.SeatView
	Rows      []agreement.Row // answer of Engagements, filtered and paged
	Views     map[string]agreement.View
	Copies    map[string][]byte               // by SHA-256
	Compared  map[string]agreement.Comparison // by old and new digest, joined by a space
	Brought   agreement.Imported              // answer of Import, CheckSoW and DraftSoW
	Completed agreement.View                  // answer of Complete
	Bundle    []byte                          // answer of ExportSoW
	Due       []agreement.Reminder            // answer of Reminders
	Blocked   []approvals.BlockedKey          // answer of BlockedKeys
	Deployed  map[string]sow.Deployment       // by engagement, "" everywhere
	Texts     map[string][]byte               // of contract languages, by SHA-256; BringLanguage adds

	Imports [][]byte // what Import was called with
	Pins    []approvals.PinAsk
	Formed  []approvals.Formation
	Signed  []approvals.Signing
	Acts    []approvals.ActAsk
	Allowed []agreement.Preauthorisation
}

// Seats implements [approvals.Owner].
func (d *Desk) Seats() []agreement.SeatView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.SoW.Keys)
}

// OpenSeat implements [approvals.Owner].
func (d *Desk) OpenSeat(_ context.Context, name string) (agreement.SeatView, error) {
	err := d.call("open seat " + name)
	d.mu.Lock()
	defer d.mu.Unlock()
	seat := agreement.SeatView{Index: int64(len(d.SoW.Keys)), Name: name}
	if err == nil {
		d.SoW.Keys = append(d.SoW.Keys, seat)
	}
	return seat, err
}

// Engagements implements [approvals.Owner].
func (d *Desk) Engagements(f approvals.EngagementFilter) (approvals.EngagementPage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Err != nil {
		return approvals.EngagementPage{}, d.Err
	}
	limit := f.Limit
	if limit < 1 || limit > approvals.MaxPage {
		limit = approvals.MaxPage
	}
	var page approvals.EngagementPage
	started := f.After == ""
	for _, r := range d.SoW.Rows {
		if !fits(r, f) {
			continue
		}
		page.Total++
		switch {
		case !started:
			started = r.ID == f.After
		case len(page.Rows) < limit:
			page.Rows = append(page.Rows, r)
		default:
			page.Next = page.Rows[limit-1].ID
		}
	}
	return page, nil
}

func fits(r agreement.Row, f approvals.EngagementFilter) bool {
	all := strings.ToLower(strings.Join(append([]string{r.SoW, r.Provider.Owner, r.Provider.Handle, r.Client.Owner, r.Client.Handle}, r.Offerings...), "\n"))
	return (f.Text == "" || strings.Contains(all, strings.ToLower(f.Text))) && (f.Kind == "" || f.Kind == r.Kind) &&
		(len(f.States) == 0 || slices.Contains(f.States, r.State)) && (f.Role == "" || f.Role == r.Role) && (!f.Waiting || len(r.Waiting) > 0)
}

// Engagement implements [approvals.Owner].
func (d *Desk) Engagement(id string) (agreement.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.SoW.Views[id]
	switch {
	case d.Err != nil:
		return v, d.Err
	case !ok:
		return v, &approvals.Refusal{Code: "unknown_engagement", Message: "There is no such engagement."}
	}
	return v, nil
}

// SoWCopy implements [approvals.Owner].
func (d *Desk) SoWCopy(_, sha256 string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	raw, ok := d.SoW.Copies[sha256]
	if !ok {
		return nil, &approvals.Refusal{Code: "gone", Message: "There is no such copy."}
	}
	return slices.Clone(raw), d.Err
}

// CompareSoW implements [approvals.Owner].
func (d *Desk) CompareSoW(_, old, new string) (agreement.Comparison, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.SoW.Compared[old+" "+new], d.Err
}

// Import implements [approvals.Owner].
func (d *Desk) Import(_ context.Context, raw []byte, kind agreement.RecordKind, from agreement.Source) (agreement.Imported, error) {
	err := d.call("import " + string(kind) + " " + from.Kind)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.SoW.Imports = append(d.SoW.Imports, slices.Clone(raw))
	return d.SoW.Brought, err
}

// CheckSoW implements [approvals.Owner].
func (d *Desk) CheckSoW([]byte) (agreement.Imported, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.SoW.Brought, d.Err
}

// PinKey implements [approvals.Owner].
func (d *Desk) PinKey(_ context.Context, p approvals.PinAsk) error {
	d.mu.Lock()
	d.SoW.Pins = append(d.SoW.Pins, p)
	d.mu.Unlock()
	return d.call("pin")
}

// ConfirmHandle implements [approvals.Owner].
func (d *Desk) ConfirmHandle(_ context.Context, engagement, handle, agent string) error {
	return d.call("confirm handle " + engagement + " " + handle + " " + agent)
}

// SettleConflict implements [approvals.Owner].
func (d *Desk) SettleConflict(_ context.Context, engagement, digest string) error {
	return d.call("settle conflict " + engagement + " " + digest)
}

// BlockKey implements [approvals.Owner].
func (d *Desk) BlockKey(_ context.Context, key, _ string) error { return d.call("block key " + key) }

// UnblockKey implements [approvals.Owner].
func (d *Desk) UnblockKey(_ context.Context, key string) error { return d.call("unblock key " + key) }

// BlockedKeys implements [approvals.Owner].
func (d *Desk) BlockedKeys() []approvals.BlockedKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.SoW.Blocked)
}

// Complete implements [approvals.Owner].
func (d *Desk) Complete(_ context.Context, f approvals.Formation) (agreement.View, error) {
	d.mu.Lock()
	d.SoW.Formed = append(d.SoW.Formed, f)
	v := d.SoW.Completed
	d.mu.Unlock()
	return v, d.call("complete " + f.Offer)
}

// DraftSoW implements [approvals.Owner].
func (d *Desk) DraftSoW(context.Context, []byte) (agreement.Imported, error) {
	err := d.call("draft")
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.SoW.Brought, err
}

// SignSoW implements [approvals.Owner].
func (d *Desk) SignSoW(_ context.Context, s approvals.Signing) (approvals.Outcome, error) {
	d.mu.Lock()
	d.SoW.Signed = append(d.SoW.Signed, s)
	d.mu.Unlock()
	return d.confirmed("sign sow " + s.Move)
}

// ActOn implements [approvals.Owner].
func (d *Desk) ActOn(_ context.Context, a approvals.ActAsk) (approvals.Outcome, error) {
	d.mu.Lock()
	d.SoW.Acts = append(d.SoW.Acts, a)
	d.mu.Unlock()
	return d.confirmed("act " + string(a.Kind))
}

// DeclineSoW implements [approvals.Owner].
func (d *Desk) DeclineSoW(_ context.Context, engagement, digest string) error {
	return d.call("decline sow " + engagement + " " + digest)
}

// AnswerProblem implements [approvals.Owner].
func (d *Desk) AnswerProblem(_ context.Context, _, _, answer string) error {
	return d.call("problem " + answer)
}

// CloseGrant implements [approvals.Owner].
func (d *Desk) CloseGrant(_ context.Context, _, input string, _ bool) error {
	return d.call("close grant " + input)
}

// Preauthorise implements [approvals.Owner].
func (d *Desk) Preauthorise(_ context.Context, p agreement.Preauthorisation) (approvals.Outcome, error) {
	d.mu.Lock()
	d.SoW.Allowed = append(d.SoW.Allowed, p)
	d.mu.Unlock()
	return d.confirmed("preauthorise")
}

// EndPreauthorisation implements [approvals.Owner].
func (d *Desk) EndPreauthorisation(_ context.Context, id string) error {
	return d.call("end preauthorisation " + id)
}

// Deployment implements [approvals.Owner].
func (d *Desk) Deployment(engagement string) (sow.Deployment, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, ok := d.SoW.Deployed[engagement]; ok {
		return v, engagement != ""
	}
	return d.SoW.Deployed[""], false
}

// SetDeployment implements [approvals.Owner].
func (d *Desk) SetDeployment(_ context.Context, engagement string, v *sow.Deployment) error {
	d.mu.Lock()
	if d.SoW.Deployed == nil {
		d.SoW.Deployed = map[string]sow.Deployment{}
	}
	delete(d.SoW.Deployed, engagement)
	if v != nil {
		d.SoW.Deployed[engagement] = *v
	}
	d.mu.Unlock()
	return d.call("deployment " + engagement)
}

// ExportVersion implements [approvals.Owner].
func (d *Desk) ExportVersion(context.Context, string, string) ([]byte, error) {
	err := d.call("export version")
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.SoW.Bundle), err
}

// ExportSoW implements [approvals.Owner].
func (d *Desk) ExportSoW(context.Context, string, string) ([]byte, error) {
	err := d.call("export sow")
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.SoW.Bundle), err
}

// Reminders implements [approvals.Owner].
func (d *Desk) Reminders(until int64, limit int) ([]agreement.Reminder, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []agreement.Reminder
	for _, r := range d.SoW.Due {
		if r.At <= until && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, d.Err
}

// BringLanguage implements [approvals.Owner]: the text is judged by the documents that are shown.
func (d *Desk) BringLanguage(digest string, text []byte) error {
	err := d.call("bring language")
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, raw := range d.SoW.Copies {
		doc, perr := sow.Parse(raw)
		if perr != nil || doc.Digest() != digest || err != nil {
			continue
		}
		if f := doc.CheckLanguageText(text); f != nil {
			return &approvals.Refusal{Code: string(f.Code), Message: f.Message, Remedy: f.Remedy}
		}
		if d.SoW.Texts == nil {
			d.SoW.Texts = map[string][]byte{}
		}
		d.SoW.Texts[sow.LanguageHash(text)] = slices.Clone(text)
		return nil
	}
	if err == nil {
		err = &approvals.Refusal{Code: agreement.CodeNoEngagement, Message: "There is no such document."}
	}
	return err
}

// LanguageText implements [approvals.Owner].
func (d *Desk) LanguageText(sha256 string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.SoW.Texts[sha256]), d.Err
}
