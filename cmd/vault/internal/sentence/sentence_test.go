package sentence

import (
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var codes []string
	avoid := []string{"invalid", "failed", "illegal", "sorry", "oops", "please", "simply", "just ", "secure", "trusted"}
	for _, r := range table {
		if slices.Contains(codes, r.code) {
			t.Errorf("%s stands twice", r.code)
		}
		codes = append(codes, r.code)
		for _, s := range []string{r.sentence, r.remedy} {
			if !strings.HasSuffix(s, ".") {
				t.Errorf("%s: %q is no sentence", r.code, s)
			}
			for _, w := range avoid {
				if strings.Contains(strings.ToLower(s), w) {
					t.Errorf("%s: %q says %q", r.code, s, w)
				}
			}
		}
	}
	if s, r, ok := Of("locked"); !ok || s == "" || r == "" {
		t.Error("locked has no sentence")
	}
	if _, _, ok := Of("never_heard"); ok {
		t.Error("a code that is not in the table has a sentence")
	}
}
