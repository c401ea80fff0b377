//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vault/internal/needs"
)

const passphrase = "correct horse battery"

// stage is a place of its own for a vault and its agents, with the real programs.
type stage struct {
	t   testing.TB
	dir string
	env []string
}

func newStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir()}
	for _, name := range []string{"run", "data", "state", "home"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"HOME=" + s.path("home"), "XDG_RUNTIME_DIR=" + s.path("run"), "XDG_DATA_HOME=" + s.path("data"), "XDG_STATE_HOME=" + s.path("state"),
	}
	return s
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(programs, "vault"), args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// run gives standard output and error together, and the exit status.
func (s *stage) run(args ...string) (string, int) {
	s.t.Helper()
	cmd := s.command(args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !asExit(err, &exit) {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// want runs a command and compares its exit status.
func (s *stage) want(status int, args ...string) string {
	s.t.Helper()
	out, got := s.run(args...)
	if got != status {
		s.t.Fatalf("vault %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, status, out)
	}
	return out
}

// background is a command that waits for the owner.
type background struct {
	out  *bytes.Buffer
	done chan error
}

func (s *stage) start(args ...string) *background {
	s.t.Helper()
	b := &background{out: &bytes.Buffer{}, done: make(chan error, 1)}
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = b.out, b.out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { b.done <- cmd.Wait() }()
	return b
}

func (b *background) wait(t testing.TB) (string, error) {
	t.Helper()
	select {
	case err := <-b.done:
		return b.out.String(), err
	case <-time.After(time.Minute):
		t.Fatal("the command did not end")
		return "", nil
	}
}

// screen is a real terminal, of tmux, on which the vault runs.
type screen struct {
	*stage
	socket string
}

func (s *stage) serve() *screen {
	s.t.Helper()
	return s.terminal("serve")
}

// terminal runs one command of the vault on a terminal of its own.
func (s *stage) terminal(command string) *screen {
	s.t.Helper()
	needs.Programs(s.t, "tmux")
	// tmux wants a short path.
	dir, err := os.MkdirTemp("", "tm")
	if err != nil {
		s.t.Fatal(err)
	}
	x := &screen{stage: s, socket: filepath.Join(dir, "s")}
	x.tmux("new-session", "-d", "-x", "150", "-y", "120", "vault "+command+" 2>err; echo \"ended with $?\"; read _")
	s.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", x.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	return x
}

func (x *screen) tmux(args ...string) string {
	x.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", x.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env, cmd.Dir = x.env, x.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (x *screen) text() string {
	return strings.TrimRight(x.tmux("capture-pane", "-p", "-J", "-S", "-"), "\n ")
}

// open says whether a prompt that begins so is open: it stands in the last line.
func open(screen, prompt string) bool {
	return strings.Contains(screen[strings.LastIndex(screen, "\n")+1:], strings.TrimRight(prompt, " "))
}

// ends waits until a prompt that begins so is open.
func (x *screen) ends(prompt string) string {
	x.t.Helper()
	return x.until(func(s string) bool { return open(s, prompt) }, "end with "+prompt)
}

func (x *screen) until(ok func(string) bool, what string) string {
	x.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		got := x.text()
		if ok(got) {
			return got
		}
		if time.Now().After(end) {
			errs, _ := os.ReadFile(x.path("err"))
			x.t.Fatalf("the screen did not %s:\n%s\nstandard error: %s", what, got, errs)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// answer waits for a prompt and types a line after it. What is typed within the
// second after something new was shown is dropped, so it is typed until the screen
// goes on.
func (x *screen) answer(prompt, line string) {
	x.t.Helper()
	before := strings.Count(x.ends(prompt), "\n")
	for end := time.Now().Add(30 * time.Second); ; {
		x.tmux("send-keys", "-l", line)
		x.tmux("send-keys", "Enter")
		for range 30 {
			time.Sleep(20 * time.Millisecond)
			if now := x.text(); strings.Count(now, "\n") > before || !open(now, prompt) {
				return
			}
		}
		if time.Now().After(end) {
			x.t.Fatalf("nothing came of typing after %q:\n%s", prompt, x.text())
		}
	}
}

func (x *screen) find(pattern string) string {
	x.t.Helper()
	all := regexp.MustCompile(pattern).FindAllStringSubmatch(x.text(), -1)
	if len(all) == 0 {
		x.t.Fatalf("the screen has no %s:\n%s", pattern, x.text())
	}
	return all[len(all)-1][1]
}

// approve answers the open sheet with key, and proves it with the four words and the passphrase.
func (x *screen) approve(key string, more ...[2]string) {
	x.t.Helper()
	x.answer("Your answer: ", key)
	for _, m := range more {
		x.answer(m[0], m[1])
	}
	x.ends("Four words: ")
	x.answer("Four words: ", x.find(`then your passphrase: ([a-z ]+)`))
	x.answer("Passphrase: ", passphrase)
	x.ends("vault> ")
}

func (x *screen) create() (domain string) {
	x.t.Helper()
	x.answer("vault> ", "create")
	x.answer("Number [", "2")
	x.answer("Namespace, usually you or your organisation [", "acme")
	x.answer("Domain [", "billing")
	x.answer("Kind [", "finance")
	x.answer("yes or later [yes]: ", "later")
	x.answer("at least 12 characters: ", passphrase)
	x.answer("The same again: ", passphrase)
	x.ends("vault> ")
	return x.find(`  Address: (0x[0-9a-f]{40})`)
}

func (x *screen) pair(name string) {
	x.t.Helper()
	asking := x.start("agent", "pair", "--name", name)
	x.until(func(s string) bool { return strings.Contains(s, "A request is waiting.") }, "say that a request waits")
	x.answer("vault> ", "open")
	digits := x.find(`Number: (\d{6})`)
	x.approve("a", [2]string{"Sheets show this name, never its own: ", "Planner"})
	out, err := asking.wait(x.t)
	if err != nil || !strings.Contains(out, "Number: "+digits) || !strings.Contains(out, "Paired as c_") {
		x.t.Fatalf("pair: %v\n%s\nthe vault showed %s", err, out, digits)
	}
}

func (x *screen) write(name, text string) {
	x.t.Helper()
	if err := os.WriteFile(x.path(name), []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

var invoice = []string{"agent", "sign", "--name", "planner", "--domain", "billing", "--operation", "send-invoice", "--resource", "account:4411", "--max-uses", "5", "--minutes", "100000"}

func sign(payload, out string, more ...string) []string {
	return append(append(append([]string{}, invoice...), "--payload", payload, "--out", out), more...)
}

// From nothing to a signature that somebody else checks, on a terminal, on real parts.
func TestFromNothingToAVerifiedSignature(t *testing.T) {
	x := newStage(t).serve()
	domain := x.create()
	x.pair("planner")

	x.write("payload.json", `{"type":"invoice","id":"inv-9","amount":120}`)
	asking := x.start(sign("payload.json", "answer.json")...)
	x.until(func(s string) bool { return strings.Count(s, "A request is waiting.") == 2 }, "say that a second request waits")
	x.answer("vault> ", "open")
	if s := x.ends("Your answer: "); !strings.Contains(s, `"amount": 120`) || !strings.Contains(s, "Asked by: Planner") {
		t.Errorf("the sheet does not show what is signed:\n%s", s)
	}
	x.approve("a")
	if out, err := asking.wait(t); err != nil {
		t.Fatalf("sign: %v\n%s", err, out)
	}

	// Somebody else: no vault, no socket.
	other := newStage(t)
	for _, name := range []string{"payload.json", "answer.json"} {
		raw, err := os.ReadFile(x.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other.path(name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		status int
		last   string
		args   []string
	}{
		{0, "Verified against your pin.", []string{"--domain", domain}},
		{3, "Self-consistent. Not pinned: anybody could have made this file", nil},
		{1, "Not valid.", []string{"--domain", "0x" + strings.Repeat("1", 40)}},
	} {
		out := other.want(row.status, append([]string{"verify", "answer.json", "payload.json"}, row.args...)...)
		if !strings.HasSuffix(strings.TrimSpace(out), row.last) {
			t.Errorf("verify %v ends otherwise:\n%s", row.args, out)
		}
	}
	if err := os.WriteFile(other.path("payload.json"), []byte(`{"type":"invoice","id":"inv-9","amount":121}`), 0o600); err != nil {
		t.Fatal(err)
	}
	other.want(1, "verify", "answer.json", "payload.json", "--domain", domain)

	// A grant of three uses: three more without asking, and no fourth.
	grant := x.start(sign("payload.json", "granted.json", "--index", "1")...)
	x.until(func(s string) bool { return strings.Count(s, "A request is waiting.") == 3 }, "say that a third request waits")
	x.answer("vault> ", "open")
	x.approve("g", [2]string{"How many more", "3"}, [2]string{"For how many minutes", "30"})
	if out, err := grant.wait(t); err != nil {
		t.Fatalf("sign and grant: %v\n%s", err, out)
	}
	for i := range 3 {
		x.want(0, sign("payload.json", fmt.Sprintf("granted-%d.json", i), "--index", "1", "--only-granted")...)
	}
	if out := x.want(1, sign("payload.json", "granted-4.json", "--index", "1", "--only-granted")...); !strings.Contains(out, "not_shown") {
		t.Errorf("the fourth use: %s", out)
	}

	// Sockets for further users are asked about beside the open desk, and none is added without a passkey.
	for _, row := range []struct {
		status int
		says   string
		args   []string
	}{
		{0, "There is no socket for another user.", []string{"list"}},
		{1, "(no_passkey)", []string{"add", "--for", "65532"}},
		{1, "(unknown_socket)", []string{"remove", "--for", "65532"}},
	} {
		if out := x.want(row.status, append([]string{"socket"}, row.args...)...); !strings.Contains(out, row.says) {
			t.Errorf("socket %v: %s", row.args, out)
		}
	}

	// A decline is told apart from silence.
	declined := x.start(sign("payload.json", "declined.json", "--index", "2")...)
	x.until(func(s string) bool { return strings.Count(s, "A request is waiting.") == 4 }, "say that a fourth request waits")
	x.answer("vault> ", "open")
	x.answer("Your answer: ", "d")
	if out, err := declined.wait(t); err == nil || !strings.Contains(out, "(declined)") {
		t.Errorf("declined: %v\n%s", err, out)
	}
	x.answer("vault> ", "check")
	if s := x.ends("vault> "); !strings.Contains(s, "entries, unbroken.") {
		t.Errorf("log:\n%s", s)
	}

	// Locked, from outside: agents are told so.
	x.want(0, "lock")
	if out := x.want(1, sign("payload.json", "locked.json", "--index", "3")...); !strings.Contains(out, "(locked)") {
		t.Errorf("locked: %s", out)
	}

	// A second desk on the folder is refused.
	if out := x.want(1, "log"); !strings.Contains(out, "(in_use)") {
		t.Errorf("second desk: %s", out)
	}

	x.answer("vault> ", "unlock")
	x.answer("Passphrase: ", passphrase)
	if s := x.ends("vault> "); !strings.Contains(s, "The vault is open.") {
		t.Errorf("unlock:\n%s", s)
	}
	x.answer("vault> ", "quit")
	x.ends("ended with 0")
	if errs, err := os.ReadFile(x.path("err")); err != nil || len(errs) > 0 {
		t.Errorf("standard error: %q, %v", errs, err)
	}
	if out := x.want(0, "log", "verify"); !strings.Contains(out, "unbroken") {
		t.Errorf("log: %s", out)
	}
}

// A backup written here opens there, with the same addresses and a new log.
func TestBackupAndRestore(t *testing.T) {
	const other = "another passphrase of mine"
	x := newStage(t).serve()
	domain := x.create()
	x.answer("vault> ", "backup vault.backup")
	x.answer("at least 12 characters: ", other)
	x.answer("The same again: ", other)
	x.until(func(s string) bool { return strings.Contains(s, "Written.") }, "say that the backup was written")
	x.answer("vault> ", "quit")
	x.ends("ended with 0")

	there := newStage(t)
	raw, err := os.ReadFile(x.path("vault.backup"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there.path("vault.backup"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	y := there.terminal("restore --protection passphrase --backup vault.backup")
	y.answer("Passphrase: ", passphrase)
	y.until(func(s string) bool { return strings.Contains(s, "does not open the backup") }, "say that this is not the backup's passphrase")
	y.answer("Passphrase: ", other)
	y.answer("at least 12 characters: ", passphrase)
	y.answer("The same again: ", passphrase)
	y.ends("ended with 0")
	if s := y.text(); !strings.Contains(s, "Restored. The addresses are the same as before.") {
		t.Errorf("restore:\n%s", s)
	}
	if out := y.want(0, "log"); !strings.Contains(out, "instance.started") || !strings.Contains(out, "restored") || !strings.Contains(out, domain) || strings.Contains(out, "vault.created") {
		t.Errorf("log:\n%s", out)
	}
	if out := y.want(0, "log", "verify"); !strings.Contains(out, "unbroken") {
		t.Errorf("log: %s", out)
	}

	// A second time there is a vault.
	z := there.terminal("restore --protection passphrase --backup vault.backup")
	z.ends("ended with 1")

	// The owner says that files were put back: another instance.
	z = there.terminal("restored")
	z.answer("Passphrase: ", passphrase)
	z.ends("ended with 0")
	if out := z.want(0, "log"); strings.Count(out, "instance.started") != 1 || !strings.Contains(out, domain) {
		t.Errorf("log:\n%s", out)
	}
}
