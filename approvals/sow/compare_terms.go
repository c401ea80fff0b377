package sow

import (
	"fmt"
	"strings"

	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// The sentences of this file are those of the published comparisons, word by
// word: a party reads one message whichever program compared.

// ReportingShortfall compares the level a document offers with the level
// required (5.12) and returns the shortfall's sentence, "" if it meets. A
// document is read as it stands, valid or not.
func ReportingShortfall(required string, doc jcs.Value) string {
	need, _ := ReportingRank(required)
	if need == 0 {
		return ""
	}
	r := doc.Get("reporting")
	if !r.Exists() || r.Kind() == jcs.Null {
		return fmt.Sprintf("the required reporting level is %s and this document declares no reporting clause, "+
			"which offers records_only, the mechanical record only; the test is meets or exceeds, and it does not meet (§5.12)", required)
	}
	c := &checker{}
	if c.reporting(r, "reporting"); !c.found.OK() {
		return fmt.Sprintf("the required reporting level is %s and this document's reporting clause is in a shape that cannot be read, "+
			"so what it offers cannot be established; it is counted as not meeting rather than passed unread (§5.12)", required)
	}
	level := r.Get("level").Text()
	if offered, _ := ReportingRank(level); offered >= need {
		return ""
	}
	return fmt.Sprintf("the required reporting level is %s and this document offers %s; the test is meets or exceeds, and it does not meet (§5.12)", required, level)
}

// CadenceWarning reports that what remains of a cap can be spent before the
// next check-in of a reporting clause (5.12). It refuses nothing.
func CadenceWarning(reporting jcs.Value, capRemaining, spendPerDay int64) *Finding {
	if reporting.Get("level").Text() != "check_ins" {
		return nil
	}
	every, err := span.Duration(reporting.Get("every").Text())
	if err != nil || !money.CadenceWarns(every, capRemaining, spendPerDay) {
		return nil
	}
	return one("cadence_follows_money", "reporting.every")
}

// DataRequirement is what a client requires of a confidentiality clause. The
// zero value asks nothing.
type DataRequirement struct {
	Promises         []string
	RetentionMaxDays money.Opt
	ProcessedIn      []string
}

// DataShortfall compares a document's confidentiality clause with what is
// required (5.11) and returns the first shortfall's sentence, "" if it meets.
// A document is read as it stands, valid or not.
func DataShortfall(required DataRequirement, doc jcs.Value) string {
	if len(required.Promises) == 0 && !required.RetentionMaxDays.Set && len(required.ProcessedIn) == 0 {
		return ""
	}
	v := doc.Get("confidentiality")
	if !v.Exists() || v.Kind() == jcs.Null {
		return "the requirement states confidentiality terms and this document declares none; " +
			"silence is not an answer, and it is counted as not meeting rather than read charitably (§5.11)"
	}
	c := &checker{}
	if c.dataParts(v, ""); v.Kind() != jcs.Object || !c.found.OK() {
		return "the requirement states confidentiality terms and this document's confidentiality clause is in a shape that cannot be read, " +
			"so what it promises cannot be established; it is counted as not meeting rather than passed unread (§5.11)"
	}
	for _, name := range required.Promises {
		if !v.Get("promises").Get(name).Bool() {
			return fmt.Sprintf("the requirement includes the promise %s and this document does not make it; a promise left out is a promise not made (§5.11)", name)
		}
	}
	if n := required.RetentionMaxDays; n.Set {
		m, ok := posint(v.Get("retention").Get("max_days"))
		if !ok {
			return fmt.Sprintf("the requirement caps retention at %d days and this document states no retention ceiling; an unstated ceiling does not meet a stated one (§5.11)", n.N)
		}
		if m > n.N {
			return fmt.Sprintf("the requirement caps retention at %d days and this document keeps content up to %d days; the test is a ceiling, and it is not met (§5.11)", n.N, m)
		}
	}
	if len(required.ProcessedIn) == 0 {
		return ""
	}
	list := strings.Join(required.ProcessedIn, ", ")
	stated, ok := places(v.Get("processed_in"))
	if !ok {
		return fmt.Sprintf("the requirement confines processing to %s and this document states no jurisdictions; an unstated jurisdiction may be any jurisdiction, and it is counted as not meeting rather than read charitably (§5.11)", list)
	}
	for _, place := range stated {
		if !has(required.ProcessedIn, place) {
			return fmt.Sprintf("the requirement confines processing to %s and this document processes in %s; a party may touch no jurisdiction the requirement allowed (§5.11)", list, place)
		}
	}
	return ""
}

// FlowTerms is what a flow-down comparison knows beside the two documents.
type FlowTerms struct {
	PrimeCapRemaining money.Opt // not set: the cap is not compared
	RequirePins       bool      // every named delegate must be pinned to an engagement
}

// FlowDown compares a subcontract with the engagement above it and returns one
// sentence for each term that is not narrowed (5.15), in a fixed order: pins,
// promises, retention, jurisdictions, reporting, cap. Only what the prime
// states is compared, and the documents are read as they stand.
func FlowDown(prime, sub jcs.Value, t FlowTerms) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if t.RequirePins {
		for _, e := range prime.Get("subcontracting").Get("subcontractors").Items() {
			if !filled(e.Get("engagement")) {
				say("%s is named as a delegate with no engagement pinned to it; terms that are not pinned can change after this is signed, and a party cannot promise terms it does not hold (§5.15)", delegate(e))
			}
		}
	}
	p, s := prime.Get("confidentiality"), sub.Get("confidentiality")
	for _, name := range promises {
		if p.Get("promises").Get(name).Bool() && !s.Get("promises").Get(name).Bool() {
			say("the prime promises %s and this subcontract does not; a delegate may not be freer with the content than the party that took it (§5.15)", name)
		}
	}
	if days, ok := posint(p.Get("retention").Get("max_days")); ok {
		own, ok := posint(s.Get("retention").Get("max_days"))
		switch {
		case !ok:
			say("the prime caps retention at %d days and this subcontract states no retention ceiling; an unstated ceiling narrows nothing, and terms only narrow going down (§5.15)", days)
		case own > days:
			say("the prime caps retention at %d days and this subcontract keeps content up to %d days; a delegate may retain no longer than the party that took the content (§5.15)", days, own)
		}
	}
	if allowed, ok := places(p.Get("processed_in")); ok {
		list := strings.Join(allowed, ", ")
		own, ok := places(s.Get("processed_in"))
		if !ok {
			say("the prime confines processing to %s and this subcontract states no jurisdictions; an unstated jurisdiction may be any jurisdiction, and terms only narrow going down (§5.15)", list)
		}
		for _, place := range own {
			if ok && !has(allowed, place) {
				say("the prime confines processing to %s and this subcontract processes in %s; a delegate may touch no jurisdiction the party above it did not (§5.15)", list, place)
			}
		}
	}
	level := prime.Get("reporting").Get("level").Text()
	if need, ok := ReportingRank(level); ok {
		own := sub.Get("reporting").Get("level").Text()
		offered, stated := ReportingRank(own)
		switch {
		case offered >= need:
		case stated:
			say("the prime owes %s reporting and this subcontract offers %s; a delegate's reporting must be sufficient for the link above to meet its own (§5.15)", level, own)
		default:
			say("the prime owes %s reporting and this subcontract declares none, which offers records_only; a delegate's reporting must be sufficient for the link above to meet its own (§5.15)", level)
		}
	}
	if t.PrimeCapRemaining.Set && sub.Get("price").Get("arrangement").Text() == string(money.TimeAndMaterials) {
		left := max(0, t.PrimeCapRemaining.N)
		if own, ok := posint(sub.Get("price").Get("cap").Get("amount")); ok && own > left {
			say("the subcontract's cap of %d is larger than what remains of the cap above it (%d); at every link the cap fits inside the remainder of the cap above (§5.15)", own, left)
		}
	}
	return out
}

func delegate(e jcs.Value) string {
	for _, name := range []string{"handle", "agent", "role"} {
		if e.Get(name).Exists() {
			return e.Get(name).Text()
		}
	}
	return "a delegate"
}
