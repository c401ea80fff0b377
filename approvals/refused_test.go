package approvals_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"vault/approvals"
	"vault/derive/envelope"
)

// refusals gives the entries of refused requests, oldest first, each as "request reason" and
// "+N" for what was folded into it.
func (w *world) refusals() []string {
	w.t.Helper()
	if err := w.desk.Settle(); err != nil {
		w.t.Fatal(err)
	}
	es, err := w.owner.Events(approvals.EventFilter{Kind: "request.answered"})
	if err != nil {
		w.t.Fatal(err)
	}
	out := []string{}
	for i := len(es) - 1; i >= 0; i-- {
		f := map[string]string{}
		for _, x := range es[i].Fields {
			f[x.Name] = x.Value
		}
		if f["outcome"] != "refused" {
			continue
		}
		line := f["request"] + " " + f["reason"]
		if f["folded"] != "" {
			line += " +" + f["folded"]
		}
		out = append(out, line)
	}
	return out
}

func (w *world) wantRefusals(want ...string) {
	w.t.Helper()
	if got := w.refusals(); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("the log has %q, not %q", got, want)
	}
}

// TestRefusedIsInTheLog: each reason for which nobody saw a request leaves an entry.
func TestRefusedIsInTheLog(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	spent, once := w.envelope(nil), w.envelope(func(f *envelope.ActionFields) { f.MaxUses, f.ActionIndex = envelope.Some(1), 1 })
	a.grant(spent, 1)
	w.clock.pass(2 * time.Second)
	if _, err := a.ask("once", once, payload("x"), true); err != nil {
		t.Fatal(err)
	}
	if out := w.decide(w.openFirst(), approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	w.clock.pass(2 * time.Second)
	if _, err := a.ask("use", spent, payload("x"), false); err != nil {
		t.Fatal(err)
	}
	now := w.clock.Now()
	window := func(from, to int64) []byte {
		return w.envelope(func(f *envelope.ActionFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(now + from), NotAfter: envelope.Some(now + to)}
		})
	}
	info, err := envelope.NewDomainInfo("example", "another", "finance")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := envelope.NewActionEnvelope(info, envelope.ActionFields{
		AgentID: "a", Operation: "o", Resources: []string{"r"}, Window: envelope.Window{NotAfter: envelope.Some(now + 1000)}, Mode: envelope.ModeBoth, MaxUses: envelope.Some(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, tt := range []struct {
		id           string
		env, payload []byte
		code, reason string
	}{
		{"fourth", spent, payload("y"), "not_shown", "not_shown"},
		{"spent", once, payload("y"), "uses_spent", "uses_spent"},
		{"late", window(-2000, -1000), payload("y"), "envelope_expired", "envelope_expired"},
		{"early", window(10_000, 20_000), payload("y"), "not_yet_valid", "not_yet_valid"},
		{"contradicts", spent, []byte(`{"operation":"delete-everything"}`), "not_shown", "contradiction"},
		{"elsewhere", elsewhere.Canonical(), payload("y"), "unknown_domain", "unknown_domain"},
		{"typed", spent, []byte(`{"type":"agentenvelope.actionEnvelope"}`), "typed_payload", "typed_payload"},
		{"torn", []byte(`{"type":1}`), payload("y"), "malformed", "malformed"},
	} {
		if _, err := a.ask(tt.id, tt.env, tt.payload, false); code(err) != tt.code {
			t.Fatalf("%s: %v", tt.id, err)
		}
		want = append(want, tt.id+" "+tt.reason)
	}
	w.wantRefusals(want...)

	// What is refused because of the vault's state is no entry, nor is what an ended client asks.
	w.owner.SetAway(true)
	if _, err := a.ask("away", w.envelope(func(f *envelope.ActionFields) { f.ActionIndex = 5 }), payload("x"), false); code(err) != "not_shown" {
		t.Fatal(err)
	}
	want = append(want, "away not_shown")
	w.wantRefusals(want...)
	if err := w.owner.Lock(context.Background(), "asked"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask("locked", spent, payload("z"), false); code(err) != "locked" {
		t.Fatal(err)
	}
	w.unlock()
	if err := w.owner.RevokeClient(context.Background(), a.id); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask("ended", spent, payload("z"), false); code(err) != "revoked" {
		t.Fatal(err)
	}
	w.wantRefusals(want...)
	w.verified()

	// A refusal binds no request id: the log names it, and it may be asked again.
	b := w.pair("b")
	if _, err := b.ask("same", spent, payload("x"), false); code(err) != "not_shown" {
		t.Fatal(err)
	}
	w.clock.pass(2 * time.Second)
	if ans, err := b.ask("same", spent, payload("x"), true); err != nil || ans.Pending != "same" {
		t.Fatalf("%+v, %v", ans, err)
	}
	w.wantRefusals(append(want, "same not_shown")...)
}

// TestRefusalsAreFolded: a flood of refused requests makes few entries, and they say how many there were.
func TestRefusalsAreFolded(t *testing.T) {
	w := newWorld(t)
	w.create()
	a, b := w.pair("a"), w.pair("b")
	env := w.envelope(nil)
	n := 0
	ask := func(g *agent, env []byte) {
		t.Helper()
		n++
		if _, err := g.ask(strconv.Itoa(n), env, payload("x"), false); code(err) != "not_shown" {
			t.Fatal(err)
		}
	}
	for range 1000 {
		ask(a, env)
	}
	ask(b, env) // 1001
	w.wantRefusals("1 not_shown", "1001 not_shown")
	w.clock.pass(59 * time.Second)
	ask(a, env)
	w.wantRefusals("1 not_shown", "1001 not_shown")
	w.clock.pass(time.Second)
	ask(a, env) // 1003
	w.wantRefusals("1 not_shown", "1001 not_shown", "1003 not_shown +1000")

	// Another envelope each time: the hour's bound holds, also over a lock.
	other := func(i int) []byte {
		return w.envelope(func(f *envelope.ActionFields) { f.ActionIndex = int64(100 + i) })
	}
	for i := range 200 {
		if i == 100 {
			if err := w.owner.Lock(context.Background(), "asked"); err != nil {
				t.Fatal(err)
			}
			w.unlock()
			a.connect()
		}
		ask(a, other(i))
	}
	if got := len(w.refusals()); got != 61 { // 60 of a, one of b
		t.Fatalf("%d entries", got)
	}
	w.clock.pass(time.Hour)
	ask(a, env)
	got := w.refusals()
	if len(got) != 62 || got[61] != "1204 not_shown +142" {
		t.Fatalf("%d entries, the last is %s", len(got), got[len(got)-1])
	}
	w.verified()
}

// TestRestartForgetsWhatWaits: what waited when the desk ended is not known afterwards, nothing came of it, and the same
// call asks again; what had ended is answered as before.
func TestRestartForgetsWhatWaits(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	if ans, err := a.ask("r", env, payload("x"), true); err != nil || ans.Pending != "r" {
		t.Fatalf("%+v, %v", ans, err)
	}
	restart := func() {
		t.Helper()
		w.stop()
		w.start()
		w.unlock()
		a.connect()
	}
	restart()
	if _, err := a.conn.Await(ctx, "r"); code(err) != approvals.CodeUnknownRequest {
		t.Fatal(err)
	}
	if n := w.entries("request.answered") + w.entries("action.signed"); n != 0 || len(w.owner.Inbox()) > 1 { // the words' row
		t.Fatalf("%d entries, %+v", n, w.owner.Inbox())
	}
	if ans, err := a.ask("r", env, payload("x"), true); err != nil || ans.Pending != "r" {
		t.Fatalf("%+v, %v", ans, err)
	}
	if out := w.decide(w.openFirst(), approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	want, err := a.conn.Await(ctx, "r")
	if err != nil {
		t.Fatal(err)
	}
	restart()
	if got, err := a.conn.Await(ctx, "r"); err != nil || string(got.Result) != string(want.Result) {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := a.ask("r", env, payload("x"), true); err != nil || string(got.Result) != string(want.Result) {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := w.keys.signed.Load(); n != 1 {
		t.Fatalf("%d signatures", n)
	}
}
