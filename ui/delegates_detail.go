package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/derive/envelope"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// detail shows one delegate: what it allows, what is left, what it made.
func (p *delegatesPage) detail(u *UI, d approvals.DelegateView) fyne.CanvasObject {
	out := []fyne.CanvasObject{p.title(u, d), parts.Space(0, 12), look.Para(sentenceRuns(d.Name, u.begun(d.Bounds), sentenceStyle)...)}
	if p.asking != "" && p.question != nil {
		out = append(out, parts.Space(0, 14), p.question.view(u))
	}
	out = append(out, parts.Space(0, 8), parts.Note("info", look.Ink2, u.originWords(d)))
	for _, b := range p.remarks(u, d) {
		out = append(out, parts.Space(0, 12), b)
	}
	if d.State != approvals.DelegateSuspended {
		out = append(out, parts.Space(0, 18), p.figures(u, d), parts.Space(0, 20), p.minted(u, d))
	}
	out = append(out, parts.Space(0, 24), p.bounds(u, d))
	return parts.Column(0, out...)
}

func (p *delegatesPage) title(u *UI, d approvals.DelegateView) fyne.CanvasObject {
	objs := []fyne.CanvasObject{parts.Grow(look.Text(look.Title, look.Ink, delegateName(d)))}
	words, icon := delegateWords(d)
	if icon != "" {
		objs = append(objs, parts.Tag(icon, words))
	}
	switch d.State {
	case approvals.DelegateActive, approvals.DelegateNotYet, approvals.DelegateSpent:
		objs = append(objs, u.button(parts.Plain, "pause", "Pause", func() { p.pause(u, d) }).Small())
	case approvals.DelegatePaused:
		objs = append(objs, u.button(parts.Plain, "resume", "Resume…", func() { p.ask(u, d, "resume") }).Small())
	case approvals.DelegateSuspended:
		objs = append(objs, u.button(parts.Plain, "", "Admit…", func() { p.ask(u, d, "admit") }).Small())
	}
	if !over(d) {
		label := "Revoke…"
		if d.State == approvals.DelegateSuspended {
			label = "Remove…"
		}
		objs = append(objs, u.button(parts.Danger, "", label, func() { p.ask(u, d, "revoke") }).Small())
	}
	return parts.Row(8, objs...)
}

// originWords say who signed a delegate and for what.
func (u *UI) originWords(d approvals.DelegateView) string {
	domain := safe(d.Bounds.Domain.ID)
	if d.Origin == "imported" {
		words := "Signed elsewhere by the key of domain " + domain + ", and "
		if d.State == approvals.DelegateSuspended {
			return words + "brought in on " + day(u.at(d.MadeAt)) + ". It holds no seed."
		}
		return words + "admitted here on " + day(u.at(d.MadeAt)) + " for " + plural(d.Mints, "key", "keys") + ". It holds no seed: each signature is made here and counted here."
	}
	return "Signed by you with your passkey on " + day(u.at(d.MadeAt)) + ", for domain " + domain + ". It holds no seed: each signature is made here and counted here."
}

// remarks are the banners about how a delegate stands, and about its shape.
func (p *delegatesPage) remarks(u *UI, d approvals.DelegateView) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	add := func(tone parts.Tone, icon, what, more string) {
		out = append(out, parts.Banner(tone, icon, what, more, nil))
	}
	if p.outOf == d.Hash && d.State == approvals.DelegateEnded {
		add(parts.Calm, "check", "Revoked: nothing is minted or signed under it any more", revokedWords(p.out))
		if table := u.wereOut(p.out); table != nil {
			out = append(out, table)
		}
	}
	if !d.BoundsHeld {
		what := "Its bounds are no longer held by this vault"
		if d.ExportedAt > 0 {
			what += ", since " + day(u.at(d.ExportedAt))
		}
		add(parts.Alarm, "warning", what, "The mint material of this domain was let out. Whoever has it can make every minted key of the domain, whatever this delegate says.")
	}
	switch d.State {
	case approvals.DelegatePaused:
		add(parts.Calm, "pause", "Paused", "Nothing is minted and nothing is signed under it until you resume it, with your passkey.")
	case approvals.DelegateSuspended:
		add(parts.Notice, "warning", "Not in force here", "How many keys were minted under it elsewhere is not known. Say how many may be minted here.")
	case approvals.DelegateSpent:
		add(parts.Calm, "info", "All its keys are minted", "What was minted goes on until it is used up or over.")
	case approvals.DelegateNotYet:
		add(parts.Calm, "clock", "It has not begun", "Nothing is minted before that.")
	case approvals.DelegateExpired:
		add(parts.Calm, "clock", "It is over", "Its end has passed. What was signed stays signed.")
	}
	if over(d) {
		return out
	}
	return append(out, warningBanners(d.Warnings)...)
}

