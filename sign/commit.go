package sign

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/sow"
	"vault/custody"
	"vault/derive"
	"vault/derive/envelope"
)

// Commit implements [keys.Handler]. Each act is judged, signed and taken into the
// state before the next is looked at; the first that is refused ends the batch.
func (s *Signer) Commit(_ context.Context, acts []keys.Act) ([]keys.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return nil, err
	}
	if len(acts) > maxActs {
		return nil, refuse(codeMalformed, "too many acts in one batch")
	}
	s.confirm()
	s.anchorSoon()
	defer s.collectSoon()
	answers := make([]keys.Answer, len(acts))
	heads := make([]journal.Head, 0, len(acts))
	for i, a := range acts {
		head, err := s.commit(a, &answers[i])
		if err == nil {
			heads = append(heads, head)
			continue
		}
		var e *keys.Error
		errors.As(s.fault(err), &e)
		answers[i] = keys.Answer{Err: e}
		for j := i + 1; j < len(acts); j++ {
			answers[j].Err = refuse("not_tried", "an act before it was refused")
		}
		break
	}
	s.signHeads(heads, answers)
	return answers, nil
}

// ready says why no act is taken. The caller holds s.mu.
func (s *Signer) ready() error {
	switch s.phase {
	case phaseOpen:
		return nil
	case phaseReadOnly:
		return s.doubt
	case phaseLoading:
		return refuse(codeNotLoaded, "no log has been loaded")
	}
	return refuse(keys.CodeEnded, "the vault is locked")
}

// commit judges one act and, where its guard lets it pass, signs what it asks
// for and gives the head over its entry, to be signed. Nothing is changed where it
// returns an error.
func (s *Signer) commit(a keys.Act, out *keys.Answer) (journal.Head, error) {
	var none journal.Head
	if max(len(a.Envelope), len(a.Payload), len(a.Moment), len(a.Behind), len(a.Delegate), len(a.Request), longest(a.SoW)) > maxDocument {
		return none, refuse(codeMalformed, "a document is too long")
	}
	if a.Confirmation == "" {
		return s.judge(a, nil, out)
	}
	c, err := s.take(a.Confirmation)
	if err != nil {
		return none, err
	}
	head, err := s.judge(a, c, out)
	if err != nil {
		_, detail := s.reasonOf(err)
		c.page.Finish(false, detail)
		return none, err
	}
	c.page.Finish(true, "")
	return head, nil
}

// judge is commit with the ceremony that was used up for it, or nil.
func (s *Signer) judge(a keys.Act, c *ceremony, out *keys.Answer) (journal.Head, error) {
	var none journal.Head
	e, err := journal.Parse(a.Entry)
	if err != nil {
		return none, refuse(codeMalformed, "the entry is not one of a log")
	}
	if err := s.checkTime(e); err != nil {
		return none, err
	}
	if err := s.state.Check(e); err != nil {
		return none, err
	}
	p, err := s.guard(e, a)
	if err != nil {
		return none, err
	}
	if err := s.perform(e, c, &p, out); err != nil {
		return none, err
	}
	if p.sign != nil {
		if err := s.signAction(p.sign, out); err != nil {
			return none, err
		}
	}
	if p.derive != nil {
		if err := p.derive(out); err != nil {
			return none, err
		}
	}
	if p.seal != nil {
		sig, err := s.signSeat(p.seal.seat, p.seal.message)
		if err != nil {
			return none, err
		}
		out.SoWSignature = sow.SignatureText(sig)
	}
	for _, body := range p.mac {
		out.MACs = append(out.MACs, s.mac(body))
	}
	if p.domain != nil {
		out.Projection = p.domain.Canonical()
	}
	head := journal.Head{
		Type: journal.HeadType, V: 1, Vault: s.pub.Vault, Instance: s.pub.Instance,
		Seq: e.Seq, Hash: e.Hash(), At: s.cfg.Clock.Now(), Key: s.pub.LogKey,
	}
	if err := s.state.Apply(e); err != nil {
		return none, err
	}
	if p.domain != nil {
		s.domains[p.domain.Info().Hash()] = p.domain
	}
	if p.anchor {
		s.anchorDue = e.Seq
	}
	if p.done != nil {
		p.done()
	}
	return head, nil
}

