package envelope

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault/derive/jcs"
)

// Mode says what ends a capability (decayPolicy.mode).
type Mode string

// The decay modes of v1.
const (
	ModeNone   Mode = "NONE"
	ModeTime   Mode = "TIME"
	ModeAction Mode = "ACTION"
	ModeBoth   Mode = "BOTH"
)

func (m Mode) known() bool {
	return m == ModeNone || m == ModeTime || m == ModeAction || m == ModeBoth
}

// timed reports a mode that is checked against the clock.
func (m Mode) timed() bool { return m == ModeTime || m == ModeBoth }

// counted reports a mode that needs a positive number of uses.
func (m Mode) counted() bool { return m == ModeAction || m == ModeBoth }

// ActionFields is what a person or program chooses when an action envelope is
// made; the domain comes from a projection.
type ActionFields struct {
	AgentID     string
	ActionIndex int64
	Operation   string
	Resources   []string
	Window      Window
	Mode        Mode
	MaxUses     Opt
}

// ActionEnvelope is the complete immutable permission of one capability
// (AgentEnvelope section 9).
type ActionEnvelope struct {
	fields     ActionFields
	domainID   string
	domainHash string
	canonical  string
	hash       string
}

// SplitResources reads the comma form of a resource list.
func SplitResources(s string) []string { return strings.Split(s, ",") }

// NormalizeResources trims, lower-cases, drops empty ones and duplicates, and
// sorts by UTF-16 units. Text outside ASCII is refused unless it is printable
// and lower-casing leaves it alone, because other lower-casing tables would
// derive another key.
func NormalizeResources(list []string) ([]string, error) {
	var out []string
	for _, s := range list {
		s = trim(s)
		if s == "" {
			continue
		}
		if !utf8.ValidString(s) {
			return nil, errors.New("resource is not UTF-8")
		}
		for _, r := range s {
			if r < 0x20 || r == 0x7f || r >= 0x80 && (!unicode.IsGraphic(r) || unicode.ToLower(r) != r) {
				return nil, errors.New("resource holds a character that cannot be lower-cased the same everywhere, or is invisible")
			}
		}
		out = append(out, strings.ToLower(s))
	}
	if len(out) == 0 {
		return nil, errors.New("resources are empty")
	}
	slices.SortFunc(out, jcs.CompareUTF16)
	return slices.Compact(out), nil
}

// NewActionEnvelope normalises the fields and builds the envelope for the
// domain (AgentEnvelope section 9).
func NewActionEnvelope(domain *DomainInfo, f ActionFields) (*ActionEnvelope, error) {
	return NewActionEnvelopeFor(domain.DomainID(), domain.Hash(), f)
}

// NewActionEnvelopeFor is NewActionEnvelope for a domain known by id and hash.
func NewActionEnvelopeFor(domainID, domainHash string, f ActionFields) (*ActionEnvelope, error) {
	e, err := newActionEnvelope(domainID, domainHash, f)
	if err != nil {
		return nil, fmt.Errorf("build action envelope: %w", err)
	}
	return e, nil
}

func newActionEnvelope(domainID, domainHash string, f ActionFields) (*ActionEnvelope, error) {
	var err error
	if f.AgentID, err = NormalizeIdentifier(f.AgentID); err != nil {
		return nil, fmt.Errorf("agent id: %w", err)
	}
	if f.Operation, err = NormalizeIdentifier(f.Operation); err != nil {
		return nil, fmt.Errorf("operation: %w", err)
	}
	if f.Resources, err = NormalizeResources(f.Resources); err != nil {
		return nil, err
	}
	if !isIdentifier(domainID) || !IsHash(domainHash) {
		return nil, errors.New("domain id or hash is malformed")
	}
	return assemble(domainID, domainHash, f)
}

