package approvals

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/approvals/bounds"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/minted"
	"vault/approvals/permit"
	"vault/approvals/store"
	"vault/derive/envelope"
	"vault/derive/jcs"
)

const (
	methodMint     = "mint.request"
	methodMintSign = "mint.sign"

	maxMintRecords = 4096
	maxBoundTexts  = 64 // of a list that a refusal names
	// expiredMS is how long after its end, by both clocks, a delegate is ended in the log, so that its mints need not be
	// remembered. A wall clock that jumped forward for a while ends nothing for good.
	expiredMS = 7 * 24 * 60 * 60 * 1000
	// expireEveryMS is how often that is looked at, and how long the desk runs before the first look: a wall clock that is
	// wrong when the computer starts has been set by then.
	expireEveryMS = 60 * 60 * 1000
	// expireAtOnce is how many are ended in one go.
	expireAtOnce = 16
	maxGiven     = 1<<53 - 1     // of the sum of what its keys were given, which is for looking at
	botMS        = 2 * 60 * 1000 // a nonce is proven within
	planMS       = 10 * 60 * 1000
)

// delegateRow is a signed delegate, with its permit where it has one.
type delegateRow struct {
	raw    []byte // canonical, signed
	parsed *envelope.MintDelegate
	pinned *envelope.PinnedDelegate // once it was verified; guarded by the desk's lock
	hash   string
	fields envelope.DelegateFields
	shape  []bounds.Warning // those that no clock changes
	origin string
	at     int64
	end    deadline // of its window; never where it has no end

	permit permit.Delegate
	body   []byte // of the permit; nil: suspended
	mac    string

	given   int64 // uses that its minted keys were given, all together
	lastUse int64
}

// mintBatch is what a batch has added about mints, so that the next op of the batch counts on.
type mintBatch struct {
	numbers map[string]uint64 // mints, by delegate
	nonces  map[string]bool   // by delegate and nonce
	uses    map[string]uint64 // by mint
}

func (m *mintBatch) minted(delegate, nonce string) {
	if m.numbers == nil {
		m.numbers, m.nonces = map[string]uint64{}, map[string]bool{}
	}
	m.numbers[delegate]++
	m.nonces[delegate+nonce] = true
}

func (m *mintBatch) used(mint string) {
	if m.uses == nil {
		m.uses = map[string]uint64{}
	}
	m.uses[mint]++
}

// mintedRecord is what is computed once for each mint.
type mintedRecord struct {
	address     string
	attestation []byte
	record      []byte // canonical public action record
	row         store.Mint
	request     *envelope.MintRequest
}

// mintName is what was derived of a mint and is still to be kept, with whatever is written next: one that is lost is
// derived anew.
type mintName struct {
	mint, address string
	attestation   []byte
}

// readDelegates reads the signed delegates; their permits come afterwards.
func (l *ledger) readDelegates(s *store.Store, clock Clock) (*Trouble, error) {
	rows, err := s.Delegates()
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		d, err := envelope.ParseMintDelegate(r.Raw)
		if err != nil || d.Hash() != r.Hash || d.Signature() == "" || !bytes.Equal(d.Canonical(), r.Raw) {
			return &Trouble{Code: CodeRowEdited, Detail: "delegate " + r.Hash}, nil
		}
		l.delegates[r.Hash] = newDelegateRow(clock, d, r.Origin, r.At)
	}
	totals, err := s.MintTotals()
	if err != nil {
		return nil, err
	}
	for _, t := range totals {
		if d := l.delegates[t.Delegate]; d != nil {
			d.given, d.lastUse = t.MaxUses, t.LastUse
		}
	}
	return nil, nil
}

func newDelegateRow(clock Clock, d *envelope.MintDelegate, origin string, at int64) *delegateRow {
	row := &delegateRow{raw: d.Canonical(), parsed: d, hash: d.Hash(), fields: d.Fields(), shape: bounds.Shape(d), origin: origin, at: at}
	if end := row.fields.Window.NotAfter; end.Set {
		row.end = endAt(clock, end.N)
	}
	return row
}

