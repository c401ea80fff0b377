package ui_test

import (
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui/parts"
)

// begun is the window in which a move was begun on the page of an engagement, found in the list by a text.
func begun(s *stage, row, label string) fyne.Window {
	s.t.Helper()
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	test.Tap(uiwalk.Row(s.root(), row))
	press(s.t, s.root(), label)
	all := s.app.Driver().AllWindows()
	s.wait()
	return all[len(all)-1]
}

// TestReviewBesideTheFacts: the sheet of a review has what the form checks found, and names what it judges.
func TestReviewBesideTheFacts(t *testing.T) {
	whole := fakedesk.Reviewable().SoW.Views["e_2"].SoW
	for name, c := range map[string]struct {
		pick   bool
		row    string
		reason string
		want   approvals.ActAsk
	}{
		"a delivery, rejected":          {true, "Reject the work", "The total is wrong.", approvals.ActAsk{Kind: sow.Review, Ground: "rejection", Reason: "The total is wrong.", Cites: []string{"task-0197-a4"}}},
		"the whole engagement":          {false, "Accept the work", "", approvals.ActAsk{Kind: sow.Review, Ground: "acceptance", Cites: []string{whole}}},
		"a delivery, accepted in words": {true, "Accept the work", "Thank you.", approvals.ActAsk{Kind: sow.Review, Ground: "acceptance", Reason: "Thank you.", Cites: []string{"task-0197-a4"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, fakedesk.Reviewable())
			w := begun(s, "Copperline", "Review…")
			contains(t, w.Canvas().Content(), "What the form checks found")
			contains(t, w.Canvas().Content(), "1 piece was not in the form that was agreed.")
			contains(t, w.Canvas().Content(), "In form: every named piece arrived as agreed. Reviewed before.")
			if c.pick {
				press(t, w.Canvas().Content(), "Review it")
			}
			test.Tap(choice(t, w, c.row))
			if c.want.Ground == "rejection" && !confirm(t, w).Disabled() {
				t.Error("it can be rejected without a reason")
			}
			uiwalk.All[*parts.Area](w.Canvas().Content())[0].SetText(c.reason)
			s.wait()
			test.Tap(confirm(t, w))
			c.want.Engagement, c.want.Digest = "e_2", s.desk.SoW.Views["e_2"].Versions[0].Digest
			if len(s.desk.SoW.Acts) != 1 || !same(s.desk.SoW.Acts[0], c.want) {
				t.Errorf("the desk was asked for %+v, want %+v", s.desk.SoW.Acts, c.want)
			}
		})
	}
}

// Where nothing was delivered the sheet says that nothing is known of the form.
func TestReviewWithoutADelivery(t *testing.T) {
	desk := fakedesk.Contracts()
	v := desk.SoW.Views["e_2"]
	v.Moves = []agreement.Move{{What: "review", Digest: v.Versions[0].Digest}}
	desk.SoW.Views["e_2"] = v
	w := begun(newStage(t, desk), "Copperline", "Review…")
	contains(t, w.Canvas().Content(), "nothing is known of the form")
}

// TestProbeSheet: a trial is recorded before anything is signed, input by input; one that failed says what is wrong with it.
func TestProbeSheet(t *testing.T) {
	s := newStage(t, fakedesk.Contracts())
	w := s.contract("e_0")
	s.wait()
	press(t, w.Canvas().Content(), "Record a trial…")
	s.wait()
	root := func() fyne.CanvasObject { return w.Canvas().Content() }
	test.Tap(choice(t, w, "Record a trial"))
	for _, name := range []string{"bank-statement", "ledger", "receipts"} {
		contains(t, root(), name)
	}
	contains(t, root(), "Say of at least one input whether it passed.")
	pills := func(label string) (out []*parts.Button) {
		for _, b := range uiwalk.All[*parts.Button](root()) {
			if strings.HasPrefix(uiwalk.Text(b), label) {
				out = append(out, b)
			}
		}
		return out
	}
	test.Tap(pills("Passed")[1])
	if confirm(t, w).Disabled() {
		t.Fatal("one input that passed is no record")
	}
	test.Tap(pills("Failed")[0])
	contains(t, root(), "Choose what is wrong with the input that failed.")
	if !confirm(t, w).Disabled() {
		t.Error("a failure without a report is taken")
	}
	test.Tap(pills("Wrong format")[0])
	contains(t, root(), "Say what happened with the input that failed")
	fill(t, root(), "What happened", "It is a workbook with three sheets.")
	fill(t, root(), "What would do, if you can say", "text/csv")
	s.wait()
	test.Tap(confirm(t, w))
	acts := s.desk.SoW.Acts
	if len(acts) != 1 || acts[0].Kind != sow.Probe || acts[0].Digest != s.desk.SoW.Views["e_0"].Versions[0].Digest || len(acts[0].Inputs) != 2 {
		t.Fatalf("the desk was asked for %+v", acts)
	}
	first, second := acts[0].Inputs[0], acts[0].Inputs[1]
	want := `{"description":"It is a workbook with three sheets.","expected":"text/csv","input":"bank-statement","problem":"wrong_format"}`
	if first.Input != "bank-statement" || first.Passed || string(first.Problem.Canonical()) != want || second.Input != "ledger" || !second.Passed || second.Problem.Exists() {
		t.Errorf("%+v", acts[0].Inputs)
	}
}

// Who holds no seat records no trial.
func TestNoProbeWithoutASeat(t *testing.T) {
	s := newStage(t, fakedesk.Offers())
	desk := s.desk
	desk.Set(func(d *fakedesk.Desk) {
		v := d.SoW.Views["e_0"]
		v.Role = ""
		d.SoW.Views["e_0"] = v
	})
	w := s.contract("e_0")
	if uiwalk.Button(w.Canvas().Content(), "Record a trial") != nil {
		t.Error("a trial can be recorded without a seat")
	}
}

// TestFurtherSheetViews holds the sheets of a trial, of a review and of a language's text to how they were drawn.
func TestFurtherSheetViews(t *testing.T) {
	desk, _ := worded("light")
	for name, v := range map[string]struct {
		desk *fakedesk.Desk
		do   func(*stage) fyne.Window
	}{
		"sheet-sow-probe": {fakedesk.Contracts(), func(s *stage) fyne.Window {
			w := s.contract("e_0")
			s.wait()
			press(s.t, w.Canvas().Content(), "Record a trial…")
			s.wait()
			test.Tap(choice(s.t, w, "Record a trial"))
			return w
		}},
		"sheet-sow-review": {fakedesk.Reviewable(), func(s *stage) fyne.Window {
			w := begun(s, "Copperline", "Review…")
			test.Tap(choice(s.t, w, "Reject the work"))
			return w
		}},
		"sheet-sow-language": {desk, func(s *stage) fyne.Window {
			w := s.contract("e_0")
			s.wait()
			press(s.t, w.Canvas().Content(), "Bring its text…")
			s.wait()
			test.Tap(choice(s.t, w, "Bring it from a file"))
			return w
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := v.do(newStage(t, v.desk))
			test.AssertRendersToMarkup(t, filepath.Join("views", name+".xml"), w.Canvas())
		})
	}
}
