package terminal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/opened"
	"vault/approvals/sow"
	"vault/internal/fakedesk"
)

// said are lines that are typed one after the other, each at its prompt.
func said(lines ...string) (out []step) {
	for i := 0; i < len(lines); i += 2 {
		out = append(out, step{wait: lines[i], after: 2 * time.Second, typed: lines[i+1] + "\r"})
	}
	return out
}

// did does the one thing with an engagement whose words begin so, and gives what was on the screen.
func did(t *testing.T, fake *fakedesk.Desk, engagement, words string, steps ...step) string {
	t.Helper()
	dev := newDevice(t, steps...)
	dev.rows = 5000
	s := New(fake, NewConsole(dev, dev.now), dev.now, time.UTC, func(err error) string { return err.Error() })
	v, err := fake.Engagement(engagement)
	if err != nil {
		t.Fatal(err)
	}
	o, err := opened.Read(fake, v, "")
	if err != nil {
		t.Fatal(err)
	}
	p := s.page()
	list := s.choices(o, p)
	i := slices.IndexFunc(list, func(c choice) bool { return strings.HasPrefix(c.words, words) })
	if i < 0 {
		t.Fatalf("there is no choice %q; there are %v, and %s", words, list, p)
	}
	if err := list[i].do(t.Context()); err != nil && !errors.Is(err, ErrClosed) {
		return "error: " + err.Error()
	}
	if len(dev.steps) > 0 {
		t.Errorf("ended with %d steps left; the screen showed:\n%s", len(dev.steps), dev.screen())
	}
	return dev.screen()
}

// acting is a desk whose engagement e_1 is in force and has every move of one.
func acting() *fakedesk.Desk {
	d := fakedesk.Contracts()
	v := d.SoW.Views["e_1"]
	v.Versions = v.Versions[1:]
	v.Moves = nil
	for _, what := range []string{"terminate", "dispute", "review", "probe", "withdraw", "deny", "counter", "refuse"} {
		v.Moves = append(v.Moves, agreement.Move{What: what, Digest: v.Versions[0].Digest})
	}
	d.SoW.Views["e_1"] = v
	return d
}

