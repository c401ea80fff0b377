package terminal

import (
	"context"
	"fmt"
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
	agreement.WaitDispute: "a settlement does not add up", agreement.WaitIntent: "your agent has not said its part",
}

// moveWords are what can be done on a terminal.
var moveWords = map[string]string{
	"countersign": "sign it, with your passkey", "approve": "approve the change, with your passkey", "publish": "publish the offer, with your passkey",
	"propose": "propose it, with your passkey", "complete": "complete the agreement, with your passkey", "deny": "deny the change, with a reason",
	"withdraw": "withdraw it", "refuse": "refuse to form it", "terminate": "end the agreement, with your passkey",
	agreement.MoveSettle: "say that this document counts for its version; the other one is kept, and not signed",
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
		p.say("%d. %s, version %d, %s, with %s", i+1, p.clean(r.SoW), r.Version, strings.ReplaceAll(string(r.State), "_", " "), p.clean(with.Owner))
		for _, w := range r.Waiting {
			p.say("   %s", waitWords[w])
		}
	}
	if list.Total > len(list.Rows) {
		p.say("and %d more; type agreements and a part of a name", list.Total-len(list.Rows))
	}
	return s.console.Print(p.String())
}

// bring takes a document, or what belongs to one, from a file.
func (s *Surface) bring(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return s.console.Print("Type the file after it.\n")
	}
	raw, err := readRegular(args[0], bundle.Max)
	if err != nil {
		return err
	}
	got, err := s.owner.Import(ctx, raw, "", agreement.Source{Kind: "file", Name: args[0]})
	if err != nil {
		return err
	}
	p := s.page()
	switch {
	case got.Code != "":
		p.say("It was not kept. Code: %s", p.clean(got.Code))
	case got.Again:
		p.say("It was there already.")
	default:
		p.say("Kept. Type agreements to see where.")
	}
	for _, f := range got.Findings {
		if f.Severity != sow.Info {
			p.say("%s: %s (%s at %s)", string(f.Severity), p.clean(f.Message), string(f.Code), p.clean(f.Member))
		}
	}
	return s.console.Print(p.String())
}

// agreement shows one, page by page, and takes one answer.
func (s *Surface) agreement(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return s.console.Print("Type the number of the list after it.\n")
	}
	id := args[0]
	if n, err := strconv.Atoi(id); err == nil && n >= 1 && n <= len(s.listed) {
		id = s.listed[n-1]
	}
	return s.openAgreement(ctx, id)
}

func (s *Surface) openAgreement(ctx context.Context, id string) error {
	v, err := s.owner.Engagement(id)
	if err != nil {
		return err
	}
	o, err := opened.Read(s.owner, v, "")
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
		default:
			head.say("Key of the %s: %s (%s)", party.Role, party.Key, party.Learned)
		}
	}
	facts := s.facts(o)
	text := reading.Of(o.Doc, facts).Text()
	if o.Before != nil { // what changes first, then all of it
		text = reading.Compare(o.Before, o.Doc, facts).Text() + "\n" + text
	}
	if key, err := s.pages(ctx, head.String()+"\n"+text); err != nil || key == "q" {
		return err
	}
	return s.chooseMove(ctx, v, o.Version)
}

// facts is what the page is told beside the document.
func (s *Surface) facts(o opened.Agreement) reading.Facts {
	return o.Facts(s.now().UnixMilli(), opened.Words{
		Learned: func(p agreement.PartyView) string { return p.Learned },
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

// chooseMove lists what can be done here and does one thing, or none.
func (s *Surface) chooseMove(ctx context.Context, v agreement.View, x agreement.VersionView) error {
	p := s.page()
	var open []agreement.Move
	for _, m := range v.Moves {
		words := moveWords[m.What]
		switch {
		case words == "" || m.Digest != x.Digest:
		case m.Blocked != "":
			p.say("Not now: %s. Code: %s", words, p.clean(m.Blocked))
		default:
			open = append(open, m)
			p.say("%d: %s", len(open), words)
		}
	}
	p.say("q: close; nothing is decided")
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	s.console.Inert()
	keys := []string{"q"}
	for i := range open {
		keys = append(keys, strconv.Itoa(i+1))
	}
	line, err := s.console.AskAmong(ctx, "Your answer: ", keys)
	if err != nil {
		return err
	}
	s.owner.Touch()
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(open) {
		return s.console.Print("Closed. Nothing was decided.\n")
	}
	return s.doMove(ctx, v, open[n-1])
}

func (s *Surface) doMove(ctx context.Context, v agreement.View, m agreement.Move) error {
	act := approvals.ActAsk{Engagement: v.ID, Digest: m.Digest}
	var err error
	switch m.What {
	case agreement.MoveSettle:
		if err := s.owner.SettleConflict(ctx, v.ID, m.Digest); err != nil {
			return err
		}
		return s.console.Print("This one counts. Nothing was signed. Type agreements to see where it stands.\n")
	case "deny":
		act.Kind = sow.Denial
		act.Reason, err = s.console.Ask(ctx, "Your reason, which the other side gets: ")
	case "withdraw":
		act.Kind = sow.Withdrawal
	case "refuse":
		act.Kind = sow.FormationRefusal
		act.Ground, err = s.console.Ask(ctx, "Id of the condition that is not met, or nothing: ")
	case "terminate":
		act.Kind = sow.Termination
		act.Ground, err = s.console.AskAmong(ctx, "convenience or cause: ", []string{"convenience", "cause"})
		if err == nil && act.Ground == "cause" {
			act.Reason, err = s.console.Ask(ctx, "Your reason, which the other side gets: ")
		}
	default:
		sign := approvals.Signing{Engagement: v.ID, Digest: m.Digest, Move: m.What}
		if v.Role == "" { // nothing says which side is the owner's
			if sign.Role, err = s.console.AskAmong(ctx, "You sign as the client or provider: ", []string{sow.Client, sow.Provider}); err != nil {
				return err
			}
		}
		return s.Confirmed(ctx, "Signed. Type agreements to see where it stands.", func(ctx context.Context) (approvals.Outcome, error) {
			return s.owner.SignSoW(ctx, sign)
		})
	}
	if err != nil {
		return err
	}
	return s.Confirmed(ctx, "Done, and signed.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.ActOn(ctx, act) })
}

// pin says whose key a key is.
func (s *Surface) pin(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return s.console.Print("Type the agent's key and its owner's key after it, as you know them by another way.\n")
	}
	if err := s.owner.PinKey(ctx, approvals.PinAsk{Agent: args[0], Key: args[1], Learned: "told"}); err != nil {
		return err
	}
	return s.console.Print("Pinned. Signatures of that owner now count.\n")
}
