//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vault/approvals/moment"
)

const (
	traveller = "travel"
	// The memo's own example (section 6.4): its two actions, and the digest of its envelope.
	datesOnly = `{"disclose":["travel_dates"],"recipient":"booking.example"}`
	datesAll  = `{"disclose":["passport_number","travel_dates"],"recipient":"booking.example"}`
	example   = "sha256:0db384ab1b682c115d79babfefa91f014ad80c007d00c79119d748f32be232d1"
	synopsis  = "Share the travel dates and withhold the passport number."
	finding   = "Dates are enough to hold the reservation."
	stem      = "What should be shared with the booking service?"
	ordinary  = "May I share your travel dates with the booking service?"
	askSign   = 866 // from the left edge of the sheet: where a line's question mark stands
	bothWays  = `{"free_text":true,"dialogue":true}`
)

// document is the example with another synopsis, or with other ways out.
func document(synopsis, ways string) (*moment.Envelope, error) {
	var digests [2]string
	for i, action := range []string{datesOnly, datesAll} {
		var err error
		if digests[i], err = moment.ActionDigest([]byte(action)); err != nil {
			return nil, err
		}
	}
	return moment.Parse(fmt.Appendf(nil, `{"synopsis":%q,"findings":["The booking service asks for dates and passport number.",%q,`+
		`"The passport number is only needed at check-in."],"recommendations":["Release the travel dates now.","Withhold the passport number until check-in."],`+
		`"offer":"Ask for detail on any item.","question":{"stem":%q,"options":[`+
		`{"label":"Share dates only","reasoning":"Holds the booking and keeps the passport number private.","action_digest":%q},`+
		`{"label":"Share dates and passport number","reasoning":"Avoids a second request at check-in.","action_digest":%q}],`+
		`"recommended_idx":0,"hatches":%s}}`, synopsis, finding, stem, digests[0], digests[1], ways))
}

// host is an agent behind an MCP host: the official client, with vault mcp as the program that it starts.
type host struct {
	*sdk.ClientSession
	ctx context.Context
}

// reply is what a tool gave: the text, and what of it is looked at.
type reply struct {
	text    string
	failed  bool
	Code    string `json:"code"`
	Message string `json:"message"`
	Pending string `json:"pending"`
	Outcome string `json:"outcome"` // of an agreement
	Asks    []struct {
		ID       string `json:"id"`
		Line     string `json:"line"`
		Question string `json:"question"`
	} `json:"asks"`
	Fallback struct {
		Reason string `json:"reason"`
	} `json:"fallback"`
	Domains []struct {
		Hash    string `json:"domainHash"`
		Address string `json:"domainAddress"`
	} `json:"domains"`
}

// call calls a tool and takes up what is pending, until the owner has decided or asked.
func (h *host) call(tool string, arguments any) (reply, error) {
	for {
		var r reply
		res, err := h.CallTool(h.ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return r, err
		}
		if len(res.Content) != 1 {
			return r, fmt.Errorf("%s answered %d parts", tool, len(res.Content))
		}
		text, ok := res.Content[0].(*sdk.TextContent)
		if !ok {
			return r, fmt.Errorf("%s answered a %T", tool, res.Content[0])
		}
		r.text, r.failed = text.Text, res.IsError
		if err := json.Unmarshal([]byte(r.text), &r); err != nil {
			return r, fmt.Errorf("%s answered %q: %w", tool, r.text, err)
		}
		if strings.Contains(r.text, `"binding_moment"`) {
			return r, fmt.Errorf("%s answered an envelope: %s", tool, r.text)
		}
		if r.Pending == "" || len(r.Asks) > 0 {
			return r, nil
		}
		if tool == "submit_sow" {
			arguments = map[string]any{"request": r.Pending}
			continue
		}
		tool, arguments = "await_moment", map[string]any{"moment": r.Pending}
	}
}

// besides is a call that is under way while the owner looks at the screen.
type besides struct {
	reply reply
	err   error
	done  chan struct{}
}

func (h *host) begin(tool string, arguments any) *besides {
	b := &besides{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.reply, b.err = h.call(tool, arguments)
	}()
	return b
}

func (b *besides) wait() (reply, error) {
	<-b.done
	return b.reply, b.err
}

// is waits and compares what the agent got, byte for byte, with a resolution.
func (b *besides) is(due *moment.Resolution, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	r, err := b.wait()
	if err == nil && (r.failed || r.text != string(due.Canonical())) {
		err = fmt.Errorf("the agent got %s, want %s", r.text, due.Canonical())
	}
	return r, err
}

