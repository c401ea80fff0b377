package approvals

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"vault/approvals/agreement"
	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/sow"
	"vault/approvals/sow/money"
	"vault/approvals/sow/span"
	"vault/approvals/store"
)

// sealing is one signature of a seat over a document.
type sealing struct {
	h            *held
	x            *agreement.Document
	move         string
	role         string
	seat         int64
	key          string
	counterparty string
	offer        *agreement.Document // that it completes, or nil
	allowed      *allowRow
	client       string // that asked for it, or ""
	authority    string
	approval     string // of ours inside, 0x and 64 hex digits, or ""
	intent       string
	agreed       bool
	made         []byte // the signed copy, once it is made
}

// sealOp signs and keeps, all or nothing: entry, signature, copy and timeline are one transaction.
func (d *Desk) sealOp(s *sealing, c *behind) *op {
	o := &op{anchor: true}
	o.build = func(b *batch) error {
		switch {
		case d.away && c.by != "passkey":
			return refuse(CodeAway) // nobody is there, and nothing says that it may go on
		case c.by == "passkey" && d.sowTurn[s.h.ID] != s.h.turn:
			return errChanged // what was shown is not all there is any more
		}
		doc := s.x.Doc
		body := journal.SoWSigned{
			Engagement: s.h.ID, Move: s.move, SoW: doc.ID(), Version: doc.Version(), DocumentSHA256: "0x" + doc.Digest(), Role: s.role, Seat: s.seat, Key: s.key,
			Counterparty: s.counterparty, Client: s.client, Authority: s.authority, Approval: s.approval, Agreed: s.agreed,
			Directed: s.move == journal.MovePublish && doc.Directed(), By: c.by, Confirmation: c.record,
		}
		documents := &keys.SoWAct{Document: doc.Raw(), Intent: s.intent}
		if s.h.InForce != nil && doc.Version() > 1 {
			body.InForce, documents.InForce = "0x"+s.h.InForce.View.Digest, s.h.InForce.Doc.Raw()
		}
		if s.offer != nil {
			body.Offer, documents.Offer = "0x"+s.offer.View.Digest, s.offer.Doc.Raw()
		}
		var rows []permitRow
		if party, ok := doc.Party(sow.Other(s.role)); ok && s.move != journal.MoveComplete {
			if p := d.led.pins[party.Agent]; p != nil {
				rows = append(rows, permitRow{p.body, p.mac})
			}
		}
		if s.client != "" {
			row, refusal := d.led.client(s.client)
			if refusal != nil {
				return refusal
			}
			rows = append(rows, permitRow{row.body, row.mac})
		}
		if s.allowed != nil {
			body.Preauthorisation = s.allowed.permit.ID
			rows = append(rows, permitRow{s.allowed.body, s.allowed.mac})
		}
		a, err := b.add(journal.KindSoWSigned, body)
		if err != nil {
			return err
		}
		c.of(a)
		a.keyed.SoW, a.keyed.Permits = documents, permitsOf(rows)
		a.ready = func() error {
			sig, err := sow.ParseSignature(a.answer.SoWSignature)
			if err != nil {
				return err
			}
			signed, err := doc.WithSignature(s.role, s.key, span.UTC(b.now), sig)
			if err != nil {
				return err
			}
			pins := sow.Pins{Provider: s.key, Client: s.counterparty}
			if s.role == sow.Client {
				pins = sow.Pins{Provider: s.counterparty, Client: s.key}
			}
			if signed.VerifySignatures(pins).Of(s.role) == nil {
				return errors.New("the key process made a signature that does not verify")
			}
			s.made = signed.Raw()
			return nil
		}
		a.write = func(tx *store.Tx) error {
			if err := keepEvidence(tx, s.h.ID, doc, a, b.now); err != nil {
				return err
			}
			return s.write(tx, b.now, a.entry.Seq)
		}
		return nil
	}
	return o
}

