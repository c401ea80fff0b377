package terminal

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/plain"
	"vault/approvals/sow"
	reading "vault/approvals/sow/page"
	"vault/approvals/sow/page/pdf"
)

// Bounds of what stands on a terminal; the bundle has everything.
const (
	mostBeside = 60
	mostDue    = 50
	dueDays    = 90
)

// newest is the end of a list, and how much is left out before it.
func newest[T any](list []T) ([]T, int) {
	if n := len(list) - mostBeside; n > 0 {
		return list[n:], n
	}
	return list, 0
}

// beside is what belongs to an agreement beside its documents: versions, what happened, what becomes due, what was brought in.
func (s *Surface) beside(v agreement.View) string {
	p := s.page()
	p.say("Every version, kept as it came")
	for _, x := range v.Versions {
		state := opened.OutcomeWords(x)
		if state == "" {
			state = opened.StateWords(agreement.Row{State: x.State})
		}
		inForce := ""
		if x.InForce {
			inForce = ", in force"
		}
		p.say("  version %d%s: %s sha256 %s", x.Version, inForce, state, x.Digest)
		if x.Reason != "" {
			p.field("    Reason", x.Reason)
		}
		if n := len(x.Findings.Errors()); n > 0 {
			p.say("    Findings that bar signing: %d", n)
		}
	}
	p.say("Where it stands: %s", opened.StateWords(v.Row))
	list, more := newest(v.Timeline)
	if more > 0 {
		p.say("  and %d earlier", more)
	}
	for _, m := range list {
		by := map[string]string{"us": ", by you", "them": ", by them"}[m.By]
		if by == "" && m.By != "" && m.By != "time" {
			by = ", by " + s.agentName(m.By)
		}
		if m.Claimed {
			by += ", claimed and not verified"
		}
		p.say("  %s: %s%s", p.when(m.At), opened.MovedWords(m), by)
	}
	for _, r := range v.Reminders {
		p.reminder("Due", r)
	}
	for _, g := range v.ToClose {
		state := "still open"
		switch {
		case g.Closed:
			state = "closed by you"
		case g.Ended:
			state = "the engagement has ended: close it now"
		}
		p.say("Access that stays open: %s, %s", p.clean(g.Grant.Name), state)
	}
	for _, d := range v.Disputed {
		p.say("Disputed since %s: %s. Only this amount is frozen.", p.when(d.At), reading.Money(d.Disputed.Amount, d.Disputed.Currency))
		p.field("  Posture", d.Posture)
		p.field("  Without a conclusion", d.Fallback)
		if d.Due > 0 {
			p.say("  A verdict after %s is void.", p.when(d.Due))
		}
	}
	for _, a := range v.Preauthorisations {
		p.say("Allowed in advance: %s, %d of %d times, until %s, at most %s each time, %s", s.agentName(a.Client), a.Used, a.Times, p.when(a.NotAfter), reading.Money(a.MaxCommitted, v.Currency), p.clean(a.State))
	}
	for _, r := range v.Reviews {
		who, what := "They", "accepted"
		if r.Ours {
			who = "You"
		}
		if !r.Accepted {
			what = "rejected"
		}
		form := "No manifest was brought: nothing is known of the form."
		if r.Checked {
			form = formWords(r.Form)
		}
		p.say("%s %s %s. %s", who, what, p.clean(strings.Join(r.Cites, ", ")), form)
		if r.Reason != "" {
			p.field("  Reason", r.Reason)
		}
	}
	records, more := newest(v.Records)
	if more > 0 {
		p.say("What was brought in: %d older are in the bundle", more)
	}
	for _, r := range records {
		p.record(r)
	}
	return p.String()
}

// record is one thing that was brought in, or an act of ours.
func (p *page) record(r agreement.RecordView) {
	by := "claimed by nobody that is known"
	switch {
	case r.Own:
		by = "signed by you"
	case r.Verified:
		by = "signed by their pinned key"
	case r.Claimed != "":
		by = "claimed by " + p.clean(r.Claimed)
	}
	what := opened.Records[r.Kind]
	if what == "" {
		what = "A record"
	}
	p.say("%s, %s: %s", what, p.when(r.At), by)
	if r.Dispute != "" {
		p.say("  %s It is not recorded as settled, and nothing of it was repaired.", opened.DisputeWords(string(r.Dispute)))
	}
	if r.Ignored != "" {
		p.say("  It does not count: %s", p.clean(r.Ignored))
	}
	if r.Answer != "" {
		p.say("  %s", strings.ReplaceAll(p.clean(r.Answer), "_", " "))
	}
	if r.Act != nil && r.Act.Reason != "" {
		p.field("  Reason", r.Act.Reason)
	}
	if r.Kind == agreement.RecordProblem { // delivered as it came, none of it left out (14.2)
		p.field("  Report", r.Text)
	}
	for _, f := range r.Findings.Errors() {
		p.say("  %s %s (%s)", p.clean(f.Message), p.clean(f.Remedy), string(f.Code))
	}
}

