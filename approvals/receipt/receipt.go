// Package receipt is the vault's own receipt: one log entry with what a stranger
// needs to check it offline. The entries from it up to one that a head is
// over, that head, for a signature the payload, the signature, the public
// action record and the domain's attestation of the address, and for the
// resolution of a binding moment the moment, what was shown behind its options, and
// the resolution.
//
// When a record was made, and for which user, are its own claims: nobody signs
// them, here or in AgentEnvelope. The entry's time is the log key's claim.
//
// It makes no signature and reads no store. Whose log key a head names, a
// receipt cannot say; that is for an owner card or a pin.
package receipt

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/approvals/journal"
	"vault/approvals/moment"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Type is the type member of a receipt.
const Type = "vault.receipt"

// MaxEntries bounds the entries between the one that is shown and its head.
const MaxEntries = 4096

// Parts are what a receipt is made of. The bytes are canonical JSON.
type Parts struct {
	Entries [][]byte // the entry, and those after it up to the head's
	Head    []byte
	// Of an action.signed entry, else empty:
	Signature   string // 0x and 130 hex digits
	Payload     []byte
	Record      []byte // may be absent
	Attestation []byte // may be absent
	// Of a moment.resolved or moment.declined entry, else empty:
	Moment     []byte // the envelope (Briefing-and-Binding Envelope 6.1)
	Resolution []byte // the object that went to the agent (7.3)
	Behind     []byte // what was presented behind the options, as received, or nil where nothing was
	// Of an entry that a passkey confirmed, else empty: record and the log key's word about it.
	Evidence []byte
}

type wire struct {
	Type        string            `json:"type"`
	V           int               `json:"v"`
	Entries     []json.RawMessage `json:"entries"`
	Head        json.RawMessage   `json:"head"`
	Signature   string            `json:"signature,omitempty"`
	Payload     json.RawMessage   `json:"payload,omitempty"`
	Record      json.RawMessage   `json:"record,omitempty"`
	Attestation json.RawMessage   `json:"attestation,omitempty"`
	Moment      json.RawMessage   `json:"binding_moment,omitempty"`
	Resolution  json.RawMessage   `json:"resolution,omitempty"`
	// A text, because an action in it may be as deep as a whole document may be.
	Behind   string          `json:"behind,omitempty"`
	Evidence json.RawMessage `json:"evidence,omitempty"`
}

// Encode returns the canonical bytes of a receipt that [Parse] accepts.
func Encode(p Parts) ([]byte, error) {
	w := wire{Type: Type, V: 1, Head: p.Head, Signature: p.Signature, Payload: p.Payload, Record: p.Record, Attestation: p.Attestation,
		Moment: p.Moment, Resolution: p.Resolution, Behind: string(p.Behind), Evidence: p.Evidence}
	for _, raw := range p.Entries {
		w.Entries = append(w.Entries, raw)
	}
	b, err := jcs.Marshal(w, jcs.Binding)
	if err != nil {
		return nil, fmt.Errorf("write receipt: %w", err)
	}
	if _, err := Parse(b); err != nil {
		return nil, fmt.Errorf("write receipt: %w", err)
	}
	return b, nil
}

// Receipt is a parsed receipt: its members are right by themselves, and nothing
// was compared yet. [Receipt.Verify] does.
type Receipt struct {
	entries   []journal.Entry
	head      journal.Head
	headFault error
	parts     Parts
	evidence  *confirm.Evidence // or nil
}

// Parse reads one JSON document with exactly the members of a receipt. Signatures
// are checked by Verify.
func Parse(raw []byte) (*Receipt, error) {
	r, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("parse receipt: %w", err)
	}
	return r, nil
}

