// Package derive is the authority tree of AgentEnvelope v1 (sections 4, 8, 9
// and 12) with three branches of our own: pure functions from a secret and a
// public document to another secret, an address or a signature.
//
// Secrets come in as slices of 32 bytes and go out into arrays, both of the
// caller, who owns and wipes them. What the functions themselves keep on the
// way they clear. Nothing here stores, logs or guards anything; package sign
// decides what may be derived and signed. SignDigest lives here and not there
// because it is the last pure step of the tree, and the test vectors of the
// derivations end in signatures.
package derive

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"vault/derive/envelope"
)

// Size is the length in bytes of every secret of the tree.
const Size = 32

// salt is the HKDF salt of v1.
const salt = "agentenvelope-v1"

// Purpose names a branch of the tree; it stands in the HKDF info.
type Purpose string

// Every purpose there is. Released paths never change.
const (
	PurposeDomain       Purpose = "domain"        // root, domain info
	PurposeAction       Purpose = "action"        // domain seed, action envelope
	PurposeMintMaterial Purpose = "mint-material" // root, domain hash
	PurposeRemoteMint   Purpose = "remote-mint"   // mint material, delegate hash, request body
	PurposeOwner        Purpose = "sow-owner"     // root, index of the seat: Ed25519 seed
	PurposeLog          Purpose = "vault-log"     // root, instance id: Ed25519 seed of the log key
	PurposeStore        Purpose = "vault-store"   // root: HMAC key of the store's permits
)

// ErrSecretSize is returned for a secret that is not 32 bytes.
var ErrSecretSize = errors.New("secret is not 32 bytes")

// Secret is a derived secret. It shows nothing of itself when printed and
// cannot be written as JSON; its owner clears it.
type Secret [Size]byte

// Clear overwrites the secret with zeros.
func (s *Secret) Clear() { clear(s[:]) }

// Format writes a fixed text whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[secret]") }

// MarshalJSON refuses.
func (Secret) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a secret is not written as json")
}

// MarshalText refuses.
func (Secret) MarshalText() ([]byte, error) {
	return nil, errors.New("a secret is not written as text")
}

// info is the HKDF info of a purpose: canonical JSON of the purpose and at most two
// members more. Their values are canonical JSON, and their names stand in order before
// "purpose": put together, this is canonical.
func info(p Purpose, members ...string) string {
	n := len(p) + 16
	for _, m := range members {
		n += len(m) + 4
	}
	b := append(make([]byte, 0, n), '{')
	for i := 0; i < len(members); i += 2 {
		b = append(append(append(b, '"'), members[i]...), `":`...)
		b = append(append(b, members[i+1]...), ',')
	}
	b = append(append(b, `"purpose":"`...), p...)
	return string(append(b, `"}`...))
}

// expand fills dst with HKDF-SHA256 of the secret.
func expand(dst *Secret, secret []byte, info string) error {
	if len(secret) != Size {
		return ErrSecretSize
	}
	out, err := hkdf.Key(sha256.New, secret, []byte(salt), info, Size)
	if err != nil {
		return err
	}
	copy(dst[:], out)
	clear(out)
	return nil
}

func derive(dst *Secret, secret []byte, p Purpose, members ...string) error {
	if err := expand(dst, secret, info(p, members...)); err != nil {
		return fmt.Errorf("derive %s: %w", p, err)
	}
	return nil
}

func quoted(s string) string { return `"` + s + `"` }

// DomainSeed derives a domain's seed from the identity root (section 8).
func DomainSeed(dst *Secret, root []byte, d *envelope.DomainInfo) error {
	return derive(dst, root, PurposeDomain, "domainInfo", string(d.Canonical()))
}

// ActionSeed derives a capability's seed from the seed of the domain that the
// envelope names (section 9). It cannot tell whether the seed is that domain's;
// Capability can.
func ActionSeed(dst *Secret, domainSeed []byte, e *envelope.ActionEnvelope) error {
	return derive(dst, domainSeed, PurposeAction, "actionEnvelope", string(e.Canonical()))
}

// Capability derives the seed and address of an envelope from the root. The
// envelope must name the domain.
func Capability(dst *Secret, root []byte, d *envelope.DomainInfo, e *envelope.ActionEnvelope) (address string, err error) {
	if err := e.MatchDomain(d); err != nil {
		return "", fmt.Errorf("derive %s: %w", PurposeAction, err)
	}
	var domain Secret
	defer domain.Clear()
	if err := DomainSeed(&domain, root, d); err != nil {
		return "", err
	}
	if err := ActionSeed(dst, domain[:], e); err != nil {
		return "", err
	}
	return Address(dst[:])
}

