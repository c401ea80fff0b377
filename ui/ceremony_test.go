package ui_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/permit"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui"
	"vault/ui/parts"
)

// pause is a stage whose desk can be kept from answering.
type pause struct {
	*stage
	on   bool
	held []func()
}

func newPause(t *testing.T, desk *fakedesk.Desk) *pause {
	t.Helper()
	desk.Chosen.Theme = "light"
	p := &pause{stage: &stage{t: t, app: test.NewTempApp(t), desk: desk, now: fakedesk.Now}}
	p.ui = ui.New(p.app, desk, ui.Options{
		Now:  func() time.Time { return p.now },
		Zone: time.UTC,
		Do:   func(f func()) { f() },
		Go: func(f func()) {
			if p.on {
				p.held = append(p.held, f)
				return
			}
			f()
		},
		Export: func(name string) (io.WriteCloser, string, error) { return &file{}, "/home/owner/" + name, nil },
	})
	t.Cleanup(p.ui.Close)
	p.ui.Window().Resize(fyne.NewSize(1180, 740))
	p.ui.Show()
	return p
}

// during presses a button whose work on the desk does not end, and says what the ceremony is then.
func (p *pause) during(press func(), v *approvals.CeremonyView) {
	p.on = true
	press()
	p.on = false
	p.desk.Set(func(d *fakedesk.Desk) { d.Asking = v })
}

// ends lets the desk answer what it was kept from.
func (p *pause) ends() {
	held := p.held
	p.held = nil
	for _, f := range held {
		f()
	}
}

// toConfirm opens a moment, selects an option and presses the button up to the passkey.
func (p *pause) toConfirm(id, label string, state approvals.CeremonyState) fyne.Window {
	p.t.Helper()
	w := p.sheet(id)
	p.wait()
	test.Tap(choice(p.t, w, label))
	toEnds(w)
	p.wait()
	test.Tap(confirm(p.t, w))
	toEnds(w)
	p.wait()
	p.during(func() { test.Tap(confirm(p.t, w)) }, fakedesk.Ceremony(id, state))
	return w
}

// toEnds scrolls every view to its end.
func toEnds(w fyne.Window) {
	for _, v := range uiwalk.All[*parts.Scroll](w.Canvas().Content()) {
		v.Inner.ScrollToBottom()
		v.Inner.OnScrolled(v.Inner.Offset)
	}
}

// Criterion 31: the confirm step shows label, action, requester and fingerprint, then the passkey; cancelling it
// returns to the sheet with nothing resolved.
func TestPasskeyThatIsCancelledLeavesTheSheet(t *testing.T) {
	p := newPause(t, fakedesk.DecidingByPasskey())
	w := p.toConfirm("m1", "Share dates only", approvals.CeremonyAsking)
	root := w.Canvas().Content
	for _, want := range []string{"Share dates only", "booking.example", "0db384ab…2be232d1", "Confirm with your passkey", "Waiting for your passkey", "Recorded, then told to travel-desk", "presence and verification", "less than two minutes are left"} {
		contains(t, root(), want)
	}
	for _, b := range uiwalk.All[*parts.Button](root()) {
		if strings.HasPrefix(b.Label(), "Confirm") {
			t.Errorf("%q can be pressed while the passkey is asked for", b.Label())
		}
	}
	p.wait()
	press(t, root(), "Back, nothing decided")
	if _, open := p.desk.Ceremony(); open || !slices.Contains(p.desk.Calls, "cancel ceremony") {
		t.Fatal("the ceremony goes on")
	}
	p.desk.Outcome = approvals.Outcome{Code: "cancelled"}
	p.ends()
	if uiwalk.Button(root(), "Confirm: Share dates only") == nil {
		t.Fatalf("the sheet is not as it was left: %s", uiwalk.Text(root()))
	}
	if len(p.desk.Items) == 0 || p.desk.Items[0].ID != "m1" || len(p.desk.Shut) != 0 {
		t.Error("the request does not keep its place")
	}
	// and it can be confirmed after all
	p.desk.Outcome = approvals.Outcome{}
	p.wait()
	test.Tap(confirm(t, w))
	contains(t, root(), "You selected “Share dates only”")
}

func TestRefusedAnswerSaysWhyAndLeavesTheSheet(t *testing.T) {
	for code, want := range map[string]string{
		"wrong_challenge": "Not accepted: it answers for something else than was shown",
		"timed_out":       "The passkey did not answer in time",
		"contested":       "Contested: the page was opened twice",
		"cooling":         "Two confirmations of this program were not answered",
	} {
		t.Run(code, func(t *testing.T) {
			p := newPause(t, fakedesk.DecidingByPasskey())
			w := p.toConfirm("m1", "Share dates only", approvals.CeremonyAsking)
			p.desk.Outcome = approvals.Outcome{Code: code}
			p.desk.Set(func(d *fakedesk.Desk) { d.Asking = nil })
			p.ends()
			contains(t, w.Canvas().Content(), want)
			press(t, w.Canvas().Content(), "Back, nothing decided")
			contains(t, w.Canvas().Content(), want) // deaf for a second
			p.wait()
			press(t, w.Canvas().Content(), "Back, nothing decided")
			if uiwalk.Button(w.Canvas().Content(), "Confirm: Share dates only") == nil {
				t.Error("the sheet is not as it was left")
			}
		})
	}
}

