package custody

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var protections = []Protection{KeyringAndPassphrase, PassphraseOnly, KeyringOnly}

func TestCreateOpenUpdate(t *testing.T) {
	for _, p := range protections {
		t.Run(string(p), func(t *testing.T) {
			b := newBench(t)
			if found, err := Look(b.cfg.Dir); err != nil || found.State != None {
				t.Fatalf("%+v %v", found, err)
			}
			v := b.create(t, p)
			root := rootOf(t, v)
			head := Head{Seq: 7, Hash: Hash{1, 2, 3}}
			err := v.Update(t.Context(), func(s *State) {
				s.Log, s.WordsShown, s.Policy = head, true, json.RawMessage(`{"a":1}`)
				s.VaultID, s.Generation, s.Protection, s.Demo = ID{}, 99, "", true
				if p != KeyringOnly {
					s.Passkeys, s.FirstPasskeyAt = []json.RawMessage{json.RawMessage(`{"id":"k"}`)}, 5
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			want := v.State()
			v.Lock()
			again := b.mustOpen(t)
			got := again.State()
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.Generation != 2 || got.Log != head || got.Protection != p || got.Demo {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if !bytes.Equal(rootOf(t, again), root) || again.Doubt() != nil {
				t.Errorf("root or doubt differ: %v", again.Doubt())
			}
			if again.Anchored() != p.UsesKeyring() {
				t.Errorf("anchored %v", again.Anchored())
			}
			found, err := Look(b.cfg.Dir)
			if err != nil || found.State != Present || found.Header.VaultID != got.VaultID || found.Header.Protection != p {
				t.Errorf("%+v %v", found, err)
			}
			info, err := os.Stat(b.path())
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			if bytes.Contains(b.file(t), root) {
				t.Error("the root is in the file")
			}
			b.refusesSecondRoot(t)
		})
	}
}

func TestLockedVaultRefuses(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	before := b.file(t)
	v.Lock()
	v.Lock()
	for name, err := range map[string]error{
		"root":     v.WithRoot(func([]byte) error { return nil }),
		"update":   v.Update(t.Context(), func(*State) {}),
		"anchor":   v.Anchor(t.Context(), Head{Seq: 1}),
		"change":   v.ChangeProtection(t.Context(), b.request(t, PassphraseOnly)),
		"instance": v.NewInstance(t.Context()),
	} {
		if !errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !bytes.Equal(before, b.file(t)) {
		t.Error("the file changed")
	}
}

func TestWrongPassphraseAndKey(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	id := v.State().VaultID
	v.Lock()
	try := func(pass string) error {
		v, err := Open(t.Context(), b.cfg, secretOf(t, pass))
		if err == nil {
			v.Lock()
		}
		return err
	}
	if err := try("another passphrase"); !errors.Is(err, ErrWrongPassphrase) {
		t.Errorf("wrong passphrase: %v", err)
	}
	if _, err := Open(t.Context(), b.cfg, nil); !errors.Is(err, ErrPassphraseNeeded) {
		t.Errorf("no passphrase: %v", err)
	}
	name := ""
	for n := range b.keyring.items {
		if strings.HasPrefix(n, id.String()+".key.") {
			name = n
		}
	}
	kept := b.keyring.items[name]
	calls := b.kdf.calls
	delete(b.keyring.items, name)
	if err := try(goodPass); !errors.Is(err, ErrKeyMissing) {
		t.Errorf("no share: %v", err)
	}
	b.refusesSecondRoot(t)
	for _, bad := range []string{"", "not base64!", kept[:40], kept + kept} {
		b.keyring.items[name] = bad
		if err := try(goodPass); !errors.Is(err, ErrKeyringValue) {
			t.Errorf("share %q: %v", bad, err)
		}
	}
	for _, fail := range []*Error{ErrNoBus, ErrNoService, ErrNoDefault, ErrKeyringLocked, ErrKeyringTimeout, ErrKeyringRefused} {
		b.keyring.fail = fail
		if err := try(goodPass); !errors.Is(err, fail) || CodeOf(err) != fail.Code() {
			t.Errorf("%s: %v", fail.Code(), err)
		}
		b.refusesSecondRoot(t)
	}
	if b.kdf.calls != calls {
		t.Errorf("the passphrase function ran %d times before the keyring had answered", b.kdf.calls-calls)
	}
	b.keyring.fail, b.keyring.items[name] = nil, kept
	b.mustOpen(t)
}

func TestCreateFailsWithKeyring(t *testing.T) {
	for _, fail := range []*Error{ErrNoBus, ErrKeyringLocked, ErrKeyringTimeout} {
		b := newBench(t)
		b.keyring.fail = fail
		if _, err := Create(t.Context(), b.cfg, b.request(t, KeyringAndPassphrase)); !errors.Is(err, fail) {
			t.Errorf("%v", err)
		}
		if found, err := Look(b.cfg.Dir); err != nil || found.State != None {
			t.Errorf("something was left: %+v %v", found, err)
		}
	}
	b := newBench(t)
	b.cfg.Keyring = nil
	if _, err := Create(t.Context(), b.cfg, b.request(t, KeyringOnly)); !errors.Is(err, ErrKeyringNeeded) {
		t.Errorf("%v", err)
	}
}

func TestCreateRefusesBadRequests(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config, *Request)
		want   error
	}{
		"short passphrase": {func(_ *Config, r *Request) { r.Passphrase = secretOf(t, "seven77") }, ErrPassphraseNeeded},
		"long passphrase":  {func(_ *Config, r *Request) { r.Passphrase = secretOf(t, strings.Repeat("x", 1025)) }, ErrPassphraseNeeded},
		"no passphrase":    {func(_ *Config, r *Request) { r.Passphrase = nil }, ErrPassphraseNeeded},
		"protection":       {func(_ *Config, r *Request) { r.Protection = "none" }, nil},
		"cost":             {func(_ *Config, r *Request) { r.Params = Params{Time: 1, MemoryKiB: 64, Threads: 1} }, nil},
		"zero root":        {func(c *Config, _ *Request) { c.Rand = bytes.NewReader(make([]byte, 4096)) }, ErrRootWeak},
		"short random":     {func(c *Config, _ *Request) { c.Rand = bytes.NewReader([]byte("abc")) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			r := b.request(t, PassphraseOnly)
			c.change(&b.cfg, &r)
			_, err := Create(t.Context(), b.cfg, r)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
			if found, err := Look(b.cfg.Dir); err != nil || found.State != None {
				t.Errorf("something was left: %+v %v", found, err)
			}
		})
	}
}

// TestCreateWhereThereIsNoFolder: the folder is made, for the owner alone, and where it
// cannot be made that is said.
func TestCreateWhereThereIsNoFolder(t *testing.T) {
	for _, p := range protections {
		b := newBench(t)
		b.cfg.Dir = filepath.Join(b.cfg.Dir, "deeper", "vault")
		b.create(t, p)
		for dir := b.cfg.Dir; dir != filepath.Dir(filepath.Dir(filepath.Dir(b.cfg.Dir))); dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			must(t, err)
			if info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("%s: %s is made with mode %v", p, dir, info.Mode())
			}
		}
	}
	b := newBench(t)
	must(t, os.WriteFile(b.cfg.Dir, nil, 0o600))
	b.cfg.Dir = filepath.Join(b.cfg.Dir, "vault")
	if _, err := Create(t.Context(), b.cfg, b.request(t, PassphraseOnly)); !errors.Is(err, ErrFolderUnusable) {
		t.Errorf("below a file: %v", err)
	}
}

func TestLostSealedFileIsNotNone(t *testing.T) {
	b := newBench(t)
	b.create(t, PassphraseOnly).Lock()
	if err := os.WriteFile(filepath.Join(b.cfg.Dir, "store.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(b.path()); err != nil {
		t.Fatal(err)
	}
	if found, err := Look(b.cfg.Dir, b.cfg.Evidence...); err != nil || found.State != Missing {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := Create(t.Context(), b.cfg, b.request(t, PassphraseOnly)); !errors.Is(err, ErrSealedMissing) {
		t.Errorf("create: %v", err)
	}
	if _, err := b.open(t); !errors.Is(err, ErrSealedMissing) {
		t.Errorf("open: %v", err)
	}
}

func TestUnreadableIsNotNone(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, b *bench)
		want error
	}{
		"link":        {func(t *testing.T, b *bench) { must(t, os.Symlink("/nonexistent", b.path())) }, ErrFolderUnsafe},
		"pipe":        {func(t *testing.T, b *bench) { must(t, syscall.Mkfifo(b.path(), 0o600)) }, ErrFolderUnsafe},
		"dir":         {func(t *testing.T, b *bench) { must(t, os.Mkdir(b.path(), 0o700)) }, ErrFolderUnsafe},
		"open folder": {func(t *testing.T, b *bench) { must(t, os.Chmod(b.cfg.Dir, 0o755)) }, ErrFolderUnsafe},
		"linked folder": {func(t *testing.T, b *bench) {
			link := filepath.Join(filepath.Dir(b.cfg.Dir), "link")
			must(t, os.Symlink(b.cfg.Dir, link))
			b.cfg.Dir = link
		}, ErrFolderUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			must(t, os.MkdirAll(b.cfg.Dir, 0o700))
			c.make(t, b)
			if found, err := Look(b.cfg.Dir); !errors.Is(err, c.want) {
				t.Errorf("look: %+v %v", found, err)
			}
			if _, err := Create(t.Context(), b.cfg, b.request(t, PassphraseOnly)); !errors.Is(err, c.want) {
				t.Errorf("create: %v", err)
			}
			if _, err := b.open(t); !errors.Is(err, c.want) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// typed are the refusals that damage may lead to.
var typed = []*Error{ErrDamaged, ErrNewerFormat, ErrWrongPassphrase, ErrWrongKey, ErrKeyMissing, ErrKeyringNeeded}

func TestDamageAtEveryByte(t *testing.T) {
	for _, p := range protections {
		t.Run(string(p), func(t *testing.T) {
			b := newBench(t)
			v := b.create(t, p)
			must(t, v.Update(t.Context(), func(s *State) { s.Policy = json.RawMessage(`{"rule":"of some length"}`) }))
			v.Lock()
			whole := b.file(t)
			pass := secretOf(t, goodPass)
			open := func(f []byte) error {
				v, err := openBytes(t.Context(), b.cfg, f, pass)
				if err == nil {
					v.wipe()
				}
				return err
			}
			must(t, open(whole))
			for i := range whole {
				for _, flip := range []byte{1, 0x80, 0xff} {
					bad := bytes.Clone(whole)
					bad[i] ^= flip
					if err := open(bad); !errors.Is(err, ErrDamaged) {
						t.Fatalf("byte %d ^ %#x: %v", i, flip, err)
					}
					// And with the right digest, as an attacker would.
					if i >= len(whole)-sumLen {
						continue
					}
					err := open(resum(bad))
					if !slices.ContainsFunc(typed, func(e *Error) bool { return errors.Is(err, e) }) {
						t.Fatalf("byte %d ^ %#x with digest: %v", i, flip, err)
					}
				}
			}
			for n := range whole {
				if err := open(whole[:n]); !errors.Is(err, ErrDamaged) {
					t.Fatalf("cut to %d: %v", n, err)
				}
			}
			if err := open(append(bytes.Clone(whole), 0)); !errors.Is(err, ErrDamaged) {
				t.Errorf("a byte more: %v", err)
			}
			b.put(t, whole[:50])
			found, err := Look(b.cfg.Dir)
			if err != nil || found.State != Damaged {
				t.Errorf("%+v %v", found, err)
			}
			b.refusesSecondRoot(t)
		})
	}
}

func TestNewerFormat(t *testing.T) {
	b := newBench(t)
	b.create(t, PassphraseOnly).Lock()
	f := b.file(t)
	binary.BigEndian.PutUint16(f[8:], formatNow+1)
	b.put(t, resum(append(f[:70], make([]byte, sumLen)...)))
	if found, err := Look(b.cfg.Dir); err != nil || found.State != Newer {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := b.open(t); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("%v", err)
	}
	root := secretOf(t, strings.Repeat("ab", 16))
	if _, err := Restore(t.Context(), b.cfg, b.request(t, PassphraseOnly), root); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("restore: %v", err)
	}
	b.refusesSecondRoot(t)
}

func TestBombsAreRefusedBeforeTheKDF(t *testing.T) {
	b := newBench(t)
	b.create(t, PassphraseOnly).Lock()
	whole := b.file(t)
	calls := b.kdf.calls
	for name, set := range map[string]func([]byte){
		"memory 2 TiB":   func(f []byte) { binary.BigEndian.PutUint32(f[48:], 1<<31) },
		"memory max":     func(f []byte) { binary.BigEndian.PutUint32(f[48:], 1<<32-1) },
		"memory 1 GiB+1": func(f []byte) { binary.BigEndian.PutUint32(f[48:], 1<<20+1) },
		"memory floor-1": func(f []byte) { binary.BigEndian.PutUint32(f[48:], Floor.MemoryKiB-1) },
		"memory 0":       func(f []byte) { binary.BigEndian.PutUint32(f[48:], 0) },
		"time max":       func(f []byte) { binary.BigEndian.PutUint32(f[44:], 1<<32-1) },
		"time 33":        func(f []byte) { binary.BigEndian.PutUint32(f[44:], 33) },
		"time 2":         func(f []byte) { binary.BigEndian.PutUint32(f[44:], 2) },
		"threads 0":      func(f []byte) { f[52] = 0 },
		"threads 255":    func(f []byte) { f[52] = 255 },
		"threads 3":      func(f []byte) { f[52] = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := bytes.Clone(whole)
			set(bad)
			b.put(t, resum(bad))
			if _, err := b.open(t); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v", err)
			}
		})
	}
	if b.kdf.calls != calls {
		t.Errorf("the passphrase function ran %d times", b.kdf.calls-calls)
	}
}

func TestRollback(t *testing.T) {
	for name, c := range map[string]struct {
		back func(t *testing.T, b *bench, old []byte, oldItems map[string]string)
		want error
	}{
		"nothing": {func(*testing.T, *bench, []byte, map[string]string) {}, nil},
		"file":    {func(t *testing.T, b *bench, old []byte, _ map[string]string) { b.put(t, old) }, ErrRolledBack},
		"keyring": {func(_ *testing.T, b *bench, _ []byte, items map[string]string) { b.keyring.items = items }, nil},
		// The vault cannot notice this one itself; docs/threat-model.md says so.
		"both": {func(t *testing.T, b *bench, old []byte, items map[string]string) {
			b.put(t, old)
			b.keyring.items = items
		}, nil},
		"head deleted": {func(t *testing.T, b *bench, _ []byte, _ map[string]string) {
			maps.DeleteFunc(b.keyring.items, func(k, _ string) bool { return strings.HasSuffix(k, ".head") })
		}, ErrAnchorMissing},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			v := b.create(t, KeyringAndPassphrase)
			must(t, v.Anchor(t.Context(), Head{Seq: 3, Hash: Hash{3}}))
			old, items := b.file(t), maps.Clone(b.keyring.items)
			must(t, v.Anchor(t.Context(), Head{Seq: 5, Hash: Hash{5}}))
			v.Lock()
			c.back(t, b, old, items)
			again := b.mustOpen(t)
			if c.want == nil {
				if err := again.Doubt(); err != nil {
					t.Fatalf("doubt: %v", err)
				}
				must(t, again.Anchor(t.Context(), Head{Seq: 6, Hash: Hash{6}}))
				return
			}
			if err := again.Doubt(); !errors.Is(err, c.want) {
				t.Fatalf("doubt: %v", err)
			}
			file, kept := b.file(t), maps.Clone(b.keyring.items)
			if err := again.Update(t.Context(), func(*State) {}); !errors.Is(err, c.want) {
				t.Errorf("update: %v", err)
			}
			if err := again.ChangeProtection(t.Context(), b.request(t, PassphraseOnly)); !errors.Is(err, c.want) {
				t.Errorf("change: %v", err)
			}
			if !bytes.Equal(file, b.file(t)) || !maps.Equal(kept, b.keyring.items) {
				t.Error("something was written")
			}
			before := again.State()
			must(t, again.NewInstance(t.Context()))
			again.Lock()
			fresh := b.mustOpen(t)
			s := fresh.State()
			if fresh.Doubt() != nil || s.InstanceID == before.InstanceID || s.VaultID == before.VaultID || s.Log.Seq != 0 || s.Generation != 1 {
				t.Errorf("doubt %v, %+v", fresh.Doubt(), s)
			}
		})
	}
}

