package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cdpwa "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/cmd/internal/ceremony"
	"vault/cmd/internal/ceremony/page"
	"vault/custody"
	"vault/derive/confirm"
	"vault/internal/chromium"
	"vault/internal/quickkdf"
	"vault/sign"
)

// typed is the owner at the secret window.
type typed struct{}

func (typed) Ask(_ context.Context, _ sign.Question, _, answer []byte) (int, error) {
	return copy(answer, testPassphrase), nil
}

func (typed) Finish(string) {}

// links is a browser that hands the link to the test.
type links chan string

func (l links) Open(link string) *page.Opening {
	l <- link
	return &page.Opening{Ended: make(chan error)}
}

// browsed is a key process's signer with the real ceremony helper and a real browser.
type browsed struct {
	t      *testing.T
	signer *sign.Signer
	pub    keys.Public
	state  journal.State
	log    [][]byte
	head   []byte
	links  links
	ctx    context.Context // of the tab
	config sign.Config
	ahead  atomic.Int64 // milliseconds by which both clocks of the key process are put forward

	bad *bad // the ceremony helper gone bad, or nil
}

// bad is a ceremony helper that does not have its page answer: it tells what it was to be asked, and hands on what
// it is given for it.
type bad struct {
	origin  string // that it says its page has; empty: the one it has
	tasks   chan badTask
	answers chan []byte
}

type badTask struct {
	sign.PageTask
	origin string // of the page that is served
}

// ahead is the key process's clock, put forward.
type ahead struct {
	sign.Clock
	by *atomic.Int64
}

func (c ahead) Now() int64  { return c.Clock.Now() + c.by.Load() }
func (c ahead) Boot() int64 { return c.Clock.Boot() + c.by.Load() }

// watched is the page's line, with a helper behind it that can go bad.
type watched struct {
	openedPage
	b      *browsed
	origin string
}

func (p *watched) Begin(ctx context.Context, rpID string) (string, error) {
	origin, err := p.openedPage.Begin(ctx, rpID)
	p.origin = origin
	if err == nil && p.b.bad != nil && p.b.bad.origin != "" {
		return p.b.bad.origin, nil
	}
	return origin, err
}

