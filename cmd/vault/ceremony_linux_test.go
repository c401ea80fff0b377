package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault/cmd/internal/ceremony"
)

// startCeremony starts the real helper as the key process does, with the given
// program for a browser, and begins an enrolment.
func startCeremony(t *testing.T, browser string) (line *ceremony.Line, events chan ceremony.Event, ended chan error) {
	t.Helper()
	t.Setenv("BROWSER", browser)
	line, err := ceremony.Open(filepath.Join(programs, "vault"), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	if _, err := line.Begin(t.Context(), "vault-0123abcd.localhost"); err != nil {
		t.Fatal(err)
	}
	events, ended = make(chan ceremony.Event, 8), make(chan error, 1)
	task := ceremony.Task{
		Enrol:       &ceremony.Enrol{Challenge: strings.Repeat("A", 43), UserID: strings.Repeat("A", 43), Name: "Vault", Says: []string{"A new passkey."}},
		Credentials: []ceremony.Credential{}, Ends: time.Now().Add(time.Minute).UnixMilli(),
	}
	go func() {
		_, err := line.Run(context.Background(), task, func(e ceremony.Event) { events <- e })
		ended <- err
	}()
	return line, events, ended
}

func awaitEvent(t *testing.T, events chan ceremony.Event, ended chan error, kind ceremony.EventKind) ceremony.Event {
	t.Helper()
	for {
		select {
		case e := <-events:
			if e.Kind == kind {
				return e
			}
		case err := <-ended:
			t.Fatalf("no event %s: the ceremony ended with %v", kind, err)
		}
	}
}

func browserScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// The real programs: the helper is started over its line, has the browser opened
// that the owner named, and a real Chromium loads the page and presents the token.
func TestCeremonyHelperOpensABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("no Chromium (scripts/bootstrap test installs it): %v", err)
	}
	pid := filepath.Join(t.TempDir(), "pid")
	profile, err := os.MkdirTemp("", "vault-chromium")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile) // what the browser's last processes still write may stay
	line, events, ended := startCeremony(t, browserScript(t, "echo $$ > "+pid+"\nexec "+chromium+
		" --headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"+
		" --disable-dev-shm-usage --password-store=basic --user-data-dir="+profile+" --remote-debugging-port=0 \"$1\" >/dev/null 2>&1\n"))
	awaitEvent(t, events, ended, ceremony.Opened)

	// The page is there, so what was asked for it is the owner's browser and is left alone.
	line.Close()
	if err := <-ended; err != ceremony.LineEnded {
		t.Errorf("ended with %v", err)
	}
	raw, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, 0); err != nil {
		t.Errorf("the browser is gone: %v", err)
	}
	if err := syscall.Kill(-n, syscall.SIGKILL); err != nil { // it leads a session of its own
		t.Error(err)
	}
}

// A browser that cannot be opened: the link is offered, works once, and the page
// that comes by it is served until the key process closes the line.
func TestCeremonyHelperWithoutABrowser(t *testing.T) {
	line, events, ended := startCeremony(t, browserScript(t, "exit 4\n"))
	link := awaitEvent(t, events, ended, ceremony.NoBrowser).Link
	origin, token, ok := strings.Cut(link, "/#")
	if !ok {
		t.Fatalf("link %q", link)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("::1", port))
	}}}
	present := func() (int, error) {
		r, err := http.NewRequest(http.MethodPost, origin+"/begin", bytes.NewReader([]byte(`{"token":"`+token+`"}`)))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Origin", origin)
		r.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	if status, err := present(); status != http.StatusOK || err != nil {
		t.Fatalf("%d %v", status, err)
	}
	awaitEvent(t, events, ended, ceremony.Opened)
	if status, err := present(); status != http.StatusGone || err != nil {
		t.Errorf("the second time: %d %v", status, err)
	}
	if err := <-ended; err != ceremony.Contested {
		t.Errorf("ended with %v", err)
	}
	line.Close()
}
