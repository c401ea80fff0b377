package main

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"vault/approvals/keys"
	"vault/cmd/internal/hygiene"
)

// A key process that answers nothing is ended when locking takes too long.
func TestLockEndsWhatDoesNotAnswer(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	here, there, err := hygiene.LinePair("key process")
	if err != nil {
		t.Fatal(err)
	}
	p, err := hygiene.Start(hygiene.Command{Path: sleep, Args: []string{"600"}, Stderr: os.Stderr, Files: []*os.File{there}})
	if err != nil {
		t.Fatal(err)
	}
	there.Close()
	k := &keyProcess{Client: keys.NewClient(here), process: p, gone: make(chan struct{})}
	go func() {
		defer close(k.gone)
		_, _ = p.Wait() // it was killed
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan error, 1)
	go func() { done <- k.Lock(ctx) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("locking hangs")
		k.Kill()
	}
}
