package approvals

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/store"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

// Methods of requests, as the log names them.
const (
	methodSign = "action.sign"
	methodPair = "pair"
)

// Outcomes of requests that sign nothing.
const (
	outcomeDeclined  = "declined"
	outcomeRefused   = "refused"
	outcomeExpired   = "expired"
	outcomeCancelled = "cancelled"
	outcomeWithdrawn = "withdrawn"
)

// States of a stored request.
const (
	requestDone  = "done"
	requestEnded = "ended"
)

// request is a request id of a client that has not ended. It waits in an item
// for a person, or is on its way through a grant.
type request struct {
	key     requestKey
	digest  string // of what was asked
	method  string // methodSign or methodMomentSign
	session string
	ask     *asked
	end     deadline
	item    *item // nil under a grant

	done    chan struct{} // closed when ended, after the answer is durable
	result  json.RawMessage
	refusal *Refusal
}

// item is a row of the Inbox: one thing to decide. Equal requests of one client
// share it, and one decision answers them all.
type item struct {
	id      string
	kind    ItemKind
	client  string
	digest  string
	session string
	since   int64
	members []*request
	count   int // how often it was asked for, those not let in included

	action  *asked
	moment  *laid
	pairing *pairing
	pairEnd deadline

	seen  bool   // was on the owner's screen
	open  bool   // is there now
	shown string // digest of the sheet as it was last shown
	busy  bool   // a decision or an end is being written
	gone  bool
}

// shut says that no sheet is on the screen any more.
func (it *item) shut() { it.open, it.shown = false, "" }

func (it *item) until() deadline {
	if it.pairing != nil {
		return it.pairEnd
	}
	var out deadline
	for _, m := range it.members {
		if m.end.wall > out.wall {
			out = m.end
		}
	}
	return out
}

// asked is an action.sign request as it was understood.
type asked struct {
	rawEnvelope []byte
	rawPayload  []byte
	envelope    *envelope.ActionEnvelope
	payload     *envelope.Payload
	digest      string // Keccak-256 that would be signed, 0x and 64 hex digits
	address     string
	differs     []envelope.Contradiction
	moment      *selected // whose option this action is, or nil
}

// knownEnvelope is what is computed once for each action envelope.
type knownEnvelope struct {
	address string
	record  []byte // canonical public action record
}

func validID(s string, empty bool) bool {
	if s == "" {
		return empty
	}
	if len(s) > maxRequestID || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return false
		}
	}
	return true
}

// actionSign is Conversation.ActionSign for a proven client.
func (d *Desk) actionSign(ctx context.Context, client string, ask Ask) (Answer, error) {
	if !validID(ask.RequestID, false) || !validID(ask.Session, true) {
		return Answer{}, refuseWith(CodeMalformed, "request id and session are at most 128 bytes of text without control characters")
	}
	if isMomentID(ask.RequestID) {
		return Answer{}, refuseWith(CodeMalformed, "a request id may not have the form of a moment's")
	}
	if ask.LifetimeMS < 0 || ask.LifetimeMS > MaxLifetimeMS {
		return Answer{}, refuseWith(CodeMalformed, "the lifetime is outside 0 to 24 hours")
	}
	if ask.LifetimeMS == 0 {
		ask.LifetimeMS = DefaultLifetimeMS
	}
	digest := journal.AskDigest(methodSign, ask.Session, ask.Envelope, ask.Payload)
	key := requestKey{client, ask.RequestID}

	d.mu.Lock()
	if r := d.gateClient(client); r != nil {
		d.mu.Unlock()
		return Answer{}, r
	}
	if r := d.requests[key]; r != nil {
		d.mu.Unlock()
		return d.again(ctx, r, digest)
	}
	maybe := d.mayKnow(client, ask.RequestID)
	d.mu.Unlock()
	if maybe {
		answer, known, err := d.stored(key, &digest)
		if known || err != nil {
			return answer, err
		}
	}
	a, refusal := d.understand(ctx, ask)
	if refusal != nil {
		if env, err := d.parsed.envelope(ask.Envelope); err == nil {
			d.refusedAsSuspended(client, env, refusal)
		}
		d.refused(key, methodSign, digest, ask.Envelope, refusal.Code)
		return Answer{}, refusal
	}

	r := &request{key: key, digest: digest, method: methodSign, session: ask.Session, ask: a, end: endIn(d.clock, ask.LifetimeMS), done: make(chan struct{})}
	return d.admit(ctx, r, admission{
		interactive: ask.Interactive,
		begin: func() *Refusal {
			d.useSession(client, ask.Session)
			return nil
		},
		unasked: func() *op {
			if len(a.differs) > 0 || d.led.grantFor(d.clock, client, a.envelope.Hash(), d.away, 0) == nil {
				return nil
			}
			return d.grantOp(r)
		},
		// By the key process's clock; or a rule came after a grant that a click made.
		asks: func(err error) bool {
			var k *keys.Error
			return errors.Is(err, errNoGrant) || errors.As(err, &k) && (strings.HasPrefix(k.Code, "grant_") || k.Code == keys.CodePasskeyNeeded)
		},
	})
}

