package tty

import "golang.org/x/sys/unix"

func flushInput(fd int) error {
	const readSide = 1 // FREAD of sys/fcntl.h
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, readSide)
}