// bounded is a refusal that names a bound, what the vault holds and what was asked for.
func bounded(code, bound string, value, asked any) *Refusal {
	r := refuse(code)
	if list, ok := value.([]string); ok && len(list) > maxBoundTexts {
		value = append(slices.Clip(list[:maxBoundTexts]), fmt.Sprintf("and %d more", len(list)-maxBoundTexts))
	}
	r.Data = mustJSON(struct {
		Bound string `json:"bound"`
		Value any    `json:"value"`
		Asked any    `json:"asked,omitempty"`
	}{bound, value, asked})
	return r
}

// boundRefusal is the refusal of the first bound that a report failed with.
func boundRefusal(r *envelope.Report, d *envelope.MintDelegate, q *envelope.MintRequest, now int64) *Refusal {
	b, _ := envelope.FirstBound(r, d, q, now)
	switch {
	case b.Name != "":
		return bounded(b.Code, b.Name, b.Value, b.Asked)
	case b.Code == "":
		return refuse(CodeInternal)
	}
	return refuseWith(b.Code, b.Why)
}

// delegateOpen returns a delegate under which something may be done now, or why not; the caller holds mu.
func (d *Desk) delegateOpen(hash string) (*delegateRow, *Refusal) {
	row := d.led.delegates[hash]
	if row == nil {
		return nil, refuse(CodeUnknownDelegate)
	}
	now, w := d.clock.Now(), row.fields.Window
	var gone *journal.Contradiction
	switch err := d.led.state.DelegateOpen(hash); {
	case row.body == nil:
		return nil, refuse(CodeDelegateSuspended)
	case errors.As(err, &gone):
		if gone.Code == journal.CodeDelegateExpired {
			return nil, bounded(CodeDelegateExpired, "timeWindow", w.NotAfter, now)
		}
		return nil, refuse(gone.Code)
	case now < d.led.state.Latest()-clockToleranceMS:
		// Also after a restart, where the boot-time clock tells nothing; windows would open again.
		return nil, bounded(CodeClockBehind, "log", d.led.state.Latest(), now)
	case row.end.passed(d.clock):
		return nil, bounded(CodeDelegateExpired, "timeWindow", w.NotAfter, now)
	case w.NotBefore.Set && now < w.NotBefore.N:
		r := bounded(CodeDelegateNotYet, "timeWindow", w.NotBefore, now)
		r.RetryAfterMS = w.NotBefore.N - now
		return nil, r
	case d.away && !row.permit.WhileAway:
		return nil, refuse(CodeAway)
	}
	return row, nil
}

// over refuses for a capability whose own window has ended.
func over(w envelope.Window, now int64) *Refusal {
	if w.NotAfter.Set && now > w.NotAfter.N {
		return bounded(CodeMintExpired, "timeWindow", w.NotAfter, now)
	}
	return nil
}

// boundsHeld says whether mint material of a domain never left this vault, as far as it knows; the caller holds mu.
func (d *Desk) boundsHeld(domain string) bool {
	return d.led.state.Exported(domain) == 0 && !slices.Contains(d.public.Exported, domain)
}

func nonceHash(nonce string) string { return permit.SHA256([]byte(nonce)) }

// errAgain says that the answer hangs on what is on its way in the same batch: it is asked for again once that is kept. A
// refusal for something that a crash may undo would not be true.
var errAgain = errors.New("it hangs on what is being done")

// errMinted says that the same request was minted meanwhile.
var errMinted = errors.New("minted already")

// mintAsked is one MintRequest of a proven bot.
type mintAsked struct {
	client  string
	proof   *keys.BotProof
	request *envelope.MintRequest
	raw     []byte // canonical, signed
	nonce   string // its SHA-256
	mint    string
}

// minted looks for what was minted with the request before; the caller holds mu.
func (d *Desk) minted(q *mintAsked) (found bool, refusal *Refusal) {
	m, ok := d.led.state.Mint(q.request.DelegateHash(), q.nonce)
	switch {
	case !ok:
		return false, nil
	case m.Mint != q.mint:
		return true, bounded(CodeNonceReused, "nonce", q.request.Fields().Nonce, q.request.Fields().Nonce)
	}
	return true, nil
}

