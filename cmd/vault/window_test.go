//go:build linux && !headless

package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault/cmd/internal/hygiene"
	"vault/cmd/internal/secret"
	"vault/internal/needs"
)

// withDisplay gives the stage the display that the test runs on.
func (s *stage) withDisplay() {
	s.t.Helper()
	needs.Display(s.t)
	needs.Programs(s.t, "xdotool")
	s.env = append(s.env, "DISPLAY="+os.Getenv("DISPLAY"), "XAUTHORITY="+os.Getenv("XAUTHORITY"))
}

func (s *stage) xdotool(args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), "xdotool", args...)
	cmd.Env = s.env
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// focus waits for a visible window whose name matches, and gives it the keys.
func (s *stage) focus(name string) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		id, err := s.xdotool("search", "--onlyvisible", "--name", name)
		if err == nil && id != "" {
			if _, err := s.xdotool("windowfocus", "--sync", strings.Fields(id)[0]); err == nil {
				return
			}
		}
		if time.Now().After(end) {
			s.t.Fatalf("no window is called %s", name)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// quiet fails on what the toolkit says when it is called from another goroutine than
// its own, and on a crash.
func quiet(t *testing.T, errs string) {
	t.Helper()
	for _, bad := range []string{"Error in Fyne call thread", "panic", "DATA RACE"} {
		if strings.Contains(errs, bad) {
			t.Errorf("standard error holds %q:\n%s", bad, errs)
		}
	}
}

// The real window opens, takes stray keys and clicks, is shown again by a second
// start, and ends when it is told to.
func TestTheRealWindow(t *testing.T) {
	s := newStage(t)
	s.withDisplay()
	cmd := s.command()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	s.focus("^Vault$")
	for _, args := range [][]string{
		{"key", "Tab", "Tab", "space", "Return", "Escape", "ctrl+a", "Down", "Up", "Page_Down"},
		{"mousemove", "400", "300", "click", "1", "click", "4", "click", "5", "mousemove", "200", "500", "click", "1"},
		{"type", "--delay", "5", "approve yes"},
	} {
		if _, err := s.xdotool(args...); err != nil {
			t.Fatalf("xdotool %v: %v", args, err)
		}
	}
	if out := s.want(0); !strings.Contains(out, "asked to show its window") {
		t.Errorf("second start: %s", out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("did not end")
		_ = cmd.Process.Kill()
		<-done
	}
	quiet(t, errs.String())
	if _, err := os.Stat(s.path("data/agent-vault/vault.sealed")); err == nil {
		t.Error("stray input made a vault")
	}
}

// The real secret window gives the key process what was typed into it.
func TestTheRealSecretWindow(t *testing.T) {
	s := newStage(t)
	s.withDisplay()
	here, there, err := hygiene.LinePair("key process")
	if err != nil {
		t.Fatal(err)
	}
	cmd := s.command("secret", "--form", "window")
	cmd.ExtraFiles = []*os.File{there}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = there.Close()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	w := secret.NewWindow(here)
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		s.focus("^Vault: secret$")
		for _, args := range [][]string{{"type", "--delay", "20", passphrase}, {"key", "Return"}} {
			if _, err := s.xdotool(args...); err != nil {
				t.Errorf("xdotool %v: %v", args, err)
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answer := make([]byte, secret.MaxAnswer)
	n, err := w.Ask(ctx, secret.Ask{Form: secret.FormPassphrase, Purpose: secret.ForUnlock}, nil, answer)
	<-typed
	if err != nil {
		t.Fatalf("ask: %v\n%s", err, errs.String())
	}
	if string(answer[:n]) != passphrase {
		t.Errorf("the window gave %d bytes, which are not what was typed", n)
	}
	w.Finish("")
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the window did not end with its conversation")
		_ = cmd.Process.Kill()
		<-done
	}
	quiet(t, errs.String())
}

// A helper whose key process has gone closes its window.
func TestTheSecretWindowEndsWithItsLine(t *testing.T) {
	s := newStage(t)
	s.withDisplay()
	here, there, err := hygiene.LinePair("key process")
	if err != nil {
		t.Fatal(err)
	}
	cmd := s.command("secret", "--form", "window")
	cmd.ExtraFiles = []*os.File{there}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("standard error: %s", errs.String())
		}
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = there.Close()
	asked := make(chan error, 1)
	go func(c net.Conn) {
		_, err := secret.NewWindow(c).Ask(t.Context(), secret.Ask{Form: secret.FormPassphrase, Purpose: secret.ForUnlock}, nil, make([]byte, secret.MaxAnswer))
		asked <- err
	}(here)
	s.focus("^Vault: secret$")
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; err == nil {
		t.Error("an answer without a person")
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("the window stayed after its line had ended")
		_ = cmd.Process.Kill()
		<-done
	}
}
