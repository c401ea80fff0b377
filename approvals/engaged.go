package approvals

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// Codes about engagements, beside those of findings.
const (
	CodeUnknownEngagement = "unknown_engagement"
	CodeUnknownSeat       = "unknown_seat"
	CodeNotPinned         = "counterparty_not_pinned"
	CodeNotOpen           = "not_open" // nothing of the kind can be done with this version now
	CodeIntentMissing     = "intent_missing"
	CodeNotUnderstood     = "not_understood"
	CodeTooLong           = "too_long"
	CodeNoEngagement      = "no_engagement" // it belongs to no engagement that is known here
)

// Names of facts.
const (
	factSeat      = "seat"      // key: role; value: index
	factProposed  = "proposed"  // key: digest; when it came
	factHandle    = "handle"    // of no engagement; key: handle; value: agent key
	factLanguage  = "language"  // of no engagement; key: id and version; value: digest of the first document under it
	factGrant     = "grant"     // key: input; value: "closed" or "open"
	factSettled   = "settled"   // key: version; value: digest
	factBlocked   = "blocked"   // of no engagement; key: key; value: why
	factSeatName  = "seat_name" // of no engagement; key: index
	factLockedAsk = "unsigned"  // key: digest; why an own offer's request was not completed: code
	factFormed    = "offer"     // key: "of"; value: engagement id of the offer
)

// sowLog is what the log says about one engagement.
type sowLog struct {
	docs       map[string]journal.SoWState // by digest
	order      []string
	seats      []journal.SeatState
	pins       map[string]permit.Pin // by agent
	terminated bool
	blocked    func(string) bool
	approval   func(string) bool
	intents    map[string]journal.IntentState // digest, space, act
	floor      sow.Authority
	passkeys   int
	offers     map[string]journal.SoWState // published ones of ours, by digest
}

func (l sowLog) ours(key string) (int64, bool) {
	i := slices.IndexFunc(l.seats, func(s journal.SeatState) bool { return s.Key == key })
	if i < 0 {
		return 0, false
	}
	return l.seats[i].Seat, true
}

func (l sowLog) seat(index int64) (journal.SeatState, bool) {
	i := slices.IndexFunc(l.seats, func(s journal.SeatState) bool { return s.Seat == index })
	if i < 0 {
		return journal.SeatState{}, false
	}
	return l.seats[i], true
}

// bareHash is the digest behind the 0x of the log.
func bareHash(s string) string { return strings.TrimPrefix(s, "0x") }

// sowLogOf reads what the log says; agents are those of the document.
func (d *Desk) sowLogOf(id string, agents []string, digests []string) sowLog {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.led.state
	l := sowLog{docs: map[string]journal.SoWState{}, seats: st.Seats(), pins: map[string]permit.Pin{}, terminated: st.SoWTerminated(id), intents: map[string]journal.IntentState{},
		floor: sow.Authority(d.policy().SoWFloor), passkeys: d.public.Passkeys, offers: map[string]journal.SoWState{}}
	if d.public.Vault == "" {
		l.passkeys = -1 // the vault has not been opened since the start: it is not known
	}
	for _, x := range st.SoWEngagement(id) {
		digest := bareHash(x.DocumentSHA256)
		l.docs[digest], l.order = x, append(l.order, digest)
		if x.Published {
			l.offers[digest] = x
		}
	}
	for _, a := range agents {
		if p, ok := d.led.pins[a]; ok {
			l.pins[a] = p.permit
		}
	}
	for _, digest := range digests {
		for _, act := range []string{"formation", "amendment"} {
			if i, ok := st.SoWIntent("0x"+digest, act); ok {
				l.intents[digest+" "+act] = i
			}
		}
	}
	l.blocked = func(key string) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.led.state.SoWBlocked(key)
	}
	l.approval = func(digest string) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.led.state.SoWApproval(digest)
	}
	return l
}

// held is everything that store and log say of one engagement, put together.
type held struct {
	id      string
	docs    []*heldDoc // the newest version first; of one version, the newest first
	records []store.SoWRecord
	facts   map[string]map[string]store.SoWFact
	moves   []store.SoWMove
	asks    []store.SoWAsk
	log     sowLog
	now     int64
	turn    uint64 // see Desk.sowTurn
	role    string // our seat, or ""
	seat    int64
	fixed   bool
	pins    sow.Pins
	edited  []string // rows that are not what they say; they are not used
	inForce *heldDoc
	ended   int64 // when a termination takes effect, or 0
	view    EngagementView
	remind  []Reminder
}

// heldDoc is one document of an engagement.
type heldDoc struct {
	doc    *sow.Document // with the signature records of all copies
	view   VersionView
	signed bool // by a seat of ours
	theirs bool // by the other seat's pinned key
	closed string
}

func (h *held) fact(name, key string) (store.SoWFact, bool) {
	f, ok := h.facts[name][key]
	return f, ok
}

// by is the document with a digest, or nil.
func (h *held) by(digest string) *heldDoc {
	i := slices.IndexFunc(h.docs, func(x *heldDoc) bool { return x.view.Digest == digest })
	if i < 0 {
		return nil
	}
	return h.docs[i]
}

// held puts an engagement together. It blocks on the disk.
func (d *Desk) held(id string) (*held, error) {
	db := d.db()
	if db == nil {
		return nil, refuse(CodeUnknownEngagement)
	}
	h := &held{id: id, now: d.clock.Now(), facts: map[string]map[string]store.SoWFact{}}
	d.mu.Lock()
	h.turn = d.sowTurn[id]
	d.mu.Unlock()
	copies, err := db.SoWCopies(id)
	if err != nil {
		return nil, err
	}
	facts, err := db.SoWFacts(id)
	if err == nil {
		h.records, err = db.SoWRecords(id)
	}
	if err == nil {
		h.moves, err = db.SoWMoves(id)
	}
	if err == nil {
		h.asks, err = db.SoWAsksOpen(id)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if h.facts[f.Name] == nil {
			h.facts[f.Name] = map[string]store.SoWFact{}
		}
		h.facts[f.Name][f.Key] = f
	}
	agents, digests := h.read(copies)
	h.records = slices.DeleteFunc(h.records, func(r store.SoWRecord) bool {
		bad := shaOf(r.Raw) != r.SHA256
		if bad {
			h.edited = append(h.edited, r.SHA256)
		}
		return bad
	})
	if len(h.edited) > 0 {
		d.rowEdited("document " + h.edited[0])
	}
	if len(h.docs) == 0 {
		return nil, refuse(CodeUnknownEngagement)
	}
	h.log = d.sowLogOf(id, agents, digests)
	h.place()
	h.judge()
	if err := d.examine(h); err != nil {
		return nil, err
	}
	h.present(d)
	return h, nil
}