// Every act of the owner's has its way on a terminal, and what is missing to one decides nothing.
func TestActsOnTheTerminal(t *testing.T) {
	settlement := strings.Repeat("b2", 32)
	failed, err := sow.NewProblem("bank-statement", "wrong_format", "It is a workbook.", "text/csv")
	if err != nil {
		t.Fatal(err)
	}
	whole := acting().SoW.Views["e_1"].SoW
	for name, c := range map[string]struct {
		words string
		steps []step
		want  *approvals.ActAsk // nil: nothing is decided
		says  string
	}{
		"a dispute": {"dispute an amount", said("What you contest: ", "1", "Amount in XCR", "0.25", "Your reason", "The fee is off by one."),
			&approvals.ActAsk{Kind: sow.Dispute, Reason: "The fee is off by one.", Cites: []string{settlement}, Disputed: &sow.Disputed{Amount: 250000, Currency: "XCR"}}, "The operator’s fee is not what its own basis makes."},
		"a dispute of nothing":          {"dispute an amount", said("What you contest: ", "7"), nil, "That is no number of the list."},
		"a dispute of no amount":        {"dispute an amount", said("What you contest: ", "1", "Amount in XCR", "-1"), nil, "That is no amount."},
		"a dispute without a reason":    {"dispute an amount", said("What you contest: ", "1", "Amount in XCR", "1", "Your reason", ""), nil, "Without a reason it is not recorded."},
		"a review of everything":        {"review the work", said("Task or job", "", "accept or reject", "accept", "Your reason", ""), &approvals.ActAsk{Kind: sow.Review, Ground: "acceptance", Cites: []string{whole}}, "nothing is known of the form"},
		"a rejection":                   {"review the work", said("Task or job", "task-1", "accept or reject", "reject", "Your reason", "late"), &approvals.ActAsk{Kind: sow.Review, Ground: "rejection", Reason: "late", Cites: []string{"task-1"}}, "signed"},
		"a rejection without a reason":  {"review the work", said("Task or job", "task-1", "accept or reject", "reject", "Your reason", ""), nil, "Without a reason it is no review."},
		"a review that says neither":    {"review the work", said("Task or job", "task-1", "accept or reject", "perhaps"), nil, "accepted or rejected"},
		"a trial":                       {"record a trial", said("bank-statement: ", "failed", "What is wrong", "wrong_format", "What happened", "It is a workbook.", "What would do", "text/csv", "ledger: ", "passed", "receipts: ", ""), &approvals.ActAsk{Kind: sow.Probe, Inputs: []sow.Tried{{Input: "bank-statement", Problem: failed}, {Input: "ledger", Passed: true}}}, "signed"},
		"a trial that ends early":       {"record a trial", said("bank-statement: ", "passed", "ledger: ", "done"), &approvals.ActAsk{Kind: sow.Probe, Inputs: []sow.Tried{{Input: "bank-statement", Passed: true}}}, "signed"},
		"a trial of nothing":            {"record a trial", said("bank-statement: ", "", "ledger: ", "", "receipts: ", ""), nil, "at least one input"},
		"a failure that says nothing":   {"record a trial", said("bank-statement: ", "failed", "What is wrong", "missing", "What happened", "", "What would do", ""), nil, "one of the five words and a description"},
		"an end with notice":            {"end the agreement", said("convenience or cause: ", "convenience", "or nothing", ""), &approvals.ActAsk{Kind: sow.Termination, Ground: "convenience"}, "24 hours of notice"},
		"an end for cause":              {"end the agreement", said("convenience or cause: ", "cause", "Your reason", "floors missed"), &approvals.ActAsk{Kind: sow.Termination, Ground: "cause", Reason: "floors missed"}, "signed"},
		"an end for a cause that's not": {"end the agreement", said("convenience or cause: ", "cause", "Your reason", ""), nil, "Without a reason it is not recorded."},
		"an end on another ground":      {"end the agreement", said("convenience or cause: ", "boredom"), nil, "no ground"},
		"a withdrawal":                  {"withdraw it", said("or nothing", ""), &approvals.ActAsk{Kind: sow.Withdrawal}, "signed"},
		"a denial without a reason":     {"deny the change, with", said("Your reason", ""), nil, "Without a reason it is not recorded."},
		"a counter":                     {"deny the change, and propose", said("Your reason", "too dear"), &approvals.ActAsk{Kind: sow.Denial, Reason: "too dear", Counter: true}, "signed"},
		"a refusal":                     {"refuse to form", said("Id of the condition", "", "Your reason", "not now"), &approvals.ActAsk{Kind: sow.FormationRefusal, Reason: "not now"}, "signed"},
		"a refusal without a reason":    {"refuse to form", said("Id of the condition", "x", "Your reason", ""), nil, "Without a reason it is not recorded."},
	} {
		t.Run(name, func(t *testing.T) {
			fake := acting()
			out := did(t, fake, "e_1", c.words, c.steps...)
			if !strings.Contains(out, c.says) {
				t.Errorf("%q is not on the screen:\n%s", c.says, out)
			}
			if c.want == nil {
				if len(fake.SoW.Acts) != 0 || !strings.Contains(out, "Nothing was decided.") {
					t.Errorf("%+v\n%s", fake.SoW.Acts, out)
				}
				return
			}
			want := *c.want
			want.Engagement, want.Digest = "e_1", fake.SoW.Views["e_1"].Versions[0].Digest
			if len(fake.SoW.Acts) != 1 || fmt.Sprint(shown(fake.SoW.Acts[0])) != fmt.Sprint(shown(want)) {
				t.Errorf("%+v, want %+v", fake.SoW.Acts, want)
			}
		})
	}
}

// shown is an act as it can be compared.
func shown(a approvals.ActAsk) (out []string) {
	out = append(out, a.Engagement, a.Digest, string(a.Kind), a.Reason, a.Ground, fmt.Sprint(a.Cites, a.Counter))
	if a.Disputed != nil {
		out = append(out, fmt.Sprint(*a.Disputed))
	}
	for _, x := range a.Inputs {
		report := ""
		if x.Problem.Exists() {
			report = string(x.Problem.Canonical())
		}
		out = append(out, x.Input, fmt.Sprint(x.Passed), report)
	}
	return out
}

