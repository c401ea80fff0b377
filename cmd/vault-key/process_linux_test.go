package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/cmd/internal/hygiene"
	"vault/custody"
	"vault/derive"
	"vault/derive/envelope"
	"vault/internal/memscan"
)

const testPassphrase = "a passphrase that is typed by nobody"

// bench is a folder with a built vault-key and a typist under the name of vault.
type bench struct {
	t     testing.TB
	dir   string
	vault string
	key   *hygiene.Process
	keys  *keys.Client

	pub     keys.Public
	state   journal.State
	raws    [][]byte
	head    []byte
	domains []keys.Permit
	client  keys.Permit
	info    *envelope.DomainInfo
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.vault = filepath.Join(b.dir, "folder")
	if err := os.Mkdir(b.vault, 0o700); err != nil {
		t.Fatal(err)
	}
	build(t, filepath.Join(b.dir, "vault-key"), ".")
	build(t, filepath.Join(b.dir, "vault"), "./testdata/typist")
	b.script(map[string]any{"passphrases": []string{testPassphrase}})
	return b
}

func build(t testing.TB, out, pkg string) {
	t.Helper()
	c := exec.Command("go", "build", "-o", out, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		c.Env = append(c.Env, "GOEXPERIMENT=runtimesecret")
	}
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, text)
	}
}

