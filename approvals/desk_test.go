package approvals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/receipt"
	"vault/derive/envelope"
)

func TestFirstSignature(t *testing.T) {
	w := newWorld(t)
	if s := w.owner.Status().State; s != approvals.StateNone {
		t.Fatalf("state %s", s)
	}
	w.create()
	a := w.pair("Support bot")
	env := w.envelope(nil)
	if ans, err := a.ask("r1", env, payload("hello"), false); code(err) != approvals.CodeNotShown {
		t.Fatalf("not interactive: %+v, %v", ans, err)
	}
	ans, err := a.ask("r1", env, payload("hello"), true)
	if err != nil || ans.Pending != "r1" {
		t.Fatalf("%+v, %v", ans, err)
	}
	if got := w.keys.signed.Load(); got != 0 {
		t.Fatalf("%d signatures before anybody decided", got)
	}
	s := w.openFirst()
	if s.Agent != "Support bot" || s.Action.Operation != "send-message" || s.Frame != "clicks" || s.Action.PayloadText != string(mustCanonical(t, payload("hello"))) {
		t.Fatalf("sheet %+v", s)
	}
	out := w.decide(s, approvals.VerdictApprove)
	if out.Code != approvals.OutcomeDone || out.Signature == "" {
		t.Fatalf("%+v", out)
	}
	ans, err = a.conn.Await(context.Background(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Signature   string          `json:"signature"`
		Address     string          `json:"agent_address"`
		Record      json.RawMessage `json:"record"`
		Head        json.RawMessage `json:"log_head"`
		Attestation json.RawMessage `json:"attestation"`
		By          string          `json:"by"`
		Seq         uint64          `json:"seq"`
	}
	if err := json.Unmarshal(ans.Result, &r); err != nil {
		t.Fatal(err)
	}
	if r.Signature != out.Signature || r.Address != s.Action.Address || r.By != "click" {
		t.Fatalf("result %s", ans.Result)
	}
	report := envelope.VerifyRecord(r.Record, payload("hello"), r.Signature, envelope.RecordOptions{Now: w.clock.Now()})
	if !report.Valid {
		t.Fatalf("offline: %+v", report)
	}
	dom := w.owner.Domains()[0]
	if rep := envelope.VerifyAddressAttestation(r.Attestation, envelope.AddressAttestation{
		DomainHash: dom.Hash, ActionEnvelopeHash: s.Action.EnvelopeHash, AgentAddress: r.Address,
	}, envelope.Pins{DomainAddress: dom.Address}); !rep.Valid {
		t.Fatalf("attestation: %+v", rep)
	}
	if h, err := journal.ParseHead(r.Head); err != nil || h.Seq != r.Seq {
		t.Fatalf("head %+v, %v", h, err)
	}
	rec, err := a.conn.RecordGet(context.Background(), "r1")
	if err != nil || !bytes.Equal(rec, r.Record) {
		t.Fatalf("record.get: %s, %v", rec, err)
	}
	for seq := uint64(1); seq <= r.Seq; seq++ {
		raw, err := w.owner.Receipt(context.Background(), seq)
		if err != nil {
			t.Fatalf("receipt %d: %v", seq, err)
		}
		rec, err := receipt.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		rep := rec.Verify(receipt.Pins{LogKey: w.owner.Status().Public.LogKey, DomainAddress: dom.Address})
		if !rep.Valid || !rep.LogPinned || rep.SignerPinned != (seq == r.Seq) {
			t.Fatalf("receipt %d: %+v", seq, rep)
		}
	}
	if _, err := w.owner.Receipt(context.Background(), r.Seq+1); code(err) != approvals.CodeUnknownRequest {
		t.Fatalf("receipt of nothing: %v", err)
	}
	w.verified()

	// The same id again: the same answer, nothing spent; other bytes: refused.
	again, err := a.ask("r1", env, payload("hello"), true)
	if err != nil || !bytes.Equal(again.Result, ans.Result) {
		t.Fatalf("again: %+v, %v", again, err)
	}
	if _, err := a.ask("r1", env, payload("hellx"), true); code(err) != approvals.CodeRequestIDReused {
		t.Fatal(err)
	}
	// And after a restart.
	w.stop()
	w.start()
	a.w = w
	w.unlock()
	a.connect()
	again, err = a.ask("r1", env, payload("hello"), true)
	if err != nil || !bytes.Equal(again.Result, ans.Result) {
		t.Fatalf("after a restart: %+v, %v", again, err)
	}
	if _, err := a.ask("r1", env, payload("hellx"), true); code(err) != approvals.CodeRequestIDReused {
		t.Fatal(err)
	}
	if got := w.entries("action.signed"); got != 1 || w.keys.signed.Load() != 1 {
		t.Fatalf("%d entries, %d signatures", got, w.keys.signed.Load())
	}
	w.verified()
}

func mustCanonical(t *testing.T, raw []byte) []byte {
	t.Helper()
	p, err := envelope.ParsePayload(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p.Canonical()
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("bot")
	good := w.envelope(nil)
	for _, c := range []struct {
		name          string
		env, pay      []byte
		id            string
		lifetime      int64
		session, want string
	}{
		{name: "not an envelope", env: []byte(`{}`), want: approvals.CodeMalformed},
		{name: "duplicate member", pay: []byte(`{"a":1,"a":2}`), want: approvals.CodeMalformed},
		{name: "float", pay: []byte(`1.5`), want: approvals.CodeMalformed},
		{name: "typed payload", pay: []byte(`{"type":"agentenvelope.mintRequest"}`), want: approvals.CodeTypedPayload},
		{name: "typed payload, other case", pay: []byte(`{"type":" AgentEnvelope.x"}`), want: approvals.CodeTypedPayload},
		{name: "other domain", env: bytes.Replace(good, []byte("support-ops"), []byte("support-opz"), 1), want: approvals.CodeUnknownDomain},
		{name: "expired", env: w.envelope(func(f *envelope.ActionFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(1), NotAfter: envelope.Some(2)}
		}), want: approvals.CodeEnvelopeExpired},
		{name: "not yet", env: w.envelope(func(f *envelope.ActionFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(w.clock.Now() + 60_000), NotAfter: envelope.Some(w.clock.Now() + 120_000)}
		}), want: approvals.CodeNotYetValid},
		{name: "no id", id: "-", want: approvals.CodeMalformed},
		{name: "control character", id: "a\x00", want: approvals.CodeMalformed},
		{name: "long id", id: strings.Repeat("a", 129), want: approvals.CodeMalformed},
		{name: "long session", session: strings.Repeat("a", 129), want: approvals.CodeMalformed},
		{name: "too long a life", lifetime: 24*3600_000 + 1, want: approvals.CodeMalformed},
		{name: "negative life", lifetime: -1, want: approvals.CodeMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := approvals.Ask{RequestID: "x", Session: c.session, Envelope: good, Payload: payload("x"), LifetimeMS: c.lifetime, Interactive: true}
			if c.env != nil {
				ask.Envelope = c.env
			}
			if c.pay != nil {
				ask.Payload = c.pay
			}
			if c.id == "-" {
				ask.RequestID = ""
			} else if c.id != "" {
				ask.RequestID = c.id
			}
			if ans, err := a.conn.ActionSign(context.Background(), ask); code(err) != c.want {
				t.Fatalf("%+v, %v", ans, err)
			}
		})
	}
	if n := len(w.owner.Inbox()); n != 0 {
		t.Fatalf("%d rows", n)
	}
}

