// Package fakedesk is a desk for tests of the socket: real handshake bytes, invented
// signatures. Its owner agrees to every pairing that Digits agrees to, one wait after
// it was asked. No shipped program imports it.
package fakedesk

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"vault/approvals"
	"vault/approvals/handshake"
	"vault/derive/jcs"
)

// Vault is the id of every fake vault.
const Vault = "00112233445566778899aabbccddeeff"

// Domain is the only domain, as its public projection (AgentEnvelope 7).
const Domain = `{"canonicalDomainInfo":"{\"domainId\":\"billing-ops\",\"kind\":\"finance\",\"namespace\":\"acme\",\"type\":\"agentenvelope.domainInfo\",\"version\":1}","createdAt":"2026-09-21T14:13:20.000Z","domainAddress":"0x17af0c0fd81fc8def9b955f660ef6c5bdebf8835","domainFingerprint":"ae-domain-7714d1f1cb095496","domainHash":"0xb42f595b2fb9ce9f7875db02291dd450536d64cea2b7d4914ebd89fcf706be17","domainInfo":{"domainId":"billing-ops","kind":"finance","namespace":"acme","type":"agentenvelope.domainInfo","version":1}}`

// DomainHash names Domain.
const DomainHash = "0xb42f595b2fb9ce9f7875db02291dd450536d64cea2b7d4914ebd89fcf706be17"

// Desk implements approvals.Agents.
type Desk struct {
	// Digits is asked, as the owner is, whether the six digits are those of the client.
	// Nil agrees.
	Digits func(digits string) bool
	// Sign answers action.sign instead of the desk. It may be nil.
	Sign func(ctx context.Context, ask approvals.Ask) (approvals.Answer, error)

	// Present, Take and Perform answer moment.present, moment.await and moment.sign. Nil ones answer
	// pending, then that the first option was selected, and an invented signature.
	Present func(ctx context.Context, p approvals.Presentation) (approvals.Answer, error)
	Take    func(ctx context.Context, session, moment string) (approvals.Answer, error)
	Perform func(ctx context.Context, a approvals.MomentAction) (approvals.Answer, error)

	// Mint answers mint.request, MintSign mint.sign. Nil ones give an invented record and signature.
	Mint     func(ctx context.Context, bot string, request []byte) (json.RawMessage, error)
	MintSign func(ctx context.Context, bot string, ask approvals.MintSignAsk) (json.RawMessage, error)
	// Delegates answers mint.delegates; nil answers none.
	Delegates func(ctx context.Context, bot string) (json.RawMessage, error)

	mu      sync.Mutex
	secrets map[string]handshake.Secret
	results map[string]func() (json.RawMessage, error) // by client and request
	Peers   []approvals.Peer                           // of every hello
	Asks    []approvals.Ask                            // of every action.sign
	Heads   []string                                   // last heads that clients sent
	Moments []approvals.Presentation                   // of every moment.present
	Replies []approvals.Reply                          // of every moment.say
	Brought []approvals.SoWAsk                         // of every sow.submit
	Open    int                                        // conversations not closed
}

// New makes a desk without clients.
func New() *Desk {
	return &Desk{secrets: map[string]handshake.Secret{}, results: map[string]func() (json.RawMessage, error){}}
}

// Counts gives the number of hellos, signing requests and open conversations.
func (d *Desk) Counts() (hellos, asks, open int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.Peers), len(d.Asks), d.Open
}

// Forget drops every client, as a revocation does.
func (d *Desk) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.secrets)
}

func refusal(code, message string) error {
	return &approvals.Refusal{Code: code, Message: message, Remedy: "This is a test."}
}

