package terminal

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
)

// golden compares with a file in testdata; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

func withAnswers(s approvals.Sheet) string {
	p := &page{loc: time.UTC}
	for _, a := range answers(s, p) {
		p.say("%s: %s", a.key, a.text)
	}
	return Render(s, time.UTC) + p.String()
}

func pairing() approvals.Sheet {
	return approvals.Sheet{
		ID: "p_1", Digest: shownDigest, Kind: approvals.ItemPairing, Since: 1_790_000_001_000, Until: 1_790_000_601_000, Merged: 1,
		Pairing: &approvals.PairingSheet{Digits: "004217", Claimed: "Vault\r\nYour own vault",
			Peer: approvals.Peer{UserID: 1000, ProcessID: 77, Executable: "/usr/bin/python3",
				Command: []string{"python3", "agent\x07.py"}, Parents: []string{"/usr/bin/bash", "/usr/bin/login"}}},
	}
}

func TestSheetsInReadingOrderWithLabels(t *testing.T) {
	t.Run("action", func(t *testing.T) { golden(t, "action", withAnswers(sheetOf())) })
	t.Run("pairing", func(t *testing.T) { golden(t, "pairing", withAnswers(pairing())) })
}

// Every leaf of a sheet changes what is shown.
func TestNoFieldOfASheetIsLeftOut(t *testing.T) {
	base := withAnswers(sheetOf())
	for name, change := range map[string]func(*approvals.Sheet, *approvals.ActionSheet){
		"id":             func(s *approvals.Sheet, a *approvals.ActionSheet) { s.ID = "r_2" },
		"digest":         func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Digest = "0x11" },
		"agent":          func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Agent = "Other" },
		"paired":         func(s *approvals.Sheet, a *approvals.ActionSheet) { s.PairedAt++; s.PairedAt += 1000 },
		"session":        func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Session = "s-2" },
		"since":          func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Since += 1000 },
		"until":          func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Until += 1000 },
		"merged":         func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Merged++ },
		"frame":          func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Frame = "" },
		"demo":           func(s *approvals.Sheet, a *approvals.ActionSheet) { s.Demo = true },
		"domain":         func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Domain.ID = "x" },
		"namespace":      func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Domain.Namespace = "x" },
		"kind":           func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Domain.Kind = "x" },
		"domain address": func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Domain.Address = "x" },
		"fingerprint":    func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Domain.Fingerprint = "x" },
		"domain hash":    func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Domain.Hash = "x" },
		"address":        func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Address = "x" },
		"agent id":       func(s *approvals.Sheet, a *approvals.ActionSheet) { a.AgentID = "x" },
		"operation":      func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Operation = "x" },
		"resource":       func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Resources[1] = "x" },
		"more resources": func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Resources = append(a.Resources, "x") },
		"index":          func(s *approvals.Sheet, a *approvals.ActionSheet) { a.ActionIndex++ },
		"not before":     func(s *approvals.Sheet, a *approvals.ActionSheet) { a.NotBefore = nil },
		"not after":      func(s *approvals.Sheet, a *approvals.ActionSheet) { a.NotAfter = at(*a.NotAfter + 1000) },
		"decay":          func(s *approvals.Sheet, a *approvals.ActionSheet) { a.DecayMode = "TIME" },
		"max uses":       func(s *approvals.Sheet, a *approvals.ActionSheet) { a.MaxUses = nil },
		"used":           func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Used++ },
		"envelope hash":  func(s *approvals.Sheet, a *approvals.ActionSheet) { a.EnvelopeHash = "x" },
		"payload type":   func(s *approvals.Sheet, a *approvals.ActionSheet) { a.PayloadType = "x" },
		"payload":        func(s *approvals.Sheet, a *approvals.ActionSheet) { a.PayloadText = `{"id":"inv-8"}` },
		"payload digest": func(s *approvals.Sheet, a *approvals.ActionSheet) { a.PayloadDigest = "x" },
		"warning":        func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Warnings = a.Warnings[:1] },
		"contradiction":  func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Contradictions[0].Payload = "x" },
		"grantable":      func(s *approvals.Sheet, a *approvals.ActionSheet) { a.Grantable = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := sheetOf()
			change(&s, s.Action)
			if withAnswers(s) == base {
				t.Error("the sheet looks the same")
			}
		})
	}
}

func TestNothingFromOutsideControlsTheTerminal(t *testing.T) {
	for name, text := range map[string]string{"action": withAnswers(sheetOf()), "pairing": withAnswers(pairing())} {
		for i, r := range text {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Errorf("%s: %U at %d", name, r, i)
			}
		}
	}
}

