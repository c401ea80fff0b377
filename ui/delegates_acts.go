package ui

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/plain"
	"vault/ui/look"
	"vault/ui/parts"
)

// pause stops a delegate at once.
func (p *delegatesPage) pause(u *UI, d approvals.DelegateView) {
	u.run("", func(ctx context.Context) error { return u.owner.PauseDelegate(ctx, d.Hash) }, nil)
}

func (p *delegatesPage) shut(u *UI) func() { return func() { p.asking = ""; u.rebuild() } }

// ask opens a question about a delegate below its sentence.
func (p *delegatesPage) ask(u *UI, d approvals.DelegateView, what string) {
	p.asking = what
	q := newQuestion(u, p.shut(u))
	name := delegateName(d)
	switch what {
	case "revoke":
		if d.State == approvals.DelegateSuspended {
			q.add("Remove "+name, "It never was in force here. It can be brought in again.", "", func() { p.revoke(u, d) })
			q.add("Leave it as it is", "Nothing is minted under it here.", "", p.shut(u))
			break
		}
		q.add("Revoke "+name, p.revokeWords(u, d), "", func() { p.revoke(u, d) })
		if d.State != approvals.DelegatePaused {
			q.add("Pause it instead", "It stops at once too. Your passkey lets it go on.", "", func() { p.asking = ""; p.pause(u, d) })
		}
		q.add("Leave it as it is", "Nothing changes.", "", p.shut(u))
	case "resume":
		q.add("Resume "+name, "It may mint and sign again within its bounds. Your passkey confirms it.", u.mayConfirm(), func() {
			p.asking = ""
			u.confirm(func() (approvals.Outcome, error) { return u.owner.ResumeDelegate(u.ctx, d.Hash) },
				&banner{parts.Calm, "check", name + " goes on", "It mints and signs within its bounds from now on."}, nil)
		})
		q.add("Leave it paused", "Nothing is minted or signed under it.", "", p.shut(u))
	case "admit":
		p.askAdmit(u, q, d)
	case "export":
		p.askExport(u, q, d)
	}
	p.question = q
	u.rebuild()
	p.page.Inner.ScrollToTop()
}

// revokeWords say what revoking ends, and what it cannot end.
func (p *delegatesPage) revokeWords(u *UI, d approvals.DelegateView) string {
	words := delegateName(d) + " stops at once, for good. "
	switch {
	case d.Minted == 0:
		return words + "No key was minted under it."
	case d.Minted == 1:
		return words + "1 key is already out; what it signed stays signed."
	}
	return words + parts.Number(d.Minted) + " keys are already out; what they signed stays signed."
}

func (p *delegatesPage) revoke(u *UI, d approvals.DelegateView) {
	var out []approvals.MintView
	u.run("", func(ctx context.Context) (err error) {
		out, err = u.owner.RevokeDelegate(ctx, d.Hash)
		return err
	}, func(err error) {
		p.asking = ""
		if err == nil {
			p.out, p.outOf = out, d.Hash
		}
	})
}

// typedIn adds a field above a question's answers.
func typedIn(q *question, name, more string, width float32, f *parts.Field) {
	objs := []fyne.CanvasObject{look.Text(look.CaptionM, look.Ink2, name), parts.Row(0, parts.Size(width, 36, f), parts.Spring())}
	if width == 0 {
		objs[1] = parts.Size(0, 36, f)
	}
	if more != "" {
		objs = append(objs, look.Text(look.Caption, look.Ink3, more))
	}
	q.above = parts.Column(5, objs...)
}

