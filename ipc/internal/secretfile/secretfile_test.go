package secretfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if _, err := Read(path, 8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
	if err := os.WriteFile(path, []byte("12345678"), 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := Read(path, 8); err != nil || string(raw) != "12345678" {
		t.Errorf("%q, %v", raw, err)
	}
	if _, err := Read(path, 7); !errors.Is(err, ErrNotOurs) {
		t.Errorf("of one that is too long: %v", err)
	}
	if _, err := Read(dir, 8); !errors.Is(err, ErrNotOurs) {
		t.Errorf("of a folder: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // neither modes nor links for everybody
	}
	link := filepath.Join(dir, "b")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(link, 8); !errors.Is(err, ErrNotOurs) {
		t.Errorf("of a link: %v", err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path, 8); !errors.Is(err, ErrNotOurs) {
			t.Errorf("of one with mode %v: %v", mode, err)
		}
	}
}
