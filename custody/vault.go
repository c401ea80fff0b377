package custody

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// Config is what a vault is opened with. All members but Keyring and Evidence
// are needed; Keyring is needed where the protection uses one.
type Config struct {
	Dir     string           // vault folder; made with mode 0700 where it is absent
	Rand    io.Reader        // crypto/rand.Reader outside tests
	Now     func() time.Time // the clock
	Keyring Keyring          // nil: there is none
	KDF     KDF              // the passphrase function
	// Evidence names files of the folder that only a vault leaves behind, such
	// as the store. Where one exists without a sealed file no root is made.
	Evidence []string
}

// Request is how a root is to be sealed.
type Request struct {
	Protection Protection
	Passphrase *Secret // stays the caller's; 8 to 1024 bytes; nil where the protection uses none
	Params     Params  // cost of the passphrase function; zero: the floor
	Demo       bool    // create and restore only: a throw-away vault
}

// Vault is an opened vault: the root, and what its sealing key is made from, in
// secret memory, with the state that was sealed beside them. Its methods may be
// called by several goroutines; those that write block until the file is
// durable and the keyring has answered.
type Vault struct {
	mu       sync.RWMutex
	cfg      Config
	root     *Secret // nil once locked
	pass     *Secret // result of the passphrase function, or nil
	share    *Secret // share from the keyring, or nil
	header   Header
	state    State
	anchored bool  // the keyring was given a head under this vault id
	doubt    error // why nothing may be written
}

// Create makes a root, once, and seals it. It refuses with [ErrExists],
// [ErrSealedMissing], [ErrDamaged] or [ErrNewerFormat] wherever something of a
// vault is in the folder, whatever state it is in, and with a keyring error
// where the protection uses a keyring that does not take its share.
func Create(ctx context.Context, cfg Config, req Request) (*Vault, error) {
	found, err := Look(cfg.Dir, cfg.Evidence...)
	if err != nil {
		return nil, fmt.Errorf("create vault: %w", err)
	}
	if err := found.creatable(); err != nil {
		return nil, fmt.Errorf("create vault: %w", err)
	}
	root, err := NewSecret(rootLen)
	if err != nil {
		return nil, fmt.Errorf("create vault: %w", err)
	}
	defer root.Destroy()
	if _, err := io.ReadFull(cfg.Rand, root.Bytes()); err != nil {
		return nil, fmt.Errorf("create vault: make root: %w", err)
	}
	if err := CheckRoot(root.Bytes()); err != nil {
		return nil, fmt.Errorf("create vault: %w", err)
	}
	v, err := begin(ctx, cfg, req, root, State{}, true)
	if err != nil {
		return nil, fmt.Errorf("create vault: %w", err)
	}
	return v, nil
}

// Restore seals a root that the owner brought, as a new instance with an empty
// log. root stays the caller's. Where the folder holds a sealed file already it
// must be of the same root ([ErrOtherRoot]) or damaged; it is kept beside the new one.
func Restore(ctx context.Context, cfg Config, req Request, root *Secret) (*Vault, error) {
	if root.Len() != rootLen {
		return nil, errors.New("restore vault: a root is 32 bytes")
	}
	if err := CheckRoot(root.Bytes()); err != nil {
		return nil, fmt.Errorf("restore vault: %w", err)
	}
	if err := setAside(cfg, root); err != nil {
		return nil, fmt.Errorf("restore vault: %w", err)
	}
	// Whoever restores has the words.
	v, err := begin(ctx, cfg, req, root, State{RestoredAt: cfg.Now().UnixMilli(), WordsShown: true}, false)
	if err != nil {
		return nil, fmt.Errorf("restore vault: %w", err)
	}
	return v, nil
}

// setAside makes room for a restored root: a sealed file of the same root or a
// damaged one stays under another name.
func setAside(cfg Config, root *Secret) error {
	found, err := Look(cfg.Dir, cfg.Evidence...)
	if err != nil {
		return err
	}
	switch found.State {
	case Newer:
		return ErrNewerFormat
	case Present:
		if found.Header.Fingerprint != fingerprint(root.Bytes()) {
			return ErrOtherRoot
		}
	case None, Missing:
		return nil
	}
	return keepAside(cfg.Dir, cfg.Now().UnixMilli())
}

