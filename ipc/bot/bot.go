// Package bot is a bot's own key: how it is made and kept, and the two things that it
// signs for the vault, a MintRequest (AgentEnvelope section 12) and the vault's nonce.
//
// It holds no key of the vault's and can make none: what a bot's key signs is only
// ever a wish. The file is the bot's; whoever reads it is the bot.
package bot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/ipc/internal/secretfile"
)

// keyType is the type of the key's file.
const keyType = "agentvault.botKey"

// maxFile bounds the key's file, in bytes.
const maxFile = 4096

// Key is a bot's secp256k1 key. It prints and encodes as nothing but its address.
type Key struct {
	key     secp256k1.PrivateKey
	address string
}

// Errors of Load and Save.
var (
	ErrNoKey   = errors.New("there is no key in this file")
	ErrKeyFile = errors.New("the key's file must be a regular file of its owner with mode 0600 and hold a bot's key")
	ErrExists  = errors.New("a file of this name exists")
)

// New draws a key from random.
func New(random io.Reader) (*Key, error) {
	for range 8 {
		var raw [32]byte
		if _, err := io.ReadFull(random, raw[:]); err != nil {
			return nil, fmt.Errorf("draw a bot key: %w", err)
		}
		k, err := fromBytes(&raw)
		clear(raw[:])
		if err == nil {
			return k, nil
		}
	}
	return nil, errors.New("draw a bot key: the random source gives no key")
}

func fromBytes(raw *[32]byte) (*Key, error) {
	k := &Key{}
	if k.key.Key.SetBytes(raw) != 0 || k.key.Key.IsZero() {
		k.Wipe()
		return nil, ErrKeyFile
	}
	k.address = envelope.AddressOf(k.key.PubKey())
	return k, nil
}

// Address is the bot's address: 0x and 40 lower-case hex digits.
func (k *Key) Address() string { return k.address }

// Wipe overwrites the key; it is of no use afterwards.
func (k *Key) Wipe() { k.key.Zero() }

// Format implements fmt.Formatter, so that no verb prints the key.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "bot %s [secret]", k.address) }

// MarshalJSON refuses: Save is the only way out.
func (k *Key) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a bot's key is not written as JSON")
}

// sign is RFC 6979 with low s, over a digest of ours.
func (k *Key) sign(digest [32]byte) string {
	var compact [65]byte
	copy(compact[:], ecdsa.SignCompact(&k.key, digest[:], false))
	return envelope.SignatureOf(compact)
}

// Request signs a request of the given fields under a delegate. It checks its form and
// none of the delegate's bounds.
func (k *Key) Request(d *envelope.MintDelegate, f envelope.RequestFields) (*envelope.MintRequest, error) {
	q, err := envelope.NewMintRequest(k.address, d, f)
	if err != nil {
		return nil, err
	}
	return q.Signed(k.sign(q.Digest()))
}

// Save writes the key to a new file with mode 0600, in a folder that exists. It returns
// ErrExists where there is one.
func (k *Key) Save(path string) error {
	raw := k.key.Serialize()
	defer clear(raw)
	line := fmt.Appendf(nil, "{\"type\":%q,\"version\":1,\"address\":%q,\"key\":\"0x%x\"}\n", keyType, k.address, raw)
	defer clear(line)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return fmt.Errorf("write the bot key: %w", err)
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(path) // half a key is none
		return fmt.Errorf("write the bot key: %w", err)
	}
	return nil
}

// Load reads a key. Errors: ErrNoKey, ErrKeyFile, or the system's.
func Load(path string) (*Key, error) {
	raw, err := secretfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoKey
	case errors.Is(err, secretfile.ErrNotOurs):
		return nil, ErrKeyFile
	case err != nil:
		return nil, fmt.Errorf("read the bot key: %w", err)
	}
	defer clear(raw)
	return parse(raw)
}

// parse reads the key's file strictly.
func parse(raw []byte) (*Key, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil || len(raw) > maxFile {
		return nil, ErrKeyFile
	}
	version, _ := v.Get("version").Int()
	text := v.Get("key").Text()
	if v.Kind() != jcs.Object || v.Len() != 4 || v.Get("type").Text() != keyType || version != 1 || !envelope.IsHash(text) {
		return nil, ErrKeyFile
	}
	var secret [32]byte
	defer clear(secret[:])
	for i := range secret {
		secret[i] = digit(text[2+2*i])<<4 | digit(text[3+2*i])
	}
	k, err := fromBytes(&secret)
	if err != nil {
		return nil, err
	}
	if v.Get("address").Text() != k.address {
		k.Wipe()
		return nil, ErrKeyFile
	}
	return k, nil
}

// digit is the value of a lower-case hex digit.
func digit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
}

// Prove signs a vault's challenge, which the vault gave for this connection.
func (k *Key) Prove(c envelope.BotChallenge) string { return k.sign(c.Digest()) }