// mintRequest mints what a bot asks for, or finds what was minted for the same request before.
func (d *Desk) mintRequest(ctx context.Context, q *mintAsked) (json.RawMessage, *Refusal) {
	hash := q.request.DelegateHash()
	d.mu.Lock()
	refusal := d.gateClient(q.client)
	var row *delegateRow
	if refusal == nil {
		row, refusal = d.delegateOpen(hash)
	}
	var known bool
	var reused *Refusal // told once nothing else is wrong
	if refusal == nil {
		known, reused = d.minted(q)
	}
	var domain *domainRow
	if refusal == nil {
		if domain = d.led.domains[row.fields.DomainHash]; domain == nil {
			refusal = refuse(CodeUnknownDomain)
		}
	}
	now := d.clock.Now()
	d.mu.Unlock()
	if refusal != nil {
		return nil, refusal
	}
	if !known || reused != nil {
		pinned, refusal := d.pin(row, domain)
		if refusal != nil {
			return nil, refusal
		}
		report, verified := pinned.VerifyRequest(q.raw, now)
		if !report.Valid || !report.Pinned {
			refusal := boundRefusal(report, row.parsed, q.request, now)
			if refusal.Code != CodeLegitimacy {
				return nil, refusal
			}
			if reused == nil {
				d.mu.Lock()
				_, reused = d.mintsLeft(q.request.DelegateHash(), 0)
				d.mu.Unlock()
			}
			if reused != nil {
				return nil, reused
			}
			return nil, refusal
		}
		if reused != nil {
			return nil, reused
		}
		if refusal := over(q.request.Fields().Window, now); refusal != nil {
			return nil, refusal // its key could sign nothing
		}
		env, err := verified.ActionEnvelope(domain.projection.Info())
		if err != nil {
			return nil, refuseWith(CodeMalformed, err.Error())
		}
		for again := true; again; {
			var kept store.Mint
			err := d.do(d.mintOp(q, row, env.Hash(), &kept))
			if err == nil {
				return d.mintResult(ctx, kept, row, domain)
			}
			if again = errors.Is(err, errAgain); !again && !errors.Is(err, errMinted) {
				return nil, asRefusal(err)
			}
		}
	}
	kept, _, refusal := d.mintRow(q.mint)
	if refusal != nil {
		return nil, refusal
	}
	return d.mintResult(ctx, kept, row, domain)
}

// pin verifies a delegate against its domain, once.
func (d *Desk) pin(row *delegateRow, domain *domainRow) (*envelope.PinnedDelegate, *Refusal) {
	d.mu.Lock()
	known := row.pinned
	d.mu.Unlock()
	if known != nil {
		return known, nil
	}
	p, report := envelope.NewPinnedDelegate(row.raw, envelope.Pins{DomainAddress: domain.projection.Address(), DomainHash: domain.permit.Hash})
	if p == nil {
		return nil, boundRefusal(report, row.parsed, nil, 0)
	}
	d.mu.Lock()
	row.pinned = p
	d.mu.Unlock()
	return p, nil
}

// mintsLeft is the number of the delegate's next mint, or why there is none; the caller holds mu. extra are those that the batch
// under way has added.
func (d *Desk) mintsLeft(hash string, extra uint64) (uint64, *Refusal) {
	st, _ := d.led.state.Delegate(hash)
	number := st.Minted + extra + 1
	if number > uint64(st.Mints) {
		return 0, bounded(CodeMintsSpent, "maxMints", st.Mints, number)
	}
	return number, nil
}

