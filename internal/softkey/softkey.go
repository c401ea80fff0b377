// Package softkey is a passkey in software, for tests: it registers and asserts as an
// authenticator and a browser together would, and can be told to do so
// wrongly. It is linked into neither program, and what it answers looks like a real
// authenticator's to any verifier: never enrol one where it counts.
package softkey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// Flags of authenticator data.
const (
	UP = 1 << 0
	UV = 1 << 2
	BE = 1 << 3
	BS = 1 << 4
	AT = 1 << 6
)

// Key is one passkey. Its fields may be changed between two answers.
type Key struct {
	ID      []byte
	Private *ecdsa.PrivateKey
	Flags   byte   // of the next answers; UP|UV at first
	Counter uint32 // of the next answer; 0 stays 0
	// Transports and Attachment are what the browser says of it at registration.
	Transports []string
	Attachment string
	// Type, Origin and RPID, where set, are told instead of the right ones.
	Type, Origin, RPID string
	CrossOrigin        bool
	Challenge          string
}

// New makes a security key that counts.
func New() *Key {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness: no test can go on
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &Key{ID: id, Private: key, Flags: UP | UV, Counter: 1, Transports: []string{"usb"}, Attachment: "cross-platform"}
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// COSE is the public key as authenticators write it.
func (k *Key) COSE() []byte {
	point, err := k.Private.PublicKey.Bytes()
	if err != nil {
		panic(err) // a key that was generated has a point
	}
	return slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33], []byte{0x22, 0x58, 32}, point[33:])
}

func (k *Key) data(rpID string, flags byte) []byte {
	if k.RPID != "" {
		rpID = k.RPID
	}
	hash := sha256.Sum256([]byte(rpID))
	out := append(hash[:], flags)
	return binary.BigEndian.AppendUint32(out, k.Counter)
}

func (k *Key) client(typ, challenge, origin string) []byte {
	pick := func(own, right string) string {
		if own != "" {
			return own
		}
		return right
	}
	return fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":%v}`,
		pick(k.Type, typ), pick(k.Challenge, challenge), pick(k.Origin, origin), k.CrossOrigin)
}

func (k *Key) count() {
	if k.Counter > 0 {
		k.Counter++
	}
}

// Register answers a registration as the ceremony page sends it. Challenge is base64url.
func (k *Key) Register(challenge, origin, rpID string) []byte {
	data := append(k.data(rpID, k.Flags|AT), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(k.ID))), k.ID...)
	data = append(data, k.COSE()...)
	k.count()
	transports := k.Transports
	if transports == nil {
		transports = []string{}
	}
	return object(map[string]any{
		"authenticator_data": text(data), "client_data_json": text(k.client("webauthn.create", challenge, origin)),
		"transports": transports, "attachment": k.Attachment,
	})
}

// Assert answers a confirmation as the ceremony page sends it. Challenge is base64url.
func (k *Key) Assert(challenge, origin, rpID string) []byte {
	data, client := k.data(rpID, k.Flags), k.client("webauthn.get", challenge, origin)
	k.count()
	sum := sha256.Sum256(client)
	digest := sha256.Sum256(append(slices.Clone(data), sum[:]...))
	sig, err := ecdsa.SignASN1(rand.Reader, k.Private, digest[:])
	if err != nil {
		panic(err)
	}
	return object(map[string]any{"id": text(k.ID), "authenticator_data": text(data), "client_data_json": text(client), "signature": text(sig)})
}

func object(v map[string]any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and lists of texts
	}
	return b
}
