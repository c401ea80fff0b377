//go:build unix

package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"vault/cmd/internal/ceremony"
)

const linkOfTest = "http://" + vaultRPID + ":4711/#token"

// program writes an executable script.
func program(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(pairs map[string]string) func(string) string {
	return func(n string) string { return pairs[n] }
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	mine := program(t, dir, "mine", "")
	opener := program(t, dir, "xdg-open", "")
	t.Setenv("PATH", dir)
	for _, c := range []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"named", map[string]string{"BROWSER": mine}, []string{mine, linkOfTest}},
		{"named by name", map[string]string{"BROWSER": "mine"}, []string{mine, linkOfTest}},
		{"arguments", map[string]string{"BROWSER": "mine --new-window"}, []string{mine, "--new-window", linkOfTest}},
		{"place of the link", map[string]string{"BROWSER": "mine --app=%s -x"}, []string{mine, "--app=" + linkOfTest, "-x"}},
		{"the second is here", map[string]string{"BROWSER": "absent:mine"}, []string{mine, linkOfTest}},
		{"none is here", map[string]string{"BROWSER": "absent", "DISPLAY": ":0"}, []string{opener, linkOfTest}},
		{"display", map[string]string{"DISPLAY": ":0"}, []string{opener, linkOfTest}},
		{"wayland", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, []string{opener, linkOfTest}},
		{"neither", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := System{Environment: env(c.env), GOOS: "linux"}.command(linkOfTest)
			if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestOpenerIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	taken := program(t, dir, "taken", `echo "$1" "$DBUS_SESSION_BUS_ADDRESS" > `+out)
	refuses := program(t, dir, "refuses", "exit 3")
	open := func(program string) error {
		return <-System{Environment: env(map[string]string{"BROWSER": program}), GOOS: "linux"}.Open(linkOfTest).Ended
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if err := open(taken); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(out)
	if err != nil || string(raw) != linkOfTest+" disabled:\n" {
		t.Errorf("%q %v", raw, err)
	}
	if err := open(refuses); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	if err := (<-System{Environment: env(nil), GOOS: "linux"}.Open(linkOfTest).Ended); err != errNowhere {
		t.Errorf("got %v", err)
	}
}

// An opener that hangs is ended with what it started: both hold the writing end of the pipe,
// which is read to its end.
func TestHangingOpenerIsEnded(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	hangs := program(t, dir, "hangs", "exec > "+pipe+"\nsleep 1000 &\necho up\nsleep 1000")
	o := System{Environment: env(map[string]string{"BROWSER": hangs}), GOOS: "linux"}.Open(linkOfTest)
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	up := make([]byte, 3)
	if _, err := f.Read(up); err != nil || string(up) != "up\n" {
		t.Fatalf("%q %v", up, err)
	}
	o.Kill()
	if err := <-o.Ended; err == nil {
		t.Error("it ended as if it had taken the page")
	}
	if n, err := f.Read(up); n != 0 || err == nil {
		t.Errorf("something of it still lives: %d %v", n, err)
	}
	o.Kill() // once more is nothing
}

func TestNoBrowserOffersTheLink(t *testing.T) {
	over := map[string]string{"SSH_CONNECTION": "192.0.2.7 50000 192.0.2.9 2222", "USER": "ann"}
	a := begin(t, vaultRPID, confirming(vaultRPID, nil), func(c *Config, _ *ceremony.Task) {
		b := c.Browser.(noBrowser)
		b.fails = errNowhere
		c.Browser, c.Environment = b, env(over)
	})
	e := a.event(ceremony.NoBrowser)
	if e.Link != a.link || e.Detail != errNowhere.Error() {
		t.Errorf("offered %+v", e)
	}
	port := a.origin[strings.LastIndexByte(a.origin, ':')+1:]
	if want := "ssh -N -L " + port + ":localhost:" + port + " -p 2222 ann@192.0.2.9"; e.Forward != want {
		t.Errorf("forward %q, want %q", e.Forward, want)
	}
	// It can be opened all the same, once.
	a.caller("127.0.0.1").opened()
	a.event(ceremony.Opened)
}

func TestSlowBrowserOffersTheLink(t *testing.T) {
	var kills sync.WaitGroup
	kills.Add(1)
	a := begin(t, vaultRPID, confirming(vaultRPID, nil), func(c *Config, k *ceremony.Task) {
		b := c.Browser.(noBrowser)
		b.kills = &kills
		c.Browser, c.OpenTime = b, 0
	})
	if e := a.event(ceremony.NoBrowser); e.Link != a.link || e.Forward != "" {
		t.Errorf("offered %+v", e)
	}
	// The page never came: what was asked for it is ended with the ceremony.
	a.line.Close()
	kills.Wait()
}

func TestForward(t *testing.T) {
	for name, e := range map[string]map[string]string{
		"not over ssh":  {"USER": "ann"},
		"not four":      {"SSH_CONNECTION": "1 2 3", "USER": "ann"},
		"not a number":  {"SSH_CONNECTION": "::1 1 ::1 x", "USER": "ann"},
		"not an ip":     {"SSH_CONNECTION": "::1 1 host;rm 22", "USER": "ann"},
		"no user":       {"SSH_CONNECTION": "::1 1 ::1 22"},
		"odd user":      {"SSH_CONNECTION": "::1 1 ::1 22", "USER": "a b"},
		"user a option": {"SSH_CONNECTION": "::1 1 ::1 22", "USER": "-oProxyCommand"},
	} {
		if got := forward(env(e), 4711); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, want := forward(env(map[string]string{"SSH_CONNECTION": "::1 1 ::1 22", "USER": "ann"}), 4711), "ssh -N -L 4711:localhost:4711 ann@::1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
