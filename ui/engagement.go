package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/approvals/sow/page/pdf"
	"vault/approvals/sow/units"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// detail is the page of one engagement: what waits, where it stands, every
// version that was kept, and everything that belongs to it.
func (p *engagementsPage) detail(u *UI) fyne.CanvasObject {
	back := u.button(parts.Plain, "back", "Engagements", func() { p.open, p.one, p.asking = "", nil, nil; p.reload(u, true); u.rebuild() }).Small()
	if p.oneErr != nil {
		b := problem(p.oneErr)
		return parts.Column(0, head("Engagement", "", back), parts.Space(0, 14), parts.Banner(b.tone, b.icon, b.what, b.more, nil))
	}
	if p.one == nil {
		return parts.Column(0, head("Engagement", "", back), parts.Space(0, 14), look.Text(look.Body, look.Ink2, "The vault reads it."))
	}
	v := p.one
	title := "Engagement"
	if v.Kind == agreement.KindOffer {
		title = "Offer"
	}
	buttons := []fyne.CanvasObject{back}
	if u.opts.Export != nil {
		buttons = append(buttons, u.button(parts.Plain, "export", "Export the bundle", func() { p.export(u, v.ID) }).Small())
	}
	out := []fyne.CanvasObject{head(title, standing(v.Row), buttons...), parts.Space(0, 14)}
	out = append(out, p.waiting(u, v)...)
	if p.asking != nil {
		out = append(out, p.asking.view(u), parts.Space(0, 16))
	}
	out = append(out, p.facts(u, v), parts.Space(0, 20))
	out = append(out, section("Where it stands"), parts.Space(0, 8), p.timeline(u, v), parts.Space(0, 20))
	out = append(out, section("Every version, kept as it came"), parts.Space(0, 6), p.versions(u, v), parts.Space(0, 20))
	if len(v.Reminders) > 0 {
		out = append(out, section("Becomes due"), parts.Space(0, 6), p.due(u, v.Reminders, false), parts.Space(0, 20))
	}
	if len(v.ToClose) > 0 && given(v.Row) {
		out = append(out, section("Access that stays open, to close by hand"), parts.Space(0, 6), p.toClose(u, v), parts.Space(0, 20))
	}
	if len(v.Disputed) > 0 {
		out = append(out, section("Disputes"), parts.Space(0, 6), p.disputes(u, v), parts.Space(0, 20))
	}
	if len(v.Preauthorisations) > 0 {
		out = append(out, section("Allowed in advance"), parts.Space(0, 6), p.allowed(u, v), parts.Space(0, 20))
	}
	if len(v.Reviews) > 0 {
		out = append(out, section("Reviews, beside what the form checks found"), parts.Space(0, 6), p.reviews(u, v), parts.Space(0, 20))
	}
	if len(v.Records) > 0 {
		out = append(out, section("What was brought in, and acts of yours"), parts.Space(0, 6), p.records(u, v), parts.Space(0, 20))
	}
	out = append(out, p.moves(u, v), parts.Space(0, 20), p.deployed(u, v))
	return parts.Column(0, out...)
}