// keepEvidence keeps the confirmation of an act beside what it is about, too: it goes with every export.
func keepEvidence(tx *store.Tx, id string, doc *sow.Document, a *act, now int64) error {
	if len(a.answer.Evidence) == 0 {
		return nil
	}
	return tx.PutSoWRecord(store.SoWRecord{
		Engagement: id, SHA256: agreement.SHA256(a.answer.Evidence), Kind: string(agreement.RecordConfirmation), Digest: doc.Digest(), Version: doc.Version(), Raw: a.answer.Evidence, At: now,
		SoWSource: store.SoWSource{Source: "own"}, Own: true, Seq: a.entry.Seq,
	})
}

func (s *sealing) write(tx *store.Tx, now int64, seq uint64) error {
	id, doc := s.h.ID, s.x.Doc
	if err := tx.PutSoWCopy(store.SoWCopy{
		Engagement: id, SHA256: agreement.SHA256(s.made), Digest: doc.Digest(), Version: doc.Version(), Raw: s.made, At: now, SoWSource: store.SoWSource{Source: "own"},
	}); err != nil {
		return err
	}
	if err := tx.PutSoWFact(store.SoWFact{Engagement: id, Name: agreement.FactSeat, Key: s.role, Value: strconv.FormatInt(s.seat, 10), At: now}); err != nil {
		return err
	}
	if key := agreement.LanguageKey(doc); key != "" {
		if err := tx.PutSoWFact(store.SoWFact{Name: agreement.FactLanguage, Key: key, Value: doc.Digest(), At: now}); err != nil {
			return err
		}
	}
	if s.move == journal.MovePropose && doc.Version() > 1 {
		if err := tx.PutSoWFact(store.SoWFact{Engagement: id, Name: agreement.FactProposed, Key: doc.Digest(), At: now}); err != nil {
			return err
		}
	}
	moves := []string{"signed"}
	switch {
	case s.agreed && s.move == journal.MoveApprove:
		moves = []string{"signed", "approved"}
	case s.agreed:
		moves = []string{"signed", "agreed"}
	case s.move == journal.MovePropose && doc.Version() > 1:
		moves = []string{"signed", "proposed"}
	case s.move == journal.MovePublish:
		moves = []string{"signed", "published"}
	}
	for _, what := range moves {
		if err := tx.AddSoWMove(store.SoWMove{Engagement: id, At: now, Version: doc.Version(), What: what, By: "us", Seq: seq}); err != nil {
			return err
		}
	}
	return tx.MarkEngagement(id)
}

// codeOf is an outcome that is known before anything is asked.
func codeOf(code, detail string) (Outcome, error) { return Outcome{Code: code, Detail: detail}, nil }

// SignSoW implements [Owner].
func (v ownerView) SignSoW(ctx context.Context, ask Signing) (Outcome, error) {
	d := v.d
	if r := d.decidable(); r != nil {
		return codeOf(r.Code, r.Message)
	}
	h, err := d.held(ask.Engagement)
	if err != nil {
		return Outcome{}, asRefusal(err)
	}
	if h.Role == "" && (ask.Role == sow.Provider || ask.Role == sow.Client) {
		if h, err = d.take(h, ask); err != nil {
			return Outcome{}, asRefusal(err)
		}
	}
	m, ok := h.Move(ask.Move, ask.Digest)
	switch {
	case !ok:
		return codeOf(agreement.CodeNotOpen, "")
	case m.Blocked != "":
		return codeOf(m.Blocked, m.Detail)
	}
	s, code, err := d.sealing(h, ask)
	if err != nil {
		return Outcome{}, asRefusal(err)
	}
	if code != "" {
		return codeOf(code, "")
	}
	c := &behind{}
	err = d.confirmed(ctx, h.ID, "", c, d.sealOp(s, c))
	if errors.Is(err, errChanged) {
		return codeOf(OutcomeChanged, "")
	}
	if err == nil {
		if err := d.signedNow(h, ask.Digest); err != nil {
			return Outcome{}, err
		}
	}
	return outcomeOf(err)
}

