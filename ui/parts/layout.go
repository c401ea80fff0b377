// Package parts holds what views are made of: boxes that know their height for
// a width, buttons, choices, fields, banners, meters, and the band with its seam.
// It knows no document and decides nothing.
package parts

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"vault/ui/look"
)

// Tall is an object whose height depends on its width.
type Tall interface {
	fyne.CanvasObject
	HeightFor(width float32) float32
}

type tallLayout interface {
	heightFor(objs []fyne.CanvasObject, width float32) float32
}

type naturalLayout interface {
	naturalWidth(objs []fyne.CanvasObject) float32
}

// HeightFor is the height of any object at a width.
func HeightFor(o fyne.CanvasObject, width float32) float32 {
	if !o.Visible() {
		return 0
	}
	switch o := o.(type) {
	case Tall:
		return o.HeightFor(width)
	case *fyne.Container:
		if l, ok := o.Layout.(tallLayout); ok {
			return l.heightFor(o.Objects, width)
		}
	}
	return o.MinSize().Height
}

// NaturalWidth is the width of any object that needs no cutting of text.
func NaturalWidth(o fyne.CanvasObject) float32 {
	switch o := o.(type) {
	case interface{ NaturalWidth() float32 }:
		return o.NaturalWidth()
	case *fyne.Container:
		if l, ok := o.Layout.(naturalLayout); ok {
			return l.naturalWidth(o.Objects)
		}
	}
	return o.MinSize().Width
}

func place(o fyne.CanvasObject, x, y, w, h float32) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(w, h))
}

// column stacks objects, each as wide as the column.
type column struct {
	gap   float32
	width float32
}

// Column stacks objects from top to bottom.
func Column(gap float32, objs ...fyne.CanvasObject) *fyne.Container {
	return container.New(&column{gap: gap}, objs...)
}

func (c *column) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	h, n := float32(0), 0
	for _, o := range objs {
		if !o.Visible() {
			continue
		}
		h += HeightFor(o, width)
		n++
	}
	return h + c.gap*float32(max(n-1, 0))
}

func (c *column) naturalWidth(objs []fyne.CanvasObject) float32 {
	w := float32(0)
	for _, o := range objs {
		w = max(w, NaturalWidth(o))
	}
	return w
}

func (c *column) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	c.width = size.Width
	free := size.Height - c.heightFor(objs, size.Width)
	fills := 0
	for _, o := range objs {
		if o.Visible() && isFill(o) {
			fills++
		}
	}
	y := float32(0)
	for _, o := range objs {
		if !o.Visible() {
			continue
		}
		h := HeightFor(o, size.Width)
		if isFill(o) && free > 0 {
			h += free / float32(fills)
			if m, ok := o.(*fyne.Container).Objects[0].(interface{ MostHeight(float32) float32 }); ok {
				h = min(h, m.MostHeight(size.Width))
			}
		}
		place(o, 0, y, size.Width, h)
		y += h + c.gap
	}
}

func (c *column) MinSize(objs []fyne.CanvasObject) fyne.Size {
	w := c.width
	if w == 0 {
		w = 400
	}
	return fyne.NewSize(0, c.heightFor(objs, w))
}

// row puts objects side by side at their natural width; those in Grow share the rest.
type row struct {
	gap   float32
	top   bool
	width float32
}

// Row puts objects side by side, on one middle line.
func Row(gap float32, objs ...fyne.CanvasObject) *fyne.Container {
	return container.New(&row{gap: gap}, objs...)
}

// RowTop puts objects side by side, on one upper line.
func RowTop(gap float32, objs ...fyne.CanvasObject) *fyne.Container {
	return container.New(&row{gap: gap, top: true}, objs...)
}

type grow struct{ fill bool }

// Grow lets an object of a row take the width that is left.
func Grow(o fyne.CanvasObject) *fyne.Container { return container.New(&grow{}, o) }

// Fill lets an object of a column take the height that is left.
func Fill(o fyne.CanvasObject) *fyne.Container { return container.New(&grow{fill: true}, o) }

// Spring takes the room that is left in a row.
func Spring() *fyne.Container { return Grow(Space(0, 0)) }

func isGrow(o fyne.CanvasObject) bool {
	c, ok := o.(*fyne.Container)
	if !ok {
		return false
	}
	_, ok = c.Layout.(*grow)
	return ok
}

func isFill(o fyne.CanvasObject) bool {
	c, ok := o.(*fyne.Container)
	if !ok {
		return false
	}
	g, ok := c.Layout.(*grow)
	return ok && g.fill
}

