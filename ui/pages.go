package ui

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"vault/approvals"
	"vault/ui/look"
	"vault/ui/parts"
)

var rail = []struct{ page, name, icon string }{
	{"inbox", "Inbox", "inbox"},
	{"agents", "Agents", "agent"},
	{"engagements", "Engagements", "engagement"},
	{"domains", "Domains", "domain"},
	{"delegates", "Delegates", "delegate"},
	{"activity", "Activity", "activity"},
	{"settings", "Settings", "settings"},
}

// pages is the main window of an opened vault: the rail and one page.
func (u *UI) pages() fyne.CanvasObject {
	st := u.state.Status
	var items []fyne.CanvasObject
	brand := parts.Pad(0, 8, 18, 8, parts.Row(10, look.NewIcon("mark", 22, look.Primary),
		parts.Grow(parts.Column(0, look.Text(look.Strong, look.Ink, "Vault"), look.Text(look.Caption, look.Ink3, vaultName(st))))))
	items = append(items, brand)
	for _, r := range rail {
		count := ""
		if n := waiting(u.state.Inbox); r.page == "inbox" && n > 0 {
			count = fmt.Sprint(n)
		}
		item := parts.NewNav(r.icon, r.name, count, u.page == r.page, func() { u.touch(); u.open(r.page) })
		item.Watch(u)
		items = append(items, item, parts.Space(0, 2))
	}
	var lock []fyne.CanvasObject
	words, more := "Unlocked", fmt.Sprintf("locks after %d min idle", st.IdleMS/60000)
	switch {
	case st.State == approvals.StateAway:
		words, more = "Away", "the screen is locked"
	case st.State == approvals.StateReadOnly:
		words, more = "Reading only", "nothing can be signed"
	}
	lock = append(lock,
		parts.Pad(0, 8, 10, 8, parts.Column(2,
			parts.Row(8, look.NewIcon("unlock", 14, look.Ink), look.Word(look.Small, look.Ink, words)),
			parts.Pad(0, 0, 0, 22, look.Text(look.Caption, look.Ink3, more)))),
		u.button(parts.Plain, "lock", "Lock now", func() {
			u.run("lock", func(ctx context.Context) error { return u.owner.Lock(ctx, "asked") }, nil)
		}))
	side := stack(nil, parts.Pad(18, 12, 0, 12, parts.Column(0, items...)), parts.Pad(0, 12, 14, 12, parts.Column(0, lock...)))

	var page fyne.CanvasObject
	switch u.page {
	case "agents":
		page = u.agents.view(u)
	case "engagements":
		page = u.deals.page(u)
	case "domains":
		page = u.domains.view(u)
	case "activity":
		page = u.log.view(u)
	case "settings":
		page = u.set.view(u)
	case "delegates": // has columns of its own
	default:
		page = u.inbox()
	}
	var top []fyne.CanvasObject
	for _, b := range u.banners() {
		top = append(top, b, parts.Space(0, 18))
	}
	var view fyne.CanvasObject
	if u.page == "delegates" {
		view = u.delegates.columns(u, top)
	} else {
		body := parts.Pad(24, 32, 32, 32, parts.Column(0, append(top, page)...))
		s := u.scroll[u.page]
		if s == nil {
			s = parts.NewScroll(body)
			u.scroll[u.page] = s
		} else {
			s.Set(body)
		}
		if u.page == "engagements" {
			u.deals.list.in(s)
		}
		view = s
	}
	var below []fyne.CanvasObject
	if st.Public.Passkeys == 0 {
		below = append(below, clickStrip(32))
	}
	paper := stack(nil, parts.Over(look.NewBox(look.Paper, "", 0), view), below...)
	return container.New(&railLayout{}, side, look.Rule(), paper)
}

// banners are what the vault has to say on every page.
func (u *UI) banners() []fyne.CanvasObject {
	var out []fyne.CanvasObject
	if t := u.state.Status.Trouble; t != nil {
		b := trouble(t)
		var button *parts.Button
		switch t.Code {
		case "rolled_back", "copied", "restored", "anchor_missing":
			button = u.button(parts.Plain, "", "Start a new instance", func() { u.open("settings"); u.set.ask(u, "instance") })
		}
		out = append(out, parts.Banner(b.tone, b.icon, b.what, b.more, button))
	}
	if b := u.banner; b != nil {
		var again *parts.Button
		if u.repeat.of == b {
			again = u.button(parts.Plain, "key", "Open the page again", u.repeat.do)
		}
		out = append(out, parts.Banner(b.tone, b.icon, b.what, b.more, again))
	}
	if u.asking != nil {
		return append(out, u.ceremonyPanel())
	}
	if u.busy != "" {
		out = append(out, parts.Banner(parts.Calm, "clock", busyWords(u.busy), "", nil))
	}
	return out
}

func busyWords(what string) string {
	switch what {
	case "secret":
		return "Look at the secret window: passphrases and words are typed and shown there and nowhere else."
	case "passkey":
		return "The vault asks for a confirmation where one is needed."
	case "verify":
		return "The vault reads its log from the first entry."
	}
	return "The vault is working on it."
}

func vaultName(st approvals.Status) string {
	if st.Public.Vault == "" {
		return "your vault"
	}
	return "vault " + short(st.Public.Vault)[:min(8, len(st.Public.Vault))]
}

// railLayout gives the rail 208 at 100 percent, a hairline, and the page the rest.
type railLayout struct{}

func (railLayout) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	w := min(look.S(208), size.Width*0.34)
	objs[0].Resize(fyne.NewSize(w, size.Height))
	objs[1].Move(fyne.NewPos(w, 0))
	objs[1].Resize(fyne.NewSize(1, size.Height))
	objs[2].Move(fyne.NewPos(w+1, 0))
	objs[2].Resize(fyne.NewSize(size.Width-w-1, size.Height))
}

func (railLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// head is the top of a page: title, a line below it, and buttons at the right.
func head(title, line string, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	objs := append([]fyne.CanvasObject{parts.Grow(look.Text(look.Title, look.Ink, title))}, buttons...)
	out := []fyne.CanvasObject{parts.Row(8, objs...)}
	if line != "" {
		out = append(out, parts.Space(0, 2), look.Text(look.Body, look.Ink2, line))
	}
	return parts.Column(0, out...)
}

// section is the caption above a list.
func section(name string) fyne.CanvasObject { return look.Text(look.CaptionM, look.Ink3, name) }