// perform verifies the confirmation of an act that has one, writes down that it was used, and changes what is
// sealed. What comes after it in judge fails only where this process does.
func (s *Signer) perform(e journal.Entry, c *ceremony, p *passed, out *keys.Answer) error {
	record := e.Record()
	switch {
	case record == "" && c != nil:
		return refuse(keys.CodeOtherAct, "the entry names no confirmation")
	case record == "" && p.change == nil:
		return nil
	case record != "" && c == nil:
		return errNotConfirmed
	}
	change := func(v *sealed) {}
	if record != "" {
		want, _ := e.Confirmation()
		accepted, key, err := s.confirmed(e, want, c)
		if err != nil {
			return err
		}
		if p.card {
			if c.card == nil {
				return errNotConfirmed
			}
			signed, err := s.signCard(c.card)
			if err != nil {
				return err
			}
			out.Card = signed.Canonical()
		}
		if out.Evidence, err = s.evidence(e, accepted.Record, key); err != nil {
			return err
		}
		change = func(v *sealed) {
			for i := range v.passkeys {
				if v.passkeys[i].key.Equal(key) {
					v.passkeys[i].Counter, v.passkeys[i].LastUse = accepted.Data.SignCount, e.At
				}
			}
		}
		p.anchor = true
	}
	ctx, cancel := context.WithTimeout(context.Background(), sealPatience)
	defer cancel()
	err := writeSealed(ctx, s.vault, func(v *sealed) {
		if p.change != nil {
			p.change(v)
		}
		change(v)
	})
	s.refresh()
	return err
}

// passed is what a guard lets happen.
type passed struct {
	sign   *action
	seal   *seatSignature           // by an owner seat
	mac    [][]byte                 // rows that get a MAC
	domain *envelope.Projection     // a domain that is opened
	anchor bool                     // remembered outside the store at once
	change func(*sealed)            // of what is sealed beside the root
	done   func()                   // once the entry was taken
	card   bool                     // the owner card of the ceremony is signed
	derive func(*keys.Answer) error // derives, and signs or seals, what the act asks for
}

// checkTime compares the entry's time with this process's own clocks.
func (s *Signer) checkTime(e journal.Entry) error {
	now := s.cfg.Clock.Now()
	if e.At < now-entryPast || e.At > now+entryFuture {
		return refuse("clock", "the entry's time is not the key process's time")
	}
	return nil
}

// mac is the MAC of a permit's canonical bytes, 0x and 64 hex digits.
func (s *Signer) mac(body []byte) (text string) {
	custody.Do(func() { text = "0x" + hex.EncodeToString(permitMAC(s.storeKey(), body)) })
	return text
}

// macPrefix keeps the store key's MACs apart from whatever it may be used for later.
const macPrefix = "agent-vault-permit-v1\n"

func permitMAC(key, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(macPrefix))
	h.Write(body)
	return h.Sum(nil)
}

// macRight says whether a permit carries the MAC that was made for it, and under which
// key of s.permits it is remembered then.
func (s *Signer) macRight(p keys.Permit) (key [32]byte, right bool) {
	mac, err := hex.DecodeString(p.MAC[min(2, len(p.MAC)):])
	if err != nil || len(p.MAC) != 66 {
		return key, false
	}
	key = sha256.Sum256(append(mac, p.Body...))
	if _, ok := s.permits[key]; ok {
		return key, true
	}
	custody.Do(func() { right = hmac.Equal(mac, permitMAC(s.storeKey(), p.Body)) })
	if right {
		if len(s.permits) >= maxPermits {
			clear(s.permits)
		}
		s.permits[key] = nil
	}
	return key, right
}

// signHeads signs the heads over entries that were taken; they are those of the first
// answers. One copy of the key serves them all.
func (s *Signer) signHeads(heads []journal.Head, answers []keys.Answer) {
	messages := make([][]byte, len(heads))
	for i, h := range heads {
		messages[i] = h.SigningBytes()
	}
	sigs := s.signLog(messages...)
	for i, h := range heads {
		h.Sig = base64text(sigs[i][:])
		answers[i].Head = h.Canonical()
	}
}

// signLog signs with the log key.
func (s *Signer) signLog(messages ...[]byte) [][ed25519.SignatureSize]byte {
	sigs := make([][ed25519.SignatureSize]byte, len(messages))
	custody.Do(func() {
		// On the heap, where the library may point to it; erased with it.
		key := append([]byte(nil), s.logKey()...)
		for i, m := range messages {
			copy(sigs[i][:], ed25519.Sign(key, m))
		}
		clear(key)
	})
	return sigs
}

// action is a signature that its guard has let pass.
type action struct {
	envelope *envelope.ActionEnvelope
	domain   *envelope.Projection
	digest   [32]byte
	address  string // which the entry names
}

