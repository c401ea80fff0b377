package derive

import (
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// BenchmarkCurve is the curve library alone, to read the others against.
func BenchmarkCurve(b *testing.B) {
	k := secp256k1.PrivKeyFromBytes(testRoot())
	digest := make([]byte, 32)
	sig := ecdsa.SignCompact(k, digest, false)
	b.Run("recover", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := ecdsa.RecoverCompact(sig, digest); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sign", func(b *testing.B) {
		for b.Loop() {
			ecdsa.SignCompact(k, digest, false)
		}
	})
	b.Run("public", func(b *testing.B) {
		for b.Loop() {
			k.PubKey()
		}
	})
}
