package ui_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui"
	"vault/ui/hostile"
	"vault/ui/parts"
)

func TestMain(m *testing.M) {
	for _, k := range []string{"LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"} {
		os.Setenv(k, "en_US.UTF-8")
	}
	// lang reads the locale in its init; adding translations makes it read again.
	if err := lang.AddTranslations(fyne.NewStaticResource("en.json", []byte(`{}`))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// stage is a window on a fake desk, with a clock that stands still.
type stage struct {
	t     *testing.T
	app   fyne.App
	desk  *fakedesk.Desk
	ui    *ui.UI
	now   time.Time
	told  int              // notifications
	full  bool             // no file can be made
	saved map[string]*file // what was exported, where a test looks
}

type file struct{ strings.Builder }

func (*file) Close() error { return nil }

func newStage(t *testing.T, desk *fakedesk.Desk) *stage {
	t.Helper()
	if desk.Chosen.Theme == "system" {
		desk.Chosen.Theme = "light"
	}
	s := &stage{t: t, app: test.NewTempApp(t), desk: desk, now: fakedesk.Now}
	s.ui = ui.New(s.app, desk, ui.Options{
		Now:  func() time.Time { return s.now },
		Zone: time.UTC,
		Do:   func(f func()) { f() },
		Go:   func(f func()) { f() },
		Export: func(name string) (io.WriteCloser, string, error) {
			if s.full {
				return nil, "", os.ErrPermission
			}
			f := &file{}
			if s.saved != nil {
				s.saved[name] = f
			}
			return f, "/home/owner/" + name, nil
		},
		Read:       func(path string) (string, []byte, error) { return path, []byte("read " + path), nil },
		BackupFile: func() string { return "/home/owner/vault.age" },
		Notify:     func() { s.told++ },
	})
	t.Cleanup(s.ui.Close)
	s.ui.Window().Resize(fyne.NewSize(1180, 740))
	s.ui.Show()
	return s
}

func (s *stage) root() fyne.CanvasObject { return s.ui.Window().Canvas().Content() }

func (s *stage) wait() { s.now = s.now.Add(time.Second) }

// sheet opens a request and returns its window.
func (s *stage) sheet(id string) fyne.Window {
	s.t.Helper()
	s.desk.Set(func(d *fakedesk.Desk) {
		for i := range d.Items {
			d.Items[i].Next = d.Items[i].ID == id
		}
	})
	before := len(s.app.Driver().AllWindows())
	press(s.t, s.root(), "Open")
	all := s.app.Driver().AllWindows()
	if len(all) != before+1 {
		s.t.Fatalf("%d windows after the click, %d before", len(all), before)
	}
	return all[len(all)-1]
}

func press(t *testing.T, root fyne.CanvasObject, label string) {
	t.Helper()
	b := uiwalk.Button(root, label)
	if b == nil {
		t.Fatalf("no button %q in: %s", label, uiwalk.Text(root))
	}
	test.Tap(b)
}

func choice(t *testing.T, w fyne.Window, label string) *parts.Choice {
	t.Helper()
	c := uiwalk.Choice(w.Canvas().Content(), label)
	if c == nil {
		t.Fatalf("no choice %q", label)
	}
	return c
}

// confirm is the button of a window that confirms.
func confirm(t *testing.T, w fyne.Window) *parts.Button {
	t.Helper()
	for _, b := range uiwalk.All[*parts.Button](w.Canvas().Content()) {
		if b.Label() == "Nothing selected" || strings.HasPrefix(b.Label(), "Confirm: ") {
			return b
		}
	}
	t.Fatal("no button that confirms")
	return nil
}

func key(w fyne.Window, name fyne.KeyName) {
	if f := w.Canvas().Focused(); f != nil {
		f.TypedKey(&fyne.KeyEvent{Name: name})
		return
	}
	if f := w.Canvas().OnTypedKey(); f != nil {
		f(&fyne.KeyEvent{Name: name})
	}
}

func contains(t *testing.T, root fyne.CanvasObject, want string) {
	t.Helper()
	if text := uiwalk.Text(root); !strings.Contains(text, want) {
		t.Errorf("%q is not in: %s", want, text)
	}
}

var kinds = []struct{ id, yes string }{{"a1", "Approve once"}, {"p1", "The number is the same"}}

func TestSheetOpensWithNothingSelected(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.id, func(t *testing.T) {
			s := newStage(t, fakedesk.Busy())
			w := s.sheet(k.id)
			if _, ok := w.Canvas().Focused().(*parts.Heading); !ok {
				t.Errorf("the keyboard is on %T, not on the heading", w.Canvas().Focused())
			}
			if b := confirm(t, w); b.Label() != "Nothing selected" || !b.Disabled() {
				t.Errorf("the button reads %q, disabled %v", b.Label(), b.Disabled())
			}
			s.wait()
			for _, name := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace, fyne.KeyReturn} {
				key(w, name)
			}
			if b := confirm(t, w); b.Label() != "Nothing selected" {
				t.Errorf("keys have selected %q", b.Label())
			}
			test.Tap(confirm(t, w))
			if len(s.desk.Decisions) != 0 {
				t.Errorf("decided: %+v", s.desk.Decisions)
			}
		})
	}
}

