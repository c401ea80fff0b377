package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vault/approvals/sow"
	"vault/approvals/sow/units"
	"vault/derive/jcs"
)

// Of makes the page of a document. It blocks on nothing and never fails: what
// is not as the specification says is shown as it stands.
func Of(d *sow.Document, f Facts) *Page {
	w := newWalker(d, f)
	p := &Page{ID: code(d.ID()), Version: d.Version(), Digest: d.Digest(), State: f.State}
	p.Language = w.language()
	// What a person gives and pays comes first, then how long, then who, then the work, then what guards it.
	for _, clause := range []func(){
		w.inputs, w.price, w.term, w.termination, w.parties, w.scope, w.deliverables, w.revisions, w.volume, w.changeControl,
		w.disputes, w.confidentiality, w.reporting, w.liability, w.floors, w.subcontracting, w.qualifications, w.silent, w.about,
	} {
		clause()
	}
	p.Clauses = w.out
	w.parts(p)
	w.bar(p)
	w.figures(p)
	w.status(p)
	w.notices(p)
	w.records(p)
	d.Value().Without("signatures").Leaves(func(string, jcs.Value) { p.Leaves++ })
	words := 0
	for _, c := range p.Clauses {
		for _, r := range c.Rows {
			for _, s := range [][]Span{r.Name, r.Value, r.More, r.Says} {
				words += 1 + len(strings.Fields(String(s)))
			}
		}
	}
	p.Minutes = max((words+219)/220, 1)
	return p
}

// parts are the two seats, side by side.
func (w *walker) parts(p *Page) {
	for i, role := range []string{sow.Provider, sow.Client} {
		known, signed := w.f.Provider, w.f.Seats.Of(role)
		out := Party{Role: role, Duty: "does the work", Ours: w.f.Ours == role}
		if role == sow.Client {
			known = w.f.Client
			out.Duty = "pays for it"
			if w.d.Get("price").Get("arrangement").Text() == "no_charge" {
				out.Duty = "asks for it"
			}
		}
		seat := w.root().get("parties").get(role)
		if seat.v.Kind() != jcs.Object {
			out.Blank = true
		}
		if out.Ours {
			out.Seat = "you"
			if w.f.Seat != "" {
				out.Seat = "you, " + w.f.Seat
			}
		}
		if !out.Blank {
			out.Owner = stated(seat.get("owner"))
			for _, x := range []struct {
				to     *[]Span
				member string
			}{{&out.Handle, "handle"}, {&out.Org, "organization"}, {&out.Agent, "agent"}} {
				if m := seat.get(x.member); m.there() {
					*x.to = leaf(m.v)
				}
			}
			for j := range out.Owner {
				out.Owner[j].Code = false
			}
		}
		out.Key = known.Key
		if out.Key == "" && signed != nil {
			out.Key = signed.Key
		}
		switch {
		case out.Blank:
			out.Known = "nobody yet"
			if out.Ours {
				out.Known = "You can fill it."
			}
		case out.Ours && known.How == "":
			out.Known = "your key, held by this vault"
		case known.How != "":
			out.Known = known.How
		case out.Key != "":
			out.Known, out.Warn = "a key this vault does not know. It may not be theirs.", true
		default:
			out.Known, out.Warn = "no owner’s key is known", true
		}
		switch known.Person {
		case PresentNotPinned:
			out.Person = "a person’s confirmation is there, under a key that is not pinned"
		case Verified:
			out.Person = "a person’s presence and verification is confirmed"
		default:
			if signed != nil && !out.Ours {
				out.Person = "no person’s confirmation was brought"
			}
		}
		p.Parties[i] = out
	}
}

func (w *walker) bar(p *Page) {
	count := func(grade string, e, v, r *int) {
		switch grade {
		case sow.Enforced:
			*e++
		case sow.Evidence:
			*v++
		default:
			*r++
		}
	}
	b := &p.Bar
	for _, c := range p.Clauses {
		g := c.Counts()
		if g == nil {
			continue
		}
		count(g.Shown(), &b.Enforced, &b.Evidence, &b.Recorded)
		earned := g.Earned
		if !g.Known {
			earned = sow.Recorded
		}
		count(earned, &b.EarnedEnforced, &b.EarnedEvidence, &b.EarnedRecorded)
	}
	b.Differs = b.Enforced != b.EarnedEnforced || b.Evidence != b.EarnedEvidence || b.Recorded != b.EarnedRecorded
}

