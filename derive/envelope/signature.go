package envelope

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"
)

// Faults of a signature's form. The first two carry the words of the reference.
var (
	ErrSignatureForm     = errors.New("signature must be 65 bytes")
	ErrSignatureRecovery = errors.New("signature recovery byte must be 27 or 28")
	ErrSignatureRange    = errors.New("signature r or s is out of range")
	ErrSignatureHighS    = errors.New("signature has a high s")
	errSignatureRecover  = errors.New("signature recovers to no key")
)

// Signature is a secp256k1 signature in the one form accepted: 0x, r, s, and a
// recovery byte of 27 or 28, in lower case hex; 0 < r < n and 0 < s ≤ n/2.
type Signature struct {
	compact [65]byte // recovery byte first, as the curve library wants it
}

// ParseSignature reads the text form strictly. Errors are ErrSignatureForm,
// ErrSignatureRecovery, ErrSignatureRange and ErrSignatureHighS.
func ParseSignature(s string) (Signature, error) {
	if !isHex(s, 130, false) {
		return Signature{}, ErrSignatureForm
	}
	raw, err := hex.DecodeString(s[2:])
	if err != nil {
		return Signature{}, ErrSignatureForm
	}
	if raw[64] != 27 && raw[64] != 28 {
		return Signature{}, ErrSignatureRecovery
	}
	var r, sc secp256k1.ModNScalar
	if r.SetByteSlice(raw[:32]) || r.IsZero() || sc.SetByteSlice(raw[32:64]) || sc.IsZero() {
		return Signature{}, ErrSignatureRange
	}
	if sc.IsOverHalfOrder() {
		return Signature{}, ErrSignatureHighS
	}
	var sig Signature
	sig.compact[0] = raw[64]
	copy(sig.compact[1:], raw[:64])
	return sig, nil
}

// SignatureOf gives the text form of a compact signature whose first byte is
// the recovery byte. It does not judge it; ParseSignature does.
func SignatureOf(compact [65]byte) string {
	out := make([]byte, 0, 65)
	out = append(out, compact[1:]...)
	return "0x" + hex.EncodeToString(append(out, compact[0]))
}

// String returns the text form.
func (s Signature) String() string { return SignatureOf(s.compact) }

// Recover returns the address whose key made the signature over the digest.
func (s Signature) Recover(digest [32]byte) (string, error) {
	pub, _, err := ecdsa.RecoverCompact(s.compact[:], digest[:])
	if err != nil {
		return "", errSignatureRecover
	}
	return AddressOf(pub), nil
}

// AddressOf returns the EVM-style address of a public key, in lower case
// (AgentEnvelope section 4).
func AddressOf(pub *secp256k1.PublicKey) string {
	h := sha3.NewLegacyKeccak256()
	h.Write(pub.SerializeUncompressed()[1:])
	return "0x" + hex.EncodeToString(h.Sum(nil)[12:])
}

// ParseAddress reads an address in either case and returns it in lower case.
func ParseAddress(s string) (string, error) {
	if !isAddressAnyCase(s) {
		return "", errors.New("address is not 0x and 40 hex digits")
	}
	return strings.ToLower(s), nil
}