// admission is how a request that was understood comes to its end.
type admission struct {
	interactive bool // a person may be asked
	// begin is called under the desk's lock once nothing else has the request's id.
	begin func() *Refusal
	// unasked gives, under the lock, the op that signs without asking anybody, or nil.
	unasked func() *op
	// asks says whether its error means that a person has to be asked after all.
	asks func(error) bool
}

// admit signs a request that needs nobody, or puts it before the owner and waits. Where its id came to another end
// meanwhile, it answers that.
func (d *Desk) admit(ctx context.Context, r *request, way admission) (Answer, error) {
	refused := func(refusal *Refusal) (Answer, error) {
		reason := refusal.Code
		if reason == CodeNotShown && len(r.ask.differs) > 0 {
			reason = reasonContradiction
		}
		d.refused(r.key, r.method, r.digest, r.ask.rawEnvelope, reason)
		return Answer{}, refusal
	}
	d.mu.Lock()
	if refusal := d.gateClient(r.key.client); refusal != nil {
		d.mu.Unlock()
		return Answer{}, refusal
	}
	if other := d.requests[r.key]; other != nil {
		d.mu.Unlock()
		return d.again(ctx, other, r.digest)
	}
	if _, ok := d.known[d.fold(r.key.client, r.key.id)]; ok {
		// It ended between the two looks.
		d.mu.Unlock()
		answer, known, err := d.stored(r.key, &r.digest)
		if known || err != nil {
			return answer, err
		}
		d.mu.Lock()
	}
	if refusal := way.begin(); refusal != nil {
		d.mu.Unlock()
		return Answer{}, refusal
	}
	if o := way.unasked(); o != nil {
		d.requests[r.key] = r
		d.mu.Unlock()
		err := d.do(o)
		if err == nil {
			return r.answer()
		}
		d.mu.Lock()
		delete(d.requests, r.key)
		if !way.asks(err) {
			r.refusal = asRefusal(err)
			close(r.done)
			d.mu.Unlock()
			return refused(r.refusal)
		}
	}
	refusal := d.enqueue(r, way.interactive)
	if refusal != nil {
		r.refusal = refusal
		close(r.done) // whoever met it in the map meanwhile
	}
	d.mu.Unlock()
	if refusal != nil {
		return refused(refusal)
	}
	d.changed()
	return d.wait(ctx, r)
}

// gateClient is the refusal for a client's signing calls, or nil; the caller holds mu.
func (d *Desk) gateClient(client string) *Refusal {
	if r := d.shut(); r != nil {
		return r
	}
	_, r := d.led.client(client)
	return r
}

// again answers a request id that is on its way.
func (d *Desk) again(ctx context.Context, r *request, digest string) (Answer, error) {
	if r.digest != digest {
		return Answer{}, refuse(CodeRequestIDReused)
	}
	return d.wait(ctx, r)
}

