package sign

// clock reads the wall clock and, from the instant the vault was opened on, the
// boot-time clock: a window or a grant ends by whichever is first, so that
// setting a clock back lengthens nothing.
type clock struct {
	source Clock
	offset int64 // wall minus boot at the opening
}

func newClock(c Clock) clock { return clock{c, c.Now() - c.Boot()} }

// early and late are the two clocks' readings in order: what begins has begun
// by both, what ends has ended by either.
func (c clock) read() (early, late int64) {
	wall, boot := c.source.Now(), c.source.Boot()+c.offset
	return min(wall, boot), max(wall, boot)
}

// instant is one instant by both clocks.
type instant struct{ wall, boot int64 } // milliseconds

// after is what lies ms after wall, which is now or was just now.
func (c clock) after(wall, ms int64) instant { return instant{wall + ms, c.source.Boot() + ms} }

// reached says whether it is there by either clock. Each is compared with its own reading: a wall clock that was set
// back since the opening makes nothing end before it began.
func (c clock) reached(i instant) bool { return c.source.Now() >= i.wall || c.source.Boot() >= i.boot }
