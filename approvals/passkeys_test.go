package approvals_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/receipt"
	"vault/derive/confirm"
	"vault/internal/softkey"
	"vault/sign"
)

// browser answers pages with a software passkey; several may be open one after the other.
type browser struct {
	mu    sync.Mutex
	key   *softkey.Key
	ends  string        // outcome instead of an answer
	waits chan struct{} // a page waits for it, or for its end
	opens []sign.PageTask
}

func (b *browser) set(f func(*browser)) { b.mu.Lock(); f(b); b.mu.Unlock() }

type page struct {
	b            *browser
	origin, rpID string
}

func (p *page) Begin(_ context.Context, rpID string) (string, error) {
	p.rpID, p.origin = rpID, "http://"+rpID+":40123"
	return p.origin, nil
}

func (p *page) Run(ctx context.Context, task sign.PageTask, notify func(keys.Step)) ([]byte, error) {
	p.b.mu.Lock()
	ends, waits := p.b.ends, p.b.waits
	p.b.opens = append(p.b.opens, task)
	p.b.mu.Unlock()
	notify(keys.Step{Kind: keys.StepReady})
	notify(keys.Step{Kind: keys.StepNoBrowser, Link: p.origin + "/#token"})
	if waits != nil {
		select {
		case <-waits:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if ends != "" {
		return nil, &sign.PageEnd{Outcome: ends, Detail: "as the test wants it"}
	}
	notify(keys.Step{Kind: keys.StepOpened})
	p.b.mu.Lock()
	key := p.b.key
	p.b.mu.Unlock()
	if task.Enrol != nil {
		return key.Register(task.Challenge, p.origin, p.rpID), nil
	}
	return key.Assert(task.Challenge, p.origin, p.rpID), nil
}

func (*page) Compared(bool) error { return nil }
func (*page) Finish(bool, string) {}
func (*page) Close()              {}

// browse gives the vault a browser; it has to be called before the vault is opened.
func (w *world) browse() *browser {
	b := &browser{key: softkey.New()}
	w.keys.config = func(c *sign.Config) {
		c.Page = func(context.Context) (sign.Page, error) { return &page{b: b}, nil }
	}
	return b
}

// until waits for the ceremony to be in a state.
func (w *world) until(state approvals.CeremonyState) approvals.CeremonyView {
	w.t.Helper()
	seen := make(chan struct{}, 1)
	stop := w.owner.Watch(func() {
		select {
		case seen <- struct{}{}:
		default:
		}
	})
	defer stop()
	limit := time.After(20 * time.Second)
	for {
		v, _ := w.owner.Ceremony()
		if v.State == state {
			return v
		}
		select {
		case <-seen:
		case <-limit:
			w.t.Errorf("the ceremony is %+v, not %s", v, state)
			return v
		}
	}
}

// enrol enrols the passkey that the browser holds.
func (w *world) enrol() approvals.PasskeyView {
	w.t.Helper()
	done := make(chan approvals.Outcome, 1)
	go func() {
		out, err := w.owner.EnrolPasskey(context.Background(), approvals.Enrolment{Surface: keys.SurfaceTerminal})
		if err != nil {
			w.t.Error(err)
		}
		done <- out
	}()
	v := w.until(approvals.CeremonyMine)
	if v.Passkey == nil || v.Digits != v.Passkey.Digits || len(v.Digits) != 6 {
		w.t.Fatalf("%+v", v)
	}
	if err := w.owner.Compared(context.Background(), true); err != nil {
		w.t.Fatal(err)
	}
	if out := <-done; out.Code != approvals.OutcomeDone {
		w.t.Fatalf("%+v", out)
	}
	if _, open := w.owner.Ceremony(); open {
		w.t.Error("the ceremony is still open")
	}
	list := w.owner.Passkeys()
	return list[len(list)-1]
}

func (w *world) newest() approvals.Event {
	w.t.Helper()
	events, err := w.owner.Events(approvals.EventFilter{Limit: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	return events[0]
}

// receiptOf is the receipt of the newest entry of a kind.
func (w *world) receiptOf(kind journal.Kind) *receipt.Receipt {
	w.t.Helper()
	events, err := w.owner.Events(approvals.EventFilter{Kind: string(kind), Limit: 1})
	if err != nil || len(events) == 0 {
		w.t.Fatalf("no %s in the log (%v)", kind, err)
	}
	raw, err := w.owner.Receipt(context.Background(), events[0].Seq)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := receipt.Parse(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) card() *confirm.OwnerCard {
	w.t.Helper()
	raw, out, err := w.owner.ExportCard(context.Background())
	if err != nil || out.Code != approvals.OutcomeDone {
		w.t.Fatalf("%+v, %v", out, err)
	}
	card, err := confirm.ParseOwnerCard(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	if !card.Verify(w.owner.Status().Public.OwnerKey).Pinned {
		w.t.Error("the card is not the owner's")
	}
	return card
}

func TestPasskeys(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	before := w.pair("Before")
	first := w.enrol()
	firstKey := b.key
	if w.owner.Status().Public.Passkeys != 1 || first.Kind != "security_key" {
		t.Fatalf("%+v", first)
	}

	// Pairing and granting wait for it, and give more than a click could.
	a := w.pair("After")
	r := w.receiptOf(journal.KindClientPaired)
	if report := r.Verify(receipt.Pins{}); !report.Valid || report.By != "passkey" || report.PasskeyPinned {
		t.Fatalf("%+v", report)
	}
	env := w.envelope(nil)
	if _, err := a.ask("r1", env, payload("one"), true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	if s.Frame != "" || s.Action.GrantUsesMax != 99 || s.Action.GrantUses != 10 {
		t.Fatalf("%+v", s.Action)
	}
	out, err := w.owner.Decide(context.Background(), approvals.Decision{
		ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictGrant, GrantUses: 50, GrantUntil: w.clock.Now() + 40*3600_000,
	})
	if err != nil || out.Code != approvals.OutcomeDone || out.Signature == "" || out.Grant == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	list := w.owner.Clients()
	if g := list[slices.IndexFunc(list, func(c approvals.ClientView) bool { return c.ID == a.id })].Grants; len(g) != 1 || g[0].Uses != 51 || g[0].Used != 1 || g[0].By != "passkey" {
		t.Fatalf("%+v", g)
	}
	signed := w.keys.signed.Load()
	if ans, err := a.ask("r2", env, payload("two"), false); err != nil || ans.Result == nil || w.keys.signed.Load() != signed+1 {
		t.Fatalf("under the grant: %+v, %v", ans, err)
	}

	// A single signature is a click, until a rule says otherwise.
	if _, err := before.ask("r1", env, payload("three"), true); err != nil {
		t.Fatal(err)
	}
	if out := w.decide(w.openFirst(), approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	opened := len(b.opens)
	rule := permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery, Client: before.id}}}
	if out, err := w.owner.SetPolicy(context.Background(), rule); err != nil || out.Code != approvals.OutcomeDone || len(b.opens) != opened {
		t.Fatalf("tightened: %+v, %v", out, err)
	}
	if got := w.owner.Policy(); len(got.Rules) != 1 || got.Rules[0] != rule.Rules[0] {
		t.Fatalf("%+v", got)
	}
	if _, err := before.ask("r2", env, payload("four"), true); err != nil {
		t.Fatal(err)
	}
	s = w.openFirst()
	signed = w.keys.signed.Load()
	b.set(func(b *browser) { b.ends = "cancelled" })
	if out := w.decide(s, approvals.VerdictApprove); out.Code != "cancelled" || w.keys.signed.Load() != signed {
		t.Fatalf("cancelled: %+v", out)
	}
	if items := w.owner.Inbox(); len(items) != 1 || items[0].ID != s.ID {
		t.Fatalf("the sheet has gone: %+v", items)
	}
	b.set(func(b *browser) { b.ends = "" })
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeDone || w.keys.signed.Load() != signed+1 {
		t.Fatalf("%+v", out)
	}

	// A card and a receipt are enough for a stranger; the receipt alone is not.
	card := w.card()
	r = w.receiptOf(journal.KindActionSigned)
	if report := r.Verify(receipt.Pins{Card: card}); !report.Valid || !report.PasskeyPinned || !report.LogPinned || report.By != "passkey" {
		t.Fatalf("%+v", report)
	}
	if report := r.Verify(receipt.Pins{}); !report.Valid || report.PasskeyPinned || report.LogPinned {
		t.Fatalf("unpinned: %+v", report)
	}

	// The second passkey takes the first one's place.
	b.set(func(b *browser) { b.key = softkey.New() })
	second := w.enrolWith(b, firstKey)
	if len(w.owner.Passkeys()) != 2 {
		t.Fatal("there are not two passkeys")
	}
	if out, err := w.owner.RemovePasskey(context.Background(), first.ID); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if list := w.owner.Passkeys(); len(list) != 1 || list[0].ID != second.ID {
		t.Fatalf("%+v", list)
	}
	if out, err := w.owner.RemovePasskey(context.Background(), second.ID); err != nil || out.Code != keys.CodeLastPasskey {
		t.Fatalf("%+v, %v", out, err)
	}
	// What the removed one confirmed stays confirmed.
	if report := r.Verify(receipt.Pins{Card: w.card()}); !report.PasskeyPinned {
		t.Fatalf("%+v", report)
	}
	// Loosening needs a passkey; the first one is not one any more.
	good := b.key
	b.set(func(b *browser) { b.key = firstKey })
	if out, err := w.owner.SetPolicy(context.Background(), permit.Policy{}); err != nil || out.Code != "unknown_credential" {
		t.Fatalf("%+v, %v", out, err)
	}
	b.set(func(b *browser) { b.key = good })
	if out, err := w.owner.SetPolicy(context.Background(), permit.Policy{}); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}

	rates, err := w.owner.ClickRates(0)
	if err != nil {
		t.Fatal(err)
	}
	var clicks, confirmed int64
	for _, r := range rates {
		clicks, confirmed = clicks+r.Clicks, confirmed+r.Passkeys
		if r.Hour%3600_000 != 0 {
			t.Errorf("%+v", r)
		}
	}
	if clicks != 2 || confirmed != 3 { // paired, signed; paired, granted, signed
		t.Errorf("%d clicks and %d passkeys in %+v", clicks, confirmed, rates)
	}

	// An export of the log carries every record beside its entry.
	var exported strings.Builder
	if err := w.owner.ExportLog(context.Background(), &exported, "jsonl"); err != nil {
		t.Fatal(err)
	}
	named, carried := strings.Count(exported.String(), `"confirmation":"0x`), strings.Count(exported.String(), `,"evidence":{`)
	if named != 9 || carried != named {
		t.Errorf("%d entries name a record, %d carry it", named, carried)
	}

	// All of it stands in a log that verifies, and outlives the desk.
	w.stop()
	w.start()
	w.unlock()
	if list := w.owner.Passkeys(); len(list) != 1 || list[0].LastUse == 0 {
		t.Fatalf("%+v", list)
	}
	if report, err := w.owner.VerifyLog(context.Background()); err != nil || !report.OK {
		t.Fatalf("%+v, %v", report, err)
	}
}

// enrolWith enrols the browser's passkey, which another one confirms.
func (w *world) enrolWith(b *browser, confirms *softkey.Key) approvals.PasskeyView {
	w.t.Helper()
	done := make(chan approvals.Outcome, 1)
	go func() {
		out, err := w.owner.EnrolPasskey(context.Background(), approvals.Enrolment{Surface: keys.SurfaceTerminal})
		if err != nil {
			w.t.Error(err)
		}
		done <- out
	}()
	w.until(approvals.CeremonyMine)
	fresh := b.key
	waits := make(chan struct{})
	b.set(func(b *browser) { b.waits = waits })
	if err := w.owner.Compared(context.Background(), true); err != nil {
		w.t.Fatal(err)
	}
	waits <- struct{}{} // its own first answer
	if v := w.until(approvals.CeremonyNoBrowser); v.For == "try" {
		// The next page is the enrolled one's.
		for v.For != "add" {
			v = w.until(approvals.CeremonyNoBrowser)
		}
	}
	b.set(func(b *browser) { b.key = confirms })
	waits <- struct{}{}
	if out := <-done; out.Code != approvals.OutcomeDone {
		w.t.Fatalf("%+v", out)
	}
	b.set(func(b *browser) { b.key, b.waits = fresh, nil })
	list := w.owner.Passkeys()
	return list[len(list)-1]
}

// askedUnderEvery is a world with a browser, an agent, a passkey and the rule that every signature wants it, in which the
// agent has asked for r1 and its sheet is open.
func askedUnderEvery(t *testing.T) (*world, *browser, *agent, approvals.Sheet) {
	t.Helper()
	w := newWorld(t)
	b := w.browse()
	w.create()
	a := w.pair("Agent")
	w.enrol()
	if out, err := w.owner.SetPolicy(context.Background(), permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeEvery}}}); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, err := a.ask("r1", w.envelope(nil), payload("one"), true); err != nil {
		t.Fatal(err)
	}
	return w, b, a, w.openFirst()
}

func TestCeremonyThatNobodyAnswers(t *testing.T) {
	w, b, _, s := askedUnderEvery(t)
	signed := w.keys.signed.Load()
	b.set(func(b *browser) { b.ends = "not_opened" })
	for _, want := range []string{"not_opened", "not_opened", approvals.OutcomeCooling} {
		if out := w.decide(s, approvals.VerdictApprove); out.Code != want {
			t.Fatalf("%+v, not %s", out, want)
		}
	}
	b.set(func(b *browser) { b.ends = "" })
	w.clock.pass(4 * time.Minute)
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeCooling {
		t.Fatalf("%+v", out)
	}
	w.clock.pass(2 * time.Minute)
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeDone || w.keys.signed.Load() != signed+1 {
		t.Fatalf("%+v", out)
	}
}

// What happens around an open ceremony: it is the only one, its owner can end it, and a lock ends it too.
func TestCeremonyIsEnded(t *testing.T) {
	w, b, a, s := askedUnderEvery(t)
	signed := w.keys.signed.Load()
	b.set(func(b *browser) { b.waits = make(chan struct{}) })
	begin := func() chan approvals.Outcome {
		done := make(chan approvals.Outcome, 1)
		go func() {
			out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove})
			if err != nil {
				t.Error(err)
			}
			done <- out
		}()
		return done
	}
	done := begin()
	v := w.until(approvals.CeremonyNoBrowser)
	if v.For != s.ID || !strings.HasPrefix(v.Link, "http://vault-") || !slices.ContainsFunc(v.Says, func(l string) bool { return strings.Contains(l, "send-message") }) {
		t.Fatalf("%+v", v)
	}
	if _, out, err := w.owner.ExportCard(context.Background()); err != nil || out.Code != keys.CodeCeremonyOpen {
		t.Fatalf("%+v, %v", out, err)
	}
	// The agent sees what it always sees.
	if ans, err := a.conn.Await(context.Background(), "r1"); err != nil || ans.Pending != "r1" {
		t.Fatalf("%+v, %v", ans, err)
	}
	w.owner.CancelCeremony()
	if out := <-done; out.Code != "cancelled" {
		t.Fatalf("%+v", out)
	}
	done = begin()
	w.until(approvals.CeremonyNoBrowser)
	if err := w.owner.Lock(context.Background(), "asked"); err != nil {
		t.Fatal(err)
	}
	if out := <-done; out.Code == approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	if _, open := w.owner.Ceremony(); open || w.keys.signed.Load() != signed {
		t.Error("the ceremony outlived the lock, or something was signed")
	}
}

