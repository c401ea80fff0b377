package approvals_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vault/approvals"
)

// TestLockedWhileWaiting: who waits when the vault is locked is not told that nobody was asked, for the sheet may have
// been open; who comes to a locked vault is.
func TestLockedWhileWaiting(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	w.await = time.Minute
	w.stop()
	w.start()
	w.unlock()
	a.connect()

	arrived := make(chan struct{}, 1)
	defer w.owner.Watch(func() {
		if len(w.owner.Inbox()) == 1 {
			select {
			case arrived <- struct{}{}:
			default:
			}
		}
	})()
	told := make(chan error, 1)
	go func() { _, err := a.ask("waits", env, payload("1"), true); told <- err }()
	<-arrived
	w.openFirst()
	if err := w.owner.Lock(context.Background(), "asked"); err != nil {
		t.Fatal(err)
	}
	message := func(err error) string {
		var r *approvals.Refusal
		if !errors.As(err, &r) || r.Code != approvals.CodeLocked {
			t.Fatalf("%v", err)
		}
		return r.Message
	}
	if got := message(<-told); strings.Contains(got, "Nobody") || !strings.Contains(got, "Nothing was signed") {
		t.Errorf("who waited was told %q", got)
	}
	_, err := a.ask("later", env, payload("2"), true)
	if got := message(err); !strings.Contains(got, "Nobody was asked") {
		t.Errorf("who came later was told %q", got)
	}
}

// TestCheckedCountsWhatWasRead: the status says of how many entries the last check tells.
func TestCheckedCountsWhatWasRead(t *testing.T) {
	w := newWorld(t)
	w.create()
	if _, err := w.owner.VerifyLog(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := w.owner.Status()
	w.pair("a")
	after := w.owner.Status()
	if before.Checked != before.Entries || after.Checked != before.Entries || after.Entries <= before.Entries {
		t.Errorf("%d of %d were read, then %d of %d", before.Checked, before.Entries, after.Checked, after.Entries)
	}
	if r, err := w.owner.VerifyLog(context.Background()); err != nil || w.owner.Status().Checked != r.Entries {
		t.Errorf("%d, %+v, %v", w.owner.Status().Checked, r, err)
	}
}
