package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/plain"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// domainsPage shows the domains and makes new ones.
type domainsPage struct {
	making bool
	form   domainForm
}

// domainForm is what names a domain.
type domainForm struct{ namespace, id, kind *parts.Field }

// The first domain as it is filled in; the owner may type any other.
const (
	firstNamespace = "personal"
	firstDomain    = "my-agents"
	firstKind      = "general"
)

func (f *domainForm) init(u *UI, namespace, id, kind string) {
	f.namespace = parts.NewField(namespace, firstNamespace, 64)
	f.id = parts.NewField(id, firstDomain, 64)
	f.kind = parts.NewField(kind, firstKind, 64)
	for _, e := range []*parts.Field{f.namespace, f.id, f.kind} {
		e.Watch(u)
		e.OnChanged = func(string) { u.rebuild() }
	}
}

func (f *domainForm) value() approvals.DomainForm {
	t := strings.TrimSpace
	return approvals.DomainForm{Namespace: t(f.namespace.Text), DomainID: t(f.id.Text), Kind: t(f.kind.Text)}
}

// missing says what keeps the form from being used, or nothing.
func (f *domainForm) missing() string {
	v := f.value()
	for _, s := range []string{v.Namespace, v.DomainID, v.Kind} {
		if s == "" {
			return "All three names are needed."
		}
		if !plain.One(s).Clean() {
			return "A name holds hidden or look-alike letters."
		}
	}
	return ""
}

func (f *domainForm) view() fyne.CanvasObject {
	field := func(name string, e *parts.Field, more string) fyne.CanvasObject {
		return parts.Column(6, look.Text(look.CaptionM, look.Ink2, name), parts.Size(0, 36, e), look.Text(look.Caption, look.Ink3, more))
	}
	return parts.Cells(20, []float32{0, 0, 0},
		field("Name", f.id, "What agents put into their requests."),
		field("Kind", f.kind, "What it is about, in a word."),
		field("Namespace", f.namespace, "Whose names these are."))
}

func (p *domainsPage) init(u *UI) { p.form.init(u, firstNamespace, "", firstKind) }

func (p *domainsPage) view(u *UI) fyne.CanvasObject {
	create := u.button(parts.Plain, "plus", "New domain", func() { p.making = true; u.rebuild(); u.main.Canvas().Focus(p.form.id) }).Small()
	out := []fyne.CanvasObject{head("Domains", "A domain is a branch of keys for one purpose. Its address is public; its keys never leave the key process.", create), parts.Space(0, 18)}
	if p.making {
		out = append(out, p.make(u), parts.Space(0, 18))
	}
	if len(u.state.Domains) == 0 {
		return parts.Column(0, append(out, parts.Empty("domain", "There is no domain yet", "Make one, and agents can name it in their requests."))...)
	}
	var rows []fyne.CanvasObject
	for _, d := range u.state.Domains {
		rows = append(rows, u.domain(d))
	}
	return parts.Column(0, append(out, parts.Lined(rows...))...)
}

func (p *domainsPage) make(u *UI) fyne.CanvasObject {
	save := u.button(parts.Primary, "", "Create the domain", func() {
		form := p.form.value()
		u.run("", func(ctx context.Context) error {
			_, err := u.owner.CreateDomain(ctx, form)
			return err
		}, func(err error) {
			if err == nil {
				p.making = false
				p.form.id.SetText("")
				u.banner = &banner{parts.Calm, "check", "The domain was made", "Its address is below. It is the same on every computer that has your recovery words."}
			}
		})
	})
	why := p.form.missing()
	if why != "" {
		save.Disable()
	}
	back := u.button(parts.Plain, "", "Back", func() { p.making = false; u.rebuild() })
	note := "Names cannot be changed later: the address follows from them."
	if why != "" && p.form.id.Text != "" {
		note = why
	}
	return parts.Sunk(look.Ground, 6, parts.Pad(16, 16, 14, 16, parts.Column(14, p.form.view(),
		parts.Row(8, back, parts.Grow(look.Text(look.Caption, look.Ink3, note)), save))))
}

func (u *UI) domain(d approvals.DomainView) fyne.CanvasObject {
	title := hostile.Runs(look.Stem, look.Ink, d.ID)
	title = append(title, look.Run{Text: "  ", Style: look.Small, Color: look.Ink3})
	title = append(title, hostile.Runs(look.Small, look.Ink3, d.Kind)...)
	title = append(title, look.Run{Text: ", namespace ", Style: look.Small, Color: look.Ink3})
	title = append(title, hostile.Runs(look.Small, look.Ink3, d.Namespace)...)
	copyAddress := u.button(parts.Plain, "copy", "Copy the address", func() { u.app.Clipboard().SetContent(d.Address) }).Small()
	return parts.Pad(16, 0, 16, 0, parts.Column(0,
		parts.Row(8, parts.Grow(look.Para(title...)), copyAddress), parts.Space(0, 8),
		parts.Column(4,
			parts.Pair(128, "Address", hostile.Inline(look.Mono, look.Ink, d.Address)),
			parts.Pair(128, "Fingerprint", parts.Row(0, parts.Chip("", d.Fingerprint), parts.Spring())),
			parts.Pair(128, "Made", look.Text(look.Body, look.Ink, day(u.at(d.CreatedAt))+" · "+plural(d.Signatures, "signature", "signatures"))))))
}
