package agreement

import (
	"vault/approvals/sow"
	"vault/approvals/sow/money"
)

// Compare says what a document changes against an older one: leaf by leaf, money and dates first, with the findings of sow.CheckAmendment.
func Compare(a, b *sow.Document) Comparison {
	out := Comparison{Old: a.Digest(), New: b.Digest(), Changes: sow.Compare(a, b), Findings: sow.CheckAmendment(a, b, false)}
	from, f := a.Price()
	to, g := b.Price()
	if f.OK() && g.OK() {
		out.Consequences = money.Consequences(from, to)
	}
	for _, c := range out.Changes {
		out.Instruments = out.Instruments || topOf(c.Path) == "price" || topOf(c.Path) == "scope"
	}
	return out
}

func topOf(path string) string {
	for i := range path {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return path
}
