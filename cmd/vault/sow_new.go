package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vault/approvals/sow"
	"vault/approvals/sow/draft"
	"vault/approvals/sow/money"
	"vault/approvals/sow/page"
	"vault/approvals/sow/span"
)

// templates are what sow new makes, by name. An offer's arrangement is a flag.
var templates = map[string]struct {
	kind        draft.Kind
	arrangement money.Arrangement
}{
	"fixed-fee":          {draft.Engagement, money.FixedFee},
	"time-and-materials": {draft.Engagement, money.TimeAndMaterials},
	"no-charge":          {draft.Engagement, money.NoCharge},
	"standing":           {draft.Standing, ""},
	"directed":           {draft.Directed, ""},
}

// newFlags are the flags of sow new as they were typed.
type newFlags struct {
	out, arrangement, starts, ends, expires     string
	provider, client                            sow.Seat
	offerings, inScope, outOfScope              []string
	files, resources, deliver, rates, meters    []string
	passThrough, enforced                       []string
	ceiling, limit, notice                      int64
	formation, amendment, posture, currency     string
	months, window, perHour, perDay, days, keep int64
}

func (p *program) sowNew() *cobra.Command {
	var n newFlags
	c := &cobra.Command{
		Use:   "new TEMPLATE",
		Short: "Write a draft: fixed-fee, time-and-materials, no-charge, standing or directed",
		Long: "Writes a document to begin with. What no flag says stands in it as a blank with a name, and vault sow check names each.\n" +
			"Amounts are whole numbers in the smallest unit of the currency. Grades claim no enforcement but that of --enforced:\n" +
			"name there only what both sides' nodes really refuse. Nothing is signed.",
		Args: exactly(1, "a template: fixed-fee, time-and-materials, no-charge, standing or directed"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := n.fields(args[0], c.Flags().Changed)
			if err != nil {
				return err
			}
			if f.Language, _, err = page.OwnLanguage(); err != nil {
				return fail("internal", err)
			}
			raw, err := draft.Make(f)
			if err != nil {
				return usageError(strings.TrimPrefix(err.Error(), "draft: "))
			}
			if n.out != "" {
				return p.writeDraft(n.out, raw)
			}
			return p.printf("%s", asciiJSON(raw))
		},
	}
	s := c.Flags()
	s.StringVar(&n.out, "out", "", "new `file`; standard output where it is not given")
	s.StringVar(&n.arrangement, "arrangement", "fixed-fee", "`arrangement` of an offer: fixed-fee, time-and-materials or no-charge")
	for _, seat := range []struct {
		name, who string
		to        *sow.Seat
	}{{"provider", "the provider", &n.provider}, {"client", "the client, or of the party that a directed offer names", &n.client}} {
		s.StringVar(&seat.to.Agent, seat.name+"-agent", "", "agent `key` of "+seat.who)
		s.StringVar(&seat.to.Owner, seat.name+"-owner", "", "`name` of the owner of "+seat.who)
		s.StringVar(&seat.to.Handle, seat.name+"-handle", "", "`handle` of "+seat.who)
		s.StringVar(&seat.to.Organization, seat.name+"-organization", "", "`organization` of "+seat.who+", org_…")
	}
	s.StringVar(&n.starts, "starts", "", "start, an `instant` as 2027-01-01T00:00:00Z")
	s.StringVar(&n.ends, "ends", "", "end, an `instant`")
	s.Int64Var(&n.months, "months", 0, "term that an offer offers, in `months`")
	s.StringVar(&n.expires, "expires", "", "`instant` at which a directed offer ends")
	s.StringArrayVar(&n.offerings, "offering", nil, "`id` of an offering in scope")
	s.StringArrayVar(&n.inScope, "in-scope", nil, "`example` of work in scope")
	s.StringArrayVar(&n.outOfScope, "out-of-scope", nil, "`example` of work out of scope")
	s.StringArrayVar(&n.files, "file", nil, "`file` that the client sends with each task, name=media/type")
	s.StringArrayVar(&n.resources, "resource", nil, "standing `access` that the client gives: name=read or name=read-write, with ,link ,mcp ,api_token ,oauth ,seat or ,proxy behind it")
	s.StringArrayVar(&n.deliver, "deliver", nil, "named `artifact` of every task, name=media/type")
	s.StringVar(&n.currency, "currency", "", "`code` of three capital letters")
	s.StringArrayVar(&n.rates, "rate", nil, "fixed fee: `price` per task, offering=amount")
	s.Int64Var(&n.ceiling, "ceiling", 0, "fixed fee: `amount` at most in a month")
	s.StringArrayVar(&n.meters, "meter", nil, "metered: `price` of a meter, meter=amount/counts:label, as tokens_out=1500/1000:1000 tokens")
	s.StringArrayVar(&n.passThrough, "pass-through", nil, "metered: `meter` that is billed at cost")
	s.Int64Var(&n.limit, "cap", 0, "metered: `amount` at most in all")
	s.Int64Var(&n.window, "window-days", 0, "metered: `days` for which the cap is reserved")
	s.Int64Var(&n.perHour, "per-hour", 0, "`number` of tasks an hour at most")
	s.Int64Var(&n.perDay, "per-day", 0, "`number` of tasks a day at most")
	s.Int64Var(&n.days, "review-days", 7, "`days` to answer an amendment")
	s.Int64Var(&n.notice, "notice-hours", 24, "`hours` of notice to end it")
	s.StringVar(&n.formation, "formation", "agent", "`who` may form it: agent, person or agent_then_person")
	s.StringVar(&n.amendment, "amendment", "person", "`who` may amend it: agent, person or agent_then_person")
	s.StringVar(&n.posture, "disputes", "", "`posture`: none, refund_on_failed_task or escalate_to_owners")
	s.Int64Var(&n.keep, "retention-days", 0, "`days` for which content is kept, where retention is enforced")
	s.StringSliceVar(&n.enforced, "enforced", nil, "`clauses` that both nodes really enforce, of "+strings.Join(draft.Clauses(), ","))
	return c
}

