package hygiene

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"vault/internal/needs"
)

// The test program is also every process that the tests need. Roles are
// arguments, because hygiene drops unknown variables.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "role-plain":
			roleWait(false)
		case "role-target":
			roleWait(true)
		case "role-starter":
			roleStarter()
		case "role-attack":
			roleAttack()
		case "role-attack-one":
			runtime.LockOSThread()
			pid, _ := strconv.Atoi(os.Args[2])
			attached := map[int]bool{}
			worked, refused := attempt(pid, attached)
			for len(attached) > 0 {
				letGo(attached)
			}
			fmt.Println("RESULT", worked, refused)
			os.Exit(0)
		case "role-status":
			fmt.Printf("REPORT %+v\n", Status())
			os.Exit(0)
		case "role-report":
			roleReport()
		case "role-exit":
			mustHarden()
			code, _ := strconv.Atoi(os.Args[2])
			_, _ = io.Copy(os.Stdout, os.Stdin)
			os.Exit(code)
		case "role-parent":
			roleParent()
		}
	}
	os.Exit(m.Run())
}

func mustHarden() {
	if err := Harden(os.Args); err != nil {
		fmt.Println("HARDEN", err)
		os.Exit(9)
	}
}

// roleWait says READY and lives until its standard input ends.
func roleWait(harden bool) {
	if harden {
		mustHarden()
	}
	fmt.Println("READY")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// roleStarter starts targets one after the other and prints their process ids.
// args: role-starter closed|plain N
func roleStarter() {
	closed := os.Args[2] == "closed"
	if closed {
		mustHarden()
	}
	n, _ := strconv.Atoi(os.Args[3])
	self, err := Executable()
	if err != nil {
		fmt.Println("ERROR", err)
		os.Exit(1)
	}
	// The attack begins once this process is what it claims to be.
	fmt.Println("SELF", os.Getpid())
	orders := bufio.NewReader(os.Stdin)
	_, _ = orders.ReadString('\n')
	for range n {
		inR, inW, _ := os.Pipe()
		outR, outW, _ := os.Pipe()
		var pid int
		var wait func() error
		if closed {
			p, err := Start(Command{Path: self, Args: []string{"role-target"}, Stdin: inR, Stdout: outW})
			if err != nil {
				fmt.Println("ERROR", err)
				os.Exit(1)
			}
			pid, wait = p.Pid(), func() error { _, err := p.Wait(); return err }
		} else {
			cmd := exec.Command(self, "role-plain")
			cmd.Stdin, cmd.Stdout = inR, outW
			if err := cmd.Start(); err != nil {
				fmt.Println("ERROR", err)
				os.Exit(1)
			}
			pid, wait = cmd.Process.Pid, cmd.Wait
		}
		outW.Close()
		line, _ := bufio.NewReader(outR).ReadString('\n')
		fmt.Println("TARGET", pid, strings.TrimSpace(line))
		inW.Close()
		_ = wait()
		inR.Close()
		outR.Close()
	}
	fmt.Println("DONE")
	os.Exit(0)
}

// letGo detaches from a process that was attached, as soon as it has stopped. It
// does not wait: a process that is between two programs stops later.
func letGo(attached map[int]bool) {
	for pid := range attached {
		var ws unix.WaitStatus
		got, err := unix.Wait4(pid, &ws, unix.WALL|unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) || err == nil && got == 0 {
			continue
		}
		if err == nil && ws.Stopped() {
			_ = unix.PtraceDetach(pid)
		}
		delete(attached, pid)
	}
}

// attempt tries the three ways into a process and reports those that worked.
// Whoever was traced is noted in attached.
func attempt(pid int, attached map[int]bool) (worked []string, refused int) {
	note := func(name string, err error) {
		switch {
		case err == nil:
			worked = append(worked, name)
		case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
			refused++
		}
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, 0
	}
	defer unix.Close(fd)
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	note("mem", err)
	if err == nil {
		mem.Close()
	}
	got, err := unix.PidfdGetfd(fd, 0, 0)
	note("pidfd_getfd", err)
	if err == nil {
		unix.Close(got)
	}
	if !attached[pid] {
		// Seizing asks the kernel the same as attaching does, and leaves no stop
		// signal behind in a process that is just being executed.
		err = unix.PtraceSeize(pid)
		note("ptrace", err)
		if err == nil {
			_ = unix.PtraceInterrupt(pid)
			attached[pid] = true
		}
	}
	return worked, refused
}

// roleAttack attacks every process id that is about to be used, as fast as it
// can, until its standard input ends.
func roleAttack() {
	runtime.LockOSThread()
	done := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(done) }()
	fmt.Println("READY")
	worked, refused, attached := map[int][]string{}, map[int]int{}, map[int]bool{}
	load, err := os.Open("/proc/loadavg")
	if err != nil {
		fmt.Println("ERROR", err)
		os.Exit(1)
	}
	buf := make([]byte, 128)
	for {
		select {
		case <-done:
			for pid, names := range worked {
				fmt.Println("WORKED", pid, strings.Join(names, ","))
			}
			for pid, n := range refused {
				fmt.Println("REFUSED", pid, n)
			}
			fmt.Println("END")
			os.Exit(0)
		default:
		}
		letGo(attached)
		n, _ := load.ReadAt(buf, 0)
		fields := strings.Fields(string(buf[:n]))
		last, _ := strconv.Atoi(fields[len(fields)-1])
		for pid := last - 6; pid <= last+6; pid++ {
			// What is older than the attack is not its target.
			if pid <= os.Getpid() || len(worked[pid]) == 3 {
				continue
			}
			names, no := attempt(pid, attached)
			for _, name := range names {
				if !slices.Contains(worked[pid], name) {
					worked[pid] = append(worked[pid], name)
				}
			}
			if no > 0 {
				refused[pid] += no
			}
		}
	}
}

