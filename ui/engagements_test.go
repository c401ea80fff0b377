package ui_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui"
	"vault/ui/parts"
)

// contract opens the document of an engagement that waits in the Inbox.
func (s *stage) contract(id string) fyne.Window {
	s.t.Helper()
	s.desk.Set(func(d *fakedesk.Desk) {
		d.Items = slices.DeleteFunc(d.Items, func(i approvals.Item) bool { return i.ID != id })
	})
	press(s.t, s.root(), "Read")
	all := s.app.Driver().AllWindows()
	if len(all) < 2 {
		s.t.Fatal("no window was opened")
	}
	return all[len(all)-1]
}

// toEnd scrolls every view of a window to its end.
func toEnd(w fyne.Window) {
	for _, v := range uiwalk.All[*parts.Scroll](w.Canvas().Content()) {
		v.Inner.ScrollToBottom()
		v.Inner.OnScrolled(v.Inner.Offset)
	}
}

func TestContractIsSignedOnlyAfterItWasReadAndConfirmed(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	w := s.contract("e_0")
	if _, ok := w.Canvas().Focused().(*parts.Heading); !ok {
		t.Errorf("the keyboard is on %T, not on the heading", w.Canvas().Focused())
	}
	for _, name := range []fyne.KeyName{fyne.KeyReturn, fyne.KeySpace, fyne.KeyEnter} {
		key(w, name)
	}
	press(t, w.Canvas().Content(), "Sign as") // too early: the window is still deaf
	if uiwalk.Choice(w.Canvas().Content(), "Sign version 1") != nil {
		t.Fatal("a tap within the first second did something")
	}
	s.wait()
	press(t, w.Canvas().Content(), "Sign as")
	if b := confirm(t, w); b.Label() != "Nothing selected" || !b.Disabled() {
		t.Errorf("the button reads %q, disabled %v", b.Label(), b.Disabled())
	}
	contains(t, w.Canvas().Content(), s.desk.SoW.Views["e_0"].Versions[0].Digest)
	contains(t, w.Canvas().Content(), "Whether and how it binds anybody")
	s.wait()
	test.Tap(choice(t, w, "Sign version 1"))
	if b := confirm(t, w); !b.Disabled() {
		t.Error("it can be confirmed before the end of the page was in view")
	}
	contains(t, w.Canvas().Content(), "Scroll to the end of the page once")
	toEnd(w)
	s.wait()
	test.Tap(confirm(t, w))
	v := s.desk.SoW.Views["e_0"]
	if want := (approvals.Signing{Engagement: "e_0", Digest: v.Versions[0].Digest, Seat: 1, Move: "countersign"}); len(s.desk.SoW.Signed) != 1 || s.desk.SoW.Signed[0] != want {
		t.Errorf("the desk was asked for %+v", s.desk.SoW.Signed)
	}
	contains(t, w.Canvas().Content(), "You signed version 1")
	test.Tap(uiwalk.Button(w.Canvas().Content(), "Close"))
	if len(s.desk.SoW.Signed) != 1 || len(s.desk.SoW.Acts) != 0 {
		t.Error("closing did something")
	}
}

// TestOwnerSaysWhichSeatIsTheirs: where nothing says it, the sheet asks; a signature that anybody may have put on a seat takes the choice
// from nobody, a pinned key does.
func TestOwnerSaysWhichSeatIsTheirs(t *testing.T) {
	d := fakedesk.Contracts()
	v := d.SoW.Views["e_0"]
	v.Role, v.SeatFixed = "", false
	v.Parties = slices.Clone(v.Parties)
	v.Parties[1].Ours, v.Parties[1].Key, v.Parties[1].Claims = false, "", []string{"USTRANGER"}
	v.Versions = slices.Clone(v.Versions)
	v.Versions[0].Seats.Client = &sow.Record{Role: sow.Client, Key: "USTRANGER"}
	d.SoW.Views["e_0"] = v
	s := newStage(t, d)
	w := s.contract("e_0")
	s.wait()
	press(t, w.Canvas().Content(), "Sign as")
	s.wait()
	if uiwalk.Choice(w.Canvas().Content(), "Sign version 1 as the provider") != nil {
		t.Error("the seat of a pinned key is offered")
	}
	test.Tap(choice(t, w, "Sign version 1 as the client"))
	toEnd(w)
	s.wait()
	test.Tap(confirm(t, w))
	if len(s.desk.SoW.Signed) != 1 || s.desk.SoW.Signed[0].Role != sow.Client {
		t.Errorf("the desk was asked for %+v", s.desk.SoW.Signed)
	}
}

