package approvals

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/sow"
	"vault/approvals/store"
)

// Limits of the desk (design of requests, consent, effects).
const (
	DefaultLifetimeMS = 10 * 60 * 1000
	MaxLifetimeMS     = 24 * 60 * 60 * 1000
	MaxOpenRequests   = 16  // of one client
	MaxOpenPairings   = 8   // of all programs together
	MaxSessions       = 256 // of one client; the one unused for longest makes room
	SessionMS         = 30 * 24 * 60 * 60 * 1000
	AwaitLimit        = 50 * time.Second
	SnapshotEvery     = 10_000

	maxRequestID     = 128
	maxClaimed       = 128
	unansweredMax    = 2
	coolDownMS       = 5 * 60 * 1000
	queueFullMS      = 5000
	askBurst         = 32 // requests that reach the queue at once
	askEveryMS       = 1000
	anchorEveryMS    = 60 * 1000
	keysPatience     = 30 * time.Second
	lockPatience     = 5 * time.Second
	groupActs        = 128
	loadChunk        = 1000
	maxEnvelopes     = 4096
	clockToleranceMS = 2 * 60 * 1000
)

// Launcher finds the vault's sealed file and starts key processes. The program
// gives the real one; it knows no secrets.
type Launcher interface {
	// Exists says whether a vault lies in the folder.
	Exists() (bool, error)
	// Launch starts a key process. It blocks until it can be talked to.
	Launch(context.Context) (KeyProcess, error)
}

// KeyProcess is the desk's end of a running key process.
type KeyProcess interface {
	keys.Keys
	// Kill ends it at once, without its anchoring anything: it has signed what the
	// store could not keep, or does not answer. It returns when the process is gone.
	Kill()
}

// Options are what a desk is made of.
type Options struct {
	Folder   string // the vault folder; the desk opens the store in it
	Socket   string // shown in Status
	Launcher Launcher
	Clock    Clock         // nil: the machine's
	Random   io.Reader     // nil: crypto/rand
	Await    time.Duration // how long a call waits for a person; 0: AwaitLimit
	Demo     bool          // creates throw-away vaults only
	// SocketPlace is where the socket for a further user is made, unless the owner says so; see package ipc/socket.
	SocketPlace func(vault string, userID int64) string
	// SocketServe serves this desk to one further user on a path. An error may have a method Coded that gives a code.
	// Nil: nobody else is served.
	SocketServe func(userID int64, path string) (ServedSocket, error)
	Patience    time.Duration // a key process that has not answered by then, where no person is asked, is ended; 0: 30 s

	// Languages are the contract languages whose text is here: a document that names another is told so, and one that gives a text
	// here another hash is not signed. Nil: nothing is said.
	Languages sow.Languages
}

// Desk is where agents ask, a person decides, and keys sign. It is safe for
// concurrent use. Its two views are [Desk.Agents] and [Desk.Owner].
type Desk struct {
	o     Options
	clock Clock
	file  atomic.Pointer[store.Store] // nil where there is no vault yet
	ops   chan *op
	quit  chan struct{}
	ended sync.WaitGroup

	stopOnce sync.Once

	laying sync.Mutex // one write about an open moment at a time; held before mu

	submitting sync.Mutex // one document of an agent at a time; held before mu
	engaged    []Item     // what waits in engagements; guarded by mu
	// sowTurn counts what came to an engagement since the start; guarded by mu.
	sowTurn map[string]uint64
	// requestsDue says that requests to form under an offer of ours may have come while the vault was locked.
	requestsDue atomic.Bool
	sowStir     chan struct{} // closed, and made anew, when something came of what an agent asked for; guarded by mu

	parsed parsed
	every  uint64 // entries between snapshots
	chunk  int    // entries in one chunk of a load

	mu         sync.Mutex
	stopped    bool
	exists     bool
	keys       KeyProcess // nil while locked
	watched    KeyProcess // whose end is watched
	doubtful   KeyProcess // opened, but it refused the log: a new instance may be started
	public     keys.Public
	opening    bool
	away       bool
	readOnly   bool
	trouble    *Trouble
	lockReason string
	lockedAt   int64
	touched    int64 // boot-time clock
	anchored   int64 // boot-time clock
	anchorDue  bool
	checkedAt  int64
	checked    uint64        // entries that were read then
	snapshot   uint64        // seq of the newest snapshot entry
	gate       chan struct{} // closed at lock
	led        *ledger
	settings   Settings
	requests   map[requestKey]*request
	items      []*item
	moments    map[string]*laid // open ones, by id
	notes      []*note
	badRow     *Trouble            // an open moment that was edited in the store, and is not used
	past       *past               // nil where it was not begun to be read
	known      map[uint64]struct{} // every (client, request id) of the store, when past is named
	asked      map[uint64]struct{} // every (client, what was signed) of the store, when past is named
	seed       maphash.Seed
	envelopes  map[string]*knownEnvelope
	watchers   map[*watcher]struct{}
	running    *running // the ceremony that is open, or nil

	patience   map[string]*patience // by askerOf
	further    further
	suspended  map[string]*suspended // by envelope hash
	turn       int64                 // counts what was refused as suspended
	before     oldUses
	records    map[string]*mintedRecord // of mints, by mint; bounded
	chart      mintChart                // that was asked for last
	expireNext int64                    // boot-time clock: when delegates are ended that are long over
	names      []mintName               // to be written with what is written next
}