// useSession notes a use of a session; the caller holds mu.
func (d *Desk) useSession(client, session string) {
	if session == "" {
		return
	}
	c := d.led.clients[client]
	s := c.sessions[session]
	if s == nil {
		if len(c.sessions) >= MaxSessions {
			c.dropOldest()
		}
		s = &sessionRow{}
		c.sessions[session] = s
	}
	s.lastUsed = d.clock.Now()
}

// writeSession puts a session's last use beside other rows, at most once an hour.
func (d *Desk) writeSession(client, session string) func(*store.Tx) error {
	c := d.led.clients[client]
	if c == nil || c.sessions[session] == nil {
		return func(*store.Tx) error { return nil }
	}
	s := c.sessions[session]
	if s.lastUsed-s.written < 60*60*1000 {
		return func(*store.Tx) error { return nil }
	}
	s.written = s.lastUsed
	row := store.Session{Client: client, ID: session, LastUsed: s.lastUsed}
	return func(tx *store.Tx) error { return tx.TouchSession(row) }
}

// understand parses and checks what does not change while a request waits.
func (d *Desk) understand(ctx context.Context, ask Ask) (*asked, *Refusal) {
	env, err := d.parsed.envelope(ask.Envelope)
	if err != nil {
		return nil, refuseWith(CodeMalformed, err.Error())
	}
	p, err := envelope.ParsePayload(ask.Payload)
	if err != nil {
		return nil, refuseWith(CodeMalformed, err.Error())
	}
	if p.Signable() != nil {
		return nil, refuse(CodeTypedPayload)
	}
	sum := p.Digest()
	a := &asked{
		rawEnvelope: ask.Envelope, rawPayload: ask.Payload, envelope: env, payload: p,
		digest: "0x" + hex.EncodeToString(sum[:]), differs: p.Contradictions(env),
	}
	d.mu.Lock()
	refusal := d.admits(env, 0)
	d.mu.Unlock()
	if refusal != nil {
		return nil, refusal
	}
	if a.address, refusal = d.addressOf(ctx, env, ask.Envelope); refusal != nil {
		return nil, refusal
	}
	return a, nil
}

// addressOf is the address that signs under an envelope, whose received bytes are raw.
func (d *Desk) addressOf(ctx context.Context, env *envelope.ActionEnvelope, raw []byte) (string, *Refusal) {
	d.mu.Lock()
	cached, k := d.envelopes[env.Hash()], d.keys
	d.mu.Unlock()
	switch {
	case cached != nil:
		return cached.address, nil
	case k == nil:
		return "", refuse(CodeLocked)
	}
	var address string
	if err := d.patient(ctx, k, func(ctx context.Context) (err error) {
		address, err = k.Address(ctx, raw)
		return err
	}); err != nil {
		return "", asRefusal(err)
	}
	record, err := d.record(env, address)
	if err != nil {
		return "", refuseWith(CodeMalformed, err.Error())
	}
	d.mu.Lock()
	if len(d.envelopes) >= maxEnvelopes {
		clear(d.envelopes)
	}
	d.envelopes[env.Hash()] = &knownEnvelope{address, record}
	d.mu.Unlock()
	return address, nil
}

// record makes the public action record of an envelope.
func (d *Desk) record(env *envelope.ActionEnvelope, address string) ([]byte, error) {
	d.mu.Lock()
	dom, owner, now := d.led.domains[env.DomainHash()], d.public.OwnerKey, d.clock.Now()
	d.mu.Unlock()
	if dom == nil {
		return nil, refuse(CodeUnknownDomain)
	}
	at, err := envelope.FormatTime(now)
	if err != nil {
		return nil, err
	}
	rec, err := envelope.NewRecord(envelope.RecordInput{
		OwnerUserID: envelope.OwnerUserID(owner), CustodyMode: "external-custody", CreatedAt: at,
		AgentAddress: address, Domain: dom.projection, Envelope: env,
	})
	if err != nil {
		return nil, err
	}
	return rec.Canonical(), nil
}

