package parts

import (
	"fyne.io/fyne/v2"

	"vault/ui/look"
)

// Tap is an object that does one thing when tapped, without the look of a button:
// an item of the rail, a row that opens.
type Tap struct {
	control
	tap func()
}

// NewTap makes an object operable.
func NewTap(body fyne.CanvasObject, tap func()) *Tap {
	t := &Tap{tap: tap}
	t.self, t.body, t.radius, t.act = t, body, 4, t.key
	t.ExtendBaseWidget(t)
	return t
}

// NewNav makes an item of the rail. The current one has paper and a mark.
func NewNav(icon, name, count string, current bool, tap func()) *Tap {
	ink, style, fill := look.Ink2, look.Item, look.None
	if current {
		ink, style, fill = look.Ink, look.Strong, look.Paper
	}
	objs := []fyne.CanvasObject{look.NewIcon(icon, 16, ink), Grow(look.Text(style, ink, name))}
	if count != "" {
		objs = append(objs, look.Word(look.CaptionB, look.Ink, count))
	}
	layers := []fyne.CanvasObject{look.NewBox(fill, "", 6)}
	if current {
		layers = append(layers, Row(0, Pad(8, 0, 8, 0, Over(look.NewBox(look.Primary, "", 1.5), Space(3, 18)))))
	}
	return NewTap(Over(append(layers, Middle(34, Pad(0, 10, 0, 10, Row(10, objs...))))...), tap)
}

func (t *Tap) key(k *fyne.KeyEvent) bool {
	switch k.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		t.Tapped(nil)
		return true
	}
	return false
}

// Tapped implements [fyne.Tappable].
func (t *Tap) Tapped(*fyne.PointEvent) {
	if t.tap != nil {
		t.tap()
	}
}

// HeightFor is the height of the body at a width.
func (t *Tap) HeightFor(w float32) float32 { return HeightFor(t.body, w) }

// CreateRenderer implements [fyne.Widget].
func (t *Tap) CreateRenderer() fyne.WidgetRenderer { return t.renderer() }
