package parts

import (
	"fyne.io/fyne/v2"

	"vault/ui/look"
)

// Progress is how far one step of a ceremony is.
type Progress uint8

// What a step can be. A failed step is the last one that is drawn.
const (
	Next Progress = iota
	Now
	Done
	Failed
)

// Stage is one step of a ceremony: what it is, and a remark below it or nothing.
type Stage struct {
	Progress Progress
	Name     string
	More     string
}

// Ceremony is the status of a ceremony, from top to bottom: a solid disc with a check
// for what is done, a ring with a dot for now, a ring for what comes, a ring with a cross
// for what failed, each with its words.
func Ceremony(stages ...Stage) fyne.CanvasObject {
	var objs []fyne.CanvasObject
	for i, s := range stages {
		style, ink := look.Body, look.Ink2
		ring := look.NewBox(look.Paper, look.Edge, look.S(8))
		ring.Width = 1.5
		var sign fyne.CanvasObject
		switch s.Progress {
		case Done:
			ring.Fill, ring.Border = look.Primary, look.Primary
			style, ink = look.Body, look.Ink
			sign = inset(3, look.NewIcon("check", 10, look.OnPrimary))
		case Now:
			ring.Border, ring.Width = look.Primary, 2
			style, ink = look.Strong, look.Ink
			sign = inset(5, look.NewBox(look.Primary, "", look.S(3)))
		case Failed:
			ring.Border = look.Danger
			style, ink = look.Strong, look.Ink
			sign = inset(3, look.NewIcon("cross", 10, look.Danger))
		}
		dot := []fyne.CanvasObject{ring}
		if sign != nil {
			dot = append(dot, sign)
		}
		words := []fyne.CanvasObject{look.Text(style, ink, s.Name)}
		if s.More != "" {
			words = append(words, look.Text(look.Small, look.Ink2, s.More))
		}
		var line fyne.CanvasObject
		if i+1 < len(stages) {
			line = look.NewBox(look.Edge, "", 0)
			words = append(words, Space(0, 10))
		}
		objs = append(objs, rung(line, Over(append(dot, Space(16, 16))...), Column(0, words...)))
	}
	return Column(0, objs...)
}

// inset is room on all sides at 100 percent.
func inset(by float32, o fyne.CanvasObject) fyne.CanvasObject {
	by = look.S(by)
	return Pad(by, by, by, by, o)
}

// rung puts the sign of a step at the left of its words, and the line to the next below it.
func rung(line, sign, words fyne.CanvasObject) *fyne.Container {
	c := &fyne.Container{Layout: &rungLayout{line: line}, Objects: []fyne.CanvasObject{sign, words}}
	if line != nil {
		c.Objects = append(c.Objects, line)
	}
	return c
}

type rungLayout struct{ line fyne.CanvasObject }

func (r *rungLayout) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return max(HeightFor(objs[1], width-look.S(28)), look.S(18))
}
func (r *rungLayout) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	d := look.S(16)
	place(objs[0], 0, 2, d, d)
	place(objs[1], look.S(28), 0, size.Width-look.S(28), size.Height)
	if r.line != nil {
		place(r.line, float32(int(d/2)), d+2, 1, size.Height-d)
	}
}
func (r *rungLayout) MinSize(objs []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, max(objs[1].MinSize().Height, look.S(18)))
}
