package parts

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"vault/ui/look"
)

// Keys is what a window wants to know of its controls: keys they do not use
// (Escape), and that they got or lost the keyboard.
type Keys interface {
	Key(*fyne.KeyEvent)
	Focused(o fyne.Focusable, on bool)
}

// control is what every operable object shares: the focus ring and stray keys.
type control struct {
	widget.BaseWidget
	keys    Keys
	self    fyne.Focusable
	focused bool
	body    fyne.CanvasObject
	radius  float32
	act     func(*fyne.KeyEvent) bool
}

// Watch tells the window of the control's keys.
func (c *control) Watch(k Keys) { c.keys = k }

// FocusGained implements [fyne.Focusable].
func (c *control) FocusGained() {
	c.focused = true
	if c.keys != nil {
		c.keys.Focused(c.self, true)
	}
	c.Refresh()
}

// FocusLost implements [fyne.Focusable].
func (c *control) FocusLost() {
	c.focused = false
	if c.keys != nil {
		c.keys.Focused(c.self, false)
	}
	c.Refresh()
}

// TypedRune implements [fyne.Focusable].
func (c *control) TypedRune(rune) {}

// TypedKey implements [fyne.Focusable].
func (c *control) TypedKey(k *fyne.KeyEvent) {
	if c.act != nil && c.act(k) {
		return
	}
	if c.keys != nil {
		c.keys.Key(k)
	}
}

func (c *control) renderer() fyne.WidgetRenderer {
	r := &controlRenderer{c: c, ring: canvas.NewRectangle(nil)}
	r.Refresh()
	return r
}

// controlRenderer draws the body and, outside of it, the ring: a stroke of two
// whole pixels, which does not smear.
type controlRenderer struct {
	c    *control
	ring *canvas.Rectangle
}

func (r *controlRenderer) Layout(size fyne.Size) {
	place(r.ring, -4, -4, size.Width+8, size.Height+8)
	r.ring.CornerRadius = r.c.radius + 4
	place(r.c.body, 0, 0, size.Width, size.Height)
}

func (r *controlRenderer) MinSize() fyne.Size {
	w := NaturalWidth(r.c.body)
	return fyne.NewSize(w, HeightFor(r.c.body, max(r.c.Size().Width, w)))
}

func (r *controlRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.ring, r.c.body}
}

func (r *controlRenderer) Destroy() {}

func (r *controlRenderer) Refresh() {
	r.ring.FillColor = theme.Color(look.None)
	r.ring.StrokeColor = theme.Color(look.Ink)
	r.ring.StrokeWidth = 2
	r.ring.Hidden = !r.c.focused
	r.ring.Refresh()
	r.Layout(r.c.Size())
	r.c.body.Refresh()
}

// Kind is the kind of a button.
type Kind uint8

// The kinds of buttons.
const (
	Plain Kind = iota
	Primary
	Danger
	Quiet  // no border: a way to another page
	Filter // a pill; pressed in, it is on
)

// Button does one thing when tapped, or on Space or Enter while it has the keyboard.
// A disabled one is drawn in off and never hidden.
type Button struct {
	control
	Tap func()

	kind     Kind
	icon     string
	label    string
	small    bool
	high     float32
	least    float32
	disabled bool
	on       bool
	after    bool
	bare     bool
	size     float32
}

// NewButton makes a button. Icon may be empty.
func NewButton(kind Kind, icon, label string, tap func()) *Button {
	b := &Button{kind: kind, icon: icon, label: label, Tap: tap}
	b.self = b
	b.radius = 6
	b.act = b.key
	b.build()
	b.ExtendBaseWidget(b)
	return b
}

// Small makes the button 28 high.
func (b *Button) Small() *Button { b.small = true; b.build(); return b }

// High gives the button another height at 100 percent.
func (b *Button) High(h float32) *Button { b.high = h; b.build(); return b }

// Least gives the button a least width at 100 percent.
func (b *Button) Least(w float32) *Button { b.least = w; b.build(); return b }

// IconAfter puts the icon behind the label.
func (b *Button) IconAfter() *Button { b.after = true; b.build(); return b }

