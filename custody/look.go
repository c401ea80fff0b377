package custody

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// SealedName is the name of the sealed file in the vault folder.
const SealedName = "vault.sealed"

// Presence says whether a vault is in a folder.
type Presence string

// What [Look] can find. Only None lets a root be made.
const (
	None    Presence = "none"    // nothing of a vault is here
	Present Presence = "present" // a sealed file whose layout and digest are right
	Damaged Presence = "damaged" // a sealed file that is not what was written
	Newer   Presence = "newer"   // a sealed file of a later format
	Missing Presence = "missing" // no sealed file, and other files of a vault
)

// Found is what [Look] found.
type Found struct {
	State  Presence
	Header Header // only where State is Present
	Why    error  // ErrDamaged, ErrNewerFormat or ErrSealedMissing with its cause; nil for None and Present
}

// creatable is nil where a root may be made.
func (f Found) creatable() error {
	switch f.State {
	case None:
		return nil
	case Present:
		return ErrExists
	}
	return f.Why
}

// Look says whether a vault is in dir, without any key and without changing
// anything. evidence names files that only a vault leaves behind. Whatever it
// cannot read is an error, never "none"; so are a folder that is not the
// owner's alone ([ErrFolderUnsafe]) and one on a network ([ErrNetworkFolder]).
func Look(dir string, evidence ...string) (Found, error) {
	b, err := readFile(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return lookAround(dir, evidence)
	}
	if err != nil {
		if errors.Is(err, ErrDamaged) {
			return Found{State: Damaged, Why: err}, nil
		}
		return Found{}, err
	}
	f, err := parseSealed(b)
	switch {
	case err == nil:
		return Found{State: Present, Header: f.Header}, nil
	case errors.Is(err, ErrNewerFormat):
		return Found{State: Newer, Why: err}, nil
	}
	return Found{State: Damaged, Why: err}, nil
}

// lookAround tells an empty folder from one that lost its sealed file.
func lookAround(dir string, evidence []string) (Found, error) {
	set, err := filepath.Glob(filepath.Join(dir, SealedName+asideMark+"*"))
	if err != nil {
		return Found{}, fmt.Errorf("look for a vault: %w", err)
	}
	for _, name := range evidence {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			set = append(set, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return Found{}, fmt.Errorf("look for a vault: %w", err)
		}
	}
	if len(set) > 0 {
		return Found{State: Missing, Why: ErrSealedMissing}, nil
	}
	return Found{State: None}, nil
}

// readSealed returns the bytes of the sealed file, or why there is none.
func readSealed(dir string, evidence ...string) ([]byte, error) {
	b, err := readFile(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	found, err := lookAround(dir, evidence)
	if err != nil {
		return nil, err
	}
	if found.State == Missing {
		return nil, found.Why
	}
	return nil, ErrNoVault
}

// readTries is how often the sealed file is looked at anew when it was replaced meanwhile, as by an anchor.
const readTries = 5

var errReplaced = errors.New("it was replaced while it was opened")

// readFile reads the sealed file: a regular file that is not a link, of at most
// the size that can be one.
func readFile(dir string) (b []byte, err error) {
	for range readTries {
		if b, err = readOnce(dir); !errors.Is(err, errReplaced) {
			break
		}
	}
	return b, err
}

func readOnce(dir string) ([]byte, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, SealedName)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read sealed file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read sealed file: %w: it is not a regular file", ErrFolderUnsafe)
	}
	f, err := openNoFollow(path)
	if err != nil {
		return nil, fmt.Errorf("read sealed file: %w", err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read sealed file: %w", err)
	}
	if !os.SameFile(info, opened) {
		return nil, fmt.Errorf("read sealed file: %w", errReplaced)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read sealed file: %w", err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%w: too long", ErrDamaged)
	}
	return b, nil
}
