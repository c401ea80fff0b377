package terminal

import (
	"context"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
)

// keeper is a desk whose words and protection a passkey confirms first.
type keeper struct {
	desk
	shown   int
	changed []keys.Protection
}

func (k *keeper) act(done func()) error {
	if out := k.ceremony.run(); out.Code != "done" {
		return &approvals.Refusal{Code: out.Code, Message: "Nothing was done."}
	}
	if k.dev.raw {
		k.t.Error("the secret window is on this terminal while the console still reads it")
	}
	done()
	return nil
}

func (k *keeper) ShowWords(context.Context, keys.Surface) error { return k.act(func() { k.shown++ }) }

func (k *keeper) ChangeProtection(_ context.Context, p keys.Protection, _ keys.Surface) error {
	return k.act(func() { k.changed = append(k.changed, p) })
}

// Words and protection go through the same steps on the terminal as every other act that a passkey confirms: what the page
// says, where it is, and the way back.
func TestWordsAndProtectionWaitForThePasskey(t *testing.T) {
	link := approvals.CeremonyView{For: "words", State: approvals.CeremonyNoBrowser, Link: "http://vault-01234567.localhost:40123/#t", Forward: "ssh -L 40123:localhost:40123 owner@desk"}
	compare := approvals.CeremonyView{For: "words", State: approvals.CeremonyCompare, Digits: "733105"}
	run := func(t *testing.T, views []approvals.CeremonyView, steps ...step) (*keeper, string) {
		t.Helper()
		k := &keeper{}
		k.status = approvals.Status{State: approvals.StateOpen}
		k.status.Public.Protection = keys.ProtectKeyringAndPassphrase
		k.passkeys, k.ceremony = onePasskey(), newCeremony(approvals.Outcome{Code: "done"}, views...)
		dev := newDevice(t, steps...)
		k.t, k.dev = t, dev
		s := New(k, NewConsole(dev, dev.now), dev.now, time.UTC, func(err error) string { return "explained: " + err.Error() })
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return k, dev.out.String()
	}
	t.Run("words", func(t *testing.T) {
		k, out := run(t, []approvals.CeremonyView{compare}, step{wait: "vault> ", typed: "words\r"}, step{wait: "Type same", after: 2 * time.Second, typed: "same\r"})
		if k.shown != 1 || !strings.Contains(out, "The words were shown.") {
			t.Errorf("shown %d times:\n%s", k.shown, out)
		}
	})
	t.Run("back", func(t *testing.T) {
		k, out := run(t, []approvals.CeremonyView{link}, step{wait: "vault> ", typed: "words\r"}, step{wait: "b: go back", after: 2 * time.Second, typed: "b\r"})
		if k.shown != 0 || !strings.Contains(out, link.Link) || !strings.Contains(out, link.Forward) {
			t.Errorf("shown %d times:\n%s", k.shown, out)
		}
	})
	t.Run("protection", func(t *testing.T) {
		k, out := run(t, []approvals.CeremonyView{compare}, step{wait: "vault> ", typed: "protect\r"}, step{wait: "Number [", typed: "2\r"},
			step{wait: "Type same", after: 2 * time.Second, typed: "same\r"})
		if len(k.changed) != 1 || k.changed[0] != keys.ProtectPassphrase || !strings.Contains(out, "The protection was changed.") {
			t.Errorf("changed %v:\n%s", k.changed, out)
		}
	})
	t.Run("as it is", func(t *testing.T) {
		k, out := run(t, nil, step{wait: "vault> ", typed: "protect\r"}, step{wait: "Number [", typed: "1\r"})
		if len(k.changed) != 0 || !strings.Contains(out, "Nothing was changed.") {
			t.Errorf("changed %v:\n%s", k.changed, out)
		}
	})
}
