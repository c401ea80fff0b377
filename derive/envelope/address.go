package envelope

import (
	"encoding/json"
	"errors"
	"fmt"

	"vault/derive/jcs"
)

// TypeAddressAttestation is the type of an attestation receipt in which a domain
// says which address is derived for an action envelope.
const TypeAddressAttestation = "vault.addressAttestation"

// AddressAttestation is the receipt body with which the domain's key ties an
// agent address to an action envelope. A public action record alone is not signed,
// and nothing in it binds the address to the envelope (AgentEnvelope section 11);
// with this receipt, a verifier who has pinned the domain's address needs no other
// source to trust. It is unsigned until an attestation is added.
type AddressAttestation struct {
	DomainHash         string // 0x and 64 hex digits
	ActionEnvelopeHash string // 0x and 64 hex digits
	AgentAddress       string // 0x and 40 lower-case hex digits
}

// Digest is what the domain's key signs.
func (a AddressAttestation) Digest() ([32]byte, error) {
	body, err := a.body("", "")
	if err != nil {
		return [32]byte{}, err
	}
	return ReceiptDigest(body)
}

// Signed gives the canonical receipt with the attestation of the domain's address,
// whose signature is 0x and 130 hex digits.
func (a AddressAttestation) Signed(domainAddress, signature string) ([]byte, error) {
	return a.body(domainAddress, signature)
}

func (a AddressAttestation) body(attester, signature string) ([]byte, error) {
	if !IsHash(a.DomainHash) || !IsHash(a.ActionEnvelopeHash) || !IsAddress(a.AgentAddress) {
		return nil, errors.New("build address attestation: a hash or the address is invalid")
	}
	body := map[string]any{
		"type": TypeAddressAttestation, "version": 1,
		"domainHash": a.DomainHash, "actionEnvelopeHash": a.ActionEnvelopeHash, "agentAddress": a.AgentAddress,
	}
	if attester != "" {
		member, err := Attestation(attester, signature)
		if err != nil {
			return nil, err
		}
		body["attestation"] = json.RawMessage(member)
	}
	return mustMarshal(body), nil
}

// VerifyAddressAttestation checks the receipt as VerifyReceipt does, and that it
// speaks of the domain, envelope and address of a record. A domain hash that is
// pinned is compared with the receipt's.
func VerifyAddressAttestation(raw []byte, of AddressAttestation, pins Pins) *Report {
	r := VerifyReceipt(raw, Pins{DomainAddress: pins.DomainAddress})
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	r.check("attestationType", err == nil && isType(v, TypeAddressAttestation) && isVersion1(v), "this is no address attestation")
	r.check("attestationExact", members(v, []string{"type", "version", "domainHash", "actionEnvelopeHash", "agentAddress", "attestation"}, nil) == nil,
		"the address attestation has missing or unknown members")
	for _, m := range []struct{ name, have, want string }{
		{"attestedDomain", v.Get("domainHash").Text(), of.DomainHash},
		{"attestedEnvelope", v.Get("actionEnvelopeHash").Text(), of.ActionEnvelopeHash},
		{"attestedAddress", v.Get("agentAddress").Text(), of.AgentAddress},
	} {
		r.check(m.name, m.have == m.want && m.want != "", fmt.Sprintf("the attestation speaks of another %s", m.name[len("attested"):]))
	}
	if pins.DomainHash != "" {
		r.check("domainHashPin", of.DomainHash == pins.DomainHash, "the attestation names another domain")
	}
	r.Pinned = r.Valid && pins.DomainAddress != ""
	return r
}
