package ui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/plain"
	"vault/approvals/sow"
	"vault/approvals/sow/page"
	"vault/approvals/sow/units"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// step is what is being decided about a version: rows of one size of which none
// is taken, what they ask for, and then one button named after the row.
type step struct {
	move    string
	group   *parts.Group
	answers map[*parts.Choice]*answer
	above   func() fyne.CanvasObject // what is to be known or typed before, or nil
}

// answer is one row.
type answer struct {
	signs   bool          // needs the whole page to have been in view
	missing func() string // what is still to be typed, "" for nothing; nil asks for nothing
	fields  func() fyne.CanvasObject
	// do gives the call that does it, from what was typed; nil goes back to reading.
	do   func() func(context.Context) (approvals.Outcome, error)
	then func() // instead of the page that says what came of it
	said banner
}

// safeLong is a sentence of the desk of which nothing can hide.
func safeLong(s string) string { return plain.TerminalLine(plain.First(s, 400)) }

func (c *contract) newStep() *step {
	s := &step{group: &parts.Group{}, answers: map[*parts.Choice]*answer{}}
	s.group.Changed = func() {
		c.u.touch()
		c.refused, c.said = "", ""
		c.arrange()
	}
	return s
}

func (c *contract) add(s *step, label, why string, a *answer) *parts.Choice {
	row := s.group.Add(label, label, why, c.gate.open).Least(62)
	row.Watch(c)
	s.answers[row] = a
	return row
}

// notNow is the row that goes back to reading.
func (c *contract) notNow(s *step) {
	c.add(s, "Not now", "Nothing is signed. Back to the page.", &answer{})
}

// moveIn adds a row for a move, or says why it is not possible.
func (c *contract) moveIn(s *step, move, label, why string, a *answer) {
	row := c.add(s, label, why, a)
	m := c.can(move)
	switch {
	case m == nil:
		row.Block("It is not possible here.")
	case m.Blocked != "":
		row.Block(c.why(m))
	}
}

// stepPanel draws the step.
func (c *contract) stepPanel() fyne.CanvasObject {
	var list []fyne.CanvasObject
	if c.step.above != nil {
		list = append(list, c.step.above(), parts.Space(0, 10))
	}
	var row []fyne.CanvasObject
	for _, x := range c.step.group.Choices() {
		row = append(row, x)
		if len(row) == 3 {
			list = append(list, parts.Equal(8, row...), parts.Space(0, 8))
			row = nil
		}
	}
	if len(row) > 0 {
		list = append(list, parts.Equal(8, row...), parts.Space(0, 8))
	}
	if t := c.step.group.Taken(); t != nil && c.step.answers[t].fields != nil {
		list = append(list, parts.Space(0, 2), c.step.answers[t].fields(), parts.Space(0, 10))
	} else {
		list = append(list, parts.Space(0, 4))
	}
	list = append(list, parts.Row(12, parts.Grow(c.caption), c.confirm))
	return parts.Column(0, list...)
}

// typed is a field of several lines with a name, that the window watches.
func (c *contract) typed(rows int) *parts.Area {
	a := parts.NewArea("", 2000, rows)
	a.Watch(c)
	a.OnChanged = func(string) { c.refused = ""; c.refresh() }
	return a
}

func (c *contract) line(value, placeholder string, limit int) *parts.Field {
	f := parts.NewField(value, placeholder, limit)
	f.Watch(c)
	f.OnChanged = func(string) { c.refused = ""; c.refresh() }
	return f
}

func named(name string, o fyne.CanvasObject) fyne.CanvasObject {
	return parts.Column(6, look.Text(look.CaptionM, look.Ink2, name), o)
}

// reasonOf checks what was typed as a reason.
func reasonOf(a *parts.Area) (string, string) {
	t := strings.TrimSpace(a.Text)
	if t == "" {
		return "", "Type a reason first: without one it is not recorded."
	}
	return t, ""
}

