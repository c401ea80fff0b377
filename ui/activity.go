package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/reasons"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

const eventsAtOnce = 60

// activityPage shows the log.
type activityPage struct {
	group  string
	search *parts.Field
	open   uint64 // entry whose fields are shown, or 0
	older  []uint64
	report *approvals.LogReport
}

// What is shown of the log, by group.
var logGroups = []struct {
	name, group string
}{{"All", ""}, {"Decisions", "decision"}, {"Signatures", "signature"}, {"Agents", "agent"}, {"Keys and locks", "keys"}}

func (p *activityPage) init(u *UI) {
	u.filter = approvals.EventFilter{Limit: eventsAtOnce}
	p.search = parts.NewField("", "Agent, address, digest", 100)
	p.search.Watch(u)
	p.search.OnChanged = func(string) { p.older = nil; p.ask(u) }
}

// ask loads the entries that the page is set to.
func (p *activityPage) ask(u *UI) {
	f := approvals.EventFilter{Limit: eventsAtOnce, Text: strings.TrimSpace(p.search.Text)}
	if n := len(p.older); n > 0 {
		f.Before = p.older[n-1]
	}
	u.mu.Lock()
	u.filter = f
	u.mu.Unlock()
	u.changed()
}

func (p *activityPage) view(u *UI) fyne.CanvasObject {
	verify := u.button(parts.Plain, "check", "Verify now", func() { p.verify(u) }).Small()
	buttons := []fyne.CanvasObject{verify}
	if u.opts.Export != nil {
		buttons = append(buttons, u.button(parts.Plain, "export", "Export as JSON lines", func() { p.export(u, "jsonl") }).Small(),
			u.button(parts.Plain, "export", "Export as CSV", func() { p.export(u, "csv") }).Small())
	}
	out := []fyne.CanvasObject{head("Activity", "", buttons...), parts.Space(0, 14), p.verdict(u), parts.Space(0, 14)}
	var filters []fyne.CanvasObject
	for _, g := range logGroups {
		filters = append(filters, u.pill(g.name, p.group == g.group, func() { p.group = g.group; u.rebuild() }))
	}
	out = append(out, parts.Row(8, append(filters, parts.Spring(), parts.Size(220, 34, p.search))...))
	if u.state.EventErr != "" {
		out = append(out, parts.Space(0, 14), parts.Banner(parts.Alarm, "error", "The log could not be read", "Nothing was changed. "+safe(u.state.EventErr), nil))
	}
	if p.group == "decision" {
		if table := u.clickTable(); table != nil {
			out = append(out, parts.Space(0, 14), section("What you approved in the last 24 hours, by click and by passkey"), parts.Space(0, 6), table)
		}
		if table := u.rates(""); table != nil {
			out = append(out, parts.Space(0, 14), section("How agents ask for decisions, since they were paired"), parts.Space(0, 6), table)
		}
	}
	var last string
	rows := 0
	for _, e := range u.state.Events {
		if _, _, group := kindWords(e.Kind); p.group != "" && group != p.group {
			continue
		}
		rows++
		if d := dayOf(u, e.At); d != last {
			last = d
			out = append(out, parts.Space(0, 14), section(d), parts.Space(0, 6))
		}
		out = append(out, parts.Hair(), p.entry(u, e))
		if p.open == e.Seq {
			out = append(out, p.details(u, e))
		}
	}
	switch {
	case rows > 0:
		out = append(out, parts.Hair())
	case u.state.EventErr == "":
		out = append(out, parts.Space(0, 18), parts.Empty("activity", "No entry is shown", "Everything the vault does is written here. Choose another filter, or clear the search."))
	}
	var paging []fyne.CanvasObject
	if len(p.older) > 0 {
		paging = append(paging, u.button(parts.Plain, "", "Newer entries", func() { p.older = p.older[:len(p.older)-1]; p.ask(u) }).Small())
	}
	if n := len(u.state.Events); n == eventsAtOnce {
		before := u.state.Events[n-1].Seq
		paging = append(paging, u.button(parts.Plain, "", "Older entries", func() { p.older = append(p.older, before); p.ask(u) }).Small())
	}
	if len(paging) > 0 {
		out = append(out, parts.Space(0, 14), parts.Row(8, append(paging, parts.Spring())...))
	}
	return parts.Column(0, out...)
}