// rowEdited tells the owner of a row that was edited in the store, and is not used.
func (d *Desk) rowEdited(what string) {
	d.mu.Lock()
	told := d.trouble != nil
	if d.badRow == nil {
		d.badRow = &Trouble{Code: CodeRowEdited, Detail: what}
	}
	if !told {
		d.trouble = d.badRow
	}
	d.mu.Unlock()
	if !told {
		d.changed()
	}
}

// read parses the copies and joins those of one document. A copy that is not what its row says is left out, and named.
func (h *held) read(copies []store.SoWCopy) (agents, digests []string) {
	for _, c := range copies {
		doc, err := sow.Parse(c.Raw)
		if err != nil || doc.Digest() != c.Digest || facts.EngagementID(doc) != h.id || shaOf(c.Raw) != c.SHA256 {
			h.edited = append(h.edited, c.SHA256)
			continue
		}
		x := h.by(c.Digest)
		if x == nil {
			x = &heldDoc{doc: doc}
			x.view.Version, x.view.Digest = doc.Version(), c.Digest
			h.docs = append(h.docs, x)
			digests = append(digests, c.Digest)
			for _, role := range []string{sow.Provider, sow.Client, "offered_to"} {
				if p, ok := doc.Party(role); ok && !slices.Contains(agents, p.Agent) {
					agents = append(agents, p.Agent)
				}
			}
			x.view.ProposedAt = c.At
		} else if all, err := sow.Join(x.doc, doc); err == nil {
			x.doc = all
		}
		x.view.Copies = append(x.view.Copies, CopyView{c.SHA256, len(c.Raw), c.At, SoWSource{Kind: c.Source, Name: c.Name, Client: c.Client}})
		x.view.Spelling = x.view.Spelling || string(c.Raw) != string(doc.Value().Canonical())
	}
	slices.SortStableFunc(h.docs, func(a, b *heldDoc) int {
		if a.view.Version != b.view.Version {
			return int(b.view.Version - a.view.Version)
		}
		return int(b.view.Copies[0].At - a.view.Copies[0].At)
	})
	return agents, digests
}

// place finds our seat, and by which keys the seats are judged. Only what this vault did or signed fixes the seat: an approval record
// that names a key of ours is a claim, and whoever brings a document writes it.
func (h *held) place() {
	for _, digest := range h.log.order {
		if x := h.log.docs[digest]; x.Role != "" {
			h.role, h.seat, h.fixed = x.Role, x.Seat, true
		}
	}
	for role, f := range h.facts[factSeat] {
		if h.fixed {
			continue
		}
		h.role = role
		if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
			h.seat, h.fixed = n, true
		}
	}
	newest := h.docs[0].doc
	claims := map[string]bool{}
	for _, x := range h.docs {
		for _, r := range x.doc.Signatures() {
			if r.Fault != "" {
				continue
			}
			if n, ok := h.log.ours(r.Key); ok && !h.fixed {
				h.role, h.seat, h.fixed = r.Role, n, true
			} else if !ok {
				claims[r.Role] = true
			}
		}
	}
	if h.role == "" && !newest.BlankSeat() && len(claims) == 1 {
		h.role = sow.Provider
		if claims[sow.Provider] {
			h.role = sow.Client
		}
	}
	counterparty := ""
	for _, digest := range h.log.order {
		if c := h.log.docs[digest].Counterparty; c != "" {
			counterparty = c
		}
	}
	key := func(role string) string {
		switch {
		case h.role == role && h.fixed:
			s, _ := h.log.seat(h.seat)
			return s.Key
		case h.role == sow.Other(role) && counterparty != "":
			return counterparty
		}
		p, _ := newest.Party(role)
		return h.log.pins[p.Agent].Key
	}
	h.pins = sow.Pins{Provider: key(sow.Provider), Client: key(sow.Client)}
}

