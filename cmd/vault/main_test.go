package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs is the folder of the real vault and vault-key, built as this test is.
var programs string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vault-programs")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	// Not migrated_fynedo: with it the toolkit would not say that it was called from
	// another goroutine than its own.
	tags := "release,no_metadata"
	if !hasWindow {
		tags = "headless"
	}
	for name, args := range map[string][]string{
		"vault":     {"-tags", tags},
		"vault-key": nil,
	} {
		args = append([]string{"build", "-o", filepath.Join(dir, name)}, append(args, "vault/cmd/"+name)...)
		cmd := exec.Command("go", args...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build", name+":", err)
			return 1
		}
	}
	return m.Run()
}

func TestScripts(t *testing.T) {
	window := "window"
	if !hasWindow {
		window = "headless"
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			for _, dir := range []string{"run", "data", "state", "home"} {
				if err := os.Mkdir(filepath.Join(e.WorkDir, dir), 0o700); err != nil {
					return err
				}
			}
			vectors, err := filepath.Abs(filepath.Join("internal", "offline", "testdata"))
			if err != nil {
				return err
			}
			e.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
			samples, err := filepath.Abs(filepath.Join("..", "..", "approvals", "sow", "testdata", "docs"))
			if err != nil {
				return err
			}
			e.Setenv("VECTORS", vectors)
			e.Setenv("SOW", samples)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_RUNTIME_DIR", filepath.Join(e.WorkDir, "run"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "data"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			return nil
		},
		Condition: func(c string) (bool, error) {
			switch c {
			case "window", "headless":
				return c == window, nil
			}
			return false, fmt.Errorf("unknown condition %q", c)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  status,
			"byte":    writeByte,
			"mkfifo":  makePipe,
			"checked": checked,
			"mode":    fileMode,
		},
	})
}

// status runs a program and compares its exit status: status N program args...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var exit *exec.ExitError
		if !asExit(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// writeByte makes a file of n bytes: byte FILE N.
func writeByte(ts *testscript.TestScript, _ bool, args []string) {
	var n int64
	if len(args) != 2 {
		ts.Fatalf("usage: byte FILE N")
	}
	if _, err := fmt.Sscan(args[1], &n); err != nil {
		ts.Fatalf("%v", err)
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(f.Truncate(n))
	ts.Check(f.Close())
}

// fileMode compares the permissions of a file: mode FILE OCTAL.
func fileMode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode FILE OCTAL")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// checked looks at what the last program printed: nothing in it drives a terminal.
func checked(ts *testscript.TestScript, _ bool, _ []string) {
	for _, name := range []string{"stdout", "stderr"} {
		for i, r := range ts.ReadFile(name) {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200b {
				ts.Fatalf("%s holds %U at %d: %q", name, r, i, ts.ReadFile(name))
			}
		}
	}
}
