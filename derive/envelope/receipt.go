package envelope

import (
	"errors"
	"fmt"

	"vault/derive/jcs"
	"vault/derive/tag"
)

// receiptAlg is the one algorithm of attestations.
const receiptAlg = "secp256k1-keccak256"

// ReceiptDigest returns what an attester signs: the receipt without its
// attestation, under the attestation prefix (AgentEnvelope section 6).
func ReceiptDigest(raw []byte) ([32]byte, error) {
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	if err != nil {
		return [32]byte{}, fmt.Errorf("parse receipt: %w", err)
	}
	if v.Kind() != jcs.Object {
		return [32]byte{}, errors.New("parse receipt: receipt must be an object")
	}
	return receiptDigest(v), nil
}

func receiptDigest(v jcs.Value) [32]byte {
	return Digest(tag.Attestation, v.Without("attestation").Canonical())
}

// Attestation returns the canonical attestation member for a receipt signed by
// the attester.
func Attestation(attesterAddress, signature string) ([]byte, error) {
	if !IsAddress(attesterAddress) {
		return nil, errors.New("build attestation: attester address is invalid")
	}
	if _, err := ParseSignature(signature); err != nil {
		return nil, fmt.Errorf("build attestation: %w", err)
	}
	return mustMarshal(map[string]string{"attesterAddress": attesterAddress, "alg": receiptAlg, "signature": signature}), nil
}

// VerifyReceipt checks an attested receipt against the attester that the
// caller trusts, in pins.DomainAddress or, for the whole receipt, by
// pins.ExpectHash. Without either, everything else is checked and the report
// is valid but not pinned. An owner pin or a domain hash has no counterpart in
// a receipt and makes it invalid.
func VerifyReceipt(raw []byte, pins Pins) *Report {
	r := newReport()
	v, err := jcs.Parse(raw, jcs.AgentEnvelope)
	r.checkErr("receiptWellFormed", err)
	r.check("receiptObject", v.Kind() == jcs.Object, "receipt must be an object")
	a := v.Get("attestation")
	r.check("attested", a.Kind() == jcs.Object, "receipt is not attested")
	r.check("attestationMembers", members(a, []string{"attesterAddress", "alg", "signature"}, nil) == nil, "attestation has missing or unknown members")
	attester := a.Get("attesterAddress").Text()
	r.check("attesterWellFormed", isAddressAnyCase(attester), "attesterAddress is invalid")
	r.check("algorithm", a.Get("alg").Text() == receiptAlg, "attestation algorithm is not secp256k1-keccak256")
	var digest [32]byte
	if v.Kind() == jcs.Object {
		digest = receiptDigest(v)
	}
	r.signed(a.Get("signature").Text(), digest, v.Kind() == jcs.Object, attester, "attester address mismatch")
	if pins.Owner != "" {
		r.check("ownerPin", false, "a receipt names no owner")
	}
	if pins.DomainHash != "" {
		r.check("domainHashPin", false, "a receipt names no domain")
	}
	if pins.DomainAddress != "" {
		r.check("attesterPin", sameAddress(attester, pins.DomainAddress), "unexpected attester")
	}
	if pins.ExpectHash != "" {
		r.check("hashPin", hash256(v.Canonical()) == pins.ExpectHash, "the receipt has another hash")
	}
	r.Pinned = r.Valid && (pins.DomainAddress != "" || pins.ExpectHash != "")
	return r
}