func (g *grow) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(objs[0], width)
}
func (g *grow) naturalWidth(objs []fyne.CanvasObject) float32 { return NaturalWidth(objs[0]) }
func (g *grow) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(objs[0], 0, 0, size.Width, size.Height)
}
func (g *grow) MinSize(objs []fyne.CanvasObject) fyne.Size { return objs[0].MinSize() }

func (r *row) widths(objs []fyne.CanvasObject, width float32) []float32 {
	out := make([]float32, len(objs))
	free, grows := width, 0
	n := 0
	for i, o := range objs {
		if !o.Visible() {
			continue
		}
		n++
		if isGrow(o) {
			grows++
			continue
		}
		out[i] = NaturalWidth(o)
		free -= out[i]
	}
	free -= r.gap * float32(max(n-1, 0))
	for i, o := range objs {
		if o.Visible() && isGrow(o) {
			out[i] = max(free/float32(grows), 0)
		}
	}
	if free < 0 { // too narrow: the widest text object gives way
		widest := 0
		for i := range out {
			if out[i] > out[widest] {
				widest = i
			}
		}
		if len(out) > 0 {
			out[widest] = max(out[widest]+free, 0)
		}
	}
	return out
}

func (r *row) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	h := float32(0)
	for i, w := range r.widths(objs, width) {
		h = max(h, HeightFor(objs[i], w))
	}
	return h
}

func (r *row) naturalWidth(objs []fyne.CanvasObject) float32 {
	w, n := float32(0), 0
	for _, o := range objs {
		if o.Visible() {
			w += NaturalWidth(o)
			n++
		}
	}
	return w + r.gap*float32(max(n-1, 0))
}

func (r *row) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	r.width = size.Width
	x := float32(0)
	for i, w := range r.widths(objs, size.Width) {
		o := objs[i]
		if !o.Visible() {
			continue
		}
		h := HeightFor(o, w)
		y := float32(0)
		if !r.top {
			y = float32(int((size.Height - h) / 2))
		}
		place(o, x, y, w, h)
		x += w + r.gap
	}
}

func (r *row) MinSize(objs []fyne.CanvasObject) fyne.Size {
	w := r.width
	if w == 0 {
		w = r.naturalWidth(objs)
	}
	return fyne.NewSize(0, r.heightFor(objs, w))
}

// cells are columns of given widths.
type cells struct {
	gap    float32
	widths []float32
	last   float32
	equal  bool
}

// Equal puts objects side by side at one width and one height.
func Equal(gap float32, objs ...fyne.CanvasObject) *fyne.Container {
	return container.New(&cells{gap: gap, widths: make([]float32, len(objs)), equal: true}, objs...)
}

// Cells puts objects side by side in columns: a width above 0 is fixed and scales with
// the text, 0 shares what is left.
func Cells(gap float32, widths []float32, objs ...fyne.CanvasObject) *fyne.Container {
	return container.New(&cells{gap: gap, widths: widths}, objs...)
}

func (c *cells) split(n int, width float32) []float32 {
	out := make([]float32, n)
	free, flex := width-c.gap*float32(max(n-1, 0)), 0
	for i := range out {
		if w := c.widths[i]; w > 0 {
			out[i] = look.S(w)
			free -= out[i]
		} else {
			flex++
		}
	}
	for i := range out {
		if c.widths[i] == 0 {
			out[i] = max(free/float32(flex), 0)
		}
	}
	return out
}

func (c *cells) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	h := float32(0)
	for i, w := range c.split(len(objs), width) {
		h = max(h, HeightFor(objs[i], w))
	}
	return h
}

func (c *cells) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	c.last = size.Width
	x := float32(0)
	for i, w := range c.split(len(objs), size.Width) {
		h := size.Height
		if !c.equal {
			h = HeightFor(objs[i], w)
		}
		place(objs[i], x, 0, w, h)
		x += w + c.gap
	}
}

func (c *cells) MinSize(objs []fyne.CanvasObject) fyne.Size {
	w := c.last
	if w == 0 {
		w = 600
	}
	return fyne.NewSize(0, c.heightFor(objs, w))
}

// pad leaves room around one object.
type pad struct{ top, right, bottom, left float32 }

// Pad leaves room around an object.
func Pad(top, right, bottom, left float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&pad{top, right, bottom, left}, o)
}

func (p *pad) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(objs[0], width-p.left-p.right) + p.top + p.bottom
}
func (p *pad) naturalWidth(objs []fyne.CanvasObject) float32 {
	return NaturalWidth(objs[0]) + p.left + p.right
}
func (p *pad) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(objs[0], p.left, p.top, max(size.Width-p.left-p.right, 0), max(size.Height-p.top-p.bottom, 0))
}
func (p *pad) MinSize(objs []fyne.CanvasObject) fyne.Size {
	m := objs[0].MinSize()
	return fyne.NewSize(m.Width+p.left+p.right, m.Height+p.top+p.bottom)
}

