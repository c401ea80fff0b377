package sign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/derive/confirm"
	"vault/derive/envelope"
)

// projectionAge bounds how long before its entry a domain's projection was planned.
const projectionAge = 10 * 60_000

// guard is the fixed guard of each kind of act (docs/guards.md). That the entry
// follows from the log was checked before; here is what the log cannot show.
// A kind without a case is refused.
func (s *Signer) guard(e journal.Entry, a keys.Act) (passed, error) {
	switch b := e.Decoded().(type) {
	case journal.Created:
		return s.guardStart(e, "", b.Vault, b.OwnerKey, b.LogKey, b.Demo)
	case journal.InstanceStarted:
		return s.guardStart(e, b.Reason, b.Vault, b.OwnerKey, b.LogKey, s.pub.Demo)
	case journal.Unlocked:
		if b.Protection != string(s.pub.Protection) {
			return passed{}, refuse(codeNotDone, "the vault is opened by something else")
		}
		return passed{}, nil
	case journal.WordsShown:
		if !s.vault.State().WordsShown {
			return passed{}, refuse(codeNotDone, "the recovery words were not shown")
		}
		return passed{anchor: true}, nil
	case journal.ProtectionChanged:
		if b.To != string(s.vault.State().Protection) {
			return passed{}, refuse(codeNotDone, "the protection was not changed")
		}
		return passed{anchor: true}, nil
	case journal.SettingChanged:
		// The settings of the desk permit nothing here; rules have an act of their own.
		if strings.HasPrefix(b.Name, "policy") {
			return passed{}, refuse("unknown_act", "rules are changed by policy.changed")
		}
		return passed{}, nil
	case journal.DomainCreated:
		return s.guardDomain(e, b, a)
	case journal.ClientPaired:
		return s.guardPaired(e, b, a)
	case journal.GrantMade:
		return s.guardGrant(e, b, a)
	case journal.ActionSigned:
		return s.guardAction(e, b, a)
	case journal.MomentResolved:
		return passed{}, s.guardResolved(b, a)
	case journal.PasskeyAdded:
		return s.guardPasskeyAdded(b, e.At)
	case journal.PasskeyRemoved:
		return s.guardPasskeyRemoved(b, e.At)
	case journal.PolicyChanged:
		p, err := s.guardPolicy(b)
		p.anchor = true
		return p, err
	case journal.ActConfirmed:
		c, _ := e.Confirmation()
		return s.guardActConfirmed(b, c, e.At)
	case journal.SocketAdded:
		return passed{}, s.guardSocketAdded(b)
	case journal.Readmitted:
		return passed{}, s.guardReadmitted(b, a)
	case journal.DelegateIssued:
		return s.guardIssued(e, b, a)
	case journal.DelegateAdmitted:
		return s.guardAdmitted(e, b, a)
	case journal.DelegateResumed:
		return s.guardResumed(b, a)
	case journal.CapabilityMinted:
		return s.guardMinted(b, a)
	case journal.MintedSigned:
		return s.guardMintedSigned(b, a)
	case journal.MintExported:
		return s.guardExported(e, b)
	case journal.ClientEnded, journal.GrantEnded, journal.SocketRemoved, journal.DelegatePaused, journal.DelegateEnded:
		return passed{anchor: true}, nil
	case journal.SeatOpened:
		return s.guardSeat(b)
	case journal.SoWPinned:
		return s.guardPinned(e, b, a)
	case journal.SoWPreauthorised:
		return s.guardPreauthorise(e, b, a)
	case journal.SoWSigned:
		return s.guardSoW(e, b, a)
	case journal.SoWActSigned:
		return s.guardSoWAct(e, b, a)
	case journal.SoWKeyBlocked, journal.SoWPreauthorisationEnded:
		return passed{anchor: true}, nil // takings, and an unblocking, which permits nothing that was not permitted
	case journal.SoWIntent, journal.SoWNoted:
		return passed{}, nil
	case journal.Snapshot:
		s.swollen = true
		return passed{}, nil
	case journal.RequestAnswered:
		return passed{}, s.guardAnswered(b, a)
	case journal.MomentDeclined:
		return passed{}, s.guardDeclined(b, a)
	case journal.Locked, journal.RequestSeen,
		journal.MomentSeen, journal.MomentEnded, journal.MomentNoted, journal.MomentMissed,
		journal.DelegateImported:
		return passed{}, nil
	}
	return passed{}, refuse("unknown_act", "the key process has no guard for this kind of act")
}