// waiting is what wants something of the owner, each with one button.
func (p *engagementsPage) waiting(u *UI, v *agreement.View) (out []fyne.CanvasObject) {
	add := func(tone parts.Tone, icon, what, more string, b *parts.Button) {
		out = append(out, parts.Banner(tone, icon, what, more, b), parts.Space(0, 12))
	}
	read := func() *parts.Button {
		return u.button(parts.Primary, "", "Read and decide", func() { u.openContract(v.ID, "", "") })
	}
	for _, w := range v.Waiting {
		switch w {
		case agreement.WaitCountersign, agreement.WaitApprove:
			add(parts.Calm, "sign", opened.Waiting[w], "Nothing is signed until you read it and confirm.", read())
		case agreement.WaitComplete:
			add(parts.Calm, "sign", opened.Waiting[w], "The vault could not complete it by itself; the page says why.", read())
		case agreement.WaitIntent:
			add(parts.Notice, "clock", opened.Waiting[w], "The document asks for the agent’s signature first, then for yours. The agent brings it with its next request.", nil)
		case agreement.WaitConflict:
			add(parts.Alarm, "warning", opened.Waiting[w], "Both are kept, and nothing of that version is signed. Say below which one counts.", nil)
		case agreement.WaitHandle:
			for _, h := range v.Rehomed {
				add(parts.Notice, "warning", "A handle names another key than before", fmt.Sprintf("It was %s and is %s. Nothing is signed until you say that this is right.", short(h.Was), short(h.Is)),
					u.button(parts.Plain, "", "Compare the keys", func() {
						q := newQuestion(u, func() { p.asking = nil; u.rebuild() })
						q.above = parts.Column(6, look.Para(append([]look.Run{{Text: "Handle ", Style: look.Body, Color: look.Ink2}}, hostile.Runs(look.Body, look.Ink, h.Handle)...)...),
							look.Text(look.Mono, look.Ink2, "was "+safe(h.Was)), look.Text(look.Mono, look.Ink, "is  "+safe(h.Is)))
						q.add("The new key is theirs", "You asked them, by another way than this document.", "", func() {
							u.run("", func(ctx context.Context) error { return u.owner.ConfirmHandle(ctx, v.ID, h.Handle, h.Is) }, func(error) { p.asking = nil; p.reload(u, true) })
						})
						p.asking = q
						u.rebuild()
					}))
			}
		default:
			add(parts.Notice, "warning", opened.Waiting[w], "It is listed below.", nil)
		}
	}
	for _, x := range v.Versions {
		if x.Conflict && waits(v, agreement.WaitConflict) {
			out = append(out, parts.Row(8, parts.Grow(look.Text(look.Small, look.Ink2, "Version "+units.Number(x.Version)+", sha256 "+short(x.Digest)+". "+u.broughtBy(x)+".")),
				u.button(parts.Plain, "", "This one counts", func() {
					u.run("", func(ctx context.Context) error { return u.owner.SettleConflict(ctx, v.ID, x.Digest) }, func(error) { p.reload(u, true) })
				}).Small()), parts.Space(0, 8))
		}
	}
	return out
}

// facts are the parties with their keys, and how they are known.
func (p *engagementsPage) facts(u *UI, v *agreement.View) fyne.CanvasObject {
	var boxes []fyne.CanvasObject
	for _, x := range v.Parties {
		role := "Provider, does the work"
		if x.Role == sow.Client {
			role = "Client, pays for it"
		}
		list := []fyne.CanvasObject{look.Text(look.Caption, look.Ink3, role), parts.Space(0, 2), look.Para(hostile.Runs(look.Strong, look.Ink, x.Party.Owner)...)}
		if x.Party.Handle != "" {
			list = append(list, look.Para(hostile.Runs(look.Small, look.Ink2, x.Party.Handle)...))
		}
		known := u.learned(x)
		line := []fyne.CanvasObject{}
		if x.Key != "" {
			line = append(line, parts.Chip("", short(x.Key)))
		} else {
			known = "no key is pinned: nothing can be signed with them"
			line = append(line, look.NewIcon("warning", 12, look.Warn))
		}
		list = append(list, parts.Space(0, 6), parts.Row(8, append(line, parts.Grow(look.Text(look.Caption, look.Ink2, known)))...))
		if x.Blocked {
			list = append(list, parts.Space(0, 4), parts.Note("block", look.Danger, "You blocked this key. Everything of it is refused."))
		}
		if key := x.Key; !x.Ours && key != "" {
			label := "Block…"
			if x.Blocked {
				label = "Unblock…"
			}
			list = append(list, parts.Space(0, 6), parts.Row(0, u.button(parts.Plain, "", label, func() { p.block(u, key, x.Blocked) }).Small(), parts.Spring()))
		}
		if !x.Ours && x.Key == "" {
			for _, key := range x.Claims {
				list = append(list, parts.Space(0, 6), parts.Row(8, parts.Grow(look.Text(look.Small, look.Ink2, "A signature claims "+short(key))), u.button(parts.Plain, "key", "Pin…", func() { p.pin(u, x.Party.Agent, key) }).Small()))
			}
		}
		boxes = append(boxes, parts.Over(look.NewBox(look.Paper, look.Line, 6), parts.Pad(12, 16, 12, 16, parts.Column(0, list...))))
	}
	if len(boxes) == 1 {
		boxes = append(boxes, parts.Over(look.NewBox(look.Paper, look.Line, 6), parts.Pad(12, 16, 12, 16, look.Text(look.Body, look.Ink3, "The other seat is open"))))
	}
	if len(boxes) == 0 {
		return parts.Space(0, 0)
	}
	return parts.Equal(12, boxes...)
}

