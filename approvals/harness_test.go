package approvals_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/approvals/keys"
	"vault/approvals/sow"
	"vault/approvals/store"
	"vault/custody"
	"vault/derive/envelope"
	"vault/internal/quickkdf"
	"vault/sign"
)

// The desk's tests run against the real key process's code, in this process.

const testPassphrase = "correct horse battery staple"

// testClock is moved by hand. It starts at the machine's time, because the key
// process's code is given the same.
type testClock struct{ wall, boot atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.wall.Store(time.Now().UnixMilli())
	c.boot.Store(1_000_000)
	return c
}

func (c *testClock) Now() int64     { return c.wall.Load() }
func (c *testClock) Boot() int64    { return c.boot.Load() }
func (c *testClock) BootID() string { return "test-boot" }

// pass lets both clocks go on.
func (c *testClock) pass(d time.Duration) {
	c.wall.Add(d.Milliseconds())
	c.boot.Add(d.Milliseconds())
}

// typist is the owner at the secret window.
type typist struct {
	words      []byte
	passphrase string
	cancels    bool
	saw        *[]byte // the words that were shown last
}

func (w *typist) Ask(_ context.Context, q sign.Question, words, answer []byte) (int, error) {
	if w.cancels {
		return 0, sign.ErrCancelled
	}
	switch q.Form {
	case "new_passphrase", "passphrase":
		return copy(answer, w.passphrase), nil
	case "show_words":
		w.words = append([]byte(nil), words...)
		*w.saw = w.words
		return 0, nil
	case "restore":
		return copy(answer, *w.saw), nil
	case "ask_words":
		list := strings.Split(string(w.words), " ")
		var out strings.Builder
		for _, n := range q.Places {
			out.WriteString(list[n-1] + "\n")
		}
		return copy(answer, out.String()), nil
	}
	return 0, sign.ErrCancelled
}

func (*typist) Finish(string) {}

// keyProcess is the real signer, without a process around it, with hooks to bend it.
type keyProcess struct {
	*sign.Signer
	done chan struct{}
	once sync.Once

	signed *atomic.Int64
	before func(acts []keys.Act) error // called before each Commit
	after  func() error                // called after each Commit, before its answer
}

func (k *keyProcess) end()                  { k.once.Do(func() { close(k.done) }) }
func (k *keyProcess) Done() <-chan struct{} { return k.done }

func (k *keyProcess) Kill() { k.end() }

func (k *keyProcess) Lock(ctx context.Context) error {
	defer k.end()
	return k.Signer.Lock(ctx)
}

func (k *keyProcess) Commit(ctx context.Context, acts []keys.Act) ([]keys.Answer, error) {
	select {
	case <-k.done:
		return nil, errors.New("the key process has ended")
	default:
	}
	if k.before != nil {
		if err := k.before(acts); err != nil {
			return nil, err
		}
	}
	out, err := k.Signer.Commit(ctx, acts)
	for _, a := range out {
		if a.Signature != "" {
			k.signed.Add(1)
		}
	}
	if err == nil && k.after != nil {
		err = k.after()
	}
	return out, err
}

type launcher struct {
	dir    string
	clock  *testClock
	signed atomic.Int64
	last   *keyProcess
	owner  typist
	bend   func(*keyProcess)
	config func(*sign.Config)
}

func newLauncher(dir string, clock *testClock) *launcher {
	return &launcher{dir: dir, clock: clock, owner: typist{passphrase: testPassphrase, saw: new([]byte)}}
}

func (l *launcher) Exists() (bool, error) {
	found, err := custody.Look(l.dir)
	return err == nil && found.State != custody.None, err
}

func (l *launcher) Launch(context.Context) (approvals.KeyProcess, error) {
	c := sign.Config{
		Custody: custody.Config{
			Dir: l.dir, Rand: rand.Reader, Now: func() time.Time { return time.UnixMilli(l.clock.Now()) },
			KDF: quickkdf.KDF{}, Evidence: []string{store.FileName},
		},
		Clock:  l.clock,
		Window: func(context.Context, keys.Surface) (sign.Window, error) { w := l.owner; return &w, nil },
		Cost:   func(context.Context) (custody.Params, error) { return custody.Floor, nil },
	}
	if l.config != nil {
		l.config(&c)
	}
	s := sign.New(c)
	l.last = &keyProcess{Signer: s, done: make(chan struct{}), signed: &l.signed}
	if l.bend != nil {
		l.bend(l.last)
	}
	return l.last, nil
}

