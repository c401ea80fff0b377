package sign

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/custody"
	"vault/derive/envelope"
	"vault/internal/quickkdf"
)

// testClock is a clock that stands.
type testClock struct {
	mu         sync.Mutex
	now, boot_ int64
}

func (c *testClock) Now() int64  { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *testClock) Boot() int64 { c.mu.Lock(); defer c.mu.Unlock(); return c.boot_ }

// pass lets time go by on both clocks.
func (c *testClock) pass(ms int64) { c.set(ms, ms) }

func (c *testClock) set(wall, boot int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += wall
	c.boot_ += boot
}

// seeded is randomness that is the same each time, for several goroutines.
type seeded struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (s *seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Read(p)
}

// memoryKeyring is a keyring that can be changed behind the vault's back.
type memoryKeyring struct {
	mu    sync.Mutex
	items map[string][]byte
	fails error // every call
	keeps error // only Delete
}

func (k *memoryKeyring) Get(_ context.Context, user string, dst *custody.Secret) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.items[user]
	if k.fails != nil {
		return 0, k.fails
	}
	if !ok {
		return 0, custody.ErrKeyringNotFound
	}
	return copy(dst.Bytes(), v), nil
}

func (k *memoryKeyring) Set(_ context.Context, user string, value []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails != nil {
		return k.fails
	}
	k.items[user] = bytes.Clone(value)
	return nil
}

func (k *memoryKeyring) Delete(_ context.Context, user string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keeps != nil {
		return k.keeps
	}
	delete(k.items, user)
	return k.fails
}

const goodPassphrase = "correct horse battery staple"

// owner answers the secret window.
type owner struct {
	answers  []string // typed one after the other; empty: goodPassphrase
	asked    []Question
	words    []string
	cancels  bool
	finished []string
}

func (o *owner) Ask(_ context.Context, q Question, words, answer []byte) (int, error) {
	o.asked = append(o.asked, q)
	if o.cancels {
		return 0, ErrCancelled
	}
	switch q.Form {
	case "show_words":
		o.words = strings.Fields(string(words))
		return 0, nil
	case "ask_words":
		if len(o.answers) == 0 {
			n := 0
			for _, place := range q.Places {
				n += copy(answer[n:], o.words[place-1]+"\n")
			}
			return n, nil
		}
	}
	text := goodPassphrase
	if len(o.answers) > 0 {
		text, o.answers = o.answers[0], o.answers[1:]
	}
	if text == "back" {
		return 0, ErrBack
	}
	return copy(answer, text), nil
}

func (o *owner) Finish(code string) { o.finished = append(o.finished, code) }

// desk keeps what a desk keeps: the log, the rows and the newest head.
type desk struct {
	t        testing.TB
	clock    *testClock
	keyring  *memoryKeyring
	owner    *owner
	config   Config
	signer   *Signer
	pub      keys.Public
	state    journal.State
	raws     [][]byte
	head     []byte
	heads    [][]byte
	older    []byte // a sealed file from before
	domains  []keys.Permit
	client   keys.Permit
	clientID string
	info     *envelope.DomainInfo
	signed   int // signatures the key process gave away
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{
		t: t, clock: &testClock{now: 1_760_000_000_000, boot_: 5_000}, keyring: &memoryKeyring{items: map[string][]byte{}},
		owner: &owner{},
	}
	seed := &seeded{source: rand.NewChaCha8([32]byte{1})}
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.config = Config{
		Custody: custody.Config{
			Dir: dir, Rand: seed, Now: func() time.Time { return time.UnixMilli(d.clock.Now()) }, Keyring: d.keyring, KDF: quickkdf.KDF{},
			Evidence: []string{MarkName},
		},
		Clock:  d.clock,
		Window: func(context.Context, keys.Surface) (Window, error) { return d.owner, nil },
		Fault:  func(err error) { t.Log("fault:", err) },
		Cost:   func(context.Context) (custody.Params, error) { return custody.Floor, nil },
	}
	d.signer = New(d.config)
	t.Cleanup(func() { d.signer.Close() })
	return d
}

// open makes a vault with a domain and a client.
func open(t testing.TB) *desk {
	t.Helper()
	d := newDesk(t)
	pub, err := d.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectKeyringAndPassphrase, Surface: keys.SurfaceTerminal})
	if err != nil {
		t.Fatal(err)
	}
	d.pub = pub
	d.load()
	d.must(journal.KindCreated, journal.Created{Vault: pub.Vault, OwnerKey: pub.OwnerKey, LogKey: pub.LogKey}, keys.Act{})
	d.setUp()
	return d
}