func TestUnpairedCanOnlyPair(t *testing.T) {
	w := newWorld(t)
	w.create()
	ctx := context.Background()
	conv, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := w.pair("bot")
	unproven, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000}, a.id, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]approvals.Conversation{"unpaired": conv, "unproven": unproven} {
		want := map[string]string{"unpaired": approvals.CodeNotPaired, "unproven": approvals.CodeNotProven}[name]
		calls := map[string]func() error{
			"sign":   func() error { _, err := c.ActionSign(ctx, approvals.Ask{RequestID: "a"}); return err },
			"list":   func() error { _, err := c.DomainList(ctx); return err },
			"get":    func() error { _, err := c.DomainGet(ctx, "support-ops"); return err },
			"await":  func() error { _, err := c.Await(ctx, "a"); return err },
			"cancel": func() error { return c.Cancel(ctx, "a") },
			"record": func() error { _, err := c.RecordGet(ctx, "a"); return err },
			"end":    func() error { return c.SessionEnd(ctx, "s") },
		}
		for call, f := range calls {
			if err := f(); code(err) != want {
				t.Errorf("%s %s: %v", name, call, err)
			}
		}
		st, err := c.Status(ctx)
		if err != nil || bytes.Contains(st, []byte("log_head")) || !bytes.Contains(st, []byte(`"paired":false`)) {
			t.Errorf("%s status: %s, %v", name, st, err)
		}
	}
	if err := unproven.Prove(ctx, make([]byte, 32), nil); code(err) != approvals.CodeNotProven {
		t.Errorf("a wrong proof: %v", err)
	}
	if _, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1001}, a.id, make([]byte, 32)); code(err) != approvals.CodeOtherUser {
		t.Errorf("another user: %v", err)
	}
	if _, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000}, "c_0000000000000000", make([]byte, 32)); code(err) != approvals.CodeNotPaired {
		t.Errorf("unknown client: %v", err)
	}
}

