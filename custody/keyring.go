package custody

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Keyring keeps small texts for this account. Its errors are the ErrKeyring… and
// ErrNo… values of this package.
type Keyring interface {
	// Get writes the item to dst and returns its length. It blocks until the
	// keyring answers or a deadline passes.
	Get(ctx context.Context, user string, dst *Secret) (int, error)
	// Set writes or replaces the item.
	Set(ctx context.Context, user string, value []byte) error
	// Delete removes the item; one that is not there is no error.
	Delete(ctx context.Context, user string) error
}

const (
	shareLen = 32
	// maxItem bounds what is read from the keyring; both items are shorter.
	maxItem = 256
)

// shareName names the share of the key: 32 random bytes in base64.
func shareName(id ID, no uint32) string { return fmt.Sprintf("%s.key.%d", id, no) }

// anchorName names the remembered head.
func anchorName(id ID) string { return id.String() + ".head" }

// readShare reads a share. A keyring that has none answers [ErrKeyMissing].
func readShare(ctx context.Context, k Keyring, name string) (*Secret, error) {
	text, err := NewSecret(maxItem)
	if err != nil {
		return nil, err
	}
	defer text.Destroy()
	n, err := k.Get(ctx, name, text)
	if errors.Is(err, ErrKeyringNotFound) {
		return nil, ErrKeyMissing
	}
	if err != nil {
		return nil, err
	}
	wide, err := NewSecret(base64.StdEncoding.DecodedLen(maxItem))
	if err != nil {
		return nil, err
	}
	if got, err := base64.StdEncoding.Strict().Decode(wide.Bytes(), text.Bytes()[:n]); err != nil || got != shareLen {
		wide.Destroy()
		return nil, ErrKeyringValue
	}
	wide.Shrink(shareLen)
	return wide, nil
}

// fileShare writes the vault's share to the keyring, where it has one.
func (v *Vault) fileShare(ctx context.Context) error {
	if v.share == nil {
		return nil
	}
	text, err := NewSecret(base64.StdEncoding.EncodedLen(shareLen))
	if err != nil {
		return err
	}
	defer text.Destroy()
	base64.StdEncoding.Encode(text.Bytes(), v.share.Bytes())
	return v.cfg.Keyring.Set(ctx, shareName(v.state.VaultID, v.header.shareNo), text.Bytes())
}

// firstAnchor writes the present state's head to the keyring, where one is used.
func (v *Vault) firstAnchor(ctx context.Context) error {
	if v.share == nil {
		return nil
	}
	if err := writeAnchor(ctx, v.cfg.Keyring, v.state.VaultID, v.anchor()); err != nil {
		return err
	}
	v.anchored = true
	return nil
}

// forgetItems removes the share, and the head where one was kept.
func (v *Vault) forgetItems(ctx context.Context) error {
	var errs []error
	if v.header.shareNo != 0 {
		errs = append(errs, v.cfg.Keyring.Delete(ctx, shareName(v.state.VaultID, v.header.shareNo)))
	}
	if v.anchored {
		errs = append(errs, v.cfg.Keyring.Delete(ctx, anchorName(v.state.VaultID)))
	}
	return errors.Join(errs...)
}

// anchor is what the keyring remembers of a vault, so that older files are noticed.
type anchor struct {
	generation uint64
	log        Head
}

// after says whether a file whose own anchor is file is older than a, or another
// branch of the same history.
func (a anchor) after(file anchor) bool {
	switch {
	case a.generation > file.generation, a.log.Seq > file.log.Seq:
		return true
	case a.generation == file.generation && a != file:
		return true
	}
	return a.log.Seq == file.log.Seq && a.log.Hash != file.log.Hash
}

const anchorVersion = "1"

// text is the item: version, generation, sequence, hash, one space between.
func (a anchor) text() string {
	return fmt.Sprintf("%s %d %d %x", anchorVersion, a.generation, a.log.Seq, a.log.Hash[:])
}

func parseAnchor(s string) (anchor, error) {
	f := strings.Split(s, " ")
	if len(f) != 4 || f[0] != anchorVersion {
		return anchor{}, ErrKeyringValue
	}
	var a anchor
	var err1, err2 error
	a.generation, err1 = strconv.ParseUint(f[1], 10, 64)
	a.log.Seq, err2 = strconv.ParseUint(f[2], 10, 64)
	b, err3 := hex.DecodeString(f[3])
	if errors.Join(err1, err2, err3) != nil || copy(a.log.Hash[:], b) != len(a.log.Hash) || a.text() != s {
		return anchor{}, ErrKeyringValue
	}
	return a, nil
}

func readAnchor(ctx context.Context, k Keyring, id ID) (anchor, error) {
	if k == nil {
		return anchor{}, ErrKeyringNeeded
	}
	text, err := NewSecret(maxItem)
	if err != nil {
		return anchor{}, err
	}
	defer text.Destroy()
	n, err := k.Get(ctx, anchorName(id), text)
	if err != nil {
		return anchor{}, err
	}
	return parseAnchor(string(text.Bytes()[:n]))
}

func writeAnchor(ctx context.Context, k Keyring, id ID, a anchor) error {
	return k.Set(ctx, anchorName(id), []byte(a.text()))
}
