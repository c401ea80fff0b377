package envelope

// Bound is what a mint request passed: the first check of a report that failed, as a stable code, the member
// concerned, what the delegate holds and what was asked for. Texts in Asked are the bot's.
type Bound struct {
	Code  string
	Name  string // member of the delegate or the request
	Value any    // nil where no value bounds it
	Asked any
	Why   string // the report's own words
}

// mintCodes gives the stable code of each check of VerifyMintRequest and VerifyMintDelegate.
var mintCodes = map[string]string{
	"delegateWellFormed":        "delegate_malformed",
	"delegateShapeValid":        "delegate_malformed",
	"issuerSignatureWellFormed": "delegate_signature",
	"issuerSignatureValid":      "delegate_signature",
	"issuerAddressMatches":      "delegate_signature",
	"issuerPin":                 "delegate_issuer",
	"domainHashPin":             "delegate_issuer",
	"hashPin":                   "delegate_hash",
	"delegateWithinTimeWindow":  "delegate_expired",
	"requestWellFormed":         "malformed",
	"requestShapeValid":         "malformed",
	"botSignatureWellFormed":    "bot_signature",
	"botSignatureValid":         "bot_signature",
	"botAllowed":                "bot_not_allowed",
	"delegateHashMatches":       "delegate_hash",
	"delegateIdMatches":         "delegate_id_mismatch",
	"legitimacyIdMatches":       "legitimacy_mismatch",
	"operationAllowed":          "operation_not_allowed",
	"resourcesAllowed":          "resource_not_allowed",
	"actionIndexInRange":        "index_out_of_range",
	"maxUsesWithinLimit":        "uses_over_limit",
	"timeWindowContained":       "window_not_contained",
}

// FirstBound names what a report of VerifyMintRequest or VerifyMintDelegate failed with, and false for a
// valid one. Delegate and request may be nil where they could not be read.
func FirstBound(r *Report, d *MintDelegate, q *MintRequest, now int64) (Bound, bool) {
	name := ""
	b := Bound{Why: r.Reason}
	for _, c := range r.Checks {
		// Legitimacy is apart from validity: it is named only where nothing else is wrong.
		if !c.OK && (name == "" || name == "legitimacyIdMatches") {
			name, b.Why = c.Name, c.Detail
		}
	}
	if name == "" {
		return b, false
	}
	b.Code = mintCodes[name]
	if name == "delegateWithinTimeWindow" && d != nil {
		w := d.fields.Window
		b.Name, b.Asked = "timeWindow", now
		if b.Value = w.NotAfter; w.NotBefore.Set && now < w.NotBefore.N {
			b.Code, b.Value = "delegate_not_yet_valid", w.NotBefore
		}
	}
	if d == nil || q == nil {
		return b, true
	}
	f, a := d.fields, q.fields
	switch name {
	case "botAllowed":
		b.Name, b.Value, b.Asked = "allowedBotAddresses", f.AllowedBotAddresses, q.bot
	case "delegateIdMatches":
		b.Name, b.Value, b.Asked = "delegateId", d.id, q.delegateID
	case "legitimacyIdMatches":
		b.Name, b.Value, b.Asked = "legitimacyId", f.Legitimacy.LegitimacyID, a.LegitimacyID
	case "operationAllowed":
		b.Name, b.Value, b.Asked = "allowedOperations", f.AllowedOperations, a.Operation
	case "resourcesAllowed":
		allowed := set(f.AllowedResources)
		b.Name, b.Value = "allowedResources", f.AllowedResources
		for _, s := range a.Resources {
			if !resourceAllowed(allowed, s) {
				b.Asked = s
				break
			}
		}
	case "actionIndexInRange":
		b.Name, b.Value, b.Asked = "actionIndexPolicy", map[string]int64{"min": f.IndexMin, "max": f.IndexMax}, a.ActionIndex
	case "maxUsesWithinLimit":
		b.Name, b.Value, b.Asked = "maxUsesPerAction", f.MaxUsesPerAction, a.MaxUses
	case "timeWindowContained":
		b.Name, b.Value, b.Asked = "timeWindow", f.Window, a.Window
	}
	return b, true
}

// ResourceMatch says which of a delegate's allowed resources covers a concrete one, or why none does: "no_match",
// "is_wildcard" (a request names concrete resources) or "bare_prefix" (the X of an X:* alone).
func ResourceMatch(allowed []string, resource string) (by, why string) {
	if isWildcard(resource) {
		return "", "is_wildcard"
	}
	covers := set(allowed)
	if by, ok := covering(covers, resource); ok {
		return by, ""
	}
	if in(resource+":*", covers) {
		return "", "bare_prefix"
	}
	return "", "no_match"
}

// IDByRule says whether the delegateId is the one that the rule gives for issuer, domain and nonce.
func (d *MintDelegate) IDByRule() bool {
	return d.id == delegateID(d.issuer, d.fields.DomainHash, d.fields.Nonce)
}

// Signature returns issuerSignature, "" for a body that is to be signed.
func (d *MintDelegate) Signature() string { return d.signature }

// Hash returns the SHA-256 of Body, 0x and 64 hex digits: it names what is minted for the request.
func (q *MintRequest) Hash() string { return q.hash }
