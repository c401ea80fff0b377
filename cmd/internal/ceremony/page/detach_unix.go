//go:build unix

package page

import (
	"os/exec"
	"syscall"
)

// detach starts the program in a session of its own, so that what a terminal
// sends to the vault does not reach the owner's browser.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killAll ends the program and what it started in its session's first group. It is
// called while the program has not been seen to end, so that the number is its own.
func killAll(cmd *exec.Cmd) {
	// It may have ended by now, and then there is nothing to do.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
