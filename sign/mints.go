package sign

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"filippo.io/age"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/derive"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Bounds of what is remembered of mint delegation; all of it is public.
const (
	maxMinted = 4096
	maxBots   = 4096
	maxPinned = 1024
	// clockTolerance is how far the clock may stand before the log's latest entry.
	clockTolerance = 2 * 60_000
)

// minted is what was verified of one delegate and request, and what is public of its key.
type minted struct {
	verified envelope.VerifiedMint
	envelope *envelope.ActionEnvelope
	domain   *envelope.Projection
	known    signer // no address until it was derived once
}

// domainNamed is a domain that is open.
func (s *Signer) domainNamed(hash string) (*envelope.Projection, error) {
	d, ok := s.domains[hash]
	if !ok {
		return nil, refuse(journal.CodeUnknownDomain, "the domain is not open")
	}
	return d, nil
}

// newDelegateRow checks the row of a delegate that the log will show from this entry on.
func newDelegateRow(e journal.Entry, a keys.Act, digest string, want permit.Delegate) ([]byte, error) {
	p, err := row(a, digest)
	if err != nil {
		return nil, err
	}
	got, err := permit.ParseDelegate(p.Body)
	if err != nil || !madeAt(got.MadeAt, e, "passkey") {
		return nil, errPermitForm
	}
	want.Type, want.V, want.MadeAt, want.WhileAway, want.Name = permit.TypeDelegate, 1, got.MadeAt, got.WhileAway, got.Name
	if got != want {
		return nil, errPermitForm
	}
	return p.Body, nil
}

// guardIssued lets the domain's key sign a delegate whose body was confirmed.
func (s *Signer) guardIssued(e journal.Entry, b journal.DelegateIssued, a keys.Act) (passed, error) {
	domain, err := s.domainNamed(b.DomainHash)
	if err != nil {
		return passed{}, err
	}
	d, err := envelope.ParseMintDelegate(a.Delegate)
	if err != nil || d.Signature() != "" || !bytes.Equal(d.Body(), a.Delegate) {
		return passed{}, refuse(codeMalformed, "this is not the canonical body of a delegate")
	}
	f := d.Fields()
	switch {
	case d.Hash() != b.Delegate:
		return passed{}, refuse("wrong_delegate", "the delegate is another one than the entry names")
	case f.DomainHash != b.DomainHash || d.IssuerAddress() != domain.Address():
		return passed{}, refuse("delegate_issuer", "the delegate names another domain or issuer")
	case !d.IDByRule():
		return passed{}, refuse("delegate_id_mismatch", "the delegate's id is not the one the rule gives")
	case b.Mints != f.MaxMints:
		return passed{}, errPermitForm
	}
	// A delegate from before is admitted, not issued again with a fresh count.
	at, err := envelope.ParseTime(f.IssuedAt)
	if err != nil || at > e.At+entryFuture || at < e.At-projectionAge-entryPast {
		return passed{}, refuse("plan_old", "the delegate says that it was issued at another time")
	}
	body, err := newDelegateRow(e, a, b.PermitSHA256, permit.Delegate{Hash: b.Delegate, DomainHash: b.DomainHash, Mints: b.Mints})
	if err != nil {
		return passed{}, err
	}
	return passed{mac: [][]byte{body}, anchor: true, derive: func(out *keys.Answer) error {
		var signature string
		if err := s.vault.WithRoot(func(root []byte) (err error) {
			var seed derive.Secret
			defer seed.Clear()
			if err := derive.DomainSeed(&seed, root, domain.Info()); err != nil {
				return err
			}
			signature, err = derive.SignDigest(seed[:], d.Digest())
			return err
		}); err != nil {
			return err
		}
		signed, err := d.Signed(signature)
		if err != nil {
			return err
		}
		out.Delegate = signed.Canonical()
		return nil
	}}, nil
}

// readDelegate reads a signed delegate that must have the hash, verified against its domain.
func (s *Signer) readDelegate(raw []byte, hash, domainHash string) (*envelope.MintDelegate, error) {
	domain, err := s.domainNamed(domainHash)
	if err != nil {
		return nil, err
	}
	pinned, err := s.pinnedDelegate(raw, domain)
	if err != nil {
		return nil, err
	}
	if pinned.Delegate().Hash() != hash {
		return nil, refuse("wrong_delegate", "the delegate is another one than the entry names")
	}
	return pinned.Delegate(), nil
}