// warningBanners are the remarks on a delegate's shape.
func warningBanners(list []bounds.Warning) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for _, w := range list {
		out = append(out, warningBanner(w))
	}
	return out
}

func warningBanner(w bounds.Warning) fyne.CanvasObject {
	what, more, ok := bounds.Remark(w.Code)
	if !ok {
		what, more = "The vault has a remark: "+safe(w.Code), ""
	}
	runs := []look.Run{{Text: what, Style: look.Strong, Color: look.Ink}}
	if w.Subject != "" && w.Code != "any_resource" {
		runs = append(runs, look.Run{Text: ": ", Style: look.Strong, Color: look.Ink})
		runs = append(runs, hostile.Runs(look.MonoB.Box(20), look.Ink, w.Subject)...)
	}
	return parts.Sunk(look.WarnTint, 6, parts.Pad(10, 14, 10, 14, parts.RowTop(12,
		parts.Pad(2, 0, 0, 0, look.NewIcon("warning", 16, look.Warn)),
		parts.Grow(parts.Column(0, look.Para(runs...), look.Text(look.Small, look.Ink, more))))))
}

// begun leaves the beginning out of a sentence where it has passed; the bounds as signed have it.
func (u *UI) begun(b approvals.DelegateBounds) approvals.DelegateBounds {
	if b.NotBefore != nil && *b.NotBefore <= u.opts.Now().UnixMilli() {
		b.NotBefore = nil
	}
	return b
}

// figures are the meters beside the chart, or above it.
func (p *delegatesPage) figures(u *UI, d approvals.DelegateView) fyne.CanvasObject {
	return parts.Either(560, parts.Cells(44, []float32{384, 0}, u.meters(d), u.chart(d)), parts.Column(14, u.meters(d), u.chart(d)))
}

func (u *UI) meters(d approvals.DelegateView) fyne.CanvasObject {
	still := d.State != approvals.DelegateActive && d.State != approvals.DelegateSpent
	line := func(name string, bar fyne.CanvasObject, figure, rest string) fyne.CanvasObject {
		runs := []look.Run{{Text: figure, Style: look.Strong, Color: look.Ink}, {Text: rest, Style: look.Body, Color: look.Ink}}
		return parts.Middle(24, parts.Cells(12, []float32{84, 0, 118}, look.Text(look.Small.Box(20), look.Ink2, name), parts.Pad(6, 0, 6, 0, bar), look.Para(runs...)))
	}
	signatures := line("Signatures", parts.Bar(d.Uses, 1<<53, still, 8), parts.Number(d.Uses), "")
	if most, ok := times(d.Mints, d.Bounds.MaxUsesPerAction); ok {
		signatures = line("Signatures", parts.Bar(d.Uses, most, still, 8), parts.Number(d.Uses), " of "+parts.Number(most))
	}
	return parts.Column(0, line("Keys minted", parts.Bar(d.Minted, d.Mints, still, 8), parts.Number(d.Minted), " of "+parts.Number(d.Mints)), signatures, u.timeLine(d, still, line))
}

// chart shows the signatures of the last two weeks, by day.
func (u *UI) chart(d approvals.DelegateView) fyne.CanvasObject {
	days, most := make([]int64, chartDays), int64(0)
	from := u.chartFrom()
	for _, s := range u.mintUses(d.Hash) {
		if i := int((s.From - from.UnixMilli()) / dayMS); i >= 0 && i < chartDays {
			days[i] += s.Uses
			most = max(most, days[i])
		}
	}
	caption := "No signature in " + fmt.Sprint(chartDays) + " days"
	switch {
	case u.state.MintsOf != d.Hash:
		caption = ""
	case most > 0:
		caption = "Signatures a day, most " + parts.Number(most)
	}
	today := look.Text(look.Caption, look.Ink3, "today")
	today.Align = fyne.TextAlignTrailing
	return parts.Column(4, parts.Bars(days, 56), parts.Cells(8, []float32{0, 44}, look.Text(look.Caption, look.Ink3, caption), today))
}

