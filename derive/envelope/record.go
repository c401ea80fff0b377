package envelope

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"vault/derive/jcs"
)

// The custody modes of a record. This vault emits CustodyExternal for what it
// derives and CustodyRemoteMint for what it mints.
const (
	CustodyBrowser    = "sovereign-browser"
	CustodyExternal   = "external-custody"
	CustodyRemoteMint = "remote-mint-delegate"
)

const verifierProfile = "domain-action-envelope"

func knownCustody(mode string) bool {
	return mode == CustodyBrowser || mode == CustodyExternal || mode == CustodyRemoteMint
}

// Record is a public action record (AgentEnvelope section 10): what a verifier
// needs, and nothing private. It is not signed: nothing in it ties the address
// to the envelope for somebody who does not already trust where it came from.
type Record struct {
	v          jcs.Value
	canonical  string
	envelope   *ActionEnvelope
	projection *Projection
}

// RecordInput is what a record is made of.
type RecordInput struct {
	OwnerUserID  string
	CustodyMode  string
	CreatedAt    string // RFC 3339
	AgentAddress string
	Domain       *Projection
	Envelope     *ActionEnvelope
}

func recordMembers() (required, optional []string) {
	return []string{
		"type", "version", "recordId", "ownerUserId", "custodyMode", "verifierProfile", "status",
		"createdAt", "agentId", "agentAddress", "domain", "actionEnvelope",
		"canonicalActionEnvelope", "actionEnvelopeHash", "expiry",
	}, []string{"legitimacyRef"}
}

// NewRecord builds an active record.
func NewRecord(in RecordInput) (*Record, error) {
	r, err := newRecord(in)
	if err != nil {
		return nil, fmt.Errorf("build public action record: %w", err)
	}
	return r, nil
}

func newRecord(in RecordInput) (*Record, error) {
	switch {
	case in.Domain == nil || in.Envelope == nil:
		return nil, errors.New("domain or envelope is missing")
	case trim(in.OwnerUserID) == "" || !utf8.ValidString(in.OwnerUserID):
		return nil, errors.New("ownerUserId is required")
	case !knownCustody(in.CustodyMode):
		return nil, errors.New("custodyMode is unknown")
	case !IsAddress(in.AgentAddress):
		return nil, errors.New("agent address is invalid")
	}
	if err := in.Envelope.MatchDomain(in.Domain.Info()); err != nil {
		return nil, err
	}
	if _, err := ParseTime(in.CreatedAt); err != nil {
		return nil, fmt.Errorf("createdAt: %w", err)
	}
	var expiry any
	if end := in.Envelope.fields.Window.NotAfter; end.Set {
		text, err := FormatTime(end.N)
		if err != nil {
			return nil, fmt.Errorf("expiry: %w", err)
		}
		expiry = text
	}
	raw := mustMarshal(map[string]any{
		"type": TypeRecord, "version": 1,
		"recordId":                recordID(in.OwnerUserID, in.AgentAddress, in.Envelope.Hash()),
		"ownerUserId":             in.OwnerUserID,
		"custodyMode":             in.CustodyMode,
		"verifierProfile":         verifierProfile,
		"status":                  "active",
		"createdAt":               in.CreatedAt,
		"agentId":                 in.Envelope.fields.AgentID,
		"agentAddress":            in.AgentAddress,
		"domain":                  in.Domain.wire(),
		"actionEnvelope":          rawJSON(in.Envelope.canonical),
		"canonicalActionEnvelope": in.Envelope.canonical,
		"actionEnvelopeHash":      in.Envelope.Hash(),
		"expiry":                  expiry,
	})
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, err
	}
	return record(v)
}

func recordID(ownerUserID, agentAddress, envelopeHash string) string {
	return shortID("ae-action-", 20,
		"actionEnvelopeHash", envelopeHash, "agentAddress", agentAddress, "ownerUserId", ownerUserID)
}

// MatchDomain returns an error unless the envelope names this domain.
func (e *ActionEnvelope) MatchDomain(d *DomainInfo) error {
	if e.domainID != d.domainID || e.domainHash != d.Hash() {
		return errors.New("action envelope does not match the selected domain")
	}
	return nil
}

// ParseRecord reads a record strictly: exact members at every depth, so that
// nothing private can hide in it, and every rule that needs neither a clock
// nor a signature.
func ParseRecord(raw []byte) (*Record, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse public action record: %w", err)
	}
	r, err := record(v)
	if err != nil {
		return nil, fmt.Errorf("parse public action record: %w", err)
	}
	return r, nil
}

