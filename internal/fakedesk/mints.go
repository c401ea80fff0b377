package fakedesk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vault/approvals"
)

// Minting is what a fake desk says about mint delegation. Calls that change something are noted and change nothing
// else; those of a ceremony end as every ceremony of the desk.
type Minting struct {
	List      []approvals.DelegateView
	Minted    []approvals.MintView // newest first
	Steps     []approvals.MintUse
	Plan      approvals.DelegatePlan
	PlanErr   error
	ImportErr error
	Issued    []approvals.DelegatePlan // what IssueDelegate was called with
	Reads     int                      // how often Mints and MintUses were called
	MintsErr  error
}

func (d *Desk) minting() Minting { d.mu.Lock(); defer d.mu.Unlock(); return d.Minting }

func (d *Desk) read() Minting {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Minting.Reads++
	return d.Minting
}

// Delegates implements [approvals.Owner].
func (d *Desk) Delegates() []approvals.DelegateView { return slices.Clone(d.minting().List) }

// PlanDelegate implements [approvals.Owner].
func (d *Desk) PlanDelegate(f approvals.DelegateForm) (approvals.DelegatePlan, error) {
	m := d.minting()
	p := m.Plan
	if p.Hash == "" {
		p = d.planOf(f)
	}
	p.WhileAway = f.WhileAway
	return p, m.PlanErr
}

// IssueDelegate implements [approvals.Owner].
func (d *Desk) IssueDelegate(_ context.Context, p approvals.DelegatePlan) (approvals.Outcome, error) {
	out, err := d.confirmed("issue delegate " + p.Name + " " + p.Hash)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Minting.Issued = append(d.Minting.Issued, p)
	return out, err
}

// ImportDelegate implements [approvals.Owner].
func (d *Desk) ImportDelegate(_ context.Context, raw []byte) (approvals.DelegateView, error) {
	m := d.minting()
	if m.ImportErr != nil {
		return approvals.DelegateView{}, m.ImportErr
	}
	if err := d.call("import delegate " + string(raw)); err != nil {
		return approvals.DelegateView{}, err
	}
	i := slices.IndexFunc(m.List, func(v approvals.DelegateView) bool { return v.State == approvals.DelegateSuspended })
	if i < 0 {
		return approvals.DelegateView{State: approvals.DelegateSuspended}, nil
	}
	return m.List[i], nil
}

// AdmitDelegate implements [approvals.Owner].
func (d *Desk) AdmitDelegate(_ context.Context, hash string, mints int64, name string) (approvals.Outcome, error) {
	return d.confirmed(strings.TrimSpace(fmt.Sprint("admit delegate ", hash, " ", mints, " ", name)))
}

// PauseDelegate implements [approvals.Owner].
func (d *Desk) PauseDelegate(_ context.Context, hash string) error {
	return d.call("pause delegate " + hash)
}

// ResumeDelegate implements [approvals.Owner].
func (d *Desk) ResumeDelegate(_ context.Context, hash string) (approvals.Outcome, error) {
	return d.confirmed("resume delegate " + hash)
}

// RevokeDelegate implements [approvals.Owner].
func (d *Desk) RevokeDelegate(_ context.Context, hash string) ([]approvals.MintView, error) {
	if err := d.call("revoke delegate " + hash); err != nil {
		return nil, err
	}
	var out []approvals.MintView
	for _, m := range d.minting().Minted {
		if m.Delegate == hash && m.Live {
			out = append(out, m)
		}
	}
	return out, nil
}

// Mints implements [approvals.Owner].
func (d *Desk) Mints(f approvals.MintFilter) ([]approvals.MintView, error) {
	m := d.read()
	if m.MintsErr != nil {
		return nil, m.MintsErr
	}
	var out []approvals.MintView
	for _, m := range m.Minted {
		if (f.Delegate == "" || f.Delegate == m.Delegate) && (f.Before == 0 || m.Seq < f.Before) && (f.Limit == 0 || len(out) < f.Limit) {
			out = append(out, m)
		}
	}
	return out, nil
}

// MintRecord implements [approvals.Owner].
func (d *Desk) MintRecord(context.Context, string) ([]byte, error) { return []byte("{}"), nil }

// MintUses implements [approvals.Owner].
func (d *Desk) MintUses(delegate string, _, _ int64) ([]approvals.MintUse, error) {
	m := d.read()
	if len(m.List) == 0 || m.List[0].Hash != delegate {
		return nil, nil // the steps are those of the first
	}
	return slices.Clone(m.Steps), nil
}

// DelegateBytes implements [approvals.Owner].
func (d *Desk) DelegateBytes(string) ([]byte, error) { return []byte("{}"), nil }

// ExportMint implements [approvals.Owner].
func (d *Desk) ExportMint(_ context.Context, domain, recipient string) ([]byte, approvals.Outcome, error) {
	out, err := d.confirmed("export mint material " + domain + " " + recipient)
	return []byte("sealed"), out, err
}
