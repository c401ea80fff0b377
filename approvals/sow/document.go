package sow

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"

	"vault/approvals/sow/money"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// Document is an Agent SoW document as it was received. It is one JSON object
// of the sow profile; whether it is a good one is Validate's answer. It cannot
// be changed and is safe for concurrent use.
type Document struct {
	raw       []byte
	v         jcs.Value
	canonical []byte
}

// MaxDocument is the longest document that is read, in bytes.
const MaxDocument = 1 << 20

// ErrTooLarge is wrapped by the error of Parse for more than MaxDocument bytes.
var ErrTooLarge = errors.New("it is longer than 1 MiB")

// ErrUnwieldy is wrapped by the error of Parse for a document whose names,
// written before each of its leaves, take more than 8 MiB: a long name around a
// long list asks whoever shows it for memory without end.
var ErrUnwieldy = errors.New("its names, written out before each value, are longer than 8 MiB")

const maxPaths = 8 << 20 // bytes

// Parse reads a document strictly and keeps the bytes received. The error
// wraps a *jcs.Error, ErrTooLarge or ErrUnwieldy, or says that the bytes are not an object.
// It answers every shape rule with findings instead: see Validate.
func Parse(raw []byte) (*Document, error) {
	if len(raw) > MaxDocument {
		return nil, fmt.Errorf("parse sow document: %w", ErrTooLarge)
	}
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		return nil, fmt.Errorf("parse sow document: %w", err)
	}
	if v.Kind() != jcs.Object {
		return nil, fmt.Errorf("parse sow document: it is %s, not an object", v.Kind())
	}
	if len(raw) > 4096 { // a shorter one has no room for it
		if left := maxPaths; !wieldy(v, 0, &left) {
			return nil, fmt.Errorf("parse sow document: %w", ErrUnwieldy)
		}
	}
	return &Document{raw: append([]byte(nil), raw...), v: v, canonical: without(v, len(raw), "signatures")}, nil
}

// wieldy adds up the lengths of the paths to the leaves, and says whether there
// is still room.
func wieldy(v jcs.Value, path int, left *int) bool {
	if v.Len() == 0 {
		*left -= path
		return *left >= 0
	}
	for m := range v.Members() {
		if !wieldy(m.Value, path+len(m.Name)+1, left) {
			return false
		}
	}
	for _, w := range v.Items() {
		if !wieldy(w, path+3, left) {
			return false
		}
	}
	return true
}

// MaxLeaves bounds the values of a document that a person is shown: one of 1 MiB can have half a million, of which nobody reads a page, and to
// lay it out takes seconds and most of a gigabyte.
const MaxLeaves = 1 << 16

// Readable says whether a person is shown the document: it has at most MaxLeaves values. What is not shown is not signed.
func (d *Document) Readable() bool {
	left := MaxLeaves
	return len(d.raw) <= MaxLeaves || few(d.v, &left)
}

func few(v jcs.Value, left *int) bool {
	if v.Len() == 0 {
		*left--
		return *left >= 0
	}
	for m := range v.Members() {
		if !few(m.Value, left) {
			return false
		}
	}
	for _, x := range v.Items() {
		if !few(x, left) {
			return false
		}
	}
	return true
}

// Read parses and validates: findings for bytes that are no document too, with
// the code not_i_json, not_a_document or document_too_large, and then no
// document.
func Read(raw []byte, o Options) (*Document, Findings) {
	d, err := Parse(raw)
	if err != nil {
		c := checker{authoring: o.Authoring}
		var fault *jcs.Error
		switch {
		case errors.Is(err, ErrTooLarge):
			c.add("document_too_large", "")
		case errors.Is(err, ErrUnwieldy):
			f := finding("document_too_large", "", o.Authoring)
			f.Message = "The names in the document, written out before each value, take more than 8 MiB."
			c.push(f)
		case errors.As(err, &fault):
			c.detail("not_i_json", "", fault.Error()+".")
		default:
			c.add("not_a_document", "")
		}
		return nil, c.found
	}
	return d, d.Validate(o)
}

// Raw returns a copy of the bytes received.
func (d *Document) Raw() []byte { return append([]byte(nil), d.raw...) }

// Value returns the document's tree.
func (d *Document) Value() jcs.Value { return d.v }

// Get returns a top-level member, or the absent value.
func (d *Document) Get(name string) jcs.Value { return d.v.Get(name) }

// Canonical returns the canonical form without signatures (section 6).
func (d *Document) Canonical() []byte { return append([]byte(nil), d.canonical...) }

// Hashed returns the bytes an identifier is derived from: the canonical form
// without id and signatures (4.1).
func (d *Document) Hashed() []byte { return without(d.v, len(d.canonical), "id", "signatures") }

// Signed returns the bytes an owner signs: the prefix and the canonical form
// without signatures (section 6).
func (d *Document) Signed() []byte { return tag.SoW.Message(d.canonical) }

// Digest returns the SHA-256 of the signed bytes, 64 lower hex digits. It is
// what names a version of a document exactly.
func (d *Document) Digest() string {
	h := sha256.New()
	h.Write([]byte(tag.SoW))
	h.Write(d.canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// ID returns the identifier, "" if it is not a text.
func (d *Document) ID() string { return d.v.Get("id").Text() }

// Version returns the version, 0 if it is not a positive whole number.
func (d *Document) Version() int64 {
	n, _ := posint(d.v.Get("version"))
	return max(n, 0)
}

// Term returns start and end in milliseconds since the epoch, and whether each
// is stated.
func (d *Document) Term() (start, end int64, started, ended bool) {
	start, started = instantOf(d.v.Get("starts_at"))
	end, ended = instantOf(d.v.Get("ends_at"))
	return start, end, started, ended
}

// Price reads the price clause, and false with what is wrong if it is not
// valid.
func (d *Document) Price() (money.Price, Findings) { return PriceOf(d.v.Get("price")) }

// Bounded reports that the document commits to a price with an upper bound: in all, or for each month of a term that has an end. Where
// an offer states none, whoever completes it chooses one.
func (d *Document) Bounded() bool {
	p, findings := d.Price()
	_, _, _, ended := d.Term()
	months, _ := posint(d.v.Get("term_months"))
	return findings.OK() && p.Committed().Set && (p.Arrangement != money.FixedFee || ended || months > 0)
}

// Party returns the party in a seat, or with the name offered_to the one party
// an offer is for, and false where the seat is blank.
func (d *Document) Party(seat string) (Seat, bool) {
	p := d.v.Get("parties").Get(seat)
	return Seat{Agent: p.Get("agent").Text(), Owner: p.Get("owner").Text(), Handle: p.Get("handle").Text(), Organization: p.Get("organization").Text()},
		p.Kind() == jcs.Object
}

var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Mint derives the identifier of the version 1 document (4.1). It is called
// once, by whoever makes that document, and never to judge one (4.1.1).
func (d *Document) Mint() string { return mint(d.Hashed()) }

func mint(hashed []byte) string {
	sum := sha256.Sum256(hashed)
	return "sow_" + crockford.EncodeToString(sum[:])[:16]
}