// mintOp spends nonce and mint, and fills in what was kept; nothing is derived.
func (d *Desk) mintOp(q *mintAsked, row *delegateRow, envelopeHash string, kept *store.Mint) *op {
	hash := q.request.DelegateHash()
	return &op{build: func(b *batch) error {
		if refusal := d.gateClient(q.client); refusal != nil {
			return refusal
		}
		now, refusal := d.delegateOpen(hash)
		if refusal != nil {
			return refusal
		}
		if known, refusal := d.minted(q); known || refusal != nil {
			if refusal != nil {
				return refusal
			}
			return errMinted
		}
		if b.mints.nonces[hash+q.nonce] {
			return errAgain
		}
		number, refusal := d.mintsLeft(hash, b.mints.numbers[hash])
		if refusal != nil && b.mints.numbers[hash] > 0 {
			return errAgain
		}
		if refusal != nil {
			return refusal
		}
		if refusal := over(q.request.Fields().Window, d.clock.Now()); refusal != nil {
			return refusal // while it waited its turn
		}
		st, _ := d.led.state.Delegate(hash)
		client := d.led.clients[q.client]
		bot := strings.ToLower(q.request.BotAddress())
		a, err := b.add(journal.KindCapabilityMinted, journal.CapabilityMinted{
			Delegate: hash, DomainHash: st.DomainHash, Client: q.client, Bot: bot, Nonce: q.nonce, Mint: q.mint,
			EnvelopeHash: envelopeHash, Number: number,
		})
		if err != nil {
			return err
		}
		b.mints.minted(hash, q.nonce)
		a.keyed.Delegate, a.keyed.Request, a.keyed.Bot = row.raw, q.raw, q.proof
		a.keyed.Permits = permitsOf([]permitRow{{client.body, client.mac}, {now.body, now.mac}})
		uses := q.request.Fields().MaxUses
		*kept = store.Mint{
			Seq: a.entry.Seq, Mint: q.mint, Delegate: hash, Client: q.client, Bot: bot, At: a.entry.At, Request: q.raw,
			Number: int64(number), MaxUses: uses,
		}
		a.write = func(tx *store.Tx) error { return tx.AddMint(*kept) }
		a.applied = func() {
			if r := d.led.delegates[hash]; r != nil {
				r.given = min(r.given+uses, maxGiven)
			}
		}
		return nil
	}}
}

// mintRow reads a mint, checked against the log. The caller does not hold mu.
func (d *Desk) mintRow(mint string) (store.Mint, *envelope.MintRequest, *Refusal) {
	d.mu.Lock()
	known := d.records[mint]
	d.mu.Unlock()
	if known != nil {
		return known.row, known.request, nil
	}
	row, err := d.db().Mint(mint)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return row, nil, refuse(CodeUnknownMint)
	case err != nil:
		return row, nil, refuse(CodeStoreFailed)
	}
	q, err := envelope.ParseMintRequest(row.Request)
	if err != nil || q.Hash() != mint || q.DelegateHash() != row.Delegate || strings.ToLower(q.BotAddress()) != row.Bot {
		return row, nil, refuse(CodeRowEdited)
	}
	es, err := d.db().Entries(row.Seq, 1)
	if err != nil {
		return row, nil, refuse(CodeStoreFailed)
	}
	if len(es) != 1 || es[0].Seq != row.Seq {
		return row, nil, refuse(CodeRowEdited)
	}
	e, err := journal.Parse(es[0].Raw)
	if err != nil || rowDiffers(&es[0], e) != "" {
		return row, nil, refuse(CodeRowEdited)
	}
	b, ok := e.Decoded().(journal.CapabilityMinted)
	if !ok || b.Mint != mint || b.Delegate != row.Delegate || b.Client != row.Client || int64(b.Number) != row.Number || e.At != row.At {
		return row, nil, refuse(CodeRowEdited)
	}
	return row, q, nil
}

// recordOf gives what is public of a mint; the key process derives it once for as long as it is remembered here.
func (d *Desk) recordOf(ctx context.Context, row store.Mint, delegate *delegateRow, domain *domainRow) (*mintedRecord, *Refusal) {
	d.mu.Lock()
	k, known, owner := d.keys, d.records[row.Mint], d.public.OwnerKey
	d.mu.Unlock()
	if known != nil {
		return known, nil
	}
	q, err := envelope.ParseMintRequest(row.Request)
	if err != nil {
		return nil, refuse(CodeRowEdited)
	}
	of := minted.Of{Delegate: delegate.parsed, Request: q, Domain: domain.projection, At: row.At}
	public := keys.MintAnswer{Address: row.Address, Attestation: row.Attestation}
	stored := row.Address != "" && of.Attests(row.Address, row.Attestation)
	if !stored && k == nil {
		return nil, refuse(CodeLocked)
	}
	if !stored {
		if err := d.patient(ctx, k, func(ctx context.Context) (err error) {
			public, err = k.Minted(ctx, keys.MintAsk{Delegate: delegate.raw, Request: row.Request})
			return err
		}); err != nil {
			return nil, asRefusal(err)
		}
	}
	record, err := of.Record(owner, public.Address)
	if err != nil {
		return nil, refuseWith(CodeMalformed, err.Error())
	}
	row.Address, row.Attestation = public.Address, public.Attestation
	out := &mintedRecord{address: public.Address, attestation: public.Attestation, record: record, row: row, request: q}
	d.mu.Lock()
	if !stored {
		d.names = append(d.names, mintName{row.Mint, public.Address, public.Attestation})
	}
	if len(d.records) >= maxMintRecords {
		clear(d.records)
	}
	d.records[row.Mint] = out
	d.mu.Unlock()
	return out, nil
}

