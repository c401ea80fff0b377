package ui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui"
)

// Whether a keyring answers is said beside the choice, and nothing is chosen for the owner.
func TestFirstRunSaysWhereNoKeyringAnswers(t *testing.T) {
	for _, answers := range []bool{true, false} {
		desk := fakedesk.Empty()
		desk.Chosen.Theme = "light"
		w := ui.New(test.NewTempApp(t), desk, ui.Options{
			Now: func() time.Time { return fakedesk.Now }, Zone: time.UTC, Do: func(f func()) { f() }, Go: func(f func()) { f() },
			Notify: func() {}, Keyring: func(context.Context) bool { return answers },
		})
		t.Cleanup(w.Close)
		w.Show()
		root := w.Window().Canvas().Content()
		const said = "No keyring answers here: only “Passphrase only” can be chosen now. A keyring can be added to it later."
		if strings.Contains(uiwalk.Text(root), said) == answers {
			t.Errorf("a keyring answers: %v; the window shows %q", answers, uiwalk.Texts(root))
		}
		if uiwalk.Button(root, "Nothing selected") == nil {
			t.Errorf("something is selected: %q", uiwalk.Texts(root))
		}
		if !strings.Contains(uiwalk.Text(root), "You can make it stronger later. To make it weaker needs a passkey.") {
			t.Errorf("what can be changed later is not said: %q", uiwalk.Texts(root))
		}
	}
}
