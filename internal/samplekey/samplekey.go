// Package samplekey has the owner keys of package sow's sample documents. They are derived from public texts and
// are nobody's; it is for tests alone.
package samplekey

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"

	"vault/derive/envelope"
)

// Of gives the key of a label, "owner/inkwell" for one, and its public key as the documents write it.
func Of(t testing.TB, label string) (private ed25519.PrivateKey, public string) {
	t.Helper()
	seed := sha256.Sum256([]byte("agent-sow-doc-test/" + label))
	private = ed25519.NewKeyFromSeed(seed[:])
	public, err := envelope.EncodeOwnerKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}
