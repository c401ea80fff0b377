package approvals

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"vault/approvals/keys"
	"vault/approvals/minted"
	"vault/derive/envelope"
)

// botProof is the bot of a connection; guarded by the desk's lock.
type botProof struct {
	nonce string // of the newest challenge, until it is answered
	until deadline
	by    KeyProcess // that made the nonce; a proof is good for as long as it runs
	proof *keys.BotProof
}

// BotNonce implements [MintAgent].
func (c *conversation) BotNonce(ctx context.Context) (json.RawMessage, error) {
	client, refusal := c.who()
	d := c.d
	d.mu.Lock()
	if refusal == nil {
		refusal = d.gateClient(client)
	}
	k := d.keys
	d.mu.Unlock()
	if refusal != nil {
		return nil, refusal
	}
	var nonce string
	if err := d.patient(ctx, k, func(ctx context.Context) (err error) {
		nonce, err = k.BotNonce(ctx, client)
		return err
	}); err != nil {
		return nil, asRefusal(err)
	}
	d.mu.Lock()
	c.bot.nonce, c.bot.until, c.bot.by = nonce, endIn(d.clock, botMS), k
	d.mu.Unlock()
	return envelope.BotChallenge{Client: client, Nonce: nonce, Vault: c.vault}.Canonical(), nil
}

// BotProve implements [MintAgent].
func (c *conversation) BotProve(_ context.Context, bot, signature string) (json.RawMessage, error) {
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
	nonce, until := c.bot.nonce, c.bot.until
	c.bot.nonce = "" // one try for each nonce
	if nonce == "" || until.passed(d.clock) || c.bot.by != d.keys || c.closed ||
		(envelope.BotChallenge{Client: client, Nonce: nonce, Vault: c.vault}).Verify(bot, signature) != nil {
		return nil, refuse(CodeBotProof)
	}
	c.bot.proof = &keys.BotProof{Address: bot, Nonce: nonce, Signature: signature}
	return mustJSON(map[string]string{"bot": bot}), nil
}

// whichBot is the proven client and bot of the connection, or why there is none.
func (c *conversation) whichBot() (string, *keys.BotProof, *Refusal) {
	client, refusal := c.who()
	if refusal != nil {
		return "", nil, refusal
	}
	d := c.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if refusal := d.gateClient(client); refusal != nil {
		return "", nil, refusal
	}
	if c.bot.proof == nil || c.bot.by != d.keys {
		c.bot.proof = nil
		return "", nil, refuse(CodeBotNotProven)
	}
	return client, c.bot.proof, nil
}

// MintDelegates implements [MintAgent].
func (c *conversation) MintDelegates(context.Context) (json.RawMessage, error) {
	_, proof, refusal := c.whichBot()
	if refusal != nil {
		return nil, refusal
	}
	type row struct {
		BoundsHeld bool               `json:"bounds_held"`
		Delegate   json.RawMessage    `json:"delegate"`
		Hash       string             `json:"delegate_hash"`
		Legitimacy *minted.Legitimacy `json:"legitimacy,omitempty"`
		MintsLeft  int64              `json:"mints_left"`
		State      DelegateState      `json:"state"`
	}
	d := c.d
	list := []row{}
	room := maxToldBytes
	told := d.toldTo(proof.Address)
	d.mu.Lock()
	for _, x := range told {
		size := len(x.raw) + 512
		if size > room {
			continue // one that is too long hides none of the others
		}
		room -= size
		v := d.delegateView(x)
		list = append(list, row{v.BoundsHeld, x.raw, v.Hash, minted.LegitimacyOf(x.fields.Legitimacy), v.MintsLeft, v.State})
	}
	d.mu.Unlock()
	return mustJSON(map[string]any{"delegates": list}), nil
}