func TestWordsAndProtectionNeedAPasskey(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	w.enrol()
	b.set(func(b *browser) { b.ends = "cancelled" })
	if err := w.owner.ShowWords(context.Background(), keys.SurfaceTerminal); code(err) != "cancelled" {
		t.Fatalf("%v", err)
	}
	b.set(func(b *browser) { b.ends = "" })
	if err := w.owner.ShowWords(context.Background(), keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	if e := w.newest(); e.Kind != string(journal.KindWordsShown) {
		t.Fatalf("%+v", e)
	}
	if r := w.receiptOf(journal.KindActConfirmed); !r.Verify(receipt.Pins{}).Valid {
		t.Error("the receipt of the confirmation does not verify")
	}
}

// A surface that no person alone can move asks for the passphrase until there is a passkey, and then for that; one that
// may do nothing else asks for it always.
func TestSurfacesThatApproveByCeremony(t *testing.T) {
	w := newWorld(t)
	b := w.browse()
	w.create()
	a := w.pair("Agent")
	if _, err := a.ask("r0", w.envelope(nil), payload("zero"), true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	decide := func(prove keys.Surface, confirm bool) approvals.Outcome {
		t.Helper()
		out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove, Prove: prove, Confirm: confirm})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := decide("", true); out.Code != approvals.OutcomeNoPasskey || w.keys.signed.Load() != 0 {
		t.Fatalf("%+v", out)
	}
	if out := decide(keys.SurfaceTerminal, false); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
	w.enrol()
	for i, way := range []struct {
		prove   keys.Surface
		confirm bool
	}{{keys.SurfaceTerminal, false}, {"", true}} {
		if _, err := a.ask("r"+string(rune('1'+i)), w.envelope(nil), payload("more"), true); err != nil {
			t.Fatal(err)
		}
		s = w.openFirst()
		pages := len(b.opens)
		if out := decide(way.prove, way.confirm); out.Code != approvals.OutcomeDone || len(b.opens) != pages+1 {
			t.Fatalf("%+v, %d pages", out, len(b.opens)-pages)
		}
		if report := w.receiptOf(journal.KindActionSigned).Verify(receipt.Pins{}); report.By != "passkey" {
			t.Errorf("%+v", report)
		}
	}
}

// A grant that a click made does not outlive a rule that asks for a passkey: the agent's next request is shown.
func TestRuleAfterAClickedGrant(t *testing.T) {
	w := newWorld(t)
	w.browse()
	w.create()
	a := w.pair("Agent")
	env := w.envelope(nil)
	if _, err := a.ask("r1", env, payload("one"), true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	out, err := w.owner.Decide(context.Background(), approvals.Decision{
		ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictGrant, GrantUses: 5, GrantUntil: w.clock.Now() + 3600_000,
	})
	if err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	w.enrol()
	if _, err := w.owner.SetPolicy(context.Background(), permit.Policy{Rules: []permit.Rule{{Scope: permit.ScopeAction}}}); err != nil {
		t.Fatal(err)
	}
	signed := w.keys.signed.Load()
	if ans, err := a.ask("r2", env, payload("two"), true); err != nil || ans.Pending != "r2" || w.keys.signed.Load() != signed {
		t.Fatalf("%+v, %v", ans, err)
	}
	if out := w.decide(w.openFirst(), approvals.VerdictApprove); out.Code != approvals.OutcomeDone || w.keys.signed.Load() != signed+1 {
		t.Fatalf("%+v", out)
	}
}

// A row that is decided elsewhere while its page is open: what is confirmed then is for nothing, and the next ceremony
// does not wait for that one's end.
func TestCeremonyForWhatIsGone(t *testing.T) {
	w, b, _, s := askedUnderEvery(t)
	signed := w.keys.signed.Load()
	waits := make(chan struct{})
	b.set(func(b *browser) { b.waits = waits })
	done := make(chan approvals.Outcome, 1)
	go func() {
		out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove})
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	w.until(approvals.CeremonyNoBrowser)
	if out := w.decide(s, approvals.VerdictDecline); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("%+v", out)
	}
	b.set(func(b *browser) { b.waits = nil })
	close(waits)
	if out := <-done; out.Code != approvals.OutcomeDecided || w.keys.signed.Load() != signed {
		t.Fatalf("%+v", out)
	}
	w.card()
}