// mintResult is the answer of mint.request.
func (d *Desk) mintResult(ctx context.Context, row store.Mint, delegate *delegateRow, domain *domainRow) (json.RawMessage, *Refusal) {
	rec, refusal := d.recordOf(ctx, row, delegate, domain)
	if refusal != nil {
		return nil, refusal
	}
	d.mu.Lock()
	st, _ := d.led.state.Delegate(row.Delegate)
	held := d.boundsHeld(st.DomainHash)
	d.mu.Unlock()
	return mustJSON(minted.Answer{
		Address: rec.address, Attestation: rec.attestation, BoundsHeld: held, Delegate: row.Delegate, Label: minted.Label,
		Legitimacy: minted.LegitimacyOf(delegate.fields.Legitimacy), Mint: row.Mint, Left: st.Mints - row.Number, Record: rec.record, Seq: row.Seq,
	}), nil
}

// mintUse is one payload to be signed by a minted key.
type mintUse struct {
	r        *request
	proof    *keys.BotProof
	row      store.Mint
	request  *envelope.MintRequest
	payload  []byte
	domain   string // domainHash
	envelope string // hash of the record's action envelope
	digest   string
	record   *mintedRecord
}

// mintSign signs a payload by a minted key of the proven bot.
func (d *Desk) mintSign(ctx context.Context, client string, proof *keys.BotProof, ask MintSignAsk) (Answer, error) {
	if !validID(ask.RequestID, false) || !validID(ask.Session, true) || isMomentID(ask.RequestID) || !envelope.IsHash(ask.Mint) {
		return Answer{}, refuseWith(CodeMalformed, "request id and session are at most 128 bytes of text without control characters, mint is 0x and 64 hex digits")
	}
	digest := journal.AskDigest(methodMintSign, ask.Session, []byte(ask.Mint), ask.Payload)
	key := requestKey{client, ask.RequestID}
	d.mu.Lock()
	if r := d.gateClient(client); r != nil {
		d.mu.Unlock()
		return Answer{}, r
	}
	d.mu.Unlock()
	// The bot is looked at before what is or was answered is: a mint is its own alone.
	row, q, refusal := d.mintRow(ask.Mint)
	if refusal == nil && row.Bot != proof.Address {
		refusal = refuse(CodeUnknownMint)
	}
	if refusal != nil {
		return Answer{}, refusal
	}
	d.mu.Lock()
	r, maybe := d.requests[key], d.mayKnow(client, ask.RequestID)
	d.mu.Unlock()
	if r != nil {
		return d.again(ctx, r, digest)
	}
	if maybe {
		answer, known, err := d.stored(key, &digest)
		if known || err != nil {
			return answer, err
		}
	}
	u := &mintUse{
		r: &request{
			key: key, digest: digest, method: methodMintSign, session: ask.Session, done: make(chan struct{}),
			ask: &asked{rawEnvelope: []byte(ask.Mint), rawPayload: ask.Payload},
		},
		proof: proof, row: row, request: q, payload: ask.Payload,
	}
	if refusal = d.understandUse(ctx, u); refusal == nil {
		err := d.signUse(u)
		if errors.Is(err, errAgain) {
			return d.mintSign(ctx, client, proof, ask)
		}
		if err != nil {
			refusal = asRefusal(err)
		}
	}
	if refusal != nil {
		d.refused(key, methodMintSign, digest, []byte(ask.Mint), refusal.Code)
		return Answer{}, refusal
	}
	return u.r.answer()
}