func TestAnchorOrder(t *testing.T) {
	a := anchor{5, Head{7, Hash{7}}}
	for name, c := range map[string]struct {
		file anchor
		want bool
	}{
		"same":             {a, false},
		"next":             {anchor{6, Head{9, Hash{9}}}, false},
		"next, same head":  {anchor{6, Head{7, Hash{7}}}, false},
		"older":            {anchor{4, Head{7, Hash{7}}}, true},
		"shorter log":      {anchor{6, Head{6, Hash{6}}}, true},
		"other head":       {anchor{6, Head{7, Hash{8}}}, true},
		"other same write": {anchor{5, Head{8, Hash{8}}}, true},
	} {
		if got := a.after(c.file); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got, err := parseAnchor(a.text()); err != nil || got != a {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"", "1", "2 5 7 " + strings.Repeat("0", 64), "1 05 7 " + strings.Repeat("0", 64), "1 5 7 " + strings.Repeat("0", 66), "1 5 7 " + strings.Repeat("A", 64), "1 -5 7 " + strings.Repeat("0", 64)} {
		if _, err := parseAnchor(bad); !errors.Is(err, ErrKeyringValue) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAnchorNotKept(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	b.keyring.fail = ErrKeyringLocked
	err := v.Anchor(t.Context(), Head{Seq: 1, Hash: Hash{1}})
	if !errors.Is(err, ErrAnchorNotKept) || !errors.Is(err, ErrKeyringLocked) || CodeOf(err) != ErrAnchorNotKept.Code() {
		t.Errorf("%v", err)
	}
	b.keyring.fail = nil
	v.Lock()
	again := b.mustOpen(t)
	if again.Doubt() != nil || again.State().Log.Seq != 1 {
		t.Errorf("%v %+v", again.Doubt(), again.State())
	}
	if err := again.Anchor(t.Context(), Head{}); err == nil {
		t.Error("the head went backwards")
	}
}

func TestCopiedFolder(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	root := rootOf(t, v)
	v.Lock()
	original := b.cfg.Dir
	items := maps.Clone(b.keyring.items)

	renamed := original + "-renamed"
	must(t, os.Rename(original, renamed))
	b.cfg.Dir = renamed
	if err := b.mustOpen(t).Doubt(); err != nil {
		t.Errorf("renaming is not moving: %v", err)
	}

	b.cfg.Dir = original
	must(t, os.Mkdir(original, 0o700))
	f, err := os.ReadFile(filepath.Join(renamed, SealedName))
	must(t, err)
	b.put(t, f)
	copied := b.mustOpen(t)
	if err := copied.Doubt(); !errors.Is(err, ErrMoved) {
		t.Fatalf("doubt: %v", err)
	}
	must(t, copied.NewInstance(t.Context()))
	if !bytes.Equal(rootOf(t, copied), root) {
		t.Error("another root")
	}
	copied.Lock()
	if err := b.mustOpen(t).Doubt(); err != nil {
		t.Errorf("doubt stayed: %v", err)
	}
	// The folder it was copied from lives on, with its own keyring items.
	for k, v := range items {
		if b.keyring.items[k] != v {
			t.Errorf("item %s of the original changed", k)
		}
	}
	b.cfg.Dir = renamed
	if err := b.mustOpen(t).Doubt(); err != nil {
		t.Errorf("the original: %v", err)
	}
}

func TestPlaceNamesTheMachine(t *testing.T) {
	id := ID{1}
	if placeHash(id, "a", "f") == placeHash(id, "b", "f") || placeHash(id, "a", "f") == placeHash(id, "a", "g") || placeHash(id, "a", "f") == placeHash(ID{2}, "a", "f") {
		t.Error("two places with one hash")
	}
}

func TestChangeProtection(t *testing.T) {
	for _, from := range protections {
		for _, to := range protections {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				b := newBench(t)
				v := b.create(t, from)
				root := rootOf(t, v)
				if from != KeyringOnly {
					must(t, v.Update(t.Context(), func(s *State) { s.Passkeys = []json.RawMessage{json.RawMessage(`{}`)} }))
				}
				before := v.State()
				old := b.file(t)
				req := b.request(t, to)
				if to.UsesPassphrase() {
					req.Passphrase = secretOf(t, "a new passphrase")
				}
				must(t, v.ChangeProtection(t.Context(), req))
				s := v.State()
				if s.Protection != to || s.Generation != before.Generation+1 || s.VaultID != before.VaultID || (to == KeyringOnly) != (len(s.Passkeys) == 0) && from != KeyringOnly {
					t.Errorf("%+v", s)
				}
				must(t, v.Update(t.Context(), func(*State) {}))
				v.Lock()
				again, err := Open(t.Context(), b.cfg, req.Passphrase)
				must(t, err)
				defer again.Lock()
				if !bytes.Equal(rootOf(t, again), root) || again.Doubt() != nil || again.Anchored() != to.UsesKeyring() {
					t.Errorf("doubt %v, anchored %v", again.Doubt(), again.Anchored())
				}
				// One share and one head, or none.
				want := 0
				if to.UsesKeyring() {
					want = 2
				}
				if len(b.keyring.items) != want {
					t.Errorf("keyring: %v", slices.Collect(maps.Keys(b.keyring.items)))
				}
				if from.UsesKeyring() {
					if _, err := openBytes(t.Context(), b.cfg, old, secretOf(t, goodPass)); !errors.Is(err, ErrKeyMissing) {
						t.Errorf("the old file: %v", err)
					}
				}
			})
		}
	}
}

func TestChangeProtectionThatFailsChangesNothing(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	before := b.file(t)
	b.keyring.onSet = func(string) error { return ErrKeyringTimeout }
	req := Request{Protection: KeyringAndPassphrase, Passphrase: secretOf(t, "a new passphrase")}
	if err := v.ChangeProtection(t.Context(), req); !errors.Is(err, ErrKeyringTimeout) {
		t.Errorf("%v", err)
	}
	b.keyring.onSet = nil
	if !bytes.Equal(before, b.file(t)) {
		t.Error("the file changed")
	}
	must(t, v.Update(t.Context(), func(s *State) { s.WordsShown = true }))
	v.Lock()
	if again := b.mustOpen(t); !again.State().WordsShown || again.Doubt() != nil {
		t.Errorf("%+v %v", again.State(), again.Doubt())
	}
}

func TestKeyringOnlyKeepsNoPasskeys(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringOnly)
	err := v.Update(t.Context(), func(s *State) { s.Passkeys = []json.RawMessage{json.RawMessage(`{}`)} })
	if !errors.Is(err, ErrPasskeysNeedPassphrase) || v.State().Generation != 1 {
		t.Errorf("%v %+v", err, v.State())
	}
}

