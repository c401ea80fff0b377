package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	cdpwa "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"vault/cmd/internal/ceremony"
	"vault/derive/confirm"
	"vault/derive/confirm/answer"
	"vault/internal/chromium"
)

// get asks the browser for an assertion from whatever page the tab shows, as a page of
// somebody else would, and returns it as the vault's page sends it, or "ERR" and why.
func (tb *tab) get(challenge [32]byte, rpID, verification string, id []byte) string {
	tb.t.Helper()
	return tb.eval(fmt.Sprintf(`(async () => {
		const bytes = s => Uint8Array.from(atob(s.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
		const text = b => btoa(String.fromCharCode(...new Uint8Array(b))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
		try {
			const c = await navigator.credentials.get({publicKey: {challenge: bytes(%q), rpId: %q, userVerification: %q, timeout: 5000,
				allowCredentials: [{type: 'public-key', id: bytes(%q)}]}});
			return JSON.stringify({id: text(c.rawId), authenticator_data: text(c.response.authenticatorData),
				client_data_json: text(c.response.clientDataJSON), signature: text(c.response.signature)});
		} catch (e) { return 'ERR ' + e.name + ': ' + e.message; }
	})()`, b64(challenge[:]), rpID, verification, b64(id)))
}

// stranger serves a page of somebody else on both loopback families, under every name.
func stranger(t *testing.T) (port int) {
	t.Helper()
	listeners, port, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>other</title><body>other")
	})}
	for _, l := range listeners {
		go func() { _ = srv.Serve(l) }()
	}
	t.Cleanup(func() { _ = srv.Close() })
	return port
}

func at(host string, port int) string { return fmt.Sprintf("http://%s:%d/", host, port) }

func TestNobodyVerified(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	tb.verified(false)
	a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}))
	tb.open(a.link)
	tb.press("#go")
	a.ends(ceremony.Cancelled)
	tb.says("The passkey was not used.")

	// A page that does not insist gets an answer, which is refused.
	b := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}))
	tb.open(b.origin)
	_, err := b.check([]byte(tb.get(b.context.Challenge(), vaultRPID, "discouraged", key.ID)), key)
	refused(t, err, answer.NotVerified)
}

func TestLyingAuthenticator(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name string
		bits cdpwa.SetResponseOverrideBitsParams
		want answer.Code
	}{
		{"nobody verified", cdpwa.SetResponseOverrideBitsParams{IsBadUV: &yes}, answer.NotVerified},
		{"nobody present", cdpwa.SetResponseOverrideBitsParams{IsBadUP: &yes}, answer.NotPresent},
		{"bogus signature", cdpwa.SetResponseOverrideBitsParams{IsBogusSignature: &yes}, answer.WrongSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := newTab(t, chromium.Device)
			key := tb.enrol(vaultRPID)
			c.bits.AuthenticatorID = tb.authenticator
			if _, err := chromedp.Call(tb.ctx, cdpwa.SetResponseOverrideBits, c.bits); err != nil {
				t.Fatal(err)
			}
			a, raw := tb.confirms(vaultRPID, []answer.Credential{key})
			_, err := a.check(raw, key)
			refused(t, err, c.want)
			a.line.Finish(ceremony.Verdict{Reason: "nobody was verified"})
			tb.says("Not accepted: nobody was verified.")
		})
	}
}

// Another page of the same name, on another port, gets an answer of a verified
// owner; only the origin tells it apart.
func TestOtherOrigins(t *testing.T) {
	port := stranger(t)
	for _, rpID := range []string{vaultRPID, ceremony.FallbackRPID} {
		t.Run(rpID, func(t *testing.T) {
			tb := newTab(t, chromium.Device)
			key := tb.enrol(rpID)
			a := begin(t, rpID, confirming(rpID, []answer.Credential{key}))
			challenge := a.context.Challenge()

			tb.open(at(rpID, port))
			_, err := a.check([]byte(tb.get(challenge, rpID, "required", key.ID)), key)
			refused(t, err, answer.WrongOrigin)

			// All others the browser refuses by itself, or they answer for another name.
			for _, host := range []string{"127.0.0.1", "sub.localhost", "rebind.example", "vault-ffffffff.localhost", "sub." + vaultRPID, "localhost"} {
				if host == rpID {
					continue
				}
				tb.open(at(host, port))
				got := tb.get(challenge, rpID, "required", key.ID)
				if strings.HasPrefix(got, "ERR") {
					t.Logf("%s: the browser says %.60s", host, got)
					continue
				}
				// A page below the name may ask for it; what it is given names its own origin.
				if !strings.HasSuffix(host, "."+rpID) {
					t.Errorf("a page of %s was given an answer", host)
				}
				_, err := a.check([]byte(got), key)
				refused(t, err, answer.WrongOrigin)
			}
		})
	}
}

