package parts

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"vault/ui/look"
)

// Bar is a share as a bar of the given height at 100 percent. The number beside it is always
// written. A still one counts nothing at the moment.
func Bar(used, of int64, still bool, height float32) fyne.CanvasObject {
	ink := look.Primary
	if still {
		ink = look.Edge
	}
	used = min(max(used, 0), max(of, 0))
	part := float32(0)
	if of > 0 {
		part = float32(float64(used) / float64(of))
	}
	fill := &fyne.Container{Layout: &share{part}, Objects: []fyne.CanvasObject{look.NewBox(ink, "", height/2)}}
	return Over(look.NewBox(look.Off, "", height/2), fill, Space(0, height))
}

// Bars is a small chart: one bar for each value, the highest as high as the chart, above a
// base line. What it shows is written below it by whoever draws it.
func Bars(values []int64, height float32) fyne.CanvasObject {
	most := int64(1)
	for _, v := range values {
		most = max(most, v)
	}
	objs := []fyne.CanvasObject{look.NewBox(look.Edge, "", 0)}
	for range values {
		objs = append(objs, look.NewBox(look.Primary, "", 2))
	}
	return container.New(&bars{values: values, most: most, height: height}, objs...)
}

type bars struct {
	values []int64
	most   int64
	height float32
}

func (b *bars) heightFor([]fyne.CanvasObject, float32) float32 { return look.S(b.height) }

func (b *bars) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	const gap = 4
	base := size.Height - 1
	place(objs[0], 0, base, size.Width, 1)
	n := float32(len(b.values))
	w := float32(int((size.Width - gap*(n-1)) / max(n, 1)))
	for i, v := range b.values {
		h := float32(0)
		if v > 0 {
			h = max(float32(int(base*float32(float64(v)/float64(b.most)))), 2)
		}
		place(objs[i+1], float32(i)*(w+gap), base-h, w, h)
	}
}

func (b *bars) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, look.S(b.height)) }

// Either draws wide where there are at least so many pixels at 100 percent, else narrow.
func Either(least float32, wide, narrow fyne.CanvasObject) *fyne.Container {
	narrow.Hide()
	return container.New(&either{least}, wide, narrow)
}

type either struct{ least float32 }

func (e *either) pick(objs []fyne.CanvasObject, width float32) fyne.CanvasObject {
	show, hide := objs[0], objs[1]
	if width < look.S(e.least) {
		show, hide = hide, show
	}
	if !show.Visible() {
		show.Show()
	}
	if hide.Visible() {
		hide.Hide()
	}
	return show
}

func (e *either) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(e.pick(objs, width), width)
}

func (e *either) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(e.pick(objs, size.Width), 0, 0, size.Width, size.Height)
}

func (e *either) MinSize(objs []fyne.CanvasObject) fyne.Size {
	for _, o := range objs {
		if o.Visible() {
			return fyne.NewSize(0, o.MinSize().Height)
		}
	}
	return fyne.Size{}
}

// Listed is a row of a list beside a page. The current one is tinted and has a mark.
func Listed(current bool, body fyne.CanvasObject, tap func()) *Tap {
	if !current {
		return NewTap(body, tap)
	}
	return NewTap(Over(look.NewBox(look.Tint, "", 0), &fyne.Container{Layout: edge{}, Objects: []fyne.CanvasObject{look.NewBox(look.Primary, "", 0)}}, body), tap)
}

// edge is a mark of 3 pixels along the left side.
type edge struct{}

func (edge) heightFor([]fyne.CanvasObject, float32) float32 { return 0 }
func (edge) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(objs[0], 0, 0, 3, size.Height)
}
func (edge) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }
