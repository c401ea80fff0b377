package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/approvals/plain"
	"vault/derive/envelope"
)

// delegateCommands are those of mint delegation.
func delegateCommands() []command {
	return []command{
		{"delegates", "", "list the delegates, with what is left of them", (*Surface).delegates},
		{"delegate", "N", "show delegate N of the list, and what was minted under it", (*Surface).delegate},
		{"issue", "", "issue a delegate; a passkey confirms it", (*Surface).issue},
		{"pause", "N", "stop delegate N at once", (*Surface).pause},
		{"resume", "N", "let a paused delegate go on; a passkey confirms it", (*Surface).resume},
		{"undelegate", "N", "revoke delegate N for good, or put away one that was never admitted; it asks first", (*Surface).undelegate},
		{"import", "FILE", "bring in a delegate that this vault's keys signed elsewhere; it is not in force before admit", (*Surface).bringDelegate},
		{"admit", "N KEYS [NAME]", "let KEYS keys be minted under a delegate that was brought in, with your name for its bot; a passkey confirms it", (*Surface).admit},
		{"material", "N FILE", "let the mint material of delegate N's domain out, sealed; a passkey confirms it", (*Surface).material},
	}
}

// delegateState are the words for how a delegate stands.
var delegateState = map[approvals.DelegateState]string{
	approvals.DelegateActive: "in force", approvals.DelegatePaused: "paused", approvals.DelegateEnded: "revoked", approvals.DelegateExpired: "over",
	approvals.DelegateNotYet: "not begun", approvals.DelegateSpent: "no keys left", approvals.DelegateSuspended: "not admitted here",
}

// bot is the owner's name for a delegate's bot, or what can be said instead.
func (p *page) bot(d approvals.DelegateView) string {
	switch {
	case d.Name != "":
		return p.clean(d.Name)
	case d.Bounds.BotPolicy == envelope.BotAny:
		return "any bot"
	case len(d.Bounds.Bots) == 1:
		return p.clean(d.Bounds.Bots[0])
	}
	return fmt.Sprintf("%d bots", len(d.Bounds.Bots))
}

// sentence is what a delegate allows, as checked text on one line.
func (p *page) sentence(name string, b approvals.DelegateBounds) string {
	if name == "" && b.BotPolicy == envelope.BotSet && len(b.Bots) == 1 {
		name = b.Bots[0]
	}
	var out strings.Builder
	for _, part := range bounds.Sentence(name, b.Fields()) {
		if part.Outside {
			out.WriteString(p.clean(part.Text))
		} else {
			out.WriteString(part.Text)
		}
	}
	return out.String()
}

func (p *page) warned(list []bounds.Warning) {
	for _, w := range list {
		what, more, ok := bounds.Remark(w.Code)
		if !ok {
			what = "The vault has a remark | " + p.clean(w.Code)
		}
		if w.Subject != "" && w.Code != "any_resource" {
			what += " | " + p.clean(w.Subject)
		}
		p.say("%s", strings.TrimSpace("Note: "+what+". "+more))
	}
}

// aDelegate is delegate N of the list.
func (s *Surface) aDelegate(args []string) (approvals.DelegateView, bool) {
	list := s.owner.Delegates()
	i, ok := nth(args, len(list))
	if !ok {
		return approvals.DelegateView{}, false
	}
	return list[i], true
}

const delegateNumber = "Type the number after it, as delegates lists it.\n"

func (s *Surface) delegates(context.Context, []string) error {
	return s.console.Print(DelegateList(s.owner.Delegates(), s.loc))
}

// DelegateList is the list as checked text.
func DelegateList(list []approvals.DelegateView, loc *time.Location) string {
	p := &page{loc: loc}
	if len(list) == 0 {
		p.say("No bot may mint anything. A delegate lets a bot have keys of its own minted, within bounds that you sign once. Type issue.")
	}
	for i, d := range list {
		p.say("%d. %s, %s", i+1, p.bot(d), delegateState[d.State])
		p.say("   %s", p.sentence(d.Name, d.Bounds))
		p.say("   minted %s of %s, signed %s times", bounds.Number(d.Minted), bounds.Number(d.Mints), bounds.Number(d.Uses))
		if !d.BoundsHeld {
			p.say("   Its bounds are no longer held by this vault: mint material of its domain was let out.")
		}
	}
	return p.String()
}

