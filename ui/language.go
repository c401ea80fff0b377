package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/ui/look"
	"vault/ui/parts"
)

// bringText is the button below the remark on a contract language whose text is not here, nil where it is or none is missing.
func (c *contract) bringText() func() fyne.CanvasObject {
	l := c.page.Language
	if l.Own || l.Text != "" {
		return nil
	}
	if _, named := c.doc.Language(); !named {
		return nil
	}
	return func() fyne.CanvasObject {
		b := parts.NewButton(parts.Plain, "file", "Bring its text…", func() {
			c.u.touch()
			if !c.gate.open() || c.busy || c.over || c.asking != nil {
				return
			}
			c.step = c.begin("language")
			c.gate.arm()
			c.arrange()
			c.w.Canvas().Focus(c.heading)
		}).Small()
		b.Watch(c)
		return parts.Row(0, b, parts.Spring())
	}
}

// bringing takes the text of the contract language that the document names (4.3). It changes nothing of the document.
func (c *contract) bringing(s *step) {
	language, _ := c.doc.Language()
	s.above = func() fyne.CanvasObject {
		return parts.Column(4, look.Text(look.Small, look.Ink2, "The text is kept only if its SHA-256 is the one that was signed. It then stands at the end of the page, and of what you export. What was signed are the fields and this hash."),
			look.Text(look.MonoS.Box(18), look.Ink, "sha256 "+language.SHA256))
	}
	digest := c.version.Digest
	take := func(text func() ([]byte, error)) func(context.Context) (approvals.Outcome, error) {
		return func(context.Context) (approvals.Outcome, error) {
			raw, err := text()
			if err == nil {
				err = c.u.owner.BringLanguage(digest, raw)
			}
			return approvals.Outcome{}, err
		}
	}
	then := func() { c.u.openContract(c.view.ID, digest, "") }
	if c.u.opts.Read != nil {
		path := c.line("", "Path of a file", 1000)
		c.add(s, "Bring it from a file", "The file as it is, byte for byte.", &answer{
			missing: func() string {
				if strings.TrimSpace(path.Text) == "" {
					return "Type the path of the file."
				}
				return ""
			},
			fields: func() fyne.CanvasObject { return parts.Size(0, 36, path) },
			do: func() func(context.Context) (approvals.Outcome, error) {
				at := strings.TrimSpace(path.Text)
				return take(func() ([]byte, error) {
					_, raw, err := c.u.opts.Read(at)
					if err != nil {
						return nil, &approvals.Refusal{Code: "unreadable_file", Message: "That file could not be read", Remedy: "Check its path; only a regular file is read."}
					}
					return raw, nil
				})
			},
			then: then,
		})
	}
	c.add(s, "Take it from the clipboard", "Copying may change a line ending; then the hash is another.", &answer{
		do: func() func(context.Context) (approvals.Outcome, error) {
			text := c.u.app.Clipboard().Content()
			return take(func() ([]byte, error) { return []byte(text), nil })
		},
		then: then,
	})
}
