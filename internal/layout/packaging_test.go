package layout_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The desktop joins window, launcher, icon and metadata by one id. Where they
// differ nothing fails; the icon is just missing.
func TestPackagingUsesOneID(t *testing.T) {
	toml := readFile(t, "FyneApp.toml")
	id := tomlString(t, toml, "ID")
	if icon := tomlString(t, toml, "Icon"); icon != "" {
		readFile(t, filepath.FromSlash(icon))
	}
	if v := tomlString(t, toml, "Version"); !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(v) {
		t.Errorf("version %q is not three numbers, which Fyne's packager asks for", v)
	}

	desktop := readFile(t, filepath.Join("packaging", id+".desktop"))
	for _, line := range []string{"Icon=" + id, "Name=" + tomlString(t, toml, "Name"), "Exec=vault"} {
		if !strings.Contains(desktop, "\n"+line+"\n") {
			t.Errorf("the desktop file lacks %q", line)
		}
	}

	var meta struct {
		ID         string `xml:"id"`
		Launchable string `xml:"launchable"`
	}
	if err := xml.Unmarshal([]byte(readFile(t, filepath.Join("packaging", id+".metainfo.xml"))), &meta); err != nil {
		t.Fatal(err)
	}
	if meta.ID != id || meta.Launchable != id+".desktop" {
		t.Errorf("the metadata speaks of %q and %q, not of %q", meta.ID, meta.Launchable, id)
	}

	makefile := readFile(t, "Makefile")
	for _, name := range []string{id + ".desktop", id + ".metainfo.xml", "apps/" + id + ".png", "apps/" + id + ".svg"} {
		if !strings.Contains(makefile, name) {
			t.Errorf("make install does not install %s", name)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func tomlString(t *testing.T, text, key string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + key + ` = "([^"]*)"$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("FyneApp.toml has no %s", key)
	}
	return m[1]
}
