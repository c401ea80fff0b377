package storm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"vault/internal/eyes"
	"vault/internal/needs"
	"vault/internal/testbed"
	"vault/ipc/client"
)

const (
	passphrase = "typed in a storm"
	domain     = "my-agents" // as the first run fills it in
	request    = "Vault: a request"
	secret     = "Vault: secret"
	marked     = "Demo: a throw-away vault. Nothing it signs binds anybody."
)

var (
	whole  = image.Rect(0, 0, 1920, 1000)
	main1  = image.Rect(0, 0, 1180, 1000)
	beside = image.Rect(1190, 0, 1920, 1000)
)

func rounds() int {
	if os.Getenv("VAULT_TEST_LONG") != "" {
		return 50
	}
	return 5
}

// rig is the shipped window on a display of its own, with a person before it.
type rig struct {
	t      *testing.T
	ctx    context.Context
	bed    *testbed.Bed
	screen *testbed.Display
	eyes   *eyes.Eyes
	vault  string // program
	desk   *testbed.Process
	main   string // window
	conn   *client.Conn
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T) *rig {
	t.Helper()
	needs.Programs(t, "Xvfb", "xdotool")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(rounds())*20*time.Second)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "vs")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	bin, place := filepath.Join(dir, "bin"), filepath.Join(dir, "b")
	must(t, os.Mkdir(bin, 0o700))
	must(t, os.Mkdir(place, 0o700))
	build := func(name, cgo string, env ...string) {
		c := exec.CommandContext(ctx, "go", "build", "-tags", "release,migrated_fynedo,no_metadata", "-o", filepath.Join(bin, name), "vault/cmd/"+name)
		c.Env = append(append(os.Environ(), "CGO_ENABLED="+cgo), env...)
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, text)
		}
	}
	build("vault", "1")
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		build("vault-key", "0", "GOEXPERIMENT=runtimesecret")
	} else {
		build("vault-key", "0")
	}
	r := &rig{t: t, ctx: ctx}
	r.bed, err = testbed.New(place)
	must(t, err)
	t.Cleanup(r.bed.Close)
	r.screen, err = r.bed.StartDisplay(ctx, whole.Dx(), whole.Dy())
	must(t, err)
	r.eyes = eyes.New()
	t.Cleanup(r.keepScreen)
	r.vault = filepath.Join(bin, "vault")
	r.desk, err = r.bed.Start(r.bed.Command(context.WithoutCancel(ctx), r.vault, "--demo"))
	must(t, err)
	r.main, err = r.screen.AwaitWindow(ctx, "Vault")
	must(t, err)
	must(t, r.screen.Place(ctx, r.main, main1.Min))
	return r
}

// keepScreen leaves the screen of a test that has failed, for go test -artifacts.
func (r *rig) keepScreen() {
	if !r.t.Failed() {
		return
	}
	img, err := r.screen.Screen()
	if err != nil {
		r.t.Log(err)
		return
	}
	f, err := os.Create(filepath.Join(r.t.ArtifactDir(), "screen.png"))
	if err != nil {
		r.t.Log(err)
		return
	}
	if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
		r.t.Log(err)
	}
}

func (r *rig) look(in image.Rectangle, text string) (image.Rectangle, bool) {
	r.t.Helper()
	img, err := r.screen.Screen()
	must(r.t, err)
	found := r.eyes.Find(img, in, text)
	if len(found) == 0 {
		return image.Rectangle{}, false
	}
	return found[0], true
}

func (r *rig) see(in image.Rectangle, text string) image.Point {
	r.t.Helper()
	var at image.Rectangle
	must(r.t, testbed.Until(r.ctx, "“"+text+"” on the screen", func() (ok bool, _ error) {
		at, ok = r.look(in, text)
		return ok, nil
	}))
	return at.Min.Add(at.Max).Div(2)
}

// either waits for one of two texts, and says which it is.
func (r *rig) either(one, other string) (text string) {
	r.t.Helper()
	must(r.t, testbed.Until(r.ctx, "“"+one+"” or “"+other+"”", func() (ok bool, _ error) {
		for _, text = range []string{one, other} {
			if _, ok = r.look(whole, text); ok {
				break
			}
		}
		return ok, nil
	}))
	return text
}

// click clicks and takes the pointer aside.
func (r *rig) click(at image.Point) {
	r.t.Helper()
	must(r.t, r.screen.Click(r.ctx, at, 1))
	must(r.t, r.screen.Move(r.ctx, image.Pt(1185, 990)))
}