// decidable is why nothing can be decided now, or nil.
func (d *Desk) decidable() *Refusal {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.state() {
	case StateOpen:
		return nil
	case StateAway:
		return refuse(CodeAway)
	case StateReadOnly:
		return refuse(CodeReadOnly)
	case StateNone:
		return refuse(CodeNoVault)
	}
	return refuse(CodeLocked)
}

// take notes the role and the seat that the owner chose where nothing fixes them.
func (d *Desk) take(h *held, ask Signing) (*held, error) {
	if _, ok := h.Log.SeatAt(ask.Seat); !ok {
		return nil, refuse(CodeUnknownSeat)
	}
	if err := d.db().Do(func(tx *store.Tx) error {
		return tx.PutSoWFact(store.SoWFact{Engagement: h.ID, Name: agreement.FactSeat, Key: ask.Role, Value: strconv.FormatInt(ask.Seat, 10), At: h.Now})
	}); err != nil {
		return nil, refuse(CodeStoreFailed)
	}
	return d.held(h.ID)
}

// sealing puts together what is signed. The code says what bars it.
func (d *Desk) sealing(h *held, ask Signing) (*sealing, string, error) {
	x := h.By(ask.Digest)
	s := &sealing{h: h, x: x, move: ask.Move, role: h.Role, seat: h.Seat, authority: string(x.View.Needed)}
	if !h.Fixed {
		s.seat = ask.Seat
	}
	seat, ok := h.Log.SeatAt(s.seat)
	if !ok {
		return nil, CodeUnknownSeat, nil
	}
	s.key = seat.Key
	of, digest, formed := h.Formed()
	if formed && x.View.Version == 1 {
		offer, err := d.held(of)
		if err != nil {
			return nil, "", err
		}
		s.offer = offer.By(digest)
		if ask.Move == journal.MoveComplete {
			published, ok := offer.Log.Published(digest)
			if !ok {
				return nil, journal.CodeOfferClosed, nil
			}
			s.role, s.seat, s.key = sow.Provider, published.Seat, published.Key
		}
	}
	switch ask.Move {
	case journal.MovePublish:
		s.role = sow.Provider
	case journal.MoveComplete:
		if s.counterparty, _ = h.Log.Client(x.Doc); s.counterparty == "" {
			return nil, agreement.CodeNotPinned, nil
		}
		s.agreed = true
		s.authority = string(facts.Authority(journal.MoveComplete, x.Doc, nil, h.Log.Floor))
	default:
		if s.role == "" { // both seats are signed by others, or none: the owner says which is theirs
			return nil, CodeUnknownSeat, nil
		}
		if s.counterparty = h.Pins.Of(sow.Other(s.role)); s.counterparty == "" {
			return nil, agreement.CodeNotPinned, nil
		}
		s.agreed = x.View.Seats.Of(sow.Other(s.role)) != nil
	}
	act := agreement.IntentAct(x.View.Version)
	for _, a := range x.Doc.Approvals() {
		if _, ours := h.Log.Ours(a.Key); ours && !h.Log.Approved["0x"+a.SHA256()] {
			s.approval = "0x" + a.SHA256()
		}
	}
	if i, ok := h.Log.Intents[agreement.IntentKey(ask.Digest, act)]; ok {
		f, ok := h.Fact(factIntent, agreement.IntentKey(ask.Digest, act))
		if ok && i.Key != "" {
			s.intent = f.Value
		}
	}
	return s, "", nil
}

// signedNow lets the list and who waits know, and notes what the other side signed while the owner was asked.
func (d *Desk) signedNow(h *held, digest string) error {
	if err := d.relist(h.ID); err != nil {
		return err
	}
	if err := d.followDocument(h.ID, digest); err != nil {
		return err
	}
	if of, _, ok := h.Formed(); ok {
		if err := d.relist(of); err != nil {
			return ignoreUnknown(err)
		}
	}
	return d.answerAsks(h.ID, digest)
}

// Complete implements [Owner].
func (v ownerView) Complete(_ context.Context, f Formation) (agreement.View, error) {
	id, _, err := v.d.form(f, agreement.Source{Kind: "own"})
	if err != nil {
		return agreement.View{}, asRefusal(err)
	}
	return v.Engagement(id)
}