// understandUse checks what does not change while the use is written.
func (d *Desk) understandUse(ctx context.Context, u *mintUse) *Refusal {
	d.mu.Lock()
	delegate, refusal := d.delegateOpen(u.row.Delegate)
	var domain *domainRow
	if refusal == nil {
		domain = d.led.domains[delegate.fields.DomainHash]
	}
	now := d.clock.Now()
	d.mu.Unlock()
	switch {
	case refusal != nil:
		return refusal
	case domain == nil:
		return refuse(CodeUnknownDomain)
	}
	p, err := envelope.ParsePayload(u.payload)
	if err != nil {
		return refuseWith(CodeMalformed, err.Error())
	}
	if p.Signable() != nil {
		return refuse(CodeTypedPayload)
	}
	env, err := delegate.parsed.MintedEnvelope(u.request, domain.projection.Info())
	if err != nil {
		return refuse(CodeRowEdited)
	}
	if c := p.Contradictions(env); len(c) > 0 {
		return bounded(CodeContradiction, c[0].Member, c[0].Envelope, c[0].Payload)
	}
	w := u.request.Fields().Window
	if w.NotBefore.Set && now < w.NotBefore.N {
		r := bounded(CodeMintNotYet, "timeWindow", w.NotBefore, now)
		r.RetryAfterMS = w.NotBefore.N - now
		return r
	}
	if refusal := over(w, now); refusal != nil {
		return refusal
	}
	sum := p.Digest()
	u.digest, u.domain, u.envelope = "0x"+hex.EncodeToString(sum[:]), env.DomainHash(), env.Hash()
	u.record, refusal = d.recordOf(ctx, u.row, delegate, domain)
	return refusal
}

// signUse writes the use down and signs. errAgain says that the request id came up meanwhile.
func (d *Desk) signUse(u *mintUse) error {
	key := u.r.key
	d.mu.Lock()
	_, ended := d.known[d.fold(key.client, key.id)]
	if d.requests[key] != nil {
		d.mu.Unlock()
		return errAgain
	}
	if ended {
		d.mu.Unlock()
		if _, known, err := d.stored(key, nil); known || err != nil {
			return errAgain
		}
		d.mu.Lock()
	}
	d.useSession(key.client, u.r.session)
	d.requests[key] = u.r
	d.mu.Unlock()
	err := d.do(d.useOp(u))
	for errors.Is(err, errAgain) {
		err = d.do(d.useOp(u))
	}
	if err == nil {
		return nil
	}
	d.mu.Lock()
	delete(d.requests, key)
	u.r.refusal = asRefusal(err)
	close(u.r.done)
	d.mu.Unlock()
	return err
}

func (d *Desk) useOp(u *mintUse) *op {
	nonce, limit := nonceHash(u.request.Fields().Nonce), u.request.Fields().MaxUses
	return &op{build: func(b *batch) error {
		if refusal := d.gateClient(u.r.key.client); refusal != nil {
			return refusal
		}
		delegate, refusal := d.delegateOpen(u.row.Delegate)
		if refusal != nil {
			return refusal
		}
		m, ok := d.led.state.Mint(u.row.Delegate, nonce)
		if !ok || m.Mint != u.row.Mint {
			return refuse(CodeUnknownMint)
		}
		use := m.Uses + b.mints.uses[u.row.Mint] + 1
		if use > uint64(limit) && b.mints.uses[u.row.Mint] > 0 {
			return errAgain
		}
		if use > uint64(limit) {
			return bounded(CodeMintUsesSpent, "maxUses", limit, use)
		}
		a, err := b.add(journal.KindMintedSigned, journal.MintedSigned{
			Request: u.r.key.id, Client: u.r.key.client, Session: u.r.session, Bot: u.row.Bot, Delegate: u.row.Delegate,
			Nonce: nonce, Mint: u.row.Mint, DomainHash: u.domain, EnvelopeHash: u.envelope, Digest: u.digest, Address: u.record.address, Use: use,
		})
		if err != nil {
			return err
		}
		b.mints.used(u.row.Mint)
		client := d.led.clients[u.r.key.client]
		a.keyed.Delegate, a.keyed.Request, a.keyed.Bot, a.keyed.Payload = delegate.raw, u.row.Request, u.proof, u.payload
		a.keyed.Permits = permitsOf([]permitRow{{client.body, client.mac}, {delegate.body, delegate.mac}})
		session := d.writeSession(u.r.key.client, u.r.session)
		var result []byte
		a.ready = func() error {
			if a.answer.Address != u.record.address || len(a.answer.Signature) != 132 {
				return errors.New("the key process signed with another address than it named, or not at all")
			}
			result = minted.Used{
				Address: a.answer.Address, Attestation: u.record.attestation, Head: a.answer.Head, Mint: u.row.Mint, Record: u.record.record,
				Seq: a.entry.Seq, Signature: a.answer.Signature, Use: use, UsesLeft: limit - int64(use),
			}.Canonical()
			return nil
		}
		a.write = func(tx *store.Tx) error {
			if err := tx.AddRequest(u.r.row(requestDone, a.entry.Seq, result)); err != nil {
				return err
			}
			if err := tx.UseMint(u.row.Mint, a.entry.At); err != nil {
				return err
			}
			return session(tx)
		}
		a.applied = func() {
			if r := d.led.delegates[u.row.Delegate]; r != nil {
				r.lastUse = a.entry.At
			}
			d.endRequest(u.r, result, nil)
		}
		return nil
	}}
}

