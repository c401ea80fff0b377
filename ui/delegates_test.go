package ui_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/approvals/journal"
	"vault/derive/envelope"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui/parts"
)

func delegates(t *testing.T, desk *fakedesk.Desk) *stage {
	t.Helper()
	s := newStage(t, desk)
	test.Tap(uiwalk.Row(s.root(), "Delegates"))
	return s
}

// typed finds a field by its placeholder, or by what stands in it, and types into it.
func typed(t *testing.T, root fyne.CanvasObject, begins, text string) {
	t.Helper()
	for _, f := range uiwalk.All[*parts.Field](root) {
		if strings.HasPrefix(f.PlaceHolder, begins) || f.Text != "" && strings.HasPrefix(f.Text, begins) {
			f.SetText(text)
			return
		}
	}
	t.Fatalf("no field %q", begins)
}

// said is everything that is drawn, as one text without spaces: lines are cut between words.
func said(root fyne.CanvasObject) string { return unspaced(uiwalk.Text(root)) }

func unspaced(s string) string { return strings.Join(strings.Fields(s), "") }

func says(t *testing.T, root fyne.CanvasObject, want ...string) {
	t.Helper()
	text := said(root)
	for _, w := range want {
		if !strings.Contains(text, unspaced(w)) {
			t.Errorf("%q is not said in: %s", w, text)
		}
	}
}

func answers(t *testing.T, s *stage, label string) {
	t.Helper()
	s.wait()
	test.Tap(choice(t, s.ui.Window(), label))
	s.wait()
	test.Tap(confirm(t, s.ui.Window()))
}

func TestDelegatesPage(t *testing.T) {
	s := delegates(t, fakedesk.Delegating())
	says(t, s.root(), "support-bot may send-message on thread:*, at most 10 times with each key, with up to 100 keys, until 31 December 2026.",
		"37 of 100", "212 of 1,000", "57 days left", "Signatures a day, most 31", "thread:customer-123", "3 of 10", "spent", "32 more",
		"vouched for by you alone", "63 keys left", "not admitted", "revoked")
	test.Tap(uiwalk.Row(s.root(), "customer-117"))
	says(t, s.root(), "support-sender, as "+fakedesk.SupportBot, "customer-run-898", "0xe6042b8d4c5d6e7f8091a2b3c4d5e6f7d5a1937c", "Export the record")
	test.Tap(uiwalk.Row(s.root(), "returns-bot"))
	says(t, s.root(), "returns-bot may open-return on order:*", "Paused", "12 of 100", "order:HL-2291")
	if strings.Contains(said(s.root()), "customer-123") {
		t.Error("keys of another delegate are shown")
	}
	press(t, s.root(), "Show its bounds")
	says(t, s.root(), s.desk.Minting.List[2].Hash, "0 to 9,999", "from 1 October 2026, 00:00 UTC until 31 December 2026, 23:59 UTC")
	test.Tap(uiwalk.Row(s.root(), "support-bot"))
	press(t, s.root(), "32 more")
	says(t, s.root(), "12 more")
}

// What was minted is read while it is shown, and not for any other page.
func TestMintsAreReadWhereTheyAreShown(t *testing.T) {
	d := fakedesk.Delegating()
	s := newStage(t, d)
	reads := func() int { var n int; d.Set(func(d *fakedesk.Desk) { n = d.Minting.Reads }); return n }
	change := func(day int64) {
		d.Set(func(d *fakedesk.Desk) {
			d.Log = append(d.Log, approvals.Event{Seq: uint64(day), Kind: "vault.unlocked", At: fakedesk.Now.UnixMilli()})
		})
	}
	for day := range int64(3) {
		change(day)
	}
	for _, page := range []string{"Activity", "Agents", "Settings"} {
		test.Tap(uiwalk.Row(s.root(), page))
		change(7)
	}
	if n := reads(); n != 0 {
		t.Errorf("%d reads where nothing of it is shown", n)
	}
	test.Tap(uiwalk.Row(s.root(), "Delegates"))
	says(t, s.root(), "Signatures a day, most 31", "thread:customer-123")
	shown := reads()
	if shown == 0 {
		t.Fatal("what is shown was not read")
	}
	change(8)
	if reads() == shown {
		t.Error("what is shown does not follow")
	}
	test.Tap(uiwalk.Row(s.root(), "Inbox"))
	left := reads()
	change(9)
	if n := reads(); n != left {
		t.Errorf("%d reads after the page was left", n-left)
	}
	// What cannot be read is not said to be empty.
	d.Set(func(d *fakedesk.Desk) { d.Minting.MintsErr = &approvals.Refusal{Code: approvals.CodeStoreFailed} })
	test.Tap(uiwalk.Row(s.root(), "Delegates"))
	says(t, s.root(), "What it minted could not be read.")
}

