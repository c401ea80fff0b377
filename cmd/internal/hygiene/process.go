package hygiene

import (
	"errors"
	"os"
	"os/exec"
)

// Process is a started program of the vault. It ends when this process ends, by
// whatever means: it holds the reading end of a pipe whose writing end only this
// process has, and leaves when that closes. (The parent-death signal of Linux
// follows the thread that started the child, so it would come too early.) A
// lasting child should also end when its own line to the parent closes.
type Process struct {
	cmd      *exec.Cmd
	lifeline *os.File
}

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill ends the process at once; [os.ErrProcessDone] says that it had ended.
func (p *Process) Kill() error { return p.cmd.Process.Kill() }

// Wait blocks until the process has ended and returns its exit code, -1 where a
// signal ended it. It is called once.
func (p *Process) Wait() (int, error) {
	err := p.cmd.Wait()
	closed := p.lifeline.Close()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), closed
	}
	return 0, errors.Join(err, closed)
}

// standard fills in the null device where a standard file is nil, so that every
// descriptor the child gets is known before it is started.
func standard(c *Command) (null *os.File, err error) {
	null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	for _, f := range []**os.File{&c.Stdin, &c.Stdout, &c.Stderr} {
		if *f == nil {
			*f = null
		}
	}
	return null, nil
}
