//go:build unix

package endtoend_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/custody"
	"vault/derive/envelope"
	"vault/internal/needs"
	"vault/internal/quickkdf"
	"vault/ipc"
	"vault/ipc/client"
	"vault/ipc/socket"
	"vault/sign"
)

// window is the owner at the secret window, with one passphrase.
type window struct{}

func (window) Ask(_ context.Context, _ sign.Question, _, answer []byte) (int, error) {
	return copy(answer, "correct horse battery staple"), nil
}

func (window) Finish(string) {}

// process is a key process in this one.
type process struct {
	*sign.Signer
	once *sync.Once
	done chan struct{}
}

func (p process) Lock(ctx context.Context) error {
	err := p.Signer.Lock(ctx)
	p.once.Do(func() { close(p.done) })
	return err
}

func (p process) Kill() { _ = p.Lock(context.Background()) }

func (p process) Done() <-chan struct{} { return p.done }

type launcher struct{ cfg sign.Config }

func (l launcher) Exists() (bool, error) {
	entries, err := os.ReadDir(l.cfg.Custody.Dir)
	return err == nil && len(entries) > 0, nil
}

func (l launcher) Launch(context.Context) (approvals.KeyProcess, error) {
	return process{sign.New(l.cfg), new(sync.Once), make(chan struct{})}, nil
}

// clock is the machine's, and can be put forward: both of its hands.
type clock struct {
	approvals.Clock
	ahead atomic.Int64 // milliseconds
}

func (c *clock) Now() int64  { return c.Clock.Now() + c.ahead.Load() }
func (c *clock) Boot() int64 { return c.Clock.Boot() + c.ahead.Load() }

type rig struct {
	clock  *clock
	t      testing.TB
	owner  approvals.Owner
	sock   string
	domain approvals.DomainView
	digits chan string
}

func start(t testing.TB, edits ...func(*sign.Config)) *rig {
	t.Helper()
	return startWith(t, func(c *sign.Config) {
		for _, edit := range edits {
			edit(c)
		}
	}, nil)
}

// startWith is start with another desk.
func startWith(t testing.TB, config func(*sign.Config), options func(*approvals.Options, func() *approvals.Desk)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "v")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	folder := filepath.Join(dir, "vault")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	clock := &clock{Clock: approvals.SystemClock()}
	cfg := sign.Config{
		Custody: custody.Config{Dir: folder, Rand: rand.Reader, Now: time.Now, KDF: quickkdf.KDF{}},
		Clock:   clock,
		Window:  func(context.Context, keys.Surface) (sign.Window, error) { return window{}, nil },
		Cost:    func(context.Context) (custody.Params, error) { return custody.Floor, nil },
		Fault:   func(err error) { t.Log("fault:", err) },
	}
	sock := filepath.Join(dir, "s.sock")
	if config != nil {
		config(&cfg)
	}
	var desk *approvals.Desk
	o := approvals.Options{Folder: folder, Socket: sock, Launcher: launcher{cfg}, Clock: clock}
	if options != nil {
		options(&o, func() *approvals.Desk { return desk })
	}
	desk, err = approvals.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = desk.Close() })
	r := &rig{t: t, clock: clock, owner: desk.Owner(), sock: sock, digits: make(chan string, 8)}
	err = r.owner.Create(t.Context(), approvals.Creation{
		Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal, PutOff: true,
		Domain: approvals.DomainForm{Namespace: "acme", DomainID: "billing-ops", Kind: "finance"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if ds := r.owner.Domains(); len(ds) != 1 {
		t.Fatalf("%d domains", len(ds))
	} else {
		r.domain = ds[0]
	}
	l, err := socket.Listen(sock)
	if err != nil {
		t.Fatal(err)
	}
	srv := ipc.New(ipc.Options{Agents: desk.Agents(), Log: func(err error) { t.Error(err) }})
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Shutdown(context.Background()) })
	return r
}

