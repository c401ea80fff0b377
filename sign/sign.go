// Package sign is the only code that signs. It runs in the key process and
// implements the contract of package keys: each call has one fixed guard,
// computed here from the bytes to be signed, never from an argument. The desk
// is trusted for nothing but to keep what it is given.
//
// It holds the log's state, rebuilt from the log at each opening, and makes no
// signature without an entry that extends it. It keeps no root itself (package
// custody does), shows nothing, and opens no store.
package sign

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/custody"
	"vault/derive"
	"vault/derive/envelope"
)

// Clock is the key process's own source of time.
type Clock interface {
	// Now is the wall clock, milliseconds since epoch.
	Now() int64
	// Boot is the time since the system started, sleep included, in milliseconds.
	Boot() int64
}

// Config is what a [Signer] needs. All members are needed but Fault, Backup,
// OpenBackup and Page; User matters to sockets for further users.
type Config struct {
	Custody custody.Config
	Clock   Clock
	// Window opens the secret window. It blocks until the helper has been started.
	Window func(context.Context, keys.Surface) (Window, error)
	// Cost gives the cost of the passphrase function for a new passphrase.
	Cost func(context.Context) (custody.Params, error)
	// Fault is told of an error that nobody expected; the desk sees only that there
	// was one. Nil: nobody is told.
	Fault func(error)
	// Backup writes a backup file in a process of its own. Nil: there are no backups.
	Backup func(ctx context.Context, b keys.Backup, sealed []byte, passphrase *custody.Secret) error
	// OpenBackup opens a backup file in a process of its own: it returns the sealed
	// part and writes the store's copy where r says. [custody.ErrWrongPassphrase]
	// means that the passphrase does not open it. Nil: no backup can be restored.
	OpenBackup func(ctx context.Context, r keys.Restore, passphrase *custody.Secret) (sealed []byte, err error)
	// User is this process's own user id as the kernel counts, or -1 where there is none.
	User int64
	// Page starts the helper of one ceremony. Nil: there are no ceremonies.
	Page func(context.Context) (Page, error)
}

// Limits of one call and of what is remembered.
const (
	maxActs      = 1024
	maxDocument  = 1 << 20
	maxAddresses = 4096
	maxPermits   = 4096
	maxEnvelopes = 512
	// maxKeptEnvelope is up to which length an envelope is kept as it was parsed.
	maxKeptEnvelope = 4096
	// Bounds of an entry's time around this process's clock: entries wait for
	// one another, and two readings of one clock differ.
	entryPast   = 60_000
	entryFuture = 5_000
	// anchorEvery is how often a head is anchored while nothing asks for it at once.
	anchorEvery = 60_000
	// keyringPatience bounds an anchor that nobody waits for.
	keyringPatience = 30 * time.Second
	// sealPatience bounds the keyring where an act waits for what is sealed; the desk waits for that act.
	sealPatience = 10 * time.Second
	// collectAfter is how long after its last use memory that held seeds is collected.
	collectAfter = time.Second
	// collectAgain is how long after that it is collected once more.
	collectAgain = 3 * time.Second
)

// Signer implements [keys.Handler]. It is safe for concurrent use: acts are taken
// one after another, and one conversation with the owner is open at a time.
type Signer struct {
	cfg    Config
	window sync.Mutex // held for as long as a conversation takes
	// anchorMu is held while a head is written, and taken before mu.
	anchorMu sync.Mutex

	mu     sync.Mutex
	vault  *custody.Vault  // nil until opened, and again after Lock
	locked bool            // for good
	keys   *custody.Secret // log key (64 bytes) and store key (32), while open
	pub    keys.Public
	clock  clock

	phase phase
	doubt *keys.Error // phaseReadOnly: why
	state *journal.State
	load  loading

	sealed   sealed // what stands beside the root, as it is now
	ceremony *ceremony
	// unanswered is the name for which a passkey was asked last and did not answer, or empty.
	unanswered string
	pending    *pendingPasskey
	allowed    *allowance

	domains   map[string]*envelope.Projection       // public, by domain hash
	addresses map[string]signer                     // public, by envelope hash
	permits   map[[32]byte]any                      // public: rows whose MAC was right, read or nil, by digest
	envelopes map[[32]byte]*envelope.ActionEnvelope // public, by digest of the bytes received
	minted    map[[32]byte]*minted                  // public, by digest of delegate and request
	delegates map[[32]byte]*envelope.PinnedDelegate // public, by digest of issuer and delegate
	bots      map[[32]byte]struct{}                 // proofs of bots that were right, by digest
	botKey    [32]byte                              // of the nonces given to bots since the opening

	anchored   uint64 // newest anchored entry
	durable    custody.Head
	anchorDue  uint64 // newest entry that is to be anchored at once
	anchorAt   int64  // boot-time clock of the last anchor
	anchoring  bool
	background sync.WaitGroup
	collector  *time.Timer
	collected  int  // collections since seeds were last used
	swollen    bool // a whole state was read or written: the next collection gives memory back
}

