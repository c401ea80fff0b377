package terminal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/bounds"
	"vault/derive/envelope"
	"vault/internal/fakedesk"
)

func minting() (*desk, *fakedesk.Desk) {
	f := fakedesk.Delegating()
	d := open()
	d.Owner = f
	return d, f
}

func TestDelegateTexts(t *testing.T) {
	_, f := minting()
	v := f.Minting.List[0]
	v.Bounds.Legitimacy = &approvals.LegitimacyView{LegitimacyID: "ae-legit-1", Required: true}
	v.BoundsHeld, v.ExportedAt = false, v.MadeAt
	v.Warnings = []bounds.Warning{{Code: "any_bot"}, {Code: "wildcard_never_matches", Subject: "a:b:*"}, {Code: "new\u202ecode"}}
	golden(t, "delegate", DelegateText(v, f.Minting.Minted[:2], time.UTC))
	golden(t, "delegates", DelegateList(f.Minting.List, time.UTC))
	if got := DelegateList(nil, time.UTC); !strings.Contains(got, "No bot may mint anything") {
		t.Errorf("an empty list says %q", got)
	}
}

// Every bound of a delegate changes what is shown, and nothing of it drives the terminal.
func TestNoBoundOfADelegateIsLeftOut(t *testing.T) {
	_, f := minting()
	first := func() approvals.DelegateView {
		v := f.Minting.List[0]
		v.Bounds.Operations, v.Bounds.Resources, v.Bounds.Bots = slices.Clone(v.Bounds.Operations), slices.Clone(v.Bounds.Resources), slices.Clone(v.Bounds.Bots)
		v.Bounds.Legitimacy = &approvals.LegitimacyView{LegitimacyID: "l"}
		return v
	}
	m := f.Minting.Minted[0]
	base := DelegateText(first(), []approvals.MintView{m}, time.UTC)
	bad := "x\u202e\x1b[2J\u200b\r"
	for name, change := range map[string]func(*approvals.DelegateView, *approvals.MintView){
		"hash":         func(v *approvals.DelegateView, m *approvals.MintView) { v.Hash = "0x11" },
		"label":        func(v *approvals.DelegateView, m *approvals.MintView) { v.DelegateID = bad },
		"name":         func(v *approvals.DelegateView, m *approvals.MintView) { v.Name = bad },
		"state":        func(v *approvals.DelegateView, m *approvals.MintView) { v.State = approvals.DelegatePaused },
		"origin":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Origin = "imported" },
		"held":         func(v *approvals.DelegateView, m *approvals.MintView) { v.BoundsHeld = false },
		"away":         func(v *approvals.DelegateView, m *approvals.MintView) { v.WhileAway = true },
		"mints":        func(v *approvals.DelegateView, m *approvals.MintView) { v.Mints++ },
		"minted":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Minted++ },
		"uses":         func(v *approvals.DelegateView, m *approvals.MintView) { v.Uses++ },
		"domain":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Domain.ID = bad },
		"domain hash":  func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Domain.Hash = "0x12" },
		"operation":    func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Operations[0] = bad },
		"resource":     func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Resources[0] = bad },
		"bot":          func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Bots[0] = bad },
		"policy":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.BotPolicy = envelope.BotAny },
		"lowest":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.IndexMin++ },
		"highest":      func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.IndexMax++ },
		"uses of key":  func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.MaxUsesPerAction++ },
		"max mints":    func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.MaxMints++ },
		"begins":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.NotBefore = nil },
		"ends":         func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.NotAfter = nil },
		"avatar":       func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.AvatarAddress = bad },
		"legitimacy":   func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Legitimacy.LegitimacyID = bad },
		"required":     func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Legitimacy.Required = true },
		"policy of it": func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Legitimacy.PolicyID = bad },
		"version":      func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Legitimacy.StateVersion = &m.At },
		"hash of it":   func(v *approvals.DelegateView, m *approvals.MintView) { v.Bounds.Legitimacy.StateHash = "0x14" },
		"mint's bot":   func(v *approvals.DelegateView, m *approvals.MintView) { m.Bot = "0x13" },
		"agent":        func(v *approvals.DelegateView, m *approvals.MintView) { m.Agent = bad },
		"agent id":     func(v *approvals.DelegateView, m *approvals.MintView) { m.AgentID = bad },
		"mint's op":    func(v *approvals.DelegateView, m *approvals.MintView) { m.Operation = bad },
		"mint's res":   func(v *approvals.DelegateView, m *approvals.MintView) { m.Resources = []string{bad} },
		"used":         func(v *approvals.DelegateView, m *approvals.MintView) { m.Used++ },
		"entry":        func(v *approvals.DelegateView, m *approvals.MintView) { m.Seq++ },
	} {
		t.Run(name, func(t *testing.T) {
			v, n := first(), m
			change(&v, &n)
			got := DelegateText(v, []approvals.MintView{n}, time.UTC)
			if got == base {
				t.Error("it looks the same")
			}
			for i, r := range got + DelegateList([]approvals.DelegateView{v}, time.UTC) {
				if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u200b' {
					t.Errorf("%U at %d", r, i)
				}
			}
		})
	}
}

