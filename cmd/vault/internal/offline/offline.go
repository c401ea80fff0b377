// Package offline checks what a vault has signed, without a vault: public action
// records, signatures over payloads, mint delegates, attestation receipts and the
// vault's own receipts, alone or together, against what the verifier already
// trusts.
//
// It reads no files, writes nothing and holds no key. What it answers is never
// OK for files that anybody could have made.
package offline

import (
	"errors"
	"fmt"
	"strings"

	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Limits of what is read.
const (
	MaxFile  = 8 << 20 // bytes of one document
	MaxFiles = 64
)

// Document is one file that was given, by its name. What it is is read from its
// type and members; Payload says that it is what was signed, whatever it looks like.
type Document struct {
	Name    string
	Raw     []byte
	Payload bool
}

// Pins are what the verifier trusts already. Empty members are not pinned.
type Pins struct {
	Owner   string // owner key, nkey text "U…"
	Domain  string // address of a domain, 0x and 40 hex digits
	Address string // address of an agent, 0x and 40 hex digits
	Hash    string // of an action envelope, a record, a delegate or a receipt, 0x and 64 hex digits
	// Card is an owner card that the verifier got from its owner, as received, by its name.
	Card     []byte
	CardName string
}

// Verdict is the outcome of all checks together.
type Verdict uint8

// The verdicts. Their numbers are the exit statuses of "vault verify".
const (
	Verified       Verdict = 0 // valid, and tied to a pin
	NotValid       Verdict = 1
	SelfConsistent Verdict = 3 // valid, and anybody could have made it
)

// Line is one check, by the file it concerns.
type Line struct {
	File   string // as given
	Check  string // a name of ours
	OK     bool
	Detail string // why it failed; may quote the file
}

// Result is every check in order, remarks, and the verdict.
type Result struct {
	Lines   []Line
	Notes   []string // sentences of ours; may quote a file
	Verdict Verdict
	Pinned  bool // whether any pin was given
}

// ErrUsage is wrapped by errors that are about what was given, not about whether
// it is valid.
var ErrUsage = errors.New("nothing was checked")

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, args...))
}

// Check reads the pins. Its error wraps ErrUsage.
func (p Pins) Check() error {
	if p.Owner != "" {
		if _, err := envelope.ParseOwnerKey(p.Owner); err != nil {
			return usage("the owner pin is no owner key")
		}
	}
	for what, a := range map[string]string{"domain": p.Domain, "address": p.Address} {
		if a == "" {
			continue
		}
		if _, err := envelope.ParseAddress(a); err != nil {
			return usage("the %s pin is no address: 0x and 40 hex digits", what)
		}
	}
	if p.Hash != "" && !envelope.IsHash(p.Hash) {
		return usage("the expected hash is no hash: 0x and 64 lower-case hex digits")
	}
	return nil
}

func (p Pins) given() bool {
	return p.Owner != "" || p.Domain != "" || p.Address != "" || p.Hash != "" || p.Card != nil
}

// set is what the files turned out to be.
type set struct {
	records, payloads, signatures, receipts, attestations, delegates, vaultReceipts, evidences []part

	answer *part // where record and signature came in one, or nil
}

// mintMembers are those of an answer to mint.request or mint.record, which has no type either.
var mintMembers = []string{"mint", "record", "label", "attestation"}

type part struct {
	file string
	raw  []byte
	v    jcs.Value
}

// resultMembers are those of an answer to action.sign, which has no type. Whoever
// saved it may have put what was signed beside them, as "payload".
var resultMembers = []string{"signature", "agent_address", "record"}

// sort finds out what each document is.
func sort(docs []Document) (*set, error) {
	s := &set{}
	for _, d := range docs {
		if d.Payload {
			s.payloads = append(s.payloads, part{file: d.Name, raw: d.Raw})
			continue
		}
		text := strings.TrimSpace(string(d.Raw))
		if strings.HasPrefix(text, "0x") && !strings.ContainsAny(text, " \t\r\n") {
			s.signatures = append(s.signatures, part{file: d.Name, raw: []byte(text)})
			continue
		}
		v, err := jcs.Parse(d.Raw, jcs.AgentEnvelope)
		if err != nil || v.Kind() != jcs.Object {
			s.payloads = append(s.payloads, part{file: d.Name, raw: d.Raw})
			continue
		}
		s.document(part{file: d.Name, raw: d.Raw, v: v})
	}
	switch {
	case len(s.payloads) > 1:
		return nil, usage("more than one of the files can only be a payload")
	case len(s.signatures) > 1:
		return nil, usage("more than one signature was given")
	case len(s.records) > 1:
		return nil, usage("more than one public action record was given")
	}
	return s, nil
}

func (s *set) document(p part) {
	isAnswer := true
	for _, m := range resultMembers {
		isAnswer = isAnswer && p.v.Get(m).Exists()
	}
	kind := p.v.Get("type").Text()
	isMint := !isAnswer
	for _, m := range mintMembers {
		isMint = isMint && p.v.Get(m).Exists()
	}
	switch {
	case kind == "" && isMint:
		s.records = append(s.records, part{file: p.file, raw: p.v.Get("record").Raw(), v: p.v.Get("record")})
		s.attestations = append(s.attestations, part{file: p.file, raw: p.v.Get("attestation").Raw(), v: p.v.Get("attestation")})
	case kind == "" && isAnswer:
		s.records = append(s.records, part{file: p.file, raw: p.v.Get("record").Raw(), v: p.v.Get("record")})
		s.signatures = append(s.signatures, part{file: p.file, raw: []byte(p.v.Get("signature").Text())})
		if a := p.v.Get("attestation"); a.Kind() == jcs.Object {
			s.attestations = append(s.attestations, part{file: p.file, raw: a.Raw(), v: a})
		}
		s.answer = &p
		if signed := p.v.Get("payload"); signed.Exists() {
			s.payloads = append(s.payloads, part{file: p.file, raw: signed.Raw(), v: signed})
		}
	case kind == envelope.TypeRecord:
		s.records = append(s.records, p)
	case kind == envelope.TypeMintDelegate:
		s.delegates = append(s.delegates, p)
	case kind == typeReceipt:
		s.vaultReceipts = append(s.vaultReceipts, p)
	case kind == confirm.EvidenceType:
		s.evidences = append(s.evidences, p)
	case kind == envelope.TypeAddressAttestation:
		s.attestations = append(s.attestations, p)
	case p.v.Get("attestation").Exists():
		s.receipts = append(s.receipts, p)
	default:
		s.payloads = append(s.payloads, p)
	}
}
