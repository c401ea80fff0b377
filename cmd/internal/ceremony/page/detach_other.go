//go:build !unix

package page

import "os/exec"

func detach(*exec.Cmd) {}

// killAll ends the program.
func killAll(cmd *exec.Cmd) {
	// It may have ended by now, and then there is nothing to do.
	_ = cmd.Process.Kill()
}