// pin asks whether a key is theirs.
func (p *engagementsPage) pin(u *UI, agent, key string) {
	q := newQuestion(u, func() { p.asking = nil; u.rebuild() })
	q.above = parts.Column(6, look.Text(look.Body, look.Ink2, "Compare the whole key with what they tell you, by another way than this document: by phone, on their site, on paper."), look.Text(look.Mono, look.Ink, safe(key)))
	learned := func(how string) func() {
		return func() {
			u.run("", func(ctx context.Context) error {
				return u.owner.PinKey(ctx, approvals.PinAsk{Agent: agent, Key: key, Learned: how})
			}, func(err error) {
				p.asking = nil
				if err == nil {
					u.banner = &banner{parts.Calm, "key", "The key is pinned", "From now on only its signature counts for that seat."}
				}
				p.reload(u, true)
			})
		}
	}
	q.add("They told me this key", "You compared all of it.", "", learned("told"))
	q.add("Nobody told me; take it from the document", "Pages and exports will say that the key is only what the document claims.", "", learned("document"))
	p.asking = q
	u.rebuild()
	if s := u.scroll["engagements"]; s != nil {
		s.Inner.ScrollToTop()
	}
}

// block asks whether a key is to be refused from now on, or heard again.
func (p *engagementsPage) block(u *UI, key string, blocked bool) {
	q := newQuestion(u, func() { p.asking = nil; u.rebuild() })
	q.above = look.Text(look.Mono, look.Ink, safe(key))
	done := func(error) { p.asking = nil; p.reload(u, true) }
	if blocked {
		q.add("Hear this key again", "What it signs counts as before.", "", func() {
			u.run("", func(ctx context.Context) error { return u.owner.UnblockKey(ctx, key) }, done)
		})
	} else {
		q.add("Block this key", "Everything of it is refused and says so, in every engagement. What is in force stays in force: end it if you want it to end.", "", func() {
			u.run("", func(ctx context.Context) error { return u.owner.BlockKey(ctx, key, "") }, done)
		})
	}
	p.asking = q
	u.rebuild()
	if s := u.scroll["engagements"]; s != nil {
		s.Inner.ScrollToTop()
	}
}

// timeline is a line from the first day to now and on to what lies ahead.
func (p *engagementsPage) timeline(u *UI, v *agreement.View) fyne.CanvasObject {
	var list []fyne.CanvasObject
	point := func(m agreement.Moved, kind parts.Progress, first, last bool) fyne.CanvasObject {
		style, ink := look.Body, look.Ink
		if kind == parts.Next {
			ink = look.Ink2
		}
		what := opened.MovedWords(m)
		if m.Version > 0 {
			what += ", version " + units.Number(m.Version)
		}
		by := map[string]string{"us": "by you", "them": "by them", "time": ""}[m.By]
		if by == "" && m.By != "" && m.By != "time" {
			by = "by " + u.agentName(m.By)
		}
		if m.By == "them" && (m.What == "imported" || strings.HasPrefix(m.What, "brought")) {
			by = "from them"
		}
		if m.Claimed {
			by = strings.TrimSpace(by + ", claimed and not verified")
		}
		text := []look.Run{{Text: what, Style: style, Color: ink}}
		if by != "" {
			text = append(text, look.Run{Text: "  " + by, Style: look.Small, Color: look.Ink3})
		}
		return parts.Cells(10, []float32{18, 232, 0}, timeMark(kind, first, last), look.Text(look.Small.Box(24), look.Ink2, page.At(m.At)), look.Para(withLine(text, 24)...))
	}
	ahead := slices.IndexFunc(v.Timeline, func(m agreement.Moved) bool { return m.Due })
	if ahead < 0 {
		ahead = len(v.Timeline)
	}
	for i, m := range v.Timeline[:ahead] {
		list = append(list, point(m, parts.Done, i == 0, false))
	}
	now := parts.Cells(10, []float32{18, 232, 0}, timeMark(parts.Now, ahead == 0, ahead == len(v.Timeline)), look.Text(look.SmallB.Box(24), look.Ink, "Now"), look.Text(look.Strong.Box(24), look.Ink, opened.StateWords(v.Row)))
	list = append(list, now)
	for i, m := range v.Timeline[ahead:] {
		list = append(list, point(m, parts.Next, false, i == len(v.Timeline)-ahead-1))
	}
	return parts.Column(0, list...)
}