func (s *Signer) guardAdmitted(e journal.Entry, b journal.DelegateAdmitted, a keys.Act) (passed, error) {
	d, err := s.readDelegate(a.Delegate, b.Delegate, b.DomainHash)
	if err != nil {
		return passed{}, err
	}
	if b.Mints > d.Fields().MaxMints {
		return passed{}, refuse("mints_range", "more mints than the delegate gives")
	}
	body, err := newDelegateRow(e, a, b.PermitSHA256, permit.Delegate{Hash: b.Delegate, DomainHash: b.DomainHash, Mints: b.Mints, Admitted: true})
	return passed{mac: [][]byte{body}, anchor: true}, err
}

// delegateRow checks the row of a delegate that the log shows.
func (s *Signer) delegateRow(hash string, a keys.Act) (journal.DelegateState, error) {
	known, ok := s.state.Delegate(hash)
	if !ok {
		return known, refuse(journal.CodeUnknownDelegate, "the log shows no such delegate")
	}
	d, err := believed(s, a, known.PermitSHA256, permit.ParseDelegate)
	if err != nil {
		return known, err
	}
	if d.Hash != hash || d.DomainHash != known.DomainHash || d.Mints != known.Mints || d.Admitted != known.Admitted {
		return known, errPermitForm
	}
	return known, nil
}

func (s *Signer) guardResumed(b journal.DelegateResumed, a keys.Act) (passed, error) {
	known, err := s.delegateRow(b.Delegate, a)
	if err != nil {
		return passed{}, err
	}
	_, err = s.readDelegate(a.Delegate, b.Delegate, known.DomainHash)
	return passed{anchor: true}, err
}

// verifiedMint verifies delegate and request with the issuer pinned to the domain, once for the same bytes; the
// delegate's window is looked at each time, by both clocks.
func (s *Signer) verifiedMint(delegate, request []byte, domainHash string) (*minted, error) {
	if s.cfg.Clock.Now() < s.state.Latest()-clockTolerance {
		return nil, refuse(keys.CodeClockBehind, "the clock stands before an entry of the log")
	}
	domain, err := s.domainNamed(domainHash)
	if err != nil {
		return nil, err
	}
	early, late := s.clock.read()
	sum := sha256.New()
	for _, part := range [][]byte{delegate, request} {
		digest := sha256.Sum256(part)
		sum.Write(digest[:])
	}
	key := [32]byte(sum.Sum(nil))
	m := s.minted[key]
	if m == nil {
		pinned, err := s.pinnedDelegate(delegate, domain)
		if err != nil {
			return nil, err
		}
		report, verified := pinned.VerifyRequest(request, late)
		if !report.Valid || !report.Pinned {
			bound, _ := envelope.FirstBound(report, pinned.Delegate(), nil, late)
			return nil, refuse(bound.Code, "delegate or request is not valid: "+bound.Code)
		}
		if !bytes.Equal(verified.Request().Canonical(), request) || !bytes.Equal(verified.Delegate().Canonical(), delegate) {
			return nil, refuse(codeMalformed, "delegate or request is not in canonical form")
		}
		env, err := verified.ActionEnvelope(domain.Info())
		if err != nil {
			return nil, refuse(codeMalformed, "no action envelope can be made of the request")
		}
		m = &minted{verified: verified, envelope: env, domain: domain}
		if len(s.minted) >= maxMinted {
			clear(s.minted)
		}
		s.minted[key] = m
	}
	w := m.verified.Delegate().Fields().Window
	switch {
	case w.NotBefore.Set && early < w.NotBefore.N:
		return nil, refuse("delegate_not_yet_valid", "the delegate's window has not begun")
	case w.NotAfter.Set && late > w.NotAfter.N:
		return nil, refuse(journal.CodeDelegateExpired, "the delegate is past its end")
	}
	return m, nil
}

// pinnedDelegate verifies a delegate against its domain, once for the same bytes.
func (s *Signer) pinnedDelegate(raw []byte, domain *envelope.Projection) (*envelope.PinnedDelegate, error) {
	key := sha256.Sum256(append([]byte(domain.Address()+"\n"), raw...))
	if p := s.delegates[key]; p != nil {
		return p, nil
	}
	p, report := envelope.NewPinnedDelegate(raw, envelope.Pins{DomainAddress: domain.Address(), DomainHash: domain.Info().Hash()})
	if p == nil {
		bound, _ := envelope.FirstBound(report, nil, nil, 0)
		return nil, refuse(bound.Code, "the delegate is not a valid one of its domain")
	}
	if len(s.delegates) >= maxPinned {
		clear(s.delegates)
	}
	s.delegates[key] = p
	return p, nil
}

