package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/nats-io/nkeys"

	"vault/derive/tag"
)

// EncodeOwnerKey writes an Ed25519 public key as an nkey of the user kind, 56
// characters from U on.
func EncodeOwnerKey(pub ed25519.PublicKey) (string, error) {
	if len(pub) != ed25519.PublicKeySize {
		return "", errors.New("owner key is not 32 bytes")
	}
	b, err := nkeys.Encode(nkeys.PrefixByteUser, pub)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// ParseOwnerKey reads an nkey of the user kind strictly: no other kind, no
// other spelling, right checksum.
func ParseOwnerKey(text string) (ed25519.PublicKey, error) {
	if len(text) != 56 || text[0] != 'U' {
		return nil, errors.New("owner key is not an nkey of 56 characters from U on")
	}
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(text))
	if err != nil {
		return nil, errors.New("owner key is not an nkey of the user kind")
	}
	again, err := EncodeOwnerKey(raw)
	if err != nil || again != text {
		return nil, errors.New("owner key is not spelled as nkeys are")
	}
	return raw, nil
}

// VerifyOwner reports an Ed25519 signature of 64 bytes by the key over prefix
// and canonical form.
func VerifyOwner(pub ed25519.PublicKey, t tag.Tag, canonical, sig []byte) bool {
	return len(pub) == ed25519.PublicKeySize && ed25519.Verify(pub, t.Message(canonical), sig)
}

// OwnerUserID returns the ownerUserId this vault emits: user- and 16 hex
// digits of the SHA-256 of the owner key's text.
func OwnerUserID(ownerKey string) string {
	sum := sha256.Sum256([]byte(ownerKey))
	return "user-" + hex.EncodeToString(sum[:8])
}