func TestUpdateBounds(t *testing.T) {
	b := newBench(t)
	v := b.create(t, PassphraseOnly)
	long := json.RawMessage(`"` + strings.Repeat("x", maxPolicyLen) + `"`)
	for name, change := range map[string]func(*State){
		"policy":       func(s *State) { s.Policy = long },
		"no json":      func(s *State) { s.Policy = json.RawMessage("{") },
		"passkeys":     func(s *State) { s.Passkeys = make([]json.RawMessage, maxPasskeys+1) },
		"long passkey": func(s *State) { s.Passkeys = []json.RawMessage{long[:maxPasskeyLen+1]} },
		"bad passkey":  func(s *State) { s.Passkeys = []json.RawMessage{json.RawMessage("x")} },
	} {
		if err := v.Update(t.Context(), change); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	full := json.RawMessage(`"` + strings.Repeat("x", maxPolicyLen-2) + `"`)
	key := json.RawMessage(`"` + strings.Repeat("k", maxPasskeyLen-2) + `"`)
	must(t, v.Update(t.Context(), func(s *State) { s.Policy, s.Passkeys = full, slices.Repeat([]json.RawMessage{key}, maxPasskeys) }))
	v.Lock()
	if got := b.mustOpen(t).State(); len(got.Policy) != maxPolicyLen || len(got.Passkeys) != maxPasskeys {
		t.Error("the largest state did not come back")
	}
}

func TestRestore(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	first := v.State()
	words, err := Words(rootOf(t, v))
	must(t, err)
	defer words.Destroy()
	root := rootOf(t, v)
	v.Lock()
	other := secretOf(t, strings.Repeat("no", 16))
	if _, err := Restore(t.Context(), b.cfg, b.request(t, PassphraseOnly), other); !errors.Is(err, ErrOtherRoot) {
		t.Errorf("other root: %v", err)
	}
	typedRoot, err := ParseRoot(words.Bytes())
	must(t, err)
	defer typedRoot.Destroy()
	again, err := Restore(t.Context(), b.cfg, b.request(t, PassphraseOnly), typedRoot)
	must(t, err)
	defer again.Lock()
	s := again.State()
	if !bytes.Equal(rootOf(t, again), root) || s.InstanceID == first.InstanceID || s.VaultID == first.VaultID || s.RestoredAt != b.cfg.Now().UnixMilli() || s.Log.Seq != 0 || !s.WordsShown {
		t.Errorf("%+v", s)
	}
	kept, err := filepath.Glob(b.path() + asideMark + "*")
	if err != nil || len(kept) != 1 {
		t.Errorf("the old file was not kept: %v %v", kept, err)
	}
	for name, f := range map[string][]byte{"damaged": []byte("not a vault"), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			must(t, os.MkdirAll(b.cfg.Dir, 0o700))
			b.put(t, f)
			v, err := Restore(t.Context(), b.cfg, b.request(t, PassphraseOnly), typedRoot)
			must(t, err)
			v.Lock()
			if again := b.mustOpen(t); !bytes.Equal(rootOf(t, again), root) {
				t.Error("another root")
			}
		})
	}
}

