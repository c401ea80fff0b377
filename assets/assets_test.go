package assets_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"

	"vault/assets"
)

func TestFontsParse(t *testing.T) {
	want := []string{assets.MonoRegular, assets.MonoSemiBold, assets.SansMedium, assets.SansRegular, assets.SansSemiBold}
	if got := assets.Fonts(); !slices.Equal(got, want) {
		t.Fatalf("fonts are %v, want %v", got, want)
	}
	for _, name := range want {
		t.Run(name, func(t *testing.T) {
			raw, err := assets.Font(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := sfnt.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			var buf sfnt.Buffer
			family, err := f.Name(&buf, sfnt.NameIDFamily)
			if err != nil {
				t.Fatal(err)
			}
			stem, _, _ := strings.Cut(name, "-")
			if got := strings.ReplaceAll(family, " ", ""); got != stem {
				t.Errorf("family is %q, want %q", got, stem)
			}
			// What a sheet writes must have a glyph of its own: letters that
			// are easily confused, figures, and the marks around them.
			seen := map[sfnt.GlyphIndex]rune{}
			for _, r := range "Il1O0o|-_.,:/+=@#%&*()[]{}<>…•·–" {
				g, err := f.GlyphIndex(&buf, r)
				if err != nil || g == 0 {
					t.Errorf("%q has no glyph (%v)", r, err)
				}
				if other, twice := seen[g]; twice {
					t.Errorf("%q and %q share a glyph", r, other)
				}
				seen[g] = r
			}
		})
	}
}

// The toolkit recolours fill, ignores stroke and drops lines and fill-rule, so
// an icon that uses any of these would be drawn wrongly without a word.
func TestIconsAreOneFilledPath(t *testing.T) {
	names := assets.Icons()
	for _, must := range []string{"mark", "lock", "unlock", "key", "check", "cross", "warning", "decline", "block", "proven", "observed", "claimed", "hidden", "enforced", "evidence", "recorded"} {
		if !slices.Contains(names, must) {
			t.Errorf("no icon %q", must)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			raw, err := assets.Icon(name)
			if err != nil {
				t.Fatal(err)
			}
			root, paths := parseSVG(t, raw)
			if got := attr(root, "viewBox"); got != "0 0 16 16" {
				t.Errorf("viewBox is %q, want 0 0 16 16", got)
			}
			if len(paths) != 1 {
				t.Fatalf("%d paths, want 1", len(paths))
			}
			if attr(paths[0], "fill") != "#16201d" || attr(paths[0], "d") == "" {
				t.Errorf("path has fill %q and %d bytes of outline", attr(paths[0], "fill"), len(attr(paths[0], "d")))
			}
			if len(paths[0].Attr) != 2 {
				t.Errorf("path has attributes %v, want fill and d only", paths[0].Attr)
			}
		})
	}
}

func TestAppImagesParse(t *testing.T) {
	for _, must := range []string{"icon.svg", "icon-small.svg", "icon-16.png", "icon-32.png", "icon-48.png", "icon-64.png", "icon-128.png", "icon-256.png", "icon-512.png"} {
		if !slices.Contains(assets.AppImages(), must) {
			t.Errorf("no picture %q", must)
		}
	}
	for _, state := range []string{"", "-waiting", "-locked"} {
		for _, end := range []string{".svg", "-ink-32.png", "-paper-32.png"} {
			if name := "icon-tray" + state + end; !slices.Contains(assets.AppImages(), name) {
				t.Errorf("no picture %q", name)
			}
		}
	}
	for _, name := range assets.AppImages() {
		t.Run(name, func(t *testing.T) {
			raw, err := assets.App(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, ".svg") {
				if _, paths := parseSVG(t, raw); len(paths) == 0 {
					t.Error("no path")
				}
				return
			}
			img, err := png.Decode(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			var size int
			if _, err := fmt.Sscanf(name[strings.LastIndex(name, "-"):], "-%d.png", &size); err != nil {
				t.Fatal(err)
			}
			if b := img.Bounds(); b.Dx() != size || b.Dy() != size {
				t.Errorf("picture is %v, its name says %d", b, size)
			}
		})
	}
}

func TestFontLicence(t *testing.T) {
	text, err := assets.FontLicence()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SIL OPEN FONT LICENSE Version 1.1", "The Inter Project Authors", "The JetBrains Mono Project Authors"} {
		if !strings.Contains(text, want) {
			t.Errorf("licence lacks %q", want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "nothing", "../icons/lock", "fonts/" + assets.SansRegular, "OFL.txt"} {
		if b, err := assets.Font(name); err == nil || b != nil {
			t.Errorf("font %q answered", name)
		}
		if b, err := assets.Icon(name); err == nil || b != nil {
			t.Errorf("icon %q answered", name)
		}
		if b, err := assets.App(name); err == nil || b != nil {
			t.Errorf("picture %q answered", name)
		}
	}
}

// A caller that recolours an icon must not change it for the next one.
func TestSliceIsTheCallersOwn(t *testing.T) {
	first, err := assets.Icon("lock")
	if err != nil {
		t.Fatal(err)
	}
	clear(first)
	second, err := assets.Icon("lock")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, second) {
		t.Error("the icon was changed through a returned slice")
	}
}

// Every file in the folders is either built in or one of the sources.
func TestNothingIsLeftOut(t *testing.T) {
	for dir, listed := range map[string][]string{
		"fonts": append(assets.Fonts(), "OFL.txt", "derive.py"),
		"icons": append(withEnding(assets.Icons(), ".svg"), "make.py"),
		"app":   assets.AppImages(),
	} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains(listed, e.Name()) {
				t.Errorf("%s is in the folder, but not built in", filepath.Join(dir, e.Name()))
			}
		}
	}
}

func withEnding(names []string, ending string) []string {
	for i := range names {
		names[i] += ending
	}
	return names
}

// parseSVG returns the root element and the paths, and fails on any element
// that is not a path.
func parseSVG(t *testing.T, raw []byte) (root xml.StartElement, paths []xml.StartElement) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		tok, err := d.Token()
		if err == io.EOF {
			return root, paths
		}
		if err != nil {
			t.Fatal(err)
		}
		switch el := tok.(type) {
		case xml.StartElement:
			switch {
			case depth == 0 && el.Name.Local == "svg":
				root = el.Copy()
			case depth == 1 && el.Name.Local == "path":
				paths = append(paths, el.Copy())
			default:
				t.Fatalf("element <%s> at depth %d", el.Name.Local, depth)
			}
			depth++
		case xml.EndElement:
			depth--
		}
	}
}

func attr(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
