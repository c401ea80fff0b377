package terminal

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	reading "vault/approvals/sow/page"
)

// maxAgreements is how many rows of the list stand on a terminal.
const maxAgreements = 50

// waitWords say what waits for the owner in an agreement.
var waitWords = map[agreement.Waiting]string{
	agreement.WaitCountersign: "waits for your signature", agreement.WaitComplete: "asks to form under your offer", agreement.WaitApprove: "a change waits for your answer",
	agreement.WaitConflict: "two documents claim one version", agreement.WaitHandle: "a handle names another key", agreement.WaitProblem: "a problem was reported",
	agreement.WaitUnanswered: "a reported problem has stayed open", agreement.WaitUrgent: "a reported problem is open, and its task is nearly due",
	agreement.WaitDispute: "a settlement does not add up", agreement.WaitIntent: "your agent has not said its part",
}

// agreements lists what fits a text, or everything; what waits comes with its word.
func (s *Surface) agreements(_ context.Context, args []string) error {
	list, err := s.owner.Engagements(approvals.EngagementFilter{Text: strings.Join(args, " "), Limit: maxAgreements})
	if err != nil {
		return err
	}
	s.listed = nil
	p := s.page()
	if list.Total == 0 {
		p.say("There is no agreement here. Type bring FILE for one that was sent to you.")
	}
	for i, r := range list.Rows {
		s.listed = append(s.listed, r.ID)
		with := r.Provider
		if r.Role == sow.Provider {
			with = r.Client
		}
		p.say("%d. %s, version %d, %s, with %s", i+1, p.clean(r.SoW), r.Version, opened.StateWords(r), p.clean(with.Owner))
		for _, w := range r.Waiting {
			p.say("   %s", waitWords[w])
		}
	}
	if list.Total > len(list.Rows) {
		p.say("and %d more; type agreements and a part of a name", list.Total-len(list.Rows))
	}
	return s.console.Print(p.String())
}

// bring takes a document, or what belongs to one, from a file. It signs nothing.
func (s *Surface) bring(ctx context.Context, args []string) error {
	return s.taken(args, func(raw []byte, name string) (agreement.Imported, error) {
		return s.owner.Import(ctx, raw, "", agreement.Source{Kind: "file", Name: name})
	})
}

// draft takes a document of the owner's that nobody has signed: an offer to publish, or the next version to propose.
func (s *Surface) draft(ctx context.Context, args []string) error {
	return s.taken(args, func(raw []byte, _ string) (agreement.Imported, error) { return s.owner.DraftSoW(ctx, raw) })
}

// taken reads a file, gives it to take, and says what came of it.
func (s *Surface) taken(args []string, take func(raw []byte, name string) (agreement.Imported, error)) error {
	if len(args) == 0 { // a name may have blanks
		return s.console.Print("Type the file after it.\n")
	}
	file := strings.Join(args, " ")
	raw, err := readRegular(file, bundle.Max)
	if err != nil {
		return err
	}
	got, err := take(raw, filepath.Base(file))
	if err != nil {
		return err
	}
	p := s.page()
	p.imported(got)
	for _, part := range got.Inside {
		p.say("%s:", opened.Records[part.Kind])
		p.imported(part)
	}
	return s.console.Print(p.String())
}

// imported says what came of something that was brought in.
func (p *page) imported(got agreement.Imported) {
	switch {
	case got.Code != "":
		p.say("It was not kept. Code: %s", p.clean(got.Code))
		if got.Detail != "" {
			p.say("  %s", p.clean(got.Detail))
		}
	case got.Again:
		p.say("It was there already.")
	default:
		p.say("Kept. Type agreements to see where.")
	}
	for _, f := range got.Findings {
		if f.Severity != sow.Info {
			p.say("%s: %s %s (%s at %s)", string(f.Severity), p.clean(f.Message), p.clean(f.Remedy), string(f.Code), p.clean(f.Member))
		}
	}
}

