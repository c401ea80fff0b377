package sow

import (
	"slices"
	"time"

	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/derive/jcs"
)

// Artifact is a delivered piece as far as its form goes.
type Artifact struct {
	Name, MediaType string
}

// CheckForm judges the form of a completed task (5.4, 8.2): deliverable_form
// for every named artifact that did not arrive in its media type.
func (d *Document) CheckForm(delivered []Artifact) Findings {
	c := &checker{}
	for i, w := range d.v.Get("deliverables").Get("per_task").Items() {
		want := Artifact{w.Get("name").Text(), w.Get("media_type").Text()}
		c.need(slices.Contains(delivered, want), "deliverable_form", item("deliverables.per_task", i))
	}
	return c.found
}

// Due is one instant at which an interim deliverable is owed.
type Due struct {
	Name   string
	At     int64 // milliseconds; a monthly one is due by the end of its day, UTC
	Member string
}

const maxDues = 1200 // monthly for a hundred years, or as many in all

// Interim lists what is owed on a schedule from the start of the term up to an
// instant, or the end of the term if that is earlier, in order of time (5.4);
// the first 1,200 of what the clause lists.
func (d *Document) Interim(until int64) (out []Due) {
	start, end, started, ended := d.Term()
	if !started {
		return nil
	}
	if ended {
		until = min(until, end)
	}
	for i, w := range d.v.Get("deliverables").Get("interim").Items() {
		if len(out) >= maxDues {
			break
		}
		name, member := w.Get("name").Text(), item("deliverables.interim", i)
		if at, ok := instantOf(w.Get("due")); ok && at <= until {
			out = append(out, Due{name, at, member})
		}
		day, ok := posint(w.Get("recurrence").Get("due_by_day"))
		if !ok || day > 31 {
			continue
		}
		t := time.UnixMilli(start).UTC()
		for n := range maxDues {
			first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, n, 0)
			last := int64(first.AddDate(0, 1, -1).Day())
			at := first.AddDate(0, 0, int(min(day, last))).UnixMilli()
			if at > until || len(out) >= maxDues {
				break
			}
			if at > start {
				out = append(out, Due{name, at, member})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Due) int { return int(min(max(a.At-b.At, -1), 1)) })
	return out
}

// CheckInterim returns interim_missed for everything due by now that is not
// recorded as delivered (5.4).
func (d *Document) CheckInterim(now int64, delivered func(Due) bool) Findings {
	c := &checker{}
	for _, due := range d.Interim(now) {
		c.need(delivered(due), "interim_missed", due.Member)
	}
	return c.found
}

// CheckInputs returns input_required for every per-task file that was not
// furnished: the task waits, it has not failed (5.3).
func (d *Document) CheckInputs(furnished []string) Findings {
	c := &checker{}
	for i, in := range d.v.Get("inputs").Items() {
		if in.Get("when").Text() == "per_task" {
			c.need(slices.Contains(furnished, in.Get("name").Text()), "input_required", item("inputs", i))
		}
	}
	return c.found
}

// InScope returns offering_out_of_scope for an offering the scope does not
// list; it is matched by identifier, never by prose (5.2).
func (d *Document) InScope(offering string) *Finding {
	list, _ := texts(d.v.Get("scope").Get("offerings"))
	if has(list, offering) {
		return nil
	}
	return one("offering_out_of_scope", "scope.offerings")
}

// Grant is access a client gives, as a page shows it (5.3.1).
type Grant struct {
	Name, Access string
	Via          string // "" where the parties have not said
	Standing     bool
	Member       string
}

// CloseByHand reports a standing grant that does not end with the engagement
// by its own mechanism, as far as is known: links, seats, and whatever the
// parties have not said or the specification does not know (5.3.1).
func (g Grant) CloseByHand() bool {
	return g.Standing && g.Via != "oauth" && g.Via != "api_token" && g.Via != "proxy" && g.Via != "mcp"
}

// Grants lists the shared resources apart from files, standing ones first.
func (d *Document) Grants() (out []Grant) {
	for i, in := range d.v.Get("inputs").Items() {
		if in.Get("kind").Exists() {
			out = append(out, Grant{in.Get("name").Text(), in.Get("access").Text(), in.Get("via").Text(), in.Get("when").Text() == "standing", item("inputs", i)})
		}
	}
	slices.SortStableFunc(out, func(a, b Grant) int {
		switch {
		case a.Standing == b.Standing:
			return 0
		case a.Standing:
			return -1
		}
		return 1
	})
	return out
}

// CheckAcceptance compares a revealed test set and a result with acceptance
// terms (5.4.2), digests as sha256: and hex, "" for what is not there:
// acceptance_digest_mismatch for other bytes, stale for a result over another
// set.
func CheckAcceptance(terms jcs.Value, revealed, result string) Findings {
	c := &checker{}
	signed := terms.Get("test_set").Get("digest").Text()
	c.need(revealed == "" || revealed == signed, "acceptance_digest_mismatch", "test_set.digest")
	c.need(result == "" || result == signed, "stale", "test_set.digest")
	return c.found
}

