//go:build !linux

package main

import "time"

// Boot implements sign.Clock with the runtime's monotonic clock, which on some
// systems stands still while the machine sleeps; the wall clock then decides.
func (c systemClock) Boot() int64 { return time.Since(c.started).Milliseconds() }