// press presses what bears a text until another text stands there: in its first
// second a control takes nothing.
func (r *rig) press(in image.Rectangle, text, effect string) {
	r.t.Helper()
	for {
		if _, ok := r.look(in, effect); ok {
			return
		}
		if at, ok := r.look(in, text); ok {
			r.click(at.Min.Add(at.Max).Div(2))
		}
		short, cancel := context.WithTimeout(r.ctx, 1500*time.Millisecond)
		err := testbed.Until(short, effect, func() (bool, error) { _, ok := r.look(in, effect); return ok, nil })
		cancel()
		if err != nil && r.ctx.Err() != nil {
			r.t.Fatalf("“%s” does not come of “%s”: %v", effect, text, err)
		}
	}
}

// bring puts a second window beside the first. One that is just ending may be found
// and not moved any more, so it is looked for again.
func (r *rig) bring(title, text string) {
	r.t.Helper()
	must(r.t, testbed.Until(r.ctx, "“"+text+"” beside", func() (bool, error) {
		if _, ok := r.look(beside, text); ok {
			return true, nil
		}
		ids, err := r.screen.Windows(r.ctx, title)
		for _, id := range ids {
			_ = r.screen.Place(r.ctx, id, beside.Min)
		}
		return false, err
	}))
}

func (r *rig) create() {
	r.t.Helper()
	r.press(main1, "Passphrase only", "Confirm: Passphrase only")
	r.press(main1, "Confirm: Passphrase only", "Your first domain")
	r.press(main1, "Use these names", "Its recovery words")
	r.press(main1, "Write them down later", "Confirm: Create the vault")
	r.press(main1, "Confirm: Create the vault", "Waiting for the secret window")
	r.bring(secret, "Use this passphrase")
	must(r.t, r.screen.Type(r.ctx, passphrase))
	must(r.t, r.screen.Press(r.ctx, "Tab"))
	must(r.t, r.screen.Type(r.ctx, passphrase))
	must(r.t, r.screen.Press(r.ctx, "Return"))
	must(r.t, r.screen.AwaitGone(r.ctx, secret))
	r.press(main1, "Later", "Confirm: Later")
	r.press(main1, "Confirm: Later", "Connect an agent")
}

// pair is the slow way that works, for a pairing.
func (r *rig) pair() {
	r.t.Helper()
	conn, err := client.Dial(r.ctx, r.bed.Env("VAULT_SOCK"))
	must(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() })
	type paired struct {
		p   *client.Pairing
		err error
	}
	done := make(chan paired, 1)
	go func() {
		p, err := conn.Pair(r.ctx, "stormer", func(string) {})
		done <- paired{p, err}
	}()
	r.click(r.see(main1, "Open"))
	r.bring(request, "Is this program yours?")
	r.press(beside, "The number is the same: pair as “stormer”", "Confirm: Pair as “stormer”")
	r.press(beside, "Confirm: Pair as “stormer”", "Paired as “stormer”")
	got := <-done
	must(r.t, got.err)
	r.escape()
	r.conn, err = client.Dial(r.ctx, r.bed.Env("VAULT_SOCK"))
	must(r.t, err)
	r.t.Cleanup(func() { _ = r.conn.Close() })
	_, err = r.conn.Hello(r.ctx, got.p)
	must(r.t, err)
}

// escape closes the sheet, which decides nothing.
func (r *rig) escape() {
	r.t.Helper()
	must(r.t, testbed.Until(r.ctx, "the end of the sheet", func() (bool, error) {
		ids, err := r.screen.Windows(r.ctx, request)
		if err != nil {
			return false, err
		}
		// Without the strip of every window beside the main one there is none.
		if _, shown := r.look(beside, marked); !shown {
			return len(ids) == 0, nil
		}
		return false, r.screen.Press(r.ctx, "Escape")
	}))
}

type signed struct {
	s   client.Signed
	err error
}

// ask asks for one signature in a domain, over the socket.
func (r *rig) ask(id string) <-chan signed {
	r.t.Helper()
	raw, err := r.conn.Domain(r.ctx, domain)
	must(r.t, err)
	var p struct {
		DomainHash string `json:"domainHash"`
	}
	must(r.t, json.Unmarshal(raw, &p))
	env := fmt.Sprintf(`{"type":"agentenvelope.actionEnvelope","version":1,"agentId":"stormer","actionIndex":0,"operation":"send","domain":{"domainId":%q,"domainHash":%q},"resources":["a"],"timeWindow":{"notBefore":null,"notAfter":null},"decayPolicy":{"mode":"ACTION"},"limits":{"maxUses":1000,"enforcement":"external"}}`, domain, p.DomainHash)
	payload := fmt.Sprintf(`{"type":"test.storm","id":%q}`, id)
	done := make(chan signed, 1)
	go func() {
		s, err := r.conn.ActionSign(r.ctx, client.Sign{RequestID: id, Envelope: json.RawMessage(env), Payload: json.RawMessage(payload)})
		done <- signed{s, err}
	}()
	return done
}

