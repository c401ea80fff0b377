package hostile_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"vault/internal/uiwalk"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

func block(t *testing.T, text string, mono bool, size fyne.Size) (*hostile.Block, fyne.Window) {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.New("light", 100))
	b := hostile.NewBlock(text, mono, 3, 8)
	w := a.NewWindow("")
	w.SetPadded(false)
	w.SetContent(b)
	w.Resize(size)
	return b, w
}

// objects counts what is laid out: rows, and everything below them.
func objects(b *hostile.Block) (rows, all int) {
	rows = len(test.WidgetRenderer(b).Objects())
	uiwalk.Walk(b, func(fyne.CanvasObject) bool { all++; return true })
	return rows, all
}

func TestBoundedObjects(t *testing.T) {
	marks := strings.Repeat("\u202e\u0456a", 1<<18)
	for name, text := range map[string]string{
		"empty":             "",
		"one long word":     strings.Repeat("x", 8000),
		"wide long word":    strings.Repeat("漢", 8000),
		"a megabyte":        strings.Repeat("All of this is text. ", 1<<20/21),
		"many lines":        strings.Repeat("a\n", 1<<19),
		"nothing but marks": marks[:1<<20/2],
		"stacked marks":     "a" + strings.Repeat("\u0301", 1<<18),
		"empty lines":       strings.Repeat("\n", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := block(t, text, true, fyne.NewSize(600, 240))
			b.ShowAll()
			visible := 240 / 20
			for _, at := range []int{0, 1, 7, 1 << 30} {
				b.ScrollTo(at)
				rows, all := objects(b)
				if rows > visible+20 {
					t.Errorf("%d rows and parts are laid out, %d can be seen", rows, visible)
				}
				if all > 60*visible {
					t.Errorf("%d objects for %d rows", all, visible)
				}
			}
			if !b.Complete() {
				t.Error("its end was not noticed")
			}
		})
	}
}

func TestNothingIsDrawnOutsideOfTheView(t *testing.T) {
	texts := []string{
		strings.Repeat("x", 3000),
		strings.Repeat("漢字かな", 300),
		strings.Repeat("\u202e", 300),
		strings.Repeat("مرحبا بالعالم 12 ", 100),
		strings.Repeat("שלום ", 200) + "abc",
		"e" + strings.Repeat("\u0301", 500) + strings.Repeat("e\u0301", 500),
		strings.Repeat("👩\u200d👧", 200),
		"\ufdfd\ufdfd\ufdfd" + strings.Repeat("\u2e3b", 50),
		strings.Repeat(" ", 12) + strings.Repeat("word ", 200),
	}
	for i, text := range texts {
		for _, mono := range []bool{true, false} {
			for _, width := range []float32{200, 333, 672} {
				b, _ := block(t, text, mono, fyne.NewSize(width, 400))
				for _, o := range uiwalk.All[*canvas.Text](b) {
					pos := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
					if pos.X < 0 || pos.X+o.MinSize().Width > width+1 {
						t.Errorf("text %d at width %v: %.40q from %v to %v", i, width, o.Text, pos.X, pos.X+o.MinSize().Width)
						break
					}
				}
			}
		}
	}
}

func TestCutLinesHoldTheWholeText(t *testing.T) {
	text := "one two three " + strings.Repeat("longword", 40) + " and the  end\nsecond line\n" + strings.Repeat("漢字 ", 90)
	b, _ := block(t, text, true, fyne.NewSize(300, 8000))
	var got strings.Builder
	for _, s := range uiwalk.All[*canvas.Text](b) {
		if s.TextSize == 13 {
			got.WriteString(s.Text)
		}
	}
	strip := strings.NewReplacer(" ", "", "\n", "", "<1space>", "")
	if strip.Replace(got.String()) != strip.Replace(text) {
		t.Errorf("what is drawn is not the text:\n%s", got.String())
	}
}

func TestInvisibleCharactersAreDrawn(t *testing.T) {
	var hidden []rune
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			hidden = append(hidden, r)
		}
	}
	for _, r := range hidden {
		var text strings.Builder
		for _, run := range hostile.Runs(look.Body, look.Ink, "a"+string(r)+"b") {
			text.WriteString(run.Text)
		}
		if want := fmt.Sprintf("a<U+%04X>b", r); text.String() != want {
			t.Errorf("%U is drawn as %q, want %q", r, text.String(), want)
		}
	}
}