// form completes an offer and keeps the result, unsigned.
func (d *Desk) form(f Formation, from agreement.Source) (id, digest string, err error) {
	chosen := strconv.FormatInt(f.Seat, 10)
	offer, err := d.held(f.Offer)
	if err != nil {
		return "", "", err
	}
	x := offer.By(f.Digest)
	m, ok := offer.Move(agreement.MoveForm, f.Digest)
	switch {
	case !ok:
		return "", "", refuse(agreement.CodeNotOpen)
	case m.Blocked != "":
		r := refuse(m.Blocked)
		r.Message = "The offer cannot be taken up: " + m.Blocked + "."
		if m.Detail != "" {
			r.Message = m.Detail
		}
		return "", "", r
	}
	seat, ok := offer.Log.SeatAt(f.Seat)
	if !ok {
		return "", "", refuse(CodeUnknownSeat)
	}
	if r := sow.DirectedRefusal(x.Doc.Get("parties"), f.Fill.Client.Agent, offer.Now, sow.OfferStatus{}); r != nil {
		return "", "", &Refusal{Code: string(r.Code), Message: r.Message, Remedy: r.Remedy}
	}
	fill := f.Fill
	fill.Approval = nil
	if need := sow.Needed(x.Doc, nil, offer.Log.Floor); need != sow.ByAgent {
		fill.Approval = &sow.Approval{Act: "formation", Authority: string(need), Key: seat.Key, ApprovedAt: span.UTC(offer.Now), Mandate: f.Mandate}
	} else if from.Client != "" {
		chosen = "" // an agent chooses no seat
	}
	doc, err := sow.Instance(x.Doc, fill)
	if err != nil {
		return "", "", refuseWith(CodeMalformed, err.Error())
	}
	id, digest = facts.EngagementID(doc), doc.Digest()
	err = d.keepDocument(doc.Raw(), doc, agreement.Source{Kind: "own", Name: from.Name, Client: from.Client}, true, func(tx *store.Tx, now int64) error {
		return tx.PutSoWFact(store.SoWFact{Engagement: id, Name: agreement.FactSeat, Key: sow.Client, Value: chosen, At: now})
	})
	return id, digest, err
}

// DraftSoW implements [Owner].
func (v ownerView) DraftSoW(_ context.Context, raw []byte) (agreement.Imported, error) {
	d := v.d
	if d.db() == nil {
		return agreement.Imported{}, refuse(CodeNoVault)
	}
	out, _ := agreement.Understand(raw, agreement.RecordSoW)
	if out.Code != "" {
		return out, nil
	}
	doc, err := sow.Parse(raw)
	if err != nil || doc.ID() == "" || doc.Version() == 0 {
		_, out.Findings = sow.Read(raw, sow.Options{Authoring: true})
		out.Code = agreement.CodeNotUnderstood
		return out, nil
	}
	out.Engagement, out.Digest = facts.EngagementID(doc), doc.Digest()
	if err := d.keepDocument(raw, doc, agreement.Source{Kind: "own"}, true, func(tx *store.Tx, now int64) error {
		if !doc.BlankSeat() {
			return nil
		}
		return tx.PutSoWFact(store.SoWFact{Engagement: out.Engagement, Name: agreement.FactSeat, Key: sow.Provider, Value: "", At: now})
	}); err != nil {
		return out, err
	}
	h, err := d.held(out.Engagement)
	if err != nil {
		return out, asRefusal(err)
	}
	out.Findings = h.By(out.Digest).View.Findings
	return out, nil
}

