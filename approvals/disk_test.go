//go:build linux

package approvals_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/approvals/keys"
	"vault/approvals/store"
)

// Disks that are full or can only be read are tried in a process of its own.
const (
	diskFolder = "VAULT_TEST_DISK_FOLDER"
	diskClient = "VAULT_TEST_DISK_CLIENT" // id and hex secret
	diskBegin  = "VAULT_TEST_DISK_BEGIN"  // of the envelope's window
)

func runDisk(dir string) {
	clock := newTestClock()
	w := &world{t: &testing.T{}, dir: dir, clock: clock, keys: newLauncher(dir, clock)}
	d, err := approvals.New(context.Background(), approvals.Options{Folder: dir, Launcher: w.keys, Clock: clock})
	if err != nil {
		fmt.Println("new", err)
		return
	}
	w.desk, w.owner, w.agents = d, d.Owner(), d.Agents()
	st := w.owner.Status()
	if st.Trouble != nil {
		fmt.Println(st.State, st.Trouble.Code)
	}
	if err := w.owner.Unlock(context.Background(), keys.SurfaceTerminal); err != nil {
		fmt.Println("unlock", code(err))
		return
	}
	id, secret, _ := strings.Cut(os.Getenv(diskClient), " ")
	var begin int64
	if _, err := fmt.Sscan(os.Getenv(diskBegin), &begin); err != nil {
		panic(err)
	}
	a := &agent{w: w, id: id}
	raw, err := hex.DecodeString(secret)
	if err != nil {
		panic(err)
	}
	a.secret = handshake.Secret(raw)
	if a.conn, err = a.dial(nil); err != nil {
		panic(err)
	}
	// A file may grow to what it has now and a little more, as on a disk that fills up.
	signal.Ignore(syscall.SIGXFSZ)
	wal, err := os.Stat(filepath.Join(dir, store.FileName+"-wal"))
	if err != nil {
		panic(err)
	}
	limit := func(room uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: room, Max: unix.RLIM_INFINITY}); err != nil {
			panic(err)
		}
	}
	limit(uint64(wal.Size()) + 100_000)
	env := w.killEnvelope(0, begin)
	for i := range 10 {
		req := fmt.Sprint("r", i)
		ans, err := a.ask(req, env, payload(strings.Repeat("x", 20_000)), false)
		if err != nil {
			fmt.Println(w.owner.Status().State, code(err))
			break
		}
		fmt.Println("sign", req, ans.Result != nil)
	}
	// There is room again: unlocking is enough.
	limit(unix.RLIM_INFINITY)
	if err := w.owner.Unlock(context.Background(), keys.SurfaceTerminal); err != nil {
		fmt.Println("unlock", code(err))
		return
	}
	ans, err := a.ask("room", env, payload("room"), false)
	fmt.Println("sign", "room", err == nil && ans.Result != nil)
}

func (w *world) inChild(a *agent, begin int64, as *syscall.Credential) string {
	w.t.Helper()
	binary := os.Args[0]
	if as != nil {
		// Where the other user can reach it.
		dir, err := os.MkdirTemp("", "desk-test-*")
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
		in, err := os.Open(binary)
		if err != nil {
			w.t.Fatal(err)
		}
		defer in.Close()
		binary = filepath.Join(dir, "desk.test")
		out, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
		if err == nil {
			_, err = io.Copy(out, in)
		}
		if err == nil {
			err = out.Close()
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), diskFolder+"="+w.dir, fmt.Sprintf("%s=%d", diskBegin, begin), fmt.Sprintf("%s=%s %x", diskClient, a.id, a.secret[:]))
	cmd.Dir = "/"
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	}
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	return out.String()
}

func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	begin := w.clock.Now() - 1000
	env := w.killEnvelope(0, begin)
	a.grant(env, 10)
	w.stop()
	out := w.inChild(a, begin, nil)
	if !strings.Contains(out, approvals.CodeStoreFailed) || !strings.Contains(out, string(approvals.StateLocked)) {
		t.Fatalf("the full disk was not noticed:\n%s", out)
	}
	if !strings.Contains(out, "sign room true\n") {
		t.Fatalf("it did not go on when there was room again:\n%s", out)
	}
	signed := strings.Count(out, " true\n")
	t.Logf("%d signatures before the disk was full", signed)
	w.start()
	w.unlock()
	a.w = w
	a.connect()
	w.verified()
	if n := w.entries("action.signed") - 1; n < signed {
		t.Fatalf("%d answers, %d entries", signed, n)
	}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "sign" {
			if ans, err := a.conn.Await(context.Background(), f[1]); err != nil || ans.Result == nil {
				t.Fatalf("%s was answered, and is %+v, %v", f[1], ans, err)
			}
		}
	}
	if _, err := a.ask("after", env, payload("after"), true); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	w.stop()
	var as *syscall.Credential
	if os.Getuid() == 0 {
		// The administrator writes everywhere; nobody does not.
		as = &syscall.Credential{Uid: 65534, Gid: 65534}
		for dir := w.dir; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		files, err := filepath.Glob(filepath.Join(w.dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(files, w.dir) {
			if err := os.Chown(f, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(w.dir, 0o500); err != nil {
		t.Fatal(err)
	}
	out := w.inChild(a, 1, as)
	if want := "read_only read_only_folder\nunlock read_only\n"; out != want {
		t.Fatalf("got %q", out)
	}
}
