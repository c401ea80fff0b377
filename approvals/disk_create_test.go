package approvals_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/store"
	"vault/sign"
)

// atTheEnd is an owner at whose last answer something happens to the disk.
type atTheEnd struct {
	typist
	then func()
}

func (w *atTheEnd) Finish(code string) {
	w.typist.Finish(code)
	w.then()
}

// A store that cannot be made after the root was sealed is a failure of the store, not "internal";
// the vault is there, and opens when the disk is well.
func TestStoreThatCannotBeMade(t *testing.T) {
	w := newWorld(t)
	at := filepath.Join(w.dir, store.FileName)
	w.keys.config = func(c *sign.Config) {
		c.Window = func(context.Context, keys.Surface) (sign.Window, error) {
			return &atTheEnd{w.keys.owner, func() {
				if err := os.Mkdir(at, 0o700); err != nil {
					t.Error(err)
				}
			}}, nil
		}
	}
	err := w.owner.Create(t.Context(), approvals.Creation{
		Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal, PutOff: true,
		Domain: approvals.DomainForm{Namespace: "example", DomainID: "support-ops", Kind: "communication"},
	})
	if code(err) != approvals.CodeStoreFailed {
		t.Errorf("%v", err)
	}
	w.keys.config = nil
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	w.unlock()
	w.verified()
}
