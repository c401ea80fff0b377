package permit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vault/approvals/internal/strict"
	"vault/derive/envelope"
)

// TypeDelegate is the type of a delegate's row.
const TypeDelegate = "vault.delegate"

// Delegate lets capabilities be minted here under one signed delegate, which is kept beside it and found by its hash.
type Delegate struct {
	Type       string `json:"type"`
	V          int    `json:"v"`
	Hash       string `json:"hash"`        // delegateHash, 0x and 64 hex digits
	DomainHash string `json:"domain_hash"` // 0x and 64 hex digits
	Mints      int64  `json:"mints"`       // at most, in this log; never more than the delegate's maxMints
	Admitted   bool   `json:"admitted"`    // and not issued in this log
	MadeAt     int64  `json:"made_at"`     // milliseconds since epoch
	WhileAway  bool   `json:"while_away"`  // goes on while the screen is locked
	Name       string `json:"name"`        // the owner's for the bot, or empty
}

// ParseDelegate reads a delegate's row, as ParseDomain does.
func ParseDelegate(body []byte) (Delegate, error) {
	o, err := open(body, TypeDelegate)
	if err != nil {
		return Delegate{}, err
	}
	d := Delegate{
		Type: TypeDelegate, V: 1,
		Hash:       o.Text("hash", strict.Hash),
		DomainHash: o.Text("domain_hash", strict.Hash),
		Mints:      o.Int("mints", 1, strict.MaxInt),
		Admitted:   o.Flag("admitted"),
		MadeAt:     o.Int("made_at", 0, strict.MaxInt),
		WhileAway:  o.Flag("while_away"),
		Name:       o.Text("name", strict.UpTo(256)),
	}
	return d, done(o)
}

// These bound how many operations, resources and bots a sentence names one by one, and how many bytes each of the three takes, so
// that it fits into what a passkey confirms.
const (
	maxSaid      = 48
	maxSaidBytes = 14 << 10
)

// DelegateSays are the lines in which a person reads what a delegate lets bots have (AgentEnvelope section 12). The
// window and the confirmation's page say the same; quote makes outside text fit for a line.
func DelegateSays(d *envelope.MintDelegate, domainID string, quote func(string) string) []string {
	f := d.Fields()
	list := func(title string, texts []string) []string {
		var out []string
		room := maxSaidBytes
		for i, t := range texts {
			line := title + ": " + quote(t)
			if room -= len(line); i == maxSaid || room < 0 {
				return append(out, fmt.Sprintf("%s: %d more, shown in the vault’s window", title, len(texts)-i))
			}
			out = append(out, line)
		}
		return out
	}
	out := []string{"In the domain " + quote(domainID) + " (" + d.IssuerAddress() + ")"}
	if f.BotPolicy == envelope.BotSet {
		out = append(out, list("Bot", f.AllowedBotAddresses)...)
	} else {
		out = append(out, "Any paired bot may ask, whatever its address.")
	}
	out = append(out, list("Operation", f.AllowedOperations)...)
	// The widest first, so that none hides behind many small ones.
	slices.SortStableFunc(f.AllowedResources, func(a, b string) int { return breadth(b) - breadth(a) })
	if breadth(f.AllowedResources[0]) == 2 {
		out = append(out, "Every resource of the domain, whatever its name.")
	}
	out = append(out, list("Resource", f.AllowedResources)...)
	out = append(out,
		fmt.Sprintf("At most %d capabilities, %s each, action index %d to %d.", f.MaxMints, times(f.MaxUsesPerAction), f.IndexMin, f.IndexMax),
		"From: "+instant(f.Window.NotBefore, "any time"), "Until: "+instant(f.Window.NotAfter, "no end"))
	if f.AvatarAddress != "" {
		out = append(out, "Avatar: "+f.AvatarAddress)
	}
	if l := f.Legitimacy; l != nil {
		line := "Legitimacy state: " + quote(l.LegitimacyID)
		if l.Required {
			line += ", every request must name it"
		}
		out = append(out, line)
		if l.PolicyID != "" {
			out = append(out, "Its policy: "+quote(l.PolicyID))
		}
		if l.StateVersion.Set {
			out = append(out, fmt.Sprintf("Its version: %d", l.StateVersion.N))
		}
		if l.StateHash != "" {
			out = append(out, "Its hash: "+l.StateHash)
		}
	}
	return append(out, "Delegate: "+d.Hash())
}

// breadth is 2 for a resource that covers every one, 1 for a wildcard, else 0.
func breadth(resource string) int {
	switch {
	case resource == "*":
		return 2
	case strings.HasSuffix(resource, ":*"):
		return 1
	}
	return 0
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func instant(o envelope.Opt, open string) string {
	if !o.Set {
		return open
	}
	return strings.TrimSpace(time.UnixMilli(o.N).UTC().Format("2006-01-02 15:04:05 UTC"))
}
