package approvals_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/store"
	"vault/derive/envelope"
)

// long says whether the large counts are wanted.
func long() bool { return os.Getenv("VAULT_TEST_LONG") == "1" }

func TestExactlyTen(t *testing.T) {
	n := 60
	if long() {
		n = 500
	}
	w := newWorld(t)
	w.create()
	a, b := w.pair("a"), w.pair("b")
	env := w.envelope(func(f *envelope.ActionFields) { f.MaxUses = envelope.Some(11) })
	a.grant(env, 10)
	var wg sync.WaitGroup
	var got, spent, other atomic.Int64
	for i := range n {
		wg.Go(func() {
			who := a
			if i%10 == 9 {
				who = b // has no grant
			}
			ans, err := who.ask(fmt.Sprint("r", i), env, payload(fmt.Sprint(i)), false)
			switch {
			case err == nil && ans.Result != nil:
				got.Add(1)
			case code(err) == approvals.CodeUsesSpent || code(err) == approvals.CodeNotShown:
				spent.Add(1)
			default:
				other.Add(1)
				t.Errorf("%+v, %v", ans, err)
			}
		})
	}
	wg.Wait()
	if got.Load() != 10 || int(spent.Load()) != n-10 {
		t.Fatalf("%d signed, %d refused, %d other", got.Load(), spent.Load(), other.Load())
	}
	if n := w.entries("action.signed"); n != 11 || w.keys.signed.Load() != 11 {
		t.Fatalf("%d entries, %d signatures", n, w.keys.signed.Load())
	}
	w.verified()
}

