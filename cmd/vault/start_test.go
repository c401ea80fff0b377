//go:build linux

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault/ipc/socket"
)

// accepting starts "vault serve" without a terminal and waits until it takes a connection.
func (s *stage) accepting() (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	cmd := s.command("serve")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	path := s.path("run/agent-vault/s.sock")
	for end := time.Now().Add(30 * time.Second); ; {
		c, err := socket.Dial(s.t.Context(), path)
		if err == nil {
			if err := c.Close(); err != nil {
				s.t.Fatal(err)
			}
			return cmd, &errs
		}
		if time.Now().After(end) {
			s.t.Fatalf("nobody accepts: %v\n%s", err, errs.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// Without a terminal the desk runs, decides nothing, and locks and ends at every signal.
func TestServeWithoutATerminal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newStage(t)
			cmd, errs := s.accepting()
			if out := s.want(1, "agent", "pair"); !strings.Contains(out, "(no_vault)") {
				t.Errorf("pair: %s", out)
			}
			if out := s.want(1, "serve"); !strings.Contains(out, "(in_use)") {
				t.Errorf("second desk: %s", out)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || errs.Len() > 0 {
				t.Errorf("ended with %v: %s", err, errs.String())
			}
			if _, err := socket.Dial(t.Context(), s.path("run/agent-vault/s.sock")); err == nil {
				t.Error("the socket is still served")
			}
		})
	}
}

// BenchmarkServeStart is the time from the start of "vault serve" to its first connection.
func BenchmarkServeStart(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := newStage(b)
		b.StartTimer()
		cmd, _ := s.accepting()
		b.StopTimer()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
