package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// skips are the tests that may skip themselves beside those that ask package needs, and why that is right: what they
// lack cannot be installed. Each runs in "make test" where the reason does not hold.
var skips = map[string]string{
	"approvals/sow/vectors_test.go":          "data of others, beside the checkout or under VAULT_VECTORS",
	"derive/envelope/wild_test.go":           "data of others, beside the checkout or under VAULT_VECTORS",
	"derive/jcs/jcs_test.go":                 "data of others, beside the checkout or under VAULT_VECTORS",
	"derive/vectors_test.go":                 "data of others, beside the checkout or under VAULT_VECTORS",
	"cmd/vault-key/process_linux_test.go":    "a kernel that lets nobody read a child's memory",
	"custody/memory_linux_test.go":           "a kernel that lets nobody read a child's memory",
	"internal/memscan/memscan_linux_test.go": "a kernel that lets nobody read a child's memory",
	"custody/secret_linux_test.go":           "a kernel without memfd_secret",
	"ipc/sandbox_test.go":                    "a kernel that lets nobody make namespaces",
	"ipc/socket/further_linux_test.go":       "a file system without access lists",
}

// TestSkipsAreListed: what a test needs is asked of package needs, which fails where it should be there; nothing else is
// skipped without standing in the list above.
func TestSkipsAreListed(t *testing.T) {
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Skip" && len(call.Args) < 2 || f.Sel.Name == "Skipf" || f.Sel.Name == "SkipNow") {
				found[name] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, "internal/needs/needs.go")
	for name := range found {
		if skips[name] == "" {
			t.Errorf("%s skips a test; ask package needs, or list it with the reason", name)
		}
	}
	for name := range skips {
		if !found[name] {
			t.Errorf("%s skips nothing any more", name)
		}
	}
}