// begin starts an instance: new ids, new share, generation 1, an empty log. The
// keyring is written before the file, so that a crash leaves either no file or
// one whose items exist.
func begin(ctx context.Context, cfg Config, req Request, root *Secret, keep State, first bool) (*Vault, error) {
	v := &Vault{cfg: cfg, state: keep}
	v.state.Log = Head{}
	v.state.Demo = req.Demo
	ok := false
	defer func() {
		if !ok {
			v.wipe()
		}
	}()
	var err error
	if v.root, err = NewSecret(rootLen); err != nil {
		return nil, err
	}
	copy(v.root.Bytes(), root.Bytes())
	v.header.Fingerprint = fingerprint(v.root.Bytes())
	if err := v.protect(ctx, req); err != nil {
		return nil, err
	}
	if err := v.restart(ctx, first); err != nil {
		return nil, err
	}
	ok = true
	return v, nil
}

// restart gives the vault new ids and writes it for the first time under them.
// first says that no sealed file may be there yet.
func (v *Vault) restart(ctx context.Context, first bool) error {
	var err error
	if v.state.VaultID, err = newID(v.cfg.Rand); err != nil {
		return err
	}
	if v.state.InstanceID, err = newID(v.cfg.Rand); err != nil {
		return err
	}
	v.state.CreatedAt = v.cfg.Now().UnixMilli()
	v.state.Generation = 1
	v.state.Log = Head{}
	v.anchored = false
	// The seal names the folder, so it has to be there.
	if err := prepareDir(v.cfg.Dir); err != nil {
		return err
	}
	if err := v.fileShare(ctx); err != nil {
		return err
	}
	if err := v.firstAnchor(ctx); err != nil {
		return err
	}
	b, err := v.seal()
	if err != nil {
		return err
	}
	// Where this fails the new file may still have reached the disk, so the
	// keyring keeps its share.
	return replaceFile(realDisk{}, v.cfg.Dir, b, first)
}

// Open reads the sealed file and opens it with what its protection asks for.
// passphrase stays the caller's and may be nil where none is used.
//
// A vault whose files are older than the keyring remembers, whose head is gone
// from the keyring, or whose folder was copied, opens all the same, and only for
// reading: [Vault.Doubt] says why.
func Open(ctx context.Context, cfg Config, passphrase *Secret) (*Vault, error) {
	file, err := readSealed(cfg.Dir, cfg.Evidence...)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	v, err := openBytes(ctx, cfg, file, passphrase)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	return v, nil
}

func openBytes(ctx context.Context, cfg Config, b []byte, passphrase *Secret) (*Vault, error) {
	f, err := parseSealed(b)
	if err != nil {
		return nil, err
	}
	v := &Vault{cfg: cfg, header: f.Header}
	ok := false
	defer func() {
		if !ok {
			v.wipe()
		}
	}()
	if f.Protection.UsesPassphrase() && passphrase.Len() == 0 {
		return nil, ErrPassphraseNeeded
	}
	// The keyring first: where it does not answer, nobody waits a second to be told so.
	if f.Protection.UsesKeyring() {
		if cfg.Keyring == nil {
			return nil, ErrKeyringNeeded
		}
		if v.share, err = readShare(ctx, cfg.Keyring, shareName(f.VaultID, f.shareNo)); err != nil {
			return nil, err
		}
	}
	if f.Protection.UsesPassphrase() {
		if v.pass, err = NewSecret(kdfKeyLen); err != nil {
			return nil, err
		}
		if err := cfg.KDF.Derive(ctx, f.Params, passphrase.Bytes(), f.salt, v.pass); err != nil {
			return nil, err
		}
	}
	in, err := v.unseal(f)
	if err != nil {
		return nil, err
	}
	v.anchored = in.Anchored
	v.state = State{
		VaultID: f.VaultID, InstanceID: in.InstanceID, CreatedAt: f.CreatedAt, RestoredAt: in.RestoredAt,
		Demo: f.Demo, Protection: f.Protection, Generation: in.Generation, Log: in.Log, WordsShown: in.WordsShown,
		FirstPasskeyAt: in.FirstPasskeyAt, Passkeys: in.Passkeys, Policy: in.Policy,
	}
	if err := v.examine(ctx, in.Place); err != nil {
		return nil, err
	}
	ok = true
	return v, nil
}