// judge derives who has signed, what is in force, and the state of each document.
func (h *held) judge() {
	open := map[int64]int{}
	for _, x := range h.docs {
		seats := x.doc.VerifySignatures(h.pins)
		if seats.Agreed() && (h.pins.Provider == "" || h.pins.Client == "") {
			// Whoever else signed is not known: nothing is agreed with nobody.
			if h.pins.Provider == "" {
				seats.Provider = nil
			} else {
				seats.Client = nil
			}
		}
		x.view.Seats = seats
		if h.role != "" && h.fixed {
			x.signed = seats.Of(h.role) != nil
		}
		for _, role := range []string{sow.Provider, sow.Client} {
			if role != h.role && h.pins.Of(role) != "" && seats.Of(role) != nil {
				x.theirs = true
			}
		}
		x.closed = h.log.docs[x.view.Digest].Closed
		if f, ok := h.fact(factSettled, strconv.FormatInt(x.view.Version, 10)); ok && f.Value != x.view.Digest && x.closed == "" {
			x.closed = "settled_against"
		}
		if x.closed == "" || x.closed == "superseded" {
			open[x.view.Version]++
		}
		if seats.Agreed() && (x.closed == "" || x.closed == "superseded") && (h.inForce == nil || x.view.Version > h.inForce.view.Version) {
			h.inForce = x
		}
	}
	for _, x := range h.docs {
		x.view.Conflict = open[x.view.Version] > 1 && (x.closed == "" || x.closed == "superseded")
		h.view.Conflict = h.view.Conflict || x.view.Conflict
	}
	h.terminations()
	agreed := int64(0)
	if h.inForce != nil {
		agreed = h.inForce.view.Version
		h.inForce.view.InForce = true
	}
	for _, x := range h.docs {
		v := &x.view
		v.State = x.doc.State(sow.Situation{
			Seats: v.Seats, Now: h.now, Terminated: h.ended > 0 && h.now >= h.ended, Superseded: v.Version < agreed,
			Agreed: agreed,
		})
		v.Outcome = x.closed
		switch {
		case v.Outcome == "" && v.Version > 1 && v.Seats.Agreed():
			v.Outcome = "approved"
		case v.Outcome == "superseded" && v.State == sow.Amended && v.Version > 1:
			v.Outcome = "approved"
		}
		if f, ok := h.fact(factProposed, v.Digest); ok {
			v.ProposedAt = f.At
		}
		if v.State == sow.AmendmentProposed && h.inForce != nil {
			v.ReviewEnds, _ = sow.ReviewEnds(h.inForce.doc, v.ProposedAt)
			if v.ProposedBy = sow.Client; v.Seats.Provider != nil {
				v.ProposedBy = sow.Provider
			}
			if v.Outcome == "" && v.ReviewEnds > 0 && h.now >= v.ReviewEnds {
				v.Outcome = "lapsed"
			}
		}
	}
}

// terminations finds when the engagement ends by an act of one of the two owners (5.9).
func (h *held) terminations() {
	if h.log.terminated && h.inForce == nil {
		h.ended = 1
	}
	for _, r := range h.records {
		a := h.act(r)
		if a == nil || a.Kind != sow.Termination || h.inForce == nil {
			continue
		}
		at := r.At
		if a.Ground == "convenience" {
			hours, agreed := h.inForce.doc.ConvenienceNotice()
			if !agreed {
				continue // only a cause ends it: the claim is kept, and changes nothing
			}
			at = span.AddHours(at, hours)
		}
		if h.ended == 0 || at < h.ended {
			h.ended = at
		}
	}
	if h.log.terminated && h.ended == 0 {
		h.ended = 1
	}
}

// act reads an act that counts: signed by the pinned key of the seat it names, or by ours.
func (h *held) act(r store.SoWRecord) *sow.ActFields {
	if _, ok := sow.ActKind(r.Kind).Tag(); !ok {
		return nil
	}
	a, err := sow.ParseAct(r.Raw)
	if err != nil || a.Verify() != nil {
		return nil
	}
	f := a.Fields()
	x := h.by(f.Document)
	if x == nil || !a.About(x.doc) || h.pins.Of(f.Role) == "" || f.Key != h.pins.Of(f.Role) {
		return nil
	}
	return &f
}

// capClaimed says that the records that were brought add up to the cap. Nobody has signed them, so that the cap is reached, and the
// engagement exhausted with it (5.5.5), is a claim: it is remarked on and ends nothing.
func (h *held) capClaimed(doc *sow.Document) bool {
	price, findings := doc.Price()
	if !findings.OK() || price.Arrangement != money.TimeAndMaterials {
		return false
	}
	_, settled := h.money()
	return settled > 0 && settled >= price.Cap
}

// main is the version that holds: the one in force, else the newest that came. What a newer one says that nobody has agreed to says
// nothing of the engagement.
func (h *held) main() *heldDoc {
	if h.inForce != nil {
		return h.inForce
	}
	return h.docs[0]
}

// money adds up what was quoted and settled, as far as it was brought.
func (h *held) money() (quoted money.Opt, settled int64) {
	for _, r := range h.records {
		v, err := jcs.Parse(r.Raw, jcs.SoW)
		if err != nil {
			continue
		}
		switch RecordKind(r.Kind) {
		case RecordQuote:
			if q, f := sow.QuoteOf(v); f.OK() {
				quoted = money.Some(quoted.N + q.Total)
			}
		case RecordSettlement:
			if s, f := sow.RecordOf(v); f.OK() && h.settlement(v) == "" && h.charged(v).OK() {
				settled += s.Total
			}
		}
	}
	return quoted, settled
}

// settlement names what is wrong between a settlement record and its quote; where no quote was brought, within the record.
func (h *held) settlement(record jcs.Value) money.Dispute {
	r, findings := sow.RecordOf(record)
	if !findings.OK() {
		return ""
	}
	q := money.Quote{Total: r.Total, Currency: r.Currency, Fee: r.Fee}
	if quote, ok := h.quoteFor(record); ok {
		if known, f := sow.QuoteOf(quote); f.OK() {
			q = known
		}
	}
	return money.CheckSettlement(q, r)
}

// quoteFor is the quote that a settlement record follows: the one of its task, else the only one.
func (h *held) quoteFor(record jcs.Value) (jcs.Value, bool) {
	var all []jcs.Value
	for _, r := range h.records {
		if RecordKind(r.Kind) != RecordQuote {
			continue
		}
		v, err := jcs.Parse(r.Raw, jcs.SoW)
		if err != nil {
			continue
		}
		for _, name := range []string{"task", "task_id", "quote", "id"} {
			if t := record.Get(name).Text(); t != "" && (v.Get(name).Text() == t || v.Get("id").Text() == t) {
				return v, true
			}
		}
		all = append(all, v)
	}
	if len(all) == 1 {
		return all[0], true
	}
	return jcs.Value{}, false
}