func (s *Surface) delegate(_ context.Context, args []string) error {
	d, ok := s.aDelegate(args)
	if !ok {
		return s.console.Print(delegateNumber)
	}
	mints, err := s.owner.Mints(approvals.MintFilter{Delegate: d.Hash, Limit: 50})
	if err != nil {
		return err
	}
	return s.console.Print(DelegateText(d, mints, s.loc))
}

// DelegateText is one delegate whole, with what was minted under it, as checked text.
func DelegateText(d approvals.DelegateView, mints []approvals.MintView, loc *time.Location) string {
	p := &page{loc: loc}
	p.say("%s", p.sentence(d.Name, d.Bounds))
	p.say("State: %s", delegateState[d.State])
	p.warned(d.Warnings)
	if d.Origin == "imported" {
		p.say("Signed elsewhere by the domain's key, and brought in: %s", p.when(d.MadeAt))
	} else {
		p.say("Signed by you with your passkey: %s", p.when(d.MadeAt))
	}
	if !d.BoundsHeld {
		p.say("Its bounds are no longer held by this vault: mint material of its domain was let out, %s. Whoever has it can make every minted key of the domain.", p.when(d.ExportedAt))
	}
	p.bounds(d.Bounds)
	p.away(d.WhileAway)
	p.field("Delegate hash", d.Hash)
	p.field("Its own label", d.DelegateID)
	p.say("Keys minted: %s of %s", bounds.Number(d.Minted), bounds.Number(d.Mints))
	p.say("Signatures: %s", bounds.Number(d.Uses))
	if len(mints) > 0 {
		p.say("Minted, newest first. You alone vouch for these; nobody else has checked them.")
	}
	for _, m := range mints {
		p.mint(m)
	}
	if rest := d.Minted - int64(len(mints)); rest > 0 {
		p.say("%s older ones are in the log.", bounds.Number(rest))
	}
	return p.String()
}

func (p *page) bounds(b approvals.DelegateBounds) {
	p.field("Domain", b.Domain.ID)
	p.field("Domain hash", b.Domain.Hash)
	if b.BotPolicy == envelope.BotAny {
		p.say("Bots: any that signs its request")
	}
	for _, a := range b.Bots {
		p.field("Bot", a)
	}
	for _, o := range b.Operations {
		p.field("Operation", o)
	}
	for _, r := range b.Resources {
		p.field("Resource", r)
	}
	p.say("Action index: %d to %d", b.IndexMin, b.IndexMax)
	p.say("Valid: %s", bounds.Until(b.Fields().Window))
	if b.AvatarAddress != "" {
		p.field("Avatar", b.AvatarAddress)
	}
	if l := b.Legitimacy; l != nil {
		p.field("Legitimacy, which is no part of what is valid", l.LegitimacyID)
		if l.Required {
			p.say("Requests have to name it.")
		}
		if l.PolicyID != "" {
			p.field("Its policy", l.PolicyID)
		}
		if l.StateVersion != nil {
			p.say("Its version: %d", *l.StateVersion)
		}
		if l.StateHash != "" {
			p.field("Its hash", l.StateHash)
		}
	}
}

func (p *page) away(goesOn bool) {
	words := "it waits"
	if goesOn {
		words = "it goes on"
	}
	p.say("While you are away: %s", words)
}

func (p *page) mint(m approvals.MintView) {
	p.say("- %s, entry %d: used %s of %s", p.when(m.At), m.Seq, bounds.Number(m.Used), bounds.Number(m.MaxUses))
	if m.Address != "" {
		p.field("  Signs as", m.Address)
	}
	agent := m.Agent
	if agent == "" {
		agent = "an ended agent"
	}
	p.field("  Asked by", agent)
	p.field("  Bot", m.Bot)
	p.field("  Calls itself", m.AgentID)
	p.field("  Operation", m.Operation)
	for _, r := range m.Resources {
		p.field("  Resource", r)
	}
}

func (s *Surface) pause(ctx context.Context, args []string) error {
	d, ok := s.aDelegate(args)
	if !ok {
		return s.console.Print(delegateNumber)
	}
	if err := s.owner.PauseDelegate(ctx, d.Hash); err != nil {
		return err
	}
	return s.console.Print("Paused. Nothing is minted or signed under it until resume.\n")
}

