package envelope

import (
	"errors"
	"fmt"

	"vault/derive/jcs"
)

// LegitimacyRef is a delegate's or record's reference to a legitimacy state
// (draft -01). It says what governs an authority; it never enters a signature's
// validity.
type LegitimacyRef struct {
	LegitimacyID string
	Required     bool
	PolicyID     string // "" if absent
	StateVersion Opt    // not set if absent
	StateHash    string // "" if absent

	canonical string // as received, "" for one made here
}

func legitimacyRef(v jcs.Value) (*LegitimacyRef, error) {
	if members(v, []string{"legitimacyId"}, []string{"required", "policyId", "stateVersion", "stateHash"}) != nil || !isText(v.Get("legitimacyId")) {
		return nil, errors.New("legitimacyRef is invalid")
	}
	ref := &LegitimacyRef{LegitimacyID: v.Get("legitimacyId").Text(), canonical: string(v.Canonical())}
	if m := v.Get("required"); m.Exists() {
		if m.Kind() != jcs.Bool {
			return nil, errors.New("legitimacyRef is invalid")
		}
		ref.Required = m.Bool()
	}
	if m := v.Get("policyId"); m.Exists() {
		if !isText(m) {
			return nil, errors.New("legitimacyRef is invalid")
		}
		ref.PolicyID = m.Text()
	}
	if m := v.Get("stateVersion"); m.Exists() {
		n, ok := m.Int()
		if !ok || n < 1 {
			return nil, errors.New("legitimacyRef stateVersion is invalid")
		}
		ref.StateVersion = Some(n)
	}
	if m := v.Get("stateHash"); m.Exists() {
		if !IsHash(m.Text()) {
			return nil, errors.New("legitimacyRef stateHash is invalid")
		}
		ref.StateHash = m.Text()
	}
	return ref, nil
}

// wire returns the reference as received, because a delegate's signature
// covers how it was written.
func (l *LegitimacyRef) wire() any {
	if l.canonical != "" {
		return rawJSON(l.canonical)
	}
	out := map[string]any{"legitimacyId": l.LegitimacyID}
	if l.Required {
		out["required"] = true
	}
	if l.PolicyID != "" {
		out["policyId"] = l.PolicyID
	}
	if l.StateVersion.Set {
		out["stateVersion"] = l.StateVersion
	}
	if l.StateHash != "" {
		out["stateHash"] = l.StateHash
	}
	return out
}

// VerifyLegitimacy judges a legitimacy state at an instant (milliseconds since
// the epoch): type and version, status legitimate, expiresAt later than now,
// its own stateHash if it has one, and, where a reference is given, its id,
// version and hash. The report is about legitimacy alone; a signature may be
// valid where it is denied, and the reverse. A state is not signed, so the
// report is pinned only by a reference that names its hash.
func VerifyLegitimacy(raw []byte, ref *LegitimacyRef, now int64) *Report {
	r := newReport()
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	r.checkErr("stateWellFormed", err)
	r.check("statePresent", v.Kind() == jcs.Object, "legitimacy state is required")
	r.check("stateType", isType(v, TypeLegitimacyState), "legitimacy state type is invalid")
	r.check("stateVersionOne", isVersion1(v), "legitimacy state version is invalid")
	r.check("noPrivateMaterial", !holdsPrivate(v), "legitimacy state holds a member named like private material")
	r.check("legitimacyId", isText(v.Get("legitimacyId")), "legitimacy id is invalid")
	status := "not stated"
	switch s := v.Get("status").Text(); s {
	case "legitimate", "suspended", "invalid", "closed", "compromised":
		status = s
	}
	r.check("statusLegitimate", status == "legitimate", "authority legitimacy is "+status)
	r.checkErr("notExpired", expiresAfter(v.Get("expiresAt"), now))
	own := hash256(v.Without("stateHash").Canonical())
	stated := v.Get("stateHash")
	r.check("stateHashConsistent", !stated.Exists() || stated.Text() == own, "stateHash is not the hash of the state")
	if ref != nil {
		r.check("legitimacyIdMatches", v.Get("legitimacyId").Text() == ref.LegitimacyID, "legitimacyId mismatch")
		n, ok := v.Get("stateVersion").Int()
		r.check("stateVersionMatches", !ref.StateVersion.Set || ok && n == ref.StateVersion.N, "stateVersion mismatch")
		r.check("stateHashMatches", ref.StateHash == "" || ref.StateHash == own, "stateHash mismatch")
		r.Pinned = r.Valid && ref.StateHash != ""
	}
	return r
}

func expiresAfter(v jcs.Value, now int64) error {
	if !v.Exists() || v.Kind() == jcs.Null {
		return nil
	}
	if v.Kind() != jcs.String {
		return errors.New("expiresAt is not a text")
	}
	at, err := ParseTime(v.Text())
	if err != nil {
		return fmt.Errorf("expiresAt: %w", err)
	}
	if at <= now {
		return errors.New("legitimacy policy expired")
	}
	return nil
}
