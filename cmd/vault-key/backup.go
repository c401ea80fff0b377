package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"filippo.io/age"

	"vault/approvals/keys"
	"vault/cmd/internal/hygiene"
	"vault/custody"
	"vault/custody/backup"
	"vault/internal/passphrase"
)

// A backup is an age file (passphrase recipient) with the sealed file, under the
// same passphrase, and a copy of the store in it: see package backup.
//
// age is in this program because the passphrase is, and takes it as a string,
// which cannot be wiped: so it runs in a helper that ends with its one file.

// storeName is the name of the store's part.
const storeName = "store.db"

// maxSealed bounds the sealed file in a backup.
const maxSealed = 1 << 20

type backups struct{ runner hygiene.Runner }

// write runs the helper. The passphrase and the sealed bytes go through a pipe.
func (b backups) write(ctx context.Context, to keys.Backup, sealed []byte, passphrase *custody.Secret) error {
	if !filepath.IsAbs(to.File) || !filepath.IsAbs(to.Store) {
		return &keys.Error{Code: "malformed", Detail: "the paths of a backup are absolute"}
	}
	if _, err := os.Lstat(to.File); err == nil {
		return &keys.Error{Code: "file_exists", Detail: "there is a file of that name already"}
	}
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		out.Close()
		return err
	}
	defer null.Close()
	sent := make(chan error, 1)
	go func() { sent <- send(out, passphrase, sealed) }()
	exit, err := b.runner.Run(ctx, in, null, "backup", to.File, to.Store)
	// Where the helper has ended early the pipe has no reader but this end.
	in.Close()
	if err := errors.Join(err, <-sent); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if exit != exitOK {
		return &keys.Error{Code: "backup_failed", Detail: "the backup could not be written; nothing is left of it"}
	}
	return nil
}

// send writes the passphrase with its length in front, and what follows it, to a
// helper's pipe and closes it.
func send(out *os.File, passphrase *custody.Secret, rest []byte) (err error) {
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := out.Write(binary.BigEndian.AppendUint32(nil, uint32(passphrase.Len()))); err != nil {
		return err
	}
	if _, err := out.Write(passphrase.Bytes()); err != nil {
		return err
	}
	_, err = out.Write(rest)
	return err
}

// readPassphrase reads what send put first.
func readPassphrase(in io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n == 0 || n > passphrase.Max {
		return nil, errors.New("the passphrase has no possible length")
	}
	p := make([]byte, n)
	_, err := io.ReadFull(in, p)
	return p, err
}

// backupMain is the helper: it reads passphrase and sealed file from in, and
// writes file, which must not exist.
func backupMain(file, store string, in io.Reader) int {
	p, err := readPassphrase(in)
	if err != nil {
		return exitUsage
	}
	sealed, err := io.ReadAll(io.LimitReader(in, maxSealed+1))
	if err != nil || len(sealed) > maxSealed {
		return exitUsage
	}
	if err := writeBackup(file, store, sealed, string(p)); err != nil {
		fmt.Fprintln(os.Stderr, "vault-key: write backup:", err)
		return exitFault
	}
	return exitOK
}

func writeBackup(file, store string, sealed []byte, passphrase string) (err error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return err
	}
	src, err := os.Open(store)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("the store is not a regular file")
	}
	dst, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dst.Close(), os.Remove(file))
		}
	}()
	err = backup.Write(dst, []age.Recipient{recipient}, []backup.Part{
		{Name: custody.SealedName, Size: int64(len(sealed)), Data: bytes.NewReader(sealed)},
		{Name: storeName, Size: info.Size(), Data: src},
	})
	if err != nil {
		return err
	}
	if err := dst.Sync(); err != nil {
		return err
	}
	return dst.Close()
}

