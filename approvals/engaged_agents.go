package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"vault/approvals/agreement"
	"vault/approvals/journal"
	"vault/approvals/sow"
	"vault/approvals/sow/bundle"
	"vault/approvals/sow/span"
	"vault/approvals/store"
	"vault/derive/jcs"
)

const methodSoWSubmit = "sow.submit"

// Moves that an agent may ask for. A person decides, or for "form" a pre-authorisation.
var agentMoves = []string{"", agreement.MoveForm, journal.MoveCountersign, journal.MoveApprove}

// broughtResult is what an agent is told of what it brought.
type broughtResult struct {
	Outcome    string               `json:"outcome,omitempty"`
	Engagement string               `json:"engagement,omitempty"`
	Kind       agreement.RecordKind `json:"kind,omitempty"`
	SHA256     string               `json:"sha256,omitempty"`
	Digest     string               `json:"digest,omitempty"`
	Code       string               `json:"code,omitempty"`
	Detail     string               `json:"detail,omitempty"`
	Findings   sow.Findings         `json:"findings,omitempty"` // the first of them
	LeftOut    int                  `json:"findings_left_out,omitempty"`
	Bundle     json.RawMessage      `json:"bundle,omitempty"`
	Act        json.RawMessage      `json:"act,omitempty"`
}

// maxFindingsTold is how many findings an agent is told, since the answer is kept.
const maxFindingsTold = 128

func resultOf(in agreement.Imported) broughtResult {
	told := in.Findings[:min(len(in.Findings), maxFindingsTold)]
	return broughtResult{
		Engagement: in.Engagement, Kind: in.Kind, SHA256: in.SHA256, Digest: in.Digest, Code: in.Code, Detail: in.Detail, Findings: told, LeftOut: len(in.Findings) - len(told),
	}
}

// ParseFill reads how an offer is to be completed: {"client":{"agent","owner","handle"?,"organization"?},"starts_at","ends_at"?,
// "locations"?:{input:address},"assertions"?:[…]}, instants in RFC 3339. Other members are refused.
func ParseFill(raw []byte) (*sow.Fill, error) {
	v, err := jcs.Parse(raw, jcs.SoW)
	if err != nil {
		return nil, err
	}
	bad := errors.New("parse fill: it is not how an offer is completed")
	text := func(v jcs.Value) (string, bool) { return v.Text(), !v.Exists() || v.Kind() == jcs.String }
	c := v.Get("client")
	fill := &sow.Fill{}
	ok := v.Kind() == jcs.Object && c.Kind() == jcs.Object && v.Get("starts_at").Exists()
	for m := range v.Members() {
		ok = ok && slices.Contains([]string{"client", "starts_at", "ends_at", "locations", "assertions"}, m.Name)
	}
	for m := range c.Members() {
		ok = ok && slices.Contains([]string{"agent", "owner", "handle", "organization"}, m.Name)
	}
	for name, to := range map[string]*string{"agent": &fill.Client.Agent, "owner": &fill.Client.Owner, "handle": &fill.Client.Handle, "organization": &fill.Client.Organization} {
		s, is := text(c.Get(name))
		*to, ok = s, ok && is
	}
	for name, to := range map[string]*int64{"starts_at": &fill.StartsAt, "ends_at": &fill.EndsAt} {
		if w := v.Get(name); ok && w.Exists() {
			*to, err = span.Instant(w.Text())
			ok = err == nil && w.Kind() == jcs.String
		}
	}
	if w := v.Get("locations"); ok && w.Exists() {
		ok = w.Kind() == jcs.Object
		fill.Locations = map[string]string{}
		for m := range w.Members() {
			s, is := text(m.Value)
			fill.Locations[m.Name], ok = s, ok && is
		}
	}
	if w := v.Get("assertions"); ok && w.Exists() {
		ok = w.Kind() == jcs.Array
		for _, x := range w.Items() {
			s, is := text(x)
			fill.Assertions, ok = append(fill.Assertions, s), ok && is
		}
	}
	if !ok {
		return nil, bad
	}
	return fill, nil
}

// SoWSubmit implements [Conversation].
func (c *conversation) SoWSubmit(ctx context.Context, ask SoWAsk) (Answer, error) {
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	return c.d.sowSubmit(ctx, client, ask)
}

