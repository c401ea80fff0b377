//go:build !linux

package hygiene

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Harden cleans the environment for this process and its children. Nothing here
// keeps other programs of the account from reading or tracing this process, and
// variables that the runtime reads at start were read already: [Status] says so.
// args is os.Args.
func Harden(_ []string) error {
	for _, entry := range os.Environ() {
		// Windows keeps entries whose name begins with "=".
		name, _, ok := strings.Cut(entry, "=")
		if ok && name != "" && !kept(name) {
			if err := os.Unsetenv(name); err != nil {
				return fmt.Errorf("harden: clean environment: %w", err)
			}
		}
	}
	return denyCore()
}

// Start starts a program of the vault from disk, with a clean environment.
// Files cannot be inherited on Windows, and the started program learns of this
// process's end only by its own line to it.
func Start(c Command) (*Process, error) {
	if !filepath.IsAbs(c.Path) {
		return nil, errors.New("start program: its path is not absolute")
	}
	null, err := standard(&c)
	if err != nil {
		return nil, fmt.Errorf("start program: %w", err)
	}
	cmd := &exec.Cmd{
		Path: c.Path, Args: append([]string{c.Path}, c.Args...), Env: Environment(os.Environ()),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, ExtraFiles: c.Files,
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start program: %w", errors.Join(err, null.Close()))
	}
	return &Process{cmd: cmd, lifeline: null}, nil
}

// Executable returns the path on disk of this program.
func Executable() (string, error) { return os.Executable() }

// Status says what holds for this process.
func Status() Report {
	return Report{
		Closed:           ClosedNever,
		Reason:           "on this system nothing keeps other programs of your account from reading this one",
		NoCore:           coreDenied(),
		CleanEnvironment: cleanEnvironment(),
	}
}
