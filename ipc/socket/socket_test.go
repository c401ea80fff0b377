//go:build unix

package socket

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"vault/internal/needs"
)

// helperEnv makes the test binary act as another process; see TestMain.
const helperEnv = "SOCKET_TEST_HELPER"

func TestMain(m *testing.M) {
	if out, ok := furtherHelper(os.Getenv(helperEnv)); ok {
		fmt.Println(out)
		os.Exit(0)
	}
	switch os.Getenv(helperEnv) {
	case "listen": // listen, say so, wait to be killed or told
		l, err := Listen(os.Getenv(Env))
		if err != nil {
			fmt.Println(codeOf(err))
			os.Exit(0)
		}
		fmt.Println("listening")
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = l.Close()
		os.Exit(0)
	case "connect": // connect without any check, say what came of it
		c, err := net.Dial("unix", os.Getenv(Env))
		if err != nil {
			fmt.Println("refused by the system")
			os.Exit(0)
		}
		_ = c.Close()
		fmt.Println("connected")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func helper(t *testing.T, what, path string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+what, Env+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(out)
}

func codeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// private gives a folder that passes the checks: its ancestors belong to this user
// or root, and only this user can enter it.
func private(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestPath(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
		code Code
	}{
		"variable wins":         {env: map[string]string{Env: "/a/b.sock", "XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/u"}, want: "/a/b.sock"},
		"variable is cleaned":   {env: map[string]string{Env: "/a/../b//s"}, want: "/b/s"},
		"variable relative":     {env: map[string]string{Env: "s.sock"}, code: CodePathInvalid},
		"variable abstract":     {env: map[string]string{Env: "@vault"}, code: CodePathInvalid},
		"variable with zero":    {env: map[string]string{Env: "/a\x00b"}, code: CodePathInvalid},
		"runtime folder":        {env: map[string]string{"XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/u"}, want: "/run/user/7/agent-vault/s.sock"},
		"relative is ignored":   {env: map[string]string{"XDG_RUNTIME_DIR": "run", "HOME": "/home/u"}, want: "/home/u/.agent-vault/s.sock"},
		"home":                  {env: map[string]string{"HOME": "/home/u"}, want: "/home/u/.agent-vault/s.sock"},
		"nothing":               {code: CodePathUnknown},
		"empty variable is not": {env: map[string]string{Env: "", "HOME": "/h"}, want: "/h/.agent-vault/s.sock"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := PathFrom(func(k string) string { return c.env[k] })
			if got != c.want || codeOf(err) != c.code {
				t.Errorf("got %q, %v; want %q, code %q", got, err, c.want, c.code)
			}
		})
	}
}

func TestListenAndDial(t *testing.T) {
	path := filepath.Join(private(t), "agent-vault", "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{filepath.Dir(path): os.ModeDir | 0o700, path: os.ModeSocket | 0o600, path + ".lock": 0o600} {
		fi, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), fi.Mode(), want)
		}
	}
	c, err := Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := PeerOf(s)
	if err != nil {
		t.Fatal(err)
	}
	if p.UserID != int64(os.Geteuid()) {
		t.Errorf("user %d, want %d", p.UserID, os.Geteuid())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := os.Lstat(path + ".lock"); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
	if _, err := Dial(context.Background(), path); codeOf(err) != CodeAbsent {
		t.Errorf("dial after close: %v", err)
	}
}