func (w *walker) figures(p *Page) {
	d := w.d
	pay, leave := "The client pays at most", "Either side can leave with"
	switch w.f.Ours {
	case sow.Client:
		pay, leave = "You pay at most", "You can leave with"
	case sow.Provider:
		pay, leave = "You are paid at most", "You can leave with"
	}
	start, end, started, ended := d.Term()
	months, hasMonths := d.Get("term_months").Int()

	money := Figure{Caption: pay}
	price, faults := d.Price()
	switch {
	case !faults.OK():
		money.Value, money.More, money.Warn = own("not said"), own("the price cannot be read"), true
	case price.Arrangement == "no_charge":
		money.Value, money.More = own("nothing"), own("no charge; a charge is refused")
	case !price.Committed().Set:
		money.Value, money.More, money.Warn = own("no limit"), own("each task is charged, and no ceiling is stated"), true
	case price.Arrangement == "time_and_materials":
		money.Value = w.money.amount(price.Cap)
		money.More = own("in all, fees inside; held for " + plural(price.WindowDays, "day", "days"))
	default:
		money.Value = w.money.amount(price.Ceiling.N)
		money.More = own("a month, fees inside")
		n := int64(0)
		switch {
		case started && ended && end > start:
			n = touched(start, end)
		case hasMonths && months > 0 && months < 1200:
			n = months + 1
		}
		if n > 0 && n < 1200 && price.Ceiling.N <= (1<<53)/n {
			money.More = join(money.More, own("; at most "+w.money.number(price.Ceiling.N*n)+" in all"))
		}
	}

	until := Figure{Caption: "Runs until", More: own("no renewal by itself")}
	switch {
	case ended:
		until.Value = own(Day(end))
		if started {
			until.More = own("from " + Day(start) + "; no renewal")
		}
	case hasMonths && months > 0:
		until.Caption, until.Value = "Runs for", own(plural(months, "month", "months"))
		until.More = own("from the start, which is filled in on accepting; no renewal")
	default:
		until.Value, until.Warn = own("not said"), true
	}

	exit := Figure{Caption: leave}
	hours, ok := d.Get("termination").Get("convenience_notice_hours").Int()
	switch {
	case ok && hours == 0:
		exit.Value, exit.More = own("no notice"), own("at any time; open tasks are finished and paid")
	case ok && hours > 0:
		exit.Value = own(plural(hours, "hour", "hours"))
		if hours%24 == 0 && hours > 48 {
			exit.Value = own(plural(hours/24, "day", "days"))
		}
		exit.More = own("notice; open tasks are finished and paid")
	default:
		exit.Value, exit.More, exit.Warn = own("no notice stated"), own("only for cause, or when it ends"), true
	}
	p.Figures = [3]Figure{money, until, exit}
}

// touched counts the calendar months a term touches: the most periods of a
// month in which a ceiling can be reached.
func touched(start, end int64) int64 {
	a, b := time.UnixMilli(start).UTC(), time.UnixMilli(end-1).UTC()
	return int64(b.Year()-a.Year())*12 + int64(b.Month()) - int64(a.Month()) + 1
}

func (w *walker) status(p *Page) {
	seats := w.f.Seats
	ours, theirs := seats.Provider, seats.Client
	if w.f.Ours == sow.Client {
		ours, theirs = seats.Client, seats.Provider
	}
	switch w.f.State {
	case sow.StandingProposal:
		p.Title = "An offer, for you to sign or not"
		if w.f.Ours == sow.Provider {
			p.Title = "Your offer"
		}
		if w.d.Directed() {
			p.Title = strings.Replace(p.Title, "An offer,", "An offer to one party,", 1)
		}
	case sow.AmendmentProposed:
		p.Title = fmt.Sprintf("Version %s is proposed", units.Number(w.d.Version()))
	case sow.Agreed:
		p.Title = "Agreed, not yet in force"
	case sow.Active:
		p.Title = "In force"
	case sow.Amended:
		p.Title = "Replaced by a later version"
	case sow.Exhausted:
		p.Title = "Ended: the cap was reached"
	case sow.Lapsed:
		p.Title = "Ended: the term is over"
	case sow.Terminated:
		p.Title = "Ended by an owner"
	case sow.PartiallySigned:
		p.Title = "Signed by one side"
		if w.f.Ours != "" && theirs != nil && ours == nil {
			p.Title = "A contract, for you to sign or not"
		}
	default:
		p.Title = "A draft"
	}
	say := func(s string) { p.Status = append(p.Status, s) }
	switch {
	case seats.Agreed():
		say("Both signatures are on it and check.")
	case w.f.Ours != "" && theirs != nil && ours == nil:
		say("Their signature is on it and checks. Yours is not.")
	case w.f.Ours != "" && ours != nil && theirs == nil:
		say("Your signature is on it and checks. Theirs is not.")
	case seats.Provider != nil:
		say("The provider’s signature is on it and checks. The client’s is not.")
	case seats.Client != nil:
		say("The client’s signature is on it and checks. The provider’s is not.")
	default:
		say("No signature on it counts.")
	}
	switch {
	case w.f.State == sow.AmendmentProposed && w.f.InForce > 0:
		say(fmt.Sprintf("Version %s stays in force.", units.Number(w.f.InForce)))
	case !seats.Agreed():
		say("It has no force.")
	}
	for _, part := range p.Parties {
		if part.Warn && part.Key != "" {
			say("Signed by a key this vault does not know.")
			break
		}
	}
	if w.f.BroughtAt > 0 {
		by := "you"
		if w.f.BroughtBy != "" {
			by = w.f.BroughtBy
		}
		say(fmt.Sprintf("Brought by %s on %s.", by, Day(w.f.BroughtAt)))
	}
}