// examine collects every finding.
func (d *Desk) examine(h *held) error {
	book := sow.Book{Handles: map[string]string{}}
	for _, x := range h.docs {
		for _, role := range []string{sow.Provider, sow.Client, "offered_to"} {
			p, ok := x.doc.Party(role)
			if !ok {
				continue
			}
			if h.log.blocked(p.Agent) {
				book.Blocked = append(book.Blocked, p.Agent)
			}
			if _, looked := book.Handles[p.Handle]; p.Handle == "" || looked {
				continue
			}
			was, err := d.db().SoWFactsNamed(factHandle, p.Handle)
			if err != nil {
				return err
			}
			if len(was) > 0 {
				book.Handles[p.Handle] = was[0].Value
				if was[0].Value != p.Agent {
					h.view.Rehomed = append(h.view.Rehomed, RehomedView{p.Handle, was[0].Value, p.Agent})
					h.view.EngagementRow.Rehomed = true
				}
			}
		}
		for _, r := range x.doc.Signatures() {
			if h.log.blocked(r.Key) {
				book.Blocked = append(book.Blocked, r.Key)
			}
		}
	}
	deployment, own := d.deployment(h.id)
	h.view.Deployment, h.view.OwnDeployment = deployment, own
	manifest := h.manifest(d)
	otherOpen := func(x *heldDoc) bool {
		return slices.ContainsFunc(h.docs, func(y *heldDoc) bool {
			return y != x && y.view.State == sow.AmendmentProposed && y.view.Outcome == ""
		})
	}
	var ours []string
	for _, s := range h.log.seats {
		ours = append(ours, s.Key)
	}
	for _, x := range h.docs {
		v := &x.view
		authoring := x.authored()
		v.Findings = x.doc.Validate(sow.Options{
			Authoring: authoring, Manifest: manifest, Ours: ours, Languages: d.o.Languages,
			Made: func(a jcs.Value) bool { return h.approvedHere(x, a) },
		})
		v.Findings = append(v.Findings, v.Seats.Findings...)
		v.Findings = append(v.Findings, x.doc.CheckGrades(deployment, authoring)...)
		v.Findings = append(v.Findings, book.CheckCounterparties(x.doc)...)
		if h.inForce != nil && x != h.inForce {
			if v.Version < h.inForce.view.Version && v.State != sow.Amended {
				if f := sow.CheckVersion(x.doc, h.inForce.view.Version, nil); f != nil {
					v.Findings = append(v.Findings, *f)
				}
			} else if v.Version > h.inForce.view.Version {
				v.Findings = append(v.Findings, sow.CheckAmendment(h.inForce.doc, x.doc, otherOpen(x) && v.Outcome == "")...)
				v.Findings = append(v.Findings, reservation(h.inForce.doc, x.doc, deployment.ClearingHolds)...)
			}
		}
		if x == h.inForce && h.capClaimed(x.doc) {
			if price, f := x.doc.Price(); f.OK() {
				if c := sow.CapReached(price, price.Cap, nil); c != nil {
					c.Severity, c.Message = sow.Warning, "Settlement records that nobody has signed add up to the cap. That it is reached is their claim."
					c.Remedy = "Ask the operator for what was settled; the engagement goes on until that is known."
					v.Findings = append(v.Findings, *c)
				}
			}
		}
		if v.Outcome == "lapsed" && h.inForce != nil {
			if f := sow.CheckReview(h.inForce.doc, v.ProposedAt, h.now); f != nil {
				v.Findings = append(v.Findings, *f)
			}
		}
		if x.doc.BlankSeat() && x.doc.Directed() {
			p, _ := x.doc.Party("offered_to")
			spent := h.log.docs[v.Digest].Formed > 0
			if f := sow.DirectedRefusal(x.doc.Get("parties"), p.Agent, h.now, sow.OfferStatus{Withdrawn: x.closed == "withdrawn", Formed: spent}); f != nil {
				v.Findings = append(v.Findings, *f)
			}
		}
		if f, err := d.language(x.doc); err != nil {
			return err
		} else if f != nil {
			v.Findings = append(v.Findings, *f)
		}
		if f, err := d.stale(h, x); err != nil {
			return err
		} else if f != nil {
			v.Findings = append(v.Findings, *f)
		}
		if f, err := d.arbiter(h, x.doc); err != nil {
			return err
		} else if f != nil {
			v.Findings = append(v.Findings, *f)
		}
		v.Grades = x.doc.Grades(deployment)
		move := journal.MoveCountersign
		switch {
		case x.doc.BlankSeat():
			move = journal.MovePublish
		case v.Version > 1:
			move = journal.MoveApprove
		}
		v.Needed = facts.Authority(move, x.doc, h.inForceDoc(), h.log.floor)
		for _, act := range []string{"formation", "amendment"} {
			if i, ok := h.log.intents[v.Digest+" "+act]; ok {
				v.Given = append(v.Given, IntentView{Act: act, Key: i.Key, At: i.At})
			}
		}
	}
	return nil
}

// reservation refuses an amendment into time and materials whose new cap nobody can hold (5.5.7).
func reservation(inForce, next *sow.Document, holds bool) sow.Findings {
	from, f := inForce.Price()
	to, g := next.Price()
	if !f.OK() || !g.OK() {
		return nil
	}
	if err := money.CheckReservation(from, to, holds); err != nil {
		if x := sow.Refused(err, "price.reservation"); x != nil {
			return sow.Findings{*x}
		}
	}
	return nil
}

// authored says whether a document was made here and has not been signed by anybody else.
func (x *heldDoc) authored() bool {
	return x.view.Copies[0].From.Kind == "own" && !x.theirs && !x.doc.Get("derived_from").Exists()
}

func (h *held) inForceDoc() *sow.Document {
	if h.inForce == nil {
		return nil
	}
	return h.inForce.doc
}

// approvedHere says whether an approval record under a key of ours was made by this vault: one that the log shows, or the one in a
// document that is being made here.
func (h *held) approvedHere(x *heldDoc, a jcs.Value) bool {
	if h.log.approval(permit.SHA256(a.Canonical())) {
		return true
	}
	return x.view.Copies[0].From.Kind == "own" && !x.signed && !x.theirs
}

// manifest is the newest one brought of the provider's agent.
func (h *held) manifest(d *Desk) *sow.Manifest {
	p, _ := h.docs[0].doc.Party(sow.Provider)
	for i := len(h.records) - 1; i >= 0; i-- {
		if RecordKind(h.records[i].Kind) == RecordManifest {
			if m, err := sow.ParseManifest(h.records[i].Raw); err == nil && m.Agent == p.Agent {
				return m
			}
		}
	}
	return nil
}

