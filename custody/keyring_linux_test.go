package custody

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"vault/internal/needs"
)

// session is a message bus of its own, with its own home, that nothing else uses.
type session struct {
	t       *testing.T
	dir     string
	address string
}

// newSession starts a bus that can start the named services, and nothing else.
func newSession(t *testing.T, services ...string) *session {
	t.Helper()
	needs.Programs(t, "dbus-daemon", "gnome-keyring-daemon")
	s := &session{t: t, dir: t.TempDir()}
	must(t, os.Chmod(s.dir, 0o700))
	for _, d := range []string{"home", "run", "services"} {
		must(t, os.Mkdir(filepath.Join(s.dir, d), 0o700))
	}
	for _, name := range services {
		file := "/usr/share/dbus-1/services/" + name
		needs.Files(t, file)
		b, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.dir, "services", name), b, 0o600))
	}
	config := filepath.Join(s.dir, "bus.conf")
	must(t, os.WriteFile(config, []byte(`<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=`+s.dir+`/bus</listen><auth>EXTERNAL</auth>
<servicedir>`+s.dir+`/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
`), 0o600))
	s.address = "unix:path=" + s.dir + "/bus"
	s.set("HOME", s.dir+"/home")
	s.set("XDG_RUNTIME_DIR", s.dir+"/run")
	s.set("XDG_DATA_HOME", s.dir+"/home/data")
	s.set("DBUS_SESSION_BUS_ADDRESS", s.address)
	t.Setenv("DISPLAY", "")
	out := s.start(nil, "dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--print-address", "--config-file="+config)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, s.address) {
		t.Fatalf("the bus did not start: %q %v", line, err)
	}
	return s
}

func (s *session) set(name, value string) { s.t.Setenv(name, value) }

// start runs a program of the session until the test ends and returns its output.
func (s *session) start(in []byte, name string, args ...string) *os.File {
	s.t.Helper()
	r, w, err := os.Pipe()
	must(s.t, err)
	cmd := exec.Command(name, args...)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stdout = w
	must(s.t, cmd.Start())
	w.Close()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		r.Close()
	})
	return r
}

// daemon starts a real keyring and returns what stops it. A password of "" means
// that nothing is unlocked or created.
func (s *session) daemon(password string) (stop func()) {
	s.t.Helper()
	args := []string{"--foreground", "--components=secrets"}
	if password != "" {
		args = append(args, "--unlock")
	}
	cmd := exec.Command("gnome-keyring-daemon", args...)
	cmd.Stdin = strings.NewReader(password)
	must(s.t, cmd.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	s.t.Cleanup(stop)
	s.await(secretsName)
	return stop
}

// await waits until the name is owned on the bus.
func (s *session) await(name string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	conn := s.connect()
	must(s.t, conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name)))
	changes := make(chan *dbus.Signal, 16)
	conn.Signal(changes)
	for {
		var owned bool
		must(s.t, conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned))
		if owned {
			return
		}
		select {
		case <-changes:
		case <-ctx.Done():
			s.t.Fatalf("%s did not come up", name)
		}
	}
}