func dayOf(u *UI, ms int64) string {
	t, now := u.at(ms), u.opts.Now().In(u.opts.Zone)
	switch day(t) {
	case day(now):
		return "Today, " + day(t)
	case day(now.AddDate(0, 0, -1)):
		return "Yesterday, " + day(t)
	}
	return day(t)
}

// verdict is what is known about the log as a whole.
func (p *activityPage) verdict(u *UI) fyne.CanvasObject {
	st := u.state.Status
	if r := p.report; r != nil && !r.OK {
		what := "Entry " + parts.Number(r.FirstWrong) + " was changed after it was written"
		switch r.Code {
		case "cut", "head_missing":
			what = "The log was cut after entry " + parts.Number(r.Entries)
		case "evidence_missing":
			what = "The passkey’s confirmation of entry " + parts.Number(r.FirstWrong) + " is missing"
		case "evidence_edited":
			what = "What stands beside entry " + parts.Number(r.FirstWrong) + " is not its confirmation"
		case "reordered", "forked":
			what = "The log was put together anew at entry " + parts.Number(r.FirstWrong)
		}
		return parts.Banner(parts.Alarm, "error", what, "Signing has stopped. Export what is here before you do anything else.", nil)
	}
	if st.CheckedAt == 0 {
		return parts.Banner(parts.Calm, "info", plural(st.Entries, "entry", "entries")+", not verified since the vault was started", "Verify reads every entry and compares it with the signed head.", nil)
	}
	more := "Checked " + u.ago(st.CheckedAt) + ", to the signed head."
	if p.report != nil {
		switch p.report.Anchor {
		case "keyring":
			more = "Checked " + u.ago(st.CheckedAt) + ", to the head kept in the keyring."
		case "none":
			more += " No keyring keeps the head here: a cut since your last receipt would not show."
		}
	}
	if st.Entries > st.Checked {
		more += " Since then " + plural(st.Entries-st.Checked, "more was", "more were") + " written."
	}
	if st.Entries > st.Covered {
		more += " " + plural(st.Entries-st.Covered, "entry is", "entries are") + " not yet covered by a signed head."
	}
	return parts.Sunk(look.Well, 6, parts.Pad(12, 14, 12, 14, parts.Row(12, look.NewIcon("proven", 16, look.Ink),
		parts.Grow(look.Para(look.Run{Text: plural(st.Checked, "entry", "entries") + ", unbroken. ", Style: look.Strong, Color: look.Ink}, look.Run{Text: more, Style: look.Body, Color: look.Ink2})))))
}

// entry is one line of the log; tapping it opens its fields.
func (p *activityPage) entry(u *UI, e approvals.Event) fyne.CanvasObject {
	icon, what, more := u.eventWords(e)
	agent := e.Agent
	if agent == "" {
		agent = "Vault"
	}
	hash := look.Text(look.MonoS.Box(18), look.Ink3, plainShort(e.Hash))
	hash.Align = fyne.TextAlignTrailing
	row := parts.NewTap(parts.Pad(9, 0, 9, 0, parts.Cells(12, []float32{44, 62, 16, 130, 0, 150, 68},
		look.Text(look.MonoS.Box(18), look.Ink3, fmt.Sprint(e.Seq)),
		look.Text(look.Small, look.Ink2, u.at(e.At).Format("15:04:05")),
		parts.Middle(18, look.NewIcon(icon, 13, look.Ink)),
		look.Text(look.Small, look.Ink, safe(agent)),
		look.Para(what...),
		look.Text(look.Small, look.Ink2, more),
		hash)), func() {
		u.touch()
		if p.open == e.Seq {
			p.open = 0
		} else {
			p.open = e.Seq
		}
		u.rebuild()
	})
	row.Watch(u)
	return row
}

func plainShort(hash string) string {
	h := strings.TrimPrefix(hash, "0x")
	return h[:min(8, len(h))]
}

