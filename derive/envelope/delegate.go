package envelope

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// The bot policies of a delegate.
const (
	BotAny = "any-signed-bot"
	BotSet = "address-set"
)

// DelegateFields is what an owner chooses when a delegate is issued; names and
// meanings are those of the wire object.
type DelegateFields struct {
	DomainHash          string
	AllowedOperations   []string
	AllowedResources    []string // exact, X:* or *
	BotPolicy           string
	AllowedBotAddresses []string // counts under address-set only
	IndexMin, IndexMax  int64
	MaxMints            int64
	MaxUsesPerAction    int64
	Window              Window
	Nonce               string // 0x and 64 hex digits
	IssuedAt            string // RFC 3339
	AvatarAddress       string // "" for none
	Legitimacy          *LegitimacyRef
}

// MintDelegate is an issuer's permission for bots to have capabilities minted
// (AgentEnvelope section 12). One without a signature is a body to be signed.
type MintDelegate struct {
	fields    DelegateFields
	id        string
	issuer    string
	signature string
	body      string // canonical, without issuerSignature
	hash      string // of the body
	v         jcs.Value
}

func delegateMembers() (required, optional []string) {
	return []string{
		"type", "version", "delegateId", "issuerAddress", "domainHash", "allowedOperations", "allowedResources",
		"botPolicy", "actionIndexPolicy", "maxMints", "maxUsesPerAction", "timeWindow", "nonce", "issuedAt",
	}, []string{"allowedBotAddresses", "avatarAddress", "legitimacyRef", "issuerSignature"}
}

// NewMintDelegate builds the body that the domain's key is to sign. Bot
// addresses are left out unless the policy is address-set.
func NewMintDelegate(issuerAddress string, f DelegateFields) (*MintDelegate, error) {
	if !utf8.ValidString(f.Nonce) || !IsAddress(issuerAddress) {
		return nil, errors.New("build mint delegate: nonce or issuer address is malformed")
	}
	body := map[string]any{
		"type": TypeMintDelegate, "version": 1,
		"delegateId":        delegateID(issuerAddress, f.DomainHash, f.Nonce),
		"issuerAddress":     issuerAddress,
		"domainHash":        f.DomainHash,
		"allowedOperations": f.AllowedOperations,
		"allowedResources":  f.AllowedResources,
		"botPolicy":         f.BotPolicy,
		"actionIndexPolicy": map[string]int64{"min": f.IndexMin, "max": f.IndexMax},
		"maxMints":          f.MaxMints,
		"maxUsesPerAction":  f.MaxUsesPerAction,
		"timeWindow":        f.Window,
		"nonce":             f.Nonce,
		"issuedAt":          f.IssuedAt,
	}
	if f.BotPolicy == BotSet {
		body["allowedBotAddresses"] = f.AllowedBotAddresses
	}
	if f.AvatarAddress != "" {
		body["avatarAddress"] = f.AvatarAddress
	}
	if f.Legitimacy != nil {
		body["legitimacyRef"] = f.Legitimacy.wire()
	}
	raw, err := jcs.Marshal(body, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("build mint delegate: %w", err)
	}
	d, err := ParseMintDelegate(raw)
	if err != nil {
		return nil, fmt.Errorf("build mint delegate: %w", err)
	}
	return d, nil
}

func delegateID(issuer, domainHash, nonce string) string {
	return shortID("ae-delegate-", 16, "domainHash", domainHash, "issuerAddress", issuer, "nonce", nonce)
}

// ParseDelegateFields reads the members an owner's form or another program
// names for a new delegate: those of the wire object without type, version,
// ids, issuer and signature.
func ParseDelegateFields(raw []byte) (DelegateFields, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return DelegateFields{}, fmt.Errorf("parse delegate fields: %w", err)
	}
	required, optional := delegateMembers()
	err = members(v, required[4:], optional[:3])
	var f DelegateFields
	if err == nil {
		f, err = delegateFields(v)
	}
	if err != nil {
		return DelegateFields{}, fmt.Errorf("parse delegate fields: %w", err)
	}
	return f, nil
}