func TestInputIsDroppedForASecond(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*stage, fyne.Window)
	}{
		{"after opening", func(*stage, fyne.Window) {}},
		{"after a change of size", func(s *stage, w fyne.Window) { s.wait(); w.Resize(fyne.NewSize(800, 900)) }},
		{"after the window came back", func(s *stage, w fyne.Window) {
			s.wait()
			f := w.Canvas().Focused()
			f.FocusLost() // what the driver does when the window loses the keyboard,
			f.FocusGained()
		}},
		{"after the program came to the front", func(s *stage, w fyne.Window) { s.wait(); s.ui.Rearm() }},
		{"after the text size changed", func(s *stage, w fyne.Window) {
			s.wait()
			s.desk.Set(func(d *fakedesk.Desk) { d.Chosen.TextScale = 125 })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, fakedesk.Busy())
			w := s.sheet("a1")
			c.do(s, w)
			s.now = s.now.Add(999 * time.Millisecond)
			test.Tap(choice(t, w, "Decline"))
			if b := confirm(t, w); b.Label() != "Nothing selected" {
				t.Fatalf("a click within the second has selected %q", b.Label())
			}
			s.now = s.now.Add(time.Millisecond)
			test.Tap(choice(t, w, "Decline"))
			if b := confirm(t, w); b.Label() != "Confirm: Decline" {
				t.Fatalf("a click after the second gives %q", b.Label())
			}
			s.ui.Rearm()
			test.Tap(confirm(t, w))
			if len(s.desk.Decisions) != 0 {
				t.Fatal("the button was heard within the second")
			}
			s.wait()
			test.Tap(confirm(t, w))
			if len(s.desk.Decisions) != 1 {
				t.Fatalf("%d decisions, want 1", len(s.desk.Decisions))
			}
		})
	}
}

func TestMovingTheKeyboardDoesNotDropInput(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	w := s.sheet("a1")
	s.wait()
	for range 12 {
		w.Canvas().FocusNext()
	}
	test.Tap(choice(t, w, "Decline"))
	if b := confirm(t, w); b.Label() != "Confirm: Decline" {
		t.Errorf("the button reads %q", b.Label())
	}
}

func TestDecisions(t *testing.T) {
	digest := fakedesk.Action(`{}`).Digest
	pairing := fakedesk.Pairing().Digest
	until := fakedesk.Now.Add(24 * time.Hour).Truncate(time.Minute).UnixMilli() // as it is shown
	for _, c := range []struct {
		id, choice, button string
		want               approvals.Decision
	}{
		{"a1", "Approve once", "Confirm: Approve once", approvals.Decision{ID: "a1", Digest: digest, Verdict: approvals.VerdictApprove}},
		{"a1", "Approve and grant more", "Confirm: Approve and grant 10 more", approvals.Decision{ID: "a1", Digest: digest, Verdict: approvals.VerdictGrant, GrantUses: 10, GrantUntil: until}},
		{"a1", "Decline", "Confirm: Decline", approvals.Decision{ID: "a1", Digest: digest, Verdict: approvals.VerdictDecline}},
		{"a1", "Decline and block", "Confirm: Decline and block", approvals.Decision{ID: "a1", Digest: digest, Verdict: approvals.VerdictDeclineBlock}},
		{"p1", "The number is the same", "Confirm: Pair as “invoice-helper”", approvals.Decision{ID: "p1", Digest: pairing, Verdict: approvals.VerdictApprove, Name: "invoice-helper"}},
		{"p1", "Decline", "Confirm: Decline", approvals.Decision{ID: "p1", Digest: pairing, Verdict: approvals.VerdictDecline}},
		{"p1", "Decline and block", "Confirm: Decline and block", approvals.Decision{ID: "p1", Digest: pairing, Verdict: approvals.VerdictDeclineBlock}},
	} {
		t.Run(c.id+" "+c.choice, func(t *testing.T) {
			s := newStage(t, fakedesk.Busy())
			w := s.sheet(c.id)
			w.Resize(fyne.NewSize(720, 1000))
			s.wait()
			test.Tap(choice(t, w, c.choice))
			s.wait()
			b := confirm(t, w)
			if b.Label() != c.button || b.Disabled() {
				t.Fatalf("the button reads %q (disabled %v), want %q", b.Label(), b.Disabled(), c.button)
			}
			test.Tap(b)
			test.Tap(b)
			if len(s.desk.Decisions) != 1 || s.desk.Decisions[0] != c.want {
				t.Fatalf("decided %+v, want %+v once", s.desk.Decisions, c.want)
			}
			if len(s.desk.Shut) != 0 {
				t.Error("the desk was told that nothing was decided")
			}
			contains(t, w.Canvas().Content(), "What came of it")
		})
	}
}

