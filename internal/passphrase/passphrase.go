// Package passphrase is the rule for new passphrases, written once for the
// window that asks for one and the key process that takes it.
package passphrase

import "unicode/utf8"

// Limits of a new passphrase.
const (
	Min = 12   // characters
	Max = 1024 // bytes
)

// The reasons for which one is not taken.
const (
	TooShort     = "too_short"     // fewer than Min characters
	TooLong      = "too_long"      // more than Max bytes
	OneCharacter = "one_character" // one character over and over
	NotText      = "not_text"      // not UTF-8
)

// Check says why a new passphrase is not taken, or "". It keeps no copy.
func Check(p []byte) string {
	if len(p) > Max {
		return TooLong
	}
	if !utf8.Valid(p) {
		return NotText
	}
	if utf8.RuneCount(p) < Min {
		return TooShort
	}
	first, _ := utf8.DecodeRune(p)
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r != first {
			return ""
		}
		i += n
	}
	return OneCharacter
}
