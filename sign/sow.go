package sign

import (
	"context"
	"fmt"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/approvals/sow/units"
	"vault/derive"
	"vault/derive/confirm"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Codes of what is wrong with an act about Agent SoW, beside those of findings.
const (
	codeWrongDocument = "wrong_document"
	codeWrongAct      = "wrong_act"
	codeNotPinned     = "counterparty_not_pinned"
	codeNotAgreed     = "not_agreed"
	codeNeedsPerson   = "approval_authority_unmet"
	codeNoIntent      = "intent_missing"
	codeWrongApproval = "wrong_approval"
)

// approvalAge bounds how long before its signature an approval record inside a document may have been written: the
// agent's part of agent_then_person comes in between.
const approvalAge = 24 * 60 * 60_000

// seatSignature is a signature that its guard has let pass.
type seatSignature struct {
	seat    int64
	message []byte
}

// longest is the length of the longest document of an act.
func longest(a *keys.SoWAct) int {
	if a == nil {
		return 0
	}
	return max(len(a.Document), len(a.Offer), len(a.InForce), len(a.Act), len(a.Intent))
}

// SeatKey implements [keys.Handler].
func (s *Signer) SeatKey(_ context.Context, index int64) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return "", err
	}
	key, err := s.seatKey(index)
	return key, s.fault(err)
}

func (s *Signer) seatKey(index int64) (text string, err error) {
	if index < 0 || index >= permit.MaxSeats {
		return "", refuse(journal.CodeUnknownSeat, "there is no seat of that number")
	}
	defer s.collectSoon()
	err = s.vault.WithRoot(func(root []byte) error {
		var seed derive.Secret
		defer seed.Clear()
		if err := derive.OwnerSeed(&seed, root, uint32(index)); err != nil {
			return err
		}
		text, err = publicText(&seed)
		return err
	})
	return text, err
}

// publicText is the public key of an owner or log seed as texts have it.
func publicText(seed *derive.Secret) (string, error) {
	public, err := derive.PublicKey(seed[:])
	if err != nil {
		return "", err
	}
	return envelope.EncodeOwnerKey(public)
}

// signSeat signs with an owner seat.
func (s *Signer) signSeat(seat int64, message []byte) (sig []byte, err error) {
	err = s.vault.WithRoot(func(root []byte) (err error) {
		var seed derive.Secret
		defer seed.Clear()
		if err := derive.OwnerSeed(&seed, root, uint32(seat)); err != nil {
			return err
		}
		sig, err = derive.SignMessage(seed[:], message)
		return err
	})
	return sig, err
}

func (s *Signer) guardSeat(b journal.SeatOpened) (passed, error) {
	key, err := s.seatKey(b.Seat)
	if err != nil {
		return passed{}, err
	}
	if key != b.Key {
		return passed{}, refuse(journal.CodeUnknownSeat, "the key is not the one that this vault derives for the seat")
	}
	return passed{anchor: true}, nil
}

func (s *Signer) guardPinned(e journal.Entry, b journal.SoWPinned, a keys.Act) (passed, error) {
	p, err := row(a, b.PermitSHA256)
	if err != nil {
		return passed{}, err
	}
	pin, err := permit.ParsePin(p.Body)
	if err != nil || pin.ID != b.Pin || pin.Agent != b.Agent || pin.Key != b.Key || pin.MadeAt != e.At {
		return passed{}, errPermitForm
	}
	if _, err := envelope.ParseOwnerKey(b.Key); err != nil {
		return passed{}, errPermitForm
	}
	if s.state.OwnKey(b.Key) {
		return passed{}, refuse(journal.CodeSelfDealing, "the key is one of this vault's own")
	}
	return passed{mac: [][]byte{p.Body}, anchor: true}, nil
}

// document reads a document of an act.
func (s *Signer) document(raw []byte, digest string) (*sow.Document, error) {
	d, err := sow.Parse(raw)
	if err != nil {
		return nil, refuse(codeMalformed, "the document is none")
	}
	if "0x"+d.Digest() != digest {
		return nil, refuse(codeWrongDocument, "the document is another one than the entry names")
	}
	return d, nil
}