// examine looks for reasons to doubt the files. Only a keyring that does not
// answer is an error.
func (v *Vault) examine(ctx context.Context, place Hash) error {
	here, err := placeOf(v.cfg.Dir, v.state.VaultID)
	if err != nil {
		return err
	}
	var doubts []error
	if here != place {
		doubts = append(doubts, ErrMoved)
	}
	if v.anchored {
		kept, err := readAnchor(ctx, v.cfg.Keyring, v.state.VaultID)
		switch {
		case errors.Is(err, ErrKeyringNotFound):
			doubts = append(doubts, ErrAnchorMissing)
		case err != nil:
			return err
		case kept.after(v.anchor()):
			doubts = append(doubts, ErrRolledBack)
		}
	}
	v.doubt = errors.Join(doubts...)
	return nil
}

// anchor is what the keyring is to remember of the present state.
func (v *Vault) anchor() anchor { return anchor{v.state.Generation, v.state.Log} }

// State returns a copy of what is sealed beside the root.
func (v *Vault) State() State {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.state.Clone()
}

// Fingerprint names the root.
func (v *Vault) Fingerprint() Fingerprint { return v.header.Fingerprint }

// Anchored says whether the keyring remembers a head for this vault.
func (v *Vault) Anchored() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.anchored
}

// Doubt says why this vault may only be read: nil, or an error that is
// [ErrRolledBack], [ErrAnchorMissing] or [ErrMoved], or several of them.
// [Vault.NewInstance] ends it.
func (v *Vault) Doubt() error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.doubt
}

// WithRoot runs f with the 32 bytes of the root, inside [Do]. f keeps no
// reference to them and starts no goroutine that uses them. Several calls may
// run at once; [Vault.Lock] waits for them. It returns [ErrLocked] or f's error.
// A vault in doubt gives its root too: whoever signs asks [Vault.Doubt] first.
func (v *Vault) WithRoot(f func(root []byte) error) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.root == nil {
		return ErrLocked
	}
	var err error
	Do(func() { err = f(v.root.Bytes()) })
	return err
}

// Update changes the state, seals it as the next generation and anchors it in
// the keyring, at once. change gets a copy; what it does to custody's own
// members is dropped. On [ErrAnchorNotKept] the file has the change and the
// keyring remembers an older head; on any other error nothing was changed.
func (v *Vault) Update(ctx context.Context, change func(*State)) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.writable(); err != nil {
		return fmt.Errorf("update sealed state: %w", err)
	}
	next := v.state.Clone()
	change(&next)
	s := v.state
	next.VaultID, next.InstanceID, next.CreatedAt, next.RestoredAt = s.VaultID, s.InstanceID, s.CreatedAt, s.RestoredAt
	next.Demo, next.Protection, next.Generation = s.Demo, s.Protection, s.Generation
	if next.Log.Seq < s.Log.Seq {
		return errors.New("update sealed state: the head is older than the one before")
	}
	if err := v.advance(ctx, next); err != nil {
		return fmt.Errorf("update sealed state: %w", err)
	}
	return nil
}

// Anchor remembers the log's head in the sealed file and in the keyring. Errors
// are those of [Vault.Update].
func (v *Vault) Anchor(ctx context.Context, head Head) error {
	return v.Update(ctx, func(s *State) { s.Log = head })
}

// advance writes next as the generation after this one: first the file, then
// the keyring. A crash in between leaves a file that is newer than the keyring
// remembers, which is not a rollback.
func (v *Vault) advance(ctx context.Context, next State) error {
	if err := next.check(); err != nil {
		return err
	}
	old := v.state
	next.Generation++
	v.state = next
	if err := v.write(); err != nil {
		v.state = old
		return err
	}
	if !v.anchored {
		return nil
	}
	if err := writeAnchor(ctx, v.cfg.Keyring, v.state.VaultID, v.anchor()); err != nil {
		return fmt.Errorf("%w: %w", ErrAnchorNotKept, err)
	}
	return nil
}