func (b *bench) script(m map[string]any) {
	b.t.Helper()
	m["words"], m["asked"] = filepath.Join(b.dir, "words"), filepath.Join(b.dir, "asked")
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "typist.json"), raw, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) start() net.Conn {
	b.t.Helper()
	here, there, err := hygiene.LinePair("key process")
	if err != nil {
		b.t.Fatal(err)
	}
	defer there.Close()
	p, err := hygiene.Start(hygiene.Command{
		Path: filepath.Join(b.dir, "vault-key"), Args: []string{"serve", b.vault}, Stderr: os.Stderr, Files: []*os.File{there},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.key, b.keys = p, keys.NewClient(here)
	b.t.Cleanup(func() {
		here.Close()
		_ = p.Kill() // it has ended in most cases
	})
	return here
}

// ended waits for the key process and returns its exit code.
func (b *bench) ended() int {
	b.t.Helper()
	<-b.keys.Done()
	code, err := b.key.Wait()
	if err != nil {
		b.t.Fatal(err)
	}
	return code
}

func (b *bench) load() {
	b.t.Helper()
	loaded, err := b.keys.Load(b.t.Context(), keys.Load{Entries: b.raws, Domains: b.domains, Last: true, Head: b.head})
	if err != nil || loaded.Seq != b.state.Seq() {
		b.t.Fatalf("%+v %v", loaded, err)
	}
}

func (b *bench) commit(kind journal.Kind, body any, a keys.Act) keys.Answer {
	b.t.Helper()
	raw, _, err := journal.New(b.pub.Instance, b.state.Seq()+1, b.state.Hash(), time.Now().UnixMilli(), kind, body)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.act(raw, a)
}

func (b *bench) act(raw []byte, a keys.Act) keys.Answer {
	b.t.Helper()
	a.Entry = raw
	answers, err := b.keys.Commit(b.t.Context(), []keys.Act{a})
	if err != nil || answers[0].Err != nil {
		b.t.Fatalf("%v %v", err, answers)
	}
	e, err := journal.Parse(raw)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.state.Apply(e); err != nil {
		b.t.Fatal(err)
	}
	b.raws, b.head = append(b.raws, raw), answers[0].Head
	return answers[0]
}

// create makes a vault with a domain and a client.
func (b *bench) create() {
	b.t.Helper()
	var err error
	if b.pub, err = b.keys.Create(b.t.Context(), keys.Create{Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal}); err != nil {
		b.t.Fatal(err)
	}
	if !b.pub.WordsShown {
		b.t.Error("the words were not asked back")
	}
	b.load()
	b.commit(journal.KindCreated, journal.Created{Vault: b.pub.Vault, OwnerKey: b.pub.OwnerKey, LogKey: b.pub.LogKey}, keys.Act{})
	if b.info, err = envelope.NewDomainInfo("example.org", "main", "agent"); err != nil {
		b.t.Fatal(err)
	}
	raw, err := b.keys.Plan(b.t.Context(), b.info.Canonical())
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := envelope.ParseProjection(raw)
	if err != nil {
		b.t.Fatal(err)
	}
	now := time.Now().UnixMilli()
	row := encodeRow(b.t, permit.Domain{Type: permit.TypeDomain, V: 1, Hash: b.info.Hash(), Projection: raw, CreatedAt: now})
	entry, _, err := journal.New(b.pub.Instance, b.state.Seq()+1, b.state.Hash(), now, journal.KindDomainCreated, journal.DomainCreated{
		DomainHash: b.info.Hash(), DomainID: "main", DomainAddress: p.Address(), PermitSHA256: permit.SHA256(row),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	answer := b.act(entry, keys.Act{Permits: []keys.Permit{{Body: row}}})
	b.domains = []keys.Permit{{Body: row, MAC: answer.MACs[0]}}
	now = time.Now().UnixMilli()
	row = encodeRow(b.t, permit.Client{
		Type: permit.TypeClient, V: 1, ID: "c_0000000000000001", Name: "Agent", SecretSHA256: journal.HashOf(nil), PairedAt: now,
	})
	entry, _, err = journal.New(b.pub.Instance, b.state.Seq()+1, b.state.Hash(), now, journal.KindClientPaired, journal.ClientPaired{
		Client: "c_0000000000000001", Name: "Agent", By: "click", PermitSHA256: permit.SHA256(row),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	answer = b.act(entry, keys.Act{Permits: []keys.Permit{{Body: row}}})
	b.client = keys.Permit{Body: row, MAC: answer.MACs[0]}
}

func encodeRow[T permit.Client | permit.Domain](t testing.TB, row T) []byte {
	t.Helper()
	body, err := permit.Encode(row)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (b *bench) envelope() *envelope.ActionEnvelope {
	b.t.Helper()
	e, err := envelope.NewActionEnvelope(b.info, envelope.ActionFields{
		AgentID: "agent", ActionIndex: 1, Operation: "write", Resources: []string{"doc:1"}, Mode: envelope.ModeAction, MaxUses: envelope.Some(100),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func (b *bench) sign() {
	b.t.Helper()
	e := b.envelope()
	payload := []byte(`{"note":"signed by a real process"}`)
	p, err := envelope.ParsePayload(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	address, err := b.keys.Address(b.t.Context(), e.Canonical())
	if err != nil {
		b.t.Fatal(err)
	}
	digest := p.Digest()
	answer := b.commit(journal.KindActionSigned, journal.ActionSigned{
		Request: "r", Client: "c_0000000000000001", By: "click", DomainHash: b.info.Hash(), EnvelopeHash: e.Hash(),
		Digest: "0x" + hex.EncodeToString(digest[:]), Address: address, Use: b.state.Uses(e.Hash()) + 1,
	}, keys.Act{Envelope: e.Canonical(), Payload: payload, Permits: []keys.Permit{b.client}})
	if r := envelope.VerifyAction(payload, answer.Signature, address); !r.Valid {
		b.t.Errorf("%+v", r)
	}
}

func TestKeyProcess(t *testing.T) {
	b := newBench(t)
	b.start()
	b.create()
	b.sign()
	if err := b.keys.Anchor(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.sign()

	// Killed in the middle, it is opened again with everything that was answered.
	if err := b.key.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := b.ended(); code != -1 {
		t.Errorf("killed, it ended with %d", code)
	}
	if _, err := b.keys.Commit(t.Context(), nil); err == nil {
		t.Error("a process that is gone has answered")
	}
	b.script(map[string]any{"passphrases": []string{"not the passphrase", testPassphrase}})
	b.start()
	pub, err := b.keys.Unlock(t.Context(), keys.Unlock{Surface: keys.SurfaceTerminal})
	if err != nil {
		t.Fatal(err)
	}
	if pub.Instance != b.pub.Instance || pub.LogKey != b.pub.LogKey {
		t.Errorf("%+v", pub)
	}
	b.pub = pub
	b.load()
	b.sign()
	if used := b.state.Uses(b.envelope().Hash()); used != 3 {
		t.Errorf("%d uses", used)
	}
	b.backup()
	b.nothingLeft()

	if err := b.keys.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code := b.ended(); code != exitOK {
		t.Errorf("locked, it ended with %d", code)
	}
	asked, err := os.ReadFile(filepath.Join(b.dir, "asked"))
	if err != nil || !bytes.Contains(asked, []byte(`"problem":"wrong_passphrase"`)) {
		t.Errorf("asked %s (%v)", asked, err)
	}
	r := journal.Verify(func(yield func([]byte) bool) {
		for _, raw := range b.raws {
			if !yield(raw) {
				return
			}
		}
	}, journal.Pins{Heads: [][]byte{b.head}, LogKey: b.pub.LogKey, Vault: b.pub.Vault})
	if !r.OK || r.Uncovered != 0 {
		t.Errorf("%+v", r)
	}
}

// nothingLeft looks from outside for the owner's secrets in the unlocked process:
// once it is idle, what is left of them lies in memory that nobody can read.
func (b *bench) nothingLeft() {
	t := b.t
	words, err := os.ReadFile(filepath.Join(b.dir, "words"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := custody.ParseRoot(words)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Destroy()
	set := append(memscan.Words("words", strings.Fields(string(words))), memscan.Pattern{Name: "passphrase", Bytes: []byte(testPassphrase)})
	set = append(set, memscan.Secret("root", root.Bytes())...)
	var seed derive.Secret
	for name, f := range map[string]func() error{
		"domain seed": func() error { return derive.DomainSeed(&seed, root.Bytes(), b.info) },
		"action seed": func() error {
			var domain derive.Secret
			if err := derive.DomainSeed(&domain, root.Bytes(), b.info); err != nil {
				return err
			}
			return derive.ActionSeed(&seed, domain[:], b.envelope())
		},
		"log seed":  func() error { return derive.LogSeed(&seed, root.Bytes(), b.pub.Instance) },
		"store key": func() error { return derive.StoreKey(&seed, root.Bytes()) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
		set = append(set, memscan.Secret(name, bytes.Clone(seed[:]))...)
	}
	// The patterns are ones that are found where they are: here.
	if here, err := memscan.Process(os.Getpid(), set); err != nil || here.Total() == 0 {
		t.Skipf("memory cannot be scanned here: %v", err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		got, err := memscan.Process(b.key.Pid(), set)
		if err != nil {
			t.Fatal(err)
		}
		if got.Total() == 0 {
			t.Logf("scanned %d bytes, %d mappings cannot be read", got.Scanned, len(got.Unread))
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left in memory: %v", got.Counts)
			return
		}
		runtime.Gosched()
	}
}

func (b *bench) backup() {
	t := b.t
	b.script(map[string]any{"passphrases": []string{testPassphrase}})
	store := filepath.Join(b.dir, "copy.db")
	if err := os.WriteFile(store, []byte("a store"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(b.dir, "backup.age")
	req := keys.Backup{Surface: keys.SurfaceTerminal, Store: store, File: file}
	if err := b.keys.Backup(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := b.keys.Backup(t.Context(), req); err == nil {
		t.Error("a backup was overwritten")
	}
	id, err := age.NewScryptIdentity(testPassphrase)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := age.Decrypt(f, id)
	if err != nil {
		t.Fatal(err)
	}
	got := new(bytes.Buffer)
	if _, err := got.ReadFrom(plain); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{custody.SealedName, storeName, "AVSEALED", "a store"} {
		if !bytes.Contains(got.Bytes(), []byte(want)) {
			t.Errorf("the backup holds no %s", want)
		}
	}
}

// TestRestoreFromABackup: the file that one process wrote is opened by another, in
// another folder, with its passphrase and no other.
func TestRestoreFromABackup(t *testing.T) {
	b := newBench(t)
	b.start()
	b.create()
	b.sign()
	b.backup()
	before := b.pub
	if err := b.keys.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, placed := filepath.Join(b.dir, "backup.age"), filepath.Join(b.dir, "placed.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(b.dir, "cut.age")
	if err := os.WriteFile(cut, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	restore := func(folder string, r keys.Restore) (keys.Public, error) {
		t.Helper()
		b.vault = filepath.Join(b.dir, folder)
		b.start()
		r.Protection, r.Surface = keys.ProtectPassphrase, keys.SurfaceTerminal
		return b.keys.Restore(t.Context(), r)
	}
	for _, tt := range []struct {
		name string
		r    keys.Restore
		code string
	}{
		{"cut short", keys.Restore{Backup: cut, Store: placed}, "not_backup"},
		{"no backup", keys.Restore{Backup: filepath.Join(b.dir, "typist.json"), Store: placed}, "not_backup"},
		{"not there", keys.Restore{Backup: file + "x", Store: placed}, "backup_unreadable"},
		{"store that exists", keys.Restore{Backup: file, Store: cut}, "backup_unreadable"},
		{"path that depends", keys.Restore{Backup: "backup.age", Store: placed}, "malformed"},
	} {
		_, err := restore("refused", tt.r)
		var e *keys.Error
		if !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.code)
		}
		for _, left := range []string{placed, filepath.Join(b.vault, custody.SealedName)} {
			if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s is left (%v)", tt.name, left, err)
			}
		}
	}
	b.script(map[string]any{"passphrases": []string{"not of the backup", testPassphrase, "another one, of this computer"}})
	pub, err := restore("elsewhere", keys.Restore{Backup: file, Store: placed})
	if err != nil {
		t.Fatal(err)
	}
	if pub.OwnerKey != before.OwnerKey || pub.Instance == before.Instance || pub.LogKey == before.LogKey || pub.StartReason != "restored" {
		t.Errorf("%+v", pub)
	}
	if raw, err := os.ReadFile(placed); err != nil || string(raw) != "a store" {
		t.Errorf("placed %q, %v", raw, err)
	}
	asked, err := os.ReadFile(filepath.Join(b.dir, "asked"))
	if err != nil || !bytes.Contains(asked, []byte(`"form":"passphrase","purpose":"restore_backup","problem":"wrong_passphrase"`)) {
		t.Errorf("asked %s (%v)", asked, err)
	}
	if err := b.keys.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.script(map[string]any{"passphrases": []string{"another one, of this computer"}})
	b.start()
	if again, err := b.keys.Unlock(t.Context(), keys.Unlock{Surface: keys.SurfaceTerminal}); err != nil || again.Instance != pub.Instance {
		t.Errorf("%+v %v", again, err)
	}
}

// TestEndOfTheDesk: when the line ends the process ends, also while it waits for
// the secret window, and the window's process with it.
func TestEndOfTheDesk(t *testing.T) {
	b := newBench(t)
	line := b.start()
	b.create()
	if err := line.Close(); err != nil {
		t.Fatal(err)
	}
	if code := b.ended(); code != exitOK {
		t.Errorf("ended with %d", code)
	}

	asked := filepath.Join(b.dir, "asked")
	if err := os.Remove(asked); err != nil {
		t.Fatal(err)
	}
	b.script(map[string]any{"wait": true})
	line = b.start()
	unlocked := make(chan error, 1)
	go func() {
		_, err := b.keys.Unlock(context.Background(), keys.Unlock{Surface: keys.SurfaceWindow})
		unlocked <- err
	}()
	until(t, "the window asks", func() bool { _, err := os.Stat(asked); return err == nil })
	windows := children(t, b.key.Pid())
	if len(windows) != 1 {
		t.Fatalf("%d processes under the key process, want the window's", len(windows))
	}
	if err := line.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-unlocked; err == nil {
		t.Error("unlocked by nobody")
	}
	if code := b.ended(); code != exitOK {
		t.Errorf("ended with %d", code)
	}
	until(t, "the window has ended", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%s/exe", windows[0]))
		return os.IsNotExist(err)
	})
}

// until waits for a condition that comes about by itself.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !met() {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long until %s", what)
		}
		runtime.Gosched()
	}
}

// children lists the processes that a process has started and that still run.
func children(t *testing.T, pid int) []string {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range lists {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		out = append(out, strings.Fields(string(raw))...)
	}
	return out
}

func TestKeyProcessIsSmall(t *testing.T) {
	b := newBench(t)
	b.start()
	b.create()
	b.sign()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.key.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	var kib int
	for line := range strings.Lines(string(raw)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			break
		}
	}
	t.Logf("resident: %d KiB", kib)
	if kib == 0 || kib > 25<<10 {
		t.Errorf("resident memory %d KiB, want less than 25 MiB", kib)
	}
}