func TestOtherActs(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	a, raw := tb.confirms(vaultRPID, []answer.Credential{key})

	f := a.context.Fields()
	edits := map[string]func(*confirm.Fields){
		"a digit of the words": func(f *confirm.Fields) { f.Says[1] = strings.Replace(f.Says[1], "0.4", "0.5", 1) },
		"the digest":           func(f *confirm.Fields) { f.Digest = strings.Repeat("0", 64) },
		"the kind":             func(f *confirm.Fields) { f.Kind = confirm.PolicyLoosen },
		"the request":          func(f *confirm.Fields) { f.RequestID = "request-2" },
		"the nonce":            func(f *confirm.Fields) { f.Nonce[0] ^= 1 },
		"the end":              func(f *confirm.Fields) { f.ExpiresAt += 1000 },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			g := a.context.Fields()
			edit(&g)
			c, err := confirm.NewContext(g)
			if err != nil {
				t.Fatal(err)
			}
			other := *a
			other.t, other.context = t, c
			_, err = other.check(raw, key)
			refused(t, err, answer.WrongChallenge)
		})
	}
	as, err := answer.ParseAssertion(raw)
	if err != nil {
		t.Fatal(err)
	}
	_, err = answer.Check(a.context, as, []answer.Credential{key}, f.ExpiresAt)
	refused(t, err, answer.Expired)
	_, err = answer.Check(a.context, as, []answer.Credential{key}, f.IssuedAt-1)
	refused(t, err, answer.TooEarly)
	behind := key
	behind.SignCount = 1000
	_, err = a.check(raw, behind)
	refused(t, err, answer.CounterBack)
	copied := key
	copied.BackupEligible = !key.BackupEligible
	_, err = a.check(raw, copied)
	refused(t, err, answer.BackupChanged)
	elsewhere := key
	elsewhere.RPID = ceremony.FallbackRPID
	_, err = a.check(raw, elsewhere)
	refused(t, err, answer.UnknownCredential)
}

func TestOtherKeys(t *testing.T) {
	tb, other := newTab(t, chromium.Device), newTab(t, chromium.Device)
	key, foreign := tb.enrol(vaultRPID), other.enrol(vaultRPID)
	a, raw := other.confirms(vaultRPID, []answer.Credential{foreign})
	_, err := a.check(raw, key)
	refused(t, err, answer.UnknownCredential)
	// The known id before the other key's signature.
	swapped := strings.Replace(string(raw), b64(foreign.ID), b64(key.ID), 1)
	_, err = a.check([]byte(swapped), key)
	refused(t, err, answer.WrongSignature)
}

// What the helper is given is not what was hashed: the page finds it out.
func TestEditedTaskIsNotShown(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	edits := map[string]func(*ceremony.Task){
		"words":          func(k *ceremony.Task) { k.Context = strings.Replace(k.Context, "0.4", "0.5", 1) },
		"spelling":       func(k *ceremony.Task) { k.Context = strings.Replace(k.Context, `"says":`, `"says": `, 1) },
		"a member twice": func(k *ceremony.Task) { k.Context = strings.Replace(k.Context, `"says":`, `"says":["x"],"says":`, 1) },
		"challenge":      func(k *ceremony.Task) { k.Challenge = b64(make([]byte, 32)) },
		"no passkey":     func(k *ceremony.Task) { k.Credentials = []ceremony.Credential{} },
		"other page": func(k *ceremony.Task) {
			k.Context = strings.Replace(k.Context, vaultRPID+":", vaultRPID+":1", 1)
			sum := sha256.Sum256([]byte(k.Context))
			k.Challenge = b64(sum[:])
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			tb.t = t
			a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}), func(_ *Config, k *ceremony.Task) { edit(k) })
			tb.open(a.link)
			a.ends(ceremony.PageDiffers)
			tb.says("the page was changed")
		})
	}
}

func TestLeaving(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	start := func(t *testing.T) *act {
		tb.t = t
		a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}))
		tb.open(a.link)
		a.event(ceremony.Opened)
		return a
	}
	t.Run("back", func(t *testing.T) {
		a := start(t)
		tb.press("#back")
		a.ends(ceremony.Cancelled)
		tb.says("Nothing was decided; the sheet is as you left it.")
	})
	t.Run("loaded again", func(t *testing.T) {
		a := start(t)
		tb.do(chromedp.WaitEnabled("#go"), chromedp.Reload())
		if _, err := a.wait(); err != ceremony.Contested && err != ceremony.PageClosed {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		a := start(t)
		tb.do(chromedp.WaitEnabled("#go"), chromedp.Navigate("about:blank"))
		a.ends(ceremony.PageClosed)
	})
	t.Run("the key process withdraws", func(t *testing.T) {
		a := start(t)
		tb.do(chromedp.WaitEnabled("#go"))
		a.line.Close()
		tb.says("The vault ended this page.")
	})
	t.Run("time", func(t *testing.T) {
		tb.t = t
		a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}), func(_ *Config, k *ceremony.Task) {
			k.Ends = time.Now().Add(2 * time.Second).UnixMilli()
		})
		tb.open(a.link)
		a.ends(ceremony.TimedOut)
		tb.says("The time is over.")
	})
	t.Run("opened twice", func(t *testing.T) {
		a := start(t)
		second := newTab(t, chromium.Device)
		second.open(a.link)
		a.ends(ceremony.Contested)
		tb.says("Contested: this page was opened twice.")
		second.says("Nothing was decided")
	})
	t.Run("closed", func(t *testing.T) {
		tb := newTab(t, chromium.Device)
		a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}))
		tb.open(a.link)
		tb.do(chromedp.WaitEnabled("#go"))
		tb.close()
		a.ends(ceremony.PageClosed)
	})
}

