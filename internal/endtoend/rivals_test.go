//go:build unix

package endtoend_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/moment"
	"vault/derive/envelope"
	"vault/ipc/client"
)

// dial is a connection of a paired program.
func (r *rig) dial(p *client.Pairing) *client.Conn {
	r.t.Helper()
	c, err := client.Dial(r.t.Context(), r.sock)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	if p != nil {
		if _, err := c.Hello(r.t.Context(), p); err != nil {
			r.t.Fatal(err)
		}
	}
	return c
}

// until waits until the Inbox is as it must be.
func (r *rig) until(met func([]approvals.Item) bool) {
	r.t.Helper()
	woken := make(chan struct{}, 1)
	stop := r.owner.Watch(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	defer stop()
	late := time.After(time.Minute)
	for !met(r.owner.Inbox()) {
		select {
		case <-woken:
		case <-late:
			r.t.Fatalf("the Inbox stays %+v", r.owner.Inbox())
		}
	}
}

// next waits for what the owner may open next, and opens it.
func (r *rig) next() approvals.Sheet {
	r.t.Helper()
	id := ""
	r.until(func(items []approvals.Item) bool {
		for _, it := range items {
			if it.Next && it.Kind != approvals.ItemWords {
				id = it.ID
			}
		}
		return id != ""
	})
	s, err := r.owner.Open(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) verdict(s approvals.Sheet, d approvals.Decision) approvals.Outcome {
	r.t.Helper()
	d.ID, d.Digest = s.ID, s.Digest
	out, err := r.owner.Decide(r.t.Context(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// admit pairs a program under a name.
func (r *rig) admit(name string) *client.Pairing {
	r.t.Helper()
	c := r.dial(nil)
	got := make(chan *client.Pairing, 1)
	go func() {
		p, err := c.Pair(r.t.Context(), name, func(string) {})
		if err != nil {
			r.t.Error(err)
		}
		got <- p
	}()
	if out := r.verdict(r.next(), approvals.Decision{Verdict: approvals.VerdictApprove, Name: name}); out.Code != approvals.OutcomeDone {
		r.t.Fatalf("%+v", out)
	}
	return <-got
}

func refusedWith(err error) string {
	var e *client.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

// presented is what came of a presentation that was made beside the test.
type presented struct {
	client.Presented
	err error
}

func (r *rig) present(c *client.Conn, p client.Presentation) <-chan presented {
	out := make(chan presented, 1)
	go func() {
		got, err := c.Present(r.t.Context(), p)
		out <- presented{got, err}
	}()
	return out
}

// Two programs with the same envelope in a session of the same name, over the real socket: each has its own
// moment, its own answer and its own signature, and neither can take up, answer or sign the other's.
func TestRivals(t *testing.T) {
	r := start(t)
	a, b := r.admit("first"), r.admit("second")
	ca, cb := r.dial(a), r.dial(b)
	ctx := t.Context()
	sign, err := envelope.NewActionEnvelopeFor("billing-ops", r.domain.Hash, envelope.ActionFields{
		AgentID: "travel", Operation: "share", Resources: []string{"booking:1"}, Mode: envelope.ModeBoth, MaxUses: envelope.Some(5),
		Window: envelope.Window{NotBefore: envelope.Some(r.clock.Now() - 60_000), NotAfter: envelope.Some(r.clock.Now() + 3_600_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	doc := exampleMoment(t, "Share the travel dates and withhold the passport number.", `{"free_text":true,"dialogue":true}`)
	e, err := moment.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	behind := json.RawMessage(`[{"option":0,"action":` + datesOnly + `,"sign_with":` + string(sign.Canonical()) + `}]`)
	same := client.Presentation{Session: "trip", Moment: json.RawMessage(doc), Fallback: "Share?", Actions: behind}

	first := r.present(ca, same)
	sheet := r.next()
	// Presented again and again while its sheet is open: one sheet, the same one.
	merged := r.present(r.dial(a), same)
	second := r.present(cb, same)
	other := same
	other.Actions = json.RawMessage(`[{"option":0,"action":` + datesOnly + `}]`)
	if _, err := ca.Present(ctx, other); refusedWith(err) != approvals.CodeMomentDiffers {
		t.Fatalf("other actions behind the same moment: %v", err)
	}
	for _, c := range []*client.Conn{ca, cb} {
		if _, err := c.SignMoment(ctx, "trip", e.Digest(), json.RawMessage(datesOnly)); refusedWith(err) != approvals.CodeMomentOpen && refusedWith(err) != approvals.CodeUnknownMoment {
			t.Fatalf("signed before anything was decided: %v", err)
		}
	}
	r.until(func(items []approvals.Item) bool {
		moments, calls := 0, 0
		for _, it := range items {
			if it.Kind == approvals.ItemMoment {
				moments, calls = moments+1, calls+it.Merged
			}
		}
		return moments == 2 && calls == 3
	})
	// A lock in between decides nothing, and the sheet that was open cannot be decided while it lasts.
	if err := r.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	d := approvals.Decision{ID: sheet.ID, Digest: sheet.Digest, Verdict: approvals.VerdictOption}
	if out, err := r.owner.Decide(ctx, d); err == nil && out.Code == approvals.OutcomeDone {
		t.Fatalf("decided while locked: %+v", out)
	}
	if err := r.owner.Unlock(ctx, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	sheet = r.next()
	if out := r.verdict(sheet, approvals.Decision{Verdict: approvals.VerdictOption}); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	due, err := e.Select(0)
	if err != nil {
		t.Fatal(err)
	}
	// The lock ended the calls that waited, and not what they waited for.
	for _, wait := range []<-chan presented{first, merged, second} {
		if got := <-wait; refusedWith(got.err) != approvals.CodeLocked {
			t.Fatalf("%+v", got)
		}
	}
	for range 2 {
		if got, err := ca.AwaitMoment(ctx, "trip", e.Digest()); err != nil || !bytes.Equal(got.Resolution, due.Canonical()) {
			t.Fatalf("%s, %v", got.Resolution, err)
		}
	}
	// The second program's moment is still open and is its own.
	if _, err := cb.SignMoment(ctx, "trip", sheet.Moment.Moment, json.RawMessage(datesOnly)); refusedWith(err) != approvals.CodeUnknownMoment {
		t.Fatalf("another's moment was signed: %v", err)
	}
	if _, err := cb.AwaitMoment(ctx, "trip", sheet.Moment.Moment); refusedWith(err) != approvals.CodeUnknownMoment {
		t.Fatalf("another's moment was taken up: %v", err)
	}
	if _, err := cb.SignMoment(ctx, "trip", e.Digest(), json.RawMessage(datesOnly)); refusedWith(err) != approvals.CodeMomentOpen {
		t.Fatalf("signed what is open: %v", err)
	}
	theirs := r.next()
	if theirs.Agent != "second" || theirs.Moment.EnvelopeDigest != e.Digest() || theirs.Moment.Moment == sheet.Moment.Moment {
		t.Fatalf("%+v", theirs)
	}
	if out := r.verdict(theirs, approvals.Decision{Verdict: approvals.VerdictDecline}); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("%+v", out)
	}
	if got, err := cb.AwaitMoment(ctx, "trip", e.Digest()); err != nil || !bytes.Equal(got.Resolution, e.Decline().Canonical()) {
		t.Fatalf("%s, %v", got.Resolution, err)
	}
	if _, err := cb.SignMoment(ctx, "trip", e.Digest(), json.RawMessage(datesOnly)); refusedWith(err) != string(moment.NotOption) {
		t.Fatalf("signed what was declined: %v", err)
	}

	// Twenty at once, on connections of their own, in other words and under either name: one signature.
	var wg sync.WaitGroup
	var mu sync.Mutex
	signatures := map[string]int{}
	for i := range 20 {
		c := r.dial(a)
		wg.Go(func() {
			action := []string{datesOnly, `{"recipient":"booking.example","disclose":["travel_dates"]}`}[i%2]
			name := []string{sheet.Moment.Moment, e.Digest()}[i/2%2]
			s, err := c.SignMoment(ctx, "trip", name, json.RawMessage(action))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			signatures[fmt.Sprint(s.Seq, s.Signature)]++
		})
	}
	wg.Wait()
	if len(signatures) != 1 {
		t.Fatalf("%v", signatures)
	}
	log, err := r.owner.Events(approvals.EventFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	count := map[journal.Kind]int{}
	for _, entry := range log {
		count[journal.Kind(entry.Kind)]++
	}
	if count[journal.KindActionSigned] != 1 || count[journal.KindMomentResolved] != 1 || count[journal.KindMomentDeclined] != 1 {
		t.Fatalf("%v", count)
	}
	if report, err := r.owner.VerifyLog(ctx); err != nil || !report.OK {
		t.Fatalf("%+v, %v", report, err)
	}
}

// What a program may send that is at the edge of what is allowed, or beyond it, over the real socket.
func TestMomentsAtTheEdge(t *testing.T) {
	r := start(t)
	p := r.admit("edge")
	c := r.dial(p)
	ctx := t.Context()
	const both = `{"free_text":true,"dialogue":true}`
	doc := func(offer string) json.RawMessage {
		return json.RawMessage(strings.Replace(exampleMoment(t, "S.", both), "Ask for detail on any item.", offer, 1))
	}
	fill := moment.MaxEnvelope - len(doc(""))
	// One byte too long is a note; exactly as long as may be is a sheet.
	got, err := c.Present(ctx, client.Presentation{Session: "s", Moment: doc(strings.Repeat("a", fill+1)), Fallback: "long"})
	if err != nil || got.Fallback == nil || got.Fallback.Reason != string(moment.TooLarge) {
		t.Fatalf("%+v, %v", got, err)
	}
	// A long line is handled alone on its connection.
	waits := r.present(r.dial(p), client.Presentation{Session: "s", Moment: doc(strings.Repeat("a", fill)), Fallback: "long"})
	sheet := r.next()
	if n := len(sheet.Moment.Sheet.Envelope.Content().Offer); n != fill {
		t.Fatalf("%d bytes of the offer", n)
	}
	id := sheet.Moment.Moment

	for _, session := range []string{"", "a b", "a\nb", "a\x00", "a\u202eb", "é", "\x7f", strings.Repeat("s", 129)} {
		if _, err := c.Present(ctx, client.Presentation{Session: session, Moment: doc("o"), Fallback: "f"}); refusedWith(err) != "params_invalid" {
			t.Errorf("session %q: %v", session, err)
		}
	}
	// Answers to questions that were not asked, or too long, or empty, do nothing; one question is answered once.
	for range 200 {
		if err := c.Say(ctx, "s", id, "q1", "so"); refusedWith(err) != approvals.CodeUnknownAsk {
			t.Fatal(err)
		}
	}
	if err := r.owner.Ask(ctx, sheet.ID, "findings.1", "Who says so?"); err != nil {
		t.Fatal(err)
	}
	asked := <-waits
	if asked.err != nil || len(asked.Asks) != 1 {
		t.Fatalf("%+v", asked)
	}
	ask := asked.Asks[0].ID
	for text, code := range map[string]string{
		"": approvals.CodeMalformed, " \t\u200b": approvals.CodeMalformed, strings.Repeat("a", approvals.MaxReply+1): "params_invalid",
	} {
		if err := c.Say(ctx, "s", id, ask, text); refusedWith(err) != code {
			t.Errorf("an answer of %d bytes: %v", len(text), err)
		}
	}
	const odd = "\u202egnp.exe\x1b[2J \u200b\x07\r\n<b>yes</b> \U000e0041"
	if err := c.Say(ctx, "s", id, ask, odd); err != nil {
		t.Fatal(err)
	}
	if err := c.Say(ctx, "s", id, ask, "more"); refusedWith(err) != approvals.CodeAskAnswered {
		t.Fatal(err)
	}
	again := r.next()
	if again.Digest != sheet.Digest || len(again.Moment.Asks) != 1 || again.Moment.Asks[0].Answer != odd {
		t.Fatalf("%+v", again.Moment.Asks)
	}

	// The owner's own words go out as they were typed, or not at all.
	decide := func(answer string) (approvals.Outcome, error) {
		return r.owner.Decide(ctx, approvals.Decision{ID: sheet.ID, Digest: sheet.Digest, Verdict: approvals.VerdictAnswer, Answer: answer})
	}
	for _, bad := range []string{"", " \n\t", "\u200b\u2060", "\xff", strings.Repeat("a", moment.MaxAnswer+1), strings.Repeat("abandon ", 11) + "about"} {
		if out, err := decide(bad); err == nil && out.Code == approvals.OutcomeDone {
			t.Errorf("an answer of %d bytes went out: %+v", len(bad), out)
		}
	}
	const words = "  no\x00\u202e, \U0001f469\u200d\U0001f4bb\r\n\"}{ \u0000"
	if out, err := decide(words); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	res, err := c.AwaitMoment(ctx, "s", id)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := moment.ParseResolution(res.Resolution)
	if err != nil {
		t.Fatal(err)
	}
	if said, _ := parsed.Answer(); said != words {
		t.Fatalf("%q became %q", words, said)
	}
	// Words are no authority.
	if _, err := c.SignMoment(ctx, "s", id, json.RawMessage(datesOnly)); refusedWith(err) != string(moment.NotOption) {
		t.Fatal(err)
	}
	if err := c.Say(ctx, "s", id, ask, "late"); refusedWith(err) != approvals.CodeUnknownMoment {
		t.Fatal(err)
	}
}
