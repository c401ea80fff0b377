package wake

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestWords(t *testing.T) {
	dir := t.TempDir()
	got := make(chan Word, 8)
	// A socket that a killed desk left behind is no obstacle.
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(dir, func(w Word) { got <- w })
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []Word{Show, Lock} {
		if err := Ask(dir, w); err != nil {
			t.Fatal(err)
		}
		if heard := <-got; heard != w {
			t.Errorf("heard %c, want %c", heard, w)
		}
	}
	// Any other word is not heard, and the line is closed without an answer.
	if err := Ask(dir, 'a'); !errors.Is(err, ErrNobody) {
		t.Errorf("another word: %v", err)
	}
	if len(got) != 0 {
		t.Errorf("another word reached the desk: %c", <-got)
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", info, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Ask(dir, Show); !errors.Is(err, ErrNobody) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := net.Dial("unix", filepath.Join(dir, name)); err == nil {
		t.Error("the socket is still there")
	}
}
