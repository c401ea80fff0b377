// Package fourwords names a digest by four English words, so that a person can
// carry it from one screen of the vault to another: the terminal surface asks for
// them, and the secret window shows them above the passphrase.
//
// 44 bits are enough to notice that two screens mean different things. They do not
// replace the digest, and they are no secret.
package fourwords

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/cosmos/go-bip39"
)

// ErrDigest says that a text is not 0x and 64 lower-case hex digits.
var ErrDigest = errors.New("not a digest")

// Of gives the four words of a digest: the BIP-39 English words at its first four
// groups of eleven bits.
func Of(digest string) ([4]string, error) {
	text, ok := strings.CutPrefix(digest, "0x")
	raw, err := hex.DecodeString(text)
	if !ok || err != nil || len(raw) != 32 || text != strings.ToLower(text) {
		return [4]string{}, ErrDigest
	}
	var bits uint64
	for _, b := range raw[:6] {
		bits = bits<<8 | uint64(b)
	}
	var out [4]string
	for i := range out {
		out[i] = bip39.WordList[bits>>(48-11*(i+1))&0x7ff]
	}
	return out, nil
}

// Match says whether typed is those words in that order. Case and the number of
// spaces do not matter.
func Match(words [4]string, typed string) bool {
	return strings.Join(strings.Fields(strings.ToLower(typed)), " ") == strings.Join(words[:], " ")
}