func (s *session) connect() *dbus.Conn {
	s.t.Helper()
	conn, err := dbus.Connect(s.address)
	must(s.t, err)
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// lock locks the login collection.
func (s *session) lock() {
	s.t.Helper()
	var done []dbus.ObjectPath
	var prompt dbus.ObjectPath
	o := s.connect().Object(secretsName, secretsPath)
	must(s.t, o.CallWithContext(s.t.Context(), serviceFace+".Lock", 0, []dbus.ObjectPath{loginPath}).Store(&done, &prompt))
	if len(done) != 1 {
		s.t.Fatalf("locked %v, prompt %v", done, prompt)
	}
}

// real returns a configuration whose keyring and passphrase function are real.
func (s *session) real() *bench {
	b := newBench(s.t)
	b.cfg.Keyring = OSKeyring{Runner: testRunner{}, Deadline: 5 * time.Second}
	b.cfg.KDF = HelperKDF{testRunner{}}
	return b
}

// closed shows what a vault that exists answers while the keyring answers want:
// it does not open, no second root is made, and nothing changes.
func (s *session) closed(b *bench, want *Error) {
	s.t.Helper()
	if _, err := b.open(s.t); !errors.Is(err, want) || CodeOf(err) != want.Code() {
		s.t.Errorf("open: %v, want %v", err, want)
	}
	if text, ok := Sentence(want); !ok || text == "" {
		s.t.Errorf("no sentence for %s", want.Code())
	}
	b.refusesSecondRoot(s.t)
	fresh := newBench(s.t)
	fresh.cfg.Keyring = b.cfg.Keyring
	if _, err := Create(s.t.Context(), fresh.cfg, fresh.request(s.t, KeyringAndPassphrase)); !errors.Is(err, want) {
		s.t.Errorf("create elsewhere: %v, want %v", err, want)
	}
	if found, err := Look(fresh.cfg.Dir); err != nil || found.State != None {
		s.t.Errorf("creating left something: %+v %v", found, err)
	}
}

func TestRealKeyring(t *testing.T) {
	s := newSession(t)
	stop := s.daemon("pw")
	k := OSKeyring{Runner: testRunner{}, Deadline: 5 * time.Second}
	must(t, k.Available(t.Context()))
	dst, err := NewSecret(maxItem)
	must(t, err)
	defer dst.Destroy()
	if _, err := k.Get(t.Context(), "nothing", dst); !errors.Is(err, ErrKeyringNotFound) {
		t.Errorf("absent: %v", err)
	}
	must(t, k.Delete(t.Context(), "nothing"))
	for _, value := range []string{"first", "second"} {
		must(t, k.Set(t.Context(), "item", []byte(value)))
		n, err := k.Get(t.Context(), "item", dst)
		if err != nil || string(dst.Bytes()[:n]) != value {
			t.Errorf("%q %v", dst.Bytes()[:n], err)
		}
	}
	must(t, k.Delete(t.Context(), "item"))
	if _, err := k.Get(t.Context(), "item", dst); !errors.Is(err, ErrKeyringNotFound) {
		t.Errorf("deleted: %v", err)
	}
	if err := k.Set(t.Context(), "Bad Name", []byte("x")); !errors.Is(err, ErrKeyringRefused) {
		t.Errorf("bad name: %v", err)
	}

	b := s.real()
	v := b.create(t, KeyringAndPassphrase)
	root := rootOf(t, v)
	must(t, v.Anchor(t.Context(), Head{Seq: 1, Hash: Hash{1}}))
	v.Lock()
	again := b.mustOpen(t)
	if !bytes.Equal(rootOf(t, again), root) || again.Doubt() != nil || !again.Anchored() {
		t.Errorf("doubt %v", again.Doubt())
	}
	again.Lock()
	if _, err := Open(t.Context(), b.cfg, secretOf(t, "another passphrase")); !errors.Is(err, ErrWrongPassphrase) {
		t.Errorf("wrong passphrase: %v", err)
	}

	// The service goes away while the bus stays.
	stop()
	s.closed(b, ErrNoService)
	// Back, with the wrong password for the keyring: it runs, locked.
	stop = s.daemon("wrong")
	s.closed(b, ErrKeyringLocked)
	stop()
	// Back, unlocked.
	s.daemon("pw")
	if err := b.mustOpen(t).Doubt(); err != nil {
		t.Error(err)
	}
	// Locked, with nobody to ask: also where prompting is allowed.
	s.lock()
	s.closed(b, ErrKeyringLocked)
	b.cfg.Keyring = OSKeyring{Runner: testRunner{}, Prompt: true, Deadline: 5 * time.Second}
	if _, err := b.open(t); !errors.Is(err, ErrKeyringLocked) {
		t.Errorf("prompting without a display: %v", err)
	}
}

func TestKeyringOfAnotherVault(t *testing.T) {
	s := newSession(t)
	stop := s.daemon("pw")
	b := s.real()
	b.create(t, KeyringOnly).Lock()
	stop()
	must(t, os.RemoveAll(s.dir+"/home/data"))
	must(t, os.RemoveAll(s.dir+"/home/.local"))
	s.daemon("pw")
	if _, err := b.open(t); !errors.Is(err, ErrKeyMissing) {
		t.Errorf("%v", err)
	}
	b.refusesSecondRoot(t)
}

func TestNoDefaultKeyring(t *testing.T) {
	s := newSession(t)
	b := s.existing()
	s.daemon("")
	s.closed(b, ErrNoDefault)
}

// existing returns a configuration over a vault that a keyring once opened.
func (s *session) existing() *bench {
	b := newBench(s.t)
	b.create(s.t, KeyringAndPassphrase).Lock()
	b.cfg.Keyring = OSKeyring{Runner: testRunner{}, Deadline: 1500 * time.Millisecond}
	return b
}

func TestNoBus(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "started")
	must(t, os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\necho > "+mark+"\n"), 0o755))
	for name, address := range map[string]string{"no address": "", "dead address": "unix:path=" + dir + "/nothing", "nonsense": "nonsense"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
			t.Setenv("XDG_RUNTIME_DIR", dir)
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			t.Setenv("DISPLAY", ":99")
			s := &session{t: t}
			s.closed(s.existing(), ErrNoBus)
			if _, err := os.Stat(mark); err == nil {
				t.Error("a bus was started")
			}
		})
	}
}

