package fakedesk

import (
	"time"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/derive/jcs"
)

// Now is the time of the sample: 4 November 2026, 09:43 UTC.
var Now = time.Date(2026, 11, 4, 9, 43, 20, 0, time.UTC)

// Ids of the sample's clients.
const (
	SupportSender = "c_00000000000000c1"
	BuyingDesk    = "c_00000000000000c2"
	OldHelper     = "c_00000000000000c3"
	TravelDesk    = "c_00000000000000c4"
)

func ago(d time.Duration) int64 { return Now.Add(-d).UnixMilli() }

func ptr[T any](v T) *T { return &v }

const (
	supportAddress = "0x7c1e09a45b2d8836e1f0b7a2c4d95e6391f3d0ce"
	supportText    = `{"actionIndex":0,"body":"Your replacement leaves the warehouse today. Tracking follows by 18:00.","operation":"send-message","resource":"thread:customer-123","type":"support.message"}`
)

// Empty is a folder without a vault.
func Empty() *Desk {
	return &Desk{
		Stat:   approvals.Status{State: approvals.StateNone, Socket: "/run/user/1000/vault/agent.sock", Folder: "/home/owner/.local/share/vault"},
		Chosen: approvals.Settings{Theme: "system", TextScale: 100, IdleMinutes: 15, Notifications: true},
		Sheets: map[string]approvals.Sheet{},
	}
}

// Fresh is a vault that was just made: one domain, no agent, words put off.
func Fresh() *Desk {
	d := Empty()
	d.Stat.State = approvals.StateOpen
	d.Stat.IdleMS = 15 * 60000
	d.Stat.WordsDue = true
	d.Stat.Entries, d.Stat.Covered = 3, 3
	d.Stat.Public = keys.Public{
		Vault: "5b1f0c9a7e2d4836a1c0d95e6391f3d0", Instance: "c7710e58ab12de34f6049a8b04fe9ab2", Generation: 1,
		Protection: keys.ProtectKeyringAndPassphrase,
		OwnerKey:   "UCPY6WISQ2M4YB3K5ZJ7N6T4XH2LDVEA3RQWU5S7GKPOIFMBQEP6E3MS",
		LogKey:     "UDM2XHGR4T6V2KQ3J5W7L6NYBZPAEC4DFSUIOM7HXRGTVK5QK63QGV2Z",
		AnchorKept: "sealed+keyring",
	}
	d.Doms = []approvals.DomainView{{
		Hash: "0xd2b917a80b1fe2a94c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80917a2e", ID: "my-agents", Namespace: "personal", Kind: "general",
		Address: "0x91f3d0ce7c1e09a45b2d8836e1f0b7a2c4d95e63", Fingerprint: "D2B9 17A8 · 0B1F E2A9", CreatedAt: ago(2 * time.Minute),
	}}
	d.Items = []approvals.Item{{ID: "words", Kind: approvals.ItemWords, Since: ago(2 * time.Minute), Merged: 1}}
	d.Log = []approvals.Event{
		event(3, ago(2*time.Minute), "domain.created", "", "domain_id", "my-agents"),
		event(2, ago(2*time.Minute), "vault.unlocked", "", "protection", "keyring-and-passphrase"),
		event(1, ago(2*time.Minute), "vault.created", ""),
	}
	return d
}

func event(seq uint64, at int64, kind, agent string, fields ...string) approvals.Event {
	hashes := []string{"3fd07a1c", "77a2e310", "c0d91b4f", "18ef6a02", "5b3370d9", "a41c88e7", "02d6f5b1", "e8109c3d", "9f5b2c60", "6ac0d713", "d2b917a8", "30fa6e95"}
	e := approvals.Event{Seq: seq, At: at, Kind: kind, Agent: agent, Covered: true,
		Hash: "0x" + hashes[seq%uint64(len(hashes))] + "4b2d8836e1f0b7a2c4d95e6391f3d0ce7c1e09a45b2d8836e1f0b7a2"}
	for i := 0; i+1 < len(fields); i += 2 {
		e.Fields = append(e.Fields, approvals.EventField{Name: fields[i], Value: fields[i+1]})
	}
	return e
}

