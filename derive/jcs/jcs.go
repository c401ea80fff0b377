// Package jcs reads JSON strictly and writes the JSON Canonicalization Scheme
// (RFC 8785). It is the only JSON reader and writer for bytes that are hashed,
// signed or approved.
//
// Strictness has two stages. CheckFrame looks at a whole message before
// anything else sees it. Parse and Canonical look at one document, cut from
// the raw bytes, under the Profile of its kind. A document is parsed once into
// a Value, which cannot be changed afterwards.
//
// The package knows no document kinds and no members; it does not normalise
// Unicode and never repairs what it reads.
package jcs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of the two stages. Sizes are bytes, depths are nested objects and
// arrays (a scalar has depth 0, {} has depth 1).
const (
	MaxFrame         = 1 << 20
	MaxFrameDepth    = 80
	MaxDocument      = 8 << 20
	MaxDocumentDepth = 64
)

// Profile says which numbers a kind of document may hold.
type Profile uint8

const (
	// Binding allows integers by exact decimal value within ±(2^53-1), in any
	// spelling (1, 1.0, 1e0); -0 is 0. Binding moments and our own structures.
	Binding Profile = iota + 1
	// AgentEnvelope is Binding without -0.
	AgentEnvelope
	// SoW allows any finite number whose ECMAScript text has the same decimal
	// value as the text received; -0 is 0.
	SoW
)

// String returns the lower case name of the profile.
func (p Profile) String() string {
	switch p {
	case Binding:
		return "binding"
	case AgentEnvelope:
		return "agentenvelope"
	case SoW:
		return "sow"
	}
	return "unknown"
}

// Code names a reason for refusal. The texts are stable and may be sent to
// clients.
type Code string

// The reasons for which JSON is refused.
const (
	NotUTF8            Code = "not_utf8"
	ByteOrderMark      Code = "byte_order_mark"
	DuplicateName      Code = "duplicate_name"
	UnpairedSurrogate  Code = "unpaired_surrogate"
	TrailingData       Code = "trailing_data"
	TooDeep            Code = "too_deep"
	TooLarge           Code = "too_large"
	NumberOutOfProfile Code = "number_out_of_profile"
	Syntax             Code = "syntax"
)

// Error is the error of every function of this package that reads JSON.
type Error struct {
	Code   Code
	Offset int64  // byte offset in the input, at or shortly before the fault
	Detail string // a sentence of ours; never holds text from the input
}

// Error returns code, detail and offset.
func (e *Error) Error() string {
	return fmt.Sprintf("json %s: %s at byte %d", e.Code, e.Detail, e.Offset)
}

// CheckFrame checks one whole message: at most MaxFrame bytes of UTF-8 without
// a byte order mark, exactly one JSON value, no duplicate member names after
// unescaping, no unpaired surrogates, depth at most MaxFrameDepth. Numbers are
// not judged. The error is an *Error.
func CheckFrame(line []byte) error {
	if err := precheck(line, MaxFrame); err != nil {
		return err
	}
	dec := takeDecoder(line)
	defer giveDecoder(dec)
	for {
		switch dec.PeekKind() {
		case '{', '[':
			if dec.StackDepth() >= MaxFrameDepth {
				return &Error{TooDeep, dec.InputOffset(), fmt.Sprintf("more than %d levels", MaxFrameDepth)}
			}
		}
		if _, err := dec.ReadToken(); err != nil {
			return readError(line, dec, err)
		}
		if dec.StackDepth() == 0 {
			return checkEnd(line, dec)
		}
	}
}

// Canonical returns the RFC 8785 form of the one JSON document in raw, checked
// as Parse does. It never edits raw. The error is an *Error.
func Canonical(raw []byte, p Profile) ([]byte, error) {
	v, err := Parse(raw, p)
	if err != nil {
		return nil, err
	}
	return v.Canonical(), nil
}

// Marshal returns the canonical form of a Go value, for structures of our own
// making only: what was received is canonicalised from its bytes instead. Nil
// slices become [] and nil maps {}. Besides *Error it returns the errors of
// the JSON encoder.
func Marshal(v any, p Profile) ([]byte, error) {
	out, err := ValueOf(v, p)
	if err != nil {
		return nil, err
	}
	return out.Canonical(), nil
}

// ValueOf is Marshal without the writing: members stand in no particular order.
func ValueOf(v any, p Profile) (Value, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Value{}, fmt.Errorf("encode json: %w", err)
	}
	return Parse(raw, p)
}

// decoders keeps the lists in which a decoder looks for names that appear twice: to make them anew is what reading a
// small document costs most. It holds no document.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

func takeDecoder(raw []byte) *jsontext.Decoder {
	d := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(raw))
	return d
}

func giveDecoder(d *jsontext.Decoder) {
	d.Reset(new(bytes.Buffer))
	decoders.Put(d)
}

func precheck(raw []byte, limit int) error {
	if len(raw) > limit {
		return &Error{TooLarge, int64(limit), fmt.Sprintf("more than %d bytes", limit)}
	}
	if bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) {
		return &Error{ByteOrderMark, 0, "byte order mark before the value"}
	}
	if !utf8.Valid(raw) {
		at := 0
		for {
			r, n := utf8.DecodeRune(raw[at:])
			if r == utf8.RuneError && n == 1 {
				return &Error{NotUTF8, int64(at), "not UTF-8"}
			}
			at += n
		}
	}
	return nil
}

func checkEnd(raw []byte, dec *jsontext.Decoder) error {
	end := dec.InputOffset()
	if len(bytes.TrimLeft(raw[end:], " \t\r\n")) != 0 {
		return &Error{TrailingData, end, "more data after the value"}
	}
	return nil
}

// readError gives the decoder's error one of our codes. The input is UTF-8, so
// a fault inside a string that starts at a \uD800..\uDFFF escape can only be
// an unpaired surrogate.
func readError(raw []byte, dec *jsontext.Decoder, err error) error {
	at := dec.InputOffset()
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		at = syn.ByteOffset
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &Error{DuplicateName, at, "a member name appears twice in one object"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Syntax, int64(len(raw)), "the value is not complete"}
	case syn != nil && isSurrogateEscape(raw, at):
		return &Error{UnpairedSurrogate, at, "an unpaired surrogate escape"}
	}
	return &Error{Syntax, at, "not JSON"}
}

func isSurrogateEscape(raw []byte, at int64) bool {
	if at < 0 || at+6 > int64(len(raw)) {
		return false
	}
	e := raw[at : at+6]
	if e[0] != '\\' || e[1] != 'u' || (e[2] != 'd' && e[2] != 'D') {
		return false
	}
	for _, c := range e[3:] {
		if !isHex(c) {
			return false
		}
	}
	return e[3] >= '8'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