// A page that was left open after its end does nothing more.
func TestPageLeftOpen(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	a, raw := tb.confirms(vaultRPID, []answer.Credential{key})
	if _, err := a.check(raw, key); err != nil {
		t.Fatal(err)
	}
	a.line.Finish(ceremony.Verdict{Accepted: true})
	tb.says("accepted")
	if err := <-a.served; err != nil {
		t.Fatal(err)
	}
	got := tb.eval(`fetch('/answer', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}).then(r => 'status ' + r.status, e => 'ERR ' + e.name)`)
	if !strings.HasPrefix(got, "ERR") {
		t.Errorf("the port still answers: %s", got)
	}
}

// Hostile pages on this computer: they neither reach the page nor use, replace or
// remove the passkey.
func TestHostileLocalhostPage(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	port := stranger(t)
	a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}))

	tb.open(at("localhost", port))
	for name, js := range map[string]string{
		"fetch":         `fetch(%q + '/begin', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}).then(r => 'status ' + r.status, e => 'ERR ' + e.name)`,
		"fetch page":    `fetch(%q + '/', {headers: {'X-Other': '1'}}).then(r => 'status ' + r.status, e => 'ERR ' + e.name)`,
		"script":        `new Promise(done => { const s = document.createElement('script'); s.src = %q + '/app.js'; s.onload = () => done('loaded'); s.onerror = () => done('ERR'); document.body.append(s); })`,
		"picture":       `new Promise(done => { const s = new Image(); s.src = %q + '/icon.svg'; s.onload = () => done('loaded'); s.onerror = () => done('ERR'); document.body.append(s); })`,
		"create for it": `navigator.credentials.create({publicKey: {challenge: new Uint8Array(32), rp: {id: '` + vaultRPID + `', name: 'x'}, user: {id: new Uint8Array(32), name: 'x', displayName: 'x'}, pubKeyCredParams: [{type: 'public-key', alg: -7}]}}).then(() => 'created ' + %q, e => 'ERR ' + e.name)`,
		"use it": `navigator.credentials.get({publicKey: {challenge: new Uint8Array(32), rpId: '` + vaultRPID + `', timeout: 5000, allowCredentials: [{type: 'public-key', id: Uint8Array.from(atob('` +
			base64.StdEncoding.EncodeToString(key.ID) + `'), c => c.charCodeAt(0))}]}}).then(() => 'used ' + %q, e => 'ERR ' + e.name)`,
		"signal accepted": `(PublicKeyCredential.signalAllAcceptedCredentials ? PublicKeyCredential.signalAllAcceptedCredentials({rpId: '` + vaultRPID + `', userId: 'AAAA', allAcceptedCredentialIds: []})` +
			` : Promise.reject(new Error('absent'))).then(() => 'signalled ' + %q, e => 'ERR ' + e.name)`,
		"signal unknown": `(PublicKeyCredential.signalUnknownCredential ? PublicKeyCredential.signalUnknownCredential({rpId: '` + vaultRPID + `', credentialId: '` + b64(key.ID) + `'})` +
			` : Promise.reject(new Error('absent'))).then(() => 'signalled ' + %q, e => 'ERR ' + e.name)`,
	} {
		t.Run(name, func(t *testing.T) {
			tb.t = t
			if got := tb.eval(fmt.Sprintf(js, a.origin)); !strings.HasPrefix(got, "ERR") {
				t.Errorf("it got %s", got)
			}
		})
	}
	tb.t = t

	// A frame is not sent the document, or the ceremony would be contested below.
	tb.eval(frame(a.origin))
	tb.open(at(vaultRPID, port))
	tb.eval(frame(a.origin))

	tb.open(at("rebind.example", portOf(t, a.origin)))
	if got := tb.eval(`Promise.resolve(document.body.innerText)`); !strings.Contains(got, "not the host of this page") {
		t.Errorf("a name that was pointed here got %q", got)
	}

	// The passkey is still there, and the ceremony was not disturbed.
	tb.open(a.link)
	tb.press("#go")
	raw, err := a.wait()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.check(raw, key); err != nil {
		t.Error(err)
	}
}