// Bare draws the icon alone, as high as a line of text: for a sign that the page explains
// elsewhere. The label stays the button's name.
func (b *Button) Bare() *Button { b.bare = true; b.build(); return b }

// Text gives the label another size at 100 percent.
func (b *Button) Text(size float32) *Button { b.size = size; b.build(); return b }

// Icon gives the button another icon, or none.
func (b *Button) Icon(name string) *Button {
	if b.icon != name {
		b.icon = name
		b.build()
		b.Refresh()
	}
	return b
}

// On presses a filter in.
func (b *Button) On(on bool) *Button { b.on = on; b.build(); return b }

// Label returns what stands on the button.
func (b *Button) Label() string { return b.label }

// Set changes label and state.
func (b *Button) Set(label string, enabled bool) {
	if b.label == label && b.disabled == !enabled {
		return
	}
	b.label, b.disabled = label, !enabled
	b.build()
	b.Refresh()
}

// Enable implements [fyne.Disableable].
func (b *Button) Enable() { b.Set(b.label, true) }

// Disable implements [fyne.Disableable].
func (b *Button) Disable() { b.Set(b.label, false) }

// Disabled implements [fyne.Disableable].
func (b *Button) Disabled() bool { return b.disabled }

func (b *Button) build() {
	style, side, pad, height := look.Item, float32(14), float32(14), float32(36)
	if b.small {
		style, side, pad, height = look.SmallM, 12, 10, 28
	}
	if b.high > 0 {
		height = b.high
	}
	fill, border, ink := look.Paper, look.Edge, look.Ink
	switch {
	case b.disabled:
		fill, border, ink = look.Off, look.Off, look.Ink2
	case b.kind == Primary:
		fill, border, ink, style = look.Primary, look.Primary, look.OnPrimary, look.Strong
		if b.small {
			style = look.SmallB
		}
	case b.kind == Danger:
		border, ink = look.Danger, look.Danger
	case b.kind == Quiet:
		fill, border, ink, pad = look.None, look.None, look.Ink2, 4
	}
	box := look.NewBox(fill, border, 6)
	if b.kind == Filter {
		box.Radius, b.radius, pad, style = 14, 14, 12, look.SmallM
		if b.on {
			box.Fill, box.Border, box.Width = look.Tint, look.Primary, 2
		}
	}
	if b.size > 0 {
		style.Size = b.size
	}
	if b.bare {
		b.body = Middle(20, Pad(0, 0, 0, 8, look.NewIcon(b.icon, 16, ink)))
		return
	}
	// labels may hold the owner's name for an agent, so they take the face that has every script
	if b.kind == Primary || !isASCII(b.label) {
		style.Medium = false
	}
	word := look.Word(style, ink, b.label)
	inner := Row(8, word)
	if b.icon != "" {
		icon := look.NewIcon(b.icon, side, ink)
		if b.after {
			inner = Row(6, word, icon)
		} else {
			inner = Row(8, icon, word)
		}
	}
	var body fyne.CanvasObject = Middle(height, Pad(0, pad, 0, pad, Center(0, inner)))
	if b.least > 0 {
		body = container.New(&leastWidth{b.least}, body)
	}
	b.body = Over(box, body)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// leastWidth gives one object a least width.
type leastWidth struct{ w float32 }

func (l *leastWidth) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(objs[0], width)
}
func (l *leastWidth) naturalWidth(objs []fyne.CanvasObject) float32 {
	return max(look.S(l.w), NaturalWidth(objs[0]))
}
func (l *leastWidth) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(objs[0], 0, 0, size.Width, size.Height)
}
func (l *leastWidth) MinSize(objs []fyne.CanvasObject) fyne.Size {
	m := objs[0].MinSize()
	return fyne.NewSize(max(look.S(l.w), m.Width), m.Height)
}

func (b *Button) key(k *fyne.KeyEvent) bool {
	switch k.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		b.Tapped(nil)
		return true
	}
	return false
}

// Tapped implements [fyne.Tappable].
func (b *Button) Tapped(*fyne.PointEvent) {
	if !b.disabled && b.Tap != nil {
		b.Tap()
	}
}

// NaturalWidth is the width of the label with its room.
func (b *Button) NaturalWidth() float32 { return NaturalWidth(b.body) }

