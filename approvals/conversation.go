package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"vault/approvals/handshake"
	"vault/approvals/journal"
	"vault/approvals/keys"
	"vault/approvals/permit"
	"vault/approvals/store"
)

// agentsView is the desk as agents see it. It has no way to decide.
type agentsView struct{ d *Desk }

// Agents gives the view of the desk that the socket serves.
func (d *Desk) Agents() Agents { return agentsView{d} }

// conversation is one connection.
type conversation struct {
	d      *Desk
	peer   Peer
	client string // "" for an unpaired program
	vault  string
	cn, sn handshake.Nonce

	// guarded by the desk's lock
	proven  bool
	closed  bool
	pairing *pairing
	bot     botProof
}

// pairing is a program that asks to be paired, on its own connection.
type pairing struct {
	id         string
	vault      string
	claimed    string
	commitment [handshake.Size]byte
	server     handshake.Nonce
	conv       *conversation
	item       *item // nil until the nonce is revealed
	digits     string

	done    chan struct{}
	result  json.RawMessage
	refusal *Refusal
}

// finish ends a pairing; the caller holds mu.
func (p *pairing) finish(result json.RawMessage, refusal *Refusal) {
	select {
	case <-p.done:
	default:
		p.result, p.refusal = result, refusal
		close(p.done)
	}
}

// Hello implements [Agents].
func (v agentsView) Hello(_ context.Context, peer Peer, client string, clientNonce []byte) (Conversation, Greeting, error) {
	d := v.d
	if client != "" && len(clientNonce) != handshake.Size {
		return nil, Greeting{}, refuseWith(CodeMalformed, "the client's nonce is not 32 bytes")
	}
	sn, err := d.random(handshake.Size)
	if err != nil {
		return nil, Greeting{}, refuse(CodeInternal)
	}
	c := &conversation{d: d, peer: peer, client: client, sn: handshake.Nonce(sn)}
	if client != "" {
		c.cn = handshake.Nonce(clientNonce)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.vault = d.vaultID()
	g := Greeting{Vault: c.vault, Nonce: sn, State: d.greetingState()}
	if client == "" {
		return c, g, nil
	}
	row, refusal := d.led.client(client)
	if refusal != nil {
		return nil, Greeting{}, refusal
	}
	if peer.UserID >= 0 && row.permit.UserID >= 0 && peer.UserID != row.permit.UserID {
		return nil, Greeting{}, refuse(CodeOtherUser)
	}
	proof := handshake.Prove(&row.secret, handshake.RoleVault, handshake.ProtocolVersion, c.vault, c.cn, c.sn)
	g.Proof, g.LogHead = proof[:], d.led.head
	return c, g, nil
}

func (d *Desk) vaultID() string {
	if d.public.Vault != "" {
		return d.public.Vault
	}
	return d.led.state.Vault()
}

func (d *Desk) greetingState() string {
	if s := d.state(); s != StateOpening {
		return string(s)
	}
	return string(StateLocked)
}

// Prove implements [Conversation].
func (c *conversation) Prove(_ context.Context, proof []byte, lastHead json.RawMessage) error {
	d := c.d
	if c.client == "" {
		return refuse(CodeNotPaired)
	}
	d.mu.Lock()
	row, refusal := d.led.client(c.client)
	if refusal == nil && (len(proof) != handshake.Size ||
		!handshake.Check(handshake.Proof(proof), &row.secret, handshake.RoleClient, handshake.ProtocolVersion, c.vault, c.cn, c.sn)) {
		refusal = refuse(CodeNotProven)
	}
	if refusal == nil && c.closed {
		refusal = refuse(CodeWithdrawn)
	}
	if refusal != nil {
		d.mu.Unlock()
		return refusal
	}
	if !c.proven {
		c.proven = true
		row.connected++
	}
	row.lastSeen = d.clock.Now()
	d.mu.Unlock()
	d.changed()
	return d.remember(lastHead)
}

// remember compares the newest head that a client was given with the log: one
// of our own log that the store does not show means that the store was put back.
func (d *Desk) remember(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	h, err := journal.ParseHead(raw)
	if err != nil {
		return refuseWith(CodeMalformed, err.Error())
	}
	d.mu.Lock()
	st := d.led.state
	ours := h.Vault == st.Vault() && h.Instance == st.Instance() && h.Key == st.LogKey()
	newer := h.Seq > st.Seq()
	d.mu.Unlock()
	if !ours {
		return nil // of an instance before this one, or of another vault
	}
	if !newer {
		es, err := d.db().Entries(h.Seq, 1)
		if err != nil {
			return refuse(CodeStoreFailed)
		}
		if len(es) == 1 && es[0].Seq == h.Seq && es[0].Hash == h.Hash {
			return nil
		}
	}
	d.mu.Lock()
	k := d.keys
	d.mu.Unlock()
	d.setTrouble(&Trouble{Code: "rolled_back", Seq: h.Seq})
	d.endKeys(k, "store", nil)
	return refuse(CodeReadOnly)
}

// who is the proven client of the connection, or why there is none.
func (c *conversation) who() (string, *Refusal) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	switch {
	case c.client == "":
		return "", refuse(CodeNotPaired)
	case !c.proven || c.closed:
		return "", refuse(CodeNotProven)
	}
	if row := c.d.led.clients[c.client]; row != nil {
		row.lastSeen = c.d.clock.Now()
	}
	return c.client, nil
}