// A seat is filled on a terminal, and what was made is shown before anything is signed.
func TestFormingOnTheTerminal(t *testing.T) {
	agent := "UCGE3DKDM2X7HGRXVCEQWL7SYU6C7A7WSK63QGV2Z3CTRVRH3KOHNBL7"
	fill := func(asserts, name, start string) []step {
		return said("Your name", name, "Your agent's key", agent, "Its handle", "", "Organization", "", "It starts, in UTC [2026-12-01 00:00]: ", start,
			"Where ledger is", "https://ledger.example/mcp", "Where receipts is", "", "That is true of you.", asserts)
	}
	fake := fakedesk.Offers()
	out := did(t, fake, "e_0", "fill the open seat", append(fill("yes", "Harbor & Line Outfitters", ""), said("Your answer: ", "q")...)...)
	want := sow.Fill{Client: sow.Seat{Agent: agent, Owner: "Harbor & Line Outfitters"}, StartsAt: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
		Locations: map[string]string{"ledger": "https://ledger.example/mcp"}, Assertions: []string{"holds-licence"}}
	if len(fake.SoW.Formed) != 1 || !reflect.DeepEqual(fake.SoW.Formed[0].Fill, want) || len(fake.SoW.Signed) != 0 {
		t.Fatalf("%+v, %+v\n%s", fake.SoW.Formed, fake.SoW.Signed, out)
	}
	for _, says := range []string{"You assert of yourself", "This is what you would sign. Nothing is signed yet.", "sign it, with your passkey"} {
		if !strings.Contains(out, says) {
			t.Errorf("%q is not on the screen:\n%s", says, out)
		}
	}
	for name, steps := range map[string][]step{
		"not asserted": fill("no", "Harbor", ""),
		"no name":      fill("", "", "")[:4],
		"no instant":   fill("", "Harbor", "soon")[:5],
	} {
		fake := fakedesk.Offers()
		if out := did(t, fake, "e_0", "fill the open seat", steps...); len(fake.SoW.Formed) != 0 || !strings.Contains(out, "Nothing was decided.") {
			t.Errorf("%s: %+v\n%s", name, fake.SoW.Formed, out)
		}
	}
}

func TestPreauthorisingOnTheTerminal(t *testing.T) {
	agent := "UCGE3DKDM2X7HGRXVCEQWL7SYU6C7A7WSK63QGV2Z3CTRVRH3KOHNBL7"
	steps := func(most, times, until string) []step {
		return said("The program that may accept it", "1", "Your name", "Harbor", "Your agent's key", agent, "Commits to at most", most, "How many times", times, "Until, at most", until)
	}
	fake := fakedesk.Offers()
	out := did(t, fake, "e_0", "let an agent accept", steps("12.50", "3", "2026-12-24 12:00")...)
	if len(fake.SoW.Allowed) != 1 {
		t.Fatalf("%+v\n%s", fake.SoW.Allowed, out)
	}
	if a := fake.SoW.Allowed[0]; a.MaxCommitted != 12_500_000 || a.Times != 3 || a.NotAfter != time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC).UnixMilli() ||
		a.Client != fake.Clients()[0].ID || a.Party != (sow.Seat{Owner: "Harbor", Agent: agent}) || a.Digest != fake.SoW.Views["e_0"].Versions[0].Digest {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(out, "without asking you") {
		t.Error(out)
	}
	for name, bad := range map[string][]step{"no amount": steps("a lot", "", "")[:4], "too often": steps("1", "1001", "")[:5], "too long": steps("1", "1", "2027-12-24 12:00"), "over": steps("1", "1", "2026-01-01 00:00")} {
		fake := fakedesk.Offers()
		if out := did(t, fake, "e_0", "let an agent accept", bad...); len(fake.SoW.Allowed) != 0 || !strings.Contains(out, "Nothing was decided.") {
			t.Errorf("%s: %+v\n%s", name, fake.SoW.Allowed, out)
		}
	}
}

// Where the seat is not fixed it is chosen, and what is signed stands on the screen with the sentence on its legal status.
func TestSeatIsChosenOnTheTerminal(t *testing.T) {
	fake := fakedesk.Contracts()
	fake.SoW.Keys = append(fake.SoW.Keys, approvalsSeat(2))
	v := fake.SoW.Views["e_0"]
	v.SeatFixed, v.Role = false, ""
	fake.SoW.Views["e_0"] = v
	out := did(t, fake, "e_0", "sign it", said("The seat that signs", "2", "client or provider", "provider")...)
	if want := (approvals.Signing{Engagement: "e_0", Digest: v.Versions[0].Digest, Seat: 2, Role: sow.Provider, Move: "countersign"}); len(fake.SoW.Signed) != 1 || fake.SoW.Signed[0] != want {
		t.Fatalf("%+v\n%s", fake.SoW.Signed, out)
	}
	for _, says := range []string{"What is signed: sha256 " + v.Versions[0].Digest, "Whether and how it binds anybody is for the law that applies"} {
		if !strings.Contains(out, says) {
			t.Errorf("%q is not on the screen", says)
		}
	}
	fake.SoW.Signed = nil
	if out := did(t, fake, "e_0", "sign it", said("The seat that signs", "9")...); len(fake.SoW.Signed) != 0 || !strings.Contains(out, "Nothing was decided.") {
		t.Errorf("%+v\n%s", fake.SoW.Signed, out)
	}
	if out := did(t, fake, "e_0", "sign it", said("The seat that signs", "1", "client or provider", "both")...); len(fake.SoW.Signed) != 0 || !strings.Contains(out, "Nothing was decided.") {
		t.Errorf("%+v\n%s", fake.SoW.Signed, out)
	}
}

