package confirm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vault/derive/jcs"
)

// Bounds of a context.
const (
	MaxLifetime = 120 * 1000 // milliseconds from issued_at to expires_at
	MaxLines    = 256        // lines in says
	MaxLine     = 4096       // bytes in a line
	maxContext  = 64 << 10   // bytes
)

// BindingProfile is the profile of every authorization_binding.
const BindingProfile = "vault-moment-v1"

// Document names the version of an agreement.
type Document struct {
	ID      string
	Version int64
}

// Binding ties a context to the resolution of a binding moment.
type Binding struct {
	EnvelopeDigest string // sha256: and 64 lower-case hex digits
	Resolution     string // "option", "answer", "question" or "declined"
	Option         int64  // 0 to 3, of an option
	ActionDigest   string // sha256: and 64 lower-case hex digits, of an option
}

// Fields are what a context says.
type Fields struct {
	Kind      Kind
	Document  *Document // as the kind's rule says
	Digest    string    // SHA-256 of what is to be done, 64 lower-case hex digits
	Role      string    // "client" or "provider" beside a document, else empty
	Says      []string  // the lines a person reads
	Origin    string    // of the page, http://host:port
	RPID      string
	IssuedAt  int64 // milliseconds since epoch, whole seconds
	ExpiresAt int64 // the first instant at which it is over
	Nonce     [32]byte
	RequestID string
	Binding   *Binding // as the kind's rule says
}

// Context is a valid context (section 6 of the design). It cannot be changed.
type Context struct {
	fields    Fields
	canonical string
}