func TestEscapeAndCloseDecideNothing(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	w := s.sheet("a1")
	s.wait()
	test.Tap(choice(t, w, "Approve once"))
	windows := len(s.app.Driver().AllWindows())
	w.Canvas().Focus(choice(t, w, "Approve once"))
	key(w, fyne.KeyEscape)
	if len(s.desk.Decisions) != 0 || len(s.desk.Shut) != 1 || s.desk.Shut[0] != "a1" {
		t.Errorf("decisions %v, closed %v", s.desk.Decisions, s.desk.Shut)
	}
	if got := len(s.app.Driver().AllWindows()); got != windows-1 {
		t.Errorf("%d windows, want %d", got, windows-1)
	}
}

func long() *fakedesk.Desk {
	d := fakedesk.Busy()
	d.Sheets["a1"] = fakedesk.Action(`{"body":"` + strings.Repeat("0123456789 ", 800) + `"}`)
	return d
}

func TestLongTextMustBeScrolledToItsEnd(t *testing.T) {
	s := newStage(t, long())
	w := s.sheet("a1")
	s.wait()
	test.Tap(choice(t, w, "Decline"))
	if confirm(t, w).Disabled() {
		t.Error("declining waits for the text")
	}
	test.Tap(choice(t, w, "Approve once"))
	if !confirm(t, w).Disabled() {
		t.Fatal("approving does not wait for the text")
	}
	contains(t, w.Canvas().Content(), "Show all of the text and scroll to its end once")
	block := uiwalk.All[*hostile.Block](w.Canvas().Content())[0]
	block.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if !confirm(t, w).Disabled() {
		t.Fatal("the end of the first part was taken for the end")
	}
	press(t, w.Canvas().Content(), "Show all")
	if !confirm(t, w).Disabled() {
		t.Fatal("showing all was taken for having seen it")
	}
	block.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if confirm(t, w).Disabled() {
		t.Fatal("approving is still not possible at the end of the text")
	}
	block.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	if confirm(t, w).Disabled() {
		t.Error("once is not enough")
	}
}

func labelOf(o fyne.Focusable) string {
	switch o := o.(type) {
	case *parts.Heading:
		return "heading"
	case *parts.Button:
		return "button " + o.Label()
	case *parts.Choice:
		return o.Label
	case *parts.Field:
		return "field"
	case *hostile.Block:
		return "text"
	}
	return fmt.Sprintf("%T", o)
}

