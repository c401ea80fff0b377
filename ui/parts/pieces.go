package parts

import (
	"fmt"

	"fyne.io/fyne/v2"

	"vault/ui/look"
)

// Band is the vault's own area on top of a sheet, closed by the seam. Who and facts
// are words of the vault and names the owner gave; nothing from outside is drawn here.
// End may be nil.
func Band(who, facts string, end fyne.CanvasObject) fyne.CanvasObject {
	text := Column(2, look.Text(look.Who, look.OnBand, who), look.Text(look.Caption, look.OnBand2, facts))
	objs := []fyne.CanvasObject{look.NewIcon("mark", 26, look.OnBand), Grow(text)}
	if end != nil {
		objs = append(objs, end)
	}
	return Column(0,
		Over(look.NewBox(look.Band, "", 0), Middle((58+32*(look.Scale()-1))/look.Scale(), Pad(6, 24, 6, 20, Row(14, objs...)))),
		Over(look.NewBox(look.Seam, "", 0), Space(0, 2)))
}

// BandEnd is the right end of a band: a caption with a value below it.
func BandEnd(caption, value string, style look.Style) fyne.CanvasObject {
	c := look.Word(look.Caption, look.OnBand2, caption)
	v := look.Word(style.Box(18), look.OnBand, value)
	w := max(c.NaturalWidth(), v.NaturalWidth())
	c, v = look.Text(look.Caption, look.OnBand2, caption), look.Text(style.Box(18), look.OnBand, value)
	c.Align, v.Align = fyne.TextAlignTrailing, fyne.TextAlignTrailing
	return Size((w+1)/look.Scale(), 0, Column(0, c, v))
}

// Tone is the tone of a banner.
type Tone uint8

// The tones. Alarm only when something is lost or stopped.
const (
	Calm Tone = iota
	Notice
	Alarm
)

// Banner says what happened (strong), what did not, and what to do; with at most one button.
func Banner(tone Tone, icon, what, more string, button *Button) fyne.CanvasObject {
	fill, ink, second := look.Well, look.Ink, look.Ink2
	switch tone {
	case Notice:
		fill, ink, second = look.WarnTint, look.Warn, look.Ink
	case Alarm:
		fill, ink, second = look.DangerTint, look.Danger, look.Ink
	}
	var lines []fyne.CanvasObject
	if what != "" {
		lines = append(lines, look.Text(look.Strong, look.Ink, what))
	}
	if more != "" {
		lines = append(lines, look.Text(look.Small, second, more))
	}
	objs := []fyne.CanvasObject{Pad(2, 0, 0, 0, look.NewIcon(icon, 16, ink)), Grow(Column(0, lines...))}
	if button != nil {
		o := fyne.CanvasObject(button.Small())
		if len(lines) == 2 {
			o = Pad(5, 0, 0, 0, o) // on the middle line of both
		}
		objs = append(objs, o)
	}
	return Over(look.NewBox(fill, "", 6), Pad(12, 14, 12, 14, RowTop(12, objs...)))
}

// Note is a remark with an icon, without ground of its own.
func Note(icon string, ink fyne.ThemeColorName, text string) fyne.CanvasObject {
	return RowTop(8, Pad(2, 0, 0, 0, look.NewIcon(icon, 14, ink)), Grow(look.Text(look.Small, look.Ink2, text)))
}

// Chip holds a fingerprint or another short value in mono. Icon may be empty.
func Chip(icon, text string) fyne.CanvasObject {
	objs := []fyne.CanvasObject{look.Word(look.MonoS, look.Ink, text)}
	if icon != "" {
		objs = append([]fyne.CanvasObject{look.NewIcon(icon, 12, look.Ink3)}, objs...)
	}
	return Over(look.NewBox(look.Well, "", 4), Middle(22, Pad(0, 7, 0, 7, Row(6, objs...))))
}

// Tag is a bordered word with an icon, such as "Agent recommends".
func Tag(icon, text string) fyne.CanvasObject {
	return Over(look.NewBox(look.Paper, look.Edge, 4), Middle(22, Pad(0, 8, 0, 6, Row(5, look.NewIcon(icon, 12, look.Ink), look.Word(look.CaptionM, look.Ink, text)))))
}

// Grade is the sign of an enforcement grade: word, shape and colour. Name is
// "enforced", "evidence" or "recorded"; any other name is shown as recorded, the weakest.
func Grade(name string) fyne.CanvasObject {
	ink, tint, word := look.Recorded, look.RecordedTint, "Recorded"
	icon := "recorded"
	switch name {
	case "enforced":
		ink, tint, word, icon = look.Enforced, look.EnforcedTint, "Enforced", name
	case "evidence":
		ink, tint, word, icon = look.Evidence, look.EvidenceTint, "Evidence", name
	}
	return Over(look.NewBox(tint, "", 4), Middle(22, Pad(0, 8, 0, 6, Row(6, look.NewIcon(icon, 12, ink), look.Word(look.CaptionM, ink, word)))))
}

