package custody

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/cosmos/go-bip39"
)

// WordCount is the number of recovery words.
const WordCount = 24

// wordsMax is the room that 24 words of at most 8 letters and their spaces need.
const wordsMax = WordCount*9 - 1

// WordError names a recovery word that is not in the list, by place only.
type WordError struct {
	Place int // 1 to 24
}

// Error implements error.
func (e *WordError) Error() string { return fmt.Sprintf("%v: number %d", ErrWordUnknown, e.Place) }

// Unwrap returns [ErrWordUnknown].
func (e *WordError) Unwrap() error { return ErrWordUnknown }

// CheckRoot refuses a root that is one byte repeated with [ErrRootWeak].
func CheckRoot(root []byte) error {
	for _, b := range root {
		if b != root[0] {
			return nil
		}
	}
	return ErrRootWeak
}

// Words returns the 24 recovery words of a root: the BIP-39 words of the root
// taken as entropy (English list, no PBKDF2), lower case, one space between.
//
// The packing is ours and the list the library's: the library works on strings
// and big integers, which cannot be wiped. Which entries of the list are read
// can still be seen by whoever observes the processor's caches.
func Words(root []byte) (*Secret, error) {
	if len(root) != rootLen {
		return nil, fmt.Errorf("write recovery words: a root is %d bytes", rootLen)
	}
	out, err := NewSecret(wordsMax)
	if err != nil {
		return nil, err
	}
	n := 0
	Do(func() {
		sum := sha256.Sum256(root)
		bits, acc, next := 0, uint32(0), 0
		for range WordCount {
			for bits < 11 {
				b := sum[0]
				if next < rootLen {
					b = root[next]
				}
				next++
				acc = acc<<8 | uint32(b)
				bits += 8
			}
			bits -= 11
			if n > 0 {
				out.mem[n] = ' '
				n++
			}
			n += copy(out.mem[n:], bip39.WordList[acc>>bits&2047])
			acc &= 1<<bits - 1
		}
		clear(sum[:])
	})
	out.Shrink(n)
	return out, nil
}

// ParseWords returns the root of 24 recovery words: any case, with spaces, tabs
// or line ends between. Errors: [ErrWordCount], a [WordError], [ErrWordsChecksum],
// [ErrRootWeak]. text stays the caller's.
func ParseWords(text []byte) (*Secret, error) {
	root, err := NewSecret(rootLen)
	if err != nil {
		return nil, err
	}
	Do(func() { err = unpackWords(text, root.Bytes()) })
	if err == nil {
		err = CheckRoot(root.Bytes())
	}
	if err != nil {
		root.Destroy()
		return nil, err
	}
	return root, nil
}

func unpackWords(text, root []byte) error {
	fields := bytes.FieldsFunc(text, isBlank)
	if len(fields) != WordCount {
		return ErrWordCount
	}
	bits, acc, next := 0, uint32(0), 0
	for i, word := range fields {
		index := wordIndex(word)
		if index < 0 {
			return &WordError{Place: i + 1}
		}
		acc = acc<<11 | uint32(index)
		bits += 11
		for bits >= 8 && next < rootLen {
			bits -= 8
			root[next] = byte(acc >> bits)
			next++
			acc &= 1<<bits - 1
		}
	}
	// What is left are the 8 bits of the checksum.
	sum := sha256.Sum256(root)
	if byte(acc) != sum[0] || bits != 8 {
		return ErrWordsChecksum
	}
	return nil
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// wordIndex looks a word up without making a string of it; -1: not in the list.
func wordIndex(word []byte) int {
	for i, w := range bip39.WordList {
		if len(w) == len(word) && equalFold(w, word) {
			return i
		}
	}
	return -1
}

func equalFold(w string, word []byte) bool {
	for i, b := range word {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != w[i] {
			return false
		}
	}
	return true
}

// ParseRoot returns the root that an owner typed: 24 words, or 0x and 64 hex
// digits of either case. Errors are those of [ParseWords], and [ErrRootHex] for
// a text that begins with 0x. text stays the caller's.
func ParseRoot(text []byte) (*Secret, error) {
	trimmed := bytes.TrimFunc(text, isBlank)
	if !bytes.HasPrefix(trimmed, []byte("0x")) && !bytes.HasPrefix(trimmed, []byte("0X")) {
		return ParseWords(text)
	}
	if len(trimmed) != 2+2*rootLen {
		return nil, ErrRootHex
	}
	root, err := NewSecret(rootLen)
	if err != nil {
		return nil, err
	}
	Do(func() { _, err = hex.Decode(root.Bytes(), trimmed[2:]) })
	if err != nil {
		// The library's error would quote a byte of the root.
		err = ErrRootHex
	} else {
		err = CheckRoot(root.Bytes())
	}
	if err != nil {
		root.Destroy()
		return nil, err
	}
	return root, nil
}
