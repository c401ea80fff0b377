package money

// BasisKind is what an operator fee was computed from (5.5.8).
type BasisKind string

// The kinds of bases, a closed set.
const (
	Percent BasisKind = "percent"
	Fixed   BasisKind = "fixed"
)

// Basis is a whole percentage of a base, or a fixed charge.
type Basis struct {
	Kind BasisKind
	N    int64
}

// Amount returns the fee the basis makes of a base: floor(base*percent/100),
// or the fixed charge whatever the base. The error is ErrRange.
func (b Basis) Amount(base int64) (int64, error) {
	if !inRange(b.N) || !inRange(base) {
		return 0, ErrRange
	}
	if b.Kind == Fixed {
		return b.N, nil
	}
	n, ok := mulDiv(base, b.N, 100)
	if !ok {
		return 0, ErrRange
	}
	return n, nil
}

// Fee is an operator fee line (5.5.8).
type Fee struct {
	Operator string // "" if not named
	Basis    Basis
	Base     int64
	Amount   int64
}

// Closes reports that the amount is exactly what basis and base make. There is
// no tolerance.
func (f Fee) Closes() bool {
	n, err := f.Basis.Amount(f.Base)
	return err == nil && n == f.Amount
}

// Fit returns the largest rated total whose sum with its own fee stays within
// what remains of a cap or ceiling; the whole of it without a basis (5.5.3,
// 5.5.8). It is 0 if nothing fits.
func Fit(remaining int64, basis *Basis) int64 {
	if remaining <= 0 {
		return 0
	}
	if basis == nil {
		return remaining
	}
	if basis.Kind == Fixed {
		return max(0, remaining-basis.N)
	}
	fit, ok := mulDiv(remaining, 100, 100+basis.N)
	if !ok {
		return 0
	}
	// The fee floors, so one more unit may fit than the closed form says.
	for {
		fee, err := basis.Amount(fit + 1)
		if err != nil || fit+1+fee > remaining {
			return fit
		}
		fit++
	}
}

// FeeGrade is the grade an operator fee's disclosure earns: enforced only
// where one operator both built the quote and settled the charge, else
// recorded. The basis itself is evidence, always (5.5.8).
func FeeGrade(builtQuote, settled bool) string {
	if builtQuote && settled {
		return "enforced"
	}
	return "recorded"
}

// BasisGrade is the grade of a fee's basis (5.5.8).
const BasisGrade = "evidence"
