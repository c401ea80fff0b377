package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"

	"vault/approvals/internal/strict"
	"vault/derive/confirm"
)

// The kinds of entries about mint delegation (AgentEnvelope section 12).
const (
	KindDelegateIssued   Kind = "delegate.issued"
	KindDelegateImported Kind = "delegate.imported" // (unkeyed) it permits nothing until it is admitted
	KindDelegateAdmitted Kind = "delegate.admitted"
	KindDelegatePaused   Kind = "delegate.paused" // (unkeyed)
	KindDelegateResumed  Kind = "delegate.resumed"
	KindDelegateEnded    Kind = "delegate.ended" // (unkeyed)
	KindCapabilityMinted Kind = "capability.minted"
	KindMintedSigned     Kind = "minted.signed"
	KindMintExported     Kind = "mint.exported"
)

// Bounds of what one log remembers of mint delegation, so that its state stays small enough to be handed over.
const (
	MaxDelegates = 20_000  // ended ones included
	MaxMints     = 200_000 // of delegates that have not ended
)

// DelegateIssued is the body of delegate.issued: signed by the domain's key here.
type DelegateIssued struct {
	Delegate     string `json:"delegate"` // delegateHash
	DomainHash   string `json:"domain_hash"`
	Mints        int64  `json:"mints"` // its maxMints
	PermitSHA256 string `json:"permit_sha256"`
	Confirmation string `json:"confirmation,omitzero"`
}

// DelegateImported is the body of delegate.imported: it was signed elsewhere by the same domain's key.
type DelegateImported struct {
	Delegate   string `json:"delegate"`
	DomainHash string `json:"domain_hash"`
}

// DelegateAdmitted is the body of delegate.admitted: a delegate of which is not known what was minted under it
// before may be used in this log, for a number of mints.
type DelegateAdmitted struct {
	Delegate     string `json:"delegate"`
	DomainHash   string `json:"domain_hash"`
	Mints        int64  `json:"mints"` // how many may be minted here
	PermitSHA256 string `json:"permit_sha256"`
	Confirmation string `json:"confirmation,omitzero"`
}

// DelegatePaused is the body of delegate.paused.
type DelegatePaused struct {
	Delegate string `json:"delegate"`
}

// DelegateResumed is the body of delegate.resumed.
type DelegateResumed struct {
	Delegate     string `json:"delegate"`
	Confirmation string `json:"confirmation,omitzero"`
}

// DelegateEnded is the body of delegate.ended. What was minted under it is forgotten: it is signed for no more.
type DelegateEnded struct {
	Delegate string `json:"delegate"`
	Reason   string `json:"reason"` // "revoked" | "expired"; "removed" of one that was imported and never admitted
}

// CapabilityMinted is the body of capability.minted: nonce and mint are spent. Nothing was derived yet.
type CapabilityMinted struct {
	Delegate     string `json:"delegate"`
	DomainHash   string `json:"domain_hash"`
	Client       string `json:"client"`
	Bot          string `json:"bot"`           // address
	Nonce        string `json:"nonce"`         // SHA-256 of the request's nonce, 0x and 64 hex digits
	Mint         string `json:"mint"`          // SHA-256 of the canonical request without botSignature; names the minted capability
	EnvelopeHash string `json:"envelope_hash"` // of the action envelope of its record
	Number       uint64 `json:"number"`        // which mint of the delegate in this log, from 1
}

// MintedSigned is the body of minted.signed: use and signature of a minted key.
type MintedSigned struct {
	Request  string `json:"request"`
	Client   string `json:"client"`
	Session  string `json:"session"`
	Bot      string `json:"bot"`
	Delegate string `json:"delegate"`
	Nonce    string `json:"nonce"`
	Mint     string `json:"mint"`
	// DomainHash and EnvelopeHash are those of the minted capability's record.
	DomainHash   string `json:"domain_hash"`
	EnvelopeHash string `json:"envelope_hash"`
	Digest       string `json:"digest"`  // Keccak-256 that was signed, 0x and 64 hex digits
	Address      string `json:"address"` // the address that signed
	Use          uint64 `json:"use"`     // which use of this minted key, from 1
}