// roleReport hardens and prints what holds.
func roleReport() {
	mustHarden()
	self, err := Executable()
	if err != nil {
		fmt.Println("ERROR", err)
		os.Exit(1)
	}
	fmt.Printf("REPORT %+v\nSELF %s\nARGS %q\nENV %q\n", Status(), self, os.Args[1:], os.Environ())
	os.Exit(0)
}

// roleParent starts a child that waits for ever, prints its id, and waits to be killed.
func roleParent() {
	mustHarden()
	self, _ := Executable()
	r, w, _ := os.Pipe() // kept open, so that only the lifeline can end the child
	_ = w
	p, err := Start(Command{Path: self, Args: []string{"role-target"}, Stdin: r, Stdout: os.Stdout})
	if err != nil {
		fmt.Println("ERROR", err)
		os.Exit(1)
	}
	fmt.Println("CHILD", p.Pid())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// ordinary returns the test program where an ordinary user can run it, and the
// attributes that make a command run as such a user.
func ordinary(t *testing.T) (string, *syscall.SysProcAttr) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return self, nil
	}
	dir, err := os.MkdirTemp("", "hygiene")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

type running struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, attr *syscall.SysProcAttr, path string, args ...string) *running {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = attr
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GODEBUG=gctrace=0", "FYNE_THEME=light", "LD_BIND_NOW=1", "SOMETHING=else", "LANG=C.UTF-8")
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
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &running{cmd, in, bufio.NewScanner(out)}
}

// until reads lines up to one that begins with the word.
func (r *running) until(t *testing.T, word string) []string {
	t.Helper()
	var lines []string
	for r.out.Scan() {
		lines = append(lines, r.out.Text())
		if strings.HasPrefix(r.out.Text(), word) {
			return lines
		}
		if strings.HasPrefix(r.out.Text(), "ERROR") || strings.HasPrefix(r.out.Text(), "HARDEN") {
			break
		}
	}
	t.Fatalf("no %s in %q", word, lines)
	return nil
}

// starts says how many processes are attacked.
func starts() int {
	if os.Getenv("VAULT_TEST_LONG") == "1" {
		return 100
	}
	return 10
}

// attack runs a starter under attack and returns how many of its targets were
// entered, how many were attacked at all, and what worked.
func attack(t *testing.T, mode string) (targets, entered, attacked int, ways map[string]int) {
	path, attr := ordinary(t)
	starter := start(t, attr, path, "role-starter", mode, strconv.Itoa(starts()))
	starter.until(t, "SELF")
	attacker := start(t, attr, path, "role-attack")
	attacker.until(t, "READY")
	if _, err := io.WriteString(starter.in, "go\n"); err != nil {
		t.Fatal(err)
	}
	lines := starter.until(t, "DONE")
	attacker.in.Close()
	found := attacker.until(t, "END")
	pids := map[int]bool{}
	for _, l := range lines {
		f := strings.Fields(l)
		if f[0] == "TARGET" {
			if len(f) != 3 || f[2] != "READY" {
				t.Fatalf("a target did not start: %q", l)
			}
			pid, _ := strconv.Atoi(f[1])
			pids[pid] = true
		}
	}
	ways = map[string]int{}
	for _, l := range found {
		f := strings.Fields(l)
		if len(f) != 3 {
			continue
		}
		pid, _ := strconv.Atoi(f[1])
		if !pids[pid] {
			continue
		}
		attacked++
		if f[0] == "WORKED" {
			entered++
			for _, w := range strings.Split(f[2], ",") {
				ways[w]++
			}
		}
	}
	return len(pids), entered, attacked, ways
}

