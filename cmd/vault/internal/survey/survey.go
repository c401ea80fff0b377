// Package survey looks at the machine: what works here for a vault, and what a
// program that runs here could reach of one. Each finding has a sentence and,
// where something is missing, a remedy.
//
// It changes nothing, starts nothing, never prompts, and waits two seconds at most
// for anything outside. What it sees is what this process may see.
package survey

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"vault/approvals/means"
	"vault/cmd/internal/hygiene"
	"vault/internal/ownfolder"
	"vault/ipc/socket"
)

// Mark is how a finding stands.
type Mark string

// The marks.
const (
	Works   Mark = "works"
	Missing Mark = "missing" // a promise does not hold here
	Note    Mark = "note"    // worth knowing, nothing is broken
)

// Finding is one thing that was looked at.
type Finding struct {
	Name     string // a word or two of ours
	Mark     Mark
	Sentence string // may hold a path
	Remedy   string // empty where there is nothing to do
}

// Place is what is looked at. Getenv stands for the environment.
type Place struct {
	Folder string // the vault's folder
	Keys   string // path of vault-key
	Window bool   // whether this build has a window
	Getenv func(string) string
	X11    string         // folder in which X servers of this machine put their sockets
	Own    hygiene.Report // of this process
	// Processes counts the vault's processes that can be seen, and those whose memory can be read. Nil: on this machine.
	Processes func() (seen, readable int)
}

// X11 is the usual folder of X servers' sockets.
const X11 = "/tmp/.X11-unix"

const patience = 2 * time.Second

// Owner looks at what the vault's own promises rest on. It blocks for a few seconds
// at most.
func Owner(ctx context.Context, p Place) []Finding {
	var out []Finding
	add := func(f ...Finding) { out = append(out, f...) }
	add(closed(p.Own)...)
	add(others()...)
	add(kernel()...)
	add(program(p.Keys))
	add(keyring(ctx))
	add(display(ctx, p)...)
	add(folderOf(p.Folder))
	add(socketOf(ctx, p.Getenv)...)
	add(browser(p.Getenv))
	for _, m := range means.All {
		add(Finding{"passkey, " + strings.ToLower(m.Name), Note, m.Works, ""})
	}
	return out
}

// browser looks for a program that opens the page of a ceremony. Which passkeys it has only the page can ask.
func browser(getenv func(string) string) Finding {
	const name = "browser"
	if runtime.GOOS != "linux" {
		return Finding{name, Note, "The system's own browser is used for passkeys; it is not looked at.", ""}
	}
	var programs []string
	for entry := range strings.SplitSeq(getenv("BROWSER"), ":") {
		if argv := strings.Fields(entry); len(argv) > 0 {
			programs = append(programs, argv[0])
		}
	}
	if getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" {
		programs = append(programs, "xdg-open")
	}
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return Finding{name, Works, "The page on which a passkey answers is opened with " + path + ". The page says which passkeys the browser has.", ""}
		}
	}
	return Finding{name, Note, "No program here opens pages. The vault then gives a link to copy, and over SSH the forwarding line to type.", "Install a browser, or name one with BROWSER."}
}

func closed(r hygiene.Report) []Finding {
	out := []Finding{{"this process", Works, "Other programs of this account can neither read nor trace it, " + string(r.Closed) + ".", ""}}
	switch r.Closed {
	case hygiene.ClosedNever:
		out[0] = Finding{"this process", Missing, "Programs of this account can read and trace it: " + r.Reason + ".",
			"Run agents in a container or under an account of their own."}
	case hygiene.ClosedLate:
		out[0] = Finding{"this process", Missing, "Other programs of this account are kept out only " + string(r.Closed) + ": " + r.Reason + ".",
			"Install both programs owned by root with mode 0711, and run as an ordinary user."}
	}
	if r.Traced {
		out = append(out, Finding{"tracer", Missing, "Another program is attached to this one.", "End that program before you unlock."})
	}
	core := Finding{"core files", Works, "None can be written for this process.", ""}
	if !r.NoCore {
		core = Finding{"core files", Missing, "One could be written for this process.", "Set the limit to 0 with ulimit -c 0."}
	}
	return append(out, core)
}