// MintMaterial derives a domain's mint material from the root (section 12). It
// is good for every minted key of the domain, also those never issued.
func MintMaterial(dst *Secret, root []byte, domainHash string) error {
	if !envelope.IsHash(domainHash) {
		return fmt.Errorf("derive %s: domain hash is malformed", PurposeMintMaterial)
	}
	return derive(dst, root, PurposeMintMaterial, "domainHash", quoted(domainHash))
}

// RemoteMintSeed derives the seed of a minted capability from its domain's mint
// material (section 12), for a request that was verified.
func RemoteMintSeed(dst *Secret, mintMaterial []byte, m envelope.VerifiedMint) error {
	if m.Request() == nil {
		return fmt.Errorf("derive %s: the request was not verified", PurposeRemoteMint)
	}
	return derive(dst, mintMaterial, PurposeRemoteMint,
		"delegateHash", quoted(m.Delegate().Hash()), "mintRequest", string(m.Request().Body()))
}

// OwnerSeed derives the Ed25519 seed of an owner seat from the root.
func OwnerSeed(dst *Secret, root []byte, index uint32) error {
	return derive(dst, root, PurposeOwner, "index", fmt.Sprint(index))
}

// LogSeed derives the Ed25519 seed of the log key of one instance, whose id is
// 32 lower case hex digits, from the root.
func LogSeed(dst *Secret, root []byte, instance string) error {
	if !isInstance(instance) {
		return fmt.Errorf("derive %s: instance id is not 32 lower case hex digits", PurposeLog)
	}
	return derive(dst, root, PurposeLog, "instance", quoted(instance))
}

func isInstance(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return len(s) == 32
}

// StoreKey derives the key with which the store's permits carry a MAC.
func StoreKey(dst *Secret, root []byte) error {
	return derive(dst, root, PurposeStore)
}

// PublicKey returns the Ed25519 public key of an owner or log seed.
func PublicKey(seed []byte) (ed25519.PublicKey, error) {
	if len(seed) != Size {
		return nil, ErrSecretSize
	}
	private := ed25519.NewKeyFromSeed(seed)
	defer clear(private)
	pub := make(ed25519.PublicKey, ed25519.PublicKeySize)
	copy(pub, private[Size:])
	return pub, nil
}

// SignMessage signs a message with the Ed25519 key of an owner or log seed.
func SignMessage(seed, message []byte) ([]byte, error) {
	if len(seed) != Size {
		return nil, ErrSecretSize
	}
	private := ed25519.NewKeyFromSeed(seed)
	defer clear(private)
	return ed25519.Sign(private, message), nil
}

// retries bounds the search for a valid scalar (section 4).
const retries = 8

// withKey calls f with the secp256k1 key of a seed: the seed itself if it is a
// scalar between 0 and the group's order, else HKDF of it with info "key", and
// of that, at most 8 times. The key is wiped afterwards.
func withKey(seed []byte, f func(*secp256k1.PrivateKey)) error {
	if len(seed) != Size {
		return ErrSecretSize
	}
	var candidate Secret
	defer candidate.Clear()
	copy(candidate[:], seed)
	for try := 0; ; try++ {
		var key secp256k1.PrivateKey
		overflow := key.Key.SetBytes((*[Size]byte)(&candidate))
		if overflow == 0 && !key.Key.IsZero() {
			f(&key)
			key.Zero()
			return nil
		}
		key.Zero()
		if try == retries {
			return errors.New("seed gives no key")
		}
		if err := expand(&candidate, candidate[:], "key"); err != nil {
			return err
		}
	}
}

// Address returns the address of a seed (section 4).
func Address(seed []byte) (string, error) {
	var address string
	err := withKey(seed, func(k *secp256k1.PrivateKey) { address = envelope.AddressOf(k.PubKey()) })
	if err != nil {
		return "", fmt.Errorf("derive address: %w", err)
	}
	return address, nil
}

// SignDigest signs a 32-byte digest deterministically (RFC 6979, low s) with
// the key of a seed: 0x, r, s and a recovery byte of 27 or 28 (section 6). It
// looks at nothing but its arguments; only guarded code may call it.
func SignDigest(seed []byte, digest [32]byte) (string, error) {
	var compact [65]byte
	err := withKey(seed, func(k *secp256k1.PrivateKey) { copy(compact[:], ecdsa.SignCompact(k, digest[:], false)) })
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return envelope.SignatureOf(compact), nil
}

// Project derives a domain's public projection from the root. createdAt is RFC
// 3339 and metadata.
func Project(root []byte, d *envelope.DomainInfo, createdAt string) (*envelope.Projection, error) {
	var seed Secret
	defer seed.Clear()
	if err := DomainSeed(&seed, root, d); err != nil {
		return nil, err
	}
	address, err := Address(seed[:])
	if err != nil {
		return nil, err
	}
	return envelope.NewProjection(d, address, createdAt)
}