type documentWire struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`
}

type digestWire struct {
	Alg   string `json:"alg"`
	Value string `json:"value"`
}

type bindingWire struct {
	Profile        string `json:"profile"`
	EnvelopeDigest string `json:"envelope_digest"`
	Resolution     string `json:"resolution"`
	Option         *int64 `json:"option_idx,omitempty"`
	ActionDigest   string `json:"action_digest,omitempty"`
}

type contextWire struct {
	Kind      Kind          `json:"kind"`
	Document  *documentWire `json:"document,omitempty"`
	Digest    digestWire    `json:"digest"`
	Role      string        `json:"role,omitempty"`
	Says      []string      `json:"says"`
	Origin    string        `json:"origin"`
	RPID      string        `json:"rp_id"`
	IssuedAt  string        `json:"issued_at"`
	ExpiresAt string        `json:"expires_at"`
	Nonce     string        `json:"nonce"`
	RequestID string        `json:"request_id"`
	Binding   *bindingWire  `json:"authorization_binding,omitempty"`
}

// NewContext builds the context of a ceremony of this computer: the origin must
// be a page of the RP ID ([IsPageOrigin]). Everything else is as [ParseContext]
// has it.
func NewContext(f Fields) (*Context, error) {
	w := contextWire{
		Kind: f.Kind, Digest: digestWire{"sha256", f.Digest}, Role: f.Role, Says: f.Says, Origin: f.Origin, RPID: f.RPID,
		Nonce: tobase64(f.Nonce[:]), RequestID: f.RequestID,
	}
	switch {
	case !IsPageOrigin(f.Origin, f.RPID):
		return nil, errors.New("build confirmation context: the origin is not a page of the rp id")
	case f.IssuedAt%1000 != 0 || f.ExpiresAt%1000 != 0:
		return nil, errors.New("build confirmation context: the times are not whole seconds")
	}
	w.IssuedAt, w.ExpiresAt = time.UnixMilli(f.IssuedAt).UTC().Format(layout), time.UnixMilli(f.ExpiresAt).UTC().Format(layout)
	if f.Document != nil {
		w.Document = &documentWire{f.Document.ID, f.Document.Version}
	}
	if b := f.Binding; b != nil {
		w.Binding = &bindingWire{BindingProfile, b.EnvelopeDigest, b.Resolution, nil, b.ActionDigest}
		if b.Resolution == "option" {
			w.Binding.Option = &b.Option
		}
	}
	raw, err := jcs.Marshal(w, jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("build confirmation context: %w", err)
	}
	c, err := ParseContext(raw)
	if err != nil {
		return nil, fmt.Errorf("build confirmation context: %w", err)
	}
	return c, nil
}

// ParseContext reads a context strictly: exactly its members, a kind of the
// table with what its rule asks for, sha256 and 64 lower-case hex digits, times
// in UTC seconds with Z at most MaxLifetime apart, a nonce of 32 bytes in
// unpadded base64url. Order and spelling of the JSON are free; what is signed is
// the canonical form. It does not block.
func ParseContext(raw []byte) (*Context, error) {
	o, err := parse(raw, maxContext)
	if err == nil {
		var c *Context
		if c, err = readContext(o); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("parse confirmation context: %w", err)
}

func readContext(o *object) (*Context, error) {
	f := Fields{Kind: Kind(o.text("kind", func(s string) bool { _, ok := Kind(s).Rule(); return ok }))}
	rule, _ := f.Kind.Rule()
	digest := o.sub("digest")
	digest.text("alg", is("sha256"))
	f.Digest = digest.text("value", isDigest)
	finish(digest)
	if rule.Document {
		d := o.sub("document")
		f.Document = &Document{ID: d.text("id", isLine(256)), Version: d.integer("version", 1, maxInt)}
		finish(d)
		f.Role = o.text("role", is("client", "provider"))
	}
	for i, v := range o.list("says", 1, MaxLines) {
		if v.Kind() != jcs.String || !isLine(MaxLine)(v.Text()) {
			o.fail("says["+strconv.Itoa(i)+"]", "is not a line of text")
		}
		f.Says = append(f.Says, v.Text())
	}
	f.Origin, f.RPID = o.text("origin", isOrigin), o.text("rp_id", isHost)
	f.IssuedAt, _ = instant(o.text("issued_at", isInstant))
	f.ExpiresAt, _ = instant(o.text("expires_at", isInstant))
	if f.ExpiresAt <= f.IssuedAt || f.ExpiresAt-f.IssuedAt > MaxLifetime {
		o.fail("expires_at", "is not after issued_at, within two minutes")
	}
	copy(f.Nonce[:], o.bytes("nonce", 32, 32))
	f.RequestID = o.text("request_id", isRequestID)
	if rule.Binding {
		f.Binding = readBinding(o.sub("authorization_binding"))
	}
	if err := o.done(); err != nil {
		return nil, err
	}
	return &Context{f, string(o.v.Canonical())}, nil
}

// finish closes an inner object; its fault is the document's.
func finish(o *object) { _ = o.done() }

func readBinding(o *object) *Binding {
	o.text("profile", is(BindingProfile))
	b := &Binding{
		EnvelopeDigest: o.text("envelope_digest", isOwnDigest),
		Resolution:     o.text("resolution", is("option", "answer", "question", "declined")),
	}
	if b.Resolution == "option" {
		b.Option, b.ActionDigest = o.integer("option_idx", 0, 3), o.text("action_digest", isOwnDigest)
	}
	finish(o)
	return b
}

// Fields returns what the context says. The caller may change it.
func (c *Context) Fields() Fields {
	f := c.fields
	f.Says = slices.Clone(f.Says)
	if f.Document != nil {
		d := *f.Document
		f.Document = &d
	}
	if f.Binding != nil {
		b := *f.Binding
		f.Binding = &b
	}
	return f
}

// Canonical returns the canonical form.
func (c *Context) Canonical() []byte { return []byte(c.canonical) }

// Challenge returns the WebAuthn challenge: SHA-256 of the canonical form.
func (c *Context) Challenge() [32]byte { return sha256.Sum256([]byte(c.canonical)) }

// ChallengeText returns the challenge as it stands in client data, unpadded
// base64url.
func (c *Context) ChallengeText() string {
	sum := c.Challenge()
	return tobase64(sum[:])
}

// Covers compares the context with the bytes of the act: its digest, and for
// the resolution of a moment also each member of authorization_binding that the
// resolution has. The action digest is not in a resolution. The error says what
// differs.
func (c *Context) Covers(act []byte) error {
	sum := sha256.Sum256(act)
	if c.fields.Digest != hex.EncodeToString(sum[:]) {
		return errors.New("compare confirmation: the digest is of other bytes")
	}
	b := c.fields.Binding
	if b == nil {
		return nil
	}
	v, err := jcs.Parse(act, jcs.Binding)
	if err != nil {
		return fmt.Errorf("compare confirmation: %w", err)
	}
	r := v.Get("binding_moment_resolution")
	n, chosen := r.Get("option_idx").Int()
	switch {
	case r.Get("envelope_digest").Text() != b.EnvelopeDigest:
		return errors.New("compare confirmation: the resolution is of another moment")
	case r.Get("resolution").Text() != b.Resolution:
		return errors.New("compare confirmation: another resolution is returned")
	case chosen != (b.Resolution == "option") || n != b.Option:
		return errors.New("compare confirmation: another option is returned")
	}
	return nil
}

// IsPageOrigin reports whether the origin is that of a page which the vault
// serves on a loopback port: http, exactly the RP ID, and a port.
func IsPageOrigin(origin, rpID string) bool {
	port, ok := strings.CutPrefix(origin, "http://"+rpID+":")
	if !ok || !isHost(rpID) || !isPort(port) {
		return false
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}
