// Package look is how the window looks: colours in both variants, faces,
// sizes, and the primitive objects that draw with them (text by line boxes, icons,
// bordered boxes). It knows no view and no document.
package look

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"vault/assets"
)

// Colours by name. Names without a constant of Fyne are our own.
const (
	Ground    = theme.ColorNameBackground
	Paper     = theme.ColorNameInputBackground
	Well      = theme.ColorNameHeaderBackground
	Line      = theme.ColorNameSeparator
	Edge      = theme.ColorNameScrollBar
	Off       = theme.ColorNameDisabledButton
	Ink       = theme.ColorNameForeground
	Ink3      = theme.ColorNamePlaceHolder
	Primary   = theme.ColorNamePrimary
	OnPrimary = theme.ColorNameForegroundOnPrimary
	Tint      = theme.ColorNameSelection
	Warn      = theme.ColorNameWarning
	Danger    = theme.ColorNameError

	Ink2         fyne.ThemeColorName = "ink2"
	Band         fyne.ThemeColorName = "band"
	OnBand       fyne.ThemeColorName = "onBand"
	OnBand2      fyne.ThemeColorName = "onBand2"
	Seam         fyne.ThemeColorName = "seam"
	Enforced     fyne.ThemeColorName = "enforced"
	EnforcedTint fyne.ThemeColorName = "enforcedTint"
	Evidence     fyne.ThemeColorName = "evidence"
	EvidenceTint fyne.ThemeColorName = "evidenceTint"
	Recorded     fyne.ThemeColorName = "recorded"
	RecordedTint fyne.ThemeColorName = "recordedTint"
	WarnTint     fyne.ThemeColorName = "warnTint"
	DangerTint   fyne.ThemeColorName = "dangerTint"
	None         fyne.ThemeColorName = "none" // draws nothing
)

// scaleName is the theme size that carries the text scale; 1 is 100 percent.
const scaleName fyne.ThemeSizeName = "vaultTextScale"

type pair struct{ light, dark uint32 }

var palette = map[fyne.ThemeColorName]pair{
	Ground:    {0xe8ebe7, 0x111615},
	Paper:     {0xfcfcfa, 0x1a201e},
	Well:      {0xf0f2ee, 0x232a28},
	Line:      {0xcfd4cf, 0x2f3735},
	Edge:      {0x66726c, 0x8a968f},
	Off:       {0xdde1dc, 0x2a312f},
	Ink:       {0x15201d, 0xe9eeeb},
	Ink2:      {0x44504b, 0xb7c1bc},
	Ink3:      {0x5f6a65, 0x95a09b},
	Band:      {0x123f36, 0x14493d},
	OnBand:    {0xf4f8f5, 0xeff7f3},
	OnBand2:   {0xb3ccc3, 0xa6c9bc},
	Seam:      {0xc49a3f, 0xc9a14a},
	Primary:   {0x123f36, 0xbfe3d5},
	OnPrimary: {0xf4f8f5, 0x0b221c},
	Tint:      {0xdfeae5, 0x1c332c},

	Enforced: {0x11694a, 0x6fcf9f}, EnforcedTint: {0xdcece3, 0x17342a},
	Evidence: {0x2a5699, 0x8fb8f3}, EvidenceTint: {0xe1e9f4, 0x1b2c45},
	Recorded: {0x675f53, 0xc6bcab}, RecordedTint: {0xedeae4, 0x322e27},
	Warn: {0x8a4b00, 0xefb65a}, WarnTint: {0xfaeed9, 0x33291a},
	Danger: {0xa2261e, 0xf39b91}, DangerTint: {0xf8e4e1, 0x36211e},
}

// aliases are names of Fyne that have the colour of another name.
var aliases = map[fyne.ThemeColorName]fyne.ThemeColorName{
	theme.ColorNameButton:              Paper,
	theme.ColorNameOverlayBackground:   Paper,
	theme.ColorNameMenuBackground:      Paper,
	theme.ColorNameInnerWindowBorder:   Line,
	theme.ColorNameInputBorder:         Edge,
	theme.ColorNameHyperlink:           Ink,
	theme.ColorNameSuccess:             Ink,
	theme.ColorNameDisabled:            Ink3,
	theme.ColorNameFocus:               Tint,
	theme.ColorNameForegroundOnError:   Paper,
	theme.ColorNameForegroundOnWarning: Paper,
	theme.ColorNameForegroundOnSuccess: Paper,
}