func TestDelegateCommands(t *testing.T) {
	d, f := minting()
	file := filepath.Join(t.TempDir(), "delegate.json")
	if err := os.WriteFile(file, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	sealed := filepath.Join(t.TempDir(), "material.age")
	got := talk(t, d,
		step{wait: "vault> ", typed: "delegates\r"},
		step{wait: "support-bot may send-message on thread:*", typed: "delegate 1\r"},
		step{wait: "You alone vouch for these", typed: "delegate 9\r"},
		step{wait: "as delegates lists it", typed: "pause 1\r"},
		step{wait: "Paused.", typed: "resume 3\r"},
		step{wait: "It mints and signs within its bounds", typed: "undelegate 1\r"},
		step{wait: "Revoke it? Type yes to go on: ", typed: "y\r"},
		step{wait: "Nothing was changed.", typed: "undelegate 1\r"},
		step{wait: "Revoke it?", typed: "yes\r"},
		step{wait: "Keys that were out and sign no more here: 3", typed: "import " + file + "\r"},
		step{wait: "It passes all four checks", typed: "import " + file + ".absent\r"},
		step{wait: "explained: ", typed: "admit 4 501\r"},
		step{wait: "Type the delegate's number", typed: "admit 4 120 of\u200bbefore\r"},
		step{wait: "hidden or look-alike", typed: "admit 4 120\r"},
		step{wait: "Admitted.", typed: "admit 4 7 of before\r"},
		step{wait: "Admitted.", typed: "material 2 " + sealed + "\r"},
		step{wait: "This opens the whole domain.", typed: "age1x\r"},
		step{wait: "Written, sealed", typed: "material 2 " + sealed + "\r"},
		step{wait: "Sealed to", typed: "age1x\r"},
		step{wait: "explained: file already exists", typed: "material 2 " + sealed + "\r"},
		step{wait: "Sealed to", typed: "\r"},
		step{wait: "Nothing left the vault.", typed: "material 2 " + filepath.Join(sealed, "none") + "\r"},
		step{wait: "Sealed to", typed: "age1x\r"},
		step{wait: "explained: ", typed: "undelegate 4\r"},
		step{wait: "Remove it?", typed: "yes\r"},
		step{wait: "Removed. It never was in force here", typed: "material 2 " + sealed + "\r"},
		step{wait: "Sealed to", typed: "\r"},
		step{wait: "Nothing left the vault.", typed: "quit\r"},
	)
	for _, want := range []string{"support-bot stops at once, for good. Keys that are out: 37; what they signed stays signed.", "It can be brought in again."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said:\n%s", want, got)
		}
	}
	hash := func(i int) string { return f.Minting.List[i].Hash }
	want := []string{"pause delegate " + hash(0), "resume delegate " + hash(2), "revoke delegate " + hash(0), `import delegate {"a":1}`,
		"admit delegate " + hash(3) + " 120", "admit delegate " + hash(3) + " 7 of before", "export mint material " + f.Doms[0].Hash + " age1x", "revoke delegate " + hash(3)}
	if !slices.Equal(f.Calls, want) {
		t.Errorf("calls %q\nwant  %q\n%s", f.Calls, want, got)
	}
	if raw, err := os.ReadFile(sealed); err != nil || string(raw) != "sealed" {
		t.Errorf("written %q, %v", raw, err)
	}
}

// TestMaterialThatStays leaves no file behind where nothing was let out.
func TestMaterialThatStays(t *testing.T) {
	_, f := minting()
	f.Outcome.Code = "cancelled"
	sealed := filepath.Join(t.TempDir(), "material.age")
	if out, err := writeMaterial(t.Context(), f, "d", "age1x", sealed); err != nil || out.Code != "cancelled" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Lstat(sealed); !os.IsNotExist(err) {
		t.Errorf("a file is left: %v", err)
	}
}