// HeightFor is the height of the button.
func (b *Button) HeightFor(w float32) float32 { return HeightFor(b.body, w) }

// CreateRenderer implements [fyne.Widget].
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	return b.renderer()
}

// Group is a set of choices of which at most one is taken. Nothing is taken at first.
type Group struct {
	choices []*Choice
	taken   *Choice
	Changed func()
}

// Taken is the choice that was taken, or nil.
func (g *Group) Taken() *Choice { return g.taken }

// Choices returns the choices in reading order.
func (g *Group) Choices() []*Choice { return g.choices }

// Take takes a choice as a tap on it does; nil takes none.
func (g *Group) Take(c *Choice) {
	if g.taken == c {
		return
	}
	old := g.taken
	g.taken = c
	for _, x := range []*Choice{old, c} {
		if x != nil {
			x.build()
			x.Refresh()
		}
	}
	if g.Changed != nil {
		g.Changed()
	}
}

// Choice is one row of a radio group.
type Choice struct {
	control
	Value string
	Label string
	Why   string

	group    *Group
	open     func() bool // whether input is taken now
	least    float32
	slim     bool
	disabled bool
	draw     func(c *Choice, taken bool) fyne.CanvasObject
}

// Draw gives the row a body of its own. It is called anew whenever the row is taken, let go or
// blocked; objects that must live on are kept by the caller.
func (c *Choice) Draw(f func(c *Choice, taken bool) fyne.CanvasObject) *Choice {
	c.draw = f
	c.Redraw()
	return c
}

// Redraw draws the row anew.
func (c *Choice) Redraw() {
	c.build()
	c.Refresh()
}

// Add adds a row to the group. Open says whether input is taken at the moment; nil always.
func (g *Group) Add(value, label, why string, open func() bool) *Choice {
	c := &Choice{Value: value, Label: label, Why: why, group: g, open: open, least: 62}
	c.self = c
	c.radius = 6
	c.act = c.key
	g.choices = append(g.choices, c)
	c.build()
	c.ExtendBaseWidget(c)
	return c
}

// Least sets the least height of the row at 100 percent.
func (c *Choice) Least(h float32) *Choice { c.least = h; c.build(); return c }

// Slim draws the row without its second line and least height, where room is scarce.
func (c *Choice) Slim(on bool) *Choice {
	if c.slim != on {
		c.slim = on
		c.build()
		c.Refresh()
	}
	return c
}

// Set changes the words of the row.
func (c *Choice) Set(label, why string) {
	if c.Label == label && c.Why == why {
		return
	}
	c.Label, c.Why = label, why
	c.build()
	c.Refresh()
}

// Block makes the row impossible and gives the reason.
func (c *Choice) Block(why string) {
	c.disabled, c.Why = true, why
	if c.group.taken == c {
		c.group.Take(nil)
	}
	c.build()
	c.Refresh()
}

// Disabled implements [fyne.Disableable].
func (c *Choice) Disabled() bool { return c.disabled }

// Enable implements [fyne.Disableable].
func (c *Choice) Enable() { c.disabled = false; c.build(); c.Refresh() }

// Disable implements [fyne.Disableable].
func (c *Choice) Disable() { c.Block(c.Why) }

func (c *Choice) build() {
	taken := c.group.taken == c
	if c.draw != nil {
		c.body = c.draw(c, taken)
		return
	}
	box := look.NewBox(look.Paper, look.Edge, 6)
	why := fyne.CanvasObject(look.Text(look.Small, look.Ink2, c.Why))
	var sign fyne.CanvasObject
	switch {
	case c.disabled:
		box.Fill, box.Border = look.Off, look.Off
		sign = look.NewIcon("error", 18, look.Danger)
		why = Over(look.NewBox(look.DangerTint, "", 4), Pad(2, 8, 2, 8, look.Text(look.Small, look.Ink, c.Why)))
	default:
		if taken {
			box.Fill, box.Border, box.Width = look.Tint, look.Primary, 2
		}
		sign = Radio(taken)
	}
	body := []fyne.CanvasObject{look.Text(look.Strong, look.Ink, c.Label)}
	least := c.least
	if c.slim {
		least = 0
	} else if c.Why != "" {
		body = append(body, why)
	}
	c.body = Over(box, Size(0, least, Pad(10, 14, 10, 15,
		RowTop(13, Pad(1, 0, 0, 0, sign), Grow(Column(0, body...))))))
}