// TestConflictIsSettledOnTheSheet: the sheet names who brought the other document of a version, and settles it in one step.
func TestConflictIsSettledOnTheSheet(t *testing.T) {
	d := fakedesk.Contracts()
	v := d.SoW.Views["e_0"]
	v.Versions, v.Moves = slices.Clone(v.Versions), slices.Clone(v.Moves)
	other := v.Versions[0]
	other.Digest = strings.Repeat("ab", 32)
	other.Copies = []agreement.CopyView{{SHA256: strings.Repeat("cd", 32), At: other.Copies[0].At, From: agreement.Source{Kind: "file"}}}
	v.Versions = append(v.Versions, other)
	for i := range v.Versions {
		v.Versions[i].Conflict = true
		v.Moves = append(v.Moves, agreement.Move{What: agreement.MoveSettle, Digest: v.Versions[i].Digest})
	}
	d.SoW.Views["e_0"] = v
	s := newStage(t, d)
	w := s.contract("e_0")
	s.wait()
	press(t, w.Canvas().Content(), "Which one counts")
	contains(t, w.Canvas().Content(), "Brought by ")
	contains(t, w.Canvas().Content(), "You brought it")
	s.wait()
	test.Tap(choice(t, w, "The one on this page"))
	toEnd(w)
	s.wait()
	test.Tap(confirm(t, w))
	if !slices.Contains(s.desk.Calls, "settle conflict e_0 "+v.Versions[0].Digest) || len(s.desk.SoW.Signed) != 0 {
		t.Errorf("the desk was asked for %q", s.desk.Calls)
	}
}

func TestContractIsLeftWithoutDeciding(t *testing.T) {
	for _, how := range []string{"Leave it", "Escape", "Not now"} {
		t.Run(how, func(t *testing.T) {
			s := newStage(t, fakedesk.Contracts())
			w := s.contract("e_0")
			s.wait()
			switch how {
			case "Escape":
				key(w, fyne.KeyEscape)
			case "Leave it":
				press(t, w.Canvas().Content(), how)
			default:
				press(t, w.Canvas().Content(), "Sign as")
				s.wait()
				test.Tap(choice(t, w, how))
				s.wait()
				test.Tap(confirm(t, w))
				if uiwalk.Button(w.Canvas().Content(), "Leave it") == nil {
					t.Error("it did not go back to the page")
				}
			}
			if len(s.desk.SoW.Signed)+len(s.desk.SoW.Acts)+len(s.desk.Calls) != 0 {
				t.Errorf("the desk was asked: %v %v %v", s.desk.SoW.Signed, s.desk.SoW.Acts, s.desk.Calls)
			}
		})
	}
}

