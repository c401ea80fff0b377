package jcs

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds of JSON values. Absent is the kind of the zero Value, which
// lookups of a member that is not there return.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the lower case name of the kind.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "absent"
}

// Value is one value of a parsed document. It cannot be changed, is safe for
// concurrent use, and keeps the whole document in memory. The zero Value is
// absent; every method may be called on it.
type Value struct {
	doc *document
	at  uint32
}

// Member is a named value of an object.
type Member struct {
	Name  string
	Value Value
}

// document holds the text once and its values in order of appearance, so that
// the children of a value follow it directly.
type document struct {
	text    string
	profile Profile
	nodes   []node
}

type node struct {
	kind        Kind
	escaped     bool // a string that needs unescaping
	nameEscaped bool
	start, end  uint32 // in text
	nameStart   uint32 // of the quoted member name
	nameEnd     uint32
	next        uint32 // node after this value and all it contains
	count       uint32 // members or items
}

// Parse reads the one JSON document in raw: at most MaxDocument bytes, the
// checks of CheckFrame, depth at most MaxDocumentDepth, and the number rules
// of the profile. It does not keep raw. The error is an *Error.
func Parse(raw []byte, p Profile) (Value, error) {
	if err := precheck(raw, MaxDocument); err != nil {
		return Value{}, err
	}
	dec := takeDecoder(raw)
	defer giveDecoder(dec)
	r := reader{
		dec: dec,
		doc: &document{text: string(raw), profile: p, nodes: make([]node, 0, 8+len(raw)/16)},
	}
	if err := r.value(node{}); err != nil {
		return Value{}, err
	}
	if err := checkEnd(raw, r.dec); err != nil {
		return Value{}, err
	}
	return Value{doc: r.doc}, nil
}

type reader struct {
	dec *jsontext.Decoder
	doc *document
}

// value reads the next value into a node that may already hold its name.
func (r *reader) value(n node) error {
	at := len(r.doc.nodes)
	switch kind := r.dec.PeekKind(); kind {
	case '{', '[':
		if r.dec.StackDepth() >= MaxDocumentDepth {
			return &Error{TooDeep, r.dec.InputOffset(), fmt.Sprintf("more than %d levels", MaxDocumentDepth)}
		}
		if _, err := r.dec.ReadToken(); err != nil {
			return readError([]byte(r.doc.text), r.dec, err)
		}
		n.start = uint32(r.dec.InputOffset() - 1)
		n.kind = Object
		if kind == '[' {
			n.kind = Array
		}
		r.doc.nodes = append(r.doc.nodes, n)
		count := uint32(0)
		for {
			if next := r.dec.PeekKind(); next == '}' || next == ']' {
				break
			}
			var child node
			if kind == '{' {
				start, end, err := r.scalar()
				if err != nil {
					return err
				}
				child.nameStart, child.nameEnd = start, end
				child.nameEscaped = strings.IndexByte(r.doc.text[start:end], '\\') >= 0
			}
			if err := r.value(child); err != nil {
				return err
			}
			count++
		}
		if _, err := r.dec.ReadToken(); err != nil {
			return readError([]byte(r.doc.text), r.dec, err)
		}
		n := &r.doc.nodes[at]
		n.end, n.count, n.next = uint32(r.dec.InputOffset()), count, uint32(len(r.doc.nodes))
		return nil
	default:
		start, end, err := r.scalar()
		if err != nil {
			return err
		}
		n.start, n.end, n.next = start, end, uint32(at+1)
		lit := r.doc.text[start:end]
		switch kind {
		case '"':
			n.kind = String
			n.escaped = strings.IndexByte(lit, '\\') >= 0
		case '0':
			n.kind = Number
			if _, reason, ok := canonicalNumber(lit, r.doc.profile); !ok {
				return &Error{NumberOutOfProfile, int64(start), reason}
			}
		case 't', 'f':
			n.kind = Bool
		case 'n':
			n.kind = Null
		}
		r.doc.nodes = append(r.doc.nodes, n)
		return nil
	}
}