// Radio is the sign of a row of a radio group.
func Radio(taken bool) fyne.CanvasObject {
	edge := look.Edge
	if taken {
		edge = look.Primary
	}
	ring := look.NewBox(look.Paper, edge, look.S(9))
	ring.Width = 1.5
	objs := []fyne.CanvasObject{ring}
	if taken {
		dot := look.NewBox(look.Primary, "", look.S(5))
		objs = append(objs, Pad(4, 4, 4, 4, dot))
	}
	return Over(append(objs, Space(18, 18))...)
}

func (c *Choice) key(k *fyne.KeyEvent) bool {
	step := 0
	switch k.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		c.Tapped(nil)
		return true
	case fyne.KeyDown, fyne.KeyRight:
		step = 1
	case fyne.KeyUp, fyne.KeyLeft:
		step = -1
	default:
		return false
	}
	canvas := fyne.CurrentApp().Driver().CanvasForObject(c)
	if canvas == nil {
		return true
	}
	for i, x := range c.group.choices {
		if x != c {
			continue
		}
		for n := 1; n < len(c.group.choices); n++ {
			next := c.group.choices[((i+step*n)%len(c.group.choices)+len(c.group.choices))%len(c.group.choices)]
			if !next.disabled && next.Visible() {
				canvas.Focus(next)
				break
			}
		}
	}
	return true
}

// Tapped implements [fyne.Tappable].
func (c *Choice) Tapped(*fyne.PointEvent) {
	if c.disabled || c.open != nil && !c.open() {
		return
	}
	c.group.Take(c)
}

// HeightFor is the height of the row at a width.
func (c *Choice) HeightFor(w float32) float32 { return HeightFor(c.body, w) }

// NaturalWidth is the width that needs no cutting.
func (c *Choice) NaturalWidth() float32 { return NaturalWidth(c.body) }

// CreateRenderer implements [fyne.Widget].
func (c *Choice) CreateRenderer() fyne.WidgetRenderer {
	return c.renderer()
}

// Heading is a title that can have the keyboard, so that opening a page presses nothing.
type Heading struct {
	control
	para *look.Paragraph
}

// NewHeading makes a heading of a paragraph.
func NewHeading(p *look.Paragraph) *Heading {
	h := &Heading{para: p}
	h.self = h
	h.body = p
	h.ExtendBaseWidget(h)
	return h
}

// String returns the words of the heading.
func (h *Heading) String() string { return h.para.String() }

// HeightFor is the height of the heading at a width.
func (h *Heading) HeightFor(w float32) float32 { return h.para.HeightFor(w) }

// CreateRenderer implements [fyne.Widget]. A heading is no control and has no ring.
func (h *Heading) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(h.para) }

// Field is one line to type in. It has no button of its own, also for passphrases.
type Field struct {
	widget.Entry
	keys   Keys
	Submit func() // Enter; nil does nothing
	// Typed hears of each character and whether a shift key was down; nil does not.
	Typed func(r rune, shift bool)
	limit int
	shift int
}

// NewField makes a field for at most limit characters.
func NewField(value, placeholder string, limit int) *Field {
	f := &Field{limit: limit}
	f.PlaceHolder = placeholder
	f.Text = value
	f.ExtendBaseWidget(f)
	return f
}

// NewSecret makes a field whose text is not shown.
func NewSecret(limit int) *Field {
	f := NewField("", "", limit)
	f.Password = true
	f.ActionItem = Space(0, 0) // no button that reveals
	return f
}

// Watch tells the window of the field's keys.
func (f *Field) Watch(k Keys) { f.keys = k }

// TypedKey implements [fyne.Focusable].
func (f *Field) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		if f.keys != nil {
			f.keys.Key(k)
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		if f.Submit != nil {
			f.Submit()
		}
	default:
		f.Entry.TypedKey(k)
	}
}

