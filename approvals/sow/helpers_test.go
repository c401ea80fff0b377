package sow_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vault/approvals/sow"
	"vault/derive/envelope"
)

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// doc reads one of the complete documents.
func doc(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "docs", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// testKey derives a key pair of the documents from its label. It is not a key
// of anybody's.
func testKey(t testing.TB, label string) (ed25519.PrivateKey, string) {
	t.Helper()
	seed := sha256.Sum256([]byte("agent-sow-doc-test/" + label))
	k := ed25519.NewKeyFromSeed(seed[:])
	text, err := envelope.EncodeOwnerKey(k.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return k, text
}

// sign adds a seat's signature to a document.
func sign(t testing.TB, d *sow.Document, role, label string) *sow.Document {
	t.Helper()
	k, text := testKey(t, label)
	out, err := d.WithSignature(role, text, "2026-10-01T00:00:00Z", ed25519.Sign(k, d.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asActError(err error, to **sow.ActError) bool { return errors.As(err, to) }
