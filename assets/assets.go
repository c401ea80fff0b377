// Package assets holds the files that are built into the programs: fonts, the
// icon set, the icons of the program itself, the ceremony page, and the text of
// the contract language. It is bytes by name and nothing more; it knows no toolkit, so that every package may import it.
//
// The fonts are under the SIL Open Font License 1.1, see [FontLicence].
// fonts/derive.py, print/make.py and icons/make.py rebuild what is here.
package assets

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// The fonts of the product, for [Font]. Both families are upright only.
const (
	SansRegular  = "VaultSans-Regular.otf"
	SansMedium   = "VaultSans-Medium.otf"
	SansSemiBold = "VaultSans-SemiBold.otf"
	MonoRegular  = "VaultMono-Regular.ttf"
	MonoSemiBold = "VaultMono-SemiBold.ttf"
)

//go:embed fonts/*.otf fonts/*.ttf fonts/OFL.txt icons/*.svg app/*.svg app/*.png page/* language/*.txt print/*.ttf
var files embed.FS

// Font returns the bytes of the OpenType font with the given file name, one
// of the constants of this package. The slice is the caller's own.
func Font(name string) ([]byte, error) {
	return read("font", "fonts", name, ".otf", ".ttf")
}

// The faces for files that embed TrueType outlines, for [PrintFont]: the letters
// of Latin, Greek and Cyrillic, punctuation and a few shapes.
const (
	PrintRegular  = "VaultSans-Regular.ttf"
	PrintSemiBold = "VaultSans-SemiBold.ttf"
	PrintMono     = "VaultMono-Regular.ttf"
)

// PrintFont returns the bytes of one of these faces. The slice is the caller's
// own.
func PrintFont(name string) ([]byte, error) { return read("font", "print", name, ".ttf") }

// Icon returns the icon with the given name, without folder or ending
// ("lock"), as an SVG of 16 by 16 units: one filled path in one colour, which
// the caller may replace. [Icons] lists the names. The slice is the caller's
// own.
func Icon(name string) ([]byte, error) {
	return read("icon", "icons", name+".svg", ".svg")
}

// App returns one of the program's own pictures by file name: "icon.svg",
// "icon-small.svg" (drawn for 16 pixels), "icon-N.png" for N of 16, 32, 48,
// 64, 128, 256 and 512 pixels, and the one-coloured tray icons "icon-tray.svg"
// and "icon-tray-ink-32.png" (dark, for light panels) or
// "icon-tray-paper-32.png" (light, for dark panels), each also as
// "icon-tray-waiting…" and "icon-tray-locked…". [AppImages] lists them. The
// slice is the caller's own.
func App(name string) ([]byte, error) {
	return read("picture", "app", name, ".svg", ".png")
}

// Page returns a file of the ceremony page: "index.html", "app.js" or "app.css".
// The slice is the caller's own.
func Page(name string) ([]byte, error) {
	return read("page", "page", name, ".html", ".js", ".css")
}

// Language returns the text of a version of a contract language of ours. Its
// SHA-256 is what documents name, so a published text never changes.
func Language(id string, version int) ([]byte, error) {
	return read("contract language", "language", fmt.Sprintf("%s-%d.txt", id, version), ".txt")
}

// LegalStatus returns the one sentence about what a signed document is in law.
func LegalStatus() (string, error) {
	b, err := read("sentence", "language", "legal-status.txt", ".txt")
	return string(b), err
}

// Fonts returns the file names [Font] knows, sorted.
func Fonts() []string { return names("fonts", ".otf", ".ttf") }

// Icons returns the names [Icon] knows, sorted, without ending.
func Icons() []string {
	out := names("icons", ".svg")
	for i, name := range out {
		out[i] = strings.TrimSuffix(name, ".svg")
	}
	return out
}

// AppImages returns the file names [App] knows, sorted.
func AppImages() []string { return names("app", ".svg", ".png") }

// FontLicence returns the licence and the copyright notices of the fonts, to
// be shown wherever the product says what it is made of.
func FontLicence() (string, error) {
	b, err := read("licence", "fonts", "OFL.txt", ".txt")
	return string(b), err
}

// read answers only for a plain name with one of the given endings, so that a
// name can never lead to another folder or another kind of file.
func read(kind, dir, name string, endings ...string) ([]byte, error) {
	if path.Base(name) == name && ends(name, endings) {
		if b, err := files.ReadFile(dir + "/" + name); err == nil {
			return b, nil
		}
	}
	return nil, fmt.Errorf("assets: no %s named %q", kind, name)
}

func names(dir string, endings ...string) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil // cannot happen: the folders are embedded above
	}
	var out []string
	for _, e := range entries {
		if ends(e.Name(), endings) {
			out = append(out, e.Name())
		}
	}
	return out
}

func ends(name string, endings []string) bool {
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}