// MintExported is the body of mint.exported: whoever has the recipient's key can derive every minted key of the domain.
type MintExported struct {
	DomainHash   string `json:"domain_hash"`
	Recipient    string `json:"recipient"` // age X25519 recipient
	Confirmation string `json:"confirmation,omitzero"`
}

// mintBodies reads the body of each of these kinds.
var mintBodies = map[Kind]func(*strict.Object) any{
	KindDelegateIssued: func(o *strict.Object) any {
		return DelegateIssued{
			Delegate:     o.Text("delegate", strict.Hash),
			DomainHash:   o.Text("domain_hash", strict.Hash),
			Mints:        o.Int("mints", 1, strict.MaxInt),
			PermitSHA256: o.Text("permit_sha256", strict.Hash),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindDelegateImported: func(o *strict.Object) any {
		return DelegateImported{Delegate: o.Text("delegate", strict.Hash), DomainHash: o.Text("domain_hash", strict.Hash)}
	},
	KindDelegateAdmitted: func(o *strict.Object) any {
		return DelegateAdmitted{
			Delegate:     o.Text("delegate", strict.Hash),
			DomainHash:   o.Text("domain_hash", strict.Hash),
			Mints:        o.Int("mints", 1, strict.MaxInt),
			PermitSHA256: o.Text("permit_sha256", strict.Hash),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindDelegatePaused: func(o *strict.Object) any { return DelegatePaused{Delegate: o.Text("delegate", strict.Hash)} },
	KindDelegateResumed: func(o *strict.Object) any {
		return DelegateResumed{Delegate: o.Text("delegate", strict.Hash), Confirmation: o.Extra("confirmation", strict.Hash)}
	},
	KindDelegateEnded: func(o *strict.Object) any {
		return DelegateEnded{Delegate: o.Text("delegate", strict.Hash), Reason: o.Text("reason", strict.Is("revoked", "expired", "removed"))}
	},
	KindCapabilityMinted: func(o *strict.Object) any {
		return CapabilityMinted{
			Delegate:     o.Text("delegate", strict.Hash),
			DomainHash:   o.Text("domain_hash", strict.Hash),
			Client:       o.Text("client", strict.Client),
			Bot:          o.Text("bot", strict.Address),
			Nonce:        o.Text("nonce", strict.Hash),
			Mint:         o.Text("mint", strict.Hash),
			EnvelopeHash: o.Text("envelope_hash", strict.Hash),
			Number:       uint64(o.Int("number", 1, strict.MaxInt)),
		}
	},
	KindMintedSigned: func(o *strict.Object) any {
		return MintedSigned{
			Request:      o.Text("request", strict.Some(maxRequest)),
			Client:       o.Text("client", strict.Client),
			Session:      o.Text("session", strict.UpTo(maxRequest)),
			Bot:          o.Text("bot", strict.Address),
			Delegate:     o.Text("delegate", strict.Hash),
			Nonce:        o.Text("nonce", strict.Hash),
			Mint:         o.Text("mint", strict.Hash),
			DomainHash:   o.Text("domain_hash", strict.Hash),
			EnvelopeHash: o.Text("envelope_hash", strict.Hash),
			Digest:       o.Text("digest", strict.Hash),
			Address:      o.Text("address", strict.Address),
			Use:          uint64(o.Int("use", 1, strict.MaxInt)),
		}
	},
	KindMintExported: func(o *strict.Object) any {
		return MintExported{
			DomainHash:   o.Text("domain_hash", strict.Hash),
			Recipient:    o.Text("recipient", strict.Some(maxName)),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
}

func (b DelegateIssued) record() string   { return b.Confirmation }
func (b DelegateAdmitted) record() string { return b.Confirmation }
func (b DelegateResumed) record() string  { return b.Confirmation }
func (b MintExported) record() string     { return b.Confirmation }

func (b DelegateIssued) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofDocument(confirm.MintDelegate, b.Delegate[2:], b), true
}

func (b DelegateAdmitted) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.InstanceReadmit, b), true
}

func (b DelegateResumed) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.InstanceReadmit, b), true
}

func (b MintExported) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofAct(confirm.MintExport, b), true
}

