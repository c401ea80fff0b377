package socket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"vault/internal/needs"
)

// Users that no machine gives to anybody else.
const (
	ownerUser = 65531
	otherUser = 65532
	thirdUser = 65533
)

// furtherHelper is what the test binary does as another user; see TestMain.
func furtherHelper(what string) (string, bool) {
	path := os.Getenv(Env)
	switch what {
	case "listenfor", "listenfor-plain":
		give := allow
		if what == "listenfor-plain" {
			give = func(string, int64, uint16) error { return errors.ErrUnsupported }
		}
		l, err := listenFor(path, otherUser, give)
		if err != nil {
			return err.Error(), true
		}
		fmt.Println("listening")
		for {
			c, err := l.Accept()
			if err != nil {
				return "", true
			}
			p, err := PeerOf(c)
			fmt.Println("peer", p.UserID, err)
			_ = c.Close()
		}
	case "dialowner":
		owner, err := OwnerFrom(os.Getenv)
		if err == nil {
			_, err = DialOwner(context.Background(), path, owner)
		}
		if err != nil {
			return string(codeOf(err)), true
		}
		return "connected", true
	case "meddle":
		dir := filepath.Dir(path)
		var out []string
		for name, err := range map[string]error{
			"list":   second(os.ReadDir(dir)),
			"make":   os.WriteFile(filepath.Join(dir, "x"), nil, 0o600),
			"remove": os.Remove(path),
			"move":   os.Rename(dir, dir+"-x"),
			"chmod":  os.Chmod(path, 0o777),
			"lock":   second(os.Open(path + ".lock")),
		} {
			if !errors.Is(err, fs.ErrPermission) {
				out = append(out, fmt.Sprint(name, ": ", err))
			}
		}
		slices.Sort(out)
		return strings.Join(out, "; "), true
	}
	return "", false
}

func second[T any](_ T, err error) error { return err }

// crowd runs the test binary as other users; it is about one socket.
type crowd struct {
	t    *testing.T
	self string
	path string
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	needs.Administrator(t)
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(dir, "helper")
	if err := os.WriteFile(self, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	place := filepath.Dir(FurtherPath(strconv.Itoa(os.Getpid()), otherUser))
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	return &crowd{t: t, self: self, path: filepath.Join(place, "s.sock")}
}

func (c *crowd) command(what string, uid uint32, owner string) *exec.Cmd {
	cmd := exec.Command(c.self)
	cmd.Dir = "/"
	cmd.Env = []string{helperEnv + "=" + what, Env + "=" + c.path, OwnerEnv + "=" + owner}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (c *crowd) says(what string, uid uint32, owner string) string {
	c.t.Helper()
	out, err := c.command(what, uid, owner).Output()
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// listener starts one as the vault's own user, who is no administrator.
func (c *crowd) listener(what string) (line func() string, end func()) {
	c.t.Helper()
	cmd := c.command(what, ownerUser, "")
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	end = func() { _ = cmd.Process.Kill(); _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }
	c.t.Cleanup(end)
	r := bufio.NewReader(out)
	line = func() string {
		s, err := r.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%q, %v", s, err)
		}
		return strings.TrimSpace(s)
	}
	if s := line(); s != "listening" {
		c.t.Fatal(s)
	}
	return line, end
}

// An account lets one other in without an administrator: where there are access lists, nobody but that one can even
// connect; where there are none, the kernel says who came. The other can neither list nor change anything.
func TestSocketForAFurtherUser(t *testing.T) {
	for _, c := range []struct {
		what   string
		folder fs.FileMode
		socket fs.FileMode
		third  string
	}{
		{"listenfor", 0o710, 0o660, "refused by the system"},
		{"listenfor-plain", 0o711, 0o666, "connected"},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newCrowd(t)
			line, end := w.listener(c.what)
			dir, err := os.Lstat(filepath.Dir(w.path))
			if err != nil {
				t.Fatal(err)
			}
			sock, err := os.Lstat(w.path)
			if err != nil {
				t.Fatal(err)
			}
			if c.what == "listenfor" && dir.Mode().Perm() == 0o711 {
				t.Skip("this file system keeps no access lists")
			}
			if dir.Mode().Perm() != c.folder || sock.Mode().Perm() != c.socket {
				t.Errorf("modes %v and %v", dir.Mode(), sock.Mode())
			}
			owner := strconv.Itoa(ownerUser)
			if got := w.says("dialowner", otherUser, owner); got != "connected" {
				t.Fatal(got)
			}
			if got := line(); got != "peer 65532 <nil>" {
				t.Error(got)
			}
			if got := w.says("connect", thirdUser, ""); got != c.third {
				t.Errorf("a third user: %s", got)
			}
			if c.third == "connected" {
				if got := line(); got != "peer 65533 <nil>" {
					t.Error(got)
				}
			}
			for _, uid := range []uint32{otherUser, thirdUser} {
				if got := w.says("meddle", uid, ""); got != "" {
					t.Errorf("user %d: %s", uid, got)
				}
			}
			// Without naming whose vault it is, and naming another, nothing is sent.
			for name, want := range map[string]Code{"": CodePathUnsafe, "65530": CodePathUnsafe, "0": CodePathUnsafe, "no user of this name": CodeOwner} {
				if got := w.says("dialowner", otherUser, name); got != string(want) {
					t.Errorf("owner %q: %s", name, got)
				}
			}
			end()
			if got := w.says("dialowner", otherUser, owner); got != string(CodeAbsent) {
				t.Errorf("nobody listens: %s", got)
			}
			// What a dead vault left is taken up again.
			_, _ = w.listener(c.what)
			if got := w.says("dialowner", otherUser, owner); got != "connected" {
				t.Errorf("after a restart: %s", got)
			}
		})
	}
}