// Theme is the look at one variant and text scale. The zero Theme is not usable, see [New].
type Theme struct {
	fixed   bool
	variant fyne.ThemeVariant
	scale   float32
}

// New returns the look for mode "light" or "dark"; any other mode follows the
// system. Percent is the text scale; it is held to 100 to 200.
func New(mode string, percent int) *Theme {
	t := &Theme{scale: float32(min(max(percent, 100), 200)) / 100}
	switch mode {
	case "light":
		t.fixed, t.variant = true, theme.VariantLight
	case "dark":
		t.fixed, t.variant = true, theme.VariantDark
	}
	return t
}

// Color implements [fyne.Theme].
func (t *Theme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if t.fixed {
		variant = t.variant
	}
	if to, ok := aliases[name]; ok {
		name = to
	}
	if c, ok := palette[name]; ok {
		v := c.light
		if variant == theme.VariantDark {
			v = c.dark
		}
		return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
	}
	ink := t.Color(Ink, variant).(color.NRGBA)
	switch name {
	case theme.ColorNameHover:
		ink.A = 0x0f
		return ink
	case theme.ColorNamePressed:
		ink.A = 0x1f
		return ink
	case theme.ColorNameShadow, theme.ColorNameScrollBarBackground, None:
		return color.NRGBA{}
	}
	return theme.DefaultTheme().Color(name, variant)
}

// Font implements [fyne.Theme]. There is no italic.
func (t *Theme) Font(s fyne.TextStyle) fyne.Resource {
	switch {
	case s.Symbol:
		return theme.DefaultTheme().Font(s)
	case s.Monospace && s.Bold:
		return fontMonoSemiBold
	case s.Monospace:
		return fontMono
	case s.Bold:
		return fontSemiBold
	}
	return fontRegular
}

// Icon implements [fyne.Theme].
func (t *Theme) Icon(n fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(n) }

// Size implements [fyne.Theme]. Text sizes follow the text scale.
func (t *Theme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case scaleName:
		return t.scale
	case theme.SizeNameText:
		return 14 * t.scale
	case theme.SizeNameHeadingText:
		return 20 * t.scale
	case theme.SizeNameSubHeadingText:
		return 16 * t.scale
	case theme.SizeNameCaptionText:
		return 12 * t.scale
	case theme.SizeNamePadding, theme.SizeNameLineSpacing:
		return 4
	case theme.SizeNameInnerPadding:
		return 8
	case theme.SizeNameSeparatorThickness, theme.SizeNameInputBorder:
		return 1
	case theme.SizeNameScrollBar, theme.SizeNameScrollBarSmall:
		return 6
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius, theme.SizeNameScrollBarRadius:
		return 6
	case theme.SizeNameInlineIcon:
		return 16 * t.scale
	}
	if r, ok := zeroSizes[name]; ok {
		return r
	}
	return theme.DefaultTheme().Size(name)
}

// zeroSizes are effects that the language of the window does not have.
var zeroSizes = map[fyne.ThemeSizeName]float32{theme.SizeNameModalBlurRadius: 0}

// Scale is the text scale in force; 1 is 100 percent.
func Scale() float32 {
	if s := theme.Size(scaleName); s >= 1 {
		return s
	}
	return 1
}

// S scales a length that holds text.
func S(v float32) float32 { return v * Scale() }

var (
	fontRegular      = font(assets.SansRegular)
	fontMedium       = font(assets.SansMedium)
	fontSemiBold     = font(assets.SansSemiBold)
	fontMono         = font(assets.MonoRegular)
	fontMonoSemiBold = font(assets.MonoSemiBold)
)

func font(name string) fyne.Resource {
	b, err := assets.Font(name)
	if err != nil {
		panic(err) // embedded: a wrong name is a mistake in this file
	}
	return fyne.NewStaticResource(name, b)
}
