package sign

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/custody"
	"vault/derive"
	"vault/derive/confirm"
	"vault/derive/confirm/answer"
)

// sealedPasskey is a passkey as it stands beside the root. Texts of bytes are
// base64url without padding.
type sealedPasskey struct {
	Credential     string   `json:"credential"`
	Key            string   `json:"key"` // COSE
	Kind           string   `json:"kind"`
	BackupEligible bool     `json:"backup_eligible"`
	RPID           string   `json:"rp_id"`
	Transports     []string `json:"transports,omitempty"`
	Counter        uint32   `json:"counter"`
	EnrolledAt     int64    `json:"enrolled_at"`         // milliseconds since epoch, of its entry
	LastUse        int64    `json:"last_use,omitzero"`   // the same
	RemovedAt      int64    `json:"removed_at,omitzero"` // the first instant at which it was not; only in policy.Removed

	key *confirm.Key
}

// policy is the part of the sealed structure that is this package's own.
type policy struct {
	// Instance and Start say why the log of that instance begins: "" with the root's
	// creation, else "restored", "copied" or "rolled_back". For another instance
	// nothing is known, which counts as copied.
	Instance string `json:"instance"`
	Start    string `json:"start"`
	// Before are the instances of this root before the present one, oldest first, as far as they
	// are known: their log keys stand on the owner card.
	Before []string `json:"before,omitempty"`
	// Removed are passkeys that were: what they confirmed stays confirmed.
	Removed []sealedPasskey `json:"removed,omitempty"`
	Rules   permit.Policy   `json:"rules,omitzero"`
	// Exported are the domains whose mint material was let out, by hash.
	Exported []string `json:"exported,omitempty"`
}

// Bounds of what is remembered for the owner card.
const (
	maxBefore   = 16
	maxRemoved  = 31
	maxEnrolled = 32 // the card names 64 in all
)

// sealed is the sealed structure as this package reads it.
type sealed struct {
	passkeys []sealedPasskey
	policy   policy
	first    int64 // when the first passkey of this root was enrolled, or 0
}

// removed notes that it is enrolled no more. It was for no less than an instant, also where the clock was set back since.
func (p *sealedPasskey) removed(at int64) { p.RemovedAt = max(at, p.EnrolledAt) + 1 }

func base64text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// readSealed reads what this package has sealed. An error means that another program sealed it.
func readSealed(st custody.State) (sealed, error) {
	out := sealed{first: st.FirstPasskeyAt}
	if st.Policy != nil {
		if err := json.Unmarshal(st.Policy, &out.policy); err != nil {
			return sealed{}, fmt.Errorf("read sealed policy: %w", err)
		}
	}
	read := func(p *sealedPasskey) error {
		cose, err := base64.RawURLEncoding.DecodeString(p.Key)
		if err == nil {
			p.key, err = confirm.ParseKey(cose)
		}
		if err != nil {
			return fmt.Errorf("read sealed passkey: %w", err)
		}
		return nil
	}
	for _, raw := range st.Passkeys {
		var p sealedPasskey
		if err := json.Unmarshal(raw, &p); err != nil {
			return sealed{}, fmt.Errorf("read sealed passkey: %w", err)
		}
		if err := read(&p); err != nil {
			return sealed{}, err
		}
		out.passkeys = append(out.passkeys, p)
	}
	for i := range out.policy.Removed {
		if err := read(&out.policy.Removed[i]); err != nil {
			return sealed{}, err
		}
	}
	return out, nil
}

// writeSealed changes what is sealed, in the file and in the keyring. A keyring that
// did not take it is written with the next anchor.
func writeSealed(ctx context.Context, v *custody.Vault, change func(*sealed)) error {
	now, err := readSealed(v.State())
	if err != nil {
		return err
	}
	change(&now)
	if len(now.policy.Before) > maxBefore {
		now.policy.Before = now.policy.Before[len(now.policy.Before)-maxBefore:]
	}
	if len(now.policy.Removed) > maxRemoved {
		now.policy.Removed = now.policy.Removed[len(now.policy.Removed)-maxRemoved:]
	}
	rules, err := json.Marshal(now.policy)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	for _, p := range now.passkeys {
		raw, err := json.Marshal(p)
		if err != nil {
			return err
		}
		list = append(list, raw)
	}
	err = v.Update(ctx, func(s *custody.State) { s.Policy, s.Passkeys, s.FirstPasskeyAt = rules, list, now.first })
	if errors.Is(err, custody.ErrAnchorNotKept) {
		return nil
	}
	return err
}

func passkeyID(cose []byte) string {
	sum := sha256.Sum256(cose)
	return "p_" + hex.EncodeToString(sum[:8])
}

func (p sealedPasskey) public() keys.Passkey {
	return keys.Passkey{
		ID: passkeyID(p.key.COSE()), Key: p.key.COSE(), Kind: p.Kind, BackupEligible: p.BackupEligible, RPID: p.RPID,
		Transports: slices.Clone(p.Transports), EnrolledAt: p.EnrolledAt, LastUse: p.LastUse, Digits: p.key.Digits(),
	}
}

