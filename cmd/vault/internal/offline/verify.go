package offline

import (
	"strings"

	"vault/approvals/receipt"
	"vault/approvals/sow/bundle"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// typeReceipt is the type of the vault's own receipts: one log entry with the
// signed head over it.
const typeReceipt = "vault.receipt"

// Verify checks the documents together at the time now, in milliseconds since
// epoch. Every check is made, also after one has failed. Its error wraps ErrUsage
// and is about what was given, never about validity.
func Verify(docs []Document, pins Pins, now int64) (*Result, error) {
	if err := pins.Check(); err != nil {
		return nil, err
	}
	if len(docs) == 0 || len(docs) > MaxFiles {
		return nil, usage("give 1 to %d files", MaxFiles)
	}
	s, err := sort(docs)
	if err != nil {
		return nil, err
	}
	v := &verifier{set: s, pins: pins, now: now, valid: true, tied: true}
	if err := v.run(); err != nil {
		return nil, err
	}
	r := &Result{Lines: v.lines, Notes: v.notes, Pinned: pins.given()}
	switch {
	case !v.valid:
		r.Verdict = NotValid
	case v.tied:
		r.Verdict = Verified
	default:
		r.Verdict = SelfConsistent
	}
	return r, nil
}

type verifier struct {
	*set
	pins  Pins
	now   int64
	lines []Line
	notes []string
	valid bool
	tied  bool // every document is tied to a pin

	pinned *confirm.OwnerCard // nil: none, or none that can be read
}

func (v *verifier) run() error {
	if v.pins.Card != nil {
		v.card()
	}
	signed := len(v.records) > 0 || len(v.payloads) > 0 || len(v.signatures) > 0
	if signed && !v.alone() {
		switch {
		case len(v.payloads) == 0:
			return usage("the payload that was signed is missing")
		case len(v.signatures) == 0 && isSoW(v.payloads[0].raw):
			return usage("this is an Agent SoW document, or a bundle of one: give it to vault sow verify")
		case len(v.signatures) == 0 && len(v.records) == 0:
			return usage("this is no record, delegate, receipt or saved answer, and no signature over it was given")
		case len(v.signatures) == 0:
			return usage("the signature over the payload is missing")
		case len(v.records) == 0 && v.pins.Address == "":
			return usage("a signature is checked against a public action record, or against an address that you trust")
		}
	}
	if len(v.records) > 0 {
		v.record()
	} else if signed {
		v.action()
	}
	others := envelope.Pins{DomainAddress: v.pins.Domain}
	if !signed {
		others.ExpectHash = v.pins.Hash // beside a record it is the record's
	}
	for _, p := range v.receipts {
		r := envelope.VerifyReceipt(p.raw, others)
		v.add(p.file, r)
		v.needTie(r.Pinned)
	}
	for _, p := range v.delegates {
		r, _ := envelope.VerifyMintDelegate(p.raw, others)
		v.add(p.file, r)
		v.needTie(r.Pinned)
	}
	if len(v.records) == 0 {
		for _, p := range v.attestations {
			r := envelope.VerifyAddressAttestation(p.raw, attested(p.v), envelope.Pins{DomainAddress: v.pins.Domain})
			v.add(p.file, r)
			v.needTie(r.Pinned)
		}
	}
	for _, p := range v.vaultReceipts {
		v.receipt(p)
	}
	for _, p := range v.evidences {
		v.evidence(p)
	}
	return nil
}

// isSoW says that a file is of another family than this package checks.
func isSoW(raw []byte) bool {
	p, err := jcs.Parse(raw, jcs.SoW)
	return err == nil && (bundle.Is(p) || p.Get("sow").Exists() && p.Get("parties").Exists())
}

func (v *verifier) check(file, name string, ok bool, detail string) {
	if ok {
		detail = ""
	} else {
		v.valid = false
	}
	v.lines = append(v.lines, Line{File: file, Check: name, OK: ok, Detail: detail})
}

func (v *verifier) add(file string, r *envelope.Report) {
	for _, c := range r.Checks {
		v.check(file, c.Name, c.OK, c.Detail)
	}
	v.notes = append(v.notes, r.Warnings...)
}

func (v *verifier) needTie(tied bool) { v.tied = v.tied && tied }

// alone says that a record was given, and nothing that it may have been used for.
func (v *verifier) alone() bool {
	return len(v.records) > 0 && len(v.payloads) == 0 && len(v.signatures) == 0
}

// record checks the record, with payload and signature where they were given, and what ties it to a pin:
// the expected hash of the whole record, an address that is pinned, or the domain's
// attestation of the address.
func (v *verifier) record() {
	rec := v.records[0]
	o := envelope.RecordOptions{Now: v.now, Pins: envelope.Pins{
		Owner: v.pins.Owner, DomainAddress: strings.ToLower(v.pins.Domain), ExpectHash: v.pins.Hash,
	}}
	if v.alone() {
		v.add(rec.file, envelope.VerifyRecordAlone(rec.raw, o))
		v.notes = append(v.notes, "Only the record was given. No signature was checked: it says what its address may sign, not that anything was signed.")
	} else {
		v.add(rec.file, envelope.VerifyRecord(rec.raw, v.payloads[0].raw, string(v.signatures[0].raw), o))
	}
	address := rec.v.Get("agentAddress").Text()
	if v.answer != nil {
		v.check(rec.file, "answerAddress", strings.EqualFold(v.answer.v.Get("agent_address").Text(), address),
			"the answer names another agent address than its record")
		for _, claim := range []string{"by", "log_head", "seq"} {
			if v.answer.v.Get(claim).Exists() {
				v.notes = append(v.notes, "How it was approved, and which log entry says so, are claims of the answer. A receipt says it under the log's key.")
				break
			}
		}
	}
	tied := v.pins.Hash != "" && v.pins.Hash == envelope.HashCanonical(rec.v.Canonical())
	if v.pins.Address != "" {
		same := strings.EqualFold(address, v.pins.Address)
		v.check(rec.file, "addressPin", same, "the record names another agent address")
		tied = tied || same && !v.alone() // without its signature the address is only named
	}
	for _, p := range v.attestations {
		r := envelope.VerifyAddressAttestation(p.raw, envelope.AddressAttestation{
			DomainHash:         rec.v.Get("domain").Get("domainHash").Text(),
			ActionEnvelopeHash: rec.v.Get("actionEnvelopeHash").Text(),
			AgentAddress:       address,
		}, envelope.Pins{DomainAddress: v.pins.Domain})
		v.add(p.file, r)
		attester := p.v.Get("attestation").Get("attesterAddress").Text()
		v.check(p.file, "attesterIsDomain", strings.EqualFold(attester, rec.v.Get("domain").Get("domainAddress").Text()),
			"the attestation is by another key than the record's domain")
		tied = tied || r.Pinned
	}
	if v.pins.Domain != "" && len(v.attestations) == 0 {
		v.notes = append(v.notes, "The record claims the pinned domain. Only the domain's attestation of the agent address would prove it.")
	}
	v.notes = append(v.notes, "This does not prove that a use is unspent.")
	v.needTie(tied)
}

// action checks a signature over a payload against the pinned address.
func (v *verifier) action() {
	r := envelope.VerifyAction(v.payloads[0].raw, string(v.signatures[0].raw), v.pins.Address)
	v.add(v.payloads[0].file, r)
	v.notes = append(v.notes, "No public action record was given: what the address may sign was not checked.",
		"This does not prove that a use is unspent.")
	v.needTie(r.Pinned)
}

func attested(v jcs.Value) envelope.AddressAttestation {
	return envelope.AddressAttestation{
		DomainHash:         v.Get("domainHash").Text(),
		ActionEnvelopeHash: v.Get("actionEnvelopeHash").Text(),
		AgentAddress:       v.Get("agentAddress").Text(),
	}
}

// card checks the owner card. It ties nothing by itself: that it is the owner's is what whoever gives it as a pin
// says, or the pinned owner key.
func (v *verifier) card() {
	c, err := confirm.ParseOwnerCard(v.pins.Card)
	v.check(v.pins.CardName, "cardWellFormed", err == nil, text(err))
	if err != nil {
		return
	}
	for _, check := range c.Verify(v.pins.Owner).Checks {
		v.check(v.pins.CardName, check.Name, check.OK, check.Detail)
	}
	v.pinned = c
}

// receipt checks one of the vault's own receipts. Only an owner card says whose log key it names; without one it is
// never more than self-consistent.
func (v *verifier) receipt(p part) {
	r, err := receipt.Parse(p.v.Canonical())
	v.check(p.file, "receiptWellFormed", err == nil, text(err))
	if err != nil {
		v.needTie(false)
		return
	}
	report := r.Verify(receipt.Pins{DomainAddress: strings.ToLower(v.pins.Domain), Card: v.pinned})
	for _, c := range report.Checks {
		v.check(p.file, c.Name, c.OK, c.Detail)
	}
	v.needTie(report.LogPinned)
	if report.SignerPinned {
		v.notes = append(v.notes, "The address that signed is one of the pinned domain.")
	}
	switch {
	case report.PasskeyPinned:
		v.notes = append(v.notes, "Confirmed with a passkey on the card: presence and verification, nothing more.")
	case report.LogPinned && report.By != "":
		v.notes = append(v.notes, "The log key on the card says how it was approved: by "+report.By+".")
	case !report.LogPinned:
		v.notes = append(v.notes, "A receipt names its log key, which vouches for the time and for how it was approved. Whose key that is, only an owner card says.")
	}
}

// evidence checks a confirmation that stands alone: what it is about is not here.
func (v *verifier) evidence(p part) {
	e, err := confirm.ParseEvidence(p.v.Canonical())
	v.check(p.file, "evidenceWellFormed", err == nil, text(err))
	if err != nil {
		v.needTie(false)
		return
	}
	report := e.Verify(confirm.EvidencePins{})
	if v.pinned != nil {
		report = v.pinned.VerifyEvidence(e)
	}
	for _, c := range report.Checks {
		v.check(p.file, "evidence."+c.Name, c.OK, c.Detail)
	}
	v.needTie(report.Pinned)
	v.notes = append(v.notes, "Evidence says that an act with this digest was confirmed. Its receipt holds the act.")
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
