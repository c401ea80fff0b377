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
	reading "vault/approvals/sow/page"
	"vault/approvals/sow/units"
)

// agreementCommands are those of agreements. What can be done with one is asked below its page.
func agreementCommands() []command {
	return []command{
		{"agreements", "[TEXT]", "list the agreements between agents, or those that hold a text", (*Surface).agreements},
		{"agreement", "N [VERSION]", "show agreement N of the list, all that belongs to it, and what can be done with it", (*Surface).agreement},
		{"due", "", "what becomes due in agreements", (*Surface).due},
		{"bring", "FILE", "take in an agreement, or what belongs to one", (*Surface).bring},
		{"draft", "FILE", "take in a document of yours that nobody has signed, to publish or propose it", (*Surface).draft},
		{"pin", "AGENT KEY [document]", "say that a key is that of an agent's owner; document where only the document says so", (*Surface).pin},
		{"refusekey", "KEY [WHY]", "refuse everything of an agent's or owner's key; without a key, list those that are", (*Surface).refuseKey},
		{"hearkey", "KEY", "hear a key again", (*Surface).hearKey},
		{"seats", "", "your own keys in agreements", (*Surface).seats},
		{"seat", "NAME", "open the next seat under a name", (*Surface).seat},
		{"runtimes", "[WHAT yes|no]", "what the runtimes do that you and others use, for every agreement", (*Surface).runtimes},
	}
}

// choice is one thing that can be done with what is shown.
type choice struct {
	words string
	do    func(context.Context) error
}

// aMove is a move as it is listed.
type aMove struct {
	what, words string
	do          func(*Surface, context.Context, opened.Agreement, agreement.Move) error
}

// moves are what can be done with a version, in the order in which they are listed. What is not here is not done on a terminal.
func moves() []aMove {
	return []aMove{
		{agreement.MoveSettle, "say that this document counts for its version; the other one is kept, and not signed", (*Surface).settle},
		{"countersign", "sign it, with your passkey", (*Surface).sign},
		{"complete", "complete the agreement, with your passkey", (*Surface).sign},
		{"approve", "approve the change, with your passkey", (*Surface).sign},
		{"publish", "publish the offer, with your passkey: whoever meets its conditions and signs binds you, without a further question", (*Surface).sign},
		{"propose", "propose it, with your passkey", (*Surface).sign},
		{"form", "fill the open seat; nothing is signed yet", (*Surface).form},
		{"preauthorise", "let an agent accept this offer in advance, with your passkey", (*Surface).preauthorise},
		{"deny", "deny the change, with a reason", (*Surface).deny},
		{"counter", "deny the change, and propose one of your own", (*Surface).deny},
		{"refuse", "refuse to form it", (*Surface).refuseToForm},
		{"withdraw", "withdraw it", (*Surface).withdraw},
		{"terminate", "end the agreement, with your passkey", (*Surface).terminate},
		{"dispute", "dispute an amount, with your passkey", (*Surface).dispute},
		{"review", "review the work", (*Surface).review},
		{"probe", "record a trial", (*Surface).probe},
	}
}

// choices are what can be done with what is shown; what is barred now, and why, goes to p.
func (s *Surface) choices(o opened.Agreement, p *page) (list []choice) {
	for _, m := range moves() {
		move, ok := moveOf(o, m.what)
		switch {
		case !ok:
		case move.Blocked != "":
			p.say("Not now: %s. %s Code: %s", m.words, p.clean(move.Detail), p.clean(move.Blocked))
		default:
			list = append(list, choice{m.words, func(ctx context.Context) error { return m.do(s, ctx, o, move) }})
		}
	}
	return append(list, s.besides(o)...)
}

