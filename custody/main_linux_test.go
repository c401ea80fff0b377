package custody

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// roles are the other processes that the tests need; the first argument names one.
var roles = map[string]func(args []string) int{
	"kdf":     func([]string) int { return KDFMain(os.Stdin, os.Stdout) },
	"keyring": func(args []string) int { return KeyringMain(args, os.Stdin, os.Stdout) },
	"crash":   roleCrash,

	"silent-keyring": roleSilentKeyring,
	"holder":         roleHolder,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			os.Exit(role(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// testRunner starts the test program in a role.
type testRunner struct{}

func (testRunner) Run(ctx context.Context, in, out *os.File, args ...string) (int, error) {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Stdin, cmd.Stdout = in, out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	}
	return 0, err
}

// memKeyring is a keyring that can be looked into and made to fail.
type memKeyring struct {
	mu    sync.Mutex
	items map[string]string
	fail  error                   // answer of every call
	onSet func(user string) error // answer of a Set
}

func newMemKeyring() *memKeyring { return &memKeyring{items: map[string]string{}} }

func (k *memKeyring) Get(_ context.Context, user string, dst *Secret) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return 0, k.fail
	}
	v, ok := k.items[user]
	if !ok {
		return 0, ErrKeyringNotFound
	}
	return copy(dst.Bytes(), v), nil
}

func (k *memKeyring) Set(_ context.Context, user string, value []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return k.fail
	}
	if k.onSet != nil {
		if err := k.onSet(user); err != nil {
			return err
		}
	}
	k.items[user] = string(value)
	return nil
}

func (k *memKeyring) Delete(_ context.Context, user string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return k.fail
	}
	delete(k.items, user)
	return nil
}

// quickKDF is no passphrase function at all, and counts its calls. Where the real
// one matters the tests use it.
type quickKDF struct{ calls int }

func (k *quickKDF) Derive(_ context.Context, p Params, passphrase []byte, salt [16]byte, out *Secret) error {
	k.calls++
	if err := p.Check(); err != nil {
		return err
	}
	sum := sha256.Sum256(append(append([]byte{}, salt[:]...), passphrase...))
	copy(out.Bytes(), sum[:])
	return nil
}

func secretOf(t testing.TB, text string) *Secret {
	t.Helper()
	s, err := NewSecret(len(text))
	if err != nil {
		t.Fatal(err)
	}
	copy(s.Bytes(), text)
	t.Cleanup(s.Destroy)
	return s
}

const goodPass = "correct horse battery"

type bench struct {
	cfg     Config
	keyring *memKeyring
	kdf     *quickKDF
}

// newBench returns a configuration over an empty folder.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{keyring: newMemKeyring(), kdf: &quickKDF{}}
	b.cfg = Config{
		Dir: filepath.Join(t.TempDir(), "vault"), Rand: rand.Reader, Keyring: b.keyring, KDF: b.kdf,
		Now: func() time.Time { return time.UnixMilli(1_790_000_000_000) }, Evidence: []string{"store.db"},
	}
	return b
}

func (b *bench) create(t testing.TB, p Protection) *Vault {
	t.Helper()
	v, err := Create(t.Context(), b.cfg, b.request(t, p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.wipe)
	return v
}

func (b *bench) request(t testing.TB, p Protection) Request {
	r := Request{Protection: p}
	if p.UsesPassphrase() {
		r.Passphrase = secretOf(t, goodPass)
	}
	return r
}

func (b *bench) open(t testing.TB) (*Vault, error) {
	t.Helper()
	v, err := Open(t.Context(), b.cfg, secretOf(t, goodPass))
	if err == nil {
		t.Cleanup(v.wipe)
	}
	return v, err
}

func (b *bench) mustOpen(t testing.TB) *Vault {
	t.Helper()
	v, err := b.open(t)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *bench) path() string { return filepath.Join(b.cfg.Dir, SealedName) }

func (b *bench) file(t testing.TB) []byte {
	t.Helper()
	f, err := os.ReadFile(b.path())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (b *bench) put(t testing.TB, f []byte) {
	t.Helper()
	if err := os.WriteFile(b.path(), f, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rootOf copies the root out, for comparison.
func rootOf(t testing.TB, v *Vault) []byte {
	t.Helper()
	var root []byte
	if err := v.WithRoot(func(r []byte) error { root = bytes.Clone(r); return nil }); err != nil {
		t.Fatal(err)
	}
	return root
}

// refusesSecondRoot shows that nothing creates a root where one exists.
func (b *bench) refusesSecondRoot(t testing.TB) {
	t.Helper()
	before := b.file(t)
	for _, p := range []Protection{KeyringAndPassphrase, PassphraseOnly, KeyringOnly} {
		if v, err := Create(t.Context(), b.cfg, b.request(t, p)); err == nil {
			v.Lock()
			t.Errorf("a second root was created under %s", p)
		}
	}
	if !bytes.Equal(before, b.file(t)) {
		t.Error("the sealed file was changed")
	}
}

// resum puts the right digest at the end, as somebody who alters the file can.
func resum(f []byte) []byte {
	f = bytes.Clone(f)
	sum := sha256.Sum256(f[:len(f)-sumLen])
	copy(f[len(f)-sumLen:], sum[:])
	return f
}