// ActOn implements [Owner].
func (v ownerView) ActOn(ctx context.Context, ask ActAsk) (Outcome, error) {
	d := v.d
	if r := d.decidable(); r != nil {
		return codeOf(r.Code, r.Message)
	}
	h, err := d.held(ask.Engagement)
	if err != nil {
		return Outcome{}, asRefusal(err)
	}
	x := h.By(ask.Digest)
	what := map[sow.ActKind]string{
		sow.Denial: agreement.MoveDeny, sow.Withdrawal: agreement.MoveWithdraw, sow.Termination: agreement.MoveTerminate, sow.Dispute: agreement.MoveDispute, sow.Review: agreement.MoveReview, sow.Probe: agreement.MoveProbe,
		sow.FormationRefusal: agreement.MoveRefuse,
	}[ask.Kind]
	role, seat, key := h.Role, h.Seat, ""
	if ask.Kind == sow.FormationRefusal {
		role = sow.Provider
	}
	if s, ok := h.Log.SeatAt(seat); ok {
		key = s.Key
	}
	m, ok := h.Move(what, ask.Digest)
	probing := ask.Kind == sow.Probe && x != nil && role != "" // before anything is signed (13)
	switch {
	case x == nil || key == "" || !ok && !probing:
		return codeOf(agreement.CodeNotOpen, "")
	case ok && m.Blocked != "":
		return codeOf(m.Blocked, m.Detail)
	}
	if ask.Kind == sow.Dispute && ask.Disputed != nil {
		// What is unsettled is known from records that nobody has signed; only the price that was agreed bars an amount.
		unsettled := ask.Disputed.Amount
		if price, f := x.Doc.Price(); f.OK() && price.Arrangement == money.TimeAndMaterials {
			unsettled = price.Cap
		}
		if f := sow.CheckDispute(ask.Disputed.Amount, unsettled, ask.Cites).First(); f != nil {
			return codeOf(string(f.Code), f.Message)
		}
	}
	act, err := sow.NewAct(sow.ActFields{
		Kind: ask.Kind, SoW: x.Doc.ID(), Version: x.View.Version, Document: x.View.Digest, Role: role, Reason: ask.Reason, Cites: ask.Cites, At: span.UTC(d.clock.Now()),
		Key: key, Ground: ask.Ground, Disputed: ask.Disputed, Inputs: ask.Inputs,
	})
	if err != nil {
		var fault *sow.ActError
		if errors.As(err, &fault) {
			return codeOf(string(fault.Finding.Code), fault.Finding.Message)
		}
		return codeOf(CodeMalformed, "")
	}
	ground := ""
	if ask.Kind == sow.Termination && ask.Ground == journal.Convenience {
		ground = ask.Ground
	}
	c := byClick()
	o := &op{alone: true, anchor: true}
	o.build = func(b *batch) error {
		a, err := b.add(journal.KindSoWActSigned, journal.SoWActSigned{
			Engagement: h.ID, Act: string(ask.Kind), SoW: x.Doc.ID(), Version: x.View.Version, DocumentSHA256: "0x" + x.View.Digest,
			ActSHA256: permit.SHA256(act.Canonical()), Role: role, Seat: seat, Key: key, By: c.by, Ground: ground, Confirmation: c.record,
		})
		if err != nil {
			return err
		}
		c.of(a)
		a.keyed.SoW = &keys.SoWAct{Document: x.Doc.Raw(), Act: act.Bytes()}
		var signed *sow.Act
		a.ready = func() error {
			sig, err := sow.ParseSignature(a.answer.SoWSignature)
			if err == nil {
				signed, err = act.WithSignature(sig)
			}
			return err
		}
		a.write = func(tx *store.Tx) error {
			raw := signed.Bytes()
			if err := keepEvidence(tx, h.ID, x.Doc, a, b.now); err != nil {
				return err
			}
			if err := tx.PutSoWRecord(store.SoWRecord{
				Engagement: h.ID, SHA256: agreement.SHA256(raw), Kind: string(ask.Kind), Digest: x.View.Digest, Version: x.View.Version, Raw: raw, At: b.now,
				SoWSource: store.SoWSource{Source: "own"}, Own: true, Seq: a.entry.Seq,
			}); err != nil {
				return err
			}
			word := map[sow.ActKind]string{
				sow.Denial: "denied", sow.Withdrawal: "withdrawn", sow.Termination: "terminated", sow.Dispute: "disputed", sow.Review: "reviewed", sow.Probe: "probed",
				sow.FormationRefusal: "refused",
			}[ask.Kind]
			if ask.Kind == sow.Denial && ask.Counter {
				word = "countered"
			}
			if err := tx.AddSoWMove(store.SoWMove{Engagement: h.ID, At: b.now, Version: x.View.Version, What: word, By: "us", Seq: a.entry.Seq}); err != nil {
				return err
			}
			if ask.Kind == sow.FormationRefusal {
				if err := tx.DropSoWFact(h.ID, agreement.FactLockedAsk, x.View.Digest); err != nil {
					return err
				}
			}
			return tx.MarkEngagement(h.ID)
		}
		return nil
	}
	if ask.Kind == sow.Termination || ask.Kind == sow.Dispute {
		err = d.confirmed(ctx, h.ID, "", c, o)
	} else {
		err = d.do(o)
	}
	if err == nil {
		if err := d.signedNow(h, ask.Digest); err != nil {
			return Outcome{}, err
		}
	}
	return outcomeOf(err)
}