func (p *page) reminder(label string, r agreement.Reminder) {
	about := ""
	if r.About != "" {
		about = ": " + p.clean(r.About)
	}
	if r.Due {
		about += " (the time has come)"
	}
	p.say("%s %s: %s%s", label, p.when(r.At), opened.ReminderWords(r), about)
}

// besides are what can be done with an agreement beside its moves: none of it signs a document.
func (s *Surface) besides(o opened.Agreement) (out []choice) {
	v := o.View
	add := func(words string, do func(context.Context) error) { out = append(out, choice{words, do}) }
	done := func(said string, f func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := f(ctx); err != nil {
				return err
			}
			return s.console.Print(said + "\n")
		}
	}
	p := s.page()
	if asks := slices.ContainsFunc(v.Waiting, func(w agreement.Waiting) bool { return w == agreement.WaitCountersign || w == agreement.WaitApprove }); asks {
		add("tell the agent that asks no; nothing is signed", done("Declined. The agent was told.", func(ctx context.Context) error { return s.owner.DeclineSoW(ctx, v.ID, o.Version.Digest) }))
	}
	for _, h := range v.Rehomed {
		add(fmt.Sprintf("say that the handle %s has moved from %s to %s, and that this is right: you asked them, by another way", p.clean(h.Handle), p.clean(h.Was), p.clean(h.Is)),
			done("The new key is theirs.", func(ctx context.Context) error { return s.owner.ConfirmHandle(ctx, v.ID, h.Handle, h.Is) }))
	}
	records, _ := newest(v.Records)
	for _, r := range records {
		if r.Kind != agreement.RecordProblem || r.Answer == "resolved" || r.Ignored != "" {
			continue
		}
		answer := func(answer, said string) func(context.Context) error {
			return done(said, func(ctx context.Context) error { return s.owner.AnswerProblem(ctx, v.ID, r.SHA256, answer) })
		}
		add("the problem reported "+p.when(r.At)+" is resolved", answer("resolved", "It is kept with the task."))
		if r.Answer != "escalated_twice" {
			add("escalate the problem reported "+p.when(r.At), answer("escalated", "It is kept with the task."))
		}
	}
	for _, g := range v.ToClose {
		words := "say that you closed the access to "
		if g.Closed {
			words = "say that access is still open to "
		}
		add(words+p.clean(g.Grant.Name), done("Noted.", func(ctx context.Context) error { return s.owner.CloseGrant(ctx, v.ID, g.Grant.Name, !g.Closed) }))
	}
	for _, a := range v.Preauthorisations {
		if a.State == "active" {
			add("end what you allowed "+s.agentName(a.Client)+" in advance", done("It has ended.", func(ctx context.Context) error { return s.owner.EndPreauthorisation(ctx, a.ID) }))
		}
	}
	if l, named := o.Doc.Language(); named && o.Text == nil && !s.facts(o).Findings.Refused("language_hash_conflict") {
		if own, _, err := reading.OwnLanguage(); err != nil || own != l {
			add("bring the text of its contract language, from a file", func(ctx context.Context) error { return s.bringText(ctx, o) })
		}
	}
	add("write the bundle to a new file", func(ctx context.Context) error {
		return s.written(ctx, func() ([]byte, error) { return s.owner.ExportSoW(ctx, v.ID, "") })
	})
	add("write the bundle of this version alone to a new file", func(ctx context.Context) error {
		return s.written(ctx, func() ([]byte, error) { return s.owner.ExportVersion(ctx, v.ID, o.Version.Digest) })
	})
	add("write this page to a new file, as HTML or PDF", func(ctx context.Context) error { return s.writePage(ctx, o) })
	add("say what its runtimes do, for this one alone", func(ctx context.Context) error { return s.ownRuntimes(ctx, v) })
	return out
}

// bringText takes the text of the contract language that the document names.
func (s *Surface) bringText(ctx context.Context, o opened.Agreement) error {
	file, err := s.console.Ask(ctx, "The file: ")
	if err != nil || file == "" {
		return err
	}
	text, err := readRegular(file, sow.MaxLanguage)
	if err != nil {
		return err
	}
	if err := s.owner.BringLanguage(o.Version.Digest, text); err != nil {
		return err
	}
	return s.console.Print("Kept: its hash is the one that was signed. It stands at the end of the page.\n")
}

// written writes to a file that must not exist yet.
func (s *Surface) written(ctx context.Context, content func() ([]byte, error)) error {
	file, err := s.console.Ask(ctx, "The new file: ")
	if err != nil || file == "" {
		return err
	}
	return s.write(file, content)
}

func (s *Surface) write(file string, content func() ([]byte, error)) error {
	b, err := content()
	if err == nil {
		err = writeNew(file, b)
	}
	if err != nil {
		return err
	}
	return s.console.Print("Written. It has what the vault showed you, with the digest of the document.\n")
}

// writePage writes the page of the version that is shown.
func (s *Surface) writePage(ctx context.Context, o opened.Agreement) error {
	file, err := s.console.Ask(ctx, "The new file, whose name ends in .html or .pdf: ")
	if err != nil || file == "" {
		return err
	}
	shown := reading.Of(o.Doc, s.facts(o))
	switch strings.ToLower(filepath.Ext(file)) {
	case ".html":
		return s.write(file, func() ([]byte, error) { return []byte(shown.HTML()), nil })
	case ".pdf":
		return s.write(file, func() ([]byte, error) { return pdf.Page(shown) })
	}
	return s.console.Print("Nothing was written. The name ends in .html or .pdf.\n")
}

