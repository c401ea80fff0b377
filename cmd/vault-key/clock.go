package main

import "time"

// systemClock is this machine's wall clock, and a clock that counts on while
// the wall clock is set.
type systemClock struct{ started time.Time }

func newClock() systemClock { return systemClock{time.Now()} }

// Now implements sign.Clock.
func (systemClock) Now() int64 { return time.Now().UnixMilli() }
