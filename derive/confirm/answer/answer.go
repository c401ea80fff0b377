// Package answer reads what a browser answers in a ceremony: the assertion of a
// passkey, and the registration of a new one. It is the part of a confirmation
// that meets hostile bytes first, so it is small, on the standard library, and
// accepts one spelling of everything.
//
// It keeps nothing: who calls it holds the enrolled passkeys, the nonce and the
// clock, uses a context once, and consumes it before asking here.
//
// Of a registration only the authenticator data is read, which is all that a
// credential is taken from. An attestation object would add a CBOR map around
// the same bytes and, with the attestation "none" that the vault asks for,
// nothing that anybody could check. That a key answers is shown by the
// confirmation that follows.
package answer

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/derive/confirm"
	"vault/derive/jcs"
)

// Code names why an answer is refused. Codes are stable.
type Code string

// The codes. Where several would fit, the first in this order is given.
const (
	Malformed         Code = "malformed"           // not as the vault's own page sends it
	UnknownCredential Code = "unknown_credential"  // no enrolled passkey has this id, for this rp id
	WrongType         Code = "wrong_type"          // client data of another operation
	WrongChallenge    Code = "wrong_challenge"     // of another context or an edited one
	WrongOrigin       Code = "wrong_origin"        // another port, host or scheme
	Framed            Code = "framed"              // the page stood in another one
	WrongRPID         Code = "wrong_rp_id"         // the passkey answered for another name
	NotPresent        Code = "not_present"         // nobody was there
	NotVerified       Code = "not_verified"        // nobody was verified
	WrongSignature    Code = "wrong_signature"     // not of these bytes by the pinned key
	TooEarly          Code = "too_early"           // before issued_at
	Expired           Code = "expired"             // at or after expires_at
	CounterBack       Code = "counter_back"        // the sign counter did not go forward
	BackupChanged     Code = "backup_changed"      // backup eligibility is another one than at enrolment, or the flags contradict each other
	UnsupportedKey    Code = "unsupported_key"     // not one of the three kinds of keys
	KnownCredential   Code = "credential_enrolled" // this passkey is enrolled already
)

// Refusal is why an answer is refused.
type Refusal struct {
	Code   Code
	Detail string // a sentence for the owner, without a full stop
}

// Error returns the detail and the code.
func (r *Refusal) Error() string {
	return "answer of the passkey: " + r.Detail + " (" + string(r.Code) + ")"
}

func refuse(code Code, detail string) error { return &Refusal{code, detail} }

// Bounds, in bytes.
const (
	MaxAnswer     = 32 << 10 // the whole JSON text
	maxCredential = 1023     // credential id (WebAuthn section 4)
	maxClientData = 16 << 10
	maxAuthData   = 4 << 10
	maxSignature  = 1 << 10
)

// Assertion is what a passkey answered to a confirmation, exactly the bytes of
// the browser.
type Assertion struct {
	CredentialID, AuthenticatorData, ClientDataJSON, Signature []byte
}

// ParseAssertion reads the answer of the ceremony page: an object of exactly
// id, authenticator_data, client_data_json and signature, each unpadded
// base64url. The error is a [Refusal] with the code [Malformed]. It does not block.
func ParseAssertion(raw []byte) (Assertion, error) {
	o, err := parse(raw)
	if err != nil {
		return Assertion{}, err
	}
	a := Assertion{
		CredentialID: o.bytes("id", maxCredential), AuthenticatorData: o.bytes("authenticator_data", maxAuthData),
		ClientDataJSON: o.bytes("client_data_json", maxClientData), Signature: o.bytes("signature", maxSignature),
	}
	return a, o.done()
}

// Credential is an enrolled passkey, as the key process has sealed it.
type Credential struct {
	ID             []byte
	Key            *confirm.Key
	RPID           string
	BackupEligible bool
	SignCount      uint32 // the last one seen
}

// Accepted is an assertion that passed every check.
type Accepted struct {
	Record *confirm.Record
	Index  int              // of the passkey among those given
	Data   confirm.AuthData // its SignCount is the last one seen from now on
}

