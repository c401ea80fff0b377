package ui_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"vault/approvals"
	"vault/approvals/moment"
	"vault/approvals/plain"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// The tests of this file bear the numbers of the acceptance criteria of the consent sheet. Those of the
// desk, the packages below it and the terminal are there; 39 and the greyscale of 8 are pictures in docs/img.

var (
	small = fyne.NewSize(720, 640)
	wide  = fyne.NewSize(900, 760)
)

// spot is a text that can be read without scrolling.
type spot struct {
	text       string
	x, y, w, h float32
}

// inView lists the texts of a window that can be read as it stands: inside the window and, in a view that
// scrolls, not covered or beyond its edges.
func inView(w fyne.Window) []spot {
	var out []spot
	size := w.Canvas().Size()
	var walk func(o fyne.CanvasObject, at fyne.Position, top, bottom float32)
	walk = func(o fyne.CanvasObject, at fyne.Position, top, bottom float32) {
		if !o.Visible() {
			return
		}
		at = at.Add(o.Position())
		switch o := o.(type) {
		case *canvas.Text:
			m := o.MinSize()
			if at.Y >= top-1 && at.Y+m.Height <= bottom+1 && at.X >= 0 && at.X+m.Width <= size.Width+1 {
				out = append(out, spot{o.Text, at.X, at.Y, m.Width, m.Height})
			}
		case *parts.Scroll:
			from, to := o.Shown()
			off := o.Inner.Offset.Y
			walk(o.Inner.Content, at.Add(fyne.NewPos(0, 0)), max(top, at.Y+from-off), min(bottom, at.Y+to-off))
			for _, c := range test.WidgetRenderer(o).Objects()[1:] {
				walk(c, at, top, bottom)
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c, at, top, bottom)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				walk(c, at, top, bottom)
			}
		}
	}
	walk(w.Canvas().Content(), fyne.Position{}, 0, size.Height)
	return out
}

func readable(w fyne.Window) string {
	var b strings.Builder
	for _, s := range inView(w) {
		b.WriteString(s.text + " ")
	}
	return b.String()
}

// place is where a text begins that can be read.
func place(t *testing.T, w fyne.Window, text string) spot {
	t.Helper()
	for _, s := range inView(w) {
		if strings.HasPrefix(s.text, text) {
			return s
		}
	}
	t.Fatalf("%q cannot be read: %s", text, readable(w))
	return spot{}
}

// decide opens a desk with one moment in a window of a size.
func decide(t *testing.T, d fakedesk.Draft, size fyne.Size) (*stage, fyne.Window) {
	t.Helper()
	return decideOn(t, fakedesk.Moment("m1", "travel-desk", "7f3a", 32*24*time.Hour, d), size)
}

func decideOn(t *testing.T, doc approvals.Sheet, size fyne.Size) (*stage, fyne.Window) {
	t.Helper()
	desk := fakedesk.Busy()
	desk.Items, desk.Sheets = nil, map[string]approvals.Sheet{}
	desk.Put(doc, true)
	s := newStage(t, desk)
	w := s.sheet("m1")
	w.Resize(size)
	s.wait()
	return s, w
}

// readAll scrolls every view to its end, as a person does who reads.
func readAll(w fyne.Window) {
	for _, b := range uiwalk.All[*hostile.Block](w.Canvas().Content()) {
		b.ShowAll()
		w.Content().Refresh()
		b.ScrollTo(1 << 30)
	}
	toEnds(w)
}

// choose selects a row and confirms it, with the step that an option needs.
func (s *stage) choose(w fyne.Window, label string) {
	s.t.Helper()
	readAll(w)
	s.wait()
	test.Tap(choice(s.t, w, label))
	readAll(w)
	s.wait()
	test.Tap(confirm(s.t, w))
	if len(s.desk.Decisions) == 0 {
		readAll(w)
		s.wait()
		test.Tap(confirm(s.t, w))
	}
}

func options(d fakedesk.Draft) []string {
	var out []string
	for _, o := range d.Question.Options {
		out = append(out, o.Label)
	}
	return out
}

type vectorSet struct {
	Vectors []struct {
		ID      string
		Raw     string
		Reason  string
		Actions []struct{ Canonical string }
	}
}

// vectors reads a suite of package moment.
func vectors(t *testing.T, suite string) vectorSet {
	t.Helper()
	var set vectorSet
	b, err := os.ReadFile(filepath.Join("..", "approvals", "moment", "testdata", suite+".json"))
	if err == nil {
		err = json.Unmarshal(b, &set)
	}
	if err != nil || len(set.Vectors) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	return set
}

// vector makes the sheet of a valid vector with all its actions.
func vector(t *testing.T, id string) approvals.Sheet {
	t.Helper()
	for _, v := range vectors(t, "envelopes-valid").Vectors {
		if strings.HasPrefix(v.ID, id) {
			var behind []moment.Behind
			for i, a := range v.Actions {
				behind = append(behind, moment.Behind{Option: i, Action: []byte(a.Canonical)})
			}
			return fakedesk.MomentOf("m1", "travel-desk", "7f3a", 32*24*time.Hour, []byte(v.Raw), behind)
		}
	}
	t.Fatalf("no vector %s", id)
	return approvals.Sheet{}
}

func TestCriterion01AllThatDecidesIsVisibleAtTheSmallestSize(t *testing.T) {
	_, w := decideOn(t, vector(t, "v01"), small)
	text := readable(w)
	for _, want := range []string{"travel-desk asks you to decide", "session 7f3a", "Share the travel dates and withhold the passport number.", "What should be shared with the booking service?",
		"Share dates only", "Share dates and passport number", "Agent recommends", "Decline", "Answer in my own words", "This is the wrong question"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q cannot be read without scrolling: %s", want, text)
		}
	}
}

func TestCriterion02TheBriefingIsDrawnWhole(t *testing.T) {
	for _, size := range []fyne.Size{small, wide} {
		doc := vector(t, "v01")
		_, w := decideOn(t, doc, size)
		c := doc.Moment.Sheet.Envelope.Content()
		text := readable(w)
		for _, want := range append([]string{c.Synopsis, c.Offer}, slices.Concat(c.Findings, c.Recommendations)...) {
			if !strings.Contains(text, want) {
				t.Errorf("at %v %q is not drawn", size, want)
			}
		}
		for _, v := range uiwalk.All[*parts.Scroll](w.Canvas().Content()) {
			if v.Covered() {
				t.Errorf("at %v something is said to be below", size)
			}
		}
	}
}

func TestCriterion03ReasoningStandsInItsOption(t *testing.T) {
	d := fakedesk.Returns()
	_, w := decide(t, d, small)
	for _, o := range d.Question.Options {
		if text := uiwalk.Text(choice(t, w, o.Label)); !strings.Contains(text, o.Reasoning) {
			t.Errorf("the row of %q holds: %s", o.Label, text)
		}
	}
}

