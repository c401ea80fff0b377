package confirm

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// CardType is the type member of an owner card.
const CardType = "vault.ownerCard"

// Bounds of an owner card.
const (
	maxSeats    = 64
	maxDomains  = 4096
	maxLogKeys  = 256
	maxPasskeys = 64
	maxCard     = 4 << 20
)

// PasskeyKind says what answered when a passkey was enrolled.
type PasskeyKind string

// The kinds of passkeys. Program stands for one that a program on the owner's own
// computer keeps, and for one of which nothing better is known: software may
// answer it.
const (
	SecurityKey PasskeyKind = "security_key"
	Phone       PasskeyKind = "phone"
	ThisDevice  PasskeyKind = "this_device"
	Program     PasskeyKind = "program"
)

// CardSeat is an owner key. Seat 0 is the one that signs the card.
type CardSeat struct {
	Index int64
	Key   string // nkey text
}

// CardDomain is the address of a domain.
type CardDomain struct {
	Hash    string // 0x and 64 hex digits
	Address string // 0x and 40 lower-case hex digits
}

// CardLogKey is the log key of one instance of the vault, the newest last.
type CardLogKey struct {
	Instance string // 32 lower-case hex digits
	Key      string // nkey text
}

// CardPasskey is a passkey, also one that was removed: what it confirmed before
// stays confirmed.
type CardPasskey struct {
	Key            *Key
	Kind           PasskeyKind
	BackupEligible bool
	RPID           string
	Added          int64 // milliseconds since epoch
	Removed        int64 // the first instant at which it was not, or 0
}

// CardFields are what an owner card says.
type CardFields struct {
	Vault    string // 32 lower-case hex digits
	IssuedAt int64  // milliseconds since epoch, the vault's clock
	Seats    []CardSeat
	Domains  []CardDomain
	LogKeys  []CardLogKey
	Passkeys []CardPasskey
}

// OwnerCard is what a stranger is given to know an owner's keys by (section 10 of
// the design). It cannot be changed.
type OwnerCard struct {
	fields    CardFields
	message   []byte // what seat 0 signs
	sig       []byte // nil while it is not signed
	canonical string
}

type seatWire struct {
	Index int64  `json:"index"`
	Key   string `json:"key"`
}

type domainWire struct {
	Hash    string `json:"hash"`
	Address string `json:"address"`
}

type logKeyWire struct {
	Instance string `json:"instance"`
	Key      string `json:"key"`
}

type passkeyWire struct {
	Key            string      `json:"key"`
	Kind           PasskeyKind `json:"kind"`
	BackupEligible bool        `json:"backup_eligible"`
	RPID           string      `json:"rp_id"`
	Added          int64       `json:"added"`
	Removed        int64       `json:"removed,omitzero"`
}

type cardWire struct {
	Type     string        `json:"type"`
	V        int           `json:"v"`
	Vault    string        `json:"vault"`
	IssuedAt int64         `json:"issued_at"`
	Seats    []seatWire    `json:"seats"`
	Domains  []domainWire  `json:"domains"`
	LogKeys  []logKeyWire  `json:"log_keys"`
	Passkeys []passkeyWire `json:"passkeys"`
	Sig      string        `json:"sig,omitempty"`
}

func (f CardFields) wire(sig []byte) cardWire {
	w := cardWire{Type: CardType, V: 1, Vault: f.Vault, IssuedAt: f.IssuedAt, Sig: tobase64(sig)}
	for _, s := range f.Seats {
		w.Seats = append(w.Seats, seatWire(s))
	}
	for _, d := range f.Domains {
		w.Domains = append(w.Domains, domainWire(d))
	}
	for _, l := range f.LogKeys {
		w.LogKeys = append(w.LogKeys, logKeyWire(l))
	}
	for _, p := range f.Passkeys {
		out := passkeyWire{"", p.Kind, p.BackupEligible, p.RPID, p.Added, p.Removed}
		if p.Key != nil {
			out.Key = tobase64(p.Key.COSE())
		}
		w.Passkeys = append(w.Passkeys, out)
	}
	return w
}

