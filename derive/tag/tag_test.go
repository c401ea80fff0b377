package tag

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestNoPrefixBeginsAnother(t *testing.T) {
	for i, a := range All() {
		if !strings.HasSuffix(string(a), "\n") || strings.Count(string(a), "\n") != 1 || strings.ContainsAny(string(a), "{[\"") {
			t.Errorf("%q could be confused with what follows it", a)
		}
		for j, b := range All() {
			if i != j && strings.HasPrefix(string(b), string(a)) {
				t.Errorf("%q begins %q", a, b)
			}
		}
	}
}

// TestAllIsComplete counts the constants of the source, so that a prefix
// cannot be added beside the table.
func TestAllIsComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "tag.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			n += len(g.Specs)
		}
	}
	if n != len(All()) {
		t.Errorf("%d constants, %d in the table", n, len(All()))
	}
}

func TestMessage(t *testing.T) {
	if got := string(SoW.Message([]byte("{}"))); got != "agent-sow-v1\n{}" {
		t.Errorf("got %q", got)
	}
}
