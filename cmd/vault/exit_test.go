package main

import (
	"errors"
	"os/exec"
)

func asExit(err error, exit **exec.ExitError) bool { return errors.As(err, exit) }
