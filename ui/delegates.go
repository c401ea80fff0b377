package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/derive/envelope"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// How much of delegates and of what they minted is laid out and loaded at first, and more at a time.
const (
	delegatesAtOnce = 40
	mintsAtOnce     = 5
	mintsMost       = 500
	chartDays       = 14
)

const dayMS = int64(24 * time.Hour / time.Millisecond)

// delegatesPage lists the delegates beside one of them, or beside the form for a new one.
type delegatesPage struct {
	selected string // delegateHash, or "" for the newest
	shown    int    // how many of the list
	open     string // mint whose fields are shown, or ""
	all      bool   // the bounds are shown whole
	asking   string // "revoke", "resume", "admit", "export" or ""
	question *question
	admit    *parts.Field
	called   *parts.Field // the owner's name for the bot of one that is admitted
	to       *parts.Field // recipient of mint material
	form     *delegateForm
	bringing *bringing
	out      []approvals.MintView // what was out when the delegate was revoked here
	outOf    string               // of which delegate

	list, page *parts.Scroll
}

// delegate gives the one that is shown, or false where there is none.
func (p *delegatesPage) delegate(u *UI) (approvals.DelegateView, bool) {
	list := u.state.Delegates
	for _, d := range list {
		if d.Hash == p.selected {
			return d, true
		}
	}
	if len(list) == 0 {
		return approvals.DelegateView{}, false
	}
	return list[0], true
}

// follow says which delegate's mints are loaded with the state.
func (p *delegatesPage) follow(u *UI, hash string, most int) {
	u.followMints(minted{hash: hash, most: most, shown: true})
}

// minted is what of the mints is loaded.
type minted struct {
	hash  string // "" for the newest delegate's
	most  int
	shown bool // the page is: on any other, none are
}

// followMints says what of the mints is loaded from now on, and loads it where it is shown.
func (u *UI) followMints(of minted) {
	u.mu.Lock()
	changed := u.mints != of
	u.mints = of
	u.mu.Unlock()
	if changed && of.shown {
		u.changed()
	}
}

// mintsShown says whether the page is there that shows what was minted.
func (u *UI) mintsShown(shown bool) {
	u.mu.Lock()
	of := u.mints
	u.mu.Unlock()
	of.shown = shown
	u.followMints(of)
}

// loadMints reads what the page shows of one delegate.
func (u *UI) loadMints(s *state, of minted) {
	if !of.shown {
		return
	}
	if of.hash == "" && len(s.Delegates) > 0 {
		of.hash = s.Delegates[0].Hash
	}
	if of.hash == "" {
		return
	}
	s.MintsOf = of.hash
	if list, err := u.owner.Mints(approvals.MintFilter{Delegate: of.hash, Limit: max(of.most, mintsAtOnce)}); err == nil {
		s.Mints = list
	}
	if uses, err := u.owner.MintUses(of.hash, u.chartFrom().UnixMilli(), dayMS); err == nil {
		s.MintUses = uses
	}
}

// chartFrom is the beginning of the first day of the chart.
func (u *UI) chartFrom() time.Time {
	y, m, d := u.opts.Now().In(u.opts.Zone).Date()
	return time.Date(y, m, d-chartDays+1, 0, 0, 0, 0, u.opts.Zone)
}

// delegateName is the owner's name for a delegate's bot, or what can be said instead.
func delegateName(d approvals.DelegateView) string { return nameOf(d.Name, d.Bounds) }

func nameOf(name string, b approvals.DelegateBounds) string {
	switch {
	case name != "":
		return safe(name)
	case b.BotPolicy == envelope.BotAny:
		return "Any bot"
	case len(b.Bots) == 1:
		return shortAddress(b.Bots[0])
	}
	return plural(len(b.Bots), "bot", "bots")
}

// shortAddress is an address as a list has it: first 4 … last 8.
func shortAddress(a string) string {
	if !envelope.IsAddress(strings.ToLower(a)) {
		return safe(a)
	}
	return a[:6] + "…" + a[len(a)-8:]
}

