//go:build unix

package approvals_test

import (
	"syscall"
	"testing"
	"time"
)

// used is the processor time of this process so far: it is changed less than the time on
// the wall by what else the machine does.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