// assemble writes fields as they are and reads them back, so that what is
// built passes every rule of what is received.
func assemble(domainID, domainHash string, f ActionFields) (*ActionEnvelope, error) {
	v, err := jcs.ValueOf(map[string]any{
		"type": TypeActionEnvelope, "version": 1,
		"agentId":     f.AgentID,
		"domain":      map[string]any{"domainId": domainID, "domainHash": domainHash},
		"actionIndex": f.ActionIndex,
		"operation":   f.Operation,
		"resources":   f.Resources,
		"timeWindow":  f.Window,
		"decayPolicy": map[string]any{"mode": f.Mode},
		"limits":      map[string]any{"maxUses": f.MaxUses, "enforcement": "external"},
	}, jcs.AgentEnvelope)
	if err != nil {
		return nil, err
	}
	return actionEnvelope(v)
}

// ParseActionEnvelope reads an action envelope strictly: exact members and
// every shape rule of v1. Identifiers and resources are taken as they are;
// Warnings says whether they are in normal form.
func ParseActionEnvelope(raw []byte) (*ActionEnvelope, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return nil, fmt.Errorf("parse action envelope: %w", err)
	}
	e, err := actionEnvelope(v)
	if err != nil {
		return nil, fmt.Errorf("parse action envelope: %w", err)
	}
	return e, nil
}

// actionEnvelope applies the shape rules; its errors are reasons of a report.
func actionEnvelope(v jcs.Value) (*ActionEnvelope, error) {
	err := members(v, []string{
		"type", "version", "agentId", "domain", "actionIndex", "operation",
		"resources", "timeWindow", "decayPolicy", "limits",
	}, nil)
	if err != nil {
		return nil, err
	}
	domain, decay, limits := v.Get("domain"), v.Get("decayPolicy"), v.Get("limits")
	e := &ActionEnvelope{domainID: domain.Get("domainId").Text(), domainHash: domain.Get("domainHash").Text()}
	f := &e.fields
	var ok bool
	switch {
	case !isType(v, TypeActionEnvelope):
		return nil, errors.New("type is invalid")
	case !isVersion1(v):
		return nil, errors.New("version is invalid")
	case !isText(v.Get("agentId")):
		return nil, errors.New("agentId is invalid")
	case members(domain, []string{"domainId", "domainHash"}, nil) != nil || e.domainID == "" || !IsHash(e.domainHash):
		return nil, errors.New("domain is invalid")
	case !isText(v.Get("operation")):
		return nil, errors.New("operation is invalid")
	}
	f.AgentID, f.Operation = v.Get("agentId").Text(), v.Get("operation").Text()
	if f.ActionIndex, ok = v.Get("actionIndex").Int(); !ok || f.ActionIndex < 0 {
		return nil, errors.New("actionIndex is invalid")
	}
	if f.Resources, ok = texts(v.Get("resources")); !ok {
		return nil, errors.New("resources are invalid")
	}
	if f.Window, err = window(v.Get("timeWindow")); err != nil {
		return nil, err
	}
	f.Mode = Mode(decay.Get("mode").Text())
	if members(decay, []string{"mode"}, nil) != nil || !f.Mode.known() {
		return nil, errors.New("decayPolicy mode is invalid")
	}
	if f.Mode.timed() && !f.Window.NotBefore.Set && !f.Window.NotAfter.Set {
		return nil, errors.New("timeWindow is required")
	}
	if members(limits, []string{"maxUses", "enforcement"}, nil) != nil {
		return nil, errors.New("limits are invalid")
	}
	f.MaxUses, ok = optInt(limits.Get("maxUses"))
	if !ok || f.MaxUses.Set && f.MaxUses.N < 1 || !f.MaxUses.Set && f.Mode.counted() {
		return nil, errors.New("maxUses is invalid")
	}
	if limits.Get("enforcement").Text() != "external" {
		return nil, errors.New("limits enforcement is invalid")
	}
	e.canonical = string(v.Canonical())
	e.hash = HashText(e.canonical)
	return e, nil
}

// ParseActionFields reads the members a client names for a new envelope:
// agentId, actionIndex, operation, resources (a list or a comma text),
// notBefore, notAfter (milliseconds), decayMode, maxUses. notBefore, notAfter
// and maxUses may be null or absent; unknown members are refused.
func ParseActionFields(raw []byte) (ActionFields, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return ActionFields{}, fmt.Errorf("parse action fields: %w", err)
	}
	f, err := actionFields(v)
	if err != nil {
		return ActionFields{}, fmt.Errorf("parse action fields: %w", err)
	}
	return f, nil
}