func TestPairing(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	hello := func() approvals.Conversation {
		c, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000, Executable: "/bin/x"}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	begin := func(c approvals.Conversation, n byte) (approvals.PairOffer, []byte) {
		var nonce [32]byte
		nonce[0] = n
		o, err := c.PairBegin(ctx, approvals.PairAsk{Claimed: "x", Commitment: [32]byte(commit(nonce))})
		if err != nil {
			t.Fatal(err)
		}
		return o, nonce[:]
	}
	c1, c2 := hello(), hello()
	o1, n1 := begin(c1, 1)
	if _, err := c1.PairReveal(ctx, o1.Pairing, make([]byte, 32)); code(err) != approvals.CodePairingCommitment {
		t.Fatalf("another nonce: %v", err)
	}
	if _, err := c1.PairReveal(ctx, o1.Pairing, n1); code(err) != approvals.CodeUnknownPairing {
		t.Fatalf("a second try: %v", err)
	}
	o1, n1 = begin(c1, 1)
	o2, n2 := begin(c2, 1)
	if _, err := c2.PairReveal(ctx, o1.Pairing, n1); code(err) != approvals.CodeUnknownPairing {
		t.Fatalf("another connection's pairing: %v", err)
	}
	for i, c := range []approvals.Conversation{c1, c2} {
		if _, err := c.PairReveal(ctx, []string{o1.Pairing, o2.Pairing}[i], [][]byte{n1, n2}[i]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.owner.Inbox()); n != 2 {
		t.Fatalf("%d rows: pairings are never merged", n)
	}
	if _, err := c2.Await(ctx, o1.Pairing); code(err) != approvals.CodeNotPaired {
		t.Fatalf("awaiting another's pairing: %v", err)
	}
	// One that goes is withdrawn; nobody saw it, so it leaves no entry.
	before := w.entries("")
	c1.Close()
	if n := len(w.owner.Inbox()); n != 1 {
		t.Fatalf("%d rows after the connection went", n)
	}
	if w.entries("") != before {
		t.Fatal("an unseen pairing made an entry")
	}
	s := w.openFirst()
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeName {
		t.Fatalf("without a name: %+v", out)
	}
	if out := w.decide(s, approvals.VerdictDeclineBlock); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("%+v", out)
	}
	if _, err := c2.Await(ctx, o2.Pairing); code(err) != approvals.CodeDeclined {
		t.Fatal(err)
	}
	c3 := hello()
	if _, err := c3.PairBegin(ctx, approvals.PairAsk{Claimed: "x"}); code(err) != approvals.CodeBlocked {
		t.Fatalf("blocked: %v", err)
	}
	if err := w.owner.Unblock(ctx, "b_"+o2.Pairing[2:]); err != nil {
		t.Fatal(err)
	}
	if _, err := c3.PairBegin(ctx, approvals.PairAsk{Claimed: "x"}); err != nil {
		t.Fatal(err)
	}
}

func TestGrant(t *testing.T) {
	w := newWorld(t)
	w.create()
	a, b := w.pair("a"), w.pair("b")
	env := w.envelope(nil)
	if out := a.grant(env, 3); out.Code != approvals.OutcomeDone || out.Grant == "" || out.Signature == "" {
		t.Fatalf("%+v", out)
	}
	for i := range 3 {
		ans, err := a.ask(fmt.Sprint("g", i), env, payload(fmt.Sprint("text ", i)), false)
		if err != nil || !bytes.Contains(ans.Result, []byte(`"by":"grant"`)) {
			t.Fatalf("use %d: %+v, %v", i, ans, err)
		}
	}
	if _, err := a.ask("g3", env, payload("text 3"), false); code(err) != approvals.CodeNotShown {
		t.Fatalf("the fourth: %v", err)
	}
	if _, err := b.ask("g0", env, payload("text"), false); code(err) != approvals.CodeNotShown {
		t.Fatalf("another client: %v", err)
	}
	for _, c := range w.owner.Clients() {
		if c.ID == a.id && (len(c.Grants) != 1 || c.Grants[0].State != "spent" || c.Grants[0].Used != 3 || c.Signatures != 4) {
			t.Fatalf("%+v", c)
		}
	}
	w.verified()
}

func TestGrantLimits(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	few := w.envelope(func(f *envelope.ActionFields) { f.MaxUses = envelope.Some(3) })
	for _, c := range []struct {
		name  string
		env   []byte
		uses  int64
		until int64
		want  string
	}{
		{"eleven uses", env, 11, 3600_000, approvals.OutcomeNoPasskey},
		{"two days", env, 5, 47 * 3600_000, approvals.OutcomeNoPasskey},
		{"too many for anybody", env, 1001, 3600_000, approvals.OutcomeGrantLimit},
		{"none", env, 0, 3600_000, approvals.OutcomeGrantLimit},
		{"in the past", env, 1, -1, approvals.OutcomeGrantLimit},
		{"more than the envelope's", few, 3, 3600_000, approvals.OutcomeGrantLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := a.ask("r-"+c.name, c.env, payload(c.name), true); err != nil {
				t.Fatal(err)
			}
			s := w.openFirst()
			out, err := w.owner.Decide(context.Background(), approvals.Decision{
				ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictGrant, GrantUses: c.uses, GrantUntil: w.clock.Now() + c.until,
			})
			if err != nil || out.Code != c.want || out.Signature != "" {
				t.Fatalf("%+v, %v", out, err)
			}
			if out := w.decide(s, approvals.VerdictDecline); out.Code != approvals.OutcomeDeclined {
				t.Fatalf("the request did not stay: %+v", out)
			}
		})
	}
	if n := w.keys.signed.Load(); n != 0 {
		t.Fatalf("%d signatures", n)
	}
}

// TestStatedUsesBindUnderEveryMode: a number of uses in an envelope is what it
// gives at most, whatever its decay mode says of verifiers.
func TestStatedUsesBindUnderEveryMode(t *testing.T) {
	for _, mode := range []envelope.Mode{envelope.ModeNone, envelope.ModeTime, envelope.ModeAction, envelope.ModeBoth} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			w.create()
			a := w.pair("a")
			env := w.envelope(func(f *envelope.ActionFields) { f.Mode, f.MaxUses = mode, envelope.Some(3) })
			if out := a.grant(env, 2); out.Code != approvals.OutcomeDone {
				t.Fatalf("%+v", out)
			}
			for i := range 2 {
				if _, err := a.ask(fmt.Sprint("r", i), env, payload(fmt.Sprint(i)), false); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := a.ask("r2", env, payload("2"), true); code(err) != approvals.CodeUsesSpent {
				t.Fatalf("the fourth: %v", err)
			}
			if n := w.keys.signed.Load(); n != 3 {
				t.Fatalf("%d signatures", n)
			}
		})
	}
}