// present is what present_moment takes.
func present(e *moment.Envelope, actions string) map[string]any {
	args := map[string]any{"tool_result": json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"binding_moment":%s}`, ordinary, e.Canonical()))}
	if actions != "" {
		args["actions"] = json.RawMessage(actions)
	}
	return args
}

// hosted starts an agent's host and does with it what is to be done.
func (t *tour) hosted(steps ...func(*host) error) error {
	cmd := t.bed.Command(t.ctx, t.vault, "mcp", "--name", traveller, "--session", "trip")
	cmd.Stdout = nil // it is the client's
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tour", Version: "1"}, nil).Connect(t.ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	h := &host{session, t.ctx}
	for _, step := range steps {
		if err = step(h); err != nil {
			break
		}
	}
	return errors.Join(err, h.Close())
}

// moments are the decisions that an agent lays before the owner, and what comes after them.
func (t *tour) moments() error { return t.hosted(t.decisions, t.confirmations, t.agreements) }

func (t *tour) decisions(h *host) error {
	if err := t.press(rail, "Inbox", main1, "Decided today"); err != nil {
		return err
	}
	domain, err := t.pairHost(h)
	if err != nil {
		return err
	}
	for _, step := range []func(*host) error{
		func(h *host) error { return t.selectAndSign(h, domain.Hash, domain.Address) },
		t.ownWords, t.declined, t.wrongQuestion, t.askAbout, t.malformed,
	} {
		if err := step(h); err != nil {
			return err
		}
	}
	if err := errors.Join(t.press(rail, "Activity", main1, "Verify now"), t.press(main1, "Decisions", main1, "Question rejected")); err != nil {
		return err
	}
	t.tell("Activity counts how it asks: what was turned off, rejected, declined, not shown.")
	return t.shot("activity-decisions")
}

var six = regexp.MustCompile(`[0-9]{6}`)

// pairHost lets the host's bridge in, and reads the domain through it.
func (t *tour) pairHost(h *host) (out struct{ Hash, Address string }, err error) {
	read := map[string]any{"domain": domain}
	r, err := h.call("read_domain", read)
	if err != nil {
		return out, err
	}
	digits := six.FindString(r.Message)
	if r.Code != "pairing_pending" || digits == "" {
		return out, fmt.Errorf("the bridge answered %s", r.text)
	}
	if err := t.openSheet("Is this program yours?"); err != nil {
		return out, err
	}
	if _, err := t.see(beside, digits[:2]+"  "+digits[2:4]+"  "+digits[4:]); err != nil {
		return out, fmt.Errorf("the two numbers are not the same: %w", err)
	}
	if err := t.decide("The number is the same: pair as “"+traveller+"”", "Confirm: Pair as “"+traveller+"”", "Paired as “"+traveller+"”", "host-pairing"); err != nil {
		return out, err
	}
	if err := t.closeSheet(); err != nil {
		return out, err
	}
	// The bridge may still be taking its secret.
	err = t.until("the bridge is paired", func() (bool, error) {
		r, err = h.call("read_domain", read)
		return err == nil && !r.failed, err
	})
	if err != nil {
		return out, err
	}
	if len(r.Domains) != 1 {
		return out, fmt.Errorf("the bridge answered %s", r.text)
	}
	out.Hash, out.Address = r.Domains[0].Hash, r.Domains[0].Address
	t.tell("An agent behind an MCP host was let in: its host started vault mcp.")
	return out, nil
}

// sheet opens the moment that waits and takes a picture of it.
func (t *tour) sheet(name string) error {
	if err := t.openSheet(stem); err != nil {
		return err
	}
	return t.shot(name)
}

// take presses a row of the sheet, then its button until what has come is said, and closes the sheet.
func (t *tour) take(row, confirm, came, name string) error {
	if err := t.decide(row, "Confirm: "+confirm, came, name); err != nil {
		return err
	}
	return t.closeSheet()
}

// selectAndSign is the example: the first option is selected, its action is signed, the other is not,
// and asking again gets the same answer.
func (t *tour) selectAndSign(h *host, hash, address string) error {
	e, err := document(synopsis, bothWays)
	if err != nil {
		return err
	}
	if e.Digest() != example {
		return fmt.Errorf("the digest of the memo's example is %s", e.Digest())
	}
	signWith := fmt.Sprintf(`{"type":"agentenvelope.actionEnvelope","version":1,"agentId":%q,"actionIndex":0,"operation":"share","domain":{"domainId":%q,"domainHash":%q},`+
		`"resources":["booking:example"],"timeWindow":{"notBefore":null,"notAfter":%d},"decayPolicy":{"mode":"BOTH"},"limits":{"maxUses":1,"enforcement":"external"}}`,
		traveller, domain, hash, time.Now().Add(time.Hour).UnixMilli())
	args := present(e, fmt.Sprintf(`[{"option":0,"action":%s,"sign_with":%s},{"option":1,"action":%s}]`, datesOnly, signWith, datesAll))
	asked := h.begin("present_moment", args)
	if err := t.picture(main1, "asks you to decide, session trip", "inbox-moment"); err != nil {
		return err
	}
	if err := t.sheet("moment"); err != nil {
		return err
	}
	const label = "Share dates only"
	if err := t.press(beside, label, beside, "Confirm: "+label); err != nil {
		return err
	}
	if err := t.shot("moment-selected"); err != nil {
		return err
	}
	if err := t.press(beside, "Confirm: "+label, beside, "Once, for this action and no other"); err != nil {
		return err
	}
	if err := t.confirm("Confirm: "+label, "You selected “"+label+"”", "moment-confirm"); err != nil {
		return err
	}
	if err := t.closeSheet(); err != nil {
		return err
	}
	resolved, err := asked.is(e.Select(0))
	if err != nil {
		return err
	}
	t.tell("It presented the memo's example. “%s” was selected on the sheet, and it was told exactly that.", label)

	other, err := h.call("sign_action", map[string]any{"moment": e.Digest(), "action": json.RawMessage(datesAll)})
	if err != nil || other.Code != "action_mismatch" {
		return fmt.Errorf("signing the other action gave %s (%v)", other.text, err)
	}
	signed, err := h.call("sign_action", map[string]any{"moment": e.Digest(), "action": json.RawMessage(datesOnly)})
	if err != nil || signed.failed {
		return fmt.Errorf("signing the selected action gave %s (%v)", signed.text, err)
	}
	if err := t.verified(signed.text, datesOnly, address); err != nil {
		return err
	}
	t.tell("The selected action was signed, and verified elsewhere; the other one was refused (action_mismatch).")

	if again, err := h.begin("present_moment", args).is(e.Select(0)); err != nil || again.text != resolved.text {
		return errors.Join(err, errors.New("the same again was answered otherwise"))
	}
	if err := t.picture(main1, "You answered this before.", "inbox-again"); err != nil {
		return err
	}
	if err := t.note("Take it out of the Inbox", "moment-again"); err != nil {
		return err
	}
	t.tell("Presented again it got the same answer; the owner reads “You already answered this”.")
	return nil
}

// verified has a signature checked by somebody who has no vault.
func (t *tour) verified(signed, payload, address string) error {
	dir := filepath.Join(t.bed.Dir, "far")
	doc := strings.TrimSuffix(signed, "}") + `,"payload":` + payload + "}"
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "answer.json"), []byte(doc), 0o600)); err != nil {
		return err
	}
	return t.verify(dir, []string{"--domain", address}, 0, "Verified against your pin.")
}

// note opens the note in the Inbox, looks for a text on it, and takes it out of the Inbox.
func (t *tour) note(text, name string) error {
	if err := t.press(main1, "Read", main1, text); err != nil {
		return err
	}
	if err := t.shot(name); err != nil {
		return err
	}
	return t.press(main1, "Take it out of the Inbox", main1, "Decided today")
}

// ownWords answers one where the agent turned a way out off.
func (t *tour) ownWords(h *host) error {
	e, err := document("Share nothing before the hotel has called back.", `{"free_text":true,"dialogue":false}`)
	if err != nil {
		return err
	}
	asked := h.begin("present_moment", present(e, ""))
	if err := t.sheet("moment-way-off"); err != nil {
		return err
	}
	if _, err := t.see(beside, "The agent turned off:"); err != nil {
		return err
	}
	const words = "Call them first. Then ask me again."
	if err := t.press(beside, "Answer in my own words", beside, "Your answer, in your own words"); err != nil {
		return err
	}
	if err := t.write(words); err != nil {
		return err
	}
	if err := t.confirm("Confirm: Send my answer", "You answered in your own words", "moment-own-words"); err != nil {
		return err
	}
	if err := t.closeSheet(); err != nil {
		return err
	}
	if _, err := asked.is(e.Answer(words)); err != nil {
		return err
	}
	t.tell("One had a way out turned off, and the sheet said so; it was answered in the owner's own words.")
	return nil
}

// write types into the field that has the keyboard, as often as it is deaf, until the text stands there.
func (t *tour) write(text string) error {
	for {
		if err := errors.Join(t.screen.Press(t.ctx, "ctrl+a"), t.screen.Type(t.ctx, text)); err != nil {
			return err
		}
		ok, err := t.within(again, func() (bool, error) {
			found, err := t.look(beside, text)
			return len(found) > 0, err
		})
		if ok || err != nil {
			return err
		}
	}
}

func (t *tour) declined(h *host) error {
	e, err := document("Share everything now.", bothWays)
	if err != nil {
		return err
	}
	asked := h.begin("present_moment", present(e, ""))
	if err := t.openSheet(stem); err != nil {
		return err
	}
	if err := t.take("Decline", "Decline", "You declined", "moment-decline"); err != nil {
		return err
	}
	if _, err := asked.is(e.Decline(), nil); err != nil {
		return err
	}
	t.tell("One was declined: the agent was told no, and nothing else.")
	return nil
}

func (t *tour) wrongQuestion(h *host) error {
	e, err := document("Book a hotel that asks for less.", bothWays)
	if err != nil {
		return err
	}
	asked := h.begin("present_moment", present(e, ""))
	if err := t.openSheet(stem); err != nil {
		return err
	}
	if err := t.take("This is the wrong question", "This is the wrong question", "You rejected the question", "moment-question"); err != nil {
		return err
	}
	if _, err := asked.is(e.RejectQuestion()); err != nil {
		return err
	}
	t.tell("The question of one was rejected: the agent was told to deliberate.")
	return nil
}

// askAbout asks about a line and reads what comes beside the sheet.
func (t *tour) askAbout(h *host) error {
	e, err := document("Share the dates of the first night only.", bothWays)
	if err != nil {
		return err
	}
	asked := h.begin("present_moment", present(e, ""))
	if err := t.openSheet(stem); err != nil {
		return err
	}
	const about, question, said = "Ask about finding 2", "Who says so?", "The terms of the hotel, paragraph 4."
	// The sign stands at the right end of the line; it bears no word.
	at, err := t.see(beside, finding)
	if err != nil {
		return err
	}
	sign := image.Pt(beside.Min.X+askSign, middle(at).Y)
	err = t.until("“"+about+"”", func() (bool, error) {
		if err := t.click(sign); err != nil {
			return false, err
		}
		return t.within(again, func() (bool, error) {
			found, err := t.look(beside, about)
			return len(found) > 0, err
		})
	})
	if err != nil {
		return err
	}
	if err := t.write(question); err != nil {
		return err
	}
	if err := t.press(beside, "Send the question", beside, "Asked. The question stays open."); err != nil {
		return err
	}
	r, err := asked.wait()
	if err != nil {
		return err
	}
	if len(r.Asks) != 1 || r.Asks[0].Question != question || r.Asks[0].Line != "findings.1" {
		return fmt.Errorf("the agent got %s", r.text)
	}
	if a, err := h.call("answer_question", map[string]any{"moment": r.Pending, "ask": r.Asks[0].ID, "text": said}); err != nil || a.failed {
		return fmt.Errorf("answering the question gave %s (%v)", a.text, err)
	}
	asked = h.begin("await_moment", map[string]any{"moment": r.Pending})
	if err := t.press(beside, "Done", beside, said); err != nil {
		return err
	}
	if err := t.shot("moment-asked"); err != nil {
		return err
	}
	if err := t.take("Decline", "Decline", "You declined", "moment-asked-decline"); err != nil {
		return err
	}
	if _, err := asked.is(e.Decline(), nil); err != nil {
		return err
	}
	t.tell("A finding was asked about; the reply came beside the sheet, and decided nothing.")
	return nil
}

// malformed is one that no sheet shows.
func (t *tour) malformed(h *host) error {
	e, err := document("Broken.", bothWays)
	if err != nil {
		return err
	}
	args := present(e, "")
	args["tool_result"] = json.RawMessage(strings.Replace(string(args["tool_result"].(json.RawMessage)), `"recommended_idx":0`, `"recommended_idx":9`, 1))
	r, err := h.call("present_moment", args)
	if err != nil || r.Fallback.Reason != "recommended_idx_range" {
		return fmt.Errorf("a malformed one gave %s (%v)", r.text, err)
	}
	if err := t.picture(main1, "It recommends an option that it does not have.", "inbox-malformed"); err != nil {
		return err
	}
	if err := t.note(ordinary, "moment-malformed"); err != nil {
		return err
	}
	t.tell("A malformed one was not shown as a decision: the Inbox has what it would have said without.")
	return nil
}
