package main

import (
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui/parts"
)

// issuing fills the form for a new delegate.
func (s *stage) issuing() {
	s.row("Delegates")
	s.press("Issue")
	s.fill("support-bot", "support-bot")
	s.fill("send-message", "send-message")
	s.fill("thread:*", "thread:*")
	s.press("These addresses")
	s.fill("0x", fakedesk.SupportBot)
	s.fill("20", "100")
	s.fill("4 Dec", "31 Dec 2026")
	s.fill("thread:customer", "thread:customer-123, thread:a:b, thread, invoice:7")
}

func none() *fakedesk.Desk {
	d := fakedesk.Delegating()
	d.Minting = fakedesk.Minting{}
	return d
}

func letOut() *fakedesk.Desk {
	d := fakedesk.Delegating()
	for i := range d.Minting.List {
		d.Minting.List[i].BoundsHeld, d.Minting.List[i].ExportedAt = false, fakedesk.Now.UnixMilli()-3600000
	}
	return d
}

// wideOpen is a delegate from elsewhere that warns of everything, with text that tries what can be tried.
func wideOpen() *fakedesk.Desk {
	d := fakedesk.Delegating()
	v := &d.Minting.List[0]
	v.Name, v.Origin = "", "imported"
	v.Bounds.Operations = []string{"send-message", "pay\u202eyap", "a\u200bb"}
	v.Bounds.Resources = []string{"*", "ledger:main:*", "thread:" + strings.Repeat("x", 160)}
	v.Bounds.BotPolicy, v.Bounds.Bots, v.Bounds.NotAfter = "any-signed-bot", nil, nil
	v.DelegateID = "ae-delegate-\u202e1234"
	v.Warnings = []bounds.Warning{{Code: "any_bot"}, {Code: "any_resource", Subject: "*"}, {Code: "no_end"}, {Code: "wildcard_never_matches", Subject: "ledger:main:*"}, {Code: "id_not_by_rule"}}
	return d
}

func delegateViews() []view {
	window, tall := fyne.NewSize(1180, 740), fyne.NewSize(1180, 1180)
	at := func(name string) func(*stage) {
		return func(s *stage) {
			s.row("Delegates")
			s.row(name)
		}
	}
	return []view{
		{name: "delegates", desk: fakedesk.Delegating, size: window, do: page("Delegates")},
		{name: "delegates-empty", desk: none, size: window, do: page("Delegates")},
		{name: "delegates-key", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Delegates")
			s.row("customer-123")
		}},
		{name: "delegates-bounds", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 960), do: func(s *stage) {
			s.row("Delegates")
			s.press("Show its bounds")
		}},
		{name: "delegates-paused", desk: fakedesk.Delegating, size: window, do: at("returns-bot")},
		{name: "delegates-resume", desk: fakedesk.Delegating, size: window, do: func(s *stage) {
			at("returns-bot")(s)
			s.press("Resume")
			s.take("Resume returns-bot")
		}},
		{name: "delegates-revoke", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 860), do: func(s *stage) {
			s.row("Delegates")
			s.press("Revoke")
			s.take("Revoke support-bot")
		}},
		{name: "delegates-revoked", desk: fakedesk.Delegating, size: window, do: func(s *stage) {
			s.row("Delegates")
			s.press("Revoke")
			s.take("Revoke support-bot")
			s.wait()
			s.press("Confirm")
			s.desk.Set(func(d *fakedesk.Desk) {
				d.Minting.List[0].State, d.Minting.List[0].Ended = approvals.DelegateEnded, "revoked"
			})
		}},
		{name: "delegates-admit", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 860), do: func(s *stage) {
			at("not admitted")(s)
			s.press("Admit")
			for _, f := range uiwalk.All[*parts.Field](s.root()) {
				f.SetText("120")
			}
			s.take("Admit it for 120 keys")
		}},
		{name: "delegates-bring", desk: fakedesk.Delegating, size: window, do: func(s *stage) {
			s.row("Delegates")
			s.press("Bring one in")
		}},
		{name: "delegates-issue", desk: fakedesk.Delegating, size: tall, do: func(s *stage) { s.issuing() }},
		{name: "delegates-issue-740", desk: fakedesk.Delegating, size: window, do: func(s *stage) { s.issuing() }},
		{name: "delegates-issue-wide", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 1340), do: func(s *stage) {
			s.issuing()
			s.fill("thread:*", "*, ledger:main:*")
			s.press("Any bot that signs")
			s.press("No end")
			s.fill("100", "5,000")
		}},
		{name: "delegates-issue-review", desk: fakedesk.Delegating, size: window, do: func(s *stage) {
			s.issuing()
			s.press("Look at it whole")
			s.take("Issue it for support-bot")
		}},
		{name: "delegates-issue-passkey", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 860), do: func(s *stage) {
			s.issuing()
			s.press("Look at it whole")
			s.take("Issue it for support-bot")
			s.wait()
			s.asks("delegate", approvals.CeremonyAsking)
		}},
		{name: "delegates-export", desk: fakedesk.Delegating, size: fyne.NewSize(1180, 900), do: func(s *stage) {
			s.row("Delegates")
			s.press("Let mint material out")
			s.fill("age1", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p")
			s.take("Let the mint material of support-ops out")
		}},
		{name: "delegates-let-out", desk: letOut, size: window, do: page("Delegates")},
		{name: "delegates-hostile", desk: wideOpen, size: fyne.NewSize(1180, 1100), do: func(s *stage) {
			s.row("Delegates")
			s.press("Show its bounds")
		}},
		{name: "delegates-activity", desk: fakedesk.Delegating, size: window, do: page("Activity")},
		{name: "delegates-900", desk: fakedesk.Delegating, size: fyne.NewSize(900, 740), do: page("Delegates")},
		{name: "delegates-200", desk: fakedesk.Delegating, size: window, scale: 200, do: page("Delegates")},
		{name: "delegates-issue-200", desk: fakedesk.Delegating, size: window, scale: 200, do: func(s *stage) { s.issuing() }},
	}
}
