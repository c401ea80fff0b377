package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/approvals/store"
	"vault/cmd/internal/hygiene"
)

// vaultNames are the files that only a vault leaves behind: the sealed file, the mark
// beside it and the store. The desk looks for the names. Where one is left without the
// others a vault was here, and the key process says what is missing.
var vaultNames = []string{"vault.sealed", "vault.made", store.FileName}

// launcher starts key processes for the vault in one folder.
type launcher struct{ folder string }

// Exists implements [approvals.Launcher].
func (l launcher) Exists() (bool, error) {
	for _, name := range vaultNames {
		if _, err := os.Lstat(filepath.Join(l.folder, name)); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// Launch implements [approvals.Launcher]: vault-key, from beside this program, on an
// inherited socketpair. It does not wait for anything but the start.
func (l launcher) Launch(context.Context) (approvals.KeyProcess, error) {
	path, err := hygiene.Sibling("vault-key")
	if err != nil {
		return nil, fail("key_process_missing", err)
	}
	here, there, err := hygiene.LinePair("key process")
	if err != nil {
		return nil, fail("key_process_missing", err)
	}
	defer there.Close()
	p, err := hygiene.Start(hygiene.Command{Path: path, Args: []string{"serve", l.folder}, Stderr: os.Stderr, Files: []*os.File{there}})
	if err != nil {
		return nil, errors.Join(fail("key_process_missing", err), here.Close())
	}
	k := &keyProcess{Client: keys.NewClient(here), process: p, gone: make(chan struct{})}
	go func() {
		defer close(k.gone)
		// How it ended changes nothing: the line has ended with it, and the desk has
		// seen that.
		_, _ = p.Wait()
	}()
	return k, nil
}

// keyProcess is a running vault-key.
type keyProcess struct {
	*keys.Client
	process *hygiene.Process
	gone    chan struct{}
}

var _ approvals.KeyProcess = (*keyProcess)(nil)

// Lock implements [keys.Keys]: it returns when the process is gone.
func (k *keyProcess) Lock(ctx context.Context) error {
	// A process that was stopped ends no call by itself.
	stop := context.AfterFunc(ctx, k.Kill)
	defer stop()
	err := k.Client.Lock(ctx)
	<-k.gone
	return err
}

// Kill implements [approvals.KeyProcess].
func (k *keyProcess) Kill() {
	_ = k.process.Kill() // it may have ended already, which is what is wanted
	<-k.gone
}