func TestKeyboardOrderIsReadingOrder(t *testing.T) {
	for _, c := range []struct {
		id   string
		want []string
	}{
		{"a1", []string{"heading", "text", "Approve once", "Decline", "Approve and grant more", "Decline and block", "button Confirm: Decline"}},
		{"p1", []string{"heading", "field", "The number is the same: pair as “invoice-helper”", "Decline", "Decline and block", "button Confirm: Decline"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			s := newStage(t, fakedesk.Busy())
			w := s.sheet(c.id)
			s.wait()
			test.Tap(choice(t, w, "Decline"))
			w.Canvas().Focus(uiwalk.All[*parts.Heading](w.Canvas().Content())[0])
			var got []string
			for range c.want {
				got = append(got, labelOf(w.Canvas().Focused()))
				w.Canvas().FocusNext()
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if labelOf(w.Canvas().Focused()) != "heading" {
				t.Errorf("the keyboard leaves the sheet: %s", labelOf(w.Canvas().Focused()))
			}
			// reading order: no control is above the one before it
			last := float32(-1)
			for _, o := range uiwalk.All[*parts.Choice](w.Canvas().Content()) {
				y := fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y
				if y < last {
					t.Errorf("%q stands above the row before it", o.Label)
				}
				last = y
			}
		})
	}
}

func TestChoicesAreARadioGroup(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	w := s.sheet("a1")
	s.wait()
	w.Canvas().Focus(choice(t, w, "Approve once"))
	key(w, fyne.KeyDown)
	if got := labelOf(w.Canvas().Focused()); got != "Decline" {
		t.Errorf("down goes to %q", got)
	}
	if b := confirm(t, w); b.Label() != "Nothing selected" {
		t.Errorf("an arrow has selected: %q", b.Label())
	}
	key(w, fyne.KeyReturn)
	if b := confirm(t, w); b.Label() != "Confirm: Decline" {
		t.Errorf("Enter on a row gives %q", b.Label())
	}
	key(w, fyne.KeyReturn)
	if len(s.desk.Decisions) != 0 {
		t.Error("Enter on a row has confirmed it")
	}
	key(w, fyne.KeyUp)
	key(w, fyne.KeySpace)
	if b := confirm(t, w); b.Label() != "Confirm: Approve once" {
		t.Errorf("another row gives %q", b.Label())
	}
}

// marked is a busy desk in which every text from outside holds a mark of its own.
func marked() (*fakedesk.Desk, []string) {
	d := fakedesk.Busy()
	a := fakedesk.Action(`{"x":"OUTSIDE-PAYLOAD"}`)
	a.Session = "OUTSIDE-SESSION"
	a.Action.Operation, a.Action.Resources = "OUTSIDE-OPERATION", []string{"OUTSIDE-RESOURCE"}
	a.Action.AgentID, a.Action.PayloadType = "OUTSIDE-AGENT", "OUTSIDE-TYPE"
	a.Action.Contradictions = []approvals.Contradiction{{Member: "OUTSIDE-MEMBER", Payload: "OUTSIDE-SAID", Envelope: "OUTSIDE-ENVELOPE"}}
	d.Sheets["a1"] = a
	p := fakedesk.Pairing()
	p.Pairing.Claimed = "OUTSIDE-CLAIM\u202e"
	p.Pairing.Peer.Executable, p.Pairing.Peer.Parents = "/OUTSIDE-PROGRAM", []string{"/OUTSIDE-PARENT"}
	d.Sheets["p1"] = p
	d.Items[0].Operation, d.Items[0].Resource = "OUTSIDE-ITEM", "OUTSIDE-ITEM"
	return d, []string{"PAYLOAD", "SESSION", "OPERATION", "RESOURCE", "AGENT", "TYPE", "MEMBER", "SAID", "ENVELOPE", "CLAIM", "PROGRAM", "PARENT"}
}

func TestNothingFromOutsideAboveTheSeamOrInTitles(t *testing.T) {
	d, marks := marked()
	s := newStage(t, d)
	seen := ""
	for _, k := range kinds {
		w := s.sheet(k.id)
		w.Resize(fyne.NewSize(720, 1400))
		for _, text := range uiwalk.All[*canvas.Text](w.Canvas().Content()) {
			y := fyne.CurrentApp().Driver().AbsolutePositionForObject(text).Y
			if strings.Contains(text.Text, "OUTSIDE") && y < 60 {
				t.Errorf("%q is drawn at %v, above the seam", text.Text, y)
			}
			seen += text.Text + " "
		}
		if y := fyne.CurrentApp().Driver().AbsolutePositionForObject(uiwalk.All[*parts.Heading](w.Canvas().Content())[0]).Y; y < 60 {
			t.Errorf("the paper begins at %v", y)
		}
		for _, w := range s.app.Driver().AllWindows() {
			if strings.Contains(w.Title(), "OUTSIDE") {
				t.Errorf("title %q", w.Title())
			}
		}
		key(w, fyne.KeyEscape)
	}
	for _, m := range marks { // or the test above would prove nothing
		if !strings.Contains(seen, "OUTSIDE-"+m) {
			t.Errorf("%s is not shown at all", m)
		}
	}
}

func TestEveryLeafOfThePayloadIsShown(t *testing.T) {
	shown := func(payload string) string {
		s := newStage(t, fakedesk.Busy())
		s.desk.Sheets["a1"] = fakedesk.Action(payload)
		w := s.sheet("a1")
		w.Resize(fyne.NewSize(720, 1400))
		text := uiwalk.Text(w.Canvas().Content())
		key(w, fyne.KeyEscape)
		return text
	}
	base := `{"a":"x","b":[1,true,null,{"c":"y"}],"d":{},"e":"\u202e z"}`
	before := shown(base)
	for _, change := range [][2]string{{`"x"`, `"X"`}, {`1`, `2`}, {`true`, `false`}, {`null`, `0`}, {`"y"`, `"y "`}, {`"d":{}`, `"d":[]`}, {`\u202e`, `\u202d`}, {`"a"`, `"A"`}, {" z", "\u00a0z"}} {
		if after := shown(strings.Replace(base, change[0], change[1], 1)); after == before {
			t.Errorf("%s for %s does not change what is shown", change[1], change[0])
		}
	}
}

func TestContradictionAndSpentEnvelopeCannotBeGranted(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	w := s.sheet("a2")
	s.wait()
	c := choice(t, w, "Approve and grant more")
	test.Tap(c)
	if !c.Disabled() || confirm(t, w).Label() != "Nothing selected" {
		t.Error("a contradiction can be granted")
	}
	contains(t, w.Canvas().Content(), "The text and the envelope disagree")
	contains(t, w.Canvas().Content(), "This envelope has no end")
}

func TestGrantLimits(t *testing.T) {
	for _, c := range []struct {
		uses, until, why string
		ok               bool
	}{
		{"3", "4 Nov 2026, 18:00 UTC", "", true},
		{"0", "4 Nov 2026, 18:00 UTC", "Type how many more", false},
		{"-1", "4 Nov 2026, 18:00 UTC", "Type how many more", false},
		{"many", "4 Nov 2026, 18:00 UTC", "Type how many more", false},
		{"11", "4 Nov 2026, 18:00 UTC", "At most 10 more", false},
		{"3", "tomorrow", "Type the end like this", false},
		{"3", "6 Nov 2026, 18:00 UTC", "at the latest", false},
		{"3", "4 Nov 2026, 09:00 UTC", "That end has passed", false},
	} {
		t.Run(c.uses+" "+c.until, func(t *testing.T) {
			s := newStage(t, fakedesk.Busy())
			w := s.sheet("a1")
			w.Resize(fyne.NewSize(720, 1000))
			s.wait()
			test.Tap(choice(t, w, "Approve and grant more"))
			fields := uiwalk.All[*parts.Field](w.Canvas().Content())
			if len(fields) != 2 {
				t.Fatalf("%d fields", len(fields))
			}
			fields[0].SetText(c.uses)
			fields[1].SetText(c.until)
			s.wait()
			if confirm(t, w).Disabled() == c.ok {
				t.Errorf("disabled is %v", !c.ok)
			}
			contains(t, w.Canvas().Content(), c.why)
		})
	}
}

func TestPairingNeedsAName(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	w := s.sheet("p1")
	w.Resize(fyne.NewSize(720, 1000))
	s.wait()
	test.Tap(choice(t, w, "The number is the same"))
	field := uiwalk.All[*parts.Field](w.Canvas().Content())[0]
	for _, name := range []string{"", "  ", "a\u200bb", "p\u0430ypal"} {
		field.SetText(name)
		if !confirm(t, w).Disabled() {
			t.Errorf("%q can be a name", name)
		}
	}
	field.SetText("ledger")
	if b := confirm(t, w); b.Disabled() || b.Label() != "Confirm: Pair as “ledger”" {
		t.Errorf("the button reads %q", b.Label())
	}
	s.now = s.now.Add(500 * time.Millisecond)
	test.Tap(confirm(t, w))
	if len(s.desk.Decisions) != 0 {
		t.Error("the button was heard within a second of the name's change")
	}
}

func TestNameThatTheDeskRefusesCanBeTypedAgain(t *testing.T) {
	d := fakedesk.Busy()
	d.Outcome = approvals.Outcome{Code: "name_taken"}
	s := newStage(t, d)
	w := s.sheet("p1")
	w.Resize(fyne.NewSize(720, 1000))
	s.wait()
	test.Tap(choice(t, w, "The number is the same"))
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "Another program has that name.")
	if !confirm(t, w).Disabled() {
		t.Error("the same name can be sent again")
	}
	uiwalk.All[*parts.Field](w.Canvas().Content())[0].SetText("another")
	if confirm(t, w).Disabled() {
		t.Error("another name cannot be sent")
	}
}