// What the owner types is what is planned, and the sentence says it while it is typed.
func TestIssueDelegate(t *testing.T) {
	s := delegates(t, fakedesk.Delegating())
	press(t, s.root(), "Issue")
	next := func() *parts.Button { return uiwalk.Button(s.root(), "Look at it whole") }
	says(t, s.root(), "The bot may … on …")
	for _, step := range []struct{ begins, text, why string }{
		{"support-bot", "mailer", "Name an operation."},
		{"send-message", "send-message, close-thread", "Name a resource."},
		{"thread:*", "thread:*, invoice:7", "Choose which bots may ask."},
	} {
		typed(t, s.root(), step.begins, step.text)
		if !next().Disabled() {
			t.Errorf("after %q the form goes on", step.text)
		}
		says(t, s.root(), step.why)
	}
	press(t, s.root(), "These addresses")
	says(t, s.root(), "Name the bot’s address.")
	typed(t, s.root(), "0x", "0x12")
	says(t, s.root(), "An address is 0x and 40 hex digits.")
	typed(t, s.root(), "0x", fakedesk.SupportBot+" "+fakedesk.LabelsBot)
	typed(t, s.root(), "10", "3")
	typed(t, s.root(), "20", "1,000")
	typed(t, s.root(), "999", "42")
	typed(t, s.root(), "4 Dec 2026", "31 Dec 2026")
	typed(t, s.root(), "at once", "1 Dec 2026, 09:30 UTC")
	press(t, s.root(), "It goes on")
	avatar, state := "0x"+strings.Repeat("Cd", 20), "0x"+strings.Repeat("ab", 32)
	typed(t, s.root(), "none", avatar)
	if uiwalk.Button(s.root(), "Every request has to name it") != nil {
		t.Error("what may be said of a legitimacy record is asked for where none is named")
	}
	typed(t, s.root(), "no id", "ae-legit-1")
	press(t, s.root(), "Every request has to name it")
	typed(t, s.root(), "no policy", "policy-7")
	for _, f := range uiwalk.All[*parts.Field](s.root()) {
		if f.PlaceHolder == "any" {
			f.SetText("4")
		}
	}
	typed(t, s.root(), "any state", strings.ToUpper(state[2:]))
	says(t, s.root(), "The state of a legitimacy record is 0x and 64 hex digits")
	typed(t, s.root(), strings.ToUpper(state[2:]), state)
	says(t, s.root(), "mailer may send-message or close-thread on thread:* or invoice:7, at most 3 times with each key, with up to 1,000 keys, from 1 December 2026, 09:30 UTC until 31 December 2026.")
	typed(t, s.root(), "thread:customer", "thread:a:b, thread, thread:*, invoice:7, invoice:8")
	says(t, s.root(), "thread:a:b covered by thread:*", "thread is not covered: a wildcard starts after the colon", "cannot be asked for", "invoice:7 covered by invoice:7", "invoice:8 is not covered")
	if len(s.desk.Minting.Issued) != 0 {
		t.Fatal("typing has issued something")
	}
	press(t, s.root(), "Look at it whole")
	says(t, s.root(), "This is what you sign", "0 to 42", "it goes on", fakedesk.LabelsBot, avatar, "ae-legit-1 must be named in requests", "policy policy-7", "version 4", "state "+state)
	answers(t, s, "Issue it for mailer")
	if len(s.desk.Minting.Issued) != 1 {
		t.Fatalf("issued %d times; calls %q", len(s.desk.Minting.Issued), s.desk.Calls)
	}
	got := s.desk.Minting.Issued[0]
	b := got.Bounds
	from, until := time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC).UnixMilli(), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()-1
	if got.Name != "mailer" || !got.WhileAway || !slices.Equal(b.Operations, []string{"send-message", "close-thread"}) || !slices.Equal(b.Resources, []string{"thread:*", "invoice:7"}) ||
		b.BotPolicy != envelope.BotSet || !slices.Equal(b.Bots, []string{fakedesk.SupportBot, fakedesk.LabelsBot}) || b.IndexMin != 0 || b.IndexMax != 42 ||
		b.MaxMints != 1000 || b.MaxUsesPerAction != 3 || *b.NotBefore != from || *b.NotAfter != until || b.Domain.Hash != s.desk.Doms[0].Hash || b.AvatarAddress != avatar {
		t.Errorf("issued %+v", got)
	}
	if l := b.Legitimacy; l == nil || l.LegitimacyID != "ae-legit-1" || !l.Required || l.PolicyID != "policy-7" || *l.StateVersion != 4 || l.StateHash != state {
		t.Errorf("legitimacy %+v", l)
	}
	says(t, s.root(), "The delegate was issued")
}