// Check verifies an assertion for a context against the enrolled passkeys, at
// the instant at which it came (milliseconds since epoch, the caller's own
// clock): the rules of design section 6, sign counter and backup flags included.
// The caller made c itself, uses it for this one call, and stores the counter
// before acting on the result. The error is a [Refusal]. It does not block.
func Check(c *confirm.Context, a Assertion, enrolled []Credential, at int64) (*Accepted, error) {
	f := c.Fields()
	i := slices.IndexFunc(enrolled, func(e Credential) bool {
		return e.RPID == f.RPID && len(e.ID) > 0 && bytes.Equal(e.ID, a.CredentialID)
	})
	if i < 0 {
		return nil, refuse(UnknownCredential, "this passkey is not enrolled here")
	}
	record, err := confirm.NewRecord(c, a.AuthenticatorData, a.ClientDataJSON, a.Signature)
	if err != nil {
		return nil, refuse(Malformed, "the answer is not complete")
	}
	report := record.Verify(confirm.Pins{Key: enrolled[i].Key, RPID: f.RPID, Origins: []string{f.Origin}}, at)
	if !report.Valid {
		return nil, refusalOf(report)
	}
	data, err := record.AuthData()
	if err != nil {
		return nil, refuse(Malformed, "the authenticator data has another length than it says")
	}
	if err := confirm.CheckBackup(enrolled[i].BackupEligible, data); err != nil {
		return nil, refuse(BackupChanged, err.Error())
	}
	if err := confirm.CheckCounter(enrolled[i].SignCount, data.SignCount); err != nil {
		return nil, refuse(CounterBack, err.Error())
	}
	return &Accepted{record, i, data}, nil
}

// codes gives each check of a record its code.
var codes = map[string]Code{
	"clientDataWellFormed": Malformed, "authenticatorDataWellFormed": Malformed,
	"clientDataType": WrongType, "challengeIsContext": WrongChallenge,
	"originOfContext": WrongOrigin, "originPinned": WrongOrigin, "sameOrigin": Framed,
	"rpIdHash": WrongRPID, "rpIdOfContext": WrongRPID, "userPresent": NotPresent, "userVerified": NotVerified,
	"backupFlags": BackupChanged, "signature": WrongSignature, "issued": TooEarly, "notExpired": Expired,
}

func refusalOf(report confirm.Report) error {
	for _, check := range report.Checks {
		if !check.OK {
			code, ok := codes[check.Name]
			if !ok {
				code = Malformed
			}
			return refuse(code, check.Detail)
		}
	}
	return refuse(Malformed, report.Reason)
}

// object reads the members of an answer; the first fault is kept.
type object struct {
	v    jcs.Value
	read int
	err  error
}

func parse(raw []byte) (*object, error) {
	if len(raw) > MaxAnswer {
		return nil, refuse(Malformed, "the answer is too long")
	}
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil || v.Kind() != jcs.Object {
		return nil, refuse(Malformed, "the answer is not strict JSON of one object")
	}
	return &object{v: v}, nil
}

func (o *object) fail(name string) {
	if o.err == nil {
		o.err = refuse(Malformed, fmt.Sprintf("%s is not as it must be", name))
	}
}

func (o *object) take(name string, kind jcs.Kind) jcs.Value {
	v := o.v.Get(name)
	if v.Kind() != kind {
		o.fail(name)
	}
	o.read++
	return v
}

// bytes reads unpadded base64url, of which each byte string has one spelling.
func (o *object) bytes(name string, limit int) []byte {
	s := o.take(name, jcs.String).Text()
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	// The decoder skips line ends.
	if err != nil || base64.RawURLEncoding.EncodedLen(len(b)) != len(s) || len(b) == 0 || len(b) > limit {
		o.fail(name)
		return nil
	}
	return b
}

func (o *object) word(name string, known ...string) string {
	s := o.take(name, jcs.String).Text()
	if !slices.Contains(known, s) {
		o.fail(name)
	}
	return s
}

// words reads a sorted list of short lower-case words, none twice.
func (o *object) words(name string, limit int) []string {
	v := o.take(name, jcs.Array)
	var out []string
	for _, item := range v.Items() {
		s := item.Text()
		if item.Kind() != jcs.String || len(out) == limit || !isWord(s) || (len(out) > 0 && s <= out[len(out)-1]) {
			o.fail(name)
			return nil
		}
		out = append(out, s)
	}
	return out
}

func isWord(s string) bool {
	return s != "" && len(s) <= 16 && !strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
}

func (o *object) done() error {
	if o.err == nil && o.v.Len() != o.read {
		o.err = refuse(Malformed, "the answer has unknown members")
	}
	return o.err
}

// clientData checks what the browser says that a new key was made for.
func clientData(raw []byte, typ, challenge, origin string) error {
	v, err := jcs.Parse(raw, jcs.SoW)
	cross := v.Get("crossOrigin")
	switch {
	case err != nil || v.Kind() != jcs.Object:
		return refuse(Malformed, "the client data is not strict JSON of one object")
	case v.Get("type").Text() != typ:
		return refuse(WrongType, "the client data is of another operation")
	case v.Get("challenge").Text() != challenge:
		return refuse(WrongChallenge, "the challenge is not the one that was given")
	case v.Get("origin").Text() != origin:
		return refuse(WrongOrigin, "the page that was answered is not the vault's")
	case cross.Exists() && (cross.Kind() != jcs.Bool || cross.Bool()):
		return refuse(Framed, "the page was framed by another")
	}
	return nil
}

// Expect is what a registration must be of.
type Expect struct {
	Challenge [32]byte // drawn by the key process for this one registration
	Origin    string   // of the page
	RPID      string
	Enrolled  [][]byte // credential ids that are enrolled already
}