// asksFor is what both acts of a bot ask for: its client, its address, its delegate, its request, and the action
// envelope that follows from it.
func (s *Signer) asksFor(client, bot, delegate, nonce, mint, envelopeHash string, a keys.Act) (*minted, error) {
	if err := s.client(client, a); err != nil {
		return nil, err
	}
	known, err := s.delegateRow(delegate, a)
	if err != nil {
		return nil, err
	}
	if err := s.state.DelegateOpen(delegate); err != nil {
		return nil, err
	}
	m, err := s.verifiedMint(a.Delegate, a.Request, known.DomainHash)
	if err != nil {
		return nil, err
	}
	q := m.verified.Request()
	switch {
	case m.verified.Delegate().Hash() != delegate:
		return nil, refuse("wrong_delegate", "the delegate is another one than the entry names")
	case q.Hash() != mint || envelope.HashText(q.Fields().Nonce) != nonce:
		return nil, refuse("wrong_request", "the request is another one than the entry names")
	case strings.ToLower(q.BotAddress()) != bot:
		return nil, refuse(keys.CodeBotOther, "the request is another bot's than the entry names")
	}
	if err := s.checkBot(client, bot, a.Bot); err != nil {
		return nil, err
	}
	if m.envelope.Hash() != envelopeHash {
		return nil, refuse("wrong_envelope", "the entry names another action envelope than the request's")
	}
	return m, nil
}

func (s *Signer) guardMinted(b journal.CapabilityMinted, a keys.Act) (passed, error) {
	m, err := s.asksFor(b.Client, b.Bot, b.Delegate, b.Nonce, b.Mint, b.EnvelopeHash, a)
	if err != nil {
		return passed{}, err
	}
	return passed{}, s.notOver(m)
}

// notOver refuses for a capability whose own window has ended by either clock.
func (s *Signer) notOver(m *minted) error {
	w := m.verified.Request().Fields().Window
	if _, late := s.clock.read(); w.NotAfter.Set && late > w.NotAfter.N {
		return refuse(keys.CodeMintExpired, "the minted capability's window is over")
	}
	return nil
}

func (s *Signer) guardMintedSigned(b journal.MintedSigned, a keys.Act) (passed, error) {
	m, err := s.asksFor(b.Client, b.Bot, b.Delegate, b.Nonce, b.Mint, b.EnvelopeHash, a)
	if err != nil {
		return passed{}, err
	}
	f := m.verified.Request().Fields()
	if early, _ := s.clock.read(); f.Window.NotBefore.Set && early < f.Window.NotBefore.N {
		return passed{}, refuse(keys.CodeMintNotYet, "the minted capability's window has not begun")
	}
	if err := s.notOver(m); err != nil {
		return passed{}, err
	}
	if b.Use > uint64(f.MaxUses) {
		return passed{}, refuse(keys.CodeMintUsesSpent, "the minted key's uses are spent")
	}
	payload, err := signable(a.Payload)
	if err != nil {
		return passed{}, err
	}
	if len(payload.Contradictions(m.envelope)) > 0 {
		return passed{}, refuse("contradiction", "the payload contradicts the minted envelope")
	}
	digest := payload.Digest()
	if b.Digest != "0x"+hex.EncodeToString(digest[:]) {
		return passed{}, refuse("wrong_digest", "the entry names another digest than the payload's")
	}
	return passed{derive: func(out *keys.Answer) error {
		return s.withMinted(m, func(seed *derive.Secret) error {
			if m.known.address != b.Address {
				return refuse("wrong_address", "the entry names another address than the one that signs")
			}
			signature, err := derive.SignDigest(seed[:], digest)
			out.Signature, out.Address, out.Attestation = signature, m.known.address, m.known.attestation
			return err
		})
	}}, nil
}

// withMinted derives a minted key, notes what is public of it, and calls f with its seed, which is wiped afterwards.
func (s *Signer) withMinted(m *minted, f func(seed *derive.Secret) error) error {
	return s.vault.WithRoot(func(root []byte) error {
		var material, seed derive.Secret
		defer material.Clear()
		defer seed.Clear()
		if err := derive.MintMaterial(&material, root, m.envelope.DomainHash()); err != nil {
			return err
		}
		if err := derive.RemoteMintSeed(&seed, material[:], m.verified); err != nil {
			return err
		}
		if m.known.address == "" {
			var domain derive.Secret
			defer domain.Clear()
			if err := derive.DomainSeed(&domain, root, m.domain.Info()); err != nil {
				return err
			}
			known, err := attest(m.envelope, m.domain, &domain, &seed)
			if err != nil {
				return err
			}
			m.known = known
		}
		return f(&seed)
	})
}

