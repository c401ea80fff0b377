package ui

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/page"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// engagementsPage lists contracts and offers, and shows one of them. Of the list
// only what is in view is made, and only as many rows are asked of the desk as
// have been scrolled to.
type engagementsPage struct {
	view   string // "" all, or the name of a filter
	search *parts.Field
	list   *virtual

	rows  []agreement.Row
	total int
	next  string // cursor of the rows that follow
	err   error
	want  int // rows that are to be there
	ready bool
	asked int // counts questions: an older answer is dropped

	open     string // engagement that is shown, or ""
	one      *agreement.View
	oneErr   error
	reminded []agreement.Reminder
	asking   *question // of the engagement that is shown, or nil
	paste    *pasted
	seat     *parts.Field // name of the seat that is to be opened, in Settings
}

// dealFilters are what of the list is shown.
var dealFilters = []struct {
	name   string
	filter approvals.EngagementFilter
}{
	{"All", approvals.EngagementFilter{}},
	{"Waiting for you", approvals.EngagementFilter{Waiting: true}},
	{"In force", approvals.EngagementFilter{States: []sow.State{sow.Active, sow.Agreed, sow.AmendmentProposed}}},
	{"Offers", approvals.EngagementFilter{Kind: agreement.KindOffer}},
	{"Ended", approvals.EngagementFilter{States: []sow.State{sow.Lapsed, sow.Exhausted, sow.Terminated, sow.Amended}}},
}

// rowHeight is the height of a row of the list at 100 percent.
const rowHeight = 62

func (p *engagementsPage) init(u *UI) {
	p.search = parts.NewField("", "Name, handle, offering, key", 100)
	p.search.Watch(u)
	p.search.OnChanged = func(string) { p.reload(u, false) }
	p.seat = parts.NewField("", "Name for another seat", 40)
	p.seat.Watch(u)
	p.want = 60
	p.list = newVirtual(0, func(i int) fyne.CanvasObject { return p.row(u, i) }, func(int, float32) float32 { return look.S(rowHeight) })
	p.list.moved = func(_, to int) {
		if to+20 > len(p.rows) && p.next != "" {
			p.want = to + 60
			p.more(u)
		}
	}
}

func (p *engagementsPage) filter() approvals.EngagementFilter {
	f := approvals.EngagementFilter{}
	for _, x := range dealFilters {
		if x.name == p.view {
			f = x.filter
		}
	}
	f.Text = strings.TrimSpace(p.search.Text)
	return f
}

// reload asks for the list from its beginning, as far as it was there.
func (p *engagementsPage) reload(u *UI, keep bool) {
	if !keep {
		p.want = 60
		if s := u.scroll["engagements"]; s != nil && p.open == "" {
			s.Inner.ScrollToTop()
		}
	}
	p.asked++
	asked, f, want := p.asked, p.filter(), p.want
	open := p.open
	u.opts.Go(func() {
		rows, total, next, err := u.fetch(f, want)
		var one *agreement.View
		var oneErr error
		if open != "" {
			v, err := u.owner.Engagement(open)
			one, oneErr = &v, err
		}
		due, _ := u.owner.Reminders(u.opts.Now().UnixMilli()+30*86400000, 6)
		u.opts.Do(func() {
			if asked != p.asked {
				return
			}
			p.rows, p.total, p.next, p.err, p.ready = rows, total, next, err, true
			p.reminded = due
			if open == p.open {
				p.one, p.oneErr = one, oneErr
			}
			p.list.set(total)
			u.rebuild()
		})
	})
}

// fetch asks for pages until so many rows are there.
func (u *UI) fetch(f approvals.EngagementFilter, want int) (rows []agreement.Row, total int, next string, err error) {
	f.Limit = approvals.MaxPage
	for {
		page, err := u.owner.Engagements(f)
		if err != nil {
			return rows, total, "", err
		}
		rows, total = append(rows, page.Rows...), page.Total
		if page.Next == "" || len(rows) >= want {
			return rows, total, page.Next, nil
		}
		f.After = page.Next
	}
}

