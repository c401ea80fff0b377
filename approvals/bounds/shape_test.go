package bounds

import (
	"slices"
	"strings"
	"testing"

	"vault/derive/envelope"
)

func TestShape(t *testing.T) {
	const issuer = "0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835"
	twice := "0x" + strings.Repeat("ab", 20)
	for name, c := range map[string]struct {
		edit func(*envelope.DelegateFields)
		want []Warning
	}{
		"nothing":         {func(*envelope.DelegateFields) {}, nil},
		"every resource":  {func(f *envelope.DelegateFields) { f.AllowedResources = []string{"*"} }, []Warning{{"any_resource", ""}}},
		"nested wildcard": {func(f *envelope.DelegateFields) { f.AllowedResources = []string{"a:b:*"} }, []Warning{{"wildcard_never_matches", "a:b:*"}}},
		"a bare word":     {func(f *envelope.DelegateFields) { f.AllowedResources = []string{"thread", "thread:*"} }, []Warning{{"bare_prefix", "thread"}}},
		"a word alone":    {func(f *envelope.DelegateFields) { f.AllowedResources = []string{"thread", "invoice:*"} }, nil},
		"any bot":         {func(f *envelope.DelegateFields) { f.BotPolicy, f.AllowedBotAddresses = envelope.BotAny, nil }, []Warning{{"any_bot", ""}}},
		"1,000 of each":   {func(f *envelope.DelegateFields) { f.MaxMints, f.MaxUsesPerAction = 1000, 1000 }, nil},
		"more of each": {func(f *envelope.DelegateFields) { f.MaxMints, f.MaxUsesPerAction = 1001, 1001 },
			[]Warning{{"many_mints", ""}, {"many_uses", ""}}},
		"one bot twice": {func(f *envelope.DelegateFields) { f.AllowedBotAddresses = []string{twice, twice} }, []Warning{{"one_bot_many_addresses", twice}}},
		"capitals": {func(f *envelope.DelegateFields) {
			f.AllowedOperations, f.AllowedResources = []string{"Send"}, []string{"thread:7 "}
		},
			[]Warning{{"not_normal", "Send"}, {"not_normal", "thread:7 "}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := envelope.DelegateFields{
				DomainHash: "0x" + strings.Repeat("cd", 32), AllowedOperations: []string{"send"}, AllowedResources: []string{"thread:*"},
				BotPolicy: envelope.BotSet, AllowedBotAddresses: []string{twice}, IndexMax: 1, MaxMints: 1, MaxUsesPerAction: 1,
				Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-11-30T00:00:00.000Z",
			}
			c.edit(&f)
			m, err := envelope.NewMintDelegate(issuer, f)
			if err != nil {
				t.Fatal(err)
			}
			if got := Shape(m); !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			for _, w := range c.want {
				if _, _, ok := Remark(w.Code); !ok {
					t.Errorf("%s has no words", w.Code)
				}
			}
		})
	}
}

// An id that does not follow from the rule is a label as good as another, and said to be one.
func TestShapeOfAForeignID(t *testing.T) {
	m, err := envelope.NewMintDelegate("0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835", envelope.DelegateFields{
		DomainHash: "0x" + strings.Repeat("cd", 32), AllowedOperations: []string{"send"}, AllowedResources: []string{"thread:*"},
		BotPolicy: envelope.BotAny, IndexMax: 1, MaxMints: 1, MaxUsesPerAction: 1, Nonce: "0x" + strings.Repeat("11", 32), IssuedAt: "2026-11-30T00:00:00.000Z",
	})
	if err != nil {
		t.Fatal(err)
	}
	other, err := envelope.ParseMintDelegate([]byte(strings.Replace(string(m.Body()), m.ID(), "mine", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := Shape(other); !slices.Equal(got, []Warning{{"any_bot", ""}, {"id_not_by_rule", "mine"}}) {
		t.Errorf("%+v", got)
	}
}

func TestSpan(t *testing.T) {
	const now = 100 * dayMS
	window := func(from, until int64) envelope.Window {
		return envelope.Window{NotBefore: envelope.Some(from), NotAfter: envelope.Some(until)}
	}
	for name, c := range map[string]struct {
		w    envelope.Window
		want []Warning
	}{
		"open":                   {envelope.Window{}, []Warning{{"no_end", ""}}},
		"begun, without an end":  {envelope.Window{NotBefore: envelope.Some(0)}, []Warning{{"no_end", ""}}},
		"90 days":                {window(now, now+longMS), nil},
		"longer":                 {window(now, now+longMS+1), []Warning{{"long", ""}}},
		"90 days from now":       {envelope.Window{NotAfter: envelope.Some(now + longMS)}, nil},
		"longer from now":        {envelope.Window{NotAfter: envelope.Some(now + longMS + 1)}, []Warning{{"long", ""}}},
		"its last instant":       {window(now-1, now), nil},
		"over":                   {window(now-2, now-1), []Warning{{"already_over", ""}}},
		"long, and over already": {window(0, now-1), []Warning{{"long", ""}, {"already_over", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Span(c.w, now); !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