// Hello implements approvals.Agents.
func (d *Desk) Hello(_ context.Context, peer approvals.Peer, client string, clientNonce []byte) (approvals.Conversation, approvals.Greeting, error) {
	t := &talk{d: d, client: client, cn: handshake.Nonce(clientNonce)}
	_, _ = rand.Read(t.sn[:])
	g := approvals.Greeting{Vault: Vault, Nonce: t.sn[:], State: "open"}
	d.mu.Lock()
	defer d.mu.Unlock()
	if client != "" {
		secret, ok := d.secrets[client]
		if !ok {
			return nil, approvals.Greeting{}, refusal("revoked", "The pairing was ended.")
		}
		proof := handshake.Prove(&secret, handshake.RoleVault, handshake.ProtocolVersion, Vault, t.cn, t.sn)
		g.Proof = proof[:]
		g.LogHead = head(7)
	}
	d.Peers = append(d.Peers, peer)
	d.Open++
	return t, g, nil
}

func head(seq int) json.RawMessage {
	return fmt.Appendf(nil, `{"seq":%d,"type":"vault.logHead","v":1}`, seq)
}

type talk struct {
	bot        string // proven address, guarded by d.mu
	d          *Desk
	client     string
	cn, sn     handshake.Nonce
	pairing    string
	commitment [32]byte
	psn        handshake.Nonce
}

func (t *talk) Prove(_ context.Context, proof []byte, lastHead json.RawMessage) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	secret, ok := t.d.secrets[t.client]
	if !ok || !handshake.Check(handshake.Proof(proof), &secret, handshake.RoleClient, handshake.ProtocolVersion, Vault, t.cn, t.sn) {
		return refusal("not_proven", "The proof is wrong.")
	}
	t.d.Heads = append(t.d.Heads, string(lastHead))
	return nil
}

func (t *talk) PairBegin(_ context.Context, ask approvals.PairAsk) (approvals.PairOffer, error) {
	t.commitment = ask.Commitment
	_, _ = rand.Read(t.psn[:])
	t.pairing = "p_" + hex.EncodeToString(t.psn[:8])
	return approvals.PairOffer{Pairing: t.pairing, Vault: Vault, Nonce: t.psn[:]}, nil
}

func (t *talk) PairReveal(_ context.Context, pairing string, clientNonce []byte) (approvals.Answer, error) {
	if pairing != t.pairing {
		return approvals.Answer{}, refusal("unknown_pairing", "There is no such pairing.")
	}
	if !handshake.Opens(t.commitment, handshake.Nonce(clientNonce)) {
		return approvals.Answer{}, refusal("pairing_commitment", "The nonce is not the one of the commitment.")
	}
	digits := handshake.Digits(Vault, handshake.Nonce(clientNonce), t.psn)
	t.later(pairing, func() (json.RawMessage, error) {
		if t.d.Digits != nil && !t.d.Digits(digits) {
			return nil, refusal("declined", "A person declined.")
		}
		var secret handshake.Secret
		_, _ = rand.Read(secret[:])
		t.d.mu.Lock()
		client := fmt.Sprintf("c_%016x", len(t.d.secrets)+1)
		t.d.secrets[client] = secret
		t.d.mu.Unlock()
		return json.Marshal(map[string]string{"client": client, "secret": handshake.Encode(secret)})
	})
	return approvals.Answer{Pending: pairing}, nil
}

// later keeps what Await gives.
func (t *talk) later(request string, result func() (json.RawMessage, error)) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	t.d.results[t.client+"\n"+request] = result
}

func (t *talk) Status(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"state":"open","vault":"` + Vault + `","demo":false,"paired":false,"open_requests":0}`), nil
}

func (t *talk) DomainList(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"domains":[` + Domain + `]}`), nil
}

func (t *talk) DomainGet(_ context.Context, domain string) (json.RawMessage, error) {
	if domain != DomainHash && domain != "billing-ops" {
		return nil, refusal("unknown_domain", "The vault has no such domain.")
	}
	return json.RawMessage(Domain), nil
}

