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

// RequestFields is what a bot chooses when it asks for a capability.
type RequestFields struct {
	AgentID      string
	Operation    string
	Resources    []string
	ActionIndex  int64
	MaxUses      int64
	Window       Window
	Nonce        string // any text
	RequestedAt  string // RFC 3339
	LegitimacyID string // "" for none
}

// MintRequest is a bot's request for one capability under a delegate
// (AgentEnvelope section 12).
type MintRequest struct {
	fields       RequestFields
	id           string
	delegateID   string
	delegateHash string
	bot          string
	signature    string
	body         string // canonical, without botSignature
	hash         string // of the body
	v            jcs.Value
}

func requestMembers() (required, optional []string) {
	return []string{
		"type", "version", "requestId", "delegateId", "delegateHash", "botAddress", "agentId", "operation",
		"resources", "actionIndex", "maxUses", "timeWindow", "nonce", "requestedAt",
	}, []string{"legitimacyId", "botSignature"}
}

// NewMintRequest builds the body that the bot's key is to sign.
func NewMintRequest(botAddress string, d *MintDelegate, f RequestFields) (*MintRequest, error) {
	if !utf8.ValidString(f.Nonce) || !IsAddress(botAddress) {
		return nil, errors.New("build mint request: nonce or bot address is malformed")
	}
	body := map[string]any{
		"type": TypeMintRequest, "version": 1,
		"requestId":    requestID(botAddress, d.ID(), f.Nonce),
		"delegateId":   d.ID(),
		"delegateHash": d.Hash(),
		"botAddress":   botAddress,
		"agentId":      f.AgentID,
		"operation":    f.Operation,
		"resources":    f.Resources,
		"actionIndex":  f.ActionIndex,
		"maxUses":      f.MaxUses,
		"timeWindow":   f.Window,
		"nonce":        f.Nonce,
		"requestedAt":  f.RequestedAt,
	}
	if f.LegitimacyID != "" {
		body["legitimacyId"] = f.LegitimacyID
	}
	raw, err := jcs.Marshal(body, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("build mint request: %w", err)
	}
	q, err := ParseMintRequest(raw)
	if err != nil {
		return nil, fmt.Errorf("build mint request: %w", err)
	}
	return q, nil
}

func requestID(bot, delegateID, nonce string) string {
	return shortID("ae-request-", 16, "botAddress", bot, "delegateId", delegateID, "nonce", nonce)
}

// ParseRequestFields reads the members a bot names for a new request: those of
// the wire object without type, version, ids, address and signature.
func ParseRequestFields(raw []byte) (RequestFields, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return RequestFields{}, fmt.Errorf("parse request fields: %w", err)
	}
	required, optional := requestMembers()
	err = members(v, required[6:], optional[:1])
	var f RequestFields
	if err == nil {
		f, err = requestFields(v)
	}
	if err != nil {
		return RequestFields{}, fmt.Errorf("parse request fields: %w", err)
	}
	return f, nil
}

// ParseMintRequest reads a request strictly, with or without its signature:
// exact members, every shape rule. It does not verify it.
func ParseMintRequest(raw []byte) (*MintRequest, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse mint request: %w", err)
	}
	q, err := mintRequest(v)
	if err != nil {
		return nil, fmt.Errorf("parse mint request: %w", err)
	}
	return q, nil
}

func mintRequest(v jcs.Value) (*MintRequest, error) {
	required, optional := requestMembers()
	switch {
	case v.Kind() != jcs.Object:
		return nil, errors.New("request must be an object")
	case !isType(v, TypeMintRequest):
		return nil, errors.New("request type is invalid")
	case !isVersion1(v):
		return nil, errors.New("request version is invalid")
	case !isAddressAnyCase(v.Get("botAddress").Text()):
		return nil, errors.New("botAddress is invalid")
	case !IsHash(v.Get("delegateHash").Text()):
		return nil, errors.New("delegateHash is invalid")
	}
	if err := textMembers(v, "requestId", "delegateId"); err != nil {
		return nil, err
	}
	f, err := requestFields(v)
	if err != nil {
		return nil, err
	}
	if err := members(v, required, optional); err != nil {
		return nil, err
	}
	q := &MintRequest{
		fields:       f,
		id:           v.Get("requestId").Text(),
		delegateID:   v.Get("delegateId").Text(),
		delegateHash: v.Get("delegateHash").Text(),
		bot:          v.Get("botAddress").Text(),
		body:         string(v.Without("botSignature").Canonical()),
		v:            v,
	}
	q.hash = HashText(q.body)
	if s := v.Get("botSignature"); s.Exists() {
		if !isText(s) {
			return nil, errors.New("botSignature is invalid")
		}
		q.signature = s.Text()
	}
	return q, nil
}

