package sign

import (
	"strings"
	"testing"
)

// TestPriceLine: a ceremony says of a bound whether it is for a month or for all of it.
func TestPriceLine(t *testing.T) {
	for name, c := range map[string]struct{ sample, want string }{
		"ceiling":   {"fixed-fee-engagement", " a month, in the smallest unit."},
		"cap":       {"time-and-materials-engagement", " in all, in the smallest unit."},
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