// mintUses are the steps of the delegate that is shown; those of another are not drawn.
func (u *UI) mintUses(hash string) []approvals.MintUse {
	if u.state.MintsOf != hash {
		return nil
	}
	return u.state.MintUses
}

// times multiplies, unless the product is of no use to a person.
func times(a, b int64) (int64, bool) {
	const most = int64(1) << 40
	if a <= 0 || b <= 0 || a > most/b {
		return 0, false
	}
	return a * b, true
}

func (u *UI) timeLine(d approvals.DelegateView, still bool, line func(string, fyne.CanvasObject, string, string) fyne.CanvasObject) fyne.CanvasObject {
	now := u.opts.Now().UnixMilli()
	if d.Bounds.NotAfter == nil {
		return line("Time", parts.Bar(0, 1, still, 8), "no end", "")
	}
	from, until := d.MadeAt, *d.Bounds.NotAfter
	if d.Bounds.NotBefore != nil {
		from = *d.Bounds.NotBefore
	}
	left := until - now
	bar := parts.Bar(now-from, max(until-from, 1), still, 8)
	switch {
	case left <= 0:
		return line("Time", bar, "over", "")
	case left < 60*60*1000:
		return line("Time", bar, fmt.Sprint(left/60000+1), " min left")
	case left < 2*dayMS:
		return line("Time", bar, fmt.Sprint(left/(60*60*1000)), " h left")
	}
	return line("Time", bar, parts.Number(left/dayMS), " days left")
}

// minted is the table of what was made, newest first.
func (p *delegatesPage) minted(u *UI, d approvals.DelegateView) fyne.CanvasObject {
	note := look.Text(look.Caption, look.Ink3, "vouched for by you alone: nobody else has checked them")
	note.Align = fyne.TextAlignTrailing
	out := []fyne.CanvasObject{parts.Either(520, parts.Row(8, look.Word(look.CaptionM, look.Ink3, "Keys it minted"), parts.Grow(note)),
		parts.Column(0, section("Keys it minted"), look.Text(look.Caption, look.Ink3, "vouched for by you alone: nobody else has checked them"))), parts.Space(0, 6)}
	var list []approvals.MintView
	if u.state.MintsOf == d.Hash {
		list = u.state.Mints
	}
	switch {
	case len(list) > 0:
	case u.state.MintsOf != d.Hash:
		return parts.Column(0, append(out, look.Text(look.Small, look.Ink3, "Reading what it minted…"))...)
	case d.Minted > 0:
		return parts.Column(0, append(out, look.Text(look.Small, look.Ink2, "What it minted could not be read. Activity and the export of the log have it."))...)
	default:
		return parts.Column(0, append(out, parts.Empty("key", "No key was minted yet", "Each one appears here with its bot, what it is for, and how often it signed."))...)
	}
	heads := func(names ...string) []fyne.CanvasObject {
		var objs []fyne.CanvasObject
		for _, n := range names {
			objs = append(objs, look.Text(look.Caption, look.Ink3, n))
		}
		return objs
	}
	out = append(out, parts.Either(560, parts.Column(0, parts.Hair(), parts.Pad(6, 0, 6, 0, parts.Cells(12, mintWidths, heads("Minted", "Address", "For", "Uses", "")...))), parts.Space(0, 0)))
	var rows []fyne.CanvasObject
	for _, m := range list {
		rows = append(rows, p.mint(u, m))
	}
	out = append(out, parts.Lined(rows...))
	u.mu.Lock()
	most := max(u.mints.most, mintsAtOnce)
	u.mu.Unlock()
	if more := d.Minted - int64(len(list)); more > 0 && len(list) >= most && most < mintsMost {
		out = append(out, parts.Space(0, 8), parts.Row(0, u.button(parts.Plain, "more", parts.Number(more)+" more", func() {
			p.follow(u, d.Hash, min(most*5, mintsMost))
		}).Small(), parts.Spring()))
	} else if more > 0 {
		out = append(out, parts.Space(0, 8), look.Text(look.Caption, look.Ink3, parts.Number(more)+" older ones are in Activity and in the export of the log."))
	}
	return parts.Column(0, out...)
}