// phase is how far an opened vault is.
type phase int

const (
	phaseShut phase = iota
	phaseLoading
	phaseOpen
	phaseReadOnly // only a new instance can be started
)

// signer is what may be remembered of an envelope: nothing of it is secret.
type signer struct {
	address     string
	attestation []byte
}

// New returns a Signer that has opened nothing yet.
func New(cfg Config) *Signer { return &Signer{cfg: cfg} }

var _ keys.Handler = (*Signer)(nil)

// fault gives an error its stable code. Texts of errors that are not ours do
// not leave the process.
func (s *Signer) fault(err error) error {
	var own *keys.Error
	var refused *journal.Contradiction
	var kept *custody.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &refused):
		return &keys.Error{Code: refused.Code, Detail: refused.Detail}
	case errors.Is(err, custody.ErrMoved):
		return &keys.Error{Code: codeCopied, Detail: custody.ErrMoved.Error()}
	case errors.As(err, &kept):
		return &keys.Error{Code: kept.Code(), Detail: kept.Error()}
	case errors.Is(err, ErrNoWindow):
		return refuse("no_window", "the secret window cannot be shown here")
	case errors.Is(err, ErrCancelled), errors.Is(err, ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return refuse("cancelled", "the secret window was closed; nothing was changed")
	}
	if s.cfg.Fault != nil {
		s.cfg.Fault(err)
	}
	return refuse(keys.CodeInternal, "the key process met a fault of its own; nothing was signed")
}

func refuse(code, detail string) *keys.Error { return &keys.Error{Code: code, Detail: detail} }

// Codes that are used more than once.
const (
	codeRolledBack    = "rolled_back"
	codeAnchorMissing = "anchor_missing"
	codeCopied        = "copied"
	codeLogDamaged    = "log_damaged"
	codeMalformed     = "malformed"
	codeNotLoaded     = "not_loaded"
	codeSuspended     = "suspended"
	codeBadPermit     = "bad_permit"
	codeNotDone       = "not_done"
	codeNotBackup     = "not_backup"
	codeOwnUser       = "own_user"
	codeReadmitLimits = "readmit_limits"
)

var errNoPasskey = refuse(keys.CodeNoPasskey, "this needs a passkey and none is enrolled")

// startReason is why the log of the present instance begins.
func (p policy) startReason(s custody.State) string {
	if p.Instance == s.InstanceID.String() {
		return p.Start
	}
	if s.RestoredAt != 0 {
		return "restored"
	}
	return "copied"
}

// setStart writes down why the log of the present instance begins.
func setStart(ctx context.Context, v *custody.Vault, reason string) error {
	now := v.State().InstanceID.String()
	return writeSealed(ctx, v, func(s *sealed) {
		if before := s.policy.Instance; before != "" && before != now {
			s.policy.Before = append(s.policy.Before, before)
		}
		s.policy.Instance, s.policy.Start = now, reason
	})
}

// MarkName is an empty file in the vault folder that says that a vault was made
// there: where it stands without a sealed file, no root is made.
const MarkName = "vault.made"