func TestSilentBus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	s := &session{t: t}
	s.closed(s.existing(), ErrKeyringTimeout)
}

func TestNoService(t *testing.T) {
	s := newSession(t)
	s.closed(s.existing(), ErrNoService)
}

// silent owns the name of the keyring. Where answers is set it says that it is
// there and unlocked, and then hangs, as a broken one does.
type silent struct{ answers bool }

func (s silent) Get(_, property string) (dbus.Variant, *dbus.Error) {
	if !s.answers {
		select {}
	}
	if property == "Locked" {
		return dbus.MakeVariant(false), nil
	}
	return dbus.MakeVariant([]dbus.ObjectPath{loginPath}), nil
}

func (silent) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	select {}
}

func (silent) Unlock([]dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	select {}
}

func roleSilentKeyring(args []string) int {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return 1
	}
	s := silent{answers: args[0] == "answers"}
	for _, path := range []dbus.ObjectPath{secretsPath, loginPath} {
		if conn.Export(s, path, serviceFace) != nil || conn.Export(s, path, "org.freedesktop.DBus.Properties") != nil {
			return 1
		}
	}
	if _, err := conn.RequestName(secretsName, dbus.NameFlagDoNotQueue); err != nil {
		return 1
	}
	<-conn.Context().Done()
	return 0
}

func TestSilentService(t *testing.T) {
	for _, kind := range []string{"nothing", "answers"} {
		t.Run(kind, func(t *testing.T) {
			s := newSession(t)
			b := s.existing()
			s.start(nil, os.Args[0], "silent-keyring", kind)
			s.await(secretsName)
			s.closed(b, ErrKeyringTimeout)
		})
	}
}

// TestPrompterHangs: a locked keyring whose window waits on a display for an
// owner who does not come.
func TestPrompterHangs(t *testing.T) {
	needs.Programs(t, "Xvfb")
	s := newSession(t, "org.gnome.keyring.SystemPrompter.service", "org.gnome.keyring.PrivatePrompter.service")
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	must(t, x.Start())
	w.Close()
	t.Cleanup(func() { _ = x.Process.Kill(); _ = x.Wait() })
	number, err := bufio.NewReader(r).ReadString('\n')
	must(t, err)
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(number))
	must(t, s.connect().BusObject().CallWithContext(t.Context(), "org.freedesktop.DBus.UpdateActivationEnvironment", 0,
		map[string]string{"DISPLAY": os.Getenv("DISPLAY"), "HOME": s.dir + "/home"}).Err)
	s.daemon("pw")
	b := s.real()
	b.create(t, KeyringAndPassphrase).Lock()
	s.lock()
	// Nobody is asked unless the caller says so.
	s.closed(b, ErrKeyringLocked)
	b.cfg.Keyring = OSKeyring{Runner: testRunner{}, Prompt: true, Deadline: 3 * time.Second}
	if _, err := b.open(t); !errors.Is(err, ErrKeyringTimeout) {
		t.Errorf("with a window that nobody answers: %v", err)
	}
	b.refusesSecondRoot(t)
}

func TestKeyringMainRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"get"}, {"get", "a"}, {"list", "a", "b"}, {"get", "a", "b", "c"}, {"get", "../a", "b"}, {"get", "a", ""}, {"get", "a", "B"}, {"set", "a", strings.Repeat("b", 81)}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			var out bytes.Buffer
			if code := KeyringMain(args, strings.NewReader("value"), &out); code != exitUsage || out.Len() != 0 {
				t.Errorf("code %d, %q", code, out.String())
			}
		})
	}
	if code := KeyringMain([]string{"set", "a", "b"}, strings.NewReader(strings.Repeat("x", maxItem+1)), nil); code != exitUsage {
		t.Errorf("a long value: code %d", code)
	}
}
