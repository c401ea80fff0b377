package confirm

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Bounds of the parts of a record, in bytes.
const (
	maxAuthData   = 4 << 10
	maxClientData = 16 << 10
	maxSignature  = 1 << 10
	maxRecord     = maxContext + 2*(maxAuthData+maxClientData+maxSignature)
)

// Record is a context with the assertion of a passkey over it. Its members are
// right by themselves; whether it verifies, Verify says. It cannot be changed.
type Record struct {
	context                         *Context
	authData, clientData, signature []byte
	canonical                       string
}

type webauthnWire struct {
	AuthData   string `json:"authenticator_data"`
	ClientData string `json:"client_data_json"`
	Signature  string `json:"signature"`
}

// NewRecord joins a context with the three byte strings of an assertion, exactly
// as the browser gave them.
func NewRecord(c *Context, authenticatorData, clientDataJSON, signature []byte) (*Record, error) {
	raw, err := jcs.Marshal(struct {
		Context  rawJSON      `json:"context"`
		WebAuthn webauthnWire `json:"webauthn"`
	}{rawJSON(c.canonical), webauthnWire{tobase64(authenticatorData), tobase64(clientDataJSON), tobase64(signature)}}, jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("build confirmation record: %w", err)
	}
	r, err := ParseRecord(raw)
	if err != nil {
		return nil, fmt.Errorf("build confirmation record: %w", err)
	}
	return r, nil
}

// rawJSON is JSON of our own making, inside a structure that is being written.
type rawJSON string

// MarshalJSON returns the text.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// ParseRecord reads a record strictly: exactly its members, the context as
// [ParseContext] does, three byte strings in unpadded base64url that are not
// empty. It does not block.
func ParseRecord(raw []byte) (*Record, error) {
	o, err := parse(raw, maxRecord)
	if err == nil {
		var r *Record
		if r, err = readRecord(o); err == nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("parse confirmation record: %w", err)
}

func readRecord(o *object) (*Record, error) {
	c, err := readContext(o.sub("context"))
	if err != nil {
		return nil, err
	}
	w := o.sub("webauthn")
	r := &Record{
		context:  c,
		authData: w.bytes("authenticator_data", 1, maxAuthData), clientData: w.bytes("client_data_json", 1, maxClientData),
		signature: w.bytes("signature", 1, maxSignature),
	}
	finish(w)
	if err := o.done(); err != nil {
		return nil, err
	}
	r.canonical = string(o.v.Canonical())
	return r, nil
}

// Context returns the context.
func (r *Record) Context() *Context { return r.context }

// Canonical returns the canonical form of the whole record.
func (r *Record) Canonical() []byte { return []byte(r.canonical) }

// Digest returns the SHA-256 of the canonical form, 0x and 64 hex digits: what
// the log keeps. It does not name the confirmation, because an ECDSA signature
// can be written anew by anybody; the context's challenge does.
func (r *Record) Digest() string { return hash(sha256.Sum256([]byte(r.canonical))) }

// AuthData returns the fixed part of the authenticator data, for the rules about
// counter and backup.
func (r *Record) AuthData() (AuthData, error) { return ParseAuthData(r.authData) }

// Pins are what a verifier knows without the record. All three are needed.
type Pins struct {
	Key     *Key
	RPID    string
	Origins []string // compared character for character
}

// Report is the answer of a verification: every check by name, whether or not an
// earlier one failed.
type Report struct {
	// Valid is true if every check is OK.
	Valid bool
	// Reason is the detail of the first check that failed.
	Reason string
	Checks []envelope.Check
	// Pinned is true if a log key that the caller already trusted says that its
	// vault took this record from a passkey that the caller already trusted. It is
	// never true for a record alone.
	Pinned bool
}

func (p *Report) check(name string, ok bool, detail string) bool {
	c := envelope.Check{Name: name, OK: ok}
	if !ok {
		c.Detail = detail
		if p.Valid {
			p.Valid, p.Reason = false, detail
		}
	}
	p.Checks = append(p.Checks, c)
	return ok
}

// Check returns the named check, and false if the verification has none.
func (p *Report) Check(name string) (envelope.Check, bool) {
	i := slices.IndexFunc(p.Checks, func(c envelope.Check) bool { return c.Name == name })
	if i < 0 {
		return envelope.Check{}, false
	}
	return p.Checks[i], true
}

// Verify checks the stored bytes against the pins and an instant in milliseconds
// since epoch: when the confirmation ended by the clock of whoever asked for it,
// for a stored record the time its log claims, and never the reader's clock.
// Counter and backup eligibility are for who keeps the last ones ([CheckCounter],
// [CheckBackup]). It does not block.
func (r *Record) Verify(pins Pins, at int64) Report {
	return r.verify(pins, at, func(origin string) bool { return slices.Contains(pins.Origins, origin) })
}

func (r *Record) verify(pins Pins, at int64, mayBeOrigin func(string) bool) Report {
	p := Report{Valid: true}
	f := r.context.fields
	cd, err := parseClientData(r.clientData)
	p.check("clientDataWellFormed", err == nil, "the client data is not strict JSON of one object")
	p.check("clientDataType", cd.typ == "webauthn.get", "the client data is not of an assertion")
	p.check("challengeIsContext", cd.challenge == r.context.ChallengeText(), "the challenge is not the digest of the context")
	p.check("originOfContext", cd.origin == f.Origin, "the page that was answered is not the one in the context")
	p.check("originPinned", mayBeOrigin(cd.origin), "the page that was answered is not the vault's")
	p.check("sameOrigin", !cd.crossOrigin, "the page was framed by another")

	ad, err := ParseAuthData(r.authData)
	p.check("authenticatorDataWellFormed", err == nil, "the authenticator data has another length than it says")
	p.check("rpIdHash", pins.RPID != "" && ad.RPIDHash == sha256.Sum256([]byte(pins.RPID)), "the passkey answered for another rp id")
	p.check("rpIdOfContext", f.RPID == pins.RPID, "the rp id in the context is another")
	p.check("userPresent", ad.UserPresent, "nobody was present")
	p.check("userVerified", ad.UserVerified, "nobody was verified")
	p.check("backupFlags", !ad.BackedUp || ad.BackupEligible, ErrBackupState.Error())

	sum := sha256.Sum256(r.clientData)
	p.check("signature", pins.Key != nil && pins.Key.verify(append(bytes.Clone(r.authData), sum[:]...), r.signature),
		"the signature is not of these bytes by the pinned key")
	p.check("issued", f.IssuedAt <= at, "it was confirmed before it was asked")
	p.check("notExpired", at < f.ExpiresAt, "it was confirmed after its end")
	return p
}

// VerifyRecord parses and verifies in one step: what does not parse is the failed
// check recordWellFormed.
func VerifyRecord(raw []byte, pins Pins, at int64) Report {
	r, err := ParseRecord(raw)
	if err != nil {
		p := Report{Valid: true}
		p.check("recordWellFormed", false, err.Error())
		return p
	}
	p := r.Verify(pins, at)
	p.Checks = slices.Insert(p.Checks, 0, envelope.Check{Name: "recordWellFormed", OK: true})
	return p
}