type requestKey struct{ client, id string }

// New makes a desk. Where there is a vault it opens the store, reads the log's end and
// blocks on the disk; a store whose log or permits are not right leaves the desk
// read-only, with the reason in its Status. A store that cannot be opened is an error
// (see package store). Close it in the end.
func New(ctx context.Context, o Options) (*Desk, error) {
	if o.Clock == nil {
		o.Clock = SystemClock()
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Await == 0 {
		o.Await = AwaitLimit
	}
	if o.Patience == 0 {
		o.Patience = keysPatience
	}
	d := &Desk{
		o: o, clock: o.Clock, every: SnapshotEvery, chunk: loadChunk,
		ops: make(chan *op, groupActs), quit: make(chan struct{}), sowStir: make(chan struct{}), sowTurn: map[string]uint64{},
		gate: make(chan struct{}), requests: map[requestKey]*request{}, moments: map[string]*laid{},
		envelopes: map[string]*knownEnvelope{}, records: map[string]*mintedRecord{}, watchers: map[*watcher]struct{}{}, patience: map[string]*patience{},
	}
	close(d.gate)
	d.seed = maphash.MakeSeed()
	d.requestsDue.Store(true)
	d.expireNext = d.clock.Boot() + expireEveryMS
	var err error
	if d.exists, err = o.Launcher.Exists(); err != nil {
		return nil, fmt.Errorf("look for a vault: %w", err)
	}
	_, err = os.Stat(filepath.Join(o.Folder, store.FileName))
	d.led, d.settings = newLedger(), defaultSettings()
	if d.exists || err == nil {
		if err := d.openStore(ctx); err != nil {
			return nil, err
		}
		if err := d.read(false); err != nil {
			return nil, errors.Join(err, d.db().Close())
		}
		if err := d.openMoments(); err != nil {
			return nil, errors.Join(err, d.db().Close())
		}
		if err := d.openEngagements(); err != nil {
			return nil, errors.Join(err, d.db().Close())
		}
		d.readMode()
	}
	d.ended.Add(1)
	go d.commitLoop()
	return d, nil
}

// db is the open store, nil where there is no vault yet.
func (d *Desk) db() *store.Store { return d.file.Load() }

// openStore opens the store. A new vault has one only after its root was sealed: a
// store without a sealed file is what a lost root leaves behind. One that has stopped,
// as on a full disk, is opened anew: there may be room again.
func (d *Desk) openStore(ctx context.Context) error {
	if s := d.db(); s != nil {
		if s.Failed() == nil {
			return nil
		}
		_ = s.Close() // what it could not write it has said
		d.mu.Lock()
		d.past = nil // what it holds after all is read anew
		d.mu.Unlock()
	}
	s, err := store.Open(ctx, d.o.Folder)
	if err != nil {
		return err
	}
	d.file.Store(s)
	return nil
}

// readMode notes that the store can only be read.
func (d *Desk) readMode() {
	switch d.db().Mode() {
	case store.ModeNewer:
		d.setTrouble(&Trouble{Code: "newer_format"})
	case store.ModeFolder:
		d.setTrouble(&Trouble{Code: "read_only_folder"})
	}
}

// read takes over what the store holds, or notes what is wrong with it.
func (d *Desk) read(heads bool) error {
	led, trouble, err := readLedger(d.db(), d.clock, heads)
	if err != nil {
		return err
	}
	settings, bad, err := readSettings(d.db())
	if err != nil {
		return err
	}
	if trouble == nil {
		trouble = bad
	}
	d.mu.Lock()
	if d.led != nil {
		led.keepObserved(d.led)
	}
	p := d.past
	if p == nil {
		p = newPast(led)
		d.past, d.known, d.asked = p, map[uint64]struct{}{}, map[uint64]struct{}{}
	} else {
		led.keepCounts(d.led)
		p = nil
	}
	d.led, d.settings = led, settings
	d.snapshot = led.snapshot
	d.checkedAt, d.checked = d.clock.Now(), led.state.Seq()
	if trouble != nil {
		d.trouble, d.readOnly = trouble, true
	}
	d.mu.Unlock()
	if p == nil {
		return nil
	}
	for p.read < pastFirst {
		if done, err := d.recallPage(p); done || err != nil {
			return err
		}
	}
	d.ended.Add(1)
	go d.recall(p)
	return nil
}

func (d *Desk) setTrouble(t *Trouble) {
	d.mu.Lock()
	d.trouble, d.readOnly = t, true
	d.mu.Unlock()
	d.changed()
}

// fold is a seeded hash of two texts, to say "surely not seen" cheaply.
func (d *Desk) fold(a, b string) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.WriteString(a)
	h.WriteByte(0)
	h.WriteString(b)
	return h.Sum64()
}

