// Package secret draws the secret window: passphrases are typed, and recovery words
// shown, asked back and typed, here and nowhere else. It draws and collects; it
// checks no passphrase, knows no key, and keeps nothing.
//
// Fyne holds typed text in Go strings, which cannot be wiped: a field is cleared
// with its history as soon as it is read, and what remains ends with the process
// of the window, which lives for one conversation. The clipboard is never used.
package secret

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"

	"vault/approvals/plain"
	"vault/ui/look"
	"vault/ui/parts"
)

// Question is what a form says besides its fields. The codes are those of the
// conversation between key process and window.
type Question struct {
	Purpose   string // "create", "unlock", "restore", "restore_backup", "protection", "words", "backup", "prove", "instance", "passkey"
	Problem   string // what was wrong with the answer before, or ""
	Place     int    // "wrong_word", "bad_words": which word, from 1, or 0
	Vault     string // id of the vault concerned, as the pages show it, or ""
	FourWords string // "prove": the words that stand for what is approved
	Demo      bool   // a throw-away vault
}

// Answer says how a form ended.
type Answer uint8

// The answers.
const (
	Given     Answer = iota
	Cancelled        // the person closed the window or pressed Cancel
	Back             // the person wants to see the words again
)

// Window is the secret window. Its methods belong on the Fyne goroutine and return
// at once; each form calls done exactly once, on the Fyne goroutine. Slices given to
// done are the caller's to wipe.
type Window struct {
	w    fyne.Window
	root *root
	done func() // ends the form that is shown as cancelled, or nil
	demo bool   // the vault that was asked about last is a throw-away one
}

// New makes the window without showing it. Percent is the text scale; mode is the theme
// "system", "light" or "dark".
func New(app fyne.App, mode string, percent int) *Window {
	app.Settings().SetTheme(look.New(mode, percent))
	w := &Window{w: app.NewWindow("Vault: secret"), root: newRoot()}
	w.w.SetPadded(false)
	w.w.SetContent(w.root)
	w.w.Resize(fyne.NewSize(560, 420))
	w.w.SetCloseIntercept(w.cancel)
	w.w.Canvas().SetOnTypedKey(w.Key)
	return w
}

// Window is the Fyne window, for the program that owns the app.
func (w *Window) Window() fyne.Window { return w.w }

// Key implements [parts.Keys]: Escape cancels.
func (w *Window) Key(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		w.cancel()
	}
}

// Focused implements [parts.Keys].
func (w *Window) Focused(fyne.Focusable, bool) {}

func (w *Window) cancel() {
	if w.done != nil {
		w.done()
	}
}

// NewPassphrase asks for a new passphrase, twice. Check says why one is not taken, as a
// code of [Question.Problem], or "".
func (w *Window) NewPassphrase(q Question, check func([]byte) string, done func([]byte, Answer)) {
	first, second := w.field(), w.field()
	note := remark(q)
	ok := w.button(parts.Primary, "Use this passphrase", nil)
	ok.Disable()
	both := func(string) {
		ok.Set(ok.Label(), first.Text != "" && second.Text != "")
	}
	first.OnChanged, second.OnChanged = both, both
	ended := w.form(func() {
		wipe(first.Take())
		wipe(second.Take())
		done(nil, Cancelled)
	})
	submit := func() {
		if first.Text == "" || second.Text == "" {
			return
		}
		a, b := first.Take(), second.Take()
		defer wipe(b)
		why := ""
		switch {
		case !bytes.Equal(a, b):
			why = "not_equal"
		case check != nil:
			why = check(a)
		}
		if why != "" {
			wipe(a)
			note.Set(look.Run{Text: problems(Question{Problem: why}), Style: look.Small, Color: look.Danger})
			w.root.Refresh()
			w.w.Canvas().Focus(first)
			return
		}
		ended()
		done(a, Given)
	}
	first.Submit = func() { w.w.Canvas().Focus(second) }
	second.Submit, ok.Tap = submit, submit
	w.show(q, 560, 470, note, ok, labelled("Passphrase", first), parts.Space(0, 12), labelled("The same again", second), caps(first, second))
	w.w.Canvas().Focus(first)
}