// begin makes the step of a move.
func (c *contract) begin(move string) *step {
	s := c.newStep()
	s.move = move
	v := units.Number(c.version.Version)
	switch move {
	case "answer", "deny":
		c.answerAmendment(s, v)
	case "countersign", "approve", "publish", "propose", "complete":
		c.signing(s, move, v)
		c.notNow(s)
	case "form":
		c.forming(s)
		c.notNow(s)
	case "refuse":
		c.refusing(s)
		c.notNow(s)
	case "withdraw":
		reason := c.typed(2)
		c.moveIn(s, "withdraw", "Withdraw version "+v, "It has no force and gets none. This is signed.", &answer{
			fields: func() fyne.CanvasObject { return named("Your reason, if you want to give one", reason) },
			do: func() func(context.Context) (approvals.Outcome, error) {
				return c.act(approvals.ActAsk{Kind: sow.Withdrawal, Reason: strings.TrimSpace(reason.Text)})
			},
			said: banner{parts.Calm, "back", "You withdrew version " + v, "The record says so. What was in force before goes on."},
		})
		c.notNow(s)
	case "terminate":
		c.terminating(s)
		c.notNow(s)
	case "dispute":
		c.disputing(s)
		c.notNow(s)
	case "review":
		c.reviewing(s)
		c.notNow(s)
	case "probe":
		c.probing(s)
		c.notNow(s)
	case "language":
		c.bringing(s)
		c.notNow(s)
	case agreement.MoveSettle:
		c.settling(s)
	case "preauthorise":
		c.allowing(s)
		c.notNow(s)
	default:
		c.notNow(s)
	}
	return s
}

// answerAmendment is how a proposed version is answered.
func (c *contract) answerAmendment(s *step, v string) {
	reason, counter := c.typed(2), c.typed(2)
	old := ""
	if c.compare != nil {
		old = units.Number(c.compare.InForce)
	}
	n := 0
	if c.compare != nil {
		n = c.compare.Total()
	}
	c.moveIn(s, "approve", "Approve version "+v, "All "+plural(int64(n), "change", "changes")+". Needs your passkey.", &answer{signs: true,
		do: func() func(context.Context) (approvals.Outcome, error) {
			return c.sign("approve", c.view.Seat.Index, "")
		},
		said: banner{parts.Calm, "check", "You approved version " + v, "It is in force once its start has come; version " + old + " is kept."},
	})
	deny := func(move string, area *parts.Area, counter bool, label, why string, said banner, then func()) {
		c.moveIn(s, move, label, why, &answer{
			missing: func() string { _, m := reasonOf(area); return m },
			fields: func() fyne.CanvasObject {
				return named("Your reason, read by the other side and kept in the record", parts.Size(0, 52, area))
			},
			do: func() func(context.Context) (approvals.Outcome, error) {
				text, _ := reasonOf(area)
				return c.act(approvals.ActAsk{Kind: sow.Denial, Reason: text, Counter: counter})
			},
			said: said, then: then,
		})
	}
	deny("deny", reason, false, "Deny version "+v, "Version "+old+" goes on. The reason is signed.", banner{parts.Calm, "decline", "You denied version " + v, "Version " + old + " goes on. Your reason is signed and kept."}, nil)
	deny("counter", counter, true, "Deny and propose your own", "Starts a version "+v+" of yours.", banner{parts.Calm, "decline", "You denied version " + v, "Write your version " + v + " from the file of the one in force, and bring it in as a draft; then you can sign to propose it."}, nil)
}