// sentenceRuns is a delegate's sentence, with what came from outside checked.
func sentenceRuns(name string, b approvals.DelegateBounds, style look.Style) []look.Run {
	var out []look.Run
	if name == "" && b.BotPolicy == envelope.BotSet && len(b.Bots) == 1 {
		name = shortAddress(b.Bots[0])
	}
	for _, part := range bounds.Sentence(name, b.Fields()) {
		if part.Outside {
			s := style
			s.Medium = s.Medium && ascii(part.Text) // it has no other scripts
			out = append(out, hostile.Runs(s, look.Ink, part.Text)...)
			continue
		}
		out = append(out, look.Run{Text: part.Text, Style: style, Color: look.Ink})
	}
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// sentenceStyle is the style of a delegate's sentence.
var sentenceStyle = look.Style{Size: 16, Line: 24, Medium: true}

// over says that a delegate gives nothing any more.
func over(d approvals.DelegateView) bool {
	return d.State == approvals.DelegateEnded || d.State == approvals.DelegateExpired
}

// delegateWords are the words and the icon for how a delegate stands, for a list.
func delegateWords(d approvals.DelegateView) (words, icon string) {
	switch d.State {
	case approvals.DelegatePaused:
		return "paused", "pause"
	case approvals.DelegateEnded:
		return "revoked", "cross"
	case approvals.DelegateExpired:
		return "over", "clock"
	case approvals.DelegateNotYet:
		return "not begun", "clock"
	case approvals.DelegateSuspended:
		return "not admitted", "warning"
	case approvals.DelegateSpent:
		return "no keys left", ""
	}
	return plural(d.MintsLeft, "key left", "keys left"), ""
}

// columns are the two halves of the page, which scroll apart.
func (p *delegatesPage) columns(u *UI, top []fyne.CanvasObject) fyne.CanvasObject {
	issue := u.button(parts.Plain, "plus", "Issue…", func() { p.issue(u) }).Small()
	title := parts.Middle(68, parts.Pad(0, 16, 0, 16, parts.Row(8, parts.Grow(look.Text(look.Title, look.Ink, "Delegates")), issue)))
	list := parts.Column(0, title, parts.Hair(), p.rows(u), parts.Pad(12, 16, 16, 16, parts.Row(0,
		u.button(parts.Plain, "file", "Bring one in…", func() { p.bring(u) }).Small(), parts.Spring())))
	var body fyne.CanvasObject
	switch d, ok := p.delegate(u); {
	case p.form != nil:
		body = p.form.view(u, pinnable())
	case p.bringing != nil:
		body = p.bringing.view(u, p)
	case !ok:
		body = parts.Empty("delegate", "No bot may mint anything", "A delegate lets a bot have keys of its own made, within bounds that you sign once. It never gets a seed.")
	default:
		body = p.detail(u, d)
	}
	page := parts.Pad(20, 28, 32, 28, parts.Column(0, append(top, body)...))
	pinned := p.form != nil && p.form.plan == nil && pinnable()
	if pinned {
		page = parts.Pad(16, 28, 24, 28, body)
	}
	if p.list == nil {
		p.list, p.page = parts.NewScroll(list), parts.NewScroll(page)
	} else {
		p.list.Set(list)
		p.page.Set(page)
	}
	right := fyne.CanvasObject(p.page)
	if pinned {
		above := parts.Pad(20, 28, 14, 28, parts.Column(0, append(top, p.form.head(u))...))
		right = stack([]fyne.CanvasObject{above, parts.Hair()}, p.page, parts.Hair(), parts.Sunk(look.Ground, 0, parts.Pad(12, 28, 12, 28, p.form.foot(u))))
	}
	return container.New(&splitLayout{}, p.list, look.Rule(), right)
}

// pinnable says that the text is small enough for the form's sentence and buttons to stay while its
// lines scroll.
func pinnable() bool { return look.Scale() < 1.5 }

// splitLayout puts a list beside a page, and above it where the page would be too narrow.
type splitLayout struct{}

func (splitLayout) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	put := func(o fyne.CanvasObject, x, y, w, h float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(w, h))
	}
	if w := look.S(264); size.Width-w >= look.S(400) {
		put(objs[0], 0, 0, w, size.Height)
		put(objs[1], w, 0, 1, size.Height)
		put(objs[2], w+1, 0, size.Width-w-1, size.Height)
		return
	}
	h := float32(int(size.Height * 0.36))
	put(objs[0], 0, 0, size.Width, h)
	put(objs[1], 0, h, size.Width, 1)
	put(objs[2], 0, h+1, size.Width, size.Height-h-1)
}