// withLine gives runs a height of line.
func withLine(runs []look.Run, line float32) []look.Run {
	for i := range runs {
		runs[i].Style = runs[i].Style.Box(line)
	}
	return runs
}

// timeMark is a point on the line: a disc for what was, a ring with a dot for
// now, a pale ring for what lies ahead.
func timeMark(kind parts.Progress, first, last bool) fyne.CanvasObject {
	up, down := look.Edge, look.Edge
	if kind == parts.Next {
		up, down = look.Line, look.Line
	}
	if kind == parts.Now {
		down = look.Line
	}
	if first {
		up = look.None
	}
	if last {
		down = look.None
	}
	bar := func(c fyne.ThemeColorName) fyne.CanvasObject {
		return parts.Cells(0, []float32{8, 2, 0}, parts.Space(0, 0), parts.Over(look.NewBox(c, "", 0), parts.Space(0, 12)), parts.Space(0, 0))
	}
	var dot fyne.CanvasObject
	switch kind {
	case parts.Done:
		dot = parts.Over(look.NewBox(look.Primary, "", look.S(5)), parts.Space(10, 10))
	case parts.Now:
		ring := look.NewBox(look.Paper, look.Primary, look.S(7))
		ring.Width = 2
		dot = parts.Over(ring, parts.Pad(4, 4, 4, 4, parts.Over(look.NewBox(look.Primary, "", look.S(3)), parts.Space(6, 6))), parts.Space(14, 14))
	default:
		dot = parts.Over(look.NewBox(look.Paper, look.Edge, look.S(5)), parts.Space(10, 10))
	}
	size := float32(10)
	if kind == parts.Now {
		size = 14
	}
	in := (18 - size) / 2
	return parts.Over(parts.Column(0, bar(up), bar(down)), parts.Pad((24-size)/2, in, (24-size)/2, in, parts.Size(size, size, dot)), parts.Space(18, 24))
}

// versions are the versions with what can be done with the file of each.
func (p *engagementsPage) versions(u *UI, v *agreement.View) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, x := range v.Versions {
		what := "Version " + units.Number(x.Version)
		if x.InForce {
			what += ", in force"
		}
		if x.State == sow.AmendmentProposed && x.Outcome == "" {
			what += ", proposed"
		}
		state := opened.OutcomeWords(x)
		if state == "" {
			row := v.Row
			row.State = x.State
			row.Spent, row.Withdrawn = false, false
			state = opened.StateWords(row)
		}
		if x.Reason != "" {
			state += " Reason: "
		}
		line := []look.Run{{Text: state, Style: look.Small, Color: look.Ink2}}
		if x.Reason != "" {
			line = append(line, hostile.Runs(look.Small, look.Ink, oneLine(x.Reason, 300))...)
		}
		if n := len(x.Findings.Errors()); n > 0 {
			line = append(line, look.Run{Text: "  " + plural(int64(n), "finding bars signing", "findings bar signing"), Style: look.Small, Color: look.Danger})
		}
		if x.Spelling {
			line = append(line, look.Run{Text: "  It came in another spelling than the canonical one; what is signed is the canonical form.", Style: look.Small, Color: look.Ink3})
		}
		act := []fyne.CanvasObject{parts.Spring(), u.button(parts.Plain, "", "Read", func() { u.openContract(v.ID, x.Digest, "") }).Small()}
		if u.opts.Export != nil {
			act = append(act, u.button(parts.Plain, "export", "HTML", func() { p.file(u, v, x, "html") }).Small(), u.button(parts.Plain, "export", "PDF", func() { p.file(u, v, x, "pdf") }).Small())
		}
		rows = append(rows, parts.Pad(10, 0, 10, 0, parts.Cells(12, []float32{0, 250}, parts.Column(2, look.Text(look.Strong, look.Ink, what), look.Para(line...), look.Text(look.MonoS.Box(18), look.Ink3, "sha256 "+x.Digest)), parts.Row(6, act...))))
	}
	return parts.Lined(rows...)
}