// signAction derives the envelope's key and signs.
func (s *Signer) signAction(a *action, out *keys.Answer) error {
	var signature string
	known, ok := s.addresses[a.envelope.Hash()]
	err := s.vault.WithRoot(func(root []byte) error {
		var domain, seed derive.Secret
		defer domain.Clear()
		defer seed.Clear()
		if err := a.envelope.MatchDomain(a.domain.Info()); err != nil {
			return refuse(codeMalformed, "the envelope is of another domain")
		}
		if err := derive.DomainSeed(&domain, root, a.domain.Info()); err != nil {
			return err
		}
		if err := derive.ActionSeed(&seed, domain[:], a.envelope); err != nil {
			return err
		}
		if !ok {
			var err error
			if known, err = attest(a.envelope, a.domain, &domain, &seed); err != nil {
				return err
			}
		}
		if known.address != a.address {
			return refuse("wrong_address", "the entry names another address than the one that signs")
		}
		var err error
		signature, err = derive.SignDigest(seed[:], a.digest)
		return err
	})
	if err != nil {
		return err
	}
	s.remember(a.envelope.Hash(), known)
	out.Signature, out.Address, out.Attestation = signature, known.address, known.attestation
	return nil
}

// attest gives the address of a capability, and the receipt in which its
// domain's key says so. The caller is inside [custody.Do].
func attest(e *envelope.ActionEnvelope, d *envelope.Projection, domain, seed *derive.Secret) (signer, error) {
	address, err := derive.Address(seed[:])
	if err != nil {
		return signer{}, err
	}
	says := envelope.AddressAttestation{DomainHash: e.DomainHash(), ActionEnvelopeHash: e.Hash(), AgentAddress: address}
	digest, err := says.Digest()
	if err != nil {
		return signer{}, err
	}
	signature, err := derive.SignDigest(domain[:], digest)
	if err != nil {
		return signer{}, err
	}
	receipt, err := says.Signed(d.Address(), signature)
	return signer{address, receipt}, err
}

// remember keeps what is public of an envelope, within bounds.
func (s *Signer) remember(hash string, k signer) {
	if _, ok := s.addresses[hash]; ok {
		return
	}
	if len(s.addresses) >= maxAddresses {
		clear(s.addresses)
	}
	s.addresses[hash] = k
}

// Address implements [keys.Handler].
func (s *Signer) Address(_ context.Context, raw []byte) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return "", err
	}
	if len(raw) > maxDocument {
		return "", refuse(codeMalformed, "the envelope is too long")
	}
	e, err := s.readEnvelope(raw)
	if err != nil {
		return "", refuse(codeMalformed, "the envelope is not an action envelope")
	}
	d, err := s.domainNamed(e.DomainHash())
	if err != nil {
		return "", err
	}
	if k, ok := s.addresses[e.Hash()]; ok {
		return k.address, nil
	}
	defer s.collectSoon()
	var known signer
	err = s.vault.WithRoot(func(root []byte) error {
		var domain, seed derive.Secret
		defer domain.Clear()
		defer seed.Clear()
		if err := e.MatchDomain(d.Info()); err != nil {
			return refuse(codeMalformed, "the envelope is of another domain")
		}
		if err := derive.DomainSeed(&domain, root, d.Info()); err != nil {
			return err
		}
		if err := derive.ActionSeed(&seed, domain[:], e); err != nil {
			return err
		}
		var err error
		known, err = attest(e, d, &domain, &seed)
		return err
	})
	if err != nil {
		return "", s.fault(err)
	}
	s.remember(e.Hash(), known)
	return known.address, nil
}

// Plan implements [keys.Handler].
func (s *Signer) Plan(_ context.Context, domainInfo []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return nil, err
	}
	if len(domainInfo) > maxDocument {
		return nil, refuse(codeMalformed, "the domain is too long")
	}
	info, err := envelope.ParseDomainInfo(domainInfo)
	if err != nil {
		return nil, refuse(codeMalformed, "this is no domain info")
	}
	if _, ok := s.state.Domain(info.Hash()); ok {
		return nil, refuse(journal.CodeTwice, "the domain is open already")
	}
	at, err := envelope.FormatTime(s.cfg.Clock.Now())
	if err != nil {
		return nil, s.fault(err)
	}
	p, err := s.project(info, at)
	if err != nil {
		return nil, s.fault(err)
	}
	return p.Canonical(), nil
}

func (s *Signer) project(info *envelope.DomainInfo, createdAt string) (p *envelope.Projection, err error) {
	defer s.collectSoon()
	err = s.vault.WithRoot(func(root []byte) error {
		p, err = derive.Project(root, info, createdAt)
		return err
	})
	return p, err
}
