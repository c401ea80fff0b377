package plain

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"ordinary", "send-message on thread:customer-123", "send-message on thread:customer-123"},
		{"override", "pay\u202e5", "pay<U+202E>5"},
		{"zero width", "Mill\u200bWeaving", "Mill<U+200B>Weaving"},
		{"escape sequence", "a\x1b[31mb", "a<U+001B>[31mb"},
		{"carriage return", "a\rb", "a<U+000D>b"},
		{"no-break space", "a\u00a0b", "a<U+00A0>b"},
		{"tag", "a\U000e0041b", "a<U+E0041>b"},
		{"filler", "a\u3164b", "a<U+3164>b"},
		{"bad byte", "a\xffb", "a<0xFF>b"},
		{"soft hyphen", "a\u00adb", "a<U+00AD>b"},
		{"private use", "a\ue000b", "a<U+E000>b"},
		{"unassigned", "a\u0378b", "a<U+0378>b"},
		{"variation selector", "a\ufe01b", "a<U+FE01>b"},
		{"spaces", "a" + strings.Repeat(" ", 412) + "b", "a<412 spaces>b"},
		{"few spaces", "a    b", "a    b"},
		{"spaces at the end", "a  ", "a<2 spaces>"},
		{"only a space", " ", "<1 space>"},
		{"tab", "a\tb", "a    b"},
		{"many tabs", "a" + strings.Repeat("\t", 40) + "b", "a<40 tabs>b"},
		{"empty lines", "a\n" + strings.Repeat("\n", 38) + "b", "a\n<38 empty lines>\nb"},
		{"two empty lines", "a\n\n\nb", "a\n\n\nb"},
		{"joiner in Latin", "a\u200db", "a<U+200D>b"},
		{"joiner in Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"family", "👩\u200d👧", "👩\u200d👧"},
		{"selector within a family", "\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"},
		{"a run of selectors", "\u2764\ufe0f\ufe0f\ufe0f!", "\u2764\ufe0f<U+FE0F><U+FE0F>!"},
		{"marks", "e" + strings.Repeat("\u0301", 16), "e" + strings.Repeat("\u0301", 4) + "<+12 marks>"},
		{"mark alone", "\u0301a", "<U+0301>a"},
		{"imitation", "a<U+202E>b", "a<U+003C>U+202E>b"},
		{"imitated fold", "<412 spaces>", "<U+003C>412 spaces>"},
		{"angle brackets", "if a<b && c>d", "if a<b && c>d"},
		{"Hebrew", "שלום", "שלום"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Check(c.in).String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMixed(t *testing.T) {
	got := Check("Pay to M\u0456llrace at Привет and Αθήνα")
	if got.Mixed != 1 || len(got.Warnings) != 1 {
		t.Fatalf("got %d mixed words, %v", got.Mixed, got.Warnings)
	}
	want := Warning{"M\u0456llrace", "Latin", "Cyrillic", "\u0456", "U+0456"}
	if got.Warnings[0] != want {
		t.Errorf("got %+v, want %+v", got.Warnings[0], want)
	}
	var marked []string
	for _, s := range got.Lines[0].Spans {
		if s.Kind == Mixed {
			marked = append(marked, s.Text)
		}
	}
	if fmt.Sprint(marked) != "[\u0456]" {
		t.Errorf("marked %q", marked)
	}
}

func TestHiddenDoesNotSplitAWord(t *testing.T) {
	if got := Check("M\u0456\u200bllrace").Mixed; got != 1 {
		t.Errorf("got %d mixed words, want 1", got)
	}
}

// visible fails on anything that must not be in checked text.
func visible(t *testing.T, text string, oneLine bool) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	for i, r := range text {
		switch {
		case r == '\n':
			if oneLine {
				t.Fatalf("line feed in one line: %q", text)
			}
		case r == 0x200c, r == 0x200d, r == 0xfe0f:
			if i == 0 {
				t.Fatalf("joiner at the start: %q", text)
			}
		case r != ' ' && (r < 0x20 || r == 0x7f || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Z)):
			t.Fatalf("%U is in %q", r, text)
		}
	}
}

func TestEveryCodePoint(t *testing.T) {
	seen := map[string]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r <= 0xdfff {
			continue
		}
		s := "a" + string(r) + "b"
		got := One(s)
		out := got.String()
		visible(t, out, true)
		if r != ' ' && r != '\t' && len(out) < 3 {
			t.Fatalf("%U vanished: %q", r, out)
		}
		if before, ok := seen[out]; ok {
			t.Fatalf("%U and %U look the same: %q", before, r, out)
		}
		seen[out] = r
	}
}