func parse(raw []byte) (*Receipt, error) {
	v, err := jcs.Parse(raw, jcs.Binding)
	if err != nil {
		return nil, err
	}
	known := 0
	for _, name := range []string{"type", "v", "entries", "head", "signature", "payload", "record", "attestation", "binding_moment", "resolution", "behind", "evidence"} {
		if v.Get(name).Exists() {
			known++
		}
	}
	if n, ok := v.Get("v").Int(); v.Get("type").Text() != Type || !ok || n != 1 {
		return nil, errors.New("wrong type or version")
	}
	if known != v.Len() {
		return nil, errors.New("unknown members")
	}
	if n := v.Get("entries").Len(); n == 0 || n > MaxEntries || v.Get("entries").Kind() != jcs.Array {
		return nil, errors.New("entries are not a list of a bounded length")
	}
	if s := v.Get("signature"); s.Exists() && (s.Kind() != jcs.String || s.Text() == "") {
		return nil, errors.New("signature is not a text")
	}
	if b := v.Get("behind"); b.Exists() && (b.Kind() != jcs.String || b.Text() == "") {
		return nil, errors.New("what stood behind the options is not a text")
	}
	r := &Receipt{parts: Parts{
		Head: v.Get("head").Canonical(), Signature: v.Get("signature").Text(), Payload: v.Get("payload").Canonical(),
		Record: v.Get("record").Canonical(), Attestation: v.Get("attestation").Canonical(),
		Moment: v.Get("binding_moment").Canonical(), Resolution: v.Get("resolution").Canonical(),
		Evidence: v.Get("evidence").Canonical(),
	}}
	if b := v.Get("behind"); b.Exists() {
		r.parts.Behind = []byte(b.Text())
	}
	for _, item := range v.Get("entries").Items() {
		e, err := journal.Parse(item.Canonical())
		if err != nil {
			return nil, err
		}
		r.entries, r.parts.Entries = append(r.entries, e), append(r.parts.Entries, e.Raw())
	}
	act := false
	switch r.entries[0].Decoded().(type) {
	case journal.ActionSigned, journal.MintedSigned:
		act = true
	}
	if act != (r.parts.Signature != "") || act != (r.parts.Payload != nil) || !act && (r.parts.Record != nil || r.parts.Attestation != nil) {
		return nil, errors.New("signature and payload stand beside exactly the entries that record one")
	}
	resolved := false
	switch r.entries[0].Decoded().(type) {
	case journal.MomentResolved, journal.MomentDeclined:
		resolved = true
	}
	if resolved != (r.parts.Moment != nil) || resolved != (r.parts.Resolution != nil) {
		return nil, errors.New("moment and resolution stand beside exactly the entries that record one")
	}
	if !resolved && r.parts.Behind != nil {
		return nil, errors.New("what stood behind options stands beside exactly the entries that record a resolution")
	}
	if err := r.entries[0].CheckRecord(); err != nil {
		return nil, err
	}
	if (r.entries[0].Record() != "") != (r.parts.Evidence != nil) {
		return nil, errors.New("evidence stands beside exactly the entries that name a confirmation")
	}
	if r.parts.Evidence != nil {
		if r.evidence, err = confirm.ParseEvidence(r.parts.Evidence); err != nil {
			return nil, err
		}
	}
	r.head, r.headFault = journal.ParseHead(r.parts.Head)
	return r, nil
}

// Entry is the entry that the receipt shows.
func (r *Receipt) Entry() journal.Entry { return r.entries[0] }

// Parts returns the receipt's parts; they must not be changed.
func (r *Receipt) Parts() Parts { return r.parts }

// Head is the signed head; its zero value where its own signature is wrong.
func (r *Receipt) Head() journal.Head { return r.head }

// Pins are what a verifier already trusts; empty members are not pinned.
type Pins struct {
	LogKey        string // nkey text of the log key, from an owner card
	Vault         string // vault id
	DomainAddress string // 0x and 40 hex digits
	// Card is an owner card that the caller trusts: its log key for the head's instance and its passkeys are pinned.
	Card *confirm.OwnerCard
}

// Report says what a receipt shows.
type Report struct {
	Valid  bool
	Checks []envelope.Check
	// LogPinned says that a pinned log key stands behind entry, time and By.
	LogPinned bool
	// SignerPinned says that the pinned domain's key stands behind the address that signed.
	SignerPinned bool
	// PasskeyPinned says that a pinned log key took the confirmation from a pinned passkey.
	PasskeyPinned bool
	By            string // [journal.Entry.By]
	At            int64  // the vault's clock, milliseconds since epoch
	Address       string // that signed, or empty
}

func (p *Report) check(name string, ok bool, detail string) {
	c := envelope.Check{Name: name, OK: ok}
	if !ok {
		c.Detail, p.Valid = detail, false
	}
	p.Checks = append(p.Checks, c)
}