func (d *desk) setUp() {
	d.t.Helper()
	d.openDomain("main")
	d.pair("c_0000000000000001")
}

func (d *desk) load() error {
	loaded, err := d.signer.Load(context.Background(), keys.Load{Entries: d.raws, Domains: d.domains, Last: true, Head: d.head})
	if err == nil && (loaded.Seq != d.state.Seq() || loaded.Hash != d.state.Hash()) {
		d.t.Fatalf("loaded %+v", loaded)
	}
	return err
}

// again ends the key process without a word, and opens the vault with a new one.
func (d *desk) again() error {
	d.t.Helper()
	d.signer.Close()
	d.signer = New(d.config)
	pub, err := d.signer.Unlock(context.Background(), keys.Unlock{Surface: keys.SurfaceTerminal})
	if err != nil {
		return err
	}
	d.pub = pub
	return d.load()
}

func (d *desk) entry(kind journal.Kind, body any) []byte {
	d.t.Helper()
	instance := d.state.Instance()
	if instance == "" {
		instance = d.pub.Instance
	}
	raw, _, err := journal.New(instance, d.state.Seq()+1, d.state.Hash(), d.clock.Now(), kind, body)
	if err != nil {
		d.t.Fatal(err)
	}
	return raw
}

// try commits one act and keeps it when it was taken.
func (d *desk) try(kind journal.Kind, body any, a keys.Act) (keys.Answer, error) {
	d.t.Helper()
	a.Entry = d.entry(kind, body)
	return d.commit(a)
}

func (d *desk) commit(a keys.Act) (keys.Answer, error) {
	d.t.Helper()
	answers, err := d.signer.Commit(context.Background(), []keys.Act{a})
	if err != nil {
		return keys.Answer{}, err
	}
	if answers[0].Err != nil {
		if len(answers[0].Head) > 0 || answers[0].Signature != "" || len(answers[0].MACs) > 0 {
			d.t.Fatalf("a refused act was answered with %+v", answers[0])
		}
		return answers[0], answers[0].Err
	}
	d.keep(a.Entry, answers[0])
	return answers[0], nil
}

func (d *desk) keep(raw []byte, answer keys.Answer) {
	d.t.Helper()
	e, err := journal.Parse(raw)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.state.Apply(e); err != nil {
		d.t.Fatal(err)
	}
	h, err := journal.ParseHead(answer.Head)
	if err != nil || h.Hash != e.Hash() || h.Key != d.pub.LogKey {
		d.t.Fatalf("head %s: %v", answer.Head, err)
	}
	if answer.Signature != "" {
		d.signed++
	}
	d.raws, d.head, d.heads = append(d.raws, raw), answer.Head, append(d.heads, answer.Head)
}

func (d *desk) must(kind journal.Kind, body any, a keys.Act) keys.Answer {
	d.t.Helper()
	answer, err := d.try(kind, body, a)
	if err != nil {
		d.t.Fatalf("%s: %v", kind, err)
	}
	return answer
}

// refused tries an act and wants exactly this code.
func (d *desk) refused(code string, kind journal.Kind, body any, a keys.Act) {
	d.t.Helper()
	before := d.signer.state.SHA256()
	_, err := d.try(kind, body, a)
	wantCode(d.t, err, code)
	if d.signer.state.SHA256() != before {
		d.t.Error("a refused act changed the state")
	}
}

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	var e *keys.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want code %q", err, code)
	}
}

func (d *desk) domainRow(id string) (journal.DomainCreated, keys.Act) {
	d.t.Helper()
	info, err := envelope.NewDomainInfo("example.org", id, "agent")
	if err != nil {
		d.t.Fatal(err)
	}
	d.info = info
	raw, err := d.signer.Plan(context.Background(), info.Canonical())
	if err != nil {
		d.t.Fatal(err)
	}
	p, err := envelope.ParseProjection(raw)
	if err != nil {
		d.t.Fatal(err)
	}
	body, err := permit.Encode(permit.Domain{Type: permit.TypeDomain, V: 1, Hash: info.Hash(), Projection: raw, CreatedAt: d.clock.Now()})
	if err != nil {
		d.t.Fatal(err)
	}
	return journal.DomainCreated{DomainHash: info.Hash(), DomainID: id, DomainAddress: p.Address(), PermitSHA256: permit.SHA256(body)},
		keys.Act{Permits: []keys.Permit{{Body: body}}}
}

