//go:build linux

package ipc_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vault/internal/needs"
)

// probe says what an agent in the sandbox reaches. Each line is "name: yes" or "no".
const probe = `
import os, socket, sys
host, bus, display, pid = sys.argv[1:5]
def say(name, what):
    try: what(); print(name + ": yes")
    except Exception as e: print(name + ": no")
def connect(where):
    s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(where)
say("own socket", lambda: connect(os.environ["VAULT_SOCK"]))
say("vault folder", lambda: os.listdir(host))
say("message bus", lambda: connect(bus))
say("display", lambda: connect("\0" + display))
say("vault's process", lambda: os.kill(int(pid), 0))
say("more than own processes", lambda: [p for p in os.listdir("/proc") if p.isdigit()][4])
say("make in the socket's folder", lambda: open("/run/vault/x", "w"))
say("own folder", lambda: open("/agent/x", "w"))
print("environment: " + " ".join(sorted(os.environ)))
`

func sandboxed(t *testing.T, sock, folder string, words ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("../examples/sandbox.sh", append([]string{folder}, words...)...)
	if words[0] == "--net" {
		cmd = exec.Command("../examples/sandbox.sh", append([]string{"--net", folder}, words[1:]...)...)
	}
	cmd.Env = append(os.Environ(), "VAULT_SOCK="+sock)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func needBubblewrap(t *testing.T) {
	t.Helper()
	needs.Programs(t, "bwrap", "/usr/bin/python3")
	if out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("this system lets nobody make namespaces: %s", out)
	}
}

func TestSandbox(t *testing.T) {
	needBubblewrap(t)
	_, sock := serve(t)
	host, folder := t.TempDir(), t.TempDir()
	bus := filepath.Join(filepath.Dir(filepath.Dir(sock)), fmt.Sprintf("bus-%d", os.Getpid()))
	lb, err := net.Listen("unix", bus)
	if err != nil {
		t.Fatal(err)
	}
	defer lb.Close()
	display := fmt.Sprintf("vault-test-display-%d", os.Getpid())
	ld, err := net.Listen("unix", "@"+display)
	if err != nil {
		t.Fatal(err)
	}
	defer ld.Close()
	if err := os.WriteFile(filepath.Join(folder, "probe.py"), []byte(probe), 0o600); err != nil {
		t.Fatal(err)
	}
	words := []string{"python3", "/agent/probe.py", host, bus, display, fmt.Sprint(os.Getpid())}

	// What the probe finds without the sandbox is what it could find.
	outside := exec.Command("/usr/bin/python3", append([]string{filepath.Join(folder, "probe.py")}, words[2:]...)...)
	outside.Env = append(os.Environ(), "VAULT_SOCK="+sock)
	free, err := outside.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, free)
	}
	inside, err := sandboxed(t, sock, folder, words...)
	if err != nil {
		t.Fatalf("%v: %s", err, inside)
	}
	withNet, err := sandboxed(t, sock, folder, append([]string{"--net"}, words...)...)
	if err != nil {
		t.Fatalf("%v: %s", err, withNet)
	}
	for _, c := range []struct{ name, free, inside, withNet string }{
		{"own socket", "yes", "yes", "yes"},
		{"vault folder", "yes", "no", "no"},
		{"message bus", "yes", "no", "no"},
		{"display", "yes", "no", "yes"}, // abstract sockets belong to the network: docs/agents.md says so
		{"vault's process", "yes", "no", "no"},
		{"more than own processes", "yes", "no", "no"},
		{"make in the socket's folder", "no", "no", "no"},
		{"own folder", "no", "yes", "yes"},
	} {
		for where, got := range map[string][2]string{"outside": {string(free), c.free}, "inside": {inside, c.inside}, "with net": {withNet, c.withNet}} {
			if !strings.Contains(got[0], c.name+": "+got[1]+"\n") {
				t.Errorf("%s, %s: want %s in\n%s", where, c.name, got[1], got[0])
			}
		}
	}
	if !strings.Contains(inside, "environment: HOME LANG PATH PWD VAULT_SOCK\n") && !strings.Contains(inside, "environment: HOME LANG LC_CTYPE PATH PWD VAULT_SOCK\n") {
		t.Errorf("environment: %s", inside)
	}
}

// A whole agent in the sandbox: it pairs, signs, and keeps its secret in its own folder.
func TestSandboxedAgent(t *testing.T) {
	needBubblewrap(t)
	desk, sock := serve(t)
	folder := t.TempDir()
	raw, err := os.ReadFile("../examples/python/agent.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "agent.py"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, err := sandboxed(t, sock, folder, "python3", "/agent/agent.py", "billing-ops", "boxed"); err != nil {
			t.Fatalf("%v: %s", err, out)
		} else if i := strings.IndexByte(out, '{'); i < 0 || !json.Valid([]byte(out[i:])) {
			t.Errorf("output %q", out)
		}
	}
	if _, asks, _ := desk.Counts(); asks != 2 {
		t.Errorf("%d signatures asked for", asks)
	}
	if fi, err := os.Stat(filepath.Join(folder, ".local/state/agent-vault/agents/boxed.json")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	if p := desk.Peers[0]; p.UserID != int64(os.Geteuid()) || !strings.Contains(strings.Join(p.Command, " "), "agent.py") {
		t.Errorf("peer %+v", p)
	}
}
