package sign

import (
	"strings"
	"testing"
)

// TestPriceLine: a ceremony says of a bound whether it is for a month or for all of it.
func TestPriceLine(t *testing.T) {
	for name, c := range map[string]struct{ sample, want string }{
		"ceiling":   {"fixed-fee-engagement", "at most 30.00 “XCR” a month; in the document 30000000 of the smallest unit."},
		"cap":       {"time-and-materials-engagement", "at most 12,500.00 “EUR” in all; in the document 1250000 of the smallest unit."},
		"unbounded": {"standing-proposal", "without a bound."},
		"nothing":   {"no-charge-engagement", "nothing is charged."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := priceLine(sowDoc(t, c.sample, nil)); !strings.HasSuffix(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestAmountOfAnUnknownCurrency: what a currency's smallest unit is worth is not guessed.
func TestAmountOfAnUnknownCurrency(t *testing.T) {
	for currency, want := range map[string]string{
		"QQQ": "1234567 “QQQ” in all, in the smallest unit",
		"JPY": "1234567 “JPY” in all, in the smallest unit",
		"KWD": "1,234.567 “KWD” in all; in the document 1234567 of the smallest unit",
	} {
		if got := amount(1234567, currency, " in all"); got != want {
			t.Errorf("%s is %q", currency, got)
		}
	}
}