func (w *walker) notices(p *Page) {
	add := func(t Tone, member string, what, more []Span) {
		p.Notices = append(p.Notices, Notice{t, what, more, member})
	}
	p.Blocked = !w.f.Findings.OK()
	// What is wrong in the same way at several places is one remark, which names them all.
	type kind struct {
		code     sow.Code
		severity sow.Severity
	}
	places := map[kind][]string{}
	for _, f := range w.f.Findings {
		k := kind{f.Code, f.Severity}
		places[k] = append(places[k], f.Member)
	}
	unearned := false
	for _, f := range w.f.Findings {
		if f.Code == "language_unknown" && p.Language.Banner != "" {
			continue // the banner says so
		}
		at := places[kind{f.Code, f.Severity}]
		if at == nil {
			continue // said with the first
		}
		places[kind{f.Code, f.Severity}] = nil
		tone := Calm
		switch f.Severity {
		case sow.Error:
			tone = Alarm
		case sow.Warning:
			tone = Warn
		}
		what, remedy, member := own(f.Message), f.Remedy, f.Member
		if len(at) > 1 {
			member = ""
		}
		if f.Code == "enforcement_unavailable" {
			unearned = true
			what = own(plural(int64(len(at)), "clause claims", "clauses claim") + " to be enforced, and nothing you say of the runtimes enforces " + map[bool]string{true: "it.", false: "them."}[len(at) == 1])
			remedy = "Say in Settings what the runtimes do, where they do it; or ask for a version that states the grade earned."
		}
		more := own(remedy + " (" + string(f.Code) + ", section " + f.Section)
		for _, m := range at {
			if m != "" {
				more = join(more, own(", "), code(m))
			}
		}
		add(tone, member, what, join(more, own(")")))
	}
	if p.Language.Banner != "" {
		add(Calm, "language", join(own("This document names the contract language "), p.Language.ID, own(", version "), p.Language.Version, own(p.Language.Banner)), join(own("sha256 of its text "), p.Language.SHA256))
	}
	lower := 0
	for _, c := range p.Clauses {
		if c.Grade != nil && c.Grade.Differs() {
			lower++
		}
		for _, r := range c.Rows {
			if r.Grade != nil && r.Grade.Differs() {
				lower++
			}
		}
	}
	if lower > 0 && !unearned {
		add(Warn, "", own(plural(int64(lower), "grade is", "grades are")+" stated higher than what you say the deployment does."), own("Each is shown as stated, with what is earned beside it. What runtimes do is set in Settings, or for this engagement."))
	}
	slices.SortStableFunc(p.Notices, func(a, b Notice) int { return int(b.Tone) - int(a.Tone) })
}

// faults are why a record does not count, in words.
var faults = map[sow.Code]string{
	"signature_role":           "its role is neither seat",
	"signature_key":            "its key cannot be read",
	"signature_invalid":        "it does not verify over this document",
	"signer_not_owner":         "its key is not the one known for the seat",
	"signature_role_duplicate": "another record already counts for the seat",
}

func (w *walker) records(p *Page) {
	for _, r := range w.d.Signatures() {
		out := Record{Role: outside(r.Role), Key: code(r.Key), SignedAt: outside(r.SignedAt)}
		for _, s := range []*sow.Record{w.f.Seats.Provider, w.f.Seats.Client} {
			if s != nil && s.Member == r.Member {
				out.Counts, out.Words = true, "counts for its seat"
			}
		}
		if !out.Counts {
			out.Words = "ignored"
			for _, x := range w.f.Seats.Ignored {
				if x.Member == r.Member {
					if why, ok := faults[x.Fault]; ok {
						out.Words = "ignored: " + why
					}
				}
			}
			if r.Fault != "" && faults[r.Fault] != "" {
				out.Words = "ignored: " + faults[r.Fault]
			}
		}
		p.Records = append(p.Records, out)
	}
}