func (s *Surface) resume(ctx context.Context, args []string) error {
	d, ok := s.aDelegate(args)
	if !ok {
		return s.console.Print(delegateNumber)
	}
	return s.Confirmed(ctx, "It mints and signs within its bounds from now on.", func(ctx context.Context) (approvals.Outcome, error) {
		return s.owner.ResumeDelegate(ctx, d.Hash)
	})
}

func (s *Surface) undelegate(ctx context.Context, args []string) error {
	d, ok := s.aDelegate(args)
	if !ok {
		return s.console.Print(delegateNumber)
	}
	// The number is of a list that may have changed meanwhile, and what is revoked does not come back.
	p := s.page()
	question := "Revoke it?"
	if d.State == approvals.DelegateSuspended {
		question = "Remove it?"
		p.say("%s never was in force here. It can be brought in again.", p.bot(d))
	} else {
		p.say("%s stops at once, for good. Keys that are out: %s; what they signed stays signed. To stop it for a while, use pause.", p.bot(d), bounds.Number(d.Minted))
	}
	p.say("%s", p.sentence(d.Name, d.Bounds))
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	yes, err := s.yes(ctx, question)
	if err != nil {
		return err
	}
	if !yes {
		return s.console.Print("Nothing was changed.\n")
	}
	out, err := s.owner.RevokeDelegate(ctx, d.Hash)
	if err != nil {
		return err
	}
	if d.State == approvals.DelegateSuspended {
		return s.console.Print("Removed. It never was in force here; it can be brought in again.\n")
	}
	p = s.page()
	p.say("Revoked. Nothing is minted or signed under it any more. What was signed stays signed.")
	if len(out) > 0 {
		p.say("Keys that were out and sign no more here: %d", len(out))
	}
	for _, m := range out {
		p.mint(m)
	}
	return s.console.Print(p.String())
}

func (s *Surface) bringDelegate(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return s.console.Print("Type the delegate's file after it.\n")
	}
	raw, err := readDelegate(strings.Join(args, " "))
	if err != nil {
		return err
	}
	d, err := s.owner.ImportDelegate(ctx, raw)
	if err != nil {
		return err
	}
	p := s.page()
	p.say("It passes all four checks: its form, what is said of its domain, its issuer, its signature. It is not in force here before admit.")
	p.say("%s", p.sentence(d.Name, d.Bounds))
	p.warned(d.Warnings)
	return s.console.Print(p.String())
}

// maxDelegate bounds a delegate's file, in bytes.
const maxDelegate = 1 << 20

func readDelegate(name string) ([]byte, error) {
	raw, err := readRegular(name, maxDelegate)
	if err == nil && len(raw) > maxDelegate {
		err = errors.New("it is larger than 1 MiB")
	}
	return raw, err
}

func (s *Surface) admit(ctx context.Context, args []string) error {
	var d approvals.DelegateView
	var keys int64
	ok := len(args) >= 2
	if ok {
		d, ok = s.aDelegate(args[:1])
	}
	if ok {
		var err error
		keys, err = strconv.ParseInt(args[1], 10, 64)
		ok = err == nil && keys >= 1 && keys <= d.Bounds.MaxMints
	}
	if !ok {
		return s.console.Print("Type the delegate's number after it, how many keys may be minted under it here, 1 to what it allows, and your name for its bot if you like.\n")
	}
	name := strings.Join(args[2:], " ")
	if !plain.One(name).Clean() {
		return s.console.Print("The name holds hidden or look-alike letters. Nothing was changed.\n")
	}
	return s.Confirmed(ctx, "Admitted. It is in force here from now on.", func(ctx context.Context) (approvals.Outcome, error) {
		return s.owner.AdmitDelegate(ctx, d.Hash, keys, name)
	})
}

func (s *Surface) material(ctx context.Context, args []string) error {
	var d approvals.DelegateView
	ok := len(args) == 2
	if ok {
		d, ok = s.aDelegate(args[:1])
	}
	if !ok {
		return s.console.Print("Type the delegate's number after it, and a new file.\n")
	}
	p := s.page()
	p.say("This opens the whole domain. Whoever holds it can make every minted key of %s, also ones you never issued. It cannot be taken back. Never give it to a hosted service.", p.clean(d.Bounds.Domain.ID))
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	to, err := s.console.Ask(ctx, "Sealed to, an age recipient that begins with age1: ")
	if err != nil {
		return err
	}
	if to == "" {
		return s.console.Print("Nothing left the vault.\n")
	}
	return s.Confirmed(ctx, "Written, sealed to that recipient. This vault no longer holds the bounds of this domain's delegates.", func(ctx context.Context) (approvals.Outcome, error) {
		return writeMaterial(ctx, s.owner, d.Bounds.Domain.Hash, to, args[1])
	})
}