// Passphrase asks for the passphrase, once.
func (w *Window) Passphrase(q Question, done func([]byte, Answer)) {
	f := w.field()
	label := "Unlock"
	switch q.Purpose {
	case "unlock":
	case "prove":
		label = "Confirm with the passphrase"
	default:
		label = "Continue"
	}
	ok := w.button(parts.Primary, label, nil)
	ok.Disable()
	f.OnChanged = func(string) { ok.Set(ok.Label(), f.Text != "") }
	ended := w.form(func() {
		wipe(f.Take())
		done(nil, Cancelled)
	})
	submit := func() {
		if f.Text == "" {
			return
		}
		p := f.Take()
		ended()
		done(p, Given)
	}
	f.Submit, ok.Tap = submit, submit
	objs := []fyne.CanvasObject{labelled("Passphrase", f), caps(f)}
	if q.FourWords != "" {
		objs = append([]fyne.CanvasObject{parts.Framed(parts.Pad(12, 14, 12, 14, look.Text(look.Words, look.Ink, plain.TerminalLine(q.FourWords)))), parts.Space(0, 14)}, objs...)
	}
	w.show(q, 560, 400, remark(q), ok, objs...)
	w.w.Canvas().Focus(f)
}

// ShowWords shows the words until the person says that they are written down. It does not
// keep the slice; the caller may wipe it when done was called.
func (w *Window) ShowWords(q Question, words [][]byte, done func(Answer)) {
	ok := w.button(parts.Primary, "I have written them down", nil)
	ended := w.form(func() { done(Cancelled) })
	ok.Tap = func() {
		ended()
		done(Given)
	}
	var columns []fyne.CanvasObject
	per := (len(words) + 3) / 4
	for c := 0; c < len(words); c += per {
		var list []fyne.CanvasObject
		for i := c; i < min(c+per, len(words)); i++ {
			list = append(list, parts.Middle(37, parts.Cells(0, []float32{32, 0},
				look.Text(look.Caption.Box(22), look.Ink3, fmt.Sprint(i+1)), look.Text(look.Words, look.Ink, string(words[i])))), parts.Hair())
		}
		columns = append(columns, parts.Column(0, list...))
	}
	w.show(q, 820, 620, remark(q), ok,
		parts.Cells(28, make([]float32, len(columns)), columns...), parts.Space(0, 20),
		parts.Note("pencil", look.Ink2, "On paper, in this order. A photograph or a file can be copied without your noticing."), parts.Space(0, 6),
		parts.Note("hidden", look.Ink2, "Look around first. The words are never put on the clipboard; close other programs that record the screen."))
}

// AskWords asks for the words at places, which count from 1.
func (w *Window) AskWords(q Question, places []int, done func([][]byte, Answer)) {
	fields := make([]*parts.Field, len(places))
	ok := w.button(parts.Primary, "Check the words", nil)
	ok.Disable()
	full := func() bool {
		for _, f := range fields {
			if strings.TrimSpace(f.Text) == "" {
				return false
			}
		}
		return true
	}
	clear := func() {
		for _, f := range fields {
			wipe(f.Take())
		}
	}
	ended := w.form(func() {
		clear()
		done(nil, Cancelled)
	})
	submit := func() {
		if !full() {
			return
		}
		out := make([][]byte, len(fields))
		for i, f := range fields {
			out[i] = bytes.TrimSpace(f.Take())
		}
		ended()
		done(out, Given)
	}
	var objs []fyne.CanvasObject
	for i, place := range places {
		f := parts.NewField("", "", 40)
		f.Watch(w)
		f.OnChanged = func(string) { ok.Set(ok.Label(), full()) }
		fields[i] = f
		if i > 0 {
			objs = append(objs, parts.Space(0, 10))
			fields[i-1].Submit = func() { w.w.Canvas().Focus(f) }
		}
		objs = append(objs, labelled(fmt.Sprintf("Which word is number %d?", place), f))
	}
	if n := len(fields); n > 0 {
		fields[n-1].Submit = submit
	}
	ok.Tap = submit
	again := w.button(parts.Plain, "Show the words again", func() {
		clear()
		ended()
		done(nil, Back)
	})
	w.showWith(q, 560, 480, remark(q), []fyne.CanvasObject{again}, ok, objs...)
	if len(fields) > 0 {
		w.w.Canvas().Focus(fields[0])
	}
}