func TestIssueOnATerminal(t *testing.T) {
	d, f := minting()
	hash := "0x" + strings.Repeat("aB", 32)
	avatar := "0x" + strings.Repeat("Cd", 20)
	got := talk(t, d,
		step{wait: "vault> ", typed: "issue\r"},
		step{wait: "Number of the domain [1]: ", typed: "7\r"},
		step{wait: "There is no domain with that number.", typed: "\r"},
		step{wait: "Your name for the bot: ", typed: "mail\u200ber\r"},
		step{wait: "hidden or look-alike", typed: "mailer\r"},
		step{wait: "commas between them: ", typed: "send-message, close-thread\r"},
		step{wait: "On, resources", typed: "thread:*\r"},
		step{wait: "Resources to try", typed: "thread:7, thread\r"},
		step{wait: "Addresses of its bots, or any: ", typed: "0x12\r"},
		step{wait: "An address is 0x and 40 hex digits.", typed: fakedesk.SupportBot + "\r"},
		step{wait: "times [10]: ", typed: "0\r"},
		step{wait: "That is no whole number from 1.", typed: "3\r"},
		step{wait: "keys [20]: ", typed: "\r"},
		step{wait: "Lowest action index [0]: ", typed: "2\r"},
		step{wait: "index [999]: ", typed: "1\r"},
		step{wait: "That is no whole number from 2.", typed: "5\r"},
		step{wait: "or now [now]: ", typed: "soon\r"},
		step{wait: "A day is written like", typed: "2026-12-01\r"},
		step{wait: "or open [2026-12-30]: ", typed: "2026-12-31\r"},
		step{wait: "screen is locked, yes or no [no]: ", typed: "perhaps\r"},
		step{wait: "Type yes or no.", typed: "yes\r"},
		step{wait: "Avatar, or empty.", typed: "me\r"},
		step{wait: "An address is 0x", typed: avatar + "\r"},
		step{wait: "Legitimacy id, or empty.", typed: "ae-legit-1\r"},
		step{wait: "has to name it, yes or no [no]: ", typed: "yes\r"},
		step{wait: "Its policy", typed: "policy-7\r"},
		step{wait: "Its version", typed: "0\r"},
		step{wait: "That is no whole number from 1.", typed: "4\r"},
		step{wait: "Its hash", typed: "0x12\r"},
		step{wait: "A hash is 0x", typed: hash + "\r"},
		step{wait: "While you are away: it goes on", typed: "yes\r"},
		step{wait: "Issued.", typed: "issue\r"},
		step{wait: "Number of the domain", typed: "1\r"},
		step{wait: "name", typed: "\r"},
		step{wait: "commas", typed: "a\r"},
		step{wait: "On, ", typed: "*\r"},
		step{wait: "to try", typed: "\r"},
		step{wait: "any: ", typed: "any\r"},
		step{wait: "times", typed: "\r"},
		step{wait: "keys", typed: "\r"},
		step{wait: "Lowest", typed: "\r"},
		step{wait: "Highest", typed: "\r"},
		step{wait: "or now", typed: "\r"},
		step{wait: "or open", typed: "open\r"},
		step{wait: "locked", typed: "\r"},
		step{wait: "Avatar", typed: "\r"},
		step{wait: "Legitimacy", typed: "\r"},
		step{wait: "Note: Any bot can ask.", typed: "no\r"},
		step{wait: "Nothing was issued.", typed: "issue\r"},
		step{wait: "Number of the domain", typed: "1\r"},
		step{wait: "name", typed: "x\r"},
		step{wait: "commas", typed: "\r"},
		step{wait: "Nothing was issued.", typed: "quit\r"},
	)
	for _, want := range []string{
		"mailer may send-message or close-thread on thread:*, at most 3 times with each key, with up to 20 keys, from 1 December 2026 until 31 December 2026.",
		"Avatar: " + avatar, "Legitimacy, which is no part of what is valid: ae-legit-1", "Its hash: " + strings.ToLower(hash),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said:\n%s", want, got)
		}
	}
	if len(f.Minting.Issued) != 1 {
		t.Fatalf("issued %d", len(f.Minting.Issued))
	}
	p := f.Minting.Issued[0]
	b := p.Bounds
	begin, end := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()-1
	if p.Name != "mailer" || !p.WhileAway || *b.NotBefore != begin || *b.NotAfter != end || b.IndexMin != 2 || b.IndexMax != 5 || b.MaxMints != 20 ||
		b.MaxUsesPerAction != 3 || !slices.Equal(b.Bots, []string{fakedesk.SupportBot}) || !slices.Equal(b.Operations, []string{"send-message", "close-thread"}) ||
		b.AvatarAddress != avatar {
		t.Errorf("issued %+v", p)
	}
	if l := b.Legitimacy; l == nil || l.LegitimacyID != "ae-legit-1" || !l.Required || l.PolicyID != "policy-7" || *l.StateVersion != 4 || l.StateHash != strings.ToLower(hash) {
		t.Errorf("legitimacy %+v", l)
	}
}

// bare is a vault without a domain.
type bare struct{ *fakedesk.Desk }

func (bare) Domains() []approvals.DomainView { return nil }

// TestIssueWithoutADomain says what has to be made first.
func TestIssueWithoutADomain(t *testing.T) {
	dev := newDevice(t)
	s := New(bare{fakedesk.Delegating()}, NewConsole(dev, dev.now), dev.now, time.UTC, func(error) string { return "" })
	if err := s.issue(t.Context(), nil); err != nil || !strings.Contains(dev.screen(), "There is no domain yet. Type domain to make one.") {
		t.Errorf("%v: %s", err, dev.screen())
	}
}