// Minted implements [keys.Handler].
func (s *Signer) Minted(_ context.Context, ask keys.MintAsk) (keys.MintAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return keys.MintAnswer{}, err
	}
	if max(len(ask.Delegate), len(ask.Request)) > maxDocument {
		return keys.MintAnswer{}, refuse(codeMalformed, "a document is too long")
	}
	q, err := envelope.ParseMintRequest(ask.Request)
	if err != nil {
		return keys.MintAnswer{}, refuse(codeMalformed, "this is no mint request")
	}
	known, ok := s.state.Delegate(q.DelegateHash())
	spent, minted := s.state.Mint(q.DelegateHash(), envelope.HashText(q.Fields().Nonce))
	if !ok || !minted || spent.Mint != q.Hash() {
		return keys.MintAnswer{}, refuse(journal.CodeUnknownMint, "nothing was minted with that request")
	}
	if err := s.state.DelegateOpen(known.Hash); err != nil {
		return keys.MintAnswer{}, s.fault(err)
	}
	m, err := s.verifiedMint(ask.Delegate, ask.Request, known.DomainHash)
	if err != nil {
		return keys.MintAnswer{}, err
	}
	if m.known.address == "" {
		defer s.collectSoon()
		if err := s.withMinted(m, func(*derive.Secret) error { return nil }); err != nil {
			return keys.MintAnswer{}, s.fault(err)
		}
	}
	return keys.MintAnswer{Address: m.known.address, Attestation: m.known.attestation}, nil
}

// botNonce is a nonce that only this opening of the vault can have made for that client: 16 bytes of randomness and
// a MAC of them, so that none has to be remembered.
func (s *Signer) botNonce(client string, fresh []byte) []byte {
	h := hmac.New(sha256.New, s.botKey[:])
	h.Write([]byte(client + "\n"))
	h.Write(fresh)
	return append(bytes.Clone(fresh), h.Sum(nil)[:16]...)
}

// BotNonce implements [keys.Handler].
func (s *Signer) BotNonce(_ context.Context, client string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return "", err
	}
	fresh := make([]byte, 16)
	if _, err := io.ReadFull(s.cfg.Custody.Rand, fresh); err != nil {
		return "", s.fault(err)
	}
	return "0x" + hex.EncodeToString(s.botNonce(client, fresh)), nil
}

// checkBot checks that a bot has proven its address to this opening of the vault, for that client.
func (s *Signer) checkBot(client, bot string, p *keys.BotProof) error {
	if p == nil || p.Address != bot {
		return refuse(keys.CodeBotNotProven, "the bot's address was not proven")
	}
	key := sha256.Sum256([]byte(client + "\n" + p.Address + "\n" + p.Nonce + "\n" + p.Signature))
	if _, ok := s.bots[key]; ok {
		return nil
	}
	nonce, err := hex.DecodeString(strings.TrimPrefix(p.Nonce, "0x"))
	if err != nil || len(nonce) != 32 || !hmac.Equal(nonce, s.botNonce(client, nonce[:16])) {
		return refuse(keys.CodeBotNotProven, "the nonce is none that was given to this client since the vault was opened")
	}
	if err := (envelope.BotChallenge{Client: client, Nonce: p.Nonce, Vault: s.pub.Vault}).Verify(bot, p.Signature); err != nil {
		return refuse(keys.CodeBotNotProven, "the proof is not by that address")
	}
	if len(s.bots) >= maxBots {
		clear(s.bots)
	}
	s.bots[key] = struct{}{}
	return nil
}

// MaterialType is the type member of mint material as it is let out.
const MaterialType = "vault.mintMaterial"

