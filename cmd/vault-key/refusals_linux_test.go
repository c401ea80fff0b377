package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpwa "github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
)

// asking is what a page of somebody else does to have a passkey answer: a function of challenge, name,
// verification and passkey, to a promise of the answer as the vault's own page sends it, or of "ERR" and why.
const asking = `async (challenge, rpId, userVerification, id) => {
	const bytes = s => Uint8Array.from(atob(s.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
	const text = b => btoa(String.fromCharCode(...new Uint8Array(b))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
	try {
		const c = await navigator.credentials.get({publicKey: {challenge: bytes(challenge), rpId, userVerification, timeout: 20000,
			allowCredentials: [{type: 'public-key', id: bytes(id)}]}});
		return JSON.stringify({id: text(c.rawId), authenticator_data: text(c.response.authenticatorData),
			client_data_json: text(c.response.clientDataJSON), signature: text(c.response.signature)});
	} catch (e) { return 'ERR ' + e.name + ': ' + e.message; }
}`

// making makes a passkey of the page's own, for a name, and gives its id.
const making = `(async rpId => {
	const c = await navigator.credentials.create({publicKey: {challenge: new Uint8Array(32), rp: {id: rpId, name: 'x'},
		user: {id: new Uint8Array(32), name: 'x', displayName: 'x'}, pubKeyCredParams: [{type: 'public-key', alg: -7}]}});
	return btoa(String.fromCharCode(...new Uint8Array(c.rawId))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
})(%q)`

// eval runs a promise of a text in whatever page the tab shows.
func (b *browsed) eval(js string) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// asked has the page at an address ask the passkey, as far as the browser lets it.
func (b *browsed) asked(address, challenge, rpID, verification, id string) []byte {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	got := b.eval(fmt.Sprintf(`(%s)(%q, %q, %q, %q)`, asking, challenge, rpID, verification, id))
	if strings.HasPrefix(got, "ERR") {
		b.t.Fatalf("the page at %s got %s", address, got)
	}
	return []byte(got)
}

// stranger serves a page of somebody else, under every name.
func stranger(t *testing.T, body string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>other</title><body>"+body)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// edited changes one member of an answer.
func edited(t *testing.T, raw []byte, member string, edit func([]byte) []byte) []byte {
	t.Helper()
	var m map[string]string
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	was, err := base64.RawURLEncoding.DecodeString(m[member])
	if err != nil {
		t.Fatal(err)
	}
	m[member] = text64(edit(was))
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// card asks for the owner card. Where answer is nil the page is confirmed, else it answers in the page's place.
func (b *browsed) card(answer func(badTask) []byte) (begun keys.Begun, body journal.ActConfirmed) {
	b.t.Helper()
	ask := keys.Ask{Owner: &keys.OwnerAct{Act: "card.export"}}
	var st keys.Step
	if answer == nil {
		begun, st = b.ceremony(ask)
	} else {
		begun, st = b.answered(ask, answer)
	}
	if st.Kind != keys.StepAnswered {
		b.t.Fatalf("%+v", st)
	}
	return begun, journal.ActConfirmed{Act: "card.export", Digest: begun.Digest, Confirmation: st.Record}
}

// answered begins a ceremony whose helper has gone bad, and answers for it.
func (b *browsed) answered(ask keys.Ask, answer func(badTask) []byte) (keys.Begun, keys.Step) {
	b.t.Helper()
	if b.bad == nil {
		b.bad = &bad{}
	}
	b.bad.tasks, b.bad.answers = make(chan badTask), make(chan []byte, 1)
	defer func() { b.bad = nil }()
	begun, err := b.signer.Begin(b.t.Context(), ask)
	if err != nil {
		b.t.Fatal(err)
	}
	b.bad.answers <- answer(<-b.bad.tasks)
	for {
		st, err := b.signer.Next(b.ctx, begun.ID)
		if err != nil {
			b.t.Fatal(err)
		}
		switch st.Kind {
		case keys.StepAnswered, keys.StepEnded:
			return begun, st
		}
	}
}

// verified says whether who touches the stick is verified.
func (b *browsed) verified(id cdpwa.AuthenticatorID, yes bool) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, cdpwa.SetUserVerified, cdpwa.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: yes}); err != nil {
		b.t.Fatal(err)
	}
}

// addCopy gives an authenticator a passkey with those members alone that it knows.
var addCopy = cdp.Command[addedCopy, cdp.Empty]{Method: cdpwa.CommandAddCredential}

