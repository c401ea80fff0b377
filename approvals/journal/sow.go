package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"vault/approvals/internal/strict"
	"vault/approvals/permit"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// The kinds of entries about Agent SoW documents.
const (
	KindSeatOpened              Kind = "seat.opened"
	KindSoWPinned               Kind = "sow.pinned"
	KindSoWKeyBlocked           Kind = "sow.key_blocked" // (unkeyed)
	KindSoWKeyUnblocked         Kind = "sow.key_unblocked"
	KindSoWPreauthorised        Kind = "sow.preauthorised"
	KindSoWPreauthorisationGone Kind = "sow.preauthorisation_ended" // (unkeyed)
	KindSoWIntent               Kind = "sow.intent"                 // (unkeyed) an agent's part of agent_then_person
	KindSoWSigned               Kind = "sow.signed"
	KindSoWActSigned            Kind = "sow.act_signed"
	KindSoWNoted                Kind = "sow.noted" // (unkeyed) what became of a version without a signature of ours
)

func (k Kind) unkeyedSoW() bool {
	return k == KindSoWKeyBlocked || k == KindSoWPreauthorisationGone || k == KindSoWIntent || k == KindSoWNoted
}

// SeatOpened is the body of seat.opened. Seat 0 is there from the beginning.
type SeatOpened struct {
	Seat int64  `json:"seat"`
	Key  string `json:"key"`
	Name string `json:"name"` // the owner's name for it
}

// SoWPinned is the body of sow.pinned: this key is that of the agent's owner.
type SoWPinned struct {
	Pin          string `json:"pin"` // "k_" and 16 hex digits
	Agent        string `json:"agent"`
	Key          string `json:"key"`
	By           string `json:"by"` // "click"
	PermitSHA256 string `json:"permit_sha256"`
	Replaces     string `json:"replaces"` // digest of the pin in force for the agent, or empty
}

// SoWKeyBlocked is the body of sow.key_blocked and sow.key_unblocked.
type SoWKeyBlocked struct {
	Key string `json:"key"` // of an agent or an owner
}

// SoWPreauthorised is the body of sow.preauthorised: always by passkey.
type SoWPreauthorised struct {
	Preauthorisation string `json:"preauthorisation"` // "sp_" and 16 hex digits
	Client           string `json:"client"`
	SoW              string `json:"sow"`
	Version          int64  `json:"version"`
	DocumentSHA256   string `json:"document_sha256"` // of the offer's signed bytes, 0x and 64 hex digits
	Role             string `json:"role"`            // "client"
	Times            int64  `json:"times"`
	NotAfter         int64  `json:"not_after"` // milliseconds since epoch
	PermitSHA256     string `json:"permit_sha256"`
	Confirmation     string `json:"confirmation,omitzero"`
}

// SoWPreauthorisationEnded is the body of sow.preauthorisation_ended.
type SoWPreauthorisationEnded struct {
	Preauthorisation string `json:"preauthorisation"`
	Reason           string `json:"reason"` // "revoked" | "client_ended"
}

// SoWIntent is the body of sow.intent. That the signature is the agent's is checked where it is relied on.
type SoWIntent struct {
	Engagement     string `json:"engagement"` // see [EngagementID]
	DocumentSHA256 string `json:"document_sha256"`
	Act            string `json:"act"` // "formation" | "amendment"
	Key            string `json:"key"` // of the agent
	Sig            string `json:"sig"` // base64url
	Client         string `json:"client"`
}

// Moves of sow.signed.
const (
	MovePublish     = "publish"     // an offer of ours
	MoveCountersign = "countersign" // the version 1 with both seats filled
	MoveComplete    = "complete"    // a request to form under an offer of ours
	MovePropose     = "propose"     // a version that has no other signature yet
	MoveApprove     = "approve"     // an amendment that the other side has signed
)

// SoWSigned is the body of sow.signed: the signature of one of the owner's seats over a document.
type SoWSigned struct {
	Engagement       string `json:"engagement"` // see [EngagementID]
	Move             string `json:"move"`
	SoW              string `json:"sow"` // the document's identifier
	Version          int64  `json:"version"`
	DocumentSHA256   string `json:"document_sha256"` // of its signed bytes, 0x and 64 hex digits
	Role             string `json:"role"`            // "provider" | "client"
	Seat             int64  `json:"seat"`
	Key              string `json:"key"`
	Counterparty     string `json:"counterparty"`     // owner key of the other seat, or empty: there is none yet
	InForce          string `json:"in_force"`         // document_sha256 of the version in force, or empty
	Offer            string `json:"offer"`            // document_sha256 of the offer it completes, or empty
	Preauthorisation string `json:"preauthorisation"` // that stands behind it, or empty
	Client           string `json:"client"`           // that asked for it, or empty
	Authority        string `json:"authority"`        // that the act needs (6.1)
	Approval         string `json:"approval"`         // SHA-256 of the approval record of ours inside, 0x and 64 hex digits, or empty
	Agreed           bool   `json:"agreed"`           // the other seat has signed too
	Directed         bool   `json:"directed"`         // publish: the offer is to one party, and spent by one formation
	By               string `json:"by"`               // "passkey" | "preauthorised" | "offer"
	Confirmation     string `json:"confirmation,omitzero"`
}