func (p *delegatesPage) askAdmit(u *UI, q *question, d approvals.DelegateView) {
	const ask = "Type how many keys may be minted here."
	p.admit = parts.NewField("", "", 16)
	p.admit.Watch(u)
	typedIn(q, "How many keys may be minted here", "At most "+parts.Number(d.Bounds.MaxMints)+". How many were minted elsewhere is not known here.", 120, p.admit)
	p.called = parts.NewField("", "support-bot", nameMost)
	p.called.Watch(u)
	keys := q.above
	typedIn(q, "Your name for its bot", "Pages show this name. It may be left empty.", 264, p.called)
	q.above = parts.Column(12, keys, q.above)
	number := func() (int64, string) {
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(p.admit.Text), ",", ""), 10, 64)
		switch {
		case err != nil || n < 1:
			return 0, ask
		case n > d.Bounds.MaxMints:
			return 0, "The delegate itself allows " + parts.Number(d.Bounds.MaxMints) + "."
		case !plain.One(p.called.Text).Clean():
			return 0, "The name holds hidden or look-alike letters."
		}
		return n, u.mayConfirm()
	}
	why := "It is then in force here. Your passkey confirms it."
	yes := q.add("Admit it", why, ask, func() {
		n, blocked := number()
		if blocked != "" {
			return
		}
		p.asking = ""
		name := strings.TrimSpace(p.called.Text)
		u.confirm(func() (approvals.Outcome, error) { return u.owner.AdmitDelegate(u.ctx, d.Hash, n, name) },
			&banner{parts.Calm, "check", "The delegate was admitted", "Up to " + plural(n, "key", "keys") + " may be minted under it here."}, nil)
	})
	changed := func(string) {
		if n, blocked := number(); blocked != "" {
			yes.Block(blocked)
		} else {
			yes.Enable()
			yes.Set("Admit it for "+plural(n, "key", "keys"), why)
		}
		q.group.Take(nil)
	}
	p.admit.OnChanged, p.called.OnChanged = changed, changed
	q.add("Leave it as it is", "Nothing is minted under it here.", "", p.shut(u))
}

func (p *delegatesPage) askExport(u *UI, q *question, d approvals.DelegateView) {
	domain := safe(d.Bounds.Domain.ID)
	const ask = "Type whom it is sealed to."
	p.to = parts.NewField("", "age1…", 80)
	p.to.Watch(u)
	typedIn(q, "Sealed to", "An age recipient, age1 and 58 characters. Whoever has its key can open the file; check it with them by another way.", 0, p.to)
	q.above = parts.Column(12, parts.Banner(parts.Alarm, "warning", "This opens the whole domain",
		"Whoever holds it can make every minted key of "+domain+", also ones you never issued. It cannot be taken back. Never give it to a hosted service.", nil), q.above)
	blocked := func() string {
		to := strings.TrimSpace(p.to.Text)
		switch {
		case to == "":
			return ask
		case !strings.HasPrefix(to, "age1") || len(to) != 62 || strings.ToLower(to) != to:
			return "This is no age recipient: age1 and 58 small letters and digits."
		}
		return u.mayConfirm()
	}
	label, why := "Let the mint material of "+domain+" out", "Your passkey confirms it. From then on this vault no longer holds the bounds of this domain’s delegates."
	yes := q.add(label, why, ask, func() {
		if blocked() != "" {
			return
		}
		p.asking = ""
		p.export(u, d, strings.TrimSpace(p.to.Text))
	})
	p.to.OnChanged = func(string) {
		if b := blocked(); b != "" {
			yes.Block(b)
		} else {
			yes.Enable()
			yes.Set(label, why)
		}
		q.group.Take(nil)
	}
	q.add("Leave it as it is", "Nothing leaves the vault.", "", p.shut(u))
}

// export seals the mint material of a delegate's domain to one recipient.
func (p *delegatesPage) export(u *UI, d approvals.DelegateView, to string) {
	said := &banner{tone: parts.Notice, icon: "warning", what: "The mint material was let out, sealed"}
	u.confirm(func() (approvals.Outcome, error) {
		// The file is there first: what was let out and could not be kept would have cost the bounds for nothing.
		w, at, err := u.opts.Export("mint-material.age")
		if err != nil {
			return approvals.Outcome{}, err
		}
		b, out, err := u.owner.ExportMint(u.ctx, d.Bounds.Domain.Hash, to)
		if err != nil || out.Code != "done" {
			return out, errors.Join(err, discard(w))
		}
		said.more = "It is in " + safe(at) + ". Only the recipient you typed can open it. The delegates of this domain say from now on that their bounds are no longer held here."
		_, err = w.Write(b)
		return out, errors.Join(err, w.Close())
	}, said, nil)
}

