//go:build unix

package ipc_test

// The example agents, against a server of the socket with a desk that answers real
// handshakes.

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/internal/needs"
	"vault/ipc"
	"vault/ipc/internal/fakedesk"
	"vault/ipc/socket"
)

var agents = map[string][]string{
	"python":     {"python3", "../examples/python/agent.py"},
	"javascript": {"node", "../examples/javascript/agent.mjs"},
}

func serve(t *testing.T) (*fakedesk.Desk, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	desk := fakedesk.New()
	srv := ipc.New(ipc.Options{Agents: desk})
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Shutdown(context.Background()) })
	return desk, path
}

type result struct {
	out, errs string
	status    int
}

func run(t *testing.T, sock, state string, words ...string) result {
	t.Helper()
	needs.Programs(t, words[0])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "VAULT_SOCK="+sock, "XDG_STATE_HOME="+state)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v does not end; it said %q %q", words, out.String(), errs.String())
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func TestExampleAgents(t *testing.T) {
	for name, words := range agents {
		t.Run(name, func(t *testing.T) {
			desk, sock := serve(t)
			state := t.TempDir()
			var digits []string
			desk.Digits = func(d string) bool { digits = append(digits, d); return true }
			ask := func(more ...string) result { return run(t, sock, state, append(words, more...)...) }

			first := ask("billing-ops", "example-agent")
			if first.status != 0 {
				t.Fatalf("status %d: %s", first.status, first.errs)
			}
			if len(digits) != 1 || !strings.Contains(first.errs, "Compare with the vault: "+digits[0]+"\n") {
				t.Errorf("the vault shows %q, the agent %q", digits, first.errs)
			}
			var got struct {
				Record    struct{ Type string }
				Payload   json.RawMessage
				Signature string
			}
			if err := json.Unmarshal([]byte(first.out), &got); err != nil || got.Record.Type != "agentenvelope.publicActionRecord" || len(got.Signature) != 132 {
				t.Errorf("output %q, %v", first.out, err)
			}
			var envelope struct {
				AgentID string
				Domain  struct{ DomainID, DomainHash string }
				Limits  struct{ MaxUses int }
			}
			if err := json.Unmarshal(desk.Asks[0].Envelope, &envelope); err != nil {
				t.Fatal(err)
			}
			if envelope.AgentID != "example-agent" || envelope.Domain.DomainHash != fakedesk.DomainHash || envelope.Domain.DomainID != "billing-ops" || envelope.Limits.MaxUses != 10 {
				t.Errorf("envelope %+v", envelope)
			}

			file := filepath.Join(state, "agent-vault", "agents", "example-agent.json")
			fi, err := os.Stat(file)
			if err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("the secret's file: %v, %v", fi.Mode(), err)
			}
			if fi, err := os.Stat(filepath.Dir(file)); err != nil || fi.Mode().Perm() != 0o700 {
				t.Errorf("its folder: %v, %v", fi.Mode(), err)
			}

			second := ask("billing-ops", "example-agent")
			if second.status != 0 || len(digits) != 1 {
				t.Errorf("the second run pairs again: %q, status %d, %s", digits, second.status, second.errs)
			}
			if len(desk.Heads) != 2 || desk.Heads[0] != "" || !strings.Contains(desk.Heads[1], `"vault.logHead"`) {
				t.Errorf("heads that the agent sent: %q", desk.Heads)
			}
			if string(desk.Asks[0].Envelope) != string(desk.Asks[1].Envelope) || desk.Asks[0].RequestID == desk.Asks[1].RequestID {
				t.Error("two runs: want one envelope and two request ids")
			}

			if r := ask("billing-ops", "example-agent", "--no-ask"); r.status == 0 || !strings.HasPrefix(r.errs, "not_shown: ") {
				t.Errorf("--no-ask: status %d, %s", r.status, r.errs)
			}
			if r := ask("no-such", "example-agent"); r.status == 0 || !strings.HasPrefix(r.errs, "unknown_domain: ") {
				t.Errorf("unknown domain: status %d, %s", r.status, r.errs)
			}
			desk.Forget()
			if r := ask("billing-ops", "example-agent"); r.status == 0 || !strings.HasPrefix(r.errs, "revoked: ") {
				t.Errorf("revoked: status %d, %s", r.status, r.errs)
			}
		})
	}
}

// An agent whose digits the owner does not know gets nothing, and keeps nothing.
func TestExampleDeclinedPairing(t *testing.T) {
	for name, words := range agents {
		t.Run(name, func(t *testing.T) {
			desk, sock := serve(t)
			desk.Digits = func(string) bool { return false }
			state := t.TempDir()
			r := run(t, sock, state, append(words, "billing-ops", "declined")...)
			if r.status == 0 || !strings.Contains(r.errs, "declined: ") {
				t.Errorf("status %d, %s", r.status, r.errs)
			}
			if _, err := os.Stat(filepath.Join(state, "agent-vault", "agents", "declined.json")); !os.IsNotExist(err) {
				t.Errorf("a file was kept: %v", err)
			}
		})
	}
}

// A socket of somebody who does not know the secret is not believed.
func TestExampleAnotherVault(t *testing.T) {
	for name, words := range agents {
		t.Run(name, func(t *testing.T) {
			_, sock := serve(t)
			state := t.TempDir()
			if r := run(t, sock, state, append(words, "billing-ops", "a")...); r.status != 0 {
				t.Fatal(r.errs)
			}
			other, sock := serve(t)
			if r := run(t, sock, state, append(words, "billing-ops", "b")...); r.status != 0 { // so that client 1 exists there
				t.Fatal(r.errs)
			}
			before := len(other.Asks)
			r := run(t, sock, state, append(words, "billing-ops", "a")...)
			if r.status == 0 || !strings.Contains(r.errs, "not the vault that we were paired with") || len(other.Asks) != before {
				t.Errorf("status %d, %s", r.status, r.errs)
			}
		})
	}
}

func TestExamplesAreShort(t *testing.T) {
	for _, programs := range []map[string][]string{agents, bots} {
		for _, words := range programs {
			raw, err := os.ReadFile(words[1])
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(raw, []byte("\n")); n >= 60 {
				t.Errorf("%s has %d lines", words[1], n)
			}
		}
	}
}