// RestoreInput asks for the words, or 0x and 64 hex digits.
func (w *Window) RestoreInput(q Question, done func([]byte, Answer)) {
	f := parts.NewField("", "", 400)
	f.MultiLine, f.Wrapping = true, fyne.TextWrapWord // short: the limit above keeps its layout cheap
	f.Watch(w)
	ok := w.button(parts.Primary, "Restore", nil)
	ok.Disable()
	count := look.Text(look.Caption, look.Ink3, "24 words with spaces between, or 0x and 64 digits.")
	f.OnChanged = func(t string) {
		n := len(strings.Fields(t))
		ok.Set(ok.Label(), n > 0)
		text := "24 words with spaces between, or 0x and 64 digits."
		if n > 1 {
			text = fmt.Sprintf("%d of 24 words.", n)
		}
		count.Set(look.Run{Text: text, Style: look.Caption, Color: look.Ink3})
	}
	ended := w.form(func() {
		wipe(f.Take())
		done(nil, Cancelled)
	})
	submit := func() {
		if strings.TrimSpace(f.Text) == "" {
			return
		}
		b := f.Take()
		ended()
		done(b, Given)
	}
	f.Submit, ok.Tap = submit, submit
	w.show(q, 720, 400, remark(q), ok,
		parts.Column(6, look.Text(look.CaptionM, look.Ink2, "Recovery words"), parts.Size(0, 110, f)), parts.Space(0, 6), count)
	w.w.Canvas().Focus(f)
}

// Busy stays between two forms: the vault is working, nothing can be typed.
func (w *Window) Busy() {
	w.done = nil
	w.root.set(page(w.demo, "The vault is working", "Opening takes about a second.", "", nil, nil, nil))
	w.w.Show()
}

// Finish shows the end of the conversation: what happened, and what did not. Closed is called
// when the person has closed it.
func (w *Window) Finish(what, more string, closed func()) {
	w.done = func() {
		w.done = nil
		closed()
	}
	shut := w.button(parts.Plain, "Close", w.cancel)
	w.root.set(page(w.demo, "Nothing was changed", "", "", parts.Banner(parts.Alarm, "error", plain.TerminalLine(what), plain.TerminalLine(more), nil), nil, parts.Row(8, parts.Spring(), shut)))
	w.w.Show()
	w.w.Canvas().Focus(shut)
}

// form makes the end of a form: its cancel, and a function that disarms it and
// takes the form off the screen.
func (w *Window) form(cancelled func()) (ended func()) {
	ended = func() { w.Busy() }
	w.done = func() {
		ended()
		cancelled()
	}
	return ended
}

func (w *Window) field() *parts.Field {
	f := parts.NewSecret(1024)
	f.Watch(w)
	return f
}

func (w *Window) button(kind parts.Kind, label string, tap func()) *parts.Button {
	b := parts.NewButton(kind, "", label, tap)
	b.Watch(w)
	return b
}

func (w *Window) show(q Question, width, height float32, note *look.Paragraph, ok *parts.Button, objs ...fyne.CanvasObject) {
	w.showWith(q, width, height, note, nil, ok, objs...)
}

func (w *Window) showWith(q Question, width, height float32, note *look.Paragraph, others []fyne.CanvasObject, ok *parts.Button, objs ...fyne.CanvasObject) {
	w.demo = q.Demo
	t, l := words(q, ok.Label())
	line := append([]fyne.CanvasObject{w.button(parts.Plain, "Cancel", w.cancel)}, others...)
	if q.Vault != "" {
		height += 20
	}
	w.root.set(page(q.Demo, t, l, q.Vault, note, parts.Column(0, objs...), parts.Row(8, append(line, parts.Spring(), ok)...)))
	w.w.Resize(fyne.NewSize(look.S(width), look.S(height)))
	w.w.Show()
}

func labelled(name string, f *parts.Field) fyne.CanvasObject {
	return parts.Column(6, look.Text(look.CaptionM, look.Ink2, name), parts.Size(0, 36, f))
}

// remark is the sentence for what was wrong before; it is empty at first.
func remark(q Question) *look.Paragraph {
	return look.Text(look.Small, look.Danger, problems(q))
}

// caps tells of the shift lock, as far as it can be seen: a letter came in
// the other case than the shift key says.
func caps(fields ...*parts.Field) fyne.CanvasObject {
	hint := look.Text(look.Caption.Box(24), look.Warn, " ")
	for _, f := range fields {
		f.Typed = func(r rune, shift bool) {
			text := " "
			if unicode.IsLetter(r) && unicode.IsUpper(r) != shift && unicode.ToUpper(r) != unicode.ToLower(r) {
				text = "Caps Lock seems to be on."
			}
			hint.Set(look.Run{Text: text, Style: look.Caption.Box(24), Color: look.Warn})
		}
	}
	return hint
}

func wipe(b []byte) { clear(b) }
