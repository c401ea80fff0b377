package draft

import (
	"bytes"
	"strconv"
	"strings"

	"vault/derive/jcs"
)

// A value is a JSON value under construction; object and list keep their order.
type value interface {
	append(out []byte, indent int) []byte
}

type (
	object []member
	member struct {
		name  string
		value value
	}
	list     []value
	text     string
	number   int64
	flag     bool
	verbatim []byte // JSON as it is
)

var null = verbatim("null")

func (o *object) add(name string, v value) { *o = append(*o, member{name, v}) }

func texts(in []string) (out list) {
	for _, s := range in {
		out = append(out, text(s))
	}
	return out
}

func write(o object) []byte { return append(o.append(nil, 0), '\n') }

func line(out []byte, indent int) []byte {
	return append(append(out, '\n'), strings.Repeat("  ", indent)...)
}

func (o object) append(out []byte, indent int) []byte {
	if len(o) == 0 {
		return append(out, "{}"...)
	}
	out = append(out, '{')
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jcs.AppendString(line(out, indent+1), m.name), ": "...)
		out = m.value.append(out, indent+1)
	}
	return append(line(out, indent), '}')
}

func (l list) append(out []byte, indent int) []byte {
	if len(l) == 0 {
		return append(out, "[]"...)
	}
	out = append(out, '[')
	for i, v := range l {
		if i > 0 {
			out = append(out, ',')
		}
		out = v.append(line(out, indent+1), indent+1)
	}
	return append(line(out, indent), ']')
}

func (s text) append(out []byte, _ int) []byte     { return jcs.AppendString(out, string(s)) }
func (n number) append(out []byte, _ int) []byte   { return strconv.AppendInt(out, int64(n), 10) }
func (f flag) append(out []byte, _ int) []byte     { return strconv.AppendBool(out, bool(f)) }
func (v verbatim) append(out []byte, _ int) []byte { return append(out, bytes.TrimSpace(v)...) }
