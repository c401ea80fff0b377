package bounds

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vault/derive/envelope"
)

func at(s string) int64 {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMilli()
}

func support() envelope.DelegateFields {
	return envelope.DelegateFields{
		AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*"},
		BotPolicy: envelope.BotSet, AllowedBotAddresses: []string{"0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835"},
		MaxMints: 100, MaxUsesPerAction: 10,
		Window: envelope.Window{NotAfter: envelope.Some(at("2026-12-31T23:59:59.999Z"))},
	}
}

func TestSentence(t *testing.T) {
	for _, c := range []struct {
		name, bot, want string
		edit            func(*envelope.DelegateFields)
	}{
		{"the issue's own", "support-bot", "support-bot may send-message on thread:*, at most 10 times with each key, with up to 100 keys, until 31 December 2026.", func(*envelope.DelegateFields) {}},
		{"one of each", "b", "b may send-message on thread:*, at most 1 time with each key, with up to 1 key, until 31 December 2026.", func(f *envelope.DelegateFields) {
			f.MaxMints, f.MaxUsesPerAction = 1, 1
		}},
		{"any bot", "b", "Any bot that signs may send-message on thread:*, at most 10 times with each key, with up to 100 keys, until 31 December 2026.", func(f *envelope.DelegateFields) { f.BotPolicy = envelope.BotAny }},
		{"no end", "b", "b may send-message on thread:*, at most 10 times with each key, with up to 1,000,000 keys, until you revoke it.", func(f *envelope.DelegateFields) {
			f.Window, f.MaxMints = envelope.Window{}, 1_000_000
		}},
		{"lists", "", "Each of 2 named bots may a, b or c on x:1 or x:2, at most 10 times with each key, with up to 100 keys, from 1 October 2026, 09:30 UTC until 31 December 2026, 12:00 UTC.", func(f *envelope.DelegateFields) {
			f.AllowedBotAddresses = append(f.AllowedBotAddresses, "0xdd6c5332ba7959b597cb0ca1a65be7e26f8b9c3b")
			f.AllowedOperations, f.AllowedResources = []string{"a", "b", "c"}, []string{"x:1", "x:2"}
			f.Window = envelope.Window{NotBefore: envelope.Some(at("2026-10-01T09:30:00Z")), NotAfter: envelope.Some(at("2026-12-31T12:00:00Z"))}
		}},
		{"everything", "b", "b may send-message on every resource, at most 10 times with each key, with up to 100 keys, until 31 December 2026.", func(f *envelope.DelegateFields) {
			f.AllowedResources = []string{"thread:*", "*"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := support()
			c.edit(&f)
			if got := Text(Sentence(c.bot, f)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	f := support()
	f.AllowedResources = slices.Repeat([]string{"r"}, 40)
	if got := Text(Sentence("b", f)); !strings.Contains(got, "r, r and 24 more, at most") {
		t.Errorf("a long list: %s", got)
	}
}

// What the owner did not write is marked, so that a surface checks it.
func TestOutsideIsMarked(t *testing.T) {
	f := support()
	f.AllowedOperations, f.AllowedResources = []string{"\u202eop"}, []string{"\x1b[2Jr:*"}
	for _, p := range Sentence("name\u200b", f) {
		if hidden := strings.ContainsAny(p.Text, "\u202e\x1b\u200b"); hidden != p.Outside {
			t.Errorf("%q: outside is %v", p.Text, p.Outside)
		}
	}
}

func TestRemarks(t *testing.T) {
	for _, c := range Codes() {
		what, more, ok := Remark(c)
		if !ok || what == "" || strings.HasSuffix(what, ".") || !strings.HasSuffix(more, ".") {
			t.Errorf("%s: %q, %q", c, what, more)
		}
	}
	for c := range refused {
		what, more, ok := Refused(c)
		if !ok || what == "" || strings.HasSuffix(what, ".") || !strings.HasSuffix(more, ".") {
			t.Errorf("%s: %q, %q", c, what, more)
		}
	}
	if _, _, ok := Refused("never_heard"); ok {
		t.Error("a code that nobody uses has words")
	}
	if _, _, ok := Remark("never_heard"); ok || len(Codes()) != 12 {
		t.Errorf("%d codes", len(Codes()))
	}
}

// The sentence that explains the rule is true.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		allowed  []string
		resource string
		want     bool
	}{
		{[]string{"thread:*"}, "thread:7", true},
		{[]string{"thread:*"}, "thread:a:b", true},
		{[]string{"thread:*"}, "thread", false},
		{[]string{"thread:*"}, "threads:7", false},
		{[]string{"thread:*"}, "thread:*", false},
		{[]string{"thread"}, "thread", true},
		{[]string{"a:b:*"}, "a:b:c", false},
		{[]string{"*"}, "anything", true},
		{[]string{"*"}, "*", false},
		{nil, "x", false},
	} {
		if by, why := envelope.ResourceMatch(c.allowed, c.resource); (by != "") != c.want {
			t.Errorf("%v covers %q: by %q, %q, want %v", c.allowed, c.resource, by, why, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -12345: "-12,345", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
