package span_test

import (
	"errors"
	"math"
	"testing"

	"vault/approvals/sow/span"
)

func TestDuration(t *testing.T) {
	for text, ms := range map[string]int64{
		"P1W": 604800000, "P3D": 259200000, "PT12H": 43200000, "PT45M": 2700000, "PT45S": 45000,
		"P1DT12H": 129600000, "P1DT1H1M1S": 86400000 + 3661000, "PT1H1S": 3601000,
		"P999999W": 604799395200000, "P0DT1S": 1000, "P000001D": 86400000,
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := span.Duration(text); err != nil || got != ms {
				t.Errorf("got %d, %v, want %d", got, err, ms)
			}
		})
	}
	for text, want := range map[string]error{
		"P1M": span.ErrCalendar, "P1Y": span.ErrCalendar, "P1Y2D": span.ErrCalendar,
		"PT0S": span.ErrZero, "P0W": span.ErrZero, "P0DT0H": span.ErrZero,
		"": span.ErrShape, "P": span.ErrShape, "PT": span.ErrShape, "P1DT": span.ErrShape, "1W": span.ErrShape,
		"P1.5D": span.ErrShape, "p1w": span.ErrShape, "P1w": span.ErrShape, "-P1D": span.ErrShape, "P-1D": span.ErrShape,
		"PT1M2H": span.ErrShape, "PT1H1H": span.ErrShape, "P1W1D": span.ErrShape, "P1D1W": span.ErrShape,
		"P1WT1H": span.ErrShape, "P1D1D": span.ErrShape, "PT1W": span.ErrShape, "PT1D": span.ErrShape, "P1H": span.ErrShape,
		"P1000000D": span.ErrShape, "P 1D": span.ErrShape, "P1D ": span.ErrShape, "PT1S1M": span.ErrShape, "P1": span.ErrShape,
		"PTT1S": span.ErrShape, "P١D": span.ErrShape,
	} {
		t.Run("refused "+text, func(t *testing.T) {
			if got, err := span.Duration(text); !errors.Is(err, want) {
				t.Errorf("got %d, %v, want %v", got, err, want)
			}
		})
	}
}

func TestInstant(t *testing.T) {
	for text, ms := range map[string]int64{
		"1970-01-01T00:00:01Z": 1000, "2026-09-20T02:00:00+02:00": 1789862400000, "2026-09-20T00:00:00.5Z": 1789862400500,
		"2024-02-29T00:00:00Z": 1709164800000,
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := span.Instant(text); err != nil || got != ms {
				t.Errorf("got %d, %v, want %d", got, err, ms)
			}
		})
	}
	for _, text := range []string{
		"", "20 September", "2026-09-20", "2026-13-45T00:00:00Z", "2026-02-29T00:00:00Z", "2026-09-20T25:00:00Z",
		"2026-09-20T00:00:60Z", "2026-09-20t00:00:00z", "2026-09-20T00:00:00", "2026-09-20T00:00:00,5Z", " 2026-09-20T00:00:00Z",
		"2026-9-20T00:00:00Z", "2026-09-20T00:00:00+25:00", "2026-09-20T00:00:00+24:00",
		"2026-09-20T00:00:00-24:30", "2026-09-20T00:00:00+23:60", "2026-09-20T24:00:00Z", "2026-09-20T00:00:00.Z", "2026-00-20T00:00:00Z",
		"2026-04-31T00:00:00Z", "2100-02-29T00:00:00Z", "2026-09-20T00:60:00Z", "٢٠٢٦-09-20T00:00:00Z", "2026-09-20T00:00:00Z\n",
	} {
		t.Run("refused "+text, func(t *testing.T) {
			if got, err := span.Instant(text); !errors.Is(err, span.ErrInstant) {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestDays(t *testing.T) {
	if got := span.AddDays(0, 2); got != 2*span.Day {
		t.Errorf("two days are %d", got)
	}
	if got := span.AddDays(1789862400000, 1<<53-1); got != math.MaxInt64 {
		t.Errorf("a window past the end of time ends at %d", got)
	}
	if got := span.AddHours(5, 24); got != span.Day+5 {
		t.Errorf("a day's notice ends at %d", got)
	}
	if got := span.AddHours(1789862400000, 1<<53-1); got != math.MaxInt64 {
		t.Errorf("a notice past the end of time ends at %d", got)
	}
	if !span.Within(0, 2, 2*span.Day) || span.Within(1, 2, 2*span.Day) {
		t.Error("a window that ends with the term is inside it, one millisecond later is not")
	}
	if !span.Closed(5, 5) || span.Closed(5, 4) {
		t.Error("an end is closed from its own instant on")
	}
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"P1W", "P1DT12H", "PT1M2H", "P999999DT999999H999999M999999S", "P0W", "P1M"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, err := span.Duration(s)
		if (err == nil) != (ms > 0) {
			t.Fatalf("%q: %d, %v", s, ms, err)
		}
		if ms%1000 != 0 || ms > 4*604799395200000 {
			t.Fatalf("%q: %d milliseconds", s, ms)
		}
	})
}

// FuzzInstant: what is an instant is one in every other spelling too, and its
// own text in whole seconds is read back as the same.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{"2026-09-20T02:00:00+02:00", "1970-01-01T00:00:00.9999Z", "0000-02-29T23:59:59-23:59", "2026-13-01T00:00:00Z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, err := span.Instant(s)
		if err != nil {
			return
		}
		if again, err := span.Instant(span.UTC(ms)); ms >= span.AddDays(0, -719528) && (err != nil || again > ms || ms-again >= 1000) {
			t.Fatalf("%q is %d, and written %q is %d, %v", s, ms, span.UTC(ms), again, err)
		}
	})
}