// decide opens whatever waits, as long as the test runs, and decides it.
func (r *rig) decide(verdict func(approvals.Sheet) approvals.Decision) {
	woken := make(chan struct{}, 1)
	stop := r.owner.Watch(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	ctx := r.t.Context()
	go func() {
		defer stop()
		for {
			for _, it := range r.owner.Inbox() {
				if it.Kind == approvals.ItemWords || !it.Next {
					continue
				}
				sheet, err := r.owner.Open(ctx, it.ID)
				if err != nil {
					continue
				}
				if sheet.Pairing != nil {
					r.digits <- sheet.Pairing.Digits
				}
				d := verdict(sheet)
				d.ID, d.Digest = sheet.ID, sheet.Digest
				if out, err := r.owner.Decide(ctx, d); ctx.Err() == nil && (err != nil || out.Code != "done" && out.Code != "declined") {
					r.t.Errorf("decide: %+v, %v", out, err)
				}
			}
			select {
			case <-woken:
			case <-ctx.Done():
				return
			}
		}
	}()
}

func (r *rig) run(words ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	needs.Programs(r.t, words[0])
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "VAULT_SOCK="+r.sock, "XDG_STATE_HOME="+filepath.Join(filepath.Dir(r.sock), "state"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// The example agents against the real thing: paired, approved with a grant for two
// more, the fourth not shown; what they print verifies; once locked they are told so.
func TestExampleAgents(t *testing.T) {
	for name, words := range map[string][]string{
		"python":     {"python3", "../../examples/python/agent.py"},
		"javascript": {"node", "../../examples/javascript/agent.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			r.decide(func(s approvals.Sheet) approvals.Decision {
				if s.Pairing != nil {
					return approvals.Decision{Verdict: approvals.VerdictApprove, Name: "Example"}
				}
				return approvals.Decision{Verdict: approvals.VerdictGrant, GrantUses: 2, GrantUntil: s.Action.GrantUntil}
			})
			words = append(words, "billing-ops", "example")
			for i := range 3 {
				more := []string{}
				if i > 0 {
					more = append(more, "--no-ask")
				}
				out, errs, status := r.run(append(words, more...)...)
				if status != 0 {
					t.Fatalf("run %d: status %d, %s", i, status, errs)
				}
				if i == 0 {
					if digits := <-r.digits; !strings.Contains(errs, digits) {
						t.Errorf("the vault shows %s, the agent %q", digits, errs)
					}
				}
				verify(t, r.domain, out)
			}
			if _, errs, status := r.run(append(words, "--no-ask")...); status == 0 || !strings.HasPrefix(errs, "not_shown: ") {
				t.Errorf("fourth run: status %d, %s", status, errs)
			}
			if err := r.owner.Lock(t.Context(), "asked"); err != nil {
				t.Fatal(err)
			}
			if _, errs, status := r.run(append(words, "--no-ask")...); status == 0 || !strings.HasPrefix(errs, "locked: ") {
				t.Errorf("locked: status %d, %s", status, errs)
			}
		})
	}
}

// verify checks an agent's output as somebody without the vault would.
func verify(t *testing.T, domain approvals.DomainView, out string) {
	t.Helper()
	var got struct {
		Record    json.RawMessage `json:"record"`
		Payload   json.RawMessage `json:"payload"`
		Signature string          `json:"signature"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("output %q: %v", out, err)
	}
	checkSignature(t, domain, got.Record, got.Payload, got.Signature)
}

func checkSignature(t *testing.T, domain approvals.DomainView, record, payload json.RawMessage, signature string) {
	t.Helper()
	rep := envelope.VerifyRecord(record, payload, signature, envelope.RecordOptions{Now: time.Now().UnixMilli(), Pins: envelope.Pins{DomainHash: domain.Hash, DomainAddress: domain.Address}})
	if !rep.Valid {
		t.Errorf("the signature does not verify: %+v", rep)
	}
	if rep := envelope.VerifyRecord(record, append(payload[:len(payload)-1:len(payload)-1], `,"more":1}`...), signature, envelope.RecordOptions{Now: time.Now().UnixMilli()}); rep.Valid {
		t.Error("another payload verifies as well")
	}
}

// The Go client, on the real thing.
func TestGoClient(t *testing.T) {
	r := start(t)
	r.decide(func(approvals.Sheet) approvals.Decision {
		return approvals.Decision{Verdict: approvals.VerdictApprove, Name: "Go"}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, r.sock)
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	p, err := c.Pair(ctx, "go", func(d string) { shown = d })
	if err != nil {
		t.Fatal(err)
	}
	if digits := <-r.digits; digits != shown {
		t.Errorf("the vault shows %s, the client %s", digits, shown)
	}
	_ = c.Close()
	if c, err = client.Dial(ctx, r.sock); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Hello(ctx, p); err != nil {
		t.Fatal(err)
	}
	e := json.RawMessage(`{"actionIndex":0,"agentId":"go","decayPolicy":{"mode":"ACTION"},"domain":{"domainHash":"` + r.domain.Hash + `","domainId":"billing-ops"},"limits":{"enforcement":"external","maxUses":3},"operation":"send","resources":["a"],"timeWindow":{"notAfter":null,"notBefore":null},"type":"agentenvelope.actionEnvelope","version":1}`)
	payload := json.RawMessage(`{"n": 1.0, "type":"test.message"}`)
	s, err := c.ActionSign(ctx, client.Sign{RequestID: "r", Envelope: e, Payload: payload})
	if err != nil {
		t.Fatal(err)
	}
	record, err := c.Record(ctx, "r")
	if err != nil {
		t.Fatal(err)
	}
	checkSignature(t, r.domain, record, payload, s.Signature)
	again, err := c.ActionSign(ctx, client.Sign{RequestID: "r", Envelope: e, Payload: payload})
	if err != nil || again.Signature != s.Signature || again.Seq != s.Seq {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	if p.LastHead() == nil {
		t.Error("no head was kept")
	}
}
