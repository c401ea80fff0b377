package hygiene

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	selfExe     = "/proc/self/exe"
	memfdPrefix = "/memfd:"
	// memfdExec is MFD_EXEC: this memory may be executed. Kernels before 6.3 do not know it.
	memfdExec = 0x10
)

// Harden closes this process to other programs of the account and cleans its
// environment. It is the first call in main; args is os.Args.
//
// Where that needs a new start of the program it does not return: the program
// begins again, with the same process id, arguments and open files, closed from
// its first instruction on. Where the system does not allow that, it closes the
// process from inside and goes on; [Status] says so. [ErrTraced] says that a
// tracer is attached, and the program must end. In a process that [Start]
// started it also begins to watch for the end of the parent.
func Harden(args []string) error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("harden: limit core dumps: %w", err)
	}
	// A tracer that is here already is refused before the restart: whether it
	// survives that depends on which thread executes the new program.
	if err := refuseTracer(); err != nil {
		return err
	}
	open, err := dumpable()
	if err != nil {
		return fmt.Errorf("harden: %w", err)
	}
	// These return only where the system refuses, and then what follows holds.
	if open && !fromMemory() {
		restartSealed(args)
	}
	if !cleanEnvironment() {
		restartClean(args)
	}
	if open {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return fmt.Errorf("harden: close process: %w", err)
		}
	}
	// From here on nobody can attach; who is attached came before.
	if err := refuseTracer(); err != nil {
		return err
	}
	return holdLifeline()
}

// refuseTracer returns ErrTraced where a tracer is attached.
func refuseTracer() error {
	is, err := traced()
	switch {
	case err != nil:
		return fmt.Errorf("harden: %w", err)
	case is:
		return ErrTraced
	}
	return nil
}

// restartSealed begins the program again from a sealed copy in memory.
func restartSealed(args []string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	fd, err := sealedCopy(selfExe, filepath.Base(self))
	if err != nil {
		return
	}
	argv := append([]string{self}, args[min(1, len(args)):]...)
	// Exec returns only with an error, which leaves this process as it was.
	_ = syscall.Exec(fdPath(fd), argv, Environment(os.Environ()))
	_ = unix.Close(fd)
}

// restartClean begins the program again with the variables that may stay.
func restartClean(args []string) {
	self, err := Executable()
	if err != nil {
		return
	}
	_ = syscall.Exec(selfExe, append([]string{self}, args[min(1, len(args)):]...), Environment(os.Environ()))
}

// sealedCopy returns a descriptor of a copy in memory of the program at path:
// its bytes can no longer change, and its owner may execute and not read it.
func sealedCopy(path, name string) (fd int, err error) {
	src, err := os.Open(path)
	if err != nil {
		return -1, err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return -1, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o002 != 0 {
		return -1, fmt.Errorf("%s is not a regular file, or everybody may write it", name)
	}
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|memfdExec)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return -1, fmt.Errorf("make memory file: %w", err)
	}
	if err := fillAndSeal(fd, src); err != nil {
		return -1, errors.Join(fmt.Errorf("seal copy of %s: %w", name, err), unix.Close(fd))
	}
	return fd, nil
}