var mintWidths = []float32{92, 120, 0, 120, 62}

func (p *delegatesPage) mint(u *UI, m approvals.MintView) fyne.CanvasObject {
	address := m.Address
	if address == "" {
		address = "not used yet"
	} else {
		address = shortAddress(address)
	}
	ink := look.Ink
	if !m.Live {
		ink = look.Ink2
	}
	count := parts.Number(m.Used) + " of " + parts.Number(m.MaxUses)
	if m.Used >= m.MaxUses {
		count = "spent"
	}
	number := look.Text(look.Small, ink, count)
	number.Align = fyne.TextAlignTrailing
	what := hostile.Runs(look.Small, ink, strings.Join(m.Resources[:min(1, len(m.Resources))], ""))
	if n := len(m.Resources) - 1; n > 0 {
		what = append(what, look.Run{Text: fmt.Sprintf(" and %d more", n), Style: look.Small, Color: look.Ink2})
	}
	meter := func() fyne.CanvasObject { return parts.Pad(5, 0, 5, 0, parts.Meter(m.Used, m.MaxUses, !m.Live)) }
	wide := parts.Pad(8, 0, 8, 0, parts.Cells(12, mintWidths, look.Text(look.Small, ink, u.dated(m.At)),
		look.Text(look.MonoS.Box(18), ink, address), look.Para(what...).OneLine(), meter(), number))
	second := look.Text(look.Small, ink, count)
	narrow := parts.Pad(8, 0, 8, 0, parts.Column(2, look.Para(what...),
		parts.Row(8, look.Word(look.Small, look.Ink2, u.dated(m.At)), look.Word(look.MonoS.Box(18), look.Ink2, address), parts.Spring()),
		parts.Cells(12, []float32{0, 80}, meter(), second)))
	row := parts.NewTap(parts.Either(560, wide, narrow), func() {
		u.touch()
		if p.open == m.Mint {
			p.open = ""
		} else {
			p.open = m.Mint
		}
		u.rebuild()
	})
	row.Watch(u)
	if p.open != m.Mint {
		return row
	}
	return parts.Column(0, row, p.mintDetails(u, m))
}

// dated is a day in words, with the hour where it is today.
func (u *UI) dated(ms int64) string {
	t, now := u.at(ms), u.opts.Now().In(u.opts.Zone)
	switch day(t) {
	case day(now):
		return "today, " + t.Format("15:04")
	case day(now.AddDate(0, 0, -1)):
		return "yesterday"
	}
	if t.Year() == now.Year() {
		return t.Format("2 January")
	}
	return t.Format("2 Jan 2006")
}

// mintDetails are the fields of one capability: who asked, what for, and its record.
func (p *delegatesPage) mintDetails(u *UI, m approvals.MintView) fyne.CanvasObject {
	const gutter = 112
	mono := func(text string) fyne.CanvasObject { return hostile.Inline(look.MonoS.Box(20), look.Ink, text) }
	var list []fyne.CanvasObject
	add := func(name string, o fyne.CanvasObject) { list = append(list, parts.Pair(gutter, name, o)) }
	who := "an ended agent"
	if m.Agent != "" {
		who = safe(m.Agent)
	}
	add("Asked by", look.Para(look.Run{Text: who + ", as ", Style: look.Small.Box(20), Color: look.Ink}, look.Run{Text: m.Bot, Style: look.MonoS.Box(20), Color: look.Ink, Outside: true}))
	add("Calls itself", look.Para(append(hostile.Runs(look.Small.Box(20), look.Ink, m.AgentID), look.Run{Text: fmt.Sprintf(" · action %d", m.ActionIndex), Style: look.Small.Box(20), Color: look.Ink3})...))
	add("Minted", look.Text(look.Small.Box(20), look.Ink, signed(m.At)+", entry "+parts.Number(m.Seq)+" of the log"))
	add("Operation", mono(m.Operation))
	add("May touch", mono(strings.Join(m.Resources, "  ·  ")))
	add("Valid", look.Text(look.Small.Box(20), look.Ink, windowWords(m.NotBefore, m.NotAfter)))
	if m.Address != "" {
		add("Signs as", mono(m.Address))
	}
	if m.LastUse > 0 {
		add("Last signature", look.Text(look.Small.Box(20), look.Ink, signed(m.LastUse)))
	}
	add("Nonce", mono(m.Nonce))
	if m.Legitimacy != "" {
		add("Legitimacy", look.Para(append(hostile.Runs(look.MonoS.Box(20), look.Ink, m.Legitimacy), look.Run{Text: "  named by the bot; no part of what is valid", Style: look.Caption.Box(20), Color: look.Ink3})...))
	}
	objs := []fyne.CanvasObject{parts.Column(2, list...)}
	if u.opts.Export != nil {
		objs = append(objs, parts.Space(0, 10), parts.Row(8,
			u.button(parts.Plain, "export", "Export the record", func() { p.exportRecord(u, m) }).Small(),
			u.button(parts.Plain, "export", "Export the receipt", func() { p.exportReceipt(u, m) }).Small(), parts.Spring()))
	}
	return parts.Sunk(look.Well, 0, parts.Pad(12, 14, 14, 14, parts.Column(0, objs...)))
}