// choose lists what can be done here and does one thing, or none.
func (s *Surface) choose(ctx context.Context, o opened.Agreement) error {
	p := s.page()
	list := s.choices(o, p)
	for i, c := range list {
		p.say("%d: %s", i+1, c.words)
	}
	p.say("q: close; nothing is decided")
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	s.console.Inert()
	keys := []string{"q"}
	for i := range list {
		keys = append(keys, strconv.Itoa(i+1))
	}
	line, err := s.console.AskAmong(ctx, "Your answer: ", keys)
	if err != nil {
		return err
	}
	s.owner.Touch()
	i, ok := nth([]string{line}, len(list))
	if !ok {
		return s.console.Print("Closed. Nothing was decided.\n")
	}
	return list[i].do(ctx)
}

// moveOf is a move on the version that is shown. A trial can be recorded about every open version in which the owner holds a seat.
func moveOf(o opened.Agreement, what string) (agreement.Move, bool) {
	for _, m := range o.View.Moves {
		if m.What == what && m.Digest == o.Version.Digest {
			return m, true
		}
	}
	return agreement.Move{What: what, Digest: o.Version.Digest}, what == "probe" && o.MayProbe() && o.Version.Outcome == ""
}

// undecided says that nothing came of it, and why.
func (s *Surface) undecided(why string) error {
	return s.console.Print("Nothing was decided. " + why + "\n")
}

// chosen asks for one of several, by number; an empty list gives -1, and so does anything that is no number of it.
func (s *Surface) chosen(ctx context.Context, what string, list []string) (int, error) {
	p := s.page()
	for i, x := range list {
		p.say("%d: %s", i+1, x)
	}
	if err := s.console.Print(p.String()); err != nil {
		return -1, err
	}
	line, err := s.console.Ask(ctx, what+": ")
	if err != nil {
		return -1, err
	}
	if i, ok := nth([]string{line}, len(list)); ok {
		return i, nil
	}
	return -1, nil
}

// picked is chosen, and says so where nothing was.
func (s *Surface) picked(ctx context.Context, what string, list []string) (int, error) {
	i, err := s.chosen(ctx, what, list)
	if err == nil && i < 0 {
		err = s.undecided("That is no number of the list.")
	}
	return i, err
}

// mySeat asks which of the owner's keys signs, where there is a choice.
func (s *Surface) mySeat(ctx context.Context, v agreement.View) (int64, bool, error) {
	seats := s.owner.Seats()
	if v.SeatFixed || len(seats) < 2 {
		return v.Seat.Index, true, nil
	}
	var names []string
	for _, x := range seats {
		names = append(names, seatName(x)+", "+plain.TerminalLine(x.Key))
	}
	i, err := s.chosen(ctx, "The seat that signs", names)
	if i < 0 {
		return 0, false, err
	}
	return seats[i].Index, true, nil
}

// sign signs the version that is shown.
func (s *Surface) sign(ctx context.Context, o opened.Agreement, m agreement.Move) error {
	ask := approvals.Signing{Engagement: o.View.ID, Digest: m.Digest, Move: m.What}
	var ok bool
	var err error
	if ask.Seat, ok, err = s.mySeat(ctx, o.View); err != nil || !ok {
		if err == nil {
			err = s.undecided("That is no seat of the list.")
		}
		return err
	}
	if o.View.Role == "" { // nothing says which side is the owner's
		if ask.Role, err = s.console.AskAmong(ctx, "You sign as the client or provider: ", []string{sow.Client, sow.Provider}); err != nil {
			return err
		}
		if ask.Role != sow.Client && ask.Role != sow.Provider {
			return s.undecided("You sign as the client or as the provider.")
		}
	}
	if err := s.console.Print("What is signed: sha256 " + m.Digest + "\n" + reading.LegalStatus() + "\n"); err != nil {
		return err
	}
	return s.Confirmed(ctx, "Signed. Type agreements to see where it stands.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.SignSoW(ctx, ask) })
}

// act signs an act of ours about the version that is shown.
func (s *Surface) act(ctx context.Context, o opened.Agreement, a approvals.ActAsk) error {
	a.Engagement, a.Digest = o.View.ID, o.Version.Digest
	return s.Confirmed(ctx, "Done, and signed.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.ActOn(ctx, a) })
}

const noReason = "Without a reason it is not recorded."

// reason asks for a reason that the other side gets.
func (s *Surface) reason(ctx context.Context, more string) (string, error) {
	return s.console.Ask(ctx, "Your reason, which the other side gets"+more+": ")
}

// owedReason asks for a reason of an act that has one always; where none is given it says that nothing is recorded.
func (s *Surface) owedReason(ctx context.Context) (string, error) {
	reason, err := s.reason(ctx, "")
	if err == nil && reason == "" {
		err = s.undecided(noReason)
	}
	return reason, err
}

func (s *Surface) deny(ctx context.Context, o opened.Agreement, m agreement.Move) error {
	reason, err := s.owedReason(ctx)
	if err != nil || reason == "" {
		return err
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.Denial, Reason: reason, Counter: m.What == "counter"})
}

func (s *Surface) withdraw(ctx context.Context, o opened.Agreement, _ agreement.Move) error {
	reason, err := s.reason(ctx, ", or nothing")
	if err != nil {
		return err
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.Withdrawal, Reason: reason})
}

