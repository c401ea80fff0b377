package sign

import (
	"context"
	"testing"

	"vault/approvals/keys"
	"vault/custody"
)

// lookingKeyring says beforehand that it does not answer.
type lookingKeyring struct {
	*memoryKeyring
	err error
}

func (k lookingKeyring) Available(context.Context) error { return k.err }

// Nobody types a passphrase to learn afterwards that there is no keyring.
func TestKeyringIsLookedAtBeforeAnythingIsTyped(t *testing.T) {
	t.Run("create", func(t *testing.T) {
		for _, p := range []keys.Protection{keys.ProtectKeyringAndPassphrase, keys.ProtectKeyring} {
			d := newDesk(t)
			d.config.Custody.Keyring = lookingKeyring{d.keyring, custody.ErrNoBus}
			_, err := New(d.config).Create(t.Context(), keys.Create{Protection: p})
			wantCode(t, err, "keyring_no_bus")
			d.config.Custody.Keyring = nil
			_, err = New(d.config).Create(t.Context(), keys.Create{Protection: p})
			wantCode(t, err, "keyring_needed")
			if len(d.owner.asked) != 0 {
				t.Errorf("asked %+v", d.owner.asked)
			}
		}
	})
	t.Run("restore", func(t *testing.T) {
		d := newDesk(t)
		d.config.Custody.Keyring = lookingKeyring{d.keyring, custody.ErrNoService}
		_, err := New(d.config).Restore(t.Context(), keys.Restore{Protection: keys.ProtectKeyringAndPassphrase})
		wantCode(t, err, "keyring_no_service")
		if len(d.owner.asked) != 0 {
			t.Errorf("asked %+v", d.owner.asked)
		}
	})
	t.Run("open vault", func(t *testing.T) {
		d := open(t)
		before := len(d.owner.asked)
		d.signer.cfg.Custody.Keyring = lookingKeyring{d.keyring, custody.ErrKeyringTimeout}
		_, err := d.signer.ChangeProtection(t.Context(), keys.ProtectKeyringAndPassphrase, keys.SurfaceTerminal)
		wantCode(t, err, "keyring_timeout")
		d.signer.Close()
		d.config.Custody.Keyring = lookingKeyring{d.keyring, custody.ErrKeyringLocked}
		_, err = New(d.config).Unlock(t.Context(), keys.Unlock{})
		wantCode(t, err, "keyring_locked")
		if len(d.owner.asked) != before {
			t.Errorf("asked %+v", d.owner.asked[before:])
		}
	})
	t.Run("no keyring is needed", func(t *testing.T) {
		d := newDesk(t)
		d.config.Custody.Keyring = lookingKeyring{d.keyring, custody.ErrNoBus}
		signer := New(d.config)
		t.Cleanup(func() { signer.Close() })
		if _, err := signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase, PutOff: true}); err != nil {
			t.Error(err)
		}
	})
}
