package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boot implements sign.Clock: milliseconds since the system started, sleep included.
func (c systemClock) Boot() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return time.Since(c.started).Milliseconds()
	}
	return t.Nano() / 1e6
}
