package endtoend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault/approvals"
	"vault/internal/needs"
	"vault/internal/softkey"
	"vault/ipc"
	"vault/ipc/socket"
	"vault/sign"
)

// Users that no machine gives to anybody else.
const (
	furtherUser = 65532
	thirdUser   = 65533
)

// abroad runs the real program as other users.
type abroad struct {
	t     *testing.T
	vault string
	dir   string // with a home for each user
}

func newAbroad(t *testing.T) *abroad {
	t.Helper()
	needs.Administrator(t)
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a := &abroad{t, filepath.Join(dir, "vault"), dir}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "headless", "-o", a.vault, "vault/cmd/vault").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path, mode := range map[string]fs.FileMode{dir: 0o755, a.vault: 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, uid := range []int{furtherUser, thirdUser} {
		home := a.home(uint32(uid))
		if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *abroad) home(uid uint32) string { return filepath.Join(a.dir, fmt.Sprint(uid)) }

// run gives what the program printed, and how it ended.
func (a *abroad) run(uid uint32, sock, owner string, args ...string) (string, error) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.vault, append([]string{"agent"}, args...)...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + a.home(uid), "VAULT_SOCK=" + sock, "VAULT_SOCK_OWNER=" + owner}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// TestFurtherUser is an agent under another account: the owner adds a socket for it with a passkey, it pairs and is given
// what the owner approves; nobody else gets in, its pairing is worth nothing elsewhere, and with the socket it has gone.
func TestFurtherUser(t *testing.T) {
	a := newAbroad(t)
	key := softkey.New()
	var tick func()
	r := startWith(t, func(c *sign.Config) {
		c.User = int64(os.Geteuid())
		c.Page = func(context.Context) (sign.Page, error) { return &tab{key: key}, nil }
	}, func(o *approvals.Options, desk func() *approvals.Desk) {
		o.SocketPlace = socket.FurtherPath
		tick = func() { desk().Tick(t.Context()) }
		o.SocketServe = func(userID int64, path string) (approvals.ServedSocket, error) {
			return ipc.Further(desk().Agents(), userID, path, func(err error) { t.Error(err) })
		}
	})
	r.enrol()
	if out, err := r.owner.AddSocket(t.Context(), approvals.FurtherUser{User: fmt.Sprint(os.Geteuid())}); err != nil || out.Code != "own_user" {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := r.owner.AddSocket(t.Context(), approvals.FurtherUser{User: fmt.Sprint(furtherUser)}); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	list := r.owner.Sockets()
	if len(list) != 1 || !list[0].Served {
		t.Fatalf("%+v", list)
	}
	sock := list[0].Path
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(sock)) })
	peers := make(chan int64, 8)
	r.decide(func(s approvals.Sheet) approvals.Decision {
		d := approvals.Decision{Verdict: approvals.VerdictApprove}
		if s.Pairing != nil {
			peers <- s.Pairing.Peer.UserID
			d.Name = fmt.Sprint("Far ", s.Pairing.Peer.UserID)
		}
		return d
	})
	const owner = "0"
	out, err := a.run(furtherUser, sock, owner, "pair", "--name", "far")
	if err != nil || !strings.Contains(out, "Number: "+<-r.digits) {
		t.Fatalf("%s (%v)", out, err)
	}
	if uid := <-peers; uid != furtherUser {
		t.Errorf("the sheet shows user %d", uid)
	}
	payload := filepath.Join(a.home(furtherUser), "payload.json")
	if err := os.WriteFile(payload, []byte(`{"type":"example.message"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	answer := filepath.Join(a.home(furtherUser), "answer.json")
	asks := []string{"sign", "--name", "far", "--payload", payload, "--domain", "billing-ops", "--operation", "send", "--resource", "x"}
	if out, err := a.run(furtherUser, sock, owner, append(asks, "--out", answer)...); err != nil {
		t.Fatalf("%s (%v)", out, err)
	}
	raw, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	var signed struct{ Signature, By string }
	if err := json.Unmarshal(raw, &signed); err != nil || len(signed.Signature) != 132 || signed.By != "click" {
		t.Errorf("%s (%v)", raw, err)
	}

	refused := func(name string, uid uint32, sock, owner string, args []string, code string) {
		t.Helper()
		if out, err := a.run(uid, sock, owner, args...); err == nil || !strings.Contains(out, "("+code+")") {
			t.Errorf("%s: %s (%v)", name, out, err)
		}
	}
	pairs := []string{"pair", "--name", "third"}
	// Nobody else can even connect here, where the file system keeps access lists; elsewhere the kernel says who it is.
	third := "socket_failed"
	if fi, err := os.Lstat(sock); err == nil && fi.Mode().Perm() == 0o666 {
		third = "wrong_user"
	}
	refused("a third user", thirdUser, sock, owner, pairs, third)
	refused("the further user, who does not say whose vault it is", furtherUser, sock, "", asks, "socket_path_unsafe")
	refused("the further user, on the vault's own socket", furtherUser, r.sock, owner, asks, "socket_failed")
	// A pairing that was taken from another account is of no use there.
	const kept = "agent-vault/agents/far.json"
	secret, err := os.ReadFile(filepath.Join(a.home(furtherUser), ".local/state", kept))
	if err != nil {
		t.Fatal(err)
	}
	stolen := filepath.Join(filepath.Dir(r.sock), "state", kept)
	if err := errors.Join(os.MkdirAll(filepath.Dir(stolen), 0o700), os.WriteFile(stolen, secret, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := r.run(append([]string{a.vault, "agent"}, asks...)...); status == 0 || !strings.Contains(errs, "(other_user)") {
		t.Errorf("the owner's account, with the other's pairing: %s", errs)
	}

	// What was cleared away with its folder is made again, and the program goes on as it was paired.
	if err := os.RemoveAll(filepath.Dir(sock)); err != nil {
		t.Fatal(err)
	}
	refused("after it was cleared away", furtherUser, sock, owner, asks, "socket_absent")
	tick()
	if out, err := a.run(furtherUser, sock, owner, append(asks, "--index", "1")...); err != nil {
		t.Errorf("after it was made again: %s (%v)", out, err)
	}

	if err := r.owner.RemoveSocket(t.Context(), furtherUser); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(sock)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	refused("after it was removed", furtherUser, sock, owner, asks, "socket_absent")
}