// over draws objects on top of each other; the last one gives the size.
type over struct{}

// Over draws objects on top of each other. The last one gives the size.
func Over(objs ...fyne.CanvasObject) *fyne.Container { return container.New(over{}, objs...) }

func (over) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(objs[len(objs)-1], width)
}
func (over) naturalWidth(objs []fyne.CanvasObject) float32 { return NaturalWidth(objs[len(objs)-1]) }
func (over) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objs {
		place(o, 0, 0, size.Width, size.Height)
	}
}
func (over) MinSize(objs []fyne.CanvasObject) fyne.Size { return objs[len(objs)-1].MinSize() }

// sized holds an object at a least or fixed size.
type sized struct {
	w, h   float32
	center bool
}

// Size gives an object a width and a least height at 100 percent; 0 leaves that side alone.
func Size(w, h float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&sized{w: w, h: h}, o)
}

// Middle gives an object a least height and sets it on the middle line.
func Middle(h float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&sized{h: h, center: true}, o)
}

// Space is empty room.
func Space(w, h float32) *fyne.Container {
	return container.New(&sized{w: w, h: h}, container.NewWithoutLayout())
}

func (s *sized) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	if s.w > 0 {
		width = look.S(s.w)
	}
	return max(look.S(s.h), HeightFor(objs[0], width))
}
func (s *sized) naturalWidth(objs []fyne.CanvasObject) float32 {
	if s.w > 0 {
		return look.S(s.w)
	}
	return NaturalWidth(objs[0])
}
func (s *sized) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	w := size.Width
	if s.w > 0 {
		w = min(w, look.S(s.w))
	}
	y, h := float32(0), size.Height
	if s.center {
		h = HeightFor(objs[0], w)
		y = float32(int((size.Height - h) / 2))
	}
	place(objs[0], 0, y, w, h)
}
func (s *sized) MinSize(objs []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(look.S(s.w), max(look.S(s.h), objs[0].MinSize().Height))
}

// centered holds an object at its natural width in the middle of the line.
type centered struct{ most float32 }

// Center sets an object in the middle of the line, at most w wide at 100 percent (0: its natural width).
func Center(w float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&centered{w}, o)
}

func (c *centered) width(o fyne.CanvasObject, width float32) float32 {
	if c.most > 0 {
		return min(width, look.S(c.most))
	}
	return min(width, NaturalWidth(o))
}
func (c *centered) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(objs[0], c.width(objs[0], width))
}
func (c *centered) naturalWidth(objs []fyne.CanvasObject) float32 { return c.width(objs[0], 1<<20) }
func (c *centered) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	w := c.width(objs[0], size.Width)
	place(objs[0], float32(int((size.Width-w)/2)), 0, w, size.Height)
}
func (c *centered) MinSize(objs []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, objs[0].MinSize().Height)
}

// flow puts objects side by side and goes on below when the line is full.
type flow struct{ gap, line float32 }

// Flow puts objects at their natural width side by side, in as many lines as they need.
func Flow(gap, line float32, objs ...fyne.CanvasObject) *fyne.Container {
	return container.New(&flow{gap, line}, objs...)
}

func (f *flow) walk(objs []fyne.CanvasObject, width float32, put func(o fyne.CanvasObject, x, y, w, h, line float32)) float32 {
	y := float32(0)
	for i := 0; i < len(objs); {
		x, tall, n := float32(0), float32(0), i
		for n < len(objs) {
			w := NaturalWidth(objs[n])
			if n > i && x+w > width {
				break
			}
			tall = max(tall, HeightFor(objs[n], w))
			x += w + f.gap
			n++
		}
		x = 0
		for _, o := range objs[i:n] {
			w := min(NaturalWidth(o), width)
			put(o, x, y, w, HeightFor(o, w), tall)
			x += w + f.gap
		}
		y += tall + f.line
		i = n
	}
	return max(y-f.line, 0)
}

func (f *flow) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return f.walk(objs, width, func(fyne.CanvasObject, float32, float32, float32, float32, float32) {})
}

func (f *flow) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	f.walk(objs, size.Width, func(o fyne.CanvasObject, x, y, w, h, line float32) {
		place(o, x, y+float32(int((line-h)/2)), w, h)
	})
}

func (f *flow) MinSize(objs []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, f.heightFor(objs, 600))
}