// TypedRune implements [fyne.Focusable].
func (f *Field) TypedRune(r rune) {
	if f.limit > 0 && len([]rune(f.Text)) >= f.limit {
		return
	}
	f.Entry.TypedRune(r)
	if f.Typed != nil {
		f.Typed(r, f.shift > 0)
	}
}

// KeyDown implements [desktop.Keyable].
func (f *Field) KeyDown(k *fyne.KeyEvent) {
	if k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight {
		f.shift++
	}
	f.Entry.KeyDown(k)
}

// KeyUp implements [desktop.Keyable].
func (f *Field) KeyUp(k *fyne.KeyEvent) {
	if k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight {
		f.shift = max(f.shift-1, 0)
	}
	f.Entry.KeyUp(k)
}

// TypedShortcut implements [fyne.Shortcutable]; what is pasted is cut at the limit.
func (f *Field) TypedShortcut(s fyne.Shortcut) {
	f.Entry.TypedShortcut(s)
	if r := []rune(f.Text); f.limit > 0 && len(r) > f.limit {
		f.SetText(string(r[:f.limit]))
	}
}

// FocusGained implements [fyne.Focusable].
func (f *Field) FocusGained() {
	f.Entry.FocusGained()
	if f.keys != nil {
		f.keys.Focused(f, true)
	}
}

// FocusLost implements [fyne.Focusable].
func (f *Field) FocusLost() {
	f.shift = 0
	f.Entry.FocusLost()
	if f.keys != nil {
		f.keys.Focused(f, false)
	}
}

// Take returns the text as bytes and clears the field with its history.
func (f *Field) Take() []byte {
	b := []byte(f.Text)
	f.SetText("")
	return b
}

// Area is several lines to type in. Enter adds a line, Ctrl and Enter submits, Tab goes on
// to the next control.
type Area struct {
	widget.Entry
	Submit func()
	// Over is called when what was typed or pasted would be longer than the limit; nothing of it is taken.
	Over  func()
	keys  Keys
	limit int
	rows  int
}

// NewArea makes a field of rows lines for at most limit characters.
func NewArea(placeholder string, limit, rows int) *Area {
	a := &Area{limit: limit, rows: rows}
	a.MultiLine, a.Wrapping = true, fyne.TextWrapWord
	a.PlaceHolder = placeholder
	a.SetMinRowsVisible(rows)
	a.ExtendBaseWidget(a)
	return a
}

// Watch tells the window of the area's keys.
func (a *Area) Watch(k Keys) { a.keys = k }

// AcceptsTab implements [fyne.Tabbable]: Tab is not text here.
func (a *Area) AcceptsTab() bool { return false }

// TypedKey implements [fyne.Focusable].
func (a *Area) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		if a.keys != nil {
			a.keys.Key(k)
		}
		return
	}
	a.within(func() { a.Entry.TypedKey(k) })
}

// TypedRune implements [fyne.Focusable].
func (a *Area) TypedRune(r rune) { a.within(func() { a.Entry.TypedRune(r) }) }

// TypedShortcut implements [fyne.Shortcutable].
func (a *Area) TypedShortcut(s fyne.Shortcut) {
	if c, ok := s.(*desktop.CustomShortcut); ok && c.Modifier == fyne.KeyModifierControl && (c.KeyName == fyne.KeyReturn || c.KeyName == fyne.KeyEnter) {
		if a.Submit != nil {
			a.Submit()
		}
		return
	}
	a.within(func() { a.Entry.TypedShortcut(s) })
}

// within undoes a change that makes the text too long, as a whole.
func (a *Area) within(f func()) {
	before, row, column := a.Text, a.CursorRow, a.CursorColumn
	f()
	if len([]rune(a.Text)) <= a.limit {
		return
	}
	a.SetText(before)
	a.CursorRow, a.CursorColumn = row, column
	a.Refresh()
	if a.Over != nil {
		a.Over()
	}
}

// FocusGained implements [fyne.Focusable].
func (a *Area) FocusGained() {
	a.Entry.FocusGained()
	if a.keys != nil {
		a.keys.Focused(a, true)
	}
}

// FocusLost implements [fyne.Focusable].
func (a *Area) FocusLost() {
	a.Entry.FocusLost()
	if a.keys != nil {
		a.keys.Focused(a, false)
	}
}
