package custody

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// The sealed file, all numbers big-endian:
//
//	 0  magic "AVSEALED"
//	 8  format, 2 bytes
//	10  protection, 1 byte: 1 keyring and passphrase, 2 passphrase, 3 keyring
//	11  flags, 1 byte: bit 0 demo
//	12  vault id, 16 bytes
//	28  created at, 8 bytes, milliseconds since epoch
//	36  root fingerprint, 8 bytes
//	44  Argon2id time, 4 bytes; memory in KiB, 4 bytes; threads, 1 byte
//	53  number of the keyring share, 3 bytes
//	56  salt, 16 bytes
//	72  nonce, 24 bytes
//	96  length of the box, 4 bytes
//	100 box: XChaCha20-Poly1305 of root and JSON, with bytes 0 to 99 as associated data
//	end SHA-256 of everything before it
//
// The digest needs no key. It tells a damaged file from a wrong passphrase, and
// it stays where it is in every later format, as magic and format do.
const (
	magic      = "AVSEALED"
	formatNow  = 1
	headerLen  = 100
	saltLen    = 16
	nonceLen   = 24
	tagLen     = 16
	rootLen    = 32
	sumLen     = sha256.Size
	maxFile    = 1 << 20
	flagDemo   = 1
	minFile    = headerLen + rootLen + tagLen + sumLen
	minAnyFile = len(magic) + 2 + sumLen // of any format
)

// Fingerprint names a root without giving anything of it away: 8 bytes of
// HKDF-SHA256 over the root.
type Fingerprint [8]byte

// Header is the part of the sealed file that anybody who has the file can read.
// It is authenticated only once the file was opened.
type Header struct {
	Format      uint16
	Protection  Protection
	Demo        bool
	VaultID     ID
	CreatedAt   int64 // milliseconds since epoch
	Fingerprint Fingerprint
	Params      Params // zero where the protection uses no passphrase
	shareNo     uint32
	salt        [saltLen]byte
}

var protectionCodes = map[Protection]byte{KeyringAndPassphrase: 1, PassphraseOnly: 2, KeyringOnly: 3}

// sealedFile is a parsed file. Its slices point into the bytes that were parsed.
type sealedFile struct {
	Header
	aad   []byte
	nonce []byte
	box   []byte
}

// parseSealed reads the layout without any key. Bounds of the passphrase
// function are checked here, before it can run.
func parseSealed(b []byte) (sealedFile, error) {
	var f sealedFile
	if len(b) < minAnyFile || len(b) > maxFile || string(b[:len(magic)]) != magic {
		return f, fmt.Errorf("%w: not a sealed file of a possible size", ErrDamaged)
	}
	if sum := sha256.Sum256(b[:len(b)-sumLen]); !bytes.Equal(sum[:], b[len(b)-sumLen:]) {
		return f, fmt.Errorf("%w: the digest differs", ErrDamaged)
	}
	f.Format = binary.BigEndian.Uint16(b[8:])
	if f.Format > formatNow {
		return f, ErrNewerFormat
	}
	if f.Format != formatNow || len(b) < minFile {
		return f, fmt.Errorf("%w: no such format", ErrDamaged)
	}
	for p, code := range protectionCodes {
		if code == b[10] {
			f.Protection = p
		}
	}
	if f.Protection == "" || b[11]&^flagDemo != 0 {
		return f, fmt.Errorf("%w: unknown protection or flag", ErrDamaged)
	}
	f.Demo = b[11]&flagDemo != 0
	copy(f.VaultID[:], b[12:])
	f.CreatedAt = int64(binary.BigEndian.Uint64(b[28:]))
	copy(f.Fingerprint[:], b[36:])
	f.Params = Params{Time: binary.BigEndian.Uint32(b[44:]), MemoryKiB: binary.BigEndian.Uint32(b[48:]), Threads: b[52]}
	f.shareNo = uint32(b[53])<<16 | uint32(b[54])<<8 | uint32(b[55])
	copy(f.salt[:], b[56:])
	if f.Protection.UsesPassphrase() {
		if err := f.Params.Check(); err != nil {
			return f, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	} else if f.Params != (Params{}) {
		return f, fmt.Errorf("%w: a passphrase function without a passphrase", ErrDamaged)
	}
	if f.Protection.UsesKeyring() == (f.shareNo == 0) {
		return f, fmt.Errorf("%w: keyring share and protection disagree", ErrDamaged)
	}
	if f.CreatedAt < 0 || uint64(binary.BigEndian.Uint32(b[96:])) != uint64(len(b)-headerLen-sumLen) {
		return f, fmt.Errorf("%w: impossible time or length", ErrDamaged)
	}
	f.aad = b[:headerLen]
	f.nonce = b[72 : 72+nonceLen]
	f.box = b[headerLen : len(b)-sumLen]
	return f, nil
}

// encodeHeader writes the first 100 bytes for a box of boxLen bytes.
func encodeHeader(h Header, nonce []byte, boxLen int) []byte {
	b := make([]byte, 0, headerLen)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint16(b, formatNow)
	var flags byte
	if h.Demo {
		flags |= flagDemo
	}
	b = append(b, protectionCodes[h.Protection], flags)
	b = append(b, h.VaultID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(h.CreatedAt))
	b = append(b, h.Fingerprint[:]...)
	b = binary.BigEndian.AppendUint32(b, h.Params.Time)
	b = binary.BigEndian.AppendUint32(b, h.Params.MemoryKiB)
	b = append(b, h.Params.Threads, byte(h.shareNo>>16), byte(h.shareNo>>8), byte(h.shareNo))
	b = append(b, h.salt[:]...)
	b = append(b, nonce...)
	return binary.BigEndian.AppendUint32(b, uint32(boxLen))
}

// inside is the JSON that is sealed after the root.
type inside struct {
	InstanceID     ID                `json:"instance_id"`
	RestoredAt     int64             `json:"restored_at"`
	Generation     uint64            `json:"generation"`
	Anchored       bool              `json:"anchored"` // the keyring was given a head
	Place          Hash              `json:"place"`
	Log            Head              `json:"log"`
	WordsShown     bool              `json:"words_shown"`
	FirstPasskeyAt int64             `json:"first_passkey_at"`
	Passkeys       []json.RawMessage `json:"passkeys,omitempty"`
	Policy         json.RawMessage   `json:"policy,omitempty"`
}

// parseInside reads the JSON strictly: no unknown member, nothing after it.
func parseInside(b []byte) (inside, error) {
	var in inside
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, fmt.Errorf("%w: the sealed structure does not parse", ErrDamaged)
	}
	if _, err := d.Token(); err != io.EOF {
		return in, fmt.Errorf("%w: data after the sealed structure", ErrDamaged)
	}
	return in, nil
}