func TestCriterion04OrderAndFixedFooter(t *testing.T) {
	d := fakedesk.Totes()
	d.Question.Hatches.Dialogue = true
	_, w := decide(t, d, fyne.NewSize(720, 900))
	y := float32(-1)
	for _, text := range []string{"travel-desk asks", "The agent corrects itself.", "Reorder 400", "Stock covers", "Order before", "Ask for the price", "How many totes", "Order 400 now", "Order 200 now", "Decline", "Answer in my"} {
		p := place(t, w, text)
		if p.y <= y {
			t.Errorf("%q stands at %v, what comes before it at %v", text, p.y, y)
		}
		y = p.y
	}
	w.Resize(small)
	before := []spot{place(t, w, "travel-desk asks"), place(t, w, "Decline"), place(t, w, "Answer in my")}
	readAll(w)
	place(t, w, "Ask for the price")
	if after := []spot{place(t, w, "travel-desk asks"), place(t, w, "Decline"), place(t, w, "Answer in my")}; !slices.Equal(before, after) {
		t.Errorf("scrolling has moved the footer or the requester line: %v, %v", before, after)
	}
}

func TestCriterion05OptionsKeepTheirOrder(t *testing.T) {
	d := fakedesk.Returns()
	d.Question.Recommended = 2
	_, w := decide(t, d, small)
	y := float32(0)
	for _, label := range options(d) {
		p := place(t, w, label)
		if p.y <= y {
			t.Errorf("%q stands at %v, after %v", label, p.y, y)
		}
		y = p.y
	}
	if text := uiwalk.Text(choice(t, w, "Replace the rucksack")); !strings.Contains(text, "Agent recommends") {
		t.Error("the mark is not in the recommended row")
	}
}

func TestCriterion06And07TheBandHasNoTextOfTheEnvelopeAndNothingTakesEffect(t *testing.T) {
	d := fakedesk.Travel()
	evil := "[zz](http://zz.example/a.png) <b>zz</b> \u202ezz"
	d.Synopsis, d.Findings[0], d.Offer, d.Question.Stem = evil, evil, evil, evil
	d.Question.Options[0].Label, d.Question.Options[1].Reasoning = evil, evil
	d.Meta = &fakedesk.DraftMeta{Class: evil, Note: evil}
	_, w := decide(t, d, fyne.NewSize(900, 1000))
	for _, s := range inView(w) {
		if s.y < 60 && strings.Contains(s.text, "zz") {
			t.Errorf("above the seam: %q", s.text)
		}
		if strings.ContainsRune(s.text, '\u202e') {
			t.Errorf("a control reached the painter: %q", s.text)
		}
	}
	contains(t, w.Canvas().Content(), "[zz](http://zz.example/a.png) <b>zz</b>")
	if n := len(uiwalk.All[*widget.Hyperlink](w.Canvas().Content())) + len(uiwalk.All[*widget.RichText](w.Canvas().Content())); n != 0 {
		t.Errorf("%d objects that give text an effect", n)
	}
	if w.Title() != "Vault: a request" {
		t.Errorf("title %q", w.Title())
	}
}

func TestCriterion08TheRecommendedRowIsMarkedByWordShapeAndRule(t *testing.T) {
	_, w := decide(t, fakedesk.Travel(), small)
	for label, want := range map[string]bool{"Share dates only": true, "Share dates and passport number": false, "Decline": false} {
		c := choice(t, w, label)
		rules, flags := 0, strings.Contains(uiwalk.Text(c), "Agent recommends")
		for _, b := range uiwalk.All[*look.Box](c) {
			if b.Inner != "" {
				rules++
			}
		}
		if flags != want || rules > 0 != want {
			t.Errorf("%s: word %v, double rules %d", label, flags, rules)
		}
	}
}

func TestCriterion09To11NothingIsSelectedAndEnterDoesNotConfirm(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	if _, ok := w.Canvas().Focused().(*parts.Heading); !ok {
		t.Fatalf("the keyboard is on %T", w.Canvas().Focused())
	}
	for _, k := range []fyne.KeyName{fyne.KeyReturn, fyne.KeySpace, fyne.KeyEnter} {
		key(w, k)
	}
	if b := confirm(t, w); b.Label() != "Nothing selected" || !b.Disabled() {
		t.Fatalf("the button reads %q", b.Label())
	}
	w.Canvas().Focus(choice(t, w, "Share dates only"))
	for range 3 {
		key(w, fyne.KeyReturn)
		s.wait()
	}
	if b := confirm(t, w); b.Label() != "Confirm: Share dates only" {
		t.Errorf("Enter on an option gives %q", b.Label())
	}
	if len(s.desk.Decisions) != 0 {
		t.Errorf("Enter on an option has decided: %+v", s.desk.Decisions)
	}
}

func TestCriterion12And14RowsAreOfOneSize(t *testing.T) {
	d := fakedesk.Returns()
	_, w := decide(t, d, small)
	want := choice(t, w, d.Question.Options[0].Label).Size()
	for _, label := range append(options(d), "Decline") {
		if got := choice(t, w, label).Size(); got != want {
			t.Errorf("%q is %v, the first %v", label, got, want)
		}
	}
	if d := choice(t, w, "Decline"); d.Disabled() {
		t.Error("Decline is disabled")
	}
}

func TestCriterion13TheButtonIsNamedAfterTheRow(t *testing.T) {
	long := strings.Repeat("a long label ", 20)
	d := fakedesk.Travel()
	d.Question.Options[1].Label = long
	s, w := decide(t, d, small)
	for label, want := range map[string]string{"Share dates only": "Confirm: Share dates only", long: "Confirm: option 2", "Decline": "Confirm: Decline", "This is the wrong question": "Confirm: This is the wrong question"} {
		s.wait()
		test.Tap(choice(t, w, label))
		if b := confirm(t, w); b.Label() != want {
			t.Errorf("%q: %q", label, b.Label())
		}
	}
}

func TestLongLabelMovesTheButtonAndIsInertForIt(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	test.Tap(choice(t, w, "Share dates and passport number"))
	if b := confirm(t, w); b.Label() != "Confirm: Share dates and passport number" || b.Size().Width < 600 {
		t.Fatalf("the button reads %q and is %v", b.Label(), b.Size())
	}
	place(t, w, "Confirm: Share dates and passport number")
	test.Tap(confirm(t, w))
	test.Tap(choice(t, w, "Decline"))
	if confirm(t, w).Label() != "Confirm: Share dates and passport number" {
		t.Error("a click within the second after the rows moved was heard")
	}
	s.wait()
	test.Tap(choice(t, w, "Decline"))
	if b := confirm(t, w); b.Label() != "Confirm: Decline" || b.Size().Width > 400 {
		t.Errorf("the button reads %q and is %v", b.Label(), b.Size())
	}
}