// writeMaterial writes the sealed mint material to a new file.
func writeMaterial(ctx context.Context, owner approvals.Owner, domain, to, file string) (approvals.Outcome, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return approvals.Outcome{}, err
	}
	// The file is there first: what was let out and could not be kept would have cost the bounds for nothing.
	w, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return approvals.Outcome{}, os.ErrExist
	}
	if err != nil {
		return approvals.Outcome{}, err
	}
	b, out, err := owner.ExportMint(ctx, domain, to)
	if err != nil || out.Code != "done" {
		return out, errors.Join(err, w.Close(), os.Remove(file))
	}
	_, err = w.Write(b)
	return out, errors.Join(err, w.Close())
}

// What a new delegate is proposed to be.
const (
	firstUses, firstKeys, firstIndex = "10", "20", "999"
	firstDays                        = 30
)

// issue asks for a delegate's bounds one by one, shows them as a sentence with what is to be known, and has it confirmed.
func (s *Surface) issue(ctx context.Context, _ []string) error {
	f, ok, err := s.delegateForm(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return s.console.Print("Nothing was issued.\n")
	}
	plan, err := s.owner.PlanDelegate(f)
	if err != nil {
		return err
	}
	p := s.page()
	p.say("This is what you sign:")
	p.say("%s", p.sentence(plan.Name, plan.Bounds))
	p.warned(plan.Warnings)
	p.bounds(plan.Bounds)
	p.away(plan.WhileAway)
	p.field("Delegate hash", plan.Hash)
	for _, x := range plan.Preview {
		switch {
		case x.Allowed:
			p.say("%s: covered by %s", p.clean(x.Resource), p.clean(x.By))
		default:
			p.say("%s: not covered", p.clean(x.Resource))
		}
	}
	if err := s.console.Print(p.String()); err != nil {
		return err
	}
	yes, err := s.yes(ctx, "Issue it?")
	if err != nil {
		return err
	}
	if !yes {
		return s.console.Print("Nothing was issued.\n")
	}
	return s.Confirmed(ctx, "Issued.", func(ctx context.Context) (approvals.Outcome, error) { return s.owner.IssueDelegate(ctx, plan) })
}

// question is one line of the form: its words, what an empty answer means ("" for none), and what takes the answer, or says
// what is wrong with it.
type question struct {
	text, preset string
	optional     bool // an empty answer is one
	take         func(answer string) (wrong string)
}