// more asks for the rows that follow those that are here.
func (p *engagementsPage) more(u *UI) {
	p.asked++
	asked, f, from, want := p.asked, p.filter(), len(p.rows), p.want
	f.After = p.next
	u.opts.Go(func() {
		rows, _, next, err := u.fetch(f, want-from)
		u.opts.Do(func() {
			if asked != p.asked || len(p.rows) != from {
				return
			}
			p.rows, p.next, p.err = append(p.rows, rows...), next, err
			p.list.redraw()
		})
	})
}

func (p *engagementsPage) page(u *UI) fyne.CanvasObject {
	if !p.ready {
		p.reload(u, true)
	}
	if p.open != "" {
		return p.detail(u)
	}
	buttons := []fyne.CanvasObject{
		u.button(parts.Plain, "plus", "Bring in a document", func() { p.paste = newPasted(u); u.rebuild() }).Small(),
	}
	out := []fyne.CanvasObject{head("Engagements", "Contracts and offers between your agents and others. A document with one signature has no force.", buttons...), parts.Space(0, 14)}
	if p.paste != nil {
		out = append(out, p.paste.panel(u), parts.Space(0, 16))
	}
	if len(p.reminded) > 0 {
		out = append(out, section("Becomes due"), parts.Space(0, 4), p.due(u, p.reminded, true), parts.Space(0, 16))
	}
	var filters []fyne.CanvasObject
	for _, f := range dealFilters {
		on := p.view == f.name || p.view == "" && f.name == "All"
		filters = append(filters, u.pill(f.name, on, func() { p.view = f.name; p.reload(u, false); u.rebuild() }))
	}
	out = append(out, parts.Row(8, append(filters, parts.Spring(), parts.Size(220, 34, p.search))...), parts.Space(0, 14))
	switch {
	case p.err != nil:
		b := problem(p.err)
		out = append(out, parts.Banner(b.tone, b.icon, b.what, b.more, nil))
	case !p.ready:
		out = append(out, look.Text(look.Body, look.Ink2, "The vault reads its list."))
	case p.total == 0 && p.search.Text == "" && (p.view == "" || p.view == "All"):
		out = append(out, parts.Empty("engagement", "There is no engagement yet", "Bring in a document, or let an agent bring one. It is checked before anything can be signed."))
	case p.total == 0:
		out = append(out, parts.Empty("engagement", "Nothing fits", "Choose another filter, or clear the search."))
	default:
		out = append(out, section(plural(int64(p.total), "engagement or offer", "engagements and offers")), parts.Space(0, 6), p.list, parts.Hair())
	}
	return parts.Column(0, out...)
}

// theirs is the party across from the owner.
func theirs(r agreement.Row) sow.Seat {
	if r.Role == sow.Provider {
		return r.Client
	}
	return r.Provider
}

