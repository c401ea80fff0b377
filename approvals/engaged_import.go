package approvals

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vault/approvals/agreement"
	"vault/approvals/facts"
	"vault/approvals/journal"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/store"
	"vault/derive/confirm"
	"vault/derive/jcs"
)

// CheckSoW implements [Owner].
func (v ownerView) CheckSoW(raw []byte) (agreement.Imported, error) { return agreement.Check(raw), nil }

// Import implements [Owner].
func (v ownerView) Import(_ context.Context, raw []byte, kind agreement.RecordKind, from agreement.Source) (agreement.Imported, error) {
	return v.d.bring(raw, kind, from)
}

// bring takes bytes of any kind.
func (d *Desk) bring(raw []byte, kind agreement.RecordKind, from agreement.Source) (agreement.Imported, error) {
	return d.bringPart(raw, kind, from, false)
}

// bringPart takes bytes of any kind; inside a bundle there is no other one.
func (d *Desk) bringPart(raw []byte, kind agreement.RecordKind, from agreement.Source, inside bool) (agreement.Imported, error) {
	if d.db() == nil {
		return agreement.Imported{}, refuse(CodeNoVault)
	}
	if d.db().Mode() != store.ModeReadWrite {
		return agreement.Imported{}, refuse(CodeReadOnly)
	}
	out, value := agreement.Understand(raw, kind)
	if out.Code != "" {
		return out, nil
	}
	switch {
	case out.Kind == agreement.RecordBundle && inside:
		out.Code = agreement.CodeNotUnderstood
		return out, nil
	case out.Kind == agreement.RecordBundle:
		return d.bringBundle(raw, from, out)
	case out.Kind == agreement.RecordSoW:
		return d.bringDocument(raw, from, out)
	}
	return d.bringRecord(raw, value, from, out)
}

