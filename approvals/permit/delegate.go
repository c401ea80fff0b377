package permit

import (
	"fmt"
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

// maxSaid bounds how many operations, resources and bots a sentence names one by one.
const maxSaid = 16

// DelegateSays are the lines in which a person reads what a delegate lets bots have (AgentEnvelope section 12). The
// window and the confirmation's page say the same; quote makes outside text fit for a line.
func DelegateSays(d *envelope.MintDelegate, domainID string, quote func(string) string) []string {
	f := d.Fields()
	list := func(title string, texts []string) []string {
		var out []string
		for i, t := range texts {
			if i == maxSaid {
				return append(out, fmt.Sprintf("and %d more, shown in the vault’s window", len(texts)-i))
			}
			out = append(out, title+": "+quote(t))
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
	}
	return append(out, "Delegate: "+d.Hash())
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