// open runs the helper that reads a backup: it writes the store's copy to
// r.Store and gives the sealed part back through a pipe.
func (b backups) open(ctx context.Context, r keys.Restore, passphrase *custody.Secret) ([]byte, error) {
	if !filepath.IsAbs(r.Backup) || !filepath.IsAbs(r.Store) {
		return nil, &keys.Error{Code: "malformed", Detail: "the paths of a backup are absolute"}
	}
	if info, err := os.Stat(r.Backup); err != nil || !info.Mode().IsRegular() {
		return nil, &keys.Error{Code: "backup_unreadable", Detail: "there is no file of that name that can be read"}
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	from, to, err := os.Pipe()
	if err != nil {
		out.Close()
		return nil, err
	}
	defer from.Close()
	sent := make(chan error, 1)
	go func() { sent <- send(out, passphrase, nil) }()
	type answer struct {
		sealed []byte
		err    error
	}
	read := make(chan answer, 1)
	go func() {
		sealed, err := io.ReadAll(io.LimitReader(from, maxSealed+1))
		read <- answer{sealed, err}
	}()
	exit, err := b.runner.Run(ctx, in, to, "open-backup", r.Backup, r.Store)
	// Where the helper has ended early the pipes have no end but these.
	in.Close()
	to.Close()
	got := <-read
	wrote := <-sent
	if err != nil {
		return nil, fmt.Errorf("open backup: %w", err)
	}
	switch exit {
	case exitOK:
	case exitWrong:
		return nil, custody.ErrWrongPassphrase
	case exitNotBackup:
		return nil, &keys.Error{Code: "not_backup", Detail: "the file is no backup of a vault, or not a whole one"}
	default:
		return nil, &keys.Error{Code: "backup_unreadable", Detail: "the backup could not be read, or its store not be written; nothing was restored"}
	}
	if err := errors.Join(got.err, wrote); err != nil {
		return nil, fmt.Errorf("open backup: %w", err)
	}
	if len(got.sealed) > maxSealed {
		return nil, &keys.Error{Code: "not_backup", Detail: "the file is no backup of a vault, or not a whole one"}
	}
	return got.sealed, nil
}

// openBackupMain is that helper. Nothing is left of store where it fails.
func openBackupMain(file, store string, in io.Reader, out io.Writer) int {
	p, err := readPassphrase(in)
	if err != nil {
		return exitUsage
	}
	sealed, err := readBackup(file, store, string(p))
	var wrong *age.NoIdentityMatchError
	var system *os.PathError
	switch {
	case err == nil:
	case errors.As(err, &wrong):
		return exitWrong
	case errors.As(err, &system):
		fmt.Fprintln(os.Stderr, "vault-key: read backup:", err)
		return exitFault
	default:
		return exitNotBackup
	}
	if _, err := out.Write(sealed); err != nil {
		return exitFault
	}
	return exitOK
}

// maxWorkFactor bounds what a backup's passphrase function may cost: 1 GiB and a few
// seconds. [writeBackup] asks for a quarter of that.
const maxWorkFactor = 20

func readBackup(file, store, passphrase string) (sealed []byte, err error) {
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	id.SetMaxWorkFactor(maxWorkFactor)
	src, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var dst *os.File
	defer func() {
		if dst != nil {
			if err = errors.Join(err, dst.Close()); err != nil {
				err = errors.Join(err, os.Remove(store))
			}
		}
	}()
	err = backup.Read(src, []age.Identity{id}, func(part backup.Part) error {
		switch part.Name {
		case custody.SealedName:
			if sealed, err = io.ReadAll(io.LimitReader(part.Data, maxSealed+1)); err != nil {
				return err
			}
		case storeName:
			if dst, err = os.OpenFile(store, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				return err
			}
			if _, err := io.Copy(dst, part.Data); err != nil {
				return err
			}
			return dst.Sync()
		default:
			return fmt.Errorf("%w: an unknown part", backup.ErrNotBackup)
		}
		return nil
	})
	if err == nil && (sealed == nil || dst == nil) {
		err = backup.ErrNotBackup
	}
	return sealed, err
}