func TestContradictionIsNeverGranted(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	bad := []byte(`{"operation":"delete-everything"}`)
	if _, err := a.ask("c1", env, bad, false); code(err) != approvals.CodeNotShown {
		t.Fatal(err)
	}
	if _, err := a.ask("c2", env, bad, true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	if len(s.Action.Contradictions) != 1 || s.Action.Grantable {
		t.Fatalf("%+v", s.Action)
	}
	if out := w.decide(s, approvals.VerdictGrant); out.Code != approvals.OutcomeGrantLimit {
		t.Fatalf("%+v", out)
	}
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
}

func TestDecideOnce(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	for round := range 20 {
		id := fmt.Sprint("r", round)
		if _, err := a.ask(id, env, payload(id), true); err != nil {
			t.Fatal(err)
		}
		s := w.openFirst()
		signed, answered := w.entries("action.signed"), w.entries("request.answered")
		var wg sync.WaitGroup
		codes := make([]string, 8)
		for i := range codes {
			v := approvals.VerdictApprove
			if i%2 == 1 {
				v = approvals.VerdictDecline
			}
			wg.Go(func() {
				out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: v})
				if err != nil {
					out.Code = err.Error()
				}
				codes[i] = out.Code
			})
		}
		wg.Wait()
		won := 0
		for _, c := range codes {
			switch c {
			case approvals.OutcomeDone, approvals.OutcomeDeclined:
				won++
			case approvals.OutcomeDecided:
			default:
				t.Fatalf("codes %v", codes)
			}
		}
		if rows := w.entries("action.signed") - signed + w.entries("request.answered") - answered; won != 1 || rows != 1 {
			t.Fatalf("%d winners, %d rows: %v", won, rows, codes)
		}
	}
	if n := w.keys.signed.Load(); int(n) != w.entries("action.signed") {
		t.Fatalf("%d signatures, %d entries", n, w.entries("action.signed"))
	}
	w.verified()
}

func TestDecideAfterExpiry(t *testing.T) {
	for name, move := range map[string]func(*testClock){
		"both clocks":    func(c *testClock) { c.pass(11 * time.Minute) },
		"wall clock":     func(c *testClock) { c.wall.Add(11 * 60_000) },
		"boot clock":     func(c *testClock) { c.boot.Add(11 * 60_000) },
		"clock put back": func(c *testClock) { c.wall.Add(-30_000); c.boot.Add(11 * 60_000) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			a := w.pair("a")
			if _, err := a.ask("r1", w.envelope(nil), payload("x"), true); err != nil {
				t.Fatal(err)
			}
			s := w.openFirst()
			move(w.clock)
			if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeExpired {
				t.Fatalf("%+v", out)
			}
			if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeDecided {
				t.Fatalf("again: %+v", out)
			}
			if _, err := a.conn.Await(context.Background(), "r1"); code(err) != approvals.CodeExpired {
				t.Fatal(err)
			}
			if n := w.entries("request.answered"); n != 1 || w.keys.signed.Load() != 0 {
				t.Fatalf("%d rows, %d signatures", n, w.keys.signed.Load())
			}
		})
	}
}

func TestChangedSheetIsRefused(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	if _, err := a.ask("r1", w.envelope(nil), payload("x"), true); err != nil {
		t.Fatal(err)
	}
	id := w.owner.Inbox()[0].ID
	if out := w.decide(approvals.Sheet{ID: id, Digest: "0x" + strings.Repeat("0", 64)}, approvals.VerdictApprove); out.Code != approvals.OutcomeChanged {
		t.Fatalf("never shown: %+v", out)
	}
	s := w.openFirst()
	w.owner.Closed(s.ID)
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeChanged {
		t.Fatalf("closed: %+v", out)
	}
	if n := w.entries("request.answered"); n != 0 {
		t.Fatalf("closing decided: %d", n)
	}
	s = w.openFirst()
	if err := w.owner.RenameClient(context.Background(), a.id, "other name"); err != nil {
		t.Fatal(err)
	}
	again := w.openFirst()
	if again.Digest == s.Digest || again.Agent != "other name" {
		t.Fatalf("the sheet did not change: %+v", again)
	}
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeChanged {
		t.Fatalf("%+v", out)
	}
	if out := w.decide(again, approvals.VerdictApprove); out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v", out)
	}
}