// Convenience is the ground of a termination that gives notice, and does not end the engagement before that has passed (5.9).
const Convenience = "convenience"

// SoWActSigned is the body of sow.act_signed: one of the owner's own acts (sow.ActKind).
type SoWActSigned struct {
	Engagement     string `json:"engagement"`
	Act            string `json:"act"`
	SoW            string `json:"sow"`
	Version        int64  `json:"version"`
	DocumentSHA256 string `json:"document_sha256"`
	ActSHA256      string `json:"act_sha256"` // of the canonical act without sig, 0x and 64 hex digits
	Role           string `json:"role"`
	Seat           int64  `json:"seat"`
	Key            string `json:"key"`
	By             string `json:"by"`              // "click" | "passkey"
	Ground         string `json:"ground,omitzero"` // of a termination: "convenience", which gives notice; empty where it ends the engagement at once
	Confirmation   string `json:"confirmation,omitzero"`
}

// SoWNoted is the body of sow.noted: what others did, and what time did. It only takes away.
type SoWNoted struct {
	Engagement     string `json:"engagement"`
	Version        int64  `json:"version"`
	DocumentSHA256 string `json:"document_sha256"`
	What           string `json:"what"` // "agreed" | "denied" | "withdrawn" | "lapsed" | "terminated" | "superseded" | "conflict" | "settled" | "refused" | "handle" | "problem"
	SHA256         string `json:"sha256"`
	Reason         string `json:"reason"` // stable code, or empty
}

// EngagementID names an engagement: e_ and the first 16 bytes, as 32 hex digits, of the SHA-256 of the document's
// identifier and the two agents' keys as canonical JSON. The client's is empty while its seat is blank.
func EngagementID(sow, provider, client string) string {
	b := jcs.AppendString([]byte(`{"client":`), client)
	b = jcs.AppendString(append(b, `,"provider":`...), provider)
	b = jcs.AppendString(append(b, `,"sow":`...), sow)
	sum := sha256.Sum256(append(b, '}'))
	return "e_" + hex.EncodeToString(sum[:16])
}

var (
	seatRole = strict.Is("provider", "client")
	agentKey = strict.Some(128)
)

