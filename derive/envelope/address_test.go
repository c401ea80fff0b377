package envelope

import (
	"bytes"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

func TestAddressAttestation(t *testing.T) {
	key := secp256k1.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	domain := AddressOf(key.PubKey())
	a := AddressAttestation{DomainHash: "0x" + strings.Repeat("1", 64), ActionEnvelopeHash: "0x" + strings.Repeat("2", 64),
		AgentAddress: "0x" + strings.Repeat("3", 40)}
	digest, err := a.Digest()
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := a.Signed(domain, SignatureOf([65]byte(ecdsa.SignCompact(key, digest[:], false))))
	if err != nil {
		t.Fatal(err)
	}
	if r := VerifyAddressAttestation(receipt, a, Pins{DomainAddress: domain}); !r.Valid || !r.Pinned {
		t.Errorf("pinned: %+v", r)
	}
	if r := VerifyAddressAttestation(receipt, a, Pins{}); !r.Valid || r.Pinned {
		t.Errorf("unpinned: %+v", r)
	}
	other := a
	other.AgentAddress = "0x" + strings.Repeat("4", 40)
	for name, r := range map[string]*Report{
		"another address":  VerifyAddressAttestation(receipt, other, Pins{DomainAddress: domain}),
		"another attester": VerifyAddressAttestation(receipt, a, Pins{DomainAddress: a.AgentAddress}),
		"another domain":   VerifyAddressAttestation(receipt, a, Pins{DomainAddress: domain, DomainHash: "0x" + strings.Repeat("9", 64)}),
		"a changed byte":   VerifyAddressAttestation(bytes.Replace(receipt, []byte("222"), []byte("223"), 1), a, Pins{DomainAddress: domain}),
		"another type":     VerifyAddressAttestation(bytes.Replace(receipt, []byte("vault.address"), []byte("vault.addres5"), 1), a, Pins{DomainAddress: domain}),
		"no JSON":          VerifyAddressAttestation([]byte("{"), a, Pins{DomainAddress: domain}),
		"empty subject":    VerifyAddressAttestation(receipt, AddressAttestation{}, Pins{DomainAddress: domain}),
	} {
		if r.Valid || r.Pinned {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, bad := range map[string]AddressAttestation{
		"hash":    {DomainHash: "0x1", ActionEnvelopeHash: a.ActionEnvelopeHash, AgentAddress: a.AgentAddress},
		"address": {DomainHash: a.DomainHash, ActionEnvelopeHash: a.ActionEnvelopeHash, AgentAddress: "0xAB"},
	} {
		if _, err := bad.Digest(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