// guardStart lets a log begin as the sealed state says that it does.
func (s *Signer) guardStart(e journal.Entry, reason, vault, owner, log string, demo bool) (passed, error) {
	if reason != s.pub.StartReason || e.Instance != s.pub.Instance || vault != s.pub.Vault ||
		owner != s.pub.OwnerKey || log != s.pub.LogKey || demo != s.pub.Demo {
		return passed{}, refuse("not_this_vault", "the entry begins the log of another vault, instance or key")
	}
	return passed{anchor: true}, nil
}

// row returns the permit with that digest, which the entry or the log names.
func row(a keys.Act, digest string) (keys.Permit, error) {
	for _, p := range a.Permits {
		if permit.SHA256(p.Body) == digest {
			return p, nil
		}
	}
	return keys.Permit{}, refuse(codeBadPermit, "a row that the act needs is missing, or is another one than the log shows")
}

// believed returns the permit with that digest, whose MAC must be right, as it is
// read by parse: once for each row.
func believed[T any](s *Signer, a keys.Act, digest string, parse func([]byte) (T, error)) (T, error) {
	var none T
	p, err := row(a, digest)
	if err != nil {
		return none, err
	}
	key, right := s.macRight(p)
	if !right {
		return none, refuse(codeBadPermit, "a row has no MAC of this vault")
	}
	if known, ok := s.permits[key].(T); ok {
		return known, nil
	}
	read, err := parse(p.Body)
	if err != nil {
		return none, errPermitForm
	}
	s.permits[key] = read
	return read, nil
}

var errPermitForm = refuse(codeBadPermit, "a row is not well formed, or says something else than the entry")

func (s *Signer) guardDomain(e journal.Entry, b journal.DomainCreated, a keys.Act) (passed, error) {
	p, err := row(a, b.PermitSHA256)
	if err != nil {
		return passed{}, err
	}
	d, err := permit.ParseDomain(p.Body)
	if err != nil || d.Hash != b.DomainHash || d.CreatedAt != e.At {
		return passed{}, errPermitForm
	}
	told, err := envelope.ParseProjection(d.Projection)
	if err != nil || told.Info().Hash() != b.DomainHash || told.Info().DomainID() != b.DomainID || told.Address() != b.DomainAddress {
		return passed{}, errPermitForm
	}
	at, err := envelope.ParseTime(told.CreatedAt())
	if err != nil || at > e.At+entryFuture || at < e.At-projectionAge {
		return passed{}, errPermitForm
	}
	own, err := s.project(told.Info(), told.CreatedAt())
	if err != nil {
		return passed{}, err
	}
	if !bytes.Equal(own.Canonical(), d.Projection) {
		return passed{}, refuse(codeBadPermit, "the projection is not the one that this vault derives")
	}
	return passed{mac: [][]byte{p.Body}, domain: own}, nil
}

func (s *Signer) guardPaired(e journal.Entry, b journal.ClientPaired, a keys.Act) (passed, error) {
	p, err := row(a, b.PermitSHA256)
	if err != nil {
		return passed{}, err
	}
	c, err := permit.ParseClient(p.Body)
	if err != nil || c.ID != b.Client || c.Name != b.Name {
		return passed{}, errPermitForm
	}
	if b.Replaces == "" {
		if err := s.always(b.By); err != nil {
			return passed{}, err
		}
		if !madeAt(c.PairedAt, e, b.By) {
			return passed{}, errPermitForm
		}
		return passed{mac: [][]byte{p.Body}}, nil
	}
	if b.By != "click" {
		return passed{}, errPermitForm
	}
	// A rename changes the name and nothing else.
	old, err := believed(s, a, b.Replaces, permit.ParseClient)
	if err != nil {
		return passed{}, err
	}
	old.Name = c.Name
	if old != c {
		return passed{}, errPermitForm
	}
	return passed{mac: [][]byte{p.Body}}, nil
}