// language compares the contract language with the first document that named the same version.
func (d *Desk) language(doc *sow.Document) (*sow.Finding, error) {
	key := languageKey(doc)
	if key == "" {
		return nil, nil
	}
	first, err := d.db().SoWFactsNamed(factLanguage, key)
	if err != nil || len(first) == 0 || first[0].Value == doc.Digest() {
		return nil, err
	}
	c, err := d.db().SoWCopyOf(first[0].Value)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	other, err := sow.Parse(c.Raw)
	if err != nil {
		return nil, nil
	}
	return sow.LanguageConflict(other, doc), nil
}

func languageKey(doc *sow.Document) string {
	l := doc.Get("language")
	n, ok := l.Get("version").Int()
	if id := l.Get("id").Text(); id != "" && ok {
		return fmt.Sprintf("%s %d", id, n)
	}
	return ""
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// arbiter tests the named arbiter's independence against the engagements that are known here (5.10.1).
func (d *Desk) arbiter(h *held, doc *sow.Document) (*sow.Finding, error) {
	agent := doc.Get("disputes").Get("arbiter").Get("agent").Text()
	if agent == "" {
		return nil, nil
	}
	var facts sow.ArbiterFacts
	provider, _ := doc.Party(sow.Provider)
	client, _ := doc.Party(sow.Client)
	d.mu.Lock()
	pin := func(a string) string {
		if p, ok := d.led.pins[a]; ok {
			return p.permit.Key
		}
		return ""
	}
	arbiter := pin(agent)
	facts.SharesOwner = agent == provider.Agent || agent == client.Agent || arbiter != "" && (arbiter == pin(provider.Agent) || arbiter == pin(client.Agent))
	d.mu.Unlock()
	rows, _, err := d.db().Engagements(store.EngagementQuery{Text: strings.ToLower(agent), Kind: string(KindEngagement), Limit: MaxPage})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		x, ok := rowOf(row)
		if !ok || row.ID == h.id || x.Provider.Agent != agent && x.Client.Agent != agent {
			continue
		}
		with := func(p sow.Seat) bool {
			return p.Agent != "" && (p.Agent == x.Provider.Agent || p.Agent == x.Client.Agent)
		}
		if with(provider) || with(client) {
			end := h.now
			if x.State.Ended() && x.EndsAt > 0 {
				end = min(end, x.EndsAt)
			}
			if !facts.Engaged.Set || end > facts.Engaged.N {
				facts.Engaged = money.Some(end)
			}
		}
	}
	return doc.CheckArbiter(facts, h.now), nil
}

// rowWire is a list's row as it is kept.
type rowWire struct {
	Row       EngagementRow
	Reminders []Reminder
}

func rowOf(e store.Engagement) (EngagementRow, bool) {
	w, ok := wireOf(e)
	return w.Row, ok
}

func wireOf(e store.Engagement) (rowWire, bool) {
	var w rowWire
	err := json.Unmarshal(e.Row, &w)
	return w, err == nil && w.Row.ID == e.ID
}

// present makes what is shown.
func (h *held) present(d *Desk) {
	newest := h.docs[0]
	main := newest
	if h.inForce != nil {
		main = h.inForce
	}
	r := &h.view.EngagementRow
	r.ID, r.SoW, r.Kind, r.Role, r.State, r.Version, r.Digest = h.id, main.doc.ID(), KindEngagement, h.role, main.view.State, main.view.Version, main.view.Digest
	if main.doc.BlankSeat() {
		r.Kind = KindOffer
	}
	r.Provider, _ = main.doc.Party(sow.Provider)
	r.Client, _ = main.doc.Party(sow.Client)
	r.Offerings = listOf(main.doc.Get("scope").Get("offerings"))
	if p, f := main.doc.Price(); f.OK() {
		r.Arrangement, r.Committed, r.Currency = p.Arrangement, p.Committed(), p.Currency
	}
	r.StartsAt, r.EndsAt, _, _ = main.doc.Term()
	first := newest.view.Copies[0]
	for _, x := range h.docs {
		for _, c := range x.view.Copies {
			if c.At < first.At {
				first = c
			}
			r.At = max(r.At, c.At)
		}
	}
	r.From = first.From
	for _, m := range h.moves {
		r.At = max(r.At, m.At)
	}
	r.Conflict = h.view.Conflict
	r.Errors = len(newest.view.Findings.Errors())
	if logged, ok := h.log.docs[main.view.Digest]; ok && logged.Published {
		r.Spent, r.Withdrawn, r.Formations = logged.Directed && logged.Formed > 0, logged.Closed == "withdrawn", int(logged.Formed)
	}
	r.Withdrawn = r.Withdrawn || r.Kind == KindOffer && main.closed == "withdrawn"
	for _, r := range h.records {
		if x := h.by(r.Digest); x != nil && r.Own && RecordKind(r.Kind) == RecordConfirmation {
			if e, err := confirm.ParseEvidence(r.Raw); err == nil && e.Record().Context().Fields().Digest == x.view.Digest {
				x.view.Confirmation = &ConfirmationView{Seq: r.Seq, Record: e.Record().Digest(), At: e.Statement().At}
			}
		}
	}
	h.parties()
	h.recordViews()
	h.dues()
	h.timeline()
	h.choices()
	r.Waiting = h.waits()
	for _, x := range h.docs {
		h.view.Versions = append(h.view.Versions, x.view)
	}
	h.view.Reminders = h.remind
	if len(h.remind) > 0 {
		next := h.remind[0]
		r.Reminder = &next
	}
	if s, ok := h.log.seat(h.seat); ok {
		h.view.Seat = SeatView{Index: s.Seat, Name: s.Name, Key: s.Key}
	}
	h.view.SeatFixed = h.fixed
	if f, ok := h.fact(factFormed, "of"); ok {
		h.view.Offer = f.Value
	}
	h.view.Preauthorisations = d.preauthorisations(h)
}