func record(v jcs.Value) (*Record, error) {
	required, optional := recordMembers()
	if err := members(v, required, optional); err != nil {
		return nil, err
	}
	if err := textMembers(v, "recordId", "ownerUserId", "custodyMode", "status", "createdAt", "agentId"); err != nil {
		return nil, err
	}
	if e := v.Get("expiry"); e.Kind() != jcs.Null && !isText(e) {
		return nil, errors.New("expiry is neither a text nor null")
	}
	r := newReport()
	env := r.recordChecks(v, Opt{}, nil)
	if !r.Valid {
		return nil, errors.New(r.Reason)
	}
	p, err := projection(v.Get("domain"))
	if err != nil {
		return nil, fmt.Errorf("domain: %w", err)
	}
	switch {
	case !knownCustody(v.Get("custodyMode").Text()):
		return nil, errors.New("custodyMode is unknown")
	case v.Get("verifierProfile").Text() != verifierProfile:
		return nil, errors.New("verifierProfile is unknown")
	case v.Get("agentId").Text() != env.fields.AgentID:
		return nil, errors.New("agentId is not that of the action envelope")
	}
	if ref := v.Get("legitimacyRef"); ref.Exists() {
		if _, err := legitimacyRef(ref); err != nil {
			return nil, err
		}
	}
	return &Record{v, string(v.Canonical()), env, p}, nil
}

// Value returns the record's tree.
func (r *Record) Value() jcs.Value { return r.v }

// Canonical returns the canonical form.
func (r *Record) Canonical() []byte { return []byte(r.canonical) }

// Hash returns the SHA-256 of the canonical form. Unlike the action envelope's
// hash it fixes the agent address too.
func (r *Record) Hash() string { return HashText(r.canonical) }

// ID returns the recordId.
func (r *Record) ID() string { return r.v.Get("recordId").Text() }

// AgentAddress returns the address of the capability.
func (r *Record) AgentAddress() string { return r.v.Get("agentAddress").Text() }

// CustodyMode returns the custody mode.
func (r *Record) CustodyMode() string { return r.v.Get("custodyMode").Text() }

// Envelope returns the action envelope.
func (r *Record) Envelope() *ActionEnvelope { return r.envelope }

// Domain returns the domain projection.
func (r *Record) Domain() *Projection { return r.projection }

// RecordOptions is what a verifier knows beside the record.
type RecordOptions struct {
	Now int64 // milliseconds since the epoch
	// ActionIndex is the registered index, if the verifier has one.
	ActionIndex Opt
	// ExpectedHash is the action envelope hash the verifier expects, nil for
	// none. An empty text is a malformed hash.
	ExpectedHash *string
	Pins         Pins
}

// VerifyRecord checks a payload and signature against a public action record
// (AgentEnvelope section 11). It does not prove that a use is unspent. Members
// that no version of the record knows are warned of at the top level, refused
// inside the envelope, and refused anywhere if they are named like private
// material.
func VerifyRecord(rawRecord, rawPayload []byte, signature string, o RecordOptions) *Report {
	r := newReport()
	v, env := r.record(rawRecord, o)
	payload, err := ParsePayload(rawPayload)
	r.checkErr("payloadWellFormed", err)
	var digest [32]byte
	if err == nil {
		digest = payload.Digest()
	}
	r.signed(signature, digest, err == nil, v.Get("agentAddress").Text(), "address mismatch")
	r.recordWarnings(v)
	if payload != nil && env != nil {
		for _, c := range payload.Contradictions(env) {
			r.warn("the payload's " + c.Member + " contradicts the action envelope")
		}
	}
	r.recordPins(v, o)
	return r
}

// VerifyRecordAlone makes the checks of [VerifyRecord] that need neither payload nor signature.
// What it accepts says what an address may sign; that anybody signed anything it does not say.
func VerifyRecordAlone(rawRecord []byte, o RecordOptions) *Report {
	r := newReport()
	v, _ := r.record(rawRecord, o)
	r.recordWarnings(v)
	r.recordPins(v, o)
	return r
}

// record checks the record itself and gives it and, where its shape is valid, its envelope.
func (r *Report) record(raw []byte, o RecordOptions) (jcs.Value, *ActionEnvelope) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	r.checkErr("recordWellFormed", err)
	env := r.recordChecks(v, o.ActionIndex, o.ExpectedHash)
	if env == nil {
		r.check("withinTimeWindow", false, notReached)
	} else {
		r.checkErr("withinTimeWindow", env.Admits(o.Now))
	}
	hash := v.Get("actionEnvelopeHash").Text()
	r.check("actionEnvelopeHashMatches", o.ExpectedHash == nil || *o.ExpectedHash == hash, "action envelope hash mismatch")
	return v, env
}

