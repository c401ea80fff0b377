package jcs

import (
	"math"
	"strconv"
	"strings"
)

// maxInteger is 2^53-1, the largest integer that every JSON reader keeps.
const maxInteger = 1<<53 - 1

// decimal is the exact value of a JSON number: digits × 10^exp, where digits
// has neither leading nor trailing zeros and is empty for zero.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// maxExponent bounds exponents while they are read; what is beyond is beyond
// every profile anyway.
const maxExponent = 1 << 30

// readDecimal reads a literal that is already known to be a JSON number.
func readDecimal(lit string) decimal {
	var d decimal
	if lit[0] == '-' {
		d.neg, lit = true, lit[1:]
	}
	mantissa, exponent := lit, ""
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		mantissa, exponent = lit[:i], lit[i+1:]
	}
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > maxExponent || e < -maxExponent {
			e = maxExponent
			if exponent[0] == '-' {
				e = -maxExponent
			}
		}
		d.exp = e
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	d.exp -= len(frac)
	trimmed := strings.TrimRight(digits, "0")
	d.exp += len(digits) - len(trimmed)
	d.digits = trimmed
	if trimmed == "" {
		d.exp = 0
	}
	return d
}

// integer returns the value if it is an integer within ±(2^53-1).
func (d decimal) integer() (int64, bool) {
	if d.digits == "" {
		return 0, true
	}
	if d.exp < 0 || d.exp > 16 || len(d.digits)+d.exp > 16 {
		return 0, false
	}
	n, err := strconv.ParseInt(d.digits+strings.Repeat("0", d.exp), 10, 64)
	if err != nil || n > maxInteger {
		return 0, false
	}
	if d.neg {
		n = -n
	}
	return n, true
}

// canonicalNumber returns the text RFC 8785 gives a JSON number literal, and
// false with a reason if the profile does not allow the number.
func canonicalNumber(lit string, p Profile) (text, reason string, ok bool) {
	if plainInteger(lit) {
		return lit, "", true
	}
	d := readDecimal(lit)
	switch p {
	case Binding, AgentEnvelope:
		n, ok := d.integer()
		if !ok {
			return "", "not an integer within ±(2^53-1)", false
		}
		if p == AgentEnvelope && n == 0 && d.neg {
			return "", "negative zero", false
		}
		return strconv.FormatInt(n, 10), "", true
	case SoW:
		if d.digits == "" {
			return "0", "", true
		}
		f, err := strconv.ParseFloat(lit, 64)
		if err != nil || math.IsInf(f, 0) {
			return "", "not a finite number", false
		}
		text := ecmaNumber(f)
		if readDecimal(text) != d {
			return "", "more precise than a double", false
		}
		return text, "", true
	}
	return "", "unknown profile", false
}

// plainInteger reports a literal that is its own canonical form in every
// profile: an integer of at most 15 digits.
func plainInteger(lit string) bool {
	digits := strings.TrimPrefix(lit, "-")
	if len(digits) > 15 || (digits == "0" && len(lit) == 2) {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// ecmaNumber writes a finite non-zero double as ECMAScript's Number::toString
// does (RFC 8785 section 3.2.2.3).
func ecmaNumber(f float64) string {
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	b := strconv.AppendFloat(nil, f, format, -1, 64)
	if format == 'e' {
		// Go writes e-09 where ECMAScript writes e-9.
		if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-2] == '0' {
			b[n-2] = b[n-1]
			b = b[:n-1]
		}
	}
	return string(b)
}