// given says whether access was ever owed: under an offer, or before both have signed, there is none to close.
func given(r agreement.Row) bool {
	switch r.State {
	case sow.Template, sow.StandingProposal, sow.PartiallySigned:
		return false
	}
	return r.Kind != agreement.KindOffer
}

func (p *engagementsPage) toClose(u *UI, v *agreement.View) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, g := range v.ToClose {
		name := hostile.Runs(look.Strong, look.Ink, g.Grant.Name)
		how := "how it is given is not said"
		if g.Grant.Via != "" {
			how = "by "
		}
		line := append(name, look.Run{Text: "  " + how, Style: look.Small, Color: look.Ink2})
		if g.Grant.Via != "" {
			line = append(line, hostile.Runs(look.Small, look.Ink2, oneLine(g.Grant.Via, 40))...)
		}
		words, label := "still open", "I closed it"
		switch {
		case g.Closed:
			words, label = "closed by you", "It is still open"
		case g.Ended:
			words = "the engagement has ended: close it now"
		}
		rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Cells(12, []float32{0, 240, 140}, look.Para(line...), look.Text(look.Small, look.Ink2, words),
			parts.Row(0, parts.Spring(), u.button(parts.Plain, "", label, func() {
				u.run("", func(ctx context.Context) error { return u.owner.CloseGrant(ctx, v.ID, g.Grant.Name, !g.Closed) }, func(error) { p.reload(u, true) })
			}).Small()))))
	}
	return parts.Lined(rows...)
}

func (p *engagementsPage) disputes(u *UI, v *agreement.View) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, d := range v.Disputed {
		by := "They dispute "
		if d.By == v.Role {
			by = "You dispute "
		}
		more := "Opened " + day(u.at(d.At)) + ". Only this amount is frozen."
		if d.Due > 0 {
			more += " A verdict after " + page.At(d.Due) + " is void."
		}
		if d.Verdict != "" {
			more += " A verdict was brought in."
		}
		line := []look.Run{{Text: "Posture ", Style: look.Small, Color: look.Ink2}}
		line = append(line, hostile.Runs(look.Small, look.Ink2, oneLine(d.Posture, 40))...)
		line = append(line, look.Run{Text: "; without a conclusion ", Style: look.Small, Color: look.Ink2})
		line = append(line, hostile.Runs(look.Small, look.Ink2, oneLine(d.Fallback, 40))...)
		rows = append(rows, parts.Pad(10, 0, 10, 0, parts.Column(2, look.Text(look.Strong, look.Ink, by+page.Money(d.Disputed.Amount, d.Disputed.Currency)), look.Text(look.Small, look.Ink2, more), look.Para(line...))))
	}
	return parts.Lined(rows...)
}

func (p *engagementsPage) allowed(u *UI, v *agreement.View) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, a := range v.Preauthorisations {
		words := fmt.Sprintf("%s may accept it %s, until %s; %s used.", u.agentName(a.Client), plural(a.Times, "time", "times"), page.At(a.NotAfter), parts.Number(a.Used))
		line := []fyne.CanvasObject{parts.Grow(parts.Column(2, look.Text(look.Body, look.Ink, words), look.Text(look.Small, look.Ink2, "At most "+page.Money(a.MaxCommitted, v.Currency)+" each time. "+map[string]string{"active": "It stands.", "spent": "It is spent.", "expired": "It has ended.", "ended": "You ended it."}[a.State])))}
		if a.State == "active" {
			line = append(line, u.button(parts.Danger, "", "End it", func() {
				u.run("", func(ctx context.Context) error { return u.owner.EndPreauthorisation(ctx, a.ID) }, func(error) { p.reload(u, true) })
			}).Small())
		}
		rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Row(8, line...)))
	}
	return parts.Lined(rows...)
}

func (p *engagementsPage) reviews(u *UI, v *agreement.View) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, r := range v.Reviews {
		what := "They accepted"
		if r.Ours {
			what = "You accepted"
		}
		if !r.Accepted {
			what = strings.Replace(what, "accepted", "rejected", 1)
		}
		form := "No manifest was brought: nothing is known of the form."
		if r.Checked {
			form = formWords(r.Form)
		}
		text := []look.Run{{Text: what, Style: look.Strong, Color: look.Ink}}
		if r.Reason != "" {
			text = append(append(text, look.Run{Text: ": ", Style: look.Body, Color: look.Ink2}), hostile.Runs(look.Body, look.Ink, r.Reason)...)
		}
		rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Column(2, look.Para(text...), look.Text(look.Small, look.Ink2, form))))
	}
	return parts.Lined(rows...)
}

