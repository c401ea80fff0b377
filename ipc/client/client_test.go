//go:build unix

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/approvals"
	"vault/ipc"
	"vault/ipc/client"
	"vault/ipc/internal/fakedesk"
	"vault/ipc/socket"
)

func serve(t *testing.T) (*fakedesk.Desk, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	desk := fakedesk.New()
	srv := ipc.New(ipc.Options{Agents: desk})
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Shutdown(context.Background()) })
	return desk, path
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, path string) *client.Conn {
	t.Helper()
	c, err := client.Dial(within(t), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func pair(t *testing.T, path string) *client.Pairing {
	t.Helper()
	p, err := dial(t, path).Pair(within(t), "test", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func codeOf(err error) string {
	var e *client.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

var sign = client.Sign{
	RequestID: "r-1",
	Envelope:  json.RawMessage(`{"domain":{"domainHash":"` + fakedesk.DomainHash + `"}}`),
	Payload:   json.RawMessage(`{"type":"test.message"}`),
}

func TestFromPairingToSignature(t *testing.T) {
	desk, path := serve(t)
	var atVault string
	desk.Digits = func(d string) bool { atVault = d; return true }
	var atClient string
	p, err := dial(t, path).Pair(within(t), "test", func(d string) { atClient = d })
	if err != nil {
		t.Fatal(err)
	}
	if atClient == "" || atClient != atVault {
		t.Errorf("the client shows %q, the vault %q", atClient, atVault)
	}
	file := filepath.Join(t.TempDir(), "a", "b", "test.json")
	if err := p.Save(file); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode() != 0o600 {
		t.Errorf("file: %v, %v", fi, err)
	}
	if p, err = client.Load(file); err != nil {
		t.Fatal(err)
	}
	c := dial(t, path)
	g, err := c.Hello(within(t), p)
	if err != nil || g.Vault != fakedesk.Vault || g.State != "open" {
		t.Fatalf("%+v, %v", g, err)
	}
	if domains, err := c.Domains(within(t)); err != nil || len(domains) != 1 || string(domains[0]) != fakedesk.Domain {
		t.Errorf("domains %s, %v", domains, err)
	}
	if domain, err := c.Domain(within(t), "billing-ops"); err != nil || string(domain) != fakedesk.Domain {
		t.Errorf("domain %s, %v", domain, err)
	}
	s, err := c.ActionSign(within(t), sign)
	if err != nil || len(s.Signature) != 132 || s.Seq != 8 || s.By != "click" || len(s.Record) == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if string(desk.Asks[0].Envelope) != string(sign.Envelope) || string(desk.Asks[0].Payload) != string(sign.Payload) || !desk.Asks[0].Interactive {
		t.Errorf("the desk got %+v", desk.Asks[0])
	}
	if again, err := dial2(t, path, p).Await(within(t), "r-1"); err != nil || again.Signature != s.Signature {
		t.Errorf("from another connection: %+v, %v", again, err)
	}
	if raw, err := c.Record(within(t), "r-1"); err != nil || len(raw) == 0 {
		t.Errorf("record %s, %v", raw, err)
	}
	if err := c.EndSession(within(t), "s"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(p.LastHead()), `"seq":8`) {
		t.Errorf("last head %s", p.LastHead())
	}
	if n := len(desk.Heads); desk.Heads[n-1] != string(p.LastHead()) {
		t.Errorf("the newest head was not sent: %q", desk.Heads)
	}
}

func dial2(t *testing.T, path string, p *client.Pairing) *client.Conn {
	t.Helper()
	c := dial(t, path)
	if _, err := c.Hello(within(t), p); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRefusals(t *testing.T) {
	desk, path := serve(t)
	p := pair(t, path)
	c := dial2(t, path, p)
	asked := sign
	asked.Grant = true
	if _, err := c.ActionSign(within(t), asked); codeOf(err) != "not_shown" {
		t.Errorf("without a grant: %v", err)
	}
	if _, err := c.Domain(within(t), "none"); codeOf(err) != "unknown_domain" {
		t.Errorf("domain: %v", err)
	}
	if err := c.Cancel(within(t), "none"); codeOf(err) != "unknown_request" {
		t.Errorf("cancel: %v", err)
	}
	desk.Sign = func(context.Context, approvals.Ask) (approvals.Answer, error) {
		return approvals.Answer{}, &approvals.Refusal{Code: "locked", Message: "The vault is locked.", Remedy: "Wait.", RetryAfterMS: 7, Data: json.RawMessage(`{"x":1}`)}
	}
	_, err := c.ActionSign(within(t), sign)
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "locked" || e.Family != 1100 || e.Message != "The vault is locked." || e.Remedy != "Wait." || e.RetryAfterMS != 7 || string(e.Detail) != `{"x":1}` {
		t.Errorf("%#v", err)
	}
	desk.Digits = func(string) bool { return false }
	if _, err := dial(t, path).Pair(within(t), "no", func(string) {}); codeOf(err) != "declined" {
		t.Errorf("pairing: %v", err)
	}
	desk.Forget()
	if _, err := dial(t, path).Hello(within(t), p); codeOf(err) != "revoked" {
		t.Errorf("hello: %v", err)
	}
}

// A vault that has the same id and knows a client of that name, but not the secret.
func TestVaultMustProve(t *testing.T) {
	_, ours := serve(t)
	p := pair(t, ours)
	other, path := serve(t)
	pair(t, path)
	if _, err := dial(t, path).Hello(within(t), p); !errors.Is(err, client.ErrVaultProof) {
		t.Errorf("hello: %v", err)
	}
	if len(other.Heads) != 0 {
		t.Error("the client proved itself to it")
	}
	p.Vault = strings.Repeat("0", 32)
	if _, err := dial(t, ours).Hello(within(t), p); !errors.Is(err, client.ErrOtherVault) {
		t.Errorf("hello: %v", err)
	}
}

func TestStatusAsNobody(t *testing.T) {
	_, path := serve(t)
	raw, err := dial(t, path).Status(within(t))
	if err != nil || !strings.Contains(string(raw), `"state":"open"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	desk, path := serve(t)
	held := make(chan struct{})
	desk.Sign = func(ctx context.Context, ask approvals.Ask) (approvals.Answer, error) {
		close(held)
		<-ctx.Done()
		return approvals.Answer{Pending: ask.RequestID}, nil
	}
	c := dial2(t, path, pair(t, path))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-held
		cancel()
	}()
	if _, err := c.ActionSign(ctx, sign); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestPairingFile(t *testing.T) {
	_, path := serve(t)
	p := pair(t, path)
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	if err := p.Save(good); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file string
		want error
	}{
		"good":             {good, nil},
		"absent":           {filepath.Join(dir, "none.json"), client.ErrNotPaired},
		"others may read":  {write("open.json", string(raw), 0o644), client.ErrPairingFile},
		"a link":           {link, client.ErrPairingFile},
		"a folder":         {dir, client.ErrPairingFile},
		"empty":            {write("empty.json", "", 0o600), client.ErrPairingFile},
		"newer version":    {write("newer.json", strings.Replace(string(raw), `"version":1`, `"version":2`, 1), 0o600), client.ErrPairingFile},
		"secret cut short": {write("cut.json", strings.Replace(string(raw), `"secret":"`, `"secret":"A`, 1), 0o600), client.ErrPairingFile},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := client.Load(c.file); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	var secret struct{ Secret string }
	if err := json.Unmarshal(raw, &secret); err != nil || secret.Secret == "" {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if text := fmt.Sprintf(verb, p); text != "pairing "+p.Client+" with vault "+p.Vault+" [secret]" {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestFile(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/s")
	if got, err := client.File("a.b-C_1"); err != nil || got != "/s/agent-vault/agents/a.b-C_1.json" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"", ".", "..", ".a", "a/b", "../a", "a b", "é", "a\x00", strings.Repeat("a", 65)} {
		if got, err := client.File(name); err == nil {
			t.Errorf("%q gives %q", name, got)
		}
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "/h")
	if got, err := client.File("a"); err != nil || got != "/h/.local/state/agent-vault/agents/a.json" {
		t.Errorf("%q, %v", got, err)
	}
}

// A head that another JSON library has written anew reaches the desk in the one form
// that is signed.
func TestLastHeadIsCanonical(t *testing.T) {
	desk, path := serve(t)
	p := pair(t, path)
	file := filepath.Join(t.TempDir(), "p.json")
	if err := p.Save(file); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(string(raw), "}") + `,"last_head":{"v": 1, "type":"vault.log\u0048ead"}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = client.Load(file); err != nil {
		t.Fatal(err)
	}
	dial2(t, path, p)
	if len(desk.Heads) != 1 || desk.Heads[0] != `{"type":"vault.logHead","v":1}` {
		t.Errorf("heads %q", desk.Heads)
	}
}

// TestVaultThatGoesAway: who waits is told that the vault has gone, and that it is not known what became of it.
func TestVaultThatGoesAway(t *testing.T) {
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := socket.Listen(filepath.Join(dir, "s.sock"))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, 4096))
		<-asked
		_ = c.Close()
	}()
	c := dial(t, filepath.Join(dir, "s.sock"))
	close(asked)
	for _, when := range []string{"while it waits", "afterwards"} {
		if _, err := c.Status(within(t)); !errors.Is(err, client.ErrLost) || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", when, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, path := serve(t)
	if _, err := dial(t, path).Status(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, client.ErrLost) {
		t.Errorf("whoever asked went away: %v", err)
	}
}

// TestUnreadableIsNotSent: the vault answers a line that it cannot read to nobody, so whoever sent it would wait for ever.
func TestUnreadableIsNotSent(t *testing.T) {
	_, path := serve(t)
	c := dial(t, path)
	if _, err := c.Hello(within(t), pair(t, path)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ payload, code, says string }{
		"empty":          {"", "frame_invalid", ""},
		"no JSON":        {"{", "frame_invalid", ""},
		"not UTF-8":      {"{\"a\":\"\xff\"}", "frame_invalid", "not_utf8"},
		"duplicate name": {`{"a":1,"a":2}`, "frame_invalid", "duplicate_name"},
		"deep":           {strings.Repeat("[", 200) + strings.Repeat("]", 200), "frame_invalid", "too_deep"},
		"lone surrogate": {`{"a":"\ud800"}`, "frame_invalid", ""},
		"large":          {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "frame_too_large", "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.ActionSign(within(t), client.Sign{RequestID: "r", Envelope: json.RawMessage(`{}`), Payload: json.RawMessage(want.payload)})
			var e *client.Error
			if !errors.As(err, &e) || e.Code != want.code || !strings.Contains(e.Message, want.says) || e.Remedy == "" {
				t.Errorf("%v", err)
			}
			if _, err := c.Status(within(t)); err != nil {
				t.Errorf("the connection is over: %v", err)
			}
		})
	}
}
