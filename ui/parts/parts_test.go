package parts_test

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/internal/uiwalk"
	"vault/ui/look"
	"vault/ui/parts"
)

func show(t *testing.T, o fyne.CanvasObject, size fyne.Size) fyne.Window {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.New("light", 100))
	w := a.NewWindow("")
	w.SetPadded(false)
	w.SetContent(o)
	w.Resize(size)
	return w
}

type listener struct{ keys, gained int }

func (l *listener) Key(*fyne.KeyEvent) { l.keys++ }
func (l *listener) Focused(_ fyne.Focusable, on bool) {
	if on {
		l.gained++
	}
}

func TestButton(t *testing.T) {
	n := 0
	b := parts.NewButton(parts.Primary, "check", "Do it", func() { n++ })
	l := &listener{}
	b.Watch(l)
	show(t, b, fyne.NewSize(200, 36))
	test.Tap(b)
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if n != 3 {
		t.Errorf("%d times, want 3", n)
	}
	b.Disable()
	test.Tap(b)
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if n != 3 {
		t.Error("a disabled button was heard")
	}
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if l.keys != 1 {
		t.Errorf("the window heard %d keys, want Escape alone", l.keys)
	}
	if got := parts.HeightFor(parts.NewButton(parts.Plain, "", "x", nil), 100); got != 36 {
		t.Errorf("height %v, want 36", got)
	}
}

func TestLabelsAreNeverCut(t *testing.T) {
	label := "Confirm: a label that is much longer than the button would be by itself"
	b := parts.NewButton(parts.Primary, "", label, nil).Least(200)
	w := show(t, parts.Row(8, parts.Grow(look.Text(look.Caption, look.Ink3, "Closing this window decides nothing.")), b), fyne.NewSize(900, 36))
	word := uiwalk.All[*look.Paragraph](w.Content())[1]
	if word.String() != label || b.Size().Width < word.NaturalWidth() {
		t.Errorf("button %v wide, label %v", b.Size().Width, word.NaturalWidth())
	}
}

func TestGroup(t *testing.T) {
	g := &parts.Group{}
	changes := 0
	g.Changed = func() { changes++ }
	open := false
	a := g.Add("a", "First", "why", func() bool { return open })
	b := g.Add("b", "Second", "why", func() bool { return open })
	show(t, parts.Column(8, a, b), fyne.NewSize(300, 200))
	test.Tap(a)
	if g.Taken() != nil {
		t.Fatal("a row was taken while it takes no input")
	}
	open = true
	test.Tap(a)
	test.Tap(a)
	test.Tap(b)
	if g.Taken() != b || changes != 2 {
		t.Errorf("%d changes", changes)
	}
	b.Block("not possible")
	if g.Taken() != nil {
		t.Error("a blocked row stays taken")
	}
	test.Tap(b)
	if g.Taken() != nil {
		t.Error("a blocked row can be taken")
	}
}

func TestRowsOfAGroupHaveOneSize(t *testing.T) {
	g := &parts.Group{}
	a := g.Add("a", "A", "short", nil)
	b := g.Add("b", "B", "a reason that is so long that it takes a second line of its own here", nil)
	show(t, parts.Equal(8, a, b), fyne.NewSize(500, 200))
	if a.Size() != b.Size() {
		t.Errorf("%v and %v", a.Size(), b.Size())
	}
}

func TestFieldHasNoSecondButtonAndALimit(t *testing.T) {
	f := parts.NewSecret(8)
	show(t, f, fyne.NewSize(300, 36))
	if f.ActionItem == nil {
		t.Error("the toolkit may add a button that reveals")
	}
	if f.ActionItem.MinSize().Width != 0 {
		t.Error("there is something beside the field")
	}
	test.Type(f, "0123456789")
	if f.Text != "01234567" {
		t.Errorf("holds %q", f.Text)
	}
	if got := string(f.Take()); got != "01234567" || f.Text != "" {
		t.Errorf("took %q, left %q", got, f.Text)
	}
	f.TypedShortcut(&fyne.ShortcutUndo{})
	if f.Text != "" {
		t.Error("what was taken comes back by undo")
	}
}

func TestFocusRing(t *testing.T) {
	b := parts.NewButton(parts.Plain, "", "x", nil)
	w := show(t, b, fyne.NewSize(100, 36))
	ring := test.WidgetRenderer(b).Objects()[0]
	if ring.Visible() {
		t.Error("a ring without the keyboard")
	}
	w.Canvas().Focus(b)
	if !ring.Visible() || ring.Position() != fyne.NewPos(-4, -4) {
		t.Error("no ring around the control that has the keyboard")
	}
}

func TestScrollTakesTheWidthOfTheView(t *testing.T) {
	p := look.Text(look.Body, look.Ink, "several words that need more than one line where the view is narrow")
	s := parts.NewScroll(p)
	w := show(t, s, fyne.NewSize(150, 60))
	if p.Size().Width != 150 || p.Size().Height != p.HeightFor(150) || s.AtEnd() {
		t.Errorf("text is %v at end %v", p.Size(), s.AtEnd())
	}
	w.Resize(fyne.NewSize(600, 60))
	if p.Size().Width != 600 || !s.AtEnd() {
		t.Errorf("text is %v at end %v", p.Size(), s.AtEnd())
	}
}

func TestMeter(t *testing.T) {
	for _, c := range []struct {
		used, of int64
		boxes    int
	}{{3, 10, 10}, {0, 20, 20}, {5, 4, 4}, {37, 100, 2}, {0, 0, 2}} {
		if got := len(uiwalk.All[*look.Box](parts.Meter(c.used, c.of, false))); got != c.boxes {
			t.Errorf("%d of %d: %d boxes, want %d", c.used, c.of, got, c.boxes)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1284: "1,284", 1000000: "1,000,000", -1284: "-1,284", -100: "-100"} {
		if got := parts.Number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