// records are what belongs to the engagement beside its documents.
func (p *engagementsPage) records(u *UI, v *agreement.View) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for i := len(v.Records) - 1; i >= 0; i-- {
		r := v.Records[i]
		if len(rows) == 60 {
			rows = append(rows, parts.Pad(8, 0, 8, 0, look.Text(look.Small, look.Ink2, plural(int64(i+1), "older one is", "older ones are")+" in the exported bundle.")))
			break
		}
		what := opened.Records[r.Kind]
		if what == "" {
			what = "A record"
		}
		text := []look.Run{{Text: what, Style: look.Body, Color: look.Ink}}
		switch {
		case r.Own:
			text = append(text, look.Run{Text: "  signed by you", Style: look.Small, Color: look.Ink3})
		case r.Verified:
			text = append(text, look.Run{Text: "  signed by their pinned key", Style: look.Small, Color: look.Ink3})
		default:
			text = append(text, look.Run{Text: "  claimed by ", Style: look.Small, Color: look.Warn})
			if r.Claimed == "" {
				text = append(text, look.Run{Text: "nobody that is known", Style: look.Small, Color: look.Warn})
			} else {
				text = append(text, hostile.Runs(look.Small, look.Warn, oneLine(r.Claimed, 60))...)
			}
		}
		list := []fyne.CanvasObject{look.Para(text...)}
		if r.Dispute != "" {
			list = append(list, parts.Note("warning", look.Warn, opened.DisputeWords(string(r.Dispute))+" It is not recorded as settled, and nothing of it was repaired."))
		}
		if r.Ignored != "" {
			list = append(list, look.Text(look.Small, look.Ink2, "It does not count: "+safe(r.Ignored)+"."))
		}
		if r.Act != nil && r.Act.Reason != "" {
			list = append(list, parts.Quote(look.Para(hostile.Runs(look.Small, look.Ink, r.Act.Reason)...)))
		}
		list = append(list, reportRows(r)...)
		for _, f := range r.Findings {
			if f.Severity == sow.Error && r.Dispute == "" {
				list = append(list, look.Text(look.Small, look.Danger, safeLong(f.Message)))
			}
		}
		act := []fyne.CanvasObject{parts.Spring()}
		if r.Kind == agreement.RecordProblem && r.Answer != "resolved" {
			answered := func(answer, said string) func() {
				return func() {
					u.run("", func(ctx context.Context) error { return u.owner.AnswerProblem(ctx, v.ID, r.SHA256, answer) }, func(err error) {
						if err == nil {
							u.banner = &banner{parts.Calm, "check", said, "It is kept with the task."}
						}
						p.reload(u, true)
					})
				}
			}
			act = append(act, u.button(parts.Plain, "", "Resolved", answered("resolved", "The problem is resolved")).Small())
			if r.Answer != "escalated_twice" {
				act = append(act, u.button(parts.Plain, "", "Escalate", answered("escalated", "The problem is escalated")).Small())
			}
		}
		rows = append(rows, parts.Pad(8, 0, 8, 0, parts.Cells(12, []float32{130, 0, 180}, look.Text(look.Small.Box(20), look.Ink2, day(u.at(r.At))), parts.Column(2, list...), parts.Row(6, act...))))
	}
	return parts.Lined(rows...)
}