// scalar reads a value that is neither object nor array, and returns where it
// stands in the text.
func (r *reader) scalar() (start, end uint32, err error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return 0, 0, readError([]byte(r.doc.text), r.dec, err)
	}
	e := r.dec.InputOffset()
	return uint32(e - int64(len(v))), uint32(e), nil
}

func (v Value) node() *node {
	if v.doc == nil {
		return &node{}
	}
	return &v.doc.nodes[v.at]
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.node().kind }

// Exists reports whether the value is there (null is there).
func (v Value) Exists() bool { return v.doc != nil }

// Len returns the number of members or items, and 0 for other kinds.
func (v Value) Len() int { return int(v.node().count) }

// Text returns a string's text, unescaped, and "" for other kinds.
func (v Value) Text() string {
	n := v.node()
	if n.kind != String {
		return ""
	}
	return v.doc.unquote(n.start, n.end, n.escaped)
}

// Literal returns the text of a number as it was received, and "" for other
// kinds.
func (v Value) Literal() string {
	n := v.node()
	if n.kind != Number {
		return ""
	}
	return v.doc.text[n.start:n.end]
}

// Int returns a number that is an integer within ±(2^53-1), by exact decimal
// value, and false for everything else.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	return readDecimal(v.Literal()).integer()
}

// Bool returns a boolean's value, and false for other kinds.
func (v Value) Bool() bool {
	n := v.node()
	return n.kind == Bool && v.doc.text[n.start] == 't'
}

// Raw returns a copy of the bytes received for this value.
func (v Value) Raw() []byte {
	n := v.node()
	if n.kind == Absent {
		return nil
	}
	return []byte(v.doc.text[n.start:n.end])
}

// Members iterates over an object's members in the order received.
func (v Value) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if v.Kind() != Object {
			return
		}
		for c := range v.children() {
			if !yield(Member{v.doc.name(c), Value{v.doc, c}}) {
				return
			}
		}
	}
}

// Items iterates over an array's items in order.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		i := 0
		for c := range v.children() {
			if !yield(i, Value{v.doc, c}) {
				return
			}
			i++
		}
	}
}

// Get returns the member of that name, or the absent Value.
func (v Value) Get(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	for c := range v.children() {
		if v.doc.name(c) == name {
			return Value{v.doc, c}
		}
	}
	return Value{}
}

// Without returns the object v without the named members: the same document
// as if they had never been written. Other kinds are returned as they are.
func (v Value) Without(names ...string) Value {
	n := v.node()
	if n.kind != Object {
		return v
	}
	out := &document{text: v.doc.text, profile: v.doc.profile, nodes: []node{*n}}
	for c := range v.children() {
		if slices.Contains(names, v.doc.name(c)) {
			out.nodes[0].count--
			continue
		}
		shift := uint32(len(out.nodes)) - c
		for _, m := range v.doc.nodes[c:v.doc.nodes[c].next] {
			m.next += shift
			out.nodes = append(out.nodes, m)
		}
	}
	out.nodes[0].next = uint32(len(out.nodes))
	return Value{doc: out}
}

// Leaves calls f for every scalar and every empty object or array below v, in
// the order received. The path is stable: member names joined by dots, items
// as [i]; a name other than letters, digits, _ and - stands quoted in brackets
// (domain.domainId, resources[0], meta["a.b"]). The path of a scalar v is "".
func (v Value) Leaves(f func(path string, v Value)) {
	if v.Exists() {
		v.leaves(nil, f)
	}
}

func (v Value) leaves(path []byte, f func(string, Value)) {
	n := v.node()
	if n.count == 0 {
		f(string(path), v)
		return
	}
	i := 0
	for c := range v.children() {
		p := path
		if n.kind == Array {
			p = append(strconv.AppendInt(append(p, '['), int64(i), 10), ']')
			i++
		} else {
			p = appendName(p, v.doc.name(c))
		}
		Value{v.doc, c}.leaves(p, f)
	}
}

