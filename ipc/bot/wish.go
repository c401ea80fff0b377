package bot

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vault/derive/envelope"
)

// Wish is what a bot wants minted. What is left out is filled in within the delegate's
// bounds, where there is one answer.
type Wish struct {
	AgentID     string // what the bot calls itself in the capability
	Operation   string // empty: the delegate's, where it has one only
	Resources   []string
	ActionIndex *int64        // nil: the delegate's lowest
	MaxUses     int64         // how often it may be signed with
	From, Until *envelope.Opt // nil: from now, until an hour later or the delegate's end
	Nonce       string        // empty: drawn
	Legitimacy  string        // empty: the delegate's, where it requires one
}

// Unclear is an error of Fields about the wish itself: it says what to wish instead.
type Unclear string

// Error gives the words.
func (u Unclear) Error() string { return string(u) }

// What can be unclear.
const (
	ErrOperation Unclear = "the delegate has more than one operation: name one"
	ErrResource  Unclear = "name a resource"
	ErrWildcard  Unclear = "a request may not ask for a wildcard: it names what it is about"
	ErrUses      Unclear = "the uses are a whole number from 1"
	ErrWindow    Unclear = "the end comes before the beginning"
	ErrAgentID   Unclear = "what the bot calls itself is not empty"
)

// Fields fills in a wish for a delegate at the time now. Errors: an Unclear, or that of random.
func (w Wish) Fields(d *envelope.MintDelegate, now time.Time, random io.Reader) (envelope.RequestFields, error) {
	df := d.Fields()
	f := envelope.RequestFields{
		AgentID: w.AgentID, Operation: w.Operation, Resources: w.Resources, ActionIndex: df.IndexMin, MaxUses: w.MaxUses,
		Nonce: w.Nonce, LegitimacyID: w.Legitimacy, Window: w.window(df.Window, now.UnixMilli()),
	}
	if len(f.Resources) == 0 {
		return f, ErrResource
	}
	if f.Operation == "" {
		if len(df.AllowedOperations) != 1 {
			return f, ErrOperation
		}
		f.Operation = df.AllowedOperations[0]
	}
	switch isWild := func(r string) bool { return r == "*" || strings.HasSuffix(r, ":*") }; {
	case slices.ContainsFunc(f.Resources, isWild):
		return f, ErrWildcard
	case f.MaxUses < 1:
		return f, ErrUses
	case f.Window.NotBefore.Set && f.Window.NotAfter.Set && f.Window.NotAfter.N < f.Window.NotBefore.N:
		return f, ErrWindow
	case f.AgentID == "":
		return f, ErrAgentID
	}
	if w.ActionIndex != nil {
		f.ActionIndex = *w.ActionIndex
	}
	if f.LegitimacyID == "" && df.Legitimacy != nil && df.Legitimacy.Required {
		f.LegitimacyID = df.Legitimacy.LegitimacyID
	}
	if f.Nonce == "" {
		var n [32]byte
		if _, err := io.ReadFull(random, n[:]); err != nil {
			return f, fmt.Errorf("draw a nonce: %w", err)
		}
		f.Nonce = "0x" + hex.EncodeToString(n[:])
	}
	var err error
	f.RequestedAt, err = envelope.FormatTime(now.UnixMilli())
	return f, err
}

func (w Wish) window(outer envelope.Window, now int64) envelope.Window {
	out := envelope.Window{NotBefore: envelope.Some(now)}
	if outer.NotBefore.Set && now < outer.NotBefore.N {
		out.NotBefore = outer.NotBefore
	}
	if w.From != nil {
		out.NotBefore = *w.From
	}
	end := max(now, out.NotBefore.N) + time.Hour.Milliseconds()
	if outer.NotAfter.Set && end > outer.NotAfter.N {
		end = outer.NotAfter.N
	}
	out.NotAfter = envelope.Some(end)
	if w.Until != nil {
		out.NotAfter = *w.Until
	}
	return out
}

// Outside says in words of ours which bounds of its delegate a request goes past, as far as can be
// told without a vault; it is empty where there are none. Whether the nonce is new and a mint is left
// only the vault knows. Both are canonical; issuer is the domain's address, or empty.
func Outside(request, delegate []byte, issuer string, now time.Time) string {
	r, _ := envelope.VerifyMintRequest(request, delegate, envelope.Pins{DomainAddress: issuer}, now.UnixMilli())
	if why := Failing(r); why != "" {
		return why
	}
	// The documents may be valid under a delegate that is open; a vault mints no key that could sign nothing.
	if q, err := envelope.ParseMintRequest(request); err == nil && q.Fields().Window.NotAfter.Set && q.Fields().Window.NotAfter.N < now.UnixMilli() {
		return "the request's own window is over"
	}
	return ""
}

// Failing names what a report does not accept, in words of ours.
func Failing(r *envelope.Report) string {
	var out []string
	for _, c := range r.Checks {
		if !c.OK && c.Detail != "" {
			out = append(out, c.Detail)
		}
	}
	return strings.Join(out, "; ")
}