func windowWords(from, until *int64) string {
	switch {
	case from != nil && until != nil:
		return "from " + signed(*from) + " until " + signed(*until)
	case from != nil:
		return "from " + signed(*from) + ", with no end"
	case until != nil:
		return "until " + signed(*until)
	}
	return "with no beginning and no end"
}

// bounds are the delegate's members as they are signed, whole.
func (p *delegatesPage) bounds(u *UI, d approvals.DelegateView) fyne.CanvasObject {
	const gutter = 128
	b := d.Bounds
	toggle, label := "more", "Show its bounds as signed"
	if p.all {
		toggle, label = "minus", "Hide its bounds"
	}
	line := []fyne.CanvasObject{u.button(parts.Plain, toggle, label, func() { p.all = !p.all; u.rebuild() }).Small()}
	if u.opts.Export != nil && d.State != approvals.DelegateSuspended {
		line = append(line, u.button(parts.Plain, "export", "Export it for the bot", func() { p.exportDelegate(u, d) }).Small())
	}
	if u.opts.Export != nil {
		line = append(line, u.button(parts.Plain, "", "Let mint material out…", func() { p.ask(u, d, "export") }).Small())
	}
	out := []fyne.CanvasObject{parts.Flow(8, 8, line...)}
	if !p.all {
		return parts.Column(0, out...)
	}
	mono := func(text string) fyne.CanvasObject { return hostile.Inline(look.MonoS.Box(20), look.Ink, text) }
	word := func(text string) fyne.CanvasObject { return look.Text(look.Body, look.Ink, text) }
	many := func(list []string) fyne.CanvasObject {
		if len(list) > 12 {
			return hostile.NewBlock(strings.Join(list, "\n"), true, 3, 8)
		}
		var objs []fyne.CanvasObject
		for _, s := range list {
			objs = append(objs, mono(s))
		}
		return parts.Column(0, objs...)
	}
	var list []fyne.CanvasObject
	add := func(name string, o fyne.CanvasObject) { list = append(list, parts.Pair(gutter, name, o)) }
	add("Domain", look.Para(append(hostile.Runs(look.Body, look.Ink, b.Domain.ID), look.Run{Text: "  " + short(b.Domain.Hash), Style: look.MonoS.Box(20), Color: look.Ink3})...))
	if b.BotPolicy == envelope.BotAny {
		add("Bots", word("any that signs its request"))
	} else {
		add("Bots", many(b.Bots))
	}
	add("Operations", many(b.Operations))
	add("Resources", many(b.Resources))
	add("Action index", word(parts.Number(b.IndexMin)+" to "+parts.Number(b.IndexMax)))
	add("Keys", word("at most "+parts.Number(b.MaxMints)))
	add("Uses of each", word("at most "+parts.Number(b.MaxUsesPerAction)))
	add("Valid", word(windowWords(b.NotBefore, b.NotAfter)))
	if d.WhileAway {
		add("While you are away", word("it goes on"))
	} else {
		add("While you are away", word("it waits"))
	}
	list = append(list, carried(gutter, b)...)
	add("Delegate hash", mono(d.Hash))
	add("Its own label", mono(d.DelegateID))
	return parts.Column(0, append(out, parts.Space(0, 12), parts.Column(4, list...))...)
}