// recordChecks runs the checks of a record that need neither clock, payload
// nor signature, in the order of the reference, and returns its envelope if it
// has one of valid shape.
func (r *Report) recordChecks(v jcs.Value, index Opt, expected *string) *ActionEnvelope {
	ae, domain := v.Get("actionEnvelope"), v.Get("domain")
	hash := v.Get("actionEnvelopeHash").Text()
	r.check("recordType", isType(v, TypeRecord), "public action record type is invalid")
	r.check("recordVersion", isVersion1(v), "public action record version is invalid")
	r.check("agentAddressWellFormed", IsAddress(v.Get("agentAddress").Text()), "agent address is invalid")
	r.check("actionEnvelopePresent", ae.Kind() == jcs.Object, "action envelope is required")
	r.check("actionEnvelopeHashWellFormed", IsHash(hash), "action envelope hash is invalid")
	r.check("expectedHashWellFormed", expected == nil || IsHash(*expected), "expected action envelope hash is invalid")
	r.check("noPrivateMaterial", !holdsPrivate(v), "record holds a member named like private material")
	r.check("recordActive", v.Get("status").Kind() == jcs.String && v.Get("status").Text() == "active", "record inactive")
	n, ok := ae.Get("actionIndex").Int()
	r.check("actionRegistered", !index.Set || ok && n == index.N, "action index not registered")
	env, err := actionEnvelope(ae)
	var canonical, computed string
	if env != nil {
		canonical, computed = env.canonical, env.hash
	} else {
		canonical = string(ae.Canonical())
		computed = HashText(canonical)
	}
	r.check("canonicalActionEnvelopeMatches", isText(v.Get("canonicalActionEnvelope")) && v.Get("canonicalActionEnvelope").Text() == canonical, "canonical action envelope mismatch")
	r.check("actionEnvelopeHashConsistent", computed == hash, "action envelope hash inconsistent")
	info := string(domain.Get("domainInfo").Canonical())
	r.check("domainCanonicalMatches", info != "" && domain.Get("canonicalDomainInfo").Text() == info, "domain canonical info mismatch")
	r.check("domainHashConsistent", domain.Get("domainHash").Text() == HashText(info), "domain hash inconsistent")
	r.check("domainHashMatches", same(ae.Get("domain").Get("domainHash"), domain.Get("domainHash")), "domain hash mismatch")
	id := domain.Get("domainInfo").Get("domainId")
	flat := domain.Get("domainId")
	r.check("domainIdMatches", same(ae.Get("domain").Get("domainId"), id) && (!flat.Exists() || same(flat, id)), "domain id mismatch")
	r.checkErr("actionEnvelopeShapeValid", err)
	return env
}

// same reports two texts that are equal.
func same(a, b jcs.Value) bool {
	return a.Kind() == jcs.String && b.Kind() == jcs.String && a.Text() == b.Text()
}

func (r *Report) recordWarnings(v jcs.Value) {
	required, optional := recordMembers()
	if name, ok := unknownMember(v, required, optional); ok {
		r.warn("the record holds an unknown member " + quoteShort(name))
	}
	domain := v.Get("domain")
	required, optional = projectionMembers()
	if name, ok := unknownMember(domain, required, optional); ok {
		r.warn("the record's domain holds an unknown member " + quoteShort(name))
	}
	if id := v.Get("recordId"); isText(id) && id.Text() != recordID(v.Get("ownerUserId").Text(), v.Get("agentAddress").Text(), v.Get("actionEnvelopeHash").Text()) {
		r.warn("the record id is not the one the rule gives")
	}
	if !same(v.Get("agentId"), v.Get("actionEnvelope").Get("agentId")) {
		r.warn("the record's agentId is not that of the action envelope")
	}
	if domain.Get("domainFingerprint").Text() != fingerprint(domain.Get("domainAddress").Text(), domain.Get("domainHash").Text()) {
		r.warn("the domain fingerprint is not the one the rule gives")
	}
	if v.Get("legitimacyRef").Exists() {
		r.warn("legitimacy is not part of validity and was not checked")
	}
	if v.Get("custodyMode").Text() == CustodyRemoteMint {
		r.warn("issuer-asserted: nothing binds a minted address to its action envelope")
	}
}

// privateNames are member names, in lower case and without separators, under
// which software keeps private material.
var privateNames = map[string]bool{
	"identityroot": true, "identityroothex": true, "root": true, "passphrase": true,
	"domainseed": true, "domainseedhex": true, "actionseed": true, "actionseedhex": true,
	"botseed": true, "botseedhex": true, "mintmaterial": true, "mintmaterialhex": true,
	"privatekey": true, "privatekeyhex": true, "secretkey": true, "secret": true,
	"seed": true, "seedhex": true, "mnemonic": true,
}

// longestPrivate is longer than any of those names with separators.
const longestPrivate = 32

func isPrivateName(name string) bool {
	var b [longestPrivate]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == ' ' || c == '.':
			continue
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		}
		if n == len(b) {
			return false
		}
		b[n] = c
		n++
	}
	return privateNames[string(b[:n])]
}

func holdsPrivate(v jcs.Value) bool {
	for m := range v.Members() {
		if isPrivateName(m.Name) || holdsPrivate(m.Value) {
			return true
		}
	}
	for _, it := range v.Items() {
		if holdsPrivate(it) {
			return true
		}
	}
	return false
}
