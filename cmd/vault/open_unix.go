//go:build unix

package main

import "syscall"

// noWait keeps opening a name from waiting, should it have become a pipe.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY
