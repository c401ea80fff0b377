package parts

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"vault/ui/look"
)

// Scroll scrolls its content up and down; the content is as wide as the view.
type Scroll struct {
	widget.BaseWidget
	Inner *container.Scroll
	// Scrolled is called after the place has changed; nil does nothing.
	Scrolled func()

	holder *holder
	whole  bool
	words  func(below float32) string
	above  *look.Box // covers the rest of a line at the upper edge
	under  *look.Box // at the lower edge
	foot   fyne.CanvasObject
	text   *look.Paragraph
	said   string
	from   float32 // what of the content is shown by whole lines
	to     float32
}

type holder struct{ width, height float32 }

func (h *holder) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(objs[0], 0, 0, size.Width, size.Height)
}
func (h *holder) MinSize(objs []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, max(HeightFor(objs[0], h.width), h.height))
}

// AtEnd says whether the end of the content is in view.
func (s *Scroll) AtEnd() bool {
	return s.Inner.Size().Height > 0 && s.Inner.Offset.Y+s.Inner.Size().Height >= s.Inner.Content.Size().Height-1
}

// NewScroll makes a view on content.
func NewScroll(content fyne.CanvasObject) *Scroll {
	s := &Scroll{holder: &holder{width: 400}}
	s.Inner = container.NewVScroll(container.New(s.holder, content))
	s.Inner.OnScrolled = func(fyne.Position) {
		s.edges()
		if s.Scrolled != nil {
			s.Scrolled()
		}
	}
	s.ExtendBaseWidget(s)
	return s
}

// Whole makes the view cut no line of text in half, on a ground of the given fill. While content
// goes on below, a strip says so: words gets the height in the content from which on nothing is in view.
func (s *Scroll) Whole(fill fyne.ThemeColorName, words func(below float32) string) *Scroll {
	s.whole, s.words = true, words
	s.above, s.under = look.NewBox(fill, "", 0), look.NewBox(fill, "", 0)
	s.text = look.Text(look.Caption, look.Ink2, " ")
	s.foot = Sunk(look.Well, 0, Middle(22, Pad(3, 24, 3, 24, Row(8, look.NewIcon("more", 12, look.Ink2), Grow(s.text)))))
	s.above.Hide()
	s.under.Hide()
	s.foot.Hide()
	return s
}

// FootHeight is how much of the view the strip takes while it is shown.
func (s *Scroll) FootHeight(width float32) float32 {
	if !s.whole {
		return 0
	}
	return max(look.S(22), look.S(16)+6)
}

// edges covers lines that the edges of the view would cut, and brings the strip up to date.
func (s *Scroll) edges() {
	if !s.whole {
		return
	}
	view, top := s.Inner.Size(), s.Inner.Offset.Y
	bottom := top + view.Height
	more := view.Height > 0 && s.Inner.Content.Size().Height > view.Height+1 && !s.AtEnd()
	if more {
		bottom -= s.FootHeight(view.Width)
	}
	from, to := bottom, top
	for again := true; again; {
		again = false
		TextLines(s.Inner.Content, 0, func(y, h float32) {
			if y < from-0.5 && y+h > from+0.5 {
				from, again = y, true
			}
			if y < to-0.5 && y+h > to+0.5 {
				to, again = y+h, true
			}
		})
	}
	s.from, s.to = to, max(from, to)
	show := func(o fyne.CanvasObject, y, h float32) {
		if h < 1 || view.Height <= 0 {
			o.Hide()
			return
		}
		place(o, 0, y, view.Width, h)
		o.Show()
	}
	bar := look.S(6) + 4 // the bar of the view stays in view
	show(s.above, 0, min(to-top, view.Height))
	show(s.under, max(from-top, 0), bottom-max(from, top))
	for _, o := range []*look.Box{s.above, s.under} {
		o.Resize(fyne.NewSize(max(view.Width-bar, 0), o.Size().Height))
	}
	if !more {
		s.foot.Hide()
		s.said = ""
		return
	}
	if words := s.words(from); words != s.said {
		s.said = words
		s.text.Set(look.Run{Text: words, Style: look.Caption, Color: look.Ink2})
	}
	h := s.FootHeight(view.Width)
	show(s.foot, view.Height-h, h)
}

