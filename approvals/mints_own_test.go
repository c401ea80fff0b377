package approvals_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// second is another connection of the same client.
func (b *bot) second() *bot {
	b.w.t.Helper()
	other := &bot{agent: &agent{w: b.w, id: b.id, secret: b.secret}, seed: b.seed, address: b.address}
	other.connect()
	return other
}

// TestMintAnswersAreTheBotsOwn asks for what a minted key signs over other connections of the same client: without a bot, and as another
// bot, while it is being signed and afterwards.
func TestMintAnswersAreTheBotsOwn(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	f := w.form(b)
	f.BotPolicy, f.Bots = envelope.BotAny, nil
	got, err := b.mint(b.request(t, w.issue(f), "n", nil))
	if err != nil {
		t.Fatal(err)
	}
	nobody := b.second()
	thief := newBot(t, b.second().agent, "two")
	thief.prove()
	asks := func(when string) {
		t.Helper()
		if ans, err := nobody.conn.Await(ctx, "u1"); code(err) != approvals.CodeUnknownRequest {
			t.Errorf("%s, awaited without a bot: %+v, %v", when, ans, err)
		}
		if raw, err := nobody.conn.RecordGet(ctx, "u1"); code(err) != approvals.CodeUnknownRequest {
			t.Errorf("%s, its record without a bot: %s, %v", when, raw, err)
		}
		if ans, err := thief.use("u1", got.Mint, []byte(mintPayload)); code(err) != approvals.CodeUnknownMint {
			t.Errorf("%s, asked for by another bot: %+v, %v", when, ans, err)
		}
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	w.keys.last.before = func([]keys.Act) error {
		close(begun)
		<-goOn
		return nil
	}
	type answer struct {
		got useAnswer
		err error
	}
	told := make(chan answer, 1)
	go func() {
		got, err := b.use("u1", got.Mint, []byte(mintPayload))
		told <- answer{got, err}
	}()
	<-begun
	asked := make(chan struct{})
	go func() { // a thief that waits for the answer would wait for goOn
		defer close(asked)
		asks("being signed")
	}()
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		t.Error("another bot waits for the answer")
	}
	w.keys.last.before = nil
	close(goOn)
	first := <-told
	if first.err != nil {
		t.Fatal(first.err)
	}
	<-asked
	asks("signed")
	// The bot itself gets it again.
	if again, err := b.use("u1", got.Mint, []byte(mintPayload)); err != nil || again.Signature != first.got.Signature {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestEndedMintHasNoUsesLeft: a record tells no use that nothing would give.
func TestEndedMintHasNoUsesLeft(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	got, err := b.mint(b.request(t, raw, "n", nil))
	if err != nil {
		t.Fatal(err)
	}
	left := func(want int64) {
		t.Helper()
		rec, err := b.conn.MintRecord(ctx, got.Mint)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jcs.Parse(rec, jcs.Binding)
		if n, ok := v.Get("uses_left").Int(); err != nil || !ok || n != want {
			t.Errorf("%s, want %d left", rec, want)
		}
	}
	left(2)
	if _, err := b.use("u", got.Mint, []byte(mintPayload)); err != nil {
		t.Fatal(err)
	}
	left(1)
	if _, err := w.owner.RevokeDelegate(ctx, hashOf(t, raw)); err != nil {
		t.Fatal(err)
	}
	left(0)
}

// TestSuspendedIsRemoved: what was brought in and never admitted can be put away, and brought in again.
func TestSuspendedIsRemoved(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	hash := hashOf(t, raw)
	if err := w.owner.Lock(ctx, "asked"); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.Restore(ctx, keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(time.Second)
	w.enrol()
	for range 2 {
		if v := w.delegate(hash); v.State != approvals.DelegateSuspended {
			t.Fatalf("%+v", v)
		}
		if out, err := w.owner.RevokeDelegate(ctx, hash); err != nil || len(out) != 0 {
			t.Fatalf("%v, %v", out, err)
		}
		if list := w.owner.Delegates(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		if _, err := w.owner.RevokeDelegate(ctx, hash); code(err) != approvals.CodeUnknownDelegate {
			t.Error(err)
		}
		if out, err := w.owner.AdmitDelegate(ctx, hash, 1, ""); err != nil || out.Code != approvals.CodeUnknownDelegate {
			t.Errorf("%+v, %v", out, err)
		}
		w.stop()
		w.start()
		w.unlock()
		if list := w.owner.Delegates(); len(list) != 0 {
			t.Errorf("it is back after a restart: %+v", list)
		}
		if _, err := w.owner.ImportDelegate(ctx, raw); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.entries("delegate.ended"); n != 2 {
		t.Errorf("%d entries", n)
	}
	suspended(t, w, raw, b.seed)
}

// TestDelegatesThatCanGiveAreToldFirst: however many are over, a bot sees the one under which it may ask.
func TestDelegatesThatCanGiveAreToldFirst(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	first := w.issue(w.form(b))
	w.clock.pass(time.Second)
	later := w.issue(w.form(b))
	if _, err := w.owner.RevokeDelegate(ctx, hashOf(t, later)); err != nil {
		t.Fatal(err)
	}
	raw, err := b.conn.MintDelegates(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if a, z := strings.Index(string(raw), hashOf(t, first)), strings.Index(string(raw), hashOf(t, later)); a < 0 || z < a {
		t.Errorf("%s", raw)
	}
}

// TestRevokedThoughItsMintsAreUnreadable: what the store has lost of the mints keeps no delegate alive.
func TestRevokedThoughItsMintsAreUnreadable(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	raw := w.issue(w.form(b))
	if _, err := b.mint(b.request(t, raw, "n", nil)); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.edit("UPDATE mints SET number = 'x'")
	w.start()
	w.unlock()
	b.connect()
	b.prove()
	if _, err := w.owner.RevokeDelegate(ctx, hashOf(t, raw)); code(err) != approvals.CodeMintsUnread {
		t.Error(err)
	}
	if _, err := b.mint(b.request(t, raw, "m", nil)); code(err) != approvals.CodeDelegateEnded {
		t.Error(err)
	}
}

// TestManyDelegatesExpire: however many end together, the clock's other work, such as locking, waits for a few at a time.
func TestManyDelegatesExpire(t *testing.T) {
	ctx := context.Background()
	w, b := mintWorld(t)
	for range 20 {
		w.issue(w.form(b))
	}
	w.clock.pass(9 * 24 * time.Hour)
	w.owner.Touch()
	w.desk.Tick(ctx)
	if n := w.entries("delegate.ended"); n == 0 || n > 16 {
		t.Errorf("%d were ended at once", n)
	}
	w.desk.Tick(ctx)
	w.desk.Tick(ctx)
	if n := w.entries("delegate.ended"); n != 20 {
		t.Errorf("%d of 20 were ended", n)
	}
}