func TestAmendmentIsDeniedWithAReason(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	w := s.contract("e_1")
	root := w.Canvas().Content()
	for _, want := range []string{"7 changes; the other 108 fields are the same", "Version 1, in force", "40.00 XCR", "55.00 XCR", "15.00 more", "6 months later", "0.90 XCR per task", "a new charge",
		"read-write", "you give more", "90 days", "There are no partial approvals", "Unanswered, the proposal lapses on 10 November 2026"} {
		if !strings.Contains(strings.ReplaceAll(uiwalk.Text(root), " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("%q is not in: %s", want, uiwalk.Text(root))
		}
	}
	s.wait()
	test.Tap(choice(t, w, "Deny version 2"))
	if !confirm(t, w).Disabled() {
		t.Error("it can be denied without a reason")
	}
	area := uiwalk.All[*parts.Area](w.Canvas().Content())[0]
	area.SetText("   ")
	if !confirm(t, w).Disabled() {
		t.Error("blanks count as a reason")
	}
	area.SetText("Retention must stay at 30 days.")
	s.wait()
	test.Tap(confirm(t, w))
	want := approvals.ActAsk{Engagement: "e_1", Digest: s.desk.SoW.Views["e_1"].Versions[0].Digest, Kind: sow.Denial, Reason: "Retention must stay at 30 days."}
	if len(s.desk.SoW.Acts) != 1 || !same(s.desk.SoW.Acts[0], want) {
		t.Errorf("the desk was asked for %+v", s.desk.SoW.Acts)
	}
	if len(s.desk.SoW.Signed) != 0 {
		t.Error("something was signed as well")
	}
}

func same(a, b approvals.ActAsk) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestAmendmentIsApproved(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	w := s.contract("e_1")
	s.wait()
	test.Tap(choice(t, w, "Approve version 2"))
	toEnd(w)
	s.wait()
	test.Tap(confirm(t, w))
	if len(s.desk.SoW.Signed) != 1 || s.desk.SoW.Signed[0].Move != "approve" || s.desk.SoW.Signed[0].Digest != s.desk.SoW.Views["e_1"].Versions[0].Digest {
		t.Errorf("the desk was asked for %+v", s.desk.SoW.Signed)
	}
}

func TestOfferIsFilledAndTheResultShownBeforeItIsSigned(t *testing.T) {
	s := newStage(t, fakedesk.Offers())
	w := s.contract("e_0")
	s.wait()
	press(t, w.Canvas().Content(), "Fill the seat")
	s.wait()
	test.Tap(choice(t, w, "Fill the seat"))
	contains(t, w.Canvas().Content(), "You hold the rights to every statement")
	fields := uiwalk.All[*parts.Field](w.Canvas().Content())
	fields[0].SetText("Harbor & Line Outfitters")
	if !confirm(t, w).Disabled() {
		t.Error("the seat can be filled without a key")
	}
	agent := "UCGE3DKDM2X7HGRXVCEQWL7SYU6C7A7WSK63QGV2Z3CTRVRH3KOHNBL7"
	fields[1].SetText(agent)
	fields[4].SetText("tomorrow")
	if !confirm(t, w).Disabled() {
		t.Error("a start that is no date is taken")
	}
	fields[4].SetText("10 Nov 2026, 00:00 UTC")
	fields[5].SetText("https://ledger.harborandline.example/mcp")
	s.wait()
	test.Tap(confirm(t, w))
	want := sow.Fill{Client: sow.Seat{Agent: agent, Owner: "Harbor & Line Outfitters"}, StartsAt: time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC).UnixMilli(),
		Locations: map[string]string{"ledger": "https://ledger.harborandline.example/mcp"}, Assertions: []string{"holds-licence"}}
	if len(s.desk.SoW.Formed) != 1 {
		t.Fatalf("the desk was asked for %+v", s.desk.SoW.Formed)
	}
	got, _ := json.Marshal(s.desk.SoW.Formed[0].Fill)
	if expect, _ := json.Marshal(want); string(got) != string(expect) {
		t.Errorf("the desk was asked for %s", got)
	}
	if len(s.desk.SoW.Signed) != 0 {
		t.Error("something was signed before it was shown")
	}
	all := s.app.Driver().AllWindows()
	next := all[len(all)-1]
	contains(t, next.Canvas().Content(), s.desk.SoW.Views["e_9"].Versions[0].Digest)
	if uiwalk.Choice(next.Canvas().Content(), "Sign version 1") == nil {
		t.Error("the completed document is not offered to be signed")
	}
}

func TestChangeAtTheDeskIsFollowed(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	w := s.contract("e_1")
	s.wait()
	test.Tap(choice(t, w, "Approve version 2"))
	s.desk.Set(func(d *fakedesk.Desk) {
		v := d.SoW.Views["e_1"]
		v.Versions = slices.Clone(v.Versions)
		v.Versions[0].Outcome = "withdrawn"
		v.Moves = v.Moves[3:]
		d.SoW.Views["e_1"] = v
		d.Stat.Entries++
	})
	contains(t, w.Canvas().Content(), "It was withdrawn. The version before goes on.")
	if uiwalk.Choice(w.Canvas().Content(), "Approve version 2") != nil {
		t.Error("what was withdrawn can be approved")
	}
}