// DeemedAccepted returns the instant from which silence is acceptance, and
// false where the terms state no window: then silence never is (5.4.2).
func DeemedAccepted(terms jcs.Value, deliveredAt int64) (int64, bool) {
	days, ok := posint(terms.Get("deemed_accepted_after_days"))
	return span.AddDays(deliveredAt, days), ok
}

// CheckRevision checks the request for a revision: it names the prior task and
// carries that task's signed job manifest by the provider's agent (5.4.3).
func CheckRevision(revises string, manifest jcs.Value, agent string) *Finding {
	if revises == "" || VerifyJobManifest(manifest, agent) != nil || manifest.Get("task_id").Text() != revises {
		return one("revises_missing", "revises")
	}
	return nil
}

// Revisions reads a valid revisions clause for its arithmetic, and false where
// it does not apply: without one, and under time and materials (5.4.3).
func (d *Document) Revisions() (money.Revisions, bool) {
	v := d.v.Get("revisions")
	if !v.Exists() || d.v.Get("price").Get("arrangement").Text() == string(money.TimeAndMaterials) {
		return money.Revisions{}, false
	}
	var r money.Revisions
	if n, ok := posint(v.Get("included").Get("count")); ok {
		r.Count = money.Some(n)
		r.WindowDays, _ = posint(v.Get("included").Get("window_days"))
	}
	for _, s := range v.Get("steps").Items() {
		n, _ := s.Get("price").Get("amount_micro").Int()
		r.Steps = append(r.Steps, money.Step{ID: s.Get("id").Text(), Price: n})
		r.Currency = s.Get("price").Get("currency").Text()
	}
	if n, ok := v.Get("flat").Get("amount_micro").Int(); ok {
		r.Flat, r.Currency = money.Some(n), v.Get("flat").Get("currency").Text()
	}
	return r, true
}

// Task is a task as far as service floors go. End is 0 while it runs.
type Task struct {
	ID         string
	Start, End int64 // request and terminal response, milliseconds
	Refused    bool
}

// Miss is a floor a task missed, and when the miss was complete.
type Miss struct {
	Task, Floor string
	At          int64
}

// Misses counts the tasks that took longer than a floor allows (5.14) and says
// whether the client may terminate for cause: misses reached within the
// clause's window ending now. A refused task misses nothing.
func (d *Document) Misses(tasks []Task, now int64) (out []Miss, mayTerminate bool) {
	v := d.v.Get("service_floors")
	for _, f := range v.Get("floors").Items() {
		limit, err := span.Duration(f.Get("each_task_within").Text())
		if err != nil {
			continue
		}
		for _, t := range tasks {
			end := t.End
			if end == 0 {
				end = now
			}
			if !t.Refused && end-t.Start > limit {
				out = append(out, Miss{t.ID, f.Get("id").Text(), t.Start + limit})
			}
		}
	}
	needed, ok := posint(v.Get("breach").Get("misses"))
	within, err := span.Duration(v.Get("breach").Get("within").Text())
	if !ok || err != nil {
		return out, false
	}
	recent := int64(0)
	for _, m := range out {
		if now-m.At <= within {
			recent++
		}
	}
	return out, recent >= needed
}

// FloorFinding is the finding for a miss.
func FloorFinding(m Miss) Finding {
	f := *one("floor_missed", "service_floors.floors")
	f.Message += " Task " + quote(m.Task) + ", floor " + quote(m.Floor) + "."
	return f
}

// CheckReports returns report_missed where check-ins are promised and the last
// one, or the start, is longer ago than the interval (5.12).
func (d *Document) CheckReports(last, now int64) *Finding {
	r := d.v.Get("reporting")
	every, err := span.Duration(r.Get("every").Text())
	if r.Get("level").Text() != "check_ins" || err != nil || now-last <= every {
		return nil
	}
	return one("report_missed", "reporting.every")
}

// ArbiterFacts is what is known of an arbiter (5.10.1).
type ArbiterFacts struct {
	SharesOwner bool
	// Engaged is when it last held an engagement with either party, not set if
	// it never did.
	Engaged money.Opt
}

// CheckArbiter refuses an arbiter that is not independent at an instant, tested
// at binding and again at verdict (5.10.1).
func (d *Document) CheckArbiter(f ArbiterFacts, now int64) *Finding {
	days, _ := posint(d.v.Get("disputes").Get("arbiter").Get("independence_days"))
	if f.SharesOwner || f.Engaged.Set && span.AddDays(f.Engaged.N, days) >= now {
		return one("arbiter_not_independent", "disputes.arbiter")
	}
	return nil
}

