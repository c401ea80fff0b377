//go:build linux

// Command demo is a tour of the vault that needs no person: on a display of its
// own, with a keyring of its own, over a vault that is thrown away, it does what an
// owner and an agent do from an empty machine to the agent's first signature, its
// grant, and its refusal; then what another agent, behind an MCP host, and the owner do
// with decisions; then what passkeys add, in a real browser beside the window; then the
// agreement of the specification's worked example, from another firm's offer to a contract
// in force; with -agreements only that, and on to the end of the contract. It reads the
// screen, and drives the window that is shipped with real key and pointer events; it has no
// other way in.
//
// It ends with status 0 only if somebody else's verifier accepts the signatures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// patience is how long the whole tour may take, also where everything else is slow: on two
// cores with a load of twenty the parts before the agreement took five minutes.
const patience = 25 * time.Minute

func main() {
	bin := flag.String("bin", "bin", "`folder` of the programs vault and vault-key")
	out := flag.String("out", filepath.Join("build", "demo"), "`folder` for the pictures")
	agent := flag.String("agent", filepath.Join("examples", "python", "agent.py"), "the agent's `program`, for python3")
	only := flag.Bool("agreements", false, "only the agreement with what it needs before, to the end of the contract")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := run(ctx, *bin, *agent, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, agent, out string, only bool) (err error) {
	t := &tour{ctx: ctx}
	for _, p := range []struct {
		to   *string
		path string
	}{{&t.vault, filepath.Join(bin, "vault")}, {&t.agent, agent}, {&t.out, out}} {
		if *p.to, err = filepath.Abs(p.path); err != nil {
			return err
		}
	}
	if _, err := os.Stat(t.vault); err != nil {
		return fmt.Errorf("the vault is not built yet (make build): %w", err)
	}
	if err := t.emptyOut(); err != nil {
		return err
	}
	// Short: the names of sockets have a limit.
	dir, err := os.MkdirTemp("", "vault-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := t.open(dir); err != nil {
		return err
	}
	defer t.bed.Close()
	defer func() {
		if t.browser != nil {
			t.browser.Close()
		}
	}()
	err = t.walk(only)
	if err != nil {
		err = errors.Join(err, t.shot("where-it-stopped"), t.keepLog())
	}
	fmt.Printf("The pictures, one of each step, are in %s\n", out)
	return err
}