// due lists what becomes due in all agreements.
func (s *Surface) due(context.Context, []string) error {
	list, err := s.owner.Reminders(s.now().Add(dueDays*24*time.Hour).UnixMilli(), mostDue)
	if err != nil {
		return err
	}
	p := s.page()
	if len(list) == 0 {
		p.say("Nothing becomes due within %d days.", dueDays)
	}
	s.listed = nil
	for i, r := range list {
		s.listed = append(s.listed, r.Engagement)
		p.reminder(fmt.Sprintf("%d.", i+1), r)
	}
	if len(list) > 0 {
		p.say("Type agreement and a number of this list for one of them.")
	}
	return s.console.Print(p.String())
}

// refuseKey refuses everything of a key from now on, or lists what is refused.
func (s *Surface) refuseKey(ctx context.Context, args []string) error {
	if len(args) == 0 {
		p := s.page()
		list := s.owner.BlockedKeys()
		if len(list) == 0 {
			p.say("No key is refused.")
		}
		for _, b := range list {
			p.say("%s, since %s", p.clean(b.Key), p.when(b.At))
			if b.Why != "" {
				p.field("  Your note", b.Why)
			}
		}
		return s.console.Print(p.String())
	}
	if err := s.owner.BlockKey(ctx, args[0], strings.Join(args[1:], " ")); err != nil {
		return err
	}
	return s.console.Print("Everything of it is refused, and says so. What is in force stays in force: end it if you want it to end.\n")
}

func (s *Surface) hearKey(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return s.console.Print("Type the key after it, as refusekey lists it.\n")
	}
	if err := s.owner.UnblockKey(ctx, args[0]); err != nil {
		return err
	}
	return s.console.Print("What it signs counts as before.\n")
}

// seats lists the owner's own keys in agreements.
func (s *Surface) seats(context.Context, []string) error {
	p := s.page()
	for _, x := range s.owner.Seats() {
		p.say("%s: %s", seatName(x), p.clean(x.Key))
	}
	return s.console.Print(p.String())
}

// seat opens the next one.
func (s *Surface) seat(ctx context.Context, args []string) error {
	name := strings.Join(args, " ")
	if name == "" || !plain.One(name).Clean() {
		return s.console.Print("Type a name after it, of letters that can be seen and told apart. No seat was opened.\n")
	}
	x, err := s.owner.OpenSeat(ctx, name)
	if err != nil {
		return err
	}
	p := s.page()
	p.say("%s: %s", seatName(x), p.clean(x.Key))
	p.say("It signs nothing until you choose it below an agreement.")
	return s.console.Print(p.String())
}

// runtimes says what runtimes do, for every agreement.
func (s *Surface) runtimes(ctx context.Context, args []string) error {
	now, _ := s.owner.Deployment("")
	return s.setRuntimes(ctx, "", now, args)
}

// ownRuntimes says it for one agreement.
func (s *Surface) ownRuntimes(ctx context.Context, v agreement.View) error {
	if err := s.console.Print(runtimesText(v.Deployment, v.OwnDeployment)); err != nil {
		return err
	}
	line, err := s.console.Ask(ctx, "WHAT and yes or no; settings to take it from what you said for every agreement; or nothing: ")
	if err != nil || line == "" {
		return err
	}
	if line == "settings" {
		if err := s.owner.SetDeployment(ctx, v.ID, nil); err != nil {
			return err
		}
		return s.console.Print("As you said for every agreement.\n")
	}
	return s.setRuntimes(ctx, v.ID, v.Deployment, strings.Fields(line))
}

func (s *Surface) setRuntimes(ctx context.Context, engagement string, now sow.Deployment, args []string) error {
	if len(args) == 0 {
		return s.console.Print(runtimesText(now, engagement != ""))
	}
	i := slices.IndexFunc(opened.Runtimes, func(r opened.Runtime) bool { return r.Word == args[0] })
	if i < 0 || len(args) != 2 || args[1] != "yes" && args[1] != "no" {
		return s.console.Print("Type one of the words that runtimes lists after it, and yes or no. Nothing was changed.\n")
	}
	*opened.Runtimes[i].Of(&now) = args[1] == "yes"
	if err := s.owner.SetDeployment(ctx, engagement, &now); err != nil {
		return err
	}
	return s.console.Print("Grades are earned anew, at once.\n")
}

func runtimesText(d sow.Deployment, own bool) string {
	p := &page{}
	p.say("A grade is a claim about these. What you do not say counts as no.")
	if own {
		p.say("As you said for this agreement alone.")
	}
	for _, r := range opened.Runtimes {
		state := "no"
		if *r.Of(&d) {
			state = "yes"
		}
		p.say("%s: %s. %s: %s", r.Word, state, r.Group, r.Name)
	}
	return p.String()
}