// program looks at how vault-key was built.
func program(path string) Finding {
	const name = "key process"
	info, err := buildinfo.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return Finding{name, Works, "vault-key is installed unreadable; how it was built is not looked at.", ""}
	}
	if err != nil {
		return Finding{name, Missing, "vault-key cannot be found beside this program.", "Install both programs in one folder."}
	}
	for _, s := range info.Settings {
		if s.Key == "GOEXPERIMENT" && strings.Contains(s.Value, "runtimesecret") {
			return Finding{name, Works, "vault-key wipes what its work leaves on stacks and in registers (runtime/secret).", ""}
		}
	}
	if runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") {
		return Finding{name, Missing, "vault-key was built without runtime/secret: copies of seeds may stay in its memory until it ends.", "Build it with make build."}
	}
	return Finding{name, Note, "runtime/secret is not there for this system: what is left of seeds goes when the key process ends.", ""}
}

// Bus says whether the session names a message bus. It connects to none.
func Bus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	run := os.Getenv("XDG_RUNTIME_DIR")
	if run == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(run, "bus"))
	return err == nil
}

// bus connects to the session bus, and starts none.
func bus(ctx context.Context) (*dbus.Conn, error) {
	c, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.Auth(nil), c.Hello()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// within runs f with a deadline, also where what it calls has none.
func within[T any](ctx context.Context, late T, f func(context.Context) T) T {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan T, 1)
	go func() { done <- f(ctx) }()
	select {
	case v := <-done:
		return v
	case <-ctx.Done():
		return late
	}
}

func owned(ctx context.Context, c *dbus.Conn, name string) bool {
	var yes bool
	err := c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", dbus.FlagNoAutoStart, name).Store(&yes)
	return err == nil && yes
}

const secretService = "org.freedesktop.secrets"

// keyring asks the keyring for its state, without prompting.
func keyring(ctx context.Context) Finding {
	const name = "keyring"
	if runtime.GOOS != "linux" {
		return Finding{name, Note, "The system's own keyring is used; it is not looked at.", ""}
	}
	late := Finding{name, Missing, "The keyring does not answer.", "Unlock or restart it, or use a passphrase only."}
	return within(ctx, late, func(ctx context.Context) Finding {
		c, err := bus(ctx)
		if err != nil {
			return Finding{name, Note, "This session has no message bus, so no keyring can be reached.", "Choose the protection passphrase only."}
		}
		defer c.Close()
		if !owned(ctx, c, secretService) {
			return Finding{name, Note, "No keyring service runs on the message bus.", "Start one, or choose the protection passphrase only."}
		}
		var collection dbus.ObjectPath
		if err := c.Object(secretService, "/org/freedesktop/secrets").CallWithContext(ctx, "org.freedesktop.Secret.Service.ReadAlias", dbus.FlagNoAutoStart, "default").Store(&collection); err != nil {
			return late
		}
		if collection == "/" {
			return Finding{name, Missing, "The keyring service has no keyring yet.", "Make one in your desktop's settings, or choose the protection passphrase only."}
		}
		var locked dbus.Variant
		if err := c.Object(secretService, collection).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, "org.freedesktop.Secret.Collection", "Locked").Store(&locked); err != nil {
			return late
		}
		if is, ok := locked.Value().(bool); !ok || is {
			return Finding{name, Note, "The keyring is locked.", "Unlock it before you unlock the vault."}
		}
		return Finding{name, Works, "The keyring is open. Any program of this account can read what it holds: it protects a stolen disk.", ""}
	})
}

// Keyring says whether a keyring answers here and is open. It prompts nobody, starts nothing,
// and blocks for two seconds at most. Where it cannot be looked at beforehand it says true.
func Keyring(ctx context.Context) bool {
	return runtime.GOOS != "linux" || keyring(ctx).Mark == Works
}

