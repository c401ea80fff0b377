package approvals_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
)

// TestProblemsAreEscalated: silence brings a problem report before the owner again by itself, twice, also while the vault is locked;
// each is in the log as what time did, and an answer ends it.
func TestProblemsAreEscalated(t *testing.T) {
	ctx := context.Background()
	w := owned(t)
	id, _ := w.running()
	out := w.brought([]byte(`{"input":"brief","problem":"unreadable","description":"The file does not open."}`), id)
	wants := func() approvals.Item {
		items := w.owner.Inbox()
		i := slices.IndexFunc(items, func(it approvals.Item) bool { return it.ID == id })
		if i < 0 {
			t.Fatalf("it is not in the Inbox: %+v", items)
		}
		return items[i]
	}
	answer := func() string {
		v := w.engagement(id)
		i := slices.IndexFunc(v.Records, func(r agreement.RecordView) bool { return r.SHA256 == out.SHA256 })
		return v.Records[i].Answer
	}
	moved := func(what, by string) (n int) {
		for _, m := range w.engagement(id).Timeline {
			if m.What == what && m.By == by && m.Seq > 0 {
				n++
			}
		}
		return n
	}
	if it := wants(); it.Wants != agreement.WaitProblem || answer() != "" {
		t.Fatalf("%+v %q", it, answer())
	}
	w.clock.pass(25 * time.Hour)
	w.desk.Tick(ctx) // locks, too
	if it := wants(); it.Wants != agreement.WaitUnanswered || answer() != "escalated" || moved("problem escalated", "time") != 1 {
		t.Fatalf("%+v %q %+v", it, answer(), w.engagement(id).Timeline)
	}
	w.desk.Tick(ctx)
	if n := moved("problem escalated", "time"); n != 1 {
		t.Fatalf("noted %d times", n)
	}
	// The term of the sample ends in six months: a day before, and not sooner.
	v := w.engagement(id)
	i := slices.IndexFunc(v.Reminders, func(r agreement.Reminder) bool { return r.Kind == agreement.RemindProblem && r.Last })
	if i < 0 {
		t.Fatalf("%+v", v.Reminders)
	}
	w.clock.pass(time.Duration(v.Reminders[i].At-w.clock.Now())*time.Millisecond - time.Minute)
	w.desk.Tick(ctx)
	if it := wants(); it.Wants != agreement.WaitUnanswered {
		t.Fatalf("%+v", it)
	}
	w.clock.pass(2 * time.Minute)
	w.desk.Tick(ctx)
	if it := wants(); it.Wants != agreement.WaitUrgent || answer() != "escalated_twice" || moved("problem escalated_twice", "time") != 1 {
		t.Fatalf("%+v %q", it, answer())
	}
	w.unlock()
	if err := w.owner.AnswerProblem(ctx, id, out.SHA256, "escalated"); err == nil {
		t.Error("escalated a third time")
	}
	if err := w.owner.AnswerProblem(ctx, id, out.SHA256, "resolved"); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(48 * time.Hour)
	w.desk.Tick(ctx)
	if answer() != "resolved" || moved("problem resolved", "us") != 1 || slices.Contains(w.engagement(id).Waiting, agreement.WaitUrgent) {
		t.Fatalf("%q %+v", answer(), w.engagement(id).Waiting)
	}
	w.unlock()
	if log, err := w.owner.VerifyLog(ctx); err != nil || !log.OK {
		t.Fatalf("%+v %v", log, err)
	}
}
