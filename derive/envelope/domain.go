package envelope

import (
	"fmt"

	"vault/derive/jcs"
)

// DomainInfo is the immutable input of a domain's derivation (AgentEnvelope
// section 8).
type DomainInfo struct {
	namespace, domainID, kind string
	canonical, hash           string
}

// NewDomainInfo normalises the three identifiers and builds the document.
func NewDomainInfo(namespace, domainID, kind string) (*DomainInfo, error) {
	for _, f := range []struct {
		name string
		text *string
	}{{"namespace", &namespace}, {"domain id", &domainID}, {"kind", &kind}} {
		s, err := NormalizeIdentifier(*f.text)
		if err != nil {
			return nil, fmt.Errorf("build domain info: %s: %w", f.name, err)
		}
		*f.text = s
	}
	canonical, err := jcs.Marshal(map[string]any{
		"type": TypeDomainInfo, "version": 1,
		"namespace": namespace, "domainId": domainID, "kind": kind,
	}, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("build domain info: %w", err)
	}
	return &DomainInfo{namespace, domainID, kind, string(canonical), HashText(string(canonical))}, nil
}

// ParseDomainInfo reads a domain info strictly: exact members, identifiers in
// their normal form.
func ParseDomainInfo(raw []byte) (*DomainInfo, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse domain info: %w", err)
	}
	d, err := domainInfo(v)
	if err != nil {
		return nil, fmt.Errorf("parse domain info: %w", err)
	}
	return d, nil
}

func domainInfo(v jcs.Value) (*DomainInfo, error) {
	if err := members(v, []string{"type", "version", "namespace", "domainId", "kind"}, nil); err != nil {
		return nil, err
	}
	if !isType(v, TypeDomainInfo) || !isVersion1(v) {
		return nil, fmt.Errorf("is not version 1 of %s", TypeDomainInfo)
	}
	for _, name := range []string{"namespace", "domainId", "kind"} {
		if m := v.Get(name); m.Kind() != jcs.String || !isIdentifier(m.Text()) {
			return nil, fmt.Errorf("%s is not a normalised identifier", name)
		}
	}
	canonical := string(v.Canonical())
	return &DomainInfo{v.Get("namespace").Text(), v.Get("domainId").Text(), v.Get("kind").Text(), canonical, HashText(canonical)}, nil
}

// Namespace returns the namespace.
func (d *DomainInfo) Namespace() string { return d.namespace }

// DomainID returns the domain id.
func (d *DomainInfo) DomainID() string { return d.domainID }

// Kind returns the kind of work.
func (d *DomainInfo) Kind() string { return d.kind }

// Canonical returns the canonical form.
func (d *DomainInfo) Canonical() []byte { return []byte(d.canonical) }

// Hash returns the domain hash, the SHA-256 of the canonical form.
func (d *DomainInfo) Hash() string { return d.hash }

// Projection is a domain's public summary: what others may know of it.
type Projection struct {
	info      *DomainInfo
	address   string
	createdAt string
}

// NewProjection joins a domain with its address and the instant it was made
// (RFC 3339, metadata only).
func NewProjection(info *DomainInfo, address, createdAt string) (*Projection, error) {
	if !IsAddress(address) {
		return nil, fmt.Errorf("build domain projection: domain address is not 0x and 40 lower case hex digits")
	}
	if _, err := ParseTime(createdAt); err != nil {
		return nil, fmt.Errorf("build domain projection: createdAt: %w", err)
	}
	return &Projection{info, address, createdAt}, nil
}

// ParseProjection reads a projection strictly: exact members, and canonical
// text, hash and fingerprint recomputed. A member domainId beside domainInfo,
// as some readers expect it, is allowed if it is the same.
func ParseProjection(raw []byte) (*Projection, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse domain projection: %w", err)
	}
	p, err := projection(v)
	if err != nil {
		return nil, fmt.Errorf("parse domain projection: %w", err)
	}
	return p, nil
}

func projectionMembers() (required, optional []string) {
	return []string{"domainInfo", "canonicalDomainInfo", "domainHash", "domainAddress", "domainFingerprint", "createdAt"}, []string{"domainId"}
}

func projection(v jcs.Value) (*Projection, error) {
	required, optional := projectionMembers()
	if err := members(v, required, optional); err != nil {
		return nil, err
	}
	info, err := domainInfo(v.Get("domainInfo"))
	if err != nil {
		return nil, fmt.Errorf("domainInfo: %w", err)
	}
	p, err := NewProjection(info, v.Get("domainAddress").Text(), v.Get("createdAt").Text())
	if err != nil {
		return nil, err
	}
	switch {
	case v.Get("canonicalDomainInfo").Text() != info.canonical:
		return nil, fmt.Errorf("canonicalDomainInfo is not the canonical form of domainInfo")
	case v.Get("domainHash").Text() != info.Hash():
		return nil, fmt.Errorf("domainHash is not the hash of domainInfo")
	case v.Get("domainFingerprint").Text() != p.Fingerprint():
		return nil, fmt.Errorf("domainFingerprint is not the fingerprint of address and hash")
	case v.Get("domainId").Exists() && v.Get("domainId").Text() != info.domainID:
		return nil, fmt.Errorf("domainId is not that of domainInfo")
	}
	return p, nil
}

// Info returns the domain.
func (p *Projection) Info() *DomainInfo { return p.info }

// Address returns the domain address.
func (p *Projection) Address() string { return p.address }

// CreatedAt returns the instant given when it was built, RFC 3339.
func (p *Projection) CreatedAt() string { return p.createdAt }

// Fingerprint returns ae-domain- and 16 hex digits over address and hash.
func (p *Projection) Fingerprint() string {
	return fingerprint(p.address, p.info.Hash())
}

func fingerprint(address, hash string) string {
	return shortID("ae-domain-", 16, "domainAddress", address, "domainHash", hash)
}

// shortID returns a prefix and the first hex digits of a content hash.
func shortID(prefix string, digits int, namesAndTexts ...string) string {
	return prefix + hashTexts(namesAndTexts...)[2:2+digits]
}

// Canonical returns the canonical form of the projection.
func (p *Projection) Canonical() []byte {
	return mustMarshal(p.wire())
}

func (p *Projection) wire() map[string]any {
	return map[string]any{
		"domainInfo":          rawJSON(p.info.canonical),
		"canonicalDomainInfo": p.info.canonical,
		"domainHash":          p.info.Hash(),
		"domainAddress":       p.address,
		"domainFingerprint":   p.Fingerprint(),
		"createdAt":           p.createdAt,
	}
}
