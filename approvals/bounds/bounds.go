// Package bounds says in words what a mint delegate allows: one sentence, what is to
// be known before it is signed, and which of its bounds a request goes past. All
// surfaces of the vault, and the page on which a passkey confirms, say it alike.
//
// It decides nothing and verifies nothing: derive/envelope does.
package bounds

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"vault/derive/envelope"
)

// Part is a piece of a sentence: words of ours, or a text that may come from outside and
// is to be checked before it is drawn.
type Part struct {
	Text    string
	Outside bool
}

// AnyBot stands in the sentence where no bot is named.
const AnyBot = "Any bot that signs"

// Sentence says what a delegate allows, without a link to any time but its own. Bot is
// the owner's name for it, or empty. At most 16 operations and 16 resources are named;
// the rest is counted.
func Sentence(bot string, f envelope.DelegateFields) []Part {
	var out []Part
	ours := func(s string) { out = append(out, Part{Text: s}) }
	switch {
	case f.BotPolicy == envelope.BotAny:
		ours(AnyBot)
	case bot != "":
		out = append(out, Part{bot, true})
	case len(f.AllowedBotAddresses) == 1:
		ours("The bot that is named")
	default:
		ours("Each of " + Number(int64(len(f.AllowedBotAddresses))) + " named bots")
	}
	ours(" may ")
	out = append(out, list(f.AllowedOperations, " or ")...)
	ours(" on ")
	if slices.Contains(f.AllowedResources, "*") {
		ours("every resource")
	} else {
		out = append(out, list(f.AllowedResources, " or ")...)
	}
	ours(", at most " + count(f.MaxUsesPerAction, "time", "times") + " with each key, with up to " + count(f.MaxMints, "key", "keys") + ", " + Until(f.Window) + ".")
	return out
}

// Text is the sentence as one text, with what is from outside as it is.
func Text(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

const most = 16

func list(names []string, last string) []Part {
	var out []Part
	for i, n := range names {
		switch {
		case i == most:
			return append(out, Part{Text: " and " + Number(int64(len(names)-most)) + " more"})
		case i > 0 && i == len(names)-1:
			out = append(out, Part{Text: last})
		case i > 0:
			out = append(out, Part{Text: ", "})
		}
		out = append(out, Part{n, true})
	}
	if out == nil {
		out = []Part{{Text: "nothing"}}
	}
	return out
}

// Until says when a window begins, where it has not always, and when it ends, in UTC. A
// window that ends with a day is said by that day.
func Until(w envelope.Window) string {
	out := ""
	if w.NotBefore.Set {
		out = "from " + Day(w.NotBefore.N, false) + " "
	}
	if !w.NotAfter.Set {
		return out + "until you revoke it"
	}
	return out + "until " + Day(w.NotAfter.N, true)
}

const dayMS = int64(24 * time.Hour / time.Millisecond)

// Day writes a time in milliseconds since the epoch as a date, with hour and minute
// where it is not the first (or, for an end, the last) instant of a UTC day.
func Day(ms int64, end bool) string {
	t := time.UnixMilli(ms).UTC()
	within := ((ms % dayMS) + dayMS) % dayMS
	if end && within >= dayMS-1000 || !end && within == 0 {
		return t.Format("2 January 2006")
	}
	return t.Format("2 January 2006, 15:04 UTC")
}

// Remark gives the words for a warning about a delegate: what it is, and what follows or what
// to do. Subject is the value concerned, which may come from outside and is no part of the words.
// It is false for a code that has none.
func Remark(code string) (what, more string, ok bool) {
	r, ok := remarks[code]
	return r[0], r[1], ok
}

// Codes are all codes that Remark knows.
func Codes() []string {
	out := make([]string, 0, len(remarks))
	for c := range remarks {
		out = append(out, c)
	}
	return out
}

var remarks = map[string][2]string{
	"any_resource":           {"* matches every resource of this domain", "Also ones made later. Name what it may touch instead, such as thread:*."},
	"any_bot":                {"Any bot can ask", "Whoever makes a key pair, and is paired with this vault, can mint under it. Name addresses instead."},
	"no_end":                 {"It has no end", "It lasts until you revoke it."},
	"long":                   {"It lasts longer than 90 days", "A shorter one can be issued again."},
	"many_mints":             {"It makes more than 1,000 keys", "Each of them signs by itself. A delegate with fewer can be issued again."},
	"many_uses":              {"Each key signs more than 1,000 times", "You see none of these texts first."},
	"wildcard_never_matches": {"A wildcard never matches", "Only what stands before the first colon counts: a:* covers a:b:c, and a:b:* covers nothing."},
	"bare_prefix":            {"A word without a colon beside its wildcard", "thread:* does not cover the bare word thread; this line does, and nobody else’s tool has to."},
	"already_over":           {"Its end has passed", "Nothing can be minted under it."},
	"id_not_by_rule":         {"Its id is not the one that the rule gives", "The id is a label and decides nothing here. The vault names a delegate by its hash."},
	"not_normal":             {"A name is not in its normal form", "Other tools may write it in lower case and without spaces; then it is another name."},
	"one_bot_many_addresses": {"An address stands twice", "It counts once."},
}

// Refused gives the owner's words for why something about a delegate was not done: what is so, and what did
// not happen with what to do. It is false for a code that is none of those.
func Refused(code string) (what, more string, ok bool) {
	r, ok := refused[code]
	return r[0], r[1], ok
}

var refused = map[string][2]string{
	"delegate_malformed": {"That is no mint delegate", "Nothing was brought in."},
	"delegate_signature": {"It is not signed by the issuer that it names", "Nothing was brought in."},
	"delegate_issuer":    {"Its issuer is no domain of this vault", "Nothing was brought in. It belongs to another vault, or to a domain that is not here."},
	"delegate_summary":   {"What is said of its domain is about another one", "Nothing was brought in. Get it again from where it was issued."},
	"delegate_exists":    {"This delegate is here already", "Nothing was changed."},
	"unknown_domain":     {"Its domain is not in this vault", "Nothing was changed. Make the domain with the same names first; its address follows from them."},
	"mints_range":        {"That is no number of keys this delegate can make", "Nothing was changed."},
	"plan_old":           {"The form was open for more than ten minutes", "Nothing was signed. Look at it again, then issue it."},
	"recipient":          {"That is no recipient that age knows", "Nothing left the vault. Copy it from the one who will open it."},
	"delegate_ended":     {"This delegate was revoked", "Nothing was changed."},
	"delegate_expired":   {"This delegate is over", "Nothing was changed."},
	"mints_unread":       {"It was revoked", "What it had minted could not be read; the log has it."},
	"unknown_delegate":   {"There is no such delegate any more", "Nothing was changed."},
}

// Rule explains the wildcard, for the form on which a delegate is made.
const Rule = "A resource covers itself. One that ends in :* covers everything that begins with the part before the colon, such as thread:* for thread:7 and thread:a:b. It does not cover the bare word thread. * alone covers everything."

// Avatar and Legitimacy explain two members that a delegate may carry, for the form on which it is made.
const (
	Avatar     = "An address by which others know the bot. It is signed with the delegate; the vault carries it and does nothing with it."
	Legitimacy = "The id of a record, kept elsewhere, of whether this authority still stands. It is signed with the delegate, and says nothing about whether a signature is valid."
)

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Number writes n with commas.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	head := ""
	if n < 0 {
		head, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return head + s
}