type addedCopy struct {
	AuthenticatorID cdpwa.AuthenticatorID `json:"authenticatorId"`
	Credential      map[string]any        `json:"credential"`
}

// TestRefusedInABrowser plays in a real Chromium what can go wrong, against the key process: each is refused with
// its code, and the honest act beside it is taken. The helper has gone bad: it takes answers from wherever it can.
func TestRefusedInABrowser(t *testing.T) {
	b := browse(t)
	one, _ := b.stick()
	first, tried, took := b.pend()
	b.must(journal.KindPasskeyAdded, addedBy(first, "passphrase", took.Record), tried.ID)
	rpID := first.RPID
	elsewhere := stranger(t, "")
	honest := func(k badTask) []byte {
		return b.asked(k.origin+"/", k.Challenge, rpID, "required", k.Credentials[0].ID)
	}
	yes, no := true, false
	bogus := func(bits cdpwa.SetResponseOverrideBitsParams) {
		bits.AuthenticatorID = one
		if _, err := chromedp.Call(b.ctx, cdpwa.SetResponseOverrideBits, bits); err != nil {
			b.t.Fatal(err)
		}
	}
	// another makes a passkey of a stranger's own for the vault's name, and has it answer.
	another := func(k badTask) []byte {
		b.do(chromedp.Navigate("http://" + rpID + ":" + elsewhere + "/"))
		return b.asked(k.origin+"/", k.Challenge, rpID, "required", b.eval(fmt.Sprintf(making, rpID)))
	}
	framing := stranger(t, `<script>onmessage = async e => parent.postMessage(await (`+asking+`)(...e.data), '*')</script>`)
	var kept []byte // an answer that was taken
	var keptBody journal.ActConfirmed
	var keptID string
	for _, c := range []struct {
		name, code string
		answer     func(k badTask) []byte
	}{
		{"the truth", "", func(k badTask) []byte { kept = honest(k); return kept }},
		{"verification not asked for", "not_verified", func(k badTask) []byte {
			b.verified(one, false)
			defer b.verified(one, true)
			return b.asked(k.origin+"/", k.Challenge, rpID, "discouraged", k.Credentials[0].ID)
		}},
		{"verification forged after the passkey answered", "wrong_signature", func(k badTask) []byte {
			b.verified(one, false)
			defer b.verified(one, true)
			return edited(b.t, b.asked(k.origin+"/", k.Challenge, rpID, "discouraged", k.Credentials[0].ID), "authenticator_data", func(d []byte) []byte { d[32] |= 4; return d })
		}},
		{"a passkey that verifies nobody", "not_verified", func(k badTask) []byte {
			bogus(cdpwa.SetResponseOverrideBitsParams{IsBadUV: &yes})
			defer bogus(cdpwa.SetResponseOverrideBitsParams{IsBadUV: &no})
			return honest(k)
		}},
		{"another port", "wrong_origin", func(k badTask) []byte {
			return b.asked("http://"+rpID+":"+elsewhere+"/", k.Challenge, rpID, "required", k.Credentials[0].ID)
		}},
		{"another host below the name", "wrong_origin", func(k badTask) []byte {
			return b.asked("http://sub."+rpID+":"+elsewhere+"/", k.Challenge, rpID, "required", k.Credentials[0].ID)
		}},
		{"another challenge", "wrong_challenge", func(k badTask) []byte {
			return b.asked(k.origin+"/", text64(make([]byte, 32)), rpID, "required", k.Credentials[0].ID)
		}},
		{"an edited context", "wrong_challenge", func(k badTask) []byte {
			changed := strings.Replace(k.Context, "Export", "Import", 1)
			if changed == k.Context {
				b.t.Fatal(k.Context)
			}
			sum := sha256.Sum256([]byte(changed))
			return b.asked(k.origin+"/", text64(sum[:]), rpID, "required", k.Credentials[0].ID)
		}},
		{"replayed in a new ceremony", "wrong_challenge", func(badTask) []byte { return kept }},
		{"an unknown credential", "unknown_credential", another},
		{"a known id with another key", "wrong_signature", func(k badTask) []byte {
			id, err := base64.RawURLEncoding.DecodeString(k.Credentials[0].ID)
			if err != nil {
				b.t.Fatal(err)
			}
			return edited(b.t, another(k), "id", func([]byte) []byte { return id })
		}},
		{"framed", "framed", func(k badTask) []byte {
			b.do(chromedp.Navigate("http://localhost:" + elsewhere + "/"))
			got := b.eval(fmt.Sprintf(`new Promise(done => {
				const f = document.createElement('iframe');
				f.allow = 'publickey-credentials-get *';
				f.src = %q;
				f.onload = () => f.contentWindow.postMessage([%q, %q, 'required', %q], '*');
				onmessage = e => done(e.data);
				document.body.append(f);
			})`, "http://"+rpID+":"+framing+"/", k.Challenge, rpID, k.Credentials[0].ID))
			if strings.HasPrefix(got, "ERR") {
				b.t.Fatal(got)
			}
			return []byte(got)
		}},
		{"too late", keys.CodeTimedOut, honest},
		{"the truth again", "", honest},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			defer func() { b.t = t }()
			if c.code == "framed" {
				b.bad = &bad{origin: "http://" + rpID + ":" + framing}
			}
			begun, body := b.card(c.answer)
			if c.code == keys.CodeTimedOut {
				b.ahead.Store(120_000)
			}
			_, code := b.try(journal.KindActConfirmed, body, begun.ID)
			if code != c.code {
				t.Errorf("refused with %q, want %q", code, c.code)
			}
			if c.name == "the truth" {
				keptBody, keptID = body, begun.ID
			}
			b.ahead.Store(0)
		})
	}
	b.t = t
	t.Run("replayed in the same ceremony", func(t *testing.T) {
		if _, code := b.try(journal.KindActConfirmed, keptBody, keptID); code != keys.CodeNotConfirmed {
			t.Errorf("refused with %q", code)
		}
	})
	t.Run("offered for another act", func(t *testing.T) {
		change := func(by, record string, rules ...permit.Rule) journal.PolicyChanged {
			pub, err := b.signer.Public(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			to, err := permit.Policy{Rules: rules}.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			return journal.PolicyChanged{FromSHA256: journal.HashOf(pub.Policy), To: string(to), By: by, Confirmation: record}
		}
		b.must(journal.KindPolicyChanged, change("click", "", permit.Rule{Scope: permit.ScopeEvery}), "")
		begun, body := b.card(nil)
		if _, code := b.try(journal.KindPolicyChanged, change("passkey", body.Confirmation), begun.ID); code != keys.CodeOtherAct {
			t.Errorf("refused with %q", code)
		}
		// What was offered for something else is used up.
		if _, code := b.try(journal.KindActConfirmed, body, begun.ID); code != keys.CodeNotConfirmed {
			t.Errorf("refused with %q", code)
		}
	})
	t.Run("replayed after a restart", func(t *testing.T) {
		begun, body := b.card(func(k badTask) []byte { kept = honest(k); return kept })
		b.again()
		if _, code := b.try(journal.KindActConfirmed, body, begun.ID); code != keys.CodeNotConfirmed {
			t.Errorf("the same ceremony: refused with %q", code)
		}
		again, body := b.card(func(badTask) []byte { return kept })
		if _, code := b.try(journal.KindActConfirmed, body, again.ID); code != "wrong_challenge" {
			t.Errorf("a new ceremony: refused with %q", code)
		}
		begun, body = b.card(nil)
		b.must(journal.KindActConfirmed, body, begun.ID)
	})
	t.Run("a copy of the passkey that counts anew", func(t *testing.T) {
		begun, body := b.card(func(k badTask) []byte {
			got, err := chromedp.Call(b.ctx, cdpwa.GetCredentials, cdpwa.GetCredentialsParams{AuthenticatorID: one})
			if err != nil {
				b.t.Fatal(err)
			}
			for _, c := range got.Credentials {
				if text64(c.CredentialID) != k.Credentials[0].ID {
					continue
				}
				if _, err := chromedp.Call(b.ctx, cdpwa.RemoveCredential, cdpwa.RemoveCredentialParams{AuthenticatorID: one, CredentialID: c.CredentialID}); err != nil {
					b.t.Fatal(err)
				}
				copied := map[string]any{"credentialId": c.CredentialID, "privateKey": c.PrivateKey, "rpId": c.RpID, "signCount": 1, "isResidentCredential": false}
				if _, err := chromedp.Call(b.ctx, addCopy, addedCopy{one, copied}); err != nil {
					b.t.Fatal(err)
				}
			}
			return honest(k)
		})
		if _, code := b.try(journal.KindActConfirmed, body, begun.ID); code != "counter_back" {
			t.Errorf("refused with %q", code)
		}
	})
}
