package approvals

// Clock is the desk's only source of time. Limits end by the wall clock or by
// the boot-time clock, whichever comes first, so that neither a clock that is
// set back nor a machine that sleeps lengthens them.
type Clock interface {
	// Now is the wall clock, milliseconds since epoch.
	Now() int64
	// Boot is the time since the system started, sleep included, in milliseconds.
	Boot() int64
	// BootID names the boot in which Boot counts, or is empty where it cannot be told.
	BootID() string
}

// deadline is an end by both clocks. The zero deadline never comes.
type deadline struct {
	wall int64 // last instant, milliseconds since epoch
	boot int64 // last instant by the boot-time clock; 0 where it is not known
	id   string
}

// endIn is the deadline that lies so many milliseconds ahead.
func endIn(c Clock, ms int64) deadline {
	return deadline{c.Now() + ms, c.Boot() + ms, c.BootID()}
}

// endAt is the deadline at an instant of the wall clock.
func endAt(c Clock, wall int64) deadline {
	return endIn(c, wall-c.Now())
}

// passed says whether the deadline lies behind. The boot clock of another boot
// tells nothing.
func (d deadline) passed(c Clock) bool {
	if d.wall == 0 {
		return false
	}
	return c.Now() > d.wall || d.id != "" && d.id == c.BootID() && c.Boot() > d.boot
}

// longPassed says whether the deadline lies more than ms behind by both clocks: what is done for good because of it must
// not hang on a wall clock that jumped ahead. What is known of another boot is not enough.
func (d deadline) longPassed(c Clock, ms int64) bool {
	return d.wall != 0 && c.Now()-ms > d.wall && d.id == c.BootID() && c.Boot()-ms > d.boot
}

// left is how many milliseconds remain, at least 0.
func (d deadline) left(c Clock) int64 {
	ms := d.wall - c.Now()
	if d.id != "" && d.id == c.BootID() {
		ms = min(ms, d.boot-c.Boot())
	}
	return max(0, ms)
}