func TestCriterion14To18TheFourWaysSendExactlyTheirResolution(t *testing.T) {
	d := fakedesk.Travel()
	d.Question.Options[1].Label = "No"
	digest := fakedesk.Moment("m1", "travel-desk", "7f3a", 0, d).Digest
	for label, want := range map[string]approvals.Decision{
		"Share dates only":           {Verdict: approvals.VerdictOption, Option: 0},
		"No":                         {Verdict: approvals.VerdictOption, Option: 1},
		"Decline":                    {Verdict: approvals.VerdictDecline},
		"This is the wrong question": {Verdict: approvals.VerdictQuestion},
	} {
		t.Run(label, func(t *testing.T) {
			s, w := decide(t, d, small)
			s.choose(w, label)
			want.ID, want.Digest = "m1", digest
			if len(s.desk.Decisions) != 1 || s.desk.Decisions[0] != want {
				t.Errorf("decided %+v, want %+v", s.desk.Decisions, want)
			}
		})
	}
}

func TestCriterion14DeclineTakesOneClickAndOneConfirm(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	test.Tap(choice(t, w, "Decline"))
	s.wait()
	test.Tap(confirm(t, w))
	if len(s.desk.Decisions) != 1 {
		t.Errorf("decided %+v", s.desk.Decisions)
	}
}

func area(t *testing.T, w fyne.Window) *parts.Area {
	t.Helper()
	a, ok := w.Canvas().Focused().(*parts.Area)
	if !ok {
		t.Fatalf("the keyboard is on %T", w.Canvas().Focused())
	}
	return a
}

func TestCriterion17InOwnWords(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	test.Tap(choice(t, w, "Answer in my own words"))
	a := area(t, w)
	if b := confirm(t, w); b.Label() != "Confirm: Send my answer" || !b.Disabled() {
		t.Fatalf("a blank answer can be sent: %q", b.Label())
	}
	a.SetText(" \n\u200b\t")
	if !confirm(t, w).Disabled() {
		t.Error("an answer that shows nothing can be sent")
	}
	a.SetText("")
	typed := func(text string) {
		for _, r := range text {
			if r == '\n' {
				a.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
				continue
			}
			a.TypedRune(r)
		}
	}
	typed("  Only the month,\nplease. ")
	if len(s.desk.Decisions) != 0 {
		t.Fatal("Enter has sent the answer")
	}
	submit := &desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierControl}
	a.TypedShortcut(submit)
	if len(s.desk.Decisions) != 0 {
		t.Fatal("an answer was sent within the second")
	}
	s.wait()
	a.TypedShortcut(submit)
	if len(s.desk.Decisions) != 1 || s.desk.Decisions[0].Verdict != approvals.VerdictAnswer || s.desk.Decisions[0].Answer != "  Only the month,\nplease. " {
		t.Fatalf("decided %+v", s.desk.Decisions)
	}
	contains(t, w.Canvas().Content(), "You answered in your own words")
}

func TestAnswerThatIsTooLongIsRefusedAsAWhole(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	test.Tap(choice(t, w, "Answer in my own words"))
	s.app.Clipboard().SetContent(strings.Repeat("x", 5000))
	a := area(t, w)
	a.TypedShortcut(&fyne.ShortcutPaste{Clipboard: s.app.Clipboard()})
	if a.Text != "" {
		t.Errorf("%d characters were taken", len(a.Text))
	}
	contains(t, w.Canvas().Content(), "4,000 characters at most")
}

func TestRecoveryWordsAreHeldBack(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), wide)
	test.Tap(choice(t, w, "Answer in my own words"))
	area(t, w).SetText("ability able about above absent absorb abstract absurd abuse access accident account")
	s.wait()
	if !confirm(t, w).Disabled() {
		t.Error("they can be sent")
	}
	contains(t, w.Canvas().Content(), "Held back")
	area(t, w).SetText("ability able about above absent absorb abstract absurd abuse access accident")
	if confirm(t, w).Disabled() {
		t.Error("eleven words are held back")
	}
	// what the desk holds back stays open too
	s.desk.Outcome = approvals.Outcome{Code: "recovery_words"}
	s.wait()
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "was held back")
	if len(s.desk.Decisions) != 1 || confirm(t, w) == nil {
		t.Error("the sheet is over")
	}
}

func TestCriterion18TheObjectionIsOutsideTheResolution(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	s.choose(w, "This is the wrong question")
	contains(t, w.Canvas().Content(), "You rejected the question")
	contains(t, w.Canvas().Content(), "This is no part of the resolution.")
	list := uiwalk.All[*parts.Area](w.Canvas().Content())
	if len(list) != 1 {
		t.Fatalf("%d fields", len(list))
	}
	list[0].SetText("Ask about the hotel first.")
	s.wait()
	press(t, w.Canvas().Content(), "Copy what I wrote")
	if got := s.app.Clipboard().Content(); got != "Ask about the hotel first." {
		t.Errorf("copied %q", got)
	}
	if len(s.desk.Decisions) != 1 || s.desk.Decisions[0].Answer != "" {
		t.Errorf("decided %+v", s.desk.Decisions)
	}
}

func TestCriterion19And20Hatches(t *testing.T) {
	const own, wrong = "Answer in my own words", "This is the wrong question"
	for _, c := range []struct{ freeText, dialogue bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			d := fakedesk.Returns()
			d.Question.Hatches = fakedesk.DraftHatches{FreeText: c.freeText, Dialogue: c.dialogue}
			_, w := decide(t, d, small)
			root := w.Canvas().Content()
			text := readable(w)
			for label, on := range map[string]bool{own: c.freeText, wrong: c.dialogue} {
				if got := uiwalk.Choice(root, label) != nil; got != on {
					t.Errorf("%q operable: %v", label, got)
				}
				if on && !strings.Contains(text, label) {
					t.Errorf("%q cannot be read", label)
				}
				if off := "The agent turned off: " + strings.ToLower(label[:1]) + label[1:] + "."; !on && (c.freeText || c.dialogue) && !strings.Contains(text, off) {
					t.Errorf("%q is not said: %s", off, text)
				}
			}
			if both := strings.Contains(text, "You can only choose or decline."); both != (!c.freeText && !c.dialogue) {
				t.Errorf("only choose or decline: %v", both)
			}
		})
	}
}

func TestCriterion21RejectedBefore(t *testing.T) {
	doc := fakedesk.Moment("m1", "travel-desk", "7f3a", 0, fakedesk.Travel())
	doc.Moment.Repetition.Rejected = true
	_, w := decideOn(t, doc, small)
	if text := readable(w); !strings.Contains(text, "You rejected this question before") {
		t.Errorf("not said: %s", text)
	}
}

func TestCriterion22EveryLineCanBeAskedAbout(t *testing.T) {
	d := fakedesk.Travel()
	_, w := decide(t, d, small)
	for _, name := range []string{"finding 1", "finding 2", "finding 3", "recommendation 1", "recommendation 2", "option 1", "option 2"} {
		if uiwalk.Button(w.Canvas().Content(), "Ask about "+name) == nil {
			t.Errorf("%s cannot be asked about", name)
		}
	}
	place(t, w, d.Offer)
	place(t, w, "asks about one line and decides nothing")
}

