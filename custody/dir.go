package custody

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"vault/internal/ownfolder"
)

// checkDir checks that the vault folder is the owner's alone and on this computer.
func checkDir(dir string) error { return folderError(ownfolder.Check(dir)) }

// prepareDir makes the vault folder where it is absent, and checks it.
func prepareDir(dir string) error { return folderError(ownfolder.Prepare(dir)) }

func folderError(err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, ownfolder.ErrNetwork):
		return fmt.Errorf("%w: %w", ErrNetworkFolder, err)
	case errors.Is(err, ownfolder.ErrUnsafe):
		return fmt.Errorf("%w: %w", ErrFolderUnsafe, err)
	}
	return fmt.Errorf("%w: %w", ErrFolderUnusable, err)
}

// placeOf digests what this computer and the vault folder are, so that a folder
// that was copied, or moved to another disk or computer, is noticed. Renaming it
// is not a move. A whole disk that was cloned under the same machine id is not
// noticed here; the keyring's head is for that.
func placeOf(dir string, id ID) (Hash, error) {
	machine, err := machineID()
	if err != nil {
		return Hash{}, fmt.Errorf("name this computer: %w", err)
	}
	folder, err := folderID(dir)
	if err != nil {
		return Hash{}, fmt.Errorf("name the vault folder: %w", err)
	}
	return placeHash(id, machine, folder), nil
}

func placeHash(id ID, machine, folder string) Hash {
	return sha256.Sum256(fmt.Appendf(nil, "agent-vault place v1\n%s\n%q\n%q\n", id, machine, folder))
}
