package secret_test

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/internal/uiwalk"
	"vault/ui/parts"
	"vault/ui/secret"
)

type form struct {
	t      *testing.T
	w      *secret.Window
	times  int
	got    string
	words  []string
	answer secret.Answer
}

func open(t *testing.T) *form {
	return &form{t: t, w: secret.New(test.NewTempApp(t), "light", 100)}
}

func (f *form) root() fyne.CanvasObject { return f.w.Window().Canvas().Content() }

func (f *form) done(b []byte, a secret.Answer) { f.times++; f.got, f.answer = string(b), a }

func (f *form) fields() []*parts.Field { return uiwalk.All[*parts.Field](f.root()) }

func (f *form) press(label string) {
	f.t.Helper()
	b := uiwalk.Button(f.root(), label)
	if b == nil {
		f.t.Fatalf("no button %q in %s", label, uiwalk.Text(f.root()))
	}
	test.Tap(b)
}

func (f *form) says(want string) {
	f.t.Helper()
	if text := uiwalk.Text(f.root()); !strings.Contains(text, want) {
		f.t.Errorf("%q is not in %s", want, text)
	}
}

func TestNewPassphrase(t *testing.T) {
	f := open(t)
	check := func(p []byte) string {
		if len(p) < 8 {
			return "too_short"
		}
		return ""
	}
	f.w.NewPassphrase(secret.Question{Purpose: "create"}, check, f.done)
	a, b := f.fields()[0], f.fields()[1]
	type2 := func(x, y string) {
		test.Type(a, x)
		test.Type(b, y)
		f.press("Use this passphrase")
	}
	type2("correct horse", "correct hose")
	f.says("The two are not the same.")
	type2("short", "short")
	f.says("That is too short.")
	if a.Text != "" || b.Text != "" || f.times != 0 {
		t.Errorf("fields hold %q and %q, done %d times", a.Text, b.Text, f.times)
	}
	type2("correct horse", "correct horse")
	if f.times != 1 || f.got != "correct horse" || f.answer != secret.Given {
		t.Errorf("%d times, %q, %v", f.times, f.got, f.answer)
	}
	if a.Text != "" || b.Text != "" || len(f.fields()) != 0 {
		t.Error("the passphrase is still on screen")
	}
	f.says("The vault is working")
}

func TestPassphrase(t *testing.T) {
	f := open(t)
	f.w.Passphrase(secret.Question{Purpose: "unlock", Problem: "wrong_passphrase", Demo: true}, f.done)
	f.says("That passphrase does not open this vault. Nothing was changed.")
	f.says("Demo: a throw-away vault.")
	p := f.fields()[0]
	if f.w.Window().Canvas().Focused() != p {
		t.Error("the keyboard is not on the field")
	}
	test.Type(p, "correct horse")
	if text := uiwalk.Text(f.root()); strings.Contains(text, "correct") {
		t.Error("the passphrase can be read")
	}
	p.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if f.times != 1 || f.got != "correct horse" || p.Text != "" {
		t.Errorf("%d times, %q; the field holds %q", f.times, f.got, p.Text)
	}
}

func TestFourWordsOfAnApproval(t *testing.T) {
	f := open(t)
	f.w.Passphrase(secret.Question{Purpose: "prove", FourWords: "anchor basket canvas debris"}, f.done)
	f.says("anchor basket canvas debris")
}