func (d *Desk) random(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(d.o.Random, b); err != nil {
		return nil, fmt.Errorf("draw randomness: %w", err)
	}
	return b, nil
}

func (d *Desk) newID(prefix string) (string, error) {
	b, err := d.random(8)
	return prefix + hex.EncodeToString(b), err
}

// Close locks the vault, answers who waits, and stops the desk's goroutines.
func (d *Desk) Close() error {
	d.shutSockets()
	err := d.lock(context.Background(), "quit")
	d.stopOnce.Do(func() {
		d.mu.Lock()
		d.stopped = true
		d.mu.Unlock()
		close(d.quit)
	})
	d.ended.Wait()
	if d.db() != nil {
		err = errors.Join(err, d.db().Close())
	}
	return err
}

// Run lets time pass for the desk until the context ends: requests expire, the idle
// clock locks, the head is anchored. It calls Tick once a second.
func (d *Desk) Run(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.quit:
			return
		case <-t.C:
			d.Tick(ctx)
		}
	}
}

// Tick does what is due by the clock. It blocks on the disk if something is.
func (d *Desk) Tick(ctx context.Context) {
	d.expire()
	d.keepSockets()
	d.expireDelegates()
	d.mu.Lock()
	open := d.keys != nil
	idle := (open || d.doubtful != nil) && d.clock.Boot()-d.touched >= int64(d.settings.IdleMinutes)*60_000
	anchor := open && d.anchorDue && d.clock.Boot()-d.anchored >= anchorEveryMS
	dropped := d.led.dropSessions(d.clock.Now())
	d.mu.Unlock()
	if len(dropped) > 0 && d.db() != nil && d.db().Mode() == store.ModeReadWrite {
		// A session that stays in the store longer is dropped at the next start.
		_ = d.db().Do(func(tx *store.Tx) error {
			for _, s := range dropped {
				if err := tx.DropSession(s.Client, s.ID); err != nil {
					return err
				}
			}
			return nil
		})
		d.endSessions(dropped)
	}
	_ = d.freshen(freshenMax) // what it could not do it does at the next tick
	_ = d.completeDue()
	if idle {
		_ = d.lock(ctx, "idle")
		return
	}
	if anchor {
		_ = d.do(&op{alone: true, anchor: true, build: func(*batch) error { return nil }})
	}
}

// state is what Status says; the caller holds mu.
func (d *Desk) state() State {
	switch {
	case d.readOnly:
		return StateReadOnly
	case !d.exists:
		return StateNone
	case d.opening:
		return StateOpening
	case d.keys == nil:
		return StateLocked
	case d.away:
		return StateAway
	}
	return StateOpen
}