// Pages that somebody asks for over the folder's socket, and that no passkey answers, cool down what is asked for there:
// also where the owner went back from them, or whoever asked has gone. The owner is not cooled down.
func TestUnansweredElsewhere(t *testing.T) {
	for _, how := range []string{"page_closed", "cancelled", "contested"} {
		for _, asked := range []string{"deciding", "adding a socket"} {
			t.Run(asked+", "+how, func(t *testing.T) {
				w, b, _, s := askedUnderEvery(t)
				ends := func(outcome string) { b.set(func(b *browser) { b.ends = outcome }) }
				asks := map[string]func(context.Context) (approvals.Outcome, error){
					"deciding": func(ctx context.Context) (approvals.Outcome, error) {
						return w.owner.Decide(ctx, approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove, Confirm: true, Elsewhere: true})
					},
					"adding a socket": func(ctx context.Context) (approvals.Outcome, error) {
						return w.owner.AddSocket(ctx, approvals.FurtherUser{User: "1001", Elsewhere: true})
					},
				}
				code := func(asked string) string {
					t.Helper()
					out, err := asks[asked](context.Background())
					if err != nil {
						t.Fatal(err)
					}
					return out.Code
				}
				ends(how)
				if got := code(asked); got != how {
					t.Fatalf("%s, not %s", got, how)
				}
				// Whoever asked next goes away.
				ends("")
				waits := make(chan struct{})
				b.set(func(b *browser) { b.waits = waits })
				ctx, leave := context.WithCancel(context.Background())
				left := make(chan string)
				go func() {
					out, err := asks[asked](ctx)
					left <- fmt.Sprint(out.Code, err)
				}()
				w.until(approvals.CeremonyNoBrowser)
				leave()
				if got := <-left; got != "cancelled<nil>" {
					t.Fatal(got)
				}
				close(waits)
				b.set(func(b *browser) { b.waits = nil })
				opened := len(b.opens)
				if got := code(asked); got != approvals.OutcomeCooling || len(b.opens) != opened {
					t.Fatalf("%s, %d pages more", got, len(b.opens)-opened)
				}
				// The owner is asked, and so is what was not left unanswered.
				other := "deciding"
				if asked == other {
					other = "adding a socket"
					if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
						t.Fatalf("the owner: %+v", out)
					}
				}
				if got := code(other); got != approvals.OutcomeDone {
					t.Errorf("%s: %s", other, got)
				}
				w.clock.pass(5*time.Minute + time.Second)
				if asked == "adding a socket" {
					if got := code(asked); got != approvals.OutcomeDone {
						t.Errorf("when it has cooled down: %s", got)
					}
				}
			})
		}
	}
}
