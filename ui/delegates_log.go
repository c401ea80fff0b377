package ui

import (
	"vault/approvals"
	"vault/approvals/journal"
	"vault/ui/hostile"
	"vault/ui/look"
)

// delegateKinds has the words, the icon and the filter of each kind of entry of mint delegation.
var delegateKinds = map[string][3]string{
	string(journal.KindDelegateIssued):   {"A delegate was issued", "delegate", "decision"},
	string(journal.KindDelegateImported): {"A delegate was brought in", "file", "decision"},
	string(journal.KindDelegateAdmitted): {"A delegate was admitted", "delegate", "decision"},
	string(journal.KindDelegatePaused):   {"A delegate was paused", "pause", "decision"},
	string(journal.KindDelegateResumed):  {"A delegate was resumed", "resume", "decision"},
	string(journal.KindDelegateEnded):    {"A delegate ended", "off", "decision"},
	string(journal.KindCapabilityMinted): {"A key was minted", "key", "signature"},
	string(journal.KindMintedSigned):     {"Signed", "sign", "signature"},
	string(journal.KindMintExported):     {"Mint material was let out", "warning", "keys"},
}

// delegateEvent says what an entry of mint delegation is. It is false for every other entry.
func (u *UI) delegateEvent(e approvals.Event) (icon string, what []look.Run, more string, ok bool) {
	words, ok := delegateKinds[e.Kind]
	if !ok {
		return "", nil, "", false
	}
	own := func(t string) look.Run { return look.Run{Text: t, Style: look.Small, Color: look.Ink} }
	value := func(t string) []look.Run { return hostile.Runs(look.Small, look.Ink, t) }
	name := "delegate " + short(field(e, "delegate"))
	for _, d := range u.state.Delegates {
		if d.Hash == field(e, "delegate") {
			name = delegateName(d)
		}
	}
	switch journal.Kind(e.Kind) {
	case journal.KindCapabilityMinted:
		return words[1], append([]look.Run{own("A key was minted for " + name + ", number ")}, value(field(e, "number"))...), "within its bounds", true
	case journal.KindMintedSigned:
		runs := []look.Run{own("Signed as "), {Text: short(field(e, "address")), Style: look.MonoS.Box(18), Color: look.Ink}, own(", use ")}
		return words[1], append(runs, value(field(e, "use"))...), "for " + name, true
	case journal.KindMintExported:
		return words[1], []look.Run{own("Mint material was let out")}, "by passkey", true
	case journal.KindDelegateEnded:
		switch field(e, "reason") {
		case "expired":
			return "clock", []look.Run{own("Over: " + name)}, "", true
		case "removed":
			return words[1], []look.Run{own("You removed " + name + ", which was never admitted")}, "", true
		}
		return words[1], []look.Run{own("You revoked " + name)}, "", true
	case journal.KindDelegateIssued:
		return words[1], []look.Run{own("You issued a delegate for " + name)}, "by passkey", true
	case journal.KindDelegateAdmitted:
		return words[1], []look.Run{own("You admitted " + name)}, "by passkey", true
	case journal.KindDelegateResumed:
		return words[1], []look.Run{own("You resumed " + name)}, "by passkey", true
	case journal.KindDelegatePaused:
		return words[1], []look.Run{own("You paused " + name)}, "", true
	}
	return words[1], []look.Run{own(words[0] + ": " + name)}, "", true
}