func approvalsSeat(n int64) agreement.SeatView {
	return agreement.SeatView{Index: n, Name: "Workshop", Key: "UWORKSHOP"}
}

// What belongs to an agreement stands below its page, and each of it that asks for something can be answered.
func TestBesideAnAgreement(t *testing.T) {
	fake := fakedesk.Contracts()
	v := fake.SoW.Views["e_1"]
	v.Rehomed = []agreement.RehomedView{{Handle: "Granite\u202e", Was: "UOLD", Is: "UNEW"}}
	v.Preauthorisations = []agreement.PreauthorisationView{{ID: "sp_1", State: "active"}, {ID: "sp_2", State: "ended"}}
	v.Records[2].Text = `{"description":"The file\u202e does not open.","input":"ledger","problem":"unreadable"}`
	v.Disputed = []agreement.DisputeView{{Disputed: sow.Disputed{Amount: 250000, Currency: "XCR"}, Posture: "arbiter", Fallback: "none", Due: 1}}
	fake.SoW.Views["e_1"] = v
	s := New(fake, nil, func() time.Time { return fakedesk.Now }, time.UTC, nil)
	text := s.beside(v)
	for _, says := range []string{"Every version, kept as it came", "A change was proposed, by them", "The proposed change lapses unanswered", "Access that stays open: receipts, still open", "A problem report",
		"The operator’s fee is not what its own basis makes.", "claimed by Granite.books@stonework.example", "The file", "You rejected", "Disputed since", "A verdict after"} {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not there:\n%s", says, text)
		}
	}
	if strings.Contains(text, "\u202e") {
		t.Error("a hidden character reached the terminal")
	}
	for words, want := range map[string]string{
		"tell the agent that asks no":                "decline sow e_1 " + v.Versions[0].Digest,
		"say that the handle Granite":                "confirm handle e_1 Granite\u202e UNEW",
		"the problem reported":                       "problem resolved",
		"escalate the problem":                       "problem escalated",
		"say that you closed the access to receipts": "close grant receipts",
		"end what you allowed":                       "end preauthorisation sp_1",
	} {
		fake.Calls = nil
		if out := did(t, fake, "e_1", words); !slices.Contains(fake.Calls, want) {
			t.Errorf("%s: %q\n%s", words, fake.Calls, out)
		}
	}
	if len(fake.SoW.Signed)+len(fake.SoW.Acts) != 0 {
		t.Errorf("%+v %+v", fake.SoW.Signed, fake.SoW.Acts)
	}
}