func TestPortable(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	must(t, v.Update(t.Context(), func(s *State) { s.Passkeys = []json.RawMessage{json.RawMessage(`{"a":1}`)} }))
	backupPass := secretOf(t, "of the backup")
	sealed, err := v.Portable(t.Context(), backupPass, Params{})
	must(t, err)
	root := rootOf(t, v)
	v.Lock()
	elsewhere := newBench(t)
	if _, err := RestorePortable(t.Context(), elsewhere.cfg, elsewhere.request(t, KeyringAndPassphrase), sealed, secretOf(t, goodPass)); !errors.Is(err, ErrWrongPassphrase) {
		t.Errorf("%v", err)
	}
	got, err := RestorePortable(t.Context(), elsewhere.cfg, elsewhere.request(t, KeyringAndPassphrase), sealed, backupPass)
	must(t, err)
	defer got.Lock()
	s := got.State()
	if !bytes.Equal(rootOf(t, got), root) || s.InstanceID == v.State().InstanceID || len(s.Passkeys) != 1 || s.RestoredAt == 0 {
		t.Errorf("%+v", s)
	}
	if err := elsewhere.mustOpen(t).Doubt(); err != nil {
		t.Error(err)
	}
}

// dyingDisk kills this process before the step with number at.
type dyingDisk struct {
	realDisk
	at   int
	step *int
}

