package terminal

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/approvals"
)

// step waits for text on the screen, moves the clock and types.
type step struct {
	wait    string
	after   time.Duration
	typed   string
	ahead   string // typed before the next prompt is open
	pasting bool   // typed is wrapped in the marks of a paste
}

// device is a scripted terminal. The script ends with Ctrl-D.
type device struct {
	t     *testing.T
	mu    sync.Mutex
	steps []step
	out   bytes.Buffer
	seen  int // how much of out earlier steps have used
	queue []byte
	clock time.Time
	raw   bool
	rows  int
	cols  int
}

func newDevice(t *testing.T, steps ...step) *device {
	return &device{t: t, steps: steps, clock: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), rows: 200, cols: 200}
}

func (d *device) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clock
}

func (d *device) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Write(p)
}

func (d *device) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.raw {
		d.t.Error("read between prompts: the secret window may be reading here")
	}
	if len(d.queue) == 0 {
		if len(d.steps) == 0 {
			return 0, io.EOF
		}
		s := d.steps[0]
		at := strings.Index(d.out.String()[d.seen:], s.wait)
		if at < 0 {
			d.t.Errorf("the screen never showed %q; it showed:\n%s", s.wait, d.out.String()[d.seen:])
			return 0, io.EOF
		}
		d.seen += at + len(s.wait)
		d.steps = d.steps[1:]
		d.clock = d.clock.Add(s.after)
		text := s.typed
		if s.pasting {
			text = pasteBegin + text + pasteEnd
		}
		d.queue = []byte(text + s.ahead)
		if len(d.queue) == 0 {
			d.t.Error("a step that types nothing")
			return 0, io.EOF
		}
	}
	n := copy(p, d.queue)
	d.queue = d.queue[n:]
	return n, nil
}

func (d *device) Raw() (func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.raw {
		d.t.Error("two prompts at once")
	}
	d.raw = true
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.raw = false
		return nil
	}, nil
}

func (d *device) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = nil
	return nil
}

func (d *device) Size() (int, int, error)         { return d.cols, d.rows, nil }
func (d *device) SetReadDeadline(time.Time) error { return nil }

// desk is an owner's desk with one sheet.
type desk struct {
	approvals.Owner // any other method is not expected to be called
	t               *testing.T
	dev             *device
	status          approvals.Status
	items           []approvals.Item
	sheet           approvals.Sheet
	outcome         approvals.Outcome

	decided []approvals.Decision
	closed  []string
	created []approvals.Creation
	locked  []string

	keyring  func(context.Context) bool
	passkeys []approvals.PasskeyView
	ceremony *ceremony

	asked     [][3]string
	dismissed []string
}

func (d *desk) Watch(f func()) func() {
	if d.ceremony != nil {
		return d.ceremony.watch(f)
	}
	return func() {}
}
func (d *desk) Passkeys() []approvals.PasskeyView { return d.passkeys }
func (d *desk) Status() approvals.Status          { return d.status }
func (d *desk) Touch()                            {}
func (d *desk) Inbox() []approvals.Item           { return d.items }
func (d *desk) Closed(id string)                  { d.closed = append(d.closed, id) }
func (d *desk) Domains() []approvals.DomainView {
	return []approvals.DomainView{d.sheet.Action.Domain}
}

func (d *desk) Open(_ context.Context, id string) (approvals.Sheet, error) {
	if id != d.sheet.ID {
		d.t.Errorf("opened %q", id)
	}
	return d.sheet, nil
}

func (d *desk) Decide(_ context.Context, x approvals.Decision) (approvals.Outcome, error) {
	if d.dev.raw {
		d.t.Error("a decision while the console still reads the terminal")
	}
	d.decided = append(d.decided, x)
	if d.ceremony != nil && x.Confirm {
		return d.ceremony.run(), nil
	}
	return d.outcome, nil
}

func (d *desk) Create(_ context.Context, c approvals.Creation) error {
	d.created = append(d.created, c)
	d.status.State = approvals.StateOpen
	return nil
}

func (d *desk) Lock(_ context.Context, reason string) error {
	d.locked = append(d.locked, reason)
	return nil
}

const shownDigest = "0x002008018040ffffffffffffffffffffffffffffffffffffffffffffffffffff"
const shownWords = "ability able about above"

func at(ms int64) *int64 { return &ms }

// sheetOf is an action whose every text is hostile.
func sheetOf() approvals.Sheet {
	return approvals.Sheet{
		ID: "r_1", Digest: shownDigest, Kind: approvals.ItemAction, Agent: "Planner", Session: "s-1\x1b[2J",
		PairedAt: 1_790_000_000_000, Since: 1_790_000_001_000, Until: 1_790_000_601_000, Merged: 3, Frame: "clicks",
		Action: &approvals.ActionSheet{
			Domain: approvals.DomainView{Hash: "0xd0", ID: "billing-ops", Namespace: "acme", Kind: "finance",
				Address: "0xda", Fingerprint: "ae-domain-1"},
			Address: "0x5151", AgentID: "invoice-sender", Operation: "send-invoice",
			Resources: []string{"account:4411", "ledger:\u202emain"}, ActionIndex: 4,
			NotBefore: at(1_790_000_000_000), NotAfter: at(1_790_086_400_000), DecayMode: "BOTH", MaxUses: at(5), Used: 1,
			EnvelopeHash: "0xe0", PayloadType: "invoice", PayloadText: `{"id":"inv-9","note":"p\u0061y аcme","to":["a",{}]}`,
			PayloadDigest: "0xp0", Warnings: []string{"no_end", "new_code"},
			Contradictions: []approvals.Contradiction{{Member: "operation", Payload: "a\nb", Envelope: "send-invoice"}},
			Grantable:      true, GrantUses: 3, GrantUsesMax: 4,
			GrantUntil: 1_796_043_600_000, GrantUntilMax: 1_796_126_400_000,
		},
	}
}

// talk runs the surface over the script until its end.
func talk(t *testing.T, d *desk, steps ...step) string {
	t.Helper()
	dev := newDevice(t, steps...)
	if d.dev != nil {
		dev.rows, dev.cols = d.dev.rows, max(d.dev.cols, 80)
	}
	d.t, d.dev = t, dev
	if d.sheet.ID == "" {
		d.sheet = sheetOf()
	}
	if d.items == nil {
		d.items = []approvals.Item{{ID: d.sheet.ID, Kind: d.sheet.Kind, Agent: "Planner", Operation: "send-invoice",
			Resource: "account:4411", Since: 1_790_000_001_000, Merged: 1, Next: true}}
	}
	s := New(d, NewConsole(dev, dev.now), dev.now, time.UTC, func(err error) string { return "explained: " + err.Error() })
	s.Keyring = d.keyring
	if err := s.Run(t.Context()); err != nil {
		t.Fatalf("run: %v", err)
	}
	if len(dev.steps) > 0 {
		t.Errorf("ended with %d steps left; the screen showed:\n%s", len(dev.steps), dev.out.String())
	}
	return dev.out.String()
}

// screen is what was printed so far.
func (d *device) screen() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.String()
}
