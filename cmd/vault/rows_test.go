package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"vault/approvals"
	"vault/cmd/vault/internal/elsewhere"
)

// loud is a log in which somebody else's words are as long as they like.
type loud struct {
	approvals.Owner // nothing else is asked
	text            string
}

func (l loud) Events(approvals.EventFilter) ([]approvals.Event, error) {
	return []approvals.Event{{Seq: 1, Kind: "client.paired", Fields: []approvals.EventField{{Name: "claimed", Value: l.text}}}}, nil
}

func (l loud) ExportLog(_ context.Context, w io.Writer, _ string) error {
	_, err := io.WriteString(w, `{"claimed":"`+l.text+"\"}\n")
	return err
}

// On a terminal no text from outside begins a row; elsewhere lines stay whole.
func TestOutsideTextDoesNotReachTheMargin(t *testing.T) {
	const lie = "Verified against your pin."
	l := loud{text: strings.Repeat(strings.Repeat("x", 40-len(lie)%40)+lie, 20)}
	for _, columns := range []int{0, 40} {
		var out bytes.Buffer
		p := &program{out: &out, errOut: io.Discard, columns: columns}
		if err := p.printLog(l, 10); err != nil {
			t.Fatal(err)
		}
		if err := p.exportLog(t.Context(), l, "jsonl", ""); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if columns == 0 && len(rows) != 3 {
			t.Errorf("%d lines", len(rows))
		}
		for _, row := range rows {
			if columns > 0 && len(row) >= columns {
				t.Errorf("the terminal would wrap %q", row)
			}
			known := strings.HasPrefix(row, "1 1970") || strings.HasPrefix(row, "  claimed: ") || strings.HasPrefix(row, `{"claimed"`)
			if !known && !strings.HasPrefix(row, "  | ") {
				t.Errorf("%q begins a row", row)
			}
		}
	}
}

// What another desk says is cut into rows too, but for the link of a page and what forwards it.
func TestLinkFromElsewhereIsNotCut(t *testing.T) {
	link := "http://vault-01234567.localhost:40123/#" + strings.Repeat("Ab9_", 11)
	other := strings.Repeat("y", 60)
	for _, columns := range []int{0, 40} {
		var out bytes.Buffer
		p := &program{out: &out, errOut: io.Discard, columns: columns}
		if err := p.told(elsewhere.Told{Text: "Open this link:\n" + link + "\n" + other + "\n", Whole: []string{link, ""}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\n"+link+"\n") {
			t.Errorf("at %d columns the link is cut:\n%s", columns, out.String())
		}
		if cut := !strings.Contains(out.String(), other); cut != (columns > 0) {
			t.Errorf("at %d columns other text is cut: %v", columns, cut)
		}
	}
}
