package confirm

import (
	"crypto/ed25519"
	"fmt"

	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// EvidenceType is the type member of evidence and of the statement in it.
const EvidenceType = "vault.confirmation"

// Statement is what the log key says about a record: this vault took it, from
// this passkey, and it is in the log at this place.
type Statement struct {
	Vault        string // 32 lower-case hex digits
	Instance     string // 32 lower-case hex digits
	RecordDigest string // [Record.Digest]
	Seq          int64  // of the log entry that holds the record's digest
	Head         string // hash of that entry, which the signed head is over: 0x and 64 hex digits
	At           int64  // the entry's time, milliseconds since epoch
	Passkey      *Key   // whose record the key process verified it to be
	LogKey       string // nkey text
}

type statementWire struct {
	Type         string `json:"type"`
	V            int    `json:"v"`
	Vault        string `json:"vault"`
	Instance     string `json:"instance"`
	RecordDigest string `json:"record_digest"`
	Seq          int64  `json:"seq"`
	Head         string `json:"head"`
	At           int64  `json:"at"`
	Passkey      string `json:"passkey"`
	LogKey       string `json:"key"`
	Sig          string `json:"sig,omitempty"`
}

func (s Statement) wire(sig []byte) statementWire {
	w := statementWire{
		Type: EvidenceType, V: 1, Vault: s.Vault, Instance: s.Instance, RecordDigest: s.RecordDigest,
		Seq: s.Seq, Head: s.Head, At: s.At, LogKey: s.LogKey, Sig: tobase64(sig),
	}
	if s.Passkey != nil {
		w.Passkey = tobase64(s.Passkey.COSE())
	}
	return w
}

// SigningBytes returns what the log key signs, with Ed25519: the prefix
// agent-vault-confirmation-v1 and the canonical statement without sig. The error
// says which member is not as it must be.
func (s Statement) SigningBytes() ([]byte, error) {
	raw, err := jcs.Marshal(s.wire(nil), jcs.Binding)
	if err == nil {
		var o *object
		if o, err = parse(raw, maxRecord); err == nil {
			_ = readStatement(o)
			err = o.done()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("build confirmation statement: %w", err)
	}
	return tag.Confirmation.Message(raw), nil
}

func readStatement(o *object) Statement {
	o.text("type", is(EvidenceType))
	o.integer("v", 1, 1)
	s := Statement{
		Vault: o.text("vault", isID), Instance: o.text("instance", isID), RecordDigest: o.text("record_digest", envelope.IsHash),
		Seq: o.integer("seq", 1, maxInt), Head: o.text("head", envelope.IsHash), At: o.integer("at", 0, maxInt), LogKey: o.text("key", isNKey),
	}
	s.Passkey = readKey(o, "passkey")
	return s
}

func readKey(o *object, name string) *Key {
	k, err := ParseKey(o.bytes(name, 1, maxKey))
	if err != nil {
		o.fail(name, "is not the key of a passkey")
	}
	return k
}

// Evidence is a record together with the log key's signed statement about it: what
// is stored and exported. It cannot be changed.
type Evidence struct {
	record    *Record
	statement Statement
	message   []byte // what the log key signed
	sig       []byte
	canonical string
}

// NewEvidence joins a record, a statement about it and the log key's signature of
// 64 bytes. It does not verify; the error says what is not as it must be.
func NewEvidence(r *Record, s Statement, sig []byte) (*Evidence, error) {
	raw, err := jcs.Marshal(struct {
		Type   string        `json:"type"`
		V      int           `json:"v"`
		Record rawJSON       `json:"record"`
		Log    statementWire `json:"log"`
	}{EvidenceType, 1, rawJSON(r.canonical), s.wire(sig)}, jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("build confirmation evidence: %w", err)
	}
	e, err := ParseEvidence(raw)
	if err != nil {
		return nil, fmt.Errorf("build confirmation evidence: %w", err)
	}
	return e, nil
}

// ParseEvidence reads evidence strictly: exactly its members, the record as
// [ParseRecord] does. The signatures are for Verify. It does not block.
func ParseEvidence(raw []byte) (*Evidence, error) {
	o, err := parse(raw, 2*maxRecord)
	if err == nil {
		var e *Evidence
		if e, err = readEvidence(o); err == nil {
			return e, nil
		}
	}
	return nil, fmt.Errorf("parse confirmation evidence: %w", err)
}

func readEvidence(o *object) (*Evidence, error) {
	o.text("type", is(EvidenceType))
	o.integer("v", 1, 1)
	r, err := readRecord(o.sub("record"))
	if err != nil {
		return nil, err
	}
	log := o.sub("log")
	e := &Evidence{record: r, statement: readStatement(log), sig: log.bytes("sig", ed25519.SignatureSize, ed25519.SignatureSize)}
	finish(log)
	if err := o.done(); err != nil {
		return nil, err
	}
	e.message = tag.Confirmation.Message(log.v.Without("sig").Canonical())
	e.canonical = string(o.v.Canonical())
	return e, nil
}

// Record returns the record.
func (e *Evidence) Record() *Record { return e.record }

// Statement returns what the log key says.
func (e *Evidence) Statement() Statement { return e.statement }

// Canonical returns the canonical form.
func (e *Evidence) Canonical() []byte { return []byte(e.canonical) }

// EvidencePins are what a verifier already trusts; empty members are not pinned.
type EvidencePins struct {
	Passkey *Key
	LogKey  string // nkey text
	Vault   string
	RPID    string
	Origins []string
}

// Verify checks the record with the time that the log claims, and the log key's
// part. What is not pinned is taken from the evidence itself, and the page must
// then be one that a vault serves ([IsPageOrigin]). The report is pinned if it is
// valid and both passkey and log key were: otherwise anybody could have made it.
func (e *Evidence) Verify(pins EvidencePins) Report {
	s := e.statement
	of := Pins{Key: s.Passkey, RPID: pins.RPID, Origins: pins.Origins}
	if of.RPID == "" {
		of.RPID = e.record.context.fields.RPID
	}
	var p Report
	if len(of.Origins) > 0 {
		p = e.record.Verify(of, s.At)
	} else {
		p = e.record.verify(of, s.At, func(origin string) bool { return IsPageOrigin(origin, of.RPID) })
	}
	p.check("logOfRecord", s.RecordDigest == e.record.Digest(), "the log key speaks of another record")
	key, err := envelope.ParseOwnerKey(s.LogKey)
	p.check("logSignature", err == nil && ed25519.Verify(key, e.message, e.sig), "the log key's signature is not of this statement")
	if pins.Passkey != nil {
		p.check("passkeyPin", s.Passkey.Equal(pins.Passkey), "another passkey confirmed it")
	}
	if pins.LogKey != "" {
		p.check("logKeyPin", s.LogKey == pins.LogKey, "another log key speaks")
	}
	if pins.Vault != "" {
		p.check("vaultPin", s.Vault == pins.Vault, "it is of another vault")
	}
	p.Pinned = p.Valid && pins.Passkey != nil && pins.LogKey != ""
	return p
}
