package moment

import (
	"slices"

	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Behind is what an agent presented behind one option: the action, the signing
// envelope, or both, as the bytes that were received.
type Behind struct {
	Option   int
	Action   []byte // nil for none
	SignWith []byte // an action envelope; nil for none
}

// ParseBehind reads the actions of moment.present: an array of at most four
// objects {"option": index, "action"?: any value, "sign_with"?: object}. The
// values inside are cut from the bytes received and are judged by NewSheet, with
// the nesting counted from each of them. The error is a *Fault.
func ParseBehind(raw []byte) ([]Behind, error) {
	if err := jcs.CheckFrame(raw); err != nil {
		return nil, jsonFault(raw, err)
	}
	items, ok := cutItems(raw)
	if !ok {
		return nil, fault(WrongType, "$")
	}
	if len(items) > MaxOptions {
		return nil, fault(OptionCount, "$")
	}
	var out []Behind
	for i, item := range items {
		b, err := parseBehind(item, "$"+at(i))
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func parseBehind(raw []byte, path string) (Behind, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return Behind{}, fault(WrongType, path)
	}
	b := Behind{Option: -1}
	for _, m := range topLevel(raw) {
		switch m.name {
		case "option":
			v, err := jcs.Parse(m.value, jcs.Binding)
			if err != nil {
				f := jsonFault(m.value, err)
				f.Path = path + ".option"
				return Behind{}, f
			}
			if v.Kind() != jcs.Number {
				return Behind{}, fault(WrongType, path+".option")
			}
			n, _ := v.Int()
			if n < 0 || n >= MaxOptions {
				return Behind{}, fault(OptionIdxRange, path+".option")
			}
			b.Option = int(n)
		case "action":
			b.Action = m.value
		case "sign_with":
			if m.value[0] != '{' {
				return Behind{}, fault(WrongType, path+".sign_with")
			}
			b.SignWith = m.value
		default:
			return Behind{}, &Fault{Reason: UnknownMember, Path: path, Member: m.name}
		}
	}
	if b.Option < 0 {
		return Behind{}, fault(MissingMember, path+".option")
	}
	return b, nil
}

// Action is an action behind an option, decoded for reading.
type Action struct {
	Kind   Kind
	Digest string // recomputed from the bytes presented: sha256: and 64 hex digits
	Fields []Field
	Value  jcs.Value // the whole action, as it was presented
}

// Row is one option as it is shown.
type Row struct {
	Option
	Index       int
	Recommended bool
	// Action is nil if the vault has not seen this option's action.
	Action *Action
	// SignWith is the envelope under which the action would be signed, or nil.
	SignWith       *envelope.ActionEnvelope
	SignFields     []Field
	Contradictions []envelope.Contradiction
	// Blocked says why the option cannot be chosen: ActionMismatch,
	// ActionNotSignable, or "" if it can.
	Blocked Reason
}

// Sheet is an envelope with what was presented behind its options: everything of
// a binding moment that is shown for one decision.
type Sheet struct {
	Envelope *Envelope
	Rows     []Row
	digest   string
}

// NewSheet joins an envelope and what was presented behind its options. Digests
// are recomputed from the bytes; one that differs blocks its option (section 7.3).
// What cannot be read at all is a *Fault, and nothing may be shown.
func NewSheet(e *Envelope, behind []Behind) (*Sheet, error) {
	s := &Sheet{Envelope: e}
	for i, o := range e.content.Options {
		s.Rows = append(s.Rows, Row{Option: o, Index: i, Recommended: i == e.content.Recommended})
	}
	type covered struct {
		Option   int    `json:"option"`
		Action   string `json:"action_digest,omitzero"`
		SignWith string `json:"sign_with,omitzero"`
	}
	doc := struct {
		Type     string    `json:"type"`
		V        int       `json:"v"`
		Envelope string    `json:"envelope_digest"`
		Behind   []covered `json:"behind"`
	}{"vault.moment", 1, e.digest, nil}
	taken := map[int]bool{}
	for i, b := range behind {
		path := "$" + at(i)
		switch {
		case b.Option < 0 || b.Option >= len(s.Rows):
			return nil, fault(OptionIdxRange, path+".option")
		case taken[b.Option]:
			return nil, fault(OptionTwice, path+".option")
		case b.Action == nil && b.SignWith == nil:
			return nil, fault(NothingBehind, path)
		}
		taken[b.Option] = true
		row := &s.Rows[b.Option]
		if err := row.present(b, path); err != nil {
			return nil, err
		}
		c := covered{Option: b.Option}
		if row.Action != nil {
			c.Action = row.Action.Digest
		}
		if row.SignWith != nil {
			c.SignWith = row.SignWith.Hash()
		}
		doc.Behind = append(doc.Behind, c)
	}
	slices.SortFunc(doc.Behind, func(a, b covered) int { return a.Option - b.Option })
	canonical, err := jcs.Marshal(doc, jcs.Binding)
	if err != nil {
		return nil, &Fault{Reason: Syntax, Cause: err}
	}
	s.digest = envelope.HashCanonical(canonical)
	return s, nil
}

// Digest returns 0x and 64 hex digits over {envelope digest, every action digest,
// every sign_with hash}: what is approved.
func (s *Sheet) Digest() string { return s.digest }

// Select returns the resolution that selects an option of the sheet, unless it is
// blocked.
func (s *Sheet) Select(option int) (*Resolution, error) {
	r, err := s.Envelope.Select(option)
	if err == nil && s.Rows[option].Blocked != "" {
		return nil, fault(s.Rows[option].Blocked, "$.question.options"+at(option))
	}
	return r, err
}

// present decodes what was presented behind the option.
func (row *Row) present(b Behind, path string) error {
	if b.SignWith != nil {
		e, err := envelope.ParseActionEnvelope(b.SignWith)
		if err != nil {
			return &Fault{Reason: SignWithMalformed, Path: path + ".sign_with", Cause: err}
		}
		v, err := jcs.Parse(e.Canonical(), jcs.AgentEnvelope)
		if err != nil {
			return &Fault{Reason: SignWithMalformed, Path: path + ".sign_with", Cause: err}
		}
		row.SignWith, row.SignFields = e, fields(v, KindEnvelope)
	}
	if b.Action == nil {
		return nil
	}
	v, err := parseAction(b.Action)
	if err != nil {
		f := err.(*Fault)
		f.Path = path + ".action"
		return f
	}
	kind := kindOf(v, b.Action, row.SignWith != nil)
	row.Action = &Action{Kind: kind, Digest: DigestOf(v.Canonical()), Fields: fields(v, kind), Value: v}
	if row.Action.Digest != row.ActionDigest {
		row.Blocked = ActionMismatch
		return nil
	}
	if row.SignWith == nil {
		return nil
	}
	p, err := signable(b.Action)
	if err != nil {
		row.Blocked = ActionNotSignable
		return nil
	}
	row.Contradictions = p.Contradictions(row.SignWith)
	return nil
}

// signable reads an action as a payload that may be signed as an action. The
// memo's profile has numbers that AgentEnvelope refuses.
func signable(raw []byte) (*envelope.Payload, error) {
	p, err := envelope.ParsePayload(raw)
	if err != nil {
		return nil, &Fault{Reason: ActionNotSignable, Cause: err}
	}
	if err := p.Signable(); err != nil {
		return nil, &Fault{Reason: ActionNotSignable, Cause: err}
	}
	return p, nil
}

// Signing is an action that a resolution is authority for, and how to sign it.
type Signing struct {
	Option   int
	Payload  *envelope.Payload
	Envelope *envelope.ActionEnvelope
	// Seen says that this action stood in the option's row when it was chosen;
	// otherwise it needs a sheet of its own first.
	Seen bool
}

// Signing judges an action that is to be signed after a resolution of this sheet:
// only after option, only under the envelope that was shown, only if its recomputed
// digest is that option's (section 7.3). The error is a *Fault. That it happens
// once is the caller's.
func (s *Sheet) Signing(r *Resolution, action []byte) (Signing, error) {
	if err := Authority(r, s.Envelope, action); err != nil {
		return Signing{}, err
	}
	row := &s.Rows[r.option]
	if row.SignWith == nil {
		return Signing{}, fault(NoSigningEnvelope, "")
	}
	p, err := signable(action)
	if err != nil {
		return Signing{}, err
	}
	return Signing{r.option, p, row.SignWith, row.Action != nil && row.Blocked == ""}, nil
}
