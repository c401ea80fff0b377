package ui

import (
	"context"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/ui/look"
	"vault/ui/parts"
)

// firstRun is the way from an empty folder to a vault: what protects it, its first
// domain, its words. Passphrase and words appear in the secret window only.
type firstRun struct {
	step     int // 0 protection, 1 domain, 2 words
	restore  bool
	locked   bool // the way back leads to the locked page
	gate     *gate
	protect  *parts.Group
	words    *parts.Group
	form     domainForm
	creation approvals.Creation
	offered  *offer // after the vault was made, or nil
	noRing   bool   // no keyring answered when it was looked for
	making   bool   // the vault is being made; its pages come after the last step of this
}

func (f *firstRun) init(u *UI) {
	f.gate = &gate{now: u.opts.Now}
	f.gate.arm()
	changed := func() { u.touch(); u.rebuild() }
	f.protect = &parts.Group{Changed: changed}
	for _, p := range protections {
		f.protect.Add(string(p.value), p.name, p.why, f.gate.open).Watch(u)
	}
	f.words = &parts.Group{Changed: changed}
	f.words.Add("now", "Write the words down now", "The secret window shows 24 words and asks three of them back. Have paper at hand.", f.gate.open).Watch(u)
	f.words.Add("later", "Write them down later", "Once only: a red line stays in the Inbox until you do. Until then a lost computer is a lost vault.", f.gate.open).Watch(u)
	f.form.init(u, firstNamespace, firstDomain, firstKind)
	if u.opts.Keyring != nil {
		f.look(u)
	}
}

// look finds out whether a keyring answers. What is said of it is said beside the choice;
// nothing is chosen for the owner.
func (f *firstRun) look(u *UI) {
	u.opts.Go(func() {
		if s := u.owner.Status().State; s != approvals.StateNone && !f.locked {
			return
		}
		none := !u.opts.Keyring(u.ctx)
		u.opts.Do(func() {
			if f.noRing != none {
				f.noRing = none
				u.rebuild()
			}
		})
	})
}

// again restores a vault whose folder is there but cannot be opened: the same question as at first run.
func (f *firstRun) again(u *UI) {
	f.restore, f.locked = true, true
	f.protect.Take(nil)
	f.show(u, 0)
}

func (f *firstRun) show(u *UI, step int) {
	f.step = step
	f.gate.arm()
	u.banner = nil
	u.rebuild()
	if step == 0 && u.opts.Keyring != nil {
		f.look(u)
	}
}