func TestCriterion23And24AskingDecidesNothingAndRepliesStandBeside(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), fyne.NewSize(900, 900))
	root := func() fyne.CanvasObject { return w.Canvas().Content() }
	press(t, root(), "Ask about finding 3")
	area(t, w).SetText("Who says so?")
	press(t, root(), "Send the question")
	if len(s.desk.Calls) != 0 {
		t.Fatal("asked within the second")
	}
	s.wait()
	press(t, root(), "Send the question")
	if got := fmt.Sprint(s.desk.Calls); got != "[ask m1 findings.2 Who says so?]" {
		t.Fatalf("calls: %s", got)
	}
	contains(t, root(), "Asked. The question stays open.")
	contains(t, root(), "No reply yet.")
	if len(s.desk.Decisions) != 0 {
		t.Fatalf("decided %+v", s.desk.Decisions)
	}
	s.wait()
	s.desk.Reply("m1", "Their terms, section 4.\u202e")
	contains(t, root(), "Beside the sheet: not part of what is decided or signed")
	contains(t, root(), "Their terms, section 4.")
	test.Tap(choice(t, w, "Decline"))
	if confirm(t, w).Label() != "Nothing selected" {
		t.Error("48: a click within the second after a reply was heard")
	}
	s.wait()
	test.Tap(choice(t, w, "Decline"))
	s.wait()
	test.Tap(confirm(t, w))
	if d := s.desk.Decisions; len(d) != 1 || d[0].Digest != fakedesk.Moment("m1", "", "", 0, fakedesk.Travel()).Digest {
		t.Errorf("decided %+v", d)
	}
}

func TestCriterion25TheCalibrationNoteIsFirst(t *testing.T) {
	_, w := decide(t, fakedesk.Totes(), small)
	note, synopsis := place(t, w, "The agent corrects itself."), place(t, w, "Reorder 400")
	if note.y >= synopsis.y {
		t.Errorf("the note stands at %v, the synopsis at %v", note.y, synopsis.y)
	}
	place(t, w, "This morning I said the price holds all month.")
}

func TestCriterion26Rates(t *testing.T) {
	s := newStage(t, fakedesk.Deciding())
	test.Tap(uiwalk.Row(s.root(), "Activity"))
	press(t, s.root(), "Decisions")
	for _, want := range []string{"39 % · 7 of 18", "50 % · 9 of 18", "33 % · 6 of 18", "22 % · 4 of 18", "7 % · 3 of 41", "no class named", "purchase"} {
		contains(t, s.root(), want)
	}
	test.Tap(uiwalk.Row(s.root(), "Agents"))
	contains(t, s.root(), "How it asks for decisions")
	contains(t, s.root(), "50 % · 9 of 18")
}

func TestCriterion27NoClassRemovesAStep(t *testing.T) {
	steps := func(class string) int {
		d := fakedesk.Travel()
		if class != "" {
			d.Meta = &fakedesk.DraftMeta{Class: class}
		}
		s, w := decide(t, d, fyne.NewSize(720, 760))
		test.Tap(choice(t, w, "Share dates only"))
		n := 0
		for len(s.desk.Decisions) == 0 && n < 10 {
			s.wait()
			readAll(w)
			test.Tap(confirm(t, w))
			n++
		}
		return n
	}
	want := steps("")
	if want != 2 {
		t.Errorf("%d steps without a class, want the button and the confirm step", want)
	}
	for _, class := range []string{"routine", "no confirmation needed", "payment", "\u200b"} {
		if got := steps(class); got < want {
			t.Errorf("class %q: %d steps, without one %d", class, got, want)
		}
	}
}

func TestCriterion28And29WhatIsBehindAnOption(t *testing.T) {
	_, w := decide(t, fakedesk.Travel(), small)
	row := uiwalk.Text(choice(t, w, "Share dates and passport number"))
	for _, want := range []string{"disclose passport_number, travel_dates", "recipient booking.example", "matches 49be14ae"} {
		if !strings.Contains(row, want) {
			t.Errorf("%q is not in the row: %s", want, row)
		}
	}
	s, w := decide(t, fakedesk.Reply(), fyne.NewSize(900, 1100))
	blocked := choice(t, w, "Say nothing yet")
	if text := uiwalk.Text(blocked); !strings.Contains(text, "Blocked: this is not the action it names.") {
		t.Errorf("no reason: %s", text)
	}
	s.wait()
	test.Tap(blocked)
	blocked.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if confirm(t, w).Label() != "Nothing selected" {
		t.Error("a blocked option was selected")
	}
	signs := uiwalk.Text(choice(t, w, "It leaves today"))
	for _, want := range []string{"Signs as 0x7c1e", "Domain support-ops", "Operation send-message", "channel:support", "2026-12-31T23:59:00.000Z", "Uses 25"} {
		if !strings.Contains(signs, want) {
			t.Errorf("%q is not in the row: %s", want, signs)
		}
	}
	if text := uiwalk.Text(choice(t, w, "It leaves this week")); !strings.Contains(text, "The action and its envelope disagree on") || !strings.Contains(text, "post-message ”, the envelope says “ send-message") {
		t.Errorf("the contradiction is not said: %s", text)
	}
	s, w = decide(t, fakedesk.Totes(), small)
	unseen := choice(t, w, "Order 200 now")
	if text := uiwalk.Text(unseen); !strings.Contains(text, "The vault has not seen this action.") {
		t.Errorf("29: %s", text)
	}
	readAll(w)
	test.Tap(unseen)
	readAll(w)
	s.wait() // its label takes a line of its own, which moves the rows
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "This selects it and signs nothing.")
	if len(s.desk.Decisions) != 0 {
		t.Error("no confirm step")
	}
}

func TestCriterion30Twins(t *testing.T) {
	_, w := decide(t, fakedesk.Twins(), small)
	n := 0
	for _, c := range uiwalk.All[*parts.Choice](w.Canvas().Content()) {
		if text := uiwalk.Text(c); strings.Contains(text, "authorise the same action") && strings.Contains(text, "Another option has the same label.") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d rows are warned of, want both", n)
	}
}