// shut is the refusal for requests that need an unlocked vault, or nil; the caller holds mu.
func (d *Desk) shut() *Refusal {
	switch d.state() {
	case StateOpen, StateAway:
		return nil
	case StateNone:
		return refuse(CodeNoVault)
	case StateReadOnly:
		return refuse(CodeReadOnly)
	}
	return refuse(CodeLocked)
}

// --- opening and locking

// begin starts a key process for one of the openings.
func (d *Desk) begin(ctx context.Context) (KeyProcess, error) {
	d.mu.Lock()
	switch {
	case d.stopped:
		d.mu.Unlock()
		return nil, refuse(CodeLocked)
	case d.keys != nil || d.opening:
		d.mu.Unlock()
		return nil, refuse(CodeAlreadyOpen)
	case d.db() != nil && d.db().Mode() != store.ModeReadWrite:
		d.mu.Unlock()
		return nil, refuse(CodeReadOnly)
	}
	d.opening = true
	doubtful := d.doubtful
	d.doubtful = nil
	d.mu.Unlock()
	if doubtful != nil {
		doubtful.Kill()
	}
	d.changed()
	k, err := d.o.Launcher.Launch(ctx)
	if err != nil {
		d.opened(nil, err)
		return nil, err
	}
	return k, nil
}

// opened ends an opening that did not succeed.
func (d *Desk) opened(k KeyProcess, why error) {
	var doubt errDoubt
	keep := errors.As(why, &doubt)
	d.mu.Lock()
	d.opening = false
	if keep {
		d.doubtful = k
	}
	d.mu.Unlock()
	if k != nil && !keep {
		k.Kill()
	}
	d.changed()
}

// install loads the log into a key process that has just opened, and makes
// it the desk's own.
func (d *Desk) install(ctx context.Context, k KeyProcess, pub keys.Public) error {
	if err := d.openStore(ctx); err != nil {
		if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrInUse) {
			return err
		}
		return errors.Join(refuse(CodeStoreFailed), err) // as on a full disk
	}
	// The log must stand still meanwhile: requests can end while the vault is locked.
	fresh := false
	if err := d.do(&op{alone: true, run: func() (err error) {
		fresh, err = d.takeOver(ctx, k, pub)
		return err
	}}); err != nil {
		return err
	}
	d.keepSockets()
	d.mu.Lock()
	due := pub.WordsShown && pub.StartReason == "" && !d.led.state.WordsShown()
	d.mu.Unlock()
	if due {
		if err := d.do(&op{alone: true, build: func(b *batch) error {
			_, err := b.add(journal.KindWordsShown, journal.WordsShown{When: "creation"})
			return err
		}}); err != nil {
			return err
		}
	}
	if fresh && pub.StartReason != "" {
		return d.reopenDomains(ctx, k)
	}
	return nil
}

