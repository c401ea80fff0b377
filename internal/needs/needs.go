// Package needs says what a test needs of the machine it runs on. It is for tests alone.
//
// Everywhere else a test that lacks something is skipped. In a run of "make test", which has installed all of it, it
// fails: what is skipped there would be tested nowhere.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Complete is the variable by which scripts/test says that everything a test can need was installed.
const Complete = "VAULT_TEST_COMPLETE"

// Programs wants programs in PATH, or by their absolute paths.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			lacking(t, name+" is not installed")
		}
	}
}

// Files wants files that a package of the system brings.
func Files(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			lacking(t, err.Error())
		}
	}
}

// Display wants a display to draw on.
func Display(t testing.TB) {
	t.Helper()
	if os.Getenv("DISPLAY") == "" {
		lacking(t, "there is no display")
	}
}

// Administrator wants to run as root, to act as other users in a test. An ordinary user's run of "make test" skips it
// too, and says so at its end.
func Administrator(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only the administrator can act as other users")
	}
}

func lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(Complete) != "" {
		t.Fatal(what)
	}
	t.Skipf("%s: make test installs it", what)
}