// Registration is a new passkey. Nothing here is attested: Transports,
// Attachment and AAGUID are the browser's word.
type Registration struct {
	CredentialID   []byte
	Key            *confirm.Key
	AAGUID         [16]byte
	Transports     []string // sorted: usb, nfc, ble, hybrid, internal, …
	Attachment     string   // "platform", "cross-platform" or ""
	BackupEligible bool
	BackedUp       bool
	SignCount      uint32
}

// ParseRegistration reads and checks the answer of the ceremony page to a
// registration: an object of exactly authenticator_data and client_data_json
// (unpadded base64url), transports (sorted) and attachment. Id and key are
// taken from the attested credential data. The error is a [Refusal]. It does not block.
func ParseRegistration(raw []byte, want Expect) (*Registration, error) {
	o, err := parse(raw)
	if err != nil {
		return nil, err
	}
	auth, client := o.bytes("authenticator_data", maxAuthData), o.bytes("client_data_json", maxClientData)
	r := &Registration{Transports: o.words("transports", 8), Attachment: o.word("attachment", "", "platform", "cross-platform")}
	if err := o.done(); err != nil {
		return nil, err
	}
	challenge := base64.RawURLEncoding.EncodeToString(want.Challenge[:])
	if err := clientData(client, "webauthn.create", challenge, want.Origin); err != nil {
		return nil, err
	}
	data, err := confirm.ParseAuthData(auth)
	switch {
	case err != nil:
		return nil, refuse(Malformed, "the authenticator data has another length than it says")
	case data.RPIDHash != sha256.Sum256([]byte(want.RPID)):
		return nil, refuse(WrongRPID, "the passkey was made for another name")
	case !data.UserPresent:
		return nil, refuse(NotPresent, "nobody was present")
	case !data.UserVerified:
		return nil, refuse(NotVerified, "nobody was verified")
	case data.BackedUp && !data.BackupEligible:
		return nil, refuse(BackupChanged, confirm.ErrBackupState.Error())
	}
	cose, err := r.attested(auth)
	if err != nil {
		return nil, refuse(Malformed, err.Error())
	}
	if r.Key, err = confirm.ParseKey(cose); err != nil {
		return nil, refuse(UnsupportedKey, "its key is not of a kind that the vault knows")
	}
	if slices.ContainsFunc(want.Enrolled, func(id []byte) bool { return bytes.Equal(id, r.CredentialID) }) {
		return nil, refuse(KnownCredential, "this passkey is enrolled already")
	}
	r.BackupEligible, r.BackedUp, r.SignCount = data.BackupEligible, data.BackedUp, data.SignCount
	return r, nil
}

// Kind says what answered, as far as the browser told: a thing of its own only
// where it told so and the passkey cannot be copied from there, else [confirm.Program].
func (r *Registration) Kind() confirm.PasskeyKind {
	has := func(names ...string) bool {
		return slices.ContainsFunc(r.Transports, func(t string) bool { return slices.Contains(names, t) })
	}
	switch {
	case r.Attachment == "cross-platform" && has("hybrid"):
		return confirm.Phone
	case r.Attachment == "cross-platform" && has("usb", "nfc", "ble", "smart-card") && !has("internal"):
		return confirm.SecurityKey
	case r.Attachment == "platform" && has("internal") && !has("hybrid") && !r.BackupEligible:
		return confirm.ThisDevice
	}
	return confirm.Program
}

// Flags of authenticator data (WebAuthn section 6.1).
const (
	flagAttested   = 1 << 6
	flagExtensions = 1 << 7
)

var errCredential = errors.New("the authenticator data has no whole credential")

// attested reads id and AAGUID from the attested credential data (WebAuthn
// section 6.5.1) and returns the COSE_Key. What follows the key must be one CBOR map,
// exactly if the flag for extensions is set.
func (r *Registration) attested(auth []byte) (cose []byte, err error) {
	flags, rest := auth[32], auth[37:]
	if flags&flagAttested == 0 || len(rest) < 18 {
		return nil, errCredential
	}
	copy(r.AAGUID[:], rest)
	n := int(rest[16])<<8 | int(rest[17])
	if rest = rest[18:]; n == 0 || n > maxCredential || len(rest) < n {
		return nil, errCredential
	}
	r.CredentialID, rest = bytes.Clone(rest[:n]), rest[n:]
	n, err = itemLength(rest)
	if err != nil {
		return nil, errCredential
	}
	cose, rest = rest[:n], rest[n:]
	if (len(rest) > 0) != (flags&flagExtensions != 0) {
		return nil, errors.New("what follows the credential is not what the flags say")
	}
	if len(rest) > 0 {
		if n, err := itemLength(rest); err != nil || n != len(rest) || rest[0]>>5 != majorMap {
			return nil, errors.New("the extensions are not one map")
		}
	}
	return cose, nil
}