// ChangeProtection seals the root with a new key: a new salt, a new share, the
// passphrase of req. Choosing the keyring alone drops the passkeys. On any error
// but [ErrAnchorNotKept] and [ErrShareLeft] what opened the vault before still does.
func (v *Vault) ChangeProtection(ctx context.Context, req Request) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.change(ctx, req); err != nil {
		return fmt.Errorf("change protection: %w", err)
	}
	return nil
}

func (v *Vault) change(ctx context.Context, req Request) error {
	if err := v.writable(); err != nil {
		return err
	}
	next := &Vault{cfg: v.cfg, root: v.root, header: v.header, state: v.state.Clone(), anchored: v.anchored}
	ok := false
	defer func() {
		if !ok {
			next.pass.Destroy()
			next.share.Destroy()
		}
	}()
	if err := next.protect(ctx, req); err != nil {
		return err
	}
	if req.Protection == KeyringOnly {
		next.state.Passkeys = nil
	}
	if err := next.fileShare(ctx); err != nil {
		return err
	}
	if req.Protection.UsesKeyring() && !v.anchored {
		// The file in force does not ask the keyring, so its head may come first.
		next.state.Generation++
		err := next.firstAnchor(ctx)
		next.state.Generation--
		if err != nil {
			return err
		}
	}
	if !req.Protection.UsesKeyring() {
		next.anchored = false
	}
	err := next.advance(ctx, next.state)
	if err != nil && !errors.Is(err, ErrAnchorNotKept) {
		return err
	}
	ok = true
	old := Vault{cfg: v.cfg, header: v.header, state: v.state, anchored: v.anchored && !next.anchored}
	v.pass.Destroy()
	v.share.Destroy()
	v.pass, v.share, v.header, v.state, v.anchored = next.pass, next.share, next.header, next.state, next.anchored
	if left := old.forgetItems(ctx); left != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", ErrShareLeft, left))
	}
	return err
}

// NewInstance ends a doubt, or starts over after a copy: new ids, a new share
// under a name of its own, an empty log, generation 1. The keyring items of the
// instance before are left: another copy of the folder may live on them.
// passphrase is not asked again.
func (v *Vault) NewInstance(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.root == nil {
		return fmt.Errorf("start new instance: %w", ErrLocked)
	}
	next := &Vault{cfg: v.cfg, root: v.root, pass: v.pass, header: v.header, state: v.state.Clone()}
	if v.share != nil {
		if err := next.newShare(); err != nil {
			return fmt.Errorf("start new instance: %w", err)
		}
	}
	if err := next.restart(ctx, false); err != nil {
		next.share.Destroy()
		return fmt.Errorf("start new instance: %w", err)
	}
	v.share.Destroy()
	v.share, v.header, v.state, v.anchored, v.doubt = next.share, next.header, next.state, next.anchored, nil
	return nil
}

// Portable returns the vault sealed under a passphrase alone, for a backup. It
// opens with [RestorePortable] and nowhere else.
func (v *Vault) Portable(ctx context.Context, passphrase *Secret, params Params) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.root == nil {
		return nil, fmt.Errorf("seal for a backup: %w", ErrLocked)
	}
	c := &Vault{cfg: v.cfg, root: v.root, header: v.header, state: v.state.Clone()}
	defer func() { c.pass.Destroy() }()
	if err := c.protect(ctx, Request{Protection: PassphraseOnly, Passphrase: passphrase, Params: params}); err != nil {
		return nil, fmt.Errorf("seal for a backup: %w", err)
	}
	b, err := c.seal()
	if err != nil {
		return nil, fmt.Errorf("seal for a backup: %w", err)
	}
	return b, nil
}