func requestFields(v jcs.Value) (RequestFields, error) {
	var f RequestFields
	if err := textMembers(v, "agentId", "operation", "nonce"); err != nil {
		return f, err
	}
	f.AgentID, f.Operation, f.Nonce = v.Get("agentId").Text(), v.Get("operation").Text(), v.Get("nonce").Text()
	var ok bool
	if f.Resources, ok = texts(v.Get("resources")); !ok {
		return f, errors.New("resources are invalid")
	}
	if len(set(f.Resources)) != len(f.Resources) {
		return f, errors.New("a resource is asked for twice")
	}
	for _, r := range f.Resources {
		if isWildcard(r) {
			return f, errors.New("a request may not ask for a wildcard")
		}
	}
	if f.ActionIndex, ok = v.Get("actionIndex").Int(); !ok || f.ActionIndex < 0 {
		return f, errors.New("actionIndex is invalid")
	}
	if f.MaxUses, ok = v.Get("maxUses").Int(); !ok || f.MaxUses < 1 {
		return f, errors.New("maxUses is invalid")
	}
	var err error
	if f.Window, err = window(v.Get("timeWindow")); err != nil {
		return f, err
	}
	f.RequestedAt = v.Get("requestedAt").Text()
	if _, err := ParseTime(f.RequestedAt); err != nil {
		return f, errors.New("requestedAt is invalid")
	}
	if l := v.Get("legitimacyId"); l.Exists() {
		if !isText(l) {
			return f, errors.New("legitimacyId is invalid")
		}
		f.LegitimacyID = l.Text()
	}
	return f, nil
}

// Fields returns a copy of the request's fields.
func (q *MintRequest) Fields() RequestFields {
	f := q.fields
	f.Resources = slices.Clone(f.Resources)
	return f
}

// ID returns the requestId, a signed label.
func (q *MintRequest) ID() string { return q.id }

// DelegateID returns the id of the delegate the request names.
func (q *MintRequest) DelegateID() string { return q.delegateID }

// DelegateHash returns the hash of the delegate the request names.
func (q *MintRequest) DelegateHash() string { return q.delegateHash }

// BotAddress returns the bot's address as written.
func (q *MintRequest) BotAddress() string { return q.bot }

// Value returns the request's tree.
func (q *MintRequest) Value() jcs.Value { return q.v }

// Body returns the canonical form without the signature: what is signed and
// what enters the minted key's derivation.
func (q *MintRequest) Body() []byte { return []byte(q.body) }

// Digest returns what the bot signs.
func (q *MintRequest) Digest() [32]byte { return Digest(tag.MintRequest, []byte(q.body)) }

// Canonical returns the canonical form, with the signature if it has one.
func (q *MintRequest) Canonical() []byte { return q.v.Canonical() }

// Signed returns the request with the bot's signature, which must recover to
// the bot's address.
func (q *MintRequest) Signed(signature string) (*MintRequest, error) {
	raw, err := withSignature(q.body, "botSignature", signature, q.Digest(), q.bot)
	if err != nil {
		return nil, fmt.Errorf("sign mint request: %w", err)
	}
	return ParseMintRequest(raw)
}

// VerifiedMint is a request that VerifyMintRequest found valid, together with
// its delegate: the only thing a minted key can be derived from.
type VerifiedMint struct {
	delegate *MintDelegate
	request  *MintRequest
}

// Delegate returns the delegate, nil for the zero VerifiedMint.
func (m VerifiedMint) Delegate() *MintDelegate { return m.delegate }

// Request returns the request, nil for the zero VerifiedMint.
func (m VerifiedMint) Request() *MintRequest { return m.request }

// ActionEnvelope returns the envelope of the minted capability's record:
// agentId, actionIndex, operation, resources, timeWindow and maxUses of the
// request, the domain of the pinned projection, mode BOTH if the window has an
// end and ACTION otherwise. Nothing is normalised, and nothing binds the minted
// address to it; label it issuer-asserted.
func (m VerifiedMint) ActionEnvelope(domain *DomainInfo) (*ActionEnvelope, error) {
	if m.request == nil {
		return nil, errors.New("build minted envelope: the request was not verified")
	}
	return m.delegate.MintedEnvelope(m.request, domain)
}