func TestMovesThatAreBarredSayWhy(t *testing.T) {
	d := fakedesk.Contracts()
	v := d.SoW.Views["e_0"]
	v.Moves = []agreement.Move{{What: "countersign", Digest: v.Versions[0].Digest, Blocked: "enforcement_unavailable", Detail: "A clause is stated as enforced and nothing here enforces it."}}
	d.SoW.Views["e_0"] = v
	s := newStage(t, d)
	w := s.contract("e_0")
	s.wait()
	if b := uiwalk.Button(w.Canvas().Content(), "Sign as"); b == nil || !b.Disabled() {
		t.Error("the button is not barred")
	}
	contains(t, w.Canvas().Content(), "nothing here enforces it")
}

func TestDisputeCitesARecordAndStatesAnAmount(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	test.Tap(uiwalk.Row(s.root(), "A change is proposed to you"))
	contains(t, s.root(), "The operator’s fee is not what its own basis makes.")
	press(t, s.root(), "Dispute an amount")
	all := s.app.Driver().AllWindows()
	w := all[len(all)-1]
	s.wait()
	test.Tap(choice(t, w, "Dispute the settlement record"))
	amount := uiwalk.All[*parts.Field](w.Canvas().Content())[0]
	for _, bad := range []string{"", "0", "abc", "1.1234567", "-3"} {
		amount.SetText(bad)
		uiwalk.All[*parts.Area](w.Canvas().Content())[0].SetText("The fee is off by one.")
		if !confirm(t, w).Disabled() {
			t.Errorf("an amount of %q is taken", bad)
		}
	}
	amount.SetText("0.25")
	s.wait()
	test.Tap(confirm(t, w))
	want := approvals.ActAsk{Engagement: "e_1", Digest: s.desk.SoW.Views["e_1"].Versions[1].Digest, Kind: sow.Dispute, Reason: "The fee is off by one.",
		Cites: []string{s.desk.SoW.Views["e_1"].Records[1].SHA256}, Disputed: &sow.Disputed{Amount: 250000, Currency: "XCR"}}
	if len(s.desk.SoW.Acts) != 1 || !same(s.desk.SoW.Acts[0], want) {
		t.Errorf("the desk was asked for %+v", s.desk.SoW.Acts)
	}
}

// objects counts everything that is laid out below an object.
func objects(o fyne.CanvasObject) int {
	n := 0
	uiwalk.Walk(o, func(fyne.CanvasObject) bool { n++; return true })
	return n
}

func TestLongListLaysOutWhatItShows(t *testing.T) {
	few, many := newStage(t, fakedesk.ManyContracts(40)), newStage(t, fakedesk.ManyContracts(10000))
	for _, s := range []*stage{few, many} {
		test.Tap(uiwalk.Row(s.root(), "Engagements"))
	}
	rows := func(s *stage) int {
		n := 0
		for _, x := range uiwalk.All[*parts.Tap](s.root()) {
			if strings.Contains(uiwalk.Text(x), "XCR a month") {
				n++
			}
		}
		return n
	}
	contains(t, many.root(), "10,003 engagements and offers")
	if a, b := objects(few.root()), objects(many.root()); b > a+20 {
		t.Errorf("%d objects for 10,003 rows, %d for 43", b, a)
	}
	visible := 740/62 + 1
	if n := rows(many); n < 5 || n > visible+20 {
		t.Errorf("%d rows are laid out", n)
	}
	// To the end: the rows there are asked of the desk and shown, and still no more than that.
	var scroll *parts.Scroll
	for _, v := range uiwalk.All[*parts.Scroll](many.root()) {
		if strings.Contains(uiwalk.Text(v), "engagements and offers") {
			scroll = v
		}
	}
	scroll.Inner.ScrollToBottom()
	scroll.Inner.OnScrolled(scroll.Inner.Offset)
	contains(t, many.root(), "Provider 9999")
	if n := rows(many); n > visible+20 {
		t.Errorf("%d rows are laid out at the end", n)
	}
	scroll.Inner.ScrollToTop()
	search := uiwalk.All[*parts.Field](many.root())[0]
	search.SetText("provider 4321")
	contains(t, many.root(), "1 engagement or offer")
	contains(t, many.root(), "Provider 4321")
	if strings.Contains(uiwalk.Text(many.root()), "Provider 4322") {
		t.Error("what does not fit is shown")
	}
}

