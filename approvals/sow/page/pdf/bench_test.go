package pdf

import (
	"testing"

	"vault/approvals/sow/page"
)

func BenchmarkPDF(b *testing.B) {
	d := sample(b, "time-and-materials-engagement")
	p := page.Of(d, facts(d))
	for b.Loop() {
		if _, err := Page(p); err != nil {
			b.Fatal(err)
		}
	}
}