// frame puts a page into the one that is shown.
func frame(origin string) string {
	return fmt.Sprintf(`new Promise(done => { const f = document.createElement('iframe'); f.src = %q; f.onload = () => done(''); document.body.append(f); })`, origin+"/")
}

// A page of the same name on another port, which has to know that name, does not
// replace the passkey either: it cannot know the user id. One that also knew the
// passkey's id could have Chromium forget it (signalUnknownCredential): nothing is
// confirmed by that, and the second passkey is there for it.
func TestHostilePageOfTheSameName(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	tb.open(at(vaultRPID, stranger(t)))
	got := tb.eval(`navigator.credentials.create({publicKey: {challenge: new Uint8Array(32), rp: {id: '` + vaultRPID + `', name: 'x'}, user: {id: new Uint8Array(32), name: 'Vault 0123abcd', displayName: 'x'},
		pubKeyCredParams: [{type: 'public-key', alg: -7}], authenticatorSelection: {residentKey: 'required', userVerification: 'required'}}}).then(() => 'created', e => 'ERR ' + e.name)`)
	t.Logf("its own passkey: %s", got)
	a, raw := tb.confirms(vaultRPID, []answer.Credential{key})
	if _, err := a.check(raw, key); err != nil {
		t.Error(err)
	}
}

func portOf(t *testing.T, origin string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(strings.TrimPrefix(origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	var port int
	if _, err := fmt.Sscan(text, &port); err != nil {
		t.Fatal(err)
	}
	return port
}

// Where the system does not tell whose the page is, the owner compares digits.
func TestDigitsWhereTheUserIsNotTold(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	untold := func(c *Config, _ *ceremony.Task) {
		c.UserOf = func(net.Addr, net.Addr) (int, error) { return 0, ErrNotTold }
	}
	for name, same := range map[string]bool{"same": true, "other": false} {
		t.Run(name, func(t *testing.T) {
			tb.t = t
			a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key}), untold)
			tb.open(a.link)
			e := a.event(ceremony.Compare)
			shown, err := chromedp.Run(tb.ctx, chromedp.Poll[string](`document.documentElement.dataset.state === 'compare' && document.getElementById('digits').innerText`, chromedp.WithPollingInterval(50*time.Millisecond)))
			if err != nil || shown != e.Digits || len(shown) != 6 {
				t.Fatalf("the page shows %q, the window %q (%v)", shown, e.Digits, err)
			}
			if says := tb.text("says"); says != "" {
				t.Errorf("the act is shown before: %q", says)
			}
			if err := a.line.Compared(same); err != nil {
				t.Fatal(err)
			}
			if !same {
				a.ends(ceremony.NotSame)
				tb.says("The digits were not the same.")
				return
			}
			tb.press("#go")
			raw, err := a.wait()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.check(raw, key); err != nil {
				t.Error(err)
			}
		})
	}
}

// Hostile words are shown as marks, as text, and whole.
func TestHostileWords(t *testing.T) {
	tb := newTab(t, chromium.Device)
	key := tb.enrol(vaultRPID)
	a := begin(t, vaultRPID, confirming(vaultRPID, []answer.Credential{key},
		"<b>bold</b><script>document.title='x'</script>", "pay \u202e0001\u202c to a\u200bb", "p\u0430ypal", "a"+strings.Repeat(" ", 40)+"b", "\u00a0\u3164\u2800"))
	tb.open(a.link)
	tb.do(chromedp.WaitEnabled("#go"))
	got := tb.text("says")
	for _, want := range []string{"<b>bold</b><script>", "<U+202E>0001<U+202C>", "a<U+200B>b", "a40 spacesb", "<U+00A0><U+3164><U+2800>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if strings.ContainsAny(got, "\u202e\u202c\u200b\u3164\u2800") {
		t.Errorf("a hidden character is left in %q", got)
	}
	if marks := tb.text("marks"); !strings.Contains(marks, "6 hidden characters") || !strings.Contains(marks, "mixes Latin with a Cyrillic а, U+0430") {
		t.Errorf("it says %q", marks)
	}
	if title := tb.eval(`Promise.resolve(document.title)`); title != "Vault" {
		t.Errorf("the title is %q", title)
	}
	if n := tb.eval(`Promise.resolve(String(document.querySelectorAll('#says b, #says script').length))`); n != "0" {
		t.Errorf("%s elements were made of words", n)
	}
	if got := tb.eval(`Promise.resolve([document.cookie, localStorage.length, sessionStorage.length, location.href].join())`); got != ",0,0,"+a.origin+"/" {
		t.Errorf("kept in the browser: %s", got)
	}
}