func (d dyingDisk) tick() {
	if *d.step == d.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	*d.step++
}

func (d dyingDisk) create(path string, b []byte) error {
	d.tick()
	// Half of it reaches the disk before the next step is due.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b[:len(b)/2]); err != nil {
		return err
	}
	d.tick()
	if _, err := f.Write(b[len(b)/2:]); err != nil {
		return err
	}
	d.tick()
	return errors.Join(f.Sync(), f.Close())
}
func (d dyingDisk) link(a, b string) error   { d.tick(); return d.realDisk.link(a, b) }
func (d dyingDisk) rename(a, b string) error { d.tick(); return d.realDisk.rename(a, b) }
func (d dyingDisk) remove(p string) error    { d.tick(); return d.realDisk.remove(p) }
func (d dyingDisk) syncDir(p string) error   { d.tick(); return d.realDisk.syncDir(p) }

// roleCrash replaces the sealed file of a folder and dies on the way.
// args: folder, file with the new content, step, "first" or "next"
func roleCrash(args []string) int {
	b, err := os.ReadFile(args[1])
	if err != nil {
		return 1
	}
	at, _ := strconv.Atoi(args[2])
	step := 0
	if err := replaceFile(dyingDisk{at: at, step: &step}, args[0], b, args[3] == "first"); err != nil {
		return 2
	}
	return 0
}