func open() *desk {
	return &desk{status: approvals.Status{State: approvals.StateOpen, Waiting: 1}, outcome: approvals.Outcome{Code: "done", Signature: "0xsig"}}
}

func TestDeclineIsOneKey(t *testing.T) {
	d := open()
	d.outcome.Code = "declined"
	talk(t, d, step{wait: "vault> ", typed: "open\r"}, step{wait: "Your answer: ", after: InertFor, typed: "d\r"})
	want := approvals.Decision{ID: "r_1", Digest: shownDigest, Verdict: approvals.VerdictDecline}
	if len(d.decided) != 1 || d.decided[0] != want {
		t.Errorf("decided %+v", d.decided)
	}
	if len(d.closed) != 0 {
		t.Errorf("closed %q after a decision", d.closed)
	}
}

func TestApprovingTakesTheFourWordsAndThePassphrase(t *testing.T) {
	d := open()
	talk(t, d, step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: InertFor, typed: "a\r"},
		step{wait: shownWords, typed: shownWords + "\r"})
	want := approvals.Decision{ID: "r_1", Digest: shownDigest, Verdict: approvals.VerdictApprove, Prove: keys.SurfaceTerminal}
	if len(d.decided) != 1 || d.decided[0] != want {
		t.Errorf("decided %+v", d.decided)
	}
}

func TestOtherWordsApproveNothing(t *testing.T) {
	d := open()
	talk(t, d, step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: InertFor, typed: "a\r"},
		step{wait: shownWords, typed: "ability able about abandon\r"},
		step{wait: "Nothing was decided", after: InertFor, typed: "q\r"})
	if len(d.decided) != 0 {
		t.Errorf("decided %+v", d.decided)
	}
	if !slices.Equal(d.closed, []string{"r_1"}) {
		t.Errorf("closed %q", d.closed)
	}
}

func TestAGrantAsksForItsBounds(t *testing.T) {
	for _, row := range []struct {
		name, uses, minutes string
		want                *approvals.Decision
	}{
		{"preset", "", "", &approvals.Decision{GrantUses: 3, GrantUntil: 1_796_043_541_000}},
		{"fewer", "2", "30", &approvals.Decision{GrantUses: 2, GrantUntil: 1_796_041_801_000}},
		{"too many", "5", "30", nil},
		{"none", "0", "30", nil},
		{"no number", "two", "30", nil},
		{"too long", "1", "100000", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := open()
			steps := []step{{wait: "vault> ", typed: "open\r"},
				{wait: "Your answer: ", after: InertFor, typed: "g\r"},
				{wait: "How many more", typed: row.uses + "\r"},
				{wait: "For how many minutes", typed: row.minutes + "\r"}}
			if row.want != nil {
				steps = append(steps, step{wait: "Four words: ", typed: shownWords + "\r"})
			} else {
				steps = append(steps, step{wait: "Nothing was decided", after: InertFor, typed: "q\r"})
			}
			talk(t, d, steps...)
			if row.want == nil {
				if len(d.decided) != 0 {
					t.Errorf("decided %+v", d.decided)
				}
				return
			}
			if len(d.decided) != 1 || d.decided[0].GrantUses != row.want.GrantUses || d.decided[0].GrantUntil != row.want.GrantUntil ||
				d.decided[0].Verdict != approvals.VerdictGrant || d.decided[0].Prove != keys.SurfaceTerminal {
				t.Errorf("decided %+v", d.decided)
			}
		})
	}
}

func TestPairingTakesANameOfTheOwners(t *testing.T) {
	d := open()
	d.sheet = pairing()
	talk(t, d, step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: InertFor, typed: "a\r"},
		step{wait: "Your name for it", typed: "Planner\r"},
		step{wait: "Four words: ", typed: shownWords + "\r"})
	if len(d.decided) != 1 || d.decided[0].Name != "Planner" || d.decided[0].Prove == "" {
		t.Errorf("decided %+v", d.decided)
	}
}