// deaf is how long a sheet takes no input (consent sheet, group J); the storm goes on
// for a part of it.
const (
	deaf  = time.Second
	storm = 400 * time.Millisecond
)

// TestStorm: keys and clicks from before a sheet is there, and while it opens, decide
// nothing; then the same hands, slowly, approve.
func TestStorm(t *testing.T) {
	r := start(t)
	r.create()
	r.pair()
	// Where the answers of a sheet and its button come up; known from the first round on.
	var controls []image.Point
	for round, tries := 0, 0; round < rounds(); tries++ {
		if tries == 4*rounds() {
			t.Fatalf("this machine is too slow: in %d of %d tries the storm was over in time", round, tries)
		}
		id := fmt.Sprintf("storm-%d", tries)
		done := r.ask(id)
		must(t, r.screen.Move(r.ctx, image.Pt(1185, 990)))
		open := r.see(main1, "Open")
		must(t, r.screen.Place(r.ctx, r.main, main1.Min))
		lasted := r.storm(open, controls)
		title := r.either("Approve once", "What came of it")
		if title == "Approve once" && controls == nil {
			for _, text := range []string{"Approve once", "Nothing selected"} {
				if at, ok := r.look(whole, text); ok {
					controls = append(controls, at.Min.Add(at.Max).Div(2))
				}
			}
		}
		if title != "Approve once" && lasted < deaf {
			t.Fatalf("round %d was decided by a storm of %v", round, lasted)
		}
		r.bring(request, title)
		r.escape()
		if lasted < deaf {
			select {
			case s := <-done:
				t.Fatalf("round %d was decided by a storm of %v: %+v, %v", round, lasted, s.s, s.err)
			default:
			}
			round++
		} else {
			t.Logf("a storm of %v does not count: the sheet may be listening again", lasted)
		}
		if round == rounds() {
			r.slowly(done)
			break
		}
		_ = r.conn.Cancel(r.ctx, id) // one that was decided has ended
		<-done
	}
	r.desk.Stop()
	if n := r.logged("action.signed"); n != 1 {
		t.Errorf("%d signatures in the log, want the one that was approved slowly", n)
	}
}

// storm types and clicks from before a sheet is opened until a little after its
// window is there, and says how long after. Neither Decline nor Escape is in it:
// a “no” would be somebody's, too.
func (r *rig) storm(open image.Point, controls []image.Point) time.Duration {
	r.t.Helper()
	must(r.t, r.screen.Press(r.ctx, "Return", "space"))
	must(r.t, r.screen.Click(r.ctx, open, 2))
	there := time.Now() // the window was not there before
	// Tab is left to the sheet: in the main window it would lead to other pages.
	for keys := []string{"Return", "space"}; ; {
		ids, err := r.screen.Windows(r.ctx, request)
		must(r.t, err)
		if len(ids) == 0 {
			there = time.Now()
		} else {
			keys = []string{"Tab", "space", "Return", "Down", "space", "Tab", "Return"}
			if d := time.Since(there); d > storm {
				return d
			}
		}
		must(r.t, r.screen.Press(r.ctx, keys...))
		if len(ids) > 0 {
			for _, at := range controls {
				must(r.t, r.screen.Click(r.ctx, at, 2))
			}
		}
	}
}

// logged counts the entries of a kind in the log of a vault that is not open.
func (r *rig) logged(kind string) int {
	r.t.Helper()
	out, status, err := r.bed.Output(r.ctx, r.vault, "log", "export")
	if err != nil || status != 0 {
		r.t.Fatalf("log export: status %d, %v", status, err)
	}
	return strings.Count(out, `"kind":"`+kind+`"`)
}

// slowly is what a person does who means it: it shows that the storm could have
// approved, had the sheet let it.
func (r *rig) slowly(done <-chan signed) {
	r.t.Helper()
	r.click(r.see(main1, "Open"))
	r.bring(request, "Approve once")
	r.press(beside, "Approve once", "Confirm: Approve once")
	r.press(beside, "Confirm: Approve once", "You approved one signature")
	select {
	case s := <-done:
		if s.err != nil || s.s.By != "click" {
			r.t.Errorf("%+v, %v", s.s, s.err)
		}
	case <-r.ctx.Done():
		r.t.Error("the approval did not come")
	}
}