// pinned is the owner key of an agent, from a row that the log shows in force and that has its MAC.
func (s *Signer) pinned(agent string, a keys.Act) (permit.Pin, error) {
	known, ok := s.state.SoWPin(agent)
	if !ok {
		return permit.Pin{}, refuse(codeNotPinned, "no owner key is pinned for the other seat's agent")
	}
	p, err := believed(s, a, known.PermitSHA256, permit.ParsePin)
	if err != nil {
		return permit.Pin{}, err
	}
	if p.Agent != agent || p.Key != known.Key {
		return permit.Pin{}, errPermitForm
	}
	return p, nil
}

// pinnedCounterparty refuses an entry whose counterparty is not the key that is pinned for the other seat's agent.
func (s *Signer) pinnedCounterparty(b journal.SoWSigned, a keys.Act, d *sow.Document) error {
	party, _ := d.Party(sow.Other(b.Role))
	pin, err := s.pinned(party.Agent, a)
	if err != nil {
		return err
	}
	if pin.Key != b.Counterparty {
		return refuse(codeNotPinned, "the counterparty is not the key that is pinned")
	}
	return nil
}

// pins are the keys that an entry sees on the seats.
func pins(b journal.SoWSigned) sow.Pins {
	if b.Role == sow.Client {
		return sow.Pins{Provider: b.Counterparty, Client: b.Key}
	}
	return sow.Pins{Provider: b.Key, Client: b.Counterparty}
}

// found is the refusal of a finding.
func found(f *sow.Finding) error {
	if f == nil {
		return nil
	}
	return refuse(string(f.Code), f.Message)
}

// ownSeats are the keys of this vault.
func (s *Signer) ownSeats() (out []string) {
	for _, seat := range s.state.Seats() {
		out = append(out, seat.Key)
	}
	return out
}

// guardSoW lets a seat sign a document. Everything is computed from the documents' bytes and this process's own state.
func (s *Signer) guardSoW(e journal.Entry, b journal.SoWSigned, a keys.Act) (passed, error) {
	if a.SoW == nil {
		return passed{}, refuse(codeMalformed, "the documents are missing")
	}
	d, err := s.document(a.SoW.Document, b.DocumentSHA256)
	if err != nil {
		return passed{}, err
	}
	if d.ID() != b.SoW || d.Version() != b.Version || facts.EngagementID(d) != b.Engagement {
		return passed{}, refuse(codeWrongDocument, "the entry names another identifier, version or engagement than the document has")
	}
	if b.Client != "" {
		if err := s.client(b.Client, a); err != nil {
			return passed{}, err
		}
	}
	if err := s.guardWhole(e, b, d); err != nil {
		return passed{}, err
	}
	if err := s.guardBlocked(d); err != nil {
		return passed{}, err
	}
	var inForce *sow.Document
	if b.InForce != "" {
		if inForce, err = s.guardInForce(b, a, d); err != nil {
			return passed{}, err
		}
	}
	if b.Move == journal.MovePublish {
		if !d.BlankSeat() || d.Directed() != b.Directed {
			return passed{}, refuse(codeWrongDocument, "an offer has a blank seat, and the entry says whom it is for")
		}
	} else if err := s.guardSeats(b, a, d); err != nil {
		return passed{}, err
	}
	if err := s.guardAuthority(e, b, a, d, facts.Authority(b.Move, d, inForce, s.floor())); err != nil {
		return passed{}, err
	}
	return passed{seal: &seatSignature{b.Seat, d.Signed()}, anchor: true}, nil
}

// floor is the least authority that the owner wants behind their own signatures.
func (s *Signer) floor() sow.Authority { return sow.Authority(s.sealed.policy.Rules.SoWFloor) }

// guardWhole validates the whole document, as an author where it is the owner's own. An approval record under a key of this
// vault is one that it made, or the one that this entry names.
func (s *Signer) guardWhole(e journal.Entry, b journal.SoWSigned, d *sow.Document) error {
	made := false
	findings := d.Validate(sow.Options{
		Authoring: b.Move == journal.MovePublish || b.Move == journal.MovePropose, Ours: s.ownSeats(),
		Made: func(v jcs.Value) bool {
			digest := journal.HashOf(v.Canonical())
			if digest != b.Approval {
				return s.state.SoWApproval(digest, b.Engagement, b.Offer)
			}
			made = true
			at, err := span.Instant(v.Get("approved_at").Text())
			return err == nil && v.Get("act").Text() == "formation" && v.Get("authority").Text() == b.Authority && v.Get("key").Text() == b.Key &&
				at <= e.At+entryFuture && at >= e.At-approvalAge
		},
	})
	if f := findings.First(); f != nil {
		return found(f)
	}
	if b.Approval != "" && !made {
		return refuse(codeWrongApproval, "the document holds no approval record of ours with that digest")
	}
	if b.Version == 1 && b.Offer != "" && b.Move == journal.MoveCountersign && d.ID() != d.Mint() {
		return refuse("id_mint_mismatch", "a version 1 that is made here carries the identifier it derives")
	}
	return nil
}