// AnswerProblem implements [Owner].
func (v ownerView) AnswerProblem(_ context.Context, engagement, sha256, answer string) error {
	d := v.d
	h, err := d.held(engagement)
	if err != nil {
		return asRefusal(err)
	}
	i := slices.IndexFunc(h.Records, func(r store.SoWRecord) bool {
		return r.SHA256 == sha256 && agreement.RecordKind(r.Kind) == agreement.RecordProblem
	})
	if i < 0 {
		return refuse(CodeGone)
	}
	r := h.Records[i]
	switch {
	case answer == agreement.AnswerResolved && r.Answer != agreement.AnswerResolved:
	case answer == agreement.AnswerEscalated && r.Answer == "":
	case answer == agreement.AnswerEscalated && r.Answer == agreement.AnswerEscalated:
		answer = agreement.AnswerTwice
	default:
		return refuse(agreement.CodeNotOpen)
	}
	r.Answer = answer
	if err := d.noteAs(h, h.Newest(), "problem", "problem "+answer, sha256, answer, func(tx *store.Tx, _ int64) error { return tx.PutSoWRecord(r) }); err != nil {
		return err
	}
	return d.relist(engagement)
}

// CloseGrant implements [Owner].
func (v ownerView) CloseGrant(_ context.Context, engagement, input string, closed bool) error {
	d := v.d
	h, err := d.held(engagement)
	if err != nil {
		return asRefusal(err)
	}
	if !slices.ContainsFunc(h.View.ToClose, func(g agreement.GrantToClose) bool { return g.Grant.Name == input }) {
		return refuse(CodeGone)
	}
	value := "open"
	if closed {
		value = "closed"
	}
	if err := d.db().Do(func(tx *store.Tx) error {
		if err := tx.PutSoWFact(store.SoWFact{Engagement: engagement, Name: agreement.FactGrant, Key: input, Value: value, At: h.Now}); err != nil {
			return err
		}
		return tx.AddSoWMove(store.SoWMove{Engagement: engagement, At: h.Now, Version: h.View.Version, What: "grant " + value, By: "us"})
	}); err != nil {
		return refuse(CodeStoreFailed)
	}
	return d.relist(engagement)
}

// DeclineSoW implements [Owner].
func (v ownerView) DeclineSoW(_ context.Context, engagement, digest string) error {
	d := v.d
	asks, err := d.db().SoWAsksOpen(engagement)
	if err != nil {
		return asRefusal(err)
	}
	found := false
	for _, a := range asks {
		if a.Document != digest {
			continue
		}
		found = true
		if err := d.endAsk(a, outcomeDeclined, nil); err != nil {
			return err
		}
	}
	if !found {
		return refuse(CodeGone)
	}
	return d.relist(engagement)
}

