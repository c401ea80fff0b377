package fourwords_test

import (
	"errors"
	"strings"
	"testing"

	"vault/approvals/fourwords"
)

func TestOf(t *testing.T) {
	for _, row := range []struct {
		name, digest string
		want         string
	}{
		{"zeros", "0x" + strings.Repeat("0", 64), "abandon abandon abandon abandon"},
		{"ones", "0x" + strings.Repeat("f", 64), "zoo zoo zoo zoo"},
		// 0x00 0x20 0x08 0x01 0x80 0x40: indexes 1, 2 in eleven bits, then 3, 4.
		{"one to four", "0x002008018040" + strings.Repeat("0", 52), "ability able about above"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := fourwords.Of(row.digest)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got[:], " ") != row.want {
				t.Errorf("words %q, want %q", got, row.want)
			}
		})
	}
	for _, bad := range []string{"", "0x", strings.Repeat("0", 64), "0x" + strings.Repeat("0", 63),
		"0x" + strings.Repeat("0", 66), "0x" + strings.Repeat("F", 64), "0x" + strings.Repeat("g", 64)} {
		if _, err := fourwords.Of(bad); !errors.Is(err, fourwords.ErrDigest) {
			t.Errorf("Of(%q): %v, want ErrDigest", bad, err)
		}
	}
}

func TestMatch(t *testing.T) {
	words := [4]string{"ability", "able", "about", "above"}
	for typed, want := range map[string]bool{
		"ability able about above":       true,
		"  Ability  ABLE about  above\t": true,
		"ability able about":             false,
		"able ability about above":       false,
		"ability able about above above": false,
		"":                               false,
		"abilityableaboutabove":          false,
		"ability able about abové":       false,
	} {
		if got := fourwords.Match(words, typed); got != want {
			t.Errorf("Match(%q) = %v", typed, got)
		}
	}
}