// admits checks domain, window and uses; the caller holds mu. extra are uses of
// the envelope that the batch under way has added.
func (d *Desk) admits(env *envelope.ActionEnvelope, extra uint64) *Refusal {
	dom := d.led.domains[env.DomainHash()]
	if dom == nil || env.MatchDomain(dom.projection.Info()) != nil {
		return refuse(CodeUnknownDomain)
	}
	now, f := d.clock.Now(), env.Fields()
	if env.Admits(now) != nil {
		if f.Window.NotBefore.Set && now < f.Window.NotBefore.N {
			return refuseAfter(CodeNotYetValid, f.Window.NotBefore.N-now)
		}
		return refuse(CodeEnvelopeExpired)
	}
	if d.isSuspended(env) {
		return refuse(CodeSuspended)
	}
	if uses, stated := d.usesOf(env); stated && d.led.state.Uses(env.Hash())+extra >= uint64(max(0, uses)) {
		return refuse(CodeUsesSpent)
	}
	return nil
}

var errNoGrant = errors.New("no grant covers this")

// grantOp signs one request under a grant.
func (d *Desk) grantOp(r *request) *op {
	hash := r.ask.envelope.Hash()
	return &op{build: func(b *batch) error {
		if refusal := d.gateClient(r.key.client); refusal != nil {
			return refusal
		}
		if refusal := d.admits(r.ask.envelope, b.signed[hash]); refusal != nil {
			return refusal
		}
		g := d.led.grantFor(d.clock, r.key.client, hash, d.away, b.granted[hash])
		if g == nil {
			return errNoGrant
		}
		if err := d.addSigned(b, []*request{r}, &behind{by: "grant"}, g); err != nil {
			return err
		}
		b.granted[hash]++
		return nil
	}}
}

// addSigned adds the entry that signs what the requests ask for, and answers them
// with it. The caller has checked that it may be done.
func (d *Desk) addSigned(b *batch, members []*request, c *behind, g *grantRow) error {
	r := members[0]
	env := r.ask.envelope
	hash := env.Hash()
	body := journal.ActionSigned{
		Request: r.key.id, Client: r.key.client, Session: r.session, By: c.by, Confirmation: c.record,
		DomainHash: env.DomainHash(), EnvelopeHash: hash, Digest: r.ask.digest, Address: r.ask.address,
		Use: d.led.state.Uses(hash) + b.signed[hash] + 1,
	}
	cl := d.led.clients[r.key.client]
	permits := []permitRow{{cl.body, cl.mac}}
	if g != nil {
		body.Grant = g.permit.ID
		permits = append(permits, permitRow{g.body, g.mac})
	}
	if r.ask.moment != nil {
		body.Moment = r.ask.moment.id
	}
	known := d.envelopes[hash]
	a, err := b.add(journal.KindActionSigned, body)
	if err != nil {
		return err
	}
	b.signed[hash]++
	c.of(a)
	by := c.by
	a.keyed.Envelope, a.keyed.Payload = r.ask.rawEnvelope, r.ask.rawPayload
	if r.ask.moment != nil {
		a.keyed.Moment = r.ask.moment.envelope
	}
	a.keyed.Permits = permitsOf(permits)
	session := d.writeSession(r.key.client, r.session)
	var result []byte
	a.ready = func() error {
		var record []byte
		if known != nil {
			record = known.record
		} else {
			var err error
			if record, err = d.record(env, r.ask.address); err != nil {
				return err
			}
		}
		if a.answer.Address != r.ask.address {
			return errors.New("the key process signed with another address than it named")
		}
		if len(a.answer.Attestation) == 0 || len(a.answer.Signature) != 132 {
			return errors.New("the key process gave no signature or attestation")
		}
		result = signedResult(a, by, record)
		return nil
	}
	a.write = func(tx *store.Tx) error {
		for _, m := range members {
			if err := tx.AddRequest(m.row(requestDone, a.entry.Seq, result)); err != nil {
				return err
			}
		}
		return session(tx)
	}
	a.applied = func() {
		for _, m := range members {
			d.endRequest(m, result, nil)
		}
	}
	return nil
}

