package layout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "vault"

var update = flag.Bool("update", false, "write testdata/vault-key.modules anew")

var (
	// leaves know one small thing and nothing else of ours but other leaves:
	// JSON, signing prefixes, how foreign text is made plain, what the parts of
	// the product must compute alike, who owns a folder.
	leaves = []string{
		"derive/jcs", "derive/tag",
		"approvals/plain", "approvals/fourwords", "approvals/handshake", "approvals/unconfirmed", "approvals/means", "approvals/reasons",
		"internal/ownfolder", "internal/passphrase",
	}

	// documents parse, validate, canonicalise and verify. They need no key, and
	// both sides of the line import them.
	documents = of(leaves,
		"derive/envelope", "derive/confirm", "derive/confirm/answer",
		"approvals/moment", "approvals/moment/reading", "approvals/sow", "approvals/facts", "approvals/bounds",
		"approvals/keys", "approvals/journal", "approvals/permit", "approvals/receipt",
	)

	// strict is what the document packages under approvals share.
	strict = "approvals/internal/strict"
)

// A row says what one folder may import of ours. A folder or an import that
// ends in /... stands for everything below it too; the row with the longest
// folder that fits counts.
type row struct {
	folder string
	may    []string
	desk   bool // above the line: no key material, so neither custody, sign nor derive itself
	helper bool // for developers and tests: never part of a shipped program
}

var table = []row{
	{folder: "derive/jcs", desk: true},
	{folder: "derive/tag", desk: true},
	{folder: "approvals/plain", desk: true},
	{folder: "approvals/fourwords", desk: true},
	{folder: "approvals/unconfirmed", desk: true},
	{folder: "approvals/means", desk: true},
	{folder: "approvals/reasons", desk: true},
	{folder: "approvals/handshake", may: of("derive/jcs", "derive/tag"), desk: true},
	{folder: "internal/ownfolder", desk: true},
	{folder: "internal/passphrase", desk: true},

	{folder: "derive/envelope", may: of(leaves), desk: true},
	{folder: "derive/confirm", may: of(leaves, "derive/envelope"), desk: true},
	{folder: "derive/confirm/answer", may: of(leaves, "derive/confirm"), desk: true},
	{folder: strict, may: of(leaves), desk: true},
	{folder: "approvals/moment", may: of(leaves, strict, "derive/envelope"), desk: true},
	{folder: "approvals/moment/reading", may: of(leaves, "approvals/moment"), desk: true},
	{folder: "approvals/bounds", may: of(leaves, "derive/envelope"), desk: true},
	{folder: "approvals/minted", may: of(leaves, "derive/envelope"), desk: true},
	{folder: "approvals/sow", may: of(leaves, "derive/envelope", "approvals/sow/money", "approvals/sow/span"), desk: true},
	{folder: "approvals/sow/bundle", may: of(leaves, "derive/envelope", "derive/confirm", "approvals/sow"), desk: true},
	{folder: "approvals/sow/draft", may: of(leaves, "approvals/sow", "approvals/sow/money", "approvals/sow/span"), desk: true},
	{folder: "approvals/sow/money", desk: true},
	{folder: "approvals/sow/span", desk: true},
	{folder: "approvals/sow/units", desk: true},
	{folder: "approvals/sow/page/...", may: of(leaves, "approvals/sow/...", "assets"), desk: true},
	{folder: "approvals/permit", may: of(leaves, strict, "derive/envelope", "derive/confirm"), desk: true},
	{folder: "approvals/facts", may: of(leaves, strict, "derive/envelope", "derive/confirm", "approvals/permit", "approvals/moment", "approvals/sow", "approvals/journal"), desk: true},
	{folder: "approvals/journal", may: of(leaves, strict, "derive/envelope", "derive/confirm", "approvals/permit"), desk: true},
	{folder: "approvals/receipt", may: of(leaves, strict, "derive/envelope", "derive/confirm", "approvals/journal", "approvals/moment"), desk: true},
	{folder: "approvals/keys", may: of(leaves, strict, "derive/envelope", "derive/confirm", "approvals/permit", "approvals/journal"), desk: true},

	{folder: "approvals/agreement", may: of(leaves, "derive/envelope", "derive/confirm", "approvals/sow", "approvals/sow/bundle", "approvals/sow/money", "approvals/sow/span", "approvals/facts", "approvals/journal", "approvals/keys", "approvals/permit", "approvals/store"), desk: true},
	{folder: "approvals/...", may: of("approvals/...", "assets", documents), desk: true},
	{folder: "approvals/folder", may: of(leaves), desk: true},
	{folder: "ipc/...", may: of("ipc/...", "approvals", "approvals/agreement", documents), desk: true},
	{folder: "approvals/opened", may: of("approvals", "approvals/agreement", "approvals/keys", "approvals/sow", "approvals/sow/page", "approvals/plain", "derive/jcs"), desk: true},
	{folder: "ui/...", may: of("ui/...", "approvals", "approvals/agreement", "approvals/opened", "approvals/sow/...", "assets", documents), desk: true},
	{folder: "assets", desk: true},

	{folder: "derive", may: of(leaves, "derive/envelope")},
	{folder: "custody/...", may: of(leaves, "custody/...", "derive")},
	{folder: "sign/...", may: of("sign/...", "custody/...", "derive", documents)},

	{folder: "cmd/vault/...", may: of("cmd/vault/...", "cmd/internal/...", "ui/...", "ipc/...", "approvals/...", "assets", documents), desk: true},
	{folder: "cmd/vault-key/...", may: of("cmd/vault-key/...", "cmd/internal/...", "sign/...", "custody/...", "derive", documents)},
	{folder: "cmd/internal/...", may: of("cmd/internal/...", leaves), desk: true},
	// The ceremony's page speaks HTTP and carries the assets: the key process has the line alone.
	{folder: "cmd/internal/ceremony", may: of("cmd/internal/hygiene", leaves), desk: true},
	{folder: "cmd/internal/ceremony/page", may: of("cmd/internal/ceremony", "assets", leaves), desk: true},

	// Programs and means of developers and tests may import what they like.
	{folder: "internal/...", may: of("..."), helper: true},
	{folder: "bench/...", may: of("..."), helper: true},
	{folder: "examples/...", may: of("ipc/...", documents), helper: true},
}

