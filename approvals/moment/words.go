package moment

import (
	"strings"
	"unicode"

	"github.com/cosmos/go-bip39"
)

// recoveryRun is how many words in a row make a text look like recovery words:
// the fewest that BIP-39 has.
const recoveryRun = 12

// HoldsRecoveryWords reports that a text holds twelve words of the English
// BIP-39 list in a row, whatever stands between them that is not a letter.
func HoldsRecoveryWords(text string) bool {
	run := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if _, ok := bip39.ReverseWordMap[w]; !ok {
			run = 0
			continue
		}
		if run++; run == recoveryRun {
			return true
		}
	}
	return false
}

// Blank reports a text that shows nothing: it has no letter, digit, punctuation or
// symbol that is drawn.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		switch {
		case r == 0x2800, r == 0x16fe4, r == 0x1d159, r == 0x1d455:
			return false
		}
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) &&
			!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}