// MintedEnvelope is [VerifiedMint.ActionEnvelope] for whoever knows otherwise that the request is valid under the
// delegate; it verifies nothing but that all three belong together.
func (d *MintDelegate) MintedEnvelope(request *MintRequest, domain *DomainInfo) (*ActionEnvelope, error) {
	if domain.Hash() != d.fields.DomainHash || request.delegateHash != d.Hash() {
		return nil, errors.New("build minted envelope: the delegate is for another domain or request")
	}
	q := request.fields
	mode := ModeAction
	if q.Window.NotAfter.Set {
		mode = ModeBoth
	}
	e, err := assemble(domain.DomainID(), domain.Hash(), ActionFields{
		AgentID: q.AgentID, ActionIndex: q.ActionIndex, Operation: q.Operation, Resources: q.Resources,
		Window: q.Window, Mode: mode, MaxUses: Some(q.MaxUses),
	})
	if err != nil {
		return nil, fmt.Errorf("build minted envelope: %w", err)
	}
	return e, nil
}

// VerifyMintRequest checks a request and its delegate at an instant
// (milliseconds since the epoch): the delegate as VerifyMintDelegate does, with
// the issuer pinned, then both windows, the bot and every bound. Nonce replay
// and the number of mints need state and are the caller's. The VerifiedMint is
// the zero value unless the report is valid; a caller that mints must also
// require Report.Pinned.
func VerifyMintRequest(rawRequest, rawDelegate []byte, pins Pins, now int64) (*Report, VerifiedMint) {
	r := newReport()
	dv, err := jcs.Parse(rawDelegate, jcs.AgentEnvelope)
	r.checkErr("delegateWellFormed", err)
	d := r.delegateChecks(dv, "", pins)
	return r.request(rawRequest, d, r.Pinned, now)
}

// PinnedDelegate is a delegate that was verified with its issuer pinned, for whoever checks many requests under it.
type PinnedDelegate struct{ delegate *MintDelegate }

// NewPinnedDelegate verifies a delegate as [VerifyMintDelegate] does; it is nil unless the report is valid and pinned.
func NewPinnedDelegate(rawDelegate []byte, pins Pins) (*PinnedDelegate, *Report) {
	r, d := VerifyMintDelegate(rawDelegate, pins)
	if !r.Valid || !r.Pinned || pins.DomainAddress == "" {
		return nil, r
	}
	return &PinnedDelegate{d}, r
}

// Delegate returns the delegate.
func (p *PinnedDelegate) Delegate() *MintDelegate { return p.delegate }

// VerifyRequest is [VerifyMintRequest] under this delegate; the report has the checks of the request alone.
func (p *PinnedDelegate) VerifyRequest(rawRequest []byte, now int64) (*Report, VerifiedMint) {
	return newReport().request(rawRequest, p.delegate, true, now)
}

// request adds the checks of a request to those of its delegate.
func (r *Report) request(rawRequest []byte, d *MintDelegate, pinned bool, now int64) (*Report, VerifiedMint) {
	r.checkErr("delegateWithinTimeWindow", delegateAdmits(d, now))

	qv, err := jcs.Parse(rawRequest, jcs.AgentEnvelope)
	r.checkErr("requestWellFormed", err)
	q, err := mintRequest(qv)
	r.checkErr("requestShapeValid", err)
	bot := qv.Get("botAddress").Text()
	var digest [32]byte
	if qv.Kind() == jcs.Object {
		digest = Digest(tag.MintRequest, qv.Without("botSignature").Canonical())
	}
	sig, err := ParseSignature(qv.Get("botSignature").Text())
	r.checkErr("botSignatureWellFormed", err)
	recovered := ""
	if err == nil {
		recovered, err = sig.Recover(digest)
	}
	r.check("botSignatureValid", err == nil && sameAddress(recovered, bot), "bot signature invalid")
	r.Recovered = recovered

	r.mintBounds(d, q)
	if q != nil && d != nil {
		if q.id != requestID(q.bot, q.delegateID, q.fields.Nonce) {
			r.warn("the request id is not the one the rule gives")
		}
		if w := q.fields.Window; w.NotAfter.Set && now > w.NotAfter.N {
			r.warn("the request's own window is over")
		}
		if l := d.fields.Legitimacy; l == nil && q.fields.LegitimacyID != "" {
			r.warn("the request names a legitimacy the delegate does not")
		} else if l != nil && !l.Required && q.fields.LegitimacyID != "" && q.fields.LegitimacyID != l.LegitimacyID {
			r.warn("the request names another legitimacy than the delegate")
		}
	}
	r.Pinned = r.Valid && pinned
	if !r.Valid {
		return r, VerifiedMint{}
	}
	return r, VerifiedMint{d, q}
}