// sowBodies reads the body of each kind.
var sowBodies = map[Kind]func(*strict.Object) any{
	KindSeatOpened: func(o *strict.Object) any {
		return SeatOpened{Seat: o.Int("seat", 1, permit.MaxSeats-1), Key: o.Text("key", strict.NKey), Name: o.Text("name", strict.Some(maxName))}
	},
	KindSoWPinned: func(o *strict.Object) any {
		return SoWPinned{
			Pin: o.Text("pin", strict.Pin), Agent: o.Text("agent", agentKey), Key: o.Text("key", strict.NKey), By: o.Text("by", strict.Is("click")),
			PermitSHA256: o.Text("permit_sha256", strict.Hash), Replaces: o.Text("replaces", strict.Empty(strict.Hash)),
		}
	},
	KindSoWKeyBlocked:   func(o *strict.Object) any { return SoWKeyBlocked{Key: o.Text("key", agentKey)} },
	KindSoWKeyUnblocked: func(o *strict.Object) any { return SoWKeyBlocked{Key: o.Text("key", agentKey)} },
	KindSoWPreauthorised: func(o *strict.Object) any {
		return SoWPreauthorised{
			Preauthorisation: o.Text("preauthorisation", strict.Preauthorisation), Client: o.Text("client", strict.Client),
			SoW: o.Text("sow", strict.Some(maxName)), Version: o.Int("version", 1, strict.MaxInt),
			DocumentSHA256: o.Text("document_sha256", strict.Hash), Role: o.Text("role", strict.Is("client")),
			Times: o.Int("times", 1, permit.MaxPreauthorised), NotAfter: o.Int("not_after", 0, strict.MaxInt),
			PermitSHA256: o.Text("permit_sha256", strict.Hash), Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindSoWPreauthorisationGone: func(o *strict.Object) any {
		return SoWPreauthorisationEnded{Preauthorisation: o.Text("preauthorisation", strict.Preauthorisation), Reason: o.Text("reason", strict.Is("revoked", "client_ended"))}
	},
	KindSoWIntent: func(o *strict.Object) any {
		return SoWIntent{
			Engagement: o.Text("engagement", strict.Engagement), DocumentSHA256: o.Text("document_sha256", strict.Hash),
			Act: o.Text("act", strict.Is("formation", "amendment")), Key: o.Text("key", strict.NKey), Sig: o.Text("sig", strict.Some(128)),
			Client: o.Text("client", strict.Client),
		}
	},
	KindSoWSigned: func(o *strict.Object) any {
		return SoWSigned{
			Engagement: o.Text("engagement", strict.Engagement),
			Move:       o.Text("move", strict.Is(MovePublish, MoveCountersign, MoveComplete, MovePropose, MoveApprove)),
			SoW:        o.Text("sow", strict.Some(maxName)), Version: o.Int("version", 1, strict.MaxInt),
			DocumentSHA256: o.Text("document_sha256", strict.Hash), Role: o.Text("role", seatRole), Seat: o.Int("seat", 0, permit.MaxSeats-1),
			Key: o.Text("key", strict.NKey), Counterparty: o.Text("counterparty", strict.Empty(strict.NKey)),
			InForce: o.Text("in_force", strict.Empty(strict.Hash)), Offer: o.Text("offer", strict.Empty(strict.Hash)),
			Preauthorisation: o.Text("preauthorisation", strict.Empty(strict.Preauthorisation)), Client: o.Text("client", clientOrNone),
			Authority: o.Text("authority", strict.Is("agent", "person", "agent_then_person")), Approval: o.Text("approval", strict.Empty(strict.Hash)),
			Agreed: o.Flag("agreed"), Directed: o.Flag("directed"), By: o.Text("by", strict.Is("passkey", "preauthorised", "offer")),
			Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindSoWActSigned: func(o *strict.Object) any {
		return SoWActSigned{
			Engagement: o.Text("engagement", strict.Engagement),
			Act:        o.Text("act", strict.Is("denial", "withdrawal", "termination", "formation_refusal", "dispute", "review", "probe")),
			SoW:        o.Text("sow", strict.Some(maxName)), Version: o.Int("version", 1, strict.MaxInt),
			DocumentSHA256: o.Text("document_sha256", strict.Hash), ActSHA256: o.Text("act_sha256", strict.Hash),
			Role: o.Text("role", seatRole), Seat: o.Int("seat", 0, permit.MaxSeats-1), Key: o.Text("key", strict.NKey),
			By: o.Text("by", byPerson), Ground: o.Extra("ground", strict.Is(Convenience)), Confirmation: o.Extra("confirmation", strict.Hash),
		}
	},
	KindSoWNoted: func(o *strict.Object) any {
		return SoWNoted{
			Engagement: o.Text("engagement", strict.Engagement), Version: o.Int("version", 1, strict.MaxInt), DocumentSHA256: o.Text("document_sha256", strict.Hash),
			What:   o.Text("what", strict.Is("agreed", "denied", "withdrawn", "lapsed", "terminated", "superseded", "conflict", "settled", "refused", "handle", "problem")),
			SHA256: o.Text("sha256", strict.Empty(strict.Hash)), Reason: o.Text("reason", strict.UpTo(maxCode)),
		}
	},
}

func (b SoWSigned) record() string        { return b.Confirmation }
func (b SoWActSigned) record() string     { return b.Confirmation }
func (b SoWPreauthorised) record() string { return b.Confirmation }

func (b SoWSigned) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	kind := confirm.SoWCountersign
	if b.Version > 1 {
		kind = confirm.SoWAmend
	}
	return ofSoW(kind, b.DocumentSHA256, b, b.SoW, b.Version, b.Role), true
}

func (b SoWActSigned) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	switch b.Act {
	case "termination":
		return ofSoW(confirm.SoWTerminate, b.ActSHA256, b, b.SoW, b.Version, b.Role), true
	case "dispute":
		return ofSoW(confirm.SoWDispute, b.ActSHA256, b, b.SoW, b.Version, b.Role), true
	}
	return Confirmed{}, false
}

func (b SoWPreauthorised) confirmed() (Confirmed, bool) {
	b.Confirmation = ""
	return ofSoW(confirm.SoWPreauthorise, b.PermitSHA256, b, b.SoW, b.Version, b.Role), true
}

// ofSoW is [ofDocument] of the kinds that say which document of which role it is.
func ofSoW(kind confirm.Kind, digest string, body any, sow string, version int64, role string) Confirmed {
	c := ofDocument(kind, digest[2:], body)
	c.Document, c.Role = &confirm.Document{ID: sow, Version: version}, role
	return c
}

// SeatState is an owner seat that was opened.
type SeatState struct {
	Seat int64  `json:"seat"`
	Key  string `json:"key"`
	Name string `json:"name"`
}

// PinState is the pin in force for an agent.
type PinState struct {
	Agent        string `json:"agent"`
	Key          string `json:"key"`
	PermitSHA256 string `json:"permit_sha256"`
}

// PreauthorisationState is a pre-authorisation with what is used of it.
type PreauthorisationState struct {
	ID             string `json:"id"`
	Client         string `json:"client"`
	DocumentSHA256 string `json:"document_sha256"`
	Times          int64  `json:"times"`
	NotAfter       int64  `json:"not_after"` // milliseconds since epoch
	PermitSHA256   string `json:"permit_sha256"`
	Used           int64  `json:"used"`
	Ended          string `json:"ended"` // "" or the reason
}

// SoWState is what the log says of one document: of an engagement, or of an offer.
type SoWState struct {
	Engagement     string `json:"engagement"`
	DocumentSHA256 string `json:"document_sha256"`
	Version        int64  `json:"version"`
	Role           string `json:"role"` // of our signature, or empty: we have not signed
	Seat           int64  `json:"seat"`
	Key            string `json:"key"`
	Counterparty   string `json:"counterparty"`
	Agreed         bool   `json:"agreed"` // both seats, as far as the log says
	Offer          string `json:"offer"`  // document_sha256 of the offer it completes
	Published      bool   `json:"published"`
	Directed       bool   `json:"directed"`
	Formed         int64  `json:"formed"`   // formations completed under an offer of ours
	Approval       string `json:"approval"` // of ours inside
	Closed         string `json:"closed"`   // "" or "denied", "withdrawn", "lapsed", "terminated", "superseded", "refused"
}

// IntentState is an agent's artefact that has come.
type IntentState struct {
	DocumentSHA256 string `json:"document_sha256"`
	Act            string `json:"act"`
	Key            string `json:"key"`
	At             int64  `json:"at"` // milliseconds since epoch, of the entry
}

// sowState is the part of [State] about Agent SoW. The zero value is that before the first entry.
type sowState struct {
	seats      map[int64]SeatState
	pins       map[string]PinState // by agent key
	allowed    map[string]PreauthorisationState
	documents  map[string]SoWState        // by document_sha256
	engaged    map[string][]string        // document_sha256 of an engagement, in the order of the log
	approvals  map[string]map[string]bool // of ours: engagements by SHA-256
	intents    map[string]IntentState
	blocked    map[string]bool
	terminated map[string]bool // engagements that are over, or under notice
	over       map[string]bool // of these, those that a cause has ended
}

// Codes of a [Contradiction] about Agent SoW.
const (
	CodeSeatNotNext      = "seat_not_next"     // seats are opened one after the other
	CodeUnknownSeat      = "unknown_seat"      // no such seat was opened
	CodeOtherSeat        = "other_seat"        // the engagement is held by another seat or role
	CodePreauthorisation = "preauthorisation"  // none, ended, spent, expired, or of another offer or client
	CodeOfferClosed      = "offer_closed"      // not published here, or withdrawn
	CodeSpent            = "directed_spent"    // an offer to one party has formed already
	CodeVersionConflict  = "version_conflict"  // another document of that version was signed
	CodeDowngrade        = "version_downgrade" // below the highest version that both have signed
	CodeEngagementOver   = "terminated"        // the engagement was ended
	CodeBlockedLocally   = "blocked_locally"   // the owner blocked a key
	CodeUnknownDocument  = "unknown_document"  // no such document was signed here
	CodeTwiceFormed      = "already_signed"    // this document was signed already
	CodeSelfDealing      = "signature_same_key_both_roles"
	CodeSoWForm          = "sow_form" // members that do not fit the move
)

func intentKey(document, act string) string { return document + " " + act }

// Seats are the owner seats that were opened, by index; seat 0 is the owner key.
func (s *State) Seats() []SeatState {
	out := []SeatState{{Seat: 0, Key: s.ownerKey, Name: s.sow.seats[0].Name}}
	for i := int64(1); i <= int64(len(s.sow.seats)); i++ {
		if seat, ok := s.sow.seats[i]; ok {
			out = append(out, seat)
		}
	}
	return out
}

// OwnKey says whether a key is one of the owner's seats.
func (s *State) OwnKey(key string) bool {
	for _, seat := range s.Seats() {
		if seat.Key == key {
			return true
		}
	}
	return false
}

// SoWPin is the pin in force for an agent.
func (s *State) SoWPin(agent string) (PinState, bool) { p, ok := s.sow.pins[agent]; return p, ok }

// SoWPins are all pins in force, by agent.
func (s *State) SoWPins() []PinState {
	return sorted(s.sow.pins, func(p PinState) string { return p.Agent })
}

// Preauthorisation returns one, ended ones included.
func (s *State) Preauthorisation(id string) (PreauthorisationState, bool) {
	p, ok := s.sow.allowed[id]
	return p, ok
}

// Preauthorisations returns all, by id.
func (s *State) Preauthorisations() []PreauthorisationState {
	return sorted(s.sow.allowed, func(p PreauthorisationState) string { return p.ID })
}

// SoWDocument is what the log says of a document, by document_sha256.
func (s *State) SoWDocument(digest string) (SoWState, bool) {
	d, ok := s.sow.documents[digest]
	return d, ok
}

// SoWEngagement are the documents of an engagement that the log knows, in its order.
func (s *State) SoWEngagement(id string) (out []SoWState) {
	for _, digest := range s.sow.engaged[id] {
		out = append(out, s.sow.documents[digest])
	}
	return out
}

// SoWTerminated says whether an engagement was ended by either owner, or is under notice of one.
func (s *State) SoWTerminated(engagement string) bool { return s.sow.terminated[engagement] }

// SoWOver says whether an engagement was ended at once by either owner. One that is under notice can still be.
func (s *State) SoWOver(engagement string) bool { return s.sow.over[engagement] }

// terminate ends an engagement, or puts it under notice.
func (s *State) terminate(engagement, ground string) {
	put(&s.sow.terminated, engagement, true)
	if ground != Convenience {
		put(&s.sow.over, engagement, true)
	}
}

// SoWApproval says whether an approval record, by its SHA-256, was made by this vault for an engagement, or stands in the offer that was
// completed (document_sha256, or empty). Nothing in a record says what it approves, so anywhere else it is a copy.
func (s *State) SoWApproval(sha256, engagement, offer string) bool {
	return s.sow.approvals[sha256][engagement] || sha256 != "" && s.sow.documents[offer].Approval == sha256
}

// approved notes that an approval record was made for an engagement.
func (s *sowState) approved(sha256, engagement string) {
	if s.approvals[sha256] == nil {
		put(&s.approvals, sha256, map[string]bool{})
	}
	s.approvals[sha256][engagement] = true
}

// SoWIntent is the agent's artefact that came for an act on a document.
func (s *State) SoWIntent(document, act string) (IntentState, bool) {
	i, ok := s.sow.intents[intentKey(document, act)]
	return i, ok
}

// SoWBlocked says whether a key is refused here.
func (s *State) SoWBlocked(key string) bool { return s.sow.blocked[key] }

// checkSoW is check of the kinds of this file.
func (s *State) checkSoW(e Entry) (func(), error) {
	switch b := e.decoded.(type) {
	case SeatOpened:
		if b.Seat != int64(len(s.sow.seats))+1 {
			return nil, contradict(CodeSeatNotNext, "seats are opened one after the other")
		}
		return func() { put(&s.sow.seats, b.Seat, SeatState(b)) }, nil
	case SoWPinned:
		if s.sow.pins[b.Agent].PermitSHA256 != b.Replaces {
			return nil, contradict(CodeWrongPermit, "the pin to be replaced is not the one in force")
		}
		return func() { put(&s.sow.pins, b.Agent, PinState{b.Agent, b.Key, b.PermitSHA256}) }, nil
	case SoWKeyBlocked:
		if s.sow.blocked[b.Key] == (e.Kind == KindSoWKeyBlocked) {
			return nil, contradict(CodeTwice, "it is so already")
		}
		if e.Kind == KindSoWKeyUnblocked {
			return func() { delete(s.sow.blocked, b.Key) }, nil
		}
		return func() { put(&s.sow.blocked, b.Key, true) }, nil
	case SoWPreauthorised:
		if _, ok := s.sow.allowed[b.Preauthorisation]; ok {
			return nil, contradict(CodeTwice, "the pre-authorisation is made already")
		}
		if err := s.clientOpen(b.Client); err != nil {
			return nil, err
		}
		if b.NotAfter <= e.At || b.NotAfter-e.At > permit.PreauthoriseMillis {
			return nil, contradict(CodePreauthorisation, "the pre-authorisation asks for more time than it may give")
		}
		return func() {
			put(&s.sow.allowed, b.Preauthorisation, PreauthorisationState{b.Preauthorisation, b.Client, b.DocumentSHA256, b.Times, b.NotAfter, b.PermitSHA256, 0, ""})
		}, nil
	case SoWPreauthorisationEnded:
		p, ok := s.sow.allowed[b.Preauthorisation]
		switch {
		case !ok:
			return nil, contradict(CodePreauthorisation, "the log shows no such pre-authorisation")
		case p.Ended != "":
			return nil, contradict(CodeTwice, "the pre-authorisation has ended already")
		}
		p.Ended = b.Reason
		return func() { s.sow.allowed[b.Preauthorisation] = p }, nil
	case SoWIntent:
		if _, ok := s.sow.intents[intentKey(b.DocumentSHA256, b.Act)]; ok {
			return nil, contradict(CodeTwice, "the agent has said so already")
		}
		if _, ok := s.clients[b.Client]; !ok {
			return nil, contradict(CodeUnknownClient, "the log shows no such client")
		}
		return func() {
			put(&s.sow.intents, intentKey(b.DocumentSHA256, b.Act), IntentState{b.DocumentSHA256, b.Act, b.Key, e.At})
		}, nil
	case SoWSigned:
		return s.checkSoWSigned(e, b)
	case SoWActSigned:
		return s.checkSoWAct(b)
	case SoWNoted:
		if d, ok := s.sow.documents[b.DocumentSHA256]; ok && d.Engagement != b.Engagement {
			return nil, contradict(CodeUnknownDocument, "the document is of another engagement")
		}
		return s.noteSoW(b), nil
	}
	return nil, nil
}

func (s *State) seatKey(seat int64) (string, bool) {
	if seat == 0 {
		return s.ownerKey, true
	}
	k, ok := s.sow.seats[seat]
	return k.Key, ok
}

// checkSoWSigned holds what the log alone can show about a signature; what the documents say is the guard's business.
func (s *State) checkSoWSigned(e Entry, b SoWSigned) (func(), error) {
	key, ok := s.seatKey(b.Seat)
	switch {
	case !ok || key != b.Key:
		return nil, contradict(CodeUnknownSeat, "the seat was not opened, or its key is another")
	case b.Counterparty != "" && s.OwnKey(b.Counterparty):
		return nil, contradict(CodeSelfDealing, "both seats would be this vault's own")
	case s.sow.blocked[b.Counterparty]:
		return nil, contradict(CodeBlockedLocally, "the counterparty's key is blocked here")
	case s.sow.terminated[b.Engagement]:
		return nil, contradict(CodeEngagementOver, "the engagement was ended")
	case (b.By == "preauthorised") != (b.Preauthorisation != ""), (b.By == "offer") && (b.Move != MoveComplete || b.Offer == ""),
		b.Move == MovePublish && (b.Counterparty != "" || b.Offer != "" || b.Role != "provider"),
		b.Move == MoveComplete && (b.Role != "provider" || b.Offer == "" || !b.Agreed || b.Version != 1),
		b.Move == MoveCountersign && b.Version != 1, b.Move == MoveApprove && (b.Version == 1 || b.InForce == "" || !b.Agreed),
		b.Move != MovePublish && (b.Directed || b.Counterparty == ""), b.Preauthorisation != "" && (b.Move != MoveCountersign || b.Offer == "" || b.Client == ""),
		b.Version > 1 && b.Move != MovePublish && b.InForce == "", b.Move == MovePropose && b.Agreed:
		return nil, contradict(CodeSoWForm, "what the entry names does not fit the move")
	case b.Client != "":
		if err := s.clientOpen(b.Client); err != nil {
			return nil, err
		}
	}
	if d, ok := s.sow.documents[b.DocumentSHA256]; ok {
		if d.Role != "" {
			return nil, contradict(CodeTwiceFormed, "this document was signed already")
		}
		if d.Closed != "" {
			return nil, contradict(CodeOfferClosed, "this document was denied, withdrawn, or has lapsed")
		}
	}
	agreed := int64(0)
	for _, d := range s.SoWEngagement(b.Engagement) {
		if d.Role == "" {
			continue
		}
		if d.Role != b.Role || d.Seat != b.Seat {
			return nil, contradict(CodeOtherSeat, "another seat or role of this vault holds the engagement")
		}
		if d.Version == b.Version && d.Closed == "" && d.DocumentSHA256 != b.DocumentSHA256 {
			return nil, contradict(CodeVersionConflict, "another document of that version was signed and is not closed")
		}
		if d.Agreed {
			agreed = max(agreed, d.Version)
		}
	}
	if b.Move != MovePublish && b.Version <= agreed {
		return nil, contradict(CodeDowngrade, "both have signed this version or a higher one")
	}
	if b.Version > 1 && b.Move != MovePublish {
		f, ok := s.sow.documents[b.InForce]
		// What an instance before this one signed its log does not show; its signature does, to the guard.
		before := !ok && s.reason != "" && agreed == 0
		if !before && (!ok || f.Engagement != b.Engagement || f.Role == "" || f.Version < agreed || f.Version+1 != b.Version) {
			return nil, contradict(CodeUnknownDocument, "the version said to be in force was not signed here, or is not the one below")
		}
	}
	allowed, offer := s.sow.allowed[b.Preauthorisation], s.sow.documents[b.Offer]
	if b.Preauthorisation != "" {
		switch {
		case allowed.ID == "" || allowed.Ended != "" || e.At > allowed.NotAfter || allowed.Client != b.Client || allowed.DocumentSHA256 != b.Offer:
			return nil, contradict(CodePreauthorisation, "no pre-authorisation of this offer and client stands")
		case allowed.Used >= allowed.Times:
			return nil, contradict(CodePreauthorisation, "the pre-authorisation has no uses left")
		case offer.Closed != "":
			return nil, contradict(CodeOfferClosed, "the offer was withdrawn")
		}
		allowed.Used++
	}
	if b.Move == MoveComplete {
		switch {
		case !offer.Published || offer.Closed != "":
			return nil, contradict(CodeOfferClosed, "the offer was not published here, or was withdrawn")
		case offer.Directed && offer.Formed > 0:
			return nil, contradict(CodeSpent, "the offer to one party has formed already")
		case offer.Seat != b.Seat:
			return nil, contradict(CodeOtherSeat, "another seat published the offer")
		}
		offer.Formed++
	}
	d := SoWState{
		Engagement: b.Engagement, DocumentSHA256: b.DocumentSHA256, Version: b.Version, Role: b.Role, Seat: b.Seat, Key: b.Key,
		Counterparty: b.Counterparty, Agreed: b.Agreed, Offer: b.Offer, Published: b.Move == MovePublish, Directed: b.Directed, Approval: b.Approval,
	}
	return func() {
		s.putSoW(d)
		if b.Approval != "" {
			s.sow.approved(b.Approval, b.Engagement)
		}
		if b.Preauthorisation != "" {
			s.sow.allowed[allowed.ID] = allowed
		}
		if b.Move == MoveComplete {
			s.sow.documents[b.Offer] = offer
		}
		if b.Agreed && b.InForce != "" {
			s.closeSoW(b.InForce, "superseded")
		}
	}, nil
}

func (s *State) putSoW(d SoWState) {
	if _, ok := s.sow.documents[d.DocumentSHA256]; !ok {
		put(&s.sow.engaged, d.Engagement, append(s.sow.engaged[d.Engagement], d.DocumentSHA256))
	}
	put(&s.sow.documents, d.DocumentSHA256, d)
}

func (s *State) closeSoW(digest, why string) {
	if d, ok := s.sow.documents[digest]; ok && d.Closed == "" {
		d.Closed = why
		s.sow.documents[digest] = d
	}
}

func (s *State) checkSoWAct(b SoWActSigned) (func(), error) {
	key, ok := s.seatKey(b.Seat)
	d, known := s.sow.documents[b.DocumentSHA256]
	signed := known && d.Role != "" && d.Engagement == b.Engagement
	switch {
	case !ok || key != b.Key:
		return nil, contradict(CodeUnknownSeat, "the seat was not opened, or its key is another")
	case b.By == "click" && b.Confirmation != "", b.By == "passkey" && b.Act != "termination" && b.Act != "dispute":
		return nil, contradict(CodeConfirmation, "a record is named exactly where a passkey stands behind the act")
	case b.Ground != "" && b.Act != "termination":
		return nil, contradict(CodeSoWForm, "only a termination has a ground here")
	case signed && (d.Role != b.Role || d.Seat != b.Seat):
		return nil, contradict(CodeOtherSeat, "another seat or role of this vault holds the engagement")
	case known && d.Engagement != b.Engagement:
		return nil, contradict(CodeUnknownDocument, "the document is of another engagement")
	}
	switch b.Act {
	case "termination":
		if !signed && (known || s.reason == "") {
			return nil, contradict(CodeUnknownDocument, "no such document was signed here")
		}
		if s.sow.over[b.Engagement] || b.Ground == Convenience && s.sow.terminated[b.Engagement] {
			return nil, contradict(CodeTwice, "the engagement was ended already, or notice was given")
		}
		return func() { s.terminate(b.Engagement, b.Ground) }, nil
	case "dispute", "withdrawal":
		if !signed && (known || s.reason == "") {
			return nil, contradict(CodeUnknownDocument, "no such document was signed here")
		}
		if b.Act == "withdrawal" && (d.Closed != "" || d.Agreed) {
			return nil, contradict(CodeTwice, "the document is not open any more")
		}
	case "denial", "formation_refusal":
		if signed || d.Closed != "" {
			return nil, contradict(CodeTwice, "the document was signed or closed already")
		}
	}
	return func() {
		switch b.Act {
		case "withdrawal":
			s.closeSoW(b.DocumentSHA256, "withdrawn")
		case "denial", "formation_refusal":
			s.putSoW(SoWState{Engagement: b.Engagement, DocumentSHA256: b.DocumentSHA256, Version: b.Version, Closed: map[string]string{"denial": "denied", "formation_refusal": "refused"}[b.Act]})
		}
	}, nil
}

// noteSoW takes away, or says that the other seat has signed what was signed here.
func (s *State) noteSoW(b SoWNoted) func() {
	return func() {
		d, ok := s.sow.documents[b.DocumentSHA256]
		switch b.What {
		case "terminated":
			if ok {
				s.terminate(b.Engagement, b.Reason)
			}
		case "agreed":
			if ok && d.Role != "" && d.Closed == "" {
				d.Agreed = true
				s.sow.documents[b.DocumentSHA256] = d
			}
		case "denied", "withdrawn", "lapsed", "superseded":
			if ok {
				s.closeSoW(b.DocumentSHA256, b.What)
			} else {
				s.putSoW(SoWState{Engagement: b.Engagement, DocumentSHA256: b.DocumentSHA256, Version: b.Version, Closed: b.What})
			}
		}
	}
}

// sowCounts are the numbers of lines of a state's canonical bytes about Agent SoW, in this order.
type sowCounts struct {
	Seats      int `json:"seats"`
	Pins       int `json:"pins"`
	Allowed    int `json:"preauthorisations"`
	Documents  int `json:"documents"`
	Intents    int `json:"intents"`
	Blocked    int `json:"blocked"`
	Terminated int `json:"terminated"`
	Over       int `json:"over,omitzero"`
}

type keyLine struct {
	Key string `json:"key"`
}

func (s *sowState) counts() *sowCounts {
	c := sowCounts{len(s.seats), len(s.pins), len(s.allowed), len(s.documents), len(s.intents), len(s.blocked), len(s.terminated), len(s.over)}
	if c == (sowCounts{}) {
		return nil
	}
	return &c
}

// appendRows writes the lines about Agent SoW. Documents stand by engagement, in the order of the log.
func (s *sowState) appendRows(out []byte) []byte {
	for i := int64(1); i <= int64(len(s.seats)); i++ {
		out = appendLine(out, s.seats[i])
	}
	for _, p := range sorted(s.pins, func(p PinState) string { return p.Agent }) {
		out = appendLine(out, p)
	}
	for _, p := range sorted(s.allowed, func(p PreauthorisationState) string { return p.ID }) {
		out = appendLine(out, p)
	}
	for _, id := range sortedKeys(s.engaged) {
		for _, digest := range s.engaged[id] {
			out = appendLine(out, s.documents[digest])
		}
	}
	for _, i := range sorted(s.intents, func(i IntentState) string { return intentKey(i.DocumentSHA256, i.Act) }) {
		out = appendLine(out, i)
	}
	for _, k := range sortedKeys(s.blocked) {
		out = appendLine(out, keyLine{k})
	}
	for _, k := range sortedKeys(s.terminated) {
		out = appendLine(out, keyLine{k})
	}
	for _, k := range sortedKeys(s.over) {
		out = appendLine(out, keyLine{k})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// readRows reads what appendRows wrote.
func (s *sowState) readRows(in *lines, c *sowCounts) {
	if c == nil {
		return
	}
	readRows(in, c.Seats, &s.seats, func(x SeatState) int64 { return x.Seat })
	readRows(in, c.Pins, &s.pins, func(x PinState) string { return x.Agent })
	readRows(in, c.Allowed, &s.allowed, func(x PreauthorisationState) string { return x.ID })
	readRows(in, c.Documents, &s.documents, func(x SoWState) string {
		put(&s.engaged, x.Engagement, append(s.engaged[x.Engagement], x.DocumentSHA256))
		if x.Approval != "" {
			s.approved(x.Approval, x.Engagement)
		}
		return x.DocumentSHA256
	})
	readRows(in, c.Intents, &s.intents, func(x IntentState) string { return intentKey(x.DocumentSHA256, x.Act) })
	for _, m := range []struct {
		n  int
		to *map[string]bool
	}{{c.Blocked, &s.blocked}, {c.Terminated, &s.terminated}, {c.Over, &s.over}} {
		for range m.n {
			var x keyLine
			if !in.read(&x) {
				return
			}
			put(m.to, x.Key, true)
		}
	}
}