// row is one line of the list.
func (p *engagementsPage) row(u *UI, i int) fyne.CanvasObject {
	if i >= len(p.rows) {
		return parts.Column(0, parts.Hair(), parts.Middle(rowHeight-1, look.Text(look.Small, look.Ink3, "The vault reads on.")))
	}
	r := p.rows[i]
	icon := "engagement"
	if r.Kind == agreement.KindOffer {
		icon = "file"
	}
	who := theirs(r)
	name := hostile.Runs(look.Strong, look.Ink, oneLine(who.Owner, 60))
	if who.Owner == "" {
		name = []look.Run{{Text: "Nobody yet: the seat is open", Style: look.Strong, Color: look.Ink3}}
	}
	name = append(name, look.Run{Text: "  ", Style: look.Small, Color: look.Ink3})
	name = append(name, hostile.Runs(look.Small, look.Ink3, oneLine(who.Handle, 40))...)
	what := []look.Run{}
	for i, o := range r.Offerings {
		if i == 2 {
			what = append(what, look.Run{Text: ", and " + plural(int64(len(r.Offerings)-2), "more", "more"), Style: look.Small, Color: look.Ink2})
			break
		}
		if i > 0 {
			what = append(what, look.Run{Text: ", ", Style: look.Small, Color: look.Ink2})
		}
		what = append(what, hostile.Runs(look.Small, look.Ink2, oneLine(o, 40))...)
	}
	second := look.Para(what...)
	if len(r.Waiting) > 0 {
		words := opened.Waiting[r.Waiting[0]]
		if n := len(r.Waiting) - 1; n > 0 {
			words += ", and " + plural(int64(n), "thing more", "things more")
		}
		second = look.Text(look.Small, look.Ink, words)
	} else if len(what) == 0 {
		second = look.Text(look.Small, look.Ink3, " ")
	}
	left := fyne.CanvasObject(parts.Column(2, look.Para(name...), second))
	if len(r.Waiting) > 0 {
		left = parts.Column(2, look.Para(name...), parts.Row(6, look.NewIcon("flag", 12, look.Ink), parts.Grow(second)))
	}
	money := moneyWords(r)
	amount := look.Text(look.Body, look.Ink, money)
	amount.Align = fyne.TextAlignTrailing
	until := "no end stated"
	if r.EndsAt > 0 {
		until = "until " + page.Day(r.EndsAt)
	}
	end := look.Text(look.Caption.Box(18), look.Ink3, until)
	end.Align = fyne.TextAlignTrailing
	state := []fyne.CanvasObject{look.Text(look.Body, look.Ink, opened.StateWords(r)), look.Text(look.Caption.Box(18), look.Ink3, seatWords(r))}
	if r.Errors > 0 {
		state[1] = parts.Row(6, look.NewIcon("block", 12, look.Danger), parts.Grow(look.Text(look.Caption.Box(18), look.Danger, plural(int64(r.Errors), "finding bars signing", "findings bar signing"))))
	}
	line := parts.Cells(12, []float32{18, 0, 176, 170}, parts.Pad(2, 0, 0, 0, look.NewIcon(icon, 14, look.Ink2)), left, parts.Column(2, state...), parts.Column(2, amount, end))
	t := parts.NewTap(parts.Column(0, parts.Hair(), parts.Middle(rowHeight-1, line)), func() { u.touch(); p.show(u, r.ID) })
	t.Watch(u)
	return t
}

