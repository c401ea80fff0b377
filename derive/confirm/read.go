package confirm

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"vault/derive/envelope"
	"vault/derive/jcs"
)

// maxInt is the largest integer of the binding profile.
const maxInt = 1<<53 - 1

// parse reads one object of at most limit bytes.
func parse(raw []byte, limit int) (*object, error) {
	if len(raw) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return nil, err
	}
	o := &object{v: v, fault: new(string)}
	o.whole("")
	return o, nil
}

// object is an object that is being read member by member. The first fault of
// a whole document is kept.
type object struct {
	v     jcs.Value
	path  string
	read  int
	fault *string
}

func (o *object) whole(path string) {
	o.path = path
	if o.v.Kind() != jcs.Object {
		o.failed(path, "is not an object")
	}
}

func (o *object) failed(path, what string) {
	if *o.fault == "" {
		if path == "" {
			path = "the document"
		}
		*o.fault = path + " " + what
	}
}

func (o *object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

func (o *object) fail(name, what string) { o.failed(o.at(name), what) }

func (o *object) has(name string) bool { return o.v.Get(name).Exists() }

func (o *object) take(name string) jcs.Value {
	v := o.v.Get(name)
	if !v.Exists() {
		o.fail(name, "is missing")
		return v
	}
	o.read++
	return v
}

func (o *object) text(name string, ok func(string) bool) string {
	v := o.take(name)
	if s := v.Text(); v.Kind() == jcs.String && ok(s) {
		return s
	}
	o.fail(name, "is not as it must be")
	return ""
}

func (o *object) bytes(name string, low, high int) []byte {
	b, ok := unbase64(o.text(name, func(string) bool { return true }))
	if !ok || len(b) < low || len(b) > high {
		o.fail(name, "is not unpadded base64url of as many bytes as it must have")
		return nil
	}
	return b
}

func (o *object) integer(name string, low, high int64) int64 {
	n, ok := o.take(name).Int()
	if !ok || n < low || n > high {
		o.fail(name, "is not an integer within its bounds")
	}
	return n
}

func (o *object) flag(name string) bool {
	v := o.take(name)
	if v.Kind() != jcs.Bool {
		o.fail(name, "is not a boolean")
	}
	return v.Bool()
}

func (o *object) sub(name string) *object {
	s := &object{v: o.take(name), fault: o.fault}
	s.whole(o.at(name))
	return s
}

// list returns the items of a list of a bounded length.
func (o *object) list(name string, low, high int) []jcs.Value {
	v := o.take(name)
	if v.Kind() != jcs.Array || v.Len() < low || v.Len() > high {
		o.fail(name, "is not a list of a length within its bounds")
		return nil
	}
	items := make([]jcs.Value, 0, v.Len())
	for _, item := range v.Items() {
		items = append(items, item)
	}
	return items
}

// objects returns the items of a list as objects, each to be finished.
func (o *object) objects(name string, low, high int) []*object {
	var out []*object
	for i, v := range o.list(name, low, high) {
		s := &object{v: v, fault: o.fault}
		s.whole(fmt.Sprintf("%s[%d]", o.at(name), i))
		out = append(out, s)
	}
	return out
}

// done refuses members that nobody asked for, and returns the first fault.
func (o *object) done() error {
	if o.v.Len() != o.read {
		o.failed(o.path, "has unknown members")
	}
	if *o.fault != "" {
		return errors.New(*o.fault)
	}
	return nil
}

// is accepts exactly these texts.
func is(texts ...string) func(string) bool {
	return func(s string) bool {
		for _, t := range texts {
			if s == t {
				return true
			}
		}
		return false
	}
}

// of accepts one to high characters of an ASCII alphabet.
func of(high int, alphabet string) func(string) bool {
	return func(s string) bool {
		return s != "" && len(s) <= high && !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(alphabet, r) })
	}
}

const (
	lowerHex = "0123456789abcdef"
	lower    = "abcdefghijklmnopqrstuvwxyz"
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
)

var (
	isRequestID = of(128, lower+upper+digits+"._:-")
	isHost      = of(253, lower+digits+".-")
)

// isID accepts 32 lower-case hex digits: a vault, an instance.
func isID(s string) bool { return len(s) == 32 && of(32, lowerHex)(s) }

// isDigest accepts 64 lower-case hex digits.
func isDigest(s string) bool { return len(s) == 64 && of(64, lowerHex)(s) }

// isOwnDigest accepts a digest as binding moments write it.
func isOwnDigest(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && isDigest(hex)
}

func isNKey(s string) bool {
	_, err := envelope.ParseOwnerKey(s)
	return err == nil
}

// isLine accepts one line of text that is not empty: no control character of
// ASCII. Direction marks and the like are for whoever draws it.
func isLine(high int) func(string) bool {
	return func(s string) bool {
		return s != "" && len(s) <= high && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
	}
}

// isOrigin accepts the serialised origin of a web page: scheme, lower-case
// host, port.
func isOrigin(s string) bool {
	rest, ok := strings.CutPrefix(s, "http://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "https://")
	}
	host, port, found := strings.Cut(rest, ":")
	return ok && isHost(host) && (!found || isPort(port))
}

func isPort(s string) bool { return len(s) <= 5 && of(5, digits)(s) && s[0] != '0' }

// unbase64 reads base64url without padding, white space or unused bits that
// are not zero: one text for one byte string.
func unbase64(s string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	// The decoder skips line ends.
	return b, err == nil && base64.RawURLEncoding.EncodedLen(len(b)) == len(s)
}

func tobase64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// layout is the only spelling of an instant in a context.
const layout = "2006-01-02T15:04:05Z"

// instant reads UTC seconds with Z, as milliseconds since epoch.
func instant(s string) (int64, bool) {
	t, err := time.Parse(layout, s)
	if err != nil || t.Format(layout) != s || t.UnixMilli() < 0 {
		return 0, false
	}
	return t.UnixMilli(), true
}

func isInstant(s string) bool {
	_, ok := instant(s)
	return ok
}

func hash(b [32]byte) string { return "0x" + hex.EncodeToString(b[:]) }
