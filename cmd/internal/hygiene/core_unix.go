//go:build unix && !linux

package hygiene

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func denyCore() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("harden: limit core dumps: %w", err)
	}
	return nil
}

func coreDenied() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil && limit.Cur == 0 && limit.Max == 0
}