// oneLine is the beginning of a text for a list that cannot show all of it; the
// engagement's own page does.
func oneLine(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

func seatWords(r agreement.Row) string {
	switch r.Role {
	case sow.Client:
		return "you pay"
	case sow.Provider:
		return "you do the work"
	}
	if r.Kind == agreement.KindOffer {
		return "somebody else’s"
	}
	return "you are neither side yet"
}

// moneyWords is the most the client pays.
func moneyWords(r agreement.Row) string {
	switch {
	case r.Arrangement == "no_charge":
		return "no charge"
	case r.Arrangement == "":
		return "price not read"
	case !r.Committed.Set:
		return "no limit"
	}
	out := page.Money(r.Committed.N, oneLine(r.Currency, 12))
	if r.Arrangement == "fixed_fee" {
		out += " a month"
	}
	return out
}

// standing says where an engagement stands, and what it comes to.
func standing(r agreement.Row) string {
	out, who := opened.StateWords(r)+". ", "You pay"
	switch r.Role {
	case sow.Client:
	case sow.Provider:
		who = "They pay you"
	default:
		out, who = opened.StateWords(r)+", "+seatWords(r)+". ", "The client pays"
	}
	switch {
	case r.Arrangement == "no_charge":
		out += "Nothing is charged"
	case r.Arrangement == "":
		out += "Its price cannot be read"
	case !r.Committed.Set:
		out += who + " without a limit"
	default:
		out += who + " at most " + moneyWords(r)
	}
	if r.EndsAt > 0 {
		out += ", until " + page.Day(r.EndsAt)
	}
	return out + "."
}

// show opens the page of one engagement.
func (p *engagementsPage) show(u *UI, id string) {
	p.open, p.one, p.oneErr, p.asking = id, nil, nil, nil
	u.banner = nil
	u.opts.Go(func() {
		v, err := u.owner.Engagement(id)
		u.opts.Do(func() {
			if p.open != id {
				return
			}
			p.one, p.oneErr = &v, err
			u.rebuild()
			if s := u.scroll["engagements"]; s != nil {
				s.Inner.ScrollToTop()
			}
		})
	})
	u.rebuild()
}

// due lists reminders; with a name each opens its engagement.
func (p *engagementsPage) due(u *UI, list []agreement.Reminder, opens bool) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, r := range list {
		ink, icon := look.Ink2, "clock"
		if r.Due {
			ink, icon = look.Warn, "warning"
		}
		what := []look.Run{{Text: opened.ReminderWords(r), Style: look.Small, Color: look.Ink}}
		if r.About != "" {
			what = append(append(what, look.Run{Text: ": ", Style: look.Small, Color: look.Ink2}), hostile.Runs(look.Small, look.Ink2, oneLine(r.About, 60))...)
		}
		line := parts.Cells(8, []float32{20, 232, 0}, parts.Middle(18, look.NewIcon(icon, 13, ink)), look.Text(look.Small, ink, page.At(r.At)), look.Para(what...))
		var o fyne.CanvasObject = parts.Pad(7, 0, 7, 0, line)
		if opens {
			t := parts.NewTap(o, func() { u.touch(); p.show(u, r.Engagement) })
			t.Watch(u)
			o = t
		}
		rows = append(rows, o)
	}
	return parts.Lined(rows...)
}

// sowRow is an engagement in the Inbox: it stands in nobody's way.
func (u *UI) sowRow(i approvals.Item) fyne.CanvasObject {
	what := opened.Waiting[i.Wants]
	if what == "" {
		what = "It waits for you"
	}
	name := []look.Run{{Text: what, Style: look.Strong, Color: look.Ink}}
	if i.Agent != "" {
		name = append(name, look.Run{Text: "  brought by " + safe(i.Agent), Style: look.Small, Color: look.Ink3})
	}
	age := look.Text(look.Caption, look.Ink3, u.ago(i.Since))
	age.Align = fyne.TextAlignTrailing
	open := u.button(parts.Plain, "", "Read", func() {
		switch i.Wants {
		case agreement.WaitCountersign, agreement.WaitApprove, agreement.WaitIntent:
			u.openContract(i.ID, "", "")
		default:
			u.open("engagements")
			u.deals.show(u, i.ID)
		}
	}).Small().High(32).Least(96)
	tile := parts.Sunk(look.Well, 6, parts.Pad(8, 8, 8, 8, look.NewIcon("engagement", 16, look.Ink2)))
	middle := parts.Column(6, look.Para(name...), parts.Quote(look.Para(hostile.Runs(look.Body, look.Ink2, i.Stem)...)))
	return parts.Pad(14, 0, 14, 0, parts.Cells(12, []float32{32, 0, 120}, tile, middle, parts.Column(6, parts.Row(0, parts.Spring(), open), age)))
}

// pasted takes a document in: from the clipboard or from a file. What is brought in
// never goes through a field that lays out text.
type pasted struct {
	path  *parts.Field
	draft bool // it is the owner's own, not signed yet
}

func newPasted(u *UI) *pasted {
	p := &pasted{path: parts.NewField("", "Path of a file", 1000)}
	p.path.Watch(u)
	return p
}