// signing is one signature under a document.
func (c *contract) signing(s *step, move, v string) {
	what := map[string]string{"countersign": "Sign version ", "approve": "Approve version ", "publish": "Publish version ", "propose": "Propose version ", "complete": "Complete version "}[move] + v
	after := map[string]banner{
		"countersign": {parts.Calm, "sign", "You signed version " + v, "The other side is not told by the vault: export the bundle, or let the agent that brought it fetch it."},
		"approve":     {parts.Calm, "check", "You approved version " + v, "It is in force once its start has come."},
		"publish":     {parts.Calm, "sign", "You signed the offer", "Whoever meets its conditions can accept it; the vault then completes the agreement without asking you again."},
		"complete":    {parts.Calm, "check", "You completed the agreement", "Both signatures are on it. It is in force once its start has come."},
		"propose":     {parts.Calm, "sign", "You proposed version " + v, "It has no force until the other side signs it."},
	}[move]
	s.above = func() fyne.CanvasObject {
		digest := parts.Cells(12, []float32{128, 0}, look.Text(look.Caption.Box(18), look.Ink3, "What is signed"), look.Text(look.MonoS.Box(18), look.Ink, "sha256 "+c.version.Digest))
		list := []fyne.CanvasObject{digest, look.Text(look.Small, look.Ink2, page.LegalStatus())}
		if move == "publish" {
			list = append(list, parts.Note("warning", look.Warn, "Publishing is what allows it: whoever meets the conditions and signs, binds you. There is no further sheet and no decline."))
		}
		return parts.Column(6, list...)
	}
	who := c.seats
	if c.view.SeatFixed || len(who) == 0 {
		who = []agreement.SeatView{c.view.Seat}
	}
	roles := []string{""}
	if c.view.Role == "" { // nothing says yet which side is the owner's
		roles = nil
		for _, role := range []string{sow.Client, sow.Provider} {
			// A signature that anybody may have put there does not make a seat somebody else's; a pinned key does.
			if !slices.ContainsFunc(c.view.Parties, func(p agreement.PartyView) bool { return p.Role == role && p.Key != "" }) {
				roles = append(roles, role)
			}
		}
	}
	for _, role := range roles {
		for _, seat := range who {
			label := what
			if role != "" {
				label += " as the " + role
			}
			if len(who) > 1 {
				label += ", " + seatName(seat)
			}
			c.moveIn(s, move, label, "As "+seatName(seat)+", key "+short(seat.Key)+". Needs your passkey.", &answer{signs: true,
				do:   func() func(context.Context) (approvals.Outcome, error) { return c.sign(move, seat.Index, role) },
				said: after,
			})
		}
	}
	if slices.Contains(c.view.Waiting, agreement.WaitCountersign) || slices.Contains(c.view.Waiting, agreement.WaitApprove) {
		c.add(s, "Decline", "The agent that asks is told no. Nothing is signed.", &answer{
			do: func() func(context.Context) (approvals.Outcome, error) {
				id, digest := c.view.ID, c.version.Digest
				return func(ctx context.Context) (approvals.Outcome, error) {
					return approvals.Outcome{}, c.u.owner.DeclineSoW(ctx, id, digest)
				}
			},
			said: banner{parts.Calm, "decline", "You declined", "Nothing was signed. The agent was told."},
		})
	}
}