func TestRightToLeft(t *testing.T) {
	b, _ := block(t, "שלום abc", false, fyne.NewSize(400, 200))
	var hebrew, latin *canvas.Text
	for _, o := range uiwalk.All[*canvas.Text](b) {
		switch {
		case strings.Contains(o.Text, "שלום"):
			hebrew = o
		case strings.Contains(o.Text, "abc"):
			latin = o
		}
	}
	if hebrew == nil || latin == nil {
		t.Fatalf("drawn: %q", uiwalk.Texts(b))
	}
	if hebrew.Position().X <= latin.Position().X {
		t.Error("a line that begins in Hebrew is not read from the right")
	}
}

func TestSeenOnlyAtTheEnd(t *testing.T) {
	b, _ := block(t, strings.Repeat("line\n", 60)+"end", true, fyne.NewSize(400, 200))
	seen := 0
	b.Seen = func() { seen++ }
	b.ScrollTo(10)
	if b.Complete() || seen != 0 {
		t.Fatal("the middle was taken for the end")
	}
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if !b.Complete() || seen != 1 {
		t.Errorf("complete %v, told %d times", b.Complete(), seen)
	}
	short, _ := block(t, "short", true, fyne.NewSize(400, 200))
	if !short.Complete() {
		t.Error("a text that fits was not seen")
	}
}

func TestFirstPartAndShowAll(t *testing.T) {
	b, w := block(t, strings.Repeat("0123456789", 500), true, fyne.NewSize(600, 2400))
	text := uiwalk.Text(w.Content())
	if !strings.Contains(text, "The first 2,000 of 5,000 characters") || b.Complete() || !b.Partial() {
		t.Fatalf("not shown in part: %.200s", text)
	}
	test.Tap(uiwalk.Button(w.Content(), "Show all"))
	if b.Partial() || strings.Contains(uiwalk.Text(w.Content()), "The first 2,000") {
		t.Error("the rest is not shown")
	}
}

func TestWheelGoesOnBeyond(t *testing.T) {
	b, _ := block(t, "short", true, fyne.NewSize(400, 200))
	beyond := 0
	b.Beyond = func(*fyne.ScrollEvent) { beyond++ }
	b.Scroll(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -10)})
	if beyond != 1 {
		t.Error("a wheel that finds nothing to scroll is lost")
	}
	if _, scrolls := any(b).(fyne.Scrollable); scrolls {
		t.Error("the block is a view of its own for Fyne, which then clips it by itself")
	}
}

func TestExplain(t *testing.T) {
	b, _ := block(t, "M\u0456ll\u200b \u202e", true, fyne.NewSize(600, 200))
	if got, want := hostile.Explain(b.Report()), "2 hidden characters and 1 word of mixed letters are marked"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := hostile.Words(b.Report()); len(got) != 1 || got[0] != "“Mіll” mixes Latin with a Cyrillic і, U+0456." {
		t.Errorf("got %q", got)
	}
}

func FuzzBlock(f *testing.F) {
	for _, s := range []string{"", "a b", "\u202e", "e\u0301\u0301\u0301\u0301\u0301\u0301", "שלום 12 abc", "\xff", "a\n\n\n\nb", "👩\u200d👧", "              x"} {
		f.Add(s, 200)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 240 || width > 2000 { // below, the strip needs all of the height
			width = 300
		}
		b, _ := block(t, s, true, fyne.NewSize(float32(width), 240))
		b.ShowAll()
		b.ScrollTo(1 << 30)
		if !b.Complete() {
			t.Error("its end was not noticed")
		}
		if rows, _ := objects(b); rows > 32 {
			t.Errorf("%d rows are laid out", rows)
		}
		for _, o := range uiwalk.Texts(b) {
			for _, r := range o {
				if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Cs, unicode.Co) {
					t.Fatalf("%U is drawn", r)
				}
			}
		}
	})
}

func BenchmarkOpen64K(b *testing.B) {
	text := strings.Repeat(`{"body":"All of this is text, and some of it is długie."}`+"\n", 1<<16/58)
	a := test.NewTempApp(b)
	a.Settings().SetTheme(look.New("light", 100))
	for b.Loop() {
		block := hostile.NewBlock(text, true, 3, 8)
		w := a.NewWindow("")
		w.SetContent(parts.NewScroll(block))
		w.Resize(fyne.NewSize(720, 640))
		block.ShowAll()
		block.ScrollTo(1 << 30)
		w.Close()
	}
}