// guardExported lets the mint material of a domain out, sealed to the recipient that was confirmed.
func (s *Signer) guardExported(e journal.Entry, b journal.MintExported) (passed, error) {
	domain, err := s.domainNamed(b.DomainHash)
	if err != nil {
		return passed{}, err
	}
	to, err := age.ParseX25519Recipient(b.Recipient)
	if err != nil || to.String() != b.Recipient {
		return passed{}, refuse(keys.CodeRecipient, "the recipient is not one age X25519 recipient")
	}
	return passed{anchor: true, change: func(v *sealed) {
		v.policy.exported(b.DomainHash)
	}, derive: func(out *keys.Answer) error {
		var sealed bytes.Buffer
		err := s.vault.WithRoot(func(root []byte) error {
			var material derive.Secret
			defer material.Clear()
			if err := derive.MintMaterial(&material, root, b.DomainHash); err != nil {
				return err
			}
			public, err := jcs.Marshal(struct {
				Domain     json.RawMessage `json:"domain"`
				ExportedAt int64           `json:"exported_at"`
				Recipient  string          `json:"recipient"`
				Type       string          `json:"type"`
				V          int             `json:"v"`
			}{json.RawMessage(domain.Canonical()), e.At, b.Recipient, MaterialType, 1}, jcs.Binding)
			if err != nil {
				return err
			}
			// The secret is written by hand, so that no encoder keeps a copy.
			text := make([]byte, 0, len(public)+96)
			defer func() { clear(text[:cap(text)]) }()
			text = append(text, public[:len(public)-1]...)
			text = append(text, `,"mint_material":"0x`...)
			text = hex.AppendEncode(text, material[:])
			text = append(text, "\"}\n"...)
			w, err := age.Encrypt(&sealed, to)
			if err != nil {
				return err
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
			return w.Close()
		})
		out.Sealed = sealed.Bytes()
		return err
	}}, nil
}

// exported notes that mint material of a domain was let out.
func (p *policy) exported(domainHash string) {
	if !slices.Contains(p.Exported, domainHash) {
		p.Exported = append(p.Exported, domainHash)
	}
}

// mintSays are the lines of a ceremony about mint delegation. The guard has passed.
func (s *Signer) mintSays(e journal.Entry, a keys.Act) ([]string, error) {
	delegate := func(domainHash string, first ...string) ([]string, error) {
		domain, err := s.domainNamed(domainHash)
		if err != nil {
			return nil, err
		}
		d, err := envelope.ParseMintDelegate(a.Delegate)
		if err != nil {
			return nil, refuse(codeMalformed, "this is no delegate")
		}
		return append(first, permit.DelegateSays(d, domain.Info().DomainID(), quoted)...), nil
	}
	ofRow := func(digest string) (out []string) {
		p, err := row(a, digest)
		if err != nil {
			return nil // the guard has found it
		}
		d, err := permit.ParseDelegate(p.Body)
		if err == nil && d.Name != "" {
			out = append(out, "Your name for the bot: "+quoted(d.Name))
		}
		if err == nil && d.WhileAway {
			out = append(out, whileAway)
		}
		return out
	}
	switch b := e.Decoded().(type) {
	case journal.DelegateIssued:
		out, err := delegate(b.DomainHash, "Let bots have capabilities minted, without asking you each time.")
		return append(out, ofRow(b.PermitSHA256)...), err
	case journal.DelegateAdmitted:
		out, err := delegate(b.DomainHash, "Admit a delegate of which is not known here what was minted under it before.",
			"Here, capabilities to be minted at most: "+strconv.FormatInt(b.Mints, 10))
		return append(out, ofRow(b.PermitSHA256)...), err
	case journal.DelegateResumed:
		known, _ := s.state.Delegate(b.Delegate)
		return delegate(known.DomainHash, "Resume a paused delegate.")
	case journal.MintExported:
		domain, err := s.domainNamed(b.DomainHash)
		if err != nil {
			return nil, err
		}
		return []string{
			"Let the mint material of a whole domain out of this vault.",
			"Domain: " + quoted(domain.Info().DomainID()) + " (" + domain.Address() + ")",
			"Whoever holds it can derive every minted key of this domain, also those never issued.",
			"The bounds of this domain’s delegates are then no longer held by this vault.",
			"Sealed to: " + quoted(b.Recipient),
		}, nil
	}
	return nil, refuse("unknown_act", "the key process has no words for this kind of act")
}

// dropMints forgets what is remembered of mint delegation, and makes the key of a new opening's nonces.
func (s *Signer) dropMints() error {
	s.minted, s.bots, s.delegates = map[[32]byte]*minted{}, map[[32]byte]struct{}{}, map[[32]byte]*envelope.PinnedDelegate{}
	_, err := io.ReadFull(s.cfg.Custody.Rand, s.botKey[:])
	return err
}