// agreement shows one, page by page, and takes one answer. A version can be named by its number or the beginning of its digest.
func (s *Surface) agreement(ctx context.Context, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return s.console.Print("Type the number of the list after it, and a version where another one is meant than the one that waits or is in force.\n")
	}
	id := args[0]
	if n, err := strconv.Atoi(id); err == nil {
		if n < 1 || n > len(s.listed) {
			return s.console.Print("The list has no such number. Type agreements.\n")
		}
		id = s.listed[n-1]
	}
	version := ""
	if len(args) == 2 {
		version = args[1]
	}
	return s.openAgreement(ctx, id, version)
}

// leastDigest is how much of a digest names a version.
const leastDigest = 6

// versionOf is the digest of the one version that is named so, "" where none or several are.
func versionOf(v agreement.View, name string) string {
	out := ""
	for _, x := range v.Versions {
		if strconv.FormatInt(x.Version, 10) == name || len(name) >= leastDigest && strings.HasPrefix(x.Digest, strings.ToLower(name)) {
			if out != "" {
				return ""
			}
			out = x.Digest
		}
	}
	return out
}

func (s *Surface) openAgreement(ctx context.Context, id, version string) error {
	v, err := s.owner.Engagement(id)
	if err != nil {
		return err
	}
	digest := ""
	if version != "" {
		if digest = versionOf(v, version); digest == "" {
			return s.console.Print("No version is named so, or several are. Type its number, or the first letters of its digest.\n")
		}
	}
	o, err := opened.Read(s.owner, v, digest)
	if err != nil {
		return err
	}
	head := s.page()
	for _, w := range v.Waiting {
		head.say("%s.", waitWords[w])
	}
	for _, party := range v.Parties {
		switch {
		case party.Ours:
			head.say("You sign as the %s, with seat %d: %s", party.Role, v.Seat.Index, party.Key)
		case party.Key == "":
			head.say("No key is pinned for the %s. Type pin %s KEY, if you know it by another way.", party.Role, head.clean(party.Party.Agent))
			for _, key := range party.Claims {
				head.say("  A signature claims | %s", head.clean(key))
			}
		default:
			head.say("Key of the %s: %s (%s)", party.Role, party.Key, learned(party))
		}
		if party.Blocked {
			head.say("You blocked the key of the %s. Everything of it is refused.", party.Role)
		}
	}
	facts := s.facts(o)
	text := reading.Of(o.Doc, facts).Text()
	if o.Before != nil { // what changes first, then all of it
		text = reading.Compare(o.Before, o.Doc, facts).Text() + "\n" + text
	}
	if key, err := s.pages(ctx, head.String()+"\n"+text+"\n"+s.beside(v)); err != nil || key == "q" {
		return err
	}
	return s.choose(ctx, o)
}

// learned says how a seat's key came to be known.
func learned(p agreement.PartyView) string {
	if p.Ours {
		return "your key, held by this vault"
	}
	words := map[string]string{"card": "pinned by you, from their owner card", "told": "pinned by you, as they told it", "first_use": "as it was first used", "document": "as the document claims it"}
	return words[p.Learned]
}

// facts is what the page is told beside the document.
func (s *Surface) facts(o opened.Agreement) reading.Facts {
	return o.Facts(s.now().UnixMilli(), opened.Words{
		Learned: learned,
		Seat:    seatName,
		Agent:   s.agentName,
	})
}

func seatName(x agreement.SeatView) string {
	if x.Name != "" {
		return fmt.Sprintf("seat %d, %s", x.Index, plain.TerminalLine(x.Name))
	}
	return fmt.Sprintf("seat %d", x.Index)
}

// agentName is the owner's own name for a paired program.
func (s *Surface) agentName(client string) string {
	for _, c := range s.owner.Clients() {
		if c.ID == client {
			return plain.TerminalLine(c.Name)
		}
	}
	return "an agent"
}

// pin says whose key a key is, and how the owner knows it.
func (s *Surface) pin(ctx context.Context, args []string) error {
	learned := "told"
	if len(args) == 3 && args[2] == "document" {
		args, learned = args[:2], "document"
	}
	if len(args) != 2 {
		return s.console.Print("Type the agent's key and its owner's key after it, as you know them by another way; and the word document where nobody told you.\n")
	}
	if err := s.owner.PinKey(ctx, approvals.PinAsk{Agent: args[0], Key: args[1], Learned: learned}); err != nil {
		return err
	}
	return s.console.Print("Pinned. Signatures of that owner now count.\n")
}