// viewsMayNot lists what a view has no business with: documents come in and
// decisions go out, and everything else is done by the desk.
var viewsMayNot = []string{"crypto/...", "database/sql/...", "net/...", "os/...", "io/fs", "io/ioutil", "syscall", "golang.org/x/crypto/...", "golang.org/x/sys/...", "modernc.org/..."}

// of joins names and lists of names.
func of(parts ...any) (out []string) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case []string:
			out = append(out, p...)
		}
	}
	return out
}

func fits(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	if base, tree := strings.CutSuffix(pattern, "/..."); tree {
		return name == base || strings.HasPrefix(name, base+"/")
	}
	return pattern == name
}

func anyFits(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, name) })
}

func rowOf(folder string) (best row, ok bool) {
	length := -1
	for _, r := range table {
		base := strings.TrimSuffix(r.folder, "/...")
		exact := 0
		if base == r.folder {
			exact = 1
		}
		if l := 2*len(base) + exact; fits(r.folder, folder) && l > length {
			best, ok, length = r, true, l
		}
	}
	return best, ok
}

// pkg is the part of the answer of go list that is used here.
type pkg struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	CgoFiles     []string
	Module       *struct{ Path string }
	Error        *struct{ Err string }
}

func (p pkg) folder() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// A world is one way in which the packages are built.
type world struct {
	name string
	env  []string
	tags string
}

var (
	window   = world{"linux", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1"}, ""}
	headless = world{"linux headless", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}, "headless"}
	windows  = world{"windows", []string{"GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=1"}, ""}
	darwin   = world{"darwin", []string{"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=1"}, ""}
	pure     = world{"linux pure", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}, ""}

	worlds = []world{window, headless, windows, darwin, pure}
)