// madeAt says whether a row was made when its entry says: with it, or before its ceremony.
func madeAt(at int64, e journal.Entry, by string) bool {
	if by == "passkey" {
		return at <= e.At && at > e.At-confirm.MaxLifetime-entryPast
	}
	return at == e.At
}

// client checks the row of a client that the log shows and has not ended.
func (s *Signer) client(id string, a keys.Act) error {
	known, ok := s.state.Client(id)
	if !ok {
		return refuse(journal.CodeUnknownClient, "the log shows no such client")
	}
	c, err := believed(s, a, known.PermitSHA256, permit.ParseClient)
	if err != nil {
		return err
	}
	if c.ID != id {
		return errPermitForm
	}
	return nil
}

func (s *Signer) guardGrant(e journal.Entry, b journal.GrantMade, a keys.Act) (passed, error) {
	if err := s.always(b.By); err != nil {
		return passed{}, err
	}
	if err := s.client(b.Client, a); err != nil {
		return passed{}, err
	}
	p, err := row(a, b.PermitSHA256)
	if err != nil {
		return passed{}, err
	}
	g, err := permit.ParseGrant(p.Body)
	if err != nil || g.ID != b.Grant || g.Client != b.Client || g.EnvelopeHash != b.EnvelopeHash || g.Uses != b.Uses ||
		g.NotAfter != b.NotAfter || g.By != b.By || !madeAt(g.MadeAt, e, b.By) {
		return passed{}, errPermitForm
	}
	env, _, err := s.envelope(a.Envelope, b.EnvelopeHash, g.DomainHash)
	if err != nil {
		return passed{}, err
	}
	// Never more than the envelope's own.
	f := env.Fields()
	used := s.state.Uses(b.EnvelopeHash)
	uses, stated := s.usesOf(env)
	if stated && b.Uses > uses-int64(used) ||
		f.Window.NotAfter.Set && b.NotAfter > f.Window.NotAfter.N {
		return passed{}, refuse(journal.CodeGrantLimits, "the grant asks for more uses or time than its envelope gives")
	}
	return passed{mac: [][]byte{p.Body}}, nil
}

// envelope reads an action envelope that must have the hash and the domain
// named, be open by its window now, and not be suspended. A number of uses that
// it states binds under every decay mode.
func (s *Signer) envelope(raw []byte, hash, domainHash string) (*envelope.ActionEnvelope, *envelope.Projection, error) {
	env, domain, err := s.openEnvelope(raw, hash)
	if err != nil {
		return nil, nil, err
	}
	if env.DomainHash() != domainHash {
		return nil, nil, refuse("wrong_domain", "the envelope is of another domain than the entry or grant names")
	}
	if uses, stated := s.usesOf(env); stated && uses < 1 && s.suspends(env) {
		return nil, nil, refuse(codeSuspended, "uses of this envelope before this instance began are not known")
	}
	return env, domain, nil
}

// openEnvelope reads an action envelope that must have the hash named, be of a domain that is open, and be open by its
// window now.
func (s *Signer) openEnvelope(raw []byte, hash string) (*envelope.ActionEnvelope, *envelope.Projection, error) {
	env, err := s.readEnvelope(raw)
	if err != nil {
		return nil, nil, refuse(codeMalformed, "the envelope is not an action envelope")
	}
	if env.Hash() != hash {
		return nil, nil, refuse("wrong_envelope", "the envelope is another one than the entry names")
	}
	domain, err := s.domainNamed(env.DomainHash())
	if err != nil {
		return nil, nil, err
	}
	early, late := s.clock.read()
	if env.Admits(early) != nil || env.Admits(late) != nil {
		return nil, nil, refuse("window_closed", "the envelope's time window is not open")
	}
	return env, domain, nil
}