func display(ctx context.Context, p Place) []Finding {
	x, wayland := p.Getenv("DISPLAY") != "", p.Getenv("WAYLAND_DISPLAY") != ""
	var out []Finding
	switch {
	case !p.Window:
		out = append(out, Finding{"window", Note, "This build has no window.", "Use vault serve, or install the build with a window."})
	case !x && !wayland:
		out = append(out, Finding{"display", Note, "There is no display here.", "Use vault serve."})
	case x && wayland:
		out = append(out, Finding{"display", Note, "Wayland with Xwayland. What is typed into a window drawn on Wayland is seen by no other program; one drawn through Xwayland can be watched by programs that use X.",
			"Start the vault without DISPLAY to be sure that its windows are drawn on Wayland."})
	case x:
		out = append(out, Finding{"display", Missing, "X11. Any program on this display can log your keys, also in the passphrase window, and can click.",
			"Give agents a container or an account of their own, without this display."})
	default:
		out = append(out, Finding{"display", Works, "Wayland. Programs do not see each other's keys.", ""})
	}
	if Tray(ctx) {
		return append(out, Finding{"tray", Works, "A tray is there.", ""})
	}
	return append(out, Finding{"tray", Note, "No tray is there; the vault needs none.", ""})
}

// Tray says whether the session has a place for an icon. It blocks for two seconds
// at most.
func Tray(ctx context.Context) bool {
	return within(ctx, false, func(ctx context.Context) bool {
		c, err := bus(ctx)
		if err != nil {
			return false
		}
		defer c.Close()
		return owned(ctx, c, "org.kde.StatusNotifierWatcher")
	})
}

func folderOf(dir string) Finding {
	const name = "vault folder"
	err := ownfolder.Check(dir)
	switch {
	case err == nil:
		return Finding{name, Works, dir + " is yours alone, on a local disk.", ""}
	case errors.Is(err, fs.ErrNotExist):
		return Finding{name, Note, dir + " does not exist yet; it is made with the vault.", ""}
	case errors.Is(err, ownfolder.ErrNetwork):
		return Finding{name, Missing, dir + " is on a network file system: the lock that keeps one vault open would not hold. It is not opened.", "Name a folder on a local disk with VAULT_HOME."}
	case errors.Is(err, ownfolder.ErrUnsafe):
		return Finding{name, Missing, dir + " is a link, belongs to another user, or is open to other users. It is not opened.", "Give it mode 0700 and your own user."}
	default:
		return Finding{name, Missing, dir + " cannot be looked at.", "See that you may read it."}
	}
}