func TestHostileClaimIsNoName(t *testing.T) {
	d := fakedesk.Busy()
	p := fakedesk.Pairing()
	p.Pairing.Claimed = "\u0430dmin"
	d.Sheets["p1"] = p
	s := newStage(t, d)
	w := s.sheet("p1")
	if got := uiwalk.All[*parts.Field](w.Canvas().Content())[0].Text; got != "" {
		t.Errorf("proposed %q", got)
	}
}

func TestTextAtDoubleSizeKeepsTheFooter(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.id, func(t *testing.T) {
			d := fakedesk.Busy()
			d.Chosen.TextScale = 200
			s := newStage(t, d)
			w := s.sheet(k.id)
			w.Resize(fyne.NewSize(720, 640))
			inside := func(o fyne.CanvasObject, what string) {
				y := fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y
				if y < 60 || y+o.Size().Height > 640 {
					t.Errorf("%s is at %v to %v", what, y, y+o.Size().Height)
				}
			}
			inside(choice(t, w, "Decline"), "Decline")
			inside(confirm(t, w), "the button")
			if n := len(uiwalk.All[*parts.Choice](w.Canvas().Content())); k.id == "a1" && n != 4 || k.id == "p1" && n != 3 {
				t.Errorf("%d choices are left", n)
			}
		})
	}
}

func TestFrameSaysWhatClicksAreWorthAndWhatIsADemo(t *testing.T) {
	const clicks, mark = "Programs that control the screen can approve here.", "Demo: a throw-away vault."
	d := fakedesk.Busy()
	d.Stat.Public.Demo = true
	for id, sh := range d.Sheets {
		sh.Demo = true
		d.Sheets[id] = sh
	}
	s := newStage(t, d)
	for _, page := range []string{"Inbox", "Agents", "Domains", "Activity", "Settings"} {
		test.Tap(uiwalk.Row(s.root(), page))
		contains(t, s.root(), clicks)
		contains(t, s.root(), mark)
	}
	test.Tap(uiwalk.Row(s.root(), "Inbox"))
	for _, k := range kinds {
		w := s.sheet(k.id)
		contains(t, w.Canvas().Content(), clicks)
		contains(t, w.Canvas().Content(), mark)
		s.wait()
		test.Tap(choice(t, w, "Decline"))
		test.Tap(confirm(t, w))
		contains(t, w.Canvas().Content(), mark)
		key(w, fyne.KeyEscape)
	}
	s.desk.Set(func(d *fakedesk.Desk) { d.Stat.State = approvals.StateLocked })
	contains(t, s.root(), mark)
}