// Verify compares everything with everything: the chain of entries, the head and
// its signature, and for a signature also digest, signer, record and attestation.
// A record's window is looked at with the entry's time: a receipt stays what it
// was when the window is over.
func (r *Receipt) Verify(pins Pins) Report {
	first := r.entries[0]
	p := Report{Valid: true, At: first.At}
	p.check("headSigned", r.headFault == nil, "the head is not signed by the key it names")
	chained := true
	for i, e := range r.entries[1:] {
		before := r.entries[i]
		chained = chained && e.Seq == before.Seq+1 && e.Prev == before.Hash() && e.Instance == before.Instance
	}
	p.check("entriesChained", chained, "an entry does not follow the one before it")
	last := r.entries[len(r.entries)-1]
	p.check("headCoversEntry", r.headFault == nil && r.head.Seq == last.Seq && r.head.Hash == last.Hash() && r.head.Instance == last.Instance,
		"the signed head is over another entry")
	if pins.Vault != "" {
		p.check("vaultPin", r.head.Vault == pins.Vault, "the head is of another vault")
	}
	if pins.Card != nil {
		f := pins.Card.Fields()
		p.check("cardSignature", pins.Card.Verify("").Valid, "the card is not signed by its seat 0")
		p.check("cardVault", r.head.Vault == f.Vault || onCard(f, r.head), "the card is of another vault")
		p.check("cardLogKey", onCard(f, r.head), "the card has another log key for this instance, or none")
		p.LogPinned = onCard(f, r.head)
	}
	if pins.LogKey != "" {
		p.check("logKeyPin", r.head.Key == pins.LogKey, "the head is signed by another log key")
		p.LogPinned = r.head.Key == pins.LogKey
	}
	p.By = first.By()
	switch b := first.Decoded().(type) {
	case journal.ActionSigned:
		p.Address = b.Address
		r.verifyAction(&p, b, pins)
	case journal.MintedSigned:
		p.Address = b.Address
		r.verifyAction(&p, journal.ActionSigned{DomainHash: b.DomainHash, EnvelopeHash: b.EnvelopeHash, Digest: b.Digest, Address: b.Address}, pins)
	case journal.MomentResolved:
		r.verifyMoment(&p, b)
	case journal.MomentDeclined:
		r.verifyMoment(&p, journal.MomentResolved{
			Moment: b.Moment, Client: b.Client, Session: b.Session, EnvelopeDigest: b.EnvelopeDigest, SheetDigest: b.SheetDigest, Choice: string(moment.ChoseDecline),
			Option: -1, ResolutionDigest: b.ResolutionDigest,
		})
	}
	r.verifyEvidence(&p, pins)
	p.PasskeyPinned = p.PasskeyPinned && p.Valid
	p.LogPinned, p.SignerPinned = p.LogPinned && p.Valid, p.SignerPinned && p.Valid
	return p
}

func onCard(f confirm.CardFields, h journal.Head) bool {
	return slices.Contains(f.LogKeys, confirm.CardLogKey{Instance: h.Instance, Key: h.Key})
}

// EvidenceOf compares a confirmation with the entry of a vault's log that it is said to stand behind: whether the log key
// (nkey text) speaks of this entry and its record, and what the passkey confirmed is this act. That the signatures in it are
// right is for [confirm.Evidence.Verify].
func EvidenceOf(e journal.Entry, evidence *confirm.Evidence, vault, logKey string) []envelope.Check {
	want, _ := e.Confirmation()
	says, f := evidence.Statement(), evidence.Record().Context().Fields()
	var out []envelope.Check
	check := func(name string, ok bool, detail string) {
		c := envelope.Check{Name: name, OK: ok}
		if !ok {
			c.Detail = detail
		}
		out = append(out, c)
	}
	check("ofEntry", says.Seq == int64(e.Seq) && says.Head == e.Hash() && says.At == e.At && says.Instance == e.Instance,
		"the log key speaks of another entry")
	check("recordOfEntry", want.Record == evidence.Record().Digest(), "the entry names another record")
	check("logKeyOfHead", says.LogKey == logKey && says.Vault == vault, "another log key speaks than the one that signed the head")
	check("kindOfAct", f.Kind == want.Kind, "the passkey confirmed another kind of act")
	check("contextCoversAct", f.Digest == want.Digest, "the passkey confirmed another act")
	if want.Document != nil {
		check("documentOfAct", f.Document != nil && *f.Document == *want.Document && f.Role == want.Role, "the passkey confirmed it for another document, version or part")
	}
	return out
}

