package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func openTest(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func entry(seq uint64) Entry {
	return Entry{Seq: seq, Raw: []byte(fmt.Sprintf(`{"seq":%d}`, seq)), Hash: fmt.Sprintf("0x%064d", seq), Kind: "k", At: int64(seq), Client: "c", Request: "r"}
}

func TestReopenKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	p := Permit{Kind: "vault.client", ID: "c_1", Body: []byte("{}"), MAC: "0x1", Secret: []byte{1, 2}, About: []byte("e")}
	r := Request{Client: "c_1", ID: "r1", Digest: "d", State: "done", Method: "action.sign", Session: "s", Envelope: []byte("e"), Payload: []byte("p"), Seq: 1, Answer: []byte("a")}
	err := s.Do(func(tx *Tx) error {
		return errors.Join(tx.AddEntry(entry(1)), tx.PutPermit(p), tx.AddRequest(r), tx.TouchSession(Session{"c_1", "s", 5}),
			tx.PutBlock(Block{ID: "b1", UserID: 1000, Executable: "/x", Claimed: "y", At: 3}), tx.PutSetting("theme", "dark"),
			tx.PutMeta("instance", []byte("i")), tx.PutSnapshot(1, []byte("state")))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir)
	ps, err := s.Permits()
	if err != nil || len(ps) != 1 || fmt.Sprint(ps[0]) != fmt.Sprint(p) {
		t.Errorf("permits %v, %v", ps, err)
	}
	got, err := s.Request("c_1", "r1")
	if err != nil || fmt.Sprint(got) != fmt.Sprint(r) {
		t.Errorf("request %v, %v", got, err)
	}
	if err := s.Do(func(tx *Tx) error { return tx.AddRequest(r) }); err == nil {
		t.Error("one request id, two rows")
	}
	if got, err := s.RequestsOf(1); err != nil || len(got) != 1 || string(got[0].Answer) != "a" {
		t.Errorf("requests of entry %v, %v", got, err)
	}
	if v, err := s.Meta("instance"); err != nil || string(v) != "i" {
		t.Errorf("meta %q, %v", v, err)
	}
	if _, err := s.Meta("none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("meta: %v", err)
	}
	if seq, st, err := s.Snapshot(); err != nil || seq != 1 || string(st) != "state" {
		t.Errorf("snapshot %d %q %v", seq, st, err)
	}
	if m, err := s.Settings(); err != nil || m["theme"] != "dark" {
		t.Errorf("settings %v, %v", m, err)
	}
	if b, err := s.Blocks(); err != nil || len(b) != 1 || b[0].Executable != "/x" {
		t.Errorf("blocks %v, %v", b, err)
	}
	if x, err := s.Sessions(); err != nil || len(x) != 1 || x[0].LastUsed != 5 {
		t.Errorf("sessions %v, %v", x, err)
	}
}

func TestGroupKeepsWhoSucceeded(t *testing.T) {
	s := openTest(t, t.TempDir())
	var wg sync.WaitGroup
	errs := make([]error, 200)
	for i := range errs {
		wg.Go(func() {
			errs[i] = s.Do(func(tx *Tx) error {
				if err := tx.AddEntry(entry(uint64(i + 1))); err != nil {
					return err
				}
				if i%3 == 0 {
					return errors.New("no")
				}
				return nil
			})
		})
	}
	wg.Wait()
	es, err := s.Entries(1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[uint64]bool{}
	for _, e := range es {
		kept[e.Seq] = true
	}
	for i, err := range errs {
		if want := i%3 != 0; kept[uint64(i+1)] != want || (err == nil) != want {
			t.Errorf("entry %d: kept %v, error %v", i+1, kept[uint64(i+1)], err)
		}
	}
}

func TestDuplicateEntryIsRefused(t *testing.T) {
	s := openTest(t, t.TempDir())
	add := func() error { return s.Do(func(tx *Tx) error { return tx.AddEntry(entry(1)) }) }
	if err := add(); err != nil {
		t.Fatal(err)
	}
	if err := add(); err == nil {
		t.Fatal("one number, two entries")
	}
	if err := s.Failed(); err != nil {
		t.Fatalf("a refused row stopped the store: %v", err)
	}
}

func TestSecondDeskIsRefused(t *testing.T) {
	dir := t.TempDir()
	openTest(t, dir)
	s, err := Open(context.Background(), dir)
	if err == nil {
		_ = s.Close()
		t.Fatal("opened twice")
	}
	if !errors.Is(err, ErrInUse) {
		t.Fatal(err)
	}
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	if err := s.Do(func(tx *Tx) error {
		for i := uint64(1); i < 500; i++ {
			if err := tx.AddEntry(entry(i)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"not a database": func(b []byte) []byte { return []byte(strings.Repeat("no database ", 1000)) },
		"header":         func(b []byte) []byte { b[0] ^= 1; return b },
		"cut":            func(b []byte) []byte { return b[:len(b)/2] },
		"page":           func(b []byte) []byte { clear(b[len(b)/2 : len(b)/2+8192]); return b },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, damage(bytes.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(context.Background(), dir)
			if err == nil {
				_ = s.Close()
			}
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestNewerFormatIsReadOnly(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	if err := s.Do(func(tx *Tx) error { return tx.AddEntry(entry(1)) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir)
	if s.Mode() != ModeNewer {
		t.Fatalf("mode %s", s.Mode())
	}
	if err := s.Do(func(tx *Tx) error { return tx.AddEntry(entry(2)) }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if e, err := s.LastEntry(); err != nil || e.Seq != 1 {
		t.Errorf("read: %v %v", e, err)
	}
}

func TestArchiveKeepsTheOldLog(t *testing.T) {
	s := openTest(t, t.TempDir())
	if err := s.Do(func(tx *Tx) error {
		return errors.Join(tx.AddEntry(entry(1)), tx.PutPermit(Permit{Kind: "k", ID: "i", Body: []byte("b"), MAC: "m"}))
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(func(tx *Tx) error { return tx.Archive("old") }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LastEntry(); !errors.Is(err, ErrNotFound) {
		t.Errorf("the new log is not empty: %v", err)
	}
	old, err := s.OldPermits("k")
	if err != nil || len(old) != 1 || string(old[0].Body) != "b" {
		t.Errorf("old permits %v, %v", old, err)
	}
	n := 0
	if err := s.read("SELECT count(*) FROM old_entries WHERE instance = 'old'", nil, func(r *sql.Rows) error { return r.Scan(&n) }); err != nil || n != 1 {
		t.Errorf("%d old entries, %v", n, err)
	}
}

func TestDurabilityPragmas(t *testing.T) {
	s := openTest(t, t.TempDir())
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "locking_mode": "exclusive", "user_version": fmt.Sprint(Format)} {
		var got string
		if err := s.read("PRAGMA "+pragma, nil, func(r *sql.Rows) error { return r.Scan(&got) }); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
}

func TestCopyIsComplete(t *testing.T) {
	s := openTest(t, t.TempDir())
	if err := s.Do(func(tx *Tx) error { return tx.AddEntry(entry(1)) }); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	if err := s.CopyTo(context.Background(), file); err != nil {
		t.Fatal(err)
	}
	if err := s.CopyTo(context.Background(), file); !errors.Is(err, os.ErrExist) {
		t.Errorf("a copy over a file: %v", err)
	}
	c := openTest(t, dir)
	if e, err := c.LastEntry(); err != nil || e.Seq != 1 {
		t.Errorf("copy: %v %v", e, err)
	}
}

// BenchmarkDo writes an entry and a request in one transaction, as one signature
// does, into an empty store and into one that is full already.
func BenchmarkDo(b *testing.B) {
	sizes := []uint64{0, 20_000}
	if os.Getenv("VAULT_TEST_LONG") == "1" {
		sizes = append(sizes, 1_000_000)
	}
	for _, size := range sizes {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("%d entries/%d writers", size, n), func(b *testing.B) {
				s, err := Open(context.Background(), b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				answer := bytes.Repeat([]byte("a"), 3000)
				put := func(tx *Tx, seq uint64) error {
					e := entry(seq)
					id := fmt.Sprintf("%x", sha256.Sum256(e.Raw))
					return errors.Join(tx.AddEntry(e), tx.AddRequest(Request{Client: "c", ID: id, State: "done", Answer: answer, Seq: seq}))
				}
				seq := uint64(0)
				for seq < size {
					if err := s.Do(func(tx *Tx) error {
						for end := min(seq+5000, size); seq < end; {
							seq++
							if err := put(tx, seq); err != nil {
								return err
							}
						}
						return nil
					}); err != nil {
						b.Fatal(err)
					}
				}
				var next atomic.Uint64
				next.Store(seq)
				var wg sync.WaitGroup
				work := make(chan struct{}, b.N)
				for range b.N {
					work <- struct{}{}
				}
				close(work)
				b.ResetTimer()
				for range n {
					wg.Go(func() {
						for range work {
							if err := s.Do(func(tx *Tx) error { return put(tx, next.Add(1)) }); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