func TestLockAndAway(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	if _, err := a.ask("waits", env, []byte(`{"operation":"x"}`), true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	w.owner.SetAway(true)
	if out := w.decide(s, approvals.VerdictDecline); out.Code != approvals.OutcomeAway {
		t.Fatalf("away: %+v", out)
	}
	if _, err := a.ask("g1", env, payload("1"), false); code(err) != approvals.CodeNotShown {
		t.Fatalf("a grant while away: %v", err)
	}
	w.owner.SetAway(false)
	if _, err := a.ask("g1", env, payload("1"), false); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	long, err := a.dial(nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, err := long.Await(ctx, "waits"); told <- err }()
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	if err := <-told; code(err) != approvals.CodeLocked && err != nil {
		t.Fatalf("who waited was told %v", err)
	}
	select {
	case <-w.keys.last.Done():
	default:
		t.Fatal("the key process lives on")
	}
	calls := map[string]func() error{
		"sign":   func() error { _, err := a.ask("g2", env, payload("2"), false); return err },
		"await":  func() error { _, err := a.conn.Await(ctx, "g1"); return err },
		"list":   func() error { _, err := a.conn.DomainList(ctx); return err },
		"record": func() error { _, err := a.conn.RecordGet(ctx, "g1"); return err },
	}
	for name, f := range calls {
		if err := f(); code(err) != approvals.CodeLocked {
			t.Errorf("%s while locked: %v", name, err)
		}
	}
	st := w.owner.Status()
	if st.State != approvals.StateLocked || st.LockReason != "asked" || st.Waiting != 1 {
		t.Fatalf("%+v", st)
	}
	w.unlock()
	if got := w.owner.Inbox(); len(got) != 1 {
		t.Fatalf("the request lost its place: %+v", got)
	}
	// Declining needs no key.
	s = w.openFirst()
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	if out := w.decide(s, approvals.VerdictApprove); out.Code != approvals.OutcomeLocked {
		t.Fatalf("approve while locked: %+v", out)
	}
	s = w.openFirst()
	if out := w.decide(s, approvals.VerdictDecline); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("decline while locked: %+v", out)
	}
	if r, err := w.owner.VerifyLog(ctx); err != nil || !r.OK || r.Uncovered == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.unlock()
	w.verified()
	if _, err := a.conn.Await(ctx, "waits"); code(err) != approvals.CodeDeclined {
		t.Fatal(err)
	}
}

func TestIdleLock(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	w.clock.pass(14 * time.Minute)
	w.owner.Touch()
	w.clock.pass(14 * time.Minute)
	w.desk.Tick(context.Background())
	if s := w.owner.Status().State; s != approvals.StateOpen {
		t.Fatalf("state %s", s)
	}
	// Requests are no activity.
	if _, err := a.ask("g1", env, payload("1"), false); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(time.Minute)
	w.desk.Tick(context.Background())
	if st := w.owner.Status(); st.State != approvals.StateLocked || st.LockReason != "idle" {
		t.Fatalf("%+v", st)
	}
}

