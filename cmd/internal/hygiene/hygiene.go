// Package hygiene makes the vault's processes hard to look into, and starts one
// from another. Both programs call [Harden] first of all in main, and start
// nothing of the vault except through [Start] or a [Runner].
//
// On Linux a program of the same account can neither read nor trace such a
// process from its first instruction on: it is executed from a sealed copy in
// memory that its own account may run and not read, and the kernel keeps such a
// process closed. Closing it later, from inside, leaves a gap that can be won.
// Against the administrator nothing here holds, and on other systems little of
// it: [Status] says what does.
package hygiene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrTraced says that another process is attached to this one.
var ErrTraced = errors.New("another program is tracing this one")

// Closed says since when other programs of the account are kept out.
type Closed string

// The three answers.
const (
	ClosedBorn  Closed = "from the first instruction"
	ClosedLate  Closed = "since shortly after start"
	ClosedNever Closed = "not at all"
)

// Report is what holds for this process, for `vault doctor`.
type Report struct {
	Closed           Closed
	Reason           string // why it is not [ClosedBorn]; "" where it is
	NoCore           bool   // no core dump can be written
	Traced           bool   // another process is attached
	CleanEnvironment bool   // nothing but known variables is set
}

// lifelineVar carries the number of the descriptor whose end means that the
// parent has ended. Its other end is held by the parent alone.
const lifelineVar = "VAULT_LIFELINE"

// exitOrphan is the exit code of a process whose parent has ended.
const exitOrphan = 70

// keptNames and keptPrefixes are the variables that may stay. All others, among
// them those that change the runtime, the loader or the toolkit, are dropped.
var (
	keptNames = []string{
		"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "HOME", "USER", "LOGNAME", "DBUS_SESSION_BUS_ADDRESS",
		"LANG", "PATH", "TERM", "VAULT_SOCK", "VAULT_SOCK_OWNER", "VAULT_HOME", "BROWSER", lifelineVar,
		"KDE_FULL_SESSION", "KDE_SESSION_VERSION", // by these xdg-open finds KDE's opener
	}
	keptPrefixes = []string{"XDG_", "LC_", "SSH_"}
	// windowsNames are needed by every program there.
	windowsNames = []string{
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE", "USERNAME", "USERDOMAIN", "APPDATA", "LOCALAPPDATA",
		"PROGRAMDATA", "TEMP", "TMP", "COMSPEC", "PATHEXT", "HOMEDRIVE", "HOMEPATH",
	}
)

// Environment returns the variables of env, "NAME=value" each, that may stay.
func Environment(env []string) []string {
	var out []string
	for _, entry := range env {
		name, _, ok := strings.Cut(entry, "=")
		if ok && kept(name) {
			out = append(out, entry)
		}
	}
	return out
}

func kept(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
		if slices.Contains(windowsNames, name) {
			return true
		}
	}
	return slices.Contains(keptNames, name) ||
		slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// cleanEnvironment says whether every variable of this process may stay.
func cleanEnvironment() bool {
	env := os.Environ()
	return len(Environment(env)) == len(env)
}

// Command is a program of the vault to be started.
type Command struct {
	Path string   // absolute path on disk; [Executable] for this program itself
	Args []string // arguments after the program's name
	// Stdin, Stdout and Stderr; nil is the null device.
	Stdin, Stdout, Stderr *os.File
	Files                 []*os.File // inherited as descriptors 3, 4, …; the caller closes its own
}

// Sibling returns the path of the program name beside this one on disk.
func Sibling(name string) (string, error) {
	self, err := Executable()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(self), name), nil
}

// Runner runs helpers, each for one answer. It satisfies custody's Runner.
type Runner struct {
	Path   string   // program, as in [Command]
	Stderr *os.File // nil: the null device
}

// Run starts the program with args, waits for it and returns its exit code. When
// ctx ends first it kills the program and returns the error of ctx. A program
// that a signal ended has code -1.
func (r Runner) Run(ctx context.Context, in, out *os.File, args ...string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p, err := Start(Command{Path: r.Path, Args: args, Stdin: in, Stdout: out, Stderr: r.Stderr})
	if err != nil {
		return 0, err
	}
	type result struct {
		exit int
		err  error
	}
	done := make(chan result, 1)
	go func() {
		exit, err := p.Wait()
		done <- result{exit, err}
	}()
	select {
	case got := <-done:
		return got.exit, got.err
	case <-ctx.Done():
		killed := p.Kill()
		if killed != nil && !errors.Is(killed, os.ErrProcessDone) {
			return 0, fmt.Errorf("end helper: %w", killed)
		}
		<-done
		return 0, ctx.Err()
	}
}