func (f *firstRun) view(u *UI) fyne.CanvasObject {
	steps := []string{"Protection", "Domain", "Words"}
	name := "A new vault"
	if f.restore {
		name, steps = "A vault from its words", []string{"Protection", "Words"}
	}
	top := parts.Column(0, parts.Middle(63, parts.Pad(0, 40, 0, 40, parts.Row(12, look.NewIcon("mark", 22, look.Primary), look.Word(look.Strong, look.Ink, name), parts.Spring(), parts.Steps(steps, f.step)))), parts.Hair())

	var title, line string
	var body, foot []fyne.CanvasObject
	back := u.button(parts.Plain, "", "Back", func() { f.show(u, f.step-1) })
	switch {
	case u.busy != "":
		title, line = "Look at the secret window", "Passphrases and recovery words are typed and shown there and nowhere else."
		wait := u.button(parts.Primary, "", "Waiting for the secret window", func() {})
		wait.Disable()
		foot = []fyne.CanvasObject{parts.Spring(), wait}
	case f.step == 0:
		title, line = "What opens this vault?", "You can make it stronger later. To make it weaker needs a passkey."
		if f.restore {
			title = "What shall open it on this computer?"
		}
		for _, c := range f.protect.Choices() {
			body = append(body, c, parts.Space(0, 8))
		}
		if f.noRing {
			body = append(body, parts.Space(0, 8),
				parts.Note("info", look.Ink2, "No keyring answers here: only “Passphrase only” can be chosen now. A keyring can be added to it later."))
		}
		next := u.button(parts.Primary, "", nothing, func() {
			if f.protect.Taken() != nil && f.gate.open() {
				f.creation.Protection = keys.Protection(f.protect.Taken().Value)
				if f.restore {
					f.run(u)
					return
				}
				f.show(u, 1)
			}
		}).Least(200)
		if t := f.protect.Taken(); t != nil {
			next.Set("Confirm: "+t.Label, true)
		} else {
			next.Set(nothing, false)
		}
		other := u.button(parts.Quiet, "chevron", "Restore from recovery words", func() { f.restore = true; f.show(u, 0) }).IconAfter()
		if f.restore {
			other = u.button(parts.Plain, "", "Back", func() { f.restore, f.locked = false, false; f.show(u, 0) })
		}
		foot = []fyne.CanvasObject{other, parts.Spring(), next}
	case f.step == 1:
		title, line = "Your first domain", "A domain is a branch of keys for one purpose. Agents name it when they ask. These names do for a start."
		body = append(body, f.form.view())
		next := u.button(parts.Primary, "", "Use these names", func() {
			if f.form.missing() == "" && f.gate.open() {
				f.creation.Domain = f.form.value()
				f.show(u, 2)
			}
		})
		note := "Names cannot be changed later: the address follows from them."
		if why := f.form.missing(); why != "" {
			note = why
			next.Disable()
		}
		foot = []fyne.CanvasObject{back, parts.Grow(parts.Pad(0, 0, 0, 8, look.Text(look.Caption, look.Ink3, note))), next}
	default:
		title, line = "Its recovery words", "24 words are the vault itself. Whoever has them can be you; without them a lost computer is a lost vault. Nobody else has a copy."
		for _, c := range f.words.Choices() {
			body = append(body, c, parts.Space(0, 8))
		}
		body = append(body, parts.Space(0, 8),
			parts.Note("pencil", look.Ink2, "On paper, in this order. A photograph or a file can be copied without your noticing."), parts.Space(0, 6),
			parts.Note("hidden", look.Ink2, "Look around first. The words are never put on the clipboard; close other programs that record the screen."))
		next := u.button(parts.Primary, "", nothing, func() {
			if f.words.Taken() != nil && f.gate.open() {
				f.creation.PutOff = f.words.Taken().Value == "later"
				f.run(u)
			}
		}).Least(200)
		if f.words.Taken() != nil {
			next.Set("Confirm: Create the vault", true)
		} else {
			next.Set(nothing, false)
		}
		foot = []fyne.CanvasObject{back, parts.Spring(), next}
	}
	objs := []fyne.CanvasObject{look.Text(look.Title, look.Ink, title), parts.Space(0, 4), look.Text(look.Body, look.Ink2, line), parts.Space(0, 24)}
	if b := u.banner; b != nil {
		objs = append(objs, parts.Banner(b.tone, b.icon, b.what, b.more, nil), parts.Space(0, 16))
	}
	objs = append(objs, body...)
	paper := parts.Pad(32, 40, 20, 40, parts.Center(740, parts.Column(0, objs...)))
	below := []fyne.CanvasObject{parts.Sunk(look.Paper, 0, parts.Pad(20, 40, 24, 40, parts.Center(740, parts.Row(8, foot...)))), clickStrip(40)}
	return stack([]fyne.CanvasObject{top}, parts.Over(look.NewBox(look.Paper, "", 0), parts.NewScroll(paper)), below...)
}

// run makes or restores the vault. The secret window asks for what is secret.
func (f *firstRun) run(u *UI) {
	c := f.creation
	c.Surface = keys.SurfaceWindow
	f.making = true
	u.run("secret", func(ctx context.Context) error {
		if f.restore {
			return u.owner.Restore(ctx, c.Protection, keys.SurfaceWindow)
		}
		return u.owner.Create(ctx, c)
	}, func(err error) {
		f.gate.arm()
		f.making = false
		if err == nil {
			f.locked = false
			what := "The vault was made"
			if f.restore {
				what = "Restored. The addresses are the same as before"
			}
			u.banner = &banner{parts.Calm, "check", what, "It opens its first page."}
			if !f.restore && c.Protection != keys.ProtectKeyring {
				f.offerPasskey(u)
			}
		}
	})
}
