// Package strict reads the vault's own documents: objects whose members are
// exactly known, in canonical bytes. It knows no kind of document.
package strict

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"vault/derive/jcs"
)

// Object is an object that is being read member by member. The first fault is
// kept; Done returns it, or says that there are members nobody asked for.
type Object struct {
	v     jcs.Value
	read  int
	fault string
}

// Parse reads bytes that must be the canonical form of one object under the
// binding profile.
func Parse(raw []byte) (*Object, error) {
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return nil, err
	}
	if v.Kind() != jcs.Object {
		return nil, errors.New("not an object")
	}
	if !bytes.Equal(v.Canonical(), raw) {
		return nil, errors.New("bytes are not in canonical form")
	}
	return &Object{v: v}, nil
}

// Sub reads the member as an object of its own, to be finished on its own.
func (o *Object) Sub(name string) *Object {
	v := o.take(name)
	if v.Kind() != jcs.Object {
		o.fail(name, "is not an object")
	}
	return &Object{v: v}
}

// Bytes returns the canonical bytes of the whole object.
func (o *Object) Bytes() []byte { return o.v.Canonical() }

// Text reads a string that ok accepts.
func (o *Object) Text(name string, ok func(string) bool) string {
	v := o.take(name)
	s := v.Text()
	if v.Kind() != jcs.String || !ok(s) {
		o.fail(name, "is not as it must be")
	}
	return s
}

// Extra reads a string that may be absent; there it is never empty.
func (o *Object) Extra(name string, ok func(string) bool) string {
	if !o.v.Get(name).Exists() {
		return ""
	}
	return o.Text(name, func(s string) bool { return s != "" && ok(s) })
}

// Int reads an integer between low and high.
func (o *Object) Int(name string, low, high int64) int64 {
	n, ok := o.take(name).Int()
	if !ok || n < low || n > high {
		o.fail(name, "is not an integer within its bounds")
	}
	return n
}

// ExtraInt reads an integer between low and high that may be absent, which stands for 0; there it is never 0.
func (o *Object) ExtraInt(name string, low, high int64) int64 {
	if !o.v.Get(name).Exists() {
		return 0
	}
	return o.Int(name, max(low, 1), high)
}

// Flag reads a boolean.
func (o *Object) Flag(name string) bool {
	v := o.take(name)
	if v.Kind() != jcs.Bool {
		o.fail(name, "is not a boolean")
	}
	return v.Bool()
}

// ExtraFlag reads a boolean that may be absent, which stands for false; there it is never false.
func (o *Object) ExtraFlag(name string) bool {
	if !o.v.Get(name).Exists() {
		return false
	}
	if !o.Flag(name) {
		o.fail(name, "is never false")
	}
	return true
}

// Done returns the first fault.
func (o *Object) Done() error {
	if o.fault != "" {
		return errors.New(o.fault)
	}
	if o.v.Len() != o.read {
		return errors.New("has unknown members")
	}
	return nil
}

func (o *Object) take(name string) jcs.Value {
	v := o.v.Get(name)
	if v.Exists() {
		o.read++
	} else {
		o.fail(name, "is missing")
	}
	return v
}

func (o *Object) fail(name, what string) {
	if o.fault == "" {
		o.fault = "member " + name + " " + what
	}
}

// MaxInt is the largest integer of the binding profile.
const MaxInt = 1<<53 - 1

// Hash accepts 0x and 64 lower-case hex digits.
func Hash(s string) bool { return len(s) == 66 && s[:2] == "0x" && hex(s[2:]) }

// Address accepts 0x and 40 hex digits of either case.
func Address(s string) bool {
	if len(s) != 42 || s[:2] != "0x" {
		return false
	}
	for _, c := range []byte(s[2:]) {
		if !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// ID accepts 32 lower-case hex digits.
func ID(s string) bool { return len(s) == 32 && hex(s) }

// Client accepts c_ and 16 lower-case hex digits.
func Client(s string) bool { return len(s) == 18 && s[:2] == "c_" && hex(s[2:]) }

// Grant accepts g_ and 16 lower-case hex digits.
func Grant(s string) bool { return len(s) == 18 && s[:2] == "g_" && hex(s[2:]) }

// Pin accepts k_ and 16 lower-case hex digits.
func Pin(s string) bool { return len(s) == 18 && s[:2] == "k_" && hex(s[2:]) }

// Preauthorisation accepts sp_ and 16 lower-case hex digits.
func Preauthorisation(s string) bool { return len(s) == 19 && s[:3] == "sp_" && hex(s[3:]) }

// Engagement accepts e_ and 32 lower-case hex digits.
func Engagement(s string) bool { return len(s) == 34 && s[:2] == "e_" && hex(s[2:]) }

// Moment accepts m_ and 64 lower-case hex digits.
func Moment(s string) bool { return len(s) == 66 && s[:2] == "m_" && hex(s[2:]) }

// Digest accepts sha256: and 64 lower-case hex digits.
func Digest(s string) bool { return len(s) == 71 && s[:7] == "sha256:" && hex(s[7:]) }

// NKey accepts the shape of an nkey user key; its checksum is for who uses it.
func NKey(s string) bool {
	if len(s) != 56 || s[0] != 'U' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// Empty accepts the empty text, or what ok accepts.
func Empty(ok func(string) bool) func(string) bool {
	return func(s string) bool { return s == "" || ok(s) }
}

// UpTo accepts text of at most that many bytes.
func UpTo(n int) func(string) bool {
	return func(s string) bool { return len(s) <= n && utf8.ValidString(s) }
}

// Some accepts text of one to that many bytes.
func Some(n int) func(string) bool {
	return func(s string) bool { return s != "" && len(s) <= n && utf8.ValidString(s) }
}

// Is accepts exactly these texts.
func Is(texts ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(texts, s) }
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func hex(s string) bool {
	for _, c := range []byte(s) {
		if !digit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
