package ipc

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"vault/approvals"
	"vault/approvals/handshake"
)

// kind says what a parameter may be.
type kind uint8

const (
	kindText   kind = iota + 1 // string, at most max bytes
	kindName                   // string of 1 to max printable ASCII characters without space
	kindBytes                  // 32 bytes, base64url without padding
	kindMillis                 // plain non-negative integer, at most max
	kindFlag                   // true or false
	kindObject                 // an object, kept as the bytes that were received
	kindValue                  // any value, kept as the bytes that were received
)

// field is one member of a method's params.
type field struct {
	name     string
	kind     kind
	max      int64
	optional bool
}

// args are the members of params, checked against the fields of a method.
type args struct {
	text   map[string]string
	raw    map[string][]byte
	key    map[string][handshake.Size]byte
	number map[string]int64
	flag   map[string]bool
}

// cut reads params strictly: an object of exactly the members that fields name,
// each of its kind. Documents are cut from the received bytes, which are copied
// and never written anew. Absent params are an object without members.
func cut(params []byte, fields []field) (args, *approvals.Refusal) {
	a := args{}
	if len(params) == 0 {
		params = []byte("{}")
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(params))
	if dec.PeekKind() != '{' {
		return args{}, refuseFor("params_invalid", "They are not an object.")
	}
	if _, err := dec.ReadToken(); err != nil {
		return args{}, refuse("params_invalid")
	}
	seen := make([]bool, len(fields))
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return args{}, refuse("params_invalid")
		}
		at := indexOf(fields, tok.String())
		if at < 0 {
			return args{}, refuseFor("params_invalid", "A member is unknown.")
		}
		seen[at] = true
		raw, err := dec.ReadValue()
		if err != nil {
			return args{}, refuse("params_invalid")
		}
		if !a.take(fields[at], raw) {
			return args{}, refuseFor("params_invalid", "Member "+fields[at].name+" is not what it should be.")
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return args{}, refuse("params_invalid")
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return args{}, refuse("params_invalid")
	}
	for i, f := range fields {
		if !seen[i] && !f.optional {
			return args{}, refuseFor("params_invalid", "Member "+f.name+" is missing.")
		}
	}
	return a, nil
}

func indexOf(fields []field, name string) int {
	for i, f := range fields {
		if f.name == name {
			return i
		}
	}
	return -1
}

// take checks one value and keeps it.
func (a *args) take(f field, raw jsontext.Value) bool {
	switch f.kind {
	case kindText, kindName, kindBytes:
		if raw.Kind() != '"' {
			return false
		}
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return false
		}
		text := string(unquoted)
		if f.kind == kindBytes {
			key, err := handshake.Decode(text)
			if err != nil {
				return false
			}
			put(&a.key, f.name, key)
			return true
		}
		if int64(len(text)) > f.max || f.kind == kindName && !isName(text) {
			return false
		}
		put(&a.text, f.name, text)
		return true
	case kindMillis:
		n, ok := plainInteger(raw)
		if !ok || n > f.max {
			return false
		}
		put(&a.number, f.name, n)
		return true
	case kindFlag:
		k := raw.Kind()
		put(&a.flag, f.name, k == 't')
		return k == 't' || k == 'f'
	case kindObject:
		if raw.Kind() != '{' {
			return false
		}
		put(&a.raw, f.name, bytes.Clone(raw))
		return true
	case kindValue:
		put(&a.raw, f.name, bytes.Clone(raw))
		return true
	}
	return false
}

func put[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = make(map[string]V, 4)
	}
	(*m)[name] = v
}

func isName(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

// plainInteger takes decimal digits only: no sign, fraction or exponent.
func plainInteger(raw []byte) (int64, bool) {
	if len(raw) == 0 || len(raw) > 16 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}
