package sow

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"

	"vault/derive/envelope"
	"vault/derive/jcs"
	"vault/derive/tag"
)

// The roles of signature records (section 6), which are the two seats.
const (
	Provider = "provider"
	Client   = "client"
)

var errSignatureText = errors.New("signature is neither base64url without padding nor base64 with it, of 64 bytes")

// ParseSignature reads an Ed25519 signature's text: base64url without padding,
// as it is written here, or standard base64 with padding; strictly, 64 bytes.
func ParseSignature(s string) ([]byte, error) {
	enc := base64.RawURLEncoding
	if strings.HasSuffix(s, "=") {
		enc = base64.StdEncoding
	}
	b, err := enc.Strict().DecodeString(s)
	if err != nil || len(b) != ed25519.SignatureSize || enc.EncodeToString(b) != s {
		return nil, errSignatureText
	}
	return b, nil
}

// SignatureText writes a signature as base64url without padding.
func SignatureText(sig []byte) string { return base64.RawURLEncoding.EncodeToString(sig) }

// verify checks one signature text by an nkey over prefix and canonical form.
func verify(key, sig jcs.Value, t tag.Tag, canonical []byte) Code {
	pub, err := envelope.ParseOwnerKey(key.Text())
	if err != nil {
		return "signature_key"
	}
	b, err := ParseSignature(sig.Text())
	if err != nil || !envelope.VerifyOwner(pub, t, canonical, b) {
		return "signature_invalid"
	}
	return ""
}

// Record is a signature record of a document. Role and time are claims: the
// signature covers neither.
type Record struct {
	Role     string
	Key      string
	SignedAt string
	Fault    Code // why it does not count, "" if it verifies
	Member   string
}

// maxRecords bounds how many records of a document are looked at.
const maxRecords = 32

// Signatures reads and verifies the records over the document's present bytes,
// the first 32 of them: more are refused by VerifySignatures.
func (d *Document) Signatures() []Record {
	var out []Record
	for i, s := range d.v.Get("signatures").Items() {
		if i == maxRecords {
			break
		}
		r := Record{Role: s.Get("role").Text(), Key: s.Get("key").Text(), SignedAt: s.Get("signed_at").Text(), Member: item("signatures", i)}
		if r.Role != Provider && r.Role != Client {
			r.Fault = "signature_role"
		} else {
			r.Fault = verify(s.Get("key"), s.Get("sig"), tag.SoW, d.canonical)
		}
		out = append(out, r)
	}
	return out
}

// Pins are the owner keys known for the two seats, "" where none is known.
type Pins struct {
	Provider, Client string
}

// Of is the key known for a seat, Provider or Client.
func (p Pins) Of(role string) string {
	if role == Provider {
		return p.Provider
	}
	return p.Client
}

// Other is the seat across from one: Client for Provider, else Provider.
func Other(role string) string {
	if role == Provider {
		return Client
	}
	return Provider
}

// Seats says who has signed a document.
type Seats struct {
	// Provider and Client are the records that count, nil where the seat has
	// none. Where a key is pinned only its record counts.
	Provider, Client *Record
	// Ignored are the records that do not count, with their faults.
	Ignored []Record
	// Findings name what is wrong with records and seats.
	Findings Findings
}

// Of returns the record that counts for a seat, Provider or Client, nil where
// there is none.
func (s Seats) Of(role string) *Record {
	switch role {
	case Provider:
		return s.Provider
	case Client:
		return s.Client
	}
	return nil
}

// Agreed reports a counting record on each seat, by two keys (section 6).
func (s Seats) Agreed() bool {
	return s.Provider != nil && s.Client != nil && s.Provider.Key != s.Client.Key
}

// VerifySignatures judges the records against the keys known for the seats.
// Records that do not count are listed, and do not undo those that do.
func (d *Document) VerifySignatures(pins Pins) (s Seats) {
	c := &checker{}
	list := d.v.Get("signatures")
	if list.Exists() && (list.Kind() != jcs.Array || list.Len() > maxRecords) {
		c.add("signature_list", "signatures")
	}
	ignore := func(r Record, code Code) {
		r.Fault = code
		s.Ignored = append(s.Ignored, r)
		c.add(code, r.Member)
	}
	for _, r := range d.Signatures() {
		seat := &s.Provider
		if r.Role == Client {
			seat = &s.Client
		}
		pin := pins.Of(r.Role)
		switch {
		case r.Fault != "":
			ignore(r, r.Fault)
		case pin != "" && r.Key != pin:
			ignore(r, "signer_not_owner")
		case *seat != nil:
			ignore(r, "signature_role_duplicate")
			if pin == "" && r.Key != (*seat).Key {
				// Nothing says which of the two is the owner's.
				c.add("signer_not_owner", r.Member)
			}
		default:
			*seat = &r
			if !validInstant(r.SignedAt) {
				c.add("signature_signed_at", r.Member)
			}
		}
	}
	if s.Provider != nil && s.Client != nil && s.Provider.Key == s.Client.Key {
		c.add("signature_same_key_both_roles", s.Client.Member)
	}
	if !s.Agreed() {
		f := finding("not_agreed", "signatures", false)
		f.Severity = Info
		c.found = append(c.found, f)
		if (s.Provider == nil) != (s.Client == nil) {
			c.add("one_signature", "signatures")
		}
	}
	// What is wrong with a record matters only while nothing else fills its seat.
	for i := range c.found {
		for _, r := range s.Ignored {
			filled := r.Role == Provider && s.Provider != nil || r.Role == Client && s.Client != nil || s.Agreed()
			if c.found[i].Member == r.Member && c.found[i].Code == r.Fault && filled {
				c.found[i].Severity = Warning
			}
		}
	}
	s.Findings = c.found
	return s
}
