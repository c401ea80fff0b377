package approvals

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

type systemClock struct{ bootID string }

// SystemClock is the clock of this machine.
func SystemClock() Clock {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return systemClock{}
	}
	return systemClock{strings.TrimSpace(string(id))}
}

func (systemClock) Now() int64 { return time.Now().UnixMilli() }

func (systemClock) Boot() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0
	}
	return t.Nano() / 1e6
}

func (c systemClock) BootID() string { return c.bootID }