// Busy is a vault in use: three requests wait.
func Busy() *Desk {
	d := Fresh()
	d.Stat.WordsDue, d.Stat.Public.WordsShown = false, true
	d.Stat.Entries, d.Stat.Covered, d.Stat.CheckedAt, d.Stat.Checked, d.Stat.Waiting = 1284, 1284, ago(4*time.Minute), 1282, 3
	d.Report = approvals.LogReport{Entries: 1284, OK: true, Anchor: "keyring"}
	d.Doms = []approvals.DomainView{{
		Hash: "0x4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80917a2ed2b917a80b1fe2a9", ID: "support-ops", Namespace: "example", Kind: "communication",
		Address: "0x1f0b7a2c4d95e6391f3d0ce7c1e09a45b2d8836e", Fingerprint: "4C5D 6E7F · 8091 A2B3", CreatedAt: ago(34 * 24 * time.Hour), Signatures: 212,
	}, d.Doms[0]}
	d.Doms[1].CreatedAt, d.Doms[1].Signatures = ago(12*24*time.Hour), 9
	d.Items = []approvals.Item{
		{ID: "a1", Kind: approvals.ItemAction, Agent: "support-sender", Operation: "send-message", Resource: "thread:customer-123", Since: ago(2 * time.Minute), Until: Now.Add(8 * time.Minute).UnixMilli(), Merged: 4, Next: true},
		{ID: "p1", Kind: approvals.ItemPairing, Since: ago(40 * time.Second), Merged: 1},
		{ID: "a2", Kind: approvals.ItemAction, Agent: "buying-desk", Operation: "place-order", Resource: "supplier:millrace", Since: ago(12 * time.Second), Merged: 1},
	}
	d.Agents = []approvals.ClientView{
		{
			ID: SupportSender, Name: "support-sender", Claimed: "support-sender 2.1", Executable: "/usr/bin/node", UserID: 1000, PairedAt: ago(34 * 24 * time.Hour), LastSeen: ago(time.Minute), Connected: true, Signatures: 212, Declined: 3,
			Sessions: []approvals.SessionView{{ID: "a41d", LastUsed: ago(time.Minute)}},
			Grants: []approvals.GrantView{
				{ID: "g1", Client: SupportSender, Operation: "send-message", Resources: []string{"channel:support"}, Uses: 10, Used: 3, NotAfter: Now.Add(14 * time.Hour).UnixMilli(), MadeAt: ago(10 * time.Hour), State: "active", By: "click"},
				{ID: "g2", Client: SupportSender, Operation: "close-thread", Resources: []string{"channel:support"}, Uses: 5, Used: 5, NotAfter: ago(time.Hour), MadeAt: ago(30 * time.Hour), State: "spent", By: "click"},
			},
		},
		{ID: BuyingDesk, Name: "buying-desk", Claimed: "Buying Desk Agent", Executable: "/opt/buying/bin/agent", UserID: 1000, PairedAt: ago(20 * 24 * time.Hour), LastSeen: ago(31 * time.Minute), Signatures: 9, Declined: 1},
		{ID: OldHelper, Name: "old-helper", Claimed: "admin\u202etool", Executable: "/opt/helper", UserID: 1000, PairedAt: ago(40 * 24 * time.Hour), Ended: "blocked"},
	}
	day := func(h, m, s int) int64 { return time.Date(2026, 11, 4, h, m, s, 0, time.UTC).UnixMilli() }
	yesterday := func(h, m, s int) int64 { return day(h, m, s) - 86400000 }
	d.Log = []approvals.Event{
		event(1284, day(9, 41, 7), "action.signed", "support-sender", "request", "q-88", "session", "a41d", "by", "grant", "grant", "g1", "digest", "0x3fd07a1cd2b917a80b1fe2a94c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f", "address", supportAddress, "use", "3"),
		event(1283, day(9, 12, 33), "action.signed", "buying-desk", "by", "click", "address", "0x2b8d4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d", "use", "9"),
		event(1282, day(9, 12, 20), "request.seen", "buying-desk"),
		event(1281, day(8, 57, 20), "request.answered", "buying-desk", "outcome", "declined"),
		event(1280, day(8, 56, 2), "request.answered", "buying-desk", "outcome", "refused", "reason", "envelope_expired"),
		event(1279, day(8, 31, 15), "grant.made", "support-sender", "uses", "10", "by", "click"),
		event(1278, day(8, 29, 44), "vault.unlocked", "", "protection", "keyring-and-passphrase"),
		event(1277, yesterday(18, 2, 10), "vault.locked", "", "reason", "idle"),
		event(1276, yesterday(17, 20, 36), "client.ended", "old-helper", "reason", "blocked"),
		event(1275, yesterday(16, 48, 9), "client.paired", "old-helper", "name", "old-helper"),
	}
	d.Sheets["a1"] = Action(supportText)
	d.Sheets["p1"] = Pairing()
	d.Sheets["a2"] = Hostile()
	return d
}