func (d *Desk) sowSubmit(ctx context.Context, client string, ask SoWAsk) (Answer, error) {
	switch {
	case !validID(ask.RequestID, false) || !validID(ask.Session, true):
		return Answer{}, refuseWith(CodeMalformed, "request id and session are at most 128 bytes of text without control characters")
	case !slices.Contains(agentMoves, ask.Move) || (ask.Move == agreement.MoveForm) != (ask.Fill != nil) || (ask.Intent == "") != (ask.IntentKey == ""):
		return Answer{}, refuseWith(CodeMalformed, "move, fill and intent do not fit each other")
	case ask.Move != "" && ask.Kind != "" && ask.Kind != agreement.RecordSoW, ask.Kind == agreement.RecordIntent:
		return Answer{}, refuseWith(CodeMalformed, "only a document is asked for a signature")
	}
	more := mustJSON(struct {
		Kind   agreement.RecordKind
		Move   string
		Fill   *sow.Fill
		Intent [2]string
	}{ask.Kind, ask.Move, ask.Fill, [2]string{ask.Intent, ask.IntentKey}})
	digest := journal.AskDigest(methodSoWSubmit, ask.Session, ask.Document, more)
	d.mu.Lock()
	refusal := d.gateClient(client)
	d.mu.Unlock()
	if refusal != nil {
		return Answer{}, refusal
	}
	row, err := d.db().SoWAsk(client, ask.RequestID)
	switch {
	case err == nil && row.Digest != digest:
		return Answer{}, refuse(CodeRequestIDReused)
	case err == nil:
		return d.waitAsk(ctx, row)
	case !errors.Is(err, store.ErrNotFound):
		return Answer{}, refuse(CodeStoreFailed)
	}
	d.mu.Lock()
	refusal = d.takeToken(d.led.clients[client])
	d.useSession(client, ask.Session)
	d.mu.Unlock()
	if refusal != nil {
		return Answer{}, refusal
	}
	if brought, asks, size, err := d.db().SoWKeptFor(client); err != nil {
		return Answer{}, refuse(CodeStoreFailed)
	} else if brought >= MaxClientKept || asks >= MaxClientAsks || size+int64(len(ask.Document)) > MaxClientBytes {
		return Answer{}, refuse(CodeTooMany)
	}
	if ask.Move != "" {
		open, err := d.db().SoWAsksOpen("")
		if err != nil {
			return Answer{}, refuse(CodeStoreFailed)
		}
		n := 0
		for _, a := range open {
			if a.Client == client {
				n++
			}
		}
		if n >= MaxClientSoWs {
			return Answer{}, refuseAfter(CodeTooMany, queueFullMS)
		}
	}
	row = store.SoWAsk{Client: client, Request: ask.RequestID, Digest: digest, Move: ask.Move, Session: ask.Session, At: d.clock.Now()}
	return d.admitSoW(ctx, row, ask)
}

// admitSoW brings what an agent submits, and lets it wait where a signature is asked for.
func (d *Desk) admitSoW(ctx context.Context, row store.SoWAsk, ask SoWAsk) (Answer, error) {
	d.submitting.Lock()
	in, err := d.bring(ask.Document, ask.Kind, agreement.Source{Kind: "agent", Name: ask.Session, Client: row.Client})
	if err != nil {
		d.submitting.Unlock()
		return Answer{}, asRefusal(err)
	}
	result := resultOf(in)
	row.Engagement, row.Document = in.Engagement, in.Digest
	var refusal *Refusal
	if in.Code == "" {
		if ask.Intent != "" {
			refusal = d.bringIntent(row.Client, in, ask)
		}
		if refusal == nil && ask.Move == agreement.MoveForm {
			refusal = d.formForAgent(&row, &result, in, ask)
		}
		if refusal != nil {
			result.Code, result.Detail = refusal.Code, refusal.Message
		}
	}
	if ask.Move == "" || result.Code != "" || result.Outcome != "" {
		row.Result = mustJSON(result)
	}
	err = d.db().Do(func(tx *store.Tx) error { return tx.PutSoWAsk(row) })
	d.submitting.Unlock()
	if err != nil {
		return Answer{}, refuse(CodeStoreFailed)
	}
	if row.Engagement != "" {
		if err := d.relist(row.Engagement); err != nil {
			return Answer{}, err
		}
	}
	return d.waitAsk(ctx, row)
}