// RestorePortable opens what [Vault.Portable] returned and seals it here, as a
// new instance that keeps passkeys and policy. What it refuses is what [Open]
// and [Restore] refuse.
func RestorePortable(ctx context.Context, cfg Config, req Request, sealed []byte, passphrase *Secret) (*Vault, error) {
	f, err := parseSealed(sealed)
	if err != nil {
		return nil, fmt.Errorf("restore backup: %w", err)
	}
	if f.Protection != PassphraseOnly {
		return nil, errors.New("restore backup: it is not sealed under a passphrase alone")
	}
	if err := prepareDir(cfg.Dir); err != nil {
		return nil, fmt.Errorf("restore backup: %w", err)
	}
	from, err := openBytes(ctx, cfg, sealed, passphrase)
	if err != nil {
		return nil, fmt.Errorf("restore backup: %w", err)
	}
	defer from.Lock()
	if err := setAside(cfg, from.root); err != nil {
		return nil, fmt.Errorf("restore backup: %w", err)
	}
	keep := from.state
	keep.RestoredAt = cfg.Now().UnixMilli()
	if req.Protection == KeyringOnly {
		keep.Passkeys = nil
	}
	v, err := begin(ctx, cfg, req, from.root, keep, false)
	if err != nil {
		return nil, fmt.Errorf("restore backup: %w", err)
	}
	return v, nil
}

// Lock wipes root, passphrase result and share, waits for [Vault.WithRoot] calls
// that are running, and collects. The state stays readable. A second call only
// collects.
func (v *Vault) Lock() {
	v.mu.Lock()
	v.wipe()
	v.mu.Unlock()
	Collect()
}

func (v *Vault) wipe() {
	v.root.Destroy()
	v.pass.Destroy()
	v.share.Destroy()
	v.root, v.pass, v.share = nil, nil, nil
}

// writable says whether anything may be written.
func (v *Vault) writable() error {
	if v.root == nil {
		return ErrLocked
	}
	return v.doubt
}

// protect makes new key parts for req: salt and passphrase result, and a share
// with the next number. Nothing is written yet.
func (v *Vault) protect(ctx context.Context, req Request) error {
	if _, ok := protectionCodes[req.Protection]; !ok {
		return errors.New("unknown protection")
	}
	v.pass, v.share = nil, nil
	v.state.Protection = req.Protection
	v.header.Params = Params{}
	if _, err := io.ReadFull(v.cfg.Rand, v.header.salt[:]); err != nil {
		return fmt.Errorf("make salt: %w", err)
	}
	if req.Protection.UsesPassphrase() {
		if n := req.Passphrase.Len(); n < minPassLen || n > maxPassLen {
			return ErrPassphraseNeeded
		}
		if req.Params == (Params{}) {
			req.Params = Floor
		}
		if err := req.Params.Check(); err != nil {
			return err
		}
		v.header.Params = req.Params
		var err error
		if v.pass, err = NewSecret(kdfKeyLen); err != nil {
			return err
		}
		if err := v.cfg.KDF.Derive(ctx, req.Params, req.Passphrase.Bytes(), v.header.salt, v.pass); err != nil {
			return err
		}
	}
	if !req.Protection.UsesKeyring() {
		v.header.shareNo = 0
		return nil
	}
	if v.cfg.Keyring == nil {
		return ErrKeyringNeeded
	}
	return v.newShare()
}

// newShare makes a share under a random number that the share in force does not
// have, so that filing it can never overwrite one that a file on disk needs.
func (v *Vault) newShare() error {
	var b [3]byte
	for {
		if _, err := io.ReadFull(v.cfg.Rand, b[:]); err != nil {
			return fmt.Errorf("make key share: %w", err)
		}
		if no := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]); no != 0 && no != v.header.shareNo {
			v.header.shareNo = no
			break
		}
	}
	var err error
	v.share, err = randomSecret(v.cfg.Rand, shareLen)
	return err
}

// sealingKey writes the key of the present parts to out. The caller is inside [Do].
func (v *Vault) sealingKey(out *Secret) error {
	parts, err := NewSecret(kdfKeyLen + shareLen)
	if err != nil {
		return err
	}
	defer parts.Destroy()
	n := copy(parts.Bytes(), v.pass.Bytes())
	n += copy(parts.Bytes()[n:], v.share.Bytes())
	key, err := hkdf.Key(sha256.New, parts.Bytes()[:n], v.header.salt[:], "agent-vault sealed file v1", out.Len())
	if err != nil {
		return err
	}
	copy(out.Bytes(), key)
	clear(key)
	return nil
}