// ActionSign implements [Conversation].
func (c *conversation) ActionSign(ctx context.Context, ask Ask) (Answer, error) {
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	return c.d.actionSign(ctx, client, ask)
}

// Await implements [Conversation].
func (c *conversation) Await(ctx context.Context, request string) (Answer, error) {
	c.d.mu.Lock()
	p := c.pairing
	c.d.mu.Unlock()
	if p != nil && p.id == request {
		return c.d.waitPairing(ctx, p)
	}
	client, refusal := c.who()
	if refusal != nil {
		return Answer{}, refusal
	}
	return c.d.await(ctx, client, request)
}

// Cancel implements [Conversation].
func (c *conversation) Cancel(_ context.Context, request string) error {
	c.d.mu.Lock()
	p := c.pairing
	c.d.mu.Unlock()
	if p != nil && p.id == request {
		c.d.withdraw(p, outcomeCancelled)
		return nil
	}
	client, refusal := c.who()
	if refusal != nil {
		return refusal
	}
	return c.d.cancel(client, request)
}

// RecordGet implements [Conversation].
func (c *conversation) RecordGet(ctx context.Context, request string) (json.RawMessage, error) {
	client, refusal := c.who()
	if refusal != nil {
		return nil, refusal
	}
	c.d.mu.Lock()
	refusal = c.d.gateClient(client)
	c.d.mu.Unlock()
	if refusal != nil {
		return nil, refusal
	}
	a, known, err := c.d.storedForAll(requestKey{client, request})
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, refuse(CodeUnknownRequest)
	}
	var result struct {
		Record json.RawMessage `json:"record"`
	}
	if err := json.Unmarshal(a.Result, &result); err != nil {
		return nil, refuse(CodeRowEdited)
	}
	return result.Record, nil
}

// SessionEnd implements [Conversation].
func (c *conversation) SessionEnd(_ context.Context, session string) error {
	client, refusal := c.who()
	if refusal != nil {
		return refusal
	}
	return c.d.endSession(client, session)
}

// Status implements [Conversation]. An unpaired program learns the state and nothing else.
func (c *conversation) Status(context.Context) (json.RawMessage, error) {
	d := c.d
	d.mu.Lock()
	defer d.mu.Unlock()
	out := struct {
		State   string          `json:"state"`
		Vault   string          `json:"vault"`
		Demo    bool            `json:"demo"`
		Paired  bool            `json:"paired"`
		Client  string          `json:"client,omitempty"`
		Name    string          `json:"name,omitempty"`
		Open    int             `json:"open_requests"`
		LogHead json.RawMessage `json:"log_head,omitempty"`
	}{State: d.greetingState(), Vault: d.vaultID(), Demo: d.public.Demo || d.led.state.Demo()}
	if c.proven {
		if row, refusal := d.led.client(c.client); refusal == nil {
			out.Paired, out.Client, out.Name, out.Open, out.LogHead = true, c.client, row.permit.Name, row.open, d.led.head
		}
	}
	return mustJSON(out), nil
}

// DomainList implements [Conversation].
func (c *conversation) DomainList(context.Context) (json.RawMessage, error) {
	return c.domains("")
}

// DomainGet implements [Conversation]. The domain is named by hash or by id.
func (c *conversation) DomainGet(_ context.Context, domain string) (json.RawMessage, error) {
	if domain == "" {
		return nil, refuse(CodeUnknownDomain)
	}
	return c.domains(domain)
}

func (c *conversation) domains(name string) (json.RawMessage, error) {
	client, refusal := c.who()
	if refusal != nil {
		return nil, refusal
	}
	d := c.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if refusal := d.gateClient(client); refusal != nil {
		return nil, refusal
	}
	list := []json.RawMessage{}
	for _, st := range d.led.state.Domains() {
		row := d.led.domains[st.Hash]
		if row == nil || name != "" && st.Hash != name && row.projection.Info().DomainID() != name {
			continue
		}
		list = append(list, row.projection.Canonical())
	}
	switch {
	case name == "":
		return mustJSON(map[string]any{"domains": list}), nil
	case len(list) == 0:
		return nil, refuse(CodeUnknownDomain)
	case len(list) > 1:
		return nil, refuseWith(CodeUnknownDomain, "several domains have this id: name it by its hash")
	}
	return list[0], nil
}