func (w world) list(t *testing.T, args ...string) []pkg {
	t.Helper()
	args = append([]string{"list", "-e", "-tags=" + w.tags, "-json=ImportPath,Standard,Imports,TestImports,XTestImports,CgoFiles,Module,Error"}, args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), append([]string{"GOFLAGS=", "GOWORK=off"}, w.env...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	var pkgs []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

var root = filepath.Join("..", "..")

// sources walks the tree, which also tells go test that this test depends on
// every file of it, so that no cached result hides a new import.
func sources(t *testing.T) (folders []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path == root {
				return nil
			}
			if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		if _, err := os.Stat(path); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if folder := filepath.ToSlash(rel); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Fatal("no Go file found: the test looks in the wrong place")
	}
	return folders
}

func TestEveryFolderIsInTheTable(t *testing.T) {
	listed := map[string]bool{}
	for _, w := range worlds {
		for _, p := range w.list(t, "-find", "./...") {
			listed[p.folder()] = true
		}
	}
	for _, folder := range sources(t) {
		if _, ok := rowOf(folder); !ok {
			t.Errorf("folder %s has Go files, but no row in the table", folder)
		}
		if !listed[folder] {
			t.Errorf("folder %s has Go files that no way of building uses", folder)
		}
	}
}

func TestImportTable(t *testing.T) {
	sources(t)
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			imports := map[string][]string{} // of ours, by folder
			for _, p := range w.list(t, "-find", "./...") {
				if p.Error != nil {
					if !strings.Contains(p.Error.Err, "build constraints exclude all Go files") {
						t.Errorf("%s: %s", p.folder(), p.Error.Err)
					}
					continue
				}
				r, ok := rowOf(p.folder())
				if !ok {
					continue // TestEveryFolderIsInTheTable says so
				}
				for _, imp := range p.Imports {
					if of, ours := strings.CutPrefix(imp, module+"/"); ours {
						imports[p.folder()] = append(imports[p.folder()], of)
						if !anyFits(r.may, of) {
							t.Errorf("%s imports %s, which the table does not allow", p.folder(), of)
						}
					}
					if fits("ui/...", p.folder()) && anyFits(viewsMayNot, imp) {
						t.Errorf("%s imports %s: a view does no I/O, no crypto and no database", p.folder(), imp)
					}
				}
				for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
					if imp == "fyne.io/fyne/v2/app" && p.folder() != "cmd/vault" {
						t.Errorf("%s imports %s, which only cmd/vault does", p.folder(), imp)
					}
				}
			}
			for folder := range imports {
				if r, _ := rowOf(folder); !r.desk {
					continue
				}
				for dep, way := range closure(imports, folder) {
					if dep == "derive" || fits("custody/...", dep) || fits("sign/...", dep) {
						t.Errorf("%s is above the line and reaches %s: %s", folder, dep, way)
					}
				}
			}
		})
	}
}

// closure answers everything of ours that folder reaches, and by which way.
func closure(imports map[string][]string, folder string) map[string]string {
	ways := map[string]string{}
	todo := []string{folder}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for _, next := range imports[at] {
			if _, seen := ways[next]; !seen {
				ways[next] = strings.TrimPrefix(ways[at]+" > "+next, " > ")
				todo = append(todo, next)
			}
		}
	}
	return ways
}

// A program is one that is shipped, in one of the ways it is built.
type program struct {
	folder string
	world  world
	not    []string // import paths it must not contain, beside those that none may
}

var (
	windowing = []string{"fyne.io/...", "github.com/go-gl/...", "github.com/fyne-io/..."}
	database  = []string{"database/sql/...", "modernc.org/..."}

	programs = []program{
		{"cmd/vault", window, nil},
		{"cmd/vault", windows, nil},
		{"cmd/vault", darwin, nil},
		{"cmd/vault", headless, windowing},
		// Counted with cgo switched on, so that a dependency which would use
		// cgo where it can is seen.
		{"cmd/vault", world{"linux headless, cgo on", window.env, "headless"}, windowing},
		{"cmd/vault-key", pure, of(windowing, database, "vault/ui/...", "vault/ipc/...", "vault/assets", "net/http/httptest", "vault/cmd/internal/ceremony/page")},
		{"cmd/vault-key", window, of(windowing, database)},
		{"cmd/vault-key", windows, of(windowing, database)},
		{"cmd/vault-key", darwin, of(windowing, database)},
	}

	// Test means bring their own globals and flags, and some switch checks off.
	neverShipped = []string{"testing/...", "fyne.io/fyne/v2/test/...", "github.com/stretchr/testify/...", "github.com/chromedp/...", "github.com/rogpeppe/go-internal/..."}
)

func TestShippedPrograms(t *testing.T) {
	sources(t)
	for _, prog := range programs {
		t.Run(prog.folder+", "+prog.world.name, func(t *testing.T) {
			pureGo := prog.folder == "cmd/vault-key" || prog.world.tags == "headless"
			for _, p := range prog.world.list(t, "-deps", "./"+prog.folder) {
				if p.Error != nil {
					t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
				}
				if of, ours := strings.CutPrefix(p.ImportPath, module+"/"); ours {
					if r, _ := rowOf(of); r.helper {
						t.Errorf("contains %s, which is for developers and tests only", of)
					}
				}
				if anyFits(neverShipped, p.ImportPath) {
					t.Errorf("contains %s, which is for tests only", p.ImportPath)
				}
				if anyFits(prog.not, p.ImportPath) {
					t.Errorf("contains %s", p.ImportPath)
				}
				if pureGo && len(p.CgoFiles) > 0 && !p.Standard {
					t.Errorf("%s uses cgo", p.ImportPath)
				}
			}
		})
	}
}

