package approvals_test

import (
	"context"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
)

// stopping is a launcher whose key processes can be stopped, as by SIGSTOP: they then answer
// nothing, whatever becomes of the caller's context, until they are ended.
type stopping struct {
	*launcher
	now chan struct{} // closed: stopped from now on
}

type stopped struct {
	*keyProcess
	now chan struct{}
}

func (l *stopping) Launch(ctx context.Context) (approvals.KeyProcess, error) {
	k, err := l.launcher.Launch(ctx)
	if err != nil {
		return nil, err
	}
	return &stopped{k.(*keyProcess), l.now}, nil
}

// hang blocks where the process is stopped, and gives the error of a line that has ended.
func (k *stopped) hang() error {
	select {
	case <-k.now:
		<-k.done
		return &keys.Error{Code: keys.CodeEnded, Detail: "the key process has ended"}
	default:
		return nil
	}
}

func (k *stopped) Plan(ctx context.Context, info []byte) ([]byte, error) {
	if err := k.hang(); err != nil {
		return nil, err
	}
	return k.keyProcess.Plan(ctx, info)
}

func (k *stopped) Address(ctx context.Context, raw []byte) (string, error) {
	if err := k.hang(); err != nil {
		return "", err
	}
	return k.keyProcess.Address(ctx, raw)
}

func (k *stopped) Commit(ctx context.Context, acts []keys.Act) ([]keys.Answer, error) {
	if err := k.hang(); err != nil {
		return nil, err
	}
	return k.keyProcess.Commit(ctx, acts)
}

func (k *stopped) NewInstance(ctx context.Context) (keys.Public, error) {
	if err := k.hang(); err != nil {
		return keys.Public{}, err
	}
	return k.keyProcess.NewInstance(ctx)
}

func (k *stopped) ShowWords(ctx context.Context, s keys.Surface) error {
	if err := k.hang(); err != nil {
		return err
	}
	return k.keyProcess.ShowWords(ctx, s)
}

func (k *stopped) ChangeProtection(ctx context.Context, p keys.Protection, s keys.Surface) (keys.Public, error) {
	if err := k.hang(); err != nil {
		return keys.Public{}, err
	}
	return k.keyProcess.ChangeProtection(ctx, p, s)
}

func (k *stopped) Backup(ctx context.Context, b keys.Backup) error {
	if err := k.hang(); err != nil {
		return err
	}
	return k.keyProcess.Backup(ctx, b)
}

func (k *stopped) Unlock(ctx context.Context, u keys.Unlock) (keys.Public, error) {
	if err := k.hang(); err != nil {
		return keys.Public{}, err
	}
	return k.keyProcess.Unlock(ctx, u)
}

func (k *stopped) Public(ctx context.Context) (keys.Public, error) {
	if err := k.hang(); err != nil {
		return keys.Public{}, err
	}
	return k.keyProcess.Public(ctx)
}

// A key process that is stopped is ended, whatever was asked of it, and who asked is told.
func TestStoppedKeyProcessIsEnded(t *testing.T) {
	domain := approvals.DomainForm{Namespace: "example", DomainID: "another", Kind: "general"}
	for _, row := range []struct {
		name   string
		locked bool // the vault is locked before
		call   func(ctx context.Context, w *world) error
	}{
		{"a domain", false, func(ctx context.Context, w *world) error {
			_, err := w.owner.CreateDomain(ctx, domain)
			return err
		}},
		{"the words", false, func(ctx context.Context, w *world) error { return w.owner.ShowWords(ctx, keys.SurfaceTerminal) }},
		{"the protection", false, func(ctx context.Context, w *world) error {
			return w.owner.ChangeProtection(ctx, keys.ProtectKeyringAndPassphrase, keys.SurfaceTerminal)
		}},
		{"a backup", false, func(ctx context.Context, w *world) error {
			return w.owner.Backup(ctx, w.dir+"/b.age", keys.SurfaceTerminal)
		}},
		{"a new instance", false, func(ctx context.Context, w *world) error { return w.owner.NewInstance(ctx) }},
		{"a rename", false, func(ctx context.Context, w *world) error {
			return w.owner.RenameClient(ctx, w.owner.Clients()[0].ID, "Other")
		}},
		{"unlocking", true, func(ctx context.Context, w *world) error { return w.owner.Unlock(ctx, keys.SurfaceTerminal) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.stop()
			stop := make(chan struct{})
			d, err := approvals.New(t.Context(), approvals.Options{
				Folder: w.dir, Launcher: &stopping{w.keys, stop}, Clock: w.clock, Await: w.await,
			})
			if err != nil {
				t.Fatal(err)
			}
			w.desk, w.owner, w.agents = d, d.Owner(), d.Agents()
			t.Cleanup(func() { _ = d.Close() })
			w.create()
			w.pair("agent")
			if row.locked {
				if err := w.owner.Lock(t.Context(), "asked"); err != nil {
					t.Fatal(err)
				}
			}
			d.SetPatience(20 * time.Millisecond)
			close(stop)
			done := make(chan error, 1)
			go func() { done <- row.call(context.Background(), w) }()
			select {
			case err := <-done:
				if code(err) != approvals.CodeKeysEnded {
					t.Errorf("%v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it hangs")
			}
			<-w.keys.last.done
		})
	}
}
