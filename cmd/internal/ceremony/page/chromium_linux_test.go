package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	cdpwa "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"vault/cmd/internal/ceremony"
	"vault/derive/confirm"
	"vault/derive/confirm/answer"
	"vault/internal/chromium"
)

// headless is one headless browser for all tests. It is a real one: where it is
// missing the tests fail, and make test installs it.
var headless = sync.OnceValues(func() (context.Context, error) {
	dir, err := os.MkdirTemp("", "vault-chromium")
	if err != nil {
		return nil, err
	}
	alloc, stopProcess, err := chromium.Allocate(context.Background(), dir, nil, chromedp.Flag("host-resolver-rules", "MAP rebind.example 127.0.0.1"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	browser, _ := chromedp.NewContext(alloc)
	stopChromium = func() {
		stopProcess()
		_ = os.RemoveAll(dir)
	}
	return browser, chromedp.Do(browser, chromedp.Navigate("about:blank"))
})

var stopChromium = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stopChromium()
	os.Exit(code)
}

// tab is a tab with an authenticator of its own.
type tab struct {
	t             *testing.T
	ctx           context.Context
	close         func()
	authenticator cdpwa.AuthenticatorID
}

func newTab(t *testing.T, kind chromium.Kind) *tab {
	t.Helper()
	browser, err := headless()
	if err != nil {
		t.Fatalf("no Chromium (scripts/bootstrap test installs it): %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	limited, stop := context.WithTimeout(ctx, 60*time.Second)
	tb := &tab{t: t, ctx: limited, close: sync.OnceFunc(func() { stop(); cancel() })}
	t.Cleanup(tb.close)
	tb.do(chromedp.Navigate("about:blank")) // attaches the target
	if _, err := chromedp.Call(tb.ctx, cdpwa.Enable, cdpwa.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	r, err := chromedp.Call(tb.ctx, cdpwa.AddVirtualAuthenticator, cdpwa.AddVirtualAuthenticatorParams{Options: kind.Authenticator()})
	if err != nil {
		t.Fatal(err)
	}
	tb.authenticator = r.AuthenticatorID
	return tb
}

func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	if err := chromedp.Do(tb.ctx, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

func (tb *tab) open(link string) {
	tb.t.Helper()
	tb.do(chromedp.Navigate(link))
}

// press waits for the button and presses it.
func (tb *tab) press(button string) {
	tb.t.Helper()
	tb.do(chromedp.WaitEnabled(button), chromedp.Click(button))
}

// eval runs a promise of a text in the page.
func (tb *tab) eval(js string) string {
	tb.t.Helper()
	s, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](js, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatal(err)
	}
	return s
}

func (tb *tab) verified(v bool) {
	tb.t.Helper()
	_, err := chromedp.Call(tb.ctx, cdpwa.SetUserVerified, cdpwa.SetUserVerifiedParams{AuthenticatorID: tb.authenticator, IsUserVerified: v})
	if err != nil {
		tb.t.Fatal(err)
	}
}

// over waits for the end of the ceremony on the page and returns what its status says.
func (tb *tab) over() string {
	tb.t.Helper()
	s, err := chromedp.Run(tb.ctx, chromedp.Poll[string](`document.documentElement.dataset.state === 'over' && document.getElementById("steps").innerText`, chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		tb.t.Fatal(err)
	}
	return s
}

func (tb *tab) text(id string) string {
	tb.t.Helper()
	return tb.eval(fmt.Sprintf(`Promise.resolve(document.getElementById(%q).innerText)`, id))
}

func (tb *tab) says(want string) {
	tb.t.Helper()
	if got := tb.over(); !strings.Contains(got, want) {
		tb.t.Errorf("the page says %q, want %q", got, want)
	}
}

// enrol adds a passkey of the tab's authenticator, as the key process would.
func (tb *tab) enrol(rpID string) answer.Credential {
	tb.t.Helper()
	r := tb.register(rpID)
	return answer.Credential{ID: r.CredentialID, Key: r.Key, RPID: rpID, BackupEligible: r.BackupEligible, SignCount: r.SignCount}
}

func (tb *tab) register(rpID string) *answer.Registration {
	tb.t.Helper()
	a := begin(tb.t, rpID, enrolling(nil))
	tb.open(a.link)
	tb.press("#go")
	raw, err := a.wait()
	if err != nil {
		tb.t.Fatalf("enrol: %v; the page says %q", err, tb.over())
	}
	r, err := answer.ParseRegistration(raw, answer.Expect{Challenge: a.challenge, Origin: a.origin, RPID: rpID})
	if err != nil {
		tb.t.Fatalf("enrol: %v\n%s", err, raw)
	}
	a.line.Finish(ceremony.Verdict{Accepted: true})
	tb.says("Compare the digits")
	if got := tb.text("digits"); got != r.Key.Digits() {
		tb.t.Errorf("the page shows %s, the key process %s", got, r.Key.Digits())
	}
	if err := <-a.served; err != nil {
		tb.t.Error(err)
	}
	return r
}

// check verifies an answer of the page at this instant.
func (a *act) check(raw []byte, enrolled ...answer.Credential) (*answer.Accepted, error) {
	as, err := answer.ParseAssertion(raw)
	if err != nil {
		return nil, err
	}
	return answer.Check(a.context, as, enrolled, time.Now().UnixMilli())
}

func refused(t *testing.T, err error, want answer.Code) {
	t.Helper()
	var r *answer.Refusal
	if !errors.As(err, &r) || r.Code != want {
		t.Errorf("got %v, want refusal %s", err, want)
	}
}

// confirms has the page answered with the tab's passkey.
func (tb *tab) confirms(rpID string, offered []answer.Credential, says ...string) (*act, []byte) {
	tb.t.Helper()
	a := begin(tb.t, rpID, confirming(rpID, offered, says...))
	tb.open(a.link)
	tb.press("#go")
	raw, err := a.wait()
	if err != nil {
		tb.t.Fatalf("confirm: %v; the page says %q", err, tb.over())
	}
	return a, raw
}

func TestEnrolAndConfirm(t *testing.T) {
	for _, rpID := range []string{vaultRPID, ceremony.FallbackRPID} {
		t.Run(rpID, func(t *testing.T) {
			tb := newTab(t, chromium.Device)
			key := tb.enrol(rpID)
			a, raw := tb.confirms(rpID, []answer.Credential{key})
			got, err := a.check(raw, key)
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			a.line.Finish(ceremony.Verdict{Accepted: true})
			tb.says("The key process accepted it")
			if err := <-a.served; err != nil {
				t.Error(err)
			}
			again := confirm.VerifyRecord(got.Record.Canonical(), confirm.Pins{Key: key.Key, RPID: rpID, Origins: []string{a.origin}}, time.Now().UnixMilli())
			if !again.Valid {
				t.Errorf("the record does not verify: %s", again.Reason)
			}
			// The counter has moved on, so the same answer is refused now, and it does not fit another ceremony.
			key.SignCount = got.Data.SignCount
			_, err = a.check(raw, key)
			refused(t, err, answer.CounterBack)
			b := begin(t, rpID, confirming(rpID, []answer.Credential{key}))
			_, err = b.check(raw, key)
			refused(t, err, answer.WrongChallenge)
			_, err = b.check(raw)
			refused(t, err, answer.UnknownCredential)
		})
	}
}

func TestSecondPasskeyAfterTheFirstIsRemoved(t *testing.T) {
	one, two := newTab(t, chromium.Device), newTab(t, chromium.Stick)
	first := one.enrol(vaultRPID)
	r := two.register(vaultRPID)
	if r.Kind() != confirm.SecurityKey {
		t.Errorf("a stick is taken for %s (%q, %v)", r.Kind(), r.Attachment, r.Transports)
	}
	second := answer.Credential{ID: r.CredentialID, Key: r.Key, RPID: vaultRPID, BackupEligible: r.BackupEligible, SignCount: r.SignCount}
	a, raw := two.confirms(vaultRPID, []answer.Credential{second})
	if _, err := a.check(raw, second); err != nil {
		t.Fatal(err)
	}
	// The first one, removed, is not asked any more, and what it answers is refused.
	b, raw := one.confirms(vaultRPID, []answer.Credential{first, second})
	_, err := b.check(raw, second)
	refused(t, err, answer.UnknownCredential)
}

func TestEnrolledOnce(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	a := begin(t, vaultRPID, enrolling([]answer.Credential{key}))
	tb.open(a.link)
	tb.press("#go")
	a.ends(ceremony.AlreadyThere)
	tb.says("enrolled already")
}

// However long an act is, what can be done stands in view, and so does what came of it.
func TestLongActs(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	lines := make([]string, 60)
	for i := range lines {
		lines[i] = fmt.Sprintf("Line %d of what is confirmed.", i+1)
	}
	a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}, lines...))
	tb.open(a.link)
	tb.do(chromedp.WaitEnabled("#go"))
	inView := func(id string) string {
		return tb.eval(fmt.Sprintf(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
			const r = document.getElementById(%q).getBoundingClientRect();
			done(String(r.height > 0 && r.top >= 0 && r.bottom <= innerHeight));
		})))`, id))
	}
	if got := tb.eval(`Promise.resolve(String(document.documentElement.scrollHeight > 2 * innerHeight))`); got != "true" {
		t.Fatal("the page is not long")
	}
	for _, id := range []string{"title", "back", "go"} {
		if inView(id) != "true" {
			t.Errorf("%s is out of view", id)
		}
	}
	tb.eval(`Promise.resolve(document.getElementById('back').click()).then(() => '')`)
	a.ends(ceremony.Cancelled)
	tb.over()
	if inView("steps") != "true" {
		t.Error("what came of it is out of view")
	}
}