// Codes of a [Contradiction] about mint delegation.
const (
	CodeUnknownDelegate  = "unknown_delegate" // no such delegate was issued or admitted in the log
	CodeDelegatePaused   = "delegate_paused"
	CodeDelegateEnded    = "delegate_ended"
	CodeDelegateExpired  = "delegate_expired"
	CodeNotPaused        = "not_paused"
	CodeTooManyDelegates = "too_many_delegates"
	CodeTooManyMints     = "too_many_mints"
	CodeMintsSpent       = "mints_spent"
	CodeNonceReused      = "nonce_reused"
	CodeMintNotNext      = "mint_not_next" // not the next mint of its delegate
	CodeUnknownMint      = "unknown_mint"
)

// DelegateState is a delegate that was issued or admitted in the log.
type DelegateState struct {
	Hash         string `json:"delegate"`
	DomainHash   string `json:"domain_hash"`
	PermitSHA256 string `json:"permit_sha256"`
	Admitted     bool   `json:"admitted"` // and not issued in this log
	MadeAt       int64  `json:"made_at"`  // milliseconds since epoch, of the entry
	Mints        int64  `json:"mints"`    // how many may be minted in this log
	Minted       uint64 `json:"minted"`
	Uses         uint64 `json:"uses"` // signatures by its minted keys
	Paused       bool   `json:"paused"`
	Ended        string `json:"ended"` // "" or the reason
	Kept         int    `json:"kept"`  // number of lines that follow in the state's bytes: its mints, unless it has ended
}

// MintState is a minted capability of a delegate that has not ended.
type MintState struct {
	Mint string // 0x and 64 hex digits
	Uses uint64
}

type delegate struct {
	DelegateState
	mints map[[32]byte]mint // by the SHA-256 of the nonce
}

type mint struct {
	request [32]byte
	uses    uint64
}

// Delegate returns a delegate that was issued or admitted, ended ones included.
func (s *State) Delegate(hash string) (DelegateState, bool) {
	d := s.delegates[hash]
	if d == nil {
		return DelegateState{}, false
	}
	return d.state(), true
}

func (d *delegate) state() DelegateState {
	out := d.DelegateState
	out.Kept = len(d.mints)
	return out
}

// Delegates returns all delegates, ordered by hash.
func (s *State) Delegates() []DelegateState {
	out := make([]DelegateState, 0, len(s.delegates))
	for _, d := range s.sortedDelegates() {
		out = append(out, d.state())
	}
	return out
}

func (s *State) sortedDelegates() []*delegate {
	return sorted(s.delegates, func(d *delegate) string { return d.Hash })
}

// Mint returns what was minted under a delegate with a nonce, whose SHA-256 is given (0x and 64 hex digits).
func (s *State) Mint(delegateHash, nonce string) (MintState, bool) {
	d := s.delegates[delegateHash]
	if d == nil {
		return MintState{}, false
	}
	m, ok := d.mints[key(nonce)]
	if !ok {
		return MintState{}, false
	}
	return MintState{"0x" + hex.EncodeToString(m.request[:]), m.uses}, true
}

// MintsKept is how many mints the state remembers.
func (s *State) MintsKept() int { return s.kept }

// Exported is when mint material of a domain was let out, milliseconds since epoch, 0 for never in this log.
func (s *State) Exported(domainHash string) int64 { return s.exported[domainHash] }

// DelegateOpen says why a delegate gives nothing now, or nil. Time is not looked at, and neither are
// mints: an open delegate may have none left. The error is a [*Contradiction].
func (s *State) DelegateOpen(hash string) error {
	d := s.delegates[hash]
	switch {
	case d == nil:
		return contradict(CodeUnknownDelegate, "the log shows no such delegate")
	case d.Ended == "expired":
		return contradict(CodeDelegateExpired, "the delegate is past its end")
	case d.Ended != "":
		return contradict(CodeDelegateEnded, "the delegate was revoked")
	case d.Paused:
		return contradict(CodeDelegatePaused, "the delegate is paused")
	}
	return nil
}