func (s *Signer) guardBlocked(d *sow.Document) error {
	for _, role := range []string{sow.Provider, sow.Client, "offered_to"} {
		if p, ok := d.Party(role); ok && s.state.SoWBlocked(p.Agent) {
			return refuse(journal.CodeBlockedLocally, "a party's agent is blocked here")
		}
	}
	for _, r := range d.Signatures() {
		if s.state.SoWBlocked(r.Key) {
			return refuse(journal.CodeBlockedLocally, "a signer's key is blocked here")
		}
	}
	return nil
}

// guardInForce reads the version in force: both seats have signed it, by the keys that hold the engagement, and the new one
// follows it.
func (s *Signer) guardInForce(b journal.SoWSigned, a keys.Act, d *sow.Document) (*sow.Document, error) {
	f, err := s.document(a.SoW.InForce, b.InForce)
	if err != nil {
		return nil, err
	}
	if b.Move != journal.MovePublish && !f.VerifySignatures(pins(b)).Agreed() {
		return nil, refuse(codeNotAgreed, "the version said to be in force is not signed by both seats")
	}
	known, ok := s.state.SoWDocument(b.InForce)
	switch {
	case ok && known.Counterparty == b.Counterparty:
	case !ok && b.Move != journal.MovePublish:
		// Signed by an instance before this one: its signature was just verified. Whose key the other is, a pin says.
		if err := s.pinnedCounterparty(b, a, d); err != nil {
			return nil, err
		}
	default:
		return nil, refuse(codeWrongDocument, "the engagement is with another counterparty")
	}
	return f, found(sow.CheckAmendment(f, d, false).First())
}

// guardSeats holds who sits where: our key on the seat that the entry names, the counterparty's pinned key on the other, never one
// on both.
func (s *Signer) guardSeats(b journal.SoWSigned, a keys.Act, d *sow.Document) error {
	if _, ok := d.Party(sow.Other(b.Role)); !ok || d.BlankSeat() {
		return refuse("formation_incomplete", "a seat is blank")
	}
	if b.Key == b.Counterparty {
		return refuse(journal.CodeSelfDealing, "one key would sit on both seats")
	}
	if b.Agreed != (d.VerifySignatures(pins(b)).Of(sow.Other(b.Role)) != nil) {
		return refuse(codeNotAgreed, "the entry says otherwise about the other seat's signature than the document shows")
	}
	if b.Move == journal.MoveComplete {
		return s.guardComplete(b, a, d)
	}
	if b.Version == 1 {
		if err := s.pinnedCounterparty(b, a, d); err != nil {
			return err
		}
	}
	if b.Offer != "" {
		return s.guardFormed(b, a, d)
	}
	return nil
}

// guardFormed compares a document with the offer it completes, as the client.
func (s *Signer) guardFormed(b journal.SoWSigned, a keys.Act, d *sow.Document) error {
	offer, err := s.document(a.SoW.Offer, b.Offer)
	if err != nil {
		return err
	}
	if offer.VerifySignatures(sow.Pins{Provider: b.Counterparty}).Provider == nil {
		return refuse("signature_invalid", "the offer carries no signature of the provider's pinned key")
	}
	if f := sow.CheckInstance(offer, d).First(); f != nil {
		return found(f)
	}
	party, _ := d.Party(sow.Client)
	if f := sow.DirectedRefusal(offer.Get("parties"), party.Agent, s.cfg.Clock.Now(), sow.OfferStatus{}); f != nil {
		return found(f)
	}
	return found(sow.AssertionRefusal(offer.Get("qualifications"), assertions(d)))
}

// assertions are the conditions that a document asserts are met.
func assertions(d *sow.Document) (out []string) {
	for _, x := range d.Get("assertions").Items() {
		out = append(out, x.Text())
	}
	return out
}

