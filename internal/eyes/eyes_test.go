package eyes_test

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/theme"

	"vault/internal/eyes"
	"vault/ui/look"
)

func TestFind(t *testing.T) {
	e := eyes.New()
	img := image.NewRGBA(image.Rect(0, 0, 600, 300))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	put := func(at image.Point, s look.Style, text string) {
		word := software.Render(look.Word(s, theme.ColorNameForeground, text), look.New("light", 100))
		draw.Draw(img, word.Bounds().Add(at), word, word.Bounds().Min, draw.Src)
	}
	put(image.Pt(40, 50), look.Strong, "Approve once")
	put(image.Pt(300, 50), look.Strong, "Approve and grant more")
	put(image.Pt(40, 200), look.Strong, "Approve once")

	for text, want := range map[string]int{"Approve once": 2, "Approve and grant more": 1, "Decline": 0, "Approve onze": 0} {
		if got := e.Find(img, img.Bounds(), text); len(got) != want {
			t.Errorf("%q was found at %v, want %d places", text, got, want)
		}
	}
	if got := e.Find(img, image.Rect(0, 150, 600, 300), "Approve once"); len(got) != 1 || got[0].Min.X < 40 || got[0].Min.Y < 200 {
		t.Errorf("in the lower part at %v", got)
	}
}