func TestCriterion31ConfirmStep(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	test.Tap(choice(t, w, "Share dates only"))
	test.Tap(confirm(t, w))
	if _, ok := w.Canvas().Focused().(*parts.Heading); !ok {
		t.Errorf("the keyboard is on %T", w.Canvas().Focused())
	}
	for _, want := range []string{"You selected", "Share dates only", "disclose[0] travel_dates", "recipient booking.example", "ff91e3166e64b892004d4b43b05ad6ed7ff0819463da80c72f27f47039c033fa", "travel-desk, this session, this question only", "0db384ab…2be232d1"} {
		if text := strings.Join(strings.Fields(readable(w)), " "); !strings.Contains(text, want) {
			t.Errorf("%q cannot be read: %s", want, text)
		}
	}
	test.Tap(confirm(t, w))
	if len(s.desk.Decisions) != 0 {
		t.Fatal("a click within the second has confirmed")
	}
	s.wait()
	press(t, w.Canvas().Content(), "Back, nothing decided")
	if b := confirm(t, w); b.Label() != "Confirm: Share dates only" || len(s.desk.Decisions) != 0 {
		t.Errorf("after going back: %q, %+v", b.Label(), s.desk.Decisions)
	}
	place(t, w, "What should be shared")
}

func TestCriterion32TheFingerprintIsOfTheParsedBytes(t *testing.T) {
	doc := fakedesk.Moment("m1", "travel-desk", "7f3a", 0, fakedesk.Travel())
	doc.Moment.EnvelopeDigest = "sha256:" + strings.Repeat("00", 32)
	_, w := decideOn(t, doc, small)
	place(t, w, "0db384ab…2be232d1")
}

func TestCriterion33SelectedNotPerformed(t *testing.T) {
	d := fakedesk.Deciding()
	d.Log = append([]approvals.Event{{Seq: 1285, At: fakedesk.Now.UnixMilli(), Kind: "moment.not_performed", Agent: "travel-desk", Fields: []approvals.EventField{{Name: "reason", Value: "action_mismatch"}}}}, d.Log...)
	s := newStage(t, d)
	test.Tap(uiwalk.Row(s.root(), "Activity"))
	contains(t, s.root(), "Selected, not performed: it came with another action")
}

func TestCriterion34And35MalformedShowsTheConventionalPayloadAlone(t *testing.T) {
	for _, v := range vectors(t, "envelopes-malformed").Vectors {
		t.Run(v.ID, func(t *testing.T) {
			r := moment.Bare([]byte(v.Raw), "The ordinary answer.")
			if r.Outcome == moment.Render {
				t.Fatal("it is shown as a decision")
			}
			d := fakedesk.Busy()
			d.Items, d.Sheets = nil, map[string]approvals.Sheet{}
			d.Note("n1", "buying-desk", approvals.NoteSheet{Reason: string(r.Fault.Reason), Path: r.Fault.Path, Payload: r.Payload})
			s := newStage(t, d)
			contains(t, s.root(), string(r.Fault.Reason))
			contains(t, s.root(), "sent a decision that could not be shown")
			windows := len(s.app.Driver().AllWindows())
			press(t, s.root(), "Read")
			contains(t, s.root(), "The ordinary answer.")
			contains(t, s.root(), "Nothing was decided.")
			if n := len(uiwalk.All[*parts.Choice](s.root())); n != 0 || len(s.app.Driver().AllWindows()) != windows {
				t.Errorf("%d decision controls", n)
			}
			press(t, s.root(), "Take it out of the Inbox")
			if len(s.desk.Items) != 0 || s.told != 0 {
				t.Errorf("items %v, notifications %d", s.desk.Items, s.told)
			}
		})
	}
}

func TestCriterion38HiddenCharactersAreMarkedAndSaid(t *testing.T) {
	for _, r := range []rune{0x061c, 0x200e, 0x202e, 0x2066, 0x2069, 0x200b, 0x2060, 0xfeff, 0x07, 0x9b, 0xe0041, 0x200d} {
		d := fakedesk.Travel()
		d.Findings[1] = "before" + string(r) + "after"
		_, w := decide(t, d, small)
		place(t, w, fmt.Sprintf("<U+%04X>", r))
		place(t, w, "1 hidden character is shown as a mark.")
	}
}

func TestCriterion40And42And43(t *testing.T) {
	_, w := decide(t, fakedesk.Totes(), small)
	place(t, w, "2 hidden characters are shown as marks. “M\u0456llrace” mixes Latin with a Cyrillic")
	d := fakedesk.Travel()
	d.Findings[1] = "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440"
	_, w = decide(t, d, small)
	if text := readable(w); strings.Contains(text, "mixes") {
		t.Errorf("40: whole-script text is flagged: %s", text)
	}
	d.Findings[1] = "a" + strings.Repeat(" ", 400) + "b" + strings.Repeat("\n", 50) + "c"
	_, w = decide(t, d, small)
	place(t, w, "<400 spaces>")
	place(t, w, "<49 empty lines>")
	d.Findings[1] = "caf\u00e9"
	a := fakedesk.Moment("m1", "", "", 0, d).Moment.Sheet.Envelope.Digest()
	d.Findings[1] = "cafe\u0301"
	if b := fakedesk.Moment("m1", "", "", 0, d).Moment.Sheet.Envelope.Digest(); a == b {
		t.Error("43: twins have one fingerprint")
	}
}

func TestCriterion41And46NothingIsDrawnOutsideItsRow(t *testing.T) {
	for _, v := range vectors(t, "envelopes-valid").Vectors {
		t.Run(v.ID, func(t *testing.T) {
			_, w := decideOn(t, vector(t, v.ID), small)
			for _, c := range uiwalk.All[*parts.Choice](w.Canvas().Content()) {
				var walk func(o fyne.CanvasObject, at fyne.Position)
				walk = func(o fyne.CanvasObject, at fyne.Position) {
					if !o.Visible() {
						return
					}
					at = at.Add(o.Position())
					switch o := o.(type) {
					case *canvas.Text:
						m := o.MinSize()
						if at.X < 0 || at.Y < -1 || at.X+m.Width > c.Size().Width+1 || at.Y+m.Height > c.Size().Height+2 {
							t.Errorf("%q at %v, %v large, in a row of %v", o.Text, at, m, c.Size())
						}
					case *fyne.Container:
						for _, x := range o.Objects {
							walk(x, at)
						}
					case fyne.Widget:
						for _, x := range test.WidgetRenderer(o).Objects() {
							walk(x, at)
						}
					}
				}
				for _, x := range test.WidgetRenderer(c).Objects() {
					walk(x, fyne.Position{})
				}
			}
		})
	}
}

func longFinding(n int) fakedesk.Draft {
	d := fakedesk.Travel()
	d.Findings[1] = strings.Repeat("All of this has to be read. ", n/28)
	return d
}

func TestCriterion44LongTextLeavesTheRestInPlace(t *testing.T) {
	_, w := decide(t, longFinding(200_000), small)
	for _, text := range []string{"travel-desk asks", "Share the travel dates", "What should be shared", "Share dates only", "Share dates and passport", "Agent recommends", "Decline", "Answer in my", "This is the wrong"} {
		place(t, w, text)
	}
}