// guardComplete judges a request to form under an own offer (12.1, 12.1.1). What nobody can establish about a client refuses, unless
// a person completes it.
func (s *Signer) guardComplete(b journal.SoWSigned, a keys.Act, d *sow.Document) error {
	offer, err := s.document(a.SoW.Offer, b.Offer)
	if err != nil {
		return err
	}
	party, _ := d.Party(sow.Client)
	if pin, ok := s.state.SoWPin(party.Agent); ok && pin.Key != b.Counterparty {
		return refuse(codeNotPinned, "another owner's key is pinned for the client's agent")
	}
	published, ok := s.state.SoWDocument(b.Offer)
	if !ok || !published.Published {
		return refuse(journal.CodeOfferClosed, "the offer was not published here")
	}
	facts := sow.FormationFacts{
		Now: s.cfg.Clock.Now(), Pins: sow.Pins{Client: b.Counterparty}, Since: sow.RequestStands(offer, s.cfg.Clock.Now()),
		Status: sow.OfferStatus{Withdrawn: published.Closed != "", Formed: published.Directed && published.Formed > 0},
	}
	if b.By == "passkey" {
		facts.Facts = standIn(offer, d)
	}
	facts.Approved = clientApproval(offer, d, b.Counterparty)
	return found(sow.CheckFormation(offer, d, facts).First())
}

// standIn is what a person says of a client by completing in person: that the conditions nobody checks by machine are met.
func standIn(offer, d *sow.Document) *sow.Counterparty {
	party, _ := d.Party(sow.Client)
	yes := true
	var offerings []string
	for _, q := range offer.Get("qualifications").Items() {
		offerings = append(offerings, q.Get("offering").Text())
	}
	return &sow.Counterparty{Subject: party.Agent, Registered: &yes, Offerings: &offerings, Account: &yes}
}

// clientApproval is what is missing of the client's approval where the offer asks for a person's (6.1, 12.1).
func clientApproval(offer, d *sow.Document, client string) *sow.Finding {
	need := offer.FormationAuthority()
	if need == sow.ByAgent {
		return nil
	}
	for _, r := range d.Approvals() {
		if r.Act == "formation" && r.Key == client && r.Authority == string(need) {
			return nil
		}
	}
	return sow.CheckGiven(need, sow.Given{}, 0, 1)
}

// guardAuthority holds who may bind the owner (6.1): the entry names the authority that is needed; an agent alone binds only under a
// pre-authorisation, or by the offer that the owner published; a person is confirmed by a ceremony; the agent's part comes first where
// both are needed.
func (s *Signer) guardAuthority(e journal.Entry, b journal.SoWSigned, a keys.Act, d *sow.Document, need sow.Authority) error {
	if b.Authority != string(need) {
		return refuse(codeNeedsPerson, "the entry names another authority than the act needs")
	}
	act := "formation"
	if b.Version > 1 {
		act = "amendment"
	}
	switch b.By {
	case "offer":
		// The publication was confirmed, and the client's own authority is its document's business.
		if need != sow.ByAgent {
			return refuse(codeNeedsPerson, "the owner wants a person behind every signature")
		}
		return nil
	case "preauthorised":
		if need != sow.ByAgent {
			return refuse(codeNeedsPerson, "no pre-authorisation stands in a person's place")
		}
		return s.guardPreauthorised(e, b, a, d)
	}
	if act == "formation" && b.Role == sow.Client && need != sow.ByAgent && b.Approval == "" {
		return refuse(codeWrongApproval, "the formation needs a person, and the document says nothing of one")
	}
	if need != sow.ByAgentThenPerson {
		return nil
	}
	party, _ := d.Party(b.Role)
	if _, ok := s.state.SoWIntent(b.DocumentSHA256, act); !ok || !d.VerifyIntent(act, party.Agent, a.SoW.Intent) {
		return refuse(codeNoIntent, "the agent on our seat has not signed its part before")
	}
	return nil
}

