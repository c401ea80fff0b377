package look_test

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"vault/ui/look"
)

func TestThemeIsComplete(t *testing.T) {
	for _, mode := range []string{"light", "dark"} {
		test.AssertAllColorNamesDefined(t, look.New(mode, 100), mode)
	}
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	lin := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	type names []fyne.ThemeColorName
	for _, c := range []struct {
		texts, grounds names
	}{
		{names{look.Ink, look.Ink2, look.Ink3, look.Warn, look.Danger, look.Enforced, look.Evidence, look.Recorded}, names{look.Paper, look.Ground, look.Well}},
		{names{look.Ink, look.Ink2}, names{look.Tint, look.Off}},
		{names{look.OnBand, look.OnBand2}, names{look.Band}},
		{names{look.OnPrimary}, names{look.Primary}},
		{names{look.Warn, look.Ink}, names{look.WarnTint}},
		{names{look.Danger, look.Ink}, names{look.DangerTint}},
		{names{look.Enforced}, names{look.EnforcedTint}},
		{names{look.Evidence}, names{look.EvidenceTint}},
		{names{look.Recorded}, names{look.RecordedTint}},
	} {
		for _, mode := range []string{"light", "dark"} {
			th := look.New(mode, 100)
			for _, text := range c.texts {
				for _, ground := range c.grounds {
					if got := contrast(th.Color(text, 0), th.Color(ground, 0)); got < 4.5 {
						t.Errorf("%s: %s on %s is %.2f, want 4.5", mode, text, ground, got)
					}
				}
			}
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		percent int
		want    float32
	}{{100, 14}, {150, 21}, {200, 28}, {20, 14}, {900, 28}} {
		if got := look.New("light", c.percent).Size(theme.SizeNameText); got != c.want {
			t.Errorf("at %d percent text is %v, want %v", c.percent, got, c.want)
		}
	}
}

func app(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(look.New("light", 100))
}

func drawn(p *look.Paragraph) []*canvas.Text {
	var out []*canvas.Text
	for _, o := range test.WidgetRenderer(p).Objects() {
		if text, ok := o.(*canvas.Text); ok {
			out = append(out, text)
		}
	}
	return out
}

func TestParagraphKeepsEveryLetterAndStaysInside(t *testing.T) {
	app(t)
	for _, text := range []string{"A sentence of several words that is longer than its line.", strings.Repeat("unbroken", 60), "short", "two\nlines", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 x"} {
		for _, width := range []float32{60, 120, 400} {
			p := look.Text(look.Body, look.Ink, text)
			p.Resize(fyne.NewSize(width, p.HeightFor(width)))
			var got strings.Builder
			bottom := float32(0)
			for _, o := range drawn(p) {
				got.WriteString(o.Text)
				if end := o.Position().X + o.MinSize().Width; end > width+1 {
					t.Errorf("width %v: %q ends at %v", width, o.Text, end)
				}
				bottom = max(bottom, o.Position().Y)
			}
			strip := strings.NewReplacer(" ", "", "\n", "")
			if strip.Replace(got.String()) != strip.Replace(text) {
				t.Errorf("width %v: drew %q", width, got.String())
			}
			if h := p.HeightFor(width); bottom > h || h < 20 {
				t.Errorf("width %v: height %v, last line at %v", width, h, bottom)
			}
		}
	}
}

func TestLinesStandInTheirBoxes(t *testing.T) {
	app(t)
	for name, s := range map[string]look.Style{"title": look.Title, "body": look.Body, "small": look.Small, "caption": look.Caption, "mono": look.Mono, "medium": look.CaptionM} {
		if h := look.Text(s, look.Ink, "Xg").HeightFor(400); h != s.Line {
			t.Errorf("%s is %v high, want %v", name, h, s.Line)
		}
		if got := s.Measure("Xg").Height; got > s.Line+2 {
			t.Errorf("%s: glyphs are %v high in a line of %v", name, got, s.Line)
		}
	}
}

func TestTextFollowsTheTheme(t *testing.T) {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.New("light", 100))
	p := look.Word(look.Body, look.Ink, "word")
	before := drawn(p)[0].Color
	a.Settings().SetTheme(look.New("dark", 200))
	p.Refresh()
	after := drawn(p)[0]
	if after.Color == before || after.TextSize != 28 {
		t.Errorf("colour %v, size %v", after.Color, after.TextSize)
	}
}
