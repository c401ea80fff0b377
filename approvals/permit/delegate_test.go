package permit

import (
	"slices"
	"strings"
	"testing"

	"vault/derive/confirm"
	"vault/derive/envelope"
)

// TestDelegateSaysEverything wants every bound of a delegate in its sentence, however long its lists are.
func TestDelegateSaysEverything(t *testing.T) {
	const issuer = "0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835"
	f := envelope.DelegateFields{
		DomainHash: hash, AllowedOperations: []string{"send-message"}, AllowedResources: []string{"thread:*", "mail:7"}, BotPolicy: envelope.BotSet,
		AllowedBotAddresses: []string{"0x321e0f3ba5d4454a9554911c300221eb33d158a5"}, IndexMin: 2, IndexMax: 9, MaxMints: 100, MaxUsesPerAction: 10,
		Window: envelope.Window{NotBefore: envelope.Some(1_790_000_000_000), NotAfter: envelope.Some(1_798_761_599_999)},
		Nonce:  "0x" + strings.Repeat("ab", 32), IssuedAt: "2026-11-30T00:00:00.000Z", AvatarAddress: issuer,
		Legitimacy: &envelope.LegitimacyRef{LegitimacyID: "ae-legit-1", Required: true, PolicyID: "p-7", StateVersion: envelope.Some(4), StateHash: "0x" + strings.Repeat("cd", 32)},
	}
	says := func() string {
		t.Helper()
		d, err := envelope.NewMintDelegate(issuer, f)
		if err != nil {
			t.Fatal(err)
		}
		lines := DelegateSays(d, "support-ops", func(s string) string { return "<" + s + ">" })
		if len(lines) > confirm.MaxLines {
			t.Errorf("%d lines", len(lines))
		}
		return strings.Join(lines, "\n")
	}
	got := says()
	for _, want := range []string{
		"<support-ops>", issuer, "Bot: <0x321e0f3ba5d4454a9554911c300221eb33d158a5>", "Operation: <send-message>", "Resource: <thread:*>", "Resource: <mail:7>",
		"At most 100 capabilities, 10 times each, action index 2 to 9.", "From: 2026-09-21 14:13:20 UTC", "Until: 2026-12-31 23:59:59 UTC", "Avatar: " + issuer,
		"Legitimacy state: <ae-legit-1>, every request must name it", "Its policy: <p-7>", "Its version: 4", "Its hash: 0xcdcd", "Delegate: 0x",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said in\n%s", want, got)
		}
	}
	f.BotPolicy, f.AllowedBotAddresses, f.Window, f.MaxUsesPerAction = envelope.BotAny, nil, envelope.Window{}, 1
	f.AllowedResources = nil
	for i := range 60 {
		f.AllowedResources = append(f.AllowedResources, "r:"+strings.Repeat("x", i+1))
	}
	got = says()
	for _, want := range []string{"Any paired bot may ask, whatever its address.", "once each", "From: any time", "Until: no end", "Resource: 12 more, shown in the vault’s window"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said in\n%s", want, got)
		}
	}
	// What covers more than itself is said first, wherever it stands.
	f.AllowedResources = append(f.AllowedResources, "thread:*", "*")
	lines := strings.Split(says(), "\n")
	at := slices.Index(lines, "Every resource of the domain, whatever its name.")
	if at < 0 || lines[at+1] != "Resource: <*>" || lines[at+2] != "Resource: <thread:*>" {
		t.Errorf("the widest resources are not said first: %q", lines)
	}
	// Texts as long as they may be leave room for the others.
	for i := range f.AllowedResources {
		f.AllowedResources[i] = strings.Repeat("é", 800) + strings.Repeat("x", i)
	}
	if got := says(); len(got) > 48<<10 || !strings.Contains(got, "more, shown in the vault’s window") {
		t.Errorf("%d bytes", len(got))
	}
}