func TestRequestThatEndsLeavesNoControls(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	w := s.sheet("a1")
	s.wait()
	test.Tap(choice(t, w, "Approve once"))
	s.desk.Set(func(d *fakedesk.Desk) { d.Items = d.Items[1:] })
	if n := len(uiwalk.All[*parts.Choice](w.Canvas().Content())); n != 0 {
		t.Errorf("%d choices are left", n)
	}
	contains(t, w.Canvas().Content(), "Nothing was decided and nothing was signed.")
}

func TestOutcomesThatDidNotHappen(t *testing.T) {
	for code, want := range map[string]string{
		"expired":         "This request ended before your decision",
		"changed":         "The request changed after it was shown",
		"locked":          "The vault is locked",
		"no_passkey":      "This needs a passkey and none is enrolled",
		"store_failed":    "The vault could not write its log",
		"already_decided": "This was decided already",
		"unheard_of":      "That did not work",
	} {
		t.Run(code, func(t *testing.T) {
			d := fakedesk.Busy()
			d.Outcome = approvals.Outcome{Code: code, Detail: "detail"}
			s := newStage(t, d)
			w := s.sheet("a1")
			w.Resize(fyne.NewSize(720, 1000))
			s.wait()
			test.Tap(choice(t, w, "Approve once"))
			test.Tap(confirm(t, w))
			contains(t, w.Canvas().Content(), want)
			if text := uiwalk.Text(w.Canvas().Content()); strings.Contains(text, "You approved") {
				t.Error("it says that it was approved")
			}
		})
	}
}

func TestOneSheetAtATime(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	s.sheet("a1")
	before := len(s.app.Driver().AllWindows())
	press(t, s.root(), "Open")
	if got := len(s.app.Driver().AllWindows()); got != before {
		t.Errorf("%d windows, want %d", got, before)
	}
}

func TestUnknownKindShowsNoControls(t *testing.T) {
	d := fakedesk.Busy()
	sh := d.Sheets["a1"]
	sh.Kind, sh.Action = "later", nil
	d.Sheets["a1"] = sh
	s := newStage(t, d)
	before := len(s.app.Driver().AllWindows())
	press(t, s.root(), "Open")
	if got := len(s.app.Driver().AllWindows()); got != before {
		t.Error("a window opened for a request that cannot be shown")
	}
	contains(t, s.root(), "This window cannot show that request")
}

func TestArrivalOpensNothing(t *testing.T) {
	s := newStage(t, fakedesk.Fresh())
	before := len(s.app.Driver().AllWindows())
	item := approvals.Item{ID: "n", Kind: approvals.ItemAction, Agent: "a", Operation: "SECRET-OP", Merged: 1, Next: true}
	s.desk.Set(func(d *fakedesk.Desk) { d.Items = append(d.Items, item) })
	if got := len(s.app.Driver().AllWindows()); got != before {
		t.Errorf("a request has opened %d windows", got-before)
	}
	if s.told != 1 {
		t.Errorf("%d notifications, want 1", s.told)
	}
	s.desk.Set(func(d *fakedesk.Desk) { d.Stat.Entries++ })
	if s.told != 1 {
		t.Errorf("%d notifications for one request", s.told)
	}
	s.desk.Set(func(d *fakedesk.Desk) { d.Chosen.Notifications = false; d.Items[1].ID = "m" })
	if s.told != 1 {
		t.Error("a notification came although they are off")
	}
}

func TestNotificationHasNoContent(t *testing.T) {
	app := test.NewTempApp(t)
	desk := fakedesk.Fresh()
	inline := func(f func()) { f() }
	u := ui.New(app, desk, ui.Options{Do: inline, Go: inline})
	defer u.Close()
	test.AssertNotificationSent(t, fyne.NewNotification("Vault", "A request is waiting."), func() {
		desk.Set(func(d *fakedesk.Desk) {
			d.Items = append(d.Items, approvals.Item{ID: "n", Kind: approvals.ItemAction, Agent: "a", Operation: "op", Merged: 1, Next: true})
		})
	})
}

