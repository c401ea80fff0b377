package envelope

import (
	"errors"
	"fmt"
	"strings"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// Payload is what an agent wants signed as an action.
type Payload struct {
	v         jcs.Value
	canonical string
}

// ErrTypedPayload is returned for a payload that is an AgentEnvelope document
// and therefore must not be signed as an action.
var ErrTypedPayload = errors.New("payload is an agentenvelope document, which is not signed as an action")

// ParsePayload reads an action payload, any JSON value of the agentenvelope
// profile.
func ParsePayload(raw []byte) (*Payload, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse payload: %w", err)
	}
	return &Payload{v, string(v.Canonical())}, nil
}

// Value returns the payload's tree.
func (p *Payload) Value() jcs.Value { return p.v }

// Canonical returns the canonical form.
func (p *Payload) Canonical() []byte { return []byte(p.canonical) }

// Hash returns the SHA-256 of the canonical form.
func (p *Payload) Hash() string { return HashText(p.canonical) }

// Digest returns what an action signature signs.
func (p *Payload) Digest() [32]byte { return Digest(tag.ActionPayload, []byte(p.canonical)) }

// Signable returns ErrTypedPayload for a payload whose type begins with
// agentenvelope., in any case and after any spaces.
func (p *Payload) Signable() error {
	t := strings.ToLower(trim(p.v.Get("type").Text()))
	if strings.HasPrefix(t, "agentenvelope.") {
		return ErrTypedPayload
	}
	return nil
}

// Contradiction is a top-level member of a payload that says something else
// than the envelope under which it would be signed. The texts are JSON.
type Contradiction struct {
	Member   string
	Payload  string
	Envelope string
}

// Contradictions compares the payload's top-level operation, resource,
// resources, actionIndex, agentId and domainHash with the envelope. Members
// that are absent do not contradict; a list of resources may be a part of the
// envelope's.
func (p *Payload) Contradictions(e *ActionEnvelope) []Contradiction {
	var out []Contradiction
	differs := func(member string, got jcs.Value, want any) {
		out = append(out, Contradiction{member, string(got.Canonical()), string(mustMarshal(want))})
	}
	text := func(member, want string) {
		if v := p.v.Get(member); v.Exists() && (v.Kind() != jcs.String || v.Text() != want) {
			differs(member, v, want)
		}
	}
	text("operation", e.fields.Operation)
	resources := set(e.fields.Resources)
	has := func(v jcs.Value) bool { return v.Kind() == jcs.String && in(v.Text(), resources) }
	if v := p.v.Get("resource"); v.Exists() && !has(v) {
		differs("resource", v, e.fields.Resources)
	}
	if v := p.v.Get("resources"); v.Exists() {
		inside := v.Kind() == jcs.Array && v.Len() > 0 || has(v)
		for _, it := range v.Items() {
			inside = inside && has(it)
		}
		if !inside {
			differs("resources", v, e.fields.Resources)
		}
	}
	if v := p.v.Get("actionIndex"); v.Exists() {
		if n, ok := v.Int(); !ok || n != e.fields.ActionIndex {
			differs("actionIndex", v, e.fields.ActionIndex)
		}
	}
	text("agentId", e.fields.AgentID)
	text("domainHash", e.domainHash)
	return out
}

// VerifyAction checks an action signature over a payload against an address
// that the caller trusts, in either case (AgentEnvelope section 11).
func VerifyAction(payload []byte, signature, address string) *Report {
	r := newReport()
	p, err := ParsePayload(payload)
	r.checkErr("payloadWellFormed", err)
	r.check("addressWellFormed", isAddressAnyCase(address), "expected address is invalid")
	var digest [32]byte
	if err == nil {
		digest = p.Digest()
	}
	r.signed(signature, digest, err == nil, address, "address mismatch")
	r.Pinned = r.Valid
	return r
}