func TestIssueRefusesWhatIsWrong(t *testing.T) {
	s := delegates(t, fakedesk.Delegating())
	press(t, s.root(), "Issue")
	for _, f := range [][2]string{{"support-bot", "m"}, {"send-message", "send-message"}, {"thread:*", "thread:*"}} {
		typed(t, s.root(), f[0], f[1])
	}
	press(t, s.root(), "Any bot that signs")
	if uiwalk.Button(s.root(), "Look at it whole").Disabled() {
		t.Fatalf("the form does not go on: %s", said(s.root()))
	}
	says(t, s.root(), "Any bot can ask")
	for _, bad := range []struct{ begins, text, back, why string }{
		{"10", "0", "10", "The uses of each key are a whole number from 1."},
		{"20", "many", "20", "The keys are a whole number from 1."},
		{"20", "9007199254740992", "20", "The keys are a whole number from 1."},
		{"999", "-1", "999", "The action index goes from"},
		{"4 Dec 2026", "soon", "4 Dec 2026", "The end is written like"},
		{"at once", "yesterday", "", "The beginning is written like"},
		{"support-bot", "m\u200b", "m", "The name holds hidden"},
		{"none", "0x12", "", "An avatar is an address"},
		{"no id", "a\u202eb", "", "holds hidden or look-alike letters"},
	} {
		typed(t, s.root(), bad.begins, bad.text)
		says(t, s.root(), bad.why)
		if !uiwalk.Button(s.root(), "Look at it whole").Disabled() {
			t.Errorf("%q is taken", bad.text)
		}
		if slices.Contains([]string{"support-bot", "at once", "none", "no id"}, bad.begins) {
			typed(t, s.root(), bad.begins, bad.back)
		} else {
			typed(t, s.root(), bad.text, bad.back)
		}
		if uiwalk.Button(s.root(), "Look at it whole").Disabled() {
			t.Errorf("after %q nothing is taken any more: %s", bad.text, said(s.root()))
		}
	}
	press(t, s.root(), "No end")
	typed(t, s.root(), "thread:*", "*, a:b:*")
	says(t, s.root(), "It has no end", "* matches every resource of this domain", "A wildcard never matches: a:b:*", "Any bot that signs may send-message on every resource", "until you revoke it.")
	// What the desk does not take is said, and nothing goes on.
	s.desk.Set(func(d *fakedesk.Desk) {
		d.Minting.PlanErr = &approvals.Refusal{Code: approvals.CodeMalformed, Data: []byte(`{"detail":"build mint delegate: allowedOperations is invalid"}`)}
	})
	typed(t, s.root(), "send-message", "send message")
	says(t, s.root(), "An operation is not one that can be signed.")
	if !uiwalk.Button(s.root(), "Look at it whole").Disabled() {
		t.Error("the form goes on with what the desk refuses")
	}
	press(t, s.root(), "Back")
	says(t, s.root(), "support-bot may send-message")
}

