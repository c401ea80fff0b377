//go:build !linux

package approvals

import (
	"fmt"
	"time"
)

type systemClock struct {
	start time.Time
	id    string
}

// SystemClock is the clock of this machine. Where the system's boot-time clock
// is not read, the monotonic clock of this process stands in for it: it ends
// with the process, and on some systems it does not count sleep.
func SystemClock() Clock {
	now := time.Now()
	return systemClock{now, fmt.Sprintf("process-%d", now.UnixNano())}
}

func (systemClock) Now() int64 { return time.Now().UnixMilli() }

func (c systemClock) Boot() int64 { return time.Since(c.start).Milliseconds() }

func (c systemClock) BootID() string { return c.id }