func (x *pasted) panel(u *UI) fyne.CanvasObject {
	back := u.button(parts.Plain, "", "Back", func() { u.deals.paste = nil; u.rebuild() })
	take := u.button(parts.Primary, "copy", "Take it from the clipboard", func() {
		u.deals.bring(u, []byte(u.app.Clipboard().Content()), x.draft, agreement.Source{Kind: "paste"})
	})
	words := "A contract, an offer, a change, or what belongs to one: a settlement record, a report, a review, an owner card, a bundle. Bringing it in signs nothing."
	list := []fyne.CanvasObject{}
	if u.opts.Read != nil {
		words += " A file can also be dropped on this window."
		list = append(list, parts.Row(8, parts.Grow(parts.Size(0, 36, x.path)), u.button(parts.Plain, "file", "Bring in the file", func() { u.take(strings.TrimSpace(x.path.Text), "file", x.draft) })))
	}
	if x.draft {
		words = "A document of yours that nobody has signed: an offer to publish, or the next version of an engagement to propose. It is checked and kept; you sign it on its page."
	}
	list = append([]fyne.CanvasObject{look.Text(look.Body, look.Ink2, words), parts.Row(8, u.pill("A draft of mine", x.draft, func() { x.draft = !x.draft; u.rebuild() }), parts.Spring())}, append(list, parts.Row(8, back, parts.Spring(), take))...)
	return parts.Sunk(look.Ground, 6, parts.Pad(14, 16, 14, 16, parts.Column(12, list...)))
}

// bring gives bytes to the desk, as a draft of the owner's or as what others made, and says what came of them.
func (p *engagementsPage) bring(u *UI, raw []byte, draft bool, from agreement.Source) {
	if len(raw) == 0 {
		u.banner = &banner{parts.Notice, "info", "There is nothing to bring in", "Copy a document first, or name a file."}
		u.rebuild()
		return
	}
	if len(raw) > bundle.Max {
		u.banner = &banner{parts.Notice, "warning", "That is too long", "A document may have 1 MiB, a bundle 8. Nothing was kept."}
		u.rebuild()
		return
	}
	var got agreement.Imported
	u.run("", func(ctx context.Context) error {
		var err error
		if draft {
			got, err = u.owner.DraftSoW(ctx, raw)
			return err
		}
		got, err = u.owner.Import(ctx, raw, "", from)
		return err
	}, func(err error) {
		if err != nil {
			return
		}
		p.paste = nil
		if got.Code == "" && got.Engagement != "" {
			p.show(u, got.Engagement)
		}
		u.banner = importedWords(got)
		p.reload(u, true)
	})
}

func importedWords(got agreement.Imported) *banner {
	what := opened.Records[got.Kind]
	if what == "" {
		what = "Something"
	}
	switch {
	case got.Code != "":
		more := safeLong(got.Detail)
		if more == "" {
			more = "Code: " + safe(got.Code) + "."
		}
		return &banner{parts.Notice, "warning", what + " was not kept", more + " Nothing was signed."}
	case got.Again:
		return &banner{parts.Calm, "info", what + " that was here already", "Nothing was changed."}
	}
	errors, warnings := 0, 0
	for _, f := range got.Findings {
		switch f.Severity {
		case sow.Error:
			errors++
		case sow.Warning:
			warnings++
		}
	}
	more := "Nothing was signed."
	if errors > 0 && got.Kind != agreement.RecordSoW {
		more = plural(int64(errors), "thing is", "things are") + " wrong with it, and said beside it. " + more
	} else if errors > 0 {
		more = plural(int64(errors), "finding bars", "findings bar") + " signing. " + more
	} else if warnings > 0 {
		more = plural(int64(warnings), "finding is", "findings are") + " to be read first. " + more
	}
	if n := len(got.Inside); n > 0 {
		more = plural(int64(n), "part", "parts") + " were taken one by one. " + more
	}
	return &banner{parts.Calm, "check", what + " was brought in", more}
}

// waits says whether something of an engagement waits for the owner.
func waits(v *agreement.View, w agreement.Waiting) bool {
	return slices.Contains(v.Waiting, w)
}
