package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"vault/approvals"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/derive"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

const mintPayload = `{"type":"example.message","operation":"send-message","resource":"thread:1"}`

// both asks for another mint and for a use of one that is there, and wants both refused with the code, with nothing spent.
func (b *bot) both(t *testing.T, delegate []byte, mint, id, want string) {
	t.Helper()
	before := b.w.entries("capability.minted") + b.w.entries("minted.signed")
	if _, err := b.mint(b.request(t, delegate, "nonce "+id, func(f *envelope.RequestFields) {
		d, err := envelope.ParseMintDelegate(delegate)
		if err != nil {
			t.Fatal(err)
		}
		f.Window = d.Fields().Window
	})); code(err) != want {
		t.Errorf("mint: %v, want %s", err, want)
	}
	if _, err := b.use(id, mint, []byte(mintPayload)); code(err) != want {
		t.Errorf("sign: %v, want %s", err, want)
	}
	if after := b.w.entries("capability.minted") + b.w.entries("minted.signed"); after != before {
		t.Errorf("%d entries were made", after-before)
	}
}

func TestPauseResumeRevoke(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	hash := hashOf(t, raw)
	got, err := b.mint(b.request(t, raw, "n", nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{w.owner.PauseDelegate(ctx, journal.Zero), approvals.CodeUnknownDelegate},
		{w.owner.PauseDelegate(ctx, hash), ""},
		{w.owner.PauseDelegate(ctx, hash), approvals.CodeDelegatePaused},
	} {
		if code(c.err) != c.want {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
	if v := w.delegate(hash); v.State != approvals.DelegatePaused {
		t.Errorf("%+v", v)
	}
	b.both(t, raw, got.Mint, "paused", approvals.CodeDelegatePaused)
	// It is paused after a restart.
	w.stop()
	w.start()
	w.unlock()
	b.connect()
	b.prove()
	b.both(t, raw, got.Mint, "paused still", approvals.CodeDelegatePaused)
	if out, err := w.owner.ResumeDelegate(ctx, hash); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := w.owner.ResumeDelegate(ctx, hash); err != nil || out.Code != journal.CodeNotPaused {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := b.use("resumed", got.Mint, []byte(mintPayload)); err != nil {
		t.Error(err)
	}
	out, err := w.owner.RevokeDelegate(ctx, hash)
	if err != nil || len(out) != 1 || out[0].Mint != got.Mint || out[0].Used != 1 || !out[0].Live {
		t.Errorf("what is out: %+v, %v", out, err)
	}
	if _, err := w.owner.RevokeDelegate(ctx, hash); code(err) != approvals.CodeDelegateEnded {
		t.Error(err)
	}
	b.both(t, raw, got.Mint, "revoked", approvals.CodeDelegateEnded)
	if v := w.delegate(hash); v.State != approvals.DelegateEnded || v.Ended != "revoked" || v.MintsLeft != 0 || v.UsesLeft != 0 {
		t.Errorf("%+v", v)
	}
	if out, err := w.owner.ResumeDelegate(ctx, hash); err != nil || out.Code != approvals.CodeDelegateEnded {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := w.owner.AdmitDelegate(ctx, hash, 1, ""); err != nil || out.Code != approvals.CodeDelegateExists {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := w.owner.ImportDelegate(ctx, raw); code(err) != approvals.CodeDelegateExists {
		t.Error(err)
	}
	// What was signed is answered as before, and its record is there for whoever asks.
	w.stop()
	w.start()
	w.unlock()
	b.connect()
	b.prove()
	if _, err := b.use("resumed", got.Mint, []byte(mintPayload)); err != nil {
		t.Error(err)
	}
	if rec, err := w.owner.MintRecord(ctx, got.Mint); err != nil || string(rec) != string(got.Record) {
		t.Errorf("%s, %v", rec, err)
	}
	b.both(t, raw, got.Mint, "revoked still", approvals.CodeDelegateEnded)
	// The window can be locked while something is taken; nothing is given then.
	second := w.issue(w.form(b))
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.owner.RevokeDelegate(ctx, hashOf(t, second)); err != nil {
		t.Error(err)
	}
	if out, err := w.owner.ResumeDelegate(ctx, hashOf(t, second)); err != nil || out.Code != approvals.CodeLocked {
		t.Errorf("%+v, %v", out, err)
	}
	w.unlock()
	b.prove()
	if _, err := b.mint(b.request(t, second, "x", nil)); code(err) != approvals.CodeDelegateEnded {
		t.Error(err)
	}
	w.verified()
}

// TestDelegateTimes moves the clocks: by the wall clock, by the boot-time clock alone, and behind the log.
func TestDelegateTimes(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name  string
		move  func(*world)
		state approvals.DelegateState
		want  string
	}{
		{"expired", func(w *world) { w.clock.pass(day + time.Hour) }, approvals.DelegateExpired, approvals.CodeDelegateExpired},
		{"clock jumped forward", func(w *world) { w.clock.wall.Add((2 * day).Milliseconds()) }, approvals.DelegateExpired, approvals.CodeDelegateExpired},
		{"clock set back while time passed", func(w *world) { w.clock.boot.Add((day + time.Hour).Milliseconds()) }, approvals.DelegateExpired, approvals.CodeDelegateExpired},
		{"clock set back", func(w *world) { w.clock.wall.Add(-time.Hour.Milliseconds()) }, approvals.DelegateNotYet, approvals.CodeClockBehind},
		{"clock set back before a restart", func(w *world) {
			w.stop()
			w.clock.wall.Add(-10 * time.Minute.Milliseconds())
			w.start()
			w.unlock()
		}, approvals.DelegateNotYet, approvals.CodeClockBehind},
		{"away", func(w *world) { w.owner.SetAway(true) }, approvals.DelegateActive, approvals.CodeAway},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, b := mintWorld(t)
			w.clock.pass(10 * time.Minute)
			raw := w.issue(w.form(b))
			got, err := b.mint(b.request(t, raw, "n", nil))
			if err != nil {
				t.Fatal(err)
			}
			c.move(w)
			if strings.Contains(c.name, "restart") {
				b.connect()
				b.prove()
			}
			b.both(t, raw, got.Mint, "then", c.want)
			if v := w.delegate(hashOf(t, raw)); v.State != c.state {
				t.Errorf("%+v", v)
			}
		})
	}
	t.Run("not yet", func(t *testing.T) {
		w, b := mintWorld(t)
		f := w.form(b)
		later := w.clock.Now() + 3600_000
		f.NotBefore = &later
		raw := w.issue(f)
		if _, err := b.mint(b.request(t, raw, "n", func(f *envelope.RequestFields) {
			f.Window.NotBefore, f.Window.NotAfter = envelope.Some(later), envelope.Some(later+1000)
		})); code(err) != approvals.CodeDelegateNotYet {
			t.Error(err)
		}
		w.clock.pass(time.Hour)
		if _, err := b.mint(b.request(t, raw, "n", func(f *envelope.RequestFields) { f.Window.NotBefore = envelope.Some(later) })); err != nil {
			t.Error(err)
		}
	})
	t.Run("the capability's own window", func(t *testing.T) {
		w, b := mintWorld(t)
		raw := w.issue(w.form(b))
		now := w.clock.Now()
		got, err := b.mint(b.request(t, raw, "n", func(f *envelope.RequestFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(now + 1000), NotAfter: envelope.Some(now + 2000)}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.use("early", got.Mint, []byte(mintPayload)); code(err) != approvals.CodeMintNotYet {
			t.Error(err)
		}
		w.clock.pass(1500 * time.Millisecond)
		if _, err := b.use("now", got.Mint, []byte(mintPayload)); err != nil {
			t.Error(err)
		}
		w.clock.pass(time.Second)
		if _, err := b.use("late", got.Mint, []byte(mintPayload)); code(err) != approvals.CodeMintExpired {
			t.Error(err)
		}
	})
	t.Run("asked for when it is over already", func(t *testing.T) {
		w, b := mintWorld(t)
		raw := w.issue(w.form(b))
		request := b.request(t, raw, "n", func(f *envelope.RequestFields) {
			f.Window = envelope.Window{NotBefore: envelope.Some(w.clock.Now() - 500), NotAfter: envelope.Some(w.clock.Now() + 1000)}
		})
		w.clock.pass(2 * time.Second)
		_, err := b.mint(request)
		var r *approvals.Refusal
		if !errors.As(err, &r) || r.Code != approvals.CodeMintExpired || !strings.Contains(string(r.Data), `"bound":"timeWindow"`) {
			t.Errorf("%v", err)
		}
		if v := w.delegate(hashOf(t, raw)); v.Minted != 0 || w.entries("capability.minted") != 0 {
			t.Errorf("spent: %+v", v)
		}
		// The nonce is still free.
		got, err := b.mint(b.request(t, raw, "n", nil))
		if err != nil || got.MintsLeft != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("minted in time, asked for again when it is over", func(t *testing.T) {
		w, b := mintWorld(t)
		raw := w.issue(w.form(b))
		request := b.request(t, raw, "n", func(f *envelope.RequestFields) { f.Window.NotAfter = envelope.Some(w.clock.Now() + 1000) })
		first, err := b.mint(request)
		if err != nil {
			t.Fatal(err)
		}
		w.clock.pass(2 * time.Second)
		if again, err := b.mint(request); err != nil || string(again.Record) != string(first.Record) || again.MintsLeft != 2 {
			t.Errorf("%+v, %v", again, err)
		}
	})
	t.Run("long over", func(t *testing.T) {
		w, b := mintWorld(t)
		raw := w.issue(w.form(b))
		if _, err := b.mint(b.request(t, raw, "n", nil)); err != nil {
			t.Fatal(err)
		}
		w.clock.pass(9 * day)
		w.owner.Touch()
		w.desk.Tick(context.Background())
		if n := w.entries("delegate.ended"); n != 1 {
			t.Fatalf("%d ends", n)
		}
		w.desk.Tick(context.Background())
		// A clock that is set back afterwards brings nothing back.
		w.clock.wall.Add(-(9 * day).Milliseconds())
		if _, err := b.mint(b.request(t, raw, "m", nil)); code(err) != approvals.CodeDelegateExpired {
			t.Error(err)
		}
	})
}

// TestClockAheadEndsNothingForGood: a wall clock that says that a delegate is long over puts no end into the log, unless
// the boot-time clock says so too.
func TestClockAheadEndsNothingForGood(t *testing.T) {
	ctx := context.Background()
	ahead := (30 * 24 * time.Hour).Milliseconds()
	for name, wrong := range map[string]func(t *testing.T, w *world){
		"while the desk ran": func(_ *testing.T, w *world) {
			w.clock.wall.Add(ahead)
			w.clock.pass(2 * time.Hour)
		},
		"while it ran, and was locked and opened": func(t *testing.T, w *world) {
			w.clock.wall.Add(ahead)
			if err := w.owner.Lock(ctx, "asked"); err != nil {
				t.Fatal(err)
			}
			w.clock.pass(2 * time.Hour)
			w.unlock()
		},
		"before it was started": func(_ *testing.T, w *world) {
			w.stop()
			w.clock.wall.Add(ahead)
			w.start()
			w.unlock()
			w.clock.pass(30 * time.Minute)
		},
		"the boot-time clock alone": func(_ *testing.T, w *world) { w.clock.boot.Add(ahead) },
	} {
		t.Run(name, func(t *testing.T) {
			w, b := mintWorld(t)
			raw := w.issue(w.form(b))
			wrong(t, w)
			w.owner.Touch()
			w.desk.Tick(ctx)
			if v := w.delegate(hashOf(t, raw)); v.State != approvals.DelegateExpired {
				t.Errorf("while the clock is wrong: %s", v.State)
			}
			if n := w.entries("delegate.ended"); n != 0 {
				t.Errorf("%d were ended", n)
			}
		})
	}
	t.Run("and set right", func(t *testing.T) {
		w, b := mintWorld(t)
		raw := w.issue(w.form(b))
		w.clock.wall.Add(ahead)
		w.clock.pass(2 * time.Hour)
		w.owner.Touch()
		w.desk.Tick(ctx)
		w.clock.wall.Add(-ahead)
		if _, err := b.mint(b.request(t, raw, "n", nil)); err != nil {
			t.Error(err)
		}
	})
}

// TestMintUsesGoOn: what is counted on from the last time is what is counted anew.
func TestMintUsesGoOn(t *testing.T) {
	const hour = 3600_000
	w, b := mintWorld(t)
	raw, beside := w.issue(w.form(b)), w.issue(w.form(b))
	want := func(mints, uses int64) {
		t.Helper()
		on, err := w.owner.MintUses(hashOf(t, raw), 0, hour)
		if err != nil {
			t.Fatal(err)
		}
		var m, u int64
		for _, s := range on {
			m, u = m+s.Mints, u+s.Uses
		}
		if m != mints || u != uses {
			t.Errorf("%d mints and %d uses, want %d and %d", m, u, mints, uses)
		}
		w.stop()
		w.start()
		w.unlock()
		b.connect()
		b.prove()
		if anew, err := w.owner.MintUses(hashOf(t, raw), 0, hour); err != nil || !slices.Equal(on, anew) {
			t.Errorf("%v counted on, %v anew, %v", on, anew, err)
		}
	}
	want(0, 0)
	var got mintAnswer
	for i := range 3 {
		var err error
		if got, err = b.mint(b.request(t, raw, fmt.Sprint(i), nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.mint(b.request(t, beside, fmt.Sprint("beside ", i), nil)); err != nil {
			t.Fatal(err)
		}
		if steps, err := w.owner.MintUses(hashOf(t, raw), 0, hour); err != nil || len(steps) != i+1 || steps[i].Mints != 1 {
			t.Errorf("%v, %v", steps, err)
		}
		w.clock.pass(time.Hour)
	}
	if _, err := b.use("u", got.Mint, []byte(mintPayload)); err != nil {
		t.Error(err)
	}
	want(3, 1)
	if _, err := b.use("v", got.Mint, []byte(mintPayload)); err != nil {
		t.Error(err)
	}
	// Another delegate is counted for itself, and the first one again.
	if steps, err := w.owner.MintUses(hashOf(t, beside), 0, 24*hour); err != nil || len(steps) != 1 || steps[0].Mints != 3 || steps[0].Uses != 0 {
		t.Errorf("%v, %v", steps, err)
	}
	want(3, 2)
}

// suspended wants a delegate of before to give nothing until it is admitted, and then the mints that the owner says.
func suspended(t *testing.T, w *world, raw []byte, seed [32]byte) {
	t.Helper()
	ctx := context.Background()
	hash := hashOf(t, raw)
	a := w.pair("again")
	b := &bot{agent: a, seed: seed}
	var err error
	if b.address, err = derive.Address(seed[:]); err != nil {
		t.Fatal(err)
	}
	b.prove()
	if v := w.delegate(hash); v.State != approvals.DelegateSuspended || v.Mints != 0 {
		t.Errorf("%+v", v)
	}
	if _, err := b.mint(b.request(t, raw, "n", nil)); code(err) != approvals.CodeDelegateSuspended {
		t.Error(err)
	}
	if out, err := w.owner.AdmitDelegate(ctx, hash, 4, ""); err != nil || out.Code != approvals.CodeNoMintsLeft {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := w.owner.AdmitDelegate(ctx, hash, 1, "of\nbefore"); err != nil || out.Code != approvals.OutcomeName {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := w.owner.AdmitDelegate(ctx, hash, 1, " of before "); err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if v := w.delegate(hash); v.Name != "of before" || v.Mints != 1 {
		t.Errorf("%+v", v)
	}
	if _, err := b.mint(b.request(t, raw, "n", nil)); err != nil {
		t.Error(err)
	}
	if _, err := b.mint(b.request(t, raw, "m", nil)); code(err) != approvals.CodeMintsSpent {
		t.Error(err)
	}
	if v := w.delegate(hash); v.State != approvals.DelegateSpent {
		t.Errorf("%+v", v)
	}
	w.verified()
}

func TestDelegateAfterRestore(t *testing.T) {
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	if _, err := b.mint(b.request(t, raw, "n", nil)); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.Lock(context.Background(), "asked"); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.Restore(context.Background(), keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(time.Second)
	w.enrol()
	suspended(t, w, raw, b.seed)
}

func TestDelegateInACopiedFolder(t *testing.T) {
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	if _, err := b.mint(b.request(t, raw, "n", nil)); err != nil {
		t.Fatal(err)
	}
	w.stop()
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(copied, 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(copied)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Chmod(filepath.Join(copied, f.Name()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.dir, w.keys.dir = copied, copied
	w.start()
	if err := w.owner.Unlock(context.Background(), keys.SurfaceTerminal); code(err) != "copied" {
		t.Fatal(err)
	}
	if _, err := b.dial(nil); err == nil {
		b.connect()
		if _, err := b.mint(b.request(t, raw, "n", nil)); code(err) != approvals.CodeReadOnly {
			t.Error(err)
		}
	}
	if err := w.owner.NewInstance(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(time.Second)
	suspended(t, w, raw, b.seed)
}

// TestAnotherProgramGetsNothing knows the address, old requests, old proofs and even a paired client's place.
func TestAnotherProgramGetsNothing(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	f := w.form(b)
	f.BotPolicy, f.Bots = envelope.BotAny, nil
	raw := w.issue(f)
	old := b.request(t, raw, "n", nil)
	got, err := b.mint(old)
	if err != nil {
		t.Fatal(err)
	}
	challenge, err := b.conn.BotNonce(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := envelope.ParseBotChallenge(challenge)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := derive.SignDigest(b.seed[:], c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	asks := func(conn approvals.Conversation, want string) {
		t.Helper()
		_, err1 := conn.MintRequest(ctx, old)
		_, err2 := conn.MintSign(ctx, approvals.MintSignAsk{RequestID: "x", Mint: got.Mint, Payload: []byte(mintPayload)})
		_, err3 := conn.MintRecord(ctx, got.Mint)
		_, err4 := conn.MintDelegates(ctx)
		for i, err := range []error{err1, err2, err3, err4} {
			if code(err) != want {
				t.Errorf("call %d: %v, want %s", i+1, err, want)
			}
		}
	}
	stranger, _, err := w.agents.Hello(ctx, approvals.Peer{UserID: 1000}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.BotNonce(ctx); code(err) != approvals.CodeNotPaired {
		t.Error(err)
	}
	asks(stranger, approvals.CodeNotPaired)
	unproven := &agent{w: w, id: b.id}
	if conn, err := unproven.dial(nil); conn != nil && err == nil {
		t.Error("a client without the secret is proven")
	}
	other := w.pair("other")
	asks(other.conn, approvals.CodeBotNotProven)
	// The proof was made for another connection, and for another client.
	if _, err := other.conn.BotProve(ctx, b.address, proof); code(err) != approvals.CodeBotProof {
		t.Error(err)
	}
	if _, err := other.conn.BotNonce(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := other.conn.BotProve(ctx, b.address, proof); code(err) != approvals.CodeBotProof {
		t.Error(err)
	}
	asks(other.conn, approvals.CodeBotNotProven)
	// A bot of its own sees nothing of the first one's.
	thief := newBot(t, other, "two")
	thief.prove()
	if _, err := thief.mint(old); code(err) != approvals.CodeBotOther {
		t.Error(err)
	}
	if _, err := thief.use("x", got.Mint, []byte(mintPayload)); code(err) != approvals.CodeUnknownMint {
		t.Error(err)
	}
	if _, err := other.conn.MintRecord(ctx, got.Mint); code(err) != approvals.CodeUnknownMint {
		t.Error(err)
	}
	// The nonce is answered once, in time, on its own connection.
	if _, err := b.conn.BotNonce(ctx); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(3 * time.Minute)
	if _, err := b.conn.BotProve(ctx, b.address, proof); code(err) != approvals.CodeBotProof {
		t.Error(err)
	}
	// After a lock everybody proves anew.
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	asks(b.conn, approvals.CodeLocked)
	w.unlock()
	asks(b.conn, approvals.CodeBotNotProven)
	b.prove()
	if err := w.owner.RevokeClient(ctx, b.id); err != nil {
		t.Fatal(err)
	}
	asks(b.conn, approvals.CodeRevoked)
	if n := w.entries("capability.minted"); n != 1 {
		t.Errorf("%d mints", n)
	}
	if n := w.entries("minted.signed"); n != 0 {
		t.Errorf("%d signatures", n)
	}
}

func TestMintPayloads(t *testing.T) {
	w, b := mintWorld(t)
	f := w.form(b)
	f.MaxUsesPerAction = 9
	raw := w.issue(f)
	got, err := b.mint(b.request(t, raw, "n", func(f *envelope.RequestFields) { f.MaxUses = 9 }))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"type":"example.message"}`:            "",
		`{"operation":"wipe"}`:                  approvals.CodeContradiction,
		`{"resource":"thread:2"}`:               approvals.CodeContradiction,
		`{"resources":["thread:1","thread:2"]}`: approvals.CodeContradiction,
		`{"actionIndex":2}`:                     approvals.CodeContradiction,
		`{"agentId":"another"}`:                 approvals.CodeContradiction,
		`{"domainHash":"` + journal.Zero + `"}`: approvals.CodeContradiction,
		`{"type":"agentenvelope.mintRequest"}`:  approvals.CodeTypedPayload,
		`{"a":1,"a":1}`:                         approvals.CodeMalformed,
		`{"a":0.5}`:                             approvals.CodeMalformed,
	} {
		if _, err := b.use("r"+text[:min(len(text), 60)], got.Mint, []byte(text)); code(err) != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if n := w.entries("minted.signed"); n != 1 {
		t.Errorf("%d signatures", n)
	}
}

func TestPlanWarnsAndPreviews(t *testing.T) {
	w, b := mintWorld(t)
	f := w.form(b)
	f.BotPolicy, f.Bots, f.NotAfter = envelope.BotAny, nil, nil
	f.Resources = []string{"*", "a:b:*", "thread:*", "thread", "Mail:1"}
	f.MaxMints, f.MaxUsesPerAction = 5000, 5000
	f.Examples = []string{"thread:7", "thread:7:8", "x", "thread:*"}
	p, err := w.owner.PlanDelegate(f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range p.Warnings {
		got[x.Code] = x.Subject
	}
	for name, subject := range map[string]string{
		"any_resource": "", "no_end": "", "any_bot": "", "wildcard_never_matches": "a:b:*", "bare_prefix": "thread", "many_mints": "", "many_uses": "",
		"not_normal": "Mail:1",
	} {
		if s, ok := got[name]; !ok || s != subject {
			t.Errorf("%s: %q, %v", name, s, ok)
		}
	}
	want := []approvals.ResourcePreview{
		{Resource: "thread:7", Allowed: true, By: "thread:*"}, {Resource: "thread:7:8", Allowed: true, By: "thread:*"},
		{Resource: "x", Allowed: true, By: "*"}, {Resource: "thread:*", Why: "is_wildcard"},
	}
	for i, x := range p.Preview {
		if x != want[i] {
			t.Errorf("%+v, want %+v", x, want[i])
		}
	}
	if !strings.Contains(strings.Join(p.Says, "\n"), "At most 5000 capabilities, 5000 times each") {
		t.Errorf("%q", p.Says)
	}
	// Nothing is kept of a plan; an old one is not issued, and one that was edited is another one.
	if list := w.owner.Delegates(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	w.clock.pass(11 * time.Minute)
	if out, err := w.owner.IssueDelegate(t.Context(), p); err != nil || out.Code != approvals.CodePlanOld {
		t.Errorf("%+v, %v", out, err)
	}
	for name, change := range map[string]func(*approvals.DelegateForm){
		"no operations": func(f *approvals.DelegateForm) { f.Operations = nil },
		"no mints":      func(f *approvals.DelegateForm) { f.MaxMints = 0 },
		"a bad bot":     func(f *approvals.DelegateForm) { f.Bots = []string{"0x12"} },
		"inverted":      func(f *approvals.DelegateForm) { f.NotAfter = new(int64) },
	} {
		f := w.form(b)
		change(&f)
		if _, err := w.owner.PlanDelegate(f); code(err) != approvals.CodeMalformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestExportMint seals the material of a domain to one recipient; afterwards its delegates say that the bounds are not held.
func TestExportMint(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	hash := hashOf(t, raw)
	domain := w.owner.Domains()[0]
	to, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for recipient, want := range map[string]string{"": approvals.CodeRecipient, "age1xyz": keys.CodeRecipient, "ssh-ed25519 AAAA": keys.CodeRecipient} {
		if sealed, out, err := w.owner.ExportMint(ctx, domain.Hash, recipient); err != nil || out.Code != want || sealed != nil {
			t.Errorf("%q: %+v, %v", recipient, out, err)
		}
	}
	if _, out, err := w.owner.ExportMint(ctx, journal.Zero, to.Recipient().String()); err != nil || out.Code != approvals.CodeUnknownDomain {
		t.Errorf("%+v, %v", out, err)
	}
	if v := w.delegate(hash); !v.BoundsHeld {
		t.Error("what was refused counts as let out")
	}
	sealed, out, err := w.owner.ExportMint(ctx, domain.Hash, to.Recipient().String())
	if err != nil || out.Code != approvals.OutcomeDone {
		t.Fatalf("%+v, %v", out, err)
	}
	r, err := age.Decrypt(strings.NewReader(string(sealed)), to)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jcs.Parse([]byte(strings.TrimSpace(string(text))), jcs.Binding)
	if err != nil || v.Get("type").Text() != "vault.mintMaterial" || v.Get("domain").Get("domainHash").Text() != domain.Hash {
		t.Fatalf("%s, %v", text, err)
	}
	// Whoever has it derives the very key that the vault mints.
	got, err := b.mint(b.request(t, raw, "n", nil))
	if err != nil || got.BoundsHeld {
		t.Fatalf("%+v, %v", got, err)
	}
	material := fromHex(t, v.Get("mint_material").Text())
	report, m := envelope.VerifyMintRequest(b.request(t, raw, "n", nil), raw, envelope.Pins{DomainAddress: domain.Address}, w.clock.Now())
	if !report.Valid {
		t.Fatalf("%+v", report)
	}
	var seed derive.Secret
	if err := derive.RemoteMintSeed(&seed, material[:], m); err != nil {
		t.Fatal(err)
	}
	if address, err := derive.Address(seed[:]); err != nil || address != got.AgentAddress {
		t.Errorf("%s, %v, the vault mints %s", address, err, got.AgentAddress)
	}
	held := func() {
		t.Helper()
		if v := w.delegate(hash); v.BoundsHeld {
			t.Errorf("%+v", v)
		}
	}
	held()
	w.stop()
	w.start()
	w.unlock()
	held()
	// A new instance of the same sealed file knows it still.
	if err := w.owner.NewInstance(ctx); err != nil {
		t.Fatal(err)
	}
	held()
	w.verified()
}