// usedFits checks a stored answer of mint.sign against its entry and its payload.
func usedFits(row store.Request, b journal.MintedSigned, e journal.Entry) bool {
	u, err := minted.ParseUsed(row.Answer)
	if err != nil || u.Seq != e.Seq || u.Use != b.Use || u.Address != b.Address || u.Mint != b.Mint || string(row.Envelope) != b.Mint {
		return false
	}
	rec, err := envelope.ParseRecord(u.Record)
	if err != nil || rec.AgentAddress() != b.Address || rec.Envelope().Hash() != b.EnvelopeHash || rec.Envelope().DomainHash() != b.DomainHash ||
		u.UsesLeft != rec.Envelope().Fields().MaxUses.N-int64(u.Use) {
		return false
	}
	v, err := jcs.Parse(row.Answer, jcs.Binding)
	return err == nil && signatureFits(row, v, e, rec, envelope.AddressAttestation{DomainHash: b.DomainHash, ActionEnvelopeHash: b.EnvelopeHash, AgentAddress: b.Address})
}

// expireDelegates ends delegates that are past their end for long, so that their mints need not be remembered.
func (d *Desk) expireDelegates() {
	d.mu.Lock()
	now := d.clock.Boot()
	var over []string
	if d.keys != nil && now >= d.expireNext {
		d.expireNext = now + expireEveryMS
		for hash, row := range d.led.delegates {
			if st, ok := d.led.state.Delegate(hash); ok && st.Ended == "" && row.end.longPassed(d.clock, expiredMS) {
				over = append(over, hash)
			}
		}
	}
	slices.Sort(over)
	if len(over) > expireAtOnce {
		// Each waits for the disk, and what else the clock brings must not wait for all of them.
		over, d.expireNext = over[:expireAtOnce], now
	}
	d.mu.Unlock()
	for _, hash := range over {
		if d.do(d.takeOp(journal.KindDelegateEnded, journal.DelegateEnded{Delegate: hash, Reason: "expired"}, nil)) != nil {
			// What cannot be written now is tried again within the hour.
			d.mu.Lock()
			d.expireNext = now + expireEveryMS
			d.mu.Unlock()
			return
		}
	}
}

// takeOp writes down that something is taken from a delegate, and has it remembered outside the store at once.
func (d *Desk) takeOp(kind journal.Kind, body any, check func() *Refusal) *op {
	return &op{alone: true, anchor: true, build: func(b *batch) error {
		if check != nil {
			if refusal := check(); refusal != nil {
				return refusal
			}
		}
		_, err := b.add(kind, body)
		return err
	}}
}

func legitimacyView(l *envelope.LegitimacyRef) *LegitimacyView {
	if l == nil {
		return nil
	}
	out := &LegitimacyView{LegitimacyID: l.LegitimacyID, Required: l.Required, PolicyID: l.PolicyID, StateHash: l.StateHash}
	if l.StateVersion.Set {
		out.StateVersion = &l.StateVersion.N
	}
	return out
}

func optional(o envelope.Opt) *int64 {
	if !o.Set {
		return nil
	}
	n := o.N
	return &n
}