func listOf(v jcs.Value) (out []string) {
	for _, x := range v.Items() {
		out = append(out, x.Text())
	}
	return out
}

// parties says who sits where, and how their keys are known.
func (h *held) parties() {
	for _, role := range []string{sow.Provider, sow.Client} {
		p, ok := h.main().doc.Party(role)
		if !ok {
			continue
		}
		v := PartyView{Role: role, Party: p, Ours: h.role == role && h.fixed, Key: h.pins.Of(role), Confirmation: ConfirmedNone}
		pin := h.log.pins[p.Agent]
		switch {
		case v.Ours:
		case pin.Key != "" && pin.Key == v.Key:
			v.Learned, v.LearnedAt = pin.Learned, pin.MadeAt
		case v.Key != "":
			v.Learned = "first_use"
		}
		v.Blocked = h.log.blocked(p.Agent) || v.Key != "" && h.log.blocked(v.Key)
		for _, x := range h.docs {
			for _, r := range x.doc.Signatures() {
				if r.Role == role && r.Key != v.Key && r.Fault == "" && !slices.Contains(v.Claims, r.Key) {
					v.Claims = append(v.Claims, r.Key)
				}
			}
		}
		if !v.Ours {
			v.Confirmation = h.confirmed(role, v.Key)
		}
		h.view.Parties = append(h.view.Parties, v)
	}
}

// confirmed says how far a counterparty's person was confirmed for the version in force, else the newest.
func (h *held) confirmed(role, key string) Confirmed {
	doc := h.main()
	out := ConfirmedNone
	for _, r := range h.records {
		if RecordKind(r.Kind) != RecordConfirmation {
			continue
		}
		e, err := confirm.ParseEvidence(r.Raw)
		if err != nil {
			continue
		}
		f := e.Record().Context().Fields()
		if f.Digest != doc.view.Digest || f.Role != role || f.Kind != confirm.SoWCountersign && f.Kind != confirm.SoWAmend || !e.Verify(confirm.EvidencePins{}).Valid {
			continue
		}
		if h.onCard(e, key) {
			return ConfirmedVerified
		}
		out = ConfirmedUnpinned
	}
	return out
}

// onCard says whether a card that was brought, of the owner with that key, has the passkey and log key of a confirmation.
func (h *held) onCard(e *confirm.Evidence, key string) bool {
	for _, r := range h.records {
		if RecordKind(r.Kind) != RecordCard || key == "" {
			continue
		}
		card, err := confirm.ParseOwnerCard(r.Raw)
		if err != nil || !card.Verify(card.Owner()).Valid || !slices.ContainsFunc(card.Fields().Seats, func(s confirm.CardSeat) bool { return s.Key == key }) {
			continue
		}
		if report := card.VerifyEvidence(e); report.Valid && report.Pinned {
			return true
		}
	}
	return false
}

// recordViews judges what was brought in.
func (h *held) recordViews() {
	for _, r := range h.records {
		v := RecordView{SHA256: r.SHA256, Kind: RecordKind(r.Kind), At: r.At, From: SoWSource{Kind: r.Source, Name: r.Name, Client: r.Client}, Own: r.Own, Version: r.Version, Seq: r.Seq, Answer: r.Answer}
		value, err := jcs.Parse(r.Raw, jcs.SoW)
		if err != nil {
			v.Ignored = "not_i_json"
			h.view.Records = append(h.view.Records, v)
			continue
		}
		v.Text = string(value.Canonical())
		h.recordView(&v, r, value)
		h.view.Records = append(h.view.Records, v)
	}
	quoted, settled := h.money()
	price, findings := h.main().doc.Price()
	switch {
	case quoted.Set:
		h.view.Unsettled = money.Some(max(quoted.N-settled, 0))
	case findings.OK() && price.Committed().Set && price.Settles():
		h.view.Unsettled = money.Some(max(price.Committed().N-settled, 0))
	}
}

func (h *held) recordView(v *RecordView, r store.SoWRecord, value jcs.Value) {
	switch v.Kind {
	case RecordQuote:
		_, v.Findings = sow.QuoteOf(value)
	case RecordSettlement:
		v.Dispute = h.settlement(value)
		v.Findings = h.charged(value)
		v.Claimed = value.Get("operator").Text()
	case RecordJobManifest:
		p, _ := h.docs[0].doc.Party(sow.Provider)
		if fault := sow.VerifyJobManifest(value, p.Agent); fault != nil {
			v.Ignored, v.Claimed = fault.Reason, value.Get("agent").Text()
		} else {
			v.Verified = true
		}
	case RecordVerdict:
		v.Findings = append(sow.CheckVerdict(value, h.disputed(value.Get("dispute").Text())), h.late(value)...)
		v.Claimed = value.Get("by").Text()
		// Who may rule is what both have signed. An appointment that was brought is signed by nobody.
		arbiter := h.main().doc.Get("disputes").Get("arbiter").Get("agent").Text()
		v.Verified = sow.VerifyVerdict(value) == nil && h.inForce != nil && arbiter != "" && arbiter == v.Claimed
	case RecordProblem:
		v.Findings, _ = sow.CheckPart("problem", value)
		v.Claimed = value.Get("agent").Text()
	case RecordProbeRecord:
		if f := sow.CheckProbe(value); f != nil {
			v.Findings = sow.Findings{*f}
		}
		v.Claimed = value.Get("agent").Text()
	case RecordConfirmation:
		if r.Own {
			v.Verified = true
		} else if e, err := confirm.ParseEvidence(r.Raw); err != nil || !e.Verify(confirm.EvidencePins{}).Valid {
			v.Ignored = "wrong_signature"
		} else {
			f := e.Record().Context().Fields()
			v.Claimed = e.Statement().LogKey
			if x := h.by(f.Digest); x == nil {
				v.Ignored = CodeNoEngagement
			} else {
				v.Version, v.Verified = x.view.Version, h.onCard(e, h.pins.Of(f.Role))
			}
		}
	case RecordCard:
		card, err := confirm.ParseOwnerCard(r.Raw)
		if err != nil || !card.Verify(card.Owner()).Valid {
			v.Ignored = "wrong_signature"
			break
		}
		v.Claimed = card.Owner()
		for _, s := range card.Fields().Seats {
			v.Verified = v.Verified || s.Key == h.pins.Provider || s.Key == h.pins.Client
		}
	default:
		if _, ok := sow.ActKind(v.Kind).Tag(); !ok {
			v.Claimed = value.Get("by").Text()
			return
		}
		a, err := sow.ParseAct(r.Raw)
		if err != nil {
			v.Ignored = "act_shape"
			return
		}
		f := a.Fields()
		v.Act, v.Claimed, v.Version = &f, f.Key, f.Version
		v.Verified = h.act(r) != nil
		if x := h.by(f.Document); x != nil && f.Kind == sow.FormationRefusal {
			// A completed document has the offer's conditions.
			if g := sow.CheckGround(x.doc, f.Ground); g != nil {
				v.Findings = sow.Findings{*g}
			}
		}
		switch {
		case v.Verified:
		case a.Verify() != nil:
			v.Ignored = string(a.Verify().Code)
		case h.by(f.Document) == nil:
			v.Ignored = CodeNoEngagement
		default:
			v.Ignored = "signer_not_owner"
		}
	}
}