func (splitLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// rows is the list: what is in force first, then what is over.
func (p *delegatesPage) rows(u *UI) fyne.CanvasObject {
	list := slices.Clone(u.state.Delegates)
	slices.SortStableFunc(list, func(a, b approvals.DelegateView) int { return rank(a) - rank(b) })
	most := max(p.shown, delegatesAtOnce)
	current, _ := p.delegate(u)
	var out []fyne.CanvasObject
	for i, d := range list {
		if i == most {
			out = append(out, parts.Pad(8, 16, 0, 16, parts.Row(0, u.button(parts.Plain, "more", plural(len(list)-most, "more", "more"), func() {
				p.shown = most + delegatesAtOnce
				u.rebuild()
			}).Small(), parts.Spring())))
			break
		}
		out = append(out, p.row(u, d, d.Hash == current.Hash && p.form == nil && p.bringing == nil), parts.Hair())
	}
	return parts.Column(0, out...)
}

func rank(d approvals.DelegateView) int {
	if over(d) {
		return 1
	}
	return 0
}

func (p *delegatesPage) row(u *UI, d approvals.DelegateView, current bool) fyne.CanvasObject {
	words, icon := delegateWords(d)
	ink := look.Ink
	if over(d) {
		ink = look.Ink2
	}
	head := []fyne.CanvasObject{parts.Grow(look.Text(look.Strong, ink, delegateName(d)))}
	if icon != "" {
		head = append(head, look.NewIcon(icon, 11, look.Ink2), parts.Space(4, 0))
	}
	head = append(head, look.Word(look.Caption, look.Ink2, words))
	what := append(firstOf(d.Bounds.Operations), look.Run{Text: ", ", Style: look.Small, Color: look.Ink2})
	what = append(what, firstOf(d.Bounds.Resources)...)
	objs := []fyne.CanvasObject{parts.Row(0, head...), look.Para(what...)}
	switch {
	case over(d):
		objs = append(objs, parts.Space(0, 4), look.Text(look.Caption, look.Ink3, keysMade(d)))
	case d.State == approvals.DelegateSuspended:
		objs = append(objs, parts.Space(0, 4), look.Text(look.Caption, look.Ink3, "brought in "+day(u.at(d.MadeAt))))
	default:
		objs = append(objs, parts.Space(0, 8), parts.Bar(d.Minted, d.Mints, d.State != approvals.DelegateActive, 6))
	}
	if !d.BoundsHeld {
		objs = append(objs, parts.Space(0, 6), parts.Row(5, look.NewIcon("warning", 12, look.Warn), look.Word(look.Caption, look.Ink, "bounds not held")))
	}
	row := parts.Listed(current, parts.Pad(12, 16, 12, 16, parts.Column(0, objs...)), func() {
		u.touch()
		p.choose(u, d.Hash)
	})
	row.Watch(u)
	return row
}

func keysMade(d approvals.DelegateView) string {
	if d.Minted == 0 {
		return "no key was minted"
	}
	return plural(d.Minted, "key was minted", "keys were minted")
}

// firstOf is the first of a list, with a count of the others.
func firstOf(list []string) []look.Run {
	if len(list) == 0 {
		return []look.Run{{Text: "nothing", Style: look.Small, Color: look.Ink2}}
	}
	out := hostile.Runs(look.Small, look.Ink2, list[0])
	if n := len(list) - 1; n > 0 {
		out = append(out, look.Run{Text: fmt.Sprintf(" and %d more", n), Style: look.Small, Color: look.Ink2})
	}
	return out
}

// choose shows a delegate.
func (p *delegatesPage) choose(u *UI, hash string) {
	p.selected, p.open, p.asking, p.form, p.bringing, p.all = hash, "", "", nil, nil, false
	u.banner = nil
	p.follow(u, hash, mintsAtOnce)
	u.rebuild()
	p.page.Inner.ScrollToTop()
}