// readEnvelope parses an action envelope, once for the same bytes.
func (s *Signer) readEnvelope(raw []byte) (*envelope.ActionEnvelope, error) {
	if len(raw) > maxKeptEnvelope {
		return envelope.ParseActionEnvelope(raw)
	}
	key := sha256.Sum256(raw)
	if e, ok := s.envelopes[key]; ok {
		return e, nil
	}
	e, err := envelope.ParseActionEnvelope(raw)
	if err != nil {
		return nil, err
	}
	if len(s.envelopes) >= maxEnvelopes {
		clear(s.envelopes)
	}
	s.envelopes[key] = e
	return e, nil
}

func (s *Signer) guardAction(e journal.Entry, b journal.ActionSigned, a keys.Act) (passed, error) {
	if err := s.client(b.Client, a); err != nil {
		return passed{}, err
	}
	env, domain, err := s.envelope(a.Envelope, b.EnvelopeHash, b.DomainHash)
	if err != nil {
		return passed{}, err
	}
	if uses, stated := s.usesOf(env); stated && (uses < 0 || b.Use > uint64(uses)) {
		return passed{}, refuse("uses_spent", "the envelope's uses are spent")
	}
	payload, err := signable(a.Payload)
	if err != nil {
		return passed{}, err
	}
	digest := payload.Digest()
	if b.Digest != "0x"+hex.EncodeToString(digest[:]) {
		return passed{}, refuse("wrong_digest", "the entry names another digest than the payload's")
	}
	if b.Moment != "" {
		if err := s.guardSelected(b, a); err != nil {
			return passed{}, err
		}
	}
	by := b.By
	if b.Grant != "" {
		g, err := s.guardGranted(b, a, env, payload)
		if err != nil {
			return passed{}, err
		}
		by = g.By
	}
	// What a resolution was confirmed for is confirmed: it was asked for the action too, where that was shown.
	if m, ok := s.state.Moment(b.Moment); !ok || m.By != "passkey" || b.By == "passkey" {
		if by == "passkey" && b.Grant != "" {
			// The grant was confirmed when it was made.
			return passed{sign: &action{env, domain, digest, b.Address}}, nil
		}
		if err := s.byPolicy(by, facts.Signature(b.Client, env, payload.Value())...); err != nil {
			return passed{}, err
		}
	}
	return passed{sign: &action{env, domain, digest, b.Address}}, nil
}

// signable reads a payload that may be signed as an action.
func signable(raw []byte) (*envelope.Payload, error) {
	payload, err := envelope.ParsePayload(raw)
	if err != nil {
		return nil, refuse(codeMalformed, "the payload cannot be signed")
	}
	if err := payload.Signable(); err != nil {
		return nil, refuse("typed_payload", "a payload that is an agentenvelope document is not signed as an action")
	}
	return payload, nil
}

// guardGranted is what a grant asks for beyond what the log shows.
func (s *Signer) guardGranted(b journal.ActionSigned, a keys.Act, env *envelope.ActionEnvelope, payload *envelope.Payload) (permit.Grant, error) {
	var none permit.Grant
	known, ok := s.state.Grant(b.Grant)
	if !ok {
		return none, refuse(journal.CodeUnknownGrant, "the log shows no such grant")
	}
	g, err := believed(s, a, known.PermitSHA256, permit.ParseGrant)
	if err != nil {
		return none, err
	}
	if g.ID != b.Grant || g.Client != b.Client || g.EnvelopeHash != b.EnvelopeHash || g.DomainHash != b.DomainHash {
		return none, errPermitForm
	}
	// The log was asked with the entry's time; here with this process's clocks.
	if _, late := s.clock.read(); late > g.NotAfter {
		return none, refuse(journal.CodeGrantExpired, "the grant is past its end")
	}
	if len(payload.Contradictions(env)) > 0 {
		return none, refuse("contradiction", "the payload contradicts the envelope; it can be signed once, and never under a grant")
	}
	return g, nil
}