// toldTo are the delegates under which a bot may ask, as many as one answer may tell of. There can be very many: what does
// not change is looked at without the desk's lock.
func (d *Desk) toldTo(bot string) []*delegateRow {
	type ranked struct {
		row  *delegateRow
		hope int
		at   int64
	}
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.led.delegates))
	d.mu.Unlock()
	rank := make([]ranked, 0, len(all))
	for _, x := range all {
		if f := &x.fields; f.BotPolicy != envelope.BotSet || slices.ContainsFunc(f.AllowedBotAddresses, func(a string) bool { return strings.EqualFold(a, bot) }) {
			rank = append(rank, ranked{row: x, at: x.at})
		}
	}
	d.mu.Lock()
	for i, r := range rank {
		st, state := d.delegateState(r.row)
		rank[i].hope = state.hope()
		if state != DelegateSuspended {
			rank[i].at = st.MadeAt
		}
	}
	d.mu.Unlock()
	slices.SortFunc(rank, func(a, b ranked) int {
		if c := cmp.Or(a.hope-b.hope, cmp.Compare(b.at, a.at)); c != 0 {
			return c
		}
		return strings.Compare(a.row.hash, b.row.hash)
	})
	told := make([]*delegateRow, 0, maxTold)
	for _, r := range rank[:min(len(rank), maxTold)] {
		told = append(told, r.row)
	}
	return told
}

// hope is 0 where a bot may be given something, now or later; 1 where only its owner can change that; 2 where nothing can.
func (s DelegateState) hope() int {
	switch s {
	case DelegateEnded, DelegateExpired:
		return 2
	case DelegateSuspended:
		return 1
	}
	return 0
}

// These bound one answer of mint.delegates. What may still give something comes first, then the newest.
const (
	maxTold      = 200
	maxToldBytes = 512 << 10
)

// MintRequest implements [MintAgent].
func (c *conversation) MintRequest(ctx context.Context, request []byte) (json.RawMessage, error) {
	client, proof, refusal := c.whichBot()
	if refusal != nil {
		return nil, refusal
	}
	d := c.d
	key := requestKey{client, nonceHash(string(request))}
	q, err := envelope.ParseMintRequest(request)
	if err != nil {
		refusal = refuseWith(CodeMalformed, err.Error())
		d.refused(key, methodMint, key.id, nil, refusal.Code)
		return nil, refusal
	}
	if !strings.EqualFold(q.BotAddress(), proof.Address) {
		refusal = bounded(CodeBotOther, "botAddress", proof.Address, q.BotAddress())
		d.refused(key, methodMint, key.id, nil, refusal.Code)
		return nil, refusal
	}
	out, refusal := d.mintRequest(ctx, &mintAsked{
		client: client, proof: proof, request: q, raw: q.Canonical(), nonce: nonceHash(q.Fields().Nonce), mint: q.Hash(),
	})
	if refusal != nil {
		d.refused(key, methodMint, key.id, []byte(q.DelegateHash()), refusal.Code)
		return nil, refusal
	}
	return out, nil
}

// MintSign implements [MintAgent].
func (c *conversation) MintSign(ctx context.Context, ask MintSignAsk) (json.RawMessage, error) {
	client, proof, refusal := c.whichBot()
	if refusal != nil {
		return nil, refusal
	}
	for {
		a, err := c.d.mintSign(ctx, client, proof, ask)
		if err != nil || a.Pending == "" {
			return a.Result, err
		}
		// The same id is on its way: it waits for the disk alone.
		if ctx.Err() != nil {
			return nil, refuse(CodeCancelled)
		}
	}
}

// MintRecord implements [MintAgent].
func (c *conversation) MintRecord(ctx context.Context, mint string) (json.RawMessage, error) {
	_, proof, refusal := c.whichBot()
	if refusal != nil {
		return nil, refusal
	}
	d := c.d
	row, q, refusal := d.mintRow(mint)
	if refusal == nil && row.Bot != proof.Address {
		refusal = refuse(CodeUnknownMint)
	}
	if refusal != nil {
		return nil, refusal
	}
	d.mu.Lock()
	delegate, domain := d.placeOf(row)
	var left int64 // none once the delegate has ended: its mints are forgotten
	if st, ok := d.led.state.Mint(row.Delegate, nonceHash(q.Fields().Nonce)); ok && st.Mint == mint {
		left = q.Fields().MaxUses - int64(st.Uses)
	}
	d.mu.Unlock()
	if delegate == nil {
		return nil, refuse(CodeUnknownDelegate)
	}
	rec, refusal := d.recordOf(ctx, row, delegate, domain)
	if refusal != nil {
		return nil, refusal
	}
	return mustJSON(minted.RecordAnswer{
		Attestation: rec.attestation, Label: minted.Label, Legitimacy: minted.LegitimacyOf(delegate.fields.Legitimacy), Mint: mint, Record: rec.record, UsesLeft: left,
	}), nil
}
