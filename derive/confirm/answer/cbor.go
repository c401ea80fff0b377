package answer

import (
	"encoding/binary"
	"errors"
)

// Major types of CBOR (RFC 8949, section 3.1) that hold others or bytes.
const (
	majorBytes  = 2
	majorText   = 3
	majorArray  = 4
	majorMap    = 5
	majorTag    = 6
	majorSimple = 7
)

const maxDepth = 4 // of nesting: what CTAP2 allows

var errCBOR = errors.New("not an item of canonical CBOR")

// itemLength returns the length in bytes of the CBOR item at the start of b. It
// knows the items of CTAP2's canonical form: definite lengths in their shortest
// spelling, no tags, nesting of at most four levels. It does not look at the
// order of map members and builds nothing.
func itemLength(b []byte) (int, error) { return item(b, maxDepth) }

func item(b []byte, depth int) (int, error) {
	if len(b) == 0 || depth < 0 {
		return 0, errCBOR
	}
	major, n, at, err := head(b)
	if err != nil {
		return 0, err
	}
	inner := uint64(0)
	switch major {
	case majorBytes, majorText:
		if n > uint64(len(b)-at) {
			return 0, errCBOR
		}
		return at + int(n), nil
	case majorTag:
		return 0, errCBOR
	case majorArray:
		inner = n
	case majorMap:
		if n > uint64(len(b)) {
			return 0, errCBOR
		}
		inner = 2 * n
	}
	if inner > uint64(len(b)) {
		return 0, errCBOR
	}
	for range inner {
		l, err := item(b[at:], depth-1)
		if err != nil {
			return 0, err
		}
		at += l
	}
	return at, nil
}

// head reads the first byte and the number that belongs to it; at is where the
// content begins. Simple values are true, false and null.
func head(b []byte) (major byte, n uint64, at int, err error) {
	major, low := b[0]>>5, b[0]&0x1f
	if major == majorSimple {
		if low < 20 || low > 22 {
			return 0, 0, 0, errCBOR
		}
		return major, 0, 1, nil
	}
	if low < 24 {
		return major, uint64(low), 1, nil
	}
	size := 1 << (low - 24)
	if low > 27 || len(b) < 1+size {
		return 0, 0, 0, errCBOR
	}
	var wide [8]byte
	copy(wide[8-size:], b[1:1+size])
	n = binary.BigEndian.Uint64(wide[:])
	if n < 24 || (size > 1 && n>>(4*size) == 0) {
		return 0, 0, 0, errCBOR // a shorter spelling exists
	}
	return major, n, 1 + size, nil
}
