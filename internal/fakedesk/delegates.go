package fakedesk

import (
	"fmt"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/derive/envelope"
)

// Addresses of the sample's bots.
const (
	SupportBot = "0x91f3d0ce7c1e09a45b2d8836e1f0b7a2c4d95e63"
	LabelsBot  = "0x2b8d4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d"
)

func hashOf(seed int) string {
	return fmt.Sprintf("0x%08x4b2d8836e1f0b7a2c4d95e6391f3d0ce7c1e09a45b2d8836e1f0b7a2", uint32(seed)*2654435761)
}

func dayAt(month time.Month, d, h, m int) int64 {
	return time.Date(2026, month, d, h, m, 0, 0, time.UTC).UnixMilli()
}

// Delegating is a vault in use with delegates in every state, of which the first is support-bot's.
func Delegating() *Desk {
	d := Busy()
	d.enrolled()
	domain := d.Doms[0]
	end := ptr(time.Date(2026, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli())
	bounded := func(operation, resource, bot string, keys, uses int64, until *int64) approvals.DelegateBounds {
		b := approvals.DelegateBounds{
			Domain: domain, Operations: []string{operation}, Resources: []string{resource}, BotPolicy: envelope.BotSet, Bots: []string{bot},
			IndexMax: 9999, MaxMints: keys, MaxUsesPerAction: uses, NotBefore: ptr(dayAt(10, 1, 0, 0)), NotAfter: until,
		}
		return b
	}
	view := func(n int, name string, b approvals.DelegateBounds, state approvals.DelegateState, minted, uses int64) approvals.DelegateView {
		return approvals.DelegateView{
			Hash: hashOf(n), Name: name, DelegateID: fmt.Sprintf("ae-delegate-%016x", n*7919), Bounds: b, State: state, Origin: "issued", BoundsHeld: true,
			MadeAt: dayAt(10, 1, 9, 12), Mints: b.MaxMints, Minted: minted, MintsLeft: b.MaxMints - minted, Uses: uses, LastUse: ago(3 * time.Minute),
		}
	}
	revoked := view(4, "stock-probe", bounded("read-stock", "sku:*", LabelsBot, 50, 5, end), approvals.DelegateEnded, 11, 30)
	revoked.Ended = "revoked"
	elsewhere := view(5, "", bounded("send-message", "thread:*", SupportBot, 500, 20, end), approvals.DelegateSuspended, 0, 0)
	elsewhere.Origin, elsewhere.MadeAt, elsewhere.Mints, elsewhere.MintsLeft = "imported", ago(20*time.Minute), 0, 0
	elsewhere.Warnings = []bounds.Warning{{Code: "id_not_by_rule"}}
	elsewhere.Bounds.Legitimacy = &approvals.LegitimacyView{LegitimacyID: "ae-legit-00aa11bb22cc33dd", Required: true}
	d.Minting.List = []approvals.DelegateView{
		view(1, "support-bot", bounded("send-message", "thread:*", SupportBot, 100, 10, end), approvals.DelegateActive, 37, 212),
		view(2, "labels-bot", bounded("print-label", "depot:north", LabelsBot, 50, 1, end), approvals.DelegateActive, 46, 46),
		view(3, "returns-bot", bounded("open-return", "order:*", SupportBot, 100, 5, end), approvals.DelegatePaused, 12, 30),
		elsewhere, revoked,
	}
	mint := func(n int, at int64, address, resource string, used, most int64) approvals.MintView {
		return approvals.MintView{
			Mint: hashOf(100 + n), Delegate: hashOf(1), Seq: uint64(1290 - n), At: at, Bot: SupportBot, Client: "c1", Agent: "support-sender", AgentID: "support-bot",
			Operation: "send-message", Resources: []string{resource}, ActionIndex: int64(n), NotBefore: ptr(at), NotAfter: ptr(at + 24*60*60*1000),
			Nonce: fmt.Sprintf("customer-run-%d", 900-n), MaxUses: most, Used: used, LastUse: at + 11*60*1000, Address: address, Live: used < most && Now.UnixMilli()-at < 24*60*60*1000,
		}
	}
	d.Minting.Minted = []approvals.MintView{
		mint(0, dayAt(11, 4, 9, 40), "0x91c02b8d4c5d6e7f8091a2b3c4d5e6f77be23f04", "thread:customer-123", 3, 10),
		mint(1, dayAt(11, 4, 9, 31), "0x2ad72b8d4c5d6e7f8091a2b3c4d5e6f710c9e8b5", "thread:customer-098", 10, 10),
		mint(2, dayAt(11, 4, 8, 2), "0xe6042b8d4c5d6e7f8091a2b3c4d5e6f7d5a1937c", "thread:customer-117", 1, 10),
		mint(3, dayAt(11, 3, 16, 20), "0x0fb32b8d4c5d6e7f8091a2b3c4d5e6f766e8d2a1", "thread:customer-054", 7, 10),
		mint(4, dayAt(11, 2, 11, 5), "0x5cd92b8d4c5d6e7f8091a2b3c4d5e6f7f07b3e16", "thread:customer-041", 4, 10),
	}
	for n := 5; n < 37; n++ {
		d.Minting.Minted = append(d.Minting.Minted, mint(n, dayAt(11, 2, 8, 0)-int64(n)*7*3600000, fmt.Sprintf("0x%04x2b8d4c5d6e7f8091a2b3c4d5e6f7%08x", n*1777+4096, uint32(n)*2654435761), fmt.Sprintf("thread:customer-%03d", 40-n), int64(n%10)+1, 10))
	}
	for n := range 12 {
		m := mint(50+n, dayAt(11, 1, 8, 0)-int64(n)*9*3600000, fmt.Sprintf("0x%04x2b8d4c5d6e7f8091a2b3c4d5e6f7%08x", n*2777+4096, uint32(n+9)*2654435761), fmt.Sprintf("order:HL-%04d", 2291-n), int64(n%5)+1, 5)
		m.Delegate, m.Operation = hashOf(3), "open-return"
		d.Minting.Minted = append(d.Minting.Minted, m)
	}
	for i, uses := range []int64{6, 10, 9, 14, 0, 0, 16, 19, 14, 22, 12, 0, 2, 31} {
		if uses > 0 {
			d.Minting.Steps = append(d.Minting.Steps, approvals.MintUse{From: dayAt(10, 22, 0, 0) + int64(i)*86400000, Mints: uses / 6, Uses: uses})
		}
	}
	at := func(n int) int64 { return Now.Add(2 * time.Duration(n-60) * time.Second).UnixMilli() }
	d.Stat.Entries, d.Stat.Covered, d.Report.Entries = 1292, 1292, 1292
	d.Log = append([]approvals.Event{
		event(1292, at(58), "delegate.paused", "", "delegate", hashOf(3)),
		event(1291, at(57), "minted.signed", "support-sender", "delegate", hashOf(1), "mint", hashOf(100), "address", d.Minting.Minted[0].Address, "use", "3"),
		event(1290, at(56), "capability.minted", "support-sender", "delegate", hashOf(1), "bot", SupportBot, "mint", hashOf(100), "number", "37"),
		event(1289, at(30), "delegate.ended", "", "delegate", hashOf(4), "reason", "revoked"),
		event(1288, at(20), "delegate.imported", "", "delegate", hashOf(5)),
		event(1287, at(10), "delegate.issued", "", "delegate", hashOf(2), "mints", "50"),
	}, d.Log...)
	return d
}

// planOf gives a form the shape of a plan, with the remarks that pictures need.
func (d *Desk) planOf(f approvals.DelegateForm) approvals.DelegatePlan {
	b := approvals.DelegateBounds{
		Operations: f.Operations, Resources: f.Resources, BotPolicy: f.BotPolicy, Bots: f.Bots, IndexMin: f.IndexMin, IndexMax: f.IndexMax,
		MaxMints: f.MaxMints, MaxUsesPerAction: f.MaxUsesPerAction, NotBefore: f.NotBefore, NotAfter: f.NotAfter,
		Legitimacy: f.Legitimacy, AvatarAddress: f.AvatarAddress,
	}
	for _, domain := range d.Domains() {
		if domain.Hash == f.DomainHash {
			b.Domain = domain
		}
	}
	p := approvals.DelegatePlan{Name: f.Name, Hash: hashOf(77), Bounds: b, WhileAway: f.WhileAway, PlannedAt: Now.UnixMilli(), Body: []byte("{}")}
	warn := func(on bool, code, subject string) {
		if on {
			p.Warnings = append(p.Warnings, bounds.Warning{Code: code, Subject: subject})
		}
	}
	warn(f.BotPolicy == envelope.BotAny, "any_bot", "")
	for _, r := range f.Resources {
		warn(r == "*", "any_resource", "*")
		warn(strings.Count(r, ":") > 1 && strings.HasSuffix(r, ":*"), "wildcard_never_matches", r)
	}
	warn(f.NotAfter == nil, "no_end", "")
	warn(f.MaxMints > 1000, "many_mints", "")
	return p
}
