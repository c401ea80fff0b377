// Package backup writes the parts of a vault (store, log, the sealed structure)
// into one age file and reads them back. `age -d FILE | tar x` does the same
// without this program.
//
// It knows nothing of what the parts hold, and opens no files.
package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"regexp"

	"filippo.io/age"
)

// Bounds of a backup.
const (
	maxParts    = 16
	maxPartSize = 1 << 40
)

// versionName is the first entry of every backup; its content is the version.
const (
	versionName = "vault-backup"
	version     = "1\n"
)

// Errors that callers tell apart.
var (
	// ErrNotBackup: the file opens and is no backup of this kind, or a newer one.
	ErrNotBackup = errors.New("not a vault backup of a known version")
	// ErrUnread: a part was not read to its end by whoever took it.
	ErrUnread = errors.New("a part of the backup was not read to its end")
)

var partName = regexp.MustCompile(`^[a-z][a-z0-9.-]{0,39}$`)

// Part is one named stream of known length.
type Part struct {
	Name string // lower-case letters, digits, dot and hyphen; at most 40
	Size int64  // bytes that Data gives, neither more nor fewer
	Data io.Reader
}

// Write encrypts the parts, in order, to the recipients: one passphrase
// (age.NewScryptRecipient) or X25519 keys. It blocks until all is written; on an
// error what was written so far is no backup, and [Read] says so.
func Write(w io.Writer, recipients []age.Recipient, parts []Part) error {
	if err := checkNames(parts); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	sealed, err := age.Encrypt(w, recipients...)
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	out := tar.NewWriter(sealed)
	put := func(name string, size int64, write func() error) error {
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatPAX}); err != nil {
			return err
		}
		return write()
	}
	err = put(versionName, int64(len(version)), func() error { _, err := io.WriteString(out, version); return err })
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	for _, p := range parts {
		err := put(p.Name, p.Size, func() error {
			n, err := io.Copy(out, p.Data)
			if err == nil && n != p.Size {
				err = fmt.Errorf("it gave %d bytes instead of %d", n, p.Size)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("write backup: part %s: %w", p.Name, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := sealed.Close(); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

func checkNames(parts []Part) error {
	if len(parts) > maxParts {
		return fmt.Errorf("%d parts are too many", len(parts))
	}
	seen := map[string]bool{versionName: true}
	for _, p := range parts {
		if !partName.MatchString(p.Name) || seen[p.Name] {
			return fmt.Errorf("part name %q is taken or not of the allowed form", p.Name)
		}
		if p.Size < 0 || p.Size > maxPartSize {
			return fmt.Errorf("part %s has an impossible size", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// Read decrypts a backup and hands each part to take, in order; take reads it to
// its end. What was taken is whole only when Read has returned nil: a cut or
// altered file is noticed at the latest at its end. Errors: those of age where no
// identity fits, [ErrNotBackup], [ErrUnread], those of take.
func Read(r io.Reader, identities []age.Identity, take func(Part) error) error {
	plain, err := age.Decrypt(r, identities...)
	if err != nil {
		return fmt.Errorf("read backup: %w", err)
	}
	in := tar.NewReader(plain)
	first, err := in.Next()
	if err != nil {
		return fmt.Errorf("read backup: %w", errors.Join(ErrNotBackup, err))
	}
	text, err := io.ReadAll(io.LimitReader(in, int64(len(version))+1))
	if err != nil || first.Name != versionName || string(text) != version {
		return fmt.Errorf("read backup: %w", errors.Join(ErrNotBackup, err))
	}
	var parts []Part
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read backup: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("read backup: %w: an entry is not a file", ErrNotBackup)
		}
		part := Part{Name: h.Name, Size: h.Size, Data: in}
		if parts = append(parts, part); checkNames(parts) != nil {
			return fmt.Errorf("read backup: %w: an entry is not a part", ErrNotBackup)
		}
		if err := take(part); err != nil {
			return fmt.Errorf("read backup: part %s: %w", h.Name, err)
		}
		if n, err := in.Read(make([]byte, 1)); n > 0 {
			return fmt.Errorf("read backup: part %s: %w", h.Name, ErrUnread)
		} else if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read backup: part %s: %w", h.Name, err)
		}
	}
	// The last block of the encryption proves that nothing was cut off.
	if _, err := io.Copy(io.Discard, plain); err != nil {
		return fmt.Errorf("read backup: %w", err)
	}
	return nil
}