// forming fills the open seat of an offer. What is made is shown as a page
// of its own before anything is signed.
func (c *contract) forming(s *step) {
	owner, agent, handle, org := c.line("", "Your name, as the contract is to say it", 120), c.line("", "Your agent’s key, U…", 56), c.line("", "Handle, if it has one", 120), c.line("", "org_…, if you sign for one", 64)
	starts := c.line(time.UnixMilli(c.u.opts.Now().UnixMilli()).UTC().AddDate(0, 0, 1).Format("2 Jan 2006, 00:00 UTC"), "", 30)
	if to, ok := c.doc.Party("offered_to"); ok {
		for _, x := range []struct {
			f *parts.Field
			v string
		}{{owner, to.Owner}, {agent, to.Agent}, {handle, to.Handle}, {org, to.Organization}} {
			if plain.One(x.v).Clean() {
				x.f.SetText(x.v)
			}
		}
	}
	grants := c.doc.Grants()
	where := make([]*parts.Field, len(grants))
	for i := range grants {
		where[i] = c.line("", "Where it is", 500)
	}
	assert := sow.RequiredAssertions(c.doc.Get("qualifications"))
	fields := func() fyne.CanvasObject {
		list := []fyne.CanvasObject{
			parts.Cells(12, []float32{0, 0}, named("Your name", parts.Size(0, 34, owner)), named("Your agent’s key", parts.Size(0, 34, agent))),
			parts.Cells(12, []float32{0, 0, 0}, named("Handle", parts.Size(0, 34, handle)), named("Organization", parts.Size(0, 34, org)), named("Starts", parts.Size(0, 34, starts))),
		}
		for i, g := range grants {
			if i == 3 {
				list = append(list, look.Text(look.Small, look.Ink2, "Where the others are can be said in the contract’s own words later."))
				break
			}
			name := look.Para(append(append([]look.Run{{Text: "Where ", Style: look.CaptionM, Color: look.Ink2}}, hostile.Runs(look.Caption, look.Ink2, g.Name)...), look.Run{Text: " is", Style: look.CaptionM, Color: look.Ink2})...)
			list = append(list, parts.Column(4, name, parts.Size(0, 34, where[i])))
		}
		for _, q := range c.doc.Get("qualifications").Items() {
			if slices.Contains(assert, q.Get("id").Text()) {
				list = append(list, look.Para(append([]look.Run{{Text: "You assert of yourself: ", Style: look.Small, Color: look.Warn}}, hostile.Runs(look.Small, look.Ink, q.Get("statement").Text())...)...))
			}
		}
		return parts.Column(8, list...)
	}
	at := func() (int64, bool) {
		t, err := time.Parse(untilForm, strings.TrimSpace(starts.Text))
		return t.UnixMilli(), err == nil
	}
	seats := c.seats
	if len(seats) == 0 {
		seats = []agreement.SeatView{c.view.Seat}
	}
	for _, seat := range seats {
		var made agreement.View
		label := "Fill the seat"
		if len(seats) > 1 {
			label += " as " + seatName(seat)
		}
		c.moveIn(s, "form", label, "As "+seatName(seat)+". Makes the completed contract. Nothing is signed yet.", &answer{
			fields: fields,
			missing: func() string {
				_, ok := at()
				switch {
				case strings.TrimSpace(owner.Text) == "":
					return "Type your name as the contract is to say it."
				case strings.TrimSpace(agent.Text) == "":
					return "Type the key of your agent."
				case !ok:
					return "Type the start like this: 1 Nov 2026, 00:00 UTC"
				}
				return ""
			},
			do: func() func(context.Context) (approvals.Outcome, error) {
				start, _ := at()
				t := strings.TrimSpace
				f := approvals.Formation{Offer: c.view.ID, Digest: c.version.Digest, Seat: seat.Index, Fill: sow.Fill{
					Client: sow.Seat{Agent: t(agent.Text), Owner: t(owner.Text), Handle: t(handle.Text), Organization: t(org.Text)}, StartsAt: start, Assertions: assert, Locations: map[string]string{},
				}}
				for i, g := range grants {
					if w := t(where[i].Text); w != "" {
						f.Fill.Locations[g.Name] = w
					}
				}
				return func(ctx context.Context) (approvals.Outcome, error) {
					var err error
					made, err = c.u.owner.Complete(ctx, f)
					return approvals.Outcome{}, err
				}
			},
			then: func() { c.u.openContract(made.ID, "", "countersign") },
		})
	}
}