// takeOver is install's part in the commit goroutine. fresh says that a log was begun.
func (d *Desk) takeOver(ctx context.Context, k KeyProcess, pub keys.Public) (fresh bool, err error) {
	d.mu.Lock()
	d.trouble, d.readOnly = nil, false
	st := d.led.state
	d.mu.Unlock()
	old, err := d.oldInstance(pub, st)
	if err != nil {
		return false, err
	}
	if old != "" {
		// The key process has begun a new instance: its log is empty, and the old one is kept aside.
		if err := d.db().Do(func(tx *store.Tx) error { return tx.Archive(old) }); err != nil {
			d.setTrouble(&Trouble{Code: CodeStoreFailed, Detail: err.Error()})
			return false, refuse(CodeStoreFailed)
		}
		d.dropItems()
	}
	if err := d.read(true); err != nil {
		return false, err
	}
	d.mu.Lock()
	led, trouble := d.led, d.trouble
	d.mu.Unlock()
	if trouble != nil {
		// The key process sees the log all the same, so that a new instance can begin.
		_, _ = d.load(ctx, k, led)
		return false, errDoubt{&Refusal{Code: trouble.Code, Message: "The store is not as the vault left it. It stays read-only.", Remedy: "Export what is here before anything else."}}
	}
	loaded, err := d.load(ctx, k, led)
	if err != nil {
		var e *keys.Error
		if errors.As(err, &e) && troubles[e.Code] {
			d.setTrouble(&Trouble{Code: e.Code, Seq: e.Seq, Detail: e.Detail})
			return false, errDoubt{e}
		}
		return false, err
	}
	st = led.state
	fresh = st.Seq() == 0
	if loaded.Seq != st.Seq() || !fresh && loaded.Hash != st.Hash() {
		d.setTrouble(&Trouble{Code: "log_damaged", Seq: st.Seq()})
		return false, refuse(CodeRowEdited)
	}
	d.mu.Lock()
	d.keys, d.public, d.exists = k, pub, true
	d.lockReason = ""
	d.touched, d.anchored = d.clock.Boot(), d.clock.Boot()
	d.mu.Unlock()
	first := &op{alone: true, anchor: true, err: make(chan error, 1), build: func(b *batch) error {
		var err error
		switch {
		case fresh && pub.StartReason != "":
			_, err = b.add(journal.KindInstanceStarted, journal.InstanceStarted{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Reason: pub.StartReason})
		case fresh:
			_, err = b.add(journal.KindCreated, journal.Created{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey, Demo: pub.Demo})
		default:
			if led.opened {
				// The desk was killed while the vault was open.
				if _, err := b.add(journal.KindLocked, journal.Locked{Reason: "ended"}); err != nil {
					return err
				}
			}
			_, err = b.add(journal.KindUnlocked, journal.Unlocked{Protection: string(pub.Protection)})
		}
		return err
	}}
	d.commit([]*op{first})
	if err := <-first.err; err != nil {
		d.endKeys(k, "store", nil)
		return false, err
	}
	d.mu.Lock()
	d.opening, d.away = false, false
	if d.trouble == nil {
		d.trouble = d.badRow
	}
	select {
	case <-d.gate:
		d.gate = make(chan struct{})
	default: // it was open, and has begun a new instance
	}
	watched := d.watched == k
	d.watched = k
	d.mu.Unlock()
	if !watched {
		d.ended.Add(1)
		go d.watchKeys(k)
	}
	return fresh, nil
}

// oldInstance names the instance whose log is in the store when the key process has begun another,
// or is empty. A log that cannot be read is named after the new one.
func (d *Desk) oldInstance(pub keys.Public, st *journal.State) (string, error) {
	if pub.StartReason == "" || pub.Anchor.Seq > 0 {
		return "", nil
	}
	last, err := d.db().LastEntry()
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	case bytes.Contains(last.Raw, []byte(`"instance":"`+pub.Instance+`"`)):
		return "", nil
	case st.Seq() > 0:
		return st.Instance(), nil
	}
	return "before-" + pub.Instance, nil
}

// troubles are the key process's refusals of a log, after which the vault is read-only.
var troubles = map[string]bool{"rolled_back": true, "anchor_missing": true, "copied": true, "log_damaged": true, "bad_permit": true}

// errDoubt says that the key process is open and refuses the log: it stays, so that
// the owner can begin a new instance.
type errDoubt struct{ error }

func (e errDoubt) Unwrap() error { return e.error }

// dropItems ends what waits when its log has ended.
func (d *Desk) dropItems() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range d.items {
		for _, m := range it.members {
			m.refusal = refuse(CodeWithdrawn)
			delete(d.requests, m.key)
			close(m.done)
		}
		if it.pairing != nil {
			it.pairing.finish(nil, refuse(CodeWithdrawn))
		}
		if it.moment != nil {
			it.moment.finish(nil, refuse(CodeWithdrawn))
		}
		it.members, it.gone = nil, true
		it.shut()
	}
	d.items, d.past, d.known, d.asked, d.notes = nil, nil, nil, nil, nil
	clear(d.moments)
	clear(d.records)
}

// load hands the log to the key process: the newest snapshot and what follows it.
func (d *Desk) load(ctx context.Context, k KeyProcess, led *ledger) (keys.Loaded, error) {
	from := uint64(1)
	chunk := keys.Load{}
	if led.snapshot > 0 {
		from = led.snapshot
		chunk.Snapshot = led.snapshotState
	}
	for {
		es, err := d.db().Entries(from, d.chunk)
		if err != nil {
			return keys.Loaded{}, err
		}
		for _, e := range es {
			chunk.Entries = append(chunk.Entries, e.Raw)
		}
		if len(es) < d.chunk {
			chunk.Last, chunk.Head = true, led.head
			for _, row := range led.domains {
				chunk.Domains = append(chunk.Domains, keys.Permit{Body: row.body, MAC: row.mac})
			}
		}
		var loaded keys.Loaded
		err = d.patient(ctx, k, func(ctx context.Context) (err error) {
			loaded, err = k.Load(ctx, chunk)
			return err
		})
		if err != nil || chunk.Last {
			return loaded, err
		}
		from += uint64(len(es))
		chunk = keys.Load{}
	}
}