// Each case spoils the path in one way; both sides must refuse it by name.
func TestUnsafePaths(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		asRoot bool
		spoil  func(t *testing.T, dir, path string) string
		listen Code // "" = works
		dial   Code
	}{
		"folder open to others": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Chmod(filepath.Dir(path), 0o755))
			return path
		}, listen: CodePathUnsafe, dial: CodePathUnsafe},
		"folder above writable by others": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Chmod(dir, 0o777))
			return path
		}, listen: CodePathUnsafe, dial: CodePathUnsafe},
		"folder above writable but sticky": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Chmod(dir, 0o777|os.ModeSticky))
			return path
		}, dial: CodeAbsent},
		"folder of somebody else": {asRoot: true, spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Chown(filepath.Dir(path), 65534, -1))
			return path
		}, listen: CodePathUnsafe, dial: CodePathUnsafe},
		"folder above of somebody else": {asRoot: true, spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Chown(dir, 65534, -1))
			return path
		}, listen: CodePathUnsafe, dial: CodePathUnsafe},
		"link of somebody else": {asRoot: true, spoil: func(t *testing.T, dir, path string) string {
			link := filepath.Join(dir, "link")
			must(t, os.Symlink(filepath.Dir(path), link))
			must(t, os.Lchown(link, 65534, -1))
			return filepath.Join(link, "s.sock")
		}, listen: CodePathUnsafe, dial: CodePathUnsafe},
		"own link": {spoil: func(t *testing.T, dir, path string) string {
			link := filepath.Join(dir, "link")
			must(t, os.Symlink(filepath.Dir(path), link))
			return filepath.Join(link, "s.sock")
		}, dial: CodeAbsent},
		"a file has the name": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.WriteFile(path, []byte("precious"), 0o600))
			return path
		}, listen: CodePathTaken, dial: CodePathTaken},
		"a link has the name": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Symlink("/etc/passwd", path))
			return path
		}, listen: CodePathTaken, dial: CodePathTaken},
		"a folder has the lock's name": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Mkdir(path+".lock", 0o700))
			return path
		}, listen: CodePathTaken, dial: CodeAbsent},
		"a link has the lock's name": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.Symlink("/etc/passwd", path+".lock"))
			return path
		}, listen: CodePathTaken, dial: CodeAbsent},
		"a pipe has the lock's name": {spoil: func(t *testing.T, dir, path string) string {
			must(t, syscall.Mkfifo(path+".lock", 0o600))
			return path
		}, listen: CodePathTaken, dial: CodeAbsent},
		"socket open to others": {spoil: func(t *testing.T, dir, path string) string {
			l, err := net.Listen("unix", path)
			must(t, err)
			t.Cleanup(func() { _ = l.Close() })
			must(t, os.Chmod(path, 0o666))
			return path
		}, dial: CodePathUnsafe},
		"socket of somebody else": {asRoot: true, spoil: func(t *testing.T, dir, path string) string {
			l, err := net.Listen("unix", path)
			must(t, err)
			t.Cleanup(func() { _ = l.Close() })
			must(t, os.Chmod(path, 0o600))
			must(t, os.Chown(path, 65534, -1))
			return path
		}, dial: CodePathUnsafe},
		"folder is a file": {spoil: func(t *testing.T, dir, path string) string {
			must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
			return filepath.Join(dir, "f", "s.sock")
		}, listen: CodePathUnsafe, dial: CodePathUnsafe},
		"no folder above": {spoil: func(t *testing.T, dir, path string) string {
			return filepath.Join(dir, "a", "b", "s.sock")
		}, listen: CodePathUnsafe, dial: CodeAbsent},
		"relative": {spoil: func(*testing.T, string, string) string { return "s.sock" }, listen: CodePathInvalid, dial: CodePathInvalid},
		"abstract": {spoil: func(*testing.T, string, string) string { return "@s.sock" }, listen: CodePathInvalid, dial: CodePathInvalid},
		"name too long for any way": {spoil: func(t *testing.T, dir, path string) string {
			return filepath.Join(filepath.Dir(path), strings.Repeat("n", 200))
		}, listen: CodePathTooLong, dial: CodeAbsent},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.asRoot {
				needs.Administrator(t)
			}
			dir := private(t)
			path := filepath.Join(dir, "d", "s.sock")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			path = c.spoil(t, dir, path)
			if _, err := Dial(context.Background(), path); codeOf(err) != c.dial {
				t.Errorf("dial: %v, want code %q", err, c.dial)
			}
			if name == "socket open to others" || name == "socket of somebody else" {
				return // the listener replaces what it finds in its own folder
			}
			l, err := Listen(path)
			if codeOf(err) != c.listen {
				t.Errorf("listen: %v, want code %q", err, c.listen)
			}
			if err == nil {
				must(t, l.Close())
			} else if (&Error{Code: codeOf(err)}).Remedy() == "" {
				t.Error("no remedy")
			}
		})
	}
	t.Run("the file keeps its content", func(t *testing.T) {
		path := filepath.Join(private(t), "s.sock")
		must(t, os.WriteFile(path, []byte("precious"), 0o600))
		if _, err := Listen(path); codeOf(err) != CodePathTaken {
			t.Fatalf("listen: %v", err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != "precious" {
			t.Errorf("%q, %v", raw, err)
		}
	})
}

func TestLongPath(t *testing.T) {
	dir := private(t)
	for len(dir) < 2*MaxPath {
		dir = filepath.Join(dir, strings.Repeat("d", 40))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s.sock")
	l, err := Listen(path)
	if runtime.GOOS != "linux" {
		if codeOf(err) != CodePathTooLong {
			t.Fatalf("listen: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, _ = c.Write([]byte("hi"))
			_ = c.Close()
		}
	}()
	c, err := Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if b, err := io.ReadAll(c); err != nil || string(b) != "hi" {
		t.Fatalf("%q, %v", b, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// A killed listener leaves its socket; the next one recovers it. A living one is
// never disturbed.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(private(t), "s.sock")
	cmd, in, out := helper(t, "listen", path)
	if line, err := out.ReadString('\n'); err != nil || line != "listening\n" {
		t.Fatalf("helper said %q, %v", line, err)
	}
	if _, err := Listen(path); codeOf(err) != CodeInUse {
		t.Fatalf("second listener: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	_ = in.Close()
	if fi, err := os.Lstat(path); err != nil || fi.Mode().Type() != os.ModeSocket {
		t.Fatalf("the killed listener left no socket: %v", err)
	}
	if _, err := Dial(context.Background(), path); codeOf(err) != CodeAbsent {
		t.Fatalf("dial a stale socket: %v", err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// Twenty at once: one listens, the others are told that it does.
func TestOneListener(t *testing.T) {
	path := filepath.Join(private(t), "d", "s.sock")
	const n = 20
	type started struct {
		cmd  *exec.Cmd
		in   io.WriteCloser
		line string
	}
	all := make([]started, n)
	var wg sync.WaitGroup
	for i := range all {
		cmd, in, out := helper(t, "listen", path)
		all[i].cmd, all[i].in = cmd, in
		wg.Go(func() { all[i].line, _ = out.ReadString('\n') })
	}
	wg.Wait()
	var winners int
	for _, s := range all {
		switch strings.TrimSpace(s.line) {
		case "listening":
			winners++
		case string(CodeInUse):
		default:
			t.Errorf("a helper said %q", s.line)
		}
		_ = s.in.Close()
		_ = s.cmd.Wait()
	}
	if winners != 1 {
		t.Errorf("%d listen", winners)
	}
}

// Close must not remove a socket that took its place.
func TestCloseRemovesOnlyItsOwn(t *testing.T) {
	path := filepath.Join(private(t), "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("removed: %v", err)
	}
}

// A socket served by another user is refused even where its path looks right.
func TestServerOfAnotherUser(t *testing.T) {
	path := filepath.Join(private(t), "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	needs.Administrator(t)
	for _, name := range []string{path, filepath.Dir(path)} {
		if err := os.Chown(name, 65534, -1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dial(context.Background(), path, 65534); codeOf(err) != CodeWrongUser {
		t.Errorf("dial: %v", err)
	}
}

// Another user gets no further than the folder.
func TestAnotherUserCannotConnect(t *testing.T) {
	needs.Administrator(t)
	path := filepath.Join(private(t), "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	bin := filepath.Join(private(t), "t")
	if err := os.Chmod(filepath.Dir(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(uid uint32) string {
		cmd := exec.Command(bin)
		cmd.Dir = "/"
		cmd.Env = []string{helperEnv + "=connect", Env + "=" + path}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if got := run(0); got != "connected" {
		t.Errorf("the same user: %s", got)
	}
	if got := run(65534); got != "refused by the system" {
		t.Errorf("another user: %s", got)
	}
}