// fields reads the flags.
func (n *newFlags) fields(template string, given func(string) bool) (draft.Fields, error) {
	t, ok := templates[template]
	if !ok {
		return draft.Fields{}, usageError("there is no template " + template)
	}
	if t.arrangement == "" {
		a := templates[n.arrangement]
		if a.arrangement == "" {
			return draft.Fields{}, usageError("there is no arrangement " + n.arrangement)
		}
		t.arrangement = a.arrangement
	} else if given("arrangement") {
		return draft.Fields{}, usageError("the template says the arrangement")
	}
	f := draft.Fields{
		Kind: t.kind, Arrangement: t.arrangement, Provider: n.provider, Client: n.client, Offerings: n.offerings, InScope: n.inScope, OutOfScope: n.outOfScope,
		Currency: n.currency, WindowDays: n.window, PerHour: n.perHour, PerDay: n.perDay, ReviewDays: n.days, Months: n.months, Posture: n.posture,
		RetentionDays: n.keep, Enforced: n.enforced, Formation: sow.Authority(n.formation), Amendment: sow.Authority(n.amendment),
	}
	for _, w := range []struct {
		flag string
		n    int64
		to   *money.Opt
	}{{"ceiling", n.ceiling, &f.Ceiling}, {"cap", n.limit, &f.Cap}, {"notice-hours", n.notice, &f.NoticeHours}} {
		if given(w.flag) {
			*w.to = money.Some(w.n)
		}
	}
	for _, w := range []struct {
		flag string
		n    int64
	}{{"ceiling", n.ceiling}, {"cap", n.limit}, {"window-days", n.window}, {"per-hour", n.perHour}, {"per-day", n.perDay}, {"review-days", n.days}, {"months", n.months}, {"retention-days", n.keep}} {
		if given(w.flag) && w.n <= 0 {
			return f, usageError("--" + w.flag + " is a whole number above 0")
		}
	}
	for _, w := range []struct {
		flag, text string
		to         *money.Opt
	}{{"starts", n.starts, &f.StartsAt}, {"ends", n.ends, &f.EndsAt}, {"expires", n.expires, &f.ExpiresAt}} {
		if w.text == "" {
			continue
		}
		ms, err := span.Instant(w.text)
		if err != nil || ms%1000 != 0 {
			return f, usageError("--" + w.flag + " is not an instant of a real date in whole seconds, as 2027-01-01T00:00:00Z")
		}
		*w.to = money.Some(ms)
	}
	err := n.lists(&f)
	return f, err
}

// lists reads the flags that stand for entries of lists.
func (n *newFlags) lists(f *draft.Fields) error {
	for _, w := range n.files {
		name, media, ok := strings.Cut(w, "=")
		if !ok {
			return usageError("--file is name=media/type")
		}
		f.Inputs = append(f.Inputs, draft.Input{Name: name, MediaType: media})
	}
	for _, w := range n.resources {
		name, access, ok := strings.Cut(w, "=")
		if !ok {
			return usageError("--resource is name=access, with a comma and the way behind it")
		}
		access, via, _ := strings.Cut(access, ",")
		f.Inputs = append(f.Inputs, draft.Input{Name: name, Access: access, Via: via, Standing: true})
	}
	for _, w := range n.deliver {
		name, media, ok := strings.Cut(w, "=")
		if !ok {
			return usageError("--deliver is name=media/type")
		}
		f.Artifacts = append(f.Artifacts, sow.Artifact{Name: name, MediaType: media})
	}
	for _, w := range n.rates {
		i := strings.LastIndexByte(w, '=')
		amount, err := amountOf(w[i+1:])
		if i < 1 || err != nil {
			return usageError("--rate is offering=amount, a whole number")
		}
		f.Rates = append(f.Rates, money.Rate{Offering: w[:i], PerTask: amount})
	}
	for _, w := range n.meters {
		l, ok := meterOf(w)
		if !ok {
			return usageError("--meter is meter=amount/counts:label")
		}
		l.PassThrough = slices.Contains(n.passThrough, l.Meter)
		f.Schedule = append(f.Schedule, l)
	}
	return nil
}

func amountOf(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > money.Max {
		return 0, errors.New("not a whole amount")
	}
	return n, nil
}

// meterOf reads meter=amount, with /counts and :label behind it where they are given.
func meterOf(s string) (l money.Line, ok bool) {
	meter, rest, ok := strings.Cut(s, "=")
	rest, label, _ := strings.Cut(rest, ":")
	amount, counts, divided := strings.Cut(rest, "/")
	l = money.Line{Meter: meter, Unit: label, Per: 1}
	var err error
	if l.PerUnit, err = amountOf(amount); err != nil {
		return l, false
	}
	if divided {
		if l.Per, err = amountOf(counts); err != nil || l.Per == 0 {
			return l, false
		}
	}
	return l, ok && meter != ""
}