// Action is a sheet for one message, with the given text to be signed.
func Action(text string) approvals.Sheet {
	payload, err := jcs.Parse([]byte(text), jcs.AgentEnvelope)
	if err != nil {
		payload = jcs.Value{}
	}
	return approvals.Sheet{
		ID: "a1", Digest: "0xc7710e58ab12de34f6049a8b1f0c9a7e2d4836a1c0d95e6391f3d0ce04fe9ab2", Kind: approvals.ItemAction,
		Agent: "support-sender", Client: SupportSender, PairedAt: ago(34 * 24 * time.Hour), Session: "a41d", Since: ago(2 * time.Minute), Until: Now.Add(8 * time.Minute).UnixMilli(), Merged: 1, Frame: "clicks",
		Action: &approvals.ActionSheet{
			Domain:  approvals.DomainView{ID: "support-ops", Namespace: "example", Kind: "communication"},
			Address: supportAddress, AgentID: "support-bot", Operation: "send-message", Resources: []string{"channel:support", "thread:customer-123"},
			NotAfter: ptr(time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC).UnixMilli()), DecayMode: "BOTH", MaxUses: ptr(int64(25)), Used: 3,
			EnvelopeHash: "0x0db384ab4836a1c0d95e6391f3d0ce04fe9ab2c7710e58ab12de34f62be232d1",
			PayloadType:  "support.message", Payload: payload, PayloadText: text,
			PayloadDigest: "0xff91e3164c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80917a2ed2b917a8",
			Grantable:     true, GrantUses: 10, GrantUsesMax: 10, GrantUntil: Now.Add(24 * time.Hour).UnixMilli(), GrantUntilMax: Now.Add(24 * time.Hour).UnixMilli(),
		},
	}
}

// Hostile is a sheet whose text tries what can be tried.
func Hostile() approvals.Sheet {
	s := Action("{\"actionIndex\":0,\"note\":\"Pay to M\u0456llrace\u200bWeaving, \u202e10.042,3 XCR" + spaces(412) + "HL-2291\",\"operation\":\"read-order\",\"resource\":\"supplier:millrace\",\"who\":\"\u0634\u0631\u0643\u0629 \u0627\u0644\u0646\u0642\u0644 24\"}")
	s.ID, s.Agent, s.Client, s.Session = "a2", "buying-desk", BuyingDesk, "b\u202e7"
	s.Action.Operation, s.Action.Resources = "place-order", []string{"supplier:millrace"}
	s.Action.PayloadType = ""
	s.Action.Grantable = false
	s.Action.NotAfter = nil
	s.Action.Warnings = []string{"no_end"}
	s.Action.Contradictions = []approvals.Contradiction{{Member: "operation", Payload: "read-order", Envelope: "place-order"}}
	return s
}

func spaces(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = ' '
	}
	return string(b)
}

// Pairing is a sheet for a program that asks to pair.
func Pairing() approvals.Sheet {
	return approvals.Sheet{
		ID: "p1", Digest: "0x7f2c91a04e58d3b60c17aa9265f12bd87f2c91a04e58d3b60c17aa9265f12bd8", Kind: approvals.ItemPairing, Since: ago(40 * time.Second), Merged: 1, Frame: "clicks",
		Pairing: &approvals.PairingSheet{
			Digits:  "480791",
			Claimed: "invoice-helper",
			Peer:    approvals.Peer{UserID: 1000, ProcessID: 51877, Executable: "/opt/invoice-helper/bin/helper", Parents: []string{"/usr/bin/bash", "/usr/bin/gnome-terminal"}},
		},
	}
}
