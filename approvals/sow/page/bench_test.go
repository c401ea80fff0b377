package page_test

import (
	"fmt"
	"strings"
	"testing"

	"vault/approvals/sow"
	"vault/approvals/sow/page"
)

// large is a sample with as many lines more as make it so many bytes.
func large(tb testing.TB, bytes int) *sow.Document {
	tb.Helper()
	text := string(samples(tb)["../testdata/docs/fixed-fee-engagement.json"])
	var more []string
	for i, n := 0, len(text); n < bytes; i++ {
		more = append(more, fmt.Sprintf(`"Reconcile statement number %d of the branch in the harbour against the ledger, and say which lines stay open.",`, i))
		n += len(more[i])
	}
	return parse(tb, []byte(strings.Replace(text, `"in_scope": [`, `"in_scope": [`+strings.Join(more, ""), 1)))
}

func BenchmarkPage(b *testing.B) {
	for _, size := range []int{4096, 50000} {
		d := large(b, size)
		f := facts(d, sow.Client)
		b.Run(fmt.Sprintf("page/%dKB", size/1000), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				page.Of(d, f)
			}
		})
		p := page.Of(d, f)
		b.Run(fmt.Sprintf("text/%dKB", size/1000), func(b *testing.B) {
			for b.Loop() {
				p.Text()
			}
		})
		b.Run(fmt.Sprintf("html/%dKB", size/1000), func(b *testing.B) {
			for b.Loop() {
				p.HTML()
			}
		})
		b.Run(fmt.Sprintf("compare/%dKB", size/1000), func(b *testing.B) {
			for b.Loop() {
				page.Compare(d, d, f)
			}
		})
	}
}
