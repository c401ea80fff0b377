package ui

import (
	"testing"

	"vault/approvals"
	"vault/approvals/journal"
)

// TestMintEntriesInWords: Activity says each kind of entry of mint delegation in words, and each is found by a filter.
func TestMintEntriesInWords(t *testing.T) {
	fields := map[string]string{"mints": "20", "number": "3", "use": "2", "address": "0x91c02b8d4c5d6e7f8091a2b3c4d5e6f77be23f04", "reason": "revoked"}
	event := func(kind journal.Kind, reason string) approvals.Event {
		e := approvals.Event{Kind: string(kind)}
		for name, v := range fields {
			if name == "reason" {
				v = reason
			}
			e.Fields = append(e.Fields, approvals.EventField{Name: name, Value: v})
		}
		return e
	}
	for _, c := range []struct {
		kind              journal.Kind
		reason            string
		want, more, group string
	}{
		{journal.KindDelegateIssued, "", "A delegate was issued, for 20 keys", "by passkey", "decision"},
		{journal.KindDelegateImported, "", "A delegate was brought in", "not in force", "decision"},
		{journal.KindDelegateAdmitted, "", "A delegate was admitted, for 20 keys", "by passkey", "decision"},
		{journal.KindDelegatePaused, "", "A delegate was paused", "", "decision"},
		{journal.KindDelegateResumed, "", "A delegate was resumed", "by passkey", "decision"},
		{journal.KindDelegateEnded, "revoked", "A delegate was revoked", "by click", "decision"},
		{journal.KindDelegateEnded, "expired", "A delegate’s end had passed", "", "decision"},
		{journal.KindDelegateEnded, "removed", "A delegate that was never admitted was removed", "", "decision"},
		{journal.KindCapabilityMinted, "", "Minted key 3", "under a delegate", "signature"},
		{journal.KindMintedSigned, "", "Signed as 91c02b8d…7be23f04, use 2", "under a delegate", "signature"},
		{journal.KindMintExported, "", "The mint material of a domain was let out", "by passkey", "keys"},
	} {
		_, runs, more := (&UI{}).eventWords(event(c.kind, c.reason))
		text := ""
		for _, r := range runs {
			text += r.Text
		}
		if _, _, group := kindWords(string(c.kind)); text != c.want || more != c.more || group != c.group {
			t.Errorf("%s %s: %q, %q, %q", c.kind, c.reason, text, more, group)
		}
	}
}