// checkMints is check of these kinds; false for others.
func (s *State) checkMints(e Entry) (func(), bool, error) {
	var change func()
	var err error
	switch b := e.decoded.(type) {
	case DelegateIssued:
		change, err = s.checkDelegate(e, DelegateState{Hash: b.Delegate, DomainHash: b.DomainHash, PermitSHA256: b.PermitSHA256, Mints: b.Mints, MadeAt: e.At})
	case DelegateAdmitted:
		change, err = s.checkDelegate(e, DelegateState{Hash: b.Delegate, DomainHash: b.DomainHash, PermitSHA256: b.PermitSHA256, Mints: b.Mints, MadeAt: e.At, Admitted: true})
	case DelegateImported:
		if _, ok := s.domains[b.DomainHash]; !ok {
			err = contradict(CodeUnknownDomain, "the log shows no such domain")
		}
	case DelegatePaused:
		if err = s.DelegateOpen(b.Delegate); err == nil {
			change = func() { s.delegates[b.Delegate].Paused = true }
		}
	case DelegateResumed:
		switch d := s.delegates[b.Delegate]; {
		case d == nil:
			err = contradict(CodeUnknownDelegate, "the log shows no such delegate")
		case d.Ended != "":
			err = s.DelegateOpen(b.Delegate)
		case !d.Paused:
			err = contradict(CodeNotPaused, "the delegate is not paused")
		default:
			change = func() { d.Paused = false }
		}
	case DelegateEnded:
		switch d := s.delegates[b.Delegate]; {
		case b.Reason == "removed":
			if d != nil {
				err = contradict(CodeTwice, "the delegate stands in the log: it is revoked, not removed")
			}
		case d == nil:
			err = contradict(CodeUnknownDelegate, "the log shows no such delegate")
		case d.Ended != "":
			err = contradict(CodeTwice, "the delegate has ended already")
		default:
			change = func() {
				s.kept -= len(d.mints)
				d.Ended, d.Paused, d.mints = b.Reason, false, nil
			}
		}
	case CapabilityMinted:
		change, err = s.checkMinted(b)
	case MintedSigned:
		change, err = s.checkMintedSigned(b)
	case MintExported:
		if _, ok := s.domains[b.DomainHash]; !ok {
			err = contradict(CodeUnknownDomain, "the log shows no such domain")
			break
		}
		change = func() { put(&s.exported, b.DomainHash, e.At) }
	default:
		return nil, false, nil
	}
	return change, true, err
}

func (s *State) checkDelegate(e Entry, d DelegateState) (func(), error) {
	switch _, known := s.domains[d.DomainHash]; {
	case !known:
		return nil, contradict(CodeUnknownDomain, "the log shows no such domain")
	case s.delegates[d.Hash] != nil:
		return nil, contradict(CodeTwice, "the delegate stands in the log already")
	case len(s.delegates) >= MaxDelegates:
		return nil, contradict(CodeTooManyDelegates, "the log holds as many delegates as it may")
	}
	return func() { put(&s.delegates, d.Hash, &delegate{DelegateState: d}) }, nil
}

func (s *State) checkMinted(b CapabilityMinted) (func(), error) {
	if err := s.clientOpen(b.Client); err != nil {
		return nil, err
	}
	if err := s.DelegateOpen(b.Delegate); err != nil {
		return nil, err
	}
	d, nonce := s.delegates[b.Delegate], key(b.Nonce)
	switch _, seen := d.mints[nonce]; {
	case d.DomainHash != b.DomainHash:
		return nil, contradict(CodeUnknownDomain, "the delegate is of another domain")
	case seen:
		return nil, contradict(CodeNonceReused, "the nonce was used under this delegate")
	case d.Minted >= uint64(d.Mints):
		return nil, contradict(CodeMintsSpent, "the delegate has no mints left")
	case b.Number != d.Minted+1:
		return nil, contradict(CodeMintNotNext, "the mint is not the next one of its delegate")
	case s.kept >= MaxMints:
		return nil, contradict(CodeTooManyMints, "the log holds as many mints as it may; revoke a delegate that is not needed")
	}
	return func() {
		put(&d.mints, nonce, mint{request: key(b.Mint)})
		d.Minted++
		s.kept++
	}, nil
}