func appendName(path []byte, name string) []byte {
	plain := name != ""
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
	}
	if !plain {
		return append(AppendString(append(path, '['), name), ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// Canonical returns the RFC 8785 form of the value, nil if it is absent.
func (v Value) Canonical() []byte {
	n := v.node()
	if n.kind == Absent {
		return nil
	}
	return v.doc.appendCanonical(make([]byte, 0, n.end-n.start), v.at)
}

// AppendCanonical appends the RFC 8785 form of the value, nothing if it is
// absent.
func (v Value) AppendCanonical(dst []byte) []byte {
	if v.doc == nil {
		return dst
	}
	return v.doc.appendCanonical(dst, v.at)
}

func (v Value) children() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		n := v.node()
		for c, i := v.at+1, uint32(0); i < n.count; i++ {
			if !yield(c) {
				return
			}
			c = v.doc.nodes[c].next
		}
	}
}

func (d *document) name(at uint32) string {
	n := &d.nodes[at]
	return d.unquote(n.nameStart, n.nameEnd, n.nameEscaped)
}

func (d *document) unquote(start, end uint32, escaped bool) string {
	if !escaped {
		return d.text[start+1 : end-1]
	}
	// The decoder has accepted this string, so it can be unquoted.
	b, _ := jsontext.AppendUnquote(nil, d.text[start:end])
	return string(b)
}

// appendString writes the quoted string between start and end. A string
// without a backslash is already canonical.
func (d *document) appendString(dst []byte, start, end uint32, escaped bool) []byte {
	if !escaped {
		return append(dst, d.text[start:end]...)
	}
	return AppendString(dst, d.unquote(start, end, true))
}

// AppendString appends s as a canonical JSON string. Bytes of s that are not
// UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	// The error says only that bytes were replaced.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

type sortMember struct {
	name string
	at   uint32
}

func (d *document) appendCanonical(dst []byte, at uint32) []byte {
	n := &d.nodes[at]
	switch n.kind {
	case String:
		return d.appendString(dst, n.start, n.end, n.escaped)
	case Number:
		// The number was accepted when it was read.
		text, _, _ := canonicalNumber(d.text[n.start:n.end], d.profile)
		return append(dst, text...)
	case Array:
		dst = append(dst, '[')
		for c, i := at+1, uint32(0); i < n.count; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = d.appendCanonical(dst, c)
			c = d.nodes[c].next
		}
		return append(dst, ']')
	case Object:
		var few [16]sortMember
		members := few[:0]
		for c, i := at+1, uint32(0); i < n.count; i++ {
			members = append(members, sortMember{d.name(c), c})
			c = d.nodes[c].next
		}
		slices.SortFunc(members, func(a, b sortMember) int { return CompareUTF16(a.name, b.name) })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			c := &d.nodes[m.at]
			dst = append(d.appendString(dst, c.nameStart, c.nameEnd, c.nameEscaped), ':')
			dst = d.appendCanonical(dst, m.at)
		}
		return append(dst, '}')
	}
	return append(dst, d.text[n.start:n.end]...)
}

// CompareUTF16 orders valid UTF-8 texts by their UTF-16 code units, as RFC
// 8785 section 3.2.3 orders member names.
func CompareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	if a[i] < utf8.RuneSelf && b[i] < utf8.RuneSelf {
		return int(a[i]) - int(b[i])
	}
	for i > 0 && !utf8.RuneStart(a[i]) {
		i--
	}
	ra, _ := utf8.DecodeRuneInString(a[i:])
	rb, _ := utf8.DecodeRuneInString(b[i:])
	// A supplementary character begins with a unit in D800..DBFF: after the
	// characters below D800, before E000..FFFF.
	if (ra > 0xffff) != (rb > 0xffff) {
		if ra > 0xffff {
			ra = 0xd800
		} else {
			rb = 0xd800
		}
	}
	return int(ra - rb)
}
