package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/receipt"
	"vault/derive/envelope"
)

// porter is what serves further users' sockets in these tests.
type porter struct {
	mu     sync.Mutex
	open   map[int64]string
	closed []string
	fallen map[int64]bool
	fails  error
}

// served is one socket of a porter.
type served struct {
	p  *porter
	id int64
}

func (s served) Stands() bool {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return !s.p.fallen[s.id]
}

func (s served) Stop(removed bool) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	delete(s.p.open, s.id)
	s.p.closed = append(s.p.closed, fmt.Sprint(s.id, removed))
}

type codedError struct{}

func (codedError) Error() string { return "as the test wants it" }
func (codedError) Coded() string { return "socket_in_use" }

func (p *porter) serve(id int64, path string) (approvals.ServedSocket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return nil, p.fails
	}
	if _, ok := p.open[id]; ok {
		return nil, errors.New("served twice")
	}
	p.open[id] = path
	delete(p.fallen, id)
	return served{p, id}, nil
}

func (p *porter) set(f func(*porter)) { p.mu.Lock(); f(p); p.mu.Unlock() }

func (p *porter) now() (open []int64, closed []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.open {
		open = append(open, id)
	}
	slices.Sort(open)
	return open, slices.Clone(p.closed)
}

func TestSockets(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	p := &porter{open: map[int64]string{}}
	w.serve = p.serve
	w.stop()
	w.start()
	b := w.browse()
	w.create()
	add := func(user, path, want string) {
		t.Helper()
		if out, err := w.owner.AddSocket(ctx, approvals.FurtherUser{User: user, Path: path}); err != nil || out.Code != want {
			t.Fatalf("add %q %q: %+v, %v; want %s", user, path, out, err, want)
		}
	}
	served := func(want ...int64) {
		t.Helper()
		if open, closed := p.now(); !slices.Equal(open, want) {
			t.Fatalf("served %v, want %v (closed %v)", open, want, closed)
		}
	}
	add("1001", "", keys.CodeNoPasskey)
	w.enrol()
	for user, want := range map[string]string{"nobody-of-this-name": approvals.OutcomeUnknownUser, "-1": approvals.OutcomeUnknownUser, "4294967295": approvals.OutcomeUnknownUser, "0": "own_user"} {
		add(user, "", want)
	}
	add("1001", "relative", approvals.OutcomeSocketPath)
	b.set(func(b *browser) { b.ends = "cancelled" })
	add("1001", "", "cancelled")
	b.set(func(b *browser) { b.ends = "" })
	served()
	if len(w.owner.Sockets()) != 0 || w.entries(string(journal.KindSocketAdded)) != 0 {
		t.Fatal("something was added")
	}

	add("1001", "", approvals.OutcomeDone)
	served(1001)
	add("1001", "", journal.CodeTwice)
	add("1002", "/srv/other/s.sock", approvals.OutcomeDone)
	served(1001, 1002)
	list := w.owner.Sockets()
	if len(list) != 2 || list[0].UserID != 1001 || !list[0].Served || list[0].Path != "/srv/v-"+w.owner.Status().Public.Vault[:8]+"-1001/s.sock" || list[1].Path != "/srv/other/s.sock" {
		t.Fatalf("%+v", list)
	}
	if report := w.receiptOf(journal.KindSocketAdded).Verify(receipt.Pins{Card: w.card()}); !report.Valid || !report.PasskeyPinned || report.By != "passkey" {
		t.Errorf("%+v", report)
	}

	// One that is cleared away, with its folder, is made again; where it cannot be, the owner is told, and it is tried again.
	p.set(func(p *porter) { p.fallen = map[int64]bool{1001: true} })
	w.desk.Tick(ctx)
	served(1001, 1002)
	if _, closed := p.now(); !slices.Equal(closed, []string{"1001 false"}) {
		t.Errorf("closed %v", closed)
	}
	p.set(func(p *porter) { p.fallen[1002], p.fails = true, codedError{} })
	w.desk.Tick(ctx)
	served(1001)
	if list := w.owner.Sockets(); !list[0].Served || list[1].Served || list[1].Trouble != "socket_in_use" {
		t.Errorf("%+v", list)
	}
	p.set(func(p *porter) { p.closed, p.fails = nil, nil })
	w.desk.Tick(ctx)
	served(1001, 1002)

	// Over a lock they go on, so that who asks is told why nobody answers; removing needs no unlocked vault.
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	served(1001, 1002)
	if err := w.owner.RemoveSocket(ctx, 1001); err != nil {
		t.Fatal(err)
	}
	served(1002)
	if err := w.owner.RemoveSocket(ctx, 1001); code(err) != journal.CodeUnknownSocket {
		t.Errorf("removed twice: %v", err)
	}

	// A desk that starts opens none before the key process has taken the log.
	w.stop()
	served()
	if _, closed := p.now(); !slices.Equal(closed, []string{"1001 true", "1002 false"}) {
		t.Errorf("closed %v", closed)
	}
	w.start()
	served()
	if list := w.owner.Sockets(); len(list) != 1 || list[0].Served {
		t.Errorf("%+v", list)
	}
	p.set(func(p *porter) { p.fails = codedError{} })
	w.unlock()
	if list := w.owner.Sockets(); len(list) != 1 || list[0].Served || list[0].Trouble != "socket_in_use" {
		t.Errorf("%+v", list)
	}
	p.set(func(p *porter) { p.fails = nil })
	w.desk.Tick(ctx)
	served(1002)
	if list := w.owner.Sockets(); !list[0].Served || list[0].Trouble != "" {
		t.Errorf("%+v", list)
	}
	w.verified()

	// A new instance has none.
	if err := w.owner.NewInstance(ctx); err != nil {
		t.Fatal(err)
	}
	served()
	if list := w.owner.Sockets(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// What a new instance suspends is refused before anybody is asked, is listed, and can be used again so often as the owner
// said with a passkey.
func TestReadmission(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	b := w.browse()
	w.create()
	w.enrol()
	a := w.pair("Before")
	env := w.envelope(nil)
	if out := a.grant(env, 3); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	if ans, err := a.ask("r2", env, payload("two"), false); err != nil || ans.Result == nil {
		t.Fatal(err)
	}
	other := w.envelope(func(f *envelope.ActionFields) { f.ActionIndex = 9 })
	if out := a.grant(other, 2); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	if list, err := w.owner.Suspended(); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	w.clock.pass(time.Second)
	if err := w.owner.NewInstance(ctx); err != nil {
		t.Fatal(err)
	}
	e, err := envelope.ParseActionEnvelope(env)
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.owner.Suspended()
	if err != nil || len(list) != 2 || list[0].Known || list[1].Known || list[0].Agent != "Before" {
		t.Fatalf("%+v, %v", list, err)
	}
	readmit := func(hash string, uses int64, want string) {
		t.Helper()
		if out, err := w.owner.Readmit(ctx, hash, uses); err != nil || out.Code != want {
			t.Fatalf("%+v, %v; want %s", out, err, want)
		}
	}
	readmit(e.Hash(), 2, approvals.OutcomeUnknownEnvelope)

	n := w.pair("After")
	if _, err := n.ask("s1", env, payload("one"), true); code(err) != approvals.CodeSuspended || len(w.owner.Inbox()) != 0 {
		t.Fatalf("%v, %+v", err, w.owner.Inbox())
	}
	if list, err = w.owner.Suspended(); err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	s := list[0]
	if !s.Known || s.EnvelopeHash != e.Hash() || s.Operation != "send-message" || s.Domain != "support-ops" || s.MaxUses != 100 || s.UsedBefore != 2 ||
		s.Agent != "After" || s.Asked != 1 || s.Readmitted != 0 || list[1].Known || list[1].UsedBefore != 1 {
		t.Fatalf("%+v", list)
	}
	readmit(e.Hash(), 101, "readmit_limits")
	readmit(e.Hash(), 0, approvals.CodeMalformed)
	b.set(func(b *browser) { b.ends = "page_closed" })
	readmit(e.Hash(), 2, "page_closed")
	if _, err := n.ask("s2", env, payload("one"), true); code(err) != approvals.CodeSuspended {
		t.Fatal(err)
	}
	b.set(func(b *browser) { b.ends = "" })
	readmit(e.Hash(), 2, approvals.OutcomeDone)
	readmit(e.Hash(), 2, journal.CodeTwice)
	if report := w.receiptOf(journal.KindReadmitted).Verify(receipt.Pins{Card: w.card()}); !report.Valid || !report.PasskeyPinned {
		t.Errorf("%+v", report)
	}
	for i := range 2 {
		if _, err := n.ask(fmt.Sprint("t", i), env, payload(fmt.Sprint(i)), true); err != nil {
			t.Fatal(err)
		}
		sheet := w.openFirst()
		if sheet.Action.Used != 98+int64(i) || *sheet.Action.MaxUses != 100 || sheet.Action.Grantable != (i == 0) || sheet.Action.GrantUsesMax != 1-int64(i) {
			t.Errorf("%+v", sheet.Action)
		}
		if out := w.decide(sheet, approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
			t.Fatalf("%+v", out)
		}
	}
	if _, err := n.ask("t3", env, payload("3"), true); code(err) != approvals.CodeUsesSpent {
		t.Fatal(err)
	}
	if list, err = w.owner.Suspended(); err != nil || list[0].Readmitted != 2 || list[0].Used != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	w.verified()
	w.stop()
	w.start()
	w.unlock()
	// What was admitted is in the log; the envelope's words come with the next who asks.
	if list, err = w.owner.Suspended(); err != nil || len(list) != 2 || !slices.ContainsFunc(list, func(s approvals.SuspendedView) bool { return s.Readmitted == 2 && s.Used == 2 }) {
		t.Fatalf("%+v, %v", list, err)
	}
}
