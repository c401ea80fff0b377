package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// isVault says whether a process calls itself one of the vault's programs.
func isVault(dir string) bool {
	comm, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return false
	}
	// A program that runs from memory is called by its descriptor; its first argument
	// says which it is. An agent's command is not one of the vault's processes.
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	args := strings.Split(string(line), "\x00")
	if err == nil && len(args) > 1 {
		base := filepath.Base(args[0])
		return base == "vault-key" || base == "vault" && args[1] != "agent"
	}
	name := strings.TrimSpace(string(comm))
	return name == "vault" || name == "vault-key"
}

// each calls f with the folder of every process of the vault but this one.
func each(f func(dir string)) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return
	}
	self := fmt.Sprintf("/proc/%d", os.Getpid())
	for _, dir := range dirs {
		if dir != self && isVault(dir) {
			f(dir)
		}
	}
}

// opens says whether this process could read the memory of another.
func opens(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "mem"))
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// vaultProcesses counts the vault's processes that can be seen, and those whose
// memory this process could read.
func vaultProcesses() (seen, readable int) {
	each(func(dir string) {
		seen++
		if opens(dir) {
			readable++
		}
	})
	return seen, readable
}

// others looks at the vault's other running processes.
func others() []Finding {
	seen, readable := vaultProcesses()
	switch {
	case seen == 0:
		return []Finding{{"vault's processes", Note, "No other process of the vault runs.", ""}}
	case readable == 0:
		return []Finding{{"vault's processes", Works, fmt.Sprintf("%d run; none of them can be read from here.", seen), ""}}
	case os.Geteuid() == 0:
		return []Finding{{"vault's processes", Note, fmt.Sprintf("%d run; this was asked by the administrator, who can read every process.", seen), "Run vault doctor as an ordinary user."}}
	default:
		return []Finding{{"vault's processes", Missing, fmt.Sprintf("%d of %d can be read by programs of this account.", readable, seen), "Lock the vault, and see the line of this process."}}
	}
}

// kernel looks at what the kernel gives.
func kernel() []Finding {
	var out []Finding
	fd, err := unix.MemfdSecret(unix.O_CLOEXEC)
	if err == nil {
		_ = unix.Close(fd) // it was only asked whether it can be made
		out = append(out, Finding{"memfd_secret", Works, "The root lies in memory that even the kernel's own readers cannot reach.", ""})
	} else {
		out = append(out, Finding{"memfd_secret", Note, "The kernel has no memfd_secret; the root lies in locked memory.", "Boot with secretmem.enable=1, on a kernel that has it."})
	}
	switch scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); {
	case err == nil && strings.TrimSpace(string(scope)) == "0":
		out = append(out, Finding{"ptrace", Note, "The kernel lets programs of an account trace each other; the vault's own processes are closed by other means.", "Set kernel.yama.ptrace_scope to 1."})
	case err == nil:
		out = append(out, Finding{"ptrace", Works, "The kernel lets a program trace its own children only.", ""})
	case errors.Is(err, fs.ErrNotExist):
		out = append(out, Finding{"ptrace", Note, "The kernel has no rule of its own on tracing (Yama); the vault's own processes are closed by other means.", ""})
	}
	return out
}