// NewOwnerCard builds a card that is not signed yet: seats from 0 upwards, domains
// in the order of their hashes, every key and instance once. The digest of its
// confirmation is over [OwnerCard.Canonical] of it.
func NewOwnerCard(f CardFields) (*OwnerCard, error) {
	raw, err := jcs.Marshal(f.wire(nil), jcs.Binding)
	if err == nil {
		var c *OwnerCard
		if c, err = parseCard(raw, false); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("build owner card: %w", err)
}

// SigningBytes returns what seat 0 signs, with Ed25519: the prefix
// agent-vault-owner-card-v1 and the canonical card without sig.
func (c *OwnerCard) SigningBytes() []byte { return slices.Clone(c.message) }

// Signed returns the card with a signature of seat 0, which is verified first.
func (c *OwnerCard) Signed(sig []byte) (*OwnerCard, error) {
	raw, err := jcs.Marshal(c.fields.wire(sig), jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("sign owner card: %w", err)
	}
	signed, err := ParseOwnerCard(raw)
	if err != nil {
		return nil, fmt.Errorf("sign owner card: %w", err)
	}
	if !signed.signedBySeat0() {
		return nil, errors.New("sign owner card: the signature is not that of seat 0")
	}
	return signed, nil
}

// ParseOwnerCard reads a signed card strictly: exactly its members, each in its one
// order, no key twice. The signature is for Verify. It does not block.
func ParseOwnerCard(raw []byte) (*OwnerCard, error) {
	c, err := parseCard(raw, true)
	if err != nil {
		return nil, fmt.Errorf("parse owner card: %w", err)
	}
	return c, nil
}

func parseCard(raw []byte, signed bool) (*OwnerCard, error) {
	o, err := parse(raw, maxCard)
	if err != nil {
		return nil, err
	}
	o.text("type", is(CardType))
	o.integer("v", 1, 1)
	c := &OwnerCard{fields: CardFields{Vault: o.text("vault", isID), IssuedAt: o.integer("issued_at", 0, maxInt)}}
	f := &c.fields
	seen := map[string]bool{}
	once := func(o *object, name, what string) {
		if seen[what] {
			o.fail(name, "stands on the card twice")
		}
		seen[what] = true
	}
	for i, s := range o.objects("seats", 1, maxSeats) {
		seat := CardSeat{Index: s.integer("index", 0, maxInt), Key: s.text("key", isNKey)}
		if i == 0 && seat.Index != 0 || i > 0 && seat.Index <= f.Seats[i-1].Index {
			s.fail("index", "is not in order from 0 on")
		}
		once(s, "key", seat.Key)
		finish(s)
		f.Seats = append(f.Seats, seat)
	}
	for i, s := range o.objects("domains", 0, maxDomains) {
		d := CardDomain{Hash: s.text("hash", envelope.IsHash), Address: s.text("address", envelope.IsAddress)}
		if i > 0 && d.Hash <= f.Domains[i-1].Hash {
			s.fail("hash", "is not in order")
		}
		once(s, "address", d.Address)
		finish(s)
		f.Domains = append(f.Domains, d)
	}
	for _, s := range o.objects("log_keys", 1, maxLogKeys) {
		l := CardLogKey{Instance: s.text("instance", isID), Key: s.text("key", isNKey)}
		once(s, "instance", l.Instance)
		once(s, "key", l.Key)
		finish(s)
		f.LogKeys = append(f.LogKeys, l)
	}
	for _, s := range o.objects("passkeys", 0, maxPasskeys) {
		p := CardPasskey{
			Key: readKey(s, "key"), Kind: PasskeyKind(s.text("kind", is(string(SecurityKey), string(Phone), string(ThisDevice), string(Program)))),
			BackupEligible: s.flag("backup_eligible"), RPID: s.text("rp_id", isHost), Added: s.integer("added", 0, maxInt),
		}
		if s.has("removed") {
			p.Removed = s.integer("removed", max(p.Added, 1), maxInt)
		}
		if p.Key != nil {
			once(s, "key", p.Key.cose)
		}
		finish(s)
		f.Passkeys = append(f.Passkeys, p)
	}
	if signed {
		c.sig = o.bytes("sig", ed25519.SignatureSize, ed25519.SignatureSize)
	}
	if err := o.done(); err != nil {
		return nil, err
	}
	c.canonical = string(o.v.Canonical())
	c.message = tag.OwnerCard.Message(o.v.Without("sig").Canonical())
	return c, nil
}

// Fields returns what the card says. The caller may change it.
func (c *OwnerCard) Fields() CardFields {
	f := c.fields
	f.Seats, f.Domains = slices.Clone(f.Seats), slices.Clone(f.Domains)
	f.LogKeys, f.Passkeys = slices.Clone(f.LogKeys), slices.Clone(f.Passkeys)
	return f
}

// Canonical returns the canonical form, without sig while it is not signed.
func (c *OwnerCard) Canonical() []byte { return []byte(c.canonical) }

// Owner returns the key of seat 0, nkey text.
func (c *OwnerCard) Owner() string { return c.fields.Seats[0].Key }

func (c *OwnerCard) signedBySeat0() bool {
	key, err := envelope.ParseOwnerKey(c.Owner())
	return err == nil && ed25519.Verify(key, c.message, c.sig)
}

// Verify checks that seat 0 signed the card and, where owner is not empty (nkey
// text), that seat 0 is that key. Only then is the report pinned: anybody can make
// a card, so it is worth what its way to the reader is worth.
func (c *OwnerCard) Verify(owner string) Report {
	p := Report{Valid: true}
	p.check("cardSignature", c.signedBySeat0(), "the card is not signed by its seat 0")
	if owner != "" {
		p.check("ownerPin", c.Owner() == owner, "the card is of another owner")
	}
	p.Pinned = p.Valid && owner != ""
	return p
}

// VerifyEvidence verifies evidence with the keys on a card that the caller trusts:
// the log key of the evidence's instance, and the passkey, which must have been
// enrolled for its RP ID at the time that the log claims. A card that seat 0 did
// not sign pins nothing.
func (c *OwnerCard) VerifyEvidence(e *Evidence) Report {
	s, f := e.statement, c.fields
	pins := EvidencePins{Vault: f.Vault}
	var on *CardPasskey
	for i := range f.Passkeys {
		if f.Passkeys[i].Key.Equal(s.Passkey) {
			on = &f.Passkeys[i]
			pins.Passkey, pins.RPID = on.Key, on.RPID
		}
	}
	for _, l := range f.LogKeys {
		if l.Instance == s.Instance {
			pins.LogKey = l.Key
		}
	}
	p := e.Verify(pins)
	p.check("cardSignature", c.signedBySeat0(), "the card is not signed by its seat 0")
	p.check("logKeyOnCard", pins.LogKey != "", "the card has no log key for this instance")
	p.check("passkeyOnCard", on != nil, "the passkey is not on the card")
	p.check("passkeyEnrolled", on != nil && on.Added <= s.At && (on.Removed == 0 || s.At < on.Removed), "the passkey was not enrolled at that time")
	ad, err := e.record.AuthData()
	p.check("backupUnchanged", on != nil && err == nil && CheckBackup(on.BackupEligible, ad) == nil, "the passkey's backup eligibility is not what the card says")
	p.Pinned = p.Pinned && p.Valid
	return p
}
