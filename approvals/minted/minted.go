// Package minted is what is said of a minted capability: its public record, and the answers that its bot gets. All of it
// follows from the signed delegate and request, the domain's projection and what the log counted; the same again is the same bytes.
//
// It decides nothing, spends nothing and reads no store: package approvals does, and derive/envelope verifies. Times are
// milliseconds since the epoch, addresses 0x and 40 hex digits, hashes 0x and 64.
package minted

import (
	"encoding/json"
	"fmt"
	"strconv"

	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Label stands beside every minted record: nothing in AgentEnvelope binds a minted address to its envelope.
const Label = "issuer-asserted"

// Of is one minted capability. The caller knows that the request is valid under the delegate.
type Of struct {
	Delegate *envelope.MintDelegate
	Request  *envelope.MintRequest
	Domain   *envelope.Projection
	At       int64 // of its log entry
}

// Envelope is the action envelope that follows from the request (AgentEnvelope section 12).
func (m Of) Envelope() (*envelope.ActionEnvelope, error) {
	return m.Delegate.MintedEnvelope(m.Request, m.Domain.Info())
}

// Attests says whether an attestation is the domain's own word that an address is that of this capability's key.
func (m Of) Attests(address string, attestation []byte) bool {
	env, err := m.Envelope()
	if err != nil {
		return false
	}
	report := envelope.VerifyAddressAttestation(attestation, envelope.AddressAttestation{
		DomainHash: env.DomainHash(), ActionEnvelopeHash: env.Hash(), AgentAddress: address,
	}, envelope.Pins{DomainAddress: m.Domain.Address()})
	return report.Valid && report.Pinned
}

// Record is the public action record, canonical JSON, with custodyMode remote-mint-delegate. Owner is the owner key as text.
func (m Of) Record(owner, address string) ([]byte, error) {
	env, err := m.Envelope()
	if err != nil {
		return nil, err
	}
	at, err := envelope.FormatTime(m.At)
	if err != nil {
		return nil, err
	}
	rec, err := envelope.NewRecord(envelope.RecordInput{
		OwnerUserID: envelope.OwnerUserID(owner), CustodyMode: envelope.CustodyRemoteMint, CreatedAt: at,
		AgentAddress: address, Domain: m.Domain, Envelope: env,
	})
	if err != nil {
		return nil, err
	}
	return rec.Canonical(), nil
}

// Legitimacy is a delegate's legitimacyRef as answers carry it, apart from validity.
type Legitimacy struct {
	LegitimacyID string       `json:"legitimacyId"`
	Required     bool         `json:"required"`
	PolicyID     string       `json:"policyId,omitempty"`
	StateVersion envelope.Opt `json:"stateVersion,omitzero"`
	StateHash    string       `json:"stateHash,omitempty"`
}

// LegitimacyOf gives the reference of a delegate, or nil.
func LegitimacyOf(l *envelope.LegitimacyRef) *Legitimacy {
	if l == nil {
		return nil
	}
	return &Legitimacy{l.LegitimacyID, l.Required, l.PolicyID, l.StateVersion, l.StateHash}
}

// Answer is what mint.request gives (docs/protocol.md). Its members are in the order of canonical JSON.
type Answer struct {
	Address     string          `json:"agent_address"`
	Attestation json.RawMessage `json:"attestation"`
	BoundsHeld  bool            `json:"bounds_held"`
	Delegate    string          `json:"delegate_hash"`
	Label       string          `json:"label"` // [Label]
	Legitimacy  *Legitimacy     `json:"legitimacy,omitempty"`
	Mint        string          `json:"mint"`
	Left        int64           `json:"mints_left"` // after this mint
	Record      json.RawMessage `json:"record"`
	Seq         uint64          `json:"seq"`
}

// RecordAnswer is what mint.record gives.
type RecordAnswer struct {
	Attestation json.RawMessage `json:"attestation"`
	Label       string          `json:"label"` // [Label]
	Legitimacy  *Legitimacy     `json:"legitimacy,omitempty"`
	Mint        string          `json:"mint"`
	Record      json.RawMessage `json:"record"`
	UsesLeft    int64           `json:"uses_left"`
}

// Used is what mint.sign gives. Attestation, Head and Record are canonical JSON.
type Used struct {
	Address     string // of the minted key
	Attestation []byte
	Head        []byte // signed, over the entry
	Mint        string
	Record      []byte
	Seq         uint64
	Signature   string // 0x and 130 hex digits
	Use         uint64
	UsesLeft    int64
}

// Canonical writes the answer as canonical JSON. Its parts are canonical already, or need no escaping.
func (u Used) Canonical() []byte {
	out := make([]byte, 0, 512+len(u.Record)+len(u.Head))
	out = append(out, `{"agent_address":"`+u.Address+`","attestation":`...)
	out = append(out, u.Attestation...)
	out = append(out, `,"label":"`+Label+`","log_head":`...)
	out = append(out, u.Head...)
	out = append(out, `,"mint":"`+u.Mint+`","record":`...)
	out = append(out, u.Record...)
	out = append(out, `,"seq":`...)
	out = strconv.AppendUint(out, u.Seq, 10)
	out = append(out, `,"signature":"`+u.Signature+`","use":`...)
	out = strconv.AppendUint(out, u.Use, 10)
	out = append(out, `,"uses_left":`...)
	out = strconv.AppendInt(out, u.UsesLeft, 10)
	return append(out, '}')
}

// ParseUsed reads an answer of mint.sign. Every member is there, and no other; what is in it is the caller's to check.
func ParseUsed(raw []byte) (Used, error) {
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return Used{}, fmt.Errorf("parse a use: %w", err)
	}
	seq, ok := v.Get("seq").Int()
	use, ok2 := v.Get("use").Int()
	left, ok3 := v.Get("uses_left").Int()
	out := Used{
		Address: v.Get("agent_address").Text(), Attestation: v.Get("attestation").Canonical(), Head: v.Get("log_head").Canonical(), Mint: v.Get("mint").Text(),
		Record: v.Get("record").Canonical(), Seq: uint64(seq), Signature: v.Get("signature").Text(), Use: uint64(use), UsesLeft: left,
	}
	switch {
	case v.Kind() != jcs.Object || v.Len() != 10 || v.Get("label").Text() != Label:
		return Used{}, fmt.Errorf("parse a use: its members are not those of an answer")
	case !ok || !ok2 || !ok3 || seq < 0 || use < 0:
		return Used{}, fmt.Errorf("parse a use: a number in it is none")
	}
	return out, nil
}