func (p sealedPasskey) credential() answer.Credential {
	id, _ := base64.RawURLEncoding.DecodeString(p.Credential) // written by this package
	return answer.Credential{ID: id, Key: p.key, RPID: p.RPID, BackupEligible: p.BackupEligible, SignCount: p.Counter}
}

// pendingPasskey is a new passkey until it is enrolled or forgotten. It is kept in memory only.
type pendingPasskey struct {
	passkey sealedPasskey
	mine    bool             // the owner compared the digits
	tried   *answer.Accepted // its own first answer, verified
}

// --- guards

// needsPasskey is why an act without a passkey is refused: there is none, or one is needed.
func (s *Signer) needsPasskey(detail string) error {
	if len(s.sealed.passkeys) == 0 {
		return errNoPasskey
	}
	return refuse(keys.CodePasskeyNeeded, detail)
}

// always says why an act by click is not enough, where the design always asks for a
// passkey once there is one; or why one by passkey cannot be.
func (s *Signer) always(by string) error {
	switch {
	case by == "passkey" && len(s.sealed.passkeys) == 0:
		return errNoPasskey
	case by == "click" && len(s.sealed.passkeys) > 0:
		return refuse(keys.CodePasskeyNeeded, "from the first passkey on this is confirmed with one")
	}
	return nil
}

// byPolicy asks the owner's policy about an act that a click, or a grant made by one, stands behind.
func (s *Signer) byPolicy(by string, facts ...permit.Facts) error {
	if by == "passkey" {
		return s.always(by)
	}
	for _, f := range facts {
		if _, needed := s.sealed.policy.Rules.Needs(f); needed {
			return s.needsPasskey("the owner's policy asks for a passkey here")
		}
	}
	return nil
}

var errNotThisPasskey = refuse(keys.CodeUnknownPasskey, "no such passkey is enrolled")

func (s *Signer) guardPasskeyAdded(b journal.PasskeyAdded, at int64) (passed, error) {
	p := s.pending
	if p == nil || !p.mine || p.tried == nil {
		return passed{}, refuse(keys.CodeNothingPending, "no new passkey has been compared and has answered")
	}
	first := b.By == "passphrase"
	switch {
	case p.passkey.Key != b.Passkey || p.passkey.Kind != b.Kind || p.passkey.BackupEligible != b.BackupEligible || p.passkey.RPID != b.RPID:
		return passed{}, refuse(keys.CodeOtherAct, "the entry names another passkey than the one that is pending")
	case s.vault.State().Protection == custody.KeyringOnly:
		return passed{}, refuse(keys.CodeNoPassphrase, custody.ErrPasskeysNeedPassphrase.Error())
	case first && (s.sealed.first != 0 || len(s.sealed.passkeys) > 0):
		return passed{}, errPasskeyOnce
	case !first && len(s.sealed.passkeys) == 0:
		return passed{}, errNoPasskey
	case len(s.sealed.passkeys) >= maxEnrolled:
		return passed{}, errManyPasskeys
	}
	return passed{change: func(v *sealed) {
		added := p.passkey
		added.EnrolledAt, added.Counter = at, p.tried.Data.SignCount
		v.passkeys = append(v.passkeys, added)
		if v.first == 0 {
			v.first = at
		}
	}, done: func() { s.pending = nil }}, nil
}

var errManyPasskeys = refuse(journal.CodeTooMany, "as many passkeys are enrolled as there may be")

var errPasskeyOnce = refuse(keys.CodePasskeyOnce, "the first passkey of a root is enrolled once; afterwards only the recovery words reopen it")

func (s *Signer) guardPasskeyRemoved(b journal.PasskeyRemoved, at int64) (passed, error) {
	i := slices.IndexFunc(s.sealed.passkeys, func(p sealedPasskey) bool { return p.Key == b.Passkey })
	switch {
	case i < 0:
		return passed{}, errNotThisPasskey
	case len(s.sealed.passkeys) == 1:
		return passed{}, refuse(keys.CodeLastPasskey, "the last passkey is not removed; enrol another first")
	}
	return passed{change: func(v *sealed) {
		gone := v.passkeys[i]
		gone.removed(at)
		v.passkeys = slices.Delete(v.passkeys, i, i+1)
		v.policy.Removed = append(v.policy.Removed, gone)
	}}, nil
}

// guardPolicy computes the direction of a change from the policy in force and the one in the entry.
func (s *Signer) guardPolicy(b journal.PolicyChanged) (passed, error) {
	next, err := permit.ParsePolicy([]byte(b.To))
	if err != nil {
		return passed{}, refuse(codeMalformed, "the entry holds no policy")
	}
	now, err := s.sealed.policy.Rules.Canonical()
	if err != nil {
		return passed{}, err
	}
	loosens := s.sealed.policy.Rules.Loosens(next)
	switch {
	case journal.HashOf(now) != b.FromSHA256:
		return passed{}, refuse(keys.CodeOtherAct, "the entry changes another policy than the one in force")
	case len(s.sealed.passkeys) == 0 && (loosens || len(next.Rules) > 0 || b.By == "passkey"):
		return passed{}, errNoPasskey
	case loosens && b.By != "passkey":
		return passed{}, refuse(keys.CodePasskeyNeeded, "this loosens a rule")
	}
	return passed{change: func(v *sealed) { v.policy.Rules = next }}, nil
}