// ParseMintDelegate reads a delegate strictly, with or without its signature:
// exact members, every shape rule. It does not verify it.
func ParseMintDelegate(raw []byte) (*MintDelegate, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse mint delegate: %w", err)
	}
	d, err := mintDelegate(v)
	if err != nil {
		return nil, fmt.Errorf("parse mint delegate: %w", err)
	}
	return d, nil
}

// mintDelegate applies the shape rules; its errors are reasons of a report.
func mintDelegate(v jcs.Value) (*MintDelegate, error) {
	required, optional := delegateMembers()
	switch {
	case v.Kind() != jcs.Object:
		return nil, errors.New("delegate must be an object")
	case !isType(v, TypeMintDelegate):
		return nil, errors.New("type is invalid")
	case !isVersion1(v):
		return nil, errors.New("version is invalid")
	case !isAddressAnyCase(v.Get("issuerAddress").Text()):
		return nil, errors.New("issuerAddress is invalid")
	case !isText(v.Get("delegateId")):
		return nil, errors.New("delegateId is invalid")
	}
	f, err := delegateFields(v)
	if err != nil {
		return nil, err
	}
	if err := members(v, required, optional); err != nil {
		return nil, err
	}
	d := &MintDelegate{
		fields: f,
		id:     v.Get("delegateId").Text(),
		issuer: v.Get("issuerAddress").Text(),
		body:   string(v.Without("issuerSignature").Canonical()),
		v:      v,
	}
	d.hash = HashText(d.body)
	if s := v.Get("issuerSignature"); s.Exists() {
		if !isText(s) {
			return nil, errors.New("issuerSignature is invalid")
		}
		d.signature = s.Text()
	}
	return d, nil
}

