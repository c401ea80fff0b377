package ui_test

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2/test"

	"vault/approvals"
	"vault/internal/fakedesk"
	"vault/internal/uiwalk"
	"vault/ui/parts"
)

func settingsOf(t *testing.T, desk *fakedesk.Desk) *pause {
	t.Helper()
	p := newPause(t, desk)
	test.Tap(uiwalk.Row(p.root(), "Settings"))
	return p
}

func TestSocketsForOtherUsers(t *testing.T) {
	p := settingsOf(t, fakedesk.Enrolled())
	contains(t, p.root(), "No socket is open")
	press(t, p.root(), "Open a socket")
	contains(t, p.root(), "Name whose programs may ask.")
	p.wait()
	fill(t, p.root(), "Name of the account, or its user id", "nobody-here")
	contains(t, p.root(), "A passkey confirms it.")
	pressed(t, p.root(), "Open the socket")
	contains(t, p.root(), "There is no such user on this computer")
	press(t, p.root(), "Open a socket")
	fill(t, p.root(), "Name of the account, or its user id", "1002")
	pressed(t, p.root(), "Open the socket") // within a second
	if len(p.desk.Further) != 0 {
		t.Fatal("opened while the form was deaf")
	}
	p.wait()
	pressed(t, p.root(), "Open the socket")
	if len(p.desk.Further) != 1 || p.desk.Further[0].UserID != 1002 {
		t.Fatalf("%+v", p.desk.Further)
	}
	contains(t, p.root(), "1 socket is open")
	contains(t, p.root(), "/srv/agent-vault-00112233-1002/s.sock")
	contains(t, p.root(), "Served.")

	press(t, p.root(), "Close 1002")
	contains(t, p.root(), "At once, without a passkey.")
	p.wait()
	test.Tap(choice(t, p.ui.Window(), "Close this socket"))
	test.Tap(confirm(t, p.ui.Window()))
	if len(p.desk.Further) != 0 || !slices.Contains(p.desk.Calls, "remove socket") {
		t.Fatalf("%+v, %v", p.desk.Further, p.desk.Calls)
	}
	contains(t, p.root(), "Programs of that user reach this vault no more.")

	p = settingsOf(t, fakedesk.Busy())
	press(t, p.root(), "Open a socket")
	contains(t, p.root(), "This needs a passkey and none is enrolled.")

	d := fakedesk.Enrolled()
	d.Further = []approvals.SocketView{{UserID: 1003, Path: "/srv/x.sock", Trouble: "socket_path_unsafe"}, {UserID: 1004, Path: "/srv/y.sock"}}
	p = settingsOf(t, d)
	contains(t, p.root(), "Not served: another user could replace a part of its path")
	contains(t, p.root(), "Not served until the vault is unlocked")
}

func TestSuspendedEnvelopesAreAdmittedAgain(t *testing.T) {
	misses(t, settingsOf(t, fakedesk.Enrolled()).root(), "Suspended since this instance began")

	const known, other = "0x0db384ab4836a1c0d95e6391f3d0ce04fe9ab2c7710e58ab12de34f62be232d1", "0x91f3d0ce7c1e09a45b2d8836e1f0b7a2c4d95e6391f3d0ce7c1e09a45b2d8836"
	d := fakedesk.Enrolled()
	d.Hung = []approvals.SuspendedView{
		{EnvelopeHash: known, Known: true, Operation: "send\u200b-message", Resources: []string{"channel:support"}, MaxUses: 25, Agent: "support-sender", Asked: 1, UsedBefore: 3},
		{EnvelopeHash: other, Agent: "buying-desk", UsedBefore: -1},
	}
	p := settingsOf(t, d)
	for _, want := range []string{"<U+200B>", "support-sender asked with it 1 time and was refused.", "show 3 uses; there may have been more. It states 25 uses.",
		"buying-desk had a grant for it. It can be admitted again once it is asked for.", "no earlier log is here."} {
		contains(t, p.root(), want)
	}
	press(t, p.root(), "Admit again")
	p.wait()
	fields := func(text string) { uiwalk.All[*parts.Field](p.root())[0].SetText(text) }
	for text, want := range map[string]string{"": "Type how many uses", "0": "Type how many uses", "26": "It states 25 uses; no more can be admitted.", "22": "A passkey confirms it"} {
		fields(text)
		contains(t, p.root(), want)
	}
	fields("26")
	pressed(t, p.root(), "Admit it again")
	if d.Hung[0].Readmitted != 0 {
		t.Fatal("more than it states")
	}
	fields("7")
	pressed(t, p.root(), "Admit it again")
	if d.Hung[0].Readmitted != 7 || !slices.Contains(p.desk.Calls, "readmit") {
		t.Fatalf("%+v, %v", d.Hung, p.desk.Calls)
	}
	contains(t, p.root(), "Admitted again for 7 uses, 0 used.")
	if uiwalk.Button(p.root(), "Admit again") != nil {
		t.Error("it can be admitted twice, or one that nobody knows")
	}
}