// refusing is a recorded refusal of a request to form.
func (c *contract) refusing(s *step) {
	ask := func(ground, label, why string) {
		reason := c.typed(2)
		c.moveIn(s, "refuse", label, why, &answer{
			missing: func() string { _, m := reasonOf(reason); return m },
			fields: func() fyne.CanvasObject {
				return named("Your reason, read by the other side and kept in the record", parts.Size(0, 52, reason))
			},
			do: func() func(context.Context) (approvals.Outcome, error) {
				text, _ := reasonOf(reason)
				return c.act(approvals.ActAsk{Kind: sow.FormationRefusal, Reason: text, Ground: ground})
			},
			said: banner{parts.Calm, "decline", "You refused", "The refusal and its reason are signed and kept."},
		})
	}
	n := 0
	for _, q := range c.doc.Get("qualifications").Items() {
		if id := q.Get("id").Text(); id != "" && n < 4 && plain.One(id).Clean() {
			ask(id, "Refuse: “"+safe(id)+"” is not met", "A condition the offer states.")
			n++
		}
	}
	why := "The reason is signed."
	if c.view.Role == sow.Provider {
		why = "A ground the offer does not state. That is recorded too."
	}
	ask("", "Refuse with a reason", why)
}

// terminating ends the engagement.
func (c *contract) terminating(s *step) {
	free, cause := c.typed(2), c.typed(2)
	do := func(ground string, area *parts.Area) func() func(context.Context) (approvals.Outcome, error) {
		return func() func(context.Context) (approvals.Outcome, error) {
			return c.act(approvals.ActAsk{Kind: sow.Termination, Ground: ground, Reason: strings.TrimSpace(area.Text)})
		}
	}
	said := banner{parts.Calm, "off", "You ended the engagement", "The termination is signed. Close by hand what stays open: it is listed under the engagement."}
	if h, agreed := c.doc.ConvenienceNotice(); agreed {
		notice := "With " + plural(h, "hour", "hours") + " of notice. Open tasks are finished and paid."
		c.moveIn(s, "terminate", "End it for convenience", notice+" Needs your passkey.", &answer{signs: false,
			fields: func() fyne.CanvasObject {
				return named("Your reason, if you want to give one", parts.Size(0, 52, free))
			},
			do: do("convenience", free), said: said})
	}
	c.moveIn(s, "terminate", "End it for cause", "At once. Open tasks are cancelled with the reason. Needs your passkey.", &answer{
		missing: func() string { _, m := reasonOf(cause); return m },
		fields: func() fyne.CanvasObject {
			return named("The cause, read by the other side and kept in the record", parts.Size(0, 52, cause))
		},
		do: do("cause", cause), said: said})
}

// disputing opens a dispute of an amount.
func (c *contract) disputing(s *step) {
	price, faults := c.doc.Price()
	amount, reason := c.line("", "Amount", 24), c.typed(2)
	value := func() (int64, bool) {
		n, ok := units.Parse(amount.Text, price.Currency)
		return n, ok && faults.OK() && n > 0
	}
	n := 0
	for i := len(c.view.Records) - 1; i >= 0 && n < 4; i-- {
		r := c.view.Records[i]
		if r.Kind != agreement.RecordSettlement && r.Kind != agreement.RecordReview {
			continue
		}
		n++
		what := "the settlement record"
		if r.Kind == agreement.RecordReview {
			what = "the review"
		}
		why := "It freezes this amount and nothing else. Needs your passkey."
		if r.Dispute != "" {
			why = opened.DisputeWords(string(r.Dispute)) + " Needs your passkey."
		}
		c.moveIn(s, "dispute", "Dispute "+what+" of "+day(c.u.at(r.At)), why, &answer{
			missing: func() string {
				if _, ok := value(); !ok {
					return "Type the amount that is disputed, as 12.50."
				}
				_, m := reasonOf(reason)
				return m
			},
			fields: func() fyne.CanvasObject {
				unsettled := ""
				if c.view.Unsettled.Set {
					unsettled = ", of which records claim " + page.Money(c.view.Unsettled.N, price.Currency)
				}
				return parts.Cells(12, []float32{240, 0}, named("Amount in the contract’s currency"+unsettled, parts.Size(0, 36, amount)), named("Your reason, kept in the record", parts.Size(0, 52, reason)))
			},
			do: func() func(context.Context) (approvals.Outcome, error) {
				n, _ := value()
				text, _ := reasonOf(reason)
				return c.act(approvals.ActAsk{Kind: sow.Dispute, Reason: text, Cites: []string{r.SHA256}, Disputed: &sow.Disputed{Amount: n, Currency: price.Currency}})
			},
			said: banner{parts.Calm, "warning", "You opened a dispute", "That amount is frozen; everything else settles as before."},
		})
	}
	if n == 0 {
		c.add(s, "Dispute an amount", "A dispute cites a settlement record or a review.", &answer{}).Block("No settlement record and no review was brought in. Bring the one you contest first.")
	}
}

