package fakedesk

import (
	"time"

	"vault/approvals"
	"vault/approvals/permit"
)

// Enrolled is a vault in use with two passkeys and a rule.
func Enrolled() *Desk {
	d := Busy()
	d.enrolled()
	return d
}

// DecidingByPasskey is Deciding with two passkeys, and one asked for everything of one client.
func DecidingByPasskey() *Desk {
	d := Deciding()
	d.enrolled()
	return d
}

func (d *Desk) enrolled() {
	d.Stat.Public.Passkeys = 2
	d.Keys = []approvals.PasskeyView{
		{ID: "p_0d5e6f708192a3b4", Kind: "security_key", RPID: "vault-5b1f0c9a.localhost", EnrolledAt: ago(31 * 24 * time.Hour), LastUse: ago(35 * time.Minute), Digits: "480791"},
		{ID: "p_91f3d0ce7c1e09a4", Kind: "phone", BackupEligible: true, RPID: "vault-5b1f0c9a.localhost", EnrolledAt: ago(30 * 24 * time.Hour), Digits: "022658"},
	}
	d.Rules = permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeMoment}, {Scope: permit.ScopeAction, Client: BuyingDesk, Operation: "place-order"}}}
	hour := func(h int) int64 { return time.Date(2026, 11, 4, h, 0, 0, 0, time.UTC).UnixMilli() }
	d.Clicks = []approvals.ClickRate{
		{Client: SupportSender, Agent: "support-sender", Hour: hour(9), Clicks: 14, Passkeys: 1},
		{Client: BuyingDesk, Agent: "buying-desk", Hour: hour(9), Passkeys: 2},
		{Client: SupportSender, Agent: "support-sender", Hour: hour(8), Clicks: 3},
	}
	for id, s := range d.Sheets {
		s.Frame = ""
		d.Sheets[id] = s
	}
}

// Ceremony is a ceremony for an Inbox row, or for what a CeremonyView may be for besides, in a state.
func Ceremony(what string, state approvals.CeremonyState) *approvals.CeremonyView {
	v := &approvals.CeremonyView{For: what, State: state, Until: Now.Add(102 * time.Second).UnixMilli()}
	switch state {
	case approvals.CeremonyNoBrowser:
		v.Link = "http://vault-5b1f0c9a.localhost:38611/#9ab2c7710e58ab12de34f6049a8b04fe"
		v.Forward = "ssh -N -L 38611:localhost:38611 owner@192.0.2.9"
	case approvals.CeremonyCompare:
		v.Digits = "733105"
	case approvals.CeremonyMine:
		v.Digits = "915042"
		v.Passkey = &approvals.PasskeyView{Kind: "security_key", RPID: "vault-5b1f0c9a.localhost", Digits: v.Digits}
	}
	return v
}