// refuseToForm records a refusal, by the condition that is not met or on a ground that the offer does not state.
func (s *Surface) refuseToForm(ctx context.Context, o opened.Agreement, _ agreement.Move) error {
	p := s.page()
	for _, q := range o.Doc.Get("qualifications").Items() {
		p.say("Condition %s: %s", p.clean(q.Get("id").Text()), p.clean(q.Get("statement").Text()))
	}
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	ground, err := s.console.Ask(ctx, "Id of the condition that is not met, or nothing for a ground the offer does not state, which is recorded too: ")
	if err != nil {
		return err
	}
	reason, err := s.owedReason(ctx)
	if err != nil || reason == "" {
		return err
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.FormationRefusal, Ground: ground, Reason: reason})
}

func (s *Surface) settle(ctx context.Context, o opened.Agreement, m agreement.Move) error {
	if err := s.owner.SettleConflict(ctx, o.View.ID, m.Digest); err != nil {
		return err
	}
	return s.console.Print("This one counts. Nothing was signed. Type agreements to see where it stands.\n")
}

func (s *Surface) terminate(ctx context.Context, o opened.Agreement, _ agreement.Move) error {
	p := s.page()
	grounds := []string{"cause"}
	if h, agreed := o.Doc.ConvenienceNotice(); agreed {
		p.say("For convenience it ends with %d hours of notice; open tasks are finished and paid.", h)
		grounds = []string{"convenience", "cause"}
	}
	p.say("For cause it ends at once; open tasks are cancelled with the reason.")
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	ground, err := s.console.AskAmong(ctx, strings.Join(grounds, " or ")+": ", grounds)
	if err != nil {
		return err
	}
	more := ", or nothing"
	switch {
	case ground == "cause":
		more = ""
	case ground != "convenience" || len(grounds) == 1:
		return s.undecided("That is no ground on which it can be ended.")
	}
	reason, err := s.reason(ctx, more)
	switch {
	case err != nil:
		return err
	case reason == "" && ground == "cause":
		return s.undecided(noReason)
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.Termination, Ground: ground, Reason: reason})
}

// dispute freezes an amount, by a settlement record or a review that was brought in.
func (s *Surface) dispute(ctx context.Context, o opened.Agreement, _ agreement.Move) error {
	var cited []agreement.RecordView
	var names []string
	p := s.page()
	for _, r := range o.View.Records {
		if r.Kind == agreement.RecordSettlement || r.Kind == agreement.RecordReview {
			cited = append(cited, r)
			words := ""
			if r.Dispute != "" {
				words = " " + opened.DisputeWords(string(r.Dispute))
			}
			names = append(names, fmt.Sprintf("%s of %s, sha256 %s.%s", opened.Records[r.Kind], p.when(r.At), r.SHA256, words))
		}
	}
	if len(cited) == 0 {
		return s.undecided("A dispute cites a settlement record or a review. Bring the one you contest first.")
	}
	i, err := s.picked(ctx, "What you contest", names)
	if err != nil || i < 0 {
		return err
	}
	price, faults := o.Doc.Price()
	if o.View.Unsettled.Set {
		p.say("Records claim %s that is not settled.", reading.Money(o.View.Unsettled.N, price.Currency))
	}
	p.say("Only the amount that you name is frozen; everything else settles as before.")
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	line, err := s.console.Ask(ctx, "Amount in "+plain.TerminalLine(price.Currency)+", as 12.50: ")
	if err != nil {
		return err
	}
	amount, ok := units.Parse(line, price.Currency)
	if !ok || !faults.OK() || amount <= 0 {
		return s.undecided("That is no amount.")
	}
	reason, err := s.owedReason(ctx)
	if err != nil || reason == "" {
		return err
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.Dispute, Reason: reason, Cites: []string{cited[i].SHA256}, Disputed: &sow.Disputed{Amount: amount, Currency: price.Currency}})
}