func socketOf(ctx context.Context, getenv func(string) string) []Finding {
	const name = "socket"
	path, err := socket.PathFrom(getenv)
	if err != nil {
		return []Finding{broken(name, err)}
	}
	out := []Finding{}
	if getenv(socket.Env) == "" && getenv("XDG_RUNTIME_DIR") == "" {
		out = append(out, Finding{"runtime folder", Note, "XDG_RUNTIME_DIR is not set; the socket lies in your home folder.", ""})
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := socket.Dial(ctx, path)
	var e *socket.Error
	switch {
	case err == nil:
		_ = c.Close() // it was only asked whether it is there
		out = append(out, Finding{name, Works, "A vault answers at " + path + ".", ""})
	case errors.As(err, &e) && e.Code == socket.CodeAbsent:
		out = append(out, Finding{name, Note, "No vault runs; its socket will be " + path + ".", ""})
	default:
		out = append(out, broken(name, err))
	}
	return out
}

func broken(name string, err error) Finding {
	var e *socket.Error
	if errors.As(err, &e) {
		return Finding{name, Missing, fmt.Sprintf("The socket's path cannot be used (%s): %s.", e.Code, e.Path), e.Remedy()}
	}
	return Finding{name, Missing, "The socket's path cannot be used.", "Name another with VAULT_SOCK."}
}

// Reach is what a program that runs here, as this user, could do to a vault of this
// machine.
type Reach struct {
	Findings []Finding
	Class    string // "A", "B" or "C", as the project's promises use them; "" where there was no vault to be looked for
}

// Agent looks from an agent's side. It blocks for a few seconds at most.
func Agent(ctx context.Context, p Place) Reach {
	var r Reach
	reach := func(name string, reached bool, yes, no, remedy string) bool {
		f := Finding{name, Works, no, ""}
		if reached {
			f = Finding{name, Missing, yes, remedy}
		}
		r.Findings = append(r.Findings, f)
		return reached
	}
	const apart = "Run the agent in a container or under an account of its own."
	_, err := os.ReadDir(p.Folder)
	files := reach("vault folder", err == nil, "It can read and change the vault's files: "+p.Folder+".", "The vault's folder is out of reach, or there is none.", apart)
	ring := reach("keyring", reachesKeyring(ctx), "It can read the keyring, and so the keyring's part of the vault's key.", "No keyring can be reached.", apart)
	look := p.Processes
	if look == nil {
		look = vaultProcesses
	}
	processes, readable := look()
	seen := reach("processes", processes > 0, "It shares the process table with a vault, and may send it signals.", "No vault's process can be seen.", apart)
	reach("memory", readable > 0, "It can read the memory of a vault's process.", "It can read the memory of no vault's process.", "Run vault doctor as the owner.")
	screen := reach("display", reachesDisplay(p), "It can reach a display: it may see your screen, click and type.", "No display can be reached.",
		"Run the agent without DISPLAY and WAYLAND_DISPLAY, in a container without their sockets.")
	switch {
	case screen:
		r.Class = "C"
	case files || ring || seen:
		r.Class = "B"
	case answered(ctx, p.Getenv):
		r.Class = "A"
	}
	return r
}

// answered says whether a vault answers on the socket: only then is what was not reached out of
// reach, and not merely absent.
func answered(ctx context.Context, getenv func(string) string) bool {
	path, err := socket.PathFrom(getenv)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	owner, err := socket.OwnerFrom(getenv)
	if err != nil {
		return false
	}
	c, err := socket.DialOwner(ctx, path, owner)
	if err != nil {
		return false
	}
	_ = c.Close() // it was only asked whether it is there
	return true
}

func reachesKeyring(ctx context.Context) bool {
	return within(ctx, true, func(ctx context.Context) bool {
		c, err := bus(ctx)
		if err != nil {
			return false
		}
		defer c.Close()
		return owned(ctx, c, secretService)
	})
}

// reachesDisplay tries the sockets of displays, whether or not a variable names them.
func reachesDisplay(p Place) bool {
	patterns := []string{filepath.Join(p.X11, "X*")}
	if run := p.Getenv("XDG_RUNTIME_DIR"); run != "" {
		patterns = append(patterns, filepath.Join(run, "wayland-*"))
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err == nil && answers("unix", found...) {
			return true
		}
	}
	return Display(p.Getenv)
}

// Display says whether the display that the variables name answers. It blocks for
// a few seconds at most, and only where it is another machine's.
func Display(getenv func(string) string) bool {
	if w := getenv("WAYLAND_DISPLAY"); w != "" {
		if !filepath.IsAbs(w) {
			w = filepath.Join(getenv("XDG_RUNTIME_DIR"), w)
		}
		if answers("unix", w) {
			return true
		}
	}
	host, number, ok := strings.Cut(getenv("DISPLAY"), ":")
	if !ok {
		return false
	}
	number, _, _ = strings.Cut(number, ".")
	if host == "" || host == "unix" {
		path := filepath.Join(X11, "X"+number)
		return answers("unix", path, "@"+path)
	}
	n, err := strconv.Atoi(number)
	return err == nil && answers("tcp", net.JoinHostPort(host, strconv.Itoa(6000+n)))
}

func answers(network string, addresses ...string) bool {
	for _, a := range addresses {
		c, err := net.DialTimeout(network, a, patience)
		if err == nil {
			_ = c.Close() // it was only asked whether it is there
			return true
		}
	}
	return false
}