// VerdictDue returns the instant after which a verdict on a dispute is void
// (5.10.1), and false without an arbiter clause.
func (d *Document) VerdictDue(opened int64) (int64, bool) {
	days, ok := posint(d.v.Get("disputes").Get("arbiter").Get("deadline_days"))
	return span.AddDays(opened, days), ok
}

// CheckVerdictTime returns verdict_late for a verdict after its deadline.
func (d *Document) CheckVerdictTime(opened, produced int64) *Finding {
	if due, ok := d.VerdictDue(opened); ok && produced > due {
		return one("verdict_late", "produced_at")
	}
	return nil
}

// Fallback returns where a dispute lands that its posture does not conclude
// (5.10.2): the arbiter clause's fallback, or the posture itself. "" where the
// document states no posture; none may be invented. Under none the disputed
// amount is released.
func (d *Document) Fallback() string {
	v := d.v.Get("disputes")
	if v.Get("posture").Text() == "arbiter" {
		return v.Get("arbiter").Get("fallback").Text()
	}
	return v.Get("posture").Text()
}

// CheckDispute judges a dispute that is to be opened (5.10.2):
// dispute_amount_exceeds_unsettled, dispute_cites_nothing. Both amounts are in
// the engagement's currency.
func CheckDispute(amount, unsettled int64, cites []string) Findings {
	c := &checker{}
	c.need(amount > 0, "dispute_amount", "disputed.amount")
	c.need(amount <= unsettled, "dispute_amount_exceeds_unsettled", "disputed.amount")
	c.need(len(cites) > 0, "dispute_cites_nothing", "cites")
	return c.found
}

// CheckDelegate returns subcontractor_unapproved where the agreed document
// asks for the client's approval of delegates and does not name this one by
// agent key, or by handle where it states no key (5.15).
func (d *Document) CheckDelegate(agent, handle string) *Finding {
	v := d.v.Get("subcontracting")
	if v.Get("posture").Text() != "approved" {
		return nil
	}
	for _, e := range v.Get("subcontractors").Items() {
		a, h := e.Get("agent"), e.Get("handle")
		if a.Exists() && a.Text() == agent || !a.Exists() && handle != "" && h.Text() == handle {
			return nil
		}
	}
	return one("subcontractor_unapproved", "subcontracting.subcontractors")
}

// Requirement is what an owner requires of a document's terms.
type Requirement struct {
	Reporting string // level, "" for none
	Data      DataRequirement
	// Prime is the engagement above, the absent value for none.
	Prime jcs.Value
	Flow  FlowTerms
}

// CheckRequirement compares a document with what is required: findings that
// carry the published sentences as their message.
func (d *Document) CheckRequirement(r Requirement) (out Findings) {
	say := func(code Code, member, sentence string) {
		if sentence != "" {
			f := finding(code, member, false)
			f.Message = sentence
			out = append(out, f)
		}
	}
	say("confidentiality_shortfall", "confidentiality", DataShortfall(r.Data, d.v))
	say("reporting_shortfall", "reporting", ReportingShortfall(r.Reporting, d.v))
	if r.Prime.Exists() {
		for _, s := range FlowDown(r.Prime, d.v, r.Flow) {
			say("flow_down", "", s)
		}
	}
	return out
}

// CheckReservation returns reservation_released from the end of the
// reservation's window on (5.5.4).
func (d *Document) CheckReservation(now int64) *Finding {
	start, _, started, _ := d.Term()
	days, ok := posint(d.v.Get("price").Get("reservation").Get("window_days"))
	if ok && started && span.Closed(span.ReleaseAt(start, days), now) {
		return one("reservation_released", "price.reservation.window_days")
	}
	return nil
}

// CheckOperator returns operator_disputes_repeat after an operator's second
// disputed settlement (5.5.8).
func CheckOperator(disputed int) *Finding {
	if money.StopOperator(disputed) {
		return one("operator_disputes_repeat", "operator_fee.operator")
	}
	return nil
}

// CheckProblem returns problem_unresolved for a report that is still open at
// the task's deadline (14.2), milliseconds.
func CheckProblem(resolved bool, deadline, now int64) *Finding {
	if !resolved && span.Closed(deadline, now) {
		return one("problem_unresolved", "")
	}
	return nil
}

// CheckProbe judges a probe record somebody brought (13): marked as a probe,
// and a pass or a report for every input tried.
func CheckProbe(v jcs.Value) *Finding {
	if !v.Get("probe").Bool() && v.Get("act").Text() != string(Probe) {
		return one("probe_unmarked", "probe")
	}
	return checkTried(v.Get("inputs"))
}

// Fits returns mandate_ceiling_exceeded where a document's committed price is
// above a ceiling or not bounded (5.5.3).
func (d *Document) Fits(ceiling int64) *Finding {
	p, f := PriceOf(d.v.Get("price"))
	if !f.OK() {
		return f.First()
	}
	if p.CheckMandate(ceiling) != nil {
		return one("mandate_ceiling_exceeded", "price")
	}
	return nil
}