func (s *Signer) guardPreauthorised(e journal.Entry, b journal.SoWSigned, a keys.Act, d *sow.Document) error {
	known, ok := s.state.Preauthorisation(b.Preauthorisation)
	if !ok {
		return refuse(journal.CodePreauthorisation, "the log shows no such pre-authorisation")
	}
	p, err := believed(s, a, known.PermitSHA256, permit.ParsePreauthorisation)
	if err != nil {
		return err
	}
	party, _ := d.Party(sow.Client)
	price, findings := d.Price()
	committed := price.Committed()
	_, late := s.clock.read()
	switch {
	case p.ID != b.Preauthorisation || p.Client != b.Client || p.DocumentSHA256 != b.Offer || p.ProviderKey != b.Counterparty || p.Seat != b.Seat || p.Key != b.Key:
		return errPermitForm
	case late > p.NotAfter:
		return refuse(journal.CodePreauthorisation, "the pre-authorisation is past its end")
	case party != (sow.Seat{Agent: p.Agent, Owner: p.Owner, Handle: p.Handle, Organization: p.Organization}):
		return refuse(journal.CodePreauthorisation, "the client's seat is filled with another party")
	case !findings.OK() || !committed.Set || committed.N > p.MaxCommitted || price.Currency != p.Currency:
		return refuse(journal.CodePreauthorisation, "the committed price is above the limit, or has none")
	case hasLocations(d):
		return refuse(journal.CodePreauthorisation, "an address of a resource is given, and nobody has looked at it")
	}
	return nil
}

func hasLocations(d *sow.Document) bool {
	for _, in := range d.Get("inputs").Items() {
		if in.Get("location").Exists() {
			return true
		}
	}
	return false
}

// guardPreauthorise lets the owner allow formations under one offer.
func (s *Signer) guardPreauthorise(e journal.Entry, b journal.SoWPreauthorised, a keys.Act) (passed, error) {
	if a.SoW == nil {
		return passed{}, refuse(codeMalformed, "the offer is missing")
	}
	if err := s.client(b.Client, a); err != nil {
		return passed{}, err
	}
	r, err := row(a, b.PermitSHA256)
	if err != nil {
		return passed{}, err
	}
	p, err := permit.ParsePreauthorisation(r.Body)
	if err != nil || p.ID != b.Preauthorisation || p.Client != b.Client || p.SoW != b.SoW || p.Version != b.Version || p.DocumentSHA256 != b.DocumentSHA256 ||
		p.Times != b.Times || p.NotAfter != b.NotAfter || !madeAt(p.MadeAt, e, "passkey") {
		return passed{}, errPermitForm
	}
	if key, err := s.seatKey(p.Seat); err != nil || key != p.Key || !s.state.OwnKey(key) {
		return passed{}, errPermitForm
	}
	offer, err := s.document(a.SoW.Document, b.DocumentSHA256)
	if err != nil {
		return passed{}, err
	}
	if f := offer.Validate(sow.Options{Ours: s.ownSeats()}).First(); f != nil {
		return passed{}, found(f)
	}
	if err := s.guardBlocked(offer); err != nil {
		return passed{}, err
	}
	provider, _ := offer.Party(sow.Provider)
	pin, err := s.pinned(provider.Agent, a)
	if err != nil {
		return passed{}, err
	}
	price, findings := offer.Price()
	committed := price.Committed()
	switch {
	case !offer.BlankSeat() || offer.ID() != p.SoW || offer.Version() != p.Version || pin.Key != p.ProviderKey:
		return passed{}, errPermitForm
	case offer.VerifySignatures(sow.Pins{Provider: pin.Key}).Provider == nil:
		return passed{}, refuse("signature_invalid", "the offer carries no signature of the provider's pinned key")
	case sow.Needed(offer, nil, s.floor()) != sow.ByAgent:
		return passed{}, refuse(codeNeedsPerson, "formation under this offer needs a person each time")
	case !findings.OK() || !offer.Bounded() || committed.N > p.MaxCommitted || price.Currency != p.Currency:
		return passed{}, refuse("price_unbounded", "the offer commits to no bounded price within the limit")
	}
	return passed{mac: [][]byte{r.Body}, anchor: true}, nil
}