func TestCriterion45NothingIsCutSilentlyAndConfirmingWaits(t *testing.T) {
	s, w := decide(t, longFinding(9_000), small)
	root := w.Canvas().Content
	contains(t, root(), "The first 2,000 of 8,988 characters")
	test.Tap(choice(t, w, "Share dates only"))
	if !confirm(t, w).Disabled() {
		t.Fatal("it can be confirmed before it was read")
	}
	contains(t, root(), "Show all of the text and scroll to its end once")
	test.Tap(choice(t, w, "Decline"))
	if confirm(t, w).Disabled() {
		t.Fatal("declining has to wait for reading")
	}
	test.Tap(choice(t, w, "Share dates only"))
	press(t, root(), "Show all")
	for _, b := range uiwalk.All[*hostile.Block](root()) {
		b.ScrollTo(1 << 30)
	}
	readAll(w)
	if confirm(t, w).Disabled() {
		t.Fatal("it cannot be confirmed after it was read")
	}
	test.Tap(confirm(t, w))
	s.wait()
	test.Tap(confirm(t, w))
	if len(s.desk.Decisions) != 1 {
		t.Errorf("decided %+v", s.desk.Decisions)
	}
}

func TestCriterion45ALongActionIsReadBeforeItsOptionIsConfirmed(t *testing.T) {
	d := fakedesk.Travel()
	d.Question.Options[1].Action = `{"note":"` + strings.Repeat("x", 4000) + `"}`
	s, w := decide(t, d, fyne.NewSize(720, 900))
	for _, v := range uiwalk.All[*parts.Scroll](w.Canvas().Content()) {
		v.Inner.ScrollToBottom()
		v.Inner.OnScrolled(v.Inner.Offset)
	}
	test.Tap(choice(t, w, "Share dates only"))
	if confirm(t, w).Disabled() {
		t.Error("the action of another option has to be read")
	}
	test.Tap(choice(t, w, "Share dates and passport number"))
	if !confirm(t, w).Disabled() {
		t.Error("its own action has not to be read")
	}
	readAll(w)
	if confirm(t, w).Disabled() {
		t.Error("it was read")
	}
	s.wait()
	test.Tap(confirm(t, w))
	s.wait()
	if !confirm(t, w).Disabled() {
		t.Error("the confirm step can be passed unread")
	}
}

func TestCriterion48InertAfterResizeAndReturn(t *testing.T) {
	for name, do := range map[string]func(*stage, fyne.Window){
		"resize": func(s *stage, w fyne.Window) { w.Resize(fyne.NewSize(730, 650)) },
		"front":  func(s *stage, w fyne.Window) { s.ui.Rearm() },
		"focus":  func(s *stage, w fyne.Window) { f := w.Canvas().Focused(); f.FocusLost(); f.FocusGained() },
	} {
		t.Run(name, func(t *testing.T) {
			s, w := decide(t, fakedesk.Travel(), small)
			do(s, w)
			s.now = s.now.Add(999 * time.Millisecond)
			for _, label := range []string{"Share dates only", "Decline", "This is the wrong question", "Answer in my own words"} {
				test.Tap(choice(t, w, label))
			}
			press(t, w.Canvas().Content(), "Ask about finding 1")
			if confirm(t, w).Label() != "Nothing selected" || len(uiwalk.All[*parts.Area](w.Canvas().Content())) != 0 {
				t.Error("a click within the second was heard")
			}
		})
	}
}

func TestCriterion49ArrivalOpensNothing(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	before := len(s.app.Driver().AllWindows())
	s.desk.Set(func(d *fakedesk.Desk) {
		d.Put(fakedesk.Moment("m1", "travel-desk", "7f3a", 0, fakedesk.Travel()), false)
	})
	if n := len(s.app.Driver().AllWindows()); n != before || s.told != 1 {
		t.Errorf("%d windows, %d notifications", n, s.told)
	}
	contains(t, s.root(), "What should be shared with the booking service?")
}

func TestCriterion50ClosingIsNoResolution(t *testing.T) {
	for name, do := range map[string]func(fyne.Window){
		"escape": func(w fyne.Window) { key(w, fyne.KeyEscape) },
		"close":  func(w fyne.Window) { w.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) },
	} {
		t.Run(name, func(t *testing.T) {
			s, w := decide(t, fakedesk.Travel(), small)
			test.Tap(choice(t, w, "Share dates only"))
			test.Tap(confirm(t, w)) // in the confirm step
			do(w)
			if len(s.desk.Decisions) != 0 || !slices.Equal(s.desk.Shut, []string{"m1"}) {
				t.Errorf("decided %+v, closed %q", s.desk.Decisions, s.desk.Shut)
			}
		})
	}
}

func TestCriterion51AMomentThatEndsHasNoControls(t *testing.T) {
	s, w := decide(t, fakedesk.Travel(), small)
	test.Tap(choice(t, w, "Share dates only"))
	s.desk.Set(func(d *fakedesk.Desk) { d.Items = nil })
	contains(t, w.Canvas().Content(), "This request ended before you decided.")
	if n := len(uiwalk.All[*parts.Choice](w.Canvas().Content())); n != 0 || len(s.desk.Decisions) != 0 {
		t.Errorf("%d controls, decided %+v", n, s.desk.Decisions)
	}
}

func TestCriterion53OneSheetAtATime(t *testing.T) {
	s := newStage(t, fakedesk.Deciding())
	n := 0
	for _, b := range uiwalk.All[*parts.Button](s.root()) {
		if b.Label() == "Open" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d rows can be opened", n)
	}
	contains(t, s.root(), "How should order 20417 be settled?")
	contains(t, s.root(), "asks you to decide, session 55d2")
	contains(t, s.root(), "3 min ago")
}

func TestCriterion54SummaryAndNextIsElsewhere(t *testing.T) {
	desk := fakedesk.Deciding()
	s := newStage(t, desk)
	w := s.sheet("m1")
	w.Resize(wide)
	s.wait()
	test.Tap(choice(t, w, "Share dates only"))
	test.Tap(confirm(t, w))
	s.wait()
	at := func(b *parts.Button) (fyne.Position, fyne.Size) {
		return s.app.Driver().AbsolutePositionForObject(b), b.Size()
	}
	p, size := at(confirm(t, w))
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "You selected “Share dates only”")
	next := uiwalk.Button(w.Canvas().Content(), "Open next")
	if next == nil {
		t.Fatal("no way to the next")
	}
	q, other := at(next)
	if q.X < p.X+size.Width && p.X < q.X+other.Width && q.Y < p.Y+size.Height && p.Y < q.Y+other.Height {
		t.Errorf("the next opens at %v, where the button was at %v", q, p)
	}
	before := len(s.app.Driver().AllWindows())
	test.Tap(next)
	all := s.app.Driver().AllWindows()
	if len(all) != before || !strings.Contains(uiwalk.Text(w.Canvas().Content()), "You selected") {
		t.Fatal("a click within the second has opened the next")
	}
	s.wait()
	test.Tap(next)
	all = s.app.Driver().AllWindows()
	contains(t, all[len(all)-1].Canvas().Content(), "How should order 20417 be settled?")
}