// signedResult is the answer of action.sign, as canonical JSON. Its parts are canonical
// already, or texts that need no escaping.
func signedResult(a *act, by string, record []byte) []byte {
	out := make([]byte, 0, 512+len(record)+len(a.answer.Head)+len(a.answer.Attestation))
	out = append(out, `{"agent_address":"`...)
	out = append(out, a.answer.Address...)
	out = append(out, `","attestation":`...)
	out = append(out, a.answer.Attestation...)
	out = append(out, `,"by":"`...)
	out = append(out, by...)
	out = append(out, `","log_head":`...)
	out = append(out, a.answer.Head...)
	out = append(out, `,"record":`...)
	out = append(out, record...)
	out = append(out, `,"seq":`...)
	out = strconv.AppendUint(out, a.entry.Seq, 10)
	out = append(out, `,"signature":"`...)
	out = append(out, a.answer.Signature...)
	return append(out, `"}`...)
}

// row is the request as the store keeps it.
func (r *request) row(state string, seq uint64, answer []byte) store.Request {
	return store.Request{
		Client: r.key.client, ID: r.key.id, Digest: r.digest, State: state, Method: r.method, Session: r.session,
		Envelope: r.ask.rawEnvelope, Payload: r.ask.rawPayload, Seq: seq, Answer: answer,
	}
}

// endRequest lets a durable end be seen; the caller holds mu.
func (d *Desk) endRequest(r *request, result json.RawMessage, refusal *Refusal) {
	r.result, r.refusal = result, refusal
	d.known[d.fold(r.key.client, r.key.id)] = struct{}{}
	if refusal == nil {
		d.asked[d.fold(r.key.client, r.digest)] = struct{}{}
	}
	delete(d.requests, r.key)
	if r.item != nil {
		r.item.members = slices.DeleteFunc(r.item.members, func(m *request) bool { return m == r })
		if c := d.led.clients[r.key.client]; c != nil {
			c.open--
		}
	}
	close(r.done)
}

func (r *request) answer() (Answer, error) {
	if r.refusal != nil {
		return Answer{}, r.refusal
	}
	return Answer{Result: r.result}, nil
}

// enqueue puts a request before the owner; the caller holds mu.
func (d *Desk) enqueue(r *request, interactive bool) *Refusal {
	c := d.led.clients[r.key.client]
	switch {
	case !interactive:
		return refuse(CodeNotShown)
	case c.unanswered >= unansweredMax && !c.cool.passed(d.clock):
		return refuseAfter(CodeCoolingDown, c.cool.left(d.clock))
	}
	var same *item
	for _, it := range d.items {
		if it.client == r.key.client && it.kind == ItemAction && it.digest == r.digest && !it.busy && !it.gone {
			same = it
		}
	}
	if c.open >= MaxOpenRequests {
		if same != nil {
			same.count++
		}
		return refuseAfter(CodeTooMany, queueFullMS)
	}
	id := ""
	if same == nil {
		var err error
		if id, err = d.newID("i_"); err != nil {
			return refuse(CodeInternal)
		}
	}
	if refusal := d.takeToken(c); refusal != nil {
		return refusal
	}
	if same == nil {
		same = &item{id: id, kind: ItemAction, client: r.key.client, digest: r.digest, session: r.session, since: d.clock.Now(), action: r.ask}
		d.items = append(d.items, same)
	}
	c.open++
	same.count++
	same.members = append(same.members, r)
	r.item = same
	d.requests[r.key] = r
	return nil
}

// wait waits for a request to end, as long as a call may.
func (d *Desk) wait(ctx context.Context, r *request) (Answer, error) {
	d.mu.Lock()
	gate := d.gate
	d.mu.Unlock()
	limit := time.NewTimer(d.o.Await)
	defer limit.Stop()
	select {
	case <-r.done:
		return r.answer()
	default:
	}
	select {
	case <-r.done:
		return r.answer()
	case <-gate:
		return Answer{}, lockedMeanwhile()
	case <-ctx.Done():
	case <-limit.C:
	}
	return Answer{Pending: r.key.id}, nil
}

