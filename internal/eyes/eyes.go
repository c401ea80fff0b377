// Package eyes finds words on a picture of the screen, as a person does who looks
// for a button by what stands on it. It draws the words itself, in the faces of the
// window, and looks for a place where every stroke is in one colour and everything
// around it in another. It knows nothing of the program that drew the picture. It
// is imported by the demo and by tests alone.
package eyes

import (
	"image"
	"math"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"vault/ui/look"
)

// faces are those in which the window writes words that are looked for.
// Buttons and rows come first.
var faces = []look.Style{
	look.Strong, look.Item, look.SmallB, look.SmallM, look.Label, look.Title, look.Body, look.Stem, look.Small,
	look.Caption, look.CaptionM, look.Mono, look.MonoS, look.Digits, look.Words, look.Figure,
}

// Eyes find words. They are safe for concurrent use.
type Eyes struct {
	mu    sync.Mutex
	theme fyne.Theme
	known map[string][]shape // by text; one shape for each of the faces, as far as they were needed
	seen  map[sight][]image.Rectangle
}

// sight is one look. Looking again at the same picture costs nothing.
type sight struct {
	img  *image.RGBA
	in   image.Rectangle
	text string
}

// New opens the eyes. It starts Fyne's app for tests, of which there is one in a
// process, and needs no display.
func New() *Eyes {
	app := test.NewApp()
	e := &Eyes{theme: look.New("light", 100), known: map[string][]shape{}, seen: map[sight][]image.Rectangle{}}
	app.Settings().SetTheme(e.theme)
	return e
}

// shape is a text as it is drawn in one face: the places of its strokes and of the
// ground between them, from the left upper corner of the strokes.
type shape struct {
	size        image.Point
	ink, ground []image.Point
}

// shape draws the text in a face.
func (e *Eyes) shape(text string, face int) shape {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := len(e.known[text]); n <= face; n++ {
		word := software.Render(look.Word(faces[n], theme.ColorNameForeground, text), e.theme)
		e.known[text] = append(e.known[text], shapeOf(word))
	}
	return e.known[text][face]
}

// shapeOf takes what differs from the corner as strokes. What lies between is left
// out: edges are drawn in many shades.
func shapeOf(img image.Image) (s shape) {
	b := img.Bounds()
	corner := light(img, b.Min)
	full := 0.0
	each(b, func(p image.Point) { full = max(full, math.Abs(light(img, p)-corner)) })
	var ink, ground []image.Point
	box := image.Rectangle{}
	each(b, func(p image.Point) {
		switch d := math.Abs(light(img, p) - corner); {
		case full > 0 && d > 0.75*full:
			ink = append(ink, p)
			box = box.Union(image.Rectangle{p, p.Add(image.Pt(1, 1))})
		case d < 0.02*full:
			ground = append(ground, p)
		}
	})
	for _, p := range ink {
		s.ink = append(s.ink, p.Sub(box.Min))
	}
	for _, p := range ground {
		if p.In(box) {
			s.ground = append(s.ground, p.Sub(box.Min))
		}
	}
	s.size = box.Size()
	return s
}

func each(r image.Rectangle, f func(image.Point)) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			f(image.Pt(x, y))
		}
	}
}

func light(img image.Image, p image.Point) float64 {
	r, g, b, _ := img.At(p.X, p.Y).RGBA()
	return float64(r+2*g+b) / 4 / 257
}

// Find returns where the text stands in the part of the picture, in reading order: all
// places of the first face in which there are any. The picture must not change afterwards.
func (e *Eyes) Find(img *image.RGBA, in image.Rectangle, text string) []image.Rectangle {
	in = in.Intersect(img.Bounds())
	this := sight{img, in, text}
	e.mu.Lock()
	found, ok := e.seen[this]
	e.mu.Unlock()
	if ok {
		return found
	}
	found = e.find(img, in, text)
	e.mu.Lock()
	defer e.mu.Unlock()
	for old := range e.seen {
		if old.img != img {
			delete(e.seen, old)
		}
	}
	e.seen[this] = found
	return found
}

func (e *Eyes) find(img *image.RGBA, in image.Rectangle, text string) []image.Rectangle {
	luma := make([]int16, in.Dx()*in.Dy())
	for y := range in.Dy() {
		at := img.PixOffset(in.Min.X, in.Min.Y+y)
		for x := range in.Dx() {
			p := img.Pix[at+4*x:]
			luma[y*in.Dx()+x] = (int16(p[0]) + 2*int16(p[1]) + int16(p[2])) / 4
		}
	}
	for face := range faces {
		s := e.shape(text, face)
		var out []image.Rectangle
		for _, at := range s.find(luma, in.Dx(), in.Dy()) {
			out = append(out, image.Rectangle{at, at.Add(s.size)}.Add(in.Min))
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

const (
	apart = 45 // least difference of lightness between strokes and ground
	even  = 14 // how far the ground may be from itself
)

// find looks at every place. Most are given up after a few points.
func (s shape) find(luma []int16, width, height int) (out []image.Point) {
	if len(s.ink) == 0 || len(s.ground) == 0 {
		return nil
	}
	flat := func(ps []image.Point) []int {
		// Points far from each other first: they tell sooner that it is not here.
		out := make([]int, len(ps))
		step := max(1, len(ps)*61/100)
		for gcd(step, len(ps)) != 1 {
			step++
		}
		for i := range ps {
			p := ps[i*step%len(ps)]
			out[i] = p.Y*width + p.X
		}
		return out
	}
	ink, ground := flat(s.ink), flat(s.ground)
	for y := 0; y+s.size.Y <= height; y++ {
		for x := 0; x+s.size.X <= width; x++ {
			if at := y*width + x; here(luma[at:], ink, ground) {
				out = append(out, image.Pt(x, y))
			}
		}
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func here(luma []int16, ink, ground []int) bool {
	i, g := luma[ink[0]], luma[ground[0]]
	step := i - g
	if step < apart && step > -apart {
		return false
	}
	// A few points may be off: edges are drawn in slightly different shades.
	if misses(luma, ground, func(l int16) bool { return l-g <= even && g-l <= even }) {
		return false
	}
	return !misses(luma, ink, func(l int16) bool {
		d := l - g
		if step < 0 {
			d = -d
		}
		return d >= apart && 5*d >= 3*max(step, -step)
	})
}

func misses(luma []int16, at []int, fits func(int16) bool) bool {
	bad, allowed := 0, len(at)/100
	for _, k := range at {
		if !fits(luma[k]) {
			if bad++; bad > allowed {
				return true
			}
		}
	}
	return false
}