// seal returns the file for the present state.
func (v *Vault) seal() ([]byte, error) {
	place, err := placeOf(v.cfg.Dir, v.state.VaultID)
	if err != nil {
		return nil, err
	}
	s := v.state
	text, err := json.Marshal(inside{
		InstanceID: s.InstanceID, RestoredAt: s.RestoredAt, Generation: s.Generation, Anchored: v.anchored, Place: place,
		Log: s.Log, WordsShown: s.WordsShown, FirstPasskeyAt: s.FirstPasskeyAt, Passkeys: s.Passkeys, Policy: s.Policy,
	})
	if err != nil {
		return nil, fmt.Errorf("seal state: %w", err)
	}
	v.header.Format, v.header.Protection, v.header.Demo = formatNow, s.Protection, s.Demo
	v.header.VaultID, v.header.CreatedAt = s.VaultID, s.CreatedAt
	var nonce [nonceLen]byte
	if _, err := io.ReadFull(v.cfg.Rand, nonce[:]); err != nil {
		return nil, fmt.Errorf("make nonce: %w", err)
	}
	plain, err := NewSecret(rootLen + len(text))
	if err != nil {
		return nil, err
	}
	defer plain.Destroy()
	copy(plain.Bytes(), v.root.Bytes())
	copy(plain.Bytes()[rootLen:], text)
	key, err := NewSecret(chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	defer key.Destroy()
	head := encodeHeader(v.header, nonce[:], plain.Len()+tagLen)
	out := make([]byte, headerLen, headerLen+plain.Len()+tagLen+sumLen)
	copy(out, head)
	Do(func() {
		if err = v.sealingKey(key); err != nil {
			return
		}
		aead, e := chacha20poly1305.NewX(key.Bytes())
		if e != nil {
			err = e
			return
		}
		out = aead.Seal(out, nonce[:], plain.Bytes(), head)
	})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(out)
	if out = append(out, sum[:]...); len(out) > maxFile {
		return nil, ErrTooLarge
	}
	return out, nil
}

// unseal opens the box of f into v.root and returns the rest.
func (v *Vault) unseal(f sealedFile) (inside, error) {
	plain, err := NewSecret(len(f.box))
	if err != nil {
		return inside{}, err
	}
	defer plain.Destroy()
	key, err := NewSecret(chacha20poly1305.KeySize)
	if err != nil {
		return inside{}, err
	}
	defer key.Destroy()
	var n int
	Do(func() {
		if err = v.sealingKey(key); err != nil {
			return
		}
		aead, e := chacha20poly1305.NewX(key.Bytes())
		if e != nil {
			err = e
			return
		}
		opened, e := aead.Open(plain.Bytes()[:0], f.nonce, f.box, f.aad)
		if e != nil {
			err = ErrWrongKey
			if f.Protection.UsesPassphrase() {
				err = ErrWrongPassphrase
			}
			return
		}
		n = len(opened)
	})
	if err != nil {
		return inside{}, err
	}
	in, err := parseInside(plain.Bytes()[rootLen:n])
	if err != nil {
		return inside{}, err
	}
	if v.root, err = NewSecret(rootLen); err != nil {
		return inside{}, err
	}
	copy(v.root.Bytes(), plain.Bytes())
	if fingerprint(v.root.Bytes()) != f.Fingerprint {
		return inside{}, fmt.Errorf("%w: the root has another fingerprint", ErrDamaged)
	}
	return in, nil
}

// write seals the present state and replaces the file.
func (v *Vault) write() error {
	b, err := v.seal()
	if err != nil {
		return err
	}
	return replaceFile(realDisk{}, v.cfg.Dir, b, false)
}

// fingerprint names a root.
func fingerprint(root []byte) Fingerprint {
	var fp Fingerprint
	Do(func() {
		// The sizes are constant, so Key cannot fail.
		b, _ := hkdf.Key(sha256.New, root, []byte("agent-vault"), "root fingerprint v1", len(fp))
		copy(fp[:], b)
	})
	return fp
}

// randomSecret returns n random bytes.
func randomSecret(random io.Reader, n int) (*Secret, error) {
	s, err := NewSecret(n)
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(random, s.Bytes()); err != nil {
		s.Destroy()
		return nil, fmt.Errorf("make key share: %w", err)
	}
	return s, nil
}
