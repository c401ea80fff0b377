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
	"vault/internal/samplekey"
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

// sign adds a seat's signature to a document.
func sign(t testing.TB, d *sow.Document, role, label string) *sow.Document {
	t.Helper()
	k, text := samplekey.Of(t, label)
	out, err := d.WithSignature(role, text, "2026-10-01T00:00:00Z", ed25519.Sign(k, d.Signed()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asActError(err error, to **sow.ActError) bool { return errors.As(err, to) }