// Preauthorise implements [Owner].
func (v ownerView) Preauthorise(ctx context.Context, p agreement.Preauthorisation) (Outcome, error) {
	d := v.d
	if r := d.decidable(); r != nil {
		return codeOf(r.Code, r.Message)
	}
	h, err := d.held(p.Offer)
	if err != nil {
		return Outcome{}, asRefusal(err)
	}
	m, ok := h.Move(agreement.MovePreauthorise, p.Digest)
	x := h.By(p.Digest)
	seat, known := h.Log.SeatAt(p.Seat)
	switch {
	case !ok:
		return codeOf(agreement.CodeNotOpen, "")
	case m.Blocked != "":
		return codeOf(m.Blocked, m.Detail)
	case !known:
		return codeOf(CodeUnknownSeat, "")
	}
	id, err := d.newID("sp_")
	if err != nil {
		return Outcome{}, err
	}
	price, _ := x.Doc.Price()
	row := permit.Preauthorisation{
		Type: permit.TypePreauthorisation, V: 1, ID: id, Client: p.Client, SoW: x.Doc.ID(), Version: x.View.Version, DocumentSHA256: "0x" + p.Digest,
		ProviderKey: h.Pins.Provider, Seat: p.Seat, Key: seat.Key, Agent: p.Party.Agent, Owner: p.Party.Owner, Handle: p.Party.Handle, Organization: p.Party.Organization,
		Currency: price.Currency, MaxCommitted: p.MaxCommitted, Times: p.Times, NotAfter: p.NotAfter, MadeAt: d.clock.Now(),
	}
	body, err := permit.Encode(row)
	if err == nil {
		_, err = permit.ParsePreauthorisation(body)
	}
	if err != nil {
		return codeOf(CodeMalformed, "")
	}
	provider, _ := x.Doc.Party(sow.Provider)
	c := &behind{}
	o := &op{alone: true, anchor: true, build: func(b *batch) error {
		client, refusal := d.led.client(p.Client)
		if refusal != nil {
			return refusal
		}
		pin := d.led.pins[provider.Agent]
		if pin == nil {
			return refuse(agreement.CodeNotPinned)
		}
		a, err := b.add(journal.KindSoWPreauthorised, journal.SoWPreauthorised{
			Preauthorisation: id, Client: p.Client, SoW: row.SoW, Version: row.Version, DocumentSHA256: row.DocumentSHA256, Role: sow.Client, Times: row.Times,
			NotAfter: row.NotAfter, PermitSHA256: permit.SHA256(body), Confirmation: c.record,
		})
		if err != nil {
			return err
		}
		c.of(a)
		a.keyed.SoW = &keys.SoWAct{Document: x.Doc.Raw()}
		a.keyed.Permits = permitsOf([]permitRow{{client.body, client.mac}, {pin.body, pin.mac}, {body, ""}})
		a.ready = func() error { return oneMAC(a) }
		a.write = func(tx *store.Tx) error {
			if err := tx.AddSoWMove(store.SoWMove{Engagement: h.ID, At: b.now, Version: x.View.Version, What: "preauthorised", By: "us", Seq: a.entry.Seq}); err != nil {
				return err
			}
			return tx.PutPermit(store.Permit{Kind: permit.TypePreauthorisation, ID: id, Body: body, MAC: a.answer.MACs[0]})
		}
		a.applied = func() { d.led.allowed[id] = &allowRow{row, body, a.answer.MACs[0]} }
		return nil
	}}
	return outcomeOf(d.confirmed(ctx, h.ID, "", c, o))
}

// EndPreauthorisation implements [Owner].
func (v ownerView) EndPreauthorisation(_ context.Context, id string) error {
	d := v.d
	err := d.do(&op{alone: true, anchor: true, build: func(b *batch) error {
		p, ok := d.led.state.Preauthorisation(id)
		if !ok || p.Ended != "" {
			return refuse(CodeGone)
		}
		_, err := b.add(journal.KindSoWPreauthorisationGone, journal.SoWPreauthorisationEnded{Preauthorisation: id, Reason: "revoked"})
		return err
	}})
	if err != nil {
		return asRefusal(err)
	}
	return nil
}

// --- reading

