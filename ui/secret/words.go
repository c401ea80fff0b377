package secret

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"vault/ui/look"
	"vault/ui/parts"
)

// words are title and line of a form.
func words(q Question, button string) (title, line string) {
	switch button {
	case "Use this passphrase":
		if q.Purpose == "backup" {
			return "A passphrase for the backup", "Whoever has the file and this passphrase has the vault."
		}
		return "A passphrase for this vault", "It opens the vault on this computer. Without it only the recovery words do."
	case "I have written them down":
		return "Write down these 24 words", "They are your vault. Whoever has them can be you; without them a lost computer is a lost vault. Nobody else has a copy."
	case "Check the words":
		return "Three of the words, from your paper", "So that the paper is right before you need it."
	case "Restore":
		return "Your recovery words", "All 24 in their order, or the 64 digits of the root. They are typed here and nowhere else."
	}
	switch q.Purpose {
	case "prove":
		return "Confirm with your passphrase", "These four words stand for what you saw. If they differ from the terminal, cancel."
	case "protection":
		return "Your passphrase, as it is now", "What opens this vault is about to change."
	case "words":
		return "Your passphrase", "The recovery words are about to be shown."
	case "passkey":
		return "Your passphrase", "The first passkey of this vault is about to be enrolled. It is asked for this once."
	case "instance":
		return "Your passphrase", "A new instance is about to begin; grants are then suspended."
	case "restore_backup":
		return "The passphrase of the backup file", "It was typed when the file was written. A new one for this computer is asked next."
	case "backup":
		return "Your passphrase", "A backup is about to be written."
	}
	return "Unlock the vault", "Only you asked for this: no request ever opens this window."
}

// problems is the sentence for what was wrong with the answer before.
func problems(q Question) string {
	switch q.Problem {
	case "":
		return ""
	case "wrong_passphrase":
		if q.Purpose == "restore_backup" {
			return "That passphrase does not open the backup. Nothing was changed."
		}
		return "That passphrase does not open this vault. Nothing was changed."
	case "not_equal":
		return "The two are not the same. Type them again."
	case "too_short":
		return "That is too short. Four words that do not belong together are a good length."
	case "too_long":
		return "That is too long."
	case "one_character":
		return "That is one character over and over. Choose another."
	case "not_text":
		return "That holds something that is not text. Choose another."
	case "wrong_word":
		return fmt.Sprintf("That is not word %d. Look at your paper and try again.", q.Place)
	case "bad_words":
		if q.Place > 0 {
			return fmt.Sprintf("Word %d is not one of the list. Look at your paper and try again.", q.Place)
		}
		return "These are not 24 words that belong together. Look at your paper and try again."
	case "bad_root":
		return "No vault would have made these digits. Look at your paper and try again."
	case "other_vault":
		return "These words open another vault than the one here, " + q.Vault + ". Nothing was changed."
	}
	return "That was not taken. Nothing was changed."
}

// page is the one layout of the window: mark and title, the form, its buttons.
func page(demo bool, title, line, vault string, note fyne.CanvasObject, form, buttons fyne.CanvasObject) fyne.CanvasObject {
	objs := []fyne.CanvasObject{
		parts.Row(12, look.NewIcon("mark", 22, look.Primary), parts.Grow(look.Text(look.Title, look.Ink, title))),
	}
	if demo {
		objs = append([]fyne.CanvasObject{parts.Banner(parts.Notice, "warning", "", "Demo: a throw-away vault. Nothing it signs binds anybody.", nil), parts.Space(0, 14)}, objs...)
	}
	if line != "" {
		objs = append(objs, parts.Space(0, 6), look.Text(look.Body, look.Ink2, line))
	}
	if vault != "" {
		objs = append(objs, parts.Space(0, 6), look.Text(look.Caption, look.Ink2, "Vault "+vault))
	}
	if note != nil {
		objs = append(objs, parts.Space(0, 8), note)
	}
	objs = append(objs, parts.Space(0, 12))
	if form != nil {
		objs = append(objs, form)
	}
	all := []fyne.CanvasObject{parts.Fill(parts.NewScroll(parts.Pad(4, 6, 8, 6, parts.Column(0, objs...))))}
	if buttons != nil {
		all = append(all, parts.Space(0, 12), parts.Pad(0, 6, 0, 6, buttons))
	}
	return parts.Pad(24, 26, 20, 26, parts.Column(0, all...))
}

// root is the content of the window on paper.
type root struct {
	widget.BaseWidget
	content fyne.CanvasObject
	paper   *look.Box
}

func newRoot() *root {
	r := &root{content: parts.Space(0, 0), paper: look.NewBox(look.Paper, "", 0)}
	r.ExtendBaseWidget(r)
	return r
}

func (r *root) set(o fyne.CanvasObject) {
	r.content = o
	r.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (r *root) CreateRenderer() fyne.WidgetRenderer { return &rootRenderer{r} }

type rootRenderer struct{ r *root }

func (r *rootRenderer) Layout(size fyne.Size) {
	r.r.paper.Resize(size)
	r.r.content.Resize(size)
}
func (r *rootRenderer) MinSize() fyne.Size { return fyne.NewSize(420, 320) }
func (r *rootRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.r.paper, r.r.content}
}
func (r *rootRenderer) Destroy() {}
func (r *rootRenderer) Refresh() {
	r.r.paper.Refresh()
	r.Layout(r.r.Size())
	r.r.content.Refresh()
}