// bringIntent keeps the agent's part of agent_then_person: over these bytes, by the key of the agent on our seat.
func (d *Desk) bringIntent(client string, in agreement.Imported, ask SoWAsk) *Refusal {
	h, err := d.held(in.Engagement)
	if err != nil {
		return asRefusal(err)
	}
	x := h.By(in.Digest)
	if x == nil {
		return refuse(agreement.CodeNoEngagement)
	}
	if h.Role == "" {
		return &Refusal{Code: CodeUnknownSeat, Message: "Nothing says yet which seat of the document is the owner's.", Remedy: "Bring it again once the owner has said so."}
	}
	act := agreement.IntentAct(x.View.Version)
	if p, ok := x.Doc.Party(h.Role); !ok || p.Agent != ask.IntentKey || !x.Doc.VerifyIntent(act, ask.IntentKey, ask.Intent) {
		return &Refusal{Code: "signature_invalid", Message: "The intent is not signed by the agent on our seat over this document.", Remedy: "Sign the message that sow.status gives."}
	}
	err = d.do(&op{build: func(b *batch) error {
		if _, ok := d.led.state.SoWIntent("0x"+in.Digest, act); ok {
			return nil
		}
		a, err := b.add(journal.KindSoWIntent, journal.SoWIntent{Engagement: h.ID, DocumentSHA256: "0x" + in.Digest, Act: act, Key: ask.IntentKey, Sig: ask.Intent, Client: client})
		if err != nil {
			return err
		}
		a.write = func(tx *store.Tx) error {
			if err := tx.PutSoWFact(store.SoWFact{Engagement: h.ID, Name: factIntent, Key: agreement.IntentKey(in.Digest, act), Value: ask.Intent, At: b.now, Seq: a.entry.Seq}); err != nil {
				return err
			}
			return tx.AddSoWMove(store.SoWMove{Engagement: h.ID, At: b.now, Version: x.View.Version, What: "intent", By: client, Seq: a.entry.Seq})
		}
		return nil
	}})
	if err != nil {
		return asRefusal(err)
	}
	return nil
}

// formForAgent completes an offer for an agent: signed at once under a pre-authorisation, else kept for the owner.
func (d *Desk) formForAgent(row *store.SoWAsk, result *broughtResult, in agreement.Imported, ask SoWAsk) *Refusal {
	offer, err := d.held(in.Engagement)
	if err != nil {
		return asRefusal(err)
	}
	seat := int64(0)
	allowed := d.allowedFor(row.Client, in.Digest)
	if allowed != nil {
		seat = allowed.permit.Seat
	}
	fill := *ask.Fill
	fill.Approval = nil
	id, digest, err := d.form(Formation{Offer: in.Engagement, Digest: in.Digest, Seat: seat, Fill: fill}, agreement.Source{Name: ask.Session, Client: row.Client})
	if err != nil {
		return asRefusal(err)
	}
	row.Engagement, row.Document = id, digest
	result.Engagement, result.Digest = id, digest
	if allowed == nil {
		return nil
	}
	h, err := d.held(id)
	if err != nil {
		return asRefusal(err)
	}
	x := h.By(digest)
	if code, detail := h.Barred(x, journal.MoveCountersign); code != "" && code != "no_passkey" {
		return &Refusal{Code: code, Message: detail}
	}
	key, ok := offer.Log.SeatAt(seat)
	if !ok {
		return refuse(CodeUnknownSeat)
	}
	err = d.do(d.sealOp(&sealing{
		h: h, x: x, move: journal.MoveCountersign, role: sow.Client, seat: seat, key: key.Key, counterparty: allowed.permit.ProviderKey, offer: offer.By(in.Digest),
		allowed: allowed, client: row.Client, authority: string(x.View.Needed),
	}, &behind{by: "preauthorised"}))
	if err != nil {
		// What it does not cover is for the owner to decide.
		return nil
	}
	if err := d.relist(id, in.Engagement); err != nil {
		return asRefusal(err)
	}
	raw, err := d.bundleOf(id, digest, false)
	if err != nil {
		return asRefusal(err)
	}
	result.Outcome, result.Bundle = "signed", raw
	return nil
}

// allowedFor is a pre-authorisation of this client and offer that has something left, in order of ids.
func (d *Desk) allowedFor(client, digest string) *allowRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.led.state.Preauthorisations() {
		if p.Client == client && agreement.Bare(p.DocumentSHA256) == digest && p.Ended == "" && p.Used < p.Times && d.clock.Now() <= p.NotAfter {
			return d.led.allowed[p.ID]
		}
	}
	return nil
}

