package ui

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"vault/ui/parts"
)

// virtual is a column of rows of which no more is made and laid out than can be
// seen, with a few above and below. It stands inside a [parts.Scroll].
type virtual struct {
	widget.BaseWidget
	scroll *parts.Scroll
	height func(i int, width float32) float32 // nil: of the row itself
	row    func(i int) fyne.CanvasObject
	n      int
	moved  func(from, to int) // hears which rows are in view; nil does not

	forW    float32
	tops    []float32 // of each row, and the end
	made    map[int]fyne.CanvasObject
	content *fyne.Container
	from    int
	to      int
}

// spare is how many rows are kept beyond each edge of the view.
const spare = 4

// newVirtual makes a column of n rows. A row is made when it comes into view
// and forgotten when it leaves; keep what must live on.
func newVirtual(n int, row func(i int) fyne.CanvasObject, height func(i int, width float32) float32) *virtual {
	v := &virtual{n: n, row: row, height: height, made: map[int]fyne.CanvasObject{}, from: -1}
	v.content = container.New(manual{})
	v.ExtendBaseWidget(v)
	return v
}

// manual leaves objects where they were put.
type manual struct{}

func (manual) Layout([]fyne.CanvasObject, fyne.Size) {}
func (manual) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// in says in which view the column stands.
func (v *virtual) in(s *parts.Scroll) {
	if v.scroll == s {
		return
	}
	v.scroll = s
	before := s.Inner.OnScrolled
	s.Inner.OnScrolled = func(p fyne.Position) {
		v.place()
		before(p)
	}
}

// set makes the rows anew, n of them.
func (v *virtual) set(n int) {
	v.n, v.forW, v.from = n, 0, -1
	clear(v.made)
	v.Refresh()
}

// redraw makes the rows in view anew.
func (v *virtual) redraw() {
	clear(v.made)
	v.from = -1
	v.place()
}

func (v *virtual) measure(width float32) {
	if v.forW == width && len(v.tops) == v.n+1 {
		return
	}
	v.forW = width
	v.tops = slices.Grow(v.tops[:0], v.n+1)
	y := float32(0)
	for i := range v.n {
		v.tops = append(v.tops, y)
		if v.height != nil {
			y += v.height(i, width)
		} else {
			y += parts.HeightFor(v.row(i), width)
		}
	}
	v.tops = append(v.tops, y)
}

// HeightFor is the height of all rows.
func (v *virtual) HeightFor(width float32) float32 {
	v.measure(width)
	return v.tops[v.n]
}

// Below is what is laid out, for whoever looks for lines of text.
func (v *virtual) Below() fyne.CanvasObject { return v.content }

// at is the row at a height, and the last one below the end.
func (v *virtual) at(y float32) int {
	i, _ := slices.BinarySearch(v.tops, y)
	return min(max(i-1, 0), max(v.n-1, 0))
}

// top is how far a row stands below the upper end of the column.
func (v *virtual) top(i int) float32 {
	if i < 0 || i >= len(v.tops) {
		return 0
	}
	return v.tops[i]
}

// place makes what is in view and forgets what is not.
func (v *virtual) place() {
	size := v.Size()
	if size.Width <= 0 || v.scroll == nil {
		return
	}
	v.measure(size.Width)
	up, down := float32(0), float32(900)
	if h := v.scroll.Inner.Size().Height; h > 0 {
		above, _ := v.scroll.Top(v)
		up = v.scroll.Inner.Offset.Y - above
		down = up + h
	}
	from, to := 0, 0
	if v.n > 0 {
		from, to = max(v.at(up)-spare, 0), min(v.at(down)+1+spare, v.n)
	}
	if from == v.from && to == v.to && v.content.Size().Width == size.Width {
		return
	}
	v.from, v.to = from, to
	objs := make([]fyne.CanvasObject, 0, to-from)
	for i := range v.made {
		if i < from || i >= to {
			delete(v.made, i)
		}
	}
	for i := from; i < to; i++ {
		o := v.made[i]
		if o == nil {
			o = v.row(i)
			v.made[i] = o
		}
		o.Move(fyne.NewPos(0, v.tops[i]))
		o.Resize(fyne.NewSize(size.Width, v.tops[i+1]-v.tops[i]))
		objs = append(objs, o)
	}
	v.content.Objects = objs
	v.content.Resize(size)
	v.content.Refresh()
	if v.moved != nil {
		v.moved(from, to)
	}
}

// CreateRenderer implements [fyne.Widget].
func (v *virtual) CreateRenderer() fyne.WidgetRenderer { return &virtualRenderer{v} }

type virtualRenderer struct{ v *virtual }

func (r *virtualRenderer) Layout(fyne.Size)             { r.v.place() }
func (r *virtualRenderer) MinSize() fyne.Size           { return fyne.Size{} }
func (r *virtualRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.v.content} }
func (r *virtualRenderer) Destroy()                     {}
func (r *virtualRenderer) Refresh() {
	r.v.from = -1
	r.v.place()
}
