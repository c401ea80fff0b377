package look

import (
	"fyne.io/fyne/v2"
)

// Style is a face with its size and the height of its line box, at 100 percent.
type Style struct {
	Size, Line float32
	Bold, Mono bool
	Medium     bool // Vault Sans Medium; it has no other scripts, so for our own words only
}

// The styles. Nothing is smaller than Caption.
var (
	Figure   = Style{Size: 28, Line: 34, Bold: true}
	Title    = Style{Size: 20, Line: 26, Bold: true}
	Stem     = Style{Size: 16, Line: 22, Bold: true}
	Label    = Style{Size: 15, Line: 22, Bold: true}
	Who      = Style{Size: 15, Line: 20, Bold: true}
	Body     = Style{Size: 14, Line: 20}
	Strong   = Style{Size: 14, Line: 20, Bold: true}
	Item     = Style{Size: 14, Line: 20, Medium: true}
	Small    = Style{Size: 13, Line: 18}
	SmallM   = Style{Size: 13, Line: 18, Medium: true}
	SmallB   = Style{Size: 13, Line: 18, Bold: true}
	Caption  = Style{Size: 12, Line: 16}
	CaptionM = Style{Size: 12, Line: 16, Medium: true}
	CaptionB = Style{Size: 12, Line: 16, Bold: true}
	Mono     = Style{Size: 13, Line: 20, Mono: true}
	MonoB    = Style{Size: 13, Line: 18, Mono: true, Bold: true}
	MonoS    = Style{Size: 12, Line: 16, Mono: true}
	MonoSB   = Style{Size: 12, Line: 16, Mono: true, Bold: true}
	Digits   = Style{Size: 20, Line: 36, Mono: true, Bold: true}
	Words    = Style{Size: 16, Line: 22, Mono: true, Bold: true}
)

// Box is s with another height of line.
func (s Style) Box(line float32) Style {
	s.Line = line
	return s
}

func (s Style) text() fyne.TextStyle { return fyne.TextStyle{Bold: s.Bold, Monospace: s.Mono} }

func (s Style) source() fyne.Resource {
	if s.Medium {
		return fontMedium
	}
	return nil
}

// Measure returns the width of text and the height of its glyph box at the scale in force.
func (s Style) Measure(text string) fyne.Size {
	size, _ := fyne.CurrentApp().Driver().RenderedTextSize(text, s.Size*Scale(), s.text(), s.source())
	return size
}