// review says what the owner thinks of the work, beside what the form checks found.
func (s *Surface) review(ctx context.Context, o opened.Agreement, _ agreement.Move) error {
	p := s.page()
	deliveries := o.Deliveries()
	if len(deliveries) == 0 {
		p.say("No delivery that the provider's agent signed for was brought in: nothing is known of the form.")
	}
	for _, d := range deliveries {
		p.say("Delivered %s: %s. %s", p.when(d.At), p.clean(d.Name()), formWords(d.Form))
	}
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	task, err := s.console.Ask(ctx, "Task or job that you review, or nothing for the whole engagement: ")
	if err != nil {
		return err
	}
	if task == "" {
		task = o.Doc.ID()
	}
	verdict, err := s.console.AskAmong(ctx, "accept or reject: ", []string{"accept", "reject"})
	if err != nil {
		return err
	}
	ground, more := map[string]string{"accept": "acceptance", "reject": "rejection"}[verdict], ", or nothing"
	switch ground {
	case "":
		return s.undecided("The work is accepted or rejected.")
	case "rejection":
		more = ""
	}
	reason, err := s.reason(ctx, more)
	switch {
	case err != nil:
		return err
	case reason == "" && ground == "rejection":
		return s.undecided("Without a reason it is no review.")
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.Review, Ground: ground, Reason: reason, Cites: []string{task}})
}

// formWords say what the form checks found of a delivery.
func formWords(f sow.Findings) string {
	if n := len(f.Errors()); n > 0 {
		return fmt.Sprintf("Not in the form that was agreed: %d.", n)
	}
	return "In form: every named piece arrived as agreed."
}

// probe records a trial: which inputs were tried, and what came of each.
func (s *Surface) probe(ctx context.Context, o opened.Agreement, _ agreement.Move) error {
	var tried []sow.Tried
	for _, name := range o.Inputs() {
		line, err := s.console.AskAmong(ctx, plain.TerminalLine(name)+": passed, failed, or nothing where it was not tried; done ends the list: ", []string{"passed", "failed", "done"})
		if err != nil {
			return err
		}
		x := sow.Tried{Input: name, Passed: line == "passed"}
		switch line {
		case "passed":
		case "failed":
			code, err := s.console.AskAmong(ctx, "What is wrong, one of "+strings.Join(sow.ProblemCodes, ", ")+": ", sow.ProblemCodes)
			if err != nil {
				return err
			}
			description, err := s.console.Ask(ctx, "What happened, so that it can be acted on: ")
			if err != nil {
				return err
			}
			expected, err := s.console.Ask(ctx, "What would do, or nothing: ")
			if err != nil {
				return err
			}
			if x.Problem, err = sow.NewProblem(name, code, description, expected); err != nil {
				return s.undecided("A failure needs one of the five words and a description.")
			}
		case "":
			continue
		case "done":
		default:
			return s.undecided("An input passed, failed, or was not tried.")
		}
		if line == "done" {
			break
		}
		tried = append(tried, x)
	}
	if len(tried) == 0 {
		return s.undecided("A record names at least one input that was tried.")
	}
	return s.act(ctx, o, approvals.ActAsk{Kind: sow.Probe, Inputs: tried})
}
