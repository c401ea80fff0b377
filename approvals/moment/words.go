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
