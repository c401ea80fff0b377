package sow

import (
	"bytes"
	"errors"
	"slices"

	"vault/derive/jcs"
	"vault/derive/tag"
)

const sowTag = tag.SoW

// object is a JSON object under construction: canonical values by name.
type object map[string][]byte

// objectOf takes the members of an object as they are.
func objectOf(v jcs.Value) object {
	o := object{}
	for m := range v.Members() {
		o[m.Name] = m.Value.Canonical()
	}
	return o
}

func (o object) set(name string, canonical []byte) { o[name] = canonical }
func (o object) text(name, s string)               { o[name] = jcs.AppendString(nil, s) }

// canonical writes the object in RFC 8785 form.
func (o object) canonical() []byte {
	names := make([]string, 0, len(o))
	for n := range o {
		names = append(names, n)
	}
	slices.SortFunc(names, jcs.CompareUTF16)
	out := []byte{'{'}
	for i, n := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(jcs.AppendString(out, n), ':'), o[n]...)
	}
	return append(out, '}')
}

// without writes an object in RFC 8785 form, leaving out the named members; size
// is about how long that is. It spares the tree of a whole document a copy.
func without(v jcs.Value, size int, names ...string) []byte {
	var members []jcs.Member
	for m := range v.Members() {
		if !slices.Contains(names, m.Name) {
			members = append(members, m)
		}
	}
	slices.SortFunc(members, func(a, b jcs.Member) int { return jcs.CompareUTF16(a.Name, b.Name) })
	out := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = m.Value.AppendCanonical(append(jcs.AppendString(out, m.Name), ':'))
	}
	return append(out, '}')
}

// listOf writes a list of values that are in RFC 8785 form.
func listOf(values ...[]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte{','})...), ']')
}

func textList(list []string) []byte {
	out := []byte{'['}
	for i, s := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = jcs.AppendString(out, s)
	}
	return append(out, ']')
}

// WithSignature returns the document with a signature record added, replacing
// one of the same role and key; the signed bytes do not change. The record is
// not verified here.
func (d *Document) WithSignature(role, key, signedAt string, sig []byte) (*Document, error) {
	var list [][]byte
	for _, s := range d.v.Get("signatures").Items() {
		if s.Get("role").Text() != role || s.Get("key").Text() != key {
			list = append(list, s.Canonical())
		}
	}
	r := object{}
	r.text("role", role)
	r.text("key", key)
	r.text("signed_at", signedAt)
	r.text("sig", SignatureText(sig))
	o := objectOf(d.v)
	o.set("signatures", listOf(append(list, r.canonical())...))
	return Parse(o.canonical())
}

// Join is one document out of copies that have the same signed bytes and
// different signature records: the first copy with the records of all of them,
// those that verify before those that do not, each once, and no more than are
// looked at. A copy with records that were made up therefore takes nothing from
// the good ones. Where the others add nothing it is the first copy, byte for
// byte. Copies of other bytes are left alone.
func Join(copies ...*Document) (*Document, error) { return join(nil, maxRecords, copies) }

// MaxStrangers is how many records a document may have before [JoinKnown] has
// to choose among them: with it there is room for a signature on each seat.
const MaxStrangers = maxRecords - 2

// JoinKnown is Join where copies have more records than MaxStrangers, and some
// of the keys are known: of each such key and role one record that verifies
// comes first. Anybody can sign a document, with as many keys as they like, so
// being a good signature alone earns no place.
func JoinKnown(known []string, copies ...*Document) (*Document, error) {
	return join(known, MaxStrangers, copies)
}

func join(known []string, limit int, copies []*Document) (*Document, error) {
	if len(copies) == 0 {
		return nil, errors.New("join copies: there is none")
	}
	var first, good, bad [][]byte
	seen, seated := map[string]bool{}, map[[2]string]bool{}
	digest := copies[0].Digest()
	for _, d := range copies {
		if d.Digest() != digest {
			continue
		}
		records := d.Signatures() // the first of them, as many as are looked at
		for i, s := range d.v.Get("signatures").Items() {
			if i == len(records) {
				break
			}
			raw, r := s.Canonical(), records[i]
			seat := [2]string{r.Role, r.Key}
			switch {
			case seen[string(raw)]:
			case r.Fault == "" && !seated[seat] && slices.Contains(known, r.Key):
				first, seated[seat] = append(first, raw), true
			case r.Fault == "":
				good = append(good, raw)
			default:
				bad = append(bad, raw)
			}
			seen[string(raw)] = true
		}
	}
	list := slices.Concat(first, good, bad)
	if len(list) > limit {
		list = list[:limit]
	}
	joined := listOf(list...)
	if bytes.Equal(joined, copies[0].v.Get("signatures").Canonical()) {
		return copies[0], nil
	}
	o := objectOf(copies[0].v)
	o.set("signatures", joined)
	return Parse(o.canonical())
}