// Shown is the part of the content that is in view by whole lines, from its upper end.
func (s *Scroll) Shown() (from, to float32) {
	if s.whole {
		return s.from, s.to
	}
	return s.Inner.Offset.Y, s.Inner.Offset.Y + s.Inner.Size().Height
}

// Covered says whether the strip says that content goes on below.
func (s *Scroll) Covered() bool { return s.whole && s.foot.Visible() }

// Top is how far an object of the content stands below the upper end of the content, and false
// for an object that is not in it.
func (s *Scroll) Top(o fyne.CanvasObject) (float32, bool) { return topOf(s.Inner.Content, o, 0) }

// Reveal scrolls no further than it has to for an object of the content to be in view: its lower end, and its
// upper end where both have no room.
func (s *Scroll) Reveal(o fyne.CanvasObject) {
	top, ok := s.Top(o)
	if !ok {
		return
	}
	const air = 16
	from, height := s.Inner.Offset.Y, s.Inner.Size().Height
	from = min(max(from, top+o.Size().Height+air-height), max(0, top-air))
	if from != s.Inner.Offset.Y {
		s.Inner.ScrollToOffset(fyne.NewPos(0, from))
	}
}

func topOf(in, o fyne.CanvasObject, y float32) (float32, bool) {
	if in == o {
		return y, true
	}
	for _, c := range within(in) {
		if at, ok := topOf(c, o, y+c.Position().Y); ok {
			return at, true
		}
	}
	return 0, false
}

// within are the objects of a container or of a control.
func within(o fyne.CanvasObject) []fyne.CanvasObject {
	switch o := o.(type) {
	case *fyne.Container:
		return o.Objects
	case *Choice:
		return []fyne.CanvasObject{o.body}
	case *Button:
		return []fyne.CanvasObject{o.body}
	case *Tap:
		return []fyne.CanvasObject{o.body}
	case *Heading:
		return []fyne.CanvasObject{o.body}
	}
	return nil
}

// liner is an object that draws lines of text.
type liner interface {
	// TextLines gives the first line's place in the object, the height of a line, and their number.
	TextLines() (y, height float32, n int)
}

// TextLines calls f with the place of every line of text below an object that was laid out.
func TextLines(o fyne.CanvasObject, y float32, f func(y, height float32)) {
	if !o.Visible() {
		return
	}
	if l, ok := o.(liner); ok {
		first, h, n := l.TextLines()
		for i := range n {
			f(y+first+float32(i)*h, h)
		}
	}
	if p, ok := o.(interface{ Below() fyne.CanvasObject }); ok {
		TextLines(p.Below(), y+p.Below().Position().Y, f)
		return
	}
	for _, c := range within(o) {
		TextLines(c, y+c.Position().Y, f)
	}
}

// Set replaces the content and keeps the place.
func (s *Scroll) Set(content fyne.CanvasObject) {
	s.Inner.Content.(*fyne.Container).Objects[0] = content
	s.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (s *Scroll) CreateRenderer() fyne.WidgetRenderer { return &scrollRenderer{s} }

type scrollRenderer struct{ s *Scroll }

func (r *scrollRenderer) Layout(size fyne.Size) {
	r.s.holder.width, r.s.holder.height = size.Width, size.Height
	if r.s.Inner.Size() == size {
		r.s.Inner.Refresh()
	}
	r.s.Inner.Resize(size)
	r.s.edges()
}
func (r *scrollRenderer) MinSize() fyne.Size { return fyne.NewSize(0, 60) }
func (r *scrollRenderer) Objects() []fyne.CanvasObject {
	if r.s.whole {
		return []fyne.CanvasObject{r.s.Inner, r.s.above, r.s.under, r.s.foot}
	}
	return []fyne.CanvasObject{r.s.Inner}
}
func (r *scrollRenderer) Destroy() {}
func (r *scrollRenderer) Refresh() {
	c := r.s.Inner.Content.(*fyne.Container)
	place(c, c.Position().X, c.Position().Y, r.s.Size().Width, c.MinSize().Height)
	c.Refresh()
	r.s.Inner.Refresh()
	r.s.edges()
}
