package session

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"vault/internal/needs"
)

// bus starts a session bus of its own and makes it this process's.
func bus(t *testing.T) *dbus.Conn {
	t.Helper()
	needs.Programs(t, "dbus-daemon")
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	c, err := dbus.Connect(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestTheScreenLocks(t *testing.T) {
	saver := bus(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	heard := make(chan bool, 64)
	Watch(ctx, Events{Away: func(on bool) { heard <- on }, Sleep: func() {}})
	if r, err := saver.RequestName(savers[0], dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("name: %v, %v", r, err)
	}
	emit := func(name string, on bool) {
		t.Helper()
		if err := saver.Emit("/org/freedesktop/ScreenSaver", name+".ActiveChanged", on); err != nil {
			t.Fatal(err)
		}
	}
	// The watcher connects on its own time: say it until it is heard.
	for started := false; !started; {
		emit(savers[1], false) // by a program that does not own that name: not heard
		emit(savers[0], true)
		select {
		case on := <-heard:
			if !on {
				t.Fatal("a program that is no screen saver was heard")
			}
			started = true
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("never heard")
		}
	}
	emit(savers[0], false)
	for {
		select {
		case on := <-heard:
			if !on {
				return
			}
		case <-ctx.Done():
			t.Fatal("the unlock was never heard")
		}
	}
}

func TestWithoutABusNothingIsStarted(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := screen(t.Context(), func(bool) { t.Error("away") }); err == nil {
		t.Error("a bus was found, or started")
	}
}
