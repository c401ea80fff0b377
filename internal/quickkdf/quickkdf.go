// Package quickkdf stands in tests for the passphrase function, which is slow on purpose. It keeps no passphrase from being
// guessed, and is linked into neither program of the product.
package quickkdf

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"

	"vault/custody"
)

// KDF is a [custody.KDF].
type KDF struct{}

// Derive implements [custody.KDF]. It does not block.
func (KDF) Derive(_ context.Context, _ custody.Params, passphrase []byte, salt [16]byte, out *custody.Secret) error {
	k, err := hkdf.Key(sha256.New, passphrase, salt[:], "test", out.Len())
	copy(out.Bytes(), k)
	return err
}