// bringBundle takes what is in an export, one by one: the lowest version first, and documents before what is about them.
func (d *Desk) bringBundle(raw []byte, from agreement.Source, out agreement.Imported) (agreement.Imported, error) {
	b, err := bundle.Parse(raw)
	if err != nil {
		out.Code, out.Detail = agreement.CodeNotUnderstood, err.Error()
		return out, nil
	}
	if from.Kind == "agent" && 1+len(b.Versions)+len(b.Confirmations)+len(b.Acts)+len(b.Records) > MaxAgentParts {
		out.Code = CodeTooMany
		return out, nil
	}
	docs := append(slices.Clone(b.Versions), b.Document)
	slices.SortStableFunc(docs, func(x, y []byte) int { return cmp.Compare(agreement.VersionOf(x), agreement.VersionOf(y)) })
	take := func(part []byte, kind agreement.RecordKind) error {
		x, err := d.bringPart(part, kind, from, true)
		out.Inside = append(out.Inside, x)
		if kind == agreement.RecordSoW && x.Engagement != "" {
			out.Engagement, from.Engagement = x.Engagement, x.Engagement
			if string(part) == string(b.Document) {
				out.Digest, out.Findings = x.Digest, x.Findings
			}
		}
		return err
	}
	for _, part := range docs {
		if err := take(part, agreement.RecordSoW); err != nil {
			return out, err
		}
	}
	for _, part := range append(slices.Clone(b.Confirmations), b.Acts...) {
		if err := take(part, ""); err != nil {
			return out, err
		}
	}
	for _, r := range b.Records {
		if err := take(r.Raw, agreement.RecordKind(r.Kind)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// fullFor says whether agents have brought so much of an engagement that so many bytes more are not taken from one: everything that is
// kept of it is read for every look at it, and has to fit into one export.
func (d *Desk) fullFor(from agreement.Source, engagement string, more int) (bool, error) {
	if from.Kind != "agent" {
		return false, nil
	}
	size, err := d.db().SoWKeptOf(engagement, from.Kind)
	if err != nil {
		return false, asRefusal(err)
	}
	return size+int64(more) > MaxAgentBytes, nil
}

// blockedIn says whether a document names a key that is refused here.
func (d *Desk) blockedIn(doc *sow.Document) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.led.state
	for _, role := range []string{sow.Provider, sow.Client, "offered_to"} {
		if p, ok := doc.Party(role); ok && st.SoWBlocked(p.Agent) {
			return true
		}
	}
	return slices.ContainsFunc(doc.Signatures(), func(r sow.Record) bool { return st.SoWBlocked(r.Key) })
}

// bringDocument keeps a document, byte for byte, and lets follow what follows from it.
func (d *Desk) bringDocument(raw []byte, from agreement.Source, out agreement.Imported) (agreement.Imported, error) {
	doc, err := sow.Parse(raw)
	if err != nil {
		_, out.Findings = sow.Read(raw, sow.Options{})
		out.Code = agreement.CodeNotUnderstood
		return out, nil
	}
	out.Digest, out.Engagement = doc.Digest(), facts.EngagementID(doc)
	provider, ok := doc.Party(sow.Provider)
	switch {
	case doc.ID() == "" || len(doc.ID()) > 256 || doc.Version() == 0 || !ok || provider.Agent == "":
		// What names no engagement can be read, and not be kept.
		_, out.Findings = sow.Read(raw, sow.Options{})
		out.Code, out.Engagement = agreement.CodeNotUnderstood, ""
		return out, nil
	case d.blockedIn(doc):
		out.Code = journal.CodeBlockedLocally
		return out, nil
	}
	h, err := d.held(out.Engagement)
	known := err == nil
	if err != nil && asRefusal(err).Code != CodeUnknownEngagement {
		return out, err
	}
	fresh := true
	if known {
		x := h.By(out.Digest)
		fresh = x == nil
		if x != nil && slices.ContainsFunc(x.View.Copies, func(c agreement.CopyView) bool { return c.SHA256 == out.SHA256 }) {
			out.Again, out.Findings = true, x.View.Findings
			return out, nil
		}
		if from.Kind == "agent" && (x == nil && len(h.Docs) >= MaxAgentDocuments || x != nil && len(x.View.Copies) >= MaxAgentCopies) {
			out.Code = CodeTooMany
			return out, nil
		}
		if f := (*sow.Finding)(nil); x == nil && h.InForce != nil {
			if f = sow.CheckVersion(doc, h.InForce.View.Version, nil); f != nil {
				out.Code, out.Findings = string(f.Code), sow.Findings{*f}
				return out, nil
			}
		}
	}
	if full, err := d.fullFor(from, out.Engagement, len(raw)); err != nil || full {
		out.Code = CodeTooMany
		return out, err
	}
	if err := d.keepDocument(raw, doc, from, fresh, nil); err != nil {
		return out, err
	}
	if err := d.followDocument(out.Engagement, out.Digest); err != nil {
		return out, err
	}
	if h, err = d.held(out.Engagement); err != nil {
		return out, err
	}
	if x := h.By(out.Digest); x != nil {
		out.Findings = x.View.Findings
	}
	return out, nil
}

// keepDocument writes a copy with what goes with it.
func (d *Desk) keepDocument(raw []byte, doc *sow.Document, from agreement.Source, fresh bool, also func(*store.Tx, int64) error) error {
	id, digest, now := facts.EngagementID(doc), doc.Digest(), d.clock.Now()
	offer, offerDigest, err := d.offerOf(doc)
	if err != nil {
		return asRefusal(err)
	}
	first, err := d.db().SoWFactsNamed(agreement.FactLanguage, agreement.LanguageKey(doc))
	if err != nil {
		return asRefusal(err)
	}
	what, by := "imported", "them"
	if from.Kind == "own" {
		what, by = "drafted", "us"
	} else if from.Kind == "agent" {
		by = from.Client
	}
	err = d.db().Do(func(tx *store.Tx) error {
		if err := tx.PutSoWCopy(store.SoWCopy{
			Engagement: id, SHA256: agreement.SHA256(raw), Digest: digest, Version: doc.Version(), Raw: raw, At: now, SoWSource: store.SoWSource{Source: from.Kind, Name: clip(from.Name, 1024), Client: from.Client},
		}); err != nil {
			return err
		}
		if fresh {
			if err := tx.PutSoWFact(store.SoWFact{Engagement: id, Name: agreement.FactProposed, Key: digest, At: now}); err != nil {
				return err
			}
			if key := agreement.LanguageKey(doc); key != "" && len(first) == 0 {
				if err := tx.PutSoWFact(store.SoWFact{Name: agreement.FactLanguage, Key: key, Value: digest, At: now}); err != nil {
					return err
				}
			}
			if offer != "" {
				for key, value := range map[string]string{"of": offer, "digest": offerDigest} {
					if err := tx.PutSoWFact(store.SoWFact{Engagement: id, Name: agreement.FactFormed, Key: key, Value: value, At: now}); err != nil {
						return err
					}
				}
			}
		}
		if err := tx.AddSoWMove(store.SoWMove{Engagement: id, At: now, Version: doc.Version(), What: what, By: by}); err != nil {
			return err
		}
		if also != nil {
			return also(tx, now)
		}
		return nil
	})
	if err != nil {
		return refuse(CodeStoreFailed)
	}
	if fresh {
		d.mu.Lock()
		d.sowTurn[id]++
		d.mu.Unlock()
	}
	return d.relist(id)
}

// offerOf finds the offer that a version 1 completes: the one it names, by the same provider, whose terms are its own.
func (d *Desk) offerOf(doc *sow.Document) (engagement, digest string, err error) {
	from := doc.Get("derived_from")
	if doc.Version() != 1 || doc.BlankSeat() || from.Get("standing_proposal").Text() == "" {
		return "", "", nil
	}
	version, _ := from.Get("version").Int()
	provider, _ := doc.Party(sow.Provider)
	id := journal.EngagementID(from.Get("standing_proposal").Text(), provider.Agent, "")
	copies, err := d.db().SoWCopies(id)
	if err != nil {
		return "", "", err
	}
	for _, c := range copies {
		offer, err := sow.Parse(c.Raw)
		if err == nil && c.Version == version && offer.BlankSeat() && sow.CheckInstance(offer, doc).OK() {
			return id, c.Digest, nil
		}
	}
	return "", "", nil
}

// followDocument lets follow what a document that came makes happen: the other seat has signed what we signed, or asks to form under an
// offer of ours.
func (d *Desk) followDocument(id, digest string) error {
	h, err := d.held(id)
	if err != nil {
		return err
	}
	x := h.By(digest)
	if x == nil {
		return nil
	}
	logged := h.Log.Document(digest)
	if x.View.Seats.Agreed() && logged.Role != "" && !logged.Agreed && logged.Closed == "" {
		what := "agreed"
		if x.View.Version > 1 {
			what = "approved"
		}
		if err := d.noteAs(h, x.View, "agreed", what, "", "", nil); err != nil {
			return err
		}
		if err := d.relist(id); err != nil {
			return err
		}
	}
	return d.completeByOffer(h, x)
}

// completeByOffer completes a request to form under a published offer of ours: publishing it was the decision. What bars it is kept
// beside the request, which then waits for the owner.
func (d *Desk) completeByOffer(h *held, x *agreement.Document) error {
	of, offerDigest, ok := h.Formed()
	if !ok || x.Signed || x.Closed != "" || x.View.Version != 1 {
		return nil
	}
	offer, err := d.held(of)
	if err != nil {
		return ignoreUnknown(err)
	}
	published, ok := offer.Log.Published(offerDigest)
	if !ok {
		return nil
	}
	key, asked := h.Log.Client(x.Doc)
	why := ""
	switch {
	case !asked:
		return nil // nobody asks yet
	case key == "":
		err = refuse(agreement.CodeNotPinned)
	case x.View.Findings.Refused("handle_rehomed"):
		err = refuse("handle_rehomed")
	case h.Backdated(x) != nil:
		err = refuse(string(h.Backdated(x).Code))
	default:
		err = d.do(d.sealOp(&sealing{
			h: h, x: x, move: journal.MoveComplete, role: sow.Provider, seat: published.Seat, key: published.Key, counterparty: key, offer: offer.By(offerDigest),
			authority: string(facts.Authority(journal.MoveComplete, x.Doc, nil, h.Log.Floor)), agreed: true,
		}, &behind{by: "offer"}))
	}
	if err != nil {
		r := asRefusal(err)
		why = r.Code
		if why == CodeTwiceFormed {
			return nil
		}
		if why == CodeLocked || why == CodeKeysEnded || why == CodeAway {
			why = CodeLocked
			d.requestsDue.Store(true)
		}
	}
	if err := d.db().Do(func(tx *store.Tx) error {
		if why == "" {
			return tx.DropSoWFact(h.ID, agreement.FactLockedAsk, x.View.Digest)
		}
		return tx.PutSoWFact(store.SoWFact{Engagement: h.ID, Name: agreement.FactLockedAsk, Key: x.View.Digest, Value: why, At: d.clock.Now()})
	}); err != nil {
		return refuse(CodeStoreFailed)
	}
	return d.relist(h.ID, offer.ID)
}

// CodeTwiceFormed is [journal.CodeTwiceFormed].
const CodeTwiceFormed = journal.CodeTwiceFormed

func ignoreUnknown(err error) error {
	if asRefusal(err).Code == CodeUnknownEngagement {
		return nil
	}
	return err
}

// bringRecord keeps anything but a document under its engagement.
func (d *Desk) bringRecord(raw []byte, v jcs.Value, from agreement.Source, out agreement.Imported) (agreement.Imported, error) {
	ids, digest, version, err := d.belongs(raw, v, from, out.Kind)
	if err != nil {
		return out, asRefusal(err)
	}
	if len(ids) == 0 {
		out.Code = agreement.CodeNoEngagement
		return out, nil
	}
	out.Engagement = ids[0]
	for _, id := range ids {
		before, err := d.db().SoWRecords(id)
		if err != nil {
			return out, asRefusal(err)
		}
		if slices.ContainsFunc(before, func(r store.SoWRecord) bool { return r.SHA256 == out.SHA256 }) {
			out.Again = true
			continue
		}
		full, err := d.fullFor(from, id, len(raw))
		if err != nil || full || from.Kind == "agent" && len(before) >= MaxAgentRecords {
			out.Code = CodeTooMany
			return out, err
		}
		now := d.clock.Now()
		r := store.SoWRecord{
			Engagement: id, SHA256: out.SHA256, Kind: string(out.Kind), Digest: digest, Version: version, Raw: raw, At: now,
			SoWSource: store.SoWSource{Source: from.Kind, Name: clip(from.Name, 1024), Client: from.Client},
		}
		by := "them"
		if from.Kind == "agent" {
			by = from.Client
		}
		if err := d.db().Do(func(tx *store.Tx) error {
			if err := tx.PutSoWRecord(r); err != nil {
				return err
			}
			return tx.AddSoWMove(store.SoWMove{Engagement: id, At: now, Version: version, What: "brought " + string(out.Kind), By: by, Claimed: true})
		}); err != nil {
			return out, refuse(CodeStoreFailed)
		}
		if err := d.followAct(id, r); err != nil {
			return out, err
		}
		if err := d.relist(id); err != nil {
			return out, err
		}
	}
	h, err := d.held(out.Engagement)
	if err != nil {
		return out, asRefusal(err)
	}
	for _, x := range h.View.Records {
		if x.SHA256 == out.SHA256 {
			out.Findings, out.Detail = x.Findings, x.Ignored
			if x.Dispute != "" && !x.Findings.Has(sow.Code(x.Dispute)) {
				out.Detail = string(x.Dispute)
			}
		}
	}
	return out, nil
}

// belongs finds the engagements that something is about: what its own bytes name, or the page it was dropped on.
func (d *Desk) belongs(raw []byte, v jcs.Value, from agreement.Source, kind agreement.RecordKind) (ids []string, digest string, version int64, err error) {
	db := d.db()
	byDigest := func(name string) error {
		c, err := db.SoWCopyOf(name)
		if err == nil {
			ids, digest, version = []string{c.Engagement}, c.Digest, c.Version
		}
		return ignoreMissing(err)
	}
	byName := func(name string) error {
		rows, err := db.EngagementsOf(name)
		if err == nil && name != "" && len(rows) == 1 {
			ids = []string{rows[0].ID}
		}
		return err
	}
	byKey := func(key string, fits func(agreement.Row) bool) error {
		rows, _, err := db.Engagements(store.EngagementQuery{Text: strings.ToLower(key), Limit: 64})
		for _, row := range rows {
			if line, ok := agreement.LineOf(row); ok && key != "" && fits(line.Row) {
				ids = append(ids, row.ID)
			}
		}
		return err
	}
	switch kind {
	case agreement.RecordConfirmation:
		e, perr := confirm.ParseEvidence(raw)
		if perr == nil {
			err = byDigest(e.Record().Context().Fields().Digest)
		}
	case agreement.RecordManifest:
		err = byKey(v.Get("agent").Text(), func(r agreement.Row) bool { return r.Provider.Agent == v.Get("agent").Text() })
	case agreement.RecordCard:
		card, perr := confirm.ParseOwnerCard(raw)
		if perr == nil {
			for _, s := range card.Fields().Seats {
				if err == nil {
					err = byKey(s.Key, func(agreement.Row) bool { return true })
				}
			}
		}
	case agreement.RecordJobManifest:
		err = byKey(v.Get("agent").Text(), func(r agreement.Row) bool {
			return r.Provider.Agent == v.Get("agent").Text() && r.Kind == agreement.KindEngagement
		})
		if len(ids) > 1 {
			ids = nil // which of them it is for, its bytes do not say
		}
	default:
		if _, ok := sow.ActKind(kind).Tag(); ok {
			err = byDigest(v.Get("document_sha256").Text())
		}
		for _, name := range []string{"engagement", "sow"} {
			if err == nil && len(ids) == 0 {
				err = byName(v.Get(name).Text())
			}
		}
	}
	if err != nil {
		return nil, "", 0, err
	}
	if len(ids) == 0 && from.Engagement != "" {
		if _, err := db.Engagement(from.Engagement); err != nil {
			return nil, "", 0, ignoreMissing(err)
		}
		ids = []string{from.Engagement}
	}
	slices.Sort(ids)
	return slices.Compact(ids), digest, version, nil
}

// followAct notes what an act of the other owner's takes away, once it is verified by the pinned key.
func (d *Desk) followAct(id string, r store.SoWRecord) error {
	h, err := d.held(id)
	if err != nil {
		return asRefusal(err)
	}
	f := h.Act(r)
	if f == nil || h.Role == f.Role && h.Fixed {
		return nil
	}
	x := h.By(f.Document)
	what := ""
	switch f.Kind {
	case sow.Denial:
		// Only our own proposal is theirs to deny.
		if x.Signed && !x.View.Seats.Agreed() {
			what = "denied"
		}
	case sow.Withdrawal:
		if x.Theirs && !x.View.Seats.Agreed() {
			what = "withdrawn"
		}
	case sow.Termination:
		_, noticed := x.Doc.ConvenienceNotice()
		if cause := f.Ground != journal.Convenience; x.View.Seats.Agreed() && (cause && !h.Log.Over || noticed && !h.Log.Terminated) {
			what = "terminated"
		}
	case sow.FormationRefusal:
		if !x.View.Seats.Agreed() {
			what = "refused"
		}
	}
	if what == "" || x.Closed != "" && what != "terminated" {
		return nil
	}
	return d.note(h, x.View, what, r.SHA256, f.Ground, nil)
}
