package ui_test

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
)

// worded is a vault with a contract in a language whose text is known to the test.
func worded(theme string) (*fakedesk.Desk, string) {
	text := "Agent SoW standard language, version 4.\n\n1. Work stays inside the offerings that are named.\n2. \u202eNothing renews by itself.\n"
	d := fakedesk.InLanguage(text)
	d.Chosen.Theme = theme
	return d, text
}

// TestLanguageTextIsBrought: below the remark on the language is the way to bring its text, which is kept only with the hash that was
// signed and then stands on the page.
func TestLanguageTextIsBrought(t *testing.T) {
	desk, text := worded("light")
	s := newStage(t, desk)
	w := s.contract("e_0")
	s.wait()
	press(t, w.Canvas().Content(), "Bring its text…")
	s.wait()
	contains(t, w.Canvas().Content(), "The text is kept only if its SHA-256 is the one that was signed.")
	test.Tap(choice(t, w, "Bring it from a file"))
	if !confirm(t, w).Disabled() {
		t.Error("a file without a path is read")
	}
	fill(t, w.Canvas().Content(), "Path of a file", "/home/owner/language.txt") // the stage reads other bytes
	s.wait()
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "That is not the text whose hash was signed. Nothing was kept.")
	s.app.Clipboard().SetContent(text + "\n")
	s.wait()
	test.Tap(choice(t, w, "Take it from the clipboard"))
	s.wait()
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "That is not the text whose hash was signed.")
	if n := len(s.desk.SoW.Texts); n != 0 {
		t.Fatalf("%d texts are kept", n)
	}
	s.app.Clipboard().SetContent(text)
	s.wait()
	test.Tap(choice(t, w, "Not now"))
	test.Tap(choice(t, w, "Take it from the clipboard"))
	s.wait()
	test.Tap(confirm(t, w))
	if len(s.desk.SoW.Texts) != 1 {
		t.Fatal("the text is not kept")
	}
	all := s.app.Driver().AllWindows()
	w = all[len(all)-1]
	if uiwalk.Button(w.Canvas().Content(), "Bring its text") != nil {
		t.Error("what is there is asked for")
	}
	contains(t, w.Canvas().Content(), "The text that was brought has the hash that was signed and stands at the end")
	shown := strings.ReplaceAll(seenText(w, nil), " ", "")
	if !strings.Contains(shown, "Workstaysinsidetheofferings") || !strings.Contains(shown, "<U+202E>") || strings.Contains(shown, "\u202e") {
		t.Error("the text of the language is not on the page, made plain")
	}
	if len(s.desk.SoW.Signed)+len(s.desk.SoW.Acts) != 0 {
		t.Error("something was signed")
	}
}

// Under the vault's own language there is nothing to bring.
func TestOwnLanguageNeedsNoText(t *testing.T) {
	d := fakedesk.InLanguage("")
	s := newStage(t, d)
	w := s.contract("e_0")
	if uiwalk.Button(w.Canvas().Content(), "Bring its text") != nil {
		t.Error("the text of the own language is asked for")
	}
}