// await is Conversation.Await for a proven client.
func (d *Desk) await(ctx context.Context, client, id string) (Answer, error) {
	d.mu.Lock()
	if r := d.gateClient(client); r != nil {
		d.mu.Unlock()
		return Answer{}, r
	}
	key := requestKey{client, id}
	r := d.requests[key]
	known := d.mayKnow(client, id)
	d.mu.Unlock()
	if r != nil && r.method != methodMintSign {
		return d.wait(ctx, r)
	}
	if r == nil && known {
		answer, known, err := d.storedForAll(key)
		if known || err != nil {
			return answer, err
		}
	}
	return Answer{}, refuse(CodeUnknownRequest)
}

// storedForAll is stored for whoever is the client. What a minted key has signed is its bot's alone, and [MintAgent] tells it.
func (d *Desk) storedForAll(key requestKey) (answer Answer, known bool, err error) {
	if row, err := d.db().Request(key.client, key.id); err == nil && row.Method == methodMintSign {
		return Answer{}, false, nil
	}
	return d.stored(key, nil)
}

// stored answers from the store. A row that is not as the log and the signature
// say is not used. digest is what the same id is asked for now, or nil.
func (d *Desk) stored(key requestKey, digest *string) (answer Answer, known bool, err error) {
	row, err := d.db().Request(key.client, key.id)
	if errors.Is(err, store.ErrNotFound) {
		return Answer{}, false, nil
	}
	if err != nil {
		return Answer{}, true, refuse(CodeStoreFailed)
	}
	refusal, ok := d.checkRow(row)
	if !ok {
		return Answer{}, true, refuse(CodeRowEdited)
	}
	if digest != nil && row.Digest != *digest {
		return Answer{}, true, refuse(CodeRequestIDReused)
	}
	if refusal != nil {
		return Answer{}, true, refusal
	}
	return Answer{Result: row.Answer}, true, nil
}

// checkRow compares a stored request with its log entry, and a result with its
// own signature. The refusal is what the row answers, if it is one.
func (d *Desk) checkRow(row store.Request) (*Refusal, bool) {
	if row.Method != methodSign && row.Method != methodMomentSign && row.Method != methodMintSign || row.Digest != journal.AskDigest(row.Method, row.Session, row.Envelope, row.Payload) || row.Seq == 0 {
		return nil, false
	}
	es, err := d.db().Entries(row.Seq, 1)
	if err != nil || len(es) != 1 || es[0].Seq != row.Seq {
		return nil, false
	}
	e, err := journal.Parse(es[0].Raw)
	if err != nil || rowDiffers(&es[0], e) != "" {
		return nil, false
	}
	sibling := func(request string) bool {
		// Equal requests of one client share an entry, which names the first of them.
		if request == row.ID {
			return true
		}
		first, err := d.db().Request(row.Client, request)
		return err == nil && first.Seq == row.Seq && first.Digest == row.Digest
	}
	switch b := e.Decoded().(type) {
	case journal.ActionSigned:
		named := ""
		if row.Method == methodMomentSign {
			named = row.ID
		}
		if row.State != requestDone || row.Method == methodMintSign || b.Moment != named || b.Client != row.Client || !sibling(b.Request) || b.Session != row.Session {
			return nil, false
		}
		return nil, resultFits(row, b, e)
	case journal.MintedSigned:
		if row.State != requestDone || row.Method != methodMintSign || b.Client != row.Client || b.Request != row.ID || b.Session != row.Session {
			return nil, false
		}
		return nil, usedFits(row, b, e)
	case journal.RequestAnswered:
		if row.State != requestEnded || b.Client != row.Client || !sibling(b.Request) || b.Digest != row.Digest {
			return nil, false
		}
		r := outcomeRefusal(b.Outcome, b.Reason)
		return r, string(row.Answer) == string(endedAnswer(r))
	}
	return nil, false
}