// A squatter in the place of the folder is not served into, and not connected to.
func TestSocketForAFurtherUserElsewhere(t *testing.T) {
	w := newCrowd(t)
	dir := filepath.Dir(w.path)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, thirdUser, thirdUser); err != nil {
		t.Fatal(err)
	}
	if got := w.says("listenfor", ownerUser, ""); !strings.HasPrefix(got, string(CodePathUnsafe)) {
		t.Error(got)
	}
	if got := w.says("dialowner", otherUser, strconv.Itoa(ownerUser)); got != string(CodePathUnsafe) {
		t.Error(got)
	}
}

// What clears away old files takes a folder that stands in /tmp for long.
func TestListenerThatWasClearedAway(t *testing.T) {
	dir := filepath.Join(private(t), "further")
	path := filepath.Join(dir, "s.sock")
	listen := func() *Listener {
		l, err := ListenFor(path, otherUser)
		if err != nil {
			t.Fatal(err)
		}
		if !l.Stands() {
			t.Fatal("a new socket is not in its place")
		}
		return l
	}
	first := listen()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if first.Stands() {
		t.Error("the socket was removed")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	second := listen()
	if first.Stands() {
		t.Error("another socket stands there")
	}
	if err := first.Close(); err != nil || !second.Stands() {
		t.Errorf("the first took away the second's: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

func TestListenForTakesNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(dir string) error
		code    Code
	}{
		"a folder that holds something": {func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "letter"), nil, 0o600))
		}, CodePathTaken},
		"a link":   {func(dir string) error { return errors.Join(os.Mkdir(dir+"-2", 0o700), os.Symlink(dir+"-2", dir)) }, CodePathUnsafe},
		"a file":   {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, CodePathUnsafe},
		"no place": {func(dir string) error { return os.Remove(filepath.Dir(dir)) }, CodePathUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(private(t), "further")
			if err := c.prepare(dir); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(dir)
			if l, err := ListenFor(filepath.Join(dir, "s.sock"), otherUser); codeOf(err) != c.code {
				t.Fatalf("%v, %v", l, err)
			}
			if after, _ := os.Lstat(dir); before != nil && after.Mode() != before.Mode() {
				t.Errorf("%v became %v", before.Mode(), after.Mode())
			}
		})
	}
	path := filepath.Join(private(t), "further", "s.sock")
	l, err := ListenFor(path, otherUser)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListenFor(path, otherUser); codeOf(err) != CodeInUse {
		t.Errorf("a second listener: %v", err)
	}
	if _, err := DialOwner(context.Background(), path, int64(os.Geteuid())); codeOf(err) != CodePathUnsafe {
		t.Errorf("the own user is served there: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = ListenFor(path, otherUser); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Forget()
	if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}