// Keys of before, pasted keys and keys within the inert second do nothing.
func TestStrayInputDecidesNothing(t *testing.T) {
	for _, row := range []struct {
		name  string
		steps []step
	}{
		{"typed ahead of the sheet", []step{{wait: "vault> ", typed: "open\r", ahead: "d\rd\r"},
			{wait: "Your answer: ", after: InertFor, typed: "q\r"}}},
		{"within the inert second", []step{{wait: "vault> ", typed: "open\r"},
			{wait: "Your answer: ", after: InertFor - time.Millisecond, typed: "d\rd\r"},
			{after: time.Millisecond, typed: "q\r"}}},
		{"pasted", []step{{wait: "vault> ", typed: "open\r"},
			{wait: "Your answer: ", after: InertFor, typed: "d\r\rd\r", pasting: true},
			{typed: "q\r"}}},
		{"a paste that begins in the inert second", []step{{wait: "vault> ", typed: "open\r"},
			{wait: "Your answer: ", typed: pasteBegin + "d\r"},
			{after: InertFor, typed: "d\r" + pasteEnd + "q\r"}}},
		{"a paste mark in pieces", []step{{wait: "vault> ", typed: "open\r"},
			{wait: "Your answer: ", after: InertFor, typed: pasteBegin[:3]},
			{typed: pasteBegin[3:] + "d\r" + pasteEnd[:2]}, {typed: pasteEnd[2:] + "q\r"}}},
		{"another letter", []step{{wait: "vault> ", typed: "open\r"},
			{wait: "Your answer: ", after: InertFor, typed: "y\r"},
			{wait: "Type one of the keys", after: InertFor, typed: "\r"},
			{wait: "Type one of the keys", after: InertFor, typed: "q\r"}}},
		{"the terminal goes away", []step{{wait: "vault> ", typed: "open\r"}}},
		{"control-c", []step{{wait: "vault> ", typed: "open\r"}, {wait: "Your answer: ", typed: "\x03"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := open()
			talk(t, d, row.steps...)
			if len(d.decided) != 0 {
				t.Errorf("decided %+v", d.decided)
			}
			if !slices.Equal(d.closed, []string{"r_1"}) {
				t.Errorf("closed %q, want the sheet once", d.closed)
			}
		})
	}
}

func TestALongSheetIsReadToItsEndBeforeAnApproval(t *testing.T) {
	d := open()
	d.dev = &device{rows: 20}
	screen := talk(t, d, step{wait: "vault> ", typed: "open\r"},
		step{wait: "more lines", after: InertFor, typed: "a\r"}, // goes on, approves nothing
		step{wait: "more lines", after: InertFor, typed: "\r"},
		step{wait: "Your answer: ", after: InertFor, typed: "q\r"})
	if len(d.decided) != 0 {
		t.Errorf("decided %+v", d.decided)
	}
	if strings.Index(screen, "Your answer") < strings.Index(screen, "End of what will be signed.") {
		t.Error("the question came before the end of the text")
	}

	d = open()
	d.dev = &device{rows: 20}
	talk(t, d, step{wait: "vault> ", typed: "open\r"}, step{wait: "more lines", after: InertFor, typed: "d\r"})
	if len(d.decided) != 1 || d.decided[0].Verdict != approvals.VerdictDecline {
		t.Errorf("decided %+v", d.decided)
	}
}

func TestAPassphraseThatDoesNotOpenLeavesTheSheetUndecided(t *testing.T) {
	d := open()
	d.outcome = approvals.Outcome{Code: "wrong_passphrase"}
	talk(t, d, step{wait: "vault> ", typed: "open\r"},
		step{wait: "Your answer: ", after: InertFor, typed: "a\r"},
		step{wait: "Four words: ", typed: shownWords + "\r"},
		step{wait: "That passphrase does not open this vault. Nothing was decided.", typed: "quit\r"})
	if !slices.Equal(d.closed, []string{"r_1"}) {
		t.Errorf("closed %q", d.closed)
	}
}

func TestCreating(t *testing.T) {
	d := &desk{status: approvals.Status{State: approvals.StateNone}}
	talk(t, d, step{wait: "Type create", typed: "create\r"},
		step{wait: "Number [1]", typed: "2\r"},
		step{wait: "Namespace", typed: "acme\r"},
		step{wait: "Domain [", typed: "billing\r"},
		step{wait: "Kind [", typed: "\r"},
		step{wait: "recovery words now", typed: "later\r"},
		step{wait: "Created.", typed: "quit\r"})
	want := approvals.Creation{Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal, PutOff: true,
		Domain: approvals.DomainForm{Namespace: "acme", DomainID: "billing", Kind: "general"}}
	if len(d.created) != 1 || d.created[0] != want {
		t.Errorf("created %+v", d.created)
	}
}

// Where no keyring answers Enter chooses what needs none, and that is said before.
func TestProtectionWithoutAKeyring(t *testing.T) {
	for answers, want := range map[bool]keys.Protection{true: keys.ProtectKeyringAndPassphrase, false: keys.ProtectPassphrase} {
		d := &desk{status: approvals.Status{State: approvals.StateNone}, keyring: func(context.Context) bool { return answers }}
		screen := talk(t, d, step{wait: "Type create", typed: "create\r"}, step{wait: "Number [", typed: "\r"},
			step{wait: "Namespace", typed: "\r"}, step{wait: "Domain [", typed: "\r"}, step{wait: "Kind [", typed: "\r"},
			step{wait: "recovery words now", typed: "later\r"}, step{wait: "Created.", typed: "quit\r"})
		if len(d.created) != 1 || d.created[0].Protection != want {
			t.Errorf("a keyring answers: %v; created %+v", answers, d.created)
		}
		if strings.Contains(screen, "No keyring answers here, so only 2 can be chosen now.") == answers {
			t.Errorf("a keyring answers: %v; the screen showed:\n%s", answers, screen)
		}
		if !strings.Contains(screen, "To make it weaker needs a passkey.") {
			t.Errorf("what can be changed later is not said:\n%s", screen)
		}
	}
}

// Only the one word puts the words off.
func TestWordsArePutOffByOneWordAlone(t *testing.T) {
	for typed, want := range map[string]bool{"y": false, "yes": false, "": false, "now": false, "later": true, "Later": true} {
		d := &desk{status: approvals.Status{State: approvals.StateNone}}
		talk(t, d, step{wait: "Type create", typed: "create\r"}, step{wait: "Number [1]", typed: "2\r"},
			step{wait: "Namespace", typed: "\r"}, step{wait: "Domain [", typed: "\r"}, step{wait: "Kind [", typed: "\r"},
			step{wait: "recovery words now", typed: typed + "\r"}, step{wait: "Created.", typed: "quit\r"})
		if len(d.created) != 1 || d.created[0].PutOff != want {
			t.Errorf("%q: created %+v, want put off %v", typed, d.created, want)
		}
	}
}

// Whoever asks to pair again and again gets one line of the terminal, until the owner types.
func TestNoticesAreOneUntilTheOwnerTypes(t *testing.T) {
	s := New(&desk{}, NewConsole(newDevice(t), time.Now), time.Now, time.UTC, nil)
	for range 3 {
		for n := range 100 {
			s.follow(n%8 + 1)
			s.follow(0)
		}
		if len(s.console.notices) != 1 {
			t.Errorf("%d notices", len(s.console.notices))
		}
		s.console.notices = nil
		s.heard()
	}
}

func TestUnknownCommandsAreNotEchoed(t *testing.T) {
	d := open()
	screen := talk(t, d, step{wait: "vault> ", typed: "approve\r"}, step{wait: "not a command", typed: "lock\r"}, step{wait: "locked", typed: "quit\r"})
	if !slices.Equal(d.locked, []string{"asked"}) {
		t.Errorf("locked %q", d.locked)
	}
	if !strings.Contains(screen, pasteOn) || strings.Count(screen, pasteOn) != strings.Count(screen, pasteOff) {
		t.Error("bracketed paste is not switched on and off around each prompt")
	}
}

// FuzzTyped: what a paste holds is never let through, and what is typed always is,
// however the bytes arrive.
func FuzzTyped(f *testing.F) {
	f.Add("open\r", "d\r", "q\r", 3)
	f.Add("", "\x1b[200", "\x1b", 1)
	f.Add("\x1b\x1b[A", "\x1b[201", "x", 2)
	f.Fuzz(func(t *testing.T, before, pasted, after string, chunk int) {
		if chunk < 1 || strings.Contains(before+after, "\x1b[20") || strings.Contains(pasted, "\x1b[201~") || strings.HasSuffix(before, "\x1b") ||
			strings.HasSuffix(before, "\x1b[") {
			return // no paste, or a second one
		}
		all := []byte(before + pasteBegin + pasted + pasteEnd + after + "\r")
		r := &typed{}
		for len(all) > 0 {
			n := min(chunk, len(all))
			r.take(all[:n], false)
			all = all[n:]
		}
		if got, want := string(r.ready), before+after+"\r"; got != want {
			t.Errorf("let through %q, want %q", got, want)
		}
	})
}

// Why a row cannot be decided now is said in words.
func TestListSaysWhyNothingIsDecided(t *testing.T) {
	for note, want := range map[string]string{"locked": "The vault is locked: it can be declined", "away": "The screen is locked: nothing is decided.", "later": "note: later", "": ""} {
		got := List([]approvals.Item{{ID: "r_1", Kind: approvals.ItemAction, Agent: "Planner", Operation: "pay", Merged: 1, Note: note}}, time.UTC, false)
		if !strings.Contains(got, want) || strings.Contains(got, "locked") != (note == "locked" || note == "away") {
			t.Errorf("%q: %s", note, got)
		}
	}
}