// Everything that gives needs a passkey, and is not offered without one; what takes needs none.
func TestDelegatesWithoutAPasskey(t *testing.T) {
	d := fakedesk.Delegating()
	d.Keys, d.Stat.Public.Passkeys = nil, 0
	s := delegates(t, d)
	blocked := func(label string) {
		t.Helper()
		if c := choice(t, s.ui.Window(), label); !c.Disabled() {
			t.Errorf("%s is possible without a passkey", label)
		}
	}
	test.Tap(uiwalk.Row(s.root(), "returns-bot"))
	press(t, s.root(), "Resume")
	blocked("Resume returns-bot")
	test.Tap(uiwalk.Row(s.root(), "not admitted"))
	press(t, s.root(), "Admit")
	for _, f := range uiwalk.All[*parts.Field](s.root()) {
		f.SetText("5")
	}
	blocked("Admit it")
	test.Tap(uiwalk.Row(s.root(), "labels-bot"))
	press(t, s.root(), "Let mint material out")
	typed(t, s.root(), "age1", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p")
	blocked("Let the mint material of support-ops out")
	press(t, s.root(), "Pause")
	press(t, s.root(), "Revoke")
	answers(t, s, "Revoke labels-bot")
	hash := d.Minting.List[1].Hash
	if !slices.Equal(d.Calls, []string{"pause delegate " + hash, "revoke delegate " + hash}) {
		t.Errorf("calls %q", d.Calls)
	}
}

func TestDelegateActs(t *testing.T) {
	d := fakedesk.Delegating()
	s := delegates(t, d)
	hash := func(i int) string { return d.Minting.List[i].Hash }
	press(t, s.root(), "Revoke")
	says(t, s.root(), "support-bot stops at once, for good. 37 keys are already out; what they signed stays signed.")
	answers(t, s, "Leave it as it is")
	test.Tap(uiwalk.Row(s.root(), "returns-bot"))
	press(t, s.root(), "Resume")
	answers(t, s, "Resume returns-bot")
	says(t, s.root(), "returns-bot goes on")
	test.Tap(uiwalk.Row(s.root(), "not admitted"))
	press(t, s.root(), "Admit")
	fields := uiwalk.All[*parts.Field](s.root())
	for text, open := range map[string]bool{"": false, "0": false, "501": false, "x": false, "500": true, "1": true} {
		fields[0].SetText(text)
		if c := choice(t, s.ui.Window(), "Admit it"); c.Disabled() == open {
			t.Errorf("%q keys: possible is %v", text, !c.Disabled())
		}
	}
	fields[0].SetText("120")
	fields[1].SetText("of\u200bbefore")
	if c := choice(t, s.ui.Window(), "Admit it"); !c.Disabled() {
		t.Error("a name with hidden letters is taken")
	}
	fields[1].SetText("of before ")
	answers(t, s, "Admit it for 120 keys")
	test.Tap(uiwalk.Row(s.root(), "support-bot"))
	press(t, s.root(), "Let mint material out")
	says(t, s.root(), "Whoever holds it can make every minted key of support-ops, also ones you never issued. It cannot be taken back.")
	const to = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	for _, text := range []string{"", "age1", strings.ToUpper(to), to + "x", "ssh-ed25519 AAAA"} {
		typed(t, s.root(), "age1", text)
		if c := choice(t, s.ui.Window(), "Let the mint material of support-ops out"); !c.Disabled() {
			t.Errorf("recipient %q is taken", text)
		}
		typed(t, s.root(), "age1", "")
	}
	typed(t, s.root(), "age1", to)
	answers(t, s, "Let the mint material of support-ops out")
	says(t, s.root(), "The mint material was let out, sealed", "/home/owner/mint-material.age")
	want := []string{"resume delegate " + hash(2), "admit delegate " + hash(3) + " 120 of before", "export mint material " + d.Doms[0].Hash + " " + to}
	if !slices.Equal(d.Calls, want) {
		t.Errorf("calls %q, want %q", d.Calls, want)
	}
	// Where its file cannot be made, it is not let out.
	s.full = true
	press(t, s.root(), "Let mint material out")
	typed(t, s.root(), "age1", to)
	answers(t, s, "Let the mint material of support-ops out")
	if !slices.Equal(d.Calls, want) {
		t.Errorf("calls %q, want %q", d.Calls, want)
	}
	test.Tap(uiwalk.Row(s.root(), "not admitted"))
	press(t, s.root(), "Remove")
	says(t, s.root(), "It never was in force here. It can be brought in again.")
	answers(t, s, "Leave it as it is")
	// What did not happen is said, too.
	s.desk.Outcome.Code = "cancelled"
	test.Tap(uiwalk.Row(s.root(), "returns-bot"))
	press(t, s.root(), "Resume")
	answers(t, s, "Resume returns-bot")
	says(t, s.root(), "The passkey was not used", "Nothing was changed.")
}

func TestRevokeListsWhatIsOut(t *testing.T) {
	d := fakedesk.Delegating()
	s := delegates(t, d)
	press(t, s.root(), "Revoke")
	answers(t, s, "Revoke support-bot")
	d.Set(func(d *fakedesk.Desk) { d.Minting.List[0].State = approvals.DelegateEnded })
	says(t, s.root(), "Revoked: nothing is minted or signed under it any more", "3 keys were out", "0x91c02b8d4c5d6e7f8091a2b3c4d5e6f77be23f04", "3 of 10 used")
	if uiwalk.Button(s.root(), "Revoke") != nil || uiwalk.Button(s.root(), "Pause") != nil {
		t.Error("a revoked delegate can be acted on")
	}
}

func TestBringADelegateIn(t *testing.T) {
	d := fakedesk.Delegating()
	s := delegates(t, d)
	press(t, s.root(), "Bring one in")
	if !uiwalk.Button(s.root(), "Read the file").Disabled() {
		t.Error("no file is named and can be read")
	}
	typed(t, s.root(), "/home", "/home/owner/delegate.json")
	press(t, s.root(), "Read the file")
	if want := []string{"import delegate read /home/owner/delegate.json"}; !slices.Equal(d.Calls, want) {
		t.Errorf("calls %q", d.Calls)
	}
	says(t, s.root(), "It passes all four checks", "Not in force here")
	for code, words := range map[string]string{
		approvals.CodeDelegateMalformed: "That is no mint delegate", approvals.CodeDelegateSummary: "What is said of its domain is about another one",
		approvals.CodeDelegateIssuer: "Its issuer is no domain of this vault", approvals.CodeDelegateSignature: "It is not signed by the issuer that it names",
		approvals.CodeDelegateExists: "This delegate is here already", approvals.CodeUnknownDomain: "Its domain is not in this vault",
	} {
		d.Minting.ImportErr = &approvals.Refusal{Code: code}
		press(t, s.root(), "Bring one in")
		s.app.Clipboard().SetContent("{}")
		press(t, s.root(), "Take it from the clipboard")
		says(t, s.root(), words)
	}
}

// A delegate from elsewhere is drawn by package hostile alone.
func TestHostileDelegate(t *testing.T) {
	d := fakedesk.Delegating()
	v := &d.Minting.List[0]
	bad := "a\u202eb\u200bc\x1b[2J\rd"
	v.Name, v.DelegateID = "", bad
	v.Bounds.Operations, v.Bounds.Resources = []string{bad, bad}, []string{bad + ":*"}
	v.Bounds.Legitimacy = &approvals.LegitimacyView{LegitimacyID: bad}
	v.Bounds.AvatarAddress = bad
	v.Bounds.Domain.ID = bad
	v.Warnings = []bounds.Warning{{Code: "wildcard_never_matches", Subject: bad}, {Code: bad}}
	m := &d.Minting.Minted[0]
	m.AgentID, m.Operation, m.Resources, m.Nonce, m.Legitimacy, m.Agent = bad, bad, []string{bad, bad}, bad, bad, bad
	s := delegates(t, d)
	test.Tap(uiwalk.Row(s.root(), "09:40"))
	press(t, s.root(), "Show its bounds")
	check := func() {
		t.Helper()
		n := 0
		for _, text := range uiwalk.Texts(s.root()) {
			if strings.ContainsAny(text, "\u202e\u200b\x1b\r") {
				t.Errorf("drawn as it came: %q", text)
			}
			n += strings.Count(text, "U+202E")
		}
		if n < 8 {
			t.Errorf("%d marks", n)
		}
	}
	check()
	press(t, s.root(), "Let mint material out")
	check()
}

// However many there are, what is laid out is bounded.
func TestManyDelegates(t *testing.T) {
	d := fakedesk.Delegating()
	one := d.Minting.List[1]
	for n := range 10_000 {
		one.Hash = fmt.Sprintf("0x%064x", n)
		d.Minting.List = append(d.Minting.List, one)
	}
	key := d.Minting.Minted[0]
	for n := range 5_000 {
		key.Mint = fmt.Sprintf("0x%064x", n)
		d.Minting.Minted = append(d.Minting.Minted, key)
	}
	d.Minting.List[0].Minted, d.Minting.List[0].Mints = 5_000, 10_000
	long := make([]string, 5_000)
	for i := range long {
		long[i] = fmt.Sprintf("thread:%d", i)
	}
	d.Minting.List[0].Bounds.Resources = long
	s := delegates(t, d)
	press(t, s.root(), "Show its bounds")
	for range 4 {
		if b := uiwalk.Button(s.root(), "4,"); b != nil {
			test.Tap(b)
		}
	}
	if n := len(uiwalk.All[*parts.Tap](s.root())); n > 700 {
		t.Errorf("%d rows are laid out", n)
	}
	says(t, s.root(), "4,500 older ones are in Activity")
}

func TestDelegatesInTheLog(t *testing.T) {
	s := newStage(t, fakedesk.Delegating())
	test.Tap(uiwalk.Row(s.root(), "Activity"))
	says(t, s.root(), "You paused returns-bot", "A key was minted for support-bot, number 37", "within its bounds", "You revoked stock-probe", "You issued a delegate for labels-bot", "for support-bot")
	press(t, s.root(), "Signatures")
	if text := said(s.root()); strings.Contains(text, unspaced("You paused")) || !strings.Contains(text, unspaced("number 37")) {
		t.Errorf("the filter of signatures shows %s", text)
	}
	// Every kind of the log has words of ours.
	for _, k := range []journal.Kind{
		journal.KindDelegateIssued, journal.KindDelegateImported, journal.KindDelegateAdmitted, journal.KindDelegatePaused, journal.KindDelegateResumed,
		journal.KindDelegateEnded, journal.KindCapabilityMinted, journal.KindMintedSigned, journal.KindMintExported,
	} {
		s.desk.Set(func(d *fakedesk.Desk) {
			d.Log = []approvals.Event{{Seq: 1, Kind: string(k), At: fakedesk.Now.UnixMilli(), Hash: "0x00"}}
		})
		press(t, s.root(), "All")
		if text := said(s.root()); strings.Contains(text, unspaced(strings.ReplaceAll(string(k), ".", " "))) {
			t.Errorf("%s has no words: %s", k, text)
		}
	}
}

func TestDelegateViews(t *testing.T) {
	for _, v := range []struct {
		name string
		do   func(*stage)
	}{
		{"delegates", func(*stage) {}},
		{"delegates-key", func(s *stage) { test.Tap(uiwalk.Row(s.root(), "customer-117")) }},
		{"delegates-issue", func(s *stage) {
			press(t, s.root(), "Issue")
			typed(t, s.root(), "support-bot", "support-bot")
			typed(t, s.root(), "send-message", "send-message")
			typed(t, s.root(), "thread:*", "*")
			press(t, s.root(), "Any bot that signs")
		}},
		{"delegates-review", func(s *stage) {
			press(t, s.root(), "Issue")
			typed(t, s.root(), "support-bot", "support-bot")
			typed(t, s.root(), "send-message", "send-message")
			typed(t, s.root(), "thread:*", "thread:*")
			press(t, s.root(), "Any bot that signs")
			press(t, s.root(), "Look at it whole")
		}},
		{"delegates-admit", func(s *stage) {
			test.Tap(uiwalk.Row(s.root(), "not admitted"))
			press(t, s.root(), "Admit")
		}},
		{"delegates-export", func(s *stage) { press(t, s.root(), "Let mint material out") }},
	} {
		t.Run(v.name, func(t *testing.T) {
			s := delegates(t, fakedesk.Delegating())
			v.do(s)
			test.AssertRendersToMarkup(t, filepath.Join("views", v.name+".xml"), s.ui.Window().Canvas())
		})
	}
}