// guardSoWAct lets a seat sign one of the owner's own acts: a closed list.
func (s *Signer) guardSoWAct(e journal.Entry, b journal.SoWActSigned, a keys.Act) (passed, error) {
	if a.SoW == nil {
		return passed{}, refuse(codeMalformed, "act and document are missing")
	}
	act, err := sow.ParseAct(a.SoW.Act)
	if err != nil {
		return passed{}, refuse(codeWrongAct, "the act is none of the closed list, or lacks what it must have")
	}
	d, err := s.document(a.SoW.Document, b.DocumentSHA256)
	if err != nil {
		return passed{}, err
	}
	f := act.Fields()
	at, err := span.Instant(f.At)
	switch {
	case journal.HashOf(act.Canonical()) != b.ActSHA256, string(f.Kind) != b.Act, f.SoW != b.SoW, f.Version != b.Version, f.Role != b.Role, f.Key != b.Key,
		b.Ground != noticed(f), err != nil || at > e.At+entryFuture || at < e.At-confirm.MaxLifetime-entryPast:
		return passed{}, refuse(codeWrongAct, "the entry names another act")
	case !act.About(d) || facts.EngagementID(d) != b.Engagement:
		return passed{}, refuse(codeWrongDocument, "the act is about another document")
	case (f.Kind == sow.Termination || f.Kind == sow.Dispute) && b.By != "passkey":
		return passed{}, s.needsPasskey("this act needs a passkey")
	case f.Kind == sow.Denial && (b.Version == 1 || d.BlankSeat()):
		return passed{}, refuse(codeWrongAct, "only an amendment is denied")
	case f.Kind == sow.FormationRefusal && (b.Version != 1 || b.Role != sow.Provider || d.BlankSeat()):
		return passed{}, refuse(codeWrongAct, "a refusal of formation is the provider's, of a request to form")
	case (f.Kind == sow.Termination || f.Kind == sow.Dispute || f.Kind == sow.Withdrawal) && !s.signedHere(b.DocumentSHA256) && !sealedIn(d, b.Role, b.Key):
		return passed{}, refuse(journal.CodeUnknownDocument, "this vault has not signed the document")
	case f.Kind == sow.Termination && f.Ground == "convenience" && !convenient(d):
		return passed{}, refuse(codeWrongAct, "no notice for convenience is agreed: only a cause ends this agreement")
	case f.Disputed != nil && !sameCurrency(d, f.Disputed):
		return passed{}, refuse("dispute_amount", "the amount is in another currency than the document's")
	}
	return passed{seal: &seatSignature{b.Seat, act.Signed()}, anchor: f.Kind == sow.Termination || f.Kind == sow.Withdrawal}, nil
}

// noticed is the ground that the log has of a termination that gives notice.
func noticed(f sow.ActFields) string {
	if f.Kind == sow.Termination && f.Ground == journal.Convenience {
		return f.Ground
	}
	return ""
}

func convenient(d *sow.Document) bool {
	_, agreed := d.ConvenienceNotice()
	return agreed
}

// signedHere says whether the log shows a signature of ours over a document.
func (s *Signer) signedHere(digest string) bool {
	known, ok := s.state.SoWDocument(digest)
	return ok && known.Role != ""
}

// sealedIn says whether a seat's own signature stands in a document.
func sealedIn(d *sow.Document, role, key string) bool {
	return d.VerifySignatures(sow.Pins{Provider: key, Client: key}).Of(role) != nil
}

func sameCurrency(d *sow.Document, x *sow.Disputed) bool {
	p, findings := d.Price()
	return findings.OK() && p.Settles() && p.Currency == x.Currency
}