// verifyEvidence compares the confirmation with the entry it stands behind, and verifies it.
func (r *Receipt) verifyEvidence(p *Report, pins Pins) {
	if r.evidence == nil {
		return
	}
	first, context := r.entries[0], r.evidence.Record().Context()
	f := context.Fields()
	for _, c := range EvidenceOf(first, r.evidence, r.head.Vault, r.head.Key) {
		p.check("evidence."+c.Name, c.OK, c.Detail)
	}
	if r.parts.Resolution != nil {
		err := context.Covers(r.parts.Resolution)
		p.check("evidence.contextCoversResolution", err == nil, "the passkey confirmed another resolution")
		if b, ok := first.Decoded().(journal.MomentResolved); ok {
			p.check("evidence.bindsMoment", f.Binding != nil && f.Binding.ActionDigest == b.ActionDigest, "the passkey confirmed another action")
		}
	}
	report := r.evidence.Verify(confirm.EvidencePins{})
	if pins.Card != nil {
		report = pins.Card.VerifyEvidence(r.evidence)
	}
	for _, c := range report.Checks {
		p.check("evidence."+c.Name, c.OK, c.Detail)
	}
	p.PasskeyPinned = report.Pinned
}

// verifyMoment compares the entry of a resolution with the envelope and the resolution.
func (r *Receipt) verifyMoment(p *Report, b journal.MomentResolved) {
	env, err := moment.Parse(r.parts.Moment)
	p.check("momentWellFormed", err == nil, "the envelope is malformed")
	if err != nil {
		return
	}
	p.check("momentInEntry", env.Digest() == b.EnvelopeDigest, "the entry records another envelope")
	p.check("momentID", journal.MomentID(b.Client, b.Session, env.Digest()) == b.Moment, "the entry names another moment than client, session and envelope make")
	sheet, err := r.sheet(env)
	p.check("sheetInEntry", err == nil && sheet.Digest() == b.SheetDigest, "the entry records that something else was shown behind the options")
	res, err := moment.ParseResolution(r.parts.Resolution)
	p.check("resolutionOfMoment", err == nil && res.Check(env, false) == nil, "the resolution is not one of this envelope")
	if err != nil {
		return
	}
	option, selected := res.Option()
	same := res.Digest() == b.ResolutionDigest && string(res.Choice()) == b.Choice && int64(option) == b.Option
	p.check("resolutionInEntry", same, "the entry records another resolution")
	if options := env.Content().Options; selected && option < len(options) {
		p.check("actionInEntry", options[option].ActionDigest == b.ActionDigest, "the entry records another action than the option's")
		if sheet != nil {
			row, with := sheet.Rows[option], ""
			if row.SignWith != nil {
				with = row.SignWith.Hash()
			}
			p.check("signWithInEntry", with == b.SignWith && row.Blocked == "", "the entry records another signing envelope than was shown, or an option that was blocked")
		}
	}
}

// sheet is what was laid before the owner.
func (r *Receipt) sheet(env *moment.Envelope) (*moment.Sheet, error) {
	var behind []moment.Behind
	if r.parts.Behind != nil {
		var err error
		if behind, err = moment.ParseBehind(r.parts.Behind); err != nil {
			return nil, err
		}
	}
	return moment.NewSheet(env, behind)
}

func (r *Receipt) verifyAction(p *Report, b journal.ActionSigned, pins Pins) {
	payload, err := envelope.ParsePayload(r.parts.Payload)
	p.check("payloadWellFormed", err == nil, "the payload cannot have been signed")
	if err == nil {
		digest := payload.Digest()
		p.check("digestInEntry", b.Digest == "0x"+hex.EncodeToString(digest[:]), "the entry records another digest than the payload's")
	}
	signed := envelope.VerifyAction(r.parts.Payload, r.parts.Signature, b.Address)
	p.check("signedByAddress", signed.Valid, "the signature is not of this payload by the address in the entry")
	if r.parts.Record != nil {
		expected := b.EnvelopeHash
		record := envelope.VerifyRecord(r.parts.Record, r.parts.Payload, r.parts.Signature, envelope.RecordOptions{Now: p.At, ExpectedHash: &expected})
		for _, c := range record.Checks {
			p.check("record."+c.Name, c.OK, c.Detail)
		}
		v, err := jcs.Parse(r.parts.Record, jcs.AgentEnvelope)
		same := err == nil && strings.EqualFold(v.Get("agentAddress").Text(), b.Address) &&
			v.Get("domain").Get("domainHash").Text() == b.DomainHash
		p.check("recordOfEntry", same, "the record is of another address or domain than the entry")
	}
	if r.parts.Attestation != nil {
		says := envelope.VerifyAddressAttestation(r.parts.Attestation, envelope.AddressAttestation{
			DomainHash: b.DomainHash, ActionEnvelopeHash: b.EnvelopeHash, AgentAddress: b.Address,
		}, envelope.Pins{DomainAddress: pins.DomainAddress})
		for _, c := range says.Checks {
			p.check("attestation."+c.Name, c.OK, c.Detail)
		}
		p.SignerPinned = says.Pinned
	}
}