func TestFirstRun(t *testing.T) {
	s := newStage(t, fakedesk.Empty())
	if b := confirm(t, s.ui.Window()); !b.Disabled() {
		t.Error("something is chosen at the start")
	}
	s.wait()
	test.Tap(choice(t, s.ui.Window(), "Keyring and passphrase"))
	press(t, s.root(), "Confirm: Keyring and passphrase")
	s.wait()
	press(t, s.root(), "Use these names")
	test.Tap(choice(t, s.ui.Window(), "Write them down later"))
	if b := confirm(t, s.ui.Window()); b.Label() != "Nothing selected" {
		t.Error("the next page hears clicks at once")
	}
	s.wait()
	test.Tap(choice(t, s.ui.Window(), "Write them down later"))
	press(t, s.root(), "Confirm: Create the vault")
	if got := fmt.Sprint(s.desk.Calls); got != "[create keyring-and-passphrase]" {
		t.Errorf("calls: %s", got)
	}
}

func TestRestoreAsksForProtection(t *testing.T) {
	s := newStage(t, fakedesk.Empty())
	press(t, s.root(), "Restore from recovery words")
	s.wait()
	test.Tap(choice(t, s.ui.Window(), "Passphrase only"))
	press(t, s.root(), "Confirm: Passphrase only")
	if got := fmt.Sprint(s.desk.Calls); got != "[restore passphrase]" {
		t.Errorf("calls: %s", got)
	}
}

func TestLockedRestoreAsksForProtection(t *testing.T) {
	d := fakedesk.Busy()
	d.Stat.State = approvals.StateLocked
	s := newStage(t, d)
	press(t, s.root(), "Restore from recovery words")
	if len(s.desk.Calls) != 0 {
		t.Fatalf("restored before the question: %v", s.desk.Calls)
	}
	press(t, s.root(), "Back")
	contains(t, s.root(), "The vault is locked")
	press(t, s.root(), "Restore from recovery words")
	s.wait()
	test.Tap(choice(t, s.ui.Window(), "Passphrase only"))
	press(t, s.root(), "Confirm: Passphrase only")
	if got := fmt.Sprint(s.desk.Calls); got != "[restore passphrase]" {
		t.Errorf("calls: %s", got)
	}
	contains(t, s.root(), "The vault is locked") // the fake desk stays so
}

func TestTickBringsAgesUpToDate(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	contains(t, s.root(), "2 min ago")
	s.now = s.now.Add(time.Minute)
	s.ui.Tick()
	contains(t, s.root(), "3 min ago")
}

func TestPagesAct(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, s *stage)
		want string
	}{
		{"revoke", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Agents"))
			press(t, s.root(), "Revoke…")
			s.wait()
			test.Tap(choice(t, s.ui.Window(), "Revoke support-sender"))
			press(t, s.root(), "Confirm: Revoke support-sender")
		}, "[revoke " + fakedesk.SupportSender + "]"},
		{"leave it", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Agents"))
			press(t, s.root(), "Revoke…")
			s.wait()
			test.Tap(choice(t, s.ui.Window(), "Leave it as it is"))
			press(t, s.root(), "Confirm: Leave it as it is")
		}, "[]"},
		{"end a grant", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Agents"))
			press(t, s.root(), "End…")
			s.wait()
			test.Tap(choice(t, s.ui.Window(), "End this grant"))
			press(t, s.root(), "Confirm: End this grant")
		}, "[end grant g1]"},
		{"rename", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Agents"))
			press(t, s.root(), "Rename")
			uiwalk.All[*parts.Field](s.root())[0].SetText("mailer")
			press(t, s.root(), "Save the name")
		}, "[rename " + fakedesk.SupportSender + " mailer]"},
		{"lift a block", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Agents"))
			press(t, s.root(), "Lift the block")
		}, "[unblock " + fakedesk.OldHelper + "]"},
		{"new domain", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Domains"))
			press(t, s.root(), "New domain")
			if !uiwalk.Button(s.root(), "Create the domain").Disabled() {
				t.Error("a domain without a name can be made")
			}
			uiwalk.All[*parts.Field](s.root())[0].SetText("letters")
			press(t, s.root(), "Create the domain")
		}, "[create domain personal/letters/general]"},
		{"verify", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Activity"))
			press(t, s.root(), "Verify now")
		}, "[verify]"},
		{"export", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Activity"))
			press(t, s.root(), "Export as CSV")
			contains(t, s.root(), "/home/owner/vault-log.csv")
		}, "[export csv]"},
		{"receipt", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Activity"))
			test.Tap(uiwalk.Row(s.root(), "1284"))
			press(t, s.root(), "Export the receipt")
		}, "[receipt]"},
		{"protection", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Settings"))
			press(t, s.root(), "Change…")
			s.wait()
			test.Tap(choice(t, s.ui.Window(), "Passphrase only"))
			press(t, s.root(), "Confirm: Passphrase only")
		}, "[protection passphrase]"},
		{"backup", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Settings"))
			press(t, s.root(), "Back up…")
			s.wait()
			test.Tap(choice(t, s.ui.Window(), "Back up to"))
			press(t, s.root(), "Confirm: Back up to")
		}, "[backup /home/owner/vault.age]"},
		{"text size", func(t *testing.T, s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Settings"))
			press(t, s.root(), "150 %")
			if s.desk.Settings().TextScale != 150 {
				t.Error("the text size was not kept")
			}
		}, "[save settings]"},
		{"lock", func(t *testing.T, s *stage) { press(t, s.root(), "Lock now") }, "[lock asked]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, fakedesk.Busy())
			c.do(t, s)
			if got := fmt.Sprint(s.desk.Calls); got != c.want {
				t.Errorf("calls %s, want %s", got, c.want)
			}
		})
	}
}