func leaveMark(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, MarkName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// install takes over an opened vault. The caller holds s.window.
func (s *Signer) install(v *custody.Vault) (keys.Public, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked {
		v.Lock()
		return keys.Public{}, refuse(keys.CodeEnded, "the vault is locked")
	}
	if err := leaveMark(s.cfg.Custody.Dir); err != nil {
		v.Lock()
		return keys.Public{}, refuse("folder_unwritable", "the vault folder cannot be written to")
	}
	held, err := custody.NewSecret(ed25519.PrivateKeySize + derive.Size)
	if err != nil {
		v.Lock()
		return keys.Public{}, s.fault(err)
	}
	if _, err := readSealed(v.State()); err != nil {
		v.Lock()
		return keys.Public{}, s.fault(err)
	}
	s.keys.Destroy()
	s.keys = held
	s.vault, s.clock = v, newClock(s.cfg.Clock)
	s.dropCeremony()
	if err := s.deriveKeys(); err != nil {
		s.shut()
		return keys.Public{}, s.fault(err)
	}
	s.phase, s.doubt = phaseLoading, nil
	s.state, s.load = &journal.State{}, loading{}
	s.domains, s.addresses = map[string]*envelope.Projection{}, map[string]signer{}
	s.permits, s.envelopes = map[[32]byte]any{}, map[[32]byte]*envelope.ActionEnvelope{}
	if err := s.dropMints(); err != nil {
		s.shut()
		return keys.Public{}, s.fault(err)
	}
	s.anchored, s.durable, s.anchorDue, s.anchorAt = v.State().Log.Seq, v.State().Log, 0, s.cfg.Clock.Boot()
	s.refresh()
	s.collectSoon()
	return s.pub, nil
}

// deriveKeys puts log key and store key into secret memory and the public keys
// into s.pub.
func (s *Signer) deriveKeys() error {
	instance := s.vault.State().InstanceID.String()
	return s.vault.WithRoot(func(root []byte) error {
		var seed derive.Secret
		defer seed.Clear()
		if err := derive.OwnerSeed(&seed, root, 0); err != nil {
			return err
		}
		owner, err := publicText(&seed)
		if err != nil {
			return err
		}
		if err := derive.LogSeed(&seed, root, instance); err != nil {
			return err
		}
		private := ed25519.NewKeyFromSeed(seed[:])
		copy(s.logKey(), private)
		clear(private)
		if err := derive.StoreKey(&seed, root); err != nil {
			return err
		}
		copy(s.storeKey(), seed[:])
		s.pub.OwnerKey = owner
		s.pub.LogKey, err = envelope.EncodeOwnerKey(bytes.Clone(s.logKey()[ed25519.PrivateKeySize-ed25519.PublicKeySize:]))
		return err
	})
}

func (s *Signer) logKey() []byte   { return s.keys.Bytes()[:ed25519.PrivateKeySize] }
func (s *Signer) storeKey() []byte { return s.keys.Bytes()[ed25519.PrivateKeySize:] }

// refresh reads what is public from the sealed state.
func (s *Signer) refresh() {
	st := s.vault.State()
	// What was read at the opening or written since can be read.
	s.sealed, _ = readSealed(st)
	rules, _ := s.sealed.policy.Rules.Canonical()
	s.pub = keys.Public{
		Vault: st.VaultID.String(), Instance: st.InstanceID.String(), Generation: st.Generation,
		Protection: keys.Protection(st.Protection), OwnerKey: s.pub.OwnerKey, LogKey: s.pub.LogKey,
		WordsShown: st.WordsShown, Demo: st.Demo, Passkeys: len(st.Passkeys), StartReason: s.sealed.policy.startReason(st), AnchorKept: "sealed",
	}
	s.pub.PasskeySpent, s.pub.Policy = st.FirstPasskeyAt != 0, rules
	s.pub.Exported = slices.Clone(s.sealed.policy.Exported)
	for _, p := range s.sealed.passkeys {
		s.pub.Enrolled = append(s.pub.Enrolled, p.public())
	}
	if st.Log.Seq > 0 {
		s.pub.Anchor = keys.Anchor{Seq: st.Log.Seq, Hash: st.Log.Hash.String()}
	}
	if s.vault.Anchored() {
		s.pub.AnchorKept = "sealed+keyring"
	}
}

// opened returns the vault, or why there is none.
func (s *Signer) opened() (*custody.Vault, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vault == nil {
		return nil, refuse(keys.CodeEnded, "the vault is locked")
	}
	return s.vault, nil
}

// collectSoon erases, a while after the last use, what seeds left on the heap. The
// caller holds s.mu.
func (s *Signer) collectSoon() {
	s.collected = 0
	if s.collector == nil {
		s.collector = time.AfterFunc(collectAfter, s.collect)
		return
	}
	s.collector.Reset(collectAfter)
}

func (s *Signer) collect() {
	s.mu.Lock()
	swollen := s.swollen
	s.swollen = false
	s.mu.Unlock()
	if swollen {
		custody.Collect()
	} else {
		runtime.GC()
	}
	// Once more a while later: what a frame that had not returned yet still held is erased then.
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collected++; s.collected < 2 && s.vault != nil {
		s.collector.Reset(collectAgain)
	}
}

// shut wipes everything. The caller holds s.mu.
func (s *Signer) shut() {
	s.dropCeremony()
	if s.vault != nil {
		s.vault.Lock()
	}
	s.keys.Destroy()
	s.vault, s.keys, s.phase = nil, nil, phaseShut
	s.state, s.domains, s.addresses, s.permits, s.envelopes = nil, nil, nil, nil, nil
	s.minted, s.bots, s.delegates = nil, nil, nil
	clear(s.botKey[:])
	s.load = loading{}
}

// dropCeremony forgets what is only in memory: the ceremony that is open, a pending passkey, what may be
// done once. The caller holds s.mu.
func (s *Signer) dropCeremony() {
	if s.ceremony != nil {
		s.ceremony.end("locked", "the vault was locked")
	}
	s.ceremony, s.pending, s.allowed = nil, nil, nil
}

// Lock implements [keys.Handler]: it anchors the head, which the desk by
// calling says is durable, and wipes. The process is to end afterwards.
func (s *Signer) Lock(ctx context.Context) error {
	err := s.Anchor(ctx)
	s.Close()
	var e *keys.Error
	if errors.As(err, &e) && (e.Code == keys.CodeEnded || e.Code == codeNotLoaded) {
		return nil
	}
	return err
}

// Close wipes and anchors nothing: for a desk that has gone without a word, which
// may have lost what it was answered last. An anchor of that would call the log
// rolled back at the next opening. A second call only collects.
func (s *Signer) Close() {
	s.mu.Lock()
	s.locked = true
	s.dropCeremony()
	s.mu.Unlock()
	s.background.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut()
	custody.Collect()
}

// Anchor implements [keys.Handler].
func (s *Signer) Anchor(ctx context.Context) error {
	s.mu.Lock()
	if s.phase != phaseOpen {
		s.mu.Unlock()
		return refuse(codeNotLoaded, "no log has been loaded")
	}
	s.confirm()
	v, head := s.vault, s.durable
	s.mu.Unlock()
	return s.anchor(ctx, v, head)
}

// confirm takes the head for durable. The caller holds s.mu.
func (s *Signer) confirm() {
	if s.state.Seq() > s.durable.Seq {
		// The hash was parsed when its entry was.
		_ = s.durable.Hash.UnmarshalText([]byte(s.state.Hash()))
		s.durable.Seq = s.state.Seq()
	}
}

// anchor writes a durable head; one that is older than what is there is no error.
func (s *Signer) anchor(ctx context.Context, v *custody.Vault, head custody.Head) error {
	s.anchorMu.Lock()
	defer s.anchorMu.Unlock()
	s.mu.Lock()
	if head.Seq <= s.anchored {
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	err := v.Anchor(ctx, head)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anchorAt = s.cfg.Clock.Boot()
	if err == nil || errors.Is(err, custody.ErrAnchorNotKept) {
		s.anchored = max(s.anchored, head.Seq)
	}
	if s.vault != nil {
		s.refresh()
	}
	return s.fault(err)
}

// anchorSoon anchors the durable head in the background where it is due. The
// caller holds s.mu.
func (s *Signer) anchorSoon() {
	due := s.anchorDue > s.anchored || s.cfg.Clock.Boot()-s.anchorAt >= anchorEvery
	if !due || s.locked || s.anchoring || s.durable.Seq <= s.anchored {
		return
	}
	s.anchoring = true
	v, head := s.vault, s.durable
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		ctx, cancel := context.WithTimeout(context.Background(), keyringPatience)
		defer cancel()
		// It stays due if it was not written.
		_ = s.anchor(ctx, v, head)
		s.mu.Lock()
		s.anchoring = false
		s.mu.Unlock()
	}()
}