// discard closes a file into which nothing was written, and takes it away where it can be.
func discard(w File) error {
	if d, ok := w.(Discarder); ok {
		return d.Discard()
	}
	return w.Close()
}

// bringing is a delegate from elsewhere that is being brought in.
type bringing struct {
	path *parts.Field
}

func (p *delegatesPage) bring(u *UI) {
	b := &bringing{path: parts.NewField("", "/home/you/Downloads/delegate.json", 512)}
	b.path.Watch(u)
	b.path.OnChanged = func(string) { u.rebuild() }
	p.bringing, p.form, p.asking = b, nil, ""
	u.banner = nil
	u.rebuild()
	p.page.Inner.ScrollToTop()
}

func (b *bringing) view(u *UI, p *delegatesPage) fyne.CanvasObject {
	step := func(n, what, more string) fyne.CanvasObject {
		return parts.Cells(12, []float32{20, 0}, look.Text(look.SmallM.Box(20), look.Ink3, n), parts.Column(0, look.Text(look.Body, look.Ink, what), look.Text(look.Small, look.Ink2, more)))
	}
	paste := u.button(parts.Plain, "copy", "Take it from the clipboard", func() {
		text := u.app.Clipboard().Content()
		p.take(u, func() ([]byte, error) { return []byte(text), nil })
	})
	objs := []fyne.CanvasObject{
		look.Text(look.Title, look.Ink, "Bring a delegate in"), parts.Space(0, 4),
		look.Text(look.Body, look.Ink2, "One that this vault’s keys signed elsewhere, on another computer or before this vault was restored. The vault checks it, and keeps it out of force until you admit it."),
		parts.Space(0, 16), section("What is checked"), parts.Space(0, 6), parts.Column(8,
			step("1", "Its form", "Exactly the members of a delegate, each as it must be."),
			step("2", "What is said of its domain", "Where a summary came with it, it is about the same domain."),
			step("3", "Its issuer", "It is the address of a domain of this vault."),
			step("4", "Its signature", "It is by that issuer’s key, over every member.")),
		parts.Space(0, 18),
	}
	line := []fyne.CanvasObject{paste}
	if u.opts.Read != nil {
		read := u.button(parts.Plain, "file", "Read the file", func() {
			name := strings.TrimSpace(b.path.Text)
			p.take(u, func() ([]byte, error) {
				_, raw, err := u.opts.Read(name)
				return raw, err
			})
		})
		if strings.TrimSpace(b.path.Text) == "" {
			read.Disable()
		}
		objs = append(objs, look.Text(look.CaptionM, look.Ink2, "Its file"), parts.Space(0, 5), parts.Row(8, parts.Grow(parts.Size(0, 36, b.path)), read), parts.Space(0, 12))
	}
	back := u.button(parts.Plain, "", "Back", func() { p.bringing = nil; u.rebuild() })
	return parts.Column(0, append(objs, parts.Row(8, append(append([]fyne.CanvasObject{back}, parts.Spring()), line...)...))...)
}

// take imports what was read.
func (p *delegatesPage) take(u *UI, read func() ([]byte, error)) {
	var got approvals.DelegateView
	u.run("", func(ctx context.Context) error {
		raw, err := read()
		if err != nil {
			return err
		}
		got, err = u.owner.ImportDelegate(ctx, raw)
		return err
	}, func(err error) {
		if err != nil {
			return
		}
		p.choose(u, got.Hash)
		u.banner = &banner{parts.Calm, "check", "It passes all four checks", "It is not in force here until you admit it."}
	})
}