func TestCrashLeavesOldOrNew(t *testing.T) {
	for _, kind := range []string{"first", "next"} {
		t.Run(kind, func(t *testing.T) {
			survived := false
			for step := 0; !survived; step++ {
				b := newBench(t)
				v := b.create(t, PassphraseOnly)
				old := b.file(t)
				must(t, v.Update(t.Context(), func(s *State) { s.WordsShown = true }))
				fresh := b.file(t)
				v.Lock()
				if kind == "first" {
					must(t, os.Remove(b.path()))
				} else {
					b.put(t, old)
				}
				source := filepath.Join(t.TempDir(), "new")
				must(t, os.WriteFile(source, fresh, 0o600))
				err := exec.Command(os.Args[0], "crash", b.cfg.Dir, source, strconv.Itoa(step), kind).Run()
				var exit *exec.ExitError
				if survived = err == nil; !survived && (!errors.As(err, &exit) || exit.ExitCode() != -1) {
					t.Fatalf("step %d: it did not die: %v", step, err)
				}
				got, err := os.ReadFile(b.path())
				isNew := bytes.Equal(got, fresh)
				if kind == "first" && err != nil {
					if found, err := Look(b.cfg.Dir); err != nil || found.State != None {
						t.Errorf("step %d: %+v %v", step, found, err)
					}
				} else if err != nil || !isNew && (kind == "first" || !bytes.Equal(got, old)) {
					t.Errorf("step %d: neither old nor new, %v", step, err)
				}
				if survived && (!isNew || step < 5) {
					t.Errorf("it went through after %d steps, new file %v", step, isNew)
				}
				// The next write goes through whatever was left.
				must(t, replaceFile(realDisk{}, b.cfg.Dir, fresh, false))
				if !b.mustOpen(t).State().WordsShown {
					t.Errorf("step %d: the next write did not go through", step)
				}
			}
		})
	}
}