func TestWriters(t *testing.T) {
	const evil = "=cmd\x1b]0;x\x07\"<script>\u202e\nb\u009b31m\x7f"
	for _, b := range []byte(Terminal(evil)) {
		if b < 0x20 && b != '\n' || b == 0x7f {
			t.Errorf("Terminal wrote byte %#x", b)
		}
	}
	if out := TerminalLine(evil); strings.Contains(out, "\n") {
		t.Errorf("TerminalLine wrote a line feed: %q", out)
	}
	if out := HTML(evil); strings.ContainsAny(out, "<>\"") {
		t.Errorf("HTML wrote markup: %q", out)
	}
	rec, err := csv.NewReader(strings.NewReader(CSV(evil, "plain", " -1", ""))).Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(rec) != 4 || rec[0][0] != '\'' || rec[1] != "plain" || rec[2] != "' -1" || rec[3] != "" {
		t.Errorf("CSV gave %q", rec)
	}
}

func TestLong(t *testing.T) {
	word := strings.Repeat("x", 8000)
	if got := Check(word); len(got.Lines) != 1 || got.String() != word {
		t.Errorf("an 8,000 character word became %d lines", len(got.Lines))
	}
	mb := strings.Repeat("é\u202e\n\n\n\n", 1<<20/9)
	got := Check(mb)
	if got.Hidden != 1<<20/9 {
		t.Errorf("got %d hidden characters", got.Hidden)
	}
}

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 5, "abc"}, {"abc", 2, "ab"}, {"ae\u0301b", 2, "ae\u0301"}, {"", 3, ""}} {
		if got := First(c.in, c.n); got != c.want {
			t.Errorf("First(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	if got := First("a"+strings.Repeat("\u0301", 1000), 1); len(got) > 40 {
		t.Errorf("a pile of marks was not cut: %d bytes", len(got))
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":0,"b":[1,{"c":"x,{\"y"}],"d":{}}`, "{\n  \"a\": 0,\n  \"b\": [\n    1,\n    {\n      \"c\": \"x,{\\\"y\"\n    }\n  ],\n  \"d\": {}\n}"},
		{`[]`, "[]"},
		{`"x"`, `"x"`},
		{``, ``},
	} {
		if got := Spread(c.in); got != c.want {
			t.Errorf("Spread(%s) =\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name, in string
		rtl      bool
		want     string
	}{
		{"Latin", "abc", false, "abc"},
		{"Hebrew in Latin", "a שלום b", false, "a |שלום| b"},
		{"number in Hebrew, from the left", "a אב 12 גד b", false, "a |גד| |12| |אב| b"},
		{"number at the end of Hebrew", `"אב 12"`, false, `"|12| |אב|"`},
		{"from the right", "שלום abc", true, "abc| |שלום"},
		{"full stop from the right", "שמור עותק.", true, ".|שמור עותק"},
		{"brackets from the right", "(שלום)", true, "(|שלום|)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var parts []string
			for _, p := range Order(c.in, c.rtl) {
				parts = append(parts, p.Text)
			}
			if got := strings.Join(parts, "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if !RightToLeft("12 שלום") || RightToLeft("a שלום") {
		t.Error("first strong letter does not decide")
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", "a\u202eb", "\xff\xfe", "a\n\n\n\n\nb", "e\u0301\u0301\u0301\u0301\u0301", "M\u0456x", "<U+202E>", "👩\u200d👧", "\u0301", "שלום 12"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		visible(t, Check(s).String(), false)
		one := One(s)
		visible(t, one.String(), true)
		if len(one.Lines) != 1 {
			t.Fatalf("One gave %d lines", len(one.Lines))
		}
		if again := Check(Check(s).String()); again.Hidden != 0 {
			t.Fatalf("checked text still has %d hidden characters", again.Hidden)
		}
		var n int
		for _, p := range Order(one.String(), RightToLeft(s)) {
			n += len(p.Text)
		}
		if n != len(one.String()) {
			t.Fatalf("Order lost text: %d of %d bytes", n, len(one.String()))
		}
		blank := func(s string) string {
			return strings.NewReplacer(" ", "", "\n", "").Replace(s)
		}
		if blank(Spread(s)) != blank(s) {
			t.Fatalf("Spread changed %q", s)
		}
	})
}

func TestFolded(t *testing.T) {
	for in, want := range map[string]string{"": "", "one": "one", "a\nb": "a b", "a\r\n\r\n\nb\n": "a b", "\n\n": "", "a \u2028b": "a \u2028b"} {
		if got := Folded(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