// carried are the lines of what a delegate carries and the vault does not judge.
func carried(gutter float32, b approvals.DelegateBounds) []fyne.CanvasObject {
	mono := func(text string) fyne.CanvasObject { return hostile.Inline(look.MonoS.Box(20), look.Ink, text) }
	var out []fyne.CanvasObject
	if b.AvatarAddress != "" {
		out = append(out, parts.Pair(gutter, "Avatar", mono(b.AvatarAddress)))
	}
	l := b.Legitimacy
	if l == nil {
		return out
	}
	need := "  may be named in requests"
	if l.Required {
		need = "  must be named in requests"
	}
	more := []fyne.CanvasObject{look.Para(append(hostile.Runs(look.MonoS.Box(20), look.Ink, l.LegitimacyID), look.Run{Text: need, Style: look.Caption.Box(20), Color: look.Ink3})...)}
	if l.PolicyID != "" {
		more = append(more, hostile.Inline(look.MonoS.Box(20), look.Ink, "policy "+l.PolicyID))
	}
	if l.StateVersion != nil {
		more = append(more, hostile.Inline(look.MonoS.Box(20), look.Ink, fmt.Sprintf("version %d", *l.StateVersion)))
	}
	if l.StateHash != "" {
		more = append(more, hostile.Inline(look.MonoS.Box(20), look.Ink, "state "+l.StateHash))
	}
	more = append(more, look.Text(look.Caption, look.Ink3, "It says nothing about whether a signature is valid; this vault carries it and does not judge it."))
	return append(out, parts.Pair(gutter, "Legitimacy", parts.Column(0, more...)))
}

func (p *delegatesPage) exportRecord(u *UI, m approvals.MintView) {
	u.export("minted-record.json", "The record was exported", "It says what its address may sign. That you vouch for it, and nobody else, is in it.",
		func(ctx context.Context) ([]byte, error) { return u.owner.MintRecord(ctx, m.Mint) })
}

func (p *delegatesPage) exportReceipt(u *UI, m approvals.MintView) {
	u.export("minted-receipt.json", "The receipt was exported", "Whoever has your owner card can check it.",
		func(ctx context.Context) ([]byte, error) { return u.owner.Receipt(ctx, m.Seq) })
}

func (p *delegatesPage) exportDelegate(u *UI, d approvals.DelegateView) {
	u.export("delegate.json", "The delegate was exported", "Give it to the bot. It holds no secret.",
		func(context.Context) ([]byte, error) { return u.owner.DelegateBytes(d.Hash) })
}

// wereOut lists the keys that could still sign when their delegate was revoked.
func (u *UI) wereOut(list []approvals.MintView) fyne.CanvasObject {
	if len(list) == 0 {
		return nil
	}
	var rows []fyne.CanvasObject
	for i, m := range list {
		if i == 12 {
			rows = append(rows, look.Text(look.Caption.Box(24), look.Ink3, plural(len(list)-i, "more; the table below has them", "more; the table below has them")))
			break
		}
		address := m.Address
		if address == "" {
			address = "not used yet"
		}
		what := hostile.Runs(look.Small.Box(20), look.Ink, strings.Join(m.Resources[:min(1, len(m.Resources))], ""))
		what = append(what, look.Run{Text: "  " + parts.Number(m.Used) + " of " + parts.Number(m.MaxUses) + " used", Style: look.Small.Box(20), Color: look.Ink2})
		rows = append(rows, parts.Pad(4, 0, 4, 0, parts.Either(480, parts.Cells(12, []float32{330, 0}, hostile.Inline(look.MonoS.Box(20), look.Ink, address), look.Para(what...)),
			parts.Column(0, hostile.Inline(look.MonoS.Box(20), look.Ink, address), look.Para(slices.Clone(what)...)))))
	}
	return parts.Column(0, section("Keys that were out"), parts.Space(0, 4), parts.Lined(rows...))
}

func revokedWords(out []approvals.MintView) string {
	if len(out) == 0 {
		return "No key was out that could still sign. What was signed stays signed."
	}
	return plural(len(out), "key was out and signs", "keys were out and sign") + " no more here. What they signed stays signed: it is valid for whoever holds it."
}