// TestPlainProcessIsEntered shows that the attack works, so that the next test can fail.
func TestPlainProcessIsEntered(t *testing.T) {
	targets, entered, _, ways := attack(t, "plain")
	t.Logf("%d of %d plain processes entered: %v", entered, targets, ways)
	for _, way := range []string{"mem", "ptrace", "pidfd_getfd"} {
		if ways[way] == 0 {
			t.Errorf("%s never worked on a plain process", way)
		}
	}
}

func TestStartedProcessIsNeverEntered(t *testing.T) {
	targets, entered, attacked, ways := attack(t, "closed")
	t.Logf("%d processes, %d attacked, %d entered", targets, attacked, entered)
	if targets != starts() || attacked == 0 {
		t.Fatalf("%d targets, %d of them attacked: the attack saw nothing", targets, attacked)
	}
	if entered != 0 {
		t.Errorf("%d of %d processes entered: %v", entered, targets, ways)
	}
}

func TestHardenedProcessIsClosed(t *testing.T) {
	path, attr := ordinary(t)
	for role, want := range map[string]string{"role-target": "RESULT [] 3", "role-plain": "RESULT [mem pidfd_getfd ptrace] 0"} {
		r := start(t, attr, path, role)
		r.until(t, "READY")
		attacker := start(t, attr, path, "role-attack-one", strconv.Itoa(r.cmd.Process.Pid))
		if got := attacker.until(t, "RESULT"); got[len(got)-1] != want {
			t.Errorf("%s: %q, want %q", role, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	path, attr := ordinary(t)
	out := strings.Join(start(t, attr, path, "role-report", "an argument", "").until(t, "ENV"), "\n")
	for _, want := range []string{"Closed:from the first instruction", "NoCore:true", "Traced:false", "CleanEnvironment:true", "SELF " + path, `"an argument" ""`, "LANG=C.UTF-8"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, no := range []string{"GODEBUG", "FYNE_THEME", "LD_BIND_NOW", "SOMETHING", lifelineVar} {
		if strings.Contains(out, no) {
			t.Errorf("%q stayed in\n%s", no, out)
		}
	}
}

func TestReportOfAdministrator(t *testing.T) {
	needs.Administrator(t)
	path, _ := ordinary(t)
	out := strings.Join(start(t, nil, path, "role-report").until(t, "ENV"), "\n")
	for _, want := range []string{"Closed:since shortly after start", "Reason:the administrator", "NoCore:true", "CleanEnvironment:true", "SELF " + path} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestUnhardenedStatus(t *testing.T) {
	// In a process of its own: starting a program as another user closes the one
	// that starts it, because the two share their memory for a moment.
	path, attr := ordinary(t)
	out := strings.Join(start(t, attr, path, "role-status").until(t, "REPORT"), "\n")
	for _, want := range []string{"Closed:not at all", "Reason:this process was not hardened", "CleanEnvironment:false"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

func TestTracedProcessRefuses(t *testing.T) {
	path, attr := ordinary(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	traced := &syscall.SysProcAttr{Ptrace: true}
	if attr != nil {
		traced.Credential = attr.Credential
	}
	cmd := exec.Command(path, "role-target")
	cmd.SysProcAttr = traced
	cmd.Dir = "/"
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	pid := cmd.Process.Pid
	// Let it run, passing its signals on, until it ends.
	exit := -1
	for {
		var ws unix.WaitStatus
		if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			t.Fatal(err)
		}
		if ws.Exited() {
			exit = ws.ExitStatus()
			break
		}
		if ws.Signaled() {
			t.Fatalf("ended by signal %v", ws.Signal())
		}
		sig := 0
		if ws.Stopped() && ws.StopSignal() != unix.SIGTRAP {
			sig = int(ws.StopSignal())
		}
		if err := unix.PtraceCont(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	b, _ := io.ReadAll(out)
	if exit != 9 || !strings.Contains(string(b), ErrTraced.Error()) {
		t.Errorf("exit %d, output %q", exit, b)
	}
}

func TestChildEndsWithParent(t *testing.T) {
	path, attr := ordinary(t)
	parent := start(t, attr, path, "role-parent")
	var child int
	for _, l := range append(parent.until(t, "CHILD"), parent.until(t, "READY")...) {
		if f := strings.Fields(l); f[0] == "CHILD" {
			child, _ = strconv.Atoi(f[1])
		}
	}
	fd, err := unix.PidfdOpen(child, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := parent.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// A pidfd becomes readable when its process has ended.
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, 10_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n != 1 {
			t.Fatalf("the child outlived its parent: %d %v", n, err)
		}
		return
	}
}

func TestRunner(t *testing.T) {
	self, err := Executable()
	if err != nil {
		t.Fatal(err)
	}
	inR, inW, _ := os.Pipe()
	outR, outW, _ := os.Pipe()
	defer outR.Close()
	if _, err := inW.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	inW.Close()
	exit, err := Runner{Path: self}.Run(t.Context(), inR, outW, "role-exit", "44")
	inR.Close()
	outW.Close()
	b, _ := io.ReadAll(outR)
	if exit != 44 || err != nil || string(b) != "hello" {
		t.Errorf("exit %d, %v, %q", exit, err, b)
	}
}

func TestRunnerKills(t *testing.T) {
	self, err := Executable()
	if err != nil {
		t.Fatal(err)
	}
	inR, inW, _ := os.Pipe()
	defer inR.Close()
	defer inW.Close()
	outR, outW, _ := os.Pipe()
	defer outR.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		// The helper is up and waits for input that never ends.
		_, _ = bufio.NewReader(outR).ReadString('\n')
		cancel()
	}()
	_, err = Runner{Path: self}.Run(ctx, inR, outW, "role-target")
	outW.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRunnerOfEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Runner{Path: "/nonexistent"}).Run(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	for name, path := range map[string]string{"relative": "program", "absent": "/nonexistent/program"} {
		t.Run(name, func(t *testing.T) {
			if p, err := Start(Command{Path: path}); err == nil {
				_, _ = p.Wait()
				t.Error("started")
			}
		})
	}
}

// TestManyFiles passes so many files that the descriptor the program is executed
// by would be overwritten if it were not moved.
func TestManyFiles(t *testing.T) {
	path, attr := ordinary(t)
	_ = attr
	var files []*os.File
	for range 40 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	p, err := Start(Command{Path: path, Args: []string{"role-exit", "7"}, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(); exit != 7 || err != nil {
		t.Errorf("exit %d, %v", exit, err)
	}
}

func TestSealedCopyCannotChange(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := sealedCopy(self, "program")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := unix.Pwrite(fd, []byte{0}, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("written: %v", err)
	}
	if err := unix.Ftruncate(fd, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("cut: %v", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&0o777 != 0o111 {
		t.Errorf("mode %o, %v", st.Mode, err)
	}
}

func TestSealedCopyRefusesForeignHands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if fd, err := sealedCopy(path, "program"); err == nil {
		unix.Close(fd)
		t.Error("a program that everybody may write was taken")
	}
}

func TestEnvironment(t *testing.T) {
	for entry, want := range map[string]bool{
		"DISPLAY=:0": true, "XAUTHORITY=/a": true, "WAYLAND_DISPLAY=w": true, "XDG_RUNTIME_DIR=/r": true, "HOME=/h": true,
		"DBUS_SESSION_BUS_ADDRESS=unix:": true, "LANG=C": true, "LC_ALL=C": true, "PATH=/bin": true, "TERM=x": true,
		"SSH_CONNECTION=1": true, "VAULT_SOCK=/s": true, "VAULT_SOCK_OWNER=u": true, "BROWSER=b": true, "KDE_SESSION_VERSION=6": true,
		"FYNE_SCALE=2": false, "GODEBUG=x": false, "GOTRACEBACK=crash": false, "GOGC=off": false, "GOMAXPROCS=1": false,
		"LD_PRELOAD=x": false, "LD_LIBRARY_PATH=x": false, "VAULT_SOCKET=x": false, "xdg_a=b": false, "nothing": false,
	} {
		if got := len(Environment([]string{entry})) == 1; got != want {
			t.Errorf("%s: kept %v, want %v", entry, got, want)
		}
	}
}

// BenchmarkStart measures a start from memory up to the child's end.
func BenchmarkStart(b *testing.B) {
	self, err := Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, err := Start(Command{Path: self, Args: []string{"role-exit", "0"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}
