package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vault/approvals"
	"vault/approvals/agreement"
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
	shown := chosenVersion(v)
	doc, err := s.documentOf(v, shown)
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
	text := reading.Of(doc, s.factsOf(v, shown)).Text()
	if key, err := s.pages(ctx, head.String()+"\n"+text); err != nil || key == "q" {
		return err
	}
	return s.chooseMove(ctx, v, shown)
}

// chosenVersion is the version that waits for the owner, else the one in force, else the newest.
func chosenVersion(v agreement.View) agreement.VersionView {
	for _, x := range v.Versions {
		if slices.ContainsFunc(v.Moves, func(m agreement.Move) bool {
			return m.Digest == x.Digest && slices.Contains([]string{"countersign", "approve", "publish", "propose", "complete"}, m.What)
		}) {
			return x
		}
	}
	for _, x := range v.Versions {
		if x.InForce {
			return x
		}
	}
	return v.Versions[0]
}

func (s *Surface) documentOf(v agreement.View, x agreement.VersionView) (*sow.Document, error) {
	raw, err := s.owner.SoWCopy(v.ID, x.Copies[len(x.Copies)-1].SHA256)
	if err != nil {
		return nil, err
	}
	doc, err := sow.Parse(raw)
	if err == nil && doc.Digest() != x.Digest {
		err = errors.New("the copy is another document")
	}
	return doc, err
}

func (s *Surface) factsOf(v agreement.View, x agreement.VersionView) reading.Facts {
	f := reading.Facts{Now: s.now().UnixMilli(), Ours: v.Role, Seat: fmt.Sprintf("seat %d", v.Seat.Index), Deployment: v.Deployment, Seats: x.Seats, Findings: x.Findings, State: x.State}
	for _, party := range v.Parties {
		k := reading.Known{Key: party.Key, How: party.Learned}
		switch party.Confirmation {
		case agreement.ConfirmedUnpinned:
			k.Person = reading.PresentNotPinned
		case agreement.ConfirmedVerified:
			k.Person = reading.Verified
		}
		if party.Role == sow.Provider {
			f.Provider = k
		} else {
			f.Client = k
		}
	}
	return f
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
		return s.Confirmed(ctx, "Signed. Type agreements to see where it stands.", func(ctx context.Context) (approvals.Outcome, error) {
			return s.owner.SignSoW(ctx, approvals.Signing{Engagement: v.ID, Digest: m.Digest, Move: m.What})
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