func (d *desk) openDomain(id string) {
	d.t.Helper()
	body, act := d.domainRow(id)
	answer := d.must(journal.KindDomainCreated, body, act)
	d.domains = append(d.domains, keys.Permit{Body: act.Permits[0].Body, MAC: answer.MACs[0]})
}

func (d *desk) clientRow(id, name string) (journal.ClientPaired, permit.Client, []byte) {
	d.t.Helper()
	c := permit.Client{
		Type: permit.TypeClient, V: 1, ID: id, Name: name, Claimed: "agent", UserID: 1000, Executable: "/usr/bin/agent",
		SecretSHA256: journal.HashOf([]byte(id)), PairedAt: d.clock.Now(),
	}
	body := encode(d.t, c)
	return journal.ClientPaired{Client: id, Name: name, By: "click", PermitSHA256: permit.SHA256(body)}, c, body
}

func encode[T permit.Client | permit.Domain | permit.Grant | permit.Delegate](t testing.TB, row T) []byte {
	t.Helper()
	body, err := permit.Encode(row)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (d *desk) pair(id string) {
	d.t.Helper()
	entry, _, body := d.clientRow(id, "My agent")
	answer := d.must(journal.KindClientPaired, entry, keys.Act{Permits: []keys.Permit{{Body: body}}})
	d.client, d.clientID = keys.Permit{Body: body, MAC: answer.MACs[0]}, id
}

// fields are those of an envelope that is open now.
func (d *desk) fields() envelope.ActionFields {
	return envelope.ActionFields{
		AgentID: "agent-1", ActionIndex: 1, Operation: "write", Resources: []string{"doc:1"}, Mode: envelope.ModeBoth,
		Window:  envelope.Window{NotBefore: envelope.Some(d.clock.Now() - 1000), NotAfter: envelope.Some(d.clock.Now() + 7*86_400_000)},
		MaxUses: envelope.Some(50),
	}
}

// action is an act that would be taken, to be made worse by a test.
func (d *desk) action(f envelope.ActionFields, payload string) (journal.ActionSigned, keys.Act) {
	d.t.Helper()
	env, err := envelope.NewActionEnvelope(d.info, f)
	if err != nil {
		d.t.Fatal(err)
	}
	p, err := envelope.ParsePayload([]byte(payload))
	if err != nil {
		d.t.Fatal(err)
	}
	address, err := d.signer.Address(context.Background(), env.Canonical())
	if err != nil {
		d.t.Fatal(err)
	}
	digest := p.Digest()
	return journal.ActionSigned{
			Request: "r1", Client: d.clientID, By: "click", DomainHash: d.info.Hash(), EnvelopeHash: env.Hash(),
			Digest: "0x" + hex.EncodeToString(digest[:]), Address: address, Use: d.state.Uses(env.Hash()) + 1,
		}, keys.Act{
			Envelope: env.Canonical(), Payload: []byte(payload), Permits: []keys.Permit{d.client},
		}
}

func (d *desk) grantRow(a journal.ActionSigned, uses int64) (journal.GrantMade, permit.Grant) {
	g := permit.Grant{
		Type: permit.TypeGrant, V: 1, ID: "g_0000000000000001", Client: a.Client, EnvelopeHash: a.EnvelopeHash, DomainHash: a.DomainHash,
		Uses: uses, NotAfter: d.clock.Now() + 3_600_000, MadeAt: d.clock.Now(), By: "click",
	}
	return journal.GrantMade{
		Grant: g.ID, Client: g.Client, EnvelopeHash: g.EnvelopeHash, Uses: g.Uses, NotAfter: g.NotAfter, By: g.By,
		PermitSHA256: permit.SHA256(encode(d.t, g)),
	}, g
}

// granted makes a grant and an act under it.
func (d *desk) granted(f envelope.ActionFields, uses int64) (journal.ActionSigned, keys.Act) {
	d.t.Helper()
	body, act := d.action(f, `{"note":1}`)
	made, g := d.grantRow(body, uses)
	row := keys.Permit{Body: encode(d.t, g)}
	answer := d.must(journal.KindGrantMade, made, keys.Act{Envelope: act.Envelope, Permits: []keys.Permit{d.client, row}})
	row.MAC = answer.MACs[0]
	body.By, body.Grant = "grant", g.ID
	act.Permits = append(act.Permits, row)
	return body, act
}

// seal reads what the vault remembers of its log.
func (d *desk) sealed() custody.State { return d.signer.vault.State() }
