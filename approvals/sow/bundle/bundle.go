// Package bundle is the file in which an Agent SoW document leaves a vault: the
// document with its signatures, the confirmations and acts beside it, and where
// a whole engagement is exported its other versions and what was brought in.
// Everything stands in it byte for byte as it was received or made; nothing is
// added to a signature record.
//
// It signs nothing, reads no store and decides nothing: a bundle proves what
// its signatures prove to somebody who knows the keys, and no more.
package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"vault/derive/jcs"
)

// Limits of a bundle.
const (
	Max      = 8 << 20 // bytes
	MaxItems = 4096    // of one list
	// MaxDepth bounds the nesting of a part, so that it can stand in a bundle wherever it belongs.
	MaxDepth = jcs.MaxDocumentDepth - 3
)

// ErrTooLong says that what should be one bundle is longer than Max, or has more than MaxItems parts of one kind.
var ErrTooLong = errors.New("it is longer than 8 MiB, or has more than 4096 parts of one kind")

// Bundle is what one holds, each part as its own JSON bytes. Document is always
// there; the other lists may be empty.
type Bundle struct {
	Document      []byte   // of the version the bundle is about
	Confirmations [][]byte // vault.confirmation evidence (derive/confirm)
	Acts          [][]byte // vault.sowAct (package sow)
	Versions      [][]byte // the other versions of the same engagement
	Records       []Record // what was brought in
}

// Record is something that was brought in beside documents, acts and
// confirmations: a claim by whoever made it.
type Record struct {
	Kind string // quote, settlement_record, job_manifest, …
	Raw  []byte
}

// The members of a bundle.
const (
	memberDocument      = "document"
	memberConfirmations = "confirmations"
	memberActs          = "acts"
	memberVersions      = "versions"
	memberRecords       = "records"
)

// Is reports that a parsed value has the shape of a bundle rather than that of
// a document: an object with a member document and none called sow.
func Is(v jcs.Value) bool {
	return v.Get(memberDocument).Kind() == jcs.Object && !v.Get("sow").Exists()
}

// Fits says whether a value may be a part: it is nested no deeper than MaxDepth.
func Fits(v jcs.Value) bool { return shallow(v, MaxDepth) }

func shallow(v jcs.Value, depth int) bool {
	switch v.Kind() {
	case jcs.Object:
		for m := range v.Members() {
			if !shallow(m.Value, depth-1) {
				return false
			}
		}
	case jcs.Array:
		for _, x := range v.Items() {
			if !shallow(x, depth-1) {
				return false
			}
		}
	default:
		return true
	}
	return depth > 0
}

// Encode writes a bundle. The error says which part is not one JSON object; it
// is ErrTooLong where Parse would not take the whole. Encode(Parse(b)) gives every part's bytes
// as they were.
func Encode(b Bundle) ([]byte, error) {
	out := append([]byte(`{"document":`), b.Document...)
	out = list(append(out, `,"confirmations":`...), b.Confirmations)
	out = list(append(out, `,"acts":`...), b.Acts)
	if len(b.Versions) > 0 {
		out = list(append(out, `,"versions":`...), b.Versions)
	}
	if len(b.Records) > 0 {
		var records [][]byte
		for _, r := range b.Records {
			raw := append([]byte(`{"kind":`), jcs.AppendString(nil, r.Kind)...)
			raw = append(append(raw, `,"record":`...), r.Raw...)
			records = append(records, append(raw, '}'))
		}
		out = list(append(out, `,"records":`...), records)
	}
	out = append(out, '}')
	if len(out) > Max || max(len(b.Confirmations), len(b.Acts), len(b.Versions), len(b.Records)) > MaxItems {
		return nil, fmt.Errorf("build sow bundle: %w", ErrTooLong)
	}
	again, err := Parse(out)
	if err != nil {
		return nil, fmt.Errorf("build sow bundle: %w", err)
	}
	if !again.equal(b) { // a part that is more or less than one value would move the others
		return nil, errors.New("build sow bundle: a part is not one JSON value alone")
	}
	return out, nil
}

func list(out []byte, parts [][]byte) []byte {
	return append(append(append(out, '['), bytes.Join(parts, []byte{','})...), ']')
}

func (b Bundle) equal(c Bundle) bool {
	same := func(x, y []byte) bool { return bytes.Equal(bytes.TrimSpace(x), bytes.TrimSpace(y)) }
	lists := func(x, y [][]byte) bool { return slices.EqualFunc(x, y, same) }
	return same(b.Document, c.Document) && lists(b.Confirmations, c.Confirmations) && lists(b.Acts, c.Acts) && lists(b.Versions, c.Versions) &&
		slices.EqualFunc(b.Records, c.Records, func(x, y Record) bool { return x.Kind == y.Kind && same(x.Raw, y.Raw) })
}

// Parse reads a bundle: exactly its members, at most Max bytes, each part one
// JSON object. What the parts are worth is Verify's answer.
func Parse(raw []byte) (Bundle, error) {
	b, err := parse(raw)
	if err != nil {
		return Bundle{}, fmt.Errorf("parse sow bundle: %w", err)
	}
	return b, nil
}

func parse(raw []byte) (b Bundle, err error) {
	if len(raw) > Max {
		return b, errors.New("it is longer than 8 MiB")
	}
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		return b, err
	}
	if v.Kind() != jcs.Object {
		return b, fmt.Errorf("it is %s, not an object", v.Kind())
	}
	for m := range v.Members() {
		switch m.Name {
		case memberDocument, memberConfirmations, memberActs, memberVersions, memberRecords:
		default:
			return b, errors.New("it has a member that no bundle has")
		}
	}
	d := v.Get(memberDocument)
	if d.Kind() != jcs.Object {
		return b, errors.New("its document is not an object")
	}
	b.Document = d.Raw()
	for _, part := range []struct {
		name string
		to   *[][]byte
	}{{memberConfirmations, &b.Confirmations}, {memberActs, &b.Acts}, {memberVersions, &b.Versions}} {
		items, err := objects(v.Get(part.name), part.name)
		if err != nil {
			return b, err
		}
		for _, item := range items {
			*part.to = append(*part.to, item.Raw())
		}
	}
	records, err := objects(v.Get(memberRecords), memberRecords)
	if err != nil {
		return b, err
	}
	for _, r := range records {
		kind, record := r.Get("kind"), r.Get("record")
		if kind.Kind() != jcs.String || !record.Exists() || r.Len() != 2 {
			return b, errors.New("one of its records is not a kind and a record")
		}
		b.Records = append(b.Records, Record{kind.Text(), record.Raw()})
	}
	return b, nil
}

// objects are the entries of a list that may be left out.
func objects(v jcs.Value, name string) (out []jcs.Value, err error) {
	if !v.Exists() {
		return nil, nil
	}
	if v.Kind() != jcs.Array || v.Len() > MaxItems {
		return nil, fmt.Errorf("its %s are not a list of at most %d", name, MaxItems)
	}
	for _, item := range v.Items() {
		if item.Kind() != jcs.Object {
			return nil, fmt.Errorf("one of its %s is not an object", name)
		}
		out = append(out, item)
	}
	return out, nil
}
