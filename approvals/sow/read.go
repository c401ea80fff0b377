package sow

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// at joins a path and a member's name.
func at(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// blank reports a text that is empty or only whitespace, as ECMAScript's trim
// sees it.
func blank(s string) bool {
	return strings.TrimFunc(s, func(r rune) bool {
		return r == '\t' || r == '\n' || r == '\v' || r == '\f' || r == '\r' || r == 0xfeff ||
			r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Zs, r)
	}) == ""
}

// units is a text's length in UTF-16 code units.
func units(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func isText(v jcs.Value) bool { return v.Kind() == jcs.String }

// filled reports a text that is not blank.
func filled(v jcs.Value) bool { return isText(v) && !blank(v.Text()) }

// prose reports a text that is not blank and at most n code units long.
func prose(v jcs.Value, n int) bool { return filled(v) && units(v.Text()) <= n }

// nonEmpty reports a text with at least one character.
func nonEmpty(v jcs.Value) bool { return isText(v) && v.Text() != "" }

func matches(v jcs.Value, re *regexp.Regexp) bool { return isText(v) && re.MatchString(v.Text()) }

// posint reads a whole number from 1 to 2^53-1.
func posint(v jcs.Value) (int64, bool) {
	n, ok := v.Int()
	return n, ok && n > 0
}

// nonneg reads a whole number from 0 to 2^53-1.
func nonneg(v jcs.Value) (int64, bool) {
	n, ok := v.Int()
	return n, ok && n >= 0
}

func isPos(v jcs.Value) bool { _, ok := posint(v); return ok }
func isNat(v jcs.Value) bool { _, ok := nonneg(v); return ok }

// instantOf reads a text as an instant in milliseconds.
func instantOf(v jcs.Value) (int64, bool) {
	if !isText(v) {
		return 0, false
	}
	ms, err := span.Instant(v.Text())
	return ms, err == nil
}

func isInstant(v jcs.Value) bool { _, ok := instantOf(v); return ok }

// among reports a text that is one of the names.
func among(v jcs.Value, names ...string) bool {
	if !isText(v) {
		return false
	}
	for _, n := range names {
		if v.Text() == n {
			return true
		}
	}
	return false
}

// texts reads a list of texts, and false if it is not one.
func texts(v jcs.Value) (out []string, ok bool) {
	if v.Kind() != jcs.Array {
		return nil, false
	}
	for _, x := range v.Items() {
		if !isText(x) {
			return nil, false
		}
		out = append(out, x.Text())
	}
	return out, true
}

// places reads a list of jurisdictions: texts that are not blank.
func places(v jcs.Value) ([]string, bool) {
	list, ok := texts(v)
	for _, s := range list {
		ok = ok && !blank(s)
	}
	return list, ok
}

var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	meterForm    = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	slugForm     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	orgForm      = regexp.MustCompile(`^org_[A-Za-z0-9_-]{1,64}$`)
	mandateForm  = regexp.MustCompile(`^mnd_[A-Za-z0-9_-]{1,64}$`)
	digestForm   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	hexForm      = regexp.MustCompile(`^[0-9a-f]{64}$`)
	keyForm      = regexp.MustCompile(`^U[A-Z2-7]{55}$`)
)

// The grades (section 3).
const (
	Enforced = "enforced"
	Evidence = "evidence"
	Recorded = "recorded"
)

// rank orders the grades; 0 is none of them.
func rank(grade string) int {
	switch grade {
	case Recorded:
		return 1
	case Evidence:
		return 2
	case Enforced:
		return 3
	}
	return 0
}

// known reports that the grade at v is one, and adds what is wrong.
func (c *checker) known(v jcs.Value, path string) bool { return c.knownGrade(v.Get("grade"), path) }

func (c *checker) knownGrade(g jcs.Value, path string) bool {
	if !g.Exists() {
		c.add("grade_missing", at(path, "grade"))
		return false
	}
	return c.need(isText(g) && rank(g.Text()) > 0, "grade_unknown", path, "grade")
}

// atMost checks a grade against the highest a rule allows: higher is an error
// of that code, lower an info.
func (c *checker) atMost(v jcs.Value, path, highest string, code Code) {
	if !c.known(v, path) {
		return
	}
	switch g := rank(v.Get("grade").Text()); {
	case g > rank(highest):
		c.add(code, at(path, "grade"))
	case g < rank(highest):
		c.lower(code, at(path, "grade"))
	}
}

// exactly checks a grade that the conformance data pins.
func (c *checker) exactly(v jcs.Value, path, grade string, code Code) {
	if c.known(v, path) && v.Get("grade").Text() != grade {
		c.add(code, at(path, "grade"))
	}
}

// unique reports false and adds the code for the second use of a key.
func (c *checker) unique(seen map[string]bool, key string, code Code, path string, names ...string) {
	before := len(seen)
	seen[key] = true
	c.need(len(seen) > before, code, path, names...)
}

func validInstant(s string) bool {
	_, err := span.Instant(s)
	return err == nil
}