// ownerAct is the act behind act.confirmed, or why it cannot be. The card's is made with its ceremony.
func (s *Signer) ownerAct(act, from, to string) error {
	if len(s.sealed.passkeys) == 0 {
		return errNoPasskey
	}
	switch confirm.Kind(act) {
	case confirm.RecoveryShow, confirm.CardExport:
		if from != "" || to != "" {
			return refuse(codeMalformed, "this act names nothing")
		}
		return nil
	case confirm.ProtectionChange:
		now := s.vault.State().Protection
		if from != string(now) || strength[keys.Protection(to)] == 0 || strength[keys.Protection(to)] >= strength[keys.Protection(now)] {
			return refuse(codeNotDone, "this is not a change from the protection in force to a weaker one")
		}
		return nil
	}
	return refuse("unknown_act", "the key process has no guard for this kind of act")
}

func (s *Signer) guardActConfirmed(b journal.ActConfirmed, c journal.Confirmed, at int64) (passed, error) {
	if err := s.ownerAct(b.Act, b.From, b.To); err != nil {
		return passed{}, err
	}
	if b.Digest != "0x"+c.Digest {
		return passed{}, refuse("wrong_digest", "the entry names another digest than the act's")
	}
	if c.Kind == confirm.CardExport {
		return passed{card: true}, nil
	}
	return passed{done: func() { s.allowed = &allowance{c.Kind, b.To, s.clock.after(at, confirm.MaxLifetime)} }}, nil
}

// allowance is what an act.confirmed lets be done once.
type allowance struct {
	kind confirm.Kind
	to   string
	ends instant
}

// allow uses up an allowance, or says why there is none.
func (s *Signer) allow(kind confirm.Kind, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.allowed; a != nil && a.kind == kind && a.to == to {
		s.allowed = nil
		if !s.clock.reached(a.ends) {
			return nil
		}
	}
	if len(s.sealed.passkeys) == 0 {
		return errNoPasskey
	}
	return errNotConfirmed
}

// --- owner card and evidence

// newCard makes the owner card from the sealed state and derivation alone, not signed yet.
func (s *Signer) newCard(at int64) (*confirm.OwnerCard, error) {
	f := confirm.CardFields{Vault: s.pub.Vault, IssuedAt: at}
	for _, seat := range s.state.Seats() {
		f.Seats = append(f.Seats, confirm.CardSeat{Index: seat.Seat, Key: seat.Key})
	}
	for _, hash := range slices.Sorted(maps.Keys(s.domains)) {
		f.Domains = append(f.Domains, confirm.CardDomain{Hash: hash, Address: s.domains[hash].Address()})
	}
	err := s.vault.WithRoot(func(root []byte) error {
		for _, instance := range append(slices.Clone(s.sealed.policy.Before), s.pub.Instance) {
			var seed derive.Secret
			defer seed.Clear()
			if err := derive.LogSeed(&seed, root, instance); err != nil {
				return err
			}
			text, err := publicText(&seed)
			if err != nil {
				return err
			}
			f.LogKeys = append(f.LogKeys, confirm.CardLogKey{Instance: instance, Key: text})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range append(slices.Clone(s.sealed.policy.Removed), s.sealed.passkeys...) {
		f.Passkeys = append(f.Passkeys, confirm.CardPasskey{
			Key: p.key, Kind: confirm.PasskeyKind(p.Kind), BackupEligible: p.BackupEligible, RPID: p.RPID, Added: p.EnrolledAt, Removed: p.RemovedAt,
		})
	}
	return confirm.NewOwnerCard(f)
}

// signCard signs with seat 0.
func (s *Signer) signCard(c *confirm.OwnerCard) (*confirm.OwnerCard, error) {
	sig, err := s.signSeat(0, c.SigningBytes())
	if err != nil {
		return nil, err
	}
	return c.Signed(sig)
}

// evidence is the log key's word about a record, beside the record.
func (s *Signer) evidence(e journal.Entry, r *confirm.Record, key *confirm.Key) ([]byte, error) {
	says := confirm.Statement{
		Vault: s.pub.Vault, Instance: s.pub.Instance, RecordDigest: r.Digest(), Seq: int64(e.Seq), Head: e.Hash(), At: e.At,
		Passkey: key, LogKey: s.pub.LogKey,
	}
	message, err := says.SigningBytes()
	if err != nil {
		return nil, err
	}
	sig := s.signLog(message)[0]
	out, err := confirm.NewEvidence(r, says, sig[:])
	if err != nil {
		return nil, err
	}
	return out.Canonical(), nil
}