// sowSays are the lines of a ceremony about Agent SoW. The guard has passed.
func (s *Signer) sowSays(e journal.Entry, a keys.Act) ([]string, error) {
	var d *sow.Document
	var out []string
	switch b := e.Decoded().(type) {
	case journal.SoWSigned:
		var err error
		if d, err = s.document(a.SoW.Document, b.DocumentSHA256); err != nil {
			return nil, err
		}
		first := map[string]string{
			journal.MovePublish:     "Sign an offer. Whoever meets its conditions forms an agreement with you, without you being asked again.",
			journal.MoveCountersign: "Sign an agreement.", journal.MoveComplete: "Sign an agreement that somebody asked for under your offer.",
			journal.MovePropose: "Propose a document and sign it.", journal.MoveApprove: "Approve a change to an agreement and sign it.",
		}[b.Move]
		out = append(out, first)
		if b.Agreed {
			out = append(out, "It binds you at once: the other side has signed.")
		} else if b.Move != journal.MovePublish {
			out = append(out, "It binds you as soon as the other side signs the same bytes.")
		}
		out = append(out, sowLines(d, b.Role, b.Seat, b.Key, b.Counterparty)...)
		if b.Authority == string(sow.ByAgentThenPerson) {
			out = append(out, "Your agent has said that it wants this.")
		}
	case journal.SoWActSigned:
		act, err := sow.ParseAct(a.SoW.Act)
		if err != nil {
			return nil, err
		}
		if d, err = s.document(a.SoW.Document, b.DocumentSHA256); err != nil {
			return nil, err
		}
		f := act.Fields()
		switch {
		case f.Kind == sow.Termination && f.Ground == "cause":
			out = append(out, "End an agreement at once, for cause.")
		case f.Kind == sow.Termination:
			out = append(out, "End an agreement for convenience, with its notice.")
		default:
			out = append(out, "Open a dispute.", "Amount: "+amount(f.Disputed.Amount, f.Disputed.Currency, ""))
			for _, c := range f.Cites[:min(len(f.Cites), 16)] {
				out = append(out, "About: "+quoted(c))
			}
			out = append(out, "Undecided it falls back to: "+quoted(d.Fallback()))
		}
		if f.Reason != "" {
			out = append(out, "Reason: "+quoted(f.Reason))
		}
		out = append(out, sowLines(d, b.Role, b.Seat, b.Key, "")...)
	case journal.SoWPreauthorised:
		r, err := row(a, b.PermitSHA256)
		if err != nil {
			return nil, err
		}
		p, err := permit.ParsePreauthorisation(r.Body)
		if err != nil {
			return nil, errPermitForm
		}
		if d, err = s.document(a.SoW.Document, b.DocumentSHA256); err != nil {
			return nil, err
		}
		out = append(out, "Let "+s.clientWords(b.Client)+" form agreements under one offer, without asking you.",
			fmt.Sprintf("At most %d times, until %s.", p.Times, when(p.NotAfter)),
			"Each for at most "+amount(p.MaxCommitted, p.Currency, period(d))+".",
			"As: "+quoted(p.Owner)+", agent "+quoted(p.Agent))
		out = append(out, sowLines(d, b.Role, p.Seat, p.Key, p.ProviderKey)...)
	}
	return out, nil
}

// sowLines say what a document is, from its bytes.
func sowLines(d *sow.Document, role string, seat int64, key, counterparty string) []string {
	out := []string{fmt.Sprintf("Document: %s, version %d", quoted(d.ID()), d.Version()), "Digest: " + d.Digest()}
	if p, ok := d.Party(sow.Other(role)); ok {
		out = append(out, "With: "+quoted(p.Owner)+", agent "+quoted(p.Agent))
	}
	if counterparty != "" {
		out = append(out, "Their key: "+counterparty)
	}
	out = append(out, fmt.Sprintf("You sign as the %s, with seat %d: %s", role, seat, key), priceLine(d))
	start, end, started, ended := d.Term()
	if started {
		out = append(out, "From: "+when(start))
	}
	if ended {
		out = append(out, "Until: "+when(end))
	}
	if n, ok := d.Get("term_months").Int(); ok && !ended {
		out = append(out, fmt.Sprintf("For: %d months from its start", n))
	}
	return out
}

func priceLine(d *sow.Document) string {
	p, findings := d.Price()
	if !findings.OK() {
		return "Price: it cannot be read."
	}
	switch c := p.Committed(); {
	case p.Arrangement == money.NoCharge:
		return "Price: nothing is charged."
	case !c.Set:
		return "Price: per task in " + quoted(p.Currency) + ", without a bound."
	default:
		return "Price: at most " + amount(c.N, p.Currency, period(d)) + "."
	}
}

// amount is a sum as the vault's window writes it, and as the document does.
func amount(n int64, currency, period string) string {
	scale, known := units.Of(currency)
	if !known || scale == 0 {
		return fmt.Sprintf("%d %s%s, in the smallest unit", n, quoted(currency), period)
	}
	return fmt.Sprintf("%s %s%s; in the document %d of the smallest unit", units.Decimal(n, scale), quoted(currency), period, n)
}

// period is what a bound of the price is for: a ceiling is for each month (5.5.1), a cap for all of it.
func period(d *sow.Document) string {
	if p, findings := d.Price(); findings.OK() && p.Arrangement == money.FixedFee {
		return " a month"
	}
	return " in all"
}
