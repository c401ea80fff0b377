package units_test

import (
	"testing"

	"vault/approvals/sow/units"
)

// TestAmounts: what is written is read back, and nothing else is read.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		n              int64
		currency, want string
	}{
		{2500000, "XCR", "2.50"}, {1, "XCR", "0.000001"}, {0, "XCR", "0.00"}, {1250000, "EUR", "12500.00"}, {5, "USD", "0.05"},
		{1234567, "JPY", "1234567"}, {1234567, "KWD", "1234.567"}, {1234567, "QQQ", "1234567"}, {7, "", "7"}, {1<<53 - 1, "XCR", "9007199254.740991"},
	} {
		if got := units.Plain(c.n, c.currency); got != c.want {
			t.Errorf("%d of %q is %q, not %q", c.n, c.currency, got, c.want)
		}
		if n, ok := units.Parse(units.Plain(c.n, c.currency), c.currency); !ok || n != c.n {
			t.Errorf("%d of %q is read back as %d, %v", c.n, c.currency, n, ok)
		}
	}
	for _, bad := range []string{"", ".", "-1", "1.005", "1e3", "1 000", "٣", "0x10", "99999999999999999", "1.2.3", "90071992547409.93"} {
		if n, ok := units.Parse(bad, "EUR"); ok {
			t.Errorf("%q is read as %d", bad, n)
		}
	}
	for text, want := range map[string]int64{"12.50": 1250, "1,250": 125000, " 7 ": 700, "0.1": 10, "3.": 300, "1.5000": 150} {
		if n, ok := units.Parse(text, "EUR"); !ok || n != want {
			t.Errorf("%q is read as %d, %v", text, n, ok)
		}
	}
}