// Engagements implements [Owner].
func (v ownerView) Engagements(f EngagementFilter) (EngagementPage, error) {
	d := v.d
	var page EngagementPage
	if d.db() == nil {
		return page, nil
	}
	if err := d.freshen(freshenMax); err != nil {
		return page, asRefusal(err)
	}
	q := store.EngagementQuery{Text: strings.ToLower(f.Text), Kind: string(f.Kind), Role: f.Role, Waiting: f.Waiting, Offer: f.Formed, Limit: f.Limit}
	if q.Limit < 1 || q.Limit > MaxPage {
		q.Limit = MaxPage
	}
	for _, s := range f.States {
		q.States = append(q.States, string(s))
	}
	if f.After != "" {
		at, id, ok := cutCursor(f.After)
		if !ok {
			return page, refuse(CodeMalformed)
		}
		q.BeforeAt, q.BeforeID = at, id
	}
	rows, total, err := d.db().Engagements(q)
	if err != nil {
		return page, asRefusal(err)
	}
	page.Total = total
	for _, row := range rows {
		if line, ok := agreement.LineOf(row); ok {
			page.Rows = append(page.Rows, line.Row)
		}
	}
	if len(rows) == q.Limit && q.Limit < total {
		last := rows[len(rows)-1]
		page.Next = strconv.FormatInt(last.At, 10) + " " + last.ID
	}
	return page, nil
}

// freshenMax is how many rows are made anew at one look.
const freshenMax = 64

func cutCursor(s string) (at int64, id string, ok bool) {
	for i := range s {
		if s[i] == ' ' {
			n, err := strconv.ParseInt(s[:i], 10, 64)
			return n, s[i+1:], err == nil
		}
	}
	return 0, "", false
}

// Engagement implements [Owner].
func (v ownerView) Engagement(id string) (agreement.View, error) {
	h, err := v.d.held(id)
	if err != nil {
		return agreement.View{}, asRefusal(err)
	}
	if h.View.Kind == agreement.KindOffer {
		formed, _, err := v.d.db().Engagements(store.EngagementQuery{Offer: id, Limit: 1000})
		if err != nil {
			return agreement.View{}, asRefusal(err)
		}
		for _, row := range formed {
			if row.State == string(sow.Active) {
				h.View.Active++
			}
		}
	}
	return h.View, nil
}

// SoWCopy implements [Owner].
func (v ownerView) SoWCopy(engagement, sha256 string) ([]byte, error) {
	db := v.d.db()
	if db == nil {
		return nil, refuse(CodeNoVault)
	}
	copies, err := db.SoWCopies(engagement)
	if err != nil {
		return nil, asRefusal(err)
	}
	for _, c := range copies {
		if c.SHA256 == sha256 {
			return c.Raw, nil
		}
	}
	records, err := db.SoWRecords(engagement)
	if err != nil {
		return nil, asRefusal(err)
	}
	for _, r := range records {
		if r.SHA256 == sha256 {
			return r.Raw, nil
		}
	}
	return nil, refuse(CodeGone)
}

// CompareSoW implements [Owner].
func (v ownerView) CompareSoW(engagement, old, new string) (agreement.Comparison, error) {
	h, err := v.d.held(engagement)
	if err != nil {
		return agreement.Comparison{}, asRefusal(err)
	}
	a, b := h.By(old), h.By(new)
	if a == nil || b == nil {
		return agreement.Comparison{}, refuse(CodeGone)
	}
	return agreement.Compare(a.Doc, b.Doc), nil
}

// Reminders implements [Owner].
func (v ownerView) Reminders(until int64, limit int) ([]agreement.Reminder, error) {
	d := v.d
	if d.db() == nil {
		return nil, nil
	}
	if err := d.freshen(freshenMax); err != nil {
		return nil, asRefusal(err)
	}
	if limit < 1 || limit > 1000 {
		limit = 1000
	}
	rows, err := d.db().EngagementsDue(until, limit)
	if err != nil {
		return nil, asRefusal(err)
	}
	var out []agreement.Reminder
	now := d.clock.Now()
	for _, row := range rows {
		w, ok := agreement.LineOf(row)
		for _, r := range w.Reminders {
			if ok && r.At <= until {
				r.Due = r.At <= now
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b agreement.Reminder) int { return cmp.Compare(a.At, b.At) })
	return out[:min(len(out), limit)], nil
}
