// Package span reads the instants and durations of Agent SoW documents: RFC
// 3339 instants that are real dates, and the fixed-length durations of section
// 5.12. It holds no clock and knows no clause.
package span

import (
	"errors"
	"math"
	"regexp"
	"time"
)

// Lengths in milliseconds.
const (
	Hour int64 = 3600000
	Day        = 24 * Hour
)

// The faults a duration is refused for.
var (
	ErrShape    = errors.New("duration is not of the form P2W, P3D, PT12H or P1DT12H")
	ErrCalendar = errors.New("duration is in months or years, which have no fixed length")
	ErrZero     = errors.New("duration is zero")
)

// ErrInstant is the fault of a text that is not an RFC 3339 instant or names
// no real date.
var ErrInstant = errors.New("not an RFC 3339 instant of a real date")

const maxDigits = 6 // of one component

// Duration reads a duration of section 5.12 into milliseconds: P, then either
// whole weeks alone, or days and, after T, hours, minutes, seconds in that
// order. Errors are ErrShape, ErrCalendar and ErrZero.
func Duration(s string) (int64, error) {
	if len(s) < 2 || s[0] != 'P' {
		return 0, ErrShape
	}
	var total int64
	last, clock := byte(0), false // the unit read last, and whether T was read
	for i := 1; i < len(s); {
		if s[i] == 'T' {
			if clock || last == 'W' || i+1 == len(s) {
				return 0, ErrShape
			}
			clock, last = true, 'T'
			i++
			continue
		}
		n, digits := int64(0), 0
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			if digits++; digits > maxDigits {
				return 0, ErrShape
			}
			n = n*10 + int64(s[i]-'0')
			i++
		}
		if digits == 0 || i == len(s) {
			return 0, ErrShape
		}
		unit := s[i]
		i++
		if !clock && (unit == 'M' || unit == 'Y') {
			return 0, ErrCalendar
		}
		ms, ok := scale(unit, last, clock)
		if !ok {
			return 0, ErrShape
		}
		total += n * ms // at most four components below 10^6 weeks
		last = unit
	}
	if total == 0 {
		return 0, ErrZero
	}
	return total, nil
}

// scale gives a unit's length if it may follow the last one read.
func scale(unit, last byte, clock bool) (int64, bool) {
	switch {
	case !clock && unit == 'W':
		return 7 * Day, last == 0
	case !clock && unit == 'D':
		return Day, last == 0
	case clock && unit == 'H':
		return Hour, last == 'T'
	case clock && unit == 'M':
		return 60000, last == 'T' || last == 'H'
	case clock && unit == 'S':
		return 1000, last != 'S'
	}
	return 0, false
}

// The offset is bounded here because the parser of time allows more than RFC 3339.
var instant = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)

// Instant reads an RFC 3339 instant into milliseconds since the epoch, cutting
// finer fractions. A date that does not exist is ErrInstant, and so is
// everything else that is not an instant.
func Instant(s string) (int64, error) {
	if !instant.MatchString(s) {
		return 0, ErrInstant
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, ErrInstant
	}
	return t.UnixMilli(), nil
}

// UTC writes milliseconds since the epoch as an instant of whole seconds with
// Z, as the family's documents do.
func UTC(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05Z") }

// AddDays adds whole days to an instant, both in milliseconds. It stops at the
// largest instant instead of wrapping.
func AddDays(ms, days int64) int64 { return add(ms, days, Day) }

// AddHours adds whole hours to an instant, as AddDays does days.
func AddHours(ms, hours int64) int64 { return add(ms, hours, Hour) }

func add(ms, n, unit int64) int64 {
	if n > (math.MaxInt64-max(ms, 0))/unit {
		return math.MaxInt64
	}
	return ms + n*unit
}

// ReleaseAt is the instant at which a reservation is released (5.5.4).
func ReleaseAt(startsAt, windowDays int64) int64 { return AddDays(startsAt, windowDays) }

// Within reports that a reservation's window ends inside the term; ending with
// it is inside (5.5.4).
func Within(startsAt, windowDays, endsAt int64) bool {
	return ReleaseAt(startsAt, windowDays) <= endsAt
}

// Closed reports that an end instant has come: the instant itself is past the
// end (12.1.1).
func Closed(end, now int64) bool { return now >= end }
