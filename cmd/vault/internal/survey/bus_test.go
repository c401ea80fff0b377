package survey

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"vault/internal/needs"
)

// silentBus starts a bus on which somebody owns the keyring's name, with an object
// that answers at the end of the test. It gives the bus's address.
func silentBus(t *testing.T) string {
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	c, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	t.Cleanup(func() { close(end); _ = c.Close() })
	err = c.ExportMethodTable(map[string]any{
		"ReadAlias": func(string) (dbus.ObjectPath, *dbus.Error) { <-end; return "/", nil },
	}, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.RequestName(secretService, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("name: %v, %v", r, err)
	}
	return address
}