// details are the fields of an entry as they were written.
func (p *activityPage) details(u *UI, e approvals.Event) fyne.CanvasObject {
	var list []fyne.CanvasObject
	for _, f := range e.Fields {
		list = append(list, parts.Cells(8, []float32{140, 0}, hostile.Inline(look.Caption.Box(20), look.Ink3, f.Name), hostile.Inline(look.MonoS.Box(20), look.Ink, f.Value)))
	}
	list = append(list, parts.Cells(8, []float32{140, 0}, look.Text(look.Caption.Box(20), look.Ink3, "Hash of the entry"), hostile.Inline(look.MonoS.Box(20), look.Ink, e.Hash)))
	covered := "Covered by a signed head."
	if !e.Covered {
		covered = "Not yet covered by a signed head."
	}
	line := []fyne.CanvasObject{parts.Grow(look.Text(look.Caption, look.Ink3, covered))}
	if u.opts.Export != nil {
		line = append(line, u.button(parts.Plain, "export", "Export the receipt", func() { p.receipt(u, e.Seq) }).Small())
	}
	list = append(list, parts.Space(0, 6), parts.Row(8, line...))
	return parts.Pad(0, 0, 12, 56, parts.Sunk(look.Well, 6, parts.Pad(10, 14, 10, 14, parts.Column(2, list...))))
}

func (p *activityPage) verify(u *UI) {
	var report approvals.LogReport
	u.run("verify", func(ctx context.Context) error {
		r, err := u.owner.VerifyLog(ctx)
		report = r
		return err
	}, func(err error) {
		if err == nil {
			p.report = &report
		}
	})
}

func (p *activityPage) export(u *UI, format string) {
	var path string
	u.run("", func(ctx context.Context) error {
		w, at, err := u.opts.Export("vault-log." + format)
		if err != nil {
			return err
		}
		path = at
		if err := u.owner.ExportLog(ctx, w, format); err != nil {
			w.Close()
			return err
		}
		return w.Close()
	}, func(err error) {
		if err == nil {
			u.banner = &banner{parts.Calm, "export", "The log was exported", "It is in " + safe(path) + ". It names your agents and what was signed."}
		}
	})
}

func (p *activityPage) receipt(u *UI, seq uint64) {
	u.export(fmt.Sprintf("vault-receipt-%d.json", seq), "The receipt was exported", "Others can check it with “vault verify”, without this vault.",
		func(ctx context.Context) ([]byte, error) { return u.owner.Receipt(ctx, seq) })
}

