//go:build linux

// Package testbed gives tests and the demo a machine of their own to run the real
// programs on: a home, a message bus with a real keyring, a display with its own
// cookie, and a terminal. It drives them as a person does, by keys and pointer,
// and has no other way into the vault. It is linked into neither program of the
// product.
//
// Nothing here waits for a fixed time: everything that waits does so for an effect,
// until the context ends.
package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bed is a folder with a home and a runtime folder, the environment that leads
// there, and what was started in it. Its methods are for one goroutine, except
// where they say otherwise.
type Bed struct {
	Dir  string // short enough for sockets below it
	Home string
	Run  string // XDG_RUNTIME_DIR
	Log  string // file that gets what the programs print where nobody asks for it

	env  map[string]string
	ends []func()
	log  *os.File
}

// New makes a bed in dir, an absolute path of an existing empty folder, which stays
// the caller's to remove. Of the caller's environment only PATH and the language
// are taken over.
func New(dir string) (*Bed, error) {
	b := &Bed{
		Dir: dir, Home: filepath.Join(dir, "home"), Run: filepath.Join(dir, "run"), Log: filepath.Join(dir, "log"),
		env: map[string]string{},
	}
	for _, d := range []string{b.Home, b.Run} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, fmt.Errorf("make bed: %w", err)
		}
	}
	var err error
	if b.log, err = os.OpenFile(b.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, fmt.Errorf("make bed: %w", err)
	}
	b.Set("PATH", os.Getenv("PATH"))
	b.Set("LANG", "C.UTF-8")
	b.Set("HOME", b.Home)
	b.Set("XDG_RUNTIME_DIR", b.Run)
	b.Set("XDG_DATA_HOME", filepath.Join(b.Home, "data"))
	b.Set("XDG_CONFIG_HOME", filepath.Join(b.Home, "config"))
	b.Set("XDG_CACHE_HOME", filepath.Join(b.Home, "cache"))
	b.Set("XDG_STATE_HOME", filepath.Join(b.Home, "state"))
	b.Set("VAULT_SOCK", filepath.Join(b.Run, "s", "s.sock"))
	b.Set("VAULT_HOME", filepath.Join(dir, "vault"))
	return b, nil
}

// Set puts a variable into the environment of what is started from now on.
func (b *Bed) Set(name, value string) { b.env[name] = value }

// Env gives a variable of the bed.
func (b *Bed) Env(name string) string { return b.env[name] }

// Environ is the environment of the bed.
func (b *Bed) Environ() []string {
	out := make([]string, 0, len(b.env))
	for name, value := range b.env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// Close ends what was started, newest first, and waits for it.
func (b *Bed) Close() {
	for _, end := range slices.Backward(b.ends) {
		end()
	}
	b.ends = nil
	_ = b.log.Close() // it was for people to read
}

// Process is a program that was started in a bed.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// Command prepares a program with the environment of the bed and its log as output.
func (b *Bed) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = b.Environ(), b.Home
	cmd.Stdout, cmd.Stderr = b.log, b.log
	return cmd
}

// Start starts a program that runs until it ends by itself or the bed is closed.
func (b *Bed) Start(cmd *exec.Cmd) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.done)
	}()
	b.ends = append(b.ends, p.Stop)
	return p, nil
}

// Stop asks the process to end, kills it where it does not within three seconds, and
// returns when it has ended.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
	case <-time.After(3 * time.Second):
		p.Kill()
	}
}

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Status is the exit status of a process that has ended, -1 where a signal ended it.
func (p *Process) Status() int { return p.cmd.ProcessState.ExitCode() }

// Kill ends the process at once and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// Output runs a program of the bed to its end and gives its standard output and its
// exit status; err is for a program that did not run or was killed.
func (b *Bed) Output(ctx context.Context, name string, args ...string) (out string, status int, err error) {
	cmd := b.Command(ctx, name, args...)
	var text strings.Builder
	cmd.Stdout = &text
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return text.String(), exit.ExitCode(), nil
	}
	return text.String(), 0, err
}

// tick is the time between two looks at something that cannot be waited for.
const tick = 30 * time.Millisecond

// Until looks again and again until met says true, an error, or ctx ends. What is
// the thing that is waited for, for the error.
func Until(ctx context.Context, what string, met func() (bool, error)) error {
	for {
		ok, err := met()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, ctx.Err())
		case <-time.After(tick):
		}
	}
}

// Missing lists those of the programs that are not installed.
func Missing(programs ...string) (missing []string) {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, p)
		}
	}
	return missing
}

// Children lists the processes that a process has started and that still run.
func Children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var out []int
	for _, name := range lists {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for r := strings.NewReader(string(raw)); ; {
			var n int
			if _, err := fmt.Fscan(r, &n); err != nil {
				break
			}
			out = append(out, n)
		}
	}
	return out
}

// Kin is a process with everything below it.
func Kin(pid int) []int {
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, Children(out[i])...)
	}
	return out
}

// copyAll reads until the end and is for pipes whose end is no error.
func copyAll(w io.Writer, r io.Reader) { _, _ = io.Copy(w, r) }