// waitAsk waits until something came of what an agent asks for.
func (d *Desk) waitAsk(ctx context.Context, row store.SoWAsk) (Answer, error) {
	limit := time.NewTimer(d.o.Await)
	defer limit.Stop()
	for {
		d.mu.Lock()
		gate, stir := d.gate, d.sowStir
		d.mu.Unlock()
		now, err := d.db().SoWAsk(row.Client, row.Request)
		if err != nil {
			return Answer{}, refuse(CodeStoreFailed)
		}
		if len(now.Result) == 0 {
			// The desk may have been killed between the signature and the answer.
			if err := d.answerAsks(now.Engagement, now.Document); err != nil {
				return Answer{}, asRefusal(err)
			}
			if now, err = d.db().SoWAsk(row.Client, row.Request); err != nil {
				return Answer{}, refuse(CodeStoreFailed)
			}
		}
		if len(now.Result) > 0 {
			return Answer{Result: now.Result}, nil
		}
		select {
		case <-stir:
		case <-gate:
			return Answer{}, refuse(CodeLocked)
		case <-ctx.Done():
			return Answer{Pending: row.Request}, nil
		case <-limit.C:
			return Answer{Pending: row.Request}, nil
		}
	}
}

// answerAsks answers the agents that wait for something about a version, if it came.
func (d *Desk) answerAsks(id, digest string) error {
	asks, err := d.db().SoWAsksOpen(id)
	if err != nil || len(asks) == 0 {
		return err
	}
	h, err := d.held(id)
	if err != nil {
		return err
	}
	x := h.By(digest)
	if x == nil {
		return nil
	}
	outcome, result := "", broughtResult{}
	switch {
	case x.Signed:
		outcome = "signed"
		if result.Bundle, err = d.bundleOf(id, digest, false); err != nil {
			return err
		}
	case x.Closed != "":
		outcome = x.Closed
		for _, r := range h.Records {
			if r.Own && r.Digest == digest && (agreement.RecordKind(r.Kind) == agreement.RecordDenial || agreement.RecordKind(r.Kind) == agreement.RecordRefusal) {
				result.Act = r.Raw
			}
		}
	case x.View.Outcome == "lapsed":
		outcome = "lapsed"
	default:
		return nil
	}
	for _, a := range asks {
		if a.Document == digest {
			if err := d.endAsk(a, outcome, &result); err != nil {
				return err
			}
		}
	}
	return nil
}

// endAsk keeps what came of an ask and wakes who waits for it.
func (d *Desk) endAsk(a store.SoWAsk, outcome string, result *broughtResult) error {
	if result == nil {
		result = &broughtResult{}
	}
	r := *result
	r.Outcome, r.Engagement, r.Digest = outcome, a.Engagement, a.Document
	a.Result = mustJSON(r)
	if err := d.db().Do(func(tx *store.Tx) error { return tx.PutSoWAsk(a) }); err != nil {
		return refuse(CodeStoreFailed)
	}
	d.mu.Lock()
	close(d.sowStir)
	d.sowStir = make(chan struct{})
	d.mu.Unlock()
	return d.relist(a.Engagement)
}

// brought reads an engagement for a client, and which of its documents the client may see: all of them for who brought one that this
// vault has signed, else those it brought itself. Who only names an engagement, or brings something about it, is told of none.
func (c *conversation) brought(engagement string) (*held, []*agreement.Document, *Refusal) {
	client, refusal := c.who()
	if refusal != nil {
		return nil, nil, refusal
	}
	d := c.d
	d.mu.Lock()
	refusal = d.gateClient(client)
	d.mu.Unlock()
	if refusal != nil {
		return nil, nil, refusal
	}
	digests, err := d.db().SoWBroughtBy(client, engagement)
	if err != nil {
		return nil, nil, refuse(CodeStoreFailed)
	}
	if len(digests) == 0 {
		return nil, nil, refuse(CodeUnknownEngagement)
	}
	h, err := d.held(engagement)
	if err != nil {
		return nil, nil, asRefusal(err)
	}
	var may []*agreement.Document
	for _, x := range h.Docs {
		if !slices.Contains(digests, x.View.Digest) {
			continue
		}
		if x.Signed {
			return h, h.Docs, nil
		}
		may = append(may, x)
	}
	if len(may) == 0 {
		return nil, nil, refuse(CodeUnknownEngagement)
	}
	return h, may, nil
}

