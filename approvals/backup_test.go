package approvals_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/store"
	"vault/custody"
	"vault/sign"
)

// openBackups stand for the backup file, without its encryption.
func openBackups(c *sign.Config) {
	type parts struct{ Sealed, Store []byte }
	c.Backup = func(_ context.Context, b keys.Backup, sealed []byte, _ *custody.Secret) error {
		copied, err := os.ReadFile(b.Store)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(parts{sealed, copied})
		if err != nil {
			return err
		}
		return os.WriteFile(b.File, raw, 0o600)
	}
	c.OpenBackup = func(_ context.Context, r keys.Restore, _ *custody.Secret) ([]byte, error) {
		raw, err := os.ReadFile(r.Backup)
		if err != nil {
			return nil, err
		}
		var p parts
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, &keys.Error{Code: "not_backup"}
		}
		return p.Sealed, os.WriteFile(r.Store, p.Store, 0o600)
	}
}

// TestRestoreBackup puts a backup into an empty folder: the same addresses, a new log, the old one
// kept aside, and nothing of what was permitted.
func TestRestoreBackup(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.keys.config = openBackups
	w.stop()
	w.start()
	w.create()
	a := w.pair("a")
	env := w.envelope(nil)
	a.grant(env, 5)
	before, entries := w.owner.Domains(), w.entries("")
	file := filepath.Join(t.TempDir(), "b")
	if err := w.owner.Backup(ctx, file, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.RestoreBackup(ctx, file, keys.ProtectPassphrase, keys.SurfaceTerminal); code(err) != approvals.CodeAlreadyExists {
		t.Fatalf("over a vault: %v", err)
	}
	instance := w.owner.Status().Public.Instance
	w.stop()

	other := newWorld(t)
	other.keys.config = openBackups
	for name, restore := range map[string]func() error{
		"no backup": func() error {
			torn := filepath.Join(t.TempDir(), "torn")
			if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
				return err
			}
			return other.owner.RestoreBackup(ctx, torn, keys.ProtectPassphrase, keys.SurfaceTerminal)
		},
		"nobody types": func() error {
			other.keys.owner.cancels = true
			defer func() { other.keys.owner.cancels = false }()
			return other.owner.RestoreBackup(ctx, file, keys.ProtectPassphrase, keys.SurfaceTerminal)
		},
	} {
		if err := restore(); err == nil {
			t.Fatalf("%s: something was restored", name)
		}
		if left, err := filepath.Glob(filepath.Join(other.dir, "*")); err != nil || len(left) > 0 {
			t.Fatalf("%s: %v is left, %v", name, left, err)
		}
		if st := other.owner.Status().State; st != approvals.StateNone {
			t.Fatalf("%s: the vault is %s", name, st)
		}
	}
	if err := other.owner.RestoreBackup(ctx, file, keys.ProtectPassphrase, keys.SurfaceTerminal); err != nil {
		t.Fatal(err)
	}
	st := other.owner.Status()
	if st.State != approvals.StateOpen || st.Public.Instance == instance || st.Public.StartReason != "restored" {
		t.Fatalf("%+v", st)
	}
	if after := other.owner.Domains(); len(after) != 1 || after[0].Address != before[0].Address {
		t.Fatalf("domains %+v", after)
	}
	if n := len(other.owner.Clients()); n != 0 {
		t.Fatalf("%d clients", n)
	}
	if _, err := (&agent{w: other, id: a.id, secret: a.secret}).dial(nil); err == nil {
		t.Fatal("a client of the old log is known")
	}
	b := other.pair("b")
	if _, err := b.ask("r", env, payload("x"), true); code(err) != approvals.CodeSuspended || len(other.owner.Inbox()) != 0 {
		t.Fatal(err)
	}
	other.verified()
	other.stop()
	if left, err := filepath.Glob(filepath.Join(other.dir, "restore-*")); err != nil || len(left) > 0 {
		t.Fatalf("%v is left, %v", left, err)
	}
	archived := 0
	s, err := store.Open(ctx, other.dir)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range s.OldEntries(instance) {
		if err != nil {
			t.Fatal(err)
		}
		archived++
		if e.Seq != uint64(archived) {
			t.Fatalf("entry %d stands at %d", e.Seq, archived)
		}
	}
	if err := s.Close(); err != nil || archived != entries {
		t.Fatalf("%d entries are kept aside, want %d (%v)", archived, entries, err)
	}
	other.start()
	other.unlock()
	other.verified()
}

// TestPlaceNeverOverwrites holds the rule of [store.Place].
func TestPlaceNeverOverwrites(t *testing.T) {
	for _, there := range []string{store.FileName, store.FileName + "-wal", store.FileName + "-shm"} {
		dir := t.TempDir()
		for _, name := range []string{there, "copy"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Place(filepath.Join(dir, "copy"), dir); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s: %v", there, err)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, there)); err != nil || string(raw) != there {
			t.Errorf("%s was changed: %q, %v", there, raw, err)
		}
	}
}
