package elsewhere

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/permit"
)

// desk is an owner's desk with one row.
type desk struct {
	approvals.Owner // any other method is not expected to be called
	mu              sync.Mutex
	sheet           approvals.Sheet
	passkeys        int
	opened          string
	asking          bool
	outcome         approvals.Outcome
	refusal         error // of Decide
	sockets         []approvals.SocketView
	cancel          chan struct{}
	told            func()

	decided       []approvals.Decision
	opens, closed int
}

func newDesk() *desk {
	return &desk{passkeys: 1, outcome: approvals.Outcome{Code: "done"}, sheet: approvals.Sheet{
		ID: "p_1", Digest: "0x11", Kind: approvals.ItemPairing, Merged: 1,
		Pairing: &approvals.PairingSheet{Digits: "004217", Claimed: "helper\x1b[2J"},
	}}
}

func (d *desk) Inbox() []approvals.Item {
	return []approvals.Item{{ID: d.sheet.ID, Kind: d.sheet.Kind, Merged: 1, Next: true}}
}

func (d *desk) Look(_ context.Context, id string) (approvals.Sheet, error) {
	if id != d.sheet.ID {
		return approvals.Sheet{}, &approvals.Refusal{Code: "gone"}
	}
	return d.sheet, nil
}

func (d *desk) Open(ctx context.Context, id string) (approvals.Sheet, error) {
	d.opens++
	return d.Look(ctx, id)
}
func (d *desk) Policy() permit.Policy             { return permit.Policy{} }
func (d *desk) Opened() string                    { return d.opened }
func (d *desk) Closed(string)                     { d.closed++ }
func (d *desk) Passkeys() []approvals.PasskeyView { return make([]approvals.PasskeyView, d.passkeys) }
func (d *desk) Watch(f func()) func() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = f
	return func() {}
}

func (d *desk) Ceremony() (approvals.CeremonyView, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return approvals.CeremonyView{For: "p_1", State: approvals.CeremonyReady, Says: []string{"Pair “helper”"}}, d.asking
}

func (d *desk) CancelCeremony() { close(d.cancel) }

func (d *desk) Decide(_ context.Context, x approvals.Decision) (approvals.Outcome, error) {
	d.decided = append(d.decided, x)
	if d.cancel == nil {
		return d.outcome, d.refusal
	}
	d.mu.Lock()
	d.asking = true
	told := d.told
	d.mu.Unlock()
	told()
	<-d.cancel
	return approvals.Outcome{Code: "cancelled"}, nil
}

func ask(d *desk, q Question) (text string, last Told) {
	Answer(context.Background(), d, time.UTC, q, func(t Told) { text += t.Text; last = t })
	return text, last
}

func TestLookingOpensNothing(t *testing.T) {
	d := newDesk()
	text, last := ask(d, Question{Do: "pending"})
	if !strings.Contains(text, "request: p_1") || last.Code != "done" {
		t.Errorf("pending: %q, %+v", text, last)
	}
	text, last = ask(d, Question{Do: "show", ID: "p_1"})
	if !strings.Contains(text, "By passkey: pairing.") || !strings.Contains(text, "vault decide asks for a passkey") {
		t.Errorf("show does not say what asks for a passkey: %q", text)
	}
	if !strings.Contains(text, "004217") || last.Digest != "0x11" || strings.Contains(text, "\x1b") {
		t.Errorf("show: %q, %+v", text, last)
	}
	if _, last = ask(d, Question{Do: "show", ID: "p_2"}); last.Code != "gone" {
		t.Errorf("show of another: %+v", last)
	}
	if d.opens+d.closed+len(d.decided) != 0 {
		t.Error("looking opened or decided something")
	}
}

// Whatever is asked, nothing is decided but by a ceremony: each decision that reaches the desk asks for one.
func TestDecidingAlwaysAsksForAPasskey(t *testing.T) {
	for _, verdict := range []string{"approve", "option", "decline"} {
		d := newDesk()
		if _, last := ask(d, Question{Do: "decide", ID: "p_1", Digest: "0x11", Verdict: verdict}); last.Code != "done" {
			t.Errorf("%s: %+v", verdict, last)
		}
		if len(d.decided) != 1 || !d.decided[0].Confirm || !d.decided[0].Elsewhere || d.decided[0].Digest != "0x11" {
			t.Errorf("%s: decided %+v", verdict, d.decided)
		}
	}
}