func TestEscapeCancels(t *testing.T) {
	for name, show := range map[string]func(*form){
		"new passphrase": func(f *form) { f.w.NewPassphrase(secret.Question{}, nil, f.done) },
		"passphrase":     func(f *form) { f.w.Passphrase(secret.Question{}, f.done) },
		"restore":        func(f *form) { f.w.RestoreInput(secret.Question{}, f.done) },
		"show words": func(f *form) {
			f.w.ShowWords(secret.Question{}, list(), func(a secret.Answer) { f.done(nil, a) })
		},
		"ask words": func(f *form) {
			f.w.AskWords(secret.Question{}, []int{1}, func(_ [][]byte, a secret.Answer) { f.done(nil, a) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			show(f)
			fields := f.fields()
			for _, x := range fields {
				test.Type(x, "something")
			}
			f.w.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
			f.w.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
			if f.times != 1 || f.answer != secret.Cancelled || f.got != "" {
				t.Errorf("%d times, answer %v, %q", f.times, f.answer, f.got)
			}
			for _, x := range fields {
				if x.Text != "" {
					t.Error("a field keeps its text")
				}
			}
		})
	}
}

func list() [][]byte {
	var out [][]byte
	for _, w := range strings.Fields("anchor basket canvas debris elbow fabric garden harvest island jacket kitchen ladder marble napkin ocean paddle quarter ribbon saddle timber umbrella velvet walnut yellow") {
		out = append(out, []byte(w))
	}
	return out
}

func TestWordsAreShownAndGone(t *testing.T) {
	f := open(t)
	f.w.ShowWords(secret.Question{Purpose: "create"}, list(), func(a secret.Answer) { f.done(nil, a) })
	text := uiwalk.Text(f.root())
	for i, w := range list() {
		if !strings.Contains(text, string(w)) {
			t.Errorf("word %d is not shown", i+1)
		}
	}
	if len(uiwalk.All[*parts.Button](f.root())) != 2 {
		t.Error("there are other buttons than the two: nothing copies the words")
	}
	f.press("I have written them down")
	if f.times != 1 || f.answer != secret.Given {
		t.Errorf("%d times, answer %v", f.times, f.answer)
	}
	if strings.Contains(uiwalk.Text(f.root()), "anchor") {
		t.Error("the words stay on screen")
	}
}

func TestWordsAreAskedBack(t *testing.T) {
	ask := func() *form {
		f := open(t)
		f.w.AskWords(secret.Question{Purpose: "create", Problem: "wrong_word", Place: 7}, []int{3, 7, 24}, func(w [][]byte, a secret.Answer) {
			f.done(nil, a)
			for _, x := range w {
				f.words = append(f.words, string(x))
			}
		})
		return f
	}
	f := ask()
	f.says("That is not word 7.")
	f.says("Which word is number 24?")
	for i, w := range []string{"canvas", "garden ", "yellow"} {
		test.Type(f.fields()[i], w)
	}
	f.press("Check the words")
	if got := strings.Join(f.words, " "); f.times != 1 || got != "canvas garden yellow" {
		t.Errorf("%d times, %q", f.times, got)
	}
	f = ask()
	f.press("Show the words again")
	if f.times != 1 || f.answer != secret.Back {
		t.Errorf("%d times, answer %v", f.times, f.answer)
	}
}

func TestRestore(t *testing.T) {
	f := open(t)
	f.w.RestoreInput(secret.Question{Purpose: "restore"}, f.done)
	test.Type(f.fields()[0], "anchor basket canvas")
	f.says("3 of 24 words.")
	f.press("Restore")
	if f.got != "anchor basket canvas" || f.answer != secret.Given {
		t.Errorf("%q, %v", f.got, f.answer)
	}
}

func TestCapsLockHint(t *testing.T) {
	f := open(t)
	f.w.Passphrase(secret.Question{Purpose: "unlock"}, f.done)
	p := f.fields()[0]
	p.TypedRune('A')
	f.says("Caps Lock seems to be on.")
	p.TypedRune('a')
	if strings.Contains(uiwalk.Text(f.root()), "Caps Lock") {
		t.Error("the hint stays")
	}
	p.KeyDown(&fyne.KeyEvent{Name: "LeftShift"})
	p.TypedRune('A')
	if strings.Contains(uiwalk.Text(f.root()), "Caps Lock") {
		t.Error("the shift key is taken for the lock")
	}
}

func TestFinish(t *testing.T) {
	f := open(t)
	closed := 0
	f.w.Finish("Your keyring is locked", "Nothing was changed.", func() { closed++ })
	f.says("Your keyring is locked")
	f.press("Close")
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

// The vault is named as on the other pages: by its id.
func TestTheVaultIsNamed(t *testing.T) {
	f := open(t)
	f.w.Passphrase(secret.Question{Purpose: "unlock", Vault: "0123456789abcdef0123456789abcdef"}, f.done)
	f.says("Vault 0123456789abcdef0123456789abcdef")
}
