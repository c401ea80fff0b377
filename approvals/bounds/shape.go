package bounds

import (
	"slices"
	"strings"

	"vault/derive/envelope"
)

// Warning is a dangerous or mistaken shape of a delegate; [Remark] has the words for it. Subject is the value
// concerned, which may come from outside, or empty.
type Warning struct {
	// Code is "any_resource" (*), "no_end", "any_bot", "wildcard_never_matches" (a:b:*),
	// "bare_prefix" (a resource without a colon that has a wildcard beside it), "many_mints"
	// (more than 1,000), "many_uses" (more than 1,000 per mint), "long" (more than 90 days),
	// "already_over", "id_not_by_rule" (imported), "not_normal" (an operation or resource not in
	// normal form, which other tools may normalise) or "one_bot_many_addresses" (the same address twice).
	Code    string
	Subject string
}

const (
	manyMints = 1000
	manyUses  = 1000
	longMS    = 90 * dayMS
)

// Shape gives the warnings about a delegate that no clock changes.
func Shape(m *envelope.MintDelegate) []Warning {
	f := m.Fields()
	var out []Warning
	warn := func(code, subject string) { out = append(out, Warning{code, subject}) }
	for _, r := range f.AllowedResources {
		prefix, wild := strings.CutSuffix(r, ":*")
		switch {
		case r == "*":
			warn("any_resource", "")
		case wild && strings.Contains(prefix, ":"):
			warn("wildcard_never_matches", r)
		case !strings.Contains(r, ":") && slices.Contains(f.AllowedResources, r+":*"):
			warn("bare_prefix", r)
		}
	}
	if f.BotPolicy == envelope.BotAny {
		warn("any_bot", "")
	}
	if f.MaxMints > manyMints {
		warn("many_mints", "")
	}
	if f.MaxUsesPerAction > manyUses {
		warn("many_uses", "")
	}
	seen := map[string]bool{}
	for _, a := range f.AllowedBotAddresses {
		if a = strings.ToLower(a); seen[a] {
			warn("one_bot_many_addresses", a)
		}
		seen[a] = true
	}
	for _, texts := range [][]string{f.AllowedOperations, f.AllowedResources} {
		for _, t := range texts {
			if strings.ToLower(strings.TrimSpace(t)) != t {
				warn("not_normal", t)
			}
		}
	}
	if !m.IDByRule() {
		warn("id_not_by_rule", m.ID())
	}
	return out
}

// Span gives the warnings about a delegate's window at an instant, in milliseconds since the epoch.
func Span(w envelope.Window, now int64) []Warning {
	if !w.NotAfter.Set {
		return []Warning{{"no_end", ""}}
	}
	from := now
	if w.NotBefore.Set {
		from = w.NotBefore.N
	}
	var out []Warning
	if w.NotAfter.N-from > longMS {
		out = append(out, Warning{"long", ""})
	}
	if w.NotAfter.N < now {
		out = append(out, Warning{"already_over", ""})
	}
	return out
}