func TestLongContractLaysOutWhatItShows(t *testing.T) {
	small, large := newStage(t, fakedesk.Contracts()), newStage(t, fakedesk.LargeContract(50000))
	a, b := objects(small.contract("e_0").Canvas().Content()), objects(large.contract("e_0").Canvas().Content())
	if b > a+200 {
		t.Errorf("%d objects for 50 KB, %d for 4 KB", b, a)
	}
}

// TestContractOfOneMiB opens a document as long as one may be.
func TestContractOfOneMiB(t *testing.T) {
	s := newStage(t, fakedesk.LargeContract(1<<20-4096))
	w := s.contract("e_0")
	if n := objects(w.Canvas().Content()); n > 3000 {
		t.Errorf("%d objects", n)
	}
	seenText(w, nil)
	contains(t, w.Canvas().Content(), "Whether and how it binds anybody")
	if n := objects(w.Canvas().Content()); n > 3000 {
		t.Errorf("%d objects at the end", n)
	}
}

// seenText is everything a window shows while it is scrolled from top to end.
func seenText(w fyne.Window, f func(*canvas.Text)) string {
	var b strings.Builder
	var main *parts.Scroll
	for _, v := range uiwalk.All[*parts.Scroll](w.Canvas().Content()) {
		if main == nil || v.Size().Width > main.Size().Width {
			main = v
		}
	}
	step := max(300, main.Inner.Content.Size().Height/60)
	for y := float32(0); ; y += step {
		main.Inner.ScrollToOffset(fyne.NewPos(0, y))
		main.Inner.OnScrolled(main.Inner.Offset)
		for _, x := range uiwalk.All[*canvas.Text](main) {
			b.WriteString(x.Text + " ")
			if f != nil {
				f(x)
			}
		}
		if main.AtEnd() {
			return b.String()
		}
	}
}

func TestEveryLeafIsInTheWindow(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	all := strings.ReplaceAll(seenText(s.contract("e_0"), nil), " ", "")
	d, err := sow.Parse(s.desk.SoW.Copies[s.desk.SoW.Views["e_0"].Versions[0].Copies[0].SHA256])
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	var tree map[string]any
	if err := json.Unmarshal(d.Canonical(), &tree); err != nil {
		t.Fatal(err)
	}
	var visit func(any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				// Grades are words, closed members are where they stand, instants are dates.
				if slices.Contains([]string{"grade", "kind", "when", "starts_at", "ends_at", "approved_at", "model"}, k) {
					continue
				}
				visit(x)
			}
		case []any:
			for _, x := range v {
				visit(x)
			}
		case string:
			texts++
			if !strings.Contains(all, strings.ReplaceAll(v, " ", "")) {
				t.Errorf("%q is not in the window", v)
			}
		}
	}
	visit(tree)
	if texts < 50 {
		t.Errorf("only %d texts were looked for", texts)
	}
}

