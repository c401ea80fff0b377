package sign

import (
	"strings"
	"testing"

	"vault/approvals/keys"
)

// The secret window names the vault by the id that every other page shows.
func TestQuestionsNameTheVault(t *testing.T) {
	d := open(t)
	if last := d.owner.asked[len(d.owner.asked)-1]; last.Vault != d.pub.Vault {
		t.Errorf("creation: %+v, the vault is %s", last, d.pub.Vault)
	}
	if err := d.signer.Prove(t.Context(), "0x"+strings.Repeat("0", 64), keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	d.signer.Close()
	if _, err := New(d.config).Unlock(t.Context(), keys.Unlock{}); err != nil {
		t.Fatal(err)
	}
	for _, q := range d.owner.asked[len(d.owner.asked)-2:] {
		if q.Vault != d.pub.Vault {
			t.Errorf("%+v, the vault is %s", q, d.pub.Vault)
		}
	}
}
