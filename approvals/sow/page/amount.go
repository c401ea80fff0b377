package page

import (
	"strings"
	"time"

	"vault/approvals/sow/span"
	"vault/approvals/sow/units"
	"vault/derive/jcs"
)

// Money writes an amount of the smallest unit with its currency, as pages do.
// Text of a currency the vault does not know is made plain.
func Money(n int64, code string) string {
	return String(currencyOf(code).amount(n))
}

// currency is the money of one clause.
type currency struct {
	code  string
	scale int
	known bool
}

func currencyOf(code string) currency {
	scale, known := units.Of(code)
	return currency{code, scale, known}
}

// number writes an amount without its currency.
func (c currency) number(n int64) string {
	if !c.known {
		return units.Number(n)
	}
	return units.Decimal(n, c.scale)
}

// unit is what stands behind the number.
func (c currency) unit() []Span {
	switch {
	case c.code == "":
		return own("of no stated currency")
	case c.known:
		return own(c.code)
	}
	return join(own("smallest units of "), outside(c.code))
}

// amount writes an amount with its currency.
func (c currency) amount(n int64) []Span {
	return join(own(c.number(n)+" "), c.unit())
}

// plural writes a count with its unit.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return units.Number(n) + " " + many
}

// Day writes the day of an instant in UTC: 31 December 2026.
func Day(ms int64) string { return time.UnixMilli(ms).UTC().Format("2 January 2006") }

// At writes an instant in UTC, with seconds only where there are some.
func At(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	form := "2 January 2006, 15:04"
	if t.Second() != 0 {
		form = "2 January 2006, 15:04:05"
	}
	return t.Format(form) + " UTC"
}

// instant writes a stated instant, and also the way it is spelt where that is
// not the plain one.
func instant(v jcs.Value) ([]Span, bool) {
	if v.Kind() != jcs.String {
		return nil, false
	}
	ms, err := span.Instant(v.Text())
	if err != nil {
		return nil, false
	}
	out := own(At(ms))
	if span.UTC(ms) != v.Text() {
		out = join(out, own(", written "), code(v.Text()))
	}
	return out, true
}

// duration writes a duration in words, with its spelling.
func duration(v jcs.Value) ([]Span, bool) {
	if v.Kind() != jcs.String {
		return nil, false
	}
	ms, err := span.Duration(v.Text())
	if err != nil {
		return nil, false
	}
	return join(own(Length(ms)+" ("), code(v.Text()), own(")")), true
}

// Length writes a length of time in milliseconds in words.
func Length(ms int64) string {
	if ms > 0 && ms%(7*span.Day) == 0 {
		return plural(ms/(7*span.Day), "week", "weeks")
	}
	var parts []string
	for _, u := range []struct {
		ms        int64
		one, many string
	}{{span.Day, "day", "days"}, {span.Hour, "hour", "hours"}, {60000, "minute", "minutes"}, {1000, "second", "seconds"}} {
		if n := ms / u.ms; n > 0 {
			parts = append(parts, plural(n, u.one, u.many))
			ms %= u.ms
		}
	}
	if len(parts) == 0 {
		return "no time"
	}
	return strings.Join(parts, " ")
}