func delegateAdmits(d *MintDelegate, now int64) error {
	if d == nil {
		return errors.New(notReached)
	}
	w := d.fields.Window
	switch {
	case w.NotBefore.Set && now < w.NotBefore.N:
		return errors.New("delegate not yet active")
	case w.NotAfter.Set && now > w.NotAfter.N:
		return errors.New("delegate expired")
	}
	return nil
}

// mintBounds checks what the delegate bounds in the request.
func (r *Report) mintBounds(d *MintDelegate, q *MintRequest) {
	names := []string{
		"botAllowed", "delegateHashMatches", "delegateIdMatches", "legitimacyIdMatches", "operationAllowed",
		"resourcesAllowed", "actionIndexInRange", "maxUsesWithinLimit", "timeWindowContained",
	}
	if d == nil || q == nil {
		for _, name := range names {
			r.check(name, false, notReached)
		}
		return
	}
	df, qf := d.fields, q.fields
	allowed := df.BotPolicy == BotAny || slices.ContainsFunc(df.AllowedBotAddresses, func(a string) bool { return sameAddress(a, q.bot) })
	r.check(names[0], allowed, "bot address not in allowed set")
	r.check(names[1], q.delegateHash == d.Hash(), "delegateHash mismatch")
	r.check(names[2], q.delegateID == d.id, "delegateId mismatch")
	l := df.Legitimacy
	r.check(names[3], l == nil || !l.Required || qf.LegitimacyID == l.LegitimacyID, "legitimacyId mismatch")
	r.check(names[4], slices.Contains(df.AllowedOperations, qf.Operation), "operation not allowed")
	resources := set(df.AllowedResources)
	bad := slices.IndexFunc(qf.Resources, func(s string) bool { return !resourceAllowed(resources, s) })
	detail := ""
	if bad >= 0 {
		detail = "resource not allowed: " + quoteShort(qf.Resources[bad])
	}
	r.check(names[5], bad < 0, detail)
	r.check(names[6], df.IndexMin <= qf.ActionIndex && qf.ActionIndex <= df.IndexMax, "actionIndex out of policy range")
	r.check(names[7], qf.MaxUses <= df.MaxUsesPerAction, "maxUses exceeds delegate limit")
	r.checkErr(names[8], contained(qf.Window, df.Window))
}

// isWildcard says whether a resource names more than itself.
func isWildcard(resource string) bool { return resource == "*" || strings.HasSuffix(resource, ":*") }

// resourceAllowed says whether any allowed resource grants a concrete one.
func resourceAllowed(allowed map[string]struct{}, resource string) bool {
	_, ok := covering(allowed, resource)
	return ok
}

// covering is the allowed resource that grants a concrete one: the same, X:* where X is what stands before its
// first colon, or *; and false where none does.
func covering(allowed map[string]struct{}, resource string) (by string, ok bool) {
	if in(resource, allowed) {
		return resource, true
	}
	if prefix, _, colon := strings.Cut(resource, ":"); colon && in(prefix+":*", allowed) {
		return prefix + ":*", true
	}
	if in("*", allowed) {
		return "*", true
	}
	return "", false
}

// contained reports that the inner window lies wholly in the outer one; an
// inner end that is open under an outer one that is not does not.
func contained(inner, outer Window) error {
	switch {
	case outer.NotBefore.Set && !inner.NotBefore.Set:
		return errors.New("request timeWindow has no start inside the delegate's")
	case outer.NotAfter.Set && !inner.NotAfter.Set:
		return errors.New("request timeWindow has no end inside the delegate's")
	case outer.NotBefore.Set && inner.NotBefore.N < outer.NotBefore.N:
		return errors.New("request timeWindow starts before delegate")
	case outer.NotAfter.Set && inner.NotAfter.N > outer.NotAfter.N:
		return errors.New("request timeWindow ends after delegate")
	case outer.NotAfter.Set && inner.NotBefore.Set && inner.NotBefore.N > outer.NotAfter.N,
		outer.NotBefore.Set && inner.NotAfter.Set && inner.NotAfter.N < outer.NotBefore.N:
		return errors.New("request timeWindow outside delegate")
	}
	return nil
}
