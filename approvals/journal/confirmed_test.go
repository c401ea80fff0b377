package journal

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// TestConfirmationsStayTheSame holds what a confirmation is over, to the byte: passkeys have signed it, and receipts are
// checked against it for ever. The texts are Kind, Digest, and the first half of the SHA-256 of act, body, document and role.
func TestConfirmationsStayTheSame(t *testing.T) {
	b := newBook(t)
	at := b.at
	list := map[string]Entry{}
	add := func(name string, kind Kind, body any) {
		b.at = at
		list[name] = b.make(kind, body)
	}
	for _, some := range []map[Kind]any{someOf(b), someMints(), someSoW(b)} {
		for kind, body := range some {
			add(string(kind), kind, body)
		}
	}
	used := signed(4, "")
	used.By, used.Moment, used.Confirmation = "passkey", testMoment, testHash(2)
	amended := b.formed(1)
	amended.Version = 3
	add("action.signed by passkey", KindActionSigned, used)
	add("passkey.added by passkey", KindPasskeyAdded, PasskeyAdded{"pQECAyYg", "security_key", true, "localhost", "passkey", testHash(1)})
	add("act.confirmed protection.change", KindActConfirmed, ActConfirmed{"protection.change", "passphrase", "keyring", testHash(1), testHash(2)})
	add("act.confirmed card.export", KindActConfirmed, ActConfirmed{"card.export", "", "", testHash(1), testHash(2)})
	add("sow.signed above version 1", KindSoWSigned, amended)
	add("sow.act_signed termination", KindSoWActSigned, act(b, "termination", 1, 1))
	add("sow.act_signed denial", KindSoWActSigned, act(b, "denial", 1, 1))
	got := map[string]string{}
	for name, e := range list {
		c, ok := e.Confirmation()
		if ok && c.Record != e.Record() {
			t.Errorf("%s: the confirmation names %q, the entry %q", name, c.Record, e.Record())
		}
		if !ok {
			if !reflect.DeepEqual(c, Confirmed{}) {
				t.Errorf("%s: no confirmation, and %+v", name, c)
			}
			continue
		}
		about := ""
		if c.Document != nil {
			about = fmt.Sprint(*c.Document)
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s", c.Act, c.Body, about, c.Role))
		got[name] = fmt.Sprintf("%s %s %x", c.Kind, c.Digest, sum[:16])
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != confirmations[name] {
			t.Errorf("%q: %q,", name, got[name])
		}
	}
	for name := range confirmations {
		if _, ok := got[name]; !ok {
			t.Errorf("%s has no confirmation", name)
		}
	}
}

var confirmations = map[string]string{}