func TestLockedPage(t *testing.T) {
	d := fakedesk.Busy()
	d.Stat.State, d.Stat.LockReason = approvals.StateLocked, "idle"
	s := newStage(t, d)
	contains(t, s.root(), "It locked after 15 minutes without use.")
	contains(t, s.root(), "3 requests wait.")
	if n := len(uiwalk.All[*parts.Field](s.root())); n != 0 {
		t.Error("a passphrase can be typed outside of the secret window")
	}
	press(t, s.root(), "Unlock")
	if got := fmt.Sprint(s.desk.Calls); got != "[unlock]" {
		t.Errorf("calls: %s", got)
	}
}

func TestTypingSurvivesNewsFromTheDesk(t *testing.T) {
	s := newStage(t, fakedesk.Busy())
	test.Tap(uiwalk.Row(s.root(), "Domains"))
	press(t, s.root(), "New domain")
	field := uiwalk.All[*parts.Field](s.root())[0]
	test.Type(field, "let")
	s.desk.Set(func(d *fakedesk.Desk) { d.Stat.Entries++ })
	if f, ok := s.ui.Window().Canvas().Focused().(*parts.Field); !ok || f.Text != "let" {
		t.Errorf("the keyboard is on %T", s.ui.Window().Canvas().Focused())
	}
}

// TestViews compares every view with its markup.
func TestViews(t *testing.T) {
	locked := func() *fakedesk.Desk {
		d := fakedesk.Busy()
		d.Stat.State, d.Stat.LockReason = approvals.StateLocked, "idle"
		return d
	}
	// without the words that need a font of the system: widths would differ between machines
	hostile := func() *fakedesk.Desk {
		d := fakedesk.Busy()
		sh := d.Sheets["a2"]
		a := *sh.Action
		a.PayloadText = a.PayloadText[:strings.Index(a.PayloadText, `,"who"`)] + "}"
		sh.Action = &a
		d.Sheets["a2"] = sh
		return d
	}
	page := func(name string) func(*stage) fyne.Window {
		return func(s *stage) fyne.Window {
			test.Tap(uiwalk.Row(s.root(), name))
			return s.ui.Window()
		}
	}
	self := func(s *stage) fyne.Window { return s.ui.Window() }
	sheet := func(id string) func(*stage) fyne.Window { return func(s *stage) fyne.Window { return s.sheet(id) } }
	for _, v := range []struct {
		name string
		desk *fakedesk.Desk
		do   func(*stage) fyne.Window
	}{
		{"first-run", fakedesk.Empty(), self},
		{"locked", locked(), self},
		{"inbox", fakedesk.Busy(), self},
		{"inbox-connect", fakedesk.Fresh(), self},
		{"agents", fakedesk.Busy(), page("Agents")},
		{"domains", fakedesk.Busy(), page("Domains")},
		{"activity", fakedesk.Busy(), page("Activity")},
		{"settings", fakedesk.Busy(), page("Settings")},
		{"settings-passkeys", fakedesk.Enrolled(), page("Settings")},
		{"settings-rule", fakedesk.Enrolled(), func(s *stage) fyne.Window {
			test.Tap(uiwalk.Row(s.root(), "Settings"))
			press(s.t, s.root(), "A rule of your own")
			return s.ui.Window()
		}},
		{"settings-floor", fakedesk.Enrolled(), func(s *stage) fyne.Window {
			test.Tap(uiwalk.Row(s.root(), "Settings"))
			press(s.t, s.root(), "Who signs…")
			return s.ui.Window()
		}},
		{"ceremony", fakedesk.Enrolled(), func(s *stage) fyne.Window {
			s.desk.Set(func(d *fakedesk.Desk) { d.Asking = fakedesk.Ceremony("policy", approvals.CeremonyAsking) })
			return s.ui.Window()
		}},
		{"sheet-pairing", fakedesk.Busy(), sheet("p1")},
		{"sheet-action", fakedesk.Busy(), sheet("a1")},
		{"sheet-hostile", hostile(), sheet("a2")},
	} {
		t.Run(v.name, func(t *testing.T) {
			w := v.do(newStage(t, v.desk))
			test.AssertRendersToMarkup(t, filepath.Join("views", v.name+".xml"), w.Canvas())
		})
	}
}