// world is one vault with its owner and a way for agents in.
type world struct {
	t      testing.TB
	dir    string
	clock  *testClock
	keys   *launcher
	desk   *approvals.Desk
	owner  approvals.Owner
	agents approvals.Agents
	await  time.Duration
	peer   approvals.Peer // of who asks to be paired; zero is the usual one
	serve  func(userID int64, path string) (approvals.ServedSocket, error)
	uid    *int64 // of the programs that pair; nil: 1000

	languages sow.Languages
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "vault"), clock: newTestClock(), await: 20 * time.Millisecond}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.keys = newLauncher(w.dir, w.clock)
	w.start()
	return w
}

// start opens the desk, as a program that begins.
func (w *world) start() {
	w.t.Helper()
	d, err := approvals.New(context.Background(), approvals.Options{Folder: w.dir, Launcher: w.keys, Clock: w.clock, Await: w.await, Languages: w.languages,
		SocketServe: w.serve, SocketPlace: func(vault string, userID int64) string { return fmt.Sprintf("/srv/v-%s-%d/s.sock", vault[:8], userID) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.desk, w.owner, w.agents = d, d.Owner(), d.Agents()
	w.t.Cleanup(func() { _ = d.Close() })
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.desk.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) create() {
	w.t.Helper()
	err := w.owner.Create(context.Background(), approvals.Creation{
		Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal,
		Domain: approvals.DomainForm{Namespace: "example", DomainID: "support-ops", Kind: "communication"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) unlock() {
	w.t.Helper()
	if err := w.owner.Unlock(context.Background(), keys.SurfaceTerminal); err != nil {
		w.t.Fatal(err)
	}
}

// agent is a paired program.
type agent struct {
	w      *world
	id     string
	secret handshake.Secret
	conn   approvals.Conversation
}

func (w *world) user() int64 {
	if w.uid == nil {
		return 1000
	}
	return *w.uid
}

// pair pairs a program and connects it.
func (w *world) pair(name string) *agent {
	w.t.Helper()
	ctx := context.Background()
	conv, greeting, err := w.agents.Hello(ctx, approvals.Peer{UserID: w.user(), Executable: "/usr/bin/agent"}, "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conv.Close()
	var nonce handshake.Nonce
	copy(nonce[:], name)
	offer, err := conv.PairBegin(ctx, approvals.PairAsk{Claimed: name, Commitment: handshake.Commit(nonce)})
	if err != nil {
		w.t.Fatal(err)
	}
	if a, err := conv.PairReveal(ctx, offer.Pairing, nonce[:]); err != nil || a.Pending != offer.Pairing {
		w.t.Fatalf("reveal: %+v, %v", a, err)
	}
	sheet, err := w.owner.Open(ctx, offer.Pairing)
	if err != nil {
		w.t.Fatal(err)
	}
	if want := handshake.Digits(greeting.Vault, nonce, handshake.Nonce(offer.Nonce)); sheet.Pairing.Digits != want {
		w.t.Fatalf("the sheet shows %s, the program %s", sheet.Pairing.Digits, want)
	}
	out, err := w.owner.Decide(ctx, approvals.Decision{ID: sheet.ID, Digest: sheet.Digest, Verdict: approvals.VerdictApprove, Name: name})
	if err != nil || out.Code != approvals.OutcomeDone {
		w.t.Fatalf("pair: %+v, %v", out, err)
	}
	a, err := conv.Await(ctx, offer.Pairing)
	if err != nil {
		w.t.Fatal(err)
	}
	var result struct{ Client, Secret string }
	if err := json.Unmarshal(a.Result, &result); err != nil {
		w.t.Fatal(err)
	}
	secret, err := handshake.Decode(result.Secret)
	if err != nil {
		w.t.Fatal(err)
	}
	ag := &agent{w: w, id: result.Client, secret: handshake.Secret(secret)}
	ag.connect()
	return ag
}

// connect proves both sides on a new connection.
func (a *agent) connect() {
	a.w.t.Helper()
	conv, err := a.dial(nil)
	if err != nil {
		a.w.t.Fatal(err)
	}
	a.conn = conv
}

func (a *agent) dial(head json.RawMessage) (approvals.Conversation, error) {
	ctx := context.Background()
	var cn handshake.Nonce
	if _, err := rand.Read(cn[:]); err != nil {
		return nil, err
	}
	conv, g, err := a.w.agents.Hello(ctx, approvals.Peer{UserID: a.w.user()}, a.id, cn[:])
	if err != nil {
		return nil, err
	}
	sn := handshake.Nonce(g.Nonce)
	if !handshake.Check(handshake.Proof(g.Proof), &a.secret, handshake.RoleVault, handshake.ProtocolVersion, g.Vault, cn, sn) {
		return nil, errors.New("the vault does not know the secret")
	}
	proof := handshake.Prove(&a.secret, handshake.RoleClient, handshake.ProtocolVersion, g.Vault, cn, sn)
	return conv, conv.Prove(ctx, proof[:], head)
}

// envelope makes an action envelope in the vault's first domain.
func (w *world) envelope(change func(*envelope.ActionFields)) []byte {
	w.t.Helper()
	info, err := envelope.NewDomainInfo("example", "support-ops", "communication")
	if err != nil {
		w.t.Fatal(err)
	}
	f := envelope.ActionFields{
		AgentID: "support-sender", Operation: "send-message", Resources: []string{"channel:support"},
		Window: envelope.Window{NotBefore: envelope.Some(w.clock.Now() - 1000), NotAfter: envelope.Some(w.clock.Now() + 48*3600_000)},
		Mode:   envelope.ModeBoth, MaxUses: envelope.Some(100),
	}
	if change != nil {
		change(&f)
	}
	e, err := envelope.NewActionEnvelope(info, f)
	if err != nil {
		w.t.Fatal(err)
	}
	return e.Canonical()
}

func payload(text string) []byte {
	return []byte(fmt.Sprintf(`{"type":"example.message","text":%q}`, text))
}

func (a *agent) ask(id string, env, payload []byte, interactive bool) (approvals.Answer, error) {
	return a.conn.ActionSign(context.Background(), approvals.Ask{RequestID: id, Session: "s1", Envelope: env, Payload: payload, Interactive: interactive})
}

// code is the code of a refusal, or "" for none.
func code(err error) string {
	var r *approvals.Refusal
	var k *keys.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &r):
		return r.Code
	case errors.As(err, &k):
		return k.Code
	}
	return "? " + err.Error()
}

// openFirst opens the sheet that may be opened now.
func (w *world) openFirst() approvals.Sheet {
	w.t.Helper()
	for _, it := range w.owner.Inbox() {
		if it.Next {
			s, err := w.owner.Open(context.Background(), it.ID)
			if err != nil {
				w.t.Fatal(err)
			}
			return s
		}
	}
	w.t.Fatal("nothing can be opened")
	return approvals.Sheet{}
}

func (w *world) decide(s approvals.Sheet, v approvals.Verdict) approvals.Outcome {
	w.t.Helper()
	d := approvals.Decision{ID: s.ID, Digest: s.Digest, Verdict: v}
	if s.Action != nil {
		d.GrantUses, d.GrantUntil = s.Action.GrantUses, s.Action.GrantUntil
	}
	out, err := w.owner.Decide(context.Background(), d)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// grant makes a grant of so many uses for an envelope, by one approved request.
func (a *agent) grant(env []byte, uses int64) approvals.Outcome {
	a.w.t.Helper()
	if ans, err := a.ask(fmt.Sprintf("grant-%x", sha256.Sum256(env))[:40], env, payload("first"), true); err != nil || ans.Pending == "" {
		a.w.t.Fatalf("ask: %+v, %v", ans, err)
	}
	s := a.w.openFirst()
	out, err := a.w.owner.Decide(context.Background(), approvals.Decision{
		ID: s.ID, Digest: s.Digest, Verdict: approvals.VerdictGrant, GrantUses: uses, GrantUntil: s.Action.GrantUntilMax,
	})
	if err != nil {
		a.w.t.Fatal(err)
	}
	return out
}

// entries counts log entries of a kind; "" counts all.
func (w *world) entries(kind string) int {
	w.t.Helper()
	n := 0
	for before := uint64(0); ; {
		es, err := w.owner.Events(approvals.EventFilter{Kind: kind, Before: before})
		if err != nil {
			w.t.Fatal(err)
		}
		n += len(es)
		if len(es) < 500 {
			return n
		}
		before = es[len(es)-1].Seq
	}
}

// verified fails unless the whole log is right.
func (w *world) verified() {
	w.t.Helper()
	r, err := w.owner.VerifyLog(context.Background())
	if err != nil || !r.OK {
		w.t.Fatalf("log: %+v, %v", r, err)
	}
}

func commit(nonce [32]byte) [32]byte { return handshake.Commit(handshake.Nonce(nonce)) }
