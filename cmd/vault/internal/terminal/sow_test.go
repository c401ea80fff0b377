package terminal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/agreement"
	"vault/approvals/sow"
	"vault/internal/fakedesk"
)

// dealing is a desk with one amendment that waits, a sample document.
func dealing(t *testing.T) (*desk, *fakedesk.Desk) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "approvals", "sow", "testdata", "docs", "amendment-v2-proposal.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := sow.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	provider, _ := doc.Party(sow.Provider)
	provider.Owner += "\x1b[2J"
	row := agreement.Row{ID: "e_1", SoW: doc.ID() + "\u202e", Kind: agreement.KindEngagement, Role: sow.Client, State: sow.Active, Version: 1, Provider: provider,
		Waiting: []agreement.Waiting{agreement.WaitApprove}}
	fake := &fakedesk.Desk{SoW: fakedesk.Engaged{
		Rows: []agreement.Row{row},
		Views: map[string]agreement.View{"e_1": {
			Row: row, Seat: agreement.SeatView{Index: 1, Name: "Studio", Key: "UOURS"},
			Versions: []agreement.VersionView{{Version: 2, Digest: doc.Digest(), State: sow.AmendmentProposed, Copies: []agreement.CopyView{{SHA256: "c1"}}, Findings: doc.Validate(sow.Options{})}},
			Parties:  []agreement.PartyView{{Role: sow.Provider, Party: provider, Key: "UTHEIRS", Learned: "told"}, {Role: sow.Client, Ours: true, Key: "UOURS"}},
			Moves: []agreement.Move{{What: "approve", Digest: doc.Digest(), By: sow.ByPerson}, {What: "deny", Digest: doc.Digest()}, {What: "counter", Digest: doc.Digest()},
				{What: "terminate", Digest: "another"}},
		}},
		Copies: map[string][]byte{"c1": raw},
	}}
	return &desk{Owner: fake, status: approvals.Status{State: approvals.StateOpen}, passkeys: onePasskey(),
		items: []approvals.Item{{ID: "e_1", Kind: approvals.ItemSoW, Wants: agreement.WaitApprove, Stem: "sow_1\x1b[2J", Merged: 1}}}, fake
}

// An amendment is read whole and approved; which seat signs stands first.
func TestAgreementOnTheTerminal(t *testing.T) {
	d, fake := dealing(t)
	steps := []step{{wait: "vault> ", typed: "list\r"}, {wait: "a change waits for your answer", after: time.Second, typed: "agreements\r"}, {wait: "vault> ", after: time.Second, typed: "agreement 1\r"}}
	steps = append(steps, step{wait: "more lines", after: time.Second, typed: "\r"}, step{wait: "Your answer: ", after: 2 * time.Second, typed: "1\r"})
	out := talk(t, d, steps...)
	if len(fake.SoW.Signed) != 1 || fake.SoW.Signed[0] != (approvals.Signing{Engagement: "e_1", Digest: fake.SoW.Views["e_1"].Versions[0].Digest, Seat: 1, Move: "approve"}) {
		t.Fatalf("%+v\n%s", fake.SoW.Signed, out)
	}
	for _, want := range []string{"You sign as the client, with seat 1: UOURS", "Key of the provider: UTHEIRS", "Signed."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not on the screen:\n%s", want, out)
		}
	}
	for _, bad := range []string{"\x1b[2J", "\u202e"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
}

// A denial asks for its reason, and closing decides nothing.
func TestDenialOnTheTerminal(t *testing.T) {
	d, fake := dealing(t)
	talk(t, d,
		step{wait: "vault> ", typed: "open 1\r"}, step{wait: "more lines", after: time.Second, typed: "d\r"},
		step{wait: "Your answer: ", after: 2 * time.Second, typed: "2\r"},
		step{wait: "Your reason", after: 2 * time.Second, typed: "too dear\r"},
	)
	if len(fake.SoW.Acts) != 1 || fake.SoW.Acts[0].Kind != sow.Denial || fake.SoW.Acts[0].Reason != "too dear" || len(fake.SoW.Signed) != 0 {
		t.Fatalf("%+v", fake.SoW.Acts)
	}
	d, fake = dealing(t)
	talk(t, d,
		step{wait: "vault> ", typed: "open 1\r"}, step{wait: "more lines", after: time.Second, typed: "d\r"},
		step{wait: "Your answer: ", after: 2 * time.Second, typed: "q\r"},
	)
	if len(fake.SoW.Acts)+len(fake.SoW.Signed) != 0 {
		t.Fatalf("%+v %+v", fake.SoW.Acts, fake.SoW.Signed)
	}
}

// Which of two documents counts is said with one answer; and where nothing says which side is the owner's, it is asked before anything
// is signed.
func TestSettlingOnTheTerminal(t *testing.T) {
	d, fake := dealing(t)
	v := fake.SoW.Views["e_1"]
	v.Role = ""
	v.Moves = []agreement.Move{{What: agreement.MoveSettle, Digest: v.Versions[0].Digest}, {What: "countersign", Digest: v.Versions[0].Digest}}
	fake.SoW.Views["e_1"] = v
	open := []step{{wait: "vault> ", typed: "open 1\r"}, {wait: "more lines", after: time.Second, typed: "d\r"}}
	talk(t, d, append(open, step{wait: "Your answer: ", after: 2 * time.Second, typed: "1\r"})...)
	if want := "settle conflict e_1 " + v.Versions[0].Digest; !slices.Contains(fake.Calls, want) || len(fake.SoW.Signed) != 0 {
		t.Fatalf("%q, %+v", fake.Calls, fake.SoW.Signed)
	}
	talk(t, d, append(open, step{wait: "Your answer: ", after: 2 * time.Second, typed: "2\r"}, step{wait: "client or provider", after: 2 * time.Second, typed: "client\r"})...)
	if len(fake.SoW.Signed) != 1 || fake.SoW.Signed[0].Role != sow.Client {
		t.Fatalf("%+v", fake.SoW.Signed)
	}
}
