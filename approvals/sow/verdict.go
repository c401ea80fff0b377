package sow

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"vault/approvals/sow/money"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// Disputed is the amount a dispute was opened against (5.10.2).
type Disputed struct {
	Amount   int64
	Currency string
}

// CheckVerdict checks an arbiter's verdict (5.10.1) and, where the dispute is
// known, that it rules on what was opened.
func CheckVerdict(v jcs.Value, opened *Disputed) Findings {
	c := &checker{}
	if !c.need(v.Kind() == jcs.Object && among(v.Get("verdict"), "v1") && among(v.Get("role"), "arbiter"), "verdict_format", "") {
		return c.found
	}
	for _, name := range []string{"engagement", "dispute", "attribution", "by"} {
		c.need(prose(v.Get(name), 64), "verdict_format", name)
	}
	disputed, split := v.Get("disputed"), v.Get("split")
	amount, okA := nonneg(disputed.Get("amount"))
	c.need(okA && matches(disputed.Get("currency"), currencyForm), "verdict_format", "disputed")
	p, okP := nonneg(split.Get("provider"))
	cl, okC := nonneg(split.Get("client"))
	if c.need(okP && okC, "verdict_split", "split") && okA {
		c.need(money.Split{Provider: p, Client: cl}.Sums(amount), "verdict_split_sum", "split")
	}
	if opened != nil {
		c.need(!okA || amount == opened.Amount, "verdict_amount_mismatch", "disputed.amount")
		c.need(disputed.Get("currency").Text() == opened.Currency, "verdict_currency_mismatch", "disputed.currency")
	}
	basis := v.Get("basis")
	c.need(isNat(basis.Get("count")) && matches(basis.Get("ids_sha256"), hexForm), "verdict_basis_digest", "basis")
	if x := basis.Get("excluded"); x.Exists() && c.need(x.Kind() == jcs.Array && x.Len() > 0, "verdict_excluded_empty", "basis.excluded") {
		for i, e := range x.Items() {
			c.need(prose(e.Get("id"), 64) && filled(e.Get("why")), "verdict_excluded_why", item("basis.excluded", i))
		}
	}
	heard := v.Get("heard")
	c.need(heard.Get("provider").Kind() == jcs.Bool && heard.Get("client").Kind() == jcs.Bool, "verdict_heard", "heard")
	c.need(filled(v.Get("reasons")), "verdict_format", "reasons")
	c.need(isInstant(v.Get("produced_at")), "verdict_format", "produced_at")
	if s := v.Get("signatures"); s.Exists() {
		c.need(s.Kind() == jcs.Array, "verdict_format", "signatures")
	}
	return c.found
}

// VerdictCanonical returns the canonical form a verdict's signature covers.
func VerdictCanonical(v jcs.Value) []byte { return v.Without("signatures").Canonical() }

// VerifyVerdict reports a signature over the verdict by the arbiter it names,
// whose key the caller must know to be the one appointed.
func VerifyVerdict(v jcs.Value) *Finding {
	for _, s := range v.Get("signatures").Items() {
		if s.Get("key").Text() == v.Get("by").Text() && verify(s.Get("key"), s.Get("sig"), tag.ArbiterVerdict, VerdictCanonical(v)) == "" {
			return nil
		}
	}
	return one("verdict_signature", "signatures")
}

// BasisDigest is the SHA-256 over the canonical list of the sorted record ids
// a verdict ruled from, 64 lower hex digits (5.10.1).
func BasisDigest(ids []string) string {
	list := slices.Clone(ids)
	slices.SortFunc(list, jcs.CompareUTF16)
	sum := sha256.Sum256(textList(list))
	return hex.EncodeToString(sum[:])
}
