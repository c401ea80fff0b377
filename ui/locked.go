package ui

import (
	"context"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/ui/look"
	"vault/ui/parts"
)

// locked is the page while the key process is not running. The passphrase is
// typed in the secret window, never here.
func (u *UI) locked() fyne.CanvasObject {
	st := u.state.Status
	title, line := "The vault is locked", lockWords(st)
	opening := st.State == approvals.StateOpening || u.busy != ""
	if opening {
		title, line = "Opening", "Look at the secret window: what opens this vault is typed there and nowhere else."
	}
	center := func(s look.Style, ink fyne.ThemeColorName, t string) *look.Paragraph {
		p := look.Text(s, ink, t)
		p.Align = fyne.TextAlignCenter
		return p
	}
	var below []fyne.CanvasObject
	if u.banner != nil {
		b := u.banner
		below = append(below, parts.Banner(b.tone, b.icon, b.what, b.more, nil), parts.Space(0, 16))
	}
	if t := st.Trouble; t != nil {
		b := trouble(t)
		below = append(below, parts.Banner(b.tone, b.icon, b.what, b.more, nil), parts.Space(0, 16))
	}
	unlock := u.button(parts.Primary, "unlock", "Unlock", func() {
		u.run("unlock", func(ctx context.Context) error { return u.owner.Unlock(ctx, keys.SurfaceWindow) }, nil)
	})
	restore := u.button(parts.Quiet, "chevron", "Restore from recovery words", func() {
		u.first.again(u)
	}).IconAfter()
	if opening {
		unlock.Set("Waiting for the secret window", false)
		restore.Disable()
	}
	below = append(below, unlock, parts.Space(0, 8), center(look.Caption, look.Ink3, "A window of its own asks for what opens this vault."), parts.Space(0, 10))
	if !opening {
		below = append(below, parts.Center(0, restore))
	}
	middle := parts.Column(0,
		parts.Space(0, 150),
		parts.Center(56, parts.Size(0, 56, look.NewIcon("mark-empty", 56, look.Primary))),
		parts.Space(0, 20),
		center(look.Title, look.Ink, title), parts.Space(0, 4), center(look.Body, look.Ink2, line), parts.Space(0, 28),
		parts.Center(360, parts.Column(0, below...)))
	waits := "Nothing waits. Agents that ask now are told: locked."
	if st.Waiting > 0 {
		waits = plural(st.Waiting, "request waits. It keeps its place and its time limit.", "requests wait. They keep their place and their time limits.") + " Agents that ask now are told: locked."
	}
	foot := parts.Column(0, parts.Hair(), parts.Middle(52, parts.Pad(0, 32, 0, 32,
		parts.Row(8, look.NewIcon("inbox", 16, look.Ink2), parts.Grow(look.Text(look.Small, look.Ink2, waits))))))
	return stack(nil, parts.NewScroll(middle), foot)
}