func actionFields(v jcs.Value) (ActionFields, error) {
	var f ActionFields
	err := members(v, []string{"agentId", "actionIndex", "operation", "resources", "decayMode"}, []string{"notBefore", "notAfter", "maxUses"})
	if err != nil {
		return f, err
	}
	if err := textMembers(v, "agentId", "operation", "decayMode"); err != nil {
		return f, err
	}
	f.AgentID, f.Operation, f.Mode = v.Get("agentId").Text(), v.Get("operation").Text(), Mode(v.Get("decayMode").Text())
	ok := true
	integer := func(name string) (o Opt) {
		m := v.Get(name)
		o, good := optInt(m)
		ok = ok && (good || !m.Exists())
		return o
	}
	index := integer("actionIndex")
	f.ActionIndex = index.N
	f.Window = Window{integer("notBefore"), integer("notAfter")}
	f.MaxUses = integer("maxUses")
	if !ok || !index.Set {
		return f, errors.New("a number is not an integer")
	}
	switch r := v.Get("resources"); r.Kind() {
	case jcs.String:
		f.Resources = SplitResources(r.Text())
	case jcs.Array:
		for _, it := range r.Items() {
			if it.Kind() != jcs.String {
				return f, errors.New("a resource is not a text")
			}
			f.Resources = append(f.Resources, it.Text())
		}
	default:
		return f, errors.New("resources are neither a list nor a text")
	}
	return f, nil
}

// Fields returns a copy of the envelope's fields.
func (e *ActionEnvelope) Fields() ActionFields {
	f := e.fields
	f.Resources = slices.Clone(f.Resources)
	return f
}

// DomainID returns the id of the domain the envelope names.
func (e *ActionEnvelope) DomainID() string { return e.domainID }

// DomainHash returns the hash of the domain the envelope names.
func (e *ActionEnvelope) DomainHash() string { return e.domainHash }

// Canonical returns the canonical form, which enters the key's derivation.
func (e *ActionEnvelope) Canonical() []byte { return []byte(e.canonical) }

// Hash returns the action envelope hash, the SHA-256 of the canonical form.
func (e *ActionEnvelope) Hash() string { return e.hash }

// Admits reports that the envelope's window admits the instant: only the modes
// TIME and BOTH look at the clock, and both ends are inside (AgentEnvelope
// section 11). The error says which end was passed.
func (e *ActionEnvelope) Admits(now int64) error {
	w := e.fields.Window
	switch {
	case !e.fields.Mode.timed():
		return nil
	case w.NotBefore.Set && now < w.NotBefore.N:
		return errors.New("not yet valid")
	case w.NotAfter.Set && now > w.NotAfter.N:
		return errors.New("expired")
	}
	return nil
}

// Warnings returns what a person should know before the envelope is used.
func (e *ActionEnvelope) Warnings() []string {
	var out []string
	f := e.fields
	switch {
	case !f.Window.NotAfter.Set && f.Mode.timed():
		out = append(out, "the time window has a start but no end: the capability never expires")
	case !f.Window.NotAfter.Set:
		out = append(out, "the capability has no end in time")
	case !f.Mode.timed():
		out = append(out, "the time window is not enforced by verifiers, because the decay mode does not look at the clock")
	}
	if f.Window.NotAfter.Set && f.Window.NotAfter.N > maxDate {
		out = append(out, "the end lies outside the calendar")
	}
	if f.MaxUses.Set {
		out = append(out, "a verifier alone cannot tell whether a use is already spent")
	}
	if strings.Contains(f.AgentID, ".") {
		out = append(out, "the agent id holds a dot, which hosted look-ups refuse")
	}
	if !isIdentifier(f.AgentID) || !isIdentifier(f.Operation) || !isIdentifier(e.domainID) {
		out = append(out, "an identifier is not in normal form")
	}
	if normal, err := NormalizeResources(f.Resources); err != nil || !slices.Equal(normal, f.Resources) {
		out = append(out, "the resources are not in normal form")
	}
	return out
}