// SoWStatus implements [Conversation].
func (c *conversation) SoWStatus(_ context.Context, engagement string) (Answer, error) {
	h, may, refusal := c.brought(engagement)
	if refusal != nil {
		return Answer{}, refusal
	}
	type version struct {
		Version int64         `json:"version"`
		Digest  string        `json:"digest"`
		State   sow.State     `json:"state"`
		Outcome string        `json:"outcome,omitempty"`
		Needs   sow.Authority `json:"authority"`
		Signed  bool          `json:"signed_by_us"`
		// Intent is the message that the agent on our seat signs for its part, base64 in JSON; absent where none is wanted.
		Intent []byte `json:"intent,omitempty"`
	}
	out := struct {
		Engagement string              `json:"engagement"`
		SoW        string              `json:"sow"`
		State      sow.State           `json:"state"`
		Version    int64               `json:"version"`
		Digest     string              `json:"digest"`
		Waiting    []agreement.Waiting `json:"waiting"`
		Versions   []version           `json:"versions"`
	}{Engagement: h.ID, SoW: h.View.SoW, State: h.View.State, Version: h.View.Version, Digest: h.View.Digest, Waiting: h.View.Waiting, Versions: []version{}}
	if len(may) < len(h.Docs) && !slices.ContainsFunc(may, func(x *agreement.Document) bool { return x.View.Digest == out.Digest }) {
		out.State, out.Version, out.Digest = may[0].View.State, may[0].View.Version, may[0].View.Digest
	}
	if out.Waiting == nil {
		out.Waiting = []agreement.Waiting{}
	}
	for _, x := range may {
		v := version{Version: x.View.Version, Digest: x.View.Digest, State: x.View.State, Outcome: x.View.Outcome, Needs: x.View.Needed, Signed: x.Signed}
		if v.Needs == sow.ByAgentThenPerson && !x.Signed && len(x.View.Given) == 0 && h.Role != "" {
			v.Intent = x.Doc.Intent(agreement.IntentAct(v.Version))
		}
		out.Versions = append(out.Versions, v)
	}
	return Answer{Result: mustJSON(out)}, nil
}

// SoWGet implements [Conversation].
func (c *conversation) SoWGet(_ context.Context, engagement, digest string) (Answer, error) {
	h, may, refusal := c.brought(engagement)
	if refusal != nil {
		return Answer{}, refusal
	}
	if digest == "" {
		digest = h.View.Digest
	}
	if x := h.By(digest); x == nil || !x.Signed || !slices.Contains(may, x) {
		return Answer{}, refuseWith(agreement.CodeNotOpen, "this vault has not signed that version")
	}
	raw, err := c.d.bundleOf(engagement, digest, false)
	if err != nil {
		return Answer{}, asRefusal(err)
	}
	return Answer{Result: raw}, nil
}

// SoWAwait implements [Conversation].
func (c *conversation) SoWAwait(ctx context.Context, request string) (Answer, error) {
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	c.d.mu.Lock()
	refusal = c.d.gateClient(client)
	c.d.mu.Unlock()
	if refusal != nil {
		return Answer{}, refusal
	}
	row, err := c.d.db().SoWAsk(client, request)
	if errors.Is(err, store.ErrNotFound) {
		return Answer{}, refuse(CodeUnknownRequest)
	} else if err != nil {
		return Answer{}, refuse(CodeStoreFailed)
	}
	return c.d.waitAsk(ctx, row)
}

// ExportSoW implements [Owner].
func (v ownerView) ExportSoW(_ context.Context, engagement, digest string) ([]byte, error) {
	raw, err := v.d.bundleOf(engagement, digest, true)
	if err != nil {
		return nil, asRefusal(err)
	}
	return raw, nil
}

// ExportVersion implements [Owner].
func (v ownerView) ExportVersion(_ context.Context, engagement, digest string) ([]byte, error) {
	raw, err := v.d.bundleOf(engagement, digest, false)
	if err != nil {
		return nil, asRefusal(err)
	}
	return raw, nil
}

// bundleOf is a version with what stands beside it; whole adds every other version and everything that was brought in.
func (d *Desk) bundleOf(engagement, digest string, whole bool) ([]byte, error) {
	h, err := d.held(engagement)
	if err != nil {
		return nil, err
	}
	if digest == "" {
		digest = h.View.Digest
	}
	x := h.By(digest)
	if x == nil {
		return nil, refuse(CodeGone)
	}
	b := bundle.Bundle{Document: x.Doc.Raw()}
	for _, r := range h.Records {
		switch counts, act := h.Counts(r); {
		case counts && !whole && r.Digest != digest:
		case counts && act:
			b.Acts = append(b.Acts, r.Raw)
		case counts:
			b.Confirmations = append(b.Confirmations, r.Raw)
		case whole:
			b.Records = append(b.Records, bundle.Record{Kind: r.Kind, Raw: r.Raw})
		}
	}
	if whole {
		for i := len(h.Docs) - 1; i >= 0; i-- {
			if h.Docs[i] != x {
				b.Versions = append(b.Versions, h.Docs[i].Doc.Raw())
			}
		}
	}
	raw, err := bundle.Encode(b)
	if errors.Is(err, bundle.ErrTooLong) {
		return nil, refuse(CodeExportTooLong)
	}
	if err != nil {
		return nil, err
	}
	return raw, nil
}