// watchKeys locks when the key process has ended by itself.
func (d *Desk) watchKeys(k KeyProcess) {
	defer d.ended.Done()
	select {
	case <-k.Done():
		d.endKeys(k, "ended", &Trouble{Code: CodeKeysEnded})
	case <-d.quit:
	}
}

// endKeys locks at once, without the key process's part: it has died, does not
// answer, or has signed what the store could not keep.
func (d *Desk) endKeys(k KeyProcess, reason string, t *Trouble) {
	d.mu.Lock()
	if d.keys != k || k == nil {
		d.mu.Unlock()
		return
	}
	d.shutNow(reason)
	if t != nil {
		d.trouble = t
	}
	d.mu.Unlock()
	d.changed()
	d.ended.Add(1)
	go func() {
		defer d.ended.Done()
		k.Kill()
	}()
	if reason == "ended" {
		o := &op{alone: true, build: func(b *batch) error {
			if d.keys != nil {
				return errGone
			}
			_, err := b.add(journal.KindLocked, journal.Locked{Reason: "ended"})
			return err
		}}
		go func() { _ = d.do(o) }()
	}
}

// shutNow makes the desk locked; the caller holds mu.
func (d *Desk) shutNow(reason string) {
	if d.running != nil {
		d.running.stop()
	}
	d.keys = nil
	d.lockReason, d.lockedAt = reason, d.clock.Now()
	d.away = false
	select {
	case <-d.gate:
	default:
		close(d.gate)
	}
	for _, it := range d.items {
		it.shut()
	}
}

func (d *Desk) lock(ctx context.Context, reason string) error {
	d.mu.Lock()
	k, doubtful := d.keys, d.doubtful
	d.doubtful = nil
	d.mu.Unlock()
	if doubtful != nil {
		doubtful.Kill()
	}
	if k == nil {
		return nil
	}
	done := make(chan error, 1)
	o := &op{alone: true, anchor: true, build: func(b *batch) error {
		if d.keys != k {
			return errGone
		}
		if err := d.addSnapshot(b); err != nil {
			return err
		}
		a, err := b.add(journal.KindLocked, journal.Locked{Reason: reason})
		if err != nil {
			return err
		}
		a.applied = func() {
			if d.keys == k {
				d.shutNow(reason)
			}
		}
		return nil
	}}
	go func() { done <- d.do(o) }()
	limit := time.NewTimer(lockPatience)
	defer limit.Stop()
	var err error
	select {
	case err = <-done:
	case <-limit.C:
		err = refuse(CodeKeysEnded)
	case <-ctx.Done():
		err = ctx.Err()
	}
	d.mu.Lock()
	if d.keys == k {
		d.shutNow(reason)
	}
	d.mu.Unlock()
	d.changed()
	if err == errGone {
		err = nil // it has ended by itself meanwhile
	}
	if err != nil {
		// Whether the head is durable is not known: it is not anchored.
		k.Kill()
		return err
	}
	last, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	if err := k.Lock(last); err != nil {
		k.Kill()
		return err
	}
	return nil
}

// --- watching

type watcher struct {
	wake chan struct{}
	quit chan struct{}
}

// changed tells the surfaces; many changes in a row are told once.
func (d *Desk) changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for w := range d.watchers {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (d *Desk) watch(f func()) (stop func()) {
	w := &watcher{make(chan struct{}, 1), make(chan struct{})}
	d.mu.Lock()
	d.watchers[w] = struct{}{}
	d.mu.Unlock()
	go func() {
		for {
			select {
			case <-w.wake:
				f()
			case <-w.quit:
				return
			case <-d.quit:
				return
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			d.mu.Lock()
			delete(d.watchers, w)
			d.mu.Unlock()
			close(w.quit)
		})
	}
}

// mustJSON encodes values of our own, which can always be written.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("approvals: a value of our own cannot be written: %v", err))
	}
	return b
}