// Meter shows uses: up to 20 as cells, more as a bar. The number beside it is
// always written, so that the meter itself may be small.
func Meter(used, of int64, still bool) fyne.CanvasObject {
	ink := look.Primary
	if still {
		ink = look.Edge
	}
	used = min(max(used, 0), max(of, 0))
	if of > 0 && of <= 20 {
		cells := make([]fyne.CanvasObject, of)
		widths := make([]float32, of)
		for i := range cells {
			box := look.NewBox(look.Paper, look.Edge, 2)
			if int64(i) < used {
				box.Fill, box.Border = ink, ink
			}
			cells[i] = Over(box, Space(0, 8))
		}
		return Cells(2, widths, cells...)
	}
	part := float32(0)
	if of > 0 {
		part = float32(used) / float32(of)
	}
	return Over(look.NewBox(look.Off, "", 4), &fyne.Container{Layout: &share{part}, Objects: []fyne.CanvasObject{look.NewBox(ink, "", 4)}})
}

// share fills a part of the width.
type share struct{ part float32 }

func (s *share) heightFor([]fyne.CanvasObject, float32) float32 { return look.S(8) }
func (s *share) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	w := size.Width * s.part
	if w > 0 {
		w = max(w, 8)
	}
	place(objs[0], 0, 0, w, size.Height)
}
func (s *share) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, look.S(8)) }

// Steps is the way through several pages: done, now, and what comes.
func Steps(names []string, now int) fyne.CanvasObject {
	var objs []fyne.CanvasObject
	for i, name := range names {
		ring := look.NewBox(look.Paper, look.Edge, look.S(9))
		ring.Width = 1.5
		style, ink := look.SmallM, look.Ink3
		dot := []fyne.CanvasObject{ring}
		switch {
		case i < now:
			ring.Fill, ring.Border = look.Primary, look.Primary
			ink = look.Ink2
			dot = append(dot, Pad(4, 4, 4, 4, look.NewIcon("check", 10, look.OnPrimary)))
		case i == now:
			ring.Border, ring.Width = look.Primary, 2
			style, ink = look.SmallB, look.Ink
			dot = append(dot, Pad(5, 5, 5, 5, look.NewBox(look.Primary, "", look.S(4))))
		}
		dot = append(dot, Space(18, 18))
		if i > 0 {
			objs = append(objs, Over(look.NewBox(look.Edge, "", 0), Space(28, 0), Size(28, 0, Space(0, 1/look.Scale()))))
		}
		objs = append(objs, Row(8, Over(dot...), look.Word(style, ink, name)))
	}
	return Row(12, objs...)
}

// Empty is a place where nothing is yet: a fact, and what will appear.
func Empty(icon, fact, more string) fyne.CanvasObject {
	f, m := look.Text(look.Strong, look.Ink, fact), look.Text(look.Small, look.Ink2, more)
	f.Align, m.Align = fyne.TextAlignCenter, fyne.TextAlignCenter
	return Over(look.NewBox(look.Paper, look.Line, 6), Pad(22, 20, 20, 20,
		Column(0, Center(28, look.NewIcon(icon, 28, look.Ink3)), Space(0, 8), f, Space(0, 2), m)))
}

// Pair is one line of a list of facts: a name in the gutter and its value.
func Pair(gutter float32, name string, value fyne.CanvasObject) fyne.CanvasObject {
	return Cells(0, []float32{gutter, 0}, look.Text(look.Caption.Box(20), look.Ink3, name), value)
}

// Source is the head of a block of facts by where they come from: "proven", "observed" or "claimed".
func Source(kind string) fyne.CanvasObject {
	word := map[string]string{"proven": "Proven", "observed": "Observed", "claimed": "Claimed"}[kind]
	return Row(8, look.NewIcon(kind, 14, look.Ink), look.Word(look.SmallB.Box(20), look.Ink, word))
}

// Lined puts a hairline above each object and below the last.
func Lined(objs ...fyne.CanvasObject) *fyne.Container {
	var out []fyne.CanvasObject
	for _, o := range objs {
		out = append(out, Hair(), o)
	}
	if len(out) > 0 {
		out = append(out, Hair())
	}
	return Column(0, out...)
}

// Hair is a hairline of one pixel.
func Hair() fyne.CanvasObject { return Over(look.Rule(), &fyne.Container{Layout: onePixel{}}) }

type onePixel struct{}

func (onePixel) heightFor([]fyne.CanvasObject, float32) float32 { return 1 }
func (onePixel) Layout([]fyne.CanvasObject, fyne.Size)          {}
func (onePixel) MinSize([]fyne.CanvasObject) fyne.Size          { return fyne.NewSize(0, 1) }

// Sunk is a ground in the given colour below an object.
func Sunk(fill fyne.ThemeColorName, radius float32, o fyne.CanvasObject) fyne.CanvasObject {
	return Over(look.NewBox(fill, "", radius), o)
}

// Framed is an object on paper within a quiet border.
func Framed(o fyne.CanvasObject) fyne.CanvasObject {
	return Over(look.NewBox(look.Paper, look.Line, 6), o)
}

// Quote marks text that stands for somebody else's words.
func Quote(o fyne.CanvasObject) fyne.CanvasObject {
	bar := look.NewBox(look.Edge, "", 0)
	return &fyne.Container{Layout: &quoted{}, Objects: []fyne.CanvasObject{bar, o}}
}

type quoted struct{}

func (quoted) heightFor(objs []fyne.CanvasObject, width float32) float32 {
	return HeightFor(objs[1], width-14)
}
func (quoted) Layout(objs []fyne.CanvasObject, size fyne.Size) {
	place(objs[0], 0, 0, 2, size.Height)
	place(objs[1], 14, 0, size.Width-14, size.Height)
}
func (quoted) MinSize(objs []fyne.CanvasObject) fyne.Size { return objs[1].MinSize() }

// Number writes n with commas.
func Number[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
