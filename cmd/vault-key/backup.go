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
	go func() {
		defer out.Close()
		_, err := out.Write(binary.BigEndian.AppendUint32(nil, uint32(passphrase.Len())))
		if err == nil {
			_, err = out.Write(passphrase.Bytes())
		}
		if err == nil {
			_, err = out.Write(sealed)
		}
		sent <- err
	}()
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

// backupMain is the helper: it reads passphrase and sealed file from in, and
// writes file, which must not exist.
func backupMain(file, store string, in io.Reader) int {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return exitUsage
	}
	n := binary.BigEndian.Uint32(size[:])
	if n == 0 || n > 1024 {
		return exitUsage
	}
	passphrase := make([]byte, n)
	if _, err := io.ReadFull(in, passphrase); err != nil {
		return exitUsage
	}
	sealed, err := io.ReadAll(io.LimitReader(in, maxSealed+1))
	if err != nil || len(sealed) > maxSealed {
		return exitUsage
	}
	if err := writeBackup(file, store, sealed, string(passphrase)); err != nil {
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