// field returns a field of an entry by name.
func field(e approvals.Event, name string) string {
	for _, f := range e.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// eventWords says in words of ours what an entry is, with values of it as text from outside.
func (u *UI) eventWords(e approvals.Event) (icon string, what []look.Run, more string) {
	words, icon, _ := kindWords(e.Kind)
	own := func(t string) look.Run { return look.Run{Text: t, Style: look.Small, Color: look.Ink} }
	value := func(t string) []look.Run { return hostile.Runs(look.Small, look.Ink, t) }
	by := func() string {
		switch field(e, "by") {
		case "grant":
			return "under a grant"
		case "passkey":
			return "by passkey"
		case "click":
			return "by click"
		}
		return ""
	}
	if icon, what, more, ok := u.delegateEvent(e); ok {
		return icon, what, more
	}
	switch journal.Kind(e.Kind) {
	case journal.KindActionSigned:
		runs := []look.Run{own(words)}
		if a := field(e, "address"); a != "" {
			runs = []look.Run{own("Signed as "), {Text: short(a), Style: look.MonoS.Box(18), Color: look.Ink}}
			if n := field(e, "use"); n != "" {
				runs = append(append(runs, own(", use ")), value(n)...)
			}
		}
		return icon, runs, by()
	case journal.KindRequestAnswered:
		switch field(e, "outcome") {
		case "declined":
			return "decline", []look.Run{own("You declined")}, "nothing was signed"
		case "expired":
			return "clock", []look.Run{own("A request ended unanswered")}, "nothing was decided"
		case "cancelled", "withdrawn":
			return "back", []look.Run{own("It took its request back")}, ""
		}
		more := "nothing was shown"
		if n, err := strconv.ParseUint(field(e, "folded"), 10, 64); err == nil && n > 0 {
			more = plural(n, "other was refused before it", "others were refused before it")
		}
		if why, ok := reasons.Refused(field(e, "reason")); ok {
			return "cross", []look.Run{own("Refused: " + why)}, more
		}
		return "cross", append([]look.Run{own("Refused: ")}, value(orUnknown(field(e, "reason")))...), more
	case journal.KindMomentResolved:
		switch field(e, "choice") {
		case "option":
			if a, ok := u.answeredAt(e.Seq); ok && a.Label != "" {
				runs := append([]look.Run{own("You selected “")}, listed(look.Small, look.Ink, a.Label)...)
				return "check", append(runs, own("”")), by()
			}
			n, _ := strconv.Atoi(field(e, "option"))
			return "check", []look.Run{own(fmt.Sprintf("You selected option %d", n+1))}, by()
		case "answer":
			return "pencil", []look.Run{own("You answered in your own words")}, by()
		case "question":
			return "reopen", []look.Run{own("You rejected the question")}, by()
		}
		return icon, []look.Run{own(words)}, by()
	case journal.KindMomentSeen:
		runs := []look.Run{own(words)}
		switch field(e, "hatches_off") {
		case "free_text":
			runs = append(runs, own("; the agent turned off: answer in my own words"))
		case "dialogue":
			runs = append(runs, own("; the agent turned off: this is the wrong question"))
		case "both":
			runs = append(runs, own("; the agent turned off both other ways"))
		}
		return icon, runs, ""
	case journal.KindMomentDeclined:
		return icon, []look.Run{own("You declined a decision")}, "nothing was authorised"
	case journal.KindMomentNoted:
		return icon, []look.Run{own("Could not be shown as a decision. " + reasons.Note(field(e, "reason")))}, "nothing was decided"
	case journal.KindMomentMissed:
		return icon, []look.Run{own("Selected, not performed: it came with another action")}, "nothing was signed"
	case journal.KindMomentEnded:
		if why, ok := reasons.Ended(field(e, "reason")); ok {
			return icon, []look.Run{own("A decision ended unanswered: " + why)}, "nothing was decided"
		}
		return icon, append([]look.Run{own("A decision ended unanswered: ")}, value(orUnknown(field(e, "reason")))...), "nothing was decided"
	case journal.KindDomainCreated:
		return icon, append([]look.Run{own("Made the domain ")}, value(field(e, "domain_id"))...), ""
	case journal.KindClientPaired:
		if field(e, "replaces") != "" {
			return "pencil", append([]look.Run{own("Renamed to ")}, value(field(e, "name"))...), ""
		}
		return icon, append([]look.Run{own("Paired as ")}, value(field(e, "name"))...), "number compared"
	case journal.KindClientEnded:
		if field(e, "reason") == "blocked" {
			return "block", []look.Run{own("Blocked")}, ""
		}
		return icon, []look.Run{own("Revoked")}, ""
	case journal.KindSocketAdded:
		return icon, append([]look.Run{own("Opened a socket for user id ")}, value(field(e, "user_id"))...), "by passkey"
	case journal.KindSocketRemoved:
		return icon, append([]look.Run{own("Closed the socket for user id ")}, value(field(e, "user_id"))...), ""
	case journal.KindReadmitted:
		return icon, append(append([]look.Run{own("Admitted an envelope again, for ")}, value(field(e, "uses"))...), own(" uses")), "by passkey"
	case journal.KindGrantMade:
		return icon, append(append([]look.Run{own("Granted ")}, value(field(e, "uses"))...), own(" without asking")), by()
	case journal.KindLocked:
		reason := map[string]string{"asked": "by you", "idle": "without use", "suspend": "the computer slept", "quit": "the vault was closed", "store": "the log could not be written", "ended": "the key process ended"}[field(e, "reason")]
		return icon, []look.Run{own("Locked; the key process ended")}, reason
	case journal.KindUnlocked, journal.KindCreated:
		return icon, []look.Run{own(words)}, protectionShort(field(e, "protection"))
	}
	return icon, []look.Run{own(words)}, ""
}

func protectionShort(p string) string {
	for _, x := range protections {
		if string(x.value) == p {
			return x.short
		}
	}
	return ""
}
