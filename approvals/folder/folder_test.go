//go:build unix

package folder

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"vault/internal/needs"
)

// TestMain is also another desk: it takes the folder, says so, and waits.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "role-desk" {
		l, err := Take(os.Args[2])
		fmt.Println("TAKEN", err == nil, errors.Is(err, ErrInUse))
		_, _ = io.Copy(io.Discard, os.Stdin)
		if l != nil && l.Close() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// desk starts another desk and returns its first line and what kills it.
func desk(t *testing.T, dir string) (string, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "role-desk", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); in.Close() })
	t.Cleanup(end)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line, end
}

func TestOneDesk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	line, kill := desk(t, dir)
	if line != "TAKEN true false\n" {
		t.Fatalf("first: %q", line)
	}
	if _, err := Take(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("second desk: %v", err)
	}
	kill()
	l, err := Take(dir)
	if err != nil {
		t.Fatalf("after a kill: %v", err)
	}
	if _, err := Take(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("same process: %v", err)
	}
	if line, _ := desk(t, dir); line != "TAKEN false true\n" {
		t.Errorf("other process: %q", line)
	}
	// A child of the holder does not hold it.
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l.Dir() != dir {
		t.Errorf("dir %q", l.Dir())
	}
	again, err := Take(dir)
	if err != nil {
		t.Fatalf("after closing: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOneWinner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	var won atomic.Int32
	var wg sync.WaitGroup
	locks := make([]*Lock, 50)
	for i := range locks {
		wg.Go(func() {
			l, err := Take(dir)
			if err == nil {
				locks[i] = l
				won.Add(1)
			} else if !errors.Is(err, ErrInUse) {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d winners", won.Load())
	}
	for _, l := range locks {
		if l != nil {
			_ = l.Close()
		}
	}
}

func TestUnsafeFolders(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"open": func(t *testing.T, dir string) { ok(t, os.Mkdir(dir, 0o700)); ok(t, os.Chmod(dir, 0o750)) },
		"link": func(t *testing.T, dir string) { ok(t, os.Symlink(t.TempDir(), dir)) },
		"lock is link": func(t *testing.T, dir string) {
			ok(t, os.Mkdir(dir, 0o700))
			ok(t, os.Symlink("/dev/null", filepath.Join(dir, LockName)))
		},
		"lock is dir": func(t *testing.T, dir string) { ok(t, os.MkdirAll(filepath.Join(dir, LockName), 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "vault")
			make(t, dir)
			if _, err := Take(dir); !errors.Is(err, ErrUnsafe) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "vault")
		ok(t, os.WriteFile(dir, nil, 0o600))
		if _, err := Take(dir); err == nil {
			t.Error("a file was taken as a folder")
		}
	})
	t.Run("another user's", func(t *testing.T) {
		needs.Administrator(t)
		dir := filepath.Join(t.TempDir(), "vault")
		ok(t, os.Mkdir(dir, 0o700))
		ok(t, os.Chown(dir, 65534, 65534))
		if _, err := Take(dir); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%v", err)
		}
	})
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