func TestHostileTextInAContract(t *testing.T) {
	d := fakedesk.Contracts()
	v := d.SoW.Views["e_0"]
	sha := v.Versions[0].Copies[0].SHA256
	evil := "Sign\u202eevil\u200b\tnow\n" + strings.Repeat("x ", 400)
	var tree map[string]any
	if err := json.Unmarshal(d.SoW.Copies[sha], &tree); err != nil {
		t.Fatal(err)
	}
	tree["parties"].(map[string]any)["provider"].(map[string]any)["owner"] = evil
	tree["scope"].(map[string]any)["offerings"] = []any{evil}
	tree["id"] = evil
	tree[evil] = evil
	b, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := sow.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	d.SoW.Copies[sha] = b
	v.SoW, v.Versions[0].Digest, v.Provider.Owner = evil, doc.Digest(), evil
	v.Moves[0].Digest = doc.Digest()
	v.Parties[0].Party.Owner = evil
	d.SoW.Views["e_0"], d.SoW.Rows[0] = v, v.Row
	d.Items[0].Stem = evil
	s := newStage(t, d)
	clean := func(x *canvas.Text) {
		if strings.ContainsAny(x.Text, "\u202e\u200b\t\n") {
			t.Errorf("a hidden character is drawn: %q", x.Text)
		}
	}
	for _, x := range uiwalk.All[*canvas.Text](s.root()) {
		clean(x)
	}
	w := s.contract("e_0")
	if strings.Contains(w.Title(), "evil") {
		t.Error("text from outside is in a title")
	}
	uiwalk.Walk(w.Canvas().Content(), func(o fyne.CanvasObject) bool {
		x, ok := o.(*canvas.Text)
		if ok && fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y < 58 && strings.Contains(x.Text, "evil") {
			t.Error("text from outside is above the seam")
		}
		return true
	})
	if text := seenText(w, clean); !strings.Contains(text, "<U+202E>") {
		t.Error("the mark of a hidden character is not drawn")
	}
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	for _, x := range uiwalk.All[*canvas.Text](s.root()) {
		clean(x)
	}
}

func TestBringingIn(t *testing.T) {
	d := fakedesk.Contracts()
	d.SoW.Brought = agreement.Imported{Kind: agreement.RecordSoW, Engagement: "e_1", SHA256: strings.Repeat("0", 64)}
	s := newStage(t, d)
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	press(t, s.root(), "Bring in a document")
	s.app.Clipboard().SetContent("")
	press(t, s.root(), "Take it from the clipboard")
	contains(t, s.root(), "There is nothing to bring in")
	s.app.Clipboard().SetContent(`{"sow":"v1"}`)
	press(t, s.root(), "Take it from the clipboard")
	if len(s.desk.SoW.Imports) != 1 || string(s.desk.SoW.Imports[0]) != `{"sow":"v1"}` {
		t.Errorf("the desk was given %q", s.desk.SoW.Imports)
	}
	contains(t, s.root(), "A document was brought in")
	contains(t, s.root(), "Where it stands")
}

func TestContractViews(t *testing.T) {
	deal := func(name string) func(*stage) fyne.Window {
		return func(s *stage) fyne.Window {
			test.Tap(uiwalk.Row(s.root(), "Engagements"))
			if name != "" {
				test.Tap(uiwalk.Row(s.root(), name))
			}
			return s.ui.Window()
		}
	}
	contract := func(id string) func(*stage) fyne.Window { return func(s *stage) fyne.Window { return s.contract(id) } }
	for _, v := range []struct {
		name string
		do   func(*stage) fyne.Window
	}{
		{"engagements", deal("")},
		{"engagements-one", deal("A change is proposed to you")},
		{"sheet-sow", contract("e_0")},
		{"sheet-sow-sign", func(s *stage) fyne.Window {
			w := s.contract("e_0")
			s.wait()
			press(s.t, w.Canvas().Content(), "Sign as")
			return w
		}},
		{"amendment", contract("e_1")},
	} {
		t.Run(v.name, func(t *testing.T) {
			w := v.do(newStage(t, fakedesk.Contracts()))
			test.AssertRendersToMarkup(t, filepath.Join("views", v.name+".xml"), w.Canvas())
		})
	}
}

// benched is a window on a desk for benchmarks.
func benched(b *testing.B, desk *fakedesk.Desk) (*ui.UI, fyne.App) {
	b.Helper()
	app := test.NewTempApp(b)
	desk.Chosen.Theme = "light"
	u := ui.New(app, desk, ui.Options{Now: func() time.Time { return fakedesk.Now }, Zone: time.UTC, Do: func(f func()) { f() }, Go: func(f func()) { f() }})
	b.Cleanup(u.Close)
	u.Window().Resize(fyne.NewSize(1180, 740))
	u.Show()
	return u, app
}

// BenchmarkContractOnScreen50KB opens the page of a document of 50 KB and
// draws it once.
func BenchmarkContractOnScreen50KB(b *testing.B) {
	u, app := benched(b, fakedesk.LargeContract(50000))
	root := u.Window().Canvas().Content()
	read := uiwalk.Button(root, "Read")
	for b.Loop() {
		test.Tap(read)
		all := app.Driver().AllWindows()
		all[len(all)-1].Canvas().Capture()
	}
}