func TestHelperKDF(t *testing.T) {
	p := Floor
	out, err := NewSecret(32)
	must(t, err)
	defer out.Destroy()
	must(t, HelperKDF{testRunner{}}.Derive(t.Context(), p, []byte(goodPass), [16]byte{1}, out))
	direct, err := NewSecret(32)
	must(t, err)
	defer direct.Destroy()
	must(t, DirectKDF{}.Derive(t.Context(), p, []byte(goodPass), [16]byte{1}, direct))
	if !bytes.Equal(out.Bytes(), direct.Bytes()) || bytes.Equal(out.Bytes(), make([]byte, 32)) {
		t.Error("helper and process differ")
	}
	if err := (HelperKDF{testRunner{}}).Derive(t.Context(), Params{Time: 1}, []byte(goodPass), [16]byte{}, out); err == nil {
		t.Error("bounds")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (HelperKDF{testRunner{}}).Derive(ctx, p, []byte(goodPass), [16]byte{}, out); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var sink bytes.Buffer
	for name, in := range map[string]string{"empty": "", "bomb": "\xff\xff\xff\xff\xff\xff\xff\xff\x04" + strings.Repeat("s", 20), "long": strings.Repeat("\x00", 2000)} {
		if code := KDFMain(strings.NewReader(in), &sink); code == 0 || sink.Len() != 0 {
			t.Errorf("%s: code %d, %d bytes", name, code, sink.Len())
		}
	}
}

func TestCostFor(t *testing.T) {
	for ms, want := range map[int]Params{
		2000: Floor,
		1000: Floor,
		220:  {Time: 3, MemoryKiB: 256 << 10, Threads: 4},
		100:  {Time: 7, MemoryKiB: 256 << 10, Threads: 4},
		600:  {Time: 5, MemoryKiB: 64 << 10, Threads: 4},
		1:    {Time: maxTime, MemoryKiB: 256 << 10, Threads: 4},
		0:    {Time: 3, MemoryKiB: 256 << 10, Threads: 4},
	} {
		if got := costFor(1_000_000 * time.Duration(ms)); got != want || got.Check() != nil {
			t.Errorf("%d ms: %+v, want %+v", ms, got, want)
		}
	}
}

func TestDemoIsMarked(t *testing.T) {
	b := newBench(t)
	r := b.request(t, PassphraseOnly)
	r.Demo = true
	v, err := Create(t.Context(), b.cfg, r)
	must(t, err)
	v.Lock()
	found, err := Look(b.cfg.Dir)
	if err != nil || !found.Header.Demo || !b.mustOpen(t).State().Demo {
		t.Errorf("%+v %v", found, err)
	}
}

func TestNewInstanceThatFailsChangesNothing(t *testing.T) {
	b := newBench(t)
	v := b.create(t, KeyringAndPassphrase)
	before, state := b.file(t), v.State()
	b.keyring.fail = ErrKeyringTimeout
	if err := v.NewInstance(t.Context()); !errors.Is(err, ErrKeyringTimeout) {
		t.Errorf("%v", err)
	}
	b.keyring.fail = nil
	if !bytes.Equal(before, b.file(t)) || v.State().VaultID != state.VaultID {
		t.Error("something changed")
	}
	must(t, v.Update(t.Context(), func(*State) {}))
	v.Lock()
	if err := b.mustOpen(t).Doubt(); err != nil {
		t.Error(err)
	}
}

// stubborn takes everything and lets nothing go.
type stubborn struct{ *memKeyring }

func (stubborn) Delete(context.Context, string) error { return ErrKeyringRefused }

func TestShareLeft(t *testing.T) {
	b := newBench(t)
	b.cfg.Keyring = stubborn{b.keyring}
	v := b.create(t, KeyringOnly)
	err := v.ChangeProtection(t.Context(), b.request(t, PassphraseOnly))
	if !errors.Is(err, ErrShareLeft) || !errors.Is(err, ErrKeyringRefused) {
		t.Errorf("%v", err)
	}
	v.Lock()
	if s := b.mustOpen(t).State(); s.Protection != PassphraseOnly {
		t.Errorf("%+v", s)
	}
}

func TestCalibrate(t *testing.T) {
	at := time.UnixMilli(0)
	kdf := &quickKDF{}
	p, err := Calibrate(t.Context(), kdf, func() time.Time { at = at.Add(500 * time.Millisecond); return at })
	if err != nil || kdf.calls != 1 || p != (Params{Time: 3, MemoryKiB: 128 << 10, Threads: 4}) {
		t.Errorf("%+v %v", p, err)
	}
}

// BenchmarkOpen is an unlock at the floor of the passphrase function, in a helper.
func BenchmarkOpen(b *testing.B) {
	w := newBench(b)
	w.cfg.KDF = HelperKDF{testRunner{}}
	w.create(b, KeyringAndPassphrase).Lock()
	pass := secretOf(b, goodPass)
	for b.Loop() {
		v, err := Open(b.Context(), w.cfg, pass)
		must(b, err)
		v.wipe()
	}
}

// BenchmarkAnchor is one durable write of the sealed file.
func BenchmarkAnchor(b *testing.B) {
	w := newBench(b)
	v := w.create(b, PassphraseOnly)
	for b.Loop() {
		must(b, v.Anchor(b.Context(), Head{Seq: v.State().Log.Seq + 1}))
	}
}