// resultFits checks a stored result against its entry and its payload.
func resultFits(row store.Request, b journal.ActionSigned, e journal.Entry) bool {
	v, err := jcs.Parse(row.Answer, jcs.Binding)
	if err != nil || v.Kind() != jcs.Object || v.Len() != 7 {
		return false
	}
	seq, ok := v.Get("seq").Int()
	if !ok || uint64(seq) != e.Seq || v.Get("by").Text() != b.By || v.Get("agent_address").Text() != b.Address {
		return false
	}
	env, err := envelope.ParseActionEnvelope(row.Envelope)
	if err != nil || env.Hash() != b.EnvelopeHash {
		return false
	}
	rec, err := envelope.ParseRecord(v.Get("record").Canonical())
	if err != nil || rec.AgentAddress() != b.Address || rec.Envelope().Hash() != b.EnvelopeHash {
		return false
	}
	return signatureFits(row, v, e, rec, envelope.AddressAttestation{DomainHash: b.DomainHash, ActionEnvelopeHash: b.EnvelopeHash, AgentAddress: b.Address})
}

// signatureFits says whether what a result proves of itself holds: the attestation by the record's domain says what of
// says, the head is that of its entry, and the signature is by the attested address.
func signatureFits(row store.Request, v jcs.Value, e journal.Entry, rec *envelope.Record, of envelope.AddressAttestation) bool {
	if !envelope.VerifyAddressAttestation(v.Get("attestation").Canonical(), of, envelope.Pins{DomainAddress: rec.Domain().Address()}).Valid {
		return false
	}
	h, err := journal.ParseHead(v.Get("log_head").Canonical())
	if err != nil || h.Hash != e.Hash() || h.Seq != e.Seq {
		return false
	}
	return envelope.VerifyAction(row.Payload, v.Get("signature").Text(), of.AgentAddress).Valid
}

// outcomeRefusal is what a client is told of an end without a signature.
func outcomeRefusal(outcome, reason string) *Refusal {
	r := refuse(outcome)
	if reason != "" {
		r.Data = mustJSON(map[string]string{"reason": reason})
	}
	return r
}

func endedAnswer(r *Refusal) []byte {
	if len(r.Data) == 0 {
		return mustJSON(map[string]string{"code": r.Code})
	}
	return mustJSON(struct {
		Code string          `json:"code"`
		Data json.RawMessage `json:"data"`
	}{r.Code, r.Data})
}

// end is the op that ends members of an item without a signature. pick nil means all.
func (d *Desk) end(it *item, outcome, reason string, pick func(*request) bool, also func(*batch) error) *op {
	return d.endBy(it, outcome, reason, byClick(), pick, also)
}

// endBy is end with what stands behind it: a decline may have a passkey.
func (d *Desk) endBy(it *item, outcome, reason string, c *behind, pick func(*request) bool, also func(*batch) error) *op {
	held := false
	o := &op{alone: also != nil}
	o.undo = func() {
		if held {
			it.busy, held = false, false
		}
	}
	o.build = func(b *batch) error {
		if it.gone || it.busy {
			return errGone
		}
		var members []*request
		for _, m := range it.members {
			if pick == nil || pick(m) {
				members = append(members, m)
			}
		}
		if len(members) == 0 && it.pairing == nil {
			return errGone
		}
		body := journal.RequestAnswered{Client: it.client, Method: methodSign, Outcome: outcome, Reason: reason, Digest: it.digest, Confirmation: c.record}
		if it.pairing != nil {
			body.Request, body.Method = it.pairing.id, methodPair
		} else {
			body.Request, body.Method = members[0].key.id, members[0].method
		}
		a, err := b.add(journal.KindRequestAnswered, body)
		if err != nil {
			return err
		}
		c.of(a)
		if c.record != "" {
			a.keyed.Session, a.keyed.Envelope, a.keyed.Payload = it.whatWasAsked()
		}
		refusal := outcomeRefusal(outcome, reason)
		answer := endedAnswer(refusal)
		a.write = func(tx *store.Tx) error {
			for _, m := range members {
				if err := tx.AddRequest(m.row(requestEnded, a.entry.Seq, answer)); err != nil {
					return err
				}
			}
			return nil
		}
		a.applied = func() {
			it.busy = false
			for _, m := range members {
				d.endRequest(m, nil, refusal)
			}
			if it.pairing != nil {
				it.pairing.finish(nil, refusal)
			}
			if len(it.members) == 0 {
				d.remove(it)
			}
			if c := d.led.clients[it.client]; c != nil {
				switch {
				case outcome == outcomeDeclined:
					c.unanswered = 0
				case outcome == outcomeExpired && it.seen && it.gone:
					if c.unanswered++; c.unanswered >= unansweredMax {
						c.cool = endIn(d.clock, coolDownMS)
					}
				}
			}
		}
		if also != nil {
			if err := also(b); err != nil {
				return err
			}
		}
		it.busy, held = true, true
		return nil
	}
	return o
}