func (s *State) checkMintedSigned(b MintedSigned) (func(), error) {
	if err := s.clientOpen(b.Client); err != nil {
		return nil, err
	}
	if err := s.DelegateOpen(b.Delegate); err != nil {
		return nil, err
	}
	d, nonce := s.delegates[b.Delegate], key(b.Nonce)
	m, ok := d.mints[nonce]
	switch {
	case !ok || m.request != key(b.Mint):
		return nil, contradict(CodeUnknownMint, "nothing was minted with that request")
	case d.DomainHash != b.DomainHash:
		return nil, contradict(CodeUnknownDomain, "the delegate is of another domain")
	case b.Use != m.uses+1:
		return nil, contradict(CodeUseNotNext, "the use is not the next one of its minted key")
	}
	m.uses++
	return func() {
		d.mints[nonce] = m
		d.Uses++
	}, nil
}

// appendDelegates writes the lines of exports, delegates and mints.
func (s *State) appendDelegates(out []byte) []byte {
	for _, domain := range slices.Sorted(maps.Keys(s.exported)) {
		out = appendLine(out, exportLine{domain, s.exported[domain]})
	}
	for _, d := range s.sortedDelegates() {
		out = d.state().appendLine(out)
		nonces := slices.AppendSeq(make([][32]byte, 0, len(d.mints)), maps.Keys(d.mints))
		slices.SortFunc(nonces, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
		for _, n := range nonces {
			m := d.mints[n]
			out = append(hex.AppendEncode(out, n[:]), ' ')
			out = append(hex.AppendEncode(out, m.request[:]), ' ')
			out = append(strconv.AppendUint(out, m.uses, 10), '\n')
		}
	}
	return out
}

// appendLine writes the row as canonical JSON by hand: there may be thousands, and their texts need no escaping.
func (d DelegateState) appendLine(out []byte) []byte {
	flag := func(name string, v bool) { out = strconv.AppendBool(append(out, name...), v) }
	text := func(name, v string) { out = append(append(append(out, name...), v...), '"') }
	number := func(name string, v int64) { out = strconv.AppendInt(append(out, name...), v, 10) }
	flag(`{"admitted":`, d.Admitted)
	text(`,"delegate":"`, d.Hash)
	text(`,"domain_hash":"`, d.DomainHash)
	text(`,"ended":"`, d.Ended)
	number(`,"kept":`, int64(d.Kept))
	number(`,"made_at":`, d.MadeAt)
	number(`,"minted":`, int64(d.Minted))
	number(`,"mints":`, d.Mints)
	flag(`,"paused":`, d.Paused)
	text(`,"permit_sha256":"`, d.PermitSHA256)
	number(`,"uses":`, int64(d.Uses))
	return append(out, "}\n"...)
}

type exportLine struct {
	DomainHash string `json:"domain_hash"`
	At         int64  `json:"exported_at"`
}

// readDelegates reads what appendDelegates wrote; whether it is in canonical form is for the caller to compare.
func (s *State) readDelegates(in *lines, exports, delegates int) {
	for range exports {
		var x exportLine
		if !in.read(&x) {
			return
		}
		put(&s.exported, x.DomainHash, x.At)
	}
	for range delegates {
		d := &delegate{}
		if !in.read(&d.DelegateState) {
			return
		}
		if in.rest, in.err = d.readMints(in.rest); in.err != nil {
			return
		}
		s.kept += len(d.mints)
		put(&s.delegates, d.Hash, d)
	}
}

// readMints reads the lines behind that of a delegate.
func (d *delegate) readMints(rest []byte) ([]byte, error) {
	if d.Kept < 0 || d.Kept > len(rest)/mintLine {
		return nil, errors.New("parse log state: numbers do not fit")
	}
	if d.Kept > 0 {
		d.mints = make(map[[32]byte]mint, d.Kept)
	}
	for range d.Kept {
		line, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok || len(line) < mintLine-1 {
			return nil, errors.New("parse log state: a line is missing")
		}
		var n [32]byte
		var m mint
		_, err1 := hex.Decode(n[:], line[:64])
		_, err2 := hex.Decode(m.request[:], line[65:129])
		uses, err3 := strconv.ParseUint(string(line[130:]), 10, 53)
		if errors.Join(err1, err2, err3) != nil {
			return nil, errors.New("parse log state: a line is not a mint")
		}
		m.uses = uses
		d.mints[n] = m
		rest = after
	}
	return rest, nil
}

// mintLine is the length of the shortest line of a mint, with its end.
const mintLine = 64 + 1 + 64 + 1 + 1 + 1
