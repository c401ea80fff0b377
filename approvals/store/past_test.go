package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOlderFormatsAreBroughtUp opens a store as each format left it.
func TestOlderFormatsAreBroughtUp(t *testing.T) {
	for from := 1; from < Format; from++ {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) {
			dir := t.TempDir()
			db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range append(slices.Clone(migrations[:from]), fmt.Sprint("PRAGMA user_version = ", from),
				"INSERT INTO sessions (client, session, last_used) VALUES ('c', 's', 4)",
				"INSERT INTO requests (client, request, digest, state, method, session, envelope, payload, seq, answer) VALUES ('c', 'r', 'd', 'done', 'm', 's', x'00', x'00', 7, x'00')",
			) {
				if _, err := db.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s := openTest(t, dir)
			if got, err := s.Sessions(); err != nil || len(got) != 1 || got[0].LastUsed != 4 {
				t.Errorf("%v, %v", got, err)
			}
			if got, err := s.RequestNames(FirstName, 10); err != nil || len(got) != 1 || got[0] != (RequestName{7, "c", "r", "d", "done"}) {
				t.Errorf("%v, %v", got, err)
			}
			if err := s.Do(func(tx *Tx) error { return tx.PutMoment(storedMoment("m1", MomentOpen, 1)) }); err != nil {
				t.Error(err)
			}
			var version int
			if err := s.conn.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&version); err != nil || version != Format {
				t.Errorf("format %d, %v", version, err)
			}
		})
	}
}

func TestNamesInPages(t *testing.T) {
	s := openTest(t, t.TempDir())
	want := []RequestName{{-5, "c3", "a", "d1", "done"}, {0, "c1", "b", "d1", "done"}, {4, "c1", "x", "d2", "ended"}, {4, "c1", "y", "d2", "ended"}, {4, "c2", "a", "d0", "done"}, {9, "c1", "a", "d9", "ended"}}
	if err := s.Do(func(tx *Tx) error {
		for i := range want {
			n := want[len(want)-1-i]
			if err := tx.AddRequest(Request{Client: n.Client, ID: n.ID, Digest: n.Digest, State: n.State, Seq: uint64(n.Seq)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []RequestName
		after := FirstName
		for {
			page, err := s.RequestNames(after, limit)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page...)
			if len(page) < limit {
				break
			}
			after = page[len(page)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %v", limit, got)
		}
	}
}

func TestCountInPages(t *testing.T) {
	s := openTest(t, t.TempDir())
	if err := s.Do(func(tx *Tx) error {
		for seq := uint64(1); seq <= 30; seq++ {
			e := entry(seq)
			e.Client, e.Kind, e.Tag = "c1", "k", []string{"", "t1", "t2"}[seq%3]
			if seq%10 == 0 {
				e.Client = []string{"", "c2", "c1"}[seq/10-1] // 10 by nobody, 20 by c2
			}
			if err := tx.AddEntry(e); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Tags("c1", "k"); err != nil || !slices.Equal(got, []string{"", "t1", "t2"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := s.Tags("c3", "k"); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	// t1: 1, 4, 7, 13, 16, 19, 22, 25, 28; up to 25 there are eight.
	for limit := 1; limit <= 9; limit++ {
		var all int64
		for after := uint64(0); ; {
			n, last, err := s.Count("c1", "k", "t1", after, 27, limit)
			if err != nil {
				t.Fatal(err)
			}
			if all += n; n < int64(limit) {
				break
			}
			after = last
		}
		if all != 8 {
			t.Errorf("pages of %d: %d", limit, all)
		}
	}
}

// TestPastIsReadByIndex: what a start reads is found without reading whole rows or whole tables.
func TestPastIsReadByIndex(t *testing.T) {
	s := openTest(t, t.TempDir())
	for query, index := range map[string]string{
		namesQuery: "SEARCH requests USING COVERING INDEX requests_names",
		tagsQuery:  "SEARCH entries USING COVERING INDEX entries_counts (client=? AND kind=? AND tag>?)",
		countQuery: "SEARCH entries USING COVERING INDEX entries_counts (client=? AND kind=? AND tag=? AND rowid>? AND rowid<?)",
	} {
		params := strings.Count(query, "?")
		if query == tagsQuery {
			params = 2 // numbered
		}
		rows, err := s.conn.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, make([]any, params)...)
		if err != nil {
			t.Fatal(err)
		}
		plan := ""
		for rows.Next() {
			var a, b, c int
			var line string
			if err := rows.Scan(&a, &b, &c, &line); err != nil {
				t.Fatal(err)
			}
			plan += line + "\n"
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, index) || strings.Contains(plan, "SCAN requests") || strings.Contains(plan, "SCAN entries") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}