// moves are what the owner may do now; each opens the document with it.
func (p *engagementsPage) moves(u *UI, v *agreement.View) fyne.CanvasObject {
	labels := map[string]string{"withdraw": "Withdraw…", "terminate": "End it…", "dispute": "Dispute an amount…", "review": "Review…", "probe": "Record a trial…", "preauthorise": "Allow in advance…", "form": "Fill the seat…", "refuse": "Refuse with a reason…"}
	var list, barred []fyne.CanvasObject
	said := map[string]bool{}
	for _, m := range v.Moves {
		label, ok := labels[m.What]
		if !ok {
			continue
		}
		b := u.button(parts.Plain, "", label, func() { u.openContract(v.ID, m.Digest, m.What) }).Small()
		if m.Blocked != "" {
			b.Disable()
			var found sow.Findings
			if at := slices.IndexFunc(v.Versions, func(x agreement.VersionView) bool { return x.Digest == m.Digest }); at >= 0 {
				found = v.Versions[at].Findings
			}
			if why := whyBarred(&m, found); !said[why] {
				said[why] = true
				barred = append(barred, parts.Note("block", look.Danger, why))
			}
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return parts.Space(0, 0)
	}
	return parts.Column(8, append([]fyne.CanvasObject{section("What you can do"), parts.Flow(8, 8, list...)}, barred...)...)
}

// deployed is what the runtimes of this engagement do, where the owner says
// something else of them than everywhere.
func (p *engagementsPage) deployed(u *UI, v *agreement.View) fyne.CanvasObject {
	words, label := "As you said in Settings.", "Say something else for this one"
	next := &v.Deployment
	if v.OwnDeployment {
		words, label, next = "As you said for this engagement.", "Take it from Settings again", nil
	}
	list := []fyne.CanvasObject{section("What its runtimes do"), parts.Space(0, 4), parts.Row(8, parts.Grow(look.Text(look.Small, look.Ink2, words)), u.button(parts.Plain, "", label, func() {
		u.run("", func(ctx context.Context) error { return u.owner.SetDeployment(ctx, v.ID, next) }, func(error) { p.reload(u, true) })
	}).Small())}
	if v.OwnDeployment {
		list = append(list, parts.Space(0, 6), u.deployment(v.ID, v.Deployment, func() { p.reload(u, true) }))
	}
	return parts.Column(0, list...)
}

// export writes the bundle of an engagement.
func (p *engagementsPage) export(u *UI, id string) {
	const what, more = "The bundle was exported", "Others can check it with “vault sow verify”, without this vault."
	u.export("vault-engagement.json", what, more, func(ctx context.Context) ([]byte, error) {
		raw, err := u.owner.ExportSoW(ctx, id, "")
		if r := (*approvals.Refusal)(nil); errors.As(err, &r) && r.Code == approvals.CodeExportTooLong {
			u.opts.Do(func() {
				q := newQuestion(u, func() { p.asking = nil; u.rebuild() })
				q.add("Export the version that counts alone", "The document with the acts and confirmations about it; other versions and what was brought in stay here.", "", func() {
					p.asking = nil
					u.export("vault-version.json", what, more, func(ctx context.Context) ([]byte, error) { return u.owner.ExportVersion(ctx, id, "") })
				})
				p.asking = q
			})
		}
		return raw, err
	})
}

// file writes the page of a version as a file.
func (p *engagementsPage) file(u *UI, v *agreement.View, x agreement.VersionView, kind string) {
	view := *v
	u.export(fmt.Sprintf("vault-contract-version-%d.%s", x.Version, kind), "The page was exported", "It shows what the vault showed you, with the digest of the document on every page.",
		func(context.Context) ([]byte, error) {
			d, err := u.readContract(view, x.Digest)
			if err != nil {
				return nil, err
			}
			if kind == "pdf" {
				return pdf.Page(d.page)
			}
			return []byte(d.page.HTML()), nil
		})
}

// dropped takes files that were dropped on the window, one after the other, whatever page it shows.
func (u *UI) dropped(_ fyne.Position, list []fyne.URI) {
	u.touch()
	if u.opts.Read == nil || u.state.Status.State != approvals.StateOpen && u.state.Status.State != approvals.StateAway {
		return
	}
	if u.page != "engagements" {
		u.open("engagements")
	}
	draft := u.deals.paste != nil && u.deals.paste.draft // the first that is taken closes the form
	for i, at := range list {
		if i == 20 {
			break
		}
		u.take(at.Path(), "drop", draft)
	}
}

// take reads one file and brings it in.
func (u *UI) take(path, how string, draft bool) {
	u.opts.Go(func() {
		name, raw, err := u.opts.Read(path)
		u.opts.Do(func() {
			if err != nil {
				u.banner = &banner{parts.Notice, "warning", "That file could not be read", "Nothing was kept."}
				u.rebuild()
				return
			}
			u.deals.bring(u, raw, draft, agreement.Source{Kind: how, Name: name})
		})
	})
}