// whatWasAsked are the parts of an item's digest (journal.AskDigest).
func (it *item) whatWasAsked() (session string, first, second []byte) {
	if p := it.pairing; p != nil {
		return p.id, []byte(p.digits), []byte(p.claimed)
	}
	return it.session, it.action.rawEnvelope, it.action.rawPayload
}

// remove takes an item out of the Inbox; the caller holds mu.
func (d *Desk) remove(it *item) {
	it.gone = true
	it.shut()
	d.items = slices.DeleteFunc(d.items, func(x *item) bool { return x == it })
}

// expire ends what has run out.
func (d *Desk) expire() {
	type due struct {
		it      *item
		members []*request
	}
	d.mu.Lock()
	var all []due
	for _, it := range d.items {
		if it.busy {
			continue
		}
		var late []*request
		for _, m := range it.members {
			if m.end.passed(d.clock) {
				late = append(late, m)
			}
		}
		if len(late) > 0 || it.pairing != nil && it.pairEnd.passed(d.clock) {
			all = append(all, due{it, late})
		}
	}
	for _, c := range d.led.clients {
		if c.unanswered >= unansweredMax && c.cool.passed(d.clock) {
			c.unanswered = 0
		}
	}
	d.mu.Unlock()
	for _, x := range all {
		if x.it.pairing != nil {
			d.endPairing(x.it, outcomeExpired)
			continue
		}
		// Whoever decided first has won; that is no error here.
		_ = d.do(d.end(x.it, outcomeExpired, "", func(m *request) bool { return slices.Contains(x.members, m) }, nil))
	}
}

// cancel is Conversation.Cancel.
func (d *Desk) cancel(client, id string) error {
	d.mu.Lock()
	_, refusal := d.led.client(client)
	r := d.requests[requestKey{client, id}]
	known := d.mayKnow(client, id)
	d.mu.Unlock()
	if refusal == nil && r == nil && known {
		switch _, err := d.db().Request(client, id); {
		case err == nil:
			return nil // it has ended; await tells how
		case !errors.Is(err, store.ErrNotFound):
			return refuse(CodeStoreFailed)
		}
	}
	switch {
	case refusal != nil:
		return refusal
	case r == nil || r.item == nil:
		return refuse(CodeUnknownRequest)
	}
	err := d.do(d.end(r.item, outcomeCancelled, "", func(m *request) bool { return m == r }, nil))
	if err != nil && !errors.Is(err, errGone) {
		return asRefusal(err)
	}
	return nil
}

// endSession is Conversation.SessionEnd: its open requests are no longer answerable.
func (d *Desk) endSession(client, session string) error {
	d.mu.Lock()
	c, refusal := d.led.client(client)
	if refusal != nil {
		d.mu.Unlock()
		return refusal
	}
	_, known := c.sessions[session]
	delete(c.sessions, session)
	var items []*item
	for _, it := range d.items {
		if it.client == client && it.session == session && session != "" && it.pairing == nil {
			items = append(items, it)
		}
	}
	d.mu.Unlock()
	for _, it := range items {
		o := d.endMoment
		if it.moment == nil {
			o = func(it *item, _ string) *op { return d.end(it, outcomeWithdrawn, "", nil, nil) }
		}
		if err := d.do(o(it, endWithdrawn)); err != nil && !errors.Is(err, errGone) {
			return asRefusal(err)
		}
	}
	if known && d.db().Mode() == store.ModeReadWrite {
		if err := d.db().Do(func(tx *store.Tx) error { return tx.DropSession(client, session) }); err != nil {
			return refuse(CodeStoreFailed)
		}
	}
	return nil
}