func TestCriterion57AlreadyAnsweredAndMerged(t *testing.T) {
	s := newStage(t, fakedesk.Deciding())
	var notes []*parts.Button
	for _, b := range uiwalk.All[*parts.Button](s.root()) {
		if b.Label() == "Read" {
			notes = append(notes, b)
		}
	}
	test.Tap(notes[1])
	contains(t, s.root(), "You already answered this on 4 November 2026, 08:53")
	contains(t, s.root(), "The aisle seat")
	contains(t, s.root(), "Nothing more can be sent for it.")
	if n := len(uiwalk.All[*parts.Choice](s.root())); n != 0 {
		t.Errorf("%d controls", n)
	}
	doc := fakedesk.Moment("m1", "travel-desk", "7f3a", 0, fakedesk.Travel())
	doc.Merged = 3
	_, w := decideOn(t, doc, wide)
	contains(t, w.Canvas().Content(), "presented 3 times")
	doc.Moment.Repetition.Answered = moment.ChoseOption
	_, w = decideOn(t, doc, small)
	contains(t, w.Canvas().Content(), "You already answered this")
	if n := len(uiwalk.All[*parts.Choice](w.Canvas().Content())); n != 0 {
		t.Errorf("%d controls on an answered moment", n)
	}
}

func TestCriterion47And58WhyItIsOnlyANote(t *testing.T) {
	for reason, want := range map[string]string{"too_many_open": "Too many of its decisions were open already.", "too_large": "larger than a sheet can show", "no_envelope": "It holds no decision.", "tool_error": "Its tool said that it failed."} {
		d := fakedesk.Busy()
		d.Items, d.Sheets = nil, map[string]approvals.Sheet{}
		d.Note("n1", "buying-desk", approvals.NoteSheet{Reason: reason})
		contains(t, newStage(t, d).root(), want)
	}
}

func TestCriterion59And60KeyboardOrder(t *testing.T) {
	_, w := decide(t, fakedesk.Travel(), small)
	var got []string
	for range 30 {
		w.Canvas().FocusNext()
		label := ""
		switch f := w.Canvas().Focused().(type) {
		case *parts.Choice:
			label = f.Label
		case *parts.Button:
			label = f.Label()
		case *parts.Heading:
			label = "heading"
		}
		if slices.Contains(got, label) {
			break
		}
		got = append(got, label)
	}
	want := []string{"Ask about finding 1", "Ask about finding 2", "Ask about finding 3", "Ask about recommendation 1", "Ask about recommendation 2",
		"Share dates only", "Ask about option 1", "Share dates and passport number", "Ask about option 2", "Decline", "Answer in my own words", "This is the wrong question", "heading"}
	got = slices.DeleteFunc(got, func(s string) bool { return s == "Nothing selected" || s == "" })
	if !slices.Equal(got, want) {
		t.Errorf("order\n%q\nwant\n%q", got, want)
	}
	w.Canvas().Focus(choice(t, w, "Share dates and passport number"))
	key(w, fyne.KeyDown)
	if c, ok := w.Canvas().Focused().(*parts.Choice); !ok || c.Label != "Decline" {
		t.Errorf("down leads to %v", w.Canvas().Focused())
	}
	key(w, fyne.KeyUp)
	key(w, fyne.KeyUp)
	if c, ok := w.Canvas().Focused().(*parts.Choice); !ok || c.Label != "Share dates only" {
		t.Errorf("up leads to %v", w.Canvas().Focused())
	}
	if confirm(t, w).Label() != "Nothing selected" {
		t.Error("moving has selected")
	}
}

func TestCriterion61UsableAtTwiceTheSize(t *testing.T) {
	desk := fakedesk.Deciding()
	desk.Chosen.TextScale = 200
	s := newStage(t, desk)
	w := s.sheet("m1")
	w.Resize(small)
	for _, text := range []string{"travel-desk asks", "Share the travel dates and", "Decline", "Answer in my own", "This is the wrong", "Nothing selected", "7 more"} {
		if text == "7 more" {
			contains(t, w.Canvas().Content(), "more lines, the question, 2 options")
			continue
		}
		place(t, w, text)
	}
	s.choose(w, "Share dates only")
	if len(s.desk.Decisions) != 1 {
		t.Errorf("decided %+v", s.desk.Decisions)
	}
}

// sample makes a random envelope that is well formed.
func sample(r *rand.Rand) fakedesk.Draft {
	alphabet := []rune("abcdefghij klmnop qrstu vwxyz ABC 0123 .,-()éßдж\u05d0\u05d1\u0627\u0628中\u202e\u200b\n<>&\"")
	text := func(most int) string {
		b := []rune{'x'}
		for range r.IntN(most) {
			b = append(b, alphabet[r.IntN(len(alphabet))])
		}
		for i, lines := 0, 0; i < len(b); i++ { // more lines go into a view of their own, which 45 is about
			if b[i] == '\n' {
				if lines++; lines > 3 {
					b[i] = 'n'
				}
			}
		}
		return string(b)
	}
	d := fakedesk.Draft{Synopsis: text(80), Offer: text(60)}
	for range 1 + r.IntN(7) {
		d.Findings = append(d.Findings, text(300))
	}
	for range 1 + r.IntN(4) {
		d.Recommendations = append(d.Recommendations, text(120))
	}
	n := 2 + r.IntN(3)
	for i := range n {
		d.Question.Options = append(d.Question.Options, fakedesk.DraftOption{Label: fmt.Sprintf("%d%s", i, text(30)), Reasoning: text(200), Action: fmt.Sprintf(`{"n":%d,"do":%q}`, i, "step"), Unseen: r.IntN(3) == 0})
	}
	d.Question.Stem, d.Question.Recommended = text(90), r.IntN(n)
	d.Question.Hatches = fakedesk.DraftHatches{FreeText: r.IntN(3) > 0, Dialogue: r.IntN(3) > 0}
	if r.IntN(2) == 0 {
		d.Meta = &fakedesk.DraftMeta{Class: text(20), Note: text(150)}
	}
	return d
}

// letters keeps what is drawn the same in every order and cut into any lines.
func letters(s string) map[rune]int {
	out := map[rune]int{}
	for _, r := range s {
		if r != ' ' && r != '\n' {
			out[r]++
		}
	}
	return out
}

