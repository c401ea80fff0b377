//go:build linux

package testbed

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/godbus/dbus/v5"
)

// KeyringPrograms are what StartKeyring needs.
var KeyringPrograms = []string{"dbus-daemon", "gnome-keyring-daemon"}

const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
`

// StartBus starts a message bus that nothing else uses, and puts its address into
// the bed's environment.
func (b *Bed) StartBus(ctx context.Context) error {
	at := filepath.Join(b.Dir, "bus")
	config := filepath.Join(b.Dir, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, at), 0o600); err != nil {
		return fmt.Errorf("start bus: %w", err)
	}
	b.Set("DBUS_SESSION_BUS_ADDRESS", "unix:path="+at)
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start bus: %w", err)
	}
	defer r.Close()
	cmd := b.Command(context.WithoutCancel(ctx), "dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--print-address", "--config-file="+config)
	cmd.Stdout = w
	_, err = b.Start(cmd)
	_ = w.Close() // the bus has its own
	if err != nil {
		return err
	}
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || !strings.HasPrefix(line, "unix:path=") {
		return fmt.Errorf("start bus: it said %q (%v)", line, err)
	}
	return nil
}

// StartKeyring starts a real keyring on the bed's bus, with an open collection, and
// returns when it answers.
func (b *Bed) StartKeyring(ctx context.Context) error {
	cmd := b.Command(context.WithoutCancel(ctx), "gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock")
	cmd.Stdin = strings.NewReader("the password of this keyring")
	if _, err := b.Start(cmd); err != nil {
		return err
	}
	conn, err := dbus.Connect(b.Env("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		return fmt.Errorf("start keyring: %w", err)
	}
	defer conn.Close()
	return Until(ctx, "the keyring", func() (bool, error) {
		var owned bool
		err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.secrets").Store(&owned)
		return owned, err
	})
}