// TestSameIDAtOnce asks the same thing many times at once: one signature.
func TestSameIDAtOnce(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 10)
	var wg sync.WaitGroup
	answers := make([][]byte, 40)
	for i := range answers {
		wg.Go(func() {
			for {
				ans, err := a.ask("same", env, payload("same"), false)
				if err != nil {
					t.Error(err)
					return
				}
				if answers[i] = ans.Result; ans.Result != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, x := range answers {
		if !bytes.Equal(x, answers[0]) {
			t.Fatal("two answers for one request")
		}
	}
	if n := w.entries("action.signed"); n != 2 {
		t.Fatalf("%d entries", n)
	}
}

func TestKeyProcessDies(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 10)
	for name, bend := range map[string]func(*keyProcess){
		"before":    func(k *keyProcess) { k.before = func([]keys.Act) error { k.end(); return errors.New("gone") } },
		"after":     func(k *keyProcess) { k.after = func() error { k.end(); return errors.New("gone") } },
		"by itself": func(k *keyProcess) { k.end() },
	} {
		t.Run(name, func(t *testing.T) {
			bend(w.keys.last)
			before := w.entries("action.signed")
			ans, err := a.ask("r-"+name, env, payload(name), false)
			if c := code(err); c != approvals.CodeKeysEnded && c != approvals.CodeLocked {
				t.Fatalf("%+v, %v", ans, err)
			}
			if got := w.entries("action.signed"); got != before {
				t.Fatal("an entry of a signature that nobody got")
			}
			st := w.owner.Status()
			if st.State != approvals.StateLocked || st.LockReason != "ended" || st.Trouble == nil || st.Trouble.Code != approvals.CodeKeysEnded {
				t.Fatalf("%+v", st)
			}
			w.unlock()
			if st := w.owner.Status(); st.State != approvals.StateOpen || st.Trouble != nil {
				t.Fatalf("%+v", st)
			}
			if ans, err := a.ask("r-"+name, env, payload(name), false); err != nil || ans.Result == nil {
				t.Fatalf("after unlocking: %+v, %v", ans, err)
			}
			w.verified()
		})
	}
}

// edit opens the store of a stopped vault as any program could.
func (w *world) edit(statement string) int64 {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.dir, store.FileName))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	res, err := db.Exec(statement)
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// restoreDir puts the files of a copy back into the same folder, which the sealed file remembers.
func restoreDir(t *testing.T, from, to string) {
	t.Helper()
	for _, dir := range []string{to, from} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			path := filepath.Join(to, f.Name())
			if dir == to {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				continue
			}
			b, err := os.ReadFile(filepath.Join(from, f.Name()))
			if err == nil {
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestEveryEdit edits one row of a stopped vault at a time. Whatever was edited is named and
// not used: when the vault is opened, or, where only a use can tell, when it is used.
func TestEveryEdit(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	if _, err := a.ask("g1", env, payload("1"), false); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ask("no", env, []byte(`{"operation":"x"}`), true); err != nil {
		t.Fatal(err)
	}
	w.decide(w.openFirst(), approvals.VerdictDecline)
	s := w.owner.Settings()
	s.IdleMinutes = 30
	if err := w.owner.SaveSettings(ctx, s); err != nil {
		t.Fatal(err)
	}
	w.stop()
	good := t.TempDir()
	copyDir(t, w.dir, good)

	const (
		atStart  = "start"  // named when the desk begins
		atUnlock = "unlock" // named when the vault is opened
		atUse    = "use"    // named when the row would be used
	)
	flip := "x'00' || substr(body, 2)"
	for _, c := range []struct {
		name, edit, when, want string
	}{
		{"entry cut from the end", "DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)", atUnlock, "rolled_back"},
		{"last entry", "UPDATE entries SET raw = CAST(replace(CAST(raw AS TEXT), '\"quit\"', '\"idle\"') AS BLOB) WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last head of another entry", "UPDATE entries SET head = (SELECT head FROM entries WHERE seq = 1) WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"snapshot's head gone", "UPDATE entries SET head = NULL WHERE kind = 'snapshot'", atStart, "log_damaged"},
		{"an entry more", "INSERT INTO entries SELECT seq + 1, raw, hash, kind, at, client, request, tag, head FROM entries WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"snapshot entry gone", "DELETE FROM entries WHERE kind = 'snapshot'", atStart, "log_damaged"},
		{"snapshot gone", "DELETE FROM snapshots", atStart, "snapshot_missing"},
		{"snapshot edited", "UPDATE snapshots SET state = replace(CAST(state AS TEXT), '\"revoked\"', '\"\"') || ' '", atStart, "snapshot_edited"},
		{"snapshot moved", "UPDATE snapshots SET seq = seq - 1", atStart, "snapshot_edited"},
		{"last hash", "UPDATE entries SET hash = substr(hash, 1, 65) || CASE substr(hash, 66, 1) WHEN '0' THEN '1' ELSE '0' END WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last kind", "UPDATE entries SET kind = 'request.seen' WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last time", "UPDATE entries SET at = at + 1 WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last client", "UPDATE entries SET client = 'c_0000000000000000' WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last request", "UPDATE entries SET request = 'x' WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last tag", "UPDATE entries SET tag = 'x' WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"last head", "UPDATE entries SET head = replace(CAST(head AS TEXT), '\"sig\":\"', '\"sig\":\"A') WHERE seq = (SELECT max(seq) FROM entries)", atStart, "log_damaged"},
		{"snapshot head", "UPDATE entries SET head = replace(CAST(head AS TEXT), '\"sig\":\"', '\"sig\":\"A') WHERE kind = 'snapshot'", atUnlock, "log_damaged"},
		{"grant body", "UPDATE permits SET body = replace(CAST(body AS TEXT), '\"uses\":5', '\"uses\":9') WHERE kind = 'vault.grant'", atStart, approvals.CodeRowEdited},
		{"grant's envelope", "UPDATE permits SET about = replace(CAST(about AS TEXT), 'support', 'sapport') WHERE kind = 'vault.grant'", atStart, approvals.CodeRowEdited},
		{"grant's MAC", "UPDATE permits SET mac = '0x' || substr(mac, 4) || CASE substr(mac, 3, 1) WHEN '0' THEN '1' ELSE '0' END WHERE kind = 'vault.grant'", atUse, "bad_permit"},
		{"grant gone", "DELETE FROM permits WHERE kind = 'vault.grant'", atStart, "permit_missing"},
		{"grant under another id", "UPDATE permits SET id = 'g_0000000000000000' WHERE kind = 'vault.grant'", atStart, approvals.CodePermitNotInLog},
		{"a second grant", "INSERT INTO permits SELECT kind, 'g_0000000000000000', body, mac, secret, about FROM permits WHERE kind = 'vault.grant'", atStart, approvals.CodePermitNotInLog},
		{"client body", "UPDATE permits SET body = " + flip + " WHERE kind = 'vault.client'", atStart, approvals.CodeRowEdited},
		{"client's secret", "UPDATE permits SET secret = zeroblob(32) WHERE kind = 'vault.client'", atStart, approvals.CodeRowEdited},
		{"client gone", "DELETE FROM permits WHERE kind = 'vault.client'", atStart, "permit_missing"},
		{"a second client", "INSERT INTO permits SELECT kind, 'c_0000000000000000', replace(CAST(body AS TEXT), id, 'c_0000000000000000'), mac, secret, about FROM permits WHERE kind = 'vault.client'", atStart, approvals.CodePermitNotInLog},
		{"client's MAC", "UPDATE permits SET mac = '0x' || substr(mac, 4) || CASE substr(mac, 3, 1) WHEN '0' THEN '1' ELSE '0' END WHERE kind = 'vault.client'", atUse, "bad_permit"},
		{"domain body", "UPDATE permits SET body = " + flip + " WHERE kind = 'vault.domain'", atStart, approvals.CodeRowEdited},
		{"domain gone", "DELETE FROM permits WHERE kind = 'vault.domain'", atStart, "permit_missing"},
		{"domain's MAC", "UPDATE permits SET mac = '0x' || substr(mac, 4) || CASE substr(mac, 3, 1) WHEN '0' THEN '1' ELSE '0' END WHERE kind = 'vault.domain'", atUnlock, "bad_permit"},
		{"unknown permit", "INSERT INTO permits VALUES ('vault.other', 'x', x'7b7d', '0x" + strings.Repeat("0", 64) + "', NULL, NULL)", atStart, approvals.CodePermitNotInLog},
		{"idle time", "UPDATE settings SET value = '240' WHERE name = 'idle_minutes'", atStart, approvals.CodeRowEdited},
		{"idle time gone", "DELETE FROM settings WHERE name = 'idle_minutes'", atStart, approvals.CodeRowEdited},
		{"warning off", "INSERT OR REPLACE INTO settings VALUES ('warn_passkey', 'false')", atStart, approvals.CodeRowEdited},
		{"unknown setting", "INSERT INTO settings VALUES ('x', 'y')", atStart, approvals.CodeRowEdited},
		{"result", "UPDATE requests SET answer = replace(CAST(answer AS TEXT), '\"by\":\"grant\"', '\"by\":\"click\"') WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's signature", "UPDATE requests SET answer = (SELECT answer FROM requests WHERE request LIKE 'grant-%') WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's payload", "UPDATE requests SET payload = CAST('{}' AS BLOB) WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's digest", "UPDATE requests SET digest = 'x' WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's entry", "UPDATE requests SET seq = 2 WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's state", "UPDATE requests SET state = 'ended' WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's session", "UPDATE requests SET session = 'x' WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"a refusal in its place", "UPDATE requests SET answer = (SELECT answer FROM requests WHERE request = 'no'), state = 'ended' WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's envelope", "UPDATE requests SET envelope = CAST('{}' AS BLOB) WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
		{"result's method", "UPDATE requests SET method = 'x' WHERE request = 'g1'", atUse, approvals.CodeRowEdited},
	} {
		t.Run(c.name, func(t *testing.T) {
			restoreDir(t, good, w.dir)
			w.t = t
			if n := w.edit(c.edit); n < 1 {
				t.Fatal("nothing was edited")
			}
			w.start()
			defer w.stop()
			st := w.owner.Status()
			if c.when == atStart {
				if st.Trouble == nil || st.Trouble.Code != c.want || st.State != approvals.StateReadOnly {
					t.Fatalf("at the start: %s %+v", st.State, st.Trouble)
				}
				if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); code(err) != c.want {
					t.Fatalf("unlock: %v", err)
				}
				return
			}
			if st.Trouble != nil {
				t.Fatalf("at the start: %+v", st.Trouble)
			}
			err := w.owner.Unlock(ctx, keys.SurfaceTerminal)
			if c.when == atUnlock {
				if st := w.owner.Status(); code(err) != c.want || st.State != approvals.StateReadOnly || st.Trouble == nil || st.Trouble.Code != c.want {
					t.Fatalf("unlock: %v, %+v", err, st.Trouble)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b := &agent{w: w, id: a.id, secret: a.secret}
			b.connect()
			ans, err := b.ask("g1", env, payload("1"), false)
			if err == nil {
				ans, err = b.ask("g2", env, payload("2"), false)
			}
			if code(err) != c.want {
				t.Fatalf("use: %+v, %v", ans, err)
			}
		})
	}
}

// TestVerifyNamesOldEdits edits what lies before the newest snapshot: opening does not read it, and
// verifying the log names it.
func TestVerifyNamesOldEdits(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("name")
	a.grant(w.envelope(nil), 5)
	w.stop()
	good := t.TempDir()
	copyDir(t, w.dir, good)
	for _, c := range []struct {
		name, edit, code string
		first            uint64
	}{
		{"text", "UPDATE entries SET raw = CAST(replace(CAST(raw AS TEXT), '\"name\":\"name\"', '\"name\":\"eman\"') AS BLOB) WHERE kind = 'client.paired'", "changed", 0},
		{"gone", "DELETE FROM entries WHERE kind = 'client.paired'", "cut", 0},
		{"swapped", "UPDATE entries SET seq = CASE seq WHEN 3 THEN 4000 ELSE seq END", "cut", 3},
		{"column", "UPDATE entries SET at = at + 1 WHERE kind = 'client.paired'", "columns", 0},
		{"head of another", "UPDATE entries SET head = (SELECT head FROM entries WHERE seq = 1) WHERE kind = 'client.paired'", "bad_head", 0},
		{"head gone", "UPDATE entries SET head = NULL WHERE kind = 'client.paired'", "head_missing", 0},
		{"head's signature", "UPDATE entries SET head = CAST(replace(CAST(head AS TEXT), '\"sig\":\"', '\"sig\":\"A') AS BLOB) WHERE kind = 'client.paired'", "bad_head", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			restoreDir(t, good, w.dir)
			w.t = t
			if n := w.edit(c.edit); n < 1 {
				t.Fatal("nothing was edited")
			}
			w.start()
			defer w.stop()
			if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); err != nil {
				if code(err) == "log_damaged" {
					return // named even earlier
				}
				t.Fatal(err)
			}
			r, err := w.owner.VerifyLog(ctx)
			if err != nil || r.OK || c.code != "" && r.Code != c.code || c.first != 0 && r.FirstWrong != c.first {
				t.Fatalf("%+v, %v", r, err)
			}
		})
	}
}

// TestRowOfAnotherClient gives a client another's result by hand.
func TestRowOfAnotherClient(t *testing.T) {
	w := newWorld(t)
	w.create()
	a, b := w.pair("a"), w.pair("b")
	env := w.envelope(nil)
	a.grant(env, 5)
	if _, err := a.ask("mine", env, payload("x"), false); err != nil {
		t.Fatal(err)
	}
	w.stop()
	for i, row := range []string{
		fmt.Sprintf("'%s', request", b.id),              // the same id for another client
		fmt.Sprintf("'%s', 'other'", b.id),              // another id for another client
		fmt.Sprintf("'%s', 'not from the vault'", a.id), // the same client: its own result, under another name
	} {
		if n := w.edit("INSERT INTO requests SELECT " + row + ", digest, state, method, session, envelope, payload, seq, answer FROM requests WHERE request = 'mine' AND client = '" + a.id + "'"); n != 1 {
			t.Fatalf("row %d: %d", i, n)
		}
	}
	w.start()
	w.unlock()
	a.w, b.w = w, w
	a.connect()
	b.connect()
	for _, id := range []string{"mine", "other"} {
		if ans, err := b.conn.Await(context.Background(), id); code(err) != approvals.CodeRowEdited {
			t.Fatalf("%s: %+v, %v", id, ans, err)
		}
	}
	mine, err := a.conn.Await(context.Background(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := a.conn.Await(context.Background(), "not from the vault"); err != nil || !bytes.Equal(again.Result, mine.Result) {
		t.Fatalf("%+v, %v", again, err)
	}
	if n := w.keys.signed.Load(); n != 2 {
		t.Fatalf("%d signatures", n)
	}
}

// TestOlderStore puts an older copy of the store back.
func TestOlderStore(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	w.stop()
	old, err := os.ReadFile(filepath.Join(w.dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	w.unlock()
	a.w = w
	a.connect()
	for i := range 5 {
		if _, err := a.ask(fmt.Sprint("g", i), env, payload(fmt.Sprint(i)), false); err != nil {
			t.Fatal(err)
		}
	}
	st, err := a.conn.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	head := st[bytes.Index(st, []byte(`"log_head":`))+len(`"log_head":`) : len(st)-1]
	w.stop()
	if err := os.WriteFile(filepath.Join(w.dir, store.FileName), old, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("the vault remembers", func(t *testing.T) {
		w.start()
		defer w.stop()
		if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); code(err) != "rolled_back" {
			t.Fatal(err)
		}
		if st := w.owner.Status(); st.State != approvals.StateReadOnly || st.Trouble.Code != "rolled_back" {
			t.Fatalf("%+v", st)
		}
	})
	t.Run("a client remembers", func(t *testing.T) {
		w.start()
		defer w.stop()
		b := &agent{w: w, id: a.id, secret: a.secret}
		if _, err := b.dial(head); code(err) != approvals.CodeReadOnly {
			t.Fatal(err)
		}
		if st := w.owner.Status(); st.Trouble == nil || st.Trouble.Code != "rolled_back" {
			t.Fatalf("%+v", st)
		}
	})
	t.Run("a new instance", func(t *testing.T) {
		w.start()
		if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); code(err) != "rolled_back" {
			t.Fatal(err)
		}
		if err := w.owner.NewInstance(ctx); err != nil {
			t.Fatal(err)
		}
		st := w.owner.Status()
		if st.State != approvals.StateOpen || st.Trouble != nil {
			t.Fatalf("%+v", st)
		}
		if n := w.entries("instance.started"); n != 1 {
			t.Fatalf("%d beginnings", n)
		}
		if len(w.owner.Domains()) != 1 || len(w.owner.Clients()) != 0 {
			t.Fatalf("domains %v, clients %v", w.owner.Domains(), w.owner.Clients())
		}
		w.verified()
		b := w.pair("again")
		// Uses before this instance are not known: the envelope is suspended.
		if _, err := b.ask("r", env, payload("x"), true); code(err) != approvals.CodeSuspended || len(w.owner.Inbox()) != 0 {
			t.Fatal(err)
		}
		w.stop()
		w.start()
		w.unlock()
		w.verified()
	})
}

// TestNewInstanceWhileOpen begins one because the owner says so: what waited is withdrawn.
func TestNewInstanceWhileOpen(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	if _, err := a.ask("r", w.envelope(nil), payload("x"), true); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go func() {
		for {
			ans, err := a.conn.Await(ctx, "r")
			if err != nil || ans.Pending == "" {
				told <- err
				return
			}
		}
	}()
	if err := w.owner.NewInstance(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-told; code(err) != approvals.CodeWithdrawn && code(err) != approvals.CodeNotPaired {
		t.Fatal(err)
	}
	if len(w.owner.Inbox()) != 0 || len(w.owner.Clients()) != 0 || len(w.owner.Domains()) != 1 {
		t.Fatalf("%+v %+v %+v", w.owner.Inbox(), w.owner.Clients(), w.owner.Domains())
	}
	b := w.pair("b")
	b.grant(w.envelope(func(f *envelope.ActionFields) { f.Window.NotBefore = envelope.Some(w.clock.Now()) }), 1)
	w.stop()
	w.start()
	w.unlock()
	w.verified()
}

// TestNewInstanceAfterDamage begins one over a store that the desk itself refused.
func TestNewInstanceAfterDamage(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.create()
	w.pair("a")
	w.stop()
	w.edit("DELETE FROM permits WHERE kind = 'vault.client'")
	w.start()
	if err := w.owner.NewInstance(ctx); code(err) != approvals.CodeUnlockFirst {
		t.Fatal(err)
	}
	if err := w.owner.Unlock(ctx, keys.SurfaceTerminal); code(err) != "permit_missing" {
		t.Fatal(err)
	}
	if st := w.owner.Status(); st.State != approvals.StateReadOnly {
		t.Fatalf("%+v", st)
	}
	if err := w.owner.NewInstance(ctx); err != nil {
		t.Fatal(err)
	}
	if st := w.owner.Status(); st.State != approvals.StateOpen || st.Trouble != nil {
		t.Fatalf("%+v", st)
	}
	w.verified()
}

// TestSnapshots checks that a log is read from its newest snapshot on.
func TestSnapshots(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 10)
	for round := range 3 {
		if _, err := a.ask(fmt.Sprint("g", round), env, payload(fmt.Sprint(round)), false); err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.start()
		w.unlock()
		a.w = w
		a.connect()
	}
	if n := w.entries("snapshot"); n != 3 {
		t.Fatalf("%d snapshots", n)
	}
	if c := w.owner.Clients()[0]; c.Grants[0].Used != 3 || c.Signatures != 4 {
		t.Fatalf("%+v", c)
	}
	w.verified()
}

// TestSnapshotsWhileOpen makes them every few entries, and loads in chunks what lies after
// the newest when the desk ended without locking.
func TestSnapshotsWhileOpen(t *testing.T) {
	for _, chunk := range []int{1, 2, 3, 7, 1000} {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) {
			w := newWorld(t)
			w.create()
			w.desk.Shorten(5, 1000)
			a := w.pair("a")
			env := w.envelope(nil)
			a.grant(env, 10)
			for i := range 8 {
				if _, err := a.ask(fmt.Sprint("g", i), env, payload(fmt.Sprint(i)), false); err != nil {
					t.Fatal(err)
				}
			}
			if n := w.entries("snapshot"); n < 2 {
				t.Fatalf("%d snapshots", n)
			}
			// It ends without locking.
			w.keys.last.end()
			if err := w.desk.BreakStore(); err != nil {
				t.Fatal(err)
			}
			_ = w.desk.Close()
			w.start()
			w.desk.Shorten(5, chunk)
			w.unlock()
			if c := w.owner.Clients()[0]; c.Grants[0].Used != 8 {
				t.Fatalf("%+v", c)
			}
			w.verified()
		})
	}
}

// TestStoreFails signs what the store then does not take.
func TestStoreFails(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 10)
	// The disk refuses what the key process has signed.
	w.keys.last.after = func() error { return w.desk.BreakStore() }
	ans, err := a.ask("r1", env, payload("1"), false)
	if code(err) != approvals.CodeStoreFailed {
		t.Fatalf("%+v, %v", ans, err)
	}
	st := w.owner.Status()
	if st.State != approvals.StateLocked || st.Trouble == nil || st.Trouble.Code != approvals.CodeStoreFailed {
		t.Fatalf("%+v", st)
	}
	if _, err := a.conn.Await(context.Background(), "r1"); code(err) != approvals.CodeLocked {
		t.Fatal(err)
	}
	_ = w.desk.Close()
	w.start()
	w.unlock()
	a.w = w
	a.connect()
	if ans, err := a.ask("r1", env, payload("1"), false); err != nil || ans.Result == nil {
		t.Fatalf("%+v, %v", ans, err)
	}
	if c := w.owner.Clients()[0]; c.Grants[0].Used != 1 {
		t.Fatalf("%+v", c)
	}
	w.verified()
}

// TestHangingKeyProcess locks although the key process does not answer.
func TestHangingKeyProcess(t *testing.T) {
	w := newWorld(t)
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 10)
	free, entered := make(chan struct{}), make(chan struct{})
	// It answers in the end, too late: what it signed is told to nobody.
	w.keys.last.after = func() error { close(entered); <-free; return nil }
	told := make(chan error, 1)
	go func() { _, err := a.ask("r1", env, payload("1"), false); told <- err }()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.owner.Lock(ctx, "asked"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if st := w.owner.Status(); st.State != approvals.StateLocked {
		t.Fatalf("%+v", st)
	}
	close(free)
	if err := <-told; code(err) == "" {
		t.Fatal("a signature after the lock")
	}
	if n := w.entries("action.signed"); n != 1 {
		t.Fatalf("%d entries", n)
	}
	w.unlock()
	w.verified()
}
