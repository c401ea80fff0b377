package confirm

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Alg is a signature algorithm by its COSE number.
type Alg int

// The algorithms a passkey may have. ES256 is P-256 and no other curve; EdDSA is
// Ed25519; RS256 is RSA of 2048 to 4096 bits with the exponent 65537.
const (
	ES256 Alg = -7
	EdDSA Alg = -8
	RS256 Alg = -257
)

// String returns the name of the algorithm.
func (a Alg) String() string {
	switch a {
	case ES256:
		return "ES256"
	case EdDSA:
		return "EdDSA"
	case RS256:
		return "RS256"
	}
	return "unknown"
}

// The bytes around the numbers in the canonical COSE_Key of each shape.
var (
	es256Head  = []byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32} // {1: 2, 3: -7, -1: 1, -2: x,
	es256Y     = []byte{0x22, 0x58, 32}                               // -3: y}
	eddsaHead  = []byte{0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32} // {1: 1, 3: -8, -1: 6, -2: x}
	rs256Head  = []byte{0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59}        // {1: 3, 3: -257, -1: n,
	rs256Tail  = []byte{0x21, 0x43, 1, 0, 1}                          // -2: 65537}
	rs256Bytes = [2]int{256, 512}                                     // length of n
)

// maxKey is the length of the longest COSE_Key there is.
const maxKey = 9 + 2 + 512 + 5

// Key is the public key of a passkey. It cannot be changed.
type Key struct {
	alg  Alg
	cose string
	pub  crypto.PublicKey
}

// ParseKey reads a COSE_Key in the canonical CBOR of CTAP2, as authenticator
// data carries it: one of three shapes, exactly its members in order, nothing
// after them. The point must be on its curve, and for Ed25519 not of small order,
// with which anybody can sign. It does not block.
func ParseKey(cose []byte) (*Key, error) {
	k := &Key{cose: string(cose)}
	var err error
	switch {
	case len(cose) == 77 && bytes.HasPrefix(cose, es256Head) && bytes.Equal(cose[42:45], es256Y):
		k.alg = ES256
		k.pub, err = ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, cose[10:42], cose[45:]))
	case len(cose) == 42 && bytes.HasPrefix(cose, eddsaHead):
		k.alg, k.pub = EdDSA, ed25519.PublicKey(bytes.Clone(cose[10:]))
		err = checkEdwards(cose[10:])
	case bytes.HasPrefix(cose, rs256Head):
		k.alg = RS256
		k.pub, err = parseRSA(cose[len(rs256Head):])
	default:
		err = errors.New("not the COSE key of ES256 on P-256, EdDSA on Ed25519 or RS256 in canonical form")
	}
	if err != nil {
		return nil, fmt.Errorf("parse passkey key: %w", err)
	}
	return k, nil
}

func parseRSA(b []byte) (*rsa.PublicKey, error) {
	if len(b) < 2 {
		return nil, errors.New("rsa key is cut short")
	}
	n := int(binary.BigEndian.Uint16(b))
	if n < rs256Bytes[0] || n > rs256Bytes[1] || len(b) != 2+n+len(rs256Tail) || !bytes.Equal(b[2+n:], rs256Tail) {
		return nil, errors.New("rsa key is not of 2048 to 4096 bits with the exponent 65537")
	}
	m := new(big.Int).SetBytes(b[2 : 2+n])
	if b[2] == 0 || m.BitLen() < 2048 || m.Bit(0) == 0 {
		return nil, errors.New("rsa modulus is even, short or spelled with zeros before it")
	}
	return &rsa.PublicKey{N: m, E: 65537}, nil
}

// checkEdwards reads an Ed25519 public key as RFC 8032 does and doubles it three
// times: a point of small order is then the identity. It works on y and x² alone.
func checkEdwards(enc []byte) error {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	mod := func(z *big.Int) *big.Int { return z.Mod(z, p) }
	mul := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }
	div := func(a, b *big.Int) *big.Int { return mul(a, new(big.Int).ModInverse(b, p)) }
	one := big.NewInt(1)
	d := mod(new(big.Int).Neg(div(big.NewInt(121665), big.NewInt(121666))))

	le := bytes.Clone(enc)
	le[31] &= 0x7f
	slices.Reverse(le)
	y := new(big.Int).SetBytes(le)
	if y.Cmp(p) >= 0 {
		return errors.New("ed25519 key is not spelled in its one way")
	}
	// x² = (y² - 1) / (d y² + 1); the denominator is never zero.
	xx := func(yy *big.Int) *big.Int {
		return div(mod(new(big.Int).Sub(yy, one)), mod(new(big.Int).Add(mul(d, yy), one)))
	}
	if big.Jacobi(xx(mul(y, y)), p) < 0 {
		return errors.New("ed25519 key is not on its curve")
	}
	for range 3 {
		yy := mul(y, y)
		x2 := xx(yy)
		y = div(mod(new(big.Int).Add(yy, x2)), mod(new(big.Int).Sub(one, mul(d, mul(x2, yy)))))
	}
	if y.Cmp(one) == 0 {
		return errors.New("ed25519 key is a point of small order")
	}
	return nil
}

// Alg returns the algorithm.
func (k *Key) Alg() Alg { return k.alg }

// COSE returns the COSE_Key that was read.
func (k *Key) COSE() []byte { return []byte(k.cose) }

// Equal reports whether both are the same key.
func (k *Key) Equal(other *Key) bool { return k != nil && other != nil && k.cose == other.cose }

// digitsPrefix keeps the digits apart from every other hash of a key.
const digitsPrefix = "vault-passkey-digits-v1\n"

// Digits returns the six decimal digits that the owner compares in window and
// page when a passkey is enrolled: the first 8 bytes, big endian, of SHA-256 of
// "vault-passkey-digits-v1\n" and the COSE_Key, modulo 1,000,000, zero padded.
// They show a mix-up; they are far too few to name a key.
func (k *Key) Digits() string {
	sum := sha256.Sum256([]byte(digitsPrefix + k.cose))
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(sum[:8])%1_000_000)
}

// verify reports a signature over the message. High-S is allowed: WebAuthn has no
// low-S rule.
func (k *Key) verify(message, sig []byte) bool {
	sum := sha256.Sum256(message)
	switch pub := k.pub.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(pub, sum[:], sig)
	case ed25519.PublicKey:
		return ed25519.Verify(pub, message, sig)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(pub, crypto.SHA256, sum[:], sig) == nil
	}
	return false
}
