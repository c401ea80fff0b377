package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"vault/ui/look"
	"vault/ui/parts"
)

// inert is how long a sheet takes no input after it was shown or changed.
const inert = time.Second

// gate drops input that was on its way before its target was there to be read.
type gate struct {
	now   func() time.Time
	until time.Time
	lost  fyne.Focusable // control that lost the keyboard last
}

func (g *gate) arm() { g.until = g.now().Add(inert) }

func (g *gate) open() bool { return !g.now().Before(g.until) }

// focused watches who has the keyboard. A control that gets it back right after it lost it
// means that the window itself was away.
func (g *gate) focused(o fyne.Focusable, on bool) {
	if !on {
		g.lost = o
		return
	}
	if g.lost == o {
		g.arm()
	}
	g.lost = nil
}

// frame is the root of a window: it holds the content, a least size, and hears of
// input and of changes of size.
type frame struct {
	widget.BaseWidget
	least   fyne.Size
	content fyne.CanvasObject
	layout  func(fyne.Size) // before the content is laid out
	after   func()          // after it
	touched func()
}

func newFrame(least fyne.Size) *frame {
	f := &frame{least: least, content: parts.Space(0, 0)}
	f.ExtendBaseWidget(f)
	return f
}

func (f *frame) set(o fyne.CanvasObject) {
	f.content = o
	f.Refresh()
}

// MouseIn implements [desktop.Hoverable].
func (f *frame) MouseIn(*desktop.MouseEvent) { f.moved() }

// MouseMoved implements [desktop.Hoverable].
func (f *frame) MouseMoved(*desktop.MouseEvent) { f.moved() }

// MouseOut implements [desktop.Hoverable].
func (f *frame) MouseOut() {}

func (f *frame) moved() {
	if f.touched != nil {
		f.touched()
	}
}

// CreateRenderer implements [fyne.Widget].
func (f *frame) CreateRenderer() fyne.WidgetRenderer {
	return &frameRenderer{f: f, ground: look.NewBox(look.Ground, "", 0)}
}

type frameRenderer struct {
	f      *frame
	ground *look.Box
}

func (r *frameRenderer) Layout(size fyne.Size) {
	if r.f.layout != nil {
		r.f.layout(size)
	}
	r.ground.Resize(size)
	r.f.content.Resize(size)
	if r.f.after != nil {
		r.f.after()
	}
}
func (r *frameRenderer) MinSize() fyne.Size { return r.f.least }
func (r *frameRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.ground, r.f.content}
}
func (r *frameRenderer) Destroy() {}
func (r *frameRenderer) Refresh() {
	r.ground.Refresh()
	r.f.content.Resize(r.f.Size())
	r.f.content.Refresh()
	r.Layout(r.f.Size())
}

// demoStrip marks a throw-away vault, above everything else.
func demoStrip() fyne.CanvasObject {
	return parts.Sunk(look.WarnTint, 0, parts.Middle(26, parts.Pad(0, 24, 0, 24,
		parts.Row(8, look.NewIcon("warning", 14, look.Warn), parts.Grow(look.Text(look.Caption, look.Ink, "Demo: a throw-away vault. Nothing it signs binds anybody."))))))
}

// clickStrip says what clicks are worth while there is no passkey.
func clickStrip(inset float32) fyne.CanvasObject {
	return parts.Column(0, parts.Hair(), parts.Sunk(look.Well, 0, parts.Middle(26, parts.Pad(4, inset, 4, inset,
		parts.Row(8, look.NewIcon("info", 14, look.Ink2), parts.Grow(look.Text(look.Caption, look.Ink2, "Programs that control the screen can approve here.")))))))
}

// stack puts fixed objects above and below one that takes the rest.
func stack(above []fyne.CanvasObject, middle fyne.CanvasObject, below ...fyne.CanvasObject) *fyne.Container {
	return container.New(&stackLayout{len(above)}, append(append(append([]fyne.CanvasObject{}, above...), middle), below...)...)
}

type stackLayout struct{ above int }

func (s *stackLayout) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	heights := make([]float32, len(objs))
	free := size.Height
	for i, o := range objs {
		if i != s.above {
			heights[i] = parts.HeightFor(o, size.Width)
			free -= heights[i]
		}
	}
	heights[s.above] = max(free, 0)
	y := float32(0)
	for i, o := range objs {
		o.Move(fyne.NewPos(0, y))
		o.Resize(fyne.NewSize(size.Width, heights[i]))
		y += heights[i]
	}
}

func (s *stackLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// framed puts the strips around the content of the main window.
func (u *UI) framed(content fyne.CanvasObject) fyne.CanvasObject {
	var above []fyne.CanvasObject
	if u.state.Status.Public.Demo {
		above = append(above, demoStrip())
	}
	return stack(above, content)
}
