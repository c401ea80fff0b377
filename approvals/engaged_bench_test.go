package approvals_test

import (
	"context"
	"testing"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
)

const benchRows = 10_000

// BenchmarkEngagements opens, filters and pages a list of 10,000 engagements, and opens one of them.
func BenchmarkEngagements(b *testing.B) {
	w := benchWorld(b)
	offer := offerOf(b)
	ctx := context.Background()
	id := ""
	for i := range benchRows {
		d := requested(b, offer, "owner/gable", wickAgent, w.clock.Now()+int64(i)*1000, "holds-brand-licence")
		out, err := w.owner.Import(ctx, d.Raw(), "", agreement.Source{Kind: "file"})
		if err != nil || out.Code != "" {
			b.Fatal(out, err)
		}
		id = out.Engagement
	}
	for name, f := range map[string]approvals.EngagementFilter{
		"first page": {Limit: 100}, "text": {Text: "gable", Limit: 100}, "text that is nowhere": {Text: "nobody has this name", Limit: 100},
		"state": {States: []sow.State{sow.PartiallySigned}, Limit: 100}, "waiting": {Waiting: true, Limit: 100},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := w.owner.Engagements(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("all pages", func(b *testing.B) {
		for b.Loop() {
			n, after := 0, ""
			for {
				page, err := w.owner.Engagements(approvals.EngagementFilter{Limit: 200, After: after})
				if err != nil {
					b.Fatal(err)
				}
				n += len(page.Rows)
				if after = page.Next; after == "" {
					break
				}
			}
			if n != benchRows {
				b.Fatalf("%d rows", n)
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.owner.Engagement(id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