// Files are new ones, and hold what was shown; the text of a language is taken by its hash alone.
func TestFilesOfAnAgreement(t *testing.T) {
	dir := t.TempDir()
	text := "The standard language.\n"
	fake := fakedesk.InLanguage(text)
	fake.SoW.Bundle = []byte(`{"document":{}}`)
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, begins := range map[string]string{"page.html": "<!", "page.pdf": "%PDF"} {
		did(t, fake, "e_0", "write this page", said("The new file", at(name))...)
		if b, err := os.ReadFile(at(name)); err != nil || !strings.HasPrefix(string(b), begins) {
			t.Errorf("%s: %.20q, %v", name, b, err)
		}
	}
	if out := did(t, fake, "e_0", "write this page", said("The new file", at("page.html"))...); !strings.Contains(out, "file_exists") {
		t.Errorf("a file was written over: %s", out)
	}
	if out := did(t, fake, "e_0", "write this page", said("The new file", at("page.txt"))...); !strings.Contains(out, "Nothing was written.") {
		t.Error(out)
	}
	did(t, fake, "e_0", "write the bundle", said("The new file", at("bundle.json"))...)
	if b, err := os.ReadFile(at("bundle.json")); err != nil || string(b) != `{"document":{}}` {
		t.Errorf("%q, %v", b, err)
	}
	// In this order: once the text is there, nothing more is brought.
	for _, c := range []struct{ name, content, says string }{{"another", text + "\n", "language_text_mismatch"}, {"the text", text, "its hash is the one that was signed"}} {
		name := c.name
		if err := os.WriteFile(at(name), []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := did(t, fake, "e_0", "bring the text", said("The file", at(name))...); !strings.Contains(out, c.says) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if v, err := fake.Engagement("e_0"); err != nil {
		t.Fatal(err)
	} else if o, err := opened.Read(fake, v, ""); err != nil || string(o.Text) != text {
		t.Errorf("%q, %v", o.Text, err)
	}
}

// The commands beside a single agreement.
func TestAgreementCommands(t *testing.T) {
	fake := fakedesk.Contracts()
	draft := filepath.Join(t.TempDir(), "draft of mine.json")
	if err := os.WriteFile(draft, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake.SoW.Brought = agreement.Imported{Kind: agreement.RecordSoW, Code: "not_understood", Findings: sow.Findings{{Severity: sow.Error, Code: "x", Message: "It is none.", Remedy: "Bring one."}}}
	fake.SoW.Blocked = []approvals.BlockedKey{{Key: "UBAD", Why: "they lied", At: 1}}
	dev := newDevice(t)
	s := New(fake, NewConsole(dev, dev.now), dev.now, time.UTC, func(err error) string { return err.Error() })
	run := func(line string) string {
		t.Helper()
		from := len(dev.screen())
		if err := s.run(t.Context(), commands(), strings.Fields(line)); err != nil {
			return err.Error()
		}
		return dev.screen()[from:]
	}
	for line, want := range map[string]struct{ call, says string }{
		"due":                          {"", "The proposed change lapses unanswered"},
		"seats":                        {"", "seat 1, Harbor & Line Outfitters: U"},
		"seat":                         {"", "Type a name after it"},
		"seat \u202ex":                 {"", "Type a name after it"},
		"seat Harbor workshop":         {"open seat Harbor workshop", "It signs nothing until you choose it"},
		"refusekey":                    {"", "they lied"},
		"refusekey UBAD they lied":     {"block key UBAD", "Everything of it is refused"},
		"hearkey":                      {"", "Type the key after it"},
		"hearkey UBAD":                 {"unblock key UBAD", "counts as before"},
		"runtimes":                     {"", "Both nodes refuse: work out of scope"},
		"runtimes scope no":            {"deployment ", "earned anew"},
		"runtimes scope maybe":         {"", "Nothing was changed."},
		"runtimes weather no":          {"", "Nothing was changed."},
		"pin UAGENT UKEY document":     {"pin", "Pinned."},
		"pin UAGENT":                   {"", "Type the agent's key"},
		"draft " + draft:               {"draft", "It was not kept. Code: not_understood"},
		"draft":                        {"", "Type the file after it."},
		"bring " + draft + ".not":      {"", "cannot be read"},
		"agreement e_1 7":              {"", "No version is named so"},
		"agreement e_1 " + "0000":      {"", "No version is named so"},
		"agreement":                    {"", "Type the number of the list"},
		"bring " + filepath.Dir(draft): {"", "cannot be read"},
		"agreement 77":                 {"", "The list has no such number."},
	} {
		fake.Calls = nil
		out := run(line)
		if !strings.Contains(out, want.says) || want.call != "" != (len(fake.Calls) == 1) || want.call != "" && fake.Calls[0] != want.call {
			t.Errorf("%s: %q\n%s", line, fake.Calls, out)
		}
	}
	if d, _ := fake.Deployment(""); d.Scope {
		t.Error("what runtimes do was not changed")
	}
	if p := fake.SoW.Pins; len(p) != 1 || p[0].Learned != "document" {
		t.Errorf("%+v", p)
	}
}

// A version other than the one that waits is opened by its number, or by the beginning of its digest.
func TestVersionIsChosen(t *testing.T) {
	v := fakedesk.Contracts().SoW.Views["e_1"]
	for name, want := range map[string]string{"1": v.Versions[1].Digest, "2": v.Versions[0].Digest, v.Versions[1].Digest[:8]: v.Versions[1].Digest, strings.ToUpper(v.Versions[0].Digest[:6]): v.Versions[0].Digest, "3": "", v.Versions[0].Digest[:5]: "", "": ""} {
		if got := versionOf(v, name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	v.Versions[0].Version = 1 // a conflict
	if got := versionOf(v, "1"); got != "" {
		t.Errorf("one of two: %q", got)
	}
}
