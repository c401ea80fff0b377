package ui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow/bundle"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
)

// TestThreeWaysIn: a document comes in by a file that is named, by the clipboard and by being dropped, on whatever page the window
// shows; the desk is given its bytes and how they came.
func TestThreeWaysIn(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*stage)
		call string
		raw  []string
	}{
		"named": {func(s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Engagements"))
			press(s.t, s.root(), "Bring in a document")
			fill(s.t, s.root(), "Path of a file", " /home/owner/offer.json ")
			press(s.t, s.root(), "Bring in the file")
		}, "import  file", []string{"read /home/owner/offer.json"}},
		"pasted": {func(s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Engagements"))
			press(s.t, s.root(), "Bring in a document")
			s.app.Clipboard().SetContent("copied")
			press(s.t, s.root(), "Take it from the clipboard")
		}, "import  paste", []string{"copied"}},
		"dropped":              {func(s *stage) { test.Tap(uiwalk.Row(s.root(), "Engagements")); s.ui.Drop("/a", "/b") }, "import  drop", []string{"read /a", "read /b"}},
		"dropped on the Inbox": {func(s *stage) { s.ui.Drop("/a") }, "import  drop", []string{"read /a"}},
		"two drafts, dropped": {func(s *stage) {
			test.Tap(uiwalk.Row(s.root(), "Engagements"))
			press(s.t, s.root(), "Bring in a document")
			press(s.t, s.root(), "A draft of mine")
			s.ui.Drop("/a", "/b")
		}, "draft", nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := fakedesk.Contracts()
			d.SoW.Brought = agreement.Imported{Kind: agreement.RecordSoW, SHA256: strings.Repeat("0", 64)}
			s := newStage(t, d)
			c.do(s)
			var got []string
			for _, raw := range s.desk.SoW.Imports {
				got = append(got, string(raw))
			}
			if !slices.Equal(got, c.raw) || !slices.Contains(s.desk.Calls, c.call) {
				t.Errorf("the desk was given %q by %q", got, s.desk.Calls)
			}
			contains(t, s.root(), "A document was brought in")
			if len(s.desk.SoW.Signed)+len(s.desk.SoW.Acts) != 0 {
				t.Error("something was signed")
			}
		})
	}
}

// Nothing is taken while the vault is locked, and nothing that is longer than anything may be.
func TestDropsThatAreNotTaken(t *testing.T) {
	d := fakedesk.Contracts()
	d.Stat.State = approvals.StateLocked
	s := newStage(t, d)
	s.ui.Drop("/a")
	if len(s.desk.SoW.Imports) != 0 {
		t.Error("a locked vault took a file")
	}
	s = newStage(t, fakedesk.Contracts())
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	press(t, s.root(), "Bring in a document")
	for _, c := range []struct {
		n     int
		taken bool
	}{{bundle.Max + 1, false}, {bundle.Max, true}} {
		s.app.Clipboard().SetContent(strings.Repeat(" ", c.n))
		press(t, s.root(), "Take it from the clipboard")
		if got := len(s.desk.SoW.Imports) != 0; got != c.taken {
			t.Errorf("%d bytes: taken %v", c.n, got)
		}
		if !c.taken {
			contains(t, s.root(), "A document may have 1 MiB, a bundle 8. Nothing was kept.")
		}
	}
}

// TestExportsFromTheWindow: the bundle, and the page of each version as HTML and PDF.
func TestExportsFromTheWindow(t *testing.T) {
	d := fakedesk.Contracts()
	d.SoW.Bundle = []byte(`{"document":{}}`)
	s := newStage(t, d)
	test.Tap(uiwalk.Row(s.root(), "Engagements"))
	test.Tap(uiwalk.Row(s.root(), "A change is proposed to you"))
	for button, c := range map[string]struct{ file, begins string }{
		"Export the bundle": {"vault-engagement.json", `{"document"`}, "HTML": {"vault-contract-version-2.html", "<!"}, "PDF": {"vault-contract-version-2.pdf", "%PDF-"},
	} {
		s.saved = map[string]*file{}
		press(t, s.root(), button)
		f := s.saved[c.file]
		if f == nil || !strings.HasPrefix(f.String(), c.begins) {
			t.Fatalf("%s: %v", button, s.saved)
		}
		contains(t, s.root(), "It is in /home/owner/"+c.file)
		if button == "HTML" {
			for _, says := range []string{"Whether and how it binds anybody", s.desk.SoW.Views["e_1"].Versions[0].Digest} {
				if !strings.Contains(f.String(), says) {
					t.Errorf("the page does not say %q", says)
				}
			}
		}
	}
	s.full = true
	press(t, s.root(), "PDF")
	if strings.Contains(uiwalk.Text(s.root()), "The page was exported") {
		t.Error("a file that could not be written was exported")
	}
}

// The sentence on the legal status stands in Settings, on the page, and beside the signature.
func TestLegalStatusIsSaid(t *testing.T) {
	const sentence = "Whether and how it binds anybody is for the law that applies"
	s := newStage(t, fakedesk.Contracts())
	test.Tap(uiwalk.Row(s.root(), "Settings"))
	contains(t, s.root(), sentence)
	test.Tap(uiwalk.Row(s.root(), "Inbox"))
	w := s.contract("e_0")
	if !strings.Contains(seenText(w, nil), strings.Fields(sentence)[0]) {
		t.Error("the page does not say it")
	}
	s.wait()
	press(t, w.Canvas().Content(), "Sign as")
	contains(t, w.Canvas().Content(), sentence)
}

// A problem report is shown as it came, with what became of it.
func TestProblemReportIsShown(t *testing.T) {
	for answer, says := range map[string]string{"": "does not open", "escalated": "Nobody has said that it is resolved.", "escalated_twice": "its task is nearly due, or over", "resolved": "You said that it is resolved."} {
		t.Run(fmt.Sprint("answer ", answer), func(t *testing.T) {
			d := fakedesk.Contracts()
			v := d.SoW.Views["e_1"]
			v.Records = slices.Clone(v.Records)
			v.Records[2].Text = `{"description":"The file\u202e does not open.","expected":"text/csv","input":"ledger","problem":"unreadable"}`
			v.Records[2].Answer = answer
			d.SoW.Views["e_1"] = v
			s := newStage(t, d)
			test.Tap(uiwalk.Row(s.root(), "Engagements"))
			test.Tap(uiwalk.Row(s.root(), "A change is proposed to you"))
			for _, want := range []string{"ledger", "unreadable", "text/csv", "<U+202E>", says} {
				contains(t, s.root(), want)
			}
			if got := uiwalk.Button(s.root(), "Resolved") != nil; got != (answer != "resolved") {
				t.Errorf("it can be answered: %v", got)
			}
			if got := uiwalk.Button(s.root(), "Escalate") != nil; got != (answer == "" || answer == "escalated") {
				t.Errorf("it can be escalated: %v", got)
			}
		})
	}
}
