package look

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"vault/assets"
)

// Color is the colour of a name in the theme in force.
func paint(r *canvas.Rectangle, name fyne.ThemeColorName) { r.FillColor = theme.Color(name) }

// Box is a filled rectangle with a border of two filled rectangles, because a
// stroke of one pixel smears over two. With Inner it has a second rule inside.
type Box struct {
	widget.BaseWidget
	Fill, Border  fyne.ThemeColorName // Border "" has none
	Radius, Width float32             // Width 0 is 1
	Inner         fyne.ThemeColorName // colour of a second rule, 2 px inside the first, or ""
}

// NewBox makes a box of one fill and border.
func NewBox(fill, border fyne.ThemeColorName, radius float32) *Box {
	b := &Box{Fill: fill, Border: border, Radius: radius}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer implements [fyne.Widget].
func (b *Box) CreateRenderer() fyne.WidgetRenderer {
	r := &boxRenderer{box: b}
	for i := range r.rect {
		r.rect[i] = canvas.NewRectangle(nil)
		r.objects = append(r.objects, r.rect[i])
	}
	r.Refresh()
	return r
}

type boxRenderer struct {
	box     *Box
	rect    [4]*canvas.Rectangle // border, fill, rule, fill inside the rule
	objects []fyne.CanvasObject
}

func (r *boxRenderer) Layout(size fyne.Size) {
	w := r.box.Width
	if w == 0 {
		w = 1
	}
	if r.box.Border == "" {
		w = 0
	}
	for i, in := range [4]float32{0, w, w + 2, w + 3} {
		r.rect[i].Move(fyne.NewPos(in, in))
		r.rect[i].Resize(fyne.NewSize(max(size.Width-2*in, 0), max(size.Height-2*in, 0)))
		r.rect[i].CornerRadius = max(r.box.Radius-in, 0)
	}
}

func (r *boxRenderer) MinSize() fyne.Size           { return fyne.Size{} }
func (r *boxRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *boxRenderer) Destroy()                     {}

func (r *boxRenderer) Refresh() {
	names := [4]fyne.ThemeColorName{r.box.Border, r.box.Fill, r.box.Inner, r.box.Fill}
	for i, rect := range r.rect {
		paint(rect, names[i])
		rect.Hidden = names[i] == "" || i == 3 && r.box.Inner == ""
	}
	r.Layout(r.box.Size())
	for _, o := range r.objects {
		o.Refresh()
	}
}

// Icon is one of the icons of the product, drawn in one colour of the theme.
type Icon struct {
	widget.BaseWidget
	name  string
	size  float32
	color fyne.ThemeColorName
	image *canvas.Image
}

// NewIcon makes an icon by its name in package assets. Size is the side at 100 percent.
func NewIcon(name string, size float32, color fyne.ThemeColorName) *Icon {
	b, err := assets.Icon(name)
	if err != nil {
		panic(err) // embedded: a wrong name is a mistake of the caller
	}
	i := &Icon{name: name, size: size, color: color}
	res := theme.NewColoredResource(fyne.NewStaticResource(name+".svg", b), color)
	i.image = canvas.NewImageFromResource(res)
	i.image.FillMode = canvas.ImageFillContain
	i.ExtendBaseWidget(i)
	return i
}

// CreateRenderer implements [fyne.Widget].
func (i *Icon) CreateRenderer() fyne.WidgetRenderer { return &iconRenderer{i} }

type iconRenderer struct{ icon *Icon }

func (r *iconRenderer) Layout(size fyne.Size) {
	side := min(S(r.icon.size), size.Width, size.Height)
	r.icon.image.Resize(fyne.NewSquareSize(side))
	r.icon.image.Move(fyne.NewPos((size.Width-side)/2, (size.Height-side)/2))
}
func (r *iconRenderer) MinSize() fyne.Size           { return fyne.NewSquareSize(S(r.icon.size)) }
func (r *iconRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.icon.image} }
func (r *iconRenderer) Destroy()                     {}
func (r *iconRenderer) Refresh() {
	r.Layout(r.icon.Size())
	r.icon.image.Refresh()
}

// Rule is a hairline without meaning.
func Rule() *Box { return NewBox(Line, "", 0) }