// The key process holds the seeds, so a module comes into it only by a change
// of this list, which is read. Versions are pinned by go.sum.
func TestKeyProcessModules(t *testing.T) {
	sources(t)
	var got []string
	for _, w := range []world{pure, windows, darwin} {
		for _, p := range w.list(t, "-deps", "./cmd/vault-key") {
			if p.Module != nil && p.Module.Path != module && !slices.Contains(got, p.Module.Path) {
				got = append(got, p.Module.Path)
			}
		}
	}
	slices.Sort(got)
	file := filepath.Join("testdata", "vault-key.modules")
	if *update {
		text := "# Modules in vault-key, on Linux, Windows and macOS together.\n# Read before accepting: go test ./internal/layout -run KeyProcess -update\n" + strings.Join(got, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			want = append(want, line)
		}
	}
	for _, m := range got {
		if !slices.Contains(want, m) {
			t.Errorf("%s came into the key process and is not in %s", m, file)
		}
	}
	for _, m := range want {
		if !slices.Contains(got, m) {
			t.Errorf("%s is in %s and no longer in the key process", m, file)
		}
	}
}

// The rules are tried on imports that must be refused, so that a mistake in
// the matching cannot let everything pass.
func TestTheTableRefuses(t *testing.T) {
	for _, c := range []struct {
		folder, imp string
		want        bool
	}{
		{"ui", "approvals", true},
		{"ui", "approvals/sow", true},
		{"ui", "ui/sheet", true},
		{"ui", "approvals/store", false},
		{"ui/sheet", "ipc", false},
		{"ui", "derive", false},
		{"ui", "sign", false},
		{"ipc", "custody", false},
		{"ipc/mcp", "ipc", true},
		{"approvals", "sign", false},
		{"approvals", "derive", false},
		{"approvals", "approvals/store", true},
		{"approvals/store", "derive/jcs", true},
		{"approvals/folder", "approvals", false},
		{"approvals/folder", "internal/ownfolder", true},
		{"approvals/journal", "approvals/permit", true},
		{"approvals/permit", "approvals/journal", false},
		{"derive/tag", "derive/jcs", false},
		{"custody", "internal/ownfolder", true},
		{"custody", "internal/memscan", false},
		{"custody", "approvals/keys", false},
		{"approvals/keys", "approvals", false},
		{"approvals/permit", "derive/jcs", true},
		{"approvals/moment", "approvals", false},
		{"derive/jcs", "derive", false},
		{"derive", "derive/jcs", true},
		{"derive", "custody", false},
		{"custody", "derive", true},
		{"custody", "sign", false},
		{"sign", "custody", true},
		{"sign", "approvals/keys", true},
		{"sign", "approvals", false},
		{"assets", "ui", false},
		{"cmd/vault", "derive", false},
		{"cmd/vault", "custody", false},
		{"cmd/vault", "ui/sheet", true},
		{"cmd/vault", "internal/testbed", false},
		{"cmd/vault-key", "sign", true},
		{"cmd/vault-key", "approvals", false},
		{"cmd/vault-key", "ipc", false},
		{"cmd/vault-key", "internal/memscan", false},
		{"cmd/internal/hygiene", "approvals", false},
		{"cmd/internal/ceremony", "cmd/internal/ceremony/page", false},
		{"cmd/internal/ceremony/page", "assets", true},
		{"cmd/internal/ceremony/page", "sign", false},
		{"derive/confirm/answer", "derive/confirm", true},
	} {
		r, ok := rowOf(c.folder)
		if !ok {
			t.Errorf("no row for %s", c.folder)
		} else if got := anyFits(r.may, c.imp); got != c.want {
			t.Errorf("%s imports %s: allowed is %v, want %v", c.folder, c.imp, got, c.want)
		}
	}
	for _, folder := range []string{"util", "cmd/other", "approvalsx", "derive/other", "internalx", "."} {
		if r, ok := rowOf(folder); ok {
			t.Errorf("folder %s has a row: %v", folder, r)
		}
	}
	ways := closure(map[string][]string{"ui": {"approvals"}, "approvals": {"approvals/keys"}, "approvals/keys": {"derive"}}, "ui")
	if got, want := fmt.Sprint(ways["derive"]), "approvals > approvals/keys > derive"; got != want {
		t.Errorf("the way to derive is %q, want %q", got, want)
	}
}