func delegateFields(v jcs.Value) (DelegateFields, error) {
	f := DelegateFields{DomainHash: v.Get("domainHash").Text(), BotPolicy: v.Get("botPolicy").Text(), Nonce: v.Get("nonce").Text(), IssuedAt: v.Get("issuedAt").Text()}
	if a := v.Get("avatarAddress"); a.Exists() {
		if !isAddressAnyCase(a.Text()) {
			return f, errors.New("avatarAddress is invalid")
		}
		f.AvatarAddress = a.Text()
	}
	if !IsHash(f.DomainHash) {
		return f, errors.New("domainHash is invalid")
	}
	var ok bool
	if f.AllowedOperations, ok = texts(v.Get("allowedOperations")); !ok {
		return f, errors.New("allowedOperations is invalid")
	}
	if f.AllowedResources, ok = texts(v.Get("allowedResources")); !ok {
		return f, errors.New("allowedResources is invalid")
	}
	if f.BotPolicy != BotAny && f.BotPolicy != BotSet {
		return f, errors.New("botPolicy is invalid")
	}
	if bots := v.Get("allowedBotAddresses"); bots.Exists() {
		f.AllowedBotAddresses, ok = texts(bots)
		for _, a := range f.AllowedBotAddresses {
			ok = ok && isAddressAnyCase(a)
		}
		if !ok {
			return f, errors.New("allowedBotAddresses is invalid")
		}
	} else if f.BotPolicy == BotSet {
		return f, errors.New("address-set policy requires allowedBotAddresses")
	}
	policy := v.Get("actionIndexPolicy")
	lo, okLo := policy.Get("min").Int()
	hi, okHi := policy.Get("max").Int()
	if members(policy, []string{"min", "max"}, nil) != nil || !okLo || !okHi || lo < 0 || hi < lo {
		return f, errors.New("actionIndexPolicy is invalid")
	}
	f.IndexMin, f.IndexMax = lo, hi
	if f.MaxMints, ok = v.Get("maxMints").Int(); !ok || f.MaxMints < 1 {
		return f, errors.New("maxMints is invalid")
	}
	if f.MaxUsesPerAction, ok = v.Get("maxUsesPerAction").Int(); !ok || f.MaxUsesPerAction < 1 {
		return f, errors.New("maxUsesPerAction is invalid")
	}
	var err error
	if f.Window, err = window(v.Get("timeWindow")); err != nil {
		return f, err
	}
	if !isHex(f.Nonce, 64, true) {
		return f, errors.New("nonce is invalid")
	}
	if _, err := ParseTime(f.IssuedAt); err != nil {
		return f, errors.New("issuedAt is invalid")
	}
	if ref := v.Get("legitimacyRef"); ref.Exists() {
		if f.Legitimacy, err = legitimacyRef(ref); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Fields returns a copy of the delegate's fields.
func (d *MintDelegate) Fields() DelegateFields {
	f := d.fields
	f.AllowedOperations = slices.Clone(f.AllowedOperations)
	f.AllowedResources = slices.Clone(f.AllowedResources)
	f.AllowedBotAddresses = slices.Clone(f.AllowedBotAddresses)
	if f.Legitimacy != nil {
		ref := *f.Legitimacy
		f.Legitimacy = &ref
	}
	return f
}

// ID returns the delegateId, a signed label and nothing more: keep state by
// Hash.
func (d *MintDelegate) ID() string { return d.id }

// IssuerAddress returns the issuer's address as written.
func (d *MintDelegate) IssuerAddress() string { return d.issuer }

// Value returns the delegate's tree.
func (d *MintDelegate) Value() jcs.Value { return d.v }

// Body returns the canonical form without the signature: what is signed,
// hashed and confirmed.
func (d *MintDelegate) Body() []byte { return []byte(d.body) }

// Hash returns the delegateHash, the SHA-256 of Body.
func (d *MintDelegate) Hash() string { return d.hash }

// Digest returns what the issuer signs.
func (d *MintDelegate) Digest() [32]byte { return Digest(tag.MintDelegate, []byte(d.body)) }

// Canonical returns the canonical form, with the signature if it has one.
func (d *MintDelegate) Canonical() []byte { return d.v.Canonical() }

// Signed returns the delegate with the issuer's signature, which must recover
// to the issuer.
func (d *MintDelegate) Signed(signature string) (*MintDelegate, error) {
	raw, err := withSignature(d.body, "issuerSignature", signature, d.Digest(), d.issuer)
	if err != nil {
		return nil, fmt.Errorf("sign mint delegate: %w", err)
	}
	return ParseMintDelegate(raw)
}

// withSignature adds a signature member to a canonical body after checking it.
func withSignature(body, member, signature string, digest [32]byte, address string) ([]byte, error) {
	sig, err := ParseSignature(signature)
	if err != nil {
		return nil, err
	}
	got, err := sig.Recover(digest)
	if err != nil {
		return nil, err
	}
	if !sameAddress(got, address) {
		return nil, errors.New("signature is by another key")
	}
	// The body is a canonical object that is not empty, so a member can be
	// appended before its closing brace.
	raw := body[:len(body)-1] + `,"` + member + `":"` + signature + `"}`
	return jcs.Canonical([]byte(raw), jcs.AgentEnvelope)
}

// Warnings returns what a person should know before the delegate is issued or
// imported.
func (d *MintDelegate) Warnings() []string {
	var out []string
	if !d.IDByRule() {
		out = append(out, "the delegate id is not the one the rule gives")
	}
	if !d.fields.Window.NotAfter.Set {
		out = append(out, "the delegate has no end in time")
	}
	dead := slices.IndexFunc(d.fields.AllowedResources, func(r string) bool {
		prefix, wild := strings.CutSuffix(r, ":*")
		return wild && strings.Contains(prefix, ":")
	})
	if dead >= 0 {
		out = append(out, "a wildcard after a second colon never matches anything: "+quoteShort(d.fields.AllowedResources[dead]))
	}
	if slices.Contains(d.fields.AllowedResources, "*") {
		out = append(out, "the delegate allows every resource")
	}
	if d.fields.BotPolicy == BotAny {
		out = append(out, "any bot that signs may ask for a mint")
	}
	return out
}

// SplitDelegate takes a delegate as it lies in a file and separates the
// unsigned domainSummary that portals add: it returns the canonical delegate
// without it, and the summary, nil if there was none. A summary is checked to
// be consistent and to agree with the delegate's domainHash and issuerAddress.
func SplitDelegate(raw []byte) (delegate []byte, summary *Projection, err error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, nil, fmt.Errorf("parse mint delegate: %w", err)
	}
	if s := v.Get("domainSummary"); s.Exists() {
		if summary, err = projection(s); err != nil {
			return nil, nil, fmt.Errorf("parse mint delegate: domainSummary: %w", err)
		}
		if summary.Info().Hash() != v.Get("domainHash").Text() || !sameAddress(summary.Address(), v.Get("issuerAddress").Text()) {
			return nil, nil, errors.New("parse mint delegate: domainSummary is about another domain")
		}
	}
	return v.Without("domainSummary").Canonical(), summary, nil
}

// VerifyMintDelegate checks a delegate (AgentEnvelope section 12) against the
// pins the caller trusts: DomainAddress is its issuer, DomainHash the domain
// of that issuer, ExpectHash its delegateHash. An issuer must be pinned for the
// report to be pinned. It looks at no clock. The delegate is returned if its
// shape is valid, whatever the rest says.
func VerifyMintDelegate(raw []byte, pins Pins) (*Report, *MintDelegate) {
	r := newReport()
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	r.checkErr("delegateWellFormed", err)
	d := r.delegateChecks(v, "", pins)
	return r, d
}

func (r *Report) delegateChecks(v jcs.Value, prefix string, pins Pins) *MintDelegate {
	d, err := mintDelegate(v)
	r.checkErr(prefix+"delegateShapeValid", err)
	issuer := v.Get("issuerAddress").Text()
	var digest [32]byte
	if v.Kind() == jcs.Object {
		digest = Digest(tag.MintDelegate, v.Without("issuerSignature").Canonical())
	}
	sig, err := ParseSignature(v.Get("issuerSignature").Text())
	r.checkErr(prefix+"issuerSignatureWellFormed", err)
	recovered := ""
	if err == nil {
		recovered, err = sig.Recover(digest)
		r.checkErr(prefix+"issuerSignatureValid", err)
	} else {
		r.check(prefix+"issuerSignatureValid", false, notReached)
	}
	r.Recovered = recovered
	r.check(prefix+"issuerAddressMatches", recovered != "" && sameAddress(recovered, issuer), "issuer address mismatch")
	if pins.Owner != "" {
		r.check(prefix+"ownerPin", false, "a delegate names no owner")
	}
	if pins.DomainAddress != "" {
		r.check(prefix+"issuerPin", recovered != "" && sameAddress(recovered, pins.DomainAddress), "issuer address mismatch")
	}
	if pins.DomainHash != "" {
		r.check(prefix+"domainHashPin", v.Get("domainHash").Text() == pins.DomainHash, "domainHash is not that of the pinned domain")
	}
	if pins.ExpectHash != "" {
		r.check(prefix+"hashPin", d != nil && d.Hash() == pins.ExpectHash, "the delegate has another hash")
	}
	r.Pinned = r.Valid && (pins.DomainAddress != "" || pins.ExpectHash != "")
	if d != nil {
		r.Warnings = append(r.Warnings, d.Warnings()...)
		if d.fields.Legitimacy != nil {
			r.warn("legitimacy is not part of validity and was not checked")
		}
	}
	return d
}