// allowing lets an agent form under this offer in advance.
func (c *contract) allowing(s *step) {
	price, _ := c.doc.Price()
	limit, times, until := c.line("", "", 24), c.line("1", "", 4), c.line(c.u.opts.Now().UTC().AddDate(0, 0, 30).Format(untilForm), "", 30)
	owner, agent := c.line("", "Your name, as the contract is to say it", 120), c.line("", "Your agent’s key, U…", 56)
	if most := price.Committed(); most.Set {
		limit.SetText(units.Plain(most.N, price.Currency))
	}
	n := 0
	for _, client := range c.u.state.Clients {
		if n == 3 {
			break
		}
		n++
		p := func() (agreement.Preauthorisation, string) {
			max, ok := units.Parse(limit.Text, price.Currency)
			count, err := strconv.ParseInt(strings.TrimSpace(times.Text), 10, 64)
			end, err2 := time.Parse(untilForm, strings.TrimSpace(until.Text))
			out := agreement.Preauthorisation{Offer: c.view.ID, Digest: c.version.Digest, Seat: c.view.Seat.Index, Client: client.ID,
				Party: sow.Seat{Owner: strings.TrimSpace(owner.Text), Agent: strings.TrimSpace(agent.Text)}, MaxCommitted: max, Times: count, NotAfter: end.UnixMilli()}
			switch {
			case out.Party.Owner == "" || out.Party.Agent == "":
				return out, "Type your name and your agent’s key."
			case !ok:
				return out, "Type the most it may commit to, as 12.50."
			case err != nil || count < 1 || count > approvals.MaxPreauthorised:
				return out, "Type how many times, from 1 to " + parts.Number(int64(approvals.MaxPreauthorised)) + "."
			case err2 != nil || !end.After(c.u.opts.Now()) || end.UnixMilli()-c.u.opts.Now().UnixMilli() > approvals.PreauthoriseMS:
				return out, "Type the end like 1 Dec 2026, 00:00 UTC, at most 90 days ahead."
			}
			return out, ""
		}
		c.moveIn(s, "preauthorise", "Let "+safe(client.Name)+" accept this offer", "Without asking you, within these limits. Needs your passkey.", &answer{signs: true,
			missing: func() string { _, why := p(); return why },
			fields: func() fyne.CanvasObject {
				return parts.Column(8, parts.Cells(12, []float32{0, 0}, named("Your name", parts.Size(0, 34, owner)), named("Your agent’s key", parts.Size(0, 34, agent))),
					parts.Cells(12, []float32{0, 0, 0}, named("Commits to at most, each time", parts.Size(0, 34, limit)), named("How many times", parts.Size(0, 34, times)), named("Until", parts.Size(0, 34, until))))
			},
			do: func() func(context.Context) (approvals.Outcome, error) {
				ask, _ := p()
				return func(ctx context.Context) (approvals.Outcome, error) { return c.u.owner.Preauthorise(ctx, ask) }
			},
			said: banner{parts.Calm, "grant", safe(client.Name) + " may accept this offer", fmt.Sprintf("At most %s times, until the date you set. You can end this under the offer at any time.", times.Text)},
		})
	}
	if n == 0 {
		c.add(s, "Allow in advance", "", &answer{}).Block("No program is paired.")
	}
}
