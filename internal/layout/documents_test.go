package layout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsNameTestsThatExist holds the promise behind the tables of the
// threat model and of the guards: a test that is named there is in the tree, in
// the folder that is named with it.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	defined := regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)
	have := map[string]map[string]bool{} // folder: names
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(rel)
		if have[folder] == nil {
			have[folder] = map[string]bool{}
		}
		for _, m := range defined.FindAllSubmatch(src, -1) {
			have[folder][string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	// A folder in backquotes holds for the names after it, to the end of the line; a name may also
	// bring its own, as `folder: TestName` or `package.TestName`. A name may be cut short with "…".
	word := regexp.MustCompile("`([a-z][\\w/-]*)(?:(?:\\.|: )((?:Test|Fuzz)[A-Z]\\w*)(…?))?`|\\b((?:Test|Fuzz)[A-Z]\\w*)(…?)")
	for _, doc := range []struct {
		name, folder string // folder is where tests are that none is named for
		least        int
	}{{"docs/threat-model.md", "", 30}, {"docs/guards.md", "sign", 30}} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(doc.name)))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i, line := range strings.Split(string(text), "\n") {
			folder := doc.folder
			for _, m := range word.FindAllStringSubmatch(line, -1) {
				in, test, short := folder, m[4], m[5]
				if named := folderOf(have, m[1]); named != "" {
					in, test, short = named, m[2], m[3]
					if test == "" {
						folder = named
					}
				} else if m[2] != "" {
					t.Errorf("%s:%d: no folder %q has tests", doc.name, i+1, m[1])
				}
				switch {
				case test == "":
				case !isThere(have[in], test, short != ""):
					t.Errorf("%s:%d: no %s in %q", doc.name, i+1, test, in)
				default:
					found++
				}
			}
		}
		if found < doc.least {
			t.Errorf("%s names only %d tests: are they still read?", doc.name, found)
		}
	}
}

// folderOf is the folder with tests that a document means: its path, or its last part where only
// one folder ends so. It is "" where there is none.
func folderOf(have map[string]map[string]bool, name string) string {
	if have[name] != nil {
		return name
	}
	out := ""
	for folder := range have {
		if name != "" && strings.HasSuffix(folder, "/"+name) {
			if out != "" {
				return ""
			}
			out = folder
		}
	}
	return out
}

// isThere says whether there is a test of the name, or one that begins so.
func isThere(have map[string]bool, name string, begins bool) bool {
	if !begins {
		return have[name]
	}
	for test := range have {
		if strings.HasPrefix(test, name) {
			return true
		}
	}
	return false
}