// answers asks each question until its answer is as it must be. It is false where one that needs an answer got none.
func (s *Surface) answers(ctx context.Context, list []question) (ok bool, err error) {
	for _, q := range list {
		for {
			var answer string
			if q.preset == "" {
				answer, err = s.console.Ask(ctx, q.text+": ")
			} else {
				answer, err = s.ask(ctx, q.text, q.preset)
			}
			if err != nil || answer == "" && !q.optional {
				return false, err
			}
			wrong := q.take(answer)
			if wrong == "" {
				break
			}
			if err := s.console.Print(wrong + "\n"); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// Answers that several lines of the form take.

func clean(into *string, what string) func(string) string {
	return func(answer string) string {
		if !plain.One(answer).Clean() {
			return what + " holds hidden or look-alike letters."
		}
		*into = answer
		return ""
	}
}

func listed(into *[]string) func(string) string {
	return func(answer string) string {
		parts := strings.Split(answer, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		*into = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		return ""
	}
}

// whole takes a whole number, not below what least gives when it is asked.
func whole(into *int64, least func() int64) func(string) string {
	return func(answer string) string {
		n, err := strconv.ParseInt(strings.ReplaceAll(answer, ",", ""), 10, 64)
		if low := least(); err != nil || n < low || n > maxWhole {
			return "That is no whole number from " + bounds.Number(low) + "."
		}
		*into = n
		return ""
	}
}

const maxWhole = 1<<53 - 1

// theDay takes a day in UTC: its first millisecond, or its last.
func theDay(into **int64, last bool, open string) func(string) string {
	return func(answer string) string {
		if answer == open {
			*into = nil
			return ""
		}
		t, err := time.Parse(time.DateOnly, answer)
		if err != nil {
			return "A day is written like 2026-12-31; or type " + open + "."
		}
		ms := t.UnixMilli()
		if last {
			ms = t.AddDate(0, 0, 1).UnixMilli() - 1
		}
		*into = &ms
		return ""
	}
}

func yesOrNo(into *bool) func(string) string {
	return func(answer string) string {
		*into = strings.EqualFold(answer, "yes")
		if !*into && !strings.EqualFold(answer, "no") {
			return "Type yes or no."
		}
		return ""
	}
}

func address(text string) bool { return envelope.IsAddress(strings.ToLower(text)) }

const noAddress = "An address is 0x and 40 hex digits."

// delegateForm asks for the bounds. It is false where the owner left it.
func (s *Surface) delegateForm(ctx context.Context) (f approvals.DelegateForm, ok bool, err error) {
	domains := s.owner.Domains()
	if len(domains) == 0 {
		return f, false, s.console.Print("There is no domain yet. Type domain to make one.\n")
	}
	p := s.page()
	for i, d := range domains {
		p.say("%d. %s", i+1, p.clean(d.ID))
	}
	if err := s.console.Print(p.String()); err != nil {
		return f, false, err
	}
	f.BotPolicy = envelope.BotSet
	one, zero := func() int64 { return 1 }, func() int64 { return 0 }
	legitimacy := ""
	if ok, err = s.answers(ctx, []question{
		{"Number of the domain", "1", false, func(a string) string {
			at, ok := nth([]string{a}, len(domains))
			if !ok {
				return "There is no domain with that number."
			}
			f.DomainHash = domains[at].Hash
			return ""
		}},
		{"Your name for the bot", "", true, clean(&f.Name, "The name")},
		{"It may, operations with commas between them", "", false, listed(&f.Operations)},
		{"On, resources with commas between them. " + bounds.Rule, "", false, listed(&f.Resources)},
		{"Resources to try, with commas between them, or empty", "", true, listed(&f.Examples)},
		{"Addresses of its bots, or any", "", false, func(a string) string {
			if a == "any" {
				f.BotPolicy = envelope.BotAny
				return ""
			}
			f.Bots = strings.FieldsFunc(a, func(r rune) bool { return r == ',' || r == ' ' })
			if slices.ContainsFunc(f.Bots, func(b string) bool { return !address(b) }) {
				return noAddress
			}
			return ""
		}},
		{"Each key signs at most so many times", firstUses, false, whole(&f.MaxUsesPerAction, one)},
		{"At most so many keys", firstKeys, false, whole(&f.MaxMints, one)},
		{"Lowest action index", "0", false, whole(&f.IndexMin, zero)},
		{"Highest action index", firstIndex, false, whole(&f.IndexMax, func() int64 { return f.IndexMin })},
		{"Its first day in UTC, or now", "now", false, theDay(&f.NotBefore, false, "now")},
		{"Its last day in UTC, or open", s.now().UTC().AddDate(0, 0, firstDays).Format(time.DateOnly), false, theDay(&f.NotAfter, true, "open")},
		{"It goes on while the screen is locked, yes or no", "no", false, yesOrNo(&f.WhileAway)},
		{"Avatar, or empty. " + bounds.Avatar, "", true, func(a string) string {
			if a != "" && !address(a) {
				return noAddress
			}
			f.AvatarAddress = a
			return ""
		}},
		{"Legitimacy id, or empty. " + bounds.Legitimacy, "", true, clean(&legitimacy, "The id")},
	}); err != nil || !ok || legitimacy == "" {
		return f, ok, err
	}
	l := &approvals.LegitimacyView{LegitimacyID: legitimacy}
	f.Legitimacy = l
	ok, err = s.answers(ctx, []question{
		{"Every request has to name it, yes or no", "no", false, yesOrNo(&l.Required)},
		{"Its policy, or empty", "", true, clean(&l.PolicyID, "The policy")},
		{"Its version, or empty", "", true, func(a string) string {
			if a == "" {
				return ""
			}
			l.StateVersion = new(int64)
			return whole(l.StateVersion, one)(a)
		}},
		{"Its hash, 0x and 64 hex digits, or empty", "", true, func(a string) string {
			if a = strings.ToLower(a); a != "" && !envelope.IsHash(a) {
				return "A hash is 0x and 64 hex digits."
			}
			l.StateHash = a
			return ""
		}},
	})
	return f, ok, err
}