func (t *talk) ActionSign(ctx context.Context, ask approvals.Ask) (approvals.Answer, error) {
	t.d.mu.Lock()
	t.d.Asks = append(t.d.Asks, ask)
	n := len(t.d.Asks)
	t.d.mu.Unlock()
	if t.d.Sign != nil {
		return t.d.Sign(ctx, ask)
	}
	envelope, err := jcs.Parse(ask.Envelope, jcs.AgentEnvelope)
	if err != nil {
		return approvals.Answer{}, refusal("malformed", "The envelope is not strict JSON.")
	}
	if envelope.Get("domain").Get("domainHash").Text() != DomainHash {
		return approvals.Answer{}, refusal("unknown_domain", "The vault has no such domain.")
	}
	if !ask.Interactive {
		return approvals.Answer{}, refusal("not_shown", "Nobody saw this request.")
	}
	canonical := envelope.Canonical()
	t.later(ask.RequestID, func() (json.RawMessage, error) {
		sum := sha256.Sum256(ask.Payload)
		return json.Marshal(map[string]any{
			"signature":     "0x" + hex.EncodeToString(append(append(sum[:], sum[:]...), 27)),
			"agent_address": "0x0bfc3fdaea4dbad90a545c10621811bed8e91464",
			"record":        map[string]any{"type": "agentenvelope.publicActionRecord", "canonicalActionEnvelope": string(canonical)},
			"log_head":      head(7 + n),
			"by":            "click",
			"seq":           7 + n,
		})
	})
	return approvals.Answer{Pending: ask.RequestID}, nil
}

// MomentID is the id of every fake moment.
const MomentID = "m_0000000000000000000000000000000000000000000000000000000000000001"

// Resolution is how every fake moment is resolved.
const Resolution = `{"binding_moment_resolution":{"envelope_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000001","option_idx":0,"resolution":"option"}}`

func (t *talk) MomentPresent(ctx context.Context, p approvals.Presentation) (approvals.Answer, error) {
	t.d.mu.Lock()
	t.d.Moments = append(t.d.Moments, p)
	t.d.mu.Unlock()
	if t.d.Present != nil {
		return t.d.Present(ctx, p)
	}
	return approvals.Answer{Pending: MomentID}, nil
}

func (t *talk) MomentAwait(ctx context.Context, session, moment string) (approvals.Answer, error) {
	if t.d.Take != nil {
		return t.d.Take(ctx, session, moment)
	}
	if moment != MomentID {
		return approvals.Answer{}, refusal("unknown_moment", "The vault knows no such moment of this session.")
	}
	return approvals.Answer{Result: json.RawMessage(Resolution)}, nil
}

func (t *talk) MomentSay(_ context.Context, r approvals.Reply) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	t.d.Replies = append(t.d.Replies, r)
	return nil
}

func (t *talk) MomentSign(ctx context.Context, a approvals.MomentAction) (approvals.Answer, error) {
	if t.d.Perform != nil {
		return t.d.Perform(ctx, a)
	}
	sum := sha256.Sum256(a.Action)
	raw, err := json.Marshal(map[string]any{
		"signature":     "0x" + hex.EncodeToString(append(append(sum[:], sum[:]...), 27)),
		"agent_address": "0x0bfc3fdaea4dbad90a545c10621811bed8e91464",
		"record":        map[string]any{"type": "agentenvelope.publicActionRecord"},
		"log_head":      head(9), "by": "click", "seq": 9,
	})
	return approvals.Answer{Result: raw}, err
}

func (t *talk) Await(_ context.Context, request string) (approvals.Answer, error) {
	t.d.mu.Lock()
	result, ok := t.d.results[t.client+"\n"+request]
	t.d.mu.Unlock()
	if !ok {
		return approvals.Answer{}, refusal("unknown_request", "The vault knows no such request of this client.")
	}
	raw, err := result()
	return approvals.Answer{Result: raw}, err
}

func (t *talk) Cancel(_ context.Context, request string) error {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if _, ok := t.d.results[t.client+"\n"+request]; !ok {
		return refusal("unknown_request", "The vault knows no such request of this client.")
	}
	t.d.results[t.client+"\n"+request] = func() (json.RawMessage, error) {
		return nil, refusal("cancelled", "The request was cancelled by the client.")
	}
	return nil
}

func (t *talk) RecordGet(context.Context, string) (json.RawMessage, error) {
	return json.RawMessage(`{"type":"agentenvelope.publicActionRecord"}`), nil
}

func (t *talk) SessionEnd(context.Context, string) error { return nil }

func (t *talk) Close() {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	t.d.Open--
}
