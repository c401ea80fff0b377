package approvals_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"vault/approvals"
)

// TestWhileThePastIsRead: before the names of a long log are all read, the desk answers as afterwards,
// and what comes meanwhile is counted once.
func TestWhileThePastIsRead(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	w.clock.pass(2 * time.Second)
	first, err := a.ask("r1", env, payload("1"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask("r2", env, []byte(`{"operation":"another"}`), true); err != nil {
		t.Fatal(err)
	}
	if out := w.decide(w.openFirst(), approvals.VerdictDecline); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("%+v", out)
	}
	w.clock.pass(2 * time.Second)

	w.desk.Forget()
	signed := w.keys.signed.Load()
	if ans, err := a.ask("r1", env, payload("1"), false); err != nil || !bytes.Equal(ans.Result, first.Result) {
		t.Fatalf("%+v, %v", ans, err)
	}
	if ans, err := a.conn.Await(ctx, "r1"); err != nil || !bytes.Equal(ans.Result, first.Result) {
		t.Fatalf("%+v, %v", ans, err)
	}
	if _, err := a.ask("r1", env, payload("other"), false); code(err) != approvals.CodeRequestIDReused {
		t.Fatal(err)
	}
	if _, err := a.conn.Await(ctx, "r2"); code(err) != approvals.CodeDeclined {
		t.Fatal(err)
	}
	if err := a.conn.Cancel(ctx, "r2"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.conn.Await(ctx, "never"); code(err) != approvals.CodeUnknownRequest {
		t.Fatal(err)
	}
	if err := a.conn.Cancel(ctx, "never"); code(err) != approvals.CodeUnknownRequest {
		t.Fatal(err)
	}
	if n := w.keys.signed.Load(); n != signed {
		t.Fatalf("%d more signatures", n-signed)
	}
	if _, err := a.ask("r3", env, payload("3"), false); err != nil { // counted as it comes
		t.Fatal(err)
	}
	// The same as r1, whose name is not read yet.
	for _, g := range w.owner.Clients()[0].Grants {
		if err := w.owner.EndGrant(ctx, g.ID); err != nil {
			t.Fatal(err)
		}
	}
	if ans, err := a.ask("r5", env, payload("1"), true); err != nil || ans.Pending == "" {
		t.Fatalf("%+v, %v", ans, err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.owner.Open(gone, w.owner.Inbox()[0].ID); !errors.Is(err, context.Canceled) {
		t.Fatalf("a sheet does not wait for what it says: %v", err)
	}
	check := func(when string) {
		t.Helper()
		c, x := w.owner.Clients()[0], w.owner.Domains()[0]
		if got := fmt.Sprint(c.Signatures, c.Declined, x.Signatures); got != fmt.Sprint(w.entries("action.signed"), 1, w.entries("action.signed")) {
			t.Fatalf("%s: %s", when, got)
		}
	}
	if err := w.desk.Recall(); err != nil {
		t.Fatal(err)
	}
	check("read")
	if s := w.openFirst(); !slices.Contains(s.Action.Warnings, "repeat") {
		t.Fatalf("%q", s.Action.Warnings)
	}
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	w.unlock()
	check("after a lock")
	w.stop()
	w.start()
	check("after a start")
}