// Close implements [Conversation]. A pairing that waits on it is withdrawn; requests are not.
func (c *conversation) Close() {
	d := c.d
	d.mu.Lock()
	if c.closed {
		d.mu.Unlock()
		return
	}
	c.closed = true
	p := c.pairing
	if c.proven {
		if row := d.led.clients[c.client]; row != nil {
			row.connected--
			row.lastSeen = d.clock.Now()
		}
	}
	d.mu.Unlock()
	if p != nil {
		d.withdraw(p, outcomeWithdrawn)
	}
	d.changed()
}

// --- pairing

// PairBegin implements [Conversation].
func (c *conversation) PairBegin(_ context.Context, ask PairAsk) (PairOffer, error) {
	d := c.d
	if len(ask.Claimed) > maxClaimed || !utf8.ValidString(ask.Claimed) {
		return PairOffer{}, refuseWith(CodeMalformed, "the claimed name is more than 128 bytes of text")
	}
	id, err := d.newID("p_")
	if err != nil {
		return PairOffer{}, refuse(CodeInternal)
	}
	nonce, err := d.random(handshake.Size)
	if err != nil {
		return PairOffer{}, refuse(CodeInternal)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.shut(); r != nil {
		return PairOffer{}, r
	}
	switch {
	case c.closed:
		return PairOffer{}, refuse(CodeWithdrawn)
	case c.client != "":
		return PairOffer{}, refuseWith(CodeMalformed, "this connection belongs to a paired client")
	case c.pairing != nil && c.pairing.live():
		return PairOffer{}, refuseAfter(CodeTooMany, queueFullMS)
	case d.blockFor(c.peer, ask.Claimed) != nil:
		return PairOffer{}, refuse(CodeBlocked)
	}
	p := &pairing{id: id, vault: d.vaultID(), claimed: ask.Claimed, commitment: ask.Commitment, server: handshake.Nonce(nonce), conv: c, done: make(chan struct{})}
	c.pairing = p
	return PairOffer{Pairing: id, Vault: p.vault, Nonce: nonce}, nil
}

// live says whether a pairing still waits; the caller holds mu.
func (p *pairing) live() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// PairReveal implements [Conversation].
func (c *conversation) PairReveal(ctx context.Context, id string, clientNonce []byte) (Answer, error) {
	d := c.d
	d.mu.Lock()
	p := c.pairing
	refusal := d.shut()
	pairings := 0
	for _, it := range d.items {
		if it.pairing != nil {
			pairings++
		}
	}
	switch {
	case refusal != nil:
	case p == nil || p.id != id || c.closed || !p.live():
		refusal = refuse(CodeUnknownPairing)
	case p.item != nil:
		d.mu.Unlock()
		return d.waitPairing(ctx, p)
	case len(clientNonce) != handshake.Size || !handshake.Opens(p.commitment, handshake.Nonce(clientNonce)):
		// One try: the digits must not be searched for.
		refusal = refuse(CodePairingCommitment)
		p.finish(nil, refusal)
	case pairings >= MaxOpenPairings:
		refusal = refuseAfter(CodeTooMany, queueFullMS)
	}
	if refusal != nil {
		d.mu.Unlock()
		return Answer{}, refusal
	}
	p.digits = handshake.Digits(p.vault, handshake.Nonce(clientNonce), p.server)
	it := &item{id: p.id, kind: ItemPairing, since: d.clock.Now(), count: 1, pairing: p, pairEnd: endIn(d.clock, DefaultLifetimeMS)}
	it.digest = journal.AskDigest(methodPair, p.id, []byte(p.digits), []byte(p.claimed))
	p.item = it
	d.items = append(d.items, it)
	d.mu.Unlock()
	d.changed()
	return d.waitPairing(ctx, p)
}

func (d *Desk) waitPairing(ctx context.Context, p *pairing) (Answer, error) {
	d.mu.Lock()
	gate := d.gate
	d.mu.Unlock()
	limit := time.NewTimer(d.o.Await)
	defer limit.Stop()
	answer := func() (Answer, error) {
		if p.refusal != nil {
			return Answer{}, p.refusal
		}
		return Answer{Result: p.result}, nil
	}
	select {
	case <-p.done:
		return answer()
	default:
	}
	select {
	case <-p.done:
		return answer()
	case <-gate:
		return Answer{}, lockedMeanwhile()
	case <-ctx.Done():
	case <-limit.C:
	}
	return Answer{Pending: p.id}, nil
}

// withdraw ends a pairing whose program has gone.
func (d *Desk) withdraw(p *pairing, outcome string) {
	d.mu.Lock()
	it := p.item
	if it == nil {
		p.finish(nil, refuse(outcome))
	}
	d.mu.Unlock()
	if it != nil {
		d.endPairing(it, outcome)
	}
}

// endPairing ends a pairing without an answer. One that nobody saw leaves no
// entry: whoever reaches the socket could otherwise fill the log.
func (d *Desk) endPairing(it *item, outcome string) {
	d.mu.Lock()
	if it.gone || it.busy {
		d.mu.Unlock()
		return
	}
	if !it.seen {
		it.pairing.finish(nil, refuse(outcome))
		d.remove(it)
		d.mu.Unlock()
		d.changed()
		return
	}
	d.mu.Unlock()
	if err := d.do(d.end(it, outcome, "", nil, nil)); err != nil && !errors.Is(err, errGone) {
		// The entry could not be written; the program is gone all the same.
		d.mu.Lock()
		it.pairing.finish(nil, asRefusal(err))
		d.remove(it)
		d.mu.Unlock()
	}
}

// blockFor finds the block that keeps a program from asking to pair; the caller holds mu.
func (d *Desk) blockFor(p Peer, claimed string) *store.Block {
	i := slices.IndexFunc(d.led.blocks, func(b store.Block) bool {
		return b.UserID == p.UserID && b.Executable == p.Executable && b.Claimed == claimed
	})
	if i < 0 {
		return nil
	}
	return &d.led.blocks[i]
}

type permitRow struct {
	body []byte
	mac  string
}

func permitsOf(rows []permitRow) []keys.Permit {
	out := make([]keys.Permit, len(rows))
	for i, r := range rows {
		out[i] = keys.Permit{Body: r.body, MAC: r.mac}
	}
	return out
}

// pairOp makes a client of the program that asks. Id, secret and time of the row are drawn once, so that a passkey can
// confirm the row.
func (d *Desk) pairOp(it *item, name, shown string, c *behind) (*op, error) {
	id, err := d.newID("c_")
	if err != nil {
		return nil, err
	}
	secret, err := d.random(handshake.Size)
	if err != nil {
		return nil, err
	}
	began, held := d.clock.Now(), false
	o := &op{alone: true, anchor: true}
	o.undo = func() {
		if held {
			it.busy, held = false, false
		}
	}
	o.build = func(b *batch) error {
		p := it.pairing
		switch {
		case it.gone || it.busy:
			return errGone
		case it.shown != shown:
			return errChanged
		case it.pairEnd.passed(d.clock):
			return errExpired
		}
		at := b.now
		if c.by == "passkey" {
			at = min(began, b.now)
		}
		row := permit.Client{
			Type: permit.TypeClient, V: 1, ID: id, Name: name, Claimed: p.claimed, UserID: p.conv.peer.UserID,
			Executable: clip(p.conv.peer.Executable, 4096), SecretSHA256: permit.SHA256(secret), PairedAt: at,
		}
		body, err := permit.Encode(row)
		if err != nil {
			return err
		}
		a, err := b.add(journal.KindClientPaired, journal.ClientPaired{Client: id, Name: name, By: c.by, PermitSHA256: permit.SHA256(body), Confirmation: c.record})
		if err != nil {
			return err
		}
		c.of(a)
		it.busy, held = true, true
		a.keyed.Permits = []keys.Permit{{Body: body}}
		a.ready = func() error { return oneMAC(a) }
		a.write = func(tx *store.Tx) error {
			return tx.PutPermit(store.Permit{Kind: permit.TypeClient, ID: id, Body: body, MAC: a.answer.MACs[0], Secret: secret})
		}
		a.applied = func() {
			it.busy = false
			d.led.clients[id] = newClientRow(row, body, a.answer.MACs[0], handshake.Secret(secret))
			p.finish(mustJSON(map[string]string{"client": id, "secret": handshake.Encode([handshake.Size]byte(secret))}), nil)
			d.remove(it)
		}
		return nil
	}
	return o, nil
}

// oneMAC checks that the key process has made the MAC of the one new row.
func oneMAC(a *act) error {
	if len(a.answer.MACs) != 1 || !isMAC(a.answer.MACs[0]) {
		return errors.New("the key process made no MAC for the new permit")
	}
	return nil
}

// clip cuts a text to at most n bytes, at a character's end.
func clip(s string, n int) string {
	if !utf8.ValidString(s) {
		s = ""
	}
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
