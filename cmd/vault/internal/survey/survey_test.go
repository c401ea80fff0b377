package survey

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vault/cmd/internal/hygiene"
	"vault/ipc/socket"
)

// place is a machine on which nothing of a vault can be reached.
func place(t *testing.T) (Place, map[string]string) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	env := map[string]string{"XDG_RUNTIME_DIR": t.TempDir()}
	return Place{Folder: filepath.Join(t.TempDir(), "none"), Keys: filepath.Join(t.TempDir(), "none"), X11: t.TempDir(),
		Getenv: func(name string) string { return env[name] }, Processes: func() (int, int) { return 0, 0 }}, env
}

func find(t *testing.T, list []Finding, name string) Finding {
	t.Helper()
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no finding called %s in %+v", name, list)
	}
	return list[i]
}

func listen(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}

func TestWhatAnAgentReachesMakesItsClass(t *testing.T) {
	for _, row := range []struct {
		name, finding string
		notA          bool // B or more
		c             bool
		arrange       func(*testing.T, *Place, map[string]string)
	}{
		{"nothing", "vault folder", false, false, func(*testing.T, *Place, map[string]string) {}},
		{"the files", "vault folder", true, false, func(t *testing.T, p *Place, _ map[string]string) { p.Folder = t.TempDir() }},
		{"an X server that no variable names", "display", true, true, func(t *testing.T, p *Place, _ map[string]string) {
			listen(t, filepath.Join(p.X11, "X7"))
		}},
		{"Wayland that no variable names", "display", true, true, func(t *testing.T, _ *Place, env map[string]string) {
			listen(t, filepath.Join(env["XDG_RUNTIME_DIR"], "wayland-0"))
		}},
		{"a vault's process", "processes", true, false, func(_ *testing.T, p *Place, _ map[string]string) {
			p.Processes = func() (int, int) { return 1, 0 }
		}},
		{"a vault's memory", "memory", true, false, func(_ *testing.T, p *Place, _ map[string]string) {
			p.Processes = func() (int, int) { return 1, 1 }
		}},
		{"a socket that nobody serves", "display", false, false, func(t *testing.T, p *Place, _ map[string]string) {
			if err := os.WriteFile(filepath.Join(p.X11, "X8"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, env := place(t)
			row.arrange(t, &p, env)
			r := Agent(t.Context(), p)
			want := ""
			switch {
			case row.c:
				want = "C"
			case row.notA:
				want = "B"
			}
			if r.Class != want {
				t.Errorf("class %s, want %s: %+v", r.Class, want, r.Findings)
			}
			if f := find(t, r.Findings, row.finding); (f.Mark == Missing) != row.notA || (f.Mark == Missing) != (f.Remedy != "") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// Where no vault answers, what was not reached may merely not be there: that is no class A.
func TestClassAIsOnlySaidWhereAVaultAnswers(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	p, env := place(t)
	dir, err := os.MkdirTemp("", "sv")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	env[socket.Env] = filepath.Join(dir, "s.sock")
	if r := Agent(t.Context(), p); r.Class != "" {
		t.Errorf("no vault answers: class %q", r.Class)
	}
	l, err := socket.Listen(env[socket.Env])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if r := Agent(t.Context(), p); r.Class != "A" {
		t.Errorf("a vault answers: class %q", r.Class)
	}
}

func TestHowAProcessIsClosed(t *testing.T) {
	for _, row := range []struct {
		report hygiene.Report
		name   string
		want   Mark
	}{
		{hygiene.Report{Closed: hygiene.ClosedBorn, NoCore: true}, "this process", Works},
		{hygiene.Report{Closed: hygiene.ClosedLate, NoCore: true}, "this process", Missing},
		{hygiene.Report{Closed: hygiene.ClosedNever, NoCore: true}, "this process", Missing},
		{hygiene.Report{Closed: hygiene.ClosedBorn}, "core files", Missing},
		{hygiene.Report{Closed: hygiene.ClosedBorn, Traced: true}, "tracer", Missing},
	} {
		if f := find(t, closed(row.report), row.name); f.Mark != row.want || (f.Mark == Missing) != (f.Remedy != "") {
			t.Errorf("%+v: %+v", row.report, f)
		}
	}
}

func TestFolders(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]Mark{open: Missing, private: Works, filepath.Join(open, "none"): Note} {
		if f := folderOf(dir); f.Mark != want || (f.Mark == Missing) != (f.Remedy != "") {
			t.Errorf("%s: %+v", dir, f)
		}
	}
}

// A keyring that has taken its name and does not answer stops nobody.
func TestASilentKeyringIsSaid(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", silentBus(t))
	f := keyring(t.Context())
	if f.Mark != Missing || !strings.Contains(f.Sentence, "does not answer") {
		t.Errorf("%+v", f)
	}
	if Keyring(t.Context()) {
		t.Error("it is said to answer")
	}
}

// Every finding of a whole look has a sentence, and what is missing a remedy.
func TestOwner(t *testing.T) {
	p, env := place(t)
	for _, display := range []string{"", ":99999"} {
		env["DISPLAY"] = display
		p.Window = display != ""
		for _, f := range Owner(t.Context(), p) {
			if f.Name == "" || !strings.HasSuffix(f.Sentence, ".") || f.Mark == Missing && f.Remedy == "" {
				t.Errorf("%+v", f)
			}
		}
	}
	if f := find(t, Owner(t.Context(), p), "display"); f.Mark != Missing || !strings.Contains(f.Sentence, "log your keys") {
		t.Errorf("X11: %+v", f)
	}
}