func fillAndSeal(fd int, src *os.File) error {
	buf := make([]byte, 1<<20)
	for {
		n, err := src.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			k, err := unix.Write(fd, b)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil {
				return err
			}
			b = b[k:]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := unix.Fchmod(fd, 0o111); err != nil {
		return err
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	return err
}

func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Start starts a program of the vault so that it is closed from its first
// instruction on, with a clean environment and the files of c. Where the system
// does not allow that it is started from disk and closes itself in [Harden].
func Start(c Command) (*Process, error) {
	if !filepath.IsAbs(c.Path) {
		return nil, errors.New("start program: its path is not absolute")
	}
	null, err := standard(&c)
	if err != nil {
		return nil, fmt.Errorf("start program: %w", err)
	}
	defer null.Close()
	line, held, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start program: %w", err)
	}
	defer line.Close()
	files := append(append([]*os.File(nil), c.Files...), line)
	env := slicesWithout(Environment(os.Environ()), lifelineVar)
	env = append(env, lifelineVar+"="+strconv.Itoa(2+len(files)))
	build := func(program string) *exec.Cmd {
		return &exec.Cmd{
			Path: program, Args: append([]string{c.Path}, c.Args...), Env: env,
			Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, ExtraFiles: files,
		}
	}
	cmd, err := startClosed(c, files, build)
	if err != nil {
		cmd = build(c.Path)
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start program: %w", errors.Join(err, held.Close()))
	}
	return &Process{cmd: cmd, lifeline: held}, nil
}

// startClosed starts the program from memory.
func startClosed(c Command, files []*os.File, build func(string) *exec.Cmd) (*exec.Cmd, error) {
	// A process that runs from memory executes that memory again: the file on
	// disk may be another one by now, and it need not be copied.
	if self, err := Executable(); err == nil && self == c.Path && fromMemory() {
		cmd := build(selfExe)
		return cmd, cmd.Start()
	}
	fd, err := sealedCopy(c.Path, filepath.Base(c.Path))
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	// In the child the files move to 0, 1, 2, 3 … before the program is executed
	// by its descriptor, which therefore has to lie above all that they pass.
	above := 0
	for _, f := range append([]*os.File{c.Stdin, c.Stdout, c.Stderr}, files...) {
		above = max(above, int(f.Fd()))
	}
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, above+2*(len(files)+3)+8)
	if err != nil {
		return nil, err
	}
	defer unix.Close(high)
	cmd := build(fdPath(high))
	return cmd, cmd.Start()
}

func slicesWithout(env []string, name string) []string {
	var out []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return out
}

// holdLifeline ends this process when its parent ends, where [Start] started it.
func holdLifeline() error {
	text, ok := os.LookupEnv(lifelineVar)
	if !ok {
		return nil
	}
	if err := os.Unsetenv(lifelineVar); err != nil {
		return fmt.Errorf("harden: %w", err)
	}
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return errors.New("harden: the lifeline is not a descriptor")
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return errors.New("harden: the lifeline is not a pipe")
	}
	unix.CloseOnExec(fd)
	go func() {
		var b [1]byte
		for {
			if _, err := unix.Read(fd, b[:]); !errors.Is(err, unix.EINTR) {
				os.Exit(exitOrphan)
			}
		}
	}()
	return nil
}

// Executable returns the path on disk of this program, also when it runs from
// memory: then it is the name that its first start, or the process that started
// it, gave it, an absolute path.
func Executable() (string, error) {
	if !fromMemory() {
		return os.Executable()
	}
	if len(os.Args) == 0 || !filepath.IsAbs(os.Args[0]) {
		return "", errors.New("find program: it runs from memory without a name of its own")
	}
	return os.Args[0], nil
}

// fromMemory says whether this program runs from a memory file.
func fromMemory() bool {
	link, err := os.Readlink(selfExe)
	return err == nil && strings.HasPrefix(link, memfdPrefix)
}

// dumpable says whether other programs of the account may look into this process.
func dumpable() (bool, error) {
	n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		return true, fmt.Errorf("ask whether the process is closed: %w", err)
	}
	return n == 1, nil
}

func traced() (bool, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false, fmt.Errorf("ask for a tracer: %w", err)
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("TracerPid:")); ok {
			return string(bytes.TrimSpace(rest)) != "0", nil
		}
	}
	return false, errors.New("ask for a tracer: the kernel does not say")
}

// Status asks the kernel what holds for this process now.
func Status() Report {
	r := Report{Closed: ClosedNever, CleanEnvironment: cleanEnvironment()}
	var limit unix.Rlimit
	r.NoCore = unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil && limit.Cur == 0 && limit.Max == 0
	if is, err := traced(); err != nil || is {
		r.Traced = true
	}
	open, err := dumpable()
	switch {
	case err != nil:
		r.Reason = "the kernel does not say whether other programs can read this one"
	case open:
		r.Reason = "this process was not hardened"
	default:
		r.Closed, r.Reason = closedSince()
	}
	return r
}

// closedSince tells a process that was born closed from one that closed itself:
// only the first runs from a file that it may not read.
func closedSince() (Closed, string) {
	f, err := os.Open(selfExe)
	if errors.Is(err, os.ErrPermission) {
		return ClosedBorn, ""
	}
	if err == nil {
		_ = f.Close()
	}
	if os.Geteuid() == 0 {
		return ClosedLate, "the administrator can read every file, so the program could not be made unreadable"
	}
	return ClosedLate, "this system does not execute programs from memory"
}
