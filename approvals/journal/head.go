package journal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nkeys"

	"vault/approvals/internal/strict"
	"vault/derive/tag"
)

// HeadType is the type member of every head.
const HeadType = "vault.logHead"

// maxHead bounds the canonical bytes of a head.
const maxHead = 4096

// SigningBytes is what the log key signs: prefix and canonical bytes without
// the signature. The texts of h must be those of a valid head; [ParseHead]
// refuses others.
func (h Head) SigningBytes() []byte { return h.append([]byte(tag.LogHead), "") }

// Canonical returns the canonical bytes of the head as it stands.
func (h Head) Canonical() []byte { return h.append(nil, h.Sig) }

func (h Head) append(b []byte, sig string) []byte {
	b = append(b, `{"at":`...)
	b = strconv.AppendInt(b, h.At, 10)
	b = append(b, `,"hash":"`...)
	b = append(b, h.Hash...)
	b = append(b, `","instance":"`...)
	b = append(b, h.Instance...)
	b = append(b, `","key":"`...)
	b = append(b, h.Key...)
	b = append(b, `","seq":`...)
	b = strconv.AppendUint(b, h.Seq, 10)
	if sig != "" {
		b = append(b, `,"sig":"`...)
		b = append(b, sig...)
		b = append(b, '"')
	}
	b = append(b, `,"type":"`+HeadType+`","v":1,"vault":"`...)
	b = append(b, h.Vault...)
	return append(b, `"}`...)
}

// ParseHead reads a signed head from its canonical bytes, strictly, and checks
// its signature with the key that it names itself: whose key that is, is for
// the caller to know. It does not block.
func ParseHead(raw []byte) (Head, error) {
	if len(raw) > maxHead {
		return Head{}, errors.New("parse log head: too long")
	}
	o, err := strict.Parse(raw)
	if err != nil {
		return Head{}, fmt.Errorf("parse log head: %w", err)
	}
	h := Head{
		Type:     o.Text("type", strict.Is(HeadType)),
		V:        int(o.Int("v", 1, 1)),
		Vault:    o.Text("vault", strict.ID),
		Instance: o.Text("instance", strict.ID),
		Seq:      uint64(o.Int("seq", 1, strict.MaxInt)),
		Hash:     o.Text("hash", strict.Hash),
		At:       o.Int("at", 0, strict.MaxInt),
		Key:      o.Text("key", strict.NKey),
		Sig:      o.Text("sig", strict.Some(86)),
	}
	if err := o.Done(); err != nil {
		return Head{}, fmt.Errorf("parse log head: %w", err)
	}
	key, err := nkeys.FromPublicKey(h.Key)
	if err != nil {
		return Head{}, errors.New("parse log head: the key is not an nkey")
	}
	sig, err := base64.RawURLEncoding.Strict().DecodeString(h.Sig)
	if err != nil || len(sig) != 64 {
		return Head{}, errors.New("parse log head: the signature is not base64url of 64 bytes")
	}
	if key.Verify(h.SigningBytes(), sig) != nil {
		return Head{}, errors.New("parse log head: the signature is not of this head by its key")
	}
	return h, nil
}
