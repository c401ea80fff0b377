package sign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/approvals/permit"
	"vault/derive/confirm"
	"vault/derive/envelope"
)

func sha256hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Bounds of what is quoted on the page; the whole was in the vault's window.
const (
	maxQuoted      = 200 // characters of a name
	maxPayloadLine = 160 // characters
	maxPayload     = 48  // lines
	// What is spelled out is up to nine bytes a character; a context holds 64 KiB in all.
	maxQuotedBytes  = 600
	maxPayloadBytes = 24 << 10
)

// quoted makes text from outside fit for a line, and short. Nothing in it is hidden or turns; package plain says
// more about such text, and would bring another module into this process.
func quoted(text string) string {
	short := first(text, maxQuoted)
	out := safe(short)
	for len(out) > maxQuotedBytes {
		short = first(short, utf8.RuneCountInString(short)/2)
		out = safe(short)
	}
	if short != text {
		out += "…"
	}
	return "“" + out + "”"
}

// first is the first n characters.
func first(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func safe(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

func when(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05 UTC") }

func kindWords(p sealedPasskey) string {
	words := map[string]string{
		string(confirm.SecurityKey): "a security key", string(confirm.Phone): "a phone", string(confirm.ThisDevice): "this device",
		string(confirm.Program): "a program on this computer",
	}[p.Kind]
	if p.BackupEligible {
		words += ", can be copied by whoever keeps it"
	}
	return words
}

// clientWords names a paired client: the owner's name for it, and its id, which no rename changes.
func (s *Signer) clientWords(id string) string {
	c, _ := s.state.Client(id)
	return quoted(c.Name) + " (" + id + ")"
}

// domainWords names an envelope's domain: by its id where the domain is open here, else by its hash.
func (s *Signer) domainWords(env *envelope.ActionEnvelope) string {
	if d, ok := s.domains[env.DomainHash()]; ok {
		return d.Info().DomainID()
	}
	return env.DomainHash()
}

func envelopeSays(env *envelope.ActionEnvelope, domain string) []string {
	f := env.Fields()
	out := []string{"Operation: " + quoted(f.Operation), "Domain: " + quoted(domain)}
	for i, r := range f.Resources {
		if i == 16 {
			out = append(out, fmt.Sprintf("and %d resources more, shown in the vault’s window", len(f.Resources)-i))
			break
		}
		out = append(out, "Resource: "+quoted(r))
	}
	return append(out, "Action envelope: "+env.Hash())
}

// says are the lines of a ceremony, from the bytes that will be signed. The guard has passed.
func (s *Signer) says(e journal.Entry, a keys.Act) ([]string, error) {
	switch b := e.Decoded().(type) {
	case journal.ClientPaired:
		p, err := row(a, b.PermitSHA256)
		if err != nil {
			return nil, err
		}
		c, err := permit.ParseClient(p.Body)
		if err != nil {
			return nil, errPermitForm
		}
		return []string{
			"Pair the program " + quoted(c.Name) + ".", "It calls itself: " + quoted(c.Claimed), "Program: " + quoted(c.Executable),
			fmt.Sprintf("User id: %d", c.UserID), "It may then ask for signatures.",
		}, nil
	case journal.GrantMade:
		env, domain, err := s.envelope(a.Envelope, b.EnvelopeHash, s.domainOf(a))
		if err != nil {
			return nil, err
		}
		p, err := row(a, b.PermitSHA256)
		if err != nil {
			return nil, err
		}
		g, err := permit.ParseGrant(p.Body)
		if err != nil {
			return nil, errPermitForm
		}
		out := []string{
			"Grant " + s.clientWords(b.Client) + " signatures without asking, whatever the payload says.",
			fmt.Sprintf("At most %d uses, until %s.", b.Uses, when(b.NotAfter)),
		}
		if g.WhileAway {
			out = append(out, whileAway)
		}
		return append(out, envelopeSays(env, domain.Info().DomainID())...), nil
	case journal.ActionSigned:
		env, domain, err := s.envelope(a.Envelope, b.EnvelopeHash, b.DomainHash)
		if err != nil {
			return nil, err
		}
		payload, err := envelope.ParsePayload(a.Payload)
		if err != nil {
			return nil, err
		}
		out := append([]string{"Sign once, for " + s.clientWords(b.Client) + "."}, envelopeSays(env, domain.Info().DomainID())...)
		out = append(out, "Signs as: "+b.Address, "Payload digest: "+b.Digest)
		return append(out, payloadSays(string(payload.Canonical()))...), nil
	case journal.MomentResolved:
		env, err := moment.Parse(a.Moment)
		if err != nil {
			return nil, err
		}
		content := env.Content()
		out := []string{"Answer a decision that " + s.clientWords(b.Client) + " asked for.", "Question: " + quoted(content.Stem)}
		switch moment.Choice(b.Choice) {
		case moment.ChoseOption:
			sheet, _, err := laid(a, b.EnvelopeDigest, b.SheetDigest)
			if err != nil {
				return nil, err
			}
			out = append(out, fmt.Sprintf("Select option %d: %s", b.Option+1, quoted(content.Options[b.Option].Label)), "Its action: "+b.ActionDigest)
			row := sheet.Rows[b.Option]
			if row.SignWith != nil {
				out = append(out, "It may then be signed once, under this action envelope.")
				out = append(out, envelopeSays(row.SignWith, s.domainWords(row.SignWith))...)
			}
			if row.Action == nil {
				out = append(out, "The vault has not seen the action.")
			} else {
				out = append(out, payloadSays(string(row.Action.Value.Canonical()))...)
			}
		case moment.ChoseAnswer:
			r, err := moment.ParseResolution(a.Payload)
			if err != nil {
				return nil, err
			}
			text, _ := r.Answer()
			out = append(out, "In your own words:")
			out = append(out, payloadSays(text)...)
		default:
			out = append(out, "Say that this is the wrong question.")
		}
		return append(out, "Envelope: "+b.EnvelopeDigest), nil
	case journal.MomentDeclined:
		return s.saysMomentDeclined(b, a)
	case journal.RequestAnswered:
		return s.saysDeclined(b, a)
	case journal.PasskeyAdded:
		return []string{
			"Enrol a second or further passkey.", "Its key: " + s.pending.passkey.key.Digits() + ", " + kindWords(s.pending.passkey) + ".",
			"Key digest: " + journal.HashOf(s.pending.passkey.key.COSE()), "It can then confirm whatever this one can.",
		}, nil
	case journal.PasskeyRemoved:
		for _, p := range s.sealed.passkeys {
			if p.Key == b.Passkey {
				return []string{
					"Remove a passkey from this vault.", "Its key: " + p.key.Digits() + ", " + kindWords(p) + ", enrolled " + when(p.EnrolledAt) + ".",
					"Key digest: " + journal.HashOf(p.key.COSE()),
				}, nil
			}
		}
		return nil, errNotThisPasskey
	case journal.SocketAdded:
		return socketSays(b), nil
	case journal.Readmitted:
		return s.readmitSays(b, a)
	case journal.PolicyChanged:
		next, err := permit.ParsePolicy([]byte(b.To))
		if err != nil {
			return nil, err
		}
		return policySays(s.sealed.policy.Rules, next), nil
	case journal.SoWSigned, journal.SoWActSigned, journal.SoWPreauthorised:
		return s.sowSays(e, a)
	}
	return s.mintSays(e, a)
}

// domainOf is the domain that a grant's row names.
func (s *Signer) domainOf(a keys.Act) string {
	for _, p := range a.Permits {
		if g, err := permit.ParseGrant(p.Body); err == nil {
			return g.DomainHash
		}
	}
	return ""
}

func payloadSays(text string) []string {
	out := []string{fmt.Sprintf("%d bytes:", len(text))}
	for n, size := 0, 0; text != ""; n++ {
		if n == maxPayload || size > maxPayloadBytes {
			return append(out, fmt.Sprintf("and %d bytes more, shown in the vault’s window", len(text)))
		}
		line := first(text, maxPayloadLine)
		shown := safe(line)
		out, text, size = append(out, "  "+shown), text[len(line):], size+len(shown)
	}
	return out
}

// whileAway is what a row of a grant or delegate can say beyond its numbers.
const whileAway = "It goes on while the screen is locked."

// policySays names what both policies ask for: within their bounds these are fewer lines than a context may have.
func policySays(now, next permit.Policy) []string {
	first := "Change the rules for what needs a passkey. "
	if now.Loosens(next) {
		first += "Some things will need only a click."
	} else {
		first += "Nothing will need less than until now."
	}
	out := []string{first, fmt.Sprintf("Rules afterwards: %d", len(next.Rules))}
	for _, r := range next.Rules {
		out = append(out, "Rule: "+ruleWords(r))
	}
	for _, r := range now.Rules {
		out = append(out, "Until now: "+ruleWords(r))
	}
	if now.SoWFloor != next.SoWFloor {
		out = append(out, "Your signature under agreements, until now: "+permit.FloorWords(now.SoWFloor),
			"Your signature under agreements, afterwards: "+permit.FloorWords(next.SoWFloor))
	}
	for _, c := range next.Ordinary {
		if slices.Contains(now.Ordinary, c) {
			out = append(out, "Ordinary class, as until now: "+quoted(c))
		} else {
			out = append(out, "Ordinary class from now on: "+quoted(c))
		}
	}
	gone := 0
	for _, c := range now.Ordinary {
		if !slices.Contains(next.Ordinary, c) {
			gone++
		}
	}
	if gone > 0 { // they need more from now on, not less
		out = append(out, fmt.Sprintf("Classes that are ordinary no more: %d", gone))
	}
	return out
}

func ruleWords(r permit.Rule) string {
	out := map[permit.Scope]string{permit.ScopeEvery: "everything", permit.ScopeAction: "signatures", permit.ScopeMoment: "decisions"}[r.Scope]
	for _, part := range []struct{ name, value string }{
		{"client", r.Client}, {"domain", r.Domain}, {"operation", r.Operation}, {"resource", r.Resource}, {"class", r.Class},
	} {
		if part.value != "" {
			out += ", " + part.name + " " + quoted(part.value)
		}
	}
	if r.Unseen {
		out += ", only where the action was not shown"
	}
	return out
}

func ownerSays(kind confirm.Kind, from, to string) []string {
	switch kind {
	case confirm.RecoveryShow:
		return []string{"Show the recovery words once, in the vault’s own window.", "Whoever sees them has the vault."}
	case confirm.CardExport:
		return []string{"Export the owner card: your public keys, for whoever checks what you sign."}
	}
	out := []string{"Weaken what opens this vault.", "Until now: " + from, "Afterwards: " + to}
	if to == string(keys.ProtectKeyring) {
		out = append(out, "Any program you run can then open it without asking.", "All passkeys and the rules that ask for them are forgotten.")
	}
	return out
}

// bindingOf is what ties a resolution's context to its moment. The guard has passed.
func bindingOf(a keys.Act) *confirm.Binding {
	e, err := journal.Parse(a.Entry)
	if err != nil {
		return nil
	}
	switch b := e.Decoded().(type) {
	case journal.MomentResolved:
		return &confirm.Binding{EnvelopeDigest: b.EnvelopeDigest, Resolution: b.Choice, Option: max(b.Option, 0), ActionDigest: b.ActionDigest}
	case journal.MomentDeclined:
		return &confirm.Binding{EnvelopeDigest: b.EnvelopeDigest, Resolution: string(moment.ChoseDecline)}
	}
	return nil
}