// disputed is the amount of a dispute that is known here, by the digest or a citation of its act.
func (h *held) disputed(name string) *sow.Disputed {
	for _, r := range h.records {
		if f := h.act(r); f != nil && f.Kind == sow.Dispute && (r.SHA256 == name || slices.Contains(f.Cites, name)) {
			return f.Disputed
		}
	}
	return nil
}

const day = int64(24 * 60 * 60 * 1000)

// dues collects what becomes due.
func (h *held) dues() {
	add := func(kind ReminderKind, at int64, about string, last bool) {
		if at > 0 {
			h.remind = append(h.remind, Reminder{Engagement: h.id, Kind: kind, At: at, About: about, Last: last, Due: at <= h.now})
		}
	}
	for _, x := range h.docs {
		v := x.view
		if v.State == sow.AmendmentProposed && v.Outcome == "" {
			add(RemindReview, v.ReviewEnds, "", false)
		}
		if v.State == sow.StandingProposal && x.closed == "" {
			if at, err := span.Instant(x.doc.Get("parties").Get("offered_to").Get("expires_at").Text()); err == nil && at > h.now {
				add(RemindOffer, at, "", false)
			}
		}
	}
	for _, g := range h.grants() {
		f, _ := h.fact(factGrant, g.Name)
		h.view.ToClose = append(h.view.ToClose, GrantToClose{Grant: g, Closed: f.Value == "closed", Ended: h.view.State.Ended()})
	}
	if h.inForce == nil {
		slices.SortStableFunc(h.remind, func(a, b Reminder) int { return cmpInt(a.At, b.At) })
		return
	}
	doc, state := h.inForce.doc, h.inForce.view.State
	start, end, started, hasEnd := doc.Term()
	if !state.Ended() {
		if started && start > h.now {
			add(RemindStarts, start, "", false)
		}
		if hasEnd && end > h.now {
			add(RemindEnds, end, "", false)
		}
		if h.ended > h.now {
			add(RemindNotice, h.ended, "", false)
		}
		for _, due := range doc.Interim(h.now + 62*day) {
			if due.At > h.now-7*day {
				add(RemindInterim, due.At, due.Name, false)
			}
		}
		if days, ok := doc.Get("price").Get("reservation").Get("window_days").Int(); ok && started {
			if at := span.ReleaseAt(start, days); at > h.now {
				add(RemindReservation, at, "", false)
			}
		}
		h.deliveries(doc, add)
	} else {
		for _, g := range h.view.ToClose {
			if !g.Closed {
				at := end
				if h.ended > 0 && (at == 0 || h.ended < at) {
					at = h.ended
				}
				add(RemindClose, max(at, 1), g.Grant.Name, false)
			}
		}
	}
	for _, r := range h.records {
		f := h.act(r)
		if f == nil || f.Kind != sow.Dispute {
			continue
		}
		dv := DisputeView{SHA256: r.SHA256, By: f.Role, Disputed: *f.Disputed, Cites: f.Cites, Posture: doc.Get("disputes").Get("posture").Text(), Fallback: doc.Fallback(), At: r.At}
		if at, ok := doc.VerdictDue(r.At); ok {
			dv.Due = at
			if at > h.now {
				add(RemindVerdict, at, "", false)
			}
		}
		for _, o := range h.records {
			if RecordKind(o.Kind) == RecordVerdict {
				if v, err := jcs.Parse(o.Raw, jcs.SoW); err == nil && (v.Get("dispute").Text() == r.SHA256 || slices.Contains(f.Cites, v.Get("dispute").Text())) {
					dv.Verdict = o.SHA256
				}
			}
		}
		h.view.Disputed = append(h.view.Disputed, dv)
	}
	slices.SortStableFunc(h.remind, func(a, b Reminder) int { return cmpInt(a.At, b.At) })
}

// grants are those that end with nothing: of every version that was agreed, for what one gave stays open when a later one does not
// name it; where none was, of the newest.
func (h *held) grants() (out []sow.Grant) {
	for i, x := range h.docs {
		if !x.view.Seats.Agreed() && (h.inForce != nil || i > 0) {
			continue
		}
		for _, g := range x.doc.Grants() {
			if g.CloseByHand() && !slices.ContainsFunc(out, func(o sow.Grant) bool { return o.Name == g.Name }) {
				out = append(out, g)
			}
		}
	}
	return out
}

func cmpInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// delivered reads a job manifest that the provider's agent has signed. What nobody signed says nothing of what was
// delivered, and when.
func (h *held) delivered(r store.SoWRecord) (jcs.Value, bool) {
	if RecordKind(r.Kind) != RecordJobManifest {
		return jcs.Value{}, false
	}
	p, _ := h.docs[0].doc.Party(sow.Provider)
	v, err := jcs.Parse(r.Raw, jcs.SoW)
	return v, err == nil && sow.VerifyJobManifest(v, p.Agent) == nil
}

// deliveries reminds of what silence means after a delivery (5.4.2), twice, and of the window for revisions (5.4.3).
func (h *held) deliveries(doc *sow.Document, add func(ReminderKind, int64, string, bool)) {
	reviewed := map[string]bool{}
	for _, r := range h.records {
		if f := h.act(r); f != nil && f.Kind == sow.Review {
			for _, c := range f.Cites {
				reviewed[c] = true
			}
		}
	}
	terms := []jcs.Value{doc.Get("acceptance"), doc.Get("deliverables").Get("acceptance")}
	for _, p := range doc.Get("deliverables").Get("per_task").Items() {
		terms = append(terms, p.Get("acceptance"))
	}
	for _, r := range h.records {
		v, ok := h.delivered(r)
		if !ok {
			continue
		}
		at, err := span.Instant(v.Get("produced_at").Text())
		task := v.Get("task_id").Text()
		if err != nil {
			continue
		}
		if days, ok := doc.Get("revisions").Get("included").Get("window_days").Int(); ok {
			if ends := span.AddDays(at, days); ends > h.now {
				add(RemindRevision, ends, task, false)
			}
		}
		if reviewed[task] || reviewed[v.Get("job").Text()] {
			continue
		}
		for _, t := range terms {
			if deemed, ok := sow.DeemedAccepted(t, at); t.Exists() && ok && deemed > h.now {
				add(RemindDeemed, at+(deemed-at)/2, task, false)
				add(RemindDeemed, max(deemed-day, at), task, true)
				break
			}
		}
	}
}

// timeline puts what was noted and what time does in one order.
func (h *held) timeline() {
	for _, m := range h.moves {
		state := sow.State("")
		switch m.What {
		case "agreed":
			state = sow.Agreed
		case "terminated":
			state = sow.Terminated
		case "proposed":
			state = sow.AmendmentProposed
		}
		h.view.Timeline = append(h.view.Timeline, Moved{At: m.At, Version: m.Version, State: state, What: m.What, By: m.By, Seq: m.Seq, Claimed: m.Claimed})
	}
	if h.inForce != nil {
		start, end, started, ended := h.inForce.doc.Term()
		if started {
			h.view.Timeline = append(h.view.Timeline, Moved{At: start, Version: h.inForce.view.Version, State: sow.Active, What: "active", By: "time", Due: start > h.now})
		}
		if ended && (h.ended == 0 || end < h.ended) {
			h.view.Timeline = append(h.view.Timeline, Moved{At: end, Version: h.inForce.view.Version, State: sow.Lapsed, What: "lapsed", By: "time", Due: end > h.now})
		}
		if h.ended > h.now {
			h.view.Timeline = append(h.view.Timeline, Moved{At: h.ended, Version: h.inForce.view.Version, State: sow.Terminated, What: "notice_ends", By: "time", Due: true})
		}
	}
	slices.SortStableFunc(h.view.Timeline, func(a, b Moved) int { return cmpInt(a.At, b.At) })
	for _, r := range h.records {
		f := h.act(r)
		if f == nil || f.Kind != sow.Review {
			continue
		}
		x := Review{Record: r.SHA256, Ours: r.Own, Accepted: f.Ground == "acceptance", Reason: f.Reason, Cites: f.Cites}
		doc := h.main().doc
		for _, o := range h.records {
			v, ok := h.delivered(o)
			if !ok || !slices.Contains(f.Cites, v.Get("task_id").Text()) && !slices.Contains(f.Cites, v.Get("job").Text()) {
				continue
			}
			var pieces []sow.Artifact
			for _, p := range v.Get("pieces").Items() {
				pieces = append(pieces, sow.Artifact{Name: p.Get("name").Text(), MediaType: p.Get("media_type").Text()})
			}
			x.Checked, x.Form = true, append(x.Form, doc.CheckForm(pieces)...)
		}
		h.view.Reviews = append(h.view.Reviews, x)
	}
}

// waits names what waits for the owner.
func (h *held) waits() (out []Waiting) {
	add := func(w Waiting) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	if h.view.Conflict {
		add(WaitConflict)
	}
	if len(h.view.Rehomed) > 0 {
		add(WaitHandle)
	}
	for _, x := range h.docs {
		v := x.view
		if x.closed != "" || v.Outcome == "lapsed" || x.signed || h.ended > 0 && h.now >= h.ended {
			continue
		}
		_, request := h.fact(factLockedAsk, v.Digest)
		asked := slices.ContainsFunc(h.asks, func(a store.SoWAsk) bool { return a.Document == v.Digest })
		switch {
		case v.State == sow.AmendmentProposed && h.role != "" && (x.theirs || asked):
			add(WaitApprove)
		case v.State == sow.Active, v.State == sow.Agreed, v.State == sow.Amended, v.State.Ended():
		case request:
			add(WaitComplete)
		case asked, v.Version == 1 && !x.doc.BlankSeat() && h.role != "" && v.Seats.Of(sow.Other(h.role)) != nil:
			add(WaitCountersign)
		}
		if v.Needed == sow.ByAgentThenPerson && len(v.Given) == 0 && !x.doc.BlankSeat() && h.role != "" && (asked || x.view.Copies[0].From.Kind == "own") {
			add(WaitIntent)
		}
	}
	for _, r := range h.view.Records {
		if r.Kind == RecordProblem && r.Answer != "resolved" && r.Ignored == "" {
			add(WaitProblem)
		}
		if r.Dispute != "" && !slices.ContainsFunc(h.view.Disputed, func(x DisputeView) bool { return slices.Contains(x.Cites, r.SHA256) }) {
			add(WaitDispute)
		}
	}
	return out
}
