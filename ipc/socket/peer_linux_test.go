package socket

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWhatIsObserved(t *testing.T) {
	path := filepath.Join(private(t), "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := PeerOf(s)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if p.ProcessID != int64(os.Getpid()) || p.Executable != exe || !slices.Equal(p.Command, os.Args) {
		t.Errorf("observed %d %q %q", p.ProcessID, p.Executable, p.Command)
	}
	if len(p.Parents) == 0 || p.Parents[0] != executable(os.Getppid()) {
		t.Errorf("parents %q", p.Parents)
	}
}

// What is not a socket of the system has no peer, and is no reason to believe anything.
func TestNoPeer(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if p, err := PeerOf(a); err == nil || p.UserID != -1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A program may choose its own name, and the name is between parentheses.
func TestParentOfAProgramWithAnyName(t *testing.T) {
	if parent, ok := parentOf(os.Getpid()); !ok || parent != os.Getppid() {
		t.Fatalf("%d, %v", parent, ok)
	}
	name := "x) S 1 ("
	was, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/proc/self/comm", []byte(name), 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.WriteFile("/proc/self/comm", was[:len(was)-1], 0) }()
	if parent, ok := parentOf(os.Getpid()); !ok || parent != os.Getppid() {
		t.Errorf("%d, %v", parent, ok)
	}
}