func TestRevokedAndBlocked(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a, b := w.pair("a"), w.pair("b")
	env := w.envelope(nil)
	a.grant(env, 5)
	if _, err := a.ask("open", env, []byte(`{"operation":"x"}`), true); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.RevokeClient(ctx, a.id); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask("g", env, payload("1"), false); code(err) != approvals.CodeRevoked {
		t.Fatal(err)
	}
	if n := len(w.owner.Inbox()); n != 0 {
		t.Fatalf("%d rows of a revoked client", n)
	}
	if _, err := b.ask("r", env, payload("b"), true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	if _, err := b.ask("also open", env, payload("b2"), true); err != nil {
		t.Fatal(err)
	}
	if out := w.decide(s, approvals.VerdictDeclineBlock); out.Code != approvals.OutcomeDeclined {
		t.Fatalf("%+v", out)
	}
	if in := w.owner.Inbox(); len(in) != 0 {
		t.Fatalf("rows of a blocked client: %+v", in)
	}
	conv, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000, Executable: "/usr/bin/agent"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conv.PairBegin(ctx, approvals.PairAsk{Claimed: "b"}); code(err) != approvals.CodeBlocked {
		t.Fatalf("pairing again: %v", err)
	}
	if err := w.owner.Unblock(ctx, b.id); err != nil {
		t.Fatal(err)
	}
	if _, err := conv.PairBegin(ctx, approvals.PairAsk{Claimed: "b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ask("r2", env, payload("b"), true); code(err) != approvals.CodeBlocked {
		t.Fatal(err)
	}
	w.stop()
	w.start()
	w.unlock()
	for _, x := range []*agent{a, b} {
		x.w = w
		if _, err := x.dial(nil); code(err) != approvals.CodeRevoked && code(err) != approvals.CodeBlocked {
			t.Fatalf("%s: %v", x.id, err)
		}
	}
	w.verified()
}

func TestCancelAndSessionEnd(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	for _, id := range []string{"r1", "r2"} {
		if _, err := a.ask(id, env, payload(id), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.conn.Cancel(ctx, "r1"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.conn.Await(ctx, "r1"); code(err) != approvals.CodeCancelled {
		t.Fatal(err)
	}
	if err := a.conn.SessionEnd(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.conn.Await(ctx, "r2"); code(err) != approvals.CodeWithdrawn {
		t.Fatal(err)
	}
	if err := a.conn.Cancel(ctx, "never"); code(err) != approvals.CodeUnknownRequest {
		t.Fatal(err)
	}
	// A lost connection ends neither.
	if _, err := a.ask("r3", env, payload("r3"), true); err != nil {
		t.Fatal(err)
	}
	a.conn.Close()
	a.connect()
	w.decide(w.openFirst(), approvals.VerdictApprove)
	if ans, err := a.conn.Await(ctx, "r3"); err != nil || ans.Result == nil {
		t.Fatalf("%+v, %v", ans, err)
	}
}

func TestEqualRequestsShareOneSheet(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	for _, id := range []string{"r1", "r2", "r3"} {
		if _, err := a.ask(id, env, payload("same"), true); err != nil {
			t.Fatal(err)
		}
	}
	if in := w.owner.Inbox(); len(in) != 1 || in[0].Merged != 3 {
		t.Fatalf("%+v", in)
	}
	if err := a.conn.Cancel(context.Background(), "r1"); err != nil {
		t.Fatal(err)
	}
	w.decide(w.openFirst(), approvals.VerdictApprove)
	var first []byte
	for _, id := range []string{"r2", "r3"} {
		ans, err := a.conn.Await(context.Background(), id)
		if err != nil || first != nil && !bytes.Equal(first, ans.Result) {
			t.Fatalf("%s: %+v, %v", id, ans, err)
		}
		first = ans.Result
	}
	if n := w.keys.signed.Load(); n != 1 {
		t.Fatalf("%d signatures", n)
	}
}

func TestFlood(t *testing.T) {
	w := newWorld(t)
	w.create()
	a, b := w.pair("flood"), w.pair("other")
	env := w.envelope(nil)
	n := 10_000
	codes := map[string]int{}
	log := w.entries("")
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	for i := range n {
		if i == n/10 {
			early = heap()
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nobody waits
		_, err := a.conn.ActionSign(ctx, approvals.Ask{RequestID: fmt.Sprint(i), Envelope: env, Payload: payload(fmt.Sprint(i)), Interactive: true})
		codes[code(err)]++
	}
	if codes[""] != approvals.MaxOpenRequests || codes[approvals.CodeTooMany] != n-approvals.MaxOpenRequests {
		t.Fatalf("%v", codes)
	}
	if late := heap(); late > early+1<<20 {
		t.Fatalf("the heap grew from %d to %d bytes in the last nine tenths", early, late)
	}
	if in := w.owner.Inbox(); len(in) != approvals.MaxOpenRequests {
		t.Fatalf("%d rows", len(in))
	}
	w.wantRefusals("16 too_many_requests")
	if n := w.entries("") - log; n != 1 {
		t.Fatalf("the flood made %d entries", n)
	}
	next := 0
	for _, it := range w.owner.Inbox() {
		if it.Next {
			next++
		}
	}
	if next != 1 {
		t.Fatalf("%d sheets can be opened", next)
	}
	if _, err := b.ask("mine", env, payload("b"), true); err != nil {
		t.Fatalf("another client: %v", err)
	}
	shown := w.openFirst()
	if err := w.owner.DeclineAll(context.Background(), a.id); err != nil {
		t.Fatal(err)
	}
	in := w.owner.Inbox()
	if len(in) != 1 || in[0].Agent != "other" {
		t.Fatalf("%+v", in)
	}
	if shown.Agent != "flood" {
		t.Fatalf("first come, first served: %+v", shown)
	}
	if _, err := a.conn.Await(context.Background(), "0"); code(err) != approvals.CodeDeclined {
		t.Fatalf("the shown one: %v", err)
	}
	if _, err := a.conn.Await(context.Background(), "1"); code(err) != approvals.CodeRefused {
		t.Fatalf("an unshown one: %v", err)
	}
}

// TestPairingFlood opens many connections that all ask to be paired.
func TestPairingFlood(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("paired")
	log := w.entries("")
	codes := map[string]int{}
	var open []approvals.Conversation
	for i := range 1000 {
		conv, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conv)
		var nonce [32]byte
		nonce[0], nonce[1] = byte(i), byte(i>>8)
		o, err := conv.PairBegin(ctx, approvals.PairAsk{Commitment: commit(nonce)})
		if err != nil {
			t.Fatal(err)
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		_, err = conv.PairReveal(done, o.Pairing, nonce[:])
		codes[code(err)]++
	}
	if codes[""] != approvals.MaxOpenPairings || codes[approvals.CodeTooMany] != 1000-approvals.MaxOpenPairings {
		t.Fatalf("%v", codes)
	}
	if _, err := a.ask("r", w.envelope(nil), payload("x"), true); err != nil {
		t.Fatalf("a paired client: %v", err)
	}
	if n := len(w.owner.Inbox()); n != approvals.MaxOpenPairings+1 {
		t.Fatalf("%d rows", n)
	}
	for _, conv := range open {
		conv.Close()
	}
	if n := len(w.owner.Inbox()); n != 1 || w.entries("") != log {
		t.Fatalf("%d rows, %d entries more", n, w.entries("")-log)
	}
}

func TestCoolDown(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	for i := range 2 {
		if _, err := a.ask(fmt.Sprint("r", i), env, payload(fmt.Sprint(i)), true); err != nil {
			t.Fatal(err)
		}
		w.openFirst()
		w.clock.pass(11 * time.Minute)
		w.owner.Touch()
		w.desk.Tick(context.Background())
	}
	_, err := a.ask("r3", env, payload("3"), true)
	if code(err) != approvals.CodeCoolingDown {
		t.Fatal(err)
	}
	w.clock.pass(6 * time.Minute)
	w.desk.Tick(context.Background())
	if _, err := a.ask("r3", env, payload("3"), true); err != nil {
		t.Fatal(err)
	}
}

func TestGrantEndsByEitherClock(t *testing.T) {
	for name, c := range map[string]struct {
		move func(*testClock)
		ok   bool
	}{
		"in time":               {func(c *testClock) { c.pass(23 * time.Hour) }, true},
		"past":                  {func(c *testClock) { c.pass(25 * time.Hour) }, false},
		"wall only":             {func(c *testClock) { c.wall.Add(25 * 3600_000) }, false},
		"boot only":             {func(c *testClock) { c.boot.Add(25 * 3600_000) }, false},
		"set back while asleep": {func(c *testClock) { c.wall.Add(-60_000); c.boot.Add(25 * 3600_000) }, false},
		"set back an hour":      {func(c *testClock) { c.wall.Add(-3600_000) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			a := w.pair("a")
			env := w.envelope(func(f *envelope.ActionFields) { f.Window.NotBefore = envelope.Some(1000) })
			a.grant(env, 5)
			c.move(w.clock)
			_, err := a.ask("g", env, payload("x"), false)
			if (err == nil) != c.ok {
				t.Fatal(err)
			}
		})
	}
}

func TestExportAndEvents(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("=cmd()")
	if _, err := a.ask("=evil\"'", w.envelope(nil), payload("x"), true); err != nil {
		t.Fatal(err)
	}
	w.decide(w.openFirst(), approvals.VerdictApprove)
	var lines, table bytes.Buffer
	if err := w.owner.ExportLog(context.Background(), &lines, "jsonl"); err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(lines.String()) {
		n++
		var row struct{ Entry, Head json.RawMessage }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if e, err := journal.Parse(row.Entry); err != nil || e.Seq != uint64(n) {
			t.Fatalf("line %d: %v", n, err)
		}
	}
	if n != w.entries("") {
		t.Fatalf("%d lines, %d entries", n, w.entries(""))
	}
	if err := w.owner.ExportLog(context.Background(), &table, "csv"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(table.String()) {
		for _, cell := range strings.Split(line, `","`) {
			if cell = strings.TrimLeft(cell, `" `); cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Fatalf("a cell begins a formula: %s", line)
			}
		}
	}
	es, err := w.owner.Events(approvals.EventFilter{Client: a.id, Kind: "action.signed"})
	if err != nil || len(es) != 1 || es[0].Agent != "=cmd()" || !es[0].Covered {
		t.Fatalf("%+v, %v", es, err)
	}
	if es, err := w.owner.Events(approvals.EventFilter{Text: "EVIL"}); err != nil || len(es) != 2 {
		t.Fatalf("%d events, %v", len(es), err)
	}
}

func TestSettings(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	s := w.owner.Settings()
	s.IdleMinutes, s.Theme = 60, "dark"
	if err := w.owner.SaveSettings(ctx, s); err != nil {
		t.Fatal(err)
	}
	if w.entries("setting.changed") != 1 {
		t.Fatal("the change of the idle time is not in the log")
	}
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	loose := s
	loose.IdleMinutes = 240
	if err := w.owner.SaveSettings(ctx, loose); code(err) != approvals.CodeLocked {
		t.Fatal(err)
	}
	s.Theme = "light"
	if err := w.owner.SaveSettings(ctx, s); err != nil {
		t.Fatal(err)
	}
	s.TextScale = 900
	if err := w.owner.SaveSettings(ctx, s); code(err) != approvals.CodeMalformed {
		t.Fatal(err)
	}
	w.stop()
	w.start()
	if got := w.owner.Settings(); got.IdleMinutes != 60 || got.Theme != "light" {
		t.Fatalf("%+v", got)
	}
}

func TestWatchIsTold(t *testing.T) {
	w := newWorld(t)
	told := make(chan struct{}, 100)
	stop := w.owner.Watch(func() { told <- struct{}{} })
	defer stop()
	w.create()
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was told")
	}
}

// TestProvenByPassphrase approves as the terminal surface does.
func TestProvenByPassphrase(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	if _, err := a.ask("r1", w.envelope(nil), payload("x"), true); err != nil {
		t.Fatal(err)
	}
	s := w.openFirst()
	decide := func() string {
		out, err := w.owner.Decide(context.Background(), approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictApprove, Prove: keys.SurfaceTerminal})
		if err != nil {
			t.Fatal(err)
		}
		return out.Code
	}
	w.keys.owner.passphrase = "another passphrase"
	if c := decide(); c != "wrong_passphrase" {
		t.Fatal(c)
	}
	w.keys.owner.cancels = true
	if c := decide(); c != "cancelled" {
		t.Fatal(c)
	}
	if n := w.keys.signed.Load(); n != 0 {
		t.Fatalf("%d signatures", n)
	}
	w.keys.owner = typist{passphrase: testPassphrase, saw: new([]byte)}
	if c := decide(); c != approvals.OutcomeDone {
		t.Fatal(c)
	}
}

func TestUnlockThatFails(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.keys.owner.cancels = true
	err := w.owner.Create(ctx, approvals.Creation{Protection: keys.ProtectPassphrase, Domain: approvals.DomainForm{Namespace: "a", DomainID: "b", Kind: "c"}})
	if code(err) != "cancelled" || w.owner.Status().State != approvals.StateNone {
		t.Fatalf("%v, %+v", err, w.owner.Status())
	}
	if err := w.owner.Create(ctx, approvals.Creation{Domain: approvals.DomainForm{Namespace: "é"}}); code(err) != approvals.CodeMalformed {
		t.Fatal(err)
	}
	if _, err := w.owner.VerifyLog(ctx); code(err) != approvals.CodeNoVault {
		t.Fatal(err)
	}
	w.keys.owner = typist{passphrase: testPassphrase, saw: new([]byte)}
	w.create()
	if err := w.owner.Create(ctx, approvals.Creation{}); code(err) != approvals.CodeAlreadyExists {
		t.Fatal(err)
	}
	if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); code(err) != approvals.CodeAlreadyOpen {
		t.Fatal(err)
	}
	if _, err := w.owner.CreateDomain(ctx, approvals.DomainForm{Namespace: "example", DomainID: "support-ops", Kind: "communication"}); code(err) != approvals.CodeDomainExists {
		t.Fatal(err)
	}
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	w.keys.owner.cancels = true
	if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); code(err) != "cancelled" {
		t.Fatal(err)
	}
	if st := w.owner.Status(); st.State != approvals.StateLocked || st.Trouble != nil {
		t.Fatalf("%+v", st)
	}
	w.keys.owner = typist{passphrase: testPassphrase, saw: new([]byte)}
	w.unlock()
	w.verified()
}

func TestSessionsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	for i := range approvals.MaxSessions + 10 {
		w.clock.pass(2 * time.Second)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := a.conn.ActionSign(ctx, approvals.Ask{RequestID: fmt.Sprint(i), Session: fmt.Sprint("s", i), Envelope: env, Payload: payload("x")})
		if code(err) != approvals.CodeNotShown {
			t.Fatal(err)
		}
	}
	if n := len(w.owner.Clients()[0].Sessions); n != approvals.MaxSessions {
		t.Fatalf("%d sessions", n)
	}
	w.clock.pass(31 * 24 * time.Hour)
	w.desk.Tick(context.Background())
	if n := len(w.owner.Clients()[0].Sessions); n != 0 {
		t.Fatalf("%d sessions after a month", n)
	}
}

// TestRestore types the words: a new instance, the same addresses, nobody paired.
func TestRestore(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	before := w.owner.Domains()[0]
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.Restore(ctx, keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	after := w.owner.Domains()
	if len(after) != 1 || after[0].Address != before.Address || len(w.owner.Clients()) != 0 {
		t.Fatalf("%+v, %+v", after, w.owner.Clients())
	}
	if _, err := a.dial(nil); code(err) != approvals.CodeNotPaired {
		t.Fatalf("a client of before: %v", err)
	}
	if es, err := w.owner.Events(approvals.EventFilter{Kind: "instance.started"}); err != nil || len(es) != 1 || es[0].Seq != 1 {
		t.Fatalf("%+v, %v", es, err)
	}
	if st := w.owner.Status(); st.State != approvals.StateOpen || st.WordsDue {
		t.Fatalf("%+v", st)
	}
	w.stop()
	w.start()
	w.unlock()
	w.verified()
}

// TestWordsPutOff shows them later.
func TestWordsPutOff(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	err := w.owner.Create(ctx, approvals.Creation{
		Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal, PutOff: true,
		Domain: approvals.DomainForm{Namespace: "example", DomainID: "support-ops", Kind: "communication"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if in := w.owner.Inbox(); len(in) != 1 || in[0].Kind != approvals.ItemWords || !w.owner.Status().WordsDue {
		t.Fatalf("%+v", in)
	}
	if err := w.owner.ShowWords(ctx, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	if in := w.owner.Inbox(); len(in) != 0 || w.owner.Status().WordsDue || w.entries("words.shown") != 1 {
		t.Fatalf("%+v", in)
	}
	if err := w.owner.ShowWords(ctx, keys.SurfaceTerminal); code(err) != approvals.OutcomeNoPasskey {
		t.Fatal(err)
	}
	// A stronger protection is chosen by passphrase, a weaker one needs a passkey.
	if err := w.owner.ChangeProtection(ctx, keys.ProtectKeyring, keys.SurfaceTerminal); code(err) != approvals.OutcomeNoPasskey {
		t.Fatal(err)
	}
	if err := w.owner.ChangeProtection(ctx, keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	if w.entries("protection.changed") != 1 {
		t.Fatal("no entry for the new passphrase")
	}
	w.verified()
}

// TestBackupLeavesNoCopy asks for a backup that the key process refuses.
func TestBackupLeavesNoCopy(t *testing.T) {
	w := newWorld(t)
	w.create()
	before, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.owner.Backup(context.Background(), filepath.Join(t.TempDir(), "b.age"), keys.SurfaceTerminal); code(err) != "no_backup" {
		t.Fatal(err)
	}
	after, err := os.ReadDir(w.dir)
	if err != nil || len(after) != len(before) {
		t.Fatalf("%v, %v", after, err)
	}
}