// The invariants of section 9.1 over random envelopes, at random sizes of window and text.
func TestInvariantsOverRandomEnvelopes(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			d := sample(r)
			doc := fakedesk.Moment("m1", "travel-desk", "7f3a", 0, d)
			desk := fakedesk.Busy()
			desk.Items, desk.Sheets = nil, map[string]approvals.Sheet{}
			desk.Chosen.TextScale = 100 + 25*r.IntN(5)
			desk.Put(doc, true)
			s := newStage(t, desk)
			w := s.sheet("m1")
			w.Resize(fyne.NewSize(float32(720+r.IntN(600)), float32(640+r.IntN(500))))
			s.wait()
			drawn := letters(uiwalk.Text(w.Canvas().Content()))
			var all strings.Builder
			for _, x := range append(slices.Concat(d.Findings, d.Recommendations), d.Synopsis, d.Offer, d.Question.Stem) {
				all.WriteString(plain.Check(x).String())
			}
			if d.Meta != nil {
				all.WriteString(plain.Check(d.Meta.Note).String() + plain.Check(d.Meta.Class).String())
			}
			marked := 0
			for i, o := range d.Question.Options {
				all.WriteString(plain.One(o.Label).String() + plain.Check(o.Reasoning).String())
				row := uiwalk.All[*parts.Choice](w.Canvas().Content())[i]
				own := letters(uiwalk.Text(row))
				for x, n := range letters(plain.Check(o.Reasoning).String()) {
					if own[x] < n && !mirrored(x) {
						t.Errorf("option %d: %q of its reasoning is not in its row", i, x)
					}
				}
				if strings.Contains(uiwalk.Text(row), "Agent recommends") {
					marked++
					if i != d.Question.Recommended {
						t.Errorf("option %d is marked, option %d is recommended", i, d.Question.Recommended)
					}
				}
			}
			if marked != 1 {
				t.Errorf("%d options are marked", marked)
			}
			for x, n := range letters(all.String()) {
				if drawn[x] < n && !mirrored(x) {
					t.Errorf("%q is drawn %d times, the envelope has it %d times", x, drawn[x], n)
				}
			}
			ways := map[string]bool{"Decline": true, "Answer in my own words": d.Question.Hatches.FreeText, "This is the wrong question": d.Question.Hatches.Dialogue}
			for label, on := range ways {
				c := uiwalk.Choice(w.Canvas().Content(), label)
				if !on {
					continue
				}
				if c == nil || c.Disabled() {
					t.Fatalf("%q cannot be taken", label)
				}
				p := s.app.Driver().AbsolutePositionForObject(c)
				if p.Y < 0 || p.Y+c.Size().Height > w.Canvas().Size().Height+1 || p.X+c.Size().Width > w.Canvas().Size().Width {
					t.Errorf("%q at %v, %v large, is outside the window of %v", label, p, c.Size(), w.Canvas().Size())
				}
				test.Tap(c)
				s.wait()
				if b := confirm(t, w); b.Label() == "Nothing selected" {
					t.Errorf("%q is not taken", label)
				}
			}
		})
	}
}

// mirrored says whether a letter may be drawn as its mirror image.
func mirrored(r rune) bool { return strings.ContainsRune("()<>", r) }

// Each leaf of an envelope and of a shown action changes what is shown.
func TestFlipAnyLeaf(t *testing.T) {
	shown := func(d fakedesk.Draft) string {
		_, w := decide(t, d, wide)
		text := uiwalk.Text(w.Canvas().Content())
		return text[strings.Index(text, "…")+9:] // without the fingerprint, which changes always
	}
	clone := func() fakedesk.Draft {
		d := fakedesk.Reply()
		d.Findings, d.Recommendations, d.Question.Options = slices.Clone(d.Findings), slices.Clone(d.Recommendations), slices.Clone(d.Question.Options)
		d.Meta = &fakedesk.DraftMeta{Class: "a class", Note: "a note"}
		return d
	}
	base := shown(clone())
	for name, change := range map[string]func(*fakedesk.Draft){
		"synopsis":       func(d *fakedesk.Draft) { d.Synopsis += "x" },
		"finding":        func(d *fakedesk.Draft) { d.Findings[2] += "x" },
		"recommendation": func(d *fakedesk.Draft) { d.Recommendations[1] += "x" },
		"offer":          func(d *fakedesk.Draft) { d.Offer += "x" },
		"stem":           func(d *fakedesk.Draft) { d.Question.Stem += "x" },
		"label":          func(d *fakedesk.Draft) { d.Question.Options[1].Label += "x" },
		"reasoning":      func(d *fakedesk.Draft) { d.Question.Options[2].Reasoning += "x" },
		"digest":         func(d *fakedesk.Draft) { d.Question.Options[2].Digest = "sha256:" + strings.Repeat("c20fa914", 8) },
		"recommended":    func(d *fakedesk.Draft) { d.Question.Recommended = 1 },
		"free text":      func(d *fakedesk.Draft) { d.Question.Hatches.FreeText = false },
		"dialogue":       func(d *fakedesk.Draft) { d.Question.Hatches.Dialogue = false },
		"class":          func(d *fakedesk.Draft) { d.Meta.Class += "x" },
		"note":           func(d *fakedesk.Draft) { d.Meta.Note += "x" },
		"action body": func(d *fakedesk.Draft) {
			d.Question.Options[0].Action = strings.Replace(d.Question.Options[0].Action, "18:00", "19:00", 1)
		},
		"action type": func(d *fakedesk.Draft) {
			d.Question.Options[0].Action = strings.Replace(d.Question.Options[0].Action, "support.message", "support.mail", 1)
		},
		"action of another kind": func(d *fakedesk.Draft) { d.Question.Options[2].Action = `{"wait":17}` },
		"operation": func(d *fakedesk.Draft) {
			d.Question.Options[0].SignWith = strings.Replace(fakedesk.SigningEnvelope, "send-message", "send-letter", 1)
		},
		"uses": func(d *fakedesk.Draft) {
			d.Question.Options[0].SignWith = strings.Replace(fakedesk.SigningEnvelope, `"maxUses":25`, `"maxUses":26`, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := clone()
			change(&d)
			if shown(d) == base {
				t.Error("the sheet looks the same")
			}
		})
	}
}

// A stream of keys, and clicks where the button will be, resolve nothing while a sheet opens.
func TestStrayInputWhileAMomentOpens(t *testing.T) {
	s := newStage(t, fakedesk.Deciding())
	w := s.sheet("m1")
	w.Resize(small)
	for range 50 {
		for _, r := range "yes 1 y " {
			if f := w.Canvas().Focused(); f != nil {
				f.TypedRune(r)
			}
		}
		for _, k := range []fyne.KeyName{fyne.KeyReturn, fyne.KeySpace, fyne.KeyEnter, fyne.KeyDown, fyne.KeyUp, fyne.Key1, fyne.KeyY, fyne.KeyTab} {
			key(w, k)
		}
		test.TapCanvas(w.Canvas(), fyne.NewPos(600, 593))
		test.TapCanvas(w.Canvas(), fyne.NewPos(300, 340))
		s.now = s.now.Add(19 * time.Millisecond)
	}
	if len(s.desk.Decisions) != 0 || confirm(t, w).Label() != "Nothing selected" {
		t.Errorf("decided %+v, the button reads %q", s.desk.Decisions, confirm(t, w).Label())
	}
}
