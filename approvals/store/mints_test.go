package store

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestMintsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	delegate := Delegate{Hash: "d1", Raw: []byte(`{"a":1}`), Origin: "issued", At: 5}
	mint := func(n int) Mint {
		return Mint{Seq: uint64(10 + n), Mint: fmt.Sprint("m", n), Delegate: "d1", Client: "c", Bot: "b", At: int64(n), Request: []byte("q"), Number: int64(n), MaxUses: 3}
	}
	if err := s.Do(func(tx *Tx) error {
		return errors.Join(tx.PutDelegate(delegate), tx.AddMint(mint(1)), tx.AddMint(mint(2)), tx.NameMint("m2", "0xa", []byte("att")), tx.UseMint("m2", 99), tx.UseMint("m2", 100))
	}); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]Mint{"its entry": {Seq: 11, Mint: "m9"}, "its request": {Seq: 99, Mint: "m1"}} {
		m.Delegate, m.Request = "d1", []byte("q")
		if err := s.Do(func(tx *Tx) error { return tx.AddMint(m) }); err == nil {
			t.Errorf("a second mint is kept under %s", name)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir)
	list, err := s.Delegates()
	if err != nil || len(list) != 1 || list[0].Hash != "d1" || !bytes.Equal(list[0].Raw, delegate.Raw) || list[0].Origin != "issued" || list[0].At != 5 {
		t.Errorf("%+v, %v", list, err)
	}
	if m, err := s.Mint("m2"); err != nil || m.Seq != 12 || m.Used != 2 || m.LastUse != 100 || m.Address != "0xa" || string(m.Attestation) != "att" || m.Number != 2 || m.MaxUses != 3 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := s.Mint("m3"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	for _, c := range []struct {
		delegate string
		before   uint64
		limit    int
		want     string
	}{{"d1", 0, 9, "m2m1"}, {"", 0, 9, "m2m1"}, {"d1", 12, 9, "m1"}, {"d1", 0, 1, "m2"}, {"d2", 0, 9, ""}} {
		rows, err := s.Mints(c.delegate, c.before, c.limit)
		got := ""
		for _, m := range rows {
			got += m.Mint
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
	if totals, err := s.MintTotals(); err != nil || len(totals) != 1 || totals[0] != (MintTotal{"d1", 6, 100}) {
		t.Errorf("%+v, %v", totals, err)
	}
	// Keys that were given as much as a number holds are summed up to what one holds.
	if err := s.Do(func(tx *Tx) error {
		for n := range 1025 {
			m := mint(100 + n)
			m.MaxUses = 1<<53 - 1
			if err := tx.AddMint(m); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if totals, err := s.MintTotals(); err != nil || len(totals) != 1 || totals[0].MaxUses != 1<<53-1 {
		t.Errorf("%+v, %v", totals, err)
	}
	// A new instance keeps signed delegates, which permit nothing, and no mint.
	if err := s.Do(func(tx *Tx) error { return tx.Archive("i") }); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Delegates(); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if rows, err := s.Mints("", 0, 9); err != nil || len(rows) != 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestMintSteps(t *testing.T) {
	s := openTest(t, t.TempDir())
	if err := s.Do(func(tx *Tx) error {
		for i, e := range []Entry{
			{Kind: "capability.minted", At: 5, Tag: "d1"}, {Kind: "minted.signed", At: 9, Tag: "d1"}, {Kind: "minted.signed", At: 11, Tag: "d1"},
			{Kind: "minted.signed", At: 11, Tag: "d2"}, {Kind: "action.signed", At: 11, Tag: "d1"}, {Kind: "minted.signed", At: 35, Tag: "d1"},
		} {
			e.Seq, e.Raw, e.Hash = uint64(i+1), []byte("{}"), fmt.Sprint(i)
			if err := tx.AddEntry(e); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.MintSteps("d1", 6, 10, 0, 6)
	if want := []MintStep{{0, 0, 1}, {10, 0, 1}, {30, 0, 1}}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.MintSteps("d1", 0, 10, 0, 6); err != nil || len(got) != 3 || got[0] != (MintStep{0, 1, 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.MintSteps("d1", 0, 10, 1, 3); err != nil || fmt.Sprint(got) != fmt.Sprint([]MintStep{{0, 0, 1}, {10, 0, 1}}) {
		t.Errorf("of some entries: %+v, %v", got, err)
	}
	var plan string
	if err := s.conn.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT count(*) FROM entries WHERE kind IN ('capability.minted', 'minted.signed') AND tag = ? AND at >= ? AND seq > ? AND seq <= ?", "d1", 0, 0, 100).
		Scan(new(int), new(int), new(int), &plan); err != nil || !bytes.Contains([]byte(plan), []byte("entries_minted")) {
		t.Errorf("a chart reads the whole log: %s, %v", plan, err)
	}
}