// Criterion 16: declining asks for no passkey, also where approving needs one.
func TestDecliningNeedsNoPasskey(t *testing.T) {
	p := newPause(t, fakedesk.DecidingByPasskey())
	w := p.sheet("m1")
	p.wait()
	test.Tap(choice(t, w, "Decline"))
	p.wait()
	test.Tap(confirm(t, w))
	contains(t, w.Canvas().Content(), "You declined")
	d := p.desk.Decisions
	if len(d) != 1 || d[0].Verdict != approvals.VerdictDecline || d[0].Confirm || d[0].Prove != "" {
		t.Errorf("decided %+v", d)
	}
}

func TestClosingTheWindowGoesBackFromThePasskey(t *testing.T) {
	p := newPause(t, fakedesk.DecidingByPasskey())
	w := p.toConfirm("m1", "Share dates only", approvals.CeremonyReady)
	key(w, fyne.KeyEscape)
	if !slices.Contains(p.desk.Calls, "cancel ceremony") || !slices.Equal(p.desk.Shut, []string{"m1"}) {
		t.Errorf("calls %v, shut %v", p.desk.Calls, p.desk.Shut)
	}
}

// At twice the size of text the way back stays in view.
func TestWayBackStaysAtDoubleSize(t *testing.T) {
	desk := fakedesk.DecidingByPasskey()
	desk.Chosen.TextScale = 200
	p := newPause(t, desk)
	w := p.toConfirm("m1", "Share dates only", approvals.CeremonyCompare)
	w.Resize(fyne.NewSize(720, 640))
	b := uiwalk.Button(w.Canvas().Content(), "Back, nothing decided")
	if b == nil {
		t.Fatal("no way back")
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
	if end := at.Y + b.Size().Height; at.Y < 100 || end > 640 {
		t.Errorf("the way back ends at %v of 640", end)
	}
}

func TestLinkIsCopiedWhereNoBrowserOpens(t *testing.T) {
	p := newPause(t, fakedesk.DecidingByPasskey())
	w := p.toConfirm("m1", "Share dates only", approvals.CeremonyNoBrowser)
	contains(t, w.Canvas().Content(), "No browser has opened it yet")
	contains(t, w.Canvas().Content(), "ssh -N -L 38611")
	press(t, w.Canvas().Content(), "Copy link")
	if got := p.app.Clipboard().Content(); got != fakedesk.Ceremony("m1", approvals.CeremonyNoBrowser).Link {
		t.Errorf("copied %q", got)
	}
}

func TestDigitsAreComparedByChoiceAndConfirm(t *testing.T) {
	p := newPause(t, fakedesk.Enrolled())
	p.desk.Set(func(d *fakedesk.Desk) { d.Asking = fakedesk.Ceremony("enrol", approvals.CeremonyMine) })
	w := p.ui.Window()
	contains(t, p.root(), "915 042")
	contains(t, p.root(), "Security key. It cannot be copied to other devices.")
	test.Tap(choice(t, w, "It is mine")) // on its way before it could be read
	if confirm(t, w).Label() != "Nothing selected" {
		t.Fatal("taken within a second")
	}
	p.wait()
	test.Tap(choice(t, w, "It is mine"))
	test.Tap(confirm(t, w))
	if !slices.Contains(p.desk.Calls, "compared true") {
		t.Errorf("calls %v", p.desk.Calls)
	}
}

func TestEnrolOffersTheOtherName(t *testing.T) {
	p := newPause(t, fakedesk.Busy())
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	press(t, p.root(), "Enrol a passkey")
	contains(t, p.root(), "Works where it has a PIN")
	w := p.ui.Window()
	p.wait()
	test.Tap(choice(t, w, "Enrol a passkey"))
	p.desk.Outcome = approvals.Outcome{Code: "name_refused"}
	test.Tap(confirm(t, w))
	contains(t, p.root(), "This browser does not take the vault’s own name")
	p.wait()
	test.Tap(choice(t, w, "Enrol it under the name localhost"))
	p.desk.Outcome = approvals.Outcome{}
	test.Tap(confirm(t, w))
	if !slices.Contains(p.desk.Calls, "enrol passkey, other name true") {
		t.Errorf("calls %v", p.desk.Calls)
	}
	contains(t, p.root(), "The passkey is enrolled")
}

func TestRemovingAPasskey(t *testing.T) {
	p := newPause(t, fakedesk.Enrolled())
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	press(t, p.root(), "Remove 022 658")
	w := p.ui.Window()
	p.wait()
	test.Tap(choice(t, w, "Remove this passkey"))
	test.Tap(confirm(t, w))
	if !slices.Contains(p.desk.Calls, "remove passkey p_91f3d0ce7c1e09a4") {
		t.Errorf("calls %v", p.desk.Calls)
	}

	one := fakedesk.Enrolled()
	one.Keys = one.Keys[:1]
	p = newPause(t, one)
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	press(t, p.root(), "Remove 480 791")
	p.wait()
	test.Tap(choice(t, p.ui.Window(), "Remove this passkey"))
	if confirm(t, p.ui.Window()).Label() != "Nothing selected" {
		t.Error("the last passkey can be removed")
	}
}

func TestPolicyIsTightenedAndLoosened(t *testing.T) {
	p := newPause(t, fakedesk.Enrolled())
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	w := p.ui.Window()
	before := len(p.desk.Rules.Rules)
	press(t, p.root(), "Ask a passkey") // every approval
	p.wait()
	test.Tap(choice(t, w, "Ask a passkey for this"))
	test.Tap(confirm(t, w))
	every := permit.Rule{Scope: permit.ScopeEvery}
	if r := p.desk.Rules.Rules; len(r) != before+1 || !slices.Contains(r, every) {
		t.Fatalf("rules %v", r)
	}
	press(t, p.root(), "Leave to a click")
	contains(t, p.root(), "A passkey confirms it")
	p.wait()
	test.Tap(choice(t, w, "Leave this to a click"))
	p.desk.Outcome = approvals.Outcome{Code: "cancelled"}
	test.Tap(confirm(t, w))
	if !slices.Contains(p.desk.Rules.Rules, every) {
		t.Error("loosened without a passkey")
	}
	contains(t, p.root(), "The passkey was not used")
}

// toWords goes through the first run up to the button after which the words are written down, and returns the window.
func (p *pause) toWords() fyne.Window {
	p.t.Helper()
	w := p.ui.Window()
	p.wait()
	test.Tap(choice(p.t, w, "Keyring and passphrase"))
	test.Tap(confirm(p.t, w))
	p.wait()
	press(p.t, p.root(), "Use these names")
	p.wait()
	test.Tap(choice(p.t, w, "Write the words down now"))
	return w
}

func TestFirstRunOffersPasskeyForEveryApproval(t *testing.T) {
	p := newPause(t, fakedesk.Empty())
	w := p.toWords()
	test.Tap(confirm(t, w))
	p.desk.Set(func(d *fakedesk.Desk) { d.Stat = fakedesk.Fresh().Stat })
	p.wait()
	test.Tap(choice(t, w, "A passkey for every approval"))
	test.Tap(confirm(t, w))
	if !slices.Contains(p.desk.Calls, "enrol passkey, other name false") || !slices.Equal(p.desk.Rules.Rules, []permit.Rule{{Scope: permit.ScopeEvery}}) {
		t.Errorf("calls %v, rules %v", p.desk.Calls, p.desk.Rules.Rules)
	}
}

func TestActivityCountsApprovalsByClick(t *testing.T) {
	p := newPause(t, fakedesk.Enrolled())
	test.Tap(uiwalk.Row(p.root(), "Activity"))
	press(t, p.root(), "Decisions")
	contains(t, p.root(), "4 Nov, 09:00 to 10:00")
	contains(t, p.root(), "By click")
}

// What is asked below a row is in view, and so is what came of it, wherever the owner had scrolled to.
func TestQuestionIsScrolledTo(t *testing.T) {
	p := newPause(t, fakedesk.DecidingByPasskey())
	w := p.ui.Window()
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	p.wait()
	var page *parts.Scroll
	for _, s := range uiwalk.All[*parts.Scroll](p.root()) {
		if strings.Contains(uiwalk.Text(s), "What needs a person") {
			page = s
		}
	}
	inView := func(o fyne.CanvasObject) bool {
		top, ok := page.Top(o)
		from, to := page.Shown()
		return ok && top >= from && top+o.Size().Height <= to
	}
	var last *parts.Button // of the table
	for _, b := range uiwalk.All[*parts.Button](p.root()) {
		if b.Label() == "Ask a passkey" {
			last = b
		}
	}
	top, _ := page.Top(last)
	page.Inner.ScrollToOffset(fyne.NewPos(0, top+last.Size().Height-page.Inner.Size().Height))
	test.Tap(last)
	p.wait()
	asked := choice(t, w, "Ask a passkey for this")
	test.Tap(asked)
	if b := confirm(t, w); !inView(asked) || !inView(b) {
		from, to := page.Shown()
		t.Fatalf("the question is not in view: %v to %v", from, to)
	}
	p.wait()
	test.Tap(confirm(t, w))
	if page.Inner.Offset.Y != 0 {
		t.Errorf("what came of it stands out of view, %v above", page.Inner.Offset.Y)
	}
	contains(t, p.root(), "This needs a passkey now")
}
