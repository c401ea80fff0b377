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

	// A folder in backquotes holds for the names after it, to the end of the line.
	word := regexp.MustCompile("`([a-z][\\w/-]*)`|\\b(Test\\w+|Fuzz\\w+)\\b")
	doc := "docs/threat-model.md"
	text, err := os.ReadFile(filepath.Join(root, doc))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, line := range strings.Split(string(text), "\n") {
		folder := ""
		for _, m := range word.FindAllStringSubmatch(line, -1) {
			switch {
			case m[2] == "":
				if have[m[1]] != nil {
					folder = m[1]
				}
			case !have[folder][m[2]]:
				t.Errorf("%s:%d: no %s in %q", doc, i+1, m[2], folder)
			default:
				found++
			}
		}
	}
	if found < 30 {
		t.Errorf("%s names only %d tests: are they still read?", doc, found)
	}
}