func TestWhatIsNotDecided(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*desk, *Question)
		want   string
	}{
		"no passkey":       {func(d *desk, _ *Question) { d.passkeys = 0 }, "no_passkey"},
		"a sheet is open":  {func(d *desk, _ *Question) { d.opened = "p_1" }, "another_open"},
		"a ceremony is":    {func(d *desk, _ *Question) { d.asking = true }, "ceremony_open"},
		"another digest":   {func(_ *desk, q *Question) { q.Digest = "0x12" }, "changed"},
		"another request":  {func(_ *desk, q *Question) { q.ID = "p_2" }, "gone"},
		"a grant":          {func(_ *desk, q *Question) { q.Verdict = "grant" }, "malformed"},
		"a block":          {func(_ *desk, q *Question) { q.Verdict = "decline_and_block" }, "malformed"},
		"an answer":        {func(_ *desk, q *Question) { q.Verdict = "answer" }, "malformed"},
		"another question": {func(_ *desk, q *Question) { q.Do = "unlock" }, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			q := Question{Do: "decide", ID: "p_1", Digest: "0x11", Verdict: "approve"}
			c.change(d, &q)
			if _, last := ask(d, q); last.Code != c.want {
				t.Errorf("%+v", last)
			}
			if len(d.decided)+d.opens != 0 {
				t.Error("something reached the desk")
			}
		})
	}
}

func TestUndecidedSheetIsClosed(t *testing.T) {
	for _, code := range []string{"timed_out", "locked", "away", "changed", "no_passkey", "store_failed", "name_invalid", "cooling"} {
		d := newDesk()
		d.outcome.Code = code
		if _, last := ask(d, Question{Do: "decide", ID: "p_1", Digest: "0x11", Verdict: "approve"}); last.Code != code || d.closed != 1 {
			t.Errorf("%+v, closed %d", last, d.closed)
		}
	}
}

// Over the socket: who goes away goes back from the ceremony.
func TestGoingAwayCancels(t *testing.T) {
	d := newDesk()
	d.cancel = make(chan struct{})
	folder := t.TempDir()
	l, err := Listen(t.Context(), folder, d, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, leave := context.WithCancel(t.Context())
	_, err = Ask(ctx, folder, Question{Do: "decide", ID: "p_1", Digest: "0x11", Verdict: "approve"}, func(x Told) error {
		if strings.Contains(x.Text, "Pair “helper”") {
			leave()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	<-d.cancel
}

func TestNobodyListens(t *testing.T) {
	if _, err := Ask(t.Context(), t.TempDir(), Question{Do: "pending"}, nil); !errors.Is(err, ErrNobody) {
		t.Errorf("%v", err)
	}
}

// What a request cannot be answered with is told apart from a passkey's answer that is malformed.
func TestWrongAnswer(t *testing.T) {
	d := newDesk()
	d.refusal = &approvals.Refusal{Code: approvals.CodeMalformed}
	if _, last := ask(d, Question{Do: "decide", ID: "p_1", Digest: "0x11", Verdict: "option"}); last.Code != "wrong_answer" || d.closed != 1 {
		t.Errorf("%+v, closed %d", last, d.closed)
	}
	d = newDesk()
	d.outcome.Code = "malformed"
	if _, last := ask(d, Question{Do: "decide", ID: "p_1", Digest: "0x11", Verdict: "approve"}); last.Code != "malformed" {
		t.Errorf("%+v", last)
	}
}

// A desk that ends before it answers was there: what became of the question is not known.
func TestDeskThatEnds(t *testing.T) {
	folder := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, maxAsked))
		_, _ = c.Write([]byte(`{"text":"A page opens"}` + "\n"))
		_ = c.Close()
	}()
	if _, err := Ask(t.Context(), folder, Question{Do: "decide"}, func(Told) error { return nil }); !errors.Is(err, ErrEnded) || errors.Is(err, ErrNobody) {
		t.Errorf("%v", err)
	}
}

// A question that no desk would read to its end is refused as what it is, not said to have found nobody.
func TestQuestionThatIsTooLong(t *testing.T) {
	folder := t.TempDir()
	l, err := Listen(t.Context(), folder, newDesk(), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, q := range []Question{{Do: "show", ID: strings.Repeat("a", 100_000)}, {Do: "decide", Digest: strings.Repeat("a", maxAsked)}} {
		var last Told
		code, err := Ask(t.Context(), folder, q, func(x Told) error { last = x; return nil })
		if err != nil || code != "question_too_long" || last.Code != code {
			t.Errorf("%s: %q, %+v, %v", q.Do, code, last, err)
		}
	}
}
