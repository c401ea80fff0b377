package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vault/approvals"
)

// TestNoRowOfOutsideTextBeginsAtTheMargin wraps a payload and a resource that put
// words of the vault where a terminal of that width would begin a new row.
func TestNoRowOfOutsideTextBeginsAtTheMargin(t *testing.T) {
	const fake = "End of what will be signed."
	for _, letter := range []string{".", "x", "世", "e\u0301", "🙂", "я"} {
		for _, cols := range []int{20, 79, 99, 200} {
			t.Run(fmt.Sprintf("%s at %d", letter, cols), func(t *testing.T) {
				s := sheetOf()
				var outside strings.Builder
				for pad := range 2 * cols {
					outside.WriteString(strings.Repeat(letter, pad) + fake)
				}
				s.Action.PayloadText = fmt.Sprintf("{\n  %q: 1\n}", outside.String())
				s.Action.Resources = []string{outside.String()}
				whole := Render(s, time.UTC)
				rows := wrap(whole, cols)
				if again := wrap(rows, cols); again != rows {
					t.Error("wrapping again changes the rows")
				}
				if strings.ReplaceAll(rows, "\n"+bar, "") != strings.ReplaceAll(whole, "\n"+bar, "") {
					t.Error("wrapping loses or adds text")
				}
				margin := 0
				for row := range strings.SplitSeq(rows, "\n") {
					used := 0
					for _, r := range row {
						used += columns(r)
					}
					if used > cols {
						t.Fatalf("a row of %d columns: %q", used, row)
					}
					if strings.HasPrefix(row, fake[:12]) {
						margin++
					}
				}
				if margin != 1 {
					t.Errorf("%d rows begin like the vault's own line, want its one", margin)
				}
			})
		}
	}
}

func TestWrapCutsAfterABlankThatIsNear(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"twenty columns wide.", "twenty columns wide."},
		{"twenty columns wide, and more\n", "twenty columns \n  | wide, and more\n"},
		{"the last word is-cut\nthe last word is-not-cut", "the last word is-cut\nthe last word is-not\n  | -cut"},
		{"words up to seventeen go", "words up to seventee\n  | n go"},
		{"words that go up sixteen", "words that go up \n  | sixteen"},
	} {
		if got := wrap(c.in, 20); got != c.want {
			t.Errorf("wrap(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestPagesFitTheScreen pages through one long line: what scrolls away unread was
// not shown.
func TestPagesFitTheScreen(t *testing.T) {
	d := open()
	d.sheet = sheetOf()
	d.sheet.Action.PayloadText = `"` + strings.Repeat("x", 80*40) + `"`
	d.dev = &device{rows: 24, cols: 80}
	on := step{wait: "more lines", after: InertFor, typed: "\r"}
	screen := talk(t, d, step{wait: "vault> ", typed: "open\r"}, on, on, on, step{wait: "Your answer: ", after: InertFor, typed: "q\r"})
	_, screen, _ = strings.Cut(screen, "vault> ")
	screen, _, _ = strings.Cut(screen, "a: Approve")
	for page := range strings.SplitSeq(screen, "more lines") {
		rows := 0
		for row := range strings.SplitSeq(page, "\n") {
			used := 0
			for _, r := range row {
				used += columns(r)
			}
			rows += 1 + used/100 // the marks of a prompt are not drawn
		}
		if rows > 24 {
			t.Errorf("a page of %d rows on a screen of 24", rows)
		}
	}
}

// A link, and the command that leads to it, are copied in one piece: they are longer than a terminal of 80 columns.
func TestLinkIsNotCut(t *testing.T) {
	link := "http://vault-01234567.localhost:40123/#" + strings.Repeat("Ab9_", 11)
	forward := "ssh -N -L 40123:localhost:40123 -p 2222 somebody-with-a-long-name@2001:db8:1234:5678:9abc:def0:1234:5678"
	d := &desk{status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey()}
	d.ceremony = newCeremony(approvals.Outcome{Code: "done"},
		approvals.CeremonyView{For: "r_1", State: approvals.CeremonyNoBrowser, Link: link, Forward: forward})
	d.dev = &device{cols: 80, rows: 200}
	out := talk(t, d, step{wait: "vault> ", typed: "open\r"}, step{wait: "Your answer: ", after: 2 * time.Second, typed: "a\r"}, step{wait: "b: go back", after: 2 * time.Second, typed: "b\r"})
	for _, want := range []string{link, forward} {
		if !strings.Contains(out, "\n"+want) {
			t.Errorf("%q is not in one piece:\n%s", want, out)
		}
	}
	// What only looks like one is cut as ever.
	dev := newDevice(t)
	dev.cols = 40
	c := NewConsole(dev, dev.now)
	odd := "x" + strings.Repeat("y", 60) + "\u202e"
	if err := c.PrintWhole(odd+"\n"+link+"\n", odd, "another"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dev.screen(), odd) || strings.Contains(dev.screen(), link) {
		t.Errorf("not cut:\n%s", dev.screen())
	}
}
