//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
)

// A folder that lost its sealed file is no empty folder: no second root is made there,
// whichever of the other files is left, and the owner is told what is missing.
func TestALostSealedFileIsNotAnEmptyFolder(t *testing.T) {
	x := newStage(t).serve()
	x.create()
	x.answer("vault> ", "quit")
	x.ends("ended with 0")
	const folder = "data/agent-vault/"
	mark, err := os.ReadFile(x.path(folder + "vault.made"))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"vault.sealed", "vault.made"} {
		if err := os.Remove(x.path(folder + gone)); err != nil {
			t.Fatal(err)
		}
		y := x.stage.serve()
		y.answer("vault> ", "unlock")
		y.until(func(s string) bool { return strings.Contains(s, "(sealed_missing)") }, "say that the sealed file is missing")
		y.answer("vault> ", "create")
		y.until(func(s string) bool { return strings.Contains(s, "No new vault was made.") }, "refuse a second root")
		y.answer("vault> ", "quit")
		y.ends("ended with 0")
		if _, err := os.Lstat(x.path(folder + "vault.sealed")); err == nil {
			t.Fatalf("a second root was made where %s is gone", gone)
		}
		if out := x.want(0, "log", "verify"); !strings.Contains(out, "unbroken") {
			t.Errorf("log without %s: %s", gone, out)
		}
	}
	// The mark alone: the store is gone too.
	if err := os.WriteFile(x.path(folder+"vault.made"), mark, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"store.db", "store.db-wal", "store.db-shm"} {
		if err := os.Remove(x.path(folder + name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	y := x.stage.serve()
	y.answer("vault> ", "unlock")
	y.until(func(s string) bool { return strings.Contains(s, "(sealed_missing)") }, "say that the sealed file is missing")
}