// BenchmarkEngagements10000 opens the list of 10,000 engagements and filters it.
func BenchmarkEngagements10000(b *testing.B) {
	u, _ := benched(b, fakedesk.ManyContracts(10000))
	root := func() fyne.CanvasObject { return u.Window().Canvas().Content() }
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			test.Tap(uiwalk.Row(root(), "Engagements"))
		}
	})
	b.Run("filter", func(b *testing.B) {
		search := uiwalk.All[*parts.Field](root())[0]
		for b.Loop() {
			search.SetText("provider 77")
			search.SetText("")
		}
	})
}

func TestDraftsSeatsAndBlockedKeys(t *testing.T) {
	d := fakedesk.Contracts()
	d.SoW.Brought = agreement.Imported{Kind: agreement.RecordSoW, SHA256: strings.Repeat("0", 64)}
	d.SoW.Blocked = []approvals.BlockedKey{{Key: d.SoW.Views["e_0"].Parties[0].Key, At: fakedesk.Now.UnixMilli()}}
	s := newStage(t, d)
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	press(t, s.root(), "Bring in a document")
	press(t, s.root(), "A draft of mine")
	s.app.Clipboard().SetContent(`{"sow":"v1"}`)
	press(t, s.root(), "Take it from the clipboard")
	if !slices.Contains(s.desk.Calls, "draft") || len(s.desk.SoW.Imports) != 0 {
		t.Errorf("the desk was asked %v, and given %q", s.desk.Calls, s.desk.SoW.Imports)
	}
	test.Tap(uiwalk.Row(s.root(), "Copperline"))
	press(t, s.root(), "Block…")
	s.wait()
	c := uiwalk.Choice(s.root(), "Block this key")
	test.Tap(c)
	press(t, s.root(), "Confirm: Block this key")
	key := s.desk.SoW.Views["e_2"].Parties[0].Key
	if !slices.Contains(s.desk.Calls, "block key "+key) {
		t.Errorf("the desk was asked %v", s.desk.Calls)
	}
	test.Tap(uiwalk.Row(s.root(), "Settings"))
	press(t, s.root(), "Unblock")
	if !slices.Contains(s.desk.Calls, "unblock key "+key) {
		t.Errorf("the desk was asked %v", s.desk.Calls)
	}
	press(t, s.root(), "Open the next seat")
	contains(t, s.root(), "Give the seat a name first")
	for _, f := range uiwalk.All[*parts.Field](s.root()) {
		f.SetText("Harbor workshop")
	}
	press(t, s.root(), "Open the next seat")
	if !slices.Contains(s.desk.Calls, "open seat Harbor workshop") {
		t.Errorf("the desk was asked %v", s.desk.Calls)
	}
	press(t, s.root(), "work out of scope")
	if dep, _ := s.desk.Deployment(""); dep.Scope {
		t.Error("what was said of the deployment is not changed")
	}
}

func TestPinning(t *testing.T) {
	d := fakedesk.Contracts()
	v := d.SoW.Views["e_0"]
	key := v.Parties[0].Key
	v.Parties = slices.Clone(v.Parties)
	v.Parties[0].Key, v.Parties[0].Claims = "", []string{key}
	d.SoW.Views["e_0"] = v
	s := newStage(t, d)
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	test.Tap(uiwalk.Row(s.root(), "Your signature is asked for"))
	contains(t, s.root(), "no key is pinned: nothing can be signed with them")
	press(t, s.root(), "Pin…")
	contains(t, s.root(), key) // the whole of it, to be compared
	press(t, s.root(), "Nothing selected")
	s.wait()
	test.Tap(uiwalk.Choice(s.root(), "They told me this key"))
	press(t, s.root(), "Confirm: They told me this key")
	if want := (approvals.PinAsk{Agent: v.Parties[0].Party.Agent, Key: key, Learned: "told"}); len(s.desk.SoW.Pins) != 1 || s.desk.SoW.Pins[0] != want {
		t.Errorf("the desk was asked for %+v", s.desk.SoW.Pins)
	}
}