func (p *watched) Run(ctx context.Context, t sign.PageTask, notify func(keys.Step)) ([]byte, error) {
	bad := p.b.bad
	if bad == nil {
		return p.openedPage.Run(ctx, t, notify)
	}
	// The page is served all the same, to whoever wants to ask in its name.
	go func() { _, _ = p.openedPage.Run(ctx, t, func(keys.Step) {}) }()
	<-p.b.links
	select {
	case bad.tasks <- badTask{t, p.origin}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-bad.answers:
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *watched) Finish(accepted bool, reason string) {
	if p.b.bad != nil {
		p.Close() // its page has answered nothing
		return
	}
	p.openedPage.Finish(accepted, reason)
}

func browse(t *testing.T) *browsed {
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b := &browsed{t: t, links: make(links, 1)}
	b.config = sign.Config{
		Custody: custody.Config{Dir: dir, Rand: rand.Reader, Now: time.Now, KDF: quickkdf.KDF{}, Evidence: []string{sign.MarkName}},
		Clock:   ahead{newClock(), &b.ahead},
		Window:  func(context.Context, keys.Surface) (sign.Window, error) { return typed{}, nil },
		Cost:    func(context.Context) (custody.Params, error) { return custody.Floor, nil },
		Fault:   func(err error) { t.Log("fault:", err) },
		Page: func(context.Context) (sign.Page, error) {
			here, there := net.Pipe()
			go func() {
				_ = page.Serve(there, page.Config{
					Rand: rand.Reader, Now: time.Now, Browser: b.links, UserOf: page.UserOf, UID: os.Getuid(),
					Environment: func(string) string { return "" }, OpenTime: time.Hour,
				})
			}()
			return &watched{openedPage: openedPage{ceremony.NewLine(here)}, b: b}, nil
		},
	}
	b.signer = sign.New(b.config)
	t.Cleanup(func() { b.signer.Close() })
	var err error
	if b.pub, err = b.signer.Create(t.Context(), keys.Create{Protection: keys.ProtectPassphrase, Surface: keys.SurfaceTerminal, PutOff: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.signer.Load(t.Context(), keys.Load{Last: true}); err != nil {
		t.Fatal(err)
	}
	b.must(journal.KindCreated, journal.Created{Vault: b.pub.Vault, OwnerKey: b.pub.OwnerKey, LogKey: b.pub.LogKey}, "")

	alloc, stop, err := chromium.Allocate(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatalf("no Chromium (scripts/bootstrap test installs it): %v", err)
	}
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	limited, end := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() { end(); cancel() })
	b.ctx = limited
	b.do(chromedp.Navigate("about:blank"))
	if _, err := chromedp.Call(b.ctx, cdpwa.Enable, cdpwa.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browsed) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// stick plugs in a security key, and pulls it out.
func (b *browsed) stick() (cdpwa.AuthenticatorID, func()) {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, cdpwa.AddVirtualAuthenticator, cdpwa.AddVirtualAuthenticatorParams{Options: chromium.Stick.Authenticator()})
	if err != nil {
		b.t.Fatal(err)
	}
	return r.AuthenticatorID, func() {
		if _, err := chromedp.Call(b.ctx, cdpwa.RemoveVirtualAuthenticator, cdpwa.RemoveVirtualAuthenticatorParams(r)); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *browsed) entry(kind journal.Kind, body any) []byte {
	b.t.Helper()
	raw, _, err := journal.New(b.pub.Instance, b.state.Seq()+1, b.state.Hash(), b.config.Clock.Now(), kind, body)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

func (b *browsed) try(kind journal.Kind, body any, ceremony string) (keys.Answer, string) {
	b.t.Helper()
	raw := b.entry(kind, body)
	answers, err := b.signer.Commit(b.t.Context(), []keys.Act{{Entry: raw, Confirmation: ceremony}})
	if err != nil {
		b.t.Fatal(err)
	}
	if answers[0].Err != nil {
		return answers[0], answers[0].Err.Code
	}
	e, err := journal.Parse(raw)
	if err == nil {
		err = b.state.Apply(e)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.log, b.head = append(b.log, raw), answers[0].Head
	return answers[0], ""
}

// again ends the key process and begins another one over the same files.
func (b *browsed) again() {
	b.t.Helper()
	b.signer.Close()
	b.signer = sign.New(b.config)
	if _, err := b.signer.Unlock(b.t.Context(), keys.Unlock{Surface: keys.SurfaceTerminal}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.signer.Load(b.t.Context(), keys.Load{Entries: b.log, Head: b.head, Last: true}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browsed) must(kind journal.Kind, body any, ceremony string) keys.Answer {
	b.t.Helper()
	answer, code := b.try(kind, body, ceremony)
	if code != "" {
		b.t.Fatalf("%s: %s", kind, code)
	}
	return answer
}

// ceremony begins one, opens its page, presses its button, and follows it to its end.
func (b *browsed) ceremony(ask keys.Ask) (keys.Begun, keys.Step) {
	b.t.Helper()
	begun, err := b.signer.Begin(b.t.Context(), ask)
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate(<-b.links), chromedp.WaitEnabled("#go"), chromedp.Click("#go"))
	for {
		st, err := b.signer.Next(b.ctx, begun.ID)
		if err != nil {
			b.t.Fatal(err)
		}
		switch st.Kind {
		case keys.StepAnswered, keys.StepPending, keys.StepEnded:
			return begun, st
		}
	}
}

// page waits for the page to say how it ended, and returns the text of one of its elements.
func (b *browsed) page(id string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Poll[string](`document.documentElement.dataset.state === 'over' && (document.getElementById("`+id+`").innerText || ' ')`,
		chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// pend brings the stick that is plugged in as far as its first answer.
func (b *browsed) pend() (*keys.Passkey, keys.Begun, keys.Step) {
	b.t.Helper()
	begun, st := b.ceremony(keys.Ask{Enrol: &keys.Enrol{Surface: keys.SurfaceTerminal}})
	if st.Kind != keys.StepPending {
		b.t.Fatalf("%+v; the page says %q", st, b.page("steps"))
	}
	if shown := b.page("digits"); shown != st.Digits {
		b.t.Fatalf("the page shows %q, the key process %q", shown, st.Digits)
	}
	if err := b.signer.Compared(b.t.Context(), begun.ID, true); err != nil {
		b.t.Fatal(err)
	}
	tried, answered := b.ceremony(keys.Ask{Try: true})
	if answered.Kind != keys.StepAnswered {
		b.t.Fatalf("%+v; the page says %q", answered, b.page("steps"))
	}
	return st.Passkey, tried, answered
}

func text64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func addedBy(p *keys.Passkey, by, record string) journal.PasskeyAdded {
	return journal.PasskeyAdded{Passkey: text64(p.Key), Kind: p.Kind, BackupEligible: p.BackupEligible, RPID: p.RPID, By: by, Confirmation: record}
}

func TestCeremoniesInABrowser(t *testing.T) {
	b := browse(t)
	one, pull := b.stick()
	first, tried, answered := b.pend()
	if first.Kind != string(confirm.SecurityKey) || !strings.HasPrefix(first.RPID, "vault-"+b.pub.Vault[:8]) {
		t.Errorf("%+v", first)
	}
	b.must(journal.KindPasskeyAdded, addedBy(first, "passphrase", answered.Record), tried.ID)

	card := func() (keys.Begun, keys.Step) { return b.ceremony(keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}}) }
	body := func(begun keys.Begun, st keys.Step) journal.ActConfirmed {
		return journal.ActConfirmed{Act: "card.export", Digest: begun.Digest, Confirmation: st.Record}
	}
	begun, st := card()
	if st.Kind != keys.StepAnswered {
		t.Fatalf("%+v; the page says %q", st, b.page("steps"))
	}
	answer := b.must(journal.KindActConfirmed, body(begun, st), begun.ID)
	b.page("steps")
	known, err := confirm.ParseOwnerCard(answer.Card)
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := confirm.ParseEvidence(answer.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	if report := known.VerifyEvidence(evidence); !report.Pinned {
		t.Errorf("%s: %+v", report.Reason, report.Checks)
	}
	t.Run("without verification", func(t *testing.T) {
		b.verified(one, false)
		defer b.verified(one, true)
		if _, st := card(); st.Kind != keys.StepEnded || st.Outcome != "cancelled" {
			t.Errorf("%+v", st)
		}
	})
	t.Run("the page is left", func(t *testing.T) {
		begun, err := b.signer.Begin(t.Context(), keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}})
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate(<-b.links), chromedp.WaitEnabled("#go"), chromedp.Navigate("about:blank"))
		for {
			st, err := b.signer.Next(b.ctx, begun.ID)
			if err != nil {
				t.Fatal(err)
			}
			if st.Kind == keys.StepEnded {
				if st.Outcome != "page_closed" {
					t.Errorf("%+v", st)
				}
				return
			}
		}
	})

	// A second stick is enrolled with the first, and takes its place.
	pull()
	_, pullSecond := b.stick()
	second, _, _ := b.pend()
	add := keys.Act{Entry: b.entry(journal.KindPasskeyAdded, addedBy(second, "passkey", journal.Zero))}
	// The first one is not plugged in: the second cannot confirm itself.
	if _, st := b.ceremony(keys.Ask{Act: &add}); st.Kind != keys.StepEnded {
		t.Fatalf("%+v", st)
	}
	pullSecond()
}

// touched says whether somebody touches a stick when it is asked.
func (b *browsed) touched(id cdpwa.AuthenticatorID, yes bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, cdpwa.SetAutomaticPresenceSimulation, cdpwa.SetAutomaticPresenceSimulationParams{AuthenticatorID: id, Enabled: yes}); err != nil {
		b.t.Fatal(err)
	}
}

func TestSecondStickRemovesTheFirst(t *testing.T) {
	b := browse(t)
	one, _ := b.stick()
	first, tried, answered := b.pend()
	b.must(journal.KindPasskeyAdded, addedBy(first, "passphrase", answered.Record), tried.ID)
	b.touched(one, false)
	two, _ := b.stick()
	second, _, _ := b.pend()

	b.touched(one, true)
	b.touched(two, false)
	add := keys.Act{Entry: b.entry(journal.KindPasskeyAdded, addedBy(second, "passkey", journal.Zero))}
	begun, st := b.ceremony(keys.Ask{Act: &add})
	if st.Kind != keys.StepAnswered {
		t.Fatalf("%+v; the page says %q", st, b.page("steps"))
	}
	b.must(journal.KindPasskeyAdded, addedBy(second, "passkey", st.Record), begun.ID)

	b.touched(one, false)
	b.touched(two, true)
	remove := keys.Act{Entry: b.entry(journal.KindPasskeyRemoved, journal.PasskeyRemoved{Passkey: text64(first.Key), Confirmation: journal.Zero})}
	begun, st = b.ceremony(keys.Ask{Act: &remove})
	if st.Kind != keys.StepAnswered {
		t.Fatalf("%+v; the page says %q", st, b.page("steps"))
	}
	b.must(journal.KindPasskeyRemoved, journal.PasskeyRemoved{Passkey: text64(first.Key), Confirmation: st.Record}, begun.ID)
	if pub, err := b.signer.Public(t.Context()); err != nil || pub.Passkeys != 1 || pub.Enrolled[0].ID != second.ID {
		t.Errorf("%+v, %v", pub.Enrolled, err)
	}
	// The second one confirms alone.
	begun, st = b.ceremony(keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}})
	b.must(journal.KindActConfirmed, journal.ActConfirmed{Act: "card.export", Digest: begun.Digest, Confirmation: st.Record}, begun.ID)
}
